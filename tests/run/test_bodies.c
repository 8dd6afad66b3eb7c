// SPDX-License-Identifier: Apache-2.0
// Bodies and joints: every mechanism with coordinates of joints and with absolute ones moves the
// same way, to 1e-9; and mechanisms that were also written by hand move as those.
#include "run/four_bar.h"
#include "run/recorded.h"

enum { TEXT = 4096 };

static const char FOUR_BAR[] =
    "model: four-bar\n"
    "mechanism: {gravity: [0, -9.81], coordinates: %s}\n" FOUR_BAR_BODIES
    "  b: {revolute: [crank, coupler], at: crank.end}\n"
    "  d: {revolute: [ground, rocker], at: [1.1, 0]}\n"
    "outputs: {p: coupler.end, phi: a.angle, w: rocker.omega, e: d.angle}\n"
    "simulate: {method: dopri, rtol: 1e-12, until: 1.5, step: 0.05}\n";

// A pendulum on the coupler, whose place is found: it begins as it is told to. The loop is found
// from the angle between crank and coupler.
static const char HUNG_ON_LOOP[] =
    "model: hung-on-loop\n"
    "mechanism: {gravity: [0, -9.81], coordinates: %s}\n"
    "bodies:\n"
    "  crank: {mass: 1, inertia: 0.02, centre: [0.2, 0], points: {end: [0.4, 0]}}\n"
    "  coupler: {mass: 2, inertia: 0.2, centre: [0.5, 0.1], points: {end: [1, 0]}}\n"
    "  rocker: {mass: 1.5, inertia: 0.1, centre: [0.4, 0], points: {end: [0.8, 0]}}\n"
    "  bob: {mass: 1, inertia: 0.1, centre: [0, -0.3]}\n"
    "joints:\n"
    "  a: {revolute: [ground, crank], guess: 0.9}\n"
    "  b: {revolute: [crank, coupler], at: crank.end, start: -0.4, rate: -4}\n"
    "  d: {revolute: [ground, rocker], at: [1.1, 0], guess: 1.5}\n"
    "  c: {revolute: [coupler, rocker], at: [coupler.end, rocker.end]}\n"
    "  p: {revolute: [coupler, bob], at: [0.5, 0], start: 0.3, rate: 2}\n"
    "outputs: {p: coupler.end, phi: a.angle, psi: b.angle, w: p.rate, v: b.rate, e: p.angle}\n"
    "simulate: {method: dopri, rtol: 1e-12, until: 0.5, step: 0.05}\n";

// The joint that closes the loop is the one that is told how to begin.
static const char FROM_LAST[] =
    "model: from-last\n"
    "mechanism: {gravity: [0, -9.81], coordinates: %s}\n"
    "bodies:\n"
    "  crank: {mass: 1, inertia: 0.02, centre: [0.2, 0], points: {end: [0.4, 0]}}\n"
    "  coupler: {mass: 2, inertia: 0.2, centre: [0.5, 0.1], points: {end: [1, 0]}}\n"
    "  rocker: {mass: 1.5, inertia: 0.1, centre: [0.4, 0], points: {end: [0.8, 0]}}\n"
    "joints:\n"
    "  a: {revolute: [ground, crank], guess: 0.9}\n"
    "  b: {revolute: [crank, coupler], at: crank.end, guess: -0.4}\n"
    "  d: {revolute: [ground, rocker], at: [1.1, 0], guess: 1.5}\n"
    "  c: {revolute: [coupler, rocker], at: [coupler.end, rocker.end], cut: true, start: 1, rate: "
    "2}\n"
    "outputs: {p: coupler.end, phi: a.angle, psi: b.angle, w: c.rate, e: c.angle, f: d.rate}\n"
    "simulate: {method: dopri, rtol: 1e-12, until: 0.3, step: 0.05}\n";

// The rate of `b` follows from that of `a`, and what hangs on it keeps its own.
static const char HUNG_ON_GEAR[] =
    "model: hung-on-gear\n"
    "mechanism: {gravity: [0, 0, -9.81], coordinates: %s}\n"
    "bodies:\n"
    "  one: {mass: 1, inertia: [0.05, 0.06, 0.07], centre: [0.3, 0, 0.1]}\n"
    "  two: {mass: 2, inertia: [0.1, 0.15, 0.12], centre: [0.1, 0.2, 0]}\n"
    "  three: {mass: 1, inertia: [0.05, 0.06, 0.07], centre: [0.1, -0.1, 0.2]}\n"
    "  four: {mass: 1, inertia: [0.05, 0.06, 0.07], centre: [0.1, -0.1, 0.2]}\n"
    "joints:\n"
    "  a: {revolute: [ground, one], axis: [0, 1, 0], rate: 1}\n"
    "  b: {revolute: [one, two], at: [1, 0, 0], axis: [0, 0.6, 0.8], start: 0.2}\n"
    "  g: {gear: [a, b], ratio: 2}\n"
    "  c: {universal: [two, three], at: [0, 1, 0], start: [0.3, 0.4], rate: [2, -1]}\n"
    "  d: {spherical: [three, four], at: [0, 0, 1], start: {zyx: [0.1, 0.2, 0.3]}, rate: [1, 2, "
    "3]}\n"
    "outputs: {p: four.centre, w: four.omega, u: three.omega, x: b.rate, y: c.rate, z: c.angle2}\n"
    "simulate: {method: dopri, rtol: 1e-12, until: 0.5, step: 0.05}\n";

