// SPDX-License-Identifier: Apache-2.0
// The store: an expression exists once, walks give operands first and cost what they reach, deep
// graphs need no stack, and a lack of memory is answered, never fatal.
#include "base/alloc.h"
#include "random_tree.h"

static void test_table_of_operations(void** state) {
  (void)state;
  assert_int_equal(pawl_op_operands(PAWL_OP_IF), 3);
  assert_int_equal(pawl_op_operands(PAWL_OP_Q), 0);
  assert_int_equal(pawl_op_operands(PAWL_OP_POWI), 1);
  assert_string_equal(pawl_op_text(PAWL_OP_ATAN2), "atan2");
  assert_true(pawl_op_is_leaf(PAWL_OP_LAMBDA) && !pawl_op_is_leaf(PAWL_OP_NEG));
}

static void test_an_expression_exists_once(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(d, PAWL_OP_Q, 0), y = pawl_dag_leaf(d, PAWL_OP_Q, 1);
  assert_int_equal(pawl_dag_leaf(d, PAWL_OP_Q, 0), x);
  assert_int_not_equal(pawl_dag_leaf(d, PAWL_OP_V, 0), x);
  assert_int_equal(pawl_dag_leaf(d, PAWL_OP_TIME, 5), pawl_dag_leaf(d, PAWL_OP_TIME, 0));
  assert_int_equal(pawl_dag_const(d, 0.0), pawl_dag_const(d, -0.0));
  assert_int_equal(pawl_dag_const(d, NAN), pawl_dag_const(d, -NAN));
  static const PawlOp either[] = {PAWL_OP_ADD, PAWL_OP_MUL, PAWL_OP_MIN, PAWL_OP_MAX,
                                  PAWL_OP_EQ,  PAWL_OP_NE,  PAWL_OP_AND, PAWL_OP_OR};
  for (int k = 0; k < 8; k++) {
    PawlNode there = pawl_dag_apply(d, either[k], y, x, PAWL_NO_NODE);
    assert_int_equal(pawl_dag_apply(d, either[k], x, y, PAWL_NO_NODE), there);
    assert_int_equal(pawl_dag_node(d, there)->arg[0], y);  // as first written
  }
  static const PawlOp ordered[] = {PAWL_OP_SUB, PAWL_OP_DIV,  PAWL_OP_POW, PAWL_OP_ATAN2,
                                   PAWL_OP_LT,  PAWL_OP_WRAP, PAWL_OP_LE};
  for (int k = 0; k < 7; k++) {
    assert_int_not_equal(pawl_dag_apply(d, ordered[k], x, y, PAWL_NO_NODE),
                         pawl_dag_apply(d, ordered[k], y, x, PAWL_NO_NODE));
  }
  assert_int_not_equal(pawl_dag_powi(d, x, 2), pawl_dag_powi(d, x, 3));
  int count = pawl_dag_count(d);
  pawl_dag_apply(d, PAWL_OP_ATAN2, x, y, PAWL_NO_NODE);
  assert_int_equal(pawl_dag_count(d), count);
  pawl_dag_destroy(d);
}

// Many nodes, so that the tables grow; then all are found again.
static void test_a_large_graph_finds_its_nodes(void** state) {
  (void)state;
  enum { MANY = 100000 };
  PawlDag* d = pawl_dag_create();
  PawlNode y = pawl_dag_leaf(d, PAWL_OP_V, 0);
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < MANY; k++) {
      PawlNode x = pawl_dag_leaf(d, PAWL_OP_Q, k);
      PawlNode product = pass == 0 ? pawl_dag_mul(d, x, y) : pawl_dag_mul(d, y, x);
      assert_int_equal(product, 2 * k + 2);
    }
  }
  assert_int_equal(pawl_dag_count(d), 2 * MANY + 1);
  pawl_dag_destroy(d);
}

// One operand, younger than all others, has very many users; and every pair of some has one.
static void test_popular_operands(void** state) {
  (void)state;
  enum { MANY = 200000, SOME = 500 };
  PawlDag* d = pawl_dag_create();
  for (int k = 0; k < MANY; k++) {
    assert_int_equal(pawl_dag_leaf(d, PAWL_OP_Q, k), k);
  }
  PawlNode y = pawl_dag_leaf(d, PAWL_OP_V, 7), count = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < MANY; k++) {
      assert_int_equal(pawl_dag_mul(d, pass ? y : k, pass ? k : y), y + 1 + k);
    }
    for (int i = 0, node = y + 1 + MANY; i < SOME; i++) {
      for (int j = 0; j < i; j++) {
        assert_int_equal(pawl_dag_apply(d, PAWL_OP_ATAN2, i, j, PAWL_NO_NODE), node++);
      }
    }
    assert_true(pass == 0 || count == pawl_dag_count(d));
    count = pawl_dag_count(d);
  }
  pawl_dag_destroy(d);
}

