// SPDX-License-Identifier: Apache-2.0
// Dense systems with constraints, reduced: by orthogonalisation in the metric of a mass matrix, and
// by independent velocities. For some tens of unknowns; labels (X4) to (X6) stand in
// docs/theory/transition.md. Nothing here allocates but the two functions that say so.
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "pawl/pattern.h"

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
// Chooses the dependent velocities by complete pivoting on the rows scaled to largest entry 1. Set
// m and n before. False: rows depend on each other.
PAWL_CHECKED bool pawl_voronets_choose(PawlVoronets* s, const double* J);
// For a choice made elsewhere: column_of is set, `independent` follows. False: no such choice.
PAWL_CHECKED bool pawl_voronets_complete(PawlVoronets* s);
// J_p = LU; false: singular. Then R, and its largest entry.
PAWL_CHECKED bool pawl_voronets_factor(PawlVoronets* s, const double* J);
double pawl_voronets_reduce(PawlVoronets* s, const double* J);
// A better choice: while an entry of R is larger than `limit` > 1, its two velocities change
// places. Leaves J_p and R factored, and the largest entry. False: singular.
PAWL_CHECKED bool pawl_voronets_improve(PawlVoronets* s, const double* J, double limit,
                                        double* largest);
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

// ---- orthogonal factors -------------------------------------------------------------------------
// Y^T = Q R for the m rows of Y (n numbers each), which become those of Q^T; R (m-by-m) by columns.
// False: a row depends on those before it.
PAWL_CHECKED bool pawl_reduce_orthonormal(int n, int m, double* Y, double* R);
void pawl_reduce_upper(int m, const double* R, double* e);             // e <- R^-1 e
void pawl_reduce_upper_transposed(int m, const double* R, double* e);  // e <- R^-T e
