// SPDX-License-Identifier: Apache-2.0
// Positions in which rows become dependent: explicit methods pass them on their branch, or stop and
// name the rows. And masses that are lost on the way.
#include "step/motion.h"

// Bars of length 1: at y0 = 0 all lie on a line, and three motions lead on. The start is on the
// parallelogram, which moves as a pendulum of length 1 does; the reference is its quadrature.
static const char PARALLELOGRAM[] =
    "model: parallelogram\n"
    "coordinates: {x0: {start: 0, rate: 1}, y0: 1, x1: {start: 1, rate: 1}, y1: 1}\n"
    "mass: {x0: 1, y0: 1, x1: 1, y1: 1}\n"
    "potential: 9.81*(y0 + y1)\n"
    "constraints:\n"
    "  left: x0^2 + y0^2 = 1\n"
    "  right: (x1 - 1)^2 + y1^2 = 1\n"
    "  bar: (x1 - x0)^2 + (y1 - y0)^2 = 1\n";

static PawlStatus try_run(Motion* m, const char* method, double h, int steps) {
  PawlStatus status = PAWL_OK;
  motion_start(m, method);
  for (int k = 0; k < steps && status == PAWL_OK; k++) {
    status = pawl_stepper_step(m->stepper, m->state, h, &m->err);
  }
  return status;
}

// The same pendulum as one angle from the top, by rk4 in small steps.
static double pendulum_x(double until) {
  enum { STEPS = 200000 };
  double h = until / STEPS, y[2] = {0.0, 1.0};
  for (int k = 0; k < STEPS; k++) {
    double r[4][2], z[2];
    static const double c[4] = {0, 0.5, 0.5, 1};
    for (int i = 0; i < 4; i++) {
      for (int j = 0; j < 2; j++) {
        z[j] = y[j] + (i ? c[i] * h * r[i - 1][j] : 0.0);
      }
      r[i][0] = z[1];
      r[i][1] = 9.81 * sin(z[0]);
    }
    for (int j = 0; j < 2; j++) {
      y[j] += h / 6 * (r[0][j] + 2 * r[1][j] + 2 * r[2][j] + r[3][j]);
    }
  }
  return sin(y[0]);
}

static void test_passes_on_its_branch(void** unused) {
  (void)unused;
  static const struct {
    const char *method, *form;
    double h, tolerance;
  } cases[] = {{"dopri", "index-1", 0.02, 1e-5},
               {"dopri", "projected", 0.02, 1e-5},
               {"rk4", "index-1", 0.02, 2e-3},
               {"rk4", "projected", 1e-3, 1e-6}};
  double x = pendulum_x(10.0);
  for (int k = 0; k < 4; k++) {
    Motion m = motion_text(PARALLELOGRAM);
    m.def.form = cases[k].form;
    NEED(try_run(&m, cases[k].method, cases[k].h, (int)lround(10.0 / cases[k].h)), &m.err);
    CHECK_NEAR(m.state->q[0], x, cases[k].tolerance);
    CHECK_NEAR(m.state->q[2], x + 1.0, cases[k].tolerance);
    motion_end(&m);
  }
}

// With tolerances near rounding the steps shrink next to the position; a leap leads over it.  (D5)
static void test_leaps_with_small_tolerances(void** unused) {
  (void)unused;
  static const char* const forms[] = {"index-1", "projected"};
  static const double rtol[] = {1e-9, 1e-10, 1e-11, 1e-12};
  double x = pendulum_x(10.0);
  for (int k = 0; k < 8; k++) {
    Motion m = motion_text(PARALLELOGRAM);
    m.def.form = forms[k % 2];
    m.def.rtol = m.def.atol = rtol[k / 2];
    NEED(try_run(&m, "dopri", 0.01, 1000), &m.err);
    CHECK_NEAR(m.state->q[0], x, 500 * m.def.rtol + 1e-8);
    CHECK_NEAR(m.state->q[2], x + 1.0, 500 * m.def.rtol + 1e-8);
    motion_end(&m);
  }
}

// A rod that is pushed farther than it reaches: nothing leads on. What is said names the rows and
// the place, and not the mass.
static void test_names_the_rows(void** unused) {
  (void)unused;
  static const char* const words[] = {"'rod'", "'push'", "become dependent at x = ", ", y = 1"};
  Motion m = motion_text(
      "model: fold\ncoordinates: {x: {start: 1}, y: {rate: 1}}\nmass: {x: 1, y: 1}\n"
      "constraints: {rod: x^2 + y^2 = 1, push: y = t}\n");
  m.def.rtol = 1e-9;
  assert_int_equal(try_run(&m, "dopri", 0.01, 101), PAWL_RETRY);
  for (int k = 0; k < 4; k++) {
    assert_non_null(strstr(m.err.message, words[k]));
  }
  assert_null(strstr(m.err.message, "mass"));
  CHECK_NEAR(m.state->t, 0.99, 1e-9);
  motion_end(&m);
}

