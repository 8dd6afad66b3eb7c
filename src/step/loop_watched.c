// SPDX-License-Identifier: Apache-2.0
#include "step/loop_watched.h"

#include <math.h>
#include <string.h>

#include "model/model.h"
#include "step/loop_change.h"
#include "step/loop_instant.h"
#include "step/loop_piece.h"
#include "step/works.h"
#include "step/yield.h"
#include "switch/tolerances.h"
#include "system/system.h"

// Whether the piece since the mark has gone through impacts.
static bool has_hit(const PawlStepper* s) {
  bool hit = false;
  for (int k = s->loop->mark_count; k < s->log.count; k++) {
    hit |= !s->log.instants[k]->seen;
  }
  return hit;
}

// Whether contacts with friction press, whose forces are impulses to the method.
static bool rubs(const PawlStepper* s) {
  bool any = false;
  for (int i = s->sizes.rows - s->contact_count; s->method->closes && i < s->sizes.rows; i++) {
    any |= pawl_system_friction(s->system, i).count > 0 && s->method->closes(s, i);
  }
  return any;
}

// An impact within a time step, or the friction of contacts, must not go through a joint that holds
// by a finite force. The first whose mean reaction over the step is beyond its capacity slides from
// the beginning of the step; -1: none.
static PawlStatus overloaded(PawlStepper* s, const PawlState* state, int* constraint,
                             double* reaction, PawlError* err) {
  PawlLoop* l = s->loop;
  const PawlWatching* w = &s->watching;
  *constraint = -1;
  if (!pawl_change_has_impacts(s) || w->joint_count == 0 || !(has_hit(s) || rubs(s))) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_stepper_multipliers(s, state, w->lambda, err));
  for (int k = 0; k < w->joint_count && *constraint < 0; k++) {
    int c = w->joints[k];
    *reaction = w->lambda[s->system->constraints[c].first_row];
    if (state->modes[c] == PAWL_MODE_HELD &&
        fabs(*reaction) > l->guards.watch[s->system->watches[c].capacity]) {
      *constraint = c;
    }
  }
  return PAWL_OK;
}

static PawlStatus slide_instead(PawlStepper* s, PawlState* state, int c, double reaction,
                                PawlError* err) {
  PawlLoop* l = s->loop;
  bool rubbed = !has_hit(s);  // the friction of contacts alone was too much for it
  pawl_instant_back(s, state);
  memcpy(l->next, state->modes, pawl_phase_mode_bytes(state));
  l->next[c] = reaction > 0.0 ? PAWL_MODE_DOWN : PAWL_MODE_UP;
  l->guards.loosened[c] = 1;
  PAWL_TRY(rubbed ? pawl_stick_tell_rubbing(&l->jump.stick, state->t, c, err) : PAWL_OK);
  return pawl_change_modes(s, state, err);
}

// A step of length h from the mark has failed: joints that contacts push along slide from its
// beginning. *any: some do; else the failure stands.
static PawlStatus give_way(PawlStepper* s, PawlState* state, double h, bool* any, PawlError* err) {
  PawlLoop* l = s->loop;
  pawl_instant_back(s, state);
  PAWL_TRY(pawl_yield_find(s, state, h, l->next, any, err));
  for (int c = 0; *any && c < s->system->constraint_count; c++) {
    l->guards.loosened[c] |= l->next[c] != state->modes[c];
  }
  return *any ? pawl_change_modes(s, state, err) : PAWL_OK;
}

// From the mark by h; a method with steps of its own may end earlier, *h is how far it came.
static PawlStatus advance(PawlStepper* s, PawlState* state, double* h, bool* stopped,
                          PawlError* err) {
  *stopped = false;
  if (!s->method->advance || (s->method->low && s->dynamics.jams) ||  // (F36)
      s->loop->guards.turning.slow) {                                 // (F80)
    return pawl_piece_step(s, state, *h, err);
  }
  double begin = state->t;
  PawlPhase phase = pawl_phase_of(s->loop->mark, false);
  PAWL_TRY(s->works ? pawl_works_begin(s, state, err) : PAWL_OK);
  s->seen = s->loop->kinks.located ? pawl_kinks_watch(&s->loop->kinks, s->loop->mark) : NULL;
  PawlStatus status = s->method->advance(s, &phase, state, *h, stopped, err);
  s->seen = NULL;
  PAWL_TRY(status);
  PAWL_TRY(s->works ? pawl_works_end(s, state, err) : PAWL_OK);
  *h = state->t < begin + *h ? state->t - begin : *h;
  return PAWL_OK;
}

