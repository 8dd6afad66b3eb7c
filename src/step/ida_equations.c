// SPDX-License-Identifier: Apache-2.0
// The equations (U3) to (U6) of docs/theory/sundials.md as SUNDIALS asks for them.
#include "step/ida.h"
#include "switch/tolerances.h"

#ifdef PAWL_WITH_SUNDIALS

#include <math.h>
#include <string.h>
#include <sunmatrix/sunmatrix_dense.h>

PawlIdaParts pawl_ida_parts(const PawlStepper* s, N_Vector y) {
  int n = s->sizes.v, m = s->sizes.rows;
  double* x = N_VGetArrayPointer(y);
  return (PawlIdaParts){x, x + n, x + 2 * n, x + 2 * n + m};
}

static bool is_rate(const PawlIda* d, int row) {
  const PawlSystem* system = d->sun.stepper->system;
  return system->rates && pawl_system_row_is_rate(system, row, d->sun.phase.modes);
}

// (U3) to (U6); rows not in force read lambda = 0 and mu = 0.
static PawlStatus compute_residual(PawlIda* d, double t, PawlIdaParts y, PawlIdaParts rate,
                                   PawlIdaParts r, PawlError* err) {
  PawlStepper* s = d->sun.stepper;
  int n = s->sizes.v, m = s->sizes.rows;
  PawlPoint point = pawl_sundials_point(&d->sun, t, y.q, y.v, rate.v, y.lambda);
  s->dynamics.info.evaluations++;
  PAWL_TRY(pawl_method_run(s, &d->sun.phase, d->residual, &point, err));
  const PawlValues* values = pawl_eval_values(d->residual);
  for (int i = 0; i < n; i++) {
    r.q[i] = rate.q[i] - (i < n - s->sizes.states ? y.v[i] : 0.0);
    r.v[i] = -values->f[i];
  }
  pawl_sparse_add_transposed(&s->G, values->G, -1.0, y.mu, r.q);  // (U3)
  pawl_sparse_add(&s->H, values->M, 1.0, rate.v, r.v);            // (U4)
  const double* B = values->G;
  if (s->dynamics.slip) {
    PAWL_TRY(pawl_slip_directions(s->dynamics.slip, &d->sun.phase, values->G, t, y.q, y.v, y.lambda,
                                  &B, err));
  }
  bool ties = s->dynamics.slip && pawl_slip_ties(s->dynamics.slip, &d->sun.phase);
  for (int j = 0; ties && j < n; j++) {
    r.v[j] -= s->dynamics.slip->push[j];
  }
  pawl_sparse_add_transposed(&s->G, B, -1.0, y.lambda, r.v);  // (U4)
  memcpy(r.lambda, values->g, (size_t)m * sizeof(double));    // (U5)
  memcpy(r.mu, values->g_t, (size_t)m * sizeof(double));
  pawl_sparse_add(&s->G, values->G, 1.0, y.v, r.mu);  // (U6)
  for (int i = 0; i < m; i++) {
    if (!pawl_phase_binds(&d->sun.phase, i)) {
      r.lambda[i] = y.lambda[i];
      r.mu[i] = y.mu[i];
    } else if (is_rate(d, i)) {
      r.lambda[i] = y.mu[i];  // (W10)
    }
  }
  return PAWL_OK;
}

int pawl_ida_residual(double t, N_Vector y, N_Vector rate, N_Vector r, void* data) {
  PawlIda* d = data;
  const PawlStepper* s = d->sun.stepper;
  return pawl_sundials_answer(&d->sun,
                              compute_residual(d, t, pawl_ida_parts(s, y), pawl_ida_parts(s, rate),
                                               pawl_ida_parts(s, r), &d->sun.inner));
}

// Column j of q and of v in the Jacobian of (U3) to (U6), where c stands for dy'/dy.
static void fill_columns(const PawlIda* d, const PawlValues* values, int j, double c, double* by_q,
                         double* by_v) {
  const PawlStepper* s = d->sun.stepper;
  int n = s->sizes.v, m = s->sizes.rows;
  by_q[j] = c;
  by_v[j] = j < n - s->sizes.states ? -1.0 : 0.0;
  for (int k = s->H.start[j]; k < s->H.start[j + 1]; k++) {
    int i = s->H.index[k];
    by_q[n + i] = values->K[k];
    by_v[n + i] = c * values->M[k] + values->C[k];
  }
  for (int k = s->G.start[j]; k < s->G.start[j + 1]; k++) {
    int i = s->G.index[k];
    if (pawl_phase_binds(&d->sun.phase, i)) {
      by_q[2 * n + i] = is_rate(d, i) ? 0.0 : values->G[k];
      by_q[2 * n + m + i] = values->G_rate[k];
      by_v[2 * n + m + i] = values->G[k];
    }
  }
}

