// SPDX-License-Identifier: Apache-2.0
// Exact derivatives, forward: the tangent of a node from the tangents of its operands, in one loop
// over what the node needs. A rule reuses the node itself where its value occurs in the derivative
// (y = tan a: y' = (1 + y^2) a').
//
// At the corner of abs, min, max and if the derivative is that of one side; steps (floor, sign,
// comparisons) have derivative 0.
#include "base/alloc.h"
#include "expr/dag_store.h"

// Short names for the graph under construction; all give PAWL_NO_NODE back.
static PawlNode num(PawlDag* d, double x) {
  return pawl_dag_const(d, x);
}
static PawlNode add(PawlDag* d, PawlNode a, PawlNode b) {
  return pawl_dag_add(d, a, b);
}
static PawlNode sub(PawlDag* d, PawlNode a, PawlNode b) {
  return pawl_dag_sub(d, a, b);
}
static PawlNode mul(PawlDag* d, PawlNode a, PawlNode b) {
  return pawl_dag_mul(d, a, b);
}
static PawlNode over(PawlDag* d, PawlNode a, PawlNode b) {
  return pawl_dag_div(d, a, b);
}
static PawlNode sqr(PawlDag* d, PawlNode a) {
  return pawl_dag_powi(d, a, 2);
}
static PawlNode fun(PawlDag* d, PawlOp op, PawlNode a) {
  return pawl_dag_unary(d, op, a);
}

static bool is_zero(const PawlDag* d, PawlNode node) {
  double value;
  return pawl_dag_is_const(d, node, &value) && value == 0.0;
}

// y = f(a): y' = (factor) da, or da over something.
static PawlNode derive_unary(PawlDag* d, PawlDagNode n, PawlNode y, PawlNode da) {
  PawlNode a = n.arg[0];
  switch (n.op) {
    case PAWL_OP_NEG:
      return pawl_dag_neg(d, da);
    case PAWL_OP_POWI:  // n a^(n-1) a'
      return mul(d, mul(d, num(d, n.index), pawl_dag_powi(d, a, n.index - 1)), da);
    case PAWL_OP_SQRT:
      return over(d, da, mul(d, num(d, 2.0), y));
    case PAWL_OP_EXP:
      return mul(d, y, da);
    case PAWL_OP_LOG:
      return over(d, da, a);
    case PAWL_OP_SIN:
      return mul(d, fun(d, PAWL_OP_COS, a), da);
    case PAWL_OP_COS:
      return pawl_dag_neg(d, mul(d, fun(d, PAWL_OP_SIN, a), da));
    case PAWL_OP_TAN:
      return mul(d, add(d, num(d, 1.0), sqr(d, y)), da);
    case PAWL_OP_ASIN:
      return over(d, da, fun(d, PAWL_OP_SQRT, sub(d, num(d, 1.0), sqr(d, a))));
    case PAWL_OP_ACOS:
      return pawl_dag_neg(d, over(d, da, fun(d, PAWL_OP_SQRT, sub(d, num(d, 1.0), sqr(d, a)))));
    case PAWL_OP_ATAN:
      return over(d, da, add(d, num(d, 1.0), sqr(d, a)));
    case PAWL_OP_SINH:
      return mul(d, fun(d, PAWL_OP_COSH, a), da);
    case PAWL_OP_COSH:
      return mul(d, fun(d, PAWL_OP_SINH, a), da);
    case PAWL_OP_TANH:
      return mul(d, sub(d, num(d, 1.0), sqr(d, y)), da);
    case PAWL_OP_ABS:
      return mul(d, fun(d, PAWL_OP_SIGN, a), da);
    default:  // SIGN, FLOOR, NOT
      return num(d, 0.0);
  }
}

// y = a^b: y' = b a^(b-1) a' + y log(a) b'. Each part only where it is needed: with b' = 0 there is
// no log, so that a negative base is good, and with b > 1 a base of zero too.
static PawlNode derive_power(PawlDag* d, PawlDagNode n, PawlNode y, PawlNode da, PawlNode db) {
  PawlNode a = n.arg[0], b = n.arg[1];
  PawlNode sum = num(d, 0.0);
  if (!is_zero(d, da)) {
    PawlNode lower = pawl_dag_apply(d, PAWL_OP_POW, a, sub(d, b, num(d, 1.0)), PAWL_NO_NODE);
    sum = mul(d, mul(d, b, lower), da);
  }
  if (!is_zero(d, db)) {
    sum = add(d, sum, mul(d, mul(d, y, fun(d, PAWL_OP_LOG, a)), db));
  }
  return sum;
}

