// SPDX-License-Identifier: Apache-2.0
// The equations of motion by a route of their own: the model's expressions evaluated on complex
// numbers, whose imaginary part carries a first derivative exactly, and central differences of
// order 8 for what needs one derivative more. Nothing of src/system takes part.
#pragma once

#include <complex.h>

#include "system/setup.h"

#define COMPLEX_STEP 1e-30  // its square vanishes against 1

// ---- complex steps ------------------------------------------------------------------------------
typedef struct Direction {  // of a derivative; NULL arrays are zeros
  double t;
  const double *q, *v;
} Direction;

typedef struct Graph {  // the nodes of a model and their values
  const PawlModel* model;
  const PawlSystem* system;  // which wraps are unwound
  double complex* value;
  double largest;  // magnitude of a value or derivative met
} Graph;

static inline Graph graph_of(const PawlModel* model, const PawlSystem* system) {
  size_t count = (size_t)pawl_dag_count(model->dag);
  Graph g = {.model = model, .system = system, .value = calloc(count, sizeof(double complex))};
  assert_non_null(g.value);
  return g;
}

// The friction of a joint that slides stands for its multiplier: that of the last pass.
static inline double complex graph_force(const Graph* g, const Place* p, int row) {
  int c = g->system->row_constraint[row], mode = p->modes && c >= 0 ? p->modes[c] : 0;
  if (c < 0 || !g->model->constraints[c].triggered || mode < PAWL_MODE_UP) {
    return p->lambda[row];
  }
  double complex force = g->value[g->model->constraints[c].switching->friction];
  return mode == PAWL_MODE_UP ? -force : force;
}

static inline double complex graph_leaf(const Graph* g, const PawlDagNode* n, const Place* p,
                                        const Direction* d) {
  switch ((PawlLeaf)n->op) {
    case PAWL_LEAF_CONST:
      return n->value;
    case PAWL_LEAF_PARAM:
      return g->model->parameters[n->index].value;
    case PAWL_LEAF_TIME:
      return p->t + I * COMPLEX_STEP * d->t;
    case PAWL_LEAF_Q:
      return p->q[n->index] + I * COMPLEX_STEP * (d->q ? d->q[n->index] : 0.0);
    case PAWL_LEAF_V:
    case PAWL_LEAF_STATE:
      return p->v[n->index] + I * COMPLEX_STEP * (d->v ? d->v[n->index] : 0.0);
    case PAWL_LEAF_A:
      return p->a[n->index];
    case PAWL_LEAF_LAMBDA:
      return graph_force(g, p, n->index);
    case PAWL_LEAF_INPUT:
      return g->model->inputs[n->index].start;
    case PAWL_LEAF_QUAT:
    case PAWL_LEAF_TURN:  // the graph of the model has none
      break;
  }
  return NAN;
}

// A kink of a constraint is the branch of its turn, however far the motion goes.
static inline double complex branch(PawlOp op, int turn, double complex a, double complex b,
                                    double complex c) {
  switch (op) {
    case PAWL_OP_WRAP:
      return a - b * turn;
    case PAWL_OP_FLOOR:
    case PAWL_OP_SIGN:
      return turn;
    case PAWL_OP_ABS:
      return turn > 0 ? a : -a;
    case PAWL_OP_MIN:
    case PAWL_OP_MAX:
      return turn > 0 ? a : b;
    case PAWL_OP_IF:
      return turn > 0 ? b : c;
    default:
      return turn > 0;  // a comparison
  }
}

static inline bool graph_turn(const Graph* g, int node, const Place* p, double complex a,
                              double complex b, double complex c, double complex* out) {
  for (int k = 0; p->modes && k < g->system->turn_count; k++) {
    if (g->system->turns[k].node == node) {
      int turn = p->modes[g->system->constraint_count + k];
      *out = branch(pawl_dag_node(g->model->dag, node)->op, turn, a, b, c);
      return true;
    }
  }
  return false;
}

