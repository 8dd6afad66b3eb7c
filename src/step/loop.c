// SPDX-License-Identifier: Apache-2.0
#include "step/loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "step/loop_instant.h"
#include "step/loop_piece.h"
#include "step/works.h"
#include "step/yield.h"
#include "switch/share.h"
#include "switch/tolerances.h"
#include "system/system.h"

enum {
  MOST_AT_ONCE = 64,    // changes at one instant, and for each guard
  MORE_AT_ONCE = 4,     // this many more
  MOST_LOCATED = 2000,  // instants found by conditions and regions within one step, and for
  MORE_LOCATED = 64,    // each guard this many more
};

// Times this near to each other are the same.
static double slack_of(double t, double h) {
  return fmax(PAWL_SAME_STEP * h, PAWL_SAME_TIME * fabs(t + h));
}

// ---- creation -----------------------------------------------------------------------------------
void pawl_loop_shape(const PawlLoop* l, PawlStateShape* shape) {
  const PawlSystem* system = l->guards.dynamics->system;
  shape->since = l->guards.since_count;
  shape->conditions = l->guards.condition_count;
  shape->clocks = l->guards.clock_count;
  shape->surfaces = pawl_system_surface_count(system);
}

PawlStatus pawl_loop_create(PawlStepper* s, bool event_driven, const PawlStateShape* known,
                            PawlLoop** out, PawlError* err) {
  PawlLoop* l = PAWL_NEW(&s->arena, PawlLoop, 1);
  PawlStateShape shape = *known;
  *out = l;
  if (!l) {
    return pawl_fail_memory(err);
  }
  l->event_driven = event_driven;
  l->switches = pawl_system_switches(s->system);
  l->next = PAWL_NEW(&s->arena, int, s->sizes.modes);
  l->move = PAWL_NEW(&s->arena, double, s->sizes.v);
  l->shown = PAWL_NEW(&s->arena, double, s->sizes.rows);
  l->push = PAWL_NEW(&s->arena, double, s->sizes.v);
  PAWL_TRY(pawl_law_create(&s->dynamics, &l->law, err));
  PAWL_TRY(pawl_surfaces_create(&s->dynamics, l->law.rates, &l->surfaces, err));
  PAWL_TRY(pawl_guards_create(&s->watching, &l->surfaces, s->method->exact,
                              l->switches && event_driven, &l->guards, err));
  PAWL_TRY(pawl_kinks_create(s, &l->surfaces, &l->kinks, err));
  l->guards.kinks = l->kinks.located;
  pawl_loop_shape(l, &shape);
  PAWL_TRY(pawl_jump_create(&l->guards, &l->law, &s->log, &shape, &l->jump, err));
  PAWL_TRY(pawl_regions_create(s, &l->surfaces, &l->law, &shape, &l->regions, err));
  PAWL_TRY(pawl_between_create(&s->arena, l->guards.condition_count + 1 + l->kinks.count,
                               &l->between, err));
  PAWL_TRY(pawl_phase_state(&shape, &l->kept, err));
  PAWL_TRY(pawl_phase_state(&shape, &l->mark, err));
  return pawl_phase_state(&shape, &l->probe, err);
}

void pawl_loop_destroy(PawlLoop* l) {
  if (l) {
    pawl_guards_destroy(&l->guards);
    pawl_jump_destroy(&l->jump);
    pawl_regions_destroy(&l->regions);
    pawl_surfaces_destroy(&l->surfaces);
    pawl_law_destroy(&l->law);
    pawl_state_destroy(l->kept);
    pawl_state_destroy(l->mark);
    pawl_state_destroy(l->probe);
  }
}

void pawl_loop_forget(PawlLoop* l) {
  if (l) {
    l->plan_state = NULL;
    pawl_guards_forget(&l->guards);
    pawl_kinks_forget(&l->kinks);
  }
}

// ---- the start ----------------------------------------------------------------------------------
PawlStatus pawl_loop_start(PawlStepper* s, PawlState* state, PawlError* err) {
  PawlLoop* l = s->loop;
  PawlPoint point = {state->t,      state->q,     state->v,   state->a,
                     state->lambda, state->modes, state->held};
  pawl_loop_forget(l);
  l->stop = l->jumped = false;
  memset(state->modes, 0, pawl_phase_mode_bytes(state));
  double noise = pawl_surfaces_noise(&l->surfaces, state);
  PAWL_TRY(pawl_surfaces_start(l->law.rates, s->system, &point, noise, state->modes, err));
  PAWL_TRY(pawl_kinks_start(s, &l->kinks, state, slack_of(state->t, s->def.step), err));
  return pawl_jump_start(&l->jump, state, err);
}

