// SPDX-License-Identifier: Apache-2.0
// Energies that leap where a kink is crossed (docs/theory/energy.md, "Energies that leap"): a
// potential that jumps with t does work; any other leap is a force without end for no time, which
// the motion is computed without, and a warning says so.
#pragma once

#include "step/method.h"
#include "system/system.h"

typedef struct PawlLeaps {
  PawlEval* eval;          // kinetic and potential energy; NULL where no kink is located
  int first, first_timed;  // of the modes: kinks of the motion, kinks of time alone
  int first_surface;       // of the kinks of the motion among the surfaces
  int* modes;              // those that hold
  double t, work;          // of the last leap that is work
} PawlLeaps;

PAWL_CHECKED PawlStatus pawl_leaps_create(PawlStepper* stepper, PawlLeaps* leaps, PawlError* err);
void pawl_leaps_destroy(PawlLeaps* leaps);
// A step begins at `state`: what holds there.
void pawl_leaps_mark(const PawlStepper* stepper, PawlLeaps* leaps, const PawlState* state);
// A piece begins at `state`: whether kinks have been crossed since the last look, and what the
// energies leapt by. *work receives the work of it, again for every piece that begins at that time.
PAWL_CHECKED PawlStatus pawl_leaps_look(PawlStepper* stepper, PawlLeaps* leaps,
                                        const PawlState* state, double* work, PawlError* err);
// A step ends at `state`: the same for what was crossed at its very end, which no piece of it has.
PAWL_CHECKED PawlStatus pawl_leaps_close(PawlStepper* stepper, PawlLeaps* leaps,
                                         const PawlState* state, double* work, PawlError* err);
