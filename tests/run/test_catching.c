// SPDX-License-Identifier: Apache-2.0
// Joints in space that catch with an offset, which they keep (J4): at any angle between the bodies
// the joint leaves the freedom of its type, what it does to the second body is what the momenta of
// that body ask for, and the motion is the same with coordinates of joints and absolute ones.
#include "run/recorded.h"

enum { TEXT = 4096 };

typedef struct Type {
  const char* keys;
  bool turns;  // the second body may turn about the axis z of its own
  int kept;    // of three numbers each of its axes z and x, along the first body
} Type;

static const Type TYPES[] = {{"weld: [a, b]", false, 6},
                             {"prismatic: [a, b], axis: [1, 2, 2]", false, 6},
                             {"revolute: [a, b]", true, 3},
                             {"cylindrical: [a, b]", true, 3},
                             {"screw: [a, b], pitch: 0.3", true, 3},
                             {"planar: [a, b]", true, 3},
                             {"distance: [a, b], length: 0.1", false, 0}};

// A quarter of a turn about each axis, where products of axes have no slope; half a turn and a
// third, where others have none; and some other one.
static const char* const TURNS[] = {"[1, 0, 0], pi/2", "[0, 1, 0], pi/2",   "[0, 0, 1], -pi/2",
                                    "[1, 0, 0], pi",   "[1, 1, 1], 2*pi/3", "[1, 2, 3], 0.7"};

// Body a hangs on a ball; b comes by, is caught at `at` and let go at 0.2.
static Run catch_with(const Type* type, const char* turn, const char* coordinates,
                      const char* method, double at) {
  char text[TEXT];
  snprintf(text, TEXT,
           "model: catching\nmechanism: {gravity: [0.2, 0, -1], coordinates: %s}\nbodies:\n"
           "  a: {mass: 2, inertia: [0.3, 0.4, 0.5], centre: [0.1, 0, 0]}\n"
           "  b: {mass: 1, inertia: [0.1, 0.2, 0.15], start: {at: [1, 0.2, 0.1], rotation: "
           "\"rotation(%s)\"}, rate: {velocity: [-0.1, 0.2, 0], omega: [0.3, 0, -0.2]}}\n"
           "joints:\n"
           "  hang: {spherical: [ground, a], at: [[0, 0, 0.2], [0.3, 0, 0]], rate: [0.1, 0.2, "
           "0.3]}\n"
           "  dock: {%s, reaction: true, switch: {at: %g, on: keep, release: {at: 0.2}}}\n"
           "outputs:\n"
           "  x: transpose(a.R)*b.R*[1, 0, 0]\n  z: transpose(a.R)*b.R*[0, 0, 1]\n"
           "  p: b.momentum\n  l: b.angular_momentum\n  c: b.centre\n  A: a.centre\n"
           "  force: transpose(a.R)*(b.momentum' - b.mass*[0.2, 0, -1])\n"
           "  torque: transpose(a.R)*(b.angular_momentum' - cross(b.at - b.centre, b.momentum' - "
           "b.mass*[0.2, 0, -1]))\n"
           "simulate: {method: %s, step: 0.005, until: 0.3}\n",
           coordinates, turn, type->keys, at, method);
  return run_all(text);
}

static bool caught(const Run* run, int sample, double at) {
  double t = value_at(run, sample, "t");
  return t > at + 1e-9 && t < 0.2 - 1e-9;
}

// What the type keeps of the turn, from the first instant on; and the balance of momenta.
static void check_caught(const Run* run, const Type* type, double at, double tolerance,
                         double balance) {
  static const char* const kept[2][3] = {{"z.x", "z.y", "z.z"}, {"x.x", "x.y", "x.z"}};
  static const char* const acts[] = {"force.x",  "force.y",  "force.z",
                                     "torque.x", "torque.y", "torque.z"};
  int first = 0, seen = 0;
  while (!caught(run, first, at)) {
    first++;
  }
  for (int s = first; caught(run, s, at); s++, seen++) {
    for (int k = 0; k < type->kept; k++) {
      const char* name = kept[k / 3][k % 3];
      CHECK_NEAR(value_at(run, s, name), value_at(run, first, name), tolerance);
    }
    for (int k = 0; k < 6; k++) {
      char name[20];
      snprintf(name, sizeof name, "dock.%s", acts[k]);
      CHECK_NEAR(column_of(run, name) < 0 ? 0.0 : value_at(run, s, name), value_at(run, s, acts[k]),
                 balance);
    }
  }
  assert_true(seen > 20);
  if (type->turns) {
    double turned = fabs(value_at(run, first + seen - 1, "x.x") - value_at(run, first, "x.x")) +
                    fabs(value_at(run, first + seen - 1, "x.y") - value_at(run, first, "x.y")) +
                    fabs(value_at(run, first + seen - 1, "x.z") - value_at(run, first, "x.z"));
    assert_true(turned > 1e-4);
  }
}

