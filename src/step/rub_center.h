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
  double size;                 // of the openings if nothing pushed
  int iterations;              // of the last problem
} PawlRubCenter;

PAWL_CHECKED PawlStatus pawl_rub_center_create(PawlStepper* s, const PawlRubMatrix* matrix,
                                               PawlRubCenter* p, PawlError* err);
// What slips opens by mu times its rate, less a shift (F13):
typedef enum PawlRubShift {
  PAWL_RUB_SHIFT_NONE,
  PAWL_RUB_SHIFT_FOUND,  // mu times the rate that was found last
  PAWL_RUB_SHIFT_KEPT    // that of the last problem, where `kept`
} PawlRubShift;
// Begins from nothing.
void pawl_rub_center_begin(PawlRubCenter* p, const PawlRubProblem* problem, PawlRubShift shift);
// Goes on from there until z^T s is `end` of what it was. False: it does not end.
bool pawl_rub_center_go_on(PawlRubCenter* p, const PawlRubProblem* problem, double end);
// It is pushed and opens, both by more than rounding: so slips are in (F13).
bool pawl_rub_center_slips(const PawlRubCenter* p, int contact);
// `state` and y (of contacts) receive where a search by sets is to begin.
void pawl_rub_center_conclude(const PawlRubCenter* p, const PawlRubProblem* problem,
                              PawlRubState* state, double* y);
