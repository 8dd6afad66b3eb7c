// SPDX-License-Identifier: Apache-2.0
// The consistent start (docs/theory/initial.md): accelerations and multipliers by hand, the check
// of position and velocity, projection in the metric of the mass, redundant rows, and what cannot
// start.
#include "step/motion.h"

// ---- by hand ------------------------------------------------------------------------------------
// The pendulum of models/: numbers of an independent program (closed form).
static void test_start_of_the_pendulum(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  motion_start(&m, "ga-p");
  static const double a[3] = {-82.66606127033276, -56.81818181818181, -7.872958216222167};
  static const double lambda[2] = {-82.66606127033276, -46.81818181818181};
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR(m.state->a[i], a[i], 1e-12);
  }
  for (int i = 0; i < 2; i++) {
    CHECK_NEAR(m.state->lambda[i], lambda[i], 1e-12);
  }
  assert_string_equal(pawl_stepper_warning(m.stepper), "");
  assert_int_equal(pawl_stepper_info(m.stepper).redundant_rows, 0);
  motion_end(&m);
}

// A mass of 3 kg on a table is held against 12 N: the multiplier is the force, with our sign.
static void test_sign_of_the_multiplier(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: table\ncoordinates: {x: {}}\nmass: {x: 3}\nforces: {x: -12}\n"
      "constraints: {table: x = 0}\n");
  motion_start(&m, "rk4");
  CHECK_NEAR(m.state->lambda[0], 12.0, 1e-14);  // pushes towards growing g = x
  CHECK_NEAR(m.state->a[0], 0.0, 1e-14);
  motion_end(&m);
}

// A constraint that moves: x = t^2, g_t = -2 t, gamma = -2. At t = 0 the mass needs 2 m/s^2.
static void test_moving_constraint(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: lift\ncoordinates: {x: {}}\nmass: {x: 3}\nconstraints: {lift: x = t^2}\n");
  motion_start(&m, "rk4");
  CHECK_NEAR(m.state->a[0], 2.0, 1e-14);
  CHECK_NEAR(m.state->lambda[0], 6.0, 1e-14);
  motion_end(&m);
}

// ---- the check ----------------------------------------------------------------------------------
static void check_start_fails(Motion* m, bool project, const char* first, const char* second) {
  motion_stepper(m, "ga-p");
  assert_int_equal(pawl_stepper_start(m->stepper, m->state, project, &m->err), PAWL_ERROR_RUN);
  assert_int_equal(m->err.status, PAWL_ERROR_RUN);
  if (!strstr(m->err.message, first) || !strstr(m->err.message, second)) {
    print_error("'%s' or '%s' is not in: %s\n", first, second, m->err.message);
    fail();
  }
  motion_end(m);
}

static void test_position_off(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: off\ncoordinates: {x: {start: 0.75}, y: {}}\nmass: {x: 1, y: 1}\n"
      "constraints: {ground: y = 0, post: x = 0.5}\n");
  check_start_fails(&m, false, "constraint 'post' (row 1): its position is off by 0.25;",
                    "--project");
}

static void test_velocity_off(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: off\ncoordinates: {x: {start: 0.5, rate: 3}, y: {}}\nmass: {x: 1, y: 1}\n"
      "constraints:\n  pair:\n    - y = 0\n    - x = 0.5 + t\n");
  check_start_fails(&m, false, "constraint 'pair' (row 2): its velocity is off by 2 per second;",
                    "--project");
}

// Rounding of the start values is no reason to refuse: 1e-10 of the size passes, 1e-8 does not.
static void test_tolerance_of_the_check(void** unused) {
  (void)unused;
  static const char* const texts[] = {
      "model: near\ncoordinates: {x: {start: 1000.0000001}}\nmass: {x: 1}\n"
      "constraints: {post: x = 1000}\n",
      "model: far\ncoordinates: {x: {start: 1000.00001}}\nmass: {x: 1}\n"
      "constraints: {post: x = 1000}\n"};
  Motion near = motion_text(texts[0]), far = motion_text(texts[1]);
  motion_start(&near, "rk4");
  motion_end(&near);
  check_start_fails(&far, false, "'post'", "off by 1e-05;");
}

