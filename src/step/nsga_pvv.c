// SPDX-License-Identifier: Apache-2.0
// nsga-pvv: nonsmooth generalized-alpha. The smooth motion has the smooth constraints at velocity
// level; then follow the corrections U, for positions, and W, for velocities (docs/theory/nsga.md).
#include <math.h>
#include <string.h>

#include "base/copy.h"
#include "step/nsga_small.h"

// ---- nsga-pvv -----------------------------------------------------------------------------------
// force = scale (f - f~ + (G - G~)^T lambda~ - (M - M~) v~')                          (N6) (N9)
static void difference_force(const PawlStepper* s, PawlNsga* d, double scale) {
  const PawlValues* values = pawl_eval_values(d->eval);
  for (int j = 0; j < s->sizes.v; j++) {
    d->force[j] = values->f[j] - d->smooth_force[j];
  }
  if (d->smooth_row_count > 0) {
    pawl_sparse_line_add_transposed(&s->dynamics.by_G, values->G, 1.0, d->ga.lambda, d->force);
    pawl_sparse_line_add_transposed(&s->dynamics.by_G, d->G_smooth, -1.0, d->ga.lambda, d->force);
  }
  if (!d->constant_mass) {
    pawl_sparse_line_add(&s->dynamics.by_H, values->M, -1.0, d->ga.vdot, d->force);
    pawl_sparse_line_add(&s->dynamics.by_H, d->M_smooth, 1.0, d->ga.vdot, d->force);
  }
  for (int j = 0; j < s->sizes.v; j++) {
    d->force[j] *= scale;
  }
}

// That force; NULL: as long as nothing is corrected it is 0, all values being those of the smooth
// motion.
static const double* difference(const PawlStepper* s, PawlNsga* d, double scale) {
  if (d->ga.still) {
    return NULL;
  }
  difference_force(s, d, scale);
  return d->force;
}

// The smooth motion does already what the rows ask for, to the bit, and nothing else is chosen.
//                                                                                           (N35)
static bool is_done(const PawlNsga* d) {
  return d->ga.still && !d->corrected && !d->minds;
}

// The largest part of q or v that the last correction was; where nothing was to correct it is none.
static double last_change(const PawlStepper* s, const PawlNsga* d, const double* size) {
  return d->corrected ? pawl_ga_part(s, &d->ga, d->du, size) : 0.0;
}

// What the contacts push may have been shared anew.
static void take_push(const PawlContacts* c, double* y) {
  for (int k = 0; k < c->count; k++) {
    y[c->row[k]] = c->push[c->row[k]];
  }
}

// Sizes of the smooth motion, whose values are in `eval` still, where something is measured by
// them.
static PawlStatus judge(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, PawlError* err) {
  bool due = d->ga.unjudged;
  d->ga.unjudged = false;
  return due ? pawl_ga_balance(s, &d->ga, phase, true, err) : PAWL_OK;
}

// Contacts at position level: gaps and nu are complementary.
static PawlStatus choose_position_set(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                                      int iteration, bool* changed, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  PawlContacts* c = &d->contacts;
  *changed = false;
  if (pawl_contacts_idle(c, d->nu, values->g, d->A)) {
    memset(d->touching, 0, (size_t)s->sizes.rows);
    return PAWL_OK;
  }
  const double* of_q = s->sizes.q == s->sizes.v ? d->q : NULL;
  if (d->rub.contacts > 0) {
    pawl_nsga_touch(s, d, of_q, changed);
    return PAWL_OK;
  }
  if (!c->known) {
    PAWL_TRY(pawl_nsga_compliance(s, d, phase, t, err));
  }
  memcpy(c->push, d->nu, (size_t)s->sizes.rows * sizeof(double));
  memcpy(c->opening, values->g, (size_t)s->sizes.rows * sizeof(double));
  d->unplaced = false;
  if (!pawl_nsga_choose(s, d, of_q, c->least_q, NULL, iteration, d->A, changed)) {
    PAWL_TRY(pawl_nsga_unplaced(s, d, phase, t, err));
  }
  memcpy(d->touching, c->touching, (size_t)s->sizes.rows);
  take_push(c, d->nu);
  return PAWL_OK;
}

