// SPDX-License-Identifier: Apache-2.0
// Friction of many contacts, and of those that share a load which motion alone does not determine
// (docs/theory/friction.md, (F28)), against closed forms and an integration of its own.
#include "step/rubbing.h"

// ---- many ---------------------------------------------------------------------------------------
// A hundred sledges, and twenty towers of five plates that are braked from below: each stops when
// it would alone.
static void test_many(void** unused) {
  (void)unused;
  static const char sledges[] =
      "model: sledges\n"
      "coordinates: {\"x[i=1..100]\": {rate: 1 + i/100}, \"y[i=1..100]\": }\n"
      "mass: {\"x[i=1..100]\": 1, \"y[i=1..100]\": 1}\n"
      "potential: {for i=1..100: \"10*y[i]\"}\n"
      "contacts: {\"f[i=1..100]\": {gap: \"y[i]\", friction: 0.2, slip: \"x[i]\"}}\n";
  Run run = run_text_with(sledges, NULL);
  run_to(&run, 1.1, 0.05);
  assert_int_equal(run_events(&run), 100);
  for (int k = 0; k < 100; k++) {
    double v = 1 + (k + 1) / 100.0;
    CHECK_NEAR(run_event(&run, k)->t, v / 2, 1e-9);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[k], v * v / 4, 1e-9);
  }
  run_end(&run);
  static const char towers[] =
      "model: towers\n"
      "coordinates: {\"x[i=1..20, k=1..5]\": {rate: 1 + i/20}, \"y[i=1..20, k=1..5]\": }\n"
      "mass: {\"x[i=1..20, k=1..5]\": 1, \"y[i=1..20, k=1..5]\": 1}\n"
      "potential: sum(i=1..20, sum(k=1..5, 10*y[i, k]))\n"
      "contacts:\n"
      "  foot[i=1..20]: {gap: \"y[i, 1]\", friction: 0.2, slip: \"x[i, 1]\"}\n"
      "  pair[i=1..20, k=2..5]:\n"
      "    {gap: \"y[i, k] - y[i, k-1]\", friction: 0.3, slip: \"x[i, k] - x[i, k-1]\"}\n";
  run = run_text_with(towers, NULL);
  run_to(&run, 1.1, 0.05);  // the plates of a tower stay together
  assert_int_equal(run_events(&run), 20);
  for (int k = 0; k < 20; k++) {
    CHECK_NEAR(run_event(&run, k)->t, (1 + (k + 1) / 20.0) / 2, 1e-9);
  }
  run_end(&run);
}

// ---- loads that are shared ----------------------------------------------------------------------
// Two feet at one place carry half of the load each, and the run says so. 20 N: up to 8 N are held
// where one of them carries all, and 7 N slow it down.
static void test_twice(void** unused) {
  (void)unused;
  static const char text[] =
      "model: twice\n"
      "coordinates: {x: , y: }\n"
      "mass: {x: 2, y: 2}\n"
      "potential: 20*y\n"
      "forces: {x: 10*t}\n"
      "contacts:\n"
      "  one: {gap: y, friction: 0.3, slip: x}\n"
      "  two: {gap: y, friction: 0.4, slip: x}\n";
  Run run = run_text_with(text, NULL);
  run_to(&run, 2, 1e-2);
  double from = run_event(&run, 0)->t;
  assert_true(from > 0.6 && from < 0.8 + 1e-9);
  double v = (5 * (4 - from * from) - 7 * (2 - from)) / 2;
  CHECK_NEAR(pawl_sim_state(run.sim)->v[0], v, 1e-9);
  const double* lambda = pawl_sim_multipliers(run.sim);
  check_list("lambda", 4, lambda, (double[]){-3, -4, 10, 10}, 1e-9);
  assert_non_null(strstr(pawl_sim_warning(run.sim), "'one' (row 1), 'two' (row 1) share"));
  run_end(&run);
}

