// SPDX-License-Identifier: Apache-2.0
// Kinks of forces at fixed times: steps end there, so methods keep their order across them, and
// nothing is watched on the way.
#include <math.h>

#include "step/motion.h"

static const char* const METHODS[] = {"rk4",
                                      "dopri",
                                      "event-driven",
                                      "taylor",
                                      "exponential"
#ifdef PAWL_WITH_SUNDIALS
                                      ,
                                      "ark",
                                      "ida"
#endif
};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

// ---- order --------------------------------------------------------------------------------------
// x'' = -x + 1 up to t = A, x'' = -x from there.
static const char PUSH[] =
    "model: push\ncoordinates: {x: }\nmass: {x: 1}\npotential: x^2/2\n"
    "forces: {x: \"if(t < 0.3337, 1, 0)\"}\n";
static const double A = 0.3337;

static double push_at(double t) {
  return t < A ? 1 - cos(t) : (1 - cos(A)) * cos(t - A) + sin(A) * sin(t - A);
}

static double error_of_push(const char* method, int steps) {
  Motion m = motion_text(PUSH);
  motion_run(&m, method, 2, steps, NULL);
  double error = fabs(m.state->q[0] - push_at(2));
  motion_end(&m);
  return error;
}

static void test_rk4_keeps_its_order(void** unused) {
  (void)unused;
  double coarse = error_of_push("rk4", 41), fine = error_of_push("rk4", 82);
  CHECK_NEAR(log2(coarse / fine), 4.0, 0.2);
  assert_true(fine < 1e-7);
}

static void test_tolerances_hold(void** unused) {
  (void)unused;
  for (int k = 1; k < METHOD_COUNT; k++) {
    bool of_second_order = strcmp(METHODS[k], "event-driven") == 0;  // over nsga-pva
    double error = error_of_push(METHODS[k], 40), most = of_second_order ? 1e-3 : 1e-8;
    if (!(error < most)) {
      fail_msg("%s: %g", METHODS[k], error);
    }
  }
}

// ---- methods with a given step ------------------------------------------------------------------
static const char* const GIVEN[] = {"ga-p",     "ga-v",       "ga-v-between", "ga-v-implicit",
                                    "ga-a",     "ga-pv",      "ga-pva",       "nsga-pva",
                                    "nsga-pvv", "moreau-jean"};
enum { GIVEN_COUNT = sizeof GIVEN / sizeof *GIVEN };

// A pulse of 0.5 N s in a twentieth of a step, between its ends: the motion after it is exact.
static void check_pulse(const char* more, double expected, double off, int first) {
  char text[400];
  snprintf(text, sizeof text,
           "model: pulse\ncoordinates: {x: , y: }\nmass: {x: 1, y: 1}\n"
           "forces: {x: \"if(t > 0.1232 and t < 0.1237, 1000, 0)\"}\n%s",
           more);
  Motion m = motion_text(text);
  for (int k = first; k < GIVEN_COUNT; k++) {
    motion_run(&m, GIVEN[k], 1, 100, NULL);
    if (!(fabs(m.state->q[0] - expected) <= off)) {
      fail_msg("%s%s: %.12g, expected %.12g", GIVEN[k], more, m.state->q[0], expected);
    }
  }
  motion_end(&m);
}

static void test_pulse_narrower_than_a_step(void** unused) {
  (void)unused;
  const double x = 0.5 * 1000 * 0.0005 * 0.0005 + 0.5 * (1 - 0.1237);
  enum { WITH_CONTACTS = 7 };
  check_pulse("", x, 1e-12, 0);
  check_pulse("constraints: {c: y = x}\n", 0.5 * x, 1e-12, 0);
  // An impact is known to the step in which it is.
  check_pulse("contacts: {w: {gap: 0.3 - x, restitution: 1}}\n", 0.6 - x, 0.005, WITH_CONTACTS);
  check_pulse("contacts: {w: {gap: 1 - abs(x)}}\n", x, 1e-12, WITH_CONTACTS);
}

// Kinks of time whose instants are not known before are not met by these: a warning names one.
static void test_waves_are_told(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: wave\ncoordinates: {x: }\nmass: {x: 1}\n"
      "forces: {x: \"if(sin(20*t) > 0.9999, 1, 0) - abs(x)\"}\n");
  for (int k = 0; k < GIVEN_COUNT; k++) {
    motion_start(&m, GIVEN[k]);
    assert_non_null(strstr(pawl_stepper_warning(m.stepper), "if(0.9999 < sin(20*t), 1, 0)"));
  }
  motion_start(&m, "rk4");
  assert_string_equal(pawl_stepper_warning(m.stepper), "");
  motion_end(&m);
}

