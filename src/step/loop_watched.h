// SPDX-License-Identifier: Apache-2.0
// A piece of a step in which guards are watched, up to the first instant in it.
#pragma once

#include "step/loop_impl.h"

// One piece of length h, or up to the first instant before its end, with all that changes there.
PAWL_CHECKED PawlStatus pawl_watched_piece(PawlStepper* stepper, PawlState* state, double h,
                                           double slack, bool* found, PawlError* err);
// Steps of the method are smooth between their ends, whose accelerations are those of the motion.
bool pawl_watched_is_smooth(const PawlStepper* stepper);
