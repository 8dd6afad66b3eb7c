// SPDX-License-Identifier: Apache-2.0
// dopri: exact where order five says so, one step of its own by hand, errors that follow the
// tolerances on references and in every form, energy, what it carries from step to step, and steps
// that collapse.
#include "step/motion.h"

static const char* const FORMS[] = {"index-1", "projected", "minimal"};
enum { FORM_COUNT = 3 };

static const char POINT_PENDULUM[] =
    "model: point\ncoordinates: {x: {start: 0.6, rate: 6.4}, y: {start: -0.8, rate: 4.8}}\n"
    "mass: {x: 1, y: 1}\npotential: 10*y\nconstraints: {rod: x^2 + y^2 = 1}\n";

static void tolerate(Motion* m, double rtol, double atol) {
  m->def.rtol = rtol;
  m->def.atol = atol;
}

// ---- by hand ------------------------------------------------------------------------------------
// x'' = 20 t^3 gives x' = 5 t^4, x = t^5: the weights of order 5 and 4 both integrate t^3 exactly,
// so the error is 0 and steps are as long as they may be.
static void test_quintic_is_exact(void** unused) {
  (void)unused;
  Motion m =
      motion_text("model: quintic\ncoordinates: {x: {}}\nmass: {x: 2}\nforces: {x: 40*t^3}\n");
  tolerate(&m, 1e-12, 1e-12);
  motion_start(&m, "dopri");
  for (int k = 1; k <= 4; k++) {
    motion_step(&m, 0.5);
    double t = 0.5 * k;
    assert_true(m.state->t == t);
    CHECK_NEAR(m.state->q[0], pow(t, 5), 1e-13);
    CHECK_NEAR(m.state->v[0], 5 * pow(t, 4), 1e-13);
    CHECK_NEAR(m.state->a[0], 20 * pow(t, 3), 1e-13);
  }
  motion_end(&m);
}

// x'' = -4 x from x = 1 at rest, in a single step: with u = 2 h and the tolerances out of the way
// it multiplies by 1 + z + z^2/2 + z^3/6 + z^4/24 + z^5/120 + z^6/600, z = i u.
static void test_oscillator_by_hand(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: oscillator\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\npotential: 2*x^2\n");
  tolerate(&m, 1.0, 1e9);
  motion_start(&m, "dopri");
  m.state->memory[m.n.rows] = 1.0;  // no guess of the first step
  long long before = pawl_stepper_info(m.stepper).evaluations;
  motion_step(&m, 0.25);  // u = 1/2
  assert_int_equal(pawl_stepper_info(m.stepper).evaluations - before, 6);
  double u = 0.5, u2 = u * u;
  CHECK_NEAR(m.state->q[0], 1 - u2 / 2 + u2 * u2 / 24 - u2 * u2 * u2 / 600, 4e-16);
  CHECK_NEAR(m.state->v[0], -2 * (u - u * u2 / 6 + u * u2 * u2 / 120), 4e-16);
  CHECK_NEAR(m.state->a[0], -4 * m.state->q[0], 1e-15);
  motion_end(&m);
}

// ---- tolerances ---------------------------------------------------------------------------------
// Errors at the references stay within a small multiple of the tolerance, and the work grows about
// as its fifth root.
static void check_tolerances(Motion* m, int count, const Reference* references, double multiple,
                             double floor) {
  double last_work = 0.0;
  for (int digits = 6; digits <= 12; digits++) {
    double rtol = pow(10.0, -digits);
    tolerate(m, rtol, rtol);
    Errors e = errors_of(m, "dopri", references[0].t, count, references);
    double work = (double)pawl_stepper_info(m->stepper).evaluations;
    if (!(fmax(e.q, e.v) <= multiple * rtol + floor)) {
      fail_msg("%s, rtol = %g: errors %g and %g", m->def.form, rtol, e.q, e.v);
    }
    if (digits > 6) {
      assert_true(work < 2.2 * last_work + 40 && work > 1.1 * last_work);
    }
    last_work = work;
  }
}

