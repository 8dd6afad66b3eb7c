// SPDX-License-Identifier: Apache-2.0
// Compares every quantity of a system at a place with the reference. A difference whose two step
// sizes disagree (a corner or a pole is near) decides nothing and is counted as skipped.
#pragma once

#include "system/reference.h"

typedef struct Compare {
  Setup* s;
  Graph graph;
  Place* place;
  const char* label;  // printed when something differs: the model's text or file
  PawlEval* residual_eval;
  PawlEval* level_eval;                 // G and gamma
  double *M, *K, *C;                    // dense, by rows
  double *G, *G_rate, *G_acc, *G_turn;  // the same
  long long checked, skipped;
} Compare;

static inline void differs(const Compare* c, const char* what, int i, int j, double value,
                           double expected, double tolerance) {
  print_error("%s(%d, %d) = %.17g, expected %.17g, difference %.3g > %.3g, in\n%s\n", what, i, j,
              value, expected, fabs(value - expected), tolerance, c->label);
  fail();
}

// First derivatives by complex steps: both sides are exact to rounding, which grows with the
// largest number on the way.
static inline void expect_exact(Compare* c, const char* what, int i, int j, double value,
                                double expected) {
  double tolerance = 1e-12 * c->graph.largest;
  c->checked++;
  if (!(fabs(value - expected) <= tolerance)) {
    differs(c, what, i, j, value, expected, tolerance);
  }
}

// Rounding of the differences stays near 1e-13 of their scale; 1e-7 marks those without meaning.
static inline void expect_near(Compare* c, const char* what, int i, int j, double value,
                               double expected, double doubt, double scale) {
  c->checked++;
  if (!(doubt <= 1e-7 * scale)) {
    c->skipped++;
    return;
  }
  double tolerance = 1e-10 * scale + 10 * doubt;  // a corner in reach of both steps
  if (!(fabs(value - expected) <= tolerance)) {
    differs(c, what, i, j, value, expected, tolerance);
  }
}

static inline Compare compare_begin(Setup* s, Place* place, const char* label) {
  size_t n = (size_t)s->n.v, rows = (size_t)s->n.rows;
  Compare c = {.s = s, .graph = graph_of(s->model, s->system), .place = place, .label = label};
  c.M = numbers((int)(n * n));
  c.K = numbers((int)(n * n));
  c.C = numbers((int)(n * n));
  c.G = numbers((int)(n * rows));
  c.G_rate = numbers((int)(n * rows));
  c.G_acc = numbers((int)(n * rows));
  c.G_turn = numbers((int)(n * rows));
  unsigned mask = PAWL_MASS | PAWL_FORCE | PAWL_GRADIENT;
  assert_int_equal(pawl_eval_create(s->system, mask, &c.residual_eval, NULL), PAWL_OK);
  mask = PAWL_GRADIENT | PAWL_BIAS;
  assert_int_equal(pawl_eval_create(s->system, mask, &c.level_eval, NULL), PAWL_OK);
  return c;
}

static inline void compare_end(Compare* c) {
  free(c->graph.value);
  free(c->M);
  free(c->K);
  free(c->C);
  free(c->G);
  free(c->G_rate);
  free(c->G_acc);
  free(c->G_turn);
  pawl_eval_destroy(c->level_eval);
  pawl_eval_destroy(c->residual_eval);
}

// ---- values and first derivatives ---------------------------------------------------------------
static inline bool of_rates(const Compare* c, int row) {
  return pawl_system_row_is_rate(c->s->system, row, c->place->modes);
}

static inline void compare_values(Compare* c, const PawlValues* x) {
  const PawlModel* model = c->s->model;
  graph_run(&c->graph, c->place, (Direction){.t = 1.0});
  expect_exact(c, "T", 0, 0, x->energy[0], creal(graph_sum(&c->graph, PAWL_TERM_KINETIC, 0)));
  expect_exact(c, "V", 0, 0, x->energy[1], creal(graph_sum(&c->graph, PAWL_TERM_POTENTIAL, 0)));
  for (int k = 0; k < model->output_count; k++) {
    expect_exact(c, "output", k, 0, x->outputs[k], creal(c->graph.value[model->outputs[k].node]));
  }
  for (int row = 0; row < c->s->n.rows; row++) {
    PawlNode node = row_node(model, c->place->modes, row);
    if (!of_rates(c, row)) {
      expect_exact(c, "g", row, 0, x->g[row], row_value(&c->graph, node));
      expect_exact(c, "g_t", row, 0, x->g_t[row], row_slope(&c->graph, node));
    }
  }
}

