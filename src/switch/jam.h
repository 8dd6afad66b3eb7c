// SPDX-License-Identifier: Apache-2.0
// How far contacts that slip are from their critical friction (docs/theory/friction.md, (F36)): as
// they come there while they slip, their forces grow without bound, a dynamic jam.
#pragma once

#include "switch/dynamics.h"
#include "switch/slip.h"
#include "switch/trees.h"
#include "switch/yields.h"

typedef struct PawlJam {
  PawlDynamics* dynamics;  // NULL: the last look stays
  bool ties;               // masses or rows may tie any two rows
  bool near;               // at the last look: some part is below PAWL_JAM_NEAR
  double looked;           // its time [s]
  double* part;   // contacts with friction: what a contact that slips yields by, where that is
                  // small in parts of what it does without friction; INFINITY: it does not slip, or
                  // cannot jam
  double* ahead;  // the same a little later
  double *yield, *of_row;  // what contacts yield by; rows: room
  PawlYields yields;
  signed char* signs;      // of what those that may jam yield by, all together              (F44)
  unsigned char* pressed;  // of those: the gap would close freely, other than at a dynamic jam
  double* x;               // v + rows: room
  PawlTrees trees;
  int *head, *next;  // v, contacts: those looked at, of each tree; -1: none
  double *q, *move;
} PawlJam;

PAWL_CHECKED PawlStatus pawl_jam_create(PawlDynamics* d, const PawlSlip* slip, PawlJam* out,
                                        PawlError* err);
void pawl_jam_free(PawlJam* jam);
// At a state where `slip` was looked at last. Evaluates and factors.                        (F36)
PAWL_CHECKED PawlStatus pawl_jam_look(PawlJam* jam, const PawlSlip* slip, const PawlState* state,
                                      PawlError* err);
// How long a step may be from a state that was looked at last, near a jam [s]; INFINITY else.
PAWL_CHECKED PawlStatus pawl_jam_longest(PawlJam* jam, const PawlSlip* slip, const PawlState* state,
                                         double* longest, PawlError* err);
