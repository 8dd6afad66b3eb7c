// SPDX-License-Identifier: Apache-2.0
// rk4: one step by hand, the stages of docs/theory/rk4.md recomputed, order four, agreement with
// closed forms and references, the invariants of a step, and its failures.
#include "step/method.h"
#include "step/motion.h"

// ---- by hand ------------------------------------------------------------------------------------
// A polynomial of degree 4 in t is integrated exactly: x'' = 12 t^2 gives x = t^4, x' = 4 t^3.
static void test_quartic_is_exact(void** unused) {
  (void)unused;
  Motion m =
      motion_text("model: quartic\ncoordinates: {x: {}}\nmass: {x: 2}\nforces: {x: 24*t^2}\n");
  motion_start(&m, "rk4");
  for (int k = 1; k <= 8; k++) {
    motion_step(&m, 0.25);
    double t = 0.25 * k;
    CHECK_NEAR(m.state->q[0], t * t * t * t, 1e-14);  // rounding
    CHECK_NEAR(m.state->v[0], 4 * t * t * t, 2e-14);
    CHECK_NEAR(m.state->a[0], 12 * t * t, 1e-13);
  }
  motion_end(&m);
}

// x'' = -4 x from x = 1 at rest: a step of h multiplies by the series of the exponential to the
// fourth power. With u = 2 h: x = 1 - u^2/2 + u^4/24, x' = -2 (u - u^3/6).
static void test_oscillator_by_hand(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: oscillator\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\npotential: 2*x^2\n");
  motion_start(&m, "rk4");
  motion_step(&m, 0.25);  // u = 1/2
  assert_true(m.state->t == 0.25 && m.state->step == 1);
  CHECK_NEAR(m.state->q[0], 1 - 1.0 / 8 + 1.0 / 384, 3e-16);
  CHECK_NEAR(m.state->v[0], -2 * (1.0 / 2 - 1.0 / 48), 3e-16);
  CHECK_NEAR(m.state->a[0], -4 * (1 - 1.0 / 8 + 1.0 / 384), 2e-15);
  motion_end(&m);
}

// ---- the defining equations ---------------------------------------------------------------------
// q, v and the right side of the index-1 equations of a pendulum in x, y: M = 1, f = (0, -10),
// g = x^2 + y^2 - 1, so that v' = f + 2 (x, y) lambda with (x, y) . v' = -|v|^2.
static const char POINT_PENDULUM[] =
    "model: point\ncoordinates: {x: {start: 0.6, rate: -1.6}, y: {start: -0.8, rate: -1.2}}\n"
    "mass: {x: 1, y: 1}\npotential: 10*y\nconstraints: {rod: x^2 + y^2 = 1}\n";

static double right_side(const double* z, double* rate) {
  double x = z[0], y = z[1], u = z[2], w = z[3];
  double lambda = (-(u * u + w * w) + 10 * y) / (2 * (x * x + y * y));  // (R1)
  rate[0] = u;
  rate[1] = w;
  rate[2] = 2 * x * lambda;
  rate[3] = -10 + 2 * y * lambda;
  return lambda;
}

// M = 1: the nearest point on the circle, and v without its radial part. (E10), (E12)
static void onto_circle(double* z) {
  double size = hypot(z[0], z[1]), radial = (z[0] * z[2] + z[1] * z[3]) / (size * size);
  for (int j = 0; j < 2; j++) {
    z[2 + j] -= radial * z[j];
    z[j] /= size;
  }
}

