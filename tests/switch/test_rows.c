// SPDX-License-Identifier: Apache-2.0
// The row problem by hand.
#include "random_numbers.h"
#include "rows_problem.h"

// A case with unit masses, weights 1 and nothing acting.
static Case unit_case(int n, int m) {
  Case c = {.n = n, .m = m};
  for (int j = 0; j < n; j++) {
    c.H[j + j * n] = 1.0;
  }
  for (int i = 0; i < m; i++) {
    c.weight[i] = 1.0;
    c.hi[i] = INFINITY;
  }
  return c;
}

static void set_row(Case* c, int i, double lo, double hi, const double* gradient) {
  c->lo[i] = lo;
  c->hi[i] = hi;
  for (int j = 0; j < c->n; j++) {
    c->G[i + j * c->m] = gradient[j];
  }
}

static Answer solved(const Case* c) {
  Answer a = {0}, b = {0};
  assert_int_equal(solve_case(c, PAWL_ROWS_DENSE, &a), PAWL_OK);
  assert_int_equal(solve_case(c, PAWL_ROWS_SPARSE, &b), PAWL_OK);
  check_conditions(c, &a);
  assert_int_equal(a.info.conflicts, b.info.conflicts);
  if (a.exists) {
    check_same(c, &a, &b, 1e-14);
  }
  return a;
}

// A body of 1 kg pushed with 10 N is held by brakes of 3 N and 9 N: in proportion. With 2 N, too; a
// rigid row besides carries all of it.
static void test_brakes_share_in_proportion(void** state) {
  (void)state;
  static const double ALONG[] = {1.0};
  Case c = unit_case(1, 3);
  set_row(&c, 0, -3.0, 3.0, ALONG);
  set_row(&c, 1, -9.0, 9.0, ALONG);
  set_row(&c, 2, 0.0, 0.0, ALONG);
  c.weight[0] = sqrt(3.0);
  c.weight[1] = sqrt(9.0);
  c.weight[2] = INFINITY;
  c.r[0] = 10.0;
  Answer a = solved(&c);
  CHECK_NEAR(a.lambda[0], -2.5, 1e-14);
  CHECK_NEAR(a.lambda[1], -7.5, 1e-14);
  assert_int_equal(a.info.following, 1);
  assert_int_equal(a.state[1], PAWL_ROW_FOLLOWS);
  c.hi[2] = 4.0;  // pushes only the same way: of no use
  a = solved(&c);
  CHECK_NEAR(a.lambda[2], 0.0, 1e-15);
  CHECK_NEAR(a.lambda[1], -7.5, 1e-14);
  c.lo[2] = -4.0;  // takes what it can
  a = solved(&c);
  CHECK_NEAR(a.lambda[2], -4.0, 1e-15);
  CHECK_NEAR(a.lambda[0], -1.5, 1e-14);
  c.lo[2] = -INFINITY;
  a = solved(&c);
  CHECK_NEAR(a.lambda[2], -10.0, 1e-14);
  CHECK_NEAR(a.lambda[0], 0.0, 1e-14);
  c.lo[2] = c.hi[2] = 0.0;
  c.r[0] = 13.0;  // beyond 3 N + 9 N: both slip, with 1 N left for 1 kg
  a = solved(&c);
  CHECK_NEAR(a.x[0], 1.0, 1e-14);
  assert_true(a.lambda[0] == -3.0 && a.lambda[1] == -9.0);
  assert_true(a.state[0] == PAWL_ROW_LOW && a.state[1] == PAWL_ROW_LOW);
}

// A table on four legs, 8 N: over its middle all carry the same; over a leg, that leg.
static void test_table_on_four_legs(void** state) {
  (void)state;
  static const double LEGS[4][3] = {{1, -1, -1}, {1, 1, -1}, {1, 1, 1}, {1, -1, 1}};
  Case c = unit_case(3, 4);
  for (int i = 0; i < 4; i++) {
    set_row(&c, i, 0.0, INFINITY, LEGS[i]);
  }
  c.r[0] = -8.0;
  Answer a = solved(&c);
  for (int i = 0; i < 4; i++) {
    CHECK_NEAR(a.lambda[i], 2.0, 1e-14);
  }
  assert_int_equal(a.info.following, 1);
  c.r[1] = 8.0;
  c.r[2] = 8.0;
  a = solved(&c);
  CHECK_NEAR(a.lambda[0], 8.0, 1e-13);
  for (int i = 1; i < 4; i++) {
    assert_true(a.lambda[i] == 0.0 && a.w[i] == 0.0 && a.state[i] == PAWL_ROW_LOW);
  }
}

