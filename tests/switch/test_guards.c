// SPDX-License-Identifier: Apache-2.0
// What the system makes of regions, wraps and modes: switching functions that are positive inside
// their region and nowhere else, wraps of a constraint unwound by a count of turns, and the values
// of each mode equal to those of a model that knows this mode alone.
#include "system/setup.h"

enum { MOST_MODES = 16, POINTS = 200 };

// Evaluates everything at a place with these modes.
static const PawlValues* values_at(Setup* s, const Place* place, const int* modes) {
  PawlPoint point = {place->t, place->q, place->v, place->a, place->lambda, modes, NULL};
  PawlError err = {0};
  if (pawl_eval_run(s->eval, &point, &err) != PAWL_OK) {
    print_error("%s\n", err.message);
    fail();
  }
  return pawl_eval_values(s->eval);
}

// ---- regions to switching functions -------------------------------------------------------------
// A region of x and y (and t) as the model has it, whether a point is inside, and z by hand.
typedef struct Region {
  const char* where;
  bool (*inside)(double x, double y, double t);
  double (*z)(double x, double y, double t);
} Region;

static bool left(double x, double y, double t) {
  (void)y, (void)t;
  return x < 3;
}
static double left_z(double x, double y, double t) {
  (void)y, (void)t;
  return 3 - x;
}
static bool right(double x, double y, double t) {
  (void)y, (void)t;
  return x > 3;
}
static double right_z(double x, double y, double t) {
  (void)y, (void)t;
  return x - 3;
}
static bool band(double x, double y, double t) {
  (void)y, (void)t;
  return 1 < x && x < 3;
}
static double band_z(double x, double y, double t) {
  (void)y, (void)t;
  return (x - 1) * (3 - x);
}
static bool outside(double x, double y, double t) {
  return !band(x, y, t);
}
static double outside_z(double x, double y, double t) {
  return -band_z(x, y, t);
}
static double either_z(double x, double y, double t) {
  (void)y, (void)t;
  return fmax(1 - x, x - 3);
}
static bool quadrant(double x, double y, double t) {
  (void)t;
  return x < 0 && y > 0;
}
static double quadrant_z(double x, double y, double t) {
  (void)t;
  return fmin(-x, y);
}
static bool moving(double x, double y, double t) {
  return sin(x) + y * t < x * y;
}
static double moving_z(double x, double y, double t) {
  return x * y - (sin(x) + y * t);
}
static bool ordered(double x, double y, double t) {
  return x < y && y < t;
}
static double ordered_z(double x, double y, double t) {
  return fmin(y - x, t - y);
}
static bool nowhere(double x, double y, double t) {
  (void)x, (void)y, (void)t;
  return false;
}

// Where z is not stated only its sign is checked.
static const Region REGIONS[] = {
    {"x < 3", left, left_z},
    {"x <= 3", left, left_z},
    {"x > l", right, right_z},
    {"x >= 3", right, right_z},
    {"3 < x", right, right_z},
    {"1 < x < 3", band, band_z},
    {"1 < x and x < l", band, band_z},
    {"l >= x >= 1", band, NULL},
    {"not (x < 3)", right, right_z},
    {"not (1 < x < l)", outside, outside_z},
    {"x < 1 or x > 3", outside, either_z},
    {"x < 0 and 0 < y", quadrant, quadrant_z},
    {"y > 0 and x < 0", quadrant, quadrant_z},
    {"sin(x) + y*t < x*y", moving, moving_z},
    {"x < y < t", ordered, ordered_z},
    {"3 < x < 1", nowhere, NULL},
};

// A second mode keeps the model a switching one; its region is a constant.
static Setup setup_region(const char* where) {
  char text[512];
  snprintf(text, sizeof text,
           "model: region\nparameters: {l: 3}\ncoordinates: [x, y]\nmass: {x: 1, y: 1}\n"
           "constraints:\n  c:\n    modes:\n      a: {where: %s, equation: x = 0}\n"
           "      b: {where: y > 1e9, equation: y = 0}\n",
           where);
  return setup_text(text);
}

