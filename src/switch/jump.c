// SPDX-License-Identifier: Apache-2.0
#include "switch/jump.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/hold.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

// ---- creation -----------------------------------------------------------------------------------
static PawlStatus make_transition(PawlJump* j, PawlError* err) {
  PawlDynamics* d = j->dynamics;
  PawlTransitionForm form;
  PAWL_TRY(pawl_transition_parse(d->def->transition, &form, err));
  if (form != PAWL_TRANSITION_FULL && d->sizes.v > PAWL_LARGEST_DENSE) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "transition = %s: is made of dense matrices, and %d velocities are more than "
                     "%d; use full",
                     d->def->transition, d->sizes.v, (int)PAWL_LARGEST_DENSE);
  }
  j->full = form == PAWL_TRANSITION_FULL;
  return pawl_transition_create(form, &d->H, &d->G, d->kkt, &j->transition, err);
}

PawlStatus pawl_jump_create(PawlGuards* guards, PawlLaw* law, PawlLog* log,
                            const PawlStateShape* shape, PawlJump* j, PawlError* err) {
  PawlDynamics* d = guards->dynamics;
  int rows = d->sizes.rows;
  *j = (PawlJump){.dynamics = d,
                  .guards = guards,
                  .law = law,
                  .log = log,
                  .rows = (size_t)rows,
                  .G_before = PAWL_NEW(d->arena, double, d->nonzeros_G),
                  .dv = PAWL_NEW(d->arena, double, d->sizes.v),
                  .rate = PAWL_NEW(d->arena, double, rows),
                  .size = PAWL_NEW(d->arena, double, rows),
                  .impulse = PAWL_NEW(d->arena, double, rows),
                  .struck_impulse = PAWL_NEW(d->arena, double, rows),
                  .loss = PAWL_NEW(d->arena, double, rows),
                  .correction = PAWL_NEW(d->arena, double, rows),
                  .set = PAWL_NEW(d->arena, unsigned char, rows),
                  .persistent = PAWL_NEW(d->arena, unsigned char, rows),
                  .identity = PAWL_NEW(d->arena, double, d->nonzeros_H)};
  if (d->arena->failed) {
    return pawl_fail_memory(err);
  }
  for (int c = 0; c < d->sizes.v; c++) {
    for (int k = d->H.start[c]; k < d->H.start[c + 1]; k++) {
      j->identity[k] = d->H.index[k] == c;
    }
  }
  PAWL_TRY(pawl_stick_create(guards->watching, guards->loosened, guards->reached, &j->stick, err));
  if (guards->contacts) {
    PAWL_TRY(pawl_strike_create(guards->watching, guards->touched, &j->strike, err));
    pawl_stick_take_contacts(&j->stick, &j->strike, guards->pulled);
    PAWL_TRY(pawl_bounce_create(&j->strike, &j->bounce, err));
    PAWL_TRY(pawl_phase_state(shape, &j->struck, err));
  }
  PAWL_TRY(make_transition(j, err));
  return pawl_phase_state(shape, &j->before, err);
}

void pawl_jump_destroy(PawlJump* j) {
  pawl_transition_destroy(j->transition);
  pawl_state_destroy(j->before);
  pawl_state_destroy(j->struck);
}

static PawlStatus evaluate(PawlJump* j, const PawlState* state, const PawlValues** values,
                           PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, false);
  return pawl_dynamics_evaluate(j->dynamics, &phase, state, values, err);
}

// Rates far below are at rest.
static double pace(const PawlJump* j, const PawlState* state) {
  return pawl_dynamics_pace(j->dynamics, state, pawl_eval_values(j->dynamics->eval));
}

// G v + g_t of every row, to j->rate.
static const double* rates(PawlJump* j, const PawlState* state, const PawlValues* values) {
  pawl_dynamics_rows(j->dynamics, values->G, state->v, values->g_t, j->rate);
  return j->rate;
}

// ---- what is held -------------------------------------------------------------------------------
static bool engages(const PawlJump* j, const PawlState* state, int c) {
  return j->dynamics->system->constraints[c].triggered && state->modes[c] == PAWL_MODE_HELD &&
         j->before->modes[c] != PAWL_MODE_HELD;
}

// A constraint that does not engage is as it was.
static void stay(const PawlJump* j, PawlState* state, int c) {
  assert(engages(j, state, c));
  state->modes[c] = j->before->modes[c];
  state->since[c] = j->before->since[c];
  pawl_hold_drop(j->dynamics, state, c);
  for (int k = 0; k < j->guards->condition_count; k++) {
    const PawlGuard* guard = &j->guards->all[k];
    if (guard->then != PAWL_THEN_EVENT && guard->of == c) {
      state->sides[k] = j->before->sides[k];
    }
  }
}

