// SPDX-License-Identifier: Apache-2.0
// How much each row in force yields to its force while all others hold, of many at once
// (docs/theory/friction.md, (F47)): where masses are diagonal, G M^-1 B^T has entries between rows
// that act on one velocity alone, and the diagonal of its inverse costs little more than factors.
#pragma once

#include "linalg/sparse_lu.h"
#include "switch/dynamics.h"
#include "switch/slip.h"

typedef struct PawlYields {
  const PawlDynamics* dynamics;
  const PawlByRows* rows;
  PawlSparseLu* lu;      // NULL: no rows are known
  unsigned char* known;  // rows: those of `lu`
  int count, *row, *at;  // rows of the matrix; which they are, and where a row is (-1: nowhere)
  int *seen, *list, *start, *index, index_room;
  double *values, *column, *diagonal;  // entries; rows: room; those of the inverse
  int values_room;
} PawlYields;

PAWL_CHECKED PawlStatus pawl_yields_create(const PawlDynamics* d, const PawlByRows* rows,
                                           PawlYields* out, PawlError* err);
void pawl_yields_free(PawlYields* yields);
// yields[i] <- 1/(G M^-1 B^T)^-1_ii of the rows that are `active` (NULL: all), 0 of others. Takes
// memory where rows are not those of the last call. PAWL_RETRY: masses of what they act on are
// coupled or zero, or the matrix is singular.
PAWL_CHECKED PawlStatus pawl_yields_find(PawlYields* yields, const PawlValues* values,
                                         const double* B, const unsigned char* active, double* out);
