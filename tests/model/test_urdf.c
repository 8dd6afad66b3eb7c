// SPDX-License-Identifier: Apache-2.0
// Robots in URDF: the model that they become, what is said of them, and what is refused.
#include "base/alloc.h"
#include "base/text.h"
#include "model/urdf_impl.h"
#include "reading.h"

#define FOLDER PAWL_MODELS "/../tests/model/urdf/"

// ---- importing ----------------------------------------------------------------------------------

typedef struct Imported {
  PawlStatus status;
  PawlError err;
  PawlText text;
  char *warnings, *notes;
} Imported;

static void add(void* context, const char* text, size_t length) {
  pawl_text_add_bytes(context, text, length);
}

static Imported import_text(const char* urdf, size_t length, PawlRobotDef def) {
  Imported i = {0};
  i.status =
      pawl_robot_import(urdf, length, "r.urdf", &def, add, &i.text, &i.warnings, &i.notes, &i.err);
  return i;
}

static void imported_free(Imported* i) {
  pawl_text_free(&i->text);
  pawl_free(i->warnings);
  pawl_free(i->notes);
}

static char* read_all(const char* path, size_t* length) {
  static char buffer[65536];
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  *length = fread(buffer, 1, sizeof buffer - 1, file);
  buffer[*length] = '\0';
  fclose(file);
  return buffer;
}

static Imported import_file(const char* path, PawlRobotDef def) {
  size_t length;
  const char* text = read_all(path, &length);
  Imported i = import_text(text, length, def);
  if (i.status != PAWL_OK) {
    print_error("%s: %s\n", path, i.err.message);
  }
  assert_int_equal(i.status, PAWL_OK);
  return i;
}

static void check_has(const char* text, const char* part) {
  if (!strstr(text, part)) {
    print_error("no '%s' in:\n%s\n", part, text);
    fail();
  }
}

static void check_lacks(const char* text, const char* part) {
  if (strstr(text, part)) {
    print_error("'%s' in:\n%s\n", part, text);
    fail();
  }
}

// Imports a file and looks for every one of the parts (ended by NULL).
static void check_text(const char* path, PawlRobotDef def, const char* const* parts) {
  Imported i = import_file(path, def);
  for (; *parts; parts++) {
    check_has(i.text.s, *parts);
  }
  imported_free(&i);
}
#define TEXT_HAS(path, def, ...) check_text((path), (def), (const char* const[]){__VA_ARGS__, NULL})

static const PawlRobotDef plain = {0}, with_limits = {.limits = true};

// ---- what a robot becomes -----------------------------------------------------------------------

static void test_arm(void** state) {
  (void)state;
  TEXT_HAS(FOLDER "arm.urdf", plain, "model: arm\n", "gravity: [0, 0, -9.81]\n",
           "  link2:\n    mass: 4\n    centre: [0.2, 0, 0.01]\n    inertia: [0.01, 0.07, 0.065]\n",
           "      box: [0.4, 0.1, 0.08]\n      at: [0.2, 0, 0]\n",  // turned by a right angle
           "  joint2:\n    revolute: [link1, link2]\n    at: [0, 0.05, 0.3]\n    turn:\n"
           "      zyx: [0, 0, -1.5707963267948966]\n    axis: [0, 0, 1]\n",
           "  joint4:\n    prismatic: [link3, link4]\n", "    damping: 3.5\n",
           "  joint6:\n    revolute: [link5, link6]\n", "    axis: [1, 0, 0]\n");
  Imported i = import_file(FOLDER "arm.urdf", plain);
  check_lacks(i.text.s, "stops:");
  check_lacks(i.text.s, "start:");
  assert_string_equal(i.warnings, "");
  imported_free(&i);
}

static void test_limits(void** state) {
  (void)state;
  TEXT_HAS(FOLDER "arm.urdf", with_limits,
           "    stops:\n      low: -2.9\n      high: 2.9\n      restitution: 0\n",
           "    start: 0.05\n    damping: 3.5\n    stops:\n      low: 0.05\n");
}

