// SPDX-License-Identifier: Apache-2.0
// The equations of a piece of a step and of an impact, and Newton's method for both:
//
//   L_v(m, w) - tau/2 L_q(m, w) = p + phi'^T Lambda + G(q)^T lambda,   m = q + tau/2 w    (H4) (H9)
//   phi_h(q + tau w) = 0                                                                     (H17)
//   E(m, w) = E of the piece before,   E = L_v w - L                                         (H10)
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "step/php.h"
#include "switch/tolerances.h"

// ---- one iteration ------------------------------------------------------------------------------
// Where the iteration is: the unknowns beside w, and which equations there are.
typedef struct Iteration {
  PawlPhp* d;
  PawlLagrangian* L;
  double tau;
  bool impact;  // Lambda is unknown, and E is given
  double Lambda, E;
  int size;        // n + rows (+ 1)
  double* lambda;  // in_count
  bool is_short;
} Iteration;

static const PawlLagrangianValues* evaluate(Iteration* t) {
  PawlPhp* d = t->d;
  for (int i = 0; i < d->n; i++) {
    d->m[i] = d->q[i] + 0.5 * t->tau * d->w[i];
    d->q1[i] = d->q[i] + t->tau * d->w[i];  // (H5)
  }
  return pawl_lagrangian_run(t->L, d->m, d->w);
}

// The rows at the end, or in the middle of a short piece.
static bool evaluate_rows(Iteration* t) {
  PawlPhp* d = t->d;
  return d->in_count == 0 || pawl_mirror_rows(d->mirror, t->is_short ? d->m : d->q1, d->g, d->G1);
}

static double energy(const PawlPhp* d, const PawlLagrangianValues* l) {
  double E = -l->L[0];
  for (int i = 0; i < d->n; i++) {
    E += l->L_v[i] * d->w[i];
  }
  return E;
}

// The matrix (H6), and (H11) at an impact; b is minus the residual.
static void fill_momentum(Iteration* t, const PawlLagrangianValues* l) {
  PawlPhp* d = t->d;
  int n = d->n, all = t->size;
  double half = 0.5 * t->tau;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      int ij = i + j * n, ji = j + i * n;
      d->J[i + j * all] =
          l->L_vv[ij] + half * (l->L_qv[ji] - l->L_qv[ij]) - half * half * l->L_qq[ij];  // (H6)
    }
  }
  for (int i = 0; i < n; i++) {
    d->b[i] = d->p[i] - l->L_v[i] + half * l->L_q[i];  // (H4)
    d->b[i] += t->impact ? d->gradient[i] * t->Lambda : 0.0;
    for (int r = 0; r < d->in_count; r++) {
      d->b[i] += d->G0[d->in[r] + i * d->rows] * t->lambda[r];
    }
  }
}

static void fill_rows(Iteration* t) {
  PawlPhp* d = t->d;
  int n = d->n, all = t->size;
  for (int r = 0; r < d->in_count; r++) {
    double rate = 0.0;
    for (int j = 0; j < n; j++) {
      d->J[j + (n + r) * all] = -d->G0[d->in[r] + j * d->rows];
      d->J[n + r + j * all] = d->G1[d->in[r] + j * d->rows];
      rate += d->G1[d->in[r] + j * d->rows] * d->w[j];
    }
    d->b[n + r] = t->is_short ? -rate : -d->g[d->in[r]] / t->tau;  // (H17)
  }
}

static void fill_energy(Iteration* t, const PawlLagrangianValues* l) {
  PawlPhp* d = t->d;
  int n = d->n, all = t->size, last = all - 1;
  for (int j = 0; j < n; j++) {
    double inertia = 0.0, turn = 0.0;
    for (int i = 0; i < n; i++) {
      inertia += d->w[i] * l->L_vv[i + j * n];
      turn += d->w[i] * l->L_qv[j + i * n];
    }
    d->J[last + j * all] = inertia + 0.5 * t->tau * (turn - l->L_q[j]);  // (H11)
    d->J[j + last * all] = -d->gradient[j];
  }
  d->b[last] = t->E - energy(d, l);  // (H10)
}

