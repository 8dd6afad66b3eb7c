// SPDX-License-Identifier: Apache-2.0
// A step in which anything may switch (docs/theory/events.md). It is cut at the times of schedules.
// When a margin is negative at the end of a piece, the piece is taken again up to its zero, found
// by inverse quadratic interpolation; there the constraints change by one jump, and the
// rest follows. Margins are those of conditions and capacities, and, event-driven, of regions, too.
// Time stepping goes through regions inside each piece.
#include "step/events.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/modes.h"
#include "system/system.h"

enum { MOST_JUMPS = PAWL_MOST_INSTANTS, MOST_ROOT_STEPS = 200, MOST_HALVINGS = 40 };

// Regions are located, rather than stepped through.
static bool locates(const PawlStepper* s) {
  return s->switches && s->switcher->event_driven;
}

static PawlStatus step_inside(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  return s->switches && !s->switcher->event_driven ? pawl_switcher_time_step(s, state, h, err)
                                                   : s->method->step(s, state, h, err);
}

// ---- margins ------------------------------------------------------------------------------------
typedef struct Margin {
  double least;
  double regions;  // of these alone
  int constraint;  // the one whose region is left first
} Margin;

static PawlStatus look(PawlStepper* s, const PawlState* state, Margin* margin, PawlError* err) {
  *margin = (Margin){INFINITY, INFINITY, 0};
  if (s->triggers) {
    PAWL_TRY(pawl_triggers_margin(s, state, &margin->least, err));
  }
  if (locates(s)) {
    PAWL_TRY(pawl_switcher_look(s, state, err));
    margin->regions =
        pawl_modes_margin(s->system, s->switcher->seen, s->modes, &margin->constraint);
    margin->least = fmin(margin->least, margin->regions);
  }
  return PAWL_OK;
}

int pawl_events_most(const PawlStepper* s) {
  return s->switcher ? s->switcher->watcher_count + s->system->guard_count + s->system->turn_count
                     : 0;
}

int pawl_events_count(const PawlStepper* s) {
  return !s->switcher ? 0 : s->switcher->armed_count + (locates(s) ? 1 : 0);
}

PawlStatus pawl_events_margins(PawlStepper* s, double t, const double* q, const double* v,
                               double* margins, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  if (!w) {
    return PAWL_OK;
  }
  PawlState* at = w->before;  // free between jumps
  Margin margin;
  pawl_switcher_copy(s, at, w->mark);
  at->t = t;
  memcpy(at->q, q, (size_t)s->sizes.q * sizeof(double));
  memcpy(at->v, v, (size_t)s->sizes.v * sizeof(double));
  if (w->armed_reacts) {
    PawlPoint point = {t, q, v, NULL, NULL, s->modes, at->held};
    PAWL_TRY(pawl_eval_run(s->eval_start, &point, err));
    PAWL_TRY(pawl_step_accelerate(s, pawl_eval_values(s->eval_start), t, at->a, at->lambda, err));
  }
  PAWL_TRY(look(s, at, &margin, err));
  for (int k = 0; k < w->armed_count; k++) {
    margins[k] = isinf(w->margins[k]) ? 1.0 : w->margins[k];
  }
  if (locates(s)) {
    margins[w->armed_count] = margin.regions;
  }
  return PAWL_OK;
}

// Nothing happens at this state, but for rounding on the surface of a region.
static bool is_quiet(const PawlStepper* s, const PawlState* state, const Margin* margin) {
  return margin->least >= 0.0 ||
         (margin->least == margin->regions && margin->regions >= -pawl_switcher_noise(s, state));
}

