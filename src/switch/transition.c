// SPDX-License-Identifier: Apache-2.0
// The jump by the law post in three forms; labels (X1) to (X10) stand in docs/theory/transition.md.
// The dense forms share their frame: rows after the switch are gathered with the persistent ones
// first, independent ones among them are picked by pivoting, the form solves for these, and the
// multipliers are spread over all rows.
#include "switch/transition.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/reduce.h"
#include "linalg/span.h"
#include "linalg/vector.h"

// y = A x for values in the order of the pattern
static void multiply(const PawlPattern* A, const double* values, const double* x, double* y) {
  memset(y, 0, (size_t)A->rows * sizeof *y);
  for (int j = 0; j < A->cols; j++) {
    for (int k = A->start[j]; x[j] != 0.0 && k < A->start[j + 1]; k++) {
      y[A->index[k]] += values[k] * x[j];
    }
  }
}

// ---- the transition -----------------------------------------------------------------------------
struct PawlTransition {
  PawlTransitionForm form;
  PawlArena arena;
  PawlPattern H, G;
  PawlKkt* kkt;
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
  const double* push;    // n: U of (X11), NULL: none
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
  bool got = t->rows && t->kept && t->dropped && t->A && t->U && t->length && t->Q && t->tri &&
             t->B && t->taken && t->c && t->mu && t->x && t->y && t->momentum &&
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

// The first line of the right side: U, or nothing.
static void begin_with_push(const PawlTransition* t, double* dv) {
  size_t bytes = (size_t)t->G.cols * sizeof *dv;
  if (t->push) {
    memcpy(dv, t->push, bytes);
  } else {
    memset(dv, 0, bytes);
  }
}

// momentum = M x - U
static void multiply_mass(PawlTransition* t, const double* M, const double* x) {
  multiply(&t->H, M, x, t->momentum);
  for (int j = 0; t->push && j < t->G.cols; j++) {
    t->momentum[j] -= t->push[j];
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
  begin_with_push(t, dv);
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

void pawl_transition_solve_factored(PawlTransition* t, const double* G, const unsigned char* after,
                                    const double* v_minus, const double* g_t, double* dv,
                                    double* Lambda) {
  right_side(t, G, after, v_minus, g_t, Lambda);
  memset(dv, 0, (size_t)t->G.cols * sizeof *dv);
  pawl_kkt_solve(t->kkt, dv, Lambda);
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
        pawl_row(t->A, n, place[i])[j] = G[k];
      }
    }
  }
}

// U: the rows with length 1 (0 for a row of zeros). False: a number is not finite.
static bool normalise(PawlTransition* t) {
  int n = t->G.cols;
  for (int k = 0; k < t->count; k++) {
    const double* a = pawl_row(t->A, n, k);
    double *u = pawl_row(t->U, n, k), top = 0.0;
    for (int j = 0; j < n; j++) {
      if (!isfinite(a[j])) {
        return false;
      }
      top = fmax(top, fabs(a[j]));
    }
    for (int j = 0; j < n; j++) {  // scaled before it is squared: nothing overflows or vanishes
      u[j] = top > 0.0 ? a[j] / top : 0.0;
    }
    double length = sqrt(pawl_dot(n, u, u));
    for (int j = 0; j < n && top > 0.0; j++) {
      u[j] /= length;
    }
    t->length[k] = length * top;
  }
  return true;
}

// Row k of U joins the span, and what is along it is taken out of all rows that remain.
static bool take_row(PawlTransition* t, PawlSpan* span, int k, const unsigned char* taken) {
  int n = t->G.cols;
  if (!pawl_span_extend(span, pawl_row(t->U, n, k))) {
    return false;
  }
  const double* q = pawl_row(t->Q, n, t->kept_count);
  for (int i = 0; i < t->count; i++) {
    if (!taken[i]) {
      double* u = pawl_row(t->U, n, i);
      pawl_add_scaled(n, u, -pawl_dot(n, q, u), q);
    }
  }
  t->kept[t->kept_count++] = k;
  return true;
}

