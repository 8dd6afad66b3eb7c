// SPDX-License-Identifier: Apache-2.0
// Variants of the generalized-alpha methods for comparison: coefficients of Hilber, Hughes and
// Taylor and of Newmark, a first acceleration at the shifted time, Baumgarte's form, the classical
// stabilisation of positions. Equations recomputed, orders, and what each is for.
#include "step/sight.h"

// ---- coefficients -------------------------------------------------------------------------------
// (A20) written down again; all have the spectral radius rho at infinite frequency.
static Alpha variant_of(const char* coefficients, double rho) {
  Alpha a = alpha_of(rho);
  a.gamma = 0.5 + (1 - rho) / (1 + rho);
  a.beta = 1 / ((1 + rho) * (1 + rho));
  a.m = strcmp(coefficients, "chung-hulbert") == 0 ? a.m : 0.0;
  a.f = strcmp(coefficients, "hht") == 0       ? (1 - rho) / (1 + rho)
        : strcmp(coefficients, "newmark") == 0 ? 0.0
                                               : a.f;
  return a;
}

static void test_coefficients(void** unused) {
  (void)unused;
  static const char* const names[] = {"chung-hulbert", "hht", "newmark"};
  Motion m = motion_text(BREATHING);
  PawlEval* eval = sight_eval(&m);
  for (int k = 0; k < 3; k++) {
    for (double rho = 0.5; rho <= 1.0; rho += 0.25) {
      m.def.coefficients = names[k];
      m.def.rho = rho;
      motion_start(&m, "ga-v");
      for (int step = 0; step < 20; step++) {
        Begin b = begin_of(&m);
        motion_step(&m, 1e-2);
        Smooth s = smooth_of(&m, &b, variant_of(names[k], rho), 1e-2);  // (A3)
        for (int i = 0; i < m.n.v; i++) {
          CHECK_NEAR(m.state->q[i], s.q[i], 1e-13);  // (A1), (A2)
          CHECK_NEAR(m.state->v[i], s.v[i], 1e-12);
        }
        Sight x = sight_of_state(&m, eval);
        check_dynamics(&x, m.state->a, m.state->lambda, 1e-10);
      }
    }
  }
  pawl_eval_destroy(eval);
  motion_end(&m);
}

// A spring so stiff that a step is many periods: after the start the place falls like n rho^n for
// all three families, their double root.
static void test_spectral_radius(void** unused) {
  (void)unused;
  static const char* const names[] = {"chung-hulbert", "hht", "newmark"};
  Motion m = motion_text(
      "model: stiff\ncoordinates: {x: {start: 1, rate: 1}}\nmass: {x: 1}\npotential: 1e14/2*x^2\n");
  for (int k = 0; k < 3; k++) {
    m.def.coefficients = names[k];
    m.def.rho = 0.8;
    motion_start(&m, "ga-p");
    double early = 0.0;
    for (int n = 1; n <= 200; n++) {
      motion_step(&m, 1.0);
      early = n == 100 ? fabs(m.state->v[0]) / 100 : early;
    }
    CHECK_NEAR(pow(fabs(m.state->v[0]) / 200 / early, 0.01), 0.8, 2e-3);
  }
  motion_end(&m);
}

// Chung and Hulbert's and Hilber, Hughes and Taylor's are of second order with damping, Newmark's
// only without.
static void test_orders(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  m.def.rho = 0.8;
  m.def.coefficients = "hht";
  check_order(&m, "ga-v", 2.0, 0.1, 2e-3, 3, PENDULUM);
  check_order(&m, "ga-pva", 2.0, 0.1, 2e-3, 3, PENDULUM);
  m.def.coefficients = "newmark";
  check_order(&m, "ga-pva", 1.0, 0.1, 2e-3, 3, PENDULUM);
  m.def.rho = 1.0;
  check_order(&m, "ga-pva", 2.0, 0.1, 2e-3, 3, PENDULUM);
  motion_end(&m);
}

static void test_hht_needs_rho(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  m.def.rho = 0.4;
  m.def.coefficients = "hht";
  assert_false(motion_can(&m, "ga-v"));
  assert_non_null(strstr(m.err.message, "rho = 0.4"));
  assert_non_null(strstr(m.err.message, "1/2"));
  m.def.coefficients = "wilson";
  assert_false(motion_can(&m, "ga-v"));
  assert_non_null(strstr(m.err.message, "coefficients = wilson"));
  motion_end(&m);
}

