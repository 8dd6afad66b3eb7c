// SPDX-License-Identifier: Apache-2.0
// taylor and exponential: closed forms, the order of the series, constant parts, rows that move,
// rows that repeat others, damping, coordinates without mass, the equations of motion recomputed at
// the end of steps, coefficients that depend on time, what is kept between steps, switches between
// linear modes, and which systems are linear.
#include <complex.h>

#include "step/method.h"
#include "step/motion.h"
#include "system/linear.h"

static void take_steps(Motion* m, double h, int count) {
  for (int k = 0; k < count; k++) {
    motion_step(m, h);
  }
}

// ---- the two masses -----------------------------------------------------------------------------
typedef struct TwoMass {
  const char* name;
  Reference (*closed_form)(double);
} TwoMass;
static const TwoMass TWO_MASS[] = {{"two-mass-free", two_mass_free},
                                   {"two-mass-coupled", two_mass_coupled}};

// Accelerations of (48) and (50), and the force that couples: m1 s1'' = -k1 s1 + lambda.
static void check_reactions(const Motion* m, int which, const Reference* r, double tolerance) {
  if (which == 0) {
    CHECK_NEAR(m->state->a[0], -r->q[0], tolerance);
    CHECK_NEAR(m->state->a[1], -5 * r->q[1], tolerance);
    return;
  }
  double a = -15.0 / 11.0 * (r->q[0] - 1.0 / 6);
  CHECK_NEAR(m->state->a[0], a, tolerance);
  CHECK_NEAR(m->state->a[1], a, tolerance);
  CHECK_NEAR(m->state->lambda[0], 10 * a + 10 * r->q[0], 10 * tolerance);
}

// Largest errors on the way to t = 20 with h = 0.01.
static double error_of_two_mass(int which, const char* method, double reactions) {
  double most = 0.0;
  Motion m = motion_file(TWO_MASS[which].name, NULL);
  motion_start(&m, method);
  for (int k = 1; k <= 2000; k++) {
    motion_step(&m, 0.01);
    Reference r = TWO_MASS[which].closed_form(0.01 * k);
    Errors e = error_at(&m, &r);
    most = fmax(most, fmax(e.q, e.v));
    check_reactions(&m, which, &r, reactions);
  }
  motion_end(&m);
  return most;
}

static void test_two_mass_exponential(void** unused) {
  (void)unused;
  assert_true(error_of_two_mass(0, "exponential", 1e-12) < 1e-12);
  assert_true(error_of_two_mass(1, "exponential", 1e-12) < 1e-12);
}

// The paper's p = 4 and tau = 0.01. The series is off by (w tau)^5/120 in each step, which in v at
// t = 20 makes 9e-8 free (w = sqrt(5), amplitude 1) and 1.4e-9 coupled.
static void test_two_mass_taylor(void** unused) {
  (void)unused;
  assert_true(error_of_two_mass(0, "taylor", 1e-6) < 1.0e-7);
  assert_true(error_of_two_mass(1, "taylor", 1e-8) < 2.0e-9);
}

// What the series of degree p makes of e^(i w t) in k steps is its k-th power, known in closed
// form.
static void test_taylor_is_the_series(void** unused) {
  (void)unused;
  for (int p = 1; p <= 8; p++) {
    Motion m = motion_file("two-mass-free", NULL);
    double h = 0.05, w = sqrt(5.0);
    m.def.order = p;
    motion_start(&m, "taylor");
    double complex slow = 1, fast = 1, term_slow = 1, term_fast = 1, s = 0.5, f = 1;
    for (int j = 1; j <= p; j++) {
      term_slow *= I * h / j;
      term_fast *= I * w * h / j;
      slow += term_slow;
      fast += term_fast;
    }
    for (int k = 0; k < 100; k++) {
      motion_step(&m, h);
      s *= slow;
      f *= fast;
      CHECK_NEAR(m.state->q[0], creal(s), 1e-12);  // 0.5 cos t
      CHECK_NEAR(m.state->v[0], -cimag(s), 1e-12);
      CHECK_NEAR(m.state->q[1], cimag(f) / w, 1e-12);  // sin(w t)/w
      CHECK_NEAR(m.state->v[1], creal(f), 1e-12);
    }
    motion_end(&m);
  }
}

static void test_order_of_taylor(void** unused) {
  (void)unused;
  for (int p = 1; p <= 8; p++) {
    Motion m = motion_file("two-mass-coupled", NULL);
    Reference references[10];
    for (int k = 0; k < 10; k++) {
      references[k] = two_mass_coupled(0.5 * (k + 1));
    }
    m.def.order = p;
    check_order(&m, "taylor", p, 0.25, p < 3 ? 1.0 / 64 : 0.25, 10, references);
    motion_end(&m);
  }
}

