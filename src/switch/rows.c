// SPDX-License-Identifier: Apache-2.0
// Rows of a system: the dense form builds their compliance, the sparse one searches on the KKT
// factorisation (docs/theory/rows.md).
#include "switch/rows.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/kkt.h"
#include "linalg/sparse.h"
#include "switch/rows_impl.h"
#include "switch/rows_sparse.h"
#include "switch/tolerances.h"

enum { MOST_DENSE = 48 };  // rows: forming D costs a solution each, a set of rows a factorisation

struct PawlRows {
  PawlArena arena;
  int n, m;
  PawlPattern H, G;
  const double *values_H, *values_B, *values_G;
  PawlKkt* free_kkt;           // H alone; NULL: not dense
  PawlCompliance* compliance;  // dense
  double *D, *q, *size;        // m-by-m, m, m
  double *column, *none;       // n, 1
  PawlRowsSparse sparse;
  bool dense;  // the form in use
};

static bool copy_pattern(PawlArena* arena, const PawlPattern* from, PawlPattern* to) {
  int count = from->start[from->cols];
  int* start = PAWL_NEW(arena, int, from->cols + 1);
  int* index = PAWL_NEW(arena, int, count + 1);
  if (!start || !index) {
    return false;
  }
  memcpy(start, from->start, (size_t)(from->cols + 1) * sizeof *start);
  memcpy(index, from->index, (size_t)count * sizeof *index);
  *to = (PawlPattern){from->rows, from->cols, start, index};
  return true;
}

// ---- dense --------------------------------------------------------------------------------------

static PawlStatus create_dense(PawlRows* s, PawlError* err) {
  size_t m = (size_t)s->m;
  int* start = PAWL_NEW(&s->arena, int, s->n + 1);
  int* index = PAWL_NEW(&s->arena, int, 1);
  s->D = PAWL_NEW(&s->arena, double, m* m);
  s->q = PAWL_NEW(&s->arena, double, m);
  s->size = PAWL_NEW(&s->arena, double, m);
  s->column = PAWL_NEW(&s->arena, double, s->n);
  s->none = PAWL_NEW(&s->arena, double, 1);
  if (!start || !index || !s->D || !s->q || !s->size || !s->column || !s->none) {
    return pawl_fail_memory(err);
  }
  PawlPattern no_rows = {0, s->n, start, index};
  PAWL_TRY(pawl_kkt_create(&s->H, &no_rows, PAWL_KKT_AUTO, &s->free_kkt, err));
  return pawl_compliance_create(s->m, &s->compliance, err);
}

// D = G H^-1 B^T, column by column.                                                        (R2)
static PawlStatus form_compliance(PawlRows* s) {
  PAWL_TRY(pawl_kkt_factor(s->free_kkt, s->values_H, s->none, s->none, NULL));
  for (int k = 0; k < s->m; k++) {
    for (int j = 0; j < s->n; j++) {
      s->column[j] = 0.0;
      for (int e = s->G.start[j]; e < s->G.start[j + 1]; e++) {
        s->column[j] = s->G.index[e] == k ? s->values_B[e] : s->column[j];
      }
    }
    pawl_kkt_solve(s->free_kkt, s->column, s->none);
    double* D = s->D + (size_t)k * (size_t)s->m;
    memset(D, 0, (size_t)s->m * sizeof(double));
    pawl_sparse_add(&s->G, s->values_G, 1.0, s->column, D);
  }
  return pawl_compliance_set(s->compliance, s->m, s->D, NULL);
}

// The terms of w_i that forces make, those found and those allowed.
static double carried(const PawlRows* s, int i, const PawlRowBounds* bounds, const double* lambda) {
  double sum = 0.0;
  for (int j = 0; j < s->m; j++) {
    double lo = fabs(bounds->lo[j]), hi = fabs(bounds->hi[j]), force = fabs(lambda[j]);
    force = fmax(force, fmax(isfinite(lo) ? lo : 0.0, isfinite(hi) ? hi : 0.0));
    sum += fabs(s->D[i + j * s->m]) * force;
  }
  return sum;
}

// Whether G x + b is the w that was found. D is quadratic in H: where masses are very different and
// rows nearly dependent, it may have lost what decides.
static bool confirmed(PawlRows* s, const double* b, const double* x, const PawlRowBounds* bounds,
                      const PawlRowsResult* result) {
  double most = 0.0;  // of all rows, measured by their compliance
  bool same = true;
  memcpy(s->q, b, (size_t)s->m * sizeof(double));
  pawl_sparse_add(&s->G, s->values_G, 1.0, x, s->q);
  for (int i = 0; i < s->m; i++) {
    double forces = carried(s, i, bounds, result->lambda), D = s->D[i + i * s->m];
    most = D > 0.0 ? fmax(most, (s->size[i] + forces) / sqrt(D)) : most;
    s->size[i] =
        PAWL_ROWS_CONFIRMED * (s->size[i] + fabs(s->q[i] - b[i])) + PAWL_ROWS_ROUNDING * forces;
  }
  for (int i = 0; i < s->m; i++) {
    double root = sqrt(fmax(s->D[i + i * s->m], 0.0));
    same = same && fabs(s->q[i] - result->w[i]) <= s->size[i] + PAWL_ROWS_ROUNDING * most * root;
  }
  return same;
}

