// SPDX-License-Identifier: Apache-2.0
// Rows of rate equations (docs/theory/rate.md): redundant and linear ones, models by lot, what can
// be integrated, locks.
#include "pawl/verify.h"
#include "step/motion.h"
#include "switch/runs.h"

static bool is_in(const char* text, const char* part) {
  return strstr(text, part) != NULL;
}

// ---- redundant and linear rows ------------------------------------------------------------------
// A rate row written before the equation that it follows from is the one that is left out.
static void test_positions_are_kept(void** state) {
  (void)state;
  Motion m = motion_text(
      "model: kept\ncoordinates: {x: {rate: 1}, y: , z: }\nmass: {x: 1, y: 1, z: 1}\n"
      "constraints: {r: {rate: [\"y' = 2*x*x'\", \"z' = 0\"]}, p: y = x^2, s: {rate: \"z' = "
      "0\"}}\n");
  motion_start(&m, "dopri");
  assert_int_equal(m.state->redundant_count, 2);
  assert_true(m.state->redundant[0] && !m.state->redundant[1]);
  assert_true(!m.state->redundant[2] && m.state->redundant[3]);
  for (int k = 0; k < 100; k++) {
    motion_step(&m, 0.01);
  }
  CHECK_NEAR(m.state->q[1], m.state->q[0] * m.state->q[0], 1e-14);
  motion_end(&m);
}

// y' = x x' follows from y' = 0 at x = 0 alone.
static void test_a_row_that_no_longer_follows(void** state) {
  (void)state;
  Motion m = motion_text(
      "model: leaves\ncoordinates: {x: , y: }\nmass: {x: 1, y: 1}\nforces: {x: 1}\n"
      "constraints: {p: {rate: y' = 0}, r: {rate: \"y' = x*x'\"}}\n");
  motion_start(&m, "dopri");
  assert_int_equal(m.state->redundant_count, 1);
  PawlStatus status = PAWL_OK;
  for (int k = 0; k < 100 && status == PAWL_OK; k++) {
    status = pawl_stepper_step(m.stepper, m.state, 0.01, &m.err);
  }
  assert_int_equal(status, PAWL_ERROR_RUN);
  assert_true(is_in(m.err.message, "'r' (row 1) followed from the others at the start"));
  motion_end(&m);
}

// A row twice, and one that follows from an equation: left out, with the same motion.
static void test_redundant_rows(void** state) {
  (void)state;
  Run run = run_text(
      "model: twice\ncoordinates: {x: {rate: 1}, y: {rate: 0.5}}\nmass: {x: 1, y: 2}\n"
      "forces: {x: 3}\nconstraints: {p: x = 2*y, r: {rate: [\"x' = 2*y'\", \"2*x' = 4*y'\"]}}\n");
  run.def.simulate.method = "dopri";
  run_to(&run, 2, 0.01);
  assert_int_equal(pawl_sim_summary(run.sim).work.redundant_rows, 2);
  double a = 3 / 1.5;  // (1 + 2/4) x'' = 3
  check_state(&run, (double[]){2 + a * 2, 1 + a}, (double[]){1 + 2 * a, 0.5 + a}, 1e-11);
  run_end(&run);
}

// A rate that contradicts what holds is no row that follows from it: no warning, and both are
// named.
static void test_contradiction(void** state) {
  (void)state;
  Motion m = motion_text(
      "model: two\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\n"
      "constraints: {p: x = t, r: {rate: \"x' = 2\", at: 0.25}}\n");
  m.def.step = 0.125;
  motion_start(&m, "rk4");
  motion_step(&m, 0.125);
  PawlStatus status = pawl_stepper_step(m.stepper, m.state, 0.125, &m.err);
  status = status ? status : pawl_stepper_step(m.stepper, m.state, 0.125, &m.err);
  assert_int_equal(status, PAWL_ERROR_RUN);
  assert_non_null(strstr(m.err.message, "'p' (row 1) contradicts 'r' (row 1) and the others"));
  assert_string_equal(pawl_stepper_warning(m.stepper), "");
  motion_end(&m);
}

