// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "systems.h"

static const PawlKktSolver solvers[] = {PAWL_KKT_DENSE, PAWL_KKT_KLU, PAWL_KKT_BAND,
                                        PAWL_KKT_BLOCKS};
#define SOLVERS 3

// Backward error of an LU solve, row by row: pivots of at least 1/10 of their column let entries
// grow, so some digits above n eps.
#define BACKWARD 4e-12

static void solve_and_check(PawlKkt* kkt, const TestSystem* s, const unsigned char* active,
                            double* x, double* y) {
  double b[SYSTEM_MAX], c[SYSTEM_MAX];
  fill_random(s->n, b);
  fill_random(s->m, c);
  memcpy(x, b, sizeof b);
  memcpy(y, c, sizeof c);
  assert_int_equal(system_factor(kkt, s, active), PAWL_OK);
  pawl_kkt_solve(kkt, x, y);
  CHECK_NEAR(system_residual(s, active, b, c, x, y), 0.0, BACKWARD);
  for (int i = 0; i < s->m; i++) {
    if (active && !active[i]) {
      assert_true(y[i] == c[i]);  // exact on purpose: a row that is off reads its right side
    }
  }
}

// A 2 kg point on an incline of 45 degrees, by hand: (x'', y'') = (-g/2, -g/2), lambda = m g/sqrt 2
// for the row (y - x)/sqrt(2) = 0.
static void test_point_on_incline(void** state) {
  (void)state;
  const double g = 9.81, r = sqrt(0.5);
  const int S_start[] = {0, 1, 2}, S_index[] = {0, 1}, G_start[] = {0, 1, 2}, G_index[] = {0, 0};
  const PawlPattern S = {2, 2, S_start, S_index}, G = {1, 2, G_start, G_index};
  const double M[] = {2.0, 2.0}, J[] = {-r, r};
  for (int k = 0; k < SOLVERS; k++) {
    PawlKkt* kkt;
    assert_int_equal(pawl_kkt_create(&S, &G, solvers[k], &kkt, NULL), PAWL_OK);
    assert_int_equal(pawl_kkt_factor(kkt, M, J, J, NULL), PAWL_OK);
    double x[] = {0.0, -2.0 * g}, y[] = {0.0};
    pawl_kkt_solve(kkt, x, y);
    CHECK_NEAR(x[0], -g / 2, 1e-14);
    CHECK_NEAR(x[1], -g / 2, 1e-14);
    CHECK_NEAR(y[0], 2.0 * g * r, 1e-14);
    const unsigned char off[] = {0};
    assert_int_equal(pawl_kkt_factor(kkt, M, J, J, off), PAWL_OK);
    double free_x[] = {0.0, -2.0 * g}, push[] = {3.0};
    pawl_kkt_solve(kkt, free_x, push);  // the row is off, its multiplier given: M x = b + B^T y
    CHECK_NEAR(free_x[0], -3.0 * r / 2, 1e-15);
    CHECK_NEAR(free_x[1], -g + 3.0 * r / 2, 2e-15);
    assert_true(push[0] == 3.0);
    pawl_kkt_destroy(kkt);
  }
}

static void test_random_systems(void** state) {
  (void)state;
  const double densities[] = {0.05, 0.3, 1.0};
  for (int n = 1; n <= 40; n += n < 8 ? 1 : 7) {
    for (int m = 0; m <= n; m += m < 6 ? 1 : 5) {
      for (int d = 0; d < 3; d++) {
        TestSystem* s = system_random(n, m, densities[d], false);
        double x[SOLVERS][SYSTEM_MAX], y[SOLVERS][SYSTEM_MAX], b[SYSTEM_MAX], c[SYSTEM_MAX];
        fill_random(n, b);
        fill_random(m, c);
        for (int k = 0; k < SOLVERS; k++) {
          PawlKkt* kkt = system_kkt(s, solvers[k]);
          memcpy(x[k], b, sizeof b);
          memcpy(y[k], c, sizeof c);
          assert_int_equal(system_factor(kkt, s, NULL), PAWL_OK);
          pawl_kkt_solve(kkt, x[k], y[k]);
          CHECK_NEAR(system_residual(s, NULL, b, c, x[k], y[k]), 0.0, BACKWARD);
          pawl_kkt_destroy(kkt);
        }
        for (int k = 1; k < SOLVERS; k++) {
          for (int j = 0; j < n; j++) {
            CHECK_NEAR(x[0][j], x[k][j], 1e-10 * (1.0 + fabs(x[0][j])));
          }
          for (int i = 0; i < m; i++) {
            CHECK_NEAR(y[0][i], y[k][i], 1e-10 * (1.0 + fabs(y[0][i])) * n);
          }
        }
        free(s);
      }
    }
  }
}

