// SPDX-License-Identifier: Apache-2.0
#include "switch/guards.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "switch/modes.h"
#include "switch/share.h"
#include "switch/tolerances.h"
#include "system/system.h"

// ---- which are open -----------------------------------------------------------------------------
// Constraints come before events in the list of times of last changes.
static double* since(const PawlGuards* g, const PawlState* state, const PawlGuard* guard) {
  return &state->since[guard->then == PAWL_THEN_EVENT
                           ? g->dynamics->system->constraint_count + guard->of
                           : guard->of];
}

// Whether the mode of its constraint makes a guard worth a look.
static bool is_open(const PawlGuard* guard, const int* modes) {
  int mode = guard->from == PAWL_FROM_ANY ? 0 : modes[guard->of];
  switch (guard->from) {
    case PAWL_FROM_ANY:
      return true;
    case PAWL_FROM_ENGAGED:
      return mode != PAWL_MODE_FREE;
    case PAWL_FROM_BOUND:
      return mode != PAWL_MODE_FREE && mode != PAWL_MODE_WAITING;
    case PAWL_FROM_SLIDING:
      return mode >= PAWL_MODE_UP;
    default:
      return mode == guard->from;
  }
}

// ---- looking ------------------------------------------------------------------------------------
// Worth a note: a side, or the rate of sliding.
static bool is_noted(const PawlGuard* guard, const PawlState* state) {
  return guard->what != PAWL_GUARD_CAPACITY && is_open(guard, state->modes);
}

// The time before which a condition does not count.
static double ready(const PawlGuards* g, const PawlState* state, const PawlGuard* guard) {
  return guard->dwell > 0.0 ? *since(g, state, guard) + guard->dwell : -INFINITY;
}

bool pawl_guards_open(const PawlGuards* g, const PawlState* state) {
  bool open = false;
  for (int k = 0; k < g->condition_count && !open; k++) {
    open = is_open(&g->all[k], state->modes);
  }
  return open;
}

int pawl_guards_arm(PawlGuards* g, const PawlState* state, double slack) {
  g->armed_count = g->sided_count = 0;
  g->armed_reacts = false;
  for (int k = 0; k < g->condition_count; k++) {
    const PawlGuard* guard = &g->all[k];
    if (!is_open(guard, state->modes)) {
      continue;
    }
    if (is_noted(guard, state)) {
      g->sided[g->sided_count++] = k;
    }
    if (state->t + slack >= ready(g, state, guard)) {
      g->armed[g->armed_count++] = k;
      g->armed_reacts |= guard->reacts;
    }
  }
  return g->armed_count;
}

// Accelerations and multipliers that solve the index-1 equations at a state; those of the state
// when its method keeps them so.
static PawlStatus react(PawlGuards* g, const PawlState* state, const double** a,
                        const double** lambda, PawlError* err) {
  PawlDynamics* d = g->dynamics;
  double *own_a = g->react, *own_lambda = g->react + d->sizes.v;
  PawlPhase phase = pawl_phase_of(state, d->plain);
  *a = state->a;
  *lambda = state->lambda;
  if (g->exact && state->redundant_count == 0) {
    return PAWL_OK;
  }
  *lambda = own_lambda;
  if (g->exact) {
    memcpy(own_lambda, state->lambda, (size_t)d->sizes.rows * sizeof(double));
  } else {
    const PawlValues* values;
    *a = own_a;
    PAWL_TRY(pawl_dynamics_evaluate(d, &phase, state, &values, err));
    PAWL_TRY(pawl_dynamics_accelerate(d, &phase, values, state->t, own_a, own_lambda, err));
  }
  PAWL_TRY(pawl_share_multipliers(g->watching, state, own_lambda, err));
  for (int i = g->touch.first; i < g->touch.end; i++) {
    own_lambda[i] = g->touch.lambda[i];
  }
  return PAWL_OK;
}

// All that is watched, at a state; `reacts`: with consistent accelerations and multipliers.
static PawlStatus look(PawlGuards* g, const PawlState* state, bool reacts, const double** lambda,
                       PawlError* err) {
  const double* a = state->a;
  PawlPhase phase = pawl_phase_of(state, g->dynamics->plain);
  *lambda = state->lambda;
  if (reacts) {
    PAWL_TRY(react(g, state, &a, lambda, err));
  }
  return pawl_watch_look(g->watching, &phase, state, state->v, a, *lambda, &g->watch, err);
}

