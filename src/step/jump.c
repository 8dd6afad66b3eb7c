// SPDX-License-Identifier: Apache-2.0
// The instant of a switch: reference values, the jump of the velocities, and which joints stick
// (docs/theory/events.md, docs/theory/impact.md, docs/theory/transition.md).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/model.h"
#include "step/events.h"
#include "switch/modes.h"
#include "system/system.h"

static const double SMALLEST_SIZE = 1e-3;  // of the terms of a row

// ---- meeting ------------------------------------------------------------------------------------
// How large the terms of each row are, to switcher->sizes; a velocity is no coordinate where there
// are rotations.
static const double* row_sizes(PawlStepper* s, const PawlState* state, const double* G) {
  bool same = s->sizes.q == s->sizes.v;
  pawl_sparse_sizes(&s->G, G, same ? state->q : NULL, 0.0, s->switcher->sizes);
  return s->switcher->sizes;
}

// G v + g_t of every row, to switcher->rate.
static const double* rates(PawlStepper* s, const PawlState* state, const PawlValues* values) {
  double* rate = s->switcher->rate;
  memcpy(rate, values->g_t, (size_t)s->sizes.rows * sizeof(double));
  pawl_sparse_add(&s->G, values->G, 1.0, state->v, rate);
  return rate;
}

// The largest |g_i| in force, less what `slack` seconds of motion make, relative to the terms of
// its row.
static double worst_row(PawlStepper* s, const PawlState* state, const PawlValues* values,
                        const unsigned char* active, double slack, int* row) {
  const double *size = row_sizes(s, state, values->G), *rate = rates(s, state, values);
  double worst = 0.0;
  for (int i = 0; i < s->sizes.rows; i++) {
    double off = fabs(values->g[i]) - slack * fabs(rate[i]);
    if (active[i] && off > worst * (size[i] + SMALLEST_SIZE)) {
      worst = off / (size[i] + SMALLEST_SIZE);
      *row = i;
    }
  }
  return worst;
}

// The new equations must hold where they begin, but for the drift that the old ones had and the
// tolerance of the instant, or the motion would go on beside them.
static PawlStatus check_meeting(PawlStepper* s, const PawlState* state, double drift,
                                const PawlValues* values, PawlError* err) {
  static const double MEET_TOLERANCE = 1e-6, MORE_THAN_BEFORE = 10.0;
  int row = 0, number;
  double off = worst_row(s, state, values, s->active, 2 * s->def.event_tolerance, &row);
  if (off <= MEET_TOLERANCE + MORE_THAN_BEFORE * drift) {
    return PAWL_OK;
  }
  const char* name = pawl_system_row_name(s->system, row, &number);
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: constraint '%s' (row %d) is off by %.3g where its new mode begins: "
                   "the two branches do not meet on the switching surface",
                   state->t, name, number + 1, values->g[row]);
}

// Evaluates M, f, g, G, ... at a state in stepper->modes.
PawlStatus pawl_jump_evaluate(PawlStepper* s, const PawlState* state, const PawlValues** values,
                              PawlError* err) {
  PawlPoint point = {state->t, state->q, state->v, NULL, NULL, s->modes, state->held};
  *values = pawl_eval_values(s->eval_start);
  return pawl_eval_run(s->eval_start, &point, err);
}

