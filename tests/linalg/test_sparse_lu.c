// SPDX-License-Identifier: Apache-2.0
// Sparse matrices that are factored by their numbers alone.
#include "base/alloc.h"
#include "linalg/sparse_lu.h"
#include "systems.h"

enum { MOST = 60, ROUNDS = 20 };

typedef struct Matrix {
  PawlPattern pattern;
  int start[MOST + 1], index[MOST * MOST];
  double values[MOST * MOST];
} Matrix;

// About `each` entries beside the diagonal in a column, in symmetric places.
static void make(Matrix* A, int n, int each) {
  bool there[MOST][MOST] = {{false}};
  double chance[MOST];
  int count = 0;
  for (int j = 0; j < n; j++) {
    fill_random(n, chance);
    for (int i = 0; i < n; i++) {
      bool is = i == j || fabs(chance[i]) < 0.5 * each / n;
      there[i][j] = there[i][j] || is;
      there[j][i] = there[j][i] || is;
    }
  }
  for (int j = 0; j < n; j++) {
    A->start[j] = count;
    for (int i = 0; i < n; i++) {
      A->index[count] = i;
      count += there[i][j];
    }
  }
  A->start[n] = count;
  A->pattern = (PawlPattern){n, n, A->start, A->index};
  fill_random(count, A->values);
}

static double* entry(Matrix* A, int i, int j) {
  for (int e = A->start[j]; e < A->start[j + 1]; e++) {
    if (A->index[e] == i) {
      return &A->values[e];
    }
  }
  return NULL;
}

// |A x - b| relative to |A| |x| + |b|.
static double backward_error(const Matrix* A, const double* x, const double* b) {
  double off[MOST], size[MOST], top = 0.0;
  for (int i = 0; i < A->pattern.cols; i++) {
    off[i] = -b[i];
    size[i] = fabs(b[i]);
  }
  for (int j = 0; j < A->pattern.cols; j++) {
    for (int e = A->start[j]; e < A->start[j + 1]; e++) {
      off[A->index[e]] += A->values[e] * x[j];
      size[A->index[e]] += fabs(A->values[e] * x[j]);
    }
  }
  for (int i = 0; i < A->pattern.cols; i++) {
    top = fmax(top, fabs(off[i]) / size[i]);
  }
  return top;
}

static void solve_and_check(PawlSparseLu* lu, const Matrix* A, double preference, double most) {
  double b[MOST], x[MOST];
  fill_random(A->pattern.cols, b);
  assert_int_equal(pawl_sparse_lu_factor(lu, A->values, preference, 0.0), PAWL_OK);
  assert_true(pawl_sparse_lu_least(lu) > 0.0);
  pawl_sparse_lu_solve(lu, b, x);
  CHECK_NEAR(backward_error(A, x, b), 0.0, most);
  pawl_sparse_lu_solve(lu, b, b);  // in place
  assert_memory_equal(x, b, sizeof(double) * (size_t)A->pattern.cols);
}

// Any diagonal, zeros on it included; a matrix that happens to be singular is told.
static void test_random_matrices(void** state) {
  (void)state;
  static Matrix A;
  int solved = 0;
  for (int n = 2; n <= MOST; n++) {
    for (int each = 3; each <= 11; each += 4) {
      PawlSparseLu* lu;
      make(&A, n, each);
      for (int j = 0; j < n; j += 2) {
        *entry(&A, j, j) = 0.0;
      }
      assert_int_equal(pawl_sparse_lu_create(&A.pattern, &lu, NULL), PAWL_OK);
      PawlStatus status = pawl_sparse_lu_factor(lu, A.values, 0.1, 1e-9);
      assert_true(status == PAWL_OK || status == PAWL_RETRY);
      if (status == PAWL_OK) {
        solve_and_check(lu, &A, 0.1, 1e-11);
        solved++;
      }
      pawl_sparse_lu_destroy(lu);
    }
  }
  assert_true(solved > 120);
}

// Symmetric ones with a large diagonal need no exchanges, and their pivots are positive; one entry
// of the diagonal that is not is told.
static void test_positive(void** state) {
  (void)state;
  static Matrix A;
  for (int n = 1; n <= MOST; n++) {
    PawlSparseLu* lu;
    make(&A, n, 4);
    for (int j = 0; j < n; j++) {
      for (int e = A.start[j]; e < A.start[j + 1]; e++) {
        A.values[e] = A.index[e] == j ? (double)n : *entry(&A, j, A.index[e]);
      }
    }
    assert_int_equal(pawl_sparse_lu_create(&A.pattern, &lu, NULL), PAWL_OK);
    solve_and_check(lu, &A, 0.0, 1e-14);
    assert_true(pawl_sparse_lu_all_positive(lu));
    *entry(&A, n / 2, n / 2) = -(double)n;
    solve_and_check(lu, &A, 0.0, 1e-12);
    assert_false(pawl_sparse_lu_all_positive(lu));
    pawl_sparse_lu_destroy(lu);
  }
}

