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
// Nearly always one product does. In units of 10^(k+1) the value is y = c u with u = 2^q 10^-(k+1),
// 1/10 <= u < 1, and the interval is y - u/2 .. y + u/2. With e the distance of y from the nearest
// whole number n,
//   e < u/2: the multiple of 10^(k+1) is n; otherwise the answer is 10 y, rounded.          (D3)
// Where a comparison is too close for the rounded y, that is at ends and ties, the whole numbers
// above decide.
#include "io/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

__extension__ typedef unsigned __int128 Wide;

// ---- powers of ten --------------------------------------------------------------------------
static const uint32_t FOUR_ZEROS = UINT32_C(0x30303030);
enum { LIMBS = 42 };  // of 32 bits: 10^324 has 1077 bits, and 2^N / 10^293 keeps over 128

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
    four[x] = FOUR_ZEROS + (x / 1000 | x / 100 % 10 << 8 | x / 10 % 10 << 16 | x % 10 << 24);
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

typedef struct Digits {  // the value is (10 n + last) 10^exponent
  uint64_t n;            // 15 or 16 digits
  unsigned last;
  int exponent;
} Digits;

static const uint64_t LEAST_SIXTEEN = UINT64_C(1000000000000000);  // 10^15

// Of whatever length.
static Digits divided(uint64_t digits, int exponent) {
  while (digits < 10 * LEAST_SIXTEEN) {
    digits *= 10;
    exponent--;
  }
  return (Digits){digits / 10, (unsigned)(digits % 10), exponent};
}

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
      return divided(10 * (tens + above), k);
    }
  }
  bool below = begin <= 4 * s, above = 4 * s + 4 <= end;
  if (below != above) {
    return divided(s + above, k);
  }
  uint64_t middle = 4 * s + 2;
  bool up = value > middle || (value == middle && (s & 1));
  return divided(s + up, k);
}

// u of every exponent of ordinary doubles, (D3), rounded up.
static void fill_scales(PawlDecimals* powers) {
  for (int biased = 1; biased <= PAWL_DECIMAL_ORDINARY; biased++) {
    int q = biased - PAWL_DECIMAL_BIAS, k = log10_of_power_of_2(q);  // (D2)
    int at = -(k + 1) - PAWL_DECIMAL_LOWEST, shift = -(q + log2_of_power_of_10(-(k + 1)) + 1);
    Wide u = (Wide)powers->high[at] << 64 | powers->low[at], cut = ((Wide)1 << shift) - 1;
    u = (u >> shift) + ((u & cut) != 0);
    powers->scale[biased] = (PawlDecimalScale){(uint64_t)(u >> 64), (uint64_t)u, k};
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
  fill_scales(powers);
}

// Digits of c 2^q: y is n + f 2^-64, too large by less than 2^-64 since u is so by less than
// 2^-128, or too small by less than 2^-64 by what is cut. False: too close to tell. The digit
// behind n is taken from the upper 60 bits of f, so that ten times them fit. (D3)
static inline bool shortest_quickly(const PawlDecimalScale* scale, uint64_t c, Digits* digits) {
  const uint64_t half = UINT64_C(1) << 63, close = 64;
  Wide upper = (Wide)scale->high * c;
  uint64_t lower = (uint64_t)((Wide)scale->low * c >> 64), f = (uint64_t)upper + lower;
  uint64_t d = scale->high >> 1, e = f < half ? f : -f;
  digits->n = (uint64_t)(upper >> 64) + (f < lower);
  digits->last = 0;
  digits->exponent = scale->k;
  if (e < d) {
    digits->n += f >= half;
  } else {
    uint64_t tenth = 10 * (f >> 4) + (UINT64_C(1) << 59);
    digits->last = (unsigned)(tenth >> 60);
    if ((tenth + close) << 4 <= 2 * close << 4) {  // a tie
      return false;
    }
  }
  return e - d + close > 2 * close;
}

// ---- text -----------------------------------------------------------------------------------
enum { MOST_DIGITS = 17 };

// Four digits, the first in the lowest byte.
static inline void put_four(char* out, uint32_t digits) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(out, &digits, 4);
#else
  for (int i = 0; i < 4; i++) {
    out[i] = (char)(digits >> 8 * i & 0xff);
  }
#endif
}

// Of twelve digits, given by fours, those before the zeros at the end.
static size_t count_high(const PawlDecimals* powers, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t of = c ? c : b ? b : a;
  size_t before = c ? 8 : b ? 4 : 0;
  return before + 4 - (unsigned)__builtin_clz(powers->four[of] ^ FOUR_ZEROS) / 8;
}

