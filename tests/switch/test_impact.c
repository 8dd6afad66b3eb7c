// SPDX-License-Identifier: Apache-2.0
// The jump of the velocities: cases worked by hand and the reference numbers of the examples,
// special angles, unequal numbers of rows, moving constraints, and each way to fail. Labels refer
// to docs/theory/impact.md.
#include "switch/jumps.h"

static const double ROUNDING = 4e-15;  // of numbers of order one after a dozen operations

static void check_vector(int n, const double* value, const double* expected, double tolerance) {
  for (int i = 0; i < n; i++) {
    CHECK_NEAR(value[i], expected[i], tolerance);
  }
}

// ---- the kinked track ---------------------------------------------------------------------------
// A point of 1 kg comes along y = 0 with (1, 0) and leaves along y = x - 3. The numbers are those
// of the interpolated gradient (45) of Patil and Bruels, computed in closed form for this project.
static Jump track(void) {
  return (Jump){.n = 2,
                .rows = 1,
                .M = {{1, 0}, {0, 1}},
                .before = {{0, 1}},
                .after = {{-1, 1}},
                .active_before = {1},
                .active_after = {1},
                .v_minus = {1, 0}};
}

typedef struct TrackCase {
  double epsilon;
  bool arc;
  unsigned flips;  // 1: the point turns back, as in the authors' case 2
  double speed;    // both components of v+
  double energy;   // after
} TrackCase;

static const TrackCase TRACK[] = {
    {1.0, false, 0, 0.5, 0.25},
    {0.9, false, 0, 0.5364221182029747, 0.2877486888973662},
    {0.7, false, 0, 0.616283622527163, 0.3798055033952026},
    {0.5, false, 0, 0.7071067811865475, 0.5},
    {0.9, true, 0, 0.7627572917731911 * 0.7071067811865476, 0.5 - 0.2091006569234135},
    {0.7, true, 0, 0.8768680997509488 * 0.7071067811865476, 0.5 - 0.11555116781958003},
    {0.5, true, 0, 0.7071067811865475, 0.5},
    {0.9, false, 1, 0.4573667016728018, 0.20918429979905762},
    {0.7, false, 1, 0.28259278196721904, 0.0798586804199722},
    {0.5, false, 1, -0.7071067811865479, 0.5},
    {0.9, true, 1, 0.5373454626221458 * 0.7071067811865476, 0.5 - 0.3556299268996961},
    {0.7, true, 1, 0.1031805368148754 * 0.7071067811865476, 0.5 - 0.4946768884112971},
    {0.5, true, 1, -0.7071067811865479, 0.5},
};

static void test_track(void** unused) {
  (void)unused;
  for (size_t k = 0; k < sizeof TRACK / sizeof *TRACK; k++) {
    const TrackCase* c = &TRACK[k];
    Jump jump = track();
    assert_int_equal(jump_run(&jump, (PawlImpactLaw){c->epsilon, c->arc}, c->flips), PAWL_OK);
    assert_int_equal(jump.planes, c->epsilon == 1.0 ? 0 : 1);
    check_vector(2, jump.v_plus, (double[]){c->speed, c->speed}, ROUNDING);
    CHECK_NEAR(kinetic(&jump, jump.v_plus), c->energy, ROUNDING);
    // the impulse belongs to the rows as the user wrote them: B is as long as G between them
    double size = c->arc ? sqrt(2.0) : NAN;
    if (c->arc && c->epsilon != 1.0) {
      CHECK_NEAR(sqrt(dot(2, jump.B[0], jump.B[0])), size, ROUNDING);  // e is a unit vector
    }
    CHECK_NEAR(jump.v_plus[0] - 1.0, jump.B[0][0] * jump.Lambda[0], ROUNDING);
    CHECK_NEAR(jump.v_plus[1], jump.B[0][1] * jump.Lambda[0], ROUNDING);
  }
}

// B of one row is the interpolated gradient (45) times the length of G.
static void test_track_directions(void** unused) {
  (void)unused;
  static const struct {
    double epsilon, B[2];
  } cases[] = {{1.0, {-0.7071067811865475, 0.7071067811865475}},
               {0.9, {-0.6363961030678927, 0.7363961030678927}},
               {0.7, {-0.4949747468305832, 0.7949747468305832}},
               {0.5, {-0.35355339059327373, 0.8535533905932737}}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Jump jump = track();
    assert_int_equal(jump_run(&jump, (PawlImpactLaw){cases[k].epsilon, false}, 0), PAWL_OK);
    for (int j = 0; j < 2; j++) {
      CHECK_NEAR(jump.B[0][j], sqrt(2.0) * cases[k].B[j], ROUNDING);
    }
  }
}

