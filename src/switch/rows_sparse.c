// SPDX-License-Identifier: Apache-2.0
// Rows by the sparse system [H -B^T; G 0] (docs/theory/rows.md): the rows of the set are active in
// it, the others known forces. No matrix over all rows is formed.
#include "switch/rows_sparse.h"

#include <math.h>
#include <string.h>

#include "linalg/sparse.h"

// ---- creation -----------------------------------------------------------------------------------

// Entries of G by rows: of row i, entry[start[i] .. start[i+1]-1], in the columns `column`.
static void index_rows(PawlRowsSparse* s) {
  const PawlPattern* G = s->G;
  for (int e = 0; e < G->start[s->n]; e++) {
    s->row_start[G->index[e] + 1]++;
  }
  for (int i = 0; i < s->work.m; i++) {
    s->row_start[i + 1] += s->row_start[i];
  }
  for (int j = s->n - 1; j >= 0; j--) {  // row_start[i + 1] walks down to the start of row i
    for (int e = G->start[j + 1] - 1; e >= G->start[j]; e--) {
      int place = --s->row_start[G->index[e] + 1];
      s->row_entry[place] = e;
      s->row_column[place] = j;
    }
  }
  for (int i = 0; i < s->work.m; i++) {
    s->row_start[i] = s->row_start[i + 1];
  }
  s->row_start[s->work.m] = G->start[s->n];
}

static void find_diagonal(PawlRowsSparse* s) {
  for (int j = 0; j < s->n; j++) {
    s->diagonal[j] = -1;
    for (int e = s->H->start[j]; e < s->H->start[j + 1]; e++) {
      s->diagonal[j] = s->H->index[e] == j ? e : s->diagonal[j];
    }
  }
}

static bool alloc(PawlRowsSparse* s, PawlArena* arena, int m) {
  int entries = s->G->start[s->n];
  double** of_n[] = {&s->x, &s->inertia, &s->room};
  double** of_m[] = {&s->y, &s->mobility};
  bool ok = pawl_rows_work_alloc(&s->work, arena, m);
  for (size_t k = 0; k < sizeof of_n / sizeof *of_n; k++) {
    ok = ok && (*of_n[k] = PAWL_NEW(arena, double, s->n)) != NULL;
  }
  for (size_t k = 0; k < sizeof of_m / sizeof *of_m; k++) {
    ok = ok && (*of_m[k] = PAWL_NEW(arena, double, m)) != NULL;
  }
  s->row_start = PAWL_NEW(arena, int, m + 2);
  s->row_entry = PAWL_NEW(arena, int, entries + 1);
  s->row_column = PAWL_NEW(arena, int, entries + 1);
  s->diagonal = PAWL_NEW(arena, int, s->n + 1);
  s->list = PAWL_NEW(arena, int, m + 1);
  s->kept = PAWL_NEW(arena, unsigned char, m);
  s->flags = PAWL_NEW(arena, unsigned char, m);
  return ok && s->row_start && s->row_entry && s->row_column && s->diagonal && s->list && s->kept &&
         s->flags;
}

// ---- the three operations -----------------------------------------------------------------------

// Takes out the rows that follow from others.                                              (R4)
static PawlStatus drop_dependent(PawlRowsSparse* s, unsigned char* in) {
  int column, count = 0;
  PAWL_TRY(pawl_kkt_diagnose(s->kkt, s->values_H, s->values_G, in, &column, s->flags));
  for (int i = 0; i < s->work.m; i++) {
    count += in[i] && s->flags[i];
    in[i] = in[i] && !s->flags[i];
  }
  return column >= 0 || count == 0 ? PAWL_RETRY : PAWL_OK;
}

static PawlStatus factor(PawlRowsWork* k) {
  PawlRowsSparse* s = k->self;
  if (s->factored && memcmp(s->kept, k->in, (size_t)k->m) == 0) {
    return PAWL_OK;
  }
  s->factored = false;
  PawlStatus status = pawl_kkt_factor(s->kkt, s->values_H, s->values_B, s->values_G, k->in);
  if (status == PAWL_RETRY && k->independent) {
    k->dependent = true;
    return PAWL_RETRY;
  }
  if (status == PAWL_RETRY) {
    PAWL_TRY(drop_dependent(s, k->in));
    status = pawl_kkt_factor(s->kkt, s->values_H, s->values_B, s->values_G, k->in);
  }
  PAWL_TRY(status);
  memcpy(s->kept, k->in, (size_t)k->m);
  s->factored = true;
  return PAWL_OK;
}

