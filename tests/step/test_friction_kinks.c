// SPDX-License-Identifier: Apache-2.0
// Kinks of friction and capacities: located as those of forces are, held while it slips where rates
// decide on them, and none of them chatters while it sticks.
#include <math.h>

#include "step/rubbing.h"

static const double G = 9.81;
static const char* const SMOOTH[] = {"rk4", "dopri", "ga-pva", NULL};

static double rate(const Run* run) {
  return pawl_sim_state(run->sim)->v[0];
}

static void ended_at(const Run* run, int kinks) {
  assert_int_equal(pawl_sim_summary(run->sim).work.kinks, kinks);
}

// ---- of places ----------------------------------------------------------------------------------
// From mu = 0.5 to 0.05 at x = 1: v1 = sqrt(16 - g) at t1 = (4 - v1)/(g/2), then -0.05 g. Constant
// forces on both sides are exact for every method, of every step.                            (K4)
static void slides_over(const char* rubs, double tolerance) {
  char text[512];
  double v1 = sqrt(16 - G), t1 = (4 - v1) / (0.5 * G), v = v1 - 0.05 * G * (0.6 - t1);
  double x = 1 + (v1 + v) / 2 * (0.6 - t1);
  snprintf(text, sizeof text,
           "model: patch\ncoordinates: {x: {rate: 4}, y: }\nmass: {x: 1, y: 1}\n"
           "potential: 9.81*y\n%s\n",
           rubs);
  Run run = run_text(text);
  for (int k = 0; SMOOTH[k]; k++) {
    run.def.simulate.smooth = SMOOTH[k];
    for (int n = 1; n <= 4; n *= 4) {
      run_to(&run, 0.6, 0.013 / n);
      CHECK_NEAR(rate(&run), v, tolerance);
      CHECK_NEAR(pawl_sim_state(run.sim)->q[0], x, tolerance);
      ended_at(&run, 1);
      balances(&run, 1e-8);
    }
  }
  run_end(&run);
}

static void test_contacts_lock_and_tied_joint(void** unused) {
  (void)unused;
  slides_over("contacts: {f: {gap: y, friction: \"if(x < 1, 0.5, 0.05)\", slip: x}}", 1e-9);
  slides_over(
      "constraints: {rail: y = 0}\n"
      "locks: {f: {lock: x, engaged: true, capacity: \"if(x < 1, 0.5, 0.05)*9.81\"}}",
      1e-9);
  slides_over(
      "constraints: {rail: y = 0}\n"
      "locks: {f: {lock: x, engaged: true, capacity: 9.81, friction: \"if(x < 1, 0.5, "
      "0.05)*9.81\"}}",
      1e-9);
  slides_over(
      "constraints: {rail: y = 0}\n"
      "locks: {f: {lock: x, engaged: true, capacity: \"if(x < 1, 0.5, 0.05)*abs(lambda(rail))\"}}",
      1e-8);  // to which Newton's method of ga-pva finds what it hangs on
}

// The friction of a joint in the rate of a state is that of the branch, too: its impulse is that of
// the motion.
static void test_friction_in_a_state(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: state\ncoordinates: {x: {rate: 4}}\nmass: {x: 1}\nstates: {P: {rate: lambda(f)}}\n"
      "locks: {f: {lock: x, engaged: true, capacity: \"if(x < 1, 0.5, 0.05)*9.81\"}}\n");
  run.def.simulate.smooth = "rk4";
  run_to(&run, 0.6, 0.013);
  CHECK_NEAR(pawl_sim_state(run.sim)->v[1], rate(&run) - 4, 1e-10);
  run_end(&run);
}

// It sticks to a belt of 1 m/s against a pull of 3 N, up to x = 0.3 where mu falls to 0.1.
static void test_sticks_up_to_a_kink(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: belt\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\npotential: 9.81*y\n"
      "forces: {x: -3}\n"
      "contacts: {f: {gap: y, friction: \"if(x < 0.3, 0.5, 0.1)\", slip: \"x' - 1\"}}\n");
  for (int k = 0; SMOOTH[k]; k++) {
    run.def.simulate.smooth = SMOOTH[k];
    run_to(&run, 0.4, 0.013);
    event_is(&run, 0, 0.3, "f", "stick", "slip", 1e-9);
    CHECK_NEAR(rate(&run), 1 - 0.1 * (3 - 0.1 * G), 1e-9);
  }
  run_end(&run);
}