// Of rate equations g is nothing, and g_t what is left of them at rest.
static inline void compare_rates(Compare* c, const PawlValues* x) {
  Place still = *c->place;
  still.v = numbers(c->s->n.v);
  graph_run(&c->graph, &still, (Direction){.t = 1.0});
  for (int row = 0; row < c->s->n.rows; row++) {
    PawlNode node = row_node(c->s->model, c->place->modes, row);
    if (of_rates(c, row)) {
      expect_exact(c, "g", row, 0, x->g[row], 0.0);
      expect_exact(c, "g_t", row, 0, x->g_t[row], row_value(&c->graph, node));
    }
  }
  free(still.v);
}

static inline void compare_gradient(Compare* c) {
  int n = c->s->n.v;
  double* unit = numbers(n);
  for (int j = 0; j < n; j++) {
    unit[j] = 1.0;
    for (int rates = 0; rates < 2; rates++) {
      graph_run(&c->graph, c->place, rates ? (Direction){.v = unit} : (Direction){.q = unit});
      for (int row = 0; row < c->s->n.rows; row++) {
        double expected = row_slope(&c->graph, row_node(c->s->model, c->place->modes, row));
        if (of_rates(c, row) == rates) {
          expect_exact(c, "G", row, j, c->G[row * n + j], expected);
        }
      }
    }
    unit[j] = 0.0;
  }
  free(unit);
}

// ---- Lagrange's equations -----------------------------------------------------------------------
static inline bool is_state(const Compare* c, int i) {
  return i >= c->s->model->coordinate_count;
}

// The rate of a state at the place of the last graph_run; zero for what moves.
static inline double rate_of_state(const Compare* c, int i) {
  double rate = 0.0;
  for (int k = 0; k < c->s->model->state_count; k++) {
    const PawlStateDef* state = &c->s->model->states[k];
    rate += state->coordinate == i ? creal(c->graph.value[state->rate]) : 0.0;
  }
  return rate;
}

// p_i = dT/dv_i; of a state, which is a velocity of mass 1, v_i
static inline void momenta(void* context, const Place* p, double* y) {
  Compare* c = context;
  int n = c->s->n.v;
  double* unit = numbers(n);
  for (int i = 0; i < n; i++) {
    unit[i] = 1.0;
    graph_run(&c->graph, p, (Direction){.v = unit});
    y[i] = sum_slope(&c->graph, PAWL_TERM_KINETIC) + (is_state(c, i) ? p->v[i] : 0.0);
    unit[i] = 0.0;
  }
  free(unit);
}

// M_ij = dp_i/dv_j
static inline void compare_mass(Compare* c) {
  int n = c->s->n.v;
  double* unit = numbers(n);
  for (int j = 0; j < n; j++) {
    unit[j] = 1.0;
    Difference d = difference(momenta, c, n, c->place, c->s->n, (Direction){.v = unit});
    for (int i = 0; i < n; i++) {
      expect_near(c, "M", i, j, c->M[i * n + j], d.slope[i], d.doubt[i], d.scale);
    }
    difference_free(&d);
    unit[j] = 0.0;
  }
  free(unit);
}

// Of locks that slide, with equations of this kind: against the rate of their row, along its
// derivative in the direction of the last graph_run.
static inline double friction(const Compare* c, bool rate) {
  double sum = 0.0;
  for (int k = 0; k < c->s->model->constraint_count; k++) {
    const PawlConstraint* lock = &c->s->model->constraints[k];
    int mode = c->place->modes ? c->place->modes[k] : 0;
    if (lock->triggered && mode >= PAWL_MODE_UP && lock->modes[PAWL_MODE_HELD].rate == rate) {
      double force = creal(c->graph.value[lock->switching->friction]);
      double along = slope(&c->graph, lock->modes[PAWL_MODE_HELD].rows[0].node);
      sum += mode == PAWL_MODE_UP ? -force * along : force * along;
    }
  }
  return sum;
}