// z' by differences of the function written by hand, along (x', y', 1).
static double slope_of(const Region* region, const Place* p) {
  double e = 1e-5;
  double ahead = region->z(p->q[0] + e * p->v[0], p->q[1] + e * p->v[1], p->t + e);
  double behind = region->z(p->q[0] - e * p->v[0], p->q[1] - e * p->v[1], p->t - e);
  return (ahead - behind) / (2 * e);
}

static void test_regions(void** unused) {
  (void)unused;
  Random r = {7};
  for (size_t k = 0; k < sizeof REGIONS / sizeof *REGIONS; k++) {
    const Region* region = &REGIONS[k];
    Setup s = setup_region(region->where);
    for (int i = 0; i < POINTS; i++) {
      Place p = random_place(s.system, &r);
      p.q[0] = random_between(&r, -5, 5);
      p.q[1] = random_between(&r, -5, 5);
      const PawlValues* x = values_at(&s, &p, NULL);
      if ((x->z[0] > 0) != region->inside(p.q[0], p.q[1], p.t)) {
        print_error("%s: z = %g at x = %g, y = %g, t = %g\n", region->where, x->z[0], p.q[0],
                    p.q[1], p.t);
        fail();
      }
      if (region->z) {
        CHECK_NEAR(x->z[0], region->z(p.q[0], p.q[1], p.t), 1e-13);
        CHECK_NEAR(x->z_rate[0], slope_of(region, &p), 1e-8);  // of the difference
      }
      CHECK_NEAR(x->z[1], p.q[1] - 1e9, 1e-6);
      place_free(&p);
    }
    setup_free(&s);
  }
}

// Conditions that have no inside and outside are refused where the user wrote them.
static void test_regions_refused(void** unused) {
  (void)unused;
  static const char* const wheres[] = {"x == 0", "x != 0", "x < 3 and y == 0", "not (x == 0)"};
  for (size_t k = 0; k < sizeof wheres / sizeof *wheres; k++) {
    char text[512];
    snprintf(text, sizeof text,
             "model: region\ncoordinates: [x, y]\nmass: {x: 1, y: 1}\nconstraints:\n  c:\n"
             "    modes:\n      a: {where: %s, equation: x = 0}\n"
             "      b: {where: x > 3, equation: y = 0}\n",
             wheres[k]);
    PawlModel* model = NULL;
    PawlSystem* system = NULL;
    PawlError err = {0};
    PawlStatus status = pawl_model_parse(text, strlen(text), "test.yaml", 0, NULL, &model, &err);
    status = status ? status : pawl_system_create(model, &system, &err);
    assert_int_equal(status, PAWL_ERROR_MODEL);
    assert_null(system);
    assert_non_null(strstr(err.message, "test.yaml:7:"));
    pawl_model_destroy(model);
  }
}

// ---- comparing two systems ----------------------------------------------------------------------
static void check_array(const char* what, int count, const double* a, const double* b) {
  for (int k = 0; k < count; k++) {
    if (!(fabs(a[k] - b[k]) <= 1e-12 * (1.0 + fabs(b[k])))) {  // rounding of another order of sums
      print_error("%s[%d] = %.17g, expected %.17g\n", what, k, a[k], b[k]);
      fail();
    }
  }
}

// Matrices in the patterns of two systems, as dense ones.
static void check_matrix(const char* what, PawlPattern p, const double* a, PawlPattern q,
                         const double* b) {
  double* x = numbers(p.rows * p.cols);
  double* y = numbers(p.rows * p.cols);
  to_dense(p, a, x);
  to_dense(q, b, y);
  check_array(what, p.rows * p.cols, x, y);
  free(x);
  free(y);
}

