// SPDX-License-Identifier: Apache-2.0
// Contacts with friction by sets, where a few of them are not where they were, for rub.c alone. The
// places of these few hang on each other, and are found by their compliance with all others in
// their places (switch/friction.h); what comes out wrong then is one of the few from there on. So
// the search ends, where changing all wrong places at once goes to and fro
// (docs/theory/moreau-jean.md, "Friction").
#pragma once

#include "step/rub_sets.h"
#include "switch/friction.h"

typedef struct PawlRubLocal {
  int most;                              // rows of the few
  int count, rows, *member;              // contacts that are among the few
  unsigned char *is_member, *turned;     // of contacts: how often its slip has turned
  PawlRubState *without, *before;        // of contacts: places with the few open; before mending
  double* y;                             // of contacts: impulses to be near to
  double *D, *q, *size, *own, *lo, *hi;  // of the few
  double *near, *lambda, *w, *slip;
  unsigned char *state, *block_state;
  PawlFrictionBlock* block;
} PawlRubLocal;

PAWL_CHECKED PawlStatus pawl_rub_local_create(PawlStepper* s, const PawlRubMatrix* matrix,
                                              PawlRubLocal* p, PawlError* err);
// As pawl_rub_sets_solve, with a solver that has room for p->most rows.
bool pawl_rub_local_solve(PawlRubLocal* p, PawlRubSets* sets, const PawlRubProblem* problem,
                          PawlFriction* solver, PawlRubState* state);
