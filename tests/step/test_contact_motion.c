// SPDX-License-Identifier: Apache-2.0
// Motion with contacts over a longer time: bounces without end, rest under load and letting go,
// sliding, and contacts together with constraints that switch.
#include "step/contacts.h"

// ---- bounces without end ------------------------------------------------------------------------
// Let go at 1 m under 10 m/s^2 the ball hits at t0 = sqrt(1/5), and its bounces, each e as long as
// the one before, are over at t0 (1 + e)/(1 - e). Then it rests under its weight of 20 N.
static void test_ball_comes_to_rest(void** unused) {
  (void)unused;
  static const double cors[] = {0.0, 0.3, 0.5, 0.7};
  for (int c = 0; c < 4; c++) {
    char override[32];
    snprintf(override, sizeof override, "cor=%g", cors[c]);
    Motion m = text_with(BALL, override);
    double h = 1.1e-3, e = cors[c], end = sqrt(0.2) * (1 + e) / (1 - e);
    for (int k = 0; k < METHOD_COUNT; k++) {
      double last = 0.0, reaction;
      int hits = 0;
      motion_start(&m, METHODS[k]);
      for (int step = 0; step < 3500; step++) {
        motion_step(&m, h);
        if (pawl_stepper_instants(m.stepper) > 0) {
          last = m.state->t;
          CHECK_NEAR(hits == 0 ? last : sqrt(0.2), sqrt(0.2), 1.5 * h);
          hits++;
        }
      }
      NEED(pawl_stepper_multipliers(m.stepper, m.state, &reaction, &m.err), &m.err);
      CHECK_NEAR(reaction, 20.0, 1e-9);
      CHECK_NEAR(m.state->v[0], 0.0, 1e-12);
      CHECK_NEAR(m.state->q[0], 0.0, k == 2 ? 4.5 * h : 1e-15);  // moreau-jean: h times its speed
      CHECK_NEAR(last, end, h * (2 + 60 * e));  // some h for each of the hits that count
      assert_true(hits >= (e > 0 ? 5 : 1) && hits < 60);
    }
    motion_end(&m);
  }
}

// At rest nothing rings on into the smallest numbers, which are slow: a closed contact that would
// go on to bounce by e, e^2, ... of its rate is stopped.
static void test_no_subnormal_numbers(void** unused) {
  (void)unused;
  Motion m = text_with(BALL, "cor=0.5");
  for (int k = 0; k < METHOD_COUNT; k++) {
    double numbers[40];
    motion_start(&m, METHODS[k]);
    for (int step = 0; step < 6000; step++) {
      motion_step(&m, 1.1e-3);
      int count = state_numbers(&m, numbers);
      for (int i = 0; i < count; i++) {
        assert_true(fpclassify(numbers[i]) != FP_SUBNORMAL);
      }
    }
  }
  motion_end(&m);
}

// The active sets settle within a few iterations in every step, for many steps, dampings and
// restitutions: with the effective mass of the row exactly one of open and closed is consistent.
static void test_sets_settle(void** unused) {
  (void)unused;
  static const char* const cors[] = {"cor=0", "cor=0.37", "cor=0.5", "cor=0.8", "cor=1"};
  static const double rhos[] = {0.0, 0.6, 0.9, 1.0};
  for (int c = 0; c < 5; c++) {
    Motion m = motion_file("bouncing-pendulum", cors[c]);
    for (int k = 0; k < 2 * 4 * 3; k++) {
      double h = 1e-3 * (1 + 0.37 * (k % 3));
      m.def.rho = rhos[k / 3 % 4];
      motion_start(&m, METHODS[k / 12]);
      long long before = 0;
      while (m.state->t < 2.0) {
        motion_step(&m, h);
        long long now = pawl_stepper_info(m.stepper).newton_iterations;
        assert_true(now - before <= 8);
        before = now;
      }
    }
    motion_end(&m);
  }
}

