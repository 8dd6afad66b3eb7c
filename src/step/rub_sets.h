// SPDX-License-Identifier: Apache-2.0
// Contacts with friction by sets, for rub.c alone: which contacts are closed, stick and slip is
// guessed, usually from the step before, the equations of the guess are solved, and what comes out
// wrong changes its place (docs/theory/moreau-jean.md, "Friction"). The cost is that of a few
// sparse factorisations, whatever hangs together. It may not end: then the caller has others.
#pragma once

#include "step/rub_matrix.h"

typedef enum PawlRubPlace { PAWL_RUB_OPEN, PAWL_RUB_STICK, PAWL_RUB_SLIP } PawlRubPlace;

typedef struct PawlRubState {
  PawlRubPlace place;
  double direction[2];  // of the slip
  double turns;         // what its friction across that answers to its rate; 0: none      (T31)
} PawlRubState;

typedef struct PawlRubSets {
  double *x, *dx, *b, *terms;  // n
  double *y, *w, *C;           // of contacts; 9 a contact
  double *held, *dheld;        // bilateral rows
  int *closed, closed_count;
  double *kept_x, *kept_y;  // n; of contacts: room
  unsigned char* joined;    // of contacts: see pawl_rub_sets_solve
} PawlRubSets;

PAWL_CHECKED PawlStatus pawl_rub_sets_create(PawlStepper* s, const PawlRubMatrix* matrix,
                                             PawlRubSets* p, PawlError* err);
// p->x, p->y and p->held of (T6). In: where to begin, `state` of each contact of the problem and
// p->y; contacts that depend on each other get impulses next to these. False: the search did not
// end, or has tried `patience` sets with no fewer contacts wrong; what is in p is then without
// meaning. A contact that slides without opening is not left out for the way the search went: it
// takes part in the load where it can.
bool pawl_rub_sets_solve(PawlRubSets* p, const PawlRubProblem* problem, int patience,
                         PawlRubState* state);
// PawlRubState.turns where a contact of the problem would stick with friction T beyond R = mu y_N.
double pawl_rub_sets_turns(const PawlRubProblem* problem, int contact, double R, double T);
// x, y and w of one set, from the impulses in p->y. False: singular.
bool pawl_rub_sets_one(PawlRubSets* p, const PawlRubProblem* problem, const PawlRubState* state);
// Its factors alone.
bool pawl_rub_sets_factor(PawlRubSets* p, const PawlRubProblem* problem, const PawlRubState* state);
// Moves contacts that come out wrong by it to other places; how many.
int pawl_rub_sets_mend(PawlRubSets* p, const PawlRubProblem* problem, PawlRubState* state);
// Whether the rows of a set that is not wrong are what they hold.                           (T29)
bool pawl_rub_sets_hold(const PawlRubSets* p, const PawlRubProblem* problem,
                        const PawlRubState* state);
double pawl_rub_sets_largest(const PawlRubSets* p, const PawlRubProblem* problem);  // impulse
// After a solution: whether the motion hangs on how contacts that slip share their load, which the
// bodies do not say; `group` (rows of the system) flags them then. p stays as it is. (F28)
bool pawl_rub_sets_shares(PawlRubSets* p, const PawlRubProblem* problem, const PawlRubState* state,
                          unsigned char* group);
