// SPDX-License-Identifier: Apache-2.0
// Times and conditions at which constraints engage and let go (docs/theory/events.md). A condition
// has a side, the sign that it was last seen with; it fires when the sign turns, so that a root is
// met once, and a condition that begins at zero has no side until it leaves it.
#include <float.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "step/events.h"
#include "system/system.h"

static const double NO_SIDE = 1e-12;     // |f| below this part of the largest seen has no side
static const double NO_SIDE_YET = 1e-9;  // the same just after a jump, which a root has led to
static const double ROUNDING = 1e-14;    // and below this is zero
static const double CAPACITY_SLACK = 2e-12;

// ---- creation -----------------------------------------------------------------------------------
static void add_watcher(PawlSwitcher* w, PawlWatcher watcher) {
  if (watcher.at >= 0 || watcher.kind == PAWL_WATCH_CAPACITY) {
    w->watchers[w->watcher_count++] = watcher;
  }
}

static void add_clock(PawlSwitcher* w, PawlWatcherKind kind, int of, const PawlTrigger* trigger) {
  if (trigger->time_count > 0) {
    w->clocks[w->clock_count++] = (PawlClock){kind, of, trigger};
  }
}

PawlStatus pawl_triggers_create(PawlStepper* s, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const PawlSystem* system = s->system;
  int constraints = system->constraint_count;
  int events = system->model ? system->model->event_count : 0;
  w->watchers = PAWL_NEW(&s->arena, PawlWatcher, 5 * (size_t)constraints + (size_t)events);
  w->clocks = PAWL_NEW(&s->arena, PawlClock, 2 * (size_t)constraints + (size_t)events);
  w->triggered = PAWL_NEW(&s->arena, int, constraints);
  w->capacities = PAWL_NEW(&s->arena, int, constraints);
  w->resting = PAWL_NEW(&s->arena, unsigned char, constraints);
  w->loosened = PAWL_NEW(&s->arena, unsigned char, constraints);
  if (!w->resting || !w->loosened || !w->watchers || !w->clocks || !w->triggered ||
      !w->capacities) {
    return pawl_fail_memory(err);
  }
  for (int c = 0; c < constraints; c++) {
    const PawlConstraint* k = &system->constraints[c];
    const PawlWatch* at = &system->watches[c];
    const PawlTrigger *engage = &k->switching.engage, *release = &k->switching.release;
    if (!k->triggered) {
      continue;
    }
    w->triggered[w->triggered_count++] = c;
    add_clock(w, PAWL_WATCH_RELEASE, c, release);
    add_clock(w, PAWL_WATCH_ENGAGE, c, engage);
    add_watcher(w, (PawlWatcher){PAWL_WATCH_RELEASE, c, at->release, release, at->reacts});
    add_watcher(w, (PawlWatcher){PAWL_WATCH_ENGAGE, c, at->engage, engage, at->reacts});
    if (k->switching.smooth) {
      add_watcher(w, (PawlWatcher){PAWL_WATCH_REST, c, at->rate, NULL, false});
    }
    if (at->capacity >= 0) {
      w->capacities[w->capacity_count++] = c;
      add_watcher(w, (PawlWatcher){PAWL_WATCH_SLIDE, c, at->rate, NULL, false});
      add_watcher(w, (PawlWatcher){PAWL_WATCH_CAPACITY, c, at->capacity, NULL, true});
    }
  }
  for (int e = 0; e < events; e++) {
    const PawlTrigger* trigger = &system->model->events[e].trigger;
    add_clock(w, PAWL_WATCH_EVENT, e, trigger);
    add_watcher(w, (PawlWatcher){PAWL_WATCH_EVENT, e, system->event_watches[e], trigger,
                                 system->event_reacts[e]});
  }
  w->armed = PAWL_NEW(&s->arena, int, w->watcher_count);
  w->sided = PAWL_NEW(&s->arena, int, w->watcher_count);
  w->margins = PAWL_NEW(&s->arena, double, w->watcher_count);
  w->first_margins = PAWL_NEW(&s->arena, double, w->watcher_count);
  w->react = PAWL_NEW(&s->arena, double, (size_t)s->sizes.v + (size_t)s->sizes.rows);
  return w->armed && w->sided && w->margins && w->first_margins && w->react ? PAWL_OK
                                                                            : pawl_fail_memory(err);
}