// f_i = dT/dq_i - dp_i/dt along (q' = v, t' = 1) - dV/dq_i - dD/dv_i + F_i + friction, or the rate
// of a state
static inline void compare_force(Compare* c, const double* f) {
  int n = c->s->n.v;
  Difference p = difference(momenta, c, n, c->place, c->s->n, (Direction){1.0, c->place->v, NULL});
  double* unit = numbers(n);
  for (int i = 0; i < n; i++) {
    unit[i] = 1.0;
    graph_run(&c->graph, c->place, (Direction){.q = unit});
    double expected =
        sum_slope(&c->graph, PAWL_TERM_KINETIC) - sum_slope(&c->graph, PAWL_TERM_POTENTIAL);
    expected += creal(graph_sum(&c->graph, PAWL_TERM_FORCE, i)) - p.slope[i] + friction(c, false);
    expected += rate_of_state(c, i);
    graph_run(&c->graph, c->place, (Direction){.v = unit});
    expected += friction(c, true) - sum_slope(&c->graph, PAWL_TERM_DISSIPATION);
    expect_near(c, "f", i, 0, f[i], expected, p.doubt[i], fmax(p.scale, c->graph.largest));
    unit[i] = 0.0;
  }
  free(unit);
  difference_free(&p);
}

// ---- tangents and bias --------------------------------------------------------------------------
// y = M a - f - G^T lambda, as evaluated; a and lambda are those of the place.
static inline void residual(void* context, const Place* p, double* y) {
  Compare* c = context;
  const PawlValues* x = run_at(c->residual_eval, p);
  PawlPattern H = pawl_system_pattern_H(c->s->system), G = pawl_system_pattern_G(c->s->system);
  for (int i = 0; i < c->s->n.v; i++) {
    y[i] = -x->f[i];
  }
  for (int j = 0; j < c->s->n.v; j++) {
    for (int k = H.start[j]; k < H.start[j + 1]; k++) {
      y[H.index[k]] += x->M[k] * p->a[j];
    }
    for (int k = G.start[j]; k < G.start[j + 1]; k++) {
      y[j] -= x->G[k] * p->lambda[G.index[k]];
    }
  }
}

static inline void compare_tangents(Compare* c) {
  int n = c->s->n.v;
  double* unit = numbers(n);
  for (int j = 0; j < n; j++) {
    unit[j] = 1.0;
    Difference by_q = difference(residual, c, n, c->place, c->s->n, (Direction){.q = unit});
    Difference by_v = difference(residual, c, n, c->place, c->s->n, (Direction){.v = unit});
    for (int i = 0; i < n; i++) {
      expect_near(c, "K", i, j, c->K[i * n + j], by_q.slope[i], by_q.doubt[i], by_q.scale);
      expect_near(c, "C", i, j, c->C[i * n + j], by_v.slope[i], by_v.doubt[i], by_v.scale);
    }
    difference_free(&by_q);
    difference_free(&by_v);
    unit[j] = 0.0;
  }
  free(unit);
}

// y = G v + g_t with v of the place: one complex step along (v, 1).
static inline void row_rates(void* context, const Place* p, double* y) {
  Compare* c = context;
  graph_run(&c->graph, p, (Direction){1.0, c->place->v, NULL});
  for (int row = 0; row < c->s->n.rows; row++) {
    PawlNode node = row_node(c->s->model, c->place->modes, row);
    y[row] = of_rates(c, row) ? row_value(&c->graph, node) : row_slope(&c->graph, node);
  }
}

static inline void compare_bias(Compare* c, const double* gamma) {
  int rows = c->s->n.rows;
  Direction motion = {1.0, c->place->v, NULL};
  Difference d = difference(row_rates, c, rows, c->place, c->s->n, motion);
  for (int row = 0; row < rows; row++) {
    expect_near(c, "gamma", row, 0, gamma[row], d.slope[row], d.doubt[row], d.scale);
  }
  difference_free(&d);
}

// y = G a + gamma, as evaluated, with a of the place.
static inline void row_accelerations(void* context, const Place* p, double* y) {
  Compare* c = context;
  const PawlValues* x = run_at(c->level_eval, p);
  PawlPattern G = pawl_system_pattern_G(c->s->system);
  memcpy(y, x->gamma, (size_t)c->s->n.rows * sizeof(double));
  for (int j = 0; j < c->s->n.v; j++) {
    for (int k = G.start[j]; k < G.start[j + 1]; k++) {
      y[G.index[k]] += x->G[k] * p->a[j];
    }
  }
}

