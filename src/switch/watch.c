// SPDX-License-Identifier: Apache-2.0
#include "switch/watch.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/tolerances.h"
#include "system/system.h"

PawlStatus pawl_watch_make_problem(PawlWatching* w, PawlError* err) {
  if (w->rows.solver) {
    return PAWL_OK;
  }
  PawlDynamics* d = w->dynamics;
  PawlRowProblem* p = &w->rows;
  double** of_rows[] = {&p->lo, &p->hi, &p->weight, &p->b, &p->lambda, &p->w};
  for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
    *of_rows[k] = PAWL_NEW(d->arena, double, d->sizes.rows);
  }
  p->r = PAWL_NEW(d->arena, double, d->sizes.v);
  p->x = PAWL_NEW(d->arena, double, d->sizes.v);
  p->state = PAWL_NEW(d->arena, unsigned char, d->sizes.rows);
  p->conflict = PAWL_NEW(d->arena, unsigned char, d->sizes.rows);
  return d->arena->failed ? pawl_fail_memory(err)
                          : pawl_rows_create(&d->H, &d->G, PAWL_ROWS_AUTO, &p->solver, err);
}

// Whether capacities and frictions, flagged by their places, never change.
static bool are_fixed(const PawlSystem* system, const unsigned char* flags) {
  bool fixed = system->model != NULL;
  for (int g = 0; g < system->group_count; g++) {
    const PawlGroup* group = &system->groups[g];
    for (int k = 0; k < group->entry_count; k++) {
      const PawlEntry* e = &group->entries[k];
      for (int l = 0; e->quantity == PAWL_Q_WATCH && !e->constant && l < group->lanes; l++) {
        fixed = fixed && !flags[e->dest[l]];
      }
    }
  }
  return fixed;
}

PawlStatus pawl_watch_create(PawlDynamics* d, PawlWatching* w, PawlError* err) {
  const PawlSystem* system = d->system;
  *w = (PawlWatching){.dynamics = d,
                      .joints = PAWL_NEW(d->arena, int, system->constraint_count),
                      .lambda = PAWL_NEW(d->arena, double, d->sizes.rows),
                      .closed = PAWL_NEW(d->arena, unsigned char, d->sizes.rows)};
  unsigned char* flags = PAWL_NEW(d->arena, unsigned char, system->watch_count);
  if (d->arena->failed) {
    return pawl_fail_memory(err);
  }
  for (int c = 0; c < system->constraint_count; c++) {
    if (system->constraints[c].triggered && system->watches[c].capacity >= 0) {
      assert(system->constraints[c].row_count == 1);
      w->joints[w->joint_count++] = c;
      flags[system->watches[c].capacity] = flags[system->watches[c].friction] = 1;
    }
  }
  w->fixed = are_fixed(system, flags);
  PAWL_TRY(w->joint_count > 0 ? pawl_watch_make_problem(w, err) : PAWL_OK);
  PAWL_TRY(pawl_eval_create(system, PAWL_WATCHES, &w->eval, err));
  return pawl_eval_create(system, PAWL_WATCHES, &w->aside, err);
}

void pawl_watch_destroy(PawlWatching* w) {
  pawl_eval_destroy(w->eval);
  pawl_eval_destroy(w->aside);
  pawl_rows_destroy(w->rows.solver);
}

PawlStatus pawl_watch_look(PawlWatching* w, const PawlPhase* phase, const PawlState* state,
                           const double* v, const double* a, const double* lambda,
                           const double** watch, PawlError* err) {
  PawlPoint point = pawl_phase_point(phase, state->t, state->q, v, a, lambda);
  *watch = pawl_eval_values(w->eval)->watch;
  return pawl_eval_run(w->eval, &point, err);
}

PawlStatus pawl_watch_look_aside(const PawlWatching* w, const PawlState* state,
                                 const double* lambda, const double** watch, PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, false);
  PawlPoint point = pawl_phase_point(&phase, state->t, state->q, state->v, state->a, lambda);
  *watch = pawl_eval_values(w->aside)->watch;
  return pawl_eval_run(w->aside, &point, err);
}

