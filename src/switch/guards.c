// SPDX-License-Identifier: Apache-2.0
// Which guards are worth a look, how far each is from firing, and what that says about the time
// between two looks.
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "switch/between.h"
#include "switch/closed.h"
#include "switch/guards_impl.h"
#include "switch/modes.h"
#include "switch/share.h"
#include "switch/tolerances.h"
#include "system/system.h"

// ---- which are open -----------------------------------------------------------------------------
bool pawl_guards_open(const PawlGuards* g, const PawlState* state) {
  bool open = false;
  for (int k = 0; k < g->condition_count && !open; k++) {
    open = pawl_guards_is_open(&g->all[k], state->modes);
  }
  return open;
}

static bool is_listed(const PawlGuards* g, const PawlState* state) {
  int k = 0, count = g->dynamics->sizes.modes;
  while (k < count && g->listed_modes[k] == state->modes[k]) {
    k++;
  }
  return g->listed && k == count;
}

PAWL_APART static void list(PawlGuards* g, const PawlState* state) {
  g->open_count = g->sided_count = 0;
  g->open_dwells = g->sided_reacts = false;
  for (int k = 0; k < g->condition_count; k++) {
    const PawlGuard* guard = &g->all[k];
    if (!pawl_guards_is_open(guard, state->modes)) {
      continue;
    }
    g->open[g->open_count++] = k;
    g->open_dwells |= guard->dwell > 0.0;
    if (pawl_guards_is_noted(guard, state)) {
      g->sided[g->sided_count++] = k;
      g->sided_reacts |= guard->reacts;
    }
  }
  g->chosen = false;
  memcpy(g->listed_modes, state->modes, pawl_phase_mode_bytes(state));
  g->listed = true;
}

void pawl_guards_list(PawlGuards* g, const PawlState* state) {
  if (!is_listed(g, state)) {
    list(g, state);
  }
}

// Without dwells those that are open, whatever the time.
int pawl_guards_arm(PawlGuards* g, const PawlState* state, double slack) {
  pawl_guards_list(g, state);
  if (g->chosen && !g->open_dwells) {
    return g->armed_count;
  }
  g->chosen = true;
  g->armed_count = 0;
  g->armed_reacts = false;
  for (int k = 0; k < g->open_count; k++) {
    const PawlGuard* guard = &g->all[g->open[k]];
    if (state->t + slack >= pawl_guards_ready(g, state, guard)) {
      g->armed[g->armed_count++] = g->open[k];
      g->armed_reacts |= guard->reacts;
    }
  }
  return g->armed_count;
}

// ---- looking ------------------------------------------------------------------------------------
// Accelerations and multipliers that solve the index-1 equations at a state; those of the state
// when its method keeps them so.
PawlStatus pawl_guards_react(PawlGuards* g, const PawlState* state, const double** a,
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
    bool closed = !g->contacts && pawl_closed_any(d, state, values);
    PawlStatus status =
        closed ? pawl_closed_accelerate(g->watching, state, own_a, own_lambda, err) : PAWL_RETRY;
    if (status == PAWL_RETRY) {
      status = pawl_dynamics_accelerate(d, &phase, values, state->t, state->q, state->v, own_a,
                                        own_lambda, err);
    }
    PAWL_TRY(status);
  }
  PAWL_TRY(pawl_share_multipliers(g->watching, state, false, own_lambda, err));
  for (int i = g->touch.rubs; !g->contacts && i < g->touch.end; i++) {
    own_lambda[i] = g->touch.lambda[i];
  }
  return PAWL_OK;
}

// The impacts of a contact have not ended yet: between them it has no force.
static bool at_limit(const PawlGuards* g, const PawlState* state, int row) {
  int mode = state->modes[pawl_modes_of_contact(g->dynamics->system, row)];
  return g->contacts && (mode == PAWL_MODE_LIMIT || mode == PAWL_MODE_SLIPS_LIMIT);
}

