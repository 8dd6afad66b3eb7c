// SPDX-License-Identifier: Apache-2.0
// What a lock holds from the instant at which it engages: keep, snap and refuse, the tolerance of
// a refusal, least moves of a snap recomputed, and what is dropped.
#include "switch/instant.h"

static const char HEAD[] =
    "model: hold\ncoordinates: {x: {start: 0.75, rate: 1}, y: {start: 0.25}}\nmass: {x: 1, y: 3}\n";

static void make(Instant* i, const char* locks) {
  char text[512];
  snprintf(text, sizeof text, "%slocks: {%s}\nsimulate: {until: 1}\n", HEAD, locks);
  instant_make(i, text, "model");
}

// (V1): the value that the expression has, in the rows of the lock that engages and no other.
static void test_keep(void** unused) {
  (void)unused;
  Instant i;
  make(&i, "a: {lock: x - 2*y, at: 1}, b: {lock: x + t, at: 1}");
  i.state->t = 0.5;
  MUST(instant_jump(&i, "a", PAWL_MODE_HELD), &i);
  CHECK_NEAR(i.state->held[instant_row(&i, "a")], 0.25, 0);
  CHECK_NEAR(i.state->held[instant_row(&i, "b")], 0, 0);
  MUST(instant_jump(&i, "b", PAWL_MODE_HELD), &i);
  CHECK_NEAR(i.state->held[instant_row(&i, "b")], 1.25, 0);
  CHECK_NEAR(i.state->held[instant_row(&i, "a")], 0.25, 0);
  Dense d = instant_dense(&i, i.state);
  CHECK_NEAR(d.g[0], 0, 0);
  CHECK_NEAR(d.g[1], 0, 0);
  MUST(instant_jump(&i, "a", PAWL_MODE_FREE), &i);
  CHECK_NEAR(i.state->held[instant_row(&i, "a")], 0, 0);
  CHECK_NEAR(i.state->held[instant_row(&i, "b")], 1.25, 0);
  instant_end(&i);
}

// (V4): x - y moves from 0.5 to 2 by 1.5, in proportion 3 : 1 of the inverse masses.
static void test_snap(void** unused) {
  (void)unused;
  Instant i;
  make(&i, "a: {lock: x - y, at: 1, on: snap, to: 2}");
  MUST(instant_jump(&i, "a", PAWL_MODE_HELD), &i);
  CHECK_NEAR(i.state->held[0], 2, 0);
  CHECK_NEAR(i.state->q[0], 0.75 + 1.5 * 0.75, 1e-14);
  CHECK_NEAR(i.state->q[1], 0.25 - 1.5 * 0.25, 1e-14);
  check_jump(&i, 1e-13);
  instant_end(&i);
}

// A curved row: dq is along M^-1 G^T of the way, the equation holds at the end.
static void test_snap_curved(void** unused) {
  (void)unused;
  Instant i;
  make(&i, "a: {lock: x^2 + y^2, at: 1, on: snap, to: 4}, b: {lock: x*y, at: 1}");
  MUST(instant_jump(&i, "a", PAWL_MODE_HELD), &i);
  double x = i.state->q[0], y = i.state->q[1];
  CHECK_NEAR(x * x + y * y, 4, 1e-14);
  assert_true(x > 0.75 && y > 0.25);
  check_jump(&i, 1e-13);
  instant_end(&i);
}

// The snap also keeps the rows in force before.
static void test_snap_beside_rows(void** unused) {
  (void)unused;
  Instant i;
  make(&i, "a: {lock: x - y, at: 1}, b: {lock: y, at: 1, on: snap, to: -1}");
  MUST(instant_jump(&i, "a", PAWL_MODE_HELD), &i);
  MUST(instant_jump(&i, "b", PAWL_MODE_HELD), &i);
  CHECK_NEAR(i.state->q[1], -1, 1e-15);
  CHECK_NEAR(i.state->q[0], -0.5, 1e-15);
  instant_end(&i);
}

static void test_snap_contradicts(void** unused) {
  (void)unused;
  Instant i;
  make(&i, "a: {lock: x, at: 1}, b: {lock: x, at: 1, on: snap, to: 5}");
  MUST(instant_jump(&i, "a", PAWL_MODE_HELD), &i);
  assert_int_equal(instant_jump(&i, "b", PAWL_MODE_HELD), PAWL_ERROR_RUN);
  assert_non_null(strstr(i.err.message, "cannot be met by a snap"));
  instant_end(&i);
}

