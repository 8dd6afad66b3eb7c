// SPDX-License-Identifier: Apache-2.0
// moreau-jean: the theta method for impulses and velocities (docs/theory/moreau-jean.md):
//
//   M (v_{n+1} - v_n) = h (theta f_{n+1} + (1 - theta) f_n) + B^T P                          (T1)
//   q_{n+1} = q_n + h (theta v_{n+1} + (1 - theta) v_n)                                      (T2)
//   G v + g_t = 0 at t_{n+1} for bilateral rows                                              (T3)
//   0 <= G v_{n+1} + e u*  _|_   P >= 0 for contacts with g_n + h/2 g_n' <= 0              (T4)
//   |P_T| <= mu P_N, P_T = -mu P_N u_T / |u_T| where such a contact slips                    (T7)
//
// Constraints are imposed at velocity level alone: positions drift.
#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "step/contacts.h"
#include "step/depend.h"
#include "step/gain.h"
#include "step/loss.h"
#include "step/rub_start.h"

static const double LAW = 10.0;  // of the tolerance: how well a contact obeys its law

typedef struct MoreauJean {
  double theta;
  PawlEval* eval;     // M, f, g, G, g_t
  PawlEval* tangent;  // K, C, G_rate
  double *q, *v, *a, *P, *lambda, *f_n, *dv, *dP, *move, *S, *J;
  double *rate, *rate_n, *lead;  // rows: G v + g_t at both ends, g_t at the beginning
  double *turned, *met;  // rows: G v + g_t with v of the beginning, all else of the end; met_at()
  PawlContacts contacts;
  PawlDepend* depend;
  PawlRub rub;    // friction
  PawlGain gain;  // energy that contacts bring in
  PawlLoss loss;  // and take
  double noise;   // of velocities: rounding of the impulses that hold them; 0 without friction
  bool rebounds;  // some contact approaches faster than PAWL_SLOWEST_REBOUND
  bool lands;     // one that may close does, and no correction was made yet
  unsigned char *candidate, *set, *room;
} MoreauJean;

static PawlStatus create(PawlStepper* s, PawlError* err) {
  MoreauJean* d = PAWL_NEW(&s->arena, MoreauJean, 1);
  s->data = d;
  if (!d) {
    return pawl_fail_memory(err);
  }
  d->theta = s->def.theta;
  int n = s->sizes.v, m = s->sizes.rows;
  struct {
    double** array;
    int size;
  } arrays[] = {
      {&d->q, s->sizes.q},   {&d->v, n},    {&d->a, n},      {&d->f_n, n}, {&d->dv, n},
      {&d->move, n},         {&d->P, m},    {&d->lambda, m}, {&d->dP, m},  {&d->rate, m},
      {&d->rate_n, m},       {&d->lead, m}, {&d->turned, m}, {&d->met, m}, {&d->S, s->nonzeros_H},
      {&d->J, s->G.start[n]}};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
    *arrays[k].array = PAWL_NEW(&s->arena, double, arrays[k].size);
  }
  d->candidate = PAWL_NEW(&s->arena, unsigned char, m);
  d->set = PAWL_NEW(&s->arena, unsigned char, m);
  d->room = PAWL_NEW(&s->arena, unsigned char, m);
  if (s->arena.failed) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_contacts_create(s, &d->contacts, err));
  d->contacts.drift = true;
  PAWL_TRY(pawl_depend_create(s, &d->contacts, &d->depend, err));
  PAWL_TRY(pawl_rub_create(s, false, &d->rub, err));
  PAWL_TRY(pawl_gain_create(s, &d->gain, err));
  PAWL_TRY(pawl_loss_create(s, &d->rub, &d->gain, &d->loss, err));
  PAWL_TRY(pawl_stepper_eval(
      s, PAWL_MASS | PAWL_FORCE | PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT, &d->eval,
      err));
  return pawl_stepper_eval(s, PAWL_STIFFNESS | PAWL_DAMPING | PAWL_VELOCITY_TANGENT, &d->tangent,
                           err);
}

static void destroy(PawlStepper* s) {
  MoreauJean* d = s->data;
  pawl_contacts_destroy(&d->contacts);
  pawl_depend_destroy(d->depend);
  pawl_rub_destroy(&d->rub);
  pawl_eval_destroy(d->eval);
  pawl_eval_destroy(d->tangent);
}

