// SPDX-License-Identifier: Apache-2.0
// A set of the frictional problem on a dense D (docs/theory/friction.md, section 2). A tangential
// row that is tied to its normal row acts in the column of that row:
//   A_ij = D_ij + sum_T D_iT tie_T + soft delta_ij,    i, j in the set, T tied to j           (F4)
#include <string.h>

#include "linalg/dense.h"
#include "linalg/vector.h"
#include "switch/friction_impl.h"

bool pawl_friction_dense_alloc(PawlFrictionDense* d, PawlArena* arena, int m) {
  d->D = PAWL_NEW(arena, double, (size_t)m*(size_t)m);
  d->A = PAWL_NEW(arena, double, (size_t)m*(size_t)m);
  d->right = PAWL_NEW(arena, double, m);
  d->change = PAWL_NEW(arena, double, m);
  d->tie = PAWL_NEW(arena, double, m);
  d->list = PAWL_NEW(arena, int, m);
  d->pivot = PAWL_NEW(arena, int, m);
  d->in = PAWL_NEW(arena, unsigned char, m);
  return !arena->failed;
}

// ---- factorisation ------------------------------------------------------------------------------

static void add_column(PawlFrictionDense* d, int j, int row, double scale) {
  double* A = pawl_row(d->A, d->order, j);
  const double* D = pawl_row(d->D, d->work->m, row);
  for (int i = 0; i < d->order; i++) {
    A[i] += scale * D[d->list[i]];
  }
}

static void gather(PawlFrictionDense* d) {
  PawlFrictionWork* k = d->work;
  d->order = 0;
  for (int i = 0; i < k->m; i++) {
    if (k->in[i]) {
      d->pivot[i] = d->order;  // the place in the list, until the factorisation
      d->list[d->order++] = i;
    }
  }
  memset(d->A, 0, (size_t)d->order * (size_t)d->order * sizeof(double));
  for (int j = 0; j < d->order; j++) {
    add_column(d, j, d->list[j], 1.0);
    pawl_row(d->A, d->order, j)[j] += k->soft;
  }
  for (int t = 0; t < k->m; t++) {
    int n = k->owner[t] < 0 ? -1 : k->block[k->owner[t]].normal;
    if (n >= 0 && k->in[n] && k->tie[t] != 0.0) {
      add_column(d, d->pivot[n], t, k->tie[t]);
    }
  }
}

static PawlStatus factor(PawlFrictionDense* d) {
  PawlFrictionWork* k = d->work;
  size_t m = (size_t)k->m;
  if (d->factored && memcmp(d->in, k->in, m) == 0 &&
      memcmp(d->tie, k->tie, m * sizeof(double)) == 0) {
    return PAWL_OK;
  }
  gather(d);
  d->factored = pawl_lu_factor(d->order, d->A, d->pivot, PAWL_FRICTION_SINGULAR) == 0;
  k->least_pivot = 1.0;
  for (int i = 0; d->factored && i < d->order; i++) {  // the inverse is on the diagonal
    k->least_pivot = fmin(k->least_pivot, 1.0 / fabs(pawl_row(d->A, d->order, i)[i]));
  }
  memcpy(d->in, k->in, m);
  memcpy(d->tie, k->tie, m * sizeof(double));
  return d->factored ? PAWL_OK : PAWL_RETRY;
}

bool pawl_friction_dense_turned(const PawlFrictionWork* k) {
  const PawlFrictionDense* d = k->self;
  return d->factored && pawl_lu_sign(d->order, d->A, d->pivot) < 0;
}

// ---- solution -----------------------------------------------------------------------------------

// Terms of forces count with their rounding alone, as in rows_compliance.c.
void pawl_friction_dense_values(PawlFrictionWork* k) {
  const PawlFrictionDense* d = k->self;
  double most = 0.0;
  memset(k->w, 0, (size_t)k->m * sizeof(double));
  memset(k->size, 0, (size_t)k->m * sizeof(double));
  for (int j = 0; j < k->m; j++) {
    const double* D = d->D + (size_t)j * (size_t)k->m;
    for (int i = 0; k->lambda[j] != 0.0 && i < k->m; i++) {
      double w = D[i] * k->lambda[j];
      k->w[i] += w;
      k->size[i] += fabs(w);
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
static bool correct(PawlFrictionDense* d) {
  PawlFrictionWork* k = d->work;
  bool more = false;
  for (int a = 0; a < d->order; a++) {
    int i = d->list[a];
    d->right[a] = -pawl_friction_w(k, i);
    more |= fabs(d->right[a]) > PAWL_ROWS_EXACT * (k->size[i] * (1.0 / PAWL_ROWS_CARRIED));
  }
  if (more) {
    pawl_lu_solve(d->order, d->A, d->pivot, d->right, d->change);
    for (int a = 0; a < d->order; a++) {
      k->lambda[d->list[a]] += d->change[a];
    }
    tie_rows(k);
    pawl_friction_dense_values(k);
  }
  return more;
}

PawlStatus pawl_friction_dense_solve(PawlFrictionWork* k) {
  enum { REPEATED = 3 };
  PawlFrictionDense* d = k->self;
  PAWL_TRY(factor(d));
  for (int i = 0; i < k->m; i++) {
    k->lambda[i] = k->in[i] ? k->before[i] : k->lambda[i];
  }
  tie_rows(k);
  pawl_friction_dense_values(k);
  for (int repeat = 0; d->order > 0 && repeat < REPEATED && correct(d); repeat++) {
  }
  for (int i = 0; i < k->m; i++) {
    if (!isfinite(k->lambda[i]) || !isfinite(k->w[i])) {
      return PAWL_RETRY;
    }
  }
  return PAWL_OK;
}
