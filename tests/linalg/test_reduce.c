// SPDX-License-Identifier: Apache-2.0
// Reduced dense systems in any unit: masses and rows of any size give the same motion.
#include "linalg/reduce.h"
#include "systems.h"

static const double UNITS[] = {1, 1e-4, 1e4, 1e-9, 1e9, 1e-18, 1e18};
enum { UNIT_COUNT = sizeof UNITS / sizeof *UNITS };

// [c 0; 0 0] with the row r (0.6, 0.8) and the force c on the first: that moves by 1, the second
// has no mass and follows by the row, which carries nothing.
static void test_saddle_with_a_massless_direction(void** unused) {
  (void)unused;
  for (int a = 0; a < UNIT_COUNT; a++) {
    for (int b = 0; b < UNIT_COUNT; b++) {
      double c = UNITS[a], r = UNITS[b];
      PawlArena arena = {0};
      PawlSaddle k = {0};
      assert_true(pawl_saddle_alloc(&k, &arena, 2, 1));
      k.n = 2;
      k.m = 1;
      memset(k.M, 0, 4 * sizeof(double));
      k.M[0] = c;
      k.J[0] = 0.6 * r;
      k.J[1] = 0.8 * r;
      assert_true(pawl_saddle_factor(&k));
      double x[2] = {c, 0}, y = 0;
      pawl_saddle_solve(&k, x, &y);
      CHECK_NEAR(x[0], 1, 1e-12);
      CHECK_NEAR(x[1], -0.75, 1e-12);
      CHECK_NEAR(y * r / c, 0, 1e-12);
      pawl_arena_free(&arena);
    }
  }
}

// Two rows of very different size: the second is small, not dependent. R and the solutions belong
// to J_p and J_s whatever the sizes.
static void test_voronets_rows_of_any_size(void** unused) {
  (void)unused;
  for (int a = 0; a < UNIT_COUNT; a++) {
    for (int b = 0; b < UNIT_COUNT; b++) {
      const double r[2] = {UNITS[a], UNITS[b]};
      const double J[6] = {r[0], 2 * r[0], -r[0], 3 * r[1], r[1], r[1]};
      PawlArena arena = {0};
      PawlVoronets s = {0};
      assert_true(pawl_voronets_alloc(&s, &arena, 2, 3));
      s.m = 2;
      s.n = 3;
      assert_true(pawl_voronets_choose(&s, J));
      assert_true(pawl_voronets_factor(&s, J));
      double largest = pawl_voronets_reduce(&s, J);
      assert_true(largest > 0.0 && largest <= 2.0);
      double v[3] = {0}, w = 1.0, c[2] = {r[0], 2 * r[1]};
      pawl_voronets_expand(&s, &w, v);  // a motion that both rows allow
      for (int i = 0; i < 2; i++) {
        double along = J[3 * i] * v[0] + J[3 * i + 1] * v[1] + J[3 * i + 2] * v[2];
        CHECK_NEAR(along / r[i], 0, 1e-14);
      }
      pawl_voronets_solve(&s, c, c);
      double rest[2] = {-1, -2};  // J_p x = c, in units of the rows
      for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
          rest[i] += J[3 * i + s.column_of[k]] / r[i] * c[k];
        }
        CHECK_NEAR(rest[i], 0, 1e-14);
      }
      pawl_arena_free(&arena);
    }
  }
}

// Rows whose difference is rounding depend on each other in any unit.
static void test_voronets_dependent(void** unused) {
  (void)unused;
  for (int a = 0; a < UNIT_COUNT; a++) {
    const double r = UNITS[a], J[6] = {r, 2 * r, -r, 3, 6 * (1 + 1e-16), -3};
    PawlArena arena = {0};
    PawlVoronets s = {0};
    assert_true(pawl_voronets_alloc(&s, &arena, 2, 3));
    s.m = 2;
    s.n = 3;
    assert_false(pawl_voronets_choose(&s, J));
    s.column_of[0] = 0;
    s.column_of[1] = 1;
    assert_true(pawl_voronets_complete(&s));
    assert_false(pawl_voronets_factor(&s, J));
    pawl_arena_free(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_saddle_with_a_massless_direction),
      cmocka_unit_test(test_voronets_rows_of_any_size),
      cmocka_unit_test(test_voronets_dependent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
