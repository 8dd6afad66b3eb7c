// SPDX-License-Identifier: Apache-2.0
// Wrong models: each message names the place, the offending text, what was expected, and the
// nearest known name.

#include "reading.h"

#define HEAD "model: m\nparameters: {k: 2, mass1: 3}\ncoordinates: {xpos: 1, y: }\n"

static void test_top_level(void** state) {
  (void)state;
  REFUSED("- a\n- b\n", "m.yaml:1:1: a model is a map");
  REFUSED("just text\n", "m.yaml:1:1: a model is a map");
  REFUSED("coordinates: [x]\n", "model: with a name is missing");
  REFUSED("model:\ncoordinates: [x]\n", "model: with a name is missing");
  REFUSED("model: [a]\ncoordinates: [x]\n", "m.yaml:1:8: expected text, found a list");
  REFUSED("model: m\n", "coordinates: with at least one coordinate is missing");
  REFUSED("model: m\ncoordinates: {}\n", "m.yaml:2:14: coordinates: with at least one");
  REFUSED("model: m\ncoordinates: x\n", "m.yaml:2:14: coordinates:");
  REFUSED(HEAD "potentail: xpos\n", "m.yaml:4:1: unknown key 'potentail'",
          "did you mean 'potential'?");
  REFUSED(HEAD "gravity: 9.81\n", "unknown key 'gravity' in a model", "expected one of", "kinetic");
}

// A reader who mistyped three names learns of all three.
static void test_all_unknown_names_of_an_expression(void** state) {
  (void)state;
  REFUSED(HEAD "constraints: {c: ypos + z*zz = w*xpos + z}\n",
          "m.yaml:4:18: in 'ypos + z*zz = w*xpos + z': unknown name 'ypos'; did you mean 'xpos'?\n"
          "m.yaml:4:25: in 'ypos + z*zz = w*xpos + z': unknown name 'z'",
          "m.yaml:4:27: in 'ypos + z*zz = w*xpos + z': unknown name 'zz'",
          "m.yaml:4:32: in 'ypos + z*zz = w*xpos + z': unknown name 'w'");
}

// e is Euler's number until the model takes the name.
static void test_the_name_e(void** state) {
  (void)state;
  PawlModel* model = read_model("model: m\nparameters: {a: log(e^2)}\ncoordinates: [x]\n");
  CHECK_NEAR(model->parameters[0].value, 2.0, 1e-15);
  pawl_model_destroy(model);
  model = read_model("model: m\nparameters: {e: 3, a: e^2}\ncoordinates: [x]\noutputs: {o: e}\n");
  CHECK_NEAR(model->parameters[1].value, 9.0, 0.0);
  CHECK_NEAR(node_value(model, model->outputs[0].node), 3.0, 0.0);
  pawl_model_destroy(model);
  model = read_model("model: m\ncoordinates: [e]\noutputs: {o: 10*e + e' + e''}\n");
  CHECK_NEAR(node_value(model, model->outputs[0].node), 10 * 1 + 2 + 3, 1e-15);
  pawl_model_destroy(model);
}

static void test_yaml_traps(void** state) {
  (void)state;
  REFUSED("model: m\ncoordinates:\n\tx: 1\n", "m.yaml:3:1: a tab indents this line", "spaces");
  REFUSED("model: m\ncoordinates:\n  x: 1\n \ty: 2\n", "a tab indents this line");
  REFUSED("model: m\ncoordinates: {u[i=1..3]: 1}\n", "m.yaml:2:16: '[' inside { } begins a list",
          "in quotes: \"u[i=1..3]\"");
  REFUSED("model: m\ncoordinates: [x]\noutputs: {a: x + max(x, 2), b: x}\n",
          "m.yaml:3:14: inside { } or [ ] YAML cuts 'x + max(x, 2)' at its comma",
          "put all of it in quotes: \"x + max(x, 2)\"");
  REFUSED("model: m\ncoordinates: [x]\noutputs: {a: x + max(x, 2, b: x}\n",
          "in 'x + max(x': the expression is cut off", "in quotes, \"x + max(x, ...\"");
  REFUSED("model: m\ncoordinates: [x]\npotential: [clamp(x, 0, max(1, 2)), x]\n",
          "in quotes: \"clamp(x, 0, max(1, 2))\"");
  PawlModel* model;
  PawlError err = {0};
  static const char one[] = "model: m\ncoordinates: [x]\nforces: {x: clamp(x, 0, 1)}\n";
  assert_int_equal(pawl_model_parse(one, strlen(one), "m", 0, NULL, &model, &err),
                   PAWL_ERROR_MODEL);
  assert_int_equal(line_count(err.message), 1);  // not the pieces, too
}

// The force of a contact is known when a step has ended: to outputs and conditions alone.
static void test_force_of_a_contact(void** state) {
  (void)state;
#define TABLE HEAD "contacts: {table: {gap: y}}\n"
  PawlModel* model = read_model(TABLE "outputs: {N: 2*lambda(table)}\n");
  CHECK_NEAR(node_value(model, model->outputs[0].node), 8.0, 1e-15);
  pawl_model_destroy(model);
  model = read_model(TABLE "outputs: {N: lambda(table)}\nevents: {loaded: {when: N - 5}}\n");
  pawl_model_destroy(model);
  REFUSED(TABLE "locks: {b: {lock: y, engaged: true, capacity: lambda(table), friction: 1}}\n",
          "'table' is a contact: outputs and conditions know its force, but a capacity does not");
  REFUSED(TABLE
          "outputs: {N: lambda(table)}\n"
          "locks: {b: {lock: y, engaged: true, capacity: N, friction: 1}}\n",
          "the output 'N' is made of the force of a contact, which a capacity does not know");
#undef TABLE
}

