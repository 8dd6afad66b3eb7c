// SPDX-License-Identifier: Apache-2.0
// Jumps for the tests of switch/impact.c: dense matrices by rows, random systems, and the algebra
// by which a test recomputes what the solver did, in plain loops of its own.
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "linalg/dense.h"
#include "switch/impact.h"

enum { JUMP_MOST = 13 };  // velocities and rows

// A jump: the rows before and after, with the velocity and the rates g_t on both sides.
typedef struct Jump {
  int n, rows;  // rows of the pattern
  double M[JUMP_MOST][JUMP_MOST];
  double before[JUMP_MOST][JUMP_MOST], after[JUMP_MOST][JUMP_MOST];  // row, velocity
  unsigned char active_before[JUMP_MOST], active_after[JUMP_MOST];
  double rate_before[JUMP_MOST], rate_after[JUMP_MOST];  // g_t by row
  double v_minus[JUMP_MOST];
  // what the solver gives
  int planes;
  double v_plus[JUMP_MOST], Lambda[JUMP_MOST], B[JUMP_MOST][JUMP_MOST];
} Jump;

// The same numbers on every machine, in [-1, 1), from a state that each test sets.
static unsigned long long jump_seed = 1;

static inline double jump_random(void) {
  jump_seed = jump_seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(jump_seed >> 11) * 0x1p-52 - 1.0;
}

// ---- algebra ------------------------------------------------------------------------------------
// x with A x = b by elimination with pivoting; A and b are used up. Returns the smallest pivot.
static inline double gauss(int n, double A[][JUMP_MOST], double* b) {
  double smallest = INFINITY;
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++) {
      p = fabs(A[i][k]) > fabs(A[p][k]) ? i : p;
    }
    for (int j = 0; j < n; j++) {
      double x = A[k][j];
      A[k][j] = A[p][j];
      A[p][j] = x;
    }
    double x = b[k];
    b[k] = b[p];
    b[p] = x;
    smallest = fmin(smallest, fabs(A[k][k]));
    for (int i = k + 1; i < n; i++) {
      double factor = A[i][k] / A[k][k];
      for (int j = k; j < n; j++) {
        A[i][j] -= factor * A[k][j];
      }
      b[i] -= factor * b[k];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) {
      b[i] -= A[i][j] * b[j];
    }
    b[i] /= A[i][i];
  }
  return smallest;
}

// x <- M^-1 x
static inline void mass_solve(const Jump* jump, double* x) {
  double M[JUMP_MOST][JUMP_MOST];
  memcpy(M, jump->M, sizeof M);
  gauss(jump->n, M, x);
}

static inline double dot(int n, const double* x, const double* y) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    sum += x[i] * y[i];
  }
  return sum;
}

static inline double kinetic(const Jump* jump, const double* v) {
  double sum = 0.0;
  for (int i = 0; i < jump->n; i++) {
    sum += 0.5 * v[i] * dot(jump->n, jump->M[i], v);
  }
  return sum;
}

// sqrt(v M v): the size of a velocity, in which errors are measured.
static inline double speed(const Jump* jump, const double* v) {
  return sqrt(2.0 * kinetic(jump, v));
}

static inline double speed_between(const Jump* jump, const double* v, const double* w) {
  double d[JUMP_MOST];
  for (int i = 0; i < jump->n; i++) {
    d[i] = v[i] - w[i];
  }
  return speed(jump, d);
}

// x M^-1 y of two rows
static inline double metric(const Jump* jump, const double* x, const double* y) {
  double z[JUMP_MOST];
  memcpy(z, y, sizeof z);
  mass_solve(jump, z);
  return dot(jump->n, x, z);
}

// The active rows one behind the other; returns their number.
static inline int take_active(const Jump* jump, bool after, double out[][JUMP_MOST], double* rate) {
  int count = 0;
  for (int i = 0; i < jump->rows; i++) {
    if (after ? jump->active_after[i] : jump->active_before[i]) {
      rate[count] = after ? jump->rate_after[i] : jump->rate_before[i];
      memcpy(out[count++], after ? jump->after[i] : jump->before[i], sizeof *out);
    }
  }
  return count;
}

