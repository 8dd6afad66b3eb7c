// SPDX-License-Identifier: Apache-2.0
// The one problem of forces with bounds (docs/theory/rows.md). A row is a gradient G_i and bounds
// lo_i <= lambda_i <= hi_i. Wanted are x (n) and lambda (m) with
//
//   H x - B^T lambda = r,      w = G x + b,                                               (R1)
//   lambda_i = lo_i: w_i >= 0,   lo_i < lambda_i < hi_i: w_i = 0,   lambda_i = hi_i: w_i <= 0
//
// H is n-by-n, positive definite on the motions that the rows leave free (symmetric, or nearly so);
// B and G have one pattern, and B = G in all convex uses. x is a correction of positions, a
// velocity after a jump, or an acceleration; lambda pushes towards growing w.
//
//   row                         lo, hi
//   equation in force           -INFINITY, INFINITY      "bilateral" below
//   contact                     0, INFINITY
//   brake, stiction at rest     -c, c
//   known force                 f, f                     w is then whatever it becomes
//   let go                      0, 0
//
// x and w are unique. lambda is unique where rows are independent; where rows depend on each other
// it is, of all that give this x, the one with the least sum of (lambda_i / weight_i)^2 within the
// bounds. Where no x satisfies all rows the result says so and names a smallest set of rows that
// cannot hold together. Nothing depends on the units of length, mass and time; with the default
// weights the shares of rows with different units (N, N m) do, as every such norm.
//
// Two layers. PawlRows takes the matrices of (R1). PawlCompliance takes D = G H^-1 B^T of a few
// rows, for callers that have it. Both keep what was factored: set matrices once, then solve for
// any number of right sides and bounds.
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "pawl/pattern.h"

typedef enum PawlRowState {
  PAWL_ROW_UNKNOWN,  // in: no guess. out: given up, see `conflict`
  PAWL_ROW_LOW,      // lambda = lo
  PAWL_ROW_FREE,     // lo < lambda < hi and w = 0; bilateral rows always
  PAWL_ROW_HIGH,     // lambda = hi
  PAWL_ROW_FOLLOWS   // free, and its gradient follows from those of free rows before it
} PawlRowState;

// What is asked. Arrays of m; lo <= hi, finite or infinite.
typedef struct PawlRowBounds {
  const double *lo, *hi;
  // > 0; NULL: all 1. Rows that depend on each other carry a load in proportion to weight^2, as far
  // as their gradients leave a choice. INFINITY: a rigid row; rows with finite weight then carry
  // only what rigid rows cannot. Brakes: weight = sqrt(capacity), rigid rows INFINITY.      (R9)
  const double* weight;
  // Sparse form: where rows of a set that is tried depend on each other, or some with w = 0 are
  // left beside it, the search ends with PAWL_RETRY, and nothing is allocated.
  bool independent;
} PawlRowBounds;

// What is found. Arrays of m, owned by the caller.
typedef struct PawlRowsResult {
  double* lambda;
  double* w;  // exactly 0 where w_i = 0 to rounding
  // In: where to begin (the states of the last solution, or all zero). The result does not depend
  // on it but for rounding. Out: PawlRowState. LOW, HIGH with w = 0: touching without a reserve.
  unsigned char* state;
  unsigned char* conflict;  // may be NULL: the first set of rows that contradict each other, flags
  double* violation;        // may be NULL: of these rows. With b - violation the set agrees; the
                            // least such change, each row measured by its own compliance
  // Out:
  bool dependent;  // it has ended there, see PawlRowBounds.independent
  int conflicts;   // contradictory sets met; 0: all conditions of (R1) hold. From each set one
                   // row is given up (the last one with a bound, else the last): its w is what is
                   // left, its state UNKNOWN. All other rows hold.
  int following;   // rows in the state FOLLOWS
  bool shared;     // false: saying how rows depend on each other would take more than 2^24 numbers;
                   // lambda is then one of many, and no row is in the state FOLLOWS
  int rounds;      // sets tried in blocks
  int exchanges;   // sets tried by exchanging one row, where blocks did not end
} PawlRowsResult;

// ---- rows of a system ---------------------------------------------------------------------------

typedef enum PawlRowsForm {
  PAWL_ROWS_AUTO,   // dense up to 48 rows; sparse beyond, where H alone is singular, and where
                    // the dense form returns PAWL_RETRY
  PAWL_ROWS_DENSE,  // factors H, forms D of all rows (m solutions with H, m^2 numbers)
  PAWL_ROWS_SPARSE  // factors [H -B^T; G 0] for each set of rows that is tried
} PawlRowsForm;

typedef struct PawlRows PawlRows;

// Allocates what all solutions need, and copies the patterns: H n-by-n, G m-by-n.
PAWL_CHECKED PawlStatus pawl_rows_create(const PawlPattern* H, const PawlPattern* G,
                                         PawlRowsForm form, PawlRows** out, PawlError* err);
void pawl_rows_destroy(PawlRows* rows);  // NULL is allowed
void pawl_rows_renew(PawlRows* rows);    // as just created, but for the room that it has come to

// Values in the order of the patterns; borrowed until the next call. Dense: factors H and forms D,
// once for all solutions. PAWL_RETRY: a number is not finite, or (dense asked for) H is singular.
PAWL_CHECKED PawlStatus pawl_rows_matrices(PawlRows* rows, const double* H, const double* B,
                                           const double* G);

// Solves (R1): r (n), b (m), x (n). Needs matrices. Rows that contradict each other are a result
// (PAWL_OK, `conflicts` > 0). PAWL_RETRY: x is not unique (a motion without inertia that no row
// prevents), a number is not finite, lo > hi, or rows so near to a contradiction that the forces
// (1e8 times what is given) leave nothing but rounding; x and the result are then not meaningful.
// PAWL_ERROR_MEMORY. The dense form allocates nothing; the sparse form only where rows depend on
// each other, and for new pivots of the factorisation.
PAWL_CHECKED PawlStatus pawl_rows_solve(PawlRows* rows, const double* r, const double* b,
                                        const PawlRowBounds* bounds, double* x,
                                        PawlRowsResult* result);

// ---- a few rows by their compliance -------------------------------------------------------------

typedef struct PawlCompliance PawlCompliance;

PAWL_CHECKED PawlStatus pawl_compliance_create(int most_rows, PawlCompliance** out, PawlError* err);
void pawl_compliance_destroy(PawlCompliance* compliance);  // NULL is allowed

// D m-by-m by columns, m <= most_rows: w_i per lambda_j, symmetric positive semidefinite (or with a
// skew part, as a gyroscopic H leaves it). Other rows may have been eliminated: `own` (m, may be
// NULL) is then the size that D_ii has without them, and a row with D_ii far below it does not
// move. Copies D. PAWL_RETRY: a number is not finite.
PAWL_CHECKED PawlStatus pawl_compliance_set(PawlCompliance* compliance, int m, const double* D,
                                            const double* own);

// Solves w = D lambda + q with the conditions of (R1). `size` (m, may be NULL: |q|) tells how large
// the terms were that q is the sum of, if that is more: what is 1e-12 of it is rounding. Allocates
// nothing.
// PAWL_RETRY as above.
PAWL_CHECKED PawlStatus pawl_compliance_solve(PawlCompliance* compliance, const double* q,
                                              const double* size, const PawlRowBounds* bounds,
                                              PawlRowsResult* result);
