// SPDX-License-Identifier: Apache-2.0
// The jump by the law post in three forms; labels (X1) to (X10) stand in docs/theory/transition.md.
// The dense forms share their frame: rows after the switch are gathered with the persistent ones
// first, independent ones among them are picked by pivoting, the form solves for these, and the
// multipliers are spread over all rows.
#include "switch/transition.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/dense.h"

// Rows that enclose a smaller angle [rad] count as dependent: what the KKT solver decides, too
// (docs/theory/kkt.md, section 3).
static const double SMALLEST_ANGLE = 5e-7;
// Of a diagonal entry, or of the length of a row: less than this left by elimination is rounding.
static const double SMALLEST_PIVOT = 1024 * DBL_EPSILON;

static double dot(int n, const double* a, const double* b) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

static void add(int n, double* y, double scale, const double* x) {
  for (int i = 0; i < n; i++) {
    y[i] += scale * x[i];
  }
}

static double* row_of(double* A, int n, int i) {
  return A + (size_t)i * (size_t)n;
}

// ---- [M -J^T; J 0] by Cholesky and orthogonalisation --------------------------------------------
bool pawl_saddle_alloc(PawlSaddle* k, PawlArena* arena, int most_n, int most_m) {
  size_t n = (size_t)most_n, m = (size_t)most_m;
  k->M = PAWL_NEW(arena, double, n* n);
  k->L = PAWL_NEW(arena, double, n* n);
  k->J = PAWL_NEW(arena, double, m* n);
  k->R = PAWL_NEW(arena, double, m* m);
  k->weight = PAWL_NEW(arena, double, m);
  k->z = PAWL_NEW(arena, double, n);
  k->e = PAWL_NEW(arena, double, m);
  return k->M && k->L && k->J && k->R && k->weight && k->z && k->e;
}

// L L^T = M, by columns; false when M is not positive definite to working precision.
static bool cholesky(int n, const double* M, double* L) {
  memcpy(L, M, (size_t)n * (size_t)n * sizeof *L);
  for (int j = 0; j < n; j++) {
    double* l = row_of(L, n, j);
    double given = M[(size_t)j * (size_t)(n + 1)];
    if (!(l[j] > SMALLEST_PIVOT * given) || !isfinite(l[j])) {
      return false;
    }
    double d = sqrt(l[j]);
    l[j] = d;
    for (int i = j + 1; i < n; i++) {
      l[i] /= d;
    }
    for (int c = j + 1; c < n; c++) {
      double* below = row_of(L, n, c);
      double u = l[c];
      for (int i = c; u != 0.0 && i < n; i++) {
        below[i] -= u * l[i];
      }
    }
  }
  return true;
}

static void forward(int n, const double* L, double* x) {  // x <- L^-1 x
  for (int j = 0; j < n; j++) {
    const double* l = L + (size_t)j * (size_t)n;
    x[j] /= l[j];
    for (int i = j + 1; i < n; i++) {
      x[i] -= x[j] * l[i];
    }
  }
}

static void backward(int n, const double* L, double* x) {  // x <- L^-T x
  for (int j = n - 1; j >= 0; j--) {
    const double* l = L + (size_t)j * (size_t)n;
    x[j] = (x[j] - dot(n - j - 1, l + j + 1, x + j + 1)) / l[j];
  }
}

// M + J^T weight J in the place of M: the same x, and definite if M is so on the motions that J
// allows. Each row weighs as much as a mean mass.                                              (X5)
static bool weighted_cholesky(PawlSaddle* k) {
  int n = k->n;
  double mean = 0.0;
  for (int j = 0; j < n; j++) {
    mean += fabs(k->M[(size_t)j * (size_t)(n + 1)]) / n;
  }
  for (int i = 0; i < k->m; i++) {
    const double* row = row_of(k->J, n, i);
    double square = dot(n, row, row);
    k->weight[i] = square > 0.0 ? (mean > 0.0 ? mean : 1.0) / square : 0.0;
    for (int j = 0; j < n; j++) {
      add(n, row_of(k->M, n, j), k->weight[i] * row[j], row);
    }
  }
  k->weighted = true;
  return k->m > 0 && cholesky(n, k->M, k->L);
}

