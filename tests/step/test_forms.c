// SPDX-License-Identifier: Apache-2.0
// The forms of the equations of motion under rk4: accelerations and multipliers recomputed, order
// four on a pendulum and a four-bar linkage, no drift and a new choice of coordinates in the
// minimal form, velocities that are not rates against an integration by hand, switches, redundant
// rows.
#include "step/sight.h"

static const char* const FORMS[] = {"index-1", "projected", "minimal"};
enum { FORM_COUNT = 3 };

// A pendulum in x, y that turns over: 10 J would lift it to the top, it has 36 J more.
static const char POINT_PENDULUM[] =
    "model: point\ncoordinates: {x: {start: 0.6, rate: 6.4}, y: {start: -0.8, rate: 4.8}}\n"
    "mass: {x: 1, y: 1}\npotential: 10*y\nconstraints: {rod: x^2 + y^2 = 1}\n";

// ---- the defining equations ---------------------------------------------------------------------
// v' = f + 2 (x, y) lambda with 2 (x, y) . v' = -2 |v|^2.
static void test_equations(void** unused) {
  (void)unused;
  for (int form = 0; form < FORM_COUNT; form++) {
    Motion m = motion_text(POINT_PENDULUM);
    m.def.form = FORMS[form];
    motion_start(&m, "rk4");
    for (int k = 0; k < 500; k++) {
      motion_step(&m, 5e-3);
      const double *q = m.state->q, *v = m.state->v, *a = m.state->a;
      double square = q[0] * q[0] + q[1] * q[1], speed = v[0] * v[0] + v[1] * v[1];
      double lambda = (-speed + 10 * q[1]) / (2 * square);
      CHECK_NEAR(m.state->lambda[0], lambda, 1e-12);
      CHECK_NEAR(a[0], 2 * q[0] * lambda, 1e-11);
      CHECK_NEAR(a[1], -10 + 2 * q[1] * lambda, 1e-11);
    }
    motion_end(&m);
  }
}

// Without constraints, and with nothing left free, the forms are the same.
static void test_borders(void** unused) {
  (void)unused;
  for (int form = 0; form < FORM_COUNT; form++) {
    Motion m = motion_file("two-mass-free", NULL);
    m.def.form = FORMS[form];
    motion_run(&m, "rk4", 20.0, 2000, NULL);
    Reference r = two_mass_free(20.0);
    Errors e = error_at(&m, &r);
    assert_true(e.q < 1e-6 && e.v < 1e-6);
    motion_end(&m);
    m = motion_text(
        "model: driven\ncoordinates: {x: {start: 1}, y: {rate: 1}}\nmass: {x: 2, y: 3}\n"
        "constraints: {one: x = cos(t), two: y = sin(t)}\n");
    m.def.form = FORMS[form];
    motion_run(&m, "rk4", 3.0, 300, NULL);
    CHECK_NEAR(m.state->q[0], cos(3.0), 1e-9);
    CHECK_NEAR(m.state->v[1], cos(3.0), 1e-9);
    CHECK_NEAR(m.state->lambda[0], -2 * cos(3.0), 1e-9);
    CHECK_NEAR(m.state->lambda[1], -3 * sin(3.0), 1e-9);
    motion_end(&m);
  }
}

// ---- order --------------------------------------------------------------------------------------
static void test_order_of_pendulum(void** unused) {
  (void)unused;
  for (int form = 0; form < FORM_COUNT; form++) {
    Motion m = motion_file("pendulum", NULL);
    m.def.form = FORMS[form];
    // In the angle alone the error is so much smaller that it would reach that of the reference.
    check_order(&m, "rk4", 4.0, 0.3, form == 2 ? 5e-3 : 2.5e-3, 3, PENDULUM);
    motion_end(&m);
  }
}

// A four-bar linkage by its three angles: crank 1, coupler 3, rocker 2.5, ground 3.
enum { CRANK, COUPLER, ROCKER };
static const double BAR[4] = {1.0, 3.0, 2.5, 3.0}, INERTIA[3] = {2.0, 3.0, 4.0};