static void test_pendulum(void** unused) {
  (void)unused;
  for (int form = 0; form < FORM_COUNT; form++) {
    Motion m = motion_file("pendulum", NULL);
    m.def.form = FORMS[form];
    check_tolerances(&m, 3, PENDULUM, 1000.0, 1e-11);
    motion_end(&m);
  }
}

static void test_3r(void** unused) {
  (void)unused;
  Motion m = motion_file("planar-3r", "phi0=-pi/2");
  check_tolerances(&m, 2, THREE_R_HANGING, 300.0, 1e-11);
  motion_end(&m);
}

static void test_two_mass(void** unused) {
  (void)unused;
  for (int form = 0; form < FORM_COUNT; form++) {
    Motion m = motion_file("two-mass-coupled", NULL);
    m.def.form = FORMS[form];
    Reference references[] = {two_mass_coupled(5.0), two_mass_coupled(20.0)};
    check_tolerances(&m, 2, references, 100.0, 1e-12);
    motion_end(&m);
  }
}

static void test_energy(void** unused) {
  (void)unused;
  for (int form = 0; form < FORM_COUNT; form++) {
    for (int digits = 6; digits <= 12; digits += 2) {
      Motion m = motion_text(POINT_PENDULUM);
      m.def.form = FORMS[form];
      double rtol = pow(10.0, -digits), drift;
      tolerate(&m, rtol, rtol);
      motion_run(&m, "dopri", 10.0, 100, &drift);
      const double *q = m.state->q, *v = m.state->v;
      double lost = fabs(0.5 * (v[0] * v[0] + v[1] * v[1]) + 10 * q[1] - 24.0);
      assert_true(lost < 5e4 * rtol);  // 10 s, some 13 turns, energy of 40 J
      assert_true(form < 2 || drift < 1e-14);
      motion_end(&m);
    }
  }
}

// One call or a thousand: the same motion within the tolerance, and few steps in one call.
static void test_one_call_or_many(void** unused) {
  (void)unused;
  long long work[2];
  for (int k = 0; k < 2; k++) {
    Motion m = motion_file("pendulum", NULL);
    tolerate(&m, 1e-9, 1e-9);
    motion_run(&m, "dopri", 1.0, k ? 1000 : 1, NULL);
    Errors e = error_at(&m, &PENDULUM[2]);
    assert_true(e.q < 1e-7 && e.v < 1e-6);
    work[k] = pawl_stepper_info(m.stepper).evaluations;
    motion_end(&m);
  }
  assert_true(work[0] < 1500 && work[1] >= 6000);
}

// Very different scales: a slow start, and a kick of 1e-3 s that comes late is not stepped over as
// long as the calls are shorter than it; steps grow again afterwards.
static void test_steps_follow_the_motion(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: kick\ncoordinates: {x: {}}\nmass: {x: 1}\n"
      "forces: {x: 1000*exp(-((t - 0.5)/0.001)^2)}\n");
  tolerate(&m, 1e-10, 1e-12);
  motion_start(&m, "dopri");
  double least = INFINITY, h;
  for (int k = 0; k < 2000; k++) {
    motion_step(&m, 5e-4);
    h = m.state->memory[m.n.rows];
    least = fmin(least, h);
  }
  CHECK_NEAR(m.state->v[0], sqrt(acos(-1.0)), 1e-9);
  assert_true(least < 2e-4 && h > 4e-3);
  motion_end(&m);
}