// Positive while nothing happens. Zero to rounding is not yet across.
static double margin_of_rate(const PawlGuards* g, const PawlState* state, const PawlGuard* guard,
                             double rate, double blur) {
  if (g->loosened[guard->of]) {
    return INFINITY;
  }
  double f = (state->modes[guard->of] == PAWL_MODE_UP ? rate : -rate) +
             DBL_EPSILON * pawl_dynamics_largest(g->dynamics->sizes.v, state->v) + blur;
  return f == 0.0 ? DBL_MIN : f;
}

static double margin_of_capacity(const PawlGuards* g, const PawlGuard* guard, double capacity,
                                 const double* lambda) {
  int row = g->dynamics->system->constraints[guard->of].first_row;
  double f = pawl_watch_bound(capacity, 1.0) - fabs(lambda[row]);
  return f == 0.0 ? DBL_MIN : f;  // nothing to hold, and no force to hold it with
}

// Judged by whole steps: a condition that a closed contact carries, or with the force of a contact.
PAWL_INLINE bool by_steps(const PawlGuards* g, const PawlGuard* guard) {
  return guard->sided && (guard->presses || g->touch.carrier[guard->at].row >= 0);
}

// How far a guard is from turning its side, whether it fires there or not.
PAWL_INLINE double distance_of(const PawlGuards* g, const PawlState* state, int k,
                               const double* watch, const double* lambda) {
  const PawlGuard* guard = &g->all[k];
  assert(k < g->condition_count);
  double f = watch[guard->at];
  if (guard->what == PAWL_GUARD_CAPACITY) {
    return margin_of_capacity(g, guard, f, lambda);
  }
  if (!guard->sided) {
    return margin_of_rate(g, state, guard, f, state->blur[k]);
  }
  int side = state->sides[k];
  bool counts = (side == 1 || side == -1) && !by_steps(g, guard);
  return counts ? side * f : INFINITY;
}

// Zero to rounding is not yet across.                                                        (V6)
PAWL_INLINE double margin_of(const PawlGuards* g, const PawlState* state, int k, double distance) {
  return g->all[k].sided ? distance + PAWL_ROUNDING * state->largest[k] : distance;
}

// On the side that its direction asks for already: it turns without firing.
PAWL_INLINE bool turns_only(const PawlGuards* g, const PawlState* state, int k) {
  const PawlGuard* guard = &g->all[k];
  return guard->direction != 0 && guard->sided && state->sides[k] == guard->direction;
}

// What a margin is measured by.
PAWL_INLINE double scale_of(const PawlGuards* g, const PawlState* state, int k,
                            const double* watch) {
  return g->all[k].what == PAWL_GUARD_CAPACITY ? watch[g->all[k].at] : state->largest[k];
}

// (V16)
static inline bool is_near(double first, double now, double scale) {
  double least = first < now ? first : now;
  return least <= fabs(now - first) + PAWL_NEAR * scale && now >= 0.0 && !isinf(now - first);
}

static PawlStatus look_at_regions(PawlGuards* g, const PawlState* state, PawlMargin* margin,
                                  PawlError* err) {
  const double* z;
  PawlPhase phase = pawl_phase_of(state, false);
  PAWL_TRY(pawl_surfaces_look(g->surfaces, &phase, state, &z, err));
  if (g->locates) {
    margin->regions = pawl_modes_margin(g->dynamics->system, z, state->modes, &margin->constraint);
  }
  if (g->kinks) {
    const PawlSystem* system = g->dynamics->system;
    margin->kinks =
        pawl_kinks_margin(system, z, state->modes,
                          state->still + system->guard_count + system->turn_count, g->kink_margins);
  }
  margin->least = fmin(margin->least, fmin(margin->regions, margin->kinks));
  return PAWL_OK;
}

// A condition without a side may be carried by a contact that was closed before, too.
static PawlStatus find_carriers(PawlGuards* g, const PawlState* state, PawlError* err) {
  bool all = false;
  if (!g->touch.fresh) {
    return PAWL_OK;
  }
  for (int k = 0; k < g->condition_count; k++) {
    all |= g->all[k].sided && state->sides[k] == 0 && is_noted(&g->all[k], state);
  }
  return pawl_touch_find(&g->touch, state, g->watch, all, err);
}

