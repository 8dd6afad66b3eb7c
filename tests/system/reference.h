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
  double complex* value;
  double largest;  // magnitude of a value or derivative met
} Graph;

static inline Graph graph_of(const PawlModel* model) {
  size_t count = (size_t)pawl_dag_count(model->dag);
  Graph g = {.model = model, .value = calloc(count, sizeof(double complex))};
  assert_non_null(g.value);
  return g;
}

static inline double complex graph_leaf(const Graph* g, const PawlDagNode* n, const Place* p,
                                        const Direction* d) {
  switch (n->op) {
    case PAWL_OP_CONST:
      return n->value;
    case PAWL_OP_PARAM:
      return g->model->parameters[n->index].value;
    case PAWL_OP_TIME:
      return p->t + I * COMPLEX_STEP * d->t;
    case PAWL_OP_Q:
      return p->q[n->index] + I * COMPLEX_STEP * (d->q ? d->q[n->index] : 0.0);
    case PAWL_OP_V:
      return p->v[n->index] + I * COMPLEX_STEP * (d->v ? d->v[n->index] : 0.0);
    case PAWL_OP_A:
      return p->a[n->index];
    default:
      return p->lambda[n->index];
  }
}

// All nodes at `p` with derivatives along `d`.
static inline void graph_run(Graph* g, const Place* p, Direction d) {
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
    if (n->op == PAWL_OP_IF) {
      g->value[k] = creal(a) != 0.0 ? b : g->value[n->arg[2]];
    } else if (pawl_op_operands(n->op) == 1) {
      g->value[k] = complex_unary(n->op, n->index, a);
    } else {
      g->value[k] = complex_binary(n->op, a, b);
    }
    double size = fmax(fabs(creal(g->value[k])), fabs(cimag(g->value[k])) / COMPLEX_STEP);
    g->largest = isfinite(size) ? fmax(g->largest, size) : g->largest;
  }
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

static inline PawlNode row_node(const PawlModel* model, int row) {
  for (int c = 0; c < model->constraint_count; c++) {
    int k = row - model->constraints[c].first_row;
    if (k >= 0 && k < model->constraints[c].row_count) {
      return model->constraints[c].modes[0].rows[k].node;
    }
  }
  fail();
  return PAWL_NO_NODE;
}

// ---- differences --------------------------------------------------------------------------------
static inline Place place_copy(const Place* p, PawlSizes n) {
  Place c = {p->t, numbers(n.q), numbers(n.v), numbers(n.v), numbers(n.rows)};
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