// Forces of contacts at the start, with their friction.                               (N24) (T28)
static PawlStatus start(PawlStepper* s, const PawlPhase* phase, PawlState* state, PawlError* err) {
  MoreauJean* d = s->data;
  bool found;
  d->rub.begins = true;
  if (d->rub.contacts == 0) {
    return pawl_contacts_start(s, &d->contacts, phase, state, d->dv, d->room, err);
  }
  PAWL_TRY(pawl_rub_start(s, &d->rub, &d->contacts, phase, state, d->dv, d->lambda, &found, err));
  if (found) {
    memcpy(state->a, d->dv, (size_t)s->sizes.v * sizeof(double));
    memcpy(state->lambda, d->lambda, (size_t)s->sizes.rows * sizeof(double));
  }
  return PAWL_OK;
}

static bool is_contact(const PawlStepper* s, int i) {
  return pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT;
}

static bool is_friction(const PawlStepper* s, int i) {
  return pawl_system_row_kind(s->system, i) == PAWL_ROW_FRICTION;
}

// The rates of the contacts at the beginning, and which may close: d->set for their rows.
static void begin_contacts(PawlStepper* s, MoreauJean* d, const PawlState* state,
                           const PawlValues* values, double h) {
  PawlContacts* c = &d->contacts;
  const double* of_q = s->sizes.q == s->sizes.v ? state->q : NULL;
  double ahead = s->system->gaps_kink ? 1.0 : 0.5;  // a kink ends the step and turns the rate
  memcpy(d->lead, values->g_t, (size_t)s->sizes.rows * sizeof(double));
  pawl_contacts_begin(s, c, values);
  pawl_dynamics_rows(&s->dynamics, values->G, state->v, values->g_t, d->rate_n);
  pawl_sparse_sizes(&s->G, values->G, of_q, c->least_q, c->size);
  for (int i = 0; i < s->sizes.rows; i++) {
    bool contact = is_contact(s, i);
    double gap = values->g[i] + ahead * h * d->rate_n[i];
    d->candidate[i] =
        contact && (pawl_contacts_touches(c, s->def.tolerance, i, gap) ||  // (T4)
                    pawl_contacts_stays(s, c, state, values->g[i], d->rate_n[i], h, i));
    d->set[i] = contact ? d->candidate[i] : d->set[i];
    d->rate_n[i] = contact || is_friction(s, i) ? d->rate_n[i] : 0.0;
    d->rebounds |= contact && fabs(d->rate_n[i]) > PAWL_SLOWEST_REBOUND * c->slow;
    d->lands |= d->candidate[i] && d->rate_n[i] < -PAWL_SLOWEST_LOGGED * c->slow;
  }
}

// What is known at the beginning: f_n, the rows that hold and what is known of contacts.
static PawlStatus begin(PawlStepper* s, MoreauJean* d, const PawlPhase* phase,
                        const PawlState* state, double h, PawlError* err) {
  PawlPoint point = pawl_phase_point(phase, state->t, state->q, state->v, state->a, state->lambda);
  PAWL_TRY(pawl_eval_run(d->eval, &point, err));
  const PawlValues* values = pawl_eval_values(d->eval);
  memcpy(d->f_n, values->f, (size_t)s->sizes.v * sizeof(double));
  pawl_contacts_measure(s, &d->contacts, state, values);
  d->rebounds = d->lands = false;
  d->noise = 0.0;
  for (int i = 0; i < s->sizes.rows; i++) {
    d->set[i] = pawl_phase_binds(phase, i);
  }
  if (s->contact_count > 0) {
    pawl_gain_begin_step(s, &d->gain);
    begin_contacts(s, d, state, values, h);
  }
  if (d->rub.contacts > 0) {
    pawl_sparse_sizes(&s->G, values->G, state->v, d->contacts.least_v, d->contacts.size);
    PAWL_TRY(pawl_rub_begin(&d->rub, phase, state, d->rate_n, d->contacts.size, err));
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    d->P[i] = d->set[i] || is_friction(s, i) ? h * state->lambda[i] : 0.0;
  }
  return PAWL_OK;
}

// The rate at which a contact meets its impact: the slower one of those with the gradients of both
// ends. Where it has turned, slow ones are not met in halves, (N47).                       (T14)
static double approach(const MoreauJean* d, int i) {
  double begin = d->rate_n[i], slowest = fmax(begin, d->turned[i]);
  bool slow = begin >= -PAWL_PASSED_SLOWEST * d->contacts.slow;
  return begin >= 0.0 ? begin : slowest < 0.0 ? slowest : slow ? 0.0 : begin;
}