// Y^T = Q R for the m rows of Y (n numbers each), which become those of Q^T; each is taken twice
// against those before it. R by columns. False: a row depends on those before it.
static bool orthonormalise(int n, int m, double* Y, double* triangle) {
  for (int j = 0; j < m; j++) {
    double *y = row_of(Y, n, j), *R = row_of(triangle, m, j);
    memset(R, 0, (size_t)m * sizeof *R);
    double length = sqrt(dot(n, y, y));
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < j; i++) {
        const double* q = row_of(Y, n, i);
        double part = dot(n, q, y);
        R[i] += part;
        add(n, y, -part, q);
      }
    }
    R[j] = sqrt(dot(n, y, y));
    if (!(R[j] > SMALLEST_PIVOT * length) || !isfinite(R[j])) {
      return false;
    }
    for (int i = 0; i < n; i++) {
      y[i] /= R[j];
    }
  }
  return true;
}

static void solve_upper(int m, double* triangle, double* e) {  // e <- R^-1 e
  for (int j = m - 1; j >= 0; j--) {
    const double* R = row_of(triangle, m, j);
    e[j] /= R[j];
    add(j, e, -e[j], R);
  }
}

static void solve_upper_transposed(int m, double* triangle, double* e) {  // e <- R^-T e
  for (int j = 0; j < m; j++) {
    const double* R = row_of(triangle, m, j);
    e[j] = (e[j] - dot(j, R, e)) / R[j];
  }
}

bool pawl_saddle_factor(PawlSaddle* k) {
  int n = k->n;
  k->weighted = false;
  if (k->m > n || (!cholesky(n, k->M, k->L) && !weighted_cholesky(k))) {
    return false;
  }
  for (int j = 0; j < k->m; j++) {
    forward(n, k->L, row_of(k->J, n, j));
  }
  return orthonormalise(n, k->m, k->J, k->R);
}

// u = L^T x: Q^T u = R^-T c, and u differs from L^-1 b only along Q.                           (X4)
void pawl_saddle_solve(PawlSaddle* k, double* x, double* y) {
  int n = k->n, m = k->m;
  double *z = k->z, *e = k->e;
  memcpy(z, x, (size_t)n * sizeof *z);
  forward(n, k->L, z);
  memcpy(e, y, (size_t)m * sizeof *e);
  solve_upper_transposed(m, k->R, e);
  for (int j = 0; j < m; j++) {
    x[j] = dot(n, row_of(k->J, n, j), z);  // Q^T L^-1 b; m <= n
  }
  for (int j = 0; j < m; j++) {
    e[j] -= x[j];
    add(n, z, e[j], row_of(k->J, n, j));
  }
  memcpy(x, z, (size_t)n * sizeof *x);
  backward(n, k->L, x);
  solve_upper(m, k->R, e);
  for (int j = 0; j < m; j++) {
    y[j] = e[j] - (k->weighted ? k->weight[j] * y[j] : 0.0);
  }
}

// ---- independent velocities ---------------------------------------------------------------------
bool pawl_voronets_alloc(PawlVoronets* s, PawlArena* arena, int most_m, int n) {
  size_t m = (size_t)most_m;
  s->n = n;
  s->column_of = PAWL_NEW(arena, int, m);
  s->independent = PAWL_NEW(arena, int, n);
  s->LU = PAWL_NEW(arena, double, m* m);
  s->scale = PAWL_NEW(arena, double, m);
  s->pivot = PAWL_NEW(arena, int, m);
  s->R = PAWL_NEW(arena, double, m*(size_t)n);
  s->work = PAWL_NEW(arena, double, m);
  s->room = PAWL_NEW(arena, double, n);
  return s->column_of && s->independent && s->LU && s->scale && s->pivot && s->R && s->work &&
         s->room;
}

bool pawl_voronets_complete(PawlVoronets* s) {
  int count = 0;
  for (int i = 0; i < s->m; i++) {
    if (s->column_of[i] < 0 || s->column_of[i] >= s->n) {
      return false;
    }
  }
  for (int j = 0; j < s->n; j++) {
    bool dependent = false;
    for (int i = 0; i < s->m; i++) {
      dependent = dependent || s->column_of[i] == j;
    }
    if (!dependent && count < s->n) {
      s->independent[count++] = j;
    }
  }
  return count == s->n - s->m;
}

static double largest(int n, const double* x) {
  double top = 0.0;
  for (int i = 0; i < n; i++) {
    top = fabs(x[i]) > top ? fabs(x[i]) : top;
  }
  return top;
}

