// SPDX-License-Identifier: Apache-2.0
#include "step/arrive.h"

#include <math.h>

#include "switch/tolerances.h"
#include "system/eval_again.h"

typedef struct End {
  PawlStepper* stepper;
  PawlProjection* onto;
  const PawlPhase* phase;
  const PawlKernelsPoint* at;
  PawlState* state;
  double h;
  const double *q, *v;
  double *a, *lambda;
  double *guess_q, *guess_v;  // in the memory of the state; NULL: none
} End;

// to = x + change
PAWL_INLINE void move(int n, const double* x, const double* change, double* to) {
  for (int j = 0; j < n; j++) {
    to[j] = pawl_sized_alone(x[j]) + pawl_sized_alone(change[j]);
  }
}

// v' and lambda at (q, v), moved by the guess. False: not as usual.
PAWL_INLINE bool accelerate(int n, const End* e) {
  const PawlKktDirect* kkt = &e->at->kkt;
  const PawlProjection* p = e->onto;
  const PawlValues* values = &p->place->values;
  const double *q = e->q, *v = e->v;
  if (e->guess_q) {
    move(n, q, e->guess_q, p->x);
    move(n, v, e->guess_v, p->x_v);
    q = p->x;
    v = p->x_v;
  }
  PawlPoint point = pawl_phase_point(e->phase, e->state->t + e->h, q, v, NULL, NULL);
  PawlSources from = pawl_program_sources(e->stepper->system, &point);
  if (pawl_eval_again(p->place, &point, &from) != 0.0 ||
      (kkt->factor && !kkt->factor(kkt->values, kkt->table, values->M, values->G, values->G))) {
    return false;
  }
  if (e->at->still) {
    return true;
  }
  pawl_kernels_copy(n, values->f, e->a);
  pawl_kernels_bias(e->stepper->sizes.rows, e->phase->active, values->gamma, e->lambda);
  kkt->solve(kkt->values, kkt->table, e->a, e->lambda);
  return true;
}

// What positions and rates are off, as right sides.                               (E10) (E12) (E14)
PAWL_INLINE void take_rows(const End* e) {
  const PawlProjection* p = e->onto;
  const PawlSystem* system = e->stepper->system;
  const PawlSparseLine* by_G = &e->stepper->dynamics.by_G;
  const PawlValues* values = &p->place->values;
  int rows = e->stepper->sizes.rows;
  for (int i = 0; i < rows; i++) {
    p->r[i] = values->g[i];
    p->r_v[i] = values->g_t[i];
  }
  pawl_sparse_line_add(by_G, values->G, 1.0, e->v, p->r_v);
  if (e->guess_q) {
    pawl_sparse_line_add(by_G, values->G, -1.0, e->guess_q, p->r);
  }
  for (int i = 0; i < rows; i++) {
    bool binds = pawl_phase_binds(e->phase, i);
    bool rate = system->rates && pawl_system_row_is_rate(system, i, e->phase->modes);
    p->r[i] = binds && !rate ? -p->r[i] : 0.0;
    p->r_v[i] = binds ? -p->r_v[i] : 0.0;
  }
}

PAWL_INLINE bool is_next_to_nothing(int n, const End* e) {  // (E13)
  const PawlProjection* p = e->onto;
  const double* M = p->place->values.M;
  double h = e->stepper->def.step, change_q = 0.0, change_v = 0.0, speed = 0.0;
  for (int j = 0; j < n; j++) {
    double mass = p->diagonal[j] >= 0 ? M[p->diagonal[j]] : 0.0;
    double rate = fabs(e->v[j]) + h * fabs(e->a[j]);
    double dq = e->guess_q ? p->x[j] - e->guess_q[j] : p->x[j];
    double dv = e->guess_q ? p->x_v[j] - e->guess_v[j] : p->x_v[j];
    change_q += mass * dq * dq;
    change_v += mass * dv * dv;
    speed += mass * rate * rate;
  }
  return change_q + h * h * change_v <= PAWL_AT_ONCE * PAWL_AT_ONCE * h * h * speed;
}

PAWL_INLINE PawlArrived arrive(int n, const End* e) {
  const PawlProjection* p = e->onto;
  const PawlKktDirect* kkt = &e->at->kkt;
  PawlState* state = e->state;
  if (!accelerate(n, e)) {
    return PAWL_ARRIVED_NOT;
  }
  take_rows(e);
  kkt->solve_rows(kkt->values, kkt->table, p->x, p->r);
  kkt->solve_rows(kkt->values, kkt->table, p->x_v, p->r_v);
  if (!is_next_to_nothing(n, e)) {
    return PAWL_ARRIVED_OFF;
  }
  move(n, e->q, p->x, state->q);
  move(n, e->v, p->x_v, state->v);
  pawl_kernels_copy(n, e->a, state->a);
  for (int i = 0; i < e->stepper->sizes.rows; i++) {
    state->lambda[i] = e->lambda[i];
  }
  if (e->guess_q) {
    pawl_kernels_copy(n, p->x, e->guess_q);
    pawl_kernels_copy(n, p->x_v, e->guess_v);
  }
  state->t += e->h;
  return PAWL_ARRIVED;
}

PawlArrived pawl_arrive(PawlStepper* s, PawlForms* forms, const PawlPhase* phase,
                        const PawlKernelsPoint* at, PawlState* state, double h, const double* q,
                        const double* v, double* a, double* lambda) {
  double apart = state->memory[0];
  if (apart > 0.0 || !pawl_eval_settle(forms->onto.place, phase->modes)) {
    return PAWL_ARRIVED_NOT;
  }
  PawlArrived arrived;
  End end = {s, &forms->onto, phase, at, state, h, q, v, a, lambda, NULL, NULL};
  if (apart < 0.0 && forms->change && h == s->def.step) {
    end.guess_q = state->memory + s->sizes.rows;
    end.guess_v = end.guess_q + s->sizes.v;
  }
#define ARRIVE(n) arrived = arrive(n, &end)
  PAWL_SIZED(s->sizes.v, ARRIVE)
#undef ARRIVE
  return arrived;
}