// Rows go on and off between factorisations of one object; values change by orders of magnitude.
static void test_switching_and_changing(void** state) {
  (void)state;
  TestSystem *s = system_random(20, 12, 0.1, false), *base = malloc(sizeof *base);
  memcpy(base, s, sizeof *base);
  PawlKkt* kkt[SOLVERS];
  for (int k = 0; k < SOLVERS; k++) {
    kkt[k] = system_kkt(s, solvers[k]);
  }
  unsigned char active[12];
  for (int round = 0; round < 300; round++) {
    double x[SOLVERS][SYSTEM_MAX], y[SOLVERS][SYSTEM_MAX];
    for (int i = 0; i < 12; i++) {
      active[i] = test_random() > -0.3;
    }
    for (int i = 0; i < 20 * 20; i++) {
      s->S[i] = base->S[i] * exp(2.0 * test_random());
    }
    for (int i = 0; i < 12 * 20 && round % 10 == 0; i++) {
      s->J[i] = base->J[i] * exp(4.0 * test_random());
    }
    system_values(s);
    for (int k = 0; k < SOLVERS; k++) {
      solve_and_check(kkt[k], s, round % 7 == 0 ? NULL : active, x[k], y[k]);
    }
  }
  PawlKktInfo info = pawl_kkt_info(kkt[1]);
  assert_int_equal(info.solver, PAWL_KKT_KLU);
  assert_true(info.factorizations == 300 && info.solves == 300);
  assert_true(info.full < info.factorizations);  // old pivots served at least sometimes
  for (int k = 0; k < SOLVERS; k++) {
    pawl_kkt_destroy(kkt[k]);
  }
  free(s);
  free(base);
}

// The pivots of the first factorisation become useless: a 2-by-2 S turns from diagonal to swapped.
static void test_pivots_are_renewed(void** state) {
  (void)state;
  const int start[] = {0, 2, 4}, index[] = {0, 1, 0, 1}, empty[] = {0, 0, 0};
  const PawlPattern S = {2, 2, start, index}, G = {0, 2, empty, NULL};
  PawlKkt* kkt;
  assert_int_equal(pawl_kkt_create(&S, &G, PAWL_KKT_KLU, &kkt, NULL), PAWL_OK);
  const double first[] = {1.0, 1e-3, 1e-3, 1.0}, second[] = {1e-12, 1.0, 1.0, 1e-12};
  assert_int_equal(pawl_kkt_factor(kkt, first, NULL, NULL, NULL), PAWL_OK);
  assert_int_equal(pawl_kkt_factor(kkt, first, NULL, NULL, NULL), PAWL_OK);
  assert_true(pawl_kkt_info(kkt).full == 1);
  assert_int_equal(pawl_kkt_factor(kkt, second, NULL, NULL, NULL), PAWL_OK);
  assert_true(pawl_kkt_info(kkt).full == 2);
  double x[] = {1.0, 2.0};
  pawl_kkt_solve(kkt, x, NULL);
  CHECK_NEAR(x[0], 2.0 - 1e-12, 1e-15);
  CHECK_NEAR(x[1], 1.0 - 2e-12, 1e-15);
  pawl_kkt_destroy(kkt);
}

// Old pivots that have become poor, but not useless, are kept; the solution is refined. The entry
// 500 of L would cost about 500 eps.
static void test_solutions_are_refined(void** state) {
  (void)state;
  const int start[] = {0, 2, 4}, index[] = {0, 1, 0, 1}, empty[] = {0, 0, 0};
  const PawlPattern S = {2, 2, start, index}, G = {0, 2, empty, NULL};
  PawlKkt* kkt;
  assert_int_equal(pawl_kkt_create(&S, &G, PAWL_KKT_KLU, &kkt, NULL), PAWL_OK);
  const double first[] = {1.0, 0.5, 0.5, 1.0}, second[] = {0.002, 1.0, 1.0, 1.0};
  assert_int_equal(pawl_kkt_factor(kkt, first, NULL, NULL, NULL), PAWL_OK);
  assert_int_equal(pawl_kkt_factor(kkt, second, NULL, NULL, NULL), PAWL_OK);
  assert_true(pawl_kkt_info(kkt).full == 1);
  for (int round = 0; round < 100; round++) {
    double b[2], x[2];
    fill_random(2, b);
    memcpy(x, b, sizeof b);
    pawl_kkt_solve(kkt, x, NULL);
    CHECK_NEAR(0.002 * x[0] + x[1], b[0], 1e-15);
    CHECK_NEAR(x[0] + x[1], b[1], 1e-15);
  }
  pawl_kkt_destroy(kkt);
}

