// SPDX-License-Identifier: Apache-2.0
// Impulsive forces: of events and by call, with constraints, locks that engage at the same instant,
// joints that give way, conditions that a push carries across zero; every method, by hand-worked
// answers, and the balance of the energy.
#include "step/lock_methods.h"
#include "switch/runs.h"

// ---- events -------------------------------------------------------------------------------------
// Two masses, 2 and 3 kg, on a rod. 10 N s on x: both go with 2 m/s, the rod carries 6 N s.
static const char ROD[] =
    "model: rod\ncoordinates: {x: , y: {start: 1}}\nmass: {x: 2, y: 3}\n"
    "constraints: {rod: y - x = 1}\n"
    "events: {kick: {at: 0.25, impulse: {x: 10}}}\nsimulate: {until: 0.5, step: 0.1}\n";

static void test_event(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run = run_text(ROD);
    run.def.simulate.method = method;
    run_to(&run, 0.5, 0.1);
    assert_int_equal(run_events(&run), 1);
    const Expected kick = {0.25, "kick", "", "event", {0, 0}, {2, 2}, {10, 0}, -10.0};
    check_event(&run, 0, &kick, 1e-12);
    check_state(&run, (double[]){0.5, 1.5}, (double[]){2, 2}, 1e-10);
    PawlSummary summary = pawl_sim_summary(run.sim);
    CHECK_NEAR(summary.works[PAWL_WORK_JUMPS], 10.0, 1e-12);
    CHECK_NEAR(summary.energy_max_drift, 0.0, 1e-9);
    run_end(&run);
  }
}

// The impulse of the rod is in the instant: M dv = G^T Lambda + U.
static void test_reaction(void** unused) {
  (void)unused;
  Run run = run_text(ROD);
  PawlStepper* stepper;
  PawlState* state;
  run.def.simulate.method = "rk4";
  run_need(&run, pawl_stepper_create(run.system, &run.def.simulate, &stepper, &run.err));
  run_need(&run, pawl_state_create(stepper, &state, &run.err));
  run_need(&run, pawl_stepper_start(stepper, state, false, &run.err));
  run_need(&run, pawl_stepper_step(stepper, state, 0.3, &run.err));
  assert_int_equal(pawl_stepper_instants(stepper), 1);
  const PawlInstant* i = pawl_stepper_instant(stepper, 0);
  assert_true(i->pushed && i->event == 0);
  CHECK_NEAR(i->impulse[0], 6.0, 1e-13);
  CHECK_NEAR(i->push[0], 10.0, 0);
  CHECK_NEAR(i->push[1], 0.0, 0);
  pawl_state_destroy(state);
  pawl_stepper_destroy(stepper);
  run_end(&run);
}

// A racket: at x = 1 the ball of 2 kg comes back with half its speed. Expressions see the rate
// before.
static void test_expression(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run = run_text(
        "model: racket\ncoordinates: {x: {rate: 4}}\nmass: {x: 2}\n"
        "events: {hit: {when: x - 1, direction: up, impulse: {x: -1.5*2*x'}}}\n");
    run.def.simulate.method = method;
    run_to(&run, 0.5, 0.1);
    const Expected hit = {0.25, "hit", "", "event", {4}, {-2}, {-12}, 12.0};
    check_event(&run, 0, &hit, 1e-9);
    check_state(&run, (double[]){0.5}, (double[]){-2}, 1e-9);
    run_end(&run);
  }
}

// Along x^2 + y at x = 3: (6, 1) times the value; two events at one instant add up.
static void test_along(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: along\ncoordinates: {x: {start: 3}, y: }\nmass: {x: 2, y: 1}\n"
      "events:\n"
      "  one: {at: 0.2, impulse: [{along: x^2 + y, value: 2*t}]}\n"
      "  two: {at: 0.2, impulse: [{along: x, value: 1}, {along: x - y, value: 1}]}\n");
  run.def.simulate.method = "rk4";
  run_to(&run, 0.3, 0.1);
  assert_int_equal(run_events(&run), 2);
  check_list("U", 2, run_event(&run, 0)->impulse, (double[]){2.4, 0.4}, 1e-14);
  check_list("U", 2, run_event(&run, 1)->impulse, (double[]){2, -1}, 1e-14);
  check_state(&run, (double[]){3.22, -0.06}, (double[]){2.2, -0.6}, 1e-13);
  run_end(&run);
}

// Families of coordinates and of events.
static void test_families(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: f\nparameters: {N: 3}\ncoordinates: {\"x[i=1..N]\": }\n"
      "mass: {\"x[i=1..N]\": 1}\n"
      "events: {\"kick[k=1..2]\": {at: k/10, impulse: {\"x[i=1..N]\": i*k}}}\n");
  run.def.simulate.method = "rk4";
  run_to(&run, 0.3, 0.1);
  check_state(&run, (double[]){0.4, 0.8, 1.2}, (double[]){3, 6, 9}, 1e-13);
  run_end(&run);
}

