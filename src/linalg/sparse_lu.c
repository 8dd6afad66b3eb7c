// SPDX-License-Identifier: Apache-2.0
#include "linalg/sparse_lu.h"

#include <amd.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/kkt_pivots.h"

struct PawlSparseLu {
  PawlArena arena;
  int size, *start, *index, *Q;
  PawlKktPivots pivots;
  PawlFactorPattern pattern;  // its L_index
  PawlKktPivotsUpper upper;
  double *L, *x;
  int L_room, *P;
  double least;
  bool all_positive;
  // Of the inverse (K17): U by rows, with the places of entries in U and their columns; entries of
  // the inverse, on its diagonal and at those of L and U that they mirror. `below` is a column of L
  // and `beside` a row of U over its pivot, `right` and `down` those of the inverse.
  int *row_begin, *at, *column;
  double *diagonal, *upper_Z, *lower_Z;
  double *below, *beside, *right, *down;
  int at_room, column_room, upper_room, lower_room;
};

static bool copy_pattern(PawlSparseLu* lu, const PawlPattern* A) {
  size_t size = (size_t)A->cols, entries = (size_t)A->start[A->cols];
  lu->size = A->cols;
  lu->start = PAWL_NEW(&lu->arena, int, size + 1);
  lu->index = PAWL_NEW(&lu->arena, int, entries);
  lu->Q = PAWL_NEW(&lu->arena, int, size);
  lu->P = PAWL_NEW(&lu->arena, int, size);
  lu->x = PAWL_NEW(&lu->arena, double, size);
  lu->upper.begin = PAWL_NEW(&lu->arena, int, size + 1);
  lu->upper.pivot = PAWL_NEW(&lu->arena, double, size);
  lu->row_begin = PAWL_NEW(&lu->arena, int, size + 1);
  double** of_size[] = {&lu->diagonal, &lu->below, &lu->beside, &lu->right, &lu->down};
  for (size_t k = 0; k < sizeof of_size / sizeof *of_size; k++) {
    *of_size[k] = PAWL_NEW(&lu->arena, double, size);
  }
  if (lu->arena.failed) {
    return false;
  }
  memcpy(lu->start, A->start, (size + 1) * sizeof(int));
  memcpy(lu->index, A->index, entries * sizeof(int));
  return true;
}

static PawlStatus build(PawlSparseLu* lu, const PawlPattern* A) {
  if (!copy_pattern(lu, A) ||
      (A->cols > 0 && amd_order(A->cols, A->start, A->index, lu->Q, NULL, NULL) < AMD_OK)) {
    return PAWL_ERROR_MEMORY;
  }
  PAWL_TRY(pawl_factor_pattern_create(&lu->pattern, &lu->arena, lu->size));
  return pawl_kkt_pivots_create(&lu->pivots, &lu->arena, lu->size, lu->start, lu->index, lu->Q);
}

PawlStatus pawl_sparse_lu_create(const PawlPattern* A, PawlSparseLu** out, PawlError* err) {
  PawlSparseLu* lu = pawl_alloc(1, sizeof *lu);
  *out = lu;
  if (!lu || build(lu, A) != PAWL_OK) {
    pawl_sparse_lu_destroy(lu);
    *out = NULL;
    return pawl_fail_memory(err);
  }
  return PAWL_OK;
}

void pawl_sparse_lu_destroy(PawlSparseLu* lu) {
  if (lu) {
    pawl_factor_pattern_free(&lu->pattern);
    pawl_free(lu->L);
    pawl_free(lu->upper.U);
    pawl_free(lu->upper.U_index);
    pawl_free(lu->at);
    pawl_free(lu->column);
    pawl_free(lu->upper_Z);
    pawl_free(lu->lower_Z);
    pawl_arena_free(&lu->arena);
    pawl_free(lu);
  }
}

PawlStatus pawl_sparse_lu_factor(PawlSparseLu* lu, const double* values, double preference,
                                 double smallest) {
  PawlKktPivotsRoom room = {&lu->pattern, &lu->L, &lu->L_room, lu->x, &lu->upper};
  memset(lu->x, 0, (size_t)lu->size * sizeof(double));  // a search that failed has left numbers
  PAWL_TRY(pawl_kkt_pivots_choose(&lu->pivots, values, preference, &room, lu->P));
  lu->least = INFINITY;
  lu->all_positive = true;
  for (int k = 0; k < lu->size; k++) {
    double pivot = lu->upper.pivot[k];
    lu->least = fmin(lu->least, fabs(pivot));
    lu->all_positive = lu->all_positive && pivot > 0.0;
    if (!(fabs(pivot) > smallest)) {  // or not a number
      return PAWL_RETRY;
    }
  }
  return PAWL_OK;
}

