// SPDX-License-Identifier: Apache-2.0
// The one loop of all methods (docs/theory/events.md): advance, look at the margins of the guards,
// find the zero, jump, until quiet. A step is cut at the times of schedules. When a margin is
// negative at the end of a piece, the piece is taken again up to its zero, found by inverse
// quadratic interpolation; there the constraints change by one jump, and the rest follows. Margins
// are those of conditions and capacities, and, event-driven, of regions, too. Time stepping goes
// through regions inside each piece. Margins that are positive at both ends of a piece and near
// zero are looked at in between (switch/between.h).
#pragma once

#include "step/loop_impl.h"

PAWL_CHECKED PawlStatus pawl_loop_create(PawlStepper* stepper, bool event_driven,
                                         const PawlStateShape* known, PawlLoop** out,
                                         PawlError* err);
void pawl_loop_destroy(PawlLoop* loop);  // NULL is allowed
// A state was written from outside: what was found out for steps to come does not count.
void pawl_loop_forget(PawlLoop* loop);  // NULL is allowed
// Adds what guards and surfaces remember to the shape of states.
void pawl_loop_shape(const PawlLoop* loop, PawlStateShape* shape);

// The modes of a state at the start and what its locks hold; then, once it is consistent, sides and
// sticking.
PAWL_CHECKED PawlStatus pawl_loop_start(PawlStepper* stepper, PawlState* state, PawlError* err);
PAWL_CHECKED PawlStatus pawl_loop_settle(PawlStepper* stepper, PawlState* state, PawlError* err);

// A step in which anything may switch. On failure the state is as before.
PAWL_CHECKED PawlStatus pawl_loop_step(PawlStepper* stepper, PawlState* state, double h,
                                       PawlError* err);
// A change asked for between two steps, with all that it brings about; on failure the state is as
// before.
PAWL_CHECKED PawlStatus pawl_loop_ask(PawlStepper* stepper, PawlState* state, int constraint,
                                      bool engage, PawlError* err);

// Inputs were set between two steps: all that follows from their values.
PAWL_CHECKED PawlStatus pawl_loop_assign(PawlStepper* stepper, PawlState* state, PawlError* err);
// Impulsive forces (v) between two steps, in the same way.
PAWL_CHECKED PawlStatus pawl_loop_push(PawlStepper* stepper, PawlState* state, const double* U,
                                       PawlError* err);

// For methods that find roots themselves: what may interrupt the motion in the present phase; each
// margin is positive while the motion goes on.
int pawl_loop_most(const PawlStepper* stepper);
int pawl_loop_count(const PawlStepper* stepper);
PAWL_CHECKED PawlStatus pawl_loop_margins(PawlStepper* stepper, double t, const double* q,
                                          const double* v, double* margins, PawlError* err);
