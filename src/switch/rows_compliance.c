// SPDX-License-Identifier: Apache-2.0
// Rows by their dense compliance D, scaled to a diagonal near 1 (docs/theory/rows.md).
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/vector.h"
#include "switch/rows_impl.h"

struct PawlCompliance {
  PawlArena arena;
  int most;
  PawlRowsWork work;
  PawlShareRoom room;
  double* D;        // m-by-m, scaled: D_ij / (s_i s_j)
  double *s, *own;  // m: sqrt(D_ii) to a power of two, or 0 for a row that does not move; D_ii
  const double *q, *q_size;
  double* LU;           // rank-by-rank with leading dimension `order`
  int order, rank;      // rows of the set that was factored; those that are independent
  int* list;            // those, in the order of elimination
  unsigned char* set;   // m: the set that was factored, as it was asked for
  unsigned char* kept;  // m: what of it is independent
  bool factored;
  double* e;  // m
};

// ---- factorisation ------------------------------------------------------------------------------

static void swap_row_and_column(PawlCompliance* c, int a, int b) {
  int n = c->order;
  double* A = c->LU;
  for (int j = 0; j < n && a != b; j++) {
    double t = A[a + j * n];
    A[a + j * n] = A[b + j * n];
    A[b + j * n] = t;
  }
  for (int i = 0; i < n && a != b; i++) {
    double t = A[i + a * n];
    A[i + a * n] = A[i + b * n];
    A[i + b * n] = t;
  }
  int row = c->list[a];
  c->list[a] = c->list[b];
  c->list[b] = row;
}

// The first row that has at least a tenth of the largest pivot left, bilateral rows before others;
// -1 when those that are left follow from those taken.                                     (R4)
static int next_pivot(const PawlCompliance* c, int k) {
  static const double GOOD = 0.1;
  int n = c->order;
  for (int pass = 0; pass < 2; pass++) {
    double most = PAWL_DEPENDENT_PIVOT / GOOD;
    int first = -1;
    for (int i = k; i < n; i++) {
      bool now = pass == 1 || pawl_rows_bilateral(c->work.bounds, c->list[i]);
      most = now ? fmax(most, c->LU[i + i * n]) : most;
    }
    for (int i = k; i < n; i++) {
      bool now = pass == 1 || pawl_rows_bilateral(c->work.bounds, c->list[i]);
      if (now && c->LU[i + i * n] >= GOOD * most && (first < 0 || c->list[i] < c->list[first])) {
        first = i;
      }
    }
    if (first >= 0) {
      return first;
    }
  }
  return -1;
}

static void eliminate(PawlCompliance* c, int k) {
  int n = c->order;
  double *pivot = c->LU + k * n, inverse = 1.0 / pivot[k];
  pivot[k] = inverse;
  for (int i = k + 1; i < n; i++) {
    pivot[i] *= inverse;
  }
  for (int j = k + 1; j < n; j++) {
    double* a = c->LU + j * n;
    for (int i = k + 1; i < n; i++) {
      a[i] -= pivot[i] * a[k];
    }
  }
}

static void gather(PawlCompliance* c) {
  int n = 0, m = c->work.m;
  for (int i = 0; i < m; i++) {
    c->list[n] = i;
    n += c->set[i];
  }
  c->order = n;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      c->LU[i + j * n] = c->D[c->list[i] + c->list[j] * m];
    }
  }
}

static PawlStatus factor(PawlRowsWork* work) {
  PawlCompliance* c = work->self;
  size_t m = (size_t)work->m;
  bool same = memcmp(c->set, work->in, m) == 0 || memcmp(c->kept, work->in, m) == 0;
  if (!c->factored || !same) {
    memcpy(c->set, work->in, m);
    memset(c->kept, 0, m);
    gather(c);
    c->rank = 0;
    for (int i = 0; c->rank < c->order && (i = next_pivot(c, c->rank)) >= 0; c->rank++) {
      swap_row_and_column(c, c->rank, i);
      eliminate(c, c->rank);
      c->kept[c->list[c->rank]] = 1;
    }
    c->factored = true;
  }
  memcpy(work->in, c->kept, m);
  return PAWL_OK;
}

