// SPDX-License-Identifier: Apache-2.0
// The patterns of L and U for a given pivot order (docs/theory/kkt.md, section 6). They follow from
// the pattern of the matrix and the order alone, no number is needed.
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

typedef struct PawlFactorPattern {
  int *L_start, *U_start;  // (size + 1)
  int *L_index, *U_index;  // ascending; L: the unit diagonal first in its column; U: diagonal last
  int L_room, U_room;      // entries that fit
  int* search_end;         // (size) where a search through a column of L may end
  uint64_t *bits, *words;  // a set of rows, and which of its words are not empty
} PawlFactorPattern;

// `size` is the largest one. The indices are taken with pawl_realloc as they are needed.
PAWL_CHECKED PawlStatus pawl_factor_pattern_create(PawlFactorPattern* pattern, PawlArena* arena,
                                                   int size);
void pawl_factor_pattern_free(PawlFactorPattern* pattern);  // the indices

// Takes room for the entries of `like`.
PAWL_CHECKED PawlStatus pawl_factor_pattern_reserve(PawlFactorPattern* pattern,
                                                    const PawlFactorPattern* like);

// The k-th column in pivot order is column Q[k] of the matrix; its entries stand in the rows
// row[start[Q[k]] .. start[Q[k] + 1] - 1] of the pivot order; rows from `size` on do not count.
// Every diagonal entry counts as present. PAWL_ERROR_MEMORY is the only failure.
PAWL_CHECKED PawlStatus pawl_factor_pattern_find(PawlFactorPattern* pattern, int size, const int* Q,
                                                 const int* start, const int* row);

// The same of L alone, for a symmetric pattern in pivot order, by columns with duplicates. `seen`
// (size) is scratch; U is lost.
PAWL_CHECKED PawlStatus pawl_factor_pattern_find_even(PawlFactorPattern* pattern, int size,
                                                      const int* start, const int* row, int* seen);
