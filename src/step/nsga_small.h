// SPDX-License-Identifier: Apache-2.0
// Steps of nsga-pva, ga-pva and nsga-pvv with few coordinates and rows by the kernels of
// system/kernels_ga.h.
#pragma once

#include "step/nsga.h"

// Where the model is not for kernels ga.small is NULL from here on.
PAWL_CHECKED PawlStatus pawl_small_create(PawlStepper* s, PawlNsga* d, PawlError* err);
// Whether contacts that have pressed may be left in force, see PawlNsga.rests.
bool pawl_small_may_rest(const PawlStepper* s, const PawlNsga* d);
// The guess of a step, in the place of pawl_nsga_first_sets and pawl_ga_predict. False: nothing was
// done, the step is not for kernels.
bool pawl_small_guess(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, PawlState* state,
                      double h);
// From there on. PAWL_KERNELS_ENDED: pawl_small_accept makes it the state. GO_ON: one iteration is
// done, as step/nsga_pva.c would have done it, and the next begins, but for its residuals.
PawlKernelsEnd pawl_small_iterate(PawlStepper* s, PawlNsga* d);
// The same for nsga-pvv. UNUSUAL: the guess is as it was.
PawlKernelsEnd pawl_small_correct(PawlStepper* s, PawlNsga* d);
void pawl_small_accept(PawlStepper* s, PawlNsga* d, PawlState* state);