// Damped, as in section 4.4 of the paper: where the masses first have the same speed, from a closed
// form with 40 digits; reached by one long step and by many.
static void test_damped(void** unused) {
  (void)unused;
  static const char DAMPED[] =
      "model: damped\ncoordinates: {s1: {start: 0.5}, s2: {rate: 1}}\nmass: {s1: 10, s2: 1}\n"
      "potential: 5*s1^2 + 2.5*s2^2\ndissipation: 0.5*s1'^2 + 0.25*s2'^2\n";
  const double t = 1.7249164600844875;
  static const int counts[] = {1, 7, 1000};
  for (int k = 0; k < 3; k++) {
    Motion m = motion_text(DAMPED);
    motion_start(&m, "exponential");
    take_steps(&m, t / counts[k], counts[k]);
    CHECK_NEAR(m.state->q[0], -0.04673661114216628, 1e-13);
    CHECK_NEAR(m.state->q[1], -0.1864015988155819, 1e-13);
    CHECK_NEAR(m.state->v[0], -0.4539662263677736, 1e-13);
    CHECK_NEAR(m.state->v[1], -0.4539662263677736, 1e-13);
    CHECK_NEAR(m.state->a[0], 0.09213323377894364, 1e-13);
    CHECK_NEAR(m.state->a[1], 1.1589911072617962, 1e-12);
    motion_end(&m);
  }
}

// ---- constant parts -----------------------------------------------------------------------------
// A free fall beside a weight on a spring: x = 2 t - 5 t^2, and about its rest -10/k the spring
// swings as a cosine. The first has no frequency at all.
static void test_gravity(void** unused) {
  (void)unused;
  static const char* const methods[] = {"exponential", "taylor"};
  for (int k = 0; k < 2; k++) {
    Motion m = motion_text(
        "model: fall\ncoordinates: {x: {rate: 2}, y: {start: 1}}\nmass: {x: 3, y: 2}\n"
        "potential: 30*x + 20*y + 9*y^2\n");
    m.def.order = 12;
    motion_start(&m, methods[k]);
    double rest = -10.0 / 9.0;
    for (int i = 1; i <= 50; i++) {
      motion_step(&m, 0.1);
      double t = 0.1 * i;
      CHECK_NEAR(m.state->q[0], 2 * t - 5 * t * t, 1e-12);
      CHECK_NEAR(m.state->v[0], 2 - 10 * t, 1e-12);
      CHECK_NEAR(m.state->a[0], -10.0, 1e-14);
      CHECK_NEAR(m.state->q[1], rest + (1 - rest) * cos(3 * t), 1e-12);
      CHECK_NEAR(m.state->a[1], -9 * (1 - rest) * cos(3 * t), 1e-11);
    }
    motion_end(&m);
  }
}

// A spring of 1e9 N/m whose rest is far away: a large constant part costs no digits.
static void test_large_offset(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: far\ncoordinates: {x: {start: 1000.5}, y: {start: 1}}\nmass: {x: 1, y: 1}\n"
      "potential: 0.5e6*(x - 1000)^2 + 0.5*y^2\n");
  motion_start(&m, "exponential");
  take_steps(&m, 0.01, 100);
  CHECK_NEAR(m.state->q[0], 1000 + 0.5 * cos(1000.0), 1e-9);  // the phase is known to eps * 1000
  CHECK_NEAR(m.state->q[1], cos(1.0), 1e-13);
  motion_end(&m);
}

// A row that is moved with constant acceleration, x = 1.5 t^2, and a second mass that it drags by a
// spring: y'' = 4 (x - y), so y = 1.5 t^2 - 0.75 (1 - cos 2 t), from rest. The force on the row is
// lambda = 2 x'' + 4 (x - y).
static void test_moving_row(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: drag\ncoordinates: {x: {}, y: {}}\nmass: {x: 2, y: 1}\npotential: 2*(x - y)^2\n"
      "constraints: {drive: x = 1.5*t^2}\n");
  motion_start(&m, "exponential");
  for (int k = 1; k <= 40; k++) {
    motion_step(&m, 0.125);
    double t = 0.125 * k, x = 1.5 * t * t, y = x - 0.75 * (1 - cos(2 * t));
    CHECK_NEAR(m.state->q[0], x, 1e-12);
    CHECK_NEAR(m.state->q[1], y, 1e-12);
    CHECK_NEAR(m.state->v[0], 3 * t, 1e-12);
    CHECK_NEAR(m.state->a[0], 3.0, 1e-13);
    CHECK_NEAR(m.state->lambda[0], 6 + 4 * (x - y), 1e-11);
  }
  motion_end(&m);
}

