// SPDX-License-Identifier: Apache-2.0
// A pivot order for a sparse matrix (docs/theory/kkt.md, section 6, (K16)). The columns are
// taken in a given order; in each of them the row is chosen by the numbers.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "linalg/kkt_symbolic.h"

// Rows are named by their places in the order of the columns.
typedef struct PawlKktPivots {
  int size;
  const int *start, *index, *Q;  // the pattern of the matrix, the order of its columns
  int* place;                    // (size) of a row of the matrix
  int* row;                      // (size) the k-th pivot; of later ones, the row that is meant
  int* turn;           // (size) which pivot a row is; ~k: none yet, and meant for the k-th
  int* seen;           // (size) the last column in which a row was met
  int* begin;          // (size + 1) of columns of L, without the diagonal
  int* search_end;     // (size) where a search through a column of L may end
  int *path, *left;    // (size) the columns of a search, and what is left to see in them
  int *upper, *lower;  // (size) the rows of a column that are pivots, and that are not
} PawlKktPivots;

// All is borrowed, the memory comes from the arena.
PAWL_CHECKED PawlStatus pawl_kkt_pivots_create(PawlKktPivots* s, PawlArena* arena, int size,
                                               const int* start, const int* index, const int* Q);

typedef struct PawlKktPivotsRoom {  // for L, lost with every search; grows where it must
  PawlFactorPattern* pattern;       // its L_index
  double** L;
  int* L_room;
  double* x;                         // (size) zero before and after
  struct PawlKktPivotsUpper* upper;  // NULL: U is not kept
} PawlKktPivotsRoom;

// U as it comes: of column k the rows U_index[begin[k] ..], which are pivots before it.
typedef struct PawlKktPivotsUpper {
  int* begin;     // (size + 1)
  double* pivot;  // (size) its diagonal
  int* U_index;
  double* U;
  int index_room, U_room;
} PawlKktPivotsUpper;

// P[k] <- the row of the k-th pivot. That meant for it, at first the one with the number of its
// column, is kept down to `preference` of the largest entry. PAWL_RETRY: a column has none but 0.
// PAWL_ERROR_MEMORY.
PAWL_CHECKED PawlStatus pawl_kkt_pivots_choose(PawlKktPivots* s, const double* values,
                                               double preference, const PawlKktPivotsRoom* room,
                                               int* P);
