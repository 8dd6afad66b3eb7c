// SPDX-License-Identifier: Apache-2.0
// Systems in which near unknowns alone are coupled: bars, beams and chains.
#include "systems.h"

#define BACKWARD 1e-12

// S of the given half width, row i of J on coordinates from i n / m on; S is heavy on its diagonal.
static TestSystem* banded_system(int n, int m, int width, double heavy) {
  TestSystem* s = calloc(1, sizeof *s);
  s->n = n;
  s->m = m;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      s->has_S[i + j * n] = abs(i - j) <= width;
      s->S[i + j * n] = test_random() + (i == j ? heavy : 0.0);
    }
    for (int i = 0; i < m; i++) {
      int from = i * n / m;
      s->has_G[i + j * m] = j >= from && j <= from + 1;
      s->J[i + j * m] = test_random() + 2.0;
      s->B[i + j * m] = s->J[i + j * m] + 0.1 * test_random();
    }
  }
  system_patterns(s);
  return s;
}

// The same with its coordinates and rows in another order.
static TestSystem* shuffled(const TestSystem* from) {
  TestSystem* s = calloc(1, sizeof *s);
  int n = s->n = from->n, m = s->m = from->m, at[SYSTEM_MAX];
  for (int j = 0; j < n; j++) {
    int k = (int)((1.0 + test_random()) * 0.5 * (j + 1));
    at[j] = at[k];
    at[k] = j;
  }
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      s->has_S[at[i] + at[j] * n] = from->has_S[i + j * n];
      s->S[at[i] + at[j] * n] = from->S[i + j * n];
    }
    for (int i = 0; i < m; i++) {
      int to = m - 1 - i + at[j] * m;
      s->has_G[to] = from->has_G[i + j * m];
      s->J[to] = from->J[i + j * m];
      s->B[to] = from->B[i + j * m];
    }
  }
  system_patterns(s);
  return s;
}

static void solve_with(PawlKktSolver solver, const TestSystem* s, const unsigned char* active,
                       const double* b, const double* c, double* x, double* y, PawlKktInfo* info) {
  PawlKkt* kkt = system_kkt(s, solver);
  memcpy(x, b, (size_t)s->n * sizeof *x);
  memcpy(y, c, (size_t)s->m * sizeof *y);
  assert_int_equal(system_factor(kkt, s, active), PAWL_OK);
  pawl_kkt_solve(kkt, x, y);
  CHECK_NEAR(system_residual(s, active, b, c, x, y), 0.0, BACKWARD);
  *info = pawl_kkt_info(kkt);
  pawl_kkt_destroy(kkt);
}

// Against KLU and dense LU, with rows on and off.
static void compare_solvers(const TestSystem* s, PawlKktInfo* info) {
  const PawlKktSolver solvers[] = {PAWL_KKT_AUTO, PAWL_KKT_KLU, PAWL_KKT_DENSE};
  double x[3][SYSTEM_MAX], y[3][SYSTEM_MAX], b[SYSTEM_MAX], c[SYSTEM_MAX];
  unsigned char active[SYSTEM_MAX];
  PawlKktInfo of_others;
  fill_random(s->n, b);
  fill_random(s->m, c);
  for (int i = 0; i < s->m; i++) {
    active[i] = test_random() > -0.5;
  }
  for (int k = 0; k < 3; k++) {
    solve_with(solvers[k], s, active, b, c, x[k], y[k], k == 0 ? info : &of_others);
    for (int j = 0; j < s->n; j++) {
      CHECK_NEAR(x[k][j], x[0][j], 1e-9 * (1.0 + fabs(x[0][j])));
    }
    for (int i = 0; i < s->m; i++) {
      CHECK_NEAR(y[k][i], y[0][i], 1e-9 * (1.0 + fabs(y[0][i])));
    }
  }
}

// Whatever their numbering: bands are found, and need no row exchanges where S is heavy.
static void test_bands_are_found(void** state) {
  (void)state;
  for (int round = 0; round < 200; round++) {
    int width = 1 + round % 3, m = round % 7;
    TestSystem* s = banded_system(40, m, width, 8.0);
    TestSystem* other = shuffled(s);
    PawlKktInfo info, of_other;
    compare_solvers(s, &info);
    compare_solvers(other, &of_other);
    assert_true(info.solver == PAWL_KKT_BAND && of_other.solver == PAWL_KKT_BAND);
    assert_true(info.full == 0 && of_other.full == 0);
    assert_true(info.nonzeros <= (40 + m) * (2 * (2 * width + 1) + 1));
    free(s);
    free(other);
  }
}

