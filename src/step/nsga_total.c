// SPDX-License-Identifier: Apache-2.0
// One iteration of ga-pva and nsga-pva on a larger system without contacts, by the total motion:
// places as ga-p has them, rates and then accelerations that their rows ask for; U and W are what
// is left between (docs/theory/nsga.md).
#include <math.h>
#include <string.h>

#include "base/copy.h"
#include "base/targets.h"
#include "step/ga_loops.h"
#include "step/nsga.h"

typedef struct Pass {
  const PawlStepper* s;
  PawlNsga* d;
  const double *row, *x;
  double* to;
  double scale;
} Pass;

static void loop_rows(PawlPartWork* work, Pass pass) {
  pawl_pool_loop(pass.s->pool, pass.s->sizes.rows, PAWL_GA_PART, work, &pass);
}

static void loop(PawlPartWork* work, Pass pass) {
  pawl_pool_loop(pass.s->pool, pass.s->sizes.v, PAWL_GA_PART, work, &pass);
}

PAWL_MANY_TARGETS static void add_scaled(int n, double scale, const double* restrict x,
                                         double* restrict y) {
  for (int j = 0; j < n; j++) {
    y[j] += scale * x[j];
  }
}

PAWL_MANY_TARGETS static void take_scaled(int n, double scale, const double* restrict x,
                                          double* restrict y) {
  for (int j = 0; j < n; j++) {
    y[j] = scale * x[j];
  }
}

// to = scale row, of the rows in force.
static void right_of_rows(void* context, PawlPart part) {
  const Pass* pass = context;
  const unsigned char* set = pass->d->S;
  int count = part.end - part.first;
  if (!memchr(set + part.first, 0, (size_t)count)) {
    take_scaled(count, pass->scale, pass->row + part.first, pass->to + part.first);
    return;
  }
  for (int i = part.first; i < part.end; i++) {
    pass->to[i] = set[i] ? pass->scale * pass->row[i] : 0.0;
  }
}

// to = row + G v by rows, which threads share.
static void add_part_of_rows(void* context, PawlPart part) {
  const Pass* pass = context;
  const PawlStepper* s = pass->s;
  double* to = pass->to + part.first;
  pawl_copy(part.end - part.first, pass->row + part.first, to);
  pawl_columns_add_some(&s->dynamics.alike, &s->G, pawl_eval_values(pass->d->eval)->G, pass->x,
                        part.first, part.end, to);
}

static void find_rows(PawlStepper* s, PawlNsga* d, const double* x, const double* plus,
                      double* to) {
  if (s->dynamics.alike.by_rows) {
    loop_rows(add_part_of_rows, (Pass){.s = s, .d = d, .x = x, .row = plus, .to = to});
  } else {
    pawl_dynamics_rows(&s->dynamics, pawl_eval_values(d->eval)->G, x, plus, to);
  }
}

static PawlStatus run(const PawlNsga* d, PawlEval* eval, const PawlPhase* phase,
                      const PawlState* state, PawlError* err) {
  const PawlGa* g = &d->ga;
  PawlPoint point = pawl_phase_point(phase, state->t + g->h, g->q, g->v_total, g->vdot, g->lambda);
  return pawl_eval_run(eval, &point, err);
}

// What is said, or else all but the tangents.
static PawlStatus evaluate(PawlStepper* s, const PawlNsga* d, PawlEval* eval,
                           const PawlPhase* phase, const PawlState* state, PawlError* err) {
  s->dynamics.info.evaluations++;
  return run(d, eval ? eval : d->eval, phase, state, err);
}

// ---- places -------------------------------------------------------------------------------------
static void add_multipliers(void* context, PawlPart part) {
  const PawlGa* g = &((const Pass*)context)->d->ga;
  add_scaled(part.end - part.first, g->beta_p, g->dlambda + part.first, g->lambda + part.first);
}

// The iterate gets dq, the multipliers what belongs to it.                                  (A8)
static void add_places(PawlStepper* s, PawlNsga* d, PawlState* state) {
  pawl_ga_add(s, &d->ga, state);
  pawl_ga_place(s, &d->ga, state);
  loop_rows(add_multipliers, (Pass){.s = s, .d = d});
}

