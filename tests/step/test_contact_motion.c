// SPDX-License-Identifier: Apache-2.0
// Motion with contacts over a longer time: several at once, contacts that depend on each other,
// bounces without end, rest under load and letting go, sliding, and contacts together with
// constraints that switch.
#include "step/contacts.h"

// ---- several at once ----------------------------------------------------------------------------
static const char CRADLE[] =
    "model: cradle\n"
    "parameters: {cor: 1, space: 0}\n"
    "coordinates: {a: {rate: 1}, b: {start: 1}, c: {start: 1.5 + space}}\n"
    "mass: {a: 1, b: 1, c: 1}\n"
    "contacts:\n"
    "  ab: {gap: b - a - 0.5, restitution: cor}\n"
    "  bc: {gap: c - b - 0.5, restitution: cor}\n";

static void check_final(const char* text, const char* override, double until, int steps, int n,
                        const double* q, double tolerance_q, const double* v, double tolerance_v) {
  Motion m = text_with(text, override);
  for (int k = 0; k < METHOD_COUNT; k++) {
    motion_run(&m, METHODS[k], until, steps, NULL);
    for (int i = 0; i < n; i++) {
      CHECK_NEAR(m.state->q[i], q[i], tolerance_q);
      CHECK_NEAR(m.state->v[i], v[i], tolerance_v);
    }
  }
  motion_end(&m);
}

// Three balls in a row. With a gap between the second and the third the hits come one by one, and
// the last ball takes it all. When the two touch, Newton's law holds for both pairs at once: v_b -
// v_a = e, v_c = v_b, and momentum: e = 1: (-1/3, 2/3, 2/3); e = 1/2: (0, 1/2, 1/2); e = 0: all
// 1/3.
static void test_three_balls(void** unused) {
  (void)unused;
  static const double row_v[] = {0.0, 0.0, 1.0};
  check_final(CRADLE, "space=0.1", 2.9, 2900, 3, (double[]){0.5, 1.1, 3.9}, 2e-3, row_v, 1e-12);
  static const struct {
    const char* cor;
    double v[3];
  } cases[] = {{"cor=1", {-1.0 / 3, 2.0 / 3, 2.0 / 3}},
               {"cor=0.5", {0.0, 0.5, 0.5}},
               {"cor=0", {1.0 / 3, 1.0 / 3, 1.0 / 3}}};
  for (int k = 0; k < 3; k++) {
    const double* v = cases[k].v;
    double q[3] = {0.5 + v[0], 1 + v[1], 1.5 + v[2]};  // 1 s after the hit
    check_final(CRADLE, cases[k].cor, 1.5, 1501, 3, q, 2e-3, v, 1e-12);
  }
}

// The impulses of the hit on the pair that touches: 4/3 and 2/3, logged with the energy (none).
static void test_impulses_of_three_balls(void** unused) {
  (void)unused;
  Motion m = motion_text(CRADLE);
  for (int k = 0; k < METHOD_COUNT; k++) {
    double total[2] = {0};
    motion_start(&m, METHODS[k]);
    for (int step = 0; step < 1000; step++) {
      motion_step(&m, 1.03e-3);
      double reaction[2];
      NEED(pawl_stepper_multipliers(m.stepper, m.state, reaction, &m.err), &m.err);
      total[0] += 1.03e-3 * reaction[0];
      total[1] += 1.03e-3 * reaction[1];
    }
    CHECK_NEAR(total[0], 4.0 / 3, 1e-12);
    CHECK_NEAR(total[1], 2.0 / 3, 1e-12);
  }
  motion_end(&m);
}

