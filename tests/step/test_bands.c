// SPDX-License-Identifier: Apache-2.0
// Bands narrower than a step: in forces and potentials, where each comparison is a kink of its own,
// and in conditions made of several comparisons, which fire when they become true; and many kinks
// at once.
#include <math.h>

#include "step/motion.h"

static const char* const METHODS[] = {"rk4", "dopri", "event-driven", "auto"};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

static double end_of(const char* text, const char* method, double until, int steps) {
  Motion m = motion_text(text);
  motion_run(&m, method, until, steps, NULL);
  double x = m.state->q[0];
  motion_end(&m);
  return x;
}

// ---- forces -------------------------------------------------------------------------------------
// A push of 1000 N along 1 mm: from 1 m/s to sqrt(3) m/s, in (sqrt(3) - 1)/1000 s.
static void test_band_of_a_force(void** unused) {
  (void)unused;
  static const char* const forces[] = {
      "if(0.4712 < x and x < 0.4722, 1000, 0)",
      "if(not (x < 0.4712 or x > 0.4722), 1000, 0)",
      "1000*(0.4712 < x)*(x < 0.4722)",
      "1000*(0.4712 < x and x < 0.4722)",
      "if(x < 0.4712 or x > 0.4722, 0, 1000)",
      "if((x > 0.4712 and x < 0.4722) or (x > 3 and x' < 0), 1000, 0)",
      "if(0.4712 < x < 0.4722 and t < 5, 1000, 0)",
      "if(x > 0.4712, if(x < 0.4722, 1000, 0), 0)",
  };
  double v = sqrt(3.0), x = 0.4722 + v * (1 - 0.4712 - (v - 1) / 1000);
  for (size_t f = 0; f < sizeof forces / sizeof *forces; f++) {
    char text[200];
    snprintf(text, sizeof text,
             "model: band\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\nforces: {x: \"%s\"}\n",
             forces[f]);
    for (int k = 0; k < METHOD_COUNT; k++) {
      CHECK_NEAR(end_of(text, METHODS[k], 1, 20), x, 1e-8);
    }
  }
}

// Over a tent of 0.4 J, 0.8 mm wide, with 0.5 J: slower up to sqrt(0.2) m/s, and as fast as before
// behind it. The force of one side would take the motion back where it came from within the step.
static void test_tent_is_passed(void** unused) {
  (void)unused;
  static const char text[] =
      "model: tent\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
      "potential: \"max(0, 0.4 - 1000*abs(x - 0.4717))\"\n";
  double x = 0.4721 + 1 - 0.4713 - 2 * (1 - sqrt(0.2)) / 1000;
  for (int k = 0; k < METHOD_COUNT; k++) {
    CHECK_NEAR(end_of(text, METHODS[k], 1, 20), x, 1e-8);
    CHECK_NEAR(end_of(text, METHODS[k], 1, 3), x, 1e-8);
  }
}

// A band whose borders are those of the domain of a power is left plain, as such kinks are.
static void test_band_of_a_domain(void** unused) {
  (void)unused;
  static const char text[] =
      "model: domain\ncoordinates: {x: {start: -0.1, rate: 1}}\nmass: {x: 1}\n"
      "forces: {x: \"if(x > 0 and x < 10, -1e3*x^1.5, 0)\"}\n";
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(text);
    motion_run(&m, METHODS[k], 1, 4000, NULL);
    CHECK_NEAR(m.state->v[0], -1.0, 1e-4);
    motion_end(&m);
  }
}

// ---- conditions ---------------------------------------------------------------------------------
// How often the condition fires in a motion x = t, y = 1 + 0.3 t of 20 steps, and when at last.
static int fires(const char* condition, const char* method, double* when) {
  char text[300];
  int count = 0;
  snprintf(text, sizeof text,
           "model: watch\ncoordinates: {x: {rate: 1}, y: {start: 1, rate: 0.3}}\n"
           "mass: {x: 1, y: 1}\nevents: {e: {%s}}\n",
           condition);
  Motion m = motion_text(text);
  motion_start(&m, method);
  for (int k = 0; k < 20; k++) {
    motion_step(&m, 0.05);
    for (int i = 0; i < pawl_stepper_instants(m.stepper); i++, count++) {
      *when = pawl_stepper_instant(m.stepper, i)->t;
    }
  }
  motion_end(&m);
  return count;
}

