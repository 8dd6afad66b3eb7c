// SPDX-License-Identifier: Apache-2.0
// Principal angles between row spaces: cases worked by hand, defining properties on random spaces.
#include "base/alloc.h"
#include "linalg/dense.h"
#include "rows.h"
#include "systems.h"

#define MAX 10

static double product(int n, const double* W, const double* u, const double* v) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      sum += u[i] * (W ? W[i + j * n] : i == j) * v[j];
    }
  }
  return sum;
}

// True to rounding when v is a combination of the rows of A: appending it adds no rank.
static void check_in_row_space(int m, int n, const double* A, const double* v) {
  double stacked[(MAX + 1) * MAX];
  unsigned char dependent[MAX + 1];
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < m; i++) {
      stacked[i + j * (m + 1)] = A[i + j * m];
    }
    stacked[m + j * (m + 1)] = v[j];
  }
  (void)flag_rows(m + 1, n, stacked, dependent);
  assert_true(dependent[m]);
}

// U and V are W-orthonormal bases of parts of the row spaces, U_i^T W V_j = cos(angle_i) or 0.
static void check_pairs(int ma, int mb, int n, const double* A, const double* B, const double* W,
                        int k, const double* angles, const double* U, const double* V) {
  for (int i = 0; i < k; i++) {
    const double *u = U + i * n, *v = V + i * n;
    assert_true(angles[i] >= 0.0 && angles[i] <= acos(0.0) + 1e-15);
    assert_true(i == 0 || angles[i] >= angles[i - 1]);
    check_in_row_space(ma, n, A, u);
    check_in_row_space(mb, n, B, v);
    for (int j = 0; j < k; j++) {
      CHECK_NEAR(product(n, W, u, U + j * n), i == j, 1e-12);
      CHECK_NEAR(product(n, W, v, V + j * n), i == j, 1e-12);
      CHECK_NEAR(product(n, W, u, V + j * n), i == j ? cos(angles[i]) : 0.0, 1e-12);
    }
  }
}

static void fill_metric(int n, double* W) {  // X^T X + 1
  double X[MAX * MAX];
  fill_random(n * n, X);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      W[i + j * n] = i == j;
      for (int l = 0; l < n; l++) {
        W[i + j * n] += X[l + i * n] * X[l + j * n];
      }
    }
  }
}

// Two lines in the plane at a known angle, down to angles whose cosine rounds to 1.
static void test_two_lines(void** state) {
  (void)state;
  const double wanted[] = {0.0,  1e-300, 1e-160, 1e-16, 1e-12, 1e-8,
                           1e-4, 0.3,    0.8,    1.2,   1.5,   1.5707963};
  for (int t = 0; t < (int)(sizeof wanted / sizeof *wanted); t++) {
    const double A[] = {5.0, 0.0}, B[] = {-2.0 * cos(wanted[t]), 2.0 * sin(wanted[t])};
    double angle, U[4], V[4];
    int k;
    assert_int_equal(pawl_dense_principal_angles(1, 1, 2, A, B, NULL, 0.0, &k, &angle, U, V),
                     PAWL_OK);
    assert_int_equal(k, 1);
    CHECK_NEAR(angle, wanted[t], 4e-16 * (wanted[t] > 0.8 ? 1.0 : wanted[t]));
    check_pairs(1, 1, 2, A, B, NULL, k, &angle, U, V);
  }
}

// Planes in space that share a line and enclose 1e-10: angles 0 and 1e-10. And planes in R^4 at
// 1e-9 and 2e-9 at once, which cosines cannot tell apart.
static void test_small_angles_together(void** state) {
  (void)state;
  const double e = 1e-10;
  const double A[] = {1, 0, 0, 1, 0, 0}, B[] = {1, 1, 1, -1, e, -e};  // y' = y cos + z sin
  double angles[2], U[16], V[16];
  int k;
  assert_int_equal(pawl_dense_principal_angles(2, 2, 3, A, B, NULL, 0.0, &k, angles, U, V),
                   PAWL_OK);
  assert_int_equal(k, 2);
  CHECK_NEAR(angles[0], 0.0, 1e-15);
  CHECK_NEAR(angles[1], 1e-10, 1e-15);
  const double C[] = {1, 0, 0, 1, 0, 0, 0, 0}, D[] = {1, 0, 0, 1, 2e-9, 0, 0, 1e-9};
  assert_int_equal(pawl_dense_principal_angles(2, 2, 4, C, D, NULL, 0.0, &k, angles, U, V),
                   PAWL_OK);
  CHECK_NEAR(angles[0], 1e-9, 1e-16);
  CHECK_NEAR(angles[1], 2e-9, 1e-16);
  CHECK_NEAR(fabs(U[1]), 1.0, 1e-6);  // the pair at 1e-9 is the second axis
  check_pairs(2, 2, 4, C, D, NULL, k, angles, U, V);
}