// Contacts at velocity level: those closed at position level that take an impulse.
static bool choose_velocity_set(PawlStepper* s, PawlNsga* d, int iteration) {
  PawlContacts* c = &d->contacts;
  bool changed = false;
  d->unsolved = PAWL_LEVEL_POSITION;
  if (!c->known) {  // none is closed
    return false;
  }
  memcpy(c->push, d->Lambda, (size_t)s->sizes.rows * sizeof(double));
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    c->opening[i] = d->rate[i] + pawl_nsga_rebound(s, d, i);
    d->B_set[i] = iteration == 0 ? d->touching[i] : d->B_set[i];
  }
  // The first set is all that touch, so that contacts which depend on each other share the impulse.
  if (!pawl_nsga_choose(s, d, d->v, c->least_v, d->touching, iteration + 1, d->B_set, &changed)) {
    pawl_nsga_stop_rebounds(d, &changed);
  }
  take_push(c, d->Lambda);
  return changed;
}

// Small enough, or no smaller than before after a correction that was rounding.     (A16) (A19)
static bool has_ended(const PawlStepper* s, double error, double change, double best) {
  return error <= fmax(s->def.tolerance, PAWL_ROUNDED) ||
         (change <= PAWL_LAST_TO_SHRINK && error <= PAWL_LARGEST_ROUNDING && error >= best);
}

// `again`: from the correction as it is, for another friction.
static PawlStatus correct_position(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                                   bool again, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  int row = 0;
  if (!again) {
    pawl_copy_zeros(s->sizes.v, d->U);
    pawl_copy_zeros(s->sizes.rows, d->nu);
  }
  d->ga.still = !again && d->rub.contacts == 0;
  double best = INFINITY;
  for (int k = 0; k <= s->def.iterations; k++) {
    pawl_system_retract(s->system, d->ga.q, d->U, d->q);
    if (k > 0 || again) {
      PAWL_TRY(pawl_nsga_evaluate(s, d, phase, t, d->ga.v, err));
    } else {  // the values are those of the end of the smooth motion
      PAWL_TRY(pawl_nsga_directions(d, phase, err));
    }
    bool changed = false;
    if (!pawl_nsga_is_clear(d)) {
      return PAWL_RETRY;
    }
    if (d->minds) {
      PAWL_TRY(choose_position_set(s, d, phase, t, k + again, &changed, err));
    }
    if (k > 0 && !changed) {
      double error =
          pawl_ga_row_error(s, &d->ga, values->G, d->ga.size_q, values->g, d->A, d->dnu, &row);
      if (has_ended(s, error, last_change(s, d, d->ga.size_q), best)) {
        return PAWL_OK;
      }
      best = fmin(best, error);
    } else {
      best = INFINITY;
    }
    const double* force = difference(s, d, d->ga.h * d->ga.h);
    if (d->gain.shifted) {
      pawl_nsga_add_shift(s, d, d->force);
    }
    if (d->rub.contacts > 0) {
      if (k == 0) {
        pawl_nsga_time_drag(s, d);
      }
      pawl_nsga_add_drag(s, d, d->force);
      PAWL_TRY(pawl_nsga_press(s, d, t, d->M_smooth, d->force, values->g, err));
    } else {
      PAWL_TRY(pawl_nsga_correct(s, d, t, d->M_smooth, force, d->A, d->U, d->nu, values->g, err));
    }
    if (is_done(d)) {
      return PAWL_OK;
    }
    PAWL_TRY(judge(s, d, phase, err));
  }
  return pawl_nsga_stuck(s, d, t, "position correction", err);
}

static PawlStatus correct_velocity(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                                   PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  pawl_copy_zeros(s->sizes.v, d->W);
  pawl_copy_zeros(s->sizes.rows, d->Lambda);
  if (pawl_nsga_has_contacts(s)) {
    pawl_nsga_approach(s, d);
  }
  double best = INFINITY;
  bool changed = false;
  for (int k = 0; k <= s->def.iterations; k++) {
    for (int j = 0; j < s->sizes.v; j++) {
      d->v[j] = d->ga.v[j] + d->W[j];
    }
    if (k > 0 || d->minds) {
      pawl_ga_size_rates(s, &d->ga, d->v);
    }
    if (d->minds) {
      pawl_dynamics_rows(&s->dynamics, values->G, d->v, values->g_t, d->rate);
      changed = choose_velocity_set(s, d, k);
    }
    if (k > 0 && !changed) {
      double change = last_change(s, d, d->ga.size_v);
      if (has_ended(s, change, change, best)) {
        return pawl_nsga_check_solved(s, d, phase, t, err);
      }
      best = fmin(best, change);
    }
    if (k > 0) {  // at k = 0 the values are those of the position correction
      PAWL_TRY(pawl_nsga_evaluate(s, d, phase, t, d->v, err));
    }
    pawl_dynamics_rows(&s->dynamics, values->G, d->v, values->g_t, d->rate);
    pawl_nsga_add_rebounds(s, d, 1.0);
    const double* force = difference(s, d, d->ga.h);
    d->B = d->averaged ? pawl_nsga_mean_directions(s, d) : d->B;
    PAWL_TRY(pawl_nsga_correct(s, d, t, values->M, force, d->B_set, d->W, d->Lambda, d->rate, err));
    if (is_done(d)) {
      return PAWL_OK;
    }
    PAWL_TRY(judge(s, d, phase, err));
  }
  return pawl_nsga_stuck(s, d, t, "velocity correction", err);
}