// Turning back, the chord passes through a direction that cannot carry the point onto the new line:
// (1 - e) cos 45 = e at e = sqrt(2) - 1.
static void test_track_singular(void** unused) {
  (void)unused;
  Jump jump = track();
  PawlImpactLaw law = {sqrt(2.0) - 1.0, false};
  assert_int_equal(jump_run(&jump, law, 1), PAWL_RETRY);
  assert_int_equal(jump_run(&jump, law, 0), PAWL_OK);
}

// ---- the braiding machine -----------------------------------------------------------------------
// Carrier (x, y, angle) and two gears; the first row couples the gears, three rows hand the carrier
// over. Reference numbers in closed form, made for this project.
static Jump braiding(double second_radius) {
  double r = 2.0, s = second_radius, inertia = 15 * s * s / 2;
  return (Jump){.n = 5,
                .rows = 4,
                .M = {{2}, {0, 2}, {0, 0, 0.25}, {0, 0, 0, 30}, {0, 0, 0, 0, inertia}},
                .before = {{0, 0, 0, 1, 1}, {1}, {0, 1, r}, {0, 0, 1, -1}},
                .after = {{0, 0, 0, 1, 1}, {1}, {0, 1, -s}, {0, 0, 1, 0, -1}},
                .active_before = {1, 1, 1, 1},
                .active_after = {1, 1, 1, 1},
                .v_minus = {0, -3.2, 1.6, 1.6, -1.6}};
}

typedef struct BraidingCase {
  double radius, epsilon, angle, v_plus[5], energy;
  double impulse[5];  // M (v+ - v-)
} BraidingCase;

static const BraidingCase BRAIDING[] = {
    {2.0,
     1.0,
     0.0,
     {0, -3.1765567765567764, -1.5882783882783884, 1.5882783882783884, -1.5882783882783884},
     86.08468864468864,
     {0, 0.04688644688644742, -0.79706959706959711, -0.3516483516483511, 0.3516483516483511}},
    {1.0,
     1.0,
     0.0,
     {0, -1.6603773584905674, -1.660377358490567, 1.6603773584905661, -1.6603773584905661},
     54.79245283018868,
     {0, 3.0792452830188655, -0.81509433962264155, 1.8113207547169792, -0.4528301886792445}},
    {2.0, 0.5, 0.12111952696612845, {0, -3.2, -1.6, 1.6, -1.6}, 87.36, {0, 0, -0.8, 0, 0}},
    {1.0,
     0.5,
     0.2564481504189004,
     {0, -1.716512480100165, -1.7165124801001657, 1.716512480100166, -1.716512480100166},
     58.56,
     {0, 2.9669750397996704, -0.8291281200250414, 3.4953744030049805, -0.8738436007512451}},
};

static void test_braiding(void** unused) {
  (void)unused;
  for (size_t k = 0; k < sizeof BRAIDING / sizeof *BRAIDING; k++) {
    const BraidingCase* c = &BRAIDING[k];
    Jump jump = braiding(c->radius);
    PawlImpact* impact;
    assert_int_equal(jump_prepare(&jump, (PawlImpactLaw){c->epsilon, false}, &impact), PAWL_OK);
    assert_int_equal(jump.planes, c->epsilon == 1.0 ? 0 : 1);  // three of the four rows stay
    CHECK_NEAR(pawl_impact_angle(impact), c->angle, ROUNDING);
    assert_int_equal(jump_solve(&jump, impact, 0), PAWL_OK);
    pawl_impact_destroy(impact);
    check_vector(5, jump.v_plus, c->v_plus, ROUNDING);
    CHECK_NEAR(kinetic(&jump, jump.v_plus), c->energy, 4e-14);  // of 87 J
    for (int i = 0; i < 5; i++) {
      double change = jump.M[i][i] * (jump.v_plus[i] - jump.v_minus[i]);
      CHECK_NEAR(change, c->impulse[i], 1e-13);  // rounding of v times a mass of 30
    }
    assert_true(jump_residual(&jump) < ROUNDING);
  }
}

