// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "linalg/dense.h"
#include "systems.h"

#define TINY 1e-14  // smallest pivot where the matrix is known to be regular

// |A x - b| relative to |A| |x| + |b|: backward error, a few n eps with partial pivoting.
static double backward_error(int n, const double* A, const double* x, const double* b) {
  double top = 0.0;
  for (int i = 0; i < n; i++) {
    double sum = -b[i], size = fabs(b[i]);
    for (int j = 0; j < n; j++) {
      sum += A[i + j * n] * x[j];
      size += fabs(A[i + j * n] * x[j]);
    }
    top = fmax(top, fabs(sum) / size);
  }
  return top;
}

static void test_random_matrices(void** state) {
  (void)state;
  double A[40 * 40], LU[40 * 40], b[40], x[40];
  int pivot[40];
  for (int n = 1; n <= 40; n++) {
    for (int round = 0; round < 20; round++) {
      fill_random(n * n, A);
      fill_random(n, b);
      memcpy(LU, A, sizeof A);
      assert_int_equal(pawl_lu_factor(n, LU, pivot, TINY), 0);
      pawl_lu_solve(n, LU, pivot, b, x);
      CHECK_NEAR(backward_error(n, A, x, b), 0.0, 100.0 * n * 0x1p-52);
    }
  }
}

// Zero on the diagonal: only row exchanges help. The inverse of a cyclic shift is the shift back.
static void test_permutation(void** state) {
  (void)state;
  for (int n = 2; n <= 30; n++) {
    double A[30 * 30] = {0}, b[30], x[30];
    int pivot[30];
    for (int j = 0; j < n; j++) {
      A[(j + 1) % n + j * n] = 1.0;
      b[j] = j;
    }
    assert_int_equal(pawl_lu_factor(n, A, pivot, TINY), 0);
    pawl_lu_solve(n, A, pivot, b, x);
    for (int j = 0; j < n; j++) {
      assert_true(x[j] == (j + 1) % n);  // exact: only moves
    }
  }
}

// Of a cyclic shift the determinant is 1 or -1 as n is odd or even; a negated column turns it.
static void test_sign_of_determinant(void** state) {
  (void)state;
  for (int n = 1; n <= 12; n++) {
    for (int negated = 0; negated < 2; negated++) {
      double A[12 * 12] = {0};
      int pivot[12];
      for (int j = 0; j < n; j++) {
        A[(j + 1) % n + j * n] = negated && j == n / 2 ? -2.0 : 3.0;
      }
      assert_int_equal(pawl_lu_factor(n, A, pivot, TINY), 0);
      assert_int_equal(pawl_lu_sign(n, A, pivot), (n % 2 == 1) == (negated == 0) ? 1 : -1);
    }
  }
}

// Without row exchanges a matrix is factored as well, or refused; it is refused exactly where an
// entry of L would exceed 64 or a pivot is too small, for every size compiled by itself and beyond.
static void test_without_exchanges(void** state) {
  (void)state;
  double A[20 * 20], LU[20 * 20], b[20], x[20];
  int same[20], refused = 0;
  for (int n = 1; n <= 20; n++) {
    for (int round = 0; round < 100; round++) {
      fill_random(n * n, A);
      fill_random(n, b);
      for (int j = 0; j < n; j++) {
        same[j] = j;
        A[j + j * n] += round % 2 ? 0.3 * n : 0.0;
      }
      memcpy(LU, A, sizeof A);
      bool taken = pawl_lu_factor_plain(n, LU, TINY);
      double most = 0.0;
      for (int j = 0; j < n; j++) {
        for (int i = j + 1; i < n; i++) {
          most = fmax(most, fabs(LU[i + j * n]));
        }
      }
      assert_true(taken == (most <= 64.0));
      refused += !taken;
      if (taken) {
        pawl_lu_solve(n, LU, same, b, x);
        CHECK_NEAR(backward_error(n, A, x, b), 0.0, 4000.0 * n * 0x1p-52);
      }
    }
  }
  assert_in_range(refused, 100, 1500);
  double small[] = {1.0, 0.5, 2.0, 1.0 + 1e-13};  // the second pivot is 1e-13
  assert_false(pawl_lu_factor_plain(2, small, 1e-12));
}

static void test_singular_column_is_named(void** state) {
  (void)state;
  for (int n = 2; n <= 30; n++) {
    for (int k = 1; k < n; k++) {
      double A[30 * 30];
      int pivot[30];
      fill_random(n * n, A);
      for (int i = 0; i < n; i++) {  // column k is a combination of the columns before it
        A[i + k * n] = 0.0;
        for (int j = 0; j < k; j++) {
          A[i + k * n] += A[i + j * n];
        }
      }
      assert_int_equal(pawl_lu_factor(n, A, pivot, 1e-12), k + 1);
    }
  }
  double zero = 0.0;
  int pivot;
  assert_int_equal(pawl_lu_factor(1, &zero, &pivot, TINY), 1);
}

static void test_not_a_number_is_refused(void** state) {
  (void)state;
  for (int n = 1; n <= 20; n++) {
    for (int place = 0; place < n * n; place++) {
      double A[20 * 20];
      int pivot[20];
      fill_random(n * n, A);
      A[place] = NAN;
      assert_int_not_equal(pawl_lu_factor(n, A, pivot, TINY), 0);
    }
  }
}

static void test_allocates_nothing(void** state) {
  (void)state;
  double A[30 * 30], b[30], x[30];
  int pivot[30];
  long long before = pawl_alloc_count();
  for (int n = 0; n <= 30; n++) {
    fill_random(n * n, A);
    fill_random(n, b);
    assert_int_equal(pawl_lu_factor(n, A, pivot, TINY), 0);
    pawl_lu_solve(n, A, pivot, b, x);
  }
  assert_true(pawl_alloc_count() == before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_matrices),
      cmocka_unit_test(test_permutation),
      cmocka_unit_test(test_sign_of_determinant),
      cmocka_unit_test(test_without_exchanges),
      cmocka_unit_test(test_singular_column_is_named),
      cmocka_unit_test(test_not_a_number_is_refused),
      cmocka_unit_test(test_allocates_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