// ---- projection ---------------------------------------------------------------------------------
// A bead on an ellipse, with masses that differ by direction and with place.
static const char ELLIPSE[] =
    "model: bead\ncoordinates: {x: {start: 1.6, rate: 1}, y: {start: 0.9, rate: 2}}\n"
    "kinetic: x'^2/2 + 4*y'^2 + x'*y'\nconstraints: {wire: x^2/4 + y^2 = 1 + sin(t)}\n";
static const double ELLIPSE_M[4] = {1, 1, 1, 8};

static double ellipse_distance(double x, double y) {
  double dx = x - 1.6, dy = y - 0.9;
  return ELLIPSE_M[0] * dx * dx + 2 * ELLIPSE_M[1] * dx * dy + ELLIPSE_M[3] * dy * dy;
}

// On the constraint, and no neighbour on it is closer to where the start was.
static void test_least_change_of_position(void** unused) {
  (void)unused;
  Motion m = motion_text(ELLIPSE);
  motion_stepper(&m, "rk4");
  NEED(pawl_stepper_start(m.stepper, m.state, true, &m.err), &m.err);
  double x = m.state->q[0], y = m.state->q[1];
  CHECK_NEAR(x * x / 4 + y * y, 1.0, 1e-14);  // (C1), rounding
  double angle = atan2(y, x / 2), d = 1e-5;
  double here = ellipse_distance(x, y);
  double left = ellipse_distance(2 * cos(angle - d), sin(angle - d));
  double right = ellipse_distance(2 * cos(angle + d), sin(angle + d));
  assert_true(here < left && here < right);
  CHECK_NEAR((right - left) / (2 * d), 0.0, 1e-8);  // stationary; rounding is 1e-15 / d
  motion_end(&m);
}

// Velocities: v - v0 is M^-1 G^T mu, so it is at right angles, in the metric of M, to all motions
// that the constraint allows; no other admissible velocity is closer.
static void test_least_change_of_velocity(void** unused) {
  (void)unused;
  Motion m = motion_text(ELLIPSE);
  motion_stepper(&m, "rk4");
  NEED(pawl_stepper_start(m.stepper, m.state, true, &m.err), &m.err);
  double G[2] = {m.state->q[0] / 2, 2 * m.state->q[1]}, *v = m.state->v;
  CHECK_NEAR(G[0] * v[0] + G[1] * v[1] - 1.0, 0.0, 1e-14);  // (C2): g_t = -cos(0)
  double free[2] = {G[1], -G[0]}, dv[2] = {v[0] - 1, v[1] - 2}, product = 0.0;
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      product += free[i] * ELLIPSE_M[2 * i + j] * dv[j];  // (C3)
    }
  }
  CHECK_NEAR(product, 0.0, 1e-13);
  motion_end(&m);
}

// Momentum along the free direction is kept: a lock between two masses that move apart gives the
// common velocity of a plastic impact, (m1 v1 + m2 v2) / (m1 + m2).
static void test_projection_keeps_momentum(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: lock\ncoordinates: {a: {start: 1, rate: 4}, b: {start: 0, rate: -2}}\n"
      "mass: {a: 1, b: 5}\nconstraints: {lock: a - b = 0}\n");
  motion_stepper(&m, "ga-p");
  NEED(pawl_stepper_start(m.stepper, m.state, true, &m.err), &m.err);
  for (int i = 0; i < 2; i++) {
    CHECK_NEAR(m.state->q[i], 1.0 / 6, 1e-15);  // the centre of mass stays
    CHECK_NEAR(m.state->v[i], -1.0, 1e-15);
  }
  motion_end(&m);
}

