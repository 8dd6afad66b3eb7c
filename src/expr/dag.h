// SPDX-License-Identifier: Apache-2.0
// The expression graph: hash-consed (an expression exists once), simplified as it is built, and
// differentiated exactly.
//
// Nodes are small integers in order of creation, so operands always come before the node that uses
// them: a pass over a graph is a loop over ascending indices, never a recursion.
#pragma once

#include <math.h>
#include <stdbool.h>

#include "base/text.h"
#include "expr/op.h"
#include "expr/table.h"

// A node of a graph, or PAWL_NO_NODE when memory ran out or the graph reached PAWL_DAG_MAX_NODES.
// Every constructor takes PAWL_NO_NODE and gives it back, so one check at the end is enough.
typedef int PawlNode;
#define PAWL_NO_NODE (-1)
#define PAWL_DAG_MAX_NODES 200000000

typedef struct PawlDagNode {
  PawlOp op;
  int index;     // leaf: which parameter, coordinate or row; POWI: the exponent; TABLE, TABLE2:
                 // table * PAWL_TABLE_VIEWS + view; else 0
  int arg[3];    // operands, PAWL_NO_NODE where there are fewer
  double value;  // CONST only
} PawlDagNode;

typedef struct PawlDag PawlDag;

PawlDag* pawl_dag_create(void);  // NULL when memory is short
void pawl_dag_destroy(PawlDag* dag);
int pawl_dag_count(const PawlDag* dag);
// Valid until the next node is built.
const PawlDagNode* pawl_dag_node(const PawlDag* dag, PawlNode node);

// ---- building -------------------------------------------------------------------------------
PawlNode pawl_dag_const(PawlDag* dag, double value);
PawlNode pawl_dag_leaf(PawlDag* dag, PawlOp leaf, int index);  // any leaf but CONST
PawlNode pawl_dag_powi(PawlDag* dag, PawlNode a, int exponent);
// Operands that the operation does not have are ignored. Simplifies safely: folds constants, drops
// 0 and 1 where that cannot hide a fault (0*x is 0; x/x stays), writes a + (-b) as a - b, and so
// on; simplify.c has the list. PAWL_NO_NODE for a leaf, POWI and tables, which have their own
// makers.
PawlNode pawl_dag_apply(PawlDag* dag, PawlOp op, PawlNode a, PawlNode b, PawlNode c);
// A look into a table of the graph; `b` is ignored for one of one argument. `view` -1: zero.
PawlNode pawl_dag_table(PawlDag* dag, int table, int view, PawlNode a, PawlNode b);
// A node like another, of a graph with the same tables, with other operands: any operation.
PawlNode pawl_dag_rebuild(PawlDag* dag, const PawlDagNode* like, const PawlNode arg[3]);
// The tables that nodes of a graph look into: they must outlive it. A graph that takes nodes of
// another needs the same ones (pawl_dag_copy sees to it).
void pawl_dag_set_tables(PawlDag* dag, const PawlTables* tables);
void pawl_dag_share_tables(PawlDag* dag, const PawlDag* from);
const PawlTables* pawl_dag_tables(const PawlDag* dag);  // NULL without
const PawlTable* pawl_dag_table_of(const PawlDag* dag, const PawlDagNode* node);
static inline PawlNode pawl_dag_unary(PawlDag* d, PawlOp op, PawlNode a) {
  return pawl_dag_apply(d, op, a, PAWL_NO_NODE, PAWL_NO_NODE);
}
static inline PawlNode pawl_dag_add(PawlDag* d, PawlNode a, PawlNode b) {
  return pawl_dag_apply(d, PAWL_OP_ADD, a, b, PAWL_NO_NODE);
}
static inline PawlNode pawl_dag_sub(PawlDag* d, PawlNode a, PawlNode b) {
  return pawl_dag_apply(d, PAWL_OP_SUB, a, b, PAWL_NO_NODE);
}
static inline PawlNode pawl_dag_mul(PawlDag* d, PawlNode a, PawlNode b) {
  return pawl_dag_apply(d, PAWL_OP_MUL, a, b, PAWL_NO_NODE);
}
static inline PawlNode pawl_dag_div(PawlDag* d, PawlNode a, PawlNode b) {
  return pawl_dag_apply(d, PAWL_OP_DIV, a, b, PAWL_NO_NODE);
}
static inline PawlNode pawl_dag_neg(PawlDag* d, PawlNode a) {
  return pawl_dag_unary(d, PAWL_OP_NEG, a);
}
bool pawl_dag_is_const(const PawlDag* dag, PawlNode node, double* value);  // value may be NULL

