// SPDX-License-Identifier: Apache-2.0
// Families of bodies with coordinates of joints.
#include "run/recorded.h"

// Families that joints carry one by one, chains and all at once, move as the same bodies written
// one after the other.
static void check_family(const char* family, const char* single) {
  Run a = run_all(family), b = run_all(single);
  assert_int_equal(pawl_system_sizes(a.system).v, pawl_system_sizes(b.system).v);
  assert_int_equal(pawl_system_sizes(a.system).rows, pawl_system_sizes(b.system).rows);
  assert_true(compare_runs(&a, &b, 1e-10) >= 6);
  run_end(&a);
  run_end(&b);
}

static void test_families_by_joints(void** unused) {
  (void)unused;
  check_family(
      "model: m\nmechanism: {gravity: [0, -9.81], coordinates: joint}\nparameters: {N: 3}\n"
      "bodies:\n"
      "  link[i=1..N]: {mass: 1/i, inertia: 0.02, centre: [0.25, 0], points: {e: [0.5, 0]}}\n"
      "  bob[k=1..N]: {mass: 0.3, inertia: 0.01, centre: [0, -0.1*k]}\n"
      "joints:\n"
      "  first: {revolute: [ground, \"link[1]\"], start: -0.3}\n"
      "  next[k = 2 .. N]: {revolute: [\"link[k-1]\", \"link[k]\"], at: \"link[k-1].e\", start: "
      "0.1*k, damping: 0.1}\n"
      "  hang[i=1..N]: {prismatic: [\"link[i]\", \"bob[i]\"], at: \"link[i].e\", axis: [0, 1], "
      "spring: {stiffness: 50}}\n"
      "  rope: {distance: [ground, \"link[N]\"], at: [[0, 3], [0.5, 0]], length: "
      "3.4273234005515048}\n"
      "outputs: {e: \"link[N].e\", p: mechanism.momentum, l: mechanism.angular_momentum}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 0.5, step: 0.05}\n",
      "model: m\nmechanism: {gravity: [0, -9.81], coordinates: joint}\n"
      "bodies:\n"
      "  a: {mass: 1, inertia: 0.02, centre: [0.25, 0], points: {e: [0.5, 0]}}\n"
      "  b: {mass: 1/2, inertia: 0.02, centre: [0.25, 0], points: {e: [0.5, 0]}}\n"
      "  c: {mass: 1/3, inertia: 0.02, centre: [0.25, 0], points: {e: [0.5, 0]}}\n"
      "  d: {mass: 0.3, inertia: 0.01, centre: [0, -0.1]}\n"
      "  e: {mass: 0.3, inertia: 0.01, centre: [0, -0.2]}\n"
      "  f: {mass: 0.3, inertia: 0.01, centre: [0, -0.3]}\n"
      "joints:\n"
      "  j: {revolute: [ground, a], start: -0.3}\n"
      "  k: {revolute: [a, b], at: a.e, start: 0.2, damping: 0.1}\n"
      "  l: {revolute: [b, c], at: b.e, start: 0.3, damping: 0.1}\n"
      "  m: {prismatic: [a, d], at: a.e, axis: [0, 1], spring: {stiffness: 50}}\n"
      "  n: {prismatic: [b, e], at: b.e, axis: [0, 1], spring: {stiffness: 50}}\n"
      "  o: {prismatic: [c, f], at: c.e, axis: [0, 1], spring: {stiffness: 50}}\n"
      "  rope: {distance: [ground, c], at: [[0, 3], [0.5, 0]], length: 3.4273234005515048}\n"
      "outputs: {e: c.e, p: mechanism.momentum, l: mechanism.angular_momentum}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 0.5, step: 0.05}\n");
  check_family(
      "model: m\nmechanism: {gravity: [0, 0, -9.81], coordinates: joint}\nparameters: {N: 3}\n"
      "bodies:\n"
      "  base: {mass: 2, inertia: [0.1, 0.2, 0.3]}\n"
      "  link[i=1..N]: {mass: 1/i, inertia: [0.02, 0.03, 0.04], centre: [0.25, 0, 0.1], points: "
      "{e: "
      "[0.5, 0, 0]}}\n"
      "joints:\n"
      "  turret: {revolute: [ground, base], rate: 2}\n"
      "  first: {universal: [base, \"link[1]\"], at: [0.2, 0, 0], start: [-0.3, 0.2], rate: [1, "
      "2]}\n"
      "  next[i=2..N]: {revolute: [\"link[i-1]\", \"link[i]\"], at: \"link[i-1].e\", axis: [0, 1, "
      "2], turn: \"rotation([1, 0, 0], 0.3*i)\", start: 0.1*i, rate: i}\n"
      "outputs: {e: \"link[N].e\", p: mechanism.momentum, l: mechanism.angular_momentum}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 0.5, step: 0.05}\n",
      "model: m\nmechanism: {gravity: [0, 0, -9.81], coordinates: joint}\n"
      "bodies:\n"
      "  base: {mass: 2, inertia: [0.1, 0.2, 0.3]}\n"
      "  a: {mass: 1, inertia: [0.02, 0.03, 0.04], centre: [0.25, 0, 0.1], points: {e: [0.5, 0, "
      "0]}}\n"
      "  b: {mass: 1/2, inertia: [0.02, 0.03, 0.04], centre: [0.25, 0, 0.1], points: {e: [0.5, 0, "
      "0]}}\n"
      "  c: {mass: 1/3, inertia: [0.02, 0.03, 0.04], centre: [0.25, 0, 0.1], points: {e: [0.5, 0, "
      "0]}}\n"
      "joints:\n"
      "  turret: {revolute: [ground, base], rate: 2}\n"
      "  j: {universal: [base, a], at: [0.2, 0, 0], start: [-0.3, 0.2], rate: [1, 2]}\n"
      "  k: {revolute: [a, b], at: a.e, axis: [0, 1, 2], turn: \"rotation([1, 0, 0], 0.6)\", "
      "start: "
      "0.2, rate: 2}\n"
      "  l: {revolute: [b, c], at: b.e, axis: [0, 1, 2], turn: \"rotation([1, 0, 0], 0.9)\", "
      "start: "
      "0.3, rate: 3}\n"
      "outputs: {e: c.e, p: mechanism.momentum, l: mechanism.angular_momentum}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 0.5, step: 0.05}\n");
}

