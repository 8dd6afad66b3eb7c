// SPDX-License-Identifier: Apache-2.0
// Stops that move: against a rigid lock there is no motion, and a run says so; a brake gives way.
#include "switch/runs.h"

static const char* const with_contacts[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
enum { METHODS = sizeof with_contacts / sizeof *with_contacts };

// The stop comes to x = 0 at 0.5 s, where the lock holds.
static void test_rigid_lock(void** unused) {
  (void)unused;
  for (int k = 0; k < METHODS; k++) {
    Run run = run_text(
        "model: rigid\ncoordinates: [x]\nmass: {x: 1}\nlocks: {a: {lock: x, at: 0.2}}\n"
        "contacts: {s: {gap: x + 0.5 - t}}\nsimulate: {until: 1}\n");
    run.def.simulate.method = with_contacts[k];
    assert_int_equal(run_try(&run, 1, 0.01), PAWL_ERROR_RUN);
    assert_non_null(strstr(run.err.message, "t = 0.5"));
    assert_non_null(strstr(run.err.message, "'a' (row 1), 's' (row 1) contradict each other"));
    run_end(&run);
  }
}

// What is moved by a constraint comes to a floor at 0.4 s, or is pulled into it from the start:
// these two are named, with friction, too.
static void test_driven_onto_a_floor(void** unused) {
  (void)unused;
  static const char* const frictions[] = {"", ", friction: 0.3, slip: x"};
  for (int k = 0; k < 4; k++) {
    char text[300];
    bool pulled = k >= 2;
    snprintf(text, sizeof text,
             "model: driven\ncoordinates: {x: , y: {%s}}\nmass: {x: 1, y: 1}\n"
             "constraints: {h: \"%s\"}\ncontacts: {f: {gap: y, restitution: 0.2%s}}\n",
             pulled ? "" : "start: 0.2, rate: -0.5", pulled ? "y = -t^2" : "y = 0.2 - t/2",
             frictions[k % 2]);
    Run run = run_text(text);
    run.def.simulate.method = "event-driven";
    assert_int_equal(run_try(&run, 1, 0.01), PAWL_ERROR_RUN);
    assert_non_null(strstr(run.err.message, "'h' (row 1), 'f' (row 1) contradict each other"));
    run_end(&run);
  }
}

// The state at 1 s of a model with brakes and the stop s; `side`: as it is, or mirrored.
// moreau-jean holds rates only, and closes a contact up to half a step late.
static void check_pushed(const char* model, double side, int n, const double* q, const double* v) {
  for (int k = 0; k < METHODS; k++) {
    double step = 1e-3, late = strcmp(with_contacts[k], "moreau-jean") == 0 ? step : 1e-12;
    Run run = run_text(model);
    run.def.simulate.method = with_contacts[k];
    run_to(&run, 1, step);
    const PawlState* state = pawl_sim_state(run.sim);
    for (int j = 0; j < n; j++) {
      CHECK_NEAR(state->q[j], side * q[j], late);
      CHECK_NEAR(state->v[j], side * v[j], 1e-9);
    }
    if (run_events(&run) > 0) {  // else it slides from the start on
      assert_string_equal(run_event(&run, 0)->to, side > 0 ? "sliding up" : "sliding down");
    }
    assert_int_equal(pawl_sim_state(run.sim)->modes[0], side > 0 ? 3 : 4);  // up, down
    run_end(&run);
  }
}

// The stop hits the braked mass at 0.5 s and takes it along.
static void test_brake_is_hit(void** unused) {
  (void)unused;
  check_pushed(
      "model: hit\ncoordinates: [x]\nmass: {x: 2}\n"
      "locks: {a: {lock: x, engaged: true, capacity: 3}}\ncontacts: {s: {gap: x + 0.5 - t}}\n"
      "simulate: {until: 1}\n",
      1, 1, (double[]){0.5}, (double[]){1});
  check_pushed(
      "model: hit\ncoordinates: [x]\nmass: {x: 2}\n"
      "locks: {a: {lock: x, engaged: true, capacity: 3}}\ncontacts: {s: {gap: 0.5 - t - x}}\n"
      "simulate: {until: 1}\n",
      -1, 1, (double[]){0.5}, (double[]){1});
}

// x = t^2, without an impact: the stop pushes with m x'' + R = 2*2 + 3.
static void test_brake_is_pushed(void** unused) {
  (void)unused;
  const char* model =
      "model: pushed\ncoordinates: [x]\nmass: {x: 2}\n"
      "locks: {a: {lock: x, engaged: true, capacity: 3}}\ncontacts: {s: {gap: x - t^2}}\n"
      "simulate: {until: 1}\n";
  check_pushed(model, 1, 1, (double[]){1}, (double[]){2});
  Run run = run_text(model);
  run.def.simulate.method = "nsga-pva";
  run_to(&run, 1, 1e-3);
  CHECK_NEAR(pawl_sim_state(run.sim)->lambda[1], 7, 1e-9);
  run_end(&run);
}

// The brake a takes y along with 3 N against 1 N of g: y'' = 2 from 0.5 s on.
static void test_two_brakes(void** unused) {
  (void)unused;
  check_pushed(
      "model: two\ncoordinates: [x, y]\nmass: {x: 2, y: 1}\nlocks:\n"
      "  a: {lock: x - y, engaged: true, capacity: 3}\n"
      "  g: {lock: y, engaged: true, capacity: 1}\ncontacts: {s: {gap: x + 0.6 - t}}\n"
      "simulate: {until: 1}\n",
      1, 2, (double[]){0.4, 0.16}, (double[]){1, 0.8});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rigid_lock),   cmocka_unit_test(test_driven_onto_a_floor),
      cmocka_unit_test(test_brake_is_hit), cmocka_unit_test(test_brake_is_pushed),
      cmocka_unit_test(test_two_brakes),
  };
  return cmocka_run_group_tests_name("moving stop", tests, NULL, NULL);
}
