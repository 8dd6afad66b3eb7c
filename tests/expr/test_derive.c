// SPDX-License-Identifier: Apache-2.0
// Derivatives: by hand, and random expressions against the complex step, which has no cancellation:
// f(x + i h) = f(x) + i h f'(x) up to h^2, with h = 1e-40.
#include "random_tree.h"

static const double step = 1e-40;

// A point and a direction: the leaves and how each moves.
typedef struct Line {
  PawlLeafValues at;
  double t;
  const double *q, *v;  // tangents of q and v, NULL: still
} Line;

static double complex line_leaf(const void* context, PawlOp leaf, int index) {
  const Line* line = context;
  PawlDagNode node = {.op = leaf, .index = index};
  double tangent = 0.0;
  if (leaf == PAWL_OP_TIME) {
    tangent = line->t;
  } else if (leaf == PAWL_OP_Q && line->q) {
    tangent = line->q[index];
  } else if (leaf == PAWL_OP_V && line->v) {
    tangent = line->v[index];
  }
  return leaf_number(&node, &line->at) + I * step * tangent;
}

static double value_of(PawlDag* dag, PawlNode node, const PawlLeafValues* leaves) {
  double value;
  assert_int_equal(pawl_dag_value(dag, node, leaves, &value, NULL), PAWL_OK);
  return value;
}

typedef struct Sample {
  double number[6 * LEAVES];
  PawlLeafValues leaves;
} Sample;

static void sample(Sample* s, Random* r) {
  for (int k = 0; k < 6 * LEAVES; k++) {
    s->number[k] = random_between(r, 0.2, 1.8) * (random_below(r, 4) == 0 ? -1.0 : 1.0);
  }
  s->leaves = (PawlLeafValues){.t = 0.37,
                               .param = s->number,
                               .q = s->number + LEAVES,
                               .v = s->number + 2 * LEAVES,
                               .a = s->number + 3 * LEAVES};
}

// A power of a negative base has no complex logarithm to compare with, and a derivative at the edge
// of a domain (sqrt 0) does not exist.
static bool has_edge(const Tree* t, const PawlLeafValues* leaves) {
  double value[TREE_MAX];
  for (int i = 0; i < t->count; i++) {
    const PawlDagNode* n = &t->node[i];
    double a = n->arg[0] >= 0 ? value[n->arg[0]] : 0.0;
    double b = n->arg[1] >= 0 ? value[n->arg[1]] : 0.0;
    double c = n->arg[2] >= 0 ? value[n->arg[2]] : 0.0;
    value[i] =
        pawl_op_is_leaf(n->op) ? leaf_number(n, leaves) : pawl_op_value(n->op, n->index, a, b, c);
    bool edge = (n->op == PAWL_OP_POW && a <= 0.0) || (n->op == PAWL_OP_SQRT && a == 0.0) ||
                ((n->op == PAWL_OP_ASIN || n->op == PAWL_OP_ACOS) && fabs(a) == 1.0) ||
                ((n->op == PAWL_OP_ATAN2 || n->op == PAWL_OP_HYPOT) && a == 0.0 && b == 0.0) ||
                !isfinite(value[i]);
    if (edge) {
      return true;
    }
  }
  return false;
}

static bool usable(const Tree* tree, const PawlLeafValues* leaves) {
  Naive naive = tree_value(tree, leaves);
  return naive.steady && naive.largest < 1e3 && !has_edge(tree, leaves);
}

// Rounding in the derivative grows with the numbers on the way, which complex_value reports.
static double tolerance(double largest) {
  return 1e-13 * (1.0 + largest * largest);
}

static void check_along(PawlDag* dag, const PawlDagNode* nodes, int count, PawlNode derivative,
                        const Line* line, int* compared) {
  double largest;
  double complex z = complex_value(nodes, count, line_leaf, line, step, &largest);
  if (largest < 1e3) {
    CHECK_NEAR(value_of(dag, derivative, &line->at), cimag(z) / step, tolerance(largest));
    *compared += cimag(z) != 0.0;
  }
}

