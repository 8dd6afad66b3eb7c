// SPDX-License-Identifier: Apache-2.0
// Rotations in motion (docs/theory/rotations.md): a free body that turns over and a heavy top, fast
// and slow, against series of 35 digits and Jacobi's functions; the top with its centre as
// coordinates and a pin; orders of the methods, lengths of quaternions, saved states, refusals.
#include "step/motion.h"

typedef struct Attitude {
  double t, R[9], omega[3];
} Attitude;

// By scripts/reference-rotations, all digits good.
static const Attitude FREE = {
    12,
    {0.21078224429080657627, -0.046496658642063843643, 0.97642660053219265426,
     0.060846458961861300586, 0.99755529305897463435, 0.034367800654475437577,
     -0.97563751153977944366, 0.052167978925262414082, 0.21309610050707194844},
    {0.19956940483440507048, 4.9880373051894994838, 0.34580896754982509526}};
static const Attitude FAST = {
    1,
    {0.67987592476642320609, 0.65685543760668459553, 0.32605162322787435095,
     -0.53589988120023681947, 0.74853200150120944563, -0.39052677252419640446,
     -0.50057970819098621958, 0.090778724462972383328, 0.86091763771704829864},
    {-0.30452115525432380975, -0.27256341721925266078, 150.0}};
static const Attitude SLOW = {
    2,
    {-0.77686615981791689393, -0.2239906278727908933, -0.58847868980526025347,
     -0.43923493706083869141, 0.86242593603544123155, 0.25158333593176258467,
     0.45116697551452486627, 0.45392698033774764906, -0.76837403439114870899},
    {7.3103128834900395316, -0.064708375201748359925, 12.0}};

// The largest error of the matrix, and of omega relative to its length; p is the quaternion.
static double error_of(const double* p, const double* omega, const Attitude* r) {
  double R[9], most = 0, size = 0;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    R[4 * i] = 1 - 2 * (p[j + 1] * p[j + 1] + p[k + 1] * p[k + 1]);
    R[3 * i + j] = 2 * (p[i + 1] * p[j + 1] - p[0] * p[k + 1]);
    R[3 * j + i] = 2 * (p[i + 1] * p[j + 1] + p[0] * p[k + 1]);
    size = fmax(size, fabs(r->omega[i]));
  }
  for (int k = 0; k < 9; k++) {
    most = fmax(most, fabs(R[k] - r->R[k]));
  }
  for (int k = 0; k < 3; k++) {
    most = fmax(most, fabs(omega[k] - r->omega[k]) / size);
  }
  return most;
}

static double run_error(Motion* m, const char* method, int steps, int first_q, int first_v,
                        const Attitude* r) {
  motion_run(m, method, r->t, steps, NULL);
  return error_of(m->state->q + first_q, m->state->v + first_v, r);
}

static double length_error(const double* p) {
  return fabs(sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]) - 1);
}

static const double ROUNDING = 4e-16;  // of a length near 1

// ---- accuracy -----------------------------------------------------------------------------------
static void check_dopri(const char* name, const char* override, const Attitude* r) {
  Motion m = motion_file(name, override);
  m.def.rtol = 1e-13;
  m.def.atol = 1e-14;
  double error = run_error(&m, "dopri", 100, 0, 0, r);
  CHECK_NEAR(error, 0, 1e-10);
  CHECK_NEAR(length_error(m.state->q), 0, ROUNDING);
  motion_end(&m);
}

static void test_dopri_against_series(void** state) {
  (void)state;
  check_dopri("free-body", NULL, &FREE);
  check_dopri("heavy-top", NULL, &FAST);
  check_dopri("heavy-top", "spin=12", &SLOW);
}

static void test_ark_against_series(void** state) {
  (void)state;
  Motion m = motion_file("heavy-top", "spin=12");
  m.def.rtol = 1e-11;
  m.def.atol = 1e-12;
  if (motion_can(&m, "ark")) {  // SUNDIALS may be absent
    CHECK_NEAR(run_error(&m, "ark", 100, 0, 0, &SLOW), 0, 1e-7);
    CHECK_NEAR(length_error(m.state->q), 0, ROUNDING);
  }
  motion_end(&m);
}

// ---- orders -------------------------------------------------------------------------------------
static void check_orders(Motion* m, const char* method, double order, int steps, int first_q,
                         int first_v, const Attitude* r) {
  double coarse = run_error(m, method, steps, first_q, first_v, r);
  for (int k = 0; k < 2; k++) {
    steps *= 2;
    double fine = run_error(m, method, steps, first_q, first_v, r);
    if (!(fabs(log2(coarse / fine) - order) <= 0.15)) {
      print_error("%s: order %.3g, errors %.3g and %.3g\n", method, log2(coarse / fine), coarse,
                  fine);
      fail();
    }
    CHECK_NEAR(length_error(m->state->q + first_q), 0, ROUNDING);
    coarse = fine;
  }
}

static const char* const SECOND[] = {"ga-p",   "ga-v",     "ga-a",     "ga-pv",
                                     "ga-pva", "nsga-pvv", "nsga-pva", "moreau-jean"};

