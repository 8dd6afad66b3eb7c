// SPDX-License-Identifier: Apache-2.0
#include "switch/stick.h"

#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/hold.h"
#include "switch/share.h"
#include "switch/tolerances.h"
#include "system/system.h"

enum { BEGINS = 2 };  // of resting: slides from this instant on

PawlStatus pawl_stick_create(PawlWatching* w, const unsigned char* loosened, PawlStick* s,
                             PawlError* err) {
  PawlDynamics* d = w->dynamics;
  *s = (PawlStick){.dynamics = d,
                   .watching = w,
                   .loosened = loosened,
                   .rate = PAWL_NEW(d->arena, double, d->sizes.rows),
                   .sizes = PAWL_NEW(d->arena, double, d->sizes.rows),
                   .modes = PAWL_NEW(d->arena, int, d->sizes.modes)};
  return d->arena->failed ? pawl_fail_memory(err) : PAWL_OK;
}

static int row_of(const PawlStick* s, int k) {
  return s->dynamics->system->constraints[s->watching->joints[k]].first_row;
}

static PawlStatus evaluate(PawlStick* s, const PawlState* state, const PawlValues** values,
                           PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, false);
  return pawl_dynamics_evaluate(s->dynamics, &phase, state, values, err);
}

// Which rows follow from others, anew.
static PawlStatus reduce(PawlStick* s, PawlState* state, PawlError* err) {
  const PawlValues* values;
  PAWL_TRY(evaluate(s, state, &values, err));
  return pawl_dynamics_reduce(s->dynamics, state, values, err);
}

static PawlStatus accelerate(PawlStick* s, PawlState* state, PawlError* err) {
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, false);
  PAWL_TRY(evaluate(s, state, &values, err));
  return pawl_dynamics_accelerate(s->dynamics, &phase, values, state->t, state->a, state->lambda,
                                  err);
}

// A joint sticks where it is.
static PawlStatus hold(PawlStick* s, PawlState* state, int k, PawlError* err) {
  const PawlValues* values;
  const double* watch = pawl_eval_values(s->watching->eval)->watch;
  int c = s->watching->joints[k];
  bool refused;
  state->modes[c] = PAWL_MODE_HELD;
  pawl_hold_drop(s->dynamics, state, c);
  PAWL_TRY(evaluate(s, state, &values, err));
  pawl_dynamics_row_sizes(s->dynamics, values->G, state->q, 0.0, s->sizes);
  pawl_hold_take(s->dynamics, state, c, values->g, s->sizes, watch, &refused);
  return PAWL_OK;
}

static void slide(PawlStick* s, PawlState* state, int k, bool up) {
  int c = s->watching->joints[k];
  state->modes[c] = up ? PAWL_MODE_UP : PAWL_MODE_DOWN;
  pawl_hold_drop(s->dynamics, state, c);
  s->watching->resting[k] = BEGINS;
}

// The first joint at rest whose multiplier is beyond its capacity slides against it.
static PawlStatus slide_first(PawlStick* s, PawlState* state, bool* slides, PawlError* err) {
  PawlWatching* w = s->watching;
  const double* watch;
  PawlPhase phase = pawl_phase_of(state, false);
  memcpy(w->lambda, state->lambda, (size_t)s->dynamics->sizes.rows * sizeof(double));
  PAWL_TRY(pawl_share_multipliers(w, state, w->lambda, err));
  PAWL_TRY(pawl_watch_look(w, &phase, state, state->v, state->a, w->lambda, &watch, err));
  *slides = false;
  for (int k = 0; k < w->joint_count && !*slides; k++) {
    int c = w->joints[k];
    double force = w->lambda[row_of(s, k)];
    double capacity = watch[s->dynamics->system->watches[c].capacity];
    if (state->modes[c] == PAWL_MODE_HELD && fabs(force) > pawl_watch_bound(capacity, 0.1)) {
      slide(s, state, k, force < 0.0);
      *slides = true;
    }
  }
  return PAWL_OK;
}