// ---- reference values ---------------------------------------------------------------------------
PawlStatus pawl_jump_capture(PawlStepper* s, PawlState* state, int c, bool* refused,
                             PawlError* err) {
  static const double MEETS = 1e-6;
  const PawlConstraint* k = &s->system->constraints[c];
  const PawlValues* values;
  int mode = s->modes[c], at = s->system->watches[c].to;
  double to = at >= 0 ? pawl_eval_values(s->switcher->watch)->watch[at] : 0.0;
  memset(state->held + k->first_row, 0, (size_t)k->row_count * sizeof(double));
  s->modes[c] = PAWL_MODE_HELD;
  PawlStatus status = pawl_jump_evaluate(s, state, &values, err);
  s->modes[c] = mode;
  const double* size = row_sizes(s, state, values->G);
  *refused = false;
  for (int r = k->first_row; status == PAWL_OK && r < k->first_row + k->row_count; r++) {
    state->held[r] = k->on_engage == PAWL_ENGAGE_KEEP ? values->g[r] : to;
    *refused |= k->on_engage == PAWL_ENGAGE_REFUSE &&
                fabs(values->g[r] - to) > MEETS * (size[r] + SMALLEST_SIZE);
  }
  return status;
}

// Positions move onto the equations by the least change in the metric of M:
// [M -G^T; G 0] [dq; mu] = [0; -g].                                                          (V4)
static PawlStatus snap(PawlStepper* s, PawlState* state, PawlError* err) {
  enum { MOST_ROUNDS = 30 };
  PawlSwitcher* w = s->switcher;
  const PawlValues* values;
  int row = 0, number;
  double before = INFINITY;
  for (int k = 0; k < MOST_ROUNDS; k++) {
    PAWL_TRY(pawl_jump_evaluate(s, state, &values, err));
    double off = worst_row(s, state, values, s->active, 0.0, &row);
    if (off <= 1e-15 || (off <= 1e-12 && off >= 0.5 * before)) {
      pawl_modes_active(s->system, s->modes, w->set);  // rows left out must hold as well
      if (worst_row(s, state, values, w->set, 0.0, &row) <= 1e-9) {
        return PAWL_OK;
      }
      break;
    }
    before = off;
    memset(w->spare_v, 0, (size_t)s->sizes.v * sizeof(double));
    for (int i = 0; i < s->sizes.rows; i++) {
      w->spare_impulse[i] = s->active[i] ? -values->g[i] : 0.0;
    }
    PAWL_TRY(pawl_step_solve(s, values, values->M, values->G, values->G, s->active, state->t,
                             w->spare_v, w->spare_impulse, err));
    pawl_system_retract(s->system, state->q, w->spare_v, state->q);
  }
  const char* name = pawl_system_row_name(s->system, row, &number);
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: constraint '%s' cannot be met by a snap: it is still off by %.3g",
                   state->t, name, values->g[row]);
}

// ---- the velocities -----------------------------------------------------------------------------
double pawl_jump_fastest(const PawlStepper* s, const double* v) {
  double most = 0.0;
  for (int j = 0; j < s->sizes.v; j++) {
    most = fmax(most, fabs(v[j]));
  }
  return most;
}

// Rows that were not in force before, or stand for another equation now; rows that follow from
// others count, too: they may ask for other rates.
static bool list_added(PawlStepper* s) {
  PawlSwitcher* w = s->switcher;
  bool any = false;
  pawl_modes_active(s->system, s->modes, w->set);
  for (int i = 0; i < s->sizes.rows; i++) {
    int c = s->system->row_constraint[i];
    bool other = c >= 0 && !s->system->constraints[c].triggered &&
                 pawl_system_switched(s->system, c, w->before->modes, s->modes);
    w->persistent[i] = w->active_before[i] && w->set[i] && !other;
    any |= w->set[i] && !w->persistent[i];
  }
  return any;
}

// A finite force carries no impulse: where something else jumps, joints with a capacity are left
// out, and slide afterwards if they are no longer at rest.
static bool leave_out_capacities(PawlStepper* s, const PawlState* state, const PawlValues* values) {
  PawlSwitcher* w = s->switcher;
  if (w->capacity_count == 0) {
    return false;
  }
  const double* rate = rates(s, state, values);
  bool jumps = false, any = false;
  for (int i = 0; i < s->sizes.rows; i++) {
    int c = s->system->row_constraint[i];
    bool limited = c >= 0 && s->system->watches[c].capacity >= 0;
    jumps |= w->set[i] && !w->persistent[i] && !limited &&
             fabs(rate[i]) > PAWL_REST * pawl_jump_fastest(s, state->v);
  }
  for (int k = 0; jumps && k < w->capacity_count; k++) {
    int row = s->system->constraints[w->capacities[k]].first_row;
    any |= w->set[row];
    w->set[row] = 0;
  }
  return any;
}

