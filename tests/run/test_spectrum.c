// SPDX-License-Identifier: Apache-2.0
// Spectra: the two-mass oscillator of Kovanda and Hozman by closed forms, the structure of the
// eigenvalue zero (their Theorem 1, and a case outside of it), every kind of damping, eigenvalues
// put back into the equations of motion, modes, and refusals.
#include <complex.h>

#include "step/motion.h"

static PawlSpectrum* spectrum_of(Motion* m, const int* modes) {
  PawlSpectrum* s;
  NEED(pawl_spectrum_create(m->system, modes, 0.0, &s, &m->err), &m->err);
  assert_int_equal(s->coordinates, m->n.v);
  assert_int_equal(s->eigenvalue_count, 2 * m->n.v);
  for (int k = 1; k < s->eigenvalue_count; k++) {
    assert_true(hypot(s->real[k - 1], s->imaginary[k - 1]) <= hypot(s->real[k], s->imaginary[k]));
  }
  for (int k = 0; k < s->oscillator_count; k++) {
    const PawlOscillator* o = &s->oscillators[k];
    CHECK_NEAR(o->hertz, o->natural / 6.283185307179586, 1e-15 * o->natural);
  }
  return s;
}

static void check_ranks(const PawlSpectrum* s, int count, const int* ranks, int algebraic,
                        int geometric) {
  assert_int_equal(s->rank_count, count);
  for (int k = 0; k < count; k++) {
    assert_int_equal(s->ranks[k], ranks[k]);
  }
  assert_int_equal(s->algebraic, algebraic);
  assert_int_equal(s->geometric, geometric);
  int zeros = 0;
  for (int k = 0; k < s->eigenvalue_count; k++) {
    zeros += s->real[k] == 0.0 && s->imaginary[k] == 0.0;  // exact
  }
  assert_int_equal(zeros, algebraic);
}

static void check_oscillator(const PawlOscillator* o, double natural, double ratio, double decay,
                             PawlDamping damping) {
  // The slow eigenvalue of a strongly damped pair is known beside the fast one, 4 ratio^2 as large.
  double spread = isfinite(ratio) ? 1 + ratio * ratio : 1;
  CHECK_NEAR(o->natural, natural, 1e-14 * (1 + natural) * spread);
  if (isfinite(ratio)) {
    CHECK_NEAR(o->ratio, ratio, 1e-13 * spread);
  } else {
    assert_true(isnan(ratio) ? isnan(o->ratio) : o->ratio == ratio);
  }
  CHECK_NEAR(o->decay, decay, 1e-7 * (1 + fabs(decay)));  // a double eigenvalue is known to 1e-8
  assert_int_equal(o->damping, damping);
}

// ---- two masses ---------------------------------------------------------------------------------
static void test_two_mass_free(void** unused) {
  (void)unused;
  Motion m = motion_file("two-mass-free", NULL);
  PawlSpectrum* s = spectrum_of(&m, NULL);
  assert_int_equal(s->rank, 0);
  check_ranks(s, 1, (int[]){4}, 0, 0);
  assert_true(s->regular);
  CHECK_NEAR(s->imaginary[0], 1.0, 1e-14);
  CHECK_NEAR(s->imaginary[1], -1.0, 1e-14);
  CHECK_NEAR(s->imaginary[2], sqrt(5.0), 1e-14);
  assert_true(s->real[0] == 0.0 && s->real[3] == 0.0);
  assert_int_equal(s->oscillator_count, 2);
  check_oscillator(&s->oscillators[0], 1.0, 0.0, 0.0, PAWL_DAMPING_UNDAMPED);
  check_oscillator(&s->oscillators[1], sqrt(5.0), 0.0, 0.0, PAWL_DAMPING_UNDAMPED);
  assert_int_equal(s->damping, PAWL_DAMPING_UNDAMPED);
  assert_string_equal(pawl_damping_name(s->damping), "undamped");
  pawl_spectrum_destroy(s);
  motion_end(&m);
}