// With nothing on the diagonal rows must be exchanged.
static void test_rows_are_exchanged(void** state) {
  (void)state;
  long long full = 0;
  for (int round = 0; round < 200; round++) {
    TestSystem* s = banded_system(40, round % 3, 1 + round % 4, 0.0);
    PawlKktInfo info;
    for (int j = 0; j < 40; j++) {
      s->S[j + 40 * j] = 0.0;
    }
    for (int j = 0; j + 1 < 40; j += 2) {  // else a wide band could be singular
      s->S[j + 1 + 40 * j] += 4.0;
      s->S[j + 40 * (j + 1)] += 4.0;
    }
    system_values(s);
    compare_solvers(s, &info);
    assert_int_equal(info.solver, PAWL_KKT_BAND);
    full += info.full;
    free(s);
  }
  assert_true(full == 200);
}

// A bar of which one end is held, u_0 = 0: S is tridiagonal, 2 on the diagonal and -1 beside it, 1
// in the last corner. With a force of 1 at the far end u_i = i, lambda = -1 by the row, and the
// same when the row is off and its force given (u_0 is then where the bar was let go: S is regular
// with 2 in the first corner, u_i = (i + 1) - c by hand).
static void test_bar_by_hand(void** state) {
  (void)state;
  enum { N = 30 };
  TestSystem* s = calloc(1, sizeof *s);
  s->n = N;
  s->m = 1;
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < N; i++) {
      s->has_S[i + j * N] = abs(i - j) <= 1;
      s->S[i + j * N] = i != j ? -1.0 : i == N - 1 ? 1.0 : 2.0;
    }
  }
  s->has_G[0] = 1;
  s->J[0] = s->B[0] = 1.0;
  system_patterns(s);
  PawlKkt* kkt = system_kkt(s, PAWL_KKT_AUTO);
  assert_int_equal(pawl_kkt_info(kkt).solver, PAWL_KKT_BAND);
  double x[N] = {0}, y[] = {0.0}, free_x[N] = {0}, push[] = {-0.25};
  x[N - 1] = free_x[N - 1] = 1.0;
  assert_int_equal(system_factor(kkt, s, NULL), PAWL_OK);
  assert_false(pawl_kkt_is_definite(kkt));  // not known: the row is between the pivots of S
  pawl_kkt_solve(kkt, x, y);
  CHECK_NEAR(y[0], -1.0, 1e-13);
  for (int i = 0; i < N; i++) {
    CHECK_NEAR(x[i], i, 1e-13 * N);
  }
  const unsigned char off[] = {0};
  for (int round = 0; round < 10; round++) {  // the row is left out when it stays off
    assert_int_equal(system_factor(kkt, s, off), PAWL_OK);
  }
  assert_true(pawl_kkt_is_definite(kkt));
  assert_int_equal(pawl_kkt_info(kkt).nonzeros, 3 * N - 2);
  pawl_kkt_solve(kkt, free_x, push);
  for (int i = 0; i < N; i++) {
    CHECK_NEAR(free_x[i], i + 1 - 0.25, 1e-13 * N);
  }
  s->S[0] = -2.0;
  system_values(s);
  assert_int_equal(system_factor(kkt, s, off), PAWL_OK);
  assert_false(pawl_kkt_is_definite(kkt));
  pawl_kkt_destroy(kkt);
  free(s);
}

// Of equal rows the second is named; without it the system is regular.
static void test_redundant_rows_are_named(void** state) {
  (void)state;
  TestSystem* s = banded_system(30, 6, 1, 8.0);
  for (int j = 0; j < 30; j++) {
    s->has_G[4 + 6 * j] = s->has_G[1 + 6 * j];
    s->J[4 + 6 * j] = s->J[1 + 6 * j];
    for (int i = 0; i < 30; i++) {
      s->S[i + 30 * j] = i == j ? 2.0 : abs(i - j) == 1 ? -0.5 : 0.0;
    }
  }
  memcpy(s->B, s->J, sizeof s->B);
  system_patterns(s);
  PawlKkt* kkt = system_kkt(s, PAWL_KKT_AUTO);
  unsigned char rows[6], active[] = {1, 1, 1, 1, 0, 1};
  int column;
  assert_int_equal(pawl_kkt_info(kkt).solver, PAWL_KKT_BAND);
  assert_int_equal(system_factor(kkt, s, NULL), PAWL_RETRY);
  assert_int_equal(pawl_kkt_diagnose(kkt, s->S_values, s->J_values, NULL, &column, rows), PAWL_OK);
  assert_int_equal(column, -1);
  for (int i = 0; i < 6; i++) {
    assert_int_equal(rows[i], i == 4);
  }
  assert_int_equal(system_factor(kkt, s, active), PAWL_OK);
  pawl_kkt_destroy(kkt);
  free(s);
}

