// SPDX-License-Identifier: Apache-2.0
// Steps that would lead through infinity (docs/theory/poles.md): no method with a given step may
// come out behind a pole, and nothing that only looks like one may stop a run.
#include "step/motion.h"

static const char* const methods[] = {"rk4",      "ga-p",    "ga-v",          "ga-pv",
                                      "ga-pva",   "ga-a",    "ga-v-implicit", "moreau-jean",
                                      "nsga-pva", "nsga-pvv"};
enum { METHODS = sizeof methods / sizeof *methods };

// Runs one coordinate x from x = 1 at `rate`; *end receives where it was last.
static PawlStatus run(const char* terms, double rate, const char* method, double step, double until,
                      double* end, PawlError* err) {
  char text[500];
  snprintf(text, sizeof text,
           "model: a\ncoordinates: {x: {start: 1, rate: %g}}\nkinetic: x'^2/2\n%s\n", rate, terms);
  Motion m = motion_text(text);
  PawlSimDef def = pawl_sim_def_default();
  PawlSim* sim;
  def.simulate = m.def;
  def.simulate.method = method;
  def.simulate.step = step;
  def.simulate.until = until;
  NEED(pawl_sim_create(m.system, &def, &sim, err), err);
  PawlStatus status = pawl_sim_run(sim, NULL, NULL, err);
  *end = pawl_sim_state(sim)->q[0];
  print_message("%-30s %-13s status %d, x = %g %s\n", terms, method, (int)status, *end,
                status ? err->message : "");
  pawl_sim_destroy(sim);
  motion_end(&m);
  return status;
}

// The same in a plane, from (1, 0) towards (0, 0).
static PawlStatus run_two(const char* terms, const char* method, double* end, PawlError* err) {
  char text[500];
  snprintf(text, sizeof text,
           "model: a\ncoordinates: {x: {start: 1, rate: -3}, y: {}}\nmass: {x: 1, y: 1}\n%s\n",
           terms);
  Motion m = motion_text(text);
  PawlSimDef def = pawl_sim_def_default();
  PawlSim* sim;
  def.simulate = m.def;
  def.simulate.method = method;
  def.simulate.step = 0.05;
  def.simulate.until = 1.0;
  NEED(pawl_sim_create(m.system, &def, &sim, err), err);
  PawlStatus status = pawl_sim_run(sim, NULL, NULL, err);
  *end = pawl_sim_state(sim)->q[0];
  print_message("%s %-13s status %d, x = %g\n", terms, method, (int)status, *end);
  pawl_sim_destroy(sim);
  motion_end(&m);
  return status;
}

// The motion ends at the pole, and so must the run: before it.
static void test_motion_ends(void** unused) {
  (void)unused;
  double x;
  for (int k = 0; k < METHODS; k++) {
    PawlError err = {0};
    assert_int_equal(run("forces: {x: -1/x^2}", -3.0, methods[k], 0.05, 3.0, &x, &err),
                     PAWL_ERROR_RUN);
    assert_true(x > 0.0 && x < 0.02);
    assert_int_equal(run("potential: -1/x^2", -3.0, methods[k], 0.05, 3.0, &x, &err),
                     PAWL_ERROR_RUN);
    assert_true(x > 0.0 && x < 0.1);
    assert_int_equal(run("forces: {x: 5*tan(x)}", 2.0, methods[k], 0.05, 3.0, &x, &err),
                     PAWL_ERROR_RUN);
    assert_true(x < 1.5707963267948966 && x > 1.56);
  }
}

// The same where the divisor touches zero and keeps its sign: a mass that falls into the centre,
// and one that passes it too close for steps of this length and its 1024th.                (P4)
static void test_divisor_touches_zero(void** unused) {
  (void)unused;
  static const char* const terms[] = {"potential: -1/sqrt(x^2 + y^2)",
                                      "forces: {x: -x/(x^2 + y^2)^1.5, y: -y/(x^2 + y^2)^1.5}",
                                      "forces: {x: -x*(x^2 + y^2)^(-1.5)}",
                                      "forces: {x: -1/abs(x)}", "forces: {x: -1/(1 - cos(x))}"};
  for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
    for (int k = 0; k < METHODS; k++) {
      PawlError err = {0};
      double x;
      assert_int_equal(run_two(terms[i], methods[k], &x, &err), PAWL_ERROR_RUN);
    }
  }
}

// Where the mass matrix becomes singular, at x = 0.04, no stage of rk4 throws the motion back.
static void test_mass_vanishes(void** unused) {
  (void)unused;
  PawlError err = {0};
  PawlSimDef def = pawl_sim_def_default();
  PawlSim* sim;
  Motion m = motion_text(
      "model: a\ncoordinates: {x: {start: 1, rate: -1}, y: {rate: 1}}\n"
      "kinetic: x*x'^2/2 + y'^2/2 + x'*y'/5\n");
  def.simulate = m.def;
  def.simulate.method = "rk4";
  def.simulate.step = 0.01;
  def.simulate.until = 3.0;
  NEED(pawl_sim_create(m.system, &def, &sim, &err), &err);
  assert_int_equal(pawl_sim_run(sim, NULL, NULL, &err), PAWL_ERROR_RUN);
  print_message("%s\n", err.message);
  assert_non_null(strstr(err.message, "mass matrix"));
  assert_true(pawl_sim_state(sim)->t < 0.65 && pawl_sim_state(sim)->q[0] < 0.1);
  pawl_sim_destroy(sim);
  motion_end(&m);
}

