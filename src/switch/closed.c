// SPDX-License-Identifier: Apache-2.0
#include "switch/closed.h"

#include <math.h>
#include <string.h>

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

PawlStatus pawl_closed_accelerate(PawlWatching* w, const PawlState* state, double* a,
                                  double* lambda, PawlError* err) {
  PawlDynamics* d = w->dynamics;
  const PawlValues* values;
  const double* watch = NULL;
  PawlPhase phase = pawl_phase_of(state, false);
  PawlRowsResult result;
  PAWL_TRY(pawl_watch_make_problem(w, err));
  PAWL_TRY(pawl_dynamics_evaluate(d, &phase, state, &values, err));
  if (w->joint_count > 0) {
    PAWL_TRY(pawl_watch_look(w, &phase, state, state->v, state->a, state->lambda, &watch, err));
  }
  pawl_watch_bounds(w, &phase, watch, PAWL_BEARS, false);
  bool rubs;
  pawl_closed_bound(d, state, values, &w->rows, &rubs);
  memcpy(w->rows.r, values->f, (size_t)d->sizes.v * sizeof(double));
  memcpy(w->rows.b, values->gamma, (size_t)d->sizes.rows * sizeof(double));
  PAWL_TRY(pawl_watch_solve(w, values, &result, err));
  memcpy(a, w->rows.x, (size_t)d->sizes.v * sizeof(double));
  memcpy(lambda, w->rows.lambda, (size_t)d->sizes.rows * sizeof(double));
  return pawl_dynamics_rate_states(d, &phase, state->t, state->q, state->v, a, lambda, err);
}
