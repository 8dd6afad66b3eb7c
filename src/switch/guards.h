// SPDX-License-Identifier: Apache-2.0
// What ends a phase (docs/theory/events.md): one table of guards for times, durations, conditions,
// relative rates, capacities and regions. A guard is watched while its constraint is in certain
// modes; its margin is positive as long as nothing happens; at its zero another mode follows.
//
// A condition has a side, the sign that it was last seen with; it fires when the sign turns, so
// that a root is met once, and a condition that begins at zero has no side until it leaves it. A
// condition that the rows in force hold at zero has none as long as they do. Sides are part of a
// state, as all else that guards remember; what is in PawlGuards besides the table is scratch.
#pragma once

#include "switch/log.h"
#include "switch/pinned.h"
#include "switch/surfaces.h"
#include "switch/watch.h"

struct PawlTrigger;

typedef enum PawlGuarded {  // what is watched
  PAWL_GUARD_CONDITION,     // an expression crosses zero
  PAWL_GUARD_RATE,          // the relative rate of a joint comes to zero
  PAWL_GUARD_CAPACITY,      // the multiplier of a joint reaches its bound
  PAWL_GUARD_TIMES,         // a list of times
  PAWL_GUARD_DURATION,      // a time since the last change
  PAWL_GUARD_REGION,        // the switching function of the region of a mode
  PAWL_GUARD_TURN,          // the whole periods of a wrap
} PawlGuarded;

typedef enum PawlGuardThen {  // what follows
  PAWL_THEN_ENGAGE,           // held, waiting or sliding, as the relative rate has it
  PAWL_THEN_RELEASE,          // free
  PAWL_THEN_EVENT,            // an event of the model, `of` is its number
  PAWL_THEN_SETTLE,           // sticks or slides, as forces have it
  PAWL_THEN_MOVE,             // the region, or the turn, of the place
} PawlGuardThen;

enum {  // modes in which a guard is watched, besides one of them
  PAWL_FROM_ANY = -1,
  PAWL_FROM_ENGAGED = -2,  // not free
  PAWL_FROM_BOUND = -3,    // neither free nor waiting
  PAWL_FROM_SLIDING = -4,
};

typedef struct PawlGuard {
  PawlGuarded what;
  PawlGuardThen then;
  int of;         // constraint, or event
  int from;       // mode, or one of the above
  int at;         // place among what is watched, or of the switching functions; -1 without
  int direction;  // -1: only down, 1: only up, 0: both
  double dwell;   // least time since the last change of `of` [s]
  bool reacts;    // needs accelerations or multipliers
  const struct PawlTrigger* times;  // TIMES
} PawlGuard;

enum { PAWL_SIDE_PINNED = 2 };  // of PawlState.sides: the rows in force hold this condition at zero

typedef struct PawlMargin {
  double least;    // of all
  double regions;  // of regions and turns alone
  int constraint;  // the one whose region is left first
} PawlMargin;

typedef struct PawlGuards {
  PawlDynamics* dynamics;
  PawlWatching* watching;
  PawlSurfaces* surfaces;
  PawlPinned pinned;
  bool exact;           // a and lambda of states solve the index-1 equations at (t, q, v)
  bool locates;         // regions are located, too
  int count;            // of the table: conditions, rates and capacities first, then times and
  int condition_count;  // durations, then regions and turns
  int clock_count;
  PawlGuard* all;
  int since_count;  // constraints and events
  // scratch
  int armed_count, sided_count;
  int *armed, *sided;  // guards looked at, and those whose side is noted
  bool armed_reacts;
  double *margins, *first_margins;  // of the armed, now and at the beginning of a piece
  const double* watch;              // of the last look
  double* react;                    // v, rows
  unsigned char* pinned_places;     // watched: the rows in force hold it at zero
  int* modes;                       // a trial
  unsigned char* loosened;          // constraints: slide to the end of the step, after an impact
} PawlGuards;

typedef struct PawlFired {
  bool changed;  // modes differ, or a joint is to settle
  bool stop;     // an event ends the run
} PawlFired;

PAWL_CHECKED PawlStatus pawl_guards_create(PawlWatching* watching, PawlSurfaces* surfaces,
                                           bool exact, bool locates, PawlGuards* guards,
                                           PawlError* err);
void pawl_guards_destroy(PawlGuards* guards);

// Forgets all that guards remember.
void pawl_guards_start(const PawlGuards* guards, PawlState* state);
// The next time after the present at which a step must end, INFINITY without; `slack` [s] counts as
// present.
double pawl_guards_next(const PawlGuards* guards, const PawlState* state, double slack);
// True when some condition is worth a look in the modes of this state.
bool pawl_guards_open(const PawlGuards* guards, const PawlState* state);
// Chooses the conditions to be looked at from this state on; returns how many.
int pawl_guards_arm(PawlGuards* guards, const PawlState* state, double slack);
// Margins of the armed, and of regions where these are located, at a state.
PAWL_CHECKED PawlStatus pawl_guards_margins(PawlGuards* guards, const PawlState* state,
                                            PawlMargin* margin, PawlError* err);
// The same of conditions just after a jump, where joints that begin to slide are at rest: what the
// jump has carried across zero.
PAWL_CHECKED PawlStatus pawl_guards_crossed(PawlGuards* guards, const PawlState* state,
                                            PawlMargin* margin, PawlError* err);
void pawl_guards_keep_margins(PawlGuards* guards);
// With the values of what is watched (and the multipliers) at the end of a step from `state`: true
// when no armed guard fires; then sides are noted.
bool pawl_guards_pass(PawlGuards* guards, PawlState* state, const double* watch,
                      const double* lambda);
// After a step: notes on which side of zero every condition is (`looked`: margins were computed at
// this very state).
PAWL_CHECKED PawlStatus pawl_guards_note(PawlGuards* guards, PawlState* state, bool looked,
                                         PawlError* err);
// After a jump, and at the start: notes sides of those that have none, and which the rows in force
// hold. Needs a and lambda of the state, and the values of the dynamics that gave them.
PAWL_CHECKED PawlStatus pawl_guards_enter(PawlGuards* guards, PawlState* state, PawlError* err);
// What is due at this state, by time (within `slack`) and by margins (when `watched`): the modes
// that follow go to `next`. Events are logged and sides turned.
PAWL_CHECKED PawlStatus pawl_guards_fire(PawlGuards* guards, PawlState* state, double slack,
                                         bool watched, int* next, PawlLog* log, PawlFired* fired,
                                         PawlError* err);
// Asks a constraint to engage or to let go, into `next`.
PAWL_CHECKED PawlStatus pawl_guards_ask(PawlGuards* guards, PawlState* state, int constraint,
                                        bool engage, int* next, PawlError* err);