static void test_friction_beyond_the_capacity(void** state) {
  (void)state;
#define BRAKE(fields) HEAD "locks: {brake: {lock: y, engaged: true, " fields "}}\n"
  REFUSED(BRAKE("capacity: k, friction: 1.5*k"), "the friction while sliding is 3",
          "more than the capacity, 2");
  REFUSED(BRAKE("capacity: k, friction: -1"), "the friction is -1, must be >= 0");
  REFUSED(BRAKE("capacity: -3"), "the capacity is -3, must be >= 0");
  REFUSED(BRAKE("capacity: 1 - k, friction: 0"), "the capacity is -1, must be >= 0");
  pawl_model_destroy(read_model(BRAKE("capacity: 0")));
  pawl_model_destroy(read_model(BRAKE("capacity: k, friction: k")));
  pawl_model_destroy(read_model(BRAKE("capacity: k, friction: 3 + y'")));
#undef BRAKE
}

// 10^8 rounds are refused before they are made.
static void test_loops_without_end(void** state) {
  (void)state;
  REFUSED(HEAD "potential:\n  for i=1..10000, j=1..10000: y\n",
          "m.yaml:5:7: ", "have 100000000 rounds; at most 50000000");
  REFUSED(HEAD "potential:\n  for i=1..20000, j=1..i: y\n", "more than 5000", "rounds");
  REFUSED(HEAD "potential:\n  for i=1..100000000: y\n", "more than 10000000 indices");
  REFUSED(HEAD "potential:\n  for i=1..100000: {for j=1..1000: y}\n",
          "m.yaml:5:3: this loop and those inside it have more than 50000000 rounds together");
  REFUSED(HEAD "potential:\n  for i=1..10000000:\n  - y^2\n  - for j=1..10: y\n",
          "m.yaml:5:3: this loop and those inside it");
  REFUSED(HEAD "potential:\n  for i=1..20000: {for j=1..i: [y, {for l=1..2: y}]}\n",
          "m.yaml:5:3: this loop and those inside it");
  REFUSED(HEAD "scene:\n  for i=1..10000: {for j=1..10000: {disc: {at: [i, j], radius: 1}}}\n",
          "m.yaml:5:3: this loop and those inside it");
}

static void test_parameters(void** state) {
  (void)state;
#define WRONG(entry, ...) \
  REFUSED("model: m\nparameters:\n  a: 2\n" entry "coordinates: [x]\n", __VA_ARGS__)
  WRONG("  b: 2*aa\n", "m.yaml:4:8: in '2*aa': unknown name 'aa'; did you mean 'a'?");
  WRONG("  b: c\n  c: 1\n", "m.yaml:4:6: ", "'c' comes later (line 5)");
  WRONG("  b: b + 1\n", "m.yaml:4:6: ", "'b' uses itself");
  WRONG("  b: x\n", "m.yaml:4:6: ", "unknown name 'x'");
  WRONG("  b: t\n", "m.yaml:4:6: ", "time");
  WRONG("  b: .nan\n", "m.yaml:4:6: '.nan' is not a finite number");
  WRONG("  b: nan\n", "m.yaml:4:6: 'nan' is not a finite number");
  WRONG("  b: -.inf\n", "m.yaml:4:6: '-.inf' is not a finite number");
  WRONG("  b: 0/0\n", "m.yaml:4:6: '0/0' is not a finite number");
  WRONG("  b: log(-a)\n", "m.yaml:4:6: 'log(-a)' is not a finite number");
  WRONG("  b: 1e200*1e200\n", "m.yaml:4:6: ", "is not a finite number");
  WRONG("  b: 1e999\n", "m.yaml:4:6: ");
  WRONG("  b:\n", "m.yaml:4:5: expected an expression, found nothing");
  WRONG("  b: [[1]]\n", "m.yaml:4:7: expected an expression, found a list");
  WRONG("  b: {val: 1}\n", "m.yaml:4:7: unknown key 'val'", "did you mean 'value'?");
  WRONG("  b: {unit: m}\n", "m.yaml:4:6: a parameter needs value:");
  WRONG("  b[i=1..c]: 1\n", "m.yaml:4:10: ", "unknown name 'c'");
  WRONG("  sin: 1\n", "m.yaml:4:3: 'sin' is a reserved word");
  WRONG("  pi: 1\n", "m.yaml:4:3: 'pi' is a reserved word");
  WRONG("  2b: 1\n", "m.yaml:4:3: ");
  WRONG("  a: 3\n", "m.yaml:4:3: the key 'a' is given twice; first at line 3, column 3");
  WRONG("  b: a'\n", "m.yaml:4:6: ", "'a' is a parameter and has no time derivative");
#undef WRONG
  REFUSED("model: m\nparameters: [a]\ncoordinates: [x]\n",
          "m.yaml:2:13: parameters: expected a map");
}

static void check_override(const char* override, const char* part) {
  check_refused_with(HEAD, 1, &override, (const char* const[]){part, NULL});
}

