// SPDX-License-Identifier: Apache-2.0
// Contacts without friction that depend on each other, of any number (docs/theory/nsga.md, "Which
// contacts are closed"): rows that hold have a small compliance of their own, by the sparse system
// that contacts with friction have (rub_matrix.h, rub_sets.h, rub_center.h). No matrix of
// compliances is made, and nothing is allocated in a step. contacts.c asks for them.
#pragma once

#include "step/contacts.h"
#include "step/rub_center.h"

typedef struct PawlDepend {
  PawlRubContact* contact;  // of the system
  PawlRubMatrix matrix;     // without a solver: contacts touch too many velocities each
  PawlRubSets sets;
  PawlRubCenter center;
  PawlRubProblem problem;
  PawlRubState* places;            // of contacts
  double *r, *hold, *asked;        // of the equations being solved; w0 of the problem, or nothing
  double *kept_x, *held, *kept_r;  // v, bilateral rows, v: while pushes are looked for
  double *kept_hold, *nothing;     // bilateral rows; of contacts
  double *kept_push, *first_push;  // of contacts: where a set begins, and where a search does
  int *body, *parent;  // of each v: what masses and bilateral rows couple; islands of these
  int *kind, *closed;  // of contacts: the first that has the same velocities; room
  bool many;           // contacts that have the same velocities are taken to depend
  double* soft;        // of bodies: the compliance that rows of their island get a part of
  int rows;
  long long* counter;      // of factorisations, of the stepper
  unsigned char* clashes;  // of bodies: rows of their island contradict each other
  unsigned char* known;    // rows: of this set of the step under way it is known that they depend
  bool is_known;
} PawlDepend;

// Makes `*out` and ties it to the contacts of a method and to its dynamics; NULL where there is one
// contact alone, or they have friction. Where there are many, two closed contacts of the same
// velocities are taken to depend on each other, or others on them, without a look whether they do:
// a factorisation that fails costs more than this.
PAWL_CHECKED PawlStatus pawl_depend_create(PawlStepper* s, PawlContacts* contacts, PawlDepend** out,
                                           PawlError* err);
void pawl_depend_destroy(PawlDepend* p);  // NULL is allowed
