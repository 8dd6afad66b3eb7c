// SPDX-License-Identifier: Apache-2.0
// What the files of the frictional problem share. All numbers are scaled: lambda_i s_i and w_i /
// s_i with s_i^2 near D_ii are square roots of energies, so that rows can be compared
// (docs/theory/friction.md, section 1).
#pragma once

#include <assert.h>
#include <math.h>

#include "base/arena.h"
#include "linalg/sparse_lu.h"
#include "switch/friction.h"
#include "switch/tolerances.h"

// friction_matrix.c: D, and a matrix A with entries where D has them, factored. D has all entries
// (dense), or those of rows that act on each other (sparse); the rows of a block have the same.
typedef struct PawlFrictionMatrix {
  int m;
  bool sparse;
  int *start, *index;  // by columns, symmetric; the rows of a column ascend
  int* mirror;         // of entry (i, j) the place of (j, i)
  double *given, *D;   // as it is given; scaled
  double* A;
  int start_room, index_room, mirror_room, given_room, D_room, A_room;
  int order;         // of A: m; less, where it is dense and rows are left out
  int* pivot;        // of a dense one
  PawlSparseLu* lu;  // for the pattern of a sparse one
  double* right;     // m: room
  int factors;       // factorisations, and changes of D, so far
} PawlFrictionMatrix;
// Room for m rows, and for dense ones of `dense` rows.
PAWL_CHECKED bool pawl_friction_matrix_alloc(PawlFrictionMatrix* x, PawlArena* arena, int m,
                                             int dense);
void pawl_friction_matrix_free(PawlFrictionMatrix* x);
void pawl_friction_matrix_full(PawlFrictionMatrix* x, int m, const double* D);
// Memory is taken for a pattern that is not that of the last call.
PAWL_CHECKED PawlStatus pawl_friction_matrix_sparse(PawlFrictionMatrix* x,
                                                    const PawlPattern* pattern, const double* D);
// D_ij = given_ij/(s_i s_j), nothing where own (m) is 0.
void pawl_friction_matrix_scale(PawlFrictionMatrix* x, const double* own, const double* s);
// Of entry (i, j); -1: it is always 0.
int pawl_friction_matrix_place(const PawlFrictionMatrix* x, int i, int j);
double pawl_friction_matrix_get(const PawlFrictionMatrix* x, int i, int j);  // D_ij
// y += scale D e_j
void pawl_friction_matrix_add_column(const PawlFrictionMatrix* x, int j, double scale, double* y);
// A = 0, with `order` rows where it is dense, else with all of them.
void pawl_friction_matrix_clear(PawlFrictionMatrix* x, int order);
// PAWL_RETRY: singular. Solutions: y may not be b.
PAWL_CHECKED PawlStatus pawl_friction_matrix_factor(PawlFrictionMatrix* x);
void pawl_friction_matrix_solve(PawlFrictionMatrix* x, const double* b, double* y);
// The same for a symmetric A (of a dense one the lower half is read); false: not positive, or
// memory is short. y holds b.
PAWL_CHECKED bool pawl_friction_matrix_factor_even(PawlFrictionMatrix* x);
void pawl_friction_matrix_solve_even(PawlFrictionMatrix* x, double* y);

typedef struct PawlFrictionWork {
  int m, blocks;
  PawlFrictionMatrix* matrix;
  struct PawlFrictionForces* forces;
  const PawlFrictionBlock* block;
  double* s;                     // m: the scale of a row
  double *q, *q_size, *lo, *hi;  // m; bounds of tangential rows are not read
  double* mu;                    // of each block: scaled, mu s_T / s_N
  int* owner;                    // m: the block of a tangential row, else -1
  // The set.
  unsigned char* place;  // m: PawlRowState LOW, FREE or HIGH; tangential: HIGH is lambda = +mu ...
  unsigned char* next;   // m: places to come
  signed char* sign;     // of each block: of lambda_N
  const double* slip;    // two of each block: spatial ones that slip do so along it
  unsigned char* in;     // m: w = 0 is asked
  double* tie;           // m: of tangential rows that are not in the set
  // What belongs to it.
  double *lambda, *w;  // m; w = D lambda + q without what rows are softened by
  double* size;        // m: of the terms of w
  double* before;      // m: lambda of the round before
  double soft,
      loose;  // [1] of D_ii: compliance of rows; of size: lambda beyond a bound by rounding
  double *point, *point_w, *trial, *trial_w;  // m: of the line search
  const double* near;                         // m, not scaled; NULL: 0
  double least_pivot;  // [1] of the factorisation; small: rows depend on each other
} PawlFrictionWork;

