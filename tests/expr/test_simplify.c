// SPDX-License-Identifier: Apache-2.0
// The rules of simplify.c: one by one by hand, then thousands of random expressions whose value
// must not change, and whose faults must not vanish where no rule takes one away.
#include "random_tree.h"

typedef struct Names {
  PawlDag* d;
  PawlNode x, y, z, zero, one, two;
} Names;

static int setup(void** state) {
  static Names n;
  n.d = pawl_dag_create();
  n.x = pawl_dag_leaf(n.d, PAWL_OP_Q, 0);
  n.y = pawl_dag_leaf(n.d, PAWL_OP_Q, 1);
  n.z = pawl_dag_leaf(n.d, PAWL_OP_Q, 2);
  n.zero = pawl_dag_const(n.d, 0.0);
  n.one = pawl_dag_const(n.d, 1.0);
  n.two = pawl_dag_const(n.d, 2.0);
  *state = &n;
  return 0;
}

static int teardown(void** state) {
  pawl_dag_destroy(((Names*)*state)->d);
  return 0;
}

static PawlNode num(Names* n, double value) {
  return pawl_dag_const(n->d, value);
}
static PawlNode add(Names* n, PawlNode a, PawlNode b) {
  return pawl_dag_add(n->d, a, b);
}
static PawlNode sub(Names* n, PawlNode a, PawlNode b) {
  return pawl_dag_sub(n->d, a, b);
}
static PawlNode mul(Names* n, PawlNode a, PawlNode b) {
  return pawl_dag_mul(n->d, a, b);
}
static PawlNode over(Names* n, PawlNode a, PawlNode b) {
  return pawl_dag_div(n->d, a, b);
}
static PawlNode neg(Names* n, PawlNode a) {
  return pawl_dag_neg(n->d, a);
}
static PawlNode powi(Names* n, PawlNode a, int exponent) {
  return pawl_dag_powi(n->d, a, exponent);
}
static PawlNode op1(Names* n, PawlOp op, PawlNode a) {
  return pawl_dag_unary(n->d, op, a);
}
static PawlNode op2(Names* n, PawlOp op, PawlNode a, PawlNode b) {
  return pawl_dag_apply(n->d, op, a, b, PAWL_NO_NODE);
}
static PawlOp op_of(Names* n, PawlNode a) {
  return pawl_dag_node(n->d, a)->op;
}

static void test_constants_fold(void** state) {
  Names* n = *state;
  assert_int_equal(add(n, n->one, n->one), n->two);
  assert_int_equal(op2(n, PAWL_OP_LT, n->one, n->two), n->one);
  assert_int_equal(op1(n, PAWL_OP_COS, n->zero), n->one);
  assert_int_equal(powi(n, n->two, 3), num(n, 8.0));
  // A fault stays for the run to meet.
  assert_int_equal(op_of(n, over(n, n->one, n->zero)), PAWL_OP_DIV);
  assert_int_equal(op_of(n, over(n, n->zero, n->zero)), PAWL_OP_DIV);
  assert_int_equal(op_of(n, op1(n, PAWL_OP_LOG, n->zero)), PAWL_OP_LOG);
  assert_int_equal(op_of(n, op1(n, PAWL_OP_EXP, num(n, 1e4))), PAWL_OP_EXP);
  assert_int_equal(op_of(n, powi(n, n->zero, -2)), PAWL_OP_POWI);
}

static void test_sums(void** state) {
  Names* n = *state;
  PawlNode x = n->x, y = n->y;
  assert_int_equal(add(n, x, n->zero), x);
  assert_int_equal(add(n, n->zero, x), x);
  assert_int_equal(sub(n, x, n->zero), x);
  assert_int_equal(sub(n, n->zero, x), neg(n, x));
  assert_int_equal(sub(n, x, x), n->zero);
  assert_int_equal(neg(n, neg(n, x)), x);
  assert_int_equal(add(n, x, neg(n, y)), sub(n, x, y));
  assert_int_equal(add(n, neg(n, x), y), sub(n, y, x));
  assert_int_equal(sub(n, x, neg(n, y)), add(n, x, y));
  assert_int_equal(sub(n, neg(n, x), y), neg(n, add(n, x, y)));
  assert_int_equal(neg(n, sub(n, x, y)), sub(n, y, x));
}