// A square net of point masses in the plane joined by rods: with S diagonal, and rods of random
// directions. Entries of L and U must stay near those of a planar graph, k log k.
static void test_fill_of_a_net(void** state) {
  (void)state;
  enum { N = 24, MASSES = N * N, RODS = 2 * N * (N - 1) };
  int S_start[2 * MASSES + 1], S_index[2 * MASSES], G_start[2 * MASSES + 1], G_index[4 * RODS];
  double S[2 * MASSES], G[4 * RODS];
  int ends[RODS][2], rod = 0, count = 0;
  for (int a = 0; a < MASSES; a++) {
    for (int right = 0; right < 2; right++) {
      if (right ? a % N < N - 1 : a / N < N - 1) {
        ends[rod][0] = a;
        ends[rod++][1] = a + (right ? 1 : N);
      }
    }
  }
  for (int j = 0; j < 2 * MASSES; j++) {
    S_index[j] = S_start[j] = j;
    S[j] = 1.0;
    G_start[j] = count;
    for (int r = 0; r < RODS; r++) {
      if (ends[r][0] == j % MASSES || ends[r][1] == j % MASSES) {
        G_index[count] = r;
        G[count++] = test_random();
      }
    }
  }
  S_start[2 * MASSES] = 2 * MASSES;
  G_start[2 * MASSES] = count;
  const PawlPattern PS = {2 * MASSES, 2 * MASSES, S_start, S_index};
  const PawlPattern PG = {RODS, 2 * MASSES, G_start, G_index};
  PawlKkt* kkt;
  assert_int_equal(pawl_kkt_create(&PS, &PG, PAWL_KKT_AUTO, &kkt, NULL), PAWL_OK);
  assert_int_equal(pawl_kkt_factor(kkt, S, G, G, NULL), PAWL_OK);
  assert_true(pawl_kkt_info(kkt).nonzeros < 8 * (2 * MASSES + RODS) * (int)log2(MASSES));
  pawl_kkt_destroy(kkt);
}

// Pivots chosen with one set of active rows serve all others: a row's coordinate goes before it.
static void test_switching_keeps_pivots(void** state) {
  (void)state;
  TestSystem* s = system_random(30, 10, 0.05, true);
  PawlKkt* kkt = system_kkt(s, PAWL_KKT_KLU);
  unsigned char active[10] = {0};
  for (int round = 0; round < 100; round++) {
    double x[SYSTEM_MAX], y[SYSTEM_MAX];
    solve_and_check(kkt, s, active, x, y);
    for (int i = 0; i < 10; i++) {
      active[i] = test_random() > 0.0;
    }
  }
  assert_true(pawl_kkt_info(kkt).full == 1);
  pawl_kkt_destroy(kkt);
  free(s);
}

static bool is_factored_anew(PawlKkt* kkt, const TestSystem* s, const unsigned char* active) {
  PawlKktInfo before = pawl_kkt_info(kkt);
  assert_int_equal(system_factor_if_changed(kkt, s, active), PAWL_OK);
  PawlKktInfo after = pawl_kkt_info(kkt);
  return after.factorizations > before.factorizations;
}