// S p = G^T m - r/beta', G p = -g: p in dq.                                                 (N49)
static PawlStatus find_places(PawlStepper* s, PawlNsga* d, PawlState* state) {
  PawlGa* g = &d->ga;
  const PawlValues* values = pawl_eval_values(d->eval);
  loop_rows(right_of_rows,
            (Pass){.s = s, .d = d, .row = values->g, .to = g->dlambda, .scale = -1.0});
  s->dynamics.info.factorizations++;
  PAWL_TRY(pawl_kkt_factor_and_solve(s->kkt, g->S, values->G, values->G, d->S, g->dq, g->dlambda));
  add_places(s, d, state);
  return PAWL_OK;
}

enum { LANES = 8 };  // sums side by side, in vectors

// Sums of r^2/M and M q^2; `rotation` is 1 where coordinates are no lengths.
PAWL_MANY_TARGETS static void sum_squares(int n, double rotation, const double* restrict weight,
                                          const double* restrict r, const double* restrict q,
                                          double* restrict of_r, double* restrict of_q) {
  double left[LANES] = {0}, size[LANES] = {0};
  for (int j = 0; j < n; j++) {
    double M = weight[j], mass = M > 0.0 ? M : INFINITY;
    double place = rotation + (1.0 - rotation) * q[j];
    left[j % LANES] += r[j] * r[j] / mass;
    size[j % LANES] += M * place * place;
  }
  for (int k = 0; k < LANES; k++) {
    *of_r += left[k];
    *of_q += size[k];
  }
}

static void sum_part(void* context, PawlPart part) {
  const Pass* pass = context;
  const PawlGa* g = &pass->d->ga;
  PawlGaSums* sums = &g->sums[part.number];
  int j = part.first;
  sums->error = sums->size = 0.0;
  sum_squares(part.end - j, pass->scale, g->weight + j, g->dq + j, pass->row + j, &sums->error,
              &sums->size);
}

// -r/beta' in dq, what is of second order in p: M U = G^T nu is off by as much, and is left so
// within the tolerance of the places.                                                       (N53)
static bool places_hold(const PawlStepper* s, PawlNsga* d) {
  const PawlGa* g = &d->ga;
  double left = 0.0, size = 0.0, most = s->def.tolerance;
  bool same = s->sizes.q == s->sizes.v;
  pawl_ga_balance_forces(s, &d->ga, pawl_eval_values(d->eval));
  loop(sum_part, (Pass){.s = s, .d = d, .row = same ? g->q : g->delta, .scale = same ? 0.0 : 1.0});
  for (int k = 0; k < pawl_pool_parts(s->sizes.v, PAWL_GA_PART); k++) {
    left += g->sums[k].error;
    size += g->sums[k].size;
  }
  return left <= most * most * size;
}

// ---- rates --------------------------------------------------------------------------------------
static void right_of_rates(void* context, PawlPart part) {
  const PawlNsga* d = ((const Pass*)context)->d;
  int j = part.first;
  take_scaled(part.end - j, d->ga.gamma_p, d->ga.dq + j, d->dW + j);
}

// M e = G^T n - (gamma'/beta') r, G e = -(G v + g_t): e in dW, n in Lambda.                 (N54)
static PawlStatus find_rates(PawlStepper* s, PawlNsga* d) {
  const PawlValues* values = pawl_eval_values(d->eval);
  find_rows(s, d, d->ga.v_total, values->g_t, d->rate);
  loop_rows(right_of_rows, (Pass){.s = s, .d = d, .row = d->rate, .to = d->Lambda, .scale = -1.0});
  loop(right_of_rates, (Pass){.s = s, .d = d});
  s->dynamics.info.factorizations++;
  return pawl_kkt_factor_and_solve(s->kkt, values->M, values->G, values->G, d->S, d->dW, d->Lambda);
}

static void add_rates(void* context, PawlPart part) {
  PawlNsga* d = ((const Pass*)context)->d;
  add_scaled(part.end - part.first, 1.0, d->dW + part.first, d->ga.v_total + part.first);
}