// Coupler and rocker of a crank angle; the angles per angle of the crank.
static void four_bar(double crank, double* angle, double* rate) {
  double x = BAR[3] - BAR[0] * cos(crank), y = -BAR[0] * sin(crank), d = hypot(x, y);
  double corner = acos((d * d + BAR[1] * BAR[1] - BAR[2] * BAR[2]) / (2 * d * BAR[1]));
  angle[CRANK] = crank;
  angle[COUPLER] = atan2(y, x) + corner;
  double to_x = BAR[1] * cos(angle[COUPLER]) - x, to_y = BAR[1] * sin(angle[COUPLER]) - y;
  angle[ROCKER] = atan2(to_y, to_x);
  double between = sin(angle[COUPLER] - angle[ROCKER]);
  rate[CRANK] = 1.0;
  rate[COUPLER] = BAR[0] * sin(angle[ROCKER] - crank) / (BAR[1] * between);
  rate[ROCKER] = BAR[0] * sin(angle[COUPLER] - crank) / (BAR[2] * between);
}

static double four_bar_mass(double crank) {
  double angle[3], rate[3], sum = 0.0;
  four_bar(crank, angle, rate);
  for (int k = 0; k < 3; k++) {
    sum += INERTIA[k] * rate[k] * rate[k];
  }
  return sum;
}

static double four_bar_potential(double crank) {
  double angle[3], rate[3];
  four_bar(crank, angle, rate);
  return 3 * sin(angle[CRANK]) + 4 * sin(angle[ROCKER]);
}

// The time of one turn from the energy: dt = sqrt(mass / (2 (E - V))) d crank. The integrand is
// periodic, so the trapezoidal rule converges faster than any power.
static double four_bar_period(double crank, double speed) {
  enum { POINTS = 4000 };
  double E = 0.5 * four_bar_mass(crank) * speed * speed + four_bar_potential(crank), sum = 0.0;
  for (int k = 0; k < POINTS; k++) {
    double at = crank + 2 * acos(-1.0) * k / POINTS;
    sum += sqrt(four_bar_mass(at) / (2 * (E - four_bar_potential(at))));
  }
  return sum * 2 * acos(-1.0) / POINTS;
}

static Motion four_bar_model(double* angle, double* rate, double speed) {
  char text[1024];
  snprintf(text, sizeof text,
           "model: four-bar\ncoordinates:\n"
           "  a: {start: %.17g, rate: %.17g}\n  b: {start: %.17g, rate: %.17g}\n"
           "  c: {start: %.17g, rate: %.17g}\n"
           "kinetic: a'^2 + 3/2*b'^2 + 2*c'^2\npotential: 3*sin(a) + 4*sin(c)\n"
           "constraints:\n  loop:\n    - cos(a) + 3*cos(b) = 3 + 2.5*cos(c)\n"
           "    - sin(a) + 3*sin(b) = 2.5*sin(c)\n",
           angle[0], speed * rate[0], angle[1], speed * rate[1], angle[2], speed * rate[2]);
  return motion_text(text);
}

// After one turn everything is as before, but for the turn of the crank.
static void test_order_of_four_bar(void** unused) {
  (void)unused;
  double angle[3], rate[3], speed = 3.0;
  four_bar(0.5, angle, rate);
  Reference r = {.t = four_bar_period(0.5, speed)};
  for (int k = 0; k < 3; k++) {
    r.q[k] = angle[k] + (k == CRANK ? 2 * acos(-1.0) : 0.0);
    r.v[k] = speed * rate[k];
  }
  for (int form = 0; form < FORM_COUNT; form++) {
    Motion m = four_bar_model(angle, rate, speed);
    m.def.form = FORMS[form];
    check_order(&m, "rk4", 4.0, 0.35, r.t / 400, 1, &r);
    motion_end(&m);
  }
}

