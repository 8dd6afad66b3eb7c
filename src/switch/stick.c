// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/closed.h"
#include "switch/grip.h"
#include "switch/hold.h"
#include "switch/loose.h"
#include "switch/modes.h"
#include "switch/pace.h"
#include "switch/stick_notes.h"
#include "switch/tolerances.h"
#include "system/system.h"

PawlStatus pawl_stick_create(PawlWatching* w, const unsigned char* loosened,
                             const unsigned char* reached, PawlStick* s, PawlError* err) {
  PawlDynamics* d = w->dynamics;
  *s = (PawlStick){.dynamics = d,
                   .watching = w,
                   .loosened = loosened,
                   .reached = reached,
                   .undecided = PAWL_NEW(d->arena, unsigned char, w->joint_count),
                   .was = PAWL_NEW(d->arena, unsigned char, w->joint_count),
                   .resting = PAWL_NEW(d->arena, unsigned char, d->sizes.rows),
                   .spared = PAWL_NEW(d->arena, unsigned char, d->sizes.rows),
                   .idle = PAWL_NEW(d->arena, unsigned char, d->sizes.rows),
                   .turns = PAWL_NEW(d->arena, int, w->joint_count),
                   .noise = PAWL_NEW(d->arena, double, w->joint_count),
                   .rate = PAWL_NEW(d->arena, double, d->sizes.rows),
                   .sizes = PAWL_NEW(d->arena, double, d->sizes.rows),
                   .blur = PAWL_NEW(d->arena, double, d->sizes.rows),
                   .begins = PAWL_NEW(d->arena, double, d->sizes.rows),
                   .push = PAWL_NEW(d->arena, double, d->sizes.v),
                   .modes = PAWL_NEW(d->arena, int, d->sizes.modes),
                   .modes_before = PAWL_NEW(d->arena, int, d->sizes.modes),
                   .held_before = PAWL_NEW(d->arena, double, d->sizes.rows)};
  return d->arena->failed ? pawl_fail_memory(err) : PAWL_OK;
}

void pawl_stick_take_contacts(PawlStick* s, PawlStrike* strike, const unsigned char* pulled,
                              const unsigned char* lifted, const unsigned char* broken) {
  s->strike = strike;
  s->pulled = pulled;
  s->lifted = lifted;
  if (s->watching->grip) {
    s->watching->grip->broken = broken;
  }
}

static int row_of(const PawlStick* s, int k) {
  assert(k >= 0 && k < s->watching->joint_count);
  return s->dynamics->system->constraints[s->watching->joints[k]].first_row;
}

static int* mode_of(const PawlStick* s, PawlState* state, int k) {
  return &state->modes[s->watching->joints[k]];
}

static PawlStatus evaluate(PawlStick* s, const PawlState* state, const PawlValues** values,
                           PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, false);
  return pawl_dynamics_evaluate(s->dynamics, &phase, state, values, err);
}

// ---- what rounding does -------------------------------------------------------------------------
// sum_j |G_ij| x_j / sum_j G_ij^2/M_jj of every row: the force that would give it these
// accelerations, by the masses of its coordinates alone.
static void forces_of(PawlStick* s, const PawlValues* values, const double* x, double* forces) {
  const PawlDynamics* d = s->dynamics;
  memset(forces, 0, (size_t)d->sizes.rows * sizeof(double));
  memset(s->sizes, 0, (size_t)d->sizes.rows * sizeof(double));
  for (int j = 0; j < pawl_moving(d->sizes); j++) {
    double mass = d->diagonal[j] >= 0 ? values->M[d->diagonal[j]] : 0.0;
    for (int e = d->G.start[j]; e < d->G.start[j + 1] && mass > 0.0; e++) {
      forces[d->G.index[e]] += fabs(values->G[e]) * x[j];
      s->sizes[d->G.index[e]] += values->G[e] * values->G[e] / mass;
    }
  }
  for (int i = 0; i < d->sizes.rows; i++) {
    forces[i] = s->sizes[i] > 0.0 ? forces[i] / s->sizes[i] : 0.0;
  }
}

// What multipliers are known to, to s->blur: the rounding of what moves along each row, and what
// that of the others makes of it where it acts on the same coordinates.                     (F26a)
static void blur_multipliers(PawlStick* s, const PawlState* state, const PawlValues* values) {
  const PawlDynamics* d = s->dynamics;
  double* x = s->push;
  for (int j = 0; j < pawl_moving(d->sizes); j++) {
    double mass = d->diagonal[j] >= 0 ? values->M[d->diagonal[j]] : 0.0;
    x[j] = PAWL_LOOSE * fmax(fabs(state->a[j]), mass > 0.0 ? fabs(values->f[j]) / mass : 0.0);
  }
  forces_of(s, values, x, s->blur);
  for (int j = 0; j < pawl_moving(d->sizes); j++) {
    double mass = d->diagonal[j] >= 0 ? values->M[d->diagonal[j]] : 0.0;
    for (int e = d->G.start[j]; e < d->G.start[j + 1] && mass > 0.0; e++) {
      x[j] += fabs(values->G[e]) * s->blur[d->G.index[e]] / mass;
    }
  }
  forces_of(s, values, x, s->blur);
}

