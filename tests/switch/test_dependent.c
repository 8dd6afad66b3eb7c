// SPDX-License-Identifier: Apache-2.0
// Whether a row follows from others is answered alike wherever it is asked (docs/theory/rows.md,
// section 6): by the rows themselves, by the sparse diagnosis, by the row problem in both its
// forms, and by the three forms of the jump.
#include <string.h>

#include "check.h"
#include "linalg/kkt.h"
#include "linalg/span.h"
#include "switch/rows.h"
#include "switch/transition.h"

enum { N = 3, M = 2 };
static const int start_H[] = {0, 1, 2, 3}, index_H[] = {0, 1, 2};
static const int start_G[] = {0, 2, 4, 6}, index_G[] = {0, 1, 0, 1, 0, 1};
static const PawlPattern H = {N, N, start_H, index_H}, G = {M, N, start_G, index_G};

typedef struct Pair {  // masses that are equal, and two rows with an angle between them
  double mass[N], gradient[M * N];
  double rows[M][N];
} Pair;

static Pair make(double sine, double mass, double unit) {
  Pair p;
  double c = sqrt(1.0 - sine * sine);
  const double first[N] = {0.6, 0.64, 0.48}, across[N] = {-0.8, 0.48, 0.36};
  double rows[M][N];
  for (int j = 0; j < N; j++) {
    rows[0][j] = unit * first[j];
    rows[1][j] = (c * first[j] + sine * across[j]) / unit;
  }
  memcpy(p.rows, rows, sizeof rows);
  for (int j = 0; j < N; j++) {
    p.mass[j] = mass;
    for (int i = 0; i < M; i++) {
      p.gradient[M * j + i] = rows[i][j];
    }
  }
  return p;
}

static int by_span(const Pair* p) {
  double Q[N * N];
  PawlSpan span = {.n = N, .Q = Q};
  assert_true(pawl_span_extend(&span, p->rows[0]));
  return !pawl_span_extend(&span, p->rows[1]);
}

static int by_diagnosis(const Pair* p) {
  PawlKkt* kkt;
  unsigned char rows[M] = {0};
  int column = -1;
  assert_int_equal(pawl_kkt_create(&H, &G, PAWL_KKT_KLU, &kkt, NULL), PAWL_OK);
  if (pawl_kkt_factor(kkt, p->mass, p->gradient, p->gradient, NULL) == PAWL_RETRY) {
    assert_int_equal(pawl_kkt_diagnose(kkt, p->mass, p->gradient, NULL, &column, rows), PAWL_OK);
    assert_int_equal(column, -1);
  }
  pawl_kkt_destroy(kkt);
  assert_false(rows[0]);
  return rows[1];
}

static int by_rows(const Pair* p, PawlRowsForm form) {
  PawlRows* rows;
  const double r[N] = {0.0}, b[M] = {0.0}, lo[M] = {-INFINITY, -INFINITY};
  const double hi[M] = {INFINITY, INFINITY};
  double x[N], lambda[M], w[M];
  unsigned char states[M] = {0};
  PawlRowsResult result = {.lambda = lambda, .w = w, .state = states};
  PawlRowBounds bounds = {.lo = lo, .hi = hi};
  assert_int_equal(pawl_rows_create(&H, &G, form, &rows, NULL), PAWL_OK);
  assert_int_equal(pawl_rows_matrices(rows, p->mass, p->gradient, p->gradient), PAWL_OK);
  assert_int_equal(pawl_rows_solve(rows, r, b, &bounds, x, &result), PAWL_OK);
  pawl_rows_destroy(rows);
  return result.following;
}

static int by_jump(const Pair* p, PawlTransitionForm form) {
  PawlKkt* kkt;
  PawlTransition* transition;
  const double v[N] = {0.0}, g_t[M] = {0.0};
  double dv[N], Lambda[M];
  unsigned char dependent[M];
  int count;
  assert_int_equal(pawl_kkt_create(&H, &G, PAWL_KKT_AUTO, &kkt, NULL), PAWL_OK);
  assert_int_equal(pawl_transition_create(form, &H, &G, kkt, &transition, NULL), PAWL_OK);
  assert_int_equal(pawl_transition_solve(transition, p->mass, p->gradient, NULL, NULL, v, g_t, dv,
                                         Lambda, dependent, &count),
                   PAWL_OK);
  pawl_transition_destroy(transition);
  pawl_kkt_destroy(kkt);
  assert_false(dependent[0]);
  return dependent[1];
}

// A pivot in between depends on scales that are powers of two: verdicts may differ by a few times
// the angle.
static void test_one_answer(void** state) {
  (void)state;
  const double sines[] = {0.0, 1e-9, 5e-8, 5e-6, 1e-4, 1.0}, units[] = {1e-4, 1.0, 1e4};
  for (int k = 0; k < 6; k++) {
    for (int u = 0; u < 9; u++) {
      Pair p = make(sines[k], units[u / 3], units[u % 3]);
      int follows = sines[k] < PAWL_DEPENDENT;
      assert_int_equal(by_span(&p), follows);
      assert_int_equal(by_diagnosis(&p), follows);
      assert_int_equal(by_rows(&p, PAWL_ROWS_DENSE), follows);
      assert_int_equal(by_rows(&p, PAWL_ROWS_SPARSE), follows);
      assert_int_equal(by_jump(&p, PAWL_TRANSITION_FULL), follows);
      assert_int_equal(by_jump(&p, PAWL_TRANSITION_PROJECTED), follows);
      assert_int_equal(by_jump(&p, PAWL_TRANSITION_MINIMAL), follows);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_answer)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
