// SPDX-License-Identifier: Apache-2.0
// Expressions that are looked at: conditions, capacities, friction, relative rates (PawlWatch in
// system/system.h); and the joints that hold by a finite force.
#pragma once

#include "switch/dynamics.h"

typedef struct PawlWatching {
  PawlDynamics* dynamics;
  PawlEval* eval;
  int joint_count;
  int* joints;             // constraints with a capacity
  double* lambda;          // rows: room for multipliers that are to be shared
  unsigned char* resting;  // joints: see stick.c
} PawlWatching;

PAWL_CHECKED PawlStatus pawl_watch_create(PawlDynamics* dynamics, PawlWatching* watching,
                                          PawlError* err);
void pawl_watch_destroy(PawlWatching* watching);

// All that is watched, at a state in a phase with velocities v, accelerations and multipliers;
// *watch is valid until the next look.
PAWL_CHECKED PawlStatus pawl_watch_look(PawlWatching* watching, const PawlPhase* phase,
                                        const PawlState* state, const double* v, const double* a,
                                        const double* lambda, const double** watch, PawlError* err);

// 0 <= friction <= capacity of every joint that holds or slides by them.                     (V8)
PAWL_CHECKED PawlStatus pawl_watch_check_capacities(const PawlWatching* watching,
                                                    const PawlState* state, const double* watch,
                                                    PawlError* err);
bool pawl_watch_capacities_good(const PawlWatching* watching, const PawlState* state,
                                const double* watch);
// A capacity with a part of its slack, see PAWL_CAPACITY_SLACK.
double pawl_watch_bound(double capacity, double part);
// The friction force of sliding joints as multipliers, for the eye.
PAWL_CHECKED PawlStatus pawl_watch_friction(PawlWatching* watching, const PawlState* state,
                                            double* lambda, PawlError* err);
