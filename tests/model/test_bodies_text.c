// SPDX-License-Identifier: Apache-2.0
// The text of bodies and joints: what it becomes, what is refused and with which words. Motions are
// in tests/run/test_bodies.c.
#include "reading.h"

#define HEAD                                              \
  "model: m\nbodies:\n"                                   \
  "  arm: {mass: 1, inertia: 1, points: {tip: [1, 0]}}\n" \
  "  hand: {mass: 1, inertia: 1}\n"                       \
  "joints:\n"

static void test_mistakes(void** state) {
  (void)state;
  REFUSED(HEAD "  j: {revolut: [ground, arm]}\n", "m.yaml:6:3", "needs a type with two bodies",
          "did you mean 'revolute'?");
  REFUSED(HEAD "  j: {revolute: [ground, amr]}\n", "m.yaml:6:26: 'amr' is not a body",
          "did you mean 'arm'?");
  REFUSED(HEAD "  j: {revolute: [arm, hand], at: arm.tpi}\n", "'arm.tpi' is not a point of 'arm'",
          "did you mean 'arm.tip'?");
  REFUSED(HEAD "  j: {revolute: [arm, hand], at: [1, 2, 3]}\n",
          "at: expected two numbers, as places before it have, 3 given");
  REFUSED(HEAD "  j: {revolute: [arm]}\n", "revolute: expected two bodies");
  REFUSED(
      "model: m\nparameters: {N: 3}\nbodies: {\"a[i=1..N]\": {mass: 1, inertia: 1, points: {e: [1, "
      "0]}}}\n"
      "joints: {\"j[i=2..N]\": {revolute: [\"a[i-1]\", \"a[i]\"], at: \"a[i-1].e\", start: 0.2}}\n",
      "m.yaml:4", "start: bodies of a family have no value of a joint");
  REFUSED(HEAD "  j: {revolute: [arm, arm]}\n", "'arm' is given twice");
  REFUSED(HEAD "  j: {revolute: [arm, hand], weld: [arm, hand]}\n", "is 'revolute' already");
  REFUSED(HEAD "  j: {spherical: [arm, hand]}\n", "'spherical' exists in space only");
  REFUSED(HEAD "  j: {revolute: [arm, hand], locks: {at: 1}}\n", "unknown key 'locks' in a joint",
          "did you mean 'lock'?");
  REFUSED(HEAD "  j: {weld: [arm, hand], lock: {at: 1}}\n", "'weld' has no value for lock:");
  REFUSED(HEAD "  j: {revolute: [arm, hand], start: [1, 2]}\n", "start: the joint 'j' has 1 value");
  REFUSED(HEAD "  j: {distance: [arm, hand]}\n", "the joint 'j' needs length:");
  REFUSED(HEAD "  j: {revolute: [arm, hand], length: 1}\n", "the joint 'j' has no length");
  REFUSED(HEAD "  j: {revolute: [arm, hand], motor: 3*xx}\n",
          "m.yaml:6:39: in '3*xx': unknown name");
  REFUSED(HEAD "  j: {revolute: [arm, hand], friction: {mu: 0.2}}\n",
          "m.yaml:6:40: friction: expected {mu: m, pin: radius} or {static: a, kinetic: b, pin: ");
  REFUSED(HEAD "  j: {prismatic: [arm, hand], friction: {mu: 0.2, kinetic: 0.1}}\n",
          "friction: expected {mu: m} or {static: a, kinetic: b}");
  REFUSED(HEAD "  j: {prismatic: [arm, hand], friction: {mu: 0.2, pin: 0.1}}\n",
          "unknown key 'pin' in the friction of a joint");
  REFUSED(HEAD "  j: {revolute: [arm, hand], friction: {mu: -0.2, pin: 1}}\n",
          "mu of the friction of 'j' is negative (-0.2)");
  REFUSED(
      "model: m\nbodies: {a: {inertia: [1, 1, 1]}}\njoints: {j: {cylindrical: [ground, a], "
      "friction: {mu: 0.1}}}\n",
      "friction by mu is not known of the type 'cylindrical'");
  REFUSED(HEAD "  j: {prismatic: [arm, hand], turns: true}\n",
          "turns: a joint of the type 'prismatic' has no angle");
  REFUSED(HEAD "  j: {revolute: [arm, hand], power: true}\n",
          "power: nothing acts along the value of 'j'");
  REFUSED(HEAD "  j: {revolute: [arm, hand], normal: [0, 1]}\n", "the joint 'j' has no normal");
  REFUSED(
      "model: m\nbodies: {a: {inertia: [1, 1, 1]}}\njoints: {j: {rolling: [ground, a], radius: 1, "
      "normal: [0, 0, 0]}}\n",
      "normal: expected three numbers, not all zero");
  REFUSED(HEAD "  j: {revolute: [arm, hand], switch: 3}\n", "switch: expected {engaged: ");
  REFUSED(HEAD "  arm: {revolute: [arm, hand]}\n", "'arm' is a body already");
  REFUSED(HEAD "  wrist: {revolute: [ground, arm]}\n  g: {gear: [wrist, wirst], ratio: 2}\n",
          "'wirst' is not a joint", "did you mean 'wrist'?");
  REFUSED("model: m\nbodies: {a: {mass: 1, points: {at: [1, 2]}}}\n", "cannot be called 'at'");
  REFUSED("model: m\nbodies: {a: {mass: m0}}\n", "m.yaml:2:20: in 'm0': unknown name 'm0'");
  REFUSED("model: m\nbodies: {a.b: {mass: 1}}\n", "'a.b' cannot be the name of a body");
  REFUSED("model: m\njoints: {a: }\n", "bodies: with at least one body is missing");
  REFUSED("model: m\nmechanism: {coordinates: jiont}\nbodies: {a: }\n", "did you mean 'joint'?");
  REFUSED("model: m\nbodies: {a: {mass: 1, shape: {boxx: [1, 2]}}}\n",
          "unknown key 'boxx' in a shape");
  REFUSED("model: m\nbodies: {a: {mass: 1, inertia: [1, 2]}}\n", "inertia: expected [a, b, c]");
  REFUSED("model: m\nbodies: {a: {points: {p: [1, 2]}}, b: {points: {p: [1, 2, 3]}}}\n",
          "a point: expected two numbers");
  REFUSED(HEAD
          "  j: {revolute: [ground, arm]}\n  k: {revolute: [ground, hand]}\n"
          "coordinates: {arm.x: 1}\n",
          "the name 'arm.x' has a dot");
  REFUSED("model: m\nbodies: {a: {start: {at: [0, 0]}}}\njoints: {j: {revolute: [ground, a]}}\n",
          "the start of 'a' follows from the joint 'j'");
  REFUSED(
      "model: m\nbodies: {\"a[i=1..3]\": {mass: 1, inertia: 1}}\nmechanism: {coordinates: joint}\n"
      "joints: {\"j[i=2..3]\": {revolute: [\"a[i-1]\", \"a[i]\"]}}\n",
      "m.yaml:4", "coordinates: joint needs joints that carry all of 'a[i=1..3]' at once");
  REFUSED(
      "model: m\nbodies: {\"a[i=1..3]\": {mass: 1, inertia: 1}}\nmechanism: {coordinates: joint}\n"
      "joints: {f: {revolute: [ground, \"a[1]\"], start: 1}, \"n[i=2..3]\": {revolute: "
      "[\"a[i-1]\", \"a[i]\"], at: [1, 0], cut: true}}\n",
      "m.yaml:4", "start: bodies of a family have no value of a joint");
  REFUSED(
      "model: m\nbodies: {a: {inertia: [1, 1, 1]}}\njoints: {j: {universal: [ground, a], axis: "
      "[1, 0, 0], axis2: [1, 1, 0]}}\n",
      "are not at right angles");
  REFUSED(HEAD "  j: {hinge: [ground, arm]}\n", "did you mean 'revolute'?");
  REFUSED(HEAD "  j: {revolute: [ground, arm], at: arm.tip}\n",
          "'arm.tip' is not a point of 'ground', but of the other body");
}

