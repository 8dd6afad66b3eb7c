// SPDX-License-Identifier: Apache-2.0
// What fires at an instant, by its time or by its margin, and the modes that follow.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "model/model.h"
#include "switch/bounce.h"
#include "switch/guards_impl.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

// ---- times --------------------------------------------------------------------------------------
static double next_of(const PawlGuards* g, const PawlState* state, int k) {
  const PawlGuard* guard = &g->all[k];
  assert(k >= g->condition_count && k < g->condition_count + g->clock_count);
  int passed = state->passed[k - g->condition_count];
  if (guard->what == PAWL_GUARD_TIMES && guard->times->every > 0.0) {
    return guard->times->offset + passed * guard->times->every;  // never summed up         (Z6)
  }
  if (guard->what == PAWL_GUARD_TIMES) {
    return passed < guard->times->time_count ? guard->times->times[passed] : INFINITY;
  }
  if (!pawl_guards_is_open(guard, state->modes)) {
    return INFINITY;
  }
  if (guard->what == PAWL_GUARD_LIMIT) {
    int contact = guard->of - state->mode_count + pawl_bounce_contacts(g->dynamics->system);
    return pawl_bounce_of(state, contact)[PAWL_BOUNCE_LIMIT];
  }
  return state->since[guard->of] + guard->dwell;
}

double pawl_guards_next(const PawlGuards* g, const PawlState* state, double slack) {
  double next = INFINITY;
  for (int k = g->condition_count; k < g->condition_count + g->clock_count; k++) {
    double t = next_of(g, state, k);
    next = t < next ? t : next;
  }
  for (int k = 0; k < g->condition_count; k++) {
    if (g->all[k].dwell > 0.0 && pawl_guards_is_open(&g->all[k], state->modes)) {
      double t = pawl_guards_ready(g, state, &g->all[k]);
      next = t > state->t + slack && t < next ? t : next;
    }
  }
  return next;
}

// ---- firing -------------------------------------------------------------------------------------
static PawlStatus engage(PawlGuards* g, PawlState* state, int c, int* next, PawlError* err) {
  if (next[c] != PAWL_MODE_FREE) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_guards_engaged_mode(g, state, c, &next[c], err));
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
    PAWL_TRY(pawl_guards_rests(g, state, guard->of, rate, &at_rest, err));
  }
  if (at_rest) {
    next[guard->of] = PAWL_MODE_HELD;  // stick.c decides
    fired->changed = true;
  } else if (!guard->sided) {
    next[guard->of] = rate > 0.0 ? PAWL_MODE_UP : PAWL_MODE_DOWN;
  }
  return PAWL_OK;
}

// Values of what an event sets or pushes need to exist only now.
static PawlStatus check_values(const PawlGuards* g, const PawlState* state,
                               const PawlEventDef* event, PawlError* err) {
  const PawlSystem* system = g->dynamics->system;
  const PawlModel* model = system->model;
  for (int k = event->first_set; k < event->first_set + event->set_count; k++) {
    if (!isfinite(g->watch[system->first_set + k])) {
      const PawlSource* at = &model->sets[k].source;
      return pawl_fail(err, PAWL_ERROR_RUN,
                       "%s:%d:%d: t = %.10g: '%.300s', which event '%s' sets, has no finite value",
                       model->file, at->line, at->column, state->t, at->text ? at->text : "",
                       event->name);
    }
  }
  for (int k = event->first_impulse; k < event->first_impulse + event->impulse_count; k++) {
    if (!isfinite(g->watch[system->first_impulse + k])) {
      return pawl_fail(err, PAWL_ERROR_RUN,
                       "t = %.10g: the impulse of event '%s' has no finite value", state->t,
                       event->name);
    }
  }
  return PAWL_OK;
}

// The values of what an event sets are those before the instant, for all events at it.        (Z5)
static void await_assignment(PawlGuards* g, int e) {
  const PawlSystem* system = g->dynamics->system;
  const PawlEventDef* event = &system->model->events[e];
  for (int k = 0; k < g->assign_count; k++) {
    if (g->assigns[k] == e) {
      return;
    }
  }
  g->assigns[g->assign_count++] = e;
  memcpy(g->assign_values + event->first_set, g->watch + system->first_set + event->first_set,
         (size_t)event->set_count * sizeof(double));
}

