// SPDX-License-Identifier: Apache-2.0
// When Newton's method ends: long chains and stiff bars, where rounding is more than the tolerance
// of the forces; the same model in other units; what `tolerance` does; and what has no solution.
#include "step/motion.h"

static double iterations_a_step(const Motion* m) {
  PawlStepperInfo info = pawl_stepper_info(m->stepper);
  return (double)info.newton_iterations / (double)info.steps;
}

// Coordinates of up to 1000 m beside angles of 1e-3: the solver passes the rounding of the one on
// to the other. Every step must be taken whole.
static void test_long_chain(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pva", "ga-pva", "ga-pv"};
  Motion m = motion_file("chain", "N=1000"), exact = motion_file("chain", "N=1000");
  motion_run(&exact, "ga-p", 0.2, 200, NULL);
  for (int k = 0; k < 3; k++) {
    double position;
    motion_run(&m, methods[k], 0.2, 200, &position);
    print_message("chain of 1000, %s: %.2f iterations a step\n", methods[k], iterations_a_step(&m));
    assert_true(iterations_a_step(&m) < 5.0);
    assert_true(position < 1e-11);
    for (int i = 0; i < m.n.q; i++) {
      CHECK_NEAR(m.state->q[i], exact.state->q[i], 2e-5);  // two methods of order 2
    }
  }
  motion_end(&m);
  motion_end(&exact);
}

// The chain of models/chain.yaml with displacements for coordinates: where they are 0 the numbers
// of the rows, up to 1000 m, are all that rounding is a part of. (A16)
static Motion displaced(int links) {
  char text[1024];
  snprintf(text, sizeof text,
           "model: displaced\nparameters: {N: %d, g: 9.81}\n"
           "coordinates:\n  \"x[i=1..N]\": {}\n  \"y[i=1..N]\": {}\n  \"th[i=1..N]\": {}\n"
           "mass: {\"x[i=1..N]\": 1, \"y[i=1..N]\": 1, \"th[i=1..N]\": 1/12}\n"
           "potential:\n  for i=1..N: g*y[i]\nconstraints:\n"
           "  joint[1]:\n    - 1/2 + x[1] = cos(th[1])/2\n    - y[1] = sin(th[1])/2\n"
           "  joint[i=2..N]:\n"
           "    - (i - 1/2) + x[i] - cos(th[i])/2 = (i - 3/2) + x[i-1] + cos(th[i-1])/2\n"
           "    - y[i] - sin(th[i])/2 = y[i-1] + sin(th[i-1])/2\n"
           "simulate: {rho: 0.9}\n",
           links);
  return motion_text(text);
}

static void test_displacements(void** unused) {
  (void)unused;
  static const char* const methods[] = {"ga-p", "nsga-pva", "ga-pva", "nsga-pvv"};
  static const int lengths[] = {10, 100, 1000};
  for (int k = 0; k < 12; k++) {
    int links = lengths[k % 3];
    char length[16];
    snprintf(length, sizeof length, "N=%d", links);
    Motion m = displaced(links), same = motion_file("chain", length);
    motion_run(&m, methods[k / 3], 0.1, 100, NULL);
    motion_run(&same, methods[k / 3], 0.1, 100, NULL);
    assert_true(iterations_a_step(&m) <= 1.2);
    for (int i = 0; i < m.n.q; i++) {
      CHECK_NEAR(m.state->q[i] + (i < links ? i + 0.5 : 0.0), same.state->q[i], 1e-11);
    }
    motion_end(&m);
    motion_end(&same);
  }
}

