// SPDX-License-Identifier: Apache-2.0
// What operations give on numbers, faults above all, and which node is blamed for a fault.
#include "random_tree.h"

static double val(PawlOp op, double a, double b) {
  return pawl_op_value(op, 0, a, b, 0.0);
}

static void test_ordinary_values(void** state) {
  (void)state;
  CHECK_NEAR(val(PAWL_OP_SUB, 5.0, 2.0), 3.0, 0.0);
  CHECK_NEAR(val(PAWL_OP_POW, 2.0, 0.5), sqrt(2.0), 1e-15);
  CHECK_NEAR(val(PAWL_OP_POW, -2.0, 3.0), -8.0, 0.0);
  CHECK_NEAR(val(PAWL_OP_POW, 0.0, 0.0), 1.0, 0.0);
  CHECK_NEAR(val(PAWL_OP_ATAN2, 1.0, -1.0), 2.356194490192345, 1e-15);
  CHECK_NEAR(val(PAWL_OP_MIN, 2.0, -3.0), -3.0, 0.0);
  CHECK_NEAR(val(PAWL_OP_MAX, 2.0, -3.0), 2.0, 0.0);
  CHECK_NEAR(val(PAWL_OP_SIGN, 0.0, 0.0), 0.0, 0.0);
  CHECK_NEAR(val(PAWL_OP_SIGN, -7.0, 0.0), -1.0, 0.0);
  CHECK_NEAR(val(PAWL_OP_FLOOR, -0.5, 0.0), -1.0, 0.0);
  CHECK_NEAR(val(PAWL_OP_LE, 2.0, 2.0), 1.0, 0.0);
  CHECK_NEAR(val(PAWL_OP_LT, 2.0, 2.0), 0.0, 0.0);
  CHECK_NEAR(val(PAWL_OP_AND, 2.0, -1.0), 1.0, 0.0);
  CHECK_NEAR(val(PAWL_OP_OR, 0.0, 0.0), 0.0, 0.0);
  CHECK_NEAR(val(PAWL_OP_NOT, 0.0, 0.0), 1.0, 0.0);
  CHECK_NEAR(pawl_op_value(PAWL_OP_IF, 0, -1.0, 4.0, 5.0), 4.0, 0.0);
  CHECK_NEAR(pawl_op_value(PAWL_OP_IF, 0, 0.0, 4.0, 5.0), 5.0, 0.0);
}

static void test_leaving_a_domain(void** state) {
  (void)state;
  static const struct {
    PawlOp op;
    double a, b;
  } wrong[] = {
      {PAWL_OP_DIV, 1.0, 0.0},   {PAWL_OP_DIV, 0.0, 0.0},    {PAWL_OP_LOG, 0.0, 0.0},
      {PAWL_OP_LOG, -1.0, 0.0},  {PAWL_OP_SQRT, -1e-9, 0.0}, {PAWL_OP_ASIN, 1.1, 0.0},
      {PAWL_OP_ACOS, -1.1, 0.0}, {PAWL_OP_POW, -1.0, 0.5},   {PAWL_OP_POW, 0.0, -1.0},
      {PAWL_OP_WRAP, 1.0, 0.0},  {PAWL_OP_WRAP, 1.0, -2.0},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    assert_true(isnan(val(wrong[k].op, wrong[k].a, wrong[k].b)));
  }
  assert_true(isnan(pawl_op_value(PAWL_OP_POWI, -2, 0.0, 0.0, 0.0)));
}

static void test_a_nan_goes_through_everything(void** state) {
  (void)state;
  for (int op = PAWL_OP_NEG; op < PAWL_OP_COUNT; op++) {
    assert_true(isnan(pawl_op_value((PawlOp)op, 2, NAN, 1.0, 1.0)));
    if (pawl_op_operands((PawlOp)op) == 2) {
      assert_true(isnan(pawl_op_value((PawlOp)op, 2, 1.0, NAN, 1.0)));
    }
  }
  CHECK_NEAR(pawl_op_value(PAWL_OP_IF, 0, 1.0, 4.0, NAN), 4.0, 0.0);
  CHECK_NEAR(pawl_op_value(PAWL_OP_IF, 0, 0.0, NAN, 4.0), 4.0, 0.0);
  assert_true(isnan(pawl_op_value(PAWL_OP_IF, 0, 0.0, 4.0, NAN)));
}

static void test_whole_powers(void** state) {
  (void)state;
  CHECK_NEAR(pawl_powi(1.5, 0), 1.0, 0.0);
  CHECK_NEAR(pawl_powi(1.5, 1), 1.5, 0.0);
  CHECK_NEAR(pawl_powi(-2.0, 5), -32.0, 0.0);
  CHECK_NEAR(pawl_powi(2.0, -3), 0.125, 0.0);
  for (int n = -64; n <= 64; n++) {
    double expected = pow(1.03, n);
    CHECK_NEAR(pawl_powi(1.03, n), expected, 64 * 2.2e-16 * expected);  // one rounding per factor
  }
  CHECK_NEAR(pawl_powi(1.0, -2147483647 - 1), 1.0, 0.0);
}

