// SPDX-License-Identifier: Apache-2.0
// A piece of a step in which contacts slip so slowly in space that friction draws their directions
// far faster than a step is long: as after a start from rest, whose slip grows with the square of
// time (docs/theory/friction.md, (F80) to (F83)). Directions are unknowns of a collocation there,
// and nothing is stiff.
#pragma once

#include "base/alloc.h"
#include "step/method.h"
#include "switch/slip.h"

enum { PAWL_SLOW_STAGES = 3 };

typedef struct PawlSlow {
  int most, count;                       // contacts that may turn; those that do
  int* contact;                          // of the list of the slip
  double* d[3];                          // directions of each contact of the slip, by stage
  double *q[3], *v[3], *a[3], *rate[3];  // the stages; rate: q'
  double* off[3];                        // v: how far stages are from where they belong
  double* move;                          // q
  double* slip[3];                       // of each contact that turns, by stage: its rates
  double* push;       // how accelerations change with each direction: v by contact
  double* weight;     // of each: mu lambda_N
  double* rubs;       // v: how large accelerations are that friction makes
  double* by;         // rates of its slip by each direction
  double *A, *b, *x;  // the equations of the directions
  int* pivot;
  double *lambda, *y;  // rows
} PawlSlow;

// NULL in *out where no slip turns.
PAWL_CHECKED PawlStatus pawl_slow_create(PawlStepper* stepper, PawlSlow** out, PawlError* err);
// By h, in the phase of the state, of a piece that could be `whole` long. The tolerances of the
// run are kept. PAWL_RETRY: no step is short enough.
PAWL_CHECKED PawlStatus pawl_slow_step(PawlStepper* stepper, PawlSlow* slow, PawlState* state,
                                       double h, double whole, PawlError* err);
