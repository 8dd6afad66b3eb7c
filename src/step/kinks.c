// SPDX-License-Identifier: Apache-2.0
#include "step/kinks.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "model/model.h"
#include "step/method.h"
#include "switch/modes.h"
#include "switch/pace.h"
#include "switch/tolerances.h"
#include "system/system.h"

enum {
  MOST_CROSSINGS = 50,  // of one kink in one step: more of them chatter, too
  MOST_ROUNDS = 8,      // a kink moves a kink
  MOST_TICKS = 1000,    // of kinks of time alone in one step: they are plain for a while then
};

// A kink that is left again this soon is one that the motion is driven back to.
static double soon(const PawlStepper* s) {
  return PAWL_KINK_OF_INSTANT * s->def.event_tolerance + PAWL_KINK_OF_STEP * s->def.step;
}

static PawlStatus add_warning(PawlDynamics* d, PawlText* text, PawlError* err) {
  d->warning = text->failed ? NULL : pawl_arena_copy(d->arena, text->s, text->length);
  pawl_text_free(text);
  return d->warning ? PAWL_OK : pawl_fail_memory(err);
}

static void begin_warning(const PawlDynamics* d, PawlText* text) {
  pawl_text_printf(text, "%s%s", d->warning ? d->warning : "", d->warning ? "\n" : "");
}

// A method that locates kinks has too many of them.
static PawlStatus warn_of_plain(PawlStepper* s, PawlError* err) {
  PawlText text = {0};
  s->dynamics.warnings++;
  begin_warning(&s->dynamics, &text);
  pawl_text_printf(&text,
                   "the forces have %d kinks (abs, sign, min, max, floor, wrap, if, comparisons), "
                   "more than 1000: none of them is located, and the order of the method is lost "
                   "where the motion crosses one",
                   s->system->plain_count);
  return add_warning(&s->dynamics, &text, err);
}

bool pawl_kinks_wanted(const PawlStepper* s) {
  return s->event_driven || s->method->exact || s->system->gaps_kink;
}

PawlStatus pawl_kinks_create(PawlStepper* s, PawlSurfaces* surfaces, PawlKinks* k, PawlError* err) {
  const PawlSystem* system = s->system;
  bool locates = pawl_kinks_wanted(s);
  bool located = system->kink_count > 0 && locates;
  *k =
      (PawlKinks){.surfaces = surfaces,
                  .located = located,
                  .first = system->constraint_count + system->turn_count,
                  .first_surface = system->guard_count + system->turn_count,
                  .count = located ? system->kink_count : 0,
                  .left = PAWL_NEW(&s->arena, double, system->kink_count),
                  .crossings = PAWL_NEW(&s->arena, int, system->kink_count),
                  .before = PAWL_NEW(&s->arena, int, system->kink_count),
                  .timed = system->timed_count,
                  .first_timed = system->constraint_count + system->turn_count + system->kink_count,
                  .due = PAWL_NEW(&s->arena, int, system->timed_count),
                  .lines = PAWL_NEW(&s->arena, PawlLine, system->time_count),
                  .gaps = PAWL_NEW(&s->arena, double, s->sizes.rows),
                  .rates = PAWL_NEW(&s->arena, double, s->sizes.rows),
                  .slow = PAWL_NEW(&s->arena, double, s->sizes.rows)};
  pawl_kinks_forget(k);
  if (s->arena.failed) {
    return pawl_fail_memory(err);
  }
  return locates && system->plain_count > 0 ? warn_of_plain(s, err) : PAWL_OK;
}

static PawlStatus look(const PawlKinks* k, const PawlState* state, const double** z,
                       PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, false);
  return pawl_surfaces_look(k->surfaces, &phase, state, z, err);
}

// ---- of time alone ------------------------------------------------------------------------------
void pawl_kinks_forget(PawlKinks* k) {
  k->from = INFINITY;
}

double pawl_kinks_next(const PawlKinks* k, const PawlState* state, double slack) {
  bool known = state->t >= k->from && state->t + slack < k->until;
  return k->timed == 0 ? INFINITY : known ? k->until : state->t;
}

// Those just after a state, into its modes; true when some are others than before.
static bool set_timed(const PawlStepper* s, PawlKinks* k, PawlState* state, double slack) {
  int* modes = state->modes + k->first_timed;
  size_t bytes = (size_t)k->timed * sizeof(int);
  k->until = pawl_times_look(s->system, state->t + slack, k->lines, k->due);
  k->from = state->t;
  if (++k->ticks > MOST_TICKS) {
    memset(k->due, 0, bytes);
    k->until = state->t + s->def.step;
  }
  bool moved = memcmp(modes, k->due, bytes) != 0;
  memcpy(modes, k->due, bytes);
  return moved;
}