// What conditions see of multipliers: a located contact is looked at up to where it pulls a little,
// friction of those that slip, and none of those at the limit of their impacts.              (C13)
static PawlStatus see(PawlGuards* g, const PawlState* state, const double** lambda,
                      PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, false);
  bool pulls = false, slips = g->slip && pawl_slip_any(g->slip, &phase);
  bool left = g->slip && g->slip->count > 0 && state->redundant_count > 0;
  for (int i = g->touch.first; g->contacts && i < g->touch.end; i++) {
    pulls |= (*lambda)[i] < 0.0 || (at_limit(g, state, i) && (*lambda)[i] != 0.0);
  }
  if (left && !slips) {
    PAWL_TRY(pawl_slip_look(g->slip, &phase, state->t, state->q, state->v, err));
  }
  if (!pulls && !slips) {
    return PAWL_OK;
  }
  memcpy(g->seen, *lambda, (size_t)g->dynamics->sizes.rows * sizeof(double));
  for (int i = g->touch.first; i < g->touch.end; i++) {
    g->seen[i] = fmax((*lambda)[i], 0.0);
  }
  if (slips) {
    PAWL_TRY(pawl_slip_look(g->slip, &phase, state->t, state->q, state->v, err));
    pawl_slip_forces(g->slip, &phase, g->seen);
  }
  for (int i = g->touch.first; i < g->touch.end; i++) {
    PawlContactFriction of = pawl_system_friction(g->dynamics->system, i);
    if (at_limit(g, state, i)) {
      g->seen[i] = 0.0;
      memset(g->seen + of.first, 0, (size_t)of.count * sizeof(double));
    }
  }
  *lambda = g->seen;
  return PAWL_OK;
}

static bool turns(const PawlGuards* g, const PawlState* state) {
  bool any = false;
  for (int k = 0; g->slip && k < g->slip->count; k++) {
    const PawlSlipContact* c = &g->slip->contact[k];
    any |= c->count > 1 && pawl_slip_slips(state->modes[c->mode]);
  }
  return any;
}

// Near a jam the last look may have been before a jump.
static PawlStatus longest_unjammed(PawlGuards* g, const PawlState* state, double* longest,
                                   PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, false);
  *longest = INFINITY;
  if (!pawl_slip_any(g->slip, &phase)) {
    g->jam.near = g->dynamics->jams = false;
    return PAWL_OK;
  }
  if (g->slip->looked != state->t) {
    PAWL_TRY(pawl_slip_look(g->slip, &phase, state->t, state->q, state->v, err));
  }
  if (g->jam.near || g->jam.looked != state->t) {
    PAWL_TRY(pawl_jam_look(&g->jam, g->slip, state, err));
  }
  return pawl_jam_longest(&g->jam, g->slip, state, longest, err);
}

PawlStatus pawl_guards_longest(PawlGuards* g, const PawlState* state, bool turning, double* longest,
                               PawlError* err) {
  double unjammed;
  PAWL_TRY(longest_unjammed(g, state, &unjammed, err));
  *longest = unjammed;
  g->turning.slow = false;
  if (!turns(g, state)) {
    return PAWL_OK;
  }
  for (int k = 0; k < g->count; k++) {
    if (g->all[k].what == PAWL_GUARD_SLIP) {
      g->turning.fastest[g->all[k].slip] = state->largest[k];
    }
  }
  PAWL_TRY(pawl_turning_longest(&g->turning, g->slip, g->dynamics, state, longest, err));
  g->turning.slow = g->turning.slow && !g->jam.near;
  *longest = turning || g->turning.slow ? fmin(*longest, unjammed) : unjammed;
  return PAWL_OK;
}

// All that is watched, at a state; `reacts`: with consistent accelerations and multipliers.
PawlStatus pawl_guards_look(PawlGuards* g, const PawlState* state, bool reacts,
                            const double** lambda, PawlError* err) {
  const double* a = state->a;
  PawlPhase phase = pawl_phase_of(state, g->dynamics->plain);
  *lambda = state->lambda;
  if (reacts) {
    PAWL_TRY(pawl_guards_react(g, state, &a, lambda, err));
  }
  const double* shown = *lambda;
  PAWL_TRY(see(g, state, &shown, err));
  return pawl_watch_look(g->watching, &phase, state, state->v, a, shown, &g->watch, err);
}