static const char SLIDER_CRANK[] =
    "model: slider-crank\n"
    "mechanism: {gravity: [0, -9.81], coordinates: %s}\n"
    "bodies:\n"
    "  crank: {mass: 1, inertia: 0.01, centre: [0.05, 0], points: {pin: [0.1, 0]}}\n"
    "  rod: {mass: 0.6, inertia: 0.004, centre: [0.15, 0], points: {big: [0, 0], small: [0.3, "
    "0]}}\n"
    "  piston: {mass: 0.4, inertia: 1e-3, shape: {box: [0.1, 0.05]}}\n"
    "joints:\n"
    "  bearing: {revolute: [ground, crank], start: 40*deg, rate: 10, motor: 2*sin(t), damping: "
    "0.01}\n"
    "  big: {revolute: [rod, crank], at: [rod.big, crank.pin]}\n"
    "  gudgeon: {revolute: [rod, piston], at: rod.small}\n"
    "  bore: {prismatic: [ground, piston], axis: [1, 0]}\n"
    "outputs: {x: piston.at, phi: bearing.angle, w: rod.omega, s: bore.travel}\n"
    "simulate: {method: dopri, rtol: 1e-12, until: 1, step: 0.05}\n";

static const char HUNG_PLATE[] =
    "model: hung\n"
    "mechanism: {gravity: [0, -9.81], coordinates: %s}\n"
    "bodies:\n"
    "  plate: {mass: 1, inertia: 0.05, points: {l: [-0.5, 0], r: [0.5, 0.1]}, start: {at: [0, -1], "
    "angle: 0.2}, rate: {velocity: [0, 0], omega: 0}}\n"
    "  bob: {mass: 0.3, inertia: 0.01, centre: [0, -0.3]}\n"
    "joints:\n"
    "  rope: {distance: [ground, plate], at: [[0, 0], plate.l], length: \"norm([0, -1] + "
    "rotation(0.2)*[-0.5, 0])\"}\n"
    "  arm: {revolute: [bob, plate], at: [[0, 0], plate.r], start: 0.4, rate: 0.2, spring: "
    "{stiffness: 3, length: 0.1}, turn: 0.3}\n"
    "outputs: {p: plate.centre, phi: arm.angle, w: bob.omega, m: mechanism.momentum, l: "
    "mechanism.angular_momentum, c: mechanism.centre, r: arm.rate}\n"
    "simulate: {method: dopri, rtol: 1e-12, until: 1, step: 0.05}\n";

static const char SLOT[] =
    "model: slot\n"
    "mechanism: {gravity: [0, -9.81], coordinates: %s}\n"
    "parameters: {a: 0.3}\n"
    "bodies:\n"
    "  cart: {mass: 3}\n"
    "  arm: {mass: 1, shape: {box: [1, 0.1], at: [0.5, 0], density: 10}, points: {tip: [1, 0]}}\n"
    "  bead: {shape: {disc: 0.1, density: 30}, start: {at: [\"-0.1*cos(a) + 0.3*cos(-0.3)\", "
    "\"-0.1*sin(a)+0.3*sin(-0.3)\"]}}\n"
    "joints:\n"
    "  rail: {prismatic: [cart, ground], axis: [cos(a), sin(a)], start: 0.1, }\n"
    "  pin: {revolute: [cart, arm], start: -0.3}\n"
    "  guide: {slot: [arm, bead], cut: true}\n"
    "outputs: {c: cart.at, tip: arm.tip, b: bead.at, v: rail.travel, r: rail.rate}\n"
    "simulate: {method: dopri, rtol: 1e-12, until: 0.5, step: 0.05}\n";

static const char GEARED[] =
    "model: geared\n"
    "mechanism: {gravity: [0, -9.81], coordinates: %s}\n"
    "bodies:\n"
    "  a: {mass: 1, inertia: 0.1, centre: [0.3, 0], points: {p: [1, 0]}}\n"
    "  b: {mass: 1, inertia: 0.1, centre: [0.3, 0]}\n"
    "  c: {mass: 2}\n"
    "joints:\n"
    "  j: {revolute: [ground, a], start: 0.4, lock: {at: 0.2, for: 0.3}, friction: 0.3}\n"
    "  k: {revolute: [a, b], at: a.p, start: 0.2, stops: {low: -0.5, high: 1, restitution: 0.4}}\n"
    "  r: {prismatic: [ground, c], axis: [0, 1], at: [2, 0]}\n"
    "  g: {gear: [r, j], ratio: 0.5}\n"
    "outputs: {ja: j.angle, ka: k.angle, rt: r.travel}\n"
    "simulate: {method: event-driven, smooth: dopri, rtol: 1e-12, until: 1, step: 0.01}\n";

static const char REDUNDANT[] =
    "model: four-bar-in-space\n"
    "mechanism: {gravity: [0, 0, -9.81], coordinates: %s}\n"
    "bodies:\n"
    "  crank: {mass: 1, inertia: [0.01, 0.02, 0.02], centre: [0.2, 0, 0], points: {end: [0.4, 0, "
    "0]}}\n"
    "  coupler: {mass: 2, inertia: [0.01, 0.2, 0.2], centre: [0.5, 0, 0], points: {end: [1, 0, "
    "0]}}\n"
    "  rocker: {mass: 1.5, inertia: [0.1, 0.1, 0.1], centre: [0.2, 0, 0], points: {end: [0.8, 0, "
    "0]}}\n"
    "joints:\n"
    "  a: {revolute: [ground, crank], axis: [0, 1, 0], start: -0.9, rate: 3}\n"
    "  b: {revolute: [crank, coupler], axis: [0, 1, 0], at: crank.end}\n"
    "  d: {revolute: [ground, rocker], axis: [0, 1, 0], at: [1.1, 0, 0], guess: -1}\n"
    "  c: {revolute: [coupler, rocker], axis: [0, 1, 0], at: [coupler.end, rocker.end]}\n"
    "outputs: {p: coupler.end, w: rocker.omega, e: d.angle}\n"
    "simulate: {method: dopri, rtol: 1e-12, until: 0.5, step: 0.05}\n";