// v+ = v- + M^-1 E^T x with G v+ = -rate, for m rows of G and as many of E.
static inline void reference_jump(const Jump* jump, int m, double G[][JUMP_MOST],
                                  const double* rate, double E[][JUMP_MOST], const double* v_minus,
                                  double* v_plus) {
  double D[JUMP_MOST][JUMP_MOST], x[JUMP_MOST], WE[JUMP_MOST][JUMP_MOST];
  for (int s = 0; s < m; s++) {
    memcpy(WE[s], E[s], sizeof *WE);
    mass_solve(jump, WE[s]);
  }
  for (int r = 0; r < m; r++) {
    x[r] = -rate[r] - dot(jump->n, G[r], v_minus);
    for (int s = 0; s < m; s++) {
      D[r][s] = dot(jump->n, G[r], WE[s]);
    }
  }
  gauss(m, D, x);
  for (int i = 0; i < jump->n; i++) {
    v_plus[i] = v_minus[i];
    for (int s = 0; s < m; s++) {
      v_plus[i] += WE[s][i] * x[s];
    }
  }
}

// Moves v_minus onto the rows before, G- v- = -g_t, twice for the rounding of the first time.
static inline void jump_meet_before(Jump* jump) {
  double G[JUMP_MOST][JUMP_MOST], rate[JUMP_MOST], v[JUMP_MOST];
  int m = take_active(jump, false, G, rate);
  for (int pass = 0; pass < 2; pass++) {
    memcpy(v, jump->v_minus, sizeof v);
    reference_jump(jump, m, G, rate, G, v, jump->v_minus);
  }
}

// ---- random systems -----------------------------------------------------------------------------
// A symmetric positive definite M whose diagonal spans several orders of magnitude.
static inline void jump_random_mass(Jump* jump) {
  double X[JUMP_MOST][JUMP_MOST], size[JUMP_MOST];
  for (int i = 0; i < jump->n; i++) {
    size[i] = pow(10.0, 2.0 * jump_random());
    for (int j = 0; j < jump->n; j++) {
      X[i][j] = jump_random();
    }
  }
  for (int i = 0; i < jump->n; i++) {
    for (int j = 0; j < jump->n; j++) {
      jump->M[i][j] = (dot(jump->n, X[i], X[j]) + (i == j)) * size[i] * size[j];
    }
  }
}

// The least part of a row outside those before it, relative to its length: 1 for orthogonal rows.
static inline double independence(const Jump* jump, int m, double rows[][JUMP_MOST]) {
  double unit[JUMP_MOST][JUMP_MOST], least = 1.0;
  for (int i = 0; i < m; i++) {
    memcpy(unit[i], rows[i], sizeof *unit);
    double length = sqrt(metric(jump, unit[i], unit[i]));
    for (int k = 0; k < i; k++) {
      double along = metric(jump, unit[k], unit[i]);
      for (int j = 0; j < jump->n; j++) {
        unit[i][j] -= along * unit[k][j];
      }
    }
    double left = sqrt(metric(jump, unit[i], unit[i]));
    for (int j = 0; j < jump->n; j++) {
      unit[i][j] /= left;
    }
    least = fmin(least, left / length);
  }
  return least;
}

// Rows that nearly depend on each other, which amplify rounding under any law, are drawn anew.
static inline void jump_random_rows(const Jump* jump, int m, double rows[][JUMP_MOST]) {
  do {
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < jump->n; j++) {
        rows[i][j] = jump_random() * sqrt(jump->M[j][j]);
      }
    }
  } while (m <= jump->n && independence(jump, m, rows) < 0.1);
}

// n velocities, the first `before` and `after` rows active, v- on the rows before, at rest rates.
static inline Jump jump_random_system(int n, int before, int after) {
  Jump jump = {.n = n, .rows = before > after ? before : after};
  jump_random_mass(&jump);
  jump_random_rows(&jump, before, jump.before);
  jump_random_rows(&jump, after, jump.after);
  for (int i = 0; i < jump.rows; i++) {
    jump.active_before[i] = i < before;
    jump.active_after[i] = i < after;
  }
  for (int j = 0; j < n; j++) {
    jump.v_minus[j] = jump_random() / sqrt(jump.M[j][j]);
  }
  jump_meet_before(&jump);
  return jump;
}

