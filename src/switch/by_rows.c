// SPDX-License-Identifier: Apache-2.0
#include "switch/by_rows.h"

#include <string.h>

PawlStatus pawl_by_rows_create(PawlArena* arena, const PawlPattern* A, PawlByRows* r,
                               PawlError* err) {
  int nonzeros = A->start[A->cols];
  *r = (PawlByRows){.start = PAWL_NEW(arena, int, (size_t)A->rows + 1),
                    .column = PAWL_NEW(arena, int, nonzeros),
                    .at = PAWL_NEW(arena, int, nonzeros)};
  if (arena->failed) {
    return pawl_fail_memory(err);
  }
  for (int e = 0; e < nonzeros; e++) {
    r->start[A->index[e] + 1]++;
  }
  for (int i = 0; i < A->rows; i++) {
    r->start[i + 1] += r->start[i];
  }
  for (int j = 0; j < A->cols; j++) {  // start[i] moves on to the end of row i, and back after
    for (int e = A->start[j]; e < A->start[j + 1]; e++) {
      int p = r->start[A->index[e]]++;
      r->column[p] = j;
      r->at[p] = e;
    }
  }
  memmove(r->start + 1, r->start, (size_t)A->rows * sizeof(int));
  r->start[0] = 0;
  return PAWL_OK;
}

int pawl_by_rows_find(const PawlByRows* r, int row, int column) {
  int low = r->start[row], high = r->start[row + 1];
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (r->column[middle] == column) {
      return r->at[middle];
    }
    low = r->column[middle] < column ? middle + 1 : low;
    high = r->column[middle] > column ? middle : high;
  }
  return -1;
}
