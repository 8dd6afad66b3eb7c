// SPDX-License-Identifier: Apache-2.0
// The Lagrangian L(q, v) = T - V of a model and its derivatives, for methods that are derived from
// an action (docs/theory/php.md).
#pragma once

#include "system/bundle.h"
#include "system/system.h"

// L and its derivatives at a point; matrices n-by-n by columns, A(i,j) = A[i + j*n].
typedef struct PawlLagrangianValues {
  double* L;            // 1
  double *L_q, *L_v;    // n
  double *L_qq, *L_vv;  // n-by-n
  double* L_qv;         // (i,j): d2 L / dq_i dv_j
} PawlLagrangianValues;

typedef struct PawlLagrangian PawlLagrangian;

// Why a model has no Lagrangian of the form v'M(q)v/2 - V(q), n <= PAWL_LAGRANGIAN_MOST; NULL: it
// has. The text is in `room` of `size` bytes. `system` may be one of callbacks, which has none.
// Fails when memory is short.
enum { PAWL_LAGRANGIAN_MOST = 30 };
PAWL_CHECKED PawlStatus pawl_lagrangian_obstacle(const PawlSystem* system, char* room, size_t size,
                                                 const char** why, PawlError* err);

// L of the model as a node of `dag`, with numbers for the parameters; PAWL_NO_NODE: memory.
PawlNode pawl_lagrangian_node(const PawlModel* model, PawlDag* dag);
// An expression of the model rebuilt in `dag` in the same way.
PawlNode pawl_lagrangian_copy(const PawlModel* model, PawlDag* dag, PawlNode node);

// Derives L, an expression of Q(0..n-1) and V(0..n-1).
PAWL_CHECKED PawlStatus pawl_lagrangian_create(PawlDag* dag, PawlNode L, int n,
                                               PawlLagrangian** out, PawlError* err);
void pawl_lagrangian_destroy(PawlLagrangian* lagrangian);  // NULL is allowed
// Evaluates; the values are good until the next run. NULL: not finite.
const PawlLagrangianValues* pawl_lagrangian_run(PawlLagrangian* lagrangian, const double* q,
                                                const double* v);