// A chain 10 000 km away: places are known to 10^-9 m, and what a correction makes of that in the
// multipliers is more than the tolerance of the forces. Rows that hold to rounding are asked for
// nothing more, so that the second correction is mostly the last. (A29)
static void test_far_chain(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: far\nparameters: {N: 300, X: 1e7}\n"
      "coordinates:\n  \"x[i=1..N]\": {start: X + i - 1/2}\n  \"y[i=1..N]\": {}\n"
      "  \"th[i=1..N]\": {}\n"
      "mass: {\"x[i=1..N]\": 1, \"y[i=1..N]\": 1, \"th[i=1..N]\": 1/12}\n"
      "potential:\n  for i=1..N: 9.81*y[i]\nconstraints:\n"
      "  joint[1]:\n    - x[1] = X + cos(th[1])/2\n    - y[1] = sin(th[1])/2\n"
      "  joint[i=2..N]:\n    - x[i] - cos(th[i])/2 = x[i-1] + cos(th[i-1])/2\n"
      "    - y[i] - sin(th[i])/2 = y[i-1] + sin(th[i-1])/2\nsimulate: {rho: 0.9}\n");
  Motion near = motion_file("chain", "N=300");
  double position;
  motion_run(&m, "ga-p", 0.1, 100, &position);
  motion_run(&near, "ga-p", 0.1, 100, NULL);
  print_message("far chain: %.2f iterations a step\n", iterations_a_step(&m));
  assert_true(iterations_a_step(&m) < 2.4);
  assert_true(position < 4e-9);
  for (int i = 300; i < m.n.q; i++) {
    CHECK_NEAR(m.state->q[i], near.state->q[i], 2e-6);
  }
  motion_end(&m);
  motion_end(&near);
}

#define PENDULUMS                                                    \
  "coordinates:\n  \"x[i=1..4]\": {start: i}\n  \"y[i=1..4]\": {}\n" \
  "mass: {\"x[i=1..4]\": 1, \"y[i=1..4]\": 1}\n"                     \
  "define:\n  \"r[1]\": sqrt(x[1]^2 + y[1]^2)\n"                     \
  "  \"r[i=2..4]\": sqrt((x[i] - x[i-1])^2 + (y[i] - y[i-1])^2)\n"   \
  "potential:\n  - for i=1..4: 9.81*y[i]\n"

// Rods with k/m = 1e10 / s^2 beside rods that are rigid: rounding of the lengths alone is 2e-6 N.
static void test_stiff_pendulums(void** unused) {
  (void)unused;
  static const char* const methods[] = {"ga-p", "nsga-pva", "nsga-pvv"};
  Motion stiff = motion_text("model: stiff\n" PENDULUMS "  - for i=1..4: 5e9*(r[i] - 1)^2\n");
  Motion rigid =
      motion_text("model: rigid\n" PENDULUMS "constraints:\n  \"rod[i=1..4]\": r[i] = 1\n");
  motion_run(&rigid, "ga-pva", 0.5, 500, NULL);
  for (int k = 0; k < 3; k++) {
    motion_run(&stiff, methods[k], 0.5, 500, NULL);
    print_message("stiff pendulums, %s: %.2f iterations a step\n", methods[k],
                  iterations_a_step(&stiff));
    assert_true(iterations_a_step(&stiff) <= 3.0);
    for (int i = 0; i < stiff.n.q; i++) {
      CHECK_NEAR(stiff.state->q[i], rigid.state->q[i], 2e-5);
    }
  }
  motion_end(&stiff);
  motion_end(&rigid);
}

// A bar of 20000 springs, pulled by 1 mm at its end and let go: k u is 1e7 N, its differences
// vanish but at the end.
static void test_long_bar(void** unused) {
  (void)unused;
  static const char* const methods[] = {"ga-p", "nsga-pva"};
  Motion m = motion_text(
      "model: bar\nparameters: {N: 20000, k: 1e10}\ncoordinates:\n"
      "  \"u[i=1..N]\": {start: 1e-3*i/N}\nmass: {\"u[i=1..N]\": 1}\n"
      "potential:\n  - k/2*u[1]^2\n  - for i=2..N: k/2*(u[i] - u[i-1])^2\n");
  for (int k = 0; k < 2; k++) {
    motion_run(&m, methods[k], 0.01, 10, NULL);
    assert_true(iterations_a_step(&m) <= 3.0);
    // The wave has come 1e5 * 0.01 = 1000 springs far: the rest is as it was.
    CHECK_NEAR(m.state->q[9999], 0.5e-3, 1e-12);
    // The wall pulls with k u[1] = 500 N as long as the wave is on its way.
    double momentum = 0.0;
    for (int i = 0; i < m.n.v; i++) {
      momentum += m.state->v[i];
    }
    CHECK_NEAR(momentum, -5.0, 1e-7);
  }
  motion_end(&m);
}