static const char BOX[] =
    "model: box\n"
    "parameters: {m: 2, g: 9.81, mu: 0.3, a: 0.2, b: 0.1, c: 0.05, w: 0, vy: 0}\n"
    "coordinates: {x: {rate: 2}, y: {rate: vy}, psi: {rate: w}, z: , tx: , ty: }\n"
    "mass: {x: m, y: m, z: m, psi: m*(a^2+b^2)/3, tx: m*(b^2+c^2)/3, ty: m*(a^2+c^2)/3}\n"
    "potential: m*g*z\n"
    "define:\n"
    "  u: \"x'*cos(psi) + y'*sin(psi) - c*ty'\"\n"
    "  v: \"y'*cos(psi) - x'*sin(psi) + c*tx'\"\n"
    "contacts:\n"
    "  pp: {gap: z + b*tx - a*ty, friction: mu, slip: [\"u - b*psi'\", \"v + a*psi'\"]}\n"
    "  pm: {gap: z - b*tx - a*ty, friction: mu, slip: [\"u + b*psi'\", \"v + a*psi'\"]}\n"
    "  mp: {gap: z + b*tx + a*ty, friction: mu, slip: [\"u - b*psi'\", \"v - a*psi'\"]}\n"
    "  mm: {gap: z - b*tx + a*ty, friction: mu, slip: [\"u + b*psi'\", \"v - a*psi'\"]}\n";

// Without spin nothing hangs on the shares: mu g slows it down, and it stops at once.
static void test_box(void** unused) {
  (void)unused;
  Run run = run_text_with(BOX, NULL);
  for (int k = 0; ALL[k]; k++) {
    run.def.simulate.smooth = ALL[k];
    if (is_absent(ALL[k])) {
      continue;
    }
    run_to(&run, 1, 1e-2);
    double stop = 2 / (0.3 * 9.81);
    assert_int_equal(run_events(&run), 4);
    event_is(&run, 0, stop, "pp", "slip", "stick", 1e-9);
    event_is(&run, 3, stop, "mm", "slip", "stick", 1e-9);
    check_state(&run, (double[]){stop, 0, 0, 0, 0, 0}, (double[6]){0}, 1e-9);
    CHECK_NEAR(pawl_sim_summary(run.sim).energy_max_drift, 0.0, 1e-8);
    assert_string_equal(pawl_sim_warning(run.sim), "");  // four corners are no mistake
  }
  run_end(&run);
}

// Nor are they in time stepping, sliding and at rest.
static void test_box_in_steps(void** unused) {
  (void)unused;
  static const char* const steps[] = {"nsga-pva", "nsga-pvv", "moreau-jean", NULL};
  Run run = run_text_with(BOX, NULL);
  for (int k = 0; steps[k]; k++) {
    run.def.simulate.method = steps[k];
    run_to(&run, 1, 1e-2);
    CHECK_NEAR(pawl_sim_state(run.sim)->v[0], 0.0, 1e-12);
    assert_string_equal(pawl_sim_warning(run.sim), "");
  }
  run_end(&run);
}

// Rates of x, y, psi and of their rates, with the loads N/4 + A X + B Y that balance the moments:
// springs of the same stiffness under a rigid box.                                          (F28)
static void box_rates(const double* y, double* rate) {
  const double m = 2, N = 2 * 9.81, mu = 0.3, c = 0.05, X[] = {0.2, 0.2, -0.2, -0.2},
               Y[] = {0.1, -0.1, 0.1, -0.1};
  double d[4][2], E[2][2] = {{0}}, e[2] = {0}, F[2] = {0}, torque = 0;
  double u = y[3] * cos(y[2]) + y[4] * sin(y[2]), v = y[4] * cos(y[2]) - y[3] * sin(y[2]);
  for (int i = 0; i < 4; i++) {
    double s[2] = {u - Y[i] * y[5], v + X[i] * y[5]}, size = hypot(s[0], s[1]);
    d[i][0] = s[0] / size;
    d[i][1] = s[1] / size;
    double arm[2] = {X[i] - c * mu * d[i][0], Y[i] - c * mu * d[i][1]};
    for (int k = 0; k < 2; k++) {
      E[k][0] += X[i] * arm[k];
      E[k][1] += Y[i] * arm[k];
      e[k] -= N / 4 * arm[k];
    }
  }
  double det = E[0][0] * E[1][1] - E[0][1] * E[1][0];
  double A = (e[0] * E[1][1] - e[1] * E[0][1]) / det, B = (E[0][0] * e[1] - E[1][0] * e[0]) / det;
  for (int i = 0; i < 4; i++) {
    double load = N / 4 + A * X[i] + B * Y[i], f[2] = {-mu * load * d[i][0], -mu * load * d[i][1]};
    F[0] += f[0] * cos(y[2]) - f[1] * sin(y[2]);
    F[1] += f[0] * sin(y[2]) + f[1] * cos(y[2]);
    torque += X[i] * f[1] - Y[i] * f[0];
  }
  memcpy(rate, y + 3, 3 * sizeof(double));
  rate[3] = F[0] / m;
  rate[4] = F[1] / m;
  rate[5] = torque / (m * (0.04 + 0.01) / 3);
}

