// SPDX-License-Identifier: Apache-2.0
#include "model/inertia.h"

#include <math.h>
#include <string.h>

#include "expr/elementary.h"

// One turn in the plane of the axes p and q, after which I[p][q] is zero (Jacobi).
static void rotate_plane(double I[3][3], int p, int q) {
  if (I[p][q] == 0.0) {
    return;
  }
  double theta = 0.5 * atan(2.0 * I[p][q] / (I[q][q] - I[p][p]));  // half a right angle where equal
  double c = pawl_cos(theta), s = pawl_sin(theta);
  for (int k = 0; k < 3; k++) {  // R I
    double a = I[p][k], b = I[q][k];
    I[p][k] = c * a - s * b;
    I[q][k] = s * a + c * b;
  }
  for (int k = 0; k < 3; k++) {  // R I R^T
    double a = I[k][p], b = I[k][q];
    I[k][p] = c * a - s * b;
    I[k][q] = s * a + c * b;
  }
}

void pawl_principal_moments(const double I[3][3], double moments[3]) {
  enum { SWEEPS = 8 };  // three or four reach rounding: the convergence is quadratic
  double turned[3][3];
  memcpy(turned, I, sizeof turned);
  for (int k = 0; k < SWEEPS; k++) {
    rotate_plane(turned, 0, 1);
    rotate_plane(turned, 0, 2);
    rotate_plane(turned, 1, 2);
  }
  for (int k = 0; k < 3; k++) {
    moments[k] = turned[k][k];
  }
  for (int k = 0; k < 3; k++) {  // ascending
    int i = k % 2;
    double low = fmin(moments[i], moments[i + 1]), high = fmax(moments[i], moments[i + 1]);
    moments[i] = low;
    moments[i + 1] = high;
  }
}

bool pawl_moments_negative(const double moments[3]) {
  return moments[0] < -PAWL_INERTIA_ROUNDING * fabs(moments[2]) || moments[2] < 0.0;
}