// e u* of row i; 0 of rows that are no contacts.
static double thrown(const PawlStepper* s, const MoreauJean* d, int i) {
  int k = i - s->sizes.rows + s->contact_count;
  double e = d->rebounds && k >= 0 ? pawl_system_restitution(s->system, i) : 0.0;
  return e == 0.0 ? 0.0 : e * d->gain.kept[k] * approach(d, i);
}

static double rebound(const PawlStepper* s, const MoreauJean* d, int i) {
  return d->rate[i] + thrown(s, d, i);
}

static bool settled(const PawlStepper* s, const MoreauJean* d) {
  double change = 0.0, size = d->contacts.least_v;
  bool each = true;
  for (int j = 0; j < pawl_moving(s->sizes); j++) {
    change = fmax(change, fabs(d->dv[j]));
    size = fmax(size, fabs(d->v[j]));
  }
  for (int j = pawl_moving(s->sizes); j < s->sizes.v; j++) {
    double own = fabs(d->v[j]) + s->def.step * fabs(d->f_n[j]);
    each &= fabs(d->dv[j]) <= fmax(s->def.tolerance * own, DBL_MIN);
  }
  // What has come to rest may leave numbers whose products underflow.
  return each && change <= fmax(fmax(s->def.tolerance * size, d->noise), DBL_MIN);
}

// Closed contacts push and the others leave fast enough. At the end closed ones must also obey the
// law: of contacts that depend on each other perhaps not all can.
static bool consistent(const PawlStepper* s, MoreauJean* d) {
  PawlContacts* c = &d->contacts;
  bool fits = true, last = settled(s, d);
  pawl_sparse_sizes(&s->G, pawl_eval_values(d->eval)->G, d->v, c->least_v, c->size);
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    double law = rebound(s, d, i);
    if (d->candidate[i] && d->set[i]) {
      fits &= d->P[i] >= 0.0 && (!last || fabs(law) <= LAW * s->def.tolerance * c->size[i]);
    } else if (d->candidate[i]) {
      fits &= law >= 0.0;
    }
  }
  return fits;
}

// Rows that hold may leave no velocity with which a contact obeys its law: then it is not among
// those chosen, and all of them together are named. A smaller step may not need it.
static PawlStatus check_law(PawlStepper* s, MoreauJean* d, const PawlPhase* phase, double t,
                            PawlError* err) {
  const PawlContacts* c = &d->contacts;
  const PawlValues* values = pawl_eval_values(d->eval);
  bool obeyed = true;
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    obeyed &= !d->candidate[i] || rebound(s, d, i) >= -LAW * s->def.tolerance * c->size[i];
  }
  PawlStatus status = obeyed ? PAWL_OK
                             : pawl_contacts_contradiction(s, phase, values, values->g_t,
                                                           d->candidate, t, "velocity", err);
  return status == PAWL_ERROR_RUN ? PAWL_RETRY : status;
}

// The contacts that take an impulse, from the linear equations of the last correction.      (T5)
static PawlStatus choose_set(PawlStepper* s, MoreauJean* d, double t, const double* B,
                             int iteration, bool* changed, PawlError* err) {
  PawlContacts* c = &d->contacts;
  *changed = false;
  if (consistent(s, d)) {
    return PAWL_OK;
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    d->room[i] = !is_contact(s, i) && d->set[i];
  }
  PAWL_TRY(pawl_contacts_compliance(s, c, d->S, B, d->J, d->room, t, d->move, d->dP, err));
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    c->push[i] = d->P[i];
    c->opening[i] = rebound(s, d, i);
  }
  PawlChoice choice = {.allowed = d->candidate,
                       .tolerance = s->def.tolerance,
                       .grow = iteration >= PAWL_SET_CHANGES};
  if (!pawl_contacts_choose(s, c, &choice, d->set, changed) && d->rebounds) {
    d->rebounds = false;  // no velocity obeys Newton's law
    *changed = true;
  }
  for (int k = 0; k < c->count; k++) {
    d->P[c->row[k]] = d->set[c->row[k]] ? c->push[c->row[k]] : 0.0;
  }
  return PAWL_OK;
}

// Rates of states see the means of v' and lambda over the step, at both of its ends; tangents have
// their own.                                                                                 (Z4)
static PawlStatus react_in_mean(PawlStepper* s, MoreauJean* d, const PawlPhase* phase,
                                const PawlState* state, double h, PawlError* err) {
  for (int j = 0; j < s->sizes.v; j++) {
    d->a[j] = (d->v[j] - state->v[j]) / h;
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    d->lambda[i] = d->P[i] / h;
  }
  PawlPoint point = pawl_phase_point(phase, state->t, state->q, state->v, d->a, d->lambda);
  s->dynamics.info.evaluations++;
  PAWL_TRY(pawl_eval_run(d->eval, &point, err));
  int first = pawl_moving(s->sizes);
  memcpy(d->f_n + first, pawl_eval_values(d->eval)->f + first,
         (size_t)s->sizes.states * sizeof(double));
  return PAWL_OK;
}

