// SPDX-License-Identifier: Apache-2.0
// Corrections that are solved together with the smooth motion (docs/theory/nsga.md):
//
//   ga-pv      velocity level in the dynamics, position by a correction U
//   ga-pva     acceleration level in the dynamics, position by U, velocity by W
//   nsga-pva   as ga-pva, with contacts and impact law
#include <math.h>
#include <string.h>

#include "base/copy.h"
#include "step/ga_loops.h"
#include "step/nsga_small.h"
#include "switch/tolerances.h"

// ---- ga-pv, ga-pva, nsga-pva --------------------------------------------------------------------
// What a contact does in this step by its correction and by lambda at its end, and back.   (N13)
static void add_smooth_push(PawlContacts* c, const double* own, double of_lambda,
                            const double* lambda) {
  for (int k = 0; k < c->count; k++) {
    c->push[c->row[k]] = own[c->row[k]] + of_lambda * lambda[c->row[k]];
  }
}
static void take_smooth_push(const PawlContacts* c, double* own, double of_lambda,
                             const double* lambda) {
  for (int k = 0; k < c->count; k++) {
    own[c->row[k]] = c->push[c->row[k]] - of_lambda * lambda[c->row[k]];
  }
}

// A contact that is thrown back has no force at the end of its step.                        (N15)
static bool rests(const PawlStepper* s, const PawlNsga* d, int i) {
  return fabs(pawl_nsga_rebound(s, d, i)) <= PAWL_SLOWEST_LOGGED * d->contacts.slow;
}

// The sets A, B and S of the contacts at the iterate, each within the one before.  (N13)-(N15)
static PawlStatus choose_sets(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                              int iteration, bool* changed, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  PawlContacts* c = &d->contacts;
  const PawlGa* g = &d->ga;
  double kappa = (1 - g->alpha_f) / (1 - g->alpha_m), h = g->h;
  *changed = false;
  d->unsolved = PAWL_LEVEL_POSITION;
  if (pawl_contacts_idle(c, d->nu, values->g, d->A) &&
      pawl_contacts_idle(c, d->Lambda, values->g, d->B_set) &&
      pawl_contacts_idle(c, g->lambda, values->g, d->S)) {
    memset(d->touching, 0, (size_t)s->sizes.rows);
    return PAWL_OK;
  }
  const double* of_q = s->sizes.q == s->sizes.v ? g->q : NULL;
  pawl_nsga_approach(s, d);
  if (d->rub.contacts > 0) {  // corrections choose their contacts                  (N29) (N30)
    pawl_nsga_touch(s, d, of_q, changed);
    return PAWL_OK;
  }
  if (!c->known) {
    PAWL_TRY(pawl_nsga_compliance(s, d, phase, t, err));
  }
  double of_lambda = h * h * g->beta * kappa;
  add_smooth_push(c, d->nu, of_lambda, g->lambda);
  memcpy(c->opening, values->g, (size_t)s->sizes.rows * sizeof(double));
  d->unplaced = false;
  if (!pawl_nsga_choose(s, d, of_q, c->least_q, NULL, iteration, d->A, changed)) {
    PAWL_TRY(pawl_nsga_unplaced(s, d, phase, t, err));
  }
  take_smooth_push(c, d->nu, of_lambda, g->lambda);
  memcpy(d->touching, c->touching, (size_t)s->sizes.rows);

  of_lambda = h * g->gamma * kappa;
  add_smooth_push(c, d->Lambda, of_lambda, g->lambda);
  pawl_dynamics_rows(&s->dynamics, values->G, g->v_total, values->g_t, c->opening);
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    c->opening[i] += pawl_nsga_rebound(s, d, i);
  }
  if (!pawl_nsga_choose(s, d, g->v_total, c->least_v, d->touching, iteration, d->B_set, changed)) {
    pawl_nsga_stop_rebounds(d, changed);
  }
  take_smooth_push(c, d->Lambda, of_lambda, g->lambda);

  if (s->strategy == 3) {
    memcpy(c->push, g->lambda, (size_t)s->sizes.rows * sizeof(double));
    pawl_dynamics_rows(&s->dynamics, values->G, g->vdot, values->gamma, c->opening);
    for (int k = 0; k < c->count; k++) {
      int i = c->row[k];
      d->trial[i] =
          d->A[i] && d->B_set[i] && rests(s, d, i) && !(d->released && d->gone[i]);  // (N62)
    }
    if (!pawl_nsga_choose(s, d, g->vdot, c->least_a, d->trial, iteration, d->S, changed) &&
        d->unsolved == PAWL_LEVEL_POSITION) {
      d->unsolved = PAWL_LEVEL_ACCELERATION;
    }
    take_smooth_push(c, g->lambda, 0.0, g->lambda);
  }
  return PAWL_OK;
}

