// SPDX-License-Identifier: Apache-2.0
// Locks and constraints that engage and let go: the jump against momentum balance, and every key
// that switches them against answers worked out by hand.
#include "step/balance.h"
#include "step/lock_methods.h"
#include "switch/runs.h"

static void run_with(Run* run, const char* method, double until, double step) {
  run->def.simulate.method = method;
  run_to(run, until, step);
}

static void check_switch(const Run* run, int k, double t, const char* constraint, const char* to) {
  const PawlEvent* e = run_event(run, k);
  CHECK_NEAR(e->t, t, 1e-11);
  assert_string_equal(e->constraint, constraint);
  assert_string_equal(e->to, to);
}

// ---- the jump -----------------------------------------------------------------------------------
// Mueller's pendulum: momentum balance at both locks, and what stays free keeps its momentum.
static void test_balance(void** unused) {
  (void)unused;
  EACH_METHOD(method, false) {
    Motion m = motion_file("planar-3r-lock", NULL);
    Balance b = balance_create(&m);
    motion_start(&m, method);
    for (int step = 0; step < 150; step++) {
      balance_step(&b, &m, 1e-2, 1e-13);
    }
    assert_int_equal(b.jumps, 2);
    CHECK_NEAR(m.state->v[1], 0, 1e-13);
    CHECK_NEAR(m.state->v[2], 0, 1e-13);
    balance_destroy(&b);
    motion_end(&m);
  }
}

// Three masses in a row; two locks at the same time are one jump to the common speed. With `none`
// the relative rates are set by the least change: v -> the plain mean.
static const char TRAIN[] =
    "model: train\n"
    "coordinates: {x: {rate: 3}, y: {rate: 1}, z: {rate: -2}}\n"
    "mass: {x: 2, y: 1, z: 3}\n"
    "locks:\n"
    "  front: {lock: x - y, at: 0.35}\n"
    "  back: {lock: y - z, at: 0.35}\n"
    "simulate: {until: 1, step: 0.1}\n";

static void test_one_jump(void** unused) {
  (void)unused;
  double v = (2 * 3 + 1 - 3 * 2) / 6.0;
  EACH_METHOD(method, true) {
    Run run = run_text(TRAIN);
    run_with(&run, method, 1, 0.1);
    assert_int_equal(run_events(&run), 2);
    for (int e = 0; e < 2; e++) {
      check_switch(&run, e, 0.35, e == 0 ? "front" : "back", "locked");
      check_list("v+", 3, run_event(&run, e)->v_after, (double[]){v, v, v}, 1e-14);
    }
    // Each lock takes -Lambda/2 times its relative rate before; together the loss of the jump.
    CHECK_NEAR(run_event(&run, 0)->energy_lost, (3 - v) * 2, 1e-12);
    CHECK_NEAR(run_event(&run, 1)->energy_lost, 1.5 * (v + 2) * 3, 1e-12);
    CHECK_NEAR(run_event(&run, 0)->energy_lost + run_event(&run, 1)->energy_lost,
               (2 * 9 + 1 + 3 * 4 - 6 * v * v) / 2, 1e-12);
    CHECK_NEAR(run_event(&run, 0)->impulse[0], 2 * (v - 3), 1e-13);  // on x alone
    CHECK_NEAR(run_event(&run, 1)->impulse[0], -3 * (v + 2), 1e-13);
    double rest = 0.65;
    check_state(&run, (double[]){1.05 + v * rest, 0.35 + v * rest, -0.7 + v * rest},
                (double[]){v, v, v}, 1e-12);
    run_end(&run);
  }
}

static void test_impact_none(void** unused) {
  (void)unused;
  Run run = run_text(TRAIN);
  run.def.simulate.impact = "none";
  run_with(&run, "rk4", 1, 0.1);
  check_list("v+", 3, run_event(&run, 0)->v_after, (double[]){2.0 / 3, 2.0 / 3, 2.0 / 3}, 1e-14);
  CHECK_NEAR(run_event(&run, 0)->impulse[0], 0, 0);
  run_end(&run);
}

// The forms of the jump are the same.
static void test_transition_forms(void** unused) {
  (void)unused;
  static const char* const forms[] = {"full", "projected", "minimal"};
  double first[3] = {0};
  for (int k = 0; k < 3; k++) {
    Run run = run_file("planar-3r-lock", NULL, NULL);
    run.def.simulate.transition = forms[k];
    run_with(&run, "rk4", 1.35, 1e-3);
    assert_int_equal(run_events(&run), 2);
    const double* v = run_event(&run, 1)->v_after;
    for (int j = 0; j < 3; j++) {
      first[j] = k == 0 ? v[j] : first[j];
      CHECK_NEAR(v[j], first[j], 1e-10 * fabs(first[0]));
    }
    run_end(&run);
  }
}

