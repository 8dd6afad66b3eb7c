// SPDX-License-Identifier: Apache-2.0
// Doubles as the shortest decimal that reads back to the same bits, fast enough to write every step
// of a run: about 15 ns a number, against 500 ns and more for printf and a check by strtod.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
  PAWL_DECIMAL_LOWEST = -293,  // powers of ten that printing a double may need
  PAWL_DECIMAL_HIGHEST = 324,
  PAWL_DECIMAL_POWERS = PAWL_DECIMAL_HIGHEST - PAWL_DECIMAL_LOWEST + 1,
  PAWL_DECIMAL_FOURS = 10000,
  PAWL_DECIMAL_ORDINARY = 2046,  // exponents of doubles with a leading bit, from 1, with a bias:
  PAWL_DECIMAL_BIAS = 1075,      // their last bit is 2^(exponent - bias)
  PAWL_DECIMAL_LENGTH = 48,  // room for any number and what is written over; the longest number is
                             // -1.2345678901234567e-300
};

// What printing needs of an exponent: its last bit is (high 2^64 + low) 2^-128 of 10^(k+1), rounded
// up, and is at least 10^k.
typedef struct PawlDecimalScale {
  uint64_t high, low;
  int k;
} PawlDecimalScale;

// 10^k for the k above as high 2^64 + low, the leading 128 bits, rounded up, and the characters of
// four digits. 100 kB.
typedef struct PawlDecimals {
  uint64_t high[PAWL_DECIMAL_POWERS], low[PAWL_DECIMAL_POWERS];
  uint32_t four[PAWL_DECIMAL_FOURS];
  PawlDecimalScale scale[PAWL_DECIMAL_ORDINARY + 2];
} PawlDecimals;

// Computes the powers by exact long arithmetic (0.2 ms).
void pawl_decimals_fill(PawlDecimals* powers);

// Writes `value` as %g would with as many digits as it takes ("0.1", "1e+22", "-0", "nan", "inf";
// never "-nan") and returns the number of characters, at most 24.
// `out` has room for PAWL_DECIMAL_LENGTH, all of which may be written. No final zero.
int pawl_decimal_print(const PawlDecimals* powers, double value, char* out);

// Writes `count` values with commas between them and the end of the line, what is no number (nan)
// as nothing, and returns the number of characters. `out` has room for PAWL_DECIMAL_LENGTH + 1 a
// value, and 1.
size_t pawl_decimal_row(const PawlDecimals* powers, int count, const double* values, char* out);