// sqrt(mass), and for a velocity without mass a small one: it should become a dependent one.
static void units(int n, const double* mass, double* unit) {
  double top = largest(n, mass);
  for (int j = 0; j < n; j++) {
    unit[j] = top > 0.0 ? sqrt(fmax(mass[j], 1e-12 * top)) : 1.0;
  }
}

// The largest entry of the rows and columns not yet used; false: it is rounding.
static bool find_pivot(const PawlVoronets* s, const double* A, int* row, int* col) {
  double top = SMALLEST_PIVOT;
  *row = -1;
  for (int i = 0; i < s->m; i++) {
    const double* a = A + (size_t)i * (size_t)s->n;
    for (int j = 0; s->column_of[i] < 0 && j < s->n; j++) {
      if (fabs(a[j]) > top) {
        top = fabs(a[j]);
        *row = i;
        *col = j;
      }
    }
  }
  return *row >= 0;
}

bool pawl_voronets_choose(PawlVoronets* s, const double* J, const double* mass) {
  int m = s->m, n = s->n;
  double *A = s->R, *unit = s->room;  // R has room for m rows of n numbers
  units(n, mass, unit);
  for (int i = 0; i < m; i++) {
    double* a = row_of(A, n, i);
    for (int j = 0; j < n; j++) {
      a[j] = J[(size_t)i * (size_t)n + (size_t)j] / unit[j];
    }
    double top = largest(n, a);
    for (int j = 0; top > 0.0 && j < n; j++) {
      a[j] /= top;
    }
    s->column_of[i] = -1;
  }
  for (int step = 0; step < m; step++) {
    int row, col = 0;
    if (!find_pivot(s, A, &row, &col)) {
      return false;
    }
    s->column_of[row] = col;
    const double* p = row_of(A, n, row);
    for (int i = 0; i < m; i++) {
      double* a = row_of(A, n, i);
      if (s->column_of[i] < 0) {
        add(n, a, -a[col] / p[col], p);
        a[col] = 0.0;
      }
    }
  }
  return pawl_voronets_complete(s);
}

bool pawl_voronets_factor(PawlVoronets* s, const double* J) {
  int m = s->m, n = s->n;
  for (int i = 0; i < m; i++) {
    const double* row = J + (size_t)i * (size_t)n;
    double top = largest(n, row);
    if (!(top > 0.0) || !isfinite(top)) {
      return false;
    }
    s->scale[i] = 1.0 / top;
    for (int k = 0; k < m; k++) {
      s->LU[(size_t)i + (size_t)k * (size_t)m] = s->scale[i] * row[s->column_of[k]];
    }
  }
  return m == 0 || pawl_lu_factor(m, s->LU, s->pivot, SMALLEST_PIVOT) == 0;
}

void pawl_voronets_solve(PawlVoronets* s, const double* c, double* x) {
  for (int i = 0; i < s->m; i++) {
    s->work[i] = s->scale[i] * c[i];
  }
  if (s->m > 0) {
    pawl_lu_solve(s->m, s->LU, s->pivot, s->work, x);
  }
}

// P A = L U with 1 / U_kk on the diagonal: A^T y = b is U^T w = b, L^T u = w, y = P^T u.
void pawl_voronets_solve_transposed(PawlVoronets* s, const double* b, double* y) {
  int m = s->m;
  double* w = s->work;
  for (int k = 0; k < m; k++) {
    const double* column = s->LU + (size_t)k * (size_t)m;
    w[k] = (b[k] - dot(k, column, w)) * column[k];
  }
  for (int k = m - 1; k >= 0; k--) {
    const double* column = s->LU + (size_t)k * (size_t)m;
    w[k] -= dot(m - k - 1, column + k + 1, w + k + 1);
  }
  for (int k = 0; k < m; k++) {
    y[s->pivot[k]] = s->scale[s->pivot[k]] * w[k];
  }
}

double pawl_voronets_reduce(PawlVoronets* s, const double* J, const double* mass) {
  int m = s->m, n = s->n;
  double top = 0.0;
  units(n, mass, s->room);
  for (int k = 0; k < n - m; k++) {
    int j = s->independent[k];
    double* R = row_of(s->R, m, k);
    for (int i = 0; i < m; i++) {
      R[i] = J[(size_t)i * (size_t)n + (size_t)j];
    }
    pawl_voronets_solve(s, R, R);
    for (int i = 0; i < m; i++) {
      double size = fabs(R[i]) * s->room[s->column_of[i]] / s->room[j];
      top = size > top || size != size ? size : top;
    }
  }
  return top;
}

