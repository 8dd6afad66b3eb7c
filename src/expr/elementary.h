// SPDX-License-Identifier: Apache-2.0
// Sine, cosine and the exponential function, with the same bits in one lane and in many and on
// every machine that rounds as IEEE 754 asks (docs/theory/elementary.md): sums, differences and
// products in a fixed order, no contraction, nothing chosen by the processor. Wrong by at most
// PAWL_ELEMENTARY_ULPS units of the last place. Arguments beyond the limits below, infinities and
// NaN go to the mathematical library of the machine.
#pragma once

#define PAWL_ELEMENTARY_ULPS 0.85  // see section 4 there
#define PAWL_SINE_LIMIT 100000.0   // [rad], about 16000 turns
#define PAWL_EXPONENT_LIMIT 708.0  // the result is a normal number

typedef struct PawlSineCosine {
  double sine, cosine;
} PawlSineCosine;

// sin(-x) = -sin(x), cos(-x) = cos(x), sin(-0) = -0, cos(0) = exp(0) = 1, all exact. The same bits
// together as apart.
double pawl_sin(double x);
double pawl_cos(double x);
PawlSineCosine pawl_sincos(double x);
double pawl_exp(double x);

// The same of four numbers at once: y = sin(a), sin(b), sin(c), sin(d), cos(a), ... cos(d).
void pawl_sincos_four(double a, double b, double c, double d, double y[8]);
// The same for x[0] .. x[n - 1]. Results do not overlap the arguments.
void pawl_sin_lanes(int n, const double* x, double* sine);
void pawl_cos_lanes(int n, const double* x, double* cosine);
void pawl_sincos_lanes(int n, const double* x, double* sine, double* cosine);
void pawl_exp_lanes(int n, const double* x, double* y);