// Eigenvalues (33) of the paper: +-i sqrt((k1 + k2)/(m1 + m2)) and a double zero with one
// eigenvector.
static void test_two_mass_coupled(void** unused) {
  (void)unused;
  Motion m = motion_file("two-mass-coupled", NULL);
  PawlSpectrum* s = spectrum_of(&m, NULL);
  assert_int_equal(s->rank, 1);
  check_ranks(s, 3, (int[]){3, 2, 2}, 2, 1);
  assert_true(s->regular);
  CHECK_NEAR(s->imaginary[2], sqrt(15.0 / 11.0), 1e-14);
  CHECK_NEAR(s->imaginary[3], -sqrt(15.0 / 11.0), 1e-14);
  assert_int_equal(s->oscillator_count, 1);
  check_oscillator(&s->oscillators[0], sqrt(15.0 / 11.0), 0.0, 0.0, PAWL_DAMPING_UNDAMPED);
  assert_int_equal(s->rigid, 0);
  pawl_spectrum_destroy(s);
  motion_end(&m);
}

// Section 4.4: b1 = 1, b2 = 1/2. Ratios b/(2 sqrt(k m)).
static void test_two_mass_damped(void** unused) {
  (void)unused;
  static const char FREE[] =
      "model: damped\ncoordinates: {s1: {}, s2: {}}\nmass: {s1: 10, s2: 1}\n"
      "potential: 5*s1^2 + 2.5*s2^2\ndissipation: 0.5*s1'^2 + 0.25*s2'^2\n";
  char coupled[400];
  snprintf(coupled, sizeof coupled, "%sconstraints: {coupling: s1 = s2}\n", FREE);
  Motion m = motion_text(FREE);
  PawlSpectrum* s = spectrum_of(&m, NULL);
  check_oscillator(&s->oscillators[0], 1.0, 0.05, 0.05, PAWL_DAMPING_UNDERDAMPED);
  check_oscillator(&s->oscillators[1], sqrt(5.0), 0.25 / sqrt(5.0), 0.25, PAWL_DAMPING_UNDERDAMPED);
  CHECK_NEAR(s->oscillators[1].damped, sqrt(5.0 - 0.0625), 1e-14);
  assert_int_equal(s->damping, PAWL_DAMPING_UNDERDAMPED);
  pawl_spectrum_destroy(s);
  motion_end(&m);
  m = motion_text(coupled);
  s = spectrum_of(&m, NULL);
  check_ranks(s, 3, (int[]){3, 2, 2}, 2, 1);
  check_oscillator(&s->oscillators[0], sqrt(15.0 / 11.0), 0.75 / sqrt(165.0), 1.5 / 22.0,
                   PAWL_DAMPING_UNDERDAMPED);
  CHECK_NEAR(s->oscillators[0].ratio, 0.0584, 1e-4);  // as printed in the reference
  pawl_spectrum_destroy(s);
  motion_end(&m);
}

// ---- zero ---------------------------------------------------------------------------------------
// M = I, K = diag(-1, 1), coupled: K is regular, but without stiffness along the motion that the
// row leaves free. Zero has multiplicity four, in one chain, where Theorem 1 would have two.
static void test_outside_theorem_1(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: saddle\ncoordinates: {x: {}, y: {}}\nmass: {x: 1, y: 1}\n"
      "potential: 0.5*y^2 - 0.5*x^2\nconstraints: {c: x = y}\n");
  PawlSpectrum* s = spectrum_of(&m, NULL);
  check_ranks(s, 4, (int[]){3, 2, 1, 0}, 4, 1);
  assert_false(s->regular);
  assert_int_equal(s->oscillator_count, 0);
  assert_int_equal(s->rigid, 1);
  assert_int_equal(s->damping, PAWL_DAMPING_NONE);
  pawl_spectrum_destroy(s);
  motion_end(&m);
}