static void test_overrides(void** state) {
  (void)state;
  check_override("mas1=2",
                 "-p mas1=2: 'mas1' is not a parameter of the model; did you mean 'mass1'?");
  check_override("k", "-p k: expected name=expression");
  check_override("=3", "-p =3: expected name=expression");
  check_override("k=", "-p k=: ");
  check_override("k=1/0", "-p k=1/0: '1/0' is not a finite number");
  check_override("k=nan", "-p k=nan: 'nan' is not a finite number");
  check_override("k=2*(", "-p k=2*(: in '2*('");
  check_override("k=mass1", "comes later");
  check_override("xpos=1", "'xpos' is not a parameter");
}

static void test_coordinates(void** state) {
  (void)state;
  REFUSED("model: m\nparameters: {k: 2}\ncoordinates: {x: {strat: 1}}\n",
          "m.yaml:3:19: unknown key 'strat' in a coordinate", "did you mean 'start'?");
  REFUSED("model: m\ncoordinates: {x: {start: 2*y}, y: {start: d}}\ndefine: {d: x}\n",
          "m.yaml:2:43: in 'd': the start of 'y' uses itself");
  REFUSED("model: m\ncoordinates: {x: {start: x''}, y: 1}\n",
          "a start may use parameters and the starts of others only");
  REFUSED("model: m\ncoordinates: {x: {start: t}, y: 1}\n", "'t' contains time");
  REFUSED("model: m\ncoordinates: {x: {start: 1/y}, y: }\n", "'1/y' is not a finite number");
  REFUSED("model: m\ncoordinates: {x: {start: z}, y: }\n", "m.yaml:2:26: ", "unknown name 'z'");
  REFUSED("model: m\ncoordinates: {x: {guess: yes}, y: }\n",
          "guess 'yes': expected true, false, start, rate");
  REFUSED("model: m\nparameters: {x: 2}\ncoordinates: {x: 1}\n",
          "m.yaml:3:15: 'x' is already a parameter (line 2, column 14)");
  REFUSED("model: m\ncoordinates: [x, y, x]\n",
          "m.yaml:2:21: 'x' is already a coordinate (line 2, column 15)");
  REFUSED("model: m\ncoordinates: [x, [y]]\n", "m.yaml:2:18: expected a name");
  REFUSED("model: m\ncoordinates: [t]\n", "m.yaml:2:15: 't' is a reserved word");
  REFUSED("model: m\ncoordinates: {x: {unit: [m]}}\n", "m.yaml:2:25: expected text");
  REFUSED("model: m\ncoordinates: {x: [1]}\n", "m.yaml:2:18: expected an expression");
  REFUSED("model: m\ncoordinates: {x: {start: atan2(1, 2)}}\n",
          "m.yaml:2:26: ", "in quotes: \"atan2(1, 2)\"");
}

static void test_definitions(void** state) {
  (void)state;
  REFUSED(HEAD "define:\n  a: b + 1\n  b: c\n  c: 2*a'\n",
          "m.yaml:5:3: the definition uses itself: a -> b -> c -> a");
  REFUSED(HEAD "define: {a: a}\n", "the definition uses itself: a -> a");
  REFUSED(HEAD "define:\n  X[0]: X[2]\n  X[i=1..3]: X[i-1]\n",
          "m.yaml:5:3: ", "X[0] -> X[2] -> X[1] -> X[0]");
  REFUSED(HEAD "define:\n  X[i=1..3]: X[i-1] + 1\n",
          "m.yaml:5:14: ", "'X[0]' does not exist; the indices of 'X' are 1..3");
  REFUSED(HEAD "define: {xpos: 1}\n", "m.yaml:4:10: 'xpos' is already a coordinate (line 3");
  REFUSED(HEAD "define: {a: xpo}\n", "m.yaml:4:13: ", "unknown name 'xpo'; did you mean 'xpos'?");
  REFUSED(HEAD "define: {a: lambda(c)}\n", "m.yaml:4:13: ", "a definition may use");
  REFUSED(HEAD "define: {a: xpos''}\noutputs: {b: a'}\n", "m.yaml:5:14: ", "accelerations");
  REFUSED(HEAD "define: {a: xpos'''}\n", "m.yaml:4:13: ", "more than two time derivatives");
  REFUSED(HEAD "define: {a: t'}\n", "m.yaml:4:13: ", "no prime");
  REFUSED(HEAD "define: {a: xpos[1]}\n", "in quotes: \"xpos[1]\"");
  REFUSED(HEAD "define:\n  a: xpos[1]\n", "m.yaml:5:6: ", "'xpos' has no indices");
  REFUSED(HEAD "define:\n  a[i=1..2]: i\n  b: a\n",
          "m.yaml:6:6: ", "'a' is a family and needs 1 index in brackets (1..2)");
  REFUSED(HEAD "define:\n  a[i=1..2]: i\n  b: a[y]\n",
          "m.yaml:6:8: ", "an index may use parameters and indices only");
  REFUSED(HEAD "define:\n  a[i=1..2]: i\n  b: a[k/4]\n",
          "m.yaml:6:8: ", "the index is 0.5, expected a whole number");
  REFUSED(HEAD "define:\n  a[i=1..2]: i'\n", "'i' is an index here and has no time derivative");
}

