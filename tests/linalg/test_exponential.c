// SPDX-License-Identifier: Apache-2.0
// The matrix exponential against closed forms and against 60-digit arithmetic, for every degree of
// the approximant, for matrices without a full set of eigenvectors, of large norm and badly scaled;
// the group property on random matrices; the truncated series; eigenvalues.
#include "base/alloc.h"
#include "linalg/exponential.h"
#include "systems.h"

enum { MOST = 24 };

typedef struct Work {
  double E[MOST * MOST], room[8 * MOST * MOST + 2 * MOST];
  int pivots[MOST];
} Work;

static void exponential(int n, const double* A, Work* w) {
  assert_true(pawl_exponential_room(n) <= sizeof w->room / sizeof(double));
  assert_int_equal(pawl_exponential(n, A, w->E, w->room, w->pivots), PAWL_OK);
}

static void check_equal(int count, const double* X, const double* Y, double tolerance) {
  for (int i = 0; i < count; i++) {
    CHECK_NEAR(X[i], Y[i], tolerance);
  }
}

static double largest_of_all(int count, const double* X) {
  double most = 0.0;
  for (int i = 0; i < count; i++) {
    most = fmax(most, fabs(X[i]));
  }
  return most;
}

// ---- closed forms -------------------------------------------------------------------------------
static void test_zero_is_identity(void** unused) {
  (void)unused;
  Work w;
  double A[9] = {0};
  exponential(3, A, &w);
  for (int i = 0; i < 9; i++) {
    assert_true(w.E[i] == (i % 4 == 0 ? 1.0 : 0.0));  // exact
  }
  exponential(0, A, &w);
}

// exp [0 -x; x 0] is the rotation by x, from tiny to many turns; through every degree.
static void test_rotation(void** unused) {
  (void)unused;
  Work w;
  static const double angles[] = {1e-9, 0.01, 0.2, 0.7, 1.8, 4.0, 30.0, 1000.0};
  for (int k = 0; k < 8; k++) {
    double x = angles[k], A[4] = {0, x, -x, 0};
    double tolerance = 4e-16 + 3e-16 * x;  // A itself is known to eps |x|
    exponential(2, A, &w);
    CHECK_NEAR(w.E[0], cos(x), tolerance);
    CHECK_NEAR(w.E[1], sin(x), tolerance);
    CHECK_NEAR(w.E[2], -sin(x), tolerance);
    CHECK_NEAR(w.E[3], cos(x), tolerance);
    if (x < 0.1) {
      CHECK_NEAR(w.E[1] / sin(x), 1.0, 1e-15);  // relative, too
    }
  }
}

// A Jordan block: no full set of eigenvectors. exp = e^x [1 t t^2/2; 0 1 t; 0 0 1].
static void test_jordan(void** unused) {
  (void)unused;
  Work w;
  static const double times[] = {0.01, 1.0, 50.0};
  for (int k = 0; k < 3; k++) {
    double t = times[k], x = -0.5 * t;
    double A[9] = {x, 0, 0, t, x, 0, 0, t, x};
    exponential(3, A, &w);
    double e = exp(x), size = fmax(1.0, e * (1 + t * t));
    double expected[9] = {e, 0, 0, e * t, e, 0, e * t * t / 2, e * t, e};
    check_equal(9, w.E, expected, 2e-15 * size);
  }
}

// Nilpotent with a huge entry: exp is I + A + A^2/2, with nothing lost.
static void test_nilpotent(void** unused) {
  (void)unused;
  Work w;
  double A[9] = {0, 0, 0, 1e9, 0, 0, -7e8, 3.0, 0};
  exponential(3, A, &w);
  double expected[9] = {1, 0, 0, 1e9, 1, 0, -7e8 + 1.5e9, 3, 1};
  for (int i = 0; i < 9; i++) {
    CHECK_NEAR(w.E[i], expected[i], 2e-15 * fabs(expected[i]));
  }
}

// exp [a b; 0 d] has the corner b (e^a - e^d)/(a - d).
static void test_triangle(void** unused) {
  (void)unused;
  Work w;
  double a = 2.0, d = -30.0, b = 1e6, A[4] = {a, 0, b, d};
  exponential(2, A, &w);
  CHECK_NEAR(w.E[0] / exp(a), 1.0, 2e-14);
  CHECK_NEAR(w.E[2] / (b * (exp(a) - exp(d)) / (a - d)), 1.0, 2e-14);
  CHECK_NEAR(w.E[3], exp(d), 1e-15);
  assert_true(w.E[1] == 0.0);
}

