// SPDX-License-Identifier: Apache-2.0
// What a stepper needs when constraints switch: its workspace, the rows in force, the log; and time
// stepping through regions (docs/theory/switching.md): a step is taken with the modes that hold at
// its end. They are found by taking the step with the present ones, looking where it ends, and
// taking it again with the modes of that place until they agree; when modes return that were tried
// before, the last are kept.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/model.h"
#include "step/events.h"
#include "switch/modes.h"
#include "system/system.h"

enum { MOST_TRIALS = 8 };
static const double MOST_SURFACE_NUMBERS = 1e7;
static const double UNCOVERED =
    1e-6;  // z this far outside with no other region is a gap between regions

// ---- creation -----------------------------------------------------------------------------------
static PawlStatus make_instants(PawlStepper* s, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  for (int k = 0; k < PAWL_MOST_INSTANTS; k++) {
    w->instants[k] = (PawlInstant){.from = PAWL_NEW(&s->arena, int, s->sizes.modes),
                                   .to = PAWL_NEW(&s->arena, int, s->sizes.modes),
                                   .q = PAWL_NEW(&s->arena, double, s->sizes.q),
                                   .v_before = PAWL_NEW(&s->arena, double, s->sizes.v),
                                   .v_after = PAWL_NEW(&s->arena, double, s->sizes.v),
                                   .impulse = PAWL_NEW(&s->arena, double, s->sizes.rows),
                                   .loss = PAWL_NEW(&s->arena, double, s->sizes.rows)};
    const PawlInstant* i = &w->instants[k];
    if (!i->from || !i->to || !i->q || !i->v_before || !i->v_after || !i->impulse || !i->loss) {
      return pawl_fail_memory(err);
    }
  }
  return PAWL_OK;
}

static PawlStatus make_transition(PawlStepper* s, PawlError* err) {
  PawlTransitionForm form;
  PAWL_TRY(pawl_transition_parse(s->def.transition, &form, err));
  if (form != PAWL_TRANSITION_FULL && s->sizes.v > PAWL_LARGEST_DENSE) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "transition = %s: is made of dense matrices, and %d velocities are more than "
                     "%d; use full",
                     s->def.transition, s->sizes.v, (int)PAWL_LARGEST_DENSE);
  }
  return pawl_transition_create(form, &s->H, &s->G, s->kkt, &s->switcher->transition, err);
}

PawlStatus pawl_switcher_create(PawlStepper* s, bool event_driven, PawlError* err) {
  PawlSwitcher* w = PAWL_NEW(&s->arena, PawlSwitcher, 1);
  s->switcher = w;
  if (!w) {
    return pawl_fail_memory(err);
  }
  w->event_driven = event_driven;
  int nonzeros_G = s->G.start[s->sizes.v];
  if (!s->active) {
    s->active = PAWL_NEW(&s->arena, unsigned char, s->sizes.rows);
  }
  w->active_before = PAWL_NEW(&s->arena, unsigned char, s->sizes.rows);
  w->next = PAWL_NEW(&s->arena, int, s->sizes.modes);
  w->active_modes = PAWL_NEW(&s->arena, int, s->sizes.modes);
  w->tried = PAWL_NEW(&s->arena, int, (size_t)s->sizes.modes* MOST_TRIALS);
  w->G_before = PAWL_NEW(&s->arena, double, nonzeros_G);
  w->B = PAWL_NEW(&s->arena, double, nonzeros_G);
  w->rate = PAWL_NEW(&s->arena, double, s->sizes.rows);
  w->spare_v = PAWL_NEW(&s->arena, double, s->sizes.v);
  w->spare_impulse = PAWL_NEW(&s->arena, double, s->sizes.rows);
  w->impulse = PAWL_NEW(&s->arena, double, s->sizes.rows);
  w->sizes = PAWL_NEW(&s->arena, double, s->sizes.rows);
  w->impulse_room = PAWL_NEW(&s->arena, double, s->sizes.rows);
  w->row_loss = PAWL_NEW(&s->arena, double, s->sizes.rows);
  w->set = PAWL_NEW(&s->arena, unsigned char, s->sizes.rows);
  w->persistent = PAWL_NEW(&s->arena, unsigned char, s->sizes.rows);
  w->redundant = PAWL_NEW(&s->arena, unsigned char, s->sizes.rows);
  w->identity = PAWL_NEW(&s->arena, double, s->nonzeros_H);
  if (!w->impulse || !w->sizes || !w->impulse_room || !w->row_loss || !w->set || !w->persistent ||
      !w->redundant || !w->identity) {
    return pawl_fail_memory(err);
  }
  if (!s->active || !w->active_before || !w->next || !w->active_modes || !w->tried ||
      !w->G_before || !w->B || !w->spare_v || !w->spare_impulse || !w->rate) {
    return pawl_fail_memory(err);
  }
  size_t guards = (size_t)(s->system->guard_count + s->system->turn_count);
  w->held = PAWL_NEW(&s->arena, unsigned char, guards);
  w->held_modes = PAWL_NEW(&s->arena, int, s->sizes.modes);
  w->z = PAWL_NEW(&s->arena, double, guards);
  w->guards = PAWL_NEW(&s->arena, int, guards);
  if ((double)guards * s->sizes.v <= MOST_SURFACE_NUMBERS) {  // beyond, no surface is held
    w->Z = PAWL_NEW(&s->arena, double, guards*(size_t)s->sizes.v);
  }
  int most_rows = 0;
  for (int c = 0; c < s->system->constraint_count; c++) {
    int of_c = s->system->constraints[c].row_count;
    most_rows = of_c > most_rows ? of_c : most_rows;
  }
  w->rows = PAWL_NEW(&s->arena, double, (size_t)(most_rows + 1) * (size_t)s->sizes.v);
  if (!w->held || !w->held_modes || !w->z || !w->guards || !w->rows) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(make_instants(s, err));
  PAWL_TRY(pawl_triggers_create(s, err));
  PAWL_TRY(make_transition(s, err));
  if (s->sizes.v <= PAWL_LARGEST_DENSE) {
    PAWL_TRY(pawl_impact_create(s->sizes.v, s->sizes.rows, &w->impact, err));
  }
  PAWL_TRY(pawl_state_create(s, &w->before, err));
  PAWL_TRY(pawl_state_create(s, &w->kept, err));
  PAWL_TRY(pawl_state_create(s, &w->mark, err));
  PAWL_TRY(pawl_eval_create(s->system, PAWL_ENERGY, &w->energy, err));
  PAWL_TRY(pawl_eval_create(s->system, PAWL_SURFACES, &w->surfaces, err));
  PAWL_TRY(pawl_eval_create(s->system, PAWL_WATCHES, &w->watch, err));
  return pawl_eval_create(s->system, PAWL_SWITCHING, &w->eval, err);
}

