// SPDX-License-Identifier: Apache-2.0
// Contacts with friction in a plane along a path, for rub_soft.c alone: from a solution of a
// problem nearby to one of the problem itself, place by place (docs/theory/friction.md, "Along a
// path"). Where solutions end the path turns back and goes on to others, which Newton's method and
// levels of softness alone do not. A change of a place costs a substitution.
#pragma once

#include "step/rub_sets.h"

typedef struct PawlRubPath {
  double *e, *w;          // of contacts: rates with which a level begins with a solution; its w
  double *dy, *dw;        // of contacts: the direction
  double *dx, *held, *z;  // n; bilateral rows, room; n for each change of a place
  double t, dt;           // the part of e, and which way it goes: 1 or -1
  int changes, *contact;  // since the last factorisation: of which contacts
  double *v, *pivot;      // of each change: of two rates, and 1 + v^T z
  int places;             // that have changed on the last path that has led to t = 0
  PawlRubState* begun;    // of contacts
} PawlRubPath;

PAWL_CHECKED PawlStatus pawl_rub_path_create(PawlStepper* s, const PawlRubMatrix* matrix,
                                             PawlRubPath* p, PawlError* err);
// Whether a problem has contacts in a plane alone, and many of them.
bool pawl_rub_path_suits(const PawlRubProblem* problem);
// A solution of the softened problem, y and w in sets and `state`, from the places in `state` with
// problem->near and p->w, which are one with the rates p->e added. How many changes of places it
// took; < 0: none was found.
int pawl_rub_path_solve(PawlRubPath* p, PawlRubSets* sets, PawlRubProblem* problem,
                        PawlRubState* state);