static const char IN_SPACE[] =
    "model: joints-in-space\n"
    "mechanism: {gravity: [0, 0, -9.81], coordinates: %s}\n"
    "bodies:\n"
    "  a: {mass: 2, inertia: [0.1, 0.2, 0.15], centre: [0.1, 0, 0.2], points: {p: [0.3, 0.1, "
    "0.4]}}\n"
    "  b: {mass: 1, inertia: [[0.1, 0.01, 0], [0.01, 0.08, 0.02], [0, 0.02, 0.06]], centre: [0, "
    "0.1, 0.2], points: {q: [0.1, 0, 0.5]}}\n"
    "  c: {mass: 1, inertia: [0.03, 0.04, 0.05], centre: [0.1, 0.1, 0.1]}\n"
    "  d: {shape: {cylinder: [0.1, 0.4], density: 50, at: [0, 0, 0.2]}}\n"
    "joints:\n"
    "  j1: {%s: [ground, a], axis: [1, 2, 2], turn: {xyz: [0.1, 0.2, 0.3]}, at: [[0.1, 0.2, 0.3], "
    "[0.05, 0, 0]]%s}\n"
    "  j2: {revolute: [b, a], axis: [0, 1, 0], at: [[0, 0, 0.1], a.p], start: 0.4, rate: 0.7, "
    "turn: \"rotation([1, 0, 0], 0.5)\"}\n"
    "  j3: {%s: [b, c], at: b.q%s}\n"
    "  j4: {weld: [d, c], at: [[0, 0, 0], [0.2, 0, 0]], turn: {zyx: [0.3, 0, 0]}}\n"
    "outputs: {p: a.p, q: b.q, c: c.centre, d: d.at, w: c.omega, m: mechanism.momentum, l: "
    "mechanism.angular_momentum, phi: j2.angle}\n"
    "simulate: {method: dopri, rtol: 1e-12, until: 0.5, step: 0.05}\n";

// ---- runs -------------------------------------------------------------------------------------

static void check_both(const char* joint, const char* absolute) {
  Run a = run_all(joint), b = run_all(absolute);
  assert_true(pawl_system_sizes(a.system).v < pawl_system_sizes(b.system).v);
  assert_true(compare_runs(&a, &b, 1e-9) >= 6);
  run_end(&a);
  run_end(&b);
}

// ---- both kinds of coordinates ----------------------------------------------------------------

static void test_plane(void** unused) {
  (void)unused;
  static const char* const models[] = {FOUR_BAR,  SLIDER_CRANK, HUNG_PLATE,   SLOT,     GEARED,
                                       REDUNDANT, HUNG_ON_LOOP, HUNG_ON_GEAR, FROM_LAST};
  for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
    char joint[TEXT], absolute[TEXT];
    assert_in_range(snprintf(joint, TEXT, models[k], "joint"), 1, TEXT - 1);
    assert_in_range(snprintf(absolute, TEXT, models[k], "absolute"), 1, TEXT - 1);
    check_both(joint, absolute);
  }
}

static void test_kept_start(void** unused) {
  (void)unused;
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(text, TEXT, FROM_LAST, k ? "absolute" : "joint");
    Run run = run_all(text);
    CHECK_NEAR(value_at(&run, 0, "e"), 1.0, 1e-12);
    CHECK_NEAR(value_at(&run, 0, "w"), 2.0, 1e-12);
    run_end(&run);
  }
}

// Loops that begin as one joint is told to, which is rows or not.
#define BARS(given)                                                                           \
  "model: bars\nmechanism: {gravity: [0, -9.81], coordinates: %s}\nbodies:\n"                 \
  "  a: {mass: 1, inertia: 0.05, centre: [0.25, 0], points: {tip: [0.5, 0]}}\n"               \
  "  b: {mass: 1.5, inertia: 0.1, centre: [0.5, 0], points: {tip: [1, 0]}}\n"                 \
  "  c: {mass: 1, inertia: 0.06, centre: [0.35, 0.05], points: {tip: [0.8, 0]}}\n"            \
  "joints:\n  j: {revolute: [ground, a], start: 1.1, rate: 0.7" given                         \
  "}\n  k: {revolute: [a, b], at: [a.tip, [0, 0]], guess: -0.8}\n"                            \
  "  l: {revolute: [ground, c], at: [[1.1, 0], [0, 0]], guess: 1.4}\n"                        \
  "  m: {revolute: [b, c], at: [b.tip, c.tip]}\noutputs: {e: j.angle, w: j.rate, u: b.tip}\n" \
  "simulate: {method: event-driven, smooth: dopri, rtol: 1e-12, until: 0.05, step: 0.01}\n"

#define SLIDER(given)                                                                  \
  "model: slider\nmechanism: {gravity: [0, -9.81], coordinates: %s}\nbodies:\n"        \
  "  a: {mass: 1, inertia: 0.05, points: {tip: [0.5, 0]}}\n"                           \
  "  b: {mass: 1, inertia: 0.05, centre: [0.4, 0], points: {tip: [0.8, 0]}}\n"         \
  "  s: {mass: 2, inertia: 0.01}\njoints:\n  i: {revolute: [ground, a], guess: 0.6}\n" \
  "  k: {revolute: [a, b], at: [a.tip, [0, 0]], guess: -0.8}\n"                        \
  "  l: {revolute: [b, s], at: [b.tip, [0, 0]]}\n"                                     \
  "  j: {prismatic: [ground, s], start: 1.1, rate: 0.7" given                          \
  "}\noutputs: {e: j.travel, w: j.rate, u: b.tip}\n"                                   \
  "simulate: {method: event-driven, smooth: dopri, rtol: 1e-12, until: 0.05, step: 0.01}\n"

