// SPDX-License-Identifier: Apache-2.0
// The row problem: by hand, and on random small problems against a search through all sets of rows
// with a dense solution of its own. The conditions of docs/theory/rows.md are recomputed here.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "switch/rows.h"

enum { MOST_N = 6, MOST_M = 8 };
static const double NEAR = 1e-9;  // of the largest number of its kind: far above rounding here

typedef struct Case {
  int n, m;
  double H[MOST_N * MOST_N], G[MOST_M * MOST_N];  // by columns
  double r[MOST_N], b[MOST_M], lo[MOST_M], hi[MOST_M], weight[MOST_M];
} Case;

typedef struct Answer {
  bool exists;
  double x[MOST_N], w[MOST_M], lambda[MOST_M];
  unsigned char state[MOST_M], conflict[MOST_M];
  double violation[MOST_M];
  PawlRowsResult info;
} Answer;

static double entry(const Case* c, int i, int j) {
  return c->G[i + j * c->m];
}

// ---- the solver under test ----------------------------------------------------------------------

typedef struct Patterns {
  int start_H[MOST_N + 1], index_H[MOST_N * MOST_N];
  int start_G[MOST_N + 1], index_G[MOST_N * MOST_M];
  PawlPattern H, G;
} Patterns;

static void make_patterns(int n, int m, Patterns* p) {
  for (int j = 0; j <= n; j++) {
    p->start_H[j] = j * n;
    p->start_G[j] = j * m;
  }
  for (int e = 0; e < n * n; e++) {
    p->index_H[e] = e % n;
  }
  for (int e = 0; e < n * m; e++) {
    p->index_G[e] = e % m;
  }
  p->H = (PawlPattern){n, n, p->start_H, p->index_H};
  p->G = (PawlPattern){m, n, p->start_G, p->index_G};
}

static PawlStatus solve_with(PawlRows* rows, const Case* c, Answer* a) {
  PawlRowBounds bounds = {c->lo, c->hi, c->weight};
  a->info = (PawlRowsResult){.lambda = a->lambda,
                             .w = a->w,
                             .state = a->state,
                             .conflict = a->conflict,
                             .violation = a->violation};
  PawlStatus status = pawl_rows_matrices(rows, c->H, c->G, c->G);
  status = status == PAWL_OK ? pawl_rows_solve(rows, c->r, c->b, &bounds, a->x, &a->info) : status;
  a->exists = status == PAWL_OK && a->info.conflicts == 0;
  return status;
}

static PawlStatus solve_case(const Case* c, PawlRowsForm form, Answer* a) {
  Patterns p;
  PawlRows* rows;
  make_patterns(c->n, c->m, &p);
  assert_int_equal(pawl_rows_create(&p.H, &p.G, form, &rows, NULL), PAWL_OK);
  long long allocated = pawl_alloc_count();
  PawlStatus status = solve_with(rows, c, a);
  if (form == PAWL_ROWS_DENSE) {
    assert_int_equal(pawl_alloc_count(), allocated);
  }
  pawl_rows_destroy(rows);
  return status;
}

// ---- a search through all sets ------------------------------------------------------------------

// Gauss with complete pivoting on A (n-by-n by columns, destroyed): some y with A y = e, zero where
// A leaves a choice. Returns the rank, -1 when there is none (y is then one for a part of e).
static int gauss(int n, double* A, double* e, double* y) {
  int column[MOST_M + MOST_N], rank = 0;
  double top = 0.0, size = 0.0;
  for (int j = 0; j < n; j++) {
    column[j] = j;
    size = fmax(size, fabs(e[j]));
    for (int i = 0; i < n; i++) {
      top = fmax(top, fabs(A[i + j * n]));
    }
  }
  for (; rank < n; rank++) {
    int row = rank, col = rank;
    for (int j = rank; j < n; j++) {
      for (int i = rank; i < n; i++) {
        if (fabs(A[i + j * n]) > fabs(A[row + col * n])) {
          row = i;
          col = j;
        }
      }
    }
    if (fabs(A[row + col * n]) <= 1e-10 * top) {
      break;
    }
    for (int j = 0; j < n; j++) {
      double t = A[row + j * n];
      A[row + j * n] = A[rank + j * n];
      A[rank + j * n] = t;
    }
    for (int i = 0; i < n; i++) {
      double t = A[i + col * n];
      A[i + col * n] = A[i + rank * n];
      A[i + rank * n] = t;
    }
    double t = e[row];
    e[row] = e[rank];
    e[rank] = t;
    int k = column[col];
    column[col] = column[rank];
    column[rank] = k;
    for (int i = rank + 1; i < n; i++) {
      double f = A[i + rank * n] / A[rank + rank * n];
      for (int j = rank; j < n && f != 0.0; j++) {
        A[i + j * n] -= f * A[rank + j * n];
      }
      e[i] -= f * e[rank];
    }
  }
  for (int i = 0; i < n; i++) {
    y[i] = 0.0;
  }
  for (int i = rank - 1; i >= 0; i--) {
    double sum = e[i];
    for (int j = i + 1; j < rank; j++) {
      sum -= A[i + j * n] * y[column[j]];
    }
    y[column[i]] = sum / A[i + i * n];
  }
  for (int i = rank; i < n; i++) {
    if (fabs(e[i]) > NEAR * size) {
      return -1;
    }
  }
  return rank;
}

typedef struct Search {
  const Case* c;
  const unsigned char* on;  // rows that count, NULL: all
  double D[MOST_M * MOST_M], q[MOST_M], x0[MOST_N], X[MOST_N * MOST_M];
  double size_w, size_lambda;
} Search;

