// SPDX-License-Identifier: Apache-2.0
// Impacts that accumulate (docs/theory/contacts.md, "Accumulation"): how a contact has left its
// partner from impact to impact, when what is left of that is too low to be followed, and when it
// would have ended.
#pragma once

#include "switch/strike.h"

enum {                 // numbers of a state for each contact
  PAWL_BOUNCE_TIME,    // when it was left last [s]
  PAWL_BOUNCE_RATE,    // at which rate [m/s]
  PAWL_BOUNCE_PERIOD,  // how long after the time before [s]
  PAWL_BOUNCE_RATIO,   // of that rate to the one before
  PAWL_BOUNCE_STEADY,  // how often that ratio was the same in succession
  PAWL_BOUNCE_LIMIT,   // when its impacts end [s]
  PAWL_BOUNCE_HEIGHT,  // of the last flight [m]
  PAWL_BOUNCE_LOWER,   // how many flights in succession were lower than the one before, or too low
  PAWL_BOUNCE_NUMBERS
};

typedef struct PawlBounce {
  PawlStrike* strike;
  double* second;  // rows: G v' + gamma
  double* size;    // rows: terms of gaps
  double* least;   // rows: flights lower than this are too low
  const double* gap;
  unsigned char *left, *lost;  // rows: left at this instant; by another ratio than before
  bool low;      // flights are known to the tolerances of the method alone; set by who knows
  size_t bytes;  // of all numbers of a state
} PawlBounce;

// How many numbers the contacts of a system have in a state.
int pawl_bounce_count(const PawlSystem* system);
int pawl_bounce_contacts(const PawlSystem* system);  // how many contacts it has
PAWL_CHECKED PawlStatus pawl_bounce_create(PawlStrike* strike, PawlBounce* bounce, PawlError* err);
void pawl_bounce_start(const PawlBounce* bounce, PawlState* state);
static inline double* pawl_bounce_of(const PawlState* state, int contact) {
  return state->bounces + (size_t)contact * PAWL_BOUNCE_NUMBERS;
}
// Around the impacts of one instant: none has ended yet; and those that have are at their limit,
// where one is known.
void pawl_bounce_begin(PawlBounce* bounce);
void pawl_bounce_end(PawlBounce* bounce, PawlState* state);
// After an impact to a state with its accelerations: notes how contacts are left. *ends: some would
// return from less than PAWL_BOUNCE_LEAST of `scale` (by contacts, `stride` apart), or than the
// method can follow; they are to be hit again without restitution (strike->dull). (C10) (C11)
void pawl_bounce_note(PawlBounce* bounce, PawlState* state, const PawlValues* values,
                      const double* scale, int stride, bool* ends);
