// SPDX-License-Identifier: Apache-2.0
#include "switch/yields.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "switch/tolerances.h"

PawlStatus pawl_yields_create(const PawlDynamics* d, const PawlByRows* rows, PawlYields* out,
                              PawlError* err) {
  PawlArena* arena = d->arena;
  int m = d->sizes.rows;
  *out = (PawlYields){.dynamics = d,
                      .rows = rows,
                      .known = PAWL_NEW(arena, unsigned char, m),
                      .row = PAWL_NEW(arena, int, m),
                      .at = PAWL_NEW(arena, int, m),
                      .seen = PAWL_NEW(arena, int, m),
                      .list = PAWL_NEW(arena, int, m),
                      .start = PAWL_NEW(arena, int, m + 1),
                      .column = PAWL_NEW(arena, double, m),
                      .diagonal = PAWL_NEW(arena, double, m)};
  return arena->failed ? pawl_fail_memory(err) : PAWL_OK;
}

void pawl_yields_free(PawlYields* y) {
  pawl_sparse_lu_destroy(y->lu);
  pawl_free(y->index);
  pawl_free(y->values);
  *y = (PawlYields){0};
}

// ---- its pattern --------------------------------------------------------------------------------
static bool is_known(const PawlYields* y, const unsigned char* active) {
  bool same = y->lu;
  for (int i = 0; same && i < y->dynamics->sizes.rows; i++) {
    same = y->known[i] == (!active || active[i]);
  }
  return same;
}

static void list(PawlYields* y, const unsigned char* active) {
  y->count = 0;
  for (int i = 0; i < y->dynamics->sizes.rows; i++) {
    y->known[i] = !active || active[i];
    y->at[i] = y->known[i] ? y->count : -1;
    if (y->known[i]) {
      y->row[y->count++] = i;
    }
  }
}

// The rows that act on what row `j` of the matrix acts on, into `index`, NULL: they are counted.
static int find_neighbours(PawlYields* y, int j, int* index) {
  const PawlPattern* G = &y->dynamics->G;
  int row = y->row[j], count = 0;
  for (int p = y->rows->start[row]; p < y->rows->start[row + 1]; p++) {
    int c = y->rows->column[p];
    for (int e = G->start[c]; e < G->start[c + 1]; e++) {
      int i = y->at[G->index[e]];
      if (i >= 0 && y->seen[i] != j) {
        y->seen[i] = j;
        if (index) {
          index[count] = i;
        }
        count++;
      }
    }
  }
  if (count == 0 && index) {  // it acts on nothing
    index[0] = j;
  }
  return count > 0 ? count : 1;
}

// Neighbours are mutual: columns in turn are the next entry of each of theirs.
static void write_pattern(PawlYields* y) {
  int* next = y->start;  // one ahead
  for (int j = y->count; j > 0; j--) {
    next[j] = next[j - 1];
  }
  memset(y->seen, -1, (size_t)y->count * sizeof(int));
  for (int j = 0; j < y->count; j++) {
    int count = find_neighbours(y, j, y->list);
    for (int n = 0; n < count; n++) {
      y->index[next[y->list[n] + 1]++] = j;
    }
  }
}

static PawlStatus analyse(PawlYields* y, const unsigned char* active) {
  PawlError err;
  pawl_sparse_lu_destroy(y->lu);
  y->lu = NULL;
  list(y, active);
  memset(y->seen, -1, (size_t)y->count * sizeof(int));
  y->start[0] = 0;
  for (int j = 0; j < y->count; j++) {
    int count = find_neighbours(y, j, NULL);
    if (count > INT_MAX - y->start[j]) {
      return PAWL_ERROR_MEMORY;
    }
    y->start[j + 1] = y->start[j] + count;
  }
  int entries = y->start[y->count];
  if (PAWL_GROW(y->index, y->index_room, entries) != 0 ||
      PAWL_GROW(y->values, y->values_room, entries) != 0) {
    return PAWL_ERROR_MEMORY;
  }
  write_pattern(y);
  PawlPattern pattern = {y->count, y->count, y->start, y->index};
  return pawl_sparse_lu_create(&pattern, &y->lu, &err);
}

// ---- its numbers --------------------------------------------------------------------------------
// Whether each velocity that the rows act on has a mass of its own.
static bool has_masses(const PawlYields* y, const double* M) {
  const PawlDynamics* d = y->dynamics;
  bool good = true;
  for (int k = 0; k < y->count && good; k++) {
    for (int p = y->rows->start[y->row[k]]; p < y->rows->start[y->row[k] + 1]; p++) {
      int c = y->rows->column[p];
      for (int e = d->H.start[c]; e < d->H.start[c + 1]; e++) {
        good &= d->H.index[e] == c || M[e] == 0.0;
      }
      good &= d->diagonal[c] >= 0 && M[d->diagonal[c]] > 0.0;
    }
  }
  return good;
}

// Column j is what a force of its row makes of the rates of all.
static void fill(PawlYields* y, const PawlValues* values, const double* B) {
  const PawlDynamics* d = y->dynamics;
  memset(y->column, 0, (size_t)y->count * sizeof(double));
  for (int j = 0; j < y->count; j++) {
    int row = y->row[j];
    for (int p = y->rows->start[row]; p < y->rows->start[row + 1]; p++) {
      int c = y->rows->column[p];
      double x = B[y->rows->at[p]] / values->M[d->diagonal[c]];
      for (int e = d->G.start[c]; e < d->G.start[c + 1]; e++) {
        int i = y->at[d->G.index[e]];
        if (i >= 0) {
          y->column[i] += values->G[e] * x;
        }
      }
    }
    for (int e = y->start[j]; e < y->start[j + 1]; e++) {
      y->values[e] = y->column[y->index[e]];
      y->column[y->index[e]] = 0.0;
    }
  }
}

PawlStatus pawl_yields_find(PawlYields* y, const PawlValues* values, const double* B,
                            const unsigned char* active, double* out) {
  PAWL_TRY(is_known(y, active) ? PAWL_OK : analyse(y, active));
  if (!has_masses(y, values->M)) {
    return PAWL_RETRY;
  }
  fill(y, values, B);
  PAWL_TRY(pawl_sparse_lu_factor(y->lu, y->values, PAWL_FRICTION_EXCHANGE, 0.0));
  PAWL_TRY(pawl_sparse_lu_inverse_diagonal(y->lu, y->diagonal));
  memset(out, 0, (size_t)y->dynamics->sizes.rows * sizeof(double));
  for (int k = 0; k < y->count; k++) {
    out[y->row[k]] = 1.0 / y->diagonal[k];
  }
  return PAWL_OK;
}