// d->q of d->v.
static void move(PawlStepper* s, MoreauJean* d, const PawlState* state, double h) {
  double theta = d->theta;
  for (int j = 0; j < s->sizes.v; j++) {
    d->move[j] = h * (theta * d->v[j] + (1 - theta) * state->v[j]);  // (T2)
  }
  for (int j = 0; d->gain.shifted && j < pawl_moving(s->sizes); j++) {
    d->move[j] += d->gain.shift[d->gain.body[j]] * h * (d->v[j] - state->v[j]);  // (T26)
  }
  pawl_system_retract(s->system, state->q, d->move, d->q);
}

// Evaluates at the iterate and fills the right sides of Newton's method.
static PawlStatus residual(PawlStepper* s, MoreauJean* d, const PawlPhase* phase,
                           const PawlState* state, double h, const double** B, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  move(s, d, state, h);
  if (s->system->rates_react) {
    PAWL_TRY(react_in_mean(s, d, phase, state, h, err));
  }
  PawlPoint point = pawl_phase_point(phase, state->t + h, d->q, d->v, d->a, d->lambda);
  s->dynamics.info.evaluations++;
  PAWL_TRY(pawl_eval_run(d->eval, &point, err));
  PAWL_TRY(pawl_law_directions(phase, values, B, err));
  pawl_dynamics_rows(&s->dynamics, values->G, d->v, values->g_t, d->rate);
  if (d->rebounds) {
    pawl_dynamics_rows(&s->dynamics, values->G, state->v, values->g_t, d->turned);
  }
  return PAWL_OK;
}

// S = M + h theta C + (h theta)^2 K and J = G + h theta G_rate at the iterate; d->dv receives what
// (T1) leaves without P.
static PawlStatus linearise(PawlStepper* s, MoreauJean* d, const PawlPhase* phase,
                            const PawlState* state, double h, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  double ht = h * d->theta;
  for (int j = 0; j < s->sizes.v; j++) {
    d->a[j] = (d->v[j] - state->v[j]) / ht;
    d->dv[j] = h * (d->theta * values->f[j] + (1 - d->theta) * d->f_n[j]);
    d->move[j] = d->v[j] - state->v[j];
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    d->lambda[i] = d->P[i] / ht;
  }
  pawl_sparse_line_add(&s->dynamics.by_H, values->M, -1.0, d->move, d->dv);
  PawlPoint point = pawl_phase_point(phase, state->t + h, d->q, d->v, d->a, d->lambda);
  PAWL_TRY(pawl_eval_run(d->tangent, &point, err));
  const PawlValues* tangent = pawl_eval_values(d->tangent);
  for (int k = 0; k < s->nonzeros_H; k++) {
    d->S[k] = values->M[k] + ht * tangent->C[k] + ht * ht * tangent->K[k];
  }
  for (int k = 0; k < s->G.start[s->sizes.v]; k++) {
    d->J[k] = values->G[k] + ht * tangent->G_rate[k];
  }
  for (int j = 0; d->gain.shifted && j < pawl_moving(s->sizes); j++) {
    double more = h * d->gain.shift[d->gain.body[j]];  // of dq/dv                        (T26)
    for (int k = s->H.start[j]; k < s->H.start[j + 1]; k++) {
      d->S[k] += ht * more * tangent->K[k];
    }
    for (int k = s->G.start[j]; k < s->G.start[j + 1]; k++) {
      d->J[k] += more * tangent->G_rate[k];
    }
  }
  s->dynamics.info.newton_iterations++;
  return PAWL_OK;
}

// [S -B^T; J 0] [dv; dP] = -[(T1); (T3), (T4)]
static PawlStatus correct(PawlStepper* s, MoreauJean* d, const PawlPhase* phase,
                          const PawlState* state, double h, const double* B, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  PAWL_TRY(linearise(s, d, phase, state, h, err));
  for (int i = 0; i < s->sizes.rows; i++) {
    d->dP[i] = d->set[i] ? -rebound(s, d, i) : 0.0;
  }
  pawl_sparse_line_add_transposed(&s->dynamics.by_G, B, 1.0, d->P, d->dv);
  PAWL_TRY(pawl_dynamics_solve(&s->dynamics, values, d->S, B, d->J, d->set, state->t + h, d->dv,
                               d->dP, err));
  for (int j = 0; j < s->sizes.v; j++) {
    d->v[j] += d->dv[j];
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    d->P[i] += d->dP[i];
  }
  return PAWL_OK;
}

