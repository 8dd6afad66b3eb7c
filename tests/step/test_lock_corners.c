// SPDX-License-Identifier: Apache-2.0
// Locks where several things meet: jumps beside friction and smooth locks, impacts of contacts
// through joints that hold by a finite force, conditions on what is held at zero, locks that
// contradict each other, bounds that fail.
#include "step/lock_methods.h"
#include "switch/runs.h"

// A run of the text by a method; `until` at step h.
static Run ran(const char* text, const char* method, double until, double h) {
  Run run = run_text(text);
  run.def.simulate.method = method;
  run_to(&run, until, h);
  return run;
}

static void check_switch(const Run* run, int k, double t, const char* constraint, const char* to,
                         double energy_lost, double tolerance) {
  CHECK_NEAR(run_event(run, k)->t, t, tolerance);
  assert_string_equal(run_event(run, k)->constraint, constraint);
  assert_string_equal(run_event(run, k)->to, to);
  CHECK_NEAR(run_event(run, k)->energy_lost, energy_lost, tolerance);
}

// ---- jumps beside
// --------------------------------------------------------------------------------- The hook turns
// the block round. Its brake, 0.1 N, cannot take part in the jump: it slides on the other side.
// Before: x' = -1 + 0.1 t; both then (5 - 0.95)/2 = 2.025, braked by 0.1 of 2 kg.
static void test_jump_turns_sliding(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run =
        ran("model: turn\ncoordinates: {x: {rate: -1}, y: {rate: 5}}\nmass: {x: 1, y: 1}\n"
            "locks: {brake: {lock: x, at: 0, capacity: 0.1}, hook: {lock: x - y, at: 0.5}}\n"
            "simulate: {until: 2}\n",
            method, 2, 0.1);
    assert_int_equal(run_events(&run), 3);
    check_switch(&run, 1, 0.5, "hook", "locked", 8.850625, 1e-8);  // (5.95)^2/4
    check_switch(&run, 2, 0.5, "brake", "sliding up", 0, 1e-8);
    CHECK_NEAR(run_event(&run, 2)->impulse[0], 0, 0);
    CHECK_NEAR(pawl_sim_state(run.sim)->v[0], 2.025 - 0.05 * 1.5, 1e-8);
    run_end(&run);
  }
}

// The hook stops both; the load of 1 is within the capacity, so the brake holds, though it slid
// without friction.
static void test_jump_brings_to_rest(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run =
        ran("model: rest\ncoordinates: {x: {rate: 1}, y: {rate: -1.5}}\nmass: {x: 1, y: 1}\n"
            "forces: {x: 1}\nlocks: {b: {lock: x, at: 0, capacity: 5, friction: 0},\n"
            "        hook: {lock: x - y, at: 0.5}}\nsimulate: {until: 1}\n",
            method, 1, 0.1);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[0], 0.625, 1e-9);
    CHECK_NEAR(pawl_sim_state(run.sim)->v[0], 0, 1e-12);
    run_end(&run);
  }
}

// The same beside a lock that waits for rest: the jump carries its rate across zero, but nothing
// that is smooth may engage there.
static void test_jump_passes_smooth(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run =
        ran("model: soft\ncoordinates: {x: {rate: -1}, y: {rate: 5}}\nmass: {x: 1, y: 1}\n"
            "locks: {soft: {lock: x, at: 0, smooth: true}, hook: {lock: x - y, at: 0.5}}\n"
            "simulate: {until: 2}\n",
            method, 2, 0.1);
    assert_int_equal(run_events(&run), 2);
    check_switch(&run, 0, 0, "soft", "waiting", 0, 0);
    check_switch(&run, 1, 0.5, "hook", "locked", 9, 1e-9);
    check_state(&run, (double[]){2.5, 5.5}, (double[]){2, 2}, 1e-8);
    run_end(&run);
  }
}

// Asked to engage by the zero of its own rate, it is at rest: x = sin t, at pi/2.
static void test_smooth_by_own_rate(void** unused) {
  (void)unused;
  Run run =
      ran("model: own\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\npotential: x^2/2\n"
          "locks: {l: {lock: x, when: x', smooth: true}}\nsimulate: {until: 4}\n",
          "rk4", 4, 0.01);
  assert_int_equal(run_events(&run), 1);
  check_switch(&run, 0, acos(0), "l", "locked", 0, 1e-9);
  run_end(&run);
}

