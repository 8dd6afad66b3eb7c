// SPDX-License-Identifier: Apache-2.0
// Planar frictional problems by trying all sets: which rows are at which bound, which contacts are
// open, stick or slip. For each set the forces follow from linear equations, solved by elimination
// with the largest pivots; variables that these leave free are 0. Sets in which a force is on the
// edge of its cone and the contact does not move are tried as well, so that every vertex of the
// forces of a solution is met.
#pragma once

#include "friction_problem.h"

enum { MOST_FOUND = 40, MOST_FORCES = 400 };
static const double NEAR = 1e-9;       // of the largest number of its kind: far above rounding here
static const double HUGE_FORCE = 1e5;  // of what is given: rounding of D leaves 1e-10 of it

typedef struct Found {
  int tried, count;  // solutions with different w
  double w[MOST_FOUND][MOST_M];
  int forces;  // forces of solutions, several for one w where rows depend on each other
  double lambda[MOST_FORCES][MOST_M];
  int huge;  // of them, those beside which what is given is nearly rounding
} Found;

typedef struct Search {
  const Case* c;
  Compliance p;
  double root[MOST_M], size;  // sqrt(D_ii); of what is given
  double L[MOST_M * MOST_M];  // lambda = L u + l, u one unknown a column in use
  double l[MOST_M];
  bool unknown[MOST_M], asked[MOST_M];  // u_i is in use; w_i = 0
  Found* found;
} Search;

// A (m-by-n, leading dimension MOST_M) u = f: false when there is no u; free ones are 0.
static bool eliminate(int m, int n, double* A, double* f, double* u) {
  int row[MOST_M], col[MOST_M], rank = 0;
  bool done_row[MOST_M] = {false}, done_col[MOST_M] = {false};
  double top = largest(m, f);
  for (int k = 0; k < m && k < n; k++) {
    double most = 1e-10;  // of a diagonal of 1
    row[k] = -1;
    for (int j = 0; j < n; j++) {
      for (int i = 0; i < m; i++) {
        double a = fabs(A[i + j * MOST_M]);
        if (!done_row[i] && !done_col[j] && a > most) {
          most = a;
          row[k] = i;
          col[k] = j;
        }
      }
    }
    if (row[k] < 0) {
      break;
    }
    rank++;
    done_row[row[k]] = done_col[col[k]] = true;
    for (int i = 0; i < m; i++) {
      double factor = done_row[i] ? 0.0 : A[i + col[k] * MOST_M] / A[row[k] + col[k] * MOST_M];
      for (int j = 0; j < n && factor != 0.0; j++) {
        A[i + j * MOST_M] -= factor * A[row[k] + j * MOST_M];
      }
      f[i] -= factor * f[row[k]];
      top = fmax(top, fabs(f[i]));
    }
  }
  memset(u, 0, sizeof(double) * MOST_M);
  for (int k = rank - 1; k >= 0; k--) {
    double sum = f[row[k]];
    for (int j = 0; j < n; j++) {
      sum -= j != col[k] ? A[row[k] + j * MOST_M] * u[j] : 0.0;
    }
    u[col[k]] = sum / A[row[k] + col[k] * MOST_M];
  }
  for (int i = 0; i < m; i++) {
    if (!done_row[i] && fabs(f[i]) > NEAR * top) {
      return false;
    }
  }
  return true;
}

static void note(Search* s, const double* lambda) {
  Found* found = s->found;
  const Case* c = s->c;
  double w[MOST_M], force = 0.0;
  for (int i = 0; i < c->m; i++) {
    force = fmax(force, fabs(lambda[i]) * s->root[i]);
  }
  found->huge += force > HUGE_FORCE * s->size;
  if (found->forces < MOST_FORCES) {
    memcpy(found->lambda[found->forces++], lambda, sizeof w);
  }
  for (int i = 0; i < c->m; i++) {
    w[i] = s->p.q[i];
    for (int j = 0; j < c->m; j++) {
      w[i] += s->p.D[i + j * c->m] * lambda[j];
    }
    w[i] = s->root[i] > 0.0 ? w[i] / s->root[i] : w[i];
  }
  for (int k = 0; k < found->count; k++) {
    double apart = 0.0;
    for (int i = 0; i < c->m; i++) {
      apart = fmax(apart, fabs(w[i] - found->w[k][i]));
    }
    if (apart <= 1e-7 * s->size) {
      return;
    }
  }
  assert_true(found->count < MOST_FOUND);
  memcpy(found->w[found->count++], w, sizeof w);
}

