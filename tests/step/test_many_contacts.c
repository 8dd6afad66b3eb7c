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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_column_rests),
      cmocka_unit_test(test_column_lands),
      cmocka_unit_test(test_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
