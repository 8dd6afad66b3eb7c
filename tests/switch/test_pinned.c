// SPDX-License-Identifier: Apache-2.0
// Which expressions the rows in force hold at zero: of positions, of rates, moving with time, along
// several rows at once; and those that only happen to be zero, or are held at another value.
#include "switch/instant.h"

// Whether the first event of the model is held at zero at its state; `was`: until now it was.
static bool is_pinned(Instant* i, bool was) {
  unsigned char flags[2 * INSTANT_MOST] = {0};
  flags[i->system->event_watches[0]] = was;
  const double* watch;
  const PawlState* s = i->state;
  PawlPhase phase = pawl_phase_of(s, false);
  assert_in_range(i->system->watch_count, 1, 2 * INSTANT_MOST);
  MUST(pawl_watch_look(&i->watching, &phase, s, s->v, s->a, s->lambda, &watch, &i->err), i);
  const PawlValues* values;
  MUST(pawl_dynamics_evaluate(&i->dynamics, &phase, s, &values, &i->err), i);
  MUST(
      pawl_pinned_find(&i->guards.pinned, s, values, s->a, watch, PAWL_PINNED_ZERO, flags, &i->err),
      i);
  return flags[i->system->event_watches[0]];
}

static void check_pinned(const char* model, const char* when, bool expected) {
  char text[512];
  Instant i;
  snprintf(text, sizeof text, "%sevents: {e: {when: \"%s\"}}\nsimulate: {until: 1}\n", model, when);
  instant_make(&i, text, "model");
  bool is = is_pinned(&i, false);
  bool side = i.state->sides[0] == PAWL_SIDE_PINNED;
  if (is != expected || side != expected) {
    fail_msg("%s: %d and %d, expected %d", when, is, side, expected);
  }
  instant_end(&i);
}

static const char PAIR[] =
    "model: pair\ncoordinates: {x: {start: 0.5, rate: 2}, y: {start: 0.5, rate: 2}, z: {rate: 1}}\n"
    "mass: {x: 1, y: 3, z: 2}\nforces: {x: 1}\nconstraints: {pair: x = y}\n";

// What rows have held drifts with them and is held on; what they never held is not.
static void test_drift(void** unused) {
  (void)unused;
  static const struct {
    const char* when;
    bool held;
  } cases[] = {{"x - y - 1e-5", true}, {"x - y - 0.1", false}, {"x - 0.5", false}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[512];
    Instant i;
    snprintf(text, sizeof text, "%sevents: {e: {when: \"%s\"}}\nsimulate: {until: 1}\n", PAIR,
             cases[k].when);
    instant_make(&i, text, "model");
    assert_false(is_pinned(&i, false));
    assert_int_equal(is_pinned(&i, true), cases[k].held);
    instant_end(&i);
  }
}

static void test_of_rows(void** unused) {
  (void)unused;
  check_pinned(PAIR, "x - y", true);
  check_pinned(PAIR, "7*y - 7*x", true);
  check_pinned(PAIR, "x^2 - y^2", true);
  check_pinned(PAIR, "x' - y'", true);
  check_pinned(PAIR, "(x' - y')*(1 + x)", true);
  check_pinned(PAIR, "x - y + 0.1", false);  // held, but not at zero
  check_pinned(PAIR, "x - y + t", false);    // passes zero in time
  check_pinned(PAIR, "x - 0.5", false);      // zero now, and moves
  check_pinned(PAIR, "x' + y' - 4", false);  // the same of rates
  check_pinned(PAIR, "z", false);
  check_pinned(PAIR, "z' - 1", false);  // nothing pushes z, but nothing holds it
  check_pinned(PAIR, "t", false);
  check_pinned(PAIR, "(x - y) + 1e-3*z", false);
  check_pinned(PAIR, "1e-12*(x - y)", true);  // however small it is written
  check_pinned(PAIR, "1e-12*(x - y + t)", false);
  check_pinned(PAIR, "1e-12*(z' - 1)", false);
  check_pinned(PAIR, "log(x'/y')", true);  // also without a value at rest
  check_pinned(PAIR, "log(x'/2)", false);
  check_pinned(PAIR, "hypot(x' - y', z' - 1)", false);  // has no slope
}

