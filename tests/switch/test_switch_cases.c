// SPDX-License-Identifier: Apache-2.0
// Switching models with exact answers, worked out by hand above each: a kink that moves, two
// constraints that switch at the same instant, three rows at once, a mode without equations and
// landing from it; right angles; and what a run says when it cannot go on.
#include "switch/runs.h"

static const double STEP = 1e-3;
static const double TOLERANCE = 1e-10;  // forces are constant: rk4 is exact, the search has 1e-12 s

// ---- a kink that moves --------------------------------------------------------------------------
// models/moving-kink: a point of 1 kg on y = 0 with speed 1, then on y = x - k(t), the ramp whose
// foot k = 3 + t/4 - t^2/16 comes and goes. They meet when t = k(t): t^2 + 12 t - 48 = 0. The foot
// has the velocity (k', 0); seen from it the point arrives with 1 - k' and leaves with (f, f) of
// that, f = 1/2 for the new gradient, sqrt(1/2) for the bisector. On the ramp y'' = x'' - k'' with
// x'' = -lambda, y'' = lambda: lambda = -k''/2 = 1/16.
static void check_moving_kink(const char* impact, double f) {
  double t = sqrt(84.0) - 6, k = 3 + t / 4 - t * t / 16, kp = 0.25 - t / 8, rest = 6 - t;
  double vx = kp + f * (1 - kp), vy = f * (1 - kp);
  Run run = run_file("moving-kink", NULL, NULL);
  run.def.simulate.impact = impact;
  run_to(&run, 6, STEP);
  assert_int_equal(run_events(&run), 1);
  const PawlEvent* event = run_event(&run, 0);
  CHECK_NEAR(event->t, t, TOLERANCE);
  check_list("v_after", 2, event->v_after, (double[]){vx, vy}, TOLERANCE);
  CHECK_NEAR(event->energy_lost, 0.5 - (vx * vx + vy * vy) / 2, TOLERANCE);
  double q[] = {k + vx * rest - rest * rest / 32, vy * rest + rest * rest / 32};
  double v[] = {vx - rest / 16, vy + rest / 16};
  check_state(&run, q, v, TOLERANCE);
  CHECK_NEAR(pawl_sim_multipliers(run.sim)[0], 1.0 / 16, TOLERANCE);
  run_end(&run);
}

static void test_moving_kink(void** unused) {
  (void)unused;
  check_moving_kink("post", 0.5);
  check_moving_kink("bisector", sqrt(0.5));
  check_moving_kink("0.9", 0.5364221182029747);  // of the kink at rest, see test_impact.c
}

// ---- two constraints at the same instant --------------------------------------------------------
// models/bar-on-two-tracks: two beads side by side, x1 = x2, on tracks whose slopes change at the
// same x from (1/2, -1/4) to (-3/4, 1). One degree of freedom: the velocity is s (1, a, 1, b). The
// new gradients keep the momentum along (1, a2, 1, b2),
//   s+ (m1 (1 + a2^2) + m2 (1 + b2^2)) = s- (m1 (1 + a1 a2) + m2 (1 + b1 b2)),
// the bisector the energy. Two jumps one after the other would not give the first of these.
typedef struct Tracks {
  double m1, m2, a1, a2, b1, b2, v, l;
} Tracks;
static const Tracks TRACKS = {2, 3, 0.5, -0.75, -0.25, 1, 0.7, 1};

static void check_two_tracks(const char* impact, double s) {
  Tracks p = TRACKS;
  double t = p.l / p.v, rest = 3 - t;
  Run run = run_file("bar-on-two-tracks", NULL, NULL);
  run.def.simulate.impact = impact;
  run_to(&run, 3, STEP);
  assert_int_equal(run_events(&run), 2);  // one jump, noted for both
  for (int k = 0; k < 2; k++) {
    const PawlEvent* event = run_event(&run, k);
    CHECK_NEAR(event->t, t, TOLERANCE);
    assert_string_equal(event->constraint, k == 0 ? "first" : "second");
    check_list("v_before", 4, event->v_before, (double[]){p.v, p.a1 * p.v, p.v, p.b1 * p.v},
               TOLERANCE);
    check_list("v_after", 4, event->v_after, (double[]){s, p.a2 * s, s, p.b2 * s}, TOLERANCE);
  }
  assert_true(run_event(&run, 0)->t == run_event(&run, 1)->t);
  double x = p.l + s * rest;
  double q[] = {x, p.a1 * p.l + p.a2 * (x - p.l), x, p.b1 * p.l + p.b2 * (x - p.l)};
  check_state(&run, q, (double[]){s, p.a2 * s, s, p.b2 * s}, TOLERANCE);
  run_end(&run);
}