// What the last correction was, in `room`, which `du` is exchanged with; NULL: nothing.
static const double* keep_correction(PawlNsga* d, double** room) {
  double* du = d->du;
  if (!d->corrected) {
    return NULL;
  }
  d->du = *room;
  *room = du;
  return du;
}

// Constraints are taken forward linearly by the increment dq of the smooth motion.        (N16)
static PawlStatus correct_position(PawlStepper* s, PawlNsga* d, double t, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  const double *M = values->M, *force = NULL;
  if (d->rub.contacts > 0 || d->gain.shifted || d->released) {
    memset(d->force, 0, (size_t)s->sizes.v * sizeof(double));
    force = d->force;
  }
  if (d->rub.contacts > 0) {
    pawl_nsga_time_drag(s, d);
    pawl_nsga_add_drag(s, d, d->force);
  }
  if (d->gain.shifted) {
    pawl_nsga_add_shift(s, d, d->force);
  }
  if (d->released) {
    pawl_nsga_take_back(s, d, true, d->force);
  }
  if (d->classical) {  // U = G(q_n)^T nu                                                    (N25)
    M = d->M_smooth;
    d->B = d->G_smooth;
  }
  pawl_dynamics_rows(&s->dynamics, values->G, d->ga.dq, values->g, d->rate);
  PAWL_TRY(d->rub.contacts > 0
               ? pawl_nsga_press(s, d, t, M, force, d->rate, err)
               : pawl_nsga_correct(s, d, t, M, force, d->A, d->U, d->nu, d->rate, err));
  d->ga.dU = keep_correction(d, &d->dU);
  return PAWL_OK;
}

// G v turns with the positions: += G_rate (dq + dU).              (N17)
static void turn_rates(const PawlStepper* s, PawlNsga* d) {
  const double *G_rate = pawl_eval_values(d->ga.tangent_eval)->G_rate, *moved = d->ga.dq;
  if (d->ga.dU) {
    for (int j = 0; j < s->sizes.v; j++) {
      d->v[j] = d->ga.dq[j] + d->ga.dU[j];
    }
    moved = d->v;
  }
  pawl_sparse_line_add(&s->dynamics.by_G, G_rate, 1.0, moved, d->rate);
}

// Of all levels.
static bool have_same_rows(const PawlStepper* s, const PawlNsga* d) {
  size_t m = (size_t)s->sizes.rows;
  return memcmp(d->S, d->A, m) == 0 && memcmp(d->S, d->B_set, m) == 0;
}

// Where contacts of some island push by impulses alone.                          (N62) (N63)
static PawlStatus correct_released(PawlStepper* s, PawlNsga* d, double t, PawlError* err) {
  const double *B = d->B, *M = pawl_eval_values(d->eval)->M;
  memset(d->force, 0, (size_t)s->sizes.v * sizeof(double));
  pawl_nsga_take_back(s, d, false, d->force);
  d->B = pawl_nsga_released_directions(s, d);
  d->held_now = false;
  PawlStatus status =
      pawl_nsga_correct(s, d, t, M, d->force, d->B_set, d->W, d->Lambda, d->rate, err);
  d->B = B;
  d->held_now = false;
  return status;
}