PawlStatus pawl_guards_margins(PawlGuards* g, const PawlState* state, PawlMargin* margin,
                               PawlError* err) {
  const double* lambda;
  *margin = (PawlMargin){INFINITY, INFINITY, 0, INFINITY};
  g->near = false;
  if (g->armed_count > 0) {
    PAWL_TRY(look(g, state, g->armed_reacts, &lambda, err));
    PAWL_TRY(pawl_watch_check_capacities(g->watching, state, g->watch, err));
    PAWL_TRY(find_carriers(g, state, err));
    g->lambda = lambda;
  }
  for (int k = 0; k < g->armed_count; k++) {
    int at = g->armed[k];
    double distance = distance_of(g, state, at, g->watch, lambda);
    g->near |= is_near(g->first_margins[k], distance, scale_of(g, state, at, g->watch));
    g->distances[k] = distance;
    g->margins[k] = turns_only(g, state, at) ? INFINITY : margin_of(g, state, at, distance);
    margin->least = margin->least < g->margins[k] ? margin->least : g->margins[k];
  }
  return g->locates || g->kinks ? look_at_regions(g, state, margin, err) : PAWL_OK;
}

// Of a condition that turns without firing the distance: it may turn and turn back in between.
void pawl_guards_keep_margins(PawlGuards* g) {
  for (int k = 0; k < g->armed_count; k++) {
    g->first_margins[k] = isinf(g->margins[k]) ? g->distances[k] : g->margins[k];
  }
}

// ---- between two looks --------------------------------------------------------------------------
void pawl_guards_forget(PawlGuards* g) {
  g->last_of = NULL;
}

// The distances of the last look become those of the beginning of a piece; and the other way.
static void turn_over(PawlGuards* g) {
  double* room = g->first_margins;
  g->first_margins = g->distances;
  g->distances = room;
  room = g->first_kinks;
  g->first_kinks = g->kink_margins;
  g->kink_margins = room;
}

// What noting sides has changed of the distances of the last look.
static void renew(PawlGuards* g, const PawlState* state, const double* watch) {
  for (int k = 0; g->noted && k < g->armed_count; k++) {
    if (g->all[g->armed[k]].what != PAWL_GUARD_CAPACITY) {
      g->distances[k] = distance_of(g, state, g->armed[k], watch, NULL);
    }
  }
  g->noted = false;
}

void pawl_guards_keep(PawlGuards* g, const PawlState* state, double regions) {
  renew(g, state, g->watch);
  g->last_regions = regions;
  g->last_of = state;
  g->last_time = state->t;
  g->last_count = g->armed_count;
}

// In the same modes guards are only added to those that are armed, when their time has come.
bool pawl_guards_known(const PawlGuards* g, const PawlState* state) {
  bool same = g->last_of == state && g->last_count == g->armed_count &&
              fabs(g->last_time - state->t) <= PAWL_SAME_TIME * fabs(state->t);
  return same || (g->armed_count == 0 && !g->locates && !g->kinks);
}

PawlStatus pawl_guards_begin(PawlGuards* g, const PawlState* state, PawlError* err) {
  if (!pawl_guards_known(g, state)) {
    PawlMargin margin;
    PAWL_TRY(pawl_guards_margins(g, state, &margin, err));
    g->last_regions = margin.regions;
  }
  turn_over(g);
  g->first_regions = g->last_regions;
  g->last_of = NULL;
  return PAWL_OK;
}

PawlStatus pawl_guards_aside(const PawlGuards* g, const PawlState* state, double* distances,
                             double* regions, double* kinks, PawlError* err) {
  PawlWatching* w = g->watching;
  PawlEval* eval = w->eval;
  PawlGuards other = *g;
  PawlMargin margin;
  other.distances = distances;
  other.margins = g->aside;
  other.kink_margins = kinks;
  w->eval = w->aside;
  PawlStatus status = pawl_guards_margins(&other, state, &margin, err);
  w->eval = eval;
  *regions = margin.regions;
  return status;
}

bool pawl_guards_near(const PawlGuards* g, const PawlState* state, double regions) {
  return g->near ||
         (g->locates && is_near(g->first_regions, regions,
                                pawl_surfaces_noise(g->surfaces, state) / PAWL_SURFACE_NOISE));
}

double pawl_guards_noise(const PawlGuards* g, const PawlState* state, int armed) {
  return PAWL_NO_DIP * scale_of(g, state, g->armed[armed], g->watch);
}