// x' = 2 y': x = x0 + 2 y, and (4 + 2) y'' = -2 (6 x) - 2 y, about y = -6/13 with w^2 = 13/3.
static void test_linear(void** state) {
  (void)state;
  static const char* const methods[] = {"exponential", "taylor", "dopri"};
  for (int k = 0; k < 3; k++) {
    Run run = run_text(
        "model: linear\ncoordinates: {x: 1, y: }\nmass: {x: 1, y: 2}\npotential: 3*x^2 + y^2\n"
        "constraints: {c: {rate: \"x' = 2*y'\"}}\n");
    run.def.simulate.method = methods[k];
    run.def.simulate.rtol = 1e-11;
    run.def.simulate.atol = 1e-12;
    run_to(&run, 4, 0.01);
    double w = sqrt(13.0 / 3), y = 6.0 / 13 * (cos(4 * w) - 1), v = -6.0 / 13 * w * sin(4 * w);
    check_state(&run, (double[]){1 + 2 * y, y}, (double[]){2 * v, v}, k == 1 ? 1e-7 : 1e-9);
    run_end(&run);
  }
}

// The frequency of the same motion; where a rate equation depends on places there is none to tell.
static void test_spectra(void** state) {
  (void)state;
  Motion m = motion_text(
      "model: linear\ncoordinates: {x: 1, y: }\nmass: {x: 1, y: 2}\npotential: 3*x^2 + y^2\n"
      "constraints: {c: {rate: \"x' = 2*y'\"}}\n");
  PawlSpectrum* spectrum = NULL;
  NEED(pawl_spectrum_create(m.system, (int[]){0}, 0, &spectrum, &m.err), &m.err);
  assert_int_equal(spectrum->rank, 1);
  assert_int_equal(spectrum->oscillator_count, 1);
  CHECK_NEAR(fabs(spectrum->imaginary[3]), sqrt(13.0 / 3), 1e-12);
  CHECK_NEAR(spectrum->real[3], 0, 1e-12);
  pawl_spectrum_destroy(spectrum);
  motion_end(&m);
  m = motion_text(
      "model: decay\ncoordinates: {x: 1}\nmass: {x: 1}\nconstraints: {c: {rate: \"x' = -x/2\"}}\n");
  assert_int_equal(pawl_spectrum_create(m.system, (int[]){0}, 0, &spectrum, &m.err),
                   PAWL_ERROR_USAGE);
  assert_true(is_in(m.err.message, "the rate equation 'c' depends on coordinates at rest"));
  motion_end(&m);
}

// A rest position is one of a family: A dq = 0 from the start, here x = 1 + 2 y, with
// 2 (6 x) + 2 y = 0. A rate equation that drives lets nothing rest.
static void test_rest(void** state) {
  (void)state;
  Motion m = motion_text(
      "model: linear\ncoordinates: {x: 1, y: }\nmass: {x: 1, y: 2}\npotential: 3*x^2 + y^2\n"
      "constraints: {c: {rate: \"x' = 2*y'\"}}\n");
  PawlEquilibrium* rest = NULL;
  NEED(pawl_equilibrium_find(m.system, NULL, &rest, &m.err), &m.err);
  CHECK_NEAR(rest->point.q[1], -6.0 / 13, 1e-11);
  CHECK_NEAR(rest->point.q[0], 1.0 / 13, 1e-11);
  CHECK_NEAR(rest->point.lambda[0], 6.0 / 13, 1e-11);
  pawl_equilibrium_destroy(rest);
  motion_end(&m);
  m = motion_text(
      "model: driven\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\n"
      "potential: x^2 + y^2\nconstraints: {c: {rate: \"x' = 1\"}}\n");
  assert_int_equal(pawl_equilibrium_find(m.system, NULL, &rest, &m.err), PAWL_ERROR_RUN);
  assert_true(is_in(m.err.message, "cannot rest: the rate equation 'c' is off by -1"));
  motion_end(&m);
}

