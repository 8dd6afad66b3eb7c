// SPDX-License-Identifier: Apache-2.0
#include "step/loop.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "step/works.h"
#include "switch/share.h"
#include "system/system.h"

enum {
  MOST_ROOT_STEPS = 200,
  MOST_HALVINGS = 40,
  MOST_AT_ONCE = 64,    // changes at one instant, and for each guard
  MORE_AT_ONCE = 4,     // this many more
  MOST_LOCATED = 2000,  // instants found by conditions and regions within one step, and for
  MORE_LOCATED = 64,    // each guard this many more
};

static const double TINY = 1e-4;      // of the nominal step
static const double OF_NOISE = 10.0;  // of surfaces: a dip of a region that is rounding

// Times this near to each other are the same.
static double slack_of(double t, double h) {
  return fmax(1e-12 * h, 8 * DBL_EPSILON * fabs(t + h));
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
  PAWL_TRY(pawl_law_create(&s->dynamics, &l->law, err));
  PAWL_TRY(pawl_surfaces_create(&s->dynamics, l->law.rates, &l->surfaces, err));
  PAWL_TRY(pawl_guards_create(&s->watching, &l->surfaces, s->method->exact,
                              l->switches && event_driven, &l->guards, err));
  PAWL_TRY(pawl_kinks_create(s, &l->surfaces, &l->kinks, err));
  l->guards.kinks = l->kinks.located;
  pawl_loop_shape(l, &shape);
  PAWL_TRY(pawl_jump_create(&l->guards, &l->law, &s->log, &shape, &l->jump, err));
  PAWL_TRY(pawl_regions_create(s, &l->surfaces, &l->law, &shape, &l->regions, err));
  PAWL_TRY(pawl_between_create(&s->arena, l->guards.condition_count + 1, &l->between, err));
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

// ---- a piece without an instant -----------------------------------------------------------------
// Implicit methods divide by the square of a step: a tiny one turns the rounding of positions into
// accelerations. What is left out here is far below their own error.                        (V12)
//   q + h v + h^2/2 v',   v + h v',   then v' and lambda anew
static void shift(PawlStepper* s, PawlState* state, double h) {
  double* move = s->loop->move;
  for (int j = 0; j < s->sizes.v; j++) {
    move[j] = h * (state->v[j] + 0.5 * h * state->a[j]);
  }
  pawl_system_retract(s->system, state->q, move, state->q);
  for (int j = 0; j < s->sizes.v; j++) {
    state->v[j] += h * state->a[j];
  }
  state->t += h;
}

static PawlStatus accelerate(PawlStepper* s, PawlState* state, PawlError* err) {
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, false);
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, &phase, state, &values, err));
  return pawl_dynamics_accelerate(&s->dynamics, &phase, values, state->t, state->a, state->lambda,
                                  err);
}

static PawlStatus hop(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, false);
  shift(s, state, h);
  PAWL_TRY(accelerate(s, state, err));
  return s->method->start(s, &phase, state, err);
}

static bool is_tiny(const PawlStepper* s, double h) {
  return h < TINY * s->def.step && !s->method->exact && s->contact_count == 0;
}

// The multipliers that the method shows at a state.
static void forces_of(PawlStepper* s, PawlState* state, double* lambda) {
  if (s->method->multipliers) {
    s->method->multipliers(s, state, lambda);
  } else {
    memcpy(lambda, state->lambda, (size_t)s->sizes.rows * sizeof(double));
  }
}

static void note_before(PawlStepper* s, PawlState* state) {
  PawlTouch* touch = &s->loop->guards.touch;
  forces_of(s, state, touch->lambda);
  for (int i = touch->first; i < touch->end; i++) {
    touch->pressed[i] = touch->lambda[i] > 0.0;
  }
}