// ---- what is carried ----------------------------------------------------------------------------
// All is in the state: another stepper that is given it goes on with the same bits.
static void test_same_bits(void** unused) {
  (void)unused;
  for (int form = 0; form < FORM_COUNT; form++) {
    double first[MOTION_MOST], second[MOTION_MOST];
    Motion a = motion_text(POINT_PENDULUM), b = motion_text(POINT_PENDULUM);
    a.def.form = b.def.form = FORMS[form];
    motion_run(&a, "dopri", 1.015, 29, NULL);
    motion_start(&b, "dopri");
    b.state->t = a.state->t;
    b.state->step = a.state->step;
    memcpy(b.state->q, a.state->q, 2 * sizeof(double));
    memcpy(b.state->v, a.state->v, 2 * sizeof(double));
    memcpy(b.state->a, a.state->a, 2 * sizeof(double));
    memcpy(b.state->lambda, a.state->lambda, sizeof(double));
    memcpy(b.state->memory, a.state->memory, (size_t)a.state->memory_count * sizeof(double));
    for (int k = 0; k < 50; k++) {
      motion_step(&a, 0.037);
      motion_step(&b, 0.037);
    }
    int count = state_numbers(&a, first);
    assert_int_equal(state_numbers(&b, second), count);
    assert_memory_equal(first, second, (size_t)count * sizeof(double));
    motion_end(&a);
    motion_end(&b);
  }
}

// A call that is shorter than a step does not spoil the step size; one that is far too large is put
// right in a few tries.
static void test_step_size(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  motion_start(&m, "dopri");
  motion_step(&m, 0.1);
  const double* h = m.state->memory + m.n.rows;
  double usual = *h;
  motion_step(&m, 1e-6);
  assert_true(*h >= usual);
  long long before = pawl_stepper_info(m.stepper).evaluations;
  motion_step(&m, 0.1);
  long long work = pawl_stepper_info(m.stepper).evaluations - before;
  m.state->memory[m.n.rows] = 50 * usual;
  before = pawl_stepper_info(m.stepper).evaluations;
  motion_step(&m, 0.1);
  assert_true(pawl_stepper_info(m.stepper).evaluations - before <= work + 40);
  motion_end(&m);
}

// A start forgets the step size.
static void test_start_forgets(void** unused) {
  (void)unused;
  Motion m = motion_text(POINT_PENDULUM);
  m.def.form = "minimal";
  motion_start(&m, "dopri");
  motion_step(&m, 0.1);
  assert_true(m.state->memory[0] > 0.0 && m.state->memory[1] > 0.0);
  NEED(pawl_stepper_start(m.stepper, m.state, false, &m.err), &m.err);
  assert_true(m.state->memory[0] == 0.0 && m.state->memory[1] == 0.0);
  motion_end(&m);
}

// a and lambda belong to q and v (index-1 equations by hand, as in test_rk4.c).
static void test_equations(void** unused) {
  (void)unused;
  for (int form = 0; form < FORM_COUNT; form++) {
    Motion m = motion_text(POINT_PENDULUM);
    m.def.form = FORMS[form];
    motion_start(&m, "dopri");
    for (int k = 0; k < 100; k++) {
      motion_step(&m, 0.02);
      const double *q = m.state->q, *v = m.state->v;
      double square = q[0] * q[0] + q[1] * q[1], speed = v[0] * v[0] + v[1] * v[1];
      double lambda = (-speed + 10 * q[1]) / (2 * square);
      CHECK_NEAR(m.state->lambda[0], lambda, 1e-12);
      CHECK_NEAR(m.state->a[0], 2 * q[0] * lambda, 1e-11);
      CHECK_NEAR(m.state->a[1], -10 + 2 * q[1] * lambda, 1e-11);
    }
    motion_end(&m);
  }
}

static void test_step_allocates_nothing(void** unused) {
  (void)unused;
  for (int form = 0; form < FORM_COUNT; form++) {
    Motion m = motion_text(POINT_PENDULUM);
    m.def.form = FORMS[form];
    motion_start(&m, "dopri");
    long long before = pawl_alloc_count();
    for (int k = 0; k < 50; k++) {
      motion_step(&m, 0.02);
    }
    assert_int_equal(pawl_alloc_count(), before);
    motion_end(&m);
  }
}