// What a correction of w is measured by: its size, and, where rows are divided by tau, what changes
// q by more than rounding.
static double size_of_rates(const Iteration* t, double tolerance) {
  const PawlPhp* d = t->d;
  double size = PAWL_SMALLEST_SIZE, place = 0.0;
  for (int i = 0; i < d->n; i++) {
    size = fmax(size, fabs(d->w[i]));
    place = fmax(place, fabs(d->q[i]));
  }
  bool divided = d->in_count > 0 && !t->is_short;
  return divided ? fmax(size, PAWL_ROUNDING * place / (t->tau * tolerance)) : size;
}

// Solves and corrects; returns the largest correction of w, NaN when singular.
static double correct(Iteration* t) {
  PawlPhp* d = t->d;
  double change = 0.0;
  if (pawl_lu_factor(t->size, d->J, d->pivot, PAWL_NO_PIVOT) != 0) {
    return NAN;
  }
  pawl_lu_solve(t->size, d->J, d->pivot, d->b, d->x);
  for (int i = 0; i < d->n; i++) {
    d->w[i] += d->x[i];
    change = fmax(change, fabs(d->x[i]));
  }
  for (int r = 0; r < d->in_count; r++) {
    t->lambda[r] += d->x[d->n + r];
  }
  t->Lambda += t->impact ? d->x[t->size - 1] : 0.0;
  return isfinite(change) ? change : NAN;
}

// Newton's method from d->w. Afterwards values of L at the solution.
static PawlPhpFault iterate(Iteration* t, const PawlSimulateDef* def, long long* iterations) {
  PawlPhp* d = t->d;
  for (int k = 0; k < def->iterations; k++, ++*iterations) {
    const PawlLagrangianValues* l = evaluate(t);
    if (!l || !evaluate_rows(t)) {
      return PAWL_PHP_DOMAIN;
    }
    memset(d->J, 0, (size_t)(t->size * t->size) * sizeof(double));
    fill_momentum(t, l);
    fill_rows(t);
    if (t->impact) {
      fill_energy(t, l);
    }
    double change = correct(t);
    if (isnan(change)) {
      return PAWL_PHP_SINGULAR;
    }
    if (change <= def->tolerance * size_of_rates(t, def->tolerance)) {
      return PAWL_PHP_GOOD;
    }
  }
  return PAWL_PHP_ENDLESS;
}

static Iteration begin(PawlPhp* d, PawlLagrangian* L, double tau, bool impact) {
  memset(d->lambda, 0, (size_t)d->rows * sizeof(double));
  return (Iteration){.d = d,
                     .L = L,
                     .tau = tau,
                     .impact = impact,
                     .size = d->n + d->in_count + (impact ? 1 : 0),
                     .lambda = d->lambda,
                     .is_short = tau < PAWL_SHORT_PIECE * d->step};
}

// ---- a piece ------------------------------------------------------------------------------------
PawlPhpFault pawl_php_piece(PawlPhp* d, PawlLagrangian* L, double tau, const PawlSimulateDef* def,
                            long long* iterations) {
  Iteration t = begin(d, L, tau, false);
  memcpy(d->w, d->v, (size_t)d->n * sizeof(double));
  if (d->in_count > 0 && !pawl_mirror_rows(d->mirror, d->q, d->g, d->G0)) {
    return PAWL_PHP_DOMAIN;
  }
  PawlPhpFault fault = iterate(&t, def, iterations);
  const PawlLagrangianValues* l = fault ? NULL : evaluate(&t);
  if (!l) {
    return fault ? fault : PAWL_PHP_DOMAIN;
  }
  for (int i = 0; i < d->n; i++) {
    d->p1[i] = l->L_v[i] + 0.5 * tau * l->L_q[i];  // (H5)
  }
  d->E = energy(d, l);
  return PAWL_PHP_GOOD;
}