// Of a joint whose capacity hangs on multipliers: what these leave open of it, and of the force
// that it bounds.                                                                           (F26a)
static PawlStatus measure_noise(PawlStick* s, const PawlState* state, PawlError* err) {
  PawlWatching* w = s->watching;
  const PawlSystem* system = s->dynamics->system;
  PawlPhase phase = pawl_phase_of(state, false);
  const PawlValues* values;
  const double* watch;
  if (!system->bounds_react) {
    return PAWL_OK;
  }
  PAWL_TRY(evaluate(s, state, &values, err));
  blur_multipliers(s, state, values);
  PAWL_TRY(pawl_watch_look(w, &phase, state, state->v, state->a, state->lambda, &watch, err));
  for (int k = 0; k < w->joint_count; k++) {
    s->noise[k] = watch[system->watches[w->joints[k]].capacity];
  }
  for (int i = 0; i < s->dynamics->sizes.rows; i++) {
    s->rate[i] = state->lambda[i] + (state->lambda[i] < 0.0 ? -s->blur[i] : s->blur[i]);
  }
  PAWL_TRY(pawl_watch_look(w, &phase, state, state->v, state->a, s->rate, &watch, err));
  for (int k = 0; k < w->joint_count; k++) {
    s->noise[k] =
        fabs(watch[system->watches[w->joints[k]].capacity] - s->noise[k]) + s->blur[row_of(s, k)];
  }
  return PAWL_OK;
}

// ---- what is to be decided ----------------------------------------------------------------------
// Joints that hold, and sliding ones whose rate is zero: all of them as if they held, to begin
// with.
static PawlStatus list_undecided(PawlStick* s, PawlState* state, const double* v_before,
                                 PawlError* err) {
  PawlWatching* w = s->watching;
  int n = pawl_moving(s->dynamics->sizes);
  PawlPhase phase = pawl_phase_of(state, false);
  const double* watch;
  double size = fmax(pawl_dynamics_pace(s->dynamics, state, pawl_eval_values(s->dynamics->eval)),
                     pawl_dynamics_largest(n, v_before));
  PAWL_TRY(pawl_watch_look(w, &phase, state, state->v, state->a, state->lambda, &watch, err));
  for (int k = 0; k < w->joint_count; k++) {
    int c = w->joints[k];
    double rate = watch[s->dynamics->system->watches[c].rate];
    bool rests =
        !s->loosened[c] && state->modes[c] >= PAWL_MODE_UP && fabs(rate) <= PAWL_REST * size;
    s->was[k] = state->modes[c] == PAWL_MODE_HELD;
    s->undecided[k] = s->was[k] || rests;
    s->turns[k] = 0;
    if (rests) {
      state->modes[c] = PAWL_MODE_HELD;
      pawl_hold_drop(s->dynamics, state, c);
    }
  }
  pawl_phase_activate(s->dynamics->system, state);
  return PAWL_OK;
}

static int* mode_of_contact(const PawlStick* s, PawlState* state, int row) {
  return &state->modes[pawl_modes_of_contact(s->dynamics->system, row)];
}

// Contacts that are closed, or have no gap, and do not part: all of them as if they were
// closed, to begin with. *any: some have no gap.
static PawlStatus list_contacts(PawlStick* s, PawlState* state, bool* any, bool* newly_closed,
                                PawlError* err) {
  const PawlValues* values;
  PawlStrike* k = s->strike;
  PAWL_TRY(evaluate(s, state, &values, err));
  *any = pawl_strike_look(k, state, values) > 0;
  for (int i = k->first; i < k->end; i++) {
    int* mode = mode_of_contact(s, state, i);
    bool closed = *mode != PAWL_MODE_OPEN;
    bool still = k->rate[i] <= k->slow[i] && (closed || k->rate[i] >= -k->slow[i]);
    s->resting[i] = k->touching[i] && still && !s->spared[i];
    *newly_closed |= s->resting[i] && !closed;
    *mode = !s->resting[i] ? PAWL_MODE_OPEN : closed ? *mode : PAWL_MODE_CLOSED;
  }
  if (s->watching->grip) {
    PAWL_TRY(pawl_grip_look(s->watching->grip, state, s->resting, k->slow, err));
    s->watching->grip->counts = !s->watching->grip->told;
  }
  pawl_phase_activate(s->dynamics->system, state);
  return PAWL_OK;
}