// What a step has done to the contacts; `first` is the first instant that it has logged.
static void note_contacts(PawlStepper* s, PawlState* state, int first) {
  PawlTouch* touch = &s->loop->guards.touch;
  memset(touch->hit, 0, (size_t)s->sizes.rows);
  for (int k = first; k < s->log.count; k++) {
    if (s->log.instants[k]->contact >= 0) {
      touch->hit[s->log.instants[k]->contact] = 1;
    }
  }
  for (int i = touch->first; i < touch->end; i++) {
    touch->closed[i] = s->method->closes ? s->method->closes(s, i) : touch->hit[i];
  }
  forces_of(s, state, touch->lambda);
  touch->fresh = true;
}

static PawlStatus step_plainly(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlLoop* l = s->loop;
  PawlPhase phase = pawl_phase_of(state, false);
  phase.sides = l->kinks.located ? pawl_kinks_watch(&l->kinks, l->mark) : NULL;
  if (l->switches && !l->event_driven) {
    return pawl_regions_step(s, &l->regions, state, h, err);
  }
  return is_tiny(s, h) ? hop(s, state, h, err) : s->method->step(s, &phase, state, h, err);
}

static PawlStatus step_inside(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  int first = s->log.count;
  bool watches = s->contact_count > 0 && s->loop->guards.condition_count > 0;
  if (watches) {
    note_before(s, state);
  }
  PAWL_TRY(s->works ? pawl_works_begin(s, state, err) : PAWL_OK);
  PAWL_TRY(step_plainly(s, state, h, err));
  PAWL_TRY(s->works ? pawl_works_end(s, state, err) : PAWL_OK);
  if (watches) {
    note_contacts(s, state, first);
  }
  return PAWL_OK;
}

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
    PAWL_TRY(accelerate(s, at, err));
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

// Nothing happens at this state, but for rounding on the surface of a region.
static bool is_quiet(const PawlLoop* l, const PawlState* state, const PawlMargin* margin) {
  bool surface = margin->least == margin->regions || margin->least == margin->kinks;
  return margin->least >= 0.0 ||
         (surface && margin->least >= -pawl_surfaces_noise(&l->surfaces, state));
}

// ---- finding the instant ------------------------------------------------------------------------
static void back_to_mark(PawlStepper* s, PawlState* state) {
  pawl_phase_copy(state, s->loop->mark);
  s->log.count = s->loop->mark_count;
}

// The margin after a piece of length h from the mark.
static PawlStatus probe(PawlStepper* s, PawlState* state, double h, PawlMargin* margin,
                        PawlError* err) {
  back_to_mark(s, state);
  if (h > 0.0) {
    PAWL_TRY(step_inside(s, state, h, err));
  }
  return pawl_guards_margins(&s->loop->guards, state, margin, err);
}

// Three points of a margin, the newest last.
typedef struct Points {
  int count;
  double x[3], f[3];
} Points;

static void add_point(Points* p, double x, double f) {
  for (int k = 0; p->count == 3 && k < 2; k++) {
    p->x[k] = p->x[k + 1];
    p->f[k] = p->f[k + 1];
  }
  p->count -= p->count == 3;
  p->x[p->count] = x;
  p->f[p->count++] = f;
}

// Where the parabola x(f) through the points has f = 0; NaN without three points.
static double inverse_parabola(const Points* p) {
  const double *x = p->x, *f = p->f;
  return p->count < 3 ? NAN
                      : x[0] * f[1] * f[2] / ((f[0] - f[1]) * (f[0] - f[2])) +
                            x[1] * f[0] * f[2] / ((f[1] - f[0]) * (f[1] - f[2])) +
                            x[2] * f[0] * f[1] / ((f[2] - f[0]) * (f[2] - f[1]));
}

// The next length to try between low and high: by the parabola, by the chord, or the middle; a
// little beyond what it finds, towards the farther end, so that the bracket closes from both sides.
static double next_length(const Points* p, int tries, double low, double f_low, double high,
                          double f_high, double tolerance) {
  double x = inverse_parabola(p), middle = 0.5 * (low + high);
  if (!(x > low && x < high)) {
    x = (low * f_high - high * f_low) / (f_high - f_low);
  }
  if (tries % 6 == 5 || !(x > low && x < high)) {
    return middle;
  }
  double beyond =
      x < middle ? fmin(x + 0.4 * tolerance, middle) : fmax(x - 0.4 * tolerance, middle);
  return fmin(fmax(beyond, low + 0.25 * tolerance), high - 0.25 * tolerance);
}

