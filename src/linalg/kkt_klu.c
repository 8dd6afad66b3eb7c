// SPDX-License-Identifier: Apache-2.0
// The KKT system as a sparse matrix. The columns are ordered once, KLU chooses the pivots;
// with the order P, Q taken from it and the patterns of L and U, new values are factored here,
// column by column without a search (left-looking, Gilbert and Peierls):
//   solve L x = A(:,k) above the diagonal, U(:,k) = x(0..k), L(:,k) = x(k+1..) / U_kk
// When the old pivots no longer suit the values, KLU chooses again. All results come from the loop
// here, so they depend on the values and the pivot order only. KLU takes its memory from malloc
// (its hooks are process-wide, and not ours to set), and gives it back before a call returns;
// only the ordering is kept.
#include <klu.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/kkt_impl.h"
#include "linalg/kkt_symbolic.h"

// Old pivots are given up when an entry of L exceeds the first; beyond the second, a solution is
// refined once.
#define LARGEST_MULTIPLIER 1e3
#define REFINED_MULTIPLIER 32.0
// KLU keeps a diagonal pivot down to this fraction of the largest entry of its column: what new
// pivots give needs no refinement, and the fill is nearly the one foreseen.
#define PIVOT_PREFERENCE (1.0 / REFINED_MULTIPLIER)
// Added to the diagonal of a singular matrix to find a pivot order for it, tried in turn: large
// against rounding, small against the pivots of a regular matrix.
#define REGULAR_SHIFTS \
  { 0x1p-26, 0x1p-36, 0x1p-16 }
#define UNSUITED 1e3  // entry below a pivot, in units of the smallest pivot accepted

struct PawlKktKlu {
  klu_common common;
  klu_symbolic* symbolic;
  int *start, *index;  // (size + 1), (value_count) the pattern of A
  bool has_pivots;     // P, Q, L and U below are those of a factorisation
  int *P, *Q;          // (size) row P[k], column Q[k] of A is the k-th
  int *P_inverse, *Q_inverse;
  int* pivot_index;           // (value_count) the row of each entry of A in pivot order
  PawlFactorPattern pattern;  // of L and U
  double *L, *U;              // U holds 1 / U_kk on the diagonal
  int L_room, U_room;
  bool refine;    // solutions need a step of refinement
  double* x;      // (size) zero between calls
  double* right;  // (size) scaled right side during a refined solve
};

// ---- creation ----------------------------------------------------------------------------------

// Columns 0 .. n-1 of A: S above J.
static int place_coordinates(PawlKkt* kkt, PawlKktKlu* klu) {
  int count = 0;
  for (int j = 0; j < kkt->n; j++) {
    klu->start[j] = count;
    for (int k = kkt->S.start[j]; k < kkt->S.start[j + 1]; k++) {
      klu->index[count] = kkt->S.index[k];
      kkt->block_S.place[k] = count++;
    }
    for (int k = kkt->G.start[j]; k < kkt->G.start[j + 1]; k++) {
      klu->index[count] = kkt->n + kkt->G.index[k];
      kkt->block_J.place[k] = count++;
    }
  }
  return count;
}

// Columns n .. n+m-1 of A: a row of B above its D. `next` (m) is scratch.
static void place_multipliers(PawlKkt* kkt, PawlKktKlu* klu, int count, int* next) {
  int n = kkt->n, m = kkt->m;
  for (int k = 0; k < kkt->block_B.count; k++) {
    next[kkt->G.index[k]]++;
  }
  for (int i = 0; i < m; i++) {
    int length = next[i];
    klu->start[n + i] = next[i] = count;
    kkt->place_D[i] = count + length;
    klu->index[count + length] = n + i;
    count += length + 1;
  }
  klu->start[n + m] = count;
  for (int k = 0; k < kkt->block_B.count; k++) {  // by columns of G: rows of B^T ascend
    int place = next[kkt->G.index[k]]++;
    klu->index[place] = kkt->block_B.row[k];
    kkt->block_B.place[k] = place;
  }
}

