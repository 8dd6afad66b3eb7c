// SPDX-License-Identifier: Apache-2.0
// Pyramids of discs whose rows fall onto each other, with located instants
// (docs/theory/friction.md, F39): with mu = 0.8 each impact can stop everything, and does; with mu
// = 0.3 the third row drives the others apart.
#include "step/rubbing.h"

static const char PYRAMID[] =
    "model: pyramid\n"
    "parameters: {B: 4, r: 0.1, mu: 0.8, pull: 0, drop: 0.0005, s: 2*r, d: 'sqrt(4*r^2 - s^2/4)'}\n"
    "coordinates:\n"
    "  x[k=1..B,i=1..B-k+1]: {start: s*(i + (k-1)/2)}\n"
    "  y[k=1..B,i=1..B-k+1]: {start: r + d*(k-1) + drop*k}\n"
    "  p[k=1..B,i=1..B-k+1]:\n"
    "define:\n"
    "  u[k=2..B,i=1..B-k+1,j=0..1]: x[k,i] - x[k-1,i+j]\n"
    "  v[k=2..B,i=1..B-k+1,j=0..1]: y[k,i] - y[k-1,i+j]\n"
    "  m[k=1..B-1,i=1..B-k]: x[k,i+1] - x[k,i]\n"
    "  n[k=1..B-1,i=1..B-k]: y[k,i+1] - y[k,i]\n"
    "mass: {'x[k=1..B,i=1..B-k+1]': 1, 'y[k=1..B,i=1..B-k+1]': 1,\n"
    "  'p[k=1..B,i=1..B-k+1]': r^2/2}\n"
    "potential: {for k=1..B: {for i=1..B-k+1: '9.81*y[k,i]'}}\n"
    "forces: {'x[B,1]': pull*t}\n"
    "contacts:\n"
    "  ground[i=1..B]: {gap: 'y[1,i] - r', friction: mu, slip: \"x[1,i]' + r*p[1,i]'\"}\n"
    "  pair[k=2..B,i=1..B-k+1,j=0..1]: {gap: 'hypot(u[k,i,j], v[k,i,j]) - 2*r', friction: mu,\n"
    "    slip: \"(v[k,i,j]*u[k,i,j]' - u[k,i,j]*v[k,i,j]')/(2*r) + r*(p[k,i]' + p[k-1,i+j]')\"}\n"
    "  side[k=1..B-1,i=1..B-k]: {gap: 'hypot(m[k,i], n[k,i]) - 2*r', friction: mu,\n"
    "    slip: \"(n[k,i]*m[k,i]' - m[k,i]*n[k,i]')/(2*r) + r*(p[k,i]' + p[k,i+1]')\"}\n";

static Run pyramid_with(int count, const char* const* overrides) {
  Run run = {0};
  run_need(&run, pawl_model_parse(PYRAMID, strlen(PYRAMID), "test.yaml", count, overrides,
                                  &run.model, &run.err));
  run_derive(&run);
  return run;
}

static Run pyramid(const char* base, const char* mu) {
  return pyramid_with(2, (const char*[]){base, mu});
}

// Gaps from the positions: x of all discs come first, then y; row by row.
static double least_gap(const PawlState* state, int B) {
  int discs = B * (B + 1) / 2;
  const double *x = state->q, *y = x + discs;
  double least = INFINITY;
  for (int a = 0; a < discs; a++) {
    least = fmin(least, y[a] - 0.1);
    for (int b = 0; b < a; b++) {
      least = fmin(least, hypot(x[a] - x[b], y[a] - y[b]) - 0.2);
    }
  }
  return least;
}

// The weight of all discs is what the ground carries; the cones are met.
static void check_forces(const Run* run, int B) {
  int discs = B * (B + 1) / 2, contacts = B + 3 * B * (B - 1) / 2;
  const double* lambda = pawl_sim_multipliers(run->sim);
  double weight = 0.0;
  for (int c = 0; c < contacts; c++) {
    double N = lambda[contacts + c], T = fabs(lambda[c]);
    assert_true(N >= 0.0 && T <= 0.8 * N * (1 + 1e-10));
    weight += c < B ? N : 0.0;
  }
  CHECK_NEAR(weight, 9.81 * discs, 1e-9);
}

static void check_at_rest(int B, const char* base) {
  Run run = pyramid(base, "mu=0.8");
  run_to(&run, 0.05, 1e-3);
  const PawlState* state = pawl_sim_state(run.sim);
  for (int j = 0; j < pawl_system_sizes(run.system).v; j++) {
    CHECK_NEAR(state->v[j], 0.0, 1e-9);
  }
  assert_true(least_gap(state, B) > -1e-12);
  check_forces(&run, B);
  int instants = 0;
  for (int k = 0; k < run_events(&run); k++) {  // each row lands once, and nothing opens or slips
    const PawlEvent* event = run_event(&run, k);
    instants += k == 0 || event->t > run_event(&run, k - 1)->t;
    assert_string_equal(event->to, "hit");
    assert_true(event->energy_lost > -1e-12);
  }
  assert_int_equal(instants, B);
  assert_false(pawl_sim_energy_drifts(run.sim));
  run_end(&run);
}

