// SPDX-License-Identifier: Apache-2.0
// ga-p: one step by hand, the equations of docs/theory/ga-p.md recomputed from the states around a
// step, order two, the invariants of a step, and its failures.
#include "step/motion.h"

static const char OSCILLATOR[] =
    "model: oscillator\n"
    "coordinates: {x: {start: 1}}\n"
    "mass: {x: 1}\n"
    "potential: 2*x^2\n"
    "simulate: {rho: 0.5}\n";

// A cart on a prescribed path pulls a second one over a spring and a damper.
static const char DRIVEN[] =
    "model: driven\n"
    "coordinates: {x: {start: 0, rate: 2}, y: {start: 1}}\n"
    "mass: {x: 2, y: 3}\n"
    "potential: 3*(y - x)^2 + y^4\n"
    "dissipation: 0.2*(y' - x')^2\n"
    "constraints: {drive: x = sin(2*t)}\n";

// A bar is moved by a cubic constraint; a second body carries a large force.
static const char CUBE[] =
    "model: gate\n"
    "coordinates: {bar: {start: 1, rate: 1}, ballast: {}}\n"
    "mass: {bar: 1, ballast: 1}\n"
    "potential: -1e12*ballast\n"
    "constraints: {cube: bar^3 + bar = 2 + 4*t + 40*t^3}\n";

// ---- by hand ------------------------------------------------------------------------------------
// Constant acceleration: (A1) and (A2) give x0 + v0 h - g h^2/2 and v0 - g h for every rho.
static void test_free_fall_is_exact(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: fall\ncoordinates: {x: {start: 1, rate: 2}}\nmass: {x: 3}\npotential: 3*9.81*x\n");
  for (int k = 0; k <= 4; k++) {
    m.def.rho = 0.25 * k;
    motion_start(&m, "ga-p");
    for (int step = 1; step <= 10; step++) {
      motion_step(&m, 0.25);
      double t = 0.25 * step;
      CHECK_NEAR(m.state->q[0], 1 + 2 * t - 9.81 / 2 * t * t, 1e-13);  // rounding
      CHECK_NEAR(m.state->v[0], 2 - 9.81 * t, 1e-13);
      CHECK_NEAR(m.state->a[0], -9.81, 1e-13);
    }
  }
  motion_end(&m);
}

// x'' = -4 x from x = 1 at rest, rho = 1/2: alpha_m = 0, alpha_f = 1/3, gamma = 5/6, beta = 4/9.
// With h = 1/2, (A1) to (A4) are 35/27 x = 43/54, hence x = 43/70, x'' = -86/35,
// a = -104/35 and x' = -11/7.
static void test_oscillator_by_hand(void** unused) {
  (void)unused;
  Motion m = motion_text(OSCILLATOR);
  motion_start(&m, "ga-p");
  assert_true(m.state->a[0] == -4.0 && m.state->memory[0] == -4.0);
  motion_step(&m, 0.5);
  assert_true(m.state->t == 0.5 && m.state->step == 1);
  CHECK_NEAR(m.state->q[0], 43.0 / 70, 4e-16);  // a few roundings
  CHECK_NEAR(m.state->v[0], -11.0 / 7, 4e-15);
  CHECK_NEAR(m.state->a[0], -86.0 / 35, 4e-15);
  CHECK_NEAR(m.state->memory[0], -104.0 / 35, 4e-15);
  motion_end(&m);
}

// Two equal masses at a fixed distance are one of 2 kg on a spring of 8 N/m: the step by hand
// above, and the constraint carries half of the spring's force to the second mass.
static void test_coupled_by_hand(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: pair\ncoordinates: {x: {start: 1}, y: {start: -2}}\nmass: {x: 1, y: 1}\n"
      "potential: 4*x^2\nconstraints: {bar: x - y = 3}\nsimulate: {rho: 0.5}\n");
  motion_start(&m, "ga-p");
  CHECK_NEAR(m.state->lambda[0], 4.0, 4e-15);  // m x'' + 8 x = -4 + 8
  motion_step(&m, 0.5);
  CHECK_NEAR(m.state->q[0], 43.0 / 70, 4e-15);
  CHECK_NEAR(m.state->q[1], 43.0 / 70 - 3, 4e-15);
  CHECK_NEAR(m.state->v[1], -11.0 / 7, 4e-14);
  CHECK_NEAR(m.state->a[1], -86.0 / 35, 4e-14);
  CHECK_NEAR(m.state->lambda[0], 86.0 / 35, 4e-14);  // M x'' = f + G^T lambda, G = [1 -1]
  motion_end(&m);
}

