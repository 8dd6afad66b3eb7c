// SPDX-License-Identifier: Apache-2.0
// Random expressions for the tests: a tree that is never simplified, its value by the plain
// definition with a running bound on rounding, its value on complex numbers, and the graph built
// from it.
#pragma once

#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "expr/dag.h"

enum { TREE_MAX = 200, LEAVES = 2 };

typedef struct Random {
  uint64_t state;
} Random;

static inline uint64_t random_bits(Random* r) {
  r->state = r->state * 6364136223846793005u + 1442695040888963407u;
  return r->state >> 33;
}
static inline int random_below(Random* r, int n) {
  return (int)(random_bits(r) % (uint64_t)n);
}
static inline double random_between(Random* r, double low, double high) {
  return low + (high - low) * (double)random_bits(r) / 2147483648.0;
}

// Nodes as in a graph, operands first, the root last; not shared, not simplified.
typedef struct Tree {
  PawlDagNode node[TREE_MAX];
  int count;
  int next_leaf;  // used when `distinct`
  bool distinct;  // every leaf occurs once and there is no constant
} Tree;

static inline int tree_add(Tree* t, PawlDagNode node) {
  assert_true(t->count < TREE_MAX);
  t->node[t->count] = node;
  return t->count++;
}

static inline int tree_leaf(Tree* t, Random* r) {
  static const PawlOp leaf[] = {PAWL_OP_Q, PAWL_OP_Q, PAWL_OP_V, PAWL_OP_PARAM, PAWL_OP_TIME};
  static const double number[] = {0.0, 1.0, -1.0, 2.0, 0.5, -3.0, 0.25, 1.5, 3.0, -0.5};
  PawlDagNode node = {.arg = {-1, -1, -1}};
  int which = random_below(r, t->distinct ? 1 : 8);
  if (t->distinct) {
    node.op = PAWL_OP_Q;
    node.index = t->next_leaf++;
  } else if (which < 5) {
    node.op = leaf[which];
    node.index = node.op == PAWL_OP_TIME ? 0 : random_below(r, LEAVES);
  } else {
    node.op = PAWL_OP_CONST;
    node.value = number[random_below(r, 10)];
  }
  return tree_add(t, node);
}

// Sums and products come more often than the rest, as in real models.
static inline PawlOp random_op(Random* r) {
  static const PawlOp often[] = {PAWL_OP_ADD, PAWL_OP_SUB, PAWL_OP_MUL, PAWL_OP_MUL,
                                 PAWL_OP_DIV, PAWL_OP_NEG, PAWL_OP_POWI};
  if (random_below(r, 3) > 0) {
    return often[random_below(r, 7)];
  }
  PawlOp op;
  do {
    op = (PawlOp)(PAWL_OP_NEG + random_below(r, PAWL_OP_COUNT - PAWL_OP_NEG));
  } while (op == PAWL_OP_TABLE || op == PAWL_OP_TABLE2);
  return op;
}

// Recursion no deeper than `depth`, which the tests keep below 7.
static inline int tree_grow(Tree* t, Random* r, int depth) {
  if (depth == 0 || t->count > TREE_MAX - 60 || random_below(r, 8) == 0) {
    return tree_leaf(t, r);
  }
  PawlDagNode node = {.op = random_op(r), .arg = {-1, -1, -1}};
  if (node.op == PAWL_OP_POWI) {
    static const int exponent[] = {2, 3, 4, -1, -2, -3, 5};
    node.index = exponent[random_below(r, 7)];
  }
  for (int k = 0; k < pawl_op_operands(node.op); k++) {
    // Twins now and then, so that rules on equal operands have something to do.
    bool twin = k > 0 && !t->distinct && random_below(r, 6) == 0;
    node.arg[k] = twin ? node.arg[k - 1] : tree_grow(t, r, depth - 1);
  }
  return tree_add(t, node);
}