// Terms of x_j are the forces on coordinate j by its inertia; those of w_i follow from them.
static void sizes(PawlRowsWork* k) {
  PawlRowsSparse* s = k->self;
  const PawlPattern* G = s->G;
  memset(k->size, 0, (size_t)k->m * sizeof(double));
  for (int i = 0; i < k->m; i++) {
    k->given[i] = fabs(s->b[i]);
  }
  for (int j = 0; j < s->n; j++) {
    double given = fabs(s->r[j]), carried = 0.0;
    double mobility = s->inertia[j] > 0.0 ? 1.0 / s->inertia[j] : 0.0;
    for (int e = G->start[j]; e < G->start[j + 1]; e++) {
      double force = fabs(s->values_B[e] * k->lambda[G->index[e]]);
      *(k->in[G->index[e]] ? &carried : &given) += force;
    }
    for (int e = G->start[j]; e < G->start[j + 1]; e++) {
      double value = fabs(s->values_G[e]);
      k->given[G->index[e]] += value * fmax(given * mobility, fabs(s->x[j]));
      k->size[G->index[e]] += value * carried * mobility;
    }
  }
  for (int i = 0; i < k->m; i++) {
    k->size[i] = PAWL_ROWS_CARRIED * k->size[i] + k->given[i];
  }
}

// w = G x + b; whether more than rounding is left of it in the set.
static bool residual(PawlRowsWork* k) {
  PawlRowsSparse* s = k->self;
  bool more = false;
  memcpy(k->w, s->b, (size_t)k->m * sizeof(double));
  pawl_sparse_add(s->G, s->values_G, 1.0, s->x, k->w);
  for (int i = 0; i < k->m; i++) {
    more |= k->in[i] && !pawl_rows_exact(k, i);
  }
  return more;
}

// Solves for what is left of the equations, and adds it.
static void correct(PawlRowsWork* k) {
  PawlRowsSparse* s = k->self;
  memcpy(s->room, s->r, (size_t)s->n * sizeof(double));
  pawl_sparse_add(s->H, s->values_H, -1.0, s->x, s->room);
  pawl_sparse_add_transposed(s->G, s->values_B, 1.0, k->lambda, s->room);
  for (int i = 0; i < k->m; i++) {
    s->y[i] = k->in[i] ? -k->w[i] : 0.0;
  }
  pawl_kkt_solve(s->kkt, s->room, s->y);
  for (int j = 0; j < s->n; j++) {
    s->x[j] += s->room[j];
  }
  for (int i = 0; i < k->m; i++) {
    k->lambda[i] += k->in[i] ? s->y[i] : 0.0;
  }
}

static void solve(PawlRowsWork* k) {  // (R3)
  PawlRowsSparse* s = k->self;
  memcpy(s->x, s->r, (size_t)s->n * sizeof(double));
  for (int i = 0; i < k->m; i++) {
    k->lambda[i] = k->in[i] ? -s->b[i] : k->lambda[i];
  }
  pawl_kkt_solve(s->kkt, s->x, k->lambda);
  sizes(k);
  if (residual(k)) {
    correct(k);
    (void)residual(k);
  }
}

static double move(PawlRowsWork* k, int p) {
  PawlRowsSparse* s = k->self;
  double slope = 0.0, *x = s->room;
  memset(x, 0, (size_t)s->n * sizeof(double));
  memset(k->direction, 0, (size_t)k->m * sizeof(double));
  for (int e = s->row_start[p]; e < s->row_start[p + 1]; e++) {
    x[s->row_column[e]] = s->values_B[s->row_entry[e]];
  }
  pawl_kkt_solve(s->kkt, x, k->direction);
  k->direction[p] = 1.0;
  for (int e = s->row_start[p]; e < s->row_start[p + 1]; e++) {
    slope += s->values_G[s->row_entry[e]] * x[s->row_column[e]];
  }
  return slope;
}

