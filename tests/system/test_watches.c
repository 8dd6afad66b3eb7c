// SPDX-License-Identifier: Apache-2.0
// What is watched and its rates: against differences along the motion, by hand, and what they cost.
#include "system/reference.h"

static const char watched_model[] =
    "model: watched\n"
    "parameters: {k: 3}\n"
    "coordinates:\n  x: {start: 0.5}\n  y: {start: 0.25}\n  z: {}\n"
    "mass: {x: 1, y: 2, z: 1}\n"
    "locks:\n"
    "  bolt:\n"
    "    lock: x - y^2\n"
    "    when: x*y' - sin(k*t)*y\n"
    "    release: {when: exp(x)*y + cos(z*t)}\n"
    "    smooth: true\n"
    "  brake:\n"
    "    lock: z*sin(x)\n"
    "    when: t - 2\n"
    "    capacity: 2 + x^2\n"
    "    friction: 1 + x^2/2\n"
    "    release: {when: \"lambda(brake)*x + y''*z + y'^3\"}\n"
    "events:\n"
    "  fast: {when: \"x'^2 + y'^2 - k\"}\n"
    "  later: {at: 1}\n"
    "  far: {when: \"sqrt(x^2 + y^2 + 1) - 4\"}\n";

static void watches_at(void* context, const Place* p, double* y) {
  const Setup* s = context;
  const PawlValues* x = run_at(s->eval, p);
  memcpy(y, x->watch, (size_t)s->system->watch_count * sizeof(double));
}

static Setup setup_watched(unsigned mask) {
  Setup s = setup_text(watched_model);
  pawl_eval_destroy(s.eval);
  assert_int_equal(pawl_eval_create(s.system, mask, &s.eval, NULL), PAWL_OK);
  return s;
}

static bool is_condition(const PawlSystem* system, int place) {
  for (int c = 0; c < system->constraint_count; c++) {
    const PawlWatch* w = &system->watches[c];
    if (place == w->capacity || place == w->friction || place == w->to) {
      return false;
    }
  }
  return true;
}

// (E12): the derivative along t' = 1, q' = v, v' = a, with a and lambda held.
static void test_rates_are_derivatives(void** state) {
  (void)state;
  Setup s = setup_watched(PAWL_WATCHES | PAWL_WATCH_RATES);
  int count = s.system->watch_count, conditions = 0;
  Random r = {31};
  for (int repeat = 0; repeat < 5; repeat++) {
    Place p = random_place(s.system, &r);
    Difference d = difference(watches_at, &s, count, &p, s.n, (Direction){1.0, p.v, p.a});
    const double* rate = run_at(s.eval, &p)->watch_rate;
    for (int k = 0; k < count; k++) {
      if (is_condition(s.system, k)) {
        CHECK_NEAR(rate[k], d.slope[k], 1e-10 * d.scale + 10 * d.doubt[k]);
        conditions++;
      } else {
        assert_true(rate[k] == 0.0);
      }
    }
    difference_free(&d);
    place_free(&p);
  }
  assert_int_equal(conditions, 5 * 8);  // 4 of locks, 2 rates of their rows, 2 of events
  setup_free(&s);
}

// By hand: x y' - sin(k t) y, t - 2, lambda x + y'' z + y'^3 with lambda and y'' as constants.
static void test_rates_by_hand(void** state) {
  (void)state;
  Setup s = setup_watched(PAWL_WATCH_RATES);
  const PawlWatch* w = s.system->watches;
  Random r = {8};
  Place p = random_place(s.system, &r);
  const double *q = p.q, *v = p.v, *a = p.a, *rate = run_at(s.eval, &p)->watch_rate;
  double bolt = v[0] * v[1] + q[0] * a[1] - 3.0 * cos(3.0 * p.t) * q[1] - sin(3.0 * p.t) * v[1];
  double brake = p.lambda[1] * v[0] + a[1] * v[2] + 3.0 * v[1] * v[1] * a[1];
  CHECK_NEAR(rate[w[0].engage], bolt, 1e-14);
  CHECK_NEAR(rate[w[0].rate], a[0] - 2.0 * (v[1] * v[1] + q[1] * a[1]), 1e-14);
  CHECK_NEAR(rate[w[1].release], brake, 1e-14);
  assert_true(rate[w[1].engage] == 1.0);
  CHECK_NEAR(rate[s.system->event_watches[0]], 2.0 * (v[0] * a[0] + v[1] * a[1]), 1e-14);
  place_free(&p);
  setup_free(&s);
}

// Rates cost only those who ask, and the values are the same bits with them and without.
static void test_rates_are_apart(void** state) {
  (void)state;
  Setup without = setup_watched(PAWL_WATCHES),
        with = setup_watched(PAWL_WATCHES | PAWL_WATCH_RATES);
  assert_true(pawl_eval_operations(without.eval) < pawl_eval_operations(with.eval));
  Random r = {5};
  Place p = random_place(with.system, &r);
  assert_memory_equal(run_at(without.eval, &p)->watch, run_at(with.eval, &p)->watch,
                      (size_t)with.system->watch_count * sizeof(double));
  place_free(&p);
  setup_free(&without);
  setup_free(&with);
}

// A condition may have a value where its rate has none: who asks for rates alone sees that, else
// the rate is to blame, by name.
static void test_rate_without_value(void** state) {
  (void)state;
  Setup s = setup_text(
      "model: corner\ncoordinates:\n  x: {}\nmass: {x: 1}\nevents:\n  near: {when: sqrt(x)}\n");
  PawlEval *values, *rates, *both;
  assert_int_equal(pawl_eval_create(s.system, PAWL_WATCHES, &values, NULL), PAWL_OK);
  assert_int_equal(pawl_eval_create(s.system, PAWL_WATCH_RATES, &rates, NULL), PAWL_OK);
  assert_int_equal(pawl_eval_create(s.system, PAWL_WATCHES | PAWL_WATCH_RATES, &both, NULL),
                   PAWL_OK);
  double zero = 0.0, one = 1.0;
  PawlPoint corner = {.q = &zero, .v = &one, .a = &zero};
  PawlError err = {0};
  assert_int_equal(pawl_eval_run(values, &corner, &err), PAWL_OK);
  assert_int_equal(pawl_eval_run(rates, &corner, &err), PAWL_OK);
  assert_false(isfinite(pawl_eval_values(rates)->watch_rate[0]) != 0);
  assert_int_equal(pawl_eval_run(both, &corner, &err), PAWL_RETRY);
  assert_non_null(strstr(err.message, "test.yaml:6"));
  assert_non_null(strstr(err.message, "the rate of a condition"));
  pawl_eval_destroy(values);
  pawl_eval_destroy(rates);
  pawl_eval_destroy(both);
  setup_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rates_are_derivatives),
      cmocka_unit_test(test_rates_by_hand),
      cmocka_unit_test(test_rates_are_apart),
      cmocka_unit_test(test_rate_without_value),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