// Constraints come before events in the list of times of last changes.
static double* since(const PawlStepper* s, const PawlState* state, PawlWatcherKind kind, int of) {
  return &state->since[kind == PAWL_WATCH_EVENT ? s->system->constraint_count + of : of];
}

// ---- looking ------------------------------------------------------------------------------------
PawlStatus pawl_triggers_react(PawlStepper* s, const PawlState* state, const double** a,
                               const double** lambda, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  *a = state->a;
  *lambda = state->lambda;
  if (s->method->exact) {
    if (s->info.redundant_rows == 0) {
      return PAWL_OK;
    }
    *lambda = w->react + s->sizes.v;
    memcpy(w->react + s->sizes.v, state->lambda, (size_t)s->sizes.rows * sizeof(double));
    return pawl_step_least_multipliers(s, state, w->react + s->sizes.v, err);
  }
  PawlPoint point = {state->t, state->q, state->v, NULL, NULL, s->modes, state->held};
  PAWL_TRY(pawl_eval_run(s->eval_start, &point, err));
  *a = w->react;
  *lambda = w->react + s->sizes.v;
  PAWL_TRY(pawl_step_accelerate(s, pawl_eval_values(s->eval_start), state->t, w->react,
                                w->react + s->sizes.v, err));
  return pawl_step_least_multipliers(s, state, w->react + s->sizes.v, err);
}

// All that is watched, at a state; `reacts`: with consistent accelerations and multipliers.
static PawlStatus look(PawlStepper* s, const PawlState* state, bool reacts, const double** lambda,
                       PawlError* err) {
  const double* a = state->a;
  *lambda = state->lambda;
  if (reacts) {
    PAWL_TRY(pawl_triggers_react(s, state, &a, lambda, err));
  }
  PawlPoint point = {state->t, state->q, state->v, a, *lambda, s->modes, state->held};
  return pawl_eval_run(s->switcher->watch, &point, err);
}

// Whether the mode of its constraint makes a watcher worth a look.
static bool is_open(const PawlState* state, const PawlWatcher* k) {
  switch (k->kind) {
    case PAWL_WATCH_ENGAGE:
      return state->modes[k->of] == PAWL_MODE_FREE;
    case PAWL_WATCH_RELEASE:
      return state->modes[k->of] != PAWL_MODE_FREE;
    case PAWL_WATCH_REST:
      return state->modes[k->of] == PAWL_MODE_WAITING;
    case PAWL_WATCH_SLIDE:
      return state->modes[k->of] >= PAWL_MODE_UP;
    case PAWL_WATCH_CAPACITY:
      return state->modes[k->of] == PAWL_MODE_HELD;
    case PAWL_WATCH_EVENT:
      break;
  }
  return true;
}

static bool has_side(const PawlWatcher* k) {
  return k->kind != PAWL_WATCH_SLIDE && k->kind != PAWL_WATCH_CAPACITY;
}

// Worth a note: a side, or the rate of sliding.
static bool is_noted(const PawlState* state, const PawlWatcher* k) {
  return k->kind != PAWL_WATCH_CAPACITY && is_open(state, k);
}

// The time before which a condition does not count.
static double ready(const PawlStepper* s, const PawlState* state, const PawlWatcher* k) {
  return k->trigger && k->trigger->after > 0.0
             ? *since(s, state, k->kind, k->of) + k->trigger->after
             : -INFINITY;
}

bool pawl_triggers_open(const PawlStepper* s, const PawlState* state) {
  bool open = false;
  for (int k = 0; k < s->switcher->watcher_count && !open; k++) {
    open = is_open(state, &s->switcher->watchers[k]);
  }
  return open;
}

int pawl_triggers_arm(PawlStepper* s, const PawlState* state, double slack) {
  PawlSwitcher* w = s->switcher;
  w->armed_count = w->sided_count = 0;
  w->armed_reacts = false;
  for (int k = 0; k < w->watcher_count; k++) {
    const PawlWatcher* watcher = &w->watchers[k];
    if (!is_open(state, watcher)) {
      continue;
    }
    if (is_noted(state, watcher)) {
      w->sided[w->sided_count++] = k;
    }
    if (state->t + slack >= ready(s, state, watcher)) {
      w->armed[w->armed_count++] = k;
      w->armed_reacts |= watcher->reacts;
    }
  }
  return w->armed_count;
}