static void substitute(const PawlCompliance* c, double* e) {
  int n = c->order;
  assert(c->factored && c->rank <= n);
  for (int k = 0; k < c->rank; k++) {
    pawl_add_scaled(c->rank - k - 1, e + k + 1, -e[k], c->LU + k * n + k + 1);
  }
  for (int k = c->rank - 1; k >= 0; k--) {
    const double* u = c->LU + k * n;
    e[k] *= u[k];
    pawl_add_scaled(k, e, -e[k], u);
  }
}

// ---- solution -----------------------------------------------------------------------------------

// w = D lambda + q and the size of its terms.
static void values(PawlRowsWork* k) {
  PawlCompliance* c = k->self;
  int m = k->m;
  for (int i = 0; i < m; i++) {
    k->w[i] = k->size[i] = k->given[i] = 0.0;
  }
  for (int j = 0; j < m; j++) {
    double force = k->lambda[j] * c->s[j];
    double* terms = k->in[j] ? k->size : k->given;
    const double* D = c->D + j * m;
    for (int i = 0; force != 0.0 && i < m; i++) {
      double w = D[i] * force;
      k->w[i] += w;
      terms[i] += fabs(w);
    }
  }
  for (int i = 0; i < m; i++) {
    k->w[i] = k->w[i] * c->s[i] + c->q[i];
    k->given[i] = k->given[i] * c->s[i] + fmax(fabs(c->q_size[i]), fabs(c->q[i]));
    k->size[i] = PAWL_ROWS_CARRIED * k->size[i] * c->s[i] + k->given[i];
  }
}

// lambda of the set, and again with what rounding leaves of w.                             (R3)
static void solve(PawlRowsWork* k) {
  enum { REPEATED = 3 };
  PawlCompliance* c = k->self;
  bool more = true;
  for (int i = 0; i < k->m; i++) {
    k->lambda[i] = k->in[i] ? 0.0 : k->lambda[i];
  }
  values(k);
  for (int repeat = 0; c->rank > 0 && more && repeat < REPEATED; repeat++) {
    for (int a = 0; a < c->rank; a++) {
      c->e[a] = -k->w[c->list[a]] / c->s[c->list[a]];
    }
    substitute(c, c->e);
    for (int a = 0; a < c->rank; a++) {
      k->lambda[c->list[a]] += c->e[a] / c->s[c->list[a]];
    }
    values(k);
    more = false;
    for (int a = 0; a < c->rank; a++) {
      more |= !pawl_rows_exact(k, c->list[a]);
    }
  }
}

static double move(PawlRowsWork* k, int p) {
  PawlCompliance* c = k->self;
  int m = k->m;
  double slope = c->D[p + p * m];
  memset(k->direction, 0, (size_t)m * sizeof(double));
  k->direction[p] = 1.0;
  for (int a = 0; a < c->rank; a++) {
    c->e[a] = -c->D[c->list[a] + p * m];
  }
  substitute(c, c->e);
  for (int a = 0; a < c->rank; a++) {
    int i = c->list[a];
    slope += c->D[p + i * m] * c->e[a];
    k->direction[i] = c->e[a] * c->s[p] / c->s[i];
  }
  return slope * c->s[p] * c->s[p];
}

// ---- interface ----------------------------------------------------------------------------------

static bool build(PawlCompliance* c, int m) {
  static const PawlRowsOps dense = {factor, solve, move, NULL, NULL};
  PawlArena* arena = &c->arena;
  double** arrays[] = {&c->s, &c->own, &c->e};
  bool ok =
      pawl_rows_work_alloc(&c->work, arena, m) && pawl_share_room_alloc(&c->room, arena, m, m);
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
    ok = ok && (*arrays[k] = PAWL_NEW(arena, double, m)) != NULL;
  }
  c->D = PAWL_NEW(arena, double, (size_t)m*(size_t)m);
  c->LU = PAWL_NEW(arena, double, (size_t)m*(size_t)m);
  c->list = PAWL_NEW(arena, int, m + 1);
  c->set = PAWL_NEW(arena, unsigned char, m);
  c->kept = PAWL_NEW(arena, unsigned char, m);
  c->most = m;
  c->work.ops = &dense;
  c->work.self = c;
  c->work.mobility = c->own;
  c->work.room = &c->room;
  return ok && c->D && c->LU && c->list && c->set && c->kept;
}