// Slow and fast motion in one matrix, mixed by a rotation: the slow part keeps its digits.
static void test_slow_beside_fast(void** unused) {
  (void)unused;
  Work w;
  double slow = -1.0, fast = -1e7, c = 0.6, s = 0.8;
  double block[4] = {slow, 0, 0, fast};
  exponential(2, block, &w);
  CHECK_NEAR(w.E[0], exp(slow), 1e-15);
  double A[4] = {c * c * slow + s * s * fast, c * s * (slow - fast), c * s * (slow - fast),
                 s * s * slow + c * c * fast};
  exponential(2, A, &w);
  CHECK_NEAR(w.E[0], c * c * exp(slow), 1e-8);  // A is known to eps * fast
}

// ---- 60 digits ----------------------------------------------------------------------------------
// By the Taylor series in 60-digit arithmetic (mpmath).
static void test_references(void** unused) {
  (void)unused;
  static const double A[9] = {0.5, 1.5, -0.125, -1.25, 0.25, 1.0, 2.0, -0.75, -2.0};
  static const struct {
    double scale, E[9];
  } cases[] = {
      {0x1p-8,
       {1.00193882897853913, 0.00586863585700327936, -0.000475425739254052686,
        -0.00487470084944453188, 1.00095703352888968, 0.00389409555253128692,
        0.00779676020476325405, -0.00289682811731116381, 0.992210373967807284}},
      {0.25,
       {1.06898867355860777, 0.403582659805856086, 0.0164866009508171884, -0.278102646729273746,
        0.988155698956550582, 0.201646832761973926, 0.4348092220942009, -0.063910769908070955,
        0.589821407271789953}},
      {1.0,
       {0.755441923968638422, 1.57442025182710063, 0.410065427948563705, -0.683296122156563438,
        0.346494613435951477, 0.321621048794253968, 0.983602205215225758, 0.701865344953340154,
        0.220841053854155111}},
      {16.0,
       {-0.00955539422955562715, 0.00706819612773213389, 0.00783572763083341972,
        0.00389578371000379794, -0.0130143619674598389, -0.00661896594792450773,
        -0.00794027629596780128, 0.0196431451856142451, 0.0111859979901616034}},
  };
  Work w;
  for (int k = 0; k < 4; k++) {
    double X[9];
    for (int i = 0; i < 9; i++) {
      X[i] = cases[k].scale * A[i];
    }
    exponential(3, X, &w);
    check_equal(9, w.E, cases[k].E, 2e-15);
  }
}

// A stiff oscillator: entries from 1 to 1e6. Balanced, it keeps 13 digits in every entry.
static void test_badly_scaled(void** unused) {
  (void)unused;
  Work w;
  double h = 0.0078125, A[4] = {0, -1e6 * h, h, -20 * h};
  exponential(2, A, &w);
  CHECK_NEAR(w.E[0], 0.0479550466301310771, 3e-15);
  CHECK_NEAR(w.E[1], -924.084374391974742, 3e-12);
  CHECK_NEAR(w.E[2], 0.000924084374391974742, 3e-18);
  CHECK_NEAR(w.E[3], 0.0294733591422915822, 3e-15);
}

// ---- properties ---------------------------------------------------------------------------------
// exp(A) exp(-A) = I and exp(A)^2 = exp(2 A), for random matrices over many sizes and norms.
static void test_group(void** unused) {
  (void)unused;
  Work plus, minus, twice;
  double A[MOST * MOST], B[MOST * MOST], C[MOST * MOST], P[MOST * MOST];
  for (int n = 1; n <= MOST; n += 3) {
    for (int k = -8; k <= 3; k++) {
      double scale = ldexp(1.0, k) / n;
      fill_random(n * n, A);
      for (int i = 0; i < n * n; i++) {
        A[i] *= scale;
        B[i] = -A[i];
        C[i] = 2 * A[i];
      }
      exponential(n, A, &plus);
      exponential(n, B, &minus);
      exponential(n, C, &twice);
      double size =
          fmax(1.0, largest_of_all(n * n, plus.E)) * fmax(1.0, largest_of_all(n * n, minus.E));
      pawl_dense_multiply(n, plus.E, minus.E, P);
      for (int i = 0; i < n * n; i++) {
        CHECK_NEAR(P[i], i % (n + 1) == 0 ? 1.0 : 0.0, 2e-15 * n * size);
      }
      pawl_dense_multiply(n, plus.E, plus.E, P);
      check_equal(n * n, P, twice.E, 4e-15 * n * (1 + largest_of_all(n * n, twice.E)));
    }
  }
}

