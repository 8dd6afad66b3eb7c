// SPDX-License-Identifier: Apache-2.0
#include "switch/closed.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "model/model.h"
#include "switch/grip.h"
#include "switch/pace.h"
#include "switch/tolerances.h"
#include "system/system.h"

// Gaps and rates of all rows, each beside the sizes of its terms, in the room of the dynamics.
typedef struct Sizes {
  double *gap, *rate, *reach;  // rows: of the terms of a gap; the rate; what the motion can make it
} Sizes;

static Sizes measure(const PawlDynamics* d, const PawlState* state, const PawlValues* values) {
  size_t rows = (size_t)d->sizes.rows;
  Sizes s = {d->room, d->room + rows, d->room + 2 * rows};
  pawl_dynamics_row_sizes(d, values->G, state->q, s.gap);
  pawl_dynamics_rows(d, values->G, state->v, values->g_t, s.rate);
  pawl_pace_rows(d, state, NULL, values, (PawlPace){1.0, d->def->step}, s.reach);
  return s;
}

// A contact of which the phase does not know whether it is closed: without a gap, and at rest.
static bool is_closed(const PawlDynamics* d, const PawlState* state, const PawlValues* values,
                      const Sizes* s, int row) {
  return pawl_system_row_kind(d->system, row) == PAWL_ROW_CONTACT && !state->in_force[row] &&
         values->g[row] <= PAWL_CONTACT_CLOSED * fmax(s->gap[row], PAWL_SMALLEST_SIZE) &&
         fabs(s->rate[row]) <= PAWL_REST * s->reach[row];
}

bool pawl_closed_any(const PawlDynamics* d, const PawlState* state, const PawlValues* values) {
  if (!d->contacts) {
    return false;
  }
  Sizes s = measure(d, state, values);
  bool any = false;
  for (int i = 0; i < d->sizes.rows && !any; i++) {
    any = is_closed(d, state, values, &s, i);
  }
  return any;
}

// ---- friction -----------------------------------------------------------------------------------
enum { MOST_ROWS = 96 };  // of closed contacts and their friction: a dense problem

PawlStatus pawl_closed_create(PawlWatching* w, PawlError* err) {
  PawlDynamics* d = w->dynamics;
  PawlSlip* slip = NULL;
  if (!d->contacts || w->rubbing) {
    return PAWL_OK;
  }
  PawlStatus status = pawl_slip_create(d->arena, d->system, true, &slip, err);
  status = status ? status : pawl_grip_create(w, slip, &w->rubbing, err);
  if (!w->rubbing) {
    pawl_slip_destroy(slip);
  }
  return status;
}

void pawl_closed_destroy(PawlWatching* w) {
  if (w->rubbing) {
    pawl_slip_destroy(w->rubbing->slip);
    pawl_grip_destroy(w->rubbing);
  }
}

// Too many of them are left out, which is told once.
static PawlStatus leave_out(PawlWatching* w, double t, PawlError* err) {
  PawlText line = {0};
  if (w->left_out) {
    return PAWL_OK;
  }
  pawl_text_printf(&line,
                   "t = %.6g: more contacts with friction are closed than are solved for at an "
                   "instant (%d rows): conditions with accelerations or multipliers see none of "
                   "their friction",
                   t, (int)MOST_ROWS);
  PawlStatus status = line.s ? pawl_dynamics_warn(w->dynamics, line.s) : PAWL_ERROR_MEMORY;
  pawl_text_free(&line);
  w->left_out = true;
  return status == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
}

void pawl_closed_bound(const PawlDynamics* d, const PawlState* state, const PawlValues* values,
                       PawlRowProblem* rows, bool* rubs) {
  Sizes s = measure(d, state, values);
  *rubs = false;
  for (int i = 0; i < d->sizes.rows; i++) {
    if (is_closed(d, state, values, &s, i)) {
      rows->lo[i] = 0.0;
      rows->hi[i] = INFINITY;
      *rubs |= pawl_system_friction(d->system, i).count > 0;
    }
  }
}

// Which closed contacts rest and which slide, by the rates of their slips at the state. *few:
// they are not too many.
static PawlStatus look_at_slips(PawlWatching* w, const PawlState* state, const PawlValues* values,
                                bool* few, PawlError* err) {
  const PawlDynamics* d = w->dynamics;
  Sizes s = measure(d, state, values);
  int rows = 0;
  for (int i = 0; i < d->sizes.rows; i++) {
    w->closed[i] = is_closed(d, state, values, &s, i);
    rows += w->closed[i] ? 1 + pawl_system_friction(d->system, i).count : 0;
    s.reach[i] *= PAWL_REST;
  }
  *few = rows <= MOST_ROWS;
  return *few ? pawl_grip_look(w->rubbing, state, w->closed, s.reach, err)
              : leave_out(w, state->t, err);
}

