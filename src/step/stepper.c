// SPDX-License-Identifier: Apache-2.0
// The list of methods, creating a stepper and its states, and what the methods share.
#include "step/stepper.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/model.h"
#include "step/events.h"
#include "system/system.h"

static const PawlMethod pawl_method_event_driven = {
    .info = {"event-driven", "locates each switch, applies the jump and restarts; see --smooth",
             4}};

static const PawlMethod* const methods[] = {
    &pawl_method_ga_p,          &pawl_method_ga_v,        &pawl_method_ga_v_mid,
    &pawl_method_ga_v_implicit, &pawl_method_ga_a,        &pawl_method_nsga_pvv,
    &pawl_method_ga_pv,         &pawl_method_ga_pva,      &pawl_method_nsga_pva,
    &pawl_method_moreau_jean,   &pawl_method_rk4,         &pawl_method_dopri,
    &pawl_method_taylor,        &pawl_method_exponential, &pawl_method_ark,
    &pawl_method_ida,           &pawl_method_event_driven};
enum { METHOD_COUNT = sizeof methods / sizeof *methods };

const PawlMethodInfo* pawl_method(int index) {
  return index >= 0 && index < METHOD_COUNT ? &methods[index]->info : NULL;
}

static PawlStatus find_method(const char* name, const PawlMethod** out, PawlError* err) {
  PawlNearest nearest = {.wanted = name};
  PawlText list = {0};
  for (int k = 0; k < METHOD_COUNT; k++) {
    if (strcmp(methods[k]->info.name, name) == 0) {
      *out = methods[k];
      pawl_text_free(&list);
      return PAWL_OK;
    }
    pawl_nearest_offer(&nearest, methods[k]->info.name);
    pawl_text_printf(&list, "%s%s", k ? ", " : "", methods[k]->info.name);
  }
  pawl_fail(err, PAWL_ERROR_USAGE, "unknown method '%.100s'; this version has %s%s%s%s", name,
            list.s ? list.s : "", nearest.name ? "; did you mean '" : "",
            nearest.name ? nearest.name : "", nearest.name ? "'?" : "");
  pawl_text_free(&list);
  return PAWL_ERROR_USAGE;
}

static PawlStatus refuse(const PawlStepper* s, const char* what, const char* able, PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_USAGE, "method %s cannot handle the %s of '%s'; these can: %s",
                   s->def.method, what, pawl_system_name(s->system), able);
}

// Finds the method, and whether it can do what the system asks.
static PawlStatus choose_method(PawlStepper* s, bool* event_driven, PawlError* err) {
  PAWL_TRY(find_method(s->def.method, &s->method, err));
  *event_driven = s->method == &pawl_method_event_driven;
  if (*event_driven) {
    PawlError unknown = {0};
    PawlStatus found = find_method(s->def.smooth, &s->method, &unknown);
    if (found != PAWL_OK || s->method == &pawl_method_event_driven || s->method->nonsmooth) {
      s->method = NULL;
      return pawl_fail(err, PAWL_ERROR_USAGE,
                       "smooth = %.100s: must be a method for smooth motion: rk4, dopri, taylor, "
                       "exponential, ga-p, ga-pv, ga-pva, ark, ida",
                       s->def.smooth);
    }
  }
  const PawlMethod* method = s->method;
  s->method = NULL;  // until it is known to fit
  if (pawl_system_switches(s->system) && !*event_driven && !method->switches) {
    return refuse(s, "switching constraints", "event-driven, nsga-pvv, nsga-pva, moreau-jean", err);
  }
  for (int i = 0; i < pawl_system_sizes(s->system).rows; i++) {
    if (pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT && !method->contacts) {
      return refuse(s, "contacts", "nsga-pva, nsga-pvv, moreau-jean", err);
    }
  }
  s->method = method;
  return PAWL_OK;
}

// Options that are words.
static PawlStatus check_words(const PawlStepper* s, PawlError* err) {
  if (strcmp(s->def.newton, "full") != 0 && strcmp(s->def.newton, "simple") != 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "newton = %s: must be full or simple", s->def.newton);
  }
  if (strcmp(s->def.between, "chord") != 0 && strcmp(s->def.between, "arc") != 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "between = %s: must be chord or arc", s->def.between);
  }
  double epsilon;
  return strcmp(s->def.impact, "model") == 0
             ? PAWL_OK
             : pawl_switcher_parse_law(s->def.impact, &epsilon, err);
}