static void test_wrong_operands_give_no_node(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(d, PAWL_OP_Q, 0);
  assert_int_equal(pawl_dag_add(d, x, PAWL_NO_NODE), PAWL_NO_NODE);
  assert_int_equal(pawl_dag_add(d, 99, x), PAWL_NO_NODE);
  assert_int_equal(pawl_dag_neg(d, PAWL_NO_NODE), PAWL_NO_NODE);
  assert_int_equal(pawl_dag_powi(d, PAWL_NO_NODE, 2), PAWL_NO_NODE);
  assert_int_equal(pawl_dag_unary(d, PAWL_OP_POWI, x), PAWL_NO_NODE);
  assert_int_equal(pawl_dag_leaf(d, PAWL_OP_CONST, 0), PAWL_NO_NODE);
  assert_int_equal(pawl_dag_leaf(d, PAWL_OP_SIN, 0), PAWL_NO_NODE);
  assert_int_equal(pawl_dag_partial(d, PAWL_NO_NODE, PAWL_OP_Q, 0), PAWL_NO_NODE);
  pawl_dag_destroy(d);
  pawl_dag_destroy(NULL);
}

static void check_reach(PawlDag* d, int root_count, const PawlNode* roots) {
  const PawlNode* nodes;
  int count = pawl_dag_reach(d, root_count, roots, &nodes);
  bool* met = pawl_alloc((size_t)pawl_dag_count(d), sizeof *met);
  for (int i = 0; i < count; i++) {
    assert_true(i == 0 || nodes[i] > nodes[i - 1]);
    for (int k = 0; k < pawl_op_operands(pawl_dag_node(d, nodes[i])->op); k++) {
      assert_true(met[pawl_dag_node(d, nodes[i])->arg[k]]);
    }
    met[nodes[i]] = true;
  }
  // Nothing that is not needed: every listed node is a root or an operand of a listed one.
  for (int r = 0; r < root_count; r++) {
    assert_true(met[roots[r]]);
  }
  for (int i = 0; i < count; i++) {
    bool wanted = false;
    for (int r = 0; r < root_count; r++) {
      wanted = wanted || roots[r] == nodes[i];
    }
    for (int j = i + 1; j < count && !wanted; j++) {
      const PawlDagNode* user = pawl_dag_node(d, nodes[j]);
      wanted = user->arg[0] == nodes[i] || user->arg[1] == nodes[i] || user->arg[2] == nodes[i];
    }
    assert_true(wanted);
  }
  pawl_free(met);
}

static void test_reach_is_ascending_and_minimal(void** state) {
  (void)state;
  Random r = {5};
  PawlDag* d = pawl_dag_create();
  PawlNode roots[3];
  for (int trial = 0; trial < 300; trial++) {
    Tree tree;
    tree_random(&tree, &r, 6, false);
    roots[trial % 3] = tree_build(&tree, d);
    if (trial >= 3) {
      check_reach(d, 1 + trial % 3, roots);
    }
  }
  PawlNode none = PAWL_NO_NODE;
  const PawlNode* nodes;
  assert_int_equal(pawl_dag_reach(d, 1, &none, &nodes), -1);
  assert_int_equal(pawl_dag_reach(d, 0, NULL, &nodes), 0);
  pawl_dag_destroy(d);
}

// A sorted list needs every digit of the radix sort: nodes far apart in a large graph.
static void test_reach_across_a_large_graph(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode sum = pawl_dag_leaf(d, PAWL_OP_PARAM, 0);
  for (int k = 0; k < 200000; k++) {
    PawlNode q = pawl_dag_leaf(d, PAWL_OP_Q, k);
    sum = k % 1000 == 0 ? pawl_dag_add(d, q, sum) : sum;
  }
  check_reach(d, 1, &sum);
  pawl_dag_destroy(d);
}

static int gather(void* context, PawlOp leaf, int index) {
  PawlText* text = context;
  pawl_text_printf(text, "%d:%d ", (int)leaf, index);
  return index == 9 ? 42 : 0;
}

static void test_leaves(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlText text = {0};
  PawlNode x = pawl_dag_leaf(d, PAWL_OP_Q, 3), other = pawl_dag_leaf(d, PAWL_OP_Q, 4);
  PawlNode p = pawl_dag_leaf(d, PAWL_OP_PARAM, 9), v = pawl_dag_leaf(d, PAWL_OP_V, 1);
  PawlNode f = pawl_dag_mul(d, pawl_dag_add(d, v, x), pawl_dag_sub(d, x, pawl_dag_const(d, 2.0)));
  (void)other;
  assert_int_equal(pawl_dag_leaves(d, f, gather, &text), 0);
  assert_string_equal(text.s, "3:3 4:1 ");
  text.length = 0;
  assert_int_equal(pawl_dag_leaves(d, pawl_dag_mul(d, f, p), gather, &text), 42);
  assert_string_equal(text.s, "3:3 1:9 ");
  pawl_text_free(&text);
  pawl_dag_destroy(d);
}

