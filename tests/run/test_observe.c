// SPDX-License-Identifier: Apache-2.0
// The columns of a record, their names, units and kinds; the numbers in them; and the facts.
#include "step/motion.h"

static PawlSim* sim_of(Motion* m) {
  PawlSimDef def = pawl_sim_def_default();
  PawlSim* sim = NULL;
  def.simulate = m->def;
  def.simulate.until = 10 * def.simulate.step;
  NEED(pawl_sim_create(m->system, &def, &sim, &m->err), &m->err);
  NEED(pawl_sim_run(sim, NULL, NULL, &m->err), &m->err);
  return sim;
}

static void check_column(const PawlRecorder* recorder, int k, const char* name, const char* unit,
                         PawlColumnKind kind) {
  const PawlColumn* column = pawl_recorder_column(recorder, k);
  assert_non_null(column);
  assert_string_equal(column->name, name);
  assert_string_equal(column->unit, unit);
  assert_int_equal(column->kind, kind);
}

static void test_columns_of_the_pendulum(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  PawlSim* sim = sim_of(&m);
  const PawlRecorder* r = pawl_sim_recorder(sim);
  const struct {
    const char *name, *unit;
    PawlColumnKind kind;
  } expected[] = {{"t", "s", PAWL_COLUMN_TIME},
                  {"x", "m", PAWL_COLUMN_COORDINATE},
                  {"y", "m", PAWL_COLUMN_COORDINATE},
                  {"theta", "rad", PAWL_COLUMN_COORDINATE},
                  {"x'", "m/s", PAWL_COLUMN_RATE},
                  {"y'", "m/s", PAWL_COLUMN_RATE},
                  {"theta'", "rad/s", PAWL_COLUMN_RATE},
                  {"x''", "m/s^2", PAWL_COLUMN_ACCELERATION},
                  {"y''", "m/s^2", PAWL_COLUMN_ACCELERATION},
                  {"theta''", "rad/s^2", PAWL_COLUMN_ACCELERATION},
                  {"lambda(pin,1)", "N", PAWL_COLUMN_MULTIPLIER},
                  {"lambda(pin,2)", "N", PAWL_COLUMN_MULTIPLIER},
                  {"kinetic", "J", PAWL_COLUMN_ENERGY},
                  {"potential", "J", PAWL_COLUMN_ENERGY},
                  {"energy", "J", PAWL_COLUMN_ENERGY},
                  {"residual.position", "", PAWL_COLUMN_RESIDUAL},
                  {"residual.velocity", "", PAWL_COLUMN_RESIDUAL},
                  {"residual.acceleration", "", PAWL_COLUMN_RESIDUAL},
                  {"pull", "N", PAWL_COLUMN_OUTPUT},
                  {"energy.drift", "J", PAWL_COLUMN_WORK}};
  int count = (int)(sizeof expected / sizeof *expected);
  assert_int_equal(pawl_recorder_column_count(r), count);
  for (int k = 0; k < count; k++) {
    check_column(r, k, expected[k].name, expected[k].unit, expected[k].kind);
  }
  assert_null(pawl_recorder_column(r, count));
  pawl_sim_destroy(sim);
  motion_end(&m);
}

// Each number of a sample, recomputed from the others of the same sample by hand formulas.
static void test_numbers_of_the_pendulum(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  PawlSim* sim = sim_of(&m);
  const PawlRecorder* r = pawl_sim_recorder(sim);
  for (int k = 0; k < pawl_recorder_sample_count(r); k++) {
    const double* s = pawl_recorder_sample(r, k);
    double x = s[1], y = s[2], th = s[3], u = s[4], w = s[5], om = s[6], al = s[9];
    double cs = cos(th), sn = sin(th);
    CHECK_NEAR(s[12], 0.5 * (u * u + w * w + 0.1 * om * om), 1e-12);
    CHECK_NEAR(s[13], 10 * y, 1e-13);
    CHECK_NEAR(s[14], s[12] + s[13], 1e-13);
    CHECK_NEAR(s[15], fmax(fabs(x - cs), fabs(y - sn)), 1e-15);
    CHECK_NEAR(s[16], fmax(fabs(u + sn * om), fabs(w - cs * om)), 1e-13);
    CHECK_NEAR(s[17],
               fmax(fabs(s[7] + sn * al + cs * om * om), fabs(s[8] - cs * al + sn * om * om)),
               1e-11);
    CHECK_NEAR(s[18], s[10] * cs + s[11] * sn, 1e-12);
    CHECK_NEAR(s[19], s[14] - pawl_recorder_sample(r, 0)[14], 1e-13);
    CHECK_NEAR(s[7], s[10], 1e-8);          // x'' = lambda_1
    CHECK_NEAR(s[8], -10.0 + s[11], 1e-8);  // y'' = -10 + lambda_2
  }
  pawl_sim_destroy(sim);
  motion_end(&m);
}

