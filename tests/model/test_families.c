// SPDX-License-Identifier: Apache-2.0
// Families of coordinates, definitions and constraints: ranges, recursion, order, limits.
#include <stdlib.h>

#include "base/alloc.h"
#include "reading.h"

static void test_family_of_coordinates(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {N: 3, le: 0.5}\n"
      "coordinates:\n  u[i=0..N]: {start: i*le, rate: N - i}\n  v[-1]: 7\n"
      "  w[i=1..2, j=i..2]: {start: 10*i + j}\n  none[i=1..0]: {start: 1/0}\n");
  static const char* const names[] = {"u[0]",  "u[1]",   "u[2]",   "u[3]",
                                      "v[-1]", "w[1,1]", "w[1,2]", "w[2,2]"};
  static const double starts[] = {0, 0.5, 1, 1.5, 7, 11, 12, 22};
  assert_int_equal(model->coordinate_count, 8);
  for (int k = 0; k < 8; k++) {
    assert_string_equal(model->coordinates[k].name, names[k]);
    CHECK_NEAR(model->coordinates[k].start, starts[k], 0);
  }
  CHECK_NEAR(model->coordinates[3].rate, 0, 0);
  pawl_model_destroy(model);
}

static void test_keys_that_share_a_family(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {N: 4}\n"
      "coordinates: {\"u[i=1..N]\": , \"u[0]\": 9}\n"
      "potential:\n  for i=0..N-1: u[i+1] - u[i]\n"
      "forces: {\"u[N]\": 1, \"u[i=0..N]\": \"u[N-i]\"}\n"
      "mass: {\"u[i=0..N]\": i + 1}\n");
  assert_string_equal(model->coordinates[4].name, "u[0]");  // in the order written
  assert_int_equal(model->term_count, 5 + 4 + 6);
  CHECK_NEAR(node_value(model, model->terms[5].node), 1 - 1.4, 1e-15);  // u[1] - u[0]
  CHECK_NEAR(node_value(model, model->terms[8].node), 0.1, 1e-15);      // u[4] - u[3]
  assert_int_equal(model->terms[9].target, 3);                          // u[4]
  assert_int_equal(model->terms[10].target, 4);                         // u[0]
  CHECK_NEAR(node_value(model, model->terms[10].node), 1.3, 0);         // u[4]
  pawl_model_destroy(model);
}

static void test_choice_by_index(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {N: 3}\ncoordinates: {\"x[i=1..N]\": }\n"
      "potential:\n  for i=1..N: if(i > 1, x[i-1], 0) + if(i < N, x[i+1], 100)\n");
  CHECK_NEAR(node_value(model, model->terms[0].node), 1.1, 0);
  CHECK_NEAR(node_value(model, model->terms[1].node), 1 + 1.2, 1e-15);
  CHECK_NEAR(node_value(model, model->terms[2].node), 1.1 + 100, 1e-13);
  pawl_model_destroy(model);
}

// Members of a loop are built as the first ones were where that is the same; each must be the node
// that building it alone gives.
enum { MEMBERS = 9 };

static void check_members(const char* expression) {
  PawlText text = {0};
  pawl_text_printf(&text,
                   "model: m\nparameters: {N: %d, \"k[i=0..N+1]\": \"if(i == 4, 3, 2 + i)\"}\n"
                   "functions: {\"twice(a, b)\": 2*a*b}\n"
                   "coordinates: {\"u[i=0..N+1]\": , \"w[i=0..N+1]\": , z: , "
                   "\"R[i=0..N+1]\": {kind: rotation}}\n"
                   "kinetic:\n  - for i=1..N: \"%s\"\n",
                   MEMBERS, expression);
  for (int k = 1; k <= MEMBERS; k++) {
    pawl_text_printf(&text, "  - for i=%d..%d: \"%s\"\n", k, k, expression);
  }
  assert_false(text.failed);
  PawlModel* model = read_model(text.s);
  assert_int_equal(model->term_count, 2 * MEMBERS);
  for (int k = 0; k < MEMBERS; k++) {
    if (model->terms[k].node != model->terms[MEMBERS + k].node) {
      print_error("member %d of %s\n", k + 1, expression);
    }
    assert_int_equal(model->terms[k].node, model->terms[MEMBERS + k].node);
  }
  pawl_model_destroy(model);
  pawl_text_free(&text);
}

