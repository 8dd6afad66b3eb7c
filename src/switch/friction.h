// SPDX-License-Identifier: Apache-2.0
// Rows with bounds and dry friction (docs/theory/friction.md). To the problem of switch/rows.h,
//
//   H x - B^T lambda = r,      w = G x + b,      D = G H^-1 B^T,   w = D lambda + q          (F1)
//   lambda_i = lo_i: w_i >= 0,   lo_i < lambda_i < hi_i: w_i = 0,   lambda_i = hi_i: w_i <= 0
//
// come blocks: a normal row N with one tangential row T (planar) or two (spatial), and
//
//   |lambda_T| <= mu |lambda_N|,     lambda_T = -mu |lambda_N| w_T / |w_T|  where w_T != 0    (F2)
//
// Bounds of the normal row are its own: (0, INFINITY) is a contact, bilateral a joint with
// friction, a known force a brake. Those of tangential rows are not read. The cone is isotropic:
// nothing depends on how the two tangential rows are turned in their plane.
//
//   level                 w                                       blocks
//   impact, time step     velocities after it (and e times        mu
//                         those before, in N and in T alike)
//   accelerations         accelerations                           at rest (velocity 0): mu;
//                                                                 sliding: `sliding`, with the
//                                                                 direction of the velocity
//
// A block that is sliding has lambda_T = -mu |lambda_N| direction whatever w_T becomes. These are
// the problems that may have no solution, or several (Painleve).
// mu static and kinetic: at rest solve with the static one; blocks found to slip are then given as
// `sliding` with the kinetic one and the direction that was found, and the problem is solved again.
//
// Nothing depends on units. Rows that depend on each other share forces as rows of the same small
// compliance, measured by D_ii, would do: those are the least forces, or the nearest to given ones.
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "pawl/pattern.h"
#include "switch/rows.h"

enum {
  PAWL_FRICTION_FEW = 6,      // blocks of a problem of which all sets may be tried
  PAWL_FRICTION_DENSE = 480,  // rows of a dense D, at most; and of what Lemke's method is tried on
};

typedef struct PawlFrictionBlock {
  int normal;           // its row
  int tangent[2];       // its rows; tangent[1] < 0: planar. A row belongs to one block at most
  double mu;            // >= 0, finite
  bool sliding;         // slips along `direction`, which is known
  double direction[2];  // sliding: unit vector of the velocity; planar: +1 or -1 in [0]
  bool begins;          // and does so from rest: where all sets are tried, w_T is not against it
  // Sliding, with a bilateral normal row: lambda_T = -mu lambda_N direction, lambda_N < 0 too. What
  // is taken back of a push takes the friction of that back.                            (C19)
  bool pulls;
} PawlFrictionBlock;

typedef enum PawlFrictionState {
  PAWL_FRICTION_UNKNOWN,  // in: no guess
  PAWL_FRICTION_OPEN,     // lambda_N = 0, where the normal row has a bound there
  PAWL_FRICTION_STICK,    // closed, w_T = 0
  PAWL_FRICTION_SLIP      // closed, w_T != 0 (or sliding), along `slip` of the result
} PawlFrictionState;

typedef enum PawlFrictionVerdict {
  PAWL_FRICTION_SOLVED,         // a solution, to `residual`
  PAWL_FRICTION_SEVERAL,        // the same, and there are others: see `solutions`
  PAWL_FRICTION_NONE,           // there is no solution: all sets were tried
  PAWL_FRICTION_NOT_CONVERGED,  // none was found; lambda and w are where the search stopped
} PawlFrictionVerdict;

// What is asked. Arrays of m rows as in pawl_compliance_solve.
typedef struct PawlFrictionProblem {
  const double* q;
  const double* size;  // may be NULL: of the terms of q
  const double *lo, *hi;
  int blocks;
  const PawlFrictionBlock* block;
  // m, may be NULL: 0. Rows that depend on each other share forces as near to these as they can:
  // the forces of the step before let a heap at rest stay as it is, and are found again at once.
  const double* near;
  bool all;    // look for all solutions, where the sets are few enough (planar blocks, 2^16 sets)
  bool count;  // look for others beside the one that is taken, where contacts are few: `solutions`
  bool rest;   // a solution in which no contact strays is taken, where there is one        (F39)
  // That is asked before all else where blocks are many: of forces that are one of many those in
  // the middle of all are found then (planar blocks).
  bool first;
  // Where nothing else finds a solution, sets are tried by halves: it takes long (planar blocks).
  bool halves;  //                                                                         (F71)
} PawlFrictionProblem;

// What is found. Arrays are the caller's. In: `state`, `block_state` and `slip` say where to begin
// (those of the last solution, or all zero); lambda is not read. Where there is one solution the
// result does not depend on them but for rounding; where several are known the one is taken that
// differs from them in the fewest rows and blocks, of stable ones where there are such.     (F43)
typedef struct PawlFrictionResult {
  double *lambda, *w;          // m; w exactly 0 where it is 0 to rounding
  unsigned char* state;        // m: PawlRowState of rows outside blocks and of normal rows
  unsigned char* block_state;  // PawlFrictionState of each block
  double* slip;                // 2 a block: unit vector of w_T while it slips, else 0
  // Out:
  PawlFrictionVerdict verdict;
  int solutions;    // with different x that are known; more than one only after a search of all, or
                    // where they are counted
  bool unstable;    // one of several is: what slips is beyond what it may rub with         (F43)
  double residual;  // [1] largest lambda_i - P(lambda_i - w_i/D_ii), P the nearest point of bounds
                    // or cone, measured by D_ii and divided by the largest term of any row   (F8)
  int rounds;       // sets tried, Newton steps
  int sweeps;       // of Gauss and Seidel, where Newton's method did not end
  int exchanges;    // of Lemke's method, where blocks of rows did not end
  int tried;        // sets tried one by one
  int strays;       // a block that strays in a solution that was found and not taken; -1: none
} PawlFrictionResult;

typedef struct PawlFriction PawlFriction;

// Allocates what solutions of up to most_rows rows need (of more than PAWL_FRICTION_DENSE, where D
// is sparse).
PAWL_CHECKED PawlStatus pawl_friction_create(int most_rows, int most_blocks, PawlFriction** out,
                                             PawlError* err);
void pawl_friction_destroy(PawlFriction* friction);  // NULL is allowed

// D m-by-m by columns and `own` as in pawl_compliance_set; copied.
PAWL_CHECKED PawlStatus pawl_friction_set(PawlFriction* friction, int m, const double* D,
                                          const double* own);
// The same for a large D of which most entries are 0: a symmetric pattern with the diagonal, in
// which the rows of a block have the same entries. Memory is taken for a pattern that is not that
// of the call before, and by solutions for more entries of factors than before. All sets are not
// tried one by one then. PAWL_RETRY: not finite; PAWL_ERROR_MEMORY.
PAWL_CHECKED PawlStatus pawl_friction_set_sparse(PawlFriction* friction, const PawlPattern* pattern,
                                                 const double* D, const double* own);

double pawl_friction_given(const PawlFriction* friction, int i, int j);  // D_ij

// Solves (F1), (F2). That there is no solution is a result (PAWL_OK; see `verdict`). PAWL_RETRY: a
// number is not finite or lo > hi. Planar blocks are solved exactly; as soon as a block with two
// tangential rows is not sliding, Newton's method and sweeps are used, `all` has no effect, `count`
// sees whether all could part, and NONE is no verdict. Allocates nothing.
PAWL_CHECKED PawlStatus pawl_friction_solve(PawlFriction* friction,
                                            const PawlFrictionProblem* problem,
                                            PawlFrictionResult* result);