// The state just past the first zero of the margin, which is between `low` (margin > 0) and `high`
// (margin < 0); *reached is its place.
static PawlStatus locate(PawlStepper* s, PawlState* state, double low, double f_low, double high,
                         double f_high, PawlMargin* margin, double* reached, PawlError* err) {
  Points points = {0};
  double tolerance = pawl_dynamics_instant(&s->dynamics, s->loop->mark->t);
  bool at_high = false;  // the state is that of `high`
  add_point(&points, low, f_low);
  add_point(&points, high, f_high);
  for (int k = 0; k < MOST_ROOT_STEPS && high - low > tolerance; k++) {
    double h = next_length(&points, k, low, f_low, high, f_high, tolerance);
    PAWL_TRY(probe(s, state, h, margin, err));
    add_point(&points, h, margin->least);
    at_high = margin->least < 0.0;
    if (at_high) {
      high = h;
      f_high = margin->least;
    } else {
      low = h;
      f_low = margin->least;
    }
  }
  *reached = high;
  return at_high ? PAWL_OK : probe(s, state, high, margin, err);
}

// A margin that is zero at the mark (after a jump motion begins on a surface): a length at which it
// is positive; 0 when there is none.
static PawlStatus find_inside(PawlStepper* s, PawlState* state, double h, double* inside,
                              PawlMargin* margin, PawlError* err) {
  *inside = 0.0;
  for (int k = 0; k < MOST_HALVINGS; k++) {
    h *= 0.5;
    PAWL_TRY(probe(s, state, h, margin, err));
    if (margin->least > 0.0) {
      *inside = h;
      return PAWL_OK;
    }
  }
  return PAWL_OK;
}

// The margins at the mark.
static PawlStatus look_at_mark(PawlStepper* s, PawlState* state, PawlMargin* margin,
                               PawlError* err) {
  PawlGuards* g = &s->loop->guards;
  back_to_mark(s, state);
  PAWL_TRY(pawl_guards_crossed(g, state, margin, err));
  pawl_guards_keep_margins(g);
  margin->least = fmin(margin->least, fmin(margin->regions, margin->kinks));
  return PAWL_OK;
}

// The margin is negative after a piece of length h: goes to where it becomes so, *reached.
static PawlStatus go_to_zero(PawlStepper* s, PawlState* state, double h, PawlMargin* margin,
                             double* reached, PawlError* err) {
  PawlMargin start, end = *margin;
  double low = 0.0;
  *reached = 0.0;
  PAWL_TRY(look_at_mark(s, state, &start, err));
  if (start.least < fmin(0.0, start.regions)) {
    *margin = start;  // a jump has led past a zero: at once
    return PAWL_OK;
  }
  if (!(start.least > 0.0)) {
    PAWL_TRY(find_inside(s, state, h, &low, &start, err));
    if (low == 0.0) {
      return probe(s, state, pawl_dynamics_instant(&s->dynamics, state->t), margin, err);
    }
  }
  return locate(s, state, low, start.least, h, end.least, margin, reached, err);
}

// ---- zeros in between ---------------------------------------------------------------------------
// The margins of the last look, regions last.
static void copy_margins(const PawlGuards* g, const double* margins, double regions, double* out) {
  memcpy(out, margins, (size_t)g->armed_count * sizeof(double));
  out[g->armed_count] = regions;
}

