// SPDX-License-Identifier: Apache-2.0
// Projecting a start onto the constraints while some of its coordinates and rates stay as stated.
#pragma once

#include "base/error.h"
#include "pawl/stepper.h"

// `state` was started with projection, which gives it its modes. Where that changed one of the
// names in `keep` ("x, phi'"), the start is projected anew from what the system states: the least
// change, in the metric of the mass matrix, of the others. PAWL_ERROR_USAGE: a name is unknown.
// PAWL_ERROR_RUN: the constraints cannot be met in this way; the message names the rows.
PAWL_CHECKED PawlStatus pawl_keep_start(const PawlSystem* system, PawlStepper* stepper,
                                        PawlState* state, const char* keep, PawlError* err);