// The impulses by row, minus those of the authors, who write + G^T Lambda on the left.
static void test_braiding_impulses(void** unused) {
  (void)unused;
  Jump jump = braiding(2.0);
  assert_int_equal(jump_run(&jump, (PawlImpactLaw){1.0, false}, 0), PAWL_OK);
  check_vector(4, jump.Lambda,
               (double[]){-0.3516483516483511, 0, 0.04688644688644742, -0.7032967032967022}, 1e-13);
  jump = braiding(1.0);
  assert_int_equal(jump_run(&jump, (PawlImpactLaw){1.0, false}, 0), PAWL_OK);
  check_vector(4, jump.Lambda,
               (double[]){1.8113207547169792, 0, 3.0792452830188655, 2.2641509433962237}, 1e-13);
}

// ---- the wheel on the edges of a pothole --------------------------------------------------------
// From the left edge to the right one, psi = asin(1/3) on either side. By hand: the angular
// momentum about the new edge, m r^2 (1/2 + cos 2 psi) = m r^2 (1/2 + 7/9), over m r^2 3/2.
static void test_wheel(void** unused) {
  (void)unused;
  double r = 1.5, s = r / 3, c = r * sqrt(8.0) / 3;
  Jump jump = {.n = 3,
               .rows = 2,
               .M = {{5}, {0, 5}, {0, 0, 5.625}},
               .before = {{1, 0, -c}, {0, 1, s}},
               .after = {{1, 0, -c}, {0, 1, -s}},
               .active_before = {1, 1},
               .active_after = {1, 1},
               .v_minus = {c, -s, 1}};
  assert_int_equal(jump_run(&jump, (PawlImpactLaw){1.0, false}, 0), PAWL_OK);
  double ratio = 23.0 / 27.0;
  check_vector(3, jump.v_plus, (double[]){c * ratio, s * ratio, ratio}, ROUNDING);
  PawlImpact* impact;
  assert_int_equal(jump_prepare(&jump, (PawlImpactLaw){0.5, false}, &impact), PAWL_OK);
  CHECK_NEAR(pawl_impact_angle(impact), 0.5512855984325308, ROUNDING);  // reference
  assert_int_equal(jump_solve(&jump, impact, 0), PAWL_OK);
  check_vector(3, jump.v_plus, (double[]){c, s, 1}, ROUNDING);
  pawl_impact_destroy(impact);
}

// ---- special angles -----------------------------------------------------------------------------
// Two walls at right angles: the bisector turns the point either way, with its whole speed; the new
// gradient stops it; the old one has nothing to push with.
static void test_right_angle(void** unused) {
  (void)unused;
  Jump jump = track();
  jump.after[0][0] = 1;
  jump.after[0][1] = 0;
  double sum = 0.0;
  for (unsigned flips = 0; flips < 2; flips++) {
    for (int arc = 0; arc < 2; arc++) {
      assert_int_equal(jump_run(&jump, (PawlImpactLaw){0.5, arc}, flips), PAWL_OK);
      assert_int_equal(jump.planes, 1);
      CHECK_NEAR(jump.v_plus[0], 0.0, ROUNDING);
      CHECK_NEAR(fabs(jump.v_plus[1]), 1.0, ROUNDING);
      sum += jump.v_plus[1];
    }
    assert_int_equal(jump_run(&jump, (PawlImpactLaw){0.0, false}, flips), PAWL_RETRY);
    assert_int_equal(jump_run(&jump, (PawlImpactLaw){0.0, true}, flips), PAWL_RETRY);
  }
  CHECK_NEAR(sum, 0.0, ROUNDING);  // once up, once down
  assert_int_equal(jump_run(&jump, (PawlImpactLaw){1.0, false}, 0), PAWL_OK);
  check_vector(2, jump.v_plus, (double[]){0, 0}, ROUNDING);
}

// The same rows before and after, or multiples of them: nothing jumps, and no plane may be turned.
static void test_no_angle(void** unused) {
  (void)unused;
  static const double laws[] = {0.0, 0.3, 0.5, 1.0};
  for (int k = 0; k < 4; k++) {
    for (int arc = 0; arc < 2; arc++) {
      Jump jump = track();
      jump.after[0][0] = 0;
      jump.after[0][1] = -17;
      assert_int_equal(jump_run(&jump, (PawlImpactLaw){laws[k], arc}, 0), PAWL_OK);
      assert_int_equal(jump.planes, 0);
      check_vector(2, jump.v_plus, (double[]){1, 0}, ROUNDING);
      CHECK_NEAR(jump.Lambda[0], 0.0, ROUNDING);
    }
  }
}