// Linear equations are solved by one correction, also where a wave has not come to yet: there
// forces are rounding, and no balance by itself. (A27)
static void test_wave(void** unused) {
  (void)unused;
  Motion m = motion_file("elastic-bar", "d0=0.05");
  motion_run(&m, "nsga-pva", 0.6, 300, NULL);
  PawlStepperInfo info = pawl_stepper_info(m.stepper);
  CHECK_NEAR(m.state->lambda[0], 300.0, 1.0);  // pressed
  assert_true(info.newton_iterations <= info.steps + 2);
  motion_end(&m);
}

// But where the step of a hit moves q by U, forces are others: the balance of `b` is found though
// it is lost beside that of `far`. (A27)
static void test_hidden_hit(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: hidden\ncoordinates:\n  far: {}\n  a: {start: 1e-3, rate: -1}\n"
      "  b: {start: 1e-3, rate: -1}\nmass: {far: 1, a: 1, b: 1e-3}\n"
      "potential: [-1e16*far, 500*(a - b)^2]\ncontacts: {floor: {gap: a}}\n");
  for (int steps = 1; steps <= 3; steps++) {
    motion_run(&m, "nsga-pva", 0.7e-3 * steps, steps, NULL);
    double inertia = 1e-3 * m.state->a[2], pull = 1e3 * (m.state->q[1] - m.state->q[2]);
    CHECK_NEAR(inertia, pull, 1e-3 * fabs(pull) + 1e-9);
    assert_true(steps == 1 || fabs(m.state->q[1]) < 1e-15);  // hit in the second step
  }
  motion_end(&m);
}

// Ten links on a spring, in units of `length`, `mass` and `time`.
static Motion scaled(double length, double mass, double time) {
  char text[2048];
  snprintf(text, sizeof text,
           "model: scaled\nparameters: {N: 5, L: %.17g, m: %.17g, T: %.17g, g: 9.81*L/T^2}\n"
           "coordinates:\n  \"x[i=1..N]\": {start: (i - 1/2)*L}\n  \"y[i=1..N]\": {}\n"
           "  \"th[i=1..N]\": {}\nmass: {\"x[i=1..N]\": m, \"y[i=1..N]\": m, "
           "\"th[i=1..N]\": m*L^2/12}\npotential:\n  - for i=1..N: m*g*y[i]\n"
           "  - 50*m/T^2*(x[N] - 4*L)^2\nconstraints:\n  \"joint[1]\":\n"
           "    - x[1] = L/2*cos(th[1])\n    - y[1] = L/2*sin(th[1])\n  \"joint[i=2..N]\":\n"
           "    - x[i] - L/2*cos(th[i]) = x[i-1] + L/2*cos(th[i-1])\n"
           "    - y[i] - L/2*sin(th[i]) = y[i-1] + L/2*sin(th[i-1])\n",
           length, mass, time);
  return motion_text(text);
}

// Units are a matter of taste: neither the work nor the result may depend on them.
static void test_units(void** unused) {
  (void)unused;
  static const char* const methods[] = {"ga-p",   "ga-v",     "ga-a",    "ga-pv",
                                        "ga-pva", "nsga-pvv", "nsga-pva"};
  static const double units[][3] = {{1e-4, 1, 1}, {1e4, 1, 1}, {1, 1e-4, 1},      {1, 1e4, 1},
                                    {1, 1, 1e-4}, {1, 1, 1e4}, {1e-4, 1e4, 1e-4}, {1e4, 1e-4, 1e4}};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    Motion one = scaled(1, 1, 1);
    motion_run(&one, methods[k], 0.5, 500, NULL);
    long long work = pawl_stepper_info(one.stepper).newton_iterations;
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
      Motion m = scaled(units[u][0], units[u][1], units[u][2]);
      motion_run(&m, methods[k], 0.5 * units[u][2], 500, NULL);
      assert_int_equal(pawl_stepper_info(m.stepper).newton_iterations, work);
      for (int i = 0; i < m.n.q; i++) {
        double unit = i < 10 ? units[u][0] : 1.0;  // x and y, then angles
        CHECK_NEAR(m.state->q[i] / unit, one.state->q[i], 1e-9);
        CHECK_NEAR(m.state->v[i] / unit * units[u][2], one.state->v[i], 1e-8);
      }
      motion_end(&m);
    }
    motion_end(&one);
  }
}