// Positive while nothing happens. Zero to rounding is not yet across.
static double margin_of_rate(const PawlGuards* g, const PawlState* state, const PawlGuard* guard,
                             double rate, double blur) {
  if (g->loosened[guard->of]) {
    return INFINITY;
  }
  double f = (state->modes[guard->of] == PAWL_MODE_UP ? rate : -rate) +
             DBL_EPSILON * pawl_dynamics_largest(pawl_moving(g->dynamics->sizes), state->v) + blur;
  return f == 0.0 ? DBL_MIN : f;
}

static double margin_of_capacity(double capacity, double blur, double lambda) {
  double f = pawl_watch_bound(capacity, 1.0) + blur - fabs(lambda);
  return f == 0.0 ? DBL_MIN : f;  // nothing to hold, and no force to hold it with
}

// Rows of a contact that were left out since others hold them: how fast they are left all the same,
// of what counts as rest. What holds it against another then gives way.                     (F27)
static double left_out(const PawlGuards* g, const PawlState* state, const PawlGuard* guard) {
  const PawlSlipContact* c = &g->slip->contact[guard->slip];
  const double *rate = g->slip->rate, *g_t = pawl_eval_values(g->slip->eval)->g_t;
  double rest = state->blur[guard - g->all], most = 0.0;
  for (int i = c->first; i < c->first + c->count && state->redundant_count > 0; i++) {
    double none = rest + PAWL_REST_LEFT * PAWL_REST * fabs(g_t[i]);
    most = state->redundant[i] && none > 0.0 ? fmax(most, fabs(rate[i]) / none) : most;
  }
  return most;
}

double pawl_guards_friction(const PawlGuards* g, const PawlState* state, const PawlGuard* guard,
                            const double* lambda) {
  const PawlSlipContact* c = &g->slip->contact[guard->slip];
  PawlPhase phase = pawl_phase_of(state, false);
  if (guard->what == PAWL_GUARD_SLIP) {
    double speed = pawl_slip_speed(g->slip, &phase, guard->slip);
    double size =
        fmax(state->largest[guard - g->all], g->slip->least[guard->slip] / PAWL_SLIP_BEGINS);
    double least = c->count > 1 ? PAWL_SLIP_STOPS * size : 0.0;
    double part = g->jam.part[guard->slip];
    double left = part < PAWL_JAM_NEAR ? (part - PAWL_JAM) * fmax(size, fabs(speed)) : INFINITY;
    return fmin(speed - least + g->slip_rounding, left);  // (F36)
  }
  double T = 0.0, mu = pawl_slip_mu(g->slip, guard->slip, true);
  for (int i = c->first; i < c->first + c->count; i++) {
    T = hypot(T, lambda[i]);
  }
  double bound = pawl_watch_bound(mu * fmax(lambda[c->normal], 0.0), 1.0);
  return fmin(bound - T, bound * (1.0 - left_out(g, state, guard)));
}

// A force that is zero to rounding is not yet across; nor is the rounding of a gap where the
// contact opened, and an overlap that it had there. (C1) (C2)
static double margin_of_contact(const PawlGuards* g, const PawlState* state, int k,
                                const double* lambda) {
  const PawlGuard* guard = &g->all[k];
  double noise = guard->what == PAWL_GUARD_GAP || guard->what == PAWL_GUARD_SLIP
                     ? 0.0
                     : PAWL_LOOSE * state->largest[k];
  double blur = guard->what == PAWL_GUARD_CONE ? 0.0 : state->blur[k];  // there it is a rate
  double f = pawl_guards_value(g, state, guard, NULL, lambda) + noise + blur;
  return f == 0.0 ? DBL_MIN : f;
}