// Five masses in a row with springs to the ground and between them, and r couplings; also with one
// coupling written twice, and with stiffness and mass in other units.
static void test_theorem_1(void** unused) {
  (void)unused;
  static const char* const scales[] = {"1", "1e6", "1e-6"};
  for (int r = 0; r <= 4; r++) {
    for (int k = 0; k < 3; k++) {
      char text[1200];
      int at = snprintf(text, sizeof text,
                        "model: row\nparameters: {k: %s, c: 0.3}\n"
                        "coordinates:\n  x[i=1..5]: {}\nkinetic:\n  for i=1..5: i/2*x[i]'^2\n"
                        "potential:\n  - for i=1..5: k/2*x[i]^2\n"
                        "  - for i=2..5: k*i*(x[i] - x[i-1])^2\n"
                        "dissipation:\n  for i=1..5: sqrt(k)*c*x[i]'^2\n",
                        scales[k]);
      if (r > 0) {
        at +=
            snprintf(text + at, sizeof text - (size_t)at,
                     "constraints:\n  c[i=1..%d]: x[i] = 2*x[i+1]\n  again: 3*x[1] = 6*x[2]\n", r);
      }
      Motion m = motion_text(text);
      PawlSpectrum* s = spectrum_of(&m, NULL);
      assert_int_equal(s->rank, r);
      int ranks[3] = {10 - r, 10 - 2 * r, 10 - 2 * r};
      check_ranks(s, r ? 3 : 1, ranks, 2 * r, r);
      assert_true(s->regular);
      assert_int_equal(s->oscillator_count, 5 - r);
      pawl_spectrum_destroy(s);
      motion_end(&m);
    }
  }
}

// A free body, two bodies in a viscous fluid, one on a spring, one on a spring in the fluid.
static void test_without_stiffness(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: loose\ncoordinates: [a, b, c, d, u]\nmass: {a: 1, b: 1, c: 2, d: 1, u: 1}\n"
      "dissipation: 1.5*b'^2 + 5*c'^2 + 2.5*u'^2\npotential: 8*d^2 + 2*u^2\n");
  PawlSpectrum* s = spectrum_of(&m, NULL);
  check_ranks(s, 3, (int[]){7, 6, 6}, 4, 3);  // a gives two zeros in a chain, b and c one each
  assert_false(s->regular);
  assert_int_equal(s->rigid, 1);
  assert_int_equal(s->oscillator_count, 4);
  check_oscillator(&s->oscillators[0], 0.0, INFINITY, 3.0, PAWL_DAMPING_OVERDAMPED);
  check_oscillator(&s->oscillators[1], 0.0, INFINITY, 5.0, PAWL_DAMPING_OVERDAMPED);
  check_oscillator(&s->oscillators[2], 2.0, 1.25, 1.0, PAWL_DAMPING_OVERDAMPED);
  check_oscillator(&s->oscillators[3], 4.0, 0.0, 0.0, PAWL_DAMPING_UNDAMPED);
  assert_int_equal(s->damping, PAWL_DAMPING_MIXED);
  pawl_spectrum_destroy(s);
  motion_end(&m);
}

// ---- damping ------------------------------------------------------------------------------------
// Two oscillators u = (3 x + 4 y)/5 and w = (4 x - 3 y)/5 of mass 1, turned against the
// coordinates.
static void check_turned(double k1, double c1, double k2, double c2, PawlDamping all) {
  char text[600];
  snprintf(text, sizeof text,
           "model: turned\ncoordinates: {x: {}, y: {}}\nmass: {x: 1, y: 1}\n"
           "potential: %.17g*(3*x + 4*y)^2 + %.17g*(4*x - 3*y)^2\n"
           "dissipation: %.17g*(3*x' + 4*y')^2 + %.17g*(4*x' - 3*y')^2\n",
           k1 / 50, k2 / 50, c1 / 50, c2 / 50);
  Motion m = motion_text(text);
  PawlSpectrum* s = spectrum_of(&m, NULL);
  assert_int_equal(s->oscillator_count, 2);
  const double k[2] = {k1, k2}, c[2] = {c1, c2};
  for (int i = 0; i < 2; i++) {
    double w = sqrt(k[i]), ratio = c[i] / 2 / w;
    double slow = ratio > 1 ? w * (ratio - sqrt(ratio * ratio - 1)) : w * ratio;
    PawlDamping damping = ratio == 0   ? PAWL_DAMPING_UNDAMPED
                          : ratio < 1  ? PAWL_DAMPING_UNDERDAMPED
                          : ratio == 1 ? PAWL_DAMPING_CRITICAL
                                       : PAWL_DAMPING_OVERDAMPED;
    check_oscillator(&s->oscillators[i], w, ratio, slow, damping);
  }
  assert_int_equal(s->damping, all);
  pawl_spectrum_destroy(s);
  motion_end(&m);
}