// The rates of margins at a place whose margins are known: differences over a small time `ahead`.
static PawlStatus note_rates(PawlStepper* s, const PawlState* state, int at, double ahead,
                             PawlError* err) {
  PawlLoop* l = s->loop;
  PawlBetween* b = &l->between;
  double* rate = b->rate[at];
  pawl_phase_copy(l->probe, state);
  shift(s, l->probe, ahead);
  if (l->guards.armed_reacts && l->guards.exact) {
    PAWL_TRY(accelerate(s, l->probe, err));
  }
  PAWL_TRY(pawl_guards_aside(&l->guards, l->probe, rate, rate + l->guards.armed_count, err));
  for (int k = 0; k < b->count; k++) {
    rate[k] = isinf(b->f[at][k]) ? 0.0 : (rate[k] - b->f[at][k]) / ahead;
  }
  return PAWL_OK;
}

// A state at x in a piece of length h, which was just looked at; differences go backwards, where
// the motion has come from.
static PawlStatus note_place(PawlStepper* s, const PawlState* state, double x, double h,
                             double regions, PawlError* err) {
  PawlGuards* g = &s->loop->guards;
  PawlBetween* b = &s->loop->between;
  int at = pawl_between_add(b, x);
  copy_margins(g, g->distances, regions, b->f[at]);
  return note_rates(s, state, at, -(x < h ? PAWL_AHEAD_INSIDE : PAWL_AHEAD) * h, err);
}

// Whether some margin turns in between if it is a parabola, by its values at both ends and its rate
// at the end (place 0, of a piece of length h); a quarter of a rate is left for what it is not.
static bool may_turn(const PawlGuards* g, const PawlBetween* b, double h) {
  static const double OF_RATE = 0.25;
  bool turns = false;
  for (int k = 0; k < b->count; k++) {
    double first = k < g->armed_count ? g->first_margins[k] : g->first_regions;
    double p1 = h * b->rate[0][k], p0 = 2.0 * (b->f[0][k] - first) - p1;
    turns |= p0 < OF_RATE * fabs(p1) && p1 > -OF_RATE * fabs(p0);
  }
  return turns;
}

// The state is at the end of a piece of length h, and was just looked at. The beginning is left out
// where nothing turns in between.
static PawlStatus note_ends(PawlStepper* s, const PawlState* state, double h, double regions,
                            PawlError* err) {
  PawlLoop* l = s->loop;
  PawlGuards* g = &l->guards;
  PawlBetween* b = &l->between;
  b->places = 0;
  b->count = g->armed_count + 1;
  for (int k = 0; k < g->armed_count; k++) {
    b->noise[k] = pawl_guards_noise(g, state, k);
  }
  b->noise[g->armed_count] = g->locates ? OF_NOISE * pawl_surfaces_noise(&l->surfaces, state) : 0.0;
  PAWL_TRY(note_place(s, state, h, h, regions, err));
  if (!may_turn(g, b, h)) {
    return PAWL_OK;
  }
  int at = pawl_between_add(b, 0.0);
  copy_margins(g, g->first_margins, g->first_regions, b->f[at]);
  return note_rates(s, l->mark, at, PAWL_AHEAD * h, err);
}

static bool has_turned(const PawlGuards* g) {
  bool turned = false;
  for (int k = 0; k < g->armed_count; k++) {
    turned |= g->distances[k] < 0.0;
  }
  return turned;
}

// A margin is negative at x, and none is so at `low` before it: goes to where it becomes so.
static PawlStatus go_between(PawlStepper* s, PawlState* state, double low, double x,
                             PawlMargin* margin, PawlError* err) {
  PawlMargin at_low;
  double f_high = margin->least;
  if (low == 0.0) {
    return go_to_zero(s, state, x, margin, &x, err);
  }
  PAWL_TRY(probe(s, state, low, &at_low, err));
  return locate(s, state, low, at_low.least, x, f_high, margin, &x, err);
}