static PawlStatus take_memory(PawlKkt* kkt, PawlKktKlu* klu) {
  PawlArena* arena = &kkt->arena;
  int size = kkt->size, count = kkt->value_count;
  kkt->values = PAWL_NEW(arena, double, count);
  klu->start = PAWL_NEW(arena, int, size + 1);
  klu->index = PAWL_NEW(arena, int, count);
  klu->P = PAWL_NEW(arena, int, size);
  klu->Q = PAWL_NEW(arena, int, size);
  klu->P_inverse = PAWL_NEW(arena, int, size);
  klu->Q_inverse = PAWL_NEW(arena, int, size);
  klu->pivot_index = PAWL_NEW(arena, int, count);
  klu->x = PAWL_NEW(arena, double, size);
  klu->right = PAWL_NEW(arena, double, size);
  if (!kkt->values || !klu->start || !klu->index || !klu->P || !klu->Q || !klu->P_inverse ||
      !klu->Q_inverse || !klu->pivot_index || !klu->x || !klu->right) {
    return PAWL_ERROR_MEMORY;
  }
  return pawl_factor_pattern_create(&klu->pattern, arena, size);
}

static PawlStatus make_room(double** values, int* room, int need) {
  if (need > *room) {
    double* larger = pawl_realloc(*values, (size_t)need, sizeof **values);
    if (!larger) {
      return PAWL_ERROR_MEMORY;
    }
    *values = larger;
    *room = need;
  }
  return PAWL_OK;
}

// Prepares the loop below for the pivot order P, Q.
static PawlStatus take_order(PawlKkt* kkt, PawlKktKlu* klu) {
  for (int k = 0; k < kkt->size; k++) {
    klu->P_inverse[klu->P[k]] = k;
    klu->Q_inverse[klu->Q[k]] = k;
  }
  for (int p = 0; p < kkt->value_count; p++) {
    klu->pivot_index[p] = klu->P_inverse[klu->index[p]];
  }
  PAWL_TRY(
      pawl_factor_pattern_find(&klu->pattern, kkt->size, klu->Q, klu->start, klu->pivot_index));
  int L_count = klu->pattern.L_start[kkt->size], U_count = klu->pattern.U_start[kkt->size];
  PAWL_TRY(make_room(&klu->L, &klu->L_room, L_count));
  PAWL_TRY(make_room(&klu->U, &klu->U_room, U_count));
  kkt->info.nonzeros = L_count + U_count - kkt->size;
  klu->has_pivots = true;
  return PAWL_OK;
}

// Orders the columns, and finds the fill that diagonal pivots would give.
static PawlStatus analyse(PawlKkt* kkt, PawlKktKlu* klu) {
  PAWL_TRY(pawl_kkt_order(kkt, klu->start, klu->index, klu->Q));
  klu->symbolic =
      klu_analyze_given(kkt->size, klu->start, klu->index, klu->Q, klu->Q, &klu->common);
  if (!klu->symbolic) {
    return PAWL_ERROR_MEMORY;
  }
  memcpy(klu->P, klu->Q, (size_t)kkt->size * sizeof *klu->P);
  PAWL_TRY(take_order(kkt, klu));
  klu->has_pivots = false;
  return PAWL_OK;
}

PawlStatus pawl_kkt_klu_create(PawlKkt* kkt) {
  PawlKktKlu* klu = PAWL_NEW(&kkt->arena, PawlKktKlu, 1);
  if (!klu) {
    return PAWL_ERROR_MEMORY;
  }
  kkt->klu = klu;
  if (kkt->block_S.count > INT32_MAX - kkt->m - 2 * kkt->block_J.count) {
    return PAWL_ERROR_MEMORY;
  }
  kkt->value_count = kkt->block_S.count + 2 * kkt->block_J.count + kkt->m;
  PAWL_TRY(take_memory(kkt, klu));
  int count = place_coordinates(kkt, klu);
  place_multipliers(kkt, klu, count, klu->P);
  klu_defaults(&klu->common);
  klu->common.tol = PIVOT_PREFERENCE;
  klu->common.btf = 0;     // one block: the matrix of a connected model does not decompose
  klu->common.scale = -1;  // A is scaled already, and its pattern checked
  return kkt->size > 0 ? analyse(kkt, klu) : PAWL_OK;
}

double pawl_kkt_klu_fill(const PawlKkt* kkt) {
  double size = kkt->size;
  return size > 0.0 ? kkt->info.nonzeros / (size * size) : 0.0;
}

void pawl_kkt_klu_destroy(PawlKkt* kkt) {
  PawlKktKlu* klu = kkt->klu;
  kkt->klu = NULL;
  if (klu) {
    klu_free_symbolic(&klu->symbolic, &klu->common);
    pawl_factor_pattern_free(&klu->pattern);
    pawl_free(klu->L);
    pawl_free(klu->U);
  }
}

// ---- choosing pivots ---------------------------------------------------------------------------

