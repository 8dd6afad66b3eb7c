// SPDX-License-Identifier: Apache-2.0
// What a solver remembers can be saved and loaded: solutions are then equal in every bit.
#include "base/alloc.h"
#include "systems.h"

static const PawlKktSolver solvers[] = {PAWL_KKT_DENSE, PAWL_KKT_KLU, PAWL_KKT_BAND,
                                        PAWL_KKT_BLOCKS};
#define SOLVERS 3

static void* saved(const PawlKkt* kkt) {
  void* bytes = malloc(pawl_kkt_memory_bytes(kkt));
  pawl_kkt_save(kkt, bytes);
  return bytes;
}

// A solver of the same patterns with the memory of another one.
static PawlKkt* loaded_copy(const TestSystem* s, const PawlKkt* kkt, PawlKktSolver solver) {
  void* bytes = saved(kkt);
  PawlKkt* copy = system_kkt(s, solver);
  assert_int_equal(pawl_kkt_memory_bytes(copy), pawl_kkt_memory_bytes(kkt));
  assert_int_equal(pawl_kkt_load(copy, bytes), PAWL_OK);
  free(bytes);
  return copy;
}

// How the values of a sequence change. Each kind makes the next solution depend on the past.
enum { SMALL_CHANGES, SWITCHING, UNITS, PIVOTS, SINGULAR, KINDS };

static void change_values(TestSystem* s, const TestSystem* base, int kind, unsigned char* active) {
  int n = s->n, m = s->m;
  double wide = kind == PIVOTS ? 12.0 : 0.3;
  for (int i = 0; i < n * n; i++) {
    s->S[i] = base->S[i] * exp(wide * test_random());
  }
  for (int i = 0; i < n * m; i++) {
    s->J[i] = base->J[i] * (1.0 + 0.3 * test_random());
    s->B[i] = s->J[i];
  }
  for (int i = 0; i < m; i++) {
    active[i] = kind == SMALL_CHANGES || test_random() > -0.3;
    for (int j = 0; kind == SINGULAR && i > 0 && j < n; j++) {
      s->J[i + j * m] *= active[i];
    }
  }
  double unit = kind == UNITS ? exp(9.0 * test_random()) : 1.0;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < m; i++) {
      s->J[i + j * m] *= unit;
    }
  }
  system_values(s);
}

// Factors and solves with both; every status and every bit must agree.
static void compare(PawlKkt* a, PawlKkt* b, const TestSystem* s, const unsigned char* active) {
  double x[2][SYSTEM_MAX], y[2][SYSTEM_MAX];
  fill_random(s->n, x[0]);
  fill_random(s->m, y[0]);
  for (int j = 0; j < s->n; j += 2) {
    x[0][j] *= 0.0;  // of either sign
  }
  for (int i = 0; i < s->m; i += 2) {
    y[0][i] *= 0.0;
  }
  memcpy(x[1], x[0], sizeof x[0]);
  memcpy(y[1], y[0], sizeof y[0]);
  PawlStatus status = system_factor(a, s, active);
  assert_int_equal(system_factor(b, s, active), status);
  if (status == PAWL_OK) {
    pawl_kkt_solve(a, x[0], y[0]);
    pawl_kkt_solve(b, x[1], y[1]);
    assert_memory_equal(x[0], x[1], (size_t)s->n * sizeof **x);
    assert_memory_equal(y[0], y[1], (size_t)s->m * sizeof **y);
  }
}

// Drives one solver alone, then a copy beside it. Returns how often the pivots were chosen.
static long long run_sequence(int n, int m, double density, int kind, PawlKktSolver solver) {
  TestSystem *base = system_random(n, m, density, false), *s = malloc(sizeof *s);
  memcpy(s, base, sizeof *s);
  PawlKkt* kkt = system_kkt(s, solver);
  unsigned char active[SYSTEM_MAX];
  int alone = (int)(8.0 * (1.0 + test_random()));  // 0: nothing is remembered yet
  for (int round = 0; round < alone; round++) {
    change_values(s, base, kind, active);
    PawlStatus status = system_factor(kkt, s, active);
    assert_true(status == PAWL_OK || kind == SINGULAR || kind == PIVOTS);
  }
  PawlKkt* copy = loaded_copy(s, kkt, solver);
  if (alone > 0) {
    compare(kkt, copy, s, active);  // the values of the last factorisation once more
  }
  for (int round = 0; round < 12; round++) {
    change_values(s, base, kind, active);
    compare(kkt, copy, s, active);
  }
  void *end = saved(kkt), *end_copy = saved(copy);
  assert_memory_equal(end, end_copy, pawl_kkt_memory_bytes(kkt));
  free(end);
  free(end_copy);
  long long full = pawl_kkt_info(kkt).full;
  pawl_kkt_destroy(kkt);
  pawl_kkt_destroy(copy);
  free(s);
  free(base);
  return full;
}

