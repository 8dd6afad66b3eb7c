// SPDX-License-Identifier: Apache-2.0
// The generalized-alpha core: predictor, Newton's method and update for constraints at one of three
// levels. Unknown of Newton's method: the increment of q and lambda / beta'; the dynamics are
// divided by beta', so that the matrix does not depend on h as h shrinks.
#include "step/ga.h"

#include <math.h>
#include <string.h>

#include "base/copy.h"
#include "base/targets.h"
#include "model/model.h"
#include "step/ga_bend.h"
#include "step/ga_loops.h"
#include "step/ga_tangents.h"
#include "switch/tolerances.h"

static PawlStatus set_coefficients(PawlGa* d, const PawlSimulateDef* def, PawlError* err) {
  double rho = def->rho, damping = (1 - rho) / (1 + rho);
  bool hht = strcmp(def->coefficients, "hht") == 0;
  bool newmark = strcmp(def->coefficients, "newmark") == 0;
  if (hht && rho < 0.5) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "rho = %g: with coefficients = hht it must be from 1/2 to 1", rho);
  }
  d->alpha_m = hht || newmark ? 0.0 : (2 * rho - 1) / (rho + 1);   // (A5)
  d->alpha_f = newmark ? 0.0 : hht ? damping : rho / (rho + 1);    // (A5) (A20)
  d->gamma = 0.5 + (newmark ? damping : d->alpha_f - d->alpha_m);  // (A6) (A20)
  d->beta = 0.25 * (d->gamma + 0.5) * (d->gamma + 0.5);            // (A6)
  return PAWL_OK;
}

void pawl_ga_implicit(PawlGa* d) {
  d->alpha_m = d->alpha_f = 0.0;
  d->gamma = 1.0;
  d->beta = 0.5;
}

static unsigned residual_mask(PawlLevel level) {
  static const unsigned of_level[] = {PAWL_POSITION, PAWL_TIME_GRADIENT, PAWL_BIAS};
  return PAWL_MASS | PAWL_FORCE | PAWL_GRADIENT | of_level[level];
}

// Where contacts rub they push by impulses alone, and the smooth motion knows none of them.  (N28)
static unsigned tangent_mask(const PawlStepper* s, PawlLevel level) {
  static const unsigned of_level[] = {0, PAWL_VELOCITY_TANGENT,
                                      PAWL_VELOCITY_TANGENT | PAWL_ACCELERATION_TANGENT};
  bool idle = s->method->closes && s->contact_count > 0 && s->system->model &&
              s->system->model->slip_count > 0;
  return PAWL_STIFFNESS | PAWL_DAMPING | of_level[level] | (idle ? PAWL_IDLE_CONTACTS : 0u);
}

static PawlStatus make_evals(PawlStepper* s, PawlGa* d, unsigned more, PawlError* err) {
  PAWL_TRY(pawl_stepper_eval(s, residual_mask(d->level) | more, &d->residual_eval, err));
  return pawl_stepper_eval(s, tangent_mask(s, d->level), &d->tangent_eval, err);
}

// Friction adds to forces, and equations that stay are not evaluated again.
PawlStatus pawl_ga_join_first(PawlStepper* s, PawlGa* d, unsigned more, PawlError* err) {
  if (d->simple || s->dynamics.linear || s->dynamics.slip) {
    return PAWL_OK;
  }
  const PawlEval* const of[2] = {d->residual_eval, d->tangent_eval};
  unsigned mask = residual_mask(d->level) | tangent_mask(s, d->level) | more;
  return pawl_stepper_eval_part(s, of, mask, &d->first_eval, err);
}