// -C e/beta' in `force`. False: that is within the tolerance of the balance of forces.
static bool find_drag(const PawlStepper* s, const PawlNsga* d, double* force) {
  const PawlValues* values = pawl_eval_values(d->eval);
  const int* diagonal = s->dynamics.diagonal;
  double moved = 0.0, size = 0.0, of_force = 1.0 / d->ga.beta_p;
  pawl_copy_zeros(s->sizes.v, force);
  pawl_sparse_line_add(&s->dynamics.by_H, pawl_eval_values(d->ga.tangent_eval)->C, -1.0, d->dW,
                       force);
  for (int j = 0; j < s->sizes.v; j++) {
    double M = diagonal[j] >= 0 ? values->M[diagonal[j]] : 0.0, inverse = M > 0.0 ? 1.0 / M : 0.0;
    double f = values->f[j], a = d->ga.vdot[j];
    moved += force[j] * force[j] * inverse;
    size += f * f * inverse + M * a * a;
    force[j] *= of_force;
  }
  return moved > s->def.tolerance * s->def.tolerance * size;
}

// -(gamma' G p + G_rate p) over the rows in force, by which p in dq moves their rates.
static void find_turned(const PawlStepper* s, PawlNsga* d, double* row) {
  const double *G = pawl_eval_values(d->eval)->G, *p = d->ga.dq,
               *G_rate = pawl_eval_values(d->ga.tangent_eval)->G_rate;
  pawl_copy_zeros(s->sizes.rows, row);
  pawl_sparse_line_add(&s->dynamics.by_G, G, -d->ga.gamma_p, p, row);
  pawl_sparse_line_add(&s->dynamics.by_G, G_rate, -1.0, p, row);
  for (int i = 0; i < s->sizes.rows; i++) {
    row[i] = d->S[i] ? row[i] : 0.0;
  }
}

// Forces that depend on rates: with the factors of (N49) and then those of M                (N51)
//   S p = G^T m - C e/beta', G p = 0;     M w = G^T n, G w = -(gamma' G p + G_rate p)
// are added to p and m, e and n.
static PawlStatus drag_along(PawlStepper* s, PawlNsga* d, PawlState* state, long long of_S) {
  PawlGa* g = &d->ga;
  double *w = d->du, *n = d->dnu;
  if (!find_drag(s, d, g->dq)) {
    return PAWL_OK;
  }
  long long of_M = pawl_kkt_current(s->kkt);
  pawl_kkt_name(s->kkt);
  if (!pawl_kkt_is_still(s->kkt, of_S, d->S)) {
    return PAWL_RETRY;
  }
  pawl_copy_zeros(s->sizes.rows, g->dlambda);
  pawl_kkt_solve(s->kkt, g->dq, g->dlambda);
  add_places(s, d, state);
  if (!pawl_kkt_is_still(s->kkt, of_M, d->S)) {
    return PAWL_RETRY;
  }
  pawl_copy_zeros(s->sizes.v, w);
  find_turned(s, d, n);
  pawl_kkt_solve(s->kkt, w, n);
  add_scaled(s->sizes.v, 1.0, w, d->dW);
  add_scaled(s->sizes.rows, 1.0, n, d->Lambda);
  return PAWL_OK;
}

// ---- accelerations ------------------------------------------------------------------------------
PAWL_MANY_TARGETS static void add_accelerations(int n, double scale, double of_a,
                                                const double* restrict x, double* restrict vdot,
                                                double* restrict path, double* restrict a) {
  for (int j = 0; j < n; j++) {
    double more = scale * x[j];
    vdot[j] += more;
    path[j] += fabs(more);
    a[j] += of_a * x[j];
  }
}

static void add_part(void* context, PawlPart part) {
  const PawlGa* g = &((const Pass*)context)->d->ga;
  int j = part.first;
  add_accelerations(part.end - j, g->beta_p, 1.0 / (g->h * g->h * g->beta), g->dq + j, g->vdot + j,
                    g->path + j, g->a + j);
}