#define RSSR(given)                                                                                \
  "model: rssr\nmechanism: {gravity: [0, 0, -9.81], coordinates: %s}\nbodies:\n"                   \
  "  a: {mass: 1, inertia: [0.02, 0.02, 0.02], centre: [0.15, 0, 0], points: {tip: [0.3, 0, "      \
  "0]}}\n"                                                                                         \
  "  c: {mass: 2, inertia: [0.05, 0.06, 0.07], centre: [0.4, 0, 0], points: {tip: [0.8, 0, 0]}}\n" \
  "  d: {mass: 1.5, inertia: [0.03, 0.02, 0.05], centre: [0, 0.3, 0], points: {tip: [0, 0.6, "     \
  "0]}}\n"                                                                                         \
  "joints:\n  j: {revolute: [ground, a], start: 1.1, rate: 0.7" given                              \
  "}\n  s: {spherical: [a, c], at: [a.tip, [0, 0, 0]]}\n"                                          \
  "  k: {revolute: [ground, d], at: [[0.7, 0.2, 0], [0, 0, 0]], axis: [1, 0, 0], guess: 0.48}\n"   \
  "  l: {universal: [c, d], at: [c.tip, d.tip], axis: [0, 1, 0], axis2: [0, 0, 1]}\n"              \
  "outputs: {e: j.angle, w: j.rate, u: c.tip}\n"                                                   \
  "simulate: {method: event-driven, smooth: dopri, rtol: 1e-12, until: 0.05, step: 0.01}\n"

static void test_told_in_loop(void** unused) {
  (void)unused;
  static const char* const models[] = {BARS(""),
                                       BARS(", cut: true"),
                                       BARS(", reaction: true"),
                                       BARS(", friction: {mu: 0.2, pin: 0.05}"),
                                       BARS(", switch: {engaged: true}"),
                                       SLIDER(""),
                                       SLIDER(", cut: true"),
                                       SLIDER(", reaction: true"),
                                       SLIDER(", friction: {mu: 0.2}"),
                                       SLIDER(", switch: {engaged: true}"),
                                       RSSR(""),
                                       RSSR(", cut: true"),
                                       RSSR(", reaction: true"),
                                       RSSR(", friction: {mu: 0.2, pin: 0.05}"),
                                       RSSR(", switch: {engaged: true}")};
  for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
    Run run[2];
    for (int i = 0; i < 2; i++) {
      char text[TEXT];
      assert_in_range(snprintf(text, TEXT, models[k], i ? "absolute" : "joint"), 1, TEXT - 1);
      run[i] = run_all(text);
      CHECK_NEAR(value_at(&run[i], 0, "e"), 1.1, 1e-11);
      CHECK_NEAR(value_at(&run[i], 0, "w"), 0.7, 1e-11);
    }
    assert_true(compare_runs(&run[0], &run[1], 1e-8) >= 4);
    run_end(&run[0]);
    run_end(&run[1]);
  }
}

// Guesses that are far away lead to the same mechanism whatever the coordinates are.
static void check_guess(const char* text, const char* name, double expected) {
  for (int k = 0; k < 2; k++) {
    char filled[TEXT];
    assert_in_range(snprintf(filled, TEXT, text, k ? "absolute" : "joint"), 1, TEXT - 1);
    Run run = run_all(filled);
    CHECK_NEAR(value_at(&run, 0, name), expected, 1e-9);
    run_end(&run);
  }
}

#define FAR_BARS(a, b, d)                                                          \
  "model: bars\nmechanism: {coordinates: %s}\nbodies:\n"                           \
  "  a: {mass: 1, inertia: 0.05, centre: [0.25, 0], points: {tip: [0.5, 0]}}\n"    \
  "  b: {mass: 1.5, inertia: 0.1, centre: [0.5, 0], points: {tip: [1, 0]}}\n"      \
  "  c: {mass: 1, inertia: 0.06, centre: [0.35, 0.05], points: {tip: [0.8, 0]}}\n" \
  "joints:\n  j: {revolute: [ground, a], start: " a                                \
  "}\n"                                                                            \
  "  k: {revolute: [a, b], at: [a.tip, [0, 0]], guess: " b                         \
  "}\n"                                                                            \
  "  l: {revolute: [ground, c], at: [[1.1, 0], [0, 0]], guess: " d                 \
  "}\n"                                                                            \
  "  m: {revolute: [b, c], at: [b.tip, c.tip]}\noutputs: {u: c.tip}\n"             \
  "simulate: {method: dopri, until: 0.01, step: 0.01}\n"