// Two at one instant: each has its part of the energy, (sum of -Lambda (r- + r+)/2).
static void test_energy_is_shared(void** unused) {
  (void)unused;
  Run run =
      ran("model: two\ncoordinates: {x: {rate: 2}, y: {rate: 3}}\nmass: {x: 1, y: 4}\n"
          "locks: {a: {lock: x, at: 1}, b: {lock: y, at: 1}}\nsimulate: {until: 2}\n",
          "rk4", 2, 0.1);
  check_switch(&run, 0, 1, "a", "locked", 2, 1e-12);
  check_switch(&run, 1, 1, "b", "locked", 18, 1e-12);
  run_end(&run);
}

// ---- impacts of contacts
// ----------------------------------------------------------------------------
static const char* const NONSMOOTH[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};

// A block that slides under a brake hits a wall and slides back: 1.9493 in, 0.8 times that out.
static void test_brake_at_a_wall(void** unused) {
  (void)unused;
  for (size_t k = 0; k < sizeof NONSMOOTH / sizeof *NONSMOOTH; k++) {
    Run run =
        ran("model: wall\ncoordinates: {x: {start: 1, rate: -2}}\nmass: {x: 1}\n"
            "contacts: {wall: {gap: x, restitution: 0.8}}\n"
            "locks: {brake: {lock: x, at: 0, capacity: 0.1}}\nsimulate: {until: 1}\n",
            NONSMOOTH[k], 1, 1e-3);
    double in = sqrt(4 - 0.2), hit = (2 - in) / 0.1;  // x'^2 = 4 - 2*0.1*1
    CHECK_NEAR(pawl_sim_state(run.sim)->v[0], 0.8 * in - 0.1 * (1 - hit), 2e-3);
    assert_string_equal(run_event(&run, run_events(&run) - 1)->to, "sliding up");
    run_end(&run);
  }
}

// Hit while it sticks, a joint of 0.1 N lets the impulse pass: v+ = (1.5, 0.5), e = 1/2.
static void test_hit_through_a_brake(void** unused) {
  (void)unused;
  for (size_t k = 0; k < sizeof NONSMOOTH / sizeof *NONSMOOTH; k++) {
    Run run =
        ran("model: hit\ncoordinates: {x: , y: {start: -1, rate: 2}}\nmass: {x: 1, y: 1}\n"
            "contacts: {hit: {gap: x - y, restitution: 0.5}}\n"
            "locks: {brake: {lock: x, engaged: true, capacity: 0.1}}\nsimulate: {until: 1}\n",
            NONSMOOTH[k], 1, 1e-3);
    check_list("v", 2, pawl_sim_state(run.sim)->v, (double[]){1.5 - 0.05, 0.5}, 1e-3);
    run_end(&run);
  }
}

// The brake lets an impulse pass into the ground, or two brakes do.
static void test_hits_beside_the_ground(void** unused) {
  (void)unused;
  for (size_t k = 0; k < sizeof NONSMOOTH / sizeof *NONSMOOTH; k++) {
    Run run =
        ran("model: ground\ncoordinates: {x0: , x1: {start: 1, rate: -1}}\nmass: {x0: 1, x1: 1}\n"
            "potential: x0 + x1\n"
            "contacts: {ground: {gap: x0}, hit: {gap: x1 - x0 - 0.3, restitution: 0.9}}\n"
            "locks: {b: {lock: x0, engaged: true, capacity: 0.3}, d: {lock: x1, at: 0, capacity: "
            "0.5}}\n"
            "simulate: {until: 1}\n",
            NONSMOOTH[k], 1, 1e-3);
    double in = sqrt(1 + 2 * 0.5 * 0.7), hit = (in - 1) / 0.5;  // falls with 1 - 0.5
    CHECK_NEAR(pawl_sim_state(run.sim)->v[1], 0.9 * in - 1.5 * (1 - hit), 5e-3);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[0], 0, 1e-6);
    run_end(&run);
    Run two =
        ran("model: two\ncoordinates: {x0: , x1: {start: 1, rate: -1}}\nmass: {x0: 1, x1: 1}\n"
            "contacts: {hit: {gap: x1 - x0 - 0.3}}\n"
            "locks: {a: {lock: x0, engaged: true, capacity: 0.3},\n"
            "        b: {lock: x0, engaged: true, capacity: 0.3}}\nsimulate: {until: 1}\n",
            NONSMOOTH[k], 1, 1e-3);
    CHECK_NEAR(pawl_sim_state(two.sim)->v[0], -0.5 + 0.3 * 0.3, 2e-3);  // 0.6 on both masses
    run_end(&two);
  }
}