static void test_solutions_after_loading(void** state) {
  (void)state;
  const double densities[] = {0.05, 0.4};
  for (int k = 0; k < SOLVERS; k++) {
    long long full_of_all = 0;
    for (int kind = 0; kind < KINDS; kind++) {
      long long full = 0;
      for (int round = 0; round < 40; round++) {
        int n = 2 + round % 25, m = round % n;
        full += run_sequence(n, m, densities[round % 2], kind, solvers[k]);
      }
      // The sequences must be such that pivots are renewed, or nothing was tested. A dense matrix
      // or a band has new ones where it cannot do without row exchanges.
      assert_true(full > (kind == PIVOTS ? 120 : 0) || solvers[k] != PAWL_KKT_KLU);
      full_of_all += full;
    }
    assert_true(full_of_all > 120);
  }
}

// Sets that stay for a while, sets that alternate, numbers that are 0 of either sign. `steady` sees
// each system often enough to leave idle rows out, `other` sees another set before every one, and
// a solver that loads their memory sees the system for the first time.
static void check_sets_before(PawlKktSolver solver) {
  int left_out = 0;
  for (int round = 0; round < 60; round++) {
    int n = 3 + round % 25, m = 1 + round % n;
    TestSystem* s = system_random(n, m, round % 2 ? 0.05 : 0.2, round % 3 != 0);
    PawlKkt *steady = system_kkt(s, solver), *other = system_kkt(s, solver);
    unsigned char active[SYSTEM_MAX], opposite[SYSTEM_MAX];
    assert_int_equal(system_factor(steady, s, NULL), PAWL_OK);
    assert_int_equal(system_factor(other, s, NULL), PAWL_OK);
    int all = pawl_kkt_info(steady).nonzeros;
    for (int i = 0; i < m; i++) {
      active[i] = test_random() > 0.0;
      opposite[i] = !active[i];
    }
    for (int k = 0; k < n * m; k++) {
      s->J[k] *= fabs(test_random()) < 0.2 ? 0.0 : 1.0;
    }
    system_values(s);
    for (int call = 0; call < 20; call++) {
      PawlStatus status = system_factor(other, s, opposite);
      assert_true(status == PAWL_OK || status == PAWL_RETRY);
      void* bytes = saved(steady);
      assert_int_equal(pawl_kkt_load(other, bytes), PAWL_OK);  // the same pivots and scaling
      free(bytes);
      PawlKkt* fresh = loaded_copy(s, steady, solver);
      compare(steady, fresh, s, active);
      compare(steady, other, s, active);
      pawl_kkt_destroy(fresh);
    }
    left_out += pawl_kkt_info(steady).nonzeros < all;
    PawlKkt* fresh = loaded_copy(s, steady, solver);
    compare(steady, fresh, s, opposite);  // rows that were left out come back
    compare(steady, fresh, s, NULL);
    pawl_kkt_destroy(fresh);
    pawl_kkt_destroy(steady);
    pawl_kkt_destroy(other);
    free(s);
  }
  assert_true(left_out > 40);
}

static void test_bits_do_not_depend_on_sets_before(void** state) {
  (void)state;
  check_sets_before(PAWL_KKT_KLU);
  check_sets_before(PAWL_KKT_BAND);
}

