// SPDX-License-Identifier: Apache-2.0
// Exact derivatives. Forward: the tangent of a node from the tangents of its operands, in one loop
// over what the node needs. Backward: the adjoint of a node, the derivative of the result by it,
// goes on to its operands, in the opposite loop. A rule reuses the node itself where its value
// occurs in the derivative (y = tan a: y' = (1 + y^2) a').
//
// At the corner of abs, min, max and if the derivative is that of one side; steps (floor, sign,
// comparisons) have derivative 0.
#include "base/alloc.h"
#include "expr/dag_store.h"

// Short names for the graph `d` under construction; all give PAWL_NO_NODE back.
#define NUM(x) pawl_dag_const(d, x)
#define NEG(x) pawl_dag_neg(d, x)
#define ADD(x, y) pawl_dag_add(d, x, y)
#define SUB(x, y) pawl_dag_sub(d, x, y)
#define MUL(x, y) pawl_dag_mul(d, x, y)
#define OVER(x, y) pawl_dag_div(d, x, y)
#define SQR(x) pawl_dag_powi(d, x, 2)
#define FUN(f, x) pawl_dag_unary(d, PAWL_OP_##f, x)
#define LE(x, y) pawl_dag_apply(d, PAWL_OP_LE, x, y, PAWL_NO_NODE)
#define PICK(condition, x, y) pawl_dag_apply(d, PAWL_OP_IF, condition, x, y)

static bool is_zero(const PawlDag* d, PawlNode node) {
  double value;
  return pawl_dag_is_const(d, node, &value) && value == 0.0;
}

// y = a^b: y' = b a^(b-1) a' + y log(a) b'. Each part only where it is needed: with b' = 0 there is
// no log, so that a negative base is good, and with b > 1 a base of zero too.
static PawlNode derive_power(PawlDag* d, PawlDagNode n, PawlNode y, PawlNode da, PawlNode db) {
  PawlNode a = n.arg[0], b = n.arg[1];
  PawlNode sum = NUM(0.0);
  if (!is_zero(d, da)) {
    PawlNode lower = pawl_dag_apply(d, PAWL_OP_POW, a, SUB(b, NUM(1.0)), PAWL_NO_NODE);
    sum = MUL(MUL(b, lower), da);
  }
  if (!is_zero(d, db)) {
    sum = ADD(sum, MUL(MUL(y, FUN(LOG, a)), db));
  }
  return sum;
}

// The derivative of a look into a table by argument `by`.
static PawlNode derive_table(PawlDag* d, PawlDagNode n, int by) {
  int table = n.index / PAWL_TABLE_VIEWS, view = n.index % PAWL_TABLE_VIEWS;
  int derived = pawl_table_derivative(d->tables->item[table], view, by);
  return pawl_dag_table(d, table, derived, n.arg[0], n.arg[1]);
}

// The tangent of y from those of its operands.
static PawlNode derive_node(PawlDag* d, PawlDagNode n, PawlNode y, const PawlNode tangent[3]) {
  PawlNode a = n.arg[0], b = n.arg[1];
  PawlNode da = tangent[0], db = tangent[1], dc = tangent[2];
  switch (n.op) {
    case PAWL_OP_NEG:
      return NEG(da);
    case PAWL_OP_ADD:
      return ADD(da, db);
    case PAWL_OP_SUB:
      return SUB(da, db);
    case PAWL_OP_MUL:
      return ADD(MUL(da, b), MUL(a, db));
    case PAWL_OP_DIV:  // (a' - y b') / b
      return OVER(SUB(da, MUL(y, db)), b);
    case PAWL_OP_POW:
      return derive_power(d, n, y, da, db);
    case PAWL_OP_POWI:  // n a^(n-1) a'
      return MUL(MUL(NUM(n.index), pawl_dag_powi(d, a, n.index - 1)), da);
    case PAWL_OP_TABLE:
      return MUL(derive_table(d, n, 0), da);
    case PAWL_OP_TABLE2:
      return ADD(MUL(derive_table(d, n, 0), da), MUL(derive_table(d, n, 1), db));
#define A a
#define B b
#define Y y
#define DA da
#define DB db
#define PAWL_FUNCTION(name, word, operands, value, tangent, ...) \
  case PAWL_OP_##name:                                           \
    return (tangent);
#include "expr/op.def"
#undef A
#undef B
#undef Y
#undef DA
#undef DB
    case PAWL_OP_LT:
    case PAWL_OP_LE:
    case PAWL_OP_EQ:
    case PAWL_OP_NE:
    case PAWL_OP_AND:
    case PAWL_OP_OR:
    case PAWL_OP_NOT:
      return NUM(0.0);
    case PAWL_OP_IF:
      return PICK(a, db, dc);
#define PAWL_LEAF(name, ...) case PAWL_OP_##name:
#include "expr/op.def"
    case PAWL_OP_COUNT:
      break;
  }
  return PAWL_NO_NODE;  // leaves have a seed instead
}

