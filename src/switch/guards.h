// SPDX-License-Identifier: Apache-2.0
// What ends a phase (docs/theory/events.md): one table of guards for times, durations, conditions,
// relative rates, capacities, contacts and regions. A guard is watched while its constraint is in
// certain modes; its margin is positive as long as nothing happens; at its zero another mode
// follows.
//
// A condition has a side, the sign that it was last seen with; it fires when the sign turns, so
// that a root is met once, and a condition that begins at zero has no side until it leaves it. A
// condition that the rows in force hold at zero has none as long as they do. Sides are part of a
// state, as all else that guards remember; what is in PawlGuards besides the table is scratch.
#pragma once

#include "switch/jam.h"
#include "switch/log.h"
#include "switch/pinned.h"
#include "switch/surfaces.h"
#include "switch/touch.h"
#include "switch/turning.h"
#include "switch/watch.h"

struct PawlTrigger;

typedef enum PawlGuarded {  // what is watched
  PAWL_GUARD_CONDITION,     // an expression crosses zero
  PAWL_GUARD_RATE,          // the relative rate of a joint comes to zero
  PAWL_GUARD_GAP,           // the gap of an open contact comes to zero
  PAWL_GUARD_PRESS,         // the force of a closed contact comes to zero
  PAWL_GUARD_CONE,          // the friction of a contact that sticks reaches its bound
  PAWL_GUARD_SLIP,          // the slip of a contact comes to zero
  PAWL_GUARD_CAPACITY,      // the multiplier of a joint reaches its bound
  PAWL_GUARD_TIMES,         // a list of times
  PAWL_GUARD_DURATION,      // a time since the last change
  PAWL_GUARD_LIMIT,         // the time at which the impacts of a contact end
  PAWL_GUARD_REGION,        // the switching function of the region of a mode
  PAWL_GUARD_TURN,          // the whole periods of a wrap
} PawlGuarded;

typedef enum PawlGuardThen {  // what follows
  PAWL_THEN_ENGAGE,           // held, waiting or sliding, as the relative rate has it
  PAWL_THEN_RELEASE,          // free
  PAWL_THEN_EVENT,            // an event of the model, `of` is its number
  PAWL_THEN_SETTLE,           // sticks or slides, as forces have it
  PAWL_THEN_TOUCH,            // an impact, or stays closed
  PAWL_THEN_REST,             // its impacts have ended
  PAWL_THEN_OPEN,             // opens, unless other contacts that open make it press again
  PAWL_THEN_GRIP,             // friction sticks or slips, as forces have it
  PAWL_THEN_MOVE,             // the region, or the turn, of the place
} PawlGuardThen;

enum {  // modes in which a guard is watched, besides one of them
  PAWL_FROM_ANY = -1,
  PAWL_FROM_ENGAGED = -2,  // not free
  PAWL_FROM_BOUND = -3,    // neither free nor waiting
  PAWL_FROM_SLIDING = -4,
  PAWL_FROM_LIMIT = -5,   // contacts: at the limit of their impacts
  PAWL_FROM_STICKS = -6,  // with friction: closed, and sticks
  PAWL_FROM_SLIPS = -7,
};

typedef struct PawlGuard {
  PawlGuarded what;
  PawlGuardThen then;
  int of;    // constraint, discrete variable of a contact, or event
  int from;  // mode, or one of the above
  int slip;  // of friction: its number among contacts with it
  int at;  // place among what is watched, of the switching functions, row of a contact; -1 without
  int direction;  // -1: only down, 1: only up, 0: both
  double dwell;   // least time since the last change of `of` [s]
  bool reacts;    // needs accelerations or multipliers
  bool presses;   // needs the force of a contact: with time stepping that of a whole step
  bool sided;  // has a side; the rate of a sliding joint has none, it is watched in its direction
  const struct PawlTrigger* times;  // TIMES
} PawlGuard;

typedef struct PawlMargin {
  double least;    // of all
  double regions;  // of regions and turns alone
  int constraint;  // the one whose region is left first
  double kinks;    // of the kinks of forces and energies
} PawlMargin;

typedef struct PawlLook {  // what pawl_guards_clear needs to know of an armed guard
  int guard, at;           // its place in the table, and among what is watched
  int row;                 // of the multiplier that is bounded; -1 without
  bool sided;
  bool counts;  // by itself, rather than by whole steps
} PawlLook;