PawlStatus pawl_loop_settle(PawlStepper* s, PawlState* state, PawlError* err) {
  return pawl_jump_settle_start(&s->loop->jump, state, err);
}

// ---- for methods that find roots themselves -----------------------------------------------------
int pawl_loop_most(const PawlStepper* s) {
  return s->loop ? s->loop->guards.condition_count + 2 : 0;
}

int pawl_loop_count(const PawlStepper* s) {
  const PawlGuards* g = s->loop ? &s->loop->guards : NULL;
  return !g ? 0 : g->armed_count + (g->locates ? 1 : 0) + (g->kinks ? 1 : 0);
}

PawlStatus pawl_loop_margins(PawlStepper* s, double t, const double* q, const double* v,
                             double* margins, PawlError* err) {
  PawlLoop* l = s->loop;
  PawlMargin margin;
  if (!l) {
    return PAWL_OK;
  }
  PawlState* at = l->probe;
  pawl_phase_copy(at, l->mark);
  at->t = t;
  memcpy(at->q, q, (size_t)s->sizes.q * sizeof(double));
  memcpy(at->v, v, (size_t)s->sizes.v * sizeof(double));
  if (l->guards.armed_reacts) {
    PAWL_TRY(pawl_piece_accelerate(s, at, err));
  }
  PAWL_TRY(pawl_guards_margins(&l->guards, at, &margin, err));
  for (int k = 0; k < l->guards.armed_count; k++) {
    margins[k] = isinf(l->guards.margins[k]) ? 1.0 : l->guards.margins[k];
  }
  if (l->guards.locates) {
    margins[l->guards.armed_count] = margin.regions;
  }
  if (l->guards.kinks) {
    margins[pawl_loop_count(s) - 1] = isinf(margin.kinks) ? 1.0 : margin.kinks;
  }
  return PAWL_OK;
}

// ---- changing -----------------------------------------------------------------------------------
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
  PAWL_TRY(pawl_share_multipliers(&s->watching, state, lambda, err));
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

static PawlStatus jump_by(PawlStepper* s, PawlState* state, const double* U, int event,
                          PawlError* err) {
  PAWL_TRY(jump_and_note(s, state, U, event, err));
  pawl_guards_forget(&s->loop->guards);
  pawl_kinks_jumped(&s->loop->kinks);
  s->loop->jumped = true;
  PawlPhase phase = pawl_phase_of(state, false);
  return s->method->start(s, &phase, state, err);
}

static PawlStatus jump(PawlStepper* s, PawlState* state, PawlError* err) {
  return jump_by(s, state, NULL, -1, err);
}

