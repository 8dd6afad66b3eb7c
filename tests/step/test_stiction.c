// SPDX-License-Identifier: Apache-2.0
// Locks with a capacity: stick, slide, stick again, against closed forms; no chatter.
#include "step/lock_methods.h"
#include "switch/runs.h"

static void check_modes(const Run* run, int count, const double* times, const char* const* to,
                        double tolerance) {
  assert_int_equal(run_events(run), count);
  for (int k = 0; k < count; k++) {
    CHECK_NEAR(run_event(run, k)->t, times[k], tolerance);
    assert_string_equal(run_event(run, k)->to, to[k]);
    CHECK_NEAR(run_event(run, k)->energy_lost, 0, 1e-8);  // a finite force is no shock
  }
}

// ---- the belt -----------------------------------------------------------------------------------
// models/stick-slip: slip time (2 pi - 2 atan(D w/vb))/w, stick time 2 D/vb, first slip Fs/(k vb).
static void test_belt(void** unused) {
  (void)unused;
  double pi = acos(-1), w = sqrt(20), D = 0.2, vb = 0.2;
  double slip = (2 * pi - 2 * atan(D * w / vb)) / w, stick = 2 * D / vb;
  EACH_METHOD(method, true) {
    static const double steps[] = {1e-4, 1e-2, 1e-3, 1e-3}, near[] = {5e-3, 2e-3, 1e-7, 1e-9};
    Grade grade = grade_of(method);
    double times[13];
    const char* to[13];
    times[0] = 2.5;
    for (int e = 0; e < 13; e++) {
      times[e] = e == 0 ? 2.5 : times[e - 1] + (e % 2 == 1 ? slip : stick);
      to[e] = e % 2 == 0 ? "sliding down" : "locked";
    }
    Run run = run_file("stick-slip", NULL, NULL);
    run.def.simulate.method = method;
    run_to(&run, 20, steps[grade]);
    check_modes(&run, 13, times, to, near[grade]);
    assert_int_equal(pawl_sim_summary(run.sim).smaller_steps, 0);
    run_end(&run);
  }
}

// ---- a brake ------------------------------------------------------------------------------------
// A block with speed 2 is braked from 0.5 s on with friction 3 (m = 1): stops after 2/3 s and
// stays.
static void test_brake(void** unused) {
  (void)unused;
  static const char* const to[] = {"sliding up", "locked"};
  EACH_METHOD(method, true) {
    Run run = run_text(
        "model: brake\ncoordinates: {x: {rate: 2}}\nmass: {x: 1}\n"
        "locks: {brake: {lock: x, at: 0.5, capacity: 4, friction: 3}}\nsimulate: {until: 2}\n");
    run.def.simulate.method = method;
    run_to(&run, 2, 0.03);
    check_modes(&run, 2, (double[]){0.5, 0.5 + 2.0 / 3}, to, 1e-9);
    check_state(&run, (double[]){1 + 2.0 / 3}, (double[]){0},
                grade_of(method) == GRADE_FIRST ? 5e-2 : 1e-9);
    run_end(&run);
  }
}

// Pulled by 5, more than it can hold: it comes to rest and slides the other way at once, no
// chatter.
static void test_reversal(void** unused) {
  (void)unused;
  static const char* const to[] = {"sliding up", "sliding down"};
  EACH_METHOD(method, true) {
    Run run = run_text(
        "model: reversal\ncoordinates: {x: {rate: 2}}\nmass: {x: 1}\nforces: {x: -5}\n"
        "locks: {brake: {lock: x, at: 0, capacity: 4, friction: 3}}\nsimulate: {until: 2}\n");
    run.def.simulate.method = method;
    run_to(&run, 2, 0.03);
    check_modes(&run, 2, (double[]){0, 0.25}, to, 1e-10);  // 2/(5 + 3)
    double rest = 1.75;                                    // then -5 + 3
    check_state(&run, (double[]){0.25 - rest * rest}, (double[]){-2 * rest}, 1e-9);
    CHECK_NEAR(pawl_sim_multipliers(run.sim)[0], 3, 1e-12);
    run_end(&run);
  }
}

