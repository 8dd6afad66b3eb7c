// SPDX-License-Identifier: Apache-2.0
// The jump at an instant, recomputed from the mass matrix and the gradients at its place: momentum
// balance, rows at rest afterwards, no impulse from rows that are not in force, energy.
#pragma once

#include "step/motion.h"

typedef struct Balance {
  PawlEval* eval;
  PawlPattern H, G;
  double *r, *size;  // v: residual and the size of its terms
  double* rate;      // rows
  int jumps;         // instants checked so far
  double worst;      // largest relative residual of them
} Balance;

static inline Balance balance_create(const Motion* m) {
  Balance b = {.H = pawl_system_pattern_H(m->system), .G = pawl_system_pattern_G(m->system)};
  PawlError err = {0};
  unsigned mask = PAWL_MASS | PAWL_GRADIENT | PAWL_TIME_GRADIENT;
  NEED(pawl_eval_create(m->system, mask, &b.eval, &err), &err);
  b.r = calloc((size_t)m->n.v + 1, sizeof(double));
  b.size = calloc((size_t)m->n.v + 1, sizeof(double));
  b.rate = calloc((size_t)m->n.rows + 1, sizeof(double));
  assert_true(b.r && b.size && b.rate);
  return b;
}

static inline void balance_destroy(Balance* b) {
  pawl_eval_destroy(b->eval);
  free(b->r);
  free(b->size);
  free(b->rate);
}

// r = M dv - G^T Lambda, rate = G v+ + g_t; the energy that the jump takes, v- to v+ (returned).
static inline double balance_residuals(Balance* b, const PawlInstant* e, const PawlValues* x) {
  double lost = 0.0;
  for (int j = 0; j < b->H.cols; j++) {
    b->r[j] = b->size[j] = 0.0;
  }
  for (int i = 0; i < b->G.rows; i++) {
    b->rate[i] = x->g_t[i];
  }
  for (int j = 0; j < b->H.cols; j++) {
    double dv = e->v_after[j] - e->v_before[j];
    for (int k = b->H.start[j]; k < b->H.start[j + 1]; k++) {
      int i = b->H.index[k];
      b->r[i] += x->M[k] * dv;
      b->size[i] += fabs(x->M[k]) * (fabs(e->v_after[j]) + fabs(e->v_before[j]));
      lost += 0.5 * x->M[k] * (e->v_before[i] * e->v_before[j] - e->v_after[i] * e->v_after[j]);
    }
    for (int k = b->G.start[j]; k < b->G.start[j + 1]; k++) {
      b->r[j] -= x->G[k] * e->impulse[b->G.index[k]];
      b->size[j] += fabs(x->G[k] * e->impulse[b->G.index[k]]);
      b->rate[b->G.index[k]] += x->G[k] * e->v_after[j];
    }
  }
  return lost;
}

// All of it to a relative `tolerance`. Rows that are not in force have no gradient in the new
// modes.
static inline void balance_check(Balance* b, const Motion* m, const PawlInstant* e,
                                 double tolerance) {
  PawlError err = {0};
  double fastest = fmax(largest_of(m->n.v, e->v_before), largest_of(m->n.v, e->v_after));
  PawlPoint point = {e->t, e->q, e->v_after, NULL, NULL, e->to, NULL};
  NEED(pawl_eval_run(b->eval, &point, &err), &err);
  double lost = balance_residuals(b, e, pawl_eval_values(b->eval));
  double size = largest_of(m->n.v, b->size) + 1e-300;
  double worst = largest_of(m->n.v, b->r) / size;
  CHECK_NEAR(worst, 0, tolerance);
  CHECK_NEAR(largest_of(m->n.rows, b->rate) / (fastest + 1e-300), 0, tolerance);
  CHECK_NEAR(e->energy_lost, lost, tolerance * size * fastest + 1e-300);
  b->worst = fmax(b->worst, worst);
  b->jumps++;
}

// One step, and the balance of every instant in it at which constraints switched.
static inline void balance_step(Balance* b, Motion* m, double h, double tolerance) {
  motion_step(m, h);
  for (int k = 0; k < pawl_stepper_instants(m->stepper); k++) {
    const PawlInstant* e = pawl_stepper_instant(m->stepper, k);
    if (e->contact < 0 && e->event < 0 && e->refused < 0) {
      balance_check(b, m, e, tolerance);
    }
  }
}
