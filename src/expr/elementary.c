// SPDX-License-Identifier: Apache-2.0
#include "base/targets.h"
#include "expr/elementary_core.h"

#if defined(__GNUC__)
#define RARE __attribute__((noinline, cold))
#define INLINED __attribute__((always_inline)) inline  // so that it is for the target of its caller
#else
#define RARE
#define INLINED inline
#endif

PawlSineCosine pawl_sincos(double x) {
  return is_far(x) ? (PawlSineCosine){sin(x), cos(x)} : both_at_once(x);
}

double pawl_sin(double x) {
  return is_far(x) ? sin(x) : both_at_once(x).sine;
}

double pawl_cos(double x) {
  return is_far(x) ? cos(x) : both_at_once(x).cosine;
}

double pawl_exp(double x) {
  return is_steep(x) ? exp(x) : exponential(x);
}

// ---- lanes --------------------------------------------------------------------------------------
// Without branches first, as vector code; then again those that are beyond, which are rare.
typedef double One(double x);

static RARE void amend(int n, const double* x, One* f, double* y) {
  for (int l = 0; l < n; l++) {
    y[l] = f(x[l]);
  }
}

static RARE void amend_four(double a, double b, double c, double d, double y[8]) {
  amend(4, (const double[]){a, b, c, d}, pawl_sin, y);
  amend(4, (const double[]){a, b, c, d}, pawl_cos, y + 4);
}

static INLINED void four(double a, double b, double c, double d, double y[8]) {
  const double x[4] = {a, b, c, d};
  uint64_t beyond = 0;
  for (int l = 0; l < 4; l++) {
    PawlSineCosine of = both(x[l]);
    beyond |= is_far(x[l]);
    y[l] = of.sine;
    y[l + 4] = of.cosine;
  }
  if (beyond) {
    amend_four(a, b, c, d, y);
  }
}

PAWL_MANY_TARGETS
void pawl_sincos_four(double a, double b, double c, double d, double y[8]) {
  four(a, b, c, d, y);
}

// How many of n lanes a loop takes; two or three that are then left go by four at once.
static inline int most_lanes(int n) {
  return n % 4 > 1 ? n - n % 4 : n;
}

// The lanes that are left; NULL: not wanted.
static INLINED void finish(int n, const double* x, double* sine, double* cosine) {
  double y[8];
  if (n > 0) {
    four(x[0], x[1], x[n - 1], x[n - 1], y);
  }
  for (int l = 0; l < n && sine; l++) {
    sine[l] = y[l];
  }
  for (int l = 0; l < n && cosine; l++) {
    cosine[l] = y[l + 4];
  }
}

PAWL_MANY_TARGETS
void pawl_sin_lanes(int n, const double* restrict x, double* restrict sine) {
  uint64_t beyond = 0;
  int whole = most_lanes(n);
  for (int l = 0; l < whole; l++) {
    beyond |= is_far(x[l]);
    sine[l] = both(x[l]).sine;
  }
  if (beyond) {
    amend(whole, x, pawl_sin, sine);
  }
  finish(n - whole, x + whole, sine + whole, NULL);
}

PAWL_MANY_TARGETS
void pawl_cos_lanes(int n, const double* restrict x, double* restrict cosine) {
  uint64_t beyond = 0;
  int whole = most_lanes(n);
  for (int l = 0; l < whole; l++) {
    beyond |= is_far(x[l]);
    cosine[l] = both(x[l]).cosine;
  }
  if (beyond) {
    amend(whole, x, pawl_cos, cosine);
  }
  finish(n - whole, x + whole, NULL, cosine + whole);
}

PAWL_MANY_TARGETS
void pawl_sincos_lanes(int n, const double* restrict x, double* restrict sine,
                       double* restrict cosine) {
  uint64_t beyond = 0;
  int whole = most_lanes(n);
  for (int l = 0; l < whole; l++) {
    PawlSineCosine y = both(x[l]);
    beyond |= is_far(x[l]);
    sine[l] = y.sine;
    cosine[l] = y.cosine;
  }
  if (beyond) {
    amend(whole, x, pawl_sin, sine);
    amend(whole, x, pawl_cos, cosine);
  }
  finish(n - whole, x + whole, sine + whole, cosine + whole);
}

PAWL_MANY_TARGETS
void pawl_exp_lanes(int n, const double* restrict x, double* restrict y) {
  uint64_t beyond = 0;
  for (int l = 0; l < n; l++) {
    beyond |= is_steep(x[l]);
    y[l] = exponential(x[l]);
  }
  if (beyond) {
    amend(n, x, pawl_exp, y);
  }
}