// The text that import prints, and the URDF itself, are the same model, expanded to the last digit.
static void check_round(const char* path) {
  Imported i = import_file(path, with_limits);
  PawlText direct = {0}, again = {0};
  size_t length;
  const char* urdf = read_all(path, &length);
  Imported loose = import_text(urdf, length, plain);
  assert_int_equal(pawl_model_expand(urdf, length, "r", add, &direct, &i.err), PAWL_OK);
  assert_int_equal(pawl_model_expand(loose.text.s, loose.text.length, "r", add, &again, &i.err),
                   PAWL_OK);
  assert_string_equal(direct.s, again.s);
  PawlModel* model;
  PawlStatus status = pawl_model_parse(i.text.s, i.text.length, "r.yaml", 0, NULL, &model, &i.err);
  if (status != PAWL_OK) {
    print_error("%s\n%s\n", i.err.message, i.text.s);
  }
  assert_int_equal(status, PAWL_OK);
  pawl_model_destroy(model);
  pawl_text_free(&direct);
  pawl_text_free(&again);
  imported_free(&loose);
  imported_free(&i);
}

static void test_round(void** state) {
  (void)state;
  check_round(FOLDER "arm.urdf");
  check_round(FOLDER "merge.urdf");
  check_round(FOLDER "gripper.urdf");
  check_round(FOLDER "odd.urdf");
  check_round(FOLDER "extras.urdf");
}

static void test_floating(void** state) {
  (void)state;
  PawlRobotDef free_base = {.floating = true};
  Imported fixed = import_file(FOLDER "gripper.urdf", plain),
           loose = import_file(FOLDER "gripper.urdf", free_base);
  check_has(fixed.text.s, "  palm_to_ground:\n    weld: [ground, palm]\n");
  check_lacks(loose.text.s, "weld");
  imported_free(&fixed);
  imported_free(&loose);
  size_t length;
  const char* text = read_all(FOLDER "arm.urdf", &length);
  Imported none = import_text(text, length, free_base);
  assert_int_equal(none.status, PAWL_ERROR_MODEL);
  check_has(none.err.message, "r.urdf:5:3: the base cannot float: the link 'base' has no mass");
  imported_free(&none);
}

static void test_mimic(void** state) {
  (void)state;
  // Right: 0.005 + 0.001; drive: -300 of that.
  TEXT_HAS(FOLDER "gripper.urdf", with_limits,
           "    start: 0.005\n    damping: 2\n    friction: 0.5\n",
           "  slide_right_mimic:\n    gear: [slide_right, slide_left]\n    ratio: 1\n    offset: "
           "0.001\n",
           "  drive_mimic:\n    gear: [drive, slide_right]\n    ratio: -300\n    offset: 0\n");
  Imported i = import_file(FOLDER "gripper.urdf", with_limits);
  check_lacks(strstr(i.text.s, "slide_right:"), "stops:");  // the joint that it follows has them
  check_has(i.notes, "r.urdf:14: joint 'slide_left' starts at its limit 0.005, since 0 is beyond");
  imported_free(&i);
}

// The starts of those that follow another are what it says, also where a model gives that one.
static void test_mimic_starts(void** state) {
  (void)state;
  static const char* const names[] = {"slide_left.travel", "slide_right.travel", "drive.angle"};
  static const double starts[2][3] = {{0.005, 0.006, -1.8}, {0.02, 0.021, -6.3}};
  for (int given = 0; given < 2; given++) {
    PawlModel* model;
    PawlError err = {0};
    static const char text[] =
        "model: m\ninclude: gripper.urdf\njoints: {slide_left: {start: 0.02}}\n";
    PawlStatus status =
        given ? pawl_model_parse(text, strlen(text), FOLDER "m.yaml", 0, NULL, &model, &err)
              : pawl_model_load_robot(FOLDER "gripper.urdf", &with_limits, 0, NULL, &model, &err);
    assert_int_equal(status, PAWL_OK);
    int found = 0;
    for (int k = 0; k < model->coordinate_count; k++) {
      for (int i = 0; i < 3; i++) {
        if (strcmp(model->coordinates[k].name, names[i]) == 0) {
          CHECK_NEAR(model->coordinates[k].start, starts[given][i], 1e-15);
          found++;
        }
      }
    }
    assert_int_equal(found, 3);
    pawl_model_destroy(model);
  }
}

