// SPDX-License-Identifier: Apache-2.0
// When does a row follow from others? Asked of the rows in force at a start and at a jump, of the
// sets that the row problem tries, of the surface of a region beside the rows of its mode. There is
// one measure for all of them and one limit (docs/theory/rows.md, section 6); two ways to find it:
// here, for rows that are dense, and pawl_kkt_diagnose for sparse ones.
#pragma once

#include <stdbool.h>

#include "linalg/tolerances.h"  // PAWL_DEPENDENT

typedef struct PawlSpan {  // rows that span what others are compared with; start from count = 0
  int n, count;
  double* Q;        // count rows of n numbers, orthonormal; room for one more, up to n in all
  const double* W;  // n-by-n, symmetric positive definite: the metric. NULL: the unit matrix
} PawlSpan;

// Takes the part along the span out of x (n numbers), twice, so that what is left is orthogonal to
// rounding however little it is. Returns its length relative to that of x before; 0 where x is 0.
double pawl_span_take_out(const PawlSpan* span, double* x);
// x joins the span and true is returned, or it follows from the rows that are in it, and the span
// stays as it is. Units of x do not matter.
bool pawl_span_extend(PawlSpan* span, const double* x);