// Time in the constraint, in the force and in the mass, as in test_rk4.c.
static void test_order_with_time(void** unused) {
  (void)unused;
  double t = 1.0, s = log(1 + t), a = 0.8, b = -0.4;
  Reference reference = {t,
                         {sin(2 * t), (1 + t) / 5 + a * cos(s / 2) + b * sin(s / 2)},
                         {2 * cos(2 * t), 0.2 + (b * cos(s / 2) - a * sin(s / 2)) / (2 * (1 + t))}};
  for (int form = 0; form < FORM_COUNT; form++) {
    Motion m = motion_text(
        "model: driven\ncoordinates: {x: {rate: 2}, y: {start: 1}}\n"
        "kinetic: x'^2 + (1 + t)/2*y'^2\nforces: {y: 1/4 - y/(4*(1 + t))}\n"
        "constraints: {drive: x = sin(2*t)}\n");
    m.def.form = FORMS[form];
    motion_run(&m, "rk4", 1.0, 20, NULL);
    Errors coarse = error_at(&m, &reference);
    motion_run(&m, "rk4", 1.0, 40, NULL);
    Errors fine = error_at(&m, &reference);
    // x is known from the constraint in the minimal form: only y shows an order then.
    CHECK_NEAR(log2(coarse.q / fine.q), 4.0, 0.3);
    if (form == 2) {
      CHECK_NEAR(m.state->q[0], sin(2 * t), 1e-15);
      CHECK_NEAR(m.state->v[0], 2 * cos(2 * t), 4e-15);
    }
    motion_end(&m);
  }
}

// index-1 and projected have the same right side: the same motion but for rounding.
static void test_projected_is_index_1(void** unused) {
  (void)unused;
  double q[3] = {0}, v[3] = {0}, lambda[2] = {0};
  for (int form = 0; form < 2; form++) {
    Motion m = motion_file("pendulum", NULL);
    m.def.form = FORMS[form];
    motion_run(&m, "rk4", 5.0, 2500, NULL);
    for (int k = 0; k < 3; k++) {
      q[k] = form ? q[k] - m.state->q[k] : m.state->q[k];
      v[k] = form ? v[k] - m.state->v[k] : m.state->v[k];
    }
    for (int k = 0; k < 2; k++) {
      lambda[k] = form ? lambda[k] - m.state->lambda[k] : m.state->lambda[k];
    }
    motion_end(&m);
  }
  for (int k = 0; k < 3; k++) {
    CHECK_NEAR(q[k], 0.0, 1e-10);
    CHECK_NEAR(v[k], 0.0, 1e-9);
  }
  CHECK_NEAR(lambda[0], 0.0, 1e-8);
  CHECK_NEAR(lambda[1], 0.0, 1e-8);
}

// ---- the minimal form ---------------------------------------------------------------------------
// Many turns: the constraint holds to rounding all the time, and x and y take turns as the
// independent coordinate, four times a turn; y wherever |x| is well above |y| and the other way
// round.
static void test_no_drift_and_new_choices(void** unused) {
  (void)unused;
  Motion m = motion_text(POINT_PENDULUM);
  m.def.form = "minimal";
  motion_start(&m, "rk4");
  int changes = 0, turns = 0;
  double last = 0.0, g = 0.0, rate = 0.0, energy = 0.0;
  for (int k = 0; k < 20000; k++) {
    double before = m.state->q[0];
    motion_step(&m, 5e-3);
    const double *q = m.state->q, *v = m.state->v;
    g = fmax(g, fabs(q[0] * q[0] + q[1] * q[1] - 1));
    rate = fmax(rate, fabs(q[0] * v[0] + q[1] * v[1]));
    energy = 0.5 * (v[0] * v[0] + v[1] * v[1]) + 10 * q[1];
    turns += before < 0.0 && q[0] >= 0.0 && q[1] < 0.0;
    double chosen = m.state->memory[0];  // 1: x is dependent, 2: y
    assert_true(chosen == 0.0 || chosen == 1.0 || chosen == 2.0);
    if (chosen > 0.0) {  // the dependent one is never much the steeper: |J_s / J_p| <= 3/2
      assert_true(fabs(q[chosen == 1.0 ? 1 : 0]) <= 1.5 * fabs(q[chosen == 1.0 ? 0 : 1]));
      changes += last > 0.0 && chosen != last;
      last = chosen;
    }
  }
  assert_true(g < 1e-13 && rate < 1e-13);
  assert_true(turns > 100);
  assert_true(changes >= 4 * turns - 4 && changes <= 4 * turns + 8);
  CHECK_NEAR(energy, 24.0, 1e-2);
  motion_end(&m);
}