static void test_stages(void** unused) {
  (void)unused;
  Motion m = motion_text(POINT_PENDULUM);
  motion_start(&m, "rk4");
  double z[4] = {0.6, -0.8, -1.6, -1.2}, h = 0.01;
  for (int k = 0; k < 20; k++) {
    double r[4][4], stage[4];
    static const double c[4] = {0, 0.5, 0.5, 1}, b[4] = {1, 2, 2, 1};
    for (int i = 0; i < 4; i++) {  // (R2)
      for (int j = 0; j < 4; j++) {
        stage[j] = z[j] + (i ? h * c[i] * r[i - 1][j] : 0.0);
      }
      right_side(stage, r[i]);
    }
    for (int j = 0; j < 4; j++) {
      z[j] += h / 6 * (b[0] * r[0][j] + b[1] * r[1][j] + b[2] * r[2][j] + b[3] * r[3][j]);
    }
    onto_circle(z);
    motion_step(&m, h);
    double rate[4], lambda = right_side(z, rate);
    for (int j = 0; j < 2; j++) {  // the direction of the projection is that of the last stage
      CHECK_NEAR(m.state->q[j], z[j], 1e-13);
      CHECK_NEAR(m.state->v[j], z[2 + j], 1e-12);
      CHECK_NEAR(m.state->a[j], rate[2 + j], 5e-12);
    }
    CHECK_NEAR(m.state->lambda[0], lambda, 5e-12);
  }
  motion_end(&m);
}

// ---- order --------------------------------------------------------------------------------------
enum { ORDER_TIMES = 40 };

static void check_order_of_two_mass(const char* name, Reference (*closed_form)(double)) {
  Motion m = motion_file(name, NULL);
  Reference references[ORDER_TIMES];
  for (int k = 0; k < ORDER_TIMES; k++) {
    references[k] = closed_form(0.5 * (k + 1));
  }
  check_order(&m, "rk4", 4.0, 0.2, 0.1, ORDER_TIMES, references);
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
  check_order(&m, "rk4", 4.0, 0.2, 2.5e-3, 3, PENDULUM);
  motion_end(&m);
}

static void test_order_of_3r(void** unused) {
  (void)unused;
  Motion m = motion_file("planar-3r", NULL);
  check_order(&m, "rk4", 4.0, 0.2, 2e-3, 2, THREE_R_HORIZONTAL);
  motion_end(&m);
}

// Time in the constraint, in the force and in the mass; the path is x = sin(2 t), and y is alone.
static void test_order_with_time(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: driven\ncoordinates: {x: {rate: 2}, y: {start: 1}}\n"
      "kinetic: x'^2 + (1 + t)/2*y'^2\nforces: {y: 1/4 - y/(4*(1 + t))}\n"
      "constraints: {drive: x = sin(2*t)}\n");
  // ((1 + t) y')' = 1/4 - y/(4 (1 + t)) is, with s = log(1 + t), an oscillator under a growing
  // load: y_ss + y/4 = (1 + t)/4, y = (1 + t)/5 + a cos(s/2) + b sin(s/2).
  double t = 1.0, s = log(1 + t), a = 0.8, b = -0.4;
  Reference reference = {t,
                         {sin(2 * t), (1 + t) / 5 + a * cos(s / 2) + b * sin(s / 2)},
                         {2 * cos(2 * t), 0.2 + (b * cos(s / 2) - a * sin(s / 2)) / (2 * (1 + t))}};
  check_order(&m, "rk4", 4.0, 0.2, 0.05, 1, &reference);
  motion_end(&m);
}

// ---- closed forms and references ----------------------------------------------------------------
// The step of the paper, h = 0.01: below 1e-6 at t = 20, as its authors ask of their own scheme.
static void test_two_mass_at_20(void** unused) {
  (void)unused;
  const struct {
    const char* name;
    Reference (*closed_form)(double);
  } cases[] = {{"two-mass-free", two_mass_free}, {"two-mass-coupled", two_mass_coupled}};
  for (int k = 0; k < 2; k++) {
    Motion m = motion_file(cases[k].name, NULL);
    motion_run(&m, "rk4", 20.0, 2000, NULL);
    Reference reference = cases[k].closed_form(20.0);
    Errors e = error_at(&m, &reference);
    assert_true(e.q < 1e-6 && e.v < 1e-6);
    motion_end(&m);
  }
}

// lambda = k1 s1 + m1 s1'' is the force on mass 1.
static void test_multiplier_of_two_mass(void** unused) {
  (void)unused;
  Motion m = motion_file("two-mass-coupled", NULL);
  motion_start(&m, "rk4");
  CHECK_NEAR(m.state->lambda[0], 5.0 / 11, 1e-15);
  motion_run(&m, "rk4", 20.0, 2000, NULL);
  CHECK_NEAR(m.state->lambda[0], 1.9157599399886878, 1e-6);  // 40 digits, closed form
  motion_end(&m);
}

