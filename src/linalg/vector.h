// SPDX-License-Identifier: Apache-2.0
// Sums over short vectors, for the dense kernels.
#pragma once

#include <stddef.h>

// Four sums side by side: a sum alone waits for each addition, and the compiler may not reorder it.
static inline double pawl_dot(int n, const double* a, const double* b) {
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  int i = 0;
  for (; i + 3 < n; i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  for (; i < n; i++) {
    s0 += a[i] * b[i];
  }
  return (s0 + s1) + (s2 + s3);
}

// y += scale * x
static inline void pawl_add_scaled(int n, double* y, double scale, const double* x) {
  for (int i = 0; i < n; i++) {
    y[i] += scale * x[i];
  }
}

// Row i of rows of n numbers each, or column i of a matrix by columns.
static inline double* pawl_row(double* A, int n, int i) {
  return A + (size_t)i * (size_t)n;
}