static void test_damping(void** unused) {
  (void)unused;
  check_turned(4, 0, 9, 0, PAWL_DAMPING_UNDAMPED);
  check_turned(4, 0, 9, 1, PAWL_DAMPING_UNDERDAMPED);
  check_turned(4, 4, 9, 6, PAWL_DAMPING_CRITICAL);
  check_turned(4, 4, 4, 4, PAWL_DAMPING_CRITICAL);  // a fourfold eigenvalue
  check_turned(4, 5, 9, 7, PAWL_DAMPING_OVERDAMPED);
  check_turned(4, 5, 4, 5, PAWL_DAMPING_OVERDAMPED);  // twice the same: two double eigenvalues
  check_turned(1, 200, 1e4, 201, PAWL_DAMPING_OVERDAMPED);
  check_turned(4, 5, 9, 1, PAWL_DAMPING_MIXED);
  check_turned(4, 4, 9, 1, PAWL_DAMPING_MIXED);
}

// Three overdamped oscillators, in every order of the coordinates: pairs are found by shape, not by
// place in a list.
static void test_pairs(void** unused) {
  (void)unused;
  static const double k[3] = {4, 9, 10}, c[3] = {5, 10, 11};  // -1 -4, -1 -9, -1 -10
  for (int order = 0; order < 6; order++) {
    int first = order % 3, second = (first + 1 + order / 3) % 3, third = 3 - first - second;
    char text[600];
    snprintf(text, sizeof text,
             "model: three\ncoordinates: [x, y, z]\nmass: {x: 1, y: 1, z: 1}\n"
             "potential: %g*x^2 + %g*y^2 + %g*(z + 0.1*x)^2\n"
             "dissipation: %g*x'^2 + %g*y'^2 + %g*(z' + 0.1*x')^2\n",
             k[first] / 2, k[second] / 2, k[third] / 2, c[first] / 2, c[second] / 2, c[third] / 2);
    Motion m = motion_text(text);
    PawlSpectrum* s = spectrum_of(&m, NULL);
    assert_int_equal(s->oscillator_count, 3);
    assert_int_equal(s->damping, PAWL_DAMPING_OVERDAMPED);
    for (int i = 0; i < 3; i++) {
      CHECK_NEAR(s->oscillators[i].natural, sqrt(k[i]), 0.3);  // all near 2, 3, 3.16
    }
    pawl_spectrum_destroy(s);
    motion_end(&m);
  }
}

// Soft motions beside stiff ones are no rounding of these. (L27) to (L29)
static void test_soft(void** unused) {
  (void)unused;
  static const char* const damped[] = {"", "dissipation: 0.1*x'^2 + 0.1*y'^2\n"};
  for (int k = 0; k < 2; k++) {
    // 1 and 1e13 N/m; z has nothing
    char text[400];
    snprintf(text, sizeof text,
             "model: soft\ncoordinates: [x, y, z]\nmass: {x: 1, y: 1, z: 3}\n"
             "potential: x^2/2 + 0.5e13*y^2\n%s",
             damped[k]);
    Motion m = motion_text(text);
    PawlSpectrum* s = spectrum_of(&m, NULL);
    assert_int_equal(s->algebraic, 2);
    assert_int_equal(s->geometric, 1);
    assert_int_equal(s->oscillator_count, 2);
    CHECK_NEAR(s->oscillators[0].natural, 1, 1e-9);
    CHECK_NEAR(s->oscillators[0].ratio, k * 0.1, 1e-9);
    CHECK_NEAR(s->oscillators[0].shape[1], 0, 1e-12);
    CHECK_NEAR(s->oscillators[1].natural / sqrt(1e13), 1, 1e-12);
    pawl_spectrum_destroy(s);
    motion_end(&m);
  }
  // Nothing but rounding: springs of 1e13 N/m between masses that nothing holds.
  Motion m = motion_text(
      "model: free\ncoordinates: {'x[i=1..40]': }\nmass: {'x[i=1..40]': 1 + 0.01*i}\n"
      "potential: {for i=2..40: '0.5e13*(x[i] - x[i-1])^2/i'}\n");
  PawlSpectrum* s = spectrum_of(&m, NULL);
  assert_int_equal(s->algebraic, 2);
  assert_int_equal(s->geometric, 1);
  assert_int_equal(s->damping, PAWL_DAMPING_UNDAMPED);
  pawl_spectrum_destroy(s);
  motion_end(&m);
}

