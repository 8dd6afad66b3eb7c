// SPDX-License-Identifier: Apache-2.0
// Operations on numbers, the value of a node without a tape, and copies between graphs.
//
// A fault never hides: a NaN operand makes the result NaN (of an `if` only the condition and the
// branch taken count), and leaving the domain of an operation gives NaN, not infinity.
#include "base/alloc.h"
#include "expr/dag_store.h"
#include "expr/elementary.h"

// pow itself gives NaN for a negative base with a broken exponent, but infinity here.
static double power(double a, double b) {
  return a == 0.0 && b < 0.0 ? NAN : pow(a, b);
}

// For operands that are numbers.
static double operate(PawlOp op, int index, double a, double b, double c) {
  switch (op) {
    case PAWL_OP_NEG:
      return -a;
    case PAWL_OP_ADD:
      return a + b;
    case PAWL_OP_SUB:
      return a - b;
    case PAWL_OP_MUL:
      return a * b;
    case PAWL_OP_DIV:
      return b == 0.0 ? NAN : a / b;
    case PAWL_OP_POW:
      return power(a, b);
    case PAWL_OP_POWI:
      return pawl_powi(a, index);
    case PAWL_OP_TABLE:
    case PAWL_OP_TABLE2:
      return NAN;  // node_value knows the table
#define A a
#define B b
#define PAWL_FUNCTION(name, word, operands, value, ...) \
  case PAWL_OP_##name:                                  \
    return (value);
#include "expr/op.def"
#undef A
#undef B
    case PAWL_OP_LT:
      return a < b;
    case PAWL_OP_LE:
      return a <= b;
    case PAWL_OP_EQ:
      return a == b;
    case PAWL_OP_NE:
      return a != b;
    case PAWL_OP_AND:
      return a != 0.0 && b != 0.0;
    case PAWL_OP_OR:
      return a != 0.0 || b != 0.0;
    case PAWL_OP_NOT:
      return a == 0.0;
    case PAWL_OP_IF:
      return a != 0.0 ? b : c;
#define PAWL_LEAF(name, ...) case PAWL_OP_##name:
#include "expr/op.def"
    case PAWL_OP_COUNT:
      break;
  }
  return NAN;
}

double pawl_op_value(PawlOp op, int index, double a, double b, double c) {
  bool second = pawl_op_operands(op) == 2;
  if (isnan(a) || (second && isnan(b))) {
    return NAN;
  }
  double y = operate(op, index, a, b, c);
  return isnan(y) ? NAN : y;  // one NaN, whatever its sign
}

static double read(const double* array, int index) {
  return array ? array[index] : NAN;
}

static double leaf_value(const PawlDagNode* node, const PawlLeafValues* leaves) {
  switch ((PawlLeaf)node->op) {
    case PAWL_LEAF_CONST:
      return node->value;
    case PAWL_LEAF_PARAM:
      return read(leaves->param, node->index);
    case PAWL_LEAF_TIME:
      return leaves->t;
    case PAWL_LEAF_Q:
      return read(leaves->q, node->index);
    case PAWL_LEAF_V:
    case PAWL_LEAF_STATE:
      return read(leaves->v, node->index);
    case PAWL_LEAF_A:
      return read(leaves->a, node->index);
    case PAWL_LEAF_LAMBDA:
      return read(leaves->lambda, node->index);
    case PAWL_LEAF_INPUT:
      return read(leaves->input, node->index);
    case PAWL_LEAF_QUAT:
      return read(leaves->q, pawl_quat_place(leaves->turning, node->index));
    case PAWL_LEAF_TURN:
      return read(leaves->turn, node->index);
  }
  return NAN;
}

double pawl_dag_operate(const PawlDag* dag, const PawlDagNode* node, double a, double b, double c) {
  if (node->op == PAWL_OP_TABLE || node->op == PAWL_OP_TABLE2) {
    const PawlTableView* view =
        pawl_table_view(pawl_dag_table_of(dag, node), node->index % PAWL_TABLE_VIEWS);
    return node->op == PAWL_OP_TABLE ? pawl_table_at(view, a) : pawl_table_at_two(view, a, b);
  }
  return pawl_op_value(node->op, node->index, a, b, c);
}

