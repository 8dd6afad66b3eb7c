// SPDX-License-Identifier: Apache-2.0
// The start of a model: its modes, and what was guessed of it (docs/theory/initial.md).
#pragma once

#include "step/method.h"

// q and v of `state` are as stated. They become those with which all rows in force hold, where
// guesses allow it, and the modes and what locks hold those of that place.
PAWL_CHECKED PawlStatus pawl_guesses_find(PawlStepper* s, PawlState* state, PawlError* err);