// Of rows at the iterate, with what the correction of positions does to them.              (N17)
static void find_rates(const PawlStepper* s, PawlNsga* d) {
  const PawlValues* values = pawl_eval_values(d->eval);
  const PawlPattern* G = &s->G;
  if (d->settles) {
    pawl_nsga_rates(s, d, d->rate);
  } else {
    for (int j = pawl_sparse_next(G, 0); j < G->cols; j = pawl_sparse_next(G, j + 1)) {
      d->v[j] = d->ga.v[j] + d->W[j];  // where rows look at it
    }
    pawl_dynamics_rows(&s->dynamics, values->G, d->v, values->g_t, d->rate);
    if (d->turns) {
      turn_rates(s, d);
    }
  }
}

static PawlStatus correct_velocity(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                                   PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  if (d->rub.contacts > 0 && pawl_nsga_needs_rest(d)) {
    bool rubbed;
    find_rates(s, d);
    PAWL_TRY(pawl_nsga_rub_rest(s, d, phase, t, NULL, &rubbed, err));
  }
  find_rates(s, d);
  if (d->rub.contacts > 0) {
    PAWL_TRY(pawl_nsga_rub(s, d, phase, t, NULL, err));  // (N29)
  } else {
    pawl_nsga_add_rebounds(s, d, 1.0);
    PAWL_TRY(d->released ? correct_released(s, d, t, err)
                         : pawl_nsga_correct(s, d, t, values->M, NULL, d->B_set, d->W, d->Lambda,
                                             d->rate, err));
  }
  d->ga.dW = keep_correction(d, &d->dW);
  return PAWL_OK;
}

// One position and one velocity correction after the smooth one; velocities first where their
// friction moves the positions.                                                    (N16) (N17)
static PawlStatus correct_both(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                               PawlError* err) {
  bool rubs = d->rub.contacts > 0;
  PAWL_TRY(rubs ? correct_velocity(s, d, phase, t, err) : correct_position(s, d, t, err));
  if (!d->jumps) {
    return PAWL_OK;
  }
  return rubs ? correct_position(s, d, t, err) : correct_velocity(s, d, phase, t, err);
}

// Whether a row of accelerations is off by more than the tolerance of its terms, or, without
// `size`, of a part of them.                                                               (A16)
static bool is_off(const PawlStepper* s, const double* row, const double* gamma,
                   const double* size) {
  bool off = false;
  for (int i = 0; i < s->sizes.rows; i++) {
    off |= fabs(row[i]) > s->def.tolerance * (fabs(gamma[i]) + (size ? size[i] : 0.0));
  }
  return off;
}

// -(2 G_rate dW + G_acc dU), by which U and W move the accelerations of the rows of S. False: by no
// more than what is left of them at the end.
static bool find_moved(const PawlStepper* s, const PawlNsga* d, double* row, double* size) {
  const PawlValues *values = pawl_eval_values(d->eval),
                   *tangent = pawl_eval_values(d->ga.tangent_eval);
  const PawlSparseLine* by_G = &s->dynamics.by_G;
  pawl_copy_zeros(s->sizes.rows, row);
  pawl_sparse_line_add(by_G, tangent->G_rate, -2.0, d->dW, row);
  pawl_sparse_line_add(by_G, tangent->G_acceleration, -1.0, d->dU, row);
  if (tangent->G_turn) {
    pawl_sparse_line_add(by_G, tangent->G_turn, -1.0, d->dW, row);
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    row[i] = d->S[i] ? row[i] : 0.0;
  }
  if (!is_off(s, row, values->gamma, NULL)) {
    return false;
  }
  pawl_sparse_sizes(&s->G, values->G, d->ga.vdot, 0.0, size);
  return is_off(s, row, values->gamma, size);
}

// -(K dU + C dW), by which they move the balance of forces. False: by no more than what is left of
// it at the end.                                                                           (A15)
static bool find_forced(const PawlStepper* s, const PawlNsga* d, double* force) {
  const PawlValues *values = pawl_eval_values(d->eval),
                   *tangent = pawl_eval_values(d->ga.tangent_eval);
  const int* diagonal = s->dynamics.diagonal;
  double moved = 0.0, size = 0.0;
  pawl_copy_zeros(s->sizes.v, force);
  pawl_sparse_line_add(&s->dynamics.by_H, tangent->K, -1.0, d->dU, force);
  pawl_sparse_line_add(&s->dynamics.by_H, tangent->C, -1.0, d->dW, force);
  for (int j = 0; j < s->sizes.v; j++) {
    double M = diagonal[j] >= 0 ? values->M[diagonal[j]] : 0.0, a = d->ga.vdot[j];
    double f = values->f[j], of_force = M > 0.0 ? 1.0 / M : 0.0;
    moved += force[j] * force[j] * of_force;
    size += f * f * of_force + M * a * a;
  }
  return moved > s->def.tolerance * s->def.tolerance * size;
}