void pawl_switcher_destroy(PawlStepper* s) {
  PawlSwitcher* w = s->switcher;
  if (w) {
    pawl_impact_destroy(w->impact);
    pawl_state_destroy(w->before);
    pawl_state_destroy(w->kept);
    pawl_state_destroy(w->mark);
    pawl_eval_destroy(w->watch);
    pawl_transition_destroy(w->transition);
    pawl_eval_destroy(w->energy);
    pawl_eval_destroy(w->eval);
    pawl_eval_destroy(w->surfaces);
  }
}

// ---- small things -------------------------------------------------------------------------------
static PawlPoint point_of(const PawlState* state, const int* modes) {
  return (PawlPoint){state->t, state->q, state->v, state->a, state->lambda, modes, state->held};
}

// The arrays of a state lie behind each other, from q to the modes (pawl_state_create).
void pawl_switcher_copy(const PawlStepper* s, PawlState* to, const PawlState* from) {
  size_t bytes = (size_t)((const char*)(from->modes + s->sizes.modes) - (const char*)from->q);
  to->t = from->t;
  to->step = from->step;
  memcpy(to->q, from->q, bytes);
}

PawlStatus pawl_switcher_energy(PawlStepper* s, const PawlState* state, double* energy,
                                PawlError* err) {
  PawlPoint point = point_of(state, s->modes);
  PAWL_TRY(pawl_eval_run(s->switcher->energy, &point, err));
  const double* e = pawl_eval_values(s->switcher->energy)->energy;
  *energy = e[0] + e[1];
  return PAWL_OK;
}

void pawl_switcher_activate(PawlStepper* s) {
  PawlSwitcher* w = s->switcher;
  if (w->active_known && memcmp(w->active_modes, s->modes, pawl_mode_bytes(s)) == 0) {
    return;
  }
  w->active_known = true;
  memcpy(w->active_modes, s->modes, pawl_mode_bytes(s));
  pawl_modes_active(s->system, s->modes, s->active);
  for (int i = 0; s->redundant && i < s->sizes.rows; i++) {
    s->active[i] = s->active[i] && !s->redundant[i];
  }
}

// The rows that follow from others are named once for each set.
static PawlStatus warn_redundant(PawlStepper* s, double t, int count, PawlError* err) {
  enum { MOST_WARNINGS = 8 };
  PawlText text = {0};
  if (s->warnings++ >= MOST_WARNINGS) {
    return PAWL_OK;
  }
  pawl_text_printf(&text, "%s%st = %.10g: redundant constraints: ", s->warning ? s->warning : "",
                   s->warning ? "\n" : "", t);
  pawl_step_list_rows(s, s->redundant, &text);
  pawl_text_printf(&text, " follow%s from the others; multipliers are those of minimum norm",
                   count == 1 ? "s" : "");
  char* kept = text.failed ? NULL : pawl_arena_copy(&s->arena, text.s, text.length);
  pawl_text_free(&text);
  s->warning = kept;
  return kept ? PAWL_OK : pawl_fail_memory(err);
}

