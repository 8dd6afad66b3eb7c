// SPDX-License-Identifier: Apache-2.0
// Contacts with friction as a convex problem (docs/theory/friction.md, sections 6 and 8): with
// lambda = base + E z and s = E w + shift, E = diag(1, mu, mu)/c, over the cone Q: |z_T| <= z_N,
//
//   z in Q,   s in Q,   z^T s = 0                                                           (F13)
//
// rows of one bound being cones of one dimension, and s = 0 in bilateral rows. Without a shift what
// slips opens by mu times its rate. Perturbed, z o s = nu e, it is followed to nu = 0 by Newton's
// method in the scaling W of Nesterov and Todd:
//
//   W^2 dz + ds = rhs,   ds = (E D E + eps) dz + off                                        (F14)
//
// which leaves one factorisation of W^2 + E D E + eps for each step.
#include <string.h>

#include "linalg/cone.h"
#include "linalg/vector.h"
#include "switch/friction_impl.h"

enum { MOST_ITERATIONS = 60 };

struct PawlFrictionPair {  // the force and the opening of a contact, or of a row with one bound
  int dim, first;          // its unknowns
  int block;               // -1: none
  PawlConeScaling W;
};

bool pawl_friction_center_alloc(PawlFrictionCenter* c, PawlArena* arena, int m) {
  double** of_m[] = {&c->base, &c->E, &c->z, &c->s, &c->dz, &c->ds, &c->off, &c->rhs, &c->shift};
  for (size_t i = 0; i < sizeof of_m / sizeof *of_m; i++) {
    *of_m[i] = PAWL_NEW(arena, double, m);
  }
  c->of = PAWL_NEW(arena, int, m);
  c->row = PAWL_NEW(arena, int, m);
  c->pair = PAWL_NEW(arena, PawlFrictionPair, m);
  return !arena->failed;
}

// ---- unknowns -----------------------------------------------------------------------------------

static bool is_contact(const PawlFrictionWork* k, int n) {
  return k->lo[n] == 0.0 && k->hi[n] == INFINITY;
}

bool pawl_friction_center_fits(const PawlFrictionWork* k) {
  bool fits = true;
  for (int i = 0; i < k->m; i++) {
    bool one_bound = isinf(k->lo[i]) || isinf(k->hi[i]);
    fits = fits && (k->owner[i] >= 0 || one_bound || pawl_friction_fixed(k, i));
  }
  for (int b = 0; b < k->blocks; b++) {
    fits = fits && (k->mu[b] == 0.0 || (!k->block[b].sliding && is_contact(k, k->block[b].normal)));
  }
  return fits;
}

static void add_unknown(PawlFrictionCenter* c, int row, double E) {
  c->of[row] = c->count;
  c->row[c->count] = row;
  c->E[c->count] = E;
  c->shift[c->count] = 0.0;
  c->count++;
}

static void add_pair(PawlFrictionCenter* c, int dim, int block) {
  c->pair[c->pairs++] = (PawlFrictionPair){.dim = dim, .first = c->count, .block = block};
}

static void add_block(const PawlFrictionWork* k, PawlFrictionCenter* c, int b) {
  const PawlFrictionBlock* block = &k->block[b];
  double mu = k->mu[b], size = hypot(1.0, mu);
  int dim = mu == 0.0 ? 1 : 2 + pawl_friction_spatial(block);
  add_pair(c, dim, b);
  add_unknown(c, block->normal, 1.0 / size);
  for (int j = 0; j + 1 < dim; j++) {
    add_unknown(c, block->tangent[j], mu / size);
  }
}

// Rows outside of blocks; forces on a bound, from where z counts, go to lambda.
static void add_row(PawlFrictionWork* k, PawlFrictionCenter* c, int i) {
  bool low = isfinite(k->lo[i]), fixed = pawl_friction_fixed(k, i);
  k->lambda[i] = low || fixed ? k->lo[i] : isfinite(k->hi[i]) ? k->hi[i] : 0.0;
  if (!fixed && !pawl_friction_bilateral(k, i)) {
    add_pair(c, 1, -1);
  }
  if (!fixed) {
    add_unknown(c, i, low || pawl_friction_bilateral(k, i) ? 1.0 : -1.0);
  }
}

