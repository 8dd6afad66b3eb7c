// SPDX-License-Identifier: Apache-2.0
// The entries of a sparse matrix, listed by its rows: for what looks at few rows of many.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "pawl/pattern.h"

typedef struct PawlByRows {
  int* start;        // rows + 1: those of row i are start[i] .. start[i + 1] - 1
  int *column, *at;  // of each, columns ascending; its place among the values of the pattern
} PawlByRows;

PAWL_CHECKED PawlStatus pawl_by_rows_create(PawlArena* arena, const PawlPattern* A, PawlByRows* out,
                                            PawlError* err);
// The place of an entry among the values of the pattern, -1: there is none.
int pawl_by_rows_find(const PawlByRows* rows, int row, int column);
