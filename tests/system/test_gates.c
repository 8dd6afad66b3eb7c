// SPDX-License-Identifier: Apache-2.0
// What is behind a closed gate costs nothing and changes nothing: a constraint with very many modes
// is evaluated with the operations and the bits of one that has a few of them.
#include "base/text.h"
#include "system/setup.h"

typedef enum Kind {
  LANES,    // all modes have one shape: lanes with gates
  SINGLES,  // each mode has a shape of its own, and shares a power of x with its neighbours
} Kind;

static void add_equation(PawlText* o, Kind kind, int mode) {
  if (kind == LANES) {
    pawl_text_printf(o, "\"y = sin(%d/7*x) + %d*x*z\"", mode + 2, mode + 3);
  } else {
    pawl_text_printf(o, "\"y = x^%d + exp(z)*log(x)\"", mode + 3);
  }
}

// Modes first .. first + count - 1, in strips of x.
static Setup model_of_modes(Kind kind, int first, int count) {
  PawlText text = {0}, *o = &text;
  pawl_text_add(o,
                "model: modes\ncoordinates:\n  x: {start: 0.5}\n  y: {}\n  z: {}\n"
                "mass: {x: 1, y: 2, z: 3}\npotential: sin(x)*z^2 + y\nconstraints:\n"
                "  track:\n    modes:\n");
  for (int m = first; m < first + count; m++) {
    pawl_text_printf(o, "      m%d: {where: \"%d < x and x < %d\", equation: ", m, m, m + 1);
    add_equation(o, kind, m);
    pawl_text_add(o, "}\n");
  }
  assert_false(text.failed);
  Setup s = setup_text(text.s);
  pawl_text_free(&text);
  return s;
}

static const unsigned mechanics = PAWL_EVERYTHING & ~(unsigned)PAWL_SWITCHING;

static PawlEval* eval_of(const Setup* s) {
  PawlEval* eval;
  assert_int_equal(pawl_eval_create(s->system, mechanics, &eval, NULL), PAWL_OK);
  return eval;
}

// The pattern of G is full where constraints switch, and here all of it is used.
static void compare_values(const PawlValues* x, const PawlValues* y, const Setup* s) {
  size_t H = (size_t)pawl_system_info(s->system).nonzeros_H * sizeof(double);
  assert_memory_equal(x->M, y->M, H);
  assert_memory_equal(x->K, y->K, H);
  assert_memory_equal(x->f, y->f, 3 * sizeof(double));
  assert_memory_equal(x->G, y->G, 3 * sizeof(double));
  assert_memory_equal(x->G_rate, y->G_rate, 3 * sizeof(double));
  assert_memory_equal(x->g, y->g, sizeof(double));
  assert_memory_equal(x->gamma, y->gamma, sizeof(double));
  assert_memory_equal(x->energy, y->energy, 2 * sizeof(double));
}

static const double q[] = {0.6, -0.2, 0.9}, v[] = {0.3, 0.4, -0.5}, a[] = {0.1, -0.7, 0.2};
static const double lambda[] = {1.3};

static const PawlValues* run_in(PawlEval* eval, int mode) {
  PawlPoint point = {0.5, q, v, a, lambda, &mode, NULL};
  PawlError err = {0};
  assert_int_equal(pawl_eval_run(eval, &point, &err), PAWL_OK);
  return pawl_eval_values(eval);
}

// `most_more`: what a mode may cost more among many, in operations.
static void check_kind(Kind kind, long long most_more) {
  enum { MODES = 1024, FEW = 20 };
  Setup many = model_of_modes(kind, 0, MODES);
  PawlEval* eval = eval_of(&many);
  static const int modes[] = {0, 1, 63, 64, 700, 1023, 5};
  for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
    Setup few = model_of_modes(kind, modes[k], FEW);
    PawlEval* expected = eval_of(&few);
    long long allocations = pawl_alloc_count();
    const PawlValues* x = run_in(eval, modes[k]);
    assert_true(pawl_alloc_count() == allocations);
    compare_values(x, run_in(expected, 0), &many);
    long long more = pawl_eval_operations(eval) - pawl_eval_operations(expected);
    if (more < 0 || more > most_more) {
      fail_msg("mode %d of %d costs %lld operations more than of a few", modes[k], MODES, more);
    }
    pawl_eval_destroy(expected);
    setup_free(&few);
  }
  pawl_eval_destroy(eval);
  setup_free(&many);
}

static void test_many_modes(void** state) {
  (void)state;
  check_kind(LANES, 0);
  check_kind(SINGLES, 2);  // a power that the mode below has too is not fused into a sum
}

// Before a run the first modes count, and a mode that does not exist opens nothing.
static void test_operations_follow_modes(void** state) {
  (void)state;
  Setup s = setup_text(
      "model: two\ncoordinates:\n  x: {}\n  y: {}\n  z: {}\nmass: {x: 1, y: 1, z: 1}\n"
      "constraints:\n  track:\n    modes:\n"
      "      flat: {where: x < 0, equation: y = 0}\n"
      "      wavy: {where: x > 0, equation: \"y = sin(x)*exp(z*x)\"}\n");
  PawlEval* eval = eval_of(&s);
  long long first = pawl_eval_operations(eval);
  run_in(eval, 0);
  assert_true(pawl_eval_operations(eval) == first);
  run_in(eval, 1);
  assert_true(pawl_eval_operations(eval) > first + 10);
  const double* G = run_in(eval, 7)->G;
  assert_true(G[0] == 0.0 && G[1] == 0.0 && G[2] == 0.0);
  run_in(eval, 0);
  assert_true(pawl_eval_operations(eval) == first);
  pawl_eval_destroy(eval);
  setup_free(&s);
}

static void test_memory_failures(void** state) {
  (void)state;
  for (Kind kind = LANES; kind <= SINGLES; kind++) {
    Setup s = model_of_modes(kind, 0, 5);
    bool done = false;
    for (long long n = 1; !done; n++) {
      assert_true(n < 1000);
      PawlEval* eval = NULL;
      PawlError err = {0};
      pawl_alloc_fail_at(n);
      PawlStatus status = pawl_eval_create(s.system, mechanics, &eval, &err);
      pawl_alloc_fail_at(0);
      done = status == PAWL_OK;
      assert_true(done || (status == PAWL_ERROR_MEMORY && err.status == status && !eval));
      pawl_eval_destroy(eval);
    }
    setup_free(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many_modes),
      cmocka_unit_test(test_operations_follow_modes),
      cmocka_unit_test(test_memory_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
