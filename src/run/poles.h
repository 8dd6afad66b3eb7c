// SPDX-License-Identifier: Apache-2.0
// Steps that lead through a pole of a force (docs/theory/poles.md): a divisor changes its sign,
// or touches zero, between the ends of a step at which everything is finite.
#pragma once

#include "pawl/stepper.h"
#include "pawl/system.h"

typedef struct PawlPoles PawlPoles;  // borrows the system

// *out is NULL where no divisor of forces and energies can be zero, as far as that is seen from how
// it is written (and, with rk4, the mass matrix is constant), or where there are too many to look
// at.
PAWL_CHECKED PawlStatus pawl_poles_create(const PawlSystem* system, const PawlStepper* stepper,
                                          PawlPoles** out, PawlError* err);
void pawl_poles_destroy(PawlPoles* poles);  // NULL is allowed

// Keeps the state that a step begins with.
void pawl_poles_begin(PawlPoles* poles, const PawlState* state);
// At its end; `jumped`: rates did in it, or forces. PAWL_RETRY: it led through a pole, and `state`
// is again the one that was kept.
PAWL_CHECKED PawlStatus pawl_poles_end(PawlPoles* poles, PawlState* state, bool jumped,
                                       PawlError* err);