// A bar's stiffness ties neighbours, its lumped mass does not: half of all products would be with
// 0.
static void take_constant_mass(PawlStepper* s, PawlGa* d) {
  const double* M = pawl_eval_values(d->residual_eval)->M;
  const PawlPattern* H = &s->H;
  int n = s->sizes.v, count = 0;
  int* start = PAWL_NEW(&s->arena, int, n + 1);
  int* index = PAWL_NEW(&s->arena, int, H->start[n]);
  d->mass_values = PAWL_NEW(&s->arena, double, H->start[n]);
  for (int j = 0; !s->arena.failed && j < n; j++) {
    for (int k = H->start[j]; k < H->start[j + 1]; k++) {
      index[count] = H->index[k];
      d->mass_values[count] = M[k];
      count += M[k] != 0.0;
    }
    start[j + 1] = count;
  }
  d->mass = (PawlPattern){.rows = n, .cols = n, .start = start, .index = index};
  d->weight = s->dynamics.weights;
  d->lumped = !s->arena.failed && n > PAWL_GA_SMALL && count == n;
  for (int j = 0; d->lumped && j < n; j++) {
    d->lumped = index[j] == j;
  }
}

static void allocate(PawlStepper* s, PawlGa* d) {
  int n = s->sizes.v, m = s->sizes.rows, of_H = s->nonzeros_H, of_G = s->G.start[n];
  bool is_small = n <= PAWL_KERNELS_MOST && m <= PAWL_KERNELS_MOST && pawl_ga_adds_up(s);
  PawlKernelsGa* k = is_small ? PAWL_NEW(&s->arena, PawlKernelsGa, 1) : NULL;
  struct {
    double **array, *small;
    int size;
  } arrays[] = {{&d->q, k ? k->q : NULL, s->sizes.q},
                {&d->v, k ? k->v : NULL, n},
                {&d->vdot, k ? k->vdot : NULL, n},
                {&d->a, k ? k->a : NULL, n},
                {&d->delta, k ? k->delta : NULL, n},
                {&d->path, k ? k->path : NULL, n},
                {&d->v_total, k ? k->v_total : NULL, n},
                {&d->dq, k ? k->dq : NULL, n},
                {&d->lambda, k ? k->lambda : NULL, m},
                {&d->dlambda, k ? k->dlambda : NULL, m},
                {&d->c, k ? k->c : NULL, m},
                {&d->S, k ? k->S : NULL, of_H},
                {&d->J, k ? k->J : NULL, of_G},
                {&d->r, NULL, n},
                {&d->magnitude, NULL, n},
                {&d->weight, NULL, n},
                {&d->size_q, NULL, n},
                {&d->size_v, NULL, n},
                {&d->size_a, NULL, n},
                {&d->rounded, NULL, n},
                {&d->a_first, NULL, n},
                {&d->c_size, NULL, m},
                {&d->rounded_c, NULL, m},
                {&d->G_size, NULL, of_G}};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    *arrays[i].array =
        arrays[i].small ? arrays[i].small : PAWL_NEW(&s->arena, double, arrays[i].size);
  }
  d->small = k;
  d->S_modes = PAWL_NEW(&s->arena, int, s->sizes.modes);
  d->S_alone = m > 0 ? PAWL_NEW(&s->arena, double, of_H) : NULL;
  d->sums = PAWL_NEW(&s->arena, PawlGaSums, pawl_pool_parts(n, PAWL_GA_PART));
  d->row_errors = PAWL_NEW(&s->arena, double, pawl_pool_parts(m, PAWL_GA_PART));
  d->below = n >= PAWL_GA_LARGE
                 ? PAWL_NEW(&s->arena, unsigned char, pawl_pool_parts(of_H, PAWL_GA_PART))
                 : NULL;
  d->off = pawl_ga_bend_memory(s->method, s->sizes) > 0
               ? PAWL_NEW(&s->arena, double, PAWL_GA_GUESSES* pawl_pool_parts(m, PAWL_GA_PART))
               : NULL;
}

PawlStatus pawl_ga_create(PawlStepper* s, PawlLevel level, unsigned more, PawlGa* d,
                          PawlError* err) {
  d->level = level;
  PAWL_TRY(set_coefficients(d, &s->def, err));
  d->shifted = strcmp(s->def.start_acceleration, "shifted") == 0;
  d->simple = strcmp(s->def.newton, "simple") == 0;
  d->enough = pow(s->def.tolerance, 2.0 / 3.0);
  allocate(s, d);
  if (s->arena.failed) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(make_evals(s, d, more, err));
  d->mass = s->H;
  if (s->dynamics.weights) {
    take_constant_mass(s, d);
  }
  if (!s->arena.failed && !d->lumped) {
    pawl_balance_line_create(&d->mass, &s->G, &d->balance);
  }
  return s->arena.failed ? pawl_fail_memory(err) : PAWL_OK;
}

