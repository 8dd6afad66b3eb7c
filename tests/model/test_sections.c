// SPDX-License-Identifier: Apache-2.0
// Each section of a good model, and what it becomes.
#include "reading.h"

static void test_title_and_parameters(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "about: words\nmodel: m\n"
      "parameters:\n  a: 2\n  b: 3*a + 1\n  c: {value: b/2, unit: kg}\n  d: pi\n"
      "coordinates: [x]\n");
  assert_string_equal(pawl_model_name(model), "m");
  assert_string_equal(pawl_model_about(model), "words");
  assert_int_equal(pawl_model_parameter_count(model), 4);
  assert_string_equal(pawl_model_parameter_name(model, 1), "b");
  CHECK_NEAR(pawl_model_parameter_value(model, 1), 7, 0);
  CHECK_NEAR(pawl_model_parameter_value(model, 2), 3.5, 0);
  CHECK_NEAR(pawl_model_parameter_value(model, 3), 3.141592653589793, 0);
  assert_string_equal(model->parameters[2].unit, "kg");
  assert_int_equal(model->parameters[1].source.line, 5);
  assert_string_equal(model->parameters[1].source.text, "3*a + 1");
  pawl_model_destroy(model);
}

static void test_overrides(void** state) {
  (void)state;
  const char* text = "model: m\nparameters: {a: 2, b: 3*a}\ncoordinates: {x: {start: b}}\n";
  const char* overrides[] = {"a=1", " a = 5*2"};  // the last one counts
  PawlModel* model;
  assert_int_equal(pawl_model_parse(text, strlen(text), "m", 2, overrides, &model, NULL), PAWL_OK);
  CHECK_NEAR(pawl_model_parameter_value(model, 0), 10, 0);
  CHECK_NEAR(pawl_model_parameter_value(model, 1), 30, 0);
  CHECK_NEAR(model->coordinates[0].start, 30, 0);
  pawl_model_destroy(model);
}

static void test_coordinates(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {l: 3}\n"
      "coordinates:\n  x: {start: l/2, rate: -1, unit: m}\n  y:\n  z: 2*l\n  w: {}\n");
  assert_int_equal(pawl_model_coordinate_count(model), 4);
  assert_string_equal(pawl_model_coordinate_name(model, 2), "z");
  const PawlCoordinate* x = model->coordinates;
  CHECK_NEAR(x[0].start, 1.5, 0);
  CHECK_NEAR(x[0].rate, -1, 0);
  assert_string_equal(x[0].unit, "m");
  CHECK_NEAR(x[1].start, 0, 0);
  CHECK_NEAR(x[2].start, 6, 0);
  assert_string_equal(x[3].unit, "");
  assert_int_equal(x[1].source.line, 5);
  pawl_model_destroy(model);
}

// J by the unit of the row, where any addend tells it.
static void test_units_of_multipliers(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {r: 2, l: {value: 1, unit: m}}\n"
      "coordinates: {x: {unit: m}, y: {unit: m}, phi: {unit: rad}, u: }\n"
      "constraints:\n"
      "  rolls: x = r*phi\n"
      "  turns: [phi = 3*u, x - phi = 0, u = 1]\n"
      "  rod: (x - 1)^2 + y^2 = r\n"
      "  rope: sqrt((x - 1)^2 + y^2) = 3\n"
      "  loop: l*cos(phi) + r*sin(phi) = 0\n"
      "  slips: {rate: y'*cos(phi) = x'*sin(phi)}\n"
      "  moded: {modes: {a: {where: x < 0, equation: x = u}, b: {where: x > 0, equation: x^2 = "
      "u}}}\n"
      "locks: {brake: {lock: phi, at: 1}}\n"
      "contacts: {floor: {gap: y - r*cos(phi)}}\n");
  const char* const first[] = {"N", "N m", "N/m", "N", "N", "N", "", "N m"};
  for (int c = 0; c < model->constraint_count; c++) {
    assert_string_equal(pawl_model_row_unit(model, c, 0), first[c]);
  }
  assert_int_equal(model->constraint_count, 8);
  assert_string_equal(pawl_model_row_unit(model, 1, 1), "");  // metres and radians
  assert_string_equal(pawl_model_row_unit(model, 1, 2), "");  // no unit stated
  assert_string_equal(pawl_model_contact_unit(model, 0), "N");
  pawl_model_destroy(model);
}