static bool fixed(const Search* s, int i) {
  return (s->on && !s->on[i]) || s->c->lo[i] == s->c->hi[i];
}

static void solve_H(const Case* c, const double* right, double* x) {
  double A[MOST_N * MOST_N], e[MOST_N];
  memcpy(A, c->H, sizeof A);
  memcpy(e, right, sizeof e);
  assert_int_equal(gauss(c->n, A, e, x), c->n);
}

static void prepare(const Case* c, const unsigned char* on, Search* s) {
  memset(s, 0, sizeof *s);
  s->c = c;
  s->on = on;
  solve_H(c, c->r, s->x0);
  for (int i = 0; i < c->m; i++) {
    double row[MOST_N] = {0};
    for (int j = 0; j < c->n; j++) {
      row[j] = entry(c, i, j);
    }
    solve_H(c, row, s->X + i * MOST_N);
  }
  for (int i = 0; i < c->m; i++) {
    s->q[i] = c->b[i];
    for (int j = 0; j < c->n; j++) {
      s->q[i] += entry(c, i, j) * s->x0[j];
      for (int k = 0; k < c->m; k++) {
        s->D[i + k * c->m] += entry(c, i, j) * s->X[j + k * MOST_N];
      }
    }
    s->size_w = fmax(s->size_w, fabs(s->q[i]) + fabs(c->b[i]));
    double f = fmin(fabs(c->lo[i]), fabs(c->hi[i]));
    for (int k = 0; k < c->m && isfinite(f); k++) {
      s->size_w = fmax(s->size_w, f * fabs(s->D[i + k * c->m]));
    }
  }
}

// lambda of the rows in `free` (independent) with the others at `lambda`; false when they depend.
static bool solve_set(const Search* s, const unsigned char* free_rows, double* lambda, double* w) {
  const Case* c = s->c;
  int list[MOST_M], f = 0, m = c->m;
  double A[MOST_M * MOST_M], e[MOST_M], y[MOST_M];
  for (int i = 0; i < m; i++) {
    list[f] = i;
    f += free_rows[i];
  }
  for (int a = 0; a < f; a++) {
    e[a] = -s->q[list[a]];
    for (int k = 0; k < m; k++) {
      e[a] -= free_rows[k] ? 0.0 : s->D[list[a] + k * m] * lambda[k];
    }
    for (int k = 0; k < f; k++) {
      A[a + k * f] = s->D[list[a] + list[k] * m];
    }
  }
  if (f > 0 && gauss(f, A, e, y) < f) {
    return false;
  }
  for (int a = 0; a < f; a++) {
    lambda[list[a]] = y[a];
  }
  for (int i = 0; i < m; i++) {
    w[i] = s->q[i];
    for (int k = 0; k < m; k++) {
      w[i] += s->D[i + k * m] * lambda[k];
    }
  }
  return true;
}

static bool fits(const Search* s, const double* lambda, const double* w) {
  const Case* c = s->c;
  double slack_w = NEAR * s->size_w;
  for (int i = 0; i < c->m; i++) {
    double D = s->D[i + i * c->m], slack = D > 0.0 ? slack_w / D : 0.0;
    if (fixed(s, i)) {
      continue;
    }
    bool low = lambda[i] <= c->lo[i] + slack, high = lambda[i] >= c->hi[i] - slack;
    if (lambda[i] < c->lo[i] - slack || lambda[i] > c->hi[i] + slack || (!low && w[i] > slack_w) ||
        (!high && w[i] < -slack_w)) {
      return false;
    }
  }
  return true;
}

// All sets from row i on: each row free or at a finite bound; a row without one also at 0.
static bool search(const Search* s, int i, unsigned char* free_rows, double* lambda, double* w) {
  const Case* c = s->c;
  if (i == c->m) {
    double trial[MOST_M];
    memcpy(trial, lambda, sizeof trial);
    bool found = solve_set(s, free_rows, trial, w) && fits(s, trial, w);
    if (found) {
      memcpy(lambda, trial, sizeof trial);
    }
    return found;
  }
  double lo = c->lo[i], hi = c->hi[i];
  free_rows[i] = 0;
  if (fixed(s, i)) {
    lambda[i] = s->on && !s->on[i] ? 0.0 : lo;
    return search(s, i + 1, free_rows, lambda, w);
  }
  free_rows[i] = 1;
  if (search(s, i + 1, free_rows, lambda, w)) {
    return true;
  }
  free_rows[i] = 0;
  double tried[] = {lo, hi, isinf(lo) && isinf(hi) ? 0.0 : INFINITY};
  for (int k = 0; k < 3; k++) {
    lambda[i] = tried[k];
    if (isfinite(tried[k]) && search(s, i + 1, free_rows, lambda, w)) {
      return true;
    }
  }
  return false;
}

// ---- the least lambda, by all sets again --------------------------------------------------------

typedef struct Least {
  Search* s;
  double force[MOST_N];  // to be made
  double best, lambda[MOST_M];
  unsigned char tight[MOST_M], free_rows[MOST_M];
  double trial[MOST_M];
} Least;