static void test_equal_orthogonal_contained(void** state) {
  (void)state;
  // Rows (1 2 0 0), (0 1 1 0) and two combinations of them, scaled up and down.
  const double A[] = {1, 0, 2, 1, 0, 1, 0, 0}, B[] = {1e6, 1e-9, 3e6, -1e-9, 1e6, -3e-9, 0, 0};
  const double line[] = {1, 3, 1, 0};
  double angles[4], U[16], V[16];
  int k;
  assert_int_equal(pawl_dense_principal_angles(2, 2, 4, A, B, NULL, 0.0, &k, angles, U, V),
                   PAWL_OK);
  assert_int_equal(k, 2);
  CHECK_NEAR(angles[0], 0.0, 1e-15);
  CHECK_NEAR(angles[1], 0.0, 3e-15);
  check_pairs(2, 2, 4, A, B, NULL, k, angles, U, V);
  assert_int_equal(pawl_dense_principal_angles(2, 1, 4, A, line, NULL, 0.0, &k, angles, U, V),
                   PAWL_OK);
  assert_int_equal(k, 1);
  CHECK_NEAR(angles[0], 0.0, 1e-15);
  assert_int_equal(pawl_dense_principal_angles(1, 2, 4, line, A, NULL, 0.0, &k, angles, U, V),
                   PAWL_OK);
  assert_int_equal(k, 1);
  CHECK_NEAR(angles[0], 0.0, 1e-15);
  const double across[] = {2, 0, -1, 0, 1, 0, 0, 7};  // (2 -1 1 0) and (0 0 0 7), normal to A
  assert_int_equal(pawl_dense_principal_angles(2, 2, 4, A, across, NULL, 0.0, &k, angles, U, V),
                   PAWL_OK);
  assert_int_equal(k, 2);
  CHECK_NEAR(angles[0], acos(0.0), 1e-15);
  CHECK_NEAR(angles[1], acos(0.0), 1e-15);
}

static void test_random_spaces(void** state) {
  (void)state;
  for (int round = 0; round < 300; round++) {
    int n = 2 + round % 7, ma = 1 + round % n, mb = 1 + (round / 3) % n, k, k2;
    double A[MAX * MAX], B[MAX * MAX], W[MAX * MAX], angles[MAX], swapped[MAX], scaled[MAX];
    double U[MAX * MAX], V[MAX * MAX];
    fill_random(ma * n, A);
    fill_random(mb * n, B);
    fill_metric(n, W);
    const double* metric = round % 2 ? W : NULL;
    assert_int_equal(pawl_dense_principal_angles(ma, mb, n, A, B, metric, 0.0, &k, angles, U, V),
                     PAWL_OK);
    assert_int_equal(k, ma < mb ? ma : mb);
    check_pairs(ma, mb, n, A, B, metric, k, angles, U, V);
    assert_int_equal(
        pawl_dense_principal_angles(mb, ma, n, B, A, metric, 0.0, &k2, swapped, NULL, NULL),
        PAWL_OK);
    for (int i = 0; i < ma; i++) {  // other rows of the same space
      double factor = exp(25.0 * test_random());
      for (int j = 0; j < n; j++) {
        A[i + j * ma] *= factor;
      }
    }
    assert_int_equal(
        pawl_dense_principal_angles(ma, mb, n, A, B, metric, 0.0, &k2, scaled, NULL, NULL),
        PAWL_OK);
    for (int i = 0; i < k; i++) {
      CHECK_NEAR(swapped[i], angles[i], 1e-12);
      CHECK_NEAR(scaled[i], angles[i], 1e-12);
    }
  }
}

