// SPDX-License-Identifier: Apache-2.0
// The solution with the smallest multipliers when rows are redundant (docs/theory/kkt.md, section
// 5). With I the kept and d the dropped rows, J_d = T J_I. Then
//   y_I + T^T y_d = mu      mu the multipliers of the kept rows alone
//   |y| smallest:           (1 + T T^T) y_d = T mu,    y_I = mu - T^T y_d                  (K7)
//   c met by least squares: (1 + T T^T) z = c_d - T c_I,    c_I + T^T z instead of c_I     (K8)
// T is not formed: a product with T or T^T is one solve, and the equations are solved by conjugate
// gradients.
#include <math.h>
#include <string.h>

#include "linalg/kkt_probe.h"
#include "linalg/tolerances.h"

static void clear(int count, double* x) {
  for (int i = 0; i < count; i++) {
    x[i] = 0.0;
  }
}

// out_d = T v_I, out_I = 0
static void apply_T(PawlProbe* probe, const double* v, double* out) {
  const PawlPattern* G = &probe->kkt->G;
  clear(probe->n, probe->x);
  for (int i = 0; i < probe->m; i++) {
    probe->y[i] = probe->active[i] ? v[i] : 0.0;
  }
  pawl_kkt_solve(probe->kkt, probe->x, probe->y);
  clear(probe->m, out);
  for (int j = 0; j < probe->n; j++) {
    for (int k = G->start[j]; k < G->start[j + 1]; k++) {
      int i = G->index[k];
      out[i] += probe->dropped[i] ? probe->J[k] * probe->x[j] : 0.0;
    }
  }
}

// out_I = T^T u_d, out_d = 0
static void apply_T_transposed(PawlProbe* probe, const double* u, double* out) {
  const PawlPattern* G = &probe->kkt->G;
  clear(probe->m, probe->y);
  for (int j = 0; j < probe->n; j++) {
    probe->x[j] = 0.0;
    for (int k = G->start[j]; k < G->start[j + 1]; k++) {
      int i = G->index[k];
      probe->x[j] += probe->dropped[i] ? probe->J[k] * u[i] : 0.0;
    }
  }
  pawl_kkt_solve(probe->kkt, probe->x, probe->y);
  for (int i = 0; i < probe->m; i++) {
    out[i] = probe->active[i] ? -probe->y[i] : 0.0;
  }
}

static double dot(int n, const double* a, const double* b) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

// Conjugate gradients for (1 + T T^T) z = r, all vectors zero outside the dropped rows; destroys
// r. `work` has room for 3 m. Exact after as many steps as there are dropped rows, but for
// rounding.
static void solve_gram(PawlProbe* probe, double* r, double* z, double* work) {
  int m = probe->m, limit = 2 * pawl_probe_dropped(probe) + 10;
  double *p = work, *t = work + m, *q = work + 2 * (size_t)m;
  double rr = dot(m, r, r), enough = rr * PAWL_CG_TOLERANCE * PAWL_CG_TOLERANCE;
  clear(m, z);
  memcpy(p, r, (size_t)m * sizeof *p);
  for (int step = 0; step < limit && rr > enough; step++) {
    apply_T_transposed(probe, p, t);
    apply_T(probe, t, q);
    double pq = dot(m, p, p) + dot(m, p, q);
    double alpha = rr / pq;
    for (int i = 0; i < m; i++) {
      z[i] += alpha * p[i];
      r[i] -= alpha * (p[i] + q[i]);
    }
    double next = dot(m, r, r), beta = next / rr;
    rr = next;
    for (int i = 0; i < m; i++) {
      p[i] = r[i] + beta * p[i];
    }
  }
}

// c_I <- c_I + T^T z (K8)
static void project_right_side(PawlProbe* probe, double* c, double* work) {
  int m = probe->m;
  double *r = work, *z = work + m;
  apply_T(probe, c, r);
  for (int i = 0; i < m; i++) {
    r[i] = probe->dropped[i] ? c[i] - r[i] : 0.0;
  }
  solve_gram(probe, r, z, work + 2 * (size_t)m);
  apply_T_transposed(probe, z, r);
  for (int i = 0; i < m; i++) {
    c[i] += r[i];
  }
}

