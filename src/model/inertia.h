// SPDX-License-Identifier: Apache-2.0
// What matrices of inertia can be those of bodies.
#pragma once

#include <stdbool.h>

// By how much the largest moment of inertia may exceed the sum of the others, relative to it: of a
// thin plate they are equal, and numbers in files have three digits and more.
#define PAWL_INERTIA_TRIANGLE 1e-3
// What sums of products leave of a zero among moments, and by how far entries across the diagonal
// may differ, relative to the largest moment.
#define PAWL_INERTIA_ROUNDING 1e-9

// The moments about the principal axes of a symmetric matrix, ascending.
void pawl_principal_moments(const double I[3][3], double moments[3]);
// Whether the least of them is negative; of a thin rod or a point of mass it is zero, up to
// rounding.
bool pawl_moments_negative(const double moments[3]);