// The balance of forces relative to its terms, recomputed; weaker tolerances take less work.
static void test_tolerance(void** unused) {
  (void)unused;
  static const double tolerances[] = {1e-4, 1e-8, 1e-12};
  long long work = 0;
  for (int k = 0; k < 3; k++) {
    Motion m = motion_file("pendulum", NULL);
    m.def.tolerance = tolerances[k];
    double position;
    motion_run(&m, "ga-p", 1.0, 50, &position);
    assert_true(position <= 4.0 * tolerances[k]);  // the terms of its rows are 2 m or less
    assert_true(pawl_stepper_info(m.stepper).newton_iterations > work);
    work = pawl_stepper_info(m.stepper).newton_iterations;
    motion_end(&m);
  }
}

// A rod that would have to be shorter than nothing, and a force that has no balance: named is the
// light body it acts on, not the heavy one beside it.
static void test_no_solution(void** unused) {
  (void)unused;
  Motion rod = motion_text(
      "model: rod\ncoordinates: {x: {}, y: {start: 1, rate: -1/2}}\nmass: {x: 1, y: 1}\n"
      "constraints: {rod: x^2 + y^2 = 1 - t, guide: x = 0}\n");
  motion_start(&rod, "ga-p");
  assert_int_equal(pawl_stepper_step(rod.stepper, rod.state, 2.0, &rod.err), PAWL_RETRY);
  assert_non_null(strstr(rod.err.message, "did not converge in 20 iterations"));
  motion_end(&rod);

  Motion light = motion_text(
      "model: light\ncoordinates: {heavy: {rate: 1}, light: {}}\nmass: {heavy: 1e6, light: 1e-6}\n"
      "forces:\n  light: if(light > 1e-6, -1, 1)\n");
  motion_start(&light, "ga-p");
  assert_int_equal(pawl_stepper_step(light.stepper, light.state, 1.0, &light.err), PAWL_RETRY);
  assert_non_null(strstr(light.err.message, "forces on 'light' is off by"));
  motion_end(&light);
}

static void check_named(const Motion* m, const char* what) {
  assert_non_null(strstr(m->err.message, "'left' (row 1), 'right' (row 1) contradict"));
  assert_non_null(strstr(m->err.message, what));
}

// Two walls that close in on a body from both sides: no position serves both, and they are named.
// A run tries halves of the step before it ends so.
static void test_contradiction(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pva", "nsga-pvv"};
  Motion m = motion_text(
      "model: vice\ncoordinates: {x: {}}\nmass: {x: 1}\ncontacts:\n"
      "  left: {gap: x - t^3}\n  right: {gap: 0 - x - t^3}\n");
  for (int k = 0; k < 2; k++) {
    motion_start(&m, methods[k]);
    assert_int_equal(pawl_stepper_step(m.stepper, m.state, 1e-3, &m.err), PAWL_RETRY);
    check_named(&m, "no position");
  }
  motion_end(&m);
}

// The walls touch the body from both sides at the end of the first step, at rest and about to close
// in: positions and rates fit, accelerations do not.
static void test_contradiction_of_accelerations(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: vice\ncoordinates: {x: {}}\nmass: {x: 1}\nparameters: {h: 0.01}\ncontacts:\n"
      "  left: {gap: x - (t/h)^3*(t - h)^2}\n  right: {gap: 0 - x - (t/h)^3*(t - h)^2}\n");
  motion_start(&m, "nsga-pva");
  assert_int_equal(pawl_stepper_step(m.stepper, m.state, 0.01, &m.err), PAWL_RETRY);
  check_named(&m, "no acceleration");
  assert_int_equal(m.state->step, 0);
  motion_end(&m);
}