static void test_far_guess(void** unused) {
  (void)unused;
  check_guess(
      "model: rssr\nmechanism: {coordinates: %s}\nbodies:\n"
      "  a: {mass: 1, inertia: [0.02, 0.02, 0.02], points: {tip: [0.3, 0, 0]}}\n"
      "  c: {mass: 2, inertia: [0.05, 0.06, 0.07], centre: [0.4, 0, 0], points: {tip: [0.8, 0, "
      "0]}}\n"
      "  d: {mass: 1.5, inertia: [0.03, 0.02, 0.05], centre: [0, 0.3, 0], points: {tip: [0, 0.6, "
      "0]}}\n"
      "joints:\n  i: {revolute: [ground, a], start: 0.107}\n"
      "  s: {spherical: [a, c], at: [a.tip, [0, 0, 0]], guess: true}\n"
      "  j: {revolute: [ground, d], at: [[0.7, 0.2, 0], [0, 0, 0]], axis: [1, 0, 0], guess: "
      "0.348}\n"
      "  l: {universal: [c, d], at: [c.tip, d.tip], axis: [0, 1, 0], axis2: [0, 0, 1]}\n"
      "outputs: {u: d.tip}\nsimulate: {method: dopri, until: 0.01, step: 0.01}\n",
      "u.z", 0.536244616467);
  check_guess(FAR_BARS("1.1", "0", "-1.5"), "u.y", -0.518845367427);
  check_guess(FAR_BARS("-1.5", "-1.2", "0"), "u.y", -0.792570954745);
  check_guess(FAR_BARS("2.5", "1.2", "1.5"), "u.y", -0.334256965885);
}

// A ball that closes a loop, of which the rate alone is given; and an angle that is found more than
// a right angle away from where the guesses lead.
static void test_told_ball(void** unused) {
  (void)unused;
  static const char text[] =
      "model: ball\nmechanism: {coordinates: %s}\nbodies:\n"
      "  a: {mass: 1, inertia: [1, 2, 3], points: {p: [0, 0, 1]}}\n"
      "  b: {mass: 1, inertia: [1, 2, 3], points: {p: [0, 0, 1]}}\n"
      "joints:\n  i: {spherical: [ground, a], at: [0, 1, 0], start: \"rotation([1, 0, 0], 1)\", "
      "guess: true}\n"
      "  j: {spherical: [ground, b]}\n"
      "  k: {spherical: [a, b], at: [a.p, b.p], cut: true, rate: [0, 0.2, 0.3]}\n"
      "define: {w: transpose(b.R)*(b.omega - a.omega)}\noutputs: {o: w}\n"
      "simulate: {method: dopri, until: 0.1, step: 0.1}\n";
  static const char far[] =
      "model: far\nmechanism: {coordinates: %s}\nbodies:\n"
      "  a: {mass: 1, inertia: [1, 2, 3]}\njoints:\n"
      "  i: {cylindrical: [ground, a], guess: [0.3, 0]}\n"
      "  k: {revolute: [ground, a], cut: true, start: 2.8, rate: 1}\n"
      "outputs: {o: i.angle, w: i.rate}\nsimulate: {method: dopri, until: 0.1, step: 0.1}\n";
  for (int k = 0; k < 2; k++) {
    char filled[TEXT];
    snprintf(filled, TEXT, text, k ? "absolute" : "joint");
    Run run = run_all(filled);
    CHECK_NEAR(value_at(&run, 0, "o.x"), 0.0, 1e-12);
    CHECK_NEAR(value_at(&run, 0, "o.y"), 0.2, 1e-12);
    CHECK_NEAR(value_at(&run, 0, "o.z"), 0.3, 1e-12);
    run_end(&run);
    snprintf(filled, TEXT, far, k ? "absolute" : "joint");
    run = run_all(filled);
    CHECK_NEAR(value_at(&run, 0, "o"), 2.8, 1e-12);
    CHECK_NEAR(value_at(&run, 0, "w"), 1.0, 1e-12);
    run_end(&run);
  }
}

static void test_space(void** unused) {
  (void)unused;
  static const struct {
    const char *type, *first, *second;
  } cases[] = {
      {"revolute", ", start: 0.3, rate: 2", ", start: -0.2, rate: 1"},
      {"prismatic", ", start: 0.3, rate: 2", ", start: -0.2, rate: 1"},
      {"cylindrical", ", start: [0.3, 0.1], rate: [2, 0.5]",
       ", start: [-0.2, 0.05], rate: [1, 0.3]"},
      {"screw", ", pitch: 0.2, start: 0.3, rate: 2", ", pitch: -0.1, start: -0.2, rate: 1"},
      {"universal", ", axis2: [2, 1, -2], start: [0.3, 0.2], rate: [2, 1]",
       ", axis2: [0, 1, 0], start: [0.1, 0.2], rate: [1, -1]"},
      {"spherical", ", start: {zxz: [0.1, 0.2, 0.3]}, rate: [1, 2, 3]", ", rate: [1, 0, 2]"},
      {"planar", ", start: [0.1, 0.2, 0.3], rate: [1, 2, 3]",
       ", start: [0.1, 0.2, 0.1], rate: [1, 0, 2]"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[2][TEXT];
    for (int i = 0; i < 2; i++) {
      int length = snprintf(text[i], TEXT, IN_SPACE, i ? "absolute" : "joint", cases[k].type,
                            cases[k].first, cases[k].type, cases[k].second);
      assert_in_range(length, 1, TEXT - 1);
    }
    check_both(text[0], text[1]);
  }
}

// ---- snapping ---------------------------------------------------------------------------------

// How far both coordinates are apart where an arm has caught a body from `offset` below its tip.
static double snapped_apart(double offset) {
  double y[2];
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(text, TEXT,
             "model: snap\nmechanism: {coordinates: %s}\nbodies:\n"
             "  a: {mass: 2, inertia: 0.2, centre: [0.4, 0.1], points: {tip: [1, 0]}}\n"
             "  b: {mass: 1, inertia: 0.1, centre: [0.1, 0], start: {at: [1, %g]}}\n"
             "joints:\n  j: {revolute: [ground, a]}\n"
             "  w: {revolute: [a, b], at: a.tip, switch: {at: 0.001, on: snap}}\n"
             "outputs: {u: a.tip}\n"
             "simulate: {method: event-driven, until: 0.002, step: 0.001}\n",
             k ? "absolute" : "joint", -offset);
    Run run = run_all(text);
    y[k] = final_of(&run, "u.y");
    assert_true(y[k] < -0.5 * offset && y[k] > -offset);
    run_end(&run);
  }
  return fabs(y[0] - y[1]);
}