// 0 <= friction <= capacity of every joint that holds or slides by them.                     (V8)
static int bad_capacity(const PawlStepper* s, const PawlState* state, const double* watch) {
  const PawlSwitcher* w = s->switcher;
  for (int k = 0; k < w->capacity_count; k++) {
    int c = w->capacities[k];
    const PawlWatch* at = &s->system->watches[c];
    double capacity = watch[at->capacity], friction = watch[at->friction];
    bool holds = state->modes[c] == PAWL_MODE_HELD, slides = state->modes[c] >= PAWL_MODE_UP;
    if (((holds || slides) && !(capacity >= 0.0)) ||
        (slides && !(friction >= 0.0 && friction <= capacity * (1 + NO_SIDE)))) {
      return c;
    }
  }
  return -1;
}

static PawlStatus check_capacities(const PawlStepper* s, const PawlState* state,
                                   const double* watch, PawlError* err) {
  int c = bad_capacity(s, state, watch);
  if (c < 0) {
    return PAWL_OK;
  }
  const PawlWatch* at = &s->system->watches[c];
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: '%s': friction %.6g and capacity %.6g, must be 0 <= friction <= "
                   "capacity",
                   state->t, s->system->constraints[c].name, watch[at->friction],
                   watch[at->capacity]);
}

double pawl_triggers_bound(double capacity, double part) {
  return capacity * (1 + part * CAPACITY_SLACK);
}

// The margin of one watcher: positive while nothing happens.
static double margin(const PawlStepper* s, const PawlState* state, int k, const double* watch,
                     const double* lambda) {
  const PawlWatcher* w = &s->switcher->watchers[k];
  double f = watch[w->at];
  switch (w->kind) {
    case PAWL_WATCH_SLIDE:  // zero to rounding is not yet across
      if (s->switcher->loosened[w->of]) {
        return INFINITY;
      }
      f = (state->modes[w->of] == PAWL_MODE_UP ? f : -f) +
          DBL_EPSILON * pawl_jump_fastest(s, state->v);
      return f == 0.0 ? DBL_MIN : f;
    case PAWL_WATCH_CAPACITY:
      f = pawl_triggers_bound(f, 1.0) - fabs(lambda[s->system->constraints[w->of].first_row]);
      return f == 0.0 ? DBL_MIN : f;  // nothing to hold, and no force to hold it with
    default:
      break;
  }
  int side = state->sides[k];
  PawlDirection direction = w->trigger ? w->trigger->direction : PAWL_DIRECTION_BOTH;
  // Zero to rounding is not yet across: something else may hold it there.
  return side == 0 || side == (int)direction ? INFINITY : side * f + ROUNDING * state->largest[k];
}

PawlStatus pawl_triggers_margin(PawlStepper* s, const PawlState* state, double* least,
                                PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const double* lambda;
  *least = INFINITY;
  if (w->armed_count == 0) {
    return PAWL_OK;
  }
  PAWL_TRY(look(s, state, w->armed_reacts, &lambda, err));
  const double* watch = pawl_eval_values(w->watch)->watch;
  PAWL_TRY(check_capacities(s, state, watch, err));
  for (int k = 0; k < w->armed_count; k++) {
    w->margins[k] = margin(s, state, w->armed[k], watch, lambda);
    *least = fmin(*least, w->margins[k]);
  }
  return PAWL_OK;
}

// The rates of sliding have no side, but how fast they were is kept, too.
static void note_side(const PawlSwitcher* w, PawlState* state, int k, double f, double none) {
  state->largest[k] = fabs(f) > state->largest[k] ? fabs(f) : state->largest[k];
  if (has_side(&w->watchers[k]) && fabs(f) > none * state->largest[k]) {
    state->sides[k] = f > 0.0 ? 1 : -1;
  }
}

bool pawl_triggers_pass(PawlStepper* s, PawlState* state, const double* watch,
                        const double* lambda) {
  PawlSwitcher* w = s->switcher;
  if (w->capacity_count > 0 && bad_capacity(s, state, watch) >= 0) {
    return false;
  }
  for (int k = 0; k < w->armed_count; k++) {
    if (!(margin(s, state, w->armed[k], watch, lambda) >= 0.0)) {
      return false;
    }
  }
  for (int k = 0; k < w->sided_count; k++) {
    note_side(w, state, w->sided[k], watch[w->watchers[w->sided[k]].at], NO_SIDE);
  }
  return true;
}

