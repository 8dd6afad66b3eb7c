// SPDX-License-Identifier: Apache-2.0
// Closed contacts whose gap or slip has a kink where they are (docs/theory/contacts.md, C17):
// floors and belts that start or stop, corners of the ground, against closed forms; and floors that
// move below bounces (C3).
#include "step/rubbing.h"

static const double g = 9.81;

// Runs a text over each method and calls `check` with what it is known to.
static void over_each(const char* text, double until, void (*check)(const Run*, double)) {
  static const char* const methods[] = {"rk4", "dopri", "ark", "ida", "ga-a", "ga-pva", NULL};
  for (int k = 0; methods[k]; k++) {
    Run run = run_text_with(text, NULL);
    run.def.simulate.smooth = methods[k];
    if (!is_absent(methods[k])) {
      run_to(&run, until, 1e-3);
      check(&run, strcmp(methods[k], "ida") == 0 ? 2e-6 : 1e-9);
    }
    run_end(&run);
  }
}

// The floor starts with 0.8: left with e of that beyond it, and at rest on it after 2 r/g/(1 - e).
static void check_floor_starts(const Run* run, double tolerance) {
  double t = 0.1037, r = 0.4;
  event_is(run, 0, t, "floor", "closed", "hit", 1e-11);
  CHECK_NEAR(run_event(run, 0)->v_after[0], 1.2, 1e-11);
  event_is(run, 1, t + 2 * r / g, "floor", "open", "hit", tolerance);
  event_is(run, run_events(run) - 1, t + 4 * r / g, "floor", "closed", "rest", tolerance);
  CHECK_NEAR(pawl_sim_state(run->sim)->q[0], 0.8 * (0.5 - t), tolerance);
  CHECK_NEAR(pawl_sim_state(run->sim)->v[0], 0.8, tolerance);
}

// The floor stops: thrown up with its rate, 1.
static void check_floor_stops(const Run* run, double tolerance) {
  assert_int_equal(run_events(run), 2);
  event_is(run, 0, 0.2013, "floor", "closed", "open", 1e-11);
  event_is(run, 1, 0.2013 + 2 / g, "floor", "open", "hit", tolerance);
}

// The floor falls away with 4, slower than a bar turns about its other end: it stays, and nothing
// happens, as no rate jumps.
static void check_floor_sinks(const Run* run, double tolerance) {
  assert_int_equal(run_events(run), 0);
  CHECK_NEAR(pawl_sim_state(run->sim)->q[1], asin(0.04), 10 * tolerance);  // ga-a drifts
}

// And with 30, faster than it turns: the bar comes off at once.
static void check_floor_drops(const Run* run, double tolerance) {
  assert_int_equal(run_events(run), 1);
  event_is(run, 0, 0.1, "left", "closed", "open", 1e-9);
  (void)tolerance;
}

static void test_floors(void** unused) {
  (void)unused;
  over_each(
      "model: starts\ncoordinates: {y: }\nmass: {y: 2}\npotential: 2*9.81*y\n"
      "contacts: {floor: {gap: \"y - 0.8*max(t - 0.1037, 0)\", restitution: 0.5}}\n",
      0.5, check_floor_starts);
  over_each(
      "model: stops\ncoordinates: {y: {rate: 1}}\nmass: {y: 2}\npotential: 2*9.81*y\n"
      "contacts: {floor: {gap: \"y - min(t, 0.2013)\"}}\n",
      0.5, check_floor_stops);
  over_each(
      "model: sinks\ncoordinates: {y: , p: }\nmass: {y: 3, p: 1}\npotential: 3*9.81*y\n"
      "contacts: {left: {gap: \"y - sin(p) + 2*max(t - 0.1, 0)^2\"}, right: {gap: y + sin(p)}}\n",
      0.3, check_floor_sinks);
  over_each(
      "model: drops\ncoordinates: {y: , p: }\nmass: {y: 3, p: 1}\npotential: 3*9.81*y\n"
      "contacts: {left: {gap: \"y - sin(p) + 15*max(t - 0.1, 0)^2\"}, right: {gap: y + sin(p)}}\n",
      0.3, check_floor_drops);
}