// ---- noting ---------------------------------------------------------------------------------
// What is asked of a graph, node by node: recipe.h makes a recipe of it.
typedef struct PawlTraceStep {
  PawlDagNode wanted;
  PawlNode node;  // what was found or made
  int place;      // of a leaf that is not the same in all members; -1: of none
} PawlTraceStep;

typedef struct PawlTrace {
  int count, capacity;
  PawlTraceStep* steps;
  bool failed;  // memory was short, or there was too much
  // Leaves made from here on: their index is that of the leaf in the first member plus by how much
  // the coordinate at `place` has moved (of QUAT four times that). -1: it is the same.
  int place;
} PawlTrace;

// Begins to note what is asked of a graph; NULL ends it.
void pawl_dag_trace(PawlDag* dag, PawlTrace* trace);
void pawl_trace_free(PawlTrace* trace);

// ---- reading --------------------------------------------------------------------------------
// The nodes that `roots` need, ascending (operands first), each once. Returns the count, -1 when
// memory is short; `*nodes` points into the graph's scratch and is valid until the next call of
// any function that takes a non-const graph.
int pawl_dag_reach(PawlDag* dag, int root_count, const PawlNode* roots, const PawlNode** nodes);

// Calls visit(context, op, index) for each leaf under `node` other than CONST, in ascending order
// of nodes; stops and returns the first non-zero answer, else 0. -1 when memory is short.
typedef int (*PawlLeafVisit)(void* context, PawlOp leaf, int index);
int pawl_dag_leaves(PawlDag* dag, PawlNode node, PawlLeafVisit visit, void* context);

// ---- deriving -------------------------------------------------------------------------------
// The derivative along a direction: `seed` gives the tangent of each leaf (a node of the same
// graph; the node of constant 0 where the leaf does not move). CONST is not asked.
typedef PawlNode (*PawlTangent)(void* context, PawlDag* dag, PawlOp leaf, int index);
PawlNode pawl_dag_tangent(PawlDag* dag, PawlNode node, PawlTangent seed, void* context);
// The same for many nodes, in one pass over all that they need.
PAWL_CHECKED PawlStatus pawl_dag_tangents(PawlDag* dag, int count, const PawlNode* nodes,
                                          PawlTangent seed, void* context, PawlNode* out);

// All derivatives of the sum of some nodes at once, in one pass from them to the leaves: an
// expression of a small multiple of its own size, however many leaves there are. `give` gets the
// derivative by each leaf other than CONST that occurs; it must not build nodes.
typedef void (*PawlAdjoint)(void* context, PawlOp leaf, int index, PawlNode derivative);
PAWL_CHECKED PawlStatus pawl_dag_adjoints(PawlDag* dag, int count, const PawlNode* nodes,
                                          PawlAdjoint give, void* context);

PawlNode pawl_dag_partial(PawlDag* dag, PawlNode node, PawlOp leaf, int index);

// By a coordinate: Q(coordinate) where `component` is negative; else along the rotation whose
// angular velocity about axis `component` of the body is V(coordinate), sum_k T_ki d/dQUAT_k. (O4)
PawlNode pawl_dag_vary(PawlDag* dag, PawlNode node, int coordinate, int component);
// T_ki of the rotation whose first velocity is `first`: half a number of its quaternion.       (O2)
PawlNode pawl_dag_spin_factor(PawlDag* dag, int first, int k, int i);
// The rate of QUAT(index), a node of QUAT and V.                                             (O2)
PawlNode pawl_dag_spin(PawlDag* dag, int index);