static void test_conditions_of_several_comparisons(void** unused) {
  (void)unused;
  static const struct {
    const char* condition;
    int count;
    double last;
  } cases[] = {
      {"when: \"0.4712 < x and x < 0.4722\"", 1, 0.4712},
      {"when: \"0.4712 < x and x < 0.4722\", direction: both", 2, 0.4722},
      {"when: \"0.4712 < x and x < 0.4722\", direction: down", 1, 0.4722},
      {"when: \"x > 0.6012 and y < 1.1806\"", 1, 0.6012},
      {"when: \"x < 0.303 or y > 1.0915\"", 1, 0.305},
      {"when: \"x < 0.303 or y > 1.0915\", direction: both", 2, 0.305},
      {"when: \"(x > 10 and y < 3) or (x > 0.802 and x < 0.803)\"", 1, 0.802},
      {"when: \"not (x < 0.222 or x^2 > 0.05)\"", 1, 0.222},
      {"when: \"x > 0.7\"", 1, 0.7},
      {"when: \"x > 0.7\", direction: down", 0, 0},
      {"when: \"x > 0.6012 and y < 1.18\"", 0, 0},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    for (int k = 0; k < METHOD_COUNT; k++) {
      double when = 0.0;
      assert_int_equal(fires(cases[c].condition, METHODS[k], &when), cases[c].count);
      CHECK_NEAR(when, cases[c].last, 1e-9);
    }
  }
}

// Ten periods in four steps: what is watched is judged over the steps that dopri takes itself, for
// conditions and for kinks.
static void test_own_steps_of_a_method(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: fast\nparameters: {w: 10*pi}\ncoordinates: {x: {start: 1}, y: }\n"
      "mass: {x: 1, y: 1}\nforces: {x: -w^2*x, y: \"if(x > 0, 1, 0)\"}\n"
      "events: {zero: {when: x}, top: {when: x', direction: down}}\n");
  int count = 0;
  motion_start(&m, "dopri");
  for (int k = 0; k < 4; k++) {
    motion_step(&m, 0.5);
    count += pawl_stepper_instants(m.stepper);
  }
  assert_int_equal(count, 20 + 10);  // the first top is the start, the last the end
  assert_int_equal(pawl_stepper_info(m.stepper).kinks, 20);
  CHECK_NEAR(m.state->v[1], 1.0, 1e-6);
  motion_end(&m);
}

// Methods that do not end steps at kinks find the bands where tangents meet beyond zero.
static void test_other_methods_see_bands(void** unused) {
  (void)unused;
  static const char* const conditions[] = {
      "when: \"0.4712 < x and x < 0.4722\"", "when: \"x > 0.6012 and y < 1.1806\"",
      "when: \"x < 0.303 or y > 1.0915\"", "when: \"(x > 0.7012 and y < 1.2106) or x > 5\""};
  for (size_t c = 0; c < sizeof conditions / sizeof *conditions; c++) {
    double when;
    assert_int_equal(fires(conditions[c], "ga-pva", &when), 1);
  }
}

// ---- many ---------------------------------------------------------------------------------------
// F = sum over 80 of -max(0, x - i/1000): all of them are crossed on the way up and down.
static void test_eighty_kinks(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: many\nparameters: {N: 80}\ncoordinates: {x: {start: -0.2, rate: 1}}\nmass: {x: 1}\n"
      "potential:\n  for i=1..N: 2*max(0, x - i/1000)^2\n");
  motion_run(&m, "dopri", 0.9, 45, NULL);
  assert_int_equal(pawl_stepper_info(m.stepper).kinks, 160);
  CHECK_NEAR(m.state->v[0], -1.0, 1e-8);
  motion_end(&m);
}

static void test_too_many_are_named(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: many\nparameters: {N: 1001}\ncoordinates: {x: {start: -0.2, rate: 1}}\n"
      "mass: {x: 1}\npotential:\n  for i=1..N: max(0, x - i/1000)^2\n");
  motion_start(&m, "dopri");
  assert_non_null(strstr(pawl_stepper_warning(m.stepper), "1001 kinks"));
  motion_start(&m, "ga-p");
  assert_null(strstr(pawl_stepper_warning(m.stepper), "kinks"));
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_band_of_a_force),
      cmocka_unit_test(test_tent_is_passed),
      cmocka_unit_test(test_band_of_a_domain),
      cmocka_unit_test(test_conditions_of_several_comparisons),
      cmocka_unit_test(test_own_steps_of_a_method),
      cmocka_unit_test(test_other_methods_see_bands),
      cmocka_unit_test(test_eighty_kinks),
      cmocka_unit_test(test_too_many_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
