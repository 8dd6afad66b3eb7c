// SPDX-License-Identifier: Apache-2.0
// The first zero of many margins within a piece that ends where some are negative, by looks at the
// motion in between (docs/theory/events.md, V17a). The margin that is the least at the far end
// leads: the least of all would not do, as one that stays near zero hides those that come to it.
#pragma once

#include "base/arena.h"
#include "pawl/base.h"

enum { PAWL_ROOT_PLACES = 5 };  // the last three looks, and both ends of where the zero is

typedef struct PawlRoot {
  int count;                    // margins
  int looks;                    // so far
  double x[PAWL_ROOT_PLACES];   // [s] from the beginning of the piece
  double* f[PAWL_ROOT_PLACES];  // count
  int newest[3];                // places, the newest last; -1: none
  int low, high;                // places: nothing is negative yet; something is; -1: none
} PawlRoot;

PAWL_CHECKED PawlStatus pawl_root_create(PawlArena* arena, int most, PawlRoot* root,
                                         PawlError* err);
void pawl_root_begin(PawlRoot* root, int count);  // nothing is known
// Room for the margins at x, of which the least is negative (`beyond`) or not.
double* pawl_root_add(PawlRoot* root, double x, bool beyond);
// Where to look next, between both ends: by a parabola, by the chord, or in the middle; a little
// beyond what they say, towards the farther end, so that the bracket closes from both sides.
double pawl_root_next(PawlRoot* root, double tolerance);