// All that constraints contribute, of a system in these modes and of one with plain constraints.
static void check_same(Setup* switching, const int* modes, Setup* plain, const Place* place) {
  const PawlValues* a = values_at(switching, place, modes);
  const PawlValues* b = values_at(plain, place, NULL);
  PawlPattern G = pawl_system_pattern_G(switching->system);
  PawlPattern G_plain = pawl_system_pattern_G(plain->system);
  PawlPattern H = pawl_system_pattern_H(switching->system);
  PawlPattern H_plain = pawl_system_pattern_H(plain->system);
  int rows = switching->n.rows;
  assert_int_equal(rows, plain->n.rows);
  check_array("g", rows, a->g, b->g);
  check_array("g_t", rows, a->g_t, b->g_t);
  check_array("gamma", rows, a->gamma, b->gamma);
  check_matrix("G", G, a->G, G_plain, b->G);
  check_matrix("G_rate", G, a->G_rate, G_plain, b->G_rate);
  check_matrix("G_acceleration", G, a->G_acceleration, G_plain, b->G_acceleration);
  check_matrix("K", H, a->K, H_plain, b->K);
  check_matrix("C", H, a->C, H_plain, b->C);
  check_matrix("M", H, a->M, H_plain, b->M);
  check_array("f", plain->n.v, a->f, b->f);
}

// ---- turns --------------------------------------------------------------------------------------
// The constraint of `format` with wrap(...) against the same with `argument - turn*(period)`.
typedef struct Wrap {
  const char *argument, *period;
} Wrap;

static const Wrap WRAPS[] = {
    {"th", "2*pi"}, {"th + x*y", "3"}, {"th - 2*t", "1 + x^2"}, {"t", "0.3"}};

static Setup setup_wrap(const Wrap* w, const int* turn) {
  char inner[128], text[1024];
  if (turn) {
    snprintf(inner, sizeof inner, "(%s - (%s)*(%d))", w->argument, w->period, *turn);
  } else {
    snprintf(inner, sizeof inner, "wrap(%s, %s)", w->argument, w->period);
  }
  snprintf(text, sizeof text,
           "model: wrap\ncoordinates: [x, y, th]\nmass: {x: 1, y: 2, th: 3}\n"
           "constraints:\n  cam:\n    - y = 2 + cos(%s/2)*x\n    - x = %s^2\n  other: x = y*t\n",
           inner, inner);
  return setup_text(text);
}

static void test_turns(void** unused) {
  (void)unused;
  Random r = {11};
  for (size_t k = 0; k < sizeof WRAPS / sizeof *WRAPS; k++) {
    Setup wrapped = setup_wrap(&WRAPS[k], NULL);
    assert_int_equal(wrapped.n.modes, 3);  // two constraints, and one turn for both rows
    for (int turn = -3; turn <= 3; turn++) {
      Setup plain = setup_wrap(&WRAPS[k], &turn);
      assert_int_equal(plain.n.modes, 2);
      Place p = random_place(wrapped.system, &r);
      check_same(&wrapped, (int[]){0, 0, turn}, &plain, &p);
      place_free(&p);
      setup_free(&plain);
    }
    setup_free(&wrapped);
  }
}

// A wrap inside a wrap: two turns, the inner one first.
static void test_nested_turns(void** unused) {
  (void)unused;
  Random r = {15};
  static const char form[] =
      "model: nested\ncoordinates: [x, th]\nmass: {x: 1, th: 1}\nconstraints:\n"
      "  c: x^2 = sin(%s)*th\n";
  char text[512], inner[128];
  snprintf(text, sizeof text, form, "wrap(wrap(th, 5)*x + th, 2)");
  Setup wrapped = setup_text(text);
  assert_int_equal(wrapped.n.modes, 3);
  for (int k = 0; k < 9; k++) {
    int first = k / 3 - 1, second = 2 * (k % 3 - 1);
    snprintf(inner, sizeof inner, "((th - 5*(%d))*x + th - 2*(%d))", first, second);
    snprintf(text, sizeof text, form, inner);
    Setup plain = setup_text(text);
    Place p = random_place(wrapped.system, &r);
    check_same(&wrapped, (int[]){0, first, second}, &plain, &p);
    place_free(&p);
    setup_free(&plain);
  }
  setup_free(&wrapped);
}