// The ways of least change differ at the third order of the offset (docs/bodies.md).
static void test_snap(void** unused) {
  (void)unused;
  double near = snapped_apart(0.1), far = snapped_apart(0.2);
  CHECK_NEAR(near, 2e-5, 5e-6);
  CHECK_NEAR(far / near, 8.0, 1.0);
}

// ---- reactions --------------------------------------------------------------------------------

// Newton and Euler for one body: what the joint gives, with the weight, is what its momenta gain.
static void check_reaction(const char* type, const char* more, bool torque, const char* start) {
  static const char text[] =
      "model: m\nmechanism: {gravity: [0, 0, -9.81]}\nbodies:\n"
      "  a: {mass: 2, inertia: [[0.1, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.15]],\n"
      "      centre: [0.3, 0.1, 0.2], points: {p: [0, 0, 0.1]}%s}\n"
      "joints: {j: {%s: [ground, a], at: [[1, 0, 0], a.p], axis: [1, 2, 2], reaction: true%s}}\n"
      "outputs: {gain: \"a.momentum'\", turn: \"a.angular_momentum'\", arm: a.p - a.centre}\n"
      "simulate: {method: dopri, rtol: 1e-11, until: 0.5, step: 0.1}\n";
  static const char* const axes[] = {"x", "y", "z"};
  char filled[TEXT];
  snprintf(filled, TEXT, text, start, type, more);
  Run run = run_all(filled);
  for (int s = 0; s < sample_count(&run); s++) {
    double v[5][3] = {{0}};
    static const char* const names[] = {"j.force", "gain", "turn", "arm", "j.torque"};
    for (int n = 0; n < (torque ? 5 : 4); n++) {
      for (int k = 0; k < 3; k++) {
        char name[32];
        snprintf(name, sizeof name, "%s.%s", names[n], axes[k]);
        v[n][k] = value_at(&run, s, name);
      }
    }
    for (int k = 0; k < 3; k++) {
      int i = (k + 1) % 3, j = (k + 2) % 3;
      CHECK_NEAR(v[1][k], v[0][k] - (k == 2 ? 2 * 9.81 : 0.0), 1e-9);
      CHECK_NEAR(v[2][k], v[4][k] + v[3][i] * v[0][j] - v[3][j] * v[0][i], 1e-9);
    }
  }
  run_end(&run);
}

// The same in the plane.
static void check_plane_reaction(const char* type, const char* more, const char* start) {
  static const char text[] =
      "model: m\nmechanism: {gravity: [0, -9.81]}\nbodies:\n"
      "  a: {mass: 2, inertia: 0.3, centre: [0.3, 0.1], points: {p: [0, 0.1]}%s}\n"
      "joints: {j: {%s: [ground, a], at: [[1, 0], a.p], reaction: true%s}}\n"
      "outputs: {gain: \"a.momentum'\", turn: \"a.angular_momentum'\", arm: a.p - a.centre}\n"
      "simulate: {method: dopri, rtol: 1e-11, until: 0.5, step: 0.1}\n";
  char filled[TEXT];
  snprintf(filled, TEXT, text, start, type, more);
  Run run = run_all(filled);
  for (int s = 0; s < sample_count(&run); s++) {
    double x = value_at(&run, s, "j.force.x"), y = value_at(&run, s, "j.force.y");
    double torque = column_of(&run, "j.torque") >= 0 ? value_at(&run, s, "j.torque") : 0;
    CHECK_NEAR(value_at(&run, s, "gain.x"), x, 1e-9);
    CHECK_NEAR(value_at(&run, s, "gain.y"), y - 2 * 9.81, 1e-9);
    CHECK_NEAR(value_at(&run, s, "turn"),
               torque + value_at(&run, s, "arm.x") * y - value_at(&run, s, "arm.y") * x, 1e-9);
  }
  run_end(&run);
}

static void test_plane_reactions(void** unused) {
  (void)unused;
  check_plane_reaction("revolute", ", rate: 2, lock: {at: 0.2}", "");
  check_plane_reaction("prismatic", ", axis: [3, 4], rate: 2, brake: {capacity: 4, at: 0.2}", "");
  check_plane_reaction("weld", "", "");
  check_plane_reaction("distance", ", length: 0.5",
                       ", start: {at: [1, 0.4]}, rate: {velocity: [3, 0], omega: 1}");
  check_plane_reaction("slot", ", axis: [0, 1]",
                       ", start: {at: [1, 0.4]}, rate: {velocity: [0.2, 0], omega: 2}");
  check_plane_reaction("rolling", ", radius: 0.4",
                       ", start: {at: [1, 0.3]}, rate: {velocity: [-0.6, 0], omega: 2}");
}

