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

// ---- dynamic jam --------------------------------------------------------------------------------
typedef struct Jam {
  double t, th, w;
} Jam;

// n = g - l sin(th) w^2 and y of the rod, and N = n/y turns it with k N.
static void rates(double mu, const double* x, double* out) {
  double l = 0.5, s = sin(x[1]), c = cos(x[1]), k = 3 * (mu * s - c) / l;
  double y = 1 - l * c * k, n = 9.81 - l * s * x[2] * x[2];
  out[0] = y, out[1] = x[2] * y, out[2] = k * n;
}

// In the time tau, dt = y dtau, until nothing is left of y: by Runge and Kutta in even steps. (F36)
static Jam jam_of(double mu, double th, double w) {
  double x[3] = {0, th, w}, h = 1e-3;
  for (int i = 0; i < 4000; i++) {
    double k[4][3], at[3];
    for (int stage = 0; stage < 4; stage++) {
      double part = stage == 0 ? 0 : stage == 3 ? h : h / 2;
      for (int j = 0; j < 3; j++) {
        at[j] = x[j] + (stage > 0 ? part * k[stage - 1][j] : 0);
      }
      rates(mu, at, k[stage]);
    }
    for (int j = 0; j < 3; j++) {
      x[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    }
  }
  return (Jam){x[0], x[1], x[2]};
}

// The tip slips to where its friction is critical, and lifts off there: by every method, planar and
// in space.
static void test_jams(void** unused) {
  (void)unused;
  // mu, angle, its rate, speed of the tip; and what 1e-11 of y leaves of w, y^(c/k)
  static const double starts[][5] = {{1.6, 0.7421, 2.66, 3.92, 1e-7},
                                     {2, 0.4695, 3.69, 3.466, 1e-3},
                                     {1.6, 0.7066, 1.662, 3.93, 1e-7}};
  static const struct Way {
    const char *smooth, *slip;
    double tolerance;
  } ways[] = {{"dopri", PLANE, 1e-10}, {"rk4", PLANE, 2e-8},    {"ark", PLANE, 1e-7},
              {"ida", PLANE, 1e-7},    {"ga-pva", PLANE, 1e-4}, {"dopri", SPACE, 1e-8}};
  for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
    Jam jam = jam_of(starts[k][0], starts[k][1], starts[k][2]);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
      Run run = rod(ways[i].slip, starts[k][0], starts[k][1], starts[k][2], starts[k][3]);
      run.def.simulate.smooth = ways[i].smooth;
      if (!is_absent(ways[i].smooth)) {
        run_to(&run, 0.1, 1e-3);
        assert_int_equal(run_events(&run), 1);
        event_is(&run, 0, jam.t, "tip", "slip", "open", ways[i].tolerance);
        assert_non_null(strstr(pawl_sim_warning(run.sim), "a dynamic jam"));
        CHECK_NEAR(pawl_sim_state(run.sim)->q[3], jam.th + jam.w * (0.1 - jam.t),
                   0.1 * starts[k][4] + 300 * ways[i].tolerance);
      }
      run_end(&run);
    }
  }
}

// Fourteen such rods whose centres are tied to each other do the same: the parts of many contacts
// are found at once.                                                                        (F47)
static void test_many_jam(void** unused) {
  (void)unused;
  Jam jam = jam_of(1.6, 0.7421, 2.66);
  Run run = run_text_with(
      "model: rods\n"
      "parameters: {N: 14, l: 0.5, mu: 1.6, th0: 0.7421, w: 2.66, u: 3.92}\n"
      "coordinates:\n"
      "  x[i=1..N]: {rate: -u - l*sin(th0)*w}\n"
      "  y[i=1..N]: {start: l*sin(th0), rate: l*cos(th0)*w}\n"
      "  th[i=1..N]: {start: th0, rate: w}\n"
      "mass: {'x[i=1..N]': 1, 'y[i=1..N]': 1, 'th[i=1..N]': l^2/3}\n"
      "potential: {for i=1..N: '9.81*y[i]'}\n"
      "constraints: {'tie[i=2..N]': 'x[i] = x[i-1]'}\n"
      "contacts: {'tip[i=1..N]': {gap: 'y[i] - l*sin(th[i])', friction: mu,\n"
      "  slip: 'x[i] - l*cos(th[i])'}}\n",
      NULL);
  run.def.simulate.smooth = "rk4";
  run_to(&run, 0.03, 1e-3);
  assert_int_equal(run_events(&run), 14);
  for (int k = 0; k < 14; k++) {
    CHECK_NEAR(run_event(&run, k)->t, jam.t, 1e-7);
    assert_string_equal(run_event(&run, k)->to, "open");
  }
  assert_non_null(strstr(pawl_sim_warning(run.sim), "a dynamic jam"));
  run_end(&run);
}