// (V3): refused beyond PAWL_MEETS of the terms |G_ij q_j| = 0.75 + 0.25; logged, and as it was.
static void check_refuse(double offset, bool refused) {
  Instant i;
  char lock[128];
  snprintf(lock, sizeof lock, "a: {lock: x - y, when: y - 1, on: refuse, to: %.17g}", 0.5 + offset);
  make(&i, lock);
  int side = i.state->sides[0];
  double v = i.state->v[0];
  MUST(instant_jump(&i, "a", PAWL_MODE_HELD), &i);
  assert_int_equal(instant_mode(&i, "a"), refused ? PAWL_MODE_FREE : PAWL_MODE_HELD);
  assert_int_equal(i.log.count, 1);
  assert_int_equal(instant_last(&i)->refused, refused ? 0 : -1);
  assert_int_equal(i.state->active[0], !refused);
  if (refused) {
    CHECK_NEAR(i.state->held[0], 0, 0);
    CHECK_NEAR(i.state->v[0], v, 0);
    assert_int_equal(i.state->sides[0], side);
  } else {
    CHECK_NEAR(i.state->held[0], 0.5 + offset, 0);
    CHECK_NEAR(i.state->q[0] - i.state->q[1], 0.5 + offset, 1e-15);
  }
  instant_end(&i);
}

static void test_refuse(void** unused) {
  (void)unused;
  check_refuse(0, false);
  check_refuse(0.5 * PAWL_MEETS, false);
  check_refuse(-0.5 * PAWL_MEETS, false);
  check_refuse(2 * PAWL_MEETS, true);
  check_refuse(-2 * PAWL_MEETS, true);
}

// One of two that engage together refuses: the other holds, by a jump of its own.
static void test_refuse_beside(void** unused) {
  (void)unused;
  Instant i;
  make(&i, "a: {lock: x, at: 1, on: refuse, to: 3}, b: {lock: x - y, at: 1}");
  instant_keep_modes(&i);
  instant_ask(&i, "a", PAWL_MODE_HELD);
  instant_ask(&i, "b", PAWL_MODE_HELD);
  MUST(pawl_jump(&i.jump, i.state, i.next, &i.err), &i);
  assert_int_equal(instant_mode(&i, "a"), PAWL_MODE_FREE);
  assert_int_equal(instant_mode(&i, "b"), PAWL_MODE_HELD);
  CHECK_NEAR(i.state->v[0], 0.25, 1e-15);  // 1/(1 + 3)
  CHECK_NEAR(i.state->v[1], 0.25, 1e-15);
  check_jump(&i, 1e-14);
  instant_end(&i);
}

// The worst row relative to its terms, less what the motion makes in the slack.
static void test_worst(void** unused) {
  (void)unused;
  Instant i;
  const PawlValues* values;
  make(&i, "a: {lock: x - y, engaged: true}, b: {lock: 100*y, engaged: true}");
  PawlPhase phase = pawl_phase_of(i.state, false);
  double size[2], rate[2] = {0.1, 0}, none[2] = {0, 0};
  unsigned char both[2] = {1, 1}, first[2] = {1, 0};
  int row = -1;
  i.state->held[0] = 0.5 - 0.01;  // off by 0.01 of 1
  i.state->held[1] = 25 - 0.1;    // off by 0.1 of 25
  MUST(pawl_dynamics_evaluate(&i.dynamics, &phase, i.state, &values, &i.err), &i);
  double worst = pawl_hold_worst(&i.dynamics, i.state, values, both, 0, NULL, size, &row);
  assert_int_equal(row, 0);
  CHECK_NEAR(worst, 0.01, 2e-5);
  CHECK_NEAR(size[1], 25, 1e-13);
  worst = pawl_hold_worst(&i.dynamics, i.state, values, both, 0.08, rate, size, &row);
  assert_int_equal(row, 1);
  CHECK_NEAR(worst, 0.004, 1e-5);
  worst = pawl_hold_worst(&i.dynamics, i.state, values, first, 0.08, rate, size, &row);
  CHECK_NEAR(worst, 0.002, 1e-5);
  worst = pawl_hold_worst(&i.dynamics, i.state, values, first, 0.08, none, size, &row);
  CHECK_NEAR(worst, 0.01, 2e-5);
  instant_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_keep),
      cmocka_unit_test(test_snap),
      cmocka_unit_test(test_snap_curved),
      cmocka_unit_test(test_snap_beside_rows),
      cmocka_unit_test(test_snap_contradicts),
      cmocka_unit_test(test_refuse),
      cmocka_unit_test(test_refuse_beside),
      cmocka_unit_test(test_worst),
  };
  return cmocka_run_group_tests_name("hold", tests, NULL, NULL);
}