// z of a turn counts periods: its value and rate by hand.
static void test_turn_functions(void** unused) {
  (void)unused;
  Random r = {12};
  Setup s = setup_wrap(&WRAPS[2], NULL);
  for (int i = 0; i < 20; i++) {
    Place p = random_place(s.system, &r);
    const PawlValues* x = values_at(&s, &p, (int[]){0, 0, 5});  // the present turn does not matter
    double a = p.q[2] - 2 * p.t, b = 1 + p.q[0] * p.q[0];
    double rate = (p.v[2] - 2) / b - a * 2 * p.q[0] * p.v[0] / (b * b);
    CHECK_NEAR(x->z[0], a / b, 1e-14);
    CHECK_NEAR(x->z_rate[0], rate, 1e-13);
    place_free(&p);
  }
  setup_free(&s);
}

// Two constraints with the same wrap have one turn, which switches both of them.
static void test_shared_turn(void** unused) {
  (void)unused;
  Setup s = setup_text(
      "model: shared\ncoordinates: [x, y, th, u]\nmass: {x: 1, y: 2, th: 3, u: 1}\n"
      "constraints: {a: \"x = sin(wrap(th, 2)*pi/2)\", b: \"y = x*sin(wrap(th, 2)*pi/2)\", c: u = "
      "x}\n");
  assert_int_equal(s.n.modes, 4);
  int from[] = {0, 0, 0, 0}, to[] = {0, 0, 0, 1};
  for (int row = 0; row < 3; row++) {
    assert_true(pawl_system_row_switches(s.system, row) == (row < 2));
    assert_true(pawl_system_switched(s.system, row, from, to) == (row < 2));
  }
  setup_free(&s);
}

// Elsewhere a wrap is the function that it is, also beside a constraint that unwinds it; in the
// potential as long as its variable, the last, is 0.
static void test_wrap_outside_constraints(void** unused) {
  (void)unused;
  Random r = {13};
  Setup s = setup_text(
      "model: outside\ncoordinates: [x, th]\nmass: {x: 1, th: 3}\n"
      "potential: (wrap(th, 2) - 1)^2\nconstraints: {c: \"x = wrap(th, 2)\"}\n"
      "outputs: {angle: \"wrap(th, 2)\"}\n");
  Setup none = setup_text(
      "model: none\ncoordinates: [x, th]\nmass: {x: 1, th: 3}\n"
      "potential: (wrap(th, 2) - 1)^2\nconstraints: {c: x = th}\n");
  assert_int_equal(s.n.modes, 3);
  assert_int_equal(none.n.modes, 2);
  assert_false(pawl_system_row_switches(none.system, 0));
  for (int i = 0; i < 50; i++) {
    Place p = random_place(s.system, &r);
    p.q[1] = random_between(&r, -9, 9);
    double inside = p.q[1] - 2 * floor(p.q[1] / 2);
    const PawlValues* x = values_at(&s, &p, (int[]){0, 3, 0});
    CHECK_NEAR(x->outputs[0], inside, 1e-14);
    CHECK_NEAR(x->energy[1], (inside - 1) * (inside - 1), 1e-14);
    CHECK_NEAR(x->f[1], -2 * (inside - 1), 1e-14);
    CHECK_NEAR(x->g[0], p.q[0] - (p.q[1] - 6), 1e-14);
    place_free(&p);
  }
  setup_free(&s);
  setup_free(&none);
}

// The same turn in many constraints of one shape.
static void test_turn_of_a_family(void** unused) {
  (void)unused;
  Random r = {14};
  static const char form[] =
      "model: turns\nparameters: {N: 7}\ncoordinates: {th: 0, \"y[i=1..N]\": 0}\n"
      "mass: {th: 1, \"y[i=1..N]\": 1}\nconstraints:\n"
      "  \"c[i=1..N]\": \"y[i] = (i + 0.5)*sin(0.7*%s)\"\n";
  char text[512];
  snprintf(text, sizeof text, form, "wrap(th, 2)");
  Setup wrapped = setup_text(text);
  for (int turn = -2; turn <= 2; turn++) {
    char inner[32];
    snprintf(inner, sizeof inner, "(th - 2*(%d))", turn);
    snprintf(text, sizeof text, form, inner);
    Setup plain = setup_text(text);
    Place p = random_place(wrapped.system, &r);
    int modes[8] = {[7] = turn};
    check_same(&wrapped, modes, &plain, &p);
    place_free(&p);
    setup_free(&plain);
  }
  setup_free(&wrapped);
}