// A method whose steps shrink where links come into one line says which one passes.
static void test_names_who_passes(void** unused) {
  (void)unused;
  if (!pawl_method_find("ark")) {
    return;
  }
  Motion m = motion_text(
      "model: flat\nbodies:\n  a: {mass: 1, inertia: 0.1, centre: [0.5, 0], points: {tip: [1, "
      "0]}}\n"
      "  b: {mass: 1, inertia: 0.1, centre: [1, 0], points: {tip: [2, 0]}}\n"
      "  c: {mass: 1, inertia: 0.1, centre: [0.5, 0], points: {tip: [1, 0]}}\n"
      "mechanism: {coordinates: absolute}\njoints:\n"
      "  i: {revolute: [ground, a], start: 0.5, rate: 1}\n"
      "  j: {revolute: [a, b], at: a.tip, guess: -0.5}\n"
      "  k: {revolute: [ground, c], at: [2, 0], guess: 0.5}\n"
      "  l: {revolute: [b, c], at: [b.tip, c.tip]}\n");
  assert_int_equal(try_run(&m, "ark", 0.001, 3000), PAWL_RETRY);
  assert_non_null(strstr(m.err.message, "dopri may pass it"));
  motion_end(&m);
}

// The mass of y is 2 (0.02 - y); kinetic energy is kept, so that y runs into the point where it is
// zero, at 2/3 0.02 s. Beyond it there is no motion. A step that is not found is taken in halves.
static void test_lost_mass_stops(void** unused) {
  (void)unused;
  static const char* const methods[] = {"ga-p", "rk4", "nsga-pva", "moreau-jean"};
  for (int k = 0; k < 4; k++) {
    Motion m = motion_text(
        "model: lost\ncoordinates: {x: 1, y: {rate: 1}}\nkinetic: x'^2 + (0.02 - y)*y'^2\n");
    PawlStatus status = PAWL_OK;
    motion_start(&m, methods[k]);
    for (double h = 5e-4; status >= 0 && h > 1e-9; h = status == PAWL_RETRY ? 0.5 * h : 5e-4) {
      status = pawl_stepper_step(m.stepper, m.state, h, &m.err);
    }
    assert_int_equal(status, PAWL_ERROR_RUN);
    assert_non_null(strstr(m.err.message, "t = 0.01"));
    assert_non_null(strstr(m.err.message, "not positive definite any more: at coordinate 'y'"));
    motion_end(&m);
  }
}

// A constraint that jumps in time, but for rounding, moves nothing.
static void test_jump_in_time_stops(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: jump\ncoordinates: {x: 1, y: }\nmass: {x: 1, y: 1}\ndefine: {s: t - 0.01053}\n"
      "constraints: {place: x = 1.5 + s/sqrt(s^2 + 1e-40)/2}\n");
  assert_int_equal(try_run(&m, "rk4", 1e-3, 20), PAWL_RETRY);
  assert_non_null(strstr(m.err.message, "jump in time"));
  CHECK_NEAR(m.state->t, 0.01, 1e-12);
  CHECK_NEAR(m.state->q[0], 1.0, 1e-15);
  motion_end(&m);
}

// Branches of a constraint that are 1 apart: no time-stepping method moves across.
static void test_branches_apart_are_refused(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
  for (int k = 0; k < 3; k++) {
    Motion m = motion_text(
        "model: apart\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\nconstraints:\n"
        "  k: {modes: {a: {where: x < 0.02, equation: y = 0},"
        " b: {where: x > 0.02, equation: y = 1}}}\n");
    assert_int_equal(try_run(&m, methods[k], 3e-3, 20), PAWL_ERROR_RUN);
    assert_non_null(strstr(m.err.message, "t = 0.018"));
    assert_non_null(strstr(m.err.message, "'k' (row 1) is off by -1"));
    assert_true(m.state->q[1] == 0.0);
    motion_end(&m);
  }
}

// Rows with an angle next to that at which they count as one: all methods must take the same side,
// or say so. Independent they make it x = -y = z, one mass 4 on a spring of 2 with a weight of 3.
static void test_nearly_parallel_rows(void** unused) {
  (void)unused;
  static const char* const methods[] = {"exponential", "taylor", "rk4", "ga-p"};
  static const double angles[] = {1e-5, 2e-6, 1e-6, 8e-7, 2e-7};
  for (size_t k = 0; k < sizeof angles / sizeof *angles; k++) {
    double e = angles[k];
    char text[500];
    snprintf(text, sizeof text,
             "model: a\ncoordinates: {x: {}, y: {}, z: {}}\nmass: {x: 1, y: 2, z: 1}\n"
             "potential: 3*x + 2*y + z^2 + 2*z\n"
             "constraints: {a: x + y = 0, b: x + (1 + %g)*y + %g*z = 0}\n",
             e, e);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
      Motion m = motion_text(text);
      motion_start(&m, methods[i]);
      for (int step = 0; step < 300; step++) {
        NEED(pawl_stepper_step(m.stepper, m.state, 0.01, &m.err), &m.err);
      }
      bool told = strstr(pawl_stepper_warning(m.stepper), "redundant") != NULL;
      double z = 1.5 * (cos(sqrt(0.5) * m.state->t) - 1.0);
      print_message("%g %s: z = %.9g, %.9g expected%s\n", e, methods[i], m.state->q[2], z,
                    told ? ", and told" : "");
      assert_true(told == (e < 5e-7));
      CHECK_NEAR(m.state->q[2], told ? m.state->q[2] : z, 1e-4);
      motion_end(&m);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_passes_on_its_branch),
      cmocka_unit_test(test_leaps_with_small_tolerances),
      cmocka_unit_test(test_names_the_rows),
      cmocka_unit_test(test_names_who_passes),
      cmocka_unit_test(test_nearly_parallel_rows),
      cmocka_unit_test(test_lost_mass_stops),
      cmocka_unit_test(test_jump_in_time_stops),
      cmocka_unit_test(test_branches_apart_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