// The other forms hold the same way by projection, and lose no energy by it: without, index-1
// gained 1e-4 J here.
static void test_other_forms_hold(void** unused) {
  (void)unused;
  for (int form = 0; form < 2; form++) {
    Motion m = motion_text(POINT_PENDULUM);
    double drift;
    m.def.form = FORMS[form];
    motion_run(&m, "rk4", 10.0, 4000, &drift);
    assert_true(drift < 1e-14);
    const double *q = m.state->q, *v = m.state->v;
    CHECK_NEAR(0.5 * (v[0] * v[0] + v[1] * v[1]) + 10 * q[1], 24.0, 1e-4);
    motion_end(&m);
  }
}

// A step that is too large leaves the state alone, bit for bit, and says why.
static void test_step_too_large(void** unused) {
  (void)unused;
  double before[MOTION_MOST], after[MOTION_MOST];
  Motion m = motion_text(POINT_PENDULUM);
  m.def.form = "minimal";
  motion_start(&m, "rk4");
  motion_step(&m, 1e-3);
  int count = state_numbers(&m, before);
  assert_int_equal(pawl_stepper_step(m.stepper, m.state, 1.0, &m.err), PAWL_RETRY);
  assert_non_null(strstr(m.err.message, "'rod' (row 1)"));
  assert_non_null(strstr(m.err.message, "t = 0.501"));
  assert_int_equal(state_numbers(&m, after), count);
  assert_memory_equal(before, after, (size_t)count * sizeof(double));
  motion_end(&m);
}

// The choice is part of the state: another stepper goes on with the same bits.
static void test_same_bits(void** unused) {
  (void)unused;
  double first[MOTION_MOST], second[MOTION_MOST];
  Motion a = motion_text(POINT_PENDULUM), b = motion_text(POINT_PENDULUM);
  a.def.form = b.def.form = "minimal";
  motion_run(&a, "rk4", 1.015, 203, NULL);
  motion_start(&b, "rk4");
  b.state->t = a.state->t;
  b.state->step = a.state->step;
  memcpy(b.state->q, a.state->q, 2 * sizeof(double));
  memcpy(b.state->v, a.state->v, 2 * sizeof(double));
  memcpy(b.state->a, a.state->a, 2 * sizeof(double));
  memcpy(b.state->lambda, a.state->lambda, sizeof(double));
  memcpy(b.state->memory, a.state->memory, (size_t)a.state->memory_count * sizeof(double));
  for (int k = 0; k < 500; k++) {
    motion_step(&a, 5e-3);
    motion_step(&b, 5e-3);
  }
  int count = state_numbers(&a, first);
  assert_int_equal(state_numbers(&b, second), count);
  assert_memory_equal(first, second, (size_t)count * sizeof(double));
  motion_end(&a);
  motion_end(&b);
}

// ---- velocities that are not rates --------------------------------------------------------------
// A top by a unit quaternion and its angular velocity in its own axes: q' = q w / 2. Its axis stays
// in the plane x = 0: g = (R e3)_x. With R = Rx(alpha) Rz(beta) there are two coordinates, and
// ((J1 c^2 + J2 s^2) alpha')' = W sin alpha, J3 beta'' = (J2 - J1) s c alpha'^2, s = sin beta.
static const double TOP[3] = {1.0, 2.0, 0.7};
static const double WEIGHT = 5.0;  // mass times gravity times height of the centre on the axis

static void rotation(const double* q, double R[3][3]) {
  double w = q[0], x = q[1], y = q[2], z = q[3], s = 1.0 / (w * w + x * x + y * y + z * z);
  double m[3][3] = {
      {1 - 2 * s * (y * y + z * z), 2 * s * (x * y - w * z), 2 * s * (x * z + w * y)},
      {2 * s * (x * y + w * z), 1 - 2 * s * (x * x + z * z), 2 * s * (y * z - w * x)},
      {2 * s * (x * z - w * y), 2 * s * (y * z + w * x), 1 - 2 * s * (x * x + y * y)}};
  memcpy(R, m, sizeof m);
}

