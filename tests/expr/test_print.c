// SPDX-License-Identifier: Apache-2.0
// Printing: few parentheses, LaTeX, and text that reads back to the same value.
#include "base/alloc.h"
#include "random_tree.h"
#include "simple_names.h"

static void check_print(PawlStyle style, const char* text, const char* expected) {
  PawlDag* dag = pawl_dag_create();
  PawlExprError error;
  PawlText out = {0};
  PawlNode node = read_text(dag, text, strlen(text), &error);
  assert_true(node >= 0);
  pawl_dag_print(&out, dag, node, style, simple_name, NULL);
  assert_string_equal(out.s, expected);
  pawl_text_free(&out);
  pawl_dag_destroy(dag);
}

static void test_text(void** state) {
  (void)state;
  static const char* const pairs[][2] = {
      {"((x) + (y))", "x + y"},
      {"x - (y - z)", "x - (y - z)"},
      {"x + (y + z)", "x + (y + z)"},
      {"x*(y*z)", "x*(y*z)"},
      {"(x*y)*z", "x*y*z"},
      {"x/(y/z)", "x/(y/z)"},
      {"(x + y)*(y - z)", "(x + y)*(y - z)"},
      {"x*y^2", "x*y^2"},
      {"(x*y)^2", "(x*y)^2"},
      {"x^y^z", "x^y^z"},
      {"(x^y)^z", "(x^y)^z"},
      {"x'^2", "x'^2"},
      {"x^-2", "x^(-2)"},
      {"x^-1", "1/x"},
      {"(-2)^x", "(-2)^x"},
      {"-x*y", "-x*y"},
      {"-(x + y)", "-(x + y)"},
      {"-x^2", "-x^2"},
      {"x + -2*y", "x - 2*y"},
      {"x - (-2)*y*z", "x + 2*y*z"},
      {"x*(-2)", "x*(-2)"},
      {"x + (-3)", "x - 3"},
      {"x - -3", "x + 3"},
      {"x + (-3/y)", "x - 3/y"},
      {"x + 1e-7*y", "x + 1e-07*y"},
      {"0.1*x", "0.1*x"},
      {"if(x < y and z, -x, 2)", "if(x < y and z, -x, 2)"},
      {"not (x and y)", "not (x and y)"},
      {"(x or y) and z", "(x or y) and z"},
      {"x and (y and z)", "x and (y and z)"},
      {"(x < y) < z", "(x < y) < z"},
      {"x >= y", "y <= x"},
      {"x == y != z", "x == y and y != z"},
      {"sin(x)^2 + atan2(x, y)", "sin(x)^2 + atan2(x, y)"},
      {"u[2]''*t", "u[2]''*t"},
      {"1/0 + x", "1/0 + x"},
  };
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
    check_print(PAWL_STYLE_TEXT, pairs[k][0], pairs[k][1]);
  }
}

static void test_latex(void** state) {
  (void)state;
  static const char* const pairs[][2] = {
      {"x*y + 2*z", "x\\,y + 2\\,z"},
      {"x + (y + z)", "x + y + z"},
      {"x - (y - z)", "x - \\left(y - z\\right)"},
      {"x*2", "2\\,x"},
      {"x/(y + 1)", "\\frac{x}{y + 1}"},
      {"(x/y)^2", "\\left(\\frac{x}{y}\\right)^{2}"},
      {"x^-2", "x^{-2}"},
      {"x^(y + 1)", "x^{y + 1}"},
      {"sin(x)^2", "\\sin^{2}\\left(x\\right)"},
      {"sin(x)^-2", "\\sin\\left(x\\right)^{-2}"},
      {"sqrt(x)*abs(y)", "\\sqrt{x}\\,\\left|y\\right|"},
      {"floor(x)", "\\left\\lfloor x\\right\\rfloor"},
      {"atan2(x, y)", "\\operatorname{atan2}\\left(x, y\\right)"},
      {"x*2^y", "x \\cdot 2^{y}"},
      {"x - 3*y", "x - 3\\,y"},
      {"x*(-2*y)", "x\\,\\left(-2\\,y\\right)"},
      {"x + (-2*y + z)", "x + \\left(-2\\,y + z\\right)"},
      {"x*(y - z)", "x\\,\\left(y - z\\right)"},
      {"1.5e-7*x", "1.5 \\cdot 10^{-7}\\,x"},
      {"1e20*x", "10^{20}\\,x"},
      {"x - 1e20", "x - 10^{20}"},
      {"(-1e20)^x", "\\left(-10^{20}\\right)^{x}"},
      {"if(x <= y, x, y)",
       "\\begin{cases} x & \\text{if } x \\le y \\\\ y & \\text{otherwise} \\end{cases}"},
      {"1 + if(x, 2, 3)",
       "1 + \\left(\\begin{cases} 2 & \\text{if } x \\\\ 3 & \\text{otherwise} "
       "\\end{cases}\\right)"},
      {"not (x and y or z)", "\\lnot \\left(x \\land y \\lor z\\right)"},
      {"x == y", "x = y"},
      {"x != y", "x \\ne y"},
  };
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
    check_print(PAWL_STYLE_LATEX, pairs[k][0], pairs[k][1]);
  }
}

