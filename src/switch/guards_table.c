// SPDX-License-Identifier: Apache-2.0
// The table of guards of a system: what is watched, from which mode, to what end (guards.h).
#include <assert.h>
#include <string.h>

#include "model/model.h"
#include "switch/guards.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

static void add(PawlGuards* g, PawlGuard guard) {
  bool clock = guard.what >= PAWL_GUARD_TIMES && guard.what <= PAWL_GUARD_LIMIT;
  guard.sided = guard.what == PAWL_GUARD_CONDITION ||
                (guard.what == PAWL_GUARD_RATE && guard.from != PAWL_FROM_SLIDING);
  guard.presses = guard.what == PAWL_GUARD_CONDITION && g->dynamics->system->presses[guard.at];
  g->all[g->count++] = guard;
  g->condition_count += guard.what <= PAWL_GUARD_CAPACITY;
  g->clock_count += clock;
}

static void add_condition(PawlGuards* g, PawlGuardThen then, int of, int from, int at,
                          const PawlTrigger* trigger, bool reacts) {
  if (at >= 0) {
    add(g, (PawlGuard){.what = PAWL_GUARD_CONDITION,
                       .then = then,
                       .of = of,
                       .from = from,
                       .at = at,
                       .direction = (int)trigger->direction,
                       .dwell = trigger->after,
                       .reacts = reacts});
  }
}

static void add_conditions_of(PawlGuards* g, int c) {
  const PawlConstraint* k = &g->dynamics->system->constraints[c];
  const PawlWatch* at = &g->dynamics->system->watches[c];
  add_condition(g, PAWL_THEN_RELEASE, c, PAWL_FROM_ENGAGED, at->release, &k->switching->release,
                at->release_reacts);
  add_condition(g, PAWL_THEN_ENGAGE, c, PAWL_MODE_FREE, at->engage, &k->switching->engage,
                at->engage_reacts);
  PawlGuard rate = {.what = PAWL_GUARD_RATE, .then = PAWL_THEN_SETTLE, .of = c, .at = at->rate};
  if (k->switching->smooth) {
    rate.from = PAWL_MODE_WAITING;
    add(g, rate);
  }
  if (at->capacity >= 0) {
    rate.from = PAWL_FROM_SLIDING;
    add(g, rate);
    add(g, (PawlGuard){.what = PAWL_GUARD_CAPACITY,
                       .then = PAWL_THEN_SETTLE,
                       .of = c,
                       .from = PAWL_MODE_HELD,
                       .at = at->capacity,
                       .reacts = true});
  }
}

static void add_times(PawlGuards* g, PawlGuardThen then, int of, const PawlTrigger* trigger) {
  for (int k = 1; k < trigger->time_count; k++) {
    assert(trigger->times[k - 1] <= trigger->times[k]);
  }
  if (trigger->time_count > 0 || trigger->every > 0.0) {
    add(g, (PawlGuard){.what = PAWL_GUARD_TIMES,
                       .then = then,
                       .of = of,
                       .from = PAWL_FROM_ANY,
                       .at = -1,
                       .times = trigger});
  }
}

static void add_durations_of(PawlGuards* g, int c) {
  double duration = g->dynamics->system->constraints[c].switching->duration;
  if (duration > 0.0) {
    add(g, (PawlGuard){.what = PAWL_GUARD_DURATION,
                       .then = PAWL_THEN_RELEASE,
                       .of = c,
                       .from = PAWL_FROM_BOUND,
                       .at = -1,
                       .dwell = duration});
  }
}

// An open contact ends with its gap, a closed one with its force.                       (C1) (C2)
static void add_contacts(PawlGuards* g) {
  const PawlSystem* system = g->dynamics->system;
  int first, end = pawl_modes_contacts(system, &first);
  g->first_gap = g->count;
  g->gap_stride = 2;
  for (int row = first; g->contacts && row < end; row++) {
    int of = pawl_modes_of_contact(system, row);
    add(g, (PawlGuard){.what = PAWL_GUARD_GAP,
                       .then = PAWL_THEN_TOUCH,
                       .of = of,
                       .from = PAWL_MODE_OPEN,
                       .at = row});
    add(g, (PawlGuard){.what = PAWL_GUARD_PRESS,
                       .then = PAWL_THEN_OPEN,
                       .of = of,
                       .from = PAWL_FROM_ENGAGED,
                       .at = row,
                       .reacts = true});
  }
}

// A contact that sticks slips where its cone is reached, one that slips stops where its slip is
// zero.                                                                                (F21) (F23)
static void add_friction(PawlGuards* g) {
  const PawlSlip* slip = g->dynamics->slip;
  for (int k = 0; g->contacts && slip && k < slip->count; k++) {
    const PawlSlipContact* c = &slip->contact[k];
    PawlGuard guard = {.what = PAWL_GUARD_CONE,
                       .then = PAWL_THEN_GRIP,
                       .of = c->mode,
                       .from = PAWL_FROM_STICKS,
                       .at = c->normal,
                       .slip = k,
                       .reacts = true};
    add(g, guard);
    guard.what = PAWL_GUARD_SLIP;
    guard.from = PAWL_FROM_SLIPS;
    guard.reacts = false;
    add(g, guard);
  }
}