// And of friction that turns in space.                                                      (F30)
static void fill_turning(const PawlIda* d, const double* lambda, SUNMatrix J) {
  const PawlStepper* s = d->sun.stepper;
  PawlSlip* slip = s->dynamics.slip;
  bool turns = pawl_slip_turns(slip, &d->sun.phase, lambda);
  for (int k = 0; turns && k < slip->count; k++) {
    const int* columns;
    const double* p;
    double weight = 0.0;
    int n = s->sizes.v, count = pawl_slip_turning(slip, &d->sun.phase, k, &columns, &p, &weight);
    for (int e = 0; e < count * count; e++) {
      int i = e / count, j = e % count;
      SUNDenseMatrix_Column(J, n + columns[j])[n + columns[i]] += weight * p[i] * p[j];
    }
  }
}

// Exact but for d(G^T mu)/dq: mu is zero in the motion and of the size of errors in a step.
static PawlStatus differentiate(PawlIda* d, double t, double c, PawlIdaParts y, PawlIdaParts rate,
                                SUNMatrix J, PawlError* err) {
  PawlStepper* s = d->sun.stepper;
  int n = s->sizes.v, m = s->sizes.rows;
  PawlPoint point = pawl_sundials_point(&d->sun, t, y.q, y.v, rate.v, y.lambda);
  s->dynamics.info.evaluations++;
  s->dynamics.info.factorizations++;
  PAWL_TRY(pawl_eval_run(d->tangents, &point, err));
  const PawlValues* values = pawl_eval_values(d->tangents);
  const double* B = values->G;
  if (s->dynamics.slip) {
    PAWL_TRY(pawl_slip_directions(s->dynamics.slip, &d->sun.phase, values->G, t, y.q, y.v, y.lambda,
                                  &B, err));
  }
  SUNMatZero(J);
  for (int j = 0; j < n; j++) {
    fill_columns(d, values, j, c, SUNDenseMatrix_Column(J, j), SUNDenseMatrix_Column(J, n + j));
    for (int k = s->G.start[j]; k < s->G.start[j + 1]; k++) {
      int i = s->G.index[k];
      SUNDenseMatrix_Column(J, 2 * n + i)[n + j] = -B[k];
      SUNDenseMatrix_Column(J, 2 * n + m + i)[j] = -values->G[k];
    }
  }
  if (s->dynamics.slip) {
    fill_turning(d, y.lambda, J);
  }
  for (int i = 0; i < m; i++) {
    if (!pawl_phase_binds(&d->sun.phase, i)) {
      SUNDenseMatrix_Column(J, 2 * n + i)[2 * n + i] = 1.0;
      SUNDenseMatrix_Column(J, 2 * n + m + i)[2 * n + m + i] = 1.0;
    } else if (is_rate(d, i)) {
      SUNDenseMatrix_Column(J, 2 * n + m + i)[2 * n + i] = 1.0;  // (W10)
    }
  }
  return PAWL_OK;
}

int pawl_ida_jacobian(double t, double c, N_Vector y, N_Vector rate, N_Vector r, SUNMatrix J,
                      void* data, N_Vector unused1, N_Vector unused2, N_Vector unused3) {
  (void)r;
  (void)unused1;
  (void)unused2;
  (void)unused3;
  PawlIda* d = data;
  const PawlStepper* s = d->sun.stepper;
  return pawl_sundials_answer(&d->sun, differentiate(d, t, c, pawl_ida_parts(s, y),
                                                     pawl_ida_parts(s, rate), J, &d->sun.inner));
}

int pawl_ida_roots(double t, N_Vector y, N_Vector rate, double* out, void* data) {
  (void)rate;
  PawlIda* d = data;
  PawlIdaParts parts = pawl_ida_parts(d->sun.stepper, y);
  return pawl_sundials_margins(&d->sun, t, parts.q, parts.v, out);
}

// Norms are root mean squares over q and v alone: corrections of multipliers, of the size of
// rounding over h or h^2, say nothing about convergence. No tolerance is below PAWL_IDA_NOISE of
// the largest coordinate or rate: constraints carry the rounding of that one to all others, and a
// tolerance below makes ever smaller steps of it. An rtol below PAWL_LEAST_RTOL is for SUNDIALS to
// refuse.        (U9)
int pawl_ida_weigh(N_Vector y, N_Vector weights, void* data) {
  const PawlIda* d = data;
  const PawlStepper* s = d->sun.stepper;
  int n = s->sizes.v, all = 2 * n + 2 * s->sizes.rows;
  const double* x = N_VGetArrayPointer(y);
  double *w = N_VGetArrayPointer(weights), scale = sqrt((double)all / (2 * n));
  int moving = n - s->sizes.states;  // the sizes of states say nothing about those of rates
  double part = s->def.rtol < PAWL_LEAST_RTOL ? 0.0 : PAWL_IDA_NOISE;
  const double floors[2] = {part * pawl_dynamics_largest(n, x),
                            part * pawl_dynamics_largest(moving, x + n)};
  for (int i = 0; i < all; i++) {
    double tolerance = s->def.rtol * fabs(x[i]) + s->def.atol;
    double least = i < 2 * n && i % n < moving ? floors[i / n] : 0.0;
    w[i] = i < 2 * n ? scale / fmax(tolerance, least) : PAWL_NO_WEIGHT;
  }
  return 0;
}

#else
typedef int PawlIdaEquationsAbsent;  // a file must not be empty
#endif