static void multiply(const double* p, const double* q, double* out) {
  double r[4] = {p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
                 p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
                 p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
                 p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
  memcpy(out, r, sizeof r);
}

static void top_rates(void* context, const double* q, const double* v, double* rate) {
  (void)context;
  double half[4] = {0, v[0] / 2, v[1] / 2, v[2] / 2};
  multiply(q, half, rate);
}

static void top_retract(void* context, const double* q, const double* dq, double* out) {
  (void)context;
  double angle = sqrt(dq[0] * dq[0] + dq[1] * dq[1] + dq[2] * dq[2]);
  double s = angle > 0 ? sin(angle / 2) / angle : 0.5;
  double turn[4] = {cos(angle / 2), s * dq[0], s * dq[1], s * dq[2]};
  multiply(q, turn, out);
}

static int top_evaluate(void* context, unsigned mask, const PawlPoint* at, PawlValues* x) {
  (void)context;
  double R[3][3];
  rotation(at->q, R);
  const double *n = R[0], *up = R[2], *w = at->v;  // x and z of space in axes of the body
  if (mask & PAWL_MASS) {
    memset(x->M, 0, 9 * sizeof(double));
    for (int k = 0; k < 3; k++) {
      x->M[4 * k] = TOP[k];
    }
  }
  if (mask & PAWL_FORCE) {  // -w x J w, and e3 x (-up) times the weight
    x->f[0] = -(TOP[2] - TOP[1]) * w[1] * w[2] + WEIGHT * up[1];
    x->f[1] = -(TOP[0] - TOP[2]) * w[2] * w[0] - WEIGHT * up[0];
    x->f[2] = -(TOP[1] - TOP[0]) * w[0] * w[1];
  }
  if (mask & PAWL_POSITION) {
    x->g[0] = n[2];
  }
  if (mask & PAWL_GRADIENT) {  // g' = n . (w x e3)
    x->G[0] = -n[1];
    x->G[1] = n[0];
    x->G[2] = 0.0;
  }
  if (mask & PAWL_TIME_GRADIENT) {
    x->g_t[0] = 0.0;
  }
  if (mask & PAWL_BIAS) {  // n' = n x w
    x->gamma[0] = -(n[2] * w[0] - n[0] * w[2]) * w[0] + (n[1] * w[2] - n[2] * w[1]) * w[1];
  }
  return 0;
}

// alpha, beta and their rates, by hand.
static void top_right_side(const double* y, double* rate) {
  double s = sin(y[1]), c = cos(y[1]), A = TOP[0] * c * c + TOP[1] * s * s;
  double A_beta = 2 * (TOP[1] - TOP[0]) * s * c;
  rate[0] = y[2];
  rate[1] = y[3];
  rate[2] = (WEIGHT * sin(y[0]) - A_beta * y[3] * y[2]) / A;
  rate[3] = 0.5 * A_beta * y[2] * y[2] / TOP[2];
}

static void top_by_hand(double until, int steps, double* y) {
  static const double c[4] = {0, 0.5, 0.5, 1}, b[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  double h = until / steps;
  for (int k = 0; k < steps; k++) {
    double sum[4], stage[4], rate[4] = {0};
    memcpy(sum, y, sizeof sum);
    for (int i = 0; i < 4; i++) {
      for (int j = 0; j < 4; j++) {
        stage[j] = y[j] + h * c[i] * rate[j];
      }
      top_right_side(stage, rate);
      for (int j = 0; j < 4; j++) {
        sum[j] += h * b[i] * rate[j];
      }
    }
    memcpy(y, sum, sizeof sum);
  }
}

// The largest difference of the two descriptions: the matrix and the angular velocity.
static double top_error(const PawlState* state, const double* y) {
  double R[3][3], ca = cos(y[0]), sa = sin(y[0]), cb = cos(y[1]), sb = sin(y[1]), most = 0.0;
  double expected[3][3] = {{cb, -sb, 0}, {ca * sb, ca * cb, -sa}, {sa * sb, sa * cb, ca}};
  double w[3] = {y[2] * cb, -y[2] * sb, y[3]};
  rotation(state->q, R);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      most = fmax(most, fabs(R[i][j] - expected[i][j]));
    }
    most = fmax(most, fabs(state->v[i] - w[i]));
  }
  return most;
}