PAWL_MANY_TARGETS static void take_multipliers(int n, double beta, double gamma,
                                               const double* restrict mu, double* restrict lambda,
                                               double* restrict nu, double* restrict Lambda) {
  for (int i = 0; i < n; i++) {
    lambda[i] += beta * mu[i];
    nu[i] = -mu[i];
    Lambda[i] -= gamma * mu[i];
  }
}

static void share_multipliers(void* context, PawlPart part) {
  const PawlNsga* d = ((const Pass*)context)->d;
  const PawlGa* g = &d->ga;
  int i = part.first;
  take_multipliers(part.end - i, g->beta_p, g->gamma_p, g->dlambda + i, g->lambda + i, d->nu + i,
                   d->Lambda + i);
}

// M x = G^T mu - r, G x = -(G v' + gamma), by x/beta' in dq: v' gets x, and U gives it back. (N52)
static void find_accelerations(PawlStepper* s, PawlNsga* d) {
  PawlGa* g = &d->ga;
  find_rows(s, d, g->vdot, pawl_eval_values(d->eval)->gamma, g->c);
  loop_rows(right_of_rows,
            (Pass){.s = s, .d = d, .row = g->c, .to = g->dlambda, .scale = -1.0 / g->beta_p});
  pawl_kkt_solve(s->kkt, g->dq, g->dlambda);
  loop(add_part, (Pass){.s = s, .d = d});
  loop_rows(share_multipliers, (Pass){.s = s, .d = d});
  g->change_known = false;
  g->dU = NULL;
  g->dW = d->dW;
}

// The largest part by which a row of positions is off beyond the tolerance of its terms, or 0.
static void look_at_places(void* context, PawlPart part) {
  const Pass* pass = context;
  const PawlStepper* s = pass->s;
  const PawlNsga* d = pass->d;
  const PawlValues* values = pawl_eval_values(d->eval);
  double terms[PAWL_GA_PART], off = 0.0;
  pawl_columns_some_sizes(&s->dynamics.alike, &s->G, values->G, d->ga.size_q, part.first, part.end,
                          terms);
  for (int i = part.first; i < part.end; i++) {
    double more = fabs(values->g[i]) - s->def.tolerance * terms[i - part.first];
    off = d->S[i] && more > off ? more : off;
  }
  d->ga.row_errors[part.number] = off;
}

bool pawl_nsga_total_holds(const PawlStepper* s, PawlNsga* d) {
  bool right = true;
  if (!d->rated || !s->dynamics.alike.by_rows) {
    return false;
  }
  loop_rows(look_at_places, (Pass){.s = s, .d = d});
  for (int k = 0; right && k < pawl_pool_parts(s->sizes.rows, PAWL_GA_PART); k++) {
    right = d->ga.row_errors[k] == 0.0;
  }
  return right;
}

// ---- all ----------------------------------------------------------------------------------------
// Whether every velocity has a mass, which (N51) and (N53) measure forces by: states have none.
static bool weighs(const PawlStepper* s, const double* M) {
  const int* diagonal = s->dynamics.diagonal;
  bool all = true;
  for (int j = 0; all && j < s->sizes.v; j++) {
    all = diagonal[j] >= 0 && M[diagonal[j]] > 0.0;
  }
  return all;
}

PawlStatus pawl_nsga_total_create(PawlStepper* s, PawlNsga* d, PawlError* err) {
  static const unsigned places =
      PAWL_MASS | PAWL_FORCE | PAWL_GRADIENT | PAWL_POSITION | PAWL_TIME_GRADIENT;
  PawlNsgaLevels* l = &d->levels;
  l->constant = pawl_system_constant_mass(s->system);
  l->serve = d->settles && s->contact_count == 0 && s->sizes.states == 0 &&
             (!l->constant || weighs(s, pawl_eval_values(d->eval)->M));
  l->undamped = pawl_system_undamped(s->system);
  if (!l->serve || !l->undamped) {
    return PAWL_OK;
  }
  const PawlEval* const of[2] = {d->eval, d->ga.tangent_eval};
  PAWL_TRY(pawl_stepper_eval_part(s, of, places | PAWL_STIFFNESS | PAWL_DAMPING, &l->first, err));
  PAWL_TRY(pawl_stepper_eval_part(s, of, places, &l->places, err));
  return pawl_stepper_eval_part(s, of, PAWL_BIAS, &l->bias, err);
}