// sum (lambda/weight)^2 least over the free rows: u = A^T y, A A^T y = f.
static void try_least(Least* l) {
  const Case* c = l->s->c;
  double AA[MOST_N * MOST_N] = {0}, f[MOST_N], y[MOST_N], sum = 0.0;
  int n = c->n;
  for (int j = 0; j < n; j++) {
    f[j] = l->force[j];
    for (int i = 0; i < c->m; i++) {
      f[j] -= l->free_rows[i] ? 0.0 : entry(c, i, j) * l->trial[i];
      for (int k = 0; k < n && l->free_rows[i]; k++) {
        AA[j + k * n] += entry(c, i, j) * entry(c, i, k) * c->weight[i] * c->weight[i];
      }
    }
  }
  double largest = l->s->size_w, off = 0.0;  // some force, where all are rounding
  (void)gauss(n, AA, f, y);
  for (int i = 0; i < c->m; i++) {
    if (l->free_rows[i]) {
      l->trial[i] = 0.0;
      for (int j = 0; j < n; j++) {
        l->trial[i] += c->weight[i] * c->weight[i] * entry(c, i, j) * y[j];
      }
    }
    largest = fmax(largest, fabs(l->trial[i]));
  }
  for (int j = 0; j < n; j++) {
    double made = 0.0;
    for (int i = 0; i < c->m; i++) {
      made += entry(c, i, j) * l->trial[i];
    }
    off = fmax(off, fabs(made - l->force[j]));
  }
  if (off > NEAR * largest) {
    return;
  }
  for (int i = 0; i < c->m; i++) {
    if (l->trial[i] < c->lo[i] - NEAR * largest || l->trial[i] > c->hi[i] + NEAR * largest) {
      return;
    }
    sum += l->tight[i] ? l->trial[i] * l->trial[i] / (c->weight[i] * c->weight[i]) : 0.0;
  }
  if (sum < l->best) {
    l->best = sum;
    memcpy(l->lambda, l->trial, sizeof l->lambda);
  }
}

static void least(Least* l, int i) {
  const Case* c = l->s->c;
  if (i == c->m) {
    double kept[MOST_M];
    memcpy(kept, l->trial, sizeof kept);
    try_least(l);
    memcpy(l->trial, kept, sizeof kept);
    return;
  }
  l->free_rows[i] = l->tight[i];
  least(l, i + 1);
  for (int k = 0; k < 2 && l->tight[i]; k++) {
    double bound = k ? c->hi[i] : c->lo[i];
    if (isfinite(bound)) {
      double was = l->trial[i];
      l->free_rows[i] = 0;
      l->trial[i] = bound;
      least(l, i + 1);
      l->trial[i] = was;
    }
  }
}

// x, w and the least lambda, or that there is none.
static void search_all(const Case* c, Answer* a, bool with_least) {
  Search s;
  unsigned char free_rows[MOST_M] = {0};
  memset(a, 0, sizeof *a);
  prepare(c, NULL, &s);
  a->exists = search(&s, 0, free_rows, a->lambda, a->w);
  if (!a->exists) {
    return;
  }
  Least l = {.s = &s, .best = INFINITY};
  for (int j = 0; j < c->n; j++) {
    a->x[j] = s.x0[j];
    for (int i = 0; i < c->m; i++) {
      a->x[j] += s.X[j + i * MOST_N] * a->lambda[i];
      l.force[j] += entry(c, i, j) * a->lambda[i];
    }
  }
  for (int i = 0; i < c->m; i++) {
    l.tight[i] = c->lo[i] < c->hi[i] && fabs(a->w[i]) <= NEAR * s.size_w;
  }
  double trial[MOST_M], w[MOST_M];
  memcpy(trial, a->lambda, sizeof trial);
  if (with_least && !solve_set(&s, l.tight, trial, w)) {  // they depend on each other
    memcpy(l.trial, a->lambda, sizeof l.trial);
    least(&l, 0);
    assert_true(isfinite(l.best));
    memcpy(a->lambda, l.lambda, sizeof l.lambda);
  }
}

// ---- random problems ----------------------------------------------------------------------------

typedef struct Random {
  unsigned long long state;
} Random;

static double uniform(Random* r) {  // 0 .. 1
  r->state = r->state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(r->state >> 11) * 0x1p-53;
}

static int whole(Random* r, int low, int high) {
  return low + (int)(uniform(r) * (high - low + 1));
}

static double quarters(Random* r, int most) {  // so that ties are ties
  return 0.25 * whole(r, -4 * most, 4 * most);
}

static void random_bounds(Random* r, Case* c, int i) {
  int kind = whole(r, 0, 9);
  double force = quarters(r, 2), capacity = 0.25 * whole(r, 1, 12);
  c->lo[i] = kind < 3 ? -INFINITY : kind < 6 ? 0.0 : kind < 8 ? -capacity : kind < 9 ? force : 0.0;
  c->hi[i] = kind < 6 ? INFINITY : kind < 8 ? capacity : kind < 9 ? force : 0.0;
}

// Rows that repeat earlier ones or are sums of them; then often consistent, too.
static void random_rows(Random* r, Case* c) {
  for (int i = 0; i < c->m; i++) {
    int kind = whole(r, 0, 5), a = i > 0 ? whole(r, 0, i - 1) : 0,
        d = i > 0 ? whole(r, 0, i - 1) : 0;
    double f = i > 0 && kind < 2 ? (whole(r, 0, 1) ? 1.0 : quarters(r, 2)) : 0.0;
    double g = i > 0 && kind == 1 ? quarters(r, 1) : 0.0;
    for (int j = 0; j < c->n; j++) {
      double own = whole(r, 0, 2) ? quarters(r, 1) : 0.0;
      c->G[i + j * c->m] = f != 0.0 || g != 0.0 ? f * entry(c, a, j) + g * entry(c, d, j) : own;
    }
    bool agrees = (f != 0.0 || g != 0.0) && whole(r, 0, 3) > 0;
    c->b[i] = agrees ? f * c->b[a] + g * c->b[d] : whole(r, 0, 1) ? quarters(r, 2) : 0.0;
    random_bounds(r, c, i);
  }
}