static void test_members_are_as_if_alone(void** state) {
  (void)state;
  static const char* const expressions[] = {
      "u[i]*w[i-1]'^2 + z",
      "u[i] - u[10-i]",                             // one and the same at i = 5
      "(u[i] - u[i-1])*(u[5] - u[i])",              // likewise at i = 5
      "u[i]*u[i+1] + u[i+1]*u[i-1] + u[i-1]*u[i]",  // a*b is there as b*a
      "if(i > 2, u[i-1], 0) + if(i < 7, u[i+1], 100)*z",
      "if(i == 5 or i > N - 1, w[i], u[i]^2)",
      "k[i]*u[i]^2/2 - k[4]*u[i]*u[4]",
      "i*u[i] + (i - 3)*w[i]",
      "sum(j=1..i, u[j]*w[i])",
      "u[min(i + 1, N)]*u[max(i - 1, 2)]",
      "twice(u[i], w[i+1]) + twice(u[2], z)",
      "dot(R[i]*[u[i], w[i], 1], R[i-1]*[0, 0, z])",
      "dot(R[i].omega, R[10-i].omega)",  // the same at i = 5
      "norm(R[i]'*[1, 2, u[i]'])^2",
      "5",
  };
  for (size_t k = 0; k < sizeof expressions / sizeof *expressions; k++) {
    check_members(expressions[k]);
  }
}

// Of a large family of smooth terms most are built when somebody asks for all of them.
static void test_members_that_wait(void** state) {
  (void)state;
  enum { MANY = 90 };
  PawlText text = {0};
  pawl_text_printf(&text,
                   "model: m\nparameters: {N: %d}\n"
                   "coordinates: {\"u[i=0..N]\": , \"R[i=0..N]\": {kind: rotation}}\n"
                   "constraints: {\"c[i=1..N]\": \"R[i]*[1, u[i], 0] = R[i-1]*[0, 0, u[i-1]]\",\n"
                   "              \"d[i=N..N]\": \"R[i]*[1, u[i], 0] = R[i-1]*[0, 0, u[i-1]]\"}\n"
                   "kinetic:\n  - for i=1..N: u[i]'^2*cos(u[i-1])\n",
                   MANY);
  for (int k = 1; k <= MANY; k++) {
    pawl_text_printf(&text, "  - for i=%d..%d: u[i]'^2*cos(u[i-1])\n", k, k);
  }
  PawlModel* model = read_model(text.s);
  const PawlMode *last = model->constraints[MANY - 1].modes, *same = model->constraints[MANY].modes;
  assert_int_equal(model->terms[MANY - 1].node, PAWL_LATER);
  assert_int_equal(last->rows[2].node, PAWL_LATER);
  assert_int_equal(pawl_model_complete(model, NULL), PAWL_OK);
  for (int k = 0; k < MANY; k++) {
    assert_int_equal(model->terms[k].node, model->terms[MANY + k].node);
  }
  for (int k = 0; k < 3; k++) {
    assert_int_equal(last->rows[k].node, same->rows[k].node);
  }
  pawl_model_destroy(model);
  pawl_text_free(&text);
}

// Of a large scene the first rounds and the last are read with the model, and all when asked for.
static PawlModel* read_large_scene(const char* shape, PawlStatus expected, PawlError* err) {
  PawlText text = {0};
  PawlModel* model = NULL;
  pawl_text_printf(&text,
                   "model: m\nparameters: {N: 3000}\ncoordinates: [\"u[i=1..N]\"]\n"
                   "kinetic: {for i=1..N: \"u[i]'^2\"}\nscene:\n  - for i=1..N:\n      - %s\n"
                   "  - for i=1..N, j=i-1..min(i, 2): {disc: {at: [\"u[i]\", j], radius: 2}}\n"
                   "  - line: {points: {for k=1..N: [\"u[k]\", 0]}}\n",
                   shape);
  assert_int_equal(pawl_model_parse(text.s, text.length, "m", 0, NULL, &model, err), expected);
  pawl_text_free(&text);
  return model;
}

static void test_large_scene(void** state) {
  (void)state;
  PawlModel* model = read_large_scene("ball: {at: [\"u[i]\", i, 0], radius: 1}", PAWL_OK, NULL);
  assert_true(model->shape_count > 0 && model->shape_count < 3000 && model->spatial);
  assert_int_equal(model->shapes[model->shape_count - 1].kind, PAWL_SHAPE_LINE);
  assert_int_equal(pawl_model_read_scene(model, NULL), PAWL_OK);
  assert_int_equal(pawl_model_read_scene(model, NULL), PAWL_OK);
  assert_int_equal(model->shape_count, 3000 + 2 + 2 + 1 + 1);
  assert_int_equal(model->shapes[3005].point_count, 3000);
  for (int k = 0; k < 3000; k++) {
    double height;
    assert_true(pawl_dag_is_const(model->dag, model->shapes[k].points[0][1], &height));
    CHECK_NEAR(height, k + 1, 0);
    assert_int_equal(model->shapes[k].points[0][0], model->shapes[3005].points[k][0]);
  }
  pawl_model_destroy(model);
}

