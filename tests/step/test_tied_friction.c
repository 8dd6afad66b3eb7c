// SPDX-License-Identifier: Apache-2.0
// Capacities and friction that hang on multipliers (docs/theory/friction.md, section 10), against
// closed forms: forces and friction that depend on each other are found together, by every method
// that takes them.
#include "switch/runs.h"

static const char* const EXACT[] = {"rk4", "dopri", "ark", "ida", NULL};
static const char* const ALL[] = {"rk4",  "dopri", "ark",          "ida",
                                  "ga-p", "ga-v",  "ga-v-between", "ga-v-implicit",
                                  "ga-a", "ga-pv", "ga-pva",       NULL};

static bool run_with(Run* run, const char* method, double until, double step) {
  run->def.simulate.method = method;
  run->def.simulate.rtol = 1e-12;
  run->def.simulate.atol = 1e-13;
  if (pawl_method_find(method)->absent) {
    return false;
  }
  run_to(run, until, step);
  return true;
}

// ---- a shoe on a rail ---------------------------------------------------------------------------
// The shoe pushes across, too: lambda = m g + c mu lambda while it slides forward, so that it is
// slowed by mu g/(1 - c mu).
static void test_rail(void** unused) {
  (void)unused;
  static const char text[] =
      "model: rail\n"
      "coordinates: {x: {rate: 2}, y: }\n"
      "mass: {x: 2, y: 2}\n"
      "potential: 20*y\n"
      "constraints: {rail: y = 0}\n"
      "locks: {shoe: {lock: x + 0.5*y, engaged: true, capacity: 0.4*abs(lambda(rail))}}\n";
  Run run = run_text(text);
  for (int k = 0; ALL[k]; k++) {
    if (run_with(&run, ALL[k], 1, 1e-2)) {
      assert_int_equal(run_events(&run), 1);
      CHECK_NEAR(run_event(&run, 0)->t, 0.4, 1e-9);
      check_state(&run, (double[]){0.4, 0}, (double[]){0, 0}, 1e-8);
      CHECK_NEAR(pawl_sim_summary(run.sim).energy_max_drift, 0.0, 1e-8);
      run_with(&run, ALL[k], 0.2, 1e-2);
      CHECK_NEAR(pawl_sim_multipliers(run.sim)[0], 25, 1e-8);
      CHECK_NEAR(pawl_sim_multipliers(run.sim)[1], -10, 1e-8);
    }
  }
  run_end(&run);
}

// Pulled by 6 t N from rest under a force of 20 + 10 t N: holds until 6 t = 0.4 (20 + 10 t), then
// x'' = (6 t - 0.3 (20 + 10 t))/2.
static void test_rail_lets_go(void** unused) {
  (void)unused;
  static const char text[] =
      "model: pulled\n"
      "coordinates: {x: , y: }\n"
      "mass: {x: 2, y: 2}\n"
      "potential: 20*y\n"
      "forces: {x: 6*t, y: -10*t}\n"
      "constraints: {rail: y = 0}\n"
      "locks:\n"
      "  shoe:\n"
      "    {lock: x, engaged: true, capacity: 0.4*abs(lambda(rail)), friction: "
      "0.3*abs(lambda(rail))}\n";
  Run run = run_text(text);
  for (int k = 0; EXACT[k]; k++) {
    if (run_with(&run, EXACT[k], 6, 1e-2)) {
      double t = 4, T = 6;
      CHECK_NEAR(run_event(&run, 0)->t, t, 1e-9);
      double v = (1.5 * (T * T - t * t) - 6 * (T - t)) / 2;
      CHECK_NEAR(pawl_sim_state(run.sim)->v[0], v, 1e-9);
    }
  }
  run_end(&run);
}

// ---- a bead on a wire ---------------------------------------------------------------------------
// v' = -mu v^2/R: v = v0/(1 + mu v0 t/R).
static void test_wire(void** unused) {
  (void)unused;
  static const char text[] =
      "model: wire\n"
      "parameters: {R: 0.5}\n"
      "coordinates: {x: {start: R}, y: {rate: 2}}\n"
      "mass: {x: 2, y: 2}\n"
      "constraints: {wire: x^2 + y^2 = R^2}\n"
      "locks:\n"
      "  rub: {rate: \"(x*y' - y*x')/R = 0\", engaged: true, capacity: 0.6*R*abs(lambda(wire))}\n";
  Run run = run_text(text);
  for (int k = 0; EXACT[k]; k++) {
    if (run_with(&run, EXACT[k], 1, 1e-3)) {
      const double* v = pawl_sim_state(run.sim)->v;
      CHECK_NEAR(hypot(v[0], v[1]), 2 / (1 + 0.3 * 2 / 0.5), 1e-9);
      CHECK_NEAR(pawl_sim_summary(run.sim).energy_max_drift, 0.0, 1e-8);
    }
  }
  run_end(&run);
}