static PawlNode shift_leaf(void* context, PawlDag* to, PawlOp leaf, int index) {
  const int* shift = context;
  return pawl_dag_leaf(to, leaf, index + *shift);
}

// x <- sin(x) + q, many times: every pass must be a loop.
static void test_depth_needs_no_stack(void** state) {
  (void)state;
  enum { DEPTH = 300000 };
  PawlDag *d = pawl_dag_create(), *to = pawl_dag_create();
  PawlNode q = pawl_dag_leaf(d, PAWL_OP_Q, 0), x = q;
  double number = 0.3;
  for (int k = 0; k < DEPTH; k++) {
    x = pawl_dag_add(d, pawl_dag_unary(d, PAWL_OP_SIN, x), q);
    number = sin(number) + 0.3;
  }
  double leaf[2] = {0.3, 0.3}, value;
  PawlLeafValues leaves = {.q = leaf, .v = leaf};
  assert_int_equal(pawl_dag_value(d, x, &leaves, &value, NULL), PAWL_OK);
  CHECK_NEAR(value, number, 0.0);  // the same operations in the same order
  int shift = 1;
  PawlNode copy = pawl_dag_copy(to, d, x, shift_leaf, &shift);
  assert_int_equal(pawl_dag_value(to, copy, &leaves, &value, NULL), PAWL_OK);
  CHECK_NEAR(value, number, 0.0);
  assert_true(pawl_dag_total(d, x) >= 0);
  pawl_dag_destroy(d);
  pawl_dag_destroy(to);
}

static void test_copy_within_a_graph(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(d, PAWL_OP_Q, 0), y = pawl_dag_leaf(d, PAWL_OP_Q, 1);
  PawlNode f = pawl_dag_div(d, pawl_dag_powi(d, x, 3), pawl_dag_sub(d, y, pawl_dag_const(d, 2)));
  PawlNode p = pawl_dag_leaf(d, PAWL_OP_Q, 10), r = pawl_dag_leaf(d, PAWL_OP_Q, 11);
  int shift = 10;
  assert_int_equal(
      pawl_dag_copy(d, d, f, shift_leaf, &shift),
      pawl_dag_div(d, pawl_dag_powi(d, p, 3), pawl_dag_sub(d, r, pawl_dag_const(d, 2))));
  pawl_dag_destroy(d);
}

// Builds, derives, copies and evaluates; false when memory was short somewhere.
static bool typical_use(void) {
  PawlDag *d = pawl_dag_create(), *to = pawl_dag_create();
  bool good = d && to;
  if (good) {
    PawlNode sum = pawl_dag_const(d, 1.0);
    for (int k = 0; k < 200; k++) {
      PawlNode q = pawl_dag_leaf(d, PAWL_OP_Q, k % 7);
      sum = pawl_dag_add(d, pawl_dag_unary(d, PAWL_OP_SIN, sum), pawl_dag_mul(d, q, sum));
    }
    int shift = 0;
    PawlNode rate = pawl_dag_total(d, sum);
    PawlNode copy = sum >= 0 ? pawl_dag_copy(to, d, sum, shift_leaf, &shift) : PAWL_NO_NODE;
    double q[7] = {0.1, 0.2, 0.1, 0.4, 0.1, 0.2, 0.3}, value;
    PawlLeafValues leaves = {.q = q};
    PawlNode fault;
    good = rate >= 0 && copy >= 0 && pawl_dag_value(d, sum, &leaves, &value, &fault) == PAWL_OK;
  }
  pawl_dag_destroy(d);
  pawl_dag_destroy(to);
  return good;
}

static void test_every_allocation_may_fail(void** state) {
  (void)state;
  long long before = pawl_alloc_count();
  assert_true(typical_use());
  long long needed = pawl_alloc_count() - before;
  for (long long n = 1; n <= needed; n++) {
    pawl_alloc_fail_at(n);
    bool good = typical_use();
    pawl_alloc_fail_at(0);
    assert_false(good);
  }
  assert_true(needed > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table_of_operations),
      cmocka_unit_test(test_an_expression_exists_once),
      cmocka_unit_test(test_a_large_graph_finds_its_nodes),
      cmocka_unit_test(test_popular_operands),
      cmocka_unit_test(test_wrong_operands_give_no_node),
      cmocka_unit_test(test_reach_is_ascending_and_minimal),
      cmocka_unit_test(test_reach_across_a_large_graph),
      cmocka_unit_test(test_leaves),
      cmocka_unit_test(test_depth_needs_no_stack),
      cmocka_unit_test(test_copy_within_a_graph),
      cmocka_unit_test(test_every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
