// SPDX-License-Identifier: Apache-2.0
// The energy that a run has moved (docs/theory/energy.md, "What explains a drift").
#pragma once

#include <stdbool.h>

#include "run/observe.h"

// Over the samples: kinetic energy of each coordinate, that of none, and what the motion made of
// the potential energy [J].
typedef struct PawlMoved {
  int count;           // coordinates' rates + 2
  double *low, *high;  // count
} PawlMoved;

PAWL_CHECKED PawlStatus pawl_moved_create(PawlMoved* moved, int v, PawlError* err);
void pawl_moved_destroy(PawlMoved* moved);
// The potential energy of a sample, and, of those that pawl_moved_looks asks for, what
// pawl_observe_shares says. The first sample begins the ranges.
void pawl_moved_note(PawlMoved* moved, const PawlObservation* seen, bool first);
void pawl_moved_note_shares(PawlMoved* moved, const double* shares, bool first);
// Whether the shares of the sample number `index` counts: of the first ones all, then one in
// sixteen, at intervals that no period of a motion keeps.
bool pawl_moved_looks(long long index);
// With the largest kinetic energy and what the works of each piece added up to.           (B18)
double pawl_moved_size(const PawlMoved* moved, double kinetic_max, double net);