static int bad_capacity(const PawlWatching* w, const PawlState* state, const double* watch) {
  for (int k = 0; k < w->joint_count; k++) {
    int c = w->joints[k];
    const PawlWatch* at = &w->dynamics->system->watches[c];
    double capacity = watch[at->capacity], friction = watch[at->friction];
    bool holds = state->modes[c] == PAWL_MODE_HELD, slides = state->modes[c] >= PAWL_MODE_UP;
    if ((holds && !(capacity >= 0.0)) || (slides && !(capacity >= 0.0 && friction >= 0.0 &&
                                                      friction <= capacity * (1 + PAWL_NO_SIDE)))) {
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
  assert(part >= 0.0 && part <= 1.0);
  return capacity * (1 + part * PAWL_CAPACITY_SLACK);
}

// ---- the problem of the rows --------------------------------------------------------------------
void pawl_watch_bounds(PawlWatching* w, const PawlPhase* phase, const double* watch, double part,
                       bool bounded) {
  const PawlSystem* system = w->dynamics->system;
  PawlRowProblem* p = &w->rows;
  assert(p->solver && (watch || w->joint_count == 0));
  for (int i = 0; i < w->dynamics->sizes.rows; i++) {
    pawl_row_bounds((PawlRowOf)phase->in_force[i], INFINITY, &p->lo[i], &p->hi[i]);
    p->weight[i] = w->joint_count > 0 ? INFINITY : 1.0;
  }
  for (int k = 0; k < w->joint_count; k++) {
    int c = w->joints[k], row = system->constraints[c].first_row;
    double capacity = fmax(watch[system->watches[c].capacity], 0.0);
    if (phase->in_force[row] == PAWL_ROW_OF_JOINT && bounded) {
      pawl_row_bounds(PAWL_ROW_OF_JOINT, pawl_watch_bound(capacity, part), &p->lo[row],
                      &p->hi[row]);
    }
    p->weight[row] = fmax(sqrt(capacity), PAWL_LEAST_WEIGHT);
  }
}

#ifndef NDEBUG
static bool are_bounds(const PawlWatching* w) {
  bool are = true;
  for (int i = 0; i < w->dynamics->sizes.rows; i++) {
    are = are && w->rows.lo[i] <= w->rows.hi[i] && w->rows.weight[i] > 0.0;
  }
  return are;
}
#endif

PawlStatus pawl_watch_solve(PawlWatching* w, const PawlValues* values, PawlRowsResult* result,
                            PawlError* err) {
  PawlRowProblem* p = &w->rows;
  PawlRowBounds bounds = {.lo = p->lo, .hi = p->hi, .weight = p->weight};
  assert(p->solver && are_bounds(w));
  *result =
      (PawlRowsResult){.lambda = p->lambda, .w = p->w, .state = p->state, .conflict = p->conflict};
  memset(p->state, 0, (size_t)w->dynamics->sizes.rows);
  w->dynamics->info.factorizations++;
  PawlStatus status = pawl_rows_matrices(p->solver, values->M, values->G, values->G);
  status = status ? status : pawl_rows_solve(p->solver, p->r, p->b, &bounds, p->x, result);
  return status == PAWL_ERROR_MEMORY ? pawl_fail_memory(err) : status;
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
      PAWL_TRY(pawl_watch_look_aside(w, state, state->lambda, &watch, err));
    }
    double force = watch[system->watches[c].friction];
    lambda[system->constraints[c].first_row] = state->modes[c] == PAWL_MODE_UP ? -force : force;
  }
  PawlSlip* slip = w->dynamics->slip;
  if (slip && pawl_slip_any(slip, &phase)) {
    PAWL_TRY(pawl_slip_look(slip, &phase, state->t, state->q, state->v, err));
    pawl_slip_forces(slip, &phase, lambda);
  }
  return PAWL_OK;
}
