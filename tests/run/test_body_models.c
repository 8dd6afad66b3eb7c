// SPDX-License-Identifier: Apache-2.0
// Every model of models/ that is made of bodies moves the same way with coordinates of joints and
// with absolute ones: what both record under one name, to 1e-9.
#include <dirent.h>

#include "run/recorded.h"

// Methods with a tolerance: those of a fixed step have another error in other coordinates. Of a
// heap that is stepped in time the beginning, in which it rests.
static void run_closely(Run* run) {
  run->def.simulate = pawl_model_simulate(run->model);
  bool steps = strncmp(run->def.simulate.method, "nsga", 4) == 0;
  bool switches = steps || strcmp(run->def.simulate.method, "event-driven") == 0;
  run->def.simulate.until = steps ? 0.2 : run->def.simulate.until;
  run->def.simulate.method = switches ? "event-driven" : "dopri";
  run->def.simulate.smooth = "dopri";
  run->def.simulate.rtol = 1e-12;
  run->def.keep_samples = true;
  run_to(run, run->def.simulate.until, run->def.simulate.until > 10 ? 0.5 : 0.05);
}

static bool is_of_bodies(const char* name) {
  char path[512], line[512];
  bool bodies = false;
  snprintf(path, sizeof path, "%s/%s", PAWL_MODELS, name);
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    bodies = bodies || strncmp(line, "bodies:", 7) == 0;
  }
  fclose(file);
  return bodies;
}

// Wagons of a family start from their own places with absolute coordinates, and from those of their
// joints else.
static Run with_joints(const char* name) {
  bool train = strcmp(name, "train") == 0;
  return model_changed(name, "joint",
                       train ? "rail[i=1..N]: {prismatic: [ground, \"wagon[i]\"]" : NULL,
                       ", start: (i - 1)*(length + 2*r + free), rate: \"if(i == 1, v0, 0)\"");
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
    Run joint = with_joints(name);
    run_closely(&joint);
    Run absolute = model_with(name, "absolute");
    run_closely(&absolute);
    assert_true(compare_runs(&joint, &absolute, 1e-9) >= 5);
    compared++;
    run_end(&joint);
    run_end(&absolute);
  }
  closedir(folder);
  assert_true(compared >= 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
