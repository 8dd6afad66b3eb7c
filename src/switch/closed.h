// SPDX-License-Identifier: Apache-2.0
// What closed contacts do at an instant. Time stepping knows their forces as means over steps; what
// looks at accelerations and multipliers between steps, conditions and sets, sees those of the
// instant: a contact that is closed at a state bears what it must, or opens (docs/theory/events.md,
// "Accelerations and
// multipliers beside closed contacts").
#pragma once

#include "switch/watch.h"

// Whether some contact that is not in force is closed at a state: no gap, and no rate of it.
// `values` are those of the state.
bool pawl_closed_any(const PawlDynamics* dynamics, const PawlState* state,
                     const PawlValues* values);
// Friction of these contacts, where some have it: watching->rubbing.
PAWL_CHECKED PawlStatus pawl_closed_create(PawlWatching* watching, PawlError* err);
void pawl_closed_destroy(PawlWatching* watching);
// Sets the bounds 0 and infinity of their rows. *rubs: some have friction.
void pawl_closed_bound(const PawlDynamics* dynamics, const PawlState* state,
                       const PawlValues* values, PawlRowProblem* rows, bool* rubs);
// The problem of watching->rows with that friction. *found: it has a solution, and they are not too
// many.                                                                                     (V46)
PAWL_CHECKED PawlStatus pawl_closed_solve(PawlWatching* watching, const PawlState* state,
                                          const PawlValues* values, bool* found, PawlError* err);
// M a = f + G^T lambda,  G a + gamma = 0,  of closed contacts 0 <= lambda, G a + gamma >= 0, (V30)
// and their friction (V46), to `a` (v) and `lambda` (rows). PAWL_RETRY: there is no such motion.
PAWL_CHECKED PawlStatus pawl_closed_accelerate(PawlWatching* watching, const PawlState* state,
                                               double* a, double* lambda, PawlError* err);
