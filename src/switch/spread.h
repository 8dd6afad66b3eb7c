// SPDX-License-Identifier: Apache-2.0
// Loads of contacts that slip while their gaps follow from other rows (docs/theory/friction.md,
// section 9): a box on four corners. A row that was left out follows from rows that are held,
//
//   G_d = sum_j X_dj G_j,      lambda_d = sum_j X_dj lambda_j                                (F28)
//
// and with these loads, of all that have the same resultant G^T lambda, the least ones, it pushes
// through the rows that are held: B_j grows by X_dj B_d. It serves every method; it knows no
// instant.
#pragma once

#include "switch/by_rows.h"
#include "switch/phase.h"

typedef struct PawlSpread {
  PawlPattern G;
  const PawlByRows* rows;  // of G
  int first, end;          // rows of contacts
  unsigned char* seen;     // rows: the phase that the lists below are of
  bool any;                // it leaves some contact out
  int count;               // rows that are left out
  int *row, *start;        // which, and where their lists begin
  int* with;               // rows that each follows from
  double* part;            // X
  unsigned char* marked;   // v
  double *Q, *R, *e;       // room
  unsigned char* rubs;     // count: friction hangs on these loads
  unsigned char* group;    // rows: takes part in loads that are spread; see pawl_spread_flag
  int loose;               // a row left out whose loads are not found here, or -1
  bool matters, told;      // the motion has hung on how loads are shared; that was noted
} PawlSpread;

// `rows`: G by rows, outlives it.
PAWL_CHECKED PawlStatus pawl_spread_create(PawlArena* arena, const PawlPattern* G,
                                           const PawlByRows* rows, int first, int end,
                                           PawlSpread* out, PawlError* err);

// X at G, in a phase; `slips` (rows) tells contacts that slip. False: no load is spread.
bool pawl_spread_look(PawlSpread* spread, const PawlPhase* phase, const unsigned char* slips,
                      const double* G);
// B of the rows that are held, from B of all (nonzeros of G); after pawl_spread_look.
void pawl_spread_push(PawlSpread* spread, double* B);
// lambda of the rows that were left out; after pawl_spread_look.
void pawl_spread_loads(const PawlSpread* spread, double* lambda);
// Sets `group`; how many rows that were left out carry loads that friction hangs on.
int pawl_spread_flag(PawlSpread* spread);
