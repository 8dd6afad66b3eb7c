// SPDX-License-Identifier: Apache-2.0
// The loops of the generalized-alpha core over all coordinates, in parts that the threads of the
// stepper share. A part is short enough to stay in the cache from one loop over it to the next.
#pragma once

#include "base/pool.h"
#include "step/ga.h"

enum { PAWL_GA_PART = 1024 };    // coordinates
enum { PAWL_GA_LARGE = 65536 };  // from so many on their arrays are larger than a cache together
enum { PAWL_GA_SMALL = 64 };     // up to so many coordinates nothing is gained by their shape

// Of the balance of a part: the sums of (A15), the largest of its rows, and that of massless ones;
// the largest M q^2, and what it has to be for corrections to count as small.
typedef struct PawlGaSums {
  double error, size, massless, own;
  double largest, needed;
} PawlGaSums;

static inline PawlPart pawl_ga_part_of(const PawlStepper* s, int number) {
  int first = number * PAWL_GA_PART, n = s->sizes.v;
  int end = n - first < PAWL_GA_PART ? n : first + PAWL_GA_PART;
  return (PawlPart){.first = first, .end = end, .number = number};
}

// q = q_n + delta: there are neither rotations nor states.
bool pawl_ga_adds_up(const PawlStepper* s);
// (A1) to (A3) from a_n, the last v' and `more`, 1 to extrapolate; where coordinates simply add up
// the iterate is placed, too.
void pawl_ga_guess(const PawlStepper* s, PawlGa* d, PawlState* state, PawlGaMemory m, double more);
// Whether the last guess began at the very q and v of the iterate before it, bit by bit; where
// coordinates simply add up, and if `begun` was set.
bool pawl_ga_begins(const PawlStepper* s, const PawlGa* d);
// q and v of the iterate, with the caller's U and W.
void pawl_ga_place(const PawlStepper* s, PawlGa* d, PawlState* state);
// r = M v' - f - B^T lambda (A7); judged with the sizes of terms, of the iterate (pawl_ga_size) and
// the errors of the balance; else as the right side of a correction, dq = -r / beta', alone.
void pawl_ga_balance_forces(const PawlStepper* s, PawlGa* d, const PawlValues* values);
void pawl_ga_judge_forces(const PawlStepper* s, PawlGa* d, const PawlValues* values,
                          const double* v, bool positions);
// Adds dq to the iterate, and places it where coordinates simply add up and U and W are 0.    (A9)
void pawl_ga_add(const PawlStepper* s, PawlGa* d, PawlState* state);

// Stores what is folded, see PawlGaFold, with the residual that was judged last.
void pawl_ga_unfold(const PawlStepper* s, PawlGa* d);

// v' gets a and b, and U and W, with their last corrections, give back what a adds to q and v.
//                                                                                    (N34) (N36)
typedef struct PawlGaShared {
  double *U, *W, *dU, *dW;
  const double* b;  // NULL: none
} PawlGaShared;
void pawl_ga_share(const PawlStepper* s, PawlGa* d, const double* a, PawlGaShared with);

// The iterate becomes q, v, v' of the state and the vectors of its memory; see pawl_ga_accept.
void pawl_ga_take(const PawlStepper* s, PawlGa* d, PawlState* state, PawlGaMemory m, bool flush);

// ga_end.c: what pawl_ga_size and the errors do with a part.
void pawl_ga_size_part(const PawlStepper* s, PawlGa* d, const double* v, bool positions,
                       PawlPart part);
// The same of positions where the iterate is folded (`slim`); magnitude[0] is that of the first.
void pawl_ga_size_folded(PawlGa* d, PawlPart part, const double* magnitude);
// To the terms of rows of positions, terms[0] being those of the first.
void pawl_ga_add_constants(const PawlStepper* s, PawlPart rows, double* terms);
// The right side of rows that hold to rounding becomes 0, in the correction of a residual that was
// judged, and whether that is called for. (A29)
bool pawl_ga_rests(const PawlStepper* s, PawlGa* d);
void pawl_ga_rest_rows(const PawlStepper* s, PawlGa* d);
// ga_sums.c: sqrt(sum r_j^2 / M_jj) over the same of the terms, and |r_j| over its own where
// M_jj = 0; the largest |r_j| over its terms. (A15)
PawlGaSums pawl_ga_balance_part(int count, const double* r, const double* terms,
                                const double* weight);