// A kink of a nanoradian is not lost: v+ is along the new line.
static void test_small_angle(void** unused) {
  (void)unused;
  static const double angles[] = {1e-3, 1e-6, 1e-8, 1e-10};
  for (int k = 0; k < 4; k++) {
    double angle = angles[k];
    Jump jump = track();
    jump.after[0][0] = -sin(angle);
    jump.after[0][1] = cos(angle);
    assert_int_equal(jump_run(&jump, (PawlImpactLaw){0.5, false}, 0), PAWL_OK);
    check_vector(2, jump.v_plus, (double[]){cos(angle), sin(angle)}, ROUNDING);
    assert_int_equal(jump.planes, angle > 1e-9 ? 1 : 0);  // less is not turned
  }
}

// ---- unequal numbers of rows --------------------------------------------------------------------
// Two masses that meet and stay together: the plastic impact, whatever the law, since there is no
// gradient before.
static void test_engagement(void** unused) {
  (void)unused;
  static const double laws[] = {0.0, 0.5, 1.0};
  for (int k = 0; k < 3; k++) {
    Jump jump = {.n = 2,
                 .rows = 1,
                 .M = {{3}, {0, 1}},
                 .after = {{1, -1}},
                 .active_after = {1},
                 .v_minus = {2, -2}};
    assert_int_equal(jump_run(&jump, (PawlImpactLaw){laws[k], false}, 0), PAWL_OK);
    check_vector(2, jump.v_plus, (double[]){1, 1}, ROUNDING);  // (3 * 2 - 2) / 4
    CHECK_NEAR(jump.Lambda[0], -3.0, ROUNDING);
  }
}

static void test_release(void** unused) {
  (void)unused;
  Jump jump = track();
  jump.active_after[0] = 0;
  assert_int_equal(jump_run(&jump, (PawlImpactLaw){0.5, false}, 0), PAWL_OK);
  assert_true(jump.v_plus[0] == 1.0 && jump.v_plus[1] == 0.0);  // exactly: nothing acts
  assert_true(jump.Lambda[0] == 0.0 && jump.B[0][0] == 0.0 && jump.B[0][1] == 0.0);
}

// A row is turned by an angle in the plane of y and z and a row for x is added. The bisector keeps
// the energy of the turn and loses that of x alone; without the row for x nothing is lost.
static void test_row_added_and_removed(void** unused) {
  (void)unused;
  double angle = 0.7, c = cos(angle), s = sin(angle);
  Jump jump = {.n = 3,
               .rows = 2,
               .M = {{1}, {0, 1}, {0, 0, 1}},
               .before = {{0, 0, 2}},
               .after = {{0, s, c}, {5, 0, 0}},
               .active_before = {1, 0},
               .active_after = {1, 1},
               .v_minus = {3, 2, 0}};
  assert_int_equal(jump_run(&jump, (PawlImpactLaw){0.5, false}, 0), PAWL_OK);
  check_vector(3, jump.v_plus, (double[]){0, 2 * c, -2 * s}, ROUNDING);
  CHECK_NEAR(kinetic(&jump, jump.v_minus) - kinetic(&jump, jump.v_plus), 4.5, ROUNDING);
  Jump back = jump;
  memcpy(back.before, jump.after, sizeof back.before);
  memcpy(back.after, jump.before, sizeof back.after);
  memcpy(back.active_before, jump.active_after, sizeof back.active_before);
  memcpy(back.active_after, jump.active_before, sizeof back.active_after);
  memcpy(back.v_minus, jump.v_plus, sizeof back.v_minus);
  assert_int_equal(jump_run(&back, (PawlImpactLaw){0.5, false}, 0), PAWL_OK);
  check_vector(3, back.v_plus, (double[]){0, 2, 0}, ROUNDING);
}