static void test_jam_refused(void** unused) {
  (void)unused;
  Run run = rod(PLANE, 1.6, 0.7421, 2.66, 3.92);
  run.def.simulate.painleve = "refuse";
  assert_int_equal(run_try(&run, 0.1, 1e-3), PAWL_ERROR_RUN);
  assert_non_null(strstr(run.err.message, "contact 'tip' comes to its critical friction"));
  run_end(&run);
}

// ---- two contacts that slip ---------------------------------------------------------------------
// A body on two feet, b below its centre, of which it stands a[k] aside: accelerations and loads
// where both slip with the direction d.
static const char FEET[] =
    "model: feet\n"
    "parameters: {J: 0.05, a: -0.3, A: -0.7, b: 0.7, mu: 0.8, MU: 0.1, u: -1, X: 4, Y: -5, W: 0}\n"
    "coordinates: {x: {rate: u}, y: {start: b}, th: }\n"
    "mass: {x: 1, y: 1, th: J}\n"
    "forces: {x: X, y: Y, th: W}\n"
    "contacts:\n"
    "  p: {gap: y + a*sin(th) - b*cos(th), friction: mu, slip: x + a*cos(th) + b*sin(th)}\n"
    "  q: {gap: y + A*sin(th) - b*cos(th), friction: MU, slip: x + A*cos(th) + b*sin(th)}\n";

static Run feet(int count, const char* const* overrides) {
  Run run = {0};
  run_need(&run, pawl_model_parse(FEET, strlen(FEET), "test.yaml", count, overrides, &run.model,
                                  &run.err));
  run_derive(&run);
  return run;
}

// One foot alone is beyond its critical friction, and the other yields the wrong way while it is
// held; both together are not: loads 3.539 and 1.461, with all of y and th at rest.         (F44)
static void test_two_feet_slide_on(void** unused) {
  (void)unused;
  static const char* const ways[] = {"dopri", "rk4", "ga-pva"};
  for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
    Run run = feet(0, NULL);
    run.def.simulate.smooth = ways[k];
    run_to(&run, 0.1, 1e-2);
    const double* lambda = pawl_sim_multipliers(run.sim);
    double p = 315.0 / 89.0, q = 130.0 / 89.0;
    assert_int_equal(run_events(&run), 0);
    assert_string_equal(pawl_sim_warning(run.sim), "");
    CHECK_NEAR(lambda[2], p, 1e-9);
    CHECK_NEAR(lambda[3], q, 1e-9);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[0], -0.1 + (4 + 0.8 * p + 0.1 * q) * 0.005, 1e-12);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[1], 0.7, 1e-12);
    run_end(&run);
  }
}

// Dragged at the level of its feet: both carry half of the weight, or one does all and has no
// stable motion, det < 0. It slides on, and that there are several is told.                 (F43)
static void test_stable_motion_is_taken(void** unused) {
  (void)unused;
  static const char* const dragged[] = {"a=-0.3", "A=0.3",   "b=1",     "mu=0.6", "MU=0.6",
                                        "u=1",    "X=5.886", "Y=-9.81", "W=5.886"};
  Run run = feet(9, dragged);
  run_to(&run, 0.5, 1e-2);
  assert_int_equal(run_events(&run), 0);
  assert_non_null(strstr(pawl_sim_warning(run.sim), "several sets of forces hold contact"));
  assert_non_null(strstr(pawl_sim_warning(run.sim), "a stable motion is taken"));
  check_state(&run, (double[]){0.5, 1, 0}, (double[]){1, 0, 0}, 1e-9);
  run_end(&run);
}

