// SPDX-License-Identifier: Apache-2.0
// Are the equations of motion linear?
#pragma once

#include "pawl/system.h"

typedef enum PawlLinearity {
  PAWL_NONLINEAR,
  PAWL_LINEAR_IN_TIME,  // M v' = f + G^T lambda with f affine in q and v; coefficients depend on t
  PAWL_LINEAR,          // in each set of modes all coefficients are numbers
} PawlLinearity;

// Decides from the derived expressions (docs/theory/linear.md, L1): M and G must not depend on q,
// v, v' or lambda, nor K and C, and forces must not jump with q or v. What a gate lets in or keeps
// out is linear in each mode. For PAWL_NONLINEAR `why` (may be NULL) receives an expression of the
// model that is not linear, as written, or a few words; valid as long as the model. It is NULL when
// memory was short. A system of callbacks is PAWL_NONLINEAR: its functions cannot be read.
PawlLinearity pawl_system_linearity(const PawlSystem* system, const char** why);

// Whether all that is watched is affine in q, v, v' and lambda, with numbers as coefficients: 1, 0,
// or -1 when memory is short.
int pawl_system_watches_affine(const PawlSystem* system);