// The smooth correction did not know of either: with
//   M a = B^T mu,             G a = -(2 G_rate dW + G_acc dU)                              (N34)
//   M b = B^T xi - K dU - C dW,   G b = 0                                                  (N36)
// the smooth motion gets a and b, and U and W give back what a adds to positions and rates.
static void share_accelerations(PawlStepper* s, PawlNsga* d) {
  if (d->settles) {
    pawl_nsga_share(s, d);
    return;
  }
  double *row = d->dnu, *a = d->du, *other = d->rate, *b = d->v;
  bool moved = find_moved(s, d, row, d->acceleration), forced = find_forced(s, d, b);
  if (!moved && !forced) {
    return;
  }
  pawl_copy_zeros(s->sizes.v, a);
  pawl_copy_zeros(s->sizes.rows, other);
  if (forced) {
    pawl_kkt_solve_two(s->kkt, (double* [2]){a, b}, (double* [2]){row, other});
  } else {
    pawl_kkt_solve(s->kkt, a, row);
  }
  pawl_nsga_note_moved(s, d, 1);
  pawl_ga_share(s, &d->ga, a, (PawlGaShared){d->U, d->W, d->dU, d->dW, forced ? b : NULL});
  double of_q = 1.0 / d->ga.beta_p, of_v = d->ga.gamma_p / d->ga.beta_p;
  for (int i = 0; i < s->sizes.rows; i++) {
    d->ga.lambda[i] += row[i] + other[i];
    d->nu[i] -= of_q * row[i];
    d->Lambda[i] -= of_v * row[i];
  }
}

// And the matrix of the corrections is factored.
static bool can_share(const PawlStepper* s, const PawlNsga* d) {
  return d->jumps && d->rub.contacts == 0 && d->ga.dU && d->ga.dW && have_same_rows(s, d) &&
         pawl_kkt_current(s->kkt) == d->held;
}

PAWL_APART static bool settle(PawlStepper* s, PawlNsga* d) {
  return can_share(s, d) && pawl_nsga_settle(s, d);
}

// How far position and velocity constraints of the active sets are off, and the worst row.
static double corrections_error(const PawlStepper* s, PawlNsga* d, int* row) {
  const PawlValues* values = pawl_eval_values(d->eval);
  const PawlGa* g = &d->ga;
  if (d->total && pawl_nsga_total_holds(s, d)) {
    return 0.0;
  }
  double error = pawl_ga_row_error(s, &d->ga, values->G, g->size_q, values->g, d->A, d->dnu, row);
  if (!d->jumps) {
    return error;
  }
  int other = 0;
  pawl_dynamics_rows(&s->dynamics, values->G, g->v_total, values->g_t, d->rate);
  pawl_nsga_add_rebounds(s, d, 1.0);
  double of_rate =
      pawl_ga_row_error(s, &d->ga, values->G, g->size_v, d->rate, d->B_set, d->dnu, &other);
  *row = of_rate > error ? other : *row;
  return fmax(error, of_rate);
}

// Another iteration is due: without some contacts that push, or for the energy. The rates at the
// end are those of corrections_error(), with the restitution.
static bool goes_on(PawlStepper* s, PawlNsga* d, const PawlState* state, double* aside) {
  pawl_nsga_add_rebounds(s, d, -1.0);
  if ((d->rub.contacts > 0 && (pawl_nsga_lets_go(s, d) || pawl_nsga_rubs_aside(s, d, aside))) ||
      pawl_nsga_restrain(s, d, state)) {
    return true;
  }
  pawl_nsga_add_rebounds(s, d, 1.0);
  return false;
}