PawlStatus pawl_switcher_reduce(PawlStepper* s, const PawlState* state, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  PawlPoint point = {state->t, state->q, state->v, NULL, NULL, s->modes, state->held};
  s->redundant = NULL;
  s->info.redundant_rows = 0;
  w->active_known = false;
  pawl_switcher_activate(s);
  PAWL_TRY(pawl_eval_run(s->eval_start, &point, err));
  const PawlValues* values = pawl_eval_values(s->eval_start);
  PawlStatus status = pawl_kkt_factor(s->kkt, values->M, values->G, values->G, s->active);
  if (status != PAWL_RETRY) {
    return status == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
  }
  int column, count = 0;
  status = pawl_kkt_diagnose(s->kkt, values->M, values->G, s->active, &column, w->redundant);
  for (int i = 0; status == PAWL_OK && i < s->sizes.rows; i++) {
    count += w->redundant[i] != 0;
  }
  if (status == PAWL_ERROR_MEMORY) {
    return pawl_fail_memory(err);
  }
  if (status != PAWL_OK || column >= 0 || count == 0) {
    return pawl_step_singular(s, values->M, values->G, state->t, err);
  }
  s->redundant = w->redundant;
  s->info.redundant_rows = count;
  w->active_known = false;
  pawl_switcher_activate(s);
  return warn_redundant(s, state->t, count, err);
}

PawlStatus pawl_switcher_start(PawlStepper* s, PawlState* state, PawlError* err) {
  memset(s->modes, 0, pawl_mode_bytes(s));
  if (!s->switcher) {
    return PAWL_OK;
  }
  PawlPoint point = point_of(state, s->modes);
  PAWL_TRY(pawl_eval_run(s->switcher->eval, &point, err));
  const PawlValues* values = pawl_eval_values(s->switcher->eval);
  PAWL_TRY(pawl_modes_start(s->system, values->z, values->z_rate, state->modes, err));
  memcpy(s->modes, state->modes, pawl_mode_bytes(s));
  s->switcher->active_known = s->switcher->held_known = false;
  s->switcher->stop = false;
  PAWL_TRY(pawl_triggers_start(s, state, err));
  pawl_switcher_activate(s);
  return PAWL_OK;
}

// ---- the log ------------------------------------------------------------------------------------
void pawl_switcher_log(PawlStepper* s, double t, const double* q, const double* v_before,
                       const double* v_after, const double* impulse, double energy_lost) {
  PawlSwitcher* w = s->switcher;
  if (w->instant_count == PAWL_MOST_INSTANTS) {
    s->info.unlogged++;
    return;
  }
  PawlInstant* i = &w->instants[w->instant_count++];
  i->contact = i->event = i->refused = -1;
  i->t = t;
  i->energy_lost = energy_lost;
  memcpy((int*)i->from, w->before->modes, pawl_mode_bytes(s));
  memcpy((int*)i->to, s->modes, pawl_mode_bytes(s));
  memcpy((double*)i->q, q, (size_t)s->sizes.q * sizeof(double));
  memcpy((double*)i->v_before, v_before, (size_t)s->sizes.v * sizeof(double));
  memcpy((double*)i->v_after, v_after, (size_t)s->sizes.v * sizeof(double));
  memcpy((double*)i->impulse, impulse, (size_t)s->sizes.rows * sizeof(double));
  memcpy((double*)i->loss, w->row_loss, (size_t)s->sizes.rows * sizeof(double));
  memset(w->row_loss, 0, (size_t)s->sizes.rows * sizeof(double));
}

void pawl_switcher_log_contact(PawlStepper* s, int row, double impulse, double energy_lost,
                               const PawlState* before, double t, const double* q_after,
                               const double* v_after) {
  PawlSwitcher* w = s->switcher;
  if (w->instant_count == PAWL_MOST_INSTANTS) {
    s->info.unlogged++;
    return;
  }
  memset(w->rate, 0, (size_t)s->sizes.rows * sizeof(double));
  w->rate[row] = impulse;
  memcpy(w->before->modes, before->modes, pawl_mode_bytes(s));
  pawl_switcher_log(s, t, q_after, before->v, v_after, w->rate, energy_lost);
  w->instants[w->instant_count - 1].contact = row;
}

