// SPDX-License-Identifier: Apache-2.0
// Gaps that close and open again between the ends of a step, as those of what turns by a radian and
// more in it, are found where they first close (docs/theory/events.md, V16d).
#include "step/located.h"
#include "switch/random_numbers.h"

// A bar of 0.2 m falls and turns: its lower end is at y - 0.1 |sin p|.
static double gap_of_bar(double y, double p, double w, double t) {
  return y - 0.5 * 9.81 * t * t - 0.1 * fabs(sin(p + w * t));
}

// What falls onto a plate that shakes.
static double gap_of_wave(double y, double p, double w, double t) {
  return y - 0.5 * 9.81 * t * t - 0.1 * sin(p + w * t);
}

// The first zero, by small steps and halving.
static double first_hit(double (*gap)(double, double, double, double), double y, double p,
                        double w) {
  double h = 1e-3 / w, t = 0.0;
  while (gap(y, p, w, t + h) > 0.0) {
    t += h;
  }
  for (int k = 0; k < 60; k++) {
    h *= 0.5;
    t += gap(y, p, w, t + h) > 0.0 ? h : 0.0;
  }
  return t + h;
}

static void check_first(const char* text, const char* smooth, double t) {
  Run run = run_text(text);
  if (run_with(&run, smooth, t + 1e-3, 1e-3)) {
    assert_true(run_events(&run) > 0);
    CHECK_NEAR(run_event(&run, 0)->t, t, 1e-9);
  }
  run_end(&run);
}

// By 0.7 to 2.09 rad, a third of a period, in each step of 1 ms.
static void test_random(void** unused) {
  (void)unused;
  static const char* const methods[] = {"dopri", "rk4", "ga-pva", "ark"};
  Random r = {7};
  for (int k = 0; k < 120; k++) {
    double y = 0.2 + 0.4 * uniform(&r), p = 6 * uniform(&r), w = 700 + 1390 * uniform(&r);
    char text[500];
    if (k % 2) {
      snprintf(text, sizeof text,
               "model: spin\ncoordinates: {y: {start: %.17g}, p: {start: %.17g, rate: %.17g}}\n"
               "mass: {y: 1, p: 0.01}\npotential: 9.81*y\ncontacts: {a: {gap: y - 0.1*sin(p), "
               "restitution: 0.3}, b: {gap: y + 0.1*sin(p), restitution: 0.3}}\n",
               y, p, w);
    } else {
      snprintf(text, sizeof text,
               "model: wave\ncoordinates: {y: {start: %.17g}}\nmass: {y: 1}\npotential: 9.81*y\n"
               "contacts: {a: {gap: \"y - 0.1*sin(%.17g*t + %.17g)\", restitution: 0.3}}\n",
               y, w, p);
    }
    check_first(text, methods[k / 2 % 4], first_hit(k % 2 ? gap_of_bar : gap_of_wave, y, p, w));
  }
}

static void test_spinbar(void** unused) {
  (void)unused;
  check_first(
      "model: spinbar\ncoordinates: {y: {start: 0.3}, p: {start: 0.2, rate: 1000}}\n"
      "mass: {y: 1, p: 0.01}\npotential: 9.81*y\ncontacts: {a: {gap: y - 0.1*sin(p), "
      "restitution: 0.3}, b: {gap: y + 0.1*sin(p), restitution: 0.3}}\n",
      "dopri", first_hit(gap_of_bar, 0.3, 0.2, 1000));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_spinbar),
      cmocka_unit_test(test_random),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