// Impulses are found in whole: what rounding of them is for the lightest velocity.
static double noise_of_impulses(const PawlStepper* s, const MoreauJean* d, const double* B) {
  double most = 0.0;
  for (int j = 0; j < pawl_moving(s->sizes); j++) {
    double sum = 0.0, M = s->dynamics.diagonal[j] >= 0 ? d->S[s->dynamics.diagonal[j]] : 0.0;
    for (int e = s->G.start[j]; e < s->G.start[j + 1]; e++) {
      sum += fabs(B[e] * d->P[s->G.index[e]]);
    }
    most = M > 0.0 ? fmax(most, sum / M) : most;
  }
  return PAWL_ROUNDED * most;
}

// J of contacts and their friction is G where something lands: G_rate is that of the motion before,
// which stops, and by it what is at rest would still turn.                                  (T27)
static void forget_turning(const PawlStepper* s, MoreauJean* d) {
  const double* G = pawl_eval_values(d->eval)->G;
  for (int e = 0; d->lands && e < s->G.start[s->sizes.v]; e++) {
    d->J[e] = s->G.index[e] >= d->rub.first_row ? G[e] : d->J[e];
  }
  d->lands = false;
}

// The same with friction: which contacts are closed, stick and slip is found with the correction.
static PawlStatus correct_rubbing(PawlStepper* s, MoreauJean* d, const PawlPhase* phase,
                                  const PawlState* state, double h, const double* B,
                                  PawlError* err) {
  PawlContacts* c = &d->contacts;
  PAWL_TRY(linearise(s, d, phase, state, h, err));
  forget_turning(s, d);
  for (int i = 0; i < s->sizes.rows; i++) {
    d->room[i] = pawl_phase_binds(phase, i);
    d->dP[i] = rebound(s, d, i);
  }
  pawl_sparse_sizes(&s->G, pawl_eval_values(d->eval)->G, d->v, c->least_v, c->size);
  PawlRubStep step = {.t = state->t + h,
                      .S = d->S,
                      .B = B,
                      .J = d->J,
                      .bilateral = d->room,
                      .near = d->candidate,
                      .w0 = d->dP,
                      .size = c->size,
                      .tolerance = s->def.tolerance,
                      .guess = d->P};
  PAWL_TRY(pawl_rub_solve(s, &d->rub, &step, d->dv, d->lambda, d->set, err));
  for (int j = 0; j < s->sizes.v; j++) {
    d->v[j] += d->dv[j];
  }
  memcpy(d->P, d->lambda, (size_t)s->sizes.rows * sizeof(double));
  d->noise = fmax(noise_of_impulses(s, d, B),
                  d->rub.relaxed ? PAWL_RUB_RELAXED * c->least_v / PAWL_SMALLEST_PART : 0.0);
  return PAWL_OK;
}

// The rate of row i at the beginning, with G of the end and g_t of the beginning: what its impulse
// does to the energy is P times the mean of this and the rate of the end.                (T24)
static double met_at(const MoreauJean* d, int i) {
  return d->turned[i] - pawl_eval_values(d->eval)->g_t[i] + d->lead[i];
}

// [J] What contact k and its friction do to the energy by their impulses, but for what they do as
// they move by themselves.                                                   (T8) (B15) (B20)
static PawlGainPart gain_of(const PawlStepper* s, const MoreauJean* d, int k) {
  int row = d->contacts.row[k], slips = d->rub.contacts > 0 ? d->rub.of[k].count : 0;
  double e = pawl_system_restitution(s->system, row) * d->gain.kept[k];
  PawlGainPart part = {0};
  for (int n = -1; n < slips; n++) {
    int i = n < 0 ? row : d->rub.of[k].first + n;
    double P = d->P[i], before = met_at(d, i), after = d->rate[i];
    part.work += 0.5 * P * (before + after);
    part.size += fabs(P) * (fabs(before) + fabs(after) + d->contacts.slow);
    part.push += P * (after - d->turned[i]);
  }
  part.back = thrown(s, d, row) < 0.0 ? -thrown(s, d, row) * d->P[row] * e / (1.0 + e) : 0.0;
  return part;
}