static void test_3r_at_its_first_lock(void** unused) {
  (void)unused;
  const struct {
    const char* override;
    const Reference* references;
  } cases[] = {{"phi0=0", THREE_R_HORIZONTAL}, {"phi0=-pi/2", THREE_R_HANGING}};
  for (int k = 0; k < 2; k++) {
    Motion m = motion_file("planar-3r", cases[k].override);
    Errors e = errors_of(&m, "rk4", 1e-4, 2, cases[k].references);
    assert_true(e.q < 1e-9);
    motion_end(&m);
  }
}

// ---- invariants ---------------------------------------------------------------------------------
// The end of every step is on the constraints, at coarse steps too; positions and velocities.
static void test_constraints_hold(void** unused) {
  (void)unused;
  static const char* const forms[] = {"index-1", "projected"};
  Motion m = motion_file("pendulum", NULL);
  for (int k = 0; k < 4; k++) {
    double drift;
    m.def.form = forms[k / 2];
    motion_run(&m, "rk4", 5.0, k % 2 ? 2500 : 250, &drift);
    assert_true(drift < 5e-13);  // rounding of angles up to 60
    const double *q = m.state->q, *v = m.state->v;
    CHECK_NEAR(hypot(q[0], q[1]), 1.0, 5e-13);
    CHECK_NEAR(q[0] * v[0] + q[1] * v[1], 0.0,
               2e-11);  // 1e-11 with the small step: what is below 1e-10 is corrected once
  }
  motion_end(&m);
}

static void test_step_allocates_nothing(void** unused) {
  (void)unused;
  const char* const overrides[] = {"N=4", "N=60"};  // dense, and sparse
  for (int k = 0; k < 2; k++) {
    Motion m = motion_file("chain", overrides[k]);
    motion_start(&m, "rk4");
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
  Motion a = motion_file("planar-3r", NULL), b = motion_file("planar-3r", NULL);
  motion_run(&a, "rk4", 0.8, 800, NULL);
  motion_run(&b, "rk4", 0.8, 800, NULL);
  int count = state_numbers(&a, first);
  assert_int_equal(state_numbers(&b, second), count);
  assert_memory_equal(first, second, (size_t)count * sizeof(double));
  motion_end(&a);
  motion_end(&b);
}

// ---- failures -----------------------------------------------------------------------------------
static void check_refused(Motion* m, double h, const char* words) {
  double before[MOTION_MOST], after[MOTION_MOST];
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

static void test_outside_a_domain(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: well\ncoordinates: {depth: {start: 1, rate: -10}}\n"
      "mass: {depth: 1}\npotential: sqrt(depth)\n");
  motion_start(&m, "rk4");
  check_refused(&m, 0.5, "test:4");  // the line of the potential
  assert_non_null(strstr(m.err.message, "t = 0."));
  motion_step(&m, 0.01);
  motion_end(&m);
}

// The mass runs out at t = 1/2, where a stage of a step of 1 falls.
static void test_mass_runs_out(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: rocket\ncoordinates: {pad: {}, height: {}}\n"
      "kinetic: pad'^2/2 + (1 - 2*t)/2*height'^2\npotential: -height\n");
  motion_start(&m, "rk4");
  check_refused(&m, 1.0, "t = 0.5: the mass matrix is singular at coordinate 'height'");
  motion_end(&m);
}

