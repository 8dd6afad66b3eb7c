// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/closed.h"
#include "switch/grip.h"
#include "switch/hold.h"
#include "switch/jump_impl.h"
#include "switch/modes.h"
#include "switch/recall.h"
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
                  .told_at = NAN,
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
                  .touched = PAWL_NEW(d->arena, unsigned char, rows),
                  .v_first = PAWL_NEW(d->arena, double, d->sizes.v),
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
    PAWL_TRY(pawl_grip_create(guards->watching, d->slip, &guards->watching->grip, err));
    PAWL_TRY(pawl_recall_create(guards->watching->grip, err));
    PAWL_TRY(pawl_strike_create(guards->watching, guards->touched, guards->jams, guards->slack,
                                &j->strike, err));
    pawl_stick_take_contacts(&j->stick, &j->strike, guards->pulled, guards->lifted, guards->broken);
    PAWL_TRY(pawl_bounce_create(&j->strike, &j->bounce, err));
    PAWL_TRY(pawl_phase_state(shape, &j->struck, err));
  } else if (guards->reacts) {
    PAWL_TRY(pawl_closed_create(guards->watching, err));
  }
  PAWL_TRY(make_transition(j, err));
  return pawl_phase_state(shape, &j->before, err);
}

void pawl_jump_destroy(PawlJump* j) {
  if (j->guards) {
    pawl_grip_destroy(j->guards->watching->grip);
    pawl_closed_destroy(j->guards->watching);
  }
  pawl_transition_destroy(j->transition);
  pawl_state_destroy(j->before);
  pawl_state_destroy(j->struck);
}

// ---- what is held -------------------------------------------------------------------------------
static bool engages(const PawlJump* j, const PawlState* state, int c) {
  return j->dynamics->system->constraints[c].triggered && state->modes[c] == PAWL_MODE_HELD &&
         j->before->modes[c] != PAWL_MODE_HELD;
}

// What is part of a constraint lets go with it, and does not engage without it.
static void let_go_with(const PawlSystem* system, PawlState* state) {
  for (int c = 0; c < system->constraint_count; c++) {
    int whole = system->constraints[c].part_of - 1;
    if (whole >= 0 && state->modes[whole] == PAWL_MODE_FREE) {
      state->modes[c] = PAWL_MODE_FREE;
    }
  }
}

// A constraint that does not engage is as it was.
static void stay(const PawlJump* j, PawlState* state, int c) {
  assert(engages(j, state, c));
  state->modes[c] = j->before->modes[c];
  state->since[c] = j->before->since[c];
  pawl_hold_drop(j->dynamics, state, c);
  pawl_hold_set(j->dynamics, state, c, NULL);
  for (int k = 0; k < j->guards->condition_count; k++) {
    const PawlGuard* guard = &j->guards->all[k];
    if (guard->then != PAWL_THEN_EVENT && guard->of == c) {
      state->sides[k] = j->before->sides[k];
    }
  }
}