// ---- rows ---------------------------------------------------------------------------------------
// The coupling written three times over, in other units: the motion is the same, and the
// multipliers together make the same force with the least norm.
static void test_repeated_rows(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: thrice\ncoordinates: {s1: {start: 0.5}, s2: {}}\nmass: {s1: 10, s2: 1}\n"
      "potential: 5*s1^2 + 2.5*s2^2\n"
      "constraints: {one: s1 - s2 = 0.5, two: 2*s1 - 2*s2 = 1, three: s2 - s1 = -0.5}\n");
  motion_start(&m, "exponential");
  double lambda[3];
  for (int k = 1; k <= 100; k++) {
    motion_step(&m, 0.2);
    Reference r = two_mass_coupled(0.2 * k);
    Errors e = error_at(&m, &r);
    assert_true(e.q < 1e-12 && e.v < 1e-12);
    double force = 10 * m.state->a[0] + 10 * r.q[0];
    NEED(pawl_stepper_multipliers(m.stepper, m.state, lambda, &m.err), &m.err);
    CHECK_NEAR(lambda[0], force / 6, 1e-11);
    CHECK_NEAR(lambda[1], 2 * force / 6, 1e-11);
    CHECK_NEAR(lambda[2], -force / 6, 1e-11);
  }
  motion_end(&m);
}

// A coordinate without mass, carried by a row: y = x - 1 has the mass of x alone.
static void test_massless(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: carried\ncoordinates: {x: {start: 1}, y: {}}\nkinetic: x'^2\n"
      "potential: y^2\nconstraints: {rod: x - y = 1}\n");
  motion_start(&m, "exponential");
  for (int k = 1; k <= 40; k++) {  // 2 x'' = -2 (x - 1), x(0) = 1 at rest: stays
    motion_step(&m, 0.25);
    CHECK_NEAR(m.state->q[0], 1.0, 1e-13);
    CHECK_NEAR(m.state->lambda[0], 0.0, 1e-13);
  }
  m.state->q[0] = 1.5;
  m.state->q[1] = 0.5;
  m.state->t = 0.0;
  for (int k = 1; k <= 40; k++) {
    motion_step(&m, 0.25);
    double swing = 0.5 * cos(0.25 * k);
    CHECK_NEAR(m.state->q[1], swing, 1e-12);
    CHECK_NEAR(m.state->a[0], -swing, 1e-12);
    CHECK_NEAR(m.state->lambda[0], -2 * swing, 1e-12);  // 0 = -2 y - lambda
  }
  motion_end(&m);
}

// The same with a rod that grows: with y = x - 1 - t^2, 2 x'' = -2 y, so y'' = -y - 2.
static void test_massless_and_moving(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: carried\ncoordinates: {x: {start: 1}, y: {}}\nkinetic: x'^2\n"
      "potential: y^2\nconstraints: {rod: x - y = 1 + t^2}\n");
  motion_start(&m, "exponential");
  for (int k = 1; k <= 40; k++) {
    motion_step(&m, 0.25);
    double t = 0.25 * k, y = 2 * cos(t) - 2;
    CHECK_NEAR(m.state->q[1], y, 1e-12);
    CHECK_NEAR(m.state->q[0], 1 + t * t + y, 1e-11);
    CHECK_NEAR(m.state->lambda[0], -2 * y, 1e-12);
  }
  motion_end(&m);
}

// ---- the equations of motion --------------------------------------------------------------------
// Three coordinates with coupled masses, gyroscopic and circulatory forces, damping, a constant
// force and a row that moves.
static const char GENERAL[] =
    "model: general\n"
    "coordinates: {x: {start: 0.4, rate: -0.7}, y: {start: 0.3, rate: 0.2}, z: {rate: 1.5}}\n"
    "kinetic: x'^2 + 0.75*y'^2 + 0.5*z'^2 + 0.3*x'*y' - 0.2*y'*z'\n"
    "potential: 3*x^2 + (x - y)^2 + 2*z^2 + x*z - z\n"
    "dissipation: 0.1*x'^2 + 0.05*(y' - z')^2\n"
    "forces: {x: 0.4*y' + 0.3*y + 1, y: -0.4*x' - 0.3*x, z: -2}\n"
    "constraints: {guide: x + 2*y = z + 1 - 1.8*t + 0.25*t^2}\n";

static void test_index_1_equations(void** unused) {
  (void)unused;
  Motion m = motion_text(GENERAL);
  m.def.order = 2;  // v' and lambda belong to the state, however far that is off
  static const char* const methods[] = {"exponential", "taylor"};
  for (int k = 0; k < 2; k++) {
    motion_start(&m, methods[k]);
    for (int i = 0; i < 100; i++) {
      motion_step(&m, 0.03);
      const double *q = m.state->q, *v = m.state->v, *a = m.state->a, *l = m.state->lambda;
      CHECK_NEAR(a[0] + 2 * a[1] - a[2], 0.5, 1e-12);  // the row, differentiated twice
      double x = 2 * a[0] + 0.3 * a[1] + 6 * q[0] + 2 * (q[0] - q[1]) + q[2] + 0.2 * v[0] -
                 0.4 * v[1] - 0.3 * q[1] - 1;
      double y = 0.3 * a[0] + 1.5 * a[1] - 0.2 * a[2] - 2 * (q[0] - q[1]) + 0.1 * (v[1] - v[2]) +
                 0.4 * v[0] + 0.3 * q[0];
      double z = -0.2 * a[1] + a[2] + 4 * q[2] + q[0] - 1 - 0.1 * (v[1] - v[2]) + 2;
      CHECK_NEAR(x, l[0], 1e-12);
      CHECK_NEAR(y, 2 * l[0], 1e-12);
      CHECK_NEAR(z, -l[0], 1e-12);
    }
  }
  motion_end(&m);
}

