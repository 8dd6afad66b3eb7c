// SPDX-License-Identifier: Apache-2.0
// Residues: expressions that are the same function have the same, others do not, however little
// they differ.
#include "check.h"
#include "expr/residues.h"

static PawlNode q(PawlDag* dag, int index) {
  return pawl_dag_leaf(dag, PAWL_OP_Q, index);
}

static bool same(PawlDag* dag, PawlNode a, PawlNode b) {
  bool known, same = true;
  for (int place = 0; place < 3; place++) {
    uint64_t values[2];
    assert_int_equal(pawl_residues(dag, 2, (PawlNode[]){a, b}, place, values, &known), 0);
    assert_true(known);
    same = same && values[0] == values[1];
  }
  return same;
}

// (x + y)^2 and what it is multiplied out; with a part of 1e-300 it is another function.
static void test_polynomials(void** unused) {
  (void)unused;
  PawlDag* dag = pawl_dag_create();
  PawlNode x = q(dag, 0), y = q(dag, 1), sum = pawl_dag_add(dag, x, y);
  PawlNode out = pawl_dag_add(
      dag,
      pawl_dag_add(dag, pawl_dag_mul(dag, x, x),
                   pawl_dag_mul(dag, pawl_dag_const(dag, 2.0), pawl_dag_mul(dag, x, y))),
      pawl_dag_mul(dag, y, y));
  PawlNode square = pawl_dag_powi(dag, sum, 2);
  assert_true(same(dag, square, out));
  PawlNode tiny = pawl_dag_mul(dag, pawl_dag_const(dag, 1e-300), x);
  assert_false(same(dag, square, pawl_dag_add(dag, out, tiny)));
  pawl_dag_destroy(dag);
}

// Numbers have no rounding: 0.1 + 0.2 is not 0.3, 3/4 is three times 1/4; and x^-2 is 1/x^2.
static void test_numbers(void** unused) {
  (void)unused;
  PawlDag* dag = pawl_dag_create();
  PawlNode x = q(dag, 0);
  PawlNode split = pawl_dag_add(dag, pawl_dag_mul(dag, pawl_dag_const(dag, 0.1), x),
                                pawl_dag_mul(dag, pawl_dag_const(dag, 0.2), x));
  assert_false(same(dag, split, pawl_dag_mul(dag, pawl_dag_const(dag, 0.3), x)));
  PawlNode part = pawl_dag_mul(dag, pawl_dag_const(dag, -0.25), x);
  PawlNode three = pawl_dag_add(dag, part, pawl_dag_mul(dag, pawl_dag_const(dag, -0.5), x));
  assert_true(same(dag, three, pawl_dag_mul(dag, pawl_dag_const(dag, -0.75), x)));
  PawlNode one = pawl_dag_const(dag, 1.0);
  assert_true(
      same(dag, pawl_dag_powi(dag, x, -2), pawl_dag_div(dag, one, pawl_dag_mul(dag, x, x))));
  pawl_dag_destroy(dag);
}

// sin^2 + cos^2 = 1 for one argument; sines of different arguments have nothing to do with another.
static void test_circle(void** unused) {
  (void)unused;
  PawlDag* dag = pawl_dag_create();
  PawlNode x = q(dag, 0), y = q(dag, 1);
  PawlNode s = pawl_dag_unary(dag, PAWL_OP_SIN, x), c = pawl_dag_unary(dag, PAWL_OP_COS, x);
  PawlNode ss = pawl_dag_mul(dag, pawl_dag_mul(dag, s, s), y),
           cc = pawl_dag_mul(dag, pawl_dag_mul(dag, c, c), y);
  assert_true(same(dag, pawl_dag_add(dag, ss, cc), y));
  assert_false(same(dag, s, pawl_dag_unary(dag, PAWL_OP_SIN, y)));
  pawl_dag_destroy(dag);
}

// What has no residue: roots, logarithms, a division by what is zero everywhere.
static void test_unknown(void** unused) {
  (void)unused;
  PawlDag* dag = pawl_dag_create();
  PawlNode x = q(dag, 0), root = pawl_dag_unary(dag, PAWL_OP_SQRT, x);
  uint64_t value;
  bool known = true;
  assert_int_equal(pawl_residues(dag, 1, &root, 0, &value, &known), 0);
  assert_false(known);
  pawl_dag_destroy(dag);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_polynomials),
                                     cmocka_unit_test(test_numbers), cmocka_unit_test(test_circle),
                                     cmocka_unit_test(test_unknown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
