// SPDX-License-Identifier: Apache-2.0
// How fast rows may be, by the coordinates that they have: what is far below is at rest. Metres are
// compared with metres, whatever else the model has (docs/theory/contacts.md, C16).
#pragma once

#include "switch/dynamics.h"

// Of a rate, and [s] of an acceleration.
typedef struct PawlPace {
  double of_v, of_a;
} PawlPace;

// of_v |v| + of_a max(|v'|, |f|/M) of every row, by its own coordinates and by what the rows in
// force pass on to these. `v_before`: velocities that count, too, or NULL. Gap and slips of
// a contact count alike.                                                                 (C16)
void pawl_pace_rows(const PawlDynamics* d, const PawlState* state, const double* v_before,
                    const PawlValues* values, PawlPace pace, double* out);
// The force, or impulse, of each row that does this, by the masses of its coordinates alone.
void pawl_pace_forces(const PawlDynamics* d, const PawlState* state, const double* v_before,
                      const PawlValues* values, PawlPace pace, double* out);
// sum_j |G_ij q_j| of every row, what the rows in force pass on included; a turn in space counts
// as 1; `slips`: what slips passes on along its slips what its gap has. What rounding of any of
// these coordinates does to a gap is of this.                                                (C1)
void pawl_pace_places(const PawlDynamics* d, const PawlState* state, const PawlValues* values,
                      bool slips, double* out);
// What counts as rest at an instant: rounding, and what its tolerance makes of rates.        (C16)
PawlPace pawl_pace_rest(const PawlDynamics* d, double t);