static void test_rows_land_and_stay(void** unused) {
  (void)unused;
  check_at_rest(3, "B=3");
  check_at_rest(4, "B=4");
  check_at_rest(5, "B=5");
}

// Velocities with slip obey the laws, too, which is said once.
static void test_two_motions_are_told(void** unused) {
  (void)unused;
  Run run = pyramid("B=5", "mu=0.8");
  run_to(&run, 0.02, 1e-3);
  const char* told = strstr(pawl_sim_warning(run.sim), "obey the laws of friction");
  assert_non_null(told);
  assert_null(strstr(told + 1, "obey the laws of friction"));
  run_end(&run);
}

// The third row drives the others apart: energy falls, and nothing overlaps.
static void test_little_friction_does_not_hold(void** unused) {
  (void)unused;
  Run run = pyramid("B=3", "mu=0.3");
  run_to(&run, 0.05, 1e-3);
  const PawlState* state = pawl_sim_state(run.sim);
  assert_true(fabs(state->v[0]) > 1e-3);
  assert_true(least_gap(state, 3) > -1e-9);
  for (int k = 0; k < run_events(&run); k++) {
    assert_true(run_event(&run, k)->energy_lost > -1e-12);
  }
  run_end(&run);
}

// Saved and loaded between any two steps, while rows land, it goes on with the same bits: the looks
// of a fresh simulation leave no trace.
static void test_goes_on_when_saved(void** unused) {
  (void)unused;
  Run run = pyramid("B=3", "mu=0.8"), again = pyramid("B=3", "mu=0.8");
  run_to(&run, 0.04, 1e-3);
  again.def.simulate = run.def.simulate;
  run_need(&again, pawl_sim_create(again.system, &again.def, &again.sim, &again.err));
  while (!pawl_sim_ended(again.sim)) {
    void* bytes;
    size_t size;
    run_need(&again, pawl_sim_step(again.sim, 1, &again.err));
    run_need(&again, pawl_sim_save(again.sim, &bytes, &size, &again.err));
    pawl_sim_destroy(again.sim);
    run_need(&again, pawl_sim_load(again.system, &again.def, bytes, size, &again.sim, &again.err));
    pawl_sim_saved_free(bytes);
  }
  const PawlState *a = pawl_sim_state(run.sim), *b = pawl_sim_state(again.sim);
  assert_true(a->t == b->t && a->bytes == b->bytes);
  assert_memory_equal(a->q, b->q, a->bytes);
  assert_int_equal(run_events(&run), run_events(&again));
  for (int k = 0; k < run_events(&run); k++) {
    const PawlEvent *x = run_event(&run, k), *y = run_event(&again, k);
    assert_true(x->t == y->t && x->energy_lost == y->energy_lost);
  }
  run_end(&run);
  run_end(&again);
}

// A column of the results by its name and the number of a row of it.
static double shown(const Run* run, int sample, const char* format, const char* name) {
  char column[64];
  snprintf(column, sizeof column, format, name);
  int at = pawl_sim_find_column(run->sim, column);
  assert_true(at >= 0);
  return pawl_recorder_sample(pawl_sim_recorder(run->sim), sample)[at];
}

// The top disc is pulled off. Forces that samples show are within their cones, on both sides of the
// instant at which it leaves one of the two below.
static void test_forces_shown_are_within_cones(void** unused) {
  (void)unused;
  Run run = pyramid_with(4, (const char*[]){"B=5", "mu=0.8", "drop=0", "pull=20"});
  run.def.keep_samples = run.def.keep_sides = true;
  run_to(&run, 0.284, 1e-2);
  const PawlRecorder* recorder = pawl_sim_recorder(run.sim);
  assert_true(run_events(&run) > 0);
  CHECK_NEAR(run_event(&run, 0)->t, 0.28319030707, 1e-9);
  assert_true(pawl_recorder_sample_count(recorder) > 30);
  for (int k = 0; k < pawl_recorder_sample_count(recorder); k++) {
    for (int j = 0; j < pawl_recorder_column_count(recorder); j++) {
      const char* name = pawl_recorder_column(recorder, j)->name;
      size_t length = strlen(name);
      if (strncmp(name, "lambda(", 7) == 0 && strcmp(name + length - 3, ",2)") == 0) {
        char contact[32];
        snprintf(contact, sizeof contact, "%.*s", (int)length - 10, name + 7);
        double N = shown(&run, k, "lambda(%s)", contact);
        assert_true(N > -1e-9 && fabs(shown(&run, k, "lambda(%s,2)", contact)) < 0.8 * N + 1e-8);
      }
    }
  }
  run_end(&run);
}