void pawl_voronets_restrict(const PawlVoronets* s, const double* b, double* out) {
  for (int k = 0; k < s->n - s->m; k++) {
    const double* R = s->R + (size_t)k * (size_t)s->m;
    double sum = b[s->independent[k]];
    for (int i = 0; i < s->m; i++) {
      sum -= R[i] * b[s->column_of[i]];
    }
    out[k] = sum;
  }
}

void pawl_voronets_expand(const PawlVoronets* s, const double* w, double* x) {
  for (int k = 0; k < s->n - s->m; k++) {
    const double* R = s->R + (size_t)k * (size_t)s->m;
    x[s->independent[k]] += w[k];
    for (int i = 0; i < s->m; i++) {
      x[s->column_of[i]] -= R[i] * w[k];
    }
  }
}

// y = A x for values in the order of the pattern
static void multiply(const PawlPattern* A, const double* values, const double* x, double* y) {
  memset(y, 0, (size_t)A->rows * sizeof *y);
  for (int j = 0; j < A->cols; j++) {
    for (int k = A->start[j]; x[j] != 0.0 && k < A->start[j + 1]; k++) {
      y[A->index[k]] += values[k] * x[j];
    }
  }
}

void pawl_voronets_mass(const PawlVoronets* s, const PawlPattern* H, const double* M, double* room,
                        double* out) {
  int n = s->n, free_count = n - s->m;
  for (int k = 0; k < free_count; k++) {  // column k of F^T (M F)
    const double* R = s->R + (size_t)k * (size_t)s->m;
    memset(s->room, 0, (size_t)n * sizeof(double));
    s->room[s->independent[k]] = 1.0;
    for (int i = 0; i < s->m; i++) {
      s->room[s->column_of[i]] = -R[i];
    }
    multiply(H, M, s->room, room);
    pawl_voronets_restrict(s, room, out + (size_t)k * (size_t)free_count);
  }
}

// ---- the transition -----------------------------------------------------------------------------
struct PawlTransition {
  PawlTransitionForm form;
  PawlArena arena;
  PawlPattern H, G;
  PawlKkt* kkt;
  double* diagonal;       // n: of M
  int *rows, count;       // rows after, persistent ones first
  int persistent;         // how many of them
  int *kept, kept_count;  // places in `rows`; independent, persistent ones first
  int kept_persistent;    // how many of them
  int *dropped, dropped_count;
  double* A;             // the rows, one after the other
  double* U;             // the same with length 1, then what is left of them outside Q
  double* length;        // of each row
  double *Q, *tri;       // orthonormal rows of the kept ones, and their coefficients
  double* B;             // all rows by the kept ones, by columns; then orthonormal            (X8)
  unsigned char* taken;  // by place: kept
  double *c, *mu;        // by place: right side, multipliers of the kept rows
  double *x, *y;         // of the form
  double* momentum;      // n
  PawlSaddle saddle;
  PawlVoronets split;
};

PawlStatus pawl_transition_parse(const char* word, PawlTransitionForm* form, PawlError* err) {
  static const char* const words[] = {"full", "projected", "minimal"};
  for (int k = 0; k < 3; k++) {
    if (strcmp(word, words[k]) == 0) {
      *form = (PawlTransitionForm)k;
      return PAWL_OK;
    }
  }
  return pawl_fail(err, PAWL_ERROR_USAGE, "transition = %.100s: must be full, projected or minimal",
                   word);
}

