// SPDX-License-Identifier: Apache-2.0
// The examples of Patil and Bruels by event-driven over rk4 against reference numbers that were
// made for this project without any of these methods: closed forms, quadrature with 40 digits, and
// an integrator of order 8 with root finding. Impulses are minus those of the authors, who write
// + G^T Lambda on the left. The order of the method across switches, and accumulation.
#include "switch/runs.h"

static const double STEP = 1e-4;
static const double TOLERANCE = 1e-8;  // what is promised of this method at this step

// ---- kinked track -------------------------------------------------------------------------------
// Closed form: the switch is at t = 3, x = 3; the impulse of g = y - (x - 3) acts with B.
static void check_track(const char* impact, const char* between, double speed, double lost) {
  Run run = run_file("kinked-track", NULL, NULL);
  run.def.simulate.impact = impact;
  run.def.simulate.between = between;
  run_to(&run, 6, STEP);
  assert_int_equal(run_events(&run), 1);
  const PawlEvent* event = run_event(&run, 0);
  CHECK_NEAR(event->t, 3.0, TOLERANCE);
  check_list("v_after", 2, event->v_after, (double[]){speed, speed}, TOLERANCE);
  CHECK_NEAR(event->energy_lost, lost, strcmp(impact, "bisector") == 0 ? 1e-12 : TOLERANCE);
  double x = 3 + 3 * speed;
  check_state(&run, (double[]){x, x - 3}, (double[]){speed, speed}, TOLERANCE);
  run_end(&run);
}

static void test_track(void** unused) {
  (void)unused;
  check_track("model", "chord", 0.5, 0.25);
  check_track("post", "chord", 0.5, 0.25);
  check_track("0.9", "chord", 0.5364221182029747, 0.2122513111026338);
  check_track("0.7", "chord", 0.616283622527163, 0.12019449660479742);
  check_track("bisector", "chord", 0.7071067811865475, 0.0);
  check_track("0.5", "arc", 0.7071067811865475, 0.0);
  check_track("0.9", "arc", 0.7627572917731911 * sqrt(0.5), 0.2091006569234135);
}

static void test_track_event(void** unused) {
  (void)unused;
  Run run = run_file("kinked-track", NULL, NULL);
  run_to(&run, 6, STEP);
  check_event(&run, 0, &(Expected){3.0, "track", "flat", "ramp", {1, 0}, {0.5, 0.5}, {0.5}, 0.25},
              TOLERANCE);
  PawlSummary summary = pawl_sim_summary(run.sim);
  CHECK_NEAR(summary.energy_start, 0.5, 1e-15);
  CHECK_NEAR(summary.energy_end, 0.25, TOLERANCE);
  run_end(&run);
}

// Case 2: the velocity turns by 135 degrees, which takes the other sign of the gradient.
static void test_track_back(void** unused) {
  (void)unused;
  double s = 0.7071067811865476;
  Run run = run_file("kinked-track-back", NULL, NULL);
  run_to(&run, 6, STEP);
  assert_int_equal(run_events(&run), 1);
  check_list("v_after", 2, run_event(&run, 0)->v_after, (double[]){-s, -s}, TOLERANCE);
  CHECK_NEAR(run_event(&run, 0)->energy_lost, 0.0, 1e-12);
  check_state(&run, (double[]){0.8786796564403563, -2.1213203435596437}, (double[]){-s, -s},
              TOLERANCE);
  run_end(&run);
}

// The new gradient alone sends the point back where it came from: z' = -1/2 (1/2) behind the
// surface. The run ends there and says so, whatever the step.
static void test_track_back_cannot_cross(void** unused) {
  (void)unused;
  static const double steps[] = {1e-4, 1e-3, 1e-2};
  Run run = run_file("kinked-track-back", NULL, NULL);
  run.def.simulate.impact = "post";
  for (int k = 0; k < 3; k++) {
    assert_int_equal(run_try(&run, 6, steps[k]), PAWL_ERROR_RUN);
    assert_non_null(strstr(run.err.message, "t = 3"));
    assert_non_null(strstr(run.err.message, "'track'"));
    assert_non_null(strstr(run.err.message, "leads back"));
  }
  run_end(&run);
}