static void check_all(const char* method, double at, size_t every, double tolerance,
                      double balance) {
  for (size_t t = 0; t < sizeof TYPES / sizeof *TYPES; t++) {
    for (size_t k = t % every; k < sizeof TURNS / sizeof *TURNS; k += every) {
      Run joint = catch_with(&TYPES[t], TURNS[k], "joint", method, at);
      Run absolute = catch_with(&TYPES[t], TURNS[k], "absolute", method, at);
      check_caught(&joint, &TYPES[t], at, tolerance, balance);
      check_caught(&absolute, &TYPES[t], at, tolerance, balance);
      assert_true(compare_runs(&joint, &absolute, balance) > 20);
      run_end(&joint);
      run_end(&absolute);
    }
  }
}

// At the start, exactly at that angle.
static void test_at_once(void** unused) {
  (void)unused;
  check_all("rk4", 0.0, 2, 1e-9, 1e-9);
}

static void test_in_motion(void** unused) {
  (void)unused;
  check_all("dopri", 0.05, 5, 1e-9, 1e-9);
}

static void test_time_stepping(void** unused) {
  (void)unused;
  check_all("nsga-pva", 0.0, 4, 1e-10, 1e-4);  // of order 2
}

static void test_event_driven(void** unused) {
  (void)unused;
  check_all("event-driven", 0.05, 5, 1e-9, 1e-9);
}

// ---- what acts along the value ------------------------------------------------------------------

// A joint opens with all that acts along its value: from then on two bodies that nothing pulls go
// straight on, until it catches again. What the spring had is lost with it.
static void check_opens(const char* keys, const char* method, double spring) {
  static const char* const going[] = {"va.x", "va.y", "vb.x", "vb.y", "wa.z", "wb.z"};
  double tolerance = strcmp(method, "nsga-pva") == 0 ? 1e-4 : 1e-9;  // of order 2
  Run run[2];
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(text, TEXT,
             "model: opens\nmechanism: {coordinates: %s}\nbodies:\n"
             "  a: {mass: 2, inertia: [0.2, 0.3, 0.25]}\n  b: {mass: 1, inertia: [0.1, 0.1, 0.1]}\n"
             "joints:\n  j: {revolute: [a, b], at: [[0.5, 0, 0], [-0.5, 0, 0]], rate: 1, power: "
             "true, %s, switch: {engaged: true, release: {at: 0.2}, at: 0.4, on: keep}}\n"
             "outputs:\n  va: a.centre'\n  vb: b.centre'\n  wa: a.omega\n  wb: b.omega\n"
             "  p: mechanism.momentum\n  l: mechanism.angular_momentum\n  w: j.rate\n  angle: "
             "j.angle\n"
             "simulate: {method: %s, until: 0.6, step: 0.01}\n",
             k == 0 ? "joint" : "absolute", keys, method);
    run[k] = run_all(text);
    int first = 0, s = 0;
    while (value_at(&run[k], first, "t") < 0.205) {
      first++;
    }
    for (s = first; value_at(&run[k], s, "t") < 0.395; s++) {
      for (int i = 0; i < 6; i++) {
        CHECK_NEAR(value_at(&run[k], s, going[i]), value_at(&run[k], first, going[i]), 1e-10);
      }
      CHECK_NEAR(value_at(&run[k], s, "j.power"), 0, 1e-12);
    }
    assert_true(s > first + 15);
    assert_true(fabs(final_of(&run[k], "w") - value_at(&run[k], s - 1, "w")) > 1e-3);
    CHECK_NEAR(final_of(&run[k], "p.x"), 0, 1e-10);
    CHECK_NEAR(final_of(&run[k], "l.z"), value_at(&run[k], 0, "l.z"), tolerance);
    int before = first;
    while (value_at(&run[k], before, "t") > 0.2 - 1e-9) {
      before--;
    }
    double lost = value_at(&run[k], before, "potential") - value_at(&run[k], first, "potential");
    CHECK_NEAR(lost, spring * pow(value_at(&run[k], before, "angle"), 2) / 2, 1e-10);
  }
  assert_true(compare_runs(&run[0], &run[1], tolerance) > 10);
  run_end(&run[0]);
  run_end(&run[1]);
}