static void test_random_first_derivatives(void** state) {
  (void)state;
  Random r = {11};
  int compared = 0, total = 20000;
  for (int trial = 0; trial < total; trial++) {
    Tree tree;
    Sample s;
    PawlDag* dag = pawl_dag_create();
    tree_random(&tree, &r, 4, false);
    sample(&s, &r);
    if (usable(&tree, &s.leaves)) {
      double unit[LEAVES] = {0.0};
      unit[trial % LEAVES] = 1.0;
      PawlNode root = tree_build(&tree, dag);
      PawlNode by_q = pawl_dag_partial(dag, root, PAWL_OP_Q, trial % LEAVES);
      PawlNode by_v = pawl_dag_partial(dag, root, PAWL_OP_V, trial % LEAVES);
      PawlNode by_t = pawl_dag_partial(dag, root, PAWL_OP_TIME, 0);
      PawlNode total_rate = pawl_dag_total(dag, root);
      Line along_q = {s.leaves, 0.0, unit, NULL}, along_v = {s.leaves, 0.0, NULL, unit};
      Line along_t = {s.leaves, 1.0, NULL, NULL};
      Line motion = {s.leaves, 1.0, s.leaves.v, s.leaves.a};
      check_along(dag, tree.node, tree.count, by_q, &along_q, &compared);
      check_along(dag, tree.node, tree.count, by_v, &along_v, &compared);
      check_along(dag, tree.node, tree.count, by_t, &along_t, &compared);
      check_along(dag, tree.node, tree.count, total_rate, &motion, &compared);
    }
    pawl_dag_destroy(dag);
  }
  assert_true(compared > total / 2);
}

// The second derivative against the complex step through the graph of the first.
static void test_random_second_derivatives(void** state) {
  (void)state;
  Random r = {12};
  int compared = 0, total = 30000;
  for (int trial = 0; trial < total; trial++) {
    Tree tree;
    Sample s;
    PawlDag* dag = pawl_dag_create();
    tree_random(&tree, &r, 5, false);
    sample(&s, &r);
    if (usable(&tree, &s.leaves)) {
      double unit[LEAVES] = {0.0};
      unit[0] = 1.0;
      PawlNode first = pawl_dag_partial(dag, tree_build(&tree, dag), PAWL_OP_Q, trial % 2);
      int count = first + 1;  // all nodes up to `first`: more than it needs, but in order
      const PawlDagNode* nodes = pawl_dag_node(dag, 0);
      Line line = {s.leaves, 0.0, unit, NULL};
      double largest;
      double complex z = complex_value(nodes, count, line_leaf, &line, step, &largest);
      PawlNode second = pawl_dag_partial(dag, first, PAWL_OP_Q, 0);
      if (largest < 1e3) {
        CHECK_NEAR(value_of(dag, second, &s.leaves), cimag(z) / step, tolerance(largest));
        compared += cimag(z) != 0.0;
      }
    }
    pawl_dag_destroy(dag);
  }
  assert_true(compared > total / 40);
}

// d2f/dq0 dq1 = d2f/dq1 dq0, two different graphs.
static void test_mixed_derivatives_agree(void** state) {
  (void)state;
  Random r = {13};
  int compared = 0;
  for (int trial = 0; trial < 5000; trial++) {
    Tree tree;
    Sample s;
    PawlDag* dag = pawl_dag_create();
    tree_random(&tree, &r, 4, false);
    sample(&s, &r);
    if (usable(&tree, &s.leaves)) {
      PawlNode root = tree_build(&tree, dag);
      PawlNode one = pawl_dag_partial(dag, root, PAWL_OP_Q, 0);
      PawlNode two = pawl_dag_partial(dag, root, PAWL_OP_Q, 1);
      double a = value_of(dag, pawl_dag_partial(dag, one, PAWL_OP_Q, 1), &s.leaves);
      double b = value_of(dag, pawl_dag_partial(dag, two, PAWL_OP_Q, 0), &s.leaves);
      if (fabs(a) < 1e3 && a != 0.0) {
        CHECK_NEAR(a, b, 1e-9 * (1.0 + fabs(a)));  // cancellation inside is not bounded here
        compared++;
      }
    }
    pawl_dag_destroy(dag);
  }
  assert_true(compared > 100);
}