// ---- braiding machine ---------------------------------------------------------------------------
typedef struct Braiding {
  const char *radius, *impact;
  Expected event;
  double q[5], v[5];  // at 4 s
} Braiding;

static const Braiding BRAIDING[] = {
    {"rG2=rG",
     "post",
     {1.9634954084936207,
      "carrier",
      "on_G",
      "on_G2",
      {0, -3.2, 1.6, 1.6, -1.6},
      {0, -3.1765567765567764, -1.5882783882783884, 1.5882783882783884, -1.5882783882783884},
      {0, 0.04688644688644742, -0.7032967032967022},
      1.2753113553113735},
     {-5.9913677084067025, 0.18561963774083096, -0.09294357672949616, 6.376128883909082,
      -6.376128883909082},
     {0.2948156590638253, 3.162846294377825, -1.5882783882783884, 1.5882783882783884,
      -1.5882783882783884}},
    {"rG2=rG/2",
     "post",
     {1.9634954084936207,
      "carrier",
      "on_G",
      "on_G2",
      {0, -3.2, 1.6, 1.6, -1.6},
      {0, -1.6603773584905674, -1.660377358490567, 1.6603773584905661, -1.6603773584905661},
      {0, 3.0792452830188655, 2.2641509433962237},
      3.76754716981133},
     {-3.9713917989351066, 0.2374825740167423, -0.23977346060947813, 6.522958767789064,
      -6.522958767789064},
     {0.39431068893345894, 1.6128769491752717, -1.6603773584905661, 1.6603773584905661,
      -1.6603773584905661}},
};

static void test_braiding(void** unused) {
  (void)unused;
  for (size_t k = 0; k < sizeof BRAIDING / sizeof *BRAIDING; k++) {
    const Braiding* b = &BRAIDING[k];
    Run run = run_file("braiding-machine", b->radius, NULL);
    run.def.simulate.impact = b->impact;
    run_to(&run, 4, STEP);
    assert_int_equal(run_events(&run), 1);
    check_event(&run, 0, &b->event, TOLERANCE);
    check_state(&run, b->q, b->v, TOLERANCE);
    run_end(&run);
  }
}

// Half way between the gradients, four rows on each side: nothing is lost.
static void test_braiding_bisector(void** unused) {
  (void)unused;
  static const struct {
    const char* radius;
    double omega, q[5], v[5];
  } cases[] = {{"rG2=rG",
                1.6,
                {-5.986369837516385, 0.23309840970098777, -0.11681469282041412, 6.4, -6.4},
                {0.37295745552158044, 3.1781917400262163, -1.6, 1.6, -1.6}},
               {"rG2=rG/2",
                1.7165124801,
                {-3.937961404483998, 0.3467396771331577, -0.3540928935121972, 6.637278200691783,
                 -6.637278200691783},
                {0.5951829831449673, 1.610022456649062, -1.716512480100166, 1.716512480100166,
                 -1.716512480100166}}};
  for (int k = 0; k < 2; k++) {
    Run run = run_file("braiding-machine", cases[k].radius, NULL);
    run.def.simulate.impact = "bisector";
    run_to(&run, 4, STEP);
    CHECK_NEAR(run_event(&run, 0)->v_after[3], cases[k].omega, TOLERANCE);
    CHECK_NEAR(run_event(&run, 0)->energy_lost, 0.0, 1e-12 * 87.36);
    check_state(&run, cases[k].q, cases[k].v, TOLERANCE);
    run_end(&run);
  }
}

// ---- pothole wheel ------------------------------------------------------------------------------
static const Expected WHEEL[] = {
    {1.4285714285714286,
     "ground",
     "before",
     "left_edge",
     {1.4, 0, 0.9333333333333333},
     {1.4, 0, 0.9333333333333333},
     {0, 0},
     0},
    {1.7645822641839972,
     "ground",
     "left_edge",
     "right_edge",
     {1.655183535753977, -0.585195751119982, 1.1703915022399636},
     {1.4099711600867213, 0.4985000842873918, 0.9970001685747838},
     {-1.2260618783362789, 5.418479177036869},
     3.1708709919340805},
    {2.189694679927351,
     "ground",
     "right_edge",
     "after",
     {1.055667751781267, 0, 0.7037785011875113},
     {1.055667751781267, 0, 0.7037785011875113},
     {0, 0},
     0},
};

