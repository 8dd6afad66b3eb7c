// SPDX-License-Identifier: Apache-2.0
// The forces of a set of the frictional problem (docs/theory/friction.md, section 2). A tangential
// row that is tied to its normal row acts in the column of that row:
//   A_ij = D_ij + sum_T D_iT tie_T + soft delta_ij,    i, j in the set, T tied to j           (F4)
#include <string.h>

#include "linalg/dense.h"
#include "linalg/vector.h"
#include "switch/friction_impl.h"

bool pawl_friction_forces_alloc(PawlFrictionForces* d, PawlArena* arena, int m) {
  d->right = PAWL_NEW(arena, double, m);
  d->change = PAWL_NEW(arena, double, m);
  d->tie = PAWL_NEW(arena, double, m);
  d->list = PAWL_NEW(arena, int, m);
  d->at = PAWL_NEW(arena, int, m);
  d->in = PAWL_NEW(arena, unsigned char, m);
  d->factors = -1;
  return !arena->failed;
}

// ---- factorisation ------------------------------------------------------------------------------

// Rows of the set in a dense A; a sparse one has all, those that are not in the set with 1 alone.
static void list_rows(PawlFrictionWork* k) {
  PawlFrictionForces* d = k->forces;
  d->order = 0;
  for (int i = 0; i < k->m; i++) {
    d->at[i] = k->matrix->sparse ? i : d->order;
    if (k->in[i]) {
      d->list[d->order++] = i;
    }
  }
}

// What row j does, added to the column of row n; both are of one block.
static void add_column(PawlFrictionWork* k, int n, int j, double scale) {
  const PawlFrictionForces* d = k->forces;
  PawlFrictionMatrix* x = k->matrix;
  const double* D = x->D + x->start[j];
  if (!x->sparse) {
    double* A = pawl_row(x->A, d->order, d->at[n]);
    for (int i = 0; i < d->order; i++) {
      A[i] += scale * D[d->list[i]];
    }
    return;
  }
  double* A = x->A + x->start[n];
  const int* index = x->index + x->start[n];
  for (int e = 0; e < x->start[n + 1] - x->start[n]; e++) {
    A[e] += k->in[index[e]] ? scale * D[e] : 0.0;
  }
}

static double* diagonal_of(PawlFrictionMatrix* x, const PawlFrictionForces* d, int i) {
  return x->sparse ? &x->A[pawl_friction_matrix_place(x, i, i)]
                   : &pawl_row(x->A, d->order, d->at[i])[d->at[i]];
}

static void gather(PawlFrictionWork* k) {
  PawlFrictionMatrix* x = k->matrix;
  list_rows(k);
  pawl_friction_matrix_clear(x, k->forces->order);
  for (int j = 0; j < k->m; j++) {
    if (k->in[j]) {
      add_column(k, j, j, 1.0);
      *diagonal_of(x, k->forces, j) += k->soft;
    } else if (x->sparse) {
      *diagonal_of(x, k->forces, j) = 1.0;
    }
  }
  for (int t = 0; t < k->m; t++) {
    int n = k->owner[t] < 0 ? -1 : k->block[k->owner[t]].normal;
    if (n >= 0 && k->in[n] && k->tie[t] != 0.0) {
      add_column(k, n, t, k->tie[t]);
    }
  }
}

static double least_pivot(const PawlFrictionMatrix* x) {
  double least = x->sparse ? fmin(1.0, pawl_sparse_lu_least(x->lu)) : 1.0;
  for (int i = 0; !x->sparse && i < x->order; i++) {  // the inverse is on the diagonal
    least = fmin(least, 1.0 / fabs(pawl_row(x->A, x->order, i)[i]));
  }
  return least;
}

// Whether the factors are those of the set as it is.
static bool fits(const PawlFrictionWork* k) {
  const PawlFrictionForces* d = k->forces;
  size_t m = (size_t)k->m;
  return d->factors == k->matrix->factors && d->soft == k->soft && memcmp(d->in, k->in, m) == 0 &&
         memcmp(d->tie, k->tie, m * sizeof(double)) == 0;
}