// A weight falls on the floor, which starts a brake beside it: x' jumps across -1 at sqrt(1/9.81).
// The brake moves at 0.45 m/s, so it slides, however short the piece with the impact is.
static void test_brake_started_by_an_impact(void** unused) {
  (void)unused;
  static const double STEPS[] = {1e-2, 5e-3, 3e-3, 2.5e-3, 1e-3};
  double rest = 1 - sqrt(1 / 9.81), y = 0.45 - 0.1 * rest * rest;
  for (int k = 0; k < 15; k++) {
    Run run =
        ran("model: hit\ncoordinates: {x: {start: 0.5}, y: {rate: 0.45}}\nmass: {x: 1, y: 1}\n"
            "potential: 9.81*x\ncontacts: {floor: {gap: x, restitution: 0}}\nlocks:\n"
            "  brake: {lock: y, when: x' + 1, direction: up, capacity: 1, friction: 0.2}\n"
            "simulate: {until: 1}\n",
            NONSMOOTH[k / 5], 1, STEPS[k % 5]);
    assert_int_equal(run_events(&run), 2);
    assert_string_equal(run_event(&run, 1)->to, "sliding up");
    CHECK_NEAR(pawl_sim_state(run.sim)->q[1], y, 0.2 * STEPS[k % 5]);  // friction over a step
    run_end(&run);
  }
}

// Nothing pushes what two brakes have stopped: all that moves is their drift. A smooth lock that is
// asked for then is at rest, and does not wait.
static void test_smooth_beside_brakes(void** unused) {
  (void)unused;
  EACH_METHOD(method, false) {
    for (int k = 0; k < 3; k++) {
      Run run = ran(
          "model: stopped\ncoordinates: {x: {start: 0.9, rate: -0.2}}\nmass: {x: 2}\n"
          "dissipation: 0.5*x'^2\nlocks:\n"
          "  a: {lock: 2*x, engaged: true, capacity: 2.3 + sin(3*t), friction: 1 + 0.4*sin(3*t)}\n"
          "  b: {lock: 2*x, engaged: true, capacity: 0.7}\n"
          "  s: {lock: 0.5*x, at: 0.43, smooth: true}\nsimulate: {until: 1}\n",
          method, 1, 1e-3 * (1 << k));
      int last = run_events(&run) - 1;
      assert_int_equal(last, 2);
      check_switch(&run, last, 0.43, "s", "locked", 0, 1e-12);
      CHECK_NEAR(pawl_sim_state(run.sim)->v[0], 0, 1e-9);
      run_end(&run);
    }
  }
}

// ---- conditions on what is held -----------------------------------------------------------------
// While the lock holds x' at zero the event has no side; x moves on backwards after the release,
// from zero and not across it, and turns at last: only then there is a crossing.
static void test_condition_on_a_held_rate(void** unused) {
  (void)unused;
  Run run =
      ran("model: held\ncoordinates: {x: {rate: 1}, y: {start: 1}}\nmass: {x: 1, y: 1}\n"
          "potential: 0.5*(x - y)^2\n"
          "locks: {l: {lock: x, at: 0.3, release: {when: lambda(l) - 0.1}}}\n"
          "events: {e: {when: x'}}\nsimulate: {until: 4}\n",
          "rk4", 4, 0.01);
  assert_int_equal(run_events(&run), 2);
  assert_string_equal(run_event(&run, 1)->to, "free");
  assert_true(pawl_sim_state(run.sim)->v[0] < -0.01);
  run_end(&run);
}

