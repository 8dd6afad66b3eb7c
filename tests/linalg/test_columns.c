// SPDX-License-Identifier: Apache-2.0
// Stretches of columns that are alike give the bits of the lists: families of 1 to 5 entries, with
// columns of their own between them and at both ends, and parts that begin anywhere.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/columns.h"
#include "linalg/sparse.h"
#include "systems.h"

enum { FAMILY = 40, FAMILIES = 5, COLS = FAMILIES * (FAMILY + 1) + 1, ROWS = 3 * FAMILY };

typedef struct Sample {
  int start[COLS + 1], index[5 * COLS];
  double values[5 * COLS], x[COLS], f[COLS], M[COLS], lambda[ROWS];
  PawlPattern G;
} Sample;

// Family c has c + 1 entries in a column and steps by 1 or 2; before each there is a column with
// two rows that fit nothing.
static void fill(Sample* s) {
  int at = 0, column = 0;
  for (int c = 0; c < FAMILIES; c++) {
    int step = 1 + c % 2;
    s->index[at++] = 7;
    s->index[at++] = ROWS - 2;
    s->start[++column] = at;
    for (int j = 0; j < FAMILY; j++) {
      for (int e = 0; e <= c; e++) {
        s->index[at++] = 3 * e + step * j;
      }
      s->start[++column] = at;
    }
  }
  s->start[++column] = at;  // an empty one
  s->G = (PawlPattern){.rows = ROWS, .cols = COLS, .start = s->start, .index = s->index};
  fill_random(at, s->values);
  fill_random(COLS, s->x);
  fill_random(COLS, s->f);
  fill_random(COLS, s->M);
  fill_random(ROWS, s->lambda);
  s->x[50] = 0.0;
}

static void check_balance(const Sample* s, const PawlColumns* c) {
  double dq[COLS], r[COLS], magnitude[COLS];
  int seen = 0;
  for (int first = 0; first < COLS; first += 13) {  // in parts
    int end = first + 13 < COLS ? first + 13 : COLS;
    for (int j = first, until; j < end; j = until) {
      const PawlColumnsAlike* of = pawl_columns_at(c, j, end, &until);
      PawlColumnsForces forces = {s->M, s->x, s->f, s->values, s->lambda};
      assert_true(until > j && until <= end);
      if (!of) {
        continue;
      }
      pawl_columns_balance(of, j, until, forces, 0.25, dq);
      pawl_columns_judge(of, j, until, forces, r + j, magnitude + j);
      for (int i = j; i < until; i++, seen++) {
        double sum = -s->f[i], size = fabs(s->f[i]), term = s->M[i] * s->x[i];
        for (int k = s->start[i]; k < s->start[i + 1]; k++) {
          sum -= s->values[k] * s->lambda[s->index[k]];
          size += fabs(s->values[k] * s->lambda[s->index[k]]);
        }
        assert_true(r[i] == sum + term && magnitude[i] == size + fabs(term));
        assert_true(dq[i] == -(sum + term) * 0.25);
      }
    }
  }
  assert_int_equal(seen, 4 * FAMILY);
}

static void test_same_bits(void** state) {
  (void)state;
  Sample* s = calloc(1, sizeof *s);
  PawlArena arena = {0};
  PawlColumns c;
  double one[ROWS], other[ROWS], sizes[COLS];
  assert_non_null(s);
  fill(s);
  assert_int_equal(pawl_columns_find(&s->G, &arena, &c), PAWL_OK);
  assert_int_equal(c.count, 4);  // the fifth has too many entries
  memcpy(one, s->lambda, sizeof one);
  memcpy(other, s->lambda, sizeof other);
  pawl_columns_add(&c, &s->G, s->values, s->x, one);
  pawl_sparse_add(&s->G, s->values, 1.0, s->x, other);
  assert_memory_equal(one, other, sizeof one);
  for (int j = 0; j < COLS; j++) {
    sizes[j] = fabs(s->x[j]);
  }
  pawl_columns_sizes(&c, &s->G, s->values, sizes, one);
  pawl_sparse_sizes(&s->G, s->values, sizes, 0.0, other);
  assert_memory_equal(one, other, sizeof one);
  check_balance(s, &c);
  pawl_arena_free(&arena);
  free(s);
}

// Sizes and products of some rows at a time, whose terms are added in another order: those of all
// rows but for rounding. The fifth family is in no stretch.
static void test_some_rows(void** state) {
  (void)state;
  Sample* s = calloc(1, sizeof *s);
  PawlArena arena = {0};
  PawlColumns c;
  double some[ROWS], all[ROWS], x[COLS], product[ROWS] = {0}, products[ROWS] = {0};
  assert_non_null(s);
  fill(s);
  assert_int_equal(pawl_columns_find(&s->G, &arena, &c), PAWL_OK);
  assert_true(c.by_rows);
  for (int j = 0; j < COLS; j++) {
    x[j] = fabs(s->x[j]);
  }
  pawl_sparse_sizes(&s->G, s->values, x, 0.0, all);
  pawl_sparse_add(&s->G, s->values, 1.0, s->x, products);
  for (int first = 0, length = 1; first < ROWS; first += length, length = length % 17 + 3) {
    int end = first + length < ROWS ? first + length : ROWS;
    pawl_columns_some_sizes(&c, &s->G, s->values, x, first, end, some + first);
    pawl_columns_add_some(&c, &s->G, s->values, s->x, first, end, product + first);
  }
  for (int i = 0; i < ROWS; i++) {
    assert_true(fabs(some[i] - all[i]) <= 1e-14 * all[i]);
    assert_true(fabs(product[i] - products[i]) <= 1e-14 * all[i]);
  }
  pawl_arena_free(&arena);
  free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits),
                                     cmocka_unit_test(test_some_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