// Rows that are not in force do not count, wherever they stand; their impulse is left alone.
static void test_rows_not_in_force(void** unused) {
  (void)unused;
  Jump jump = {.n = 2,
               .rows = 5,
               .M = {{1}, {0, 1}},
               .before = {{7, 8}, {0, 1}, {9, 9}, {1, 1}, {3, 1}},
               .after = {{5, 5}, {1, 1}, {2, 0}, {-1, 1}, {6, 7}},
               .active_before = {0, 1, 0, 0, 0},
               .active_after = {0, 0, 0, 1, 0},
               .v_minus = {1, 0}};
  assert_int_equal(jump_run(&jump, (PawlImpactLaw){0.9, false}, 0), PAWL_OK);
  check_vector(2, jump.v_plus, (double[]){0.5364221182029747, 0.5364221182029747}, ROUNDING);
  for (int i = 0; i < 5; i++) {
    assert_true(i == 3 || (jump.Lambda[i] == 0.0 && jump.B[i][0] == 0.0 && jump.B[i][1] == 0.0));
  }
  assert_true(jump.Lambda[3] > 0.0);
}

// Contacts are not in force and have their gradient beside B.
static void test_gradient_of_other_rows(void** unused) {
  (void)unused;
  Jump jump = track();
  jump.rows = 2;
  JumpPattern G;
  full_pattern(2, 2, &G);
  static const double values_of_G[] = {7, 3, 8, 4};  // by columns: rows (7, 8) and (3, 4)
  double values[4];
  PawlImpact* impact;
  assert_int_equal(jump_prepare(&jump, (PawlImpactLaw){0.5, false}, &impact), PAWL_OK);
  pawl_impact_gradient(impact, 0, &G.pattern, values_of_G, values);
  pawl_impact_destroy(impact);
  assert_true(values[1] == 3.0 && values[3] == 4.0);
  CHECK_NEAR(values[0], -0.35355339059327373 * sqrt(2.0), ROUNDING);
  CHECK_NEAR(values[2], 0.8535533905932737 * sqrt(2.0), ROUNDING);
}

// ---- moving constraints -------------------------------------------------------------------------
// The track of which the kink moves along y = 0 with speed c: g_t = c tan 45 on the ramp. Seen from
// the kink the point arrives with 1 - c and leaves with the factor of the resting track.
static void test_moving_kink(void** unused) {
  (void)unused;
  static const double speeds[] = {-2.0, 0.0, 0.25, 0.75};
  for (size_t k = 0; k < sizeof TRACK / sizeof *TRACK; k++) {
    for (int i = 0; i < 4; i++) {
      double c = speeds[i], leave = (1.0 - c) * TRACK[k].speed;
      Jump jump = track();
      jump.rate_after[0] = c;
      PawlImpactLaw law = {TRACK[k].epsilon, TRACK[k].arc};
      assert_int_equal(jump_run(&jump, law, TRACK[k].flips), PAWL_OK);
      check_vector(2, jump.v_plus, (double[]){c + leave, leave}, 3 * ROUNDING);
      double work = c * (jump.v_plus[0] - jump.v_minus[0]);  // of the moving track
      double change = kinetic(&jump, jump.v_plus) - kinetic(&jump, jump.v_minus);
      double relative = (1 - c) * (1 - c) * (TRACK[k].energy - 0.5);
      CHECK_NEAR(change, relative + work, 10 * ROUNDING);  // (J9)
    }
  }
}

static void test_one_velocity(void** unused) {
  (void)unused;
  Jump jump = {.n = 1,
               .rows = 1,
               .M = {{2}},
               .before = {{2}},
               .after = {{-3}},
               .active_before = {1},
               .active_after = {1},
               .rate_before = {-2},
               .rate_after = {6},
               .v_minus = {1}};
  static const double laws[] = {0.0, 0.5, 1.0};
  for (int k = 0; k < 3; k++) {
    assert_int_equal(jump_run(&jump, (PawlImpactLaw){laws[k], k == 1}, 0), PAWL_OK);
    CHECK_NEAR(jump.v_plus[0], 2.0, ROUNDING);
    CHECK_NEAR(jump.B[0][0] * jump.Lambda[0], 2.0, ROUNDING);  // M (2 - 1)
  }
}