// What events have set, or a call where there are none.
static PawlStatus assign(PawlStepper* s, PawlState* state, PawlError* err) {
  PawlLoop* l = s->loop;
  l->assigning = true;
  if (s->works) {
    s->works->known = false;  // powers may have changed with nothing else
  }
  PawlStatus status = jump_by(s, state, NULL, -1, err);
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
    const PawlEventDef* event = &model->events[l->guards.pushes[k]];
    memset(l->push, 0, (size_t)s->sizes.v * sizeof(double));
    for (int i = event->first_impulse; i < event->first_impulse + event->impulse_count; i++) {
      l->push[model->impulses[i].coordinate] += l->guards.push_values[i];
    }
    PAWL_TRY(jump_by(s, state, l->push, l->guards.pushes[k], err));
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

static bool has_impacts(const PawlStepper* s) {
  return s->contact_count > 0 || (s->loop->switches && !s->loop->event_driven);
}

// The accelerations of a time step with an impact are those of the impact over its length, as large
// as the piece is short; what is at rest is judged by those of the forces.
static PawlStatus leave_out_impacts(PawlStepper* s, PawlState* state, PawlError* err) {
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, false);
  if (s->method->exact || !has_impacts(s)) {
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

// At the state just past a zero (`margin`), or at a time: what changes, and the jump.
static PawlStatus change(PawlStepper* s, PawlState* state, double slack, const PawlMargin* margin,
                         PawlError* err) {
  PawlLoop* l = s->loop;
  PawlFired fired;
  pawl_guards_forget(&l->guards);
  memcpy(l->move, state->a, (size_t)s->sizes.v * sizeof(double));
  PAWL_TRY(leave_out_impacts(s, state, err));
  PAWL_TRY(
      pawl_guards_fire(&l->guards, state, slack, margin != NULL, l->next, &s->log, &fired, err));
  l->stop |= fired.stop;
  if (margin && margin->regions < 0.0) {
    PAWL_TRY(move_regions(s, state, margin, &fired.changed, err));
  }
  if (!fired.changed) {
    memcpy(state->a, l->move, (size_t)s->sizes.v * sizeof(double));
  }
  if (margin && margin->kinks < 0.0) {
    PAWL_TRY(pawl_kinks_cross(s, &l->kinks, state, !fired.changed, err));
    memcpy(l->next + l->kinks.first, state->modes + l->kinks.first,
           (size_t)l->kinks.count * sizeof(int));
  }
  PAWL_TRY(calm(s, state, err));
  PAWL_TRY(fired.changed ? jump(s, state, err) : PAWL_OK);
  PAWL_TRY(l->guards.assign_count > 0 ? assign(s, state, err) : PAWL_OK);
  return push_by_events(s, state, err);
}

// ---- without an end -----------------------------------------------------------------------------
// All that may fire: what has an end fires each of them a few times.
static int guard_count(const PawlLoop* l) {
  return l->guards.condition_count + l->guards.clock_count + l->kinks.count +
         pawl_system_surface_count(l->guards.dynamics->system);
}

// How often constraint c changed, or refused to, from a time on.
static int changes_of(const PawlStepper* s, int c, double since) {
  int count = 0;
  for (int k = 0; k < s->log.count; k++) {
    const PawlInstant* i = s->log.instants[k];
    count +=
        i->t >= since && (i->refused == c || pawl_system_switched(s->system, c, i->from, i->to));
  }
  return count;
}

static int firings_of(const PawlStepper* s, int event, double since) {
  int count = 0;
  for (int k = 0; k < s->log.count; k++) {
    count += s->log.instants[k]->t >= since && s->log.instants[k]->event == event;
  }
  return count;
}

// "; most often constraint 'hook', 33 times"; nothing where nothing is in the log.
static void name_worst(const PawlStepper* s, double since, char* text, size_t size) {
  int most = 0;
  text[0] = '\0';
  for (int c = 0; c < s->system->constraint_count; c++) {
    int count = changes_of(s, c, since);
    if (count > most) {
      most = count;
      snprintf(text, size, "; most often constraint '%.100s', %d times",
               pawl_system_constraint_name(s->system, c), count);
    }
  }
  for (int e = 0; s->system->model && e < s->system->model->event_count; e++) {
    int count = firings_of(s, e, since);
    if (count > most) {
      most = count;
      snprintf(text, size, "; most often event '%.100s', %d times",
               pawl_system_event_name(s->system, e), count);
    }
  }
}

static PawlStatus too_many_at_once(const PawlStepper* s, const PawlState* state, int count,
                                   double slack, PawlError* err) {
  char worst[200];
  name_worst(s, state->t - fmax(slack, 0.0), worst, sizeof worst);
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: changes bring about changes without an end, %d at this one "
                   "instant%s. A least time between changes (after) ends it",
                   state->t, count, worst);
}

static PawlStatus too_many_located(const PawlStepper* s, const PawlState* state, int count,
                                   PawlError* err) {
  char worst[200];
  name_worst(s, -INFINITY, worst, sizeof worst);
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: switches accumulate here, %d instants in one step%s. Regions: a "
                   "time-stepping method (nsga-pva, nsga-pvv) passes such a point; conditions: "
                   "give a least time between changes (after)",
                   state->t, count, worst);
}