// ---- the defining equations ---------------------------------------------------------------------
typedef struct Before {
  double q[MOTION_MOST], v[MOTION_MOST], vdot[MOTION_MOST], a[MOTION_MOST];
} Before;

static Before before_step(const Motion* m) {
  Before b = {0};
  size_t bytes = (size_t)m->n.v * sizeof(double);
  assert_true(m->n.v <= MOTION_MOST);
  memcpy(b.q, m->state->q, bytes);
  memcpy(b.v, m->state->v, bytes);
  memcpy(b.vdot, m->state->a, bytes);
  memcpy(b.a, m->state->memory, bytes);
  return b;
}

static void check_recursions(const Motion* m, const Before* b, double h) {
  double rho = m->def.rho, tolerance = 1e-12;  // rounding of sums of terms of the given sizes
  double alpha_m = (2 * rho - 1) / (rho + 1), alpha_f = rho / (rho + 1);                // (A5)
  double gamma = 0.5 + alpha_f - alpha_m, beta = 0.25 * (gamma + 0.5) * (gamma + 0.5);  // (A6)
  const double *q = m->state->q, *v = m->state->v, *vdot = m->state->a, *a = m->state->memory;
  double size_a = largest_of(m->n.v, a) + largest_of(m->n.v, b->a) + largest_of(m->n.v, b->vdot);
  double size_v = largest_of(m->n.v, b->v) + h * size_a;
  double size_q = largest_of(m->n.q, b->q) + h * size_v;
  for (int i = 0; i < m->n.v; i++) {
    CHECK_NEAR(q[i], b->q[i] + h * b->v[i] + h * h * ((0.5 - beta) * b->a[i] + beta * a[i]),
               tolerance * size_q);  // (A1)
    CHECK_NEAR(v[i], b->v[i] + h * ((1 - gamma) * b->a[i] + gamma * a[i]),
               tolerance * size_v);  // (A2)
    CHECK_NEAR((1 - alpha_m) * a[i] + alpha_m * b->a[i],
               (1 - alpha_f) * vdot[i] + alpha_f * b->vdot[i], tolerance * size_a);  // (A3)
  }
}

// M v' - f - G^T lambda = 0 against the size of its terms, and g = 0.                       (A4)
static void check_balance(Motion* m) {
  enum { MASK = PAWL_MASS | PAWL_FORCE | PAWL_POSITION | PAWL_GRADIENT };
  PawlEval* eval = NULL;
  NEED(pawl_eval_create(m->system, MASK, &eval, &m->err), &m->err);
  const PawlState* s = m->state;
  PawlPoint point = {s->t, s->q, s->v, s->a, s->lambda, s->modes, s->held};
  NEED(pawl_eval_run(eval, &point, &m->err), &m->err);
  const PawlValues* values = pawl_eval_values(eval);
  PawlPattern H = pawl_system_pattern_H(m->system), G = pawl_system_pattern_G(m->system);
  double r[MOTION_MOST] = {0}, size[MOTION_MOST] = {0};
  for (int j = 0; j < m->n.v; j++) {
    r[j] -= values->f[j];
    size[j] += fabs(values->f[j]);
    for (int k = H.start[j]; k < H.start[j + 1]; k++) {
      r[H.index[k]] += values->M[k] * s->a[j];
      size[H.index[k]] += fabs(values->M[k] * s->a[j]);
    }
    for (int k = G.start[j]; k < G.start[j + 1]; k++) {
      r[j] -= values->G[k] * s->lambda[G.index[k]];
      size[j] += fabs(values->G[k] * s->lambda[G.index[k]]);
    }
  }
  double most = largest_of(m->n.v, size);
  for (int j = 0; j < m->n.v; j++) {
    CHECK_NEAR(r[j], 0.0, 1e-12 * most);
  }
  CHECK_NEAR(largest_of(m->n.rows, values->g), 0.0, 1e-12 * (1 + largest_of(m->n.q, s->q)));
  pawl_eval_destroy(eval);
}

static void check_conditions(Motion m) {
  static const double steps[] = {1e-2, 3e-3, 3e-3, 3e-3, 1e-3, 2e-2};  // repeated and changed
  m.def.tolerance = 1e-13;  // below what is asked of the balance
  for (int k = 0; k <= 4; k++) {
    m.def.rho = 0.25 * k;
    motion_start(&m, "ga-p");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
      Before b = before_step(&m);
      motion_step(&m, steps[i]);
      check_recursions(&m, &b, steps[i]);
      check_balance(&m);
    }
  }
  motion_end(&m);
}