static void test_two_at_once(void** unused) {
  (void)unused;
  Tracks p = TRACKS;
  double before = p.m1 * (1 + p.a1 * p.a1) + p.m2 * (1 + p.b1 * p.b1);
  double after = p.m1 * (1 + p.a2 * p.a2) + p.m2 * (1 + p.b2 * p.b2);
  double mixed = p.m1 * (1 + p.a1 * p.a2) + p.m2 * (1 + p.b1 * p.b2);
  check_two_tracks("post", p.v * mixed / after);
  check_two_tracks("bisector", p.v * sqrt(before / after));
}

// The impulses on the tracks alone carry the beads' y: m (y'+ - y'-).
static void test_two_at_once_impulses(void** unused) {
  (void)unused;
  Tracks p = TRACKS;
  double s = p.v * 3.5 / 9.125;  // mixed / after with these numbers
  Run run = run_file("bar-on-two-tracks", NULL, NULL);
  run_to(&run, 3, STEP);
  CHECK_NEAR(run_event(&run, 0)->impulse[0], p.m1 * (p.a2 * s - p.a1 * p.v), TOLERANCE);
  CHECK_NEAR(run_event(&run, 1)->impulse[0], p.m2 * (p.b2 * s - p.b1 * p.v), TOLERANCE);
  double lost = (p.v * p.v * 5.6875 - s * s * 9.125) / 2;
  CHECK_NEAR(run_event(&run, 0)->energy_lost + run_event(&run, 1)->energy_lost, lost, TOLERANCE);
  run_end(&run);
}

// Simultaneous but with laws of their own: the run asks the user to decide.
static void test_two_laws_at_once(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: laws\ncoordinates: {x: {rate: 1}, y: 0, u: {rate: 1}, w: 0}\n"
      "mass: {x: 1, y: 1, u: 1, w: 1}\nconstraints:\n"
      "  one:\n    impact: post\n    modes:\n      a: {where: x < 1, equation: y = 0}\n"
      "      b: {where: x > 1, equation: y = x - 1}\n"
      "  two:\n    impact: bisector\n    modes:\n      a: {where: u < 1, equation: w = 0}\n"
      "      b: {where: u > 1, equation: w = u - 1}\n");
  assert_int_equal(run_try(&run, 2, STEP), PAWL_ERROR_RUN);
  assert_non_null(strstr(run.err.message, "t = 1"));
  assert_non_null(strstr(run.err.message, "'one' and 'two'"));
  run.def.simulate.impact = "bisector";  // one law for all
  run_to(&run, 2, STEP);
  double s = sqrt(0.5);
  check_state(&run, (double[]){1 + s, s, 1 + s, s}, (double[]){s, s, s, s}, TOLERANCE);
  run_end(&run);
}

// ---- three rows at once -------------------------------------------------------------------------
// models/load-transfer: a load rides on trolley 1 and is handed to trolley 2, which takes it up a
// slope and turns it: x, y, phi all change hands. With the new gradients trolley 1 keeps its speed
// and the momentum along the path of trolley 2 is kept:
//   (m2 + m + J k^2) s2'+ = m2 v2 + m v1 cos(beta).
static void test_three_rows(void** unused) {
  (void)unused;
  double m = 2, J = 0.5, m2 = 4, beta = acos(-1.0) / 6, k = 1.5, v1 = 2, v2 = 0.5, t = 1.3;
  double s = (m2 * v2 + m * v1 * cos(beta)) / (m2 + m + J * k * k), rest = 3 - t;
  double u[] = {s * cos(beta), s * sin(beta), k * s};
  double lost = (m * v1 * v1 + m2 * v2 * v2 - (m2 + m + J * k * k) * s * s) / 2;
  Run run = run_file("load-transfer", NULL, NULL);
  run_to(&run, 3, STEP);
  assert_int_equal(run_events(&run), 1);
  check_event(&run, 0,
              &(Expected){t,
                          "load",
                          "on_1",
                          "on_2",
                          {v1, v2, v1, 0, 0},
                          {v1, s, u[0], u[1], u[2]},
                          {m * (u[0] - v1), m * u[1], J * u[2]},
                          lost},
              TOLERANCE);
  check_state(&run, (double[]){v1 * rest, s * rest, u[0] * rest, u[1] * rest, u[2] * rest},
              (double[]){v1, s, u[0], u[1], u[2]}, TOLERANCE);
  run.def.simulate.impact = "bisector";
  run_to(&run, 3, STEP);
  CHECK_NEAR(run_event(&run, 0)->energy_lost, 0.0, 1e-12 * 10.5);
  run_end(&run);
}

