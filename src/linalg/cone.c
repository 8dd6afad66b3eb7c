// SPDX-License-Identifier: Apache-2.0
#include "linalg/cone.h"

#include <math.h>

static double dot(int dim, const double* a, const double* b) {
  double sum = 0.0;
  for (int i = 0; i < dim; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

double pawl_cone_tangent(int dim, const double* a) {
  return dim == 1 ? 0.0 : dim == 2 ? fabs(a[1]) : hypot(a[1], a[2]);
}

// a_N^2 - |a_T|^2
static double det(int dim, const double* a) {
  double T = pawl_cone_tangent(dim, a);
  return (a[0] - T) * (a[0] + T);
}

void pawl_cone_product(int dim, const double* a, const double* b, double* out) {
  for (int i = 1; i < dim; i++) {
    out[i] = a[0] * b[i] + b[0] * a[i];
  }
  out[0] = dot(dim, a, b);
}

void pawl_cone_divide(int dim, const double* a, double* c) {
  double along = dot(dim - 1, a + 1, c + 1), first = (a[0] * c[0] - along) / det(dim, a);
  for (int i = 1; i < dim; i++) {
    c[i] = (c[i] - first * a[i]) / a[0];
  }
  c[0] = first;
}

// det(a + t d) = A t^2 + 2 B t + C
double pawl_cone_reach(int dim, const double* a, const double* d) {
  if (dim == 1) {
    return d[0] < 0.0 ? -a[0] / d[0] : INFINITY;
  }
  double A = det(dim, d), B = a[0] * d[0] - dot(dim - 1, a + 1, d + 1), C = det(dim, a);
  double root = sqrt(fmax(B * B - A * C, 0.0));
  if (B < 0.0) {
    return C / (root - B);
  }
  return A < 0.0 ? (-B - root) / A : INFINITY;
}

PawlConeScaling pawl_cone_scaling(int dim, const double* z, const double* s) {
  PawlConeScaling W = {.dim = dim};
  double size_z = sqrt(det(dim, z)), size_s = sqrt(det(dim, s));
  double gamma = sqrt(0.5 * (1.0 + dot(dim, z, s) / (size_z * size_s)));
  for (int i = 0; i < dim; i++) {
    double mirrored = i == 0 ? z[0] : -z[i];
    W.w[i] = 0.5 * (s[i] / size_s + mirrored / size_z) / gamma;
  }
  W.w[0] = hypot(1.0, pawl_cone_tangent(dim, W.w));
  W.eta = sqrt(size_s / size_z);
  return W;
}

void pawl_cone_scale(const PawlConeScaling* W, bool inverse, const double* x, double* out) {
  double sign = inverse ? -1.0 : 1.0, by = inverse ? 1.0 / W->eta : W->eta;
  double along = dot(W->dim - 1, W->w + 1, x + 1);
  double more = sign * x[0] + along / (1.0 + W->w[0]);
  out[0] = by * (W->w[0] * x[0] + sign * along);
  for (int i = 1; i < W->dim; i++) {
    out[i] = by * (x[i] + more * W->w[i]);
  }
}

double pawl_cone_square(const PawlConeScaling* W, int i, int j) {
  double unit = i != j ? 0.0 : i == 0 ? -1.0 : 1.0;
  return W->eta * W->eta * (2.0 * W->w[i] * W->w[j] + unit);
}

void pawl_cone_center(const PawlConeScaling* W, const double* z, const double* dz, const double* ds,
                      double nu, double* rhs) {
  double a[PAWL_CONE_MOST], b[PAWL_CONE_MOST], c[PAWL_CONE_MOST];
  pawl_cone_scale(W, false, dz, a);
  pawl_cone_scale(W, true, ds, b);
  pawl_cone_product(W->dim, a, b, c);
  pawl_cone_scale(W, false, z, b);
  pawl_cone_product(W->dim, b, b, a);
  for (int i = 0; i < W->dim; i++) {
    c[i] = (i == 0 ? nu : 0.0) - a[i] - c[i];
  }
  pawl_cone_divide(W->dim, b, c);
  pawl_cone_scale(W, false, c, rhs);
}