static void test_opens(void** unused) {
  (void)unused;
  check_opens("motor: 2, spring: {stiffness: 3}, damping: 0.2", "dopri", 3);
  check_opens("motor: 2, spring: {stiffness: 3, damping: 0.1}", "nsga-pva", 3);
  check_opens("friction: 0.3", "dopri", 0);
  check_opens("motor: 1, brake: {capacity: 0.2, engaged: true}", "dopri", 0);
  check_opens("motor: 1, lock: {at: 0.1}", "dopri", 0);
  check_opens("drive: t + t^2", "dopri", 0);
}

// A gear opens and catches with its joint: wheel b goes on as it was, and is taken along again.
static void test_gear_opens(void** unused) {
  (void)unused;
  static const char* const coordinates[] = {"joint", "absolute"};
  static const char* const gears[] = {"", ", offset: 0"};
  for (int k = 0; k < 4; k++) {
    char text[TEXT];
    snprintf(text, TEXT,
             "model: geared\nmechanism: {coordinates: %s}\n"
             "bodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}}\n"
             "joints:\n  i: {revolute: [ground, a], rate: 2, motor: 1}\n"
             "  j: {revolute: [ground, b], at: [1, 0, 0], rate: 1, switch: {engaged: true, on: "
             "keep, release: {at: 0.5}, at: 1}}\n"
             "  g: {gear: [i, j], ratio: 2%s}\noutputs: {a: a.omega.z, b: b.omega.z}\n"
             "simulate: {method: dopri, until: 1.5, step: 0.1}\n",
             coordinates[k % 2], gears[k / 2]);
    Run run = run_all(text);
    double a = 0, b = 0;  // 1.25 a' = 1 while it holds; then a' = 1
    for (int s = 0; s < sample_count(&run); s++) {
      double t = value_at(&run, s, "t");
      if (fabs(t - 0.5) > 1e-9 && fabs(t - 1) > 1e-9) {
        double jump = (2 * (2.4 + 0.5) + 1.2) / 5;  // of b at 1 s: the momentum 2 a + b is kept
        b = t < 0.5 ? 1 + 0.4 * t : t < 1 ? 1.2 : jump + 0.4 * (t - 1);
        a = t > 0.5 && t < 1 ? 2.4 + (t - 0.5) : 2 * b;
        CHECK_NEAR(value_at(&run, s, "a"), a, 1e-8);
        CHECK_NEAR(value_at(&run, s, "b"), b, 1e-8);
      }
    }
    run_end(&run);
  }
}

// A weld that catches beside a joint locks all of it: with coordinates of the joint most of its
// rows follow from others, and everything comes to rest.
static void test_locks_all(void** unused) {
  (void)unused;
  static const char* const joints[] = {
      "planar: [ground, a], rate: [1, 2, 3]", "revolute: [ground, a], axis: [1, 2, 2], rate: 3",
      "universal: [ground, a], rate: [1, 2]", "spherical: [ground, a], rate: [1, 2, 3]"};
  for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
    Run run[2];
    for (int k = 0; k < 2; k++) {
      char text[TEXT];
      snprintf(text, TEXT,
               "model: locked\nmechanism: {coordinates: %s, gravity: [0, 0, -9.81]}\n"
               "bodies: {a: {mass: 1, inertia: [1, 2, 3], centre: [0.1, 0.2, 0.1]}}\n"
               "joints: {j: {%s}, lock: {weld: [ground, a], switch: {at: 0.5, on: keep, release: "
               "{at: 1}}}}\n"
               "outputs: {x: a.centre, w: a.omega}\n"
               "simulate: {method: dopri, rtol: 1e-12, step: 0.1, until: 1.5}\n",
               k == 0 ? "joint" : "absolute", joints[i]);
      run[k] = run_all(text);
    }
    assert_true(compare_runs(&run[0], &run[1], 1e-8) >= 6);
    run_end(&run[0]);
    run_end(&run[1]);
  }
}

