// SPDX-License-Identifier: Apache-2.0
// Work beside the caller: each piece is done once, one after the other, and is over when the caller
// has waited; without a worker it is done at once.
#include "base/worker.h"
#include "check.h"

enum { PIECES = 2000 };

typedef struct Work {
  int given, done;
  int order[PIECES];
  volatile double sum;
} Work;

static void work_on(void* context) {
  Work* work = context;
  for (int k = 0; k < 1000; k++) {
    work->sum += k;
  }
  work->order[work->done++] = work->given;
}

static void give_all(PawlWorker* worker, Work* work) {
  for (int k = 0; k < PIECES; k++) {
    pawl_worker_wait(worker);  // `given` belongs to the piece before
    work->given = k;
    pawl_worker_give(worker, work_on, work);
  }
  pawl_worker_wait(worker);
}

static void check_done(const Work* work) {
  assert_int_equal(work->done, PIECES);
  for (int k = 0; k < PIECES; k++) {
    assert_int_equal(work->order[k], k);
  }
}

static void test_each_piece_once(void** state) {
  (void)state;
  Work work = {0};
  PawlWorker* worker = pawl_worker_create();
  assert_non_null(worker);
  give_all(worker, &work);
  check_done(&work);
  pawl_worker_destroy(worker);
}

static void test_without_a_worker(void** state) {
  (void)state;
  Work work = {0};
  give_all(NULL, &work);
  check_done(&work);
  pawl_worker_destroy(NULL);
}

static void count_up(void* context) {
  int* count = context;
  ++*count;
}

// Giving waits for the piece before, destroying for the last one.
static void test_giving_and_destroying_wait(void** state) {
  (void)state;
  int count = 0;
  PawlWorker* worker = pawl_worker_create();
  assert_non_null(worker);
  for (int k = 0; k < PIECES; k++) {
    pawl_worker_give(worker, count_up, &count);
  }
  pawl_worker_destroy(worker);
  assert_int_equal(count, PIECES);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_piece_once),
      cmocka_unit_test(test_without_a_worker),
      cmocka_unit_test(test_giving_and_destroying_wait),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