// Rows that are added or taken away have no gradient between before and after.
static PawlStatus check_law(const PawlStepper* s, PawlError* err) {
  bool known = strcmp(s->def.impact, "model") == 0 || strcmp(s->def.impact, "post") == 0 ||
               strcmp(s->def.impact, "none") == 0 || strcmp(s->def.impact, "1") == 0;
  return s->switches || !s->triggers || known
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_USAGE,
                         "impact = %.100s: '%s' has no regions, and what engages and lets go has "
                         "post or none",
                         s->def.impact, pawl_system_name(s->system));
}

static PawlStatus fill(PawlStepper* s, PawlError* err) {
  bool event_driven;
  enum {
    START_MASK =
        PAWL_MASS | PAWL_FORCE | PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT | PAWL_BIAS
  };
  PAWL_TRY(pawl_simulate_def_check(&s->def, err));
  PAWL_TRY(check_words(s, err));
  PAWL_TRY(choose_method(s, &event_driven, err));
  s->sizes = pawl_system_sizes(s->system);
  s->H = pawl_system_pattern_H(s->system);
  s->G = pawl_system_pattern_G(s->system);
  s->nonzeros_H = s->H.start[s->sizes.v];
  s->strategy = s->def.strategy;
  s->switches = pawl_system_switches(s->system);
  s->triggers = pawl_system_triggers(s->system);
  PAWL_TRY(check_law(s, err));
  if (s->triggers) {
    s->since_count =
        s->system->constraint_count + (s->system->model ? s->system->model->event_count : 0);
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    s->contact_count += pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT;
  }
  if (s->contact_count > 0) {  // contacts are not in force as bilateral constraints
    s->active = PAWL_NEW(&s->arena, unsigned char, s->sizes.rows);
    if (!s->active) {
      return pawl_fail_memory(err);
    }
    for (int i = 0; i < s->sizes.rows; i++) {
      s->active[i] = pawl_system_row_kind(s->system, i) == PAWL_ROW_BILATERAL;
    }
  }
  PAWL_TRY(pawl_kkt_create(&s->H, &s->G, PAWL_KKT_AUTO, &s->kkt, err));
  PAWL_TRY(pawl_eval_create(s->system, START_MASK, &s->eval_start, err));
  s->modes = PAWL_NEW(&s->arena, int, s->sizes.modes);
  if (!s->modes) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(s->method->create(s, err));
  return s->switches || s->triggers || s->contact_count > 0
             ? pawl_switcher_create(s, event_driven, err)
             : PAWL_OK;
}

PawlStatus pawl_stepper_create(const PawlSystem* system, const PawlSimulateDef* def,
                               PawlStepper** out, PawlError* err) {
  *out = NULL;
  PawlStepper* s = pawl_alloc(1, sizeof *s);
  if (!s) {
    return pawl_fail_memory(err);
  }
  s->system = system;
  s->def = *def;
  PawlStatus status = fill(s, err);
  if (status != PAWL_OK) {
    pawl_stepper_destroy(s);
    return status;
  }
  *out = s;
  return PAWL_OK;
}

void pawl_stepper_destroy(PawlStepper* s) {
  if (s) {
    if (s->method && s->data) {
      s->method->destroy(s);
    }
    pawl_switcher_destroy(s);
    pawl_kkt_destroy(s->kkt);
    pawl_eval_destroy(s->eval_start);
    pawl_arena_free(&s->arena);
    pawl_free(s);
  }
}