// Whether some contact brings energy in; if none does no island of them does.
static bool may_gain(const PawlStepper* s, MoreauJean* d, const PawlState* state) {
  const PawlValues* values = pawl_eval_values(d->eval);
  bool any = false;
  if (!d->rebounds) {
    pawl_dynamics_rows(&s->dynamics, values->G, state->v, values->g_t, d->turned);
  }
  for (int k = 0; k < d->contacts.count; k++) {
    if (d->P[d->contacts.row[k]] > 0.0) {
      PawlGainPart part = gain_of(s, d, k);
      any |= part.work > PAWL_GAINED * part.size;
    }
  }
  return any;
}

// Islands that gain move on, or their contacts are thrown back less: true where there are some, and
// the step is not at its end.                                                    (T8) (T26)
static bool restrain(const PawlStepper* s, MoreauJean* d, const PawlState* state) {
  PawlContacts* c = &d->contacts;
  pawl_gain_begin(&d->gain);
  for (int k = 0; k < c->count; k++) {
    if (d->P[c->row[k]] > 0.0) {
      pawl_gain_add(c, &d->rub, &d->gain, k, gain_of(s, d, k));
    }
  }
  double *dv = d->move, *M_dv = d->a;
  for (int j = 0; j < s->sizes.v; j++) {
    dv[j] = d->v[j] - state->v[j];
    M_dv[j] = 0.0;
  }
  pawl_sparse_line_add(&s->dynamics.by_H, pawl_eval_values(d->eval)->M, 1.0, dv, M_dv);
  return pawl_gain_restrain(s, c, &d->gain, dv, M_dv, d->theta - 0.5, 1.0 - d->theta);
}

static bool is_hit(const PawlStepper* s, const MoreauJean* d, int i) {
  return is_contact(s, i) && d->set[i] && d->rate_n[i] < -PAWL_SLOWEST_LOGGED * d->contacts.slow;
}

// Of the contact in row i, with the rates of note_met().
static PawlRubWork friction_of(const PawlStepper* s, const MoreauJean* d, int i) {
  return pawl_rub_work(&d->rub, i - s->sizes.rows + s->contact_count, d->P, d->met, d->rate,
                       d->lead, pawl_eval_values(d->eval)->g_t);
}

static void note_met(const PawlStepper* s, MoreauJean* d, const PawlState* state) {
  const PawlValues* values = pawl_eval_values(d->eval);
  pawl_dynamics_rows(&s->dynamics, values->G, state->v, values->g_t, d->turned);
  for (int i = 0; i < s->sizes.rows; i++) {
    d->met[i] = met_at(d, i);
  }
}

static bool jams(const MoreauJean* d, int k) {
  return d->rub.contacts > 0 && d->rub.jams[k];
}

// What contact k takes where it is hit, friction included. Else friction dissipates P_T u_T in the
// mean, and a contact that moves by itself drags.                              (T24) (B15) (B20)
static PawlLossOf loss_of(const PawlStepper* s, const MoreauJean* d, int k) {
  const PawlValues* values = pawl_eval_values(d->eval);
  int i = d->contacts.row[k];
  PawlRubWork work = d->rub.contacts > 0 ? friction_of(s, d, i) : (PawlRubWork){0};
  if (!is_hit(s, d, i) && !jams(d, k)) {
    return (PawlLossOf){.rubbed = work.rubbed, .dragged = work.dragged};
  }
  double led = 0.5 * (d->lead[i] + values->g_t[i]);
  double lost = d->P[i] * (led - 0.5 * (d->met[i] + d->rate[i])) - work.rubbed - work.dragged;
  double own = d->loss.known ? pawl_rub_own(s, &d->rub, values, i) : 0.0;
  double rate2 = d->rate_n[i] * d->rate_n[i];
  rate2 += jams(d, k) ? pawl_rub_jam_rate2(&d->rub, k, d->rate_n) : 0.0;
  double weight = own > 0.0 ? rate2 / own : 0.0;
  return (PawlLossOf){.hit = true, .lost = lost, .weight = weight};
}