// The cab floats from the tip of the boom, which starts at its lower limit.
static void test_start_of_free_body(void** state) {
  (void)state;
  PawlModel* model;
  PawlError err = {0};
  assert_int_equal(pawl_model_load_robot(FOLDER "extras.urdf", &with_limits, 0, NULL, &model, &err),
                   PAWL_OK);
  double expected[] = {0, -sin(0.2), cos(0.2)};
  const char* names[] = {"cab.centre.x", "cab.centre.y", "cab.centre.z"};
  int found = 0;
  for (int k = 0; k < model->coordinate_count; k++) {
    for (int i = 0; i < 3; i++) {
      if (strcmp(model->coordinates[k].name, names[i]) == 0) {
        CHECK_NEAR(model->coordinates[k].start, expected[i], 1e-15);
        found++;
      }
    }
  }
  assert_int_equal(found, 3);
  assert_int_equal(model->contact_count, 2);  // the stops of the boom
  pawl_model_destroy(model);
}

// ---- masses -------------------------------------------------------------------------------------

// 2 kg at the origin and 3 kg a metre along x, turned by a right angle about z.
static void test_add_masses(void** state) {
  (void)state;
  PawlMassive whole = {0}, part = {.mass = 3, .I = {{1, 0, 0}, {0, 2, 0}, {0, 0, 4}}};
  PawlMassive first = {.mass = 2, .I = {{5, 0, 0}, {0, 6, 0}, {0, 0, 7}}};
  const double at[3] = {1, 0, 0}, rpy[3] = {0, 0, acos(0.0)};
  PawlFrame frame = pawl_frame_rpy(at, rpy);
  pawl_massive_add(&whole, &pawl_frame_one, &first);
  pawl_massive_add(&whole, &frame, &part);
  CHECK_NEAR(whole.mass, 5, 0);
  CHECK_NEAR(whole.centre[0], 0.6, 1e-16);
  CHECK_NEAR(whole.I[0][0], 5 + 2, 1e-15);
  CHECK_NEAR(whole.I[1][1], 6 + 1 + 2 * 0.36 + 3 * 0.16, 1e-15);
  CHECK_NEAR(whole.I[2][2], 7 + 4 + 2 * 0.36 + 3 * 0.16, 1e-15);
  CHECK_NEAR(whole.I[0][1], 0, 1e-15);
}

static void test_moments(void** state) {
  (void)state;
  PawlMassive turned = {0}, body = {.mass = 1, .I = {{3, 0, 0}, {0, 1, 0}, {0, 0, 2}}};
  const double at[3] = {0, 0, 0}, rpy[3] = {0.4, -1.1, 2.5};
  PawlFrame frame = pawl_frame_rpy(at, rpy);
  double moments[3];
  pawl_massive_add(&turned, &frame, &body);
  pawl_massive_moments(&turned, moments);
  for (int k = 0; k < 3; k++) {
    CHECK_NEAR(moments[k], k + 1, 1e-14);
  }
}

// Angles of a rotation give it back, also where the pitch is a right angle and near to that.
static void test_angles(void** state) {
  (void)state;
  const double pitches[] = {
      0, 0.7, -1.5, acos(0.0), -acos(0.0), acos(0.0) - 1e-9, acos(0.0) - 1e-17};
  const double at[3] = {0, 0, 0};
  for (size_t k = 0; k < sizeof pitches / sizeof *pitches; k++) {
    const double rpy[3] = {2.1, pitches[k], -1.3};
    PawlFrame frame = pawl_frame_rpy(at, rpy);
    double zyx[3];
    pawl_frame_angles(&frame, zyx);
    PawlFrame again = pawl_frame_rpy(at, (const double[]){zyx[2], zyx[1], zyx[0]});
    for (int i = 0; i < 9; i++) {
      CHECK_NEAR(again.R[i / 3][i % 3], frame.R[i / 3][i % 3], 1e-15);
    }
  }
}