void pawl_ga_destroy(PawlGa* d) {
  pawl_balance_line_destroy(&d->balance);
  pawl_eval_destroy(d->first_eval);
  pawl_eval_destroy(d->residual_eval);
  pawl_eval_destroy(d->tangent_eval);
}

void pawl_ga_start(PawlStepper* s, PawlState* state) {
  PawlGaMemory m = pawl_ga_memory(s, state);
  memcpy(m.a, state->a, (size_t)s->sizes.v * sizeof(double));
  *m.last_h = ((const PawlGa*)s->data)->shifted ? -1.0 : 0.0;
}

void pawl_ga_forget(PawlStepper* s, PawlState* state) {
  double* last_h = pawl_ga_memory(s, state).last_h;
  *last_h = *last_h < 0.0 ? *last_h : 0.0;
}

// a_n = v' at t_n + tau, tau = (alpha_m - alpha_f) h, from q and v there by Taylor's series:  (A21)
//   q = q_n + tau v_n + tau^2/2 v'_n,   v = v_n + tau v'_n
// Out of line: it is rare, and inlined it would take registers from every step.
__attribute__((noinline)) static PawlStatus shift(PawlStepper* s, PawlGa* d, const PawlPhase* phase,
                                                  const PawlState* state, double h,
                                                  PawlError* err) {
  double tau = (d->alpha_m - d->alpha_f) * h;
  const PawlValues* values;
  PawlState at = *state;
  at.t = state->t + tau;
  at.q = d->q;
  at.v = d->v;
  for (int j = 0; j < s->sizes.v; j++) {
    d->delta[j] = tau * (state->v[j] + 0.5 * tau * state->a[j]);
    d->v[j] = state->v[j] + tau * state->a[j];
  }
  pawl_system_retract(s->system, state->q, d->delta, d->q);
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, phase, &at, &values, err));
  return pawl_dynamics_accelerate(&s->dynamics, phase, values, at.t, at.q, at.v, d->a_first,
                                  d->lambda, err);
}

// a_n stands for v' at t_n + (alpha_m - alpha_f) h with the h of the last step: for one of another
// length it moves along. So where slips turn and each step is shorter than the last.         (A25)
PAWL_APART static void stretch(PawlStepper* s, PawlGa* d, const PawlState* state, const double* a,
                               double ratio) {
  for (int j = 0; j < s->sizes.v; j++) {
    d->a_first[j] = state->a[j] + ratio * (a[j] - state->a[j]);
  }
}

PAWL_MANY_TARGETS static void guess_rows(int n, double more, const double* restrict lambda,
                                         const double* restrict last, double* restrict guess) {
  for (int i = 0; i < n; i++) {
    guess[i] = lambda[i] + more * (lambda[i] - last[i]);
  }
}

PAWL_APART static void guess_many(const PawlStepper* s, PawlGa* d, const PawlPhase* phase,
                                  const double* lambda, const double* last, double more) {
  guess_rows(s->sizes.rows, more, lambda, last, d->lambda);
  bool all = !phase->active || !memchr(phase->active, 0, (size_t)s->sizes.rows);
  for (int i = 0; !all && i < s->sizes.rows; i++) {
    d->lambda[i] = phase->active[i] ? d->lambda[i] : 0.0;
  }
}