// friction_set.c: bounds, sets and what is wrong with them.
PAWL_CHECKED bool pawl_friction_work_alloc(PawlFrictionWork* k, PawlArena* arena, int m,
                                           int blocks);
void pawl_friction_arrange(PawlFrictionWork* k);  // in, tie, and lambda on bounds, from places
// Where the row belongs by lambda and w; its own place when it is right.
PawlRowState pawl_friction_belongs(const PawlFrictionWork* k, int i);
bool pawl_friction_turned(const PawlFrictionWork* k,
                          int b);  // lambda_N has not the sign of the set
int pawl_friction_count_wrong(const PawlFrictionWork* k);
bool pawl_friction_gives_way(const PawlFrictionWork* k);
// Forces of the places as they are, without softness; false: there are none. Where they are one of
// many, the least, or the nearest to `before`.                                              (F6)
bool pawl_friction_harden_set(PawlFrictionWork* k);
bool pawl_friction_harden_near(PawlFrictionWork* k);
double pawl_friction_residual(const PawlFrictionWork* k);  // (F8)

static inline bool pawl_friction_fixed(const PawlFrictionWork* k, int i) {
  return k->owner[i] < 0 && !(k->lo[i] < k->hi[i]);
}
static inline bool pawl_friction_bilateral(const PawlFrictionWork* k, int i) {
  return k->owner[i] < 0 && k->lo[i] == -INFINITY && k->hi[i] == INFINITY;
}
// The block carries a force, so that its tangential rows can.
static inline bool pawl_friction_closed(const PawlFrictionWork* k, int b) {
  int n = k->block[b].normal;
  return k->in[n] || k->lambda[n] != 0.0;
}
static inline bool pawl_friction_spatial(const PawlFrictionBlock* block) {
  return block->tangent[1] >= 0;
}
// [sqrt(J)] What rounding leaves of w_i, and of lambda_i.
static inline double pawl_friction_slack(const PawlFrictionWork* k, int i) {
  return PAWL_ROWS_ROUNDING * k->size[i];
}
// w of the softened rows.                                                                   (F3)
static inline double pawl_friction_w(const PawlFrictionWork* k, int i) {
  return k->w[i] + k->soft * (k->lambda[i] - k->before[i]);
}

// friction_frame.c: the problem in scaled rows, own (m) are D_ii; false: a number is not finite, or
// bounds are not in order.
bool pawl_friction_frame(PawlFrictionWork* k, const PawlFrictionProblem* problem,
                         const double* own);
void pawl_friction_begin(PawlFrictionWork* k, PawlFrictionResult* result);  // places, no forces
void pawl_friction_show(PawlFrictionWork* k, PawlFrictionResult* result);   // but for the verdict

// friction_pivot.c: all rows in the wrong place change it at once. *done: none is left.      (F5)
PAWL_CHECKED PawlStatus pawl_friction_pivots(PawlFrictionWork* k, PawlFrictionResult* result,
                                             bool* done);
// The same, with pawl_friction_descend where that does not end.
PAWL_CHECKED PawlStatus pawl_friction_blocks(PawlFrictionWork* k, PawlFrictionResult* result,
                                             bool* done);
// Newton's method with a line search on |F|, where that does not end; from lambda and w. (F15)
PAWL_CHECKED PawlStatus pawl_friction_descend(PawlFrictionWork* k, PawlFrictionResult* result,
                                              bool* done);
// The same, and again until rows are not softened any more.                                 (F6)
PAWL_CHECKED PawlStatus pawl_friction_harden(PawlFrictionWork* k, PawlFrictionResult* result,
                                             bool* done);
void pawl_friction_hold_all(PawlFrictionWork* k);  // places: all rows hold, all blocks stick