// The tangents of the constraints at velocity and acceleration level; by v the latter has twice the
// former, and the turn of rate equations.
static inline void compare_levels(Compare* c) {
  int n = c->s->n.v, rows = c->s->n.rows;
  double* unit = numbers(n);
  for (int j = 0; j < n; j++) {
    unit[j] = 1.0;
    Direction by_q = {.q = unit}, by_v = {.v = unit};
    Difference rate = difference(row_rates, c, rows, c->place, c->s->n, by_q);
    Difference acc = difference(row_accelerations, c, rows, c->place, c->s->n, by_q);
    Difference acc_v = difference(row_accelerations, c, rows, c->place, c->s->n, by_v);
    for (int i = 0; i < rows; i++) {
      double G_rate = c->G_rate[i * n + j], G_acc = c->G_acc[i * n + j];
      expect_near(c, "G_rate", i, j, G_rate, rate.slope[i], rate.doubt[i], rate.scale);
      expect_near(c, "G_acceleration", i, j, G_acc, acc.slope[i], acc.doubt[i], acc.scale);
      double by_rates = 2 * G_rate + c->G_turn[i * n + j];
      expect_near(c, "2 G_rate", i, j, by_rates, acc_v.slope[i], acc_v.doubt[i], acc_v.scale);
    }
    difference_free(&rate);
    difference_free(&acc);
    difference_free(&acc_v);
    unit[j] = 0.0;
  }
  free(unit);
}

// ---- switching functions ------------------------------------------------------------------------
// What a kink counts, or what has the side.
static inline double complex surface(const Graph* g, PawlNode node) {
  const PawlDagNode* n = pawl_dag_node(g->model->dag, node);
  double complex a = g->value[n->arg[0]], b = n->arg[1] >= 0 ? g->value[n->arg[1]] : 0.0;
  switch (n->op) {
    case PAWL_OP_WRAP:
      return a / b;
    case PAWL_OP_FLOOR:
    case PAWL_OP_SIGN:
    case PAWL_OP_ABS:
      return a;
    case PAWL_OP_MAX:
      return a - b;
    case PAWL_OP_MIN:
      return b - a;
    default:
      return region(g, n->op == PAWL_OP_IF ? n->arg[0] : node);
  }
}

// In this order: the regions, constraint by constraint and mode by mode; then the kinks.
static inline void compare_switching(Compare* c, const PawlValues* x) {
  const PawlSystem* system = c->s->system;
  int k = 0;
  graph_run(&c->graph, c->place, (Direction){1.0, c->place->v, NULL});
  for (int i = 0; i < c->s->model->constraint_count; i++) {
    const PawlConstraint* constraint = &c->s->model->constraints[i];
    for (int m = 0; constraint->mode_count > 1 && m < constraint->mode_count; m++) {
      if (constraint->modes[m].where == PAWL_NO_NODE) {
        continue;  // engages and lets go by something else
      }
      double complex z = region(&c->graph, constraint->modes[m].where);
      expect_exact(c, "z", k, 0, x->z[k], creal(z));
      expect_exact(c, "z_rate", k, 0, x->z_rate[k], cimag(z) / COMPLEX_STEP);
      k++;
    }
  }
  assert_int_equal(k, system->guard_count);
  for (int turn = 0; turn < system->turn_count; turn++, k++) {
    double complex z = surface(&c->graph, system->turns[turn].node);
    expect_exact(c, "turn", turn, 0, x->z[k], creal(z));
    expect_exact(c, "turn rate", turn, 0, x->z_rate[k], cimag(z) / COMPLEX_STEP);
    if (system->turns[turn].counts) {
      assert_int_equal(c->place->modes[system->constraint_count + turn], (int)floor(creal(z)));
    }
  }
}

static inline void compare_all(Compare* c) {
  const PawlValues* x = run_at(c->s->eval, c->place);
  to_dense(pawl_system_pattern_H(c->s->system), x->M, c->M);
  to_dense(pawl_system_pattern_H(c->s->system), x->K, c->K);
  to_dense(pawl_system_pattern_H(c->s->system), x->C, c->C);
  to_dense(pawl_system_pattern_G(c->s->system), x->G, c->G);
  to_dense(pawl_system_pattern_G(c->s->system), x->G_rate, c->G_rate);
  to_dense(pawl_system_pattern_G(c->s->system), x->G_acceleration, c->G_acc);
  if (x->G_turn) {
    to_dense(pawl_system_pattern_G(c->s->system), x->G_turn, c->G_turn);
  }
  compare_values(c, x);
  compare_rates(c, x);
  compare_gradient(c);
  compare_mass(c);
  compare_force(c, x->f);
  compare_tangents(c);
  compare_bias(c, x->gamma);
  compare_levels(c);
  compare_switching(c, x);
}
