// SPDX-License-Identifier: Apache-2.0
// Runs in other units: with length, mass and time scaled by 1e-4 and 1e4, alone and together, and
// further, a model gives the same events, and times and states that are equal after scaling back.
// In the texts L, M and T are the units, so that a force is a number times F = M*L/T^2.
#pragma once

#include "switch/runs.h"

enum { MOST_EVENTS = 32, MOST_COORDINATES = 12 };

typedef struct Units {
  double L, M, T;
} Units;

static const Units UNITS[] = {
    {1e-4, 1, 1},      {1e4, 1, 1},        {1, 1e-4, 1},    {1, 1e4, 1},      {1, 1, 1e-4},
    {1, 1, 1e4},       {1e-4, 1e-4, 1e-4}, {1e4, 1e4, 1e4}, {1e-4, 1e4, 1e4}, {1e-9, 1e6, 1e2},
    {1e9, 1e-6, 1e-2}, {1, 1e-12, 1},      {1e13, 1e24, 1}, {1, 1e-18, 1}};

typedef struct Case {
  const char *name, *text, *method;
  double until, step, tolerance;
  int events;       // how many there must be; -1: it fails
  const char* why;  // part of its message, or its last event; NULL: not asked
} Case;

// What a run was, in units of 1.
typedef struct Outcome {
  PawlStatus status;
  int count;
  double t[MOST_EVENTS], impulse[MOST_EVENTS], lost[MOST_EVENTS];
  char what[MOST_EVENTS][160];  // event, or the message of a failure
  double q[MOST_COORDINATES], v[MOST_COORDINATES];
  int n;
} Outcome;

static inline void parse(Run* run, const char* text, Units u) {
  char lengths[32], masses[32], times[32];
  const char* overrides[3] = {lengths, masses, times};
  snprintf(lengths, sizeof lengths, "L=%g", u.L);
  snprintf(masses, sizeof masses, "M=%g", u.M);
  snprintf(times, sizeof times, "T=%g", u.T);
  run_need(run, pawl_model_parse(text, strlen(text), "test", 3, overrides, &run->model, &run->err));
  run_derive(run);
}

static inline void note_events(const Run* run, Units u, Outcome* out) {
  double energy = u.M * u.L * u.L / (u.T * u.T), momentum = u.M * u.L / u.T;
  out->count = run_events(run);
  assert_in_range(out->count, 0, MOST_EVENTS);
  for (int k = 0; k < out->count; k++) {
    const PawlEvent* e = run_event(run, k);
    out->t[k] = e->t / u.T;
    out->impulse[k] = e->row_count > 0 ? e->impulse[0] / momentum : 0.0;
    out->lost[k] = e->energy_lost / energy;
    snprintf(out->what[k], sizeof *out->what, "%s: %s to %s", e->constraint, e->from ? e->from : "",
             e->to ? e->to : "");
  }
}

// The model of a case in some units, with its method.
static inline Run case_in(const Case* c, Units u) {
  static const char head[] = "parameters: {L: 1, M: 1, T: 1, F: M*L/T^2}\n";
  Run run = {0};
  char text[4000];
  snprintf(text, sizeof text, "model: %s\n%s%ssimulate: {until: 1}\n", c->name, head, c->text);
  parse(&run, text, u);
  run.def.simulate.method = c->method;
  run.def.simulate.event_tolerance *= u.T;
  run.def.simulate.step = c->step * u.T;
  run.def.simulate.until = c->until * u.T;
  return run;
}

static inline Outcome outcome(const Case* c, Units u) {
  Outcome out = {0};
  Run run = case_in(c, u);
  out.status = run_try(&run, c->until * u.T, c->step * u.T);
  if (out.status != PAWL_OK) {
    snprintf(out.what[0], sizeof *out.what, "%.159s", run.err.message);
    run_end(&run);
    return out;
  }
  note_events(&run, u, &out);
  out.n = pawl_system_sizes(run.system).v;
  for (int j = 0; j < out.n; j++) {
    out.q[j] = pawl_sim_state(run.sim)->q[j] / u.L;
    out.v[j] = pawl_sim_state(run.sim)->v[j] * u.T / u.L;
  }
  run_end(&run);
  return out;
}

static inline double furthest(int n, const double* x, const double* y) {
  double most = 0.0;
  for (int k = 0; k < n; k++) {
    most = fabs(x[k] - y[k]) > most || isnan(x[k]) ? fabs(x[k] - y[k]) : most;
  }
  return most;
}

// 0 when two outcomes are the same; says what differs otherwise.
static inline int differs(const Case* c, Units u, const Outcome* a, const Outcome* b) {
  const char* where = c->name;
  if (a->status != b->status || a->count != b->count) {
    print_error("%s (L %g, M %g, T %g): status %d with %d events, expected %d with %d; %s\n", where,
                u.L, u.M, u.T, (int)b->status, b->count, (int)a->status, a->count, b->what[0]);
    return 1;
  }
  for (int k = 0; k < a->count; k++) {
    if (strcmp(a->what[k], b->what[k]) != 0) {
      print_error("%s (L %g, M %g, T %g): event %d is '%s', expected '%s'\n", where, u.L, u.M, u.T,
                  k, b->what[k], a->what[k]);
      return 1;
    }
  }
  if (a->status != PAWL_OK && !strstr(b->what[0], c->why)) {
    print_error("%s (L %g, M %g, T %g): '%s'\n", where, u.L, u.M, u.T, b->what[0]);
    return 1;
  }
  double off = fmax(furthest(a->n, a->q, b->q), furthest(a->n, a->v, b->v));
  off = fmax(off, furthest(a->count, a->t, b->t));
  off = fmax(off, furthest(a->count, a->impulse, b->impulse));
  off = fmax(off, furthest(a->count, a->lost, b->lost));
  if (!(off <= c->tolerance)) {
    print_error("%s (L %g, M %g, T %g): off by %g\n", where, u.L, u.M, u.T, off);
    return 1;
  }
  return 0;
}

static inline void check_cases(int count, const Case* cases) {
  int wrong = 0;
  for (int k = 0; k < count; k++) {
    Outcome one = outcome(&cases[k], (Units){1, 1, 1});
    if (one.status != PAWL_OK ? cases[k].events >= 0 : one.count != cases[k].events) {
      print_error("%s: status %d, %d events, expected %d: %s\n", cases[k].name, (int)one.status,
                  one.count, cases[k].events, one.what[0]);
      wrong++;
    }
    if (one.count > 0 && cases[k].why && !strstr(one.what[one.count - 1], cases[k].why)) {
      print_error("%s: '%s', expected '%s'\n", cases[k].name, one.what[one.count - 1],
                  cases[k].why);
      wrong++;
    }
    for (size_t u = 0; u < sizeof UNITS / sizeof *UNITS; u++) {
      Outcome other = outcome(&cases[k], UNITS[u]);
      wrong += differs(&cases[k], UNITS[u], &one, &other);
    }
  }
  assert_int_equal(wrong, 0);
}
#define CHECK_CASES(cases) check_cases((int)(sizeof(cases) / sizeof *(cases)), (cases))