static void test_conditions(void** unused) {
  (void)unused;
  check_conditions(motion_text(OSCILLATOR));
  check_conditions(motion_text(DRIVEN));
  check_conditions(motion_file("pendulum", NULL));
  check_conditions(motion_file("planar-3r", NULL));
  check_conditions(motion_file("chain", "N=7"));
}

// ---- order --------------------------------------------------------------------------------------
enum { ORDER_TIMES = 40 };

static void check_order_of_two_mass(const char* name, Reference (*closed_form)(double)) {
  Motion m = motion_file(name, NULL);
  Reference references[ORDER_TIMES];
  for (int k = 0; k < ORDER_TIMES; k++) {
    references[k] = closed_form(0.5 * (k + 1));
  }
  check_order(&m, "ga-p", 2.0, 0.1, 0.02, ORDER_TIMES, references);
  motion_end(&m);
}

static void test_order_of_two_mass(void** unused) {
  (void)unused;
  check_order_of_two_mass("two-mass-free", two_mass_free);
  check_order_of_two_mass("two-mass-coupled", two_mass_coupled);
}

static void test_order_of_pendulum(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  check_order(&m, "ga-p", 2.0, 0.1, 1e-3, 3, PENDULUM);
  motion_end(&m);
}

static void test_order_of_3r(void** unused) {
  (void)unused;
  Motion m = motion_file("planar-3r", NULL);
  check_order(&m, "ga-p", 2.0, 0.1, 1e-3, 2, THREE_R_HORIZONTAL);
  motion_end(&m);
}

// A force of 1e9 N on one mass must not hide the balance of a spring of 4 mN on another.
static void test_forces_of_very_different_size(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: mix\ncoordinates: {x: {}, y: {start: 1e-3}}\nmass: {x: 1, y: 1}\n"
      "potential: -1e9*x + 2*y^2\n");
  motion_run(&m, "ga-p", 3.0, 3000, NULL);
  CHECK_NEAR(m.state->q[1], 1e-3 * cos(6.0), 1e-8);  // h^2 w^3 t/12 of the amplitude is 2e-9
  motion_end(&m);
}

// The driven cart: no closed form at hand, but two steppers that share nothing but the system.
static void test_driven_agrees_with_rk4(void** unused) {
  (void)unused;
  Motion m = motion_text(DRIVEN);
  Reference reference = {.t = 1.0};
  motion_run(&m, "rk4", 1.0, 2000, NULL);
  memcpy(reference.q, m.state->q, 2 * sizeof(double));
  memcpy(reference.v, m.state->v, 2 * sizeof(double));
  check_order(&m, "ga-p", 2.0, 0.1, 0.01, 1, &reference);
  motion_end(&m);
}

// ---- invariants ---------------------------------------------------------------------------------
// The pendulum at the paper's step: what Bruels, Acary and Cardona report for constraints at
// position level, and the numbers of an independent program for the same scheme (theta(1 s) off by
// -4.557e-4, its rate by -8.847e-4, |g'| up to 4.92e-4).
static void test_pendulum_of_the_paper(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  double position;
  motion_run(&m, "ga-p", 1.0, 500, &position);
  assert_true(position < 1e-10);
  CHECK_NEAR(m.state->q[2] - PENDULUM[2].q[2], -0.00045569932, 1e-9);
  CHECK_NEAR(m.state->v[2] - PENDULUM[2].v[2], -0.00088468554, 1e-9);
  motion_end(&m);
}

static void test_pendulum_with_gravity_upwards(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", "ay=10");
  motion_run(&m, "ga-p", 1.0, 8000, NULL);
  // Elliptic functions, gravity along +y, t = 1 s; h^2 times 114, the constant of the paper's step.
  CHECK_NEAR(m.state->q[2], 10.149598744869472, 4e-6);
  CHECK_NEAR(m.state->v[2], 8.88000687037288, 8e-6);
  motion_end(&m);
}

static void test_step_allocates_nothing(void** unused) {
  (void)unused;
  const char* const overrides[] = {"N=4", "N=60"};  // dense, and sparse
  for (int k = 0; k < 2; k++) {
    Motion m = motion_file("chain", overrides[k]);
    motion_start(&m, "ga-p");
    motion_step(&m, 1e-3);
    long long before = pawl_alloc_count();
    for (int i = 0; i < 50; i++) {
      motion_step(&m, 1e-3);
    }
    assert_int_equal(pawl_alloc_count(), before);
    motion_end(&m);
  }
}

