// SPDX-License-Identifier: Apache-2.0
// Rolling without slip in space: spheres and wheels on planes, at rest and moving, against closed
// forms and against a model by hand; with coordinates of joints and absolute ones.
#include "run/recorded.h"

enum { TEXT = 2048 };

static const char* const COORDINATES[] = {"joint", "absolute"};

// Down a slope with 5/7 g sin(a), by friction 2/7 m g sin(a) at the radius.
static void test_sphere_on_slope(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: slope\nmechanism: {gravity: [0, 0, -9.81]}\n"
      "bodies: {ball: {mass: 3, inertia: [0.012, 0.012, 0.012], start: {at: [0.06, 0, 0.08]}}}\n"
      "joints: {roll: {rolling: [ground, ball], radius: 0.1, normal: [3, 0, 4], reaction: true}}\n"
      "outputs: {slope: \"dot(ball.at, [4, 0, -3])/5\", out: \"dot(ball.at, [3, 0, 4])/5\", spin: "
      "ball.omega.y, foot: roll.contact}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 1, step: 0.1}\n");
  double along = 9.81 * 0.6, a = 5.0 / 7 * along, normal = 3 * 9.81 * 0.8, rub = 6.0 / 7 * along;
  for (int s = 0; s < sample_count(&run); s++) {
    double t = value_at(&run, s, "t"), way = a * t * t / 2;
    CHECK_NEAR(value_at(&run, s, "slope"), way, 1e-10);
    CHECK_NEAR(value_at(&run, s, "out"), 0.1, 1e-12);
    CHECK_NEAR(value_at(&run, s, "spin"), a * t / 0.1, 1e-9);
    CHECK_NEAR(value_at(&run, s, "foot.x"), 0.8 * way, 1e-10);
    CHECK_NEAR(value_at(&run, s, "foot.z"), -0.6 * way, 1e-10);
    CHECK_NEAR(value_at(&run, s, "roll.force.x"), 0.6 * normal - 0.8 * rub, 1e-9);
    CHECK_NEAR(value_at(&run, s, "roll.force.z"), 0.8 * normal + 0.6 * rub, 1e-9);
    CHECK_NEAR(value_at(&run, s, "roll.torque.y"), rub * 0.1, 1e-9);
  }
  run_end(&run);
}

// On a turntable of the rate w a solid sphere moves in a circle, at the rate 2/7 w.
static void test_turntable(void** unused) {
  (void)unused;
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "model: turntable\nmechanism: {gravity: [0, 0, -9.81], coordinates: %s}\n"
             "parameters: {w: 3, r: 0.2, v: 0.3}\nbodies:\n"
             "  table: {mass: 5, inertia: [1, 1, 2]}\n"
             "  ball: {mass: 2, inertia: [0.032, 0.032, 0.032], start: {at: [1, 0, r]}, rate: "
             "{velocity: [v, 0, 0], omega: [w/r, v/r, 0.5]}}\n"
             "joints:\n"
             "  axle: {revolute: [ground, table], rate: w, drive: w*t}\n"
             "  roll: {rolling: [table, ball], radius: r}\n"
             "outputs: {p: ball.at}\n"
             "simulate: {method: dopri, rtol: 1e-12, until: 3, step: 0.1}\n",
             COORDINATES[k]);
    Run run = run_all(text);
    double w = 2.0 / 7 * 3, v = 0.3;
    for (int s = 0; s < sample_count(&run); s++) {
      double t = value_at(&run, s, "t");
      CHECK_NEAR(value_at(&run, s, "p.x"), 1 + v / w * sin(w * t), 1e-9);
      CHECK_NEAR(value_at(&run, s, "p.y"), v / w * (1 - cos(w * t)), 1e-9);
      CHECK_NEAR(value_at(&run, s, "p.z"), 0.2, 1e-10);
    }
    run_end(&run);
  }
}