enum { MOST_KINK_HALVINGS = 10 };

// A zero that the method has found itself is one, however little its margin is beyond.
static bool is_quiet(const PawlLoop* l, const PawlState* state, const PawlMargin* margin,
                     bool stopped) {
  return !(stopped && margin->least < 0.0) && pawl_instant_is_quiet(l, state, margin);
}

// A margin that is negative where the method has stopped, and was not positive at the mark, or a
// zero that counts as not yet passed (pawl_sundials_margins): the method does not see such a one
// turn, which may have been long before. Kinks have one between them
// for the method, the least; within the noise of surfaces the stop is at their zero.
static bool is_overlooked(const PawlLoop* l, const PawlState* state, const PawlMargin* margin) {
  const PawlGuards* g = &l->guards;
  double noise = pawl_surfaces_noise(&l->surfaces, state);
  bool over = margin->regions < -noise && !(g->first_regions > PAWL_NO_WEIGHT);
  for (int k = 0; k < g->armed_count; k++) {
    over |= g->margins[k] < 0.0 && !(g->first_margins[k] > PAWL_NO_WEIGHT);
  }
  for (int k = 0; k < l->kinks.count; k++) {
    over |= margin->kinks < -noise && !(g->first_kinks[k] > PAWL_NO_WEIGHT);
  }
  return over;
}

// A piece from the mark, and the margins at its end. One that has gone beyond a kink on its way and
// ends on the near side is taken again in halves, the first of them here. *h: the length taken.
static PawlStatus advance_inside(PawlStepper* s, PawlState* state, double* h, bool* stopped,
                                 PawlMargin* margin, PawlError* err) {
  PawlLoop* l = s->loop;
  PAWL_TRY(advance(s, state, h, stopped, err));
  if (s->method->fastest) {
    pawl_guards_resolve(&l->guards, s->def.step * s->method->fastest(s));
  }
  PAWL_TRY(pawl_guards_margins(&l->guards, state, margin, err));
  for (int k = 0;
       k < MOST_KINK_HALVINGS && l->kinks.located && is_quiet(l, state, margin, *stopped) &&
       l->kinks.sides.least < -pawl_surfaces_noise(&l->surfaces, state);
       k++) {
    *h *= 0.5;
    pawl_instant_back(s, state);
    PAWL_TRY(advance(s, state, h, stopped, err));
    PAWL_TRY(pawl_guards_margins(&l->guards, state, margin, err));
  }
  return PAWL_OK;
}

bool pawl_watched_is_smooth(const PawlStepper* s) {
  return s->method->exact && !s->method->advance && !s->method->fastest;
}

// Whether something may have turned and turned back since the mark. Surfaces cannot have where the
// way was shorter than the room at its end.                                            (V16) (V43)
static bool may_have_turned(PawlStepper* s, const PawlState* state, const PawlMargin* margin) {
  PawlLoop* l = s->loop;
  if (!pawl_guards_near(&l->guards, state, margin->regions)) {
    return false;
  }
  return l->guards.near || !s->system->reach || !pawl_watched_is_smooth(s) ||
         !pawl_surfaces_stay(&l->surfaces, state, pawl_surfaces_way(&l->surfaces, l->mark, state));
}

// Whether a gap that is not near at the end of a piece turns fast.                        (V16d)
static PawlStatus gaps_turn(PawlStepper* s, const PawlState* state, bool* turn, PawlError* err) {
  PawlLoop* l = s->loop;
  double h = state->t - l->mark->t;
  *turn = false;
  if (!l->guards.low || !(h > 0.0)) {
    return PAWL_OK;
  }
  pawl_phase_copy(l->probe, state);
  pawl_piece_shift(s, l->probe, -PAWL_AHEAD * h);
  return pawl_guards_gaps_turn(&l->guards, l->probe, PAWL_AHEAD, turn, err);
}