// They meet there while they move: no velocity serves both, and none is made up. The next step
// would find no position.
static void test_contradiction_of_velocities(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pva", "nsga-pvv"};
  Motion m = motion_text(
      "model: vice\ncoordinates: {x: {}}\nmass: {x: 1}\nparameters: {h: 0.01}\ncontacts:\n"
      "  left: {gap: x + h - t}\n  right: {gap: h - x - t}\n");
  for (int k = 0; k < 2; k++) {
    motion_start(&m, methods[k]);
    assert_int_equal(pawl_stepper_step(m.stepper, m.state, 0.01, &m.err), PAWL_RETRY);
    check_named(&m, "no velocity");
  }
  motion_end(&m);
}

// The same at the start.
static void test_contradiction_at_start(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pva", "moreau-jean"};
  Motion m = motion_text(
      "model: vice\ncoordinates: {x: {}}\nmass: {x: 1}\ncontacts:\n"
      "  left: {gap: x - t^2/2}\n  right: {gap: 0 - x - t^2/2}\n  far: {gap: x + 1 - t^2}\n");
  for (int k = 0; k < 2; k++) {
    motion_stepper(&m, methods[k]);
    assert_int_equal(pawl_stepper_start(m.stepper, m.state, false, &m.err), PAWL_ERROR_RUN);
    check_named(&m, "no acceleration");
  }
  motion_end(&m);
}

// A ground that is a body held at zero: what the impacts of two boxes leave of its angle is
// rounding of theirs, and the only term of its row.
static void test_held_at_zero(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pva", "nsga-pvv"};
  Motion m = motion_text(
      "model: held\nparameters: {N: 4, b: 0.3, h: 0.2, g: 9.81}\ncoordinates:\n"
      "  \"x[i=0..N]\": {start: \"0.05*sin(5*i)*(i>0)\"}\n"
      "  \"y[i=0..N]\": {start: \"(2*i-1)*h + 0.01*i\"}\n  \"p[i=0..N]\": {}\n"
      "define:\n  \"cx[i=1..N,s=0..1]\": x[i] + (2*s-1)*b*cos(p[i]) + h*sin(p[i])\n"
      "  \"cy[i=1..N,s=0..1]\": y[i] + (2*s-1)*b*sin(p[i]) - h*cos(p[i])\n"
      "mass: {\"x[i=0..N]\": 1, \"y[i=0..N]\": 1, \"p[i=0..N]\": (b^2+h^2)/3}\n"
      "potential:\n  - for i=1..N: g*y[i]\n"
      "constraints:\n  ground: [\"x[0] = 0\", \"y[0] = -h\", \"p[0] = 0\"]\n"
      "contacts:\n  \"c[i=1..N,s=0..1]\": {gap: \"(y[i-1] - cy[i,s])*(-cos(p[i-1])) - "
      "(cx[i,s] - x[i-1])*sin(p[i-1]) - h\", friction: 0.5, "
      "slip: \"(cx[i,s]' - x[i-1]')*cos(p[i-1]) + (cy[i,s]' - y[i-1]')*sin(p[i-1])\"}\n");
  for (int k = 0; k < 2; k++) {
    motion_run(&m, methods[k], 0.1, 100, NULL);
    CHECK_NEAR(m.state->q[10], 0.0, 1e-14);  // the ground
    CHECK_NEAR(m.state->q[6], 0.2, 1e-12);   // the lowest box lies on it
  }
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_long_chain),
      cmocka_unit_test(test_displacements),
      cmocka_unit_test(test_far_chain),
      cmocka_unit_test(test_stiff_pendulums),
      cmocka_unit_test(test_long_bar),
      cmocka_unit_test(test_wave),
      cmocka_unit_test(test_hidden_hit),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_tolerance),
      cmocka_unit_test(test_no_solution),
      cmocka_unit_test(test_contradiction),
      cmocka_unit_test(test_contradiction_of_accelerations),
      cmocka_unit_test(test_contradiction_at_start),
      cmocka_unit_test(test_contradiction_of_velocities),
      cmocka_unit_test(test_held_at_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