// d/dt by the chain rule: t' = 1, Q' = V, V' = A, STATE' = A, QUAT' = T V; parameters, inputs and
// multipliers stand still.
// The derivative of an acceleration does not exist: a node that contains A gives PAWL_NO_NODE.
PawlNode pawl_dag_total(PawlDag* dag, PawlNode node);

// ---- copying, evaluating, printing ----------------------------------------------------------
// Rebuilds `node` of `from` in `to`; `leaf` gives the node of `to` for each leaf of `from` other
// than CONST (constants are copied). `from` and `to` may be the same graph.
typedef PawlNode (*PawlLeafMap)(void* context, PawlDag* to, PawlOp leaf, int index);
PawlNode pawl_dag_copy(PawlDag* to, PawlDag* from, PawlNode node, PawlLeafMap leaf, void* context);

// x^n by repeated squaring, always in the same order of multiplications, so that every evaluation
// gives the same bits. 0 to a negative power is NaN.
static inline double pawl_powi(double x, int n) {
  long long rest = n < 0 ? -(long long)n : n;
  double power = rest & 1 ? x : 1.0;
  while (rest >>= 1) {
    x *= x;
    if (rest & 1) {
      power *= x;
    }
  }
  return n >= 0 ? power : power == 0.0 ? NAN : 1.0 / power;
}

// x - p floor(x / p) in [0, p) whatever the rounding; NaN unless p > 0.
static inline double pawl_wrap(double x, double p) {
  if (!(p > 0.0)) {
    return NAN;
  }
  double rest = x - p * floor(x / p);
  if (rest < 0.0) {  // x / p was rounded up to a whole number
    rest += p;
  }
  return rest >= p ? 0.0 : rest;
}

// One operation on numbers: what folding, the reference evaluation and the tape agree on. `index`
// is the exponent of POWI. A leaf and a table give NaN.
double pawl_op_value(PawlOp op, int index, double a, double b, double c);
// The same for a node that is no leaf; a table is looked up.
double pawl_dag_operate(const PawlDag* dag, const PawlDagNode* node, double a, double b, double c);

// Value of every leaf; arrays may be NULL where no such leaf occurs.
typedef struct PawlLeafValues {
  double t;
  const double *param, *q, *v, *a, *lambda, *turn, *input;
  int turning;  // the first coordinate of a rotation, see pawl_quat_place
} PawlLeafValues;

// Where QUAT(index) is in q: rotations stand behind `turning` other coordinates, four numbers in q
// for three in v.
static inline int pawl_quat_place(int turning, int index) {
  int first = index / 4;
  return first + (first - turning) / 3 + index % 4;
}

// The value of a node, slowly, with no tape: for parameters, tests and diagnosis. When `fault` is
// not NULL it receives the first node whose operands are finite and whose value is not and that the
// result depends on (the branch of an `if` not taken does not count), or PAWL_NO_NODE when the
// value is finite.
// PAWL_RETRY never; PAWL_ERROR_MEMORY possible.
PAWL_CHECKED PawlStatus pawl_dag_value(PawlDag* dag, PawlNode node, const PawlLeafValues* leaves,
                                       double* value, PawlNode* fault);

typedef enum PawlStyle { PAWL_STYLE_TEXT, PAWL_STYLE_LATEX } PawlStyle;
// Appends the name of a leaf in the asked style.
typedef void (*PawlLeafName)(void* context, PawlText* out, PawlStyle style, PawlOp leaf, int index);
// Appends `node` with as few parentheses as reading needs. Text reads back through the parser.
void pawl_dag_print(PawlText* out, PawlDag* dag, PawlNode node, PawlStyle style, PawlLeafName name,
                    void* context);