// ---- finding the instant ------------------------------------------------------------------------
// The margin after a piece of length h from the mark.
static PawlStatus probe(PawlStepper* s, PawlState* state, double h, Margin* margin,
                        PawlError* err) {
  pawl_switcher_copy(s, state, s->switcher->mark);
  memcpy(s->modes, state->modes, pawl_mode_bytes(s));
  s->switcher->instant_count = s->switcher->mark_count;
  if (h > 0.0) {
    PAWL_TRY(step_inside(s, state, h, err));
  }
  return look(s, state, margin, err);
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
// (margin < 0).
static PawlStatus locate(PawlStepper* s, PawlState* state, double low, double f_low, double high,
                         double f_high, Margin* margin, PawlError* err) {
  Points points = {0};
  bool at_high = false;  // the state is that of `high`
  add_point(&points, low, f_low);
  add_point(&points, high, f_high);
  for (int k = 0; k < MOST_ROOT_STEPS && high - low > s->def.event_tolerance; k++) {
    double h = next_length(&points, k, low, f_low, high, f_high, s->def.event_tolerance);
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
  return at_high ? PAWL_OK : probe(s, state, high, margin, err);
}

// A margin that is zero at the mark (after a jump motion begins on a surface): a length at which it
// is positive; 0 when there is none.
static PawlStatus find_inside(PawlStepper* s, PawlState* state, double h, double* inside,
                              Margin* margin, PawlError* err) {
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

static void keep_margins(PawlStepper* s) {
  PawlSwitcher* w = s->switcher;
  memcpy(w->first_margins, w->margins, (size_t)w->armed_count * sizeof(double));
}

// The margin is negative after a piece of length h: goes to where it becomes so.
static PawlStatus go_to_zero(PawlStepper* s, PawlState* state, double h, Margin* margin,
                             PawlError* err) {
  Margin start, end = *margin;
  double low = 0.0;
  PAWL_TRY(probe(s, state, 0.0, &start, err));
  if (s->triggers) {
    PAWL_TRY(pawl_triggers_crossed(s, state, &start.least, err));
    start.least = fmin(start.least, start.regions);
    keep_margins(s);
  }
  if (start.least < fmin(0.0, start.regions)) {
    *margin = start;  // a jump has led past a zero: at once
    return PAWL_OK;
  }
  if (!(start.least > 0.0)) {
    PAWL_TRY(find_inside(s, state, h, &low, &start, err));
    if (low == 0.0) {
      return probe(s, state, s->def.event_tolerance, margin, err);
    }
  }
  return locate(s, state, low, start.least, h, end.least, margin, err);
}

// ---- changing -----------------------------------------------------------------------------------
// At the state just past a zero, or at a time: what changes, and the jump.
static PawlStatus change(PawlStepper* s, PawlState* state, double slack, const Margin* margin,
                         PawlError* err) {
  PawlSwitcher* w = s->switcher;
  bool changed;
  memcpy(s->modes, state->modes, pawl_mode_bytes(s));
  PAWL_TRY(pawl_triggers_fire(s, state, slack, margin != NULL, &changed, err));
  if (margin && margin->regions < 0.0) {
    int* next = w->tried;  // regions change on top of what fires
    PAWL_TRY(pawl_switcher_look(s, state, err));
    bool leaves = pawl_modes_next(s->system, w->seen, 0.0, s->modes, next);
    if (!leaves && margin->regions < -pawl_switcher_noise(s, state)) {
      return pawl_switcher_no_region(s, state, margin->constraint, err);
    }
    for (int c = 0; leaves && c < s->sizes.modes; c++) {
      w->next[c] = next[c] != state->modes[c] ? next[c] : w->next[c];
    }
    changed |= leaves;  // else on the surface to rounding: go on from here
  }
  if (changed) {
    pawl_switcher_activate(s);
    PAWL_TRY(pawl_jump(s, state, err));
    PAWL_TRY(pawl_triggers_note(s, state, false, true, err));
    w->jumped = true;
  }
  return PAWL_OK;
}

// Names the constraint that switched most often in this step.
static PawlStatus too_many(const PawlStepper* s, const PawlState* state, PawlError* err) {
  const PawlSwitcher* w = s->switcher;
  int most = -1, worst = 0;
  for (int c = 0; c < s->system->constraint_count; c++) {
    int count = 0;
    for (int k = 0; k < w->instant_count; k++) {
      count += pawl_system_switched(s->system, c, w->instants[k].from, w->instants[k].to);
    }
    worst = count > most ? c : worst;
    most = count > most ? count : most;
  }
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: constraint '%s' switched %d times within one step: switches "
                   "accumulate here. Regions: a time-stepping method (nsga-pva, nsga-pvv) passes "
                   "such a point; conditions: give a least time between changes (after)",
                   state->t, most >= 0 ? s->system->constraints[worst].name : "?",
                   most > 0 ? most : (int)MOST_JUMPS);
}

// An impact within a time step must not go through a joint that holds by a finite force. The first
// whose mean reaction over the step is beyond its capacity slides from the beginning of the step;
// -1: none.
static PawlStatus overloaded(PawlStepper* s, const PawlState* state, int* constraint,
                             PawlError* err) {
  PawlSwitcher* w = s->switcher;
  *constraint = -1;
  bool impacts = s->contact_count > 0 || (s->switches && !w->event_driven);
  if (!impacts || w->capacity_count == 0 || w->instant_count == w->mark_count) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_stepper_multipliers(s, state, w->impulse_room, err));
  const double* watch = pawl_eval_values(w->watch)->watch;
  for (int k = 0; k < w->capacity_count && *constraint < 0; k++) {
    int c = w->capacities[k];
    double reaction = w->impulse_room[s->system->constraints[c].first_row];
    if (state->modes[c] == PAWL_MODE_HELD &&
        fabs(reaction) > watch[s->system->watches[c].capacity]) {
      *constraint = c;
    }
  }
  return PAWL_OK;
}

static PawlStatus slide_instead(PawlStepper* s, PawlState* state, int c, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  double reaction = w->impulse_room[s->system->constraints[c].first_row];
  pawl_switcher_copy(s, state, w->mark);
  w->instant_count = w->mark_count;
  memcpy(s->modes, state->modes, pawl_mode_bytes(s));
  memcpy(w->next, state->modes, pawl_mode_bytes(s));
  w->next[c] = reaction > 0.0 ? PAWL_MODE_DOWN : PAWL_MODE_UP;
  pawl_switcher_activate(s);
  w->loosened[c] = 1;
  PAWL_TRY(pawl_jump(s, state, err));
  return pawl_triggers_note(s, state, false, true, err);
}

// One piece of length h, or up to the first instant before its end.
static PawlStatus piece(PawlStepper* s, PawlState* state, double h, double slack, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  bool watched = s->triggers && pawl_triggers_arm(s, state, slack) > 0;
  Margin margin;
  if (locates(s)) {
    PAWL_TRY(pawl_switcher_hold(s, state, err));
  }
  memcpy(s->modes, state->modes, pawl_mode_bytes(s));
  pawl_switcher_activate(s);
  bool jumped = w->jumped;
  w->jumped = false;
  if (!watched && !locates(s)) {
    PAWL_TRY(step_inside(s, state, h, err));
  } else {
    pawl_switcher_copy(s, w->mark, state);
    w->mark_count = w->instant_count;
    memset(w->first_margins, 0, (size_t)w->armed_count * sizeof(double));
    if (s->method->advance && watched) {
      PAWL_TRY(pawl_triggers_margin(s, state, &margin.least, err));
      keep_margins(s);
    }
    if (jumped && watched) {  // a jump may have carried a condition across zero: at once
      PAWL_TRY(pawl_triggers_crossed(s, state, &margin.least, err));
      if (margin.least < 0.0) {
        margin = (Margin){margin.least, INFINITY, 0};
        return change(s, state, -INFINITY, &margin, err);
      }
    }
    bool stopped = false;
    if (s->method->advance) {
      PAWL_TRY(s->method->advance(s, state, h, &stopped, err));
    } else {
      PAWL_TRY(step_inside(s, state, h, err));
    }
    int through;
    PAWL_TRY(look(s, state, &margin, err));
    PAWL_TRY(overloaded(s, state, &through, err));
    if (through >= 0) {
      return slide_instead(s, state, through, err);
    }
    if (!is_quiet(s, state, &margin)) {
      if (!stopped) {
        PAWL_TRY(go_to_zero(s, state, h, &margin, err));
      }
      return change(s, state, -INFINITY, &margin, err);
    }
  }
  return s->triggers ? pawl_triggers_note(s, state, watched, false, err) : PAWL_OK;
}

// Times this near to each other are the same.
static double slack_of(double t, double h) {
  return fmax(1e-12 * h, 8 * DBL_EPSILON * fabs(t + h));
}

static PawlStatus events_step(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  double begin = state->t, end = begin + h, slack = slack_of(begin, h);
  memset(w->loosened, 0, (size_t)s->system->constraint_count);
  for (int jumps = 0; jumps < MOST_JUMPS && !w->stop; jumps++) {
    double target = s->triggers ? pawl_triggers_next(s, state, slack) : INFINITY;
    if (target <= state->t + slack) {
      PAWL_TRY(change(s, state, slack, NULL, err));
      continue;
    }
    target = target < end - slack ? target : end;
    if (!(target - state->t > slack)) {
      return PAWL_OK;
    }
    int logged = w->instant_count;
    bool whole = target == end && state->t == begin;  // h itself, not what rounding makes of it
    PAWL_TRY(piece(s, state, whole ? h : target - state->t, slack, err));
    jumps -= w->instant_count == logged && state->t >= target - slack;  // a piece without a switch
    if (w->instant_count == logged && state->t >= end - slack &&
        !(s->triggers && pawl_triggers_next(s, state, slack) <= state->t + slack)) {
      return PAWL_OK;
    }
  }
  return w->stop ? PAWL_OK : too_many(s, state, err);
}

// What the steps to come need to know, as long as this state goes on from step to step: nothing is
// due before a time; whether anything is watched.
static void plan(PawlStepper* s, const PawlState* state, double h) {
  PawlSwitcher* w = s->switcher;
  double slack = slack_of(state->t, h);
  w->plan_state = state;
  w->plan_step = state->step + 1;  // this step is not counted yet
  w->plan_until = pawl_triggers_next(s, state, slack) - 2 * slack;
  w->plan_open = pawl_triggers_open(s, state);
  if (s->method->peek) {
    (void)pawl_triggers_arm(s, state, slack);
  }
}

static bool is_planned(const PawlStepper* s, const PawlState* state, double h) {
  const PawlSwitcher* w = s->switcher;
  return w->plan_state == state && w->plan_step == state->step && !w->jumped &&
         state->t + h < w->plan_until;
}

// A method that knows what is watched at the end of a step before it takes it needs nothing else.
static bool glide(PawlStepper* s, PawlState* state, double h) {
  if (s->info.redundant_rows > 0) {
    return false;  // multipliers of least norm are computed apart
  }
  const double *lambda, *watch = s->method->peek(s, state, h, &lambda);
  if (!watch || !pawl_triggers_pass(s, state, watch, lambda)) {
    return false;
  }
  s->method->commit(s, state, h);
  s->switcher->plan_step++;
  return true;
}

PawlStatus pawl_events_step(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  w->instant_count = 0;
  w->stop = false;
  if (!s->triggers && !locates(s)) {
    return pawl_switcher_time_step(s, state, h, err);
  }
  if (is_planned(s, state, h)) {
    if (!w->plan_open) {  // nothing can happen but what the method does itself
      PAWL_TRY(step_inside(s, state, h, err));
      w->plan_step++;
      return PAWL_OK;
    }
    if (s->method->peek && glide(s, state, h)) {
      return PAWL_OK;
    }
  }
  w->plan_state = NULL;
  pawl_switcher_copy(s, w->kept, state);
  PawlStatus status = events_step(s, state, h, err);
  if (status != PAWL_OK) {
    PawlError unused = {0};
    bool jumped = w->instant_count > 0;
    pawl_switcher_copy(s, state, w->kept);
    memcpy(s->modes, state->modes, pawl_mode_bytes(s));
    w->active_known = false;
    w->instant_count = 0;
    if (jumped && pawl_switcher_reduce(s, state, &unused) != PAWL_OK) {
      return status;  // the rows left out stay those of the jump; the first failure counts
    }
  } else if (!locates(s)) {
    plan(s, state, h);
  }
  return status;
}