PawlStatus pawl_ga_predict(PawlStepper* s, PawlGa* d, const PawlPhase* phase, PawlState* state,
                           double h, PawlError* err) {
  PawlGaMemory m = pawl_ga_memory(s, state);
  if (*m.last_h < 0.0) {
    PAWL_TRY(shift(s, d, phase, state, h, err));
    m.a = d->a_first;
  } else if (s->system->turning && *m.last_h > 0.0 && pawl_slip_any(s->dynamics.slip, phase) &&
             h <= PAWL_STRETCHED * *m.last_h) {
    stretch(s, d, state, m.a, h / *m.last_h);
    m.a = d->a_first;
  }
  double more = *m.last_h == h && !phase->crossing ? 1.0 : 0.0;
  d->h = h;
  d->held = 0;
  d->held_error = INFINITY;
  d->corrections = 0;
  d->beta_p = (1 - d->alpha_m) / (h * h * d->beta * (1 - d->alpha_f));  // (A8)
  d->gamma_p = d->gamma / (h * d->beta);                                // (A8)
  pawl_ga_guess(s, d, state, m, more);
  if (d->off) {
    pawl_ga_bend_guess(s, d, phase, state, m, more);
    return PAWL_OK;
  }
  if (s->sizes.rows >= PAWL_SEVERAL) {
    guess_many(s, d, phase, state->lambda, m.last_lambda, more);
    return PAWL_OK;
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    bool active = pawl_phase_binds(phase, i);
    d->lambda[i] = !active ? 0.0 : state->lambda[i] + more * (state->lambda[i] - m.last_lambda[i]);
  }
  return PAWL_OK;
}

// c + 2 B (G v + g_t) + P^2 g, P = B or a gain of its own, in place of c = G v' + gamma, with the
// sizes of its terms.     (A22)
static void add_baumgarte(const PawlStepper* s, PawlGa* d, const PawlValues* values,
                          const double* v) {
  const PawlPattern* G = &s->G;
  double of_v = 2 * d->baumgarte, of_q = d->baumgarte_position * d->baumgarte_position;
  for (int i = 0; i < s->sizes.rows; i++) {
    d->c[i] += of_v * values->g_t[i] + of_q * values->g[i];
    d->c_size[i] += of_v * fabs(values->g_t[i]) + of_q * fabs(values->g[i]);
  }
  for (int j = 0; j < G->cols; j++) {
    for (int k = G->start[j]; k < G->start[j + 1]; k++) {
      double term = of_v * values->G[k] * v[j];
      d->c[G->index[k]] += term;
      d->c_size[G->index[k]] += fabs(term);
    }
  }
}

// The constraint at its level, c = g, G v + g_t or G v' + gamma.
static void constraint_residual(const PawlStepper* s, PawlGa* d, const PawlValues* values,
                                const double* v) {
  switch (d->level) {
    case PAWL_LEVEL_POSITION:
      if (s->sizes.v >= PAWL_MANY) {
        d->c = values->g;  // as long as no other evaluation is run
      } else {
        pawl_copy(s->sizes.rows, values->g, d->c);
      }
      break;
    case PAWL_LEVEL_VELOCITY:
      pawl_dynamics_rows(&s->dynamics, values->G, v, values->g_t, d->c);
      break;
    case PAWL_LEVEL_ACCELERATION:
      pawl_dynamics_rows(&s->dynamics, values->G, d->vdot, values->gamma, d->c);
      if (d->baumgarte > 0.0) {
        add_baumgarte(s, d, values, v);
      }
      break;
  }
}

// The same with the size of the terms of each row: |c at x = 0| + sum_j |G_ij| size_j, with the
// sizes of x = q, v or v'.       (A16)
static void judged_constraint_residual(const PawlStepper* s, PawlGa* d, const PawlValues* values,
                                       const double* v) {
  const PawlPattern* G = &s->G;
  bool position = d->level == PAWL_LEVEL_POSITION, velocity = d->level == PAWL_LEVEL_VELOCITY;
  d->c_sized = !(position && s->sizes.v >= PAWL_MANY);
  if (!d->c_sized) {
    d->c = values->g;
    return;
  }
  const double* start = position ? values->g : velocity ? values->g_t : values->gamma;
  const double* x = velocity ? v : d->vdot;
  const double* size = position ? d->size_q : velocity ? d->size_v : d->size_a;
  for (int i = 0; i < s->sizes.rows; i++) {
    d->c[i] = start[i];
    d->c_size[i] = position ? 0.0 : fabs(start[i]);
  }
  bool done = pawl_sparse_line_add_sizes(&s->dynamics.by_G, values->G, size, d->G_size, d->c_size);
  if (done && !position) {
    pawl_sparse_line_add(&s->dynamics.by_G, values->G, 1.0, x, d->c);
  }
  if (!done && s->dynamics.alike.count > 0) {
    pawl_columns_add_sizes(&s->dynamics.alike, G, values->G, size, d->c_size);
    if (!position) {
      pawl_columns_add(&s->dynamics.alike, G, values->G, x, d->c);
    }
    done = true;
  }
  for (int j = pawl_sparse_next(G, 0); !done && j < G->cols; j = pawl_sparse_next(G, j + 1)) {
    for (int k = G->start[j]; k < G->start[j + 1]; k++) {
      d->c_size[G->index[k]] += fabs(values->G[k]) * size[j];
      d->c[G->index[k]] += position ? 0.0 : values->G[k] * x[j];
    }
  }
  if (position) {
    pawl_ga_add_constants(s, (PawlPart){.end = s->sizes.rows}, d->c_size);
  }
  if (d->baumgarte > 0.0) {
    add_baumgarte(s, d, values, v);
  }
}

