// SPDX-License-Identifier: Apache-2.0
// The expressions of a model with numbers for its parameters and with kinks as forces and
// constraints have them.
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/model.h"
#include "system/group_impl.h"

static PawlNode fold_leaf(void* context, PawlDag* dag, PawlOp leaf, int index) {
  const PawlSystem* system = context;
  if (leaf != PAWL_OP_PARAM) {
    return pawl_dag_leaf(dag, leaf, index);
  }
  const PawlParameter* parameter = &system->model->parameters[index];
  return parameter->input > 0 ? pawl_dag_leaf(dag, PAWL_OP_INPUT, parameter->input - 1)
                              : pawl_dag_const(dag, parameter->value);
}

static PawlNode ease(PawlSorter* s, PawlNode of_model, const PawlDagNode* node);

// Friction as forces have it; its nodes may come behind the one that asks for it.
static PawlNode ease_friction(PawlSorter* s, PawlNode F) {
  const PawlNode* nodes;
  int count = pawl_dag_reach(s->system->model->dag, 1, &F, &nodes);
  for (int k = 0; k < count; k++) {
    if (s->eased[nodes[k]] == PAWL_NO_NODE) {
      s->eased[nodes[k]] = ease(s, nodes[k], pawl_dag_node(s->system->model->dag, nodes[k]));
    }
  }
  return count < 0 ? PAWL_NO_NODE : s->eased[F];
}

// The force of a row. That of a joint is its friction F, no multiplier, while it slides:
//   lambda = -F where the value of its equation grows, F where it falls.                (V7) (W7)
// Friction itself contains no forces.
static PawlNode fold_force(PawlSorter* s, const PawlNode* folded, int row) {
  PawlSystem* system = s->system;
  PawlNode lambda = pawl_dag_leaf(s->dag, PAWL_OP_LAMBDA, row);
  int c = system->row_constraint[row];
  if (c < 0 || system->constraints[c].switching->capacity == PAWL_NO_NODE) {
    return lambda;
  }
  PawlNode mode = pawl_dag_leaf(s->dag, PAWL_OP_TURN, pawl_system_mode_turn(system, c));
  PawlNode friction = system->constraints[c].switching->friction;
  PawlNode F = folded == s->eased && folded != s->folded
                   ? ease_friction(s, friction)
                   : pawl_dag_copy(s->dag, system->model->dag, friction, fold_leaf, system);
  PawlNode up = pawl_dag_const(s->dag, PAWL_MODE_UP), down = pawl_dag_const(s->dag, PAWL_MODE_DOWN);
  PawlNode holds = pawl_dag_apply(s->dag, PAWL_OP_LT, mode, up, PAWL_NO_NODE);
  PawlNode grows = pawl_dag_apply(s->dag, PAWL_OP_LT, mode, down, PAWL_NO_NODE);
  PawlNode slides = pawl_dag_apply(s->dag, PAWL_OP_IF, grows, pawl_dag_neg(s->dag, F), F);
  return pawl_dag_apply(s->dag, PAWL_OP_IF, holds, lambda, slides);
}

static PawlNode fold_node(PawlSorter* s, const PawlNode* folded, const PawlDagNode* node) {
  if (node->op == PAWL_OP_CONST) {
    return pawl_dag_const(s->dag, node->value);
  }
  if (node->op == PAWL_OP_LAMBDA) {
    return fold_force(s, folded, node->index);
  }
  if (pawl_op_is_leaf(node->op)) {
    return fold_leaf(s->system, s->dag, node->op, node->index);
  }
  PawlNode arg[3] = {PAWL_NO_NODE, PAWL_NO_NODE, PAWL_NO_NODE};
  for (int k = 0; k < pawl_op_operands(node->op); k++) {
    arg[k] = folded[node->arg[k]];
  }
  return pawl_dag_rebuild(s->dag, node, arg);
}

// The place of a kink in a part of the list of turns; -1 without.
static int turn_of(const PawlSystem* system, int first, int count, PawlNode node) {
  for (int k = first; k < first + count; k++) {
    if (system->turns[k].node == node) {
      return k;
    }
  }
  return -1;
}

