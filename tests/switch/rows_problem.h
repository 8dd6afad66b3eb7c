// SPDX-License-Identifier: Apache-2.0
// Small row problems for the tests of the row solver: the problem, the solver under test, and the
// conditions of docs/theory/rows.md, recomputed.
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "switch/random_numbers.h"
#include "switch/rows.h"

enum { MOST_N = 6, MOST_M = 8 };
static const double NEAR = 1e-9;  // of the largest number of its kind: far above rounding here

typedef struct Case {
  int n, m;
  double H[MOST_N * MOST_N], G[MOST_M * MOST_N];  // by columns
  double r[MOST_N], b[MOST_M], lo[MOST_M], hi[MOST_M], weight[MOST_M];
} Case;

typedef struct Answer {
  bool exists;
  double x[MOST_N], w[MOST_M], lambda[MOST_M];
  unsigned char state[MOST_M], conflict[MOST_M];
  double violation[MOST_M];
  PawlRowsResult info;
} Answer;

static inline double entry(const Case* c, int i, int j) {
  return c->G[i + j * c->m];
}

// ---- the solver under test ----------------------------------------------------------------------

typedef struct Patterns {
  int start_H[MOST_N + 1], index_H[MOST_N * MOST_N];
  int start_G[MOST_N + 1], index_G[MOST_N * MOST_M];
  PawlPattern H, G;
} Patterns;

static inline void make_patterns(int n, int m, Patterns* p) {
  for (int j = 0; j <= n; j++) {
    p->start_H[j] = j * n;
    p->start_G[j] = j * m;
  }
  for (int e = 0; e < n * n; e++) {
    p->index_H[e] = e % n;
  }
  for (int e = 0; e < n * m; e++) {
    p->index_G[e] = e % m;
  }
  p->H = (PawlPattern){n, n, p->start_H, p->index_H};
  p->G = (PawlPattern){m, n, p->start_G, p->index_G};
}

static inline PawlStatus solve_with(PawlRows* rows, const Case* c, Answer* a) {
  PawlRowBounds bounds = {.lo = c->lo, .hi = c->hi, .weight = c->weight};
  a->info = (PawlRowsResult){.lambda = a->lambda,
                             .w = a->w,
                             .state = a->state,
                             .conflict = a->conflict,
                             .violation = a->violation};
  PawlStatus status = pawl_rows_matrices(rows, c->H, c->G, c->G);
  status = status == PAWL_OK ? pawl_rows_solve(rows, c->r, c->b, &bounds, a->x, &a->info) : status;
  a->exists = status == PAWL_OK && a->info.conflicts == 0;
  return status;
}

static inline PawlStatus solve_case(const Case* c, PawlRowsForm form, Answer* a) {
  Patterns p;
  PawlRows* rows;
  make_patterns(c->n, c->m, &p);
  assert_int_equal(pawl_rows_create(&p.H, &p.G, form, &rows, NULL), PAWL_OK);
  long long allocated = pawl_alloc_count();
  PawlStatus status = solve_with(rows, c, a);
  if (form == PAWL_ROWS_DENSE) {
    assert_int_equal(pawl_alloc_count(), allocated);
  }
  pawl_rows_destroy(rows);
  return status;
}

static inline double largest(int n, const double* x) {
  double top = 0.0;
  for (int i = 0; i < n; i++) {
    top = fmax(top, fabs(x[i]));
  }
  return top;
}

// (R1), recomputed; rows that were given up excepted.
static inline void check_conditions(const Case* c, const Answer* a) {
  double top = largest(c->n, c->r) + largest(c->m, a->lambda);
  for (int j = 0; j < c->n; j++) {
    double sum = -c->r[j];
    for (int i = 0; i < c->n; i++) {
      sum += c->H[j + i * c->n] * a->x[i];
    }
    for (int i = 0; i < c->m; i++) {
      sum -= entry(c, i, j) * a->lambda[i];
    }
    CHECK_NEAR(sum, 0.0, 1e-11 * top);
  }
  double slack = 1e-11 * (largest(c->m, c->b) + largest(c->n, a->x) + top);
  for (int i = 0; i < c->m; i++) {
    double w = c->b[i], lambda = a->lambda[i];
    for (int j = 0; j < c->n; j++) {
      w += entry(c, i, j) * a->x[j];
    }
    CHECK_NEAR(a->w[i], w, slack);
    assert_true(lambda >= c->lo[i] && lambda <= c->hi[i]);
    if (a->state[i] == PAWL_ROW_UNKNOWN || c->lo[i] == c->hi[i]) {
      continue;
    }
    assert_true(w >= -slack || lambda == c->hi[i]);
    assert_true(w <= slack || lambda == c->lo[i]);
    bool between = lambda > c->lo[i] && lambda < c->hi[i];
    assert_true(between == (a->state[i] == PAWL_ROW_FREE || a->state[i] == PAWL_ROW_FOLLOWS));
  }
}

// The largest number of the problem and its solution: all are near 1 or zero here.
static inline double size_of(const Case* c, const Answer* a) {
  double size = largest(c->n, a->x) + largest(c->m, a->lambda);
  size += largest(c->n, c->r) + largest(c->m, c->b);
  for (int i = 0; i < c->m; i++) {
    size = fmax(size, isfinite(c->lo[i]) ? fabs(c->lo[i]) : 0.0);
  }
  return size;
}

static inline void check_same(const Case* c, const Answer* a, const Answer* b, double tolerance) {
  double size = size_of(c, b);
  for (int j = 0; j < c->n; j++) {
    CHECK_NEAR(a->x[j], b->x[j], tolerance * size);
  }
  for (int i = 0; i < c->m; i++) {
    CHECK_NEAR(a->w[i], b->w[i], tolerance * size);
    CHECK_NEAR(a->lambda[i], b->lambda[i], tolerance * size);
  }
}

// ---- random bounds ------------------------------------------------------------------------------

static inline void random_bounds(Random* r, Case* c, int i) {
  int kind = whole(r, 0, 9);
  double force = quarters(r, 2), capacity = 0.25 * whole(r, 1, 12);
  c->lo[i] = kind < 3 ? -INFINITY : kind < 6 ? 0.0 : kind < 8 ? -capacity : kind < 9 ? force : 0.0;
  c->hi[i] = kind < 6 ? INFINITY : kind < 8 ? capacity : kind < 9 ? force : 0.0;
}