// The same numbers and rows are not factored again; any other number or row is.
static void test_unchanged_is_not_factored(void** state) {
  (void)state;
  TestSystem* s = system_random(12, 5, 0.3, true);
  for (int k = 0; k < SOLVERS; k++) {
    PawlKkt* kkt = system_kkt(s, solvers[k]);
    unsigned char active[] = {1, 0, 1, 1, 0};
    double* values[] = {s->S_values, s->B_values, s->J_values};
    int counts[] = {s->S_start[12], s->G_start[12], s->G_start[12]};
    double x[SYSTEM_MAX], y[SYSTEM_MAX];
    solve_and_check(kkt, s, active, x, y);
    assert_true(is_factored_anew(kkt, s, active));  // pawl_kkt_factor keeps no numbers
    assert_false(is_factored_anew(kkt, s, active));
    for (int b = 0; b < 3; b++) {
      for (int e = 0; e < counts[b]; e++) {
        double before = values[b][e];
        values[b][e] = nextafter(before, 10.0);
        assert_true(is_factored_anew(kkt, s, active));
        values[b][e] = before;  // a band may still have the factors of these
        assert_true(is_factored_anew(kkt, s, active) || solvers[k] == PAWL_KKT_BAND);
      }
    }
    for (int i = 0; i < 5; i++) {
      active[i] ^= 1;
      assert_true(is_factored_anew(kkt, s, active));
      assert_false(is_factored_anew(kkt, s, active));
    }
    s->S_values[0] = NAN;  // a refused system leaves nothing to be taken again
    assert_int_equal(system_factor_if_changed(kkt, s, active), PAWL_RETRY);
    assert_int_equal(system_factor_if_changed(kkt, s, active), PAWL_RETRY);
    system_values(s);
    assert_true(is_factored_anew(kkt, s, active));
    void* bytes = malloc(pawl_kkt_memory_bytes(kkt));  // nor does loading
    pawl_kkt_save(kkt, bytes);
    assert_int_equal(pawl_kkt_load(kkt, bytes), PAWL_OK);
    assert_true(is_factored_anew(kkt, s, active));
    free(bytes);
    pawl_kkt_destroy(kkt);
  }
  free(s);
}

// The factorisation in use goes by its number, until another takes its place, in numbers or rows.
static void test_number_of_what_is_kept(void** state) {
  (void)state;
  TestSystem* s = system_random(12, 5, 0.3, true);
  for (int k = 0; k < SOLVERS; k++) {
    PawlKkt* kkt = system_kkt(s, solvers[k]);
    unsigned char active[] = {1, 0, 1, 1, 0}, other[] = {1, 1, 1, 1, 0};
    assert_int_equal(system_factor(kkt, s, active), PAWL_OK);
    long long first = pawl_kkt_info(kkt).current;
    assert_false(pawl_kkt_is_still(kkt, first, active));  // it is not kept
    assert_true(is_factored_anew(kkt, s, active));
    long long second = pawl_kkt_info(kkt).current;
    assert_true(second > first && pawl_kkt_is_still(kkt, second, active));
    assert_false(pawl_kkt_is_still(kkt, first, active));
    assert_false(pawl_kkt_is_still(kkt, second, other));
    assert_true(is_factored_anew(kkt, s, other));
    assert_false(pawl_kkt_is_still(kkt, second, other));
    pawl_kkt_destroy(kkt);
  }
  free(s);
}

// Two matrices with names, symmetric and not, with all rows and with few (blocks leave these to
// KLU): either is there while the other is used, with the bits of its own solutions. KLU and large
// dense matrices keep one, and bands may lay out other rows anew.
static void test_names_of_two(void** state) {
  (void)state;
  TestSystem* s[] = {system_random(14, 6, 0.2, true), NULL};
  s[1] = malloc(sizeof *s[1]);
  assert_non_null(s[1]);
  memcpy(s[1], s[0], sizeof *s[1]);
  for (int e = 0; e < s[1]->S_start[14]; e++) {
    s[1]->S_values[e] *= 1.0 + 0.1 * test_random();
  }
  for (int trial = 0; trial < 4 * 3; trial++) {
    unsigned char few[] = {0, 1, 0, 0, 0, 1}, all[] = {1, 1, 1, 1, 1, 1};
    const unsigned char* sets[] = {trial % 3 == 2 ? few : all, trial % 3 == 1 ? few : all};
    PawlKkt* kkt = system_kkt(s[0], solvers[trial / 3]);
    double x[2][SYSTEM_MAX], y[2][SYSTEM_MAX];
    long long number[2];
    assert_int_equal(pawl_kkt_keep_two(kkt), PAWL_OK);
    assert_int_equal(system_factor(kkt, s[0], all), PAWL_OK);  // the scaling of both
    for (int r = 0; r < 2; r++) {
      assert_int_equal(system_factor(kkt, s[r], sets[r]), PAWL_OK);
      pawl_kkt_name(kkt);
      number[r] = pawl_kkt_current(kkt);
      for (int i = 0; i < SYSTEM_MAX; i++) {
        x[r][i] = y[r][i] = 1.0 + i;
      }
      pawl_kkt_solve(kkt, x[r], y[r]);
    }
    assert_true(pawl_kkt_is_still(kkt, number[1], sets[1]));
    bool still = pawl_kkt_is_still(kkt, number[0], sets[0]);
    assert_true(still || trial / 3 < 2 || (trial / 3 == 2 && trial % 3 > 0));
    for (int r = 0; r < 2 && still; r++) {
      double again[SYSTEM_MAX], rows[SYSTEM_MAX];
      for (int i = 0; i < SYSTEM_MAX; i++) {
        again[i] = rows[i] = 1.0 + i;
      }
      assert_true(pawl_kkt_is_still(kkt, number[r], sets[r]));
      assert_false(pawl_kkt_holds(kkt, s[r]->S_values, s[r]->B_values, s[r]->J_values, sets[r]));
      pawl_kkt_solve(kkt, again, rows);
      assert_memory_equal(again, x[r], 14 * sizeof(double));
      assert_memory_equal(rows, y[r], 6 * sizeof(double));
    }
    pawl_kkt_destroy(kkt);
  }
  free(s[0]);
  free(s[1]);
}

