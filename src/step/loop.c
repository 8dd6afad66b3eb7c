// SPDX-License-Identifier: Apache-2.0
#include "step/loop.h"

#include <math.h>
#include <string.h>

#include "model/model.h"
#include "step/loop_blame.h"
#include "step/loop_change.h"
#include "step/loop_piece.h"
#include "step/loop_watched.h"
#include "step/works.h"
#include "switch/hold.h"
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
  double of_step = PAWL_SAME_STEP * h, of_time = PAWL_SAME_TIME * fabs(t + h);
  return of_step > of_time ? of_step : of_time;
}

// ---- creation -----------------------------------------------------------------------------------
void pawl_loop_shape(const PawlLoop* l, PawlStateShape* shape) {
  const PawlSystem* system = l->guards.dynamics->system;
  shape->since = l->guards.since_count;
  shape->conditions = l->guards.condition_count;
  shape->clocks = l->guards.clock_count;
  shape->bounces = l->guards.contacts ? pawl_bounce_count(system) : 0;
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
  l->kutta = PAWL_NEW(&s->arena, double, (size_t)s->sizes.q + 3 * (size_t)s->sizes.v);
  l->shown = PAWL_NEW(&s->arena, double, s->sizes.rows);
  l->push = PAWL_NEW(&s->arena, double, s->sizes.v);
  l->rubs = PAWL_NEW(&s->arena, int, 2 * (size_t)s->contact_count);
  PAWL_TRY(pawl_law_create(&s->dynamics, &l->law, err));
  PAWL_TRY(pawl_surfaces_create(&s->dynamics, l->law.rates, &l->surfaces, err));
  PAWL_TRY(pawl_guards_create(&s->watching, &l->surfaces, s->method->exact,
                              l->switches && event_driven, event_driven && s->dynamics.contacts,
                              &l->guards, err));
  PAWL_TRY(pawl_kinks_create(s, &l->surfaces, &l->kinks, err));
  l->guards.kinks = l->kinks.located;
  l->guards.turning.order = s->method->info.order;
  l->guards.turning.own = s->method->advance != NULL;
  PAWL_TRY(pawl_slow_create(s, &l->slow, err));
  l->guards.turning.most = l->slow ? l->slow->most : 0;
  pawl_loop_shape(l, &shape);
  PAWL_TRY(pawl_jump_create(&l->guards, &l->law, &s->log, &shape, &l->jump, err));
  l->jump.bounce.low = s->method->low;
  PAWL_TRY(pawl_regions_create(s, &l->surfaces, &l->law, &shape, &l->regions, err));
  int margins = l->guards.condition_count + 1 + l->kinks.count;
  PAWL_TRY(pawl_between_create(&s->arena, margins, &l->between, err));
  PAWL_TRY(pawl_root_create(&s->arena, margins, &l->root, err));
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
  PAWL_TRY(pawl_jump_settle_start(&s->loop->jump, state, err));
  return pawl_kinks_slide(s, &s->loop->kinks, state, err);
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

// ---- instants -----------------------------------------------------------------------------------
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
  if (!(margin.least < 0.0)) {
    pawl_guards_turn_back(&l->guards, state, l->assigned);
  }
  l->assigned = false;
  bool turns = pawl_guards_jump_turns(&l->guards);
  bool due = margin.least < 0.0 || turns;
  return due ? pawl_change_due(s, state, -INFINITY, &margin, false, err) : PAWL_OK;
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
    return pawl_change_due(s, state, slack, NULL, true, err);
  }
  pawl_guards_forget(&l->guards);
  return pawl_change_tick(s, state, slack, err);
}

// All that is due at this very instant, until nothing is; *next is the next time after it.
static PawlStatus settle(PawlStepper* s, PawlState* state, double slack, double* next,
                         PawlError* err) {
  PawlLoop* l = s->loop;
  int most = MOST_AT_ONCE + MORE_AT_ONCE * pawl_blame_guard_count(l);
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
  return l->stop ? PAWL_OK : pawl_blame_instant(s, state, most, slack, err);
}

