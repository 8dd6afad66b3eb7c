// SPDX-License-Identifier: Apache-2.0
// Dense LU with partial pivoting, P A = L U, by columns. The diagonal keeps 1 / U_kk, so that the
// solve multiplies. Right-looking: after column k is scaled, every later column is updated at once;
// the updates do not wait for each other, which is what counts in a small matrix. Small sizes are
// compiled one by one from the same body: with n a constant the loops unroll.
#include <math.h>
#include <stddef.h>

#include "linalg/lu_small.h"

#define LARGEST_UNROLLED 8  // beyond, unrolling is no faster

PAWL_LU_INLINE double* column(double* A, int n, int j) {
  return A + (size_t)j * (size_t)n;
}

// The first index of the largest entry of a[k..n-1]; k itself when a[k] is not a number.
static int pivot_row(int n, int k, const double* a) {
  int p = k;
  double top = fabs(a[k]);
  PAWL_LU_UNROLL
  for (int i = k + 1; i < n; i++) {
    double v = fabs(a[i]);
    p = v > top ? i : p;
    top = v > top ? v : top;
  }
  return p;
}

static void swap_rows(int n, double* A, int* pivot, int k, int p) {
  int row = pivot[k];
  pivot[k] = pivot[p];
  pivot[p] = row;
  for (int j = 0; j < n; j++) {
    double* c = column(A, n, j);
    double t = c[k];
    c[k] = c[p];
    c[p] = t;
  }
}

static int factor(int n, double* A, int* pivot, double smallest) {
  for (int k = 0; k < n; k++) {
    pivot[k] = k;
  }
  PAWL_LU_UNROLL
  for (int k = 0; k < n; k++) {
    double* a = column(A, n, k);
    int p = pivot_row(n, k, a);
    if (!(fabs(a[p]) > smallest)) {
      return k + 1;
    }
    if (p != k) {
      swap_rows(n, A, pivot, k, p);
    }
    double d = 1.0 / a[k];
    a[k] = d;
    PAWL_LU_UNROLL
    for (int i = k + 1; i < n; i++) {
      a[i] *= d;
    }
    PAWL_LU_UNROLL
    for (int j = k + 1; j < n; j++) {
      double* c = column(A, n, j);
      double u = c[k];
      if (n > LARGEST_UNROLLED && u == 0.0) {  // exact: a structural zero
        continue;
      }
      PAWL_LU_UNROLL
      for (int i = k + 1; i < n; i++) {
        c[i] -= u * a[i];
      }
    }
  }
  return 0;
}

// Column k scaled by its pivot; the largest entry of L so far.
PAWL_LU_INLINE double scale_column(int n, int k, double* a, double top) {
  double d = 1.0 / a[k];
  a[k] = d;
  PAWL_LU_UNROLL
  for (int i = k + 1; i < n; i++) {
    a[i] *= d;
    top = fabs(a[i]) > top ? fabs(a[i]) : top;
  }
  return top;
}

PAWL_LU_INLINE bool factor_plain(int n, double* A, double smallest) {
  double top = 0.0, least = INFINITY;
  PAWL_LU_UNROLL
  for (int k = 0; k < n; k++) {
    double* a = column(A, n, k);
    least = fabs(a[k]) < least ? fabs(a[k]) : least;
    top = scale_column(n, k, a, top);
    PAWL_LU_UNROLL
    for (int j = k + 1; j < n; j++) {
      double *c = column(A, n, j), u = c[k];
      if (n > LARGEST_UNROLLED && u == 0.0) {  // exact: a structural zero
        continue;
      }
      PAWL_LU_UNROLL
      for (int i = k + 1; i < n; i++) {
        c[i] -= u * a[i];
      }
    }
  }
  return top <= PAWL_LU_MOST_GROWTH && least > smallest;
}

#define SIZES(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8)

int pawl_lu_factor(int n, double* A, int* pivot, double smallest) {
  return factor(n, A, pivot, smallest);
}

bool pawl_lu_factor_plain(int n, double* A, double smallest) {
  switch (n) {
#define FACTOR(size) \
  case size:         \
    return factor_plain(size, A, smallest);
    SIZES(FACTOR)
#undef FACTOR
    default:
      return factor_plain(n, A, smallest);
  }
}

int pawl_lu_sign(int n, const double* LU, const int* pivot) {
  int sign = 1;
  for (int k = 0; k < n; k++) {
    sign = LU[(size_t)k * (size_t)(n + 1)] < 0.0 ? -sign : sign;
    for (int i = k + 1; i < n; i++) {
      sign = pivot[i] < pivot[k] ? -sign : sign;
    }
  }
  return sign;
}

void pawl_lu_solve(int n, const double* LU, const int* pivot, const double* b, double* x) {
  for (int k = 0; k < n; k++) {
    x[k] = b[pivot[k]];
  }
  pawl_lu_substitute(n, LU, x);
}
