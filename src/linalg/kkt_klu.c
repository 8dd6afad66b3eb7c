// SPDX-License-Identifier: Apache-2.0
// The KKT system as a sparse matrix, in the way of KLU. The columns are ordered once, pivots are
// chosen by the numbers (kkt_pivots.h); with this order P, Q and the patterns of L and U, new
// values are factored here, column by column without a search (left-looking, Gilbert and Peierls):
//   solve L x = A(:,k) above the diagonal, U(:,k) = x(0..k), L(:,k) = x(k+1..) / U_kk
// When the old pivots no longer suit the values, they are chosen again. All results come from the
// loop here, so they depend on the values and the pivot order only. Memory is taken where factors
// have more entries than there was room for, and stays.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/kkt_impl.h"
#include "linalg/kkt_pivots.h"
#include "linalg/kkt_symbolic.h"

// Old pivots are given up when an entry of L exceeds the first; beyond the second, a solution is
// refined once.
#define LARGEST_MULTIPLIER 1e3
#define REFINED_MULTIPLIER 32.0
// A diagonal pivot is kept down to this fraction of the largest entry of its column: what new
// pivots give needs no refinement, and the fill is nearly the one foreseen.
#define PIVOT_PREFERENCE (1.0 / REFINED_MULTIPLIER)
// Added to the diagonal of a singular matrix to find a pivot order for it, tried in turn: large
// against rounding, small against the pivots of a regular matrix.
#define REGULAR_SHIFTS \
  { 0x1p-26, 0x1p-36, 0x1p-16 }
#define UNSUITED 1e3  // entry below a pivot, in units of the smallest pivot accepted

// After so many factorisations with the same rows, inactive ones are left out of the patterns. To
// find these costs about two factorisations, and up to half of each later one is saved.
#define STEADY 8

typedef struct Order {  // in which the unknowns are eliminated, and what follows from it
  int count;
  int* column;                // (count) the columns of A in this order
  int *row_at, *col_at;       // (size) where a row and a column of A are in it; `size`: nowhere
  int* pivot_index;           // (value_count) row_at of each entry of A
  PawlFactorPattern pattern;  // of L and U
} Order;

struct PawlKktKlu {
  PawlKktPivots pivots;
  int *start, *index;    // (size + 1), (value_count) the pattern of A
  int *home_B, *home_J;  // (entries of G) places of entries of active rows
  bool has_pivots;       // P and Q below are those of a factorisation
  int *P, *Q;            // (size) row P[k], column Q[k] of A is the k-th
  Order all, few;        // for P and Q, with every row; without the inactive rows of one set
  Order order;           // the one in use: its numbers and pointers
  bool left_out;         // that is `few`
  int steady;            // factorisations in a row with this set and P
  double *L, *U;         // U holds 1 / U_kk on the diagonal
  int L_room, U_room;
  bool refine;    // solutions need a step of refinement
  double* x;      // (size + 1) zero between calls; the last takes what is in inactive rows
  double* right;  // (size) scaled right side during a refined solve
  double* two;    // (2 size) two right sides
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
      klu->home_J[k] = kkt->block_J.place[k] = count++;
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
    klu->home_B[k] = kkt->block_B.place[k] = place;
  }
}

static PawlStatus order_create(PawlArena* arena, Order* o, int size, int value_count) {
  o->column = PAWL_NEW(arena, int, size);
  o->row_at = PAWL_NEW(arena, int, size);
  o->col_at = PAWL_NEW(arena, int, size);
  o->pivot_index = PAWL_NEW(arena, int, value_count);
  PAWL_TRY(pawl_factor_pattern_create(&o->pattern, arena, size));
  return o->column && o->row_at && o->col_at && o->pivot_index ? PAWL_OK : PAWL_ERROR_MEMORY;
}