// What contacts do to the energy by each velocity, M dv (v_n + v)/2 - f (q - q_n), and what moves.
//                                                                                     (T26) (T30)
static void add_velocities(const PawlStepper* s, MoreauJean* d, const PawlState* state, double h) {
  const PawlValues* values = pawl_eval_values(d->eval);
  double *dv = d->move, *M_dv = d->a, theta = d->theta;
  memset(M_dv, 0, (size_t)s->sizes.v * sizeof(double));
  for (int j = 0; j < s->sizes.v; j++) {
    dv[j] = d->v[j] - state->v[j];
  }
  pawl_sparse_line_add(&s->dynamics.by_H, values->M, 1.0, dv, M_dv);
  for (int j = 0; j < pawl_moving(s->sizes); j++) {
    int at = s->dynamics.diagonal[j];
    double v_n = state->v[j], v = d->v[j],
           shift = d->gain.shifted ? d->gain.shift[d->gain.body[j]] : 0.0;
    double f = theta * values->f[j] + (1 - theta) * d->f_n[j];
    double way = h * (theta * v + (1 - theta) * v_n + shift * dv[j]);
    double most = fmax(fabs(v_n), fabs(v));
    double slack = fabs(values->f[j] - d->f_n[j]) * fabs(way);
    double moved = (at >= 0 ? values->M[at] * most * most : 0.0) + h * fabs(f) * most;
    pawl_loss_add_at(&d->loss, &d->gain, j, 0.5 * M_dv[j] * (v_n + v) - f * way, slack, moved);
  }
}

static void note_losses(PawlStepper* s, MoreauJean* d, const PawlState* state, double h) {
  s->rubbed = s->dragged = 0.0;
  note_met(s, d, state);
  for (int k = 0; k < d->contacts.count; k++) {
    d->loss.of[k] = loss_of(s, d, k);
  }
  if (d->loss.known) {
    pawl_loss_begin(&d->loss, &d->contacts, &d->rub, &d->gain, d->P);
    add_velocities(s, d, state, h);
    pawl_loss_share(&d->loss, &d->contacts, &d->gain);
  }
  for (int k = 0; k < d->contacts.count; k++) {
    s->rubbed += d->loss.of[k].rubbed;
    s->dragged += d->loss.of[k].dragged;
  }
}

// Contacts that were passed within the step, or have no friction where they push.
static PawlStatus pass(PawlStepper* s, MoreauJean* d, const PawlState* state, double h,
                       PawlError* err) {
  PawlPassage passage = {.t = state->t,
                         .h = h,
                         .rate_before = d->rate_n,
                         .gap = pawl_eval_values(d->eval)->g,
                         .rate = d->rate,
                         .v = d->v,
                         .ahead = 0.5 * h,
                         .turned = d->rebounds ? d->turned : NULL,
                         .impulse = d->P};
  PAWL_TRY(pawl_contacts_passed(s, &d->contacts, &passage, err));
  return pawl_rub_check(s, &d->rub, state, d->P, err);
}

// Where a step may be taken in halves that meet a contact it is not restrained for its sake.
static PawlStatus keep_energy(PawlStepper* s, MoreauJean* d, const PawlState* state, double h,
                              bool* changed, PawlError* err) {
  if (!may_gain(s, d, state)) {
    return PAWL_OK;
  }
  PAWL_TRY(h > PAWL_PASSED_SHORTEST * s->def.step ? pass(s, d, state, h, err) : PAWL_OK);
  *changed = restrain(s, d, state);
  return PAWL_OK;
}

static PawlRubEnds ends_of(const MoreauJean* d, const PawlState* state, double h) {
  return (PawlRubEnds){.before = state,
                       .t = state->t + h,
                       .q = d->q,
                       .v = d->v,
                       .rate_before = d->rate_n,
                       .rate = d->rate,
                       .lambda = state->lambda,
                       .impulse = d->P,
                       .values = pawl_eval_values(d->eval),
                       .near = d->candidate,
                       .slow = PAWL_SLOWEST_LOGGED * d->contacts.slow};
}

// Contacts that were passed, and impacts.
static PawlStatus note_contacts(PawlStepper* s, MoreauJean* d, const PawlState* state, double h,
                                PawlError* err) {
  PAWL_TRY(pass(s, d, state, h, err));
  PawlRubEnds ends = ends_of(d, state, h);
  for (int k = 0; k < d->contacts.count; k++) {
    int i = d->contacts.row[k];
    if (is_hit(s, d, i) || jams(d, k)) {
      PAWL_TRY(pawl_rub_log_hit(s, &ends, i, jams(d, k), d->loss.of[k].lost, err));
    }
  }
  return pawl_rub_log(s, &d->rub, &ends, err);
}

static PawlStatus accept(PawlStepper* s, MoreauJean* d, PawlState* state, double h,
                         PawlError* err) {
  if (s->contact_count > 0) {
    PawlRubEnds ends = ends_of(d, state, h);
    PAWL_TRY(pawl_rub_find_jams(s, &d->rub, &ends, err));
    note_losses(s, d, state, h);
    PAWL_TRY(note_contacts(s, d, state, h, err));
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    state->lambda[i] = d->P[i] / h;
    state->memory[i] = is_contact(s, i) && d->P[i] > 0.0;
  }
  for (int j = 0; j < s->sizes.v; j++) {
    state->a[j] = (d->v[j] - state->v[j]) / h;
  }
  memcpy(state->q, d->q, (size_t)s->sizes.q * sizeof(double));
  memcpy(state->v, d->v, (size_t)s->sizes.v * sizeof(double));
  state->t += h;
  return PAWL_OK;
}

