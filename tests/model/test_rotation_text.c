// SPDX-License-Identifier: Apache-2.0
// Rotations as they are written: starts in three forms, names, forces, and what is refused.
#include <math.h>

#include "reading.h"

#define MODEL(start)                                                                      \
  "model: m\nparameters: {a: 0.3}\ncoordinates: {x: 1, R: {kind: rotation, start: " start \
  "}, y: 2}\n"

static void check_start(const char* text, const double p[4]) {
  PawlModel* model = read_model(text);
  assert_int_equal(model->rotation_count, 1);
  assert_int_equal(model->turning, 2);
  assert_int_equal(model->coordinate_count, 5);
  double sign = model->rotations[0].start[0] * p[0] < 0 ? -1 : 1;
  for (int k = 0; k < 4; k++) {
    CHECK_NEAR(sign * model->rotations[0].start[k], p[k], 2e-16);
  }
  pawl_model_destroy(model);
}

static void test_starts(void** state) {
  (void)state;
  double c = cos(0.15), s = sin(0.15), h = sqrt(0.5);
  check_start(MODEL(""), (const double[]){1, 0, 0, 0});
  check_start(MODEL("\"rotation([0, 2, 0], a)\""), (const double[]){c, 0, s, 0});
  check_start(MODEL("{zxz: [0, a, 0]}"), (const double[]){c, s, 0, 0});
  check_start(MODEL("{xyz: [pi/2, 0, a]}"), (const double[]){h * c, h * c, -h * s, h * s});
  check_start(MODEL("\"rotation([1, 0, 0], pi/2)*rotation([0, 0, 1], a)\""),
              (const double[]){h * c, h * c, -h * s, h * s});
  check_start(MODEL("[0, 0, 0, -2]"), (const double[]){0, 0, 0, -1});
  // Half turns, where the cosine is zero, about each axis.
  check_start(MODEL("\"rotation([1, 0, 0], pi)\""), (const double[]){0, 1, 0, 0});
  check_start(MODEL("\"rotation([0, 1, 0], pi)\""), (const double[]){0, 0, 1, 0});
  check_start(MODEL("\"rotation([0, 0, 1], pi)\""), (const double[]){0, 0, 0, 1});
}

static void test_names(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {N: 2}\n"
      "coordinates:\n"
      "  R[i=1..N]: {kind: rotation, rate: [i, 2, 3]}\n"
      "  x: R[2].omega.x + R[1].q0\n"
      "kinetic: sum(i=1..N, norm(R[i].omega)^2) + x'^2\n"
      "forces: {\"R[i=1..N]\": [i, 0, x], \"R[1]\": \"-R[1].omega\"}\n"
      "outputs: {w: \"R[2]*R[2].omega\", c: \"R[1].q0' + R[1].omega.x'\", z: \"R[2].omega.z\"}\n");
  assert_string_equal(model->coordinates[1].name, "R[1].omega.x");
  assert_string_equal(model->coordinates[6].name, "R[2].omega.z");
  assert_string_equal(model->rotations[1].quaternion_names[3], "R[2].q3");
  CHECK_NEAR(model->coordinates[0].start, 3, 0);  // 2 + 1
  CHECK_NEAR(model->coordinates[4].rate, 2, 0);
  assert_int_equal(model->term_count, 1 + 9);
  assert_int_equal(model->terms[4].target, 4);
  assert_int_equal(model->output_count, 5);
  pawl_model_destroy(model);
}

static void test_mistakes(void** state) {
  (void)state;
  REFUSED(MODEL("3"),
          "m.yaml:3:48:", "expected a rotation such as rotation([0, 0, 1], 0.3), found a number");
  REFUSED(MODEL("[1, 2, 3]"), "found a vector of 3");
  REFUSED(MODEL("[[1, 0, 0], [0, 1, 0], [0, 0, -1]]"), "this matrix is no rotation");
  REFUSED(MODEL("[0, 0, 0, 0]"), "a quaternion of length zero is no rotation");
  REFUSED(MODEL("{zzx: [1, 2, 3]}"), "expected angles about three axes, such as {zxz:");
  REFUSED(MODEL("{zxz: [1, 2]}"), "zxz: expected three angles, found a vector of 2");
  REFUSED(MODEL("\"rotation([0, 0, 1], x)\""),
          "'x' is a coordinate, but a number may use parameters only");
#define TOP "model: m\ncoordinates: {x: 1, R: {kind: rotation}}\n"
  REFUSED("model: m\ncoordinates: {R: {kind: turn}}\n", "kind 'turn': expected number, rotation");
  REFUSED("model: m\ncoordinates: {R: {kind: rotation, unit: m}}\n",
          "unknown key 'unit' in a rotation");
  REFUSED("model: m\ncoordinates: {R: {kind: rotation, guess: maybe}}\n", "guess");
  REFUSED("model: m\ncoordinates: {R: {kind: rotation, rate: [1, 2]}}\n",
          "rate: expected the angular velocity");
  REFUSED(TOP "mass: {R: [1, 2]}\n", "a rotation has one moment of inertia, or three, 2 given");
  REFUSED(TOP "mass: {R: [1, 2, 0]}\n", "the mass of 'R.omega.z' is 0, must be > 0");
  REFUSED(TOP "potential: R\n", "expected a number, found a matrix of 3 by 3");
  REFUSED(TOP "potential: R.omega.x\n", "contains rates");
  REFUSED(TOP "potential: R.omga.x\n", "unknown name 'R.omga'; did you mean 'R.omega'?");
  REFUSED(TOP "kinetic: R.omega''.x\n", "'R.omega' has no time derivative of this order");
  REFUSED(TOP "forces: {R: [1, 2]}\n", "a moment is a vector of 3, found a vector of 2");
  REFUSED(TOP "define: {R: 3}\n", "'R' is already a rotation");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_starts),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_mistakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
