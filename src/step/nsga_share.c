// SPDX-License-Identifier: Apache-2.0
// How smooth motion, U and W of a large system get to know of each other in one iteration
// (docs/theory/nsga.md): forces of U and W, rates of what these move, and after the evaluation the
// accelerations of the rows.
#include <math.h>

#include "base/copy.h"
#include "base/targets.h"
#include "step/ga_loops.h"
#include "step/nsga.h"

// One pass over a matrix for several products costs less than machine code or vectors for each.
static bool is_large(const PawlStepper* s) {
  return s->sizes.v >= PAWL_MANY;
}

// force -= K x + C y, in one pass.
static void add_forces(const PawlStepper* s, const double* K, const double* C, const double* x,
                       const double* y, double* restrict force) {
  const int *start = s->H.start, *index = s->H.index;
  for (int j = 0; j < s->sizes.v; j++) {
    double by_x = x[j], by_y = y[j];
    for (int k = start[j]; k < start[j + 1]; k++) {
      force[index[k]] -= K[k] * by_x + C[k] * by_y;
    }
  }
}

// -(K x + C y) in `force`. False: that is within the tolerance of the balance of forces.
static bool find_force(const PawlStepper* s, const PawlNsga* d, const double* x, const double* y,
                       double* restrict force) {
  const PawlValues *values = pawl_eval_values(d->eval),
                   *tangent = pawl_eval_values(d->ga.tangent_eval);
  const int* diagonal = s->dynamics.diagonal;
  const double *M = values->M, *f = values->f;
  double moved = 0.0, size = 0.0;
  pawl_copy_zeros(s->sizes.v, force);
  if (is_large(s)) {
    add_forces(s, tangent->K, tangent->C, x, y, force);
  } else {
    pawl_sparse_line_add(&s->dynamics.by_H, tangent->K, -1.0, x, force);
    pawl_sparse_line_add(&s->dynamics.by_H, tangent->C, -1.0, y, force);
  }
  for (int j = 0; j < s->sizes.v; j++) {
    double mass = diagonal[j] >= 0 ? M[diagonal[j]] : 0.0, a = d->ga.vdot[j];
    double of_force = mass > 0.0 ? 1.0 / mass : 0.0;
    moved += force[j] * force[j] * of_force;
    size += f[j] * f[j] * of_force + mass * a * a;
  }
  return moved > s->def.tolerance * s->def.tolerance * size;
}

// -(gamma' G b + G_rate b) / beta' over the rows of S, by which b moves their rates. False: by less
// than half of the tolerance of their terms.
static bool find_rates(const PawlStepper* s, const PawlNsga* d, const double* b,
                       double* restrict row, double* restrict terms) {
  const double *G = pawl_eval_values(d->eval)->G,
               *G_rate = pawl_eval_values(d->ga.tangent_eval)->G_rate;
  const int *start = s->G.start, *index = s->G.index;
  double of_v = d->ga.gamma_p, k_b = -1.0 / d->ga.beta_p;
  bool off = false;
  pawl_copy_zeros(s->sizes.rows, row);
  pawl_copy_zeros(s->sizes.rows, terms);
  for (int j = 0; j < s->sizes.v; j++) {
    double scaled = k_b * b[j], size = fabs(d->ga.v[j]);
    for (int k = start[j]; k < start[j + 1]; k++) {
      int i = index[k];
      row[i] += (of_v * G[k] + G_rate[k]) * scaled;
      terms[i] += fabs(G[k]) * size;
    }
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    row[i] = d->S[i] ? row[i] : 0.0;
    off |= fabs(row[i]) > 0.5 * s->def.tolerance * terms[i];
  }
  return off;
}

// v' gets b, and the others what follows from it.                                            (A8)
PAWL_MANY_TARGETS static void add_smooth(int n, const double* restrict b, double of_q, double of_v,
                                         double of_a, double* restrict dq, double* restrict delta,
                                         double* restrict v, double* restrict vdot,
                                         double* restrict path, double* restrict a) {
  for (int j = 0; j < n; j++) {
    dq[j] += of_q * b[j];
    delta[j] += of_q * b[j];
    v[j] += of_v * b[j];
    vdot[j] += b[j];
    path[j] += fabs(b[j]);
    a[j] += of_a * b[j];
  }
}

PAWL_MANY_TARGETS static void add_scaled(int n, double scale, const double* restrict x,
                                         double* restrict y) {
  for (int j = 0; j < n; j++) {
    y[j] += scale * x[j];
  }
}

static double factor_of_a(const PawlGa* g) {
  return 1.0 / (g->beta_p * g->h * g->h * g->beta);
}

static void add_to_W(const PawlStepper* s, PawlNsga* d, const double* restrict w,
                     const double* Lambda) {
  add_scaled(s->sizes.v, 1.0, w, d->W);
  add_scaled(s->sizes.v, 1.0, w, d->dW);
  for (int i = 0; i < s->sizes.rows; i++) {
    d->Lambda[i] += Lambda[i];
  }
}

