// SPDX-License-Identifier: Apache-2.0
// Products with sparse matrices, values in the order of their pattern.
#pragma once

#include "pawl/pattern.h"

// The first column from j on that has entries, or the number of columns. In a matrix with few of
// them, the gradient of one contact of a long bar, a row of empty columns is passed in steps that
// double.
static inline int pawl_sparse_next(const PawlPattern* A, int j) {
  const int* start = A->start;
  int step = 1;
  if (j >= A->cols || start[j + 1] != start[j]) {
    return j;
  }
  for (; j + step <= A->cols && start[j + step] == start[j]; step *= 2) {
    j += step;
  }
  for (; step > 0; step /= 2) {
    j += j + step <= A->cols && start[j + step] == start[j] ? step : 0;
  }
  return j;
}

// y += scale * A x  and  y += scale * A^T x.
void pawl_sparse_add(const PawlPattern* A, const double* values, double scale, const double* x,
                     double* y);
void pawl_sparse_add_transposed(const PawlPattern* A, const double* values, double scale,
                                const double* x, double* y);

// How large the terms of each row of A x are: sizes_i = sum_j |A_ij| max(|x_j|, least). NULL stands
// for x_j = 1.
void pawl_sparse_sizes(const PawlPattern* A, const double* values, const double* x, double least,
                       double* sizes);