static void test_mistakes_in_large_scene(void** state) {
  (void)state;
  PawlError err = {0};
  // in the last round: seen at once
  assert_null(
      read_large_scene("ball: {at: [\"u[i+1]\", 0, 0], radius: 1}", PAWL_ERROR_MODEL, &err));
  assert_non_null(strstr(err.message, "u[3001]"));
  // in one of those left out: when they are read, and again
  PawlModel* model =
      read_large_scene("ball: {at: [\"u[if(i == 2000, 0, i)]\", 0, 0], radius: 1}", PAWL_OK, NULL);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(pawl_model_read_scene(model, &err), PAWL_ERROR_MODEL);
    assert_non_null(strstr(err.message, "u[0]"));
  }
  pawl_model_destroy(model);
}

static void test_failing_memory_of_large_scene(void** state) {
  (void)state;
  PawlStatus status = PAWL_ERROR_MEMORY;
  for (long long n = 1; status != PAWL_OK; n = 2 * n + 1) {
    PawlModel* model = read_large_scene("ball: {at: [\"u[i]\", 0, 0], radius: 1}", PAWL_OK, NULL);
    pawl_alloc_fail_at(n);
    status = pawl_model_read_scene(model, NULL);
    pawl_alloc_fail_at(0);
    assert_true(status == PAWL_OK || status == PAWL_ERROR_MEMORY);
    assert_int_equal(pawl_model_read_scene(model, NULL), status);
    pawl_model_destroy(model);
  }
}

// What looks at some of them before all are built.
static void test_looks_at_members_that_wait(void** state) {
  (void)state;
  enum { MANY = 90 };
  PawlModel* model = read_model(
      "model: m\nparameters: {N: 90}\n"
      "coordinates: {\"u[i=0..79]\": {unit: m}, \"u[i=80..N]\": {unit: rad}}\n"
      "kinetic: {for i=0..N: \"u[i]'^2\"}\n"
      "constraints: {\"c[i=1..N]\": \"u[i] = 2*u[i-1]\"}\n"
      "locks: {\"l[i=1..N]\": {lock: \"u[i]^2\", at: 1}}\n");
  const PawlConstraint* c = model->constraints;
  assert_int_equal(c[75].modes[0].rows[0].node, PAWL_LATER);
  assert_string_equal(pawl_model_row_unit(model, 0, 0), "N");
  assert_string_equal(pawl_model_row_unit(model, 75, 0), "N");          // u[76] and u[75]
  assert_string_equal(pawl_model_row_unit(model, MANY - 1, 0), "N m");  // u[90] and u[89]
  assert_int_equal(c[75].modes[0].rows[0].node, PAWL_LATER);
  assert_true(c[2 * MANY - 1].is_lock);
  REFUSED(
      "model: m\nparameters: {N: 90}\ncoordinates: {\"u[i=0..N]\": }\n"
      "locks: {\"l[i=1..N]\": {lock: \"if(i == 80, t, u[i])\", at: 1}}\n",
      "depends on no coordinate");
  pawl_model_destroy(model);
}

static void test_recursive_definition(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {N: 4}\ncoordinates: {\"q[i=1..N]\": }\n"
      "define:\n"
      "  total: X[N] - Y[1]\n"                     // before what it uses
      "  X[0]: 0\n  X[i=1..N]: X[i-1] + q[i]\n"    // upwards
      "  Y[N+1]: 0\n  Y[i=1..N]: Y[i+1] + q[i]\n"  // downwards
      "  even[i=0..N]: if(i > 0, odd[i-1], 1)\n"   // in turns
      "  odd[i=0..N]: if(i > 0, even[i-1], 2)\n"
      "kinetic: [\"X[N]'^2\", total', \"even[N]\", \"odd[N]\"]\n");
  CHECK_NEAR(node_value(model, model->terms[0].node), 8.6 * 8.6, 1e-13);
  CHECK_NEAR(node_value(model, model->terms[1].node), 0, 1e-14);
  CHECK_NEAR(node_value(model, model->terms[2].node), 1, 0);
  CHECK_NEAR(node_value(model, model->terms[3].node), 2, 0);
  pawl_model_destroy(model);
}