// friction_forces.c: forces of sets.
typedef struct PawlFrictionForces {
  double *right, *change;
  int order, *list;   // rows of the set
  int* at;            // m: where a row is among them
  unsigned char* in;  // of what is factored
  double* tie;
  double soft;
  int factors;  // of the matrix, with that
} PawlFrictionForces;
PAWL_CHECKED bool pawl_friction_forces_alloc(PawlFrictionForces* d, PawlArena* arena, int m);
// lambda such that w + soft (lambda - before) = 0 in the rows of `in`, lambda = tie lambda_N in the
// other tangential rows of closed blocks, and lambda as it is in all others; w and size of all
// rows. PAWL_RETRY: the set has no lambda, or more than one.                                (F4)
PAWL_CHECKED PawlStatus pawl_friction_solve_set(PawlFrictionWork* k);
void pawl_friction_values(PawlFrictionWork* k);            // w = D lambda + q, sizes
bool pawl_friction_turned_set(const PawlFrictionWork* k);  // det (F4) < 0, of the last solution

// friction_lemke.c: the places of a solution by Lemke's method, for the signs of `sign`. Places are
// as before where it ends on a ray or where rounding stops it.                              (F7)
typedef struct PawlFrictionLemke {
  int most;            // rows of a problem that there is room for: no larger one is tried
  int order;           // pairs of variables
  int cover;           // which covering vector of a problem
  double* T;           // basic variables by the others: order rows of order + 2
  int *basic, *other;  // which they are: y_a, order + a for z_a, 2 order for the covering variable
  int *row, *upper;    // m: the pair of a row, of its upper bound; -1: none
  double soft;         // of the rows
  double *unit, *w;    // m
} PawlFrictionLemke;
PAWL_CHECKED bool pawl_friction_lemke_alloc(PawlFrictionLemke* l, PawlArena* arena, int m);
bool pawl_friction_lemke(PawlFrictionWork* k, PawlFrictionLemke* l, double soft, int cover,
                         PawlFrictionResult* result);

// friction_feasible.c: whether the places as they are have forces, also where rows depend on each
// other and the forces are one of many: a linear program.                                  (F10)
typedef struct PawlFrictionFeasible {
  int most;                   // as there
  int rows, cols;             // of the program; the right side is column `cols`
  double* T;                  // its tableau
  double* cost;               // cols + 1
  int* basis;                 // of each row; -1: what is missing
  int* unit;                  // two of each variable: the rows that it is a force in; -1: none
  double* force;              // two of each variable: what a unit of it is in these rows
  const unsigned char* open;  // m: rows that are not decided; NULL: all are
} PawlFrictionFeasible;
PAWL_CHECKED bool pawl_friction_feasible_alloc(PawlFrictionFeasible* p, PawlArena* arena, int m);
// True: k->lambda are forces of the set.
bool pawl_friction_feasible(PawlFrictionWork* k, PawlFrictionFeasible* p);

// The same where rows of `open` (m) are not decided, and nothing but bounds is asked of their force
// and rate: lambda and w of one solution, which need not obey the laws in these.           (F71)
bool pawl_friction_relaxed(PawlFrictionWork* k, PawlFrictionFeasible* p, const unsigned char* open);

// friction_branch.c: all sets, by halves.                                                  (F71)
typedef struct PawlFrictionBranch {
  unsigned char* open;   // m: rows that are not decided yet
  unsigned char* place;  // m: room
  int level;             // rows that are decided
  int* row;              // which they are
  int* left;             // how many places of each are still to be tried
  unsigned char* way;    // three of each: these
} PawlFrictionBranch;
PAWL_CHECKED bool pawl_friction_branch_alloc(PawlFrictionBranch* b, PawlArena* arena, int m);
// *found: lambda and places are a solution. False: that there is none is not known, as there is
// too much to be tried, or blocks and bounds are of kinds that are not.
bool pawl_friction_branch(PawlFrictionWork* k, PawlFrictionBranch* b, PawlFrictionFeasible* p,
                          PawlFrictionResult* result, bool* found);