static void test_wheel(void** unused) {
  (void)unused;
  static const struct {
    double t, q[3], v[3], lambda[2];
  } samples[] = {{1.6,
                  {2.2440614736037467, 1.4800114854629902, 1.4967675867040013},
                  {1.470591581549388, -0.24250808320580655, 0.9936352494516922},
                  {4.04481743006072, 40.878149259682495}},
                 {1.9,
                  {2.6777584151501332, 1.464977938739504, 1.796491721073089},
                  {1.2247242684481203, 0.26939456140096324, 0.8360018509916247},
                  {-5.73477791873478, 42.421505136219785}},
                 {4,
                  {4.91108094727876, 1.5, 3.2870611170940838},
                  {1.055667751781267, 0.0, 0.7037785011875113},
                  {0.0, 49.05}}};
  Run run = run_file("pothole-wheel", NULL, NULL);
  for (int k = 0; k < 3; k++) {
    run_to(&run, samples[k].t, STEP);
    assert_int_equal(run_events(&run), k + 1);
    check_state(&run, samples[k].q, samples[k].v, TOLERANCE);
    check_list("lambda", 2, pawl_sim_multipliers(run.sim), samples[k].lambda, 1e-7);  // of 49 N
  }
  for (int k = 0; k < 3; k++) {
    check_event(&run, k, &WHEEL[k], TOLERANCE);
  }
  CHECK_NEAR(pawl_sim_summary(run.sim).energy_end, 77.75412900806595, TOLERANCE);
  run_end(&run);
}

// ---- cam ----------------------------------------------------------------------------------------
typedef struct Cam {
  const char *j, *force;
  int events;
  double t[2], omega_before[2], omega_after[2], impulse[2], lost[2];
  double q[2], v[2];  // at 4 s
} Cam;

static const Cam CAMS[] = {
    {"j=2",
     "fy=-5",
     1,
     {1.687035122144751},
     {4.0},
     {3.111111111111111},
     {3.555555555555617},
     {7.111111111111363},
     {2.074968015701293, 12.416293781400046},
     {-1.5247215100042926, 3.058048555672045}},
    {"j=2",
     "fy=5",
     2,
     {1.410824276874729, 3.147177578715642},
     {4.0, 3.111111111111111},
     {3.111111111111111, 2.4197530864197},
     {3.5555555555554808, 2.765432098765359},
     {7.111111111110812, 4.301783264745997},
     {2.9458717477473906, 15.046911155283148},
     {0.5423182578430658, 3.3420666983895844}},
    {"j=1",
     "fy=-5",
     1,
     {1.829065496729044},
     {4.0},
     {2.4},
     {3.1999999999999664},
     {6.399999999999867},
     {2.5393688792926694, 7.422560190700797},
     {-0.5215262675470602, -1.238677342705412}},
    {"j=1",
     "fy=5",
     2,
     {1.3069828552341058, 3.1654820081318817},
     {4.0, 2.4},
     {2.4, 1.44},
     {3.1999999999999433, 1.919999999999971},
     {6.399999999999773, 2.3039999999999257},
     {2.818174493738676, 14.482828313386003},
     {0.9068907426315489, 3.154567183991527}},
    {"j=0.5",
     "fy=5",
     2,
     {1.1769418995852785, 3.1825416684599612},
     {4.0, 1.3333333333333333},
     {1.3333333333333333, 0.4444444444444444},
     {2.6666666666666243, 0.8888888888888281},
     {5.333333333333163, 0.5925925925925082},
     {2.6824413904839925, 14.068565648855314},
     {1.2124151356013801, 3.3174121215044776}},
};

