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
// A sample; the first one begins the ranges.
void pawl_moved_note(PawlMoved* moved, const PawlObservation* seen, bool first);
// With the largest kinetic energy and the sum of the sizes of all works.                  (B18)
double pawl_moved_size(const PawlMoved* moved, double kinetic_max, double traffic);
