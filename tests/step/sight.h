// SPDX-License-Identifier: Apache-2.0
// What a test sees of a system at a point: all quantities as small dense matrices, so that it can
// write down the equations of a method again, and what the generalized-alpha methods keep between
// steps.
#pragma once

#include "step/motion.h"

enum { SIGHT_MOST = 18 };  // coordinates and rows of the models looked at

// A point on a circle that breathes; mass, friction and a turning force depend on place and rates.
static const char BREATHING[] =
    "model: breathing\n"
    "coordinates: {x: {start: 1, rate: 0.6}, y: {rate: 1}}\n"
    "kinetic: (1.5 + 0.5*cos(y))/2*x'^2 + 0.5*y'^2 + 0.3*x*x'*y'\n"
    "potential: 3*y^2\n"
    "dissipation: 0.1*x'^2\n"
    "forces: {x: -0.4*y', y: 0.4*x'}\n"
    "constraints: {circle: x^2 + y^2 = (1 + 0.2*sin(3*t))^2}\n";

typedef struct Sight {
  int n, rows;
  double M[SIGHT_MOST][SIGHT_MOST], G[SIGHT_MOST][SIGHT_MOST];
  double f[SIGHT_MOST], g[SIGHT_MOST], g_t[SIGHT_MOST], gamma[SIGHT_MOST];
  bool contact[SIGHT_MOST];
  bool active[SIGHT_MOST];  // bilateral, and used in these modes
} Sight;

static inline PawlEval* sight_eval(Motion* m) {
  PawlEval* eval;
  NEED(pawl_eval_create(m->system, PAWL_EVERYTHING & ~(unsigned)(PAWL_OUTPUTS | PAWL_SWITCHING),
                        &eval, &m->err),
       &m->err);
  return eval;
}

// A row that its mode does not use has no gradient.
static inline void sight_rows(const Motion* m, Sight* s) {
  for (int i = 0; i < s->rows; i++) {
    s->contact[i] = pawl_system_row_kind(m->system, i) == PAWL_ROW_CONTACT;
    s->active[i] = !s->contact[i] && largest_of(s->n, s->G[i]) > 0.0;
  }
}

static inline Sight sight_at(Motion* m, PawlEval* eval, const PawlPoint* point) {
  Sight s = {.n = m->n.v, .rows = m->n.rows};
  PawlPattern H = pawl_system_pattern_H(m->system), G = pawl_system_pattern_G(m->system);
  assert_true(s.n <= SIGHT_MOST && s.rows <= SIGHT_MOST);
  NEED(pawl_eval_run(eval, point, &m->err), &m->err);
  const PawlValues* x = pawl_eval_values(eval);
  for (int j = 0; j < s.n; j++) {
    for (int k = H.start[j]; k < H.start[j + 1]; k++) {
      s.M[H.index[k]][j] = x->M[k];
    }
    for (int k = G.start[j]; k < G.start[j + 1]; k++) {
      s.G[G.index[k]][j] = x->G[k];
    }
  }
  memcpy(s.f, x->f, (size_t)s.n * sizeof(double));
  memcpy(s.g, x->g, (size_t)s.rows * sizeof(double));
  memcpy(s.g_t, x->g_t, (size_t)s.rows * sizeof(double));
  memcpy(s.gamma, x->gamma, (size_t)s.rows * sizeof(double));
  sight_rows(m, &s);
  return s;
}

static inline PawlPoint state_point(const PawlState* state) {
  return (PawlPoint){state->t,      state->q,     state->v,   state->a,
                     state->lambda, state->modes, state->held};
}

static inline Sight sight_of_state(Motion* m, PawlEval* eval) {
  PawlPoint point = state_point(m->state);
  return sight_at(m, eval, &point);
}

static inline double dot(int n, const double* x, const double* y) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    sum += x[i] * y[i];
  }
  return sum;
}

// G v + g_t of a row.
static inline double row_rate(const Sight* s, int row, const double* v) {
  return dot(s->n, s->G[row], v) + s->g_t[row];
}

// G v' + gamma of a row.
static inline double row_acceleration(const Sight* s, int row, const double* vdot) {
  return dot(s->n, s->G[row], vdot) + s->gamma[row];
}