// ---- of the motion ------------------------------------------------------------------------------
void pawl_kinks_free(const PawlStepper* s, const PawlKinks* k, int* modes) {
  for (int i = 0; i < k->count; i++) {
    if (s->system->turns[s->system->turn_count + i].slides) {
      modes[k->first + i] = 0;
    }
  }
}

PawlStatus pawl_kinks_slide(PawlStepper* s, PawlKinks* k, PawlState* state, PawlError* err) {
  const double* z;
  bool moved = k->located && s->system->slider_count > 0;
  for (int round = 0; moved && round < MOST_ROUNDS; round++) {
    PAWL_TRY(look(k, state, &z, err));
    pawl_kinks_in_use(s->system, state->modes, k->before);
    moved = false;
    for (int i = 0; i < k->count; i++) {
      const PawlTurn* turn = &s->system->turns[s->system->turn_count + i];
      int* mode = &state->modes[k->first + i];
      int side = k->before[i] ? pawl_kink_side(turn, z[k->first_surface + i]) : 0;
      if (turn->slides && *mode != side) {
        *mode = side;
        moved = true;
      }
    }
  }
  return PAWL_OK;
}

PawlStatus pawl_kinks_start(PawlStepper* s, PawlKinks* k, PawlState* state, double slack,
                            PawlError* err) {
  const double* z;
  bool moved = k->located;
  if (k->timed > 0) {
    (void)set_timed(s, k, state, slack);
  }
  for (int round = 0; moved && round < MOST_ROUNDS; round++) {
    PAWL_TRY(look(k, state, &z, err));
    moved = false;
    for (int i = 0; i < k->count; i++) {
      const PawlTurn* turn = &s->system->turns[s->system->turn_count + i];
      int side = turn->slides ? 0 : pawl_kink_side(turn, z[k->first_surface + i]);
      moved |= side != state->modes[k->first + i];
      state->modes[k->first + i] = side;
    }
  }
  memset(state->still + k->first_surface, 0, (size_t)k->count);
  return PAWL_OK;
}

void pawl_kinks_begin(PawlKinks* k) {
  k->ticks = 0;
  for (int i = 0; i < k->count; i++) {
    k->left[i] = -INFINITY;
    k->crossings[i] = 0;
  }
}

void pawl_kinks_jumped(PawlKinks* k) {
  for (int i = 0; i < k->count; i++) {
    k->left[i] = -INFINITY;
  }
}

// `often`: it turns more often in a step than is followed, and need not be driven back.
static PawlStatus warn(PawlStepper* s, double t, int kink, bool often, PawlError* err) {
  PawlDynamics* d = &s->dynamics;
  const PawlTurn* turn = &s->system->turns[s->system->turn_count + kink];
  PawlText text = {0};
  enum { MOST_WARNINGS = 8 };
  if (d->warnings++ >= MOST_WARNINGS) {
    return PAWL_OK;
  }
  begin_warning(d, &text);
  pawl_text_printf(&text, "t = %.10g: ", t);
  pawl_model_print(&text, s->system->model, turn->node);
  pawl_text_printf(&text, " in %s ", turn->felt ? "the forces" : "a condition or gap");
  if (often || !turn->felt) {
    pawl_text_printf(&text,
                     "turns again and again within a step; it is followed in pieces of 1/%d of a "
                     "step, and what depends on it is known to that. A smaller step helps",
                     (int)PAWL_KINK_PIECES);
  } else {
    pawl_text_printf(&text,
                     "drives the motion back to where it jumps, from both sides; it is followed in "
                     "pieces of 1/%d of a step, which is of order 1. Friction that sticks is exact "
                     "as a lock with a capacity",
                     (int)PAWL_KINK_PIECES);
  }
  return add_warning(d, &text, err);
}

// ---- gaps ---------------------------------------------------------------------------------------
static bool rows_kink(const PawlStepper* s) {
  return s->system->gaps_kink || (s->system->slips_kink && s->event_driven);
}

static PawlStatus note_gaps(PawlStepper* s, PawlKinks* k, const PawlState* state, PawlError* err) {
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, s->dynamics.plain);
  if (!rows_kink(s)) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, &phase, state, &values, err));
  memcpy(k->gaps, values->g, (size_t)s->sizes.rows * sizeof(double));
  pawl_dynamics_rows(&s->dynamics, values->G, state->v, values->g_t, k->rates);
  return PAWL_OK;
}

