// SPDX-License-Identifier: Apache-2.0
// Stacks stay where they are for 10^5 steps: a column of 20 discs and a pyramid of 15.
#include <float.h>

#include "step/heaps.h"

static void test_column_stays(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(DISCS);
    check_rests(&m, METHODS[k], 1e-3, 100000, 1e-11);
    motion_end(&m);
  }
}

static void test_pyramid_stays(void** unused) {
  (void)unused;
  static const char* const settings[] = {"B=5"};
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = heap(APART, 1, settings);
    check_rests(&m, METHODS[k], 1e-3, 100000, 100000 * DBL_EPSILON);  // a rounding of 1 a step
    motion_end(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_column_stays),
      cmocka_unit_test(test_pyramid_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
