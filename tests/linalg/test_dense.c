// SPDX-License-Identifier: Apache-2.0
// Rank, null space and pseudoinverse, on random and degenerate matrices.
#include "base/alloc.h"
#include "linalg/dense.h"
#include "systems.h"

#define MAX 12
#define ROUNDING 1e-12  // cond * eps: the nonzero singular values below stay above 1e-3

// A = X Y with X m-by-r and Y r-by-n: of rank r.
static void fill_rank(int m, int n, int r, double* A) {
  double X[MAX * MAX], Y[MAX * MAX];
  fill_random(m * r, X);
  fill_random(r * n, Y);
  for (int i = 0; i < r && i < m; i++) {
    X[i + i * m] += 3.0;  // well conditioned
  }
  for (int i = 0; i < r && i < n; i++) {
    Y[i + i * r] += 3.0;
  }
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < m; i++) {
      A[i + j * m] = 0.0;
      for (int k = 0; k < r; k++) {
        A[i + j * m] += X[i + k * m] * Y[k + j * r];
      }
    }
  }
}

// C = A B, A m-by-k, B k-by-n
static void multiply(int m, int k, int n, const double* A, const double* B, double* C) {
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < m; i++) {
      C[i + j * m] = 0.0;
      for (int l = 0; l < k; l++) {
        C[i + j * m] += A[i + l * m] * B[l + j * k];
      }
    }
  }
}

static void check_equal(int count, const double* A, const double* B, double tolerance) {
  for (int i = 0; i < count; i++) {
    CHECK_NEAR(A[i], B[i], tolerance);
  }
}

static void check_symmetric(int n, const double* A, double tolerance) {
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < j; i++) {
      CHECK_NEAR(A[i + j * n], A[j + i * n], tolerance);
    }
  }
}

static void check_null_space(int m, int n, int r, const double* A) {
  double N[MAX * MAX];
  int dimension;
  assert_int_equal(pawl_dense_null_space(m, n, A, 1e-10, N, &dimension), PAWL_OK);
  assert_int_equal(dimension, n - r);
  for (int k = 0; k < dimension; k++) {
    for (int i = 0; i < m; i++) {
      double sum = 0.0;
      for (int j = 0; j < n; j++) {
        sum += A[i + j * m] * N[j + k * n];
      }
      CHECK_NEAR(sum, 0.0, ROUNDING);
    }
    for (int l = 0; l <= k; l++) {
      double sum = 0.0;
      for (int j = 0; j < n; j++) {
        sum += N[j + k * n] * N[j + l * n];
      }
      CHECK_NEAR(sum, k == l, 1e-14);
    }
  }
}

// The four conditions of Penrose determine the pseudoinverse.
static void check_pseudoinverse(int m, int n, int r, const double* A) {
  double P[MAX * MAX], AP[MAX * MAX], PA[MAX * MAX], T[MAX * MAX];
  int rank;
  assert_int_equal(pawl_dense_pseudoinverse(m, n, A, 1e-10, P, &rank), PAWL_OK);
  assert_int_equal(rank, r);
  multiply(m, n, m, A, P, AP);
  multiply(n, m, n, P, A, PA);
  multiply(m, m, n, AP, A, T);
  check_equal(m * n, T, A, ROUNDING);
  multiply(n, n, m, PA, P, T);
  check_equal(m * n, T, P, ROUNDING);
  check_symmetric(m, AP, ROUNDING);
  check_symmetric(n, PA, ROUNDING);
}

static void test_random_ranks(void** state) {
  (void)state;
  for (int m = 1; m <= 8; m++) {
    for (int n = 1; n <= 8; n++) {
      for (int r = 0; r <= m && r <= n; r++) {
        double A[MAX * MAX], values[MAX];
        int rank;
        fill_rank(m, n, r, A);
        assert_int_equal(pawl_dense_rank(m, n, A, 0.0, &rank, values), PAWL_OK);
        assert_int_equal(rank, r);
        for (int k = 1; k < m && k < n; k++) {
          assert_true(values[k] <= values[k - 1] && values[k] >= 0.0);
        }
        check_null_space(m, n, r, A);
        check_pseudoinverse(m, n, r, A);
      }
    }
  }
}

// diag(3, 4, 0) by hand.
static void test_by_hand(void** state) {
  (void)state;
  const double A[] = {3, 0, 0, 0, 4, 0, 0, 0, 0};
  double values[3], P[9], N[9];
  int rank, dimension;
  assert_int_equal(pawl_dense_rank(3, 3, A, 0.0, &rank, values), PAWL_OK);
  assert_int_equal(rank, 2);
  CHECK_NEAR(values[0], 4.0, 1e-15);
  CHECK_NEAR(values[1], 3.0, 1e-15);
  assert_int_equal(pawl_dense_pseudoinverse(3, 3, A, 0.0, P, &rank), PAWL_OK);
  CHECK_NEAR(P[0], 1.0 / 3, 1e-15);
  CHECK_NEAR(P[4], 0.25, 1e-15);
  CHECK_NEAR(P[8], 0.0, 0.0);
  assert_int_equal(pawl_dense_null_space(3, 3, A, 0.0, N, &dimension), PAWL_OK);
  assert_int_equal(dimension, 1);
  CHECK_NEAR(fabs(N[2]), 1.0, 1e-15);
  assert_int_equal(pawl_dense_rank(3, 3, A, 0.8, &rank, NULL), PAWL_OK);
  assert_int_equal(rank, 1);  // 3 < 0.8 * 4
}

static void test_empty_and_bad(void** state) {
  (void)state;
  double N[9], bad[] = {1.0, NAN, 0.0, 1.0}, P[4];
  int rank, dimension;
  assert_int_equal(pawl_dense_null_space(0, 3, NULL, 0.0, N, &dimension), PAWL_OK);
  assert_int_equal(dimension, 3);
  for (int k = 0; k < 9; k++) {
    assert_true(N[k] == (k % 4 == 0));  // the identity
  }
  assert_int_equal(pawl_dense_rank(3, 0, NULL, 0.0, &rank, NULL), PAWL_OK);
  assert_int_equal(rank, 0);
  assert_int_equal(pawl_dense_rank(2, 2, bad, 0.0, &rank, NULL), PAWL_RETRY);
  assert_int_equal(pawl_dense_pseudoinverse(2, 2, bad, 0.0, P, &rank), PAWL_RETRY);
}

static PawlStatus call(int what, const double* A) {
  double out[MAX * MAX];
  int k;
  switch (what) {
    case 0:
      return pawl_dense_rank(5, 4, A, 0.0, &k, NULL);
    case 1:
      return pawl_dense_null_space(5, 4, A, 0.0, out, &k);
    default:
      return pawl_dense_pseudoinverse(5, 4, A, 0.0, out, &k);
  }
}

static void test_allocation_failures(void** state) {
  (void)state;
  double A[20];
  fill_random(20, A);
  for (int what = 0; what < 3; what++) {
    PawlStatus status = PAWL_ERROR_MEMORY;
    for (int fail = 1; status != PAWL_OK; fail++) {
      assert_true(fail < 100 && status == PAWL_ERROR_MEMORY);
      pawl_alloc_fail_at(fail);
      status = call(what, A);
      pawl_alloc_fail_at(0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_ranks),
      cmocka_unit_test(test_by_hand),
      cmocka_unit_test(test_empty_and_bad),
      cmocka_unit_test(test_allocation_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
