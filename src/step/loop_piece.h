// SPDX-License-Identifier: Apache-2.0
// A piece of a step in which the loop (step/loop.h) changes nothing: the step of the method, or the
// motion itself where the piece is too short for it; with the work of forces where that is asked
// for, and what it has done to contacts.
#pragma once

#include "step/loop_impl.h"

// q + h v + h^2/2 v', v + h v'; a and lambda stay.                                          (V12)
void pawl_piece_shift(PawlStepper* stepper, PawlState* state, double h);
// v' and lambda of the place and the mode of a state.
PAWL_CHECKED PawlStatus pawl_piece_accelerate(PawlStepper* stepper, PawlState* state,
                                              PawlError* err);
// Too short for the method, which would divide rounding by its square.
bool pawl_piece_is_tiny(const PawlStepper* stepper, double h);
PAWL_CHECKED PawlStatus pawl_piece_step(PawlStepper* stepper, PawlState* state, double h,
                                        PawlError* err);