// How far a guard is from turning its side, whether it fires there or not.
PAWL_INLINE double distance_of(const PawlGuards* g, const PawlState* state, int k,
                               const double* watch, const double* lambda) {
  const PawlGuard* guard = &g->all[k];
  assert(k < g->condition_count);
  if (pawl_guards_of_contact(guard)) {
    return margin_of_contact(g, state, k, lambda);
  }
  double f = watch[guard->at];
  if (guard->what == PAWL_GUARD_CAPACITY) {
    int row = g->dynamics->system->constraints[guard->of].first_row;
    return margin_of_capacity(f, state->blur[k], lambda[row]);
  }
  if (!guard->sided) {
    return margin_of_rate(g, state, guard, f, state->blur[k]);
  }
  int side = state->sides[k];
  bool counts = (side == 1 || side == -1) && !pawl_guards_by_steps(g, guard);
  return counts ? side * f : INFINITY;
}

// Zero to rounding is not yet across.                                                        (V6)
PAWL_INLINE double margin_of(const PawlGuards* g, const PawlState* state, int k, double distance) {
  return g->all[k].sided ? distance + PAWL_ROUNDING * state->largest[k] : distance;
}

// What a margin is measured by.
PAWL_INLINE double scale_of(const PawlGuards* g, const PawlState* state, int k,
                            const double* watch) {
  return g->all[k].what == PAWL_GUARD_CAPACITY ? watch[g->all[k].at] : state->largest[k];
}

static inline bool is_nearer(double first, double now, double moves) {
  double least = first < now ? first : now;
  return least <= fabs(now - first) + moves && now >= 0.0 && !isinf(now - first);
}

// (V16)
static inline bool is_near(const PawlGuards* g, double first, double now, double scale) {
  return is_nearer(first, now, g->nearness * scale);
}

// How far the floor of a contact moves in a step.                                           (V16c)
PAWL_INLINE double floor_of(const PawlGuards* g, int k) {
  const PawlGuard* guard = &g->all[k];
  return g->timed && guard->what == PAWL_GUARD_GAP
             ? g->dynamics->def->step * fabs(pawl_eval_values(g->gaps)->g_t[guard->at])
             : 0.0;
}

// A sine that touches zero in the middle of a step has its ends at 1 - cos of half of it.   (V16a)
void pawl_guards_resolve(PawlGuards* g, double angle) {
  static const double HALF_TURN = 3.14159265358979323846;
  g->nearness = fmax(PAWL_NEAR, 1.0 - cos(0.5 * fmin(angle, HALF_TURN)));
}

// A gap that is far at both ends of a step of a fast turn may have been closed in between: as low
// as a sine is at the ends of half a period around its least value.                        (V16d)
static bool is_low(const PawlGuards* g, const PawlState* state, int k, double first, double now) {
  double least = first < now ? first : now;
  return g->all[k].what == PAWL_GUARD_GAP && least <= PAWL_NEAR_GAP * state->largest[k] &&
         now >= 0.0 && !isinf(now - first);
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
PawlStatus pawl_guards_find_carriers(PawlGuards* g, const PawlState* state, PawlError* err) {
  bool all = false;
  if (!g->touch.fresh) {
    return PAWL_OK;
  }
  for (int k = 0; k < g->condition_count; k++) {
    all |= g->all[k].sided && state->sides[k] == 0 && pawl_guards_is_noted(&g->all[k], state);
  }
  return pawl_touch_find(&g->touch, state, g->watch, all, err);
}

// The gaps at a state.
PawlStatus pawl_guards_look_at_gaps(PawlGuards* g, const PawlState* state, PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, g->dynamics->plain);
  PawlPoint point = pawl_phase_point(&phase, state->t, state->q, NULL, NULL, NULL);
  PAWL_TRY(g->slip ? pawl_slip_look(g->slip, &phase, state->t, state->q, state->v, err) : PAWL_OK);
  if (g->slip) {
    g->slip_rounding =
        DBL_EPSILON * pawl_dynamics_largest(pawl_moving(g->dynamics->sizes), state->v);
  }
  PAWL_TRY(g->slip && g->jam.dynamics ? pawl_jam_look(&g->jam, g->slip, state, err) : PAWL_OK);
  return g->contacts ? pawl_eval_run(g->gaps, &point, err) : PAWL_OK;
}

