// SPDX-License-Identifier: Apache-2.0
// The shares of share.h where there are many rows: each island of what masses and rows in force
// connect for itself, by its own compliance. For share.c alone.
#pragma once

#include "switch/watch.h"

// Multipliers of rows in force in islands in which some follow from others: of those that make the
// same force as `lambda` the ones of least norm within their bounds, in place. *found is false
// where an island has too many rows, or masses are singular: `lambda` is as before then. Allocates
// when it is first called.
PAWL_CHECKED PawlStatus pawl_share_islands(PawlWatching* watching, const PawlState* state,
                                           const PawlValues* values, double* lambda, bool* found,
                                           PawlError* err);
void pawl_share_islands_destroy(struct PawlShareIslands* islands);  // NULL is allowed
