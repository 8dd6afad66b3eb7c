// SPDX-License-Identifier: Apache-2.0
// The heap door and the arena: zeroed, aligned, countable, and able to fail on demand.
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "check.h"

static void test_alloc(void** state) {
  (void)state;
  unsigned char* bytes = pawl_alloc(1000, 1);
  for (int k = 0; k < 1000; k++) {
    assert_int_equal(bytes[k], 0);
  }
  pawl_free(bytes);
  void* none = pawl_alloc(0, 8);
  assert_non_null(none);
  pawl_free(none);
  pawl_free(NULL);
  assert_null(pawl_alloc(SIZE_MAX / 4, 8));  // the product overflows
  assert_null(pawl_realloc(NULL, SIZE_MAX / 4, 8));
}

static void test_failing_on_demand(void** state) {
  (void)state;
  long long before = pawl_alloc_count();
  pawl_alloc_fail_at(2);
  void* first = pawl_alloc(1, 1);
  assert_non_null(first);
  assert_null(pawl_alloc(1, 1));
  assert_null(pawl_realloc(first, 2, 1));  // and all after it
  pawl_alloc_fail_at(0);
  assert_int_equal(pawl_alloc_count() - before, 3);
  void* again = pawl_realloc(first, 2, 1);
  assert_non_null(again);
  pawl_free(again);
}

static void test_growing(void** state) {
  (void)state;
  int *array = NULL, capacity = 0;
  assert_int_equal(PAWL_GROW(array, capacity, 1), 0);
  assert_int_equal(capacity, 8);
  array[0] = 7;
  assert_int_equal(PAWL_GROW(array, capacity, 9), 0);
  assert_int_equal(capacity, 16);
  int* same = array;
  assert_int_equal(PAWL_GROW(array, capacity, 16), 0);
  assert_ptr_equal(array, same);
  pawl_alloc_fail_at(1);
  assert_int_equal(PAWL_GROW(array, capacity, 17), -1);
  pawl_alloc_fail_at(0);
  assert_true(array == same && capacity == 16 && array[0] == 7);
  pawl_free(array);
}

static void test_arena(void** state) {
  (void)state;
  PawlArena arena = {0};
  char* piece[300];
  size_t size[300];
  for (int k = 0; k < 300; k++) {
    size[k] = (size_t)(k * k % 5000 + (k == 150 ? 9000000 : 1));  // one larger than any block
    piece[k] = pawl_arena_alloc(&arena, size[k], 1);
    assert_non_null(piece[k]);
    assert_int_equal((uintptr_t)piece[k] % 64, 0);
    for (size_t i = 0; i < size[k]; i += 97) {
      assert_int_equal(piece[k][i], 0);
    }
    memset(piece[k], k % 100 + 1, size[k]);
  }
  for (int k = 0; k < 300; k++) {  // no piece was written over
    assert_int_equal(piece[k][0], k % 100 + 1);
    assert_int_equal(piece[k][size[k] - 1], k % 100 + 1);
  }
  assert_string_equal(pawl_arena_copy(&arena, "ratchet", 3), "rat");
  assert_non_null(PAWL_NEW(&arena, double, 0));
  assert_false(arena.failed);
  assert_null(pawl_arena_alloc(&arena, SIZE_MAX / 4, 8));
  assert_true(arena.failed);
  assert_null(PAWL_NEW(&arena, double, 1));  // a failure sticks
  pawl_arena_free(&arena);
  assert_null(arena.blocks);
}

static void test_pages(void** state) {
  (void)state;
  size_t sizes[] = {1, 4096, 3000000, 9000001};
  for (int k = 0; k < 4; k++) {
    unsigned char* bytes = pawl_alloc_pages(sizes[k]);
    assert_non_null(bytes);
    for (size_t i = 0; i < sizes[k]; i += 511) {
      assert_int_equal(bytes[i], 0);
    }
    memset(bytes, 7, sizes[k]);
    pawl_free_pages(bytes, sizes[k]);
  }
  assert_null(pawl_alloc_pages(SIZE_MAX - 1));
  pawl_alloc_fail_once(1);
  assert_null(pawl_alloc_pages(1));
  PawlArena arena = {0};
  pawl_alloc_fail_once(1);
  assert_null(pawl_arena_alloc(&arena, 1 << 20, 1));
  pawl_arena_free(&arena);
}

// Texts stand close to each other, through all blocks, and what follows them is aligned and zero.
static void test_texts_in_arena(void** state) {
  (void)state;
  enum { MANY = 3000 };
  PawlArena arena = {0};
  char* texts[MANY];
  for (int k = 0; k < MANY; k++) {
    char text[32];
    int length = snprintf(text, sizeof text, "x[%d]''", k);
    texts[k] = pawl_arena_copy(&arena, text, (size_t)length);
    if (k % 100 == 99) {
      const double* numbers = PAWL_NEW(&arena, double, 9);
      assert_int_equal((uintptr_t)numbers % 64, 0);
      for (int i = 0; i < 9; i++) {
        assert_true(numbers[i] == 0.0);
      }
    }
  }
  assert_ptr_equal(texts[1], texts[0] + strlen(texts[0]) + 1);
  for (int k = 0; k < MANY; k++) {
    char text[32];
    snprintf(text, sizeof text, "x[%d]''", k);
    assert_string_equal(texts[k], text);
  }
  pawl_arena_free(&arena);
}

static void test_arena_without_memory(void** state) {
  (void)state;
  PawlArena arena = {0};
  pawl_alloc_fail_at(1);
  assert_null(pawl_arena_alloc(&arena, 1, 1));
  assert_null(pawl_arena_copy(&arena, "x", 1));
  pawl_alloc_fail_at(0);
  assert_null(pawl_arena_alloc(&arena, 1, 1));  // until it is emptied
  pawl_arena_free(&arena);
  assert_non_null(pawl_arena_alloc(&arena, 1, 1));
  pawl_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_alloc),
      cmocka_unit_test(test_failing_on_demand),
      cmocka_unit_test(test_growing),
      cmocka_unit_test(test_arena),
      cmocka_unit_test(test_pages),
      cmocka_unit_test(test_texts_in_arena),
      cmocka_unit_test(test_arena_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
