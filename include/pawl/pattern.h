// SPDX-License-Identifier: Apache-2.0
// The place of the nonzeros of a sparse matrix.
#pragma once

// Compressed columns: the row indices of column j are index[start[j] .. start[j+1]-1], ascending.
typedef struct PawlPattern {
  int rows, cols;
  const int* start;  // cols + 1 entries
  const int* index;  // start[cols] entries
} PawlPattern;