// A correction from the error e leaves about e^2 with tangents of its own, and e^(3/2) with those
// of the correction before, which was of the size sqrt(e): from an error of tolerance^(2/3) on
// these serve as well, as long as errors shrink by them. (A24)
PAWL_APART static bool may_hold(const PawlStepper* s, PawlGa* d) {
  double error = d->error_r > d->error_c ? d->error_r : d->error_c;
  bool may = error <= d->enough && error <= PAWL_HELD_RATE * d->held_error;
  if (may && pawl_kkt_current(s->kkt) == d->held) {
    pawl_kkt_name(s->kkt);
  }
  d->held_error = may ? error : INFINITY;
  d->held = may ? d->held : 0;
  return may;
}

// No row is in force, as before a latch closes or where contacts push beside the smooth motion, and
// S is what it was: its factors serve again.
PAWL_APART static bool is_same_alone(PawlStepper* s, PawlGa* d, const PawlPhase* phase,
                                     const double* S) {
  size_t bytes = (size_t)s->nonzeros_H * sizeof(double);
  for (int i = 0; i < s->sizes.rows; i++) {
    if (pawl_phase_binds(phase, i)) {
      return false;
    }
  }
  if (memcmp(d->S_alone, S, bytes) != 0) {
    memcpy(d->S_alone, S, bytes);
    d->S_number = 0;
    return false;
  }
  return true;
}

static inline bool stays_alone(PawlStepper* s, PawlGa* d, const PawlPhase* phase, const double* S) {
  return d->S_alone && is_same_alone(s, d, phase, S);
}

typedef struct Rows {
  PawlGa* d;
  const PawlPhase* phase;
  double factor;
} Rows;

PAWL_MANY_TARGETS static void take_scaled(int n, double scale, const double* restrict x,
                                          double* restrict y) {
  for (int i = 0; i < n; i++) {
    y[i] = scale * x[i];
  }
}

PAWL_MANY_TARGETS static void add_scaled(int n, double scale, const double* restrict x,
                                         double* restrict y) {
  for (int i = 0; i < n; i++) {
    y[i] += scale * x[i];
  }
}

static inline void right_of_rows(void* context, PawlPart part) {
  const Rows* rows = context;
  PawlGa* d = rows->d;
  for (int i = part.first; i < part.end; i++) {
    d->dlambda[i] = pawl_phase_binds(rows->phase, i) ? -rows->factor * d->c[i] : 0.0;
  }
}

static inline void add_to_rows(void* context, PawlPart part) {
  const Rows* rows = context;
  PawlGa* d = rows->d;
  for (int i = part.first; i < part.end; i++) {
    d->lambda[i] += d->beta_p * d->dlambda[i];
  }
}

static void right_of_many(void* context, PawlPart part) {
  const Rows* rows = context;
  const unsigned char* set = rows->phase->active;
  PawlGa* d = rows->d;
  int count = part.end - part.first;
  if (set && memchr(set + part.first, 0, (size_t)count)) {
    right_of_rows(context, part);
    return;
  }
  take_scaled(count, -rows->factor, d->c + part.first, d->dlambda + part.first);
}

