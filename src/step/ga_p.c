// SPDX-License-Identifier: Apache-2.0
// ga-p: the generalized-alpha method with the constraints at position level (index 3). Equation
// labels refer to docs/theory/ga-p.md. Unknown of Newton's method: the increment of q and
// lambda / beta'; the dynamics are divided by beta', so that the matrix does not depend on h as h
// shrinks.
#include <math.h>
#include <string.h>

#include "step/stepper.h"

static const double SMALLEST_SIZE = 1e-3;  // coordinates count as at least this in convergence
// A correction this small relative to a coordinate makes the next one, which is of its square, too
// small to matter.
static const double LAST_CORRECTION = 1e-3;
static const double OWN_BALANCE = 1e-3;  // the same for the forces on a coordinate that are small
static const double COORDINATE_NOISE =
    1e-10;  // of the largest coordinate: no smaller one is judged

typedef struct GaP {
  double alpha_m, alpha_f, beta, gamma;
  PawlEval* residual_eval;            // M, f, g, G
  PawlEval* tangent_eval;             // K, C
  double *q, *v, *vdot, *a, *lambda;  // the iterate
  double* delta;                      // q = retract(q_n, delta)
  double *r, *magnitude;              // residual of the dynamics, and the size of its terms
  double *dq, *dlambda;               // correction
  double* S;                          // M + (gamma'/beta') C + K / beta'
  double *weight, *row_scale;
} GaP;

// The method's part of a state.
typedef struct Memory {
  double *a, *last_vdot, *last_lambda;
  double* last_h;  // 0 before there is a last step
} Memory;

static Memory memory_of(const PawlStepper* s, PawlState* state) {
  int n = s->sizes.v;
  double* m = state->memory;
  return (Memory){m, m + n, m + 2 * n, m + 2 * n + s->sizes.rows};
}

static void destroy(PawlStepper* s) {
  GaP* d = s->data;
  pawl_eval_destroy(d->residual_eval);
  pawl_eval_destroy(d->tangent_eval);
}

static PawlStatus create(PawlStepper* s, PawlError* err) {
  GaP* d = PAWL_NEW(&s->arena, GaP, 1);
  if (!d) {
    return pawl_fail_memory(err);
  }
  s->data = d;
  double rho = s->def.rho;
  d->alpha_m = (2 * rho - 1) / (rho + 1);                // (A5)
  d->alpha_f = rho / (rho + 1);                          // (A5)
  d->gamma = 0.5 + d->alpha_f - d->alpha_m;              // (A6)
  d->beta = 0.25 * (d->gamma + 0.5) * (d->gamma + 0.5);  // (A6)
  int n = s->sizes.v, m = s->sizes.rows;
  double** vectors[] = {&d->v, &d->vdot,      &d->a,  &d->delta,
                        &d->r, &d->magnitude, &d->dq, &d->weight};
  double** rows[] = {&d->lambda, &d->dlambda, &d->row_scale};
  bool ok = (d->q = PAWL_NEW(&s->arena, double, s->sizes.q)) != NULL &&
            (d->S = PAWL_NEW(&s->arena, double, s->nonzeros_H)) != NULL;
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
    ok = ok && (*vectors[k] = PAWL_NEW(&s->arena, double, n)) != NULL;
  }
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    ok = ok && (*rows[k] = PAWL_NEW(&s->arena, double, m)) != NULL;
  }
  if (!ok) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_eval_create(s->system, PAWL_MASS | PAWL_FORCE | PAWL_POSITION | PAWL_GRADIENT,
                            &d->residual_eval, err));
  return pawl_eval_create(s->system, PAWL_STIFFNESS | PAWL_DAMPING, &d->tangent_eval, err);
}

static void start(PawlStepper* s, PawlState* state) {
  Memory m = memory_of(s, state);
  memcpy(m.a, state->a, (size_t)s->sizes.v * sizeof(double));  // a_0 = v'_0
  *m.last_h = 0.0;
}

// First guess of v' and lambda, extrapolated from the last two steps where they had the same size;
// a, v and delta follow from (A1) to (A3).
static void predict(PawlStepper* s, PawlState* state, double h) {
  GaP* d = s->data;
  Memory m = memory_of(s, state);
  double more = *m.last_h == h ? 1.0 : 0.0;
  for (int i = 0; i < s->sizes.v; i++) {
    d->vdot[i] = state->a[i] + more * (state->a[i] - m.last_vdot[i]);
    d->a[i] = ((1 - d->alpha_f) * d->vdot[i] + d->alpha_f * state->a[i] - d->alpha_m * m.a[i]) /
              (1 - d->alpha_m);
    d->v[i] = state->v[i] + h * ((1 - d->gamma) * m.a[i] + d->gamma * d->a[i]);
    d->delta[i] = h * state->v[i] + h * h * ((0.5 - d->beta) * m.a[i] + d->beta * d->a[i]);
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    d->lambda[i] = state->lambda[i] + more * (state->lambda[i] - m.last_lambda[i]);
  }
}

