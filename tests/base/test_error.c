// SPDX-License-Identifier: Apache-2.0
// Messages: replaced, appended, cut without harm.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "check.h"

static void test_replace_and_append(void** state) {
  (void)state;
  PawlError err = {0};
  assert_int_equal(pawl_fail(&err, PAWL_ERROR_RUN, "t = %g s", 0.5), PAWL_ERROR_RUN);
  assert_string_equal(err.message, "t = 0.5 s");
  assert_int_equal(pawl_fail(&err, PAWL_ERROR_MODEL, "line %d", 3), PAWL_ERROR_MODEL);
  assert_int_equal(pawl_fail_more(&err, PAWL_ERROR_MODEL, "line %d", 9), PAWL_ERROR_MODEL);
  assert_string_equal(err.message, "line 3\nline 9");
  assert_int_equal(pawl_fail_memory(&err), PAWL_ERROR_MEMORY);
  assert_string_equal(err.message, "out of memory");
  assert_int_equal(err.status, PAWL_ERROR_MEMORY);
}

static void test_first_line_by_append(void** state) {
  (void)state;
  PawlError err = {0};
  assert_int_equal(pawl_fail_more(&err, PAWL_ERROR_FILE, "alone"), PAWL_ERROR_FILE);
  assert_string_equal(err.message, "alone");
  assert_int_equal(err.status, PAWL_ERROR_FILE);
}

static void test_no_error_wanted(void** state) {
  (void)state;
  assert_int_equal(pawl_fail(NULL, PAWL_ERROR_USAGE, "x"), PAWL_ERROR_USAGE);
  assert_int_equal(pawl_fail_more(NULL, PAWL_ERROR_USAGE, "x"), PAWL_ERROR_USAGE);
  assert_int_equal(pawl_fail_memory(NULL), PAWL_ERROR_MEMORY);
}

static void test_too_many_lines_are_cut(void** state) {
  (void)state;
  PawlError err = {0};
  pawl_fail(&err, PAWL_ERROR_MODEL, "first");
  for (int k = 0; k < 1000; k++) {
    assert_int_equal(pawl_fail_more(&err, PAWL_ERROR_MODEL, "mistake number %d", k),
                     PAWL_ERROR_MODEL);
    assert_true(strlen(err.message) < PAWL_ERROR_TEXT);
  }
  assert_memory_equal(err.message, "first\nmistake number 0\n", 23);
  assert_string_equal(err.message + strlen(err.message) - 3, "...");
}

static PawlStatus passes_up(int value, int* reached) {
  PAWL_TRY(value < 0 ? PAWL_ERROR_USAGE : PAWL_OK);
  *reached += 1;
  PAWL_TRY(value == 0 ? PAWL_RETRY : PAWL_OK);
  *reached += 1;
  return PAWL_OK;
}

static void test_try_passes_failures_up(void** state) {
  (void)state;
  int reached = 0;
  assert_int_equal(passes_up(-1, &reached), PAWL_ERROR_USAGE);
  assert_int_equal(reached, 0);
  assert_int_equal(passes_up(0, &reached), PAWL_RETRY);
  assert_int_equal(reached, 1);
  assert_int_equal(passes_up(1, &reached), PAWL_OK);
  assert_int_equal(reached, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_replace_and_append),     cmocka_unit_test(test_first_line_by_append),
      cmocka_unit_test(test_no_error_wanted),        cmocka_unit_test(test_too_many_lines_are_cut),
      cmocka_unit_test(test_try_passes_failures_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
