// SPDX-License-Identifier: Apache-2.0
// Small frictional problems for the tests of the solver: the problem by H and G, the solver under
// test, and the conditions of docs/theory/friction.md, recomputed.
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "switch/friction.h"
#include "switch/random_numbers.h"

enum { MOST_N = 24, MOST_M = 24, MOST_B = 12 };

typedef struct Case {
  int n, m, blocks;
  double H[MOST_N * MOST_N], G[MOST_M * MOST_N];  // by columns
  double r[MOST_N], b[MOST_M], lo[MOST_M], hi[MOST_M];
  PawlFrictionBlock block[MOST_B];
  bool counts;  // solutions beside the one that is found
  bool halves;  // sets are tried by halves where nothing else finds one
} Case;

typedef struct Answer {
  double x[MOST_N], w[MOST_M], lambda[MOST_M], slip[2 * MOST_B];
  unsigned char state[MOST_M], block_state[MOST_B];
  PawlFrictionResult info;
} Answer;

typedef struct Compliance {  // w = D lambda + q, x = x0 + X lambda
  double D[MOST_M * MOST_M], q[MOST_M], size[MOST_M];
  double X[MOST_N * MOST_M], x0[MOST_N];
} Compliance;

static inline double entry(const Case* c, int i, int j) {
  return c->G[i + j * c->m];
}

static inline double largest(int n, const double* x) {
  double top = 0.0;
  for (int i = 0; i < n; i++) {
    top = fmax(top, fabs(x[i]));
  }
  return top;
}

// ---- the compliance -----------------------------------------------------------------------------

// Cholesky of H (n-by-n), then H x = right.
static inline void solve_mass(const Case* c, const double* right, double* x) {
  double L[MOST_N * MOST_N];
  int n = c->n;
  memcpy(L, c->H, sizeof(double) * (size_t)(n * n));
  memcpy(x, right, sizeof(double) * (size_t)n);
  for (int j = 0; j < n; j++) {
    for (int k = 0; k < j; k++) {
      for (int i = j; i < n; i++) {
        L[i + j * n] -= L[i + k * n] * L[j + k * n];
      }
    }
    double root = sqrt(L[j + j * n]);
    for (int i = j; i < n; i++) {
      L[i + j * n] /= root;
    }
  }
  for (int j = 0; j < n; j++) {
    x[j] /= L[j + j * n];
    for (int i = j + 1; i < n; i++) {
      x[i] -= L[i + j * n] * x[j];
    }
  }
  for (int j = n - 1; j >= 0; j--) {
    for (int i = j + 1; i < n; i++) {
      x[j] -= L[i + j * n] * x[i];
    }
    x[j] /= L[j + j * n];
  }
}

static inline double row_times(const Case* c, int i, const double* x, double* size) {
  double sum = 0.0;
  for (int j = 0; j < c->n; j++) {
    sum += entry(c, i, j) * x[j];
    *size += fabs(entry(c, i, j) * x[j]);
  }
  return sum;
}

static inline void make_compliance(const Case* c, Compliance* p) {
  double ignored = 0.0;
  solve_mass(c, c->r, p->x0);
  for (int k = 0; k < c->m; k++) {
    double right[MOST_N];
    for (int j = 0; j < c->n; j++) {
      right[j] = entry(c, k, j);
    }
    solve_mass(c, right, p->X + k * MOST_N);
    p->size[k] = fabs(c->b[k]);
    p->q[k] = c->b[k] + row_times(c, k, p->x0, &p->size[k]);
  }
  for (int j = 0; j < c->m; j++) {
    for (int i = 0; i <= j; i++) {
      p->D[i + j * c->m] = p->D[j + i * c->m] = row_times(c, i, p->X + j * MOST_N, &ignored);
    }
  }
}

// ---- the solver under test ----------------------------------------------------------------------