// G v' + gamma of every row, to s->rate, with the rows of joints flagged in `open` as if they were
// held (rows of free modes read zero).
static PawlStatus second_rates(PawlStick* s, const PawlState* state, const unsigned char* open,
                               const PawlValues** values, PawlError* err) {
  PawlDynamics* d = s->dynamics;
  memcpy(s->modes, state->modes, pawl_phase_mode_bytes(state));
  for (int k = 0; open && k < s->watching->joint_count; k++) {
    int c = s->watching->joints[k];
    s->modes[c] = open[k] ? PAWL_MODE_HELD : s->modes[c];
  }
  PawlPhase phase = {.modes = s->modes, .held = state->held};
  PAWL_TRY(pawl_dynamics_evaluate(d, &phase, state, values, err));
  pawl_dynamics_rows(d, (*values)->G, state->a, (*values)->gamma, s->rate);
  pawl_sparse_sizes(&d->G, (*values)->G, NULL, 0.0, s->sizes);
  return PAWL_OK;
}

// How large accelerations are, or would be if nothing held: what is far below is rounding.
static double hardest(const PawlStick* s, const PawlState* state, const PawlValues* values) {
  const PawlDynamics* d = s->dynamics;
  double most = pawl_dynamics_largest(d->sizes.v, state->a);
  for (int j = 0; j < d->sizes.v; j++) {
    for (int k = d->H.start[j]; k < d->H.start[j + 1]; k++) {
      if (d->H.index[k] == j && values->M[k] > 0.0) {
        most = fmax(most, fabs(values->f[j]) / values->M[k]);
      }
    }
  }
  return most;
}

// True when a row that was left out does not follow from the others at acceleration level.
static PawlStatus contradicts(PawlStick* s, const PawlState* state, bool* yes, PawlError* err) {
  const PawlValues* values;
  *yes = false;
  PAWL_TRY(second_rates(s, state, NULL, &values, err));
  for (int i = 0; i < s->dynamics->sizes.rows; i++) {
    double size = s->sizes[i] * hardest(s, state, values) + fabs(values->gamma[i]);
    *yes |= state->redundant[i] && fabs(s->rate[i]) > PAWL_CONTRADICTS * size;
  }
  return PAWL_OK;
}

// Then the first joint with a capacity that shares in it cannot hold, and slides the way that the
// others take it: a driven joint that comes to rest and turns.
static PawlStatus slide_driven(PawlStick* s, PawlState* state, bool* slides, PawlError* err) {
  PawlWatching* w = s->watching;
  const PawlValues* values;
  bool off = false;
  int left_out = state->redundant_count;
  *slides = false;
  if (left_out > 0) {
    PAWL_TRY(contradicts(s, state, &off, err));
  }
  for (int k = 0; off && !*slides && k < w->joint_count; k++) {
    int c = w->joints[k], row = row_of(s, k);
    double held = state->held[row];
    if (state->modes[c] != PAWL_MODE_HELD) {
      continue;
    }
    slide(s, state, k, true);
    PAWL_TRY(reduce(s, state, err));
    *slides = state->redundant_count < left_out;
    if (!*slides) {  // it has no part in this
      state->modes[c] = PAWL_MODE_HELD;
      state->held[row] = held;
      w->resting[k] = 0;
      PAWL_TRY(reduce(s, state, err));
      continue;
    }
    PAWL_TRY(accelerate(s, state, err));
    PAWL_TRY(second_rates(s, state, w->resting, &values, err));
    state->modes[c] = s->rate[row] >= 0.0 ? PAWL_MODE_UP : PAWL_MODE_DOWN;
  }
  return PAWL_OK;
}

