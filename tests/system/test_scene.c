// SPDX-License-Identifier: Apache-2.0
// The numbers of a scene: which are fixed, which move, and what they are.
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "system/scene.h"

static const char text[] =
    "model: m\nparameters: {r: 2}\ncoordinates: [x, y]\nkinetic: x'^2 + y'^2\n"
    "locks: {hold: {lock: x, at: 1}}\n"
    "scene:\n"
    "  - disc: {at: [x, r], radius: r/4, of: hold}\n"
    "  - line: {points: [[x, y*t], [r, 0]]}\n"
    "  - force: {at: [x, y], vector: [lambda(hold), \"2*x'\"]}\n"
    "  - ground: {points: {for k=0..2: [k, k^2]}}\n";

static PawlModel* read_scene(void) {
  PawlModel* model = NULL;
  assert_int_equal(pawl_model_parse(text, strlen(text), "m", 0, NULL, &model, NULL), PAWL_OK);
  return model;
}

static double number(const PawlScene* scene, const double* channels, PawlNode node) {
  const double* fixed;
  int count = pawl_scene_fixed(scene, &fixed), place = pawl_scene_place(scene, node);
  assert_true(place < pawl_scene_channels(scene) && -1 - place < count);
  return place >= 0 ? channels[place] : fixed[-1 - place];
}

static void test_numbers(void** state) {
  (void)state;
  PawlModel* model = read_scene();
  PawlScene* scene = NULL;
  assert_int_equal(pawl_scene_create(model, &scene, NULL), PAWL_OK);
  assert_int_equal(pawl_scene_channels(scene), 5);  // x, y t, y, lambda, 2 x'
  const double q[] = {3, 5}, v[] = {7, 0}, lambda[] = {11};
  double channels[5];
  pawl_scene_look(scene, &(PawlLeafValues){.t = 2, .q = q, .v = v, .lambda = lambda}, channels);
  const PawlShape* s = model->shapes;
  CHECK_NEAR(number(scene, channels, s[0].points[0][0]), 3, 0);
  CHECK_NEAR(number(scene, channels, s[0].points[0][1]), 2, 0);
  CHECK_NEAR(number(scene, channels, s[0].radius), 0.5, 0);
  CHECK_NEAR(number(scene, channels, s[1].points[0][1]), 10, 0);
  CHECK_NEAR(number(scene, channels, s[2].points[1][0]), 11, 0);
  CHECK_NEAR(number(scene, channels, s[2].points[1][1]), 14, 0);
  CHECK_NEAR(number(scene, channels, s[3].points[2][1]), 4, 0);
  assert_true(pawl_scene_place(scene, s[0].points[0][1]) < 0);
  assert_string_equal(s[0].of, "hold");
  pawl_scene_destroy(scene);
  pawl_model_destroy(model);
}

static void test_failing_memory(void** state) {
  (void)state;
  PawlModel* model = read_scene();
  PawlScene* scene = NULL;
  long long n = 0;
  for (PawlStatus status = PAWL_ERROR_MEMORY; status != PAWL_OK;) {
    pawl_alloc_fail_at(++n);
    status = pawl_scene_create(model, &scene, NULL);
    assert_true(status == PAWL_OK ? scene != NULL : status == PAWL_ERROR_MEMORY && !scene);
  }
  assert_true(n > 5);
  pawl_alloc_fail_at(0);
  pawl_scene_destroy(scene);
  pawl_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers),
                                     cmocka_unit_test(test_failing_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
