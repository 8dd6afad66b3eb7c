// SPDX-License-Identifier: Apache-2.0
// What an item does to the energy T + V. Equation labels refer to docs/theory/energy.md.
#include "base/alloc.h"
#include "system/system.h"

enum { MIXED = -1000 };  // of no one degree

typedef struct Powers {
  PawlDag* dag;
  PawlSink sink;
  void* context;
} Powers;

static int give(const Powers* p, PawlPower power, PawlNode node) {
  double value;
  if (node == PAWL_NO_NODE) {
    return -1;
  }
  bool zero = pawl_dag_is_const(p->dag, node, &value) && value == 0.0;
  return zero ? 0 : p->sink(p->context, PAWL_Q_POWER, (int)power, 0, node);
}

static PawlNode by_time(const Powers* p, PawlNode node) {
  return pawl_dag_partial(p->dag, node, PAWL_OP_TIME, 0);
}

// ---- kinetic energy -----------------------------------------------------------------------------
// The degree in the rates of an operation whose operands have the degrees `of`.
static int degree_of(const PawlDagNode* node, const int* of) {
  switch (node->op) {
    case PAWL_OP_V:
      return 1;
    case PAWL_OP_ADD:
    case PAWL_OP_SUB:
      return of[0] == of[1] ? of[0] : MIXED;
    case PAWL_OP_NEG:
      return of[0];
    case PAWL_OP_MUL:
      return of[0] + of[1];
    case PAWL_OP_DIV:
      return of[0] - of[1];
    case PAWL_OP_POWI:
      return node->index * of[0];
    case PAWL_OP_IF:
      return of[0] == 0 && of[1] == of[2] ? of[1] : MIXED;
    default:  // leaves and functions: of the rates, of no degree; of anything else, 0
      return of[0] == 0 && of[1] == 0 && of[2] == 0 ? 0 : MIXED;
  }
}

// True when T is homogeneous of degree 2 in the rates as it is written; then v . dT/dv = 2 T.
// A negative answer says that memory is short.
static int is_quadratic(PawlDag* dag, PawlNode T) {
  const PawlNode* nodes;
  int count = pawl_dag_reach(dag, 1, &T, &nodes);
  int* degree = count < 0 ? NULL : pawl_alloc((size_t)pawl_dag_count(dag), sizeof(int));
  if (!degree) {
    return -1;
  }
  bool mixed = false;
  for (int k = 0; k < count && !mixed; k++) {
    const PawlDagNode* node = pawl_dag_node(dag, nodes[k]);
    int of[3] = {0, 0, 0};
    for (int i = 0; i < pawl_op_operands(node->op); i++) {
      of[i] = degree[node->arg[i]];
    }
    degree[nodes[k]] = degree_of(node, of);
    mixed = degree[nodes[k]] == MIXED;
  }
  bool quadratic = !mixed && degree[T] == 2;
  pawl_free(degree);
  return quadratic;
}

// -dT/dt, and 2 T - v . dT/dv where that is not zero.                                  (B7) (B8)
static int of_kinetic(const Powers* p, PawlNode T, int count, const int* slots) {
  int quadratic = is_quadratic(p->dag, T);
  if (quadratic < 0 || give(p, PAWL_POWER_TIME, pawl_dag_neg(p->dag, by_time(p, T))) != 0) {
    return -1;
  }
  PawlNode shift = pawl_dag_add(p->dag, T, T);
  for (int i = 0; !quadratic && i < count; i++) {
    PawlNode v = pawl_dag_leaf(p->dag, PAWL_OP_V, slots[i]);
    PawlNode momentum = pawl_dag_partial(p->dag, T, PAWL_OP_V, slots[i]);
    shift = pawl_dag_sub(p->dag, shift, pawl_dag_mul(p->dag, v, momentum));
  }
  return quadratic ? 0 : give(p, PAWL_POWER_SHIFT, shift);
}