// The largest violation at each level over the rows in force.
static inline double level_residual(const Sight* s, const double* v, const double* vdot,
                                    int level) {
  double most = 0.0;
  for (int i = 0; i < s->rows; i++) {
    double c = level == 0 ? s->g[i] : level == 1 ? row_rate(s, i, v) : row_acceleration(s, i, vdot);
    most = fmax(most, s->active[i] ? fabs(c) : 0.0);
  }
  return most;
}

// M v' = f + G^T lambda to a fraction of its terms.
static inline void check_dynamics(const Sight* s, const double* vdot, const double* lambda,
                                  double fraction) {
  for (int i = 0; i < s->n; i++) {
    double left = dot(s->n, s->M[i], vdot), right = s->f[i], size = fabs(s->f[i]);
    for (int row = 0; row < s->rows; row++) {
      right += s->G[row][i] * lambda[row];
      size += fabs(s->G[row][i] * lambda[row]);
    }
    for (int j = 0; j < s->n; j++) {
      size += fabs(s->M[i][j] * vdot[j]);
    }
    CHECK_NEAR(left, right, fraction * (size + 1.0));
  }
}

// Solves A x = b in place by elimination with pivots; n <= 2 SIGHT_MOST.
static inline void solve_dense(int n, double (*A)[2 * SIGHT_MOST], double* b) {
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++) {
      p = fabs(A[i][k]) > fabs(A[p][k]) ? i : p;
    }
    for (int j = 0; j < n; j++) {
      double swap = A[k][j];
      A[k][j] = A[p][j];
      A[p][j] = swap;
    }
    double swap = b[k];
    b[k] = b[p];
    b[p] = swap;
    assert_true(A[k][k] != 0.0);
    for (int i = k + 1; i < n; i++) {
      double factor = A[i][k] / A[k][k];
      for (int j = k; j < n; j++) {
        A[i][j] -= factor * A[k][j];
      }
      b[i] -= factor * b[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) {
      b[k] -= A[k][j] * b[j];
    }
    b[k] /= A[k][k];
  }
}

// The accelerations that a force makes where the rows in `set` hold: M x = force + G^T y, G x = 0.
static inline void accelerate_freely(const Sight* s, const bool* set, const double* force,
                                     double* x) {
  double A[2 * SIGHT_MOST][2 * SIGHT_MOST] = {{0}}, b[2 * SIGHT_MOST] = {0};
  int size = s->n;
  for (int i = 0; i < s->n; i++) {
    memcpy(A[i], s->M[i], (size_t)s->n * sizeof(double));
    b[i] = force[i];
  }
  for (int row = 0; row < s->rows; row++) {
    if (set[row]) {
      for (int j = 0; j < s->n; j++) {
        A[size][j] = A[j][size] = s->G[row][j];
      }
      size++;
    }
  }
  solve_dense(size, A, b);
  memcpy(x, b, (size_t)s->n * sizeof(double));
}

// The part of x that the rows in `set` leave free: M x = G^T y + M free, G free = 0. It is 0
// exactly when M x is a force of these rows.
static inline double free_part(const Sight* s, const bool* set, const double* x) {
  double force[SIGHT_MOST], part[SIGHT_MOST];
  for (int i = 0; i < s->n; i++) {
    force[i] = dot(s->n, s->M[i], x);
  }
  accelerate_freely(s, set, force, part);
  return largest_of(s->n, part);
}

// ---- generalized-alpha --------------------------------------------------------------------------
typedef struct Alpha {
  double m, f, gamma, beta;
} Alpha;

static inline Alpha alpha_of(double rho) {
  Alpha a = {.m = (2 * rho - 1) / (rho + 1), .f = rho / (rho + 1)};  // (A5)
  a.gamma = 0.5 + a.f - a.m;                                         // (A6)
  a.beta = 0.25 * (a.gamma + 0.5) * (a.gamma + 0.5);
  return a;
}

// What a step begins with.
typedef struct Begin {
  double t, q[SIGHT_MOST], v[SIGHT_MOST], vdot[SIGHT_MOST], a[SIGHT_MOST], lambda[SIGHT_MOST];
  int modes[SIGHT_MOST];
} Begin;

