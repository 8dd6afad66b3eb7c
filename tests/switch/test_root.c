// SPDX-License-Identifier: Apache-2.0
// The first zero of many margins (docs/theory/events.md, V17a).
#include <math.h>

#include "check.h"
#include "switch/root.h"

enum { MOST = 3, MOST_LOOKS = 100 };

typedef double (*Margin)(double x);

typedef struct Search {
  int count, looks;
  Margin margin[MOST];
  double low, high;
} Search;

// Looks at x; whether some margin is negative there.
static bool look(Search* s, PawlRoot* r, double x, bool beyond_known, bool beyond) {
  double values[MOST];
  bool negative = false;
  for (int k = 0; k < s->count; k++) {
    values[k] = s->margin[k](x);
    negative = negative || values[k] < 0.0;
  }
  assert_true(!beyond_known || beyond == negative);
  double* f = pawl_root_add(r, x, negative);
  for (int k = 0; k < s->count; k++) {
    f[k] = values[k];
  }
  return negative;
}

// The end first, as the loop of methods does.
static void search(Search* s, double length, double tolerance) {
  PawlArena arena = {0};
  PawlRoot root;
  PawlError err;
  assert_int_equal(pawl_root_create(&arena, MOST, &root, &err), PAWL_OK);
  pawl_root_begin(&root, s->count);
  look(s, &root, length, true, true);
  look(s, &root, 0.0, true, false);
  s->low = 0.0;
  s->high = length;
  for (s->looks = 0; s->high - s->low > tolerance; s->looks++) {
    double x = pawl_root_next(&root, tolerance);
    assert_true(x > s->low && x < s->high && s->looks < MOST_LOOKS);
    *(look(s, &root, x, false, false) ? &s->high : &s->low) = x;
  }
  pawl_arena_free(&arena);
}

static double falls(double x) {
  return 2.0 - 3.0 * x - 0.5 * x * x;
}
static double falls_later(double x) {
  return 40.0 - 44.0 * x;
}
static double stays(double x) {
  return 1e-9 * (1.0 + x);
}
static double steps(double x) {
  return x < 0.3 ? 1.0 : -1.0;
}
static double cube(double x) {
  return (0.4 - x) * (0.4 - x) * (0.4 - x);
}

static void test_one(void** unused) {
  (void)unused;
  Search s = {.count = 1, .margin = {falls}};
  search(&s, 1.0, 1e-12);
  CHECK_NEAR(s.high, sqrt(13.0) - 3.0, 1e-12);
  assert_true(s.looks <= 6);
}

// A margin that is the least all the way, and never zero, costs nothing.
static void test_one_that_stays_hides_nothing(void** unused) {
  (void)unused;
  Search s = {.count = 2, .margin = {stays, falls}};
  search(&s, 1.0, 1e-12);
  CHECK_NEAR(s.high, sqrt(13.0) - 3.0, 1e-12);
  assert_true(s.looks <= 6);
}

// The far end is led by one whose zero is later than the first.
static void test_the_first_of_two(void** unused) {
  (void)unused;
  Search s = {.count = 3, .margin = {falls_later, stays, falls}};
  search(&s, 1.0, 1e-12);
  CHECK_NEAR(s.high, sqrt(13.0) - 3.0, 1e-12);
  assert_true(s.looks <= 10);
}

// No parabola helps: halves at every sixth look, and the chord.
static void test_jumps_and_flat_zeros(void** unused) {
  (void)unused;
  Search jump = {.count = 2, .margin = {stays, steps}};
  search(&jump, 1.0, 1e-12);
  CHECK_NEAR(jump.high, 0.3, 1e-12);
  Search flat = {.count = 1, .margin = {cube}};
  search(&flat, 1.0, 1e-6);
  CHECK_NEAR(flat.high, 0.4, 1e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one),
      cmocka_unit_test(test_one_that_stays_hides_nothing),
      cmocka_unit_test(test_the_first_of_two),
      cmocka_unit_test(test_jumps_and_flat_zeros),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