// A start that is good already is not touched beyond rounding.
static void test_projection_of_a_good_start(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  motion_stepper(&m, "ga-p");
  double q[3], v[3];
  memcpy(q, m.state->q, sizeof q);
  memcpy(v, m.state->v, sizeof v);
  NEED(pawl_stepper_start(m.stepper, m.state, true, &m.err), &m.err);
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR(m.state->q[i], q[i], 1e-15);
    CHECK_NEAR(m.state->v[i], v[i], 1e-14);
  }
  motion_end(&m);
}

// A start that is off a circle by more than its radius, in a metric of unequal masses: the nearest
// place is where (x - 2.5, 4 (y - 1.5)) is along (x, y).
static void test_projection_from_afar(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: ring\ncoordinates: {x: {start: 2.5}, y: {start: 1.5}}\nmass: {x: 1, y: 4}\n"
      "constraints: {ring: x^2 + y^2 = 1}\n");
  motion_stepper(&m, "rk4");
  NEED(pawl_stepper_start(m.stepper, m.state, true, &m.err), &m.err);
  double x = m.state->q[0], y = m.state->q[1];
  CHECK_NEAR(x * x + y * y, 1.0, 1e-13);
  CHECK_NEAR((x - 2.5) * y - 4 * (y - 1.5) * x, 0.0, 1e-6);
  CHECK_NEAR(x, 0.57603, 1e-5);
  motion_end(&m);
}

// Terms of 1e12 cancel in the row, so that rounding leaves 1e-4 of it; no projection does better.
static void test_projection_with_cancellation(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: far\ncoordinates: {x: {start: 0.7}, y: {start: 1}}\nmass: {x: 1, y: 1}\n"
      "constraints: {rail: (x + 1e6)^2 + y = 1e12 + 1e6*sqrt(2)}\n");
  motion_stepper(&m, "rk4");
  NEED(pawl_stepper_start(m.stepper, m.state, true, &m.err), &m.err);
  CHECK_NEAR(m.state->q[0], sqrt(0.5), 1e-6);  // 2e6 x + x^2 + 1 = 1e6 sqrt(2), but for 1e-6
  motion_end(&m);
}

static void test_nothing_to_project_onto(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: nowhere\ncoordinates: {x: {start: 0.7}}\nmass: {x: 1}\n"
      "constraints: {never: x^2 = -1}\n");
  check_start_fails(&m, true, "cannot be projected", "constraint 'never' (row 1)");
}

// ---- modes and contacts -------------------------------------------------------------------------
#define TWO_MODES                                 \
  "constraints:\n  track:\n    modes:\n"          \
  "      flat: {where: x < 1, equation: y = 0}\n" \
  "      ramp: {where: x > 1, equation: [y = x - 1, \"phi = x - 1\"]}\n"

// Only the rows of the mode are asked for, and they are, with the usual words.
static void test_start_with_modes(void** unused) {
  (void)unused;
  Motion good = motion_text(
      "model: modes\ncoordinates: {x: {start: 0.5, rate: 1}, y: {}, phi: {start: 7, rate: 3}}\n"
      "mass: {x: 1, y: 1, phi: 1}\npotential: 10*y\n" TWO_MODES);
  motion_start(&good, "event-driven");
  assert_int_equal(good.state->modes[0], 0);
  CHECK_NEAR(good.state->lambda[0], 10.0, 1e-13);
  assert_true(good.state->lambda[1] == 0.0);  // a row that the mode does not use
  motion_end(&good);
  Motion off = motion_text(
      "model: modes\ncoordinates: {x: {start: 1.5, rate: 1}, y: {start: 0.5, rate: 1}, phi: {}}\n"
      "mass: {x: 1, y: 1, phi: 1}\n" TWO_MODES);
  check_start_fails(&off, false, "constraint 'track' (row 2): its position is off by -0.5;",
                    "--project");
}