// What locks hold from now on, from `values` with nothing held by them; those that refuse stay as
// they were. *snaps: positions must move; *refused: modes have changed again.
static PawlStatus capture(PawlJump* j, PawlState* state, const PawlValues* values, bool* snaps,
                          bool* refused, PawlError* err) {
  const PawlSystem* system = j->dynamics->system;
  *snaps = *refused = false;
  pawl_dynamics_row_sizes(j->dynamics, values->G, state->q, j->size);
  for (int c = 0; c < system->constraint_count; c++) {
    bool refuses;
    if (!engages(j, state, c)) {
      continue;
    }
    pawl_hold_take(j->dynamics, state, c, values->g, j->size, j->guards->watch, &refuses);
    if (refuses) {
      *refused = true;
      stay(j, state, c);
      PAWL_TRY(pawl_log_refusal(j->log, j->before, c, err));
    }
    *snaps |= !refuses && system->constraints[c].on_engage != PAWL_ENGAGE_KEEP;
  }
  return PAWL_OK;
}

static bool is_idle(int mode) {
  return mode == PAWL_MODE_FREE || mode == PAWL_MODE_WAITING;
}

// A change between free and not free starts the clocks of a constraint anew, and its conditions
// have no side any more.
static void restart_clocks(PawlJump* j, PawlState* state) {
  const PawlSystem* system = j->dynamics->system;
  for (int c = 0; c < system->constraint_count; c++) {
    int from = j->before->modes[c], to = state->modes[c];
    if (!system->constraints[c].triggered) {
      continue;
    }
    if (to != PAWL_MODE_HELD || from != PAWL_MODE_HELD) {
      pawl_hold_drop(j->dynamics, state, c);
    }
    if (from == to || (!is_idle(from) && !is_idle(to))) {
      continue;  // nothing, or between sticking and sliding
    }
    state->since[c] = state->t;
    for (int k = 0; k < j->guards->condition_count; k++) {
      const PawlGuard* guard = &j->guards->all[k];
      if (guard->then != PAWL_THEN_EVENT && guard->of == c) {
        state->sides[k] = state->sides[k] == PAWL_SIDE_PINNED ? PAWL_SIDE_PINNED : 0;
      }
    }
  }
}

// All rows in force in the phase of a state, to j->set.
static void list_in_force(PawlJump* j, const PawlState* state) {
  for (int i = 0; i < j->dynamics->sizes.rows; i++) {
    j->set[i] = state->in_force[i] != PAWL_ROW_OF_LET_GO;
  }
}

// A joint that was at rest, and slides from now on.
static bool begins(const PawlJump* j, const PawlState* state, int c) {
  const PawlWatching* w = j->guards->watching;
  bool yes = false;
  for (int k = 0; k < w->joint_count; k++) {
    yes |= w->joints[k] == c && j->stick.undecided[k] && state->modes[c] >= PAWL_MODE_UP;
  }
  return yes;
}

// How fast a joint slides is measured from where its sliding begins. One that begins at rest may
// seem to move the other way, by the drift of what else holds: that much counts as rest until it
// moves on.
static PawlStatus begin_sliding(PawlJump* j, PawlState* state, PawlError* err) {
  static const double OF_DRIFT = 2.0;
  PawlPhase phase = pawl_phase_of(state, false);
  const double* watch = NULL;
  for (int k = 0; k < j->guards->condition_count; k++) {
    const PawlGuard* guard = &j->guards->all[k];
    if (guard->from != PAWL_FROM_SLIDING) {
      continue;
    }
    if (state->modes[guard->of] != j->before->modes[guard->of]) {
      state->largest[k] = state->blur[k] = 0.0;
    }
    if (begins(j, state, guard->of)) {
      if (!watch) {
        PAWL_TRY(pawl_watch_look(j->guards->watching, &phase, state, state->v, state->a,
                                 state->lambda, &watch, err));
      }
      double rate = watch[guard->at];
      bool back = state->modes[guard->of] == PAWL_MODE_UP ? rate < 0.0 : rate > 0.0;
      state->blur[k] = back ? OF_DRIFT * fabs(rate) : 0.0;
    }
  }
  return PAWL_OK;
}

// Positions move onto what is rigid; joints that hold by a finite force give way, and hold on where
// that takes them.
static PawlStatus snap(PawlJump* j, PawlState* state, const PawlValues** values, PawlError* err) {
  PawlDynamics* d = j->dynamics;
  PawlWatching* w = j->guards->watching;
  bool unused;
  list_in_force(j, state);
  for (int k = 0; k < w->joint_count; k++) {
    bool own = engages(j, state, w->joints[k]);  // it is the one that snaps
    int row = d->system->constraints[w->joints[k]].first_row;
    j->set[row] = j->set[row] && own;
  }
  PAWL_TRY(pawl_hold_snap(w, state, j->set, values, j->size, err));
  pawl_dynamics_row_sizes(d, (*values)->G, state->q, j->size);
  for (int k = 0; k < w->joint_count; k++) {
    int c = w->joints[k], row = d->system->constraints[c].first_row;
    if (state->modes[c] == PAWL_MODE_HELD && !j->set[row]) {
      (*values)->g[row] += state->held[row];
      pawl_hold_take(d, state, c, (*values)->g, j->size, j->guards->watch, &unused);
    }
  }
  return PAWL_OK;
}

