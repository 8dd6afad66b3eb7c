// SPDX-License-Identifier: Apache-2.0
// A lock in a flexible body: the tip of a clamped beam (the element type euler-beam) that vibrates
// is held. The jump by hand from the mass matrix, and the frequencies before and after: a
// cantilever becomes a beam with a support at its tip.
#include "switch/runs.h"

static const char BEAM[] =
    "model: held-beam\n"
    "use:\n"
    "  b: {element: euler-beam, elements: 8, E: 2.1e11, A: 1e-4, I: 8.33e-10, rho: 7800, start: "
    "clamped, load: [10, 0]}\n"
    "locks: {tip: {lock: \"b_w[8]\", at: 0.03}}\n"
    "simulate: {method: dopri, rtol: 1e-11, until: 0.06, step: 1e-3}\n";

enum { MOST = 16 };

static int tip_of(const Run* run) {
  for (int k = 0; k < pawl_system_sizes(run->system).q; k++) {
    if (strcmp(pawl_system_coordinate_name(run->system, k), "b_w[8]") == 0) {
      return k;
    }
  }
  fail();
  return -1;
}

// x = M^-1 e_j by elimination, M of the model, which is constant.
static void solve_mass(const Run* run, int j, double x[MOST]) {
  PawlSizes n = pawl_system_sizes(run->system);
  PawlPattern H = pawl_system_pattern_H(run->system);
  PawlEval* eval;
  PawlError err = {0};
  double A[MOST][MOST + 1] = {{0}}, q[MOST] = {0};
  assert_int_equal(n.v, MOST);
  assert_int_equal(pawl_eval_create(run->system, PAWL_MASS, &eval, &err), PAWL_OK);
  PawlPoint point = {.q = q, .v = q};
  assert_int_equal(pawl_eval_run(eval, &point, &err), PAWL_OK);
  for (int c = 0; c < MOST; c++) {
    for (int e = H.start[c]; e < H.start[c + 1]; e++) {
      A[H.index[e]][c] = pawl_eval_values(eval)->M[e];
    }
    A[c][MOST] = c == j;
  }
  pawl_eval_destroy(eval);
  for (int k = 0; k < MOST; k++) {  // positive definite: no pivoting
    for (int i = 0; i < MOST; i++) {
      double factor = i == k ? 0.0 : A[i][k] / A[k][k];
      for (int c = k; c <= MOST; c++) {
        A[i][c] -= factor * A[k][c];
      }
    }
  }
  for (int k = 0; k < MOST; k++) {
    x[k] = A[k][MOST] / A[k][k];
  }
}

static void test_jump(void** unused) {
  (void)unused;
  Run run = run_text(BEAM);
  run.def.simulate.method = "dopri";
  run_to(&run, 0.06, 1e-3);
  assert_int_equal(run_events(&run), 1);
  const PawlEvent* e = run_event(&run, 0);
  int tip = tip_of(&run);
  double x[MOST], rate = e->v_before[tip];
  solve_mass(&run, tip, x);
  assert_true(fabs(rate) > 0.1);
  CHECK_NEAR(e->impulse[0], -rate / x[tip], 1e-10 * fabs(rate / x[tip]));
  for (int k = 0; k < MOST; k++) {  // M dv = e Lambda: all other momenta are kept
    CHECK_NEAR(e->v_after[k] - e->v_before[k], -rate * x[k] / x[tip], 1e-9 * fabs(rate));
  }
  CHECK_NEAR(e->energy_lost, rate * rate / (2.0 * x[tip]), 1e-10);
  // The beam goes on vibrating with its tip held, and the energy is balanced.
  const PawlState* state = pawl_sim_state(run.sim);
  CHECK_NEAR(state->v[tip], 0.0, 1e-12);
  CHECK_NEAR(state->q[tip], state->held[0], 1e-10);
  assert_true(fabs(state->v[0]) > 1e-3);
  CHECK_NEAR(pawl_sim_summary(run.sim).energy_max_drift, 0.0, 1e-8);
  run_end(&run);
}

// 3.51602 and 15.41821 sqrt(E I/(rho A))/L^2: of the continuum; eight elements are within 1e-5.
static void test_frequencies(void** unused) {
  (void)unused;
  Run run = run_text(BEAM);
  double unit = sqrt(2.1e11 * 8.33e-10 / (7800 * 1e-4));
  static const double known[] = {3.5160152685, 15.4182057169};
  for (int held = 0; held < 2; held++) {
    PawlSpectrum* s;
    run_need(&run, pawl_spectrum_create(run.system, &held, 0.0, &s, &run.err));
    CHECK_NEAR(s->oscillators[0].natural / unit / known[held], 1.0, 1e-4);
    assert_int_equal(s->oscillator_count, MOST - held);
    pawl_spectrum_destroy(s);
  }
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_jump),
      cmocka_unit_test(test_frequencies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