// Sets that go to and fro to the last iteration, between motions that are as good: the step is
// taken with these.                                                                         (T33)
static bool takes_near(PawlStepper* s, PawlNsga* d, int* row) {
  if (d->rub.contacts == 0) {
    return false;
  }
  double error = fmax(corrections_error(s, d, row), fmax(d->ga.error_r, d->ga.error_c));
  bool near = error <= PAWL_RUB_RELAXED;
  d->rub.near = d->rub.near || (near && !d->rub.relaxed);
  d->rub.relaxed = d->rub.relaxed || near;
  return near;
}

// The open contact that overlaps most at the last iterate; -1: none.
static int overlapping(const PawlNsga* d) {
  const double* g = pawl_eval_values(d->eval)->g;
  const PawlContacts* c = &d->contacts;
  double most = 0.0;
  int worst = -1;
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    worst = !d->A[i] && -g[i] > most ? i : worst;
    most = worst == i ? -g[i] : most;
  }
  return worst;
}

static PawlStatus fail_sets(const PawlStepper* s, int row, double t, PawlError* err) {
  int number;
  return pawl_fail(err, PAWL_RETRY,
                   "t = %.10g: which contacts press is not settled in %d iterations: '%s' overlaps "
                   "by more than rounding (tolerance), and nothing is found to push it apart",
                   t, s->def.iterations, pawl_system_row_name(s->system, row, &number));
}

static int most_iterations(const PawlStepper* s, const PawlNsga* d) {
  return s->def.iterations * (1 + d->gain.looks);
}

// `done`: iterations that a kernel has made, with an evaluation behind them.
PAWL_INLINE PawlStatus iterate_coupled(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                       PawlState* state, int done, PawlError* err) {
  double t = state->t + d->ga.h;
  int row = 0, since = 0;  // iterations before something was changed for the energy
  bool changed = false;
  double aside = INFINITY;
  PawlPhase smooth = *phase;
  smooth.active = d->S;
  d->total = d->torn = d->rated = false;
  if (done == 0 && !d->failed && pawl_nsga_total_serves(s, d, phase)) {
    PawlStatus status = pawl_nsga_total(s, d, &smooth, state, err);
    d->failed = status == PAWL_RETRY;
    PAWL_TRY(status);
    done = 1;
  }
  for (int k = done; k <= most_iterations(s, d); k++) {
    changed = false;
    PAWL_TRY(k > 0 && k == done  // the guess is no end
                 ? pawl_ga_balance(s, &d->ga, &smooth, true, err)
                 : pawl_ga_residual(s, &d->ga, &smooth, state, k > 0, err));
    PAWL_TRY(pawl_nsga_directions(d, phase, err));
    d->held_now = false;
    if (!pawl_nsga_is_clear(d)) {
      return PAWL_RETRY;
    }
    if (d->minds && !(k == 0 && d->rests)) {
      PAWL_TRY(choose_sets(s, d, phase, t, k - since, &changed, err));
    }
    bool settled = d->settles && k == 1 && !d->total && !changed && settle(s, d);
    if (!changed && pawl_ga_may_end(s, &d->ga, &smooth, k) && !d->torn &&
        pawl_ga_ended(s, &d->ga, corrections_error(s, d, &row))) {
      if (!d->minds || !goes_on(s, d, state, &aside)) {
        PAWL_TRY(pawl_ga_outgrown(s, &d->ga, state, err));
        return pawl_nsga_check_solved(s, d, phase, t, err);
      }
      since = k;  // sets are free to change again, and residuals may grow
      d->ga.best = INFINITY;
    }
    if (k == most_iterations(s, d) && takes_near(s, d, &row)) {
      return pawl_nsga_check_solved(s, d, phase, t, err);
    }
    if (settled) {
      pawl_nsga_give_back(s, d);
    }
    if (d->total) {
      pawl_nsga_total_leave(s, d);
    }
    for (int i = 0; i < s->sizes.rows; i++) {
      d->ga.lambda[i] = d->S[i] ? d->ga.lambda[i] : 0.0;
    }
    if (changed) {  // the residuals belong to the sets before
      d->ga.best = INFINITY;
      d->ga.held = 0;
      PAWL_TRY(pawl_ga_balance(s, &d->ga, &smooth, k > 0, err));
    }
    PAWL_TRY(pawl_ga_correct(s, &d->ga, &smooth, state, err));
    PAWL_TRY(correct_both(s, d, phase, t, err));
    if (k == 0 && d->turns && can_share(s, d)) {
      share_accelerations(s, d);
    }
  }
  pawl_ga_errors(s, &d->ga, &smooth);
  double error = corrections_error(s, d, &row);
  if (error > d->ga.error_c) {
    d->ga.error_c = error;
    d->ga.worst_row = row;
  }
  int open = changed && fmax(error, d->ga.error_r) <= s->def.tolerance ? overlapping(d) : -1;
  return open >= 0 ? fail_sets(s, open, t, err) : pawl_ga_stuck(s, &d->ga, t, err);
}