// The order of a method with a given step holds across a kink between its ends.
static void test_given_steps_keep_their_order(void** unused) {
  (void)unused;
  for (int k = 0; k < GIVEN_COUNT; k++) {
    bool first_order = strcmp(GIVEN[k], "ga-v-implicit") == 0;
    double ratio = error_of_push(GIVEN[k], 410) / error_of_push(GIVEN[k], 820);
    print_message("%s: order %.2f\n", GIVEN[k], log2(ratio));
    CHECK_NEAR(log2(ratio), first_order ? 1.0 : 2.0, 0.2);
  }
}

// ---- every sort of kink -------------------------------------------------------------------------
// All change at multiples of 0.01 and are linear in between, so the sum over the middles of such
// cells is their integral.
typedef struct Force {
  const char* text;
  double (*at)(double t);
} Force;

static double rest(double t, double period) {
  return t - period * floor(t / period);
}
static double until(double t) {
  return t < 0.77;
}
static double ramp(double t) {
  return fmax(0, t - 0.77);
}
static double flat(double t) {
  return fmin(t, 0.77);
}
static double vee(double t) {
  return fabs(t - 0.77);
}
static double side(double t) {
  return t < 0.77 ? -1 : 1;
}
static double square(double t) {
  return rest(t, 0.7) < 0.35 ? 1 : -1;
}
static double stairs(double t) {
  return floor(t / 0.3);
}
static double stairs_down(double t) {
  return floor(2 - t / 0.3);
}
static double saw(double t) {
  return rest(t, 0.7);
}
static double saw_back(double t) {
  return rest(-t, 0.7);
}
static double bump(double t) {
  return 0.11 < t && t < 0.77 ? t : 0;
}
static double outside(double t) {
  return t < 0.11 || t >= 0.77 ? 1 : 0;
}
static double slower(double t) {
  return t * (floor(t / 0.5) > 1 ? 2 : 3);
}
static double still(double t) {
  return t > 0.77 ? 1 : 0;
}

static const Force FORCES[] = {
    {"if(t <= 0.77, 1, 0)", until},
    {"(t < 0.77) + 0", until},
    {"max(0, t - 0.77)", ramp},
    {"min(0.77, t)", flat},
    {"abs(0.77 - t)", vee},
    {"sign(t - 0.77)", side},
    {"sign(max(0, t - 0.77))", still},
    {"if(wrap(t, 0.7) < 0.35, 1, -1)", square},
    {"1 - 2*(floor(t/0.35) - 2*floor(t/0.7))", square},
    {"floor(t/0.3)", stairs},
    {"floor(2 - t/0.3)", stairs_down},
    {"wrap(t, 0.7)", saw},
    {"wrap(-t, 0.7)", saw_back},
    {"if(0.11 < t and t < 0.77, t, 0)", bump},
    {"if(t < 0.11 or not (t < 0.77), 1, 0)", outside},
    {"t*if(floor(t/0.5) > 1, 2, 3)", slower},
};

static double integral(double (*f)(double t), double to) {
  double sum = 0.0;
  for (int k = 0; k < lround(100 * to); k++) {
    sum += 0.01 * f(0.01 * (k + 0.5));
  }
  return sum;
}

static void check_force(const Force* f, const char* method, int steps) {
  char text[256];
  snprintf(text, sizeof text, "model: f\ncoordinates: {x: }\nmass: {x: 1}\nforces: {x: \"%s\"}\n",
           f->text);
  Motion m = motion_text(text);
  motion_run(&m, method, 2, steps, NULL);
  double error = fabs(m.state->v[0] - integral(f->at, 2));
  if (!(error < 1e-9)) {  // the tolerance of those that have one
    fail_msg("%s, %s, %d steps: %g", f->text, method, steps, error);
  }
  motion_end(&m);
}

// 37 steps: the kinks are inside; 200: at the ends of steps, but for rounding.
static void test_every_sort_is_exact(void** unused) {
  (void)unused;
  for (size_t k = 0; k < sizeof FORCES / sizeof *FORCES; k++) {
    for (int j = 0; j < METHOD_COUNT; j++) {
      check_force(&FORCES[k], METHODS[j], 37);
      check_force(&FORCES[k], METHODS[j], 200);
    }
  }
}