// The new equations must hold where they begin, but for the drift that the old ones had (also those
// that followed from others) and the tolerance of the instant, or the motion would go on beside
// them.
static PawlStatus check_meeting(PawlJump* j, const PawlState* state, const PawlValues** values,
                                PawlError* err) {
  static const double MORE_THAN_BEFORE = 10.0;
  PawlDynamics* d = j->dynamics;
  int row = 0, of_before = 0, number;
  double off =
      pawl_hold_worst(d, state, *values, state->active, 2 * pawl_dynamics_instant(d, state->t),
                      rates(j, state, *values), j->size, &row);
  if (off <= PAWL_MEETS) {
    return PAWL_OK;
  }
  double value = (*values)->g[row];
  PAWL_TRY(evaluate(j, j->before, values, err));
  list_in_force(j, j->before);
  double drift = pawl_hold_worst(d, j->before, *values, j->set, 0.0, NULL, j->size, &of_before);
  PAWL_TRY(evaluate(j, state, values, err));
  const char* name = pawl_system_row_name(d->system, row, &number);
  return off <= PAWL_MEETS + MORE_THAN_BEFORE * drift
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_RUN,
                         "t = %.10g: constraint '%s' (row %d) is off by %.3g where its new mode "
                         "begins: the two branches do not meet on the switching surface",
                         state->t, name, number + 1, value);
}

// ---- the velocities -----------------------------------------------------------------------------
// Rows in force after, j->set; of these, j->persistent were in force before and stand for the same
// equation. True when some are new.
static bool list_added(PawlJump* j, const PawlState* state) {
  const PawlSystem* system = j->dynamics->system;
  bool any = false;
  list_in_force(j, state);
  for (int i = 0; i < j->dynamics->sizes.rows; i++) {
    int c = system->row_constraint[i];
    bool other = c >= 0 && pawl_system_switched(system, c, j->before->modes, state->modes);
    j->persistent[i] = j->before->in_force[i] && j->set[i] && !other;
    any |= j->set[i] && !j->persistent[i];
  }
  return any;
}

// A finite force carries no impulse: joints with a capacity take no part in a jump, and slide
// afterwards if it has set them in motion. Contacts are hit by what the jump makes of the
// velocities (C9). True when other rows are new.
static bool leave_out_joints(PawlJump* j, const PawlState* state) {
  bool any = false;
  for (int i = 0; i < j->dynamics->sizes.rows; i++) {
    j->set[i] = j->set[i] && pawl_row_jumps((PawlRowOf)state->in_force[i]) &&
                state->in_force[i] != PAWL_ROW_OF_CONTACT;
    any |= j->set[i] && !j->persistent[i];
  }
  return any;
}

// Those that held, or engaged at rest, and have another rate by the jump. *any: some.
static void slide_after_jump(PawlJump* j, PawlState* state, const PawlValues* values, bool* any) {
  PawlDynamics* d = j->dynamics;
  const PawlWatching* w = j->guards->watching;
  *any = false;
  for (int k = 0; k < d->sizes.v; k++) {
    j->dv[k] = state->v[k] - j->before->v[k];
  }
  pawl_dynamics_rows(d, values->G, j->dv, NULL, j->rate);
  for (int k = 0; k < w->joint_count; k++) {
    int c = w->joints[k], row = d->system->constraints[c].first_row;
    if (state->modes[c] == PAWL_MODE_HELD && fabs(j->rate[row]) > PAWL_REST * pace(j, state)) {
      state->modes[c] = j->rate[row] > 0.0 ? PAWL_MODE_UP : PAWL_MODE_DOWN;
      pawl_hold_drop(d, state, c);
      *any = true;
    }
  }
}

static PawlStatus contradiction(const PawlDynamics* d, const PawlState* state, int row,
                                PawlError* err) {
  int number;
  const char* name = pawl_system_row_name(d->system, row, &number);
  PawlText others = {0};
  if (!state->redundant[row]) {
    (void)pawl_dynamics_list_rows(d, state->redundant, &others);
  }
  PawlStatus status = pawl_fail(
      err, PAWL_ERROR_RUN,
      "t = %.10g: constraint '%s' (row %d) contradicts %s%sthat hold now: no velocities satisfy "
      "all of them",
      state->t, name, number + 1, others.s ? others.s : "the others ",
      others.s ? " and the others " : "");
  pawl_text_free(&others);
  return status;
}

