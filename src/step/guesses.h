// SPDX-License-Identifier: Apache-2.0
// The start of a model: its modes, and what was guessed of it (docs/theory/initial.md).
#pragma once

#include "step/method.h"

// q and v of `state` are as stated. They become those with which all rows in force hold, where
// guesses allow it, and the modes and what locks hold those of that place. A start that nearly fits
// is changed where it was given, too. `project`: where nothing of that helps it stays as stated.
PAWL_CHECKED PawlStatus pawl_guesses_find(PawlStepper* s, PawlState* state, bool project,
                                          PawlError* err);