// Contacts whose force is zero while they would part open; those that only come to zero do so where
// that has ended their phase.                                                                (C8)
static void open_contacts(const PawlStick* s, PawlState* state) {
  const PawlRowProblem* p = &s->watching->rows;
  for (int i = s->strike->first; i < s->strike->end; i++) {
    bool parts = p->state[i] == PAWL_ROW_LOW && (p->w[i] > 0.0 || s->pulled[i]);
    if (s->resting[i] && parts) {
      *mode_of_contact(s, state, i) = PAWL_MODE_OPEN;
    }
  }
  pawl_phase_activate(s->dynamics->system, state);
}

// Whether a contact with friction slips, and along what.
static void set_slip(PawlState* state, const PawlSlipContact* c, bool slips, bool begins,
                     double least, const double* along) {
  int* mode = &state->modes[c->mode];
  bool limit = *mode == PAWL_MODE_LIMIT || *mode == PAWL_MODE_SLIPS_LIMIT;
  if (*mode != PAWL_MODE_OPEN) {
    *mode = slips ? (limit ? PAWL_MODE_SLIPS_LIMIT : PAWL_MODE_SLIPS)
                  : (limit ? PAWL_MODE_LIMIT : PAWL_MODE_CLOSED);
  }
  for (int i = 0; i < c->count; i++) {
    state->held[c->first + i] = slips && *mode != PAWL_MODE_OPEN ? along[i] : 0.0;
  }
  if (begins && slips && *mode != PAWL_MODE_OPEN) {
    pawl_slip_begin(state->held + c->first, along, least, c->count);
  }
}

// Friction sticks or slips as forces have it. *newly_held: some sticks that did not.        (F21)
static void take_friction(const PawlStick* s, PawlState* state, bool* newly_held) {
  const PawlGrip* grip = s->watching->grip;
  PawlDynamics* d = s->dynamics;
  PawlPace begins = {.of_a = PAWL_SLIP_BEGINS_STEP * d->def->step};  // (F32)
  if (grip) {
    pawl_pace_rows(d, state, NULL, pawl_eval_values(d->eval), begins, s->begins);
  }
  for (int k = 0; grip && k < grip->slip->count; k++) {
    const PawlSlipContact* c = &grip->slip->contact[k];
    int was = state->modes[c->mode];
    const double* along = grip->along + 2 * k;
    bool moves = along[0] != 0.0 || (c->count > 1 && along[1] != 0.0);
    bool slips = grip->found[k] == PAWL_FRICTION_SLIP ||
                 (grip->found[k] == PAWL_FRICTION_OPEN && moves);  // stays without force
    set_slip(state, c, slips, grip->part[k] == PAWL_GRIP_RESTS, s->begins[c->first], along);
    *newly_held |= pawl_slip_slips(was) && state->modes[c->mode] != PAWL_MODE_OPEN &&
                   !pawl_slip_slips(state->modes[c->mode]);
  }
  pawl_phase_activate(s->dynamics->system, state);
}

// ---- deciding -----------------------------------------------------------------------------------
static PawlStatus contradiction(const PawlStick* s, const PawlState* state, PawlError* err) {
  PawlText names = {0};
  int count = pawl_dynamics_list_rows(s->dynamics, s->watching->rows.conflict, &names);
  pawl_fail(err, PAWL_ERROR_RUN, "t = %.10g: %s contradict%s: no accelerations satisfy all of them",
            state->t, names.s ? names.s : "some rows", count == 1 ? "s the others" : " each other");
  pawl_text_free(&names);
  return PAWL_ERROR_RUN;
}

// Where friction leaves no forces: rows may contradict each other without it.
static PawlStatus check_rows(PawlStick* s, const PawlState* state, const PawlValues* values,
                             PawlError* err) {
  PawlRowProblem* p = &s->watching->rows;
  PawlRowsResult result;
  for (int i = 0; i < s->dynamics->sizes.rows; i++) {
    bool rubs = pawl_system_row_kind(s->dynamics->system, i) == PAWL_ROW_FRICTION;
    p->lo[i] = rubs ? 0.0 : p->lo[i];
    p->hi[i] = rubs ? 0.0 : p->hi[i];
  }
  PawlStatus status = pawl_watch_solve(s->watching, values, &result, err);
  PAWL_TRY(status == PAWL_RETRY ? PAWL_OK : status);
  return status == PAWL_OK && result.conflicts > 0 ? contradiction(s, state, err) : PAWL_OK;
}