// A lock holds what a stop moves at 2: the two cannot both hold, and half of it each would do.
static void test_lock_against_a_moving_stop(void** state) {
  (void)state;
  static const double ALONG[] = {1.0, 0.0}, ACROSS[] = {0.0, 1.0};
  Case c = unit_case(2, 3);
  set_row(&c, 0, -INFINITY, INFINITY, ALONG);
  set_row(&c, 1, 0.0, INFINITY, ACROSS);
  set_row(&c, 2, 0.0, INFINITY, ALONG);
  c.b[2] = -2.0;
  Answer a = solved(&c);
  assert_int_equal(a.info.conflicts, 1);
  assert_true(a.conflict[0] && !a.conflict[1] && a.conflict[2]);
  assert_int_equal(a.state[2], PAWL_ROW_UNKNOWN);
  CHECK_NEAR(a.violation[0], 1.0, 1e-15);  // 0 + 1 = 2 - 1
  CHECK_NEAR(a.violation[2], -1.0, 1e-15);
  CHECK_NEAR(a.w[2], -2.0, 1e-15);
  c.b[2] = 2.0;
  a = solved(&c);
  assert_int_equal(a.info.conflicts, 0);
}

// A coordinate without inertia, held by an equation, or by a contact that is pressed; and by none.
static void test_coordinate_without_inertia(void** state) {
  (void)state;
  static const double SUM[] = {1.0, 1.0}, SECOND[] = {0.0, 1.0};
  Case c = unit_case(2, 2);
  Answer a = {0};
  c.H[3] = 0.0;
  set_row(&c, 0, -INFINITY, INFINITY, SUM);
  set_row(&c, 1, -1.0, 1.0, SECOND);
  c.r[0] = 3.0;
  assert_int_equal(solve_case(&c, PAWL_ROWS_DENSE, &a), PAWL_RETRY);
  assert_int_equal(solve_case(&c, PAWL_ROWS_AUTO, &a), PAWL_OK);
  CHECK_NEAR(a.x[0] + a.x[1], 0.0, 1e-15);
  check_conditions(&c, &a);
  c.lo[0] = c.hi[0] = 0.0;
  c.lo[1] = 0.0;
  c.hi[1] = INFINITY;
  c.r[1] = -2.0;
  memset(a.state, 0, sizeof a.state);
  assert_int_equal(solve_case(&c, PAWL_ROWS_AUTO, &a), PAWL_OK);
  CHECK_NEAR(a.lambda[1], 2.0, 1e-15);
  c.hi[1] = 0.0;
  assert_int_equal(solve_case(&c, PAWL_ROWS_AUTO, &a), PAWL_RETRY);
}

// The layer of compliances, with rows eliminated before: a row that they hold does not move.
static void test_compliance_of_held_row(void** state) {
  (void)state;
  static const double D[] = {2.0, 0.0, 0.0, 1e-17}, OWN[] = {2.0, 1.0};
  static const double LO[] = {0.0, 0.0}, HI[] = {INFINITY, INFINITY};
  double q[] = {-4.0, 1.0}, lambda[2], w[2];
  unsigned char states[2] = {0}, conflict[2];
  PawlRowBounds bounds = {.lo = LO, .hi = HI};
  PawlRowsResult result = {.lambda = lambda, .w = w, .state = states, .conflict = conflict};
  PawlCompliance* compliance;
  assert_int_equal(pawl_compliance_create(4, &compliance, NULL), PAWL_OK);
  assert_int_equal(pawl_compliance_set(compliance, 2, D, OWN), PAWL_OK);
  long long allocated = pawl_alloc_count();
  assert_int_equal(pawl_compliance_solve(compliance, q, NULL, &bounds, &result), PAWL_OK);
  assert_true(lambda[0] == 2.0 && lambda[1] == 0.0 && result.conflicts == 0);
  q[1] = -1.0;
  assert_int_equal(pawl_compliance_solve(compliance, q, NULL, &bounds, &result), PAWL_OK);
  assert_true(result.conflicts == 1 && !conflict[0] && conflict[1]);
  q[0] = NAN;
  assert_int_equal(pawl_compliance_solve(compliance, q, NULL, &bounds, &result), PAWL_RETRY);
  assert_int_equal(pawl_alloc_count(), allocated);
  pawl_compliance_destroy(compliance);
}