double pawl_sparse_lu_least(const PawlSparseLu* lu) {
  return lu->least;
}

bool pawl_sparse_lu_all_positive(const PawlSparseLu* lu) {
  return lu->all_positive;
}

// Rows are named by their places in the order of the columns, and pivot k stands in row[k].
void pawl_sparse_lu_solve(PawlSparseLu* lu, const double* b, double* x) {
  const PawlKktPivots* s = &lu->pivots;
  const PawlKktPivotsUpper* u = &lu->upper;
  double* w = lu->x;
  for (int k = 0; k < lu->size; k++) {
    w[k] = b[s->Q[k]];
  }
  for (int k = 0; k < lu->size; k++) {
    double v = w[s->row[k]];
    for (int q = s->begin[k]; q < s->begin[k + 1]; q++) {
      w[lu->pattern.L_index[q]] -= v * lu->L[q];
    }
  }
  for (int k = lu->size - 1; k >= 0; k--) {
    double v = w[s->row[k]] / u->pivot[k];
    x[s->Q[k]] = v;
    for (int q = u->begin[k]; q < u->begin[k + 1]; q++) {
      w[u->U_index[q]] -= v * u->U[q];
    }
  }
}

int pawl_sparse_lu_entries(const PawlSparseLu* lu) {
  return lu->pivots.begin[lu->size] + lu->upper.begin[lu->size] + lu->size;
}

// ---- the diagonal of the inverse ----------------------------------------------------------------
static PawlStatus make_room(PawlSparseLu* lu) {
  int lower = lu->pivots.begin[lu->size], upper = lu->upper.begin[lu->size];
  bool ok = PAWL_GROW(lu->upper_Z, lu->upper_room, lower) == 0 &&
            PAWL_GROW(lu->lower_Z, lu->lower_room, upper) == 0 &&
            PAWL_GROW(lu->at, lu->at_room, upper) == 0 &&
            PAWL_GROW(lu->column, lu->column_room, upper) == 0;
  return ok ? PAWL_OK : PAWL_ERROR_MEMORY;
}

// Entries of U by the pivots that their rows are, columns ascending.
static void list_rows(PawlSparseLu* lu) {
  const PawlKktPivotsUpper* u = &lu->upper;
  int n = lu->size, *begin = lu->row_begin;
  memset(begin, 0, ((size_t)n + 1) * sizeof(int));
  for (int q = 0; q < u->begin[n]; q++) {
    begin[lu->pivots.turn[u->U_index[q]] + 1]++;
  }
  for (int j = 0; j < n; j++) {
    begin[j + 1] += begin[j];
  }
  for (int k = 0; k < n; k++) {
    for (int q = u->begin[k]; q < u->begin[k + 1]; q++) {
      int to = begin[lu->pivots.turn[u->U_index[q]]]++;
      lu->at[to] = q;
      lu->column[to] = k;
    }
  }
  for (int j = n; j > 0; j--) {
    begin[j] = begin[j - 1];
  }
  begin[0] = 0;
}

// Column j of L and row j of U over its pivot, and zeros again.
static void spread_out(PawlSparseLu* lu, int j, double part) {
  const PawlKktPivots* s = &lu->pivots;
  for (int q = s->begin[j]; q < s->begin[j + 1]; q++) {
    lu->below[s->turn[lu->pattern.L_index[q]]] = part * lu->L[q];
  }
  for (int p = lu->row_begin[j]; p < lu->row_begin[j + 1]; p++) {
    lu->beside[lu->column[p]] = part * lu->upper.U[lu->at[p]] / lu->upper.pivot[j];
  }
}