// The remainder of the series of degree p is A^(p+1)/(p+1)! to first order.
static void test_series(void** unused) {
  (void)unused;
  double x = 0.25, A[4] = {0, x, -x, 0}, E[4], room[64];
  double cosine = 1, sine = 0, term = 1;
  for (int p = 1; p <= 12; p++) {
    term *= x / p;
    cosine += p % 4 == 0 ? term : p % 4 == 2 ? -term : 0;
    sine += p % 4 == 1 ? term : p % 4 == 3 ? -term : 0;
    assert_int_equal(pawl_exponential_series(2, A, p, E, room), PAWL_OK);
    CHECK_NEAR(E[0], cosine, 2e-16);
    CHECK_NEAR(E[1], sine, 2e-16);
    CHECK_NEAR(E[2], -sine, 2e-16);
    CHECK_NEAR(E[3], cosine, 2e-16);
  }
}

// ---- eigenvalues --------------------------------------------------------------------------------
static void test_eigenvalues(void** unused) {
  (void)unused;
  double A[9] = {0, 2, 0, -2, 0, 0, 5, 7, -3}, real[3], imaginary[3], V[9];
  assert_int_equal(pawl_eigenvalues(3, A, real, imaginary, V), PAWL_OK);
  double sum = real[0] + real[1] + real[2], top = 0;
  for (int k = 0; k < 3; k++) {
    top = fmax(top, imaginary[k]);
    if (imaginary[k] == 0.0) {  // A v = l v, for the real one
      CHECK_NEAR(real[k], -3.0, 1e-14);
      for (int i = 0; i < 3; i++) {
        double Av = A[i] * V[3 * k] + A[i + 3] * V[3 * k + 1] + A[i + 6] * V[3 * k + 2];
        CHECK_NEAR(Av, -3.0 * V[3 * k + i], 1e-14);
      }
    }
  }
  CHECK_NEAR(top, 2.0, 1e-14);
  CHECK_NEAR(sum, -3.0, 1e-14);
  assert_int_equal(pawl_eigenvalues(3, A, real, imaginary, NULL), PAWL_OK);
  assert_int_equal(pawl_eigenvalues(0, A, real, imaginary, NULL), PAWL_OK);
}

// ---- failures -----------------------------------------------------------------------------------
static void test_not_finite(void** unused) {
  (void)unused;
  Work w;
  double A[4] = {0, NAN, 1, 0}, big[4] = {800, 0, 0, 1}, real[2], imaginary[2];
  assert_int_equal(pawl_exponential(2, A, w.E, w.room, w.pivots), PAWL_RETRY);
  assert_int_equal(pawl_exponential_series(2, A, 4, w.E, w.room), PAWL_RETRY);
  assert_int_equal(pawl_eigenvalues(2, A, real, imaginary, NULL), PAWL_RETRY);
  assert_int_equal(pawl_exponential(2, big, w.E, w.room, w.pivots), PAWL_RETRY);  // e^800
  big[0] = 1e300;
  assert_int_equal(pawl_exponential(2, big, w.E, w.room, w.pivots), PAWL_RETRY);
  big[0] = -1e300;  // vanishes
  exponential(2, big, &w);
  assert_true(w.E[0] == 0.0);
  CHECK_NEAR(w.E[3], exp(1.0), 1e-12);  // kept through a thousand squarings
}

static void test_memory(void** unused) {
  (void)unused;
  Work w;
  double A[4] = {0, 1, -1, 0}, real[2], imaginary[2];
  long long before = pawl_alloc_count();
  exponential(2, A, &w);
  assert_int_equal(pawl_alloc_count(), before);
  pawl_alloc_fail_at(1);
  assert_int_equal(pawl_eigenvalues(2, A, real, imaginary, NULL), PAWL_ERROR_MEMORY);
  pawl_alloc_fail_at(0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_zero_is_identity),
      cmocka_unit_test(test_rotation),
      cmocka_unit_test(test_jordan),
      cmocka_unit_test(test_nilpotent),
      cmocka_unit_test(test_triangle),
      cmocka_unit_test(test_slow_beside_fast),
      cmocka_unit_test(test_references),
      cmocka_unit_test(test_badly_scaled),
      cmocka_unit_test(test_group),
      cmocka_unit_test(test_series),
      cmocka_unit_test(test_eigenvalues),
      cmocka_unit_test(test_not_finite),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