// Up to the first instant of a piece whose end was just looked at.
static PawlStatus find_first(PawlStepper* s, PawlState* state, double h, bool stopped, bool* found,
                             double* reached, PawlMargin* margin, PawlError* err) {
  PawlLoop* l = s->loop;
  bool earlier = false, cut = false;
  if (*found && !stopped) {
    PAWL_TRY(pawl_instant_go_to_zero(s, state, h, margin, &h, err));
  }
  *reached = h;
  bool near = !stopped && may_have_turned(s, state, margin);
  if (!near && !stopped) {
    PAWL_TRY(gaps_turn(s, state, &near, err));
  }
  if (h > 0.0 && !pawl_piece_is_tiny(s, h) && (near || pawl_instant_near_kinks(l))) {
    PAWL_TRY(pawl_instant_look_between(s, state, h, margin, &earlier, &cut, err));
    *found = earlier || (*found && !cut);
    *reached = earlier || cut ? 0.0 : h;
  }
  return PAWL_OK;
}

// On its way to an instant the last piece has gone farther beyond a kink than it is there.
static bool has_strayed(const PawlLoop* l, const PawlState* state, const PawlMargin* margin) {
  static const double OF_END = 100.0;
  double least = l->kinks.sides.least;
  return l->kinks.located && least < OF_END * fmin(margin->kinks, 0.0) &&
         least < -pawl_surfaces_noise(&l->surfaces, state);
}

// A slow slip has no direction in a piece, since it may rest sooner than it seemed to: nothing is
// taken, and the next piece is shorter.                                                      (F80)
static PawlStatus go_shorter(PawlStepper* s, PawlState* state, bool* found) {
  pawl_instant_back(s, state);
  s->loop->guards.turning.part *= PAWL_SLIP_SLOW_SHORTER;
  *found = false;
  return PAWL_OK;
}

// A piece of length h in which something may be found; up to it, if there is.
static PawlStatus watched_piece(PawlStepper* s, PawlState* state, double h, bool* found,
                                PawlError* err) {
  PawlLoop* l = s->loop;
  PawlGuards* g = &l->guards;
  PawlMargin margin;
  bool stopped, strays = true;
  int through;
  double reaction, reached;
  pawl_phase_copy(l->mark, state);
  l->mark_count = s->log.count;
  PAWL_TRY(pawl_guards_begin(g, state, err));
  for (int k = 0; strays; k++) {
    PawlStatus status = advance_inside(s, state, &h, &stopped, &margin, err);
    if (status == PAWL_RETRY && g->turning.slow) {
      return go_shorter(s, state, found);
    }
    if (status == PAWL_RETRY || status == PAWL_ERROR_RUN) {
      PAWL_TRY(give_way(s, state, h, found, err));
      return *found ? PAWL_OK : status;
    }
    PAWL_TRY(status);
    PAWL_TRY(overloaded(s, state, &through, &reaction, err));
    *found = through >= 0 || !is_quiet(l, state, &margin, stopped);
    stopped = stopped && !is_overlooked(l, state, &margin);
    if (through >= 0) {
      return slide_instead(s, state, through, reaction, err);
    }
    status = find_first(s, state, h, stopped, found, &reached, &margin, err);
    if (status == PAWL_RETRY && g->turning.slow) {
      return go_shorter(s, state, found);
    }
    PAWL_TRY(status);
    strays = *found && !stopped && reached > 0.0 && k < MOST_KINK_HALVINGS &&
             has_strayed(l, state, &margin);
    if (strays) {
      h = 0.5 * reached;
      pawl_instant_back(s, state);
    }
  }
  g->turning.part = g->turning.slow ? 1.0 : g->turning.part;
  g->stepped = s->contact_count > 0 && state->t > l->mark->t;
  *found |= g->stepped && pawl_guards_step_turns(g, state);
  if (*found) {
    return pawl_change_due(s, state, -INFINITY, &margin, true, err);
  }
  g->stepped = false;
  PAWL_TRY(pawl_guards_note(g, state, g->armed_count > 0, err));
  pawl_guards_keep(g, state, margin.regions);
  return PAWL_OK;
}

// One piece of length h, or up to the first instant before its end.
PawlStatus pawl_watched_piece(PawlStepper* s, PawlState* state, double h, double slack, bool* found,
                              PawlError* err) {
  PawlGuards* g = &s->loop->guards;
  *found = false;
  if (pawl_guards_arm(g, state, slack) > 0 || g->locates || g->kinks) {
    return watched_piece(s, state, h, found, err);
  }
  PAWL_TRY(pawl_piece_step(s, state, h, err));
  return pawl_guards_note(g, state, false, err);
}
