// SPDX-License-Identifier: Apache-2.0
// Starts with guesses: what is guessed changes until the constraints hold, the rest stays.
#include "step/motion.h"

static PawlStatus begin(Motion* m, const char* method) {
  motion_stepper(m, method);
  return pawl_stepper_start(m->stepper, m->state, false, &m->err);
}

// A four-bar linkage with the crank given: coupler and rocker close the loop.
#define FOUR_BAR(b, c)                                            \
  "model: four-bar\nparameters: {L0: 4, L1: 1, L2: 3, L3: 3.5}\n" \
  "coordinates: {a: {start: 0.7, rate: 2}, b: " b ", c: " c       \
  "}\n"                                                           \
  "mass: {a: 1, b: 2, c: 3}\nconstraints:\n  loop:\n"             \
  "    - L1*cos(a) + L2*cos(b) = L0 + L3*cos(c)\n    - L1*sin(a) + L2*sin(b) = L3*sin(c)\n"

static void test_four_bar(void** state) {
  (void)state;
  Motion m = motion_text(FOUR_BAR("{start: 0.5, guess: true}", "{start: 1, rate: 9, guess: true}"));
  NEED(begin(&m, "rk4"), &m.err);
  const double *q = m.state->q, *v = m.state->v;
  assert_true(q[0] == 0.7 && v[0] == 2.0);
  // The distance d from the crank's tip to the rocker's pivot, and the law of cosines.
  double x = 4.0 - cos(0.7), y = -sin(0.7), d2 = x * x + y * y, d = sqrt(d2);
  double b = atan2(y, x) + acos((9.0 + d2 - 12.25) / (6.0 * d));
  CHECK_NEAR(q[1], b, 1e-12);
  CHECK_NEAR(3.5 * sin(q[2]), sin(0.7) + 3.0 * sin(b), 1e-12);
  CHECK_NEAR(-2.0 * sin(0.7) - 3.0 * v[1] * sin(b), -3.5 * v[2] * sin(q[2]), 1e-11);
  CHECK_NEAR(2.0 * cos(0.7) + 3.0 * v[1] * cos(b), 3.5 * v[2] * cos(q[2]), 1e-11);
  motion_end(&m);
}

// One guess cannot close two equations; the message names the rows and how far they are off.
static void test_impossible(void** state) {
  (void)state;
  Motion m = motion_text(FOUR_BAR("{start: 0.5, guess: true}", "1"));
  assert_int_equal(begin(&m, "rk4"), PAWL_ERROR_RUN);
  print_message("%s\n", m.err.message);
  assert_non_null(strstr(m.err.message, "cannot be assembled by changing b alone: 'loop' (row 1)"));
  assert_non_null(strstr(m.err.message, "is off by"));
  motion_end(&m);
  // Too short to reach, whatever is guessed.
  m = motion_text(
      "model: gap\ncoordinates: {x: {guess: start}, y: {guess: true}}\nmass: {x: 1, y: 1}\n"
      "constraints: {rod: x^2 + y^2 = -1}\n");
  assert_int_equal(begin(&m, "rk4"), PAWL_ERROR_RUN);
  assert_non_null(strstr(m.err.message, "by changing x, y alone: 'rod' (row 1) is off by"));
  motion_end(&m);
  // A rotation by its name, and its rates by theirs.
  m = motion_text(
      "model: turn\ncoordinates: {R: {kind: rotation, guess: true}}\nkinetic: dot(R.omega, "
      "R.omega)\n"
      "define: {axis: \"R*[0, 0, 1]\"}\nconstraints: {far: axis.x = 2}\n");
  assert_int_equal(begin(&m, "rk4"), PAWL_ERROR_RUN);
  assert_non_null(strstr(m.err.message, "by changing R alone: 'far' (row 1)"));
  motion_end(&m);
  // Without a guess nothing is moved.
  m = motion_text(FOUR_BAR("0.5", "1"));
  assert_int_equal(begin(&m, "rk4"), PAWL_ERROR_RUN);
  assert_non_null(strstr(m.err.message, "the start does not satisfy"));
  motion_end(&m);
}