// Row i comes in: the coordinates that are not held yet move until its w is 0, and are held then.
// Rows that are pulled by that are added to the list.
static void press(PawlRowsWork* k, int i, int* count) {
  PawlRowsSparse* s = k->self;
  double slope = 0.0, *mobile = s->room;
  for (int e = s->row_start[i]; e < s->row_start[i + 1]; e++) {
    int at = s->row_entry[e];
    slope += s->values_G[at] * s->values_B[at] * mobile[s->row_column[e]];
  }
  double force = slope > 0.0 ? -s->y[i] / slope : 0.0;
  for (int e = s->row_start[i]; e < s->row_start[i + 1]; e++) {
    int j = s->row_column[e];
    double way = s->values_B[s->row_entry[e]] * mobile[j] * force;
    mobile[j] = 0.0;
    for (int f = s->G->start[j]; way != 0.0 && f < s->G->start[j + 1]; f++) {
      int other = s->G->index[f];
      s->y[other] += s->values_G[f] * way;
      if (!k->in[other] && !k->tight[other] && pawl_rows_pull(k, other, s->y[other]) != 0) {
        k->tight[other] = 1;
        s->list[(*count)++] = other;
      }
    }
  }
}

static void spread(PawlRowsWork* k) {  // (R14)
  PawlRowsSparse* s = k->self;
  int count = 0;
  memcpy(s->y, k->w, (size_t)k->m * sizeof(double));
  for (int j = 0; j < s->n; j++) {
    bool held = s->inertia[j] <= 0.0;
    for (int e = s->G->start[j]; e < s->G->start[j + 1]; e++) {
      held |= k->in[s->G->index[e]] && s->values_G[e] != 0.0;
    }
    s->room[j] = held ? 0.0 : 1.0 / s->inertia[j];
  }
  for (int i = 0; i < k->m; i++) {
    s->list[count] = i;
    count += k->tight[i];
  }
  for (int next = 0; next < count; next++) {
    press(k, s->list[next], &count);
  }
}

static bool leads(const PawlRowsWork* k, int i) {
  const PawlRowsSparse* s = k->self;
  double own = fabs(k->lambda[i]) * sqrt(k->mobility[i]);
  for (int e = s->row_start[i]; e < s->row_start[i + 1]; e++) {
    int j = s->row_column[e];
    for (int f = s->G->start[j]; f < s->G->start[j + 1]; f++) {
      int other = s->G->index[f];
      if (k->tight[other] && fabs(k->lambda[other]) * sqrt(k->mobility[other]) > own) {
        return false;
      }
    }
  }
  return true;
}

// ---- interface ----------------------------------------------------------------------------------

PawlStatus pawl_rows_sparse_create(PawlRowsSparse* s, PawlArena* arena, const PawlPattern* H,
                                   const PawlPattern* G, PawlError* err) {
  static const PawlRowsOps sparse = {factor, solve, move, spread, leads};
  s->n = H->cols;
  s->H = H;
  s->G = G;
  if (!alloc(s, arena, G->rows)) {
    return pawl_fail_memory(err);
  }
  s->work.ops = &sparse;
  s->work.self = s;
  s->work.mobility = s->mobility;
  index_rows(s);
  find_diagonal(s);
  return pawl_kkt_create(H, G, PAWL_KKT_AUTO, &s->kkt, err);
}

// An estimate of D_ii: G_ij B_ij / H_jj, summed up.
void pawl_rows_sparse_set(PawlRowsSparse* s, const double* H, const double* B, const double* G) {
  s->values_H = H;
  s->values_B = B;
  s->values_G = G;
  s->factored = false;
  memset(s->mobility, 0, (size_t)s->work.m * sizeof(double));
  for (int j = 0; j < s->n; j++) {
    s->inertia[j] = s->diagonal[j] >= 0 ? H[s->diagonal[j]] : 0.0;
    for (int e = s->G->start[j]; s->inertia[j] > 0.0 && e < s->G->start[j + 1]; e++) {
      s->mobility[s->G->index[e]] += fabs(G[e] * B[e]) / s->inertia[j];
    }
  }
}

PawlStatus pawl_rows_sparse_solve(PawlRowsSparse* s, const double* r, const double* b,
                                  const PawlRowBounds* bounds, double* x, PawlRowsResult* result) {
  s->r = r;
  s->b = b;
  s->work.acting = 0.0;
  for (int j = 0; j < s->n; j++) {
    double force = s->inertia[j] > 0.0 ? fabs(r[j]) / sqrt(s->inertia[j]) : 0.0;
    s->work.acting = fmax(s->work.acting, force);
  }
  PawlStatus status = pawl_rows_pivot(&s->work, bounds, result);
  result->dependent = s->work.dependent;
  PAWL_TRY(status);
  memcpy(x, s->x, (size_t)s->n * sizeof(double));
  return PAWL_OK;
}