// ---- states in equations
// --------------------------------------------------------------------------

// x holds the distance at which it engages, on a line through the place of that instant.
static void test_set(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: holds\ncoordinates: {x: {rate: 1}, y: {rate: 2}}\nstates: {a: 5, b: 7}\n"
      "kinetic: x'^2/2 + y'^2\nconstraints:\n"
      "  line: {equation: \"(x - a) + (y - b)^2 = x^2/50\", at: [0.5, 1.5], for: 0.5, on: keep,\n"
      "         set: {a: x, b: \"y + t\"}}\n"
      "simulate: {method: dopri, step: 0.01, until: 3}\n");
  double held = 0;
  for (int s = 0; s < sample_count(&run); s++) {
    double t = value_at(&run, s, "t"), x = value_at(&run, s, "x"), y = value_at(&run, s, "y");
    double a = value_at(&run, s, "a"), b = value_at(&run, s, "b");
    double g = x - a + (y - b) * (y - b) - x * x / 50;
    if (t < 0.5 - 1e-9) {
      CHECK_NEAR(a, 5, 0);
      CHECK_NEAR(b, 7, 0);
    } else if (fabs(t - 0.5) < 1e-9 || fabs(t - 1.5) < 1e-9) {
      held = t * t - x * x / 50;  // (t)^2 is (y - b)^2, at the instant
    } else if ((t > 0.5 && t < 1) || (t > 1.5 && t < 2)) {
      CHECK_NEAR(g, held, 1e-9);
    }
  }
  run_end(&run);
}

// Wagons that couple one after the other, each at its own angle.
static void test_family(void** unused) {
  (void)unused;
  static const char* const coordinates[] = {"auto", "absolute"};
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(text, TEXT,
             "model: train\nmechanism: {coordinates: %s}\nparameters: {N: 4}\nbodies:\n"
             "  w[i=1..N]: {mass: i, inertia: [0.1, 0.2, 0.3], start: {at: [\"2*i\", 0, 0], "
             "rotation: \"rotation([0, 1, 0], i*pi/4)\"}, rate: {velocity: [\"5 - i\", 0, "
             "\"0.1*i\"], omega: [0, \"0.1*i\", 0]}}\n"
             "joints:\n"
             "  hook[i=1..N-1]: {weld: [\"w[i]\", \"w[i+1]\"], switch: {when: \"t > i/10\", on: "
             "keep}}\n"
             "outputs: {p: mechanism.momentum, l: mechanism.angular_momentum,\n"
             "  a: \"transpose(w[1].R)*w[2].R*[1, 0, 0]\", b: \"w[4].omega - w[1].omega\"}\n"
             "simulate: {method: rk4, step: 0.005, until: 0.5}\n",
             coordinates[k]);
    Run run = run_all(text);
    static const char* const kept[] = {"p.x", "p.z", "l.y"};
    for (int i = 0; i < 3; i++) {
      CHECK_NEAR(final_of(&run, kept[i]), value_at(&run, 0, kept[i]), 1e-10);
    }
    CHECK_NEAR(final_of(&run, "b.y"), 0, 1e-10);
    double angle = acos(-1.0) / 4 + 0.01;  // 0.1 rad/s for 0.1 s
    CHECK_NEAR(final_of(&run, "a.x"), cos(angle), 1e-10);
    run_end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_at_once),       cmocka_unit_test(test_in_motion),
      cmocka_unit_test(test_time_stepping), cmocka_unit_test(test_event_driven),
      cmocka_unit_test(test_opens),         cmocka_unit_test(test_gear_opens),
      cmocka_unit_test(test_locks_all),     cmocka_unit_test(test_set),
      cmocka_unit_test(test_family)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
