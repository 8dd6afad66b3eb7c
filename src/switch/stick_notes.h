// SPDX-License-Identifier: Apache-2.0
// What is said of decisions that rigid bodies leave open (docs/theory/friction.md, section 9), each
// once in a run.
#pragma once

#include "switch/stick.h"

// No forces were found without the load of this contact.
PAWL_CHECKED PawlStatus pawl_stick_not_determined(const PawlDynamics* dynamics,
                                                  const PawlState* state, int row, PawlError* err);
// Of s->spared. `slips`: contacts at the border of their cones settle it, -1: none.         (F48)
PAWL_CHECKED PawlStatus pawl_stick_note_loose(PawlStick* stick, const PawlState* state, int slips,
                                              PawlError* err);
PAWL_CHECKED PawlStatus pawl_stick_note_shared_slip(PawlDynamics* dynamics, const PawlState* state,
                                                    PawlError* err);
// A joint that lets go beside friction in time stepping and was judged without it.
PAWL_CHECKED PawlStatus pawl_stick_note_rubbing(PawlStick* stick, const PawlState* state,
                                                PawlError* err);
