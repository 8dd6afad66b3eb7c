// SPDX-License-Identifier: Apache-2.0
// How smooth motion, U and W of a large system get to know of each other in one iteration
// (docs/theory/nsga.md): forces of U and W, rates of what these move, and after the evaluation the
// accelerations of the rows.
#include <math.h>

#include "base/copy.h"
#include "step/ga_loops.h"
#include "step/nsga.h"

// -(K x + C y) in `force`. False: that is within the tolerance of the balance of forces.
static bool find_force(const PawlStepper* s, const PawlNsga* d, const double* x, const double* y,
                       double* restrict force) {
  const PawlValues *values = pawl_eval_values(d->eval),
                   *tangent = pawl_eval_values(d->ga.tangent_eval);
  const int *start = s->H.start, *index = s->H.index, *diagonal = s->dynamics.diagonal;
  const double *K = tangent->K, *C = tangent->C, *M = values->M, *f = values->f;
  double moved = 0.0, size = 0.0;
  pawl_copy_zeros(s->sizes.v, force);
  for (int j = 0; j < s->sizes.v; j++) {
    double by_x = x[j], by_y = y[j];
    for (int k = start[j]; k < start[j + 1]; k++) {
      force[index[k]] -= K[k] * by_x + C[k] * by_y;
    }
  }
  for (int j = 0; j < s->sizes.v; j++) {
    double mass = diagonal[j] >= 0 ? M[diagonal[j]] : 0.0, a = d->ga.vdot[j];
    if (mass > 0.0) {
      moved += force[j] * force[j] / mass;
      size += f[j] * f[j] / mass + mass * a * a;
    }
  }
  return moved > s->def.tolerance * s->def.tolerance * size;
}

// -(gamma' G b + G_rate b) / beta' over the rows of S, by which b moves their rates. False:
// nothing.
static bool find_rates(const PawlStepper* s, const PawlNsga* d, const double* b,
                       double* restrict row) {
  const double *G = pawl_eval_values(d->eval)->G,
               *G_rate = pawl_eval_values(d->ga.tangent_eval)->G_rate;
  const int *start = s->G.start, *index = s->G.index;
  double of_v = d->ga.gamma_p, k_b = -1.0 / d->ga.beta_p;
  bool any = false;
  pawl_copy_zeros(s->sizes.rows, row);
  for (int j = 0; j < s->sizes.v; j++) {
    double scaled = k_b * b[j];
    for (int k = start[j]; k < start[j + 1]; k++) {
      row[index[k]] += (of_v * G[k] + G_rate[k]) * scaled;
    }
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    row[i] = d->S[i] ? row[i] : 0.0;
    any |= row[i] != 0.0;
  }
  return any;
}

static void add_to_W(const PawlStepper* s, PawlNsga* d, const double* restrict w,
                     const double* Lambda) {
  double *W = d->W, *dW = d->dW;
  for (int j = 0; j < s->sizes.v; j++) {
    W[j] += w[j];
    dW[j] += w[j];
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    d->Lambda[i] += Lambda[i];
  }
}

// S b = B^T xi - (K dU + C dW), J b = 0, and then M w = B^T Lambda, G w = -(rates by b).    (N42)
void pawl_nsga_share(PawlStepper* s, PawlNsga* d) {
  double *b = d->v, *w = d->du, *row = d->dnu, *xi = d->rate;
  if (!find_force(s, d, d->dU, d->dW, b)) {
    return;
  }
  pawl_copy_zeros(s->sizes.rows, xi);
  (void)pawl_kkt_is_still(s->kkt, d->ga.held, d->S);  // that of (A9), or else of M
  pawl_kkt_solve(s->kkt, b, xi);
  pawl_nsga_note_moved(s, d, 1);
  pawl_copy_zeros(s->sizes.v, w);
  pawl_ga_share(s, &d->ga, w, (PawlGaShared){d->U, d->W, d->dU, d->dW, b});
  for (int i = 0; i < s->sizes.rows; i++) {
    d->ga.lambda[i] += xi[i];
  }
  if (pawl_kkt_is_still(s->kkt, d->held, d->S) && find_rates(s, d, b, row)) {
    pawl_kkt_solve(s->kkt, w, row);
    add_to_W(s, d, w, row);
  }
}

// Whether a row of S is off by more than the tolerance of its terms.                       (A16)
static bool is_off(const PawlStepper* s, const PawlNsga* d) {
  bool off = false;
  for (int i = 0; i < s->sizes.rows; i++) {
    off |= d->S[i] && fabs(d->ga.c[i]) > s->def.tolerance * d->ga.c_size[i];
  }
  return off;
}

// M a = B^T mu, G a = -c; positions and rates stay, by U and W, and so does all that was evaluated
// there.                                                                                   (N43)
void pawl_nsga_settle(PawlStepper* s, PawlNsga* d) {
  PawlGa* g = &d->ga;
  double *a = d->du, *mu = d->dnu, of_q = 1.0 / g->beta_p, of_v = g->gamma_p / g->beta_p;
  if (d->B != pawl_eval_values(d->eval)->G || !is_off(s, d)) {  // of an impact law, not of forces
    return;
  }
  pawl_copy_zeros(s->sizes.v, a);
  for (int i = 0; i < s->sizes.rows; i++) {
    mu[i] = d->S[i] ? -g->c[i] : 0.0;
  }
  pawl_kkt_solve(s->kkt, a, mu);
  pawl_ga_share(s, g, a, (PawlGaShared){d->U, d->W, d->dU, d->dW, NULL});
  for (int i = 0; i < s->sizes.rows; i++) {
    g->lambda[i] += mu[i];
    d->nu[i] -= of_q * mu[i];
    d->Lambda[i] -= of_v * mu[i];
  }
  pawl_sparse_line_add(&s->dynamics.by_G, pawl_eval_values(d->eval)->G, 1.0, a, g->c);
}