// ---- a mode without equations -------------------------------------------------------------------
// models/table-edge: a point slides off a table of height H, flies, lands and slides on. It leaves
// at l/v without a shock, falls for sqrt(2 H/g), and landing takes the energy m g H of the fall.
static void test_table_edge(void** unused) {
  (void)unused;
  double m = 2, l = 1, H = 1.5, g = 9.81, v = 2, leave = l / v, land = leave + sqrt(2 * H / g);
  double fall = sqrt(2 * g * H);
  Run run = run_file("table-edge", NULL, NULL);
  run_to(&run, 0.8, STEP);  // in the air
  assert_int_equal(run_events(&run), 1);
  check_event(&run, 0, &(Expected){leave, "ground", "table", "air", {v, 0}, {v, 0}, {0}, 0},
              TOLERANCE);
  double t = 0.8 - leave;
  check_state(&run, (double[]){v * 0.8, -g * t * t / 2}, (double[]){v, -g * t}, TOLERANCE);
  CHECK_NEAR(pawl_sim_multipliers(run.sim)[0], 0.0, 0);  // a row that is not in force
  run_to(&run, 3, STEP);
  assert_int_equal(run_events(&run), 2);
  check_event(
      &run, 1,
      &(Expected){land, "ground", "air", "floor", {v, -fall}, {v, 0}, {m * fall}, m * g * H},
      TOLERANCE);
  check_state(&run, (double[]){v * 3, -H}, (double[]){v, 0}, TOLERANCE);
  CHECK_NEAR(pawl_sim_multipliers(run.sim)[0], m * g, TOLERANCE);
  run_end(&run);
}

// Landing on a slope y = -k x, k = 1/2, from y = 1 with (1, 0) and g = 10: 1 - 5 t^2 = -t/2 at
// t = (1/2 + sqrt(1/4 + 20))/10 = 1/2. There (1, -5) becomes its part along (1, -k), 3.5/1.25, and
// the point slides with x'' = g k/(1 + k^2) = 4. The engaged mode's region reaches beyond its
// line, so that the line is inside it; the mode before it is kept until its own region is left.
static void test_landing_on_a_slope(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: slope\nparameters: {k: 0.5}\ncoordinates: {x: {rate: 1}, y: {start: 1}}\n"
      "kinetic: (x'^2 + y'^2)/2\npotential: 10*y\nconstraints:\n  ground:\n    start: air\n"
      "    modes:\n      air: {where: y > -k*x, equation: none}\n"
      "      slope: {where: y < -k*x + 0.1, equation: y = -k*x}\n");
  run_to(&run, 2, STEP);
  assert_int_equal(run_events(&run), 1);
  double s = 3.5 / 1.25;
  check_event(
      &run, 0,
      &(Expected){
          0.5, "ground", "air", "slope", {1, -5}, {s, -s / 2}, {5 - s / 2}, 13 - s * s * 1.25 / 2},
      TOLERANCE);
  double rest = 1.5, x = 0.5 + s * rest + 2 * rest * rest, vx = s + 4 * rest;
  check_state(&run, (double[]){x, -x / 2}, (double[]){vx, -vx / 2}, TOLERANCE);
  run_end(&run);
}

// Falling from y = 1 with g = 10 onto a platform that ends at x = 2: it lands at sqrt(1/5), slides
// along the surface of its own region, and falls again at t = 2, when another part of that region
// is left.
static void test_end_of_a_platform(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: platform\ncoordinates: {x: {rate: 1}, y: {start: 1}}\n"
      "kinetic: (x'^2 + y'^2)/2\npotential: 10*y\nconstraints:\n  ground:\n    start: air\n"
      "    modes:\n      air: {where: y > 0 and x < 2, equation: none}\n"
      "      platform: {where: y < 0 and x < 2, equation: y = 0}\n"
      "      below: {where: x > 2, equation: none}\n");
  static const double steps[] = {1e-3, 1e-2, 0.1};
  for (int k = 0; k < 3; k++) {
    run_to(&run, 3, steps[k]);
    assert_int_equal(run_events(&run), 2);
    CHECK_NEAR(run_event(&run, 0)->t, sqrt(0.2), TOLERANCE);
    CHECK_NEAR(run_event(&run, 0)->energy_lost, 10.0, 10 * TOLERANCE);  // 20 m^2/s^2 in v'^2
    CHECK_NEAR(run_event(&run, 1)->t, 2.0, TOLERANCE);
    assert_string_equal(run_event(&run, 1)->to, "below");
    check_state(&run, (double[]){3, -5}, (double[]){1, -10},
                10 * TOLERANCE);  // drift of the landing counts as slack
  }
  run_end(&run);
}

