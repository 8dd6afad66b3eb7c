// SPDX-License-Identifier: Apache-2.0
// Whether a joint is at rest, and the mode in which a constraint engages that follows from it.
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/guards_impl.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

// G v' + gamma of the row of a lock, whatever its mode.
static PawlStatus second_rate(PawlGuards* g, const PawlState* state, int c, double* second,
                              PawlError* err) {
  PawlDynamics* d = g->dynamics;
  const PawlValues* values;
  const double *a, *lambda;
  int row = d->system->constraints[c].first_row;
  PAWL_TRY(pawl_guards_react(g, state, &a, &lambda, err));
  memcpy(g->modes, state->modes, pawl_phase_mode_bytes(state));
  g->modes[c] = PAWL_MODE_HELD;
  PawlPhase held = {.modes = g->modes, .held = state->held};
  PAWL_TRY(pawl_dynamics_evaluate(d, &held, state, &values, err));
  *second = values->gamma[row];
  for (int j = 0; j < d->sizes.v; j++) {
    for (int k = d->G.start[j]; k < d->G.start[j + 1]; k++) {
      *second += d->G.index[k] == row ? values->G[k] * a[j] : 0.0;
    }
  }
  return PAWL_OK;
}

// A relative rate that is zero but for rounding and the tolerance of an instant.
PawlStatus pawl_guards_rests(PawlGuards* g, const PawlState* state, int c, double rate, bool* yes,
                             PawlError* err) {
  double second;
  *yes = fabs(rate) <= PAWL_REST * pawl_dynamics_pace(g->dynamics, state, NULL);
  if (*yes) {
    return PAWL_OK;
  }
  PAWL_TRY(second_rate(g, state, c, &second, err));
  *yes = fabs(rate) <=
         PAWL_REST_OF_INSTANT * pawl_dynamics_instant(g->dynamics, state->t) * fabs(second);
  return PAWL_OK;
}

PawlStatus pawl_guards_crossed(PawlGuards* g, const PawlState* state, PawlMargin* margin,
                               PawlError* err) {
  PAWL_TRY(pawl_guards_margins(g, state, margin, err));
  margin->least = INFINITY;
  for (int k = 0; k < g->armed_count; k++) {
    const PawlGuard* guard = &g->all[g->armed[k]];
    if (guard->what == PAWL_GUARD_RATE && !guard->sided && g->margins[k] < 0.0) {
      bool yes;
      PAWL_TRY(pawl_guards_rests(g, state, guard->of, g->margins[k], &yes, err));
      g->margins[k] = yes ? 0.0 : g->margins[k];
    }
    margin->least = fmin(margin->least, g->margins[k]);
  }
  return PAWL_OK;
}

// A relative rate that the rows in force hold at zero is zero, whatever drift a method allows them.
static PawlStatus is_kept_at_rest(PawlGuards* g, const PawlState* state, int c, bool* yes,
                                  PawlError* err) {
  const double *a, *lambda;
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, g->dynamics->plain);
  PAWL_TRY(pawl_guards_react(g, state, &a, &lambda, err));
  PAWL_TRY(pawl_guards_look(g, state, false, &lambda, err));
  PAWL_TRY(pawl_dynamics_evaluate(g->dynamics, &phase, state, &values, err));
  int place = g->dynamics->system->watches[c].rate;
  return pawl_pinned_rests(&g->pinned, state, values, a, place, g->watch[place], yes, err);
}

// The mode in which a constraint engages.
PawlStatus pawl_guards_engaged_mode(PawlGuards* g, const PawlState* state, int c, int* mode,
                                    PawlError* err) {
  const PawlWatch* at = &g->dynamics->system->watches[c];
  double rate = at->rate >= 0 ? g->watch[at->rate] : 0.0;
  bool yes = true;
  if (at->rate >= 0) {
    PAWL_TRY(pawl_guards_rests(g, state, c, rate, &yes, err));
  }
  if (!yes) {
    PAWL_TRY(is_kept_at_rest(g, state, c, &yes, err));
  }
  *mode = yes                                                     ? PAWL_MODE_HELD
          : g->dynamics->system->constraints[c].switching->smooth ? PAWL_MODE_WAITING
          : at->capacity < 0                                      ? PAWL_MODE_HELD
          : rate > 0.0                                            ? PAWL_MODE_UP
                                                                  : PAWL_MODE_DOWN;
  return PAWL_OK;
}