// Rows that depend on each other may ask for different rates: then no velocity serves them all.
static PawlStatus check_rates(PawlStepper* s, const PawlState* state, const PawlValues* values,
                              PawlError* err) {
  static const double SAME_RATE = 1e-9;
  PawlSwitcher* w = s->switcher;
  double of_instant = 1e3 * s->def.event_tolerance * pawl_jump_fastest(s, state->a);
  double rounding = of_instant + 10 * w->drift_rate;
  const double* rate = rates(s, state, values);
  pawl_sparse_sizes(&s->G, values->G, state->v, 0.0, w->sizes);
  for (int i = 0; i < s->sizes.rows; i++) {
    double size = w->sizes[i] + fabs(values->g_t[i]) + PAWL_REST * pawl_jump_fastest(s, state->v);
    if (w->set[i] && fabs(rate[i]) > SAME_RATE * size + rounding) {
      int number;
      const char* name = pawl_system_row_name(s->system, i, &number);
      return pawl_fail(err, PAWL_ERROR_RUN,
                       "t = %.10g: constraint '%s' (row %d) contradicts the others that hold now: "
                       "no velocities satisfy all of them",
                       state->t, name, number + 1);
    }
  }
  return PAWL_OK;
}

// The law post in one of its forms: M dv = G^T Lambda, G (v + dv) = -g_t over the rows of w->set.
PawlStatus pawl_jump_post(PawlStepper* s, PawlState* state, const PawlValues* values,
                          double* impulse, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const double* rate = rates(s, state, values);
  w->drift_rate = 0.0;  // what the method allows the rows that stay in force
  for (int i = 0; i < s->sizes.rows; i++) {
    w->drift_rate = w->persistent[i] ? fmax(w->drift_rate, fabs(rate[i])) : w->drift_rate;
  }
  s->info.factorizations++;
  PawlStatus status =
      pawl_transition_solve(w->transition, values->M, values->G, w->persistent, w->set, state->v,
                            values->g_t, w->spare_v, impulse, NULL, &w->dependent_count);
  if (status != PAWL_OK) {
    return status == PAWL_RETRY ? pawl_step_singular(s, values->M, values->G, state->t, err)
                                : pawl_fail_memory(err);
  }
  for (int j = 0; j < s->sizes.v; j++) {
    state->v[j] += w->spare_v[j];
  }
  return PAWL_OK;
}

// The rates of the rows are set by the least change of the velocities, whatever the masses:
// dv = G^T y, G G^T y = -(G v + g_t). For a joint that locks: its rate becomes zero, no other. (V5)
static PawlStatus jump_none(PawlStepper* s, PawlState* state, const PawlValues* values,
                            double* impulse, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const double* rate = rates(s, state, values);
  memset(w->spare_v, 0, (size_t)s->sizes.v * sizeof(double));
  for (int i = 0; i < s->sizes.rows; i++) {
    impulse[i] = s->active[i] ? -rate[i] : 0.0;
  }
  for (int j = 0; j < s->sizes.v; j++) {  // the identity in the place of M
    for (int k = s->H.start[j]; k < s->H.start[j + 1]; k++) {
      w->identity[k] = s->H.index[k] == j;
    }
  }
  PAWL_TRY(pawl_step_solve(s, values, w->identity, values->G, values->G, s->active, state->t,
                           w->spare_v, impulse, err));
  for (int j = 0; j < s->sizes.v; j++) {
    state->v[j] += w->spare_v[j];
  }
  memset(impulse, 0, (size_t)s->sizes.rows * sizeof(double));
  return PAWL_OK;
}