// An open contact has no part in the start; a start inside of one is refused.
static void test_start_with_contacts(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: open\ncoordinates: {x: {}, y: {start: 0.5, rate: -1}}\nmass: {x: 1, y: 1}\n"
      "potential: 10*y\nconstraints: {guide: x = 0}\ncontacts: {floor: {gap: y}}\n");
  motion_start(&m, "nsga-pva");
  assert_true(m.state->a[1] == -10.0 && m.state->lambda[0] == 0.0 && m.state->lambda[1] == 0.0);
  m.state->q[1] = -0.25;  // inside
  assert_int_equal(pawl_stepper_start(m.stepper, m.state, false, &m.err), PAWL_ERROR_RUN);
  assert_non_null(strstr(m.err.message, "inside contact 'floor': its gap is -0.25;"));
  motion_end(&m);
}

// Out of contacts by the least change in the metric of the mass: M d = sum G^T y, 0 <= y _|_ g >=
// 0. Rates stay.                                                                               (C4)
static void test_projection_out_of_contacts(void** unused) {
  (void)unused;
  static const struct {
    const char *start, *mass, *contacts;
    double q[3];
  } cases[] = {
      {"x: {start: 3}, y: {start: -0.1, rate: -2}, z: ",
       "x: 1, y: 1, z: 1",
       "a: {gap: y}",
       {3, 0, 0}},
      {"x: {start: 0.3}, y: {start: 0.4, rate: -2}, z: ",
       "x: 1, y: 1, z: 1",
       "a: {gap: \"hypot(x, y) - 1\"}",
       {0.6, 0.8, 0}},
      // b alone leads to y = 1.28; a, which is farther inside, would pull
      {"x: , y: {rate: -2}, z: ",
       "x: 4, y: 1, z: 1",
       "a: {gap: y - 1}, b: {gap: x + y - 1.6}",
       {0.32, 1.28, 0}},
      // a and b hold it, d = (0.5, 1) of 0.5 (0, 1) + 5 (0.1, 0.1)
      {"x: , y: {rate: -2}, z: ",
       "x: 1, y: 1, z: 1",
       "a: {gap: y - 1}, b: {gap: 0.1*(x + y) - 0.15}",
       {0.5, 1, 0}},
      // four corners of a plate, of which three follow: the nearest place is at the tip of its cone
      {"x: {start: 0.02}, y: {start: 0.01, rate: -2}, z: {start: -0.1}",
       "x: 1, y: 1, z: 1",
       "a: {gap: z + x + y}, b: {gap: z + x - y}, c: {gap: z - x + y}, d: {gap: z - x - y}",
       {0, 0, 0}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[512];
    snprintf(text, sizeof text, "model: out\ncoordinates: {%s}\nmass: {%s}\ncontacts: {%s}\n",
             cases[k].start, cases[k].mass, cases[k].contacts);
    Motion m = motion_text(text);
    motion_stepper(&m, "nsga-pva");
    NEED(pawl_stepper_start(m.stepper, m.state, true, &m.err), &m.err);
    for (int i = 0; i < 3; i++) {
      CHECK_NEAR(m.state->q[i], cases[k].q[i], 1e-12);
      assert_true(m.state->v[i] == (i == 1 ? -2.0 : 0.0));
    }
    motion_end(&m);
  }
  Motion m = motion_text(
      "model: contradict\ncoordinates: {x: , y: {start: -0.01}}\nmass: {x: 1, y: 1}\n"
      "constraints: {rail: y = -0.01}\ncontacts: {floor: {gap: y}}\n");
  motion_stepper(&m, "nsga-pva");
  assert_int_equal(pawl_stepper_start(m.stepper, m.state, true, &m.err), PAWL_ERROR_RUN);
  assert_non_null(strstr(m.err.message, "contact 'floor' is still off by -0.01"));
  motion_end(&m);
}

// ---- redundant rows -----------------------------------------------------------------------------
#define PENDULUM_HEAD                                                                             \
  "model: twice\ncoordinates:\n  x: {start: cos(pi/6), rate: -10*sin(pi/6)}\n"                    \
  "  y: {start: sin(pi/6), rate: 10*cos(pi/6)}\n  theta: {start: pi/6, rate: 10}\n"               \
  "mass: {x: 1, y: 1, theta: 0.1}\npotential: 10*y\nconstraints:\n  pin:\n    - x = cos(theta)\n" \
  "    - y = sin(theta)\n"

static void test_redundant_row_is_named_and_harmless(void** unused) {
  (void)unused;
  for (int k = 0; pawl_method(k); k++) {
    const char* method = pawl_method(k)->name;
    bool drifts = pawl_method(k)->order == 1 || strcmp(method, "ga-v") == 0 ||
                  strcmp(method, "ga-v-between") == 0 || strcmp(method, "ga-a") == 0;
    Motion plain = motion_text(PENDULUM_HEAD), twice = motion_text(PENDULUM_HEAD
                                                                   "  sum: x + y = cos(theta) + "
                                                                   "sin(theta)\n");
    double position;
    if (!motion_can(&plain, method)) {
      motion_end(&plain);
      motion_end(&twice);
      continue;
    }
    motion_run(&plain, method, 0.5, 1000, NULL);
    motion_run(&twice, method, 0.5, 1000, &position);
    assert_non_null(strstr(pawl_stepper_warning(twice.stepper), "'sum' (row 1)"));
    assert_int_equal(pawl_stepper_info(twice.stepper).redundant_rows, 1);
    for (int i = 0; i < 3; i++) {
      CHECK_NEAR(twice.state->q[i], plain.state->q[i], 1e-10);
      CHECK_NEAR(twice.state->v[i], plain.state->v[i], 1e-9);
    }
    // The row left out holds as well; rk4 drifts a little, and those without positions do.
    assert_true(position < (drifts ? 0.05 : 1e-8));
    motion_end(&plain);
    motion_end(&twice);
  }
}

// Rows r and 2 r share a force F as lambda + 2 mu = F; the shortest such pair is F/5 (1, 2). The
// state itself carries one of the many.
static void test_multipliers_of_minimum_norm(void** unused) {
  (void)unused;
  Motion m = motion_text(PENDULUM_HEAD "  again: 2*x = 2*cos(theta)\n");
  double F = -82.66606127033276, lambda[3];
  for (int k = 0; pawl_method(k); k++) {
    if (!motion_can(&m, pawl_method(k)->name)) {
      continue;
    }
    motion_start(&m, pawl_method(k)->name);
    CHECK_NEAR(m.state->lambda[0] + 2 * m.state->lambda[2], F, 1e-11);
    NEED(pawl_stepper_multipliers(m.stepper, m.state, lambda, &m.err), &m.err);
    CHECK_NEAR(lambda[0], F / 5, 1e-11);
    CHECK_NEAR(lambda[1], -46.81818181818181, 1e-11);
    CHECK_NEAR(lambda[2], 2 * F / 5, 1e-11);
    motion_step(&m, 1e-3);
    NEED(pawl_stepper_multipliers(m.stepper, m.state, lambda, &m.err), &m.err);
    CHECK_NEAR(lambda[2], 2 * lambda[0], 1e-9);  // after a step as well
  }
  motion_end(&m);
}

// Without redundant rows they are those of the state.
static void test_multipliers_without_redundancy(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  double lambda[2];
  motion_run(&m, "ga-p", 0.1, 50, NULL);
  NEED(pawl_stepper_multipliers(m.stepper, m.state, lambda, &m.err), &m.err);
  assert_memory_equal(lambda, m.state->lambda, sizeof lambda);
  motion_end(&m);
}

static void test_contradiction(void** unused) {
  (void)unused;
  static const char text[] =
      "model: both\ncoordinates: {x: {}, y: {}}\nmass: {x: 1, y: 1}\n"
      "constraints: {left: x = 0, right: x = 1}\n";
  Motion first = motion_text(text), second = motion_text(text);
  check_start_fails(&first, false, "constraint 'right' (row 1)", "off by -1");
  check_start_fails(&second, true, "'right' (row 1)", "contradict");
}

// Not contradictory in position and velocity, but at once after.
static void test_contradiction_of_accelerations(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: part\ncoordinates: {x: {}, y: {}}\nmass: {x: 1, y: 1}\n"
      "constraints: {left: x = 0, right: x = t^2}\n");
  check_start_fails(&m, false, "'right' (row 1)", "off by -2 per second squared");
}