// Among the rows begin .. end-1 the one with most left outside Q, as often as that is not rounding.
static void pick(PawlTransition* t, PawlSpan* span, int begin, int end, unsigned char* taken) {
  int n = t->G.cols;
  for (;;) {
    int best = -1;
    double most = PAWL_DEPENDENT_PIVOT;
    for (int k = begin; k < end; k++) {
      const double* u = pawl_row(t->U, n, k);
      double left = taken[k] ? 0.0 : pawl_dot(n, u, u);
      if (left > most) {
        most = left;
        best = k;
      }
    }
    if (best < 0) {
      return;
    }
    taken[best] = 1;
    if (!take_row(t, span, best, taken)) {
      taken[best] = 0;
      return;
    }
  }
}

// Independent rows, first among the persistent ones.
static void pick_rows(PawlTransition* t) {
  unsigned char* taken = t->taken;
  PawlSpan span = {.n = t->G.cols, .Q = t->Q};
  memset(taken, 0, (size_t)t->count);
  t->kept_count = t->dropped_count = 0;
  pick(t, &span, 0, t->persistent, taken);
  t->kept_persistent = t->kept_count;
  pick(t, &span, t->persistent, t->count, taken);
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
    const double* u = pawl_row(t->U, n, t->kept[k]);
    for (int i = 0; i <= k; i++) {
      pawl_row(t->tri, r, k)[i] = pawl_dot(n, pawl_row(t->Q, n, i), u);
    }
    pawl_row(t->B, count, k)[t->kept[k]] = 1.0;
  }
  for (int d = 0; d < t->dropped_count; d++) {
    int place = t->dropped[d];
    for (int i = 0; i < r; i++) {
      t->y[i] = pawl_dot(n, pawl_row(t->Q, n, i), pawl_row(t->U, n, place));
    }
    pawl_reduce_upper(r, t->tri, t->y);  // coefficients of rows of length 1
    for (int k = 0; k < r; k++) {
      pawl_row(t->B, count, k)[place] = t->y[k] * t->length[place] / t->length[t->kept[k]];
    }
  }
  return pawl_reduce_orthonormal(count, r, t->B, t->tri);
}

// Rows that follow from those before them, in the order of the pattern.
static void flag(PawlTransition* t, unsigned char* dependent) {
  PawlSpan span = {.n = t->G.cols, .Q = t->Q};
  for (int i = 0; i < t->G.rows; i++) {
    int place = 0;
    while (place < t->count && t->rows[place] != i) {
      place++;
    }
    if (place < t->count) {
      dependent[i] =
          span.count == t->kept_count || !pawl_span_extend(&span, pawl_row(t->U, t->G.cols, place));
    }
  }
}

// ---- the dense forms ----------------------------------------------------------------------------
static bool finite_mass(const PawlTransition* t, const double* M) {
  for (int k = 0; k < t->H.start[t->H.cols]; k++) {
    if (!isfinite(M[k])) {
      return false;
    }
  }
  return true;
}

static void spread_mass(const PawlTransition* t, const double* M, double* dense) {
  size_t n = (size_t)t->G.cols;
  memset(dense, 0, n * n * sizeof *dense);
  for (size_t j = 0; j < n; j++) {
    for (int k = t->H.start[j]; k < t->H.start[j + 1]; k++) {
      dense[(size_t)t->H.index[k] + j * n] = M[k];
    }
  }
}

// The kept rows, persistent ones first: the first part of Q in (X4) spans what these prevent, the
// rest comes from the new rows projected on what they allow.
static bool solve_projected(PawlTransition* t, const double* M, double* dv) {
  PawlSaddle* k = &t->saddle;
  int n = t->G.cols;
  k->n = n;
  k->m = t->kept_count;
  spread_mass(t, M, k->M);
  for (int i = 0; i < k->m; i++) {
    memcpy(pawl_row(k->J, n, i), pawl_row(t->A, n, t->kept[i]), (size_t)n * sizeof(double));
    t->mu[i] = t->c[t->kept[i]];
  }
  begin_with_push(t, dv);
  if (!pawl_saddle_factor(k)) {
    return false;
  }
  pawl_saddle_solve(k, dv, t->mu);
  return true;
}

