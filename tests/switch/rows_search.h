// SPDX-License-Identifier: Apache-2.0
// The row problem by a search through all sets of rows, with a dense solution of its own.
#pragma once

#include "rows_problem.h"

// ---- a search through all sets ------------------------------------------------------------------

// Gauss with complete pivoting on A (n-by-n by columns, destroyed): some y with A y = e, zero where
// A leaves a choice. Returns the rank, -1 when there is none (y is then one for a part of e).
static int gauss(int n, double* A, double* e, double* y) {
  int column[MOST_M + MOST_N], rank = 0;
  double top = 0.0, size = 0.0;
  for (int j = 0; j < n; j++) {
    column[j] = j;
    size = fmax(size, fabs(e[j]));
    for (int i = 0; i < n; i++) {
      top = fmax(top, fabs(A[i + j * n]));
    }
  }
  for (; rank < n; rank++) {
    int row = rank, col = rank;
    for (int j = rank; j < n; j++) {
      for (int i = rank; i < n; i++) {
        if (fabs(A[i + j * n]) > fabs(A[row + col * n])) {
          row = i;
          col = j;
        }
      }
    }
    if (fabs(A[row + col * n]) <= 1e-10 * top) {
      break;
    }
    for (int j = 0; j < n; j++) {
      double t = A[row + j * n];
      A[row + j * n] = A[rank + j * n];
      A[rank + j * n] = t;
    }
    for (int i = 0; i < n; i++) {
      double t = A[i + col * n];
      A[i + col * n] = A[i + rank * n];
      A[i + rank * n] = t;
    }
    double t = e[row];
    e[row] = e[rank];
    e[rank] = t;
    int k = column[col];
    column[col] = column[rank];
    column[rank] = k;
    for (int i = rank + 1; i < n; i++) {
      double f = A[i + rank * n] / A[rank + rank * n];
      for (int j = rank; j < n && f != 0.0; j++) {
        A[i + j * n] -= f * A[rank + j * n];
      }
      e[i] -= f * e[rank];
    }
  }
  for (int i = 0; i < n; i++) {
    y[i] = 0.0;
  }
  for (int i = rank - 1; i >= 0; i--) {
    double sum = e[i];
    for (int j = i + 1; j < rank; j++) {
      sum -= A[i + j * n] * y[column[j]];
    }
    y[column[i]] = sum / A[i + i * n];
  }
  for (int i = rank; i < n; i++) {
    if (fabs(e[i]) > NEAR * size) {
      return -1;
    }
  }
  return rank;
}

typedef struct Search {
  const Case* c;
  const unsigned char* on;  // rows that count, NULL: all
  double D[MOST_M * MOST_M], q[MOST_M], x0[MOST_N], X[MOST_N * MOST_M];
  double size_w, size_lambda;
} Search;

static bool fixed(const Search* s, int i) {
  return (s->on && !s->on[i]) || s->c->lo[i] == s->c->hi[i];
}

static void solve_H(const Case* c, const double* right, double* x) {
  double A[MOST_N * MOST_N], e[MOST_N];
  memcpy(A, c->H, sizeof A);
  memcpy(e, right, sizeof e);
  assert_int_equal(gauss(c->n, A, e, x), c->n);
}

static void prepare(const Case* c, const unsigned char* on, Search* s) {
  memset(s, 0, sizeof *s);
  s->c = c;
  s->on = on;
  solve_H(c, c->r, s->x0);
  for (int i = 0; i < c->m; i++) {
    double row[MOST_N] = {0};
    for (int j = 0; j < c->n; j++) {
      row[j] = entry(c, i, j);
    }
    solve_H(c, row, s->X + i * MOST_N);
  }
  for (int i = 0; i < c->m; i++) {
    s->q[i] = c->b[i];
    for (int j = 0; j < c->n; j++) {
      s->q[i] += entry(c, i, j) * s->x0[j];
      for (int k = 0; k < c->m; k++) {
        s->D[i + k * c->m] += entry(c, i, j) * s->X[j + k * MOST_N];
      }
    }
    s->size_w = fmax(s->size_w, fabs(s->q[i]) + fabs(c->b[i]));
    double f = fmin(fabs(c->lo[i]), fabs(c->hi[i]));
    for (int k = 0; k < c->m && isfinite(f); k++) {
      s->size_w = fmax(s->size_w, f * fabs(s->D[i + k * c->m]));
    }
  }
}