// Two rows that coincide in the start only: the second must not be forgotten for good.
static void test_dependent_at_the_start_only(void** unused) {
  (void)unused;
  static const char* const methods[] = {"ga-p", "rk4"};
  for (int k = 0; k < 2; k++) {
    Motion m = motion_text(
        "model: fork\ncoordinates: {x: {rate: 1}, y: {}}\nmass: {x: 1, y: 1}\n"
        "constraints: {flat: y = 0, cubic: y = x^3}\n");
    motion_stepper(&m, methods[k]);
    PawlStatus status = pawl_stepper_start(m.stepper, m.state, false, &m.err);
    for (int i = 0; i < 200 && status == PAWL_OK; i++) {
      status = pawl_stepper_step(m.stepper, m.state, 0.01, &m.err);
    }
    assert_int_not_equal(status, PAWL_OK);
    assert_non_null(strstr(m.err.message, "'cubic' (row 1)"));
    motion_end(&m);
  }
}

// ---- no mass ------------------------------------------------------------------------------------
static void test_no_mass(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: light\ncoordinates: {heavy: {}, light: {}}\nkinetic: heavy'^2\npotential: light\n");
  check_start_fails(&m, false, "singular at coordinate 'light'", "zero?");
  m = motion_text(
      "model: light\ncoordinates: {heavy: {}, light: {}}\nkinetic: heavy'^2\npotential: light\n");
  check_start_fails(&m, true, "singular at coordinate 'light'", "zero?");
}

