// SPDX-License-Identifier: Apache-2.0
// The guess of multipliers of large models with constraints at one level, which knows the saw that
// these leave in them (docs/theory/ga-p.md). A state keeps, behind the rest of its memory, by how
// much the multipliers bent in the last two steps, and how well each of four guesses would have met
// the last ones.
#pragma once

#include "step/ga.h"

enum { PAWL_GA_GUESSES = 4 };  // of which that is taken which was off least

// How many numbers that are; 0 where the method or the model has none.
int pawl_ga_bend_memory(const PawlMethod* method, PawlSizes n);

// lambda of the guess, of rows that bind; `more` 0: as it was.                               (A28)
void pawl_ga_bend_guess(const PawlStepper* s, PawlGa* ga, const PawlPhase* phase, PawlState* state,
                        PawlGaMemory m, double more);
// The multipliers of the iterate become those of the state, and these the last ones.
void pawl_ga_bend_take(const PawlStepper* s, PawlGa* ga, PawlState* state, PawlGaMemory m);