static void test_unstable(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: hill\ncoordinates: {x: {}, y: {}}\nmass: {x: 1, y: 1}\n"
      "potential: -2*x^2 + 8*y^2\ndissipation: -0.5*y'^2\n");
  PawlSpectrum* s = spectrum_of(&m, NULL);
  assert_int_equal(s->oscillator_count, 2);
  check_oscillator(&s->oscillators[0], 0.0, NAN, -2.0, PAWL_DAMPING_UNSTABLE);
  check_oscillator(&s->oscillators[1], 4.0, -0.125, -0.5, PAWL_DAMPING_UNSTABLE);
  assert_int_equal(s->damping, PAWL_DAMPING_UNSTABLE);
  pawl_spectrum_destroy(s);
  motion_end(&m);
}

// ---- the equations of motion --------------------------------------------------------------------
// |det| of a complex matrix, rows and columns of size near 1, by elimination.
static double determinant(int n, double complex A[4][4]) {
  double product = 1.0;
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k; i < n; i++) {
      p = cabs(A[i][k]) > cabs(A[p][k]) ? i : p;
    }
    product *= cabs(A[p][k]);
    if (A[p][k] == 0) {
      return 0.0;
    }
    for (int j = 0; j < n; j++) {
      double complex t = A[k][j];
      A[k][j] = A[p][j];
      A[p][j] = t;
    }
    for (int i = k + 1; i < n; i++) {
      double complex l = A[i][k] / A[k][k];
      for (int j = k; j < n; j++) {
        A[i][j] -= l * A[k][j];
      }
    }
  }
  return product;
}

// Nonzero eigenvalues make [l^2 M + l C + K, -G^T; G, 0] singular; others do not. Masses coupled,
// gyroscopic and circulatory forces, damping, one row.
static void test_eigenvalues_solve_the_equations(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: general\ncoordinates: {x: {}, y: {}, z: {}}\n"
      "kinetic: x'^2 + 0.75*y'^2 + 0.5*z'^2 + 0.3*x'*y' - 0.2*y'*z'\n"
      "potential: 3*x^2 + (x - y)^2 + 2*z^2 + x*z - z\n"
      "dissipation: 0.1*x'^2 + 0.05*(y' - z')^2\n"
      "forces: {x: 0.4*y' + 0.3*y + 1, y: -0.4*x' - 0.3*x, z: -2}\n"
      "constraints: {guide: x + 2*y = z + 1}\n");
  static const double M[3][3] = {{2, 0.3, 0}, {0.3, 1.5, -0.2}, {0, -0.2, 1}},
                      C[3][3] = {{0.2, -0.4, 0}, {0.4, 0.1, -0.1}, {0, -0.1, 0.1}},
                      K[3][3] = {{8, -2.3, 1}, {-1.7, 2, 0}, {1, 0, 4}}, G[3] = {1, 2, -1};
  PawlSpectrum* s = spectrum_of(&m, NULL);
  assert_int_equal(s->algebraic, 2);
  for (int k = 2; k < 6; k++) {
    for (int off = 0; off < 2; off++) {
      double complex l = s->real[k] + I * s->imaginary[k] + 0.1 * off, A[4][4] = {{0}};
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          A[i][j] = l * l * M[i][j] + l * C[i][j] + K[i][j];
        }
        A[i][3] = -G[i];
        A[3][i] = G[i];
      }
      double size = determinant(4, A);
      assert_true(off ? size > 1e-2 : size < 1e-11);
    }
  }
  pawl_spectrum_destroy(s);
  motion_end(&m);
}

