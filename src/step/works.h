// SPDX-License-Identifier: Apache-2.0
// The works that change the energy of a run, integrated piece by piece along its motion
// (docs/theory/energy.md). A piece is what a method does between two states that it knows: a step,
// a step of its own of a method that chooses them, the part of a step up to an instant. Works are
// part of a state, so that a step taken back takes its works back.
#pragma once

#include "step/leaps.h"
#include "step/method.h"
#include "system/system.h"

enum { PAWL_WORKS_MOST_INNER = 2 };

// A point inside a piece, at the fraction s of it, and how the motion there follows from its ends:
// q = q0 + sum of h^k q[.] ..., see place_inner in works.c.
typedef struct PawlInnerPoint {
  double s;
  double weight;             // of the quadrature, of the piece
  double q1, v[2], a[2];     // of q1 - q0, h v0, h v1, h^2 a0, h^2 a1 in q - q0
  double rq1, rv[2], ra[2];  // of the same in h v
} PawlInnerPoint;

struct PawlWorks {
  unsigned powers;       // those that the system has: bits of PawlPower
  bool drives;           // multipliers have power
  bool exact;            // of the method: accelerations and multipliers are known at any (t, q, v)
  PawlEval* eval;        // powers
  PawlDynamics* inside;  // for multipliers inside a piece; NULL without
  PawlSlip* slip;        // friction of located contacts; NULL without
  double* rubbing;       // rows: its forces
  PawlLeaps leaps;
  int inner_count;
  PawlInnerPoint inner[PAWL_WORKS_MOST_INNER];
  double end_weight;  // of each end
  // where the piece begins
  bool known;
  double t, *q, *v, *a, *lambda;
  int* modes;
  double power[PAWL_POWER_COUNT];
  double *inner_q, *inner_v, *inner_a, *inner_lambda;
  double* q_rate[2];            // q' at both ends; of rotations
  double *end_a, *shown;        // of an end, where they are not at hand
  double* plain_a;              // v: of an end, where that is not known
  double sum[PAWL_WORK_COUNT];  // of the step under way
  bool jolted;                  // the piece begins with multipliers that are impulses
};

// Works for a stepper whose method is made.
PAWL_CHECKED PawlStatus pawl_works_create(PawlStepper* stepper, struct PawlWorks** out,
                                          PawlError* err);
void pawl_works_destroy(struct PawlWorks* works);  // NULL is allowed

// Nothing works but jumps: begin, piece and end do nothing, and cannot fail.
static inline bool pawl_works_idle(const PawlStepper* stepper) {
  return stepper->works->powers == 0 && !stepper->works->leaps.eval;
}
// A step of the stepper begins, before anything is crossed or switched.
static inline void pawl_works_mark(const PawlStepper* stepper, const PawlState* state) {
  pawl_leaps_mark(stepper, &stepper->works->leaps, state);
}
// A step begins at `state`: nothing is summed up yet. This and all below need stepper->works.
PAWL_CHECKED PawlStatus pawl_works_begin(PawlStepper* stepper, const PawlState* state,
                                         PawlError* err);
// A piece of the step has led to these; for methods with steps of their own. `a` and `lambda` may
// be NULL where they are not at hand. Before the piece that pawl_works_end adds; may lie behind it.
PAWL_CHECKED PawlStatus pawl_works_piece(PawlStepper* stepper, const PawlPhase* phase, double t,
                                         const double* q, const double* v, const double* a,
                                         const double* lambda, PawlError* err);
// The step has led to `state`: the last piece, and the works are added to those of the state. A
// step through a region has none: the log has all that it did to the energy as one jump.
PAWL_CHECKED PawlStatus pawl_works_end(PawlStepper* stepper, PawlState* state, PawlError* err);
// The step of the stepper is done: what leapt at its very end.
PAWL_CHECKED PawlStatus pawl_works_close(PawlStepper* stepper, PawlState* state, PawlError* err);
// The jumps of the log, after a step.
void pawl_works_jumps(PawlStepper* stepper, PawlState* state);
