// SPDX-License-Identifier: Apache-2.0
// moreau-jean: one step by hand, the equations (T1) to (T4) of docs/theory/moreau-jean.md
// recomputed from the states around a step, order one, and what it costs: drift and the energy of a
// turning constraint. Contacts are in test_contacts.c, too.
#include "step/sight.h"

// ---- by hand ------------------------------------------------------------------------------------
// x'' = -4 x from x = 1 at rest, h = 1/2. Theta = 1/2: v = -(1 + x), x = 1 + v/4: v = -8/5, x =
// 3/5. Theta = 1: v = -2 x, x = 1 + v/2: v = -1, x = 1/2.
static void test_oscillator_by_hand(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: oscillator\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\npotential: 2*x^2\n");
  motion_start(&m, "moreau-jean");
  motion_step(&m, 0.5);
  CHECK_NEAR(m.state->q[0], 0.6, 4e-16);
  CHECK_NEAR(m.state->v[0], -1.6, 4e-16);
  CHECK_NEAR(m.state->a[0], -3.2, 1e-15);  // the mean over the step
  m.def.theta = 1.0;
  motion_start(&m, "moreau-jean");
  motion_step(&m, 0.5);
  CHECK_NEAR(m.state->q[0], 0.5, 4e-16);
  CHECK_NEAR(m.state->v[0], -1.0, 4e-16);
  motion_end(&m);
}

// A point of 1 kg with v = (1, 0) on a line that turns up by 45 degrees within the step: P = 1/2
// along
// (-1, 1), v = (1/2, 1/2); places are those of the mean velocity, so the point ends beside the
// track.
static void test_kink_by_hand(void** unused) {
  (void)unused;
  Motion m = motion_file("kinked-track", NULL);
  motion_start(&m, "moreau-jean");
  m.state->q[0] = 2.75;
  motion_step(&m, 0.5);
  assert_int_equal(m.state->modes[0], 1);
  CHECK_NEAR(m.state->v[0], 0.5, 1e-15);
  CHECK_NEAR(m.state->v[1], 0.5, 1e-15);
  CHECK_NEAR(m.state->q[0], 2.75 + 0.375, 1e-15);
  CHECK_NEAR(m.state->q[1], 0.125, 1e-15);
  CHECK_NEAR(m.state->lambda[0], 0.5 / 0.5, 1e-15);  // P/h
  motion_end(&m);
}

// ---- the defining equations ---------------------------------------------------------------------
typedef struct Counts {
  int candidates, pushing, others, shifted;
} Counts;

static void check_contact(Motion* m, const Sight* before, const Begin* b, const Sight* x, int row,
                          double P, double h, Counts* n) {
  double rate_n = row_rate(before, row, b->v), rate = row_rate(x, row, m->state->v);
  if (before->g[row] + 0.5 * h * rate_n > 1e-14) {  // not activated
    assert_true(P == 0.0);
    n->others++;
  } else if (before->g[row] + 0.5 * h * rate_n < -1e-14) {
    double e = pawl_system_restitution(m->system, row);
    double rebound = rate + e * rate_n;
    if (fabs(rate_n) <= 1e-8) {  // near 1e-9 m/s the restitution ends
      rebound = fabs(rate) <= 1e-8 ? 0.0 : rebound;
    }
    assert_true(P >= -1e-12 && rebound >= -1e-10);  // (T4)
    CHECK_NEAR(P * rebound, 0.0, 1e-10);
    n->candidates++;
    n->pushing += P > 0.0;
  }
}

