// SPDX-License-Identifier: Apache-2.0
// As many instants in a step, and changes at an instant, as there are guards; an accumulation ends
// with a message that says what ran out.
#include "step/motion.h"

static void test_many_conditions_in_a_step(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: many\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
      "events: {'a[i=1..2100]': {when: x - i/2101}}\nsimulate: {until: 1, step: 1}\n");
  motion_start(&m, "rk4");
  motion_step(&m, 1.0);
  assert_int_equal(pawl_stepper_instants(m.stepper), 2100);
  motion_end(&m);
}

// Each lock stops a mass, whose rate is the condition of the next.
static void test_cascade_at_an_instant(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: cascade\ncoordinates: {'y[i=0..100]': {rate: 1}}\nmass: {'y[i=0..100]': 1}\n"
      "locks:\n  l[0]: {lock: 'y[0]', at: 0.5}\n"
      "  l[i=1..100]: {lock: 'y[i]', when: \"y[i-1]' - 0.5\"}\nsimulate: {until: 1}\n");
  motion_start(&m, "rk4");
  motion_step(&m, 0.45);
  motion_step(&m, 0.1);
  assert_int_equal(pawl_stepper_instants(m.stepper), 101);
  for (int k = 0; k <= 100; k++) {
    CHECK_NEAR(m.state->v[k], 0.0, 1e-14);
    CHECK_NEAR(m.state->q[k], 0.5, 1e-12);
  }
  motion_end(&m);
}

// A cam that its follower turns back again and again.
static void test_accumulation_is_named(void** unused) {
  (void)unused;
  PawlError err = {0};
  PawlStatus status = PAWL_OK;
  Motion m = motion_file("cam-follower", "j=0.5");
  motion_start(&m, "event-driven");
  for (int k = 0; k < 4000 && status == PAWL_OK; k++) {
    status = pawl_stepper_step(m.stepper, m.state, 1e-3, &err);
  }
  assert_int_equal(status, PAWL_ERROR_RUN);
  assert_non_null(strstr(err.message, "switches accumulate here, 2"));
  assert_non_null(strstr(err.message, " instants in one step; most often constraint '"));
  motion_end(&m);
}

// Two locks, each let go by the load of the other and called by its absence: all at 0.5 s, 64
// changes and 4 more for each of the 5 guards. With a least time between changes there is an end.
static void test_endless_changes_are_named(void** unused) {
  (void)unused;
  static const char text[] =
      "model: flutter\nparameters: {wait: 0}\ncoordinates: {x: {}, y: {}}\nmass: {x: 1, y: 1}\n"
      "forces: {x: 1, y: 1}\nlocks:\n"
      "  a: {lock: x, engaged: true, when: abs(lambda(b)) - 0.5, direction: up,\n"
      "      release: {at: 0.5, when: abs(lambda(b)) - 0.5, direction: down}}\n"
      "  b: {lock: y, when: abs(lambda(a)) - 0.5, direction: down, after: wait,\n"
      "      release: {when: abs(lambda(a)) - 0.5, direction: up}}\nsimulate: {until: 1}\n";
  PawlError err = {0};
  Motion m = motion_text(text);
  motion_start(&m, "rk4");
  motion_step(&m, 0.4);
  assert_int_equal(pawl_stepper_step(m.stepper, m.state, 0.2, &err), PAWL_ERROR_RUN);
  assert_string_equal(
      err.message,
      "t = 0.5: changes bring about changes without an end, 84 at this one instant; "
      "most often constraint 'a', 42 times. A least time between changes (after) "
      "ends it");
  motion_end(&m);
  const char* wait = "wait=0.1";
  m = (Motion){0};
  NEED(pawl_model_parse(text, sizeof text - 1, "test", 1, &wait, &m.model, &m.err), &m.err);
  motion_derive(&m);
  motion_start(&m, "rk4");
  motion_step(&m, 0.4);
  motion_step(&m, 0.2);
  CHECK_NEAR(m.state->t, 0.6, 1e-12);
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many_conditions_in_a_step),
      cmocka_unit_test(test_cascade_at_an_instant),
      cmocka_unit_test(test_accumulation_is_named),
      cmocka_unit_test(test_endless_changes_are_named),
  };
  return cmocka_run_group_tests_name("many instants", tests, NULL, NULL);
}