static void test_wrap_stays_in_its_range(void** state) {
  (void)state;
  CHECK_NEAR(pawl_wrap(7.5, 2.0), 1.5, 0.0);
  CHECK_NEAR(pawl_wrap(-0.5, 2.0), 1.5, 0.0);
  CHECK_NEAR(pawl_wrap(4.0, 2.0), 0.0, 0.0);
  CHECK_NEAR(pawl_wrap(-1e-300, 2.0), 0.0, 0.0);
  Random r = {3};
  for (int k = 0; k < 100000; k++) {
    double p = random_between(&r, 1e-3, 7.0);
    int turns = random_below(&r, 2000) - 1000;
    double x = k % 2 ? nextafter(turns * p, k % 4 == 1 ? -1e9 : 1e9) : random_between(&r, -9, 9);
    double w = pawl_wrap(x, p);
    assert_true(w >= 0.0 && w < p);
    double whole = (x - w) / p;
    double off = fabs(whole - round(whole));
    assert_true(off <= 1e-12 * (1.0 + fabs(whole)));
  }
}

typedef struct Faulty {
  PawlDag* d;
  PawlNode x, y, fault;
  double q[2], value;
} Faulty;

static void evaluate(Faulty* f, PawlNode node) {
  PawlLeafValues leaves = {.q = f->q};
  assert_int_equal(pawl_dag_value(f->d, node, &leaves, &f->value, &f->fault), PAWL_OK);
}

static void test_the_first_fault_is_named(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  Faulty f = {.d = d, .q = {-1.0, 2.0}};
  PawlNode x = pawl_dag_leaf(d, PAWL_OP_Q, 0), y = pawl_dag_leaf(d, PAWL_OP_Q, 1);
  PawlNode root = pawl_dag_unary(d, PAWL_OP_SQRT, x);
  PawlNode sum = pawl_dag_add(d, pawl_dag_unary(d, PAWL_OP_SIN, root), y);
  evaluate(&f, sum);
  assert_true(isnan(f.value) && f.fault == root);

  // The root of x is not taken here, so the log is to blame, though it comes later.
  PawlNode positive = pawl_dag_apply(d, PAWL_OP_LT, pawl_dag_const(d, 0.0), x, PAWL_NO_NODE);
  PawlNode safe = pawl_dag_apply(d, PAWL_OP_IF, positive, root, y);
  evaluate(&f, safe);
  CHECK_NEAR(f.value, 2.0, 0.0);
  assert_int_equal(f.fault, PAWL_NO_NODE);
  PawlNode log = pawl_dag_unary(d, PAWL_OP_LOG, x);
  evaluate(&f, pawl_dag_add(d, safe, log));
  assert_true(isnan(f.value) && f.fault == log);

  // A fault in the condition: neither branch is asked.
  PawlNode condition = pawl_dag_apply(d, PAWL_OP_LT, log, y, PAWL_NO_NODE);
  evaluate(&f, pawl_dag_apply(d, PAWL_OP_IF, condition, root, y));
  assert_int_equal(f.fault, log);

  f.q[1] = NAN;
  evaluate(&f, pawl_dag_add(d, x, y));
  assert_int_equal(f.fault, y);
  pawl_dag_destroy(d);
}

static void test_every_kind_of_leaf(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  double p[1] = {1.0}, q[2] = {0.0, 10.0}, v[1] = {100.0}, a[1] = {1000.0}, lambda[1] = {1e4};
  PawlLeafValues leaves = {.t = 1e5, .param = p, .q = q, .v = v, .a = a, .lambda = lambda};
  PawlNode sum = pawl_dag_leaf(d, PAWL_OP_Q, 1);
  for (int op = PAWL_OP_PARAM; op <= PAWL_OP_LAMBDA; op++) {
    sum = op == PAWL_OP_Q ? sum : pawl_dag_add(d, sum, pawl_dag_leaf(d, (PawlOp)op, 0));
  }
  double value;
  assert_int_equal(pawl_dag_value(d, sum, &leaves, &value, NULL), PAWL_OK);
  CHECK_NEAR(value, 111111.0, 0.0);
  leaves.v = NULL;  // a leaf with no value is a fault, not a crash
  assert_int_equal(pawl_dag_value(d, sum, &leaves, &value, NULL), PAWL_OK);
  assert_true(isnan(value));
  pawl_dag_destroy(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ordinary_values),
      cmocka_unit_test(test_leaving_a_domain),
      cmocka_unit_test(test_a_nan_goes_through_everything),
      cmocka_unit_test(test_whole_powers),
      cmocka_unit_test(test_wrap_stays_in_its_range),
      cmocka_unit_test(test_the_first_fault_is_named),
      cmocka_unit_test(test_every_kind_of_leaf),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
