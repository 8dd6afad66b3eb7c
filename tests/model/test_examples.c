// SPDX-License-Identifier: Apache-2.0
// The models in models/ load and say what their papers say.
#include <stdio.h>

#include "reading.h"

static PawlModel* load_example(const char* name, int override_count, const char* const* overrides) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s.yaml", PAWL_MODELS, name);
  PawlModel* model;
  PawlError err = {0};
  PawlStatus status = pawl_model_load(path, override_count, overrides, &model, &err);
  if (status != PAWL_OK) {
    print_error("%s\n", err.message);
  }
  assert_int_equal(status, PAWL_OK);
  assert_string_equal(pawl_model_name(model), name);
  return model;
}

// The value of a node at the start, where every rate is as the model says and t = 0.
static double start_value(PawlModel* model, PawlNode node) {
  enum { MOST = 64 };
  double param[MOST], q[MOST], v[MOST], value;
  assert_true(model->parameter_count <= MOST && model->coordinate_count <= MOST);
  for (int k = 0; k < model->parameter_count; k++) {
    param[k] = model->parameters[k].value;
  }
  for (int k = 0; k < model->coordinate_count; k++) {
    q[k] = model->coordinates[k].start;
    v[k] = model->coordinates[k].rate;
  }
  PawlLeafValues leaves = {.param = param, .q = q, .v = v};
  assert_int_equal(pawl_dag_value(model->dag, node, &leaves, &value, NULL), PAWL_OK);
  return value;
}

static double start_energy(PawlModel* model) {
  double energy = 0;
  for (int k = 0; k < model->term_count; k++) {
    assert_true(model->terms[k].kind <= PAWL_TERM_POTENTIAL);
    energy += start_value(model, model->terms[k].node);
  }
  return energy;
}

// Positions and rates at the start satisfy every constraint.
static void check_consistent(PawlModel* model) {
  for (int c = 0; c < model->constraint_count; c++) {
    const PawlMode* mode = model->constraints[c].modes;
    for (int r = 0; r < mode->row_count; r++) {
      PawlNode g = mode->rows[r].node;
      CHECK_NEAR(start_value(model, g), 0, 1e-14);  // rounding
      CHECK_NEAR(start_value(model, pawl_dag_total(model->dag, g)), 0, 1e-14);
    }
  }
}

static void test_oscillator(void** state) {
  (void)state;
  PawlModel* model = load_example("oscillator", 0, NULL);
  assert_int_equal(model->coordinate_count, 1);
  CHECK_NEAR(start_energy(model), 2, 0);
  pawl_model_destroy(model);
}

// Energies at the start: Kovanda and Hozman, data (46) with (47) and (49), worked by hand.
static void test_two_mass(void** state) {
  (void)state;
  PawlModel* model = load_example("two-mass-free", 0, NULL);
  assert_int_equal(model->constraint_count, 0);
  CHECK_NEAR(start_energy(model), 1.75, 1e-15);
  pawl_model_destroy(model);
  model = load_example("two-mass-coupled", 0, NULL);
  assert_int_equal(model->row_count, 1);
  CHECK_NEAR(start_energy(model), 1.25, 1e-15);
  check_consistent(model);
  pawl_model_destroy(model);
}

// By hand: T = (m L^2 + J)/2 omega^2 = 1.1/2*100 = 55, V = m 10 L sin(pi/6) = 5 (gravity -y).
static void test_pendulum(void** state) {
  (void)state;
  PawlModel* model = load_example("pendulum", 0, NULL);
  assert_int_equal(model->coordinate_count, 3);
  assert_int_equal(model->row_count, 2);
  CHECK_NEAR(start_energy(model), 60, 1e-13);
  check_consistent(model);
  pawl_model_destroy(model);
  const char* up = "ay=10";
  model = load_example("pendulum", 1, &up);
  CHECK_NEAR(start_energy(model), 50, 1e-13);
  pawl_model_destroy(model);
}

// By hand, from the heights of the link centres with link angles of 30, 60 and 90 degrees:
// sum = (1/2) + (1 + sqrt(3)/2)/2... written out below.
static void test_planar_3r(void** state) {
  (void)state;
  double s1 = 0.5, s2 = 0.8660254037844386, s3 = 1.0;
  double heights = s1 / 2 + (s1 + s2 / 2) + (s1 + s2 + s3 / 2);
  PawlModel* model = load_example("planar-3r", 0, NULL);
  assert_int_equal(model->coordinate_count, 3);
  assert_int_equal(model->constraint_count, 0);
  CHECK_NEAR(start_energy(model), 108 * 9.81 * heights, 1e-10);
  pawl_model_destroy(model);
  // From the downward vertical the heights are minus the cosines.
  double c1 = s2, c2 = s1, c3 = 0;
  heights = -(c1 / 2 + (c1 + c2 / 2) + (c1 + c2 + c3 / 2));
  const char* hanging = "phi0=-pi/2";
  model = load_example("planar-3r", 1, &hanging);
  CHECK_NEAR(start_energy(model), 108 * 9.81 * heights, 1e-10);
  pawl_model_destroy(model);
}

// Mass matrix of the stretched pendulum: with all links in line, T for q1' = 1 alone is that of one
// rod of length 3 L turning about its end: (3 m)(3 L)^2/3/2 = 9 m L^2/2 with slender rods; J
// differs from m L^2/12 and adds 3 (J - m L^2/12)/2.
static void test_planar_3r_kinetic(void** state) {
  (void)state;
  PawlModel* model = load_example("planar-3r", 0, NULL);
  for (int k = 0; k < 3; k++) {
    model->coordinates[k].start = 0;
  }
  model->coordinates[0].rate = 1;
  double kinetic = 0;
  for (int k = 0; k < model->term_count; k++) {
    if (model->terms[k].kind == PAWL_TERM_KINETIC) {
      kinetic += start_value(model, model->terms[k].node);
    }
  }
  CHECK_NEAR(kinetic, 9 * 108.0 / 2 + 3 * (9.36 - 108.0 / 12) / 2, 1e-11);
  pawl_model_destroy(model);
}

static void test_chain(void** state) {
  (void)state;
  PawlModel* model = load_example("chain", 0, NULL);
  assert_int_equal(model->coordinate_count, 30);
  assert_int_equal(model->row_count, 20);
  check_consistent(model);
  pawl_model_destroy(model);
  const char* one = "N=1";
  model = load_example("chain", 1, &one);
  assert_int_equal(model->row_count, 2);
  check_consistent(model);
  pawl_model_destroy(model);
  const char* many = "N=10000";
  model = load_example("chain", 1, &many);
  assert_int_equal(model->coordinate_count, 30000);
  assert_int_equal(model->constraint_count, 10000);
  assert_int_equal(model->row_count, 20000);
  assert_string_equal(pawl_model_coordinate_name(model, 9999), "x[10000]");
  pawl_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_oscillator),        cmocka_unit_test(test_two_mass),
      cmocka_unit_test(test_pendulum),          cmocka_unit_test(test_planar_3r),
      cmocka_unit_test(test_planar_3r_kinetic), cmocka_unit_test(test_chain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