static bool alloc_dense(PawlTransition* t) {
  size_t n = (size_t)t->G.cols, m = (size_t)t->G.rows, r = m < n ? m : n;
  t->diagonal = PAWL_NEW(&t->arena, double, n);
  t->rows = PAWL_NEW(&t->arena, int, m);
  t->kept = PAWL_NEW(&t->arena, int, m);
  t->dropped = PAWL_NEW(&t->arena, int, m);
  t->A = PAWL_NEW(&t->arena, double, m* n);
  t->U = PAWL_NEW(&t->arena, double, m* n);
  t->length = PAWL_NEW(&t->arena, double, m);
  t->Q = PAWL_NEW(&t->arena, double, r* n);
  t->tri = PAWL_NEW(&t->arena, double, r* r);
  t->B = PAWL_NEW(&t->arena, double, m* r);
  t->taken = PAWL_NEW(&t->arena, unsigned char, m);
  t->c = PAWL_NEW(&t->arena, double, m);
  t->mu = PAWL_NEW(&t->arena, double, m);
  t->x = PAWL_NEW(&t->arena, double, n);
  t->y = PAWL_NEW(&t->arena, double, m);
  t->momentum = PAWL_NEW(&t->arena, double, n);
  bool got = t->diagonal && t->rows && t->kept && t->dropped && t->A && t->U && t->length && t->Q &&
             t->tri && t->B && t->taken && t->c && t->mu && t->x && t->y && t->momentum &&
             pawl_saddle_alloc(&t->saddle, &t->arena, (int)n, (int)r);
  return got && (t->form != PAWL_TRANSITION_MINIMAL ||
                 pawl_voronets_alloc(&t->split, &t->arena, (int)r, (int)n));
}

PawlStatus pawl_transition_create(PawlTransitionForm form, const PawlPattern* H,
                                  const PawlPattern* G, PawlKkt* kkt, PawlTransition** out,
                                  PawlError* err) {
  *out = NULL;
  PawlTransition* t = pawl_alloc(1, sizeof *t);
  if (!t) {
    return pawl_fail_memory(err);
  }
  *t = (PawlTransition){.form = form, .H = *H, .G = *G, .kkt = kkt};
  if (form != PAWL_TRANSITION_FULL && !alloc_dense(t)) {
    pawl_transition_destroy(t);
    return pawl_fail_memory(err);
  }
  *out = t;
  return PAWL_OK;
}

void pawl_transition_destroy(PawlTransition* t) {
  if (t) {
    pawl_arena_free(&t->arena);
    pawl_free(t);
  }
}

// ---- full ---------------------------------------------------------------------------------------
// Lambda <- -(G v- + g_t) over the rows after, 0 elsewhere.                                    (X2)
static void right_side(const PawlTransition* t, const double* G, const unsigned char* after,
                       const double* v_minus, const double* g_t, double* c) {
  multiply(&t->G, G, v_minus, c);
  for (int i = 0; i < t->G.rows; i++) {
    c[i] = after && !after[i] ? 0.0 : -(c[i] + g_t[i]);
  }
}

static PawlStatus solve_full(PawlTransition* t, const double* M, const double* G,
                             const unsigned char* after, double* dv, double* Lambda,
                             unsigned char* dependent, int* count) {
  memset(dv, 0, (size_t)t->G.cols * sizeof *dv);
  PawlStatus status = pawl_kkt_factor(t->kkt, M, G, G, after);
  if (status == PAWL_OK) {
    pawl_kkt_solve(t->kkt, dv, Lambda);
  }
  if (status != PAWL_RETRY) {
    return status;
  }
  unsigned char* flags = pawl_alloc((size_t)t->G.rows, 1);
  int column = -1;
  status = flags ? pawl_kkt_diagnose(t->kkt, M, G, after, &column, flags) : PAWL_ERROR_MEMORY;
  status = status == PAWL_OK && column >= 0 ? PAWL_RETRY : status;
  status = status == PAWL_OK ? pawl_kkt_min_norm(t->kkt, M, G, after, dv, Lambda, NULL) : status;
  for (int i = 0; status == PAWL_OK && i < t->G.rows; i++) {
    *count += flags[i];
    if (dependent) {
      dependent[i] = flags[i];
    }
  }
  pawl_free(flags);
  return status;
}

// ---- the rows of the dense forms ----------------------------------------------------------------
// The rows after, persistent ones first, dense.
static void gather(PawlTransition* t, const double* G, const unsigned char* before,
                   const unsigned char* after) {
  int n = t->G.cols;
  int* place = t->dropped;  // by row; free until rows are picked
  t->count = t->persistent = 0;
  for (int pass = 0; pass < 2; pass++) {  // persistent, then new
    for (int i = 0; i < t->G.rows; i++) {
      bool persists = before && before[i];
      if ((!after || after[i]) && persists == (pass == 0)) {
        place[i] = t->count;
        t->rows[t->count++] = i;
        t->persistent += persists;
      }
    }
  }
  memset(t->A, 0, (size_t)t->count * (size_t)n * sizeof *t->A);
  for (int j = 0; j < n; j++) {
    for (int k = t->G.start[j]; k < t->G.start[j + 1]; k++) {
      int i = t->G.index[k];
      if (!after || after[i]) {
        row_of(t->A, n, place[i])[j] = G[k];
      }
    }
  }
}