// ---- the first acceleration ---------------------------------------------------------------------
// a_0 as the first step used it, from (A2), against the acceleration of the pendulum at the shifted
// time, which lies before the start: reversed in time it comes after it.
static double first_error(Motion* m, const char* method, double h) {
  Alpha c = alpha_of(m->def.rho);
  double a_0[3], off = 0.0;
  motion_start(m, method);
  Begin b = begin_of(m);
  motion_step(m, h);
  for (int i = 0; i < 3; i++) {
    double mean = (m->state->v[i] - b.v[i]) / h;
    a_0[i] = (mean - c.gamma * m->state->memory[i]) / (1 - c.gamma);
  }
  motion_stepper(m, "rk4");
  for (int i = 0; i < 3; i++) {
    m->state->v[i] *= -1.0;
  }
  NEED(pawl_stepper_start(m->stepper, m->state, false, &m->err), &m->err);
  motion_step(m, (c.f - c.m) * h);
  for (int i = 0; i < 3; i++) {
    off = fmax(off, fabs(a_0[i] - m->state->a[i]));
  }
  return off;
}

static void test_first_acceleration(void** unused) {
  (void)unused;
  static const char* const methods[] = {"ga-v", "ga-a", "ga-pv"};
  Motion m = motion_file("pendulum", NULL);
  for (int k = 0; k < 3; k++) {
    m.def.start_acceleration = "plain";
    CHECK_NEAR(log2(first_error(&m, methods[k], 4e-3) / first_error(&m, methods[k], 2e-3)), 1.0,
               0.1);
    m.def.start_acceleration = "shifted";
    CHECK_NEAR(log2(first_error(&m, methods[k], 4e-3) / first_error(&m, methods[k], 2e-3)), 2.0,
               0.1);
  }
  motion_end(&m);
}

// The saw of G v' + gamma in the first tenth of a second.
static double saw(Motion* m, PawlEval* eval, const char* method, double h) {
  double most = 0.0, last = 0.0;
  motion_start(m, method);
  for (int k = 0; k * h < 0.1; k++) {
    motion_step(m, h);
    Sight x = sight_of_state(m, eval);
    double now = row_acceleration(&x, 0, m->state->a);
    most = k > 0 ? fmax(most, 0.5 * fabs(now - last)) : most;
    last = now;
  }
  return most;
}

// Of first order with the acceleration of the start, of second with the shifted one; at position
// level it is of first order with either. Steps of other sizes keep what a first step began with,
// and orders of the motion stay.
static void test_saw(void** unused) {
  (void)unused;
  static const char* const methods[] = {"ga-v", "ga-pv"};
  Motion m = motion_file("pendulum", NULL);
  PawlEval* eval = sight_eval(&m);
  for (int k = 0; k < 2; k++) {
    m.def.start_acceleration = "plain";
    CHECK_NEAR(log2(saw(&m, eval, methods[k], 2e-3) / saw(&m, eval, methods[k], 1e-3)), 1.0, 0.15);
    m.def.start_acceleration = "shifted";
    CHECK_NEAR(log2(saw(&m, eval, methods[k], 2e-3) / saw(&m, eval, methods[k], 1e-3)), 2.0, 0.15);
    check_order(&m, methods[k], 2.0, 0.1, 2e-3, 3, PENDULUM);
  }
  m.def.start_acceleration = "shifted";
  CHECK_NEAR(log2(saw(&m, eval, "ga-p", 1e-3) / saw(&m, eval, "ga-p", 5e-4)), 1.0, 0.15);
  pawl_eval_destroy(eval);
  motion_end(&m);
}

// A first step that is refused leaves the state as it was, and the first acceleration is that of
// the step that is taken.
static void test_first_step_of_another_size(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  double whole[MOTION_MOST], pieces[MOTION_MOST];
  m.def.start_acceleration = "shifted";
  motion_start(&m, "ga-pva");
  motion_step(&m, 1e-3);
  memcpy(whole, m.state->memory, (size_t)m.n.v * sizeof(double));
  motion_start(&m, "ga-pva");
  assert_int_not_equal(pawl_stepper_step(m.stepper, m.state, 1e3, &m.err), PAWL_OK);
  motion_step(&m, 1e-3);
  memcpy(pieces, m.state->memory, (size_t)m.n.v * sizeof(double));
  assert_memory_equal(whole, pieces, (size_t)m.n.v * sizeof(double));
  motion_end(&m);
}

