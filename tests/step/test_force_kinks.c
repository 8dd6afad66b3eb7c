// SPDX-License-Identifier: Apache-2.0
// Kinks of forces: located, so that methods keep their order across them; seen when a step only
// visits the other side; and not chattered at for ever.
#include <math.h>

#include "step/motion.h"

// ---- order --------------------------------------------------------------------------------------
// x'' = -x - 10 max(0, x), x(0) = 0, x'(0) = 1: half periods pi/sqrt(11) above and pi below, and
// speed 1 at each zero.
static const char STOP[] =
    "model: stop\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
    "potential: x^2/2 + 5*max(0, x)^2\n";
// x'' = -sign(x), x(0) = 1: parabolas, period 4 sqrt(2).
static const char WEDGE[] =
    "model: wedge\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\nforces: {x: -sign(x)}\n";

static double stop_at(double t) {
  double pi = acos(-1.0), above = pi / sqrt(11.0), rest = fmod(t, pi + above);
  return rest < above ? sin(sqrt(11.0) * rest) / sqrt(11.0) : -sin(rest - above);
}

static double wedge_at(double t) {
  double quarter = sqrt(2.0), rest = fmod(t, 4 * quarter);
  double s = rest < quarter ? rest : rest < 3 * quarter ? rest - 2 * quarter : rest - 4 * quarter;
  return (rest < quarter || rest >= 3 * quarter ? 1.0 : -1.0) * (1 - s * s / 2);
}

static double error_of(const char* text, const char* method, double until, int steps,
                       double (*exact)(double t)) {
  Motion m = motion_text(text);
  motion_run(&m, method, until, steps, NULL);
  double error = fabs(m.state->q[0] - exact(until));
  motion_end(&m);
  return error;
}

static void test_rk4_keeps_its_order(void** unused) {
  (void)unused;
  double coarse = error_of(STOP, "rk4", 10, 401, stop_at);
  double fine = error_of(STOP, "rk4", 10, 802, stop_at);
  CHECK_NEAR(log2(coarse / fine), 4.0, 0.3);
  assert_true(error_of(WEDGE, "rk4", 10, 37, wedge_at) < 1e-10);  // exact between the kinks
}

static void test_tolerances_hold(void** unused) {
  (void)unused;
  static const char* const methods[] = {"dopri", "event-driven"
#ifdef PAWL_WITH_SUNDIALS
                                        ,
                                        "ark", "ida"
#endif
  };
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    assert_true(error_of(WEDGE, methods[k], 10, 100, wedge_at) < 1e-8);  // rtol is 1e-9
  }
  assert_true(error_of(STOP, "dopri", 10, 100, stop_at) < 1e-8);
}

// The step is cut where the force jumps and nowhere else: between the jumps dopri, exact for
// parabolas, takes one step of 7 evaluations for each of the 100, and the search of a crossing
// takes a few of them again.
static void test_few_steps_are_refused(void** unused) {
  (void)unused;
  Motion m = motion_text(WEDGE);
  motion_run(&m, "dopri", 10, 100, NULL);
  long long evaluations = pawl_stepper_info(m.stepper).evaluations;
  if (evaluations > 1500) {
    fail_msg("%lld evaluations", evaluations);
  }
  motion_end(&m);
}

// ---- visits within a step -----------------------------------------------------------------------
// A throw that touches a stiff spring near its top, for 0.03 s in a step of 0.25 s. Against h =
// 1e-3.
static void test_visit_is_seen(void** unused) {
  (void)unused;
  static const char text[] =
      "model: touch\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
      "forces: {x: \"-1 - 1000*max(0, x - 0.4999)\"}\n";
  double x[2];
  for (int k = 0; k < 2; k++) {
    Motion m = motion_text(text);
    motion_run(&m, "dopri", 2, k == 0 ? 8 : 2000, NULL);
    x[k] = m.state->q[0];
    motion_end(&m);
  }
  CHECK_NEAR(x[0], x[1], 1e-9);
  assert_true(fabs(x[1]) > 1e-3);  // without the spring it would be back at 0
}