// What joints are told and cannot be is an error that names them, whether something is found or
// not.
static void check_told(const char* parts, const char* named) {
  for (int k = 0; k < 2; k++) {
    char text[1000];
    snprintf(text, sizeof text, "model: told\nmechanism: {coordinates: %s}\n%s",
             k ? "absolute" : "joint", parts);
    Motion m = motion_text(text);
    assert_int_equal(begin(&m, "dopri"), PAWL_ERROR_RUN);
    print_message("%s\n", m.err.message);
    assert_non_null(strstr(m.err.message, named));
    motion_end(&m);
  }
}

static void test_told(void** state) {
  (void)state;
  check_told(
      "bodies:\n  a: {mass: 1, inertia: 0.05, points: {tip: [0.3, 0]}}\n"
      "  b: {mass: 1, inertia: 0.05, centre: [0.4, 0], points: {tip: [0.8, 0]}}\n"
      "  s: {mass: 2, inertia: 0.01}\njoints:\n  i: {revolute: [ground, a], guess: 0.6}\n"
      "  k: {revolute: [a, b], at: [a.tip, [0, 0]], guess: -0.8}\n"
      "  l: {revolute: [b, s], at: [b.tip, [0, 0]]}\n"
      "  j: {prismatic: [ground, s], start: 5, rate: -50}\n",
      " alone, with 'j.kept': '");
  check_told(
      "bodies: {a: {mass: 1, inertia: 1}}\njoints:\n"
      "  i: {revolute: [ground, a], start: 0.3, rate: 0}\n"
      "  j: {revolute: [ground, a], cut: true, start: 0.4, rate: 0}\n",
      "cannot be as given: 'j.kept' (row 1) is off by -0.1");
  check_told(
      "bodies: {a: {mass: 1, inertia: 1, start: {angle: 0.5}}}\njoints:\n"
      "  i: {revolute: [ground, a], cut: true, start: 0.6}\n",
      "cannot be as given: 'i.kept' (row 1) is off by -0.1");
}

// Angles of a loop with three digits: what is off, 6e-5 m, is taken from all of them, the same with
// both coordinates. Off by 0.1 it is an error with what to do.
static void test_nearly(void** state) {
  (void)state;
  double angle[2] = {0};
  for (int k = 0; k < 3; k++) {
    char text[1000];
    snprintf(text, sizeof text,
             "model: nearly\nmechanism: {coordinates: %s}\nbodies:\n"
             "  crank: {mass: 1, inertia: 0.02}\n  rod: {mass: 0.8, inertia: 0.05}\n"
             "  rocker: {mass: 1.2, inertia: 0.03}\njoints:\n"
             "  a: {revolute: [ground, crank], start: 0.9}\n"
             "  b: {revolute: [crank, rod], at: [[0.2, 0], [0, 0]], start: %g}\n"
             "  c: {revolute: [rod, rocker], at: [[0.6, 0], [0, 0.4]], start: -0.899}\n"
             "  d: {revolute: [ground, rocker], at: [[0.5, 0.1], [0, 0]]}\n",
             k == 1 ? "absolute" : "joint", k == 2 ? -0.435 : -0.335);
    Motion m = motion_text(text);
    if (k < 2) {
      NEED(begin(&m, "dopri"), &m.err);
      angle[k] = m.state->q[k == 0 ? 0 : 2];  // of the crank
      assert_true(fabs(angle[k] - 0.9) > 1e-6 && fabs(angle[k] - 0.9) < 1e-4);
    } else {
      assert_int_equal(begin(&m, "dopri"), PAWL_ERROR_RUN);
      print_message("%s\n", m.err.message);
      assert_non_null(strstr(m.err.message, "cannot be as given: 'd' (row 1) is off by"));
      assert_non_null(strstr(m.err.message, "--project moves all"));
    }
    motion_end(&m);
  }
  CHECK_NEAR(angle[0], angle[1], 1e-8);
}