// The k-th of the matrices that take turns: other numbers, or other rows.
static void take_turn(TestSystem* s, int k, unsigned char* active) {
  for (int j = 0; j < s->n; j++) {
    s->S[j + j * s->n] = 8.0 + (k % 2);
  }
  for (int i = 0; i < s->m; i++) {
    active[i] = k < 2 || i % k > 0;
  }
  system_values(s);
}

// Three matrices in turn are factored once; a solver that has never seen one of them, but loads
// the memory of this one, gives the same bits. A fourth takes the place of another, and a new
// scaling of all.
static void test_matrices_take_turns(void** state) {
  (void)state;
  TestSystem* s = banded_system(40, 6, 1, 8.0);
  PawlKkt* kkt = system_kkt(s, PAWL_KKT_AUTO);
  unsigned char active[SYSTEM_MAX];
  for (int round = 0; round < 30; round++) {
    take_turn(s, round % 3, active);
    assert_int_equal(system_factor_if_changed(kkt, s, active), PAWL_OK);
    assert_true(pawl_kkt_info(kkt).current == 1 + round % 3);
    double x[2][SYSTEM_MAX], y[2][SYSTEM_MAX];
    fill_random(40, x[0]);
    fill_random(6, y[0]);
    memcpy(x[1], x[0], sizeof x[0]);
    memcpy(y[1], y[0], sizeof y[0]);
    pawl_kkt_solve(kkt, x[0], y[0]);
    PawlKkt* fresh = system_kkt(s, PAWL_KKT_AUTO);
    void* bytes = malloc(pawl_kkt_memory_bytes(kkt));
    pawl_kkt_save(kkt, bytes);
    assert_int_equal(pawl_kkt_load(fresh, bytes), PAWL_OK);
    assert_int_equal(system_factor(fresh, s, active), PAWL_OK);
    pawl_kkt_solve(fresh, x[1], y[1]);
    assert_memory_equal(x[0], x[1], 40 * sizeof **x);
    assert_memory_equal(y[0], y[1], 6 * sizeof **y);
    free(bytes);
    pawl_kkt_destroy(fresh);
  }
  assert_true(pawl_kkt_info(kkt).factorizations == 3);
  take_turn(s, 3, active);
  assert_int_equal(system_factor_if_changed(kkt, s, active), PAWL_OK);
  take_turn(s, 0, active);
  assert_int_equal(system_factor_if_changed(kkt, s, active), PAWL_OK);
  assert_true(pawl_kkt_info(kkt).factorizations == 5);
  s->S_values[0] *= 1e9;
  assert_int_equal(system_factor_if_changed(kkt, s, active), PAWL_OK);
  take_turn(s, 0, active);
  assert_int_equal(system_factor_if_changed(kkt, s, active), PAWL_OK);
  assert_true(pawl_kkt_info(kkt).factorizations == 7);
  pawl_kkt_destroy(kkt);
  free(s);
}

// Bars too long for one stretch of the solution: S x - B^T y = b and J x = c recomputed by entries.
enum { LONG = 5000, ROWS = 3 };

typedef struct LongBar {
  int S_start[LONG + 1], S_index[5 * LONG], G_start[LONG + 1], G_index[ROWS];
  double S[5 * LONG], G[ROWS];
  PawlPattern pattern_S, pattern_G;
} LongBar;

// A brace from node `from` to the next but one, which makes one column of the band wider that may
// be the first of a stretch.
static bool is_braced(int from) {
  enum { FIRST = 59, EVERY = 131 };  // in either direction some end where a stretch begins
  return from % EVERY == FIRST;
}

static LongBar* long_bar(int width, bool braced) {
  LongBar* s = calloc(1, sizeof *s);
  int count = 0, rows = 0;
  for (int j = 0; j < LONG; j++) {
    int most = braced ? 2 : width;
    for (int i = j > most ? j - most : 0; i <= j + most && i < LONG; i++) {
      if (abs(i - j) > width && !is_braced(i < j ? i : j)) {
        continue;
      }
      s->S_index[count] = i;
      s->S[count++] = test_random() + (i == j ? 8.0 : 0.0);
    }
    if (j % (LONG / ROWS) == 1023 && rows < ROWS) {
      s->G_index[rows] = rows;
      s->G[rows++] = 2.0 + test_random();
    }
    s->S_start[j + 1] = count;
    s->G_start[j + 1] = rows;
  }
  s->pattern_S = (PawlPattern){LONG, LONG, s->S_start, s->S_index};
  s->pattern_G = (PawlPattern){ROWS, LONG, s->G_start, s->G_index};
  return s;
}