// Slopes of 0.1 against each other: of the speed along one the part (1 - s^2)/(1 + s^2) is left
// along the other.
static void check_valley(const Run* run, double tolerance) {
  double s = 0.1, A = g * s / (1 + s * s), v = sqrt(1 + 2 * A * 0.2), t = (v - 1) / A;
  double after = v * (1 - s * s) / (1 + s * s), rest = 0.3 - t;
  event_is(run, 0, t, "ground", "closed", "hit", tolerance);
  CHECK_NEAR(pawl_sim_state(run->sim)->q[0], after * rest - A / 2 * rest * rest, tolerance);
  CHECK_NEAR(pawl_sim_state(run->sim)->v[0], after - A * rest, tolerance);
}

// Off the edge with 1 and down to the slope: g s^2/2 = 0.3 s.
static void check_edge(const Run* run, double tolerance) {
  event_is(run, 0, 0.5, "ground", "closed", "open", tolerance);
  event_is(run, 1, 0.5 + 0.6 / g, "ground", "open", "hit", tolerance);
}

// Along the level with mu = 0.2, onto a slope of 0.35 rad, up to where it turns back: at the corner
// v (cos - mu sin) is left, by Coulomb's law for the impulses.
static void check_ramp(const Run* run, double tolerance) {
  double mu = 0.2, c = cos(0.35), s = sin(0.35), v = sqrt(9 - 2 * mu * g * 0.7);
  double t = (3 - v) / (mu * g), along = v * (c - mu * s), up = g * (s + mu * c);
  event_is(run, 0, t, "ground", "slip", "hit", tolerance);
  event_is(run, 1, t + along / up, "ground", "slip", "turn", tolerance);
  double back = g * (s - mu * c), rest = 1 - t - along / up;
  double x = along * along / 2 / up - back * rest * rest / 2;
  CHECK_NEAR(pawl_sim_state(run->sim)->q[0], x * c, tolerance);
  CHECK_NEAR(pawl_sim_state(run->sim)->q[1], x * s, tolerance);
}

static void test_corners(void** unused) {
  (void)unused;
  over_each(
      "model: valley\ncoordinates: {x: {start: -0.2, rate: 1}, y: {start: 0.02, rate: -0.1}}\n"
      "mass: {x: 1, y: 1}\npotential: 9.81*y\ncontacts: {ground: {gap: y - 0.1*abs(x)}}\n",
      0.3, check_valley);
  over_each(
      "model: edge\ncoordinates: {x: {start: -0.5, rate: 1}, y: }\nmass: {x: 1, y: 1}\n"
      "potential: 9.81*y\ncontacts: {ground: {gap: \"y + 0.3*max(x, 0)\"}}\n",
      0.6, check_edge);
  over_each(
      "model: ramp\nparameters: {a: 0.35}\ncoordinates: {x: {start: -0.7, rate: 3}, y: }\n"
      "mass: {x: 1, y: 1}\npotential: 9.81*y\ncontacts:\n  ground:\n"
      "    gap: \"if(x > 0, y*cos(a) - x*sin(a), y)\"\n    friction: 0.2\n"
      "    slip: \"if(x > 0, x'*cos(a) + y'*sin(a), x')\"\n",
      1.0, check_ramp);
}

// A belt starts under what sticks to it: that slips, mu g, until it goes with the belt.
static void check_belt(const Run* run, double tolerance) {
  double t = 0.1037, T = t + 0.5 / (0.3 * g);
  assert_int_equal(run_events(run), 2);
  event_is(run, 0, t, "belt", "stick", "slip", tolerance);
  event_is(run, 1, T, "belt", "slip", "stick", tolerance);
  CHECK_NEAR(pawl_sim_state(run->sim)->q[0], 0.25 * (T - t) + 0.5 * (0.5 - T), tolerance);
  balances(run, 1e-9);
}

