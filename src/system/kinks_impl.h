// SPDX-License-Identifier: Apache-2.0
// What kinks.c and kinks_branch.c share.
#pragma once

#include "system/system.h"

// What has a number of pieces; else two sides.
static inline bool pawl_kink_counts(const PawlDag* dag, const PawlDagNode* n) {
  return n->op == PAWL_OP_WRAP || n->op == PAWL_OP_FLOOR || pawl_kink_is_table(dag, n);
}

// What decides where that is a comparison; PAWL_NO_NODE.
static inline PawlNode pawl_kink_condition(PawlNode node, const PawlDagNode* n) {
  return n->op == PAWL_OP_IF ? n->arg[0] : pawl_op_is_logical(n->op) ? node : PAWL_NO_NODE;
}