static void test_terms(void** state) {
  (void)state;
  REFUSED(HEAD "kinetic: k*xpos''\n", "m.yaml:4:12: ", "'xpos''' contains accelerations",
          "a kinetic energy may use parameters, coordinates, rates and t only");
  REFUSED(HEAD "potential: k*y'\n", "m.yaml:4:14: ", "'y'' contains rates",
          "a potential energy may use parameters, coordinates, states, inputs and t only");
  REFUSED(HEAD "define: {v: y'}\npotential: 2*v\n", "m.yaml:5:14: ", "'v' contains rates");
  REFUSED(HEAD "dissipation: y''\n", "m.yaml:4:14: ");
  REFUSED(HEAD "forces: {yy: 1}\n", "m.yaml:4:10: 'yy' is not a coordinate", "did you mean 'y'?");
  REFUSED(HEAD "forces: {k: 1}\n", "m.yaml:4:10: 'k' is not a coordinate");
  REFUSED(HEAD "forces: {y: \"lambda(c)\"}\n", "m.yaml:4:14: ", "multipliers");
  REFUSED(HEAD "mass: {y: 0}\n", "m.yaml:4:11: the mass of 'y' is 0, must be > 0");
  REFUSED(HEAD "mass: {y: -k}\n", "m.yaml:4:11: the mass of 'y' is -2");
  REFUSED(HEAD "mass: {y: xpos}\n", "m.yaml:4:11: ", "a mass may use parameters only");
  REFUSED(HEAD "mass: [1]\n", "m.yaml:4:7: mass: expected a map");
  REFUSED(HEAD "kinetic:\n  four i=1..2: 1\n", "m.yaml:5:3: unknown key 'four i=1..2'",
          "for i=a..b");
  REFUSED(HEAD "kinetic:\n  for i=1..: 1\n", "m.yaml:5:");
  REFUSED(HEAD "kinetic:\n  for i=1..2:\n    for i=1..2: 1\n", "m.yaml:6:9: ", "already in use");
  REFUSED(HEAD "kinetic: [y, ]\npotential: \"(xpos\"\n", "m.yaml:5:");
  REFUSED(HEAD "potential: \"2*(xpos + yy)\"\n",
          "m.yaml:4:23: in '2*(xpos + yy)': unknown name 'yy'");
  REFUSED(HEAD "potential: |\n  2*xpos\n  + yy\n", "m.yaml:4:12: ", "unknown name 'yy'");
}

static void test_constraints(void** state) {
  (void)state;
#define WRONG(entry, ...) REFUSED(HEAD "constraints:\n" entry, __VA_ARGS__)
  WRONG("  c: y' = 1\n", "m.yaml:5:6: ", "is written with rate:");
  WRONG("  c: {rate: y = 1}\n", "m.yaml:5:13: rate: 'y = 1' contains no rate such as x'");
  WRONG("  c: {rate: y'*xpos' = 1}\n",
        "m.yaml:5:13: ", "linear in the rates, and the term y'*xpos' is not");
  WRONG("  c: {rate: y' + 2*sin(xpos') = 1}\n", "m.yaml:5:13: ", "the term 2*sin(xpos') is not");
  WRONG("  c: {rate: floor(y') = 1}\n", "m.yaml:5:13: ", "the term floor(y') is not");
  WRONG("  c: {rate: xpos'/y' = 1}\n", "m.yaml:5:13: ", "the term xpos'/y' is not");
  WRONG("  c: {rate: xpos'' = 1}\n", "m.yaml:5:13: ", "contains accelerations");
  WRONG("  c: {rate: xpos' = 1, equation: xpos = 1}\n", "either equation:, rate: or modes:");
  WRONG("  c: {rate: xpos' = 1, on: keep}\n", "on: is for equations of coordinates");
  WRONG("  c: xpos = z\nstates: {z: {rate: 1, follows: y}}\n", "either rate: or follows:");
  WRONG("  c: xpos = z\nstates: {z: {follows: y'}}\n", "contains rates");
  WRONG("  c: xpos = y\nstates: {z: {follows: y}}\nevents: {e: {at: 1, set: {z: 1}}}\n",
        "set: 'z' follows an expression");
  WRONG("  c: {equation: xpos = 1, at: 1, capacity: 2, set: {z: y}}\nstates: {z: 1}\n",
        "set: is for a constraint without capacity");
  WRONG("  c: {equation: xpos = z, at: 1, on: keep}\nstates: {z: 1}\n",
        "'c' has the state 'z', which the constraint does not set");
  WRONG("  c: xpos = z\nstates: {z: 1}\n", "which the constraint does not set");
  WRONG("  c: {equation: xpos = z, at: 1, on: keep, set: {z: y}}\nstates: {z: {rate: 1}}\n",
        "contains states");
  WRONG("  c: {equation: xpos = 1, at: 1, on: keep, set: {z: y}}\nstates: {z: {rate: 1}}\n",
        "sets states without rate, 'z' is one with a rate");
  WRONG("  c: {equation: xpos = z, at: 1, on: keep, set: {z: y'}}\nstates: {z: 1}\n",
        "contains rates");
  WRONG(
      "  c: {equation: xpos = z, at: 1, on: keep, set: {z: y}}\nstates: {z: 1}\n"
      "events: {e: {at: 2, set: {z: 0}}}\n",
      "set: 'z' is set by a constraint already");
  WRONG("  c: {modes: {a: {where: xpos < 1, rate: xpos' = 0, equation: xpos = 1}}}\n",
        "either equation: or rate:");
  WRONG("  c: y == 1\n", "m.yaml:5:6: 'y == 1' is a comparison", "one = sign");
  WRONG("  c: y < 1\n", "m.yaml:5:6: 'y < 1' is a comparison");
  WRONG("  c: y = \n", "m.yaml:5:");
  WRONG("  c:\n", "m.yaml:5:3: the constraint 'c' has no equation");
  WRONG("  c: []\n", "m.yaml:5:3: the constraint 'c' has no equation");
  WRONG("  c: {impact: post}\n", "m.yaml:5:3: the constraint 'c' has no equation");
  WRONG("  c: {equation: y, impact: 2}\n", "m.yaml:5:28: impact = 2; expected post, pre");
  WRONG("  c: {equation: y, impact: past}\n", "m.yaml:5:28: ", "past");
  WRONG("  c: {equaton: y}\n", "m.yaml:5:7: unknown key 'equaton' in a constraint",
        "did you mean 'equation'?");
  WRONG("  c: {equation: y, modes: {a: y}}\n",
        "m.yaml:5:20: ", "either equation:, rate: or modes:");
  WRONG("  c: {equation: y, start: a}\n", "m.yaml:5:20: start: is for a constraint with modes:");
  WRONG("  c: {modes: {a: {where: y, equation: y}}}\n",
        "m.yaml:5:26: where: 'y': expected a comparison");
  WRONG("  c: {modes: {a: {where: y' < 1, equation: y}}}\n", "m.yaml:5:26: ", "contains rates");
  WRONG("  c: {modes: {a: y}}\n", "m.yaml:5:15: the mode 'a' has no where:", "start:");
  WRONG("  c: {modes: {a: y}, start: b}\n", "m.yaml:5:29: start: 'b' is not a mode of 'c'");
  WRONG("  c: {modes: {a: }, start: a}\n", "m.yaml:5:14: no mode of 'c' has an equation");
  WRONG("  c: {modes: {a: y}, start: a, at: 3}\n",
        "m.yaml:5:32: 'at' cannot be combined with modes:");
  WRONG("  c: {modes: [y]}\n", "m.yaml:5:14: modes: expected a map");
  WRONG("  c: {equation: y, assemble: maybe}\n", "assemble:");
  WRONG("  c: {equation: y, assemble: true, at: 2}\n",
        "assemble: holds at the start alone, and cannot be combined with 'at'");
  WRONG("  c: {equation: y, at: [2, 1]}\n",
        "m.yaml:5:28: the times of at: must ascend; 1 follows 2");
  WRONG("  c: {equation: y, at: -1}\n", "m.yaml:5:24: '-1' = -1 s, must be >= 0");
  WRONG("  c: {equation: y, for: 0}\n", "m.yaml:5:25: '0' = 0 s, must be > 0");
  WRONG("  c: {equation: y, direction: up}\n", "m.yaml:5:20: direction: needs when:");
  WRONG("  c: {equation: y, when: y, direction: upp}\n",
        "m.yaml:5:40: ", "expected down, both, up; did you mean 'up'?");
  WRONG("  c: {equation: y, engaged: yes}\n", "m.yaml:5:29: 'yes': expected true or false");
  WRONG("  c: {equation: y, friction: 1}\n", "m.yaml:5:20: friction: needs capacity:");
  WRONG("  c: {equation: y, release: 3}\n", "m.yaml:5:29: release: expected a map");
  WRONG("  c: {equation: y, release: {}}\n", "m.yaml:5:29: release: needs at: or when:");
  WRONG("  c: y\nlocks:\n  c: {lock: y}\n", "m.yaml:7:3: 'c' is already a constraint (line 5");
#undef WRONG
}

