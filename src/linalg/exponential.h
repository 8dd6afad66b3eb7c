// SPDX-License-Identifier: Apache-2.0
// The exponential of a small dense matrix, the truncated series that stands for it, and eigenvalues
// (docs/theory/linear.md). Matrices are n-by-n, stored by columns, A(i,j) = A[i + j*n].
#pragma once

#include <stddef.h>

#include "base/error.h"

// Numbers of workspace that the two functions below take, from the caller; they allocate nothing.
size_t pawl_exponential_room(int n);

// E = exp(A) by scaling and squaring with Pade approximants, with an error of a few eps beside
// max(1, |E|) where A is of moderate norm and of eps |A| where it is not. E must not overlap A;
// `pivots` has room for n. PAWL_RETRY: an entry of A or of the result is not finite.
PAWL_CHECKED PawlStatus pawl_exponential(int n, const double* A, double* E, double* room,
                                         int* pivots);

// E = sum of A^j / j! for j = 0 .. degree, with degree >= 1. The same rules.
PAWL_CHECKED PawlStatus pawl_exponential_series(int n, const double* A, int degree, double* E,
                                                double* room);

// C = A B, all n-by-n; C overlaps neither.
void pawl_dense_multiply(int n, const double* A, const double* B, double* C);

// Eigenvalues of A in the order of LAPACK's dgeev (a conjugate pair stands together, the positive
// imaginary part first), and the right eigenvectors as columns of V (n-by-n, may be NULL; real and
// imaginary part of a pair's first vector in its two columns), each of Euclidean length 1.
// Allocates. PAWL_RETRY: not converged, or A is not finite; PAWL_ERROR_MEMORY.
PAWL_CHECKED PawlStatus pawl_eigenvalues(int n, const double* A, double* real, double* imaginary,
                                         double* V);
// Eigenvalues of a symmetric matrix (its lower half is read), ascending, and its eigenvectors as
// columns of V at right angles. Allocates. The same failures.
PAWL_CHECKED PawlStatus pawl_symmetric_eigenvalues(int n, const double* A, double* values,
                                                   double* V);