// x'' = -2 - friction jumps to -2 + friction where the block turns at 1/3: across -1.7 there.
static void test_jump_carries_across(void** unused) {
  (void)unused;
  static const char* const methods[] = {"rk4", "dopri", "ark", "ida"};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    Run run = run_text(
        "model: across\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\nforces: {x: -2}\n"
        "locks: {l: {lock: x, engaged: true, capacity: 1}}\n"
        "events: {e: {when: \"x'' + 1.7\", direction: up}, f: {when: x' + 0.001}}\n"
        "simulate: {until: 1}\n");
    run.def.simulate.method = methods[k];
    if (run_try(&run, 1, 0.01) != PAWL_ERROR_USAGE) {  // else SUNDIALS is not built in
      run_need(&run, run.status);
      check_switch(&run, 0, 1.0 / 3, "l", "sliding down", 0, 1e-8);
      check_switch(&run, 1, 1.0 / 3, "e", "event", 0, 1e-8);
      check_switch(&run, 2, 1.0 / 3 + 0.001, "f", "event", 0, 1e-8);
    }
    run_end(&run);
  }
}

// The lock at the very end of the run carries y' from 1 to -1/2, across zero: the event is logged,
// and the state that the run ends with has seen it.
static void test_jump_at_the_end(void** unused) {
  (void)unused;
  Run run =
      ran("model: last\ncoordinates: {x: {rate: -2}, y: {rate: 1}}\nmass: {x: 1, y: 1}\n"
          "locks: {l: {lock: x - y, at: 0.5}}\nevents: {e: {when: y'}}\nsimulate: {until: 0.5}\n",
          "rk4", 0.5, 0.01);
  assert_int_equal(run_events(&run), 2);
  check_switch(&run, 0, 0.5, "l", "locked", 2.25, 1e-12);
  check_switch(&run, 1, 0.5, "e", "event", 0, 1e-12);
  CHECK_NEAR(pawl_sim_state(run.sim)->v[1], -0.5, 1e-12);
  run_end(&run);
}

// A latch whose release looks at its load is free afterwards: what it held had no side, and is not
// crossed again by the drift that it had. The release of a condition that reacts says nothing of
// the condition to engage.
static void test_latch_released_by_load(void** unused) {
  (void)unused;
  static const char LATCH[] =
      "model: latch\ncoordinates: {x: {start: -0.1, rate: 1}, y: {start: 0.3, rate: 1}}\n"
      "mass: {x: 1, y: 2}\npotential: 2*(y - 1)^2\nforces: {x: 3*t}\nlocks:\n"
      "  l: {lock: x + 0.3*sin(3*y), when: x + 0.3*sin(3*y) - 0.3,\n"
      "      release: {when: abs(lambda(l)) - 2, direction: up, after: 0.03}}\n"
      "simulate: {until: 1.5}\n";
  Run exact = ran(LATCH, "rk4", 1.5, 1e-3);
  assert_int_equal(run_events(&exact), 2);
  EACH_METHOD(method, false) {
    Run run = ran(LATCH, method, 1.5, 0.01);
    assert_int_equal(run_events(&run), 2);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[0], pawl_sim_state(exact.sim)->q[0], 0.05);
    run_end(&run);
  }
  run_end(&exact);
}

// ---- joints at rest together
// -------------------------------------------------------------------------- Two brakes on one
// shaft share the load: both let go at 3 t = 2. In either order of declaration.
static void test_two_brakes(void** unused) {
  (void)unused;
  Run run = ran(
      "model: shaft\ncoordinates: {x: }\nmass: {x: 1}\nforces: {x: 3*t}\n"
      "locks: {s: {lock: x, engaged: true, capacity: 1, friction: 0.5},\n"
      "        r: {lock: x, engaged: true, capacity: 1, friction: 0.5}}\nsimulate: {until: 2}\n",
      "rk4", 2, 0.01);
  assert_int_equal(run_events(&run), 2);
  check_switch(&run, 0, 2.0 / 3, "s", "sliding up", 0, 1e-9);
  check_switch(&run, 1, 2.0 / 3, "r", "sliding up", 0, 1e-9);
  CHECK_NEAR(pawl_sim_state(run.sim)->v[0], 1.5 * (4 - 4.0 / 9) - (2 - 2.0 / 3), 1e-8);
  run_end(&run);
}