// Two rows that move, neither of length 1 nor at right angles, the second in other units.
static void test_two_moving_rows(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: rows\ncoordinates: {x: {}, y: {}, z: {}}\n"
      "kinetic: x'^2 + 0.75*y'^2 + 0.5*z'^2 + 0.3*x'*y'\npotential: 3*x^2 + (x - y)^2 + 2*z^2\n"
      "constraints: {one: x + 2*y = z + 0.25*t^2, two: 100*x - 100*y + 50*z = -40*t^2}\n");
  motion_start(&m, "exponential");
  for (int k = 0; k < 50; k++) {
    motion_step(&m, 0.07);
    const double *q = m.state->q, *a = m.state->a, *l = m.state->lambda;
    double t = m.state->t;
    CHECK_NEAR(q[0] + 2 * q[1] - q[2], 0.25 * t * t, 1e-12);
    CHECK_NEAR(q[0] - q[1] + 0.5 * q[2], -0.4 * t * t, 1e-12);
    CHECK_NEAR(a[0] + 2 * a[1] - a[2], 0.5, 1e-13);
    CHECK_NEAR(a[0] - a[1] + 0.5 * a[2], -0.8, 1e-13);
    CHECK_NEAR(2 * a[0] + 0.3 * a[1] + 8 * q[0] - 2 * q[1], l[0] + 100 * l[1], 1e-12);
    CHECK_NEAR(0.3 * a[0] + 1.5 * a[1] - 2 * q[0] + 2 * q[1], 2 * l[0] - 100 * l[1], 1e-12);
    CHECK_NEAR(a[2] + 4 * q[2], -l[0] + 50 * l[1], 1e-12);
  }
  motion_end(&m);
}

static void test_against_rk4(void** unused) {
  (void)unused;
  Motion m = motion_text(GENERAL);
  Reference r = {.t = 3.0};
  motion_run(&m, "rk4", 3.0, 6000, NULL);
  memcpy(r.q, m.state->q, 3 * sizeof(double));
  memcpy(r.v, m.state->v, 3 * sizeof(double));
  double g;
  motion_run(&m, "exponential", 3.0, 4, &g);
  Errors e = error_at(&m, &r);
  assert_true(e.q < 1e-12 && e.v < 1e-12);
  assert_true(g < 1e-13);  // the row holds through the exact motion
  motion_end(&m);
}

// ---- coefficients that depend on time -----------------------------------------------------------
static const char PUMPED[] =
    "model: pumped\ncoordinates: {x: {start: 1}, y: {rate: 0.5}}\nkinetic: (1 + 0.1*t)*x'^2 + "
    "y'^2\n"
    "potential: (2 + sin(3*t))*x^2 + 2*y^2\nforces: {x: cos(t), y: -0.1*y'}\n"
    "constraints: {guide: x - (1 + 0.2*t)*y = 1 - 0.5*sin(t)}\n";

// The step is that of rk4, bit for bit, and so of order four.
static void test_in_time(void** unused) {
  (void)unused;
  double first[MOTION_MOST], second[MOTION_MOST];
  Motion m = motion_text(PUMPED);
  Reference r = {.t = 2.0};
  motion_run(&m, "rk4", 2.0, 8000, NULL);
  memcpy(r.q, m.state->q, 2 * sizeof(double));
  memcpy(r.v, m.state->v, 2 * sizeof(double));
  check_order(&m, "exponential", 4.0, 0.15, 0.05, 1, &r);
  check_order(&m, "taylor", 4.0, 0.15, 0.05, 1, &r);
  motion_run(&m, "rk4", 2.0, 100, NULL);
  int count = state_numbers(&m, first);
  motion_run(&m, "exponential", 2.0, 100, NULL);
  assert_int_equal(state_numbers(&m, second), count);
  assert_memory_equal(first, second, (size_t)count * sizeof(double));
  motion_end(&m);
}

// ---- what is kept -------------------------------------------------------------------------------
// Steps of many sizes, as locating an event takes them, are exact and do not drive out the nominal
// one; a size that comes again is kept.
static void test_step_sizes(void** unused) {
  (void)unused;
  Motion m = motion_file("two-mass-coupled", NULL);
  m.def.step = 0.01;
  motion_start(&m, "exponential");
  long long made = pawl_stepper_info(m.stepper).factorizations;
  long long allocated = pawl_alloc_count();
  double t = 0.0;
  for (int k = 0; k < 50; k++) {
    double odd = 0.001 + 1e-5 * k;
    motion_step(&m, 0.01);
    motion_step(&m, odd);
    t += 0.01 + odd;
  }
  assert_int_equal(pawl_stepper_info(m.stepper).factorizations, made);  // by the series
  for (int k = 0; k < 50; k++) {
    motion_step(&m, k % 3 ? 0.02 : 0.005);
    t += k % 3 ? 0.02 : 0.005;
    motion_step(&m, 0.01);
    t += 0.01;
  }
  assert_int_equal(pawl_stepper_info(m.stepper).factorizations, made);
  assert_int_equal(pawl_alloc_count(), allocated);
  Reference r = two_mass_coupled(t);
  Errors e = error_at(&m, &r);
  assert_true(e.q < 1e-13 && e.v < 1e-13);
  motion_end(&m);
}

