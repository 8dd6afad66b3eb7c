// SPDX-License-Identifier: Apache-2.0
// What the loop of all methods (step/loop.h) works with; shared with the files that take its pieces
// (step/loop_piece.h) and find its instants (step/loop_instant.h).
#pragma once

#include "step/kinks.h"
#include "step/loop_slow.h"
#include "step/regions.h"
#include "switch/between.h"
#include "switch/jump.h"
#include "switch/root.h"

typedef struct PawlLoop {
  bool event_driven;  // regions are located, rather than stepped through
  bool switches;      // some constraint switches by its place
  PawlSurfaces surfaces;
  PawlLaw law;
  PawlGuards guards;
  PawlJump jump;
  PawlRegions regions;
  PawlBetween between;
  PawlRoot root;
  PawlKinks kinks;
  PawlState* kept;   // the state at the beginning of the whole step
  PawlState* mark;   // the state from which an instant is looked for
  PawlState* probe;  // for methods that find roots themselves, and for rates of margins
  int mark_count;    // instants logged up to there
  double length;     // of the whole step [s]
  int* next;         // modes
  double* move;      // v
  double* kutta;     // q + 3 v: room
  PawlSlow* slow;    // NULL where no slip turns
  double* shown;     // rows: multipliers of a side of a jump
  double* push;      // v: impulsive forces of an event
  int* rubs;         // twice contact_count: how contacts with friction stand before and after
  bool assigning;    // the jump being taken is that of what events or a call have set
  bool assigned;     // the last one was
  bool jumped;       // in this step, and nobody has looked yet what that has carried across zero
  bool stop;         // an event ends the run
  // What was found out for steps to come: nothing is due before a time, as long as this state goes
  // on step by step.
  const PawlState* plan_state;
  long long plan_step;
  double plan_until, plan_length;  // [s]
  bool plan_open;
  bool plan_glides;  // steps of that length are peeked at
  bool plan_bare;    // a step is what the method does and nothing else
  bool plan_clear;   // surfaces are looked at where it ends
} PawlLoop;