// f, and beside it the friction of joints that slide and hang on multipliers, at those of the
// state.
static PawlStatus take_forces(PawlStick* s, const PawlState* state, const PawlPhase* phase,
                              const PawlValues* values, PawlError* err) {
  const PawlDynamics* d = s->dynamics;
  PawlSlip* slip = d->slip;
  double* r = s->watching->rows.r;
  memcpy(r, values->f, (size_t)d->sizes.v * sizeof(double));
  if (!slip || !pawl_slip_ties(slip, phase)) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_slip_look(slip, phase, state->t, state->q, state->v, err));
  PAWL_TRY(pawl_slip_look_at_joints(slip, phase, state->t, state->q, state->v, state->lambda, err));
  const double* G = pawl_eval_values(slip->eval)->G;
  for (int k = 0; k < slip->joint_count; k++) {
    double force = pawl_slip_joint_force(slip, phase, k);
    int row = slip->joint[k].row;
    for (int p = slip->rows.start[row]; p < slip->rows.start[row + 1]; p++) {
      r[slip->rows.column[p]] += force * G[slip->rows.at[p]];
    }
  }
  return PAWL_OK;
}

// What sticks does so up to a part of what its capacity is known to; what leaves its load to
// contacts carries nothing. (F26a) (F34)
static void widen_bounds(PawlStick* s) {
  PawlRowProblem* p = &s->watching->rows;
  for (int k = 0; k < s->watching->joint_count; k++) {
    int row = row_of(s, k);
    p->hi[row] = s->idle[row] ? 0.0 : p->hi[row] + PAWL_STICKS * s->noise[k];
    p->lo[row] = s->idle[row] ? 0.0 : p->lo[row] - PAWL_STICKS * s->noise[k];
  }
}

// M v' - G^T lambda = f, w = G v' + gamma, |lambda| <= R for the joints in question, lambda >= 0
// for contacts.                                                                             (V8)
// (C8)
static PawlStatus solve_once(PawlStick* s, PawlState* state, PawlError* err) {
  PawlWatching* w = s->watching;
  PawlDynamics* d = s->dynamics;
  const PawlValues* values;
  const double* watch;
  PawlPhase phase = pawl_phase_of(state, false);
  PawlRowsResult result = {0};
  PAWL_TRY(evaluate(s, state, &values, err));
  PAWL_TRY(pawl_watch_look(w, &phase, state, state->v, state->a, state->lambda, &watch, err));
  assert(w->rows.solver);
  pawl_watch_bounds(w, &phase, watch, PAWL_STICKS, true);
  widen_bounds(s);
  if (!s->strike && d->contacts) {  // (V30), (V60)
    pawl_closed_bound(d, state, values, &w->rows, &s->rubs);
  }
  PAWL_TRY(take_forces(s, state, &phase, values, err));
  memcpy(w->rows.b, values->gamma, (size_t)d->sizes.rows * sizeof(double));
  bool found = false;
  PAWL_TRY(s->rubs ? pawl_closed_solve(w, state, values, &found, err) : PAWL_OK);
  PawlStatus status = w->grip ? pawl_grip_solve(w->grip, values, err)
                      : found ? PAWL_OK
                              : pawl_watch_solve(w, values, &result, err);
  s->rubs = s->rubs && !found;
  if (status == PAWL_RETRY) {
    return pawl_dynamics_singular(d, values->M, values->G, state->active, state->t, err);
  }
  PAWL_TRY(status);
  if (w->grip) {
    s->jammed =
        w->grip->verdict == PAWL_FRICTION_NONE || w->grip->verdict == PAWL_FRICTION_NOT_CONVERGED;
    PAWL_TRY(s->jammed ? check_rows(s, state, values, err) : PAWL_OK);
    s->several = w->grip->verdict == PAWL_FRICTION_SEVERAL;
  }
  if (!s->jammed) {  // what counts as no rate hangs on them, and is the same for an impact then
    memcpy(state->a, w->rows.x, (size_t)d->sizes.v * sizeof(double));
    memcpy(state->lambda, w->rows.lambda, (size_t)d->sizes.rows * sizeof(double));
  }
  return result.conflicts > 0 ? contradiction(s, state, err) : PAWL_OK;
}

// Whether the multipliers are those of the last round, to which `rate` is set.
static bool has_settled(PawlStick* s, const PawlState* state) {
  double change = 0.0, size = 0.0;
  for (int i = 0; i < s->dynamics->sizes.rows; i++) {
    change = fmax(change, fabs(state->lambda[i] - s->rate[i]));
    size = fmax(size, fabs(state->lambda[i]));
    s->rate[i] = state->lambda[i];
  }
  return change <= PAWL_TIED * size;
}