static void test_terms(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {m: 3, k: 2}\ncoordinates: [x, y]\n"
      "define: {r: x*y}\n"
      "kinetic: [m/2*r'^2, x'*y']\n"
      "potential: {for i=1..2: k*i*x}\n"
      "dissipation: k*x'^2\n"
      "mass: {y: 2*m}\n"
      "forces: {y: t - k*y'}\n");
  assert_int_equal(model->term_count, 7);
  // x = 1, y = 1.1, x' = 2, y' = 2.1, t = 5; r' = x'y + x y' = 4.3
  static const struct {
    PawlTermKind kind;
    double value;
  } expected[] = {
      {PAWL_TERM_KINETIC, 1.5 * 4.3 * 4.3},
      {PAWL_TERM_KINETIC, 2 * 2.1},
      {PAWL_TERM_KINETIC, 3 * 2.1 * 2.1},
      {PAWL_TERM_POTENTIAL, 2},
      {PAWL_TERM_POTENTIAL, 4},
      {PAWL_TERM_DISSIPATION, 8},
      {PAWL_TERM_FORCE, 5 - 2 * 2.1},
  };
  for (int k = 0; k < 7; k++) {
    assert_int_equal(model->terms[k].kind, expected[k].kind);
    CHECK_NEAR(node_value(model, model->terms[k].node), expected[k].value, 1e-13);  // rounding
  }
  assert_int_equal(model->terms[6].target, 1);
  assert_string_equal(model->terms[1].source.text, "x'*y'");
  pawl_model_destroy(model);
}

static void test_nested_loops(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {N: 3}\ncoordinates: [x]\n"
      "kinetic:\n"
      "  for i=1..N:\n"
      "    - i*x'^2\n"
      "    - for j=1..i: 10*i + j\n"
      "  for i=1..2, j=i..2: 100*i + j\n");
  static const double expected[] = {4,  11, 8,  21,  22,  12,
                                    31, 32, 33, 101, 102, 202};  // i x'^2 with x' = 2
  assert_int_equal(model->term_count, 12);
  for (int k = 0; k < 12; k++) {
    CHECK_NEAR(node_value(model, model->terms[k].node), expected[k], 0);
  }
  pawl_model_destroy(model);
}

static void test_constraints(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {l: 2}\ncoordinates: [x, y]\n"
      "constraints:\n"
      "  one: x = l*y + t\n"
      "  two: [x - y, y = 0]\n"
      "  three: {equation: [x = 1], impact: none, engaged: false}\n");
  assert_int_equal(pawl_model_constraint_count(model), 3);
  assert_string_equal(pawl_model_constraint_name(model, 1), "two");
  assert_int_equal(model->row_count, 4);
  const PawlConstraint* c = model->constraints;
  assert_int_equal(c[0].mode_count, 1);
  assert_null(c[0].modes[0].name);
  CHECK_NEAR(node_value(model, c[0].modes[0].rows[0].node), 1 - 2 * 1.1 - 5, 1e-15);
  CHECK_NEAR(node_value(model, c[1].modes[0].rows[0].node), 1 - 1.1, 1e-15);
  CHECK_NEAR(node_value(model, c[1].modes[0].rows[1].node), 1.1, 1e-15);
  assert_int_equal(c[1].first_row, 1);
  assert_int_equal(c[1].row_count, 2);
  assert_int_equal(c[2].first_row, 3);
  assert_true(c[0].switching->engaged && !c[0].switching->given && !c[0].impact_given);
  assert_true(!c[2].switching->engaged && c[2].switching->given && c[2].impact_given);
  CHECK_NEAR(c[0].impact, 1, 0);
  assert_true(c[2].impact_none && c[2].triggered && !c[0].triggered);
  pawl_model_destroy(model);
}

static const char kinked_track[] =
    "model: kinked-track\n"
    "about: Material point on a kinked track (Patil and Bruels, sec. 5.1)\n"
    "parameters: {m: 1, l: 3, theta: pi/4, vx: 1}\n"
    "coordinates:\n"
    "  x: {start: 0, rate: vx}\n"
    "  y: {start: 0}\n"
    "kinetic: m/2*(x'^2 + y'^2)\n"
    "constraints:\n"
    "  track:\n"
    "    impact: post            # pre | bisector | post | a number in [0, 1]\n"
    "    modes:\n"
    "      flat: {where: x < l, equation: y = 0}\n"
    "      ramp: {where: x > l, equation: y = tan(theta)*(x - l)}\n"
    "simulate: {method: nsga-pvv, until: 6, step: 2e-3, rho: 0.98}\n"
    "scene:\n"
    "  - line: {points: [[-1, 0], [l, 0], [l + 3, 3*tan(theta)]]}\n"
    "  - disc: {at: [x, y], radius: 0.1}\n";

