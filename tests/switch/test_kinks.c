// SPDX-License-Identifier: Apache-2.0
// Kinks of constraints (min, max, abs, sign, if, comparisons, floor, wrap): each model against the
// same one written with modes by hand, or a closed form, for all methods that take regions.
#include "switch/runs.h"

static const char* const METHODS[] = {"event-driven",  "ga-p",       "ga-v",     "ga-v-between",
                                      "ga-v-implicit", "ga-pv",      "nsga-pvv", "nsga-pva",
                                      "ga-pva",        "moreau-jean"};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };
static const double STEP = 1e-3;

// A point of 1 kg, gravity 0.3, start and track as given.
#define POINT(constraints)                                                          \
  "model: point\ncoordinates: {x: {start: -2, rate: 1}, y: {start: 1, rate: -1}}\n" \
  "mass: {x: 1, y: 1}\npotential: 0.3*y\nconstraints:\n" constraints

// ---- the same as modes --------------------------------------------------------------------------
typedef struct Pair {
  const char *kinks, *modes;
  int switches;  // of the motion by kinks; those in a branch not taken count, too
} Pair;

static const Pair PAIRS[] = {
    {POINT("  track: \"y = max(0, -x - 1)\"\n"),
     POINT("  track:\n    modes:\n      down: {where: x < -1, equation: y = -x - 1}\n"
           "      flat: {where: x > -1, equation: y = 0}\n"),
     1},
    {POINT("  track: \"y = if(x < -1, -x - 1, 0)\"\n"),
     POINT("  track:\n    modes:\n      down: {where: x < -1, equation: y = -x - 1}\n"
           "      flat: {where: x > -1, equation: y = 0}\n"),
     1},
    {POINT("  track: y = (x < -1)*(-x - 1)\n"),
     POINT("  track:\n    modes:\n      down: {where: x < -1, equation: y = -x - 1}\n"
           "      flat: {where: x > -1, equation: y = 0}\n"),
     1},
    {POINT("  track: y = (abs(x + 1) - x - 1)/2\n"),
     POINT("  track:\n    modes:\n      down: {where: x < -1, equation: y = -x - 1}\n"
           "      flat: {where: x > -1, equation: y = 0}\n"),
     1},
    {POINT("  track: \"y = max(0, abs(x) - 1) + 0.2*max(0, x - 2)\"\n"),
     POINT("  track:\n    modes:\n      down: {where: x < -1, equation: y = -x - 1}\n"
           "      flat: {where: -1 < x < 1, equation: y = 0}\n"
           "      up: {where: 1 < x < 2, equation: y = x - 1}\n"
           "      steep: {where: x > 2, equation: y = 1.2*x - 1.4}\n"),
     4},
};

static void run_with(Run* run, const char* method, double until) {
  run->def.simulate.method = method;
  run_to(run, until, STEP);
}

static void check_pair(const Pair* pair, const char* method) {
  Run kinks = run_text(pair->kinks), modes = run_text(pair->modes);
  run_with(&kinks, method, 7);
  run_with(&modes, method, 7);
  const PawlState *a = pawl_sim_state(kinks.sim), *b = pawl_sim_state(modes.sim);
  check_list("q", 2, a->q, b->q, 1e-9);
  check_list("v", 2, a->v, b->v, 1e-9);
  assert_int_equal(run_events(&kinks), pair->switches);
  run_end(&kinks);
  run_end(&modes);
}

static void test_as_modes(void** unused) {
  (void)unused;
  for (size_t k = 0; k < sizeof PAIRS / sizeof *PAIRS; k++) {
    for (int m = 0; m < METHOD_COUNT; m++) {
      check_pair(&PAIRS[k], METHODS[m]);
    }
  }
}

// A point on y = max(0, x - 3) with speed 1: by the law post it keeps the part (1, 1)/2 of it.
static void test_log(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: ramp\ncoordinates: {x: {rate: 1}, y: 0}\nmass: {x: 1, y: 1}\n"
      "constraints: {track: \"y = max(0, x - 3)\"}\n");
  run_with(&run, "event-driven", 6);
  assert_int_equal(run_events(&run), 1);
  const PawlEvent* event = run_event(&run, 0);
  CHECK_NEAR(event->t, 3, 1e-11);
  assert_string_equal(event->constraint, "track");
  assert_string_equal(event->from, "x - 3 < 0");
  assert_string_equal(event->to, "x - 3 > 0");
  CHECK_NEAR(event->energy_lost, 0.25, 1e-11);
  check_state(&run, (double[]){4.5, 1.5}, (double[]){0.5, 0.5}, 1e-10);
  run_end(&run);
}