// Lambda of the persistent rows from the rows of (X1) that belong to dependent velocities.    (X7)
static void persistent_impulses(PawlTransition* t, const double* M, const double* dv) {
  int n = t->G.cols, r1 = t->kept_persistent;
  multiply_mass(t, M, dv);
  for (int i = r1; i < t->kept_count; i++) {
    pawl_add_scaled(n, t->momentum, -t->mu[i], pawl_row(t->A, n, t->kept[i]));
  }
  for (int i = 0; i < r1; i++) {
    t->y[i] = t->momentum[t->split.column_of[i]];
  }
  pawl_voronets_solve_transposed(&t->split, t->y, t->mu);
}

// F of the persistent rows, and dv = b, which takes the drift away by dependent velocities.    (X6)
static bool split_velocities(PawlTransition* t, double* dv) {
  PawlVoronets* s = &t->split;
  int n = t->G.cols, r1 = t->kept_persistent;
  double* J1 = t->U;  // rows in the order of `kept`; U is free by now
  s->n = n;
  s->m = r1;
  for (int i = 0; i < r1; i++) {
    memcpy(pawl_row(J1, n, i), pawl_row(t->A, n, t->kept[i]), (size_t)n * sizeof(double));
    t->y[i] = t->c[t->kept[i]];
  }
  if (!pawl_voronets_choose(s, J1) || !pawl_voronets_factor(s, J1)) {
    return false;
  }
  (void)pawl_voronets_reduce(s, J1);
  pawl_voronets_solve(s, t->y, t->y);
  memset(dv, 0, (size_t)n * sizeof *dv);
  for (int i = 0; i < r1; i++) {
    dv[s->column_of[i]] = t->y[i];
  }
  return true;
}

// The system of the new rows in independent velocities; the right side goes to x and mu.
static void reduce(PawlTransition* t, const double* M, const double* b) {
  const PawlVoronets* s = &t->split;
  PawlSaddle* k = &t->saddle;
  int n = t->G.cols, r1 = t->kept_persistent;
  k->n = n - r1;
  k->m = t->kept_count - r1;
  pawl_voronets_mass(s, &t->H, M, t->momentum, k->M);
  multiply_mass(t, M, b);
  pawl_voronets_restrict(s, t->momentum, t->x);
  for (int j = 0; j < k->n; j++) {
    t->x[j] = -t->x[j];
  }
  for (int i = 0; i < k->m; i++) {
    const double* row = pawl_row(t->A, n, t->kept[r1 + i]);
    pawl_voronets_restrict(s, row, pawl_row(k->J, k->n, i));
    t->mu[r1 + i] = t->c[t->kept[r1 + i]] - pawl_dot(n, row, b);
  }
}

static bool solve_minimal(PawlTransition* t, const double* M, double* dv) {
  if (!split_velocities(t, dv)) {
    return false;
  }
  reduce(t, M, dv);
  if (!pawl_saddle_factor(&t->saddle)) {
    return false;
  }
  pawl_saddle_solve(&t->saddle, t->x, t->mu + t->kept_persistent);
  pawl_voronets_expand(&t->split, t->x, dv);
  persistent_impulses(t, M, dv);
  return true;
}

// c of the kept rows such that B c is nearest to c: R^-1 Q^T c.                               (X10)
static void reach(PawlTransition* t) {
  int r = t->kept_count;
  for (int k = 0; k < r; k++) {
    t->y[k] = pawl_dot(t->count, pawl_row(t->B, t->count, k), t->c);
  }
  pawl_reduce_upper(r, t->tri, t->y);
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
    pawl_reduce_upper_transposed(r, t->tri, t->mu);
    for (int k = 0; k < r; k++) {
      pawl_add_scaled(t->count, all, t->mu[k], pawl_row(t->B, t->count, k));
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
  if (!finite_mass(t, M) || !normalise(t)) {
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
      flag(t, dependent);
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

PawlStatus pawl_transition_push(PawlTransition* t, const double* M, const double* G,
                                const unsigned char* before, const unsigned char* after,
                                const double* v_minus, const double* g_t, const double* U,
                                double* dv, double* Lambda) {
  t->push = U;
  PawlStatus status =
      pawl_transition_solve(t, M, G, before, after, v_minus, g_t, dv, Lambda, NULL, NULL);
  t->push = NULL;
  return status;
}