// The top disc is pulled until all roll on each other as gears do, while those side by side rub:
// how hard these press on each other is not determined. They carry nothing, which is told (F42);
// with loads as the equations had them, below zero, friction drove the heap.
static void test_loads_that_nothing_determines(void** unused) {
  (void)unused;
  static const char* const BASE[] = {"B=2", "B=3"};
  for (int k = 0; k < 2; k++) {
    Run run = pyramid_with(4, (const char*[]){BASE[k], "mu=0.8", "drop=0", "pull=20"});
    run_to(&run, 0.4, 1e-2);
    assert_non_null(strstr(pawl_sim_warning(run.sim), "touch and carry nothing"));
    assert_true(pawl_sim_summary(run.sim).works[PAWL_WORK_FRICTION] < 0.0);
    assert_false(pawl_sim_energy_drifts(run.sim));
    run_end(&run);
  }
}

// All loads within their cones, and all that is accelerated is so by the ground.
static void check_laws(const Run* run, int B, double mu) {
  int discs = B * (B + 1) / 2, contacts = B + 3 * B * (B - 1) / 2;
  const double *lambda = pawl_sim_multipliers(run->sim), *a = pawl_sim_state(run->sim)->a;
  double up = 0.0, across = 0.0;
  for (int c = 0; c < contacts; c++) {
    double N = lambda[contacts + c], T = lambda[c];
    assert_true(N > -1e-6 && fabs(T) < mu * N + 1e-6);
    up += c < B ? N : 0.0;
    across += c < B ? T : 0.0;
  }
  for (int k = 0; k < discs; k++) {
    across -= a[k];
    up -= 9.81 + a[discs + k];
  }
  CHECK_NEAR(up, 0.0, 1e-6);
  CHECK_NEAR(across, 0.0, 1e-6);
}

// Two blocks slide on the floor, and the first hooks over the second with any load L: it takes L
// from the floor and brings L to it. Where it is faster all friction is as without it, whatever L
// is; where it is slower friction of the first is mu (L - (m g - L)), and L is 0 or m g then. (F42)
// A brake slides beside them, whose friction hangs on what its rail carries.
static void test_whether_loads_matter(void** unused) {
  (void)unused;
  static const char* const RATES[][2] = {{"u=2", "w=1"}, {"u=1", "w=2"}};
  for (int k = 0; k < 2; k++) {
    static const char TEXT[] =
        "model: hook\n"
        "parameters: {u: 1, w: 1, mu: 0.5}\n"
        "coordinates: {x: {rate: u}, y: , X: {rate: w}, Y: , z: {rate: 1}, p: }\n"
        "mass: {x: 1, y: 1, X: 1, Y: 1, z: 1, p: 1}\n"
        "potential: 10*y + 10*Y + 10*p\n"
        "constraints: {rail: p = 0}\n"
        "locks: {brake: {lock: z, engaged: true, capacity: 0.3*abs(lambda(rail))}}\n"
        "contacts:\n"
        "  first: {gap: y, friction: mu, slip: x}\n"
        "  second: {gap: Y, friction: mu, slip: X}\n"
        "  hook: {gap: y - Y, friction: mu, slip: x - X}\n";
    Run run = {0};
    run_need(&run,
             pawl_model_parse(TEXT, strlen(TEXT), "test.yaml", 2, RATES[k], &run.model, &run.err));
    run_derive(&run);
    run_to(&run, 0.01, 1e-3);
    const double* a = pawl_sim_state(run.sim)->a;
    bool told = strstr(pawl_sim_warning(run.sim), "the motion depends on the load");
    assert_int_equal(told, k == 1);
    double load = k == 0 ? 0.0 : 5 + a[0];
    assert_true(k == 0 || fabs(load * (load - 10)) < 1e-8);
    CHECK_NEAR(a[0], k == 0 ? -5 : 0.5 * (2 * load - 10), 1e-9);
    CHECK_NEAR(a[2], k == 0 ? -5 : -0.5 * (10 + 2 * load), 1e-9);
    CHECK_NEAR(a[4], -3, 1e-9);
    run_end(&run);
  }
}

// Loads that nothing determines go to where one of them is zero or at its cone: without the one
// with the least load there were no forces, or gaps closed, and the run ended, with mu = 0.3 at
// 0.0682 s, with 0.2 at 0.1363 s.                                                           (F48)
static void test_loads_go_to_a_border(void** unused) {
  (void)unused;
  static const struct {
    const char* mu;
    double value, until;
  } cases[] = {{"mu=0.3", 0.3, 0.08}, {"mu=0.2", 0.2, 0.15}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Run run = pyramid("B=5", cases[k].mu);
    run_to(&run, cases[k].until, 1e-3);
    assert_false(pawl_sim_energy_drifts(run.sim));
    assert_true(least_gap(pawl_sim_state(run.sim), 5) > -1e-9);
    check_laws(&run, 5, cases[k].value);
    run_end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_land_and_stay),
      cmocka_unit_test(test_two_motions_are_told),
      cmocka_unit_test(test_little_friction_does_not_hold),
      cmocka_unit_test(test_goes_on_when_saved),
      cmocka_unit_test(test_forces_shown_are_within_cones),
      cmocka_unit_test(test_loads_that_nothing_determines),
      cmocka_unit_test(test_whether_loads_matter),
      cmocka_unit_test(test_loads_go_to_a_border),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
