// SPDX-License-Identifier: Apache-2.0
// A program that uses pawl may have set a locale with a decimal comma. What pawl reads and writes
// must not change: each file is written once before setlocale and once after, and compared.
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "pawl/pawl.h"

static const char text[] =
    "model: spring\n"
    "parameters: {k: 2.5}\n"
    "coordinates: {x: {start: 0.125, rate: 1.5e-1}}\n"
    "mass: {x: 0.5}\n"
    "potential: k/2*x^2\n"
    "simulate: {until: 0.25, step: 0.0625}\n";

static void write_files(const PawlModel* model, const char* csv, const char* svg) {
  PawlError err = {0};
  PawlSystem* system = NULL;
  PawlSim* sim = NULL;
  PawlSimDef def = pawl_sim_def_default();
  def.simulate = pawl_model_simulate(model);
  assert_int_equal(pawl_simulate_def_set(&def.simulate, "rho", "0.75", &err), PAWL_OK);
  assert_int_equal(pawl_system_create(model, &system, &err), PAWL_OK);
  assert_int_equal(pawl_sim_create(system, &def, &sim, &err), PAWL_OK);
  assert_int_equal(pawl_sim_run(sim, NULL, NULL, &err), PAWL_OK);
  assert_int_equal(pawl_write_csv(pawl_sim_recorder(sim), csv, &err), PAWL_OK);
  assert_int_equal(pawl_write_svg(pawl_sim_recorder(sim), svg, &err), PAWL_OK);
  pawl_sim_destroy(sim);
  pawl_system_destroy(system);
}

// Everything from text to files; gives the derived equations.
static char* run(const char* csv, const char* svg) {
  PawlError err = {0};
  PawlModel* model = NULL;
  char* equations = NULL;
  const char* override = "k=1.75";
  PawlStatus status = pawl_model_parse(text, strlen(text), "spring", 1, &override, &model, &err);
  assert_string_equal(err.message, "");
  assert_int_equal(status, PAWL_OK);
  assert_int_equal(pawl_model_equations(model, false, &equations, &err), PAWL_OK);
  write_files(model, csv, svg);
  pawl_model_destroy(model);
  return equations;
}

static void check_same_file(const char* path, const char* other) {
  FILE* a = fopen(path, "rb");
  FILE* b = fopen(other, "rb");
  assert_non_null(a);
  assert_non_null(b);
  char left[65536], right[65536];
  size_t m = fread(left, 1, sizeof left - 1, a);
  size_t n = fread(right, 1, sizeof right - 1, b);
  left[m] = right[n] = '\0';
  fclose(a);
  fclose(b);
  assert_true(m > 0 && m < sizeof left - 1);
  assert_string_equal(left, right);
}

static void test_comma_changes_nothing(void** state) {
  (void)state;
  char* plain = run("plain.csv", "plain.svg");
  assert_non_null(setlocale(LC_ALL, ""));
  assert_string_equal(localeconv()->decimal_point, ",");
  char* comma = run("comma.csv", "comma.svg");
  check_same_file("plain.csv", "comma.csv");
  check_same_file("plain.svg", "comma.svg");
  assert_string_equal(plain, comma);
  pawl_string_free(plain);
  pawl_string_free(comma);
}

// locale.sh makes the locale and calls this with the folder for the files.
int main(int argc, char** argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_comma_changes_nothing)};
  if (argc != 2 || chdir(argv[1]) != 0) {
    fprintf(stderr, "usage: test_locale FOLDER, in a locale with a decimal comma\n");
    return 77;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