// What was factored before leaves no trace, also a matrix that could not be.
static void test_no_trace(void** state) {
  (void)state;
  static Matrix A, B;
  double b[MOST], x[MOST], again[MOST];
  for (int round = 0; round < ROUNDS; round++) {
    PawlSparseLu *lu, *fresh;
    make(&A, MOST, 5);
    B = A;
    fill_random(A.start[MOST], B.values);
    fill_random(MOST, b);
    for (int e = B.start[3]; e < B.start[4]; e++) {
      B.values[e] = round % 2 ? 0.0 : B.values[e];
    }
    assert_int_equal(pawl_sparse_lu_create(&A.pattern, &lu, NULL), PAWL_OK);
    assert_int_equal(pawl_sparse_lu_create(&A.pattern, &fresh, NULL), PAWL_OK);
    assert_int_equal(pawl_sparse_lu_factor(lu, B.values, 0.1, 1e-13),
                     round % 2 ? PAWL_RETRY : PAWL_OK);
    assert_int_equal(pawl_sparse_lu_factor(lu, A.values, 0.1, 1e-13), PAWL_OK);
    assert_int_equal(pawl_sparse_lu_factor(fresh, A.values, 0.1, 1e-13), PAWL_OK);
    pawl_sparse_lu_solve(lu, b, x);
    pawl_sparse_lu_solve(fresh, b, again);
    assert_memory_equal(x, again, sizeof x);
    pawl_sparse_lu_destroy(lu);
    pawl_sparse_lu_destroy(fresh);
  }
}

// A band has factors of its own size, whatever the order of its rows.
static void test_little_fill(void** state) {
  (void)state;
  static Matrix A;
  int count = 0;
  for (int j = 0; j < MOST; j++) {  // places are shuffled: row i of the band is 7 i mod MOST - 1
    A.start[j] = count;
    for (int i = 0; i < MOST; i++) {
      int distance = abs((7 * i) % (MOST - 1) - (7 * j) % (MOST - 1));
      bool there = i == j || (distance == 1 && i != MOST - 1 && j != MOST - 1);
      A.index[count] = i;
      A.values[count] = i == j ? 4.0 : 1.0;
      count += there;
    }
  }
  A.start[MOST] = count;
  A.pattern = (PawlPattern){MOST, MOST, A.start, A.index};
  PawlSparseLu* lu;
  assert_int_equal(pawl_sparse_lu_create(&A.pattern, &lu, NULL), PAWL_OK);
  solve_and_check(lu, &A, 0.1, 1e-15);
  assert_int_equal(pawl_sparse_lu_entries(lu), count);
  pawl_sparse_lu_destroy(lu);
}

// The diagonal of the inverse, against solutions: with exchanges of rows and without, and of a
// matrix that numbers, not places, have made triangular.                                   (K17)
static void check_inverse(PawlSparseLu* lu, int n) {
  double diagonal[MOST], x[MOST], size = 0.0;
  assert_int_equal(pawl_sparse_lu_inverse_diagonal(lu, diagonal), PAWL_OK);
  for (int pass = 0; pass < 2; pass++) {
    for (int j = 0; j < n; j++) {
      memset(x, 0, sizeof x);
      x[j] = 1.0;
      pawl_sparse_lu_solve(lu, x, x);
      for (int i = 0; i < n; i++) {
        size = fmax(size, fabs(x[i]));
      }
      assert_true(pass == 0 || fabs(diagonal[j] - x[j]) <= 1e-11 * size);
    }
  }
}

static void test_inverse(void** state) {
  (void)state;
  static Matrix A;
  int checked = 0;
  for (int n = 1; n <= MOST; n++) {
    for (int round = 0; round < 4; round++) {
      PawlSparseLu* lu;
      make(&A, n, 4);
      for (int j = 0; j < n; j++) {
        double* diagonal = entry(&A, j, j);
        *diagonal = round % 2 == 1 ? (double)n : j % 2 ? 0.0 : *diagonal;
        for (int e = A.start[j]; round == 3 && e < A.start[j + 1]; e++) {
          A.values[e] = A.index[e] < j ? 0.0 : A.values[e];
        }
      }
      assert_int_equal(pawl_sparse_lu_create(&A.pattern, &lu, NULL), PAWL_OK);
      if (pawl_sparse_lu_factor(lu, A.values, round == 1 ? 0.0 : 0.1, 1e-6) == PAWL_OK) {
        check_inverse(lu, n);
        checked++;
      }
      pawl_sparse_lu_destroy(lu);
    }
  }
  assert_true(checked > 2 * MOST);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_matrices), cmocka_unit_test(test_positive),
      cmocka_unit_test(test_no_trace),        cmocka_unit_test(test_little_fill),
      cmocka_unit_test(test_inverse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
