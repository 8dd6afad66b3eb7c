// SPDX-License-Identifier: Apache-2.0
// Pivots of sparse matrices: those that KLU chooses, the same for equal candidates, and the rule
// itself: what is eliminated with them leaves no entry of L above 1 / preference.
#include <klu.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/kkt_pivots.h"
#include "systems.h"

enum { MOST = 40 };
static const double PREFERENCE = 1.0 / 32.0;

typedef struct Matrix {
  int size, start[MOST + 1], index[MOST * MOST], Q[MOST];
  double values[MOST * MOST];
} Matrix;

// Whole numbers are often equal, and cancel. The diagonal is there, and may be 0.
static void make(Matrix* A, int size, double density, bool whole) {
  int count = 0;
  A->size = size;
  for (int j = 0; j < size; j++) {
    A->start[j] = count;
    for (int i = 0; i < size; i++) {
      double value = whole ? round(2.0 * test_random()) : test_random();
      if (i == j || fabs(test_random()) < density) {
        A->index[count] = i;
        A->values[count++] = i == j && test_random() > 0.3 ? 0.0 : value;
      }
    }
  }
  A->start[size] = count;
  for (int k = 0; k < size; k++) {
    A->Q[k] = k;
  }
  for (int k = size - 1; k > 0; k--) {
    int other = (int)(fabs(test_random()) * 0.999 * (k + 1)), kept = A->Q[k];
    A->Q[k] = A->Q[other];
    A->Q[other] = kept;
  }
}

// False: singular.
static bool choose_by_klu(Matrix* A, int* P) {
  klu_common common;
  klu_defaults(&common);
  common.tol = PREFERENCE;
  common.btf = 0;
  common.scale = -1;
  klu_symbolic* symbolic = klu_analyze_given(A->size, A->start, A->index, A->Q, A->Q, &common);
  assert_non_null(symbolic);
  klu_numeric* numeric = klu_factor(A->start, A->index, A->values, symbolic, &common);
  bool regular = numeric != NULL;
  if (regular) {
    memcpy(P, numeric->Pnum, (size_t)A->size * sizeof *P);
  }
  klu_free_numeric(&numeric, &common);
  klu_free_symbolic(&symbolic, &common);
  return regular;
}

// Dense elimination in the order P, Q. Returns the largest entry of L.
static double largest_multiplier(const Matrix* A, const int* P) {
  static double D[MOST][MOST];
  int size = A->size, at[MOST];
  double top = 0.0;
  memset(D, 0, sizeof D);
  for (int k = 0; k < size; k++) {
    at[P[k]] = k;
  }
  for (int k = 0; k < size; k++) {
    for (int p = A->start[A->Q[k]]; p < A->start[A->Q[k] + 1]; p++) {
      D[at[A->index[p]]][k] = A->values[p];
    }
  }
  for (int k = 0; k < size; k++) {
    for (int i = k + 1; i < size; i++) {
      double l = D[i][k] / D[k][k];
      top = fmax(top, fabs(l));
      for (int j = k; j < size; j++) {
        D[i][j] -= l * D[k][j];
      }
    }
  }
  return top;
}

static void test_as_klu(void** state) {
  (void)state;
  Matrix* A = calloc(1, sizeof *A);
  int regular = 0, singular = 0;
  for (int round = 0; round < 2000; round++) {
    int size = 1 + round % MOST, P[2][MOST];
    bool whole = round % 3 > 0;
    make(A, size, 0.05 + 0.1 * (round % 4), whole);
    PawlArena arena = {0};
    PawlKktPivots s = {0};
    PawlFactorPattern pattern = {0};
    double *L = NULL, x[MOST] = {0};
    int L_room = 0;
    PawlKktPivotsRoom room = {&pattern, &L, &L_room, x, NULL};
    assert_int_equal(pawl_kkt_pivots_create(&s, &arena, size, A->start, A->index, A->Q), PAWL_OK);
    bool there = choose_by_klu(A, P[0]);
    for (int again = 0; again < 2; again++) {  // the second time in the room of the first
      long long before = pawl_alloc_count();
      PawlStatus status = pawl_kkt_pivots_choose(&s, A->values, PREFERENCE, &room, P[1]);
      assert_int_equal(status, there ? PAWL_OK : PAWL_RETRY);
      assert_true(again == 0 || pawl_alloc_count() == before);
      for (int i = 0; i < size; i++) {
        assert_true(x[i] == 0.0);
        assert_true(!there || P[0][i] == P[1][i]);
      }
    }
    if (there && !whole) {
      assert_true(largest_multiplier(A, P[1]) <= (1.0 + 1e-6) / PREFERENCE);
    }
    regular += there;
    singular += !there;
    pawl_free(L);
    pawl_factor_pattern_free(&pattern);
    pawl_arena_free(&arena);
  }
  assert_true(regular > 200 && singular > 200);
  free(A);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_klu)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