// Not linear in t: watched, as kinks of the motion are. The sign changes at multiples of pi/5.
static void test_waves_are_watched(void** unused) {
  (void)unused;
  double pi = acos(-1.0), half = pi / 5, done = 3 * half;
  Motion m = motion_text(
      "model: wave\ncoordinates: {x: }\nmass: {x: 1}\nforces: {x: \"sign(sin(5*t))\"}\n");
  motion_run(&m, "rk4", 2, 37, NULL);
  CHECK_NEAR(m.state->v[0], half - (2 - done), 1e-10);
  motion_end(&m);
}

// A kink of the motion that one of time carries along.
static void test_time_moves_a_kink(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: gate\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
      "forces: {x: \"if(x > if(t < 0.503, 2, 0.1), 1, 0)\"}\n");
  motion_run(&m, "rk4", 1, 7, NULL);
  CHECK_NEAR(m.state->q[0], 1 + 0.497 * 0.497 / 2, 1e-12);
  motion_end(&m);
}

// ---- cost, and what is kept ---------------------------------------------------------------------
static long long evaluations_of(const char* text) {
  Motion m = motion_text(text);
  motion_run(&m, "rk4", 2, 100, NULL);
  long long evaluations = pawl_stepper_info(m.stepper).evaluations;
  assert_int_equal(pawl_stepper_info(m.stepper).kinks, text == PUSH);
  assert_int_equal(pawl_stepper_instants(m.stepper), 0);
  motion_end(&m);
  return evaluations;
}

static void test_nothing_is_watched(void** unused) {
  (void)unused;
  long long plain = evaluations_of(
      "model: plain\ncoordinates: {x: }\nmass: {x: 1}\npotential: x^2/2\nforces: {x: 1}\n");
  long long more = evaluations_of(PUSH) - plain;
  assert_true(more >= 4 && more <= 10);  // one step more, and the start on the other side
}

static void test_goes_on_with_the_same_bits(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: saw\ncoordinates: {x: }\nmass: {x: 1}\npotential: x^2/2\n"
      "forces: {x: \"if(wrap(t, 0.3) < 0.1, 1, -floor(t/0.7))\"}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    motion_run(&m, METHODS[k], 1, 40, NULL);
    size_t size = pawl_state_size(m.stepper);
    void* bytes = malloc(size);
    pawl_state_save(m.stepper, m.state, bytes);
    for (int i = 0; i < 40; i++) {
      motion_step(&m, 0.025);
    }
    double x = m.state->q[0], v = m.state->v[0];
    motion_start(&m, METHODS[k]);
    NEED(pawl_state_load(m.stepper, m.state, bytes, size, &m.err), &m.err);
    for (int i = 0; i < 40; i++) {
      motion_step(&m, 0.025);
    }
    assert_true(x == m.state->q[0] && v == m.state->v[0]);
    free(bytes);
  }
  motion_end(&m);
}

// A family whose loads have one kink of time in common still runs in lanes.
static void test_families_keep_their_lanes(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: family\nparameters: {N: 40}\ncoordinates: {\"x[i=1..N]\": }\nmass: {\"x[i=1..N]\": "
      "i}\n"
      "forces: {\"x[i=1..N]\": \"i*if(t < 0.3337, 1, 0) - x[i]^3*0\"}\n");
  motion_run(&m, "rk4", 2, 41, NULL);
  for (int i = 0; i < 40; i++) {
    CHECK_NEAR(m.state->v[i], A, 1e-12);
  }
  assert_true(pawl_system_info(m.system).groups < 10);
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rk4_keeps_its_order),
      cmocka_unit_test(test_tolerances_hold),
      cmocka_unit_test(test_pulse_narrower_than_a_step),
      cmocka_unit_test(test_given_steps_keep_their_order),
      cmocka_unit_test(test_waves_are_told),
      cmocka_unit_test(test_every_sort_is_exact),
      cmocka_unit_test(test_waves_are_watched),
      cmocka_unit_test(test_time_moves_a_kink),
      cmocka_unit_test(test_nothing_is_watched),
      cmocka_unit_test(test_goes_on_with_the_same_bits),
      cmocka_unit_test(test_families_keep_their_lanes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