// ---- capacities ---------------------------------------------------------------------------------
// Held against 3 N until the capacity falls to 2 N: of time, and of another place.
static void test_capacities_fall(void** unused) {
  (void)unused;
  static const char* const capacities[] = {"if(t < 0.3, 5, 2)", "if(u < 0.3, 5, 2)"};
  for (int i = 0; i < 2; i++) {
    char text[512];
    snprintf(text, sizeof text,
             "model: fall\ncoordinates: {x: , u: {rate: 1}}\nmass: {x: 1, u: 1}\nforces: {x: 3}\n"
             "locks: {f: {lock: x, engaged: true, capacity: \"%s\"}}\n",
             capacities[i]);
    Run run = run_text(text);
    for (int k = 0; SMOOTH[k]; k++) {
      run.def.simulate.smooth = SMOOTH[k];
      run_to(&run, 0.6, 0.013);
      CHECK_NEAR(rate(&run), 0.3, 1e-9);
      CHECK_NEAR(pawl_sim_state(run.sim)->q[0], 0.045, 1e-9);
      ended_at(&run, 1);
    }
    run_end(&run);
  }
}

// A band of a fiftieth of a step in which it lets go, x'' = 1 for 2 ms, and then holds by 5 N: it
// stops after another 1 ms.
static void test_band_of_a_capacity(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: band\ncoordinates: {x: , u: {rate: 1}}\nmass: {x: 1, u: 1}\nforces: {x: 3}\n"
      "locks: {f: {lock: x, engaged: true, capacity: \"if(0.301 < u and u < 0.303, 2, 5)\"}}\n");
  for (int k = 0; SMOOTH[k]; k++) {
    run.def.simulate.smooth = SMOOTH[k];
    run_to(&run, 0.6, 0.1);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[0], 2e-6 + 1e-6, 1e-14);
    assert_true(rate(&run) == 0.0);
    ended_at(&run, 2);
  }
  run_end(&run);
}

// ---- of slip rates ------------------------------------------------------------------------------
static const char STRIBECK[] =
    "model: stribeck\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\npotential: 9.81*y\n"
    "contacts: {f: {gap: y, friction: \"max(0.2, 0.4 - slip)\", slip: x}}\n";

// -0.2 g down to v = 0.2, then v' = -g (0.4 - v): 0.4 - v = 0.2 exp(g (t - t1)), 0 at g (t - t1) =
// log 2.
static double error_of(Run* run, const char* smooth, double step) {
  double t1 = 0.8 / (0.2 * G);
  run->def.simulate.smooth = smooth;
  run_to(run, 0.45, step);
  ended_at(run, 1);
  return fabs(rate(run) - (0.4 - 0.2 * exp(G * (0.45 - t1))));
}

static void test_orders(void** unused) {
  (void)unused;
  Run run = run_text(STRIBECK);
  run.def.simulate.rtol = 1e-12;
  run.def.simulate.atol = 1e-13;
  assert_true(error_of(&run, "dopri", 0.01) < 1e-9);
  double rk4 = log2(error_of(&run, "rk4", 0.01) / error_of(&run, "rk4", 0.005));
  double alpha = log2(error_of(&run, "ga-pva", 0.01) / error_of(&run, "ga-pva", 0.005));
  CHECK_NEAR(rk4, 4.0, 0.3);
  CHECK_NEAR(alpha, 2.0, 0.3);
  run_end(&run);
}

// It stops, rests, and is pulled by 2 N more each second until it slips again at mu = 0.4. Nothing
// happens while it sticks, and the slip has no kink of its own at zero.
static void test_stops_and_goes(void** unused) {
  (void)unused;
  double stop = 0.8 / (0.2 * G) + log(2.0) / G, go = 0.5 + 0.4 * G / 2;
  char text[sizeof STRIBECK + 64];
  snprintf(text, sizeof text, "%sforces: {x: \"max(0, 2*(t - 0.5))\"}\n", STRIBECK);
  Run run = run_text(text);
  for (int k = 0; EXACT[k]; k++) {
    run.def.simulate.smooth = EXACT[k];
    if (is_absent(EXACT[k])) {
      continue;
    }
    run_to(&run, 3, 1e-3);
    assert_int_equal(run_events(&run), 2);
    event_is(&run, 0, stop, "f", "slip", "stick", 1e-8);
    event_is(&run, 1, go, "f", "stick", "slip", 1e-9);
    ended_at(&run, 3);  // the pull, and v = 0.2 on the way down and up
    assert_string_equal(pawl_sim_warning(run.sim), "");
  }
  run_end(&run);
}

