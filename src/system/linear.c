// SPDX-License-Identifier: Apache-2.0
// Linearity, read from the expressions of the groups; and, only when the answer is no, the term of
// the model that is to blame, found by deriving term by term.
#include "system/linear.h"

#include "base/alloc.h"
#include "model/model.h"
#include "system/system.h"

// ---- one expression -----------------------------------------------------------------------------
typedef struct Leaves {  // what an expression depends on
  bool time;
  bool motion;     // q or v
  bool reactions;  // v' or lambda
} Leaves;

static bool is_motion(PawlOp leaf) {
  return leaf == PAWL_OP_Q || leaf == PAWL_OP_V || leaf == PAWL_OP_STATE;
}

static int see_leaf(void* context, PawlOp leaf, int index) {
  Leaves* seen = context;
  (void)index;
  seen->time |= leaf == PAWL_OP_TIME;
  seen->motion |= is_motion(leaf);
  seen->reactions |= leaf == PAWL_OP_A || leaf == PAWL_OP_LAMBDA;
  return 0;
}

// Operations whose derivative does not show that they jump when `moving[i]` says that operand i
// depends on q or v.
static bool may_jump(PawlOp op, const bool* moving) {
  if (op == PAWL_OP_IF) {
    return moving[0];
  }
  return pawl_op_info[op].smoothness == PAWL_JUMPS && (moving[0] || moving[1]);
}

// Whether the expression jumps with q or v; -1 when memory is short.
static int has_jumps(PawlDag* dag, PawlNode root) {
  const PawlNode* nodes;
  int count = pawl_dag_reach(dag, 1, &root, &nodes);
  bool* moves = count < 0 ? NULL : pawl_alloc((size_t)root + 1, sizeof(bool));
  int found = moves ? 0 : -1;
  for (int k = 0; found == 0 && k < count; k++) {
    const PawlDagNode* node = pawl_dag_node(dag, nodes[k]);
    bool moving[3] = {false, false, false};
    moves[nodes[k]] = is_motion(node->op);
    for (int i = 0; i < pawl_op_operands(node->op); i++) {
      moving[i] = moves[node->arg[i]];
      moves[nodes[k]] |= moving[i];
    }
    found = may_jump(node->op, moving);
  }
  pawl_free(moves);
  return found;
}

// The degree of an operation in the motion, from those of its operands: 0, 1, or 2 for more.
static int degree_of(PawlOp op, const int* of) {
  int most = of[0] > of[1] ? of[0] : of[1];
  most = of[2] > most ? of[2] : most;
  switch (op) {
    case PAWL_OP_ADD:
    case PAWL_OP_SUB:
    case PAWL_OP_NEG:
      return most;
    case PAWL_OP_MUL:
      return of[0] + of[1] > 2 ? 2 : of[0] + of[1];
    case PAWL_OP_DIV:
      return of[1] > 0 ? 2 : of[0];
    case PAWL_OP_IF:
      return of[0] > 0 ? 2 : most;
    case PAWL_OP_POW:
    case PAWL_OP_POWI:
    case PAWL_OP_TABLE:
    case PAWL_OP_TABLE2:
    case PAWL_OP_LT:
    case PAWL_OP_LE:
    case PAWL_OP_EQ:
    case PAWL_OP_NE:
    case PAWL_OP_AND:
    case PAWL_OP_OR:
    case PAWL_OP_NOT:
#define PAWL_FUNCTION(name, ...) case PAWL_OP_##name:
#define PAWL_LEAF(name, ...) case PAWL_OP_##name:
#include "expr/op.def"
    case PAWL_OP_COUNT:
      break;
  }
  return most > 0 ? 2 : 0;
}

// Whether the expression is affine in all that moves, v' and lambda among it. Numbers that may be
// others in another phase (time, turns, inputs) count as numbers where `phased`, else as more. -1
// when memory is short.
static int is_affine(PawlDag* dag, PawlNode root, bool phased) {
  const PawlNode* nodes;
  int count = pawl_dag_reach(dag, 1, &root, &nodes);
  int* degree = count < 0 ? NULL : pawl_alloc((size_t)root + 1, sizeof(int));
  bool no_memory = !degree, affine = !no_memory;
  for (int k = 0; affine && k < count; k++) {
    const PawlDagNode* node = pawl_dag_node(dag, nodes[k]);
    int of[3] = {0, 0, 0};
    for (int i = 0; i < pawl_op_operands(node->op); i++) {
      of[i] = degree[node->arg[i]];
    }
    bool number = node->op == PAWL_OP_CONST || node->op == PAWL_OP_PARAM;
    bool phase = node->op == PAWL_OP_TIME || node->op == PAWL_OP_TURN || node->op == PAWL_OP_INPUT;
    degree[nodes[k]] = number                      ? 0
                       : phase                     ? (phased ? 0 : 2)
                       : pawl_op_is_leaf(node->op) ? 1
                                                   : degree_of(node->op, of);
    affine = degree[nodes[k]] < 2;
  }
  pawl_free(degree);
  return no_memory ? -1 : affine;
}