// U: the rows with length 1 (0 for a row of zeros). False: a number is not finite.
static bool normalise(PawlTransition* t) {
  int n = t->G.cols;
  for (int k = 0; k < t->count; k++) {
    const double* a = row_of(t->A, n, k);
    double *u = row_of(t->U, n, k), top = 0.0;
    for (int j = 0; j < n; j++) {
      if (!isfinite(a[j])) {
        return false;
      }
      top = fmax(top, fabs(a[j]));
    }
    for (int j = 0; j < n; j++) {  // scaled before it is squared: nothing overflows or vanishes
      u[j] = top > 0.0 ? a[j] / top : 0.0;
    }
    double length = sqrt(dot(n, u, u));
    for (int j = 0; j < n && top > 0.0; j++) {
      u[j] /= length;
    }
    t->length[k] = length * top;
  }
  return true;
}

// Row k of U becomes the next row of Q, and is taken out of all rows from `first` on that remain.
static void take_row(PawlTransition* t, int k, const unsigned char* taken, int end) {
  int n = t->G.cols;
  double* q = row_of(t->Q, n, t->kept_count);
  memcpy(q, row_of(t->U, n, k), (size_t)n * sizeof *q);
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < t->kept_count; i++) {
      const double* other = row_of(t->Q, n, i);
      add(n, q, -dot(n, other, q), other);
    }
    double length = sqrt(dot(n, q, q));
    for (int j = 0; j < n; j++) {
      q[j] /= length;
    }
  }
  for (int i = 0; i < end; i++) {
    if (!taken[i]) {
      double* u = row_of(t->U, n, i);
      add(n, u, -dot(n, q, u), q);
    }
  }
  t->kept[t->kept_count++] = k;
}

// Among the rows begin .. end-1 the one with most left outside Q, as often as that is not rounding.
static void pick(PawlTransition* t, int begin, int end, unsigned char* taken) {
  int n = t->G.cols;
  for (;;) {
    int best = -1;
    double most = SMALLEST_ANGLE * SMALLEST_ANGLE;
    for (int k = begin; k < end; k++) {
      const double* u = row_of(t->U, n, k);
      double left = taken[k] ? 0.0 : dot(n, u, u);
      if (left > most) {
        most = left;
        best = k;
      }
    }
    if (best < 0 || t->kept_count == n) {
      return;
    }
    taken[best] = 1;
    take_row(t, best, taken, t->count);
  }
}

// Independent rows, first among the persistent ones.
static void pick_rows(PawlTransition* t) {
  unsigned char* taken = t->taken;
  memset(taken, 0, (size_t)t->count);
  t->kept_count = t->dropped_count = 0;
  pick(t, 0, t->persistent, taken);
  t->kept_persistent = t->kept_count;
  pick(t, t->persistent, t->count, taken);
  for (int k = 0; k < t->count; k++) {
    if (!taken[k]) {
      t->dropped[t->dropped_count++] = k;
    }
  }
}

// B with A = B A_kept, the unit matrix at the kept rows, and B = Q R. Needs U as normalise leaves
// it.                                                                                          (X8)
static bool relate(PawlTransition* t) {
  int n = t->G.cols, r = t->kept_count, count = t->count;
  memset(t->B, 0, (size_t)r * (size_t)count * sizeof *t->B);
  for (int k = 0; k < r; k++) {
    const double* u = row_of(t->U, n, t->kept[k]);
    for (int i = 0; i <= k; i++) {
      row_of(t->tri, r, k)[i] = dot(n, row_of(t->Q, n, i), u);
    }
    row_of(t->B, count, k)[t->kept[k]] = 1.0;
  }
  for (int d = 0; d < t->dropped_count; d++) {
    int place = t->dropped[d];
    for (int i = 0; i < r; i++) {
      t->y[i] = dot(n, row_of(t->Q, n, i), row_of(t->U, n, place));
    }
    solve_upper(r, t->tri, t->y);  // coefficients of rows of length 1
    for (int k = 0; k < r; k++) {
      row_of(t->B, count, k)[place] = t->y[k] * t->length[place] / t->length[t->kept[k]];
    }
  }
  return orthonormalise(count, r, t->B, t->tri);
}