// ---- what is held -------------------------------------------------------------------------------
// x runs with speed 1 and is caught at 0.35.
static void check_on_engage(const char* lock, double x, double v, const char* to) {
  char text[512];
  snprintf(text, sizeof text,
           "model: held\ncoordinates: {x: {start: 0.1, rate: 1}, y: {rate: 1}}\n"
           "mass: {x: 1, y: 2}\nlocks: {stop: {lock: x, %s}}\nsimulate: {until: 1}\n",
           lock);
  EACH_METHOD(method, true) {
    Run run = run_text(text);
    run_with(&run, method, 1, 0.1);
    assert_int_equal(run_events(&run), 1);
    check_switch(&run, 0, 0.35, "stop", to);
    check_state(&run, (double[]){x, 1}, (double[]){v, 1}, 1e-12);
    run_end(&run);
  }
}

static void test_keep_snap_refuse(void** unused) {
  (void)unused;
  check_on_engage("at: 0.35", 0.45, 0, "locked");
  check_on_engage("at: 0.35, on: snap, to: 0.5", 0.5, 0, "locked");
  check_on_engage("at: 0.35, on: refuse, to: 0.45", 0.45, 0, "locked");
  check_on_engage("at: 0.35, on: refuse, to: 0.5", 1.1, 1, "refused");
}

// Every engagement captures anew: x = sin t is held at sin(0.5), goes on from there with rate 0.
static void test_capture_again(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: again\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\npotential: x^2/2\n"
      "locks: {stop: {lock: x, at: [0.5, 1.5], for: 0.25}}\nsimulate: {until: 2}\n");
  run_with(&run, "rk4", 2, 1e-3);
  assert_int_equal(run_events(&run), 4);
  static const double times[] = {0.5, 0.75, 1.5, 1.75};
  for (int k = 0; k < 4; k++) {
    check_switch(&run, k, times[k], "stop", k % 2 == 0 ? "locked" : "free");
  }
  double x = sin(0.5) * cos(0.75);
  check_state(&run, (double[]){x * cos(0.25)}, (double[]){-x * sin(0.25)}, 1e-12);
  CHECK_NEAR(run_event(&run, 0)->impulse[0], -cos(0.5), 1e-12);
  run_end(&run);
}

// Asked again at the very end of `for`: it is held anew, from 0.5 to 1 in all.
static void test_held_anew(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: anew\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\nforces: {x: 1}\n"
      "locks: {stop: {lock: x, at: [0.5, 0.75], for: 0.25}}\nsimulate: {until: 2}\n");
  run_with(&run, "rk4", 2, 0.1);
  check_switch(&run, run_events(&run) - 1, 1, "stop", "free");
  check_state(&run, (double[]){1.125}, (double[]){1}, 1e-12);
  run_end(&run);
}

// ---- conditions ---------------------------------------------------------------------------------
// x = sin t; the lock y (moving with speed 1) engages when x passes 1/2.
static void check_condition(const char* keys, int count, const double* times) {
  char text[512];
  snprintf(text, sizeof text,
           "model: condition\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\n"
           "potential: x^2/2\noutputs: {high: x - 0.5, pull: lambda(stop)}\nforces: {y: sin(t)}\n"
           "locks: {stop: {lock: y, %s}}\nsimulate: {until: 10}\n",
           keys);
  static const char* const some[] = {"rk4", "event-driven"};
  for (int k = 0; k < 2; k++) {
    Run run = run_text(text);
    run_with(&run, some[k], 10, 1e-2);
    assert_int_equal(run_events(&run), count);
    for (int e = 0; e < count; e++) {
      CHECK_NEAR(run_event(&run, e)->t, times[e], 2e-8);
      assert_string_equal(run_event(&run, e)->to, e % 2 == 0 ? "locked" : "free");
    }
    run_end(&run);
  }
}

static void test_conditions(void** unused) {
  (void)unused;
  double pi = acos(-1), up = pi / 6, down = 5 * pi / 6, turn = 2 * pi;
  check_condition("when: x - 0.5, direction: up, for: 0.1", 4,
                  (double[]){up, up + 0.1, up + turn, up + turn + 0.1});
  check_condition("when: x - 0.5, direction: down, for: 0.1", 4,
                  (double[]){down, down + 0.1, down + turn, down + turn + 0.1});
  check_condition("when: high, direction: both, for: 0.1", 8,
                  (double[]){up, up + 0.1, down, down + 0.1, up + turn, up + turn + 0.1,
                             down + turn, down + turn + 0.1});
  check_condition("when: high, after: 3, for: 0.1", 2, (double[]){up + turn, up + turn + 0.1});
  check_condition("when: high, release: {when: high}", 4,
                  (double[]){up, down, up + turn, down + turn});
  check_condition("at: 1, release: {when: high, direction: down, after: 2}", 2,
                  (double[]){1, down + turn});
  // the lock holds y against sin t: its multiplier is -sin t, zero at pi
  check_condition("at: 1, release: {when: pull, direction: up}", 2, (double[]){1, pi});
  check_condition("at: 1, release: {when: lambda(stop), direction: down}", 2, (double[]){1, turn});
}