// Contacts that press at the beginning bind where a first acceleration is looked for, too.
static PawlStatus predict(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, PawlState* state,
                          double h, PawlError* err) {
  PawlPhase begin = *phase;
  if (d->ga.shifted) {
    for (int i = 0; i < s->sizes.rows; i++) {
      bool contact = pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT;
      d->trial[i] = contact ? state->lambda[i] > 0.0 : pawl_phase_binds(phase, i);
    }
    begin.active = d->trial;
  }
  PAWL_TRY(pawl_ga_predict(s, &d->ga, &begin, state, h, err));
  if (!d->classical) {
    return PAWL_OK;
  }
  PawlPoint point = pawl_phase_point(phase, state->t, state->q, state->v, state->a, state->lambda);
  PAWL_TRY(pawl_eval_run(d->eval, &point, err));
  memcpy(d->G_smooth, pawl_eval_values(d->eval)->G,
         (size_t)s->G.start[s->sizes.v] * sizeof(double));
  return PAWL_OK;
}

static void flush(int count, double* x) {
  for (int k = 0; k < count; k++) {
    x[k] = fabs(x[k]) > PAWL_FLUSHED ? x[k] : 0.0;
  }
}

// The last evaluation of the step before was at the beginning of this one: by time, then by place.
static bool may_be_fresh(const PawlStepper* s, const PawlNsga* d, const PawlState* state) {
  return (state->t == d->fresh || (d->timeless && !isnan(d->fresh))) && !s->loop;
}
static bool is_there(const PawlStepper* s, const PawlNsga* d, const PawlState* state) {
  if (d->ga.small) {  // few, and q as many as v; a zero of another sign is no other place
    bool same = true;
    for (int j = 0; j < s->sizes.v; j++) {
      same &= (state->q[j] == d->ga.q[j]) & (state->v[j] == d->ga.v_total[j]);
    }
    return same;
  }
  return memcmp(state->q, d->ga.q, (size_t)s->sizes.q * sizeof(double)) == 0 &&
         memcmp(state->v, d->ga.v_total, (size_t)s->sizes.v * sizeof(double)) == 0;
}

// The iterate becomes the state. `further`: the step is a piece of one that began before.
PAWL_INLINE PawlStatus finish_coupled(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                      PawlState* state, bool further, PawlError* err) {
  double* eta_n = pawl_nsga_eta_of(s, state);
  pawl_nsga_add_rebounds(s, d, -1.0);  // what corrections_error() has added to the rates
  PAWL_TRY(pawl_nsga_passed(s, d, state, d->ga.v_total, err));
  PAWL_TRY(pawl_nsga_note_impacts(s, d, state, d->ga.q, d->ga.v_total, err));
  PAWL_TRY(pawl_nsga_log_impacts(s, d, state, d->ga.q, d->ga.v_total, err));
  for (int i = 0; i < s->sizes.rows; i++) {
    eta_n[i] = pawl_nsga_next_eta(&d->ga, d->ga.lambda[i], state->lambda[i], eta_n[i]);
    eta_n[i] = fabs(eta_n[i]) > PAWL_FLUSHED ? eta_n[i] : 0.0;
    d->ga.lambda[i] = fabs(d->ga.lambda[i]) > PAWL_FLUSHED ? d->ga.lambda[i] : 0.0;
  }
  pawl_ga_accept(s, &d->ga, state, true);  // a closed contact rings down into denormal numbers
  d->fresh = state->t;
  PAWL_TRY(pawl_nsga_forget_jump(s, d, phase, state, err));
  if (d->released) {
    pawl_nsga_begin_anew(s, d, state);
  }
  pawl_nsga_keep(s, d, state, further);
  flush(state->memory_count - 2 * s->sizes.v, state->memory + 2 * s->sizes.v);
  return PAWL_OK;
}

