// SPDX-License-Identifier: Apache-2.0
// Joints with a capacity that are at rest: which of them hold and which slide
// (docs/theory/events.md).
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "step/events.h"
#include "switch/modes.h"
#include "system/system.h"

enum { BEGINS = 2 };  // of resting: slides from this instant on

// The first joint at rest whose multiplier is beyond its capacity slides against it.
static PawlStatus slide_first(PawlStepper* s, PawlState* state, bool* slides, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  double* lambda = w->impulse_room;  // of least norm where joints share a force
  memcpy(lambda, state->lambda, (size_t)s->sizes.rows * sizeof(double));
  PawlState shown = *state;
  shown.modes = s->modes;
  PAWL_TRY(pawl_step_least_multipliers(s, &shown, lambda, err));
  PawlPoint point = {state->t, state->q, state->v, state->a, lambda, s->modes, state->held};
  *slides = false;
  PAWL_TRY(pawl_eval_run(w->watch, &point, err));
  const double* watch = pawl_eval_values(w->watch)->watch;
  for (int k = 0; k < w->capacity_count; k++) {
    int c = w->capacities[k];
    const PawlConstraint* constraint = &s->system->constraints[c];
    const PawlWatch* at = &s->system->watches[c];
    double force = lambda[constraint->first_row];
    if (s->modes[c] != PAWL_MODE_HELD ||
        fabs(force) <= pawl_triggers_bound(watch[at->capacity], 0.1)) {
      continue;
    }
    s->modes[c] = force > 0.0 ? PAWL_MODE_DOWN : PAWL_MODE_UP;
    state->held[constraint->first_row] = 0.0;
    w->resting[k] = BEGINS;
    *slides = true;
    return PAWL_OK;
  }
  return PAWL_OK;
}

// G v' + gamma of every row, to switcher->rate, with the rows of joints flagged in `open` as if
// they were held.
static PawlStatus second_rates(PawlStepper* s, PawlState* state, const unsigned char* open,
                               const PawlValues** values, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  memcpy(w->tried, s->modes, pawl_mode_bytes(s));
  for (int k = 0; open && k < w->capacity_count; k++) {  // rows of free modes read zero
    int c = w->capacities[k];
    s->modes[c] = open[k] ? PAWL_MODE_HELD : s->modes[c];
  }
  PawlStatus status = pawl_jump_evaluate(s, state, values, err);
  memcpy(s->modes, w->tried, pawl_mode_bytes(s));
  if (status == PAWL_OK) {
    memcpy(w->rate, (*values)->gamma, (size_t)s->sizes.rows * sizeof(double));
    pawl_sparse_add(&s->G, (*values)->G, 1.0, state->a, w->rate);
    pawl_sparse_sizes(&s->G, (*values)->G, NULL, 0.0, w->sizes);
  }
  return status;
}

// How large accelerations are, or would be if nothing held: what is far below is rounding.
static double hardest(const PawlStepper* s, const PawlState* state, const PawlValues* values) {
  double most = pawl_jump_fastest(s, state->a);
  for (int j = 0; j < s->sizes.v; j++) {
    for (int k = s->H.start[j]; k < s->H.start[j + 1]; k++) {
      if (s->H.index[k] == j && values->M[k] > 0.0) {
        most = fmax(most, fabs(values->f[j]) / values->M[k]);
      }
    }
  }
  return most;
}

// True when a row that was left out does not follow from the others at acceleration level.
static PawlStatus contradicts(PawlStepper* s, PawlState* state, bool* yes, PawlError* err) {
  static const double OFF = 1e-9;
  PawlSwitcher* w = s->switcher;
  const PawlValues* values;
  *yes = false;
  PAWL_TRY(second_rates(s, state, NULL, &values, err));
  for (int i = 0; i < s->sizes.rows; i++) {
    double size = w->sizes[i] * hardest(s, state, values) + fabs(values->gamma[i]);
    *yes |= s->redundant[i] && fabs(w->rate[i]) > OFF * size;
  }
  return PAWL_OK;
}

// Then the first joint with a capacity that shares in it cannot hold, and slides the way that the
// others take it: a driven joint that comes to rest and turns.
static PawlStatus slide_driven(PawlStepper* s, PawlState* state, bool* slides, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const PawlValues* values;
  bool off = false;
  int left_out = s->info.redundant_rows;
  *slides = false;
  if (s->redundant) {
    PAWL_TRY(contradicts(s, state, &off, err));
  }
  for (int k = 0; off && !*slides && k < w->capacity_count; k++) {
    int c = w->capacities[k], row = s->system->constraints[c].first_row;
    double held = state->held[row];
    if (s->modes[c] != PAWL_MODE_HELD) {
      continue;
    }
    s->modes[c] = PAWL_MODE_UP;
    state->held[row] = 0.0;
    PAWL_TRY(pawl_switcher_reduce(s, state, err));
    *slides = s->info.redundant_rows < left_out;
    if (!*slides) {  // it has no part in this
      s->modes[c] = PAWL_MODE_HELD;
      state->held[row] = held;
      PAWL_TRY(pawl_switcher_reduce(s, state, err));
      continue;
    }
    w->resting[k] = BEGINS;
    PAWL_TRY(pawl_jump_evaluate(s, state, &values, err));
    PAWL_TRY(pawl_step_accelerate(s, values, state->t, state->a, state->lambda, err));
    PAWL_TRY(second_rates(s, state, w->resting, &values, err));
    s->modes[c] = w->rate[row] >= 0.0 ? PAWL_MODE_UP : PAWL_MODE_DOWN;
  }
  return PAWL_OK;
}