static void test_modes(void** state) {
  (void)state;
  PawlModel* model = read_model(kinked_track);
  const PawlConstraint* track = model->constraints;
  assert_int_equal(track->mode_count, 2);
  assert_string_equal(track->modes[0].name, "flat");
  assert_string_equal(track->modes[1].name, "ramp");
  assert_int_equal(track->start_mode, -1);
  assert_int_equal(track->row_count, 1);
  assert_int_equal(pawl_dag_node(model->dag, track->modes[0].where)->op, PAWL_OP_LT);
  CHECK_NEAR(node_value(model, track->modes[0].where), 1, 0);  // x = 1 < 3
  CHECK_NEAR(node_value(model, track->modes[1].where), 0, 0);
  CHECK_NEAR(node_value(model, track->modes[1].rows[0].node), 1.1 + 2, 1e-14);
  assert_int_equal(track->modes[1].source.line, 13);
  PawlSimulateDef simulate = pawl_model_simulate(model);
  assert_string_equal(simulate.method, "nsga-pvv");
  CHECK_NEAR(simulate.rho, 0.98, 0);
  CHECK_NEAR(simulate.until, 6, 0);
  assert_int_equal(model->shape_count, 2);
  assert_int_equal(model->shapes[0].point_count, 3);
  CHECK_NEAR(node_value(model, model->shapes[0].points[2][1]), 3, 1e-15);
  assert_int_equal(model->shapes[1].kind, PAWL_SHAPE_DISC);
  CHECK_NEAR(node_value(model, model->shapes[1].points[0][1]), 1.1, 0);
  CHECK_NEAR(node_value(model, model->shapes[1].radius), 0.1, 0);
  pawl_model_destroy(model);
}

static void test_modes_of_unequal_size(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\ncoordinates: [x, y]\n"
      "constraints:\n"
      "  latch:\n"
      "    start: free\n"
      "    impact: 0.7\n"
      "    modes:\n"
      "      free:\n"
      "      half: x\n"
      "      held: {where: 0 < x < 1, equation: [x = 1, y = 1]}\n"
      "      open: {where: x > 1 and y > 0, equation: none}\n"
      "      void: {where: not x > 1, equation: []}\n"
      "  next: x = y\n");
  const PawlConstraint* latch = model->constraints;
  static const int rows[] = {0, 1, 2, 0, 0};
  for (int k = 0; k < 5; k++) {
    assert_int_equal(latch->modes[k].row_count, rows[k]);
  }
  assert_int_equal(latch->start_mode, 0);
  assert_int_equal(latch->modes[0].where, PAWL_NO_NODE);
  assert_int_equal(latch->row_count, 2);
  assert_int_equal(model->constraints[1].first_row, 2);
  CHECK_NEAR(latch->impact, 0.7, 0);
  pawl_model_destroy(model);
}

static void test_locks(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {t1: 0.8, F: 10}\ncoordinates: [q1, q2, q3]\n"
      "constraints:\n"
      "  later: {equation: q1 = 0, at: 2}\n"
      "locks:\n"
      "  brake: {lock: q2, at: [t1, 2*t1, 3], release: {when: q3', direction: up, after: 0.1}}\n"
      "  clutch: {lock: q1 - q3, when: q1' - lambda(later), direction: down, for: 2, smooth: "
      "true}\n"
      "  stick: {lock: q3, engaged: true, capacity: F, friction: F/2, impact: none}\n"
      "  snapper: {lock: q3 - q1, on: snap, to: 0.5, impact: post, when: slip}\n"
      "outputs: {slip: q1' - q3'}\n");
  assert_int_equal(model->constraint_count, 5);
  assert_int_equal(model->row_count, 5);
  const PawlConstraint* later = model->constraints;
  assert_false(later[0].is_lock || later[0].switching->engaged);
  const PawlConstraint* brake = &later[1];
  assert_true(brake->is_lock && !brake->switching->engaged && brake->switching->given);
  assert_int_equal(brake->switching->engage.time_count, 3);
  CHECK_NEAR(brake->switching->engage.times[1], 1.6, 0);
  assert_int_equal(brake->switching->release.direction, PAWL_DIRECTION_UP);
  CHECK_NEAR(brake->switching->release.after, 0.1, 0);
  CHECK_NEAR(node_value(model, brake->switching->release.when), 2.2, 0);
  assert_int_equal(brake->on_engage, PAWL_ENGAGE_KEEP);
  const PawlConstraint* clutch = &later[2];
  assert_int_equal(clutch->switching->engage.direction, PAWL_DIRECTION_DOWN);
  CHECK_NEAR(clutch->switching->duration, 2, 0);
  assert_true(clutch->switching->smooth);
  CHECK_NEAR(node_value(model, clutch->switching->engage.when), 2 - 4, 0);  // lambda 0 is 4
  const PawlConstraint* stick = &later[3];
  assert_true(stick->switching->engaged && stick->impact_none);
  CHECK_NEAR(node_value(model, stick->switching->capacity), 10, 0);
  CHECK_NEAR(node_value(model, stick->switching->friction), 5, 0);
  const PawlConstraint* snapper = &later[4];
  assert_int_equal(snapper->on_engage, PAWL_ENGAGE_SNAP);
  CHECK_NEAR(node_value(model, snapper->snap_to), 0.5, 0);
  CHECK_NEAR(snapper->impact, 1, 0);
  CHECK_NEAR(node_value(model, snapper->switching->engage.when), 2 - 2.2, 1e-15);
  pawl_model_destroy(model);
}