#define TURNED(turn)                                                                             \
  "model: m\nbodies: {a: {inertia: [1, 1, 1]}}\njoints: {j: {revolute: [ground, a], turn: " turn \
  "}}\n"

// A number in the place of a rotation would be a factor of all places that it turns.
static void test_turns(void** state) {
  (void)state;
  static const char* const wrong[] = {
      TURNED("0.3"), TURNED("1.01"), TURNED("\"-[[1, 0, 0], [0, 1, 0], [0, 0, 1]]\""),
      TURNED("\"[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]\""), TURNED("\"2*rotation([0, 0, 1], 0.3)\"")};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    REFUSED(wrong[k], "m.yaml:3", "turn: of 'j' is no rotation such as");
  }
  REFUSED(TURNED("\"rotation([0, 0, 1], 0.3*t)\""), "turn: of 'j' is to be of parameters alone");
  REFUSED(TURNED("\"rotation([0, 0, 1], j.angle/2)\""),
          "turn: of 'j' is to be of parameters alone");
  REFUSED("model: m\nbodies: {a: {inertia: [1, 1, 1], shapes: {s: {box: [1, 1, 1], turn: 0.3}}}}\n",
          "turn: of 'a' is no rotation such as");
}

// Numbers that no body has, once parameters have their values.
static void test_numbers(void** state) {
  (void)state;
  REFUSED("model: m\nbodies:\n  a: {mass: -1, inertia: 1}\n",
          "m.yaml:3:13: the mass of 'a' is negative (-1)");
  REFUSED("model: m\nparameters: {m0: 2}\nbodies:\n  b: {mass: 1 - m0, inertia: 1}\n",
          "the mass of 'b' is negative (-1)");
  REFUSED("model: m\nbodies: {a: {mass: 1, inertia: -1}}\n", "the inertia of 'a' is negative");
  REFUSED("model: m\nbodies: {a: {inertia: [[1, 0.3, 0], [0, 1.2, 0], [0, 0, 1.5]]}}\n",
          "m.yaml:2:38: the inertia of 'a' is not symmetric (0.3 and 0)");
  REFUSED("model: m\nbodies: {\"a[i=1..3]\": {mass: 2.5 - i, inertia: 1}}\n",
          "the mass of 'a' is negative (-0.5)");
  REFUSED("model: m\nbodies: {a: {shape: {box: [1, 2], density: 1, round: -0.1}}}\n",
          "round: of 'a' is negative (-0.1)");
  REFUSED("model: m\nbodies: {a: {shape: {box: [1, 2], density: 1, round: 0.75}}}\n",
          "round: of 'a' is more than half an edge; less it, that is (-0.25)");
  REFUSED("model: m\nbodies: {a: {shape: {disc: -0.5, density: 1}}}\n",
          "a size of the disc of 'a' is not positive (-0.5)");
  REFUSED("model: m\nbodies: {a: {mass: 1, shape: {box: [1, 0]}}}\n",
          "m.yaml:2:40: a size of the box of 'a' is not positive (0)");
  REFUSED("model: m\nbodies: {a: {shape: {capsule: [1, -1], density: 1}}}\n",
          "a size of the capsule of 'a' is negative (-1)");
  REFUSED("model: m\nbodies: {a: {shape: {disc: 1, density: -2}}}\n",
          "the density of 'a' is negative (-2)");
  REFUSED(
      "model: m\nbodies: {a: {mass: 1, inertia: 1, shapes: {side: {plane: {normal: [0, 0]}}}}}\n",
      "the normal of a plane of 'a' has no direction: its length is (0)");
  REFUSED("model: m\nbodies: {a: {mass: 1, inertia: 1, shapes: {nose: {disc: -1}}}}\n",
          "a size of the disc of 'a' is not positive (-1)");
  REFUSED("model: m\nbodies: {a: {shape: {polygon: [[0, 0], [0, 1], [1, 1]], density: 1}}}\n",
          "the polygon of 'a': its corners are clockwise");
  REFUSED(
      "model: m\nbodies: {a: {shape: {polygon: [[0, 0], [1, 1], [1, 0], [0, 1]], density: 1}}}\n",
      "the polygon of 'a': the edges that begin at its corners 1 and 3 cross");
}

