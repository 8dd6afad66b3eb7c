// SPDX-License-Identifier: Apache-2.0
// A loop (step/loop.h) without an end: how many changes are too many, and whose they are.
#pragma once

#include "step/loop_impl.h"

// All that may fire: what has an end fires each of them a few times.
int pawl_blame_guard_count(const PawlLoop* loop);
// Fails: `count` changes at one instant, or instants in one step, named after what changes most
// often.
PawlStatus pawl_blame_instant(const PawlStepper* stepper, const PawlState* state, int count,
                              double slack, PawlError* err);
PawlStatus pawl_blame_step(const PawlStepper* stepper, const PawlState* state, double begin,
                           int count, PawlError* err);