// ---- a bearing ----------------------------------------------------------------------------------
// A rod of length 2 l turns about a pin of radius r with friction by all of the pin's force, that
// which slows it down included: J w' = -k sqrt(w^4 + w'^2), k = mu r m l, so that
// w = w0/(1 + c w0 t), c = k/sqrt(J^2 - k^2).
static void test_bearing(void** unused) {
  (void)unused;
  static const char text[] =
      "model: bearing\n"
      "parameters: {l: 0.5, k: 0.2}\n"
      "coordinates: {x: {start: l}, y: {rate: 3*l}, p: {rate: 3}}\n"
      "mass: {x: 2, y: 2, p: 2*l^2/3}\n"
      "constraints: {pin: [x = l*cos(p), y = l*sin(p)]}\n"
      "locks:\n"
      "  bearing: {lock: p, engaged: true, capacity: \"k*hypot(lambda(pin, 1), lambda(pin, "
      "2))\"}\n";
  Run run = run_text(text);
  double J = 2 * 0.25 * 4 / 3, k = 0.2 * 2 * 0.5, c = k / sqrt(J * J - k * k);
  for (int i = 0; EXACT[i]; i++) {
    if (run_with(&run, EXACT[i], 1, 1e-3)) {
      CHECK_NEAR(pawl_sim_state(run.sim)->v[2], 3 / (1 + c * 3), 1e-9);
    }
  }
  run_end(&run);
}

// ---- what cannot be done ------------------------------------------------------------------------
static void test_refused(void** unused) {
  (void)unused;
  static const char text[] =
      "model: rail\n"
      "coordinates: {x: {rate: 2}, y: }\n"
      "mass: {x: 2, y: 2}\n"
      "constraints: {rail: y = 0}\n"
      "locks: {shoe: {lock: x, engaged: true, capacity: 0.4*abs(lambda(rail))}}\n";
  static const char* const refused[] = {"nsga-pva", "moreau-jean", "taylor", "exponential", NULL};
  Run run = run_text(text);
  for (int k = 0; refused[k]; k++) {
    run.def.simulate.method = refused[k];
    assert_int_equal(run_try(&run, 1, 1e-2), PAWL_ERROR_USAGE);
    assert_non_null(strstr(run.err.message, "hangs on multipliers ('shoe' slides with"));
    run.sim = NULL;
  }
  run_end(&run);
}

// With a friction of its own the joint may have such a capacity in all methods: it lets go at
// 4 t = 0.3 (10 + 5 t), and x'' = (4 t - 2)/2 from there.
static void test_capacity_alone(void** unused) {
  (void)unused;
  static const char* const all[] = {"nsga-pva", "nsga-pvv", "moreau-jean", "rk4", NULL};
  Run run = run_text(
      "model: rail\n"
      "coordinates: {x: , y: }\n"
      "mass: {x: 2, y: 2}\n"
      "forces: {x: 4*t, y: -10 - 5*t}\n"
      "constraints: {rail: y = 0}\n"
      "locks: {shoe: {lock: x, engaged: true, capacity: 0.3*abs(lambda(rail)), friction: 2}}\n");
  for (int k = 0; all[k]; k++) {
    double t = 1.2, T = 1.5;
    run.def.simulate.method = all[k];
    run_to(&run, T, 1e-3);
    CHECK_NEAR(run_event(&run, 0)->t, t, 1e-8);
    CHECK_NEAR(pawl_sim_state(run.sim)->v[0], T * T - t * t - (T - t), 1e-6);
  }
  run_end(&run);
}

static void test_circles(void** unused) {
  (void)unused;
  static const char text[] =
      "model: circle\n"
      "coordinates: {x: , y: }\n"
      "mass: {x: 2, y: 2}\n"
      "locks:\n"
      "  a: {lock: x, engaged: true, capacity: 0.4*abs(lambda(b))}\n"
      "  b: {lock: y, engaged: true, capacity: 3}\n";
  Run run = {0};
  run_need(&run, pawl_model_parse(text, strlen(text), "test.yaml", 0, NULL, &run.model, &run.err));
  assert_int_equal(pawl_system_create(run.model, &run.system, &run.err), PAWL_ERROR_MODEL);
  assert_non_null(strstr(run.err.message, "friction itself, of 'b'"));
  pawl_model_destroy(run.model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rail),           cmocka_unit_test(test_rail_lets_go),
      cmocka_unit_test(test_wire),           cmocka_unit_test(test_bearing),
      cmocka_unit_test(test_refused),        cmocka_unit_test(test_circles),
      cmocka_unit_test(test_capacity_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