#define TWO_JOINTS HEAD "  i: {revolute: [ground, arm]}\n  k: {revolute: [ground, hand]}\n"

// The scene that is made of them colours joints by what their locks are called.
static void test_locks_of_families(void** state) {
  (void)state;
  pawl_model_destroy(read_model(
      "model: m\nbodies: {\"l[i=1..3]\": {mass: 1, inertia: 1}}\njoints:\n"
      "  f: {revolute: [ground, \"l[1]\"]}\n"
      "  n[i=2..3]: {revolute: [\"l[i-1]\", \"l[i]\"], at: [[1, 0], [0, 0]], lock: {at: 1}}\n"));
}

static void test_numbers_of_joints(void** state) {
  (void)state;
  REFUSED(HEAD "  shoulder: {revolute: [ground, arm]}\n  shoulde: {brake: {capacity: 6}}\n",
          "the joint 'shoulde' needs a type", "did you mean 'shoulder'?");
  REFUSED(TWO_JOINTS "  g: {gear: [i, k], ratio: 0}\n", "the ratio of 'g' is zero");
  REFUSED(TWO_JOINTS "  g: {gear: [i, g], ratio: 1}\n", "'g' is a gear, which has no value");
  REFUSED(TWO_JOINTS "  g: {gear: [i, i], ratio: 1}\n", "needs two joints, 'i' is given twice");
  REFUSED(TWO_JOINTS "  g: {gear: [i, k], ratio: 2}\n  h: {gear: [k, i], ratio: -0.5}\n",
          "m.yaml:9:3: the gear 'h' closes a circle in which nothing can turn");
  pawl_model_destroy(
      read_model(TWO_JOINTS "  g: {gear: [i, k], ratio: 2}\n  h: {gear: [k, i], ratio: 0.5}\n"));
  REFUSED(HEAD
          "  i: {revolute: [ground, arm], start: 1}\n  k: {revolute: [ground, hand], start: 2}\n"
          "  g: {gear: [i, k], ratio: 0.5, offset: 0.1}\n",
          "the starts of 'i' and 'k' do not fit the gear 'g' (1 and 1.1)");
  REFUSED(HEAD "  i: {revolute: [ground, arm], offset: 1}\n", "the joint 'i' has no offset");
  REFUSED(HEAD "  j: {distance: [arm, hand], length: 0}\n",
          "m.yaml:6:38: the length of 'j' is not positive (0)");
  REFUSED(HEAD "  j: {rolling: [ground, arm], radius: 1 - 3}\n",
          "m.yaml:6:39: the radius of 'j' is not positive (-2)");
  REFUSED(HEAD "  j: {revolute: [ground, arm], friction: {static: 0.1, kinetic: 0.3, pin: 1}}\n",
          "m.yaml:6:42: static less kinetic friction of 'j' is negative (-0.2)");
  REFUSED(HEAD "  j: {revolute: [ground, arm], power: 3}\n", "'3': expected true or false");
  REFUSED(HEAD "  j: {revolute: [ground, arm], power: true}\n", "power: nothing acts along");
  pawl_model_destroy(read_model(HEAD "  j: {revolute: [ground, arm], power: false}\n"));
  REFUSED(HEAD "  j: {revolute: [ground, arm], stops: {low: 1, high: 0.5}}\n",
          "the stops of 'j': high is below low (-0.5)");
  REFUSED(HEAD "  j: {revolute: [ground, arm], brake: {at: 1}}\n",
          "the brake of 'j' needs capacity:");
  REFUSED(HEAD "  j: {revolute: [ground, arm], axis: [0, 0, 1]}\n",
          "m.yaml:6:32: a joint of the type 'revolute' in the plane has no axis");
  PawlModel* model = read_model(HEAD "  j: {revolute: [ground, arm], damping: -3}\n");
  assert_non_null(
      strstr(pawl_model_warnings(model), "m.yaml:6: the damping of 'j.spring' is negative (-3)"));
  pawl_model_destroy(model);
  model = read_model(HEAD "  j: {revolute: [ground, arm], spring: {stiffness: 1 - 3}}\n");
  assert_non_null(
      strstr(pawl_model_warnings(model), "m.yaml:6: the stiffness of 'j.spring' is negative (-2)"));
  pawl_model_destroy(model);
  model = read_model(
      "model: m\nparameters: {N: 4}\ncoordinates: {\"x[i=1..N]\": }\nmass: {\"x[i=1..N]\": 1}\n"
      "springs: {\"s[i=1..N]\": {along: \"x[i]\", stiffness: 2.5 - i, damping: 0}}\n");
  const char* first =
      strstr(pawl_model_warnings(model), "the stiffness of 's[i=1..N]' is negative");
  assert_non_null(first);
  assert_null(strstr(first + 1, "the stiffness"));  // said once
  pawl_model_destroy(model);
}

