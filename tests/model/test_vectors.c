// SPDX-License-Identifier: Apache-2.0
// Vectors and matrices of the language: each expression against the same written out in numbers,
// and what is refused.
#include <math.h>

#include "reading.h"

// Coordinates x y z (1, 1.1, 1.2), rates 2, 2.1, 2.2, accelerations 3, 3.1, 3.2; see node_value.
#define HEAD                                                         \
  "model: m\n"                                                       \
  "parameters: {k: 3, g: [0.5, -2, 4], N: 2}\n"                      \
  "coordinates: [x, y, z]\n"                                         \
  "functions: {twice(a): 2*a, along(a, n): \"dot(a, n)/norm(n)\"}\n" \
  "define:\n"                                                        \
  "  a: [x, x*y, 2]\n"                                               \
  "  b: [y, 1, z]\n"                                                 \
  "  c: a + late\n"                                                  \
  "  late: \"k*[1, 2, 3]\"\n"                                        \
  "  p[i=1..N]: [i*x, y]\n"                                          \
  "  A: [[1, x], [y, 2]]\n"                                          \
  "  R: rotation([1, 2, 2], z)\n"                                    \
  "mass: {x: 1, y: 1, z: 1}\n"                                       \
  "outputs:\n"

static double value_of(const char* expression) {
  char text[2048];
  snprintf(text, sizeof text, HEAD "  out: \"%s\"\n", expression);
  PawlModel* model = read_model(text);
  assert_int_equal(model->output_count, 1);
  double value = node_value(model, model->outputs[0].node);
  pawl_model_destroy(model);
  return value;
}

// "-p g=[a, b, c]" sets the parts of a list, which may be expressions of what stands before.
static void test_set_from_outside(void** state) {
  (void)state;
  static const char text[] = HEAD "  out: dot(g, [1, 10, 100])\n";
  const char* given = "g = [k, max(-1, -2), 2*(k + 1)]";
  PawlModel* model;
  PawlError err;
  assert_int_equal(pawl_model_parse(text, strlen(text), "m.yaml", 1, &given, &model, &err),
                   PAWL_OK);
  CHECK_NEAR(node_value(model, model->outputs[0].node), 3 - 10 + 800, 1e-12);
  pawl_model_destroy(model);
  static const char* const wrong[][2] = {
      {"g=[1, 2]", "-p g=[1, 2]: 'g' is a list of 3: expected g=[a, b, c], or g_1=..."},
      {"g=[1, 2", "'g' is a list of 3"},
      {"g=[1, , 2]", "'g' is a list of 3"},
      {"g=1", "'g' is a list of 3"},
      {"g=[1, y, 2]", "-p g=[1, y, 2]: in ' y': unknown name 'y'"},
      {"h=[1, 2, 3]", "'h' is not a parameter"}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    assert_int_equal(pawl_model_parse(text, strlen(text), "m.yaml", 1, &wrong[k][0], &model, &err),
                     PAWL_ERROR_MODEL);
    if (!strstr(err.message, wrong[k][1]) || strchr(err.message, '\n')) {
      print_error("%s\n", err.message);
      fail();
    }
  }
}

