// SPDX-License-Identifier: Apache-2.0
// Contacts with the three methods that know them: by hand, the conditions recomputed in every step,
// several and redundant contacts, bounces without end, rest and letting go, and contacts together
// with constraints that switch.
#include <string.h>

#include "step/contacts.h"

// A rod lands on one end, then on the other, bounces and comes to rest.
static const char ROD[] =
    "model: rod\n"
    "coordinates: {x: {rate: 0.5}, y: {start: 1}, phi: {start: 0.3}}\n"
    "mass: {x: 1, y: 1, phi: 0.2}\n"
    "potential: 10*y\n"
    "dissipation: 0.01*x'^2\n"
    "constraints: {guide: x = 0.5*t + 0*y}\n"
    "contacts:\n"
    "  left: {gap: y - 0.5*sin(phi) - 0.2*cos(phi), restitution: 0.3}\n"
    "  right: {gap: y + 0.5*sin(phi) - 0.2*cos(phi), restitution: 0.3}\n";

// Three balls above each other. (With 1/2 the bounces would end on steps exactly: ties.)
static const char COLUMN[] =
    "model: column\n"
    "coordinates: {a: {start: 0.3}, b: {start: 0.8}, c: {start: 1.5}}\n"
    "mass: {a: 1, b: 2, c: 3}\n"
    "potential: 10*a + 20*b + 30*c\n"
    "contacts:\n"
    "  floor: {gap: a, restitution: 0.47}\n"
    "  ab: {gap: b - a - 0.2, restitution: 0.47}\n"
    "  bc: {gap: c - b - 0.2, restitution: 0.47}\n";

// ---- by hand ------------------------------------------------------------------------------------
// A ball of 2 kg at 0.01 with -2 m/s takes a step of 0.02; without weight it would end at -0.03. It
// is put on the floor and leaves with e u = 1; the impulse is m (1 + e) u = 6. (With moreau-jean,
// which does not move it, it ends at 0.01 + h (v_n + v_{n+1})/2 = 0.)
static void test_impact_by_hand(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: ball\ncoordinates: {y: {start: 0.01, rate: -2}}\nmass: {y: 2}\n"
      "contacts: {floor: {gap: y, restitution: 0.5}}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    motion_start(&m, METHODS[k]);
    motion_step(&m, 0.02);
    CHECK_NEAR(m.state->v[0], 1.0, 1e-15);
    CHECK_NEAR(m.state->q[0], 0.0, 1e-17);
    assert_int_equal(pawl_stepper_instants(m.stepper), 1);
    const PawlInstant* i = pawl_stepper_instant(m.stepper, 0);
    assert_int_equal(i->contact, 0);
    CHECK_NEAR(i->impulse[0], 6.0, 1e-14);
    CHECK_NEAR(i->energy_lost, 3.0, 1e-14);  // 4 J -> 1 J
    double reaction;
    NEED(pawl_stepper_multipliers(m.stepper, m.state, &reaction, &m.err), &m.err);
    CHECK_NEAR(reaction, 6.0 / 0.02, 1e-11);
    motion_step(&m, 0.02);
    CHECK_NEAR(m.state->q[0], 0.02, 1e-15);
    assert_int_equal(pawl_stepper_instants(m.stepper), 0);
  }
  motion_end(&m);
}

// A ball at rest is hit by a wall that comes with 1 m/s: the gap closes with 1, opens with e, so
// the ball leaves with 1 + e.
static void test_moving_wall(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: bat\ncoordinates: {x: {start: 1}}\nmass: {x: 3}\n"
      "contacts: {wall: {gap: x - t, restitution: 0.75}}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    motion_run(&m, METHODS[k], 2.0, 1234, NULL);
    CHECK_NEAR(m.state->v[0], 1.75, 1e-13);
    CHECK_NEAR(m.state->q[0], 2.75, 2 * 2.0 / 1234);
  }
  motion_end(&m);
}

// ---- the conditions -----------------------------------------------------------------------------
typedef struct Watch {
  double eta[SIGHT_MOST];   // of nsga-pva, from its recursion
  double rate[SIGHT_MOST];  // of the gaps at the beginning of the step
  int closed, opened, hit;  // how often each was seen
  long long iterations;     // of Newton's method so far
  int unsettled;            // steps whose sets were still changing when they were kept
} Watch;

