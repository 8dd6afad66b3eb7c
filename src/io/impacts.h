// SPDX-License-Identifier: Apache-2.0
// Samples whose forces are those of an impact. Time stepping gives the multiplier of a whole step,
// so that in a step in which a contact is hit it is an impulse by a time that nobody chose; drawn
// as a force it would set the scale of all others.
#pragma once

#include <stdbool.h>

#include "pawl/recorder.h"

// The run has multipliers of whole steps: it was made by any method but event-driven.
bool pawl_impacts_averaged(const PawlRecorder* recorder);
// Is there such a sample at all?
bool pawl_impacts_any(const PawlRecorder* recorder);
// Is this one? Both rows of a group (pawl_recorder_thin) with one of them are.
bool pawl_impacts_in(const PawlRecorder* recorder, int sample);