// A condition whose quantity another lock holds at zero is quiet: x2' jumps from -2.3 to 0 when k2
// engages at 0.54, and stays there but for rounding. k0 does not engage.
static void test_quiet_condition(void** unused) {
  (void)unused;
  static const char text[] =
      "model: quiet\n"
      "coordinates:\n"
      "  x0: {start: -0.406, rate: 1.934}\n"
      "  x1: {start: 0.762, rate: -1.858}\n"
      "  x2: {start: 0.123, rate: 0.555}\n"
      "  x3: {start: -0.497, rate: 1.426}\n"
      "mass: {x0: 1.344, x1: 2.933, x2: 2.595, x3: 2.314}\n"
      "potential:\n"
      "  - 6.938*x0^2 + 2.238*x1^2 + 12.787*x2^2 + 10.783*x3^2\n"
      "  - 12.500*(x1-x0)^2 + 18.497*(x2-x1)^2 + 2.105*(x3-x2)^2\n"
      "dissipation: 0.152*x0'^2 + 0.077*x1'^2 + 0.248*x2'^2 + 0.116*x3'^2\n"
      "forces: {x0: 0.066*sin(1.043*t)}\n"
      "locks:\n"
      "  k0: {lock: x3 - x2, when: x2', direction: both, after: 0.316, for: 0.486}\n"
      "  k1: {lock: x1, engaged: true, capacity: 6.521, friction: 1.616}\n"
      "  k2: {lock: x2, at: [0.540, 3.817], for: 0.582}\n"
      "simulate: {until: 1.1}\n";
  EACH_METHOD(method, true) {
    Run run = run_text(text);
    run_with(&run, method, 1.1, 1e-3);
    for (int e = 0; e < run_events(&run); e++) {
      assert_string_not_equal(run_event(&run, e)->constraint, "k0");
    }
    run_end(&run);
  }
}

// ---- smooth -------------------------------------------------------------------------------------
// x = sin t is asked to lock at 0.5 and waits for x' = 0 at pi/2: no jump, no loss, x stays 1.
static void test_smooth(void** unused) {
  (void)unused;
  static const double near[] = {5e-2, 1e-4, 1e-7, 1e-8};
  double pi = acos(-1);
  EACH_METHOD(method, true) {
    Run run = run_text(
        "model: smooth\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\npotential: x^2/2\n"
        "locks: {stop: {lock: x, at: [0.5, 0.7], smooth: true, for: 2}}\nsimulate: {until: 4}\n");
    double tolerance = near[grade_of(method)];
    run_with(&run, method, 4, 1e-2);
    assert_int_equal(run_events(&run), 3);  // asked twice, the second changes nothing
    static const char* const to[] = {"waiting", "locked", "free"};
    const double times[] = {0.5, pi / 2, pi / 2 + 2};  // `for` counts from when it holds
    for (int k = 0; k < 3; k++) {
      CHECK_NEAR(run_event(&run, k)->t, times[k], tolerance);
      assert_string_equal(run_event(&run, k)->to, to[k]);
      CHECK_NEAR(run_event(&run, k)->energy_lost, 0, 1e-15);
      CHECK_NEAR(run_event(&run, k)->impulse[0], 0, 1e-10);
    }
    CHECK_NEAR(pawl_sim_state(run.sim)->q[0], cos(4 - times[2]), tolerance);
    run_end(&run);
  }
}

// Told to let go while it waits, it does not engage.
static void test_smooth_withdrawn(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: withdrawn\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\npotential: x^2/2\n"
      "locks: {stop: {lock: x, at: 0.5, smooth: true, release: {at: 1}}}\nsimulate: {until: 4}\n");
  run_with(&run, "rk4", 4, 1e-2);
  assert_int_equal(run_events(&run), 2);
  check_switch(&run, 1, 1, "stop", "free");
  check_state(&run, (double[]){sin(4)}, (double[]){cos(4)}, 1e-8);
  run_end(&run);
}

// A lock that moves: x - y - t/2 keeps its value, so the rates differ by 1/2 after the jump.
static void test_moving_lock(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run = run_text(
        "model: moving\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 3}\n"
        "locks: {screw: {lock: x - y - 0.5*t, at: 1.05, for: 0.5}}\nsimulate: {until: 2}\n");
    run_with(&run, method, 2, 0.1);
    assert_int_equal(run_events(&run), 2);
    check_list("v+", 2, run_event(&run, 0)->v_after, (double[]){0.625, 0.125}, 1e-12);
    check_state(&run, (double[]){1.05 + 0.95 * 0.625, 0.95 * 0.125}, (double[]){0.625, 0.125},
                1e-9);
    run_end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_balance),          cmocka_unit_test(test_one_jump),
      cmocka_unit_test(test_impact_none),      cmocka_unit_test(test_transition_forms),
      cmocka_unit_test(test_keep_snap_refuse), cmocka_unit_test(test_capture_again),
      cmocka_unit_test(test_held_anew),        cmocka_unit_test(test_conditions),
      cmocka_unit_test(test_quiet_condition),  cmocka_unit_test(test_smooth),
      cmocka_unit_test(test_smooth_withdrawn), cmocka_unit_test(test_moving_lock),
  };
  return cmocka_run_group_tests_name("locks", tests, NULL, NULL);
}