// Lambda of each row: what multipliers show is lambda + Lambda/h.
static void impulses(Motion* m, double h, double* Lambda) {
  NEED(pawl_stepper_multipliers(m->stepper, m->state, Lambda, &m->err), &m->err);
  for (int i = 0; i < m->n.rows; i++) {
    Lambda[i] = h * (Lambda[i] - m->state->lambda[i]);
  }
}

// Below 1e-9 m/s nothing rebounds.
static double restitution(const Motion* m, const Watch* w, int row) {
  double most = 0.0;
  for (int i = 0; i < m->n.rows; i++) {
    most = fmax(most, fabs(w->rate[i]));
  }
  return most > 1e-9 ? pawl_system_restitution(m->system, row) : 0.0;
}

// Newton's law at the end of a step: pushing and leaving by the law, or not pushing and leaving at
// least as fast. `push` is Lambda*, `row_active` what the method itself did.
static void check_newton(double push, double rebound, bool active) {
  if (active) {
    CHECK_NEAR(rebound, 0.0, 1e-10);
    assert_true(push >= -1e-10);
  } else {
    assert_true(rebound >= -1e-10);
  }
}

// (65) of Bruels, Acary and Cardona: three levels, each with its own complementarity. Lambda*
// counts what the smooth motion has done: Lambda + h (1 - gamma) eta_n + h gamma eta_{n+1}.
//
// In a few of a million steps with several contacts the sets go round in a circle and the last ones
// are kept; such a step is counted and its complementarity is left to the next one.
static void check_pva_step(Motion* m, PawlEval* eval, Watch* w, double h) {
  enum { MOST_SET_CHANGES = 12 };
  Alpha c = alpha_of(m->def.rho);
  Begin b = begin_of(m);
  motion_step(m, h);
  Smooth s = smooth_of(m, &b, c, h);
  Sight x = sight_of_state(m, eval);
  const double *v = m->state->v, *vdot = m->state->a, *lambda = m->state->lambda;
  double W[SIGHT_MOST], Lambda[SIGHT_MOST];
  impulses(m, h, Lambda);
  long long iterations = pawl_stepper_info(m->stepper).newton_iterations;
  bool unsettled = iterations - w->iterations >= MOST_SET_CHANGES;
  w->iterations = iterations;
  w->unsettled += unsettled;
  check_dynamics(&x, vdot, lambda, 1e-10);
  for (int level = 0; level < 3; level++) {
    CHECK_NEAR(level_residual(&x, v, vdot, level), 0.0, 1e-10 * (1 + largest_of(m->n.v, vdot)));
  }
  for (int i = 0; i < m->n.v; i++) {
    W[i] = v[i] - s.v[i];
  }
  for (int i = 0; i < m->n.v; i++) {  // M W = G^T Lambda
    double force = 0.0;
    for (int row = 0; row < m->n.rows; row++) {
      force += x.G[row][i] * Lambda[row];
    }
    CHECK_NEAR(dot(m->n.v, x.M[i], W), force, 1e-10 * (1 + largest_of(m->n.v, v)));
  }
  for (int row = 0; row < m->n.rows; row++) {
    double eta = ((1 - c.f) * lambda[row] + c.f * b.lambda[row] - c.m * w->eta[row]) / (1 - c.m);
    if (x.contact[row]) {
      double push = Lambda[row] + h * ((1 - c.gamma) * w->eta[row] + c.gamma * eta);
      double rate = row_rate(&x, row, v), acceleration = row_acceleration(&x, row, vdot);
      bool active = Lambda[row] != 0.0 || lambda[row] != 0.0;
      assert_true(x.g[row] >= (unsettled ? -1e-5 : -1e-10));
      assert_true(lambda[row] >= -1e-9);
      if (lambda[row] > 0.0) {
        CHECK_NEAR(acceleration, 0.0, 1e-8);
      }
      if (x.g[row] > 1e-9) {
        assert_false(active);
      } else if (!unsettled) {
        check_newton(push, rate + restitution(m, w, row) * w->rate[row], active);
      }
      w->closed += lambda[row] > 0.0;
      w->opened += !active;
      w->rate[row] = rate;
    }
    w->eta[row] = eta;
  }
  w->hit += pawl_stepper_instants(m->stepper);
}