// ---- rest, load, letting go ---------------------------------------------------------------------
// A ball on a floor that swings: y = sin(5 t)/10 while it presses, 2 (10 - 2.5 sin(5 t)) N.
// moreau-jean lets go for a step now and then, where its position has drifted above the floor: 10 h
// in the rate.
static void test_moving_floor(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: lift\ncoordinates: {y: {rate: 0.5}}\nmass: {y: 2}\npotential: 20*y\n"
      "contacts: {floor: {gap: y - sin(5*t)/10, restitution: 0.5}}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    double sum = 0.0, expected = 0.0;
    motion_start(&m, METHODS[k]);
    for (int step = 1; step <= 3000; step++) {
      motion_step(&m, 1e-3);
      double t = m.state->t, force = 20 - 5 * sin(5 * t), reaction;
      NEED(pawl_stepper_multipliers(m.stepper, m.state, &reaction, &m.err), &m.err);
      CHECK_NEAR(m.state->q[0], sin(5 * t) / 10, k == 2 ? 2e-5 : 1e-10);
      CHECK_NEAR(m.state->v[0], cos(5 * t) / 2, k == 2 ? 0.011 : 1e-9);
      sum += 1e-3 * reaction;
      expected += 1e-3 * force;
      if (step > 200 && k < 2) {  // what the start leaves is damped by then
        CHECK_NEAR(reaction, force, 0.05);
      }
    }
    CHECK_NEAR(sum, expected, 0.05);
  }
  motion_end(&m);
}

// A load of 3 N falls to nothing at 1.5 s and then pulls: m y'' = -3 + 2 t. The contact opens there
// without a jump, y = (t - 1.5)^3/6.
static void test_smooth_opening(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: press\ncoordinates: {y: {}}\nmass: {y: 2}\nforces: {y: -3 + 2*t}\n"
      "contacts: {floor: {gap: y, restitution: 0.5}}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    motion_start(&m, METHODS[k]);
    for (int step = 1; step <= 3000; step++) {
      double reaction;
      motion_step(&m, 1e-3);
      NEED(pawl_stepper_multipliers(m.stepper, m.state, &reaction, &m.err), &m.err);
      double load = 3 - 2 * m.state->t;
      if (step > 200) {  // what the start leaves is damped by then
        CHECK_NEAR(reaction, load > 0 ? load : 0.0, 0.02);
      }
      assert_int_equal(pawl_stepper_instants(m.stepper), 0);
    }
    CHECK_NEAR(m.state->q[0], 0.5625, 1e-5);
    CHECK_NEAR(m.state->v[0], 1.125, 1e-5);
  }
  motion_end(&m);
}

// Sliding in a bowl: while the contact presses it is the constraint y = x^2. nsga-pva, which has it
// in its smooth motion, keeps order 2; the others are of order 1 there.
static void test_closed_contact_is_a_constraint(void** unused) {
  (void)unused;
  static const char form[] =
      "model: bowl\ncoordinates: {x: {start: 1}, y: {start: 1}}\n"
      "kinetic: (x'^2 + y'^2)/2 + 0.1*x'*y'*cos(x)\npotential: 10*y\ndissipation: 0.1*x'^2\n%s\n";
  char free_text[400], held_text[400];
  snprintf(free_text, sizeof free_text, form, "contacts: {bowl: {gap: y - x^2, restitution: 0.4}}");
  snprintf(held_text, sizeof held_text, form, "constraints: {bowl: y = x^2}");
  Motion contact = motion_text(free_text), held = motion_text(held_text);
  motion_run(&held, "rk4", 2.0, 4000, NULL);
  Reference r = {.t = 2.0};
  memcpy(r.q, held.state->q, 2 * sizeof(double));
  memcpy(r.v, held.state->v, 2 * sizeof(double));
  check_order(&contact, "nsga-pva", 2.0, 0.1, 2e-3, 1, &r);
  check_order(&contact, "nsga-pvv", 1.0, 0.1, 1e-3, 1, &r);
  check_order(&contact, "moreau-jean", 1.0, 0.1, 1e-3, 1, &r);
  motion_end(&contact);
  motion_end(&held);
}