// Terms that are said to be far smaller than their sum q: a contact at rest pushes with what its
// accelerations, which are rounding, do not show. The sum itself counts.
static void test_compliance_of_small_terms(void** state) {
  (void)state;
  const double D = 40, q = -2.9e-9, size = 3.7e-24, lo = 0, hi = INFINITY;
  PawlRowBounds bounds = {.lo = &lo, .hi = &hi};
  double lambda, w;
  unsigned char found = 0;
  PawlRowsResult result = {.lambda = &lambda, .w = &w, .state = &found};
  PawlCompliance* compliance;
  assert_int_equal(pawl_compliance_create(1, &compliance, NULL), PAWL_OK);
  assert_int_equal(pawl_compliance_set(compliance, 1, &D, NULL), PAWL_OK);
  assert_int_equal(pawl_compliance_solve(compliance, &q, &size, &bounds, &result), PAWL_OK);
  CHECK_NEAR(lambda, 2.9e-9 / 40, 1e-22);
  assert_int_equal(found, PAWL_ROW_FREE);
  pawl_compliance_destroy(compliance);
}

// One contact is solved without a search where nobody asks for conflicts: to the bit what the
// search finds, from clearly open to clearly closed and between.
static void test_one_contact(void** state) {
  (void)state;
  enum { CASES = 20000 };
  Random random = {7};
  const double lo = 0, hi = INFINITY;
  PawlRowBounds bounds = {.lo = &lo, .hi = &hi};
  PawlCompliance* compliance;
  int closed = 0, touching = 0, open = 0;
  assert_int_equal(pawl_compliance_create(1, &compliance, NULL), PAWL_OK);
  for (int k = 0; k < CASES; k++) {
    double D = exp(20 * uniform(&random) - 10), size = exp(40 * uniform(&random) - 20);
    double part = whole(&random, 0, 1) ? 1e-12 : 1.0;  // of what counts as rounding, or of all
    double q = 3 * part * size * (uniform(&random) - 0.5);
    double lambda[2], w[2];
    unsigned char begin = whole(&random, 0, 1) ? PAWL_ROW_LOW : PAWL_ROW_UNKNOWN, conflict;
    unsigned char found[2] = {begin, begin};
    assert_int_equal(pawl_compliance_set(compliance, 1, &D, NULL), PAWL_OK);
    for (int i = 0; i < 2; i++) {
      PawlRowsResult result = {.lambda = &lambda[i], .w = &w[i], .state = &found[i]};
      result.conflict = i == 0 ? NULL : &conflict;
      assert_int_equal(pawl_compliance_solve(compliance, &q, &size, &bounds, &result), PAWL_OK);
      assert_true(result.conflicts == 0 && result.shared);
    }
    assert_memory_equal(&lambda[0], &lambda[1], sizeof(double));
    assert_memory_equal(&w[0], &w[1], sizeof(double));
    assert_int_equal(found[0], found[1]);
    closed += lambda[0] > 0.0;
    touching += lambda[0] == 0.0 && w[0] == 0.0;
    open += w[0] > 0.0;
  }
  assert_true(closed > CASES / 4 && touching > CASES / 8 && open > CASES / 4);
  pawl_compliance_destroy(compliance);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_brakes_share_in_proportion),
      cmocka_unit_test(test_table_on_four_legs),
      cmocka_unit_test(test_lock_against_a_moving_stop),
      cmocka_unit_test(test_coordinate_without_inertia),
      cmocka_unit_test(test_compliance_of_held_row),
      cmocka_unit_test(test_compliance_of_small_terms),
      cmocka_unit_test(test_one_contact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
