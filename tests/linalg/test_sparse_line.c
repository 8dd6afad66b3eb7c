// SPDX-License-Identifier: Apache-2.0
// Products by machine code have the bits of those by loops: random patterns with empty columns,
// zeros of either sign, numbers that are not finite.
#include <math.h>

#include "base/code.h"
#include "linalg/sparse_line.h"
#include "systems.h"

enum { MOST = 24, FEW = 12 };

typedef struct Matrix {
  int start[MOST + 1], index[MOST * MOST];
  double values[MOST * MOST];
  PawlPattern pattern;
} Matrix;

static Matrix random_matrix(int rows, int cols, double density) {
  Matrix m = {0};
  int count = 0;
  for (int j = 0; j < cols; j++) {
    for (int i = 0; i < rows; i++) {
      if (fabs(test_random()) < density) {
        m.index[count++] = i;
      }
    }
    m.start[j + 1] = count;
  }
  fill_random(count, m.values);
  return m;
}

static void fill_oddly(int count, double* x) {
  const double odd[] = {0.0, -0.0, INFINITY, NAN, 1e-310};
  for (int i = 0; i < count; i++) {
    double r = test_random();
    x[i] = r > 0.8 ? odd[(int)(fabs(test_random()) * 4.99)] : r;
  }
}

// NaN is NaN, whatever its bits.
static void assert_same(int count, const double* a, const double* b) {
  for (int i = 0; i < count; i++) {
    if (!(isnan(a[i]) && isnan(b[i]))) {
      assert_memory_equal(&a[i], &b[i], sizeof *a);
    }
  }
}

static void compare(const PawlSparseLine* line, const double* values, bool transposed,
                    double scale) {
  double x[MOST], y[2][MOST];
  fill_oddly(MOST, x);
  fill_oddly(MOST, y[0]);
  memcpy(y[1], y[0], sizeof y[0]);
  if (transposed) {
    pawl_sparse_line_add_transposed(line, values, scale, x, y[0]);
    pawl_sparse_add_transposed(&line->A, values, scale, x, y[1]);
  } else {
    pawl_sparse_line_add(line, values, scale, x, y[0]);
    pawl_sparse_add(&line->A, values, scale, x, y[1]);
  }
  assert_same(MOST, y[0], y[1]);
}

static void test_same_bits(void** state) {
  (void)state;
  int coded = 0;
  for (int round = 0; round < 2000; round++) {
    int rows = round % (FEW + 1), cols = 1 + round % 7;
    Matrix m = random_matrix(rows, cols, 0.1 * (round % 11));
    m.pattern = (PawlPattern){rows, cols, m.start, m.index};
    PawlSparseLine line;
    pawl_sparse_line_create(&m.pattern, &line);
    coded += line.add != NULL;
    compare(&line, m.values, round % 2, round % 3 == 0 ? -1.0 : test_random());
    pawl_sparse_line_destroy(&line);
  }
#ifdef PAWL_HAS_CODE
  assert_true(coded > 1000);
#else
  assert_int_equal(coded, 0);
#endif
}

// Of several columns rows are summed in a register: the same but for the sign of a zero.
static void test_rows(void** state) {
  (void)state;
  int coded = 0;
  for (int round = 0; round < 400; round++) {
    int rows = 1 + round % MOST, cols = 16 + round % 9;
    Matrix m = random_matrix(rows, cols, 0.2);
    double x[MOST], y[2][MOST], size[MOST], room[MOST * MOST];
    m.pattern = (PawlPattern){rows, cols, m.start, m.index};
    PawlSparseLine line;
    pawl_sparse_line_create(&m.pattern, &line);
    coded += line.by_rows != NULL;
    fill_random(MOST, x);
    fill_random(MOST, y[0]);
    x[round % cols] = round % 5 == 0 ? NAN : round % 5 == 1 ? INFINITY : 0.0;
    memcpy(y[1], y[0], sizeof y[0]);
    pawl_sparse_line_add(&line, m.values, 1.0, x, y[0]);
    pawl_sparse_add(&m.pattern, m.values, 1.0, x, y[1]);
    assert_same(MOST, y[0], y[1]);
    for (int j = 0; j < MOST; j++) {
      x[j] = fabs(x[j]);
      size[j] = y[0][j] = 0.0;
    }
    for (int j = 0; j < cols; j++) {
      for (int k = m.start[j]; k < m.start[j + 1]; k++) {
        size[m.index[k]] += fabs(m.values[k]) * x[j];
      }
    }
    if (pawl_sparse_line_add_sizes(&line, m.values, x, room, y[0])) {
      assert_same(MOST, y[0], size);
    }
    pawl_sparse_line_destroy(&line);
  }
#ifdef PAWL_HAS_CODE
  assert_true(coded > 200);
#else
  assert_int_equal(coded, 0);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits), cmocka_unit_test(test_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
