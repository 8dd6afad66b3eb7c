// SPDX-License-Identifier: Apache-2.0
#include "switch/watch.h"

#include "model/model.h"
#include "switch/tolerances.h"
#include "system/system.h"

PawlStatus pawl_watch_create(PawlDynamics* d, PawlWatching* w, PawlError* err) {
  const PawlSystem* system = d->system;
  *w = (PawlWatching){.dynamics = d,
                      .joints = PAWL_NEW(d->arena, int, system->constraint_count),
                      .resting = PAWL_NEW(d->arena, unsigned char, system->constraint_count),
                      .lambda = PAWL_NEW(d->arena, double, d->sizes.rows)};
  if (d->arena->failed) {
    return pawl_fail_memory(err);
  }
  for (int c = 0; c < system->constraint_count; c++) {
    if (system->constraints[c].triggered && system->watches[c].capacity >= 0) {
      w->joints[w->joint_count++] = c;
    }
  }
  return pawl_eval_create(system, PAWL_WATCHES, &w->eval, err);
}

void pawl_watch_destroy(PawlWatching* w) {
  pawl_eval_destroy(w->eval);
}

PawlStatus pawl_watch_look(PawlWatching* w, const PawlPhase* phase, const PawlState* state,
                           const double* v, const double* a, const double* lambda,
                           const double** watch, PawlError* err) {
  PawlPoint point = pawl_phase_point(phase, state->t, state->q, v, a, lambda);
  *watch = pawl_eval_values(w->eval)->watch;
  return pawl_eval_run(w->eval, &point, err);
}

static int bad_capacity(const PawlWatching* w, const PawlState* state, const double* watch) {
  for (int k = 0; k < w->joint_count; k++) {
    int c = w->joints[k];
    const PawlWatch* at = &w->dynamics->system->watches[c];
    double capacity = watch[at->capacity], friction = watch[at->friction];
    bool holds = state->modes[c] == PAWL_MODE_HELD, slides = state->modes[c] >= PAWL_MODE_UP;
    if (((holds || slides) && !(capacity >= 0.0)) ||
        (slides && !(friction >= 0.0 && friction <= capacity * (1 + PAWL_NO_SIDE)))) {
      return c;
    }
  }
  return -1;
}

bool pawl_watch_capacities_good(const PawlWatching* w, const PawlState* state,
                                const double* watch) {
  return bad_capacity(w, state, watch) < 0;
}

PawlStatus pawl_watch_check_capacities(const PawlWatching* w, const PawlState* state,
                                       const double* watch, PawlError* err) {
  const PawlSystem* system = w->dynamics->system;
  int c = bad_capacity(w, state, watch);
  return c < 0 ? PAWL_OK
               : pawl_fail(err, PAWL_ERROR_RUN,
                           "t = %.10g: '%s': friction %.6g and capacity %.6g, must be 0 <= "
                           "friction <= capacity",
                           state->t, system->constraints[c].name,
                           watch[system->watches[c].friction], watch[system->watches[c].capacity]);
}

double pawl_watch_bound(double capacity, double part) {
  return capacity * (1 + part * PAWL_CAPACITY_SLACK);
}

PawlStatus pawl_watch_friction(PawlWatching* w, const PawlState* state, double* lambda,
                               PawlError* err) {
  const PawlSystem* system = w->dynamics->system;
  PawlPhase phase = pawl_phase_of(state, false);
  const double* watch = NULL;
  for (int k = 0; k < w->joint_count; k++) {
    int c = w->joints[k];
    if (state->modes[c] < PAWL_MODE_UP) {
      continue;
    }
    if (!watch) {
      PAWL_TRY(pawl_watch_look(w, &phase, state, state->v, state->a, state->lambda, &watch, err));
    }
    double force = watch[system->watches[c].friction];
    lambda[system->constraints[c].first_row] = state->modes[c] == PAWL_MODE_UP ? -force : force;
  }
  return PAWL_OK;
}
