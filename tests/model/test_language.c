// SPDX-License-Identifier: Apache-2.0
// Ranges inside expressions, functions of the user, families of parameters.
#include "reading.h"

// With x[k] = 1 + (k - 1)/10 for k = 1..4, the values of reading.h.
static void check_potential(const char* expression, double value) {
  char text[600];
  snprintf(text, sizeof text,
           "model: m\nparameters: {N: 4, a: 2, \"k[i=1..N]\": 10*i + a}\n"
           "coordinates: {\"x[i=1..N]\": }\n"
           "functions:\n  square(x): x^2\n  line(x, k): k*x + square(a)\n  two(): 2\n"
           "potential: \"%s\"\n",
           expression);
  PawlModel* model = read_model(text);
  CHECK_NEAR(node_value(model, model->terms[0].node), value, 1e-13 * (1.0 + fabs(value)));
  pawl_model_destroy(model);
}

static void test_ranges(void** state) {
  (void)state;
  check_potential("sum(i=1..N, x[i])", 1.0 + 1.1 + 1.2 + 1.3);
  check_potential("sum(i=N..1, x[i])", 0.0);
  check_potential("prod(i=N..1, x[i])", 1.0);
  check_potential("prod(i=1..3, x[i])", 1.0 * 1.1 * 1.2);
  check_potential("min(i=2..N, x[i])", 1.1);
  check_potential("max(i=1..N, x[i]) + max(1, 2)", 1.3 + 2.0);
  check_potential("sum(i=1..3, j=i..3, i*j*x[j])",
                  1.0 + 2 * 1.1 + 3 * 1.2 + 4 * 1.1 + 6 * 1.2 + 9 * 1.2);
  check_potential("sum(i=1..N, if(i < N, x[i+1], 0))", 1.1 + 1.2 + 1.3);
  check_potential("sum(i=1..2, sum(j=1..i, x[j]*k[i]))", 12.0 + 22.0 + 22.0 * 1.1);
  check_potential("x[1]*30*deg", 1.0 * 30.0 * acos(-1.0) / 180.0);
}

static void test_functions_of_the_user(void** state) {
  (void)state;
  check_potential("line(x[2], 3)", 3 * 1.1 + 4.0);
  check_potential("sum(i=1..2, line(x[i], i)) + two()", 1.0 + 4.0 + 2.2 + 4.0 + 2.0);
  check_potential("square(square(x[2]))", 1.1 * 1.1 * 1.1 * 1.1);
  // YAML cuts the key at its comma.
  PawlModel* model = read_model(
      "model: m\nfunctions: {spring(x, k): \"k*x^3\", other(x, k): 2*x}\ncoordinates: {x: , y: }\n"
      "forces: {x: \"spring(y, 2)\"}\n");
  CHECK_NEAR(node_value(model, model->terms[0].node), 2.0 * 1.1 * 1.1 * 1.1, 1e-15);
  pawl_model_destroy(model);
  // A definition that is not built yet, and a function in a parameter.
  model = read_model(
      "model: m\nfunctions: {ring(m): m*4}\nparameters: {J: ring(2)}\ncoordinates: {x: }\n"
      "define: {a: ring(b), b: J*x}\npotential: a\n");
  CHECK_NEAR(node_value(model, model->terms[0].node), 32.0, 0);
  pawl_model_destroy(model);
}

static void test_wrong_functions(void** state) {
  (void)state;
#define HEAD "model: m\ncoordinates: {x: }\n"
  REFUSED(HEAD "functions: {sin(x): x}\n", "m.yaml:3:13: 'sin' is a function of the language");
  REFUSED(HEAD "functions: {clamp(x): x}\n", "'clamp' is a function of the language");
  REFUSED(HEAD "functions: {f: x}\n", "expected a function with its arguments");
  REFUSED(HEAD "functions: {\"f(x, x)\": x}\n", "each with a name of its own");
  REFUSED(HEAD "functions: {f(x): x +}\n", "m.yaml:3:", "expected a number");
  REFUSED(HEAD "functions: {f(y): 2*y}\npotential: f(x, 1)\n",
          "m.yaml:4:12: in 'f(x, 1)': f takes 1 argument, 2 given");
  REFUSED(HEAD "functions: {f(y): 2*z}\npotential: f(x)\n",
          "m.yaml:4:12: in 'f(x)': in the function 'f' (line 3): unknown name 'z'");
  REFUSED(HEAD "functions: {f(y): g(y), g(y): f(y)}\npotential: f(x)\n", "uses itself");
  REFUSED(HEAD "functions: {f(y): y*x'}\npotential: f(x)\n",
          "in the function 'f' (line 3): 'x'' contains rates, but a potential energy may use");
  REFUSED(HEAD "functions: {f(y): y*t}\nmass: {x: f(2)}\n",
          "in the function 'f' (line 3): 't' contains time");
  REFUSED(HEAD "functions: {twice(y): 2*y}\npotential: twize(x)\n",
          "unknown function 'twize', did you mean twice?");
  REFUSED(HEAD "potential: f'(x)\n", "unknown function 'f'");
}