// r = M v' - f - G^T lambda                                                                 (A7)
// and the size of its terms, |M| |v'| + |f| + |G|^T |lambda|.
static void dynamics_residual(PawlStepper* s, const PawlValues* values) {
  GaP* d = s->data;
  const PawlPattern *H = &s->H, *G = &s->G;
  for (int j = 0; j < s->sizes.v; j++) {
    double sum = -values->f[j], size = fabs(values->f[j]);
    for (int k = G->start[j]; k < G->start[j + 1]; k++) {
      double term = values->G[k] * d->lambda[G->index[k]];
      sum -= term;
      size += fabs(term);
    }
    d->r[j] = sum;
    d->magnitude[j] = size;
  }
  for (int j = 0; j < s->sizes.v; j++) {
    for (int k = H->start[j]; k < H->start[j + 1]; k++) {
      double term = values->M[k] * d->vdot[j];
      d->r[H->index[k]] += term;
      d->magnitude[H->index[k]] += fabs(term);
      d->weight[j] = H->index[k] == j ? values->M[k] : d->weight[j];
    }
  }
}

// The dynamics in the metric of the masses: sqrt(sum r_j^2 / M_jj) against the same of the terms.
static double dynamics_error(const PawlStepper* s) {
  const GaP* d = s->data;
  double error = 0.0, size = 0.0, massless = 0.0;
  for (int j = 0; j < s->sizes.v; j++) {
    if (d->weight[j] > 0.0) {
      error += d->r[j] * d->r[j] / d->weight[j];
      size += d->magnitude[j] * d->magnitude[j] / d->weight[j];
    } else if (d->magnitude[j] > 0.0) {
      massless = fmax(massless, fabs(d->r[j]) / d->magnitude[j]);
    }
  }
  return fmax(massless, size > 0.0 ? sqrt(error / size) : 0.0);
}

// True when every coordinate's own balance of forces holds to `tolerance`, however small it is next
// to others.
static bool each_balanced(const PawlStepper* s, double tolerance) {
  const GaP* d = s->data;
  for (int j = 0; j < s->sizes.v; j++) {
    if (fabs(d->r[j]) > tolerance * d->magnitude[j]) {
      return false;
    }
  }
  return true;
}

// True when the last correction was small for every coordinate.
static bool each_settled(const PawlStepper* s, double h) {
  const GaP* d = s->data;
  bool same = s->sizes.q == s->sizes.v;
  double largest = 0.0;
  for (int j = 0; j < s->sizes.q; j++) {
    largest = fmax(largest, fabs(d->q[j]));
  }
  for (int j = 0; j < s->sizes.v; j++) {
    double size = fmax(same ? fabs(d->q[j]) : 1.0, h * fabs(d->v[j])) + COORDINATE_NOISE * largest;
    if (fabs(d->dq[j]) > LAST_CORRECTION * size) {
      return false;
    }
  }
  return true;
}

// The largest |g_i| over sum_j |G_ij| max(|q_j|, SMALLEST_SIZE); `*row` is where.
static double constraint_error(const PawlStepper* s, const PawlValues* values, int* row) {
  const GaP* d = s->data;
  const PawlPattern* G = &s->G;
  bool same = s->sizes.q == s->sizes.v;
  memset(d->row_scale, 0, (size_t)s->sizes.rows * sizeof(double));
  for (int j = 0; j < G->cols; j++) {
    double size = same ? fmax(fabs(d->q[j]), SMALLEST_SIZE) : 1.0;
    for (int k = G->start[j]; k < G->start[j + 1]; k++) {
      d->row_scale[G->index[k]] += fabs(values->G[k]) * size;
    }
  }
  double largest = 0.0;
  for (int i = 0; i < s->sizes.rows; i++) {
    if (s->active && !s->active[i]) {
      continue;
    }
    double size = d->row_scale[i] > 0.0 ? d->row_scale[i] : SMALLEST_SIZE;
    double error = fabs(values->g[i]) / size;
    if (error > largest) {
      largest = error;
      *row = i;
    }
  }
  return largest;
}

