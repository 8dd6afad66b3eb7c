// SPDX-License-Identifier: Apache-2.0
// Linkages and couplings with closed forms, free and with joints that lock, brake and open on the
// way: with coordinates of joints and absolute ones.
#include "run/recorded.h"

enum { TEXT = 4096 };

typedef void Check(const Run* run);

// In both coordinates, by the same text with a place for them.
static void check_both(const char* text, Check* check) {
  static const char* const coordinates[] = {"joint", "absolute"};
  Run run[2];
  for (int k = 0; k < 2; k++) {
    char filled[TEXT];
    snprintf(filled, TEXT, text, coordinates[k]);
    run[k] = run_all(filled);
    check(&run[k]);
  }
  assert_true(compare_runs(&run[0], &run[1], 1e-8) >= 3);
  run_end(&run[0]);
  run_end(&run[1]);
}

// ---- Peaucellier's cell -------------------------------------------------------------------------

// Arms of 2.5, a rhombus of 1 and a crank of 1 whose circle leads through the fixed point: the far
// corner moves on the line x = (2.5^2 - 1)/2.
static void moves_straight(const Run* run) {
  double low = 1e9, high = -1e9;
  for (int s = 0; s < sample_count(run); s++) {
    CHECK_NEAR(value_at(run, s, "x.x"), 2.625, 1e-9);
    low = fmin(low, value_at(run, s, "x.y"));
    high = fmax(high, value_at(run, s, "x.y"));
  }
  assert_true(high - low > 0.5);
}

static void test_straight_line(void** unused) {
  (void)unused;
  check_both(
      "model: cell\nmechanism: {gravity: [0, -9.81], coordinates: %s}\nbodies:\n"
      "  q: {mass: 1, inertia: 0.1, centre: [0.5, 0], points: {tip: [1, 0]}}\n"
      "  l1: {mass: 1, inertia: 0.1, centre: [1.25, 0], points: {tip: [2.5, 0]}}\n"
      "  l2: {mass: 1, inertia: 0.1, centre: [1.25, 0], points: {tip: [2.5, 0]}}\n"
      "  s1: {mass: 1, inertia: 0.1, centre: [0.5, 0], points: {tip: [1, 0]}}\n"
      "  s2: {mass: 1, inertia: 0.1, centre: [0.5, 0], points: {tip: [1, 0]}}\n"
      "  s3: {mass: 1, inertia: 0.1, centre: [0.5, 0], points: {tip: [1, 0]}}\n"
      "  s4: {mass: 1, inertia: 0.1, centre: [0.5, 0], points: {tip: [1, 0]}}\n"
      "joints:\n"
      "  o: {revolute: [ground, q], at: [1, 0], start: 0.8, motor: -6*q.angle}\n"
      "  a: {revolute: [ground, l1], guess: 0.75}\n  b: {revolute: [ground, l2], guess: 0.1}\n"
      "  c1: {revolute: [q, s1], at: q.tip, guess: 0.6, brake: {capacity: 1, at: 0.2}}\n"
      "  c2: {revolute: [q, s2], at: q.tip, guess: -1.4}\n"
      "  d1: {revolute: [l1, s1], at: [l1.tip, s1.tip]}\n"
      "  d2: {revolute: [l2, s2], at: [l2.tip, s2.tip]}\n"
      "  e1: {revolute: [l1, s3], at: l1.tip, guess: -1.3}\n"
      "  e2: {revolute: [l2, s4], at: l2.tip, guess: 1.0}\n"
      "  e3: {revolute: [s3, s4], at: [s3.tip, s4.tip]}\n"
      "outputs: {x: s3.tip, f: q.angle}\n"
      "simulate: {method: dopri, rtol: 1e-11, step: 0.02, until: 0.4}\n",
      moves_straight);
}

// ---- couplings ----------------------------------------------------------------------------------

// Oldham's: both shafts have one rate, also while one of the slides is held and nothing turns.
static void turns_as_one(const Run* run) {
  for (int s = 0; s < sample_count(run); s++) {
    CHECK_NEAR(value_at(run, s, "u"), value_at(run, s, "w"), 1e-9);
    if (value_at(run, s, "t") > 0.505 && value_at(run, s, "t") < 0.995) {
      CHECK_NEAR(value_at(run, s, "w"), 0, 1e-9);
    }
  }
  assert_true(fabs(final_of(run, "w")) > 1);
}