static void add_to_many(void* context, PawlPart part) {
  PawlGa* d = ((const Rows*)context)->d;
  add_scaled(part.end - part.first, d->beta_p, d->dlambda + part.first, d->lambda + part.first);
}

// Threads share those of large models.
PAWL_APART static void over_many(const PawlStepper* s, PawlPartWork* work, Rows rows) {
  if (!s->pool) {
    work(&rows, (PawlPart){.end = s->sizes.rows});
    return;
  }
  pawl_pool_loop(s->pool, s->sizes.rows, PAWL_GA_PART, work, &rows);
}

// Of few rows the work is put in the place of the call.
PAWL_INLINE void over_rows(const PawlStepper* s, PawlPartWork* work, PawlPartWork* of_many,
                           Rows rows) {
  if (s->sizes.rows >= PAWL_SEVERAL) {
    over_many(s, of_many, rows);
  } else {
    work(&rows, (PawlPart){.end = s->sizes.rows});
  }
}

// One Newton correction:                                                                    (A9)
//   [ M + (gamma'/beta') C + K/beta'   -B^T ] [ dq              ]     [ r / beta' ]
//   [ J                                  0  ] [ dlambda / beta' ] = - [ f c        ]
PawlStatus pawl_ga_correct(PawlStepper* s, PawlGa* d, const PawlPhase* phase, PawlState* state,
                           PawlError* err) {
  double t = state->t + d->h;
  const PawlValues* values = pawl_eval_values(d->residual_eval);
  s->dynamics.info.newton_iterations++;
  const double *S = values->M, *J = values->G;
  double factor = d->level == PAWL_LEVEL_POSITION   ? 1.0
                  : d->level == PAWL_LEVEL_VELOCITY ? 1.0 / d->gamma_p
                                                    : 1.0 / d->beta_p;
  bool linear = s->dynamics.linear;
  if (!d->simple) {
    d->holding = d->held > 0 && may_hold(s, d);
    PAWL_TRY(d->holding ? PAWL_OK : pawl_ga_tangents(s, d, phase, t, err));
    S = d->S;
    J = d->level == PAWL_LEVEL_POSITION ? J : d->J;
  }
  if (d->corrections++ > 0) {
    pawl_ga_unfold(s, d);
  }
  double k = 1.0 / d->beta_p;
  for (int i = 0; !d->known && i < s->sizes.v; i++) {
    d->dq[i] = -d->r[i] * k;
  }
  bool rests = !d->known && d->level == PAWL_LEVEL_POSITION && !d->U && pawl_ga_rests(s, d);
  over_rows(s, right_of_rows, right_of_many, (Rows){d, phase, factor});
  if (rests) {
    pawl_ga_rest_rows(s, d);
  }
  bool alone = !d->simple && !linear && stays_alone(s, d, phase, S);
  long long* known = d->simple           ? NULL
                     : alone             ? &d->S_number
                     : !linear           ? &d->held
                     : d->B == values->G ? &d->S_number
                                         : NULL;
  PAWL_TRY(pawl_dynamics_solve_known(&s->dynamics, values, S, d->B, J, phase->active, t, d->dq,
                                     d->dlambda, known, err));
  if (alone || (d->held > 0 && d->U &&
                s->sizes.rows > 0)) {  // another matrix comes before it may be asked for again
    pawl_kkt_name(s->kkt);
  }
  d->change_known = false;
  d->dU = d->dW = NULL;
  pawl_ga_add(s, d, state);
  over_rows(s, add_to_rows, add_to_many, (Rows){.d = d});
  return PAWL_OK;
}

// Force directions of what slips; friction that hangs on multipliers is a force, too.
PAWL_APART static PawlStatus add_slip(PawlStepper* s, PawlGa* d, const PawlPhase* phase,
                                      const PawlValues* values, double t, const double* v,
                                      PawlError* err) {
  PawlSlip* slip = s->dynamics.slip;
  PAWL_TRY(pawl_slip_directions(slip, phase, values->G, t, d->q, v, d->lambda, &d->B, err));
  for (int j = 0; pawl_slip_ties(slip, phase) && j < s->sizes.v; j++) {
    values->f[j] += slip->push[j];
  }
  return PAWL_OK;
}