// A constraint of one row needs no number; a model without constraints or outputs has no such
// columns; names with an index stay as they are.
static void test_other_columns(void** unused) {
  (void)unused;
  Motion m = motion_file("two-mass-coupled", NULL);
  PawlSim* sim = sim_of(&m);
  const PawlRecorder* r = pawl_sim_recorder(sim);
  check_column(r, 1, "s1", "m", PAWL_COLUMN_COORDINATE);
  check_column(r, 3, "s1'", "m/s", PAWL_COLUMN_RATE);
  check_column(r, 7, "lambda(coupling)", "N", PAWL_COLUMN_MULTIPLIER);
  check_column(r, 14, "force", "N", PAWL_COLUMN_OUTPUT);
  assert_true(pawl_recorder_sample(r, 3)[14] == pawl_recorder_sample(r, 3)[7]);
  pawl_sim_destroy(sim);
  motion_end(&m);

  m = motion_file("oscillator", NULL);
  sim = sim_of(&m);
  assert_int_equal(pawl_recorder_column_count(pawl_sim_recorder(sim)), 1 + 3 + 3 + 3 + 1);
  pawl_sim_destroy(sim);
  motion_end(&m);

  m = motion_file("chain", "N=3");
  sim = sim_of(&m);
  r = pawl_sim_recorder(sim);
  check_column(r, 1, "x[1]", "m", PAWL_COLUMN_COORDINATE);
  check_column(r, 10, "x[1]'", "m/s", PAWL_COLUMN_RATE);
  check_column(r, 28, "lambda(joint[1],1)", "N", PAWL_COLUMN_MULTIPLIER);
  check_column(r, 33, "lambda(joint[3],2)", "N", PAWL_COLUMN_MULTIPLIER);
  pawl_sim_destroy(sim);
  motion_end(&m);
}

static int column_of(const PawlRecorder* r, const char* name) {
  for (int k = 0; k < pawl_recorder_column_count(r); k++) {
    if (strcmp(pawl_recorder_column(r, k)->name, name) == 0) {
      assert_int_equal(pawl_recorder_column(r, k)->kind, PAWL_COLUMN_CORRECTION);
      return k;
    }
  }
  fail_msg("no column %s", name);
  return -1;
}

static PawlSim* corrected(Motion* m, const char* method, double step, double until) {
  PawlSimDef def = pawl_sim_def_default();
  PawlSim* sim = NULL;
  def.simulate = m->def;
  def.simulate.method = method;
  def.simulate.step = step;
  def.simulate.until = until;
  def.corrections = true;
  NEED(pawl_sim_create(m->system, &def, &sim, &m->err), &m->err);
  NEED(pawl_sim_run(sim, NULL, NULL, &m->err), &m->err);
  return sim;
}