// By so much of h (v_{n+1} - v_n) positions move on, as contacts would bring energy in else: their
// work over |dv|^2 - P (u - u^), in one island.                                          (T26)
static double shift_of(const Motion* m, const Begin* b, const Sight* x, double h) {
  double work = 0.0, fall = 0.0, size = 0.0, dv[SIGHT_MOST], theta = m->def.theta;
  for (int i = 0; i < m->n.v; i++) {
    dv[i] = m->state->v[i] - b->v[i];
  }
  for (int i = 0; i < m->n.v; i++) {
    fall += dv[i] * dot(m->n.v, x->M[i], dv);
  }
  for (int row = 0; row < m->n.rows; row++) {
    double P = x->contact[row] ? h * m->state->lambda[row] : 0.0;
    double before = row_rate(x, row, b->v), after = row_rate(x, row, m->state->v);
    work += P * (before + after) / 2;
    size += fabs(P) * (fabs(before) + fabs(after));
    fall -= P * (after - before);
  }
  return work > 1e-11 * size ? fmax(fmin(work / fall - (theta - 0.5), 1 - theta), 0.0) : 0.0;
}

static void check_step(Motion* m, PawlEval* eval, double h, Counts* n) {
  Begin b = begin_of(m);
  PawlPoint begin_point = {b.t, b.q, b.v, b.vdot, b.lambda, m->state->modes, m->state->held};
  Sight before = sight_at(m, eval, &begin_point);
  motion_step(m, h);
  Sight x = sight_of_state(m, eval);
  const double *v = m->state->v, theta = m->def.theta;
  double size = 1.0 + largest_of(m->n.v, v), shift = shift_of(m, &b, &x, h);
  n->shifted += shift > 0.0;
  for (int i = 0; i < m->n.v; i++) {
    double force = h * (theta * x.f[i] + (1 - theta) * before.f[i]), left = 0.0;
    double terms = fabs(force);
    for (int j = 0; j < m->n.v; j++) {
      left += x.M[i][j] * (v[j] - b.v[j]);
      terms += fabs(x.M[i][j] * v[j]);
    }
    for (int row = 0; row < m->n.rows; row++) {
      force += x.G[row][i] * h * m->state->lambda[row];
      terms += fabs(x.G[row][i] * h * m->state->lambda[row]);
    }
    CHECK_NEAR(left, force, 1e-10 * (terms + 1.0));  // (T1); Newton ends at 1e-11
    double moved = b.q[i] + h * (theta * v[i] + (1 - theta) * b.v[i]);
    moved += shift * h * (v[i] - b.v[i]);
    CHECK_NEAR(m->state->q[i], moved, 1e-14 * (1 + fabs(b.q[i])));  // (T2) (T26)
    CHECK_NEAR(m->state->a[i], (v[i] - b.v[i]) / h, 1e-10 * size / h);
  }
  CHECK_NEAR(level_residual(&x, v, m->state->a, 1), 0.0, 1e-10 * size);  // (T3)
  for (int row = 0; row < m->n.rows; row++) {
    if (x.contact[row]) {
      check_contact(m, &before, &b, &x, row, h * m->state->lambda[row], h, n);
    }
  }
}

static Counts check_run(Motion m, double h, int steps) {
  PawlEval* eval = sight_eval(&m);
  static const double thetas[] = {0.5, 0.7, 1.0};
  Counts n = {0};
  for (int k = 0; k < 3; k++) {
    m.def.theta = thetas[k];
    motion_start(&m, "moreau-jean");
    for (int step = 0; step < steps; step++) {
      check_step(&m, eval, h, &n);
    }
  }
  pawl_eval_destroy(eval);
  motion_end(&m);
  return n;
}

static void test_conditions(void** unused) {
  (void)unused;
  check_run(motion_file("pendulum", NULL), 2e-3, 200);
  check_run(motion_text(BREATHING), 1e-2, 100);
  check_run(motion_file("pothole-wheel", NULL), 2.1e-3, 1500);  // switches by the law post
  check_run(motion_file("braiding-machine", NULL), 2.1e-3, 1500);
  Counts n = check_run(motion_file("bouncing-pendulum", "cor=0.5"), 1e-3, 2000);
  assert_true(n.candidates > 1000 && n.pushing > 1000 && n.others > 1000);
  assert_true(n.shifted > 0 && n.shifted < n.pushing / 10);
}