PawlStatus pawl_triggers_note(PawlStepper* s, PawlState* state, bool looked, bool fresh,
                              PawlError* err) {
  PawlSwitcher* w = s->switcher;
  bool any = false, reacts = false;
  const double* lambda;
  for (int k = 0; k < w->watcher_count; k++) {
    bool seen = is_noted(state, &w->watchers[k]) && !(fresh && state->sides[k] != 0);
    any |= seen;
    reacts |= seen && w->watchers[k].reacts;
  }
  if (!any) {
    return PAWL_OK;
  }
  if (!looked || (reacts && !w->armed_reacts)) {
    PAWL_TRY(look(s, state, reacts, &lambda, err));
  }
  const double* watch = pawl_eval_values(w->watch)->watch;
  for (int k = 0; k < w->watcher_count; k++) {
    if (is_noted(state, &w->watchers[k]) && !(fresh && state->sides[k] != 0)) {
      note_side(w, state, k, watch[w->watchers[k].at], fresh ? NO_SIDE_YET : NO_SIDE);
    }
  }
  return PAWL_OK;
}

// ---- times --------------------------------------------------------------------------------------
double pawl_triggers_next(const PawlStepper* s, const PawlState* state, double slack) {
  const PawlSwitcher* w = s->switcher;
  double next = INFINITY;
  for (int k = 0; k < w->clock_count; k++) {
    const PawlTrigger* trigger = w->clocks[k].trigger;
    if (state->passed[k] < trigger->time_count) {
      next = fmin(next, trigger->times[state->passed[k]]);
    }
  }
  for (int k = 0; k < w->triggered_count; k++) {
    int c = w->triggered[k];
    double duration = s->system->constraints[c].switching.duration;
    if (duration > 0.0 && state->modes[c] != PAWL_MODE_FREE &&
        state->modes[c] != PAWL_MODE_WAITING) {
      next = fmin(next, state->since[c] + duration);
    }
  }
  for (int k = 0; k < w->watcher_count; k++) {
    if (is_open(state, &w->watchers[k])) {
      double t = ready(s, state, &w->watchers[k]);
      next = t > state->t + slack ? fmin(next, t) : next;
    }
  }
  return next;
}

// ---- firing -------------------------------------------------------------------------------------
void pawl_triggers_release(PawlStepper* s, PawlState* state, int c) {
  (void)state;
  s->switcher->next[c] = PAWL_MODE_FREE;
}

// G v' + gamma of the row of a lock, whatever its mode. In a step that is cut short at an impact
// the accelerations of time-stepping methods are velocities over a tiny length: then those before.
static double second_rate(PawlStepper* s, const PawlState* state, int c) {
  PawlError unused = {0};
  int mode = s->modes[c], row = s->system->constraints[c].first_row;
  const double* a = s->method->exact ? state->a : s->switcher->mark->a;
  PawlPoint point = {state->t, state->q, state->v, NULL, NULL, s->modes, state->held};
  s->modes[c] = PAWL_MODE_HELD;
  PawlStatus status = pawl_eval_run(s->eval_start, &point, &unused);
  s->modes[c] = mode;
  const PawlValues* values = pawl_eval_values(s->eval_start);
  double second = status == PAWL_OK ? values->gamma[row] : 0.0;
  for (int j = 0; status == PAWL_OK && j < s->sizes.v; j++) {
    for (int k = s->G.start[j]; k < s->G.start[j + 1]; k++) {
      second += s->G.index[k] == row ? values->G[k] * a[j] : 0.0;
    }
  }
  return second;
}

// A relative rate that is zero but for rounding and the tolerance of an instant.
static bool rests(PawlStepper* s, const PawlState* state, int c, double rate) {
  static const double OF_TOLERANCE = 100;
  return fabs(rate) <= PAWL_REST * pawl_jump_fastest(s, state->v) ||
         fabs(rate) <= OF_TOLERANCE * s->def.event_tolerance * fabs(second_rate(s, state, c));
}

PawlStatus pawl_triggers_crossed(PawlStepper* s, const PawlState* state, double* least,
                                 PawlError* err) {
  PawlSwitcher* w = s->switcher;
  PAWL_TRY(pawl_triggers_margin(s, state, least, err));
  *least = INFINITY;
  for (int k = 0; k < w->armed_count; k++) {
    const PawlWatcher* watcher = &w->watchers[w->armed[k]];
    if (watcher->kind == PAWL_WATCH_SLIDE && w->margins[k] < 0.0 &&
        rests(s, state, watcher->of, w->margins[k])) {
      w->margins[k] = 0.0;
    }
    *least = fmin(*least, w->margins[k]);
  }
  return PAWL_OK;
}