// A state whose arrays lie apart takes the same steps.
static void test_scattered_state(void** unused) {
  (void)unused;
  double q[2], v[2], a[2], lambda[1];
  Motion m = motion_file("two-mass-coupled", NULL);
  motion_start(&m, "exponential");
  memcpy(q, m.state->q, sizeof q);
  memcpy(v, m.state->v, sizeof v);
  PawlState apart = *m.state;
  apart.q = q;
  apart.v = v;
  apart.a = a;
  apart.lambda = lambda;
  for (int k = 0; k < 10; k++) {
    motion_step(&m, 0.1);
    NEED(pawl_stepper_step(m.stepper, &apart, 0.1, &m.err), &m.err);
  }
  assert_memory_equal(q, m.state->q, sizeof q);
  assert_memory_equal(v, m.state->v, sizeof v);
  assert_memory_equal(a, m.state->a, sizeof a);
  assert_memory_equal(lambda, m.state->lambda, sizeof lambda);
  motion_end(&m);
}

// The coupling taken out of force and back, as a switch does it: another phase, start the method.
static void test_rows_out_of_force(void** unused) {
  (void)unused;
  unsigned char active[1] = {0};
  Motion m = motion_file("two-mass-coupled", NULL);
  motion_start(&m, "exponential");
  long long made = pawl_stepper_info(m.stepper).factorizations;
  for (int k = 0; k < 40; k++) {
    PawlState* s = m.state;
    double q[2] = {s->q[0], s->q[1]}, v[2] = {s->v[0], s->v[1]}, h = 0.05;
    active[0] = k % 2 == 1;
    PawlPhase phase = {.modes = s->modes, .held = s->held, .active = active};
    NEED(m.stepper->method->start(m.stepper, &phase, s, &m.err), &m.err);
    NEED(m.stepper->method->step(m.stepper, &phase, s, h, &m.err), &m.err);
    if (active[0]) {  // as one, from wherever they are; the row holds accelerations alike
      double w = sqrt(15.0 / 11.0), u = (10 * v[0] + v[1]) / 11, drift = v[0] - v[1];
      // q1 = p + (10 q1 + q2 - 10 p - p)/11 ...: the mean swings, the difference drifts.
      double p = (10 * q[0] + q[1]) / 11, d0 = q[0] - q[1];
      // mean p: 11 p'' = -10 q1 - 5 q2 with q1 = p + d/11, q2 = p - 10 d/11, d = d0 + drift t
      double c = 40.0 / 121.0;  // p'' = -w^2 p + c d
      double A = p - c * d0 / (w * w), B = (u - c * drift / (w * w)) / w;
      double d = d0 + drift * h, mean = A * cos(w * h) + B * sin(w * h) + c * d / (w * w);
      CHECK_NEAR(s->q[0], mean + d / 11, 1e-13);
      CHECK_NEAR(s->q[1], mean - 10 * d / 11, 1e-13);
    } else {
      double w = sqrt(5.0);
      CHECK_NEAR(s->q[0], q[0] * cos(h) + v[0] * sin(h), 1e-14);
      CHECK_NEAR(s->q[1], q[1] * cos(w * h) + v[1] * sin(w * h) / w, 1e-14);
      CHECK_NEAR(s->lambda[0], 0.0, 0.0);
    }
  }
  // Two sets of rows, each with the nominal h = 0.01 of start; one was there.
  assert_int_equal(pawl_stepper_info(m.stepper).factorizations, made + 1);
  motion_end(&m);
}

// Event-driven over linear modes: a weight slides down to a kink and on along another line.
static void test_between_switches(void** unused) {
  (void)unused;
  static const char BOWL[] =
      "model: bowl\ncoordinates: {x: {start: -1}, y: {start: 0.5}}\nmass: {x: 1, y: 1}\n"
      "potential: 10*y + 0.5*x^2\n"
      "constraints:\n  bowl:\n    impact: bisector\n    modes:\n"
      "      left: {where: x < 0, equation: y = -0.5*x}\n"
      "      right: {where: x > 0, equation: y = 0.75*x}\n";
  Motion m = motion_text(BOWL);
  double end[2][4];
  static const char* const smooth[] = {"rk4", "exponential"};
  for (int k = 0; k < 2; k++) {
    m.def.smooth = smooth[k];
    motion_run(&m, "event-driven", 5.0, k == 0 ? 5000 : 50, NULL);
    memcpy(end[k], m.state->q, 2 * sizeof(double));
    memcpy(end[k] + 2, m.state->v, 2 * sizeof(double));
  }
  for (int i = 0; i < 4; i++) {
    CHECK_NEAR(end[1][i], end[0][i], 1e-9);
  }
  motion_end(&m);
}