PawlStatus pawl_state_create(const PawlStepper* stepper, PawlState** out, PawlError* err) {
  const PawlMethod* m = stepper->method;
  PawlSizes n = stepper->sizes;
  int memory = m->memory_vectors * n.v + m->memory_rows * n.rows + m->memory_numbers;
  int watchers = stepper->switcher ? stepper->switcher->watcher_count : 0;
  int clocks = stepper->switcher ? stepper->switcher->clock_count : 0;
  size_t numbers = (size_t)n.q + 2 * (size_t)n.v + 2 * (size_t)n.rows + (size_t)memory +
                   (size_t)stepper->since_count + (size_t)watchers;
  *out = NULL;
  size_t bytes = sizeof(PawlState) + numbers * sizeof(double) +
                 ((size_t)watchers + (size_t)clocks + (size_t)n.modes) * sizeof(int);
  PawlState* state = pawl_alloc(1, bytes);
  if (!state) {
    return pawl_fail_memory(err);
  }
  state->q = (double*)(state + 1);
  state->v = state->q + n.q;
  state->a = state->v + n.v;
  state->lambda = state->a + n.v;
  state->memory = state->lambda + n.rows;
  state->memory_count = memory;
  state->held = state->memory + memory;
  state->since = state->held + n.rows;
  state->largest = state->since + stepper->since_count;
  state->sides = (int*)(state->largest + watchers);
  state->passed = state->sides + watchers;
  state->modes = state->passed + clocks;
  state->mode_count = n.modes;
  pawl_system_start(stepper->system, state->q, state->v);
  *out = state;
  return PAWL_OK;
}

void pawl_state_destroy(PawlState* state) {
  pawl_free(state);
}

PawlStatus pawl_stepper_start(PawlStepper* stepper, PawlState* state, bool project,
                              PawlError* err) {
  stepper->held = state->held;
  PAWL_TRY(pawl_step_initial(stepper, state, project, err));
  stepper->method->start(stepper, state);
  return PAWL_OK;
}

const char* pawl_stepper_warning(const PawlStepper* stepper) {
  return stepper->warning ? stepper->warning : "";
}

static PawlStatus plain_step(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  if (s->switcher) {
    s->switcher->instant_count = 0;
  }
  return s->method->step(s, state, h, err);
}

// A change asked for between two steps; on failure the state is as before.
static PawlStatus change(PawlStepper* s, PawlState* state, int c, bool engage, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  if (c < 0 || c >= s->system->constraint_count || !s->system->constraints[c].triggered) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "constraint %d cannot be engaged or released: it is no lock and has none of "
                     "engaged, at, when, release",
                     c);
  }
  bool changed;
  w->instant_count = 0;
  w->plan_state = NULL;
  s->held = state->held;
  pawl_switcher_copy(s, w->kept, state);
  memcpy(s->modes, state->modes, pawl_mode_bytes(s));
  w->armed_count = 0;
  PawlStatus status = pawl_triggers_fire(s, state, -INFINITY, false, &changed, err);
  if (status == PAWL_OK) {
    (engage ? pawl_triggers_engage : pawl_triggers_release)(s, state, c);
    if (w->next[c] != state->modes[c]) {
      pawl_switcher_activate(s);
      status = pawl_jump(s, state, err);
    }
  }
  if (status != PAWL_OK) {
    pawl_switcher_copy(s, state, w->kept);
    w->instant_count = 0;
  }
  return status;
}

PawlStatus pawl_stepper_engage(PawlStepper* stepper, PawlState* state, int constraint,
                               PawlError* err) {
  return change(stepper, state, constraint, true, err);
}

PawlStatus pawl_stepper_release(PawlStepper* stepper, PawlState* state, int constraint,
                                PawlError* err) {
  return change(stepper, state, constraint, false, err);
}

bool pawl_stepper_stopped(const PawlStepper* s) {
  return s->switcher && s->switcher->stop;
}

PawlStatus pawl_stepper_step(PawlStepper* stepper, PawlState* state, double h, PawlError* err) {
  if (!(h > 0.0)) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "step h = %g, must be > 0", h);
  }
  stepper->held = state->held;
  PAWL_TRY(stepper->switches || stepper->triggers ? pawl_events_step(stepper, state, h, err)
                                                  : plain_step(stepper, state, h, err));
  state->step++;
  stepper->info.steps++;
  return stepper->info.redundant_rows > 0 ? pawl_step_watch_redundant(stepper, state, err)
                                          : PAWL_OK;
}

PawlStatus pawl_stepper_multipliers(PawlStepper* s, const PawlState* state, double* lambda,
                                    PawlError* err) {
  if (s->method->multipliers) {
    s->method->multipliers(s, (PawlState*)state, lambda);
  } else {
    memcpy(lambda, state->lambda, (size_t)s->sizes.rows * sizeof(double));
  }
  PAWL_TRY(pawl_step_least_multipliers(s, state, lambda, err));
  if (!s->switcher || s->switcher->capacity_count == 0) {
    return PAWL_OK;
  }
  memcpy(s->modes, state->modes, pawl_mode_bytes(s));
  return pawl_triggers_friction(s, state, lambda, err);
}

