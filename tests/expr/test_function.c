// SPDX-License-Identifier: Apache-2.0
// Every entry of function.def against itself: the derivative against differences of the value and
// against the complex step on the other formula, what it claims of symmetry and corners against
// values, tapes, printing and parsing, and that the manual names it.
#include <stdlib.h>

#include "expr/shorthand.h"
#include "expr/tape.h"
#include "page.h"
#include "random_tree.h"
#include "simple_names.h"

enum { SAMPLES = 4 };

typedef struct Entry {
  PawlOp op;
  double at[SAMPLES][2];
} Entry;

// clang-format off
#define AT(a, b, c, d) {{a, 0.0}, {b, 0.0}, {c, 0.0}, {d, 0.0}}
#define PAIRS(a, b, c, d, e, f, g, h) {{a, b}, {c, d}, {e, f}, {g, h}}
// clang-format on
static const Entry entries[] = {
#define PAWL_FUNCTION(name, word, operands, value, tangent, facts, smoothness, cost, latex, \
                      samples, check)                                                       \
  {.op = PAWL_OP_##name, .at = samples},
#include "expr/op.def"
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static double value_at(PawlOp op, double a, double b) {
  return pawl_op_value(op, 0, a, b, 0.0);
}

// f(x) or f(x, y) of the coordinates x = q0, y = q1.
static PawlNode of_coordinates(PawlDag* dag, PawlOp op) {
  return pawl_dag_apply(dag, op, pawl_dag_leaf(dag, PAWL_OP_Q, 0), pawl_dag_leaf(dag, PAWL_OP_Q, 1),
                        PAWL_NO_NODE);
}

// As CHECK_NEAR and assert_true, naming the entry that fails.
#define CHECK_AT(op, at, value, expected, tolerance)                      \
  do {                                                                    \
    if (!(fabs((value) - (expected)) <= (tolerance))) {                   \
      print_error("%s at %g, %g:\n", pawl_op_text(op), (at)[0], (at)[1]); \
    }                                                                     \
    CHECK_NEAR(value, expected, tolerance);                               \
  } while (0)
#define CHECK_OF(op, claim)                                  \
  do {                                                       \
    if (!(claim)) {                                          \
      print_error("%s: not %s\n", pawl_op_text(op), #claim); \
    }                                                        \
    assert_true(claim);                                      \
  } while (0)

// ---- value and derivative -------------------------------------------------------------------
// Both formulas round a few times: 16 units in the last place.
static const double rounding = 16 * 2.2e-16;

static void test_value_by_another_formula(void** state) {
  (void)state;
  for (int i = 0; i < ENTRIES; i++) {
    PawlDagNode node = {.op = entries[i].op};
    for (int k = 0; k < SAMPLES; k++) {
      double a = entries[i].at[k][0], b = entries[i].at[k][1];
      double other = creal(complex_operate(&node, a, b, 0.0));
      CHECK_AT(node.op, entries[i].at[k], value_at(node.op, a, b), other,
               rounding * (1.0 + fabs(other)));
    }
  }
}

// Central differences of order 8, step h = 1/128. Their error is h^8 / 630 times the ninth
// derivative, 2e-20 * 1e10 at the samples nearest to an edge; the rounding of f / h is smaller
// still.
static const double truncation = 1e-9;

static double difference(PawlOp op, const double at[2], int along) {
  static const double weight[] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
  double h = 1.0 / 128.0, sum = 0.0;
  for (int k = 1; k <= 4; k++) {
    double up[2] = {at[0], at[1]}, down[2] = {at[0], at[1]};
    up[along] += k * h;
    down[along] -= k * h;
    sum += weight[k - 1] * (value_at(op, up[0], up[1]) - value_at(op, down[0], down[1]));
  }
  return sum / h;
}

static double complex_step(PawlOp op, const double at[2], int along) {
  double h = 1e-40;
  double complex a = at[0] + (along == 0 ? I * h : 0.0), b = at[1] + (along == 1 ? I * h : 0.0);
  return cimag(complex_operate(&(PawlDagNode){.op = op}, a, b, 0.0)) / h;
}

static void check_derivative(PawlDag* dag, PawlOp op, const double at[2], int along) {
  PawlNode derivative = pawl_dag_partial(dag, of_coordinates(dag, op), PAWL_OP_Q, along);
  PawlLeafValues leaves = {.q = at};
  double slope, by_step = complex_step(op, at, along);
  assert_int_equal(pawl_dag_value(dag, derivative, &leaves, &slope, NULL), PAWL_OK);
  double scale = 1.0 + fabs(by_step);
  CHECK_AT(op, at, slope, by_step, 4.0 * rounding * scale);
  CHECK_AT(op, at, slope, difference(op, at, along), truncation * scale);
}

static void test_derivatives(void** state) {
  (void)state;
  PawlDag* dag = pawl_dag_create();
  for (int i = 0; i < ENTRIES; i++) {
    for (int k = 0; k < SAMPLES; k++) {
      for (int along = 0; along < pawl_op_operands(entries[i].op); along++) {
        check_derivative(dag, entries[i].op, entries[i].at[k], along);
      }
    }
  }
  pawl_dag_destroy(dag);
}

// ---- facts ----------------------------------------------------------------------------------
typedef struct Seen {
  bool odd, even, idempotent, commutes, folds;
} Seen;

// What the values at the samples look like; equal means to the last bit, as rules need it.
static Seen look(const Entry* e) {
  bool one = pawl_op_operands(e->op) == 1;
  Seen seen = {one, one, true, !one, !one};
  for (int k = 0; k < SAMPLES; k++) {
    double a = e->at[k][0], b = e->at[k][1], f = value_at(e->op, a, b);
    double mirrored = value_at(e->op, -a, b), c = e->at[(k + 1) % SAMPLES][0];
    seen.odd = seen.odd && mirrored == -f;
    seen.even = seen.even && mirrored == f;
    seen.idempotent =
        seen.idempotent && (one ? value_at(e->op, f, 0.0) == f : value_at(e->op, a, a) == a);
    seen.commutes = seen.commutes && f == value_at(e->op, b, a);
    seen.folds = seen.folds && value_at(e->op, f, c) == value_at(e->op, a, value_at(e->op, b, c));
  }
  return seen;
}

// In both directions: a fact that does not hold is wrong, one left out is a rule lost.
static void test_facts(void** state) {
  (void)state;
  for (int i = 0; i < ENTRIES; i++) {
    PawlOp op = entries[i].op;
    Seen seen = look(&entries[i]);
    CHECK_OF(op, pawl_op_has(op, PAWL_FACT_ODD) == seen.odd);
    CHECK_OF(op, pawl_op_has(op, PAWL_FACT_EVEN) == seen.even);
    CHECK_OF(op, pawl_op_has(op, PAWL_FACT_IDEMPOTENT) == seen.idempotent);
    CHECK_OF(op, pawl_op_has(op, PAWL_FACT_COMMUTES) == seen.commutes);
    CHECK_OF(op, pawl_op_has(op, PAWL_FACT_FOLDS) == seen.folds);
    CHECK_OF(op, pawl_op_info[op].cost > 0);
  }
}

static PawlNode apply(PawlDag* dag, PawlOp op, PawlNode a, PawlNode b) {
  return pawl_dag_apply(dag, op, a, b, PAWL_NO_NODE);
}

// Simplification uses each fact, and none that is not there.
static void test_rules_follow_facts(void** state) {
  (void)state;
  PawlDag* dag = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(dag, PAWL_OP_Q, 0), y = pawl_dag_leaf(dag, PAWL_OP_Q, 1);
  for (int i = 0; i < ENTRIES; i++) {
    PawlOp op = entries[i].op;
    bool one = pawl_op_operands(op) == 1;
    PawlNode f = apply(dag, op, x, y), mirrored = apply(dag, op, pawl_dag_neg(dag, x), y);
    PawlNode twice = one ? apply(dag, op, f, y) : apply(dag, op, x, x);
    CHECK_OF(op, pawl_op_has(op, PAWL_FACT_ODD) == (mirrored == pawl_dag_neg(dag, f)));
    CHECK_OF(op, pawl_op_has(op, PAWL_FACT_EVEN) == (mirrored == f));
    CHECK_OF(op, pawl_op_has(op, PAWL_FACT_IDEMPOTENT) == (twice == (one ? f : x)));
    CHECK_OF(op, one || pawl_op_has(op, PAWL_FACT_COMMUTES) == (apply(dag, op, y, x) == f));
  }
  pawl_dag_destroy(dag);
}

// The largest first difference and the largest second difference over the step on the straight ways
// from sample to sample, each cut in `pieces`.
static void roughness(const Entry* e, int pieces, double* jump, double* corner) {
  *jump = *corner = 0.0;
  for (int k = 0; k + 1 < SAMPLES; k++) {
    const double *from = e->at[k], *to = e->at[k + 1];
    double last = 0.0, before = 0.0;
    for (int i = 0; i <= pieces; i++) {
      double s = (double)i / pieces;
      double f = value_at(e->op, from[0] + s * (to[0] - from[0]), from[1] + s * (to[1] - from[1]));
      *jump = i > 0 ? fmax(*jump, fabs(f - last)) : *jump;
      *corner = i > 1 ? fmax(*corner, fabs(f - 2.0 * last + before) * pieces) : *corner;
      before = last;
      last = f;
    }
  }
}

// Halving the step halves the largest difference of a function that does not jump, and the largest
// change of slope of one without corners; otherwise they stay.
static void test_smoothness(void** state) {
  (void)state;
  for (int i = 0; i < ENTRIES; i++) {
    double jump[2], corner[2];
    roughness(&entries[i], 1000, &jump[0], &corner[0]);
    roughness(&entries[i], 2000, &jump[1], &corner[1]);
    PawlSmoothness seen = jump[1] > 0.75 * jump[0]       ? PAWL_JUMPS
                          : corner[1] > 0.75 * corner[0] ? PAWL_KINKS
                                                         : PAWL_SMOOTH;
    CHECK_OF(entries[i].op, pawl_op_info[entries[i].op].smoothness == seen);
  }
}

// ---- tapes, faults --------------------------------------------------------------------------
static double on_tape(PawlDag* dag, PawlNode node, double a, double b, bool block) {
  PawlTape* tape;
  static double registers[64 * PAWL_TAPE_WIDTH];
  int width = block ? PAWL_TAPE_WIDTH : 1;
  assert_int_equal(pawl_tape_create(dag, 1, &node, &tape, NULL), PAWL_OK);
  assert_true(pawl_tape_room(tape, width) <= sizeof registers / sizeof *registers);
  pawl_tape_prepare(tape, width, registers);
  for (int k = 0; k < tape->input_count; k++) {
    registers[(tape->constant_count + k) * width] = tape->inputs[k].index == 0 ? a : b;
  }
  if (block) {
    pawl_tape_run_block(tape, registers, 1);
  } else {
    pawl_tape_run_one(tape, registers);
  }
  double result = registers[tape->outputs[0] * width];
  pawl_tape_destroy(tape);
  return result;
}

static void test_tapes_give_the_same_bits(void** state) {
  (void)state;
  PawlDag* dag = pawl_dag_create();
  for (int i = 0; i < ENTRIES; i++) {
    PawlNode node = of_coordinates(dag, entries[i].op);
    for (int k = 0; k < SAMPLES; k++) {
      double a = entries[i].at[k][0], b = entries[i].at[k][1];
      double f = value_at(entries[i].op, a, b);
      CHECK_AT(entries[i].op, entries[i].at[k], on_tape(dag, node, a, b, false), f, 0.0);
      CHECK_AT(entries[i].op, entries[i].at[k], on_tape(dag, node, a, b, true), f, 0.0);
    }
  }
  pawl_dag_destroy(dag);
}

// NaN in operand `which`, the other one `other`: by value, on one lane, on a block.
static void check_nan(PawlDag* dag, PawlOp op, int which, double other) {
  PawlNode node = of_coordinates(dag, op);
  double a = which == 0 ? NAN : other, b = which == 1 ? NAN : other;
  CHECK_OF(op, isnan(value_at(op, a, b)));
  CHECK_OF(op, isnan(on_tape(dag, node, a, b, false)));
  CHECK_OF(op, isnan(on_tape(dag, node, a, b, true)));
}

// Whatever the other operand is: the C library has hypot(inf, NaN) = inf.
static void test_nan_passes(void** state) {
  (void)state;
  static const double others[] = {0.7, 0.0, 1.0, INFINITY, -INFINITY};
  PawlDag* dag = pawl_dag_create();
  for (int i = 0; i < ENTRIES; i++) {
    for (int k = 0; k < 5 * pawl_op_operands(entries[i].op); k++) {
      check_nan(dag, entries[i].op, k / 5, others[k % 5]);
    }
  }
  pawl_dag_destroy(dag);
}

// ---- text -----------------------------------------------------------------------------------
static void test_text_reads_back(void** state) {
  (void)state;
  PawlDag* dag = pawl_dag_create();
  for (int i = 0; i < ENTRIES; i++) {
    PawlNode node = of_coordinates(dag, entries[i].op);
    PawlText text = {0};
    PawlExprError error;
    pawl_dag_print(&text, dag, node, PAWL_STYLE_TEXT, simple_name, NULL);
    assert_false(text.failed);
    assert_int_equal(
        strncmp(text.s, pawl_op_text(entries[i].op), strlen(pawl_op_text(entries[i].op))), 0);
    assert_int_equal(read_text(dag, text.s, text.length, &error), node);
    assert_true(pawl_expr_reserved(pawl_op_text(entries[i].op)));
    pawl_text_free(&text);
  }
  pawl_dag_destroy(dag);
}

static void test_latex_shows_every_operand(void** state) {
  (void)state;
  PawlDag* dag = pawl_dag_create();
  for (int i = 0; i < ENTRIES; i++) {
    PawlText text = {0};
    pawl_dag_print(&text, dag, of_coordinates(dag, entries[i].op), PAWL_STYLE_LATEX, simple_name,
                   NULL);
    assert_false(text.failed);
    assert_int_equal(text.s[0], '\\');
    const char* x = strrchr(text.s, 'x');  // the last: there is one in \max
    assert_non_null(x);
    assert_true(pawl_op_operands(entries[i].op) == 1 || strstr(x, "y"));
    pawl_text_free(&text);
  }
  pawl_dag_destroy(dag);
}

// A word in the indented list of docs/model-format.md.
static bool is_listed(const char* list, const char* word) {
  size_t length = strlen(word);
  for (const char* at = strstr(list, word); at; at = strstr(at + 1, word)) {
    if (at[-1] == ' ' && strchr(" (\n", at[length])) {
      return true;
    }
  }
  return false;
}

static char* list_of_functions(void) {
  static char page[1 << 17];
  FILE* file = fopen(PAWL_DOCS "/model-format.md", "r");
  assert_non_null(file);
  size_t length = fread(page, 1, sizeof page - 1, file);
  fclose(file);
  assert_true(length > 0 && length < sizeof page - 1);
  page[length] = '\0';
  char* list = strstr(page, "and the functions\n\n    ");
  assert_non_null(list);
  char* end = strstr(strstr(list, "\n\n") + 2, "\n\n");
  assert_non_null(end);
  *end = '\0';
  return strstr(list, "\n\n");
}

static void test_manual_names_every_function(void** state) {
  (void)state;
  const char* list = list_of_functions();
  for (int i = 0; i < ENTRIES; i++) {
    CHECK_OF(entries[i].op, is_listed(list, pawl_op_text(entries[i].op)));
  }
  assert_true(is_listed(list, "if"));
  assert_false(is_listed(list, "cot") || is_listed(list, "wra"));
}

// And nothing but functions: each word of the list before an opening or a blank is one.
static void test_manual_names_nothing_else(void** state) {
  (void)state;
  char* list = list_of_functions();
  int depth = 0, words = 0;
  for (char* at = list; *at; at++) {
    depth += (*at == '(') - (*at == ')');
    if (depth == 0 && *at >= 'a' && *at <= 'z' && (at[-1] == ' ' || at[-1] == '\n')) {
      char word[32] = {0};
      for (int k = 0; k < 31 && strchr(" (\n", at[k]) == NULL; k++) {
        word[k] = at[k];
      }
      assert_true(pawl_expr_reserved(word));
      words++;
    }
  }
  assert_int_equal(words, ENTRIES + 1);  // and `if`
}

// ---- shorthands -----------------------------------------------------------------------------
enum { CALLS = 5 };

static double shorthand_value(int which, double A, double B, double C) {
  switch (which) {
#define PAWL_SHORTHAND(name, word, operands, nodes, value, samples) \
  case PAWL_SHORTHAND_##name:                                       \
    return (value) + 0.0 * (A + B + C);
#include "expr/shorthand.def"
    default:
      return NAN;
  }
}

static void test_shorthands(void** state) {
  (void)state;
#undef AT
// clang-format off
#define AT(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o) \
  {{a, b, c}, {d, e, f}, {g, h, i}, {j, k, l}, {m, n, o}}
  // clang-format on
  static const double samples_of[PAWL_SHORTHANDS][CALLS][3] = {
#define PAWL_SHORTHAND(name, word, operands, nodes, value, samples) samples,
#include "expr/shorthand.def"
  };
  char* page = read_page("model-format.md");
  for (int k = 0; k < PAWL_SHORTHANDS; k++) {
    PawlDag* dag = pawl_dag_create();
    PawlNode args[3];
    for (int i = 0; i < 3; i++) {
      args[i] = pawl_dag_leaf(dag, PAWL_OP_Q, i);
    }
    PawlNode node = pawl_shorthand_build(dag, k, args);
    for (int i = 0; i < CALLS; i++) {
      const double* at = samples_of[k][i];
      PawlLeafValues leaves = {.q = at};
      double value;
      assert_int_equal(pawl_dag_value(dag, node, &leaves, &value, NULL), PAWL_OK);
      CHECK_NEAR(value, shorthand_value(k, at[0], at[1], at[2]), rounding);
    }
    assert_int_equal(pawl_shorthand_find(pawl_shorthand_info[k].word), k);
    assert_non_null(strstr(page, pawl_shorthand_info[k].word));
    pawl_dag_destroy(dag);
  }
  free(page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_value_by_another_formula),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_facts),
      cmocka_unit_test(test_rules_follow_facts),
      cmocka_unit_test(test_smoothness),
      cmocka_unit_test(test_tapes_give_the_same_bits),
      cmocka_unit_test(test_nan_passes),
      cmocka_unit_test(test_text_reads_back),
      cmocka_unit_test(test_latex_shows_every_operand),
      cmocka_unit_test(test_manual_names_every_function),
      cmocka_unit_test(test_manual_names_nothing_else),
      cmocka_unit_test(test_shorthands),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