// The rates of sliding have no side, but how fast they were is kept, too.
static void note(PawlGuards* g, PawlState* state, int k, double f, double none) {
  state->largest[k] = fabs(f) > state->largest[k] ? fabs(f) : state->largest[k];
  if (!g->all[k].sided && fabs(f) > state->blur[k]) {
    g->noted |= state->blur[k] > 0.0;
    state->blur[k] = 0.0;  // it has moved on
  }
  if (g->all[k].sided && abs(state->sides[k]) <= 1 && !by_steps(g, &g->all[k]) &&
      fabs(f) > none * state->largest[k] && fabs(f) > state->blur[k]) {
    int side = f > 0.0 ? 1 : -1;
    g->noted |= side != state->sides[k];
    state->sides[k] = side;
  }
}

bool pawl_guards_pass(PawlGuards* g, PawlState* state, const double* watch, const double* lambda) {
  if (g->watching->joint_count > 0 && !pawl_watch_capacities_good(g->watching, state, watch)) {
    return false;
  }
  turn_over(g);
  for (int k = 0; k < g->armed_count; k++) {
    int guard = g->armed[k];
    double distance = g->distances[k] = distance_of(g, state, guard, watch, lambda);
    if ((!(margin_of(g, state, guard, distance) >= 0.0) && !turns_only(g, state, guard)) ||
        is_near(g->first_margins[k], distance, scale_of(g, state, guard, watch))) {
      turn_over(g);
      return false;
    }
  }
  for (int k = 0; k < g->sided_count; k++) {
    note(g, state, g->sided[k], watch[g->all[g->sided[k]].at], PAWL_NO_SIDE);
  }
  if (g->noted) {
    renew(g, state, watch);
  }
  return true;
}

// ---- at the ends of whole steps -----------------------------------------------------------------
enum { TURNS_UP = 1, TURNS_DOWN = 2 };

// Which side a state of PawlState.sides counts as.
static int counts_as(int side) {
  int size = abs(side);
  return size == PAWL_SIDE_LEAVES || size == PAWL_SIDE_ZERO ? side / size : side;
}

static int turns_to(int side) {
  return side > 0 ? TURNS_UP : TURNS_DOWN;
}

// A force is a mean over a step. That of an open contact is zero: the other side of what it was.
static int turn_by_force(const PawlGuards* g, const PawlState* state, int k, int* side) {
  double f = g->watch[g->all[k].at];
  int was = state->sides[k], now = f > 0.0 ? 1 : -1;
  if (fabs(f) <= PAWL_ROUNDING * state->largest[k]) {
    bool comes = abs(was) == 1;
    *side = comes ? -PAWL_SIDE_ZERO * was : was == PAWL_SIDE_UNKNOWN ? 0 : was;
    return comes ? turns_to(-was) : 0;
  }
  *side = now;
  return was == PAWL_SIDE_UNKNOWN || counts_as(was) == now ? 0 : turns_to(now);
}

// The contact that carries a condition at the end of this step: the one that did, or another.
static PawlCarrier carrier_of(const PawlGuards* g, const PawlGuard* guard, int was) {
  int row = abs(was) - PAWL_SIDE_CLOSED;
  return row >= 0 && g->touch.closed[row] ? (PawlCarrier){row, was > 0 ? 1 : -1}
                                          : g->touch.carrier[guard->at];
}

// Its contact is closed. One that was so before and is hit has opened and closed unseen.
static int turn_by_contact(const PawlGuards* g, PawlCarrier by, int was, int* side) {
  *side = by.side * (PAWL_SIDE_CLOSED + by.row);
  if (was == *side) {
    return g->touch.hit[by.row] ? TURNS_UP | TURNS_DOWN : 0;
  }
  return counts_as(was) == by.side ? turns_to(-by.side) : 0;
}

// What a step to the state looked at last has turned, and the side that follows.
static int turn_by_step(const PawlGuards* g, const PawlState* state, int k, int* side) {
  const PawlGuard* guard = &g->all[k];
  int was = *side = state->sides[k];
  if (!guard->sided || was == PAWL_SIDE_PINNED) {
    return 0;
  }
  if (guard->presses) {
    return turn_by_force(g, state, k, side);
  }
  PawlCarrier by = carrier_of(g, guard, was);
  if (by.row >= 0) {
    return turn_by_contact(g, by, was, side);
  }
  bool opens = abs(was) >= PAWL_SIDE_CLOSED;
  if (opens || abs(was) == PAWL_SIDE_LEAVES) {
    int open = was > 0 ? 1 : -1;
    bool apart = open * g->watch[guard->at] >= -PAWL_ROUNDING * state->largest[k];
    *side = apart ? open : PAWL_SIDE_LEAVES * open;
    return opens ? turns_to(open) : 0;
  }
  return 0;
}