// [m or rad] What a gap may differ by where its branches meet. At the origin, at rest, it is what
// forces move in a step.
static double meeting(const PawlStepper* s, const PawlState* state, const PawlValues* values) {
  double place = pawl_dynamics_largest(s->sizes.q, state->q);
  double move = s->def.step * pawl_dynamics_pace(&s->dynamics, state, values);
  return PAWL_MEETS * fmax(place, move);
}

static bool is_closed(const PawlStepper* s, const PawlState* state, int row) {
  return state->modes[pawl_modes_of_contact(s->system, row)] != PAWL_MODE_OPEN;
}

// Whether the rate of a contact or of its slip is another than before the kink.            (C17)
static bool jumps(const PawlStepper* s, const PawlKinks* k, const double* rate, int row) {
  PawlContactFriction of = pawl_system_friction(s->system, row);
  bool other = fabs(rate[row] - k->rates[row]) > k->slow[row];
  for (int i = of.first; i < of.first + of.count; i++) {
    other |= fabs(rate[i] - k->rates[i]) > k->slow[i];
  }
  return other;
}

// The rates of all rows after a kink, and what counts as none.
static PawlStatus look_at_rates(PawlStepper* s, const PawlKinks* k, const PawlState* state,
                                const PawlValues** values, const double** rates, PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, s->dynamics.plain);
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, &phase, state, values, err));
  pawl_pace_rows(&s->dynamics, state, NULL, *values, pawl_pace_rest(&s->dynamics, state->t),
                 k->slow);
  pawl_dynamics_rows(&s->dynamics, (*values)->G, state->v, (*values)->g_t, s->dynamics.room);
  *rates = s->dynamics.room;
  return PAWL_OK;
}

PawlStatus pawl_kinks_let_off(PawlStepper* s, const PawlKinks* k, const PawlState* state, int* next,
                              unsigned char* touched, bool* any, PawlError* err) {
  const PawlValues* values;
  const double* rate;
  int first, end = pawl_modes_contacts(s->system, &first);
  *any = false;
  if (!rows_kink(s) || !s->event_driven) {
    return PAWL_OK;
  }
  PAWL_TRY(look_at_rates(s, k, state, &values, &rate, err));
  for (int i = first; i < end; i++) {
    bool off = values->g[i] > meeting(s, state, values);
    if (is_closed(s, state, i) && (off || jumps(s, k, rate, i))) {
      next[pawl_modes_of_contact(s->system, i)] = PAWL_MODE_OPEN;
      touched[i] = !off;
      *any = true;
    }
  }
  return PAWL_OK;
}

// A closed contact that is driven back to a corner of its own gap is held by both of its sides,
// which are two rows.
static PawlStatus check_corners(PawlStepper* s, const PawlKinks* k, const PawlState* state,
                                PawlError* err) {
  const PawlValues* values;
  const double* rate;
  int first, end = pawl_modes_contacts(s->system, &first);
  if (!rows_kink(s) || !s->event_driven) {
    return PAWL_OK;
  }
  PAWL_TRY(look_at_rates(s, k, state, &values, &rate, err));
  for (int i = first; i < end; i++) {
    if (is_closed(s, state, i) && jumps(s, k, rate, i)) {
      return pawl_fail(
          err, PAWL_ERROR_RUN,
          "t = %.10g: contact '%s' is driven back again and again to a kink of its gap "
          "or slip while it is closed; where two sides of a corner hold it, each of "
          "them is a contact of its own",
          state->t, s->system->model->contacts[i - first].name);
    }
  }
  return PAWL_OK;
}

// A gap that becomes an overlap where kinks change would move the bodies at once.
static PawlStatus check_gaps(PawlStepper* s, PawlKinks* k, const PawlState* state, PawlError* err) {
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, s->dynamics.plain);
  if (!s->system->gaps_kink) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, &phase, state, &values, err));
  int first, end = pawl_modes_contacts(s->system, &first);
  for (int i = first; i < end; i++) {
    if (values->g[i] < fmin(k->gaps[i], 0.0) - meeting(s, state, values)) {
      return pawl_fail(err, PAWL_ERROR_RUN,
                       "t = %.10g: the gap of contact '%s' jumps from %.6g to %.6g: the two "
                       "branches do not meet where it switches",
                       state->t, s->system->model->contacts[i - first].name, k->gaps[i],
                       values->g[i]);
    }
  }
  return PAWL_OK;
}

// v' and lambda for the branches that hold now, as at the start of a run: what comes of the forces
// before, as the accelerations that generalized-alpha carries along, must not go on.
static PawlStatus restart(PawlStepper* s, PawlState* state, PawlError* err) {
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, s->dynamics.plain);
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, &phase, state, &values, err));
  PAWL_TRY(pawl_dynamics_accelerate(&s->dynamics, &phase, values, state->t, state->q, state->v,
                                    state->a, state->lambda, err));
  return s->method->start(s, &phase, state, err);
}