static void test_same_bits(void** unused) {
  (void)unused;
  double first[16 * MOTION_MOST], second[16 * MOTION_MOST];
  for (int k = 0; k < 2; k++) {
    Motion a = motion_file("chain", k ? "N=40" : "N=5"),
           b = motion_file("chain", k ? "N=40" : "N=5");
    motion_run(&a, "ga-p", 0.2, 100, NULL);
    motion_run(&b, "ga-p", 0.2, 100, NULL);
    int count = state_numbers(&a, first);
    assert_true(count <= 16 * MOTION_MOST && state_numbers(&b, second) == count);
    assert_memory_equal(first, second, (size_t)count * sizeof(double));
    motion_end(&a);
    motion_end(&b);
  }
}

// With exact tangents one correction solves a linear problem, springs and dampers however strong.
static void test_linear_problem_takes_one_correction(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: linear\ncoordinates: {x: {start: 1, rate: 1}, y: {start: 1, rate: 1}, z: {}}\n"
      "mass: {x: 1, y: 2, z: 3}\npotential: 500*(x - z)^2 + 20*z^2\n"
      "dissipation: 30*(y' - z')^2\nconstraints: {bar: x = y}\n");
  motion_run(&m, "ga-p", 1.0, 50, NULL);
  PawlStepperInfo info = pawl_stepper_info(m.stepper);
  assert_int_equal(info.newton_iterations, 50);
  assert_int_equal(info.factorizations, 2);  // one at the start, one of the matrix of all steps
  motion_end(&m);
}

// A smooth motion is guessed so well from the last two steps that one correction is the rule.
static void test_guess(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  motion_run(&m, "ga-p", 5.0, 2500, NULL);  // the first 100 steps ripple and take two
  assert_true(pawl_stepper_info(m.stepper).newton_iterations < 2750);
  motion_end(&m);
}

// The tolerance of the constraints is theirs, whatever forces act elsewhere.
static void test_constraint_beside_large_forces(void** unused) {
  (void)unused;
  Motion m = motion_text(CUBE);
  motion_start(&m, "ga-p");
  for (int k = 1; k <= 4; k++) {
    motion_step(&m, 0.25);
    double t = 0.25 * k, bar = m.state->q[0];
    double terms = (3 * bar * bar + 1) * bar;  // (A16)
    CHECK_NEAR(bar * bar * bar + bar, 2 + 4 * t + 40 * t * t * t, m.def.tolerance * terms);
  }
  motion_end(&m);
}

// The largest |G v' + gamma| of the present state.
static double acceleration_residual(Motion* m, PawlEval* eval) {
  const PawlState* s = m->state;
  PawlPoint point = {s->t, s->q, s->v, s->a, s->lambda, s->modes, s->held};
  NEED(pawl_eval_run(eval, &point, &m->err), &m->err);
  const PawlValues* values = pawl_eval_values(eval);
  PawlPattern G = pawl_system_pattern_G(m->system);
  double residual[MOTION_MOST];
  memcpy(residual, values->gamma, (size_t)m->n.rows * sizeof(double));
  for (int j = 0; j < m->n.v; j++) {
    for (int k = G.start[j]; k < G.start[j + 1]; k++) {
      residual[G.index[k]] += values->G[k] * s->a[j];
    }
  }
  return largest_of(m->n.rows, residual);
}

// Scaled, Newton's method does not feel the step size: no more iterations from 1e-2 down to 1e-6,
// and positions to rounding. Accelerations, about 80 here, carry the ripple of the start, of order
// h, and rounding of positions over h^2; not the tolerance of Newton's method over h^2.
static void test_small_steps(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  PawlEval* eval = NULL;
  NEED(pawl_eval_create(m.system, PAWL_GRADIENT | PAWL_BIAS, &eval, &m.err), &m.err);
  double coarse = INFINITY;
  for (double h = 1e-2; h > 5e-7; h *= 0.1) {
    int steps = 200;
    double position, residual = 0.0;
    motion_run(&m, "ga-p", steps * h, steps, &position);
    double iterations = (double)pawl_stepper_info(m.stepper).newton_iterations / steps;
    assert_true(iterations <= coarse && iterations <= 4.0);
    coarse = iterations;
    assert_true(position < 1e-13);
    for (int k = 0; k < 10000 && h < 5e-3; k++) {  // with 1e-2 this motion is near its limit
      motion_step(&m, h);
      residual = fmax(residual, acceleration_residual(&m, eval));
    }
    assert_true(residual <= 4000 * h + 1e-12 / (h * h));
  }
  pawl_eval_destroy(eval);
  motion_end(&m);
}