static void test_cam(void** unused) {
  (void)unused;
  static const char* const turns[] = {"turn 0", "turn 1", "turn 2"};
  for (size_t k = 0; k < sizeof CAMS / sizeof *CAMS; k++) {
    const Cam* c = &CAMS[k];
    Run run = run_file("cam-follower", c->j, c->force);
    run_to(&run, 4, STEP);
    assert_int_equal(run_events(&run), c->events);
    for (int i = 0; i < c->events; i++) {  // y' = -omega / 2 before, omega / 2 after the kink
      double before = c->omega_before[i], after = c->omega_after[i];
      Expected expected = {c->t[i],
                           "cam",
                           turns[i],
                           turns[i + 1],
                           {-before / 2, before},
                           {after / 2, after},
                           {c->impulse[i]},
                           c->lost[i]};
      check_event(&run, i, &expected, TOLERANCE);
    }
    check_state(&run, c->q, c->v, TOLERANCE);
    run_end(&run);
  }
}

// The cam turning the other way is its mirror image: turn -1, -2, -3 at the same times.
static void test_cam_backwards(void** unused) {
  (void)unused;
  const Cam* c = &CAMS[1];
  Run run = run_text(
      "model: mirror\ncoordinates: {y: {start: 2, rate: 2}, theta: {rate: -4}}\n"
      "mass: {y: 1, theta: 2}\npotential: -5*y\n"
      "constraints: {cam: \"y = 2 + cos((wrap(theta, 2*pi) - pi)/2)\"}\n");
  run_to(&run, 4, STEP);
  assert_int_equal(run_events(&run), 2);
  static const char* const turns[] = {"turn -1", "turn -2", "turn -3"};
  for (int i = 0; i < 2; i++) {
    CHECK_NEAR(run_event(&run, i)->t, c->t[i], TOLERANCE);
    assert_string_equal(run_event(&run, i)->from, turns[i]);
    assert_string_equal(run_event(&run, i)->to, turns[i + 1]);
    CHECK_NEAR(run_event(&run, i)->v_after[1], -c->omega_after[i], TOLERANCE);
  }
  check_state(&run, (double[]){c->q[0], -c->q[1]}, (double[]){c->v[0], -c->v[1]}, TOLERANCE);
  run_end(&run);
}

// A light cam is turned back by its follower, over and over: kinks accumulate at 3.5128171565 s.
// Up to a little before, every kink is found; beyond, the run ends and says what happened: in the
// step that follows there are too many, and the halves of it that are taken have no more than it
// had.
static void test_cam_accumulation(void** unused) {
  (void)unused;
  static const double t[] = {2.31024939862346,  3.1128067070909116, 3.3794837801257005,
                             3.468372711833252, 3.4980023416390678, 3.5078788848496156};
  static const double omega[] = {1.3333333333333361,   -0.44444444444444275, 0.14814814814814808,
                                 -0.04938271604937884, 0.016460905349771078, -0.005486968449879353};
  Run run = run_file("cam-follower", "j=0.5", NULL);
  run_to(&run, 3.51, STEP);
  assert_int_equal(run_events(&run), 6);
  for (int k = 0; k < 6; k++) {
    const PawlEvent* event = run_event(&run, k);
    CHECK_NEAR(event->t, t[k], TOLERANCE);
    CHECK_NEAR(event->v_after[1], omega[k], TOLERANCE);
    assert_string_equal(event->to, k % 2 ? "turn 0" : "turn 1");
  }
  assert_int_equal(run_try(&run, 4, STEP), PAWL_ERROR_RUN);
  assert_non_null(strstr(run.err.message, "t = 3.512"));
  assert_non_null(strstr(run.err.message, "'cam'"));
  assert_non_null(strstr(run.err.message, "accumulate"));
  CHECK_NEAR(pawl_sim_state(run.sim)->t, 3.5128171564545005, 1.5 * STEP);
  assert_in_range(run_events(&run), 1000, 4000);
  run_end(&run);
}

// ---- order --------------------------------------------------------------------------------------
static double error_of(Run* run, double h, const double* q, const double* v) {
  PawlSizes n = pawl_system_sizes(run->system);
  double worst = 0.0;
  run_to(run, 4, h);
  const PawlState* state = pawl_sim_state(run->sim);
  for (int i = 0; i < n.q; i++) {
    worst = fmax(worst, fmax(fabs(state->q[i] - q[i]), fabs(state->v[i] - v[i])));
  }
  return worst;
}