// A drive by a rate equation, x' = 2 y' - (x - 1)/2: its work is what the energy gains.    (W8)
static void test_work_of_a_drive(void** state) {
  (void)state;
  Run run = run_text(
      "model: drive\ncoordinates: {x: 1, y: }\nmass: {x: 1, y: 2}\npotential: 3*x^2 + y^2\n"
      "constraints: {c: {rate: \"x' = 2*y' - (x - 1)/2\"}}\n");
  run.def.simulate.method = "dopri";
  run.def.simulate.rtol = 1e-11;
  run.def.simulate.atol = 1e-12;
  run.def.balance = true;
  run_to(&run, 4, 0.01);
  PawlSummary end = pawl_sim_summary(run.sim);
  assert_true(end.energy_end - end.energy_start > 0.4);
  CHECK_NEAR(end.works[PAWL_WORK_DRIVES], end.energy_end - end.energy_start, 1e-9);
  CHECK_NEAR(end.energy_max_drift, 0, 1e-9);
  run_end(&run);
}

// x' = -x/2, which no force changes: b depends on q.
static void test_rates_that_depend_on_places(void** state) {
  (void)state;
  static const char* const methods[] = {"exponential", "dopri", "ga-pva"};
  static const double near[] = {1e-9, 1e-9, 1e-4};
  for (int k = 0; k < 3; k++) {
    Run run = run_text(
        "model: decay\ncoordinates: {x: {start: 1, rate: -0.5}}\nmass: {x: 3}\nforces: {x: 7}\n"
        "constraints: {c: {rate: \"x' = -x/2\"}}\n");
    run.def.simulate.method = methods[k];
    run.def.simulate.rtol = 1e-11;
    run.def.simulate.atol = 1e-12;
    run_to(&run, 2, 0.01);
    check_state(&run, (double[]){exp(-1)}, (double[]){-0.5 * exp(-1)}, near[k]);
    CHECK_NEAR(pawl_sim_multipliers(run.sim)[0], 3 * 0.25 * exp(-1) - 7, 10 * near[k]);
    run_end(&run);
  }
}

// ---- by lot -------------------------------------------------------------------------------------
enum { COORDINATES = 4 };

static double lot(unsigned* seed) {  // -1 .. 1
  *seed = *seed * 1664525u + 1013904223u;
  return (*seed >> 8) / 8388608.0 - 1.0;
}

// (1.5 + sin(...)) q_i' + a cos(...) q_j' = b sin(...) of coordinates and t
static int put_row(char* text, size_t size, int i, unsigned* seed) {
  int j = (i + 1) % COORDINATES, k = (i + 2) % COORDINATES;
  return snprintf(text, size,
                  "\"(1.5 + sin(q%d + %.3f))*q%d' + %.3f*cos(q%d - q%d)*q%d' = %.3f*sin(t + q%d)\"",
                  k, lot(seed), i, lot(seed), k, i, j, 0.5 * lot(seed), j);
}

// Masses with coupling, springs, one or two rate equations, and, of every other model, an equation.
static void put_model(char* text, size_t size, unsigned seed) {
  int at = snprintf(text, size, "model: lot\ncoordinates:\n");
#define PUT(...) at += snprintf(text + at, size - (size_t)at, __VA_ARGS__)
  for (int i = 0; i < COORDINATES; i++) {
    PUT("  q%d: {start: %.3f, rate: %.3f}\n", i, lot(&seed), lot(&seed));
  }
  PUT("kinetic: %.3f*q0'*q1'*cos(q2)", 0.4 * lot(&seed));
  for (int i = 0; i < COORDINATES; i++) {
    PUT(" + %.3f*q%d'^2", 0.8 + 0.3 * lot(&seed), i);
  }
  PUT("\npotential: q0^2 + q1^2 + q2^2 + q3^2 + sin(q0 - q3)\nconstraints:\n  r: {rate: [");
  at += put_row(text + at, size - (size_t)at, 0, &seed);
  if (seed & 1024u) {
    PUT(", ");
    at += put_row(text + at, size - (size_t)at, 1, &seed);
  }
  PUT("]}\n");
  if (seed & 2048u) {
    PUT("  p: q2 + 0.3*sin(q3) = 0.2*q2*q0\n");
  }
#undef PUT
}

