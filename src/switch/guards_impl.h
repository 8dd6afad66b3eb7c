// SPDX-License-Identifier: Apache-2.0
// What the files of guards share.
#pragma once

#include <math.h>

#include "model/model.h"
#include "switch/guards.h"
#include "system/system.h"

enum { PAWL_TURNS_UP = 1, PAWL_TURNS_DOWN = 2 };  // what a whole step turns

// Constraints come before events in the list of times of last changes.
PAWL_INLINE double* pawl_guards_since(const PawlGuards* g, const PawlState* state,
                                      const PawlGuard* guard) {
  return &state->since[guard->then == PAWL_THEN_EVENT
                           ? g->dynamics->system->constraint_count + guard->of
                           : guard->of];
}

PAWL_INLINE bool pawl_guards_of_contact(const PawlGuard* guard) {
  return guard->what >= PAWL_GUARD_GAP && guard->what <= PAWL_GUARD_SLIP;
}

// Of a contact with friction: what is left of its cone, or how fast it slips.           (F21) (F23)
double pawl_guards_friction(const PawlGuards* g, const PawlState* state, const PawlGuard* guard,
                            const double* lambda);
// What a guard looks at: a condition, a rate, a capacity, the gap, the force or the friction of a
// contact.
PAWL_INLINE double pawl_guards_value(const PawlGuards* g, const PawlState* state,
                                     const PawlGuard* guard, const double* watch,
                                     const double* lambda) {
  return guard->what == PAWL_GUARD_GAP     ? pawl_eval_values(g->gaps)->g[guard->at]
         : guard->what == PAWL_GUARD_PRESS ? lambda[guard->at]
         : pawl_guards_of_contact(guard)   ? pawl_guards_friction(g, state, guard, lambda)
                                           : watch[guard->at];
}

// Whether the mode of its constraint makes a guard worth a look.
PAWL_INLINE bool pawl_guards_is_open(const PawlGuard* guard, const int* modes) {
  int mode = guard->from == PAWL_FROM_ANY ? 0 : modes[guard->of];
  switch (guard->from) {
    case PAWL_FROM_ANY:
      return true;
    case PAWL_FROM_ENGAGED:
      return mode != PAWL_MODE_FREE;
    case PAWL_FROM_BOUND:
      return mode != PAWL_MODE_FREE && mode != PAWL_MODE_WAITING;
    case PAWL_FROM_SLIDING:
      return mode >= PAWL_MODE_UP;
    case PAWL_FROM_LIMIT:
      return mode == PAWL_MODE_LIMIT || mode == PAWL_MODE_SLIPS_LIMIT;
    case PAWL_FROM_STICKS:
      return mode == PAWL_MODE_CLOSED || mode == PAWL_MODE_LIMIT;
    case PAWL_FROM_SLIPS:
      return mode >= PAWL_MODE_SLIPS;
    default:
      return mode == guard->from;
  }
}

// Worth a note: a side, or the rate of sliding.
PAWL_INLINE bool pawl_guards_is_noted(const PawlGuard* guard, const PawlState* state) {
  return guard->what != PAWL_GUARD_CAPACITY && pawl_guards_is_open(guard, state->modes);
}

// The time before which a condition does not count.
PAWL_INLINE double pawl_guards_ready(const PawlGuards* g, const PawlState* state,
                                     const PawlGuard* guard) {
  return guard->dwell > 0.0 ? *pawl_guards_since(g, state, guard) + guard->dwell : -INFINITY;
}

// Judged by whole steps: a condition that a closed contact carries, or with the force of a contact,
// where contacts are not located.
PAWL_INLINE bool pawl_guards_by_steps(const PawlGuards* g, const PawlGuard* guard) {
  return guard->sided && !g->contacts && (guard->presses || g->touch.carrier[guard->at].row >= 0);
}

// On the side that its direction asks for already: it turns without firing.
PAWL_INLINE bool pawl_guards_turns_only(const PawlGuards* g, const PawlState* state, int k) {
  const PawlGuard* guard = &g->all[k];
  return guard->direction != 0 && guard->sided && state->sides[k] == guard->direction;
}

// Makes g->open and g->sided those of the modes of this state.
void pawl_guards_list(PawlGuards* g, const PawlState* state);
// Accelerations and multipliers that solve the index-1 equations at a state; those of the state
// when its method keeps them so.
PAWL_CHECKED PawlStatus pawl_guards_react(PawlGuards* g, const PawlState* state, const double** a,
                                          const double** lambda, PawlError* err);
// All that is watched, at a state; `reacts`: with consistent accelerations and multipliers.
PAWL_CHECKED PawlStatus pawl_guards_look(PawlGuards* g, const PawlState* state, bool reacts,
                                         const double** lambda, PawlError* err);
// The gaps at a state, for pawl_guards_value.
PAWL_CHECKED PawlStatus pawl_guards_look_at_gaps(PawlGuards* g, const PawlState* state,
                                                 PawlError* err);
// A condition without a side may be carried by a contact that was closed before, too.
PAWL_CHECKED PawlStatus pawl_guards_find_carriers(PawlGuards* g, const PawlState* state,
                                                  PawlError* err);
// Notes the side of one whose value is `f`; below `none` times its largest it has none.
void pawl_guards_note_one(PawlGuards* g, PawlState* state, int k, double f, double none);
// Of what has turned, that which a guard fires at.
int pawl_guards_asked_for(const PawlGuard* guard, int turns);
// All sides that the step to this state has turned; what it has turned goes to g->turned.
void pawl_guards_take_turns(PawlGuards* g, PawlState* state);
// A relative rate that is zero but for rounding and the tolerance of an instant.
PAWL_CHECKED PawlStatus pawl_guards_rests(PawlGuards* g, const PawlState* state, int c, double rate,
                                          bool* yes, PawlError* err);
// The mode in which a constraint engages.
PAWL_CHECKED PawlStatus pawl_guards_engaged_mode(PawlGuards* g, const PawlState* state, int c,
                                                 int* mode, PawlError* err);
