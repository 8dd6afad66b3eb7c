// SPDX-License-Identifier: Apache-2.0
// What runs by time stepping with friction show and account for: forces at starts and at known
// instants (T28), hits in steps whose cones are relaxed, and what impulses that hold each other
// have taken from the energy (T29) (T30).
#include "step/rubbing.h"

static const char* const METHODS_OF_TIME[] = {"nsga-pva", "nsga-pvv", "moreau-jean", NULL};

// ---- forces at instants -------------------------------------------------------------------------
static int column_of(const PawlRecorder* r, const char* name) {
  for (int c = 0; c < pawl_recorder_column_count(r); c++) {
    if (strcmp(pawl_recorder_column(r, c)->name, name) == 0) {
      return c;
    }
  }
  fail();
  return -1;
}

static void check_shown(const Run* run, double t, const char* name, double expected) {
  const PawlRecorder* r = pawl_sim_recorder(run->sim);
  int found = 0, column = column_of(r, name);
  for (int k = 0; k < pawl_recorder_sample_count(r); k++) {
    const double* sample = pawl_recorder_sample(r, k);
    if (fabs(sample[0] - t) < 1e-12) {
      CHECK_NEAR(sample[column], expected, 1e-9);
      found++;
    }
  }
  assert_true(found > 0);
}

// A block slides all the time; what pulls it ends at 0.05 s. In space it slips aslant.
static void test_known_instants(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: kink\nparameters: {g: 9.81}\n"
      "coordinates: {x: {rate: 1}, y: , u: {rate: 3}, v: {rate: 4}, w: }\n"
      "mass: {x: 1, y: 1, u: 1, v: 1, w: 1}\npotential: g*y + g*w\n"
      "forces: {x: \"if(t < 0.05, 1, 0)\"}\n"
      "contacts:\n  f: {gap: y, friction: 0.3, slip: x}\n"
      "  s: {gap: w, friction: 0.5, slip: [u, v]}\n"
      "outputs: {N: lambda(f), T: \"lambda(f, 2)\", a: \"x''\", b: \"y''\", n: lambda(s), "
      "p: \"lambda(s, 2)\", r: \"lambda(s, 3)\"}\n");
  run.def.keep_samples = true;
  for (int i = 0; METHODS_OF_TIME[i]; i++) {
    run.def.simulate.method = METHODS_OF_TIME[i];
    run_to(&run, 0.08, 1e-2);
    for (int k = 0; k < 2; k++) {
      double t = k * 0.05;
      check_shown(&run, t, "N", 9.81);
      check_shown(&run, t, "T", -2.943);
      check_shown(&run, t, "a", (k == 0 ? 1.0 : 0.0) - 2.943);
      check_shown(&run, t, "b", 0.0);
      check_shown(&run, t, "n", 9.81);
      check_shown(&run, t, "p", -0.6 * 4.905);
      check_shown(&run, t, "r", -0.8 * 4.905);
    }
  }
  run_end(&run);
}

// ---- the account --------------------------------------------------------------------------------
// A disc in the corner of floor and wall that is thrown back: with mu >= 1 its impulses hold each
// other, in any size, and no velocities with restitution obey the law. Hits must be logged, with
// what the motion has lost and no more.
static void test_wedged(void** unused) {
  (void)unused;
  static const double mu[] = {1.0, 1.5}, e[] = {0.3, 1.0}, fall[] = {0.0, -0.1};
  for (int k = 0; k < 8; k++) {
    char text[700];
    snprintf(text, sizeof text,
             "model: wedge\n"
             "coordinates: {x: {start: 0.1, rate: -0.3}, y: {start: 0.1, rate: %g}, p: }\n"
             "mass: {x: 1, y: 1, p: 0.005}\npotential: 9.81*y\n"
             "contacts:\n"
             "  floor: {gap: y - 0.1, restitution: %g, friction: %g, slip: \"x' + 0.1*p'\"}\n"
             "  wall: {gap: x - 0.1, restitution: %g, friction: %g, slip: \"y' - 0.1*p'\"}\n",
             fall[k / 4], e[k / 2 % 2], mu[k % 2], e[k / 2 % 2], mu[k % 2]);
    Run run = run_text(text);
    for (int i = 0; METHODS_OF_TIME[i]; i++) {
      run.def.simulate.method = METHODS_OF_TIME[i];
      run_to(&run, 0.01, 1e-3);
      PawlSummary s = pawl_sim_summary(run.sim);
      const PawlRecorder* r = pawl_sim_recorder(run.sim);
      int hits = 0;
      for (int a = 0; a < pawl_recorder_event_count(r); a++) {
        const PawlEvent* event = pawl_recorder_event(r, a);
        hits += strcmp(event->to, "hit") == 0;
        assert_true(fabs(event->energy_lost) < 0.05);
      }
      assert_true(hits > 0);
      assert_true(s.energy_end < s.energy_start);
      assert_true(fabs(s.energy_max_drift) < 1e-4);
    }
    run_end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_instants),
      cmocka_unit_test(test_wedged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