static void test_locks(void** state) {
  (void)state;
#define WRONG(entry, ...) REFUSED(HEAD "locks:\n" entry, __VA_ARGS__)
  WRONG("  c: y\n", "m.yaml:5:6: a lock is a map");
  WRONG("  c: {at: 1}\n", "m.yaml:5:6: the lock 'c' needs lock:");
  WRONG("  c: {lock: [y]}\n", "m.yaml:5:13: lock: expected one expression");
  WRONG("  c: {lock: y'}\n", "m.yaml:5:13: ", "contains rates");
  WRONG("  c: {lock: y, on: snapp}\n", "m.yaml:5:20: on: 'snapp': expected keep, snap, refuse",
        "did you mean 'snap'?");
  WRONG("  c: {lock: y, to: 3}\n", "m.yaml:5:16: to: needs on: snap");
  WRONG("  c: {lok: y}\n", "m.yaml:5:7: unknown key 'lok' in a lock", "did you mean 'lock'?");
#undef WRONG
}

static void test_states_and_inputs(void** state) {
  (void)state;
  REFUSED(HEAD "states: {z: {rat: 1}}\n", "m.yaml:4:14: unknown key 'rat' in a state",
          "did you mean 'rate'?");
  REFUSED(HEAD "states: [z]\n", "m.yaml:4:9: states: expected a map");
  REFUSED(HEAD "states: {y: 0}\n", "m.yaml:4:10: 'y' is already a coordinate (line 3");
  REFUSED(HEAD "states: {z: {start: y}}\n",
          "m.yaml:4:21: ", "'y' is a coordinate, but a number may");
  REFUSED(HEAD "states: {z: {rate: yy}}\n", "m.yaml:4:20: ", "unknown name 'yy'");
  REFUSED(HEAD "contacts: {f: {gap: y}}\nstates: {z: {rate: lambda(f)}}\n",
          "m.yaml:5:20: ", "contact");
  REFUSED(HEAD "states: {z: {rate: \"2*w'\"}, w: {rate: \"y - 3*z'\"}, u: {rate: \"z'\"}}\n",
          "m.yaml:4:20: rates of states follow from each other in a circle: z' uses w' uses z'");
  REFUSED(HEAD "define: {d: 3*z}\nstates: {z: {rate: y - d'}}\n", "circle: z' uses z'");
  REFUSED(HEAD "states: {z: 0}\nconstraints: {c: {modes: {a: {where: z > 1, equation: y = 0}}}}\n",
          "the region of a mode may use", "written with when: and release:");
  REFUSED(HEAD "locks: {c: {lock: y, rate: \"y' = 0\"}}\n",
          "m.yaml:4:22: the lock 'c' needs lock:");
  REFUSED(HEAD "locks: {c: {rate: \"y' = 0\", to: 1}}\n", "to: is for equations of coordinates");
  REFUSED(HEAD "locks: {c: {rate: y = 0}}\n", "contains no rate such as");
  REFUSED(HEAD "states: {z: {rate: y}}\nforces: {y: \"z'\"}\n", "'z'' contains the rate of a state",
          "a force may use parameters, coordinates, rates, states, inputs and t only");
  REFUSED(HEAD "tables: {f: {points: [[0,0],[1,1]]}}\nforces: {y: 2*f}\n",
          "m.yaml:5:15: in '2*f': 'f' is a table and needs its arguments, f(x)");
  REFUSED(HEAD "functions: {f(a): a}\nforces: {y: f}\n", "'f' is a function and needs its");
  REFUSED(HEAD "parameters: {k: 2}\nforces: {y: k(y + 1)}\n",
          "m.yaml:5:13: ", "'k' is a parameter, not a function; write k*(...)");
  REFUSED(HEAD "constraints: {lambda: y = 0}\n", "'lambda' is a reserved word");
  REFUSED(HEAD "forces: {y: -k*u[1] + u[2]}\n", "in quotes: \"-k*u[1] + u[2]\"");
  REFUSED(HEAD "forces: {x: 2, y: max(1, u[2]) + u[3], z: 1}\n",
          "in quotes: \"max(1, u[2]) + u[3]\"");
  REFUSED(HEAD
          "forces: {y: max(1000000*y^2 + 2000000*y^3 - 4000*sin(y)*cos(y), 5*exp(-y^2) + 10*y)}\n",
          "cos(y), 5*exp(-y^2) + 10*y)\"");
  REFUSED(HEAD "states: {speed: 1}\nevents: {e: {at: 1, set: {sped: 1}}}\n",
          "set: 'sped' is neither a state nor an input; did you mean 'speed'?");
  REFUSED(HEAD "states: {z: {rate: \"z''\"}}\n",
          "m.yaml:4:21: ", "'z' is a state and has one time derivative only");
  REFUSED(HEAD "states: {z: 1}\noutputs: {o: \"z'\"}\n",
          "m.yaml:5:15: ", "'z' is a state without rate and has no time derivative");
  REFUSED(HEAD "inputs: {u: {rate: 1}}\n", "m.yaml:4:14: unknown key 'rate' in an input");
  REFUSED(HEAD "inputs: {u: 1}\noutputs: {o: \"u'\"}\n",
          "m.yaml:5:15: ", "'u' is an input and has no time derivative");
  REFUSED(HEAD "inputs: {u: 1}\nkinetic: u*y'^2\n",
          "m.yaml:5:10: ", "'u' contains inputs, but a kinetic energy may use");
  REFUSED(HEAD "states: {z: {rate: 1}}\nconstraints: {c: y = z}\n",
          "m.yaml:5:22: ", "'z' contains states, but a constraint may use");
  REFUSED(HEAD "inputs: {u: 1}\noutputs: {u: y}\n", "m.yaml:5:11: 'u' is already an input");
#define WRONG(event, ...) \
  REFUSED(HEAD "inputs: {u: 1}\nstates: {z: {rate: 1}}\nevents: {f: " event "}\n", __VA_ARGS__)
  WRONG("{every: 0}", "m.yaml:6:21: '0' = 0 s, must be > 0");
  WRONG("{at: 1, offset: 2}", "m.yaml:6:21: offset: needs every:");
  WRONG("{every: 1, at: 2}", "m.yaml:6:14: every: and at: are two schedules");
  WRONG("{every: 1, set: u}", "m.yaml:6:29: set: expected a map of states and inputs");
  WRONG("{every: 1, set: {y: 0}}",
        "m.yaml:6:30: set: 'y' is a coordinate; only states and inputs can be set",
        "impulse: changes the rate");
  WRONG("{every: 1, set: {k: 0}}", "m.yaml:6:30: set: 'k' is a parameter; only states");
  WRONG("{every: 1, set: {uu: 0}}", "m.yaml:6:30: ", "'uu'");
  WRONG("{every: 1, set: {u: yy}}", "m.yaml:6:33: ", "unknown name 'yy'");
#undef WRONG
}