static void run_lot(Motion* m, const char* method, const char* form, int steps) {
  m->def.form = form;
  motion_stepper(m, method);
  NEED(pawl_stepper_start(m->stepper, m->state, true, &m->err), &m->err);
  for (int k = 0; k < steps; k++) {
    motion_step(m, 1.0 / steps);
  }
}

static double apart(const Motion* m, const double* q, const double* v) {
  double most = 0.0;
  for (int j = 0; j < COORDINATES; j++) {
    most = fmax(most, fmax(fabs(m->state->q[j] - q[j]), fabs(m->state->v[j] - v[j])));
  }
  return most;
}

// Forms and methods agree on models without any sense.
static void test_models_by_lot(void** state) {
  (void)state;
  static const struct {
    const char *method, *form;
    int steps;
    double near;
  } runs[] = {{"dopri", "minimal", 100, 1e-8},    {"dopri", "projected", 100, 1e-8},
              {"ark", "index-1", 100, 1e-8},      {"ida", "index-1", 100, 1e-5},
              {"ga-v", "index-1", 500, 1e-3},     {"ga-a", "index-1", 500, 1e-3},
              {"ga-pv", "index-1", 500, 1e-3},    {"ga-pva", "index-1", 500, 1e-3},
              {"nsga-pvv", "index-1", 500, 1e-3}, {"nsga-pva", "index-1", 500, 1e-3}};
  for (unsigned seed = 1; seed <= 40; seed++) {
    char text[2000];
    double q[COORDINATES], v[COORDINATES];
    put_model(text, sizeof text, 7919u * seed);
    Motion m = motion_text(text);
    m.def.rtol = 1e-11;
    m.def.atol = 1e-12;
    run_lot(&m, "dopri", "index-1", 100);
    memcpy(q, m.state->q, sizeof q);
    memcpy(v, m.state->v, sizeof v);
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
      if (motion_can(&m, runs[k].method)) {
        run_lot(&m, runs[k].method, runs[k].form, runs[k].steps);
        double off = apart(&m, q, v);
        if (!(off <= runs[k].near)) {
          print_error("%s, %s: off by %.3g in\n%s\n", runs[k].method, runs[k].form, off, text);
          fail();
        }
      }
    }
    motion_end(&m);
  }
}

// ---- what can be integrated ---------------------------------------------------------------------
static void check_integrable(const char* text, const char* rows) {
  Motion m = motion_text(text);
  unsigned char found[8];
  double q[8], v[8];
  const int modes[8] = {0};
  pawl_system_start(m.system, q, v);
  NEED(pawl_verify_integrable(m.system, 0, q, modes, found, &m.err), &m.err);
  for (int i = 0; i < m.n.rows; i++) {
    if (found[i] != (rows[i] == '1')) {
      print_error("row %d of\n%s\n", i, text);
      fail();
    }
  }
  motion_end(&m);
}

#define FLAT "coordinates: {x: 1, y: 2, phi: , psi: }\nmass: {x: 1, y: 1, phi: 1, psi: 1}\n"

