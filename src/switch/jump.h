// SPDX-License-Identifier: Apache-2.0
// The instant of a switch (docs/theory/events.md, docs/theory/impact.md,
// docs/theory/transition.md): from a state and the modes that follow to the state after it, with
// its phase complete: what locks hold, positions that snap, the jump of the velocities, which
// joints stick, accelerations and multipliers. A function of its arguments; it knows no stepper.
#pragma once

#include "switch/bounce.h"
#include "switch/guards.h"
#include "switch/law.h"
#include "switch/stick.h"
#include "switch/strike.h"
#include "switch/transition.h"

typedef struct PawlJump {
  PawlDynamics* dynamics;
  PawlGuards* guards;
  PawlLaw* law;
  PawlStick stick;
  PawlStrike strike;  // of contacts, where these are located
  PawlBounce bounce;
  PawlState* struck;           // the state that is hit, before it is
  double* struck_impulse;      // rows: of the jump before
  PawlTransition* transition;  // the law post
  bool full;                   // in the full form, by the solver of the dynamics
  PawlLog* log;
  PawlState* before;  // the state at the instant, with its phase before
  bool follows;       // the next jump is of the same instant as the last
  double* v_first;    // v: before the first jump of the instant
  // room
  double* G_before;  // nonzeros of G
  double *dv, *rate, *size, *impulse, *loss, *correction;
  unsigned char *set, *persistent;  // rows in force after, and of these those from before
  unsigned char* touched;           // rows: has come to zero, and is hit by a later jump
  double* identity;                 // nonzeros of H
  size_t rows;
  int dependent_count;
  double drift_rate;  // of the rows that stay in force
  double told_at;     // of several sets of forces: when it was told last [s], of which contact
  int told_of;
} PawlJump;

PAWL_CHECKED PawlStatus pawl_jump_create(PawlGuards* guards, PawlLaw* law, PawlLog* log,
                                         const PawlStateShape* shape, PawlJump* jump,
                                         PawlError* err);
void pawl_jump_destroy(PawlJump* jump);

// From `state` to the modes `next`. Failure leaves the state half changed: keep a copy.
PAWL_CHECKED PawlStatus pawl_jump(PawlJump* jump, PawlState* state, const int* next,
                                  PawlError* err);
// Impulsive forces U (v) at a state, in its modes; `event` of the model or -1. As above.
PAWL_CHECKED PawlStatus pawl_jump_push(PawlJump* jump, PawlState* state, const double* U, int event,
                                       PawlError* err);
// What events have set (guards->assigns), or a call, takes effect: states and inputs have their new
// values, and all that follows from them.
PAWL_CHECKED PawlStatus pawl_jump_assign(PawlJump* jump, PawlState* state, PawlError* err);
// The start of a run, where positions and velocities are given: `state` has the modes of its place.
// First what locks hold, and whether joints with a capacity slide; then, once rows and velocities
// are consistent, which of those at rest do, accelerations and multipliers.
PAWL_CHECKED PawlStatus pawl_jump_start(PawlJump* jump, PawlState* state, PawlError* err);
PAWL_CHECKED PawlStatus pawl_jump_settle_start(PawlJump* jump, PawlState* state, PawlError* err);