// q = G H^-1 r + b, and x with the forces found.
static PawlStatus solve_dense(PawlRows* s, const double* r, const double* b,
                              const PawlRowBounds* bounds, double* x, PawlRowsResult* result) {
  size_t n = (size_t)s->n, m = (size_t)s->m;
  memcpy(x, r, n * sizeof(double));
  pawl_kkt_solve(s->free_kkt, x, s->none);
  pawl_sparse_sizes(&s->G, s->values_G, x, 0.0, s->size);
  memcpy(s->q, b, m * sizeof(double));
  pawl_sparse_add(&s->G, s->values_G, 1.0, x, s->q);
  for (size_t i = 0; i < m; i++) {
    s->size[i] += fabs(b[i]);
  }
  PAWL_TRY(pawl_compliance_solve(s->compliance, s->q, s->size, bounds, result));
  memcpy(x, r, n * sizeof(double));
  pawl_sparse_add_transposed(&s->G, s->values_B, 1.0, result->lambda, x);
  pawl_kkt_solve(s->free_kkt, x, s->none);
  return confirmed(s, b, x, bounds, result) ? PAWL_OK : PAWL_RETRY;
}

// ---- interface ----------------------------------------------------------------------------------

static PawlStatus build(PawlRows* s, const PawlPattern* H, const PawlPattern* G, PawlRowsForm form,
                        PawlError* err) {
  bool dense = form == PAWL_ROWS_DENSE || (form == PAWL_ROWS_AUTO && G->rows <= MOST_DENSE);
  s->n = H->cols;
  s->m = G->rows;
  if (!copy_pattern(&s->arena, H, &s->H) || !copy_pattern(&s->arena, G, &s->G)) {
    return pawl_fail_memory(err);
  }
  if (dense) {
    PAWL_TRY(create_dense(s, err));
  }
  return form == PAWL_ROWS_DENSE
             ? PAWL_OK
             : pawl_rows_sparse_create(&s->sparse, &s->arena, &s->H, &s->G, err);
}

PawlStatus pawl_rows_create(const PawlPattern* H, const PawlPattern* G, PawlRowsForm form,
                            PawlRows** out, PawlError* err) {
  PawlRows* s = pawl_alloc(1, sizeof *s);
  PawlStatus status = s ? build(s, H, G, form, err) : pawl_fail_memory(err);
  if (status != PAWL_OK) {
    pawl_rows_destroy(s);
    s = NULL;
  }
  *out = s;
  return status;
}

void pawl_rows_destroy(PawlRows* rows) {
  if (rows) {
    pawl_kkt_destroy(rows->free_kkt);
    pawl_kkt_destroy(rows->sparse.kkt);
    pawl_compliance_destroy(rows->compliance);
    pawl_arena_free(&rows->arena);
    pawl_free(rows);
  }
}

void pawl_rows_renew(PawlRows* rows) {
  if (rows->free_kkt) {
    pawl_kkt_renew(rows->free_kkt);
  }
  if (rows->sparse.kkt) {
    pawl_kkt_renew(rows->sparse.kkt);
  }
  rows->sparse.factored = false;
}

PawlStatus pawl_rows_matrices(PawlRows* s, const double* H, const double* B, const double* G) {
  assert(H && (s->m == 0 || (B && G)));
  s->values_H = H;
  s->values_B = B;
  s->values_G = G;
  PawlStatus status = s->compliance ? form_compliance(s) : PAWL_RETRY;
  s->dense = status == PAWL_OK;
  if (status == PAWL_RETRY && s->sparse.kkt) {
    pawl_rows_sparse_set(&s->sparse, H, B, G);
    status = PAWL_OK;
  }
  return status;
}

PawlStatus pawl_rows_solve(PawlRows* s, const double* r, const double* b,
                           const PawlRowBounds* bounds, double* x, PawlRowsResult* result) {
  assert(s->values_H && bounds->lo && bounds->hi && result->lambda && result->w && result->state);
  PawlStatus status = s->dense ? solve_dense(s, r, b, bounds, x, result) : PAWL_RETRY;
  if (status == PAWL_RETRY && s->sparse.kkt) {
    if (s->dense) {  // D could not decide: the system itself, which is not quadratic in H
      pawl_rows_sparse_set(&s->sparse, s->values_H, s->values_B, s->values_G);
      memset(result->state, PAWL_ROW_UNKNOWN, (size_t)s->m);
    }
    status = pawl_rows_sparse_solve(&s->sparse, r, b, bounds, x, result);
  }
  for (int j = 0; status == PAWL_OK && j < s->n; j++) {
    status = isfinite(x[j]) ? PAWL_OK : PAWL_RETRY;
  }
  return status;
}