// Rows that follow from those before them, in the order of the pattern.
static void flag(PawlTransition* t, const unsigned char* after, unsigned char* dependent) {
  int n = t->G.cols, rank = 0;
  memset(dependent, 0, (size_t)t->G.rows);
  for (int i = 0; i < t->G.rows; i++) {
    int place = 0;
    while (place < t->count && t->rows[place] != i) {
      place++;
    }
    if ((after && !after[i]) || place == t->count) {
      continue;
    }
    double* q = row_of(t->Q, n, rank);
    bool room = rank < n && rank < t->kept_count;
    double left = 0.0;
    if (room) {
      memcpy(q, row_of(t->U, n, place), (size_t)n * sizeof *q);
      for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < rank; k++) {
          add(n, q, -dot(n, row_of(t->Q, n, k), q), row_of(t->Q, n, k));
        }
      }
      left = sqrt(dot(n, q, q));
    }
    dependent[i] = !(left > SMALLEST_ANGLE);
    for (int j = 0; !dependent[i] && j < n; j++) {
      q[j] /= left;
    }
    rank += !dependent[i];
  }
}

// ---- the dense forms ----------------------------------------------------------------------------
static bool spread_mass(const PawlTransition* t, const double* M, double* dense) {
  int n = t->G.cols;
  if (dense) {
    memset(dense, 0, (size_t)n * (size_t)n * sizeof *dense);
  }
  for (int j = 0; j < n; j++) {
    t->diagonal[j] = 0.0;
    for (int k = t->H.start[j]; k < t->H.start[j + 1]; k++) {
      if (!isfinite(M[k])) {
        return false;
      }
      if (t->H.index[k] == j) {
        t->diagonal[j] = M[k];
      }
      if (dense) {
        dense[(size_t)t->H.index[k] + (size_t)j * (size_t)n] = M[k];
      }
    }
  }
  return true;
}

// The kept rows, persistent ones first: the first part of Q in (X4) spans what these prevent, the
// rest comes from the new rows projected on what they allow.
static bool solve_projected(PawlTransition* t, const double* M, double* dv) {
  PawlSaddle* k = &t->saddle;
  int n = t->G.cols;
  k->n = n;
  k->m = t->kept_count;
  if (!spread_mass(t, M, k->M)) {
    return false;
  }
  for (int i = 0; i < k->m; i++) {
    memcpy(row_of(k->J, n, i), row_of(t->A, n, t->kept[i]), (size_t)n * sizeof(double));
    t->mu[i] = t->c[t->kept[i]];
  }
  memset(dv, 0, (size_t)n * sizeof *dv);
  if (!pawl_saddle_factor(k)) {
    return false;
  }
  pawl_saddle_solve(k, dv, t->mu);
  return true;
}

// Lambda of the persistent rows from the rows of (X1) that belong to dependent velocities.    (X7)
static void persistent_impulses(PawlTransition* t, const double* M, const double* dv) {
  int n = t->G.cols, r1 = t->kept_persistent;
  multiply(&t->H, M, dv, t->momentum);
  for (int i = r1; i < t->kept_count; i++) {
    add(n, t->momentum, -t->mu[i], row_of(t->A, n, t->kept[i]));
  }
  for (int i = 0; i < r1; i++) {
    t->y[i] = t->momentum[t->split.column_of[i]];
  }
  pawl_voronets_solve_transposed(&t->split, t->y, t->mu);
}