// ---- order --------------------------------------------------------------------------------------
static Reference by_rk4(Motion* m, double t, int steps) {
  Reference r = {.t = t};
  motion_run(m, "rk4", t, steps, NULL);
  memcpy(r.q, m->state->q, (size_t)m->n.q * sizeof(double));
  memcpy(r.v, m->state->v, (size_t)m->n.v * sizeof(double));
  return r;
}

static void test_order(void** unused) {
  (void)unused;
  Motion pendulum = motion_file("pendulum", NULL);
  check_order(&pendulum, "moreau-jean", 1.0, 0.1, 1e-4, 2, PENDULUM);
  motion_end(&pendulum);
  Motion circle = motion_text(BREATHING);
  Reference r = by_rk4(&circle, 2.0, 4000);
  check_order(&circle, "moreau-jean", 1.0, 0.1, 2e-3, 1, &r);
  motion_end(&circle);
  // Constant mass and gradient: the trapezoidal rule, of order 2; of order 1 with theta > 1/2.
  Reference coupled[] = {two_mass_coupled(1.0), two_mass_coupled(3.0), two_mass_coupled(10.0)};
  Motion pair = motion_file("two-mass-coupled", NULL);
  check_order(&pair, "moreau-jean", 2.0, 0.1, 0.02, 3, coupled);
  pair.def.theta = 0.8;
  check_order(&pair, "moreau-jean", 1.0, 0.1, 5e-3, 3, coupled);
  motion_end(&pair);
}

// Exact tangents: the constraint moves, M and G change with q, and Newton's method needs few steps.
static void test_newton(void** unused) {
  (void)unused;
  Motion m = motion_text(BREATHING);
  motion_run(&m, "moreau-jean", 1.0, 1000, NULL);
  assert_true(pawl_stepper_info(m.stepper).newton_iterations <= 3 * 1000);
  motion_run(&m, "moreau-jean", 1.0, 20, NULL);
  assert_true(pawl_stepper_info(m.stepper).newton_iterations <= 5 * 20);
  motion_end(&m);
}

// ---- what it costs ------------------------------------------------------------------------------
// A pendulum that turns with w loses its energy like exp(-h w^2 t): without gravity w falls by
// w' = -h w^3/2 (of the kinetic energy m l^2 w^2/2 the part that is along the normal).
static void test_energy_of_a_turning_constraint(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: turning\ncoordinates: {x: {start: 1}, y: {rate: 10}}\nmass: {x: 1, y: 1}\n"
      "constraints: {circle: x^2 + y^2 = 1}\n");
  motion_run(&m, "moreau-jean", 1.0, 1000, NULL);
  double h = 1e-3, speed = 1 / sqrt(1 / 100.0 + h * 1.0);                // of w' = -h w^3/2
  CHECK_NEAR(hypot(m.state->v[0], m.state->v[1]), speed, 0.02 * speed);  // terms of h^2
  motion_end(&m);
}

// Velocities hold, positions drift: with h^2 for theta = 1/2, where (T2) is the trapezoidal rule
// between two velocities that are both tangent, with h for theta = 1.
static void test_drift(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  PawlEval* eval = sight_eval(&m);
  for (int implicit = 0; implicit < 2; implicit++) {
    double off[2];
    m.def.theta = implicit ? 1.0 : 0.5;
    for (int k = 0; k < 2; k++) {
      motion_run(&m, "moreau-jean", 1.0, k ? 2000 : 1000, &off[k]);
      Sight x = sight_of_state(&m, eval);
      CHECK_NEAR(level_residual(&x, m.state->v, m.state->a, 1), 0.0, 1e-9);
    }
    assert_true(off[0] > 1e-5);
    CHECK_NEAR(log2(off[0] / off[1]), implicit ? 1.0 : 2.0, 0.1);
  }
  pawl_eval_destroy(eval);
  motion_end(&m);
}

