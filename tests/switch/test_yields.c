// SPDX-License-Identifier: Apache-2.0
// What rows yield by, of many at once, against its definition: 1/(G M^-1 B^T)^-1_ii by solutions of
// a dense matrix (docs/theory/friction.md, (F47)).
#include <math.h>
#include <string.h>

#include "check.h"
#include "linalg/dense.h"
#include "random_numbers.h"
#include "switch/yields.h"

enum { ROWS = 40, VELOCITIES = 60, ENTRIES = 4 };

typedef struct Problem {
  PawlArena arena;
  PawlDynamics dynamics;
  PawlByRows rows;
  int H_start[VELOCITIES + 1], H_index[VELOCITIES], diagonal[VELOCITIES];
  int G_start[VELOCITIES + 1], G_index[ROWS * ENTRIES];
  double M[VELOCITIES], G[ROWS * ENTRIES], B[ROWS * ENTRIES];
} Problem;

// Each row acts on some velocities near its own; B is G and what rubs beside it.
static void make(Problem* p, Random* r, double rubs) {
  bool there[ROWS][VELOCITIES] = {{false}};
  PawlError err;
  int count = 0;
  *p = (Problem){0};
  for (int i = 0; i < ROWS; i++) {
    for (int k = 0; k < ENTRIES; k++) {
      there[i][(i + whole(r, 0, 20)) % VELOCITIES] = true;
    }
  }
  for (int j = 0; j < VELOCITIES; j++) {
    p->H_start[j] = p->H_index[j] = p->diagonal[j] = j;
    p->M[j] = 0.5 + uniform(r);
    p->G_start[j] = count;
    for (int i = 0; i < ROWS; i++) {
      p->G_index[count] = i;
      p->G[count] = there[i][j] ? 2 * uniform(r) - 1 : 0.0;
      p->B[count] = p->G[count] + rubs * (uniform(r) - 0.5);
      count += there[i][j];
    }
  }
  p->H_start[VELOCITIES] = VELOCITIES;
  p->G_start[VELOCITIES] = count;
  p->dynamics = (PawlDynamics){.arena = &p->arena,
                               .sizes = {.v = VELOCITIES, .rows = ROWS},
                               .H = {VELOCITIES, VELOCITIES, p->H_start, p->H_index},
                               .G = {ROWS, VELOCITIES, p->G_start, p->G_index},
                               .diagonal = p->diagonal};
  assert_int_equal(pawl_by_rows_create(&p->arena, &p->dynamics.G, &p->rows, &err), PAWL_OK);
}

// G M^-1 B^T over the active rows.
static int compliance(const Problem* p, const unsigned char* active, double* C) {
  int at[ROWS], n = 0;
  for (int i = 0; i < ROWS; i++) {
    at[i] = active[i] ? n++ : -1;
  }
  memset(C, 0, sizeof(double) * (size_t)n * (size_t)n);
  for (int j = 0; j < VELOCITIES; j++) {
    for (int a = p->G_start[j]; a < p->G_start[j + 1]; a++) {
      for (int b = p->G_start[j]; b < p->G_start[j + 1]; b++) {
        int row = at[p->G_index[a]], column = at[p->G_index[b]];
        if (row >= 0 && column >= 0) {
          C[row + n * column] += p->G[a] * p->B[b] / p->M[j];
        }
      }
    }
  }
  return n;
}

static void check(Problem* p, PawlYields* yields, const unsigned char* active) {
  double C[ROWS * ROWS], unit[ROWS], x[ROWS], found[ROWS];
  int pivot[ROWS], n = compliance(p, active, C), k = 0;
  PawlValues values = {.M = p->M, .G = p->G};
  assert_int_equal(pawl_lu_factor(n, C, pivot, 1e-6), 0);
  assert_int_equal(pawl_yields_find(yields, &values, p->B, active, found), PAWL_OK);
  for (int i = 0; i < ROWS; i++) {
    if (!active[i]) {
      assert_true(found[i] == 0.0);
      continue;
    }
    memset(unit, 0, sizeof unit);
    unit[k] = 1.0;
    pawl_lu_solve(n, C, pivot, unit, x);
    CHECK_NEAR(1.0 / found[i], x[k], 1e-8 * fmax(1.0, fabs(x[k])));
    k++;
  }
}

static void test_random(void** unused) {
  (void)unused;
  static Problem p;
  Random r = {7};
  PawlError err;
  for (int round = 0; round < 40; round++) {
    PawlYields yields;
    make(&p, &r, round % 2 ? 0.3 : 0.0);
    assert_int_equal(pawl_yields_create(&p.dynamics, &p.rows, &yields, &err), PAWL_OK);
    for (int set = 0; set < 3; set++) {
      unsigned char active[ROWS];
      for (int i = 0; i < ROWS; i++) {
        active[i] = set == 0 || uniform(&r) < 0.7;
      }
      check(&p, &yields, active);
      check(&p, &yields, active);
    }
    pawl_yields_free(&yields);
    pawl_arena_free(&p.arena);
  }
}

// Masses that are none, and rows that say the same, are refused.
static void test_refused(void** unused) {
  (void)unused;
  static Problem p;
  Random r = {3};
  PawlError err;
  PawlYields yields;
  double found[ROWS];
  make(&p, &r, 0.0);
  PawlValues values = {.M = p.M, .G = p.G};
  assert_int_equal(pawl_yields_create(&p.dynamics, &p.rows, &yields, &err), PAWL_OK);
  int column = p.rows.column[p.rows.start[5]];
  p.M[column] = 0.0;
  assert_int_equal(pawl_yields_find(&yields, &values, p.G, NULL, found), PAWL_RETRY);
  p.M[column] = 1.0;
  assert_int_equal(pawl_yields_find(&yields, &values, p.G, NULL, found), PAWL_OK);
  for (int e = p.rows.start[5]; e < p.rows.start[6]; e++) {
    p.G[p.rows.at[e]] = 0.0;
  }
  assert_int_equal(pawl_yields_find(&yields, &values, p.G, NULL, found), PAWL_RETRY);
  pawl_yields_free(&yields);
  pawl_arena_free(&p.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