// Of what has turned, that which a guard fires at.
static int asked_for(const PawlGuard* guard, int turns) {
  return guard->direction == 0 ? turns : turns & (guard->direction > 0 ? TURNS_UP : TURNS_DOWN);
}

bool pawl_guards_step_turns(const PawlGuards* g, const PawlState* state) {
  bool any = false;
  for (int k = 0; k < g->armed_count && !any; k++) {
    int side, guard = g->armed[k];
    any = asked_for(&g->all[guard], turn_by_step(g, state, guard, &side)) != 0;
  }
  return any;
}

// All sides that the step to this state has turned; what it has turned goes to g->turned.
static void take_turns(PawlGuards* g, PawlState* state) {
  for (int k = 0; k < g->condition_count; k++) {
    int side = state->sides[k];
    g->turned[k] =
        is_noted(&g->all[k], state) ? (unsigned char)turn_by_step(g, state, k, &side) : 0;
    g->noted |= side != state->sides[k];
    state->sides[k] = side;
  }
}

PawlStatus pawl_guards_note(PawlGuards* g, PawlState* state, bool looked, PawlError* err) {
  bool any = false, reacts = false;
  const double* lambda;
  for (int k = 0; k < g->condition_count; k++) {
    bool seen = is_noted(&g->all[k], state);
    any |= seen;
    reacts |= seen && g->all[k].reacts;
  }
  if (!any) {
    return PAWL_OK;
  }
  if (!looked || (reacts && !g->armed_reacts)) {
    PAWL_TRY(look(g, state, reacts, &lambda, err));
  }
  PAWL_TRY(find_carriers(g, state, err));
  if (g->touch.first < g->touch.end) {
    take_turns(g, state);
  }
  for (int k = 0; k < g->condition_count; k++) {
    if (is_noted(&g->all[k], state)) {
      note(g, state, k, g->watch[g->all[k].at], PAWL_NO_SIDE);
    }
  }
  return PAWL_OK;
}

// A condition that the rows held at zero until now is as far off as they have drifted; it has a
// side again once it is farther.
static void let_go(PawlState* state, int k, double f) {
  static const double OF_DRIFT = 10.0;
  state->sides[k] = 0;
  state->blur[k] = OF_DRIFT * fabs(f);
}

// What the rows in force hold has no side.
static PawlStatus note_pinned(PawlGuards* g, PawlState* state, PawlError* err) {
  memset(g->pinned_places, 0, (size_t)g->dynamics->system->watch_count);
  for (int k = 0; k < g->condition_count; k++) {
    g->pinned_places[g->all[k].at] |= state->sides[k] == PAWL_SIDE_PINNED;
  }
  PAWL_TRY(pawl_pinned_find(&g->pinned, state, pawl_eval_values(g->dynamics->eval), state->a,
                            g->watch, PAWL_PINNED_ZERO, g->pinned_places, err));
  for (int k = 0; k < g->condition_count; k++) {
    const PawlGuard* guard = &g->all[k];
    bool was = state->sides[k] == PAWL_SIDE_PINNED;
    bool is = g->pinned_places[guard->at] && guard->sided && !guard->reacts;
    if (is) {
      state->sides[k] = PAWL_SIDE_PINNED;
      state->blur[k] = 0.0;
    } else if (was) {
      let_go(state, k, g->watch[guard->at]);
    }
  }
  return PAWL_OK;
}

PawlStatus pawl_guards_enter(PawlGuards* g, PawlState* state, PawlError* err) {
  bool sided = false, reacts = false;
  const double* lambda;
  for (int k = 0; k < g->condition_count; k++) {
    sided |= g->all[k].sided;
    reacts |= is_noted(&g->all[k], state) && g->all[k].reacts;
  }
  if (g->condition_count == 0) {
    return PAWL_OK;
  }
  PAWL_TRY(look(g, state, reacts, &lambda, err));
  if (sided) {
    PAWL_TRY(note_pinned(g, state, err));
  }
  for (int k = 0; k < g->condition_count; k++) {
    if (g->all[k].presses && state->sides[k] == 0) {
      state->sides[k] = PAWL_SIDE_UNKNOWN;
    } else if (is_noted(&g->all[k], state) && state->sides[k] == 0) {
      note(g, state, k, g->watch[g->all[k].at], PAWL_NO_SIDE_YET);
    }
  }
  return PAWL_OK;
}