// nsga-pvv: contacts are no part of the smooth motion, position and velocity are corrected one
// after the other.
static void check_pvv_step(Motion* m, PawlEval* eval, Watch* w, double h) {
  Begin b = begin_of(m);
  motion_step(m, h);
  Smooth s = smooth_of(m, &b, alpha_of(m->def.rho), h);
  double moved = 0.0;  // by position corrections: without, a gap of rounding size is still open
  for (int i = 0; i < m->n.v; i++) {
    moved = fmax(moved, fabs(m->state->q[i] - s.q[i]));
  }
  Sight x = sight_of_state(m, eval);
  const double* v = m->state->v;
  double Lambda[SIGHT_MOST];
  impulses(m, h, Lambda);
  for (int level = 0; level < 2; level++) {
    CHECK_NEAR(level_residual(&x, v, m->state->a, level), 0.0, 1e-10 * (1 + largest_of(m->n.v, v)));
  }
  for (int row = 0; row < m->n.rows; row++) {
    if (x.contact[row]) {
      double rate = row_rate(&x, row, v);
      bool active = Lambda[row] != 0.0;
      assert_true(m->state->lambda[row] == 0.0);
      assert_true(x.g[row] >= -1e-10);
      if (x.g[row] <= 1e-9 && moved > 1e-12) {
        check_newton(Lambda[row], rate + restitution(m, w, row) * w->rate[row], active);
      } else if (x.g[row] > 1e-9) {  // beyond what Newton's tolerance leaves
        assert_false(active);
      }
      w->closed += active;
      w->opened += !active;
      w->rate[row] = rate;
    }
  }
  w->hit += pawl_stepper_instants(m->stepper);
}

static void check_conditions(Motion m, double until, double h, int least_hits) {
  PawlEval* eval = sight_eval(&m);
  static const double rhos[] = {0.5, 0.9, 1.0};
  for (int method = 0; method < 2; method++) {
    for (int k = 0; k < 3; k++) {
      Watch w = {.closed = 0};
      m.def.rho = rhos[k];
      motion_start(&m, METHODS[method]);
      memcpy(w.eta, m.state->lambda, (size_t)m.n.rows * sizeof(double));
      Sight x = sight_of_state(&m, eval);
      for (int row = 0; row < m.n.rows; row++) {
        w.rate[row] = x.contact[row] ? row_rate(&x, row, m.state->v) : 0.0;
      }
      while (m.state->t < until) {
        if (method == 0) {
          check_pva_step(&m, eval, &w, h);
        } else {
          check_pvv_step(&m, eval, &w, h);
        }
      }
      assert_true(w.hit >= least_hits && w.closed > 20 && w.opened > 20);
      assert_true(w.unsettled <= 2);
    }
  }
  pawl_eval_destroy(eval);
  motion_end(&m);
}

static void test_conditions(void** unused) {
  (void)unused;
  check_conditions(motion_text(BALL), 2.0, 1.1e-3, 8);
  check_conditions(motion_text(ROD), 2.0, 1.1e-3, 10);
  check_conditions(motion_text(COLUMN), 3.0, 1.1e-3, 30);
  check_conditions(motion_file("bouncing-pendulum", "cor=0.5"), 2.0, 1e-3, 10);
}

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

// A ball on the floor written twice moves as on the floor written once, and neither pulls.
static void check_twice(const char* other) {
  Motion once = motion_text(BALL), both = text_with(TWICE, other);
  for (int k = 0; k < METHOD_COUNT; k++) {
    motion_start(&once, METHODS[k]);
    motion_start(&both, METHODS[k]);
    for (int step = 0; step < 1800; step++) {
      double reaction[2];
      motion_step(&once, 1.1e-3);
      motion_step(&both, 1.1e-3);
      CHECK_NEAR(both.state->q[0], once.state->q[0], 1e-9);
      CHECK_NEAR(both.state->v[0], once.state->v[0], 1e-7);
      NEED(pawl_stepper_multipliers(both.stepper, both.state, reaction, &both.err), &both.err);
      assert_true(reaction[0] >= -1e-7 && reaction[1] >= -1e-7);
    }
  }
  motion_end(&once);
  motion_end(&both);
}

static void test_contact_twice(void** unused) {
  (void)unused;
  check_twice("other=0.5");
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_impact_by_hand),
      cmocka_unit_test(test_moving_wall),
      cmocka_unit_test(test_conditions),
      cmocka_unit_test(test_three_balls),
      cmocka_unit_test(test_impulses_of_three_balls),
      cmocka_unit_test(test_two_walls),
      cmocka_unit_test(test_column),
      cmocka_unit_test(test_contact_twice),
      cmocka_unit_test(test_box_on_three_feet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
