// SPDX-License-Identifier: Apache-2.0
// The shortest decimal of a double. A double is c 2^q with a whole c < 2^53. All real numbers in
//   (4c - 2) 2^(q-2) .. (4c + 2) 2^(q-2)   (lower end 4c - 1 at a power of two)           (D1)
// read back as c 2^q, the ends themselves where c is even (ties go to even). With
//   10^k <= 2^q < 10^(k+1)   (3/4 2^q at a power of two)                                  (D2)
// the interval is at least 10^k and less than 4/3 10^(k+1) wide: it holds a multiple of 10^k, and
// at most one of 10^(k+1). So the answer is that one, or the nearest multiple of 10^k. Comparisons
// are of the ends and the centre scaled by 4 10^-k, as whole numbers in which a remainder leaves
// the last bit set ("rounded to odd"), so that no comparison with an even number goes wrong. The
// idea is that of R. Giulietti: The Schubfach way to render doubles.
//
// Nearly always one product does. With x = c 2^q 10^-k and d = 2^(q-1) 10^-k, 1/2 <= d < 5, the
// interval is x - d .. x + d, and the multiple of ten in it, if any, is
//   that below x if x mod 10 <= d, that above if 10 - x mod 10 <= d; never both, since 2 d < 10;
//   (D3)
// without one the nearest whole number is the answer. Where a comparison is too close for the
// rounded x and d, that is at ends and ties, the whole numbers above decide.
#include "io/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

__extension__ typedef unsigned __int128 Wide;

// ---- powers of ten --------------------------------------------------------------------------
enum { LIMBS = 42 };  // of 32 bits: 10^324 has 1077 bits, and 2^N / 10^292 keeps over 128

// The leading 128 bits of a long number, lowest limb first; rounded up if `more` or any bit below.
static Wide leading_bits(const uint32_t* x, bool more) {
  int top = LIMBS - 1;
  while (x[top] == 0) {
    top--;
  }
  Wide bits = 0;
  int have = 0, at = top;
  for (; at >= 0 && have + 32 <= 128; at--, have += 32) {
    bits = bits << 32 | x[at];
  }
  bits <<= 128 - have;
  int zeros = 0;  // leading ones of the top limb
  while (!(x[top] >> (31 - zeros) & 1)) {
    zeros++;
  }
  uint32_t next = at >= 0 ? x[at] : 0;
  if (zeros > 0) {
    bits = bits << zeros | next >> (32 - zeros);
    next <<= zeros;
  }
  more = more || next != 0;
  for (at--; at >= 0 && !more; at--) {
    more = x[at] != 0;
  }
  return bits + more;
}

static void keep(PawlDecimals* powers, int k, Wide bits) {
  powers->high[k - PAWL_DECIMAL_LOWEST] = (uint64_t)(bits >> 64);
  powers->low[k - PAWL_DECIMAL_LOWEST] = (uint64_t)bits;
}

// Characters of 0000 .. 9999, the first in the lowest byte.
static void fill_fours(uint32_t* four) {
  for (uint32_t x = 0; x < PAWL_DECIMAL_FOURS; x++) {
    four[x] =
        UINT32_C(0x30303030) + (x / 1000 | x / 100 % 10 << 8 | x / 10 % 10 << 16 | x % 10 << 24);
  }
}

void pawl_decimals_fill(PawlDecimals* powers) {
  fill_fours(powers->four);
  uint32_t x[LIMBS] = {1};
  for (int k = 0; k <= PAWL_DECIMAL_HIGHEST; k++) {
    keep(powers, k, leading_bits(x, false));
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
      carry += (uint64_t)x[i] * 10;
      x[i] = (uint32_t)carry;
      carry >>= 32;
    }
  }
  memset(x, 0, sizeof x);
  x[LIMBS - 1] = 1;  // 2^N; dividing by 10 and cutting, k times, is dividing by 10^k and cutting
  for (int k = -1; k >= PAWL_DECIMAL_LOWEST; k--) {
    uint64_t rest = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
      rest = rest << 32 | x[i];
      x[i] = (uint32_t)(rest / 10);
      rest %= 10;
    }
    keep(powers, k, leading_bits(x, true));
  }
}

