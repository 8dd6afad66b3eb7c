// SPDX-License-Identifier: Apache-2.0
// Expressions that are looked at: conditions, capacities, friction, relative rates (PawlWatch in
// system/system.h); and the joints that hold by a finite force.
#pragma once

#include "switch/dynamics.h"
#include "switch/rows.h"

// The problem of the rows in force at an instant, see rows.h; made when it is first needed.
typedef struct PawlRowProblem {
  PawlRows* solver;
  double *lo, *hi, *weight, *b;     // rows
  double *r, *x;                    // v
  double *lambda, *w;               // rows
  unsigned char *state, *conflict;  // rows
} PawlRowProblem;

// Rates of what is watched, and of the multipliers.
typedef struct PawlWatchRates {
  const double *watch, *lambda;
} PawlWatchRates;

struct PawlGrip;
struct PawlShareIslands;

typedef struct PawlWatching {
  PawlDynamics* dynamics;
  PawlEval *eval, *aside;  // the second for looks that leave the results of the first alone
  int joint_count;
  int* joints;     // constraints with a capacity
  bool fixed;      // their capacities and frictions are numbers
  double* lambda;  // rows: room for multipliers that are to be shared
  PawlRowProblem rows;
  struct PawlShareIslands* islands;  // share_islands.h; NULL: not needed yet
  struct PawlGrip* grip;             // friction of located contacts (grip.h); NULL without
  struct PawlGrip* rubbing;  // that of time stepping, at an instant (closed.h); NULL without
  unsigned char* closed;     // rows: contacts that are so there
  bool left_out;             // it was told that there are too many of them
} PawlWatching;

PAWL_CHECKED PawlStatus pawl_watch_create(PawlDynamics* dynamics, PawlWatching* watching,
                                          PawlError* err);
void pawl_watch_destroy(PawlWatching* watching);

// All that is watched, at a state in a phase with velocities v, accelerations and multipliers;
// *watch is valid until the next look.
PAWL_CHECKED PawlStatus pawl_watch_look(PawlWatching* watching, const PawlPhase* phase,
                                        const PawlState* state, const double* v, const double* a,
                                        const double* lambda, const double** watch, PawlError* err);
// The same at the velocities and accelerations of the state, and what others have looked at stays:
// conditions are judged by that after multipliers are shown.
PAWL_CHECKED PawlStatus pawl_watch_look_aside(const PawlWatching* watching, const PawlState* state,
                                              const double* lambda, const double** watch,
                                              PawlError* err);

// 0 <= friction <= capacity of every joint that holds or slides by them.                     (V8)
PAWL_CHECKED PawlStatus pawl_watch_check_capacities(const PawlWatching* watching,
                                                    const PawlState* state, const double* watch,
                                                    PawlError* err);
bool pawl_watch_capacities_good(const PawlWatching* watching, const PawlState* state,
                                const double* watch);
// A capacity with a part of its slack, see PAWL_CAPACITY_SLACK.
double pawl_watch_bound(double capacity, double part);
// Makes w->rows, unless it is there (allocates).
PAWL_CHECKED PawlStatus pawl_watch_make_problem(PawlWatching* watching, PawlError* err);
// Bounds and weights of all rows in a phase (`watch`: capacities): rows in force without, joints
// that hold by their capacity (`part` of its slack; `bounded` false: without), all others let go.
// Joints share a load in proportion to their capacity, and leave to rigid rows what these can
// carry.                                                                          (V10)
void pawl_watch_bounds(PawlWatching* watching, const PawlPhase* phase, const double* watch,
                       double part, bool bounded);
// Solves the problem of the rows with w->rows.r and b, and M and G of `values`. PAWL_RETRY: a
// motion without mass.
PAWL_CHECKED PawlStatus pawl_watch_solve(PawlWatching* watching, const PawlValues* values,
                                         PawlRowsResult* result, PawlError* err);
// The friction force of sliding joints as multipliers, for the eye.
PAWL_CHECKED PawlStatus pawl_watch_friction(PawlWatching* watching, const PawlState* state,
                                            double* lambda, PawlError* err);
