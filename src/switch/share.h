// SPDX-License-Identifier: Apache-2.0
// Rows that depend on each other share a force in many ways; here is the one that is shown and
// judged (docs/theory/events.md).
#pragma once

#include "switch/watch.h"

// Where rows depend on each other: of the multipliers that make the same force, those of least
// norm within their bounds, in place; else they stay (allocates where there are such rows). At an
// instant at which something gives way a force is a rounding beyond what the bounds allow: those
// `shown` are within, those judged as they would have to be.
// (Many rows are shared island by island, which allocates when it is first needed alone.)
PAWL_CHECKED PawlStatus pawl_share_multipliers(PawlWatching* watching, const PawlState* state,
                                               bool shown, double* lambda, PawlError* err);