// ---- right angles -------------------------------------------------------------------------------
// A corner: y = 0 up to x = 1, then x = 1 upwards. The bisector sends the point up, because down
// would leave the new region again; the new gradient stops it; the old one cannot push it along x.
static const char CORNER[] =
    "model: corner\ncoordinates: {x: {rate: 2}, y: 0}\nmass: {x: 3, y: 3}\nconstraints:\n"
    "  corner:\n    modes:\n      floor: {where: x + y < 1, equation: y = 0}\n"
    "      wall: {where: x + y > 1, equation: x = 1}\n";

static void test_corner(void** unused) {
  (void)unused;
  Run run = run_text(CORNER);
  run.def.simulate.impact = "bisector";
  run_to(&run, 1, STEP);
  assert_int_equal(run_events(&run), 1);
  check_state(&run, (double[]){1, 1}, (double[]){0, 2}, TOLERANCE);
  run.def.simulate.between = "arc";
  run_to(&run, 1, STEP);
  check_state(&run, (double[]){1, 1}, (double[]){0, 2}, TOLERANCE);
  run.def.simulate.impact = "post";
  run_to(&run, 1, STEP);
  assert_int_equal(run_events(&run), 1);
  check_state(&run, (double[]){1, 0}, (double[]){0, 0}, TOLERANCE);
  CHECK_NEAR(run_event(&run, 0)->energy_lost, 6.0, TOLERANCE);
  run.def.simulate.impact = "pre";
  assert_int_equal(run_try(&run, 1, STEP), PAWL_ERROR_RUN);
  assert_non_null(strstr(run.err.message, "'corner'"));
  assert_non_null(strstr(run.err.message, "singular"));
  run_end(&run);
}

// ---- directions ---------------------------------------------------------------------------------
// Two beads that do not know each other meet their kinks at the same instant, by the same angle:
// one goes on, the other turns back. Each plane has its own sign.
static void test_one_on_one_back(void** unused) {
  (void)unused;
  double s = sqrt(0.5);
  Run run = run_text(
      "model: both\ncoordinates: {x: {rate: 1}, y: 0, u: {rate: 1}, w: 0}\n"
      "mass: {x: 1, y: 1, u: 1, w: 1}\nconstraints:\n"
      "  on:\n    impact: bisector\n    modes:\n      a: {where: x < 3, equation: y = 0}\n"
      "      b: {where: x > 3, equation: y = x - 3}\n"
      "  back:\n    impact: bisector\n    modes:\n"
      "      a: {where: (u - 3)/2 < w, equation: w = 0}\n"
      "      b: {where: (u - 3)/2 > w, equation: w = u - 3}\n");
  run_to(&run, 6, STEP);
  assert_int_equal(run_events(&run), 2);
  CHECK_NEAR(run_event(&run, 0)->energy_lost, 0.0, 1e-12);
  check_state(&run, (double[]){3 + 3 * s, 3 * s, 3 - 3 * s, -3 * s}, (double[]){s, s, -s, -s},
              TOLERANCE);
  run_end(&run);
}

// ---- time stepping ------------------------------------------------------------------------------
// The same models without looking for the instant: a switch is felt at the end of its step, so that
// the state is late by up to h. With speeds up to 5 and jumps of that size it is off by a few h.
static void check_time_stepping(const char* name, const char* impact) {
  static const char* const methods[] = {"nsga-pvv", "nsga-pva"};
  double h = 1.7e-3, q[6], v[6];  // not a divisor of the instants
  Run run = run_file(name, NULL, NULL);
  PawlSizes n = pawl_system_sizes(run.system);
  run.def.simulate.impact = impact;
  run_to(&run, 3.5, STEP);
  int events = run_events(&run);
  memcpy(q, pawl_sim_state(run.sim)->q, (size_t)n.q * sizeof(double));
  memcpy(v, pawl_sim_state(run.sim)->v, (size_t)n.v * sizeof(double));
  for (int k = 0; k < 2; k++) {
    run.def.simulate.method = methods[k];
    run_to(&run, 3.5, h);
    assert_int_equal(run_events(&run), events);
    check_state(&run, q, v, 3 * h);
    CHECK_NEAR(pawl_sim_summary(run.sim).residual[0], 0.0, 1e-10);  // positions and velocities are
    CHECK_NEAR(pawl_sim_summary(run.sim).residual[1], 0.0, 1e-10);  // on the constraints
  }
  run_end(&run);
}