// friction_search.c: all sets, one by one.
typedef struct PawlFrictionSearch {
  int *dial, *count;                    // m + blocks: what is turned, and how many places it has
  unsigned char *start, *best;          // m: places to be near to; of the nearest solution
  signed char *start_sign, *best_sign;  // of each block
  double* lambda;                       // m: forces of the nearest
  double* w;                            // of the solutions that are known
  bool best_turned, any_turned;         // the nearest is unstable, some is                  (F43)
  PawlFrictionFeasible program;
  int known, away;  // how many; how far the nearest is from the start
} PawlFrictionSearch;
PAWL_CHECKED bool pawl_friction_search_alloc(PawlFrictionSearch* s, PawlArena* arena, int m,
                                             int blocks);
void pawl_friction_search_from(const PawlFrictionWork* k, PawlFrictionSearch* s);  // the start
// Forces that only contradictory rows ask for, which are held apart by their softness.
bool pawl_friction_drowned(const PawlFrictionWork* k);
// False: there are too many sets, or blocks have two tangential rows. Else s->known is the number
// of solutions (those beyond a few are not told apart), and places and forces are those of the
// nearest of those that are stable, where there are such.
bool pawl_friction_search(PawlFrictionWork* k, PawlFrictionSearch* s, PawlFrictionResult* result);
// How many solutions there are beside the one of lambda and w, which are lost; none where they are
// not looked for.
int pawl_friction_search_others(PawlFrictionWork* k, PawlFrictionSearch* s,
                                PawlFrictionResult* result);

// friction_unique.c: whether there is one motion at most.                                  (F45)
typedef struct PawlFrictionUnique {
  double* A;              // compliances, one below the other as rows are held
  unsigned char* sticks;  // of each block
  int* of;                // m: the block of a normal row, else -1
} PawlFrictionUnique;
PAWL_CHECKED bool pawl_friction_unique_alloc(PawlFrictionUnique* u, PawlArena* arena, int m,
                                             int blocks);
// False: there may be several, or too much would have to be looked at.
bool pawl_friction_unique(const PawlFrictionWork* k, PawlFrictionUnique* u);

// friction_cone.c: blocks with two tangential rows.                                        (F11)
typedef struct PawlFrictionCone {
  double *F, *step;    // m
  double *from, *rho;  // m: lambda before a step; what w is multiplied by
  double* start;       // m: lambda after sweeps
  double* carried;     // of each block: |lambda_N|, while it is frozen
  bool frozen;
} PawlFrictionCone;
PAWL_CHECKED bool pawl_friction_cone_alloc(PawlFrictionCone* c, PawlArena* arena, int m,
                                           int blocks);
// From the places; true: a solution.
bool pawl_friction_cone(PawlFrictionWork* k, PawlFrictionCone* c, PawlFrictionResult* result);

// friction_center.c: contacts as a convex problem, by an interior point method.             (F13)
typedef struct PawlFrictionPair PawlFrictionPair;
typedef struct PawlFrictionCenter {
  int count, pairs;  // unknowns; contacts and rows with a bound
  int* row;          // of each unknown
  PawlFrictionPair* pair;
  double *E, *shift, *base;  // lambda = base + E z, s = E w + shift
  double *z, *s, *dz, *ds;   // force and opening, and their steps
  double *off, *rhs;         // what is left of the equations; right sides
  int* of;                   // m: which unknown a row is, or -1
  double size;               // of s without forces
} PawlFrictionCenter;
PAWL_CHECKED bool pawl_friction_center_alloc(PawlFrictionCenter* c, PawlArena* arena, int m);
// Blocks are contacts that do not slide, and no row has two bounds.
bool pawl_friction_center_fits(const PawlFrictionWork* k);
// lambda and w of the problem without a shift, or with that of the rates found last; false: none
// was found.
PAWL_CHECKED bool pawl_friction_center(PawlFrictionWork* k, PawlFrictionCenter* c, bool shifted,
                                       PawlFrictionResult* result);
// Goes on from there as far as rounding lets it: forces and openings that are both none come there
// like the root of z^T s.
PAWL_CHECKED bool pawl_friction_center_further(PawlFrictionWork* k, PawlFrictionCenter* c,
                                               PawlFrictionResult* result);
// Some contact pushes and opens, by the rate at which it slips.
bool pawl_friction_center_slips(const PawlFrictionCenter* c);
// Places and the forces to be near to: contacts that push stick, or, with `slips`, those slip whose
// slip is more than their force is inside of its cone.
void pawl_friction_center_places(PawlFrictionWork* k, const PawlFrictionCenter* c, bool slips);