enum { MEMORY_IS_SHORT = -1 };  // beside the values of PawlLinearity, below all of them

// What an entry says about the whole: coefficients depend on no part of the state; forces and rows
// depend on q and v, but without jumps. The value of a row does not enter the motion, only gamma
// does, so its time does not matter.
static int judge(PawlDag* dag, PawlQuantity quantity, PawlNode node) {
  Leaves leaves = {0};
  bool coefficient = quantity == PAWL_Q_M || quantity == PAWL_Q_K || quantity == PAWL_Q_C ||
                     quantity == PAWL_Q_GRAD;
  if (!coefficient && quantity != PAWL_Q_F && quantity != PAWL_Q_G && quantity != PAWL_Q_GAMMA) {
    return PAWL_LINEAR;
  }
  if (pawl_dag_leaves(dag, node, see_leaf, &leaves) != 0) {
    return MEMORY_IS_SHORT;
  }
  if (coefficient && (leaves.reactions || leaves.motion)) {
    return PAWL_NONLINEAR;
  }
  int affine = leaves.reactions ? is_affine(dag, node, true) : 1;  // the rate of a state
  if (affine <= 0) {
    return affine < 0 ? MEMORY_IS_SHORT : PAWL_NONLINEAR;
  }
  int jumps = leaves.motion ? has_jumps(dag, node) : 0;
  if (jumps != 0) {
    return jumps < 0 ? MEMORY_IS_SHORT : PAWL_NONLINEAR;
  }
  // gamma depends on v where a rate equation depends on q: steps are then those of rk4, too.
  bool by_steps =
      (leaves.time && quantity != PAWL_Q_G) || (leaves.motion && quantity == PAWL_Q_GAMMA);
  return by_steps ? PAWL_LINEAR_IN_TIME : PAWL_LINEAR;
}

// ---- the term to blame --------------------------------------------------------------------------
typedef struct Trial {
  PawlDag* dag;
  int count, capacity;
  int* coordinates;  // ascending
  int worst;
} Trial;

static int list_coordinate(void* context, PawlOp leaf, int index) {
  Trial* t = context;
  int at = 0;
  if (leaf != PAWL_OP_Q && leaf != PAWL_OP_V && leaf != PAWL_OP_A && leaf != PAWL_OP_STATE) {
    return 0;
  }
  while (at < t->count && t->coordinates[at] < index) {
    at++;
  }
  if (at < t->count && t->coordinates[at] == index) {
    return 0;
  }
  if (PAWL_GROW(t->coordinates, t->capacity, t->count + 1) != 0) {
    return -1;
  }
  for (int k = t->count++; k > at; k--) {
    t->coordinates[k] = t->coordinates[k - 1];
  }
  t->coordinates[at] = index;
  return 0;
}

static int judge_derived(void* context, PawlQuantity quantity, int i, int j, PawlNode node) {
  Trial* t = context;
  (void)i;
  (void)j;
  int found = judge(t->dag, quantity, node);
  t->worst = found < t->worst ? found : t->worst;
  return 0;
}

static PawlNode same_leaf(void* context, PawlDag* to, PawlOp leaf, int index) {
  (void)context;
  return pawl_dag_leaf(to, leaf, index);
}

static int judge_written(Trial* t, const PawlModel* model, PawlItemKind kind, int target,
                         PawlNode written) {
  PawlNode node = pawl_dag_copy(t->dag, model->dag, written, same_leaf, NULL);
  if (node == PAWL_NO_NODE || pawl_dag_leaves(t->dag, node, list_coordinate, t) != 0 ||
      ((kind == PAWL_ITEM_FORCE || kind == PAWL_ITEM_STATE) &&
       list_coordinate(t, PAWL_OP_Q, target) != 0)) {
    return MEMORY_IS_SHORT;
  }
  PawlItem item = {kind, target, 1, &node, -1};
  PawlStatus status = pawl_derive_item(t->dag, &item, &(PawlSpins){.model = model}, t->count,
                                       t->coordinates, judge_derived, t);
  return status == PAWL_OK ? t->worst : MEMORY_IS_SHORT;
}

