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
      return (Digits){tens + above, k + 1};
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

// ---- text -----------------------------------------------------------------------------------
static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

// The digits so that they end before `end`; returns how many.
static int put_digits(uint64_t digits, char* end) {
  char* at = end;
  while (digits >= 100) {
    at -= 2;
    memcpy(at, pairs + 2 * (digits % 100), 2);
    digits /= 100;
  }
  if (digits >= 10) {
    at -= 2;
    memcpy(at, pairs + 2 * digits, 2);
  } else {
    *--at = (char)('0' + digits);
  }
  return (int)(end - at);
}

static char* put_exponent(char* out, int exponent) {
  char room[8];
  *out++ = 'e';
  *out++ = exponent < 0 ? '-' : '+';
  uint64_t size = (uint64_t)(exponent < 0 ? -exponent : exponent);
  int count = put_digits(size, room + sizeof room);
  *out = '0';
  out += count < 2;
  memcpy(out, room + sizeof room - count, (size_t)count);
  return out + count;
}

// As %g with the precision that it takes, at least 15: an exponent below 1e-4 and from there on.
static char* put_number(char* out, Digits d) {
  char room[20];
  int count = put_digits(d.digits, room + sizeof room);
  const char* first = room + sizeof room - count;
  int exponent = d.exponent + count - 1;  // of the first digit
  int precision = count < 15 ? 15 : count;
  bool scientific = exponent < -4 || exponent >= precision;
  int whole = scientific ? 1 : exponent + 1;  // digits before the point
  if (whole <= 0) {
    memcpy(out, "0.0000", 6);
    out += 2 - whole;
    memcpy(out, first, (size_t)count);
    return out + count;
  }
  int copied = whole < count ? whole : count;
  memcpy(out, first, (size_t)copied);
  memset(out + copied, '0', (size_t)(whole - copied));
  out += whole;
  if (count > whole) {
    *out++ = '.';
    memcpy(out, first + whole, (size_t)(count - whole));
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
  at = put_number(at, without_zeros(shortest(powers, c, q, power_of_2)));
  return (int)(at - out);
}
