// SPDX-License-Identifier: Apache-2.0
// The jump of the velocities by the law post (docs/theory/transition.md),
//
//   M dv = G^T Lambda,   G (v- + dv) = -g_t      over the rows in force after             (X1)
//
// in the three forms of A. Mueller, Forward dynamics of variable topology mechanisms: the full
// system, the system projected on the motions that the persistent rows allow, and the system in
// independent velocities. The results are the same; the costs are not.
#pragma once

#include <stdbool.h>

#include "linalg/kkt.h"

typedef enum PawlTransitionForm {
  PAWL_TRANSITION_FULL,       // n + m unknowns, by the KKT solver (sparse where that pays)
  PAWL_TRANSITION_PROJECTED,  // dense: null space projector of the persistent rows
  PAWL_TRANSITION_MINIMAL     // dense: independent velocities of the persistent rows
} PawlTransitionForm;

typedef struct PawlTransition PawlTransition;

// "full", "projected" or "minimal"; PAWL_ERROR_USAGE with the list for another word.
PAWL_CHECKED PawlStatus pawl_transition_parse(const char* word, PawlTransitionForm* form,
                                              PawlError* err);

// Allocates what the form needs and no more. The patterns of M and G, and `kkt` (made for them;
// used by the full form alone, may be NULL for the others), are borrowed.
PAWL_CHECKED PawlStatus pawl_transition_create(PawlTransitionForm form, const PawlPattern* H,
                                               const PawlPattern* G, PawlKkt* kkt,
                                               PawlTransition** out, PawlError* err);
void pawl_transition_destroy(PawlTransition* transition);  // NULL is allowed

// M and G in the order of the patterns; `before` and `after` flag the rows in force (NULL: none
// before, all after); g_t by row. Rows that are in both are persistent: v- satisfies them, or
// nearly so, and a remaining violation is taken away by the jump. Receives dv (n) and Lambda (m,
// zero outside `after`). Rows may depend on each other: dv is unique, Lambda has minimum norm,
// rates that contradict each other are met by least squares, and `dependent` (m flags, may be NULL)
// tells which rows of `after` follow from rows of `after` before them, `*dependent_count` (may be
// NULL) how many. PAWL_RETRY: M is singular on the motions that remain free, or a number is not
// finite; dv and Lambda are then not meaningful. The full form allocates where rows depend on each
// other, the others never.
PAWL_CHECKED PawlStatus pawl_transition_solve(PawlTransition* transition, const double* M,
                                              const double* G, const unsigned char* before,
                                              const unsigned char* after, const double* v_minus,
                                              const double* g_t, double* dv, double* Lambda,
                                              unsigned char* dependent, int* dependent_count);
// The same with impulsive forces U (n) from outside: M dv = G^T Lambda + U.                   (X11)
PAWL_CHECKED PawlStatus pawl_transition_push(PawlTransition* transition, const double* M,
                                             const double* G, const unsigned char* before,
                                             const unsigned char* after, const double* v_minus,
                                             const double* g_t, const double* U, double* dv,
                                             double* Lambda);
// The full form where `kkt` holds the factors of M and G over the rows of `after`, which are
// independent of each other.
void pawl_transition_solve_factored(PawlTransition* transition, const double* G,
                                    const unsigned char* after, const double* v_minus,
                                    const double* g_t, double* dv, double* Lambda);