// Rows that depend on each other may ask for different rates: then no velocity serves them all.
static PawlStatus check_rates(PawlJump* j, const PawlState* state, const PawlValues* values,
                              PawlError* err) {
  static const double OF_INSTANT = 1e3, OF_DRIFT = 10.0;
  PawlDynamics* d = j->dynamics;
  double of_instant = OF_INSTANT * pawl_dynamics_instant(d, state->t) *
                      pawl_dynamics_largest(pawl_moving(d->sizes), j->before->a);
  double rounding = of_instant + OF_DRIFT * j->drift_rate;
  const double* rate = rates(j, state, values);
  pawl_sparse_sizes(&d->G, values->G, state->v, 0.0, j->size);
  for (int i = 0; i < d->sizes.rows; i++) {
    double size = j->size[i] + fabs(values->g_t[i]) + PAWL_REST * pace(j, state);
    if (j->set[i] && fabs(rate[i]) > PAWL_CONTRADICTS * size + rounding) {
      return contradiction(d, state, i, err);
    }
  }
  return PAWL_OK;
}

static PawlStatus solve_post(PawlJump* j, const PawlState* state, const PawlValues* values,
                             double* impulse) {
  PawlDynamics* d = j->dynamics;
  if (j->full && pawl_dynamics_is_factored(d, values, j->set)) {
    j->dependent_count = 0;
    pawl_transition_solve_factored(j->transition, values->G, j->set, state->v, values->g_t, j->dv,
                                   impulse);
    return PAWL_OK;
  }
  d->info.factorizations++;
  return pawl_transition_solve(j->transition, values->M, values->G, j->persistent, j->set, state->v,
                               values->g_t, j->dv, impulse, NULL, &j->dependent_count);
}

// Adds dv to the rates, or says why there is none.
static PawlStatus add_jump(PawlJump* j, PawlStatus found, PawlState* state,
                           const PawlValues* values, PawlError* err) {
  PawlDynamics* d = j->dynamics;
  if (found != PAWL_OK) {
    return found == PAWL_RETRY
               ? pawl_dynamics_singular(d, values->M, values->G, j->set, state->t, err)
               : pawl_fail_memory(err);
  }
  for (int k = 0; k < d->sizes.v; k++) {
    state->v[k] += j->dv[k];
  }
  return PAWL_OK;
}

// The law post in one of its forms: M dv = G^T Lambda, G (v + dv) = -g_t over the rows of j->set.
static PawlStatus jump_post(PawlJump* j, PawlState* state, const PawlValues* values,
                            double* impulse, PawlError* err) {
  PawlDynamics* d = j->dynamics;
  const double* rate = rates(j, state, values);
  j->drift_rate = 0.0;  // what the method allows the rows that stay in force
  for (int i = 0; i < d->sizes.rows; i++) {
    j->drift_rate = j->persistent[i] ? fmax(j->drift_rate, fabs(rate[i])) : j->drift_rate;
  }
  PawlStatus status = solve_post(j, state, values, impulse);
  return add_jump(j, status, state, values, err);
}

// The rates of the rows are set by the least change of the velocities, whatever the masses:
// dv = G^T y, G G^T y = -(G v + g_t). For a joint that locks: its rate becomes zero, no other. (V5)
static PawlStatus jump_none(PawlJump* j, PawlState* state, const PawlValues* values,
                            PawlError* err) {
  PawlDynamics* d = j->dynamics;
  const double* rate = rates(j, state, values);
  memset(j->dv, 0, (size_t)d->sizes.v * sizeof(double));
  for (int i = 0; i < d->sizes.rows; i++) {
    j->correction[i] = state->active[i] ? -rate[i] : 0.0;
  }
  PAWL_TRY(pawl_dynamics_solve(d, values, j->identity, values->G, values->G, state->active,
                               state->t, j->dv, j->correction, err));
  for (int k = 0; k < d->sizes.v; k++) {
    state->v[k] += j->dv[k];
  }
  return PAWL_OK;
}

// The energy that each row takes: -Lambda_i (rate before + rate after)/2, which add up to the loss
// of kinetic energy, since M (v+ - v-) = G^T Lambda.                                         (V9)
static void share_loss(PawlJump* j, const PawlState* state, const PawlValues* values) {
  PawlDynamics* d = j->dynamics;
  pawl_sparse_add(&d->G, values->G, 0.5, j->before->v, j->loss);
  pawl_sparse_add(&d->G, values->G, 0.5, state->v, j->loss);
  for (int i = 0; i < d->sizes.rows; i++) {
    assert(j->set[i] || j->impulse[i] == 0.0);  // rows not in force carry nothing
    j->loss[i] *= -j->impulse[i];
  }
}