// Mistakes of all sections at once, and no others that follow from them.
static void test_all_mistakes(void** state) {
  (void)state;
  REFUSED(
      "model: m\nmechanism: {gravty: [0, -1], coordinates: joints}\n"
      "bodies: {a: {mas: 1, inertia: 1}, b: {mass: 1, points: {p: 1, x: [0, 1]}}}\n"
      "joints: {j: {revolut: [ground, a]}, k: {weld: [a, b]}, l: {weld: [a, c]}}\n",
      "unknown key 'gravty'", "did you mean 'joint'?", "unknown key 'mas'", "cannot be called 'x'",
      "did you mean 'revolute'?", "'c' is not a body");
  REFUSED("model: m\nbodies: {a: {mass: 1, inertia: 1}}\njoints: {w: {weld: [ground, a]}}\n",
          "m.yaml:2:1: no body can move; mechanism: {coordinates: absolute} finds what");
  REFUSED("model: m\nbodies: {sin: {mass: 1, inertia: 1}}\njoints: {t: {weld: [ground, sin]}}\n",
          "'sin' is a reserved word", "'t' is a reserved word");
  static const char spring[] = HEAD
      "  j: {revolute: [ground, arm]}\nsprings: {s: {from: arm.tp, to: [0, 0], stiffness: 1}}\n";
  PawlModel* model = NULL;
  PawlError err = {0};
  assert_int_equal(pawl_model_parse(spring, strlen(spring), "m", 0, NULL, &model, &err),
                   PAWL_ERROR_MODEL);
  const char* first = strstr(err.message, "unknown name 'arm.tp'");
  assert_non_null(first);
  assert_null(strstr(first + 1, "unknown name"));  // once: not of the scene that is made of it, too
}

