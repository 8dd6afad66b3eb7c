// SPDX-License-Identifier: Apache-2.0
// The first of several instants in one step, for methods that find some of them themselves, and
// kinks that a motion at rest stands on.
#include <math.h>

#include "step/motion.h"

static const char* const METHODS[] = {"rk4", "dopri", "event-driven", "auto",
#ifdef PAWL_WITH_SUNDIALS
                                      "ark", "ida"
#endif
};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

static double place_of(const char* text, const char* method, double until, int steps, int of) {
  Motion m = motion_text(text);
  motion_run(&m, method, until, steps, NULL);
  double x = m.state->q[of];
  assert_null(strstr(pawl_stepper_warning(m.stepper), "drives the motion back"));
  motion_end(&m);
  return x;
}

// ---- the first in a step ------------------------------------------------------------------------
// x = t; a push of 1000 N begins on y, which a lock ends 0.007 s later. Both in one step, and with
// the push beginning at the end of one.
static void test_push_before_a_lock(void** unused) {
  (void)unused;
  static const double begins[] = {0.505, 0.5, 0.45, 0.6999};
  for (size_t b = 0; b < sizeof begins / sizeof *begins; b++) {
    double from = begins[b], w = sqrt(2.0), d = w * 0.007;
    double at = sin(w * from) / w, v = cos(w * from);
    double y = 500 + (at - 500) * cos(d) + v / w * sin(d);
    char text[300];
    snprintf(text, sizeof text,
             "model: push\ncoordinates: {x: {rate: 1}, y: {rate: 1}}\nmass: {x: 1, y: 1}\n"
             "potential: y^2\nforces: {y: \"if(x > %g, 1000, 0)\"}\n"
             "locks: {hold: {lock: y, when: \"x > %g\"}}\n",
             from, from + 0.007);
    for (int k = 0; k < METHOD_COUNT; k++) {
      CHECK_NEAR(place_of(text, METHODS[k], 1, 20, 1), y, 1e-6);
    }
  }
}

// The same where the motion is stiff, and auto takes an implicit method.
static void test_push_before_a_lock_when_stiff(void** unused) {
  (void)unused;
  static const char text[] =
      "model: stiff\ncoordinates: {x: {rate: 1}, y: {rate: 1}, z: {start: 0.001}}\n"
      "mass: {x: 1, y: 1, z: 1}\npotential: y^2 + 1e13*z^2 + z^4\ndissipation: 1e7/2*z'^2\n"
      "forces: {y: \"if(x > 0.5001, 1e6, 0)\"}\nlocks: {hold: {lock: y, when: \"x > 0.5007\"}}\n";
  CHECK_NEAR(place_of(text, "auto", 1, 1000, 1), 0.6398946, 1e-6);
}

// A condition of several comparisons turns before another in the same step.
static void test_first_of_two_conditions(void** unused) {
  (void)unused;
  static const char* const conditions[] = {"x > 0.512 or y > 3", "x > 0.512 and y < 3"};
  for (size_t c = 0; c < sizeof conditions / sizeof *conditions; c++) {
    char text[300];
    snprintf(text, sizeof text,
             "model: two\ncoordinates: {x: {rate: 1}, y: {rate: 1}}\nmass: {x: 1, y: 1}\n"
             "potential: y^2\nlocks: {hold: {lock: y, when: \"%s\"}}\n"
             "events: {two: {when: \"x > 0.533\"}}\n",
             conditions[c]);
    for (int k = 0; k < METHOD_COUNT; k++) {
      CHECK_NEAR(place_of(text, METHODS[k], 1, 20, 1), sin(sqrt(2.0) * 0.512) / sqrt(2.0), 1e-6);
    }
  }
}

// ---- at rest on a kink --------------------------------------------------------------------------
// Released where a bumper below begins: x = 1 - g/k (1 - cos(w t)).
static void test_rest_on_a_bumper(void** unused) {
  (void)unused;
  static const char text[] =
      "model: bumper\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\n"
      "potential: 9.81*x + 500*max(0, 1 - x)^2\n";
  double x = 1 - 9.81 / 1000 * (1 - cos(sqrt(1000.0)));
  for (int k = 0; k < METHOD_COUNT; k++) {
    CHECK_NEAR(place_of(text, METHODS[k], 1, 2000, 0), x, 2e-7);
  }
}

