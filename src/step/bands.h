// SPDX-License-Identifier: Apache-2.0
// Bands that a step leads over: 1 < x and x < 1.001 with a force between them that a method which
// takes kinks as plain functions does not feel, since no evaluation meets it (docs/theory/kinks.md,
// K3).
#pragma once

#include "step/method.h"

typedef struct PawlBands PawlBands;

// *out is NULL where the method locates kinks, or there are less than two.
PAWL_CHECKED PawlStatus pawl_bands_create(PawlStepper* stepper, PawlBands** out, PawlError* err);
void pawl_bands_destroy(PawlBands* bands);  // NULL is allowed
// After a step from the time `begin` to this state. Warns of the first band that it has led over,
// and looks no more.
PAWL_CHECKED PawlStatus pawl_bands_look(PawlStepper* stepper, double begin, const PawlState* state,
                                        PawlError* err);
