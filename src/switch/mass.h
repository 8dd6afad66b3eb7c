// SPDX-License-Identifier: Apache-2.0
// Whether a mass matrix is positive semidefinite: kinetic energy is never negative. By M = L D L^T
// within the envelope of its pattern (docs/theory/motion-forms.md, "Masses").
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "pawl/pattern.h"

typedef struct PawlMass {
  PawlPattern H;
  int* first;     // n: the first entry of each row, of the lower half
  size_t* start;  // n: where that entry is in L
  double *L, *D;
  int *place, count;  // of a small M: where each entry of H goes in the lower half, by rows; -1
  double* begin;      // n: the pivots at the start; zero where there was none
  long long period;   // steps between two looks: 1, more where a look is dear
  bool on;            // M changes, and was semidefinite at the start
  double seen;        // the time of the M that was factored last; NaN: of none
  long long number;   // of that factorisation
  const double* M;    // that M, where it stays until the next step; NULL: it may be gone
} PawlMass;

// `first` and `start` are filled; L is allocated unless the envelope is too large: then only the
// diagonal is looked at. False: out of memory.
PAWL_CHECKED bool pawl_mass_create(PawlMass* mass, PawlArena* arena, const PawlPattern* H);

// What M is, given in the order of H; *column receives the first coordinate with a pivot that is
// not positive, and *pivot that pivot; -1 and 0 when there is none.
typedef enum PawlMassKind {
  PAWL_MASS_DEFINITE,
  PAWL_MASS_SEMIDEFINITE,
  PAWL_MASS_INDEFINITE
} PawlMassKind;
PawlMassKind pawl_mass_look(PawlMass* mass, const double* M, int* column, double* pivot);
// True where a look at a small M would find it definite; else, and of others, it may be so.
bool pawl_mass_is_definite(const PawlMass* mass, const double* M);
// Keeps the pivots of the last look, in which M was not indefinite, as those of the start.
void pawl_mass_keep(PawlMass* mass);
// The coordinate that has lost most of its mass since then, -1 when none has lost nearly all of it.
int pawl_mass_lost(PawlMass* mass, const double* M, double* pivot);
