// SPDX-License-Identifier: Apache-2.0
// Stacks stay where they are for 10^5 steps: a column of 20 discs and a pyramid of 15. And a row of
// dominoes that fall, to where they have nearly come to rest.
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

// Sets go to and fro when all is nearly at rest: steps are taken with what is as good.      (T33)
static void test_dominoes(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: dominoes\nparameters: {c: 0.25, s: 0.005}\nmechanism: {gravity: [0, -9.81]}\n"
      "bodies:\n  ground: {shapes: {table: {plane: {}}}}\n"
      "  d[i=1..20]: {shape: {box: [0.01, 0.06], round: 0.0005, density: 500},\n"
      "    start: {at: ['0.03*i + if(i < 2, -0.004, 0)',\n"
      "      'if(i < 2, 0.03*cos(0.25)+0.005*sin(0.25), 0.03)'], angle: 'if(i < 2, -0.25, 0)'}}\n"
      "contacts:\n"
      "  f[i=1..20]: {between: ['d[i]', ground.table], friction: 0.4, restitution: 0.1}\n"
      "  p[i=1..19]: {between: ['d[i]', 'd[i+1]'], friction: 0.2, restitution: 0.1}\n"
      "simulate: {method: nsga-pva, until: 0.95, step: 1e-3}\n");
  PawlSimDef def = pawl_sim_def_default();
  PawlSim* sim;
  def.simulate = m.def;
  NEED(pawl_sim_create(m.system, &def, &sim, &m.err), &m.err);
  NEED(pawl_sim_run(sim, NULL, NULL, &m.err), &m.err);
  PawlSummary summary = pawl_sim_summary(sim);
  assert_true(summary.work.relaxed <= 10 && summary.work.cones < 1e-3);
  assert_true(summary.energy_end < summary.energy_start);
  assert_true(largest_of(m.n.v, pawl_sim_state(sim)->v) < 1e-2);
  pawl_sim_destroy(sim);
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_column_stays),
      cmocka_unit_test(test_pyramid_stays),
      cmocka_unit_test(test_dominoes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