static void test_values(void** state) {
  (void)state;
  static const double x = 1, y = 1.1, z = 1.2, vx = 2, vy = 2.1, vz = 2.2, ax = 3, ay = 3.1;
  const struct {
    const char* text;
    double value;
  } cases[] = {
      {"a.y", x * y},
      {"(a + b).x", x + y},
      {"(a - b).z", 2 - z},
      {"(-a).y", -x * y},
      {"(k*a).z", 6},
      {"(a*k).z", 6},
      {"(a/k).x", x / 3},
      {"c.y", x * y + 6},
      {"dot(a, b)", x * y + x * y + 2 * z},
      {"cross(a, b).x", x * y * z - 2},
      {"cross(a, b).y", 2 * y - x * z},
      {"cross(a, b).z", x - x * y * y},
      {"cross([x, y], [2, 3])", 3 * x - 2 * y},
      {"norm([3*x, 4*x])", 5},
      {"norm(a)^2", x * x + x * y * x * y + 4},
      {"a'.y", vx * y + x * vy},
      {"a.y'", vx * y + x * vy},
      {"a.y''", ax * y + 2 * vx * vy + x * ay},
      {"dot(b', [1, 5, 1])", vy + vz},
      {"p[2].x", 2 * x},
      {"p[N].x'", 2 * vx},
      {"sum(i=1..N, p[i]).x", 3 * x},
      {"twice(a).z", 4},
      {"along(a, [0, 0, 5])", 2},
      {"dot(g, a)", 0.5 * x - 2 * x * y + 8},
      {"g.z + g_1", 4.5},
      {"if(x > 0, a, b).y", x * y},
      {"(A*[1, 2]).x", 1 + 2 * x},
      {"(transpose(A)*[1, 2]).x", 1 + 2 * y},
      {"(A*A*[1, 0]).y", y + 2 * y},
      {"(rotation(pi/2)*[1, 0]).y", 1},
      {"(rotation([0, 0, 2], pi/2)*[1, 0, 0]).y", 1},
      {"(rotation([1, 0, 0], pi/2)*[0, 1, 0]).z", 1},
      {"(rotation([0, 1, 0], pi/2)*[0, 0, 1]).x", 1},
      {"norm(R*a) - norm(a)", 0},                      // lengths stay
      {"norm(R*[1, 2, 2] - [1, 2, 2])", 0},            // and so does the axis
      {"norm(transpose(R)*(R*a) - a)", 0},             // the inverse
      {"norm(R*cross(a, b) - cross(R*a, R*b))", 0},    // no reflection
      {"norm(R'*a - z'*cross([1, 2, 2]/3, R*a))", 0},  // its rate
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    double value = value_of(cases[k].text);
    if (!(fabs(value - cases[k].value) <= 4e-15)) {  // a few roundings of numbers up to 10
      print_error("%s is %.17g, expected %.17g\n", cases[k].text, value, cases[k].value);
      fail();
    }
  }
}

static void test_norm_squared_has_no_root(void** state) {
  (void)state;
  PawlModel* model =
      read_model("model: m\ncoordinates: [x, y]\ndefine: {p: [x, y]}\nkinetic: norm(p')^2/2\n");
  PawlNode slope = pawl_dag_partial(model->dag, model->terms[0].node, PAWL_OP_V, 0);
  double rest[2] = {0, 0}, value;
  PawlLeafValues at_rest = {.q = rest, .v = rest};
  assert_int_equal(pawl_dag_value(model->dag, slope, &at_rest, &value, NULL), PAWL_OK);
  assert_true(value == 0.0);  // exact; with a root it is 0/0
  pawl_model_destroy(model);
}

static void test_equations_have_a_row_for_each_number(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\ncoordinates: [x, y, z, phi]\ndefine: {p: [x, y, z]}\n"
      "mass: {x: 1, y: 1, z: 1, phi: 1}\n"
      "constraints:\n"
      "  pin:\n"
      "    - phi = 1\n"
      "    - p = [1, 2*x, phi]\n"
      "  skate: {rate: \"p' = phi'*[1, 0, 2]\"}\n"
      "outputs: {f: \"lambda(pin, 4)\", h: \"lambda(skate, 3)\"}\n");
  assert_int_equal(model->constraints[0].row_count, 4);
  assert_int_equal(model->constraints[1].row_count, 3);
  CHECK_NEAR(node_value(model, model->constraints[0].modes[0].rows[2].node), 1.1 - 2, 1e-15);
  CHECK_NEAR(node_value(model, model->constraints[1].modes[0].rows[2].node), 2.2 - 4.6, 1e-15);
  pawl_model_destroy(model);
}

