// SPDX-License-Identifier: Apache-2.0
#include "step/loop_piece.h"

#include <string.h>

#include "step/works.h"
#include "switch/tolerances.h"
#include "system/system.h"

// Implicit methods divide by the square of a step: a tiny one turns the rounding of positions into
// accelerations. What is left out here is far below their own error.                        (V12)
//   q + h v + h^2/2 v',   v + h v',   then v' and lambda anew
void pawl_piece_shift(PawlStepper* s, PawlState* state, double h) {
  double* move = s->loop->move;
  for (int j = 0; j < s->sizes.v; j++) {
    move[j] = h * (state->v[j] + 0.5 * h * state->a[j]);
  }
  pawl_system_retract(s->system, state->q, move, state->q);
  for (int j = 0; j < s->sizes.v; j++) {
    state->v[j] += h * state->a[j];
  }
  state->t += h;
}

PawlStatus pawl_piece_accelerate(PawlStepper* s, PawlState* state, PawlError* err) {
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, false);
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, &phase, state, &values, err));
  return pawl_dynamics_accelerate(&s->dynamics, &phase, values, state->t, state->q, state->v,
                                  state->a, state->lambda, err);
}

static PawlStatus hop(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, false);
  pawl_piece_shift(s, state, h);
  PAWL_TRY(pawl_piece_accelerate(s, state, err));
  return s->method->start(s, &phase, state, err);
}

// A step of Runge's and Kutta's method of order 4, for one that starts at order 1 where forces grow
// without bound.                                                                            (F36)
static PawlStatus near_jam(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  static const double AT[4] = {0.0, 0.5, 0.5, 1.0}, WEIGHT[4] = {1.0, 2.0, 2.0, 1.0}, ALL = 6.0;
  int n = s->sizes.v;
  double *move = s->loop->move, *q = s->loop->kutta, *v = q + s->sizes.q, *dq = v + n, *dv = dq + n;
  double t = state->t;
  PawlPhase phase = pawl_phase_of(state, false);
  memcpy(q, state->q, (size_t)s->sizes.q * sizeof(double));
  memcpy(v, state->v, (size_t)n * sizeof(double));
  memset(dq, 0, 2 * (size_t)n * sizeof(double));
  for (int k = 0; k < 4; k++) {
    for (int j = 0; j < n; j++) {
      move[j] = AT[k] * h * state->v[j];
      state->v[j] = v[j] + AT[k] * h * state->a[j];
    }
    pawl_system_retract(s->system, q, move, state->q);
    state->t = t + AT[k] * h;
    PAWL_TRY(pawl_piece_accelerate(s, state, err));
    for (int j = 0; j < n; j++) {
      dq[j] += WEIGHT[k] * h / ALL * state->v[j];
      dv[j] += WEIGHT[k] * h / ALL * state->a[j];
    }
  }
  pawl_system_retract(s->system, q, dq, state->q);
  for (int j = 0; j < n; j++) {
    state->v[j] = v[j] + dv[j];
  }
  state->t = t + h;
  PAWL_TRY(pawl_piece_accelerate(s, state, err));
  return s->method->start(s, &phase, state, err);
}

bool pawl_piece_is_tiny(const PawlStepper* s, double h) {
  return h < PAWL_TINY_PIECE * s->def.step && !s->method->exact && s->contact_count == 0;
}

// The multipliers that the method shows at a state.
static void forces_of(PawlStepper* s, PawlState* state, double* lambda) {
  if (s->method->multipliers) {
    s->method->multipliers(s, state, lambda);
  } else {
    memcpy(lambda, state->lambda, (size_t)s->sizes.rows * sizeof(double));
  }
}

static void note_before(PawlStepper* s, PawlState* state) {
  PawlTouch* touch = &s->loop->guards.touch;
  forces_of(s, state, touch->lambda);
  for (int i = touch->first; i < touch->end; i++) {
    touch->pressed[i] = touch->lambda[i] > 0.0;
  }
}

// What a step has done to the contacts; `first` is the first instant that it has logged.
static void note_contacts(PawlStepper* s, PawlState* state, int first) {
  PawlTouch* touch = &s->loop->guards.touch;
  memset(touch->hit, 0, (size_t)s->sizes.rows);
  for (int k = first; k < s->log.count; k++) {
    if (s->log.instants[k]->contact >= 0 && !s->log.instants[k]->seen) {
      touch->hit[s->log.instants[k]->contact] = 1;
    }
  }
  for (int i = touch->first; i < touch->end; i++) {
    touch->closed[i] = s->method->closes ? s->method->closes(s, i) : touch->hit[i];
  }
  forces_of(s, state, touch->lambda);
  touch->fresh = true;
}

static PawlStatus step_plainly(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlLoop* l = s->loop;
  PawlPhase phase = pawl_phase_of(state, false);
  PawlSides* seen = l->kinks.located ? pawl_kinks_watch(&l->kinks, l->mark) : NULL;
  if (l->switches && !l->event_driven) {
    return pawl_regions_step(s, &l->regions, state, h, err);
  }
  if (l->guards.turning.slow) {
    return pawl_slow_step(s, l->slow, state, h, l->guards.turning.reach, err);
  }
  if (pawl_piece_is_tiny(s, h)) {
    return hop(s, state, h, err);
  }
  if (s->method->low && s->dynamics.jams) {
    return near_jam(s, state, h, err);
  }
  s->seen = seen;
  PawlStatus status = s->method->step(s, &phase, state, h, err);
  s->seen = NULL;
  return status;
}

PawlStatus pawl_piece_step(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  int first = s->log.count;
  bool watches = s->contact_count > 0 && s->loop->guards.condition_count > 0;
  if (watches) {
    note_before(s, state);
  }
  PAWL_TRY(s->works ? pawl_works_begin(s, state, err) : PAWL_OK);
  PAWL_TRY(step_plainly(s, state, h, err));
  PAWL_TRY(s->works ? pawl_works_end(s, state, err) : PAWL_OK);
  if (watches) {
    note_contacts(s, state, first);
  }
  return PAWL_OK;
}