PawlStatus pawl_guards_margins(PawlGuards* g, const PawlState* state, PawlMargin* margin,
                               PawlError* err) {
  const double* lambda;
  *margin = (PawlMargin){INFINITY, INFINITY, 0, INFINITY};
  g->near = g->low = false;
  if (g->armed_count > 0) {
    PAWL_TRY(pawl_guards_look(g, state, g->armed_reacts, &lambda, err));
    PAWL_TRY(pawl_guards_find_carriers(g, state, err));
    PAWL_TRY(pawl_guards_look_at_gaps(g, state, err));
    g->lambda = lambda;
  }
  for (int k = 0; k < g->armed_count; k++) {
    int at = g->armed[k];
    double distance = distance_of(g, state, at, g->watch, lambda);
    double moves = g->nearness * scale_of(g, state, at, g->watch) + floor_of(g, at);
    g->near |= is_nearer(g->first_margins[k], distance, moves);
    g->low |= is_low(g, state, at, g->first_margins[k], distance);
    g->distances[k] = distance;
    g->margins[k] =
        pawl_guards_turns_only(g, state, at) ? INFINITY : margin_of(g, state, at, distance);
    margin->least = margin->least < g->margins[k] ? margin->least : g->margins[k];
  }
  PAWL_TRY(g->locates || g->kinks ? look_at_regions(g, state, margin, err) : PAWL_OK);
  bool bound = g->armed_count > 0 && !(margin->kinks < 0.0);  // beyond a kink it is another
  return bound ? pawl_watch_check_capacities(g->watching, state, g->watch, err) : PAWL_OK;
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
      g->distances[k] = distance_of(g, state, g->armed[k], watch, g->lambda);
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
  other.react = g->react_aside;  // what was seen last stays
  other.seen = g->seen_aside;
  other.kink_margins = kinks;
  other.gaps = g->gaps_aside;
  other.slip = g->slip_aside;
  other.jam.dynamics = NULL;  // nothing but what is aside is evaluated
  w->eval = w->aside;
  PawlStatus status = pawl_guards_margins(&other, state, &margin, err);
  w->eval = eval;
  *regions = margin.regions;
  return status;
}

// A surface in which a constraint holds the state has a margin of rounding, which dips nowhere.
bool pawl_guards_near(const PawlGuards* g, const PawlState* state, double regions) {
  if (g->near || !g->locates) {
    return g->near;
  }
  double noise = pawl_surfaces_noise(g->surfaces, state);
  bool held = state->still_count > 0 && fabs(g->first_regions) <= noise && fabs(regions) <= noise;
  return !held && is_near(g, g->first_regions, regions, noise / PAWL_SURFACE_NOISE);
}

PawlStatus pawl_guards_gaps_turn(PawlGuards* g, const PawlState* before, double part, bool* turn,
                                 PawlError* err) {
  PawlPhase phase = pawl_phase_of(before, g->dynamics->plain);
  PawlPoint point = pawl_phase_point(&phase, before->t, before->q, NULL, NULL, NULL);
  *turn = false;
  PAWL_TRY(pawl_eval_run(g->gaps_aside, &point, err));
  const double *now = pawl_eval_values(g->gaps)->g, *then = pawl_eval_values(g->gaps_aside)->g;
  for (int k = 0; k < g->armed_count; k++) {
    int at = g->armed[k], row = g->all[at].at;
    *turn |= is_low(g, before, at, g->first_margins[k], g->distances[k]) &&
             now[row] - then[row] > part * g->distances[k];
  }
  return PAWL_OK;
}

// From 2 and 1 in the place of 4 and 2 on it follows from pawl_guards_near; the rest is for
// rounding. (V16b)
bool pawl_guards_soon(const PawlGuards* g, const PawlState* state, double regions) {
  double size = pawl_surfaces_noise(g->surfaces, state) / PAWL_SURFACE_NOISE;
  double change = regions == g->first_regions ? 0.0 : fabs(regions - g->first_regions);
  return !(regions > 4.0 * change + 2.0 * g->nearness * size);
}

double pawl_guards_noise(const PawlGuards* g, const PawlState* state, int armed) {
  return PAWL_NO_DIP * scale_of(g, state, g->armed[armed], g->watch);
}