static void test_like_terms(void** state) {
  Names* n = *state;
  PawlNode x = n->x, two_x = mul(n, n->two, n->x);
  assert_int_equal(add(n, x, x), two_x);
  assert_int_equal(add(n, two_x, x), mul(n, num(n, 3.0), x));
  assert_int_equal(sub(n, mul(n, x, num(n, 5.0)), two_x), mul(n, num(n, 3.0), x));
  assert_int_equal(sub(n, two_x, x), x);
  assert_int_equal(sub(n, x, two_x), neg(n, x));
  assert_int_equal(add(n, over(n, x, n->two), over(n, x, n->two)), x);
  assert_int_equal(sub(n, neg(n, x), x), mul(n, num(n, -2.0), x));
  assert_int_equal(add(n, x, neg(n, x)), n->zero);
  // Thirds have no exact sum: left alone.
  PawlNode third = over(n, x, num(n, 3.0));
  assert_int_equal(op_of(n, add(n, third, x)), PAWL_OP_ADD);
}

static void test_products(void** state) {
  Names* n = *state;
  PawlNode x = n->x, y = n->y, three = num(n, 3.0);
  assert_int_equal(mul(n, x, n->zero), n->zero);
  assert_int_equal(mul(n, n->one, x), x);
  assert_int_equal(mul(n, x, num(n, -1.0)), neg(n, x));
  assert_int_equal(mul(n, neg(n, x), neg(n, y)), mul(n, x, y));
  assert_int_equal(mul(n, neg(n, x), y), neg(n, mul(n, x, y)));
  assert_int_equal(mul(n, x, neg(n, y)), neg(n, mul(n, x, y)));
  assert_int_equal(mul(n, n->two, mul(n, three, x)), mul(n, num(n, 6.0), x));
  assert_int_equal(mul(n, mul(n, x, n->two), mul(n, three, y)), mul(n, num(n, 6.0), mul(n, x, y)));
  assert_int_equal(neg(n, mul(n, n->two, x)), mul(n, num(n, -2.0), x));
  // The derivative of m/2 v^2 is m v.
  assert_int_equal(mul(n, over(n, x, n->two), mul(n, n->two, y)), mul(n, x, y));
  assert_int_equal(mul(n, x, over(n, n->one, y)), over(n, x, y));
  assert_int_equal(op_of(n, mul(n, n->two, over(n, x, three))), PAWL_OP_MUL);
}

static void test_quotients(void** state) {
  Names* n = *state;
  PawlNode x = n->x, y = n->y;
  assert_int_equal(over(n, n->zero, x), n->zero);
  assert_int_equal(over(n, x, n->one), x);
  assert_int_equal(over(n, x, num(n, -1.0)), neg(n, x));
  assert_int_equal(over(n, neg(n, x), y), neg(n, over(n, x, y)));
  assert_int_equal(over(n, x, neg(n, y)), neg(n, over(n, x, y)));
  assert_int_equal(over(n, mul(n, num(n, 6.0), x), n->two), mul(n, num(n, 3.0), x));
  assert_int_equal(over(n, over(n, x, n->two), num(n, 3.0)), over(n, x, num(n, 6.0)));
  assert_int_equal(op_of(n, over(n, x, x)), PAWL_OP_DIV);
  assert_int_equal(op_of(n, over(n, mul(n, n->two, x), num(n, 3.0))), PAWL_OP_DIV);
}