// Three links of 1 m between pins 2 m apart, all angles 0: no change of an angle shortens the line.
static void test_stretched(void** state) {
  (void)state;
  Motion m = motion_text(
      "model: stretched\nbodies: {a: {mass: 1, inertia: 0.1}, b: {mass: 1, inertia: 0.1}, "
      "c: {mass: 1, inertia: 0.1}}\njoints:\n  j: {revolute: [ground, a]}\n"
      "  k: {revolute: [a, b], at: [[1, 0], [0, 0]]}\n"
      "  l: {revolute: [b, c], at: [[1, 0], [0, 0]]}\n"
      "  m: {revolute: [c, ground], at: [[1, 0], [2, 0]]}\n");
  NEED(begin(&m, "rk4"), &m.err);
  const double* q = m.state->q;
  double x = cos(q[0]) + cos(q[0] + q[1]) + cos(q[0] + q[1] + q[2]);
  double y = sin(q[0]) + sin(q[0] + q[1]) + sin(q[0] + q[1] + q[2]);
  CHECK_NEAR(x, 2.0, 1e-12);
  CHECK_NEAR(y, 0.0, 1e-12);
  motion_end(&m);
}

// Friction of all joints holds a loop at rest: accelerations are rounding, and contradict nothing.
static void test_held_loop(void** state) {
  (void)state;
  static const double starts[] = {0.9, 0.31, 1.2, 2, 2.5, 0.05};
  for (int k = 0; k < 6; k++) {
    char text[1200];
    snprintf(text, sizeof text,
             "model: held\nmechanism: {gravity: [0.5, -9.81], coordinates: absolute}\nbodies:\n"
             "  crank: {mass: 1, inertia: 0.02, centre: [0.1, 0.02]}\n"
             "  rod: {mass: 0.8, inertia: 0.05, centre: [0.3, -0.05]}\n"
             "  rocker: {mass: 1.2, inertia: 0.03, centre: [0.03, 0.2]}\njoints:\n"
             "  a: {revolute: [ground, crank], start: %g, rate: 0, friction: 3}\n"
             "  b: {revolute: [crank, rod], at: [[0.2, 0], [0, 0]], guess: -0.3, friction: 3}\n"
             "  c: {revolute: [rod, rocker], at: [[0.6, 0], [0, 0.4]], guess: 0, friction: 3}\n"
             "  d: {revolute: [ground, rocker], at: [[0.5, 0.1], [0, 0]], friction: 3}\n",
             starts[k]);
    Motion m = motion_text(text);
    NEED(begin(&m, "event-driven"), &m.err);
    motion_end(&m);
  }
}

// What holds at the start alone: the point begins at (0.6, 0.8) of the rod and moves with 1 along
// x, whatever was guessed; later it goes on freely.
static void test_at_start(void** state) {
  (void)state;
  static const char* const words[] = {"true", "start", "rate"};
  for (int k = 0; k < 3; k++) {
    char text[400];
    snprintf(text, sizeof text,
             "model: rod\ncoordinates: {x: {start: 0.1, rate: 3, guess: true}, y: {start: 1, "
             "guess: true}}\nmass: {x: 1, y: 1}\n"
             "constraints: {rod: x^2 + y^2 = 1, here: {equation: x = 0.6 + t, assemble: %s}}\n",
             words[k]);
    Motion m = motion_text(text);
    NEED(begin(&m, "rk4"), &m.err);
    const double *q = m.state->q, *v = m.state->v;
    CHECK_NEAR(q[0] * q[0] + q[1] * q[1], 1.0, 1e-12);
    CHECK_NEAR(q[0] * v[0] + q[1] * v[1], 0.0, 1e-12);
    assert_int_equal(fabs(q[0] - 0.6) < 1e-12, k != 2);
    assert_int_equal(fabs(v[0] - 1.0) < 1e-12, k != 1);
    double phi = atan2(q[0], q[1]), w = v[0] * q[1] - v[1] * q[0];
    for (int i = 0; i < 100; i++) {
      motion_step(&m, 0.01);
    }
    CHECK_NEAR(q[0], sin(phi + w), 1e-8);  // nothing else acts
    motion_end(&m);
  }
}

