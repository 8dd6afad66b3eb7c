// SPDX-License-Identifier: Apache-2.0
#include "step/loop_change.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "step/loop_piece.h"
#include "step/rub.h"
#include "step/works.h"
#include "switch/share.h"
#include "switch/tolerances.h"
#include "system/system.h"

// A jump solves for accelerations and multipliers without contacts: they are those of the motion
// behind it where all contacts are open.
static bool contacts_open(const PawlStepper* s) {
  const double* gaps = pawl_eval_values(s->dynamics.eval)->g;
  bool open = true;
  for (int i = s->sizes.rows - s->contact_count; i < s->sizes.rows; i++) {
    open &= gaps[i] > 0.0 && !(s->method->closes && s->method->closes(s, i));
  }
  return open;
}

static PawlStatus note_side_after(PawlStepper* s, const PawlState* state, PawlError* err) {
  double* lambda = s->loop->shown;
  memcpy(lambda, state->lambda, (size_t)s->sizes.rows * sizeof(double));
  if (!contacts_open(s)) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_share_multipliers(&s->watching, state, true, lambda, err));
  PAWL_TRY(pawl_watch_friction(&s->watching, state, lambda, err));
  pawl_log_side(&s->log, true, state->a, lambda, state->held);
  return PAWL_OK;
}

// To the modes l->next, or by impulsive forces U (of an event, or -1).
static PawlStatus leap(PawlStepper* s, PawlState* state, const double* U, int event,
                       PawlError* err) {
  PawlLoop* l = s->loop;
  if (l->assigning) {
    return pawl_jump_assign(&l->jump, state, err);
  }
  return U ? pawl_jump_push(&l->jump, state, U, event, err)
           : pawl_jump(&l->jump, state, l->next, err);
}

// The jump, with both of its sides where they are asked for; what comes before is as samples have
// it.
static PawlStatus jump_and_note(PawlStepper* s, PawlState* state, const double* U, int event,
                                PawlError* err) {
  PawlLoop* l = s->loop;
  int first = s->log.count;
  if (!s->log.sides) {
    return leap(s, state, U, event, err);
  }
  PAWL_TRY(pawl_stepper_multipliers(s, state, l->shown, err));
  PAWL_TRY(leap(s, state, U, event, err));
  if (s->log.count == first || s->log.instants[s->log.count - 1]->refused >= 0) {
    return PAWL_OK;
  }
  int last = s->log.count;
  s->log.count = U ? first + 1 : last;  // joints that a push sets free are an entry behind it
  pawl_log_side(&s->log, false, l->jump.before->a, l->shown, l->jump.before->held);
  s->log.count = last;
  return note_side_after(s, state, err);
}

// How contacts with friction were before is in l->rubs.
static PawlStatus note_rubbing(PawlStepper* s, const PawlState* before, const PawlState* state,
                               PawlError* err) {
  int* rubs = s->loop->rubs;
  return pawl_rub_changed(s, before, state, rubs, rubs + s->contact_count, err);
}

PawlStatus pawl_change_by(PawlStepper* s, PawlState* state, const double* U, int event,
                          PawlError* err) {
  PAWL_TRY(pawl_rub_look(s, state, s->loop->rubs, err));
  pawl_kinks_free(s, &s->loop->kinks, state->modes);
  pawl_kinks_free(s, &s->loop->kinks, s->loop->next);
  PAWL_TRY(jump_and_note(s, state, U, event, err));
  pawl_guards_forget(&s->loop->guards);
  pawl_kinks_jumped(&s->loop->kinks);
  PAWL_TRY(pawl_kinks_slide(s, &s->loop->kinks, state, err));
  PAWL_TRY(note_rubbing(s, s->loop->jump.before, state, err));
  s->loop->jumped = true;
  PawlPhase phase = pawl_phase_of(state, false);
  return s->method->start(s, &phase, state, err);
}

PawlStatus pawl_change_modes(PawlStepper* s, PawlState* state, PawlError* err) {
  return pawl_change_by(s, state, NULL, -1, err);
}

// What events have set, or a call where there are none.
PawlStatus pawl_change_assign(PawlStepper* s, PawlState* state, PawlError* err) {
  PawlLoop* l = s->loop;
  l->assigning = true;
  if (s->works) {
    s->works->known = false;  // powers may have changed with nothing else
  }
  PawlStatus status = pawl_change_by(s, state, NULL, -1, err);
  l->assigning = false;
  l->assigned = true;
  l->guards.assign_count = 0;
  return status;
}