static PawlStatus take_memory(PawlKkt* kkt, PawlKktKlu* klu) {
  PawlArena* arena = &kkt->arena;
  int size = kkt->size, count = kkt->value_count;
  kkt->values = PAWL_NEW(arena, double, (size_t)count + 2 * (size_t)kkt->block_J.count);
  klu->start = PAWL_NEW(arena, int, size + 1);
  klu->index = PAWL_NEW(arena, int, count);
  klu->P = PAWL_NEW(arena, int, size);
  klu->Q = PAWL_NEW(arena, int, size);
  klu->home_B = PAWL_NEW(arena, int, kkt->block_B.count);
  klu->home_J = PAWL_NEW(arena, int, kkt->block_J.count);
  klu->x = PAWL_NEW(arena, double, size + 1);
  klu->right = PAWL_NEW(arena, double, size);
  klu->two = PAWL_NEW(arena, double, 2 * size);
  kkt->alone = PAWL_NEW(arena, double, kkt->block_B.count + kkt->block_J.count);
  if (!kkt->values || !klu->start || !klu->index || !klu->P || !klu->Q || !klu->home_B ||
      !klu->home_J || !klu->x || !klu->right || !klu->two || !kkt->alone) {
    return PAWL_ERROR_MEMORY;
  }
  PAWL_TRY(pawl_kkt_pivots_create(&klu->pivots, arena, size, klu->start, klu->index, klu->Q));
  PAWL_TRY(order_create(arena, &klu->all, size, count));
  return kkt->m > 0 ? order_create(arena, &klu->few, size, count) : PAWL_OK;
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

// The order P, Q without the rows that are not in `set` (NULL: with all) and their columns, and the
// patterns of its factors.
static PawlStatus find_order(const PawlKkt* kkt, Order* o, const unsigned char* set) {
  const PawlKktKlu* klu = kkt->klu;
  int n = kkt->n, size = kkt->size;
  o->count = 0;
  for (int k = 0; k < size; k++) {
    int row = klu->P[k], column = klu->Q[k];
    bool in = !set || column < n || set[column - n];
    o->row_at[row] = o->col_at[column] = in ? o->count : size;
    if (in) {
      o->column[o->count++] = column;
    }
  }
  for (int p = 0; p < kkt->value_count; p++) {
    o->pivot_index[p] = o->row_at[klu->index[p]];
  }
  return pawl_factor_pattern_find(&o->pattern, o->count, o->column, klu->start, o->pivot_index);
}

static void use_order(PawlKkt* kkt, const Order* o) {
  kkt->klu->order = *o;
  kkt->klu->left_out = o == &kkt->klu->few;
  kkt->info.nonzeros = o->pattern.L_start[o->count] + o->pattern.U_start[o->count] - o->count;
}

// Prepares the loop below for the pivot order P, Q. Factors with fewer rows have no other entries:
// all room that they may need is taken here.
static PawlStatus take_order(PawlKkt* kkt, PawlKktKlu* klu) {
  Order* all = &klu->all;
  klu->steady = 0;
  PAWL_TRY(find_order(kkt, all, NULL));
  PAWL_TRY(make_room(&klu->L, &klu->L_room, all->pattern.L_room));
  PAWL_TRY(make_room(&klu->U, &klu->U_room, all->pattern.U_room));
  if (kkt->m > 0) {
    PAWL_TRY(pawl_factor_pattern_reserve(&klu->few.pattern, &all->pattern));
  }
  use_order(kkt, all);
  klu->has_pivots = true;
  return PAWL_OK;
}

// Leaves the inactive rows out. Factorisations have succeeded with them: their D, the only entries
// of their rows and columns that are not 0, were the pivots. So what is left out are operations
// with 0, and the numbers of L and U that remain are the same.
static PawlStatus leave_out(PawlKkt* kkt, PawlKktKlu* klu) {
  PAWL_TRY(find_order(kkt, &klu->few, kkt->set));
  use_order(kkt, &klu->few);
  return PAWL_OK;
}

// Orders the columns, and finds the fill that diagonal pivots would give.
static PawlStatus analyse(PawlKkt* kkt, PawlKktKlu* klu) {
  PAWL_TRY(pawl_kkt_order(kkt, klu->start, klu->index, klu->Q));
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
  if (kkt->block_J.count > INT32_MAX / 8 ||
      kkt->block_S.count > INT32_MAX - kkt->m - 4 * kkt->block_J.count) {
    return PAWL_ERROR_MEMORY;
  }
  kkt->behind = kkt->value_count = kkt->block_S.count + 2 * kkt->block_J.count + kkt->m;
  PAWL_TRY(take_memory(kkt, klu));
  int count = place_coordinates(kkt, klu);
  place_multipliers(kkt, klu, count, klu->P);
  return kkt->size > 0 ? analyse(kkt, klu) : PAWL_OK;
}

// An inactive row and its column keep 1 on the diagonal; their entries stand behind.
static inline void switch_off(PawlKkt* kkt, const PawlKktKlu* klu, int i) {
  int B_behind = kkt->behind, J_behind = B_behind + kkt->block_B.count;
  kkt->values[kkt->place_D[i]] = 1.0;
  for (int e = kkt->row_start[i]; e < kkt->row_start[i + 1]; e++) {
    int k = kkt->row_entry[e];
    kkt->values[klu->home_B[k]] = kkt->values[klu->home_J[k]] = 0.0;
    kkt->block_B.place[k] = B_behind + k;
    kkt->block_J.place[k] = J_behind + k;
  }
}

static inline void switch_on(PawlKkt* kkt, const PawlKktKlu* klu, int i) {
  kkt->values[kkt->place_D[i]] = 0.0;
  for (int e = kkt->row_start[i]; e < kkt->row_start[i + 1]; e++) {
    int k = kkt->row_entry[e];
    kkt->block_B.place[k] = klu->home_B[k];
    kkt->block_J.place[k] = klu->home_J[k];
  }
}

void pawl_kkt_klu_switch(PawlKkt* kkt, const unsigned char* active) {
  PawlKktKlu* klu = kkt->klu;
  for (int i = 0; i < kkt->m; i++) {
    bool on = !active || active[i];
    if (on && !kkt->set[i]) {
      switch_on(kkt, klu, i);
    } else if (!on && kkt->set[i]) {
      switch_off(kkt, klu, i);
    }
  }
  klu->steady = 0;
  if (klu->left_out) {
    use_order(kkt, &klu->all);
  }
}

double pawl_kkt_klu_fill(const PawlKkt* kkt) {
  double size = kkt->size;
  return size > 0.0 ? kkt->info.nonzeros / (size * size) : 0.0;
}

void pawl_kkt_klu_destroy(PawlKkt* kkt) {
  PawlKktKlu* klu = kkt->klu;
  kkt->klu = NULL;
  if (klu) {
    pawl_factor_pattern_free(&klu->all.pattern);
    pawl_factor_pattern_free(&klu->few.pattern);
    pawl_free(klu->L);
    pawl_free(klu->U);
  }
}

// ---- choosing pivots ---------------------------------------------------------------------------

static PawlStatus choose_pivots(PawlKkt* kkt, PawlKktKlu* klu) {
  klu->has_pivots = false;
  kkt->info.full++;
  PawlKktPivotsRoom room = {&klu->all.pattern, &klu->L, &klu->L_room, klu->x, NULL};
  PawlStatus status =
      pawl_kkt_pivots_choose(&klu->pivots, kkt->values, PIVOT_PREFERENCE, &room, klu->P);
  if (status != PAWL_OK) {
    use_order(kkt, klu->left_out ? &klu->few : &klu->all);  // its indices may have moved
    return status;
  }
  return take_order(kkt, klu);
}

const int* pawl_kkt_klu_order(const PawlKkt* kkt) {
  return kkt->klu->has_pivots ? kkt->klu->P : NULL;
}

void pawl_kkt_klu_choose_order(PawlKkt* kkt) {
  kkt->klu->has_pivots = false;
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

// x <- L^-1 A(:,k), and its upper part into U. x(k..) is left for finish_column.
static inline void eliminate_column(PawlKktKlu* klu, const Order* o, const double* A, int k) {
  const int *L_start = o->pattern.L_start, *L_index = o->pattern.L_index;
  const int *U_start = o->pattern.U_start, *U_index = o->pattern.U_index;
  const double* L = klu->L;
  double *U = klu->U, *x = klu->x;
  int column = o->column[k];
  for (int p = klu->start[column]; p < klu->start[column + 1]; p++) {
    x[o->pivot_index[p]] = A[p];
  }
  for (int p = U_start[k]; p < U_start[k + 1] - 1; p++) {
    int j = U_index[p];
    double u = x[j];
    x[j] = 0.0;
    U[p] = u;
    int end = u != 0.0 ? L_start[j + 1] : 0;  // rows that are idle leave many zeros
    for (int q = L_start[j] + 1; q < end; q++) {
      x[L_index[q]] -= u * L[q];
    }
  }
}

// L(:,k) <- d x(k+1..), 1 / U_kk <- d, x <- 0. Returns the largest entry of L's column.
static inline double finish_column(PawlKktKlu* klu, const Order* o, int k, double d,
                                   double l_factor) {
  const int *L_start = o->pattern.L_start, *L_index = o->pattern.L_index;
  double *L = klu->L, *x = klu->x, top = 0.0;
  x[k] = 0.0;
  klu->U[o->pattern.U_start[k + 1] - 1] = d;
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
  const Order* o = &klu->order;
  double top = 0.0, low = INFINITY;
  for (int k = 0; k < o->count; k++) {
    eliminate_column(klu, o, kkt->values, k);
    double pivot = klu->x[k], d = 1.0 / pivot;
    double size = finish_column(klu, o, k, d, d);
    top = size > top ? size : top;
    low = fabs(pivot) < low ? fabs(pivot) : low;
    if (!(fabs(pivot) > smallest)) {
      return INFINITY;
    }
  }
  kkt->inverse_pivot = 1.0 / low;
  return top;
}

// Factors with the pivots that are there; PAWL_RETRY when they do not suit.
static PawlStatus factor_again(PawlKkt* kkt, PawlKktKlu* klu, double smallest) {
  if (klu->steady == STEADY && kkt->inactive_count > 0 && !klu->left_out) {
    PAWL_TRY(leave_out(kkt, klu));
  }
  double largest = factor_columns(kkt, klu, smallest);
  klu->refine = largest > REFINED_MULTIPLIER;
  if (!(largest <= LARGEST_MULTIPLIER)) {
    return PAWL_RETRY;
  }
  klu->steady += klu->steady < STEADY;
  return PAWL_OK;
}

PawlStatus pawl_kkt_klu_factor(PawlKkt* kkt, double smallest) {
  PawlKktKlu* klu = kkt->klu;
  if (kkt->size == 0) {
    return PAWL_OK;
  }
  PawlStatus status = klu->has_pivots ? factor_again(kkt, klu, smallest) : PAWL_RETRY;
  if (status != PAWL_RETRY) {
    return status;
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
static double largest_below(const PawlKktKlu* klu, const Order* o, int k) {
  double top = 0.0;
  const int *L_start = o->pattern.L_start, *L_index = o->pattern.L_index;
  for (int q = L_start[k] + 1; q < L_start[k + 1]; q++) {
    top = fmax(top, fabs(klu->x[L_index[q]]));
  }
  return top;
}

// Returns false when a pivot is small although its column is not: the order does not suit.
static bool find_defects(PawlKkt* kkt, double smallest, int* columns, int* count) {
  PawlKktKlu* klu = kkt->klu;
  const Order* o = &klu->order;
  bool suits = true;
  *count = 0;
  for (int k = 0; k < o->count; k++) {
    eliminate_column(klu, o, kkt->values, k);
    double pivot = klu->x[k], d = 1.0 / pivot, l_factor = d;
    if (!(fabs(pivot) > smallest)) {
      suits = suits && largest_below(klu, o, k) <= UNSUITED * smallest;
      columns[(*count)++] = o->column[k];
      d = 1.0;
      l_factor = 0.0;
    }
    finish_column(klu, o, k, d, l_factor);
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
static void solve_factors(const PawlKktKlu* klu, const Order* o, double* w) {
  const int *L_start = o->pattern.L_start, *L_index = o->pattern.L_index;
  const int *U_start = o->pattern.U_start, *U_index = o->pattern.U_index;
  const double *L = klu->L, *U = klu->U;
  int size = o->count;
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
  const Order* o = &klu->order;
  double* r = klu->x;
  for (int k = 0; k < o->count; k++) {
    r[k] = klu->right[k];
  }
  for (int k = 0; k < o->count; k++) {
    int column = o->column[k];
    for (int p = klu->start[column]; p < klu->start[column + 1]; p++) {
      r[o->pivot_index[p]] -= kkt->values[p] * w[k];
    }
  }
  solve_factors(klu, o, r);
  for (int k = 0; k < o->count; k++) {
    w[k] += r[k];
    r[k] = 0.0;
  }
}

static inline void solve_ordered(PawlKkt* kkt, double* w) {
  PawlKktKlu* klu = kkt->klu;
  if (klu->refine) {
    memcpy(klu->right, w, (size_t)klu->order.count * sizeof *w);
  }
  solve_factors(klu, &klu->order, w);
  if (klu->refine) {
    refine(kkt, w);
  }
}

// The same with inactive rows. Whether these are in the order or not, the unknowns are the same up
// to the sign of a 0; adding 0 makes it positive.
static void solve_active(PawlKkt* kkt, double* x, double* y) {
  const Order* o = &kkt->klu->order;
  int n = kkt->n;
  double* w = kkt->work;
  for (int a = 0; a < kkt->inactive_count && !kkt->klu->left_out; a++) {
    w[o->row_at[n + kkt->inactive[a]]] = 0.0;
  }
  for (int j = 0; j < n; j++) {
    w[o->row_at[j]] = x[j] * kkt->row_scale[j];
  }
  for (int a = 0; a < kkt->active_count; a++) {
    int i = kkt->active[a];
    w[o->row_at[n + i]] = y[i] * kkt->row_scale[n + i];
  }
  solve_ordered(kkt, w);
  for (int j = 0; j < n; j++) {
    x[j] = w[o->col_at[j]] * kkt->col_scale[j] + 0.0;
  }
  for (int a = 0; a < kkt->active_count; a++) {
    int i = kkt->active[a];
    y[i] = w[o->col_at[n + i]] * kkt->col_scale[n + i] + 0.0;
  }
}

void pawl_kkt_klu_solve(PawlKkt* kkt, double* x, double* y) {
  if (kkt->inactive_count > 0) {
    solve_active(kkt, x, y);
    return;
  }
  int n = kkt->n, m = kkt->m;
  const int *row_at = kkt->klu->order.row_at, *col_at = kkt->klu->order.col_at;
  double* w = kkt->work;
  for (int j = 0; j < n; j++) {
    w[row_at[j]] = x[j] * kkt->row_scale[j];
  }
  for (int i = 0; i < m; i++) {
    w[row_at[n + i]] = y[i] * kkt->row_scale[n + i];
  }
  solve_ordered(kkt, w);
  for (int j = 0; j < n; j++) {
    x[j] = w[col_at[j]] * kkt->col_scale[j];
  }
  for (int i = 0; i < m; i++) {
    y[i] = w[col_at[n + i]] * kkt->col_scale[n + i];
  }
}

// ---- two right sides ----------------------------------------------------------------------------
// Number k of both, w[2 k] and w[2 k + 1].
static inline void subtract_two(double* restrict w, double v_0, double v_1, double factor) {
  double a = w[0] - v_0 * factor, b = w[1] - v_1 * factor;
  w[0] = a;
  w[1] = b;
}

static void solve_factors_two(const PawlKktKlu* klu, const Order* o, double* w) {
  const int *L_start = o->pattern.L_start, *L_index = o->pattern.L_index;
  const int *U_start = o->pattern.U_start, *U_index = o->pattern.U_index;
  const double *L = klu->L, *U = klu->U;
  int size = o->count;
  for (int k = 0; k < size; k++) {
    double v_0 = w[2 * k], v_1 = w[2 * k + 1];
    for (int q = L_start[k] + 1; q < L_start[k + 1]; q++) {
      subtract_two(w + 2 * L_index[q], v_0, v_1, L[q]);
    }
  }
  for (int k = size - 1; k >= 0; k--) {
    int diagonal = U_start[k + 1] - 1;
    double v_0 = w[2 * k] * U[diagonal], v_1 = w[2 * k + 1] * U[diagonal];
    w[2 * k] = v_0;
    w[2 * k + 1] = v_1;
    for (int p = U_start[k]; p < diagonal; p++) {
      subtract_two(w + 2 * U_index[p], v_0, v_1, U[p]);
    }
  }
}

void pawl_kkt_klu_solve_two(PawlKkt* kkt, double* const x[2], double* const y[2]) {
  int n = kkt->n;
  const Order* o = &kkt->klu->order;
  const int *row_at = o->row_at, *col_at = o->col_at;
  const double *R = kkt->row_scale, *C = kkt->col_scale;
  double* w = kkt->klu->two;
  if (kkt->klu->refine) {
    pawl_kkt_klu_solve(kkt, x[0], y[0]);
    pawl_kkt_klu_solve(kkt, x[1], y[1]);
    return;
  }
  for (int k = 0; k < kkt->size; k++) {
    w[2 * row_at[k]] = (k < n ? x[0][k] : y[0][k - n]) * R[k];
    w[2 * row_at[k] + 1] = (k < n ? x[1][k] : y[1][k - n]) * R[k];
  }
  solve_factors_two(kkt->klu, o, w);
  for (int k = 0; k < n; k++) {
    x[0][k] = w[2 * col_at[k]] * C[k];
    x[1][k] = w[2 * col_at[k] + 1] * C[k];
  }
  for (int k = n; k < kkt->size; k++) {
    y[0][k - n] = w[2 * col_at[k]] * C[k];
    y[1][k - n] = w[2 * col_at[k] + 1] * C[k];
  }
}
