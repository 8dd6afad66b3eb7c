// SPDX-License-Identifier: Apache-2.0
// A few expressions of one graph that are evaluated together, one point at a time: for what is not
// part of the equations of motion (a Lagrangian and its derivatives, a projection).
#pragma once

#include "expr/dag.h"
#include "pawl/base.h"

typedef struct PawlBundle PawlBundle;

// Copies what it needs of `dag`. A node of PAWL_NO_NODE is PAWL_ERROR_MEMORY.
PAWL_CHECKED PawlStatus pawl_bundle_create(PawlDag* dag, int count, const PawlNode* nodes,
                                           PawlBundle** out, PawlError* err);
void pawl_bundle_destroy(PawlBundle* bundle);  // NULL is allowed
// Evaluates all into `out` (count numbers); allocates nothing. False: one of them is not finite.
bool pawl_bundle_run(PawlBundle* bundle, const PawlLeafValues* at, double* out);