// x + y + z = 1 with z kept: the masses 1 and 3 share the gap as 3 to 1.
static void test_least_change(void** state) {
  (void)state;
  Motion m = motion_text(
      "model: m\ncoordinates: {x: {guess: true}, y: {guess: true}, z: {start: 0.2, rate: 1}}\n"
      "mass: {x: 1, y: 3, z: 0.01}\nconstraints: {sum: x + y + z = 1}\n");
  NEED(begin(&m, "rk4"), &m.err);
  CHECK_NEAR(m.state->q[0], 0.6, 1e-14);
  CHECK_NEAR(m.state->q[1], 0.2, 1e-14);
  CHECK_NEAR(m.state->v[0], -0.75, 1e-14);
  CHECK_NEAR(m.state->v[1], -0.25, 1e-14);
  assert_true(m.state->q[2] == 0.2 && m.state->v[2] == 1.0);
  motion_end(&m);
}

// The region of the place that is found, which is not that of the guess; a lock holds what it finds
// there.
static void test_modes_and_locks(void** state) {
  (void)state;
  Motion m = motion_text(
      "model: m\ncoordinates: {x: {start: 0.5, guess: start}, y: {start: 2}, u: }\n"
      "mass: {x: 1, y: 1, u: 1}\n"
      "constraints:\n  meet: {equation: x = y}\n"
      "  track: {modes: {low: {where: x < 1, equation: u = 0}, high: {where: x > 1, equation: u = "
      "x - 2}}}\n"
      "locks: {hold: {lock: x + y, engaged: true}}\n");
  NEED(begin(&m, "event-driven"), &m.err);
  CHECK_NEAR(m.state->q[0], 2.0, 1e-13);
  assert_int_equal(m.state->modes[1], 1);
  CHECK_NEAR(m.state->held[2], 4.0, 1e-13);
  motion_end(&m);
}

// A body whose z axis is to point along [1, 2, 2]/3: of all rotations that do so the least turn is
// the one about the axis across both, [-2, 1, 0], by the angle between them.
static void test_rotation(void** state) {
  (void)state;
  Motion m = motion_text(
      "model: pointer\ncoordinates: {x: {start: 0.4}, R: {kind: rotation, rate: [0.3, -0.2, 1.5], "
      "guess: true}}\nkinetic: x'^2/2 + dot(R.omega, R.omega)\n"
      "define: {axis: \"R*[0, 0, 1]\"}\n"
      "constraints: {points: [axis.x = 1/3, axis.y = 2/3]}\n");
  NEED(begin(&m, "rk4"), &m.err);
  double half = acos(2.0 / 3.0) / 2,
         expected[] = {cos(half), -2 * sin(half) / sqrt(5.0), sin(half) / sqrt(5.0), 0.0};
  assert_true(m.state->q[0] == 0.4);
  for (int k = 0; k < 4; k++) {
    CHECK_NEAR(m.state->q[1 + k], expected[k], 1e-12);
  }
  CHECK_NEAR(m.state->v[1], 0.0, 1e-13);
  CHECK_NEAR(m.state->v[2], 0.0, 1e-13);
  assert_true(m.state->v[3] == 1.5);
  motion_end(&m);
}