// (22) of Mueller with U: the hook closes and the kick acts at one instant; both orders of writing.
static void test_with_a_lock(void** unused) {
  (void)unused;
  static const char* const forms[] = {"full", "projected", "minimal"};
  for (int k = 0; k < 3; k++) {
    Run run = run_text(
        "model: pair\ncoordinates: {x: {rate: 2}, y: }\nmass: {x: 1, y: 3}\n"
        "locks: {hook: {lock: x - y, at: 0.25}}\n"
        "events: {kick: {at: 0.25, impulse: {y: 6}}}\n");
    run.def.simulate.method = "rk4";
    run.def.simulate.transition = forms[k];
    run_to(&run, 0.5, 0.1);
    const Expected hook = {0.25, "hook", "free", "locked", {2, 0}, {0.5, 0.5}, {-1.5}, 1.5};
    const Expected kick = {0.25, "kick", "", "event", {0.5, 0.5}, {2, 2}, {0, 6}, -7.5};
    check_event(&run, 0, &hook, 1e-13);
    check_event(&run, 1, &kick, 1e-13);
    check_state(&run, (double[]){1, 0.5}, (double[]){2, 2}, 1e-13);
    run_end(&run);
  }
}

// A push opens what it lets go at the same instant: the released row carries nothing.
static void test_with_a_release(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: pair\ncoordinates: {x: {rate: 1}, y: {rate: 1}}\nmass: {x: 1, y: 3}\n"
      "locks: {hook: {lock: x - y, engaged: true, release: {at: 0.25}}}\n"
      "events: {kick: {at: 0.25, impulse: {y: 6}}}\n");
  run.def.simulate.method = "rk4";
  run_to(&run, 0.5, 0.1);
  check_state(&run, (double[]){0.5, 1.0}, (double[]){1, 3}, 1e-13);
  run_end(&run);
}

// A finite force carries no impulse: the brake slides after the push, and stops it.
static void test_capacity(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run = run_text(
        "model: brake\ncoordinates: {x: }\nmass: {x: 2}\n"
        "locks: {brake: {lock: x, engaged: true, capacity: 8}}\n"
        "events: {kick: {at: 0.25, impulse: {x: 2}}}\n");
    run.def.simulate.method = method;
    run_to(&run, 1.0, 0.1);
    check_state(&run, (double[]){0.125}, (double[]){0}, 1e-8);  // 1 m/s, slowed down by 4 m/s^2
    assert_string_equal(run_event(&run, 0)->constraint, "kick");
    assert_string_equal(run_event(&run, 1)->to, "sliding up");
    CHECK_NEAR(run_event(&run, run_events(&run) - 1)->t, 0.5, 1e-8);
    run_end(&run);
  }
}

// A condition that the push carries across zero fires at the same instant, and may push again.
static void test_carried(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: chain\ncoordinates: {x: {rate: -1}, y: }\nmass: {x: 1, y: 1}\n"
      "events: {kick: {at: 0.25, impulse: {x: 3}}, answer: {when: x', direction: up, impulse: {y: "
      "x'}}}\n");
  run.def.simulate.method = "rk4";
  run_to(&run, 0.5, 0.1);
  assert_int_equal(run_events(&run), 2);
  CHECK_NEAR(run_event(&run, 1)->t, 0.25, 1e-14);
  check_state(&run, (double[]){0.25, 0.5}, (double[]){2, 2}, 1e-13);
  run_end(&run);
}

// Saved after the push and loaded again: the log is the same, and so is the end.
static void test_saved(void** unused) {
  (void)unused;
  Run run = run_text(ROD);
  void* bytes;
  size_t size;
  PawlSim* later;
  run.def.simulate.method = "rk4";
  run.def.simulate.until = 0.5;
  run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
  run_need(&run, pawl_sim_step(run.sim, 4, &run.err));
  run_need(&run, pawl_sim_save(run.sim, &bytes, &size, &run.err));
  run_need(&run, pawl_sim_load(run.system, &run.def, bytes, size, &later, &run.err));
  pawl_sim_saved_free(bytes);
  run_need(&run, pawl_sim_run(run.sim, NULL, NULL, &run.err));
  run_need(&run, pawl_sim_run(later, NULL, NULL, &run.err));
  assert_memory_equal(pawl_sim_state(later)->q, pawl_sim_state(run.sim)->q, 2 * sizeof(double));
  assert_int_equal(pawl_recorder_event_count(pawl_sim_recorder(later)), 1);
  check_list("U", 2, pawl_recorder_event(pawl_sim_recorder(later), 0)->impulse, (double[]){10, 0},
             0.0);
  pawl_sim_destroy(later);
  run_end(&run);
}