// ---- failures -----------------------------------------------------------------------------------
static void check_refused(Motion* m, double h, const char* words) {
  double before[16 * MOTION_MOST], after[16 * MOTION_MOST];
  int count = state_numbers(m, before);
  assert_int_equal(pawl_stepper_step(m->stepper, m->state, h, &m->err), PAWL_RETRY);
  assert_int_equal(m->err.status, PAWL_RETRY);
  if (!strstr(m->err.message, words)) {
    print_error("'%s' is not in: %s\n", words, m->err.message);
    fail();
  }
  assert_int_equal(state_numbers(m, after), count);
  assert_memory_equal(before, after, (size_t)count * sizeof(double));
}

// One correction is too few for a cubic constraint, and for an exponential spring.
static void test_no_convergence(void** unused) {
  (void)unused;
  Motion m = motion_text(CUBE);
  m.def.iterations = 1;
  m.def.tolerance = 1e-16;
  motion_start(&m, "ga-p");
  check_refused(&m, 0.5, "t = 0.5: Newton's method did not converge in 1 iterations; ");
  assert_true(strstr(m.err.message, "constraint 'cube' (row 1) is off by") ||
              strstr(m.err.message, "the balance of forces on 'bar' is off by"));
  motion_end(&m);
  m = motion_text(
      "model: stiff\ncoordinates: {left: {}, right: {start: 2}}\n"
      "mass: {left: 1, right: 1}\npotential: exp(right)\n");
  m.def.iterations = 1;
  m.def.tolerance = 1e-16;
  motion_start(&m, "ga-p");
  check_refused(&m, 1.0, "the balance of forces on 'right' is off by");
  motion_end(&m);
}

// A refused step can be taken in two halves, from the same state.
static void test_after_a_refusal(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  m.def.iterations = 3;
  motion_start(&m, "ga-p");
  check_refused(&m, 0.2, "did not converge");
  for (int k = 0; k < 64; k++) {
    motion_step(&m, 0.2 / 64);
  }
  CHECK_NEAR(m.state->t, 0.2, 1e-15);
  motion_end(&m);
}

static void test_outside_a_domain(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: well\ncoordinates: {depth: {start: 1, rate: -10}}\n"
      "mass: {depth: 1}\npotential: sqrt(depth)\n");
  motion_start(&m, "ga-p");
  check_refused(&m, 0.5, "t = 0.5");
  assert_non_null(strstr(m.err.message, "test:4"));
  motion_end(&m);
}

// A point on a circle of radius 1 is dragged along x = t: at t = 1 the two constraints are one, and
// beyond it they contradict each other.
static void test_constraints_that_become_dependent(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: drag\ncoordinates: {x: {start: 0, rate: 1}, y: {start: 1}}\n"
      "mass: {x: 1, y: 1}\nconstraints: {circle: x^2 + y^2 = 1, wall: x = t}\n");
  motion_start(&m, "ga-p");
  for (int k = 0; k < 3; k++) {
    motion_step(&m, 0.25);
  }
  CHECK_NEAR(m.state->q[1], sqrt(7.0) / 4, 1e-12);  // at t = 3/4; the constraints alone say where
  check_refused(&m, 0.25, "t = 1: the constraints depend on each other here: 'wall' (row 1)");
  check_refused(&m, 0.5, "t = 1.25: ");
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_free_fall_is_exact),
      cmocka_unit_test(test_oscillator_by_hand),
      cmocka_unit_test(test_coupled_by_hand),
      cmocka_unit_test(test_conditions),
      cmocka_unit_test(test_order_of_two_mass),
      cmocka_unit_test(test_order_of_pendulum),
      cmocka_unit_test(test_order_of_3r),
      cmocka_unit_test(test_forces_of_very_different_size),
      cmocka_unit_test(test_driven_agrees_with_rk4),
      cmocka_unit_test(test_pendulum_of_the_paper),
      cmocka_unit_test(test_pendulum_with_gravity_upwards),
      cmocka_unit_test(test_step_allocates_nothing),
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_linear_problem_takes_one_correction),
      cmocka_unit_test(test_guess),
      cmocka_unit_test(test_constraint_beside_large_forces),
      cmocka_unit_test(test_small_steps),
      cmocka_unit_test(test_no_convergence),
      cmocka_unit_test(test_after_a_refusal),
      cmocka_unit_test(test_outside_a_domain),
      cmocka_unit_test(test_constraints_that_become_dependent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
