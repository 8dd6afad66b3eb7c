// SPDX-License-Identifier: Apache-2.0
#include "system/rotation.h"

#include <math.h>

#include "expr/elementary.h"

// p o (s, v)
static void product(const double p[4], double s, const double v[3], double out[4]) {
  double p0 = p[0], p1 = p[1], p2 = p[2], p3 = p[3];
  out[0] = p0 * s - p1 * v[0] - p2 * v[1] - p3 * v[2];
  out[1] = p1 * s + p0 * v[0] - p3 * v[1] + p2 * v[2];
  out[2] = p2 * s + p3 * v[0] + p0 * v[1] - p1 * v[2];
  out[3] = p3 * s - p2 * v[0] + p1 * v[1] + p0 * v[2];
}

void pawl_rotation_rate(const double p[4], const double omega[3], double rate[4]) {
  double half[3] = {omega[0] / 2, omega[1] / 2, omega[2] / 2};
  product(p, 0.0, half, rate);
}

void pawl_rotation_normalise(double p[4]) {
  double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
  for (int k = 0; k < 4; k++) {
    p[k] /= length;
  }
}

void pawl_rotation_move(const double p[4], const double turn[3], double out[4]) {
  double half[3] = {turn[0] / 2, turn[1] / 2, turn[2] / 2};
  double angle = sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
  PawlSineCosine of = pawl_sincos(angle);
  double s = angle == 0.0 ? 1.0 : of.sine / angle;  // exact to rounding for any but zero
  for (int k = 0; k < 3; k++) {
    half[k] *= s;
  }
  product(p, of.cosine, half, out);
  pawl_rotation_normalise(out);
}