// The impulses of the events that have fired, after what else changes: then the rows in force are
// those after, as (X11) asks for.
static PawlStatus push_by_events(PawlStepper* s, PawlState* state, PawlError* err) {
  PawlLoop* l = s->loop;
  const PawlModel* model = s->system->model;
  for (int k = 0; k < l->guards.push_count; k++) {
    l->jump.strike.waits = k + 1 < l->guards.push_count;
    const PawlEventDef* event = &model->events[l->guards.pushes[k]];
    memset(l->push, 0, (size_t)s->sizes.v * sizeof(double));
    for (int i = event->first_impulse; i < event->first_impulse + event->impulse_count; i++) {
      l->push[model->impulses[i].coordinate] += l->guards.push_values[i];
    }
    PAWL_TRY(pawl_change_by(s, state, l->push, l->guards.pushes[k], err));
    l->jump.follows = true;
  }
  l->guards.push_count = 0;
  return PAWL_OK;
}

// Regions change on top of what fires.
static PawlStatus move_regions(PawlStepper* s, PawlState* state, const PawlMargin* margin,
                               bool* changed, PawlError* err) {
  PawlLoop* l = s->loop;
  const double* z;
  int* moved = l->regions.next;
  PawlPhase phase = pawl_phase_of(state, false);
  PAWL_TRY(pawl_surfaces_look(&l->surfaces, &phase, state, &z, err));
  bool leaves;
  PAWL_TRY(pawl_surfaces_next(&l->surfaces, &phase, state, z, 0.0, moved, &leaves, err));
  if (!leaves && margin->regions < -pawl_surfaces_noise(&l->surfaces, state)) {
    return pawl_regions_none(s->system, state->t, margin->constraint, err);
  }
  for (int c = 0; leaves && c < s->sizes.modes; c++) {
    l->next[c] = moved[c] != state->modes[c] ? moved[c] : l->next[c];
  }
  *changed |= leaves;  // else on the surface to rounding: go on from here
  return PAWL_OK;
}

bool pawl_change_has_impacts(const PawlStepper* s) {
  return s->contact_count > 0 || (s->loop->switches && !s->loop->event_driven);
}

// The accelerations of a time step with an impact are those of the impact over its length, as large
// as the piece is short; what is at rest is judged by those of the forces.
static PawlStatus leave_out_impacts(PawlStepper* s, PawlState* state, PawlError* err) {
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, false);
  if (s->method->exact || !pawl_change_has_impacts(s)) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, &phase, state, &values, err));
  return pawl_dynamics_accelerate(&s->dynamics, &phase, values, state->t, state->q, state->v,
                                  state->a, s->watching.lambda, err);
}

// A kink that chatters may drive a condition back and forth through zero, as sign(x') does with x'.
// Where that has fired a few times in this step it has no side any more until it is farther away
// than the motion goes in a piece of the step in which the kink is followed.
static PawlStatus calm(PawlStepper* s, PawlState* state, PawlError* err) {
  enum { MOST_FIRINGS = 3 };
  static const double OF_PIECE = 4.0;
  PawlLoop* l = s->loop;
  PawlGuards* g = &l->guards;
  double* ahead = l->between.rate[0];
  if (!l->kinks.located || !pawl_kinks_chatter(&l->kinks, state)) {
    return PAWL_OK;
  }
  for (int k = 0; k < g->armed_count; k++) {
    int c = g->armed[k];
    if (g->firings[c] < MOST_FIRINGS || abs(state->sides[c]) != 1) {
      continue;
    }
    pawl_phase_copy(l->probe, state);
    pawl_piece_shift(s, l->probe, l->length / PAWL_KINK_PIECES);
    PAWL_TRY(pawl_guards_aside(g, l->probe, ahead, ahead + g->armed_count,
                               ahead + g->armed_count + 1, err));
    pawl_guards_blur(g, state, c, OF_PIECE * fabs(ahead[k]));
  }
  return PAWL_OK;
}

// A located contact is hit at the border of a region: the impact decides whether the motion goes on
// into the next region, and comes first.                                                    (C14)
static bool hits_first(const PawlStepper* s) {
  const PawlGuards* g = &s->loop->guards;
  bool hits = false;
  for (int i = g->touch.first; g->contacts && i < g->touch.end; i++) {
    hits |= g->touched[i] != 0;
  }
  return hits;
}

PawlStatus pawl_change_tick(PawlStepper* s, PawlState* state, double slack, PawlError* err) {
  PawlLoop* l = s->loop;
  bool off, gaps = s->system->gaps_kink || s->system->slips_kink;
  l->guards.only_touched = false;
  PAWL_TRY(gaps ? pawl_rub_look(s, state, l->rubs, err) : PAWL_OK);
  PAWL_TRY(pawl_kinks_tick(s, &l->kinks, state, slack, err));
  PAWL_TRY(gaps ? note_rubbing(s, state, state, err) : PAWL_OK);
  memcpy(l->next, state->modes, pawl_phase_mode_bytes(state));
  PAWL_TRY(pawl_kinks_let_off(s, &l->kinks, state, l->next, l->guards.touched, &off, err));
  return off ? pawl_change_modes(s, state, err) : PAWL_OK;
}