// Whether each contact rests, as it did in the step before, or is far away: then the guess needs no
// search for sets.                                                                          (N44)
PAWL_APART static bool rest_on(const PawlStepper* s, const PawlNsga* d, const PawlState* state) {
  const PawlContacts* c = &d->contacts;
  const double* Lambda_n = pawl_nsga_Lambda_before(s, state);
  bool rest = pawl_small_may_rest(s, d) && !d->rebounds, any = false;
  for (int k = 0; rest && k < c->count; k++) {
    int i = c->row[k];
    any |= d->S[i];
    rest = d->S[i] || (!(Lambda_n[i] > 0.0) && pawl_nsga_is_far(d, i, c->gap[i]));
  }
  return rest && any;
}

static PawlStatus take_once(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, PawlState* state,
                            double h, bool fresh, PawlError* err) {
  bool further = state->t > s->begun;
  d->ga.begun = fresh;
  pawl_nsga_first_sets(s, d, phase);
  if (!d->ga.still) {
    pawl_nsga_clear_corrections(s, d);
    d->ga.still = true;
  }
  PAWL_TRY(predict(s, d, phase, state, h, err));
  fresh = fresh && (!d->ga.begins || pawl_ga_begins(s, &d->ga));
  PAWL_TRY(pawl_nsga_begin_contacts(s, d, phase, state, fresh, err));
  d->rests = d->minds && rest_on(s, d, state);
  memset(d->nu, 0, (size_t)s->sizes.rows * sizeof(double));
  memset(d->Lambda, 0, (size_t)s->sizes.rows * sizeof(double));
  if (d->rub.contacts > 0) {  // where to begin, no more: W is zero
    memcpy(d->Lambda, pawl_nsga_Lambda_before(s, state), (size_t)s->sizes.rows * sizeof(double));
    memcpy(d->nu, pawl_nsga_nu_of(s, state), (size_t)s->sizes.rows * sizeof(double));
  }
  d->W_still = s->contact_count == 0 && d->rub.contacts == 0;
  PAWL_TRY(iterate_coupled(s, d, phase, state, 0, err));
  return finish_coupled(s, d, phase, state, further, err);
}

static PawlStatus take_any(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, PawlState* state,
                           double h, bool fresh, PawlError* err) {
  d->failed = false;
  PawlStatus status = take_once(s, d, phase, state, h, fresh, err);
  return d->failed ? take_once(s, d, phase, state, h, false, err) : status;
}

// The same after the guess of a kernel.
PAWL_APART static PawlStatus take_small(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                        PawlState* state, double h, bool fresh, PawlError* err) {
  bool further = state->t > s->begun;
  PAWL_TRY(pawl_nsga_begin_contacts(s, d, phase, state, fresh, err));
  d->rests = d->minds && rest_on(s, d, state);
  bool by_kernel = !d->minds || d->rests;
  PawlKernelsEnd end = by_kernel ? pawl_small_iterate(s, d) : PAWL_KERNELS_GO_ON;
  if (end == PAWL_KERNELS_UNUSUAL) {
    d->ga.still = false;  // there may be corrections
    return take_any(s, d, phase, state, h, false, err);
  }
  if (end == PAWL_KERNELS_CLOSES) {
    return PAWL_RETRY;
  }
  if (end == PAWL_KERNELS_GO_ON) {
    d->W_still = false;
    PAWL_TRY(iterate_coupled(s, d, phase, state, by_kernel ? 1 : 0, err));
    return finish_coupled(s, d, phase, state, further, err);
  }
  PAWL_TRY(pawl_ga_outgrown(s, &d->ga, state, err));
  if (further) {
    return finish_coupled(s, d, phase, state, further, err);
  }
  PAWL_TRY(pawl_nsga_passed(s, d, state, d->ga.v_total, err));
  PAWL_TRY(pawl_nsga_note_impacts(s, d, state, d->ga.q, d->ga.v_total, err));
  PAWL_TRY(pawl_nsga_log_impacts(s, d, state, d->ga.q, d->ga.v_total, err));
  pawl_small_accept(s, d, state);
  d->fresh = state->t;
  return PAWL_OK;
}