static void test_powers(void** state) {
  Names* n = *state;
  PawlNode x = n->x;
  assert_int_equal(powi(n, x, 0), n->one);
  assert_int_equal(powi(n, x, 1), x);
  assert_int_equal(powi(n, x, -1), over(n, n->one, x));
  assert_int_equal(mul(n, x, x), powi(n, x, 2));
  assert_int_equal(mul(n, powi(n, x, 2), powi(n, x, 3)), powi(n, x, 5));
  assert_int_equal(mul(n, powi(n, x, -2), powi(n, x, -3)), powi(n, x, -5));
  assert_int_equal(powi(n, powi(n, x, 2), 3), powi(n, x, 6));
  assert_int_equal(powi(n, powi(n, x, 2), -3), powi(n, x, -6));
  assert_int_equal(powi(n, neg(n, x), 2), powi(n, x, 2));
  assert_int_equal(powi(n, neg(n, x), 3), neg(n, powi(n, x, 3)));
  assert_int_equal(powi(n, op1(n, PAWL_OP_ABS, x), 4), powi(n, x, 4));
  assert_int_equal(op2(n, PAWL_OP_POW, x, n->two), powi(n, x, 2));
  assert_int_equal(op2(n, PAWL_OP_POW, x, num(n, 0.5)), op1(n, PAWL_OP_SQRT, x));
  assert_int_equal(op2(n, PAWL_OP_POW, x, num(n, -0.5)), over(n, n->one, op1(n, PAWL_OP_SQRT, x)));
  assert_int_equal(op_of(n, op2(n, PAWL_OP_POW, x, num(n, 1.5))), PAWL_OP_POW);
  assert_int_equal(op_of(n, op2(n, PAWL_OP_POW, x, num(n, 65.0))), PAWL_OP_POW);
  // These would hide a fault at x <= 0.
  assert_int_equal(op_of(n, mul(n, powi(n, x, 3), powi(n, x, -2))), PAWL_OP_MUL);
  assert_int_equal(op_of(n, powi(n, powi(n, x, -2), -2)), PAWL_OP_POWI);
  assert_int_equal(pawl_dag_node(n->d, powi(n, op1(n, PAWL_OP_SQRT, x), 2))->index, 2);
}

static void test_functions(void** state) {
  Names* n = *state;
  static const PawlOp odd[] = {PAWL_OP_SIN,  PAWL_OP_TAN,  PAWL_OP_ASIN, PAWL_OP_ATAN,
                               PAWL_OP_SINH, PAWL_OP_TANH, PAWL_OP_SIGN};
  static const PawlOp even[] = {PAWL_OP_COS, PAWL_OP_COSH, PAWL_OP_ABS};
  for (int k = 0; k < 7; k++) {
    assert_int_equal(op1(n, odd[k], neg(n, n->x)), neg(n, op1(n, odd[k], n->x)));
  }
  for (int k = 0; k < 3; k++) {
    assert_int_equal(op1(n, even[k], neg(n, n->x)), op1(n, even[k], n->x));
  }
  PawlNode size = op1(n, PAWL_OP_ABS, n->x);
  assert_int_equal(op1(n, PAWL_OP_ABS, size), size);
  assert_int_equal(op2(n, PAWL_OP_MIN, n->x, n->x), n->x);
  assert_int_equal(op2(n, PAWL_OP_MAX, n->x, n->x), n->x);
  assert_int_equal(op_of(n, op1(n, PAWL_OP_ACOS, neg(n, n->x))), PAWL_OP_ACOS);
}

static void test_logic(void** state) {
  Names* n = *state;
  PawlNode x = n->x, y = n->y, less = op2(n, PAWL_OP_LT, x, y);
  assert_int_equal(op1(n, PAWL_OP_NOT, less), op2(n, PAWL_OP_LE, y, x));
  assert_int_equal(op1(n, PAWL_OP_NOT, op2(n, PAWL_OP_EQ, x, y)), op2(n, PAWL_OP_NE, x, y));
  assert_int_equal(op1(n, PAWL_OP_NOT, op1(n, PAWL_OP_NOT, less)), less);
  // not not x is 0 or 1, x is not.
  assert_int_equal(op1(n, PAWL_OP_NOT, op1(n, PAWL_OP_NOT, x)), op2(n, PAWL_OP_NE, x, n->zero));
  assert_int_equal(op2(n, PAWL_OP_AND, n->one, less), less);
  assert_int_equal(op2(n, PAWL_OP_AND, less, n->zero), n->zero);
  assert_int_equal(op2(n, PAWL_OP_OR, n->two, less), n->one);
  assert_int_equal(op2(n, PAWL_OP_OR, less, n->zero), less);
  assert_int_equal(op2(n, PAWL_OP_AND, n->two, x), op2(n, PAWL_OP_NE, x, n->zero));
  assert_int_equal(op2(n, PAWL_OP_LE, x, x), n->one);
  assert_int_equal(op2(n, PAWL_OP_NE, x, x), n->zero);
  assert_int_equal(pawl_dag_apply(n->d, PAWL_OP_IF, n->two, x, y), x);
  assert_int_equal(pawl_dag_apply(n->d, PAWL_OP_IF, n->zero, x, y), y);
  assert_int_equal(pawl_dag_apply(n->d, PAWL_OP_IF, less, x, x), x);
  PawlNode both = op2(n, PAWL_OP_AND, less, n->z);
  assert_int_equal(pawl_dag_apply(n->d, PAWL_OP_IF, op1(n, PAWL_OP_NOT, both), x, y),
                   pawl_dag_apply(n->d, PAWL_OP_IF, both, y, x));
}

