// SPDX-License-Identifier: Apache-2.0
// What a table is made of, for the files that make it and look into it.
#pragma once

#include "base/arena.h"
#include "expr/table.h"

typedef struct PawlAxis {
  int pieces;    // points - 1
  double* x;     // the points
  int cells;     // of the grid over the range
  double scale;  // cells by length
  int* before;   // of a cell: the last point in a cell before it
} PawlAxis;

struct PawlTable {
  PawlArena arena;
  const char* name;
  PawlTableMethod method;
  PawlTableOutside outside;
  int arguments;
  PawlAxis axis[2];
  double (*coefficients)[4];  // of a piece, in x - x_i; one argument
  double* cells;              // of a cell: 4 by 4, x outside; two arguments
  double ends[2];             // the first and the last value; one argument
  PawlTableView views[PAWL_TABLE_VIEWS];
};

PawlStatus pawl_axis_make(PawlArena* arena, PawlAxis* axis, int count, const double* x);
