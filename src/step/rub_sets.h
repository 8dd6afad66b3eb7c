// SPDX-License-Identifier: Apache-2.0
// Contacts with friction by sets of rows on the sparse system, for rub.c alone: which contacts are
// closed, stick and slip is guessed, usually from the step before, the equations of the guess are
// solved, and what comes out wrong changes its place (docs/theory/moreau-jean.md, "Friction"). The
// cost is that of a few sparse factorisations, whatever hangs together. It may not end: then the
// caller has others.
#pragma once

#include "linalg/kkt.h"
#include "step/method.h"

typedef enum PawlRubPlace { PAWL_RUB_OPEN, PAWL_RUB_STICK, PAWL_RUB_SLIP } PawlRubPlace;

typedef struct PawlRubContact {
  int normal, first, count;  // rows of the system: its own, and those of its friction
  double mu;
  PawlRubPlace place;   // in: a guess; out
  double direction[2];  // of the slip
} PawlRubContact;

typedef struct PawlRubSets {
  PawlKkt* kkt;
  PawlPattern G;  // of the system, and in the row of a contact also its friction's
  int *at, *tie;  // entries of the system's G -> here; of friction also: in the row of its contact
  int* own;       // rows: the contact whose friction it is, or -1
  double *B, *J, *x, *w;
  unsigned char* active;
  long long factorizations;
} PawlRubSets;

PAWL_CHECKED PawlStatus pawl_rub_sets_create(PawlStepper* s, int count,
                                             const PawlRubContact* contact, PawlRubSets* p,
                                             PawlError* err);
void pawl_rub_sets_destroy(PawlRubSets* p);

typedef struct PawlRubAsk {
  const double *S, *B, *J, *r, *w0, *size;
  const unsigned char* bilateral;
  double tolerance;  // of `size`: what counts as nothing
  const unsigned char* near;
} PawlRubAsk;
// x (v) and y (rows) of (T6). False: the search did not end, or rows depend on each other; x and y
// are then without meaning.
bool pawl_rub_sets_solve(const PawlStepper* s, PawlRubSets* p, int count, PawlRubContact* contact,
                         const PawlRubAsk* ask, double* x, double* y);