// lambda of the rows in `free` (independent) with the others at `lambda`; false when they depend.
static bool solve_set(const Search* s, const unsigned char* free_rows, double* lambda, double* w) {
  const Case* c = s->c;
  int list[MOST_M], f = 0, m = c->m;
  double A[MOST_M * MOST_M], e[MOST_M], y[MOST_M];
  for (int i = 0; i < m; i++) {
    list[f] = i;
    f += free_rows[i];
  }
  for (int a = 0; a < f; a++) {
    e[a] = -s->q[list[a]];
    for (int k = 0; k < m; k++) {
      e[a] -= free_rows[k] ? 0.0 : s->D[list[a] + k * m] * lambda[k];
    }
    for (int k = 0; k < f; k++) {
      A[a + k * f] = s->D[list[a] + list[k] * m];
    }
  }
  if (f > 0 && gauss(f, A, e, y) < f) {
    return false;
  }
  for (int a = 0; a < f; a++) {
    lambda[list[a]] = y[a];
  }
  for (int i = 0; i < m; i++) {
    w[i] = s->q[i];
    for (int k = 0; k < m; k++) {
      w[i] += s->D[i + k * m] * lambda[k];
    }
  }
  return true;
}

static bool fits(const Search* s, const double* lambda, const double* w) {
  const Case* c = s->c;
  double slack_w = NEAR * s->size_w;
  for (int i = 0; i < c->m; i++) {
    double D = s->D[i + i * c->m], slack = D > 0.0 ? slack_w / D : 0.0;
    if (fixed(s, i)) {
      continue;
    }
    bool low = lambda[i] <= c->lo[i] + slack, high = lambda[i] >= c->hi[i] - slack;
    if (lambda[i] < c->lo[i] - slack || lambda[i] > c->hi[i] + slack || (!low && w[i] > slack_w) ||
        (!high && w[i] < -slack_w)) {
      return false;
    }
  }
  return true;
}

// All sets from row i on: each row free or at a finite bound; a row without one also at 0.
static bool search(const Search* s, int i, unsigned char* free_rows, double* lambda, double* w) {
  const Case* c = s->c;
  if (i == c->m) {
    double trial[MOST_M];
    memcpy(trial, lambda, sizeof trial);
    bool found = solve_set(s, free_rows, trial, w) && fits(s, trial, w);
    if (found) {
      memcpy(lambda, trial, sizeof trial);
    }
    return found;
  }
  double lo = c->lo[i], hi = c->hi[i];
  free_rows[i] = 0;
  if (fixed(s, i)) {
    lambda[i] = s->on && !s->on[i] ? 0.0 : lo;
    return search(s, i + 1, free_rows, lambda, w);
  }
  free_rows[i] = 1;
  if (search(s, i + 1, free_rows, lambda, w)) {
    return true;
  }
  free_rows[i] = 0;
  double tried[] = {lo, hi, isinf(lo) && isinf(hi) ? 0.0 : INFINITY};
  for (int k = 0; k < 3; k++) {
    lambda[i] = tried[k];
    if (isfinite(tried[k]) && search(s, i + 1, free_rows, lambda, w)) {
      return true;
    }
  }
  return false;
}

// ---- the least lambda, by all sets again --------------------------------------------------------

typedef struct Least {
  Search* s;
  double force[MOST_N];  // to be made
  double best, lambda[MOST_M];
  unsigned char tight[MOST_M], free_rows[MOST_M];
  double trial[MOST_M];
} Least;

