// SPDX-License-Identifier: Apache-2.0
// The state in which a run of a system begins, for searches that stay in its modes.
#pragma once

#include "base/error.h"
#include "pawl/stepper.h"

typedef struct PawlStarted {
  PawlStepper* stepper;
  PawlState* state;  // projected onto the rows in force
} PawlStarted;

// To be destroyed in the end, also after a failure.
PAWL_CHECKED PawlStatus pawl_started_create(const PawlSystem* system, PawlStarted* start,
                                            PawlError* err);
void pawl_started_destroy(PawlStarted* start);