// `pawl equations` writes each piece out.
static void test_equations_of_pieces(void** unused) {
  (void)unused;
  static const char text[] =
      "model: ramp\ncoordinates: {x: {rate: 1}, y: 0}\nmass: {x: 1, y: 1}\n"
      "constraints: {track: \"y = max(0, x - 3)\"}\n";
  PawlModel* model;
  char* written;
  assert_int_equal(pawl_model_parse(text, strlen(text), "m", 0, NULL, &model, NULL), PAWL_OK);
  assert_int_equal(pawl_model_equations(model, false, &written, NULL), PAWL_OK);
  assert_non_null(strstr(written, "constraint track where x - 3 > 0: 3 - x + y = 0"));
  assert_non_null(strstr(written, "constraint track where x - 3 < 0: y = 0"));
  pawl_string_free(written);
  pawl_model_destroy(model);
}

// ---- refused ------------------------------------------------------------------------------------
static void check_apart(const char* text, const char* method) {
  Run run = run_text(text);
  run.def.simulate.method = method;
  assert_int_equal(run_try(&run, 0.1, STEP), PAWL_ERROR_RUN);
  if (!strstr(run.err.message, "'place' (row 1) is off by -1")) {
    fail_msg("%s: %s", method, run.err.message);
  }
  CHECK_NEAR(pawl_sim_state(run.sim)->q[0], 1, 0.02);
  run_end(&run);
}

static void test_branches_apart(void** unused) {
  (void)unused;
  static const char text[] =
      "model: apart\ncoordinates: {x: 1, y: }\nmass: {x: 1, y: 1}\n"
      "constraints: {place: \"x = if(t < 0.0105, 1, 2)\"}\n";
  static const char moving[] =
      "model: apart\ncoordinates: {x: {start: 1, rate: 1}, y: }\nmass: {x: 1, y: 1}\n"
      "constraints: {place: \"x - t = if(t < 0.0105, 1, 2)\"}\n";
  for (int m = 0; m < METHOD_COUNT; m++) {
    check_apart(text, METHODS[m]);
    check_apart(moving, METHODS[m]);
  }
  static const char* const others[] = {"rk4", "dopri"};
  for (int m = 0; m < 2; m++) {
    Run run = run_text(text);
    run.def.simulate.method = others[m];
    assert_true(run_try(&run, 0.1, STEP) < 0);
    assert_non_null(strstr(run.err.message, "cannot handle the switching constraints"));
    run_end(&run);
  }
}

static void test_equality_has_no_inside(void** unused) {
  (void)unused;
  static const char text[] =
      "model: m\ncoordinates: {x: 1, y: }\nmass: {x: 1, y: 1}\n"
      "constraints:\n  place: \"y = if(x == 1, 0, 1)\"\n";
  PawlModel* model;
  PawlSystem* system;
  PawlError err;
  assert_int_equal(pawl_model_parse(text, strlen(text), "m.yaml", 0, NULL, &model, &err), PAWL_OK);
  assert_int_equal(pawl_system_create(model, &system, &err), PAWL_ERROR_MODEL);
  assert_non_null(strstr(err.message, "m.yaml:5:3: constraint 'place': a condition in it is not"));
  pawl_model_destroy(model);
}

// ---- wrap in regions ----------------------------------------------------------------------------
// y = 1 + |sin(theta)|/4 by two modes of half a turn each: kinetic energy is m y'^2 + j theta'^2,
// all along (y' = cos(theta) theta'/4 on one branch, the negative on the other).
static const char CAM[] =
    "model: cam\nparameters: {m: 1.2, j: 1.5}\n"
    "coordinates: {y: {start: 1, rate: 1.5}, theta: {rate: 6}}\nmass: {y: m, theta: j}\n"
    "constraints:\n  cam:\n    impact: bisector\n    modes:\n"
    "      rise: {where: \"wrap(theta, 2*pi) < pi\", equation: y = 1 + sin(theta)/4}\n"
    "      fall: {where: \"wrap(theta, 2*pi) > pi\", equation: y = 1 - sin(theta)/4}\n";

static void test_wrap_in_regions(void** unused) {
  (void)unused;
  Run run = run_text(CAM);
  run_with(&run, "event-driven", 3);
  double energy = 0.6 * 1.5 * 1.5 + 0.75 * 36;
  const PawlState* state = pawl_sim_state(run.sim);
  CHECK_NEAR(0.6 * state->v[0] * state->v[0] + 0.75 * state->v[1] * state->v[1], energy, 1e-9);
  CHECK_NEAR(state->q[0], 1 + fabs(sin(state->q[1])) / 4, 1e-10);
  assert_int_equal(run_events(&run), (int)(state->q[1] / acos(-1.0)));
  assert_string_equal(run_event(&run, 1)->from, "fall");
  assert_string_equal(run_event(&run, 1)->to, "rise");
  double theta = state->q[1];
  run_end(&run);
  static const char* const others[] = {"nsga-pva", "nsga-pvv", "ga-pva", "ga-v-implicit",
                                       "moreau-jean"};
  for (int m = 0; m < 5; m++) {
    Run other = run_text(CAM);
    run_with(&other, others[m], 3);
    CHECK_NEAR(pawl_sim_state(other.sim)->q[1], theta, 2e-2);  // of order 1
    run_end(&other);
  }
}

