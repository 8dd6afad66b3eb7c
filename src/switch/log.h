// SPDX-License-Identifier: Apache-2.0
// The instants of the step under way. The log grows as it must; it allocates only in a step with
// more instants than any before.
#pragma once

#include "switch/phase.h"

typedef struct PawlLog {
  PawlArena* arena;
  PawlSizes sizes;
  int count, room;
  PawlInstant** instants;
  int* block_of;         // of each entry: its arrays
  PawlInstant** blocks;  // arrays alone
  int block_room;
  const PawlState* end_of;  // the time step whose end the last contact was logged at
  const double *end_q, *end_v;
  double* nothing;  // rows: no impulse, no loss
  bool sides;       // accelerations and multipliers are noted, too
} PawlLog;

PAWL_CHECKED PawlStatus pawl_log_create(PawlArena* arena, const PawlSystem* system, PawlLog* log,
                                        PawlError* err);
// A switch: the state after it, with its modes, and what was before. `impulse` and `loss` by rows;
// NULL: none.
PAWL_CHECKED PawlStatus pawl_log_switch(PawlLog* log, const PawlState* after, const int* from,
                                        const double* v_before, const double* impulse,
                                        const double* loss, double energy_lost, PawlError* err);
// An event of the model, and a constraint that did not engage, at a state.
// An event, or a call (-1), has set states or inputs.
PAWL_CHECKED PawlStatus pawl_log_assign(PawlLog* log, const PawlState* after, int event,
                                        const double* v_before, double energy_lost, PawlError* err);
PAWL_CHECKED PawlStatus pawl_log_event(PawlLog* log, const PawlState* state, int event,
                                       PawlError* err);
PAWL_CHECKED PawlStatus pawl_log_refusal(PawlLog* log, const PawlState* state, int constraint,
                                         PawlError* err);
// Impulsive forces U (v) at an instant: the state after them, the event of the model that they
// belong to or -1, impulses that answer in the rows.
PAWL_CHECKED PawlStatus pawl_log_push(PawlLog* log, const PawlState* after, int event,
                                      const double* v_before, const double* U,
                                      const double* impulse, double energy_lost, PawlError* err);
// An impact on a contact row in a time step from `before` to (t, q, v): the mode in which it was
// hit, its impulse and the energy it took.
typedef struct PawlContactHit {
  int row, from;
  double impulse, energy_lost;
  double t;
  const double *q, *v;
} PawlContactHit;
PAWL_CHECKED PawlStatus pawl_log_contact(PawlLog* log, const PawlState* before,
                                         const PawlContactHit* hit, PawlError* err);
// The impulses of friction of the contact in the newest entry, from those of all rows.
void pawl_log_rub(PawlLog* log, const PawlSystem* system, const double* impulse);
// A contact that was hit, has closed or has opened at a located instant: the state after it, with
// its modes; from the modes and velocities before. All of one jump share their arrays.
typedef struct PawlContactMet {
  int row;
  bool again;  // the entry before is of the same jump
  double impulse, energy_lost;
  const int* from;
  const double* v_before;
} PawlContactMet;
PAWL_CHECKED PawlStatus pawl_log_met(PawlLog* log, const PawlState* after,
                                     const PawlContactMet* met, PawlError* err);
// A contact whose friction has another mode at the end of a time step; nothing jumps. From the
// state before the step to (t, q, v) after it.
typedef struct PawlContactSeen {
  int row, from, to;
  double t;
  const double *q, *v;
} PawlContactSeen;
PAWL_CHECKED PawlStatus pawl_log_seen(PawlLog* log, const PawlState* before,
                                      const PawlContactSeen* seen, PawlError* err);
// Accelerations, multipliers (rows) and what locks hold on one side of the newest instant.
void pawl_log_side(PawlLog* log, bool after, const double* a, const double* lambda,
                   const double* held);