static void operands(const PawlNode* map, const PawlDagNode* node, PawlNode* arg) {
  for (int k = 0; k < 3; k++) {
    arg[k] = k < pawl_op_operands(node->op) ? map[node->arg[k]] : PAWL_NO_NODE;
  }
}

// A node as constraints have it: kinks are the branch of their turn.
static PawlNode unwind(PawlSorter* s, PawlNode of_model, const PawlDagNode* node) {
  int turn = turn_of(s->system, 0, s->system->turn_count, of_model);
  PawlNode arg[3];
  if (turn < 0) {
    return fold_node(s, s->unwound, node);
  }
  operands(s->unwound, node, arg);
  return pawl_kink_branch(s->dag, node, arg, pawl_dag_leaf(s->dag, PAWL_OP_TURN, turn));
}

// A node as forces and energies have it: kinks are free, or the branch that they are held on.
static PawlNode ease(PawlSorter* s, PawlNode of_model, const PawlDagNode* node) {
  const PawlSystem* system = s->system;
  int timed = system->turn_count + system->kink_count;  // the first of those
  int kink =
      turn_of(system, system->turn_count, system->kink_count + system->timed_count, of_model);
  PawlNode plain = fold_node(s, s->eased, node), arg[3];
  if (kink < 0) {
    return plain;
  }
  operands(s->eased, node, arg);
  PawlNode turn = pawl_dag_leaf(s->dag, PAWL_OP_TURN, kink);
  return kink < timed ? pawl_kink_eased(s->dag, node, arg, plain, turn)
                      : pawl_kink_timed(s->dag, node, arg, plain, turn);
}

static PawlNode* new_map(int count) {
  PawlNode* map = pawl_alloc((size_t)count, sizeof *map);
  if (map) {
    memset(map, -1, (size_t)count * sizeof *map);  // PAWL_NO_NODE
  }
  return map;
}

// Without kinks of either sort their maps are that of all others.
static int make_maps(PawlSorter* s, int count) {
  const PawlSystem* system = s->system;
  s->dag = pawl_dag_create();
  s->folded = new_map(count);
  s->unwound = system->turn_count == 0 ? s->folded : new_map(count);
  s->eased = system->kink_count + system->timed_count == 0 ? s->folded : new_map(count);
  return s->dag && s->folded && s->unwound && s->eased ? 0 : -1;
}

void pawl_group_free_folded(PawlSorter* s) {
  pawl_free(s->unwound == s->folded ? NULL : s->unwound);
  pawl_free(s->eased == s->folded ? NULL : s->eased);
  pawl_free(s->folded);
}

static int fold_all(PawlSorter* s, const PawlDag* from, const unsigned char* needed) {
  int failed = 0;
  for (int k = 0; !failed && k < pawl_dag_count(from); k++) {
    const PawlDagNode* node = pawl_dag_node(from, k);
    if (!needed[k]) {
      continue;
    }
    s->folded[k] = fold_node(s, s->folded, node);
    if (s->unwound != s->folded) {
      s->unwound[k] = unwind(s, k, node);
    }
    if (s->eased != s->folded) {
      s->eased[k] = ease(s, k, node);
    }
    failed = s->folded[k] == PAWL_NO_NODE || s->unwound[k] == PAWL_NO_NODE ||
             s->eased[k] == PAWL_NO_NODE;
  }
  return failed;
}

PawlStatus pawl_group_fold(PawlSorter* s, PawlError* err) {
  const PawlDag* from = s->system->model->dag;
  int count = pawl_dag_count(from);
  unsigned char* needed = pawl_alloc((size_t)count, 1);
  bool good = needed && make_maps(s, count) == 0;
  if (good) {
    pawl_dag_share_tables(s->dag, from);
    pawl_group_find_needed(s, needed);
    good = fold_all(s, from, needed) == 0;
  }
  pawl_free(needed);
  return good ? PAWL_OK : pawl_fail_memory(err);
}