static PawlStatus choose_pivots(PawlKkt* kkt, PawlKktKlu* klu) {
  klu->has_pivots = false;
  kkt->info.full++;
  klu_numeric* numeric =
      klu_factor(klu->start, klu->index, kkt->values, klu->symbolic, &klu->common);
  if (!numeric) {
    return klu->common.status == KLU_SINGULAR ? PAWL_RETRY : PAWL_ERROR_MEMORY;
  }
  memcpy(klu->P, numeric->Pnum, (size_t)kkt->size * sizeof *klu->P);  // one block: all rows
  klu_free_numeric(&numeric, &klu->common);
  return take_order(kkt, klu);
}

const int* pawl_kkt_klu_order(const PawlKkt* kkt) {
  return kkt->klu->has_pivots ? kkt->klu->P : NULL;
}

PawlStatus pawl_kkt_klu_set_order(PawlKkt* kkt, const void* P) {
  PawlKktKlu* klu = kkt->klu;
  klu->has_pivots = false;
  if (!P) {
    return PAWL_OK;
  }
  memcpy(klu->P, P, (size_t)kkt->size * sizeof *klu->P);
  return take_order(kkt, klu);
}

// ---- factorisation and solution ----------------------------------------------------------------

// x <- L^-1 A(:,Q[k]), and its upper part into U. x(k..) is left for finish_column.
static inline void eliminate_column(PawlKktKlu* klu, const double* A, int k) {
  const int *L_start = klu->pattern.L_start, *L_index = klu->pattern.L_index;
  const int *U_start = klu->pattern.U_start, *U_index = klu->pattern.U_index;
  const double* L = klu->L;
  double *U = klu->U, *x = klu->x;
  int column = klu->Q[k];
  for (int p = klu->start[column]; p < klu->start[column + 1]; p++) {
    x[klu->pivot_index[p]] = A[p];
  }
  for (int p = U_start[k]; p < U_start[k + 1] - 1; p++) {
    int j = U_index[p];
    double u = x[j];
    x[j] = 0.0;
    U[p] = u;
    for (int q = L_start[j] + 1; q < L_start[j + 1]; q++) {
      x[L_index[q]] -= u * L[q];
    }
  }
}

// L(:,k) <- d x(k+1..), 1 / U_kk <- d, x <- 0. Returns the largest entry of L's column.
static inline double finish_column(PawlKktKlu* klu, int k, double d, double l_factor) {
  const int *L_start = klu->pattern.L_start, *L_index = klu->pattern.L_index;
  double *L = klu->L, *x = klu->x, top = 0.0;
  x[k] = 0.0;
  klu->U[klu->pattern.U_start[k + 1] - 1] = d;
  for (int q = L_start[k] + 1; q < L_start[k + 1]; q++) {
    int i = L_index[q];
    double l = x[i] * l_factor, size = fabs(l);
    x[i] = 0.0;
    L[q] = l;
    top = size > top ? size : top;
  }
  return top;
}

// Returns the largest entry of L, or infinity after a pivot that is too small.
static double factor_columns(PawlKkt* kkt, PawlKktKlu* klu, double smallest) {
  double top = 0.0, low = INFINITY;
  for (int k = 0; k < kkt->size; k++) {
    eliminate_column(klu, kkt->values, k);
    double pivot = klu->x[k], d = 1.0 / pivot;
    double size = finish_column(klu, k, d, d);
    top = size > top ? size : top;
    low = fabs(pivot) < low ? fabs(pivot) : low;
    if (!(fabs(pivot) > smallest)) {
      return INFINITY;
    }
  }
  kkt->inverse_pivot = 1.0 / low;
  return top;
}

PawlStatus pawl_kkt_klu_factor(PawlKkt* kkt, double smallest) {
  PawlKktKlu* klu = kkt->klu;
  if (kkt->size == 0) {
    return PAWL_OK;
  }
  if (klu->has_pivots) {
    double largest = factor_columns(kkt, klu, smallest);
    klu->refine = largest > REFINED_MULTIPLIER;
    if (largest <= LARGEST_MULTIPLIER) {
      return PAWL_OK;
    }
  }
  PAWL_TRY(choose_pivots(kkt, klu));
  double largest = factor_columns(kkt, klu, smallest);
  klu->refine = largest > REFINED_MULTIPLIER;
  return largest < (double)INFINITY ? PAWL_OK : PAWL_RETRY;
}

// Pivots for the regular neighbour A + delta I.
static PawlStatus choose_regular_pivots(PawlKkt* kkt, const int* diagonal, double delta) {
  for (int k = 0; k < kkt->size; k++) {
    kkt->work[k] = kkt->values[diagonal[k]];
    kkt->values[diagonal[k]] += delta;
  }
  PawlStatus status = choose_pivots(kkt, kkt->klu);
  for (int k = 0; k < kkt->size; k++) {
    kkt->values[diagonal[k]] = kkt->work[k];
  }
  return status;
}