// All at the total motion, with the rates of its rows.
static PawlStatus look(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                       PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  for (int j = 0; j < s->sizes.v; j++) {
    d->v[j] = d->ga.v[j] + d->W[j];
  }
  pawl_ga_size_rates(s, &d->ga, d->v);
  PAWL_TRY(pawl_nsga_evaluate(s, d, phase, t, d->v, err));
  pawl_dynamics_rows(&s->dynamics, values->G, d->v, values->g_t, d->rate);
  return PAWL_OK;
}

// The same with friction: contacts are chosen with the correction.                        (N29)
static PawlStatus correct_rubbing(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                                  PawlError* err) {
  double best = INFINITY;
  pawl_nsga_approach(s, d);
  for (int k = 0; k <= s->def.iterations; k++) {
    PAWL_TRY(look(s, d, phase, t, err));
    if (k > 0) {
      double change = last_change(s, d, d->ga.size_v);
      bool near = change <= PAWL_RUB_RELAXED;
      if ((near && d->rub.relaxed) || has_ended(s, change, change, best)) {
        return PAWL_OK;
      }
      if (near && k == s->def.iterations) {  // (T33)
        d->rub.relaxed = d->rub.near = true;
        return PAWL_OK;
      }
      best = fmin(best, change);
    }
    difference_force(s, d, d->ga.h);
    PAWL_TRY(pawl_nsga_rub(s, d, phase, t, d->force, err));
  }
  return pawl_nsga_stuck(s, d, t, "velocity correction", err);
}

// Friction that moves positions at first is that of the contacts which touch at the beginning: that
// of the step before may be of an impact, and bring others together that have no part in this one.
static PawlStatus begin_rubbing(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                                PawlError* err) {
  bool rubbed;
  memset(d->drag, 0, (size_t)s->sizes.rows * sizeof(double));
  memcpy(d->q, d->ga.q, (size_t)s->sizes.q * sizeof(double));
  pawl_nsga_approach(s, d);
  PAWL_TRY(look(s, d, phase, t, err));
  difference_force(s, d, d->ga.h);
  return pawl_nsga_rub_rest(s, d, phase, t, d->force, &rubbed, err);
}

// How much positions have changed, against those of the round before in dW.
static double last_move(const PawlStepper* s, PawlNsga* d) {
  for (int j = 0; j < s->sizes.v; j++) {
    d->dU[j] = d->U[j] - d->dW[j];
  }
  return pawl_ga_part(s, &d->ga, d->dU, d->ga.size_q);
}

// Positions and velocities in turn, until the friction that moves the positions is that of the
// velocities, and what pushes touches.                                                    (N28)
static PawlStatus correct_with_friction(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                        const PawlState* state, PawlError* err) {
  double t = state->t + d->ga.h;
  memset(d->W, 0, (size_t)s->sizes.v * sizeof(double));
  PAWL_TRY(begin_rubbing(s, d, phase, t, err));
  for (int k = 0; k <= s->def.iterations; k++) {
    PAWL_TRY(correct_position(s, d, phase, t, k > 0, err));
    double end = fmax(s->def.tolerance, d->rub.relaxed ? PAWL_RUB_RELAXED : PAWL_ROUNDED);
    if (k > 0 && last_move(s, d) <= end) {
      PAWL_TRY(look(s, d, phase, t, err));
      if (!pawl_nsga_lets_go(s, d) && !pawl_nsga_restrain(s, d, state)) {
        return PAWL_OK;
      }
      k = 0;
    }
    memcpy(d->dW, d->U, (size_t)s->sizes.v * sizeof(double));
    PAWL_TRY(correct_rubbing(s, d, phase, t, err));
  }
  return pawl_nsga_stuck(s, d, t, "friction", err);
}

static void keep_smooth(const PawlStepper* s, PawlNsga* d) {
  const PawlValues* smooth = pawl_eval_values(d->ga.residual_eval);
  pawl_copy(s->nonzeros_H, smooth->M, d->M_smooth);
  pawl_copy(s->dynamics.nonzeros_G, smooth->G, d->G_smooth);
  pawl_copy(s->sizes.v, smooth->f, d->smooth_force);
}

