// SPDX-License-Identifier: Apache-2.0
// Where the margins of the guards are zero within a piece that begins at the mark of the loop
// (docs/theory/events.md, Instants): the first zero of a margin that is negative at its end, and
// zeros of margins that are positive at both ends.
#pragma once

#include "step/loop_impl.h"

// Nothing happens at this state, but for rounding on the surface of a region.
bool pawl_instant_is_quiet(const PawlLoop* loop, const PawlState* state, const PawlMargin* margin);
// Makes the state that of the mark again; what was logged since does not count.
void pawl_instant_back(PawlStepper* stepper, PawlState* state);
// The margin is negative after a piece of length h: goes to where it becomes so, *reached.
PAWL_CHECKED PawlStatus pawl_instant_go_to_zero(PawlStepper* stepper, PawlState* state, double h,
                                                PawlMargin* margin, double* reached,
                                                PawlError* err);
// Whether a kink that is on its side at both ends of the last piece may have been beyond in
// between.
bool pawl_instant_near_kinks(const PawlLoop* loop);
// Looks for what may have happened before the end of a piece of length h. *found: a margin is
// negative in between; then the state is where it first becomes so. *cut: a condition has turned
// there without firing, and the state is there: the rest of the piece is another one. Else the
// state is at the end again.
PAWL_CHECKED PawlStatus pawl_instant_look_between(PawlStepper* stepper, PawlState* state, double h,
                                                  PawlMargin* margin, bool* found, bool* cut,
                                                  PawlError* err);
