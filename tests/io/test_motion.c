// SPDX-License-Identifier: Apache-2.0
// Pictures of a motion: where points are at an instant, what moves, what is held.
#include "pawl/model.h"
#include "pawl/motion.h"
#include "record.h"

static const char text[] =
    "model: slider\n"
    "coordinates: {x: , y: }\n"
    "kinetic: x'^2 + y'^2\n"
    "locks: {hold: {lock: x, at: 1}}\n"
    "scene:\n"
    "  - ground: {points: [[-1, 0], [3, 0]]}\n"
    "  - disc: {at: [x, y], radius: 0.5, of: hold}\n"
    "  - joint: {at: [1, 1]}\n"
    "  - trace: {at: [x, y]}\n"
    "  - force: {at: [x, y], vector: [0, x]}\n";

static PawlModel* model_of(const char* yaml) {
  PawlModel* model = NULL;
  PawlError err = {0};
  PawlStatus status = pawl_model_parse(yaml, strlen(yaml), "test", 0, NULL, &model, &err);
  assert_string_equal(err.message, "");
  assert_int_equal(status, PAWL_OK);
  return model;
}

// x runs from 0 to 2 in 2 s at y = 1; the lock engages at 1 s.
static PawlRecorder* slide(void) {
  const PawlColumn columns[] = {{"t", "s", PAWL_COLUMN_TIME},
                                {"x", "m", PAWL_COLUMN_COORDINATE},
                                {"y", "m", PAWL_COLUMN_COORDINATE}};
  PawlRecorder* recorder = new_record(3, columns);
  for (int k = 0; k <= 10; k++) {
    add_sample(recorder, (double[]){0.2 * k, 0.2 * k, 1.0});
  }
  add_switch(recorder, 1.0, "hold", "free", "locked");
  return recorder;
}

static char* draw(Folder* folder, const PawlModel* model, PawlMotionDef def) {
  PawlRecorder* recorder = slide();
  PawlError err = {0};
  const char* path = in_folder(folder, "motion.svg");
  PawlStatus status = pawl_motion_write(model, recorder, &def, path, &err);
  assert_string_equal(err.message, "");
  assert_int_equal(status, PAWL_OK);
  char* svg = slurp(path, NULL);
  unlink(path);
  pawl_recorder_destroy(recorder);
  return svg;
}

static int count_of(const char* svg, const char* word) {
  int count = 0;
  for (const char* at = strstr(svg, word); at; at = strstr(at + 1, word)) {
    count++;
  }
  return count;
}

// The left end of the k-th disc, whose path begins there.
static double left_of(const char* svg, int k) {
  const char* at = svg;
  for (int i = 0; i <= k; i++) {
    at = strstr(at + 1, "class=\"body\"");
    assert_non_null(at);
  }
  return strtod(strstr(at, " d=\"M") + 5, NULL);
}

// The view is 4 wide and 1.5 high (0 to 1.5) with a margin of 0.2 on all sides: 640 px for 4.4 m.
static void test_strobe(void** state) {
  PawlModel* model = model_of(text);
  PawlMotionDef def = pawl_motion_def_default();
  def.strobe = 5;
  char* svg = draw(*state, model, def);
  double scale = 640.0 / 4.4;
  assert_int_equal(count_of(svg, "class=\"body\""), 5);
  for (int k = 0; k < 5; k++) {
    CHECK_NEAR(left_of(svg, k), (0.5 * k - 0.5 + 1.2) * scale, 0.01);  // x = 0, 0.5 ... 2
  }
  assert_int_equal(count_of(svg, "class=\"body\" fill=\"#e69f00\""), 3);  // held from 1 s on
  assert_int_equal(count_of(svg, "class=\"force\""), 1);
  assert_int_equal(count_of(svg, "class=\"joint\""), 1);
  assert_int_equal(count_of(svg, "class=\"ground\""), 1);
  assert_non_null(strstr(svg, ">slider, 0 to 2 s, 5 instants<"));
  assert_null(strstr(svg, "<animate"));
  free(svg);
  pawl_model_destroy(model);
}