static void add_limits(PawlGuards* g) {
  const PawlSystem* system = g->dynamics->system;
  int first, end = pawl_modes_contacts(system, &first);
  for (int row = first; g->contacts && row < end; row++) {
    add(g, (PawlGuard){.what = PAWL_GUARD_LIMIT,
                       .then = PAWL_THEN_REST,
                       .of = pawl_modes_of_contact(system, row),
                       .from = PAWL_FROM_LIMIT,
                       .at = -1});
  }
}

static void fill_table(PawlGuards* g) {
  const PawlSystem* system = g->dynamics->system;
  const PawlModel* model = system->model;
  int constraints = system->constraint_count, events = model ? model->event_count : 0;
  for (int c = 0; c < constraints; c++) {
    if (system->constraints[c].triggered) {
      add_conditions_of(g, c);
    }
  }
  for (int e = 0; e < events; e++) {
    add_condition(g, PAWL_THEN_EVENT, e, PAWL_FROM_ANY, system->event_watches[e],
                  &model->events[e].trigger, system->event_reacts[e]);
  }
  add_contacts(g);
  add_friction(g);
  for (int c = 0; c < constraints; c++) {
    if (system->constraints[c].triggered) {
      add_durations_of(g, c);
      add_times(g, PAWL_THEN_RELEASE, c, &system->constraints[c].switching->release);
      add_times(g, PAWL_THEN_ENGAGE, c, &system->constraints[c].switching->engage);
    }
  }
  for (int e = 0; e < events; e++) {
    add_times(g, PAWL_THEN_EVENT, e, &model->events[e].trigger);
  }
  add_limits(g);
  for (int k = 0; k < system->guard_count; k++) {
    add(g, (PawlGuard){.what = PAWL_GUARD_REGION,
                       .then = PAWL_THEN_MOVE,
                       .of = system->guards[k].constraint,
                       .from = system->guards[k].mode,
                       .at = k});
  }
  for (int k = 0; k < system->turn_count; k++) {
    add(g, (PawlGuard){.what = PAWL_GUARD_TURN,
                       .then = PAWL_THEN_MOVE,
                       .of = system->turns[k].constraint,
                       .from = PAWL_FROM_ANY,
                       .at = system->guard_count + k});
  }
}

#ifndef NDEBUG
// Conditions first, then clocks, then surfaces: what the counts of the table mean.
static bool is_in_order(const PawlGuards* g) {
  bool order = true;
  for (int k = 0; k < g->count; k++) {
    PawlGuarded what = g->all[k].what;
    bool condition = what <= PAWL_GUARD_CAPACITY, surface = what >= PAWL_GUARD_REGION;
    order = order && condition == (k < g->condition_count) &&
            surface == (k >= g->condition_count + g->clock_count) &&
            (g->all[k].at >= 0) == (condition || surface);
  }
  return order;
}
#endif

static PawlStatus create_contacts(PawlGuards* g, PawlError* err) {
  const PawlSystem* system = g->dynamics->system;
  PAWL_TRY(pawl_touch_create(&g->pinned, &g->touch, err));
  if (!g->contacts) {
    return PAWL_OK;
  }
  if (g->dynamics->slip && g->dynamics->slip->count > 0) {
    PAWL_TRY(pawl_slip_create(g->dynamics->arena, system, true, &g->slip, err));
    PAWL_TRY(pawl_slip_create(g->dynamics->arena, system, true, &g->slip_aside, err));
    PAWL_TRY(
        pawl_turning_create(g->dynamics->arena, g->dynamics->sizes, g->slip, &g->turning, err));
    PAWL_TRY(pawl_jam_create(g->dynamics, g->slip, &g->jam, err));
  }
  PAWL_TRY(pawl_eval_create(system, PAWL_POSITION, &g->gaps, err));
  g->timed = !pawl_eval_is_timeless(g->gaps);
  if (!g->timed) {
    return pawl_eval_create(system, PAWL_POSITION, &g->gaps_aside, err);
  }
  pawl_eval_destroy(g->gaps);
  g->gaps = NULL;
  PAWL_TRY(pawl_eval_create(system, PAWL_POSITION | PAWL_TIME_GRADIENT, &g->gaps, err));
  return pawl_eval_create(system, PAWL_POSITION | PAWL_TIME_GRADIENT, &g->gaps_aside, err);
}

