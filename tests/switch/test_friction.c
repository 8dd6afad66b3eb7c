// SPDX-License-Identifier: Apache-2.0
// Planar frictional rows: cases worked by hand (docs/theory/friction.md).
#include "friction_problem.h"

// A block of mass m at a height of half its size on a floor, seen as a point: x and y.
static Case point(double mass, double push, double weight, double mu) {
  Case c = {.n = 2, .m = 2, .blocks = 1, .r = {push, -weight}, .hi = {INFINITY, 0.0}};
  c.H[0] = c.H[3] = mass;
  c.G[0 + 1 * 2] = 1.0;  // normal: y
  c.G[1 + 0 * 2] = 1.0;  // tangential: x
  c.block[0] = (PawlFrictionBlock){.normal = 0, .tangent = {1, -1}, .mu = mu};
  return c;
}

static void test_block_sticks(void** state) {
  (void)state;
  Answer a;
  Case c = point(2.0, 3.0, 20.0, 0.25);
  solve_case(&c, false, &a);
  assert_int_equal(a.info.verdict, PAWL_FRICTION_SOLVED);
  assert_int_equal(a.block_state[0], PAWL_FRICTION_STICK);
  CHECK_NEAR(a.lambda[0], 20.0, 1e-14);
  CHECK_NEAR(a.lambda[1], -3.0, 1e-14);
  assert_true(a.w[0] == 0.0 && a.w[1] == 0.0);
}

static void test_block_slips(void** state) {
  (void)state;
  Answer a;
  for (int side = -1; side <= 1; side += 2) {
    Case c = point(2.0, side * 7.0, 20.0, 0.25);
    solve_case(&c, false, &a);
    assert_int_equal(a.info.verdict, PAWL_FRICTION_SOLVED);
    assert_int_equal(a.block_state[0], PAWL_FRICTION_SLIP);
    assert_true(a.slip[0] == side);
    CHECK_NEAR(a.lambda[1], -side * 5.0, 1e-14);
    CHECK_NEAR(a.w[1], side * 1.0, 1e-14);
  }
}

static void test_open_block_has_no_friction(void** state) {
  (void)state;
  Answer a;
  Case c = point(2.0, 7.0, -4.0, 0.25);
  solve_case(&c, false, &a);
  assert_int_equal(a.block_state[0], PAWL_FRICTION_OPEN);
  assert_true(a.lambda[0] == 0.0 && a.lambda[1] == 0.0);
  CHECK_NEAR(a.w[0], 2.0, 1e-15);
  CHECK_NEAR(a.w[1], 3.5, 1e-15);
}

// A joint with friction is pulled upwards: the bound is mu |lambda|, and lambda < 0.
static void test_joint_with_friction(void** state) {
  (void)state;
  Answer a;
  Case c = point(2.0, 7.0, -20.0, 0.25);
  c.lo[0] = -INFINITY;
  solve_case(&c, false, &a);
  assert_int_equal(a.info.verdict, PAWL_FRICTION_SOLVED);
  CHECK_NEAR(a.lambda[0], -20.0, 1e-14);
  CHECK_NEAR(a.lambda[1], -5.0, 1e-14);
  assert_true(a.slip[0] == 1.0);
}

// A rod of mass 1 and half its length 1, J = 1/3, at 60 degrees on its end, which slides with
// direction d. w_N = (1 + 3 cos^2 + 3 mu d sin cos) lambda_N + q: for d = -1 that is negative
// beyond mu = 1.75 / (3 sin cos) = 1.3472 (Painleve).
static Case rod(double mu, double push) {
  Case c = {.n = 3, .m = 2, .blocks = 1, .r = {0.0, push, 0.0}, .hi = {INFINITY, 0.0}};
  double cosine = 0.5, sine = sqrt(0.75);
  c.H[0] = c.H[4] = 1.0;
  c.H[8] = 1.0 / 3.0;
  c.G[0 + 1 * 2] = c.G[1 + 0 * 2] = 1.0;
  c.G[0 + 2 * 2] = -cosine;
  c.G[1 + 2 * 2] = sine;
  c.block[0] =
      (PawlFrictionBlock){.tangent = {1, -1}, .mu = mu, .sliding = true, .direction = {-1.0, 0.0}};
  return c;
}

static void test_rod_below_the_critical_mu(void** state) {
  (void)state;
  Answer a;
  Case c = rod(1.34, -1.0);
  solve_case(&c, true, &a);
  assert_int_equal(a.info.verdict, PAWL_FRICTION_SOLVED);
  assert_int_equal(a.info.solutions, 1);
  CHECK_NEAR(a.lambda[0], 1.0 / (1.75 - 1.34 * 1.5 * sqrt(0.75)), 1e-10);
}

static void test_rod_beyond_the_critical_mu(void** state) {
  (void)state;
  Answer a;
  Case c = rod(1.36, -1.0);
  solve_case(&c, false, &a);
  assert_int_equal(a.info.verdict, PAWL_FRICTION_NONE);
  c = rod(1.36, 1.0);  // pulled away: open, or held by its own friction
  solve_case(&c, true, &a);
  assert_int_equal(a.info.verdict, PAWL_FRICTION_SEVERAL);
  assert_int_equal(a.info.solutions, 2);
}

// Of several solutions one that is stable, wherever the search begins: the rod has opened.   (F43)
static void test_stable_one_is_taken(void** state) {
  (void)state;
  static const unsigned char starts[] = {PAWL_ROW_LOW, PAWL_ROW_FREE};
  Answer a;
  PawlFriction* f;
  Case c = rod(1.5, 1.0);
  assert_int_equal(pawl_friction_create(2, 1, &f, NULL), PAWL_OK);
  for (int k = 0; k < 2; k++) {
    memset(&a, 0, sizeof a);
    a.state[0] = starts[k];
    solve_by(f, &c, true, &a);
    assert_int_equal(a.info.verdict, PAWL_FRICTION_SEVERAL);
    assert_true(a.info.unstable);
    assert_int_equal(a.block_state[0], PAWL_FRICTION_OPEN);
    assert_true(a.lambda[0] == 0.0);
  }
  pawl_friction_destroy(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_block_sticks),
      cmocka_unit_test(test_block_slips),
      cmocka_unit_test(test_open_block_has_no_friction),
      cmocka_unit_test(test_joint_with_friction),
      cmocka_unit_test(test_rod_below_the_critical_mu),
      cmocka_unit_test(test_rod_beyond_the_critical_mu),
      cmocka_unit_test(test_stable_one_is_taken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