// ---- gates --------------------------------------------------------------------------------------
// Three modes of two, one and no rows; rows that a mode leaves out read 0.
static const char* const MODE_EQUATIONS[] = {"[x*y = t^2, sin(x) = y*z]", "y^2*z = x + t", "none"};

static Setup setup_modes(int only) {
  char text[1024], plain[256];
  const char* head =
      "model: modes\ncoordinates: {x: 0.5, y: 0.3, z: 0.2}\n"
      "kinetic: (1 + x^2)*(x'^2 + y'^2) + z'^2*(2 + y)\npotential: x*y*z\nconstraints:\n"
      "  first: x*z = y*t\n  switching:";
  if (only >= 0) {
    snprintf(plain, sizeof plain, " {equation: %s}\n",
             only == 0   ? "[x*y = t^2, sin(x) = y*z]"
             : only == 1 ? "[y^2*z = x + t, 0*x]"
                         : "[0*x, 0*x]");
    snprintf(text, sizeof text, "%s%s  last: z = x\n", head, plain);
    return setup_text(text);
  }
  snprintf(text, sizeof text,
           "%s\n    modes:\n      a: {where: x < 0, equation: %s}\n"
           "      b: {where: 0 < x < 1, equation: %s}\n      c: {where: x > 1, equation: %s}\n"
           "  last: z = x\n",
           head, MODE_EQUATIONS[0], MODE_EQUATIONS[1], MODE_EQUATIONS[2]);
  return setup_text(text);
}

static void test_modes_alone(void** unused) {
  (void)unused;
  Random r = {21};
  Setup s = setup_modes(-1);
  assert_int_equal(s.n.rows, 4);
  for (int mode = 0; mode < 3; mode++) {
    Setup plain = setup_modes(mode);
    for (int i = 0; i < 20; i++) {
      Place p = random_place(s.system, &r);
      check_same(&s, (int[]){0, mode, 0}, &plain, &p);
      const PawlValues* x = values_at(&s, &p, (int[]){0, mode, 0});
      for (int row = 1 + (mode == 0 ? 2 : mode == 1 ? 1 : 0); row < 3; row++) {
        assert_true(x->g[row] == 0.0 && x->g_t[row] == 0.0 && x->gamma[row] == 0.0);
      }
      place_free(&p);
    }
    setup_free(&plain);
  }
  setup_free(&s);
}

// Nothing is left over from a mode that was evaluated before; without modes the first ones hold.
static void test_modes_in_turn(void** unused) {
  (void)unused;
  Random r = {22};
  Setup s = setup_modes(-1);
  Place p = random_place(s.system, &r);
  double g[3][4];
  for (int round = 0; round < 3; round++) {
    for (int mode = 2; mode >= 0; mode--) {
      const PawlValues* x = values_at(&s, &p, (int[]){0, mode, 0});
      if (round == 0) {
        memcpy(g[mode], x->g, sizeof g[mode]);
      }
      assert_memory_equal(g[mode], x->g, sizeof g[mode]);
    }
    assert_memory_equal(g[0], values_at(&s, &p, NULL)->g, sizeof g[0]);
  }
  place_free(&p);
  setup_free(&s);
}