// ---- failures -----------------------------------------------------------------------------------
static void check_refused(Motion* m, double h, const char* words) {
  double before[MOTION_MOST], after[MOTION_MOST];
  int count = state_numbers(m, before);
  assert_int_equal(pawl_stepper_step(m->stepper, m->state, h, &m->err), PAWL_RETRY);
  assert_int_equal(m->err.status, PAWL_RETRY);
  if (!strstr(m->err.message, words)) {
    fail_msg("'%s' is not in: %s", words, m->err.message);
  }
  assert_int_equal(state_numbers(m, after), count);
  assert_memory_equal(before, after, (size_t)count * sizeof(double));
}

// x'' = x'^2 from x' = 1 is 1/(1 - t): there is nothing at t = 1 to go on from.
static void test_pole(void** unused) {
  (void)unused;
  Motion m =
      motion_text("model: pole\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\nforces: {x: x'^2}\n");
  tolerate(&m, 1e-9, 1e-9);
  motion_start(&m, "dopri");
  motion_step(&m, 0.5);
  CHECK_NEAR(m.state->v[0], 2.0, 1e-7);
  check_refused(&m, 1.0, "t = 0.99999");
  motion_step(&m, 0.25);
  CHECK_NEAR(m.state->v[0], 4.0, 1e-6);
  motion_end(&m);
}

// A force that jumps by 1e11 cannot be passed within 1e-9; with == its time is not located.
static void test_collapse(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: blow\ncoordinates: {x: {}}\nmass: {x: 1}\n"
      "forces: {x: \"if((t < 1/3) == 1, 0, 1e11)\"}\n");
  tolerate(&m, 1e-9, 1e-9);
  motion_start(&m, "dopri");
  check_refused(&m, 1.0, "t = 0.3333333333: ");
  assert_non_null(strstr(m.err.message, "rtol = 1e-09"));
  motion_step(&m, 0.25);
  assert_true(m.state->v[0] == 0.0);
  motion_end(&m);
}

// A jump of the force in the middle of a call costs steps, and is passed.
static void test_jump_is_passed(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: step\ncoordinates: {x: {}}\nmass: {x: 1}\nforces: {x: \"if(t < 1/3, 0, 1)\"}\n");
  tolerate(&m, 1e-8, 1e-10);
  motion_start(&m, "dopri");
  motion_step(&m, 1.0);
  CHECK_NEAR(m.state->v[0], 2.0 / 3, 1e-7);
  motion_end(&m);
}

// What a stage meets is reported: the root of a negative number, by line, and near which time.
static void test_outside_a_domain(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: well\ncoordinates: {depth: {start: 1, rate: -10}}\n"
      "mass: {depth: 1}\npotential: sqrt(depth)\n");
  motion_start(&m, "dopri");
  check_refused(&m, 0.5, "test:4");
  assert_non_null(strstr(m.err.message, "t = 0."));
  motion_step(&m, 0.01);
  motion_end(&m);
}

static void test_unknown_form(void** unused) {
  (void)unused;
  Motion m = motion_text(POINT_PENDULUM);
  m.def.form = "maximal";
  m.def.method = "dopri";
  assert_int_equal(pawl_stepper_create(m.system, &m.def, &m.stepper, &m.err), PAWL_ERROR_USAGE);
  assert_non_null(strstr(m.err.message, "index-1, projected or minimal"));
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quintic_is_exact),
      cmocka_unit_test(test_oscillator_by_hand),
      cmocka_unit_test(test_pendulum),
      cmocka_unit_test(test_3r),
      cmocka_unit_test(test_two_mass),
      cmocka_unit_test(test_energy),
      cmocka_unit_test(test_one_call_or_many),
      cmocka_unit_test(test_steps_follow_the_motion),
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_step_size),
      cmocka_unit_test(test_start_forgets),
      cmocka_unit_test(test_equations),
      cmocka_unit_test(test_step_allocates_nothing),
      cmocka_unit_test(test_pole),
      cmocka_unit_test(test_collapse),
      cmocka_unit_test(test_jump_is_passed),
      cmocka_unit_test(test_outside_a_domain),
      cmocka_unit_test(test_unknown_form),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