static void test_friction_mistakes(void) {
#define WRONG(keys, ...) REFUSED(HEAD "contacts:\n  f: {gap: y, " keys "}\n", __VA_ARGS__)
  WRONG("friction: 0.3", "m.yaml:5:25: the contact 'f' has friction: and needs slip:");
  WRONG("slip: xpos", "m.yaml:5:21: the contact 'f' has slip: but no friction:");
  WRONG("friction: -0.1, slip: xpos", "m.yaml:5:25: the friction of 'f' is -0.1, must be >= 0");
  WRONG("friction: 0.1, slip: [xpos, y, xpos]",
        "m.yaml:5:36: the slip of 'f' has 3 expressions; expected one in a plane, or two in space");
  WRONG("friction: 0.1, slip: \"[xpos, y, xpos]\"",
        "m.yaml:5:36: the slip of 'f' is a vector of 3; expected one in a plane, or two in space");
  WRONG("friction: 0.1, slip: [\"[xpos, y]\", xpos]", "the slip of 'f'");
  WRONG("friction: 0.1, slip: xpos'^2",
        "m.yaml:5:36: slip: 'xpos'^2' must be linear in the rates, and the term xpos'^2 is not");
  WRONG("friction: 0.1, slip: 2*y'", "m.yaml:5:36: the slip of 'f' is the rate of its gap");
  WRONG("friction: 0.1, slip: y + 3", "m.yaml:5:36: the slip of 'f' is the rate of its gap");
  WRONG("friction: 0.1, slip: [xpos, \"y' - 2*xpos'\"]",
        "m.yaml:5:36: the slips of 'f' and the rate of its gap depend on each other");
  WRONG("friction: 0.1, slip: 3*k", "m.yaml:5:36: the slip '3*k' of 'f' contains no coordinate");
  WRONG("friction: 0.1, slip: xpos''", "m.yaml:5:36: ", "contains accelerations");
  WRONG("friction: {static: 0.4}, slip: y", "m.yaml:5:25: the friction of 'f' needs kinetic:");
  WRONG("friction: {static: 0.2, kinetic: 0.3}, slip: y",
        "m.yaml:5:48: the kinetic friction 0.3 of 'f' is more than the static one, 0.2");
  WRONG("friction: {statc: 0.2, kinetic: 0.3}, slip: y", "unknown key 'statc'", "'static'");
  WRONG("friction: 0.1 + y', slip: xpos", "m.yaml:5:31: ", "contains rates", "'slip' stands for");
  WRONG("friction: 0.1 + slip', slip: xpos",
        "m.yaml:5:31: ", "'slip' is an argument and has no time derivative");
  WRONG("friction: {static: 0.5, kinetic: 0.2 + 0.1*exp(-slip)}, slip: xpos",
        "m.yaml:5:48: the kinetic friction of 'f' is a function, '0.2 + 0.1*exp(-slip)'");
  WRONG("friction: {static: 0.5, kinetic: 0.2*oops}, slip: xpos", "unknown name 'oops'");
#undef WRONG
  REFUSED(HEAD "contacts: {f: {gap: 3*k}}\n", "the gap '3*k' of 'f' contains no coordinate");
  REFUSED(HEAD "contacts: {f: {gap: y < 1}}\n",
          "m.yaml:4:21: the gap 'y < 1' of 'f' is a comparison; expected a distance");
  REFUSED(HEAD "contacts: {f: {gap: 3 - t}}\n", "the gap '3 - t' of 'f' contains no coordinate");
  REFUSED(HEAD
          "contacts: {f: {gap: y, friction: 0.1, slip: xpos}}\noutputs: {o: \"lambda(f, 3)\"}\n",
          "row 3 does not exist; the rows of the contact 'f' are 1..2");
}

