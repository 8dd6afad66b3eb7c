// SPDX-License-Identifier: Apache-2.0
// What interrupts a motion besides regions: times, conditions, capacities (docs/theory/events.md).
#pragma once

#include "step/stepper.h"

// A condition that is looked at while its constraint is in a certain mode.
typedef enum PawlWatcherKind {
  PAWL_WATCH_ENGAGE,    // free: its condition crosses zero
  PAWL_WATCH_RELEASE,   // not free: its condition crosses zero
  PAWL_WATCH_EVENT,     // always: an event of the model
  PAWL_WATCH_REST,      // waiting: the relative rate crosses zero
  PAWL_WATCH_SLIDE,     // sliding: the relative rate reaches zero
  PAWL_WATCH_CAPACITY,  // held: the multiplier reaches its bound
} PawlWatcherKind;

struct PawlTrigger;

typedef struct PawlWatcher {
  PawlWatcherKind kind;
  int of;                             // constraint, or event
  int at;                             // place among what the system watches
  const struct PawlTrigger* trigger;  // of ENGAGE, RELEASE and EVENT
  bool reacts;                        // needs accelerations or multipliers
} PawlWatcher;

// A list of times of a constraint or event.
typedef struct PawlClock {
  PawlWatcherKind kind;  // ENGAGE, RELEASE or EVENT
  int of;
  const struct PawlTrigger* trigger;
} PawlClock;

// ---- triggers.c ---------------------------------------------------------------------------------
PAWL_CHECKED PawlStatus pawl_triggers_create(PawlStepper* stepper, PawlError* err);
// The modes, sides and times of a state at the start: call once its modes are known.
PAWL_CHECKED PawlStatus pawl_triggers_start(PawlStepper* stepper, PawlState* state, PawlError* err);
// The next time after the present at which a step must end, INFINITY without; `slack` [s] counts as
// present.
double pawl_triggers_next(const PawlStepper* stepper, const PawlState* state, double slack);
// True when some watcher is worth a look in the modes of this state.
bool pawl_triggers_open(const PawlStepper* stepper, const PawlState* state);
// Chooses the watchers to be looked at from this state on; returns how many.
int pawl_triggers_arm(PawlStepper* stepper, const PawlState* state, double slack);
// With the values of what is watched (and the multipliers) at the end of a step from `state`: true
// when no armed watcher fires; then sides are noted.
bool pawl_triggers_pass(PawlStepper* stepper, PawlState* state, const double* watch,
                        const double* lambda);
// Margins of the armed watchers at a state, to switcher->margins; the least of them.
PAWL_CHECKED PawlStatus pawl_triggers_margin(PawlStepper* stepper, const PawlState* state,
                                             double* least, PawlError* err);
// The same just after a jump, where joints that begin to slide are at rest: what the jump has
// carried across zero.
PAWL_CHECKED PawlStatus pawl_triggers_crossed(PawlStepper* stepper, const PawlState* state,
                                              double* least, PawlError* err);
// After a step: notes on which side of zero every condition is (`looked`: margins were computed at
// this very state); after a jump only of those that have no side (`fresh`).
PAWL_CHECKED PawlStatus pawl_triggers_note(PawlStepper* stepper, PawlState* state, bool looked,
                                           bool fresh, PawlError* err);
// What is due at this state, by time (within `slack`) and by margins (when `watched`): the modes
// that follow go to switcher->next, `*changed`: they, or a reference value, differ from the
// present. Events are logged and their sides turned.
PAWL_CHECKED PawlStatus pawl_triggers_fire(PawlStepper* stepper, PawlState* state, double slack,
                                           bool watched, bool* changed, PawlError* err);