// Capacities and friction that hang on multipliers are found with these, in turn.           (F26)
static PawlStatus solve(PawlStick* s, PawlState* state, PawlError* err) {
  enum { MOST = 500 };
  PAWL_TRY(solve_once(s, state, err));
  const PawlSystem* system = s->dynamics->system;
  if ((system->tie_count == 0 && !system->bounds_react) || s->jammed) {
    return PAWL_OK;
  }
  memset(s->rate, 0, (size_t)s->dynamics->sizes.rows * sizeof(double));
  for (int k = 0; k < MOST && !has_settled(s, state); k++) {
    PAWL_TRY(solve_once(s, state, err));
    if (s->jammed) {
      return PAWL_OK;
    }
  }
  return has_settled(s, state)
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_RUN,
                         "t = %.10g: capacities or friction hang on forces that hang on them, and "
                         "none are found that agree",
                         state->t);
}

// Joints at their bound that move slide; *any: some do.
static void slide(PawlStick* s, PawlState* state, bool* any) {
  *any = false;
  for (int k = 0; k < s->watching->joint_count; k++) {
    double w = s->watching->rows.w[row_of(s, k)];
    if (s->undecided[k] && *mode_of(s, state, k) == PAWL_MODE_HELD && w != 0.0) {
      *mode_of(s, state, k) = w > 0.0 ? PAWL_MODE_UP : PAWL_MODE_DOWN;
      *any = true;
    }
  }
  pawl_phase_activate(s->dynamics->system, state);
}

// A joint was found beyond its capacity again, after it was kept: it is beyond, but so little that
// its acceleration is rounding beside the terms that it is the sum of. The first such joint slides
// against its force, if others that slide have not relieved it. *any: there is one. (Once is not
// enough: a joint may be at its capacity and held by another that does the same.)
static void let_slide(PawlStick* s, PawlState* state, bool* any) {
  for (int k = 0; k < s->watching->joint_count && !*any; k++) {
    PawlRowState bound = s->watching->rows.state[row_of(s, k)];
    bool at_bound = bound == PAWL_ROW_LOW || bound == PAWL_ROW_HIGH;
    if (s->reached[s->watching->joints[k]] > 1 && *mode_of(s, state, k) == PAWL_MODE_HELD &&
        s->turns[k] == 0 && at_bound) {
      *mode_of(s, state, k) = bound == PAWL_ROW_LOW ? PAWL_MODE_UP : PAWL_MODE_DOWN;
      *any = true;
    }
  }
}

// G v' + gamma of every row, to s->rate, with the rows of all joints in question as if they held
// (rows of other modes read zero).
static PawlStatus second_rates(PawlStick* s, PawlState* state, PawlError* err) {
  PawlDynamics* d = s->dynamics;
  const PawlValues* values;
  memcpy(s->modes, state->modes, pawl_phase_mode_bytes(state));
  for (int k = 0; k < s->watching->joint_count; k++) {
    int c = s->watching->joints[k];
    s->modes[c] = s->undecided[k] ? PAWL_MODE_HELD : s->modes[c];
  }
  PawlPhase phase = {.modes = s->modes, .held = state->held};
  PAWL_TRY(pawl_dynamics_evaluate(d, &phase, state, &values, err));
  pawl_dynamics_rows(d, values->G, state->a, values->gamma, s->rate);
  pawl_sparse_sizes(&d->G, values->G, state->a, 0.0, s->sizes);
  return PAWL_OK;
}

// With the friction of sliding, which may be less than the capacity, a joint may turn back: then it
// is tried again, once. *any: some are.
static PawlStatus put_back(PawlStick* s, PawlState* state, bool* any, PawlError* err) {
  *any = false;
  PAWL_TRY(second_rates(s, state, err));
  for (int k = 0; k < s->watching->joint_count; k++) {
    int row = row_of(s, k), *mode = mode_of(s, state, k);
    double ahead = *mode == PAWL_MODE_UP ? s->rate[row] : -s->rate[row];
    if (s->undecided[k] && *mode >= PAWL_MODE_UP && ahead < -PAWL_TURNS_BACK * s->sizes[row] &&
        s->turns[k]++ == 0) {
      *mode = PAWL_MODE_HELD;
      *any = true;
    }
  }
  pawl_phase_activate(s->dynamics->system, state);
  return PAWL_OK;
}

// Rounds end: in each but the last a joint begins to slide, or is put back, which happens once.
static PawlStatus decide(PawlStick* s, PawlState* state, PawlError* err) {
  bool again = true;
  for (int round = 0; again; round++) {
    assert(round <= 3 * s->watching->joint_count);
    PAWL_TRY(solve(s, state, err));
    if (s->jammed) {
      return PAWL_OK;
    }
    slide(s, state, &again);
    if (!again) {
      let_slide(s, state, &again);
    }
    if (!again) {
      PAWL_TRY(put_back(s, state, &again, err));
    }
  }
  return PAWL_OK;
}