static PawlStatus note_crossing(PawlStepper* s, PawlKinks* k, PawlState* state, int i,
                                PawlError* err) {
  bool back = state->t - k->left[i] <= soon(s);
  bool often = !back && ++k->crossings[i] > MOST_CROSSINGS;
  k->left[i] = state->t;
  if ((back || often) && !state->still[k->first_surface + i]) {
    state->still[k->first_surface + i] = 1;
    return warn(s, state->t, i, often, err);
  }
  return PAWL_OK;
}

// Notes which kinks, of those that chatter or of the others, are on other sides than before. What
// was so only until another kink had moved, too, has not been left.
static PawlStatus note_moved(PawlStepper* s, PawlKinks* k, PawlState* state, bool chattering,
                             bool* any, PawlError* err) {
  *any = false;
  for (int i = 0; i < k->count; i++) {
    if (state->modes[k->first + i] == k->before[i]) {
      continue;
    }
    *any = true;
    if (chattering) {
      k->crossings[i]++;
    } else {
      PAWL_TRY(note_crossing(s, k, state, i, err));
    }
  }
  return PAWL_OK;
}

// Moves the kinks that chatter, or the others, to the sides of the place.
static PawlStatus move(PawlStepper* s, PawlKinks* k, PawlState* state, bool chattering, bool* any,
                       PawlError* err) {
  const double* z;
  bool moved = true;
  memcpy(k->before, state->modes + k->first, (size_t)k->count * sizeof(int));
  for (int round = 0; moved && round < MOST_ROUNDS; round++) {
    PAWL_TRY(look(k, state, &z, err));
    moved = false;
    for (int i = 0; i < k->count; i++) {
      const PawlTurn* turn = &s->system->turns[s->system->turn_count + i];
      int* mode = &state->modes[k->first + i];
      bool chatters = state->still[k->first_surface + i] != 0;
      if (chatters == chattering && pawl_kink_is_left(turn, z[k->first_surface + i], *mode)) {
        *mode = pawl_kink_side(turn, z[k->first_surface + i]);
        moved = true;
      }
    }
    moved = moved && s->system->turned;
  }
  return note_moved(s, k, state, chattering, any, err);
}

PawlStatus pawl_kinks_cross(PawlStepper* s, PawlKinks* k, PawlState* state, bool quiet,
                            PawlError* err) {
  bool any;
  PAWL_TRY(note_gaps(s, k, state, err));
  PAWL_TRY(move(s, k, state, false, &any, err));
  PAWL_TRY(check_gaps(s, k, state, err));
  s->dynamics.info.kinks += any;
  return any && quiet ? restart(s, state, err) : PAWL_OK;
}

PawlStatus pawl_kinks_tick(PawlStepper* s, PawlKinks* k, PawlState* state, double slack,
                           PawlError* err) {
  bool any;
  PAWL_TRY(note_gaps(s, k, state, err));
  if (!set_timed(s, k, state, slack)) {
    return PAWL_OK;
  }
  PAWL_TRY(check_gaps(s, k, state, err));
  s->dynamics.info.kinks++;
  if (k->located) {
    PAWL_TRY(move(s, k, state, false, &any, err));  // what one of time moves
  }
  return restart(s, state, err);
}

bool pawl_kinks_chatter(const PawlKinks* k, const PawlState* state) {
  bool chatters = false;
  for (int i = 0; i < k->count; i++) {
    chatters |= state->still[k->first_surface + i] != 0;
  }
  return chatters;
}

PawlStatus pawl_kinks_follow(PawlStepper* s, PawlKinks* k, PawlState* state, double h,
                             double* longest, PawlError* err) {
  bool any;
  *longest = INFINITY;
  if (!pawl_kinks_chatter(k, state)) {
    return PAWL_OK;
  }
  *longest = h / PAWL_KINK_PIECES;
  PAWL_TRY(note_gaps(s, k, state, err));
  PAWL_TRY(move(s, k, state, true, &any, err));
  PAWL_TRY(any ? check_corners(s, k, state, err) : PAWL_OK);
  return any ? restart(s, state, err) : PAWL_OK;
}

PawlSides* pawl_kinks_watch(PawlKinks* k, const PawlState* state) {
  k->sides = (PawlSides){INFINITY, state->still + k->first_surface};
  return &k->sides;
}

void pawl_kinks_end(const PawlKinks* k, PawlState* state) {
  for (int i = 0; i < k->count; i++) {
    if (k->crossings[i] == 0) {
      state->still[k->first_surface + i] = 0;
    }
  }
}