static PawlStatus jump_velocities(PawlJump* j, PawlState* state, PawlImpactLaw law,
                                  const PawlValues** values, PawlError* err) {
  PawlDynamics* d = j->dynamics;
  PawlCrossing crossing = {j->law, j->before, j->G_before};
  PawlPhase phase = pawl_phase_of(state, false);
  double gain;
  assert(law.epsilon == PAWL_LAW_NONE || (law.epsilon >= 0.0 && law.epsilon <= 1.0));
  if (law.epsilon == PAWL_LAW_NONE) {
    return jump_none(j, state, *values, err);
  }
  if (law.epsilon == 1.0) {
    bool slides;
    if (!leave_out_joints(j, state)) {
      return PAWL_OK;
    }
    PAWL_TRY(jump_post(j, state, *values, j->impulse, err));
    if (j->dependent_count > 0) {
      PAWL_TRY(check_rates(j, state, *values, err));
    }
    share_loss(j, state, *values);
    slide_after_jump(j, state, *values, &slides);
    if (slides) {
      PAWL_TRY(evaluate(j, state, values, err));
      PAWL_TRY(pawl_dynamics_reduce(d, state, *values, err));
    }
    PAWL_TRY(pawl_law_gain(&crossing, &phase, state->v, &gain, err));
  } else {
    unsigned flips;
    PAWL_TRY(
        pawl_law_solve(&crossing, &phase, *values, law, state->v, j->impulse, &flips, &gain, err));
  }
  return pawl_law_check_gain(&crossing, &phase, law, gain, err);
}

// The impact of contacts by what the velocities are now, for the rates that they had before the
// instant.                                                                                   (C9)
static PawlStatus strike(PawlJump* j, PawlState* state, const PawlValues** values, PawlError* err) {
  bool any, slides;
  PAWL_TRY(pawl_strike_part(&j->strike, state, *values, &any, err));
  PAWL_TRY(any ? evaluate(j, state, values, err) : PAWL_OK);
  PAWL_TRY(pawl_strike(&j->strike, state, j->before->v, *values, j->impulse, &any, err));
  if (!any) {
    return PAWL_OK;
  }
  for (int i = 0; i < j->dynamics->sizes.rows; i++) {
    j->set[i] = 1;
  }
  memset(j->loss, 0, j->rows * sizeof(double));
  share_loss(j, state, *values);
  slide_after_jump(j, state, *values, &slides);
  if (slides) {
    PAWL_TRY(evaluate(j, state, values, err));
    PAWL_TRY(pawl_dynamics_reduce(j->dynamics, state, *values, err));
  }
  return PAWL_OK;
}

// Takes rounding out of the rates of joints that stick, and of contacts that are closed.
static PawlStatus stop_newly_held(PawlJump* j, PawlState* state, PawlError* err) {
  const PawlValues* values = pawl_eval_values(j->dynamics->eval);
  list_in_force(j, state);
  memset(j->persistent, 0, j->rows);
  return jump_post(j, state, values, j->correction, err);
}

// A lock that has waited for rest, and engages now.
static bool has_waited(const PawlJump* j, const PawlState* state, const int* next, int c) {
  return j->dynamics->system->constraints[c].triggered && state->modes[c] == PAWL_MODE_WAITING &&
         next[c] == PAWL_MODE_HELD;
}

// All rows in force to j->set, with those of locks that have waited, whose equation is in the mode
// that they come to; evaluates with these.
static PawlStatus evaluate_waited(PawlJump* j, PawlState* state, const int* next,
                                  const PawlValues** values, PawlError* err) {
  const PawlSystem* system = j->dynamics->system;
  for (int i = 0; i < j->dynamics->sizes.rows; i++) {
    int c = system->row_constraint[i];
    j->persistent[i] = c >= 0 && has_waited(j, state, next, c);
    j->set[i] = state->in_force[i] || j->persistent[i];
  }
  for (int i = 0; i < j->dynamics->sizes.rows; i++) {
    if (j->persistent[i]) {
      state->modes[system->row_constraint[i]] = PAWL_MODE_HELD;
    }
  }
  PawlStatus status = evaluate(j, state, values, err);
  for (int i = 0; i < j->dynamics->sizes.rows; i++) {
    if (j->persistent[i]) {
      state->modes[system->row_constraint[i]] = PAWL_MODE_WAITING;
    }
  }
  return status;
}

// What holds has no rate, but methods let it drift; where joints are to be judged, or rows to be
// taken away, that drift is taken out of the velocities first. A lock that has waited for rest
// stays at rest, or what takes the drift away would set it in motion.
static PawlStatus clean_rates(PawlJump* j, PawlState* state, const int* next, PawlError* err) {
  const PawlValues* values;
  bool drifts = false, contacts = false;
  for (int i = j->strike.first; i < j->strike.end; i++) {
    contacts |= state->in_force[i] != PAWL_ROW_OF_LET_GO;
  }
  if (j->guards->watching->joint_count == 0 && !contacts) {
    return PAWL_OK;
  }
  PAWL_TRY(evaluate_waited(j, state, next, &values, err));
  const double* rate = rates(j, state, values);
  for (int i = 0; i < j->dynamics->sizes.rows; i++) {
    drifts |= j->set[i] && fabs(rate[i]) > PAWL_REST * PAWL_REST_DRIFT * pace(j, state);
  }
  memset(j->persistent, 0, j->rows);
  return drifts ? jump_post(j, state, values, j->correction, err) : PAWL_OK;
}