static void check_belt_in_space(const Run* run, double tolerance) {
  double t = 0.1037, T = t + 1 / (0.3 * g), way = 0.5 * (T - t) + (0.8 - T);
  assert_int_equal(run_events(run), 2);
  event_is(run, 0, t, "belt", "stick", "slip", tolerance);
  event_is(run, 1, T, "belt", "slip", "stick", tolerance);
  CHECK_NEAR(pawl_sim_state(run->sim)->q[0], 0.6 * way, tolerance);
  CHECK_NEAR(pawl_sim_state(run->sim)->q[1], 0.8 * way, tolerance);
}

// Two belts that run against each other: it goes to the second, back to the first, and on it turns.
static void check_two_belts(const Run* run, double tolerance) {
  double ts = 1 / (0.5 * g), xs = 0.5 * ts, first = ts + 0.3 - xs, back = first + 1.6 * ts;
  double again = back + (xs - 0.36 * xs) / 0.6;
  event_is(run, 0, ts, "belt", "slip", "stick", tolerance);
  event_is(run, 1, first, "belt", "stick", "slip", tolerance);
  event_is(run, 2, back, "belt", "slip", "stick", tolerance);
  event_is(run, 3, again, "belt", "stick", "slip", tolerance);
  event_is(run, 4, again + 1.2 * ts, "belt", "slip", "turn", tolerance);
}

static void test_belts(void** unused) {
  (void)unused;
  over_each(
      "model: belt\ncoordinates: {x: , y: }\nmass: {x: 1, y: 1}\npotential: 9.81*y\n"
      "contacts: {belt: {gap: y, friction: 0.3, slip: \"x' - if(t < 0.1037, 0, 0.5)\"}}\n",
      0.5, check_belt);
  over_each(
      "model: belt\ncoordinates: {x: , y: , z: }\nmass: {x: 1, y: 1, z: 1}\npotential: 9.81*z\n"
      "define: {on: \"if(t < 0.1037, 0, 1)\"}\n"
      "contacts: {belt: {gap: z, friction: 0.3, slip: [\"x' - 0.6*on\", \"y' - 0.8*on\"]}}\n",
      0.8, check_belt_in_space);
  over_each(
      "model: belts\ncoordinates: {x: , y: }\nmass: {x: 1, y: 1}\npotential: 9.81*y\n"
      "contacts: {belt: {gap: y, friction: 0.5, slip: \"x' - if(x < 0.3, 1, -0.6)\"}}\n",
      1.5, check_two_belts);
}

// Bounces on a floor that rises ever faster, seen from it with g + 2.5, up to their limit. Each is
// met late by how far below zero its gap is looked for (C1), and goes back by it (C3).
static void test_rising_floor(void** unused) {
  (void)unused;
  double a = g + 2.5, e = 0.7, r = sqrt(2 * a), t = r / a;
  Run run = run_text_with(
      "model: rises\ncoordinates: {y: {start: 1}}\nmass: {y: 2}\npotential: 2*9.81*y\n"
      "contacts: {floor: {gap: y - 1.25*t^2, restitution: 0.7}}\n",
      NULL);
  run_to(&run, 3, 2e-3);
  int count = run_events(&run);
  for (int k = 0; k < count - 1; k++) {
    event_is(&run, k, t, "floor", "open", "hit", 1e-10);
    r *= e;
    t += 2 * r / a;
  }
  t = sqrt(2 / a) * (1 + e) / (1 - e);
  event_is(&run, count - 1, t, "floor", "closed", "rest", 3e-10);
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_floors),
      cmocka_unit_test(test_corners),
      cmocka_unit_test(test_belts),
      cmocka_unit_test(test_rising_floor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