static void test_derivatives_of_definitions(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\ncoordinates: [x, y]\ndefine: {p: x^2*y + t, v: p', k: 3}\n"
      "kinetic: [v, p', k', v*0]\noutputs: {a: p'', b: v'}\n");
  // p' = 2 x x' y + x^2 y' + 1, x = 1, y = 1.1, x' = 2, y' = 2.1
  double rate = 2 * 2 * 1.1 + 2.1 + 1;
  CHECK_NEAR(node_value(model, model->terms[0].node), rate, 1e-14);
  CHECK_NEAR(node_value(model, model->terms[1].node), rate, 1e-14);
  CHECK_NEAR(node_value(model, model->terms[2].node), 0, 0);
  // p'' = 2 x'^2 y + 4 x x' y' + 2 x x'' y + x^2 y'', x'' = 3, y'' = 3.1
  double second = 2 * 4 * 1.1 + 4 * 2 * 2.1 + 2 * 3 * 1.1 + 3.1;
  CHECK_NEAR(node_value(model, model->outputs[0].node), second, 1e-13);
  assert_int_equal(model->outputs[0].node, model->outputs[1].node);
  pawl_model_destroy(model);
}

// Neither long recursion upwards nor downwards nor a long chain of names needs a deep stack.
static void test_long_recursion(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {N: 200000}\ncoordinates: [x]\n"
      "define:\n  A[0]: x\n  A[i=1..N]: A[i-1] + sin(i*x)\n"
      "  B[N]: x\n  B[i=0..N-1]: B[i+1]*2 + i\n"
      "potential: A[N] + B[0]\n");
  assert_int_equal(model->term_count, 1);
  pawl_model_destroy(model);
  PawlText text = {0};
  pawl_text_add(&text, "model: m\ncoordinates: [x]\ndefine:\n");
  for (int k = 0; k < 20000; k++) {
    pawl_text_printf(&text, "  d%d: d%d + 1\n", k, k + 1);
  }
  pawl_text_add(&text, "  d20000: x\npotential: d0\n");
  model = read_model(text.s);
  CHECK_NEAR(node_value(model, model->terms[0].node), 20001, 0);
  pawl_model_destroy(model);
  pawl_text_free(&text);
}

static void test_family_of_constraints(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {N: 3}\ncoordinates: {\"x[i=0..N]\": , \"y[i=0..N]\": }\n"
      "constraints:\n"
      "  joint[i=1..N]: [\"x[i] = x[i-1] + 1\", \"y[i] = y[i-1]\"]\n"
      "  latch[i=1..2]: {at: i, equation: \"x[i] = y[i]\"}\n"
      "locks: {\"stop[i=1..2]\": {lock: \"x[i]\", when: \"lambda(joint[i], 2)\", for: i}}\n"
      "contacts: {\"floor[i=0..N]\": {gap: \"y[i]\", restitution: i/10}}\n"
      "events: {\"e[i=1..2]\": {when: \"x[i]\"}}\n"
      "outputs: {\"force[i=1..N]\": \"lambda(joint[i], 2)\", last: \"lambda(latch[N-1])\"}\n");
  assert_int_equal(model->constraint_count, 3 + 2 + 2);
  assert_int_equal(model->row_count, 6 + 2 + 2);
  assert_string_equal(model->constraints[1].name, "joint[2]");
  assert_int_equal(model->constraints[1].first_row, 2);
  CHECK_NEAR(model->constraints[4].switching->engage.times[0], 2, 0);
  CHECK_NEAR(model->constraints[6].switching->duration, 2, 0);
  CHECK_NEAR(node_value(model, model->constraints[6].switching->engage.when), 4.3, 0);
  assert_int_equal(model->contact_count, 4);
  CHECK_NEAR(model->contacts[3].restitution, 0.3, 0);
  assert_string_equal(model->events[1].name, "e[2]");
  assert_int_equal(model->output_count, 4);
  CHECK_NEAR(node_value(model, model->outputs[2].node), 4.5, 0);  // row 5
  CHECK_NEAR(node_value(model, model->outputs[3].node), 4.7, 0);  // row 7
  pawl_model_destroy(model);
}

