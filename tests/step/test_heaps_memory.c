// SPDX-License-Identifier: Apache-2.0
// Heaps in motion allocate nothing in a step, once they have met what they need room for: sets of
// contacts come and go, their matrices are factored with new pivots, and all is done in the room
// that is there. And a stepper that is started again shows nothing of the run before. Where the C
// library lets us, every malloc of the process is counted, that of other libraries, too.
#include "base/alloc.h"
#include "step/heaps.h"
#include "step/method.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)
static _Thread_local long long taken;
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* old, size_t bytes);

void* malloc(size_t bytes) {
  taken++;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  taken++;
  return __libc_calloc(count, bytes);
}
void* realloc(void* old, size_t bytes) {
  taken++;
  return __libc_realloc(old, bytes);
}
static long long allocated(void) {
  return taken;
}
#else
static long long allocated(void) {
  return pawl_alloc_count();
}
#endif

enum { STEPS = 30 };

// A step that is refused, in halves.
static void advance(Motion* m, double h) {
  PawlStatus status = pawl_stepper_step(m->stepper, m->state, h, &m->err);
  if (status == PAWL_RETRY && h > 1e-5) {
    advance(m, h / 2);
    advance(m, h / 2);
  } else {
    NEED(status, &m->err);
  }
}

// The same motion twice, to the bit (but for nsga-pvv): the first finds out how much room there
// must be. In it, a solver for the sets is made once and its room grows by doubling: few steps of
// it allocate.
static void test_heap_in_motion(void** unused) {
  (void)unused;
  static const char* const settings[] = {"B=10", "s=2*r", "drop=0.0005", "mu=0.3"};
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = heap(TOUCHING, 4, settings);
    motion_stepper(&m, METHODS[k]);
    size_t bytes = (size_t)m.n.v * sizeof(double);
    double* first = calloc(STEPS, bytes);
    int steps[2] = {0};
    for (int run = 0; run < 2; run++) {
      pawl_state_destroy(m.state);
      NEED(pawl_state_create(m.stepper, &m.state, &m.err), &m.err);
      NEED(pawl_stepper_start(m.stepper, m.state, false, &m.err), &m.err);
      for (int i = 0; i < STEPS; i++) {
        long long before = allocated();
        advance(&m, 1e-3);
        steps[run] += allocated() != before;
        double* v = first + i * m.n.v;
        if (run == 0) {
          memcpy(v, m.state->v, bytes);
        }
        if (strcmp(METHODS[k], "nsga-pvv") != 0) {
          assert_memory_equal(v, m.state->v, bytes);
        }
      }
    }
    assert_true(steps[0] <= 3);
    assert_int_equal(steps[1], 0);
    free(first);
    motion_end(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_heap_in_motion)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
