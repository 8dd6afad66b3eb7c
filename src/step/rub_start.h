// SPDX-License-Identifier: Apache-2.0
// Forces of contacts with friction at an instant, for methods that step in time: where a run or a
// piece of it starts there is no step yet whose impulses could tell them.
#pragma once

#include "step/contacts.h"
#include "step/rub.h"

// Accelerations x (v) and forces y (rows) of a state, contacts that are closed with their friction
// included. `*found` is false where none is closed, and where there are no such forces: steps find
// impulses even so.                                                                          (T28)
PAWL_CHECKED PawlStatus pawl_rub_start(PawlStepper* s, PawlRub* rub, PawlContacts* c,
                                       const PawlPhase* phase, const PawlState* state, double* x,
                                       double* y, bool* found, PawlError* err);