// What is rounded is let through; a body that is no body is warned of.
static void test_numbers_that_pass(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {p: 0.1}\nbodies:\n"
      "  a: {mass: 0, inertia: [[1, p + 0.2, 1e-12], [0.3, 1, 0], [0, 0, 1.9]]}\n"
      "  rod: {mass: 1, inertia: [0, 1, 1]}\n  point: {mass: 1}\n");
  assert_string_equal(pawl_model_warnings(model), "");
  pawl_model_destroy(model);
  model = read_model("model: m\nbodies: {a: {mass: 1, inertia: [1, 1, 5]}}\n");
  assert_non_null(strstr(pawl_model_warnings(model), "m.yaml:2: the inertia of 'a': the largest"));
  pawl_model_destroy(model);
  model =
      read_model("model: m\nbodies: {a: {mass: 1, inertia: [[1, 3, 0], [3, 1, 0], [0, 0, 1]]}}\n");
  assert_non_null(strstr(pawl_model_warnings(model),
                         "m.yaml:2: the inertia of 'a': a principal moment of inertia is negative; "
                         "no body has -2, 1, 4 kg m^2"));
  pawl_model_destroy(model);
}

static double parameter(const PawlModel* model, const char* name) {
  for (int k = 0; k < model->parameter_count; k++) {
    if (strcmp(model->parameters[k].name, name) == 0) {
      return model->parameters[k].value;
    }
  }
  print_error("no parameter '%s'\n", name);
  fail();
  return 0.0;
}