// Two right sides at once give the bits of one after the other, refined and with rows off, too.
static void test_two_right_sides(void** state) {
  (void)state;
  TestSystem* s = system_random(14, 6, 0.2, false);
  for (int k = 0; k < SOLVERS; k++) {
    PawlKkt* kkt = system_kkt(s, solvers[k]);
    for (int trial = 0; trial < 2; trial++) {
      unsigned char active[] = {1, 1, 1, 0, 1, 1};
      double x[4][SYSTEM_MAX], y[4][SYSTEM_MAX];
      for (int r = 0; r < 2; r++) {
        fill_random(14, x[r]);
        fill_random(6, y[r]);
        memcpy(x[2 + r], x[r], sizeof x[r]);
        memcpy(y[2 + r], y[r], sizeof y[r]);
      }
      assert_int_equal(system_factor(kkt, s, trial == 0 ? NULL : active), PAWL_OK);
      pawl_kkt_solve(kkt, x[0], y[0]);
      pawl_kkt_solve(kkt, x[1], y[1]);
      pawl_kkt_solve_two(kkt, (double*[]){x[2], x[3]}, (double*[]){y[2], y[3]});
      for (int r = 0; r < 2; r++) {
        assert_memory_equal(x[r], x[2 + r], 14 * sizeof(double));
        assert_memory_equal(y[r], y[2 + r], 6 * sizeof(double));
      }
    }
    pawl_kkt_destroy(kkt);
  }
  free(s);
}

// Two matrices that take turns, with other rows each: a small dense solver has the factors of both,
// unless it was told that they do not come again.
static void test_dense_keeps_two(void** state) {
  (void)state;
  TestSystem* s = system_random(5, 2, 0.6, true);
  unsigned char one[] = {1, 0}, other[] = {1, 1};
  double x[SYSTEM_MAX], y[SYSTEM_MAX], b[SYSTEM_MAX], c[SYSTEM_MAX], first = s->S[0];
  fill_random(s->n, b);
  fill_random(s->m, c);
  for (int keeps = 0; keeps < 2; keeps++) {
    PawlKkt* kkt = system_kkt(s, PAWL_KKT_DENSE);
    if (!keeps) {
      pawl_kkt_keep_one(kkt);
    }
    for (int k = 0; k < 6; k++) {
      s->S[0] = k % 2 ? 2 * first : first;
      system_values(s);
      const unsigned char* active = k % 2 ? other : one;
      assert_true(is_factored_anew(kkt, s, active) == (k < 2 || !keeps));
      memcpy(x, b, sizeof b);
      memcpy(y, c, sizeof c);
      pawl_kkt_solve(kkt, x, y);
      CHECK_NEAR(system_residual(s, active, b, c, x, y), 0.0, BACKWARD);
    }
    pawl_kkt_destroy(kkt);
  }
  free(s);
}

