// SPDX-License-Identifier: Apache-2.0
// The reduction of a linear system with the Moore-Penrose inverse of the Schur complement. With
// M = R R^T and the singular values of Y = R^-1 G^T = U s V^T all of it has a short form:
//   S = -G M^-1 G^T = -V s^2 V^T,   S^+ = -V s^-2 V^T,   B = R^-T (I - U U^T) R^-1           (L6)
// so that nothing is lost by forming S.
#include "step/reduction.h"

#include <math.h>
#include <string.h>

#include "linalg/lapack.h"
#include "linalg/span.h"
#include "system/system.h"

typedef struct Dense {  // of one call
  PawlArena arena;
  int n, m;
  double *M, *R;  // mass matrix and its lower Cholesky factor
  double* G;      // m-by-n, zero rows where not in force
  double* F;      // n-by-(2n+1): f = F [q; v; 1]
  double* gamma;  // m
  double* scale;  // m: 1 / |row of Y|
  double* Y;      // n-by-m
  PawlSvd svd;
  int rank;
} Dense;

PawlStatus pawl_reduction_create(PawlArena* arena, const PawlSystem* system, PawlReduction* r) {
  PawlSizes sizes = pawl_system_sizes(system);
  size_t n = (size_t)sizes.v, m = (size_t)sizes.rows;
  *r = (PawlReduction){.n = sizes.v, .m = sizes.rows};
  r->A = PAWL_NEW(arena, double, n*(2 * n + 1));
  r->L = PAWL_NEW(arena, double, m*(2 * n + 1));
  r->T = PAWL_NEW(arena, double, n* n);
  r->K = PAWL_NEW(arena, double, n* n);
  r->D = PAWL_NEW(arena, double, n* n);
  return r->A && r->L && r->T && r->K && r->D ? PAWL_OK : PAWL_ERROR_MEMORY;
}

static void expand(const PawlPattern* pattern, const double* values, double scale, double* out) {
  for (int j = 0; j < pattern->cols; j++) {
    for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++) {
      out[(size_t)pattern->index[k] + (size_t)j * (size_t)pattern->rows] = scale * values[k];
    }
  }
}

static PawlStatus make_arrays(Dense* d, PawlSizes sizes) {
  size_t n = (size_t)sizes.v, m = (size_t)sizes.rows;
  d->n = sizes.v;
  d->m = sizes.rows;
  d->M = PAWL_NEW(&d->arena, double, n* n);
  d->R = PAWL_NEW(&d->arena, double, n* n);
  d->G = PAWL_NEW(&d->arena, double, m* n);
  d->F = PAWL_NEW(&d->arena, double, n*(2 * n + 1));
  d->gamma = PAWL_NEW(&d->arena, double, m);
  d->scale = PAWL_NEW(&d->arena, double, m);
  d->Y = PAWL_NEW(&d->arena, double, n* m);
  return d->M && d->R && d->G && d->F && d->gamma && d->scale && d->Y ? PAWL_OK : PAWL_ERROR_MEMORY;
}

// The system at a point. At q = v = 0 f is its constant part.                              (L2)
static PawlStatus evaluate(Dense* d, const PawlSystem* system, PawlEval* eval,
                           const PawlPoint* point, const unsigned char* active, PawlReduction* r,
                           PawlError* err) {
  size_t n = (size_t)d->n, m = (size_t)d->m;
  PawlPattern H = pawl_system_pattern_H(system), G = pawl_system_pattern_G(system);
  PAWL_TRY(pawl_eval_run(eval, point, err));
  const PawlValues* values = pawl_eval_values(eval);
  expand(&H, values->M, 1.0, d->M);
  memset(r->K, 0, n * n * sizeof(double));
  memset(r->D, 0, n * n * sizeof(double));
  expand(&H, values->K, 1.0, r->K);
  expand(&H, values->C, 1.0, r->D);
  expand(&G, values->G, 1.0, d->G);
  for (size_t i = 0; i < n * n; i++) {
    d->F[i] = -r->K[i];
    d->F[i + n * n] = -r->D[i];
  }
  memcpy(d->F + 2 * n * n, values->f, n * sizeof(double));
  for (size_t i = 0; i < m; i++) {
    bool in_force = active ? active[i] : pawl_system_row_kind(system, (int)i) == PAWL_ROW_BILATERAL;
    d->gamma[i] = in_force ? values->gamma[i] : 0.0;
    for (size_t j = 0; !in_force && j < n; j++) {
      d->G[i + j * m] = 0.0;
    }
  }
  return PAWL_OK;
}

