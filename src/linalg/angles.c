// SPDX-License-Identifier: Apache-2.0
// Principal angles between two row spaces (Bjorck and Golub, "Numerical methods for computing
// angles between linear subspaces", 1973). The metric W = L L^T becomes the plain one in
// coordinates L^T x. Cosines are the singular values of Q_A^T Q_B; they say nothing about angles
// below 1e-8, so where the cosine exceeds 1/sqrt(2) the pairs are found again from the sines, the
// singular values of (1 - Q_A Q_A^T) V.
#include <math.h>
#include <string.h>

#include "linalg/lapack.h"

// C = A^T B, A n-by-a, B n-by-b
static void multiply_transposed(int n, int a, int b, const double* A, const double* B, double* C) {
  for (int j = 0; j < b; j++) {
    for (int i = 0; i < a; i++) {
      double sum = 0.0;
      for (int k = 0; k < n; k++) {
        sum += A[k + i * n] * B[k + j * n];
      }
      C[i + j * a] = sum;
    }
  }
}

// C = A B, A n-by-a, B a-by-b with leading dimension ldb
static void multiply(int n, int a, int b, const double* A, const double* B, int ldb, double* C) {
  memset(C, 0, (size_t)n * (size_t)b * sizeof *C);
  for (int j = 0; j < b; j++) {
    for (int k = 0; k < a; k++) {
      double s = B[k + j * ldb];
      for (int i = 0; i < n; i++) {
        C[i + j * n] += A[i + k * n] * s;
      }
    }
  }
}

static double length(int n, const double* v) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    sum = hypot(sum, v[i]);
  }
  return sum;
}

// The rows of A in the coordinates L^T x (L may be NULL), as columns of unit length; a row of
// zeros stays zero. So the rank does not depend on the scale of a row.
static void rows_to_columns(int m, int n, const double* A, const double* L, double* columns) {
  for (int i = 0; i < m; i++) {
    double* c = columns + (size_t)i * (size_t)n;
    for (int j = 0; j < n; j++) {
      c[j] = L ? 0.0 : A[i + j * m];
      for (int k = j; L && k < n; k++) {
        c[j] += L[k + j * n] * A[i + k * m];
      }
    }
    double size = length(n, c);
    for (int j = 0; j < n && size > 0.0; j++) {
      c[j] /= size;
    }
  }
}

// An orthonormal basis (n-by-rank) of the row space.
static PawlStatus orthonormal(PawlArena* arena, int m, int n, const double* A, const double* L,
                              double tolerance, double** Q, int* rank) {
  double* columns = PAWL_NEW(arena, double, (size_t)m*(size_t)n);
  if (!columns) {
    return PAWL_ERROR_MEMORY;
  }
  rows_to_columns(m, n, A, L, columns);
  PawlSvd svd;
  PAWL_TRY(pawl_svd(arena, n, m, columns, &svd));
  *Q = svd.U;
  *rank = pawl_svd_rank(&svd, tolerance);
  return PAWL_OK;
}

typedef struct Pairs {
  int n, k;
  double *U, *V;          // n-by-k
  double *cosine, *sine;  // k
} Pairs;

static PawlStatus pairs_by_cosines(PawlArena* arena, int n, int a, int b, const double* Q_A,
                                   const double* Q_B, Pairs* pairs) {
  int k = a < b ? a : b;
  double* C = PAWL_NEW(arena, double, (size_t)a*(size_t)b);
  double* Z = PAWL_NEW(arena, double, (size_t)b*(size_t)k);
  *pairs = (Pairs){.n = n, .k = k};
  pairs->U = PAWL_NEW(arena, double, (size_t)n*(size_t)k);
  pairs->V = PAWL_NEW(arena, double, (size_t)n*(size_t)k);
  pairs->cosine = PAWL_NEW(arena, double, k);
  pairs->sine = PAWL_NEW(arena, double, k);
  if (!C || !Z || !pairs->U || !pairs->V || !pairs->cosine || !pairs->sine) {
    return PAWL_ERROR_MEMORY;
  }
  multiply_transposed(n, a, b, Q_A, Q_B, C);
  PawlSvd svd;
  PAWL_TRY(pawl_svd(arena, a, b, C, &svd));
  for (int j = 0; j < k; j++) {
    for (int i = 0; i < b; i++) {
      Z[i + j * b] = svd.Vt[j + i * b];
    }
    pairs->cosine[j] = fmin(svd.s[j], 1.0);
    pairs->sine[j] = sqrt(1.0 - pairs->cosine[j] * pairs->cosine[j]);
  }
  multiply(n, a, k, Q_A, svd.U, a, pairs->U);
  multiply(n, b, k, Q_B, Z, b, pairs->V);
  return PAWL_OK;
}