// The same law for a joint along a line that turns, whose slip is no coordinate: the kink of abs is
// held while it slips, and plain while it sticks, where it is zero to rounding. One law for both,
// or the capacity apart: the same motion.                                                    (K4)
#define SLIP "(x*x' + y*y')/sqrt(x^2 + y^2) - 0.3*u'"
static void test_joints_do_not_chatter(void** unused) {
  (void)unused;
  static const char* const laws[] = {"capacity: \"max(1, 2 - 2*abs(" SLIP "))\"",
                                     "capacity: 2, friction: \"max(1, 2 - 2*abs(" SLIP "))\""};
  double v[2];
  for (int i = 0; i < 2; i++) {
    char text[512];
    snprintf(text, sizeof text,
             "model: sleeve\ncoordinates: {x: {start: 1}, y: {rate: 0.7}, u: }\n"
             "mass: {x: 1, y: 1, u: 1}\nforces: {x: 3*sin(2*t), y: -2, u: sin(5*t)}\n"
             "locks: {f: {lock: \"sqrt(x^2 + y^2) - 0.3*u\", engaged: true, %s}}\n",
             laws[i]);
    Run run = run_text(text);
    for (int k = 0; SMOOTH[k]; k++) {
      run.def.simulate.smooth = SMOOTH[k];
      run_to(&run, 8, 0.01);
      assert_string_equal(pawl_sim_warning(run.sim), "");
      ended_at(&run, 1);  // where it slips fast enough
    }
    run.def.simulate.smooth = "dopri";
    run_to(&run, 8, 0.01);
    v[i] = rate(&run);
    balances(&run, 1e-7);
    run_end(&run);
  }
  CHECK_NEAR(v[0], v[1], 1e-12);
}

// ---- branches beyond their border ---------------------------------------------------------------
// 0.4 - 4 slip is negative where a long step looks; a mu that is negative itself ends the run.
static void test_negative_beyond_a_border(void** unused) {
  (void)unused;
  static const char* const friction[] = {"max(0.1, 0.4 - 4*slip)", "if(x < 0.5, 0.1, -0.1)"};
  for (int i = 0; i < 2; i++) {
    char text[512];
    snprintf(text, sizeof text,
             "model: far\ncoordinates: {x: {rate: 0.01}, y: }\nmass: {x: 1, y: 1}\n"
             "potential: 9.81*y\nforces: {x: 5}\n"
             "contacts: {f: {gap: y, friction: \"%s\", slip: x}}\n",
             friction[i]);
    Run run = run_text(text);
    run.def.simulate.smooth = "rk4";
    assert_int_equal(run_try(&run, 2, 0.5), i == 0 ? PAWL_OK : PAWL_ERROR_RUN);
    if (i == 0) {  // v' = 5 - 0.4 g + 4 g v up to v = 0.075, then 5 - 0.1 g; of one long step
      double a = 5 - 0.4 * G, c = 4 * G, t1 = log((a + c * 0.075) / (a + c * 0.01)) / c;
      CHECK_NEAR(rate(&run), 0.075 + (5 - 0.1 * G) * (2 - t1), 1e-3);
    } else {
      assert_non_null(strstr(run.err.message, "the friction of contact 'f' is -0.1, must be"));
    }
    run_end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_contacts_lock_and_tied_joint),
      cmocka_unit_test(test_friction_in_a_state),
      cmocka_unit_test(test_sticks_up_to_a_kink),
      cmocka_unit_test(test_capacities_fall),
      cmocka_unit_test(test_band_of_a_capacity),
      cmocka_unit_test(test_orders),
      cmocka_unit_test(test_stops_and_goes),
      cmocka_unit_test(test_joints_do_not_chatter),
      cmocka_unit_test(test_negative_beyond_a_border),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
