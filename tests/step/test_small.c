// SPDX-License-Identifier: Apache-2.0
// Steps of small models by the kernels of system/kernels_ga.h against the same steps without: the
// same bits and the same counts, through impacts, switches and steps of another length.
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "step/ga.h"
#include "step/motion.h"

static void check_same(const char* what, int count, const double* a, const double* b) {
  if (memcmp(a, b, (size_t)count * sizeof *a) != 0) {
    fail_msg("%s differ", what);
  }
}

// Two masses on rods and one on a spring: more coordinates than the library has sizes for.
static const char THREE[] =
    "model: three\ncoordinates: {x1: {start: 1}, y1: {}, x2: {start: 2}, y2: {}, x3: {start: 3},\n"
    "  y3: {}}\nmass: {x1: 1, y1: 1, x2: 2, y2: 2, x3: 1, y3: 1}\n"
    "potential: 9.81*(y1 + 2*y2 + y3) + 20*((x3 - x2)^2 + (y3 - y2)^2)\n"
    "constraints: {a: x1^2 + y1^2 = 1, b: (x2 - x1)^2 + (y2 - y1)^2 = 1}\nsimulate: {until: 1}\n";

// `steps` of both, one of them of half the length; no model: three masses.
static void check(const char* model, const char* method, double h, int steps) {
  Motion by_kernel = model ? motion_file(model, NULL) : motion_text(THREE);
  Motion plain = model ? motion_file(model, NULL) : motion_text(THREE);
  motion_start(&by_kernel, method);
  motion_start(&plain, method);
  assert_non_null(((PawlGa*)by_kernel.stepper->data)->small);
  ((PawlGa*)plain.stepper->data)->small = NULL;
  for (int k = 0; k < steps; k++) {
    double step = k == steps / 2 ? 0.5 * h : h;
    motion_step(&by_kernel, step);
    motion_step(&plain, step);
    const PawlState *a = by_kernel.state, *b = plain.state;
    check_same("q", by_kernel.n.q, a->q, b->q);
    check_same("v", by_kernel.n.v, a->v, b->v);
    check_same("v'", by_kernel.n.v, a->a, b->a);
    check_same("lambda", by_kernel.n.rows, a->lambda, b->lambda);
    check_same("memory", a->memory_count, a->memory, b->memory);
  }
  PawlStepperInfo a = pawl_stepper_info(by_kernel.stepper), b = pawl_stepper_info(plain.stepper);
  assert_int_equal(a.evaluations, b.evaluations);
  assert_int_equal(a.factorizations, b.factorizations);
  assert_int_equal(a.newton_iterations, b.newton_iterations);
  assert_int_equal(pawl_kkt_info(by_kernel.stepper->kkt).solves,
                   pawl_kkt_info(plain.stepper->kkt).solves);
  motion_end(&by_kernel);
  motion_end(&plain);
}

static void test_together(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pva", "ga-pva"};
  for (int k = 0; k < 2; k++) {
    check(NULL, methods[k], 1e-3, 400);
    check("pendulum", methods[k], 1e-3, 400);
    check("four-bar", methods[k], 1e-3, 400);
    check("cam-follower", methods[k], 1e-3, 400);
    check("pothole-wheel", methods[k], 2e-3, 400);
  }
  check("bouncing-pendulum", "nsga-pva", 1e-3, 1500);
}

static void test_apart(void** unused) {
  (void)unused;
  check("kinked-track", "nsga-pvv", 4e-3, 1500);
  check("table-edge", "nsga-pvv", 1e-3, 800);
  check("bouncing-ball", "nsga-pvv", 1e-3, 1500);
}

// ---- contacts that rest -------------------------------------------------------------------------
// A pendulum at 45 degrees that lies on a stop, and is drawn away from it by a force that grows:
// the stop carries 10 - 4 t until 2.5 s, when it is left.
static const char DRAWN[] =
    "model: drawn\ncoordinates: {x: {start: cos(pi/4)}, y: {start: sin(pi/4)}, p: {start: pi/4}}\n"
    "mass: {x: 1, y: 1, p: 0.1}\npotential: -10*y\nforces: {x: 4*t}\n"
    "constraints: {pin: [x = cos(p), y = sin(p)]}\n"
    "contacts: {stop: {gap: x - cos(pi/4), restitution: 0.5}}\nsimulate: {until: 3}\n";

#ifdef PAWL_SIZED_ONE  // under sanitizers, where there is no machine code: one more
enum { MOST_FACTORED = 3 };
#else
enum { MOST_FACTORED = 2 };
#endif

static double force_of(const Motion* m, int row) {
  double lambda[8];
  PawlError err = {0};
  assert_true(m->n.rows <= 8);
  assert_int_equal(pawl_stepper_multipliers(m->stepper, m->state, lambda, &err), PAWL_OK);
  return lambda[row];
}

// A contact that has pressed is guessed to press on: where it does, a step is one correction with
// two factorisations, and the contact is closed and does not pull
// (test_state.c compares the bits of such steps with those that are taken without kernels). (N44)
static void test_rest(void** unused) {
  (void)unused;
  Motion m = motion_file("bouncing-pendulum", NULL);
  motion_start(&m, "nsga-pva");
  for (int k = 0; k < 4000; k++) {
    PawlStepperInfo before = pawl_stepper_info(m.stepper);
    motion_step(&m, 1e-3);
    PawlStepperInfo now = pawl_stepper_info(m.stepper);
    if (m.state->t > 3.8) {
      assert_int_equal(now.newton_iterations - before.newton_iterations, 1);
      assert_in_range(now.factorizations - before.factorizations, 2, MOST_FACTORED);
      CHECK_NEAR(m.state->q[0], sqrt(0.5), 2e-16);  // rounding of the gap
      CHECK_NEAR(force_of(&m, 2), 10.0, 1e-7);      // m g cot(p); (N12) rings down by 0.9 a step
      assert_true(m.state->lambda[2] >= 0.0);
    }
  }
  motion_end(&m);
}

// And it is let go when it would pull: the same motion as where each step searches for sets.
static void test_lets_go(void** unused) {
  (void)unused;
  Motion by_kernel = motion_text(DRAWN), plain = motion_text(DRAWN);
  motion_start(&by_kernel, "nsga-pva");
  motion_start(&plain, "nsga-pva");
  ((PawlGa*)plain.stepper->data)->small = NULL;
  for (int k = 0; k < 3000; k++) {
    motion_step(&by_kernel, 1e-3);
    motion_step(&plain, 1e-3);
    double t = by_kernel.state->t, force = force_of(&by_kernel, 2);
    CHECK_NEAR(by_kernel.state->q[2], plain.state->q[2], 1e-9);
    CHECK_NEAR(by_kernel.state->v[2], plain.state->v[2], 1e-8);
    assert_true(force >= -1e-12 && by_kernel.state->q[0] >= sqrt(0.5) - 1e-12);
    if (t > 0.1 && t < 2.49) {
      CHECK_NEAR(force, 10.0 - 4.0 * t, 1e-2);  // (N12): the mean over a step, of order 1 in h
    }
    assert_true(t < 2.51 || force == 0.0);
  }
  assert_true(by_kernel.state->q[0] > sqrt(0.5) + 1e-3);
  motion_end(&by_kernel);
  motion_end(&plain);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_together), cmocka_unit_test(test_apart),
                                     cmocka_unit_test(test_rest), cmocka_unit_test(test_lets_go)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