// ---- times --------------------------------------------------------------------------------------
static double next_of(const PawlGuards* g, const PawlState* state, int k) {
  const PawlGuard* guard = &g->all[k];
  assert(k >= g->condition_count && k < g->condition_count + g->clock_count);
  int passed = state->passed[k - g->condition_count];
  if (guard->what == PAWL_GUARD_TIMES) {
    return passed < guard->times->time_count ? guard->times->times[passed] : INFINITY;
  }
  return is_open(guard, state->modes) ? state->since[guard->of] + guard->dwell : INFINITY;
}

double pawl_guards_next(const PawlGuards* g, const PawlState* state, double slack) {
  double next = INFINITY;
  for (int k = g->condition_count; k < g->condition_count + g->clock_count; k++) {
    double t = next_of(g, state, k);
    next = t < next ? t : next;
  }
  for (int k = 0; k < g->condition_count; k++) {
    if (g->all[k].dwell > 0.0 && is_open(&g->all[k], state->modes)) {
      double t = ready(g, state, &g->all[k]);
      next = t > state->t + slack && t < next ? t : next;
    }
  }
  return next;
}

// ---- at rest ------------------------------------------------------------------------------------
// G v' + gamma of the row of a lock, whatever its mode.
static PawlStatus second_rate(PawlGuards* g, const PawlState* state, int c, double* second,
                              PawlError* err) {
  PawlDynamics* d = g->dynamics;
  const PawlValues* values;
  const double *a, *lambda;
  int row = d->system->constraints[c].first_row;
  PAWL_TRY(react(g, state, &a, &lambda, err));
  memcpy(g->modes, state->modes, pawl_phase_mode_bytes(state));
  g->modes[c] = PAWL_MODE_HELD;
  PawlPhase held = {.modes = g->modes, .held = state->held};
  PAWL_TRY(pawl_dynamics_evaluate(d, &held, state, &values, err));
  *second = values->gamma[row];
  for (int j = 0; j < d->sizes.v; j++) {
    for (int k = d->G.start[j]; k < d->G.start[j + 1]; k++) {
      *second += d->G.index[k] == row ? values->G[k] * a[j] : 0.0;
    }
  }
  return PAWL_OK;
}

// A relative rate that is zero but for rounding and the tolerance of an instant.
static PawlStatus rests(PawlGuards* g, const PawlState* state, int c, double rate, bool* yes,
                        PawlError* err) {
  double second;
  *yes = fabs(rate) <= PAWL_REST * pawl_dynamics_pace(g->dynamics, state, NULL);
  if (*yes) {
    return PAWL_OK;
  }
  PAWL_TRY(second_rate(g, state, c, &second, err));
  *yes = fabs(rate) <=
         PAWL_REST_OF_INSTANT * pawl_dynamics_instant(g->dynamics, state->t) * fabs(second);
  return PAWL_OK;
}

PawlStatus pawl_guards_crossed(PawlGuards* g, const PawlState* state, PawlMargin* margin,
                               PawlError* err) {
  PAWL_TRY(pawl_guards_margins(g, state, margin, err));
  margin->least = INFINITY;
  for (int k = 0; k < g->armed_count; k++) {
    const PawlGuard* guard = &g->all[g->armed[k]];
    if (guard->what == PAWL_GUARD_RATE && !guard->sided && g->margins[k] < 0.0) {
      bool yes;
      PAWL_TRY(rests(g, state, guard->of, g->margins[k], &yes, err));
      g->margins[k] = yes ? 0.0 : g->margins[k];
    }
    margin->least = fmin(margin->least, g->margins[k]);
  }
  return PAWL_OK;
}

// A relative rate that the rows in force hold at zero is zero, whatever drift a method allows them.
static PawlStatus is_kept_at_rest(PawlGuards* g, const PawlState* state, int c, bool* yes,
                                  PawlError* err) {
  const double *a, *lambda;
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, g->dynamics->plain);
  PAWL_TRY(react(g, state, &a, &lambda, err));
  PAWL_TRY(look(g, state, false, &lambda, err));
  PAWL_TRY(pawl_dynamics_evaluate(g->dynamics, &phase, state, &values, err));
  int place = g->dynamics->system->watches[c].rate;
  return pawl_pinned_rests(&g->pinned, state, values, a, place, g->watch[place], yes, err);
}