PawlStatus pawl_closed_solve(PawlWatching* w, const PawlState* state, const PawlValues* values,
                             bool* found, PawlError* err) {
  const PawlGrip* g = w->rubbing;
  *found = false;
  PAWL_TRY(g ? look_at_slips(w, state, values, found, err) : PAWL_OK);
  if (!*found) {
    return PAWL_OK;
  }
  PawlStatus status = pawl_grip_solve(w->rubbing, values, err);
  *found = status == PAWL_OK &&
           (g->verdict == PAWL_FRICTION_SOLVED || g->verdict == PAWL_FRICTION_SEVERAL);
  return status == PAWL_RETRY ? PAWL_OK : status;
}

static void take_result(const PawlWatching* w, double* a, double* lambda) {
  memcpy(a, w->rows.x, (size_t)w->dynamics->sizes.v * sizeof(double));
  memcpy(lambda, w->rows.lambda, (size_t)w->dynamics->sizes.rows * sizeof(double));
}

// The problem of the rows at a state; `bounded`: joints bear no more than their capacity.
static void pose(PawlWatching* w, const PawlState* state, const PawlValues* values,
                 const double* watch, bool bounded, bool* rubs) {
  PawlDynamics* d = w->dynamics;
  PawlPhase phase = pawl_phase_of(state, false);
  pawl_watch_bounds(w, &phase, watch, PAWL_BEARS, bounded);
  pawl_closed_bound(d, state, values, &w->rows, rubs);
  memcpy(w->rows.r, values->f, (size_t)d->sizes.v * sizeof(double));
  memcpy(w->rows.b, values->gamma, (size_t)d->sizes.rows * sizeof(double));
}

// Whether joints that hold meet what the problem asks of them: `bounded`, that none of them moves;
// else that none bears more than its capacity.
static bool joints_hold(const PawlWatching* w, const PawlState* state, const double* watch,
                        bool bounded) {
  const PawlSystem* system = w->dynamics->system;
  bool hold = true;
  for (int k = 0; k < w->joint_count; k++) {
    int c = w->joints[k], row = system->constraints[c].first_row;
    bool holds = bounded ? w->rows.w[row] == 0.0
                         : fabs(w->rows.lambda[row]) <= watch[system->watches[c].capacity];
    hold &= state->modes[c] != PAWL_MODE_HELD || holds;
  }
  return hold;
}

// With friction a joint may bear less than all that it could: what closed contacts stick to is
// theirs beyond its capacity.                                                              (V60)
static PawlStatus lean_on_friction(PawlWatching* w, const PawlState* state,
                                   const PawlValues* values, const double* watch, double* a,
                                   double* lambda, PawlError* err) {
  bool rubs, found;
  take_result(w, a, lambda);
  if (w->joint_count == 0 || joints_hold(w, state, watch, false)) {
    return PAWL_OK;
  }
  pose(w, state, values, watch, true, &rubs);
  PAWL_TRY(pawl_closed_solve(w, state, values, &found, err));
  if (found && joints_hold(w, state, watch, true)) {
    take_result(w, a, lambda);
  }
  return PAWL_OK;
}

PawlStatus pawl_closed_accelerate(PawlWatching* w, const PawlState* state, double* a,
                                  double* lambda, PawlError* err) {
  PawlDynamics* d = w->dynamics;
  const PawlValues* values;
  const double* watch = NULL;
  PawlPhase phase = pawl_phase_of(state, false);
  PawlRowsResult result;
  bool rubs, found = false;
  PAWL_TRY(pawl_watch_make_problem(w, err));
  PAWL_TRY(pawl_dynamics_evaluate(d, &phase, state, &values, err));
  if (w->joint_count > 0) {
    PAWL_TRY(pawl_watch_look(w, &phase, state, state->v, state->a, state->lambda, &watch, err));
  }
  pose(w, state, values, watch, false, &rubs);
  PAWL_TRY(rubs ? pawl_closed_solve(w, state, values, &found, err) : PAWL_OK);
  if (found) {
    PAWL_TRY(lean_on_friction(w, state, values, watch, a, lambda, err));
  } else {
    PAWL_TRY(pawl_watch_solve(w, values, &result, err));
    take_result(w, a, lambda);
  }
  return pawl_dynamics_rate_states(d, &phase, state->t, state->q, state->v, a, lambda, err);
}