// ---- chattering ---------------------------------------------------------------------------------
// m x'' = 0.3 - sign(x') comes to rest at t = 1/0.7 and stays, x = 0.5/0.7.
static void test_sticking_ends_and_is_named(void** unused) {
  (void)unused;
  static const char* const methods[] = {"rk4", "dopri"};
  for (int k = 0; k < 2; k++) {
    Motion m = motion_text(
        "model: stick\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\nforces: {x: 0.3 - sign(x')}\n");
    motion_run(&m, methods[k], 2, 200, NULL);
    CHECK_NEAR(m.state->q[0], 0.5 / 0.7, 1e-3);  // of order 1: it creeps by less than the step
    assert_true(fabs(m.state->v[0]) < 0.01 / 4);
    assert_non_null(strstr(pawl_stepper_warning(m.stepper), "sign(x') in the forces drives"));
    motion_end(&m);
  }
}

// A condition that is zero where the motion sticks fires a few times and is still then; once the
// load of t - 2 moves it again, it is farther from zero, and fires where it turns.
static void test_conditions_where_it_sticks(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: stick\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
      "forces: {x: \"if(t < 5, max(0.3, t - 2), -4) - sign(x')\"}\nevents: {still: {when: x'}}\n");
  double last = 0.0;
  int before = 0, after = 0;
  motion_start(&m, "rk4");
  for (int k = 0; k < 700; k++) {
    motion_step(&m, 0.01);
    for (int i = 0; i < pawl_stepper_instants(m.stepper); i++) {
      last = pawl_stepper_instant(m.stepper, i)->t;
      before += last < 3.0;
      after += last >= 3.0;
    }
  }
  assert_in_range(before, 1, 4);
  assert_int_equal(after, 1);
  CHECK_NEAR(last, 5 + 2.0 / 5, 0.01);  // x'(5) = 2^2/2, and then x'' = -5
  motion_end(&m);
}

// It moves on when the load is larger than the friction, and is located again.
static void test_leaves_where_it_sticks(void** unused) {
  (void)unused;
  Motion m =
      motion_text("model: go\ncoordinates: {x: }\nmass: {x: 1}\nforces: {x: t - sign(x')}\n");
  motion_run(&m, "rk4", 2, 200, NULL);
  CHECK_NEAR(m.state->q[0], 1.0 / 6, 2e-2);  // x'' = t - 1 from t = 1: (t - 1)^3/6
  CHECK_NEAR(m.state->v[0], 0.5, 2e-2);
  motion_end(&m);
}

// A kink that guards a domain is left as it is: the branch x^1.5 has no value beyond its border.
// The ball comes back with the speed it had.
static void test_guards_of_domains(void** unused) {
  (void)unused;
  static const char* const forces[] = {"-1e3*max(0, x)^1.5", "if(x > 0, -1e3*x^1.5, 0)",
                                       "-500*(1 + sign(x))*abs(x)^1.5"};
  static const char* const methods[] = {"rk4", "dopri", "event-driven", "ga-p", "auto"};
  for (size_t f = 0; f < sizeof forces / sizeof *forces; f++) {
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
      char text[200];
      snprintf(text, sizeof text,
               "model: hertz\ncoordinates: {x: {start: -0.1, rate: 1}}\nmass: {x: 1}\n"
               "forces: {x: \"%s\"}\n",
               forces[f]);
      Motion m = motion_text(text);
      motion_run(&m, methods[k], 1.0, 4000, NULL);
      CHECK_NEAR(m.state->v[0], -1.0, 1e-4);
      motion_end(&m);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_guards_of_domains),
      cmocka_unit_test(test_rk4_keeps_its_order),
      cmocka_unit_test(test_tolerances_hold),
      cmocka_unit_test(test_few_steps_are_refused),
      cmocka_unit_test(test_visit_is_seen),
      cmocka_unit_test(test_sticking_ends_and_is_named),
      cmocka_unit_test(test_conditions_where_it_sticks),
      cmocka_unit_test(test_leaves_where_it_sticks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