// ---- switches -----------------------------------------------------------------------------------
static int switches_to(Motion* m, double h, double until) {
  int count = 0;
  motion_start(m, "moreau-jean");
  while (m->state->t < until - 0.5 * h) {
    motion_step(m, h);
    count += pawl_stepper_instants(m->stepper);
  }
  return count;
}

// A jump that takes most of the speed: the step of the switch ends short of the surface, and the
// next ones must not go back. One switch for every step size, and results that agree.
static void test_one_switch_at_any_step(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: r\ncoordinates:\n  q1: {start: -0.005577329898804863, rate: 1.4959655441489517}\n"
      "  q2: {start: 0.12662597282691518, rate: -0.3042037713107841}\n"
      "  q3: {start: -0.068, rate: 1.988}\n  q4: {start: -0.248, rate: 0.548}\n"
      "kinetic: 0.7865*q1'^2 + 1.1555*q2'^2 + 0.333*q3'^2 + 1.1225*q4'^2 + "
      "0.238*(q2' + q3'*cos(q3))^2\npotential: 0\nconstraints:\n  k:\n    impact: post\n"
      "    modes:\n      a:\n        where: q3 + 0.392*q4 - 0.454 < 0\n        equation:\n"
      "          - q1 - 0.528*q3 + 0.199*q4 - 0.28*sin(q3)\n"
      "          - q2 + 0.127*q3 + 0.507*q4 - 0.114*sin(q3)\n"
      "      b:\n        where: q3 + 0.392*q4 - 0.454 > 0\n        equation:\n"
      "          - q1 - 0.528*q3 + 0.199*q4 - (0.244*q4 + 1)*(-1.247*q3 - 0.488824*q4 + 0.566138)"
      " - 0.28*sin(q3)\n"
      "          - q2 + 0.127*q3 + 0.507*q4 - (0.455*q4 + 1)*(0.668*q3 + 0.261856*q4 - 0.303272)"
      " - 0.114*sin(q3)\n");
  for (int k = 0; k < 40; k++) {
    double h = 1e-2 / (1.0 + 0.7 * k), steps = ceil(1.5 / h);
    assert_int_equal(switches_to(&m, 1.5 / steps, 1.5), 1);
    CHECK_NEAR(m.state->q[2], 0.9219, h);  // as with h = 1e-5
  }
  motion_end(&m);
}

// What lands above the border by the drift of one step stays down.
static void test_landing(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: land\ncoordinates: {y: {start: 1}}\nmass: {y: 1}\npotential: 9.81*y\n"
      "constraints:\n  k:\n    impact: post\n    modes:\n"
      "      air:\n        where: y > 0\n        equation: []\n"
      "      floor:\n        where: y < 0\n        equation: y = 0\n");
  for (int k = 0; k < 40; k++) {
    assert_int_equal(switches_to(&m, 1e-2 / (1.0 + 0.7 * k), 1.0), 1);
  }
  motion_end(&m);
}

// A track that is left upwards on the far side of the surface and turns back by gravity: the motion
// goes over to `up` and comes back, two switches, at any step.
static void test_there_and_back(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: back\ncoordinates: {x: {start: -1, rate: 4}, y: {}}\nmass: {x: 1, y: 1}\n"
      "potential: 9.81*y\nconstraints:\n  k:\n    impact: post\n    modes:\n"
      "      flat:\n        where: x < 0\n        equation: y = 0\n"
      "      up:\n        where: x > 0\n        equation: y = x\n");
  for (int k = 0; k < 40; k++) {
    assert_int_equal(switches_to(&m, 1e-2 / (1.0 + 0.7 * k), 1.5), 2);
    assert_true(m.state->v[0] < 0.0);
  }
  motion_end(&m);
}

