// SPDX-License-Identifier: Apache-2.0
// Contacts that close and open again within a step: the step is taken in halves until they are met,
// or a warning names them.
#include <string.h>

#include "step/motion.h"

static const char* const METHODS[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
enum { METHOD_COUNT = 3 };

static PawlSim* run(const Motion* m, const char* method, double step, double until) {
  PawlSim* sim = NULL;
  PawlSimDef def = pawl_sim_def_default();
  PawlError err = {0};
  def.simulate = m->def;
  def.simulate.method = method;
  def.simulate.step = step;
  def.simulate.until = until;
  NEED(pawl_sim_create(m->system, &def, &sim, &err), &err);
  NEED(pawl_sim_run(sim, NULL, NULL, &err), &err);
  return sim;
}

// Pellets of 2 mm radius that meet in steps of 6 mm change their velocities, not their places.
static void test_pellets(void** unused) {
  (void)unused;
  static const char* const gaps[] = {"sqrt((b - a)^2) - 0.004", "sqrt((b - a)^2 + 1e-8) - 0.0025"};
  for (int k = 0; k < 2 * METHOD_COUNT; k++) {
    char text[300];
    snprintf(text, sizeof text,
             "model: pellets\ncoordinates: {a: {start: 0, rate: 6}, b: {start: 1.0005}}\n"
             "mass: {a: 1, b: 1}\ncontacts: {hit: {gap: \"%s\", restitution: 1}}\n",
             gaps[k % 2]);
    Motion m = motion_text(text);
    PawlSim* sim = run(&m, METHODS[k / 2], 1e-3, 0.5);
    const PawlState* end = pawl_sim_state(sim);
    CHECK_NEAR(end->v[0], 0.0, 0.01);
    CHECK_NEAR(end->v[1], 6.0, 0.01);
    assert_true(end->q[1] > end->q[0]);
    assert_true(pawl_sim_summary(sim).smaller_steps > 0);
    assert_string_equal(pawl_sim_warning(sim), "");
    pawl_sim_destroy(sim);
    motion_end(&m);
  }
}

// Walls of 2 mm and of 1 mm in steps of 30 mm: smooth, and with a kink.
static void test_walls(void** unused) {
  (void)unused;
  static const char* const gaps[] = {"x^2 - 1e-6", "abs(x) - 0.0005",
                                     "max(x - 0.0005, -x - 0.0005)"};
  for (int k = 0; k < 3 * METHOD_COUNT; k++) {
    char text[300];
    snprintf(text, sizeof text,
             "model: wall\ncoordinates: {x: {start: -1.003, rate: 3}}\nmass: {x: 1}\n"
             "contacts: {wall: {gap: \"%s\", restitution: 0.8}}\n",
             gaps[k % 3]);
    Motion m = motion_text(text);
    PawlSim* sim = run(&m, METHODS[k / 3], 1e-2, 0.7);
    assert_true(pawl_sim_state(sim)->v[0] < -1.0);
    assert_true(pawl_sim_state(sim)->q[0] < 0.0);
    pawl_sim_destroy(sim);
    motion_end(&m);
  }
}

// A wall of a hundred nanometres is thinner than any half.
static void test_warning(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: sheet\ncoordinates: {x: {start: -1.003, rate: 30}}\nmass: {x: 1}\n"
      "contacts: {sheet: {gap: \"sqrt(x^2) - 5e-8\", restitution: 0.8}}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    PawlSim* sim = run(&m, METHODS[k], 1e-2, 0.1);
    assert_non_null(strstr(pawl_sim_warning(sim), "contact 'sheet' may have been passed"));
    assert_non_null(strstr(pawl_sim_warning(sim), "t = 0.0334"));
    assert_non_null(strstr(pawl_sim_warning(sim), "rate of 30"));
    pawl_sim_destroy(sim);
  }
  motion_end(&m);
}

