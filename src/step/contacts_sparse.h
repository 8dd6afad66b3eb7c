// SPDX-License-Identifier: Apache-2.0
// Which contacts are closed where there are many: the rows of the system as they are, without a
// matrix of compliances (docs/theory/nsga.md, "Many contacts"). For contacts.c alone.
#pragma once

#include "step/method.h"
#include "switch/rows.h"

typedef struct PawlContactsSparse {
  PawlRows* rows;
  double *S, *B, *J;  // the matrices of `rows`
  bool known;
  double *r, *x;                // v: forces, and what they move
  double *b, *lo, *hi, *z, *w;  // rows
  unsigned char *state, *held;  // rows: PawlRowState; the bilateral rows that hold
} PawlContactsSparse;

PAWL_CHECKED PawlStatus pawl_contacts_sparse_create(PawlStepper* s, PawlContactsSparse* p,
                                                    PawlError* err);
void pawl_contacts_sparse_destroy(PawlContactsSparse* p);
// The matrices of (N20) and the bilateral rows that hold. What was factored is kept where the
// numbers are those of the last call.
PAWL_CHECKED PawlStatus pawl_contacts_sparse_set(const PawlStepper* s, PawlContactsSparse* p,
                                                 const double* S, const double* B, const double* J,
                                                 const unsigned char* bilateral);

// One problem (N21) over `count` contacts; arrays of these but `push`, `opening`, which are of
// rows.
typedef struct PawlContactsAsk {
  int count;
  const int* row;
  const double *push, *opening;  // of an iterate
  const double* slack;           // an opening that is none
  const double* own;             // how far a push of 1 moves a contact by itself
  const double* hi;              // 0: let go
  const double* size;            // rows: terms of openings
  double tolerance;              // the part of these that counts as nothing
  double *z, *w;                 // out
  unsigned char* state;          // in: where to begin; out: PawlRowState
} PawlContactsAsk;
// False: some rows contradict each other; with `independent` also where contacts of a set depend on
// each other, and *dependent is set.
bool pawl_contacts_sparse_solve(const PawlStepper* s, PawlContactsSparse* p,
                                const PawlContactsAsk* ask, bool independent, bool* dependent);
