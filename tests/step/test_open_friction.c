// SPDX-License-Identifier: Apache-2.0
// Friction counts while its contact is closed: before that it may have no value, or a negative one.
#include <string.h>

#include "step/rubbing.h"

static const char* const METHODS[] = {"event-driven", "nsga-pva", "nsga-pvv", "moreau-jean"};
enum { METHOD_COUNT = 4 };

#define BALL(tables, start, friction)                      \
  "model: ball\n" tables "coordinates: {x: {start: " start \
  ", rate: 2}, y: {start: 1}}\n"                           \
  "mass: {x: 1, y: 1}\npotential: 9.81*y\n"                \
  "contacts: {f: {gap: y, friction: \"" friction "\", slip: x}}\n"
#define TABLE "tables: {mu: {points: [[0, 0.2], [2, 0.4]]}}\n"

// It lands within the table, at x = 0.403, and slips to rest: x'' = -g mu(x) from
// x' = 2 - mu sqrt(2 g).
static void test_lands_in_table(void** unused) {
  (void)unused;
  static const char* const smooth[] = {"rk4", "dopri"};
  Run run = run_text(BALL(TABLE, "-0.5", "mu(x)"));
  double land = sqrt(2 / 9.81), x = 2 * land - 0.5, mu = 0.2 + 0.1 * x;
  double v = 2 - mu * sqrt(2 * 9.81), omega = sqrt(0.981), X = 0.2 + 0.1 * x;
  // x'' = -g (0.2 + 0.1 x): a harmonic motion about x = -2 until it stops.
  double stops = x + (sqrt(X * X + 0.01 * v * v / (omega * omega)) - X) / 0.1;
  for (int m = 0; m < METHOD_COUNT + 1; m++) {
    bool located = m < 2;
    run.def.simulate.method = located ? METHODS[0] : METHODS[m - 1];
    run.def.simulate.smooth = located ? smooth[m] : "rk4";
    run_to(&run, 1.5, 1e-3);
    const PawlState* end = pawl_sim_state(run.sim);
    CHECK_NEAR(end->q[0], stops, located ? 1e-8 : 3e-3);
    CHECK_NEAR(end->v[0], 0.0, 1e-9);
  }
  run_end(&run);
}

// One that was negative before it counts: mu = 10 (t - 0.44), which is 0.115 at the landing.
static void test_negative_before(void** unused) {
  (void)unused;
  Run run = run_text(BALL("", "0", "10*(t - 0.44)"));
  double land = sqrt(2 / 9.81), v = 2 - 10 * (land - 0.44) * sqrt(2 * 9.81);
  for (int m = 0; m < METHOD_COUNT; m++) {
    run.def.simulate.method = METHODS[m];
    run_to(&run, 0.46, 1e-4);
    double after = 0.46 - land, mean = 10 * (land + after / 2 - 0.44);
    CHECK_NEAR(pawl_sim_state(run.sim)->v[0], v - 9.81 * mean * after, m == 0 ? 1e-9 : 1e-2);
  }
  run_end(&run);
}

// It lands where there is none: the message names the contact, and what has no value there.
static void check_refused(const char* text, const char* what) {
  Run run = run_text(text);
  for (int m = 0; m < METHOD_COUNT; m++) {
    run.def.simulate.method = METHODS[m];
    assert_true(run_try(&run, 1.0, 1e-3) != PAWL_OK);
    assert_non_null(strstr(run.err.message, "contact 'f'"));
    assert_non_null(strstr(run.err.message, what));
    CHECK_NEAR(pawl_sim_state(run.sim)->t, sqrt(2 / 9.81), 2e-3);
  }
  run_end(&run);
}

static void test_refused(void** unused) {
  (void)unused;
  check_refused(BALL(TABLE, "-1.5", "mu(x)"),
                "the table goes from 0 to 2), in the friction of contact 'f'");
  check_refused(BALL("", "0", "0.1 - t"), "must be >= 0");
  check_refused(BALL("", "0", "log(0.3 - t)"), "'log(0.3 - t)' has no finite value");
}

// What a `max` in it compares is looked at all along, and said by its name.
static void test_compared(void** unused) {
  (void)unused;
  Run run = run_text(BALL(TABLE, "-0.5", "max(0.1, mu(x))"));
  for (int m = 0; m < METHOD_COUNT; m++) {
    run.def.simulate.method = METHODS[m];
    assert_true(run_try(&run, 1.0, 1e-3) != PAWL_OK);
    assert_non_null(strstr(run.err.message, "'mu(x)' has no finite value"));
    assert_non_null(strstr(run.err.message, "contact 'f'"));
  }
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lands_in_table),
      cmocka_unit_test(test_negative_before),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_compared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