// ---- modes --------------------------------------------------------------------------------------
static void test_modes(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: modes\ncoordinates: {x: {start: -1}, y: {start: -1}}\nmass: {x: 10, y: 1}\n"
      "potential: 5*x^2 + 2.5*y^2\n"
      "constraints:\n  c:\n    modes:\n      on: {where: x < 0, equation: x = y}\n"
      "      off: {where: x > 0, equation: none}\n");
  PawlSpectrum* on = spectrum_of(&m, (int[]){0});
  PawlSpectrum* off = spectrum_of(&m, (int[]){1});
  assert_int_equal(on->rank, 1);
  assert_int_equal(off->rank, 0);
  check_oscillator(&on->oscillators[0], sqrt(15.0 / 11.0), 0.0, 0.0, PAWL_DAMPING_UNDAMPED);
  check_oscillator(&off->oscillators[0], 1.0, 0.0, 0.0, PAWL_DAMPING_UNDAMPED);
  check_oscillator(&off->oscillators[1], sqrt(5.0), 0.0, 0.0, PAWL_DAMPING_UNDAMPED);
  pawl_spectrum_destroy(on);
  pawl_spectrum_destroy(off);
  motion_end(&m);
}

// Coefficients of the time asked for.
static void test_time(void** unused) {
  (void)unused;
  Motion m =
      motion_text("model: pumped\ncoordinates: {x: {}}\nmass: {x: 1}\npotential: (1 + t)/2*x^2\n");
  PawlSpectrum* s;
  NEED(pawl_spectrum_create(m.system, NULL, 3.0, &s, &m.err), &m.err);
  CHECK_NEAR(s->oscillators[0].natural, 2.0, 1e-15);
  pawl_spectrum_destroy(s);
  motion_end(&m);
}

// Everything held: nothing is left to move.
static void test_all_held(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: held\ncoordinates: {x: {}}\nmass: {x: 1}\npotential: x^2\nconstraints: {c: x = 0}\n");
  PawlSpectrum* s = spectrum_of(&m, NULL);
  check_ranks(s, 2, (int[]){1, 0}, 2, 1);
  assert_int_equal(s->oscillator_count, 0);
  pawl_spectrum_destroy(s);
  motion_end(&m);
}

// ---- failures -----------------------------------------------------------------------------------
static void test_refusals(void** unused) {
  (void)unused;
  PawlSpectrum* s;
  Motion m = motion_text("model: cubic\ncoordinates: {x: {}}\nmass: {x: 1}\npotential: x^4\n");
  assert_int_equal(pawl_spectrum_create(m.system, NULL, 0.0, &s, &m.err), PAWL_ERROR_USAGE);
  assert_null(s);
  assert_non_null(strstr(m.err.message, "x^4"));
  motion_end(&m);
  m = motion_text("model: empty\ncoordinates: {x: {}, y: {}}\nmass: {x: 1}\npotential: x^2\n");
  assert_int_equal(pawl_spectrum_create(m.system, NULL, 0.0, &s, &m.err), PAWL_ERROR_RUN);
  assert_non_null(strstr(m.err.message, "mass"));
  assert_int_equal(pawl_spectrum_create(m.system, NULL, 0.0, &s, NULL), PAWL_ERROR_RUN);
  pawl_spectrum_destroy(NULL);
  motion_end(&m);
}

static void test_memory_runs_out(void** unused) {
  (void)unused;
  Motion m = motion_file("two-mass-coupled", NULL);
  PawlStatus status = PAWL_ERROR_MEMORY;
  int n = 0;
  while (status != PAWL_OK) {
    PawlSpectrum* s;
    pawl_alloc_fail_at(++n);
    status = pawl_spectrum_create(m.system, NULL, 0.0, &s, &m.err);
    pawl_alloc_fail_at(0);
    assert_true(status == PAWL_OK || status == PAWL_ERROR_MEMORY);
    assert_true((s != NULL) == (status == PAWL_OK));
    pawl_spectrum_destroy(s);
    assert_true(n < 1000);
  }
  assert_true(n > 5);
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_mass_free),
      cmocka_unit_test(test_two_mass_coupled),
      cmocka_unit_test(test_two_mass_damped),
      cmocka_unit_test(test_outside_theorem_1),
      cmocka_unit_test(test_theorem_1),
      cmocka_unit_test(test_without_stiffness),
      cmocka_unit_test(test_damping),
      cmocka_unit_test(test_pairs),
      cmocka_unit_test(test_soft),
      cmocka_unit_test(test_unstable),
      cmocka_unit_test(test_eigenvalues_solve_the_equations),
      cmocka_unit_test(test_modes),
      cmocka_unit_test(test_time),
      cmocka_unit_test(test_all_held),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
