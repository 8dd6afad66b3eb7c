// SPDX-License-Identifier: Apache-2.0
// The balance of forces r = M v' - f - B^T lambda of a model of small or medium size whose patterns
// stay, as machine code without a loop. M is symmetric, B has the pattern of G.
#pragma once

#include <stddef.h>

#include "linalg/sparse.h"

// Coordinate j: -f_j, less the terms of B, plus those of M, each in the order of the patterns.
typedef struct PawlBalance {
  const double *B, *lambda, *M, *vdot, *f;
} PawlBalance;

typedef void PawlBalanceCode(const double* B, const double* lambda, const double* M,
                             const double* vdot, const double* f, double* r, double* sizes,
                             double scale);

typedef struct PawlBalanceLine {
  PawlBalanceCode *scaled, *judged;  // NULL: there is none
  void* code;
  size_t bytes;
} PawlBalanceLine;

void pawl_balance_line_create(const PawlPattern* M, const PawlPattern* G, PawlBalanceLine* line);
void pawl_balance_line_destroy(PawlBalanceLine* line);

// r times scale.
static inline void pawl_balance_line_scaled(const PawlBalanceLine* line, PawlBalance of,
                                            double scale, double* r) {
  line->scaled(of.B, of.lambda, of.M, of.vdot, of.f, r, NULL, scale);
}

// r, and |M| |v'| + |f| + |B|^T |lambda| in `sizes`.
static inline void pawl_balance_line_judged(const PawlBalanceLine* line, PawlBalance of, double* r,
                                            double* sizes) {
  line->judged(of.B, of.lambda, of.M, of.vdot, of.f, r, sizes, 1.0);
}