// y_d, and y_I <- y_I - T^T y_d (K7)
static void spread_multipliers(PawlProbe* probe, double* y, double* work) {
  int m = probe->m;
  double *r = work, *z = work + m;
  apply_T(probe, y, r);
  solve_gram(probe, r, z, work + 2 * (size_t)m);
  apply_T_transposed(probe, z, r);
  for (int i = 0; i < m; i++) {
    y[i] = probe->dropped[i] ? z[i] : y[i] - r[i];
  }
}

// max |J x - c| over the rows that were active at first
static double violation(const PawlProbe* probe, const double* x, double* c) {
  const PawlPattern* G = &probe->kkt->G;
  double top = 0.0;
  for (int j = 0; j < probe->n; j++) {
    for (int k = G->start[j]; k < G->start[j + 1]; k++) {
      c[G->index[k]] -= probe->J[k] * x[j];
    }
  }
  for (int i = 0; i < probe->m; i++) {
    top = probe->active[i] || probe->dropped[i] ? fmax(top, fabs(c[i])) : top;
  }
  return top;
}

// A factorisation with the rows that span best kept, so that T is small and (K7), (K8) are well
// conditioned.
static PawlStatus regular_probe(PawlProbe* probe) {
  PAWL_TRY(pawl_probe_regularise(probe));
  if (probe->column < 0 && pawl_probe_dropped(probe) > 0) {
    PAWL_TRY(pawl_probe_exchange(probe, PAWL_PROBE_KEEP_SPANNING, NULL));
    PAWL_TRY(pawl_probe_factor(probe));
  }
  return probe->column < 0 ? PAWL_OK : PAWL_RETRY;
}

// The right side that the rows can have, of those kept; *redundant: there are others.
static void keep_right_side(PawlProbe* probe, double* y, double* work, bool* redundant) {
  *redundant = pawl_probe_dropped(probe) > 0;
  if (*redundant) {
    project_right_side(probe, y, work);
  }
  for (int i = 0; i < probe->m; i++) {
    y[i] = probe->dropped[i] ? 0.0 : y[i];
  }
}

static PawlStatus min_norm(PawlProbe* probe, double* x, double* y, double* residual) {
  size_t m = (size_t)probe->m;
  double* work = PAWL_NEW(&probe->arena, double, 6 * m);
  if (!work) {
    return PAWL_ERROR_MEMORY;
  }
  PAWL_TRY(regular_probe(probe));
  double* c = work + 5 * m;
  memcpy(c, y, m * sizeof *c);
  bool redundant;
  keep_right_side(probe, y, work, &redundant);
  pawl_kkt_solve(probe->kkt, x, y);
  if (redundant) {
    spread_multipliers(probe, y, work);
  }
  if (residual) {
    *residual = violation(probe, x, c);
  }
  return PAWL_OK;
}

PawlStatus pawl_kkt_min_norm(PawlKkt* kkt, const double* S, const double* J,
                             const unsigned char* active, double* x, double* y, double* residual) {
  PawlProbe probe = {0};
  PawlStatus status = pawl_probe_build(&probe, kkt, S, J, active);
  status = status == PAWL_OK ? min_norm(&probe, x, y, residual) : status;
  pawl_probe_free(&probe);
  return status;
}

// The kept rows with their forces along B, then these shared among all as J has it (nsga.md,
// (N84)).
static PawlStatus min_norm_along(PawlProbe* probe, const double* B, double* x, double* y) {
  size_t m = (size_t)probe->m;
  double* work = PAWL_NEW(&probe->arena, double, 5 * m);
  if (!work) {
    return PAWL_ERROR_MEMORY;
  }
  PAWL_TRY(regular_probe(probe));
  bool redundant;
  keep_right_side(probe, y, work, &redundant);  // by the factors with J
  PAWL_TRY(pawl_kkt_factor(probe->kkt, probe->S, B, probe->J, probe->active));
  pawl_kkt_solve(probe->kkt, x, y);
  PAWL_TRY(pawl_probe_factor(probe));
  if (redundant) {
    spread_multipliers(probe, y, work);
  }
  return PAWL_OK;
}

PawlStatus pawl_kkt_min_norm_along(PawlKkt* kkt, const double* S, const double* B, const double* J,
                                   const unsigned char* active, double* x, double* y) {
  PawlProbe probe = {0};
  PawlStatus status = pawl_probe_build(&probe, kkt, S, J, active);
  status = status == PAWL_OK ? min_norm_along(&probe, B, x, y) : status;
  pawl_probe_free(&probe);
  return status;
}