// An event with an impulse or a set awaits the jump, which logs it; others are logged at once.
// Expressions see what is before the instant.
static PawlStatus fire_event(PawlGuards* g, PawlState* state, int e, PawlLog* log, PawlError* err) {
  const PawlSystem* system = g->dynamics->system;
  const PawlEventDef* event = &system->model->events[e];
  PAWL_TRY(check_values(g, state, event, err));
  if (event->set_count > 0) {
    await_assignment(g, e);
  }
  if (event->impulse_count == 0) {
    return event->set_count > 0 ? PAWL_OK : pawl_log_event(log, state, e, err);
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

// A contact comes to its critical friction while it slips.                                  (F36)
static PawlStatus tell_jam(PawlGuards* g, double t, int row, PawlError* err) {
  PawlText text = {0};
  int number;
  bool refuse = strcmp(g->dynamics->def->painleve, "refuse") == 0;
  pawl_text_printf(&text,
                   "t = %.10g: contact '%s' comes to its critical friction while it slips, and its "
                   "force grows without bound (a dynamic jam)%s",
                   t, pawl_system_row_name(g->dynamics->system, row, &number),
                   refuse ? "" : ": it lifts off");
  PawlStatus status = text.failed ? pawl_fail_memory(err)
                      : refuse    ? pawl_fail(err, PAWL_ERROR_RUN, "%s", text.s)
                                  : pawl_dynamics_warn(g->dynamics, text.s);
  pawl_text_free(&text);
  return status;
}

static PawlStatus fire(PawlGuards* g, PawlState* state, int k, int* next, PawlLog* log,
                       PawlFired* fired, PawlError* err) {
  const PawlGuard* guard = &g->all[k];
  g->only_touched &= guard->then == PAWL_THEN_TOUCH;
  switch (guard->then) {
    case PAWL_THEN_ENGAGE:
      return engage(g, state, guard->of, next, err);
    case PAWL_THEN_RELEASE:
      next[guard->of] = PAWL_MODE_FREE;
      return PAWL_OK;
    case PAWL_THEN_EVENT:
      *pawl_guards_since(g, state, guard) = state->t;
      fired->stop |= g->dynamics->system->model->events[guard->of].stop;
      return fire_event(g, state, guard->of, log, err);
    case PAWL_THEN_SETTLE:
      if (guard->what == PAWL_GUARD_RATE) {
        return settle_rate(g, state, k, next, fired, err);
      }
      g->reached[guard->of] = g->reached[guard->of] > 0 ? 2 : 1;
      fired->changed |= next[guard->of] != PAWL_MODE_FREE;  // stick.c decides
      return PAWL_OK;
    case PAWL_THEN_TOUCH:
      g->touched[guard->at] = 1;
      g->slack[guard->at] = state->blur[k];
      fired->changed = true;  // strike.c and stick.c decide
      return PAWL_OK;
    case PAWL_THEN_REST:
      next[guard->of] =
          next[guard->of] == PAWL_MODE_SLIPS_LIMIT ? PAWL_MODE_SLIPS : PAWL_MODE_CLOSED;
      return PAWL_OK;
    case PAWL_THEN_GRIP:
      if (guard->what == PAWL_GUARD_CONE) {
        g->broken[guard->at] = g->broken[guard->at] > 0 ? 2 : 1;
      } else if (g->jam.part[guard->slip] < PAWL_JAM && !g->jam.pressed[guard->slip]) {
        g->jams[guard->at] = 1;
        next[guard->of] = PAWL_MODE_OPEN;
        PAWL_TRY(tell_jam(g, state->t, guard->at, err));
      }
      fired->changed = true;  // stick.c decides
      return PAWL_OK;
    case PAWL_THEN_OPEN:
      g->pulled[guard->at] = 1;
      g->lifted[guard->at] = g->lifted[guard->at] > 0 ? 2 : 1;
      fired->changed = true;
      return PAWL_OK;
    case PAWL_THEN_MOVE:
      break;  // pawl_modes_next knows where
  }
  return PAWL_OK;
}

// Times that are not told apart would be taken one after the other for ever.
static PawlStatus check_period(const PawlGuards* g, const PawlGuard* guard, double slack,
                               PawlError* err) {
  bool periodic = guard->what == PAWL_GUARD_TIMES && guard->times->every > 0.0;
  if (!periodic || guard->times->every > slack) {
    return PAWL_OK;
  }
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "event '%s' happens every %g s; instants nearer than %g s are one",
                   g->dynamics->system->model->events[guard->of].name, guard->times->every, slack);
}

static PawlStatus fire_clock(PawlGuards* g, PawlState* state, int k, double slack, int* next,
                             PawlLog* log, PawlFired* fired, PawlError* err) {
  const PawlGuard* guard = &g->all[k];
  PAWL_TRY(check_period(g, guard, slack, err));
  for (double t = next_of(g, state, k); t <= state->t + slack; t = next_of(g, state, k)) {
    state->t = t;
    PAWL_TRY(fire(g, state, k, next, log, fired, err));
    if (guard->what != PAWL_GUARD_TIMES) {
      break;
    }
    state->passed[k - g->condition_count]++;
  }
  return PAWL_OK;
}

// Expressions see the time of the clock that is due.
static void move_to_clock(const PawlGuards* g, PawlState* state, double slack) {
  for (int k = g->condition_count; k < g->condition_count + g->clock_count; k++) {
    double t = next_of(g, state, k);
    state->t = t <= state->t + slack ? t : state->t;
  }
}

// A slip in space has come to rest: it need not meet zero.                                  (F23)
static bool stops_in_space(const PawlGuards* g) {
  bool any = false;
  for (int k = 0; g->slip && k < g->armed_count; k++) {
    const PawlGuard* guard = &g->all[g->armed[k]];
    any |= guard->what == PAWL_GUARD_SLIP && g->margins[k] < 0.0 &&
           g->slip->contact[guard->slip].count > 1;
  }
  return any;
}

// What comes to zero together, to rounding, fires together; what rests there does not.
static double tie_of(const PawlGuards* g, const PawlState* state, bool stops, int k) {
  double largest = state->largest[g->armed[k]];
  bool by_force = g->contacts && g->all[g->armed[k]].presses;  // zero is no crossing
  bool comes = !by_force && g->all[g->armed[k]].sided && !isinf(g->first_margins[k]) &&
               g->first_margins[k] > PAWL_NO_SIDE_YET * largest;
  bool counts = stops && !by_force && g->all[g->armed[k]].sided;
  return counts ? PAWL_NO_SIDE_YET * largest : comes ? PAWL_NO_SIDE * largest : 0.0;
}

// A condition with a side, which is not that of a force: this comes and goes by jumps.
static bool may_cross(const PawlGuards* g, int k) {
  const PawlGuard* guard = &g->all[g->armed[k]];
  return guard->sided && !(g->contacts && guard->presses) && !isinf(g->distances[k]);
}

bool pawl_guards_may_be_soon(PawlGuards* g, const PawlState* state, double tolerance) {
  double part = fmax(PAWL_SOON, PAWL_SOON_OF_STEP * tolerance / g->dynamics->def->step);
  bool any = false;
  g->any_soon = false;
  for (int k = 0; k < g->armed_count && !any; k++) {
    any = g->distances[k] <= part * state->largest[g->armed[k]] && may_cross(g, k);
  }
  return any;
}

void pawl_guards_note_soon(PawlGuards* g, const PawlState* state, const double* ahead) {
  memset(g->soon, 0, (size_t)g->condition_count);
  for (int k = 0; k < g->armed_count; k++) {
    double beyond = PAWL_ROUNDING * state->largest[g->armed[k]];
    g->soon[g->armed[k]] = ahead[k] < -beyond && may_cross(g, k);
    g->any_soon |= g->soon[g->armed[k]];
  }
}

// The side of a condition that is due. One that is not across yet has none until it is farther
// away, on whichever side the motion after the instant leaves it.
static void turn_side(PawlGuards* g, PawlState* state, int k) {
  static const double OF_DISTANCE = 2.0;
  int guard = g->armed[k];
  bool across = !(g->distances[k] > 0.0);
  g->early[guard] = !across;
  state->sides[guard] = across ? -state->sides[guard] : 0;
  state->blur[guard] =
      across ? state->blur[guard] : fmax(state->blur[guard], OF_DISTANCE * g->distances[k]);
}

// At a time: conditions that cross zero within the tolerance of it. (V61)
static PawlStatus fire_soon(PawlGuards* g, PawlState* state, int* next, PawlLog* log,
                            PawlFired* fired, PawlError* err) {
  for (int k = 0; k < g->armed_count; k++) {
    int guard = g->armed[k];
    if (!g->soon[guard]) {
      continue;
    }
    bool fires = !pawl_guards_turns_only(g, state, guard);
    turn_side(g, state, k);
    g->firings[guard] += fires;
    PAWL_TRY(fires ? fire(g, state, guard, next, log, fired, err) : PAWL_OK);
  }
  return PAWL_OK;
}

// Where a step has turned one (`stepped`) that has fired already.
static PawlStatus fire_conditions(PawlGuards* g, PawlState* state, bool stepped, int* next,
                                  PawlLog* log, PawlFired* fired, PawlError* err) {
  bool any = false, stops = stops_in_space(g);
  for (int k = 0; k < g->armed_count; k++) {
    any |= g->margins[k] < 0.0;
  }
  for (int k = 0; any && k < g->armed_count; k++) {
    int guard = g->armed[k];
    if (stepped && g->turned[guard]) {
      continue;
    }
    bool soon = g->any_soon && g->soon[guard], only = pawl_guards_turns_only(g, state, guard);
    if (g->margins[k] < tie_of(g, state, stops, k) || (soon && !only)) {
      if (g->all[guard].sided) {
        turn_side(g, state, k);
        g->firings[guard]++;
      }
      PAWL_TRY(fire(g, state, guard, next, log, fired, err));
    } else if (only && (soon || g->distances[k] < tie_of(g, state, stops, k))) {
      turn_side(g, state, k);
    }
  }
  return PAWL_OK;
}

// A condition that has turned both ways fires twice.
static PawlStatus fire_turned(PawlGuards* g, PawlState* state, int* next, PawlLog* log,
                              PawlFired* fired, PawlError* err) {
  for (int k = 0; k < g->armed_count; k++) {
    int guard = g->armed[k], turns = pawl_guards_asked_for(&g->all[guard], g->turned[guard]);
    for (int bit = PAWL_TURNS_UP; bit <= PAWL_TURNS_DOWN; bit++) {
      PAWL_TRY(turns & bit ? fire(g, state, guard, next, log, fired, err) : PAWL_OK);
    }
  }
  return PAWL_OK;
}

// Capacities that were reached before do not count at another instant.
static void forget_reached(PawlGuards* g, double t) {
  if (t != g->reached_at) {
    memset(g->reached, 0, (size_t)g->dynamics->system->constraint_count);
    memset(g->broken, 0, (size_t)g->dynamics->sizes.rows);
    memset(g->lifted, 0, (size_t)g->dynamics->sizes.rows);
    g->reached_at = t;
  }
}

void pawl_guards_forget_contacts(PawlGuards* g) {
  memset(g->touched, 0, (size_t)g->dynamics->sizes.rows);
  memset(g->pulled, 0, (size_t)g->dynamics->sizes.rows);
  memset(g->jams, 0, (size_t)g->dynamics->sizes.rows);
  g->only_touched = false;
}

PawlStatus pawl_guards_fire(PawlGuards* g, PawlState* state, double slack, bool watched, int* next,
                            PawlLog* log, PawlFired* fired, PawlError* err) {
  const double* lambda;
  memcpy(next, state->modes, pawl_phase_mode_bytes(state));
  forget_reached(g, state->t);
  if (g->contacts) {
    pawl_guards_forget_contacts(g);
    g->only_touched = watched;
  }
  *fired = (PawlFired){false, false};
  memset(g->early, 0, (size_t)g->condition_count);
  g->push_count = g->assign_count = 0;
  move_to_clock(g, state, slack);
  bool stepped = g->stepped;
  g->stepped = false;
  if (stepped) {
    pawl_guards_take_turns(g, state);
  }
  if (g->dynamics->system->watch_count > 0) {
    PAWL_TRY(pawl_guards_look(g, state, g->assigns_react, &lambda, err));
  }
  if (stepped || g->entered) {
    g->entered = false;
    PAWL_TRY(fire_turned(g, state, next, log, fired, err));
  }
  if (watched) {
    PAWL_TRY(fire_conditions(g, state, stepped, next, log, fired, err));
  } else if (g->any_soon) {
    PAWL_TRY(fire_soon(g, state, next, log, fired, err));
  }
  g->any_soon = false;
  for (int k = g->condition_count; k < g->condition_count + g->clock_count; k++) {
    PAWL_TRY(fire_clock(g, state, k, slack, next, log, fired, err));
  }
  assert(pawl_modes_in_range(g->dynamics->system, next));
  fired->changed |= memcmp(next, state->modes, pawl_phase_mode_bytes(state)) != 0;
  return PAWL_OK;
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
    PAWL_TRY(pawl_guards_look(g, state, false, &lambda, err));
  }
  return engage(g, state, c, next, err);
}

void pawl_guards_turn_back(PawlGuards* g, PawlState* state, bool exact) {
  for (int k = 0; k < g->armed_count; k++) {
    int guard = g->armed[k];
    double none = fmax(PAWL_NO_SIDE_YET * state->largest[guard], state->blur[guard]);
    if (pawl_guards_turns_only(g, state, guard) && g->distances[k] < (exact ? 0.0 : -none)) {
      state->sides[guard] = -state->sides[guard];
      g->noted = true;
    }
  }
}