static PawlStatus take_coupled(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                               PawlError* err) {
  PawlNsga* d = s->data;
  bool fresh = may_be_fresh(s, d, state);
  d->fresh = NAN;
  if (!d->ga.small) {
    fresh = fresh && (d->ga.begins || is_there(s, d, state));
    return take_any(s, d, phase, state, h, fresh, err);
  }
  fresh = fresh && pawl_nsga_has_contacts(s) && is_there(s, d, state);
  return pawl_small_guess(s, d, phase, state, h) ? take_small(s, d, phase, state, h, fresh, err)
                                                 : take_any(s, d, phase, state, h, fresh, err);
}

static PawlStatus step_coupled(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                               PawlError* err) {
  return pawl_nsga_take(s, phase, state, h, take_coupled, err);
}

// With `stabilise: classical` M_smooth is the identity and G_smooth the gradient at q_n.
static PawlStatus create_pv(PawlStepper* s, PawlError* err) {
  PAWL_TRY(pawl_nsga_create_kind(s, PAWL_LEVEL_VELOCITY, false, false, err));
  PawlNsga* d = s->data;
  d->classical = strcmp(s->def.stabilise, "classical") == 0;
  for (int j = 0; d->classical && j < s->sizes.v; j++) {
    for (int k = s->H.start[j]; k < s->H.start[j + 1]; k++) {
      d->M_smooth[k] = s->H.index[k] == j ? 1.0 : 0.0;
    }
  }
  return pawl_small_create(s, d, err);
}
static PawlStatus create_pva(PawlStepper* s, PawlError* err) {
  PAWL_TRY(pawl_nsga_create_kind(s, PAWL_LEVEL_ACCELERATION, true, false, err));
  return pawl_small_create(s, s->data, err);
}

#define COUPLED(symbol, make, ...)                                               \
  const PawlMethod symbol = {.info = {.order = 2, .regions = true, __VA_ARGS__}, \
                             .memory_vectors = 2,                                \
                             .memory_rows = 4,                                   \
                             .memory_numbers = 2,                                \
                             .memory_contacts = 1,                               \
                             .create = make,                                     \
                             .destroy = pawl_nsga_destroy,                       \
                             .start = pawl_nsga_start,                           \
                             .step = step_coupled,                               \
                             .turns = true,                                      \
                             .impulse = pawl_nsga_impulse,                       \
                             .closes = pawl_nsga_closes,                         \
                             .multipliers = pawl_nsga_multipliers,               \
                             .accelerations = pawl_nsga_accelerations,           \
                             .corrections = pawl_nsga_corrections,               \
                             .forget = pawl_ga_forget}
#define OPTIONS "rho coefficients start_acceleration tolerance iterations newton"

COUPLED(
    pawl_method_ga_pv, create_pv, .name = "ga-pv", .apart = true, .holds = "position, velocity",
    .about = "generalized-alpha, constraints at position and velocity level (stabilised index 2)",
    .options = OPTIONS " stabilise", .smooth = true, .laws = PAWL_LAWS_POST);
COUPLED(pawl_method_ga_pva, create_pva, .name = "ga-pva",
        .holds = "position, velocity, acceleration",
        .about = "generalized-alpha, constraints at position, velocity and acceleration level",
        .options = OPTIONS, .smooth = true, .laws = PAWL_LAWS_ALL);
COUPLED(pawl_method_nsga_pva, create_pva, .name = "nsga-pva",
        .holds = "position, velocity, acceleration",
        .about = "nonsmooth generalized-alpha, smooth motion at acceleration level; contacts",
        .options = OPTIONS " strategy contact_law painleve", .contacts = true, .friction = true,
        .laws = PAWL_LAWS_ALL);