// Coordinates without mass that the rows hold: M + w G^T G in the place of M, f - w G^T gamma in
// that of f, have the same motion and the same multipliers, since G a = -gamma.            (L9)
static void add_mass(Dense* d) {
  size_t n = (size_t)d->n, m = (size_t)d->m;
  double top_M = 0.0, top_G = 0.0;
  for (size_t i = 0; i < n * n; i++) {
    top_M = fmax(top_M, fabs(d->M[i]));
  }
  for (size_t i = 0; i < n * m; i++) {
    top_G = fmax(top_G, fabs(d->G[i]));
  }
  double w = top_M > 0.0 && top_G > 0.0 ? top_M / top_G / top_G : 1.0;
  for (size_t j = 0; j < n; j++) {
    for (size_t k = 0; k < m; k++) {
      for (size_t i = 0; i < n; i++) {
        d->M[i + j * n] += w * d->G[k + i * m] * d->G[k + j * m];
      }
      d->F[j + 2 * n * n] -= w * d->G[k + j * m] * d->gamma[k];
    }
  }
}

static PawlStatus factor_mass(Dense* d, double t, PawlError* err) {
  if (pawl_cholesky(d->n, d->M, d->R) == PAWL_OK) {
    return PAWL_OK;
  }
  add_mass(d);
  return pawl_cholesky(d->n, d->M, d->R) == PAWL_OK
             ? PAWL_OK
             : pawl_fail(err, PAWL_RETRY,
                         "t = %.10g: the mass matrix is not positive definite: something can move "
                         "with no mass behind it; is a mass or inertia zero or negative?",
                         t);
}

// x <- R^-1 x and x <- R^-T x
static void solve_lower(const Dense* d, double* x) {
  size_t n = (size_t)d->n;
  for (size_t j = 0; j < n; j++) {
    x[j] /= d->R[j + j * n];
    for (size_t i = j + 1; i < n; i++) {
      x[i] -= d->R[i + j * n] * x[j];
    }
  }
}

static void solve_upper(const Dense* d, double* x) {
  size_t n = (size_t)d->n;
  for (size_t j = n; j-- > 0;) {
    for (size_t i = j + 1; i < n; i++) {
      x[j] -= d->R[i + j * n] * x[i];
    }
    x[j] /= d->R[j + j * n];
  }
}

// Y = R^-1 G^T with columns of length 1, so that the rank does not depend on the rows' units; its
// singular values.
static PawlStatus decompose(Dense* d) {
  size_t n = (size_t)d->n, m = (size_t)d->m;
  for (size_t k = 0; k < m; k++) {
    double sum = 0.0, *y = d->Y + k * n;
    for (size_t j = 0; j < n; j++) {
      y[j] = d->G[k + j * m];
    }
    solve_lower(d, y);
    for (size_t j = 0; j < n; j++) {
      sum += y[j] * y[j];
    }
    d->scale[k] = sum > 0.0 ? 1.0 / sqrt(sum) : 1.0;
    for (size_t j = 0; j < n; j++) {
      y[j] *= d->scale[k];
    }
  }
  PAWL_TRY(pawl_svd(&d->arena, d->n, d->m, d->Y, &d->svd));
  d->rank = pawl_svd_rank(&d->svd, PAWL_DEPENDENT_VALUE);
  return PAWL_OK;
}