// Against formulas written in another way: a capsule is what is left of thin slices.
static void test_shapes(void** state) {
  (void)state;
  PawlModel* plane = read_model(
      "model: m\nbodies:\n"
      "  box: {shape: {box: [2, 3], density: 5}}\n"
      "  disc: {shape: {disc: 2, density: 3}}\n"
      "  pill: {shape: {capsule: [0.5, 2], density: 2}}\n"
      "  square: {shape: {polygon: [[1, 1], [3, 1], [3, 4], [1, 4]], density: 5}}\n"
      "  given: {mass: 60, shape: {box: [2, 3]}}\n");
  CHECK_NEAR(parameter(plane, "box.mass"), 30, 1e-13);
  CHECK_NEAR(parameter(plane, "box.inertia"), 32.5, 1e-13);
  CHECK_NEAR(parameter(plane, "disc.inertia"), 3 * acos(-1.0) * 8, 1e-12);
  CHECK_NEAR(parameter(plane, "square.mass"), 30, 1e-12);  // the box elsewhere
  CHECK_NEAR(parameter(plane, "square.inertia"), 32.5, 1e-12);
  CHECK_NEAR(parameter(plane, "square.middle_1"), 2, 1e-13);
  CHECK_NEAR(parameter(plane, "square.middle_2"), 2.5, 1e-13);
  CHECK_NEAR(parameter(plane, "given.inertia"), 65, 1e-13);
  double mass = 0, inertia = 0;
  enum { SLICES = 200000 };
  for (int k = 0; k < SLICES; k++) {  // slices across x, of half height y: 2 y dx (x^2 + y^2/3)
    double dx = 3.0 / SLICES, x = -1.5 + (k + 0.5) * dx, out = fmax(0, fabs(x) - 1);
    double y = sqrt(0.25 - out * out);
    mass += 2 * 2 * y * dx;
    inertia += 2 * 2 * y * dx * (x * x + y * y / 3);
  }
  CHECK_NEAR(parameter(plane, "pill.mass"), mass, 1e-6);
  CHECK_NEAR(parameter(plane, "pill.inertia"), inertia, 1e-6);
  pawl_model_destroy(plane);
}

static void test_shapes_in_space(void** state) {
  (void)state;
  PawlModel* space = read_model(
      "model: m\nmechanism: {gravity: [0, 0, -1]}\nbodies:\n"
      "  box: {shape: {box: [2, 3, 4], density: 5}}\n"
      "  ball: {shape: {sphere: 2, density: 3}}\n"
      "  rod: {shape: {cylinder: [0.5, 2], density: 2}}\n"
      "  pill: {shape: {capsule: [0.5, 2], density: 2}}\n");
  double pi = acos(-1.0), mass = 0, across = 0, along = 0;
  CHECK_NEAR(parameter(space, "box.inertia_1"), 120 * 25 / 12.0, 1e-11);
  CHECK_NEAR(parameter(space, "box.inertia_3"), 120 * 13 / 12.0, 1e-11);
  CHECK_NEAR(parameter(space, "ball.inertia_2"), 0.4 * 4 * 32 * pi, 1e-10);
  CHECK_NEAR(parameter(space, "rod.inertia_3"), pi * 0.125, 1e-13);
  CHECK_NEAR(parameter(space, "rod.inertia_1"), pi * (0.75 + 4) / 12, 1e-13);
  enum { SLICES = 200000 };
  for (int k = 0; k < SLICES; k++) {  // discs of radius r
    double dz = 3.0 / SLICES, z = -1.5 + (k + 0.5) * dz, out = fmax(0, fabs(z) - 1);
    double r2 = 0.25 - out * out, m = 2 * pi * r2 * dz;
    mass += m;
    along += m * r2 / 2;
    across += m * (r2 / 4 + z * z);
  }
  CHECK_NEAR(parameter(space, "pill.mass"), mass, 1e-8);
  CHECK_NEAR(parameter(space, "pill.inertia_3"), along, 1e-8);
  CHECK_NEAR(parameter(space, "pill.inertia_1"), across, 1e-8);
  pawl_model_destroy(space);
}

// The expansion is a model, and expanding it changes nothing.
static void add_text(void* context, const char* text, size_t length) {
  strncat(context, text, length);
}

static void test_expansion_loads(void** state) {
  (void)state;
  static char once[20000], twice[20000];
  static const char text[] = HEAD
      "  j: {revolute: [ground, arm], start: 1, lock: {at: 1}, motor: sin(t)}\n"
      "  k: {prismatic: [arm, hand], at: arm.tip, axis: [0, 1], stops: {low: 0}}\n"
      "outputs: {place: hand.at, p: mechanism.momentum}\n";
  PawlError err = {0};
  once[0] = twice[0] = '\0';
  assert_int_equal(pawl_model_expand(text, strlen(text), "m.yaml", add_text, once, &err), PAWL_OK);
  assert_int_equal(pawl_model_expand(once, strlen(once), "m.yaml", add_text, twice, &err), PAWL_OK);
  assert_string_equal(once, twice);
  assert_non_null(strstr(once, "hand.at: arm.tip + arm.R*"));
  PawlModel *a = read_model(text), *b = read_model(once);
  assert_int_equal(a->coordinate_count, 2);
  assert_int_equal(b->coordinate_count, 2);
  assert_string_equal(b->coordinates[1].name, "k.travel");
  pawl_model_destroy(a);
  pawl_model_destroy(b);
}

