// SPDX-License-Identifier: Apache-2.0
// The table of names and the boxes of families.
#include <stdio.h>
#include <string.h>

#include "model/names.h"
#include "reading.h"

static void test_find_many(void** state) {
  (void)state;
  enum { COUNT = 1000 };
  PawlArena arena = {0};
  PawlPool pool = {.arena = &arena};
  PawlNames names = {0};
  assert_null(pawl_names_find(&names, "x"));
  for (int k = 0; k < COUNT; k++) {
    char name[16];
    int length = snprintf(name, sizeof name, "n%d", k);
    PawlFamily* family = pawl_names_add(&names, &pool, pawl_pool_copy(&pool, name, (size_t)length));
    assert_non_null(family);
    family->dimension = k % 3;
  }
  for (int k = 0; k < COUNT; k++) {
    char name[16];
    snprintf(name, sizeof name, "n%d", k);
    assert_int_equal(pawl_names_find(&names, name)->dimension, k % 3);
  }
  assert_null(pawl_names_find(&names, "n1000"));
  PawlNearest nearest = {.wanted = "n99x"};
  pawl_names_offer(&names, &nearest);
  assert_string_equal(nearest.name, "n99");
  pawl_names_free(&names);
  pawl_arena_free(&arena);
}

static void test_box(void** state) {
  (void)state;
  PawlArena arena = {0};
  PawlPool pool = {.arena = &arena};
  PawlFamily family = {.name = "a", .dimension = 2};
  assert_true(pawl_family_extend(&family, (int[]){2, -1}));
  assert_true(pawl_family_extend(&family, (int[]){4, 3}));
  assert_int_equal(family.cell_count, 3 * 5);
  assert_true(pawl_family_fix(&family, &arena));
  assert_int_equal(*pawl_family_cell(&family, (int[]){3, 0}), -1);
  for (int i = 2; i <= 4; i++) {
    for (int j = -1; j <= 3; j++) {
      *pawl_family_cell(&family, (int[]){i, j}) = 10 * i + j;
    }
  }
  for (int i = 2; i <= 4; i++) {  // every cell is its own
    for (int j = -1; j <= 3; j++) {
      assert_int_equal(*pawl_family_cell(&family, (int[]){i, j}), 10 * i + j);
    }
  }
  assert_null(pawl_family_cell(&family, (int[]){1, 0}));
  assert_null(pawl_family_cell(&family, (int[]){2, 4}));
  assert_string_equal(pawl_element_name(&pool, &family, (int[]){4, -1}), "a[4,-1]");
  family.dimension = 0;
  assert_string_equal(pawl_element_name(&pool, &family, NULL), "a");
  pawl_arena_free(&arena);
}

static void test_box_limit(void** state) {
  (void)state;
  PawlFamily family = {.name = "a", .dimension = 3};
  assert_true(pawl_family_extend(&family, (int[]){0, 0, 0}));
  assert_true(pawl_family_extend(&family, (int[]){99, 99, 999}));  // ten million
  assert_false(pawl_family_extend(&family, (int[]){100, 0, 0}));
  assert_false(pawl_family_extend(&family, (int[]){1000000000, 1000000000, 1000000000}));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_find_many),
      cmocka_unit_test(test_box),
      cmocka_unit_test(test_box_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
