// SPDX-License-Identifier: Apache-2.0
// Rows that follow from others: by hand, against the rank by singular values, at the limit, and in
// a metric.
#include "base/alloc.h"
#include "linalg/dense.h"
#include "rows.h"
#include "systems.h"

#define MAX 12

static void test_by_hand(void** state) {
  (void)state;
  // Rows: a, 2 a, 0, b, a - b, 1e-200 c, c (columns of three).
  const double rows[7][3] = {{1, 2, 3}, {2, 4, 6},      {0, 0, 0}, {1, 0, -1},
                             {0, 2, 4}, {0, 0, 1e-200}, {0, 0, 1}};
  const unsigned char expected[] = {0, 1, 1, 0, 1, 0, 1};
  double A[21];
  unsigned char dependent[7];
  for (int i = 0; i < 7; i++) {
    for (int j = 0; j < 3; j++) {
      A[i + j * 7] = rows[i][j];
    }
  }
  assert_int_equal(flag_rows(7, 3, A, dependent), 3);
  assert_memory_equal(dependent, expected, 7);
}

// The rank of the first rows must grow by one with each independent row. Every third row follows
// from the two before it.
static void test_against_rank(void** state) {
  (void)state;
  for (int round = 0; round < 200; round++) {
    int m = 2 + round % 9, n = 1 + round % 7, before = 0;
    double A[MAX * MAX], part[MAX * MAX];
    unsigned char dependent[MAX];
    fill_random(m * n, A);
    for (int i = 2; i < m; i += 3) {
      for (int j = 0; j < n; j++) {
        A[i + j * m] = 3.0 * A[i - 1 + j * m] - 0.7 * A[i - 2 + j * m];
      }
    }
    int rank = flag_rows(m, n, A, dependent);
    for (int i = 0; i < m; i++) {
      int now;
      for (int j = 0; j < n; j++) {
        for (int k = 0; k <= i; k++) {
          part[k + j * (i + 1)] = A[k + j * m];
        }
      }
      assert_int_equal(pawl_dense_rank(i + 1, n, part, 1e-10, &now, NULL), PAWL_OK);
      assert_int_equal(dependent[i], now == before);
      before = now;
    }
    assert_int_equal(rank, before);
  }
}

// (1, 0, 0) and (cos, sin, 0), in any unit: what is left is the sine, and decides.
static void test_limit(void** state) {
  (void)state;
  const double sines[] = {0.0, 1e-12, 9e-7, 1.1e-6, 1e-3, 1.0}, units[] = {1e-150, 1.0, 1e150};
  for (int u = 0; u < 3; u++) {
    for (int k = 0; k < 6; k++) {
      double Q[9], first[3] = {units[u], 0.0, 0.0};
      double row[3] = {sqrt(1.0 - sines[k] * sines[k]) * units[2 - u], sines[k] * units[2 - u]};
      PawlSpan span = {.n = 3, .Q = Q};
      assert_true(pawl_span_extend(&span, first));
      assert_true(pawl_span_extend(&span, row) == (sines[k] > PAWL_DEPENDENT));
      span.count = 1;
      CHECK_NEAR(pawl_span_take_out(&span, row), sines[k], 1e-15);
      CHECK_NEAR(row[0] / units[2 - u], 0.0, 1e-15);
      CHECK_NEAR(row[1] / units[2 - u], sines[k], 1e-15);
    }
  }
}

// Orthonormal in the metric diag(4, 1) + its coupling: x and y enclose 0 degrees in it or not.
static void test_metric(void** state) {
  (void)state;
  const double W[] = {4.0, 1.0, 1.0, 1.0}, x[] = {1.0, 0.0}, y[] = {0.0, 1.0}, z[] = {3.0, -2.0};
  double Q[4];
  PawlSpan span = {.n = 2, .Q = Q, .W = W};
  assert_true(pawl_span_extend(&span, x) && pawl_span_extend(&span, y));
  assert_false(pawl_span_extend(&span, z));
  for (int a = 0; a < 2; a++) {
    for (int b = 0; b < 2; b++) {
      const double *p = Q + 2 * a, *q = Q + 2 * b;
      double product = 4.0 * p[0] * q[0] + p[0] * q[1] + p[1] * q[0] + p[1] * q[1];
      CHECK_NEAR(product, a == b, 1e-15);
    }
  }
  double only_x[2] = {0.0, 1.0};  // y - (x W y / x W x) x = (-1/4, 1), of the square 3/4 against 1
  span.count = 1;
  CHECK_NEAR(pawl_span_take_out(&span, only_x), sqrt(0.75), 1e-15);
  CHECK_NEAR(only_x[0], -0.25, 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand),
                                     cmocka_unit_test(test_against_rank),
                                     cmocka_unit_test(test_limit), cmocka_unit_test(test_metric)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
