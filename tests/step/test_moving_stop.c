// SPDX-License-Identifier: Apache-2.0
// Stops that move: against a rigid lock there is no motion, and a run says so.
#include "switch/runs.h"

static const char* const with_contacts[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
enum { METHODS = sizeof with_contacts / sizeof *with_contacts };

// The stop comes to x = 0 at 0.5 s, where the lock holds.
static void test_rigid_lock(void** unused) {
  (void)unused;
  for (int k = 0; k < METHODS; k++) {
    Run run = run_text(
        "model: rigid\ncoordinates: [x]\nmass: {x: 1}\nlocks: {a: {lock: x, at: 0.2}}\n"
        "contacts: {s: {gap: x + 0.5 - t}}\nsimulate: {until: 1}\n");
    run.def.simulate.method = with_contacts[k];
    assert_int_equal(run_try(&run, 1, 0.01), PAWL_ERROR_RUN);
    assert_non_null(strstr(run.err.message, "t = 0.5"));
    assert_non_null(strstr(run.err.message, "'a' (row 1), 's' (row 1) contradict each other"));
    run_end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rigid_lock),
  };
  return cmocka_run_group_tests_name("moving stop", tests, NULL, NULL);
}