static void test_vectors_of_sections(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {m: 2, g: [0, -9.81]}\ncoordinates: [x, y]\n"
      "define: {p: [x, y], \"tip[k=1..2]\": \"p + k*[1, 0]\"}\n"
      "kinetic: m/2*dot(p', p')\npotential: -m*dot(g, p)\n"
      "forces: {wind: {on: p, value: [3, x]}}\n"
      "springs: {stay: {from: [0, 1], to: \"tip[2]\", stiffness: 5}}\n"
      "outputs: {place: {value: p, unit: m}, \"end[k=1..2]\": \"tip[k]\", speed: norm(p')}\n"
      "events: {far: {when: place.x - 2}}\n"
      "scene:\n"
      "  - link: {points: [[0, 0], p, \"tip[1]\"]}\n"
      "  - ball: {at: p, radius: 0.1}\n"
      "  - line: {points: {for k=1..2: \"tip[k]\"}}\n");
  static const char* const names[] = {"place.x",  "place.y",  "end[1].x", "end[1].y",
                                      "end[2].x", "end[2].y", "speed"};
  assert_int_equal(model->output_count, 7);
  for (int k = 0; k < 7; k++) {
    assert_string_equal(model->outputs[k].name, names[k]);
  }
  assert_string_equal(model->outputs[1].unit, "m");
  CHECK_NEAR(node_value(model, model->outputs[4].node), 3, 1e-15);
  CHECK_NEAR(node_value(model, model->events[0].trigger.when), -1, 1e-15);
  // T, V, two forces, the spring
  assert_int_equal(model->term_count, 5);
  CHECK_NEAR(node_value(model, model->terms[1].node), 2 * 9.81 * 1.1, 1e-13);
  CHECK_NEAR(node_value(model, model->terms[3].node), 1, 1e-15);
  CHECK_NEAR(node_value(model, model->terms[4].node), 2.5 * (9 + 0.01), 1e-13);
  assert_int_equal(model->shapes[0].point_count, 3);
  assert_int_equal(model->shapes[2].point_count, 2);
  CHECK_NEAR(node_value(model, model->shapes[2].points[1][0]), 3, 1e-15);
  pawl_model_destroy(model);
}

static void test_elements_have_vectors(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\n"
      "elements:\n"
      "  ball:\n"
      "    parameters: {at: [0, 0], N: 2}\n"
      "    coordinates: {x: {start: at.x}, y: {start: at_2}}\n"
      "    define: {p: [x, y], far: \"p - at\"}\n"
      "    kinetic: dot(p', p')/2 + sum(i=1..N, far.x'^2)\n"
      "use: {left: {element: ball, at: [3, 4]}}\n"
      "coordinates: [y]\nmass: {y: 1}\n"
      "outputs: {far: left_far, up: left_p.y}\n");
  CHECK_NEAR(model->coordinates[1].start, 3, 0);
  CHECK_NEAR(model->coordinates[2].start, 4, 0);
  assert_int_equal(model->output_count, 3);
  CHECK_NEAR(node_value(model, model->outputs[1].node), 1.2 - 4, 1e-15);
  CHECK_NEAR(node_value(model, model->outputs[2].node), 1.2, 1e-15);
  pawl_model_destroy(model);
}