// ---- pieces -------------------------------------------------------------------------------------
// An impact within a time step must not go through a joint that holds by a finite force. The first
// whose mean reaction over the step is beyond its capacity slides from the beginning of the step;
// -1: none.
static PawlStatus overloaded(PawlStepper* s, const PawlState* state, int* constraint,
                             double* reaction, PawlError* err) {
  PawlLoop* l = s->loop;
  const PawlWatching* w = &s->watching;
  *constraint = -1;
  if (!has_impacts(s) || w->joint_count == 0 || s->log.count == l->mark_count) {
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
  pawl_instant_back(s, state);
  memcpy(l->next, state->modes, pawl_phase_mode_bytes(state));
  l->next[c] = reaction > 0.0 ? PAWL_MODE_DOWN : PAWL_MODE_UP;
  l->guards.loosened[c] = 1;
  return jump(s, state, err);
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
  return *any ? jump(s, state, err) : PAWL_OK;
}

// From the mark by h; a method with steps of its own may end earlier, *h is how far it came.
static PawlStatus advance(PawlStepper* s, PawlState* state, double* h, bool* stopped,
                          PawlError* err) {
  *stopped = false;
  if (!s->method->advance) {
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

// A margin that is negative where the method has stopped, and was not positive at the mark: the
// method does not see such a one turn, which may have been long before. Kinks have one between them
// for the method, the least; within the noise of surfaces the stop is at their zero.
static bool is_overlooked(const PawlLoop* l, const PawlState* state, const PawlMargin* margin) {
  const PawlGuards* g = &l->guards;
  double noise = pawl_surfaces_noise(&l->surfaces, state);
  bool over = margin->regions < -noise && !(g->first_regions > 0.0);
  for (int k = 0; k < g->armed_count; k++) {
    over |= g->margins[k] < 0.0 && !(g->first_margins[k] > 0.0);
  }
  for (int k = 0; k < l->kinks.count; k++) {
    over |= margin->kinks < -noise && !(g->first_kinks[k] > 0.0);
  }
  return over;
}

// A piece from the mark, and the margins at its end. One that has gone beyond a kink on its way and
// ends on the near side is taken again in halves, the first of them here. *h: the length taken.
static PawlStatus advance_inside(PawlStepper* s, PawlState* state, double* h, bool* stopped,
                                 PawlMargin* margin, PawlError* err) {
  PawlLoop* l = s->loop;
  PAWL_TRY(advance(s, state, h, stopped, err));
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

// Up to the first instant of a piece whose end was just looked at.
static PawlStatus find_first(PawlStepper* s, PawlState* state, double h, bool stopped, bool* found,
                             double* reached, PawlMargin* margin, PawlError* err) {
  PawlLoop* l = s->loop;
  bool earlier = false, cut = false;
  if (*found && !stopped) {
    PAWL_TRY(pawl_instant_go_to_zero(s, state, h, margin, &h, err));
  }
  *reached = h;
  bool near = !stopped && pawl_guards_near(&l->guards, state, margin->regions);
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
    PAWL_TRY(find_first(s, state, h, stopped, found, &reached, &margin, err));
    strays = *found && !stopped && reached > 0.0 && k < MOST_KINK_HALVINGS &&
             has_strayed(l, state, &margin);
    if (strays) {
      h = 0.5 * reached;
      pawl_instant_back(s, state);
    }
  }
  g->stepped = s->contact_count > 0 && state->t > l->mark->t;
  *found |= g->stepped && pawl_guards_step_turns(g, state);
  if (*found) {
    return change(s, state, -INFINITY, &margin, err);
  }
  g->stepped = false;
  PAWL_TRY(pawl_guards_note(g, state, g->armed_count > 0, err));
  pawl_guards_keep(g, state, margin.regions);
  return PAWL_OK;
}

// One piece of length h, or up to the first instant before its end.
static PawlStatus piece(PawlStepper* s, PawlState* state, double h, double slack, bool* found,
                        PawlError* err) {
  PawlGuards* g = &s->loop->guards;
  *found = false;
  if (pawl_guards_arm(g, state, slack) > 0 || g->locates || g->kinks) {
    return watched_piece(s, state, h, found, err);
  }
  PAWL_TRY(pawl_piece_step(s, state, h, err));
  return pawl_guards_note(g, state, false, err);
}

// A jump may have carried a condition across zero: it fires at this same instant.
static PawlStatus follow_jump(PawlStepper* s, PawlState* state, double slack, PawlError* err) {
  PawlLoop* l = s->loop;
  PawlMargin margin;
  l->jumped = false;
  if (pawl_guards_arm(&l->guards, state, slack) == 0) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_guards_crossed(&l->guards, state, &margin, err));
  memset(l->guards.first_margins, 0, (size_t)l->guards.armed_count * sizeof(double));
  margin.regions = margin.kinks = INFINITY;
  if (l->assigned && !(margin.least < 0.0)) {
    pawl_guards_turn_back(&l->guards, state);
  }
  l->assigned = false;
  return margin.least < 0.0 ? change(s, state, -INFINITY, &margin, err) : PAWL_OK;
}

// The next time at which a step must end.
static double next_time(const PawlLoop* l, const PawlState* state, double slack) {
  double clocks = pawl_guards_next(&l->guards, state, slack);
  double kinks = pawl_kinks_next(&l->kinks, state, slack);
  return kinks < clocks ? kinks : clocks;
}

// Clocks first: they move the state to their time.
static PawlStatus change_by_time(PawlStepper* s, PawlState* state, double slack, PawlError* err) {
  PawlLoop* l = s->loop;
  if (pawl_guards_next(&l->guards, state, slack) <= state->t + slack) {
    return change(s, state, slack, NULL, err);
  }
  pawl_guards_forget(&l->guards);
  return pawl_kinks_tick(s, &l->kinks, state, slack, err);
}

// All that is due at this very instant, until nothing is; *next is the next time after it.
static PawlStatus settle(PawlStepper* s, PawlState* state, double slack, double* next,
                         PawlError* err) {
  PawlLoop* l = s->loop;
  int most = MOST_AT_ONCE + MORE_AT_ONCE * guard_count(l);
  for (int k = 0; k < most && !l->stop; k++) {
    *next = next_time(l, state, slack);
    if (*next <= state->t + slack) {
      PAWL_TRY(change_by_time(s, state, slack, err));
    } else if (l->jumped) {
      PAWL_TRY(follow_jump(s, state, slack, err));
    } else {
      return PAWL_OK;
    }
  }
  return l->stop ? PAWL_OK : too_many_at_once(s, state, most, slack, err);
}

static PawlStatus take(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlLoop* l = s->loop;
  double begin = state->t, end = begin + h, slack = slack_of(begin, h);
  int most = MOST_LOCATED + MORE_LOCATED * guard_count(l);
  l->length = h;
  for (int located = 0; located < most;) {
    double next = INFINITY;
    PAWL_TRY(settle(s, state, slack, &next, err));
    double target = next < end - slack ? next : end;
    if (l->kinks.located) {
      double longest;
      PAWL_TRY(pawl_kinks_follow(s, &l->kinks, state, h, &longest, err));
      target = state->t + longest < target - slack ? state->t + longest : target;
      if (!isinf(longest)) {
        pawl_guards_forget(&l->guards);  // what chatters has moved
      }
    }
    if (l->stop || !(target - state->t > slack)) {
      return PAWL_OK;
    }
    bool found, whole = target == end && state->t == begin;  // h itself, not what rounding makes
    PAWL_TRY(piece(s, state, whole ? h : target - state->t, slack, &found, err));
    located += found;
  }
  return too_many_located(s, state, most, err);
}

// ---- steps in which nothing is due --------------------------------------------------------------
// What the steps to come need to know, as long as this state goes on from step to step: nothing is
// due before a time; whether anything is watched.
static void plan(PawlStepper* s, const PawlState* state, double h) {
  PawlLoop* l = s->loop;
  double slack = slack_of(state->t, h);
  l->plan_open = pawl_guards_open(&l->guards, state);
  if (l->plan_open && !s->method->peek) {
    return;  // every step looks
  }
  l->plan_state = state;
  l->plan_step = state->step + 1;  // this step is not counted yet
  l->plan_until = next_time(l, state, slack) - 2 * slack;
  l->plan_bare = s->method->exact && !s->works && s->contact_count == 0 && !l->kinks.located &&
                 (!l->switches || l->event_driven);
  if (s->method->peek) {
    (void)pawl_guards_arm(&l->guards, state, slack);
    l->plan_known = pawl_guards_known(&l->guards, state);
  }
}

static bool is_planned(const PawlLoop* l, const PawlState* state, double h) {
  return l->plan_state == state && l->plan_step == state->step && state->t + h < l->plan_until;
}

// A method that knows what is watched at the end of a step before it takes it needs nothing else.
// False: not taken, and the state is as before; the step that is taken instead says why.
static bool glide(PawlStepper* s, PawlState* state, double h) {
  if (state->redundant_count > 0) {
    return false;  // multipliers of least norm are computed apart
  }
  PawlPhase phase = pawl_phase_of(state, false);
  const double *lambda, *watch = s->method->peek(s, &phase, state, h, &lambda);
  PawlGuards* g = &s->loop->guards;
  if (!watch || !pawl_guards_clear(g, state, watch, lambda)) {
    return false;
  }
  if (g->near) {
    PawlWatchRates rates = s->method->peek_rates(s);
    if (pawl_guards_turns(g, state, watch, lambda, &rates, h)) {
      return false;
    }
  }
  if (s->works && pawl_works_begin(s, state, NULL) != PAWL_OK) {
    return false;
  }
  bool works = s->works && !pawl_works_idle(s);
  if (works) {
    pawl_phase_copy(s->loop->kept, state);
  }
  pawl_guards_pass(g, state, watch);
  s->method->commit(s, state, h);
  if (works && pawl_works_end(s, state, NULL) != PAWL_OK) {
    pawl_phase_copy(state, s->loop->kept);
    pawl_guards_forget(g);
    return false;
  }
  g->last_time = state->t;
  s->loop->plan_step++;
  return true;
}

PAWL_APART static PawlStatus take_or_restore(PawlStepper* s, PawlState* state, double h,
                                             PawlError* err) {
  PawlLoop* l = s->loop;
  l->plan_state = NULL;
  l->jumped = false;
  memset(l->guards.loosened, 0, (size_t)s->system->constraint_count);
  memset(l->guards.reached, 0, (size_t)s->system->constraint_count);
  memset(l->guards.firings, 0, (size_t)l->guards.condition_count * sizeof(int));
  pawl_kinks_begin(&l->kinks);
  pawl_phase_copy(l->kept, state);
  long long kinks = s->dynamics.info.kinks;
  PawlStatus status = take(s, state, h, err);
  if (status != PAWL_OK) {
    pawl_phase_copy(state, l->kept);
    pawl_kinks_forget(&l->kinks);
    s->dynamics.info.kinks = kinks;
    s->log.count = 0;
  } else if (!l->guards.locates && !l->guards.kinks) {
    plan(s, state, h);
  }
  pawl_kinks_end(&l->kinks, state);
  return status;
}

PAWL_APART PawlStatus pawl_loop_step(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlLoop* l = s->loop;
  l->stop = false;
  if (l->guards.condition_count + l->guards.clock_count + l->kinks.timed == 0 &&
      !l->guards.locates && !l->guards.kinks) {
    return pawl_piece_step(s, state, h, err);
  }
  if (is_planned(l, state, h)) {
    if (!l->plan_open) {  // nothing can happen but what the method does itself
      PawlPhase phase = pawl_phase_of(state, false);
      PAWL_TRY(l->plan_bare ? s->method->step(s, &phase, state, h, err)
                            : pawl_piece_step(s, state, h, err));
      l->plan_step++;
      return PAWL_OK;
    }
    if (s->method->peek && l->plan_known && glide(s, state, h)) {
      return PAWL_OK;
    }
  }
  return take_or_restore(s, state, h, err);
}

// ---- asked from outside -------------------------------------------------------------------------
static PawlStatus ask(PawlStepper* s, PawlState* state, int c, bool engage, PawlError* err) {
  PawlLoop* l = s->loop;
  PAWL_TRY(pawl_guards_ask(&l->guards, state, c, engage, l->next, err));
  if (l->next[c] == state->modes[c]) {
    return PAWL_OK;
  }
  double next;
  PAWL_TRY(jump(s, state, err));
  return settle(s, state, -INFINITY, &next, err);
}

static void begin_asked(PawlStepper* s, const PawlState* state) {
  PawlLoop* l = s->loop;
  l->plan_state = NULL;
  l->stop = l->jumped = false;
  memset(l->guards.loosened, 0, (size_t)s->system->constraint_count);
  memset(l->guards.reached, 0, (size_t)s->system->constraint_count);
  pawl_phase_copy(l->kept, state);
}

static PawlStatus end_asked(PawlStepper* s, PawlState* state, PawlStatus status) {
  if (status != PAWL_OK) {
    pawl_phase_copy(state, s->loop->kept);
    s->log.count = 0;
  }
  return status;
}

PawlStatus pawl_loop_ask(PawlStepper* s, PawlState* state, int c, bool engage, PawlError* err) {
  begin_asked(s, state);
  return end_asked(s, state, ask(s, state, c, engage, err));
}

PawlStatus pawl_loop_assign(PawlStepper* s, PawlState* state, PawlError* err) {
  double next;
  begin_asked(s, state);
  s->loop->guards.assign_count = 0;
  PawlStatus status = assign(s, state, err);
  status = status ? status : settle(s, state, -INFINITY, &next, err);
  return end_asked(s, state, status);
}

PawlStatus pawl_loop_push(PawlStepper* s, PawlState* state, const double* U, PawlError* err) {
  double next;
  begin_asked(s, state);
  PawlStatus status = jump_by(s, state, U, -1, err);
  status = status ? status : settle(s, state, -INFINITY, &next, err);
  return end_asked(s, state, status);
}