// The mode in which a constraint engages; the relative rate is known from the last look.
static int engaged_mode(PawlStepper* s, const PawlState* state, int c) {
  const PawlWatch* at = &s->system->watches[c];
  double rate = at->rate >= 0 ? pawl_eval_values(s->switcher->watch)->watch[at->rate] : 0.0;
  if (at->rate < 0 || rests(s, state, c, rate)) {
    return PAWL_MODE_HELD;
  }
  return s->system->constraints[c].switching.smooth ? PAWL_MODE_WAITING
         : at->capacity < 0                         ? PAWL_MODE_HELD
         : rate > 0.0                               ? PAWL_MODE_UP
                                                    : PAWL_MODE_DOWN;
}

void pawl_triggers_engage(PawlStepper* s, PawlState* state, int c) {
  int* mode = &s->switcher->next[c];
  if (*mode != PAWL_MODE_FREE) {
    return;
  }
  *mode = engaged_mode(s, state, c);
  if (state->modes[c] != PAWL_MODE_FREE) {
    state->since[c] = state->t;  // released and engaged at one instant: it begins anew
  }
}

static void fire_event(PawlStepper* s, PawlState* state, int e, double t) {
  PawlSwitcher* w = s->switcher;
  *since(s, state, PAWL_WATCH_EVENT, e) = t;
  pawl_switcher_log_event(s, state, e, t);
  w->stop |= s->system->model->events[e].stop;
}

// A rate that reaches zero by motion is found to the tolerance of the instant; one that a jump or
// an impact carries across it is not small.
static bool has_come_to_rest(PawlStepper* s, const PawlState* state, int k) {
  static const double OF_LARGEST = 1e-6;
  const PawlSwitcher* w = s->switcher;
  double rate = pawl_eval_values(w->watch)->watch[w->watchers[k].at];
  return fabs(rate) <= OF_LARGEST * state->largest[k] || rests(s, state, w->watchers[k].of, rate);
}

// The rate of a joint that waits or slides has crossed zero.
static void fire_rate(PawlStepper* s, PawlState* state, int k) {
  const PawlWatcher* watcher = &s->switcher->watchers[k];
  int* mode = &s->switcher->next[watcher->of];
  if (*mode == PAWL_MODE_FREE) {
    return;
  }
  if (has_come_to_rest(s, state, k)) {
    *mode = PAWL_MODE_HELD;  // pawl_jump_settle decides
    s->switcher->settles = true;
  } else if (watcher->kind == PAWL_WATCH_SLIDE) {
    double rate = pawl_eval_values(s->switcher->watch)->watch[watcher->at];
    *mode = rate > 0.0 ? PAWL_MODE_UP : PAWL_MODE_DOWN;
  }
}

static void fire(PawlStepper* s, PawlState* state, PawlWatcherKind kind, int of) {
  switch (kind) {
    case PAWL_WATCH_ENGAGE:
      pawl_triggers_engage(s, state, of);
      break;
    case PAWL_WATCH_RELEASE:
      pawl_triggers_release(s, state, of);
      break;
    case PAWL_WATCH_EVENT:
      fire_event(s, state, of, state->t);
      break;
    default:  // its bound is reached: pawl_jump_settle decides
      if (s->switcher->next[of] != PAWL_MODE_FREE) {
        s->switcher->next[of] = PAWL_MODE_HELD;
        s->switcher->settles = true;
      }
      break;
  }
}

static void fire_durations(PawlStepper* s, PawlState* state, double slack) {
  PawlSwitcher* w = s->switcher;
  for (int k = 0; k < w->triggered_count; k++) {
    int c = w->triggered[k], mode = state->modes[c];
    double duration = s->system->constraints[c].switching.duration;
    if (duration > 0.0 && mode != PAWL_MODE_FREE && mode != PAWL_MODE_WAITING &&
        state->since[c] + duration <= state->t + slack) {
      state->t = state->since[c] + duration;
      pawl_triggers_release(s, state, c);
    }
  }
}