// Intentional control, sections 4.3 and 4.4 of the paper: the masses are locked for 1 whenever
// their speeds are equal, not before 1 after the last release. Instants and the last state by
// closed forms with 40 digits.
typedef struct Control {
  const char* dampers;
  int count;
  double times[23], t, q[2], v;
} Control;

static const Control CONTROLS[] = {
    {"0",
     23,
     {1.885895172992195,  2.885895172992195,  4.144279709122297,  5.144279709122297,
      6.506121897540116,  7.506121897540116,  8.85294127766876,   9.85294127766876,
      11.04640838200865,  12.04640838200865,  14.550595936480532, 15.550595936480532,
      17.089074062219066, 18.089074062219066, 19.619065323565508, 20.619065323565508,
      22.222222865772213, 23.222222865772213, 24.771911774202792, 25.771911774202792,
      27.321620678025727, 28.321620678025727, 29.869541336378738},
     29.869541336378738,
     {0.3334569941174819, 0.1540216651965745},
     -0.45421770551052515},
    {"1",
     20,
     {1.7249164600844875, 2.7249164600844877, 3.9921635016000785, 4.9921635016000785,
      6.417154409172674,  7.417154409172674,  8.874924908470128,  9.874924908470128,
      11.101447424442435, 12.101447424442435, 14.083234710205149, 15.083234710205149,
      16.843890765837916, 17.843890765837916, 21.241254968189192, 22.241254968189192,
      23.94036709140198,  24.94036709140198,  26.721344406088797, 27.721344406088797},
     27.721344406088797,
     {0.060317959047326654, -0.005839961449706154},
     0.0025456251242610924}};

static void check_control(const Control* c, double h, double tolerance) {
  char text[600];
  snprintf(text, sizeof text,
           "model: control\nparameters: {b: %s}\n"
           "coordinates: {s1: {start: 0.5}, s2: {rate: 1}}\nmass: {s1: 10, s2: 1}\n"
           "potential: 5*s1^2 + 2.5*s2^2\ndissipation: b/2*s1'^2 + b/4*s2'^2\n"
           "locks:\n  hold: {lock: s1 - s2, when: s1' - s2', after: 1, for: 1}\n",
           c->dampers);
  Motion m = motion_text(text);
  m.def.step = h;
  motion_start(&m, "exponential");
  int count = 0;
  while (m.state->t < 30.0 - 0.5 * h) {
    motion_step(&m, h);
    for (int k = 0; k < pawl_stepper_instants(m.stepper); k++) {
      const PawlInstant* instant = pawl_stepper_instant(m.stepper, k);
      assert_true(count < c->count);
      CHECK_NEAR(instant->t, c->times[count], tolerance);
      if (instant->t > c->t - 0.1) {
        CHECK_NEAR(instant->q[0], c->q[0], tolerance);
        CHECK_NEAR(instant->q[1], c->q[1], tolerance);
        CHECK_NEAR(instant->v_after[0], c->v, tolerance);
        CHECK_NEAR(instant->v_after[1], c->v, tolerance);
      }
      count++;
    }
  }
  assert_int_equal(count, c->count);
  motion_end(&m);
}

// Errors of the instants add up and grow: each is located to 1e-12.
static void test_control(void** unused) {
  (void)unused;
  check_control(&CONTROLS[0], 0.01, 1e-11);
  check_control(&CONTROLS[1], 0.01, 1e-11);
  check_control(&CONTROLS[0], 0.2, 1e-11);  // motion is exact for any step
  check_control(&CONTROLS[1], 0.2, 1e-11);
}

// More sets of modes than are kept, round and round: each of 20 masses is stopped in turn, and the
// others swing on. A stop takes the rate; after it x'' = -x starts from rest.
static void test_many_modes(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: many\ncoordinates:\n  x[i=1..20]: {start: 1}\nkinetic:\n  for i=1..20: 0.5*x[i]'^2\n"
      "potential:\n  for i=1..20: 0.5*x[i]^2\n"
      "locks:\n  stop[i=1..20]: {lock: \"x[i]\", at: [\"0.1*i\", \"2 + 0.1*i\"], for: 0.05}\n");
  m.def.step = 0.05;
  motion_start(&m, "exponential");
  take_steps(&m, 0.05, 90);  // to t = 4.5
  for (int i = 1; i <= 20; i++) {
    double first = 0.1 * i, x = cos(first);  // held from here for 0.05, then let go
    x *= cos(1.95);                          // to the second stop, 1.95 later
    x *= cos(4.5 - (2 + first + 0.05));      // and on
    CHECK_NEAR(m.state->q[i - 1], x, 1e-12);
  }
  motion_end(&m);
}