// Rows that repeat each other count once.
static void test_deficient_rows(void** state) {
  (void)state;
  for (int round = 0; round < 50; round++) {
    double A[4 * 6], B[3 * 6], angles[MAX], U[36], V[36], W[36];
    int k;
    fill_random(24, A);
    fill_random(18, B);
    fill_metric(6, W);
    for (int j = 0; j < 6; j++) {
      A[2 + j * 4] = A[0 + j * 4] - 2.0 * A[1 + j * 4];
      A[3 + j * 4] = 0.0;
    }
    assert_int_equal(pawl_dense_principal_angles(4, 3, 6, A, B, W, 1e-10, &k, angles, U, V),
                     PAWL_OK);
    assert_int_equal(k, 2);
    check_pairs(4, 3, 6, A, B, W, k, angles, U, V);
  }
  const double zero[] = {0.0, 0.0}, line[] = {1.0, 0.0};
  double angle;
  int k = 5;
  assert_int_equal(
      pawl_dense_principal_angles(1, 1, 2, zero, line, NULL, 0.0, &k, &angle, NULL, NULL), PAWL_OK);
  assert_int_equal(k, 0);
  assert_int_equal(
      pawl_dense_principal_angles(0, 1, 2, NULL, line, NULL, 0.0, &k, &angle, NULL, NULL), PAWL_OK);
  assert_int_equal(k, 0);
}

// In the metric diag(4, 1) the lines (1, 0) and (1, 2) enclose 45 degrees.
static void test_metric_by_hand(void** state) {
  (void)state;
  const double A[] = {1, 0}, B[] = {1, 2}, W[] = {4, 0, 0, 1}, flat[] = {1, 1, 1, 1};
  const double bent[] = {1, 2, 2, 1};
  double angle, U[4], V[4];
  int k;
  assert_int_equal(pawl_dense_principal_angles(1, 1, 2, A, B, W, 0.0, &k, &angle, U, V), PAWL_OK);
  CHECK_NEAR(angle, atan(1.0), 1e-15);
  CHECK_NEAR(fabs(U[0]), 0.5, 1e-15);
  assert_int_equal(pawl_dense_principal_angles(1, 1, 2, A, B, flat, 0.0, &k, &angle, U, V),
                   PAWL_RETRY);
  assert_int_equal(pawl_dense_principal_angles(1, 1, 2, A, B, bent, 0.0, &k, &angle, U, V),
                   PAWL_RETRY);
}

// W = w w^T is singular whatever rounding makes of it.
static void test_singular_metric(void** state) {
  (void)state;
  for (int round = 0; round < 200; round++) {
    double w[3], W[9], angle;
    const double A[] = {1, 0, 0}, B[] = {0, 1, 0};
    int k;
    fill_random(3, w);
    for (int i = 0; i < 9; i++) {
      W[i] = w[i % 3] * w[i / 3];
    }
    assert_int_equal(pawl_dense_principal_angles(1, 1, 3, A, B, W, 0.0, &k, &angle, NULL, NULL),
                     PAWL_RETRY);
  }
}

static void test_allocation_failures(void** state) {
  (void)state;
  double A[12], B[12], W[36], angles[2], U[36], V[36];
  fill_random(12, A);
  fill_random(12, B);
  fill_metric(6, W);
  PawlStatus status = PAWL_ERROR_MEMORY;
  for (int fail = 1; status != PAWL_OK; fail++) {
    int k;
    assert_true(fail < 1000 && status == PAWL_ERROR_MEMORY);
    pawl_alloc_fail_at(fail);
    status = pawl_dense_principal_angles(2, 2, 6, A, B, W, 0.0, &k, angles, U, V);
    pawl_alloc_fail_at(0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_lines),
      cmocka_unit_test(test_small_angles_together),
      cmocka_unit_test(test_equal_orthogonal_contained),
      cmocka_unit_test(test_random_spaces),
      cmocka_unit_test(test_deficient_rows),
      cmocka_unit_test(test_metric_by_hand),
      cmocka_unit_test(test_singular_metric),
      cmocka_unit_test(test_allocation_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