// ---- Baumgarte ----------------------------------------------------------------------------------
static void check_baumgarte(Motion m, double B, double own, double h) {
  PawlEval* eval = sight_eval(&m);
  double P = own > 0.0 ? own : B;
  m.def.baumgarte = B;
  m.def.baumgarte_position = own;
  motion_start(&m, "ga-a");
  for (int k = 0; k < 100; k++) {
    motion_step(&m, h);
    Sight x = sight_of_state(&m, eval);
    check_dynamics(&x, m.state->a, m.state->lambda, 1e-10);
    for (int i = 0; i < x.rows; i++) {
      double c = row_acceleration(&x, i, m.state->a) + 2 * B * row_rate(&x, i, m.state->v) +
                 P * P * x.g[i];
      CHECK_NEAR(c, 0.0, 1e-9 * (largest_of(m.n.v, m.state->a) + 1.0));  // (A22)
    }
  }
  pawl_eval_destroy(eval);
  motion_end(&m);
}

static void test_baumgarte(void** unused) {
  (void)unused;
  check_baumgarte(motion_file("pendulum", NULL), 20.0, 0.0, 2e-3);
  check_baumgarte(motion_file("pendulum", NULL), 20.0, 70.0, 2e-3);
  check_baumgarte(motion_text(BREATHING), 5.0, 0.0, 1e-2);
  check_baumgarte(motion_text(BREATHING), 5.0, 2.0, 1e-2);
}

// It keeps ga-a near the constraint, at the same order, and its tangent is exact: the steps take no
// more iterations than those without.
static void test_baumgarte_holds(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  double drift[3];
  long long iterations[3];
  for (int k = 0; k < 3; k++) {
    m.def.baumgarte = k > 0 ? 50.0 : 0.0;
    m.def.baumgarte_position = k == 2 ? 80.0 : 0.0;
    motion_run(&m, "ga-a", 4.0, 2000, &drift[k]);
    iterations[k] = pawl_stepper_info(m.stepper).newton_iterations;
  }
  assert_true(drift[1] < 0.05 * drift[0]);
  assert_true(drift[2] < 0.6 * drift[1]);
  assert_true((double)iterations[1] < 1.1 * (double)iterations[0]);
  assert_true((double)iterations[2] < 1.1 * (double)iterations[0]);
  check_order(&m, "ga-a", 2.0, 0.15, 2e-3, 3, PENDULUM);
  motion_end(&m);
}

// ---- classical stabilisation --------------------------------------------------------------------
// What is left of (A1) is U = G(q_n)^T nu, with nu as the state keeps it.
static void check_classical_step(Motion* m, PawlEval* eval, double h) {
  Begin b = begin_of(m);
  Sight before = sight_of_state(m, eval);
  PawlCorrections c;
  motion_step(m, h);
  assert_true(pawl_stepper_corrections(m->stepper, m->state, &c));
  Smooth s = smooth_of(m, &b, alpha_of(m->def.rho), h);
  Sight x = sight_of_state(m, eval);
  for (int j = 0; j < m->n.v; j++) {
    double U = 0.0;
    for (int i = 0; i < m->n.rows; i++) {
      U += before.G[i][j] * c.nu[i];  // (N25)
    }
    CHECK_NEAR(m->state->q[j] - s.q[j], U, 1e-13);
    CHECK_NEAR(m->state->v[j], s.v[j], 1e-12 * (largest_of(m->n.v, m->state->v) + 1.0));
  }
  check_dynamics(&x, m->state->a, m->state->lambda, 1e-10);
  CHECK_NEAR(level_residual(&x, m->state->v, m->state->a, 0), 0.0, 1e-10);
  CHECK_NEAR(level_residual(&x, m->state->v, m->state->a, 1), 0.0, 1e-9);
}

static void test_classical(void** unused) {
  (void)unused;
  Motion motions[] = {motion_file("pendulum", NULL), motion_text(BREATHING)};
  for (int k = 0; k < 2; k++) {
    Motion* m = &motions[k];
    PawlEval* eval = sight_eval(m);
    m->def.stabilise = "classical";
    motion_start(m, "ga-pv");
    for (int step = 0; step < 50; step++) {
      check_classical_step(m, eval, 2e-3);
    }
    pawl_eval_destroy(eval);
  }
  check_order(&motions[0], "ga-pv", 2.0, 0.1, 2e-3, 3, PENDULUM);
  motion_end(&motions[0]);
  motion_end(&motions[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_coefficients),
      cmocka_unit_test(test_spectral_radius),
      cmocka_unit_test(test_orders),
      cmocka_unit_test(test_hht_needs_rho),
      cmocka_unit_test(test_first_acceleration),
      cmocka_unit_test(test_saw),
      cmocka_unit_test(test_first_step_of_another_size),
      cmocka_unit_test(test_baumgarte),
      cmocka_unit_test(test_baumgarte_holds),
      cmocka_unit_test(test_classical),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