// A family of switching constraints, each in a mode of its own, against the equations written out.
static void test_modes_in_lanes(void** unused) {
  (void)unused;
  enum { N = 18 };
  Random r = {23};
  static const char* const equation[] = {"y[i]^2 = i*x[i] + t", "sin(x[i])*y[i] = c", "x[i] = i*t",
                                         "0*x[i]"};
  char text[2048];
  snprintf(text, sizeof text,
           "model: family\nparameters: {N: %d, c: 0.3}\n"
           "coordinates: {\"x[i=1..N]\": 0.4, \"y[i=1..N]\": 0.7}\n"
           "mass: {\"x[i=1..N]\": i, \"y[i=1..N]\": 2}\nconstraints:\n  \"s[i=1..N]\":\n"
           "    modes:\n      a: {where: \"x[i] < 0\", equation: \"%s\"}\n"
           "      b: {where: \"0 < x[i] < i\", equation: \"%s\"}\n"
           "      c: {where: \"i < x[i] < i + 1\", equation: \"%s\"}\n"
           "      d: {where: \"x[i] > i + 1\", equation: none}\n",
           (int)N, equation[0], equation[1], equation[2]);
  Setup s = setup_text(text);
  assert_true(pawl_system_info(s.system).largest_lanes >= 16);
  for (int trial = 0; trial < 30; trial++) {
    int modes[N];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "model: plain\nparameters: {N: %d, c: 0.3}\n"
                                   "coordinates: {\"x[i=1..N]\": 0.4, \"y[i=1..N]\": 0.7}\n"
                                   "mass: {\"x[i=1..N]\": i, \"y[i=1..N]\": 2}\nconstraints:\n",
                                   (int)N);
    for (int i = 0; i < N; i++) {
      modes[i] = random_below(&r, 4);
      used += (size_t)snprintf(text + used, sizeof text - used, "  \"s[i=%d..%d]\": \"%s\"\n",
                               i + 1, i + 1, equation[modes[i]]);
    }
    Setup plain = setup_text(text);
    Place p = random_place(s.system, &r);
    check_same(&s, modes, &plain, &p);
    place_free(&p);
    setup_free(&plain);
  }
  setup_free(&s);
}

// Switching functions of a family, one for each mode in the order of the modes.
static void test_family_of_regions(void** unused) {
  (void)unused;
  Setup s = setup_text(
      "model: family\nparameters: {N: 5}\ncoordinates: {\"x[i=1..N]\": 0}\n"
      "mass: {\"x[i=1..N]\": 1}\nconstraints:\n  \"s[i=1..N]\":\n    modes:\n"
      "      a: {where: \"x[i] < i\", equation: \"x[i] = t\"}\n"
      "      b: {where: \"x[i] > i\", equation: \"x[i] = 2*t\"}\n");
  Random r = {24};
  Place p = random_place(s.system, &r);
  const PawlValues* x = values_at(&s, &p, NULL);
  for (int i = 0; i < 5; i++) {
    CHECK_NEAR(x->z[2 * i], i + 1 - p.q[i], 1e-15);
    CHECK_NEAR(x->z[2 * i + 1], p.q[i] - (i + 1), 1e-15);
    CHECK_NEAR(x->z_rate[2 * i], -p.v[i], 1e-15);
  }
  place_free(&p);
  setup_free(&s);
}

// A term of a mode that is not in force may be outside its domain without harm.
static void test_closed_gates_do_not_fault(void** unused) {
  (void)unused;
  Setup s = setup_text(
      "model: domain\ncoordinates: {x: 0.1, y: 0}\nmass: {x: 1, y: 1}\nconstraints:\n  c:\n"
      "    modes:\n      a: {where: x < 1, equation: y = 0}\n"
      "      b: {where: x > 1, equation: y = sqrt(x - 1)^3}\n");
  Random r = {25};
  Place p = random_place(s.system, &r);
  PawlPoint point = {p.t, p.q, p.v, p.a, p.lambda, (int[]){0}, NULL};
  PawlError err = {0};
  assert_int_equal(pawl_eval_run(s.eval, &point, &err), PAWL_OK);
  point.modes = (int[]){1};
  assert_int_equal(pawl_eval_run(s.eval, &point, &err), PAWL_RETRY);
  assert_non_null(strstr(err.message, "sqrt(x - 1)^3"));
  place_free(&p);
  setup_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_regions),
      cmocka_unit_test(test_regions_refused),
      cmocka_unit_test(test_turns),
      cmocka_unit_test(test_nested_turns),
      cmocka_unit_test(test_turn_functions),
      cmocka_unit_test(test_shared_turn),
      cmocka_unit_test(test_wrap_outside_constraints),
      cmocka_unit_test(test_turn_of_a_family),
      cmocka_unit_test(test_modes_alone),
      cmocka_unit_test(test_modes_in_turn),
      cmocka_unit_test(test_modes_in_lanes),
      cmocka_unit_test(test_family_of_regions),
      cmocka_unit_test(test_closed_gates_do_not_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