static void random_case(Random* r, Case* c) {
  memset(c, 0, sizeof *c);
  int large = whole(r, 0, 99);
  c->n = whole(r, 1, MOST_N - 1);
  c->m = large < 60 ? whole(r, 1, 4) : large < 95 ? whole(r, 5, 6) : whole(r, 7, 8);
  double A[MOST_N * MOST_N];
  bool coupled = whole(r, 0, 1);
  for (int e = 0; e < c->n * c->n; e++) {
    A[e] = coupled ? quarters(r, 1) : 0.0;
  }
  for (int j = 0; j < c->n; j++) {
    for (int i = 0; i < c->n; i++) {
      c->H[i + j * c->n] = i == j ? 0.25 * whole(r, 1, 8) : 0.0;
      for (int k = 0; k < c->n; k++) {
        c->H[i + j * c->n] += A[i + k * c->n] * A[j + k * c->n];
      }
    }
    c->r[j] = whole(r, 0, 1) ? quarters(r, 2) : 0.0;
  }
  for (int j = 0; j < c->n; j++) {
    for (int i = 0; i < j; i++) {
      c->H[j + i * c->n] = c->H[i + j * c->n];
    }
  }
  random_rows(r, c);
  bool weighed = whole(r, 0, 2) == 0;
  for (int i = 0; i < c->m; i++) {
    c->weight[i] = weighed ? 0.5 * whole(r, 1, 4) : 1.0;
  }
}

// ---- checks -------------------------------------------------------------------------------------

static double largest(int n, const double* x) {
  double top = 0.0;
  for (int i = 0; i < n; i++) {
    top = fmax(top, fabs(x[i]));
  }
  return top;
}

// (R1), recomputed; rows that were given up excepted.
static void check_conditions(const Case* c, const Answer* a) {
  double top = largest(c->n, c->r) + largest(c->m, a->lambda);
  for (int j = 0; j < c->n; j++) {
    double sum = -c->r[j];
    for (int i = 0; i < c->n; i++) {
      sum += c->H[j + i * c->n] * a->x[i];
    }
    for (int i = 0; i < c->m; i++) {
      sum -= entry(c, i, j) * a->lambda[i];
    }
    CHECK_NEAR(sum, 0.0, 1e-11 * top);
  }
  double slack = 1e-11 * (largest(c->m, c->b) + largest(c->n, a->x) + top);
  for (int i = 0; i < c->m; i++) {
    double w = c->b[i], lambda = a->lambda[i];
    for (int j = 0; j < c->n; j++) {
      w += entry(c, i, j) * a->x[j];
    }
    CHECK_NEAR(a->w[i], w, slack);
    assert_true(lambda >= c->lo[i] && lambda <= c->hi[i]);
    if (a->state[i] == PAWL_ROW_UNKNOWN || c->lo[i] == c->hi[i]) {
      continue;
    }
    assert_true(w >= -slack || lambda == c->hi[i]);
    assert_true(w <= slack || lambda == c->lo[i]);
    bool between = lambda > c->lo[i] && lambda < c->hi[i];
    assert_true(between == (a->state[i] == PAWL_ROW_FREE || a->state[i] == PAWL_ROW_FOLLOWS));
  }
}

// The rows of `on` alone can hold, with b less `moved` (m, may be NULL).
static bool feasible(const Case* c, const unsigned char* on, const double* moved) {
  Search s;
  unsigned char free_rows[MOST_M] = {0};
  double lambda[MOST_M] = {0}, w[MOST_M];
  prepare(c, on, &s);
  for (int i = 0; moved && i < c->m; i++) {
    s.q[i] -= moved[i];
  }
  return search(&s, 0, free_rows, lambda, w);
}

// The set named cannot hold, any part of it can, and with the violation taken away it can as well.
static void check_conflict(const Case* c, const Answer* a) {
  unsigned char on[MOST_M];
  memcpy(on, a->conflict, sizeof on);
  assert_false(feasible(c, on, NULL));
  for (int i = 0; i < c->m; i++) {
    if (on[i]) {
      on[i] = 0;
      assert_true(feasible(c, on, NULL));
      on[i] = 1;
    }
  }
  assert_true(feasible(c, on, a->violation));
}

// The largest number of the problem and its solution: all are near 1 or zero here.
static double size_of(const Case* c, const Answer* a) {
  double size = largest(c->n, a->x) + largest(c->m, a->lambda);
  size += largest(c->n, c->r) + largest(c->m, c->b);
  for (int i = 0; i < c->m; i++) {
    size = fmax(size, isfinite(c->lo[i]) ? fabs(c->lo[i]) : 0.0);
  }
  return size;
}

static void check_same(const Case* c, const Answer* a, const Answer* b, double tolerance) {
  double size = size_of(c, b);
  for (int j = 0; j < c->n; j++) {
    CHECK_NEAR(a->x[j], b->x[j], tolerance * size);
  }
  for (int i = 0; i < c->m; i++) {
    CHECK_NEAR(a->w[i], b->w[i], tolerance * size);
    CHECK_NEAR(a->lambda[i], b->lambda[i], tolerance * size);
  }
}

