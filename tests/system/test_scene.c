// SPDX-License-Identifier: Apache-2.0
// The numbers of a scene: which are fixed, which move, and what they are.
#include <math.h>
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

// ---- made of bodies and joints ------------------------------------------------------------------
typedef struct Look {
  PawlModel* model;
  PawlScene* scene;
  double channels[400];
} Look;

static Look look_at(const char* yaml, const double* q) {
  Look look = {0};
  PawlError err = {0};
  PawlStatus status = pawl_model_parse(yaml, strlen(yaml), "m", 0, NULL, &look.model, &err);
  assert_string_equal(err.message, "");
  assert_int_equal(status, PAWL_OK);
  assert_int_equal(pawl_scene_create(look.model, &look.scene, NULL), PAWL_OK);
  assert_true(pawl_scene_channels(look.scene) <= 400);
  pawl_scene_look(look.scene, &(PawlLeafValues){.q = q}, look.channels);
  return look;
}

// The k-th shape of a kind.
static const PawlShape* shape_of(const Look* look, PawlShapeKind kind, int k) {
  const PawlShape* shape = look->model->shapes;
  for (; shape->kind != kind || k-- > 0; shape++) {
    assert_true(shape + 1 < look->model->shapes + look->model->shape_count);
  }
  return shape;
}

static void check_point(const Look* look, const PawlShape* shape, int k, const double* expected) {
  for (int i = 0; i < (shape->spatial ? 3 : 2); i++) {
    CHECK_NEAR(number(look->scene, look->channels, shape->points[k][i]), expected[i], 1e-14);
  }
}

static void forget(Look* look) {
  pawl_scene_destroy(look->scene);
  pawl_model_destroy(look->model);
}

// The wheel has the radius of its joint and a spoke that turns with it; the bead is on the middle
// of 41 points of its curve, which turns with the plate that has it; springs have their ends, also
// those of a family and one whose name is no name of a body.
static void test_made_in_the_plane(void** state) {
  (void)state;
  Look look = look_at(
      "model: m\nmechanism: {coordinates: absolute}\nparameters: {k: 3}\nfunctions: {f(x): k*x^2}\n"
      "bodies:\n"
      "  wheel: {mass: 1, inertia: 1, start: {at: [0, 0.5]}}\n"
      "  plate: {mass: 1, inertia: 1}\n"
      "  bead: {mass: 1, inertia: 1}\n"
      "joints:\n"
      "  roll: {rolling: [ground, wheel], radius: 0.5}\n"
      "  wire: {track: [plate, bead], function: f, at: [[0, 0], [0, 0]]}\n"
      "springs:\n"
      "  t: {from: wheel.at, to: [1, 2], stiffness: 1}\n"
      "  bend: {along: plate.angle, stiffness: 1}\n"
      "  \"s[i=1..2]\": {from: [i, 0], to: bead.at, damping: 1}\n",
      (const double[]){1, 0.5, 0.3, 2, 1, 0.7, 2.5, 1.2, 0.1});
  const PawlShape* disc = shape_of(&look, PAWL_SHAPE_DISC, 0);
  check_point(&look, disc, 0, (double[]){1, 0.5});
  CHECK_NEAR(number(look.scene, look.channels, disc->radius), 0.5, 0);
  check_point(&look, shape_of(&look, PAWL_SHAPE_LINE, 1), 1,
              (double[]){1 + 0.5 * cos(0.3), 0.5 + 0.5 * sin(0.3)});
  const PawlShape* track = shape_of(&look, PAWL_SHAPE_LINE, 0);
  assert_int_equal(track->point_count, 41);
  double along = 0.5 * cos(0.7) + 0.2 * sin(0.7);  // of the bead, in the axes of the plate
  for (int k = 0; k <= 40; k++) {
    double x = along + k / 20.0 - 1.0, y = 3 * x * x;
    check_point(&look, track, k,
                (double[]){2 + x * cos(0.7) - y * sin(0.7), 1 + x * sin(0.7) + y * cos(0.7)});
  }
  check_point(&look, shape_of(&look, PAWL_SHAPE_SPRING, 0), 0, (double[]){1, 0.5});
  check_point(&look, shape_of(&look, PAWL_SHAPE_SPRING, 0), 1, (double[]){1, 2});
  check_point(&look, shape_of(&look, PAWL_SHAPE_SPRING, 2), 0, (double[]){2, 0});
  check_point(&look, shape_of(&look, PAWL_SHAPE_SPRING, 2), 1, (double[]){2.5, 1.2});
  forget(&look);
}

// A wheel is a disc across its axle, a sphere a ball; a body with a shape of its own has no other.
static void test_made_in_space(void** state) {
  (void)state;
  Look look = look_at(
      "model: m\nmechanism: {coordinates: absolute}\nbodies:\n"
      "  wheel: {mass: 1, inertia: [1, 1, 1]}\n"
      "  ball: {mass: 1, inertia: [1, 1, 1]}\n"
      "  drum: {shape: {cylinder: [0.25, 2], density: 1}}\n"
      "joints:\n"
      "  a: {rolling: [ground, wheel], radius: 0.5, axis: [0, 2, 0]}\n"
      "  b: {rolling: [ground, ball], radius: 0.75}\n"
      "  c: {rolling: [ground, drum], radius: 0.25, axis: [0, 0, 1]}\n"
      "springs: {s: {from: wheel.at, to: ball.at, stiffness: 1}}\n",
      (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 0.6, 0.8, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0});
  const PawlShape* disc = shape_of(&look, PAWL_SHAPE_DISC, 0);  // turned by 2 acos(0.6) about x
  check_point(&look, disc, 0, (double[]){1, 2, 3});
  check_point(&look, disc, 1, (double[]){0, -0.28, 0.96});
  const PawlShape* spoke = shape_of(&look, PAWL_SHAPE_LINE, 0);
  double length = 0.0, across = 0.0, arm[3];
  for (int i = 0; i < 3; i++) {
    arm[i] = number(look.scene, look.channels, spoke->points[1][i]) - (i + 1);
    length += arm[i] * arm[i];
    across += arm[i] * (double[]){0, -0.28, 0.96}[i];
  }
  CHECK_NEAR(length, 0.25, 1e-14);
  CHECK_NEAR(across, 0, 1e-14);
  CHECK_NEAR(number(look.scene, look.channels, shape_of(&look, PAWL_SHAPE_BALL, 0)->radius), 0.75,
             0);
  const PawlShape* drum = shape_of(&look, PAWL_SHAPE_CYLINDER, 0);
  check_point(&look, drum, 0, (double[]){7, 8, 8});
  check_point(&look, drum, 1, (double[]){7, 8, 10});
  check_point(&look, shape_of(&look, PAWL_SHAPE_SPRING, 0), 1, (double[]){4, 5, 6});
  int discs = 0;
  for (int k = 0; k < look.model->shape_count; k++) {
    discs += look.model->shapes[k].kind == PAWL_SHAPE_DISC;
  }
  assert_int_equal(discs, 1);
  forget(&look);
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
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers), cmocka_unit_test(test_made_in_the_plane),
      cmocka_unit_test(test_made_in_space), cmocka_unit_test(test_failing_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