static PawlNode derive(PawlDag* d, PawlNode y, const int arg[3], const PawlNode* tangent) {
  PawlDagNode n = d->node[y];  // by value: nodes move when the graph grows
  PawlNode along[3] = {PAWL_NO_NODE, PAWL_NO_NODE, PAWL_NO_NODE};
  bool still = true;
  for (int k = 0; k < 3 && arg[k] >= 0; k++) {
    bool condition = n.op == PAWL_OP_IF && k == 0;
    along[k] = tangent[arg[k]];
    still = still && (condition || is_zero(d, along[k]));
  }
  return still ? NUM(0.0) : derive_node(d, n, y, along);
}

static PawlNode tangent_of(PawlDag* dag, const PawlSlice* slice, int i, const PawlNode* tangent,
                           PawlTangent seed, void* context) {
  PawlDagNode at = dag->node[slice->node[i]];
  return at.op == PAWL_OP_CONST   ? pawl_dag_const(dag, 0.0)
         : pawl_op_is_leaf(at.op) ? seed(context, dag, at.op, at.index)
                                  : derive(dag, slice->node[i], slice->arg[i], tangent);
}

// The tangents of a slice, operands first.
static int list_tangents(PawlDag* dag, const PawlSlice* slice, PawlTangent seed, void* context,
                         PawlNode* tangent) {
  for (int i = 0; i < slice->count; i++) {
    tangent[i] = tangent_of(dag, slice, i, tangent, seed, context);
    if (tangent[i] < 0) {
      return -1;
    }
  }
  return 0;
}

PawlStatus pawl_dag_tangents(PawlDag* dag, int count, const PawlNode* nodes, PawlTangent seed,
                             void* context, PawlNode* out) {
  PawlSlice slice;
  if (pawl_slice_take(&slice, dag, count, nodes) != 0) {
    return PAWL_ERROR_MEMORY;
  }
  PawlNode* tangent = pawl_alloc((size_t)slice.count, sizeof *tangent);
  int failed = tangent ? list_tangents(dag, &slice, seed, context, tangent) : -1;
  for (int k = 0; !failed && k < count; k++) {
    out[k] = tangent[slice.root[k]];
  }
  pawl_free(tangent);
  pawl_slice_free(&slice);
  return failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}

PawlNode pawl_dag_tangent(PawlDag* dag, PawlNode node, PawlTangent seed, void* context) {
  PawlNode tangent;
  PawlStatus status = pawl_dag_tangents(dag, 1, &node, seed, context, &tangent);
  return status == PAWL_OK ? tangent : PAWL_NO_NODE;
}

// ---- backward -----------------------------------------------------------------------------------
// dy/d(operand k), y = node i of the slice.
static PawlNode slope(PawlDag* d, PawlNode y, int k) {
  PawlNode along[3] = {PAWL_NO_NODE, PAWL_NO_NODE, PAWL_NO_NODE};
  PawlDagNode n = d->node[y];
  for (int i = 0; i < pawl_op_operands(n.op); i++) {
    along[i] = NUM(i == k ? 1.0 : 0.0);
  }
  return derive_node(d, n, y, along);
}

// Hands the adjoint of node i on to its operands.
static int hand_on(PawlDag* d, const PawlSlice* slice, int i, PawlNode* adjoint) {
  PawlNode y = slice->node[i];
  for (int k = 0; k < 3 && slice->arg[i][k] >= 0; k++) {
    int to = slice->arg[i][k];
    bool condition = d->node[y].op == PAWL_OP_IF && k == 0;
    if (condition || d->node[slice->node[to]].op == PAWL_OP_CONST) {
      continue;
    }
    adjoint[to] = ADD(adjoint[to], MUL(adjoint[i], slope(d, y, k)));
    if (adjoint[to] < 0) {
      return -1;
    }
  }
  return 0;
}

static int list_adjoints(PawlDag* d, const PawlSlice* slice, PawlNode* adjoint) {
  for (int i = slice->count - 1; i >= 0; i--) {
    if (!is_zero(d, adjoint[i]) && hand_on(d, slice, i, adjoint) != 0) {
      return -1;
    }
  }
  return 0;
}

static void give_adjoints(const PawlDag* dag, const PawlSlice* slice, const PawlNode* adjoint,
                          PawlAdjoint give, void* context) {
  for (int i = 0; i < slice->count; i++) {
    const PawlDagNode* at = &dag->node[slice->node[i]];
    if (pawl_op_is_leaf(at->op) && at->op != PAWL_OP_CONST) {
      give(context, at->op, at->index, adjoint[i]);
    }
  }
}