// All jumps of an instant: what contacts take of it comes with the last of them.             (C9)
static PawlStatus jump_in_order(PawlStepper* s, PawlState* state, bool changed, PawlError* err) {
  PawlLoop* l = s->loop;
  PawlGuards* g = &l->guards;
  PawlJump* j = &l->jump;
  bool assigns = g->assign_count > 0;
  j->follows = false;
  j->strike.waits = assigns || g->push_count > 0;
  if (changed) {
    PAWL_TRY(pawl_change_modes(s, state, err));
    j->follows = true;
  }
  j->strike.waits = g->push_count > 0;
  if (assigns) {
    PAWL_TRY(pawl_change_assign(s, state, err));
    j->follows = true;
  }
  return push_by_events(s, state, err);
}

// A known time within the tolerance behind an instant that was found is that instant: the motion
// goes on to it, but not beyond the end of the whole step. The time that then counts as present is
// *slack.                                                                                     (V61)
static void go_to_clock(PawlStepper* s, PawlState* state, double tolerance, double* slack) {
  PawlLoop* l = s->loop;
  double next = pawl_guards_next(&l->guards, state, 0.0);
  double to = fmin(next, l->kept->t + l->length);
  bool is_now = next <= state->t + tolerance;
  if (is_now && to > state->t) {
    pawl_piece_shift(s, state, to - state->t);
    state->t = to;
  }
  *slack = fmax(PAWL_SAME_STEP * l->length, PAWL_SAME_TIME * fabs(state->t));
  *slack = is_now ? fmax(*slack, PAWL_SAME_TIME * fabs(next) + next - state->t) : *slack;
}

// Which conditions cross zero within the tolerance of the instant of a state that was looked at
// last. (V61)
static PawlStatus look_ahead(PawlStepper* s, const PawlState* state, double tolerance,
                             PawlError* err) {
  PawlLoop* l = s->loop;
  PawlGuards* g = &l->guards;
  double* ahead = l->between.rate[0];
  if (!pawl_guards_may_be_soon(g, state, tolerance)) {
    return PAWL_OK;
  }
  pawl_phase_copy(l->probe, state);
  pawl_piece_shift(s, l->probe, tolerance);
  if (g->armed_reacts && g->exact) {
    PAWL_TRY(pawl_piece_accelerate(s, l->probe, err));
  }
  PAWL_TRY(pawl_guards_aside(g, l->probe, ahead, ahead + g->armed_count, ahead + g->armed_count + 1,
                             err));
  pawl_guards_note_soon(g, state, ahead);
  return PAWL_OK;
}

// At the state just past a zero (`margin`), or at a time: what changes, and the jump.
PawlStatus pawl_change_due(PawlStepper* s, PawlState* state, double slack, const PawlMargin* margin,
                           bool moved, PawlError* err) {
  PawlLoop* l = s->loop;
  PawlFired fired;
  double tolerance = pawl_dynamics_found(&s->dynamics, state->t);
  bool ahead = moved && (margin ? !(margin->kinks < 0.0) : pawl_guards_known(&l->guards, state));
  l->guards.any_soon = false;
  pawl_guards_forget(&l->guards);
  memcpy(l->kutta, state->a, (size_t)s->sizes.v * sizeof(double));
  PAWL_TRY(leave_out_impacts(s, state, err));
  PAWL_TRY(ahead ? look_ahead(s, state, tolerance, err) : PAWL_OK);
  if (ahead && margin) {
    go_to_clock(s, state, tolerance, &slack);
  }
  double t = state->t;
  PAWL_TRY(
      pawl_guards_fire(&l->guards, state, slack, margin != NULL, l->next, &s->log, &fired, err));
  state->t = ahead && margin ? fmin(state->t, fmax(t, l->kept->t + l->length)) : state->t;
  l->stop |= fired.stop;
  if (margin && margin->regions < 0.0 && !(fired.changed && hits_first(s))) {
    PAWL_TRY(move_regions(s, state, margin, &fired.changed, err));
  }
  if (!fired.changed) {
    memcpy(state->a, l->kutta, (size_t)s->sizes.v * sizeof(double));
  }
  if (margin && margin->kinks < 0.0) {
    PAWL_TRY(pawl_rub_look(s, state, l->rubs, err));
    PAWL_TRY(pawl_kinks_cross(s, &l->kinks, state, !fired.changed, err));
    PAWL_TRY(note_rubbing(s, state, state, err));
    memcpy(l->next + l->kinks.first, state->modes + l->kinks.first,
           (size_t)l->kinks.count * sizeof(int));
    bool off;
    PAWL_TRY(pawl_kinks_let_off(s, &l->kinks, state, l->next, l->guards.touched, &off, err));
    fired.changed |= off;
    l->guards.only_touched &= !off;
  }
  PAWL_TRY(calm(s, state, err));
  PawlStatus status = jump_in_order(s, state, fired.changed, err);
  l->jump.follows = l->jump.strike.waits = false;
  return status;
}