static void test_bad_ranges(void** state) {
  (void)state;
#define HEAD "model: m\nparameters: {N: 2.5, e1: 3}\ncoordinates:\n  x:\n"
  REFUSED(HEAD "  u[i=0..N]:\n", "m.yaml:5:10: ", "'N' is 2.5, expected a whole number");
  REFUSED(HEAD "  u[i=0..x]:\n", "m.yaml:5:10: ", "'x' is a coordinate");
  REFUSED(HEAD "  u[i=0..t]:\n", "m.yaml:5:10: ", "time");
  REFUSED(HEAD "  u[i=0..1/0]:\n", "m.yaml:5:", "expected a whole number");
  REFUSED(HEAD "  u[i=0..1e300]:\n", "m.yaml:5:", "expected a whole number");
  REFUSED(HEAD "  u[i=1..10000001]:\n", "m.yaml:5:5: ", "more than 10000000 indices");
  REFUSED(HEAD "  u[i=1..4000, j=1..4000]:\n", "m.yaml:5:3: ", "'u' spans more than 10000000");
  REFUSED(HEAD "  u[i=0..9]:\n  u[20000000]:\n", "m.yaml:6:3: ", "'u' spans more than");
  REFUSED(HEAD "  u[e1=0..2]:\n", "m.yaml:5:5: ", "'e1' has the name of a parameter (line 2)");
  REFUSED(HEAD "  u[pi=0..2]:\n", "m.yaml:5:", "pi");
  REFUSED(HEAD "  u[i=0..2, i=0..2]:\n", "m.yaml:5:13: ", "index 'i' appears twice");
  REFUSED(HEAD "  u[i=0..2]:\n  u[2]:\n", "m.yaml:6:3: 'u[2]' is defined twice", "line 5");
  REFUSED(HEAD "  u[i=0..2]:\n  u:\n", "m.yaml:6:3: 'u' has 0 indices here and 1 at line 5");
  REFUSED("model: m\ncoordinates:\n  u[i=1..0]:\n", "m.yaml:2:1: ", "empty");
#undef HEAD
}

// A family whose first element fails is reported once, and its uses not at all.
static void test_one_report_for_a_family(void** state) {
  (void)state;
  PawlModel* model;
  PawlError err;
  const char* text =
      "model: m\ncoordinates:\n  u[i=0..1000]: {start: 1/i}\n"
      "kinetic:\n  for i=0..1000: [\"u[i]'^2\", \"v[i]'^2\"]\n"
      "define:\n  d[i=0..1000]: zz\npotential: d[3]\n";
  assert_int_equal(pawl_model_parse(text, strlen(text), "m.yaml", 0, NULL, &model, &err),
                   PAWL_ERROR_MODEL);
  assert_int_equal(line_count(err.message), 3);
  assert_non_null(strstr(err.message, "m.yaml:3:25: '1/i' is not a finite number"));
  assert_non_null(strstr(err.message, "m.yaml:5:31: in 'v[i]'^2': unknown name 'v'"));
  assert_non_null(strstr(err.message, "m.yaml:7:17: in 'zz': unknown name 'zz'"));
}

// Loops that do nothing may not run for long either.
static void test_empty_rounds_are_counted(void** state) {
  (void)state;
  REFUSED(
      "model: m\ncoordinates: [x]\n"
      "kinetic:\n  for i=1..9000000, j=1..9000000, k=1..0: x\n",
      "m.yaml:4:3: the families and loops up to here are too large together");
}

static void test_many_wide_families(void** state) {
  (void)state;
  PawlText text = {0};
  pawl_text_add(&text, "model: m\ncoordinates:\n");
  for (int k = 0; k < 50; k++) {  // two elements each, far apart
    pawl_text_printf(&text, "  u%d[0]:\n  u%d[9000000]:\n", k, k);
  }
  REFUSED(text.s, "span more than 20000000 elements together");
  pawl_text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_family_of_coordinates),
      cmocka_unit_test(test_keys_that_share_a_family),
      cmocka_unit_test(test_choice_by_index),
      cmocka_unit_test(test_members_are_as_if_alone),
      cmocka_unit_test(test_members_that_wait),
      cmocka_unit_test(test_large_scene),
      cmocka_unit_test(test_mistakes_in_large_scene),
      cmocka_unit_test(test_failing_memory_of_large_scene),
      cmocka_unit_test(test_looks_at_members_that_wait),
      cmocka_unit_test(test_recursive_definition),
      cmocka_unit_test(test_derivatives_of_definitions),
      cmocka_unit_test(test_long_recursion),
      cmocka_unit_test(test_family_of_constraints),
      cmocka_unit_test(test_bad_ranges),
      cmocka_unit_test(test_one_report_for_a_family),
      cmocka_unit_test(test_empty_rounds_are_counted),
      cmocka_unit_test(test_many_wide_families),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