// sum (lambda/weight)^2 least over the free rows: u = A^T y, A A^T y = f.
static void try_least(Least* l) {
  const Case* c = l->s->c;
  double AA[MOST_N * MOST_N] = {0}, f[MOST_N], y[MOST_N], sum = 0.0;
  int n = c->n;
  for (int j = 0; j < n; j++) {
    f[j] = l->force[j];
    for (int i = 0; i < c->m; i++) {
      f[j] -= l->free_rows[i] ? 0.0 : entry(c, i, j) * l->trial[i];
      for (int k = 0; k < n && l->free_rows[i]; k++) {
        AA[j + k * n] += entry(c, i, j) * entry(c, i, k) * c->weight[i] * c->weight[i];
      }
    }
  }
  double largest = l->s->size_w, off = 0.0;  // some force, where all are rounding
  (void)gauss(n, AA, f, y);
  for (int i = 0; i < c->m; i++) {
    if (l->free_rows[i]) {
      l->trial[i] = 0.0;
      for (int j = 0; j < n; j++) {
        l->trial[i] += c->weight[i] * c->weight[i] * entry(c, i, j) * y[j];
      }
    }
    largest = fmax(largest, fabs(l->trial[i]));
  }
  for (int j = 0; j < n; j++) {
    double made = 0.0;
    for (int i = 0; i < c->m; i++) {
      made += entry(c, i, j) * l->trial[i];
    }
    off = fmax(off, fabs(made - l->force[j]));
  }
  if (off > NEAR * largest) {
    return;
  }
  for (int i = 0; i < c->m; i++) {
    if (l->trial[i] < c->lo[i] - NEAR * largest || l->trial[i] > c->hi[i] + NEAR * largest) {
      return;
    }
    sum += l->tight[i] ? l->trial[i] * l->trial[i] / (c->weight[i] * c->weight[i]) : 0.0;
  }
  if (sum < l->best) {
    l->best = sum;
    memcpy(l->lambda, l->trial, sizeof l->lambda);
  }
}

static void least(Least* l, int i) {
  const Case* c = l->s->c;
  if (i == c->m) {
    double kept[MOST_M];
    memcpy(kept, l->trial, sizeof kept);
    try_least(l);
    memcpy(l->trial, kept, sizeof kept);
    return;
  }
  l->free_rows[i] = l->tight[i];
  least(l, i + 1);
  for (int k = 0; k < 2 && l->tight[i]; k++) {
    double bound = k ? c->hi[i] : c->lo[i];
    if (isfinite(bound)) {
      double was = l->trial[i];
      l->free_rows[i] = 0;
      l->trial[i] = bound;
      least(l, i + 1);
      l->trial[i] = was;
    }
  }
}

// x, w and the least lambda, or that there is none.
static void search_all(const Case* c, Answer* a, bool with_least) {
  Search s;
  unsigned char free_rows[MOST_M] = {0};
  memset(a, 0, sizeof *a);
  prepare(c, NULL, &s);
  a->exists = search(&s, 0, free_rows, a->lambda, a->w);
  if (!a->exists) {
    return;
  }
  Least l = {.s = &s, .best = INFINITY};
  for (int j = 0; j < c->n; j++) {
    a->x[j] = s.x0[j];
    for (int i = 0; i < c->m; i++) {
      a->x[j] += s.X[j + i * MOST_N] * a->lambda[i];
      l.force[j] += entry(c, i, j) * a->lambda[i];
    }
  }
  for (int i = 0; i < c->m; i++) {
    l.tight[i] = c->lo[i] < c->hi[i] && fabs(a->w[i]) <= NEAR * s.size_w;
  }
  double trial[MOST_M], w[MOST_M];
  memcpy(trial, a->lambda, sizeof trial);
  if (with_least && !solve_set(&s, l.tight, trial, w)) {  // they depend on each other
    memcpy(l.trial, a->lambda, sizeof l.trial);
    least(&l, 0);
    assert_true(isfinite(l.best));
    memcpy(a->lambda, l.lambda, sizeof l.lambda);
  }
}