// The force 6 t tears it off at 2/3 s (capacity 4); then 6 t - 3.
static void test_tears_off(void** unused) {
  (void)unused;
  static const double near[] = {2e-2, 1e-4, 1e-8, 1e-9};
  static const char* const to[] = {"sliding up"};
  EACH_METHOD(method, true) {
    Run run = run_text(
        "model: tear\ncoordinates: {x: }\nmass: {x: 1}\nforces: {x: 6*t}\n"
        "locks: {hold: {lock: x, engaged: true, capacity: 4, friction: 3}}\nsimulate: {until: "
        "1}\n");
    run.def.simulate.method = method;
    run_to(&run, 1, 0.01);
    double t = 2.0 / 3, v = 3 * (1 - t * t) - 3 * (1 - t);
    check_modes(&run, 1, (double[]){t}, to, 1e-9);
    CHECK_NEAR(pawl_sim_state(run.sim)->v[0], v, near[grade_of(method)]);
    run_end(&run);
  }
}

// A capacity that depends on the motion: the normal force grows with t.
static void test_capacity_expression(void** unused) {
  (void)unused;
  static const char* const to[] = {"sliding up", "locked"};
  Run run = run_text(
      "model: grip\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
      "locks: {hold: {lock: x, engaged: true, capacity: 2*t + 0.5, friction: 2*t}}\n"
      "simulate: {until: 2}\n");
  run.def.simulate.method = "rk4";
  run_to(&run, 2, 0.01);
  // x' = 1 - t^2
  assert_true(run_events(&run) >= 1);
  CHECK_NEAR(run_event(&run, run_events(&run) - 1)->t, 1, 1e-10);
  assert_string_equal(run_event(&run, run_events(&run) - 1)->to, to[1]);
  CHECK_NEAR(pawl_sim_state(run.sim)->q[0], 2.0 / 3, 1e-10);
  run_end(&run);
}

// ---- two blocks ---------------------------------------------------------------------------------
// Block y lies on block x with friction (3, at most 4); x lies on the floor with friction (2, at
// most 2.5). x starts with 6, y at rest, both of 1 kg. Then x' = 6 - 5 t, y' = 3 t until 3/4 s,
// both 9/4; together they are slowed down by 2, that is 1 each: rest at 3 s. The joint needs 1 < 4.
static void test_two_blocks(void** unused) {
  (void)unused;
  static const char* const to[] = {"locked", "locked"};
  static const char* const who[] = {"upper", "ground"};
  EACH_METHOD(method, true) {
    Run run = run_text(
        "model: blocks\ncoordinates: {x: {rate: 6}, y: }\nmass: {x: 1, y: 1}\nlocks:\n"
        "  upper: {lock: y - x, engaged: true, capacity: 4, friction: 3}\n"
        "  ground: {lock: x, engaged: true, capacity: 2.5, friction: 2}\nsimulate: {until: 4}\n");
    run.def.simulate.method = method;
    run_to(&run, 4, 0.04);
    // ga-p has the rates of positions that hold to 1e-11
    check_modes(&run, 2, (double[]){0.75, 3}, to, 1e-7);
    for (int e = 0; e < 2; e++) {
      assert_string_equal(run_event(&run, e)->constraint, who[e]);
    }
    double x = 6 * 0.75 - 2.5 * 0.5625 + 9.0 / 4 * 2.25 / 2, y = 1.5 * 0.5625 + 9.0 / 4 * 2.25 / 2;
    check_state(&run, (double[]){x, y}, (double[]){0, 0}, 1e-7);
    run_end(&run);
  }
}

// ---- a shock beside a joint that sticks ---------------------------------------------------------
// y sticks on x; x is stopped dead at 0.5. The friction cannot carry an impulse: y slides on with
// the speed it had and is braked by 3 from there.
static void test_shock_beside(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run = run_text(
        "model: shock\ncoordinates: {x: {rate: 3}, y: {rate: 3}}\nmass: {x: 1, y: 1}\nlocks:\n"
        "  joint: {lock: y - x, engaged: true, capacity: 4, friction: 3}\n"
        "  wall: {lock: x, at: 0.5}\nsimulate: {until: 2}\n");
    run.def.simulate.method = method;
    run_to(&run, 2, 0.03);
    assert_int_equal(run_events(&run), 3);
    check_list("v+", 2, run_event(&run, 0)->v_after, (double[]){0, 3}, 1e-12);
    CHECK_NEAR(run_event(&run, 0)->energy_lost, 0, 1e-11);    // the joint
    CHECK_NEAR(run_event(&run, 1)->energy_lost, 4.5, 1e-11);  // the wall
    CHECK_NEAR(run_event(&run, 2)->t, 1.5, 1e-10);
    assert_string_equal(run_event(&run, 2)->to, "locked");
    check_state(&run, (double[]){1.5, 3}, (double[]){0, 0}, 1e-9);
    run_end(&run);
  }
}