// A disc that rolls and falls, as models/rolling-disc.yaml has it in Euler angles.
static void test_disc_by_hand(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: disc\nmechanism: {gravity: [0, 0, -9.81]}\n"
      "parameters: {R: 0.5, lean: 0.3, fall: 0.2, turn: 0.7, W: 6 + turn*sin(lean)}\nbodies:\n"
      "  disc:\n"
      "    mass: 2\n    inertia: [0.125, 0.25, 0.125]\n"
      "    start: {at: [0, 0, R*cos(lean)], rotation: \"rotation([1, 0, 0], lean)\"}\n"
      "    rate: {velocity: [R*W, -R*fall*cos(lean), -R*fall*sin(lean)], omega: [fall, W*cos(lean) "
      "- turn*cos(lean)*sin(lean), W*sin(lean) + turn*cos(lean)^2]}\n"
      "joints: {roll: {rolling: [ground, disc], radius: R, axis: [0, 3, 0]}}\n"
      "outputs: {foot: roll.contact}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 3, step: 0.1}\n");
  static const char* const columns[][2] = {{"disc.centre.x", "x"},
                                           {"disc.centre.y", "y"},
                                           {"foot.x", "contact_x"},
                                           {"foot.y", "contact_y"},
                                           {"energy", "energy"}};
  Run hand = run_file("rolling-disc", NULL, NULL);
  hand.def.simulate = run.def.simulate;
  hand.def.keep_samples = true;
  run_to(&hand, 3, 0.1);
  assert_int_equal(sample_count(&run), sample_count(&hand));
  for (int s = 0; s < sample_count(&run); s++) {
    for (int k = 0; k < 5; k++) {
      CHECK_NEAR(value_at(&run, s, columns[k][0]), value_at(&hand, s, columns[k][1]), 1e-9);
    }
    CHECK_NEAR(value_at(&run, s, "foot.z"), 0.0, 1e-10);
  }
  run_end(&run);
  run_end(&hand);
}

// Two driven wheels on one axle: ahead by the mean of their rates, and round by the difference.
// That both stay on the plane and do not slip along the axle is said more than once.
static void test_two_wheels(void** unused) {
  (void)unused;
  double last[2][3];
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "model: cart\nmechanism: {gravity: [0, 0, -9.81], coordinates: %s}\n"
             "parameters: {r: 0.3, b: 0.5}\nbodies:\n"
             "  frame: {mass: 4, inertia: [0.3, 0.4, 0.5], centre: [0.1, 0, 0]}\n"
             "  left: {mass: 1, inertia: [0.02, 0.03, 0.02]}\n"
             "  right: {mass: 1, inertia: [0.02, 0.03, 0.02]}\n"
             "joints:\n"
             "  ride: {planar: [ground, frame], at: [0, 0, r]}\n"
             "  l: {revolute: [frame, left], axis: [0, 1, 0], at: [0, b, 0], motor: 1}\n"
             "  r: {revolute: [frame, right], axis: [0, 1, 0], at: [0, -b, 0], motor: 2*cos(t)}\n"
             "  roll_l: {rolling: [ground, left], radius: r, axis: [0, 1, 0]}\n"
             "  roll_r: {rolling: [ground, right], radius: r, axis: [0, 1, 0]}\n"
             "outputs: {x: frame.at.x, y: frame.at.y, yaw: frame.omega.z, lr: l.rate, rr: r.rate,\n"
             "  ahead: \"dot(frame.at', frame.R*[1, 0, 0])\", aside: \"dot(frame.at', frame.R*[0, "
             "1, 0])\"}\n"
             "simulate: {method: dopri, rtol: 1e-12, until: 2, step: 0.1}\n",
             COORDINATES[k]);
    Run run = run_all(text);
    for (int s = 0; s < sample_count(&run); s++) {
      double l = value_at(&run, s, "lr"), r = value_at(&run, s, "rr");
      CHECK_NEAR(value_at(&run, s, "ahead"), 0.3 * (l + r) / 2, 1e-9);
      CHECK_NEAR(value_at(&run, s, "aside"), 0.0, 1e-9);
      CHECK_NEAR(value_at(&run, s, "yaw"), 0.3 * (r - l) / (2 * 0.5), 1e-9);
    }
    last[k][0] = final_of(&run, "x");
    last[k][1] = final_of(&run, "y");
    last[k][2] = final_of(&run, "lr");
    run_end(&run);
  }
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR(last[0][i], last[1][i], 1e-9);
  }
  assert_true(fabs(last[0][1]) > 0.01);
}

