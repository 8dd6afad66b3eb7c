// SPDX-License-Identifier: Apache-2.0
// A sparse square matrix, factored by its numbers alone: nothing is remembered from factorisations
// before, so that the same numbers give the same bits. For matrices of which each comes once or a
// few times (the KKT system of a method, which comes in every step, has linalg/kkt.h). Columns are
// ordered for little fill (AMD), rows by the numbers (kkt_pivots.h).
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "pawl/pattern.h"

typedef struct PawlSparseLu PawlSparseLu;

// The pattern is copied; each column has its diagonal.
PAWL_CHECKED PawlStatus pawl_sparse_lu_create(const PawlPattern* A, PawlSparseLu** out,
                                              PawlError* err);
void pawl_sparse_lu_destroy(PawlSparseLu* lu);  // NULL is allowed

// The diagonal is the pivot down to the part `preference` of the largest entry below it; 0: always
// (symmetric positive matrices need no exchanges). Takes memory for more entries than any before.
// PAWL_RETRY: a pivot is not above `smallest` in size; PAWL_ERROR_MEMORY.
PAWL_CHECKED PawlStatus pawl_sparse_lu_factor(PawlSparseLu* lu, const double* values,
                                              double preference, double smallest);
double pawl_sparse_lu_least(const PawlSparseLu* lu);       // size of the least pivot
bool pawl_sparse_lu_all_positive(const PawlSparseLu* lu);  // all pivots
// x <- A^-1 b; b and x may be one.
void pawl_sparse_lu_solve(PawlSparseLu* lu, const double* b, double* x);
// The diagonal of A^-1, from the factors: about three times the operations of these.      (K17)
// Takes memory for more entries than any before: PAWL_ERROR_MEMORY.
PAWL_CHECKED PawlStatus pawl_sparse_lu_inverse_diagonal(PawlSparseLu* lu, double* diagonal);
// Entries of L and U.
int pawl_sparse_lu_entries(const PawlSparseLu* lu);