static void test_by_hand(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(d, PAWL_OP_Q, 0), m = pawl_dag_leaf(d, PAWL_OP_PARAM, 0);
  PawlNode v = pawl_dag_leaf(d, PAWL_OP_V, 0), a = pawl_dag_leaf(d, PAWL_OP_A, 0);
  PawlNode half_m = pawl_dag_div(d, m, pawl_dag_const(d, 2.0));
  PawlNode energy = pawl_dag_mul(d, half_m, pawl_dag_powi(d, v, 2));
  PawlNode momentum = pawl_dag_partial(d, energy, PAWL_OP_V, 0);
  assert_int_equal(momentum, pawl_dag_mul(d, m, v));
  assert_int_equal(pawl_dag_partial(d, momentum, PAWL_OP_V, 0), m);
  assert_int_equal(pawl_dag_total(d, momentum), pawl_dag_mul(d, m, a));
  assert_int_equal(pawl_dag_total(d, x), v);
  assert_int_equal(pawl_dag_total(d, pawl_dag_leaf(d, PAWL_OP_TIME, 0)), pawl_dag_const(d, 1.0));
  assert_int_equal(pawl_dag_total(d, m), pawl_dag_const(d, 0.0));
  assert_int_equal(pawl_dag_total(d, pawl_dag_leaf(d, PAWL_OP_LAMBDA, 3)), pawl_dag_const(d, 0.0));
  assert_int_equal(pawl_dag_total(d, pawl_dag_mul(d, x, a)), PAWL_NO_NODE);
  PawlNode sine = pawl_dag_unary(d, PAWL_OP_SIN, x);
  assert_int_equal(pawl_dag_partial(d, sine, PAWL_OP_Q, 0), pawl_dag_unary(d, PAWL_OP_COS, x));
  assert_int_equal(pawl_dag_partial(d, sine, PAWL_OP_Q, 1), pawl_dag_const(d, 0.0));
  PawlNode e = pawl_dag_unary(d, PAWL_OP_EXP, x);
  assert_int_equal(pawl_dag_partial(d, e, PAWL_OP_Q, 0), e);
  pawl_dag_destroy(d);
}

// x^1.5 at 0 and x^p with a parameter p at a negative x have derivatives; no log, no 1/sqrt.
static void test_powers_at_the_edge(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(d, PAWL_OP_Q, 0), p = pawl_dag_leaf(d, PAWL_OP_PARAM, 0);
  PawlNode f = pawl_dag_apply(d, PAWL_OP_POW, x, pawl_dag_const(d, 1.5), PAWL_NO_NODE);
  PawlNode g = pawl_dag_apply(d, PAWL_OP_POW, x, p, PAWL_NO_NODE);
  double zero = 0.0, minus = -2.0, three = 3.0;
  PawlLeafValues at_zero = {.q = &zero}, at_minus = {.q = &minus, .param = &three};
  CHECK_NEAR(value_of(d, pawl_dag_partial(d, f, PAWL_OP_Q, 0), &at_zero), 0.0, 0.0);
  CHECK_NEAR(value_of(d, pawl_dag_partial(d, g, PAWL_OP_Q, 0), &at_minus), 12.0, 1e-14);
  pawl_dag_destroy(d);
}

// wrap(x, p) with both moving: x - p floor(x/p) differentiates to x' - floor(x/p) p'.
static void test_wrap(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(d, PAWL_OP_Q, 0), p = pawl_dag_leaf(d, PAWL_OP_Q, 1);
  PawlNode w = pawl_dag_apply(d, PAWL_OP_WRAP, x, p, PAWL_NO_NODE);
  double q[2] = {7.3, 2.0};
  PawlLeafValues at = {.q = q};
  CHECK_NEAR(value_of(d, pawl_dag_partial(d, w, PAWL_OP_Q, 0), &at), 1.0, 0.0);
  CHECK_NEAR(value_of(d, pawl_dag_partial(d, w, PAWL_OP_Q, 1), &at), -3.0, 0.0);
  pawl_dag_destroy(d);
}

// A seed may itself walk and build in the graph.
static PawlNode nested_seed(void* context, PawlDag* dag, PawlOp leaf, int index) {
  (void)context;
  PawlNode q = pawl_dag_leaf(dag, PAWL_OP_Q, index);
  PawlNode sine = pawl_dag_unary(dag, PAWL_OP_SIN, q);
  return leaf == PAWL_OP_Q ? pawl_dag_partial(dag, sine, PAWL_OP_Q, index)
                           : pawl_dag_const(dag, 0.0);
}

static void test_seed_may_use_the_graph(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(d, PAWL_OP_Q, 0), y = pawl_dag_leaf(d, PAWL_OP_Q, 1);
  PawlNode tangent = pawl_dag_tangent(d, pawl_dag_mul(d, x, y), nested_seed, NULL);
  PawlNode cx = pawl_dag_unary(d, PAWL_OP_COS, x), cy = pawl_dag_unary(d, PAWL_OP_COS, y);
  assert_int_equal(tangent, pawl_dag_add(d, pawl_dag_mul(d, cx, y), pawl_dag_mul(d, x, cy)));
  pawl_dag_destroy(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_hand),
      cmocka_unit_test(test_powers_at_the_edge),
      cmocka_unit_test(test_wrap),
      cmocka_unit_test(test_seed_may_use_the_graph),
      cmocka_unit_test(test_random_first_derivatives),
      cmocka_unit_test(test_random_second_derivatives),
      cmocka_unit_test(test_mixed_derivatives_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