// Rows in the state FOLLOWS are those of the free ones that add nothing to the rank.
static void check_following(const Case* c, const Answer* a) {
  Search s;
  unsigned char free_rows[MOST_M] = {0};
  double lambda[MOST_M] = {0}, w[MOST_M];
  int count = 0;
  prepare(c, NULL, &s);
  for (int i = 0; i < c->m; i++) {
    bool follows = a->state[i] == PAWL_ROW_FOLLOWS;
    count += follows;
    if (!follows && a->state[i] != PAWL_ROW_FREE) {
      continue;
    }
    free_rows[i] = 1;
    assert_true(solve_set(&s, free_rows, lambda, w) == !follows);
    free_rows[i] = !follows;
  }
  assert_int_equal(count, a->info.following);
}

static void scale_case(const Case* c, double length, double mass, double time, Case* out) {
  double rate = length / (time * time), force = mass * rate;
  *out = *c;
  for (int j = 0; j < c->n; j++) {
    double arm_j = j % 2 ? length : 1.0;  // angles and lengths in turn
    for (int i = 0; i < c->n; i++) {
      out->H[i + j * c->n] *= mass * arm_j * (i % 2 ? length : 1.0);
    }
    for (int i = 0; i < c->m; i++) {
      out->G[i + j * c->m] *= arm_j;
    }
    out->r[j] *= force * arm_j;
  }
  for (int i = 0; i < c->m; i++) {
    out->b[i] *= rate;
    out->lo[i] *= force;
    out->hi[i] *= force;
  }
}

static void check_units(const Case* c, const Answer* a, Random* r) {
  static const double SCALES[] = {1e-4, 1.0, 1e4};
  Case scaled;
  Answer b = {0};
  scale_case(c, SCALES[whole(r, 0, 2)], SCALES[whole(r, 0, 2)], SCALES[whole(r, 0, 2)], &scaled);
  assert_int_equal(solve_case(&scaled, PAWL_ROWS_DENSE, &b), PAWL_OK);
  assert_true(a->exists == b.exists);
  if (a->exists) {
    assert_memory_equal(a->state, b.state, (size_t)c->m);
  }
}

// A start from the solution, and from states without sense.
static void check_warm(const Case* c, const Answer* a, Random* r) {
  Answer b = *a;
  assert_int_equal(solve_case(c, PAWL_ROWS_DENSE, &b), PAWL_OK);
  assert_true(a->exists == b.exists);
  if (a->exists) {
    assert_memory_equal(a->state, b.state, (size_t)c->m);
    check_same(c, &b, a, 1e-11);
  }
  for (int i = 0; i < c->m; i++) {
    b.state[i] = (unsigned char)whole(r, 0, 4);
  }
  assert_int_equal(solve_case(c, PAWL_ROWS_DENSE, &b), PAWL_OK);
  assert_true(a->exists == b.exists);
  if (a->exists) {
    assert_memory_equal(a->state, b.state, (size_t)c->m);
    check_same(c, &b, a, 1e-11);
  }
}

static void check_sparse(const Case* c, const Answer* a) {
  Answer b = {0};
  assert_int_equal(solve_case(c, PAWL_ROWS_SPARSE, &b), PAWL_OK);
  check_conditions(c, &b);
  assert_true(a->exists == b.exists);
  if (a->exists) {
    assert_memory_equal(a->state, b.state, (size_t)c->m);
    check_same(c, &b, a, 1e-10);
  } else {
    check_conflict(c, &b);
  }
}

static void check_case(const Case* c, Random* r) {
  Answer a = {0}, b;
  assert_int_equal(solve_case(c, PAWL_ROWS_DENSE, &a), PAWL_OK);
  assert_true(a.info.shared);
  check_conditions(c, &a);
  search_all(c, &b, true);
  if (a.exists != b.exists) {
    print_error("exists %d, by search %d\n", a.exists, b.exists);
  }
  assert_true(a.exists == b.exists);
  if (a.exists) {
    check_same(c, &a, &b, 1e-8);
    check_following(c, &a);
  } else {
    check_conflict(c, &a);
  }
  check_units(c, &a, r);
  check_warm(c, &a, r);
  if (whole(r, 0, 3) == 0) {
    check_sparse(c, &a);
  }
}

static void test_random(void** state) {
  (void)state;
  enum { CASES = 100000 };
  for (int k = 0; k < CASES; k++) {
    Random r = {(unsigned long long)k * 7919 + 17};
    Case c;
    (void)uniform(&r);
    random_case(&r, &c);
    check_case(&c, &r);
  }
}

// ---- by hand ------------------------------------------------------------------------------------

// A case with unit masses, weights 1 and nothing acting.
static Case unit_case(int n, int m) {
  Case c = {.n = n, .m = m};
  for (int j = 0; j < n; j++) {
    c.H[j + j * n] = 1.0;
  }
  for (int i = 0; i < m; i++) {
    c.weight[i] = 1.0;
    c.hi[i] = INFINITY;
  }
  return c;
}

static void set_row(Case* c, int i, double lo, double hi, const double* gradient) {
  c->lo[i] = lo;
  c->hi[i] = hi;
  for (int j = 0; j < c->n; j++) {
    c->G[i + j * c->m] = gradient[j];
  }
}

static Answer solved(const Case* c) {
  Answer a = {0}, b = {0};
  assert_int_equal(solve_case(c, PAWL_ROWS_DENSE, &a), PAWL_OK);
  assert_int_equal(solve_case(c, PAWL_ROWS_SPARSE, &b), PAWL_OK);
  check_conditions(c, &a);
  assert_int_equal(a.info.conflicts, b.info.conflicts);
  if (a.exists) {
    check_same(c, &a, &b, 1e-14);
  }
  return a;
}

