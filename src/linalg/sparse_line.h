// SPDX-License-Identifier: Apache-2.0
// Products with a small sparse matrix whose pattern stays, as machine code without a loop: the
// operations of sparse.c in their order, so the bits are the same, but for the sign of a zero where
// columns are several. Where there is no code the loops do the work.
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/sized.h"
#include "linalg/sparse.h"

typedef void PawlSparseCode(const double* values, const double* x, double* y, double scale);

typedef struct PawlSparseLine {
  PawlPattern A;
  PawlSparseCode *add, *add_transposed;  // NULL: by loops
  PawlSparseCode *by_rows, *sizes;       // A x and |A| x of several columns; NULL: by columns
  void* code;
  size_t bytes;
} PawlSparseLine;

// The arrays of A are borrowed.
void pawl_sparse_line_create(const PawlPattern* A, PawlSparseLine* line);
void pawl_sparse_line_destroy(PawlSparseLine* line);

// y += scale * A x
static inline void pawl_sparse_line_add(const PawlSparseLine* line, const double* values,
                                        double scale, const double* x, double* y) {
  if (line->by_rows && scale == 1.0) {
    line->by_rows(values, x, y, scale);
  } else if (line->add) {
    line->add(values, x, y, scale);
  } else {
    pawl_sparse_add(&line->A, values, scale, x, y);
  }
}

// y += |A| x, x not below 0; `room` is for |A|. False: there is no code.
static inline bool pawl_sparse_line_add_sizes(const PawlSparseLine* line, const double* values,
                                              const double* x, double* room, double* y) {
  if (!line->add) {
    return false;
  }
  if (line->sizes) {
    line->sizes(values, x, y, 1.0);
    return true;
  }
  for (int k = 0; k < line->A.start[line->A.cols]; k++) {
    room[k] = fabs(pawl_sized_alone(values[k]));
  }
  line->add(room, x, y, 1.0);
  return true;
}

// y += scale * A^T x
static inline void pawl_sparse_line_add_transposed(const PawlSparseLine* line, const double* values,
                                                   double scale, const double* x, double* y) {
  if (line->add_transposed) {
    line->add_transposed(values, x, y, scale);
  } else {
    pawl_sparse_add_transposed(&line->A, values, scale, x, y);
  }
}