static inline Begin begin_of(const Motion* m) {
  Begin b = {.t = m->state->t};
  assert_true(m->n.v <= SIGHT_MOST && m->n.rows <= SIGHT_MOST && m->n.modes <= SIGHT_MOST);
  memcpy(b.q, m->state->q, (size_t)m->n.q * sizeof(double));
  memcpy(b.v, m->state->v, (size_t)m->n.v * sizeof(double));
  memcpy(b.vdot, m->state->a, (size_t)m->n.v * sizeof(double));
  if (m->state->memory_count >= m->n.v) {  // a of the generalized-alpha methods
    memcpy(b.a, m->state->memory, (size_t)m->n.v * sizeof(double));
  }
  memcpy(b.lambda, m->state->lambda, (size_t)m->n.rows * sizeof(double));
  memcpy(b.modes, m->state->modes, (size_t)m->n.modes * sizeof(int));
  return b;
}

// The motion that (A1) and (A2) give from the accelerations at both ends, and whether (A3) holds.
typedef struct Smooth {
  double q[SIGHT_MOST], v[SIGHT_MOST];
} Smooth;

static inline Smooth smooth_from(int n, const Begin* b, const double* vdot, const double* a,
                                 Alpha c, double h) {
  Smooth s = {{0}, {0}};
  double size = largest_of(n, a) + largest_of(n, b->a) + largest_of(n, vdot);
  for (int i = 0; i < n; i++) {
    s.q[i] = b->q[i] + h * b->v[i] + h * h * ((0.5 - c.beta) * b->a[i] + c.beta * a[i]);
    s.v[i] = b->v[i] + h * ((1 - c.gamma) * b->a[i] + c.gamma * a[i]);
    CHECK_NEAR((1 - c.m) * a[i] + c.m * b->a[i], (1 - c.f) * vdot[i] + c.f * b->vdot[i],
               1e-12 * (size + 1.0));
  }
  return s;
}

static inline Smooth smooth_of(const Motion* m, const Begin* b, Alpha c, double h) {
  return smooth_from(m->n.v, b, m->state->a, m->state->memory, c, h);
}

// M x = G^T y, as M U = G^T nu and M W = G^T Lambda, within a size of x.
static inline void check_pushed(const Sight* s, const double* x, const double* y, double size) {
  for (int i = 0; i < s->n; i++) {
    double pushed = 0.0;
    for (int row = 0; row < s->rows; row++) {
      pushed += s->G[row][i] * y[row];
    }
    CHECK_NEAR(pushed, dot(s->n, s->M[i], x), size);
  }
}

// One step of ga-pv, or of ga-pva and nsga-pva without contacts and with the law post. What remains
// of (A1) and (A2) are U and W; M U = G^T nu, M W = G^T Lambda, and for ga-pv W = 0.
static inline void check_coupled_step(Motion* m, PawlEval* eval, bool accelerations, double h) {
  Begin b = begin_of(m);
  motion_step(m, h);
  Smooth s = smooth_of(m, &b, alpha_of(m->def.rho), h);  // (A3)
  double U[SIGHT_MOST], W[SIGHT_MOST];
  for (int i = 0; i < m->n.v; i++) {
    U[i] = m->state->q[i] - s.q[i];
    W[i] = m->state->v[i] - s.v[i];
  }
  Sight x = sight_of_state(m, eval);
  double size_v = largest_of(m->n.v, m->state->v) + 1.0;
  double size_a = largest_of(m->n.v, m->state->a) + 1.0;
  // Newton's method ends at 1e-11 of all terms in the metric of the masses: one balance may be off
  // by more of its own.
  check_dynamics(&x, m->state->a, m->state->lambda, 1e-9);
  CHECK_NEAR(level_residual(&x, m->state->v, m->state->a, 0), 0.0, 1e-10);
  CHECK_NEAR(level_residual(&x, m->state->v, m->state->a, 1), 0.0, 1e-10 * size_v);
  if (accelerations) {
    CHECK_NEAR(level_residual(&x, m->state->v, m->state->a, 2), 0.0, 1e-10 * size_a);
    CHECK_NEAR(free_part(&x, x.active, W), 0.0, 1e-12 * size_v);
  } else {
    CHECK_NEAR(largest_of(m->n.v, W), 0.0, 1e-12 * size_v);
  }
  // of larger systems within the tolerance of all places together                         (N53)
  double least = m->n.v < 16 ? 1e-13 : 1e-10;
  CHECK_NEAR(free_part(&x, x.active, U), 0.0, least);
  if (accelerations) {
    const double* Lambda = m->state->memory + 2 * m->n.v + 2 * m->n.rows + 1;
    check_pushed(&x, W, Lambda, 1e-11 * size_v);
    check_pushed(&x, U, Lambda + m->n.rows, 10.0 * least);
  }
}
