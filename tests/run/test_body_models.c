// SPDX-License-Identifier: Apache-2.0
// Every model of models/ that is made of bodies moves the same way with coordinates of joints and
// with absolute ones: what both record under one name, to 1e-9.
#include <dirent.h>

#include "run/recorded.h"

// Methods with a tolerance: those of a fixed step have another error in other coordinates.
static void run_closely(Run* run) {
  run->def.simulate = pawl_model_simulate(run->model);
  bool switches = strcmp(run->def.simulate.method, "event-driven") == 0;
  run->def.simulate.method = switches ? "event-driven" : "dopri";
  run->def.simulate.smooth = "dopri";
  run->def.simulate.rtol = 1e-12;
  run->def.keep_samples = true;
  run_to(run, run->def.simulate.until, 0.05);
}

// Forces of rows that share a load depend on what the rows are.
static bool is_compared(const char* name) {
  return strncmp(name, "residual", 8) != 0 && strncmp(name, "lambda", 6) != 0 &&
         !strstr(name, ".force") && !strstr(name, ".torque");
}

static int compare(const Run* a, const Run* b, const char* model) {
  const PawlRecorder* recorder = pawl_sim_recorder(a->sim);
  int compared = 0;
  assert_int_equal(sample_count(a), sample_count(b));
  for (int k = 0; k < pawl_recorder_column_count(recorder); k++) {
    const char* name = pawl_recorder_column(recorder, k)->name;
    if (!is_compared(name) || column_of(b, name) < 0) {
      continue;
    }
    for (int s = 0; s < sample_count(a); s++) {
      double x = value_at(a, s, name), y = value_at(b, s, name);
      if (!(fabs(x - y) <= 1e-9 * fmax(1.0, fabs(x)))) {
        print_error("%s: %s: %.17g and %.17g at %g\n", model, name, x, y, value_at(a, s, "t"));
        fail();
      }
    }
    compared++;
  }
  return compared;
}

static bool is_of_bodies(const char* name) {
  char path[512], line[512];
  bool bodies = false, families = false;
  snprintf(path, sizeof path, "%s/%s", PAWL_MODELS, name);
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    bodies = bodies || strncmp(line, "bodies:", 7) == 0;
    families = families ||
               (line[0] == ' ' && line[1] == ' ' && line[2] != ' ' && strstr(line, "=1..") != NULL);
  }
  fclose(file);
  return bodies && !families;  // elements of families have no coordinates of joints
}

static void test_models(void** unused) {
  (void)unused;
  DIR* folder = opendir(PAWL_MODELS);
  int compared = 0;
  assert_non_null(folder);
  for (struct dirent* entry; (entry = readdir(folder));) {
    char name[256];
    size_t length = strlen(entry->d_name);
    if (length < 6 || length > 200 || strcmp(entry->d_name + length - 5, ".yaml") != 0 ||
        !is_of_bodies(entry->d_name)) {
      continue;
    }
    snprintf(name, sizeof name, "%.*s", (int)length - 5, entry->d_name);
    Run joint = model_with(name, "joint");
    run_closely(&joint);
    Run absolute = model_with(name, "absolute");
    run_closely(&absolute);
    assert_true(compare(&joint, &absolute, name) >= 5);
    compared++;
    run_end(&joint);
    run_end(&absolute);
  }
  closedir(folder);
  assert_true(compared >= 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
