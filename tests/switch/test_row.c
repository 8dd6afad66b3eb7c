// SPDX-License-Identifier: Apache-2.0
// The table of kinds of rows: bounds in order, zero force allowed, and a finite force in no jump;
// that of friction grows with the impulse of its contact.
#include "check.h"
#include "switch/row.h"

static void test_table(void** unused) {
  (void)unused;
  for (int k = 0; k < PAWL_ROW_OF_COUNT; k++) {
    double lo, hi;
    pawl_row_bounds((PawlRowOf)k, 3.0, &lo, &hi);
    assert_true(lo <= 0.0 && hi >= 0.0);
    bool finite = isfinite(lo) && isfinite(hi);
    assert_true(pawl_row_jumps((PawlRowOf)k) == (!finite || k == PAWL_ROW_OF_FRICTION));
  }
}

static void check_bounds(PawlRowOf kind, double C, double lo, double hi) {
  double low, high;
  pawl_row_bounds(kind, C, &low, &high);
  assert_true(low == lo && high == hi);
}

static void test_bounds(void** unused) {
  (void)unused;
  check_bounds(PAWL_ROW_OF_LET_GO, INFINITY, 0.0, 0.0);
  check_bounds(PAWL_ROW_OF_EQUATION, 3.0, -INFINITY, INFINITY);
  check_bounds(PAWL_ROW_OF_CONTACT, 3.0, 0.0, INFINITY);
  check_bounds(PAWL_ROW_OF_JOINT, 3.0, -3.0, 3.0);
  check_bounds(PAWL_ROW_OF_FRICTION, 3.0, -3.0, 3.0);
  check_bounds(PAWL_ROW_OF_JOINT, INFINITY, -INFINITY, INFINITY);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_bounds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