// The point meets the ramp y = x - 3 within a step. By hand, with G = (-1, 1) and M = 1: it would
// go d beyond the kink, so nu = d/2 brings it back, and Lambda = 1/2 takes the rate x - y = 1 from
// it. Elsewhere nothing is corrected.
static void test_corrections_of_the_track(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pvv", "nsga-pva"};
  for (int k = 0; k < 2; k++) {
    Motion m = motion_file("kinked-track", NULL);
    PawlSim* sim = corrected(&m, methods[k], 7e-3, 4.0);
    const PawlRecorder* r = pawl_sim_recorder(sim);
    int nu = column_of(r, "nu(track)"), Lambda = column_of(r, "Lambda(track)");
    int crossings = 0;
    for (int i = 0; i < pawl_recorder_sample_count(r); i++) {
      const double* s = pawl_recorder_sample(r, i);
      bool crossing = s[0] > 3.0 && s[0] - 7e-3 < 3.0;
      crossings += crossing;
      CHECK_NEAR(s[nu], crossing ? 0.5 * (s[0] - 3.0) : 0.0, 1e-13);
      CHECK_NEAR(s[Lambda], crossing ? 0.5 : 0.0, 1e-11);
    }
    assert_int_equal(crossings, 1);
    pawl_sim_destroy(sim);
    motion_end(&m);
  }
}

// lambda is the whole reaction over a step; ga-pv has no correction of velocities; a method without
// corrections has no such columns, and neither has a run that did not ask for them.
static void test_corrections_are_parts(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pvv", "nsga-pva"};
  const double h = 1e-3;
  for (int k = 0; k < 2; k++) {
    Motion m = motion_file("bouncing-pendulum", NULL);
    PawlSim* sim = corrected(&m, methods[k], h, 0.6);
    const PawlRecorder* r = pawl_sim_recorder(sim);
    int whole = -1, Lambda = column_of(r, "Lambda(pin,1)"), impulses = 0;
    for (int j = 0; whole < 0; j++) {
      whole = strcmp(pawl_recorder_column(r, j)->name, "lambda(pin,1)") == 0 ? j : -1;
    }
    int smooth = column_of(r, "lambda.smooth(pin,1)");
    for (int i = 1; i < pawl_recorder_sample_count(r); i++) {
      const double* s = pawl_recorder_sample(r, i);
      CHECK_NEAR(s[whole], s[smooth] + s[Lambda] / h, 1e-9);
      impulses += fabs(s[Lambda]) > 1.0;
    }
    assert_true(impulses >= 1);
    pawl_sim_destroy(sim);
    motion_end(&m);
  }
  Motion m = motion_file("pendulum", NULL);
  PawlSim* sim = corrected(&m, "ga-pv", 2e-3, 0.1);
  int Lambda = column_of(pawl_sim_recorder(sim), "Lambda(pin,1)");
  assert_true(pawl_recorder_sample(pawl_sim_recorder(sim), 20)[Lambda] == 0.0);
  assert_true(pawl_recorder_sample(pawl_sim_recorder(sim), 20)[Lambda - 2] != 0.0);  // nu
  pawl_sim_destroy(sim);
  sim = corrected(&m, "ga-p", 2e-3, 0.1);
  assert_int_equal(pawl_recorder_column_count(pawl_sim_recorder(sim)), 20);
  pawl_sim_destroy(sim);
  motion_end(&m);
}

static void check_no_drift(const char* text, const char* method, double step, double until) {
  Motion m = motion_text(text);
  PawlSimDef def = pawl_sim_def_default();
  PawlSim* sim;
  def.simulate.method = method;
  def.simulate.step = step;
  def.simulate.until = until;
  NEED(pawl_sim_create(m.system, &def, &sim, &m.err), &m.err);
  NEED(pawl_sim_run(sim, NULL, NULL, &m.err), &m.err);
  assert_true(pawl_sim_summary(sim).residual[1] < 1e-17);
  assert_true(pawl_sim_summary(sim).velocity_drift < 1e-3);
  pawl_sim_destroy(sim);
  motion_end(&m);
}