// A body of 1 kg pushed with 10 N is held by brakes of 3 N and 9 N: in proportion. With 2 N, too; a
// rigid row besides carries all of it.
static void test_brakes_share_in_proportion(void** state) {
  (void)state;
  static const double ALONG[] = {1.0};
  Case c = unit_case(1, 3);
  set_row(&c, 0, -3.0, 3.0, ALONG);
  set_row(&c, 1, -9.0, 9.0, ALONG);
  set_row(&c, 2, 0.0, 0.0, ALONG);
  c.weight[0] = sqrt(3.0);
  c.weight[1] = sqrt(9.0);
  c.weight[2] = INFINITY;
  c.r[0] = 10.0;
  Answer a = solved(&c);
  CHECK_NEAR(a.lambda[0], -2.5, 1e-14);
  CHECK_NEAR(a.lambda[1], -7.5, 1e-14);
  assert_int_equal(a.info.following, 1);
  assert_int_equal(a.state[1], PAWL_ROW_FOLLOWS);
  c.hi[2] = 4.0;  // pushes only the same way: of no use
  a = solved(&c);
  CHECK_NEAR(a.lambda[2], 0.0, 1e-15);
  CHECK_NEAR(a.lambda[1], -7.5, 1e-14);
  c.lo[2] = -4.0;  // takes what it can
  a = solved(&c);
  CHECK_NEAR(a.lambda[2], -4.0, 1e-15);
  CHECK_NEAR(a.lambda[0], -1.5, 1e-14);
  c.lo[2] = -INFINITY;
  a = solved(&c);
  CHECK_NEAR(a.lambda[2], -10.0, 1e-14);
  CHECK_NEAR(a.lambda[0], 0.0, 1e-14);
  c.lo[2] = c.hi[2] = 0.0;
  c.r[0] = 13.0;  // beyond 3 N + 9 N: both slip, with 1 N left for 1 kg
  a = solved(&c);
  CHECK_NEAR(a.x[0], 1.0, 1e-14);
  assert_true(a.lambda[0] == -3.0 && a.lambda[1] == -9.0);
  assert_true(a.state[0] == PAWL_ROW_LOW && a.state[1] == PAWL_ROW_LOW);
}

// A table on four legs, 8 N: over its middle all carry the same; over a leg, that leg.
static void test_table_on_four_legs(void** state) {
  (void)state;
  static const double LEGS[4][3] = {{1, -1, -1}, {1, 1, -1}, {1, 1, 1}, {1, -1, 1}};
  Case c = unit_case(3, 4);
  for (int i = 0; i < 4; i++) {
    set_row(&c, i, 0.0, INFINITY, LEGS[i]);
  }
  c.r[0] = -8.0;
  Answer a = solved(&c);
  for (int i = 0; i < 4; i++) {
    CHECK_NEAR(a.lambda[i], 2.0, 1e-14);
  }
  assert_int_equal(a.info.following, 1);
  c.r[1] = 8.0;
  c.r[2] = 8.0;
  a = solved(&c);
  CHECK_NEAR(a.lambda[0], 8.0, 1e-13);
  for (int i = 1; i < 4; i++) {
    assert_true(a.lambda[i] == 0.0 && a.w[i] == 0.0 && a.state[i] == PAWL_ROW_LOW);
  }
}

// A lock holds what a stop moves at 2: the two cannot both hold, and half of it each would do.
static void test_lock_against_a_moving_stop(void** state) {
  (void)state;
  static const double ALONG[] = {1.0, 0.0}, ACROSS[] = {0.0, 1.0};
  Case c = unit_case(2, 3);
  set_row(&c, 0, -INFINITY, INFINITY, ALONG);
  set_row(&c, 1, 0.0, INFINITY, ACROSS);
  set_row(&c, 2, 0.0, INFINITY, ALONG);
  c.b[2] = -2.0;
  Answer a = solved(&c);
  assert_int_equal(a.info.conflicts, 1);
  assert_true(a.conflict[0] && !a.conflict[1] && a.conflict[2]);
  assert_int_equal(a.state[2], PAWL_ROW_UNKNOWN);
  CHECK_NEAR(a.violation[0], 1.0, 1e-15);  // 0 + 1 = 2 - 1
  CHECK_NEAR(a.violation[2], -1.0, 1e-15);
  CHECK_NEAR(a.w[2], -2.0, 1e-15);
  c.b[2] = 2.0;
  a = solved(&c);
  assert_int_equal(a.info.conflicts, 0);
}

// A coordinate without inertia, held by an equation, or by a contact that is pressed; and by none.
static void test_coordinate_without_inertia(void** state) {
  (void)state;
  static const double SUM[] = {1.0, 1.0}, SECOND[] = {0.0, 1.0};
  Case c = unit_case(2, 2);
  Answer a = {0};
  c.H[3] = 0.0;
  set_row(&c, 0, -INFINITY, INFINITY, SUM);
  set_row(&c, 1, -1.0, 1.0, SECOND);
  c.r[0] = 3.0;
  assert_int_equal(solve_case(&c, PAWL_ROWS_DENSE, &a), PAWL_RETRY);
  assert_int_equal(solve_case(&c, PAWL_ROWS_AUTO, &a), PAWL_OK);
  CHECK_NEAR(a.x[0] + a.x[1], 0.0, 1e-15);
  check_conditions(&c, &a);
  c.lo[0] = c.hi[0] = 0.0;
  c.lo[1] = 0.0;
  c.hi[1] = INFINITY;
  c.r[1] = -2.0;
  memset(a.state, 0, sizeof a.state);
  assert_int_equal(solve_case(&c, PAWL_ROWS_AUTO, &a), PAWL_OK);
  CHECK_NEAR(a.lambda[1], 2.0, 1e-15);
  c.hi[1] = 0.0;
  assert_int_equal(solve_case(&c, PAWL_ROWS_AUTO, &a), PAWL_RETRY);
}