// A pass that steps and their pieces resolve has no pole: the orbit of E = 4.5 - 1 around the
// centre, at 0.3 from it.
static void test_close_pass(void** unused) {
  (void)unused;
  for (int k = 0; k < METHODS; k++) {
    PawlError err = {0};
    double x;
    NEED(run_two("forces: {x: x/(x^2 + (y - 0.3)^2)^1.5}", methods[k], &x, &err), &err);
  }
}

// It says which formula, and where.
static void test_names(void** unused) {
  (void)unused;
  double x;
  PawlError err = {0};
  (void)!run("forces: {x: -1/x^2}", -3.0, "rk4", 0.05, 3.0, &x, &err);
  assert_non_null(strstr(err.message, "pole of '-1/x^2' (at a zero of 'x')"));
}

// A pole that repels: E = 4.5 turns at x = e^-4.5 for 1/x. Smaller pieces find that.
static void test_motion_turns_back(void** unused) {
  (void)unused;
  double x;
  for (int k = 0; k < METHODS; k++) {
    PawlError err = {0};
    PawlStatus status = run("forces: {x: 1/x}", -3.0, methods[k], 0.05, 3.0, &x, &err);
    assert_true(x > 0.0 && (status == PAWL_OK || x < 0.1));
  }
}

// y^2 y' grows with the motion that it makes: y' = (y^3 + 2)/3 has no end behind t = 0.9328.  (A23)
static void test_growth(void** unused) {
  (void)unused;
  double x;
  for (int k = 0; k < METHODS; k++) {
    PawlError err = {0};
    assert_int_equal(run("forces: {x: x^2*x'}", 1.0, methods[k], 0.01, 40.0, &x, &err),
                     PAWL_ERROR_RUN);
    assert_true(x > 10.0);
  }
}

// Finite where a divisor is zero, or bounded by something else; stiff forces that pull back; a
// force that pushes on slower than a step.
static void test_no_pole(void** unused) {
  (void)unused;
  static const char* const terms[] = {"forces: {x: -sin(x)/x}",
                                      "forces: {x: (cos(x) - 1)/x^2}",
                                      "forces: {x: -atan(1/x)}",
                                      "forces: {x: 'min(5, max(-5, 1/x))'}",
                                      "forces: {x: 'if(x > 0.1, 1/x, 10)'}",
                                      "forces: {x: -1/(1 + x^2)}",
                                      "forces: {x: x}",
                                      "forces: {x: -x'/(1 + 9*x'^2)}"};
  double x;
  for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
    for (int k = 0; k < METHODS; k++) {
      PawlError err = {0};
      NEED(run(terms[i], -7.0, methods[k], 0.031, 1.0, &x, &err), &err);
    }
  }
  PawlError err = {0};
  NEED(run("forces: {x: -1e8*x'}", -7.0, "ga-v-implicit", 0.03, 1.0, &x, &err), &err);
  NEED(run("potential: 1e10*x^4", -7.0, "ga-v-implicit", 0.03, 1.0, &x, &err), &err);
}

// Impulses of contacts are no kicks of a pole: a ball that bounces to rest under a weight that
// falls off with height, and two balls with a spring between them, whose length is a divisor.
static void test_bounces(void** unused) {
  (void)unused;
  static const char* const stepping[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
  static const double restitutions[] = {0.0, 0.1, 0.3, 0.5, 0.7, 0.9};
  for (int k = 0; k < 18; k++) {
    char text[300];
    PawlError err = {0};
    double x;
    snprintf(text, sizeof text,
             "potential: -9.81*40/(1 + x/40)\ncontacts: {floor: {gap: x, restitution: %g}}",
             restitutions[k / 3]);
    NEED(run(text, 0.0, stepping[k % 3], 2e-3, 3.0, &x, &err), &err);
    assert_true(x > -2e-3 && x < 0.5);
    NEED(run("forces: {x: '-10 - x/sqrt(x^2 + 0*t)'}\ncontacts: {c: {gap: x - 0.1, restitution: "
             "0.5}}",
             0.0, stepping[k % 3], 1e-3, 2.0, &x, &err),
         &err);
    CHECK_NEAR(x, 0.1, 2e-3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_motion_ends),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_divisor_touches_zero),
      cmocka_unit_test(test_close_pass),
      cmocka_unit_test(test_mass_vanishes),
      cmocka_unit_test(test_motion_turns_back),
      cmocka_unit_test(test_growth),
      cmocka_unit_test(test_no_pole),
      cmocka_unit_test(test_bounces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
