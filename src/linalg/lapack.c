// SPDX-License-Identifier: Apache-2.0
// Singular values, and what follows from them: rank, null space, pseudoinverse. This file and
// eigenvalues.c see LAPACKE; its `_work` functions are used, which take their workspace from us.
#include "linalg/lapack.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static bool all_finite(size_t count, const double* A) {
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(A[i])) {
      return false;
    }
  }
  return true;
}

static void set_identity(int n, double* A) {
  memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
  for (int i = 0; i < n; i++) {
    A[(size_t)i * (size_t)(n + 1)] = 1.0;
  }
}

PawlStatus pawl_svd(PawlArena* arena, int m, int n, const double* A, PawlSvd* svd) {
  size_t entries = (size_t)m * (size_t)n;
  int k = m < n ? m : n;
  double* copy = PAWL_NEW(arena, double, entries);
  *svd = (PawlSvd){.m = m, .n = n, .k = k};
  svd->U = PAWL_NEW(arena, double, (size_t)m*(size_t)k);
  svd->s = PAWL_NEW(arena, double, k);
  svd->Vt = PAWL_NEW(arena, double, (size_t)n*(size_t)n);
  if (!copy || !svd->U || !svd->s || !svd->Vt) {
    return PAWL_ERROR_MEMORY;
  }
  if (k == 0) {
    set_identity(n, svd->Vt);
    return PAWL_OK;
  }
  if (!all_finite(entries, A)) {
    return PAWL_RETRY;
  }
  memcpy(copy, A, entries * sizeof *copy);
  double wanted = 0.0;
  LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'S', 'A', m, n, copy, m, svd->s, svd->U, m, svd->Vt, n,
                      &wanted, -1);
  double* work = PAWL_NEW(arena, double, wanted);
  if (!work) {
    return PAWL_ERROR_MEMORY;
  }
  int info = LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'S', 'A', m, n, copy, m, svd->s, svd->U, m,
                                 svd->Vt, n, work, (int)wanted);
  return info == 0 ? PAWL_OK : PAWL_RETRY;
}

int pawl_svd_rank(const PawlSvd* svd, double tolerance) {
  int larger = svd->m > svd->n ? svd->m : svd->n;
  double relative = tolerance > 0.0 ? tolerance : larger * DBL_EPSILON;
  int rank = 0;
  while (rank < svd->k && svd->s[rank] > relative * svd->s[0]) {
    rank++;
  }
  return rank;
}

PawlStatus pawl_cholesky(int n, const double* W, double* L) {
  if (!all_finite((size_t)n * (size_t)n, W)) {
    return PAWL_RETRY;
  }
  memcpy(L, W, (size_t)n * (size_t)n * sizeof *L);
  if (n > 0 && LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, L, n) != 0) {
    return PAWL_RETRY;
  }
  for (int j = 0; j < n; j++) {
    double* l = L + (size_t)j * (size_t)n;
    for (int i = 0; i < j; i++) {
      l[i] = 0.0;
    }
    // What is left of W_jj after the columns before; rounding leaves n eps of it.
    if (!(l[j] * l[j] > n * DBL_EPSILON * W[(size_t)j * (size_t)(n + 1)])) {
      return PAWL_RETRY;
    }
  }
  return PAWL_OK;
}

PawlStatus pawl_dense_rank(int m, int n, const double* A, double tolerance, int* rank,
                           double* values) {
  PawlArena arena = {0};
  PawlSvd svd;
  PawlStatus status = pawl_svd(&arena, m, n, A, &svd);
  if (status == PAWL_OK) {
    *rank = pawl_svd_rank(&svd, tolerance);
    if (values) {
      memcpy(values, svd.s, (size_t)svd.k * sizeof *values);
    }
  }
  pawl_arena_free(&arena);
  return status;
}

PawlStatus pawl_dense_null_space(int m, int n, const double* A, double tolerance, double* N,
                                 int* dimension) {
  PawlArena arena = {0};
  PawlSvd svd;
  PawlStatus status = pawl_svd(&arena, m, n, A, &svd);
  if (status == PAWL_OK) {
    int rank = pawl_svd_rank(&svd, tolerance);
    *dimension = n - rank;
    for (int j = 0; j < n - rank; j++) {
      for (int i = 0; i < n; i++) {
        N[i + j * n] = svd.Vt[rank + j + i * n];
      }
    }
  }
  pawl_arena_free(&arena);
  return status;
}

// P = sum over the first `rank` singular values of v u^T / s
static void sum_inverse(const PawlSvd* svd, int rank, double* P) {
  int m = svd->m, n = svd->n;
  memset(P, 0, (size_t)m * (size_t)n * sizeof *P);
  for (int k = 0; k < rank; k++) {
    for (int j = 0; j < m; j++) {
      double u = svd->U[j + k * m] / svd->s[k];
      for (int i = 0; i < n; i++) {
        P[i + j * n] += svd->Vt[k + i * n] * u;
      }
    }
  }
}

PawlStatus pawl_dense_pseudoinverse(int m, int n, const double* A, double tolerance, double* P,
                                    int* rank) {
  PawlArena arena = {0};
  PawlSvd svd;
  PawlStatus status = pawl_svd(&arena, m, n, A, &svd);
  if (status == PAWL_OK) {
    *rank = pawl_svd_rank(&svd, tolerance);
    sum_inverse(&svd, *rank, P);
  }
  pawl_arena_free(&arena);
  return status;
}
