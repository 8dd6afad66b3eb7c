// SPDX-License-Identifier: Apache-2.0
// On which side of zero conditions are: noted after each step, turned by whole steps where contacts
// decide, none where rows hold a condition at zero.
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "switch/guards_impl.h"
#include "switch/modes.h"
#include "switch/pace.h"
#include "switch/tolerances.h"
#include "system/system.h"

// The rates of sliding have no side, but how fast they were is kept, too.
void pawl_guards_note_one(PawlGuards* g, PawlState* state, int k, double f, double none) {
  state->largest[k] = fabs(f) > state->largest[k] ? fabs(f) : state->largest[k];
  if (!g->all[k].sided && g->all[k].what != PAWL_GUARD_CONE && fabs(f) > state->blur[k]) {
    g->noted |= state->blur[k] > 0.0;
    state->blur[k] = 0.0;  // it has moved on
  }
  if (g->all[k].sided && abs(state->sides[k]) <= 1 && !pawl_guards_by_steps(g, &g->all[k]) &&
      fabs(f) > none * state->largest[k] && fabs(f) > state->blur[k]) {
    int side = f > 0.0 ? 1 : -1;
    g->noted |= side != state->sides[k];
    state->sides[k] = side;
  }
}

// Which side a state of PawlState.sides counts as.
static int counts_as(int side) {
  int size = abs(side);
  return size == PAWL_SIDE_LEAVES || size == PAWL_SIDE_ZERO ? side / size : side;
}

static int turns_to(int side) {
  return side > 0 ? PAWL_TURNS_UP : PAWL_TURNS_DOWN;
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

// Its contact was open and is hit, at an instant that is located: that closes it, unless the
// condition has turned by itself, and a contact that bounces is open again. It has no side then
// until it has gone some way, which may be as late as the next hit.                          (C13)
static int turn_by_hit(const PawlGuards* g, PawlCarrier by, int k, int was, int* side) {
  bool bounces = g->touch.hit[by.row] == PAWL_HIT_BOUNCES;
  int closes = counts_as(was) == -by.side || g->early[k] ? 0 : turns_to(-by.side);
  *side = bounces ? 0 : by.side * (PAWL_SIDE_CLOSED + by.row);
  return closes | (bounces ? turns_to(by.side) : 0);
}

// Its contact is closed. One that was so before and is hit has opened and closed unseen.
static int turn_by_contact(const PawlGuards* g, PawlCarrier by, int k, int was, int* side) {
  if (g->contacts && g->touch.hit[by.row]) {
    return turn_by_hit(g, by, k, was, side);
  }
  *side = by.side * (PAWL_SIDE_CLOSED + by.row);
  if (was == *side) {
    return g->touch.hit[by.row] ? PAWL_TURNS_UP | PAWL_TURNS_DOWN : 0;
  }
  return counts_as(was) == by.side ? turns_to(-by.side) : 0;
}

// Friction acts in time steps.
static bool rubs(const PawlGuards* g) {
  return !g->contacts && g->touch.rubs < g->touch.first;
}

// Friction of time stepping brings rates to zero within a step and holds them there: zero is the
// end of the side that they come from, and the beginning of none.                          (V31)
static int turn_by_stop(const PawlGuards* g, const PawlState* state, int k, int* side) {
  bool comes = abs(state->sides[k]) == 1;
  double zero = fmax(PAWL_NO_SIDE * state->largest[k], state->blur[k]);
  if (!rubs(g) || !comes || fabs(g->watch[g->all[k].at]) > zero) {
    return 0;
  }
  *side = 0;
  return turns_to(-state->sides[k]);
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
    return turn_by_contact(g, by, k, was, side);
  }
  bool opens = abs(was) >= PAWL_SIDE_CLOSED;
  if (opens || abs(was) == PAWL_SIDE_LEAVES) {
    int open = was > 0 ? 1 : -1;
    bool apart = open * g->watch[guard->at] >= -PAWL_ROUNDING * state->largest[k];
    *side = apart ? open : PAWL_SIDE_LEAVES * open;
    return opens ? turns_to(open) : 0;
  }
  return turn_by_stop(g, state, k, side);
}

// Of what has turned, that which a guard fires at.
int pawl_guards_asked_for(const PawlGuard* guard, int turns) {
  return guard->direction == 0 ? turns
                               : turns & (guard->direction > 0 ? PAWL_TURNS_UP : PAWL_TURNS_DOWN);
}

bool pawl_guards_step_turns(const PawlGuards* g, const PawlState* state) {
  bool any = false;
  for (int k = 0; k < g->armed_count && !any; k++) {
    int side, guard = g->armed[k];
    any = pawl_guards_asked_for(&g->all[guard], turn_by_step(g, state, guard, &side)) != 0;
  }
  return any;
}