// ---- joints that hold what contacts hold, too ---------------------------------------------------
static void take_contacts(const PawlStick* s, PawlState* state, bool* newly_held) {
  open_contacts(s, state);
  take_friction(s, state, newly_held);
}

// Joints whose rows follow from those of contacts, while something slips; how many.
static PawlStatus find_idle(PawlStick* s, PawlState* state, int* count, PawlError* err) {
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, false);
  *count = 0;
  if (!s->dynamics->slip || !pawl_slip_any(s->dynamics->slip, &phase)) {
    return PAWL_OK;
  }
  PAWL_TRY(evaluate(s, state, &values, err));
  PAWL_TRY(pawl_dynamics_choose_rows(s->dynamics, state, values, err));
  for (int k = 0; k < s->watching->joint_count; k++) {
    int row = row_of(s, k);
    s->idle[row] = pawl_dynamics_leaves_to_contacts(s->dynamics, state, row);
    *count += s->idle[row];
  }
  return PAWL_OK;
}

// Whether no joint that holds moves while those of s->idle carry nothing.
static PawlStatus rests(PawlStick* s, PawlState* state, bool* yes, PawlError* err) {
  const PawlDynamics* d = s->dynamics;
  const PawlValues* values;
  *yes = !s->jammed;
  PAWL_TRY(evaluate(s, state, &values, err));
  pawl_dynamics_rows(d, values->G, state->a, values->gamma, s->rate);
  pawl_sparse_sizes(&d->G, values->G, NULL, 0.0, s->sizes);
  for (int k = 0; k < s->watching->joint_count; k++) {
    int row = row_of(s, k);
    double size = s->sizes[row] * pawl_dynamics_push(d, state, values) + fabs(values->gamma[row]);
    *yes &= *mode_of(s, state, k) != PAWL_MODE_HELD || fabs(s->rate[row]) <= PAWL_MEETS * size;
  }
  return PAWL_OK;
}

// Contacts as forces have them, and once more where joints leave what they hold to contacts that
// slip: with no force in these, unless the contacts cannot hold it.                         (F34)
static PawlStatus decide_contacts(PawlStick* s, PawlState* state, bool* newly_held,
                                  PawlError* err) {
  size_t mode_bytes = pawl_phase_mode_bytes(state);
  size_t held_bytes = (size_t)s->dynamics->sizes.rows * sizeof(double);
  int count = 0;
  bool held = false, again = false, yes;
  memcpy(s->modes_before, state->modes, mode_bytes);
  memcpy(s->held_before, state->held, held_bytes);
  take_contacts(s, state, &held);
  PAWL_TRY(s->watching->joint_count > 0 ? find_idle(s, state, &count, err) : PAWL_OK);
  for (yes = count == 0; !yes; again = true) {
    memcpy(state->modes, s->modes_before, mode_bytes);
    memcpy(state->held, s->held_before, held_bytes);
    pawl_phase_activate(s->dynamics->system, state);
    PAWL_TRY(solve(s, state, err));
    PAWL_TRY(again ? PAWL_OK : rests(s, state, &yes, err));
    if (again || yes) {
      held = false;
      take_contacts(s, state, &held);
      yes = true;
    }
    memset(s->idle, 0, (size_t)s->dynamics->sizes.rows);
  }
  *newly_held |= held;
  return PAWL_OK;
}

// ---- afterwards ---------------------------------------------------------------------------------
// Joints that stick now hold where they are; those that slide hold nothing.
static PawlStatus capture(PawlStick* s, PawlState* state, bool* newly_held, PawlError* err) {
  const PawlValues* values;
  bool refused;
  const double* watch = pawl_eval_values(s->watching->eval)->watch;
  PAWL_TRY(evaluate(s, state, &values, err));
  pawl_dynamics_row_sizes(s->dynamics, values->G, state->q, s->sizes);
  for (int k = 0; k < s->watching->joint_count; k++) {
    int c = s->watching->joints[k];
    bool holds = state->modes[c] == PAWL_MODE_HELD;
    assert(!s->undecided[k] || holds || state->modes[c] >= PAWL_MODE_UP);
    if (s->undecided[k] && holds && !s->was[k]) {
      pawl_hold_take(s->dynamics, state, c, values->g, s->sizes, watch, &refused);
      *newly_held = true;
    } else if (!holds) {
      pawl_hold_drop(s->dynamics, state, c);
    }
  }
  return PAWL_OK;
}