// 2 s in real time at 25 pictures a second; between samples it goes on evenly.
static void test_animation(void** state) {
  PawlModel* model = model_of(text);
  char* svg = draw(*state, model, pawl_motion_def_default());
  assert_int_equal(count_of(svg, "attributeName=\"d\""), 2);  // disc and force
  assert_int_equal(count_of(svg, "attributeName=\"fill\" calcMode=\"discrete\""), 1);
  assert_int_equal(count_of(svg, "dur=\"2s\""), 3);
  const char* at = strstr(strstr(svg, "attributeName=\"d\""), "values=\"") + 8;
  double first = strtod(at + 1, NULL), last = first, step = 2.0 / 49.0 * 640.0 / 4.4;
  int frames = 1;
  for (const char* next = at; *next != '"'; next++) {
    if (*next == ';') {
      double place = strtod(next + 2, NULL);
      CHECK_NEAR(place - last, step, 0.011);  // lengths have 1/100 px
      last = place;
      frames++;
    }
  }
  assert_int_equal(frames, 50);
  CHECK_NEAR(last - first, 2.0 * 640.0 / 4.4, 0.011);
  free(svg);
  pawl_model_destroy(model);
}

// ---- space --------------------------------------------------------------------------------------
// Classes of the paths in their order, o for a ball. The eye is at -x, -y and +z.
static const char* draw_order(Folder* folder, const char* shapes, int strobe, char** svg) {
  static char order[64];
  char yaml[4096];
  snprintf(yaml, sizeof yaml,
           "model: space\ncoordinates: {x: , y: }\nkinetic: x'^2 + y'^2\nscene:\n%s", shapes);
  PawlModel* model = model_of(yaml);
  PawlMotionDef def = pawl_motion_def_default();
  def.strobe = strobe;
  *svg = draw(folder, model, def);
  int count = 0;
  for (const char* at = strstr(*svg, "<path"); at; at = strstr(at + 1, "<path")) {
    const char* name = strstr(at, "class=\"") + 7;
    order[count++] =
        *name == 'b' && strchr(strstr(at, " d=\""), 'a') < strstr(at, "\"/>")  // arcs: a ball
            ? 'o'
            : *name;
  }
  order[count] = '\0';
  pawl_model_destroy(model);
  return order;
}

// Corners of a box about the origin as polygons, the far ones last in the list.
static const char box[] =
    "  - polygon: {points: [[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]]}\n"
    "  - polygon: {points: [[-1, -1, -1], [-1, 1, -1], [-1, 1, 1], [-1, -1, 1]]}\n"
    "  - polygon: {points: [[-1, -1, -1], [1, -1, -1], [1, -1, 1], [-1, -1, 1]]}\n"
    "  - polygon: {points: [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1]]}\n"
    "  - polygon: {points: [[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]]}\n"
    "  - polygon: {points: [[-1, 1, -1], [1, 1, -1], [1, 1, 1], [-1, 1, 1]]}\n";

// How bright the k-th face is: the sum of its colour.
static int light_of(const char* svg, int k) {
  for (int i = 0; i <= k; i++) {
    svg = strstr(svg + 1, "class=\"body\" fill=\"#");
    assert_non_null(svg);
  }
  long colour = strtol(strchr(svg, '#') + 1, NULL, 16);
  return (int)((colour >> 16) + (colour >> 8 & 255) + (colour & 255));
}

// Sides behind are left out; what is in the box comes before the three that are seen: top, left and
// front in the order of the list, all of different brightness, the top the brightest. An open box
// has all of its sides, those behind first.
static void test_box(void** state) {
  char yaml[2048], *svg;
  snprintf(yaml, sizeof yaml, "%s  - ball: {at: [x/100, 0, 0], radius: 0.9}\n", box);
  assert_string_equal(draw_order(*state, yaml, 1, &svg), "obbb");
  assert_true(light_of(svg, 1) > light_of(svg, 3) && light_of(svg, 3) > light_of(svg, 2));
  free(svg);
  snprintf(yaml, sizeof yaml, "  - ball: {at: [x/100, 0, 3], radius: 0.5}\n%s", box);
  assert_string_equal(draw_order(*state, yaml, 1, &svg), "bbbo");
  free(svg);
  snprintf(yaml, sizeof yaml, "%s  - ball: {at: [x/100, 2, 0], radius: 0.9}\n", box);
  assert_string_equal(draw_order(*state, yaml, 1, &svg), "obbb");
  free(svg);
  snprintf(yaml, sizeof yaml, "%s  - ball: {at: [x/100, 0, 0], radius: 0.9}\n",
           strchr(box, '\n') + 1);
  assert_string_equal(draw_order(*state, yaml, 1, &svg), "bbbobb");
  free(svg);
}

