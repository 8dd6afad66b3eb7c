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
