// SPDX-License-Identifier: Apache-2.0
// What changes at an instant of the loop (step/loop.h): the guards that are due, the jump, a fresh
// start of the method.
#pragma once

#include "step/loop_impl.h"

// At the state just past a zero (`margin`), or at a time (NULL; `slack` [s] counts as present):
// what is due, and the jump. Where motion has led there (`moved`) what is due within the tolerance
// of the instant is, too. (V61)
PAWL_CHECKED PawlStatus pawl_change_due(PawlStepper* stepper, PawlState* state, double slack,
                                        const PawlMargin* margin, bool moved, PawlError* err);
// At a time of kinks: these, and contacts that come off there.
PAWL_CHECKED PawlStatus pawl_change_tick(PawlStepper* stepper, PawlState* state, double slack,
                                         PawlError* err);
// The jump to the modes loop->next.
PAWL_CHECKED PawlStatus pawl_change_modes(PawlStepper* stepper, PawlState* state, PawlError* err);
// The same, or, with U (v), the jump by impulsive forces, of an event of the model or -1.
PAWL_CHECKED PawlStatus pawl_change_by(PawlStepper* stepper, PawlState* state, const double* U,
                                       int event, PawlError* err);
// What events have set, or a call where there are none.
PAWL_CHECKED PawlStatus pawl_change_assign(PawlStepper* stepper, PawlState* state, PawlError* err);
// Whether a step of the method may have impacts in it.
bool pawl_change_has_impacts(const PawlStepper* stepper);