static inline void tree_random(Tree* t, Random* r, int depth, bool distinct) {
  *t = (Tree){.distinct = distinct};
  tree_grow(t, r, depth);
}

static inline PawlNode tree_build(const Tree* t, PawlDag* dag) {
  PawlNode made[TREE_MAX];
  for (int i = 0; i < t->count; i++) {
    const PawlDagNode* n = &t->node[i];
    if (n->op == PAWL_OP_CONST) {
      made[i] = pawl_dag_const(dag, n->value);
    } else if (pawl_op_is_leaf(n->op)) {
      made[i] = pawl_dag_leaf(dag, n->op, n->index);
    } else if (n->op == PAWL_OP_POWI) {
      made[i] = pawl_dag_powi(dag, made[n->arg[0]], n->index);
    } else {
      PawlNode b = n->arg[1] >= 0 ? made[n->arg[1]] : PAWL_NO_NODE;
      PawlNode c = n->arg[2] >= 0 ? made[n->arg[2]] : PAWL_NO_NODE;
      made[i] = pawl_dag_apply(dag, n->op, made[n->arg[0]], b, c);
    }
  }
  return made[t->count - 1];
}

static inline double leaf_number(const PawlDagNode* n, const PawlLeafValues* x) {
  switch ((PawlLeaf)n->op) {
    case PAWL_LEAF_CONST:
      return n->value;
    case PAWL_LEAF_PARAM:
      return x->param[n->index];
    case PAWL_LEAF_TIME:
      return x->t;
    case PAWL_LEAF_Q:
      return x->q[n->index];
    case PAWL_LEAF_V:
    case PAWL_LEAF_STATE:
      return x->v[n->index];
    case PAWL_LEAF_A:
      return x->a[n->index];
    case PAWL_LEAF_LAMBDA:
      return x->lambda[n->index];
    case PAWL_LEAF_INPUT:
      return x->input[n->index];
    case PAWL_LEAF_TURN:
      return x->turn[n->index];
    case PAWL_LEAF_QUAT:  // these trees have none
      break;
  }
  return NAN;
}

typedef struct Naive {
  double value;
  double bound;    // of the rounding in any order of the same operations
  double largest;  // magnitude met on the way
  bool steady;     // no jump, corner or edge of a domain within the rounding
} Naive;

// The value straight from pawl_op_value. Each operation is repeated with its operands moved by
// their bounds; the change is what rounding may do, and a large one means a jump.
static inline Naive tree_value(const Tree* t, const PawlLeafValues* leaves) {
  Naive result[TREE_MAX] = {0};
  double largest = 0.0;
  bool steady = true;
  for (int i = 0; i < t->count; i++) {
    const PawlDagNode* n = &t->node[i];
    Naive* out = &result[i];
    *out = (Naive){0};
    if (pawl_op_is_leaf(n->op)) {
      out->value = leaf_number(n, leaves);
      continue;
    }
    double x[3] = {0.0, 0.0, 0.0}, e[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < 3 && n->arg[k] >= 0; k++) {
      x[k] = result[n->arg[k]].value;
      e[k] = result[n->arg[k]].bound + 1e-14 * (fabs(x[k]) + 1e-3);
    }
    out->value = pawl_op_value(n->op, n->index, x[0], x[1], x[2]);
    out->bound = 4.0 * 2.2e-16 * fabs(out->value);
    for (int side = 0; side < 6; side++) {
      double y[3] = {x[0], x[1], x[2]};
      y[side / 2] += side % 2 ? e[side / 2] : -e[side / 2];
      double change = pawl_op_value(n->op, n->index, y[0], y[1], y[2]) - out->value;
      bool fault = isnan(out->value);
      steady = steady && (fault || fabs(change) <= 1e-8 * (1.0 + fabs(out->value)));
      double exact_part = e[side / 2] > 0.0 ? result[n->arg[side / 2]].bound / e[side / 2] : 0.0;
      out->bound += fabs(change) * exact_part;
    }
    largest = fmax(largest, fabs(out->value));
  }
  Naive last = result[t->count - 1];
  last.largest = largest;
  last.steady = steady;
  return last;
}