// A coordinate without mass is no harm where a constraint moves it.
static void test_no_mass_but_constrained(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: pointer\ncoordinates: {x: {start: 1}, needle: {start: 3}}\nkinetic: x'^2/2\n"
      "potential: 2*x^2\nconstraints: {gear: needle = 3*x}\n");
  motion_start(&m, "rk4");
  CHECK_NEAR(m.state->a[1], -12.0, 1e-13);
  Reference reference = {1.0, {cos(2), 3 * cos(2)}, {-2 * sin(2), -6 * sin(2)}};
  check_order(&m, "ga-p", 2.0, 0.1, 0.01, 1, &reference);
  motion_end(&m);
}

static void test_start_outside_a_domain(void** unused) {
  (void)unused;
  Motion m =
      motion_text("model: log\ncoordinates: {x: {start: -1}}\nmass: {x: 1}\npotential: x*log(x)\n");
  check_start_fails(&m, false, "test:4", "t = 0");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_start_of_the_pendulum),
      cmocka_unit_test(test_sign_of_the_multiplier),
      cmocka_unit_test(test_moving_constraint),
      cmocka_unit_test(test_position_off),
      cmocka_unit_test(test_velocity_off),
      cmocka_unit_test(test_tolerance_of_the_check),
      cmocka_unit_test(test_least_change_of_position),
      cmocka_unit_test(test_least_change_of_velocity),
      cmocka_unit_test(test_projection_keeps_momentum),
      cmocka_unit_test(test_projection_of_a_good_start),
      cmocka_unit_test(test_projection_from_afar),
      cmocka_unit_test(test_projection_with_cancellation),
      cmocka_unit_test(test_nothing_to_project_onto),
      cmocka_unit_test(test_start_with_modes),
      cmocka_unit_test(test_start_with_contacts),
      cmocka_unit_test(test_projection_out_of_contacts),
      cmocka_unit_test(test_redundant_row_is_named_and_harmless),
      cmocka_unit_test(test_multipliers_of_minimum_norm),
      cmocka_unit_test(test_multipliers_without_redundancy),
      cmocka_unit_test(test_contradiction),
      cmocka_unit_test(test_contradiction_of_accelerations),
      cmocka_unit_test(test_dependent_at_the_start_only),
      cmocka_unit_test(test_no_mass),
      cmocka_unit_test(test_no_mass_but_constrained),
      cmocka_unit_test(test_start_outside_a_domain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