// A root without a name is the ground, which is noted.
static void test_empty_name(void** state) {
  (void)state;
  static const char text[] =
      "<robot name='r'><link name=''/><link name='a'><inertial><mass value='1'/>"
      "<inertia ixx='1' iyy='1' izz='1'/></inertial></link><link name='b'><inertial><mass "
      "value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
      "<joint name='j' type='continuous'><parent link=''/><child link='a'/></joint>"
      "<joint name='k' type='continuous'><parent link='a'/><child link='b'/>"
      "<mimic joint='j' multiplier='2'/></joint></robot>";
  PawlModel* model = read_model(text);
  check_has(pawl_model_notes(model), "'' is ground");
  assert_int_equal(model->coordinate_count, 2);
  pawl_model_destroy(model);
}

// The weight and the bracket are parts of the rotor, the pedestal stands on the ground.
static void test_merge(void** state) {
  (void)state;
  TEXT_HAS(FOLDER "merge.urdf", plain, "  world_to_ground:\n    weld: [ground, world]\n",
           "    points:\n      pedestal: [1, 2, 0.5]\n", "  rotor:\n    mass: 5\n",
           "    points:\n      bracket: [0.3, 0, 0]\n      weight: [0.3, 0.1, 0]\n",
           "  spin:\n    revolute: [world, rotor]\n    at: [1, 2.1, 0.7]\n",
           "  hinge:\n    revolute: [rotor, flap]\n");
  Imported i = import_file(FOLDER "merge.urdf", plain);
  check_lacks(i.text.s, "glue");
  check_has(i.text.s, "    shapes:\n      weight_shape:\n        sphere: 0.02\n");
  imported_free(&i);
}

// ---- remarks ------------------------------------------------------------------------------------

static void test_bad_inertia(void** state) {
  (void)state;
  Imported i = import_file(FOLDER "bad-inertia.urdf", plain);
  check_has(i.warnings,
            "r.urdf:3: link 'thin', moved by joint 'j1': the largest moment of inertia exceeds");
  check_has(i.warnings,
            "r.urdf:4: link 'wrong', moved by joint 'j2': a principal moment of inertia is "
            "negative; no body has mass 1 kg and principal moments -1, 1, 3");
  check_has(i.warnings, "r.urdf:5: link 'empty', moved by joint 'j3': the mass is not positive");
  check_lacks(i.warnings, "cured");  // with the ball that is fixed to it, all is well
  check_lacks(i.warnings, "shelf");  // does not move
  assert_int_equal(line_count(i.warnings), 3);
  check_has(i.text.s, "# r.urdf:3: link 'thin'");
  imported_free(&i);
}

// Thin rods and points are bodies, along any axes; a fault is told once, and what a model says over
// the robot is judged, too.
static void test_thin_bodies(void** state) {
  (void)state;
  static const char head[] =
      "<robot name='r'><link name='w'/><link name='a'><inertial><origin rpy='%s'/><mass "
      "value='1'/><inertia ixx='%g' ixy='0' ixz='0' iyy='%g' iyz='0' izz='%g'/></inertial></link>"
      "<joint name='j' type='continuous'><parent link='w'/><child link='a'/></joint></robot>";
  static const struct {
    const char* turn;
    double moments[3];
    int warnings;
  } robots[] = {{"0 0 0", {0, 0.1, 0.1}, 0},
                {"0.3 0.4 0.5", {0, 0.1, 0.1}, 0},
                {"0 0 0", {0, 0, 0}, 0},
                {"0 0 0", {-0.1, 0.1, 0.1}, 1},
                {"0.3 0.4 0.5", {0.1, 0.1, 0.3}, 1}};
  for (size_t k = 0; k < sizeof robots / sizeof *robots; k++) {
    char text[600];
    const double* m = robots[k].moments;
    snprintf(text, sizeof text, head, robots[k].turn, m[0], m[1], m[2]);
    PawlModel* model = read_model(text);
    assert_int_equal(line_count(pawl_model_warnings(model)), robots[k].warnings);
    pawl_model_destroy(model);
  }
  PawlModel* model;
  PawlError err = {0};
  static const char over[] =
      "model: m\ninclude: gripper.urdf\nbodies: {left: {inertia: [1, 1, 3]}}\n";
  assert_int_equal(pawl_model_parse(over, strlen(over), FOLDER "m.yaml", 0, NULL, &model, &err),
                   PAWL_OK);
  check_has(pawl_model_warnings(model), "m.yaml:3: the inertia of 'left': the largest");
  pawl_model_destroy(model);
}

