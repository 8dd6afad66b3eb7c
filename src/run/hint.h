// SPDX-License-Identifier: Apache-2.0
// What a run that cannot go on may owe it to.
#pragma once

#include "switch/phase.h"

// A kink of a force that the method takes as it is, and that the motion reaches within a step of
// length h: Newton's method may find no end between its two sides. Adds its name to the message
// that is in err; `status`, or that of running out of memory, is returned.
PAWL_CHECKED PawlStatus pawl_hint_at_kink(const PawlSystem* system, const char* method,
                                          const PawlState* state, double h, PawlStatus status,
                                          PawlError* err);

// A coordinate whose rate grows so fast that it has no end within a step of length h: adds its name
// in the same way.
PAWL_CHECKED PawlStatus pawl_hint_at_growth(const PawlSystem* system, const PawlState* state,
                                            double h, PawlStatus status, PawlError* err);