static void box_step(double h, double* y) {
  double k[4][6], at[6];
  static const double part[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  for (int s = 0; s < 4; s++) {
    for (int i = 0; i < 6; i++) {
      at[i] = y[i] + (s > 0 ? h * part[s] * k[s - 1][i] : 0);
    }
    box_rates(at, k[s]);
  }
  for (int s = 0; s < 4; s++) {
    for (int i = 0; i < 6; i++) {
      y[i] += h * weight[s] * k[s][i];
    }
  }
}

// With spin the shares decide how it turns.
static void test_spinning_box(void** unused) {
  (void)unused;
  Run run = {0};
  const char* parameters[] = {"w=10", "vy=0.5"};
  double y[6] = {0, 0, 0, 2, 0.5, 10};
  run_need(&run,
           pawl_model_parse(BOX, strlen(BOX), "test.yaml", 2, parameters, &run.model, &run.err));
  run_derive(&run);
  run.def.simulate.smooth = "dopri";
  run.def.simulate.rtol = 1e-11;
  run.def.simulate.atol = 1e-12;
  for (int k = 0; k < 2000; k++) {
    box_step(0.6 / 2000, y);
  }
  run_to(&run, 0.6, 1e-2);
  check_state(&run, (double[]){y[0], y[1], y[2], 0, 0, 0}, (double[]){y[3], y[4], y[5], 0, 0, 0},
              1e-9);
  const double* lambda = pawl_sim_multipliers(run.sim);
  CHECK_NEAR(lambda[8] - lambda[9] - lambda[10] + lambda[11], 0.0, 1e-9);
  assert_non_null(strstr(pawl_sim_warning(run.sim), "as springs of the same stiffness would"));
  run_to(&run, 1, 1e-2);
  assert_int_equal(run_events(&run), 4);  // it stops turning where it stops
  event_is(&run, 3, run_event(&run, 0)->t, "mm", "slip", "stick", 1e-9);
  CHECK_NEAR(pawl_sim_summary(run.sim).energy_max_drift, 0.0, 1e-9);
  run_end(&run);
}

// Time stepping comes to the same shares, and so to the same stop, says that they are a choice, and
// logs nothing of corners that rest on the floor but where they stick.                      (F28)
static void test_spin_in_steps(void** unused) {
  (void)unused;
  static const char* const steps[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
  Run run = run_text_with(BOX, "w=10");
  run_to(&run, 1, 1e-2);
  double stop = run_event(&run, 0)->t, psi = pawl_sim_state(run.sim)->q[2];
  for (int k = 0; k < 6; k++) {
    double h = k < 3 ? 1e-2 : 1e-3;
    run.def.simulate.method = steps[k % 3];
    run_to(&run, 1, h);
    assert_int_equal(run_events(&run), 4);
    event_is(&run, 3, stop, "mm", "slip", "stick", 1.1 * h);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[2], psi, 4 * h);
    assert_non_null(strstr(pawl_sim_warning(run.sim), "'mm' (row 1) share their load"));
  }
  run_end(&run);
}

// Directions turn ever faster towards the stop, at all four corners. With the tangents of that
// Newton's method needs few iterations; without them it does not end.                       (F30)
static void test_implicit_spin(void** unused) {
  (void)unused;
  static const char* const implicit[] = {"ga-v", "ga-a", "ga-pv", "ga-pva", "ida", NULL};
  Run run = run_text_with(BOX, "w=10");
  run_to(&run, 1, 1e-2);
  double stop = run_event(&run, 0)->t;
  run.def.simulate.iterations = 7;
  for (int k = 0; implicit[k]; k++) {
    run.def.simulate.smooth = implicit[k];
    bool ida = strcmp(implicit[k], "ida") == 0;
    run.def.simulate.rtol = 1e-9;
    for (int rho = 0; rho <= 2 && !is_absent(implicit[k]); rho++) {
      run.def.simulate.rho = rho / 2.0;
      run_to(&run, 1, 1e-2);
      assert_int_equal(run_events(&run), 4);
      event_is(&run, 3, stop, "mm", "slip", "stick", ida ? 1e-7 : 2e-4);
      assert_int_equal(pawl_sim_summary(run.sim).smaller_steps, 0);
    }
  }
  run_end(&run);
}

// Far from its middle one corner carries nothing, and three of them all: the shift of the load by
// mu c is beyond the kernel, and the box does not tip.
static void test_unloaded_corner(void** unused) {
  (void)unused;
  Run run = {0};
  const char* parameters[] = {"c=0.35", "vy=2"};
  run_need(&run,
           pawl_model_parse(BOX, strlen(BOX), "test.yaml", 2, parameters, &run.model, &run.err));
  run_derive(&run);
  run_to(&run, 1, 1e-3);
  double stop = 2 * sqrt(2) / (0.3 * 9.81);
  check_state(&run, (double[]){stop, stop, 0, 0, 0, 0}, (double[6]){0}, 1e-9);
  event_is(&run, 0, 0, "mm", "slip", "open", 0);
  event_is(&run, 1, stop, "pp", "slip", "stick", 1e-9);
  run_end(&run);
}

// A disc of 30 kg rests in a corner of floor and wall; another one that does not touch it is let go
// in a corner of its own. What opens there, beyond zero by what the instant is late, has no share
// of its forces within the cones, and the first goes on to carry its weight m g on the floor alone.
static void test_rest_beside_what_opens(void** unused) {
  (void)unused;
  Run run = run_text_with(
      "model: corners\n"
      "parameters: {r: 0.1, mu: 0.2}\n"
      "coordinates: {x1: {start: r}, y1: {start: r}, p1: , x2: {start: 0.9}, y2: {start: r}, p2: "
      ",\n"
      "  px: {start: 0.2}, py: {start: r, rate: 1}}\n"
      "mass: {x1: 2, y1: 2, p1: 0.01, x2: 30, y2: 30, p2: 0.15, px: 1, py: 1}\n"
      "potential: 9.81*(2*y1 + 30*y2)\n"
      "forces: {px: \"-20*tanh((0.5 - t)/1e-9)\"}\n"
      "contacts:\n"
      "  f1: {gap: y1 - r, friction: mu, slip: \"x1' + r*p1'\"}\n"
      "  w1: {gap: x1 - r, friction: mu, slip: \"y1' - r*p1'\"}\n"
      "  f2: {gap: y2 - r, friction: mu, slip: \"x2' + r*p2'\"}\n"
      "  w2: {gap: 0.9 - x2, friction: mu, slip: \"y2' + r*p2'\"}\n"
      "  c: {gap: px - x1 - r, friction: mu, slip: \"py' - y1' - r*p1'\"}\n"
      "events: {drop: {when: lambda(f2) - 280, direction: down, impulse: {x2: -30}}}\n",
      NULL);
  run_to(&run, 0.7, 2e-3);
  const PawlState* state = pawl_sim_state(run.sim);
  CHECK_NEAR(state->q[3], 0.9, 1e-12);
  for (int k = 0; k < run_events(&run); k++) {
    assert_string_not_equal(run_event(&run, k)->constraint, "drop");
  }
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many),
      cmocka_unit_test(test_twice),
      cmocka_unit_test(test_box),
      cmocka_unit_test(test_box_in_steps),
      cmocka_unit_test(test_spinning_box),
      cmocka_unit_test(test_implicit_spin),
      cmocka_unit_test(test_spin_in_steps),
      cmocka_unit_test(test_unloaded_corner),
      cmocka_unit_test(test_rest_beside_what_opens),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