// Without the memory the bits differ, so the test above can fail.
static void test_memory_matters(void** state) {
  (void)state;
  int differ = 0;
  for (int round = 0; round < 40; round++) {
    TestSystem *base = system_random(20, 8, 0.1, false), *s = malloc(sizeof *s);
    memcpy(s, base, sizeof *s);
    PawlKkt *kkt = system_kkt(s, PAWL_KKT_KLU), *fresh = system_kkt(s, PAWL_KKT_KLU);
    unsigned char active[SYSTEM_MAX];
    for (int k = 0; k < 4; k++) {
      change_values(s, base, PIVOTS, active);
      if (system_factor(kkt, s, active) != PAWL_OK) {
        continue;
      }
    }
    change_values(s, base, SMALL_CHANGES, active);
    double x[2][SYSTEM_MAX], y[2][SYSTEM_MAX];
    fill_random(20, x[0]);
    fill_random(8, y[0]);
    memcpy(x[1], x[0], sizeof x[0]);
    memcpy(y[1], y[0], sizeof y[0]);
    assert_int_equal(system_factor(kkt, s, active), PAWL_OK);
    assert_int_equal(system_factor(fresh, s, active), PAWL_OK);
    pawl_kkt_solve(kkt, x[0], y[0]);
    pawl_kkt_solve(fresh, x[1], y[1]);
    differ += memcmp(x[0], x[1], 20 * sizeof(double)) != 0;
    pawl_kkt_destroy(kkt);
    pawl_kkt_destroy(fresh);
    free(s);
    free(base);
  }
  assert_true(differ > 10);
}

// Every byte changed in turn, and bytes of another pattern or kind of solver.
static void test_damaged_bytes_are_refused(void** state) {
  (void)state;
  TestSystem *s = system_random(9, 4, 0.3, true), *other = system_random(9, 4, 0.6, true);
  for (int k = 0; k < SOLVERS; k++) {
    PawlKkt *kkt = system_kkt(s, solvers[k]), *copy = system_kkt(s, solvers[k]);
    assert_int_equal(system_factor(kkt, s, NULL), PAWL_OK);
    assert_int_equal(system_factor(copy, s, NULL), PAWL_OK);
    size_t count = pawl_kkt_memory_bytes(kkt);
    unsigned char *bytes = saved(kkt), *before = saved(copy);
    for (size_t i = 0; i < count; i++) {
      bytes[i] ^= 0x55;
      PawlStatus status = pawl_kkt_load(copy, bytes);
      bytes[i] ^= 0x55;
      void* after = saved(copy);
      assert_memory_equal(before, after, count);  // refused, or a byte that means nothing
      assert_true(status == PAWL_ERROR_USAGE || status == PAWL_OK);
      free(after);
    }
    PawlKkt* strange = system_kkt(other, solvers[k]);
    assert_int_equal(pawl_kkt_load(strange, bytes), PAWL_ERROR_USAGE);
    pawl_kkt_destroy(strange);
    PawlKkt* larger = system_kkt(s, solvers[1]);
    unsigned char* room = calloc(1, pawl_kkt_memory_bytes(larger));
    memcpy(room, bytes, count);
    assert_int_equal(pawl_kkt_load(larger, room),
                     solvers[k] == PAWL_KKT_KLU ? PAWL_OK : PAWL_ERROR_USAGE);
    pawl_kkt_destroy(larger);
    free(room);
    free(bytes);
    free(before);
    pawl_kkt_destroy(kkt);
    pawl_kkt_destroy(copy);
  }
  free(s);
  free(other);
}

static void test_allocation_failures(void** state) {
  (void)state;
  TestSystem* s = system_random(9, 4, 0.3, true);
  PawlKkt* kkt = system_kkt(s, PAWL_KKT_KLU);
  assert_int_equal(system_factor(kkt, s, NULL), PAWL_OK);
  void* bytes = saved(kkt);
  bool done = false;
  for (int fail = 1; !done; fail++) {
    PawlKkt* copy = system_kkt(s, PAWL_KKT_KLU);
    pawl_alloc_fail_at(fail);
    PawlStatus status = pawl_kkt_load(copy, bytes);
    pawl_alloc_fail_at(0);
    done = status == PAWL_OK;
    assert_true(fail < 100 && (done || status == PAWL_ERROR_MEMORY));
    assert_int_equal(pawl_kkt_load(copy, bytes), PAWL_OK);
    compare(kkt, copy, s, NULL);
    pawl_kkt_destroy(copy);
  }
  free(bytes);
  pawl_kkt_destroy(kkt);
  free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_solutions_after_loading),
      cmocka_unit_test(test_bits_do_not_depend_on_sets_before),
      cmocka_unit_test(test_memory_matters),
      cmocka_unit_test(test_damaged_bytes_are_refused),
      cmocka_unit_test(test_allocation_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
