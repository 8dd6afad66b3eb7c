// SPDX-License-Identifier: Apache-2.0
// Dense work on small matrices, stored by columns, A(i,j) = A[i + j*lda]. LU is ours and allocates
// nothing; rank, null space, pseudoinverse and angles go through LAPACK and allocate.
#pragma once

#include <stdbool.h>

#include "base/error.h"

// LU with partial pivoting in place, P A = L U, A n-by-n with leading dimension n: L below the
// diagonal, 1 / U_kk on it, U above. pivot (n): row pivot[k] of A is the k-th of P A. Returns 0, or
// k+1 when no entry of what is left of column k exceeds `smallest` (rows and columns are assumed
// equilibrated by the caller, and entries finite).
int pawl_lu_factor(int n, double* A, int* pivot, double smallest);
// The same without row exchanges, A = L U. False, with A destroyed: a pivot is not above
// `smallest`, or an entry of L is above 64, so that rows must be exchanged.
bool pawl_lu_factor_plain(int n, double* A, double smallest);
// The sign of det A by these factors: 1 or -1.
int pawl_lu_sign(int n, const double* LU, const int* pivot);
// x <- A^-1 b; b and x must not overlap.
void pawl_lu_solve(int n, const double* LU, const int* pivot, const double* b, double* x);

// The functions below return PAWL_OK, PAWL_ERROR_MEMORY, or PAWL_RETRY when LAPACK's iteration did
// not converge or an entry is not finite. `tolerance` is relative to the largest singular value;
// <= 0 stands for max(m, n) * eps. A is not modified.

// Numerical rank of A (m-by-n) by singular values; `values` (min(m,n), may be NULL) receives them.
PAWL_CHECKED PawlStatus pawl_dense_rank(int m, int n, const double* A, double tolerance, int* rank,
                                        double* values);
// Orthonormal basis of {x : A x = 0}: n-by-(n - rank), into N (room for n*n).
PAWL_CHECKED PawlStatus pawl_dense_null_space(int m, int n, const double* A, double tolerance,
                                              double* N, int* dimension);
// Moore-Penrose inverse of A into P (n-by-m).
PAWL_CHECKED PawlStatus pawl_dense_pseudoinverse(int m, int n, const double* A, double tolerance,
                                                 double* P, int* rank);
// Principal angles between the row spaces of A (ma-by-n) and B (mb-by-n) in the metric X^T W Y with
// W (n-by-n, symmetric positive definite; NULL = identity): k = min(rank A, rank B) angles
// ascending in radians, accurate for small angles too (angles: room for min(ma, mb, n)), and the
// principal vectors as rows-in-columns U, V (n-by-k each, W-orthonormal, U_i^T W V_i = cos(angle_i)
// >= 0). U, V may be NULL; room for n*n. Rows count by direction, their length does not matter.
// PAWL_RETRY also when W is singular.
PAWL_CHECKED PawlStatus pawl_dense_principal_angles(int ma, int mb, int n, const double* A,
                                                    const double* B, const double* W,
                                                    double tolerance, int* k, double* angles,
                                                    double* U, double* V);