// Flags the sliding joints whose rate is zero with these velocities.
static PawlStatus list_still(PawlStick* s, const PawlState* state, const double* v, double size,
                             unsigned char* still, PawlError* err) {
  PawlWatching* w = s->watching;
  PawlPhase phase = pawl_phase_of(state, false);
  const double* watch;
  PAWL_TRY(pawl_watch_look(w, &phase, state, v, state->a, state->lambda, &watch, err));
  for (int k = 0; k < w->joint_count; k++) {
    int c = w->joints[k];
    still[k] = !s->loosened[c] && state->modes[c] >= PAWL_MODE_UP &&
               fabs(watch[s->dynamics->system->watches[c].rate]) <= PAWL_REST * size;
  }
  return PAWL_OK;
}

// Sliding joints whose rate is zero. Those that a jump has brought to rest are held, to begin with;
// those that were at rest before have just begun to slide.
static PawlStatus list_resting(PawlStick* s, PawlState* state, const double* v_before,
                               bool* newly_held, PawlError* err) {
  PawlWatching* w = s->watching;
  int n = s->dynamics->sizes.v;
  unsigned char* before = (unsigned char*)s->modes;  // as many bytes as there are joints, at least
  double size = fmax(pawl_dynamics_largest(n, state->v), pawl_dynamics_largest(n, v_before));
  bool any = false;
  PAWL_TRY(list_still(s, state, v_before, size, before, err));
  PAWL_TRY(list_still(s, state, state->v, size, w->resting, err));
  for (int k = 0; k < w->joint_count; k++) {
    if (w->resting[k] && !before[k]) {
      w->resting[k] = 0;
      PAWL_TRY(hold(s, state, k, err));
      *newly_held = any = true;
    }
  }
  return any ? reduce(s, state, err) : PAWL_OK;
}

// The first of these that does not move on in the direction in which it slides is held; one that
// has just exceeded its capacity only if it would move against it.
static PawlStatus hold_first(PawlStick* s, PawlState* state, bool* holds, PawlError* err) {
  static const double ROUNDING = 1e-12;  // of the accelerations
  PawlWatching* w = s->watching;
  const PawlValues* values;
  bool any = false;
  *holds = false;
  for (int k = 0; k < w->joint_count; k++) {
    any |= w->resting[k] != 0;
  }
  if (!any) {
    return PAWL_OK;
  }
  PAWL_TRY(second_rates(s, state, w->resting, &values, err));
  double rounding = ROUNDING * hardest(s, state, values);
  for (int k = 0; k < w->joint_count; k++) {
    int row = row_of(s, k);
    bool begins = w->resting[k] == BEGINS;
    double ahead = state->modes[w->joints[k]] == PAWL_MODE_UP ? s->rate[row] : -s->rate[row];
    double least = (begins ? -rounding : rounding) * s->sizes[row];
    if (w->resting[k] && !(ahead > least) && !(ahead == 0.0 && begins)) {
      w->resting[k] = 0;
      *holds = true;
      return hold(s, state, k, err);
    }
  }
  return PAWL_OK;
}

// Each joint with a capacity that is at rest either holds within it, or slides in the direction in
// which it then accelerates. Found by changing one at a time, the first that does not fit.
PawlStatus pawl_stick_settle(PawlStick* s, PawlState* state, const double* v_before,
                             bool* newly_held, PawlError* err) {
  int joints = s->watching->joint_count;
  *newly_held = false;
  if (joints == 0) {
    return accelerate(s, state, err);
  }
  PAWL_TRY(list_resting(s, state, v_before, newly_held, err));
  bool changes = true;
  for (int round = 0; changes; round++) {
    PAWL_TRY(accelerate(s, state, err));
    changes = false;
    if (round < 4 * joints + 8) {
      bool holds = false;
      PAWL_TRY(slide_driven(s, state, &changes, err));
      if (!changes) {
        PAWL_TRY(slide_first(s, state, &changes, err));
      }
      if (!changes) {
        PAWL_TRY(hold_first(s, state, &holds, err));
      }
      changes |= holds;
      *newly_held |= holds;
    }
    if (changes) {
      PAWL_TRY(reduce(s, state, err));
    }
  }
  const PawlValues* values;
  return evaluate(s, state, &values, err);
}