// Of unequal capacity: they hold up to the sum, 2.5 sin t = 1.7, and share in proportion.
static void test_unequal_brakes(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run =
        ran("model: unequal\ncoordinates: {x: }\nmass: {x: 1}\nforces: {x: 2.5*sin(t)}\n"
            "locks: {a: {lock: x, engaged: true, capacity: 1},\n"
            "        b: {lock: x, engaged: true, capacity: 0.7}}\nsimulate: {until: 0.74}\n",
            method, 0.74, 0.02);
    assert_int_equal(run_events(&run), 0);
    double load = 2.5 * sin(0.74);
    check_list("lambda", 2, pawl_sim_multipliers(run.sim),
               (double[]){-load / 1.7, -0.7 * load / 1.7}, 2e-2);  // some: mean over the step
    run_to(&run, 1, 0.02);
    assert_int_equal(run_events(&run), 2);
    check_switch(&run, 0, asin(1.7 / 2.5), "a", "sliding up", 0, 1e-8);
    check_switch(&run, 1, asin(1.7 / 2.5), "b", "sliding up", 0, 1e-8);
    run_end(&run);
  }
}

// Geared brakes hold up to 2 + 3*1 = 5: the one at its bound leaves the rest to the other.
static void test_geared_brakes(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run =
        ran("model: geared\ncoordinates: [x, y]\nmass: {x: 1, y: 1}\nforces: {x: 6*sin(t)}\n"
            "constraints: {h: x = y}\n"
            "locks: {a: {lock: x, engaged: true, capacity: 2, friction: 0.2},\n"
            "        b: {lock: 3*y, engaged: true, capacity: 1, friction: 0.1}}\nsimulate: {until: "
            "1.1}\n",
            method, 1.1, 0.02);
    assert_int_equal(run_events(&run), 2);
    for (int k = 0; k < 2; k++) {
      CHECK_NEAR(run_event(&run, k)->t, asin(5.0 / 6), 1e-8);
      assert_string_equal(run_event(&run, k)->to, "sliding up");
    }
    run_end(&run);
  }
}

// Two brakes with different gears on one shaft, loaded until neither can take more: one is at its
// bound for a while, the other takes the rest, and both give way at one instant, by any step.
static void test_geared_brakes_give_way(void** unused) {
  (void)unused;
  static const char GEARED[] =
      "model: geared\ncoordinates: {x: {start: 0.638, rate: -1.344}}\nmass: {x: 0.718}\n"
      "potential: 3.492*(x - 0.6)^2 + 1.176*cos(2*x)\nlocks:\n"
      "  a: {lock: 0.5*(x + 0.094*sin(1.254*t)), engaged: true,\n"
      "      capacity: 3.099 + 1.2396*sin(3*t), friction: 2 + 0.8*sin(3*t)}\n"
      "  b: {lock: 2*(x + 0.094*sin(1.254*t)), engaged: true, capacity: 0.461}\n"
      "simulate: {until: 1.5}\n";
  static const double STEPS[] = {1e-2, 5e-3, 2e-3, 1e-3};
  EACH_METHOD(method, false) {
    for (int k = 0; k < 4; k++) {
      Run run = ran(GEARED, method, 1.5, STEPS[k]);
      assert_int_equal(run_events(&run), 4);
      for (int e = 0; e < 4; e++) {
        CHECK_NEAR(run_event(&run, e)->t, e < 2 ? 0.1961267 : 0.8172375, 2e-3);
        assert_string_equal(run_event(&run, e)->to, e < 2 ? "locked" : "sliding up");
      }
      run_end(&run);
    }
  }
}

// What counts as rest is measured by the joint itself, however fast something else moves.
static void test_rest_beside_fast_motion(void** unused) {
  (void)unused;
  static const char head[] =
      "model: scale\ncoordinates: {x: {rate: 5e-4}, y: {start: 1}}\nmass: {x: 1, y: 1}\n"
      "potential: 5e5*y^2\n";
  char text[400];
  snprintf(text, sizeof text, "%slocks: {l: {lock: x, at: 0.05, capacity: 1e-3}}\n", head);
  Run run = ran(text, "exponential", 1, 0.01);
  check_switch(&run, 1, 0.55, "l", "locked", 0, 1e-9);
  CHECK_NEAR(pawl_sim_state(run.sim)->q[0], 5e-4 * 0.05 + 5e-4 * 0.25, 1e-12);
  run_end(&run);
  snprintf(text, sizeof text, "%slocks: {l: {lock: x, at: 0.05, smooth: true}}\n", head);
  run = ran(text, "exponential", 1, 0.01);
  assert_int_equal(run_events(&run), 1);
  assert_string_equal(run_event(&run, 0)->to, "waiting");
  run_end(&run);
}