// ---- failures -----------------------------------------------------------------------------------
static void test_no_convergence(void** unused) {
  (void)unused;
  double before[4 * SIGHT_MOST], after[4 * SIGHT_MOST];
  Motion m = motion_file("pendulum", NULL);
  m.def.iterations = 2;
  motion_start(&m, "moreau-jean");
  int count = state_numbers(&m, before);
  assert_int_equal(pawl_stepper_step(m.stepper, m.state, 0.1, &m.err), PAWL_RETRY);
  assert_non_null(strstr(m.err.message, "t = 0.1: "));
  assert_non_null(strstr(m.err.message, "did not converge in 2 iterations"));
  assert_int_equal(state_numbers(&m, after), count);
  assert_memory_equal(before, after, (size_t)count * sizeof(double));
  motion_end(&m);
}

// ---- contacts that drift ------------------------------------------------------------------------
// On a floor that goes down and up, s = -b (1 - cos(w t)), positions drift by (h^2/12) (s'' -
// s''_0)
// >= 0. A mass stays on it, with the force g + s'' < 12 N; a force of 12 N would stop what goes by.
static void test_floors_that_move(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: lift\n"
      "coordinates: {y: , z: {rate: 1}}\n"
      "mass: {y: 1, z: 1}\n"
      "potential: 9.81*y\n"
      "locks: {catch: {lock: z, when: 'lambda(floor) - 12', direction: up}}\n"
      "contacts: {floor: {gap: y + 0.02*(1 - cos(10*t))}}\n");
  for (int steps = 90; steps <= 9000; steps *= 10) {
    double lambda[SIGHT_MOST], h = 0.9 / steps, fall = 0.5 * 9.81 * h * h;
    motion_start(&m, "moreau-jean");
    for (int k = 0; k < steps; k++) {
      double t = m.state->t + 0.5 * h, force = 9.81 - 2.0 * cos(10.0 * t);
      motion_step(&m, h);
      NEED(pawl_stepper_multipliers(m.stepper, m.state, lambda, &m.err), &m.err);
      CHECK_NEAR(lambda[m.n.rows - 1], force, 10.0 * h * h * 2.0);
      CHECK_NEAR(m.state->q[0], -0.02 * (1.0 - cos(10.0 * (t + 0.5 * h))), fall);
    }
    CHECK_NEAR(m.state->q[1], 0.9, 1e-12);
  }
  motion_end(&m);
}

// Down a hill y = -c x^2/2 with friction, m y'' = lambda - m g, m x'' = c x lambda - mu lambda:
// lambda (1 + c^2 x^2 - mu c x) = m (g - c x'^2). No step is without a force.
static void test_hills(void** unused) {
  (void)unused;
  static const double c = 0.1, mu = 0.1;
  Motion m = motion_text(
      "model: hill\n"
      "coordinates: {x: {rate: 0.5}, y: }\n"
      "mass: {x: 1, y: 1}\n"
      "potential: 9.81*y\n"
      "contacts: {hill: {gap: y + 0.05*x^2, friction: 0.1, slip: x}}\n");
  for (int steps = 50; steps <= 5000; steps *= 10) {
    double lambda[SIGHT_MOST], h = 0.5 / steps;
    motion_start(&m, "moreau-jean");
    for (int k = 0; k < steps; k++) {
      motion_step(&m, h);
      double x = m.state->q[0], v = m.state->v[0];
      NEED(pawl_stepper_multipliers(m.stepper, m.state, lambda, &m.err), &m.err);
      double force = (9.81 - c * v * v) / (1.0 + c * c * x * x - mu * c * x);
      CHECK_NEAR(lambda[m.n.rows - 1], force, h);
    }
  }
  motion_end(&m);
}