static void test_integrable(void** state) {
  (void)state;
  check_integrable("model: a\n" FLAT "constraints: {c: {rate: \"x' = 2*phi'\"}}\n", "1");
  check_integrable("model: b\n" FLAT "constraints: {c: {rate: \"x*y' + y*x' = cos(t)\"}}\n", "1");
  check_integrable("model: c\n" FLAT "constraints: {c: {rate: \"exp(phi)*(x*y' - y*x') = 0\"}}\n",
                   "1");
  check_integrable("model: d\n" FLAT "constraints: {c: {rate: \"y'*cos(phi) = x'*sin(phi)\"}}\n",
                   "0");
  check_integrable("model: e\n" FLAT "constraints: {c: {rate: \"y' = x*psi'\"}}\n", "0");
  check_integrable("model: f\n" FLAT "constraints: {c: {rate: \"x' = x*cos(t)\"}}\n", "1");
  check_integrable("model: j\n" FLAT "constraints: {c: {rate: \"x' = y*cos(t)\"}}\n", "0");
  check_integrable("model: g\n" FLAT "constraints: {c: {rate: \"x' = y*phi\"}}\n", "0");
  check_integrable("model: h\n" FLAT
                   "constraints: {r: {rate: [\"x' = psi'*cos(phi)\", \"y' = psi'*sin(phi)\"]}}\n",
                   "00");
  check_integrable("model: i\n" FLAT
                   "constraints: {r: {rate: [\"x' = psi'*cos(phi)\", \"y' = psi'*sin(phi)\"]},\n"
                   "  p: phi = 0, s: {rate: \"x' = y'\"}}\n",
                   "1101");
}

// ---- locks --------------------------------------------------------------------------------------
// A mass slides at 3 m/s over a wheel at rest; a lock of rates ties them from t = 1 to t = 2, and
// again, by a capacity, from t = 3 on. m = 2, J = 0.5, R = 0.5: I/R^2 = 2, so v = 1.5 after it.
static void test_locks_of_rates(void** state) {
  (void)state;
  static const char* const methods[] = {"rk4",    "dopri",    "ga-v",     "ga-a",
                                        "ga-pva", "nsga-pvv", "nsga-pva", "moreau-jean"};
  Motion m = motion_text(
      "model: grip\ncoordinates: {x: {rate: 3}, phi: {}}\nmass: {x: 2, phi: 0.5}\n"
      "events: {kick: {at: 2.5, impulse: {phi: 0.5}}}\n"
      "locks:\n  grip: {rate: \"x' - 0.5*phi' = 0\", at: 1, for: 1}\n"
      "  brake: {rate: \"x' = 0.5*phi'\", at: 3, capacity: 2}\n");
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    m.def.step = 0.01;
    motion_start(&m, methods[k]);
    for (int step = 0; step < 150; step++) {
      motion_step(&m, 0.01);
    }
    CHECK_NEAR(m.state->v[0], 1.5, 1e-12);
    CHECK_NEAR(m.state->v[1], 3.0, 1e-12);
    assert_int_equal(m.state->modes[0], 1);
    for (int step = 150; step < 300; step++) {
      motion_step(&m, 0.01);
    }
    assert_int_equal(m.state->modes[0], 0);
    CHECK_NEAR(m.state->v[1], 4.0, 1e-10);  // by the kick
    for (int step = 300; step < 400; step++) {
      motion_step(&m, 0.01);
    }
    // x' - 0.5 phi' = -0.5 at t = 3, its rate under friction 2: 2/2 + 0.25 * 2/0.5 = 2.
    CHECK_NEAR(m.state->v[0], 1.75, 1e-9);
    CHECK_NEAR(m.state->v[1], 3.5, 1e-9);
    assert_int_equal(m.state->modes[1], 1);
  }
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_redundant_rows),
      cmocka_unit_test(test_contradiction),
      cmocka_unit_test(test_positions_are_kept),
      cmocka_unit_test(test_a_row_that_no_longer_follows),
      cmocka_unit_test(test_linear),
      cmocka_unit_test(test_spectra),
      cmocka_unit_test(test_rest),
      cmocka_unit_test(test_work_of_a_drive),
      cmocka_unit_test(test_rates_that_depend_on_places),
      cmocka_unit_test(test_models_by_lot),
      cmocka_unit_test(test_integrable),
      cmocka_unit_test(test_locks_of_rates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
