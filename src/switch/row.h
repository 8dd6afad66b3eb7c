// SPDX-License-Identifier: Apache-2.0
// The kinds of rows, made from the table row.def: each states the bounds of its force and whether
// it takes part in a jump. The solver of rows (rows.h) knows bounds only.
#pragma once

#include <stdbool.h>

typedef enum PawlRowOf {
#define PAWL_ROW_OF(KIND, lo, hi, jumps) PAWL_ROW_OF_##KIND,
#include "switch/row.def"
#undef PAWL_ROW_OF
  PAWL_ROW_OF_COUNT
} PawlRowOf;
_Static_assert(PAWL_ROW_OF_LET_GO == 0, "rows in force are those that are not zero");

// The bounds of a row; `C` is its capacity, INFINITY where it has none or it is not to count.
void pawl_row_bounds(PawlRowOf kind, double C, double* lo, double* hi);
// Whether it carries an impulse in a jump.
bool pawl_row_jumps(PawlRowOf kind);