// All sides that the step to this state has turned; what it has turned goes to g->turned.
void pawl_guards_take_turns(PawlGuards* g, PawlState* state) {
  for (int k = 0; k < g->condition_count; k++) {
    int side = state->sides[k];
    g->turned[k] = pawl_guards_is_noted(&g->all[k], state)
                       ? (unsigned char)turn_by_step(g, state, k, &side)
                       : 0;
    g->noted |= side != state->sides[k];
    state->sides[k] = side;
  }
}

// The direction of a slip turns with the motion.
static void turn_with_slip(PawlGuards* g, PawlState* state, int k) {
  const PawlGuard* guard = &g->all[k];
  if (guard->what != PAWL_GUARD_SLIP || g->slip->contact[guard->slip].count < 2) {
    return;
  }
  PawlPhase phase = pawl_phase_of(state, false);
  if (pawl_slip_speed(g->slip, &phase, guard->slip) > state->blur[k]) {
    pawl_slip_turn(g->slip, &phase, guard->slip, state->held + g->slip->contact[guard->slip].first);
  }
}

// A rate that the friction of time stepping holds is rounding, of what forces change in a step and
// of coordinates over one: that much is rest, where no rate was larger yet, too.              (V31)
static void blur_rates(const PawlGuards* g, PawlState* state) {
  const PawlDynamics* d = g->dynamics;
  if (!rubs(g)) {
    return;
  }
  double push = pawl_dynamics_push(d, state, pawl_eval_values(d->eval)), h = d->def->step;
  double still = PAWL_REST * h * push + PAWL_SLOWEST_LOGGED * PAWL_SLOWEST_MOVE *
                                            pawl_dynamics_largest(d->sizes.q, state->q) / h;
  for (int k = 0; k < g->condition_count; k++) {
    const PawlGuard* guard = &g->all[k];
    if (guard->sided && !guard->presses && !guard->reacts) {
      state->blur[k] = fmax(state->blur[k], still * pawl_pinned_slope(&g->pinned, guard->at));
    }
  }
}

// One that has no side yet would take one.
static bool leaves_zero(const PawlGuards* g, const PawlState* state) {
  bool any = false;
  for (int at = 0; at < g->sided_count; at++) {
    int k = g->sided[at];
    const PawlGuard* guard = &g->all[k];
    any |= guard->sided && !guard->presses && !guard->reacts && state->sides[k] == 0 &&
           fabs(g->watch[guard->at]) > state->blur[k];
  }
  return any;
}

// Loads may have grown since the last jump, and rounding with them: what leaves zero is judged by
// those of now.
static PawlStatus blur_again(PawlGuards* g, PawlState* state, PawlError* err) {
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, g->dynamics->plain);
  if (!rubs(g) || !leaves_zero(g, state)) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_dynamics_evaluate(g->dynamics, &phase, state, &values, err));
  PAWL_TRY(pawl_pinned_measure(&g->pinned, state, values, err));
  blur_rates(g, state);
  return PAWL_OK;
}