// Three motions, each with a foot or both on the ground; that with both is not stable, though none
// is beyond its critical friction by itself. Nothing goes into the ground.                 (F43)
static void test_none_opens_into_the_ground(void** unused) {
  (void)unused;
  static const char* const three[] = {"J=2.13", "a=-0.48",  "A=0.106", "b=0.818",  "mu=3",
                                      "MU=0.1", "u=-1.136", "X=4.083", "Y=-3.523", "W=-2.768"};
  Run run = feet(10, three);
  run_to(&run, 0.02, 1e-2);
  const double* q = pawl_sim_state(run.sim)->q;
  double least = fmin(-0.48 * sin(q[2]), 0.106 * sin(q[2])) + q[1] - 0.818 * cos(q[2]);
  assert_non_null(strstr(pawl_sim_warning(run.sim), "slips beside others (Painleve)"));
  assert_int_equal(run_events(&run), 0);
  assert_true(least > -1e-12);
  run_end(&run);
}

// A pad that pulls itself against a belt locks where its friction has grown to h/a: what presses it
// does not vanish, it does not lift off, and there is no impact that could stop the belt.   (F44)
static void test_pad_locks(void** unused) {
  (void)unused;
  Run run = run_text_with(
      "model: pad\n"
      "coordinates: {th: , w: }\n"
      "mass: {th: 0.2, w: 1}\n"
      "forces: {th: -2}\n"
      "contacts: {pad: {gap: 0.3*sin(th) - 0.5*cos(th) + 0.5, friction: 0.5 + 0.2*t,\n"
      "  slip: \"(0.5*cos(th) + 0.3*sin(th))*th' + 1\"}}\n",
      NULL);
  assert_int_equal(run_try(&run, 1.0, 1e-2), PAWL_ERROR_RUN);
  assert_non_null(strstr(run.err.message,
                         "t = 0.5: no forces, and no impact without a collision, "
                         "hold contact 'pad'"));
  CHECK_NEAR(pawl_sim_state(run.sim)->q[0], 0.0, 1e-9);
  run_end(&run);
}

// ---- from rest ----------------------------------------------------------------------------------
// A body at rest that touches at two points begins to slip on the rough one, beyond its critical
// friction, pressed by the smooth one. Without the latter friction alone would hold the forces, but
// only of a slip the other way: that is no motion, and there are not several.               (F37)
static void test_begins_beyond(void** unused) {
  (void)unused;
  Run run = run_text_with(
      "model: begins\n"
      "coordinates: {x: , y: , f: }\n"
      "mass: {x: 1, y: 1, f: 0.2113}\n"
      "forces: {x: -9.389, y: -0.0994, f: -4.639}\n"
      "define:\n"
      "  X: x + 0.629*(cos(f) - 1) + 0.811*sin(f)\n"
      "  Y: y + 0.629*sin(f) - 0.811*(cos(f) - 1)\n"
      "contacts:\n"
      "  rough: {gap: -0.7761*X + 0.6306*Y, friction: 3, slip: -0.6306*X - 0.7761*Y}\n"
      "  smooth: {gap: \"0.9651*(x + 0.8306*(cos(f) - 1) + 0.4239*sin(f)) - "
      "0.2618*(y + 0.8306*sin(f) - 0.4239*(cos(f) - 1))\"}\n",
      NULL);
  run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
  assert_string_equal(pawl_sim_warning(run.sim), "");
  double rough = pawl_sim_state(run.sim)->lambda[1];  // by solving both rows: slips forward, mu = 3
  double smooth = pawl_sim_state(run.sim)->lambda[2];
  CHECK_NEAR(rough, 0.557, 2e-3);
  CHECK_NEAR(smooth, 9.948, 2e-3);
  run_end(&run);
}