// A ball between two walls, e = 1: hits at 1, 3, 5, 7, 9 s, each felt up to a step late; the speed
// stays.
static void test_two_walls(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: walls\ncoordinates: {x: {rate: 1}}\nmass: {x: 3}\n"
      "contacts:\n  left: {gap: x + 1, restitution: 1}\n  right: {gap: 1 - x, restitution: 1}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    int hits = 0;
    motion_start(&m, METHODS[k]);
    for (int step = 0; step < 9700; step++) {
      motion_step(&m, 1.03e-3);
      for (int i = 0; i < pawl_stepper_instants(m.stepper); i++) {
        const PawlInstant* hit = pawl_stepper_instant(m.stepper, i);
        assert_int_equal(hit->contact, hits % 2 == 0);  // right, left, right, ...
        CHECK_NEAR(hit->t, 1 + 2 * hits, 2e-3 * (hits + 1));
        CHECK_NEAR(hit->energy_lost, 0.0, 1e-12);
        hits++;
      }
      CHECK_NEAR(fabs(m.state->v[0]), 1.0, 1e-12);
    }
    assert_int_equal(hits, 5);
  }
  motion_end(&m);
}

// A column of three balls falls, bounces and comes to rest; the floor carries three of them.
static void test_column(void** unused) {
  (void)unused;
  Motion m = motion_text(COLUMN);
  for (int k = 0; k < METHOD_COUNT; k++) {
    static const double weight[] = {60, 50, 30};
    double reaction[3];
    motion_run(&m, METHODS[k], 5.0, 5000, NULL);
    NEED(pawl_stepper_multipliers(m.stepper, m.state, reaction, &m.err), &m.err);
    for (int i = 0; i < 3; i++) {
      CHECK_NEAR(reaction[i], weight[i], 1e-7);
      CHECK_NEAR(m.state->v[i], 0.0, 1e-9);
      CHECK_NEAR(m.state->q[i], 0.2 * i, k == 2 ? 3e-3 : 1e-12);  // moreau-jean does not correct
    }
  }
  motion_end(&m);
}

// A body with damping is pressed onto a floor that takes all its speed, 1 m/s down to 0: of the
// forces -2 v - 0.05 then only the last is left. It stays, and is hit once.
static void test_damped_body_stays(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: damped\ncoordinates: {y: {start: 1, rate: -3}}\nmass: {y: 1}\n"
      "dissipation: y'^2\nforces: {y: -0.05}\ncontacts: {floor: {gap: y, restitution: 0}}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    for (int steps = 300; steps <= 3000; steps *= 10) {
      int hits = 0;
      motion_start(&m, METHODS[k]);
      for (int step = 0; step < steps; step++) {
        motion_step(&m, 1.0 / steps);
        hits += pawl_stepper_instants(m.stepper);
      }
      assert_int_equal(hits, 1);
      CHECK_NEAR(m.state->v[0], 0.0, 1e-12);
    }
  }
  motion_end(&m);
}

// ---- redundant contacts -------------------------------------------------------------------------
static const char TWICE[] =
    "model: ball\n"
    "parameters: {cor: 0.5, other: 0.5}\n"
    "coordinates: {y: {start: 1}}\n"
    "mass: {y: 2}\n"
    "potential: 20*y\n"
    "contacts:\n"
    "  floor: {gap: y, restitution: cor}\n"
    "  same: {gap: 3*y, restitution: other}\n";

// A ball on the floor written twice moves as on the floor written once, and neither pulls. In its
// last bounces the ball rises from the floor and touches it in the same step, so that -e u is of
// the other sign: up to then, `alike`, the larger coefficient decides.
static void check_twice(const char* cor, const char* other, double alike) {
  Motion once = text_with(BALL, cor), both = text_with(TWICE, other);
  for (int k = 0; k < METHOD_COUNT; k++) {
    motion_start(&once, METHODS[k]);
    motion_start(&both, METHODS[k]);
    for (int step = 0; step < 1800; step++) {
      double reaction[2];
      motion_step(&once, 1.1e-3);
      motion_step(&both, 1.1e-3);
      if (once.state->t < alike) {
        CHECK_NEAR(both.state->q[0], once.state->q[0], 1e-9);
        CHECK_NEAR(both.state->v[0], once.state->v[0], 1e-7);
      }
      NEED(pawl_stepper_multipliers(both.stepper, both.state, reaction, &both.err), &both.err);
      assert_true(reaction[0] >= -1e-7 && reaction[1] >= -1e-7);
    }
  }
  motion_end(&once);
  motion_end(&both);
}

