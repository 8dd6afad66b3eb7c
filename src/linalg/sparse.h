// SPDX-License-Identifier: Apache-2.0
// Products with sparse matrices, values in the order of their pattern.
#pragma once

#include "pawl/pattern.h"

// y += scale * A x  and  y += scale * A^T x.
void pawl_sparse_add(const PawlPattern* A, const double* values, double scale, const double* x,
                     double* y);
void pawl_sparse_add_transposed(const PawlPattern* A, const double* values, double scale,
                                const double* x, double* y);

// How large the terms of each row of A x are: sizes_i = sum_j |A_ij| max(|x_j|, least). NULL stands
// for x_j = 1.
void pawl_sparse_sizes(const PawlPattern* A, const double* values, const double* x, double least,
                       double* sizes);