// Where nothing but gaps has come to zero, the instant is that of the first of them.
static PawlStatus go_back(PawlJump* j, PawlState* state, PawlError* err) {
  const PawlValues* values;
  if (!j->guards->contacts || !j->guards->only_touched) {
    return PAWL_OK;
  }
  PAWL_TRY(evaluate(j, state, &values, err));
  pawl_strike_back(&j->strike, state, values);
  return PAWL_OK;
}

// ---- the instant --------------------------------------------------------------------------------
// The gradient before is needed where the law lies between it and that after.
static PawlStatus keep_gradient(PawlJump* j, PawlImpactLaw law, PawlError* err) {
  const PawlValues* values;
  if (law.epsilon == 1.0 || law.epsilon == PAWL_LAW_NONE) {
    return PAWL_OK;
  }
  PAWL_TRY(evaluate(j, j->before, &values, err));
  memcpy(j->G_before, values->G, (size_t)j->dynamics->nonzeros_G * sizeof(double));
  return PAWL_OK;
}

// Impact and forces, to the modes that follow. Contacts whose bounces are too low to be followed
// are hit again without restitution, until there are no more of them.                     (C10)
// (C12)
static PawlStatus strike_and_settle(PawlJump* j, PawlState* state, bool* newly_held,
                                    PawlError* err) {
  const PawlGuards* g = j->guards;
  const PawlValues* values;
  bool ends = true;
  pawl_phase_copy(j->struck, state);
  memcpy(j->struck_impulse, j->impulse, j->rows * sizeof(double));
  pawl_bounce_begin(&j->bounce);
  while (ends) {
    PAWL_TRY(evaluate(j, state, &values, err));
    PAWL_TRY(strike(j, state, &values, err));
    PAWL_TRY(pawl_stick_settle(&j->stick, state, j->before->v, newly_held, err));
    pawl_bounce_note(&j->bounce, state, pawl_eval_values(j->dynamics->eval),
                     state->largest + g->first_gap, g->gap_stride, &ends);
    if (ends) {
      memcpy(j->struck->bounces, state->bounces, j->bounce.bytes);
      pawl_phase_copy(state, j->struck);
      memcpy(j->impulse, j->struck_impulse, j->rows * sizeof(double));
    }
  }
  pawl_bounce_end(&j->bounce, state);
  return PAWL_OK;
}

// What follows from the velocities after: joints that stick or slide, accelerations, multipliers,
// sides. *energy is that after the jump.
static PawlStatus settle_after(PawlJump* j, PawlState* state, double* energy, PawlError* err) {
  PawlDynamics* d = j->dynamics;
  bool newly_held;
  PAWL_TRY(j->guards->contacts
               ? strike_and_settle(j, state, &newly_held, err)
               : pawl_stick_settle(&j->stick, state, j->before->v, &newly_held, err));
  const PawlValues* values = pawl_eval_values(d->eval);
  *energy = values->energy[0] + values->energy[1];
  if (newly_held) {
    PAWL_TRY(stop_newly_held(j, state, err));
  }
  assert(pawl_modes_in_range(d->system, state->modes));
  PAWL_TRY(begin_sliding(j, state, err));
  d->info.redundant_rows = state->redundant_count;
  if (pawl_system_switches(d->system)) {
    PAWL_TRY(pawl_surfaces_enter(j->guards->surfaces, state, j->before->modes, err));
  }
  for (size_t i = 0; j->guards->contacts && i < j->rows; i++) {
    j->guards->touched[i] &= j->strike.hit[i];  // conditions on gaps turn where a contact is hit
  }
  PAWL_TRY(pawl_guards_enter(j->guards, state, err));
  if (j->guards->contacts) {
    pawl_guards_forget_contacts(j->guards);
  }
  return PAWL_OK;
}

// No impulses, no losses, no contact hit.
static void clear_impulses(PawlJump* j) {
  memset(j->impulse, 0, j->rows * sizeof(double));
  memset(j->loss, 0, j->rows * sizeof(double));
  if (j->guards->contacts) {
    memset(j->strike.hit, 0, j->rows);
  }
}

// Whether a contact is worth an entry: hit, closed or opened.
static bool is_met(const PawlJump* j, const PawlState* state, int row) {
  int k = pawl_modes_of_contact(j->dynamics->system, row);
  return j->strike.hit[row] || state->modes[k] != j->before->modes[k];
}

// What contacts have taken of the energy of an instant.
static double loss_of_contacts(const PawlJump* j, const PawlState* state) {
  double loss = 0.0;
  for (int i = j->strike.first; i < j->strike.end; i++) {
    loss += is_met(j, state, i) ? j->loss[i] : 0.0;
  }
  return loss;
}