PAWL_INLINE PawlStatus balance(PawlStepper* s, PawlGa* d, const PawlPhase* phase, double t,
                               bool judged, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->residual_eval);
  const double* v = d->U ? d->v_total : d->v;
  d->B = values->G;
  if (s->dynamics.slip) {
    PAWL_TRY(add_slip(s, d, phase, values, t, v, err));
  }
  if (d->between && phase->crossing) {
    PAWL_TRY(pawl_law_directions(phase, values, &d->B, err));
  }
  d->known = !judged;
  if (!judged) {
    pawl_ga_balance_forces(s, d, values);
    if (s->sizes.rows > 0) {
      constraint_residual(s, d, values, v);
    }
    d->error_r = d->error_c = 0.0;
    return PAWL_OK;
  }
  pawl_ga_judge_forces(s, d, values, v, d->level == PAWL_LEVEL_POSITION && !d->U);
  if (s->sizes.rows > 0) {
    judged_constraint_residual(s, d, values, v);
  }
  return PAWL_OK;
}

PawlStatus pawl_ga_balance(PawlStepper* s, PawlGa* d, const PawlPhase* phase, bool judged,
                           PawlError* err) {
  return balance(s, d, phase, NAN, judged, err);  // time stepping: nothing slips by modes
}

PawlStatus pawl_ga_residual(PawlStepper* s, PawlGa* d, const PawlPhase* phase, PawlState* state,
                            bool judged, PawlError* err) {
  const double* v = d->U ? d->v_total : d->v;
  pawl_ga_place(s, d, state);
  PawlPoint point = pawl_phase_point(phase, state->t + d->h, d->q, v, d->vdot, d->lambda);
  s->dynamics.info.evaluations++;
  d->tangents_there = !judged && d->first_eval;
  PAWL_TRY(pawl_eval_run(d->tangents_there ? d->first_eval : d->residual_eval, &point, err));
  return balance(s, d, phase, state->t + d->h, judged, err);
}

// The guess is the end: nothing is left of its right sides, and so of its correction.       (A26)
static bool is_nothing(const PawlStepper* s, const PawlGa* d, const PawlPhase* phase) {
  for (int j = 0; j < s->sizes.v; j++) {
    if (d->dq[j] != 0.0) {
      return false;
    }
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    if (d->c[i] != 0.0 && pawl_phase_binds(phase, i)) {
      return false;
    }
  }
  return true;
}

PawlStatus pawl_ga_iterate(PawlStepper* s, PawlGa* d, const PawlPhase* phase, PawlState* state,
                           PawlError* err) {
  double t = state->t + d->h;
  d->unjudged = false;
  for (int k = 0; k <= s->def.iterations; k++) {
    PAWL_TRY(pawl_ga_residual(s, d, phase, state, k > 0, err));  // the prediction is no end
    if (k == 0 && s->dynamics.linear && !s->dynamics.slip && is_nothing(s, d, phase)) {
      d->unjudged = true;
      s->dynamics.info.newton_iterations++;  // by nothing
      return PAWL_OK;
    }
    if (pawl_ga_may_end(s, d, phase, k) && pawl_ga_ended(s, d, 0.0)) {
      return pawl_ga_outgrown(s, d, state, err);
    }
    if (!(d->error_r < 1e300 && d->error_c < 1e300)) {
      break;  // diverged
    }
    if (k < s->def.iterations) {
      PAWL_TRY(pawl_ga_correct(s, d, phase, state, err));
    }
  }
  return pawl_ga_stuck(s, d, t, err);
}

void pawl_ga_accept(PawlStepper* s, PawlGa* d, PawlState* state, bool flush) {
  PawlGaMemory m = pawl_ga_memory(s, state);
  if (d->off) {
    pawl_ga_bend_take(s, d, state, m);
  } else {
    pawl_copy(s->sizes.rows, state->lambda, m.last_lambda);
    pawl_copy(s->sizes.rows, d->lambda, state->lambda);
  }
  *m.last_h = d->h;
  state->t += d->h;
  d->once = d->corrections == 1;
  pawl_ga_take(s, d, state, m, flush);
}
