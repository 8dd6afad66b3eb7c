// SPDX-License-Identifier: Apache-2.0
// Painleve's rod (docs/theory/friction.md, section 9): impacts without a collision from starts
// whose rates are off by rounding, planar and with two slips.
#include "step/rubbing.h"

// In space the two slips lie askew to the plane of the rod, which nothing leaves.
static const char PLANE[] = "x - l*cos(th)";
static const char SPACE[] = "[0.8*(x - l*cos(th)) + 0.6*b, \"-0.6*(x - l*cos(th)) + 0.8*b\"]";

static Run rod(const char* slip, double mu, double th, double w, double u) {
  char text[800];
  snprintf(text, sizeof text,
           "model: rod\n"
           "parameters: {l: 0.5, mu: %.17g, th0: %.17g, w: %.17g, u: %.17g}\n"
           "coordinates:\n"
           "  x: {rate: -u - l*sin(th0)*w}\n"
           "  b: {rate: 0}\n"
           "  y: {start: l*sin(th0), rate: l*cos(th0)*w}\n"
           "  th: {start: th0, rate: w}\n"
           "mass: {x: 1, b: 1, y: 1, th: l^2/3}\n"
           "potential: 9.81*y\n"
           "contacts: {tip: {gap: y - l*sin(th), friction: mu, slip: %s}}\n",
           mu, th, w, u, slip);
  return run_text_with(text, NULL);
}

// mu over (1 + 3 cos^2 th)/(3 sin th cos th)
static double beyond(double mu, double th) {
  return 3 * mu * sin(th) * cos(th) / (1 + 3 * cos(th) * cos(th));
}

// Beyond the critical friction, and turning too slowly to lift the tip: it is stopped, and the
// momentum about it stays, w + 3 sin(th) u/(4 l), whatever the sign of the rounding that its rate
// is given with.                                                                              (F25)
static void test_shocks(void** unused) {
  (void)unused;
  static const char* const slips[] = {PLANE, SPACE};
  int shocks = 0;
  for (int k = 0; k < 60; k++) {
    double th = 0.3 + 0.0173 * k, w = -3.9 + 0.1317 * k, u = 0.7 + 0.0913 * k;
    if (beyond(3, th) < 1.001 || 0.5 * sin(th) * w * w > 9.8) {
      continue;
    }
    for (int c = 0; c < 2; c++) {
      Run run = rod(slips[c], 3, th, w, u);
      run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
      double after = w + 1.5 * sin(th) * u;
      assert_non_null(strstr(pawl_sim_warning(run.sim), "without a collision"));
      check_state(&run, (double[]){0, 0, 0.5 * sin(th), th},
                  (double[]){-0.5 * sin(th) * after, 0, 0.5 * cos(th) * after, after}, 1e-9);
      run_end(&run);
      shocks++;
    }
  }
  assert_true(shocks > 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