// Two crossings between the ends of a step: x = cos(2 pi t) is above c for acos(c)/pi, which steps
// of six a period pass by. It fires once a period whatever the step.
static int count_visits(double c, double steps_a_period, const char* method) {
  enum { PERIODS = 20 };
  char text[300];
  snprintf(text, sizeof text,
           "model: visits\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\npotential: 2*pi^2*x^2\n"
           "events: {up: {when: x - %g, direction: up}}\n",
           c);
  Motion m = motion_text(text);
  int count = 0;
  m.def.step = 1 / steps_a_period;
  motion_start(&m, method);
  for (int k = 0; k < (int)((PERIODS - 0.5) * steps_a_period); k++) {
    motion_step(&m, m.def.step);
    count += pawl_stepper_instants(m.stepper);
  }
  motion_end(&m);
  return count;
}

static void test_between_long_steps(void** unused) {
  (void)unused;
  static const double steps[] = {5.3, 6.0, 7.7, 10.3, 15.2}, borders[] = {0.8, 0.9, 0.95, 0.99};
  for (int i = 0; i < 5; i++) {
    for (int k = 0; k < 4; k++) {
      assert_int_equal(count_visits(borders[k], steps[i], "exponential"), 19);
    }
  }
}

// ---- invariants and failures --------------------------------------------------------------------
static void test_allocates_nothing_and_same_bits(void** unused) {
  (void)unused;
  double first[MOTION_MOST], second[MOTION_MOST];
  Motion a = motion_text(GENERAL), b = motion_text(GENERAL);
  motion_start(&a, "exponential");
  motion_start(&b, "exponential");
  long long before = pawl_alloc_count();
  take_steps(&a, a.def.step, 100);
  take_steps(&a, 0.0123, 100);
  assert_int_equal(pawl_alloc_count(), before);
  take_steps(&b, a.def.step, 100);
  take_steps(&b, 0.0123, 100);
  int count = state_numbers(&a, first);
  assert_int_equal(state_numbers(&b, second), count);
  assert_memory_equal(first, second, (size_t)count * sizeof(double));
  motion_end(&a);
  motion_end(&b);
}

// A negative stiffness: e^(1000 t) overflows within a step of 1, and in time by small ones.
static void test_overflow(void** unused) {
  (void)unused;
  double before[MOTION_MOST], after[MOTION_MOST];
  Motion m = motion_text(
      "model: unstable\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\npotential: -0.5e6*x^2\n");
  motion_start(&m, "exponential");
  int count = state_numbers(&m, before);
  assert_int_equal(pawl_stepper_step(m.stepper, m.state, 1.0, &m.err), PAWL_RETRY);
  state_numbers(&m, after);
  assert_memory_equal(before, after, (size_t)count * sizeof(double));
  PawlStatus status = PAWL_OK;
  for (int k = 0; k < 100 && status == PAWL_OK; k++) {
    state_numbers(&m, before);
    status = pawl_stepper_step(m.stepper, m.state, 0.1, &m.err);
  }
  assert_int_equal(status, PAWL_RETRY);
  assert_non_null(strstr(m.err.message, "grows beyond"));
  state_numbers(&m, after);
  assert_memory_equal(before, after, (size_t)count * sizeof(double));
  motion_end(&m);
}

static void check_not_taken(Motion* m, const char* words) {
  static const char* const methods[] = {"taylor", "exponential"};
  for (int k = 0; k < 2; k++) {
    m->def.method = methods[k];
    PawlStepper* stepper;
    assert_int_equal(pawl_stepper_create(m->system, &m->def, &stepper, &m->err), PAWL_ERROR_USAGE);
    assert_null(stepper);
    if (!strstr(m->err.message, words) || !strstr(m->err.message, "rk4")) {
      print_error("'%s' is not in: %s\n", words, m->err.message);
      fail();
    }
  }
  motion_end(m);
}

static void test_refusals(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: cubic\ncoordinates: {x: {}, y: {}}\nmass: {x: 1, y: 1}\npotential: x^2 + y^2\n"
      "forces: {y: -x - 3*y^3}\n");
  check_not_taken(&m, "-x - 3*y^3");
  m = motion_file("pendulum", NULL);
  check_not_taken(&m, "pendulum");
  m = motion_text(
      "model: many\ncoordinates:\n  x[i=1..300]: {}\nkinetic:\n  for i=1..300: x[i]'^2\n"
      "potential:\n  for i=1..300: x[i]^2\n");
  check_not_taken(&m, "300");
}

static void test_memory_runs_out(void** unused) {
  (void)unused;
  Motion m = motion_text(GENERAL);
  m.def.method = "exponential";
  PawlStatus status = PAWL_ERROR_MEMORY;
  int n = 0;
  while (status == PAWL_ERROR_MEMORY) {
    PawlStepper* stepper = NULL;
    PawlState* state = NULL;
    pawl_alloc_fail_at(++n);
    status = pawl_stepper_create(m.system, &m.def, &stepper, &m.err);
    status = status ? status : pawl_state_create(stepper, &state, &m.err);
    status = status ? status : pawl_stepper_start(stepper, state, false, &m.err);
    status = status ? status : pawl_stepper_step(stepper, state, 0.01, &m.err);
    pawl_alloc_fail_at(0);
    pawl_state_destroy(state);
    pawl_stepper_destroy(stepper);
  }
  assert_true(n > 20 && status == PAWL_OK);
  motion_end(&m);
}