// Asks a constraint to engage or to let go, into switcher->next.
void pawl_triggers_engage(PawlStepper* stepper, PawlState* state, int constraint);
void pawl_triggers_release(PawlStepper* stepper, PawlState* state, int constraint);
// A capacity with a part of its slack: a joint that holds lets go a little beyond its capacity, and
// one that comes to rest sticks up to a tenth of that, so that rounding does not make it do both in
// turn.
double pawl_triggers_bound(double capacity, double part);
// Accelerations and multipliers that solve the index-1 equations at a state; those of the state
// when its method keeps them so.
PAWL_CHECKED PawlStatus pawl_triggers_react(PawlStepper* stepper, const PawlState* state,
                                            const double** a, const double** lambda,
                                            PawlError* err);
// The friction force of a sliding row as a multiplier, for the eye.
PAWL_CHECKED PawlStatus pawl_triggers_friction(PawlStepper* stepper, const PawlState* state,
                                               double* lambda, PawlError* err);

#define PAWL_REST 1e-10  // rates below this part of the largest count as zero

// ---- jump.c -------------------------------------------------------------------------------------
// From the modes of `state` to switcher->next: captures what locks hold, moves what snaps, finds
// the jump, decides which joints stick and which slide, logs it, and starts the method anew.
PAWL_CHECKED PawlStatus pawl_jump(PawlStepper* stepper, PawlState* state, PawlError* err);
// Captures the reference value of a constraint that is to engage; *refused when it may not.
PAWL_CHECKED PawlStatus pawl_jump_capture(PawlStepper* stepper, PawlState* state, int constraint,
                                          bool* refused, PawlError* err);
// The law post over the rows of switcher->set, with switcher->persistent: changes state->v.
PAWL_CHECKED PawlStatus pawl_jump_post(PawlStepper* stepper, PawlState* state,
                                       const PawlValues* values, double* impulse, PawlError* err);
// M, f, g, G, ... at a state in stepper->modes; the largest entry of a velocity or acceleration.
PAWL_CHECKED PawlStatus pawl_jump_evaluate(PawlStepper* stepper, const PawlState* state,
                                           const PawlValues** values, PawlError* err);
double pawl_jump_fastest(const PawlStepper* stepper, const double* v);

// ---- law.c --------------------------------------------------------------------------------------
#define PAWL_LAW_NONE (-1.0)        // rates are set, momentum is not looked at
#define PAWL_SMALLEST_GAIN (-1e-9)  // [1/s] a rate of z below this does not go on
// The law of the constraints that differ between two sets of modes.
PAWL_CHECKED PawlStatus pawl_law_of(const PawlStepper* stepper, const int* from, const int* to,
                                    PawlImpactLaw* law, PawlError* err);
// Prepares a jump between two gradients, and solves it with the choice of directions that lets the
// motion go on.
PAWL_CHECKED PawlStatus pawl_law_prepare(PawlStepper* stepper, const double* M, const double* G,
                                         PawlImpactLaw law, int* planes, PawlError* err);
PAWL_CHECKED PawlStatus pawl_law_solve(PawlStepper* stepper, PawlState* state, int planes,
                                       const double* rate, double* v_plus, double* Lambda,
                                       unsigned* flips, double* gain, PawlError* err);
PawlStatus pawl_law_leads_back(const PawlStepper* stepper, PawlImpactLaw law, double gain,
                               PawlError* err);

// ---- stick.c ------------------------------------------------------------------------------------
// Which of the joints with a capacity that are at rest slide (in stepper->modes); computes
// accelerations and multipliers.
PAWL_CHECKED PawlStatus pawl_jump_settle(PawlStepper* stepper, PawlState* state, PawlError* err);

// ---- events.c -----------------------------------------------------------------------------------
// A step in which anything may switch.
PAWL_CHECKED PawlStatus pawl_events_step(PawlStepper* stepper, PawlState* state, double h,
                                         PawlError* err);
// For methods that find roots themselves: what may interrupt the motion in the present modes; each
// margin is positive while the motion goes on.
int pawl_events_most(const PawlStepper* stepper);
int pawl_events_count(const PawlStepper* stepper);
PAWL_CHECKED PawlStatus pawl_events_margins(PawlStepper* stepper, double t, const double* q,
                                            const double* v, double* margins, PawlError* err);