static void test_reactions(void** unused) {
  (void)unused;
  check_reaction("weld", "", true, "");
  check_reaction("revolute", ", start: 0.3, rate: 2", true, "");
  check_reaction("prismatic", ", start: 0.3, rate: 2", true, "");
  check_reaction("cylindrical", ", start: [0.3, 0.1], rate: [2, 1]", true, "");
  check_reaction("universal", ", axis2: [2, 1, -2], start: [0.3, 0.1], rate: [2, 1]", true, "");
  check_reaction("planar", ", start: [0.3, 0.1, 0.2], rate: [2, 1, 3]", true, "");
  check_reaction("spherical", ", rate: [1, 2, 3]", false, "");
  check_reaction("weld", ", switch: {engaged: true, release: {at: 9}}", true, "");
  check_reaction("screw", ", pitch: 0.3, start: 0.3, rate: 2", true, "");
  check_reaction("screw", ", pitch: -0.3, rate: 2, brake: {capacity: 1, at: 0.2}", true, "");
  check_reaction("distance", ", length: 2", false,
                 ", start: {at: [1, 2, -0.1]}, rate: {velocity: [0.3, 0, 0], omega: [0, 0, 3]}");
  check_reaction(
      "slot", "", false,
      ", start: {at: [1, 0, -0.1]}, rate: {velocity: [0.1, 0.2, 0.2], omega: [0, 0, 3]}");
  check_reaction("revolute", ", rate: 2, lock: {at: 0.2}", true, "");
  check_reaction("prismatic", ", rate: 2, lock: {at: 0.2}", true, "");
  check_reaction("revolute", ", rate: 1, drive: sin(t)", true, "");
  check_reaction("weld", ", switch: {engaged: true, release: {at: 0.25}}", true, "");
}

// Three bodies of mass i at (i, 2) with the velocity (0, i), and one alone, of mass 4 at (-5, 0).
static void test_totals_of_families(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: totals\nparameters: {N: 3}\nbodies:\n"
      "  ball[i=1..N]: {mass: i, inertia: 0.1, start: {at: [i, 2]}, rate: {velocity: [0, i], "
      "omega: "
      "i}}\n"
      "  one: {mass: 4, inertia: 1, start: {at: [-5, 0]}}\n"
      "outputs: {m: mechanism.mass, p: mechanism.momentum, c: mechanism.centre, l: "
      "mechanism.angular_momentum}\n"
      "simulate: {method: rk4, until: 1, step: 0.1}\n");
  CHECK_NEAR(value_at(&run, 0, "m"), 10.0, 1e-14);
  CHECK_NEAR(final_of(&run, "p.x"), 0.0, 1e-14);
  CHECK_NEAR(final_of(&run, "p.y"), 14.0, 1e-13);
  CHECK_NEAR(value_at(&run, 0, "c.x"), (14 - 20) / 10.0, 1e-14);
  CHECK_NEAR(final_of(&run, "c.y"), (12 + 14) / 10.0, 1e-13);
  CHECK_NEAR(final_of(&run, "l"), 1 + 8 + 27 + 0.6, 1e-12);
  run_end(&run);
}

// `mass` of a rotation is the kinetic energy of its moments of inertia.
static void test_mass_of_rotation(void** unused) {
  (void)unused;
  static const char* const masses[][2] = {
      {"mass: {R: [1, 2 + 1, 2]}", "kinetic: (R.omega.x^2 + 3*R.omega.y^2 + 2*R.omega.z^2)/2"},
      {"mass: {R: 2}", "kinetic: norm(R.omega)^2"}};
  for (int k = 0; k < 2; k++) {
    double last[2][3];
    for (int i = 0; i < 2; i++) {
      char text[TEXT];
      snprintf(text, TEXT,
               "model: m\ncoordinates: {R: {kind: rotation, rate: [1, 2, 3]}}\n%s\n"
               "forces: {R: [0.1, 0, t]}\nsimulate: {method: rk4, until: 1, step: 0.01}\n",
               masses[k][i]);
      Run run = run_all(text);
      static const char* const names[] = {"R.omega.x", "R.omega.z", "energy"};
      for (int j = 0; j < 3; j++) {
        last[i][j] = final_of(&run, names[j]);
      }
      run_end(&run);
    }
    for (int j = 0; j < 3; j++) {
      CHECK_NEAR(last[0][j], last[1][j], 1e-13);
    }
  }
}

// A disc pushed by 3 N rolls with 3/(1.5 m); a bead on a parabola stays on it.
static void test_rolling_and_track(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: roll\nmechanism: {gravity: [0, -9.81]}\nfunctions: {hill(x): 0.1*x^2}\n"
      "bodies:\n"
      "  wheel: {mass: 2, shape: {disc: 0.5}, start: {at: [0, 0.5]},\n"
      "          rate: {velocity: [1, 0], omega: -2}}\n"
      "  bead: {mass: 1, inertia: 0.1, start: {at: [1, 0.1]}}\n"
      "joints:\n"
      "  roll: {rolling: [ground, wheel], radius: 0.5}\n"
      "  slide: {track: [ground, bead], function: hill}\n"
      "forces: {push: {on: \"wheel.centre.x\", value: 3}}\n"
      "outputs: {off: bead.centre.y - 0.1*bead.centre.x^2}\n"
      "simulate: {method: dopri, rtol: 1e-11, until: 1, step: 0.1}\n");
  int last = sample_count(&run) - 1;
  CHECK_NEAR(value_at(&run, last, "wheel.centre.x"), 1.5, 1e-10);
  CHECK_NEAR(value_at(&run, last, "wheel.angle"), -3.0, 1e-10);
  CHECK_NEAR(value_at(&run, last, "off"), 0.0, 1e-9);
  assert_true(value_at(&run, last, "bead.centre.x") < 0.5);
  run_end(&run);
}

// ---- models by hand ---------------------------------------------------------------------------