// One entry for each contact that was hit, has closed or has opened. `rest`: what of the energy is
// left for the first.
static PawlStatus log_contacts(PawlJump* j, const PawlState* state, double rest, PawlError* err) {
  for (int i = j->strike.first; i < j->strike.end; i++) {
    if (is_met(j, state, i)) {
      PawlContactMet met = {i, j->impulse[i], j->loss[i] + rest, j->before->modes, j->before->v};
      PAWL_TRY(pawl_log_met(j->log, state, &met, err));
      rest = 0.0;
    }
  }
  return PAWL_OK;
}

// Whether anything but contacts has changed its mode.
static bool has_switched(const PawlJump* j, const PawlState* state) {
  int contacts = j->strike.end - j->strike.first;
  return memcmp(state->modes, j->before->modes,
                (size_t)(state->mode_count - contacts) * sizeof(int)) != 0;
}

// What has changed, from velocities `v`: constraints in one entry, then contacts; together they
// have the energy that was lost.
static PawlStatus log_jump(PawlJump* j, const PawlState* state, const double* v, double lost,
                           PawlError* err) {
  double rest = lost - loss_of_contacts(j, state);
  if (has_switched(j, state)) {
    PAWL_TRY(pawl_log_switch(j->log, state, j->before->modes, v, j->impulse, j->loss, rest, err));
    rest = 0.0;
  }
  return log_contacts(j, state, rest, err);
}

// The jump after something else was logged with its energy `lost`: of the impulses only those of
// contacts.
static PawlStatus log_rest(PawlJump* j, const PawlState* state, PawlError* err) {
  if (has_switched(j, state)) {
    PAWL_TRY(pawl_log_switch(j->log, state, j->before->modes, state->v, NULL, NULL, 0.0, err));
  }
  return log_contacts(j, state, 0.0, err);
}

PawlStatus pawl_jump(PawlJump* j, PawlState* state, const int* next, PawlError* err) {
  PawlDynamics* d = j->dynamics;
  const PawlValues* values;
  PawlImpactLaw law;
  bool snaps, refused;
  double after;
  assert(pawl_modes_in_range(d->system, next) && state->bytes == j->before->bytes);
  PAWL_TRY(clean_rates(j, state, next, err));
  PAWL_TRY(go_back(j, state, err));
  pawl_phase_copy(j->before, state);
  memcpy(state->modes, next, pawl_phase_mode_bytes(state));
  PAWL_TRY(pawl_law_of(d, state->t, j->before->modes, next, &law, err));
  PAWL_TRY(keep_gradient(j, law, err));
  restart_clocks(j, state);
  PAWL_TRY(evaluate(j, state, &values, err));
  double before = values->energy[0] + values->energy[1];
  PAWL_TRY(capture(j, state, values, &snaps, &refused, err));
  if (refused) {
    PAWL_TRY(evaluate(j, state, &values, err));
  }
  char* warning = d->warning;
  PAWL_TRY(pawl_dynamics_reduce(d, state, values, err));
  if (snaps) {
    PAWL_TRY(evaluate(j, state, &values, err));
    PAWL_TRY(snap(j, state, &values, err));
  }
  PAWL_TRY(check_meeting(j, state, &values, err));
  clear_impulses(j);
  if (list_added(j, state)) {
    PawlStatus status = jump_velocities(j, state, law, &values, err);
    if (status != PAWL_OK) {
      d->warning = warning;  // rows that contradict each other do not follow from each other
      return status;
    }
  }
  PAWL_TRY(settle_after(j, state, &after, err));
  return log_jump(j, state, j->before->v, before - after, err);
}

// ---- impulsive forces ---------------------------------------------------------------------------
// M dv = G^T Lambda + U over the rows in force that carry impulses.                          (X11)
static PawlStatus push_velocities(PawlJump* j, PawlState* state, const PawlValues* values,
                                  const double* U, PawlError* err) {
  PawlDynamics* d = j->dynamics;
  (void)list_added(j, state);
  (void)leave_out_joints(j, state);
  d->info.factorizations++;
  PawlStatus status = pawl_transition_push(j->transition, values->M, values->G, j->persistent,
                                           j->set, state->v, values->g_t, U, j->dv, j->impulse);
  return add_jump(j, status, state, values, err);
}

PawlStatus pawl_jump_push(PawlJump* j, PawlState* state, const double* U, int event,
                          PawlError* err) {
  const PawlValues* values;
  bool slides;
  double after;
  PAWL_TRY(clean_rates(j, state, state->modes, err));
  pawl_phase_copy(j->before, state);
  PAWL_TRY(evaluate(j, state, &values, err));
  double before = values->energy[0] + values->energy[1];
  clear_impulses(j);
  PAWL_TRY(push_velocities(j, state, values, U, err));
  slide_after_jump(j, state, values, &slides);
  if (slides) {
    PAWL_TRY(evaluate(j, state, &values, err));
    PAWL_TRY(pawl_dynamics_reduce(j->dynamics, state, values, err));
  }
  PAWL_TRY(settle_after(j, state, &after, err));
  double lost = before - after - loss_of_contacts(j, state);
  PAWL_TRY(pawl_log_push(j->log, state, event, j->before->v, U, j->impulse, lost, err));
  return log_rest(j, state, err);
}