// dV/dt at fixed q: what t and the states in V do.                                     (B7) (Z3)
static int of_potential(const Powers* p, PawlNode V, int count, const int* slots) {
  PawlNode sum = by_time(p, V);
  for (int i = 0; i < count; i++) {
    PawlNode rate = pawl_dag_leaf(p->dag, PAWL_OP_A, slots[i]);
    PawlNode slope = pawl_dag_partial(p->dag, V, PAWL_OP_STATE, slots[i]);
    sum = pawl_dag_add(p->dag, sum, pawl_dag_mul(p->dag, slope, rate));
  }
  return give(p, PAWL_POWER_TIME, sum);
}

// ---- the others ---------------------------------------------------------------------------------
// -v . dD/dv                                                                                (B4)
static int of_dissipation(const Powers* p, PawlNode D, int count, const int* slots) {
  PawlNode sum = pawl_dag_const(p->dag, 0.0);
  for (int i = 0; i < count; i++) {
    PawlNode v = pawl_dag_leaf(p->dag, PAWL_OP_V, slots[i]);
    PawlNode force = pawl_dag_partial(p->dag, D, PAWL_OP_V, slots[i]);
    sum = pawl_dag_sub(p->dag, sum, pawl_dag_mul(p->dag, v, force));
  }
  return give(p, PAWL_POWER_DISSIPATION, sum);
}

// v_i F_i                                                                              (B3) (B5)
static int of_force(const Powers* p, PawlPower power, PawlNode F, int target) {
  PawlNode v = pawl_dag_leaf(p->dag, PAWL_OP_V, target);
  return give(p, power, pawl_dag_mul(p->dag, F, v));
}

static PawlNode at_rest(void* context, PawlDag* dag, PawlOp leaf, int index) {
  (void)context;
  return leaf == PAWL_OP_V ? pawl_dag_const(dag, 0.0) : pawl_dag_leaf(dag, leaf, index);
}

// -lambda . g_t, of rate equations -lambda . b                                         (B6) (W8)
static int of_constraint(const Powers* p, const PawlItem* item) {
  PawlNode sum = pawl_dag_const(p->dag, 0.0);
  for (int k = 0; k < item->count; k++) {
    PawlNode lambda = pawl_dag_leaf(p->dag, PAWL_OP_LAMBDA, item->target + k);
    PawlNode rate = item->kind == PAWL_ITEM_RATE
                        ? pawl_dag_copy(p->dag, p->dag, item->nodes[k], at_rest, NULL)
                        : by_time(p, item->nodes[k]);
    sum = pawl_dag_sub(p->dag, sum, pawl_dag_mul(p->dag, lambda, rate));
  }
  return give(p, PAWL_POWER_DRIVES, sum);
}

PawlStatus pawl_derive_powers(PawlDag* dag, const PawlItem* item, int coordinate_count,
                              const int* coordinates, PawlSink sink, void* context) {
  Powers p = {dag, sink, context};
  int failed = 0;
  switch (item->kind) {
    case PAWL_ITEM_KINETIC:
      failed = of_kinetic(&p, item->nodes[0], coordinate_count, coordinates);
      break;
    case PAWL_ITEM_POTENTIAL:
      failed = of_potential(&p, item->nodes[0], coordinate_count, coordinates);
      break;
    case PAWL_ITEM_DISSIPATION:
      failed = of_dissipation(&p, item->nodes[0], coordinate_count, coordinates);
      break;
    case PAWL_ITEM_FORCE:
      failed = of_force(&p, PAWL_POWER_FORCES, item->nodes[0], item->target);
      break;
    case PAWL_ITEM_FRICTION:
      failed = of_force(&p, PAWL_POWER_FRICTION, item->nodes[0], item->target);
      break;
    case PAWL_ITEM_CONSTRAINT:
    case PAWL_ITEM_RATE:
      failed = of_constraint(&p, item);
      break;
    case PAWL_ITEM_SLIP:  // impulses of a step: the method has their work               (B20)
    case PAWL_ITEM_STATE:
    case PAWL_ITEM_UNIT:
    case PAWL_ITEM_GUARD:
    case PAWL_ITEM_WATCH:
    case PAWL_ITEM_CONDITION:
    case PAWL_ITEM_KINK:
    case PAWL_ITEM_OUTPUT:
      break;
  }
  return failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}