// The rates of joints with a capacity, with velocities v, to switcher->watch.
static PawlStatus joint_rates(PawlStepper* s, const PawlState* state, const double* v,
                              const double** watch, PawlError* err) {
  PawlPoint point = {state->t, state->q, v, state->a, state->lambda, s->modes, state->held};
  *watch = pawl_eval_values(s->switcher->watch)->watch;
  return pawl_eval_run(s->switcher->watch, &point, err);
}

// Sliding joints whose rate is zero. Those that a jump has brought to rest are held, to begin with;
// those that were at rest before have just begun to slide.
static PawlStatus list_resting(PawlStepper* s, PawlState* state, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const double* watch;
  double size = fmax(pawl_jump_fastest(s, state->v), pawl_jump_fastest(s, w->before->v));
  bool refused, any = false;
  PAWL_TRY(joint_rates(s, state, state->v, &watch, err));
  for (int k = 0; k < w->capacity_count; k++) {
    int c = w->capacities[k];
    w->resting[k] = !w->loosened[c] && s->modes[c] >= PAWL_MODE_UP &&
                    fabs(watch[s->system->watches[c].rate]) <= PAWL_REST * size;
    any |= w->resting[k] != 0;
  }
  if (!any) {
    return PAWL_OK;
  }
  PAWL_TRY(joint_rates(s, state, w->before->v, &watch, err));
  any = false;
  for (int k = 0; k < w->capacity_count; k++) {
    int c = w->capacities[k];
    if (w->resting[k] && fabs(watch[s->system->watches[c].rate]) > PAWL_REST * size) {
      s->modes[c] = PAWL_MODE_HELD;
      w->resting[k] = 0;
      w->newly_held = any = true;
      PAWL_TRY(pawl_jump_capture(s, state, c, &refused, err));
    }
  }
  return any ? pawl_switcher_reduce(s, state, err) : PAWL_OK;
}

// The first of these that does not move on in the direction in which it slides is held; one that
// has just exceeded its capacity only if it would move against it.
static PawlStatus hold_first(PawlStepper* s, PawlState* state, bool* holds, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const PawlValues* values;
  bool any = false;
  *holds = false;
  for (int k = 0; k < w->capacity_count; k++) {
    any |= w->resting[k] != 0;
  }
  if (!any) {
    return PAWL_OK;
  }
  PAWL_TRY(second_rates(s, state, w->resting, &values, err));
  const double* second = w->rate;
  double rounding = 1e-12 * hardest(s, state, values);
  for (int k = 0; k < w->capacity_count; k++) {
    int c = w->capacities[k], row = s->system->constraints[c].first_row;
    bool refused;
    double ahead = s->modes[c] == PAWL_MODE_UP ? second[row] : -second[row];
    double least = (w->resting[k] == BEGINS ? -rounding : rounding) * w->sizes[row];
    if (!w->resting[k] || ahead > least || (ahead == 0.0 && w->resting[k] == BEGINS)) {
      continue;
    }
    s->modes[c] = PAWL_MODE_HELD;
    w->resting[k] = 0;
    w->newly_held = *holds = true;
    return pawl_jump_capture(s, state, c, &refused, err);
  }
  return PAWL_OK;
}

// Each joint with a capacity that is at rest either holds within it, or slides in the direction in
// which it then accelerates. Found by changing one at a time, the first that does not fit.
PawlStatus pawl_jump_settle(PawlStepper* s, PawlState* state, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const PawlValues* values;
  bool changes = true;
  int capacities = w ? w->capacity_count : 0;
  if (capacities > 0) {
    w->newly_held = false;
    PAWL_TRY(list_resting(s, state, err));
  }
  for (int round = 0; changes; round++) {
    PAWL_TRY(pawl_jump_evaluate(s, state, &values, err));
    PAWL_TRY(pawl_step_accelerate(s, values, state->t, state->a, state->lambda, err));
    changes = false;
    if (capacities > 0 && round < 4 * capacities + 8) {
      PAWL_TRY(slide_driven(s, state, &changes, err));
      if (!changes) {
        PAWL_TRY(slide_first(s, state, &changes, err));
      }
      if (!changes) {
        PAWL_TRY(hold_first(s, state, &changes, err));
      }
      if (changes) {
        PAWL_TRY(pawl_switcher_reduce(s, state, err));
      }
    }
  }
  if (capacities > 0) {
    PAWL_TRY(pawl_jump_evaluate(s, state, &values, err));  // methods start from these values
  }
  if (capacities > 0 && w->newly_held) {  // takes rounding out of their rates
    pawl_modes_active(s->system, s->modes, w->set);
    memset(w->persistent, 0, (size_t)s->sizes.rows);
    PAWL_TRY(pawl_jump_post(s, state, values, w->impulse_room, err));
  }
  return PAWL_OK;
}
