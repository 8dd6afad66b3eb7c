// SPDX-License-Identifier: Apache-2.0
// Contacts with friction from nothing, for rub.c alone: an interior point method, which finds in
// twenty to forty factorisations, however many contacts hang together, which of them are closed,
// stick and slip (docs/theory/friction.md, "Large systems"). What it ends with is good to a few
// digits and begins a search by sets.
#pragma once

#include "step/rub_sets.h"

typedef struct PawlRubCone PawlRubCone;  // what belongs to one contact

typedef struct PawlRubCenter {
  PawlRubCone* cone;           // of contacts
  double *x, *dx, *b, *room;   // n
  double *held, *dheld, *gap;  // bilateral rows
  double* C;                   // 9 a contact
  int iterations;              // of the last problem
} PawlRubCenter;

PAWL_CHECKED PawlStatus pawl_rub_center_create(PawlStepper* s, const PawlRubMatrix* matrix,
                                               PawlRubCenter* p, PawlError* err);
// `state` and y (of contacts) receive where a search by sets is to begin. False: it did not end.
// What slips opens at first, by mu times its rate; solved `again` with the rates that it has found
// before it does so less.
bool pawl_rub_center_solve(PawlRubCenter* p, const PawlRubProblem* problem, bool again,
                           PawlRubState* state, double* y);
// The same once more, of the last problem.
void pawl_rub_center_conclude(const PawlRubCenter* p, const PawlRubProblem* problem,
                              PawlRubState* state, double* y);
