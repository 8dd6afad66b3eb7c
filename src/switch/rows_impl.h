// SPDX-License-Identifier: Apache-2.0
// What the files of the row problem share: the search (rows_pivot.c) and the sharing of forces
// (rows_share.c) see rows only through these operations, which exist for a dense D
// (rows_compliance.c) and for the sparse KKT system (rows_sparse.c).
#pragma once

#include "base/arena.h"
#include "switch/rows.h"
#include "switch/tolerances.h"

typedef struct PawlRowsWork PawlRowsWork;

enum { PAWL_ROWS_MANY = 64 };  // rows: more of them are searched by their neighbours, too

typedef struct PawlRowsOps {
  // Factors the rows of `in`. Rows that follow from others of them are taken out of `in`. (R4)
  PawlStatus (*factor)(PawlRowsWork* k);
  // lambda of the rows of `in` such that their w is 0 with lambda of the others as it is; w and
  // size of all rows. Needs factor.                                                      (R3)
  void (*solve)(PawlRowsWork* k);
  // `direction`: how lambda of the rows of `in` changes with lambda_p; 1 for p, 0 for the others.
  // Returns how w_p changes, D_pp less what the others take.                             (R5)
  double (*move)(PawlRowsWork* k, int p);
  // Adds to the rows of `tight`, which are pulled, those outside the set that will be when these
  // have come in, as far as their neighbours tell; NULL: not known.                        (R14)
  void (*spread)(PawlRowsWork* k);
  // Whether no row of `tight` beside row i has more of `size` by its compliance; NULL: never.
  bool (*leads)(const PawlRowsWork* k, int i);
} PawlRowsOps;

// Room for k rows that follow from r others.
typedef struct PawlShareRoom {
  int k, r;                    // in use
  int* row;                    // k + r: first those that follow, then those kept
  double* T;                   // k-by-r by rows: G_follow = T G_kept
  double *weight, *start, *u;  // k + r: weights, shares for z = 0, shares
  double *low, *high, *slack;  // k + r
  double* z;                   // k
  double *L, *Y, *R;           // k-by-k
  double *y, *d, *push;        // k
  double* pull;                // k + 1: multipliers of the bounds in force
  int count;                   // bounds in force
  int* bound;                  // k: which they are
  int* side;                   // k: +1 low, -1 high
} PawlShareRoom;

struct PawlRowsWork {
  int m;
  const PawlRowsOps* ops;
  void* self;              // PawlCompliance or PawlRowsSparse
  const double* mobility;  // m: D_ii, or an estimate of it; >= 0
  const PawlRowBounds* bounds;
  double *lambda, *w;       // of the result
  double* given;            // m: of the terms of w that are given: b, r, forces outside the set
  double* size;             // m: of all terms of w
  double acting;            // largest r_j / sqrt(H_jj), where rows do not see it; 0: they do
  double* direction;        // m
  unsigned char* in;        // m: in the set for which w = 0 is asked
  unsigned char* tight;     // m: w = 0, and lambda may change
  unsigned char* flags;     // m: scratch
  unsigned char* given_up;  // m
  unsigned char* agrees;    // m: follows from the set, and differs from it by rounding
  bool independent;         // rows that depend on each other end the search
  bool dependent;           // and have
  PawlShareRoom* room;      // NULL: allocate when needed
};

PAWL_CHECKED bool pawl_rows_work_alloc(PawlRowsWork* k, PawlArena* arena, int m);
PAWL_CHECKED bool pawl_share_room_alloc(PawlShareRoom* room, PawlArena* arena, int k, int r);

static inline bool pawl_rows_fixed(const PawlRowsWork* k, int i) {
  return !(k->bounds->lo[i] < k->bounds->hi[i]);
}
static inline bool pawl_rows_bilateral(const PawlRowBounds* bounds, int i) {
  return bounds->lo[i] == -__builtin_inf() && bounds->hi[i] == __builtin_inf();
}
// Inside ops->solve: w_i is as small as rounding allows, terms of forces counted in full.
static inline bool pawl_rows_exact(const PawlRowsWork* k, int i) {
  double terms = k->given[i] + (k->size[i] - k->given[i]) * (1.0 / PAWL_ROWS_CARRIED);
  return __builtin_fabs(k->w[i]) <= PAWL_ROWS_EXACT * terms;
}
double pawl_rows_nearest(const PawlRowsWork* k, int i, double lambda);  // within the bounds
double pawl_rows_slack(const PawlRowsWork* k, int i);                   // of lambda_i: rounding

// A row outside the set with this w: +1 when its lambda must grow, -1 when it must fall, 0 when it
// may stay.
int pawl_rows_pull(const PawlRowsWork* k, int i, double w);

// After ops->move of row p: its slope is none, or rounding of the terms that it is the sum of.
bool pawl_rows_follows(const PawlRowsWork* k, int p, double slope);
// rows_pivot.c: ops->solve, and sizes that count what rounding in one row does to the others.
void pawl_rows_solve_set(PawlRowsWork* k);
// The whole solution; k->bounds and the arrays of `result` are set here.
PAWL_CHECKED PawlStatus pawl_rows_pivot(PawlRowsWork* k, const PawlRowBounds* bounds,
                                        PawlRowsResult* result);
// lambda to its bounds where it is there but for rounding, w to 0, and the states.
void pawl_rows_show(PawlRowsWork* k, PawlRowsResult* result);
// rows_share.c: the least lambda, and which free rows follow from others.
PAWL_CHECKED PawlStatus pawl_rows_share(PawlRowsWork* k, PawlRowsResult* result);
