// SPDX-License-Identifier: Apache-2.0
// What crosses zero and comes back within one step is found: conditions of events and locks in each
// direction, capacities, regions, by every method; and what only comes near is left alone.
#include "switch/runs.h"

static const char* const METHODS[] = {"rk4",    "dopri",    "ark",      "ida",        "taylor",
                                      "ga-p",   "ga-v",     "ga-a",     "ga-pv",      "exponential",
                                      "ga-pva", "nsga-pva", "nsga-pvv", "moreau-jean"};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

static bool is_absent(const char* method) {
  return pawl_method_find(method)->absent;
}

static Run run_format(const char* format, double depth) {
  char text[1024];
  snprintf(text, sizeof text, format, depth);
  return run_text(text);
}

// x = t - t^2/2 has its top 1/2 at t = 1 and is above 1/2 - d for sqrt(2 d) before and after it.
static const char TOSS[] =
    "model: toss\nparameters: {d: %.17g}\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
    "potential: x\nevents:\n  both: {when: x - 0.5 + d}\n"
    "  up: {when: x - 0.5 + d, direction: up}\n  down: {when: 2*x - 1 + 2*d, direction: down}\n"
    "simulate: {until: 2}\n";

static void check_toss(Run* run, const char* method, double depth, double h) {
  static const char* const names[] = {"both", "up", "both", "down"};
  double half = sqrt(2 * depth), error = strcmp(method, "ida") == 0 ? 1e-9 : 3e-14;
  run->def.simulate.method = method;
  run_to(run, 2, h);
  if (run_events(run) != 4) {
    print_error("%s, depth %g: %d events\n", method, depth, run_events(run));
    fail();
  }
  for (int k = 0; k < 4; k++) {
    assert_string_equal(run_event(run, k)->constraint, names[k]);
    CHECK_NEAR(run_event(run, k)->t, k < 2 ? 1 - half : 1 + half, error / half + 2e-12);
  }
}

static void test_toss(void** unused) {
  (void)unused;
  for (double depth = 1e-4; depth > 1e-9; depth *= 0.1) {
    Run run = run_format(TOSS, depth);
    for (int k = 0; k < METHOD_COUNT; k++) {
      if (!is_absent(METHODS[k])) {
        check_toss(&run, METHODS[k], depth, 0.0371);    // 1 is near the end of a step
        check_toss(&run, METHODS[k], depth, 2.0 / 57);  // and in the middle of one
      }
    }
    run_end(&run);
  }
}

// Direction down alone: the condition has to turn in the step before it can fire.
static void test_down_alone(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: down\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\npotential: x\n"
      "events: {down: {when: x - 0.4999999, direction: down}}\nsimulate: {until: 2}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    if (!is_absent(METHODS[k])) {
      run.def.simulate.method = METHODS[k];
      run_to(&run, 2, 0.0371);
      assert_int_equal(run_events(&run), 1);
      CHECK_NEAR(run_event(&run, 0)->t, 1 + sqrt(2e-7), 1e-6);
    }
  }
  run_end(&run);
}

// Below the level by as little, nothing happens, and the motion is that without events.
static void test_near_miss(void** unused) {
  (void)unused;
  Run run = run_format(TOSS, -1e-9),
      plain = run_format(
          "model: toss\nparameters: {d: %.17g}\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
          "potential: x\nsimulate: {until: 2}\n",
          0.0);
  for (int k = 0; k < METHOD_COUNT; k++) {
    if (!is_absent(METHODS[k])) {
      run.def.simulate.method = plain.def.simulate.method = METHODS[k];
      run_to(&run, 2, 0.0371);
      run_to(&plain, 2, 0.0371);
      assert_int_equal(run_events(&run), 0);
      check_state(&run, pawl_sim_state(plain.sim)->q, pawl_sim_state(plain.sim)->v,
                  strcmp(METHODS[k], "ida") == 0 ? 1e-8 : 1e-14);
    }
  }
  run_end(&run);
  run_end(&plain);
}