static void test_time_stepping(void** unused) {
  (void)unused;
  check_time_stepping("moving-kink", "post");
  check_time_stepping("moving-kink", "bisector");
  check_time_stepping("bar-on-two-tracks", "post");
  check_time_stepping("bar-on-two-tracks", "bisector");
  check_time_stepping("load-transfer", "post");
  check_time_stepping("load-transfer", "bisector");
  check_time_stepping("table-edge", "post");
}

// A kink that comes towards a point at rest with speed 1 and turns it back: as seen from the kink
// this is models/kinked-track-back, so the point leaves with (-1, 0) - (s, s). The sign needs g_t.
static void test_moving_kink_turns_back(void** unused) {
  (void)unused;
  static const char* const methods[] = {"event-driven", "nsga-pvv", "nsga-pva"};
  double s = sqrt(0.5), h = 2.1e-3;
  Run run = run_text(
      "model: back\ncoordinates: [x, y]\nmass: {x: 1, y: 1}\ndefine: {k: 3 - t}\n"
      "constraints:\n  track:\n    impact: bisector\n    modes:\n"
      "      out: {where: (x - k)/2 < y, equation: y = 0}\n"
      "      back: {where: (x - k)/2 > y, equation: y = x - k}\n");
  for (int k = 0; k < 3; k++) {
    run.def.simulate.method = methods[k];
    run_to(&run, 6, h);
    assert_int_equal(run_events(&run), 1);
    check_state(&run, (double[]){-3 - 3 * s, -3 * s}, (double[]){-1 - s, -s},
                k == 0 ? TOLERANCE : 3 * h);
  }
  run_end(&run);
}

// ---- what a run says when it cannot go on -------------------------------------------------------
static void check_failure(const char* text, PawlStatus status, const char* time, const char* what) {
  Run run = run_text(text);
  assert_int_equal(run_try(&run, 6, STEP), status);
  if (!strstr(run.err.message, "'track'") || !strstr(run.err.message, what) ||
      !strstr(run.err.message, time)) {
    print_error("%s\n", run.err.message);
    fail();
  }
  run_end(&run);
}

#define TRACK_OF(first, second)                                                         \
  "model: track\ncoordinates: {x: {rate: 1}, y: 0}\nmass: {x: 1, y: 1}\nconstraints:\n" \
  "  track:\n    modes:\n      a: {" first "}\n      b: {" second "}\n"

static void test_failures(void** unused) {
  (void)unused;
  check_failure(TRACK_OF("where: x < 2, equation: y = 0", "where: x > 3, equation: y = x - 3"),
                PAWL_ERROR_RUN, "t = 2", "no other region holds it");
  check_failure(TRACK_OF("where: x < 2, equation: y = 0", "where: x > 2, equation: y = x - 1"),
                PAWL_ERROR_RUN, "t = 2", "do not meet");
  check_failure(TRACK_OF("where: x < -2, equation: y = 0", "where: x > 2, equation: y = x - 2"),
                PAWL_ERROR_MODEL, "test.yaml:5:3", "no region holds it");
  check_failure(TRACK_OF("where: x < 2, equation: y = 0", "where: x > -2, equation: y = x - 2"),
                PAWL_ERROR_MODEL, "test.yaml:5:3", "several regions hold it");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_moving_kink),
      cmocka_unit_test(test_two_at_once),
      cmocka_unit_test(test_two_at_once_impulses),
      cmocka_unit_test(test_two_laws_at_once),
      cmocka_unit_test(test_three_rows),
      cmocka_unit_test(test_table_edge),
      cmocka_unit_test(test_landing_on_a_slope),
      cmocka_unit_test(test_end_of_a_platform),
      cmocka_unit_test(test_corner),
      cmocka_unit_test(test_one_on_one_back),
      cmocka_unit_test(test_time_stepping),
      cmocka_unit_test(test_moving_kink_turns_back),
      cmocka_unit_test(test_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