// A large floor has its middle nearer than what stands at its far end, which it does not hide; one
// that moves under it is hidden. The floor is brighter than what stands upright.
static void test_floor(void** state) {
  static const char floor[] =
      "  - polygon: {points: [[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]]}\n";
  char yaml[1024], *svg;
  snprintf(yaml, sizeof yaml, "  - ball: {at: [x, 8, 1], radius: 1}\n%s", floor);
  assert_string_equal(draw_order(*state, yaml, 1, &svg), "bo");
  free(svg);
  snprintf(yaml, sizeof yaml,  // most of a plate that sticks in the floor is over it
           "  - polygon: {points: [[x, 4, -1], [x + 1, 4, -1], [x + 1, 4, 2], [x, 4, 2]]}\n%s",
           floor);
  (void)draw_order(*state, yaml, 1, &svg);
  assert_true(light_of(svg, 0) > light_of(svg, 1));
  free(svg);
  snprintf(yaml, sizeof yaml, "%s  - ball: {at: [x, -8, -1], radius: 1}\n", floor);
  assert_string_equal(draw_order(*state, yaml, 1, &svg), "ob");
  free(svg);
}

// Lines by where they cross, at x = -1.4 of the link: it is before the line there, and its middle
// far behind it.
static void test_crossing(void** state) {
  static const char links[] =
      "  - link: {points: [[-4, 0, 2], [40, 0, -10]], radius: 0.1}\n"
      "  - line: {points: [[x/100, -3, 0], [x/100, 3, 0]]}\n";
  char* svg;
  assert_string_equal(draw_order(*state, links, 1, &svg), "mll");
  free(svg);
}

// x goes from 0 to 2: before and behind a plate at 1 that stands still. Both orders are there, one
// after the other, and what moves is in both.
static void test_turns(void** state) {
  static const char plate[] =
      "  - polygon: {points: [[1, -3, -3], [1, 3, -3], [1, 3, 3], [1, -3, 3]]}\n"
      "  - ball: {at: [x, 0, 0], radius: 0.1}\n";
  char* svg;
  (void)draw_order(*state, plate, 0, &svg);
  assert_int_equal(count_of(svg, "attributeName=\"visibility\""), 2);
  assert_int_equal(count_of(svg, "attributeName=\"d\""), 2);
  assert_int_equal(count_of(svg, "values=\"visible;hidden\""), 1);
  assert_int_equal(count_of(svg, "values=\"hidden;visible\""), 1);
  assert_non_null(strstr(svg, "keyTimes=\"0;0.5102\""));  // 25 of 49 steps
  free(svg);
  assert_string_equal(draw_order(*state, plate, 1, &svg), "ob");  // at x = 2 it is behind
  free(svg);
}

// One instant of an animation, the first and the last: as the ball passes the plate.
static void test_frames(void** state) {
  PawlModel* model = model_of(
      "model: space\ncoordinates: {x: , y: }\nkinetic: x'^2 + y'^2\nscene:\n"
      "  - polygon: {points: [[1, -3, -3], [1, 3, -3], [1, 3, 3], [1, -3, 3]]}\n"
      "  - ball: {at: [x, 0, 0], radius: 0.1}\n");
  for (int frame = 1; frame <= 50; frame += 49) {
    PawlMotionDef def = pawl_motion_def_default();
    def.frame = frame;
    char* svg = draw(*state, model, def);
    assert_int_equal(count_of(svg, "<path"), 2);
    bool ball_last = strstr(svg, "z\"/>") < strstr(svg, "0 1 0");  // behind the polygon
    assert_int_equal(ball_last, frame == 1);
    free(svg);
  }
  pawl_model_destroy(model);
}