// ---- digits ---------------------------------------------------------------------------------
// Floors of logarithms, exact for every double: q from -1074 to 971, k from -324 to 324.
static int log10_of_power_of_2(int q) {
  return (q * 315653) >> 20;  // log10(2) = 0.30103
}
static int log10_of_3_quarters_power_of_2(int q) {
  return (q * 315653 - 131008) >> 20;  // log10(3/4) = -0.12494
}
static int log2_of_power_of_10(int k) {
  return (k * 217706) >> 16;  // log2(10) = 3.32193
}

// g x / 2^128 with the last bit set when something was cut.
static uint64_t scale_to_odd(uint64_t high, uint64_t low, uint64_t x) {
  uint64_t lower = (uint64_t)((Wide)low * x >> 64);
  Wide product = (Wide)high * x + lower;
  return (uint64_t)(product >> 64) | ((uint64_t)product > 1);
}

typedef struct Digits {
  uint64_t digits;
  int exponent;  // the value is digits 10^exponent
} Digits;

static const uint64_t LEAST_SEVENTEEN = UINT64_C(10000000000000000);  // 10^16

static Digits shortest_exact(const PawlDecimals* powers, uint64_t c, int q, bool power_of_2) {
  int k = power_of_2 ? log10_of_3_quarters_power_of_2(q) : log10_of_power_of_2(q);  // (D2)
  int shift = q + log2_of_power_of_10(-k) + 1;
  uint64_t high = powers->high[-k - PAWL_DECIMAL_LOWEST];
  uint64_t low = powers->low[-k - PAWL_DECIMAL_LOWEST];
  uint64_t open = c & 1;
  // (D1), scaled by 4 10^-k
  uint64_t begin = scale_to_odd(high, low, (4 * c - (power_of_2 ? 1 : 2)) << shift) + open;
  uint64_t value = scale_to_odd(high, low, (4 * c) << shift);
  uint64_t end = scale_to_odd(high, low, (4 * c + 2) << shift) - open;
  uint64_t s = value / 4;
  if (s >= 10) {
    uint64_t tens = s / 10;
    bool below = begin <= 40 * tens, above = 40 * tens + 40 <= end;
    if (below != above) {
      return (Digits){10 * (tens + above), k};
    }
  }
  bool below = begin <= 4 * s, above = 4 * s + 4 <= end;
  if (below != above) {
    return (Digits){s + above, k};
  }
  uint64_t middle = 4 * s + 2;
  bool up = value > middle || (value == middle && (s & 1));
  return (Digits){s + up, k};
}

// Seventeen digits of sixteen.
static Digits seventeen(Digits d) {
  bool fewer = d.digits < LEAST_SEVENTEEN;
  return (Digits){fewer ? 10 * d.digits : d.digits, d.exponent - fewer};
}

// The rounded x is s + f 2^-64, off by less than 2^-64: the power of ten is too large by less than
// 1 in 2^128, and what is cut is less than 1. In units of 2^-60 x mod 10 and d are off by less
// than 2.
static bool shortest_quickly(const PawlDecimals* powers, uint64_t c, int q, Digits* out) {
  const uint64_t one = UINT64_C(1) << 60, half = UINT64_C(1) << 63, close = 4;
  int k = log10_of_power_of_2(q);  // (D2)
  int shift = q + log2_of_power_of_10(-k) + 1;
  uint64_t high = powers->high[-k - PAWL_DECIMAL_LOWEST];
  uint64_t low = powers->low[-k - PAWL_DECIMAL_LOWEST];
  Wide x = (Wide)high * (c << shift) + (uint64_t)((Wide)low * (c << shift) >> 64);
  uint64_t s = (uint64_t)(x >> 64), f = (uint64_t)x, tens = s / 10 * 10;
  uint64_t d = high >> (5 - shift);
  uint64_t below = (s - tens) * one + (f >> 4), above = 10 * one - below;  // (D3)
  bool undecided = (below - d + close <= 2 * close) | (above - d + close <= 2 * close) |
                   (f - half + close <= 2 * close);
  bool ten = (below < d) | (above < d);
  uint64_t rounded = s + (f >> 63), nearest = tens + (above < d ? 10 : 0);
  *out = seventeen((Digits){ten ? nearest : rounded, k});
  return !undecided;
}