// A Geneva drive without losses: after each turn of the driver, whose speed is 6 while it drives
// nothing, the wheel stands a quarter further, exactly.
static const char GENEVA[] =
    "model: geneva\nparameters: {r: 0.05, c: r*sqrt(2)}\n"
    "coordinates: {q1: {start: -pi/2, rate: 6}, q2: {start: -pi/4}}\n"
    "define:\n  w: wrap(q1 + pi, 2*pi) - pi\n  k: (q1 - w)/(2*pi)\n"
    "  psi: atan2(r*sin(w), c - r*cos(w))\nmass: {q1: 2e-3, q2: 1e-3}\n"
    "constraints:\n  geneva:\n    impact: bisector\n    modes:\n"
    "      before: {where: w < -pi/4, equation: q2 = k*pi/2 - pi/4}\n"
    "      drive: {where: -pi/4 < w < pi/4, equation: q2 = k*pi/2 + psi}\n"
    "      after: {where: w > pi/4, equation: q2 = k*pi/2 + pi/4}\n";

static void test_geneva(void** unused) {
  (void)unused;
  static const char* const methods[] = {"event-driven", "nsga-pva"};
  double pi = acos(-1.0);
  for (int m = 0; m < 2; m++) {
    Run run = run_text(GENEVA);
    run_with(&run, methods[m], 20);
    const PawlState* state = pawl_sim_state(run.sim);
    double turns = floor((state->q[0] + pi) / (2 * pi));
    assert_true(turns >= 15);
    int events = run_events(&run);
    assert_true(events >= 3 * turns - 1 && events <= 3 * turns + 2);
    double energy = 1e-3 * state->v[0] * state->v[0] + 0.5e-3 * state->v[1] * state->v[1];
    CHECK_NEAR(energy, 0.036, m == 0 ? 1e-9 : 1e-4);
    double quarter = (state->q[1] - turns * pi / 2) / (pi / 4);
    assert_true(fabs(quarter) <= 1 + 1e-9);
    run_end(&run);
  }
}

// ---- one within the other -----------------------------------------------------------------------
// Triangle waves: at its corners a kink turns because another does, by a jump of its z. With the
// bisector the speed along x stays 1; both ways, since the motion comes back for x' = -1.
static void test_triangles(void** unused) {
  (void)unused;
  static const char* const tracks[] = {
      "equation: \"y = 0.5*abs(wrap(x + 0.5, 1) - 0.5)\"",
      "equation: \"y = 0.5*abs(x - floor(x + 0.5))\"",
      "equation: \"y = 0.5*min(wrap(x, 1), 1 - wrap(x, 1))\"",
      "equation: \"y = 0.5*if(wrap(x, 1) < 0.5, wrap(x, 1), 1 - wrap(x, 1))\"",
      ("modes: {a: {where: \"wrap(floor(2*x), 2) < 0.5\", equation: \"y = 0.5*wrap(x, 0.5)\"}, "
       "b: {where: \"wrap(floor(2*x), 2) > 0.5\", equation: \"y = 0.5*(0.5 - wrap(x, 0.5))\"}}"),
  };
  static const char* const methods[] = {"event-driven", "nsga-pva", "auto"};
  for (size_t k = 0; k < sizeof tracks / sizeof *tracks; k++) {
    for (int way = -1; way <= 1; way += 2) {
      for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        char text[500];
        snprintf(text, sizeof text,
                 "model: triangle\ncoordinates: {x: {start: 0.01, rate: %d}, y: {start: 0.005, "
                 "rate: %g}}\nmass: {x: 1, y: 1}\nconstraints: {c: {impact: bisector, %s}}\n",
                 way, 0.5 * way, tracks[k]);
        Run run = run_text(text);
        run_with(&run, methods[m], 3);
        double x = 0.01 + 3 * way, q[] = {x, 0.005}, v[] = {way, 0.5 * way};
        check_state(&run, q, v, 1e-8);
        run_end(&run);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_as_modes),
      cmocka_unit_test(test_log),
      cmocka_unit_test(test_equations_of_pieces),
      cmocka_unit_test(test_branches_apart),
      cmocka_unit_test(test_equality_has_no_inside),
      cmocka_unit_test(test_wrap_in_regions),
      cmocka_unit_test(test_geneva),
      cmocka_unit_test(test_triangles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