// A pendulum in the plane: its length, and the rate of it.
static void test_curved(void** unused) {
  (void)unused;
  static const char pendulum[] =
      "model: pendulum\ncoordinates: {x: {start: 0.6, rate: -1.6}, y: {start: 0.8, rate: 1.2},\n"
      "              p: {start: \"acos(0.6)\", rate: 2}}\nmass: {x: 1, y: 1, p: 0.1}\n"
      "potential: 9.81*y\nconstraints: {pin: [x = cos(p), y = sin(p)]}\n";
  check_pinned(pendulum, "x^2 + y^2 - 1", true);
  check_pinned(pendulum, "x*x' + y*y'", true);
  check_pinned(pendulum, "y*cos(p) - x*sin(p)", true);
  check_pinned(pendulum, "x - 0.6", false);
  check_pinned(pendulum, "p' - 2", false);
}

// A driven coordinate: what it ought to be is held, though it moves.
static void test_driven(void** unused) {
  (void)unused;
  static const char driven[] =
      "model: driven\ncoordinates: {x: {rate: 1}, y: {start: 1}}\nmass: {x: 1, y: 1}\n"
      "constraints: {drive: x = sin(t)}\n";
  check_pinned(driven, "x - sin(t)", true);
  check_pinned(driven, "x' - cos(t)", true);
  check_pinned(driven, "x", false);
}

// The unit of a condition does not matter, nor those of the model.
static void test_units(void** unused) {
  (void)unused;
  static const double lengths[] = {1e-6, 1, 1e6}, masses[] = {1e-6, 1, 1e6};
  for (int l = 0; l < 3; l++) {
    for (int m = 0; m < 3; m++) {
      char model[400];
      snprintf(model, sizeof model,
               "model: units\nparameters: {l: %g, m: %g}\n"
               "coordinates: {x: {start: l/2, rate: 2*l}, y: {start: l/2, rate: 2*l}}\n"
               "mass: {x: m, y: 3*m}\nforces: {x: m*l}\nconstraints: {pair: x = y}\n",
               lengths[l], masses[m]);
      check_pinned(model, "x - y", true);
      check_pinned(model, "1e9*(x - y)", true);
      check_pinned(model, "x' - y'", true);
      check_pinned(model, "x - l/2", false);
      check_pinned(model, "x - y + 1e-5*l", false);
    }
  }
}

// A lock: while it holds, and no longer.
static void test_lock(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i,
               "model: lock\ncoordinates: {x: {start: 0.3, rate: 1}, y: {rate: -1}}\n"
               "mass: {x: 1, y: 1}\nlocks: {l: {lock: x - y, at: 1}}\n"
               "events: {e: {when: x' - y'}, f: {when: x - y}, g: {when: x - y - 0.3}}\n"
               "simulate: {until: 1}\n",
               "model");
  assert_false(is_pinned(&i, false));
  int rate = i.state->sides[0], value = i.state->sides[1];
  assert_int_equal(rate, 1);
  assert_int_equal(value, 1);
  MUST(instant_jump(&i, "l", PAWL_MODE_HELD), &i);
  assert_true(is_pinned(&i, false));
  assert_int_equal(i.state->sides[0], PAWL_SIDE_PINNED);
  assert_int_equal(i.state->sides[1], 1);  // held at 0.3
  assert_int_equal(i.state->sides[2], PAWL_SIDE_PINNED);
  MUST(instant_jump(&i, "l", PAWL_MODE_FREE), &i);
  assert_false(is_pinned(&i, false));
  assert_int_equal(i.state->sides[0], 0);
  instant_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_drift),  cmocka_unit_test(test_of_rows), cmocka_unit_test(test_curved),
      cmocka_unit_test(test_driven), cmocka_unit_test(test_units),   cmocka_unit_test(test_lock),
  };
  return cmocka_run_group_tests_name("pinned", tests, NULL, NULL);
}