static PawlStatus factor(PawlFrictionWork* k) {
  PawlFrictionForces* d = k->forces;
  size_t m = (size_t)k->m;
  if (fits(k)) {
    return PAWL_OK;
  }
  gather(k);
  d->factors = -1;
  k->least_pivot = 1.0;
  PAWL_TRY(pawl_friction_matrix_factor(k->matrix));
  k->least_pivot = least_pivot(k->matrix);
  d->factors = k->matrix->factors;
  d->soft = k->soft;
  memcpy(d->in, k->in, m);
  memcpy(d->tie, k->tie, m * sizeof(double));
  return PAWL_OK;
}

bool pawl_friction_turned_set(const PawlFrictionWork* k) {
  const PawlFrictionMatrix* x = k->matrix;
  return !x->sparse && fits(k) && pawl_lu_sign(x->order, x->A, x->pivot) < 0;
}

// ---- solution -----------------------------------------------------------------------------------

// Terms of forces count with their rounding alone, as in rows_compliance.c.
static void add_terms(PawlFrictionWork* k, int j) {
  const PawlFrictionMatrix* x = k->matrix;
  const double* D = x->D + x->start[j];
  const int* index = x->index + x->start[j];
  int count = x->start[j + 1] - x->start[j];
  for (int i = 0; !x->sparse && i < count; i++) {
    double w = D[i] * k->lambda[j];
    k->w[i] += w;
    k->size[i] += fabs(w);
  }
  for (int e = 0; x->sparse && e < count; e++) {
    double w = D[e] * k->lambda[j];
    k->w[index[e]] += w;
    k->size[index[e]] += fabs(w);
  }
}

void pawl_friction_values(PawlFrictionWork* k) {
  double most = 0.0;
  memset(k->w, 0, (size_t)k->m * sizeof(double));
  memset(k->size, 0, (size_t)k->m * sizeof(double));
  for (int j = 0; j < k->m; j++) {
    if (k->lambda[j] != 0.0) {
      add_terms(k, j);
    }
  }
  for (int i = 0; i < k->m; i++) {
    k->w[i] += k->q[i];
    k->size[i] = PAWL_ROWS_CARRIED * k->size[i] + fmax(k->q_size[i], fabs(k->q[i]));
    most = fmax(most, k->size[i]);
  }
  for (int i = 0; i < k->m; i++) {
    k->size[i] = fmax(k->size[i], PAWL_ROWS_NEIGHBOURS * most);
  }
}

static void tie_rows(PawlFrictionWork* k) {
  for (int t = 0; t < k->m; t++) {
    if (k->owner[t] >= 0 && !k->in[t]) {
      k->lambda[t] = k->tie[t] * k->lambda[k->block[k->owner[t]].normal];
    }
  }
}

// Adds what is still missing; whether it was more than rounding.
static bool correct(PawlFrictionWork* k) {
  PawlFrictionForces* d = k->forces;
  bool more = false;
  memset(d->right, 0, (size_t)k->m * sizeof(double));
  for (int a = 0; a < d->order; a++) {
    int i = d->list[a];
    double w = pawl_friction_w(k, i);
    d->right[d->at[i]] = -w;
    more |= fabs(w) > PAWL_ROWS_EXACT * (k->size[i] * (1.0 / PAWL_ROWS_CARRIED));
  }
  if (more) {
    pawl_friction_matrix_solve(k->matrix, d->right, d->change);
    for (int a = 0; a < d->order; a++) {
      k->lambda[d->list[a]] += d->change[d->at[d->list[a]]];
    }
    tie_rows(k);
    pawl_friction_values(k);
  }
  return more;
}

PawlStatus pawl_friction_solve_set(PawlFrictionWork* k) {
  enum { REPEATED = 3 };
  PAWL_TRY(factor(k));
  for (int i = 0; i < k->m; i++) {
    k->lambda[i] = k->in[i] ? k->before[i] : k->lambda[i];
  }
  tie_rows(k);
  pawl_friction_values(k);
  for (int repeat = 0; k->forces->order > 0 && repeat < REPEATED && correct(k); repeat++) {
  }
  for (int i = 0; i < k->m; i++) {
    if (!isfinite(k->lambda[i]) || !isfinite(k->w[i])) {
      return PAWL_RETRY;
    }
  }
  return PAWL_OK;
}