// Positive pivots show S to be definite; a negative direction is never called definite, and neither
// is a matrix that needed row exchanges.
static void test_definite(void** state) {
  (void)state;
  const PawlPattern S = {2, 2, (int[]){0, 2, 4}, (int[]){0, 1, 0, 1}};
  const PawlPattern G = {1, 2, (int[]){0, 1, 2}, (int[]){0, 0}};
  PawlKkt* kkt;
  const double row[] = {1.0, 1.0}, definite[] = {2.0, 1.0, 1.0, 3.0},
               indefinite[] = {2.0, 3.0, 3.0, 3.0}, massless[] = {0.0, 0.0, 0.0, 3.0};
  assert_int_equal(pawl_kkt_create(&S, &G, PAWL_KKT_DENSE, &kkt, NULL), PAWL_OK);
  for (int units = -20; units <= 20; units += 20) {
    double scaled[3][4];
    for (int k = 0; k < 4; k++) {
      scaled[0][k] = ldexp(definite[k], units);
      scaled[1][k] = ldexp(indefinite[k], units);
      scaled[2][k] = ldexp(massless[k], units);
    }
    for (int k = 0; k < 3; k++) {
      assert_int_equal(pawl_kkt_factor(kkt, scaled[k], row, row, NULL), PAWL_OK);
      assert_true(pawl_kkt_is_definite(kkt) == (k == 0));
    }
  }
  pawl_kkt_destroy(kkt);
}

// A system with idle rows has the solution of one without these rows, and factors without them;
// a switch takes no memory once the pivots are chosen.
static void test_idle_rows_are_left_out(void** state) {
  (void)state;
  for (int k = 0; k < SOLVERS; k++) {
    TestSystem *s = system_random(20, 10, 0.1, true), *less = malloc(sizeof *less);
    PawlKkt* kkt = system_kkt(s, solvers[k]);
    unsigned char active[10];
    assert_int_equal(system_factor(kkt, s, NULL), PAWL_OK);
    int all = pawl_kkt_info(kkt).nonzeros;
    for (int i = 0; i < 10; i++) {
      active[i] = i < 4;
    }
    memcpy(less, s, sizeof *less);
    less->m = 4;
    for (int j = 0; j < 20; j++) {
      for (int i = 0; i < 4; i++) {
        less->has_G[i + 4 * j] = s->has_G[i + 10 * j];
        less->J[i + 4 * j] = less->B[i + 4 * j] = s->J[i + 10 * j];
      }
    }
    system_patterns(less);
    PawlKkt* small = system_kkt(less, solvers[k]);
    double x[2][SYSTEM_MAX], y[2][SYSTEM_MAX] = {{0}};
    fill_random(20, x[0]);
    memcpy(x[1], x[0], sizeof x[0]);
    long long before = pawl_alloc_count();
    for (int round = 0; round < 20; round++) {
      assert_int_equal(system_factor(kkt, s, active), PAWL_OK);
      // The sparse solver waits whether the rows stay before it finds new patterns.
      PawlKktInfo info = pawl_kkt_info(kkt);
      bool waits = solvers[k] == PAWL_KKT_KLU && round <= 2 && info.full == 1;
      assert_true(!waits || info.nonzeros == all);
    }
    assert_true(pawl_alloc_count() == before);
    assert_int_equal(system_factor(small, less, NULL), PAWL_OK);
    pawl_kkt_solve(kkt, x[0], y[0]);
    pawl_kkt_solve(small, x[1], y[1]);
    for (int j = 0; j < 20; j++) {
      CHECK_NEAR(x[0][j], x[1][j], 1e-13);
    }
    assert_true(pawl_kkt_info(kkt).nonzeros < all);
    pawl_kkt_destroy(kkt);
    pawl_kkt_destroy(small);
    free(s);
    free(less);
  }
}

// The choice between them: by size, beyond 8 unknowns by the width of a band, or the fill of the
// factors.
static void test_choice_of_solver(void** state) {
  (void)state;
  const struct {
    int n, m;
    double density;
    PawlKktSolver expected;
  } cases[] = {{2, 1, 0.0, PAWL_KKT_DENSE},
               {6, 2, 0.0, PAWL_KKT_DENSE},
               {30, 5, 0.0, PAWL_KKT_BAND},
               {60, 40, 0.05, PAWL_KKT_BLOCKS},
               {30, 5, 1.0, PAWL_KKT_DENSE}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    TestSystem* s = system_random(cases[k].n, cases[k].m, cases[k].density, false);
    PawlKkt* kkt = system_kkt(s, PAWL_KKT_AUTO);
    double x[SYSTEM_MAX], y[SYSTEM_MAX];
    assert_int_equal(pawl_kkt_info(kkt).solver, cases[k].expected);
    assert_int_equal(pawl_kkt_info(kkt).size, cases[k].n + cases[k].m);
    solve_and_check(kkt, s, NULL, x, y);
    pawl_kkt_destroy(kkt);
    free(s);
  }
}