typedef struct PawlGuards {
  PawlDynamics* dynamics;
  PawlWatching* watching;
  PawlSurfaces* surfaces;
  PawlPinned pinned;
  PawlTouch touch;
  bool exact;                 // a and lambda of states solve the index-1 equations at (t, q, v)
  bool contacts;              // those of contacts are located
  int first_gap, gap_stride;  // where the gaps of contacts are in the table
  bool locates;               // regions are located, too
  bool kinks;                 // and the kinks of forces and energies
  bool reacts;                // some guard or set needs accelerations or multipliers
  int count;            // of the table: conditions, rates and capacities first, then times and
  int condition_count;  // durations, then regions and turns
  int clock_count;
  PawlGuard* all;
  int since_count;  // constraints and events
  // scratch
  bool listed;        // the next are those of
  int* listed_modes;  // these modes
  int open_count, sided_count, armed_count;
  int *open, *sided, *armed;  // guards worth a look, those whose side is noted, those looked at
  bool open_dwells;           // some of the open wait for a time
  bool chosen;                // the armed are some of the open
  bool sided_reacts, armed_reacts;
  PawlLook* looks;                  // of the armed
  double *margins, *first_margins;  // of the armed, now and at the beginning of a piece
  double* distances;                // the same, whatever the direction of a condition
  double first_regions, last_regions;
  double *kink_margins, *first_kinks;  // of each kink, now and at the beginning of a piece
  const PawlState* last_of;  // whose distances are those of the end of the last piece, or NULL
  double last_time;          // [s]
  int last_count;
  double slip_rounding;  // of rates of slips, at the last look at gaps
  double nearness;       // PAWL_NEAR, or more for steps that are long
  bool near;      // at the last look: some margin may have been negative since the beginning of the
                  // piece
  bool low;       // and some gap is so low that it may have been, if it turns fast
  bool noted;     // a side has changed since the last look
  bool stepped;   // what fires next does so at the end of a step: contacts count
  bool entered;   // what fires next was turned by the contacts of the last jump
  bool any_soon;  // some condition crosses zero within the tolerance of what fires next
  double* aside;  // room for margins
  unsigned char* turned;         // conditions: what the last step has turned
  int* firings;                  // of each in this step
  unsigned char* soon;           // conditions: cross zero within the tolerance of this instant
  unsigned char* early;          // conditions: turned at the last instant before they were across
  const double *watch, *lambda;  // of the last look
  PawlSlip *slip, *slip_aside;   // rates of friction; NULL without
  PawlTurning turning;           // where there is friction
  PawlJam jam;
  PawlEval *gaps, *gaps_aside;      // rows at position level; NULL where contacts are not located
  bool timed;                       // they depend on t by themselves, and their g_t is there, too
  unsigned char *touched, *pulled;  // rows of contacts: fired at the instant under way
  unsigned char* jams;              // rows of contacts: they lift off from their critical friction
  double* slack;                 // rows: how far below zero a gap that has touched was looked for
  bool only_touched;             // nothing else has
  double *react, *react_aside;   // v, rows
  double *seen, *seen_aside;     // rows: multipliers as conditions see them
  unsigned char* pinned_places;  // watched: the rows in force hold it at zero
  int* modes;                    // a trial
  unsigned char* loosened;       // constraints: slide to the end of the step, after an impact
  unsigned char* reached;        // constraints: their capacity, at the instant that fired last
  unsigned char* broken;         // rows of contacts: the same of their cones
                                 // (1), and again after they were kept (2)
  unsigned char* lifted;         // rows of contacts: the same of those whose force came to zero
  double reached_at;             // [s]
  int push_count;                // events with an impulse that have fired and await it
  int* pushes;                   // of them
  double* push_values;           // impulses of the model: their values when they fired
  int assign_count;              // events with `set` that have fired and await it
  int* assigns;                  // of them
  double* assign_values;         // sets of the model: their values when they fired
  bool assigns_react;            // some of these need accelerations or multipliers
} PawlGuards;

typedef struct PawlFired {
  bool changed;  // modes differ, or a joint is to settle
  bool stop;     // an event ends the run
} PawlFired;

// `locates`: regions are located; `contacts`: and contacts.
PAWL_CHECKED PawlStatus pawl_guards_create(PawlWatching* watching, PawlSurfaces* surfaces,
                                           bool exact, bool locates, bool contacts,
                                           PawlGuards* guards, PawlError* err);
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
// Between two looks. Here a condition counts in both directions, whatever its own: it has to turn
// before it can turn back and fire.
// True when what the end of the last piece has left serves the guards that are armed now.
bool pawl_guards_known(const PawlGuards* guards, const PawlState* state);
// What margins are at the beginning of a piece, to first_margins and first_regions: as at the end
// of the last one, or looked at.
PAWL_CHECKED PawlStatus pawl_guards_begin(PawlGuards* guards, const PawlState* state,
                                          PawlError* err);
// After a quiet piece, with sides noted: its end is the beginning of the next.
void pawl_guards_keep(PawlGuards* guards, const PawlState* state, double regions);
void pawl_guards_forget(PawlGuards* guards);
// How long the next piece may be [s] near a jam, where slips of contacts in space are slow (then
// turning.slow) and, where `turning`, so that the method follows them; INFINITY without. (F29)
// (F36) (F80)
PAWL_CHECKED PawlStatus pawl_guards_longest(PawlGuards* guards, const PawlState* state,
                                            bool turning, double* longest, PawlError* err);