// A lock that engages where x comes to the level: it catches x there.
static void test_lock(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: catch\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\npotential: x\n"
      "locks: {l: {lock: x, when: x - 0.499999}}\nsimulate: {until: 2}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    if (!is_absent(METHODS[k])) {
      run.def.simulate.method = METHODS[k];
      run_to(&run, 2, 0.0371);
      assert_true(run_events(&run) >= 1);
      CHECK_NEAR(run_event(&run, 0)->t, 1 - sqrt(2e-6), 1e-6);
      CHECK_NEAR(pawl_sim_state(run.sim)->q[0], 0.499999, 1e-9);
    }
  }
  run_end(&run);
}

// A joint holds against the force sin(t), whose top passes its capacity by 1e-6: it slides a
// little.
static void test_capacity(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: hold\ncoordinates: {x: }\nmass: {x: 1}\nforces: {x: sin(t)}\n"
      "locks: {l: {lock: x, engaged: true, capacity: 0.999999, friction: 0.999999}}\n"
      "simulate: {until: 2}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    if (!is_absent(METHODS[k])) {
      run.def.simulate.method = METHODS[k];
      run_to(&run, 2, 0.0371);
      assert_true(run_events(&run) >= 1);
      CHECK_NEAR(run_event(&run, 0)->t, asin(0.999999), 1e-6);
    }
  }
  run_end(&run);
}

// A bead whose track has a hump of height f beyond x = 0.499999, which it just reaches.
static void test_region(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: hump\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\npotential: x\n"
      "constraints: {track: {modes: {flat: {where: x < 0.499999, equation: y = 0},\n"
      "  hump: {where: x > 0.499999, equation: y = (x - 0.499999)^2}}}}\n"
      "simulate: {until: 2}\n");
  run_to(&run, 2, 0.0371);
  assert_int_equal(run_events(&run), 2);
  CHECK_NEAR(run_event(&run, 0)->t, 1 - sqrt(2e-6), 1e-9);
  CHECK_NEAR(run_event(&run, 1)->t, 1 + sqrt(2e-6), 1e-9);
  run_end(&run);
}

// Something hidden before what is seen comes first.
static void test_before_another(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: two\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\npotential: x\n"
      "events: {seen: {when: t - 1.01}, hidden: {when: x - 0.499999}}\nsimulate: {until: 2}\n");
  run.def.simulate.method = "rk4";
  run_to(&run, 2, 0.04);
  assert_int_equal(run_events(&run), 3);
  assert_string_equal(run_event(&run, 0)->constraint, "hidden");
  assert_string_equal(run_event(&run, 1)->constraint, "hidden");
  assert_string_equal(run_event(&run, 2)->constraint, "seen");
  run_end(&run);
}

// Late in a run an instant is located to the rounding of its time, 8 eps 1e12 s = 1.8e-3 s, which
// is more than a step: the end of the step will do.
static void test_late(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: late\ncoordinates: {x: }\nmass: {x: 1}\nevents: {mark: {when: x - 0.3}}\n"
      "simulate: {until: 1}\n");
  PawlStepper* stepper;
  PawlState* state;
  run.def.simulate.method = "rk4";
  run_need(&run, pawl_stepper_create(run.system, &run.def.simulate, &stepper, &run.err));
  run_need(&run, pawl_state_create(stepper, &state, &run.err));
  state->t = 1e9;
  state->v[0] = 1000;
  run_need(&run, pawl_stepper_start(stepper, state, false, &run.err));
  run_need(&run, pawl_stepper_step(stepper, state, 1e-3, &run.err));
  assert_int_equal(pawl_stepper_instants(stepper), 1);
  CHECK_NEAR(pawl_stepper_instant(stepper, 0)->t - 1e9, 3e-4, 2e-6);
  pawl_state_destroy(state);
  pawl_stepper_destroy(stepper);
  run_end(&run);
}

// A region beside a narrow band: its margin has a corner in the band, and no step ends there. With
// the bisector of each kink no energy is lost: up and down 4 mm, at a slope of 2.
static void test_band(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: band\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\n"
      "constraints: {track: {impact: bisector, modes: {\n"
      "  a: {where: 'x < 0.503 or x > 0.507', equation: y = 0},\n"
      "  b: {where: '0.503 < x < 0.505', equation: 'y = 2*(x - 0.503)'},\n"
      "  c: {where: '0.505 < x < 0.507', equation: 'y = 2*(0.507 - x)'}}}}\n"
      "simulate: {until: 1}\n");
  run_to(&run, 1, 0.01);
  assert_int_equal(run_events(&run), 3);
  CHECK_NEAR(run_event(&run, 0)->t, 0.503, 1e-9);
  CHECK_NEAR(run_event(&run, 2)->t, 0.503 + 0.004 * sqrt(5.0), 1e-9);
  run_end(&run);
}

