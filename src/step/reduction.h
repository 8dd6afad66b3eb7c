// SPDX-License-Identifier: Apache-2.0
// A linear system in one set of modes, reduced to z' = C z + c with z = (q, v), as numbers
// (docs/theory/linear.md). Used by the steppers taylor and exponential and by the spectrum.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "pawl/system.h"

// What an evaluation for a reduction must hold.
enum {
  PAWL_REDUCTION_MASK =
      PAWL_MASS | PAWL_FORCE | PAWL_STIFFNESS | PAWL_DAMPING | PAWL_GRADIENT | PAWL_BIAS
};

// Matrices by columns. n coordinates, m rows.
typedef struct PawlReduction {
  int n, m;
  double* A;  // n-by-(2n+1): a = A [q; v; 1]                                               (L7)
  double* L;  // m-by-(2n+1): lambda = L [q; v; 1]                                          (L8)
  double* T;  // n-by-n with T^T M T = I: the first n - rank columns have G T = 0, the others span
              // what the rows forbid (M with the addition of L9, where that was needed)
  double *K, *D;  // n-by-n: stiffness -df/dq and damping -df/dv
  int rank;       // independent rows in force
} PawlReduction;

// Arrays of a reduction of this size, from the arena. PAWL_ERROR_MEMORY.
PAWL_CHECKED PawlStatus pawl_reduction_create(PawlArena* arena, const PawlSystem* system,
                                              PawlReduction* out);

// Evaluates a linear system at time t in `modes` with the inputs behind `held` (NULL: those of the
// start) and reduces it. `active`: rows in force (NULL:
// all bilateral ones). Allocates for the time of the call. PAWL_RETRY: the mass matrix is singular
// along a motion that the rows leave free, or a number is not finite.
PAWL_CHECKED PawlStatus pawl_reduction_at_zero(const PawlSystem* system, PawlEval* eval, double t,
                                               const int* modes, const double* held,
                                               const unsigned char* active, PawlReduction* out,
                                               PawlError* err);
// The same of small motions about a point of any system, at rest there.
PAWL_CHECKED PawlStatus pawl_reduction_at(const PawlSystem* system, PawlEval* eval,
                                          const PawlPoint* point, const unsigned char* active,
                                          PawlReduction* out, PawlError* err);