// The mode in which a constraint engages.
static PawlStatus engaged_mode(PawlGuards* g, const PawlState* state, int c, int* mode,
                               PawlError* err) {
  const PawlWatch* at = &g->dynamics->system->watches[c];
  double rate = at->rate >= 0 ? g->watch[at->rate] : 0.0;
  bool yes = true;
  if (at->rate >= 0) {
    PAWL_TRY(rests(g, state, c, rate, &yes, err));
  }
  if (!yes) {
    PAWL_TRY(is_kept_at_rest(g, state, c, &yes, err));
  }
  *mode = yes                                                    ? PAWL_MODE_HELD
          : g->dynamics->system->constraints[c].switching.smooth ? PAWL_MODE_WAITING
          : at->capacity < 0                                     ? PAWL_MODE_HELD
          : rate > 0.0                                           ? PAWL_MODE_UP
                                                                 : PAWL_MODE_DOWN;
  return PAWL_OK;
}

// ---- firing -------------------------------------------------------------------------------------
static PawlStatus engage(PawlGuards* g, PawlState* state, int c, int* next, PawlError* err) {
  if (next[c] != PAWL_MODE_FREE) {
    return PAWL_OK;
  }
  PAWL_TRY(engaged_mode(g, state, c, &next[c], err));
  if (state->modes[c] != PAWL_MODE_FREE) {
    state->since[c] = state->t;  // released and engaged at one instant: it begins anew
  }
  return PAWL_OK;
}

// A rate that reaches zero by motion is found to the tolerance of the instant; one that a jump or
// an impact carries across it is not small.
static PawlStatus settle_rate(PawlGuards* g, PawlState* state, int k, int* next, PawlFired* fired,
                              PawlError* err) {
  const PawlGuard* guard = &g->all[k];
  double rate = g->watch[guard->at];
  bool at_rest = fabs(rate) <= PAWL_COME_TO_REST * state->largest[k];
  if (next[guard->of] == PAWL_MODE_FREE) {
    return PAWL_OK;
  }
  if (!at_rest) {
    PAWL_TRY(rests(g, state, guard->of, rate, &at_rest, err));
  }
  if (at_rest) {
    next[guard->of] = PAWL_MODE_HELD;  // stick.c decides
    fired->changed = true;
  } else if (!guard->sided) {
    next[guard->of] = rate > 0.0 ? PAWL_MODE_UP : PAWL_MODE_DOWN;
  }
  return PAWL_OK;
}

// An event with an impulse awaits the jump, which logs it; others are logged at once. Expressions
// see what is before the instant.
static PawlStatus fire_event(PawlGuards* g, PawlState* state, int e, PawlLog* log, PawlError* err) {
  const PawlSystem* system = g->dynamics->system;
  const PawlEventDef* event = &system->model->events[e];
  if (event->impulse_count == 0) {
    return pawl_log_event(log, state, e, err);
  }
  for (int k = 0; k < g->push_count; k++) {
    if (g->pushes[k] == e) {
      return PAWL_OK;
    }
  }
  g->pushes[g->push_count++] = e;
  memcpy(g->push_values + event->first_impulse,
         g->watch + system->first_impulse + event->first_impulse,
         (size_t)event->impulse_count * sizeof(double));
  return PAWL_OK;
}

static PawlStatus fire(PawlGuards* g, PawlState* state, int k, int* next, PawlLog* log,
                       PawlFired* fired, PawlError* err) {
  const PawlGuard* guard = &g->all[k];
  switch (guard->then) {
    case PAWL_THEN_ENGAGE:
      return engage(g, state, guard->of, next, err);
    case PAWL_THEN_RELEASE:
      next[guard->of] = PAWL_MODE_FREE;
      return PAWL_OK;
    case PAWL_THEN_EVENT:
      *since(g, state, guard) = state->t;
      fired->stop |= g->dynamics->system->model->events[guard->of].stop;
      return fire_event(g, state, guard->of, log, err);
    case PAWL_THEN_SETTLE:
      if (guard->what == PAWL_GUARD_RATE) {
        return settle_rate(g, state, k, next, fired, err);
      }
      g->reached[guard->of] = g->reached[guard->of] > 0 ? 2 : 1;
      fired->changed |= next[guard->of] != PAWL_MODE_FREE;  // stick.c decides
      return PAWL_OK;
    case PAWL_THEN_MOVE:
      break;  // pawl_modes_next knows where
  }
  return PAWL_OK;
}

static PawlStatus fire_clock(PawlGuards* g, PawlState* state, int k, double slack, int* next,
                             PawlLog* log, PawlFired* fired, PawlError* err) {
  const PawlGuard* guard = &g->all[k];
  for (double t = next_of(g, state, k); t <= state->t + slack; t = next_of(g, state, k)) {
    state->t = t;
    PAWL_TRY(fire(g, state, k, next, log, fired, err));
    if (guard->what == PAWL_GUARD_DURATION) {
      break;
    }
    state->passed[k - g->condition_count]++;
  }
  return PAWL_OK;
}