// A method takes shorter steps near a jam, and where slips turn, but for an implicit one that
// controls its error.
static PawlStatus follow_slips(PawlStepper* s, const PawlState* state, double slack, double* target,
                               PawlError* err) {
  static const double OF_SLACK = 4.0;  // a piece is longer than what counts as no time
  double longest;
  PAWL_TRY(pawl_guards_longest(&s->loop->guards, state, !s->method->low, &longest, err));
  *target = fmin(*target, state->t + fmax(longest, OF_SLACK * slack));
  return PAWL_OK;
}

static bool follows(const PawlStepper* s) {
  return s->system->model && s->system->model->follow_count > 0;
}

// States that follow expressions.                                                            (Z10)
static PawlStatus follow(PawlStepper* s, PawlState* state, PawlError* err) {
  PawlPoint point = {state->t,      state->q,     state->v,   state->a,
                     state->lambda, state->modes, state->held};
  PAWL_TRY(pawl_eval_run(s->watching.aside, &point, err));
  pawl_hold_follow(&s->dynamics, state, pawl_eval_values(s->watching.aside)->watch);
  return PAWL_OK;
}

static PawlStatus take(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlLoop* l = s->loop;
  double begin = state->t, end = begin + h, slack = slack_of(begin, h);
  int most = MOST_LOCATED + MORE_LOCATED * pawl_blame_guard_count(l);
  l->length = h;
  for (int located = 0, pieces = 0; located < most && !pawl_method_is_spent(s); pieces++) {
    double next = INFINITY;
    if (pieces == PAWL_METHOD_MOST_STEPS) {
      return pawl_fail(err, PAWL_ERROR_RUN,
                       "t = %.10g: %s has taken %d steps of its own and is not there; is there a "
                       "pole in the forces, or is the motion stiff?",
                       state->t, s->method->info.name, (int)PAWL_METHOD_MOST_STEPS);
    }
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
    if (l->guards.slip) {
      PAWL_TRY(follow_slips(s, state, slack, &target, err));
    }
    bool found, whole = target == end && state->t == begin;  // h itself, not what rounding makes
    int logged = s->log.count;
    PAWL_TRY(pawl_watched_piece(s, state, whole ? h : target - state->t, slack, &found, err));
    PAWL_TRY(follows(s) ? follow(s, state, err) : PAWL_OK);
    bool ends = !(end - state->t > slack) && next > end + slack && !l->kinks.located;
    if (ends && !found && s->log.count == logged) {
      return PAWL_OK;  // nothing is due that was not before
    }
    located += found;
  }
  return pawl_blame_step(s, state, begin, most, err);
}

// ---- steps in which nothing is due --------------------------------------------------------------
// Whether steps can be peeked at.
static bool glides(PawlStepper* s, const PawlState* state, double h, double slack) {
  PawlGuards* g = &s->loop->guards;
  PawlPhase phase = pawl_phase_of(state, false);
  (void)pawl_guards_arm(g, state, slack);
  if (g->contacts || !pawl_guards_known(g, state) || state->redundant_count > 0 ||
      !s->method->peeks(s, &phase, state, h)) {
    return false;  // multipliers of least norm are computed apart
  }
  pawl_guards_plan(g);
  return true;
}

// Surfaces are all that is looked at, and none is near: as far as the next steps may go, or by what
// the last one has left.                                                             (V42) (V16b)
static bool is_clear(PawlStepper* s, const PawlState* state, double h) {
  static const double STEPS = 4.0;
  PawlLoop* l = s->loop;
  if (l->plan_open || !l->plan_bare || !pawl_watched_is_smooth(s) || state->still_count > 0) {
    return false;
  }
  if (s->system->reach) {
    return pawl_surfaces_stay(&l->surfaces, state,
                              STEPS * pawl_surfaces_ahead(&l->surfaces, state, h));
  }
  return pawl_guards_known(&l->guards, state) &&
         !pawl_guards_soon(&l->guards, state, l->guards.last_regions);
}