// ---- complex numbers ------------------------------------------------------------------------
static inline double complex complex_power(double complex a, int n) {
  double complex power = 1.0;
  for (int k = 0; k < abs(n); k++) {
    power *= a;
  }
  return n < 0 ? 1.0 / power : power;
}

// The series about 0, with enough terms for |z| <= 2: 2^(2 n + 1)/(n! (2 n + 1)) < 1e-17, n = 40.
// Farther out, where its terms cancel, the first order in the imaginary part, which is tiny here.
static inline double complex complex_erf(double complex z) {
  double complex power = z, sum = z;
  double x = creal(z);
  if (fabs(x) > 2.0) {
    return erf(x) + I * cimag(z) * 1.12837916709551257390 * exp(-x * x);
  }
  for (int n = 1; n <= 40; n++) {
    power *= -z * z / n;
    sum += power / (2 * n + 1);
  }
  return sum * 1.12837916709551257390;
}

// Functions by the column `check` of function.def, not by the one that the library uses.
static inline double complex complex_operate(const PawlDagNode* n, double complex a,
                                             double complex b, double complex c) {
  switch (n->op) {
    case PAWL_OP_NEG:
      return -a;
    case PAWL_OP_ADD:
      return a + b;
    case PAWL_OP_SUB:
      return a - b;
    case PAWL_OP_MUL:
      return a * b;
    case PAWL_OP_DIV:
      return a / b;
    case PAWL_OP_POW:
      return cexp(b * clog(a));
    case PAWL_OP_POWI:
      return complex_power(a, n->index);
    case PAWL_OP_IF:
      return creal(a) != 0.0 ? b : c;
#define A a
#define B b
#define PAWL_FUNCTION(name, word, operands, value, tangent, facts, smoothness, cost, latex, \
                      samples, check)                                                       \
  case PAWL_OP_##name:                                                                      \
    return (check);
#include "expr/op.def"
#undef A
#undef B
    case PAWL_OP_LT:
    case PAWL_OP_LE:
    case PAWL_OP_EQ:
    case PAWL_OP_NE:
    case PAWL_OP_AND:
    case PAWL_OP_OR:
    case PAWL_OP_NOT:
#define PAWL_LEAF(name, ...) case PAWL_OP_##name:
#include "expr/op.def"
    case PAWL_OP_TABLE:
    case PAWL_OP_TABLE2:
    case PAWL_OP_COUNT:
      break;
  }
  return pawl_op_value(n->op, 0, creal(a), creal(b), 0.0);
}

// Gives each leaf its complex value.
typedef double complex (*ComplexLeaf)(const void* context, PawlOp leaf, int index);

// The value of the last of `count` nodes. `*largest` receives the largest real part and the
// largest imaginary part over `step` met on the way.
static inline double complex complex_value(const PawlDagNode* node, int count, ComplexLeaf leaf,
                                           const void* context, double step, double* largest) {
  static double complex value[20000];
  assert_true(count <= 20000);
  *largest = 0.0;
  for (int i = 0; i < count; i++) {
    const PawlDagNode* n = &node[i];
    double complex a = n->arg[0] >= 0 ? value[n->arg[0]] : 0.0;
    double complex b = n->arg[1] >= 0 ? value[n->arg[1]] : 0.0;
    double complex c = n->arg[2] >= 0 ? value[n->arg[2]] : 0.0;
    if (n->op == PAWL_OP_CONST) {
      value[i] = n->value;
    } else if (pawl_op_is_leaf(n->op)) {
      value[i] = leaf(context, n->op, n->index);
    } else {
      value[i] = complex_operate(n, a, b, c);
    }
    double size = fmax(fabs(creal(value[i])), fabs(cimag(value[i])) / step);
    *largest = isnan(size) ? INFINITY : fmax(*largest, size);
  }
  return value[count - 1];
}