// From far outside of an ellipse, where going for the least change has no end, it is found all the
// same.
static void test_far_from_curved(void** state) {
  (void)state;
  static const char* const starts[] = {"x: {start: 9, guess: true}, y: {start: 0.3, guess: true}",
                                       "x: {start: 30, guess: true}, y: {start: 1, guess: true}"};
  for (int k = 0; k < 2; k++) {
    char text[256];
    snprintf(
        text, sizeof text,
        "model: far\ncoordinates: {%s}\nmass: {x: 1, y: 4}\nconstraints: {c: x^2/9 + y^2 = 1}\n",
        starts[k]);
    Motion m = motion_text(text);
    NEED(begin(&m, "rk4"), &m.err);
    const double* q = m.state->q;
    CHECK_NEAR(q[0] * q[0] / 9 + q[1] * q[1], 1.0, 1e-12);
    assert_true(q[0] > 2.9 && q[1] > 0.0);
    motion_end(&m);
  }
}

// A start in velocities w = A(q) q': Euler's angles of a body from its angular velocity, in its own
// axes, and the motion goes on without these equations.
static void test_velocities_at_the_start(void** state) {
  (void)state;
  Motion m = motion_text(
      "model: spin\nparameters: {w0: [1, -2, 3]}\n"
      "coordinates: {a: {start: 0.4, guess: rate}, b: {start: 0.9, guess: rate}, c: {start: -0.3, "
      "guess: rate}}\n"
      "define:\n  w: [a'*sin(b)*sin(c) + b'*cos(c), a'*sin(b)*cos(c) - b'*sin(c), a'*cos(b) + c']\n"
      "kinetic: (2*w.x^2 + 3*w.y^2 + 4*w.z^2)/2\n"
      "constraints:\n  begin: {rate: [w.x = w0.x, w.y = w0.y, w.z = w0.z], assemble: rate}\n");
  NEED(begin(&m, "rk4"), &m.err);
  const double *q = m.state->q, *v = m.state->v;
  assert_true(q[0] == 0.4 && q[1] == 0.9 && q[2] == -0.3);
  CHECK_NEAR(v[0], (sin(-0.3) - 2 * cos(-0.3)) / sin(0.9), 1e-13);
  CHECK_NEAR(v[1], cos(-0.3) + 2 * sin(-0.3), 1e-13);
  CHECK_NEAR(v[2], 3 - v[0] * cos(0.9), 1e-13);
  for (int k = 0; k < 100; k++) {
    NEED(pawl_stepper_step(m.stepper, m.state, 1e-2, &m.err), &m.err);
  }
  // Of a free body T and |L| stay, w does not: 2, -6, 12 with 2 + 12 + 36 over 2.
  double w[3] = {v[0] * sin(q[1]) * sin(q[2]) + v[1] * cos(q[2]),
                 v[0] * sin(q[1]) * cos(q[2]) - v[1] * sin(q[2]), v[0] * cos(q[1]) + v[2]};
  CHECK_NEAR(2 * w[0] * w[0] + 3 * w[1] * w[1] + 4 * w[2] * w[2], 50, 1e-5);
  CHECK_NEAR(4 * w[0] * w[0] + 9 * w[1] * w[1] + 16 * w[2] * w[2], 184, 1e-4);
  assert_true(fabs(w[0] - 1) > 0.1);
  motion_end(&m);
  m = motion_text(
      "model: none\ncoordinates: {a: , b: }\nmass: {a: 1, b: 1}\n"
      "constraints: {begin: {rate: a' + 2*b' = 3, assemble: rate}}\n");
  assert_int_equal(begin(&m, "rk4"), PAWL_ERROR_RUN);
  assert_non_null(strstr(m.err.message, "'begin'"));
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nearly),          cmocka_unit_test(test_stretched),
      cmocka_unit_test(test_held_loop),       cmocka_unit_test(test_told),
      cmocka_unit_test(test_four_bar),        cmocka_unit_test(test_at_start),
      cmocka_unit_test(test_impossible),      cmocka_unit_test(test_least_change),
      cmocka_unit_test(test_modes_and_locks), cmocka_unit_test(test_rotation),
      cmocka_unit_test(test_far_from_curved), cmocka_unit_test(test_velocities_at_the_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