static void test_left_out(void** state) {
  (void)state;
  Imported i = import_file(FOLDER "extras.urdf", plain);
  check_has(i.notes, "r.urdf: left out: 2 <transmission> (lines 20, 22)");
  check_has(i.notes, "r.urdf: left out: 1 <gazebo> (line 21)");
  check_has(i.notes, "r.urdf: left out: 1 <sensor> (line 23)");
  check_has(i.notes, "r.urdf: left out: 1 <self_collide> (line 7)");
  check_has(i.notes, "r.urdf: left out: 1 <mesh> (line 5)");
  check_has(i.notes,
            "left out of 1 joint: limits of travel (--limits makes stops of them) (line 13)");
  check_has(i.text.s,
            "# line 5: visual of link 'boom' is the mesh package://crane/meshes/boom.dae");
  check_has(i.warnings, "r.urdf:17: damping and friction of joint 'plane' are left out");
  check_has(i.text.s, "    planar: [ground, sled]\n");
  check_has(i.text.s,
            "    shapes:\n      boom_shape:\n        cylinder: [0.1, 1]\n        at: [0, 0, 0]\n"
            "        turn:\n          zyx: [0, 0, 0.3]\n");
  imported_free(&i);
}

#define INERTIAL "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
#define ONE_ARM                                                                    \
  "<link name='a'/><link name='%s'>" INERTIAL "</link><link name='%s'>" INERTIAL   \
  "</link>"                                                                        \
  "<joint name='j' type='continuous'><parent link='a'/><child link='%s'/></joint>" \
  "<joint name='k' type='fixed'><parent link='%s'/><child link='%s'/></joint></robot>"

static void test_names(void** state) {
  (void)state;
  TEXT_HAS(FOLDER "odd.urdf", plain, "model: \"odd: names # here\"\n",
           "  _6dof_joint:\n    revolute: [ground, base_link]\n",
           "  b:\n    revolute: [base_link, _6dof]\n", "  b_:\n    revolute: [_6dof, Fu_links]\n",
           "  _:\n    revolute: [Fu_links, ground_2]\n", "  t_joint:\n",
           "  base_link_joint:\n    revolute: [sin_2, base_link_2]\n");
  Imported i = import_file(FOLDER "odd.urdf", plain);
  check_has(i.notes,
            "names as expressions can have them: 'base-link' is base_link, '6dof' is _6dof");
  imported_free(&i);
}

// What is written of a robot is taken, whatever it is called, and has the same name again.
static void check_title(const char* title) {
  char urdf[600];
  int length = snprintf(urdf, sizeof urdf, "<robot name='%s'>" ONE_ARM, title, "null", "inertia",
                        "null", "null", "inertia");
  Imported i = import_text(urdf, (size_t)length, plain);
  assert_int_equal(i.status, PAWL_OK);
  PawlModel *direct = read_model(urdf), *written = read_model(i.text.s);
  assert_string_equal(pawl_model_name(written), pawl_model_name(direct));
  assert_int_equal(written->coordinate_count, 1);
  pawl_model_destroy(direct);
  pawl_model_destroy(written);
  imported_free(&i);
}

