// SPDX-License-Identifier: Apache-2.0
// Looking at the switching functions of regions. A surface on which the equation of the present
// mode itself lies cannot be left by motion, only by rounding and drift: it stands still, and is
// given that much slack. Which surfaces do is part of the phase (PawlState.still).
#pragma once

#include "switch/dynamics.h"
#include "system/reach.h"

typedef struct PawlSurfaces {
  PawlDynamics* dynamics;
  PawlEval* eval;   // switching functions
  PawlEval* rates;  // and their rates; borrowed
  int* list;        // guards
  double* z;        // as seen, with slack
  double* span;     // of the rows of a constraint
  double* row;      // one of them
  double* Z;        // gradients of surfaces; NULL when there would be too many numbers
  double* v;        // a unit velocity
  int* modes;       // a trial
  // Where room was looked at last, see pawl_surfaces_stay.
  double room;  // 0: nowhere
  double room_t, room_q[PAWL_REACH_PLACES];
  int* room_modes;
  bool renewed;  // by the last question
} PawlSurfaces;

// `rates` (mask PAWL_SWITCHING) is borrowed.
PAWL_CHECKED PawlStatus pawl_surfaces_create(PawlDynamics* dynamics, PawlEval* rates,
                                             PawlSurfaces* surfaces, PawlError* err);
void pawl_surfaces_destroy(PawlSurfaces* surfaces);
// Whether the regions of its modes hold a state, and all places that are no farther than `more`
// from it, sum_j slope_j |dq_j| + of_time |dt| (system/reach.h). False: this is not known. (V42)
bool pawl_surfaces_stay(PawlSurfaces* surfaces, const PawlState* state, double more);
// In the same measure: the longest way that is smooth with the accelerations of both ends, and how
// far a step will go from a state.                                                         (V43)
double pawl_surfaces_way(const PawlSurfaces* surfaces, const PawlState* from, const PawlState* to);
double pawl_surfaces_ahead(const PawlSurfaces* surfaces, const PawlState* state, double h);
// The switching functions at a state in a phase, to *z: guards of the system, then turns.
PAWL_CHECKED PawlStatus pawl_surfaces_look(PawlSurfaces* surfaces, const PawlPhase* phase,
                                           const PawlState* state, const double** z,
                                           PawlError* err);
// The modes that follow from z, as pawl_modes_next; where switching functions contain turns, these
// are looked at anew until nothing changes. *moved: `next` differs from the modes of the phase.
PAWL_CHECKED PawlStatus pawl_surfaces_next(PawlSurfaces* surfaces, const PawlPhase* phase,
                                           const PawlState* state, const double* z, double slack,
                                           int* next, bool* moved, PawlError* err);
// The modes at a start, into `modes`, which the point refers to; within `noise` of a surface the
// motion decides.
PAWL_CHECKED PawlStatus pawl_surfaces_start(PawlEval* rates, const PawlSystem* system,
                                            const PawlPoint* point, double noise, int* modes,
                                            PawlError* err);
// After a change of modes: which surfaces stand still in the modes that differ from `from` (NULL:
// in all).
PAWL_CHECKED PawlStatus pawl_surfaces_enter(PawlSurfaces* surfaces, PawlState* state,
                                            const int* from, PawlError* err);
// How far outside counts as rounding.
double pawl_surfaces_noise(const PawlSurfaces* surfaces, const PawlState* state);