// How far the fastest motion turns in a step [rad], where the method knows it: the longer, the
// farther from zero a margin may be at both ends of a step and have been below it in between.
void pawl_guards_resolve(PawlGuards* guards, double angle);
// Whether some margin that is positive now and was so at the beginning of the piece may have been
// negative in between; `regions` is that of regions.
bool pawl_guards_near(const PawlGuards* guards, const PawlState* state, double regions);
// After a look where guards->low is set: whether some low gap has a tangent at that place which was
// below zero at the beginning of the piece, by the gaps at a state `part` of the piece before it.
//                                                                                           (V16d)
PAWL_CHECKED PawlStatus pawl_guards_gaps_turn(PawlGuards* guards, const PawlState* before,
                                              double part, bool* turn, PawlError* err);
// The same, of regions alone, for this piece or one after it whose margin changes as much; or their
// margin is not positive.
bool pawl_guards_soon(const PawlGuards* guards, const PawlState* state, double regions);
// Distances (armed), the margin of regions and those of kinks at another state, besides the last
// look.
PAWL_CHECKED PawlStatus pawl_guards_aside(const PawlGuards* guards, const PawlState* state,
                                          double* distances, double* regions, double* kinks,
                                          PawlError* err);
// How deep a dip of an armed margin may be by rounding.
double pawl_guards_noise(const PawlGuards* guards, const PawlState* state, int armed);
// What the next needs to know of those that are armed, as long as the phase lasts.
void pawl_guards_plan(PawlGuards* guards);
// With the values of what is watched (and the multipliers) at the end of a step from `state`, whose
// beginning is known: whether no armed guard fires. guards->near: some may have fired in between.
bool pawl_guards_clear(PawlGuards* guards, const PawlState* state, const double* watch,
                       const double* lambda);
// After that, with their rates at the same place: whether some margin that is near turns within
// this step of length h.
bool pawl_guards_turns(const PawlGuards* guards, const PawlState* state, const double* watch,
                       const double* lambda, const PawlWatchRates* rates, double h);
// And after that: the step is taken, and sides are noted.
void pawl_guards_pass(PawlGuards* guards, PawlState* state, const double* watch);
// After a step: notes on which side of zero every condition is (`looked`: margins were computed at
// this very state).
PAWL_CHECKED PawlStatus pawl_guards_note(PawlGuards* guards, PawlState* state, bool looked,
                                         PawlError* err);
// After a jump, and at the start: notes sides of those that have none, and which the rows in force
// hold. Needs a and lambda of the state, and the values of the dynamics that gave them.
PAWL_CHECKED PawlStatus pawl_guards_enter(PawlGuards* guards, PawlState* state, PawlError* err);
// After a step to the state looked at last: whether what is judged by whole steps, conditions on
// gaps and on the forces of contacts, is due there.
bool pawl_guards_step_turns(const PawlGuards* guards, const PawlState* state);
// After a jump, where contacts are located: whether what they carry is due (guards->entered).
bool pawl_guards_jump_turns(PawlGuards* guards);
// The tolerance [s] of the instant of a state, the place looked at last: whether some armed
// condition is so near zero that it may be crossed within it.
bool pawl_guards_may_be_soon(PawlGuards* guards, const PawlState* state, double tolerance);
// Which of them do, by the distances (armed) that far ahead: they fire at this instant. (V61)
void pawl_guards_note_soon(PawlGuards* guards, const PawlState* state, const double* ahead);
// What is due at this state, by time (within `slack`) and by margins (when `watched`): the modes
// that follow go to `next`. Events are logged and sides turned. What whole steps turn counts where
// guards->stepped is set.
PAWL_CHECKED PawlStatus pawl_guards_fire(PawlGuards* guards, PawlState* state, double slack,
                                         bool watched, int* next, PawlLog* log, PawlFired* fired,
                                         PawlError* err);
// What contacts have fired at an instant has been dealt with.
void pawl_guards_forget_contacts(PawlGuards* guards);
// After a jump: conditions that it has carried back without firing take their new side, so that
// they may fire before the next look; by `set` (`exact`), or by more than a jump leaves of what it
// stops.
void pawl_guards_turn_back(PawlGuards* guards, PawlState* state, bool exact);
// A condition that a kink drives back and forth through zero: has no side until it is farther away
// than `blur`.
void pawl_guards_blur(PawlGuards* guards, PawlState* state, int condition, double blur);
// Asks a constraint to engage or to let go, into `next`.
PAWL_CHECKED PawlStatus pawl_guards_ask(PawlGuards* guards, PawlState* state, int constraint,
                                        bool engage, int* next, PawlError* err);
