// SPDX-License-Identifier: Apache-2.0
// The options of a simulation: defaults, setting from text, ranges.
#include <string.h>

#include "pawl/model.h"
#include "reading.h"

static void check_refused(const char* option, const char* value, const char* part) {
  PawlSimulateDef def = pawl_simulate_def_default(), before = def;
  PawlError err = {0};
  assert_int_equal(pawl_simulate_def_set(&def, option, value, &err), PAWL_ERROR_USAGE);
  if (!strstr(err.message, part)) {
    print_error("'%s' is not in: %s\n", part, err.message);
    fail();
  }
  assert_true(def.step == before.step && def.rho == before.rho &&
              def.iterations == before.iterations && def.method == before.method);
}

static void test_defaults_are_good(void** state) {
  (void)state;
  PawlSimulateDef def = pawl_simulate_def_default();
  assert_int_equal(pawl_simulate_def_check(&def, NULL), PAWL_OK);
  assert_string_equal(def.method, "auto");
  CHECK_NEAR(def.step, 1e-3, 0);
  assert_int_equal(def.iterations, 20);
}

static void test_set(void** state) {
  (void)state;
  PawlSimulateDef def = pawl_simulate_def_default();
  PawlError err;
  assert_int_equal(pawl_simulate_def_set(&def, "step", "1e-4", &err), PAWL_OK);
  CHECK_NEAR(def.step, 1e-4, 0);
  assert_int_equal(pawl_simulate_def_set(&def, "until", "3/4", &err), PAWL_OK);
  CHECK_NEAR(def.until, 0.75, 0);
  assert_int_equal(pawl_simulate_def_set(&def, "iterations", "7", &err), PAWL_OK);
  assert_int_equal(def.iterations, 7);
  assert_int_equal(pawl_simulate_def_set(&def, "method", "rk4", &err), PAWL_OK);
  assert_string_equal(def.method, "rk4");
  assert_int_equal(pawl_simulate_def_set(&def, "record", "0", &err), PAWL_OK);
}

static void test_refused(void** state) {
  (void)state;
  check_refused("step", "0", "step = 0, must be finite and > 0");
  check_refused("step", "-1", "step = -1");
  check_refused("step", "1/0", "step = ");
  check_refused("step", "fast", "step = 'fast' is not a number");
  check_refused("step", "t", "step = ");
  check_refused("step", "", "is not a number");
  check_refused("rho", "1.5", "rho = 1.5, must be in [0, 1]");
  check_refused("iterations", "2.5", "iterations = 2.5, must be a whole number in [1, 1000]");
  check_refused("iterations", "0", "iterations = 0");
  check_refused("tolerance", "0", "tolerance = 0, must be in (0, 1]");
  check_refused("method", "", "method is empty");
  check_refused("stp", "1", "unknown option 'stp'; did you mean 'step'?");
  check_refused("gravitation", "1", "unknown option 'gravitation'");
}

static void test_check(void** state) {
  (void)state;
  PawlError err;
  PawlSimulateDef def = pawl_simulate_def_default();
  def.rho = NAN;
  assert_int_equal(pawl_simulate_def_check(&def, &err), PAWL_ERROR_USAGE);
  assert_non_null(strstr(err.message, "rho"));
  def = pawl_simulate_def_default();
  def.iterations = 0;
  assert_int_equal(pawl_simulate_def_check(&def, &err), PAWL_ERROR_USAGE);
  def = pawl_simulate_def_default();
  def.method = NULL;
  assert_int_equal(pawl_simulate_def_check(&def, &err), PAWL_ERROR_USAGE);
  def = pawl_simulate_def_default();
  def.until = INFINITY;
  assert_int_equal(pawl_simulate_def_check(&def, &err), PAWL_ERROR_USAGE);
}

// Every option's stated fallback is what the default has, and every option has a description.
static void test_options_describe_themselves(void** state) {
  (void)state;
  PawlOptionInfo info;
  PawlSimulateDef def = pawl_simulate_def_default();
  int count = 0;
  for (; pawl_simulate_option(count, &info); count++) {
    assert_true(strlen(info.sentence) > 10);
    assert_int_equal(pawl_simulate_def_set(&def, info.name, info.fallback, NULL), PAWL_OK);
  }
  assert_true(count >= 7);
  assert_false(pawl_simulate_option(-1, &info));
  PawlSimulateDef fresh = pawl_simulate_def_default();
  assert_true(def.step == fresh.step && def.until == fresh.until && def.rho == fresh.rho &&
              def.tolerance == fresh.tolerance && def.iterations == fresh.iterations &&
              def.record == fresh.record);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults_are_good),
      cmocka_unit_test(test_set),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_check),
      cmocka_unit_test(test_options_describe_themselves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