static void test_wrong_ranges(void** state) {
  (void)state;
  REFUSED(HEAD "potential: sum(x, 2)\n", "sum takes a range: sum(i=1..N, ...)");
  REFUSED(HEAD "potential: sum(i=1..x, i)\n", "a bound of a range may use parameters and indices");
  REFUSED(HEAD "potential: sum(i=1..2.5, i)\n", "a bound of a range is 2.5");
  REFUSED(HEAD "potential: max(i=2..1, x)\n", "max over an empty range has no value");
  REFUSED(HEAD "potential: sum(x=1..2, x)\n", "the index 'x' has the name of something else");
  REFUSED(HEAD "potential: sum(i=1..2, sum(i=1..2, i))\n", "the index 'i' is already in use");
  REFUSED(HEAD "potential: sum(i=1..1e9, j=1..1e9, x)\n", "more than 10000000 indices");
  REFUSED(HEAD "potential: sum(i=1..2)\n", "expected an operator or ',' and an expression");
  REFUSED(HEAD "functions: {f(y): \"sum(y=1..2, y)\"}\npotential: f(x)\n",
          "the index 'y' has the name of an argument");
}

static void test_families_of_parameters(void** state) {
  (void)state;
  static const char text[] =
      "model: m\nparameters:\n  N: 3\n  k[i=0..N]: {value: \"if(i == 0, 1, 2*k[i-1])\", unit: N}\n"
      "  a[i=1..2, j=1..2]: i + 10*j\n  s: k[N] + a[2,1]\ncoordinates: {x: {start: \"k[2]\"}}\n"
      "potential:\n  for i=0..N: k[i]*x\n";
  PawlModel* model = read_model(text);
  assert_int_equal(model->parameter_count, 1 + 4 + 4 + 1);
  assert_string_equal(model->parameters[4].name, "k[3]");
  assert_string_equal(model->parameters[4].unit, "N");
  CHECK_NEAR(model->parameters[4].value, 8, 0);
  assert_string_equal(model->parameters[6].name, "a[1,2]");
  CHECK_NEAR(model->parameters[9].value, 8 + 12, 0);
  CHECK_NEAR(model->coordinates[0].start, 4, 0);
  assert_int_equal(
      pawl_dag_node(model->dag, pawl_dag_node(model->dag, model->terms[3].node)->arg[0])->op,
      PAWL_OP_PARAM);
  pawl_model_destroy(model);
  static const char* const changes[] = {"k[1]=5", "a=7"};
  PawlError err = {0};
  assert_int_equal(pawl_model_parse(text, strlen(text), "m.yaml", 2, changes, &model, &err),
                   PAWL_OK);
  CHECK_NEAR(model->parameters[4].value, 20, 0);
  CHECK_NEAR(model->parameters[9].value, 20 + 7, 0);
  pawl_model_destroy(model);
  static const char* const wrong[] = {"k[9]=5"};
  check_refused_with(text, 1, wrong, (const char* const[]){"there is no element 'k[9]'", NULL});
  REFUSED(HEAD "parameters: {\"k[i=1..2]\": \"k[i+1]\"}\n", "an element that comes later");
  REFUSED(HEAD "parameters: {\"k[i=1..2]\": \"k[i-1]\"}\n", "'k[0]' does not exist");
  REFUSED(HEAD "parameters: {\"k[i=1..2]\": \"k[i]\"}\n", "uses itself");
  REFUSED(HEAD "parameters: {\"k[i=1..2]\": 1, k: 2}\n", "'k' is already a parameter (line 3)");
  REFUSED(HEAD "parameters: {\"k[i=1..2]\": 1}\npotential: k*x\n",
          "'k' is a family and needs 1 index");
}

// ---- starts that use others -----------------------------------------------------------------

static void test_starts(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {L: 2}\nfunctions: {twice(x): 2*x}\n"
      "coordinates:\n  x: {start: L*cos(phi), rate: tip'}\n  y: {start: twice(x) + 1}\n"
      "  phi: {start: pi/3, rate: 3, guess: rate}\n  u[i=0..3]: {start: \"if(i > 0, u[i-1] + y, "
      "0)\"}\n"
      "define: {tip: L*sin(phi)}\n");
  CHECK_NEAR(model->coordinates[0].start, 1.0, 1e-15);
  CHECK_NEAR(model->coordinates[0].rate, 2.0 * 0.5 * 3.0, 1e-14);
  CHECK_NEAR(model->coordinates[1].start, 3.0, 1e-15);
  CHECK_NEAR(model->coordinates[6].start, 9.0, 1e-14);
  assert_true(!model->coordinates[2].guess[0] && model->coordinates[2].guess[1]);
  pawl_model_destroy(model);
}

// ---- forces along expressions, springs ------------------------------------------------------

static double total_of(PawlModel* model, PawlTermKind kind, int target) {
  double sum = 0.0;
  for (int k = 0; k < model->term_count; k++) {
    bool wanted = model->terms[k].kind == kind && model->terms[k].target == target;
    sum += wanted ? node_value(model, model->terms[k].node) : 0.0;
  }
  return sum;
}