// All is locked at 0.5; then the hook lets go, and the brake holds y, since 0.49 is within 5.
static void test_held_when_all_is(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run = ran(
        "model: all\ncoordinates: {x: {start: 0.1, rate: 1}, y: {rate: 0.5}}\nmass: {x: 1, y: 1}\n"
        "potential: x^2 + y^2\nlocks:\n"
        "  h: {lock: x - y, at: 0.4, release: {when: lambda(h) - 1e-3}}\n"
        "  k: {lock: x, at: 0.5}\n  b: {lock: y, at: 0.5, capacity: 5, friction: 0.1}\n"
        "simulate: {until: 1}\n",
        method, 1, 0.01);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[1], 0.24557182, 2e-3);
    CHECK_NEAR(pawl_sim_state(run.sim)->v[1], 0, 1e-9);
    run_end(&run);
  }
}

// Beside a rigid lock a brake is never asked to carry anything.
static void test_brake_beside_a_lock(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run =
        ran("model: beside\ncoordinates: {x: }\nmass: {x: 1}\nforces: {x: 5*t}\n"
            "locks: {a: {lock: x, engaged: true, capacity: 1}, b: {lock: x, engaged: true}}\n"
            "simulate: {until: 2}\n",
            method, 2, 0.02);
    assert_int_equal(run_events(&run), 0);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[0], 0, 1e-12);
    assert_true(fabs(pawl_sim_multipliers(run.sim)[0]) < 1e-3);
    run_end(&run);
  }
}

// A driven joint turns under its brake: it slides through its rest at pi/2.
static void test_driven_brake(void** unused) {
  (void)unused;
  EACH_METHOD(method, false) {
    if (strcmp(method, "ga-p") == 0 || strncmp(method, "ga-v", 4) == 0 ||
        strcmp(method, "ga-a") == 0) {
      continue;  // rates are off by more than the turn takes
    }
    Run run =
        ran("model: driven\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\nconstraints: {drive: x = "
            "sin(t)}\n"
            "locks: {b: {lock: x, engaged: true, capacity: 1}}\nsimulate: {until: 2}\n",
            method, 2, 1e-3);
    assert_int_equal(run_events(&run), 1);
    check_switch(&run, 0, acos(0), "b", "sliding down", 0, 1e-5);
    run_end(&run);
  }
}

// A stack at rest, pulled at the top beyond what holds it: the lower block stays, whichever joint
// is written first.
static void test_stack_in_any_order(void** unused) {
  (void)unused;
  static const char* const locks[] = {
      "locks: {g: {lock: x1, engaged: true, capacity: 2}, b: {lock: x2 - x1, engaged: true, "
      "capacity: "
      "1}}\n",
      "locks: {b: {lock: x2 - x1, engaged: true, capacity: 1}, g: {lock: x1, engaged: true, "
      "capacity: "
      "2}}\n"};
  for (int k = 0; k < 2; k++) {
    char text[400];
    snprintf(text, sizeof text,
             "model: stack\ncoordinates: [x1, x2]\nmass: {x1: 1, x2: 1}\nforces: {x2: 10}\n%s"
             "simulate: {until: 1}\n",
             locks[k]);
    Run run = ran(text, "rk4", 1, 0.01);
    assert_int_equal(run_events(&run), 0);
    check_state(&run, (double[]){0, 4.5}, (double[]){0, 9}, 1e-10);
    run_end(&run);
  }
}

// ---- what cannot be
// -----------------------------------------------------------------------------------
static void check_refused(const char* locks, const char* first, const char* second) {
  char text[400];
  snprintf(text, sizeof text,
           "model: no\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\npotential: x^2/2\nlocks: {%s}\n"
           "simulate: {until: 5}\n",
           locks);
  EACH_METHOD(method, true) {
    Run run = run_text(text);
    run.def.simulate.method = method;
    assert_int_equal(run_try(&run, 5, 0.01), PAWL_ERROR_RUN);
    if (!strstr(run.err.message, first) || !strstr(run.err.message, second)) {
      fail_msg("%s: %s", method, run.err.message);
    }
    run_end(&run);
  }
}