// Of b the numbers from `first` to `end` are given, the others are 0.
static void check_long_bar(const LongBar* s, PawlKkt* kkt, const unsigned char* active, int first,
                           int end) {
  static double x[LONG], b[LONG];
  double y[ROWS], c[ROWS];
  memset(b, 0, sizeof b);
  fill_random(end - first, b + first);
  fill_random(ROWS, c);
  memcpy(x, b, sizeof b);
  for (int i = 0; i < ROWS; i++) {
    y[i] = c[i] = active[i] ? c[i] : 0.0;
  }
  pawl_kkt_solve(kkt, x, y);
  for (int j = 0; j < LONG; j++) {
    for (int k = s->S_start[j]; k < s->S_start[j + 1]; k++) {
      b[s->S_index[k]] -= s->S[k] * x[j];
    }
    for (int k = s->G_start[j]; k < s->G_start[j + 1]; k++) {
      b[j] += s->G[k] * y[s->G_index[k]];
      c[s->G_index[k]] -= active[s->G_index[k]] ? s->G[k] * x[j] : 0.0;
    }
  }
  for (int j = 0; j < LONG; j++) {
    CHECK_NEAR(b[j], 0.0, BACKWARD);
  }
  for (int i = 0; i < ROWS; i++) {
    CHECK_NEAR(c[i], 0.0, BACKWARD);
  }
}

static void test_long_bars(void** state) {
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    LongBar* s = long_bar(kind == 1 ? 2 : 1, kind == 2);
    PawlKkt* kkt = NULL;
    assert_int_equal(pawl_kkt_create(&s->pattern_S, &s->pattern_G, PAWL_KKT_AUTO, &kkt, NULL), 0);
    assert_int_equal(pawl_kkt_info(kkt).solver, PAWL_KKT_BAND);
    for (int round = 0; round < 24; round++) {  // long enough for inactive rows to be left out
      unsigned char active[ROWS] = {round < 12, 0, round % 12 == 0};
      assert_int_equal(pawl_kkt_factor(kkt, s->S, s->G, s->G, active), PAWL_OK);
      check_long_bar(s, kkt, active, 0, LONG);
      check_long_bar(s, kkt, active, 0, 0);  // a second right side, and stretches of zeros
      check_long_bar(s, kkt, active, 0, 7);
      check_long_bar(s, kkt, active, LONG - 1, LONG);
      check_long_bar(s, kkt, active, 2040, 2050);
      check_long_bar(s, kkt, active, 0, LONG);
    }
    pawl_kkt_destroy(kkt);
    free(s);
  }
}

// What was settled is taken by its name, until it is settled anew.
static void test_settled_numbers(void** state) {
  (void)state;
  TestSystem *s = banded_system(30, 2, 1, 8.0), *other = banded_system(30, 2, 1, 8.0);
  const unsigned char active[2] = {1, 0};
  PawlKkt* kkt = system_kkt(s, PAWL_KKT_AUTO);
  const double *S = s->S_values, *B = s->B_values, *J = s->J_values;
  pawl_kkt_settle(kkt, other->S_values);
  pawl_kkt_settle(kkt, S);
  assert_int_equal(pawl_kkt_factor_and_keep(kkt, S, B, J, active), PAWL_OK);
  assert_true(pawl_kkt_holds(kkt, S, B, J, active));
  assert_false(pawl_kkt_holds(kkt, other->S_values, B, J, active));
  s->S_values[5] += 1.0;
  assert_true(pawl_kkt_holds(kkt, S, B, J, active));  // it was promised not to change
  pawl_kkt_settle(kkt, S);
  assert_false(pawl_kkt_holds(kkt, S, B, J, active));
  s->S_values[5] -= 1.0;
  pawl_kkt_settle(kkt, S);
  assert_int_equal(pawl_kkt_factor_and_keep(kkt, S, B, J, active), PAWL_OK);
  s->J_values[0] += 1.0;
  assert_false(pawl_kkt_holds(kkt, S, B, J, active));
  pawl_kkt_destroy(kkt);
  free(s);
  free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bands_are_found),     cmocka_unit_test(test_rows_are_exchanged),
      cmocka_unit_test(test_bar_by_hand),         cmocka_unit_test(test_redundant_rows_are_named),
      cmocka_unit_test(test_matrices_take_turns), cmocka_unit_test(test_long_bars),
      cmocka_unit_test(test_settled_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