// Rows that were left out must follow from the others at the level of accelerations, too.
static PawlStatus check_redundant(PawlStick* s, const PawlState* state, const PawlValues* values,
                                  PawlError* err) {
  PawlDynamics* d = s->dynamics;
  bool any = false;
  if (state->redundant_count == 0) {
    return PAWL_OK;
  }
  pawl_dynamics_rows(d, values->G, state->a, values->gamma, s->rate);
  pawl_sparse_sizes(&d->G, values->G, NULL, 0.0, s->sizes);
  PAWL_TRY(pawl_watch_make_problem(s->watching, err));
  unsigned char* off = s->watching->rows.conflict;
  for (int i = 0; i < d->sizes.rows; i++) {
    double size = s->sizes[i] * pawl_dynamics_push(d, state, values) + fabs(values->gamma[i]);
    off[i] = state->redundant[i] && fabs(s->rate[i]) > PAWL_MEETS * size;
    any |= off[i];
  }
  return any ? contradiction(s, state, err) : PAWL_OK;
}

// *values: where nothing jams, at the state as it is then; *newly_held is set or left.
static PawlStatus settle(PawlStick* s, PawlState* state, const double* v_before, bool* newly_held,
                         const PawlValues** values, PawlError* err) {
  bool contacts = false;
  s->jammed = s->several = s->rubs = false;
  if (s->strike) {
    PAWL_TRY(list_contacts(s, state, &contacts, newly_held, err));
  }
  if (s->watching->joint_count > 0 || contacts) {
    PAWL_TRY(list_undecided(s, state, v_before, err));
    PAWL_TRY(measure_noise(s, state, err));
    PAWL_TRY(decide(s, state, err));
    if (s->jammed) {
      return PAWL_OK;
    }
    PAWL_TRY(contacts ? decide_contacts(s, state, newly_held, err) : PAWL_OK);
    PAWL_TRY(capture(s, state, newly_held, err));
    PAWL_TRY(pawl_stick_note_rubbing(s, state, err));
    PAWL_TRY(evaluate(s, state, values, err));
    PAWL_TRY(pawl_dynamics_reduce(s->dynamics, state, *values, err));
  } else {
    PAWL_TRY(evaluate(s, state, values, err));
  }
  return pawl_dynamics_react(s->dynamics, state, *values, err);
}

// What contacts that carry nothing would have to hold: gaps that would close. -1: none.
static int closing_row(PawlStick* s, const PawlState* state, const PawlValues* values) {
  const PawlDynamics* d = s->dynamics;
  int row = -1;
  pawl_dynamics_rows(d, values->G, state->a, values->gamma, s->rate);
  pawl_sparse_sizes(&d->G, values->G, NULL, 0.0, s->sizes);
  for (int i = s->strike->first; i < s->strike->end; i++) {
    double size = s->sizes[i] * pawl_dynamics_push(d, state, values) + fabs(values->gamma[i]);
    row = s->spared[i] && s->rate[i] < -PAWL_MEETS * size ? i : row;
  }
  return row;
}

// A contact carries nothing from here on, or slips against its friction; all others stay as they
// are.                                                                                      (F48)
static PawlStatus let_go(PawlStick* s, PawlState* state, const PawlLoose* loose,
                         const PawlValues** values, PawlError* err) {
  const PawlSlip* slip = s->watching->grip->slip;
  int* mode = mode_of_contact(s, state, loose->row);
  *mode = loose->slips ? *mode : PAWL_MODE_OPEN;
  for (int k = 0; k < slip->count; k++) {
    const PawlSlipContact* c = &slip->contact[k];
    const double* lambda = s->watching->rows.lambda + c->first;
    double along[2] = {0.0}, size = c->count > 1 ? hypot(lambda[0], lambda[1]) : fabs(lambda[0]);
    for (int i = 0; i < c->count && size > 0.0; i++) {
      along[i] = -lambda[i] / size;
    }
    if (c->normal == loose->row) {
      set_slip(state, c, loose->slips, loose->slips, s->begins[c->first], along);
    }
  }
  pawl_phase_activate(s->dynamics->system, state);
  PAWL_TRY(evaluate(s, state, values, err));
  return pawl_dynamics_reduce(s->dynamics, state, *values, err);
}