// Linear equations are solved by the first correction. Not so where numbers overflow.
static bool is_solved(const PawlStepper* s, const MoreauJean* d) {
  double check = 0.0;
  for (int j = 0; j < s->sizes.v; j++) {
    check += d->v[j] - d->v[j];
  }
  return s->dynamics.linear && !s->system->rates_react && s->contact_count == 0 && check == 0.0;
}

// Sets that go to and fro to the last iteration, between velocities that are as good: the step is
// taken with these.                                                       (T33)
static void take_near(const PawlStepper* s, MoreauJean* d) {
  double change = 0.0, near = PAWL_RUB_RELAXED * d->contacts.least_v / PAWL_SMALLEST_PART;
  for (int j = 0; j < pawl_moving(s->sizes); j++) {
    change = fmax(change, fabs(d->dv[j]));
  }
  if (change <= near && !settled(s, d)) {
    d->noise = fmax(d->noise, near);
    d->rub.near = !d->rub.relaxed;
    d->rub.relaxed = true;
  }
}

static PawlStatus step(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                       PawlError* err) {
  MoreauJean* d = s->data;
  const double* B;
  assert(h > 0.0 && d->theta > 0.0 && d->theta <= 1.0);
  PAWL_TRY(begin(s, d, phase, state, h, err));
  memcpy(d->v, state->v, (size_t)s->sizes.v * sizeof(double));
  memset(d->dv, 0, (size_t)s->sizes.v * sizeof(double));
  for (int k = 0; k <= s->def.iterations; k++) {
    PAWL_TRY(residual(s, d, phase, state, h, &B, err));
    bool changed = false, rubs = d->rub.contacts > 0;
    if (rubs && k == s->def.iterations) {
      take_near(s, d);
    }
    if (s->contact_count > 0 && !rubs && k > 0) {
      PAWL_TRY(choose_set(s, d, state->t + h, B, k, &changed, err));
    }
    if (s->contact_count > 0 && k > 0 && !changed && settled(s, d)) {
      PAWL_TRY(keep_energy(s, d, state, h, &changed, err));
      PAWL_TRY(changed ? residual(s, d, phase, state, h, &B, err) : PAWL_OK);
    }
    if (k > 0 && !changed && settled(s, d)) {
      PAWL_TRY(s->contact_count > 0 && !rubs ? check_law(s, d, phase, state->t + h, err) : PAWL_OK);
      PAWL_TRY(pawl_dynamics_outgrown(&s->dynamics, pawl_eval_values(d->eval)->M, d->S, state->v,
                                      d->v, state->t + h, err));
      return accept(s, d, state, h, err);
    }
    PAWL_TRY(rubs ? correct_rubbing(s, d, phase, state, h, B, err)
                  : correct(s, d, phase, state, h, B, err));
    if (is_solved(s, d)) {
      move(s, d, state, h);
      return accept(s, d, state, h, err);
    }
  }
  int worst = 0;
  for (int j = 1; j < s->sizes.v; j++) {
    worst = fabs(d->dv[j]) > fabs(d->dv[worst]) ? j : worst;
  }
  return pawl_fail(
      err, PAWL_RETRY,
      "t = %.10g: the velocities did not converge in %d iterations; that of '%s' still "
      "changes by %.3g",
      state->t + h, s->def.iterations,
      s->sizes.q == s->sizes.v ? pawl_system_coordinate_name(s->system, worst) : "v", d->dv[worst]);
}

static double impulse(const PawlStepper* s, int row) {
  return ((const MoreauJean*)s->data)->P[row];
}

static bool closes(const PawlStepper* s, int row) {
  return ((const MoreauJean*)s->data)->set[row];
}

const PawlMethod pawl_method_moreau_jean = {
    .info = {.name = "moreau-jean",
             .about = "theta method on velocities and impulses; contacts",
             .order = 1,
             .holds = "velocity",
             .options = "theta tolerance iterations contact_law painleve",
             .regions = true,
             .contacts = true,
             .apart = true,
             .friction = true,
             .laws = PAWL_LAWS_ALL},
    .memory_rows = 1,
    .create = create,
    .destroy = destroy,
    .start = start,
    .step = step,
    .impulse = impulse,
    .closes = closes,
};
