// SPDX-License-Identifier: Apache-2.0
// The start of a run.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/hold.h"
#include "switch/jump_impl.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

// A joint with a capacity that moves from the start slides, unless it is to wait for rest.
static void slide_from_start(PawlJump* j, PawlState* state, int c) {
  const PawlSystem* system = j->dynamics->system;
  double rate = j->guards->watch[system->watches[c].rate];
  if (state->modes[c] == PAWL_MODE_HELD && !system->constraints[c].switching->smooth &&
      fabs(rate) > PAWL_REST * pawl_jump_pace(j, state)) {
    state->modes[c] = rate > 0.0 ? PAWL_MODE_UP : PAWL_MODE_DOWN;
    pawl_hold_drop(j->dynamics, state, c);
  }
}

PawlStatus pawl_jump_start(PawlJump* j, PawlState* state, PawlError* err) {
  const PawlSystem* system = j->dynamics->system;
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, false);
  bool unused;  // a start is checked elsewhere
  pawl_guards_start(j->guards, state);
  if (j->guards->contacts) {
    pawl_bounce_start(&j->bounce, state);
  }
  if (system->watch_count > 0) {
    PAWL_TRY(pawl_watch_look(j->guards->watching, &phase, state, state->v, state->a, state->lambda,
                             &j->guards->watch, err));
  }
  for (int c = 0; c < system->constraint_count; c++) {
    if (system->constraints[c].set_count > 0 && state->modes[c] == PAWL_MODE_HELD) {
      pawl_hold_set(j->dynamics, state, c, j->guards->watch + system->first_set);
    }
  }
  pawl_hold_follow(j->dynamics, state, j->guards->watch);
  PAWL_TRY(pawl_jump_evaluate(j, state, &values, err));
  pawl_dynamics_row_sizes(j->dynamics, values->G, state->q, j->size);
  for (int c = 0; c < system->constraint_count; c++) {
    if (system->constraints[c].triggered && state->modes[c] == PAWL_MODE_HELD) {
      pawl_hold_take(j->dynamics, state, c, values->g, j->size, j->guards->watch, &unused);
    }
  }
  for (int k = 0; k < j->guards->watching->joint_count; k++) {
    slide_from_start(j, state, j->guards->watching->joints[k]);
  }
  pawl_phase_activate(system, state);
  return PAWL_OK;
}

PawlStatus pawl_jump_settle_start(PawlJump* j, PawlState* state, PawlError* err) {
  const PawlValues* values;
  bool newly_held;
  pawl_jump_keep(j, state);
  pawl_jump_clear_impulses(j);
  PAWL_TRY(pawl_jump_evaluate(j, state, &values, err));
  double before = values->energy[0] + values->energy[1];
  PAWL_TRY(pawl_jump_settle(j, state, &newly_held, err));
  PAWL_TRY(pawl_jump_log_shock(j, state, before, err));
  if (newly_held) {
    PAWL_TRY(pawl_jump_stop_newly_held(j, state, err));
  }
  if (pawl_system_switches(j->dynamics->system)) {
    PAWL_TRY(pawl_surfaces_enter(j->guards->surfaces, state, NULL, err));
  }
  return pawl_guards_enter(j->guards, state, err);
}