// The energy that each row takes: -Lambda_i (rate before + rate after)/2, which add up to the loss
// of kinetic energy, since M (v+ - v-) = G^T Lambda.                                         (V9)
static void share_loss(PawlStepper* s, const PawlState* state, const PawlValues* values,
                       const double* impulse) {
  PawlSwitcher* w = s->switcher;
  memset(w->row_loss, 0, (size_t)s->sizes.rows * sizeof(double));
  pawl_sparse_add(&s->G, values->G, 0.5, w->before->v, w->row_loss);
  pawl_sparse_add(&s->G, values->G, 0.5, state->v, w->row_loss);
  for (int i = 0; i < s->sizes.rows; i++) {
    w->row_loss[i] *= -impulse[i];
  }
}

static PawlStatus gain_of(PawlStepper* s, const PawlState* state, double* gain, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  *gain = INFINITY;
  if (!s->switches) {
    return PAWL_OK;
  }
  PawlPoint point = {state->t, state->q, state->v, NULL, NULL, s->modes, state->held};
  PAWL_TRY(pawl_eval_run(w->eval, &point, err));
  *gain =
      pawl_modes_entering(s->system, pawl_eval_values(w->eval)->z_rate, w->before->modes, s->modes);
  return PAWL_OK;
}

// After a jump that left joints with a capacity out: those that move now slide.
static void slide_after_jump(PawlStepper* s, PawlState* state, const PawlValues* values) {
  PawlSwitcher* w = s->switcher;
  const double* rate = rates(s, state, values);
  for (int k = 0; k < w->capacity_count; k++) {
    int c = w->capacities[k], row = s->system->constraints[c].first_row;
    if (s->modes[c] == PAWL_MODE_HELD &&
        fabs(rate[row]) > PAWL_REST * pawl_jump_fastest(s, state->v)) {
      s->modes[c] = rate[row] > 0.0 ? PAWL_MODE_UP : PAWL_MODE_DOWN;
      state->held[row] = 0.0;
    }
  }
}

static PawlStatus jump_velocities(PawlStepper* s, PawlState* state, const PawlValues* values,
                                  double* impulse, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  PawlImpactLaw law;
  double gain;
  memset(impulse, 0, (size_t)s->sizes.rows * sizeof(double));
  if (!list_added(s)) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_law_of(s, w->before->modes, s->modes, &law, err));
  if (law.epsilon == PAWL_LAW_NONE) {
    return jump_none(s, state, values, impulse, err);
  }
  if (law.epsilon == 1.0) {
    bool left_out = leave_out_capacities(s, state, values);
    PAWL_TRY(pawl_jump_post(s, state, values, impulse, err));
    if (w->dependent_count > 0) {
      PAWL_TRY(check_rates(s, state, values, err));
    }
    share_loss(s, state, values, impulse);
    if (left_out) {
      slide_after_jump(s, state, values);
      PAWL_TRY(pawl_switcher_reduce(s, state, err));
    }
    PAWL_TRY(gain_of(s, state, &gain, err));
  } else {
    int planes;
    unsigned flips;
    PAWL_TRY(pawl_law_prepare(s, values->M, values->G, law, &planes, err));
    memcpy(w->rate, values->g_t, (size_t)s->sizes.rows * sizeof(double));
    PAWL_TRY(pawl_law_solve(s, state, planes, w->rate, state->v, impulse, &flips, &gain, err));
  }
  return gain < PAWL_SMALLEST_GAIN ? pawl_law_leads_back(s, law, gain, err) : PAWL_OK;
}