// For one column f of F (and gamma, or NULL for none): w = R^-1 f,
//   u = U^T w,  mu = -(u + V^T gamma / s) / s,  lambda = V mu,  a = R^-T (w + U s mu)      (L7)
//   (L8)
// U s mu = -U (u + V^T gamma / s): the first takes the forbidden part of w away, the second puts
// what gamma asks for in its place.
static void reduce_column(const Dense* d, const double* f, const double* gamma, double* a,
                          double* lambda) {
  size_t n = (size_t)d->n, m = (size_t)d->m;
  memcpy(a, f, n * sizeof *a);
  memset(lambda, 0, m * sizeof *lambda);
  solve_lower(d, a);
  for (size_t k = 0; k < (size_t)d->rank; k++) {
    double u = 0.0, s = d->svd.s[k];
    for (size_t i = 0; i < n; i++) {
      u += d->svd.U[i + k * n] * a[i];
    }
    for (size_t i = 0; gamma && i < m; i++) {
      u += d->svd.Vt[k + i * m] * d->scale[i] * gamma[i] / s;
    }
    for (size_t i = 0; i < n; i++) {
      a[i] -= d->svd.U[i + k * n] * u;
    }
    for (size_t i = 0; i < m; i++) {
      lambda[i] -= d->scale[i] * d->svd.Vt[k + i * m] * u / s;
    }
  }
  solve_upper(d, a);
}

// The columns of T = R^-T U', U' orthonormal with the first `rank` columns of U at its end: a basis
// that the singular values of Y^T come with, turned around.                                 (L15)
static PawlStatus find_basis(Dense* d, PawlReduction* r) {
  size_t n = (size_t)d->n, m = (size_t)d->m;
  double* transposed = PAWL_NEW(&d->arena, double, n* m);
  PawlSvd svd;
  if (!transposed) {
    return PAWL_ERROR_MEMORY;
  }
  for (size_t j = 0; j < n; j++) {
    for (size_t k = 0; k < m; k++) {
      transposed[k + j * m] = d->Y[j + k * n];
    }
  }
  PAWL_TRY(pawl_svd(&d->arena, d->m, d->n, transposed, &svd));
  for (size_t j = 0; j < n; j++) {
    size_t from = (j + (size_t)d->rank) % n;
    for (size_t i = 0; i < n; i++) {
      r->T[i + j * n] = svd.Vt[from + i * n];
    }
    solve_upper(d, r->T + j * n);
  }
  return PAWL_OK;
}

// ---- rates of states that react -----------------------------------------------------------------
// ds/dx of the rates of all states by entry `k` of x = (v', lambda), to `slope` (states): by
// differences at two distances, which is exact up to the fourth power.
static PawlStatus slope_of(PawlEval* eval, const PawlPoint* point, PawlSizes sizes, double* x,
                           double* slope, PawlError* err) {
  static const double WEIGHT[2] = {4.0 / 3.0, -1.0 / 3.0};
  double centre = *x, reach = ldexp(1.0 + fabs(centre), -9);
  const double* s = pawl_eval_values(eval)->f + pawl_moving(sizes);
  memset(slope, 0, (size_t)sizes.states * sizeof *slope);
  for (int k = 0; k < 4; k++) {
    double side = k % 2 == 0 ? 1.0 : -1.0, distance = k < 2 ? reach : 2.0 * reach;
    *x = centre + side * distance;
    PAWL_TRY(pawl_eval_run(eval, point, err));
    for (int i = 0; i < sizes.states; i++) {
      slope[i] += WEIGHT[k / 2] * side * s[i] / (2.0 * distance);
    }
  }
  *x = centre;
  return PAWL_OK;
}