static void test_orders_of_a_slow_top(void** state) {
  (void)state;
  Motion m = motion_file("heavy-top", "spin=12");
  check_orders(&m, "rk4", 4, 1600, 0, 0, &SLOW);
  for (size_t k = 0; k < sizeof SECOND / sizeof *SECOND; k++) {
    check_orders(&m, SECOND[k], 2, 800, 0, 0, &SLOW);
  }
  motion_end(&m);
}

static void test_orders_of_a_fast_top(void** state) {
  (void)state;
  Motion m = motion_file("heavy-top", NULL);
  check_orders(&m, "rk4", 4, 2000, 0, 0, &FAST);
  check_orders(&m, "ga-pva", 2, 2000, 0, 0, &FAST);
  check_orders(&m, "nsga-pva", 2, 2000, 0, 0, &FAST);
  motion_end(&m);
}

static void test_orders_of_a_free_body(void** state) {
  (void)state;
  Motion m = motion_file("free-body", NULL);
  check_orders(&m, "rk4", 4, 400, 0, 0, &FREE);
  check_orders(&m, "ga-pva", 2, 19200, 0, 0, &FREE);
  motion_end(&m);
}

// ---- with a pin ---------------------------------------------------------------------------------
// The same top with the centre as coordinates, held at the tip by three rows.
static const char PINNED[] =
    "model: pinned-top\n"
    "parameters: {m: 1, g: 9.81, L: 0.5, A: 0.3 - m*L^2, C: 0.05}\n"
    "coordinates:\n"
    "  x: 0\n  y: -L*sin(pi/6)\n  z: L*cos(pi/6)\n"
    "  R: {kind: rotation, start: {zxz: [0, pi/6, 0]}, rate: [0, 0, 12]}\n"
    "define: {c: [x, y, z], w: R.omega}\n"
    "kinetic: (m*dot(c', c') + A*w.x^2 + A*w.y^2 + C*w.z^2)/2\n"
    "potential: m*g*z\n"
    "constraints: {pin: \"c = R*[0, 0, L]\"}\n";

static void test_pinned_top(void** state) {
  (void)state;
  Motion m = motion_text(PINNED);
  m.def.rtol = 1e-12;
  m.def.atol = 1e-13;
  CHECK_NEAR(run_error(&m, "dopri", 200, 3, 3, &SLOW), 0, 1e-8);  // the pin drifts
  m.def.form = "minimal";
  CHECK_NEAR(run_error(&m, "dopri", 200, 3, 3, &SLOW), 0, 1e-9);
  static const char* const holding[] = {"ga-v", "ga-pv", "ga-pva", "nsga-pva"};
  for (int k = 0; k < 4; k++) {
    check_orders(&m, holding[k], 2, 800, 3, 3, &SLOW);
  }
  double off;
  motion_run(&m, "nsga-pva", 2, 400, &off);
  CHECK_NEAR(off, 0, 1e-11);
  motion_end(&m);
}

// ---- states and refusals ------------------------------------------------------------------------
static void test_saved_state_goes_on_with_the_same_bits(void** state) {
  (void)state;
  static const char* const methods[] = {"rk4", "dopri", "ga-pva", "nsga-pva"};
  for (int k = 0; k < 4; k++) {
    Motion m = motion_text(PINNED);
    motion_run(&m, methods[k], 0.1, 10, NULL);
    size_t size = pawl_state_size(m.stepper);
    void* bytes = malloc(size);
    assert_non_null(bytes);
    pawl_state_save(m.stepper, m.state, bytes);
    motion_step(&m, 0.01);
    double there[MOTION_MOST];
    memcpy(there, m.state->q, (size_t)m.n.q * sizeof(double));
    motion_stepper(&m, methods[k]);
    NEED(pawl_state_load(m.stepper, m.state, bytes, size, &m.err), &m.err);
    motion_step(&m, 0.01);
    assert_memory_equal(there, m.state->q, (size_t)m.n.q * sizeof(double));
    free(bytes);
    motion_end(&m);
  }
}

static void test_what_cannot_turn_says_so(void** state) {
  (void)state;
  static const char* const refusing[][2] = {
      {"taylor", "the rotations in space"},
      {"exponential", "the rotations in space"},
      {"php", "rotations in space"},
      {"ida", "coordinates whose rates are not the velocities"}};
  Motion m = motion_file("heavy-top", NULL);
  for (int k = 0; k < 4; k++) {
    bool absent = k == 3 && !motion_can(&m, "ark");  // without SUNDIALS
    assert_false(motion_can(&m, refusing[k][0]));
    assert_true(absent || strstr(m.err.message, refusing[k][1]));
  }
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dopri_against_series),
      cmocka_unit_test(test_ark_against_series),
      cmocka_unit_test(test_orders_of_a_slow_top),
      cmocka_unit_test(test_orders_of_a_fast_top),
      cmocka_unit_test(test_orders_of_a_free_body),
      cmocka_unit_test(test_pinned_top),
      cmocka_unit_test(test_saved_state_goes_on_with_the_same_bits),
      cmocka_unit_test(test_what_cannot_turn_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