// The dense path never allocates after creation; the sparse one only for more entries of factors.
static void test_allocates_nothing(void** state) {
  (void)state;
  TestSystem* s = system_random(15, 6, 0.2, false);
  for (int k = 0; k < SOLVERS; k++) {
    PawlKkt* kkt = system_kkt(s, solvers[k]);
    double x[SYSTEM_MAX], y[SYSTEM_MAX];
    if (k == 1) {
      solve_and_check(kkt, s, NULL, x, y);
    }
    long long before = pawl_alloc_count();
    for (int round = 0; round < 10; round++) {
      solve_and_check(kkt, s, NULL, x, y);
      s->S_values[0] = s->S[0] *= 1.1;
    }
    assert_true(pawl_alloc_count() == before);
    pawl_kkt_destroy(kkt);
  }
  free(s);
}

static void test_empty_systems(void** state) {
  (void)state;
  const int zero[] = {0, 0};
  const PawlPattern S = {0, 0, zero, NULL}, G = {0, 0, zero, NULL}, G2 = {2, 0, zero, NULL};
  for (int k = 0; k < SOLVERS; k++) {
    PawlKkt* kkt;
    assert_int_equal(pawl_kkt_create(&S, &G, solvers[k], &kkt, NULL), PAWL_OK);
    assert_int_equal(pawl_kkt_factor(kkt, NULL, NULL, NULL, NULL), PAWL_OK);
    pawl_kkt_solve(kkt, NULL, NULL);
    pawl_kkt_destroy(kkt);
    assert_int_equal(pawl_kkt_create(&S, &G2, solvers[k], &kkt, NULL), PAWL_OK);
    assert_int_equal(pawl_kkt_factor(kkt, NULL, NULL, NULL, NULL), PAWL_RETRY);
    const unsigned char off[] = {0, 0};
    assert_int_equal(pawl_kkt_factor(kkt, NULL, NULL, NULL, off), PAWL_OK);
    double y[] = {1.0, 2.0};
    pawl_kkt_solve(kkt, NULL, y);
    assert_true(y[0] == 1.0 && y[1] == 2.0);
    pawl_kkt_destroy(kkt);
  }
  pawl_kkt_destroy(NULL);
}

static void test_bad_patterns_are_refused(void** state) {
  (void)state;
  PawlError err;
  PawlKkt* kkt;
  const int start[] = {0, 1, 2}, index[] = {0, 1}, twice[] = {0, 2, 2}, same[] = {1, 1};
  const int high[] = {0, 2}, back[] = {0, 2, 1};
  const PawlPattern good = {2, 2, start, index}, wide = {1, 3, start, index};
  const PawlPattern bad[] = {
      {2, 2, twice, same}, {2, 2, start, high}, {2, 2, back, index}, {2, 1, start, index}};
  for (int k = 0; k < 4; k++) {
    assert_int_equal(pawl_kkt_create(&bad[k], &good, PAWL_KKT_AUTO, &kkt, &err), PAWL_ERROR_USAGE);
    assert_null(kkt);
    assert_non_null(strchr(err.message, 'S'));
  }
  const int three[] = {0, 1, 1, 1};
  const PawlPattern too_wide = {wide.rows, wide.cols, three, index};
  assert_int_equal(pawl_kkt_create(&good, &too_wide, PAWL_KKT_AUTO, &kkt, &err), PAWL_ERROR_USAGE);
  assert_non_null(strstr(err.message, "3 columns"));
}

// Fails each allocation in turn; nothing may leak (sanitizer) and the status must say so.
static void test_allocation_failures(void** state) {
  (void)state;
  TestSystem* s = system_random(9, 4, 0.3, false);
  PawlPattern S = {s->n, s->n, s->S_start, s->S_index}, G = {s->m, s->n, s->G_start, s->G_index};
  for (int k = 0; k < SOLVERS; k++) {
    bool done = false;
    for (int fail = 1; !done; fail++) {
      assert_true(fail < 1000);
      PawlKkt* kkt = NULL;
      pawl_alloc_fail_at(fail);
      PawlStatus status = pawl_kkt_create(&S, &G, solvers[k], &kkt, NULL);
      if (status == PAWL_OK) {
        status = system_factor(kkt, s, NULL);
        done = status == PAWL_OK;
      }
      pawl_alloc_fail_at(0);
      assert_true(status == PAWL_OK || status == PAWL_ERROR_MEMORY);
      if (kkt && status != PAWL_OK) {  // memory is back: the same object works
        assert_int_equal(system_factor(kkt, s, NULL), PAWL_OK);
      }
      pawl_kkt_destroy(kkt);
    }
  }
  free(s);
}