// ---- the solver ---------------------------------------------------------------------------------
typedef struct JumpPattern {
  int start[JUMP_MOST + 1], index[JUMP_MOST * JUMP_MOST];
  PawlPattern pattern;
} JumpPattern;

static inline void full_pattern(int rows, int cols, JumpPattern* p) {
  for (int j = 0; j <= cols; j++) {
    p->start[j] = j * rows;
  }
  for (int k = 0; k < rows * cols; k++) {
    p->index[k] = k % rows;
  }
  p->pattern = (PawlPattern){rows, cols, p->start, p->index};
}

static inline void by_columns(int rows, int cols, double A[][JUMP_MOST], double* values) {
  for (int j = 0; j < cols; j++) {
    for (int i = 0; i < rows; i++) {
      values[j * rows + i] = A[i][j];
    }
  }
}

// A solver holding the matrices of the jump, its directions made; the caller destroys it.
static inline PawlStatus jump_prepare(Jump* jump, PawlImpactLaw law, PawlImpact** impact) {
  static double values[JUMP_MOST * JUMP_MOST];
  JumpPattern H, G;
  full_pattern(jump->n, jump->n, &H);
  full_pattern(jump->rows, jump->n, &G);
  assert_int_equal(pawl_impact_create(jump->n, jump->rows, impact, NULL), PAWL_OK);
  by_columns(jump->n, jump->n, jump->M, values);
  PawlStatus status = pawl_impact_mass(*impact, &H.pattern, values);
  by_columns(jump->rows, jump->n, jump->before, values);
  status = status ? status : pawl_impact_before(*impact, &G.pattern, values, jump->active_before);
  by_columns(jump->rows, jump->n, jump->after, values);
  status = status ? status : pawl_impact_after(*impact, &G.pattern, values, jump->active_after);
  return status ? status : pawl_impact_directions(*impact, law, &jump->planes);
}

// Solves and fetches B, with zeros in the rows that are not in force.
static inline PawlStatus jump_solve(Jump* jump, PawlImpact* impact, unsigned flips) {
  static const double zeros[JUMP_MOST * JUMP_MOST];
  double values[JUMP_MOST * JUMP_MOST];
  JumpPattern G;
  full_pattern(jump->rows, jump->n, &G);
  memset(jump->Lambda, 0, sizeof jump->Lambda);
  PawlStatus status =
      pawl_impact_solve(impact, flips, jump->v_minus, jump->rate_after, jump->v_plus, jump->Lambda);
  pawl_impact_gradient(impact, flips, &G.pattern, zeros, values);
  for (int j = 0; j < jump->n; j++) {
    for (int i = 0; i < jump->rows; i++) {
      jump->B[i][j] = values[j * jump->rows + i];
    }
  }
  return status;
}

static inline PawlStatus jump_run(Jump* jump, PawlImpactLaw law, unsigned flips) {
  PawlImpact* impact;
  PawlStatus status = jump_prepare(jump, law, &impact);
  status = status ? status : jump_solve(jump, impact, flips);
  pawl_impact_destroy(impact);
  return status;
}

// The defining equations (J1), recomputed: the largest residual relative to the speeds.
static inline double jump_residual(const Jump* jump) {
  double change[JUMP_MOST], scale = speed(jump, jump->v_minus) + speed(jump, jump->v_plus);
  double momentum[JUMP_MOST] = {0}, worst = 0.0;
  for (int i = 0; i < jump->n; i++) {
    change[i] = jump->v_plus[i] - jump->v_minus[i];
  }
  for (int i = 0; i < jump->n; i++) {  // M (v+ - v-) - B^T Lambda
    momentum[i] = dot(jump->n, jump->M[i], change);
    for (int r = 0; r < jump->rows; r++) {
      momentum[i] -= jump->B[r][i] * jump->Lambda[r];
    }
  }
  worst = sqrt(metric(jump, momentum, momentum)) / scale;
  for (int r = 0; r < jump->rows; r++) {  // G v+ + g_t
    if (jump->active_after[r]) {
      double size = sqrt(metric(jump, jump->after[r], jump->after[r]));
      double residual = dot(jump->n, jump->after[r], jump->v_plus) + jump->rate_after[r];
      worst = fmax(worst, fabs(residual) / (size * scale));
    }
  }
  return worst;
}