PawlStatus pawl_dag_adjoints(PawlDag* dag, int count, const PawlNode* nodes, PawlAdjoint give,
                             void* context) {
  PawlSlice slice;
  if (pawl_slice_take(&slice, dag, count, nodes) != 0) {
    return PAWL_ERROR_MEMORY;
  }
  PawlNode zero = pawl_dag_const(dag, 0.0), one = pawl_dag_const(dag, 1.0);
  PawlNode* adjoint = pawl_alloc((size_t)slice.count, sizeof *adjoint);
  int failed = adjoint && zero >= 0 && one >= 0 ? 0 : -1;
  for (int i = 0; !failed && i < slice.count; i++) {
    adjoint[i] = zero;
  }
  for (int k = 0; !failed && k < count; k++) {
    adjoint[slice.root[k]] = pawl_dag_add(dag, adjoint[slice.root[k]], one);
  }
  failed = failed ? failed : list_adjoints(dag, &slice, adjoint);
  if (!failed) {
    give_adjoints(dag, &slice, adjoint, give, context);
  }
  pawl_free(adjoint);
  pawl_slice_free(&slice);
  return failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}

// ---- directions ---------------------------------------------------------------------------------
typedef struct Variable {
  PawlOp leaf;
  int index;
} Variable;

static PawlNode seed_one(void* context, PawlDag* dag, PawlOp leaf, int index) {
  const Variable* variable = context;
  bool same = leaf == variable->leaf && (index == variable->index || leaf == PAWL_OP_TIME);
  return pawl_dag_const(dag, same ? 1.0 : 0.0);
}

PawlNode pawl_dag_partial(PawlDag* dag, PawlNode node, PawlOp leaf, int index) {
  Variable variable = {leaf, index};
  return pawl_dag_tangent(dag, node, seed_one, &variable);
}

// ---- rotations ----------------------------------------------------------------------------------
// T_ki of p' = T(p) omega = p o (0, omega)/2: half a number of p, with its sign.               (O2)
PawlNode pawl_dag_spin_factor(PawlDag* dag, int first, int k, int i) {
  static const signed char which[4][3] = {{-1, -2, -3}, {0, -3, 2}, {3, 0, -1}, {-2, 1, 0}};
  int other = which[k][i];
  PawlNode p = pawl_dag_leaf(dag, PAWL_OP_QUAT, 4 * first + (other < 0 ? -other : other));
  return pawl_dag_mul(dag, pawl_dag_const(dag, other < 0 ? -0.5 : 0.5), p);
}

PawlNode pawl_dag_spin(PawlDag* dag, int index) {
  PawlNode rate = pawl_dag_const(dag, 0.0);
  for (int i = 0; i < 3; i++) {
    PawlNode omega = pawl_dag_leaf(dag, PAWL_OP_V, index / 4 + i);
    PawlNode part = pawl_dag_mul(dag, pawl_dag_spin_factor(dag, index / 4, index % 4, i), omega);
    rate = pawl_dag_add(dag, rate, part);
  }
  return rate;
}

typedef struct Turning {
  int first, component;
} Turning;

static PawlNode seed_rotation(void* context, PawlDag* dag, PawlOp leaf, int index) {
  const Turning* turning = context;
  bool moves = leaf == PAWL_OP_QUAT && index / 4 == turning->first;
  return moves ? pawl_dag_spin_factor(dag, turning->first, index % 4, turning->component)
               : pawl_dag_const(dag, 0.0);
}

PawlNode pawl_dag_vary(PawlDag* dag, PawlNode node, int coordinate, int component) {
  Turning turning = {coordinate - component, component};
  return component < 0 ? pawl_dag_partial(dag, node, PAWL_OP_Q, coordinate)
                       : pawl_dag_tangent(dag, node, seed_rotation, &turning);
}

// ---- along the motion ---------------------------------------------------------------------------
static PawlNode seed_time(void* context, PawlDag* dag, PawlOp leaf, int index) {
  (void)context;
  switch ((PawlLeaf)leaf) {
    case PAWL_LEAF_TIME:
      return pawl_dag_const(dag, 1.0);
    case PAWL_LEAF_Q:
      return pawl_dag_leaf(dag, PAWL_OP_V, index);
    case PAWL_LEAF_V:
    case PAWL_LEAF_STATE:
      return pawl_dag_leaf(dag, PAWL_OP_A, index);
    case PAWL_LEAF_QUAT:
      return pawl_dag_spin(dag, index);
    case PAWL_LEAF_A:
      return PAWL_NO_NODE;
    case PAWL_LEAF_CONST:
    case PAWL_LEAF_PARAM:
    case PAWL_LEAF_LAMBDA:
    case PAWL_LEAF_INPUT:
    case PAWL_LEAF_TURN:
      return pawl_dag_const(dag, 0.0);
  }
  return PAWL_NO_NODE;
}

PawlNode pawl_dag_total(PawlDag* dag, PawlNode node) {
  return pawl_dag_tangent(dag, node, seed_time, NULL);
}