static void test_contacts_events_outputs(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {e0: 0.8}\ncoordinates: [x, y]\n"
      "constraints: {c: [x, y]}\n"
      "contacts:\n  floor: {gap: y - x, restitution: e0}\n  wall: {gap: x}\n"
      "events:\n  apex: {when: y', direction: down}\n  end: {at: 3, stop: true}\n"
      "outputs:\n  a: x''\n  force: {value: \"lambda(c, 2) + t\", unit: N}\n");
  assert_int_equal(model->contact_count, 2);
  CHECK_NEAR(model->contacts[0].restitution, 0.8, 0);
  CHECK_NEAR(model->contacts[1].restitution, 0, 0);
  CHECK_NEAR(node_value(model, model->contacts[0].gap), 0.1, 1e-15);
  assert_int_equal(model->event_count, 2);
  assert_string_equal(model->events[0].name, "apex");
  assert_int_equal(model->events[0].trigger.direction, PAWL_DIRECTION_DOWN);
  assert_int_equal(model->events[0].trigger.time_count, 0);
  assert_false(model->events[0].stop);
  assert_true(model->events[1].stop);
  CHECK_NEAR(model->events[1].trigger.times[0], 3, 0);
  assert_int_equal(model->events[1].trigger.when, PAWL_NO_NODE);
  assert_int_equal(model->output_count, 2);
  CHECK_NEAR(node_value(model, model->outputs[0].node), 3, 0);
  CHECK_NEAR(node_value(model, model->outputs[1].node), 4.1 + 5, 1e-15);
  assert_string_equal(model->outputs[1].unit, "N");
  pawl_model_destroy(model);
}

// Rows: constraints, then friction, then contacts; lambda(c, 2) is the friction of contact c.
static void test_friction(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {mu: 0.3}\ncoordinates: [x, y, z]\n"
      "constraints: {c: y}\n"
      "contacts:\n"
      "  a: {gap: y}\n"
      "  b: {gap: y, friction: mu, slip: x*y}\n"
      "  d[i=1..2]: {gap: z, friction: {static: 0.5, kinetic: mu/i}, slip: [x', \"y' + t\"]}\n"
      "  s: {gap: z, friction: mu + x + 2*slip, slip: [x', y']}\n"
      "outputs: {n: lambda(b), f: \"lambda(b, 2)\", u: \"lambda(d[2], 3)\"}\n");
  const PawlContact* c = model->contacts;
  assert_int_equal(model->contact_count, 5);
  assert_int_equal(model->slip_count, 7);
  assert_int_equal(c[0].slip_count, 0);
  assert_int_equal(c[1].slip_count, 1);
  assert_int_equal(c[3].first_slip, 3);
  CHECK_NEAR(c[1].sticks, 0.3, 0);
  CHECK_NEAR(c[3].sticks, 0.5, 0);
  CHECK_NEAR(c[3].slides, 0.15, 0);
  static const int rows[] = {1 + 7 + 1, 1, 1 + 4};
  for (int k = 0; k < 3; k++) {
    const PawlDagNode* node = pawl_dag_node(model->dag, model->outputs[k].node);
    assert_int_equal(node->op, PAWL_OP_LAMBDA);
    assert_int_equal(node->index, rows[k]);
    assert_true(model->outputs[k].of_contact);
  }
  pawl_model_destroy(model);
}