// What is let go flies: the wheel in the plane and the ball in space slip no more by their joint.
static void test_released(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: let-go\nmechanism: {gravity: [1, 0, -9.81]}\n"
      "bodies: {ball: {mass: 2, inertia: [0.032, 0.032, 0.032], start: {at: [0, 0, 0.2]}}}\n"
      "joints: {roll: {rolling: [ground, ball], radius: 0.2, switch: {engaged: true, release: {at: "
      "1}}}}\n"
      "outputs: {p: ball.at, w: ball.omega.y}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 2, step: 0.1}\n");
  double v = 5.0 / 7;
  CHECK_NEAR(final_of(&run, "p.x"), v / 2 + v + 0.5, 1e-10);
  CHECK_NEAR(final_of(&run, "p.z"), 0.2 - 9.81 / 2, 1e-10);
  CHECK_NEAR(final_of(&run, "w"), v / 0.2, 1e-10);
  run_end(&run);
  run = run_all(
      "model: let-go\nmechanism: {gravity: [1, -9.81]}\n"
      "bodies: {wheel: {mass: 2, inertia: 0.04, start: {at: [0, 0.2]}}}\n"
      "joints: {roll: {rolling: [ground, wheel], radius: 0.2, switch: {engaged: true, release: "
      "{at: 1}}}}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 2, step: 0.1}\n");
  v = 2.0 / 3;
  CHECK_NEAR(final_of(&run, "wheel.centre.x"), v / 2 + v + 0.5, 1e-10);
  CHECK_NEAR(final_of(&run, "wheel.angle'"), -v / 0.2, 1e-10);
  run_end(&run);
}

// A cart on a rail whose wheel rolls beside it: on the rail it cannot slip aside, which is 0 = 0
// with coordinates of joints. 5 N less 0.1 N m at the radius move 4 kg and what turns.
static void test_wheel_on_rail(void** unused) {
  (void)unused;
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "model: cart\nmechanism: {gravity: [0, 0, -9.81], coordinates: %s}\nbodies:\n"
             "  cart: {mass: 3, inertia: [1, 1, 1]}\n"
             "  w: {mass: 1, inertia: [0.02, 0.04, 0.02]}\n"
             "joints:\n"
             "  s: {prismatic: [ground, cart], axis: [1, 0, 0], at: [[0, 0, 0.3], [0, 0, 0]], "
             "motor: 5}\n"
             "  ax: {revolute: [cart, w], axis: [0, 1, 0], friction: 0.1}\n"
             "  r: {rolling: [ground, w], radius: 0.3, axis: [0, 1, 0]}\n"
             "outputs: {x: s.travel, a: ax.angle}\n"
             "simulate: {method: dopri, rtol: 1e-11, until: 2, step: 0.1}\n",
             COORDINATES[k]);
    Run run = run_all(text);
    double a = (5 - 0.1 / 0.3) / (4 + 0.04 / 0.09);
    for (int s = 0; s < sample_count(&run); s++) {
      double t = value_at(&run, s, "t");
      CHECK_NEAR(value_at(&run, s, "x"), a * t * t / 2, 1e-10);
      CHECK_NEAR(value_at(&run, s, "a"), a * t * t / 2 / 0.3, 1e-9);
    }
    run_end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sphere_on_slope), cmocka_unit_test(test_turntable),
      cmocka_unit_test(test_disc_by_hand),    cmocka_unit_test(test_two_wheels),
      cmocka_unit_test(test_released),        cmocka_unit_test(test_wheel_on_rail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