static inline void graph_pass(Graph* g, const Place* p, Direction d) {
  int count = pawl_dag_count(g->model->dag);
  g->largest = 1.0;
  for (int k = 0; k < count; k++) {
    const PawlDagNode* n = pawl_dag_node(g->model->dag, k);
    if (pawl_op_is_leaf(n->op)) {
      g->value[k] = graph_leaf(g, n, p, &d);
      continue;
    }
    double complex a = g->value[n->arg[0]];
    double complex b = n->arg[1] >= 0 ? g->value[n->arg[1]] : 0.0;
    double complex c = n->arg[2] >= 0 ? g->value[n->arg[2]] : 0.0;
    if (graph_turn(g, k, p, a, b, c, &g->value[k])) {
      continue;
    }
    g->value[k] = complex_operate(n, a, b, c);
    double size = fmax(fabs(creal(g->value[k])), fabs(cimag(g->value[k])) / COMPLEX_STEP);
    g->largest = isfinite(size) ? fmax(g->largest, size) : g->largest;
  }
}

// All nodes at `p` with derivatives along `d`; forces need the frictions of a first pass.
static inline void graph_run(Graph* g, const Place* p, Direction d) {
  graph_pass(g, p, d);
  graph_pass(g, p, d);
}

static inline double slope(const Graph* g, PawlNode node) {
  return cimag(g->value[node]) / COMPLEX_STEP;
}

// The sum of all terms of one kind (forces: on `target`), and its derivative.
static inline double complex graph_sum(const Graph* g, PawlTermKind kind, int target) {
  double complex sum = 0.0;
  for (int k = 0; k < g->model->term_count; k++) {
    const PawlTerm* term = &g->model->terms[k];
    if (term->kind == kind && (kind != PAWL_TERM_FORCE || term->target == target)) {
      sum += g->value[term->node];
    }
  }
  return sum;
}

static inline double sum_slope(const Graph* g, PawlTermKind kind) {
  return cimag(graph_sum(g, kind, 0)) / COMPLEX_STEP;
}

// What a row holds in the modes of the place; PAWL_NO_NODE for a row that its mode does not use.
static inline PawlNode row_node(const PawlModel* model, const int* modes, int row) {
  for (int c = 0; c < model->constraint_count; c++) {
    int k = row - model->constraints[c].first_row;
    if (k >= 0 && k < model->constraints[c].row_count) {
      const PawlMode* mode = &model->constraints[c].modes[modes ? modes[c] : 0];
      return k < mode->row_count ? mode->rows[k].node : PAWL_NO_NODE;
    }
  }
  assert_in_range(row - model->row_count, 0, model->contact_count - 1);
  return model->contacts[row - model->row_count].gap;
}

static inline double row_value(const Graph* g, PawlNode node) {
  return node == PAWL_NO_NODE ? 0.0 : creal(g->value[node]);
}

static inline double row_slope(const Graph* g, PawlNode node) {
  return node == PAWL_NO_NODE ? 0.0 : slope(g, node);
}

// True when nothing that changes occurs in a node.
static inline bool is_number(const PawlDag* dag, PawlNode node) {
  const PawlDagNode* n = pawl_dag_node(dag, node);
  bool number = !pawl_op_is_leaf(n->op) || n->op == PAWL_OP_CONST || n->op == PAWL_OP_PARAM;
  for (int k = 0; k < pawl_op_operands(n->op); k++) {
    number = number && is_number(dag, n->arg[k]);
  }
  return number;
}

static inline bool is_less(const PawlDagNode* n) {
  return n->op == PAWL_OP_LT || n->op == PAWL_OP_LE;
}

// True for l < x and x < r with numbers l < r.
static inline bool is_chain(const Graph* g, const PawlDagNode* low, const PawlDagNode* high) {
  return is_less(low) && is_less(high) && low->arg[1] == high->arg[0] &&
         is_number(g->model->dag, low->arg[0]) && is_number(g->model->dag, high->arg[1]) &&
         creal(g->value[low->arg[0]]) < creal(g->value[high->arg[1]]);
}

