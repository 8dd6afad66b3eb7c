// SPDX-License-Identifier: Apache-2.0
// The few LAPACK routines in use, behind plain functions.
#pragma once

#include "base/arena.h"
#include "linalg/dense.h"

typedef struct PawlSvd {  // A = U diag(s) V^T, s descending
  int m, n, k;            // A is m-by-n, k = min(m, n)
  double* U;              // m-by-k
  double* s;              // k
  double* Vt;             // n-by-n: V^T with its full basis
} PawlSvd;

// All memory comes from `arena`, also on failure. PAWL_RETRY: not converged, or A is not finite.
PAWL_CHECKED PawlStatus pawl_svd(PawlArena* arena, int m, int n, const double* A, PawlSvd* svd);
// How many singular values exceed `tolerance` times the largest; <= 0 stands for max(m, n) eps.
int pawl_svd_rank(const PawlSvd* svd, double tolerance);

// Lower Cholesky factor of W (n-by-n) into L, zeros above. PAWL_RETRY: W is not positive definite
// to working precision.
PAWL_CHECKED PawlStatus pawl_cholesky(int n, const double* W, double* L);
