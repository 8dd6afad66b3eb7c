// SPDX-License-Identifier: Apache-2.0
// Many contacts, more than a matrix of compliances is made for: columns and balls apart against
// closed forms and against one ball alone.
#include <math.h>

#include "step/contacts.h"

static const char PILE[] =
    "model: pile\n"
    "parameters: {N: 200, drop: 0, e: 0}\n"
    "coordinates: {'y[i=1..N]': {start: drop + (2*i - 1)*0.1}}\n"
    "mass: {'y[i=1..N]': 2}\n"
    "potential: {for i=1..N: '2*10*y[i]'}\n"
    "contacts:\n"
    "  ground: {gap: 'y[1] - 0.1', restitution: e}\n"
    "  pair[i=2..N]: {gap: 'y[i] - y[i-1] - 0.2', restitution: e}\n";

static const char APART[] =
    "model: apart\n"
    "parameters: {N: 200}\n"
    "coordinates: {'y[i=1..N]': {start: 0.05 + 0.01*i}}\n"
    "mass: {'y[i=1..N]': 2}\n"
    "potential: {for i=1..N: '2*10*y[i]'}\n"
    "contacts: {'ground[i=1..N]': {gap: 'y[i]', restitution: 0.6}}\n";

// Ball i of a column at rest carries all above it, for as long as it stands.
static void test_column_rests(void** unused) {
  (void)unused;
  enum { N = 200 };
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(PILE);
    motion_run(&m, METHODS[k], 0.05, 50, NULL);
    double lambda[N];
    NEED(pawl_stepper_multipliers(m.stepper, m.state, lambda, &m.err), &m.err);
    for (int i = 0; i < N; i++) {
      CHECK_NEAR(lambda[i], 20.0 * (N - i), 1e-9 * 20 * N);
      CHECK_NEAR(m.state->q[i], (2 * i + 1) * 0.1, 1e-12 * 2 * N);
    }
    motion_end(&m);
  }
}

// A column that falls is at rest as a whole in the step in which its bottom lands.
static void test_column_lands(void** unused) {
  (void)unused;
  enum { N = 200 };
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = text_with(PILE, "drop=0.2");
    motion_run(&m, METHODS[k], 0.22, 220, NULL);
    for (int i = 0; i < N; i++) {  // moreau-jean stops it up to a step away from the ground
      CHECK_NEAR(m.state->v[i], 0.0, 1e-9);
      CHECK_NEAR(m.state->q[i], (2 * i + 1) * 0.1, k == 2 ? 2.1e-3 : 1e-10);
    }
    motion_end(&m);
  }
}

// Balls that do not meet move as each would alone, whatever the number of them.
static void test_apart(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion one = text_with(APART, "N=1"), all = text_with(APART, "N=200");
    motion_run(&one, METHODS[k], 0.4, 400, NULL);
    motion_run(&all, METHODS[k], 0.4, 400, NULL);
    CHECK_NEAR(all.state->q[0], one.state->q[0], 1e-12);
    CHECK_NEAR(all.state->v[0], one.state->v[0], 1e-10);
    motion_end(&one);
    motion_end(&all);
  }
}

#define BARS                                                                                \
  "model: bars\ncoordinates:\n  \"u[i=1..100]\": {start: 0.01, rate: -1 - i/200}\n"         \
  "mass: {\"u[i=1..100]\": 1 + i/30}\npotential:\n  - for i=2..100: 50*(u[i] - u[i-1])^2\n" \
  "contacts:\n  first: {gap: \"u[1]\", restitution: 0.3}\n"                                 \
  "  two: {gap: \"2*u[50] + u[60] + 0.01\"}\n  last: {gap: \"u[100]\"}\n"

// Rows without a coordinate in common are corrected one by one, and do as those that are solved for
// together, since `never` has a coordinate of `first`, too.                                 (N41)
static void test_row_by_row(void** unused) {
  (void)unused;
  Motion one = motion_text(BARS), all = motion_text(BARS "  never: {gap: \"u[1] + 1e3\"}\n");
  PawlCorrections of_one, of_all;
  double nu = 0.0, Lambda = 0.0;
  motion_start(&one, "nsga-pva");
  motion_start(&all, "nsga-pva");
  for (int k = 0; k < 300; k++) {
    motion_step(&one, 1e-3);
    motion_step(&all, 1e-3);
    assert_true(pawl_stepper_corrections(one.stepper, one.state, &of_one));
    assert_true(pawl_stepper_corrections(all.stepper, all.state, &of_all));
    for (int i = 0; i < 3; i++) {
      CHECK_NEAR(of_one.nu[i], of_all.nu[i], 1e-12);
      CHECK_NEAR(of_one.Lambda[i], of_all.Lambda[i], 1e-9);
      nu = fmax(nu, of_one.nu[i]);
      Lambda = fmax(Lambda, of_one.Lambda[i]);
    }
    for (int j = 0; j < one.n.v; j++) {
      CHECK_NEAR(one.state->q[j], all.state->q[j], 1e-11);
      CHECK_NEAR(one.state->v[j], all.state->v[j], 1e-9);
    }
  }
  assert_true(nu > 1e-4 && Lambda > 1.0);  // there were hits
  motion_end(&one);
  motion_end(&all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_column_rests),
      cmocka_unit_test(test_column_lands),
      cmocka_unit_test(test_apart),
      cmocka_unit_test(test_row_by_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