static void test_scene(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {N: 2}\ncoordinates: [x]\n"
      "scene:\n"
      "  - polygon: {points: [[0, 0], [x, 0], [0, 1]]}\n"
      "  - spring: {points: [[0, 0], [x, 0]]}\n"
      "  - for i=1..N:\n"
      "      - disc: {at: [x, i], radius: i/2}\n"
      "      - line: {points: [[0, i], [x, i]]}\n");
  static const PawlShapeKind kinds[] = {PAWL_SHAPE_POLYGON, PAWL_SHAPE_SPRING, PAWL_SHAPE_DISC,
                                        PAWL_SHAPE_LINE,    PAWL_SHAPE_DISC,   PAWL_SHAPE_LINE};
  assert_int_equal(model->shape_count, 6);
  for (int k = 0; k < 6; k++) {
    assert_int_equal(model->shapes[k].kind, kinds[k]);
  }
  CHECK_NEAR(node_value(model, model->shapes[4].radius), 1, 0);
  CHECK_NEAR(node_value(model, model->shapes[5].points[1][1]), 2, 0);
  pawl_model_destroy(model);
}

static void test_scene_in_space(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\ncoordinates: [x]\nlocks: {\"hold[i=1..2]\": {lock: x, at: i}}\n"
      "scene:\n"
      "  - ball: {at: [x, 0, 1], radius: 1}\n"
      "  - surface: {points: {for i=0..2: {for j=0..3: [i, j, i*j]}}}\n"
      "  - for k=1..2: [joint: {at: [x, k, 0], of: \"hold[k]\", text: here}]\n"
      "  - gravity: {vector: [0, 0, -1]}\n");
  assert_true(model->spatial);
  assert_int_equal(model->shapes[1].point_count, 12);
  assert_int_equal(model->shapes[1].row_length, 4);
  CHECK_NEAR(node_value(model, model->shapes[1].points[11][2]), 6, 0);
  assert_string_equal(model->shapes[3].of, "hold[2]");
  assert_string_equal(model->shapes[3].text, "here");
  pawl_model_destroy(model);
}

// In an element type: the name behind `of` gets the prefix, words do not.
static void test_scene_of_element(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\n"
      "elements:\n"
      "  slider:\n"
      "    coordinates: [x]\n"
      "    kinetic: x'^2\n"
      "    locks: {hold: {lock: x, at: 1}}\n"
      "    scene: [joint: {at: [x, 0], of: hold, text: x to hold}]\n"
      "use: {a: {element: slider}}\n");
  assert_string_equal(model->shapes[0].of, "a_hold");
  assert_string_equal(model->shapes[0].text, "x to hold");
  pawl_model_destroy(model);
}

static void test_simulate(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nparameters: {T: 2}\ncoordinates: [x]\n"
      "simulate: {method: rk4, until: 10*T, step: T/1000, iterations: 5}\n");
  PawlSimulateDef simulate = pawl_model_simulate(model);
  assert_string_equal(simulate.method, "rk4");
  CHECK_NEAR(simulate.until, 20, 0);
  CHECK_NEAR(simulate.step, 2e-3, 0);
  CHECK_NEAR(simulate.rho, pawl_simulate_def_default().rho, 0);
  assert_int_equal(simulate.iterations, 5);
  pawl_model_destroy(model);
}

// Sections may be empty and in any order.
static void test_empty_sections(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "scene:\nsimulate:\nevents:\noutputs:\nlocks: {}\ncontacts:\nconstraints:\nforces:\n"
      "kinetic: x'^2\ndefine:\nparameters:\ncoordinates: {x: }\nmodel: m\n");
  assert_int_equal(model->term_count, 1);
  pawl_model_destroy(model);
  pawl_model_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_title_and_parameters),
      cmocka_unit_test(test_overrides),
      cmocka_unit_test(test_coordinates),
      cmocka_unit_test(test_units_of_multipliers),
      cmocka_unit_test(test_terms),
      cmocka_unit_test(test_nested_loops),
      cmocka_unit_test(test_constraints),
      cmocka_unit_test(test_modes),
      cmocka_unit_test(test_modes_of_unequal_size),
      cmocka_unit_test(test_locks),
      cmocka_unit_test(test_contacts_events_outputs),
      cmocka_unit_test(test_friction),
      cmocka_unit_test(test_scene),
      cmocka_unit_test(test_scene_in_space),
      cmocka_unit_test(test_scene_of_element),
      cmocka_unit_test(test_simulate),
      cmocka_unit_test(test_empty_sections),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