// ---- asked again --------------------------------------------------------------------------------
// A brake that slides is asked to engage again: it goes on sliding. Released, it lets go.
static void test_asked_again(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: again\ncoordinates: {x: {rate: 2}}\nmass: {x: 1}\n"
      "locks: {brake: {lock: x, at: [0.25, 0.5], capacity: 2, friction: 1, release: {at: 1}}}\n"
      "simulate: {until: 2}\n");
  static const char* const to[] = {"sliding up", "free"};
  run.def.simulate.method = "rk4";
  run_to(&run, 2, 0.1);
  check_modes(&run, 2, (double[]){0.25, 1}, to, 1e-14);
  check_list("v", 1, pawl_sim_state(run.sim)->v, (double[]){1.25}, 1e-13);
  run_end(&run);
}

// More than it can hold from the start on.
static void test_slides_from_start(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: start\ncoordinates: {x: }\nmass: {x: 1}\nforces: {x: 5}\n"
      "locks: {hold: {lock: x, engaged: true, capacity: 3, friction: 2}}\nsimulate: {until: 1}\n");
  run.def.simulate.method = "rk4";
  run_to(&run, 1, 0.1);
  check_state(&run, (double[]){1.5}, (double[]){3}, 1e-13);
  run_end(&run);
}

// A mass on a spring (16 N/m) with friction 1.6 N turns after each half swing 2 Fk/k = 0.2 m
// nearer: 1, -0.8, 0.6, -0.4, 0.2, 0. It stays where the spring pulls with less than the
// capacity 2.1 N, which is at 0; at 0.2 it pulls with 3.2 N.
static void test_half_swings(void** unused) {
  (void)unused;
  double pi = acos(-1), half = pi / 4;
  Run run = run_text(
      "model: swings\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\npotential: 8*x^2\n"
      "locks: {friction: {lock: x, engaged: true, capacity: 2.1, friction: 1.6}}\n"
      "simulate: {until: 5}\n");
  run.def.simulate.method = "rk4";
  run_to(&run, 5, 1e-3);
  assert_int_equal(run_events(&run), 5);
  for (int k = 0; k < 5; k++) {
    CHECK_NEAR(run_event(&run, k)->t, (k + 1) * half, 1e-9);
  }
  assert_string_equal(run_event(&run, 4)->to, "locked");
  check_state(&run, (double[]){0}, (double[]){0}, 1e-9);
  run_end(&run);
}

// ---- frictions that share a motion --------------------------------------------------------------
// Two brakes on one body share what they hold by their capacities: 3 t/2 each, up to 1. Both slide
// from 2/3 s on, x'' = 3 t - 1.
static void test_shared_friction(void** unused) {
  (void)unused;
  static const double near[] = {2e-2, 1e-4, 1e-8, 1e-9};
  EACH_METHOD(method, true) {
    Run run = run_text(
        "model: shared\ncoordinates: {x: }\nmass: {x: 1}\nforces: {x: 3*t}\nlocks:\n"
        "  one: {lock: x, engaged: true, capacity: 1, friction: 0.5}\n"
        "  two: {lock: x, engaged: true, capacity: 1, friction: 0.5}\nsimulate: {until: 1}\n");
    run.def.simulate.method = method;
    run_to(&run, 1, 0.01);
    assert_int_equal(run_events(&run), 2);
    for (int e = 0; e < 2; e++) {
      CHECK_NEAR(run_event(&run, e)->t, 2.0 / 3, 1e-8);
      assert_string_equal(run_event(&run, e)->to, "sliding up");
    }
    CHECK_NEAR(pawl_sim_state(run.sim)->v[0], 0.5, near[grade_of(method)]);
    const char* warning = strstr(pawl_sim_warning(run.sim), "redundant");
    assert_non_null(warning);
    assert_non_null(strstr(warning, "minimum norm, among capacities in proportion to them"));
    assert_null(strstr(warning + 1, "redundant"));  // once, however often it is found
    run_end(&run);
  }
}