// A lock at rest: what rounding leaves of its rate is no drift, though nothing else moves. Nor is
// what ida leaves at the origin, where no coordinate has a size.
static void test_rounding_is_no_drift(void** unused) {
  (void)unused;
  check_no_drift(
      "model: held\ncoordinates: {x: {start: -0.234375, rate: 0.1875}}\nmass: {x: 2.625}\n"
      "potential: 1.984375*(x - 0.125)^2\nforces: {x: -0.875*sin(4.6875*t)}\n"
      "locks: {l: {lock: x, at: 0.515625, for: 0.34375}}\n",
      "rk4", 0.00390625, 0.8);
#ifdef PAWL_WITH_SUNDIALS
  check_no_drift(
      "model: shoe\ncoordinates: {x: , y: }\nmass: {x: 1, y: 1}\n"
      "forces: {x: 5, y: \"-20*(1 - t)\"}\nconstraints: {rail: y = 0}\n"
      "locks: {shoe: {lock: x, engaged: true, capacity: \"0.3*abs(lambda(rail))\"}}\n",
      "ida", 0.01, 1.5);
#endif
}

// Rows that say the same share their force evenly in the record, whatever the state carries.
static void test_multipliers_of_redundant_rows(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: twice\ncoordinates: {x: {}}\nmass: {x: 1}\nforces: {x: 12}\n"
      "constraints: {a: x = 0, b: x = 0}\noutputs: {half: lambda(a)}\n");
  PawlSim* sim = sim_of(&m);
  const double* sample = pawl_recorder_sample(pawl_sim_recorder(sim), 5);
  check_column(pawl_sim_recorder(sim), 4, "lambda(a)", "", PAWL_COLUMN_MULTIPLIER);
  CHECK_NEAR(sample[4], -6.0, 1e-12);
  CHECK_NEAR(sample[5], -6.0, 1e-12);
  CHECK_NEAR(sample[12], -6.0, 1e-12);  // and in the outputs
  CHECK_NEAR(pawl_sim_multipliers(sim)[1], -6.0, 1e-12);
  pawl_sim_destroy(sim);
  motion_end(&m);
}

static const char* fact(const PawlRecorder* r, const char* name) {
  for (int k = 0; pawl_recorder_fact_name(r, k); k++) {
    if (strcmp(pawl_recorder_fact_name(r, k), name) == 0) {
      return pawl_recorder_fact_value(r, k);
    }
  }
  return "";
}

static void test_facts(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  PawlSim* sim = sim_of(&m);
  const PawlRecorder* r = pawl_sim_recorder(sim);
  assert_string_equal(fact(r, "model"), "pendulum");
  assert_string_equal(fact(r, "method"), "ga-p");
  assert_string_equal(fact(r, "step"), "0.002");
  assert_string_equal(fact(r, "until"), "0.02");
  assert_string_equal(fact(r, "pawl"), PAWL_VERSION);
  assert_int_equal(pawl_recorder_event_count(r), 0);
  pawl_sim_destroy(sim);
  motion_end(&m);
}

// An output that leaves its domain stops the run and is named.
static void test_output_outside_its_domain(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: out\ncoordinates: {x: {start: 1, rate: -1}}\nmass: {x: 1}\n"
      "outputs: {height: log(x)}\nsimulate: {step: 0.1, until: 2}\n");
  PawlSimDef def = pawl_sim_def_default();
  PawlSim* sim = NULL;
  def.simulate = m.def;
  NEED(pawl_sim_create(m.system, &def, &sim, &m.err), &m.err);
  assert_int_equal(pawl_sim_run(sim, NULL, NULL, &m.err), PAWL_ERROR_RUN);
  assert_non_null(strstr(m.err.message, "height"));
  int count = pawl_recorder_sample_count(pawl_sim_recorder(sim));
  assert_true(count == 10 || count == 11);
  CHECK_NEAR(pawl_recorder_sample(pawl_sim_recorder(sim), 9)[10], log(0.1), 1e-12);
  pawl_sim_destroy(sim);
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns_of_the_pendulum),
      cmocka_unit_test(test_numbers_of_the_pendulum),
      cmocka_unit_test(test_other_columns),
      cmocka_unit_test(test_corrections_of_the_track),
      cmocka_unit_test(test_corrections_are_parts),
      cmocka_unit_test(test_facts),
      cmocka_unit_test(test_rounding_is_no_drift),
      cmocka_unit_test(test_multipliers_of_redundant_rows),
      cmocka_unit_test(test_output_outside_its_domain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