// ---- failures -----------------------------------------------------------------------------------
static void test_dependent_rows(void** unused) {
  (void)unused;
  static const double laws[] = {0.0, 0.5, 1.0};
  for (int k = 0; k < 3; k++) {
    Jump jump = track();
    jump.rows = 2;
    jump.active_after[1] = 1;
    jump.after[1][0] = 2;  // the same row twice as long, turned round
    jump.after[1][1] = -2;
    assert_int_equal(jump_run(&jump, (PawlImpactLaw){laws[k], false}, 0), PAWL_RETRY);
    jump.after[1][0] = jump.after[1][1] = 0;  // a row of zeros
    assert_int_equal(jump_run(&jump, (PawlImpactLaw){laws[k], false}, 0), PAWL_RETRY);
  }
}

static void test_more_rows_than_velocities(void** unused) {
  (void)unused;
  jump_seed = 6;
  static const double laws[] = {0.0, 0.5, 1.0};
  for (int k = 0; k < 3; k++) {
    Jump jump = jump_random_system(2, 1, 5);
    assert_int_equal(jump_run(&jump, (PawlImpactLaw){laws[k], false}, 0), PAWL_RETRY);
  }
  Jump fewer = track();  // twice the same before is no mistake: v- satisfies both
  fewer.rows = 3;
  for (int i = 1; i < 3; i++) {
    fewer.active_before[i] = 1;
    fewer.before[i][1] = i + 1;
  }
  assert_int_equal(jump_run(&fewer, (PawlImpactLaw){0.5, false}, 0), PAWL_OK);
  check_vector(2, fewer.v_plus, (double[]){sqrt(0.5), sqrt(0.5)}, ROUNDING);
}

static void test_singular_mass(void** unused) {
  (void)unused;
  Jump jump = track();
  jump.M[0][0] = 0;
  assert_int_equal(jump_run(&jump, (PawlImpactLaw){1.0, false}, 0), PAWL_RETRY);
  jump.M[0][0] = jump.M[0][1] = jump.M[1][0] = 1;
  assert_int_equal(jump_run(&jump, (PawlImpactLaw){1.0, false}, 0), PAWL_RETRY);
  jump.M[0][0] = NAN;
  assert_int_equal(jump_run(&jump, (PawlImpactLaw){1.0, false}, 0), PAWL_RETRY);
}

static void test_short_memory(void** unused) {
  (void)unused;
  PawlError err = {0};
  PawlImpact* impact = NULL;
  long long fails = 0;
  for (;; fails++) {
    pawl_alloc_fail_at(fails + 1);
    PawlStatus status = pawl_impact_create(9, 7, &impact, &err);
    pawl_alloc_fail_at(0);
    if (status == PAWL_OK) {
      break;
    }
    assert_int_equal(status, PAWL_ERROR_MEMORY);
    assert_int_equal(err.status, PAWL_ERROR_MEMORY);
    assert_null(impact);
  }
  assert_true(fails >= 2);
  pawl_impact_destroy(impact);
  pawl_impact_destroy(NULL);
  Jump jump = track();  // and in the directions, which use LAPACK
  for (fails = 0;; fails++) {
    assert_int_equal(jump_prepare(&jump, (PawlImpactLaw){1.0, false}, &impact), PAWL_OK);
    pawl_alloc_fail_at(fails + 1);
    PawlStatus status = pawl_impact_directions(impact, (PawlImpactLaw){0.5, false}, &jump.planes);
    pawl_alloc_fail_at(0);
    pawl_impact_destroy(impact);
    if (status == PAWL_OK) {
      break;
    }
    assert_int_equal(status, PAWL_ERROR_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_track),
      cmocka_unit_test(test_track_directions),
      cmocka_unit_test(test_track_singular),
      cmocka_unit_test(test_braiding),
      cmocka_unit_test(test_braiding_impulses),
      cmocka_unit_test(test_wheel),
      cmocka_unit_test(test_right_angle),
      cmocka_unit_test(test_no_angle),
      cmocka_unit_test(test_small_angle),
      cmocka_unit_test(test_engagement),
      cmocka_unit_test(test_release),
      cmocka_unit_test(test_row_added_and_removed),
      cmocka_unit_test(test_rows_not_in_force),
      cmocka_unit_test(test_gradient_of_other_rows),
      cmocka_unit_test(test_moving_kink),
      cmocka_unit_test(test_one_velocity),
      cmocka_unit_test(test_dependent_rows),
      cmocka_unit_test(test_more_rows_than_velocities),
      cmocka_unit_test(test_singular_mass),
      cmocka_unit_test(test_short_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
