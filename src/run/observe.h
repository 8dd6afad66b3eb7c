// SPDX-License-Identifier: Apache-2.0
// One sample of a run: the columns, and filling them from a state.
#pragma once

#include "pawl/run.h"
#include "run/recorder.h"

typedef struct PawlObserver PawlObserver;  // borrows the system

// `stepper` says which works there are; `path`: with columns for the path that q is the projection
// of.
PAWL_CHECKED PawlStatus pawl_observer_create(const PawlSystem* system, const PawlStepper* stepper,
                                             bool path, PawlObserver** out, PawlError* err);
void pawl_observer_destroy(PawlObserver* observer);  // NULL is allowed

// The columns of a sample; they belong to the observer.
int pawl_observer_columns(const PawlObserver* observer, const PawlColumn** columns);

// What a summary needs of a sample.
typedef struct PawlObservation {
  double energy;          // [J]
  double kinetic;         // [J], its part
  double unexplained;     // [J]: energy minus that of the start and all works        (B1)
  double drift;           // largest |g_i| over sum_j |G_ij| |q_j|
  double velocity_drift;  // the same for |G v + g_t| over sum_j |G_ij| |v_j|
  double residual[3];     // largest of g, G v + g_t, G v' + gamma
} PawlObservation;

// Evaluates at the state and fills `sample` (one number a column; NULL: only the observation).
// `path` has as many numbers as there are coordinates; not looked at by an observer without.
PAWL_CHECKED PawlStatus pawl_observe(PawlObserver* observer, const PawlState* state,
                                     const double* path, double* sample, PawlObservation* seen,
                                     PawlError* err);
