// SPDX-License-Identifier: Apache-2.0
// The kind of a matrix M = B^T diag(s) B is that of the signs s (Sylvester); B is random and
// regular.
#include "check.h"
#include "switch/mass.h"

enum { N = 6 };

static double draw(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / (1 << 24) - 0.5;
}

// M, full, by columns, from signs and a seed.
static void make(unsigned seed, const double* s, double* M) {
  double B[N][N];
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      B[i][j] = (i == j ? 1.0 : 0.0) + (i > j ? draw(&seed) : 0.0);
    }
  }
  for (int i = 0; i < N * N; i++) {
    M[i] = 0.0;
    for (int k = 0; k < N; k++) {
      M[i] += s[k] * B[k][i % N] * B[k][i / N];
    }
  }
}

static PawlMassKind look(const double* M, int* column, double* pivot) {
  int start[N + 1], index[N * N];
  for (int k = 0; k < N * N; k++) {
    start[k / N] = k / N * N;
    index[k] = k % N;
  }
  start[N] = N * N;
  PawlPattern H = {.rows = N, .cols = N, .start = start, .index = index};
  PawlArena arena = {0};
  PawlMass mass;
  assert_true(pawl_mass_create(&mass, &arena, &H));
  assert_int_equal(mass.period, 1);
  PawlMassKind kind = pawl_mass_look(&mass, M, column, pivot);
  assert_int_equal(pawl_mass_is_definite(&mass, M), kind == PAWL_MASS_DEFINITE);
  pawl_arena_free(&arena);
  return kind;
}

static void test_kinds(void** unused) {
  (void)unused;
  double M[N * N], pivot;
  int column;
  for (unsigned seed = 1; seed <= 200; seed++) {
    double s[N] = {1, 2, 3, 0.5, 1e-3, 1};
    make(seed, s, M);
    assert_int_equal(look(M, &column, &pivot), PAWL_MASS_DEFINITE);
    assert_true(column == -1);
    s[seed % N] = 0.0;
    make(seed, s, M);
    assert_int_equal(look(M, &column, &pivot), PAWL_MASS_SEMIDEFINITE);
    s[seed % N] = -1e-4;
    make(seed, s, M);
    assert_int_equal(look(M, &column, &pivot), PAWL_MASS_INDEFINITE);
    assert_true(column >= 0 && column < N);
  }
}

// A coordinate without mass may stand anywhere; one that others hang on may not.
static void test_zero_pivots(void** unused) {
  (void)unused;
  double M[N * N] = {0}, pivot;
  int column;
  M[0] = M[2 * N + 2] = 1.0;
  assert_int_equal(look(M, &column, &pivot), PAWL_MASS_SEMIDEFINITE);
  assert_int_equal(column, 1);
  M[1 * N + 2] = M[2 * N + 1] = 0.5;  // x1' x2' without x1'^2
  assert_int_equal(look(M, &column, &pivot), PAWL_MASS_INDEFINITE);
  assert_int_equal(column, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kinds),
      cmocka_unit_test(test_zero_pivots),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
