// SPDX-License-Identifier: Apache-2.0
// Runs of contacts with friction whose instants are located, for tests against closed forms.
#pragma once

#include "switch/runs.h"

static const char* const EXACT[] = {"rk4", "dopri", "ark", "ida", NULL};
static const char* const ALL[] = {
    "rk4",           "dopri", "ark",   "ida",    "ga-v", "ga-v-between",
    "ga-v-implicit", "ga-a",  "ga-pv", "ga-pva", NULL};

static inline Run run_text_with(const char* text, const char* parameter) {
  Run run = {0};
  run_need(&run, pawl_model_parse(text, strlen(text), "test.yaml", parameter != NULL, &parameter,
                                  &run.model, &run.err));
  run_derive(&run);
  run.def.simulate.smooth = "dopri";
  run.def.simulate.rtol = 1e-12;
  run.def.simulate.atol = 1e-13;
  return run;
}

static inline bool is_absent(const char* smooth) {
  return pawl_method_find(smooth)->absent;
}

static inline const PawlEvent* event_is(const Run* run, int k, double t, const char* name,
                                        const char* from, const char* to, double tolerance) {
  const PawlEvent* event = run_event(run, k);
  CHECK_NEAR(event->t, t, tolerance);
  assert_string_equal(event->constraint, name);
  assert_string_equal(event->from, from);
  assert_string_equal(event->to, to);
  return event;
}

// The energy is a balance: nothing is left over but `tolerance`.
static inline void balances(const Run* run, double tolerance) {
  CHECK_NEAR(pawl_sim_summary(run->sim).energy_max_drift, 0.0, tolerance);
  assert_false(pawl_sim_energy_drifts(run->sim));
  assert_string_equal(pawl_sim_warning(run->sim), "");
}
