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