static void test_observed(void** state) {
  (void)state;
  REFUSED(HEAD "contacts: {f: y}\n", "m.yaml:4:15: a contact is a map");
  REFUSED(HEAD "contacts: {f: {restitution: 0}}\n", "m.yaml:4:15: the contact 'f' needs gap:");
  REFUSED(HEAD "contacts: {f: {gap: y, restitution: 1.5}}\n",
          "m.yaml:4:37: the restitution of 'f' is 1.5, must be in [0, 1]");
  REFUSED(HEAD "contacts: {f: {gap: y'}}\n", "m.yaml:4:21: ", "contains rates");
  test_friction_mistakes();
  REFUSED(HEAD "constraints: {f: y}\ncontacts: {f: {gap: y}}\n", "'f' is already a constraint");
  REFUSED(HEAD "events: {f: {stop: true}}\n",
          "m.yaml:4:13: the event 'f' needs when:, at: or every:");
  REFUSED(HEAD "events: {f: y}\n", "m.yaml:4:13: an event is a map");
  REFUSED(HEAD "events: {f: {when: yy}}\n", "m.yaml:4:20: ", "unknown name 'yy'");
  REFUSED(HEAD "outputs: {y: 1}\n", "m.yaml:4:11: 'y' is already a coordinate (line 3");
  REFUSED(HEAD "outputs: {o: {unit: m}}\n", "m.yaml:4:14: the output 'o' needs value:");
  REFUSED(HEAD "outputs: {o: {vale: y}}\n", "m.yaml:4:15: unknown key 'vale'");
#define WRONG(output, ...) \
  REFUSED(HEAD "constraints: {joint: [xpos, y]}\noutputs:\n  o: " output "\n", __VA_ARGS__)
  WRONG("lambda(jont)",
        "m.yaml:6:13: ", "'jont' is not a constraint, lock or contact; did you mean 'joint'?");
  WRONG("lambda(joint)", "m.yaml:6:6: ", "'joint' has 2 rows; write lambda(joint, row)");
  WRONG("lambda(joint, 3)", "m.yaml:6:6: ", "row 3 does not exist; the rows of 'joint' are 1..2");
  WRONG("lambda(joint, 1.5)", "m.yaml:6:", "expected a whole number");
  WRONG("lambda(joint[1], 1)", "m.yaml:6:13: ", "'joint' has no indices");
  WRONG("lambda(2)", "m.yaml:6:");
  WRONG("lambda()", "m.yaml:6:");
#undef WRONG
}