bool pawl_nsga_share_is_damped(const PawlStepper* s, const PawlNsga* d) {
  const double* C = pawl_eval_values(d->ga.tangent_eval)->C;
  bool any = false;
  for (int k = 0; k < s->nonzeros_H; k++) {
    any |= C[k] != 0.0;
  }
  return any;
}

// S b = B^T xi - (K dU + C dW), J b = 0, and then M w = B^T Lambda, G w = -(rates by b).    (N42)
void pawl_nsga_share(PawlStepper* s, PawlNsga* d) {
  PawlGa* g = &d->ga;
  double *b = d->v, *w = d->du, *row = d->dnu, *xi = d->rate;
  if (!find_force(s, d, d->dU, d->dW, b)) {
    return;
  }
  pawl_copy_zeros(s->sizes.rows, xi);
  (void)pawl_kkt_is_still(s->kkt, d->ga.held, d->S);  // that of (A9), or else of M
  pawl_kkt_solve(s->kkt, b, xi);
  pawl_nsga_note_moved(s, d, 1);
  add_smooth(s->sizes.v, b, 1.0 / g->beta_p, g->gamma_p / g->beta_p, factor_of_a(g), g->dq,
             g->delta, g->v, g->vdot, g->path, g->a);
  for (int i = 0; i < s->sizes.rows; i++) {
    d->ga.lambda[i] += xi[i];
  }
  if (pawl_kkt_is_still(s->kkt, d->held, d->S) && pawl_nsga_share_is_damped(s, d) &&
      find_rates(s, d, b, row, d->acceleration)) {
    pawl_copy_zeros(s->sizes.v, w);
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
bool pawl_nsga_settle(PawlStepper* s, PawlNsga* d) {
  PawlGa* g = &d->ga;
  int n = s->sizes.v, m = s->sizes.rows;
  double *a = d->du, *mu = d->dnu;
  double of_q = 1.0 / g->beta_p, of_v = g->gamma_p / g->beta_p;
  if (d->B != pawl_eval_values(d->eval)->G || !is_off(s, d)) {
    return false;  // B of an impact law is not that of forces
  }
  pawl_copy_zeros(n, a);
  for (int i = 0; i < m; i++) {
    mu[i] = d->S[i] ? -g->c[i] : 0.0;
  }
  pawl_kkt_solve(s->kkt, a, mu);
  add_scaled(n, 1.0, a, g->vdot);
  add_scaled(n, factor_of_a(g), a, g->a);
  add_scaled(m, 1.0, mu, g->lambda);
  add_scaled(m, -of_q, mu, d->nu);
  add_scaled(m, -of_v, mu, d->Lambda);
  pawl_sparse_line_add(&s->dynamics.by_G, pawl_eval_values(d->eval)->G, 1.0, a, g->c);
  return true;
}

// U and W give back what `a` adds to q and v: only where the iteration goes on that matters.
void pawl_nsga_give_back(const PawlStepper* s, PawlNsga* d) {
  PawlGa* g = &d->ga;
  double of_q = 1.0 / g->beta_p, of_v = g->gamma_p / g->beta_p;
  struct {
    double scale;
    double* x;
  } all[] = {{of_q, g->dq},  {of_q, g->delta}, {of_v, g->v},  {-of_q, d->U},
             {-of_q, d->dU}, {-of_v, d->W},    {-of_v, d->dW}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    add_scaled(s->sizes.v, all[k].scale, d->du, all[k].x);
  }
}

void pawl_nsga_rates(const PawlStepper* s, PawlNsga* d, double* restrict row) {
  const PawlValues* values = pawl_eval_values(d->eval);
  const double *G = values->G, *G_rate = pawl_eval_values(d->ga.tangent_eval)->G_rate;
  const int *start = s->G.start, *index = s->G.index;
  const double *v = d->ga.v, *W = d->W, *dq = d->ga.dq, *dU = d->ga.dU;
  if (!is_large(s)) {
    double *rates = d->v, *ways = d->du;
    for (int j = 0; j < s->sizes.v; j++) {
      rates[j] = v[j] + W[j];
      ways[j] = dU ? dq[j] + dU[j] : dq[j];
    }
    pawl_dynamics_rows(&s->dynamics, G, rates, values->g_t, row);
    pawl_sparse_line_add(&s->dynamics.by_G, G_rate, 1.0, ways, row);
    return;
  }
  pawl_copy(s->sizes.rows, values->g_t, row);
  for (int j = 0; j < s->sizes.v; j++) {
    double rate = v[j] + W[j], way = dU ? dq[j] + dU[j] : dq[j];
    for (int k = start[j]; k < start[j + 1]; k++) {
      row[index[k]] += G[k] * rate + G_rate[k] * way;
    }
  }
}