PawlStatus pawl_compliance_create(int most_rows, PawlCompliance** out, PawlError* err) {
  PawlCompliance* c = pawl_alloc(1, sizeof *c);
  *out = c;
  if (!c || !build(c, most_rows)) {
    pawl_compliance_destroy(c);
    *out = NULL;
    return pawl_fail_memory(err);
  }
  return PAWL_OK;
}

void pawl_compliance_destroy(PawlCompliance* compliance) {
  if (compliance) {
    pawl_arena_free(&compliance->arena);
    pawl_free(compliance);
  }
}

// The square root of d, to a power of two: scaling adds no rounding.
static double root_power(double d) {
  int exponent;
  (void)frexp(d, &exponent);
  return ldexp(1.0, (exponent - (exponent & 1)) / 2);
}

PawlStatus pawl_compliance_set(PawlCompliance* c, int m, const double* D, const double* own) {
  bool finite = true;
  assert(m >= 0 && m <= c->most);
  c->work.m = m;
  c->factored = false;
  for (int i = 0; i < m; i++) {
    double d = D[i + i * m], least = own ? PAWL_DEPENDENT_PIVOT * own[i] : 0.0;
    c->own[i] = d > least ? d : 0.0;
    c->s[i] = c->own[i] > 0.0 ? root_power(c->own[i]) : 0.0;
  }
  for (int j = 0; j < m; j++) {
    for (int i = 0; i < m; i++) {
      double scale = c->s[i] * c->s[j];
      c->D[i + j * m] = scale > 0.0 ? D[i + j * m] / scale : 0.0;
      finite = finite && isfinite(D[i + j * m]);
    }
  }
  return finite ? PAWL_OK : PAWL_RETRY;
}

// lambda of one row such that w = 0, as solve() finds it, and w and its size there.       (R3)
static double lambda_of_one(const PawlCompliance* c, double* w, double* size, double given) {
  enum { REPEATED = 3 };
  double lambda = 0.0, D = c->D[0], inverse = 1.0 / D, scale = c->s[0];
  bool more = true;
  *w = c->q[0];
  for (int repeat = 0; more && repeat < REPEATED; repeat++) {
    lambda += -*w / scale * inverse / scale;
    double moved = D * (lambda * scale);
    *w = moved * scale + c->q[0];
    *size = PAWL_ROWS_CARRIED * fabs(moved) * scale + given;
    double terms = given + (*size - given) * (1.0 / PAWL_ROWS_CARRIED);
    more = fabs(*w) > PAWL_ROWS_EXACT * terms;
  }
  return lambda;
}

// A contact alone, from no guess or from open, where it is clear whether it pushes: what
// pawl_rows_pivot() would find, to the bit. False: nothing was found.
static bool solve_one(PawlCompliance* c, const PawlRowBounds* bounds, PawlRowsResult* result) {
  double q = c->q[0], given = fmax(fabs(c->q_size[0]), fabs(q)), slack = PAWL_ROWS_ROUNDING * given;
  double w = q, lambda = 0.0, size = given;
  bool open = result->state[0] == PAWL_ROW_UNKNOWN || result->state[0] == PAWL_ROW_LOW;
  if (!open || result->conflict || result->violation || bounds->lo[0] != 0.0 ||
      bounds->hi[0] != INFINITY || !(c->own[0] > 0.0) || !isfinite(given)) {
    return false;
  }
  bool pushes = q < -slack;
  if (pushes) {
    lambda = lambda_of_one(c, &w, &size, given);
    double least = PAWL_ROWS_ROUNDING * size;
    if (!isfinite(lambda) || fabs(w) > least || lambda <= least / c->own[0] ||
        size > 0.5 * PAWL_ROWS_DROWNED * given) {
      return false;
    }
  }
  result->lambda[0] = lambda;
  result->w[0] = pushes || fabs(q) <= slack ? 0.0 : q;
  result->state[0] = pushes ? PAWL_ROW_FREE : PAWL_ROW_LOW;
  result->conflicts = result->following = result->exchanges = 0;
  result->rounds = pushes ? 2 : 1;
  result->shared = true;
  return true;
}

PawlStatus pawl_compliance_solve(PawlCompliance* c, const double* q, const double* size,
                                 const PawlRowBounds* bounds, PawlRowsResult* result) {
  c->q = q;
  c->q_size = size ? size : q;
  if (c->work.m == 1 && solve_one(c, bounds, result)) {
    return PAWL_OK;
  }
  return pawl_rows_pivot(&c->work, bounds, result);
}