// One Newton correction:                                                                    (A9)
//   [ M + (gamma'/beta') C + K/beta'   -G^T ] [ dq             ]     [ r / beta' ]
//   [ G                                  0  ] [ dlambda / beta' ] = - [ g         ]
static PawlStatus correct(PawlStepper* s, double t, double h, const PawlValues* values,
                          PawlError* err) {
  GaP* d = s->data;
  double beta_p = (1 - d->alpha_m) / (h * h * d->beta * (1 - d->alpha_f));  // (A8)
  double gamma_p = d->gamma / (h * d->beta);                                // (A8)
  PawlPoint point = {t, d->q, d->v, d->vdot, d->lambda};
  PAWL_TRY(pawl_eval_run(d->tangent_eval, &point, err));
  const PawlValues* tangent = pawl_eval_values(d->tangent_eval);
  double c = gamma_p / beta_p, k = 1.0 / beta_p;
  for (int i = 0; i < s->nonzeros_H; i++) {
    d->S[i] = values->M[i] + c * tangent->C[i] + k * tangent->K[i];
  }
  s->info.factorizations++;
  PawlStatus status = pawl_kkt_factor(s->kkt, d->S, values->G, values->G, s->active);
  if (status != PAWL_OK) {
    return status == PAWL_RETRY ? pawl_step_singular(s, d->S, values->G, t, err)
                                : pawl_fail_memory(err);
  }
  for (int i = 0; i < s->sizes.v; i++) {
    d->dq[i] = -d->r[i] * k;
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    d->dlambda[i] = s->active && !s->active[i] ? 0.0 : -values->g[i];
  }
  pawl_kkt_solve(s->kkt, d->dq, d->dlambda);
  double of_a = 1.0 / (h * h * d->beta);
  for (int i = 0; i < s->sizes.v; i++) {
    d->delta[i] += d->dq[i];
    d->v[i] += gamma_p * d->dq[i];
    d->vdot[i] += beta_p * d->dq[i];
    d->a[i] += of_a * d->dq[i];
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    d->lambda[i] += beta_p * d->dlambda[i];
  }
  return PAWL_OK;
}

static PawlStatus not_converged(PawlStepper* s, double t, double error_r, double error_g, int row,
                                PawlError* err) {
  const GaP* d = s->data;
  if (error_g > error_r) {
    int number;
    const char* name = pawl_system_row_name(s->system, row, &number);
    return pawl_fail(err, PAWL_RETRY,
                     "t = %.10g: Newton's method did not converge in %d iterations; constraint "
                     "'%s' (row %d) is off by %.3g of its size",
                     t, s->def.iterations, name, number + 1, error_g);
  }
  int stuck = 0;
  for (int j = 1; j < s->sizes.v; j++) {
    stuck = fabs(d->r[j]) > fabs(d->r[stuck]) ? j : stuck;
  }
  return pawl_fail(err, PAWL_RETRY,
                   "t = %.10g: Newton's method did not converge in %d iterations; the balance of "
                   "forces on '%s' is off by %.3g of their size",
                   t, s->def.iterations,
                   s->sizes.q == s->sizes.v ? pawl_system_coordinate_name(s->system, stuck) : "v",
                   error_r);
}

static PawlStatus iterate(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  GaP* d = s->data;
  const PawlValues* values = pawl_eval_values(d->residual_eval);
  double t = state->t + h, error_r = 0.0, error_g = 0.0;
  int row = 0;
  for (int k = 0; k <= s->def.iterations; k++) {
    pawl_system_retract(s->system, state->q, d->delta, d->q);
    PawlPoint point = {t, d->q, d->v, d->vdot, d->lambda};
    s->info.evaluations++;
    PAWL_TRY(pawl_eval_run(d->residual_eval, &point, err));
    dynamics_residual(s, values);
    error_r = dynamics_error(s);
    error_g = constraint_error(s, values, &row);
    if (error_r <= s->def.tolerance && error_g <= s->def.tolerance && k > 0 &&
        (each_balanced(s, OWN_BALANCE) || each_settled(s, h))) {
      return PAWL_OK;
    }
    if (!(error_r < 1e300 && error_g < 1e300)) {
      break;  // diverged
    }
    if (k < s->def.iterations) {
      s->info.newton_iterations++;
      PAWL_TRY(correct(s, t, h, values, err));
    }
  }
  return not_converged(s, t, error_r, error_g, row, err);
}

static PawlStatus step(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  GaP* d = s->data;
  predict(s, state, h);
  PAWL_TRY(iterate(s, state, h, err));
  Memory m = memory_of(s, state);
  size_t v_bytes = (size_t)s->sizes.v * sizeof(double);
  size_t row_bytes = (size_t)s->sizes.rows * sizeof(double);
  memcpy(m.last_vdot, state->a, v_bytes);
  memcpy(m.last_lambda, state->lambda, row_bytes);
  *m.last_h = h;
  state->t += h;
  memcpy(state->q, d->q, (size_t)s->sizes.q * sizeof(double));
  memcpy(state->v, d->v, v_bytes);
  memcpy(state->a, d->vdot, v_bytes);
  memcpy(m.a, d->a, v_bytes);
  memcpy(state->lambda, d->lambda, row_bytes);
  return PAWL_OK;
}

const PawlMethod pawl_method_ga_p = {
    .info = {"ga-p", "generalized-alpha, constraints at position level (index 3)", 2},
    .memory_vectors = 2,
    .memory_rows = 1,
    .memory_numbers = 1,
    .create = create,
    .destroy = destroy,
    .start = start,
    .step = step,
};
