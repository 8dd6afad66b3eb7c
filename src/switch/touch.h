// SPDX-License-Identifier: Apache-2.0
// Conditions on the gaps of contacts (docs/theory/events.md, "Conditions on gaps"). Time stepping
// closes a contact within a step and leaves its gap at zero: a condition on the gap does not change
// its sign there. It is judged by the contact instead: a contact that is closed carries the
// conditions whose zero is that of its gap.
#pragma once

#include "switch/pinned.h"

typedef struct PawlCarrier {
  int row;   // contact, -1 without
  int side;  // the sign of the condition while that contact is open
} PawlCarrier;

// What a contact that was open does after an impact.
typedef enum PawlHit { PAWL_HIT_STAYS = 1, PAWL_HIT_BOUNCES } PawlHit;

// All of it is of the last step: what lasts is in the sides of a state (guards.h).
typedef struct PawlTouch {
  PawlPinned* pinned;
  int first, end;  // rows that are contacts
  int rubs;        // the first row of their friction, which stand before them; `first` without
  // written by the loop, by rows
  unsigned char* closed;   // at the end of the step
  unsigned char* hit;      // with an impact in it; PawlHit at instants that are located
  unsigned char* pressed;  // with a force at its beginning
  double* lambda;          // multipliers over the step
  bool fresh;              // a step was taken since the last look
  PawlCarrier* carrier;    // of each place that is watched, where its contact may have closed now
  double *slope[2], *gap_slope[2];  // watched, rows: changes along two motions
  double* size;                     // rows: of the terms of a gap
} PawlTouch;

PAWL_CHECKED PawlStatus pawl_touch_create(PawlPinned* pinned, PawlTouch* touch, PawlError* err);
// No place is carried any more.
void pawl_touch_drop(PawlTouch* touch);
// After a fresh step to this state, with the values of what is watched: which contact carries each
// place.
// Costs a factorisation where a contact without force before is closed now; `all`: where any is.
PAWL_CHECKED PawlStatus pawl_touch_find(PawlTouch* touch, const PawlState* state,
                                        const double* watch, bool all, PawlError* err);