// True also when memory is short, which `*no_memory` then says.
static bool is_to_blame(const PawlModel* model, PawlItemKind kind, int target, PawlNode written,
                        bool* no_memory) {
  Trial t = {.dag = pawl_dag_create(), .worst = PAWL_LINEAR};
  int found = t.dag ? judge_written(&t, model, kind, target, written) : MEMORY_IS_SHORT;
  pawl_dag_destroy(t.dag);
  pawl_free(t.coordinates);
  *no_memory = found == MEMORY_IS_SHORT;
  return found <= PAWL_NONLINEAR;
}

static const char* blame_constraint(const PawlModel* model, const PawlConstraint* constraint,
                                    bool* no_memory) {
  for (int k = 0; k < constraint->mode_count; k++) {
    const PawlMode* mode = &constraint->modes[k];
    for (int i = 0; i < mode->row_count; i++) {
      PawlItemKind kind = mode->rate ? PAWL_ITEM_RATE : PAWL_ITEM_CONSTRAINT;
      if (mode->rows[i].node != PAWL_LATER &&  // the form of others
          is_to_blame(model, kind, constraint->first_row + i, mode->rows[i].node, no_memory)) {
        return mode->rows[i].source.text ? mode->rows[i].source.text : constraint->name;
      }
    }
  }
  return NULL;
}

// The text of the first term that is not linear; NULL when it is none of them.
static const char* blame(const PawlModel* model, bool* no_memory) {
  static const PawlItemKind kind[] = {[PAWL_TERM_KINETIC] = PAWL_ITEM_KINETIC,
                                      [PAWL_TERM_POTENTIAL] = PAWL_ITEM_POTENTIAL,
                                      [PAWL_TERM_DISSIPATION] = PAWL_ITEM_DISSIPATION,
                                      [PAWL_TERM_FORCE] = PAWL_ITEM_FORCE};
  for (int k = 0; k < model->term_count; k++) {
    const PawlTerm* term = &model->terms[k];
    if (term->node != PAWL_LATER &&
        is_to_blame(model, kind[term->kind], term->target, term->node, no_memory)) {
      return term->source.text;
    }
  }
  for (int k = 0; k < model->state_count; k++) {
    const PawlStateDef* state = &model->states[k];
    if (state->rate != PAWL_NO_NODE &&
        is_to_blame(model, PAWL_ITEM_STATE, state->coordinate, state->rate, no_memory)) {
      return state->source.text ? state->source.text : state->name;
    }
  }
  for (int k = 0; k < model->constraint_count; k++) {
    const char* text = blame_constraint(model, &model->constraints[k], no_memory);
    if (text) {
      return text;
    }
  }
  return NULL;
}

// ---- the system ---------------------------------------------------------------------------------
static int judge_groups(const PawlSystem* system) {
  int worst = PAWL_LINEAR;
  for (int g = 0; g < system->group_count && worst > PAWL_NONLINEAR; g++) {
    const PawlGroup* group = &system->groups[g];
    for (int k = 0; k < group->entry_count && worst > PAWL_NONLINEAR; k++) {
      const PawlEntry* entry = &group->entries[k];
      int found = entry->constant ? PAWL_LINEAR : judge(group->dag, entry->quantity, entry->node);
      worst = found < worst ? found : worst;
    }
  }
  return worst;
}

PawlLinearity pawl_system_linearity(const PawlSystem* system, const char** why) {
  bool turns = system->model && system->model->rotation_count > 0;
  const char* reason = turns           ? "the rotations in space"
                       : system->model ? NULL
                                       : "functions of the caller";
  int found = system->model && !turns ? judge_groups(system) : PAWL_NONLINEAR;
  if (found == PAWL_NONLINEAR && !reason && why) {
    bool no_memory = false;
    const char* text = blame(system->model, &no_memory);
    reason = no_memory ? NULL : text ? text : "the friction of a constraint";  // which no term is
  }
  if (why) {
    *why = reason;
  }
  return found == MEMORY_IS_SHORT ? PAWL_NONLINEAR : (PawlLinearity)found;
}

// ---- what is watched ----------------------------------------------------------------------------
int pawl_system_watches_affine(const PawlSystem* system) {
  int affine = system->model != NULL;
  for (int g = 0; affine > 0 && g < system->group_count; g++) {
    const PawlGroup* group = &system->groups[g];
    for (int k = 0; affine > 0 && k < group->entry_count; k++) {
      const PawlEntry* e = &group->entries[k];
      affine = e->quantity != PAWL_Q_WATCH ? 1 : is_affine(group->dag, e->node, false);
    }
  }
  return affine;
}