// What comes to zero together, to rounding, fires together; what rests there does not.
static double tie_of(const PawlGuards* g, const PawlState* state, int k) {
  double largest = state->largest[g->armed[k]];
  bool comes = g->all[g->armed[k]].sided && !isinf(g->first_margins[k]) &&
               g->first_margins[k] > PAWL_NO_SIDE_YET * largest;
  return comes ? PAWL_NO_SIDE * largest : 0.0;
}

static PawlStatus fire_conditions(PawlGuards* g, PawlState* state, int* next, PawlLog* log,
                                  PawlFired* fired, PawlError* err) {
  bool any = false;
  for (int k = 0; k < g->armed_count; k++) {
    any |= g->margins[k] < 0.0;
  }
  for (int k = 0; any && k < g->armed_count; k++) {
    int guard = g->armed[k];
    if (g->margins[k] < tie_of(g, state, k)) {
      if (g->all[guard].sided) {
        state->sides[guard] = -state->sides[guard];
        g->firings[guard]++;
      }
      PAWL_TRY(fire(g, state, guard, next, log, fired, err));
    } else if (g->distances[k] < tie_of(g, state, k) && turns_only(g, state, guard)) {
      state->sides[guard] = -state->sides[guard];
    }
  }
  return PAWL_OK;
}

// A condition that has turned both ways fires twice.
static PawlStatus fire_turned(PawlGuards* g, PawlState* state, int* next, PawlLog* log,
                              PawlFired* fired, PawlError* err) {
  for (int k = 0; k < g->armed_count; k++) {
    int guard = g->armed[k], turns = asked_for(&g->all[guard], g->turned[guard]);
    for (int bit = TURNS_UP; bit <= TURNS_DOWN; bit++) {
      PAWL_TRY(turns & bit ? fire(g, state, guard, next, log, fired, err) : PAWL_OK);
    }
  }
  return PAWL_OK;
}

// Capacities that were reached before do not count at another instant.
static void forget_reached(PawlGuards* g, double t) {
  if (t != g->reached_at) {
    memset(g->reached, 0, (size_t)g->dynamics->system->constraint_count);
    g->reached_at = t;
  }
}

PawlStatus pawl_guards_fire(PawlGuards* g, PawlState* state, double slack, bool watched, int* next,
                            PawlLog* log, PawlFired* fired, PawlError* err) {
  const double* lambda;
  memcpy(next, state->modes, pawl_phase_mode_bytes(state));
  forget_reached(g, state->t);
  *fired = (PawlFired){false, false};
  g->push_count = 0;
  bool stepped = g->stepped;
  g->stepped = false;
  if (stepped) {
    take_turns(g, state);
  }
  if (g->dynamics->system->watch_count > 0) {
    PAWL_TRY(look(g, state, false, &lambda, err));
  }
  if (stepped) {
    PAWL_TRY(fire_turned(g, state, next, log, fired, err));
  }
  if (watched) {
    PAWL_TRY(fire_conditions(g, state, next, log, fired, err));
  }
  for (int k = g->condition_count; k < g->condition_count + g->clock_count; k++) {
    PAWL_TRY(fire_clock(g, state, k, slack, next, log, fired, err));
  }
  assert(pawl_modes_in_range(g->dynamics->system, next));
  fired->changed |= memcmp(next, state->modes, pawl_phase_mode_bytes(state)) != 0;
  return PAWL_OK;
}

void pawl_guards_blur(PawlGuards* g, PawlState* state, int k, double blur) {
  assert(k < g->condition_count && g->all[k].sided);
  state->sides[k] = 0;
  state->blur[k] = blur;
  g->noted = true;
  g->last_of = NULL;
}

PawlStatus pawl_guards_ask(PawlGuards* g, PawlState* state, int c, bool wanted, int* next,
                           PawlError* err) {
  const double* lambda;
  assert(c >= 0 && c < g->dynamics->system->constraint_count);
  assert(g->dynamics->system->constraints[c].triggered);
  forget_reached(g, state->t);
  memcpy(next, state->modes, pawl_phase_mode_bytes(state));
  if (!wanted) {
    next[c] = PAWL_MODE_FREE;
    return PAWL_OK;
  }
  if (g->dynamics->system->watch_count > 0) {
    PAWL_TRY(look(g, state, false, &lambda, err));
  }
  return engage(g, state, c, next, err);
}