void pawl_nsga_total_destroy(PawlNsga* d) {
  pawl_eval_destroy(d->levels.first);
  pawl_eval_destroy(d->levels.places);
  pawl_eval_destroy(d->levels.bias);
}

// Force directions of a step in which constraints switch are those of an impact law.
bool pawl_nsga_total_serves(const PawlStepper* s, const PawlNsga* d, const PawlPhase* phase) {
  size_t m = (size_t)s->sizes.rows;
  return d->levels.serve && !phase->crossing && memcmp(d->S, d->A, m) == 0 &&
         memcmp(d->S, d->B_set, m) == 0;
}

// The right side of (N49), and its matrix.
static PawlStatus begin(PawlStepper* s, PawlNsga* d, const PawlPhase* smooth, PawlState* state,
                        PawlError* err) {
  PawlGa* g = &d->ga;
  pawl_ga_place(s, g, state);
  PAWL_TRY(evaluate(s, d, d->levels.first, smooth, state, err));
  if (!d->levels.first) {
    PAWL_TRY(run(d, g->tangent_eval, smooth, state, err));
  }
  d->B = g->B = pawl_eval_values(d->eval)->G;
  pawl_ga_balance_forces(s, g, pawl_eval_values(d->eval));
  pawl_ga_sum_tangents(s, g);
  return PAWL_OK;
}

static PawlStatus solve_levels(PawlStepper* s, PawlNsga* d, const PawlPhase* smooth,
                               PawlState* state, PawlError* err) {
  PAWL_TRY(begin(s, d, smooth, state, err));
  if (!d->levels.constant && !weighs(s, pawl_eval_values(d->eval)->M)) {
    return PAWL_RETRY;
  }
  bool damped = !d->levels.undamped && pawl_nsga_share_is_damped(s, d);
  PAWL_TRY(find_places(s, d, state));
  long long of_S = pawl_kkt_current(s->kkt);
  if (damped) {
    pawl_kkt_name(s->kkt);
  }
  PAWL_TRY(evaluate(s, d, d->levels.places, smooth, state, err));
  d->torn = !places_hold(s, d);
  PAWL_TRY(find_rates(s, d));
  if (damped) {
    PAWL_TRY(drag_along(s, d, state, of_S));
  }
  loop(add_rates, (Pass){.s = s, .d = d});
  PAWL_TRY(evaluate(s, d, d->levels.bias, smooth, state, err));
  if (damped) {
    pawl_ga_balance_forces(s, &d->ga, pawl_eval_values(d->eval));
  }
  find_accelerations(s, d);
  d->rated = !damped;
  return PAWL_OK;
}

PawlStatus pawl_nsga_total(PawlStepper* s, PawlNsga* d, const PawlPhase* smooth, PawlState* state,
                           PawlError* err) {
  s->dynamics.info.newton_iterations++;
  PawlStatus status = solve_levels(s, d, smooth, state, err);
  d->total = status == PAWL_OK;
  return status == PAWL_ERROR_MEMORY ? pawl_fail_memory(err) : status;
}

void pawl_nsga_total_leave(const PawlStepper* s, PawlNsga* d) {
  PawlGa* g = &d->ga;
  int n = s->sizes.v;
  d->total = d->torn = d->rated = g->still = d->W_still = false;
  pawl_nsga_note_moved(s, d, 1);
  add_scaled(n, 1.0, g->dq, g->delta);
  add_scaled(n, g->gamma_p, g->dq, g->v);
  add_scaled(n, -g->gamma_p, g->dq, d->dW);
  for (int j = 0; j < n; j++) {
    d->U[j] = d->dU[j] = -g->dq[j];
    d->W[j] = d->dW[j];
  }
  g->dU = d->dU;
}