// Rows of one entry beside others: an arm of 8 joints, the last of which are light, with locks.
static void make_pinned(TestSystem* s) {
  static const int pinned[] = {6, 1, 7, 3};
  memset(s, 0, sizeof *s);
  s->n = 8;
  s->m = 6;
  for (int j = 0; j < s->n; j++) {
    for (int i = 0; i < s->n; i++) {
      double mass = pow(10.0, -0.5 * (i > j ? i : j));  // down to 1/3000
      s->S[i + j * s->n] = i == j ? mass : 0.3 * mass / s->n;
      s->has_S[i + j * s->n] = 1;
    }
    s->has_G[4 + j * s->m] = s->has_G[5 + j * s->m] = 1;
    s->J[4 + j * s->m] = test_random();
    s->J[5 + j * s->m] = test_random();
  }
  for (int a = 0; a < 4; a++) {
    s->has_G[a + pinned[a] * s->m] = 1;
    s->J[a + pinned[a] * s->m] = a == 2 ? -0.8 : 1.0;
  }
  memcpy(s->B, s->J, sizeof s->J);
  system_patterns(s);
  system_values(s);
}

// They need no row exchanges, what they pin is exact, and a weak one leads to the whole matrix.
static void test_rows_that_pin(void** state) {
  (void)state;
  static TestSystem s;
  static const unsigned char some[] = {1, 0, 1, 1, 0, 1};
  const unsigned char* sets[] = {NULL, some, NULL};
  double x[SYSTEM_MAX], y[SYSTEM_MAX];
  PawlKkt* kkt;
  make_pinned(&s);
  kkt = system_kkt(&s, PAWL_KKT_DENSE);
  for (int k = 0; k < 3; k++) {
    solve_and_check(kkt, &s, sets[k], x, y);
    int left = k == 1 ? 8 - 3 + 1 : 8 - 4 + 2;  // coordinates and rows
    assert_int_equal(pawl_kkt_info(kkt).nonzeros, left * left);
  }
  assert_int_equal(pawl_kkt_info(kkt).full, 0);
  double right[SYSTEM_MAX] = {0.0}, c[SYSTEM_MAX] = {0.0, 0.25};
  right[3] = 1e5;
  pawl_kkt_solve(kkt, right, c);
  assert_true(right[6] == 0.0 && right[1] == 0.25);  // exact on purpose
  s.J[0 + 6 * s.m] = s.B[0 + 6 * s.m] = 1e-3;
  system_values(&s);
  solve_and_check(kkt, &s, NULL, x, y);
  assert_int_equal(pawl_kkt_info(kkt).nonzeros, 14 * 14);
  make_pinned(&s);
  solve_and_check(kkt, &s, NULL, x, y);  // and back
  pawl_kkt_destroy(kkt);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_point_on_incline),
      cmocka_unit_test(test_random_systems),
      cmocka_unit_test(test_switching_and_changing),
      cmocka_unit_test(test_pivots_are_renewed),
      cmocka_unit_test(test_solutions_are_refined),
      cmocka_unit_test(test_choice_of_solver),
      cmocka_unit_test(test_allocates_nothing),
      cmocka_unit_test(test_empty_systems),
      cmocka_unit_test(test_bad_patterns_are_refused),
      cmocka_unit_test(test_allocation_failures),
      cmocka_unit_test(test_fill_of_a_net),
      cmocka_unit_test(test_switching_keeps_pivots),
      cmocka_unit_test(test_unchanged_is_not_factored),
      cmocka_unit_test(test_number_of_what_is_kept),
      cmocka_unit_test(test_names_of_two),
      cmocka_unit_test(test_two_right_sides),
      cmocka_unit_test(test_dense_keeps_two),
      cmocka_unit_test(test_definite),
      cmocka_unit_test(test_idle_rows_are_left_out),
      cmocka_unit_test(test_rows_that_pin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
