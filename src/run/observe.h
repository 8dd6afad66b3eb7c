// SPDX-License-Identifier: Apache-2.0
// One sample of a run: the columns, and filling them from a state.
#pragma once

#include "pawl/run.h"
#include "run/recorder.h"

typedef struct PawlObserver PawlObserver;  // borrows the system

// What samples have beyond the state itself.
typedef struct PawlSight {
  const double* path;                  // of which q is the projection, a number for each coordinate
  const PawlCorrections* corrections;  // nu, Lambda, lambda without Lambda / h
} PawlSight;

// `stepper` says which works there are; `path`, `corrections`: with columns for these.
PAWL_CHECKED PawlStatus pawl_observer_create(const PawlSystem* system, const PawlStepper* stepper,
                                             bool path, bool corrections, PawlObserver** out,
                                             PawlError* err);
void pawl_observer_destroy(PawlObserver* observer);  // NULL is allowed

// The columns of a sample; they belong to the observer.
int pawl_observer_columns(const PawlObserver* observer, const PawlColumn** columns);

// What a summary needs of a sample.
typedef struct PawlObservation {
  double energy;          // [J]
  double kinetic;         // [J], its part
  double moved;           // [J]: potential energy without the work of time (B7, B8)
  double unexplained;     // [J]: energy minus that of the start and all works        (B1)
  double drift;           // largest |g_i| over sum_j |G_ij| |q_j|
  double velocity_drift;  // the same for |G v + g_t| over sum_j |G_ij| |v_j|
  double residual[3];     // largest of g, G v + g_t, G v' + gamma
} PawlObservation;

// Evaluates at the state and fills `sample` (one number a column; NULL: only the observation).
// Of `sight` only what the observer has columns for is looked at; corrections without a value
// (NULL) are NaN.
PAWL_CHECKED PawlStatus pawl_observe(PawlObserver* observer, const PawlState* state,
                                     PawlSight sight, double* sample, PawlObservation* seen,
                                     PawlError* err);

// Right after it, at the same state: v + 1 numbers, the kinetic energy of each coordinate and what
// none has; until the next call. It takes as long as an observation, since it needs M.      (B18)
PAWL_CHECKED PawlStatus pawl_observe_shares(PawlObserver* observer, const PawlState* state,
                                            const double** shares, PawlError* err);