// ---- the instant --------------------------------------------------------------------------------
// What locks hold from now on; those that refuse stay as they were. *snaps: positions must move.
static PawlStatus capture(PawlStepper* s, PawlState* state, bool* snaps, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  *snaps = false;
  for (int k = 0; k < w->triggered_count; k++) {
    int c = w->triggered[k];
    const PawlConstraint* constraint = &s->system->constraints[c];
    if (w->next[c] != PAWL_MODE_HELD || state->modes[c] == PAWL_MODE_HELD) {
      continue;
    }
    bool refused;
    PAWL_TRY(pawl_jump_capture(s, state, c, &refused, err));
    if (refused) {
      memset(state->held + constraint->first_row, 0,
             (size_t)constraint->row_count * sizeof(double));
      w->next[c] = state->modes[c];
      pawl_switcher_log_refusal(s, state, c);
    }
    *snaps |= !refused && constraint->on_engage != PAWL_ENGAGE_KEEP;
  }
  return PAWL_OK;
}

// A change between free and not free starts the clocks of a constraint anew.
static void restart_clocks(PawlStepper* s, PawlState* state) {
  PawlSwitcher* w = s->switcher;
  for (int k = 0; k < w->triggered_count; k++) {
    int c = w->triggered[k], from = state->modes[c], to = s->modes[c];
    const PawlConstraint* constraint = &s->system->constraints[c];
    if (to != PAWL_MODE_HELD) {
      memset(state->held + constraint->first_row, 0,
             (size_t)constraint->row_count * sizeof(double));
    }
    bool idle = to == PAWL_MODE_FREE || to == PAWL_MODE_WAITING;
    bool was_idle = from == PAWL_MODE_FREE || from == PAWL_MODE_WAITING;
    if (from == to || (!idle && !was_idle)) {
      continue;  // nothing, or between sticking and sliding
    }
    state->since[c] = state->t;
    for (int j = 0; j < w->watcher_count; j++) {
      if (w->watchers[j].kind != PAWL_WATCH_EVENT && w->watchers[j].of == c) {
        state->sides[j] = 0;
      }
    }
  }
}

// How fast a joint slides is measured from where its sliding begins.
static void begin_sliding(PawlStepper* s, PawlState* state) {
  PawlSwitcher* w = s->switcher;
  for (int k = 0; k < w->watcher_count; k++) {
    int c = w->watchers[k].of;
    if (w->watchers[k].kind == PAWL_WATCH_SLIDE && s->modes[c] != state->modes[c]) {
      state->largest[k] = 0.0;
    }
  }
}

PawlStatus pawl_jump(PawlStepper* s, PawlState* state, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const PawlValues* values;
  double before, after;
  int row = 0;
  bool snaps;
  PAWL_TRY(pawl_switcher_keep_gradient(s, state, err));
  double drift = worst_row(s, state, pawl_eval_values(s->eval_start), w->active_before, 0.0, &row);
  pawl_switcher_copy(s, w->before, state);
  PAWL_TRY(pawl_switcher_energy(s, state, &before, err));
  PAWL_TRY(capture(s, state, &snaps, err));
  memcpy(s->modes, w->next, pawl_mode_bytes(s));
  restart_clocks(s, state);
  PAWL_TRY(pawl_switcher_reduce(s, state, err));
  if (snaps) {
    PAWL_TRY(snap(s, state, err));
  }
  PAWL_TRY(pawl_jump_evaluate(s, state, &values, err));
  PAWL_TRY(check_meeting(s, state, drift, values, err));
  PAWL_TRY(jump_velocities(s, state, values, w->impulse, err));
  PAWL_TRY(pawl_jump_settle(s, state, err));
  PAWL_TRY(pawl_switcher_energy(s, state, &after, err));
  if (memcmp(s->modes, state->modes, pawl_mode_bytes(s)) != 0) {
    pawl_switcher_log(s, state->t, state->q, w->before->v, state->v, w->impulse, before - after);
  }
  begin_sliding(s, state);
  memcpy(state->modes, s->modes, pawl_mode_bytes(s));
  s->method->start(s, state);
  return PAWL_OK;
}