static void list_unknowns(PawlFrictionWork* k, PawlFrictionCenter* c) {
  c->count = c->pairs = 0;
  for (int i = 0; i < k->m; i++) {
    c->of[i] = -1;
  }
  memset(k->lambda, 0, (size_t)k->m * sizeof(double));
  memset(k->in, 0, (size_t)k->m);  // room: rows of blocks
  for (int b = 0; b < k->blocks; b++) {
    int n = k->block[b].normal;
    k->in[n] = k->mu[b] > 0.0 || is_contact(k, n);
    if (k->in[n]) {
      add_block(k, c, b);
    }
  }
  for (int i = 0; i < k->m; i++) {
    if (k->owner[i] < 0 && !k->in[i]) {
      add_row(k, c, i);
    }
  }
  memcpy(c->base, k->lambda, (size_t)k->m * sizeof(double));
}

// Openings without any force give the size of the start, z = s = size e. The shift is that of the
// rates s_T = mu w_T/c that were found before.
static void begin(PawlFrictionWork* k, PawlFrictionCenter* c, bool shifted) {
  for (int p = 0; p < c->pairs; p++) {
    const PawlFrictionPair* pair = &c->pair[p];
    c->shift[pair->first] = shifted ? pawl_cone_tangent(pair->dim, c->s + pair->first) : 0.0;
  }
  pawl_friction_values(k);
  c->size = 0.0;
  for (int a = 0; a < c->count; a++) {
    c->size = fmax(c->size, fabs(c->E[a] * k->w[c->row[a]]));
    c->z[a] = c->s[a] = 0.0;
  }
  for (int p = 0; p < c->pairs; p++) {
    c->z[c->pair[p].first] = c->s[c->pair[p].first] = c->size;
  }
}

// ---- Newton's method ----------------------------------------------------------------------------

// lambda and w of z; E w + shift + eps z - s. Returns its largest.
static double residuals(PawlFrictionWork* k, PawlFrictionCenter* c) {
  double most = 0.0;
  memcpy(k->lambda, c->base, (size_t)k->m * sizeof(double));
  for (int a = 0; a < c->count; a++) {
    k->lambda[c->row[a]] += c->E[a] * c->z[a];
  }
  pawl_friction_values(k);
  for (int a = 0; a < c->count; a++) {
    double open = c->E[a] * k->w[c->row[a]] + c->shift[a];
    c->off[a] = open + PAWL_FRICTION_CENTER_SOFT * c->z[a] - c->s[a];
    most = fmax(most, fabs(c->off[a]));
  }
  return most;
}

// E D E + eps, the lower half; a sparse one has all of it, and 1 for rows that are no unknown.
static void fill_dense(const PawlFrictionMatrix* x, const PawlFrictionCenter* c) {
  for (int b = 0; b < c->count; b++) {
    double* A = pawl_row(x->A, c->count, b);
    const double* D = x->D + x->start[c->row[b]];
    for (int a = b; a < c->count; a++) {
      A[a] = c->E[a] * D[c->row[a]] * c->E[b];
    }
    A[b] += PAWL_FRICTION_CENTER_SOFT;
  }
}

static void fill_sparse(const PawlFrictionMatrix* x, const PawlFrictionCenter* c) {
  for (int j = 0; j < x->m; j++) {
    int b = c->of[j];
    for (int e = x->start[j]; b >= 0 && e < x->start[j + 1]; e++) {
      int a = c->of[x->index[e]];
      x->A[e] = a >= 0 ? c->E[a] * x->D[e] * c->E[b] : 0.0;
    }
    x->A[pawl_friction_matrix_place(x, j, j)] += b >= 0 ? PAWL_FRICTION_CENTER_SOFT : 1.0;
  }
}