// Writes seventeen digits, the first of which may be zero, and returns how many there are without
// the zeros at the end.
static inline size_t put_digits(const PawlDecimals* powers, const Digits* d, char* out) {
  const uint64_t half = 100000000;
  uint32_t high = (uint32_t)(d->n / half), low = (uint32_t)(d->n - half * high);
  uint32_t a = high / 10000, c = low / 10000, fourth = powers->four[low - 10000 * c];
  put_four(out, powers->four[a]);
  put_four(out + 4, powers->four[high - 10000 * a]);
  put_four(out + 8, powers->four[c]);
  put_four(out + 12, fourth);
  out[16] = (char)('0' + d->last);
  if (d->last != 0) {
    return MOST_DIGITS;
  }
  if (fourth != FOUR_ZEROS) {
    return 16 - (unsigned)__builtin_clz(fourth ^ FOUR_ZEROS) / 8;
  }
  return count_high(powers, a, high - 10000 * a, c);
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

// Moves the first `count` digits, at most 8 of them quickly, back by one place.
static inline void move_back(char* digits, int count) {
  uint64_t moved, others;
  if (count > 8) {
    memmove(digits - 1, digits, (size_t)count);
    return;
  }
  memcpy(&moved, digits, sizeof moved);
  memcpy(&others, digits + count, sizeof others);
  memcpy(digits - 1, &moved, sizeof moved);
  memcpy(digits + count, &others, sizeof others);
}

// As %g with the precision that it takes, at least 15: an exponent below 1e-4 and from there on.
// Digits stand one place to the right at first, and those before the point go back. The first of
// them is zero (`skip`) where n has 15.
static inline char* put_number(const PawlDecimals* powers, const Digits* d, char* out) {
  int skip = d->n < LEAST_SIXTEEN;
  int exponent = d->exponent + MOST_DIGITS - 1 - skip, whole = exponent + 1;  // of the first digit
  if (whole <= 0 && exponent >= -4) {
    char* digits = out + 2 - d->exponent - MOST_DIGITS;  // where whole is that of 16
    memcpy(out, "0.000000", 8);
    digits += put_digits(powers, d, digits);
    out[1] = '.';  // may have been written over
    return digits;
  }
  int count = (int)put_digits(powers, d, out + 1 - skip) - skip;
  bool scientific = whole <= 0 || exponent >= (count < 15 ? 15 : count);
  whole = scientific ? 1 : whole;
  *out = out[1];
  if (whole > 1) {
    move_back(out + 2, whole - 1);
  }
  out[whole] = '.';
  out += count > whole ? count + 1 : whole;
  return scientific ? put_exponent(out, exponent) : out;
}

static char* put_word(char* out, const char* word) {
  size_t length = strlen(word);
  memcpy(out, word, length);
  return out + length;
}

// Powers of two, and what has an exponent of its own kind: zeros, numbers without a leading bit,
// infinite ones and none.
static char* print_special(const PawlDecimals* powers, double value, const char* none, char* out) {
  const uint64_t leading = UINT64_C(1) << 52;
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint64_t fraction = bits & (leading - 1);
  int biased = (int)(bits >> 52 & 0x7ff);
  bool negative = bits >> 63;
  if (!isfinite(value)) {
    return put_word(out, isnan(value) ? none : negative ? "-inf" : "inf");
  }
  *out = '-';
  out += negative;
  if (value == 0.0) {
    *out = '0';
    return out + 1;
  }
  uint64_t c = biased ? fraction | leading : fraction;
  int q = (biased ? biased : 1) - PAWL_DECIMAL_BIAS;
  Digits digits = shortest_exact(powers, c, q, fraction == 0 && biased > 1);
  return put_number(powers, &digits, out);
}

// `none` where it is no number. Returns the end.
static inline char* print(const PawlDecimals* powers, const double* value, const char* none,
                          char* out) {
  const uint64_t leading = UINT64_C(1) << 52;
  uint64_t bits;
  Digits digits;
  memcpy(&bits, value, sizeof bits);
  uint64_t fraction = bits & (leading - 1), biased = bits >> 52 & 0x7ff;
  const PawlDecimalScale* scale = &powers->scale[biased];
  if (biased - 1 >= PAWL_DECIMAL_ORDINARY || fraction == 0 ||
      !shortest_quickly(scale, fraction | leading, &digits)) {
    if (bits == 0) {
      *out = '0';
      return out + 1;
    }
    return print_special(powers, *value, none, out);
  }
  *out = '-';
  return put_number(powers, &digits, out + (bits >> 63));
}

int pawl_decimal_print(const PawlDecimals* powers, double value, char* out) {
  return (int)(print(powers, &value, "nan", out) - out);
}

size_t pawl_decimal_row(const PawlDecimals* powers, int count, const double* values, char* out) {
  char* at = out;
  for (int i = 0; i < count; i++) {
    at = print(powers, values + i, "", at);
    *at++ = ',';
  }
  at -= count > 0;
  *at++ = '\n';
  return (size_t)(at - out);
}