// The layer of compliances, with rows eliminated before: a row that they hold does not move.
static void test_compliance_of_held_row(void** state) {
  (void)state;
  static const double D[] = {2.0, 0.0, 0.0, 1e-17}, OWN[] = {2.0, 1.0};
  static const double LO[] = {0.0, 0.0}, HI[] = {INFINITY, INFINITY};
  double q[] = {-4.0, 1.0}, lambda[2], w[2];
  unsigned char states[2] = {0}, conflict[2];
  PawlRowBounds bounds = {LO, HI, NULL};
  PawlRowsResult result = {.lambda = lambda, .w = w, .state = states, .conflict = conflict};
  PawlCompliance* compliance;
  assert_int_equal(pawl_compliance_create(4, &compliance, NULL), PAWL_OK);
  assert_int_equal(pawl_compliance_set(compliance, 2, D, OWN), PAWL_OK);
  long long allocated = pawl_alloc_count();
  assert_int_equal(pawl_compliance_solve(compliance, q, NULL, &bounds, &result), PAWL_OK);
  assert_true(lambda[0] == 2.0 && lambda[1] == 0.0 && result.conflicts == 0);
  q[1] = -1.0;
  assert_int_equal(pawl_compliance_solve(compliance, q, NULL, &bounds, &result), PAWL_OK);
  assert_true(result.conflicts == 1 && !conflict[0] && conflict[1]);
  q[0] = NAN;
  assert_int_equal(pawl_compliance_solve(compliance, q, NULL, &bounds, &result), PAWL_RETRY);
  assert_int_equal(pawl_alloc_count(), allocated);
  pawl_compliance_destroy(compliance);
}

// ---- large ones ---------------------------------------------------------------------------------

typedef struct Large {
  int n, m, entries;
  int *start_H, *index_H, *start_G, *index_G;
  double *H, *G, *r, *b, *lo, *hi, *weight;
  PawlPattern pattern_H, pattern_G;
} Large;

static void* room(size_t count, size_t size) {
  void* memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

// Masses in a line, coupled to their neighbours; room for `width` rows on each.
static Large large_case(int n, int m, int width, double coupling) {
  Large l = {.n = n, .m = m};
  size_t entries = (size_t)n * (size_t)width;
  double** of_m[] = {&l.b, &l.lo, &l.hi, &l.weight};
  l.start_H = room((size_t)n + 1, sizeof(int));
  l.index_H = room(3 * (size_t)n, sizeof(int));
  l.H = room(3 * (size_t)n, sizeof(double));
  l.r = room((size_t)n, sizeof(double));
  l.start_G = room((size_t)n + 1, sizeof(int));
  l.index_G = room(entries, sizeof(int));
  l.G = room(entries, sizeof(double));
  for (size_t k = 0; k < sizeof of_m / sizeof *of_m; k++) {
    *of_m[k] = room((size_t)m, sizeof(double));
  }
  for (int j = 0, e = 0; j < n; j++) {
    for (int i = j > 0 ? j - 1 : 0; i <= j + 1 && i < n; i++) {
      l.index_H[e] = i;
      l.H[e++] = i == j ? 1.0 : coupling;
    }
    l.start_H[j + 1] = e;
  }
  l.pattern_H = (PawlPattern){n, n, l.start_H, l.index_H};
  l.pattern_G = (PawlPattern){m, n, l.start_G, l.index_G};
  return l;
}

static void add_entry(Large* l, int row, double value) {
  l->index_G[l->entries] = row;
  l->G[l->entries++] = value;
}

static void free_large(Large* l) {
  void* all[] = {l->start_H, l->index_H, l->start_G, l->index_G, l->H,     l->G,
                 l->r,       l->b,       l->lo,      l->hi,      l->weight};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    free(all[k]);
  }
}

typedef struct LargeAnswer {
  double *x, *lambda, *w;
  unsigned char* state;
  PawlRowsResult info;
} LargeAnswer;

static LargeAnswer large_answer(const Large* l) {
  LargeAnswer a = {room((size_t)l->n, sizeof(double)),
                   room((size_t)l->m, sizeof(double)),
                   room((size_t)l->m, sizeof(double)),
                   room((size_t)l->m, 1),
                   {0}};
  a.info = (PawlRowsResult){.lambda = a.lambda, .w = a.w, .state = a.state};
  return a;
}

static void free_answer(LargeAnswer* a) {
  free(a->x);
  free(a->lambda);
  free(a->w);
  free(a->state);
}

static PawlStatus solve_large(const Large* l, PawlRows* rows, LargeAnswer* a) {
  PawlRowBounds bounds = {l->lo, l->hi, l->weight};
  PawlStatus status = pawl_rows_matrices(rows, l->H, l->G, l->G);
  return status == PAWL_OK ? pawl_rows_solve(rows, l->r, l->b, &bounds, a->x, &a->info) : status;
}