// W^2 + E D E + eps.
static void fill(const PawlFrictionMatrix* x, PawlFrictionCenter* c) {
  if (x->sparse) {
    fill_sparse(x, c);
  } else {
    fill_dense(x, c);
  }
  for (int p = 0; p < c->pairs; p++) {
    PawlFrictionPair* pair = &c->pair[p];
    int first = pair->first;
    pair->W = pawl_cone_scaling(pair->dim, c->z + first, c->s + first);
    for (int j = 0; j < pair->dim; j++) {
      for (int i = x->sparse ? 0 : j; i < pair->dim; i++) {
        int row = c->row[first + i], column = c->row[first + j];
        double* A = x->sparse ? &x->A[pawl_friction_matrix_place(x, row, column)]
                              : &pawl_row(x->A, c->count, first + j)[first + i];
        *A += pawl_cone_square(&pair->W, i, j);
      }
    }
  }
}

// A dz = right side, in the order of A.
static void solve_for_steps(PawlFrictionMatrix* x, PawlFrictionCenter* c) {
  if (!x->sparse) {
    pawl_friction_matrix_solve_even(x, c->dz);
    return;
  }
  memset(x->right, 0, (size_t)x->m * sizeof(double));
  for (int a = 0; a < c->count; a++) {
    x->right[c->row[a]] = c->dz[a];
  }
  pawl_friction_matrix_solve_even(x, x->right);
  for (int a = 0; a < c->count; a++) {
    c->dz[a] = x->right[c->row[a]];
  }
}

// dz and ds of the right sides in `rhs`.
static void solve(PawlFrictionMatrix* x, PawlFrictionCenter* c) {
  int n = c->count;
  for (int a = 0; a < n; a++) {
    c->dz[a] = c->rhs[a] - c->off[a];
  }
  solve_for_steps(x, c);
  memset(c->ds, 0, (size_t)n * sizeof(double));
  for (int p = 0; p < c->pairs; p++) {  // ds = rhs - W^2 dz
    const PawlFrictionPair* pair = &c->pair[p];
    for (int i = pair->first; i < pair->first + pair->dim; i++) {
      c->ds[i] = c->rhs[i];
      for (int j = pair->first; j < pair->first + pair->dim; j++) {
        c->ds[i] -= pawl_cone_square(&pair->W, i - pair->first, j - pair->first) * c->dz[j];
      }
    }
  }
}

static double largest_step(const PawlFrictionCenter* c) {
  double step = INFINITY;
  for (int p = 0; p < c->pairs; p++) {
    int dim = c->pair[p].dim, first = c->pair[p].first;
    step = fmin(step, pawl_cone_reach(dim, c->z + first, c->dz + first));
    step = fmin(step, pawl_cone_reach(dim, c->s + first, c->ds + first));
  }
  return step;
}

// Mean of z^T s after a step.
static double complementarity(const PawlFrictionCenter* c, double step) {
  double sum = 0.0;
  for (int a = 0; a < c->count; a++) {
    sum += (c->z[a] + step * c->dz[a]) * (c->s[a] + step * c->ds[a]);
  }
  return c->pairs > 0 ? sum / c->pairs : 0.0;
}

// Towards nu, with the products of the first step (S. Mehrotra).
static void center(PawlFrictionCenter* c, double nu) {
  for (int p = 0; p < c->pairs; p++) {
    const PawlFrictionPair* pair = &c->pair[p];
    int first = pair->first;
    pawl_cone_center(&pair->W, c->z + first, c->dz + first, c->ds + first, nu, c->rhs + first);
  }
}

// First towards nu = 0, which shows how far that is possible, then towards the part of nu that this
// suggests. False: not positive, by rounding.
static bool iterate(PawlFrictionWork* k, PawlFrictionCenter* c, double nu) {
  static const double LONGEST = 0.99;
  pawl_friction_matrix_clear(k->matrix, c->count);
  fill(k->matrix, c);
  if (!pawl_friction_matrix_factor_even(k->matrix)) {
    return false;
  }
  for (int a = 0; a < c->count; a++) {
    c->rhs[a] = -c->s[a];
  }
  solve(k->matrix, c);
  double left = complementarity(c, fmin(1.0, largest_step(c))) / nu;
  center(c, nu * left * left * left);
  solve(k->matrix, c);
  double step = fmin(1.0, LONGEST * largest_step(c));
  for (int a = 0; a < c->count; a++) {
    c->z[a] += step * c->dz[a];
    c->s[a] += step * c->ds[a];
  }
  return true;
}