// Random graphs: print, read into a second graph, evaluate both.
static void test_text_reads_back(void** state) {
  (void)state;
  Random r = {314};
  int compared = 0, exact = 0;
  for (int trial = 0; trial < 20000; trial++) {
    Tree tree;
    PawlDag *dag = pawl_dag_create(), *again = pawl_dag_create();
    tree_random(&tree, &r, 5, false);
    PawlNode node = tree_build(&tree, dag), read;
    PawlText out = {0};
    PawlExprError error;
    pawl_dag_print(&out, dag, node, PAWL_STYLE_TEXT, simple_name, NULL);
    read = read_text(again, out.s, out.length, &error);
    if (read < 0) {
      print_error("%s\n%s\n", out.s, error.message);
    }
    assert_true(read >= 0);
    double x[3 * LEAVES];
    for (int k = 0; k < 3 * LEAVES; k++) {
      x[k] = random_between(&r, -2.0, 2.0);
    }
    PawlLeafValues leaves = {.t = 0.7, .param = x, .q = x + LEAVES, .v = x + 2 * LEAVES};
    double before, after;
    assert_int_equal(pawl_dag_value(dag, node, &leaves, &before, NULL), PAWL_OK);
    assert_int_equal(pawl_dag_value(again, read, &leaves, &after, NULL), PAWL_OK);
    // A sign read before a product may meet a coefficient inside it and merge: a rounding.
    Naive naive = tree_value(&tree, &leaves);
    if (naive.steady && isfinite(naive.value)) {
      CHECK_NEAR(after, before, 32.0 * naive.bound + 1e-15);
      exact += before == after;
      compared++;
    }
    out.length = 0;
    pawl_dag_print(&out, dag, node, PAWL_STYLE_LATEX, simple_name, NULL);
    assert_false(out.failed);
    pawl_text_free(&out);
    pawl_dag_destroy(dag);
    pawl_dag_destroy(again);
  }
  assert_true(compared > 6000 && exact > compared - compared / 50);
}

// x <- x*x + y: the text doubles each time. And a sum that is deep on the left.
static void test_length_is_bounded(void** state) {
  (void)state;
  PawlDag* dag = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(dag, PAWL_OP_Q, 0), y = pawl_dag_leaf(dag, PAWL_OP_Q, 1);
  PawlNode blow = x;
  for (int k = 0; k < 60; k++) {
    blow = pawl_dag_mul(dag, pawl_dag_unary(dag, PAWL_OP_SIN, blow), pawl_dag_add(dag, blow, y));
  }
  PawlText out = {0};
  pawl_dag_print(&out, dag, blow, PAWL_STYLE_TEXT, simple_name, NULL);
  assert_true(out.length > 1000000 && out.length < 1100000);
  assert_string_equal(out.s + out.length - 3, "...");
  pawl_text_free(&out);
  PawlNode deep = x;
  for (int k = 0; k < 2000000; k++) {
    deep = pawl_dag_unary(dag, k % 2 ? PAWL_OP_SIN : PAWL_OP_COS, deep);
  }
  pawl_dag_print(&out, dag, deep, PAWL_STYLE_LATEX, simple_name, NULL);
  assert_string_equal(out.s + out.length - 3, "...");
  pawl_text_free(&out);
  PawlNode sum = x;
  for (int k = 0; k < 20000; k++) {
    sum = pawl_dag_add(dag, sum, pawl_dag_leaf(dag, PAWL_OP_Q, 10 + k));
  }
  pawl_dag_print(&out, dag, sum, PAWL_STYLE_TEXT, simple_name, NULL);
  assert_memory_equal(out.s, "x + u[0] + u[1] + ", 18);
  assert_string_equal(out.s + out.length - 11, " + u[19999]");
  pawl_text_free(&out);
  pawl_dag_destroy(dag);
}

static void test_a_lost_node(void** state) {
  (void)state;
  PawlDag* dag = pawl_dag_create();
  PawlText out = {0};
  pawl_dag_print(&out, dag, PAWL_NO_NODE, PAWL_STYLE_TEXT, simple_name, NULL);
  assert_true(out.failed);
  pawl_text_free(&out);
  pawl_dag_destroy(dag);
}

static void test_every_allocation_may_fail(void** state) {
  (void)state;
  PawlDag* dag = pawl_dag_create();
  PawlExprError error;
  const char* text = "if(x < 1e-9, sin(x)^2/(1 + y), max(x, y, z)^(m + 1) - 1.5e-20*k)";
  PawlNode node = read_text(dag, text, strlen(text), &error);
  for (int style = 0; style < 2; style++) {
    bool good = false;
    int n = 0;
    while (!good) {
      PawlText out = {0};
      pawl_alloc_fail_at(++n);
      pawl_dag_print(&out, dag, node, (PawlStyle)style, simple_name, NULL);
      pawl_alloc_fail_at(0);
      good = !out.failed;
      pawl_text_free(&out);
    }
    assert_true(n > 3);
  }
  pawl_dag_destroy(dag);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text),
      cmocka_unit_test(test_latex),
      cmocka_unit_test(test_text_reads_back),
      cmocka_unit_test(test_length_is_bounded),
      cmocka_unit_test(test_a_lost_node),
      cmocka_unit_test(test_every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