// Contacts that slip with a load that is not determined carry none, one after the other until all
// loads are; their gaps follow from the others. *stuck: the one where that does not end; -1.  (F42)
static PawlStatus spare(PawlStick* s, PawlState* state, const double* v_before, bool* newly_held,
                        const PawlValues** values, int* stuck, PawlError* err) {
  PawlDynamics* d = s->dynamics;
  double* lambda = s->watching->rows.lambda;
  PawlLoose loose;
  int last = -1, slips = -1;
  PAWL_TRY(pawl_loose_find(d, state, *values, lambda, &loose, err));
  *stuck = -1;
  while (loose.row >= 0) {
    *stuck = last = loose.row;
    if (s->spared[last]) {
      return PAWL_OK;
    }
    s->spared[last] = !loose.slips;
    slips = loose.slips && slips < 0 ? last : slips;
    PAWL_TRY(loose.reached ? let_go(s, state, &loose, values, err)
                           : settle(s, state, v_before, newly_held, values, err));
    if (s->jammed) {
      return PAWL_OK;
    }
    PAWL_TRY(pawl_loose_find(d, state, *values, lambda, &loose, err));
  }
  PAWL_TRY(pawl_dynamics_react(d, state, *values, err));
  *stuck = last < 0 ? -1 : closing_row(s, state, *values);
  return last < 0 || *stuck >= 0 ? PAWL_OK : pawl_stick_note_loose(s, state, slips, err);
}

// Without the contacts in `spared`. *stays: there are forces, and no gap of these would close.
static PawlStatus settle_without(PawlStick* s, PawlState* state, const double* v_before,
                                 bool* newly_held, const PawlValues** values, bool* stays,
                                 PawlError* err) {
  *newly_held = false;
  PAWL_TRY(settle(s, state, v_before, newly_held, values, err));
  *stays = !s->jammed && closing_row(s, state, *values) < 0;
  return PAWL_OK;
}

// Where that does not end, another contact that touches may be the one that carries nothing, with
// which all loads are determined and no gap closes.                                         (F42)
static PawlStatus spare_any(PawlStick* s, PawlState* state, const double* v_before,
                            bool* newly_held, const PawlValues** values, PawlError* err) {
  PawlStrike* k = s->strike;
  int stuck;
  PAWL_TRY(spare(s, state, v_before, newly_held, values, &stuck, err));
  if (stuck < 0) {
    return PAWL_OK;
  }
  for (int i = k->first; i < k->end; i++) {
    bool stays;
    PawlLoose loose;
    memset(s->spared, 0, (size_t)s->dynamics->sizes.rows);
    s->spared[i] = 1;
    if (!k->touching[i]) {
      continue;
    }
    PAWL_TRY(settle_without(s, state, v_before, newly_held, values, &stays, err));
    if (stays) {
      PAWL_TRY(pawl_loose_find(s->dynamics, state, *values, s->watching->rows.lambda, &loose, err));
    }
    if (stays && loose.row < 0) {
      PAWL_TRY(pawl_dynamics_react(s->dynamics, state, *values, err));
      return pawl_stick_note_loose(s, state, -1, err);
    }
  }
  return pawl_stick_not_determined(s->dynamics, state, stuck, err);
}

// A contact was found to pull, and closed again, at this same instant before: how it shares its
// load with others has it do both. With it open there may be a motion that keeps it so, or with
// another one open. (F70)
static PawlStatus settle_lifted(PawlStick* s, PawlState* state, const double* v_before,
                                bool* newly_held, const PawlValues** values, PawlError* err) {
  PawlStrike* k = s->strike;
  bool lifted = false, stays = false;
  for (int i = k ? k->first : 0; k && i < k->end; i++) {
    s->spared[i] = s->lifted[i] > 1;
    lifted |= s->spared[i];
  }
  if (lifted) {
    PAWL_TRY(settle_without(s, state, v_before, newly_held, values, &stays, err));
  }
  for (int i = k ? k->first : 0; lifted && !stays && i < k->end; i++) {
    memset(s->spared, 0, (size_t)s->dynamics->sizes.rows);
    s->spared[i] = 1;
    if (k->touching[i]) {
      PAWL_TRY(settle_without(s, state, v_before, newly_held, values, &stays, err));
    }
  }
  if (stays) {
    return PAWL_OK;
  }
  *newly_held = false;
  memset(s->spared, 0, (size_t)s->dynamics->sizes.rows);
  return settle(s, state, v_before, newly_held, values, err);
}

PawlStatus pawl_stick_settle(PawlStick* s, PawlState* state, const double* v_before,
                             bool* newly_held, PawlError* err) {
  PawlDynamics* d = s->dynamics;
  const PawlValues* values;
  PawlPhase phase;
  memset(s->spared, 0, (size_t)d->sizes.rows);
  PAWL_TRY(settle_lifted(s, state, v_before, newly_held, &values, err));
  if (s->jammed) {
    return PAWL_OK;
  }
  phase = pawl_phase_of(state, false);
  if (s->strike && d->slip && state->redundant_count > 0 && pawl_slip_any(d->slip, &phase)) {
    PAWL_TRY(spare_any(s, state, v_before, newly_held, &values, err));
  }
  PAWL_TRY(pawl_stick_note_shared_slip(d, state, err));
  return check_redundant(s, state, values, err);
}