static Motion top_motion(const char* form) {
  static const double alpha = 0.3, beta = 0.4, alpha_rate = 1.5, beta_rate = 4.0;
  double x[4] = {cos(alpha / 2), sin(alpha / 2), 0, 0}, z[4] = {cos(beta / 2), 0, 0, sin(beta / 2)};
  double q[4], v[3] = {alpha_rate * cos(beta), -alpha_rate * sin(beta), beta_rate};
  multiply(x, z, q);
  Motion m = {0};
  PawlCallbacks callbacks = {.sizes = {.q = 4, .v = 3, .rows = 1},
                             .q_start = q,
                             .v_start = v,
                             .evaluate = top_evaluate,
                             .retract = top_retract,
                             .rates = top_rates};
  NEED(pawl_system_create_callbacks(&callbacks, &m.system, &m.err), &m.err);
  m.n = pawl_system_sizes(m.system);
  m.def = pawl_simulate_def_default();
  m.def.form = form;
  return m;
}

static void test_velocities_that_are_not_rates(void** unused) {
  (void)unused;
  double y[4] = {0.3, 0.4, 1.5, 4.0};
  top_by_hand(4.0, 40000, y);
  for (int form = 0; form < FORM_COUNT; form++) {
    double error[3], drift;
    for (int k = 0; k < 3; k++) {
      Motion m = top_motion(FORMS[form]);
      motion_run(&m, "rk4", 4.0, 400 << k, &drift);
      error[k] = top_error(m.state, y);
      motion_end(&m);
    }
    assert_true(error[2] < 2e-7);
    CHECK_NEAR(log2(error[0] / error[1]), 4.0, 0.4);
    CHECK_NEAR(log2(error[1] / error[2]), 4.0, 0.4);
    assert_true(drift < 1e-13);
  }
}

// beta turns, so the velocities about both cross axes must take turns as the dependent one; the
// third, which the row does not touch, never is.
static void test_choice_of_velocities(void** unused) {
  (void)unused;
  Motion m = top_motion("minimal");
  motion_start(&m, "rk4");
  int seen[4] = {0};
  for (int k = 0; k < 4000; k++) {
    motion_step(&m, 1e-3);
    seen[(int)m.state->memory[0]]++;
  }
  assert_true(seen[1] > 100 && seen[2] > 100 && seen[3] == 0);
  motion_end(&m);
}

// ---- among other parts --------------------------------------------------------------------------
// Switches: what is chosen before does not count after. The forms come to the same end.
static void test_switches(void** unused) {
  (void)unused;
  const char* const names[] = {"kinked-track", "table-edge"};
  for (int k = 0; k < 2; k++) {
    double q[SIGHT_MOST], v[SIGHT_MOST];
    for (int form = 0; form < FORM_COUNT; form++) {
      Motion m = motion_file(names[k], NULL);
      double until = m.def.until;
      m.def.form = FORMS[form];
      motion_start(&m, "event-driven");
      int steps = (int)lround(until / 1e-3), switches = 0;
      for (int i = 0; i < steps; i++) {
        motion_step(&m, 1e-3);
        switches += pawl_stepper_instants(m.stepper);
      }
      assert_true(switches > 0);
      for (int i = 0; i < m.n.q; i++) {
        if (form > 0) {
          CHECK_NEAR(m.state->q[i], q[i], 1e-8);
          CHECK_NEAR(m.state->v[i], v[i], 1e-7);
        }
        q[i] = form ? q[i] : m.state->q[i];
        v[i] = form ? v[i] : m.state->v[i];
      }
      motion_end(&m);
    }
  }
}

// A row written twice is left out, and the forms go on with the rest.
static void test_redundant_rows(void** unused) {
  (void)unused;
  for (int form = 0; form < FORM_COUNT; form++) {
    Motion m = motion_text(
        "model: twice\ncoordinates: {x: {start: 0.6, rate: 6.4}, y: {start: -0.8, rate: 4.8}}\n"
        "mass: {x: 1, y: 1}\npotential: 10*y\n"
        "constraints: {rod: x^2 + y^2 = 1, again: 2*x^2 + 2*y^2 = 2}\n");
    m.def.form = FORMS[form];
    motion_start(&m, "rk4");
    for (int k = 0; k < 400; k++) {
      motion_step(&m, 2.5e-3);
    }
    const double *q = m.state->q, *v = m.state->v;
    CHECK_NEAR(0.5 * (v[0] * v[0] + v[1] * v[1]) + 10 * q[1], 24.0, 2e-5);
    CHECK_NEAR(q[0] * q[0] + q[1] * q[1], 1.0, form == 2 ? 1e-14 : 1e-6);
    motion_end(&m);
  }
}