PawlStepperInfo pawl_stepper_info(const PawlStepper* stepper) {
  return stepper->info;
}

// ---- shared by the methods ----------------------------------------------------------------------
PawlStatus pawl_step_accelerate(PawlStepper* s, const PawlValues* values, double t, double* a,
                                double* lambda, PawlError* err) {
  s->info.factorizations++;
  PawlStatus status = pawl_kkt_factor(s->kkt, values->M, values->G, values->G, s->active);
  if (status != PAWL_OK) {
    return status == PAWL_RETRY ? pawl_step_singular(s, values->M, values->G, t, err)
                                : pawl_fail_memory(err);
  }
  memcpy(a, values->f, (size_t)s->sizes.v * sizeof(double));
  for (int i = 0; i < s->sizes.rows; i++) {
    lambda[i] = s->active && !s->active[i] ? 0.0 : -values->gamma[i];
  }
  pawl_kkt_solve(s->kkt, a, lambda);
  return PAWL_OK;
}

PawlStatus pawl_step_solve(PawlStepper* s, const PawlValues* values, const double* S,
                           const double* B, const double* J, const unsigned char* set, double t,
                           double* x, double* y, PawlError* err) {
  s->info.factorizations++;
  PawlStatus status = pawl_kkt_factor(s->kkt, S, B, J, set);
  if (status == PAWL_OK) {
    pawl_kkt_solve(s->kkt, x, y);
    return PAWL_OK;
  }
  if (status == PAWL_RETRY && s->contact_count > 0 && B == values->G) {
    status = pawl_kkt_min_norm(s->kkt, values->M, values->G, set, x, y, NULL);
  }
  return status == PAWL_RETRY ? pawl_step_singular(s, S, values->G, t, err)
         : status == PAWL_OK  ? PAWL_OK
                              : pawl_fail_memory(err);
}

int pawl_step_list_rows(const PawlStepper* s, const unsigned char* flags, PawlText* out) {
  enum { MOST_NAMES = 8 };
  int total = 0;
  for (int i = 0; i < s->sizes.rows; i++) {
    if (flags[i] && ++total <= MOST_NAMES) {
      int number;
      const char* name = pawl_system_row_name(s->system, i, &number);
      pawl_text_printf(out, "%s'%s' (row %d)", total > 1 ? ", " : "", name, number + 1);
    }
  }
  if (total > MOST_NAMES) {
    pawl_text_printf(out, " and %d more", total - MOST_NAMES);
  }
  return total;
}

PawlStatus pawl_step_singular(PawlStepper* s, const double* S, const double* G, double t,
                              PawlError* err) {
  int column;
  unsigned char* rows = pawl_alloc((size_t)s->sizes.rows, 1);
  PawlText names = {0};
  PawlStatus status =
      rows ? pawl_kkt_diagnose(s->kkt, S, G, s->active, &column, rows) : PAWL_ERROR_MEMORY;
  if (status != PAWL_OK) {
    pawl_free(rows);
    return status == PAWL_RETRY
               ? pawl_fail(err, PAWL_RETRY, "t = %.10g: numbers overflow in the linear system", t)
               : pawl_fail_memory(err);
  }
  if (column >= 0) {
    const char* name =
        s->sizes.q == s->sizes.v ? pawl_system_coordinate_name(s->system, column) : "a velocity";
    pawl_fail(err, PAWL_RETRY,
              "t = %.10g: the mass matrix is singular at coordinate '%s': it can move with no "
              "mass behind it; is its mass or inertia zero?",
              t, name);
  } else {
    int count = pawl_step_list_rows(s, rows, &names);
    pawl_fail(err, PAWL_RETRY,
              "t = %.10g: the constraints depend on each other here: %s repeat%s or "
              "contradict%s the others",
              t, names.s ? names.s : "some rows", count == 1 ? "s" : "", count == 1 ? "s" : "");
  }
  pawl_text_free(&names);
  pawl_free(rows);
  return PAWL_RETRY;
}