// States that constraints set, which equations need before they have values: those of one that
// engages from the place, of one that lets go as they start. *any: some are others now.     (V2a)
static PawlStatus set_kept(PawlJump* j, PawlState* state, bool* any, PawlError* err) {
  const PawlSystem* system = j->dynamics->system;
  PawlPhase phase = pawl_phase_of(j->before, false);
  const double* watch = NULL;
  *any = false;
  for (int c = 0; c < system->constraint_count; c++) {
    bool held = j->before->modes[c] == PAWL_MODE_HELD, holds = state->modes[c] == PAWL_MODE_HELD;
    if (system->constraints[c].set_count == 0 || held == holds) {
      continue;
    }
    if (!watch && holds) {
      PAWL_TRY(pawl_watch_look(j->guards->watching, &phase, j->before, j->before->v, j->before->a,
                               j->before->lambda, &watch, err));
    }
    pawl_hold_set(j->dynamics, state, c, holds ? watch + system->first_set : NULL);
    *any = true;
  }
  return PAWL_OK;
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

// A joint that was at rest, and slides from now on.
static bool begins(const PawlJump* j, const PawlState* state, int c) {
  const PawlWatching* w = j->guards->watching;
  bool yes = false;
  for (int k = 0; k < w->joint_count; k++) {
    yes |= w->joints[k] == c && j->stick.undecided[k] && state->modes[c] >= PAWL_MODE_UP;
  }
  return yes;
}

// What holds is let go beyond what its capacity is known to.                                 (F26a)
static void blur_capacities(PawlJump* j, PawlState* state) {
  const PawlWatching* w = j->guards->watching;
  for (int k = 0; k < j->guards->condition_count; k++) {
    const PawlGuard* guard = &j->guards->all[k];
    for (int i = 0; guard->what == PAWL_GUARD_CAPACITY && i < w->joint_count; i++) {
      state->blur[k] = w->joints[i] == guard->of ? j->stick.noise[i] : state->blur[k];
    }
  }
}

// How fast a joint slides is measured from where its sliding begins. One that begins at rest may
// seem to move the other way, by the drift of what else holds: that much counts as rest until it
// moves on. So does the rounding of time steps, which find rates with the forces of contacts.
static PawlStatus begin_sliding(PawlJump* j, PawlState* state, PawlError* err) {
  static const double OF_DRIFT = 2.0;
  PawlPhase phase = pawl_phase_of(state, false);
  const double* watch = NULL;
  bool stepped = j->dynamics->contacts && !j->guards->contacts;
  double pace = pawl_dynamics_pace(j->dynamics, state, pawl_eval_values(j->dynamics->eval));
  double known = stepped ? PAWL_ROUNDING * pace : 0.0;
  for (int k = 0; k < j->guards->condition_count; k++) {
    const PawlGuard* guard = &j->guards->all[k];
    if (guard->from != PAWL_FROM_SLIDING) {
      continue;
    }
    if (state->modes[guard->of] != j->before->modes[guard->of]) {
      state->largest[k] = 0.0;
      state->blur[k] = known;
    }
    if (begins(j, state, guard->of)) {
      if (!watch) {
        PAWL_TRY(pawl_watch_look(j->guards->watching, &phase, state, state->v, state->a,
                                 state->lambda, &watch, err));
      }
      double rate = watch[guard->at];
      bool back = state->modes[guard->of] == PAWL_MODE_UP ? rate < 0.0 : rate > 0.0;
      state->blur[k] = fmax(back ? OF_DRIFT * fabs(rate) : 0.0, known);
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
  pawl_jump_list_in_force(j, state);
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
                      pawl_jump_rates(j, state, *values), j->size, &row);
  if (off <= PAWL_MEETS) {
    return PAWL_OK;
  }
  double value = (*values)->g[row];
  PAWL_TRY(pawl_jump_evaluate(j, j->before, values, err));
  pawl_jump_list_in_force(j, j->before);
  double drift = pawl_hold_worst(d, j->before, *values, j->set, 0.0, NULL, j->size, &of_before);
  PAWL_TRY(pawl_jump_evaluate(j, state, values, err));
  const char* name = pawl_system_row_name(d->system, row, &number);
  return off <= PAWL_MEETS + MORE_THAN_BEFORE * drift
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_RUN,
                         "t = %.10g: constraint '%s' (row %d) is off by %.3g where its new mode "
                         "begins: the two branches do not meet on the switching surface",
                         state->t, name, number + 1, value);
}

// Joints that hold by their capacity may slide in the end, as stick.c decides: it names the rows
// that follow from others then. A friction that turns where others move on is held by none.
PawlStatus pawl_jump_reduce(PawlJump* j, PawlState* state, const PawlValues* values,
                            PawlError* err) {
  return j->guards->watching->joint_count > 0
             ? pawl_dynamics_choose_rows(j->dynamics, state, values, err)
             : pawl_dynamics_reduce(j->dynamics, state, values, err);
}

// ---- the instant --------------------------------------------------------------------------------
// The gradient before is needed where the law lies between it and that after.
static PawlStatus keep_gradient(PawlJump* j, PawlImpactLaw law, PawlError* err) {
  const PawlValues* values;
  if (law.epsilon == 1.0 || law.epsilon == PAWL_LAW_NONE) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_jump_evaluate(j, j->before, &values, err));
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
  if (j->strike.waits) {
    PAWL_TRY(pawl_jump_evaluate(j, state, &values, err));
    PAWL_TRY(pawl_jump_strike(j, state, &values, err));
    return pawl_jump_settle(j, state, newly_held, err);
  }
  pawl_phase_copy(j->struck, state);
  memcpy(j->struck_impulse, j->impulse, j->rows * sizeof(double));
  pawl_bounce_begin(&j->bounce);
  while (ends) {
    PAWL_TRY(pawl_jump_evaluate(j, state, &values, err));
    PAWL_TRY(pawl_jump_strike(j, state, &values, err));
    PAWL_TRY(pawl_jump_settle(j, state, newly_held, err));
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

// Sides after a jump. What has touched counts as hit by the last jump of the instant.
static PawlStatus enter(PawlJump* j, PawlState* state, PawlError* err) {
  PawlGuards* g = j->guards;
  if (!g->contacts) {
    return pawl_guards_enter(g, state, err);
  }
  memcpy(j->touched, g->touched, j->rows);
  for (int i = j->strike.first; i < j->strike.end; i++) {
    int mode = j->before->modes[pawl_modes_of_contact(j->dynamics->system, i)];
    g->touched[i] |= mode == PAWL_MODE_OPEN;  // met at the instant of something else
    g->touched[i] &= j->strike.hit[i];        // conditions on gaps turn where a contact is hit
  }
  PAWL_TRY(pawl_guards_enter(g, state, err));
  pawl_guards_forget_contacts(g);
  if (j->strike.waits) {
    memcpy(g->touched, j->touched, j->rows);
  }
  return PAWL_OK;
}

// What follows from the velocities after: joints that stick or slide, accelerations, multipliers,
// sides. *energy is that after the jump.
PawlStatus pawl_jump_settle_after(PawlJump* j, PawlState* state, double* energy, PawlError* err) {
  PawlDynamics* d = j->dynamics;
  bool newly_held;
  PAWL_TRY(j->guards->contacts
               ? strike_and_settle(j, state, &newly_held, err)
               : pawl_stick_settle(&j->stick, state, j->before->v, &newly_held, err));
  const PawlValues* values = pawl_eval_values(d->eval);
  *energy = values->energy[0] + values->energy[1];
  if (newly_held) {
    PAWL_TRY(pawl_jump_stop_newly_held(j, state, err));
  }
  assert(pawl_modes_in_range(d->system, state->modes));
  blur_capacities(j, state);
  PAWL_TRY(begin_sliding(j, state, err));
  d->info.redundant_rows = state->redundant_count;
  if (pawl_system_switches(d->system)) {
    PAWL_TRY(pawl_surfaces_enter(j->guards->surfaces, state, j->before->modes, err));
  }
  return enter(j, state, err);
}

// No impulses, no losses, no contact hit.
void pawl_jump_clear_impulses(PawlJump* j) {
  memset(j->impulse, 0, j->rows * sizeof(double));
  memset(j->loss, 0, j->rows * sizeof(double));
  if (j->guards->contacts) {
    memset(j->strike.hit, 0, j->rows);
  }
}

// Whether the slip of a contact has turned back; in space it turns all the time.
static bool turns(const PawlJump* j, const PawlState* state, int row) {
  PawlContactFriction of = pawl_system_friction(j->dynamics->system, row);
  double along = 0.0;
  for (int i = of.first; i < of.first + of.count; i++) {
    along += state->held[i] * j->before->held[i];
  }
  return of.count == 1 && along < 0.0;
}

// Whether a contact is worth an entry: hit, closed or opened; sticks, slips or slips back.
static bool is_met(const PawlJump* j, const PawlState* state, int row) {
  int k = pawl_modes_of_contact(j->dynamics->system, row);
  return j->strike.hit[row] || state->modes[k] != j->before->modes[k] || turns(j, state, row);
}

// What a contact and its friction have taken of the energy.
static double loss_of(const PawlJump* j, int row) {
  PawlContactFriction of = pawl_system_friction(j->dynamics->system, row);
  double loss = j->loss[row];
  for (int i = of.first; i < of.first + of.count; i++) {
    loss += j->loss[i];
  }
  return loss;
}

// What contacts have taken of the energy of an instant.
double pawl_jump_loss_of_contacts(const PawlJump* j, const PawlState* state) {
  double loss = 0.0;
  for (int i = j->strike.first; i < j->strike.end; i++) {
    loss += is_met(j, state, i) ? loss_of(j, i) : 0.0;
  }
  return loss;
}

// *first: no contact of this jump was logged before. What is taken back of an impulse is below
// zero, and no hit. (C12)
static PawlStatus log_contact(PawlJump* j, const PawlState* state, int i, double rest, bool* first,
                              PawlError* err) {
  bool was_open = j->before->modes[pawl_modes_of_contact(j->dynamics->system, i)] == PAWL_MODE_OPEN;
  bool counts = was_open || j->strike.hit[i] || fabs(j->impulse[i]) > j->strike.least[i];
  PawlContactMet met = {.row = i,
                        .again = !*first,
                        .impulse = counts ? j->impulse[i] : 0.0,  // rounding
                        .energy_lost = loss_of(j, i) + (*first ? rest : 0.0),
                        .from = j->before->modes,
                        .v_before = j->before->v};
  *first = false;
  PAWL_TRY(pawl_log_met(j->log, state, &met, err));
  pawl_log_rub(j->log, j->dynamics->system, j->impulse);
  return PAWL_OK;
}

// One entry for each contact that was hit, has closed or has opened. `rest`: what of the energy is
// left for the first.
static PawlStatus log_contacts(PawlJump* j, const PawlState* state, double rest, PawlError* err) {
  bool first = true;
  for (int i = j->strike.first; i < j->strike.end; i++) {
    PAWL_TRY(is_met(j, state, i) ? log_contact(j, state, i, rest, &first, err) : PAWL_OK);
  }
  return PAWL_OK;
}

PawlStatus pawl_jump_log_shock(PawlJump* j, const PawlState* state, double before, PawlError* err) {
  const double* after = pawl_eval_values(j->dynamics->eval)->energy;
  double rest = before - (after[0] + after[1]);
  for (int i = j->strike.first; i < j->strike.end; i++) {
    rest -= j->strike.hit[i] ? loss_of(j, i) : 0.0;
  }
  bool first = true;
  for (int i = j->strike.first; i < j->strike.end; i++) {
    PAWL_TRY(j->strike.hit[i] ? log_contact(j, state, i, rest, &first, err) : PAWL_OK);
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
  double rest = lost - pawl_jump_loss_of_contacts(j, state);
  if (has_switched(j, state)) {
    PAWL_TRY(pawl_log_switch(j->log, state, j->before->modes, v, j->impulse, j->loss, rest, err));
    rest = 0.0;
  }
  return log_contacts(j, state, rest, err);
}

// The jump after something else was logged with its energy `lost`: of the impulses only those of
// contacts.
PawlStatus pawl_jump_log_rest(PawlJump* j, const PawlState* state, PawlError* err) {
  if (has_switched(j, state)) {
    PAWL_TRY(pawl_log_switch(j->log, state, j->before->modes, state->v, NULL, NULL, 0.0, err));
  }
  return log_contacts(j, state, 0.0, err);
}

PawlStatus pawl_jump(PawlJump* j, PawlState* state, const int* next, PawlError* err) {
  PawlDynamics* d = j->dynamics;
  const PawlValues* values;
  PawlImpactLaw law;
  bool snaps, refused, sets;
  double after;
  assert(pawl_modes_in_range(d->system, next) && state->bytes == j->before->bytes);
  PAWL_TRY(pawl_jump_clean_rates(j, state, next, err));
  PAWL_TRY(pawl_jump_go_back(j, state, err));
  pawl_jump_keep(j, state);
  memcpy(state->modes, next, pawl_phase_mode_bytes(state));
  let_go_with(d->system, state);
  PAWL_TRY(pawl_law_of(d, state->t, j->before->modes, state->modes, &law, err));
  PAWL_TRY(keep_gradient(j, law, err));
  restart_clocks(j, state);
  PAWL_TRY(set_kept(j, state, &sets, err));
  PAWL_TRY(pawl_jump_evaluate(j, sets ? j->before : state, &values, err));
  double before = values->energy[0] + values->energy[1];
  PAWL_TRY(sets ? pawl_jump_evaluate(j, state, &values, err) : PAWL_OK);
  PAWL_TRY(capture(j, state, values, &snaps, &refused, err));
  if (refused) {
    PAWL_TRY(pawl_jump_evaluate(j, state, &values, err));
  }
  char* warning = d->warning;
  PAWL_TRY(pawl_jump_reduce(j, state, values, err));
  if (snaps) {
    PAWL_TRY(pawl_jump_evaluate(j, state, &values, err));
    PAWL_TRY(snap(j, state, &values, err));
  }
  PAWL_TRY(check_meeting(j, state, &values, err));
  pawl_jump_clear_impulses(j);
  if (pawl_jump_list_added(j, state)) {
    PawlStatus status = pawl_jump_velocities(j, state, law, &values, err);
    if (status != PAWL_OK) {
      d->warning = warning;  // rows that contradict each other do not follow from each other
      return status;
    }
  }
  PAWL_TRY(pawl_jump_settle_after(j, state, &after, err));
  return log_jump(j, state, j->before->v, before - after, err);
}