// With different coefficients the larger rebound happens.
static void test_contact_twice(void** unused) {
  (void)unused;
  check_twice("cor=0.5", "other=0.5", 2.0);
  check_twice("cor=0.8", "other=0.8", 2.0);
  check_twice("cor=0.5", "other=0.2", 1.3);  // the bounces end at 1.34 s
  check_twice("cor=0.5", "other=0", 1.3);
}

// Between two walls without play the ball may not leave the one as fast as it should: it stops.
static void test_no_play(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: squeezed\ncoordinates: {x: {rate: 1}}\nmass: {x: 2}\n"
      "contacts:\n  left: {gap: x, restitution: 0.8}\n  right: {gap: -x, restitution: 0.3}\n");
  for (int k = 0; k < 2; k++) {  // moreau-jean lets it move by half a step
    motion_start(&m, METHODS[k]);
    motion_step(&m, 1e-3);
    CHECK_NEAR(m.state->v[0], -0.3, 1e-14);
    for (int step = 0; step < 3; step++) {
      motion_step(&m, 1e-3);
      CHECK_NEAR(m.state->v[0], 0.0, 1e-14);
      CHECK_NEAR(m.state->q[0], 0.0, 1e-17);
    }
  }
  motion_end(&m);
}

// Walls that close in on a ball: after three impacts, each known to a step, it is at 0.95. (N33)
static void test_closing_walls(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: squeeze\ncoordinates: {x: {start: 0.3, rate: 1}}\nmass: {x: 1}\n"
      "contacts:\n  left: {gap: x - 0.5*t, restitution: 1}\n"
      "  right: {gap: 2 - x - 0.5*t, restitution: 1}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    for (int steps = 155; steps <= 15500; steps *= 10) {
      double h = 1.55 / steps;
      motion_run(&m, METHODS[k], 1.55, steps, NULL);
      print_message("%s: %g steps off\n", METHODS[k], (m.state->q[0] - 0.95) / h);
      CHECK_NEAR(m.state->q[0], 0.95, 4 * h);
    }
  }
  motion_end(&m);
}