// What the projection of a step moves is guessed from the last: the constraints of a pendulum that
// turns over hold to rounding with the four evaluations of the stages, after a few steps that have
// one more, and the guess leaves nothing behind in the energy.
static void test_projection_is_guessed(void** unused) {
  (void)unused;
  enum { STEPS = 1000, AT_FIRST = 5 };
  Motion m = motion_file("pendulum", NULL);
  motion_start(&m, "rk4");
  PawlEval* eval;
  NEED(pawl_eval_create(m.system, PAWL_ENERGY | PAWL_POSITION, &eval, &m.err), &m.err);
  double energy[2], off = 0.0;
  long long before = pawl_stepper_info(m.stepper).evaluations;
  for (int k = 0; k <= STEPS; k++) {
    PawlPoint point = {m.state->t,      m.state->q,     m.state->v,   m.state->a,
                       m.state->lambda, m.state->modes, m.state->held};
    NEED(pawl_eval_run(eval, &point, &m.err), &m.err);
    const PawlValues* values = pawl_eval_values(eval);
    energy[k > 0] = values->energy[0] + values->energy[1];
    off = fmax(off, fmax(fabs(values->g[0]), fabs(values->g[1])));
    if (k < STEPS) {
      motion_step(&m, m.def.step);
    }
  }
  assert_in_range(pawl_stepper_info(m.stepper).evaluations - before, 4 * STEPS,
                  4 * STEPS + AT_FIRST);
  assert_true(off < 1e-14);
  assert_true(fabs(energy[1] - energy[0]) < 1e-8);  // of 60 J; with the guess itself 1e-4
  pawl_eval_destroy(eval);
  motion_end(&m);
}

// ---- small systems ------------------------------------------------------------------------------
// Steps of small systems have ways of their own through the stages and to the rows at the end; with
// no machine code for the linear system the general ones are taken. Both have the same bits and do
// the same work, also where steps are so long that much is off at their end.
static void check_small_way(const char* model, const char* method, double h, double until) {
  Motion m = motion_file(model, NULL), other = motion_file(model, NULL);
  m.def.step = other.def.step = h;
  motion_start(&m, method);
  motion_start(&other, method);
  pawl_kkt_line_stop(other.stepper->kkt);
  while (m.state->t < until) {
    motion_step(&m, h);
    motion_step(&other, h);
    assert_memory_equal(m.state->q, other.state->q, (size_t)m.n.q * sizeof(double));
    assert_memory_equal(m.state->v, other.state->v, (size_t)m.n.v * sizeof(double));
    assert_memory_equal(m.state->a, other.state->a, (size_t)m.n.v * sizeof(double));
    assert_memory_equal(m.state->lambda, other.state->lambda, (size_t)m.n.rows * sizeof(double));
  }
  PawlStepperInfo a = pawl_stepper_info(m.stepper), b = pawl_stepper_info(other.stepper);
  PawlKktInfo k = pawl_kkt_info(m.stepper->kkt), l = pawl_kkt_info(other.stepper->kkt);
  assert_int_equal(a.evaluations, b.evaluations);
  assert_int_equal(a.factorizations, b.factorizations);
  assert_int_equal(k.factorizations, l.factorizations);
  assert_int_equal(k.solves, l.solves);
  assert_int_equal(l.by_code, 0);
  motion_end(&m);
  motion_end(&other);
}

static void test_small_way(void** unused) {
  (void)unused;
  check_small_way("pendulum", "rk4", 1e-3, 2.0);
  check_small_way("pendulum", "rk4", 0.05, 20.0);
  check_small_way("four-bar", "rk4", 1e-3, 1.0);
  check_small_way("four-bar", "rk4", 0.02, 4.0);
  check_small_way("planar-3r-lock", "rk4", 1e-3, 2.0);
  check_small_way("robot-6r-brake", "rk4", 1e-3, 1.5);
  check_small_way("pothole-wheel", "event-driven", 1e-3, 4.0);
  check_small_way("cam-follower", "event-driven", 1e-3, 2.0);
  check_small_way("kinked-track", "event-driven", 1e-3, 3.0);
  check_small_way("bouncing-ball", "event-driven", 1e-3, 3.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quartic_is_exact),
      cmocka_unit_test(test_oscillator_by_hand),
      cmocka_unit_test(test_stages),
      cmocka_unit_test(test_order_of_two_mass),
      cmocka_unit_test(test_order_of_pendulum),
      cmocka_unit_test(test_order_of_3r),
      cmocka_unit_test(test_order_with_time),
      cmocka_unit_test(test_two_mass_at_20),
      cmocka_unit_test(test_multiplier_of_two_mass),
      cmocka_unit_test(test_3r_at_its_first_lock),
      cmocka_unit_test(test_constraints_hold),
      cmocka_unit_test(test_step_allocates_nothing),
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_outside_a_domain),
      cmocka_unit_test(test_mass_runs_out),
      cmocka_unit_test(test_projection_is_guessed),
      cmocka_unit_test(test_small_way),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
