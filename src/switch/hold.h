// SPDX-License-Identifier: Apache-2.0
// What locks hold from the instant at which they engage (docs/theory/events.md, "What a lock
// holds").
#pragma once

#include "switch/watch.h"

// A constraint has engaged: state->held of its rows, from `g`, the values of all rows with nothing
// held by this one; `g` becomes what is left. `size` are the sizes of the terms of the rows,
// `watch` what is watched. *refused: it may not engage here. (V1)-(V3)
void pawl_hold_take(const PawlDynamics* d, PawlState* state, int constraint, double* g,
                    const double* size, const double* watch, bool* refused);
// A constraint engages: the states that it sets, from `values` of all sets; or, NULL, it lets go.
void pawl_hold_set(const PawlDynamics* d, PawlState* state, int constraint, const double* values);
// States that follow expressions, from what is watched.                                      (Z10)
void pawl_hold_follow(const PawlDynamics* d, PawlState* state, const double* watch);
// It lets go, or slides.
void pawl_hold_drop(const PawlDynamics* d, PawlState* state, int constraint);
// Positions move onto the rows of `set` by the least change in the metric of M, until they hold;
// rows may depend on each other. `values` are those of the state, and again at the end; `size`
// (rows) is room.                                                                            (V4)
PAWL_CHECKED PawlStatus pawl_hold_snap(PawlWatching* watching, PawlState* state,
                                       const unsigned char* set, const PawlValues** values,
                                       double* size, PawlError* err);
// The largest |g_i| of the rows in `set`, less what `slack` seconds of motion at `rate` make (NULL:
// nothing), relative to the terms of its row; and that row.
double pawl_hold_worst(const PawlDynamics* d, const PawlState* state, const PawlValues* values,
                       const unsigned char* set, double slack, const double* rate, double* size,
                       int* row);
