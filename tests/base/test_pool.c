// SPDX-License-Identifier: Apache-2.0
// Loops on threads: every part is worked on once, whatever the number of threads; sums by part do
// not depend on it; nothing is allocated in a loop.
#include <stdatomic.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "check.h"

enum { COUNT = 10007, LENGTH = 64, PARTS = 157 };

typedef struct Work {
  int times[COUNT];
  double sum[PARTS];
  int threads;
  atomic_bool strange;  // a part that should not be
} Work;

static void add_up(void* context, PawlPart part) {
  Work* work = context;
  double sum = 0.0;
  if (part.first != part.number * LENGTH || part.end > COUNT || part.end - part.first > LENGTH ||
      part.thread < 0 || part.thread >= work->threads) {
    work->strange = true;
  }
  for (int k = part.first; k < part.end; k++) {
    work->times[k]++;
    sum += 1.0 / (1.0 + k);
  }
  work->sum[part.number] = sum;
}

static double total(const Work* work) {
  double sum = 0.0;
  for (int k = 0; k < PARTS; k++) {
    sum += work->sum[k];
  }
  return sum;
}

static void test_every_part_once(void** state) {
  (void)state;
  static Work work;
  double alone = 0.0;
  assert_int_equal(pawl_pool_parts(COUNT, LENGTH), PARTS);
  for (int threads = 1; threads <= 8; threads++) {
    PawlPool* pool;
    PawlError err = {0};
    work = (Work){.threads = threads};
    assert_int_equal(pawl_pool_create(threads, &pool, &err), PAWL_OK);
    assert_int_equal(pawl_pool_threads(pool), threads);
    long long before = pawl_alloc_count();
    for (int round = 1; round <= 50; round++) {
      pawl_pool_loop(pool, COUNT, LENGTH, add_up, &work);
      for (int k = 0; k < COUNT; k++) {
        assert_int_equal(work.times[k], round);
      }
    }
    assert_int_equal(pawl_alloc_count(), before);
    assert_false(work.strange);
    alone = threads == 1 ? total(&work) : alone;
    assert_true(total(&work) == alone);  // to the bit
    pawl_pool_destroy(pool);
  }
}

static void test_short_loops(void** state) {
  (void)state;
  static Work work;
  PawlPool* pool;
  PawlError err = {0};
  assert_int_equal(pawl_pool_create(3, &pool, &err), PAWL_OK);
  work = (Work){.threads = 1};  // one part is worked on by the caller
  pawl_pool_loop(pool, LENGTH, LENGTH, add_up, &work);
  pawl_pool_loop(pool, 0, LENGTH, add_up, &work);
  assert_int_equal(work.times[LENGTH - 1], 1);
  assert_int_equal(work.times[LENGTH], 0);
  assert_false(work.strange);
  pawl_pool_destroy(pool);
  pawl_pool_destroy(NULL);
}

static void test_memory(void** state) {
  (void)state;
  for (int n = 1; n <= 2; n++) {
    PawlPool* pool;
    PawlError err = {0};
    pawl_alloc_fail_once(n);
    assert_int_equal(pawl_pool_create(2, &pool, &err), PAWL_ERROR_MEMORY);
    assert_null(pool);
    pawl_alloc_fail_once(0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_part_once),
                                     cmocka_unit_test(test_short_loops),
                                     cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