// Past a peg at a distance larger than its radius nothing is met, and nothing is said.
static void test_near_miss(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: miss\ncoordinates: {x: {start: -1.0072, rate: 30}, y: {start: 0.0102}}\n"
      "mass: {x: 1, y: 1}\ncontacts: {peg: {gap: \"sqrt(x^2 + y^2) - 0.01\", restitution: 1}}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    PawlSim* sim = run(&m, METHODS[k], 1e-3, 0.1);
    CHECK_NEAR(pawl_sim_state(sim)->v[0], 30.0, 1e-12);
    assert_string_equal(pawl_sim_warning(sim), "");
    pawl_sim_destroy(sim);
  }
  motion_end(&m);
}

// A floor that is near for less than a step, also where the gap is the same at both ends of it: a
// body at rest is hit in the first period.                                                 (V16c)
static void test_swift_floors(void** unused) {
  (void)unused;
  static const char* const SMOOTH[] = {"dopri", "rk4", "ga-pva", NULL};
  static const double STEPS[] = {20, 10, 6, 4, 3, 2.5}, REACH[] = {1.002, 1.02, 1.2};
  int floors = 0;
  for (int k = 0; k < 6 * 3 * 8; k++) {
    char text[300];
    int phase = k % 8;
    double period = 0.01 * STEPS[k / 24], reach = REACH[k / 8 % 3];
    if (phase == 2) {
      continue;  // it begins inside
    }
    snprintf(text, sizeof text,
             "model: floor\ncoordinates: {y: {start: 1}}\nmass: {y: 1}\n"
             "contacts: {f: {gap: \"y - %g*sin(2*pi*t/%g + %d*pi/4)\", restitution: 0.5}}\n",
             reach, period, phase);
    Motion m = motion_text(text);
    for (int i = 0; SMOOTH[i]; i++) {
      m.def.smooth = SMOOTH[i];
      PawlSim* sim = run(&m, "event-driven", 0.01, 1.01 * period + 0.02);
      assert_true(pawl_sim_state(sim)->v[0] > 0.0);
      pawl_sim_destroy(sim);
    }
    motion_end(&m);
    floors++;
  }
  assert_int_equal(floors, 126);
}

// A gap that is nowhere negative is not seen to close: a warning names its contact.         (C20)
static void test_nowhere_negative(void** unused) {
  (void)unused;
  static const struct {
    const char* gap;
    bool never;
  } GAPS[] = {{"y^2", true},
              {"y", false},
              {"r*abs(y)", true},
              {"-r*abs(y)", false},
              {"y^2 - 1e-6", false},
              {"y^3", false},
              {"hypot(x, y)", true},
              {"hypot(x, y) - r", false},
              {"max(y, 0)", true},
              {"min(y, 1)", false},
              {"(y - r)*(y - r)/r", true},
              {"1 - cos(y)", true},
              {"1 + sin(x)*y", false},
              {"exp(y) - 1", false},
              {"y^4 + x^2", true},
              {"1 + y^2", false}};  // never closes, and may be meant so
  for (size_t k = 0; k < sizeof GAPS / sizeof *GAPS; k++) {
    char text[300];
    snprintf(text, sizeof text,
             "model: g\nparameters: {r: 0.5}\n"
             "coordinates: {x: {start: 2}, y: {start: %d, rate: 1}}\nmass: {x: 1, y: 1}\n"
             "contacts: {valve: {gap: \"%s\"}}\n",
             GAPS[k].gap[0] == '-' ? 0 : 2, GAPS[k].gap);
    Motion m = motion_text(text);
    for (int i = 0; i < 2; i++) {
      PawlSim* sim = run(&m, i ? "event-driven" : "nsga-pva", 1e-2, 1e-2);
      const char* told =
          strstr(pawl_sim_warning(sim), "the gap of contact 'valve' is nowhere below");
      assert_true((told != NULL) == GAPS[k].never);
      pawl_sim_destroy(sim);
    }
    motion_end(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pellets),      cmocka_unit_test(test_walls),
      cmocka_unit_test(test_warning),      cmocka_unit_test(test_near_miss),
      cmocka_unit_test(test_swift_floors), cmocka_unit_test(test_nowhere_negative),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