// Until z^T s is down to `end`, and what is off of the equations to CENTERED.
static bool go_on(PawlFrictionWork* k, PawlFrictionCenter* c, double end,
                  PawlFrictionResult* result) {
  bool near = false, there = c->size == 0.0;  // no force is needed
  for (int count = 0; !there && count < MOST_ITERATIONS; count++) {
    double square = c->size * c->size;
    double off = residuals(k, c) / c->size, nu = complementarity(c, 0.0);
    if (!isfinite(off) || !isfinite(nu)) {
      return false;
    }
    there = off <= PAWL_FRICTION_CENTERED && nu <= end * square;
    near = off <= PAWL_FRICTION_NEARLY && nu <= PAWL_FRICTION_NEARLY * square;
    result->rounds++;
    if (there || !iterate(k, c, nu)) {
      break;
    }
  }
  return there || near;
}

bool pawl_friction_center(PawlFrictionWork* k, PawlFrictionCenter* c, bool shifted,
                          PawlFrictionResult* result) {
  list_unknowns(k, c);
  begin(k, c, shifted);
  memset(c->dz, 0, (size_t)c->count * sizeof(double));
  memset(c->ds, 0, (size_t)c->count * sizeof(double));
  return go_on(k, c, PAWL_FRICTION_CENTERED, result);
}

bool pawl_friction_center_further(PawlFrictionWork* k, PawlFrictionCenter* c,
                                  PawlFrictionResult* result) {
  memset(c->dz, 0, (size_t)c->count * sizeof(double));
  memset(c->ds, 0, (size_t)c->count * sizeof(double));
  return go_on(k, c, PAWL_FRICTION_CENTERED_FURTHER, result);
}

// ---- the set ------------------------------------------------------------------------------------

// z_N s_N of what slips is far from nu.
bool pawl_friction_center_slips(const PawlFrictionCenter* c) {
  bool any = false;
  for (int p = 0; p < c->pairs; p++) {
    const PawlFrictionPair* pair = &c->pair[p];
    double product = c->z[pair->first] * c->s[pair->first];
    any = any || (pair->dim > 1 && product > PAWL_FRICTION_CENTER_SLIPS * c->size * c->size);
  }
  return any;
}

// Which of z_N - |z_T| and s_N + |s_T| is larger says whether it sticks.
static void place_block(PawlFrictionWork* k, const PawlFrictionCenter* c,
                        const PawlFrictionPair* pair, bool closed, bool slips) {
  const double *z = c->z + pair->first, *s = c->s + pair->first;
  const PawlFrictionBlock* block = &k->block[pair->block];
  double T = pawl_cone_tangent(pair->dim, z), S = pawl_cone_tangent(pair->dim, s);
  bool rubs = closed && slips && pair->dim > 1 && z[0] - T <= s[0] + S;
  for (int j = 0; j < 1 + pawl_friction_spatial(block); j++) {
    k->place[block->tangent[j]] = !rubs ? PAWL_ROW_FREE : z[1] > 0.0 ? PAWL_ROW_HIGH : PAWL_ROW_LOW;
  }
  k->sign[pair->block] = 1;
}

void pawl_friction_center_places(PawlFrictionWork* k, const PawlFrictionCenter* c, bool slips) {
  for (int i = 0; i < k->m; i++) {
    k->place[i] = pawl_friction_fixed(k, i) ? PAWL_ROW_LOW : PAWL_ROW_FREE;
  }
  for (int p = 0; p < c->pairs; p++) {
    const PawlFrictionPair* pair = &c->pair[p];
    const double *z = c->z + pair->first, *s = c->s + pair->first;
    double T = pawl_cone_tangent(pair->dim, z), S = pawl_cone_tangent(pair->dim, s);
    bool closed = z[0] + T > s[0] - S;
    int i = c->row[pair->first];
    k->place[i] = closed ? PAWL_ROW_FREE : isinf(k->lo[i]) ? PAWL_ROW_HIGH : PAWL_ROW_LOW;
    if (pair->block >= 0) {
      place_block(k, c, pair, closed, slips);
    }
  }
  memcpy(k->before, k->lambda, (size_t)k->m * sizeof(double));
}
