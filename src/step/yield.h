// SPDX-License-Identifier: Apache-2.0
// A step that has no solution because contacts press against joints with a capacity: which of them
// give way (docs/theory/events.md, "Capacity").
#pragma once

#include "step/method.h"

// With forces bounded over a step of length h from `state`: next[c] becomes the direction in which
// each joint that cannot hold slides. *any: some do, and a contact presses.
PAWL_CHECKED PawlStatus pawl_yield_find(PawlStepper* stepper, PawlState* state, double h, int* next,
                                        bool* any, PawlError* err);
