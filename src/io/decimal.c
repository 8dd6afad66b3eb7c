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

void pawl_decimals_fill(PawlDecimals* powers) {
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

// Only a multiple of 10^(k+1) can end in zeros, or, of the smallest doubles, a 10.
static Digits without_zeros(Digits d) {
  while (d.digits % 100 == 0) {
    d.digits /= 100;
    d.exponent += 2;
  }
  if (d.digits % 10 == 0) {
    d.digits /= 10;
    d.exponent++;
  }
  return d;
}

static Digits shortest(const PawlDecimals* powers, uint64_t c, int q, bool power_of_2) {
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
      return without_zeros((Digits){tens + above, k + 1});
    }
  }
  bool below = begin <= 4 * s, above = 4 * s + 4 <= end;
  if (below != above) {
    return (Digits){s + above, k};
  }
  uint64_t middle = 4 * s + 2;
  bool up = value > middle || (value == middle && (s & 1));
  Digits d = {s + up, k};
  return s < 10 ? without_zeros(d) : d;  // 9.88e-324 is 1e-323
}

// ---- text -----------------------------------------------------------------------------------
enum {
  MOST_DIGITS = 17,
  SPARE = 24,  // characters that a copy of fixed length may read behind them, zeros
};

// Eight digits of x < 10^8 at once, the first in the lowest byte: halves of four digits in lanes of
// 32 bits, of two in lanes of 16, of one in lanes of 8. x/100 = 10486 x / 2^20 for x < 10^4 and
// x/10 = 103 x / 2^10 for x < 100, cut to whole numbers.
static uint64_t eight_digits(uint32_t x) {
  uint64_t fours = x / 10000 | (uint64_t)(x % 10000) << 32;
  uint64_t hundreds = (fours * 10486) >> 20 & UINT64_C(0x0000007f0000007f);
  uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
  uint64_t tens = (twos * 103) >> 10 & UINT64_C(0x000f000f000f000f);
  return (tens | (twos - 10 * tens) << 8) + UINT64_C(0x3030303030303030);
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

static int count_digits(uint64_t digits) {
  uint64_t bound = UINT64_C(10000000000000000);  // 10^16
  int count = MOST_DIGITS;
  for (; digits < bound; bound /= 10) {
    count--;
  }
  return count;
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
static char* put_number(char* out, Digits d) {
  char room[MOST_DIGITS + SPARE];
  const uint64_t half = 100000000;
  uint64_t above = d.digits / half;
  room[0] = (char)('0' + above / half);
  put_eight(room + 1, eight_digits((uint32_t)(above % half)));
  put_eight(room + 9, eight_digits((uint32_t)(d.digits % half)));
  memset(room + MOST_DIGITS, '0', SPARE);
  int count = count_digits(d.digits);
  const char* first = room + MOST_DIGITS - count;
  int exponent = d.exponent + count - 1;  // of the first digit
  int precision = count < 15 ? 15 : count;
  bool scientific = exponent < -4 || exponent >= precision;
  int whole = scientific ? 1 : exponent + 1;  // digits before the point
  if (whole <= 0) {
    memcpy(out, "0.0000", 6);
    out += 2 - whole;
    memcpy(out, first, SPARE);
    return out + count;
  }
  memcpy(out, first, SPARE);  // with the zeros of a whole number behind its digits
  out += whole;
  if (count > whole) {
    *out++ = '.';
    memcpy(out, first + whole, SPARE);
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
  bool power_of_2 = fraction == 0 && biased > 1;
  at = put_number(at, shortest(powers, c, q, power_of_2));
  return (int)(at - out);
}