// Pairs 0 .. p-1 anew: V rotated by the singular vectors of (1 - Q Q^T) V, U = Q Q^T V made unit.
static PawlStatus pairs_by_sines(PawlArena* arena, int a, const double* Q, Pairs* pairs) {
  int n = pairs->n, p = 0;
  while (p < pairs->k && pairs->cosine[p] * pairs->cosine[p] > 0.5) {
    p++;
  }
  double* C = PAWL_NEW(arena, double, (size_t)a*(size_t)p);
  double* R = PAWL_NEW(arena, double, (size_t)n*(size_t)p);
  double* Z = PAWL_NEW(arena, double, (size_t)p*(size_t)p);
  double* V = PAWL_NEW(arena, double, (size_t)n*(size_t)p);
  if (!C || !R || !Z || !V) {
    return PAWL_ERROR_MEMORY;
  }
  multiply_transposed(n, a, p, Q, pairs->V, C);
  multiply(n, a, p, Q, C, a, R);
  for (int i = 0; i < n * p; i++) {
    R[i] = pairs->V[i] - R[i];
  }
  PawlSvd svd;
  PAWL_TRY(pawl_svd(arena, n, p, R, &svd));
  for (int j = 0; j < p; j++) {  // ascending sines
    for (int i = 0; i < p; i++) {
      Z[i + j * p] = svd.Vt[p - 1 - j + i * p];
    }
    pairs->sine[j] = svd.s[p - 1 - j];
  }
  multiply(n, p, p, pairs->V, Z, p, V);
  memcpy(pairs->V, V, (size_t)n * (size_t)p * sizeof *V);
  multiply_transposed(n, a, p, Q, V, C);
  multiply(n, a, p, Q, C, a, pairs->U);
  for (int j = 0; j < p; j++) {
    pairs->cosine[j] = length(n, pairs->U + j * n);
    for (int i = 0; i < n; i++) {
      pairs->U[i + j * n] /= pairs->cosine[j];
    }
  }
  return PAWL_OK;
}

// X <- L^-T X, back from the coordinates L^T x.
static void transform_back(int n, int k, const double* L, double* X) {
  for (int c = 0; c < k; c++) {
    double* x = X + (size_t)c * (size_t)n;
    for (int i = n - 1; i >= 0; i--) {
      for (int j = i + 1; j < n; j++) {
        x[i] -= L[j + i * n] * x[j];
      }
      x[i] /= L[i + i * n];
    }
  }
}

static void hand_out(const Pairs* pairs, const double* L, double* angles, double* U, double* V) {
  int n = pairs->n, k = pairs->k;
  for (int j = 0; j < k; j++) {
    double angle = atan2(pairs->sine[j], pairs->cosine[j]);
    angles[j] = j > 0 ? fmax(angle, angles[j - 1]) : angle;  // the two sources differ by rounding
  }
  double* from[] = {pairs->U, pairs->V};
  double* to[] = {U, V};
  for (int s = 0; s < 2; s++) {
    if (to[s]) {
      if (L) {
        transform_back(n, k, L, from[s]);
      }
      memcpy(to[s], from[s], (size_t)n * (size_t)k * sizeof *U);
    }
  }
}

static PawlStatus find_angles(PawlArena* arena, int ma, int mb, int n, const double* A,
                              const double* B, const double* W, double tolerance, int* k,
                              double* angles, double* U, double* V) {
  double *L = NULL, *Q_A, *Q_B;
  int a, b;
  if (W) {
    L = PAWL_NEW(arena, double, (size_t)n*(size_t)n);
    if (!L) {
      return PAWL_ERROR_MEMORY;
    }
    PAWL_TRY(pawl_cholesky(n, W, L));
  }
  PAWL_TRY(orthonormal(arena, ma, n, A, L, tolerance, &Q_A, &a));
  PAWL_TRY(orthonormal(arena, mb, n, B, L, tolerance, &Q_B, &b));
  Pairs pairs;
  PAWL_TRY(pairs_by_cosines(arena, n, a, b, Q_A, Q_B, &pairs));
  PAWL_TRY(pairs_by_sines(arena, a, Q_A, &pairs));
  *k = pairs.k;
  hand_out(&pairs, L, angles, U, V);
  return PAWL_OK;
}

PawlStatus pawl_dense_principal_angles(int ma, int mb, int n, const double* A, const double* B,
                                       const double* W, double tolerance, int* k, double* angles,
                                       double* U, double* V) {
  PawlArena arena = {0};
  PawlStatus status = find_angles(&arena, ma, mb, n, A, B, W, tolerance, k, angles, U, V);
  pawl_arena_free(&arena);
  return status;
}