static void test_mistakes(void** state) {
  (void)state;
  static const struct {
    const char *text, *said;
  } cases[] = {
      {"a + p[1]", "a sum needs two of one shape: a vector of 3 and a vector of 2"},
      {"a - 1", "a difference needs two of one shape: a vector of 3 and a number"},
      {"a*b",
       "vectors are multiplied by dot(a, b) or cross(a, b): a vector of 3 and a vector of 3"},
      {"1/a", "only a number can divide: a number and a vector of 3"},
      {"A*a", "a product needs sizes that fit: a matrix of 2 by 2 and a vector of 3"},
      {"a*A", "a matrix stands before what it multiplies: a vector of 3 and a matrix of 2 by 2"},
      {"a^2", "^ takes numbers, found a vector of 3; the square of a vector is dot(a, a)"},
      {"sin(a)", "sin takes numbers, found a vector of 3"},
      {"clamp(1, a, 2)", "clamp takes numbers, found a vector of 3"},
      {"a < 1", "a comparison takes numbers, found a vector of 3"},
      {"max(i=1..2, p[i])", "max takes numbers, found a vector of 2"},
      {"dot(a, p[1])",
       "dot takes two vectors of one length, found a vector of 3 and a vector of 2"},
      {"cross(a, 1)", "cross takes two vectors of one length, found a vector of 3 and a number"},
      {"norm(x)", "norm takes a vector, found a number"},
      {"norm(a, b)", "norm takes 1 argument, 2 given"},
      {"transpose(a)", "transpose takes a matrix, found a vector of 3"},
      {"rotation(a)", "rotation takes an angle, or an axis [x, y, z] and an angle, found a vector"},
      {"if(x > 0, a, 1)", "the branches of an if need one shape: a vector of 3 and a number"},
      {"x.y", "'x' is a number and has no .y"},
      {"p[1].z", "'p' is a vector of 2 and has no .z"},
      {"(a).q", "expected x, y or z after '.', found 'q'"},
      {"aa.x", "unknown name 'aa'"},
      {"a.omega", "unknown name 'a.omega'"},
      {"[1, 2, 3, 4]", "a vector has 2 or 3 numbers, 4 given"},
      {"[1, a]", "the entries of [ ] need one shape: a number and a vector of 3"},
      {"A", "an output is a number or a vector, found a matrix of 2 by 2"},
      {"p[a]", "an index is a number"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[2048];
    snprintf(text, sizeof text, HEAD "  out: \"%s\"\n", cases[k].text);
    REFUSED(text, cases[k].said, ":15:");
  }
}

static void test_mistakes_in_sections(void** state) {
  (void)state;
#define SMALL \
  "model: m\ncoordinates: [x, y]\ndefine: {p: [x, y], q: [x, y, 1]}\nmass: {x: 1, y: 1}\n"
  REFUSED(SMALL "potential: p\n", "m.yaml:5:12:", "in 'p': expected a number, found a vector of 2");
  REFUSED(SMALL "constraints: {c: p = q}\n",
          "the left side is a vector of 2 and the right side a vector of 3");
  REFUSED(SMALL "constraints: {c: p = 0}\n",
          "the left side is a vector of 2 and the right side a number");
  REFUSED(SMALL "locks: {c: {lock: p}}\n", "'p' is a vector of 2; a lock holds one number");
  REFUSED(SMALL "forces: {w: {on: p, value: 3}}\n", "on: is a vector of 2 and value: a number");
  REFUSED(SMALL "springs: {s: {from: p, to: q, stiffness: 1}}\n",
          "from: is a vector of 2 and to: a vector of 3");
  REFUSED(SMALL "scene: {ball: {at: x, radius: 1}}\n",
          "expected a vector [x, y] or [x, y, z], found a number");
  REFUSED(SMALL "scene: {line: {points: [p, q]}}\n", "this point has 3 numbers, those before it 2");
  REFUSED("model: m\ncoordinates: [x]\ndefine: {a.x: 1}\n", "the name 'a.x' has a dot");
  REFUSED("model: m\ncoordinates: [x]\ndefine: {a: [1, 2, 3, 4]}\n",
          "a vector has 2 or 3 numbers, 4 given");
  REFUSED("model: m\ncoordinates: [x]\ndefine: {a: b + c, b: [1, 2], c: [1, 2, 3]}\n",
          "in 'b + c': a sum needs two of one shape: a vector of 2 and a vector of 3");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_set_from_outside),
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_norm_squared_has_no_root),
      cmocka_unit_test(test_equations_have_a_row_for_each_number),
      cmocka_unit_test(test_vectors_of_sections),
      cmocka_unit_test(test_elements_have_vectors),
      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_mistakes_in_sections),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