// Rates of contacts that are left out, at the end: none was passed.
static PawlStatus pass_far(PawlStepper* s, PawlNsga* d, const PawlState* state, const double* v,
                           PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  pawl_dynamics_rows(&s->dynamics, values->G, v, values->g_t, d->rate);
  return pawl_nsga_passed(s, d, state, v, err);
}

static PawlStatus take_guess(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, PawlState* state,
                             double h, PawlError* err) {
  bool further = state->t > s->begun;
  double t = state->t + h;
  PAWL_TRY(pawl_nsga_smooth_motion(s, d, phase, state, err));
  keep_smooth(s, d);
  PAWL_TRY(d->minds ? judge(s, d, phase, err) : PAWL_OK);
  if (d->rub.contacts > 0) {
    memcpy(d->Lambda, pawl_nsga_Lambda_before(s, state), (size_t)s->sizes.rows * sizeof(double));
    PAWL_TRY(correct_with_friction(s, d, phase, state, err));
  } else {
    bool again = false;
    do {
      PAWL_TRY(correct_position(s, d, phase, t, again, err));
      PAWL_TRY(correct_velocity(s, d, phase, t, err));
      again = pawl_nsga_restrain(s, d, state);
    } while (again);
  }
  PAWL_TRY(d->far ? pass_far(s, d, state, d->v, err) : pawl_nsga_passed(s, d, state, d->v, err));
  PAWL_TRY(pawl_nsga_note_impacts(s, d, state, d->q, d->v, err));
  if (pawl_nsga_hits(d)) {
    PAWL_TRY(pawl_nsga_change_forces(s, d, phase, t, err));
  }
  PAWL_TRY(pawl_nsga_log_impacts(s, d, state, d->q, d->v, err));
  pawl_ga_accept(s, &d->ga, state, false);
  pawl_copy(s->sizes.q, d->q, state->q);
  pawl_copy(s->sizes.v, d->v, state->v);
  pawl_nsga_keep(s, d, state, further);
  return PAWL_OK;
}

static PawlStatus take_pvv(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                           PawlError* err) {
  PawlNsga* d = s->data;
  bool by_kernel = d->ga.small && !(state->t > s->begun) && pawl_small_guess(s, d, phase, state, h);
  if (!by_kernel) {
    pawl_nsga_first_sets(s, d, phase);
    PawlPhase smooth = *phase;
    smooth.active = d->S;
    PAWL_TRY(pawl_ga_predict(s, &d->ga, &smooth, state, h, err));
  }
  PAWL_TRY(pawl_nsga_begin_contacts(s, d, phase, state, false, err));
  PawlKernelsEnd end = by_kernel && !d->minds ? pawl_small_correct(s, d) : PAWL_KERNELS_UNUSUAL;
  if (end == PAWL_KERNELS_CLOSES) {
    return PAWL_RETRY;
  }
  if (end != PAWL_KERNELS_ENDED) {
    return take_guess(s, d, phase, state, h, err);
  }
  PAWL_TRY(d->far ? pass_far(s, d, state, d->ga.v_total, err) : PAWL_OK);
  pawl_small_accept(s, d, state);
  return PAWL_OK;
}

static PawlStatus step_pvv(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                           PawlError* err) {
  return pawl_nsga_take(s, phase, state, h, take_pvv, err);
}

static PawlStatus create_pvv(PawlStepper* s, PawlError* err) {
  PAWL_TRY(pawl_nsga_create_kind(s, PAWL_LEVEL_VELOCITY, true, true, err));
  return pawl_small_create(s, s->data, err);
}

const PawlMethod pawl_method_nsga_pvv = {
    .info =
        {.name = "nsga-pvv",
         .about = "nonsmooth generalized-alpha, smooth motion at velocity level; contacts",
         .order = 2,
         .order_switching = 1,
         .holds = "position, velocity",
         .options =
             "rho coefficients start_acceleration tolerance iterations newton contact_law painleve",
         .regions = true,
         .contacts = true,
         .friction = true,
         .apart = true,
         .laws = PAWL_LAWS_ALL},
    .memory_vectors = 2,
    .memory_rows = 4,
    .memory_numbers = 2,
    .memory_contacts = 1,
    .create = create_pvv,
    .destroy = pawl_nsga_destroy,
    .start = pawl_nsga_start,
    .step = step_pvv,
    .impulse = pawl_nsga_impulse,
    .closes = pawl_nsga_closes,
    .multipliers = pawl_nsga_multipliers,
    .accelerations = pawl_nsga_accelerations,
    .corrections = pawl_nsga_corrections,
    .forget = pawl_ga_forget};
