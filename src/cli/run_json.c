// SPDX-License-Identifier: Apache-2.0
// pawl run: the summary for programs.
#include <stdlib.h>
#include <string.h>

#include "cli/run.h"

static void json_named(Json* json, const char* key, const PawlSystem* system, int first, int end,
                       const double* values) {
  json_open(json, key, '{');
  for (int k = first; k < end; k++) {
    char name[32];
    snprintf(name, sizeof name, "v[%d]", k);
    bool is_rate;
    const char* known = key[0] == 'q' ? pawl_system_coordinate_name(system, k)
                                      : pawl_system_velocity_name(system, k, &is_rate);
    json_number(json, known ? known : name, values[k]);
  }
  json_close(json, '}');
}

static void json_inputs(Json* json, const PawlSystem* system, const PawlSim* sim) {
  json_open(json, "inputs", '{');
  for (int k = 0; k < pawl_system_sizes(system).inputs; k++) {
    json_number(json, pawl_system_input_name(system, k), pawl_sim_input(sim, k));
  }
  json_close(json, '}');
}

// The facts "GROUP/name" of the run as an object.
static void json_facts(Json* json, const char* group, const PawlRecorder* recorder) {
  size_t length = strlen(group);
  const char* name;
  json_open(json, group, '{');
  for (int k = 0; (name = pawl_recorder_fact_name(recorder, k)); k++) {
    double number;
    if (strncmp(name, group, length) != 0 || name[length] != '/') {
      continue;
    }
    if (pawl_recorder_fact_number(recorder, k, &number)) {
      json_number(json, name + length + 1, number);
    } else {
      json_text(json, name + length + 1, pawl_recorder_fact_value(recorder, k));
    }
  }
  json_close(json, '}');
}

static void json_events(Json* json, const PawlRecorder* recorder) {
  json_open(json, "events", '[');
  for (int k = 0; k < pawl_recorder_event_count(recorder); k++) {
    const PawlEvent* e = pawl_recorder_event(recorder, k);
    json_open(json, NULL, '{');
    json_number(json, "t", e->t);
    json_text(json, "constraint", e->constraint);
    json_text(json, "from", e->from);
    json_text(json, "to", e->to);
    if (strcmp(e->to, "rest") == 0) {
      json_text(json, "impacts_left_out", "infinitely many");  // (C11)
    }
    json_number(json, "energy_lost", e->energy_lost);
    json_numbers(json, "impulse", e->row_count, e->impulse);
    json_numbers(json, "v_before", e->v_count, e->v_before);
    json_numbers(json, "v_after", e->v_count, e->v_after);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void json_works(Json* json, const PawlSim* sim, const PawlSummary* s) {
  json_open(json, "work", '{');
  for (int k = 0; k <= PAWL_WORK_JUMPS; k++) {
    if (pawl_stepper_has_work(pawl_sim_stepper(sim), (PawlWork)k)) {
      json_number(json, run_work_names[k], s->works[k]);
    }
  }
  json_close(json, '}');
  json_number(json, "work_error", s->works[PAWL_WORK_ERROR]);
}

bool run_rubs(const PawlSystem* system) {
  bool any = false;
  for (int i = 0; i < pawl_system_sizes(system).rows; i++) {
    any |= pawl_system_row_kind(system, i) == PAWL_ROW_FRICTION;
  }
  return any;
}

void run_print_json(FILE* to, const PawlSystem* system, const PawlSim* sim,
                    const Projection* projection, int code, const char* reason) {
  PawlSummary s = pawl_sim_summary(sim);
  const PawlSimulateDef* def = pawl_stepper_def(pawl_sim_stepper(sim));
  const PawlState* state = pawl_sim_state(sim);
  PawlSizes n = pawl_system_sizes(system);
  Json json = {to, 0, true};
  json_open(&json, NULL, '{');
  json_text(&json, "model", pawl_system_name(system));
  json_status(&json, code);
  if (reason) {
    json_text(&json, "reason", reason);
  }
  json_text(&json, "method", def->method);
  json_text(&json, "method_reason", method_reason(sim));
  json_number(&json, "step", def->step);
  json_facts(&json, "options", pawl_sim_recorder(sim));
  json_facts(&json, "parameters", pawl_sim_recorder(sim));
  projection_json(projection, &json);
  json_whole(&json, "steps", s.work.steps);
  json_whole(&json, "smaller_steps", s.smaller_steps);
  json_whole(&json, "newton_iterations", s.work.newton_iterations);
  json_whole(&json, "factorizations", s.work.factorizations);
  json_whole(&json, "kinks", s.work.kinks);
  json_number(&json, "wall_seconds", s.wall_seconds);
  json_open(&json, "final", '{');
  json_number(&json, "t", state->t);
  json_named(&json, "q", system, 0, n.q - n.states, state->q);
  json_named(&json, "v", system, 0, n.v - n.states, state->v);
  if (n.states > 0) {
    json_named(&json, "states", system, n.v - n.states, n.v, state->v);
  }
  if (n.inputs > 0) {
    json_inputs(&json, system, sim);
  }
  json_close(&json, '}');
  json_open(&json, "energy", '{');
  json_number(&json, "start", s.energy_start);
  json_number(&json, "end", s.energy_end);
  json_number(&json, "max_drift", s.energy_max_drift);
  json_number(&json, "size", pawl_summary_energy_size(&s));
  json_works(&json, sim, &s);
  json_close(&json, '}');
  json_open(&json, "residual", '{');
  json_number(&json, "position", s.residual[0]);
  json_number(&json, "velocity", s.residual[1]);
  json_number(&json, "acceleration", s.residual[2]);
  if (run_rubs(system)) {
    json_number(&json, "cones", s.work.cones);
  }
  json_close(&json, '}');
  if (run_rubs(system)) {
    json_whole(&json, "steps_relaxed", s.work.relaxed);
    json_whole(&json, "steps_by_sweeps", s.work.swept);
  }
  json_open(&json, "warnings", '[');
  for (int k = 0; run_warning(sim, k); k++) {
    for (const char* at = run_warning(sim, k); *at;) {  // one entry a line
      char line[1000];
      int length = (int)strcspn(at, "\n");
      snprintf(line, sizeof line, "%.*s", length, at);
      json_text(&json, NULL, line);
      at += length + (at[length] == '\n');
    }
  }
  json_close(&json, ']');
  if (!reason) {
    json_events(&json, pawl_sim_recorder(sim));
  }
  json_close(&json, '}');
}

char* run_summary_text(const PawlSystem* system, const PawlSim* sim, const Projection* projection,
                       PawlStatus status, const PawlError* err) {
  char* text = NULL;
  size_t length;
  FILE* to = open_memstream(&text, &length);
  if (to) {
    int code = status == PAWL_OK ? EXIT_GOOD : status == PAWL_STOPPED ? EXIT_INTERRUPTED : EXIT_RUN;
    run_print_json(to, system, sim, projection, code, code == EXIT_RUN ? err->message : "");
    fclose(to);
  }
  return text;
}
