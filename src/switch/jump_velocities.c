// SPDX-License-Identifier: Apache-2.0
// The velocities at an instant: by the laws of constraints, by contacts, and without drift.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/grip.h"
#include "switch/hold.h"
#include "switch/jump_impl.h"
#include "switch/modes.h"
#include "switch/pace.h"
#include "switch/several.h"
#include "switch/tolerances.h"
#include "system/system.h"

// Rows in force after, j->set; of these, j->persistent were in force before and stand for the same
// equation. True when some are new.
bool pawl_jump_list_added(PawlJump* j, const PawlState* state) {
  const PawlSystem* system = j->dynamics->system;
  bool any = false;
  pawl_jump_list_in_force(j, state);
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
bool pawl_jump_leave_out_joints(PawlJump* j, const PawlState* state) {
  bool any = false;
  for (int i = 0; i < j->dynamics->sizes.rows; i++) {
    j->set[i] = j->set[i] && pawl_row_jumps((PawlRowOf)state->in_force[i]) &&
                state->in_force[i] != PAWL_ROW_OF_CONTACT &&
                state->in_force[i] != PAWL_ROW_OF_FRICTION;
    any |= j->set[i] && !j->persistent[i];
  }
  return any;
}

// Those that held, or engaged at rest, and have another rate by the jump. *any: some.
void pawl_jump_slide(PawlJump* j, PawlState* state, const PawlValues* values, bool* any) {
  PawlDynamics* d = j->dynamics;
  const PawlWatching* w = j->guards->watching;
  *any = false;
  for (int k = 0; k < d->sizes.v; k++) {
    j->dv[k] = state->v[k] - j->before->v[k];
  }
  pawl_dynamics_rows(d, values->G, j->dv, NULL, j->rate);
  PawlPace none = {.of_v = PAWL_REST, .of_a = PAWL_REST * d->def->step};
  pawl_pace_rows(d, state, j->before->v, values, none, j->size);
  for (int k = 0; k < w->joint_count; k++) {
    int c = w->joints[k], row = d->system->constraints[c].first_row;
    if (state->modes[c] == PAWL_MODE_HELD && fabs(j->rate[row]) > j->size[row]) {
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
// Where all comes to rest, the rates that are left are the rounding of those before.
static PawlStatus check_rates(PawlJump* j, const PawlState* state, const PawlValues* values,
                              PawlError* err) {
  static const double OF_INSTANT = 1e3, OF_DRIFT = 10.0;
  PawlDynamics* d = j->dynamics;
  double of_instant = OF_INSTANT * pawl_dynamics_instant(d, state->t) *
                      pawl_dynamics_largest(pawl_moving(d->sizes), j->before->a);
  double rounding = of_instant + OF_DRIFT * j->drift_rate;
  const double* rate = pawl_jump_rates(j, state, values);
  pawl_sparse_sizes(&d->G, values->G, state->v, 0.0, j->size);
  pawl_sparse_sizes(&d->G, values->G, j->before->v, 0.0, j->correction);
  for (int i = 0; i < d->sizes.rows; i++) {
    double size =
        j->size[i] + j->correction[i] + fabs(values->g_t[i]) + PAWL_REST * pawl_jump_pace(j, state);
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
PawlStatus pawl_jump_add(PawlJump* j, PawlStatus found, PawlState* state, const PawlValues* values,
                         PawlError* err) {
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
  const double* rate = pawl_jump_rates(j, state, values);
  j->drift_rate = 0.0;  // what the method allows the rows that stay in force
  for (int i = 0; i < d->sizes.rows; i++) {
    j->drift_rate = j->persistent[i] ? fmax(j->drift_rate, fabs(rate[i])) : j->drift_rate;
  }
  PawlStatus status = solve_post(j, state, values, impulse);
  return pawl_jump_add(j, status, state, values, err);
}

// The rates of the rows are set by the least change of the velocities, whatever the masses:
// dv = G^T y, G G^T y = -(G v + g_t). For a joint that locks: its rate becomes zero, no other. (V5)
static PawlStatus jump_none(PawlJump* j, PawlState* state, const PawlValues* values,
                            PawlError* err) {
  PawlDynamics* d = j->dynamics;
  const double* rate = pawl_jump_rates(j, state, values);
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

PawlStatus pawl_jump_velocities(PawlJump* j, PawlState* state, PawlImpactLaw law,
                                const PawlValues** values, PawlError* err) {
  PawlCrossing crossing = {j->law, j->before, j->G_before};
  PawlPhase phase = pawl_phase_of(state, false);
  double gain;
  assert(law.epsilon == PAWL_LAW_NONE || (law.epsilon >= 0.0 && law.epsilon <= 1.0));
  if (law.epsilon == PAWL_LAW_NONE) {
    return jump_none(j, state, *values, err);
  }
  if (law.epsilon == 1.0) {
    bool slides;
    if (!pawl_jump_leave_out_joints(j, state)) {
      return PAWL_OK;
    }
    PAWL_TRY(jump_post(j, state, *values, j->impulse, err));
    if (j->dependent_count > 0) {
      PAWL_TRY(check_rates(j, state, *values, err));
    }
    share_loss(j, state, *values);
    pawl_jump_slide(j, state, *values, &slides);
    if (slides) {
      PAWL_TRY(pawl_jump_evaluate(j, state, values, err));
      PAWL_TRY(pawl_jump_reduce(j, state, *values, err));
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
PawlStatus pawl_jump_strike(PawlJump* j, PawlState* state, const PawlValues** values,
                            PawlError* err) {
  bool any, slides;
  PAWL_TRY(pawl_strike_part(&j->strike, state, *values, &any, err));
  PAWL_TRY(any ? pawl_jump_evaluate(j, state, values, err) : PAWL_OK);
  PAWL_TRY(pawl_strike(&j->strike, state, j->v_first, *values, j->impulse, &any, err));
  if (!any) {
    return PAWL_OK;
  }
  for (int i = 0; i < j->dynamics->sizes.rows; i++) {
    j->set[i] = 1;
  }
  memset(j->loss, 0, j->rows * sizeof(double));
  share_loss(j, state, *values);
  pawl_jump_slide(j, state, *values, &slides);
  if (slides) {
    PAWL_TRY(pawl_jump_evaluate(j, state, values, err));
    PAWL_TRY(pawl_jump_reduce(j, state, *values, err));
  }
  return PAWL_OK;
}

// Takes rounding out of the rates of joints that stick, and of contacts that are closed.
PawlStatus pawl_jump_stop_newly_held(PawlJump* j, PawlState* state, PawlError* err) {
  const PawlValues* values = pawl_eval_values(j->dynamics->eval);
  pawl_jump_list_in_force(j, state);
  memset(j->persistent, 0, j->rows);
  return jump_post(j, state, values, j->correction, err);
}

// A lock that has waited for rest, and engages now.
static bool has_waited(const PawlJump* j, const PawlState* state, const int* next, int c) {
  return j->dynamics->system->constraints[c].triggered && state->modes[c] == PAWL_MODE_WAITING &&
         next[c] == PAWL_MODE_HELD;
}

// A closed contact that a kink lets go has the rates of another branch: no drift.          (C17)
static void leave_out_parted(PawlJump* j, const PawlState* state, const int* next) {
  const PawlSystem* system = j->dynamics->system;
  for (int i = j->strike.first; i < j->strike.end; i++) {
    int mode = pawl_modes_of_contact(system, i);
    PawlContactFriction of = pawl_system_friction(system, i);
    if (state->modes[mode] == PAWL_MODE_OPEN || next[mode] != PAWL_MODE_OPEN) {
      continue;
    }
    j->set[i] = 0;
    for (int k = of.first; k < of.first + of.count; k++) {
      j->set[k] = 0;
    }
  }
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
  leave_out_parted(j, state, next);
  for (int i = 0; i < j->dynamics->sizes.rows; i++) {
    if (j->persistent[i]) {
      state->modes[system->row_constraint[i]] = PAWL_MODE_HELD;
    }
  }
  PawlStatus status = pawl_jump_evaluate(j, state, values, err);
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
PawlStatus pawl_jump_clean_rates(PawlJump* j, PawlState* state, const int* next, PawlError* err) {
  const PawlValues* values;
  bool drifts = false, contacts = false;
  for (int i = j->strike.first; i < j->strike.end; i++) {
    contacts |= state->in_force[i] != PAWL_ROW_OF_LET_GO;
  }
  if (j->guards->watching->joint_count == 0 && !contacts) {
    return PAWL_OK;
  }
  PAWL_TRY(evaluate_waited(j, state, next, &values, err));
  const double* rate = pawl_jump_rates(j, state, values);
  static const double LEAST = PAWL_REST * PAWL_REST_DRIFT;
  PawlPace none = {.of_v = LEAST, .of_a = LEAST * j->dynamics->def->step};
  pawl_pace_rows(j->dynamics, state, NULL, values, none, j->size);
  for (int i = 0; i < j->dynamics->sizes.rows; i++) {
    drifts |= j->set[i] && fabs(rate[i]) > j->size[i];
  }
  memset(j->persistent, 0, j->rows);
  return drifts ? jump_post(j, state, values, j->correction, err) : PAWL_OK;
}

// Where nothing but gaps has come to zero, the instant is that of the first of them.
PawlStatus pawl_jump_go_back(PawlJump* j, PawlState* state, PawlError* err) {
  const PawlValues* values;
  if (!j->guards->contacts || !j->guards->only_touched) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_jump_evaluate(j, state, &values, err));
  pawl_strike_begin(&j->strike, state->v);
  pawl_strike_back(&j->strike, state, values);
  return PAWL_OK;
}

// ---- friction without accelerations, or with several --------------------------------------------
// "contact 'tip' slips with 1.2 times its critical friction"
static void name_jam(const PawlJump* j, double t, const char* what, PawlText* out) {
  const PawlGrip* g = j->guards->watching->grip;
  int number, row = g->worst >= 0 ? g->slip->contact[g->worst].normal : j->strike.first;
  pawl_text_printf(out, "t = %.10g: %s hold contact '%s'", t, what,
                   pawl_system_row_name(j->dynamics->system, row, &number));
  if (g->beyond > 1.0) {
    pawl_text_printf(out, ", which slips with %.6g times its critical friction (Painleve)",
                     g->beyond);
  } else if (g->unstable) {
    pawl_text_add(out, ", which slips beside others (Painleve)");
  }
  double most = pawl_dynamics_largest(g->slip->count, g->mu);
  if (most >= PAWL_HUGE_FRICTION) {
    pawl_text_printf(out, "; friction of %.3g is too large for forces beside it to be known", most);
  }
}

static PawlStatus tell_jam(PawlJump* j, const PawlState* state, const char* what, const char* then,
                           PawlError* err) {
  PawlText text = {0};
  name_jam(j, state->t, what, &text);
  bool refuse = strcmp(j->dynamics->def->painleve, "refuse") == 0;
  pawl_text_add(&text, refuse ? "" : then);
  PawlStatus status = text.failed ? pawl_fail_memory(err)
                      : refuse    ? pawl_fail(err, PAWL_ERROR_RUN, "%s", text.s)
                                  : pawl_dynamics_warn(j->dynamics, text.s);
  pawl_text_free(&text);
  return status;
}

static PawlStatus no_shock(const PawlJump* j, const PawlState* state, PawlError* err) {
  PawlText text = {0};
  name_jam(j, state->t, "no forces, and no impact without a collision,", &text);
  pawl_fail(err, PAWL_ERROR_RUN, "%s", text.s ? text.s : "");
  pawl_text_free(&text);
  return PAWL_ERROR_RUN;
}

static PawlStatus shock(PawlJump* j, PawlState* state, PawlError* err) {
  const PawlValues* values;
  bool moves;
  PAWL_TRY(pawl_jump_evaluate(j, state, &values, err));
  PAWL_TRY(pawl_strike_shock(&j->strike, state, values, j->impulse, &moves, err));
  if (!moves) {
    return no_shock(j, state, err);
  }
  memset(j->set, 1, j->rows);
  memset(j->loss, 0, j->rows * sizeof(double));
  share_loss(j, state, values);
  return PAWL_OK;
}

PawlStatus pawl_jump_settle(PawlJump* j, PawlState* state, bool* newly_held, PawlError* err) {
  enum { MOST_SHOCKS = 100 };  // each takes energy
  PAWL_TRY(pawl_stick_settle(&j->stick, state, j->before->v, newly_held, err));
  for (int k = 0; j->stick.jammed; k++) {
    if (k == MOST_SHOCKS) {
      return no_shock(j, state, err);
    }
    PAWL_TRY(k > 0 ? PAWL_OK
                   : tell_jam(j, state, "no forces",
                              ": it is stopped by an impact without a collision", err));
    PAWL_TRY(shock(j, state, err));
    PAWL_TRY(pawl_stick_settle(&j->stick, state, j->before->v, newly_held, err));
  }
  PawlGrip* g = j->guards->watching->grip;
  if (j->stick.several && j->told_at == state->t && j->told_of == g->worst) {
    return PAWL_OK;
  }
  if (j->stick.several) {
    j->told_at = state->t;
    j->told_of = g->worst;
    bool lifts = g->worst >= 0 && g->found[g->worst] == PAWL_FRICTION_OPEN;
    return tell_jam(j, state, "several sets of forces",
                    lifts ? ": it lifts off" : ": a stable motion is taken", err);
  }
  return g ? pawl_several_tell(g, state->t, "accelerations", err) : PAWL_OK;
}