// ---- with constraints that switch ---------------------------------------------------------------
// A point meets the ramp at 1 s, v = (1/2, 1/2); the wall at 3 s throws it back, it comes to the
// flat part at 5 s with v = (-1/2, -1/2) and goes on with (-1/2, 0).
static const char RAMP_AND_WALL[] =
    "model: ramp\n"
    "coordinates: {x: {rate: 1}, y: {}}\n"
    "mass: {x: 1, y: 1}\n"
    "constraints:\n"
    "  track:\n"
    "    modes: {flat: {where: x < 1, equation: y = 0}, ramp: {where: x > 1, equation: y = x - "
    "1}}\n"
    "contacts: {wall: {gap: 2 - x, restitution: 1}}\n";

static void test_ramp_and_wall(void** unused) {
  (void)unused;
  static const double times[] = {1, 3, 5}, lost[] = {0.25, 0, 0.125}, impulse[] = {0.5, 2, 0.5};
  Motion m = motion_text(RAMP_AND_WALL);
  for (int k = 0; k < METHOD_COUNT; k++) {
    int seen = 0;
    motion_start(&m, METHODS[k]);
    while (m.state->t < 5.5) {
      motion_step(&m, 1.03e-3);
      for (int i = 0; i < pawl_stepper_instants(m.stepper); i++, seen++) {
        const PawlInstant* event = pawl_stepper_instant(m.stepper, i);
        assert_true(seen < 3);
        assert_int_equal(event->contact, seen == 1 ? 1 : -1);
        CHECK_NEAR(event->t, times[seen], 5e-3);
        CHECK_NEAR(event->energy_lost, lost[seen], 1e-12);
        CHECK_NEAR(event->impulse[seen == 1 ? 1 : 0], impulse[seen], 1e-12);
      }
    }
    assert_int_equal(seen, 3);
    CHECK_NEAR(m.state->v[0], -0.5, 1e-12);
    CHECK_NEAR(m.state->v[1], 0.0, 1e-12);
    CHECK_NEAR(m.state->q[0], 0.75, 5e-3);
  }
  motion_end(&m);
}

// A kink and a hit of another body in one step: one event each.
static void test_switch_and_hit_in_one_step(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: both\n"
      "coordinates: {x: {rate: 1}, y: {}, w: {rate: 1}}\n"
      "mass: {x: 1, y: 1, w: 1}\n"
      "constraints:\n"
      "  track:\n"
      "    modes: {flat: {where: x < 1, equation: y = 0}, ramp: {where: x > 1, equation: y = x - "
      "1}}\n"
      "contacts: {wall: {gap: 0.9999 - w, restitution: 0.5}}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    int switches = 0, hits = 0;
    motion_start(&m, METHODS[k]);
    for (int step = 0; step < 1800; step++) {
      motion_step(&m, 1.1e-3);
      for (int i = 0; i < pawl_stepper_instants(m.stepper); i++) {
        hits += pawl_stepper_instant(m.stepper, i)->contact >= 0;
        switches += pawl_stepper_instant(m.stepper, i)->contact < 0;
      }
    }
    assert_int_equal(switches, 1);
    assert_int_equal(hits, 1);
    CHECK_NEAR(m.state->v[0], 0.5, 1e-12);
    CHECK_NEAR(m.state->v[2], -0.5, 1e-12);
  }
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ball_comes_to_rest),
      cmocka_unit_test(test_no_subnormal_numbers),
      cmocka_unit_test(test_sets_settle),
      cmocka_unit_test(test_moving_floor),
      cmocka_unit_test(test_smooth_opening),
      cmocka_unit_test(test_closed_contact_is_a_constraint),
      cmocka_unit_test(test_ramp_and_wall),
      cmocka_unit_test(test_switch_and_hit_in_one_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
