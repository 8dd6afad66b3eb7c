// SPDX-License-Identifier: Apache-2.0
// How long the steps of a method may be where contacts slip in space
// (docs/theory/friction.md, (F29)): the direction of a slip turns ever faster as it comes to rest.
#pragma once

#include "switch/dynamics.h"
#include "switch/slip.h"

typedef struct PawlTurning {
  int order;        // of the method, set by who knows it
  bool own;         // the method has steps of its own: these are cut where a slip is slow (F32)
  int most;         // contacts that may turn where directions are unknowns, set by the same
  bool slow;        // at the last look: they are                                        (F80)
  double reach;     // how long a piece may be there [s]
  double part;      // of the time above that a piece may be, where none were found in a longer one
  double* fastest;  // contacts with friction: the largest speed of their phase [m/s]
  double* x;        // v + rows: room
} PawlTurning;

PAWL_CHECKED PawlStatus pawl_turning_create(PawlArena* arena, PawlSizes sizes, const PawlSlip* slip,
                                            PawlTurning* out, PawlError* err);
// At a state where `slip` was looked at last; *longest: [s], INFINITY where nothing turns.   (F29)
PAWL_CHECKED PawlStatus pawl_turning_longest(PawlTurning* turning, PawlSlip* slip, PawlDynamics* d,
                                             const PawlState* state, double* longest,
                                             PawlError* err);