// What the steps to come need to know, as long as this state goes on from step to step: nothing is
// due before a time; whether anything is watched.
static void plan(PawlStepper* s, const PawlState* state, double h) {
  PawlLoop* l = s->loop;
  double slack = slack_of(state->t, h);
  l->plan_open = pawl_guards_open(&l->guards, state);
  l->plan_bare = s->method->exact && !s->works && s->contact_count == 0 && !l->kinks.located &&
                 (!l->switches || l->event_driven);
  l->plan_clear = l->guards.locates;
  if (follows(s) || (l->plan_open && !s->method->peeks) ||
      (l->plan_clear && !is_clear(s, state, h))) {
    return;  // every step looks
  }
  l->plan_state = state;
  l->plan_step = state->step + 1;  // this step is not counted yet
  l->plan_until = next_time(l, state, slack) - 2 * slack;
  if (s->method->fastest) {
    pawl_guards_resolve(&l->guards, h * s->method->fastest(s));
  }
  l->plan_glides = l->plan_open && s->method->peeks && glides(s, state, h, slack);
  l->plan_length = h;
}

static bool is_planned(const PawlLoop* l, const PawlState* state, double h) {
  return l->plan_state == state && l->plan_step == state->step && state->t + h < l->plan_until;
}

PAWL_APART static PawlStatus take_or_restore(PawlStepper* s, PawlState* state, double h,
                                             PawlError* err) {
  PawlLoop* l = s->loop;
  l->plan_state = NULL;
  l->jumped = false;
  memset(l->guards.loosened, 0, (size_t)s->system->constraint_count);
  memset(l->guards.reached, 0, (size_t)s->system->constraint_count);
  l->guards.turning.part = 1.0;
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
  } else if (!l->guards.kinks) {
    plan(s, state, h);
  }
  pawl_kinks_end(&l->kinks, state);
  return status;
}

// With the works of the step. False: it is not taken.
PAWL_APART static bool commit_with_works(PawlStepper* s, PawlState* state, const double* watch,
                                         double h) {
  PawlLoop* l = s->loop;
  if (pawl_works_begin(s, state, NULL) != PAWL_OK) {
    return false;
  }
  bool works = !pawl_works_idle(s);
  if (works) {
    pawl_phase_copy(l->kept, state);
  }
  pawl_guards_pass(&l->guards, state, watch);
  s->method->commit(s, state, h);
  if (works && pawl_works_end(s, state, NULL) != PAWL_OK) {
    pawl_phase_copy(state, l->kept);
    pawl_guards_forget(&l->guards);
    return false;
  }
  return true;
}

static bool turns(PawlStepper* s, const PawlState* state, const double* watch, const double* lambda,
                  double h) {
  PawlWatchRates rates = s->method->peek_rates(s);
  return pawl_guards_turns(&s->loop->guards, state, watch, lambda, &rates, h);
}

// A method that knows what is watched at the end of a step before it takes it needs nothing else.
// Where that does not do, the step that is taken instead says why.
PAWL_APART static PawlStatus glide(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlGuards* g = &s->loop->guards;
  const double *lambda, *watch = s->method->peek(s, state, &lambda);
  if (!watch || !pawl_guards_clear(g, state, watch, lambda) ||
      (g->near && turns(s, state, watch, lambda, h)) ||
      (s->works && !commit_with_works(s, state, watch, h))) {
    return take_or_restore(s, state, h, err);
  }
  if (!s->works) {
    pawl_guards_pass(g, state, watch);
    s->method->commit(s, state, h);
  }
  g->last_time = state->t;
  s->loop->plan_step++;
  return PAWL_OK;
}

// Nothing can happen but what the method does itself.
static PawlStatus step_quietly(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, false);
  PAWL_TRY(s->loop->plan_bare ? s->method->step(s, &phase, state, h, err)
                              : pawl_piece_step(s, state, h, err));
  s->loop->plan_step++;
  return PAWL_OK;
}