// ---- text -----------------------------------------------------------------------------------
enum {
  MOST_DIGITS = 17,
  SPARE = 24,  // characters that a copy of fixed length may read behind them
};

// Eight digits of x < 10^8, the first in the lowest byte.
static uint64_t eight_digits(const PawlDecimals* powers, uint32_t x) {
  return powers->four[x / 10000] | (uint64_t)powers->four[x % 10000] << 32;
}

static void put_eight(char* out, uint64_t digits) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(out, &digits, 8);
#else
  for (int i = 0; i < 8; i++) {
    out[i] = (char)(digits >> 8 * i & 0xff);
  }
#endif
}

// Of one digit, eight, and eight more, without the zeros at the end.
static int count_digits(uint64_t eight, uint64_t last) {
  const uint64_t zeros = UINT64_C(0x3030303030303030);
  return last != zeros    ? MOST_DIGITS - __builtin_clzll(last ^ zeros) / 8
         : eight != zeros ? MOST_DIGITS - 8 - __builtin_clzll(eight ^ zeros) / 8
                          : 1;
}

static char* put_exponent(char* out, int exponent) {
  int size = exponent < 0 ? -exponent : exponent;
  *out++ = 'e';
  *out++ = exponent < 0 ? '-' : '+';
  if (size >= 100) {
    *out++ = (char)('0' + size / 100);
  }
  *out++ = (char)('0' + size / 10 % 10);
  *out++ = (char)('0' + size % 10);
  return out;
}

// As %g with the precision that it takes, at least 15: an exponent below 1e-4 and from there on.
// Copies are of fixed length, which is faster than of the right one; what is too much is written
// over.
static char* put_number(const PawlDecimals* powers, Digits d, char* out) {
  char room[MOST_DIGITS + SPARE] = {0};
  const uint32_t half = 100000000;
  uint64_t above = d.digits / half, first = above / half;
  uint64_t eight = eight_digits(powers, (uint32_t)(above % half));
  uint64_t last = eight_digits(powers, (uint32_t)(d.digits % half));
  room[0] = (char)('0' + first);
  put_eight(room + 1, eight);
  put_eight(room + 9, last);
  int count = count_digits(eight, last);
  int exponent = d.exponent + MOST_DIGITS - 1;  // of the first digit
  int precision = count < 15 ? 15 : count;
  bool scientific = exponent < -4 || exponent >= precision;
  int whole = scientific ? 1 : exponent + 1;  // digits before the point
  if (whole <= 0) {
    memcpy(out, "0.0000", 6);
    out += 2 - whole;
    memcpy(out, room, SPARE);
    return out + count;
  }
  memcpy(out, room, SPARE);  // with the zeros of a whole number behind its digits
  out += whole;
  if (count > whole) {
    *out++ = '.';
    memcpy(out, room + whole, SPARE);
    out += count - whole;
  }
  return scientific ? put_exponent(out, exponent) : out;
}

static int put_word(char* out, const char* word) {
  size_t length = strlen(word);
  memcpy(out, word, length);
  return (int)length;
}

int pawl_decimal_print(const PawlDecimals* powers, double value, char* out) {
  if (!isfinite(value)) {
    return put_word(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
  }
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
  int biased = (int)(bits >> 52 & 0x7ff);
  bool negative = bits >> 63;
  char* at = out;
  *at = '-';
  at += negative;
  if (biased == 0 && fraction == 0) {
    *at = '0';
    return 1 + negative;
  }
  uint64_t c = biased ? fraction | (uint64_t)1 << 52 : fraction;
  int q = (biased ? biased : 1) - 1075;
  Digits digits;
  if (biased == 0 || fraction == 0 || !shortest_quickly(powers, c, q, &digits)) {
    digits = shortest_exact(powers, c, q, fraction == 0 && biased > 1);
    while (digits.digits < LEAST_SEVENTEEN) {
      digits = seventeen(digits);
    }
  }
  at = put_number(powers, digits, at);
  return (int)(at - out);
}