// x = 1, y = 1.1, z = 1.2 and rates 2, 2.1, 2.2.
static void test_forces_along(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {a: 3}\ncoordinates: {x: , y: , z: }\ndefine: {l: x*y - z}\n"
      "forces:\n  motor: {on: l, value: \"a*x'\"}\n  x: 5\n"
      "  pair[i=1..2]: {on: i*z + 0*y, value: 1}\n  servo: {on: z, value: 0*(s + u)}\n"
      "states: {s: {rate: -s}}\ninputs: {u: 1}\n");
  CHECK_NEAR(total_of(model, PAWL_TERM_FORCE, 0), 3.0 * 2.0 * 1.1 + 5.0, 1e-14);
  CHECK_NEAR(total_of(model, PAWL_TERM_FORCE, 1), 3.0 * 2.0 * 1.0, 1e-14);
  CHECK_NEAR(total_of(model, PAWL_TERM_FORCE, 2), -3.0 * 2.0 + 1.0 + 2.0, 1e-14);
  pawl_model_destroy(model);
  REFUSED(HEAD "forces: {motor: {on: x}}\n", "a force along an expression needs on: and value:");
  REFUSED(HEAD "forces: {motor: {on: 3*t, value: 1}}\n", "'3*t' contains no coordinate");
  REFUSED(HEAD "forces: {motor: {on: x', value: 1}}\n", "what a force acts on may use");
  REFUSED(HEAD "forces: {motor: {on: x, valu: 1}}\n", "did you mean 'value'?");
}

// A constraint or lock may be called as a function is: it stands in lambda() alone.
static void test_names_of_functions(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\ncoordinates: {x: , y: }\nconstraints: {floor: y = 0, \"max[i=1..2]\": x = i*y}\n"
      "locks: {step: {lock: x, capacity: \"lambda(floor)\", friction: 0}}\n"
      "outputs: {o: lambda(floor) + floor(2.5), p: \"lambda(max[2]) + max(1, 2)\", q: "
      "lambda(step)}\n");
  assert_int_equal(model->output_count, 3);
  pawl_model_destroy(model);
  REFUSED(HEAD "constraints: {t: x = 0}\n", "'t' is a reserved word");
}

static void test_springs(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {k: 3, c: 5}\ncoordinates: {x: , y: , z: }\n"
      "springs:\n  a: {from: [x, y], to: [4, 5.1], length: 2, stiffness: k, damping: c}\n");
  double off = 5.0 - 2.0, rate = -(3.0 * 2.0 + 4.0 * 2.1) / 5.0;
  CHECK_NEAR(total_of(model, PAWL_TERM_POTENTIAL, -1), 1.5 * off * off, 1e-13);
  CHECK_NEAR(total_of(model, PAWL_TERM_DISSIPATION, -1), 2.5 * rate * rate, 1e-13);
  pawl_model_destroy(model);
  model = read_model(
      "model: m\ncoordinates: {x: , y: , z: }\n"
      "springs:\n  a: {from: [x, y, z], to: [0, 0, 0], stiffness: 2}\n"
      "  b[i=1..2]: {along: i*x - y, stiffness: 10, length: 0.1*t}\n");
  CHECK_NEAR(total_of(model, PAWL_TERM_POTENTIAL, -1),
             1.0 + 1.21 + 1.44 + 5.0 * (0.6 * 0.6 + 0.4 * 0.4), 1e-13);
  pawl_model_destroy(model);
  REFUSED(HEAD "springs: {a: {from: [x], stiffness: 1}}\n", "needs from: and to:");
  REFUSED(HEAD "springs: {a: {along: x}}\n", "a spring needs stiffness: or damping:");
  REFUSED(HEAD "springs: {a: {from: [x, 1], to: [2], damping: 1}}\n", "expected two points");
  REFUSED(HEAD "springs: {a: {along: x, stiffness: x}}\n",
          "a stiffness or damping may use parameters only");
  REFUSED(HEAD "springs: {a: {along: x, stiffness: 1, length: x}}\n",
          "a free length may use parameters and t only");
}

// In an element type: what a force acts on is renamed.
static void test_forces_of_an_element(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nelements:\n  part:\n    coordinates: {x: , y: }\n"
      "    forces: {push: {on: x - y, value: x}}\n    springs: {y: {along: y, stiffness: 4}}\n"
      "use: {a: {element: part}}\n");
  CHECK_NEAR(total_of(model, PAWL_TERM_FORCE, 1), -1.0, 0);
  CHECK_NEAR(total_of(model, PAWL_TERM_POTENTIAL, -1), 2.0 * 1.21, 1e-15);
  pawl_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ranges),
      cmocka_unit_test(test_functions_of_the_user),
      cmocka_unit_test(test_wrong_functions),
      cmocka_unit_test(test_wrong_ranges),
      cmocka_unit_test(test_families_of_parameters),
      cmocka_unit_test(test_starts),
      cmocka_unit_test(test_forces_along),
      cmocka_unit_test(test_springs),
      cmocka_unit_test(test_names_of_functions),
      cmocka_unit_test(test_forces_of_an_element),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