PawlStatus pawl_guards_note(PawlGuards* g, PawlState* state, bool looked, PawlError* err) {
  const double* lambda = g->lambda;
  pawl_guards_list(g, state);
  if (g->sided_count == 0) {
    return PAWL_OK;
  }
  if (!looked || (g->sided_reacts && !g->armed_reacts)) {
    PAWL_TRY(pawl_guards_look(g, state, g->sided_reacts, &lambda, err));
    PAWL_TRY(pawl_guards_look_at_gaps(g, state, err));
  }
  PAWL_TRY(pawl_guards_find_carriers(g, state, err));
  PAWL_TRY(blur_again(g, state, err));
  if (g->touch.first < g->touch.end && !g->contacts) {
    pawl_guards_take_turns(g, state);
  }
  for (int at = 0; at < g->sided_count; at++) {
    int k = g->sided[at];
    pawl_guards_note_one(g, state, k, pawl_guards_value(g, state, &g->all[k], g->watch, lambda),
                         PAWL_NO_SIDE);
    turn_with_slip(g, state, k);
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
  int places = g->dynamics->system->watch_count;
  memset(g->pinned_places, 0, (size_t)places);
  memset(g->pinned.largest, 0, (size_t)places * sizeof(double));
  for (int k = 0; k < g->condition_count; k++) {
    if (!pawl_guards_of_contact(&g->all[k])) {
      double* largest = &g->pinned.largest[g->all[k].at];
      g->pinned_places[g->all[k].at] |= state->sides[k] == PAWL_SIDE_PINNED;
      *largest = g->all[k].sided ? fmax(*largest, state->largest[k]) : *largest;
    }
  }
  PAWL_TRY(pawl_pinned_find(&g->pinned, state, pawl_eval_values(g->dynamics->eval), state->a,
                            g->watch, PAWL_PINNED_ZERO, g->pinned_places, err));
  for (int k = 0; k < g->condition_count; k++) {
    const PawlGuard* guard = &g->all[k];
    if (abs(state->sides[k]) >= PAWL_SIDE_CLOSED) {
      continue;  // held by a contact
    }
    bool was = state->sides[k] == PAWL_SIDE_PINNED;
    bool is = guard->sided && g->pinned_places[guard->at] && !guard->reacts;
    if (is) {
      state->sides[k] = PAWL_SIDE_PINNED;
      state->blur[k] = 0.0;
    } else if (was) {
      let_go(state, k, g->watch[guard->at]);
    }
  }
  return PAWL_OK;
}

// A contact that begins to slip at rest may seem to slip back, by the drift of what else holds:
// that much counts as rest until it moves on.
static void enter_slip(PawlGuards* g, PawlState* state, int k) {
  static const double OF_DRIFT = 2.0;
  PawlPhase phase = pawl_phase_of(state, false);
  bool slips = pawl_guards_is_open(&g->all[k], state->modes);
  double speed = slips ? pawl_slip_speed(g->slip, &phase, g->all[k].slip) : 0.0;
  bool begins = slips && pawl_slip_begins(g->slip, &phase, g->all[k].slip);
  state->largest[k] = begins ? fabs(speed) : slips ? fmax(state->largest[k], fabs(speed)) : 0.0;
  state->blur[k] = speed < 0.0 ? OF_DRIFT * fabs(speed) : 0.0;
}

// The rate above which what sticks in name is left in truth: some times what counts as rest (C16).
static double rest_of_slip(const PawlGuards* g, const PawlGuard* guard, const double* still) {
  return PAWL_REST_LEFT * still[g->slip->contact[guard->slip].first];
}

// What a gap is known to where its contact is open: by its terms, and by how it moves in what times
// are rounded to. A contact that comes off without a rate leaves with the third power of time,
// which is less than ida resolves for a while.                                              (C1)
static double least_gap_of(const PawlGuards* g, double t, int row, double terms, bool slow) {
  const PawlSimulateDef* def = g->dynamics->def;
  bool noisy = strcmp(def->smooth, "ida") == 0;
  double moves = PAWL_SAME_TIME * fabs(t * pawl_eval_values(g->dynamics->eval)->g_t[row]);
  if (noisy && (slow || g->pulled[row])) {
    return fmax(PAWL_IDA_NOISE, def->rtol) * terms + def->atol + moves;
  }
  return (noisy && g->slip ? PAWL_IDA_NOISE : DBL_EPSILON) * terms + moves;
}

// What gaps and forces of contacts are measured by: the largest gap, but no less than a part of
// what moves in a step or of the coordinates, and the force that would hold what moves along it, by
// the masses of its coordinates alone. An overlap where a contact opens counts as none until it is
// left.                                                       (C1) (C2)
static void enter_contact(PawlGuards* g, PawlState* state, int k, const double* terms,
                          const double* spans, const double* forces, const double* rates,
                          const double* still) {
  static const double OF_OVERLAP = 2.0;
  const PawlGuard* guard = &g->all[k];
  bool gap = guard->what == PAWL_GUARD_GAP;
  if (guard->what == PAWL_GUARD_SLIP) {
    enter_slip(g, state, k);
    return;
  }
  double value = gap ? pawl_eval_values(g->gaps)->g[guard->at] : 0.0;
  double least = gap ? fmax(fabs(value), spans[guard->at]) : forces[guard->at];
  state->largest[k] = fmax(state->largest[k], least);
  bool slow = rates[guard->at] <= still[guard->at];
  double least_gap = least_gap_of(g, state->t, guard->at, terms[guard->at], slow);
  least_gap +=
      gap && g->jams[guard->at] ? PAWL_JAM_DIP * spans[guard->at] / PAWL_SMALLEST_PART : 0.0;
  state->blur[k] = gap ? OF_OVERLAP * fmax(-value, 0.0) + least_gap : 0.0;
  if (guard->what == PAWL_GUARD_CONE) {
    state->blur[k] = rest_of_slip(g, guard, still);
  }
}

static PawlStatus enter_contacts(PawlGuards* g, PawlState* state, PawlError* err) {
  PawlDynamics* d = g->dynamics;
  const PawlValues* values = pawl_eval_values(d->eval);
  double *terms = g->react, *forces = d->room, *spans = d->room + d->sizes.rows;
  assert(g->contacts);
  PAWL_TRY(pawl_guards_look_at_gaps(g, state, err));
  double h = d->def->step, *still = d->room + 2 * d->sizes.rows, *rates = still + d->sizes.rows;
  double* places = still;  // until all is measured by them
  pawl_pace_forces(d, state, NULL, values, (PawlPace){.of_a = 1.0}, forces);
  pawl_pace_rows(d, state, NULL, values, (PawlPace){h, h * h}, spans);
  pawl_dynamics_row_sizes(d, values->G, state->q, terms);
  pawl_pace_places(d, state, values, true, places);
  for (int i = 0; i < d->sizes.rows; i++) {
    terms[i] = fmax(fmin(terms[i], spans[i]), places[i]);
  }
  pawl_pace_places(d, state, values, false, places);
  for (int i = 0; i < d->sizes.rows; i++) {
    spans[i] = PAWL_SMALLEST_PART * fmax(spans[i], places[i]);
  }
  pawl_pace_rows(d, state, NULL, values, pawl_pace_rest(d, state->t), still);
  pawl_dynamics_rows(d, values->G, state->v, values->g_t, rates);
  for (int k = 0; k < g->condition_count; k++) {
    if (pawl_guards_of_contact(&g->all[k])) {
      enter_contact(g, state, k, terms, spans, forces, rates, still);
    }
  }
  return PAWL_OK;
}

// After a jump: a contact that is closed carries the conditions on its gap, as with time stepping,
// and forces of contacts have come or gone. What that turns fires at this instant.         (C13)
static PawlStatus enter_carried(PawlGuards* g, PawlState* state, PawlError* err) {
  PawlTouch* touch = &g->touch;
  const PawlSystem* system = g->dynamics->system;
  for (int i = touch->first; i < touch->end; i++) {
    bool open = state->modes[pawl_modes_of_contact(system, i)] == PAWL_MODE_OPEN;
    touch->hit[i] = !g->touched[i] ? 0 : open ? PAWL_HIT_BOUNCES : PAWL_HIT_STAYS;
    touch->closed[i] = !open || touch->hit[i];
    state->active[i] = 0;  // motions along which gaps open
  }
  PAWL_TRY(pawl_touch_find(touch, state, g->watch, true, err));
  pawl_phase_activate(system, state);
  pawl_guards_take_turns(g, state);
  pawl_touch_drop(touch);
  g->entered = true;
  return PAWL_OK;
}

bool pawl_guards_jump_turns(PawlGuards* g) {
  bool any = false;
  for (int k = 0; k < g->armed_count && g->entered; k++) {
    any |= pawl_guards_asked_for(&g->all[g->armed[k]], g->turned[g->armed[k]]) != 0;
  }
  g->entered = any;
  return any;
}

PawlStatus pawl_guards_enter(PawlGuards* g, PawlState* state, PawlError* err) {
  bool sided = false, reacts = false;
  const double* lambda;
  for (int k = 0; k < g->condition_count; k++) {
    sided |= g->all[k].sided;
    reacts |= pawl_guards_is_noted(&g->all[k], state) && g->all[k].reacts;
  }
  if (g->condition_count == 0) {
    return PAWL_OK;
  }
  if (g->contacts) {
    PAWL_TRY(enter_contacts(g, state, err));
  }
  PAWL_TRY(pawl_guards_look(g, state, reacts, &lambda, err));
  if (g->contacts && sided) {
    PAWL_TRY(enter_carried(g, state, err));
  }
  if (sided) {
    PAWL_TRY(note_pinned(g, state, err));
    blur_rates(g, state);
  }
  for (int k = 0; k < g->condition_count; k++) {
    if (g->all[k].presses && state->sides[k] == 0 && !g->contacts) {
      state->sides[k] = PAWL_SIDE_UNKNOWN;
    } else if (pawl_guards_is_noted(&g->all[k], state) && state->sides[k] == 0) {
      pawl_guards_note_one(g, state, k, pawl_guards_value(g, state, &g->all[k], g->watch, lambda),
                           PAWL_NO_SIDE_YET);
    }
  }
  return PAWL_OK;
}

void pawl_guards_blur(PawlGuards* g, PawlState* state, int k, double blur) {
  assert(k < g->condition_count && g->all[k].sided);
  state->sides[k] = 0;
  state->blur[k] = blur;
  g->noted = true;
  g->last_of = NULL;
}
