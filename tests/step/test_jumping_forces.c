// SPDX-License-Identifier: Apache-2.0
// Forces that depend on rates jump with an impact, and the accelerations with them: what the
// methods keep of those before must not act after it. Such forces here do no work (a charge across
// a magnetic field, a body that turns), so that energy tells.
#include <math.h>

#include "step/contacts.h"

static const char* const BOTH[] = {"nsga-pva", "nsga-pvv"};

// Above a wall it goes on circles, m v' = B v across, and is thrown back with half of its rate.
#define CHARGE(contact)                                      \
  "model: charge\n"                                          \
  "coordinates: {x: {rate: 1}, y: {start: 0.1, rate: -1}}\n" \
  "mass: {x: 1, y: 1}\n"                                     \
  "forces: {x: \"2*y'\", y: \"-2*x'\"}\n"                    \
  "contacts: {floor: {gap: y, restitution: 0.5" contact "}}\n"
static const char SMOOTH[] = CHARGE("");
static const char ROUGH[] = CHARGE(", friction: 0, slip: x");

// A box without friction turns about all axes and falls on a corner.
#define BOX(contact)                                                         \
  "model: box\n"                                                             \
  "coordinates: {x: , y: , z: {start: 0.8},\n"                               \
  "  R: {kind: rotation, start: {zxz: [0.3, 0.5, 0.1]}, rate: [0, 1, 1]}}\n" \
  "define: {w: R.omega, p: '[x, y, z]'}\n"                                   \
  "kinetic: 3*(x'^2 + y'^2 + z'^2) + (w.x^2 + 1.36*w.y^2 + 1.64*w.z^2)/4\n"  \
  "potential: 6*9.81*z\n" contact
static const char FREE_BOX[] = BOX("");
#define CORNER(name, at) "  " name ": {gap: '(p + R*[" at "]).z', restitution: 0.3}\n"
static const char FALLING_BOX[] =
    BOX("contacts:\n" CORNER("a", "-0.5, -0.4, -0.3") CORNER("b", "-0.5, -0.4, 0.3")
            CORNER("c", "-0.5, 0.4, -0.3") CORNER("d", "-0.5, 0.4, 0.3")
                CORNER("e", "0.5, -0.4, -0.3") CORNER("f", "0.5, -0.4, 0.3")
                    CORNER("g", "0.5, 0.4, -0.3") CORNER("h", "0.5, 0.4, 0.3"));

static double energy_of_charge(const PawlState* s) {
  return 0.5 * (s->v[0] * s->v[0] + s->v[1] * s->v[1]);
}

static double energy_of_box(const PawlState* s) {
  const double *v = s->v, *w = s->v + 3;
  return 3.0 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + 6.0 * 9.81 * s->q[2] +
         (w[0] * w[0] + 1.36 * w[1] * w[1] + 1.64 * w[2] * w[2]) / 4.0;
}

typedef double Energy(const PawlState* s);

// The most that a step adds to the energy, and what all of them have taken.
static double largest_gain(const char* text, const char* method, Energy* energy, double until,
                           int steps, double* taken) {
  Motion m = motion_text(text);
  motion_start(&m, method);
  double first = energy(m.state), before = first, most = 0.0;
  for (int k = 0; k < steps; k++) {
    motion_step(&m, until / steps);
    double now = energy(m.state);
    most = fmax(most, now - before);
    before = now;
  }
  *taken = first - before;
  motion_end(&m);
  return most;
}

// One hit, at 0.1 s or so: the rate across the wall is halved. A memory of the force before it
// would add 0.1 h in the steps after it.
static void test_charge(void** state) {
  (void)state;
  static const char* const of[] = {SMOOTH, ROUGH};
  for (int k = 0; k < 4; k++) {
    for (int steps = 100; steps <= 1600; steps *= 4) {
      double h = 0.5 / steps, taken;
      double gain = largest_gain(of[k / 2], BOTH[k % 2], energy_of_charge, 0.5, steps, &taken);
      assert_true(taken > 0.1);
      assert_true(gain <= 0.02 * h * h);
    }
  }
}

// What is left is what the methods do where the same body turns freely: of the order h^2.
static void test_box(void** state) {
  (void)state;
  double taken, free[2];
  for (int k = 0; k < 4; k++) {
    int steps = k / 2 == 0 ? 600 : 2400;
    double h = 0.6 / steps;
    double gain = largest_gain(FALLING_BOX, BOTH[k % 2], energy_of_box, 0.6, steps, &taken);
    assert_true(taken > 1.0);
    assert_true(gain <= h * h);
  }
  for (int k = 0; k < 2; k++) {
    int steps = k == 0 ? 600 : 2400;
    free[k] = largest_gain(FREE_BOX, "nsga-pva", energy_of_box, 0.6, steps, &taken);
  }
  CHECK_NEAR(log2(free[0] / free[1]) / 2.0, 2.0, 0.2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_charge),
      cmocka_unit_test(test_box),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
