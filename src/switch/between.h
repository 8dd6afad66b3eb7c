// SPDX-License-Identifier: Apache-2.0
// Margins that are positive at both ends of a piece may have been negative in between. With the
// values and the rates at both ends each margin is a cubic; where its least value is near zero or
// beyond, the motion is looked at there, which divides the piece, and so on (docs/theory/events.md,
// V14 and V15). This keeps what has been seen and says where to look next.
#pragma once

#include "base/arena.h"
#include "pawl/base.h"

enum { PAWL_BETWEEN_MOST = 12 };  // places looked at within one piece

typedef struct PawlBetween {
  int most, count;                  // margins: room, and how many there are
  int places;                       // looked at, the ends included
  double x[PAWL_BETWEEN_MOST + 2];  // [s] from the beginning of the piece, ascending
  double *f[PAWL_BETWEEN_MOST + 2], *rate[PAWL_BETWEEN_MOST + 2];  // count
  double* noise;  // count: a dip that is not deeper is none
} PawlBetween;

PAWL_CHECKED PawlStatus pawl_between_create(PawlArena* arena, int most, PawlBetween* between,
                                            PawlError* err);
// Whether a margin turns within a piece if it is a parabola, by its values at both ends and its
// rate at the end, times the length of the piece; a quarter of a rate is left for what it is not.
// One with a corner inside may where its tangent at the end comes from beyond zero. (V16)
bool pawl_between_may_turn(double first, double now, double rate);
// Room for the margins and rates at a place x; a place must be new.
int pawl_between_add(PawlBetween* between, double x);
// Where some margin may be zero or less between two places, the earliest of these; *low: the place
// before it. False: nowhere, or all room is used.
bool pawl_between_suspect(const PawlBetween* between, double* x, double* low);