// A long chain, whose forms are dense: the same motion.
static void test_chain(void** unused) {
  (void)unused;
  double q[MOTION_MOST];
  for (int form = 0; form < FORM_COUNT; form++) {
    Motion m = motion_file("chain", "N=10");
    m.def.form = FORMS[form];
    double drift;
    motion_run(&m, "rk4", 0.5, 1000, &drift);
    assert_true(form < 2 || drift < 1e-13);
    for (int i = 0; i < m.n.q; i++) {
      if (form > 0) {
        CHECK_NEAR(m.state->q[i], q[i], 1e-9);
      }
      q[i] = form ? q[i] : m.state->q[i];
    }
    motion_end(&m);
  }
}

static void test_step_allocates_nothing(void** unused) {
  (void)unused;
  for (int form = 0; form < FORM_COUNT; form++) {
    Motion m = motion_text(POINT_PENDULUM);
    m.def.form = FORMS[form];
    motion_start(&m, "rk4");
    long long before = pawl_alloc_count();
    for (int k = 0; k < 500; k++) {
      motion_step(&m, 5e-3);
    }
    assert_int_equal(pawl_alloc_count(), before);
    motion_end(&m);
  }
}

static void test_unknown_word(void** unused) {
  (void)unused;
  Motion m = motion_text(POINT_PENDULUM);
  m.def.form = "maximal";
  m.def.method = "rk4";
  assert_int_equal(pawl_stepper_create(m.system, &m.def, &m.stepper, &m.err), PAWL_ERROR_USAGE);
  assert_non_null(strstr(m.err.message, "form = maximal: must be index-1, projected or minimal"));
  motion_end(&m);
}

// Full matrices of 603 velocities are not made.
static void test_too_large(void** unused) {
  (void)unused;
  for (int form = 0; form < FORM_COUNT; form++) {
    Motion m = motion_file("chain", "N=201");
    m.def.form = FORMS[form];
    m.def.method = "rk4";
    PawlStatus status = pawl_stepper_create(m.system, &m.def, &m.stepper, &m.err);
    assert_int_equal(status, form ? PAWL_ERROR_USAGE : PAWL_OK);
    assert_true(form == 0 || strstr(m.err.message, "has 603: take form = index-1"));
    motion_end(&m);
  }
}

static void test_memory_runs_out(void** unused) {
  (void)unused;
  Motion m = motion_text(POINT_PENDULUM);
  m.def.method = "rk4";
  for (int form = 0; form < FORM_COUNT; form++) {
    m.def.form = FORMS[form];
    bool made = false;
    for (int nth = 1; !made && nth < 1000; nth++) {
      pawl_alloc_fail_at(nth);
      PawlStatus status = pawl_stepper_create(m.system, &m.def, &m.stepper, &m.err);
      pawl_alloc_fail_at(0);
      made = status == PAWL_OK;
      assert_true(made || status == PAWL_ERROR_MEMORY);
    }
    assert_true(made);
    pawl_stepper_destroy(m.stepper);
    m.stepper = NULL;
  }
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equations),
      cmocka_unit_test(test_borders),
      cmocka_unit_test(test_order_of_pendulum),
      cmocka_unit_test(test_order_of_four_bar),
      cmocka_unit_test(test_order_with_time),
      cmocka_unit_test(test_projected_is_index_1),
      cmocka_unit_test(test_no_drift_and_new_choices),
      cmocka_unit_test(test_other_forms_hold),
      cmocka_unit_test(test_step_too_large),
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_velocities_that_are_not_rates),
      cmocka_unit_test(test_choice_of_velocities),
      cmocka_unit_test(test_switches),
      cmocka_unit_test(test_redundant_rows),
      cmocka_unit_test(test_chain),
      cmocka_unit_test(test_step_allocates_nothing),
      cmocka_unit_test(test_unknown_word),
      cmocka_unit_test(test_too_large),
      cmocka_unit_test(test_memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
