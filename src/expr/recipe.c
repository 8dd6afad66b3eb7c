// SPDX-License-Identifier: Apache-2.0
#include "expr/recipe.h"

#include "base/alloc.h"
#include "expr/dag_store.h"

typedef struct Step {
  PawlDagNode like;  // operands are registers
  int place;         // of a leaf that moves; -1: of none
  bool swapped;      // the operands of the node stand the other way round
} Step;

// Registers hold the nodes of the present member: first those that all have in common, then one for
// each step.
struct PawlRecipe {
  int fixed_count, step_count, root_count;
  PawlNode* registers;
  Step* steps;
  int* roots;  // registers
};

// ---- from a trace to a recipe -------------------------------------------------------------------
typedef struct Maker {
  PawlRecipe* recipe;
  int count;        // registers
  PawlNode* nodes;  // of each register in the member that was traced
} Maker;

// A trace is short: its members are looked for one by one, the last first.
static int register_of(const Maker* m, PawlNode node) {
  for (int k = m->count - 1; k >= 0; k--) {
    if (m->nodes[k] == node) {
      return k;
    }
  }
  return -1;
}

static bool is_explained(const Maker* m, const PawlTraceStep* step) {
  for (int k = 0; k < pawl_op_operands(step->wanted.op); k++) {
    if (register_of(m, step->wanted.arg[k]) < 0) {
      return false;
    }
  }
  return true;
}

// What all members have in common is found once.
static void keep_fixed(Maker* m, const PawlTrace* trace) {
  for (int k = 0; k < trace->count; k++) {
    const PawlTraceStep* step = &trace->steps[k];
    if (step->place < 0 && is_explained(m, step) && register_of(m, step->node) < 0) {
      m->nodes[m->count] = m->recipe->registers[m->count] = step->node;
      m->count++;
    }
  }
  m->recipe->fixed_count = m->count;
}

static bool keep_steps(Maker* m, const PawlDag* dag, const PawlTrace* trace) {
  for (int k = 0; k < trace->count; k++) {
    const PawlTraceStep* from = &trace->steps[k];
    if (!is_explained(m, from)) {
      return false;
    }
    if (register_of(m, from->node) >= 0) {
      continue;
    }
    Step* step = &m->recipe->steps[m->recipe->step_count++];
    *step = (Step){.like = from->wanted, .place = from->place};
    for (int i = 0; i < pawl_op_operands(from->wanted.op); i++) {
      step->like.arg[i] = register_of(m, from->wanted.arg[i]);
    }
    step->swapped = pawl_dag_node(dag, from->node)->arg[0] != from->wanted.arg[0];
    m->nodes[m->count++] = from->node;
  }
  return true;
}

static bool fill(PawlRecipe* recipe, const PawlDag* dag, const PawlTrace* trace, PawlNode* nodes,
                 int root_count, const PawlNode* roots) {
  Maker m = {.recipe = recipe, .nodes = nodes};
  keep_fixed(&m, trace);
  if (!keep_steps(&m, dag, trace)) {
    return false;
  }
  for (int k = 0; k < root_count; k++) {
    recipe->roots[k] = register_of(&m, roots[k]);
    if (recipe->roots[k] < 0) {
      return false;
    }
  }
  recipe->root_count = root_count;
  return true;
}

PawlRecipe* pawl_recipe_make(PawlArena* arena, const PawlDag* dag, const PawlTrace* trace,
                             int root_count, const PawlNode* roots) {
  PawlRecipe* recipe = trace->failed ? NULL : PAWL_NEW(arena, PawlRecipe, 1);
  PawlNode* nodes = pawl_alloc((size_t)trace->count, sizeof *nodes);
  if (recipe && nodes) {
    recipe->registers = PAWL_NEW(arena, PawlNode, trace->count);
    recipe->steps = PAWL_NEW(arena, Step, trace->count);
    recipe->roots = PAWL_NEW(arena, int, root_count);
  }
  bool good =
      recipe && nodes && !arena->failed && fill(recipe, dag, trace, nodes, root_count, roots);
  pawl_free(nodes);
  return good ? recipe : NULL;
}

// ---- following it -------------------------------------------------------------------------------
// The coordinates of a rotation are known by four numbers each (PAWL_OP_QUAT).
static int shift_of(const Step* step, const int* moved) {
  int by = step->place < 0 ? 0 : moved[step->place];
  return step->like.op == PAWL_OP_QUAT ? 4 * by : by;
}

int pawl_recipe_follow(PawlRecipe* recipe, PawlDag* dag, const int* moved, bool exact,
                       PawlNode* roots) {
  PawlNode* at = recipe->registers;
  for (int k = 0; k < recipe->step_count; k++) {
    const Step* step = &recipe->steps[k];
    int operands = pawl_op_operands(step->like.op);
    PawlNode a = operands > 0 ? at[step->like.arg[0]] : PAWL_NO_NODE;
    PawlNode b = operands > 1 ? at[step->like.arg[1]] : PAWL_NO_NODE;
    PawlNode c = operands > 2 ? at[step->like.arg[2]] : PAWL_NO_NODE;
    PawlNode node =
        pawl_dag_make(dag, step->like.op, step->like.index + shift_of(step, moved), a, b, c);
    if (node == PAWL_NO_NODE) {
      return -1;
    }
    if (exact && (dag->node[node].arg[0] != a) != step->swapped) {
      return 0;
    }
    at[recipe->fixed_count + k] = node;
  }
  for (int k = 0; k < recipe->root_count; k++) {
    roots[k] = at[recipe->roots[k]];
  }
  return 1;
}

// A divisor that is a number.
static bool divides_by_number(const PawlRecipe* recipe, const PawlDag* dag, const Step* step) {
  int divisor = step->like.arg[1];
  PawlOp op = divisor < recipe->fixed_count ? pawl_dag_node(dag, recipe->registers[divisor])->op
                                            : PAWL_OP_COUNT;
  return op == PAWL_OP_CONST || op == PAWL_OP_PARAM;
}

bool pawl_recipe_is_smooth(const PawlRecipe* recipe, const PawlDag* dag) {
  bool smooth = true;
  for (int k = 0; smooth && k < recipe->step_count; k++) {
    const Step* step = &recipe->steps[k];
    PawlOp op = step->like.op;
    smooth = pawl_op_is_leaf(op) || op == PAWL_OP_ADD || op == PAWL_OP_SUB || op == PAWL_OP_NEG ||
             op == PAWL_OP_MUL || op == PAWL_OP_SIN || op == PAWL_OP_COS || op == PAWL_OP_EXP ||
             (op == PAWL_OP_POWI && step->like.index > 0) ||
             (op == PAWL_OP_DIV && divides_by_number(recipe, dag, step));
  }
  return smooth;
}
