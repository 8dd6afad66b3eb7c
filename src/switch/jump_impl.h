// SPDX-License-Identifier: Apache-2.0
// What the files of the jump share.
#pragma once

#include <string.h>

#include "switch/jump.h"

PAWL_INLINE PawlStatus pawl_jump_evaluate(PawlJump* j, const PawlState* state,
                                          const PawlValues** values, PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, false);
  return pawl_dynamics_evaluate(j->dynamics, &phase, state, values, err);
}

// The state before the jump, and the velocities before the instant.
PAWL_INLINE void pawl_jump_keep(PawlJump* j, const PawlState* state) {
  pawl_phase_copy(j->before, state);
  if (!j->follows) {
    memcpy(j->v_first, state->v, (size_t)j->dynamics->sizes.v * sizeof(double));
    pawl_strike_begin(&j->strike, state->v);
  }
}

// Rates far below are at rest.
PAWL_INLINE double pawl_jump_pace(const PawlJump* j, const PawlState* state) {
  return pawl_dynamics_pace(j->dynamics, state, pawl_eval_values(j->dynamics->eval));
}

// G v + g_t of every row, to j->rate.
PAWL_INLINE const double* pawl_jump_rates(PawlJump* j, const PawlState* state,
                                          const PawlValues* values) {
  pawl_dynamics_rows(j->dynamics, values->G, state->v, values->g_t, j->rate);
  return j->rate;
}

// All rows in force in the phase of a state, to j->set.
PAWL_INLINE void pawl_jump_list_in_force(PawlJump* j, const PawlState* state) {
  for (int i = 0; i < j->dynamics->sizes.rows; i++) {
    j->set[i] = state->in_force[i] != PAWL_ROW_OF_LET_GO;
  }
}

// ---- the velocities (jump_velocities.c) ---------------------------------------------------------
// Rows in force after, j->set; of these, j->persistent were in force before and stand for the same
// equation. True when some are new.
bool pawl_jump_list_added(PawlJump* j, const PawlState* state);
// A finite force carries no impulse: joints with a capacity take no part in a jump, and slide
// afterwards if it has set them in motion. Contacts are hit by what the jump makes of the
// velocities (C9). True when other rows are new.
bool pawl_jump_leave_out_joints(PawlJump* j, const PawlState* state);
// Those that held, or engaged at rest, and have another rate by the jump. *any: some.
void pawl_jump_slide(PawlJump* j, PawlState* state, const PawlValues* values, bool* any);
// Adds dv to the rates, or says why there is none.
PAWL_CHECKED PawlStatus pawl_jump_add(PawlJump* j, PawlStatus found, PawlState* state,
                                      const PawlValues* values, PawlError* err);
PAWL_CHECKED PawlStatus pawl_jump_velocities(PawlJump* j, PawlState* state, PawlImpactLaw law,
                                             const PawlValues** values, PawlError* err);
// The impact of contacts by what the velocities are now, for the rates that they had before the
// instant.                                                                                   (C9)
PAWL_CHECKED PawlStatus pawl_jump_strike(PawlJump* j, PawlState* state, const PawlValues** values,
                                         PawlError* err);
// Takes rounding out of the rates of joints that stick, and of contacts that are closed.
PAWL_CHECKED PawlStatus pawl_jump_stop_newly_held(PawlJump* j, PawlState* state, PawlError* err);
// What holds has no rate, but methods let it drift: see there.
PAWL_CHECKED PawlStatus pawl_jump_clean_rates(PawlJump* j, PawlState* state, const int* next,
                                              PawlError* err);
// Where nothing but gaps has come to zero, the instant is that of the first of them.
PAWL_CHECKED PawlStatus pawl_jump_go_back(PawlJump* j, PawlState* state, PawlError* err);

// What forces decide (stick.h). Where friction leaves no accelerations (Painleve) an impact without
// a collision comes first, or the run ends, as the option `painleve` has it. (F25)
PAWL_CHECKED PawlStatus pawl_jump_settle(PawlJump* j, PawlState* state, bool* newly_held,
                                         PawlError* err);

// ---- the instant (jump.c) -----------------------------------------------------------------------
// Which rows follow from others (pawl_dynamics_reduce), named where no joint is left to be decided.
PAWL_CHECKED PawlStatus pawl_jump_reduce(PawlJump* j, PawlState* state, const PawlValues* values,
                                         PawlError* err);
// No impulses, no losses, no contact hit.
void pawl_jump_clear_impulses(PawlJump* j);
// What follows from the velocities after: joints that stick or slide, accelerations, multipliers,
// sides. *energy is that after the jump.
PAWL_CHECKED PawlStatus pawl_jump_settle_after(PawlJump* j, PawlState* state, double* energy,
                                               PawlError* err);
// At the start nothing is hit but by an impact without a collision (F25): one entry for each such
// contact, with what is gone of the energy `before`. The values of the dynamics are those after.
PAWL_CHECKED PawlStatus pawl_jump_log_shock(PawlJump* j, const PawlState* state, double before,
                                            PawlError* err);
// What contacts have taken of the energy of an instant.
double pawl_jump_loss_of_contacts(const PawlJump* j, const PawlState* state);
// The jump after something else was logged with its energy: of the impulses only those of contacts.
PAWL_CHECKED PawlStatus pawl_jump_log_rest(PawlJump* j, const PawlState* state, PawlError* err);