// ---- conditions on rates without a value, or a rate, at rest ------------------------------------
// x' = 3 exp(-t), y' = exp(-2 t).
static void check_fading(const char* what, const char* when, double t) {
  char text[512];
  snprintf(text, sizeof text,
           "model: fading\ncoordinates: {x: {rate: 3}, y: {rate: 1}}\nmass: {x: 1, y: 1}\n"
           "forces: {x: -x', y: -2*y'}\n%s when: \"%s\"}}\nsimulate: {until: 1}\n",
           what, when);
  Run run = run_text(text);
  for (int k = 0; k < METHOD_COUNT; k++) {
    run.def.simulate.method = METHODS[k];
    if (!is_absent(METHODS[k])) {
      run_to(&run, 1, 0.01);
      assert_int_equal(run_events(&run), 1);
      CHECK_NEAR(run_event(&run, 0)->t, t, 1e-2);
    }
  }
  run_end(&run);
}

static void test_without_value_at_rest(void** unused) {
  (void)unused;
  static const char event[] = "events: {e: {", lock[] = "locks: {l: {lock: x, ";
  double slow = -0.5 * log((sqrt(97.0) - 9) / 2);  // 9 u^2 + u^4 = 4 with u = exp(-t)
  check_fading(event, "hypot(x', y') - 2", slow);
  check_fading(event, "hypot(x', y') < 2", slow);
  check_fading(event, "sqrt(x'^2 + y'^2) - 2", slow);
  check_fading(lock, "hypot(x', y') - 2", slow);
  check_fading(event, "1/x' - 0.5", log(1.5));
  check_fading(event, "y'/x' - 0.2", log(5.0 / 3));
  check_fading(event, "log(x') - 0.5", log(3.0) - 0.5);
  check_fading(event, "atan2(y', x') - atan(0.2)", log(5.0 / 3));
}

// A speed has no rate at rest, and begins there.
static void test_speed_from_rest(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: rest\ncoordinates: {x: , y: }\nmass: {x: 1, y: 1}\nforces: {x: 3, y: 4}\n"
      "events: {e: {when: \"hypot(x', y') > 2\"}}\nsimulate: {until: 1}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    run.def.simulate.method = METHODS[k];
    if (!is_absent(METHODS[k])) {
      run_to(&run, 1, 0.01);
      assert_int_equal(run_events(&run), 1);
      CHECK_NEAR(run_event(&run, 0)->t, 0.4, 1e-6);
    }
  }
  run_end(&run);
}

// One that has no value where the motion is says so, with its line.
static void check_no_value(const char* when) {
  char text[512];
  snprintf(text, sizeof text,
           "model: none\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\nforces: {x: -2}\n"
           "events: {e: {when: \"%s\"}}\nsimulate: {until: 1}\n",
           when);
  Run run = run_text(text);
  run.def.simulate.method = "dopri";
  assert_int_equal(run_try(&run, 1, 0.01), PAWL_ERROR_RUN);
  if (!strstr(run.err.message, "test.yaml:5:") || !strstr(run.err.message, "log(x')")) {
    fail_msg("%s: %s", when, run.err.message);
  }
  run_end(&run);
}

static void test_no_value(void** unused) {
  (void)unused;
  check_no_value("log(x') - 1");
  check_no_value("log(x') > 1");
  check_no_value("x > 1 and not 1 > log(x')");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_toss),
      cmocka_unit_test(test_down_alone),
      cmocka_unit_test(test_near_miss),
      cmocka_unit_test(test_lock),
      cmocka_unit_test(test_capacity),
      cmocka_unit_test(test_region),
      cmocka_unit_test(test_before_another),
      cmocka_unit_test(test_band),
      cmocka_unit_test(test_late),
      cmocka_unit_test(test_without_value_at_rest),
      cmocka_unit_test(test_speed_from_rest),
      cmocka_unit_test(test_no_value),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
