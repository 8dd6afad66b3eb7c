// SPDX-License-Identifier: Apache-2.0
// Local and differential degrees of freedom, regular and singular points, where they are known.
#include <string.h>

#include "check.h"
#include "pawl/pawl.h"

typedef struct Known {
  const char* rows;  // of constraints between x, y, z
  double q[3];
  int differential, local;
  bool regular;
} Known;

static void check_point(const Known* k) {
  char text[400];
  PawlModel* model;
  PawlSystem* system;
  PawlError err = {0};
  PawlFreedom f;
  int modes[8] = {0};
  snprintf(text, sizeof text,
           "model: m\ncoordinates: {x: , y: , z: }\nmass: {x: 1, y: 1, z: 1}\nconstraints: {%s}\n",
           k->rows);
  assert_int_equal(pawl_model_parse(text, strlen(text), "m", 0, NULL, &model, &err), PAWL_OK);
  assert_int_equal(pawl_system_create(model, &system, &err), PAWL_OK);
  assert_int_equal(pawl_verify_freedom(system, 0.0, k->q, modes, &f, &err), PAWL_OK);
  if (f.differential != k->differential || f.local != k->local || f.regular != k->regular) {
    print_error("%s: differential %d, local %d, %s, %d samples\n", k->rows, f.differential, f.local,
                f.regular ? "regular" : "singular", f.samples);
    fail();
  }
  pawl_system_destroy(system);
  pawl_model_destroy(model);
}

static void test_known_sets(void** state) {
  (void)state;
  static const Known known[] = {
      {"a: x = y", {1, 1, 0}, 2, 2, true},
      {"a: x^2 + y^2 = 1", {0.6, 0.8, 3}, 2, 2, true},
      {"a: x^2 + y^2 + z^2 = 0", {0, 0, 0}, 3, 0, false},       // one point
      {"a: x*y = 0", {0, 0, 0}, 3, 2, false},                   // two planes cross
      {"a: x*y = 0", {0, 1, 0}, 2, 2, true},                    // on one of them
      {"a: x*z = 0, b: y*z = 0", {0, 0, 0}, 3, 2, false},       // a plane and a line
      {"a: x*z = 0, b: y*z = 0", {0, 0, 1}, 1, 1, true},        // on the line
      {"a: x*z = 0, b: y*z = 0", {1, 1, 0}, 2, 2, true},        // on the plane; one row too many
      {"a: x^2 = 0", {0, 1, 1}, 3, 2, true},                    // rank is deficient everywhere
      {"a: x^2 - y^3 = 0", {0, 0, 0}, 3, 2, false},             // a cusp
      {"a: x = 0, b: y = 0, c: z = 0", {0, 0, 0}, 0, 0, true},  // nothing moves
      {"a: x^2 + y^2 = 1, b: x = 1", {1, 0, 0}, 2, 1, true},    // a tangent: (x-1)^2 = 0 on V
      {"a: x = 0, b: 2*x = 0", {0, 1, 0}, 2, 2, true},          // redundant, but regular
  };
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    check_point(&known[k]);
  }
}

// The parallelogram at a change point: two branches of one degree of freedom cross.
static void test_four_bar(void** state) {
  (void)state;
  PawlModel* model;
  PawlSystem* system;
  PawlError err = {0};
  PawlFreedom f;
  assert_int_equal(pawl_model_load(PAWL_MODELS "/four-bar.yaml", 0, NULL, &model, &err), PAWL_OK);
  assert_int_equal(pawl_system_create(model, &system, &err), PAWL_OK);
  int modes[16] = {1, 0, 0}, locked[16] = {0, 0, 1};  // loop_x holds; the coupler is locked instead
  const double pi = acos(-1.0);
  double off[] = {1, 0, 1}, at[] = {0, 0, 0}, again[] = {pi, 0, pi};
  assert_int_equal(pawl_verify_freedom(system, 0, off, modes, &f, &err), PAWL_OK);
  assert_true(f.regular && f.local == 1 && f.differential == 1 && f.samples > 40);
  assert_int_equal(pawl_verify_freedom(system, 0, at, modes, &f, &err), PAWL_OK);
  assert_true(!f.regular && f.local == 1 && f.differential == 2);
  assert_int_equal(pawl_verify_freedom(system, 0, again, modes, &f, &err), PAWL_OK);
  assert_true(!f.regular && f.local == 1 && f.differential == 2);
  assert_int_equal(pawl_verify_freedom(system, 0, at, locked, &f, &err), PAWL_OK);
  assert_true(f.regular && f.local == 1 && f.differential == 1);
  pawl_system_destroy(system);
  pawl_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_sets),
      cmocka_unit_test(test_four_bar),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