// ---- states and inputs --------------------------------------------------------------------------
static void assign(const PawlJump* j, PawlState* state, const PawlEventDef* event) {
  const PawlSystem* system = j->dynamics->system;
  for (int k = event->first_set; k < event->first_set + event->set_count; k++) {
    const PawlSet* set = &system->model->sets[k];
    double* target = set->coordinate >= 0 ? &state->v[set->coordinate]
                                          : &pawl_phase_inputs(state, system)[set->input];
    *target = j->guards->assign_values[k];
  }
}

// A clock that ticks all the time is not logged, but where it changes the energy.
static PawlStatus log_assigned(PawlJump* j, const PawlState* state, double lost, PawlError* err) {
  const PawlModel* model = j->dynamics->system->model;
  const PawlGuards* g = j->guards;
  bool logged = false;
  for (int k = 0; k < g->assign_count; k++) {
    if (model->events[g->assigns[k]].trigger.every == 0.0) {
      PAWL_TRY(
          pawl_log_assign(j->log, state, g->assigns[k], j->before->v, logged ? 0.0 : lost, err));
      logged = true;
    }
  }
  int event = g->assign_count > 0 ? g->assigns[0] : -1;
  return logged || lost == 0.0 ? PAWL_OK
                               : pawl_log_assign(j->log, state, event, j->before->v, lost, err);
}

PawlStatus pawl_jump_assign(PawlJump* j, PawlState* state, PawlError* err) {
  const PawlSystem* system = j->dynamics->system;
  const PawlValues* values;
  double after;
  PAWL_TRY(clean_rates(j, state, state->modes, err));
  pawl_phase_copy(j->before, state);
  PAWL_TRY(evaluate(j, state, &values, err));
  double before = values->energy[0] + values->energy[1];
  for (int k = 0; k < j->guards->assign_count; k++) {
    assign(j, state, &system->model->events[j->guards->assigns[k]]);
  }
  clear_impulses(j);
  PAWL_TRY(settle_after(j, state, &after, err));
  PAWL_TRY(log_assigned(j, state, before - after, err));
  return log_rest(j, state, err);
}

// ---- the start ----------------------------------------------------------------------------------
// A joint with a capacity that moves from the start slides, unless it is to wait for rest.
static void slide_from_start(PawlJump* j, PawlState* state, int c) {
  const PawlSystem* system = j->dynamics->system;
  double rate = j->guards->watch[system->watches[c].rate];
  if (state->modes[c] == PAWL_MODE_HELD && !system->constraints[c].switching.smooth &&
      fabs(rate) > PAWL_REST * pace(j, state)) {
    state->modes[c] = rate > 0.0 ? PAWL_MODE_UP : PAWL_MODE_DOWN;
    pawl_hold_drop(j->dynamics, state, c);
  }
}

PawlStatus pawl_jump_start(PawlJump* j, PawlState* state, PawlError* err) {
  const PawlSystem* system = j->dynamics->system;
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, false);
  bool unused;  // a start is checked elsewhere
  pawl_guards_start(j->guards, state);
  if (j->guards->contacts) {
    pawl_bounce_start(&j->bounce, state);
  }
  if (system->watch_count > 0) {
    PAWL_TRY(pawl_watch_look(j->guards->watching, &phase, state, state->v, state->a, state->lambda,
                             &j->guards->watch, err));
  }
  PAWL_TRY(evaluate(j, state, &values, err));
  pawl_dynamics_row_sizes(j->dynamics, values->G, state->q, j->size);
  for (int c = 0; c < system->constraint_count; c++) {
    if (system->constraints[c].triggered && state->modes[c] == PAWL_MODE_HELD) {
      pawl_hold_take(j->dynamics, state, c, values->g, j->size, j->guards->watch, &unused);
    }
  }
  for (int k = 0; k < j->guards->watching->joint_count; k++) {
    slide_from_start(j, state, j->guards->watching->joints[k]);
  }
  pawl_phase_activate(system, state);
  return PAWL_OK;
}

PawlStatus pawl_jump_settle_start(PawlJump* j, PawlState* state, PawlError* err) {
  bool newly_held;
  PAWL_TRY(pawl_stick_settle(&j->stick, state, state->v, &newly_held, err));
  if (newly_held) {
    PAWL_TRY(stop_newly_held(j, state, err));
  }
  if (pawl_system_switches(j->dynamics->system)) {
    PAWL_TRY(pawl_surfaces_enter(j->guards->surfaces, state, NULL, err));
  }
  return pawl_guards_enter(j->guards, state, err);
}