// A family one of whose joints is a constraint moves by itself, whatever the coordinates are.
static void test_families_with_rows(void** unused) {
  (void)unused;
  static const char* const keys[] = {"cut: true", "reaction: true", "friction: {mu: 0.2, pin: 0.1}",
                                     "switch: {engaged: true, release: {at: 0.2}}"};
  static const char* const coordinates[] = {"joint", "absolute"};
  for (int k = 0; k < 4; k++) {
    Run run[2];
    for (int c = 0; c < 2; c++) {
      char text[1024];
      snprintf(text, sizeof text,
               "model: m\nmechanism: {gravity: [0, -9.81], coordinates: %s}\nparameters: {N: 3}\n"
               "bodies: {\"l[i=1..N]\": {mass: 1, inertia: 0.1, centre: [0.5, 0], start: {at: "
               "[i-1, 0]}}}\n"
               "joints:\n"
               "  f: {revolute: [ground, \"l[1]\"]}\n"
               "  n[i=2..N]: {revolute: [\"l[i-1]\", \"l[i]\"], at: [[1, 0], [0, 0]], %s}\n"
               "outputs: {e: mechanism.centre}\n"
               "simulate: {method: event-driven, smooth: dopri, until: 0.4, step: 0.05}\n",
               coordinates[c], keys[k]);
      run[c] = run_all(text);
    }
    assert_true(compare_runs(&run[0], &run[1], 1e-10) >= 6);
    run_end(&run[0]);
    run_end(&run[1]);
  }
}

// Bodies with starts of their own, which absolute coordinates need, and joints that begin there.
static void test_one_text(void** unused) {
  (void)unused;
  Run run[2];
  for (int k = 0; k < 2; k++) {
    char text[2000];
    snprintf(text, sizeof text,
             "model: m\nmechanism: {gravity: [0, 0, -9.81], coordinates: %s}\nparameters: {N: 4}\n"
             "bodies:\n  link[i=1..N]: {shape: {capsule: [0.02, 0.3], density: 1000}, start: {at: "
             "[\"0.3*i - 0.15\", 0, 0], rotation: \"rotation([0, 1, 0], pi/2)\"}}\n"
             "joints:\n  first: {revolute: [ground, \"link[1]\"], at: [[0, 0, 0], [0, 0, -0.15]], "
             "turn: \"rotation([0, 1, 0], pi/2)\", axis: [0, 1, 0]}\n"
             "  next[i=2..N]: {universal: [\"link[i-1]\", \"link[i]\"], at: [[0, 0, 0.15], [0, 0, "
             "-0.15]], axis: [0, 1, 0], axis2: [1, 0, 0]}\n"
             "outputs: {c: \"link[4].at\", d: \"link[2].at\"}\n"
             "simulate: {until: 0.3, step: 0.05, method: dopri, rtol: 1e-12}\n",
             k ? "absolute" : "joint");
    run[k] = run_all(text);
    const char* warned = strstr(pawl_model_warnings(run[k].model),
                                ":5: the start of 'link' is for absolute coordinates; here it "
                                "follows from the joint 'first'");
    assert_int_equal(warned != NULL, k == 0);
  }
  assert_true(pawl_system_sizes(run[0].system).v < pawl_system_sizes(run[1].system).v);
  assert_true(compare_runs(&run[0], &run[1], 1e-9) >= 6);
  run_end(&run[0]);
  run_end(&run[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_families_by_joints),
                                     cmocka_unit_test(test_families_with_rows),
                                     cmocka_unit_test(test_one_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
