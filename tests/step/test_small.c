// SPDX-License-Identifier: Apache-2.0
// Steps of small models by the kernels of system/kernels_ga.h against the same steps without: the
// same bits and the same counts, through impacts, switches and steps of another length.
#include <string.h>

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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_together), cmocka_unit_test(test_apart)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
