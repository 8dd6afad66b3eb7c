// SPDX-License-Identifier: Apache-2.0
// Which of the expressions that are watched do the rows in force hold at zero
// (docs/theory/events.md, "Conditions on what is held")? A condition that they hold has no side,
// and must not fire by rounding or by the drift that a method allows.
#pragma once

#include "switch/watch.h"

typedef struct PawlPinned {
  PawlDynamics* dynamics;
  PawlEval* rates;                  // of what is watched
  double *push, *free;              // v: a motion of all coordinates, and what of it the rows allow
  double *zero, *rows;              // v zeros; rows: room
  double *base[2], *along;          // watched: rates without (by v, by v') and with a motion
  double* largest;                  // watched: the largest value so far, set by who knows it, or 0
  double *by_push[2], *by_free[2];  // watched: largest change by velocities [0], accelerations [1]
} PawlPinned;

PAWL_CHECKED PawlStatus pawl_pinned_create(PawlDynamics* dynamics, PawlPinned* pinned,
                                           PawlError* err);
void pawl_pinned_destroy(PawlPinned* pinned);
// Flags by place: held at zero at this state, in its phase; before, those held until now, which may
// have drifted. `values` hold M and G there, `watch`
// what is watched, `a` are consistent accelerations; a value counts as zero below `zero` times the
// size of its terms, or of its largest value: all that moves may be drift. Factors the KKT matrix
// of the rows that bind.
PAWL_CHECKED PawlStatus pawl_pinned_find(PawlPinned* pinned, const PawlState* state,
                                         const PawlValues* values, const double* a,
                                         const double* watch, double zero, unsigned char* flags,
                                         PawlError* err);
// After that, or after the next: how much what is watched at a place changes with the velocities; 0
// where it does not, or has no such slope.
double pawl_pinned_slope(const PawlPinned* pinned, int place);
PAWL_CHECKED PawlStatus pawl_pinned_measure(PawlPinned* pinned, const PawlState* state,
                                            const PawlValues* values, PawlError* err);
// How each place changes along the k-th motion without pattern (k = 0, 1) that the rows in force
// allow, to `slopes`; *motion is valid until the next call. `values` hold M and G.
PAWL_CHECKED PawlStatus pawl_pinned_slopes(PawlPinned* pinned, const PawlState* state,
                                           const PawlValues* values, int k, double* slopes,
                                           const double** motion, PawlError* err);
// Whether the rows in force hold a rate (at `place`, with the value `rate`) at zero, whatever they
// have drifted: without the drift, the least change of v in the metric of the masses, it is zero.
// `v` and `a` of the state may both be nothing but drift.                                     (V21)
PAWL_CHECKED PawlStatus pawl_pinned_rests(PawlPinned* pinned, const PawlState* state,
                                          const PawlValues* values, const double* a, int place,
                                          double rate, bool* yes, PawlError* err);