// Lines of YAML end at U+0085, U+2028 and U+2029, and it refuses other controls.
static void test_any_name(void** state) {
  (void)state;
  static const char* const titles[] = {"-",
                                       "- a",
                                       "---",
                                       "a\x7F",
                                       "\xC2\x80",
                                       "a\xC2\x85z",
                                       "a\xE2\x80\xA8z",
                                       "\xE2\x80\xA9",
                                       "null",
                                       "a: b",
                                       "\xEF\xBB\xBFz",
                                       "\xF0\x9F\x98\x80"};
  for (size_t k = 0; k < sizeof titles / sizeof *titles; k++) {
    check_title(titles[k]);
  }
}

// ---- mistakes -----------------------------------------------------------------------------------

static void test_mistakes(void** state) {
  (void)state;
#define LINKS "<robot name='r'>\n<link name='a'/><link name='b'/>\n"
#define JOINT(inside)                                                                \
  LINKS "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>" inside \
        "</joint></robot>"
  REFUSED("<robot name='r'>\n <link name='a'>\n</robot>",
          "m.yaml:3:3: this is not XML: mismatched tag");
  REFUSED("<robot name='r'><link name='a'/></robot><robot/>", "junk after document element");
  REFUSED("<robot name='r'>", "this is not XML: no element found");
  REFUSED("<sdf/>", "m.yaml:1:1: <sdf>: expected <robot>");
  REFUSED("<robot xmlns:xacro='x'><xacro:macro/></robot>", "this is a xacro file");
  REFUSED("<robot name='r'/>", "<robot> needs a <link>");
  REFUSED("<robot><link/></robot>", "<link> needs a name");
  PawlModel* model;
  PawlError err = {0};
  assert_int_equal(pawl_model_parse("", 0, "r.urdf", 0, NULL, &model, &err), PAWL_ERROR_MODEL);
  check_has(err.message, "r.urdf:1:1: this is no URDF");
  REFUSED("<robot><link name='a'/><link name='a'/></robot>", "a second link 'a'");
  REFUSED(LINKS "</robot>", "the link 'b' hangs on no joint, and neither does 'a'");
  REFUSED(LINKS "<joint name='j' type='hinge'><parent link='a'/><child link='b'/></joint></robot>",
          "m.yaml:3:1: joint 'j': unknown type 'hinge'; expected revolute");
  REFUSED(LINKS "<joint name='j' type='fixed'><parent link='a'/><child link='bb'/></joint></robot>",
          "joint 'j': there is no link 'bb'");
  REFUSED(LINKS "<joint name='j' type='fixed'><parent link='a'/></joint></robot>",
          "<joint> needs <child link>");
  REFUSED(LINKS
          "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>"
          "<joint name='k' type='fixed'><parent link='a'/><child link='b'/></joint></robot>",
          "the link 'b' hangs on joint 'j' already");
  REFUSED(LINKS
          "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>"
          "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint></robot>",
          "every link hangs on another");
  REFUSED(
      "<robot><link name='r'/><link name='a'/><link name='b'/>"
      "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>"
      "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint></robot>",
      "2 links hang on each other in a circle, not on the root 'r'");
  REFUSED(JOINT("<axis xyz='0 0 0'/>"), "m.yaml:3:68: joint 'j': the axis has no direction");
  REFUSED(JOINT("<axis xyz='0 1'/>"), "<axis> xyz \"0 1\": expected 3 numbers");
  REFUSED(JOINT("<axis xyz='0 1 0 0'/>"), "expected 3 numbers");
  REFUSED(JOINT("<origin rpy='0 nan 0'/>"), "<origin> rpy \"0 nan 0\": expected 3 numbers");
  REFUSED(JOINT("<origin rpy='0 1e999 0'/>"), "expected 3 numbers");
  REFUSED(JOINT("<origin rpy='0 ${pi} 0'/>"), "is this a xacro file?");
  REFUSED(JOINT("<dynamics damping='-1'/>"), "damping and friction must be >= 0");
  REFUSED(JOINT("<mimic joint='j'/>"), "joint 'j' mimics itself");
  REFUSED(JOINT("<mimic joint='k'/>"), "joint 'j': there is no joint 'k' to mimic");
  REFUSED(JOINT("<mimic/>"), "<mimic> needs a joint");
  REFUSED(JOINT("<mimic joint='j' multiplier='0'/>"), "so it never moves: make it fixed");
  REFUSED("<robot><link name='a'><inertial><mass value='1'/></inertial></link></robot>",
          "<inertial> needs <inertia>");
  REFUSED(
      "<robot><link name='a'><inertial><mass value='1'/><inertia ixx='1'/></inertial></link>"
      "</robot>",
      "<inertia> needs iyy", "<inertia> needs izz");
  REFUSED(
      "<robot><link name='a'><visual><geometry><box size='1 0 1'/></geometry></visual></link>"
      "</robot>",
      "<box>: sizes must be > 0");
  // Fine as a part of another model, but nothing to run.
  REFUSED("<robot><link name='a'/></robot>", "bodies: with at least one body is missing");
#undef LINKS
#undef JOINT
}