// Looks for what may have happened before the end of a piece of length h. *found: a margin is
// negative in between; then the state is where it first becomes so. *cut: a condition has turned
// there without firing, and the state is there: the rest of the piece is another one. Else the
// state is at the end again.
static PawlStatus look_between(PawlStepper* s, PawlState* state, double h, PawlMargin* margin,
                               bool* found, bool* cut, PawlError* err) {
  double x, low;
  PAWL_TRY(note_ends(s, state, h, margin->regions, err));
  while (pawl_between_suspect(&s->loop->between, &x, &low)) {
    PAWL_TRY(probe(s, state, x, margin, err));
    *found = !is_quiet(s->loop, state, margin);
    *cut = !*found && has_turned(&s->loop->guards);
    if (*found || *cut) {
      return *found ? go_between(s, state, low, x, margin, err) : PAWL_OK;
    }
    PAWL_TRY(note_place(s, state, x, h, margin->regions, err));
  }
  return s->loop->between.places > 2 ? probe(s, state, h, margin, err) : PAWL_OK;
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

// The jump, with both of its sides where they are asked for; what comes before is as samples have
// it.
static PawlStatus jump_and_note(PawlStepper* s, PawlState* state, PawlError* err) {
  PawlLoop* l = s->loop;
  int first = s->log.count;
  if (!s->log.sides) {
    return pawl_jump(&l->jump, state, l->next, err);
  }
  PAWL_TRY(pawl_stepper_multipliers(s, state, l->shown, err));
  PAWL_TRY(pawl_jump(&l->jump, state, l->next, err));
  if (s->log.count == first || s->log.instants[s->log.count - 1]->refused >= 0) {
    return PAWL_OK;
  }
  pawl_log_side(&s->log, false, l->jump.before->a, l->shown, l->jump.before->held);
  return note_side_after(s, state, err);
}

static PawlStatus jump(PawlStepper* s, PawlState* state, PawlError* err) {
  PAWL_TRY(jump_and_note(s, state, err));
  pawl_guards_forget(&s->loop->guards);
  s->loop->jumped = true;
  PawlPhase phase = pawl_phase_of(state, false);
  return s->method->start(s, &phase, state, err);
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
  return pawl_dynamics_accelerate(&s->dynamics, &phase, values, state->t, state->a,
                                  s->watching.lambda, err);
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
  return fired.changed ? jump(s, state, err) : PAWL_OK;
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
  back_to_mark(s, state);
  memcpy(l->next, state->modes, pawl_phase_mode_bytes(state));
  l->next[c] = reaction > 0.0 ? PAWL_MODE_DOWN : PAWL_MODE_UP;
  l->guards.loosened[c] = 1;
  return jump(s, state, err);
}

// From the mark by h; a method with steps of its own may end earlier, *h is how far it came.
static PawlStatus advance(PawlStepper* s, PawlState* state, double* h, bool* stopped,
                          PawlError* err) {
  *stopped = false;
  if (!s->method->advance) {
    return step_inside(s, state, *h, err);
  }
  double begin = state->t;
  PawlPhase phase = pawl_phase_of(s->loop->mark, false);
  PAWL_TRY(s->works ? pawl_works_begin(s, state, err) : PAWL_OK);
  phase.sides = s->loop->kinks.located ? pawl_kinks_watch(&s->loop->kinks, s->loop->mark) : NULL;
  PAWL_TRY(s->method->advance(s, &phase, state, *h, stopped, err));
  PAWL_TRY(s->works ? pawl_works_end(s, state, err) : PAWL_OK);
  *h = state->t < begin + *h ? state->t - begin : *h;
  return PAWL_OK;
}

// A piece from the mark, and the margins at its end. One that has gone beyond a kink on its way and
// ends on the near side is taken again in halves, the first of them here. *h: the length taken.
static PawlStatus advance_inside(PawlStepper* s, PawlState* state, double* h, bool* stopped,
                                 PawlMargin* margin, PawlError* err) {
  enum { MOST_KINK_HALVINGS = 10 };
  PawlLoop* l = s->loop;
  PAWL_TRY(advance(s, state, h, stopped, err));
  PAWL_TRY(pawl_guards_margins(&l->guards, state, margin, err));
  for (int k = 0; k < MOST_KINK_HALVINGS && l->kinks.located && is_quiet(l, state, margin) &&
                  l->kinks.sides.least < -pawl_surfaces_noise(&l->surfaces, state);
       k++) {
    *h *= 0.5;
    back_to_mark(s, state);
    PAWL_TRY(advance(s, state, h, stopped, err));
    PAWL_TRY(pawl_guards_margins(&l->guards, state, margin, err));
  }
  return PAWL_OK;
}

// A piece of length h in which something may be found; up to it, if there is.
static PawlStatus watched_piece(PawlStepper* s, PawlState* state, double h, bool* found,
                                PawlError* err) {
  PawlLoop* l = s->loop;
  PawlGuards* g = &l->guards;
  PawlMargin margin;
  bool stopped, earlier = false, cut = false;
  int through;
  double reaction;
  pawl_phase_copy(l->mark, state);
  l->mark_count = s->log.count;
  PAWL_TRY(pawl_guards_begin(g, state, err));
  PAWL_TRY(advance_inside(s, state, &h, &stopped, &margin, err));
  PAWL_TRY(overloaded(s, state, &through, &reaction, err));
  *found = through >= 0 || !is_quiet(l, state, &margin);
  if (through >= 0) {
    return slide_instead(s, state, through, reaction, err);
  }
  if (*found && !stopped) {
    PAWL_TRY(go_to_zero(s, state, h, &margin, &h, err));
  }
  if (!stopped && h > 0.0 && !is_tiny(s, h) && pawl_guards_near(g, state, margin.regions)) {
    PAWL_TRY(look_between(s, state, h, &margin, &earlier, &cut, err));
    *found = earlier || (*found && !cut);
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
  PAWL_TRY(step_inside(s, state, h, err));
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
  for (int located = 0; located < most;) {
    double next = INFINITY;
    PAWL_TRY(settle(s, state, slack, &next, err));
    double target = next < end - slack ? next : end;
    if (l->kinks.located) {
      double longest;
      PAWL_TRY(pawl_kinks_follow(s, &l->kinks, state, h, &longest, err));
      target = state->t + longest < target - slack ? state->t + longest : target;
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
  if (!watch || !pawl_guards_pass(&s->loop->guards, state, watch, lambda)) {
    return false;
  }
  if (s->works && pawl_works_begin(s, state, NULL) != PAWL_OK) {
    return false;
  }
  bool works = s->works && !pawl_works_idle(s);
  if (works) {
    pawl_phase_copy(s->loop->kept, state);
  }
  s->method->commit(s, state, h);
  if (works && pawl_works_end(s, state, NULL) != PAWL_OK) {
    pawl_phase_copy(state, s->loop->kept);
    return false;
  }
  s->loop->guards.last_time = state->t;
  s->loop->plan_step++;
  return true;
}

static PawlStatus take_or_restore(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlLoop* l = s->loop;
  l->plan_state = NULL;
  l->jumped = false;
  memset(l->guards.loosened, 0, (size_t)s->system->constraint_count);
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

PawlStatus pawl_loop_step(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlLoop* l = s->loop;
  l->stop = false;
  if (l->guards.condition_count + l->guards.clock_count + l->kinks.timed == 0 &&
      !l->guards.locates && !l->guards.kinks) {
    return step_inside(s, state, h, err);
  }
  if (is_planned(l, state, h)) {
    if (!l->plan_open) {  // nothing can happen but what the method does itself
      PAWL_TRY(step_inside(s, state, h, err));
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

PawlStatus pawl_loop_ask(PawlStepper* s, PawlState* state, int c, bool engage, PawlError* err) {
  PawlLoop* l = s->loop;
  l->plan_state = NULL;
  l->stop = l->jumped = false;
  memset(l->guards.loosened, 0, (size_t)s->system->constraint_count);
  pawl_phase_copy(l->kept, state);
  PawlStatus status = ask(s, state, c, engage, err);
  if (status != PAWL_OK) {
    pawl_phase_copy(state, l->kept);
    s->log.count = 0;
  }
  return status;
}