// 200 rows of all kinds on 120 masses, each on up to three neighbours; x = 0 satisfies them.
static Large random_large(Random* r) {
  Large l = large_case(120, 200, 200, 0.25);
  for (int i = 0; i < l.m; i++) {
    Case one = {.m = 1};
    random_bounds(r, &one, 0);
    l.lo[i] = one.lo[0];
    l.hi[i] = one.hi[0];
    l.weight[i] = whole(r, 0, 1) ? 1.0 : 2.0;
    l.b[i] = isinf(l.lo[i]) || whole(r, 0, 1) ? 0.0 : 0.25 * whole(r, 0, 4);
    if (l.lo[i] == 0.0 && l.hi[i] > 0.0) {
      l.b[i] = fabs(l.b[i]);
    }
  }
  for (int j = 0; j < l.n; j++) {
    l.r[j] = quarters(r, 2);
    for (int i = 0; i < l.m; i++) {
      int first = i * 7 % (l.n - 2);  // some masses have several rows, some rows are equal
      if (j >= first && j < first + 1 + i % 3) {
        add_entry(&l, i, j == first ? 1.0 : -0.5 * (1 + i % 2));
      }
    }
    l.start_G[j + 1] = l.entries;
  }
  return l;
}

static void test_sparse_against_dense(void** state) {
  (void)state;
  enum { CASES = 60 };
  for (int k = 0; k < CASES; k++) {
    Random r = {(unsigned long long)k * 104729 + 5};
    PawlRows *dense, *sparse;
    (void)uniform(&r);
    Large l = random_large(&r);
    LargeAnswer a = large_answer(&l), b = large_answer(&l);
    assert_int_equal(pawl_rows_create(&l.pattern_H, &l.pattern_G, PAWL_ROWS_DENSE, &dense, NULL),
                     PAWL_OK);
    assert_int_equal(pawl_rows_create(&l.pattern_H, &l.pattern_G, PAWL_ROWS_AUTO, &sparse, NULL),
                     PAWL_OK);
    assert_int_equal(solve_large(&l, dense, &a), PAWL_OK);
    assert_int_equal(solve_large(&l, sparse, &b), PAWL_OK);
    assert_int_equal(a.info.conflicts, 0);
    assert_int_equal(b.info.conflicts, 0);
    assert_memory_equal(a.state, b.state, (size_t)l.m);
    for (int j = 0; j < l.n; j++) {
      CHECK_NEAR(a.x[j], b.x[j], 1e-11);
    }
    for (int i = 0; i < l.m; i++) {
      CHECK_NEAR(a.w[i], b.w[i], 1e-11);
      CHECK_NEAR(a.lambda[i], b.lambda[i], 1e-9);
    }
    pawl_rows_destroy(dense);
    pawl_rows_destroy(sparse);
    free_answer(&a);
    free_answer(&b);
    free_large(&l);
  }
}

// A column of masses, each on the one below: contact i carries the weight of all above it. The
// middle one is pulled up by what half of them weigh, and lifts those above.
static void test_column(void** state) {
  (void)state;
  enum { COUNT = 1000, PULLED = 500 };
  Large l = large_case(COUNT, COUNT, 2, 0.0);
  for (int j = 0; j < COUNT; j++) {
    l.r[j] = -10.0;
    add_entry(&l, j, 1.0);
    if (j + 1 < COUNT) {
      add_entry(&l, j + 1, -1.0);
    }
    l.start_G[j + 1] = l.entries;
    l.hi[j] = INFINITY;
    l.weight[j] = 1.0;
  }
  LargeAnswer a = large_answer(&l);
  PawlRows* rows;
  assert_int_equal(pawl_rows_create(&l.pattern_H, &l.pattern_G, PAWL_ROWS_AUTO, &rows, NULL),
                   PAWL_OK);
  assert_int_equal(solve_large(&l, rows, &a), PAWL_OK);
  for (int i = 0; i < COUNT; i++) {
    CHECK_NEAR(a.lambda[i], 10.0 * (COUNT - i), 1e-8);
    CHECK_NEAR(a.x[i], 0.0, 1e-9);
  }
  l.r[PULLED] = 20000.0;
  assert_int_equal(solve_large(&l, rows, &a), PAWL_OK);
  assert_int_equal(a.state[PULLED], PAWL_ROW_LOW);
  CHECK_NEAR(a.lambda[0], 10.0 * PULLED, 1e-8);
  CHECK_NEAR(a.x[COUNT - 1], (20000.0 - 10.0 * (COUNT - PULLED - 1)) / (COUNT - PULLED), 1e-9);
  pawl_rows_destroy(rows);
  free_answer(&a);
  free_large(&l);
}

static void test_memory_runs_out(void** state) {
  (void)state;
  Patterns p;
  PawlRows* rows = NULL;
  PawlStatus status = PAWL_ERROR_MEMORY;
  make_patterns(2, 2, &p);
  for (int k = 1; status == PAWL_ERROR_MEMORY; k++) {
    assert_null(rows);
    pawl_alloc_fail_at(k);
    status = pawl_rows_create(&p.H, &p.G, PAWL_ROWS_AUTO, &rows, NULL);
    pawl_alloc_fail_at(0);
    assert_true(k > 3 || status == PAWL_ERROR_MEMORY);
  }
  assert_int_equal(status, PAWL_OK);
  pawl_rows_destroy(rows);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_brakes_share_in_proportion),
      cmocka_unit_test(test_table_on_four_legs),
      cmocka_unit_test(test_lock_against_a_moving_stop),
      cmocka_unit_test(test_coordinate_without_inertia),
      cmocka_unit_test(test_compliance_of_held_row),
      cmocka_unit_test(test_random),
      cmocka_unit_test(test_sparse_against_dense),
      cmocka_unit_test(test_column),
      cmocka_unit_test(test_memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