// A step from which surfaces are far at both ends, and may have been reached in between by no more
// than what every step looks at: nothing is left to be done. Else it is taken as any other. (V16b)
PAWL_APART static PawlStatus step_clearly(PawlStepper* s, PawlState* state, double h,
                                          PawlError* err) {
  PawlLoop* l = s->loop;
  PawlGuards* g = &l->guards;
  PawlPhase phase = pawl_phase_of(state, false);
  PawlMargin margin;
  if (!pawl_guards_known(g, state)) {
    return take_or_restore(s, state, h, err);
  }
  pawl_phase_copy(l->mark, state);
  g->first_regions = g->last_regions;
  PawlStatus status = s->method->step(s, &phase, state, h, err);
  status = status ? status : pawl_guards_margins(g, state, &margin, err);
  bool soon = status != PAWL_OK || pawl_guards_soon(g, state, margin.regions);
  if (soon && (status != PAWL_OK || !(margin.regions > 0.0) ||
               pawl_guards_near(g, state, margin.regions))) {
    pawl_phase_copy(state, l->mark);
    return take_or_restore(s, state, h, err);
  }
  pawl_guards_keep(g, state, margin.regions);
  l->plan_step++;
  l->plan_state = soon ? NULL : state;
  return PAWL_OK;
}

// The same where room is known: no place on the way is farther than that, and mostly none of the
// next step will be.                                                                   (V42) (V43)
PAWL_APART static PawlStatus step_within(PawlStepper* s, PawlState* state, double h,
                                         PawlError* err) {
  static const double NEXT = 3.0;  // the way of this step and of the next, and some more
  PawlLoop* l = s->loop;
  PawlPhase phase = pawl_phase_of(state, false);
  pawl_guards_forget(&l->guards);
  pawl_phase_copy(l->mark, state);
  PawlStatus status = s->method->step(s, &phase, state, h, err);
  double way = pawl_surfaces_way(&l->surfaces, l->mark, state);
  bool next = status == PAWL_OK && pawl_surfaces_stay(&l->surfaces, state, NEXT * way);
  if (!next && (status != PAWL_OK || !pawl_surfaces_stay(&l->surfaces, state, way))) {
    pawl_phase_copy(state, l->mark);
    return take_or_restore(s, state, h, err);
  }
  l->plan_step++;
  l->plan_state = next ? state : NULL;
  return PAWL_OK;
}

PAWL_APART PawlStatus pawl_loop_step(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlLoop* l = s->loop;
  l->stop = false;
  if (is_planned(l, state, h)) {
    if (l->plan_clear) {
      return s->system->reach ? step_within(s, state, h, err) : step_clearly(s, state, h, err);
    }
    if (!l->plan_open) {
      return step_quietly(s, state, h, err);
    }
    if (l->plan_glides && h == l->plan_length) {
      return glide(s, state, h, err);
    }
  }
  if (l->guards.condition_count + l->guards.clock_count + l->kinks.timed == 0 &&
      !l->guards.locates && !l->guards.kinks && !follows(s)) {
    bool regions_alone = l->switches && !l->event_driven && !s->works;
    return regions_alone ? pawl_regions_step(s, &l->regions, state, h, err)
                         : pawl_piece_step(s, state, h, err);
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
  PAWL_TRY(pawl_change_modes(s, state, err));
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
  PawlStatus status = pawl_change_assign(s, state, err);
  status = status ? status : settle(s, state, -INFINITY, &next, err);
  return end_asked(s, state, status);
}

PawlStatus pawl_loop_push(PawlStepper* s, PawlState* state, const double* U, PawlError* err) {
  double next;
  begin_asked(s, state);
  PawlStatus status = pawl_change_by(s, state, U, -1, err);
  status = status ? status : settle(s, state, -INFINITY, &next, err);
  return end_asked(s, state, status);
}
