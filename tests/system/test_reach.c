// SPDX-License-Identifier: Apache-2.0
// Room up to the borders of regions (V40, V41): within it the switching functions keep their signs,
// and it is not less than it has to be where that is known.
#include <math.h>
#include <string.h>

#include "system/reach.h"
#include "system/setup.h"

static const double ROUNDING = 1e-12;

#define MODEL(where)                                                                          \
  "model: m\ncoordinates: {x: {start: 0.5}, y: {start: 0.25}, w: {}}\n"                       \
  "mass: {x: 1, y: 1, w: 1}\nparameters: {c: 2}\nconstraints:\n  track:\n    start: in\n    " \
  "modes:\n"                                                                                  \
  "      in: {where: \"" where                                                                \
  "\", equation: w = 0}\n      out: {where: w > 9, equation: w = x}\n"                        \
  "simulate: {until: 1}\n"

// A number in (-1, 1), the same in every run.
static double random_number(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / (double)(1u << 23) - 1.0;
}

static double z_at(PawlEval* eval, double t, const double* q) {
  int modes[] = {0};
  PawlPoint point = {.t = t, .q = q, .modes = modes};
  PawlError err = {0};
  assert_int_equal(pawl_eval_run(eval, &point, &err), PAWL_OK);
  return pawl_eval_values(eval)->z[0];
}

// A place at a distance of `far`, in the measure of the room, in a random direction, or along one
// coordinate.
static void move(const PawlReach* r, double far, int only, unsigned* seed, double* t, double* q) {
  double by[PAWL_REACH_PLACES], by_time = only < r->count ? 0.0 : random_number(seed);
  double sum = r->of_time * fabs(by_time);
  for (int j = 0; j < r->count; j++) {
    by[j] = only >= r->count || j == only ? random_number(seed) : 0.0;
    sum += r->slope[j] * fabs(by[j]);
  }
  *t += far / sum * by_time;
  for (int j = 0; j < r->count; j++) {
    q[r->place[j]] += far / sum * by[j];
  }
}

// Signs of the region stay at all places within the room of random ones. How much of the places
// that were positive had room.
static void check_region(const char* text) {
  enum { PLACES = 400, AROUND = 60 };
  Setup s = setup_text(text);
  PawlEval* eval;
  const PawlReach* r = s.system->reach;
  unsigned seed = 7;
  int inside = 0, outside = 0, modes[] = {0};
  assert_non_null(r);
  assert_int_equal(pawl_eval_create(s.system, PAWL_SURFACES, &eval, NULL), PAWL_OK);
  for (int k = 0; k < PLACES; k++) {
    double t = random_number(&seed), q[] = {3.0 * random_number(&seed), random_number(&seed), 0.0};
    double z = z_at(eval, t, q), room = pawl_reach_room(s.system, modes, t, q, ROUNDING);
    assert_true(z > 0.0 ? room > 0.0 : room == 0.0);
    inside += z > 0.0;
    outside += z <= 0.0;
    for (int i = 0; z > 0.0 && i < AROUND; i++) {
      double t_near = t, near[] = {q[0], q[1], q[2]};
      move(r, (i % 2 ? 1.0 : 0.5) * room, i / 2 % 8, &seed, &t_near, near);
      assert_true(z_at(eval, t_near, near) > 0.0);
    }
  }
  assert_true(inside > PLACES / 20 && outside > PLACES / 20);
  pawl_eval_destroy(eval);
  setup_free(&s);
}

static void test_signs(void** unused) {
  (void)unused;
  check_region(MODEL("x < 1"));
  check_region(MODEL("3*x - c*y/7 < 0.1"));
  check_region(MODEL("x + sin(3*x) + y < 0.2"));
  check_region(MODEL("0.2 < x < 1.5"));
  check_region(MODEL("x < 0.2 or x > 0.9"));
  check_region(MODEL("not (0.2 < x and y < 0.3)"));
  check_region(MODEL("not (0.2 < x or y < 0.3)"));
  check_region(MODEL("x < 0.5*t and y > -t"));
  check_region(MODEL("sin(2*x) < 0.3*cos(y + t) and abs(x) < 2"));
  check_region(MODEL("(x - y)*(x + 2*y)/c > 0"));
  check_region(MODEL("min(x, max(y, 0.1)) < 0.3*tanh(x)"));
}

// Of straight borders it is the distance along a coordinate.
static void check_room(const char* text, double x, double y, double expected) {
  Setup s = setup_text(text);
  double q[] = {x, y, 0.0};
  int modes[] = {0};
  CHECK_NEAR(pawl_reach_room(s.system, modes, 0.0, q, ROUNDING), expected, 1e-11);
  modes[0] = 1;
  assert_true(pawl_reach_room(s.system, modes, 0.0, q, ROUNDING) == 0.0);
  q[2] = 11.0;
  CHECK_NEAR(pawl_reach_room(s.system, modes, 0.0, q, ROUNDING), 2.0, 1e-10);
  setup_free(&s);
}

static void test_distances(void** unused) {
  (void)unused;
  check_room(MODEL("x < 1"), 0.25, 9.0, 0.75);
  check_room(MODEL("5*x < 5"), 0.25, 9.0, 0.75);
  check_room(MODEL("0.1 < x < 1"), 0.25, 9.0, 0.15);
  check_room(MODEL("0.1 < x < 1"), 0.75, 9.0, 0.25);
  check_room(MODEL("x < 0.2 or x > 0.9"), 1.4, 0.0, 0.5);
  check_room(MODEL("not (x < 0.2 and y < 0.3)"), 0.5, 0.7, 0.4);
  check_room(MODEL("x < 1 and 100*y < 30"), 0.5, 0.1, 0.2);
  check_room(MODEL("x < 1"), 1.0, 0.0, 0.0);
  check_room(MODEL("x < 1"), 2.0, 0.0, 0.0);
}

// What is not bounded by the motion of few coordinates is not asked.
static void test_none(void** unused) {
  (void)unused;
  static const char* const texts[] = {MODEL("x*y < 1 - x"), MODEL("sqrt(x + 9) < 3"),
                                      MODEL("exp(x) < 2"), MODEL("x^2 + y^2 < 1")};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    Setup s = setup_text(texts[k]);
    assert_null(s.system->reach);
    setup_free(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_signs),
      cmocka_unit_test(test_distances),
      cmocka_unit_test(test_none),
  };
  return cmocka_run_group_tests_name("room up to borders", tests, NULL, NULL);
}
