// SPDX-License-Identifier: Apache-2.0
// One contact by itself: its normal row and its slips, all else as it is (docs/theory/friction.md,
// section 7).
#pragma once

#include <stdbool.h>

enum { PAWL_FRICTION_LOCAL = 3 };  // rows of a contact, at most: the normal one first

typedef struct PawlFrictionLocal {
  int count;                                                                   // rows: 1, 2 or 3
  double D[PAWL_FRICTION_LOCAL][PAWL_FRICTION_LOCAL], q[PAWL_FRICTION_LOCAL];  // w = D lambda + q
  double mu;
  double lambda[PAWL_FRICTION_LOCAL];  // out
} PawlFrictionLocal;

// Solves (F1), (F2) of a contact, lambda_N >= 0. With a positive definite D, however far it is from
// a multiple of 1, there is a solution and it is found; false: none was found, lambda is 0.
bool pawl_friction_local_solve(PawlFrictionLocal* l);

// |lambda_i - P_i(lambda_i - w_i/D_ii)| sqrt(D_ii), the largest of a contact with w as it is; D_TT
// is the larger one of both slips. `*size` becomes the largest lambda_i sqrt(D_ii).           (F62)
double pawl_friction_local_off(const PawlFrictionLocal* l, const double* w, double* size);