// x falls at once from where the force jumps, from 1 N to -2 N or the other way; at a place whose
// rounding is seen, to which the distance is x - 1 = c t^2.
static void test_rest_on_a_jump(void** unused) {
  (void)unused;
  static const struct {
    const char* force;
    double a;
  } cases[] = {{"if(x < 1, -2, -1)", -2}, {"floor(x) - 3", -3},   {"if(x > 1, 3, 1)", 3},
               {"floor(-x) - 2", -3},     {"2 - sign(1 - x)", 3}, {"-2 - 2*(x < 1)", -4}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[200];
    snprintf(text, sizeof text,
             "model: jump\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\nforces: {x: \"%s\"}\n",
             cases[c].force);
    for (int k = 0; k < METHOD_COUNT; k++) {
      CHECK_NEAR(place_of(text, METHODS[k], 0.5, 20, 0), 1 + cases[c].a / 8, 2e-7);
    }
  }
}

// A body with drag stands still, on the kink of |b'|, while the buffer of another meets it.
static void test_rest_beside_a_kink(void** unused) {
  (void)unused;
  static const char text[] =
      "model: carts\ncoordinates: {a: {start: 0, rate: -1}, b: {start: -1}}\n"
      "mass: {a: 1, b: 1}\npotential: 500*max(0, b + 0.3004 - a)^2\n"
      "forces: {b: -0.1*abs(b')*b'}\n";
  for (int k = 0; k < METHOD_COUNT; k++) {
    CHECK_NEAR(place_of(text, METHODS[k], 2, 2000, 1), -2.19286051, 1e-7);
  }
}

// y = max(0, x - 1) with x at rest at 1, pushed by 2 N: y follows at half of it.
static void test_rest_on_a_kink_of_a_constraint(void** unused) {
  (void)unused;
  static const char text[] =
      "model: corner\ncoordinates: {x: {start: 1}, y: }\nmass: {x: 1, y: 1}\nforces: {x: 2}\n"
      "constraints: {c: \"y = max(0, x - 1)\"}\n";
  CHECK_NEAR(place_of(text, "auto", 1, 1000, 1), 0.5, 1e-7);
  CHECK_NEAR(place_of(text, "event-driven", 1, 1000, 1), 0.5, 1e-7);
}

// ---- what does not chatter ----------------------------------------------------------------------
// Where the wrap turns, the corner of abs is passed, too, and max is beyond its own for as long as
// only one of them has moved; the motion passes.
static void test_kinks_that_move_kinks(void** unused) {
  (void)unused;
  static const char text[] =
      "model: nested\ncoordinates: {y: {start: -0.3, rate: 1}}\nmass: {y: 1}\n"
      "forces: {y: \"max(abs(wrap(y, 0.5697) - 0.1), y)\"}\n";
  for (int k = 0; k < METHOD_COUNT; k++) {
    CHECK_NEAR(place_of(text, METHODS[k], 2, 200, 0), 2.9289178, 1e-6);
  }
}

// The lock's own jump takes y' back across both comparisons: 1 - 3 t = -0.23 at t = 0.41.
static void test_jump_back_across_a_kink(void** unused) {
  (void)unused;
  static const char text[] =
      "model: back\ncoordinates: {y: {rate: 1}}\nmass: {y: 1}\nforces: {y: -3}\n"
      "locks: {l: {lock: y, when: \"-0.33 < y' < -0.23\"}}\n";
  for (int k = 0; k < METHOD_COUNT; k++) {
    CHECK_NEAR(place_of(text, METHODS[k], 1, 100, 0), 0.41 - 1.5 * 0.41 * 0.41, 1e-7);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_push_before_a_lock),
      cmocka_unit_test(test_push_before_a_lock_when_stiff),
      cmocka_unit_test(test_first_of_two_conditions),
      cmocka_unit_test(test_rest_on_a_bumper),
      cmocka_unit_test(test_rest_on_a_jump),
      cmocka_unit_test(test_rest_beside_a_kink),
      cmocka_unit_test(test_rest_on_a_kink_of_a_constraint),
      cmocka_unit_test(test_kinks_that_move_kinks),
      cmocka_unit_test(test_jump_back_across_a_kink),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