// Largest entry of x below the pivot.
static double largest_below(const PawlKktKlu* klu, int k) {
  double top = 0.0;
  const int *L_start = klu->pattern.L_start, *L_index = klu->pattern.L_index;
  for (int q = L_start[k] + 1; q < L_start[k + 1]; q++) {
    top = fmax(top, fabs(klu->x[L_index[q]]));
  }
  return top;
}

// Returns false when a pivot is small although its column is not: the order does not suit.
static bool find_defects(PawlKkt* kkt, double smallest, int* columns, int* count) {
  PawlKktKlu* klu = kkt->klu;
  bool suits = true;
  *count = 0;
  for (int k = 0; k < kkt->size; k++) {
    eliminate_column(klu, kkt->values, k);
    double pivot = klu->x[k], d = 1.0 / pivot, l_factor = d;
    if (!(fabs(pivot) > smallest)) {
      suits = suits && largest_below(klu, k) <= UNSUITED * smallest;
      columns[(*count)++] = klu->Q[k];
      d = 1.0;
      l_factor = 0.0;
    }
    finish_column(klu, k, d, l_factor);
  }
  return suits;
}

PawlStatus pawl_kkt_klu_defects(PawlKkt* kkt, const int* diagonal, double smallest, int* columns,
                                int* count) {
  static const double deltas[] = REGULAR_SHIFTS;
  bool suits = false;
  *count = 0;
  kkt->klu->refine = false;
  for (int t = 0; kkt->size > 0 && !suits && t < (int)(sizeof deltas / sizeof *deltas); t++) {
    PAWL_TRY(choose_regular_pivots(kkt, diagonal, deltas[t]));
    suits = find_defects(kkt, smallest, columns, count);
  }
  return PAWL_OK;
}

// w <- U^-1 L^-1 w
static void solve_factors(const PawlKktKlu* klu, int size, double* w) {
  const int *L_start = klu->pattern.L_start, *L_index = klu->pattern.L_index;
  const int *U_start = klu->pattern.U_start, *U_index = klu->pattern.U_index;
  const double *L = klu->L, *U = klu->U;
  for (int k = 0; k < size; k++) {
    double v = w[k];
    for (int q = L_start[k] + 1; q < L_start[k + 1]; q++) {
      w[L_index[q]] -= v * L[q];
    }
  }
  for (int k = size - 1; k >= 0; k--) {
    int diagonal = U_start[k + 1] - 1;
    double v = w[k] * U[diagonal];
    w[k] = v;
    for (int p = U_start[k]; p < diagonal; p++) {
      w[U_index[p]] -= v * U[p];
    }
  }
}

// w <- w + A^-1 (right - A w), w in the order of the columns' pivots
static void refine(PawlKkt* kkt, double* w) {
  PawlKktKlu* klu = kkt->klu;
  double* r = klu->x;
  for (int k = 0; k < kkt->size; k++) {
    r[k] = klu->right[k];
  }
  for (int k = 0; k < kkt->size; k++) {
    int column = klu->Q[k];
    for (int p = klu->start[column]; p < klu->start[column + 1]; p++) {
      r[klu->pivot_index[p]] -= kkt->values[p] * w[k];
    }
  }
  solve_factors(klu, kkt->size, r);
  for (int k = 0; k < kkt->size; k++) {
    w[k] += r[k];
    r[k] = 0.0;
  }
}

void pawl_kkt_klu_solve(PawlKkt* kkt, double* x, double* y) {
  PawlKktKlu* klu = kkt->klu;
  int n = kkt->n, m = kkt->m;
  const int *P_inverse = klu->P_inverse, *Q_inverse = klu->Q_inverse;
  double* w = kkt->work;
  for (int j = 0; j < n; j++) {
    w[P_inverse[j]] = x[j] * kkt->right_scale[j];
  }
  for (int i = 0; i < m; i++) {
    w[P_inverse[n + i]] = y[i] * kkt->right_scale[n + i];
  }
  if (klu->refine) {
    memcpy(klu->right, w, (size_t)kkt->size * sizeof *w);
  }
  solve_factors(klu, kkt->size, w);
  if (klu->refine) {
    refine(kkt, w);
  }
  for (int j = 0; j < n; j++) {
    x[j] = w[Q_inverse[j]] * kkt->col_scale[j];
  }
  for (int i = 0; i < m; i++) {
    y[i] = w[Q_inverse[n + i]] * kkt->col_scale[n + i];
  }
}