// [M -G^T; G 0] [v; mu] = [p; 0], and p + G^T mu.                                          (H18)
PawlPhpFault pawl_php_settle(PawlPhp* d, const double* q, double* p, double* v) {
  int n = d->n, all = n + d->in_count;
  const PawlLagrangianValues* l = pawl_lagrangian_run(d->L, q, v);
  if (!l || (d->in_count > 0 && !pawl_mirror_rows(d->mirror, q, d->g, d->G1))) {
    return PAWL_PHP_DOMAIN;
  }
  memset(d->J, 0, (size_t)(all * all) * sizeof(double));
  memset(d->b, 0, (size_t)all * sizeof(double));
  memcpy(d->b, p, (size_t)n * sizeof(double));
  for (int j = 0; j < n; j++) {
    memcpy(d->J + j * all, l->L_vv + j * n, (size_t)n * sizeof(double));
    for (int r = 0; r < d->in_count; r++) {
      double G = d->G1[d->in[r] + j * d->rows];
      d->J[j + (n + r) * all] = -G;
      d->J[n + r + j * all] = G;
    }
  }
  if (pawl_lu_factor(all, d->J, d->pivot, PAWL_NO_PIVOT) != 0) {
    return PAWL_PHP_SINGULAR;
  }
  pawl_lu_solve(all, d->J, d->pivot, d->b, d->x);
  memcpy(v, d->x, (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) {
    for (int r = 0; r < d->in_count; r++) {
      p[i] += d->G1[d->in[r] + i * d->rows] * d->x[n + r];
    }
  }
  return PAWL_PHP_GOOD;
}

// ---- an impact ----------------------------------------------------------------------------------
// w = A v and Lambda = -2 phi' v / D, of (H13) and (H19).
static bool reflect(PawlPhp* d, double* Lambda) {
  int n = d->n;
  double phi, rate = 0.0, gain = 0.0;
  if (!pawl_mirror_gap(d->mirror, d->q, &phi, d->gradient) ||
      !pawl_mirror_reflection(d->mirror, d->q, d->active, d->A)) {
    return false;
  }
  const PawlLagrangianValues* l = pawl_lagrangian_run(d->L, d->q, d->v);
  for (int i = 0; l && i < n; i++) {
    d->w[i] = 0.0;
    for (int j = 0; j < n; j++) {
      d->w[i] += d->A[i + j * n] * d->v[j];
    }
    rate += d->gradient[i] * d->v[i];
  }
  // M (A v - v) = Lambda H phi'^T, so v'M (A v - v) = Lambda phi'v.
  for (int j = 0; l && j < n; j++) {
    for (int i = 0; i < n; i++) {
      gain += d->v[i] * l->L_vv[i + j * n] * (d->w[j] - d->v[j]);
    }
  }
  *Lambda = gain / rate;
  return l && isfinite(*Lambda);
}

PawlPhpFault pawl_php_impact(PawlPhp* d, double tau, const PawlSimulateDef* def, double* Lambda,
                             long long* iterations) {
  if (!reflect(d, Lambda)) {
    return PAWL_PHP_GRAZING;
  }
  if (d->crossing == PAWL_PHP_MOMENTUM) {
    return PAWL_PHP_GOOD;
  }
  Iteration t = begin(d, d->L, tau, true);
  t.Lambda = *Lambda;
  t.E = d->E;
  if (d->in_count > 0 && !pawl_mirror_rows(d->mirror, d->q, d->g, d->G0)) {
    return PAWL_PHP_DOMAIN;
  }
  PawlPhpFault fault = iterate(&t, def, iterations);
  *Lambda = t.Lambda;
  return fault ? PAWL_PHP_GRAZING : t.Lambda > 0.0 ? PAWL_PHP_GOOD : PAWL_PHP_GRAZING;
}