// A box of 1 kg on three feet in a line: rests at 0.2, the feet carry its weight and no moment.
static void test_box_on_three_feet(void** unused) {
  (void)unused;
  static const char box[] =
      "model: box\n"
      "parameters: {tilt: 0}\n"
      "coordinates: {x: {}, y: {start: 1}, phi: {start: tilt}}\n"
      "mass: {x: 1, y: 1, phi: 0.2}\n"
      "potential: 10*y\n"
      "contacts:\n"
      "  left: {gap: y - 0.5*sin(phi) - 0.2, restitution: 0.3}\n"
      "  right: {gap: y + 0.5*sin(phi) - 0.2, restitution: 0.3}\n"
      "  middle: {gap: y - 0.2, restitution: 0.3}\n";
  static const char* const tilts[] = {"tilt=0", "tilt=0.3", "tilt=-0.7"};
  for (int k = 0; k < METHOD_COUNT; k++) {
    for (int i = 0; i < 3; i++) {
      Motion m = text_with(box, tilts[i]);
      double reaction[3], slack = k == 2 ? 5e-3 : 1e-9;
      motion_run(&m, METHODS[k], 3.0, 2990, NULL);
      NEED(pawl_stepper_multipliers(m.stepper, m.state, reaction, &m.err), &m.err);
      CHECK_NEAR(m.state->q[1], 0.2, slack);
      CHECK_NEAR(m.state->q[2], 0.0, slack);
      CHECK_NEAR(largest_of(3, m.state->v), 0.0, 1e-8);
      CHECK_NEAR(reaction[0] + reaction[1] + reaction[2], 10.0, 1e-6);
      CHECK_NEAR(reaction[0], reaction[1], 1e-6 + 10 * slack);
      motion_end(&m);
    }
  }
}

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
      if (k < 2) {
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
      CHECK_NEAR(reaction, load > 0 ? load : 0.0, 0.02);
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

// At rest from the start: the reactions are there from the first step on. The table carries 40 N,
// off its middle by 0.1 m; of all loads of its legs those of minimum norm.
static void test_rest_from_the_start(void** unused) {
  (void)unused;
  static const struct {
    const char* text;
    int rows;
    double load[4];
  } cases[] = {
      {"model: ball\ncoordinates: {y: {}}\nmass: {y: 2}\npotential: 20*y\n"
       "contacts: {floor: {gap: y, restitution: 0.5}}\n",
       1,
       {20}},
      {"model: pulled\ncoordinates: {y: {}}\nmass: {y: 2}\npotential: 20*y\nforces: {y: 20}\n"
       "contacts: {floor: {gap: y, restitution: 0.5}}\n",
       1,
       {0}},
      {"model: stack\ncoordinates: {a: {}, b: {start: 0.2}, c: {start: 0.4}}\n"
       "mass: {a: 1, b: 2, c: 3}\npotential: 10*a + 20*b + 30*c\ncontacts:\n"
       "  floor: {gap: a, restitution: 0.4}\n  ab: {gap: b - a - 0.2, restitution: 0.1}\n"
       "  bc: {gap: c - b - 0.2, restitution: 0.8}\n",
       3,
       {60, 50, 30}},
      {"model: table\ncoordinates: {z: {}, p: {}, r: {}}\nmass: {z: 4, p: 1, r: 1}\n"
       "potential: 40*z - 4*p\ncontacts:\n"
       "  a: {gap: z + p + r, restitution: 0.4}\n  b: {gap: z + p - r, restitution: 0.1}\n"
       "  c: {gap: z - p + r, restitution: 0.8}\n  d: {gap: z - p - r, restitution: 0.3}\n",
       4,
       {9, 9, 11, 11}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Motion m = motion_text(cases[i].text);
    for (int k = 0; k < METHOD_COUNT; k++) {
      motion_start(&m, METHODS[k]);
      for (int step = 0; step < 30; step++) {
        double reaction[4];
        motion_step(&m, 1e-3);
        NEED(pawl_stepper_multipliers(m.stepper, m.state, reaction, &m.err), &m.err);
        for (int row = 0; row < cases[i].rows; row++) {
          CHECK_NEAR(reaction[row], cases[i].load[row], 1e-8);
        }
        CHECK_NEAR(largest_of(m.n.v, m.state->v), 0.0, 1e-13);
      }
    }
    motion_end(&m);
  }
}

// Loads that only pull let go at once: y = 5/2 t^2.
static void test_let_go_from_the_start(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: pulled\ncoordinates: {y: {}}\nmass: {y: 2}\nforces: {y: 10}\n"
      "contacts: {floor: {gap: y, restitution: 0.5}}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    motion_run(&m, METHODS[k], 0.1, 100, NULL);
    CHECK_NEAR(m.state->q[0], 0.025, 1e-14);
    CHECK_NEAR(m.state->v[0], 0.5, 1e-13);
  }
  motion_end(&m);
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
      cmocka_unit_test(test_three_balls),
      cmocka_unit_test(test_impulses_of_three_balls),
      cmocka_unit_test(test_two_walls),
      cmocka_unit_test(test_column),
      cmocka_unit_test(test_damped_body_stays),
      cmocka_unit_test(test_contact_twice),
      cmocka_unit_test(test_no_play),
      cmocka_unit_test(test_closing_walls),
      cmocka_unit_test(test_box_on_three_feet),
      cmocka_unit_test(test_ball_comes_to_rest),
      cmocka_unit_test(test_no_subnormal_numbers),
      cmocka_unit_test(test_sets_settle),
      cmocka_unit_test(test_moving_floor),
      cmocka_unit_test(test_smooth_opening),
      cmocka_unit_test(test_rest_from_the_start),
      cmocka_unit_test(test_let_go_from_the_start),
      cmocka_unit_test(test_closed_contact_is_a_constraint),
      cmocka_unit_test(test_ramp_and_wall),
      cmocka_unit_test(test_switch_and_hit_in_one_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