static PawlNode derive_binary(PawlDag* d, PawlDagNode n, PawlNode y, PawlNode da, PawlNode db) {
  PawlNode a = n.arg[0], b = n.arg[1];
  switch (n.op) {
    case PAWL_OP_ADD:
      return add(d, da, db);
    case PAWL_OP_SUB:
      return sub(d, da, db);
    case PAWL_OP_MUL:
      return add(d, mul(d, da, b), mul(d, a, db));
    case PAWL_OP_DIV:  // (a' - y b') / b
      return over(d, sub(d, da, mul(d, y, db)), b);
    case PAWL_OP_POW:
      return derive_power(d, n, y, da, db);
    case PAWL_OP_ATAN2:  // (b a' - a b') / (a^2 + b^2)
      return over(d, sub(d, mul(d, b, da), mul(d, a, db)), add(d, sqr(d, a), sqr(d, b)));
    case PAWL_OP_MIN:
      return pawl_dag_apply(d, PAWL_OP_IF, pawl_dag_apply(d, PAWL_OP_LE, a, b, PAWL_NO_NODE), da,
                            db);
    case PAWL_OP_MAX:
      return pawl_dag_apply(d, PAWL_OP_IF, pawl_dag_apply(d, PAWL_OP_LE, a, b, PAWL_NO_NODE), db,
                            da);
    case PAWL_OP_WRAP:  // y = a - b floor(a / b)
      return sub(d, da, mul(d, fun(d, PAWL_OP_FLOOR, over(d, a, b)), db));
    default:  // comparisons, AND, OR
      return num(d, 0.0);
  }
}

static PawlNode derive(PawlDag* d, PawlNode y, const int arg[3], const PawlNode* tangent) {
  PawlDagNode n = d->node[y];  // by value: nodes move when the graph grows
  bool still = true;
  for (int k = 0; k < 3 && arg[k] >= 0; k++) {
    bool condition = n.op == PAWL_OP_IF && k == 0;
    still = still && (condition || is_zero(d, tangent[arg[k]]));
  }
  if (still) {
    return num(d, 0.0);
  }
  switch (pawl_op_operands(n.op)) {
    case 1:
      return derive_unary(d, n, y, tangent[arg[0]]);
    case 2:
      return derive_binary(d, n, y, tangent[arg[0]], tangent[arg[1]]);
    default:  // IF
      return pawl_dag_apply(d, PAWL_OP_IF, n.arg[0], tangent[arg[1]], tangent[arg[2]]);
  }
}

PawlNode pawl_dag_tangent(PawlDag* dag, PawlNode node, PawlTangent seed, void* context) {
  PawlSlice slice;
  if (pawl_slice_take(&slice, dag, node) != 0) {
    return PAWL_NO_NODE;
  }
  PawlNode result = PAWL_NO_NODE;
  PawlNode* tangent = pawl_alloc((size_t)slice.count, sizeof *tangent);
  if (tangent) {
    for (int i = 0; i < slice.count; i++) {
      PawlDagNode at = dag->node[slice.node[i]];
      if (at.op == PAWL_OP_CONST) {
        result = num(dag, 0.0);
      } else if (pawl_op_is_leaf(at.op)) {
        result = seed(context, dag, at.op, at.index);
      } else {
        result = derive(dag, slice.node[i], slice.arg[i], tangent);
      }
      tangent[i] = result;
      if (result < 0) {
        break;
      }
    }
  }
  pawl_free(tangent);
  pawl_slice_free(&slice);
  return result;
}

typedef struct Variable {
  PawlOp leaf;
  int index;
} Variable;

static PawlNode seed_one(void* context, PawlDag* dag, PawlOp leaf, int index) {
  const Variable* variable = context;
  bool same = leaf == variable->leaf && (index == variable->index || leaf == PAWL_OP_TIME);
  return num(dag, same ? 1.0 : 0.0);
}

PawlNode pawl_dag_partial(PawlDag* dag, PawlNode node, PawlOp leaf, int index) {
  Variable variable = {leaf, index};
  return pawl_dag_tangent(dag, node, seed_one, &variable);
}

static PawlNode seed_time(void* context, PawlDag* dag, PawlOp leaf, int index) {
  (void)context;
  switch (leaf) {
    case PAWL_OP_TIME:
      return num(dag, 1.0);
    case PAWL_OP_Q:
      return pawl_dag_leaf(dag, PAWL_OP_V, index);
    case PAWL_OP_V:
      return pawl_dag_leaf(dag, PAWL_OP_A, index);
    case PAWL_OP_A:
      return PAWL_NO_NODE;
    default:  // PARAM, LAMBDA
      return num(dag, 0.0);
  }
}

PawlNode pawl_dag_total(PawlDag* dag, PawlNode node) {
  return pawl_dag_tangent(dag, node, seed_time, NULL);
}