static PawlStatus keep_side(void* context, const PawlRecorder* recorder, const double* sample,
                            PawlError* err) {
  double(*sides)[4] = context;  // t, x', x'' of the last two samples at 0.25 s
  (void)recorder;
  (void)err;
  if (fabs(sample[0] - 0.25) < 1e-12) {
    memcpy(sides[0], sides[1], sizeof sides[0]);
    memcpy(sides[1], sample, sizeof sides[1]);
  }
  return PAWL_OK;
}

// Both sides of the jump of a brake that gives way: the acceleration is zero before, and that of
// the friction after.
static void test_sides(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: brake\ncoordinates: {x: }\nmass: {x: 2}\n"
      "locks: {brake: {lock: x, engaged: true, capacity: 8}}\n"
      "events: {kick: {at: 0.25, impulse: {x: 2}}}\n");
  double sides[2][4] = {{0}};
  run.def.simulate.method = "rk4";
  run.def.on_sample = keep_side;
  run.def.on_sample_context = sides;
  run_to(&run, 0.3, 0.1);
  check_list("before", 4, sides[0], (double[]){0.25, 0, 0, 0}, 1e-14);
  check_list("after", 4, sides[1], (double[]){0.25, 0, 1, -4}, 1e-14);
  run_end(&run);
}

// ---- calls --------------------------------------------------------------------------------------
// By call: in a model with locks, in one in which nothing switches.
static void test_calls(void** unused) {
  (void)unused;
  static const char* const texts[] = {
      "model: rod\ncoordinates: {x: , y: {start: 1}}\nmass: {x: 2, y: 3}\n"
      "constraints: {rod: y - x = 1}\nsimulate: {until: 0.5, step: 0.1}\n",
      "model: rod\ncoordinates: {x: , y: {start: 1}}\nmass: {x: 2, y: 3}\n"
      "constraints: {rod: y - x = 1}\nlocks: {idle: {lock: x}}\nsimulate: {until: 0.5, step: "
      "0.1}\n"};
  for (int k = 0; k < 2; k++) {
    EACH_METHOD(method, true) {
      Run run = run_text(texts[k]);
      run.def.simulate.method = method;
      run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
      run_need(&run, pawl_sim_step(run.sim, 2, &run.err));
      run_need(&run, pawl_sim_push(run.sim, (double[]){10, 0}, &run.err));
      run_need(&run, pawl_sim_run(run.sim, NULL, NULL, &run.err));
      const Expected push = {0.2, "impulse", "", "event", {0, 0}, {2, 2}, {10, 0}, -10.0};
      check_event(&run, 0, &push, 1e-12);
      check_state(&run, (double[]){0.6, 1.6}, (double[]){2, 2}, 1e-10);
      CHECK_NEAR(pawl_sim_summary(run.sim).energy_max_drift, 0.0, 1e-9);
      run_end(&run);
    }
  }
}

static void test_wrong_call(void** unused) {
  (void)unused;
  Run run = run_text(ROD);
  run.def.simulate.method = "rk4";
  run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
  assert_int_equal(pawl_sim_push(run.sim, (double[]){NAN, 0}, &run.err), PAWL_ERROR_USAGE);
  run_end(&run);
}

// ---- mistakes -----------------------------------------------------------------------------------
static void check_mistake(const char* impulse, const char* message) {
  char text[400];
  PawlModel* model;
  PawlError err = {0};
  snprintf(text, sizeof text,
           "model: m\ncoordinates: {x: , y: }\nmass: {x: 1, y: 1}\nconstraints: {c: x = y}\n"
           "events: {kick: {at: 1, impulse: %s}}\n",
           impulse);
  assert_int_equal(pawl_model_parse(text, strlen(text), "m", 0, NULL, &model, &err),
                   PAWL_ERROR_MODEL);
  if (!strstr(err.message, message)) {
    print_error("'%s' is not in '%s'\n", message, err.message);
    fail();
  }
}

static void test_mistakes(void** unused) {
  (void)unused;
  check_mistake("3", "expected a map of coordinates");
  check_mistake("{}", "expected a map of coordinates");
  check_mistake("{z: 3}", "'z'");
  check_mistake("{x: x''}", "an impulse");
  check_mistake("{x: lambda(c)}", "an impulse");
  check_mistake("[3]", "{along: ..., value: ...}");
  check_mistake("[{along: x}]", "needs along: and value:");
  check_mistake("[{along: x', value: 1}]", "acts along");
  check_mistake("[{along: t, value: 1}]", "does not move with any coordinate");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_event),          cmocka_unit_test(test_reaction),
      cmocka_unit_test(test_expression),     cmocka_unit_test(test_along),
      cmocka_unit_test(test_families),       cmocka_unit_test(test_with_a_lock),
      cmocka_unit_test(test_with_a_release), cmocka_unit_test(test_capacity),
      cmocka_unit_test(test_saved),          cmocka_unit_test(test_sides),
      cmocka_unit_test(test_carried),        cmocka_unit_test(test_calls),
      cmocka_unit_test(test_wrong_call),     cmocka_unit_test(test_mistakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
