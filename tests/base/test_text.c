// SPDX-License-Identifier: Apache-2.0
// Growing text, shortest decimals, edit distance and the nearest name.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "check.h"

static void test_text_grows(void** state) {
  (void)state;
  PawlText text = {0};
  for (int k = 0; k < 1000; k++) {
    pawl_text_printf(&text, "%03d,", k);
  }
  pawl_text_add(&text, "end");
  pawl_text_add_bytes(&text, "!?", 1);
  assert_int_equal(text.length, 4004);
  assert_int_equal(strlen(text.s), text.length);
  assert_string_equal(text.s + 3996, "999,end!");
  pawl_text_free(&text);
  assert_null(text.s);
}

static void test_text_without_memory(void** state) {
  (void)state;
  PawlText text = {0};
  pawl_text_add(&text, "kept");
  pawl_alloc_fail_at(1);
  for (int k = 0; k < 100; k++) {
    pawl_text_printf(&text, "%s", "more");
  }
  pawl_alloc_fail_at(0);
  assert_true(text.failed);
  size_t length = text.length;
  pawl_text_add(&text, "after");  // a text that failed once stays as it is
  assert_int_equal(text.length, length);
  assert_memory_equal(text.s, "keptmore", 8);
  pawl_text_free(&text);
}

static void test_numbers_are_short_and_exact(void** state) {
  (void)state;
  static const struct {
    double value;
    const char* text;
  } cases[] = {{0.1, "0.1"}, {1.0, "1"}, {-2.5, "-2.5"}, {1e-7, "1e-07"}, {0.0, "0"}};
  for (int k = 0; k < 5; k++) {
    PawlText text = {0};
    pawl_text_number(&text, cases[k].value);
    assert_string_equal(text.s, cases[k].text);
    pawl_text_free(&text);
  }
  double value = 1.0 / 3.0;
  for (int k = 0; k < 1000; k++) {
    PawlText text = {0};
    pawl_text_number(&text, value);
    assert_true(strtod(text.s, NULL) == value);  // exact on purpose
    pawl_text_free(&text);
    value *= -1.7320508;
  }
}

static void test_edit_distance(void** state) {
  (void)state;
  assert_int_equal(pawl_edit_distance("", "", 3), 0);
  assert_int_equal(pawl_edit_distance("theta", "theta", 3), 0);
  assert_int_equal(pawl_edit_distance("theta", "thta", 3), 1);
  assert_int_equal(pawl_edit_distance("theta", "thetas", 3), 1);
  assert_int_equal(pawl_edit_distance("theta", "tehta", 3), 1);  // neighbours swapped
  assert_int_equal(pawl_edit_distance("theta", "thexa", 3), 1);
  assert_int_equal(pawl_edit_distance("kitten", "sitting", 5), 3);
  assert_int_equal(pawl_edit_distance("abc", "xyz", 5), 3);
  assert_int_equal(pawl_edit_distance("abcdef", "uvwxyz", 2), 3);  // limit + 1
  assert_int_equal(pawl_edit_distance("a", "abcdef", 2), 3);
  char longest[200];
  memset(longest, 'a', 199);
  longest[199] = '\0';
  assert_int_equal(pawl_edit_distance(longest, "a", 2), 3);
}

static const char* nearest(const char* wanted, const char* const* known, int count) {
  PawlNearest best = {.wanted = wanted};
  for (int k = 0; k < count; k++) {
    pawl_nearest_offer(&best, known[k]);
  }
  return best.name;
}

static void test_nearest_name(void** state) {
  (void)state;
  static const char* const known[] = {"coordinates", "constraints", "contacts", "sin", "x1"};
  assert_string_equal(nearest("coordinats", known, 5), "coordinates");
  assert_string_equal(nearest("constrains", known, 5), "constraints");
  assert_string_equal(nearest("contact", known, 5), "contacts");
  assert_string_equal(nearest("sni", known, 5), "sin");
  assert_string_equal(nearest("x2", known, 5), "x1");
  assert_null(nearest("potential", known, 5));
  assert_null(nearest("y", known, 5));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text_grows),
      cmocka_unit_test(test_text_without_memory),
      cmocka_unit_test(test_numbers_are_short_and_exact),
      cmocka_unit_test(test_edit_distance),
      cmocka_unit_test(test_nearest_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