static void test_oldham(void** unused) {
  (void)unused;
  check_both(
      "model: oldham\nmechanism: {coordinates: %s}\nbodies: {a: {mass: 1, inertia: 0.1}, d: {mass: "
      "0.5, inertia: 0.05}, c: {mass: 1, inertia: 0.2}}\njoints:\n"
      "  i: {revolute: [ground, a], rate: 3, motor: 1}\n"
      "  j: {prismatic: [a, d], lock: {at: 0.5, release: {at: 1}}}\n"
      "  k: {prismatic: [d, c], axis: [0, 1]}\n  l: {revolute: [ground, c], at: [0.1, 0]}\n"
      "outputs: {u: a.omega, w: c.omega, x: d.at}\n"
      "simulate: {method: dopri, rtol: 1e-11, step: 0.02, until: 1.5}\n",
      turns_as_one);
}

// A Hooke's joint between shafts 0.5 rad apart: tan(out) = tan(in) cos(0.5), turn after turn.
static void lags(const Run* run) {
  for (int s = 0; s < sample_count(run); s++) {
    double in = value_at(run, s, "in"), out = value_at(run, s, "out");
    CHECK_NEAR(sin(out) * cos(in), sin(in) * cos(out) * cos(0.5), 1e-9);
    assert_true(fabs(out - in) < 0.1);
  }
  CHECK_NEAR(final_of(run, "in"), 20, 1e-9);
}

static void test_hooke(void** unused) {
  (void)unused;
  check_both(
      "model: hooke\nmechanism: {coordinates: %s}\nbodies: {a: {mass: 1, inertia: [0.1, 0.1, "
      "0.2]}, "
      "o: {mass: 1, inertia: [0.1, 0.1, 0.2]}}\njoints:\n"
      "  i: {revolute: [ground, a], drive: 8*t}\n"
      "  u: {universal: [a, o], axis: [1, 0, 0], axis2: [0, 1, 0], guess: [0.5, 0]}\n"
      "  j: {cylindrical: [ground, o], turn: \"rotation([1, 0, 0], 0.5)\"}\n"
      "outputs: {in: i.angle, out: j.angle, w: j.rate}\n"
      "simulate: {method: dopri, rtol: 1e-11, step: 0.02, until: 2.5}\n",
      lags);
}

// A differential: the mean of both wheels is the carrier, also with a wheel locked to it and a
// brake on it.
static void is_mean(const Run* run) {
  for (int s = 0; s < sample_count(run); s++) {
    double left = value_at(run, s, "l"), right = value_at(run, s, "r"), t = value_at(run, s, "t");
    CHECK_NEAR((left + right) / 2, value_at(run, s, "c"), 1e-9);
    if (t > 0.505 && t < 0.995) {
      CHECK_NEAR(left, right, 1e-9);
    }
  }
  assert_true(fabs(final_of(run, "l") - final_of(run, "r")) > 0.1);
}

static void test_differential(void** unused) {
  (void)unused;
  check_both(
      "model: differential\nmechanism: {coordinates: %s}\nbodies:\n"
      "  carrier: {mass: 2, inertia: [0.2, 0.2, 0.2]}\n  left: {mass: 1, inertia: [0.1, 0.1, "
      "0.1]}\n"
      "  right: {mass: 1, inertia: [0.1, 0.1, 0.15]}\n"
      "  spider: {mass: 0.3, inertia: [0.01, 0.02, 0.01]}\njoints:\n"
      "  c: {revolute: [ground, carrier], axis: [1, 0, 0], motor: 2, rate: 1, brake: {at: 1.2, "
      "capacity: 5}}\n"
      "  l: {revolute: [carrier, left], axis: [1, 0, 0], motor: 0.3, lock: {at: 0.5, release: {at: "
      "1}}}\n"
      "  r: {revolute: [carrier, right], axis: [1, 0, 0]}\n"
      "  s: {revolute: [carrier, spider], rate: 2}\n"
      "  g: {gear: [l, s], ratio: 0.5}\n  h: {gear: [r, s], ratio: -0.5}\n"
      "outputs: {l: left.omega.x, r: right.omega.x, c: carrier.omega.x}\n"
      "simulate: {method: dopri, rtol: 1e-11, step: 0.05, until: 2}\n",
      is_mean);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_straight_line),
                                     cmocka_unit_test(test_oldham), cmocka_unit_test(test_hooke),
                                     cmocka_unit_test(test_differential)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
