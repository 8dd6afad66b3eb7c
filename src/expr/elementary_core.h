// SPDX-License-Identifier: Apache-2.0
// What elementary.c computes with, for arguments within the limits of elementary.h: inline code of
// that file, and of modules of compiled C, which have this text, too (system/compiled.c). Labels
// (Y1) to (Y9) are those of docs/theory/elementary.md; scripts/reference-elementary computes the
// numbers.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "expr/elementary.h"

#if defined(__SSE2__) && defined(__GNUC__)
#include <emmintrin.h>
#define HAS_PAIRS 1
#endif

static const uint64_t sign_bit = UINT64_C(1) << 63;

// Added to a number below 2^51, it leaves the nearest integer in the last bits.
static const double rounder = 0x1.8p52;

static inline uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double from_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// ---- sine and cosine ----------------------------------------------------------------------------
static const double two_over_pi = 0x1.45f306dc9c883p-1;
static const double half_pi[3] = {0x1.921fb54440000p+0, 0x1.68c234c4c0000p-39,
                                  0x1.98a2e03707345p-77};

// The coefficients of P and Q, of a power of z in a row.
// clang-format off
#define EACH_COEFFICIENT(C)                         \
  C(-0x1.5555555555548p-3,   0x1.555555555554bp-5), \
  C( 0x1.111111110f730p-7,  -0x1.6c16c16c15015p-10), \
  C(-0x1.a01a019be9213p-13,  0x1.a01a019c8f254p-16), \
  C( 0x1.71de35552af26p-19, -0x1.27e4f7f1914b8p-22), \
  C(-0x1.ae5e4b8382e61p-26,  0x1.1ee9dbcf01cc1p-29), \
  C( 0x1.5d8b55735ecb2p-33, -0x1.8fa6848d8443fp-37)
// clang-format on
#define OF_P(p, q) p
#define OF_Q(p, q) q

// A polynomial of degree 5, for numbers as for pairs of them.
#define POLYNOMIAL(c, z, z2)                                    \
  ((((c)[0] + (c)[1] * (z)) + (z2) * ((c)[2] + (c)[3] * (z))) + \
   ((z2) * (z2)) * ((c)[4] + (c)[5] * (z)))

typedef struct Angle {  // |x| = n pi/2 + r + t
  double r, t;
  uint64_t n;  // its last two bits are those of n
} Angle;

static inline Angle reduce(double x) {
  double near = fabs(x) * two_over_pi + rounder, n = near - rounder;   // (Y1)
  double a = fabs(x) - n * half_pi[0], b = n * half_pi[1], r = a - b;  // (Y2)
  return (Angle){r, ((a - r) - b) - n * half_pi[2], bits_of(near)};    // (Y3)
}

static inline PawlSineCosine both(double x) {
  static const double P[] = {EACH_COEFFICIENT(OF_P)}, Q[] = {EACH_COEFFICIENT(OF_Q)};
  Angle at = reduce(x);
  double r = at.r, t = at.t, z = r * r, z2 = z * z, half = 0.5 * z, w = 1.0 - half;
  double s = r + (t * w + (r * z) * POLYNOMIAL(P, z, z2));                    // (Y4)
  double c = w + ((((1.0 - w) - half) - r * t) + z2 * POLYNOMIAL(Q, z, z2));  // (Y5)
  uint64_t sine = bits_of(s), cosine = bits_of(c);
  uint64_t exchange = (sine ^ cosine) & (0 - (at.n & 1));  // (Y6)
  sine ^= exchange ^ (((at.n << 62) ^ bits_of(x)) & sign_bit);
  cosine ^= exchange ^ (((at.n + 1) << 62) & sign_bit);
  return (PawlSineCosine){from_bits(sine), from_bits(cosine)};
}

#ifdef HAS_PAIRS
// The same, both polynomials at once.
static inline PawlSineCosine both_at_once(double x) {
#define PAIR(p, q) \
  { p, q }
  static const __m128d coefficients[] = {EACH_COEFFICIENT(PAIR)};
#undef PAIR
  Angle at = reduce(x);
  double r = at.r, t = at.t, z = r * r, half = 0.5 * z, w = 1.0 - half;
  __m128d zz = {z, z}, z2 = zz * zz, value = POLYNOMIAL(coefficients, zz, z2);
  __m128d first = {r, w}, factor = {r, z}, rest = {t * w, ((1.0 - w) - half) - r * t};
  __m128i v = _mm_castpd_si128(first + (rest + (factor * zz) * value));  // (Y4), (Y5)
  __m128i n = _mm_set1_epi64x((long long)at.n);
  __m128i odd = _mm_sub_epi64(_mm_setzero_si128(), _mm_and_si128(n, _mm_set1_epi64x(1)));
  __m128i exchange = _mm_and_si128(_mm_xor_si128(v, _mm_shuffle_epi32(v, 0x4e)), odd);
  __m128i sign = _mm_slli_epi64(_mm_add_epi64(n, _mm_set_epi64x(1, 0)), 62);
  sign = _mm_xor_si128(sign, _mm_castpd_si128(_mm_set_sd(x)));
  sign = _mm_and_si128(sign, _mm_set1_epi64x(INT64_MIN));
  __m128d y = _mm_castsi128_pd(_mm_xor_si128(v, _mm_xor_si128(exchange, sign)));  // (Y6)
  return (PawlSineCosine){y[0], y[1]};
}
#else
#define both_at_once both
#endif

static inline uint64_t is_far(double x) {
  return !(fabs(x) <= PAWL_SINE_LIMIT);
}

// ---- exponential function -----------------------------------------------------------------------
static const double one_over_ln_2 = 0x1.71547652b82fep+0;
static const double ln_2[2] = {0x1.62e42fefa3800p-1, 0x1.ef35793c7673p-45};

static inline double exponential(double x) {
  static const double R[] = {0x1.0000000000000p-1,  0x1.555555555555bp-3,  0x1.5555555555503p-5,
                             0x1.111111110ec65p-7,  0x1.6c16c16c3044ep-10, 0x1.a01a01b37b1bcp-13,
                             0x1.a01a013699880p-16, 0x1.71ddf028adbd6p-19, 0x1.27e5b43fb9fd9p-22,
                             0x1.af6bd9fcf3e48p-26, 0x1.1e3d24091e4d3p-29};
  double near = x * one_over_ln_2 + rounder, n = near - rounder;  // (Y7)
  double a = x - n * ln_2[0], b = n * ln_2[1], r = a - b, t = (a - r) - b;
  double r2 = r * r, e = 1.0 + r, f = (1.0 - e) + r;
  double high = (R[6] + R[7] * r) + r2 * ((R[8] + R[9] * r) + r2 * R[10]);
  double value = POLYNOMIAL(R, r, r2) + ((r2 * r2) * r2) * high;
  double y = e + ((f + t * e) + r2 * value);                   // (Y8)
  return y * from_bits((bits_of(near) << 52) + bits_of(1.0));  // (Y9)
}

static inline uint64_t is_steep(double x) {
  return !(fabs(x) <= PAWL_EXPONENT_LIMIT);
}