// Sums over the entries Z_ki, k of row j of U and i of column j of L, that stand above the diagonal
// or on it: U_jk Z_ki to `right`, also where no entry of L is, and Z_ki L_ij to `down`.
static void add_upper(PawlSparseLu* lu, int j) {
  const PawlKktPivots* s = &lu->pivots;
  for (int p = lu->row_begin[j]; p < lu->row_begin[j + 1]; p++) {
    int k = lu->column[p];
    double u = lu->beside[k], sum = lu->diagonal[k] * lu->below[k];
    lu->right[k] += u * lu->diagonal[k];
    for (int q = s->begin[k]; q < s->begin[k + 1]; q++) {
      int i = s->turn[lu->pattern.L_index[q]];
      lu->right[i] += u * lu->upper_Z[q];
      sum += lu->upper_Z[q] * lu->below[i];
    }
    lu->down[k] += sum;
  }
}

// And those below it.
static void add_lower(PawlSparseLu* lu, int j) {
  const PawlKktPivots* s = &lu->pivots;
  for (int q = s->begin[j]; q < s->begin[j + 1]; q++) {
    int i = s->turn[lu->pattern.L_index[q]];
    double l = lu->below[i], sum = 0.0;
    for (int p = lu->row_begin[i]; p < lu->row_begin[i + 1]; p++) {
      int k = lu->column[p];
      lu->down[k] += lu->lower_Z[p] * l;
      sum += lu->beside[k] * lu->lower_Z[p];
    }
    lu->right[i] += sum;
  }
}

// What the sums have left where no entry is asked for.
static void clear_sums(PawlSparseLu* lu, int j) {
  const PawlKktPivots* s = &lu->pivots;
  for (int p = lu->row_begin[j]; p < lu->row_begin[j + 1]; p++) {
    int k = lu->column[p];
    lu->right[k] = lu->down[k] = 0.0;
    for (int q = s->begin[k]; q < s->begin[k + 1]; q++) {
      lu->right[s->turn[lu->pattern.L_index[q]]] = 0.0;
    }
  }
  for (int q = s->begin[j]; q < s->begin[j + 1]; q++) {
    int i = s->turn[lu->pattern.L_index[q]];
    lu->right[i] = 0.0;
    for (int p = lu->row_begin[i]; p < lu->row_begin[i + 1]; p++) {
      lu->down[lu->column[p]] = 0.0;
    }
  }
}

// Row and column j of the inverse, at the entries of L and U, from those behind them.      (K17)
static void go_back(PawlSparseLu* lu, int j) {
  const PawlKktPivots* s = &lu->pivots;
  double own = 1.0 / lu->upper.pivot[j];
  spread_out(lu, j, 1.0);
  add_upper(lu, j);
  add_lower(lu, j);
  for (int q = s->begin[j]; q < s->begin[j + 1]; q++) {
    lu->upper_Z[q] = -lu->right[s->turn[lu->pattern.L_index[q]]];
  }
  for (int p = lu->row_begin[j]; p < lu->row_begin[j + 1]; p++) {
    int k = lu->column[p];
    lu->lower_Z[p] = -lu->down[k];
    own -= lu->beside[k] * lu->lower_Z[p];
  }
  lu->diagonal[j] = own;
  clear_sums(lu, j);
  spread_out(lu, j, 0.0);
}

// Entry (k, i) of the inverse, the pivot of row i being in column k of what was factored.
static double entry(const PawlSparseLu* lu, int k, int i) {
  const PawlKktPivots* s = &lu->pivots;
  double value = k == i ? lu->diagonal[k] : 0.0;
  for (int q = s->begin[k]; i > k && q < s->begin[k + 1]; q++) {
    value = s->turn[lu->pattern.L_index[q]] == i ? lu->upper_Z[q] : value;
  }
  for (int p = lu->row_begin[i]; i < k && p < lu->row_begin[i + 1]; p++) {
    value = lu->column[p] == k ? lu->lower_Z[p] : value;
  }
  return value;
}

PawlStatus pawl_sparse_lu_inverse_diagonal(PawlSparseLu* lu, double* diagonal) {
  size_t bytes = (size_t)lu->size * sizeof(double);
  PAWL_TRY(make_room(lu));
  list_rows(lu);
  memset(lu->below, 0, bytes);
  memset(lu->beside, 0, bytes);
  memset(lu->right, 0, bytes);
  memset(lu->down, 0, bytes);
  for (int j = lu->size - 1; j >= 0; j--) {
    go_back(lu, j);
  }
  for (int k = 0; k < lu->size; k++) {
    diagonal[lu->pivots.Q[k]] = entry(lu, k, lu->pivots.turn[k]);
  }
  return PAWL_OK;
}