// Two bodies in one, each with friction of its own, 1 and 2 N for 2 kg: at rest after 2/1.5 s, both
// joints at once, and there they stay.
static void test_coupled_friction(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run = run_text(
        "model: coupled\ncoordinates: {x: {rate: 2}, y: {rate: 2}}\nmass: {x: 1, y: 1}\nlocks:\n"
        "  couple: {lock: x - y, engaged: true}\n"
        "  left: {lock: x, engaged: true, capacity: 1.5, friction: 1}\n"
        "  right: {lock: y, engaged: true, capacity: 2.5, friction: 2}\nsimulate: {until: 3}\n");
    run.def.simulate.method = method;
    run_to(&run, 3, 0.03);
    assert_int_equal(run_events(&run), 2);
    for (int e = 0; e < 2; e++) {
      CHECK_NEAR(run_event(&run, e)->t, 4.0 / 3, grade_of(method) == GRADE_FIRST ? 0.05 : 1e-7);
      assert_string_equal(run_event(&run, e)->to, "locked");
    }
    CHECK_NEAR(fabs(pawl_sim_state(run.sim)->v[0]) + fabs(pawl_sim_state(run.sim)->v[1]), 0, 1e-10);
    run_end(&run);
  }
}

// ---- at the capacity ----------------------------------------------------------------------------
// Two brakes hold both masses. At its capacity l1 has hardly any acceleration, since it takes the
// other mass along: it slides against its force all the same. Numbers by a projected Gauss-Seidel
// iteration over impulses with steps of 0.5 ms.
static void test_hardly_moves(void** unused) {
  (void)unused;
  static const char* const to[] = {"locked", "locked", "sliding up", "locked", "sliding down"};
  EACH_METHOD(method, true) {
    Run run = run_text(
        "model: hardly\n"
        "coordinates: {x: {start: -0.665, rate: -0.083}, y: {start: -0.716, rate: -0.828}}\n"
        "mass: {x: 1.418, y: 0.741}\npotential: [0.867*x^2, 3.515*(x - y)^2]\n"
        "forces: {y: 1.449*sin(1.976*t)}\nlocks:\n"
        "  l0: {lock: 0.5*x + y, engaged: true, capacity: 4.99}\n"
        "  l1: {lock: y, engaged: true, capacity: 1.126}\nsimulate: {until: 2}\n");
    run.def.simulate.method = method;
    run_to(&run, 2, 1e-3);
    assert_int_equal(run_events(&run), 5);
    for (int e = 0; e < 5; e++) {
      assert_string_equal(run_event(&run, e)->to, to[e]);
    }
    CHECK_NEAR(run_event(&run, 2)->t, 0.43204, grade_of(method) == GRADE_FIRST ? 2e-3 : 1e-5);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[0], -0.66468, 1e-4);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[1], -0.75348, 1e-4);
    run_end(&run);
  }
}

// Whatever the capacity: a brake on two masses that are locked to each other.
static void test_capacities(void** unused) {
  (void)unused;
  for (int k = 0; k < 100; k++) {
    char text[600];
    snprintf(text, sizeof text,
             "model: capacities\ncoordinates: {x: {start: -0.74}, y: {start: -0.2}, "
             "z: {start: -0.85, rate: 2.8}}\nmass: {x: 2.304, y: 2.301, z: 1.293}\n"
             "potential: [8.893*x^2, 3.321*(x - y)^2, 9.118*(y - z)^2]\n"
             "locks:\n  rod: {lock: y - x, engaged: true}\n"
             "  brake: {lock: x, engaged: true, capacity: %.2f}\nsimulate: {until: 0.5}\n",
             1 + 0.02 * k);
    Run run = run_text(text);
    run.def.simulate.method = "rk4";
    run_to(&run, 0.5, 1e-3);
    run_end(&run);
  }
}

// ---- a clutch -----------------------------------------------------------------------------------
// models/torsion-line: slips from 0.2 s, sticks where both closed forms meet; see the model.
static void test_clutch(void** unused) {
  (void)unused;
  static const char* const to[] = {"sliding up", "locked"};
  Run run = run_file("torsion-line", NULL, NULL);
  run.def.simulate.method = "rk4";
  run_to(&run, 2, 1e-4);
  check_modes(&run, 2, (double[]){0.2, 0.55283546419744413}, to, 1e-8);
  check_state(&run, (double[]){106.92458135451040, 56.325815473008761, 56.181025555088785},
              (double[]){52.126892584084147, 52.126892584084147, 51.744772889909902}, 1e-8);
  run_end(&run);
}