// Row i of the states gets slope times row k of v' = A z, or of lambda = L z.                (Z9)
static void follow(const Dense* d, size_t i, double slope, const double* row, size_t stride,
                   PawlReduction* r) {
  size_t n = (size_t)d->n;
  for (size_t j = 0; j <= 2 * n; j++) {
    double change = slope * row[j * stride];
    r->A[i + j * n] += change;
    if (j < 2 * n) {
      *(j < n ? &r->K[i + j * n] : &r->D[i + (j - n) * n]) -= change;
    }
  }
}

// s = s(q, v, z) + S (v', lambda) with v' and lambda as they follow from the rest.           (Z9)
static PawlStatus add_reactions(Dense* d, PawlSizes sizes, PawlEval* eval, const PawlPoint* point,
                                PawlReduction* r, PawlError* err) {
  size_t n = (size_t)d->n, m = (size_t)d->m, moving = (size_t)pawl_moving(sizes);
  double* x = PAWL_NEW(&d->arena, double, n + m);
  double* slope = PAWL_NEW(&d->arena, double, sizes.states);
  PawlPoint beside = *point;
  if (!x || !slope) {
    return pawl_fail_memory(err);
  }
  memcpy(x, point->a, n * sizeof *x);
  memcpy(x + n, point->lambda, m * sizeof *x);
  beside.a = x;
  beside.lambda = x + n;
  for (size_t k = 0; k < n + m; k++) {
    if (k >= moving && k < n) {
      continue;  // a rate of a state uses none of another
    }
    PAWL_TRY(slope_of(eval, &beside, sizes, &x[k], slope, err));
    for (size_t i = moving; i < n; i++) {
      follow(d, i, slope[i - moving], k < n ? r->A + k : r->L + (k - n), k < n ? n : m, r);
    }
  }
  return PAWL_OK;
}

static PawlStatus reduce(Dense* d, const PawlSystem* system, PawlEval* eval, const PawlPoint* point,
                         const unsigned char* active, PawlReduction* r, PawlError* err) {
  if (make_arrays(d, pawl_system_sizes(system)) != PAWL_OK) {
    return pawl_fail_memory(err);
  }
  size_t n = (size_t)d->n, m = (size_t)d->m;
  double t = point->t;
  PAWL_TRY(evaluate(d, system, eval, point, active, r, err));
  PAWL_TRY(factor_mass(d, t, err));
  PawlStatus status = decompose(d);
  status = status ? status : find_basis(d, r);
  if (status != PAWL_OK) {
    return status == PAWL_RETRY
               ? pawl_fail(err, status, "t = %.10g: numbers overflow in the linear system", t)
               : pawl_fail_memory(err);
  }
  r->rank = d->rank;
  for (size_t j = 0; j <= 2 * n; j++) {
    reduce_column(d, d->F + j * n, j == 2 * n ? d->gamma : NULL, r->A + j * n, r->L + j * m);
  }
  return system->rates_react ? add_reactions(d, system->sizes, eval, point, r, err) : PAWL_OK;
}

PawlStatus pawl_reduction_at(const PawlSystem* system, PawlEval* eval, const PawlPoint* point,
                             const unsigned char* active, PawlReduction* out, PawlError* err) {
  Dense d = {0};
  PawlStatus status = reduce(&d, system, eval, point, active, out, err);
  pawl_arena_free(&d.arena);
  return status;
}

PawlStatus pawl_reduction_at_zero(const PawlSystem* system, PawlEval* eval, double t,
                                  const int* modes, const double* held, const unsigned char* active,
                                  PawlReduction* out, PawlError* err) {
  Dense d = {0};
  PawlSizes n = pawl_system_sizes(system);
  double* zeros = PAWL_NEW(&d.arena, double, (size_t)n.v + (size_t)n.rows);
  PawlPoint point = {
      .t = t, .q = zeros, .v = zeros, .a = zeros, .lambda = zeros, .modes = modes, .held = held};
  PawlStatus status =
      zeros ? reduce(&d, system, eval, &point, active, out, err) : pawl_fail_memory(err);
  pawl_arena_free(&d.arena);
  return status;
}