// An instant at which nothing jumps; NULL when the log is full.
static PawlInstant* log_quiet(PawlStepper* s, const PawlState* state, double t) {
  PawlSwitcher* w = s->switcher;
  int count = w->instant_count;
  memset(w->impulse, 0, (size_t)s->sizes.rows * sizeof(double));
  memcpy(w->before->modes, s->modes, pawl_mode_bytes(s));
  pawl_switcher_log(s, t, state->q, state->v, state->v, w->impulse, 0.0);
  return w->instant_count > count ? &w->instants[count] : NULL;
}

void pawl_switcher_log_event(PawlStepper* s, const PawlState* state, int event, double t) {
  PawlInstant* i = log_quiet(s, state, t);
  if (i) {
    i->event = event;
  }
}

void pawl_switcher_log_refusal(PawlStepper* s, const PawlState* state, int constraint) {
  PawlInstant* i = log_quiet(s, state, state->t);
  if (i) {
    i->refused = constraint;
  }
}

int pawl_stepper_instants(const PawlStepper* s) {
  return s->switcher ? s->switcher->instant_count : 0;
}

const PawlInstant* pawl_stepper_instant(const PawlStepper* s, int index) {
  return &s->switcher->instants[index];
}

// ---- time stepping ------------------------------------------------------------------------------
static bool was_tried(const PawlStepper* s, int count) {
  for (int k = 0; k < count; k++) {
    if (memcmp(s->switcher->tried + k * s->sizes.modes, s->switcher->next, pawl_mode_bytes(s)) ==
        0) {
      return true;
    }
  }
  return false;
}

// The gradient at the beginning of the step, with the modes before.
PawlStatus pawl_switcher_keep_gradient(PawlStepper* s, const PawlState* state, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  PawlPoint point = point_of(state, state->modes);
  PAWL_TRY(pawl_eval_run(s->eval_start, &point, err));
  memcpy(w->G_before, pawl_eval_values(s->eval_start)->G,
         (size_t)s->G.start[s->sizes.v] * sizeof(double));
  memcpy(w->active_before, s->active, (size_t)s->sizes.rows);
  return PAWL_OK;
}

static PawlStatus finish_crossing(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  double before, after;
  PAWL_TRY(pawl_switcher_energy(s, w->before, &before, err));
  PAWL_TRY(pawl_switcher_energy(s, state, &after, err));
  double* impulse = w->rate;
  for (int i = 0; i < s->sizes.rows; i++) {
    impulse[i] = s->method->impulse ? s->method->impulse(s, i) : h * state->lambda[i];
  }
  pawl_switcher_log(s, state->t, state->q, w->before->v, state->v, impulse, before - after);
  memcpy(state->modes, s->modes, pawl_mode_bytes(s));
  if (s->method->forget) {
    s->method->forget(s, state);
  }
  return PAWL_OK;
}

PawlStatus pawl_switcher_no_region(const PawlStepper* s, const PawlState* state, int constraint,
                                   PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: constraint '%s' leaves the region of its mode and no other region "
                   "holds it; the regions (where) must cover the motion",
                   state->t, s->system->constraints[constraint].name);
}

PawlStatus pawl_switcher_time_step(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  int logged = w->instant_count;
  PAWL_TRY(pawl_switcher_hold(s, state, err));
  pawl_switcher_copy(s, w->before, state);
  memcpy(s->modes, state->modes, pawl_mode_bytes(s));
  s->crossing = false;
  for (int trial = 0; trial < MOST_TRIALS; trial++) {
    pawl_switcher_activate(s);
    w->instant_count = logged;  // drops those of the trial before
    PawlStatus status = s->method->step(s, state, h, err);
    status = status ? status : pawl_switcher_look(s, state, err);
    if (status != PAWL_OK) {
      pawl_switcher_copy(s, state, w->before);
      return status;
    }
    memcpy(w->tried + trial * s->sizes.modes, s->modes, pawl_mode_bytes(s));
    const double* z = s->switcher->seen;
    int constraint = 0;
    if (!pawl_modes_next(s->system, z, 0.0, s->modes, w->next)) {
      if (pawl_modes_margin(s->system, z, s->modes, &constraint) < -UNCOVERED) {
        status = pawl_switcher_no_region(s, state, constraint, err);
        pawl_switcher_copy(s, state, w->before);
        return status;
      }
      break;
    }
    if (was_tried(s, trial + 1) || trial == MOST_TRIALS - 1) {
      break;
    }
    pawl_switcher_copy(s, state, w->before);
    if (!s->crossing) {
      PAWL_TRY(pawl_switcher_keep_gradient(s, state, err));
    }
    memcpy(s->modes, w->next, pawl_mode_bytes(s));
    s->crossing = memcmp(s->modes, state->modes, pawl_mode_bytes(s)) != 0;
  }
  return s->crossing ? finish_crossing(s, state, h, err) : PAWL_OK;
}