// Rules call rules. Coefficients that overflow when merged make the deepest nests that a rule can
// meet; the product of two such chains must not recurse along them.
static void test_rules_do_not_recurse_along_a_chain(void** state) {
  Names* n = *state;
  PawlNode up = n->x, down = n->y;
  for (int k = 0; k < 200000; k++) {
    up = mul(n, num(n, 1e200), up);
    down = mul(n, num(n, 1e-200), down);
  }
  assert_true(mul(n, up, down) >= 0);
  assert_true(add(n, up, up) >= 0);
  PawlNode power = n->x;
  for (int k = 0; k < 200000; k++) {
    power = powi(n, power, 60);
  }
  assert_true(powi(n, power, -2) >= 0);
}

static void random_leaves(Random* r, double* values, int count) {
  for (int k = 0; k < count; k++) {
    values[k] = random_between(r, -2.0, 2.0);
  }
}

static void test_random_values_stay(void** state) {
  (void)state;
  Random r = {2024};
  int compared = 0, total = 20000;
  for (int trial = 0; trial < total; trial++) {
    Tree tree;
    double x[4 * LEAVES];
    PawlDag* dag = pawl_dag_create();
    tree_random(&tree, &r, 5, false);
    PawlNode root = tree_build(&tree, dag);
    random_leaves(&r, x, 4 * LEAVES);
    PawlLeafValues leaves = {.t = 0.7, .param = x, .q = x + LEAVES, .v = x + 2 * LEAVES};
    Naive naive = tree_value(&tree, &leaves);
    double value;
    assert_int_equal(pawl_dag_value(dag, root, &leaves, &value, NULL), PAWL_OK);
    if (isfinite(naive.value) && naive.steady && naive.largest < 1e6) {
      // The bound counts 4 units per operation; a merged coefficient may round a few times more.
      CHECK_NEAR(value, naive.value, 32.0 * naive.bound + 1e-15);
      compared++;
    }
    pawl_dag_destroy(dag);
  }
  assert_true(compared > total / 3);
}

// With every leaf different and no constants no rule may take away a fault.
static void test_random_faults_stay(void** state) {
  (void)state;
  Random r = {77};
  int faults = 0, good = 0;
  for (int trial = 0; trial < 20000; trial++) {
    Tree tree;
    double q[TREE_MAX];
    PawlDag* dag = pawl_dag_create();
    tree_random(&tree, &r, 4, true);
    PawlNode root = tree_build(&tree, dag);
    random_leaves(&r, q, TREE_MAX);
    PawlLeafValues leaves = {.q = q};
    Naive naive = tree_value(&tree, &leaves);
    double value;
    assert_int_equal(pawl_dag_value(dag, root, &leaves, &value, NULL), PAWL_OK);
    if (naive.steady) {
      assert_int_equal(isnan(value), isnan(naive.value));
      faults += isnan(value) != 0;
      good += !isnan(value);
    }
    pawl_dag_destroy(dag);
  }
  assert_true(faults > 1000 && good > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_constants_fold, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sums, setup, teardown),
      cmocka_unit_test_setup_teardown(test_like_terms, setup, teardown),
      cmocka_unit_test_setup_teardown(test_products, setup, teardown),
      cmocka_unit_test_setup_teardown(test_quotients, setup, teardown),
      cmocka_unit_test_setup_teardown(test_powers, setup, teardown),
      cmocka_unit_test_setup_teardown(test_functions, setup, teardown),
      cmocka_unit_test_setup_teardown(test_logic, setup, teardown),
      cmocka_unit_test_setup_teardown(test_rules_do_not_recurse_along_a_chain, setup, teardown),
      cmocka_unit_test(test_random_values_stay),
      cmocka_unit_test(test_random_faults_stay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