// The switching function of a region, positive inside: b - a for a < b; the lesser for `and`, but
// (x - l)(r - x) for l < x < r; the greater for `or`; turned for `not`.
static inline double complex region(const Graph* g, PawlNode where) {
  const PawlDagNode* n = pawl_dag_node(g->model->dag, where);
  if (is_less(n)) {
    return g->value[n->arg[1]] - g->value[n->arg[0]];
  }
  if (n->op == PAWL_OP_NOT) {
    return -region(g, n->arg[0]);
  }
  assert_true(n->op == PAWL_OP_AND || n->op == PAWL_OP_OR);
  const PawlDagNode* left = pawl_dag_node(g->model->dag, n->arg[0]);
  const PawlDagNode* right = pawl_dag_node(g->model->dag, n->arg[1]);
  double complex a = region(g, n->arg[0]), b = region(g, n->arg[1]);
  if (n->op == PAWL_OP_AND && (is_chain(g, left, right) || is_chain(g, right, left))) {
    return a * b;
  }
  return (n->op == PAWL_OP_AND) == (creal(a) < creal(b)) ? a : b;
}

// ---- differences --------------------------------------------------------------------------------
static inline Place place_copy(const Place* p, PawlSizes n) {
  Place c = {p->t, numbers(n.q), numbers(n.v), numbers(n.v), numbers(n.rows), NULL};
  if (p->modes) {
    c.modes = calloc((size_t)n.modes + 1, sizeof(int));
    assert_non_null(c.modes);
    memcpy(c.modes, p->modes, (size_t)n.modes * sizeof(int));
  }
  memcpy(c.q, p->q, (size_t)n.q * sizeof(double));
  memcpy(c.v, p->v, (size_t)n.v * sizeof(double));
  memcpy(c.a, p->a, (size_t)n.v * sizeof(double));
  memcpy(c.lambda, p->lambda, (size_t)n.rows * sizeof(double));
  return c;
}

// y = a vector of functions at a place.
typedef void (*VectorFunction)(void* context, const Place* p, double* y);

typedef struct Difference {
  double *slope, *doubt;  // the derivative, and how far two step sizes disagree about it
  double scale;           // 1 + the largest |y| met
} Difference;

static inline void difference_free(Difference* d) {
  free(d->slope);
  free(d->doubt);
}

// Adds weight / step * y(p + shift * d) to slope.
static inline void add_side(VectorFunction f, void* context, int count, const Place* p, PawlSizes n,
                            Direction d, double shift, double weight, Difference* out) {
  Place moved = place_copy(p, n);
  double* y = numbers(count);
  moved.t += shift * d.t;
  for (int k = 0; k < n.q; k++) {
    moved.q[k] += d.q ? shift * d.q[k] : 0.0;
    moved.v[k] += d.v ? shift * d.v[k] : 0.0;
  }
  f(context, &moved, y);
  for (int k = 0; k < count; k++) {
    out->slope[k] += weight * y[k];
    out->scale = fmax(out->scale, 1.0 + fabs(y[k]));
  }
  free(y);
  place_free(&moved);
}

// The derivative of `count` functions along `d`. The stencil has order 8, so halving the step of
// 0.02 shrinks its error by 256 until rounding, some 1e-16 / 0.01 of the scale, is left.
static inline Difference difference(VectorFunction f, void* context, int count, const Place* p,
                                    PawlSizes n, Direction d) {
  static const double weight[] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
  Difference fine = {numbers(count), numbers(count), 1.0};
  Difference coarse = {numbers(count), numbers(count), 1.0};
  for (int k = 0; k < 4; k++) {
    for (int side = -1; side <= 1; side += 2) {
      double s = side * (k + 1), w = side * weight[k];
      add_side(f, context, count, p, n, d, 0.02 * s, w / 0.02, &coarse);
      add_side(f, context, count, p, n, d, 0.01 * s, w / 0.01, &fine);
    }
  }
  for (int k = 0; k < count; k++) {
    fine.doubt[k] = fabs(fine.slope[k] - coarse.slope[k]);
  }
  difference_free(&coarse);
  return fine;
}
