// SPDX-License-Identifier: Apache-2.0
#include "linalg/sparse.h"

#include <math.h>
#include <string.h>

void pawl_sparse_add(const PawlPattern* A, const double* values, double scale, const double* x,
                     double* y) {
  const int *start = A->start, *index = A->index;
  for (int j = 0, k = 0; j < A->cols && A->rows > 0; j++) {
    if (start[j + 1] == k) {
      j = pawl_sparse_next(A, j) - 1;
      continue;
    }
    double scaled = scale * x[j];
    if (scaled == 0.0) {  // exactly: corrections of few coordinates are zero elsewhere
      k = start[j + 1];
      continue;
    }
    for (int end = start[j + 1]; k < end; k++) {
      y[index[k]] += values[k] * scaled;
    }
  }
}

void pawl_sparse_add_transposed(const PawlPattern* A, const double* values, double scale,
                                const double* x, double* y) {
  for (int j = pawl_sparse_next(A, 0); j < A->cols; j = pawl_sparse_next(A, j + 1)) {
    double sum = 0.0;
    for (int k = A->start[j]; k < A->start[j + 1]; k++) {
      sum += values[k] * x[A->index[k]];
    }
    y[j] += scale * sum;
  }
}

void pawl_sparse_sizes(const PawlPattern* A, const double* values, const double* x, double least,
                       double* sizes) {
  const int *start = A->start, *index = A->index;
  int cols = A->cols;
  memset(sizes, 0, (size_t)A->rows * sizeof(double));
  for (int j = pawl_sparse_next(A, 0); j < cols; j = pawl_sparse_next(A, j + 1)) {
    double size = x ? fabs(x[j]) : 1.0;
    size = x && !(size > least) ? least : size;  // fmax, without a call
    for (int k = start[j], end = start[j + 1]; k < end; k++) {
      sizes[index[k]] += fabs(values[k]) * size;
    }
  }
}