static void fire_clocks(PawlStepper* s, PawlState* state, double slack) {
  PawlSwitcher* w = s->switcher;
  for (int k = 0; k < w->clock_count; k++) {
    const PawlTrigger* trigger = w->clocks[k].trigger;
    while (state->passed[k] < trigger->time_count &&
           trigger->times[state->passed[k]] <= state->t + slack) {
      state->t = trigger->times[state->passed[k]++];
      fire(s, state, w->clocks[k].kind, w->clocks[k].of);
    }
  }
}

// What comes to zero together, to rounding, fires together; what rests there does not.
static double tie_of(const PawlSwitcher* w, const PawlState* state, int k) {
  double largest = state->largest[w->armed[k]];
  bool comes = has_side(&w->watchers[w->armed[k]]) && w->first_margins[k] > NO_SIDE_YET * largest &&
               !isinf(w->first_margins[k]);
  return comes ? NO_SIDE * largest : 0.0;
}

PawlStatus pawl_triggers_fire(PawlStepper* s, PawlState* state, double slack, bool watched,
                              bool* changed, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const double* lambda;
  memcpy(w->next, state->modes, pawl_mode_bytes(s));
  w->settles = false;
  if (s->system->watch_count > 0) {
    PAWL_TRY(look(s, state, false, &lambda, err));
  }
  bool any = false;
  for (int k = 0; watched && k < w->armed_count; k++) {
    any |= w->margins[k] < 0.0;
  }
  for (int k = 0; any && k < w->armed_count; k++) {
    const PawlWatcher* watcher = &w->watchers[w->armed[k]];
    if (w->margins[k] < tie_of(w, state, k)) {
      if (has_side(watcher)) {
        state->sides[w->armed[k]] = -state->sides[w->armed[k]];
      }
      if (watcher->kind == PAWL_WATCH_SLIDE || watcher->kind == PAWL_WATCH_REST) {
        fire_rate(s, state, w->armed[k]);
      } else {
        fire(s, state, watcher->kind, watcher->of);
      }
    }
  }
  fire_durations(s, state, slack);
  fire_clocks(s, state, slack);
  *changed = w->settles || memcmp(w->next, state->modes, pawl_mode_bytes(s)) != 0;
  return PAWL_OK;
}

// ---- the start ----------------------------------------------------------------------------------
PawlStatus pawl_triggers_start(PawlStepper* s, PawlState* state, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const double* lambda;
  w->plan_state = NULL;
  w->jumped = false;
  memset(state->passed, 0, (size_t)w->clock_count * sizeof(int));
  memset(state->sides, 0, (size_t)w->watcher_count * sizeof(int));
  memset(state->largest, 0, (size_t)w->watcher_count * sizeof(double));
  memset(state->held, 0, (size_t)s->sizes.rows * sizeof(double));
  for (int k = 0; k < s->since_count; k++) {
    state->since[k] = state->t;
  }
  if (s->system->watch_count > 0) {
    PAWL_TRY(look(s, state, false, &lambda, err));
  }
  for (int k = 0; k < w->triggered_count; k++) {
    int c = w->triggered[k];
    if (state->modes[c] != PAWL_MODE_HELD) {
      continue;
    }
    bool refused;
    PAWL_TRY(pawl_jump_capture(s, state, c, &refused, err));  // the start is checked elsewhere
    if (s->system->watches[c].capacity >= 0) {
      int mode = engaged_mode(s, state, c);
      state->modes[c] = mode == PAWL_MODE_WAITING ? PAWL_MODE_HELD : mode;
    }
    if (state->modes[c] != PAWL_MODE_HELD) {
      state->held[s->system->constraints[c].first_row] = 0.0;
    }
  }
  memcpy(s->modes, state->modes, pawl_mode_bytes(s));
  return PAWL_OK;
}

PawlStatus pawl_triggers_friction(PawlStepper* s, const PawlState* state, double* lambda,
                                  PawlError* err) {
  PawlSwitcher* w = s->switcher;
  bool looked = false;
  const double* unused;
  for (int k = 0; k < w->capacity_count; k++) {
    int c = w->capacities[k], mode = state->modes[c];
    if (mode < PAWL_MODE_UP) {
      continue;
    }
    if (!looked) {
      PAWL_TRY(look(s, state, false, &unused, err));
      looked = true;
    }
    double force = pawl_eval_values(w->watch)->watch[s->system->watches[c].friction];
    lambda[s->system->constraints[c].first_row] = mode == PAWL_MODE_UP ? -force : force;
  }
  return PAWL_OK;
}