static bool solve_minimal(PawlTransition* t, const double* M, double* dv) {
  PawlVoronets* s = &t->split;
  PawlSaddle* k = &t->saddle;
  int n = t->G.cols, r1 = t->kept_persistent;
  double* J1 = t->U;  // rows in the order of `kept`; U is free by now
  s->n = n;
  s->m = r1;
  for (int i = 0; i < r1; i++) {
    memcpy(row_of(J1, n, i), row_of(t->A, n, t->kept[i]), (size_t)n * sizeof(double));
    t->y[i] = t->c[t->kept[i]];
  }
  if (!spread_mass(t, M, NULL) || !pawl_voronets_choose(s, J1, t->diagonal) ||
      !pawl_voronets_factor(s, J1)) {
    return false;
  }
  (void)pawl_voronets_reduce(s, J1, t->diagonal);
  pawl_voronets_solve(s, t->y, t->y);  // b, which the dependent velocities make up
  memset(dv, 0, (size_t)n * sizeof *dv);
  for (int i = 0; i < r1; i++) {
    dv[s->column_of[i]] = t->y[i];
  }
  k->n = n - r1;
  k->m = t->kept_count - r1;
  pawl_voronets_mass(s, &t->H, M, t->momentum, k->M);
  multiply(&t->H, M, dv, t->momentum);
  pawl_voronets_restrict(s, t->momentum, t->x);
  for (int j = 0; j < k->n; j++) {
    t->x[j] = -t->x[j];
  }
  for (int i = 0; i < k->m; i++) {
    const double* row = row_of(t->A, n, t->kept[r1 + i]);
    pawl_voronets_restrict(s, row, row_of(k->J, k->n, i));
    t->mu[r1 + i] = t->c[t->kept[r1 + i]] - dot(n, row, dv);
  }
  if (!pawl_saddle_factor(k)) {
    return false;
  }
  pawl_saddle_solve(k, t->x, t->mu + r1);
  pawl_voronets_expand(s, t->x, dv);
  persistent_impulses(t, M, dv);
  return true;
}

// c of the kept rows such that B c is nearest to c: R^-1 Q^T c.                               (X10)
static void reach(PawlTransition* t) {
  int r = t->kept_count;
  for (int k = 0; k < r; k++) {
    t->y[k] = dot(t->count, row_of(t->B, t->count, k), t->c);
  }
  solve_upper(r, t->tri, t->y);
  for (int k = 0; k < r; k++) {
    t->c[t->kept[k]] = t->y[k];
  }
}

// The multipliers of all rows, the shortest with B^T Lambda = mu: Q R^-T mu.                   (X9)
static void spread(PawlTransition* t, double* Lambda) {
  int r = t->kept_count;
  double* all = t->c;  // by place; the right side is not needed any more
  memset(all, 0, (size_t)t->count * sizeof *all);
  if (t->dropped_count > 0) {
    solve_upper_transposed(r, t->tri, t->mu);
    for (int k = 0; k < r; k++) {
      add(t->count, all, t->mu[k], row_of(t->B, t->count, k));
    }
  } else {
    for (int k = 0; k < r; k++) {
      all[t->kept[k]] = t->mu[k];
    }
  }
  for (int k = 0; k < t->count; k++) {
    Lambda[t->rows[k]] = all[k];
  }
}

static PawlStatus solve_dense(PawlTransition* t, const double* M, const double* G,
                              const unsigned char* before, const unsigned char* after, double* dv,
                              double* Lambda, unsigned char* dependent, int* count) {
  gather(t, G, before, after);
  if (!normalise(t)) {
    return PAWL_RETRY;
  }
  for (int k = 0; k < t->count; k++) {
    t->c[k] = Lambda[t->rows[k]];
  }
  pick_rows(t);
  if (t->dropped_count > 0) {
    if (!normalise(t) || !relate(t)) {
      return PAWL_RETRY;
    }
    reach(t);
    if (dependent) {
      flag(t, after, dependent);
    }
  }
  bool solved =
      t->form == PAWL_TRANSITION_PROJECTED ? solve_projected(t, M, dv) : solve_minimal(t, M, dv);
  if (!solved) {
    return PAWL_RETRY;
  }
  *count = t->dropped_count;
  spread(t, Lambda);
  return PAWL_OK;
}

PawlStatus pawl_transition_solve(PawlTransition* t, const double* M, const double* G,
                                 const unsigned char* before, const unsigned char* after,
                                 const double* v_minus, const double* g_t, double* dv,
                                 double* Lambda, unsigned char* dependent, int* dependent_count) {
  int count = 0;
  if (dependent) {
    memset(dependent, 0, (size_t)t->G.rows);
  }
  right_side(t, G, after, v_minus, g_t, Lambda);
  PawlStatus status = t->form == PAWL_TRANSITION_FULL
                          ? solve_full(t, M, G, after, dv, Lambda, dependent, &count)
                          : solve_dense(t, M, G, before, after, dv, Lambda, dependent, &count);
  for (int j = 0; status == PAWL_OK && j < t->G.cols; j++) {
    status = isfinite(dv[j]) ? PAWL_OK : PAWL_RETRY;
  }
  if (dependent_count) {
    *dependent_count = count;
  }
  return status;
}
