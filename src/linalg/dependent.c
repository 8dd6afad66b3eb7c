// SPDX-License-Identifier: Apache-2.0
// Dependent rows by Gram-Schmidt, one row after the other, each orthogonalised twice against the
// rows kept so far ("twice is enough", Kahan and Parlett): the kept directions stay orthogonal to
// rounding however close the rows are.
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/dense.h"

static double norm(int n, const double* v) {
  double top = 0.0, sum = 0.0;
  for (int i = 0; i < n; i++) {
    top = fmax(top, fabs(v[i]));
  }
  if (top == 0.0) {
    return 0.0;
  }
  for (int i = 0; i < n; i++) {  // scaled, so that squares neither overflow nor vanish
    sum += (v[i] / top) * (v[i] / top);
  }
  return top * sqrt(sum);
}

// v <- v - Q Q^T v, Q n-by-rank with orthonormal columns
static void project_out(int n, int rank, const double* Q, double* v) {
  for (int j = 0; j < rank; j++) {
    const double* q = Q + (size_t)j * (size_t)n;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
      sum += q[i] * v[i];
    }
    for (int i = 0; i < n; i++) {
      v[i] -= sum * q[i];
    }
  }
}

static void scale(int n, double factor, double* v) {
  for (int i = 0; i < n; i++) {
    v[i] *= factor;
  }
}

// True when v, of unit length, has a part outside the columns of Q; then v becomes the next column.
static bool extend(int n, int rank, const double* Q, double limit, double* v) {
  if (rank == n) {
    return false;
  }
  for (int pass = 0; pass < 2; pass++) {
    project_out(n, rank, Q, v);
    double left = norm(n, v);
    if (!(left > limit)) {
      return false;
    }
    scale(n, 1.0 / left, v);
    limit = 0.5;  // the second pass takes off rounding only, or v was nothing but rounding
  }
  return true;
}

PawlStatus pawl_dense_dependent_rows(int m, int n, const double* A, double tolerance,
                                     unsigned char* dependent, int* rank) {
  int larger = m > n ? m : n, room = m < n ? m : n;
  double relative = tolerance > 0.0 ? tolerance : 8.0 * larger * DBL_EPSILON;
  double* Q = pawl_alloc((size_t)(room + 1) * (size_t)n, sizeof *Q);
  if (!Q) {
    return PAWL_ERROR_MEMORY;
  }
  *rank = 0;
  for (int i = 0; i < m; i++) {
    double* v = Q + (size_t)*rank * (size_t)n;
    for (int j = 0; j < n; j++) {
      v[j] = A[(size_t)i + (size_t)j * (size_t)m];
    }
    double length = norm(n, v);
    bool independent = length > 0.0;
    if (independent) {
      scale(n, 1.0 / length, v);
      independent = extend(n, *rank, Q, relative, v);
    }
    dependent[i] = !independent;
    *rank += independent;
  }
  pawl_free(Q);
  return PAWL_OK;
}
