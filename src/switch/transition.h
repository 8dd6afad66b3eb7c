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

#include "base/arena.h"
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

// ---- dense kernels, shared with step/forms.c ----------------------------------------------------
// The system [M -J^T; J 0] [x; y] = [b; c] through M = L L^T and L^-1 J^T = Q R, (X4). M is n-by-n
// by columns, J holds m rows of n numbers each. Fill n, m, M and J, factor, solve any number of
// times.
typedef struct PawlSaddle {
  int n, m;
  double *M, *J;   // J is destroyed by factor: it becomes Q, by rows
  double *L, *R;   // n-by-n, m-by-m
  double* weight;  // m: J^T weight J was added to M, where M alone is singular; see `weighted`
  bool weighted;
  double *z, *e;  // n, m
} PawlSaddle;

PAWL_CHECKED bool pawl_saddle_alloc(PawlSaddle* k, PawlArena* arena, int most_n, int most_m);
// False: M is singular on the motions that J allows, or rows of J depend on each other.
PAWL_CHECKED bool pawl_saddle_factor(PawlSaddle* k);
void pawl_saddle_solve(PawlSaddle* k, double* x, double* y);  // b -> x, c -> y

// Dependent and independent velocities of m independent rows J (m rows of n numbers): v = (p, s),
// J = (J_p, J_s), R = J_p^-1 J_s, so that F = (-R; I) spans the motions that J allows,        (X6)
typedef struct PawlVoronets {
  int m, n;
  int* column_of;    // m: the dependent velocity that stands for each row
  int* independent;  // n - m, ascending
  double* LU;        // m-by-m: J_p with its rows scaled
  double* scale;     // m
  int* pivot;        // m
  double* R;         // m-by-(n - m) by columns
  double *work, *room;
} PawlVoronets;

PAWL_CHECKED bool pawl_voronets_alloc(PawlVoronets* s, PawlArena* arena, int most_m, int n);
// Chooses the dependent velocities by complete pivoting on the scaled rows, each velocity counted
// in units of 1 / sqrt(mass) (`mass` is the diagonal of M). Set m and n before. False: rows depend
// on each other.
PAWL_CHECKED bool pawl_voronets_choose(PawlVoronets* s, const double* J, const double* mass);
// For a choice made elsewhere: column_of is set, `independent` follows. False: no such choice.
PAWL_CHECKED bool pawl_voronets_complete(PawlVoronets* s);
// J_p = LU; false: singular. Then R, and how large it is in units of 1 / sqrt(mass).
PAWL_CHECKED bool pawl_voronets_factor(PawlVoronets* s, const double* J);
double pawl_voronets_reduce(PawlVoronets* s, const double* J, const double* mass);
// x = J_p^-1 c and y = J_p^-T b, all of length m; x may be c, y may be b.
void pawl_voronets_solve(PawlVoronets* s, const double* c, double* x);
void pawl_voronets_solve_transposed(PawlVoronets* s, const double* b, double* y);
// F^T b (n - m numbers) for b of length n.
void pawl_voronets_restrict(const PawlVoronets* s, const double* b, double* out);
// x = (x_p; 0) + F w: adds F w to x (n).
void pawl_voronets_expand(const PawlVoronets* s, const double* w, double* x);
// F^T M F into `out`, (n - m)-by-(n - m), M by pattern. `room` has n numbers.
void pawl_voronets_mass(const PawlVoronets* s, const PawlPattern* H, const double* M, double* room,
                        double* out);