// ---- several motions at rest --------------------------------------------------------------------
// A rod that is pulled aside and up, its tip at rest on a floor: with mu = 2 it may stick, slip
// back, or fly. A block between two walls may be held or fall; two contacts below a plate may jam.
// A floor that cannot be beyond: one motion. (F45)
static const char* const AT_REST[][2] = {
    {"model: rod\nparameters: {mu: 2}\n"
     "coordinates: {x: , y: {start: sin(0.9)}, th: {start: 0.9}}\n"
     "mass: {x: 1, y: 1, th: 1/3}\nforces: {x: -5, y: 0.5}\n"
     "contacts: {tip: {gap: y - sin(th), friction: mu, slip: x - cos(th)}}\n"
     "simulate: {until: 0.1, step: 0.01}\n",
     "'tip' has 1.353"},
    {"model: wedge\ncoordinates: {x: , y: }\nmass: {x: 1, y: 1}\npotential: 9.81*y\n"
     "contacts:\n  l: {gap: x, friction: 0.3, slip: y}\n  r: {gap: -x, friction: 0.3, slip: y}\n"
     "simulate: {until: 0.1, step: 0.01}\n",
     "'l'"},
    {"model: block\ncoordinates: {x: , y: , f: }\nmass: {x: 1, y: 1, f: 0.4}\n"
     "potential: 9.81*y\nforces: {x: 2}\ncontacts:\n"
     "  l: {gap: y - sin(f), friction: 0.5, slip: x}\n"
     "  r: {gap: y + sin(f), friction: 0.5, slip: x}\nsimulate: {until: 0.1, step: 0.01}\n",
     NULL}};
enum { AT_REST_COUNT = sizeof AT_REST / sizeof *AT_REST };

static int count_of(const char* text, const char* part) {
  int count = 0;
  for (const char* at = strstr(text, part); at; at = strstr(at + 1, part)) {
    count++;
  }
  return count;
}

// Told once, and what is taken stays: all stick.
static void test_several_are_told(void** unused) {
  (void)unused;
  static const char* const methods[] = {"event-driven", "nsga-pva", "nsga-pvv", "moreau-jean"};
  for (int k = 0; k < AT_REST_COUNT; k++) {
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
      Run run = run_text_with(AT_REST[k][0], NULL);
      run.def.simulate.method = methods[i];
      run_to(&run, 0.1, 0.01);
      const char* warning = pawl_sim_warning(run.sim);
      assert_int_equal(count_of(warning, "obey the laws"), AT_REST[k][1] != NULL);
      assert_true(!AT_REST[k][1] || strstr(warning, AT_REST[k][1]));
      assert_null(strstr(warning, "and others"));
      const double *q = pawl_sim_state(run.sim)->q, *v = pawl_sim_state(run.sim)->v;
      bool rod = k == 0;
      CHECK_NEAR(v[0] + (rod ? sin(q[2]) * v[2] : 0.0), 0.0, rod ? 2e-3 : 1e-12);
      CHECK_NEAR(v[1] - (rod ? cos(q[2]) * v[2] : 0.0), 0.0, rod ? 2e-3 : 1e-12);
      run_end(&run);
    }
  }
}

static void test_several_are_refused(void** unused) {
  (void)unused;
  for (int k = 0; k < AT_REST_COUNT; k++) {
    Run run = run_text_with(AT_REST[k][0], NULL);
    run.def.simulate.painleve = "refuse";
    bool refused = AT_REST[k][1] != NULL;
    assert_int_equal(run_try(&run, 0.1, 0.01), refused ? PAWL_ERROR_RUN : PAWL_OK);
    assert_true(!refused || strstr(run.err.message, "several accelerations"));
    assert_true(!refused || strstr(run.err.message, AT_REST[k][1]));
    run_end(&run);
  }
}