// The forces of one set, in rows scaled to D_ii = 1.
static void try_set(Search* s) {
  const Case* c = s->c;
  double A[MOST_M * MOST_M], f[MOST_M], u[MOST_M], lambda[MOST_M] = {0};
  int rows = 0, cols = 0, use[MOST_M];
  s->found->tried++;
  for (int i = 0; i < c->m; i++) {
    if (s->unknown[i]) {
      use[cols++] = i;
    }
  }
  for (int i = 0; i < c->m; i++) {
    if (!s->asked[i] || s->root[i] == 0.0) {
      continue;
    }
    f[rows] = -s->p.q[i] / s->root[i];
    for (int j = 0; j < c->m; j++) {
      f[rows] -= s->p.D[i + j * c->m] * s->l[j] / s->root[i];
    }
    for (int a = 0; a < cols; a++) {
      double sum = 0.0;
      for (int j = 0; j < c->m; j++) {
        sum += s->p.D[i + j * c->m] * s->L[j + use[a] * MOST_M];
      }
      A[rows + a * MOST_M] = s->root[use[a]] > 0.0 ? sum / (s->root[i] * s->root[use[a]]) : 0.0;
    }
    rows++;
  }
  if (!eliminate(rows, cols, A, f, u)) {
    return;
  }
  for (int i = 0; i < c->m; i++) {
    lambda[i] = s->l[i];
    for (int a = 0; a < cols; a++) {
      double root = s->root[use[a]];
      lambda[i] += root > 0.0 ? s->L[i + use[a] * MOST_M] * u[a] / root : 0.0;
    }
  }
  if (off(c, &s->p, lambda) <= NEAR) {
    note(s, lambda);
  }
}

static void search_rows(Search* s, int i);

// One choice for the tangential row t with lambda_T = side mu sign lambda_N, or on its own.
static void choose_tangent(Search* s, int n, int t, double side, bool own, bool asked, int then) {
  s->unknown[t] = own;
  s->L[t + t * MOST_M] = own;
  s->L[t + n * MOST_M] = side;
  s->l[t] = side * s->l[n];
  s->asked[t] = asked;
  search_rows(s, then);
  s->unknown[t] = s->asked[t] = false;
  s->L[t + t * MOST_M] = s->L[t + n * MOST_M] = s->l[t] = 0.0;
}

// The tangential row of the block of normal row n, if it has one; then the rows from `then` on.
static void search_block(Search* s, int n, int then) {
  const Case* c = s->c;
  const PawlFrictionBlock* block = NULL;
  for (int b = 0; b < c->blocks; b++) {
    block = c->block[b].normal == n ? &c->block[b] : block;
  }
  bool open = !s->unknown[n] && s->l[n] == 0.0;
  if (!block || open) {
    search_rows(s, then);
    return;
  }
  for (int sign = 1; sign >= (c->lo[n] < 0.0 ? -1 : 1); sign -= 2) {
    double limit = block->mu * sign;
    int t = block->tangent[0];
    if (block->sliding) {
      choose_tangent(s, n, t, -limit * block->direction[0], false, false, then);
      continue;
    }
    choose_tangent(s, n, t, 0.0, true, true, then);
    for (int side = -1; side <= 1; side += 2) {
      choose_tangent(s, n, t, side * limit, false, false, then);
      choose_tangent(s, n, t, side * limit, false, true, then);
    }
  }
}

static void search_rows(Search* s, int i) {
  const Case* c = s->c;
  if (i == c->m) {
    try_set(s);
    return;
  }
  if (is_tangent(c, i)) {
    search_rows(s, i + 1);
    return;
  }
  for (int k = 0; k < 1 + (c->lo[i] < c->hi[i]); k++) {  // bounds
    double bound = k ? c->hi[i] : c->lo[i];
    for (int asked = 0; isfinite(bound) && asked < 1 + (c->lo[i] < c->hi[i]); asked++) {
      s->l[i] = bound;
      s->asked[i] = asked;
      search_block(s, i, i + 1);
      s->asked[i] = false;
      s->l[i] = 0.0;
    }
  }
  if (c->lo[i] == -INFINITY && c->hi[i] == INFINITY) {  // follows from others, and carries nothing
    s->asked[i] = true;
    search_rows(s, i + 1);
    s->asked[i] = false;
  }
  if (c->lo[i] < c->hi[i]) {
    s->unknown[i] = s->asked[i] = true;
    s->L[i + i * MOST_M] = 1.0;
    search_block(s, i, i + 1);
    s->unknown[i] = s->asked[i] = false;
    s->L[i + i * MOST_M] = 0.0;
  }
}

// All solutions of the case.
static void search_all(const Case* c, Found* found) {
  static Search s;
  memset(&s, 0, sizeof s);
  memset(found, 0, sizeof *found);
  s.c = c;
  s.found = found;
  make_compliance(c, &s.p);
  for (int i = 0; i < c->m; i++) {
    s.root[i] = sqrt(s.p.D[i + i * c->m]);
    s.size = fmax(s.size, s.root[i] > 0.0 ? s.p.size[i] / s.root[i] : 0.0);
  }
  search_rows(&s, 0);
}