// The slope of log(error) over log(h), by least squares over six steps: where the switch falls in
// its step changes an error by a factor, so that one halving says little. `part` of these steps:
// with the largest ones the errors of the wheel's three switches happen to cancel (error/h^4 of
// 0.04 to 0.07, and 0.074 to 0.095 below 0.02).
static double order_of(Run* run, const double* q, const double* v, double part) {
  static const double steps[] = {0.04, 0.03, 0.02, 0.015, 0.01, 0.0075};
  double x = 0, y = 0, xx = 0, xy = 0;
  for (int k = 0; k < 6; k++) {
    double a = log(steps[k]), b = log(error_of(run, part * steps[k], q, v));
    x += a / 6;
    y += b / 6;
    xx += a * a / 6;
    xy += a * b / 6;
  }
  return (xy - x * y) / (xx - x * x);
}

static void test_order(void** unused) {
  (void)unused;
  Run cam = run_file("cam-follower", "j=2", "fy=5");  // over two kinks
  CHECK_NEAR(order_of(&cam, CAMS[1].q, CAMS[1].v, 1.0), 4.0, 0.3);
  run_end(&cam);
  Run wheel = run_file("pothole-wheel", NULL, NULL);  // over three switches
  static const double q[] = {4.91108094727876, 1.5, 3.2870611170940838};
  static const double v[] = {1.055667751781267, 0.0, 0.7037785011875113};
  CHECK_NEAR(order_of(&wheel, q, v, 0.5), 4.0, 0.15);
  run_end(&wheel);
}

// ---- location -----------------------------------------------------------------------------------
// The step is wherever it is: just before, on and just after the switch at t = 3, and one that goes
// over all of the track at once.
static void test_steps_around_the_switch(void** unused) {
  (void)unused;
  static const double steps[] = {3.0, 2.9999999, 3.0000001, 1.5, 0.7, 6.0, 0.3, 0.1, 1e-2};
  Run run = run_file("kinked-track", NULL, NULL);
  for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
    run_to(&run, 6, steps[k]);
    assert_int_equal(run_events(&run), 1);
    CHECK_NEAR(run_event(&run, 0)->t, 3.0, 4e-12);  // a few times the tolerance of the search
    check_state(&run, (double[]){4.5, 1.5}, (double[]){0.5, 0.5}, 1e-11);
  }
  run_end(&run);
}

static void test_event_tolerance(void** unused) {
  (void)unused;
  Run run = run_file("pothole-wheel", NULL, NULL);
  static const double tolerances[] = {1e-4, 1e-7, 1e-10};
  for (int k = 0; k < 3; k++) {
    run.def.simulate.event_tolerance = tolerances[k];
    run_to(&run, 4, 1e-3);
    CHECK_NEAR(run_event(&run, 0)->t, 1.4285714285714286, 1.01 * tolerances[k] + 1e-12);
    assert_true(run_event(&run, 0)->t >= 1.4285714285714286 - 1e-12);  // not before the surface
  }
  run_end(&run);
}

// The same input, the same bits.
static void test_repeatable(void** unused) {
  (void)unused;
  double q[2][5], t[2];
  for (int k = 0; k < 2; k++) {
    Run run = run_file("braiding-machine", NULL, NULL);
    run.def.simulate.impact = "0.7";
    run_to(&run, 4, 1e-3);
    memcpy(q[k], pawl_sim_state(run.sim)->q, sizeof q[k]);
    t[k] = run_event(&run, 0)->t;
    run_end(&run);
  }
  assert_memory_equal(q[0], q[1], sizeof q[0]);
  assert_true(t[0] == t[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_track),           cmocka_unit_test(test_track_event),
      cmocka_unit_test(test_track_back),      cmocka_unit_test(test_track_back_cannot_cross),
      cmocka_unit_test(test_braiding),        cmocka_unit_test(test_braiding_bisector),
      cmocka_unit_test(test_wheel),           cmocka_unit_test(test_cam),
      cmocka_unit_test(test_cam_backwards),   cmocka_unit_test(test_cam_accumulation),
      cmocka_unit_test(test_order),           cmocka_unit_test(test_steps_around_the_switch),
      cmocka_unit_test(test_event_tolerance), cmocka_unit_test(test_repeatable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