// What XML lets a document do to its reader.
static void test_hostile(void** state) {
  (void)state;
  REFUSED(
      "<?xml version='1.0'?>\n<!DOCTYPE r [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;'>"
      "<!ENTITY c '&b;&b;&b;&b;&b;&b;'>]>\n<robot name='&c;'><link name='a'/></robot>",
      "m.yaml:2:", "the document type declares entities or the like, which are not read");
  REFUSED("<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><robot name='r'>&x;</robot>",
          "which are not read");
  REFUSED("<!DOCTYPE r [<!ATTLIST link a CDATA 'b'>]><robot name='r'><link name='a'/></robot>",
          "which are not read");
  REFUSED("<robot name='&x;'><link name='a'/></robot>", "undefined entity");
  PawlText deep = {0};
  pawl_text_add(&deep, "<robot>");
  for (int k = 0; k < 100000; k++) {
    pawl_text_add(&deep, "<gazebo>");
  }
  REFUSED(deep.s, "elements are nested more than 64 deep");
  pawl_text_free(&deep);
}

// Every failing allocation ends in a message, and nothing stays behind (under the sanitizers).
static void test_failing_allocations(void** state) {
  (void)state;
  const char* files[] = {FOLDER "extras.urdf", FOLDER "odd.urdf", FOLDER "gripper.urdf"};
  for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
    size_t length;
    const char* text = read_all(files[f], &length);
    PawlModel* model;
    PawlError err = {0};
    long long before = pawl_alloc_count();
    assert_int_equal(pawl_model_parse(text, length, "r", 0, NULL, &model, &err), PAWL_OK);
    long long total = pawl_alloc_count() - before;
    pawl_model_destroy(model);
    for (long long n = 1; n <= total; n++) {
      pawl_alloc_fail_at(n);
      PawlStatus status = pawl_model_parse(text, length, "r", 0, NULL, &model, &err);
      pawl_alloc_fail_at(0);
      if (status != PAWL_ERROR_MEMORY) {
        print_error("allocation %lld of %lld: %s\n", n, total, err.message);
      }
      assert_int_equal(status, PAWL_ERROR_MEMORY);
      assert_null(model);
    }
  }
}

// ---- includes -----------------------------------------------------------------------------------

static int find_coordinate(const PawlModel* model, const char* name) {
  for (int k = 0; k < model->coordinate_count; k++) {
    if (strcmp(model->coordinates[k].name, name) == 0) {
      return k;
    }
  }
  return -1;
}

static double parameter_of(const PawlModel* model, const char* name) {
  for (int k = 0; k < model->parameter_count; k++) {
    if (strcmp(model->parameters[k].name, name) == 0) {
      return model->parameters[k].value;
    }
  }
  return NAN;
}