// ---- which systems are linear -------------------------------------------------------------------
static void test_linearity(void** unused) {
  (void)unused;
  static const struct {
    const char* body;
    PawlLinearity linearity;
    const char* why;  // NULL for linear ones
  } cases[] = {
      {"potential: x^2 + x*y\n", PAWL_LINEAR, NULL},
      {"potential: (x + 1)^2\nforces: {y: 3 - x'}\n", PAWL_LINEAR, NULL},
      {"constraints: {c: x = 2*y + 1}\n", PAWL_LINEAR, NULL},
      {"constraints: {c: x = t^2}\n", PAWL_LINEAR, NULL},  // gamma = -2
      {"constraints: {c: x = t^3}\n", PAWL_LINEAR_IN_TIME, NULL},
      {"constraints: {c: x = t*y}\n", PAWL_LINEAR_IN_TIME, NULL},
      {"potential: (1 + t)*x^2\n", PAWL_LINEAR_IN_TIME, NULL},
      {"forces: {x: sin(t)}\n", PAWL_LINEAR_IN_TIME, NULL},
      {"kinetic: t*x'^2\n", PAWL_LINEAR_IN_TIME, NULL},
      {"forces: {x: \"if(t < 1, -x, 0)\"}\n", PAWL_LINEAR_IN_TIME, NULL},
      {"potential: x^2*y\n", PAWL_NONLINEAR, "x^2*y"},
      {"kinetic: x*y'^2\n", PAWL_NONLINEAR, "x*y'^2"},
      {"forces: {x: -x'^3}\n", PAWL_NONLINEAR, "-x'^3"},
      {"forces: {x: -sign(x')}\n", PAWL_NONLINEAR, "-sign(x')"},  // K = C = 0, and yet
      {"forces: {x: \"if(y > 0, 1, 2)\"}\n", PAWL_NONLINEAR, "if(y > 0, 1, 2)"},
      {"forces: {x: \"if(y, 1, 2)\"}\n", PAWL_NONLINEAR, "if(y, 1, 2)"},
      {"forces: {x: floor(y)}\n", PAWL_NONLINEAR, "floor(y)"},
      {"forces: {x: abs(y)}\n", PAWL_NONLINEAR, "abs(y)"},
      {"constraints: {c: x = y^2}\n", PAWL_NONLINEAR, "y^2"},
      {"constraints: {c: x = sin(y)}\n", PAWL_NONLINEAR, "sin(y)"},
      {"constraints:\n  c:\n    modes:\n      a: {where: x < 0, equation: y = x}\n"
       "      b: {where: x > 0, equation: y = 2*x}\n",
       PAWL_LINEAR, NULL},
      {"constraints:\n  c:\n    modes:\n      a: {where: x < 0, equation: y = x}\n"
       "      b: {where: x > 0, equation: y = x^2}\n",
       PAWL_NONLINEAR, "x^2"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[600];
    snprintf(text, sizeof text, "model: m\ncoordinates: {x: {}, y: {}}\nmass: {x: 1, y: 1}\n%s",
             cases[k].body);
    Motion m = motion_text(text);
    const char* why;
    PawlLinearity found = pawl_system_linearity(m.system, &why);
    bool named = cases[k].why ? why && strstr(why, cases[k].why) : !why;
    if (found != cases[k].linearity || !named || pawl_system_linearity(m.system, NULL) != found) {
      print_error("%s: found %d, named '%s'\n", cases[k].body, (int)found, why ? why : "");
      fail();
    }
    motion_end(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_mass_exponential),
      cmocka_unit_test(test_two_mass_taylor),
      cmocka_unit_test(test_taylor_is_the_series),
      cmocka_unit_test(test_order_of_taylor),
      cmocka_unit_test(test_damped),
      cmocka_unit_test(test_gravity),
      cmocka_unit_test(test_large_offset),
      cmocka_unit_test(test_moving_row),
      cmocka_unit_test(test_repeated_rows),
      cmocka_unit_test(test_massless),
      cmocka_unit_test(test_massless_and_moving),
      cmocka_unit_test(test_index_1_equations),
      cmocka_unit_test(test_two_moving_rows),
      cmocka_unit_test(test_against_rk4),
      cmocka_unit_test(test_in_time),
      cmocka_unit_test(test_step_sizes),
      cmocka_unit_test(test_scattered_state),
      cmocka_unit_test(test_rows_out_of_force),
      cmocka_unit_test(test_between_switches),
      cmocka_unit_test(test_control),
      cmocka_unit_test(test_many_modes),
      cmocka_unit_test(test_between_long_steps),
      cmocka_unit_test(test_allocates_nothing_and_same_bits),
      cmocka_unit_test(test_overflow),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_memory_runs_out),
      cmocka_unit_test(test_linearity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