// The same floor, a block on it that its static friction alone holds, and something else that
// switches.                                                                                (T32)
#define BLOCK(more)                                                                             \
  "model: block\n"                                                                              \
  "coordinates: {x: , y: , a: {rate: 1}}\n"                                                     \
  "mass: {x: 1, y: 1, a: 1}\n"                                                                  \
  "potential: 9.81*y\n"                                                                         \
  "forces: {x: '4*min(1, t/0.05)', a: -1}\n" more                                               \
  "contacts: {floor: {gap: y - 0.02*t*sin(20*t), friction: {static: 0.6, kinetic: 0.2}, slip: " \
  "x}}\n"

static double force_on_block(double t) {
  return 9.81 + 0.02 * (40.0 * cos(20.0 * t) - 400.0 * t * sin(20.0 * t));
}

// What presses it is the force of the motion, to what that changes by in a step, and it sticks.
static void check_block(Motion* m) {
  double lambda[SIGHT_MOST];
  NEED(pawl_stepper_multipliers(m->stepper, m->state, lambda, &m->err), &m->err);
  CHECK_NEAR(lambda[m->n.rows - 1], force_on_block(m->state->t), 0.05);
  CHECK_NEAR(m->state->q[0], 0.0, 1e-12);
}

static void test_switches_elsewhere(void** unused) {
  (void)unused;
  static const char* const texts[] = {
      BLOCK("locks: {brake: {lock: a, at: 0.20765, for: 0.02}}\n"),
      BLOCK("locks: {brake: {lock: a, at: 0.2076000001, for: 0.02}}\n"),
      BLOCK("locks: {brake: {lock: a, when: a - 0.17, for: 0.02}}\n"),
      BLOCK("events: {kick: {at: 0.20765, impulse: {a: 1}}}\n"),
  };
  for (int k = 0; k < 4; k++) {
    Motion m = motion_text(texts[k]);
    m.def.step = 1e-4;
    motion_start(&m, "moreau-jean");
    int instants = 0;
    for (int i = 0; i < 2500; i++) {
      motion_step(&m, 1e-4);
      instants += pawl_stepper_instants(m.stepper);
      check_block(&m);
    }
    assert_int_equal(instants, k < 3 ? 2 : 1);
    motion_end(&m);
  }
}

// By a call between two steps; its state, saved just then, goes on with the same bits.
static void test_pushed_elsewhere(void** unused) {
  (void)unused;
  static const double U[3] = {0.0, 0.0, 1.0};
  Motion m = motion_text(BLOCK("")), other = motion_text(BLOCK(""));
  m.def.step = other.def.step = 1e-4;
  motion_start(&m, "moreau-jean");
  motion_stepper(&other, "moreau-jean");
  for (int i = 0; i < 2100; i++) {
    motion_step(&m, 1e-4);
  }
  NEED(pawl_stepper_push(m.stepper, m.state, U, &m.err), &m.err);
  check_block(&m);
  NEED(pawl_state_copy(other.stepper, other.state, m.stepper, m.state, &m.err), &m.err);
  for (int i = 0; i < 100; i++) {
    motion_step(&m, 1e-4);
    motion_step(&other, 1e-4);
    check_block(&m);
    assert_int_equal(m.state->bytes, other.state->bytes);
    assert_memory_equal(m.state->q, other.state->q, m.state->bytes);
  }
  motion_end(&m);
  motion_end(&other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_oscillator_by_hand),
      cmocka_unit_test(test_kink_by_hand),
      cmocka_unit_test(test_conditions),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_newton),
      cmocka_unit_test(test_energy_of_a_turning_constraint),
      cmocka_unit_test(test_drift),
      cmocka_unit_test(test_one_switch_at_any_step),
      cmocka_unit_test(test_landing),
      cmocka_unit_test(test_there_and_back),
      cmocka_unit_test(test_no_convergence),
      cmocka_unit_test(test_floors_that_move),
      cmocka_unit_test(test_hills),
      cmocka_unit_test(test_switches_elsewhere),
      cmocka_unit_test(test_pushed_elsewhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