// Without a scene one is made: shapes as they are, other bodies as links, joints as pins.
static void test_scene(void** state) {
  (void)state;
  static const struct {
    const char* text;
    int shapes;
  } cases[] = {
      {HEAD
       "  j: {revolute: [ground, arm]}\n  k: {distance: [arm, hand], at: arm.tip, length: 1}\n",
       4},
      {HEAD "  j: {revolute: [ground, arm]}\nscene: [{joint: {at: arm.tip}}]\n", 1},
      {HEAD "  j: {revolute: [ground, arm]}\nscene: []\n", 0},
      {"model: m\nmechanism: {gravity: [0, 0, -1]}\nbodies: {a: {shape: {box: [1, 2, 3], density: "
       "1}}}\n",
       7},
      {"model: m\nbodies: {\"a[i=1..5]\": {mass: 1, inertia: 1, points: {p: [1, 0]}}}\n", 5},
      {"model: m\nbodies: {ground: {shape: {plane: {}}}, \"a[i=1..5]\": {mass: 1, shape: {disc: "
       "i}}}\n",
       6},
      {"model: m\nbodies: {ground: {shape: {plane: {normal: [0, 1, 1]}}}, a: {mass: 1, shape: "
       "{sphere: 2}}}\n",
       2},
      // A foot below its joint hangs on a link, one that reaches it does not.
      {"model: m\nbodies: {a: {mass: 1, inertia: 1, shape: {disc: 0.1, at: [0, -1]}}}\n"
       "joints: {j: {revolute: [ground, a]}}\n",
       3},
      {"model: m\nbodies: {a: {mass: 1, inertia: 1, shape: {box: [0.1, 2.2], at: [0, -1]}}}\n"
       "joints: {j: {revolute: [ground, a]}}\n",
       2},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    PawlModel* model = read_model(cases[k].text);
    assert_int_equal(model->shape_count, cases[k].shapes);
    pawl_model_destroy(model);
  }
}

// Long sections keep their order, and names of many bodies are told apart.
static void test_many_bodies(void** state) {
  (void)state;
  enum { MANY = 60 };
  PawlText text = {0};
  pawl_text_printf(&text, "model: m\nmechanism: {coordinates: absolute}\nbodies:\n");
  for (int k = 1; k <= MANY; k++) {
    pawl_text_printf(&text, "  b%d: {mass: %d, inertia: 1}\n", k, k);
  }
  pawl_text_printf(&text, "joints:\n  j1: {revolute: [ground, b1]}\n");
  for (int k = 2; k <= MANY; k++) {
    pawl_text_printf(&text, "  j%d: {revolute: [b%d, b%d], at: [[1, 0], [0, 0]]}\n", k, k - 1, k);
  }
  PawlModel* model = read_model(text.s);
  assert_int_equal(model->coordinate_count, 3 * MANY);
  assert_int_equal(model->constraint_count, MANY);
  for (int k = 0; k < MANY; k++) {
    char name[16];
    snprintf(name, sizeof name, "b%d.centre.x", k + 1);
    assert_string_equal(model->coordinates[3 * k].name, name);
    CHECK_NEAR(model->coordinates[3 * k].start, k, 0);  // by the joints before it
    snprintf(name, sizeof name, "j%d", k + 1);
    assert_string_equal(model->constraints[k].name, name);
  }
  pawl_model_destroy(model);
  pawl_text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_locks_of_families),
      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_shapes_in_space),
      cmocka_unit_test(test_expansion_loads),
      cmocka_unit_test(test_scene),
      cmocka_unit_test(test_many_bodies),
      cmocka_unit_test(test_turns),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_numbers_that_pass),
      cmocka_unit_test(test_numbers_of_joints),
      cmocka_unit_test(test_all_mistakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