static void test_refused(void** unused) {
  (void)unused;
  check_refused("l: {lock: x, at: 0, capacity: 1 - t}", "'l'", "0 <= friction <= capacity");
  check_refused("l: {lock: x, at: 0, capacity: 1, friction: 2*t}", "'l'",
                "0 <= friction <= capacity");
  check_refused("a: {lock: x, at: 0.5}, b: {lock: x - 3*t, at: 0.5}", "t = 0.5",
                "no velocities satisfy all of them");
  check_refused("a: {lock: x, at: 0.5}, b: {lock: x - 3*t, at: 1}", "t = 1",
                "no velocities satisfy all of them");
  check_refused("a: {lock: x, at: 0.4}, b: {lock: x, at: 0.5, on: snap, to: 3}", "t = 0.5",
                "cannot be met by a snap");
}

static void test_not_loaded(void** unused) {
  (void)unused;
  static const struct {
    const char *locks, *why;
  } cases[] = {
      {"locks: {l: {lock: x, when: 3}}", "never crosses zero"},
      {"locks: {l: {lock: x, when: x == 1}}", "expected an expression that crosses zero"},
      {"locks: {l: {lock: x, at: 1, after: 1}}", "after: needs when:"},
      {"locks: {l: {lock: x, at: 1, on: snap, capacity: 1}}", "on: keep"},
      {"constraints: {l: {equation: [x = 0, y = 0], at: 1, smooth: true}}", "single equation"},
      {"locks: {l: {lock: x, at: 1, impact: 0.5}}", "post (momentum is kept) or none"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[300];
    PawlModel* model;
    PawlError err = {0};
    snprintf(text, sizeof text, "model: m\ncoordinates: [x, y]\nmass: {x: 1, y: 1}\n%s\n",
             cases[k].locks);
    assert_int_equal(pawl_model_parse(text, strlen(text), "t", 0, NULL, &model, &err),
                     PAWL_ERROR_MODEL);
    if (!strstr(err.message, cases[k].why)) {
      fail_msg("%s: %s", cases[k].locks, err.message);
    }
  }
}

// A lock has drifted when another one takes hold of the same, and later drifts back through zero:
// the other is off by then, as far as the first was before, and still follows from it.
static void test_drift_turns_back(void** unused) {
  (void)unused;
  Run run =
      ran("model: drift\ncoordinates: {q1: {start: -0.155, rate: -0.564},\n"
          "  q2: {start: 0.369, rate: -0.19}}\nkinetic: 0.69*q1'^2 + 1.34*q2'^2\n"
          "potential: 4.597*(q1 + 0.211)^2 + 1.579*(q2 - 0.867)^2 + 1.351*cos(q1 + q2)\n"
          "forces: {q2: 0.698*sin(3.168*t)}\ndefine: {x: q1 - 0.243*sin(q2) + 0.108*sin(2.367*t)}\n"
          "locks: {a: {lock: -x, engaged: true, capacity: 3.778}, b: {lock: x/2, at: 0.449}}\n"
          "simulate: {until: 1}\n",
          "ga-a", 1, 0.005);
  assert_int_equal(run_events(&run), 2);
  check_switch(&run, 1, 0.449, "b", "locked", 0, 1e-8);
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_jump_turns_sliding),
      cmocka_unit_test(test_jump_brings_to_rest),
      cmocka_unit_test(test_jump_passes_smooth),
      cmocka_unit_test(test_smooth_by_own_rate),
      cmocka_unit_test(test_energy_is_shared),
      cmocka_unit_test(test_brake_at_a_wall),
      cmocka_unit_test(test_hit_through_a_brake),
      cmocka_unit_test(test_hits_beside_the_ground),
      cmocka_unit_test(test_brake_started_by_an_impact),
      cmocka_unit_test(test_smooth_beside_brakes),
      cmocka_unit_test(test_condition_on_a_held_rate),
      cmocka_unit_test(test_latch_released_by_load),
      cmocka_unit_test(test_jump_carries_across),
      cmocka_unit_test(test_jump_at_the_end),
      cmocka_unit_test(test_two_brakes),
      cmocka_unit_test(test_unequal_brakes),
      cmocka_unit_test(test_geared_brakes),
      cmocka_unit_test(test_geared_brakes_give_way),
      cmocka_unit_test(test_rest_beside_fast_motion),
      cmocka_unit_test(test_held_when_all_is),
      cmocka_unit_test(test_brake_beside_a_lock),
      cmocka_unit_test(test_driven_brake),
      cmocka_unit_test(test_stack_in_any_order),
      cmocka_unit_test(test_drift_turns_back),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_not_loaded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