// Along the vertical: an end, seen as an ellipse whose axes are r and r sin(0.35), on a side.
static void test_cylinder(void** state) {
  static const char cylinder[] =
      "  - cylinder: {points: [[x/100, 0, 0], [x/100, 0, 2]], radius: 1}\n";
  char* svg;
  assert_string_equal(draw_order(*state, cylinder, 1, &svg), "bb");
  assert_true(light_of(svg, 1) > light_of(svg, 0));
  const char* end = strstr(strstr(strstr(svg, "<path") + 1, "<path"), " d=\"M") + 5;
  double x = strtod(end, (char**)&end), y = strtod(end, (char**)&end), at[4][2];
  for (int k = 0; k < 4; k++) {
    end = strchr(end, 'C') + 1;
    for (int i = 0; i < 6; i++) {
      double number = strtod(end, (char**)&end);
      at[k][i % 2] = number;
    }
  }
  double scale = hypot(at[1][0] - x, at[1][1] - y) / 2.0;
  CHECK_NEAR(at[1][1], y, 0.011);
  CHECK_NEAR(hypot(at[2][0] - at[0][0], at[2][1] - at[0][1]), 2.0 * scale * sin(0.35), 0.03);
  free(svg);
}

// What stands on an end of a cylinder is before it, though behind its axis and a little inside.
static void test_standing_on_a_cylinder(void** state) {
  char* svg;
  assert_string_equal(draw_order(*state,
                                 "  - line: {points: [[x/100, 0.2, 0.9], [x/100, 0.2, 3]]}\n"
                                 "  - cylinder: {points: [[0, 0, 1], [0, 0, 0]], radius: 1}\n",
                                 1, &svg),
                      "bbm");
  free(svg);
}

static void test_refused(void** state) {
  PawlModel* model = model_of("model: bare\ncoordinates: {x: }\nmass: {x: 1}\n");
  PawlRecorder* recorder = slide();
  PawlMotionDef def = pawl_motion_def_default();
  PawlError err = {0};
  const char* path = in_folder(*state, "motion.svg");
  assert_false(pawl_model_has_scene(model));
  assert_int_equal(pawl_motion_write(model, recorder, &def, path, &err), PAWL_ERROR_USAGE);
  assert_non_null(strstr(err.message, "has no scene"));
  pawl_model_destroy(model);
  model = model_of(text);
  def.from = 3.0;
  assert_int_equal(pawl_motion_write(model, recorder, &def, path, &err), PAWL_ERROR_USAGE);
  def = (PawlMotionDef){.strobe = 1000, .to = 1.0};
  assert_int_equal(pawl_motion_write(model, recorder, &def, path, &err), PAWL_ERROR_USAGE);
  pawl_recorder_destroy(recorder);
  pawl_model_destroy(model);
}

static void test_allocation_failures(void** state) {
  PawlModel* model = model_of(text);
  PawlRecorder* recorder = slide();
  const char* path = in_folder(*state, "motion.svg");
  PawlStatus status = PAWL_ERROR_MEMORY;
  for (int n = 1; status != PAWL_OK; n++) {
    PawlMotionDef def = pawl_motion_def_default();
    pawl_alloc_fail_at(n);
    status = pawl_motion_write(model, recorder, &def, path, NULL);
    pawl_alloc_fail_at(0);
    assert_true(status == PAWL_OK || status == PAWL_ERROR_MEMORY);
    assert_true(n < 5000);
  }
  unlink(path);
  pawl_recorder_destroy(recorder);
  pawl_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_strobe),
      cmocka_unit_test(test_animation),
      cmocka_unit_test(test_box),
      cmocka_unit_test(test_floor),
      cmocka_unit_test(test_crossing),
      cmocka_unit_test(test_turns),
      cmocka_unit_test(test_frames),
      cmocka_unit_test(test_cylinder),
      cmocka_unit_test(test_standing_on_a_cylinder),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_allocation_failures),
      cmocka_unit_test(test_nothing_left_behind),
  };
  return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