void pawl_guards_plan(PawlGuards* g) {
  for (int k = 0; k < g->armed_count; k++) {
    const PawlGuard* guard = &g->all[g->armed[k]];
    bool bounded = guard->what == PAWL_GUARD_CAPACITY;
    assert(!pawl_guards_of_contact(guard));  // their methods do not peek
    g->looks[k] =
        (PawlLook){.guard = g->armed[k],
                   .at = guard->at,
                   .row = bounded ? g->dynamics->system->constraints[guard->of].first_row : -1,
                   .sided = guard->sided,
                   .counts = !pawl_guards_by_steps(g, guard)};
  }
}

// As distance_of, of what is planned.
PAWL_INLINE double planned_distance(const PawlGuards* g, const PawlState* state,
                                    const PawlLook* look, double f, const double* lambda) {
  if (look->row >= 0) {
    return margin_of_capacity(f, state->blur[look->guard], lambda[look->row]);
  }
  if (!look->sided) {
    return margin_of_rate(g, state, &g->all[look->guard], f, state->blur[look->guard]);
  }
  int side = state->sides[look->guard];
  return look->counts && (side == 1 || side == -1) ? side * f : INFINITY;
}

bool pawl_guards_clear(PawlGuards* g, const PawlState* state, const double* watch,
                       const double* lambda) {
  bool near = false;
  const PawlWatching* w = g->watching;  // numbers were looked at when this phase began
  if (w->joint_count > 0 && !w->fixed && !pawl_watch_capacities_good(w, state, watch)) {
    return false;
  }
  const PawlLook *look = g->looks, *end = look + g->armed_count;
  const double* first = g->distances;
  double* now = g->first_margins;  // becomes the room of distances in pawl_guards_pass
  for (; look < end; look++, first++, now++) {
    double f = watch[look->at], scale = look->row >= 0 ? f : state->largest[look->guard];
    *now = planned_distance(g, state, look, f, lambda);
    double margin = look->sided ? *now + PAWL_ROUNDING * scale : *now;
    if (!(margin >= 0.0) && !pawl_guards_turns_only(g, state, look->guard)) {
      return false;
    }
    near |= is_near(g, *first, *now, scale);
  }
  g->near = near;
  return true;
}

// The rate of what pawl_guards_clear has found as the distance.
static double rate_of(const PawlGuards* g, const PawlState* state, int k, const double* lambda,
                      const PawlWatchRates* rates) {
  const PawlGuard* guard = &g->all[k];
  double f = rates->watch[guard->at];
  if (guard->what == PAWL_GUARD_CAPACITY) {
    int row = g->dynamics->system->constraints[guard->of].first_row;
    double load = lambda[row] < 0.0 ? -rates->lambda[row] : rates->lambda[row];
    return pawl_watch_bound(f, 1.0) - load;
  }
  int side = guard->sided ? state->sides[k] : state->modes[guard->of] == PAWL_MODE_UP ? 1 : -1;
  return side * f;
}

bool pawl_guards_turns(const PawlGuards* g, const PawlState* state, const double* watch,
                       const double* lambda, const PawlWatchRates* rates, double h) {
  bool turns = false;
  for (int k = 0; k < g->armed_count && !turns; k++) {
    int guard = g->armed[k];
    double first = g->distances[k], now = g->first_margins[k];
    turns = is_near(g, first, now, scale_of(g, state, guard, watch)) &&
            pawl_between_may_turn(first, now, h * rate_of(g, state, guard, lambda, rates));
  }
  return turns;
}

PAWL_APART static void note_sides(PawlGuards* g, PawlState* state, const double* watch) {
  for (int k = 0; k < g->sided_count; k++) {
    const PawlGuard* guard = &g->all[g->sided[k]];
    assert(!pawl_guards_of_contact(guard));  // their methods do not peek
    pawl_guards_note_one(g, state, g->sided[k], watch[guard->at], PAWL_NO_SIDE);
  }
  if (g->noted) {
    renew(g, state, watch);
  }
}

void pawl_guards_pass(PawlGuards* g, PawlState* state, const double* watch) {
  double* room = g->first_margins;
  g->first_margins = g->distances;
  g->distances = room;
  if (g->sided_count > 0 || g->noted) {
    note_sides(g, state, watch);
  }
}