static inline void solve_by(PawlFriction* f, const Case* c, bool all, Answer* a) {
  static Compliance p;
  make_compliance(c, &p);
  PawlFrictionProblem problem = {.q = p.q,
                                 .size = p.size,
                                 .lo = c->lo,
                                 .hi = c->hi,
                                 .blocks = c->blocks,
                                 .block = c->block,
                                 .all = all,
                                 .count = c->counts,
                                 .halves = c->halves};
  a->info = (PawlFrictionResult){.lambda = a->lambda,
                                 .w = a->w,
                                 .state = a->state,
                                 .block_state = a->block_state,
                                 .slip = a->slip};
  long long allocated = pawl_alloc_count();
  assert_int_equal(pawl_friction_set(f, c->m, p.D, NULL), PAWL_OK);
  assert_int_equal(pawl_friction_solve(f, &problem, &a->info), PAWL_OK);
  assert_int_equal(pawl_alloc_count(), allocated);
  for (int j = 0; j < c->n; j++) {
    a->x[j] = p.x0[j];
    for (int i = 0; i < c->m; i++) {
      a->x[j] += p.X[j + i * MOST_N] * a->lambda[i];
    }
  }
}

static inline void solve_case(const Case* c, bool all, Answer* a) {
  PawlFriction* f;
  memset(a, 0, sizeof *a);
  assert_int_equal(pawl_friction_create(c->m, c->blocks, &f, NULL), PAWL_OK);
  solve_by(f, c, all, a);
  pawl_friction_destroy(f);
}

// ---- the conditions, recomputed -----------------------------------------------------------------

static inline bool is_tangent(const Case* c, int i) {
  bool is = false;
  for (int b = 0; b < c->blocks; b++) {
    is = is || c->block[b].tangent[0] == i || c->block[b].tangent[1] == i;
  }
  return is;
}

// How far lambda is from its bounds and w from the side that lambda allows, each measured by
// D_ii, of the largest force or rate of the problem.                                  (F1), (F2)
static inline double off(const Case* c, const Compliance* p, const double* lambda) {
  double w[MOST_M], root[MOST_M], size = 0.0, worst = 0.0;
  for (int i = 0; i < c->m; i++) {
    w[i] = p->q[i];
    root[i] = sqrt(p->D[i + i * c->m]);
    for (int j = 0; j < c->m; j++) {
      w[i] += p->D[i + j * c->m] * lambda[j];
    }
    size = fmax(size, root[i] > 0.0 ? fmax(fabs(lambda[i]) * root[i], p->size[i] / root[i]) : 0.0);
    w[i] = root[i] > 0.0 ? w[i] / root[i] : w[i];
  }
  for (int i = 0; i < c->m; i++) {
    double force = lambda[i] * root[i], lo = c->lo[i] * root[i], hi = c->hi[i] * root[i];
    if (!is_tangent(c, i) && root[i] > 0.0) {
      worst = fmax(worst, fabs(force - fmin(fmax(force - w[i], lo), hi)));
    }
  }
  for (int b = 0; b < c->blocks; b++) {
    const PawlFrictionBlock* k = &c->block[b];
    const int* t = k->tangent;
    double limit = k->mu * fabs(lambda[k->normal]), point[2] = {0.0, 0.0}, length = 0.0;
    int count = 1 + (t[1] >= 0);
    for (int j = 0; j < count; j++) {  // in one unit, so that the disc stays a disc
      double D = p->D[t[0] + t[0] * c->m];
      point[j] = k->sliding ? -limit * k->direction[j] : lambda[t[j]] - w[t[j]] * root[t[j]] / D;
      length = hypot(length, point[j]);
    }
    double shrink = length > limit && !k->sliding ? limit / length : 1.0;
    for (int j = 0; j < count; j++) {
      worst = fmax(worst, fabs(lambda[t[j]] - shrink * point[j]) * root[t[j]]);
    }
  }
  return size > 0.0 ? worst / size : 0.0;
}
