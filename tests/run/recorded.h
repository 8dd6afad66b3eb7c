// SPDX-License-Identifier: Apache-2.0
// Runs as their models ask for, with every sample kept and its columns read by name.
#pragma once

#include "switch/runs.h"

static inline void recorded_to_end(Run* run) {
  run->def.simulate = pawl_model_simulate(run->model);
  run->def.keep_samples = true;
  run_to(run, run->def.simulate.until, run->def.simulate.step);
}

static inline Run run_all(const char* text) {
  Run run = run_text(text);
  recorded_to_end(&run);
  return run;
}

// A model of models/ with these coordinates: its section `mechanism`, in braces, says so. Behind
// `mark`, unless that is NULL, `more` is written.
static inline Run model_changed(const char* name, const char* coordinates, const char* mark,
                                const char* more) {
  static char text[20000], path[512], head[] = "\nmechanism: {", word[200];
  snprintf(path, sizeof path, "%s/%s.yaml", PAWL_MODELS, name);
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  size_t room = sizeof text - sizeof word - 200, length = fread(text, 1, room, file);
  fclose(file);
  assert_true(length > 0 && length < room);
  text[length] = '\0';
  char* section = strstr(text, head);
  snprintf(word, sizeof word, section ? "coordinates: %s, " : "\nmechanism: {coordinates: %s}\n",
           coordinates);
  char* at[] = {section ? section + strlen(head) : text + length, mark ? strstr(text, mark) : NULL};
  const char* put[] = {word, more};
  assert_true(!mark || (at[1] && at[1] < at[0]));
  at[1] = mark ? at[1] + strlen(mark) : NULL;
  for (int k = 0; k < 2 && at[k]; k++) {
    memmove(at[k] + strlen(put[k]), at[k], strlen(at[k]) + 1);
    memcpy(at[k], put[k], strlen(put[k]));
  }
  return run_text(text);
}

static inline Run model_with(const char* name, const char* coordinates) {
  return model_changed(name, coordinates, NULL, NULL);
}

// -1: there is none.
static inline int column_of(const Run* run, const char* name) {
  const PawlRecorder* recorder = pawl_sim_recorder(run->sim);
  for (int k = 0; k < pawl_recorder_column_count(recorder); k++) {
    if (strcmp(pawl_recorder_column(recorder, k)->name, name) == 0) {
      return k;
    }
  }
  return -1;
}

static inline int sample_count(const Run* run) {
  return pawl_recorder_sample_count(pawl_sim_recorder(run->sim));
}

static inline double value_at(const Run* run, int sample, const char* name) {
  int column = column_of(run, name);
  if (column < 0) {
    print_error("no column %s\n", name);
  }
  assert_true(column >= 0);
  return pawl_recorder_sample(pawl_sim_recorder(run->sim), sample)[column];
}

static inline double final_of(const Run* run, const char* name) {
  return value_at(run, sample_count(run) - 1, name);
}

// Forces of rows depend on what the rows are.
static inline bool is_compared(const char* name) {
  return strncmp(name, "residual", 8) != 0 && strncmp(name, "lambda", 6) != 0 &&
         !strstr(name, ".force") && !strstr(name, ".torque");
}

// What both runs record under one name is the same, relative to it or to 1; how many columns.
static inline int compare_runs(const Run* a, const Run* b, double tolerance) {
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
      if (!(fabs(x - y) <= tolerance * fmax(1.0, fabs(x)))) {
        print_error("%s: %.17g and %.17g at sample %d\n", name, x, y, s);
        fail();
      }
    }
    compared++;
  }
  return compared;
}