// ---- beside contacts ----------------------------------------------------------------------------
static const char* const STEPPING[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};

// A body that lies on a contact off its centre, and a brake on its turning: 0.5 + 5*0.4 = 2.5 N m
// hold it. A stronger brake holds, a weaker one begins to slide with
// p'' = (2.5 - R)/(0.1 + 0.16) and y' = -0.4 p'.
static void test_beside_contact(void** unused) {
  (void)unused;
  for (int k = 0; k < 6; k++) {
    double R = k < 3 ? 1.0 : 3.0, t = 0.01;
    char text[400];
    snprintf(text, sizeof text,
             "model: lever\ncoordinates: {y: , p: }\nmass: {y: 1, p: 0.1}\n"
             "forces: {y: -5, p: 0.5}\ncontacts: {c: {gap: y + 0.4*sin(p)}}\n"
             "locks: {brake: {lock: p, engaged: true, capacity: %g}}\n",
             R);
    Run run = run_text(text);
    run.def.simulate.method = STEPPING[k % 3];
    run_to(&run, t, 1e-4);
    double rate = R < 2.5 ? (2.5 - R) / 0.26 * t : 0.0;
    check_list("v", 2, pawl_sim_state(run.sim)->v, (double[]){-0.4 * rate, rate}, 1e-6);
    run_end(&run);
  }
}

// A wheel on a rough slope whose drum brake, 5 N m, is too weak for the 8.7 N m of the road:
// x = (m g sin a - R/r)/(m + J/r^2) t^2/2. With 9 N m it stays.
static void test_parked(void** unused) {
  (void)unused;
  for (int k = 0; k < 6; k++) {
    double R = k < 3 ? 5.0 : 9.0, m = 10, r = 0.3, J = 0.2, g = 9.81;
    double x = R < 6 ? 0.5 * (m * g * sin(0.3) - R / r) / (m + J / (r * r)) : 0.0;
    char text[500];
    snprintf(text, sizeof text,
             "model: parked\ncoordinates: {x: , y: {start: 0.3}, p: }\n"
             "mass: {x: 10, y: 10, p: 0.2}\npotential: 98.1*(y*cos(0.3) - x*sin(0.3))\n"
             "contacts: {road: {gap: y - 0.3, friction: 0.8, slip: \"x' + 0.3*p'\"}}\n"
             "locks: {brake: {lock: p, engaged: true, capacity: %g}}\n",
             R);
    Run run = run_text(text);
    run.def.simulate.method = STEPPING[k % 3];
    run_to(&run, 1.0, 2e-3);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[0], x, 1e-8);
    run_end(&run);
  }
}

// A block on a rough floor with a brake beside it that slides with less than it bears: which of the
// two holds what is no question that time stepping can answer, and it says so.
static void test_told_beside_friction(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: both\ncoordinates: {x: , y: }\nmass: {x: 2, y: 2}\nforces: {x: 5*t}\n"
      "potential: 19.62*y\ncontacts: {floor: {gap: y, friction: 0.3, slip: x}}\n"
      "locks: {brake: {lock: x, engaged: true, capacity: 4, friction: 2.5}}\n");
  run.def.simulate.method = "nsga-pva";
  run_to(&run, 1.0, 1e-3);
  assert_non_null(strstr(pawl_sim_warning(run.sim), "'brake' lets go beside a closed contact"));
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_belt),
      cmocka_unit_test(test_brake),
      cmocka_unit_test(test_reversal),
      cmocka_unit_test(test_tears_off),
      cmocka_unit_test(test_capacity_expression),
      cmocka_unit_test(test_two_blocks),
      cmocka_unit_test(test_shock_beside),
      cmocka_unit_test(test_shared_friction),
      cmocka_unit_test(test_coupled_friction),
      cmocka_unit_test(test_hardly_moves),
      cmocka_unit_test(test_capacities),
      cmocka_unit_test(test_clutch),
      cmocka_unit_test(test_asked_again),
      cmocka_unit_test(test_slides_from_start),
      cmocka_unit_test(test_half_swings),
      cmocka_unit_test(test_beside_contact),
      cmocka_unit_test(test_parked),
      cmocka_unit_test(test_told_beside_friction),
  };
  return cmocka_run_group_tests_name("stiction", tests, NULL, NULL);
}