// A disc that spins falls into a groove: both sides, or one of them, may stop it.
static void test_several_after_an_impact(void** unused) {
  (void)unused;
  static const char text[] =
      "model: groove\nparameters: {mu: 1.3, a: 50*deg}\n"
      "coordinates: {x: , y: {start: 0.1/cos(a)}, phi: {rate: 40}}\n"
      "mass: {x: 1.5, y: 1.5, phi: 0.0075}\npotential: 1.5*9.81*y\ncontacts:\n"
      "  L: {gap: \"x*sin(a) + y*cos(a) - 0.1\", restitution: 0.3, friction: mu,\n"
      "      slip: \"x'*cos(a) - y'*sin(a) + 0.1*phi'\"}\n"
      "  R: {gap: \"-x*sin(a) + y*cos(a) - 0.1\", restitution: 0.3, friction: mu,\n"
      "      slip: \"x'*cos(a) + y'*sin(a) + 0.1*phi'\"}\nsimulate: {step: 0.01}\n";
  Run run = run_text_with(text, NULL);
  run_to(&run, 0.5, 0.01);
  assert_int_equal(count_of(pawl_sim_warning(run.sim), "several velocities after the impact"), 1);
  run_end(&run);
}

// ---- time stepping ------------------------------------------------------------------------------
// The rod of (F25) at the start of a run, or as its friction grows while it slips: a step stops it,
// which is told and logged as event-driven has it, to O(h). Below the critical friction nothing is.
//                                                                                            (T35)
static void check_step(const char* method, const char* mu, double from, double th) {
  char text[800];
  snprintf(text, sizeof text,
           "model: rod\nparameters: {l: 0.5, th0: %.17g}\n"
           "coordinates: {x: {rate: -2}, y: {start: l*sin(th0)}, th: {start: th0}}\n"
           "mass: {x: 1, y: 1, th: l^2/3}\npotential: 9.81*y\n"
           "contacts: {tip: {gap: y - l*sin(th), friction: \"%s\", slip: x - l*cos(th)}}\n",
           th, mu);
  Run run = run_text_with(text, NULL);
  double lost[2], times[2];
  for (int k = 0; k < 2; k++) {
    run.def.simulate.method = k == 0 ? "event-driven" : method;
    run_need(&run, run_try(&run, from + 0.01, 1e-4));
    const char* warning = pawl_sim_warning(run.sim);
    const char* told = strstr(warning, "slips with ");
    assert_non_null(strstr(warning, "an impact without a collision"));
    assert_non_null(told);
    times[k] = atof(told + strlen("slips with "));
    assert_int_equal(run_events(&run), 1);
    bool starts = k == 0 && from == 0;
    const PawlEvent* hit = event_is(&run, 0, from, "tip", starts ? "open" : "slip", "hit", 2e-4);
    lost[k] = hit->energy_lost;
    assert_true(hit->impulse[0] > 0.5);
    CHECK_NEAR(pawl_sim_summary(run.sim).works[PAWL_WORK_JUMPS], -lost[k], 1e-9);
  }
  CHECK_NEAR(times[1], times[0], 1e-4);
  CHECK_NEAR(lost[1], lost[0], 1e-3);
  run.def.simulate.painleve = "refuse";
  assert_int_equal(run_try(&run, from + 0.01, 1e-4), PAWL_ERROR_RUN);
  assert_non_null(strstr(run.err.message, "times its critical friction (Painleve)"));
  run_end(&run);
}

static void test_steps(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
  for (int k = 0; k < 3; k++) {
    check_step(methods[k], "2", 0, 0.8);
    check_step(methods[k], "3", 0, 0.6);
    check_step(methods[k], "0.3 + 1.9*step(t - 0.0203)", 0.0203, 0.8);
    Run run = rod(PLANE, 1.6, 0.8, 0, 2);  // 0.98 times the critical friction
    run.def.simulate.method = methods[k];
    run_need(&run, run_try(&run, 0.005, 1e-3));
    assert_null(strstr(pawl_sim_warning(run.sim), "Painleve"));
    run_end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shocks),
      cmocka_unit_test(test_jams),
      cmocka_unit_test(test_many_jam),
      cmocka_unit_test(test_jam_refused),
      cmocka_unit_test(test_two_feet_slide_on),
      cmocka_unit_test(test_stable_motion_is_taken),
      cmocka_unit_test(test_none_opens_into_the_ground),
      cmocka_unit_test(test_pad_locks),
      cmocka_unit_test(test_begins_beyond),
      cmocka_unit_test(test_several_are_told),
      cmocka_unit_test(test_several_are_refused),
      cmocka_unit_test(test_several_after_an_impact),
      cmocka_unit_test(test_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
