// SPDX-License-Identifier: Apache-2.0
// The matrix of a Newton correction of the generalized-alpha core (step/ga.h): tangents of the
// dynamics and of the constraints at their level.
#pragma once

#include "step/ga.h"

// S and J of (A9) at the iterate, of a step that ends at t; the residual was evaluated there. They
// stay where they are known to be those of the last correction.
PAWL_CHECKED PawlStatus pawl_ga_tangents(PawlStepper* s, PawlGa* ga, const PawlPhase* phase,
                                         double t, PawlError* err);
