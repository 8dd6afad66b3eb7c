// SPDX-License-Identifier: Apache-2.0
// The cone Q: |a_T| <= a_N of one to three numbers a = (a_N, a_T), which is its own dual, with its
// product and the scaling of Y. Nesterov and M. Todd: what an interior point method needs of it.
#pragma once

#include <stdbool.h>

enum { PAWL_CONE_MOST = 3 };  // numbers of a point

// W = W^T with W z = W^-1 s for two points inside of the cone.
typedef struct PawlConeScaling {
  int dim;
  double eta, w[PAWL_CONE_MOST];  // W = eta times the boost to w, w_N^2 - |w_T|^2 = 1
} PawlConeScaling;

double pawl_cone_tangent(int dim, const double* a);  // |a_T|
// a o b = (a^T b, a_N b_T + b_N a_T); `out` may be neither.
void pawl_cone_product(int dim, const double* a, const double* b, double* out);
// b with a o b = c, in the place of c; a inside of the cone.
void pawl_cone_divide(int dim, const double* a, double* c);
// The largest t >= 0 such that a + t d is in the cone; a inside of it.
double pawl_cone_reach(int dim, const double* a, const double* d);
PawlConeScaling pawl_cone_scaling(int dim, const double* z, const double* s);
// W x, or W^-1 x; `out` may not be x.
void pawl_cone_scale(const PawlConeScaling* scaling, bool inverse, const double* x, double* out);
// Entry (i, j) of W^2 = eta^2 (2 w w^T - diag(1, -1, -1)).
double pawl_cone_square(const PawlConeScaling* scaling, int i, int j);
// The right side W^2 dz + ds = W x of a step towards z o s = nu e, with the products of a step dz,
// ds towards 0 (S. Mehrotra): (W z) o x = nu e - (W z) o (W z) - (W dz) o (W^-1 ds).
void pawl_cone_center(const PawlConeScaling* scaling, const double* z, const double* dz,
                      const double* ds, double nu, double* rhs);