static double node_value(const PawlDag* dag, const PawlDagNode* node, const int arg[3],
                         const double* value, const PawlLeafValues* leaves) {
  if (pawl_op_is_leaf(node->op)) {
    return leaf_value(node, leaves);
  }
  double a = value[arg[0]];
  double b = arg[1] >= 0 ? value[arg[1]] : 0.0;
  double c = arg[2] >= 0 ? value[arg[2]] : 0.0;
  return pawl_dag_operate(dag, node, a, b, c);
}

// True when operand k of a node bears on its value.
static bool matters(const PawlDagNode* node, const int arg[3], int k, const double* value) {
  if (arg[k] < 0) {
    return false;
  }
  if (node->op != PAWL_OP_IF || k == 0) {
    return true;
  }
  double condition = value[arg[0]];
  return !isnan(condition) && (condition != 0.0) == (k == 1);
}

// From the last node down: what the result depends on; the lowest fault met is the first one.
static PawlStatus find_fault(const PawlDag* dag, const PawlSlice* slice, const double* value,
                             PawlNode* fault) {
  bool* needed = pawl_alloc((size_t)slice->count, sizeof *needed);
  if (!needed) {
    return PAWL_ERROR_MEMORY;
  }
  needed[slice->count - 1] = true;
  for (int i = slice->count - 1; i >= 0; i--) {
    if (!needed[i]) {
      continue;
    }
    const PawlDagNode* node = &dag->node[slice->node[i]];
    bool clean = true;
    for (int k = 0; k < 3; k++) {
      if (matters(node, slice->arg[i], k, value)) {
        needed[slice->arg[i][k]] = true;
        clean = clean && isfinite(value[slice->arg[i][k]]);
      }
    }
    if (clean && !isfinite(value[i])) {
      *fault = slice->node[i];
    }
  }
  pawl_free(needed);
  return PAWL_OK;
}

PawlStatus pawl_dag_value(PawlDag* dag, PawlNode node, const PawlLeafValues* leaves, double* value,
                          PawlNode* fault) {
  PawlSlice slice;
  if (pawl_slice_take(&slice, dag, 1, &node) != 0) {
    return PAWL_ERROR_MEMORY;
  }
  PawlStatus status = PAWL_ERROR_MEMORY;
  double* values = pawl_alloc((size_t)slice.count, sizeof *values);
  if (values) {
    for (int i = 0; i < slice.count; i++) {
      values[i] = node_value(dag, &dag->node[slice.node[i]], slice.arg[i], values, leaves);
    }
    *value = values[slice.count - 1];
    status = PAWL_OK;
    if (fault) {
      *fault = PAWL_NO_NODE;
      status = isfinite(*value) ? PAWL_OK : find_fault(dag, &slice, values, fault);
    }
  }
  pawl_free(values);
  pawl_slice_free(&slice);
  return status;
}

static PawlNode copy_node(PawlDag* to, PawlDagNode node, const int arg[3], const PawlNode* copies,
                          PawlLeafMap leaf, void* context) {
  if (node.op == PAWL_OP_CONST) {
    return pawl_dag_const(to, node.value);
  }
  if (pawl_op_is_leaf(node.op)) {
    return leaf(context, to, node.op, node.index);
  }
  PawlNode operand[3];
  for (int k = 0; k < 3; k++) {
    operand[k] = arg[k] >= 0 ? copies[arg[k]] : PAWL_NO_NODE;
  }
  return pawl_dag_rebuild(to, &node, operand);
}

PawlNode pawl_dag_copy(PawlDag* to, PawlDag* from, PawlNode node, PawlLeafMap leaf, void* context) {
  pawl_dag_share_tables(to, from);
  PawlSlice slice;
  if (pawl_slice_take(&slice, from, 1, &node) != 0) {
    return PAWL_NO_NODE;
  }
  PawlNode result = PAWL_NO_NODE;
  PawlNode* copies = pawl_alloc((size_t)slice.count, sizeof *copies);
  if (copies) {
    for (int i = 0; i < slice.count; i++) {
      // By value: `from` may be `to`, whose nodes move when it grows.
      result = copy_node(to, from->node[slice.node[i]], slice.arg[i], copies, leaf, context);
      copies[i] = result;
      if (result < 0) {
        break;
      }
    }
  }
  pawl_free(copies);
  pawl_slice_free(&slice);
  return result;
}