static void test_scene_and_simulate(void** state) {
  (void)state;
  REFUSED(HEAD "scene:\n  - circle: {at: [0, 0], radius: 1}\n",
          "m.yaml:5:5: shape 'circle': expected line, polygon, disc, spring");
  REFUSED(HEAD "scene:\n  - disc: {at: [0, 0]}\n", "m.yaml:5:11: disc: expected at: [x, y] and");
  REFUSED(HEAD "scene:\n  - disc: 3\n", "m.yaml:5:11: disc: expected a map");
  REFUSED(HEAD "scene:\n  - disc: {at: [0], radius: 1}\n", "m.yaml:5:16: expected a point [x, y]");
  REFUSED(HEAD "scene:\n  - line: {points: [[0, 0]]}\n", "m.yaml:5:20: ", "at least 2 points");
  REFUSED(HEAD "scene:\n  - spring: {points: [[0, 0], [1, 1], [2, 2]]}\n", "with 2 points");
  REFUSED(HEAD "scene:\n  - line: {points: [[0, 0], [y', 1]]}\n", "m.yaml:5:30: ", "rates");
  REFUSED(HEAD "scene:\n  - joint: {at: [0, 0], of: pin}\n", "m.yaml:5:29: 'pin' is not");
  REFUSED(HEAD "scene:\n  - joint: {at: [0, 0], of: [pin]}\n",
          "m.yaml:5:29: expected a name, found");
  REFUSED(HEAD "scene:\n  - line: {points: [[0, 0], [1, 1, 1]]}\n", "has 3 numbers");
  REFUSED(HEAD "scene:\n  - text: {at: [0, 0]}\n", "m.yaml:5:11: text: expected at:", "text:");
  REFUSED(HEAD "scene:\n  - force: {at: [0, 0]}\n", "force: expected at: [x, y] and vector:");
  REFUSED(HEAD "scene:\n  - surface: {points: {\"for i=0..3, j=0..3\": [i, j, 0]}}\n",
          "rows of equal");
  REFUSED(HEAD "scene:\n  - line: {points: {k: [0, 0]}}\n", "'k': expected a list of points");
  REFUSED(HEAD "scene: line\n", "m.yaml:4:8: 'line': expected a shape");
  REFUSED(HEAD "simulate: {step: 0}\n", "m.yaml:4:18: step = 0, must be finite and > 0");
  REFUSED(HEAD "simulate: {rho: k}\n", "m.yaml:4:17: rho = 2, must be in [0, 1]");
  REFUSED(HEAD "simulate: {stepp: 1}\n", "m.yaml:4:12: unknown option 'stepp'",
          "did you mean 'step'?");
  REFUSED(HEAD "simulate: {until: y}\n", "m.yaml:4:19: ", "'y' is a coordinate");
  REFUSED(HEAD "simulate: {method: }\n", "m.yaml:4:12: method is empty");
}

// Several mistakes, each once, in the order of the file; nothing that only follows from another.
static void test_several(void** state) {
  (void)state;
  const char* text =
      "model: m\n"
      "parameters: {a: 1/0, b: a + 1}\n"
      "coordinates: {x: {start: b}, y: {start: 1 +}}\n"
      "define: {d: xx, e1: d + y}\n"
      "kinetic: e1 + a*x'^2\n"
      "potential: x'\n"
      "constraints: {c: d = 0, f: x = q}\n"
      "outputs: {o: lambda(c)}\n"
      "simulate: {rho: a, step: -1}\n"
      "secne: 1\n";
  PawlModel* model;
  PawlError err;
  assert_int_equal(pawl_model_parse(text, strlen(text), "m.yaml", 0, NULL, &model, &err),
                   PAWL_ERROR_MODEL);
  static const char* const places[] = {
      "m.yaml:2:17: ",   "\nm.yaml:3:",     "\nm.yaml:4:13: ", "\nm.yaml:6:12: ",
      "\nm.yaml:7:32: ", "\nm.yaml:9:26: ", "\nm.yaml:10:1: "};
  const char* at = err.message;
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    at = strstr(at, places[k]);
    if (!at) {
      print_error("no '%s' in its place in\n%s\n", places[k], err.message);
    }
    assert_non_null(at);
  }
  assert_int_equal(line_count(err.message), 7);
}

static void test_no_error_wanted(void** state) {
  (void)state;
  PawlModel* model;
  assert_int_equal(pawl_model_parse("x", 1, "m", 0, NULL, &model, NULL), PAWL_ERROR_MODEL);
  assert_null(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_top_level),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_overrides),
      cmocka_unit_test(test_coordinates),
      cmocka_unit_test(test_definitions),
      cmocka_unit_test(test_terms),
      cmocka_unit_test(test_constraints),
      cmocka_unit_test(test_locks),
      cmocka_unit_test(test_observed),
      cmocka_unit_test(test_states_and_inputs),
      cmocka_unit_test(test_scene_and_simulate),
      cmocka_unit_test(test_all_unknown_names_of_an_expression),
      cmocka_unit_test(test_the_name_e),
      cmocka_unit_test(test_yaml_traps),
      cmocka_unit_test(test_force_of_a_contact),
      cmocka_unit_test(test_friction_beyond_the_capacity),
      cmocka_unit_test(test_loops_without_end),
      cmocka_unit_test(test_several),
      cmocka_unit_test(test_no_error_wanted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
