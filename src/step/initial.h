// SPDX-License-Identifier: Apache-2.0
// A consistent start (docs/theory/initial.md).
#pragma once

#include "switch/dynamics.h"

// See pawl_stepper_start: q and v are checked against the rows in force, or projected onto them,
// and a and lambda computed. The modes of `state` are known.
PAWL_CHECKED PawlStatus pawl_initial(PawlDynamics* dynamics, PawlState* state, bool project,
                                     PawlError* err);
// Fails (PAWL_ERROR_RUN) when a row that followed from the others does not any more.
PAWL_CHECKED PawlStatus pawl_initial_watch_redundant(PawlDynamics* dynamics, const PawlState* state,
                                                     PawlError* err);
