// SPDX-License-Identifier: Apache-2.0
// Whole runs through the public interface: a model from file or text, its options, and what was
// logged and reached.
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pawl/pawl.h"

typedef struct Run {
  PawlModel* model;
  PawlSystem* system;
  PawlSimDef def;
  PawlSim* sim;
  PawlStatus status;
  PawlError err;
} Run;

static inline void run_need(const Run* run, PawlStatus status) {
  if (status != PAWL_OK) {
    print_error("status %d: %s\n", (int)status, run->err.message);
    fail();
  }
}

static inline void run_derive(Run* run) {
  run_need(run, pawl_system_create(run->model, &run->system, &run->err));
  run->def = pawl_sim_def_default();
  run->def.simulate = pawl_model_simulate(run->model);
  run->def.simulate.method = "event-driven";
  run->def.keep_samples = false;
}

// models/<name>.yaml with up to two parameters set from outside ("j=1"), or NULL.
static inline Run run_file(const char* name, const char* first, const char* second) {
  Run run = {0};
  char path[512];
  const char* overrides[2] = {first, second};
  snprintf(path, sizeof path, "%s/%s.yaml", PAWL_MODELS, name);
  run_need(&run, pawl_model_load(path, (first != NULL) + (second != NULL), overrides, &run.model,
                                 &run.err));
  run_derive(&run);
  return run;
}

static inline Run run_text(const char* text) {
  Run run = {0};
  run_need(&run, pawl_model_parse(text, strlen(text), "test.yaml", 0, NULL, &run.model, &run.err));
  run_derive(&run);
  return run;
}

// Runs from the start to `until`; a run that was made before is dropped. May fail.
static inline PawlStatus run_try(Run* run, double until, double step) {
  pawl_sim_destroy(run->sim);
  run->def.simulate.until = until;
  run->def.simulate.step = step;
  run->status = pawl_sim_create(run->system, &run->def, &run->sim, &run->err);
  if (run->status == PAWL_OK) {
    run->status = pawl_sim_run(run->sim, NULL, NULL, &run->err);
  }
  return run->status;
}

static inline void run_to(Run* run, double until, double step) {
  run_need(run, run_try(run, until, step));
}

static inline void run_end(Run* run) {
  pawl_sim_destroy(run->sim);
  pawl_system_destroy(run->system);
  pawl_model_destroy(run->model);
}

static inline int run_events(const Run* run) {
  return pawl_recorder_event_count(pawl_sim_recorder(run->sim));
}

static inline const PawlEvent* run_event(const Run* run, int k) {
  assert_true(k < run_events(run));
  return pawl_recorder_event(pawl_sim_recorder(run->sim), k);
}

static inline void check_list(const char* what, int count, const double* values,
                              const double* expected, double tolerance) {
  for (int k = 0; k < count; k++) {
    if (!(fabs(values[k] - expected[k]) <= tolerance)) {
      print_error("%s[%d] = %.17g, expected %.17g, difference %.3g > %.3g\n", what, k, values[k],
                  expected[k], values[k] - expected[k], tolerance);
      fail();
    }
  }
}

// The state that was reached.
static inline void check_state(const Run* run, const double* q, const double* v, double tolerance) {
  PawlSizes n = pawl_system_sizes(run->system);
  const PawlState* state = pawl_sim_state(run->sim);
  check_list("q", n.q, state->q, q, tolerance);
  check_list("v", n.v, state->v, v, tolerance);
}

// One event as it should be; NULL where nothing is known.
typedef struct Expected {
  double t;
  const char *constraint, *from, *to;
  double v_before[6], v_after[6], impulse[4], energy_lost;
} Expected;

static inline void check_event(const Run* run, int k, const Expected* expected, double tolerance) {
  const PawlEvent* event = run_event(run, k);
  CHECK_NEAR(event->t, expected->t, tolerance);
  assert_string_equal(event->constraint, expected->constraint);
  assert_string_equal(event->from, expected->from);
  assert_string_equal(event->to, expected->to);
  check_list("v_before", event->v_count, event->v_before, expected->v_before, tolerance);
  check_list("v_after", event->v_count, event->v_after, expected->v_after, tolerance);
  check_list("impulse", event->row_count, event->impulse, expected->impulse, tolerance);
  CHECK_NEAR(event->energy_lost, expected->energy_lost, tolerance);
}