// Locks in the including model; what it says of bodies and joints stands over the robot's.
static void test_include(void** state) {
  (void)state;
  PawlModel* model = read_model("model: m\ninclude: " FOLDER
                                "arm.urdf\n"
                                "bodies: {link6: {mass: 3}, ground: {points: {here: [0, 0, 1]}}}\n"
                                "joints: {joint2: {start: 0.5, brake: {capacity: 40, at: 1}}}\n"
                                "locks: {hold: {lock: joint3.angle, at: 0.5}}\n"
                                "outputs: {p: ground.here.z}\n");
  assert_int_equal(model->coordinate_count, 6);
  CHECK_NEAR(parameter_of(model, "link6.mass"), 3, 0);
  CHECK_NEAR(parameter_of(model, "link5.mass"), 1, 0);
  CHECK_NEAR(model->coordinates[find_coordinate(model, "joint2.angle")].start, 0.5, 0);
  assert_int_equal(model->constraint_count, 2);
  bool falls = false;
  for (int k = 0; k < model->term_count; k++) {
    falls |= model->terms[k].kind == PAWL_TERM_POTENTIAL;  // the gravity of the robot came along
  }
  assert_true(falls);
  pawl_model_destroy(model);
}

// A robot with a moment of inertia that no body has is read all the same.
static void test_include_bad_inertia(void** state) {
  (void)state;
  PawlModel* model = read_model("model: m\ninclude: " FOLDER "negative-moment.urdf\n");
  check_has(pawl_model_warnings(model), "link 'wrong', moved by joint 'j2'");
  pawl_model_destroy(model);
}

static void test_include_with_prefix(void** state) {
  (void)state;
  PawlModel* model = read_model("model: m\ninclude: {left: " FOLDER "merge.urdf, right: " FOLDER
                                "merge.urdf}\n"
                                "mechanism: {gravity: [0, 0, 0]}\n"
                                "joints: {right_hinge: {lock: {at: 1}}}\n"
                                "outputs: {p: left_rotor.weight, q: right_world.pedestal}\n");
  assert_int_equal(model->coordinate_count, 4);
  assert_true(find_coordinate(model, "left_spin.angle") >= 0);
  assert_true(find_coordinate(model, "right_hinge.angle") >= 0);
  assert_string_equal(model->constraints[0].name, "right_hinge.lock");
  pawl_model_destroy(model);
}

// Points of the ground of two included files stay apart.
static void test_grounds(void** state) {
  (void)state;
  PawlModel* model =
      read_model("model: m\ninclude: {a: " FOLDER "on-ground.urdf, b: " FOLDER
                 "on-ground.urdf}\n"
                 "bodies: {ground: {points: {here: [7, 0, 0]}}}\n"
                 "outputs: {p: ground.a_plate, q: ground.b_plate, r: ground.here}\n");
  CHECK_NEAR(node_value(model, model->outputs[0].node), 1, 0);
  CHECK_NEAR(node_value(model, model->outputs[3].node), 1, 0);
  CHECK_NEAR(node_value(model, model->outputs[6].node), 7, 0);
  pawl_model_destroy(model);
}

static void test_include_mistakes(void** state) {
  (void)state;
  REFUSED("model: m\ninclude: " FOLDER "broken.urdf\n",
          "m.yaml:2:10: ", "broken.urdf:3:3: this is not XML");
  REFUSED("model: m\ninclude: " FOLDER "arm.urdf\njoints: {joint2: {prismatic: [link1, link2]}}\n",
          "the joint 'joint2' is 'revolute' already");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arm),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_round),
      cmocka_unit_test(test_floating),
      cmocka_unit_test(test_mimic),
      cmocka_unit_test(test_mimic_starts),
      cmocka_unit_test(test_start_of_free_body),
      cmocka_unit_test(test_add_masses),
      cmocka_unit_test(test_moments),
      cmocka_unit_test(test_angles),
      cmocka_unit_test(test_merge),
      cmocka_unit_test(test_empty_name),
      cmocka_unit_test(test_bad_inertia),
      cmocka_unit_test(test_thin_bodies),
      cmocka_unit_test(test_left_out),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_any_name),
      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_hostile),
      cmocka_unit_test(test_failing_allocations),
      cmocka_unit_test(test_include),
      cmocka_unit_test(test_include_with_prefix),
      cmocka_unit_test(test_grounds),
      cmocka_unit_test(test_include_mistakes),
      cmocka_unit_test(test_include_bad_inertia),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