static const char ROBOT[] =
    "model: robot\n"
    "mechanism: {gravity: [0, 0, -9.81], coordinates: %s}\n"
    "bodies:\n"
    "  link1: {mass: 60, centre: [0, 0, 0.35], inertia: [1.5, 1.5, 1]}\n"
    "  link2: {mass: 45, centre: [0, 0.05, 0.25], inertia: [2.2, 2, 0.35]}\n"
    "  link3: {mass: 30, centre: [0, 0, 0.075], inertia: [0.8, 0.8, 0.3]}\n"
    "  link4: {mass: 12, centre: [0, 0, 0.575], inertia: [0.45, 0.45, 0.05]}\n"
    "  link5: {mass: 4, centre: [0, 0, 0.02], inertia: [0.02, 0.02, 0.01]}\n"
    "  link6: {mass: 1, centre: [0, 0, 0.08], inertia: [0.002, 0.002, 0.001],\n"
    "          points: {tip: [0, 0, 0.1]}}\n"
    "joints:\n"
    "  joint1: {revolute: [ground, link1], rate: 2, lock: {at: 0.05}}\n"
    "  joint2: {revolute: [link1, link2], axis: [0, 1, 0], at: [0, 0, 0.55], start: 0.6, rate: 1,\n"
    "           lock: {at: 0.1}}\n"
    "  joint3: {revolute: [link2, link3], axis: [0, 1, 0], at: [0, 0, 0.625], start: 0.9,\n"
    "           rate: 1.5, lock: {at: 0.15}}\n"
    "  joint4: {revolute: [link3, link4], lock: {engaged: true}}\n"
    "  joint5: {revolute: [link4, link5], axis: [0, 1, 0], at: [0, 0, 0.925], start: 0.3,\n"
    "           lock: {engaged: true}}\n"
    "  joint6: {revolute: [link5, link6], lock: {engaged: true}}\n"
    "outputs: {tool: link6.tip}\n"
    "simulate: {method: rk4, until: 0.2, step: 5e-4, record: 5e-3}\n";

static const char ARM[] =
    "model: arm\n"
    "mechanism: {gravity: [0, -9.81], coordinates: %s}\n"
    "bodies:\n"
    "  l1: {mass: 108, inertia: 9.36, centre: [0.5, 0], points: {end: [1, 0]}}\n"
    "  l2: {mass: 108, inertia: 9.36, centre: [0.5, 0], points: {end: [1, 0]}}\n"
    "  l3: {mass: 108, inertia: 9.36, centre: [0.5, 0], points: {end: [1, 0]}}\n"
    "joints:\n"
    "  j1: {revolute: [ground, l1], start: pi/6}\n"
    "  j2: {revolute: [l1, l2], at: l1.end, start: pi/6, lock: {at: 0.8}}\n"
    "  j3: {revolute: [l2, l3], at: l2.end, start: pi/6, lock: {at: 1.3}}\n"
    "outputs: {tool: l3.end}\n"
    "simulate: {method: rk4, until: 3, step: 1e-3, record: 1e-2}\n";

static void check_by_hand(const char* text, const char* coordinates, const char* model,
                          const char* const columns[][2], int count) {
  char filled[TEXT];
  assert_in_range(snprintf(filled, TEXT, text, coordinates), 1, TEXT - 1);
  Run run = run_all(filled), hand = run_file(model, NULL, NULL);
  hand.def.simulate = run.def.simulate;
  hand.def.keep_samples = true;
  run_to(&hand, run.def.simulate.until, run.def.simulate.step);
  assert_int_equal(sample_count(&run), sample_count(&hand));
  for (int s = 0; s < sample_count(&run); s++) {
    for (int k = 0; k < count; k++) {
      double scale = fmax(1.0, fabs(value_at(&hand, s, columns[k][1])));
      CHECK_NEAR(value_at(&run, s, columns[k][0]), value_at(&hand, s, columns[k][1]),
                 1e-10 * scale);
    }
  }
  run_end(&run);
  run_end(&hand);
}

static void test_robot(void** unused) {
  (void)unused;
  static const char* const columns[][2] = {{"tool.x", "tool_x"},
                                           {"tool.y", "tool_y"},
                                           {"tool.z", "tool_z"},
                                           {"energy", "energy"},
                                           {"kinetic", "kinetic"}};
  check_by_hand(ROBOT, "joint", "robot-6r-brake", columns, 5);
  check_by_hand(ROBOT, "absolute", "robot-6r-brake", columns, 5);
}

// Absolute coordinates are integrated with another error of rk4, which is 1e-9 here.
static void test_planar_arm(void** unused) {
  (void)unused;
  static const char* const columns[][2] = {
      {"tool.x", "tip_x"},  {"tool.y", "tip_y"},  {"j1.angle", "q1"},          {"j2.angle", "q2"},
      {"j3.angle'", "q3'"}, {"energy", "energy"}, {"lambda(j2.lock)", "hold2"}};
  check_by_hand(ARM, "joint", "planar-3r-lock", columns, 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plane),
      cmocka_unit_test(test_kept_start),
      cmocka_unit_test(test_told_in_loop),
      cmocka_unit_test(test_told_ball),
      cmocka_unit_test(test_far_guess),
      cmocka_unit_test(test_snap),
      cmocka_unit_test(test_space),
      cmocka_unit_test(test_reactions),
      cmocka_unit_test(test_mass_of_rotation),
      cmocka_unit_test(test_totals_of_families),
      cmocka_unit_test(test_plane_reactions),
      cmocka_unit_test(test_rolling_and_track),
      cmocka_unit_test(test_robot),
      cmocka_unit_test(test_planar_arm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