PawlStatus pawl_guards_create(PawlWatching* watching, PawlSurfaces* surfaces, bool exact,
                              bool locates, bool contacts, PawlGuards* g, PawlError* err) {
  PawlDynamics* d = watching->dynamics;
  const PawlSystem* system = d->system;
  int events = system->model ? system->model->event_count : 0;
  size_t most = 7 * (size_t)system->constraint_count + 2 * (size_t)events +
                (size_t)system->guard_count + (size_t)system->turn_count +
                5 * (size_t)d->sizes.rows;
  size_t numbers = (size_t)d->sizes.v + (size_t)d->sizes.rows;
  *g = (PawlGuards){
      .dynamics = d,
      .nearness = PAWL_NEAR,
      .watching = watching,
      .surfaces = surfaces,
      .exact = exact,
      .locates = locates,
      .contacts = contacts,
      .since_count = system->constraint_count + events,
      .all = PAWL_NEW(d->arena, PawlGuard, most),
      .modes = PAWL_NEW(d->arena, int, d->sizes.modes),
      .listed_modes = PAWL_NEW(d->arena, int, d->sizes.modes),
      .react = PAWL_NEW(d->arena, double, numbers),
      .react_aside = PAWL_NEW(d->arena, double, numbers),
      .seen = PAWL_NEW(d->arena, double, d->sizes.rows),
      .seen_aside = PAWL_NEW(d->arena, double, d->sizes.rows),
      .pinned_places = PAWL_NEW(d->arena, unsigned char, system->watch_count),
      .loosened = PAWL_NEW(d->arena, unsigned char, system->constraint_count),
      .reached = PAWL_NEW(d->arena, unsigned char, system->constraint_count),
      .broken = PAWL_NEW(d->arena, unsigned char, d->sizes.rows),
      .lifted = PAWL_NEW(d->arena, unsigned char, d->sizes.rows),
      .touched = PAWL_NEW(d->arena, unsigned char, d->sizes.rows),
      .pulled = PAWL_NEW(d->arena, unsigned char, d->sizes.rows),
      .slack = PAWL_NEW(d->arena, double, d->sizes.rows),
      .jams = PAWL_NEW(d->arena, unsigned char, d->sizes.rows),
      .pushes = PAWL_NEW(d->arena, int, system->model ? system->model->event_count : 0),
      .push_values = PAWL_NEW(d->arena, double, system->model ? system->model->impulse_count : 0),
      .assigns = PAWL_NEW(d->arena, int, events),
      .assign_values = PAWL_NEW(d->arena, double, system->model ? system->model->set_count : 0)};
  if (d->arena->failed) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; system->model && k < system->model->set_count; k++) {
    g->assigns_react |= system->set_reacts[k];
  }
  fill_table(g);
  assert((size_t)g->count <= most && is_in_order(g));
  g->reacts = g->assigns_react;
  for (int k = 0; k < g->count; k++) {
    g->reacts |= g->all[k].reacts;
  }
  g->open = PAWL_NEW(d->arena, int, g->condition_count);
  g->armed = PAWL_NEW(d->arena, int, g->condition_count);
  g->looks = PAWL_NEW(d->arena, PawlLook, g->condition_count);
  g->sided = PAWL_NEW(d->arena, int, g->condition_count);
  g->margins = PAWL_NEW(d->arena, double, g->condition_count);
  g->first_margins = PAWL_NEW(d->arena, double, g->condition_count);
  g->distances = PAWL_NEW(d->arena, double, g->condition_count);
  g->aside = PAWL_NEW(d->arena, double, g->condition_count);
  g->kink_margins = PAWL_NEW(d->arena, double, system->kink_count);
  g->first_kinks = PAWL_NEW(d->arena, double, system->kink_count);
  g->turned = PAWL_NEW(d->arena, unsigned char, g->condition_count);
  g->firings = PAWL_NEW(d->arena, int, g->condition_count);
  g->early = PAWL_NEW(d->arena, unsigned char, g->condition_count);
  g->soon = PAWL_NEW(d->arena, unsigned char, g->condition_count);
  PAWL_TRY(d->arena->failed ? pawl_fail_memory(err) : pawl_pinned_create(d, &g->pinned, err));
  return create_contacts(g, err);
}

void pawl_guards_destroy(PawlGuards* g) {
  pawl_jam_free(&g->jam);
  pawl_eval_destroy(g->gaps);
  pawl_eval_destroy(g->gaps_aside);
  pawl_slip_destroy(g->slip);
  pawl_slip_destroy(g->slip_aside);
  pawl_pinned_destroy(&g->pinned);
}

void pawl_guards_start(const PawlGuards* g, PawlState* state) {
  memset(state->passed, 0, (size_t)g->clock_count * sizeof(int));
  memset(state->sides, 0, (size_t)g->condition_count * sizeof(int));
  memset(state->largest, 0, (size_t)g->condition_count * sizeof(double));
  memset(state->blur, 0, (size_t)g->condition_count * sizeof(double));
  memset(state->held, 0, (size_t)g->dynamics->sizes.rows * sizeof(double));
  for (int k = 0; k < g->since_count; k++) {
    state->since[k] = state->t;
  }
  for (int k = 0; g->contacts && k < g->condition_count; k++) {
    state->sides[k] = g->all[k].presses ? PAWL_SIDE_UNKNOWN : 0;
  }
}
