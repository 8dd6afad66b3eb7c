// SPDX-License-Identifier: Apache-2.0
// The KKT system as one dense matrix, for small systems.
#include <math.h>
#include <string.h>

#include "linalg/kkt_impl.h"
#include "linalg/lu_small.h"

#define LARGEST_UNROLLED 16  // sizes with a solve of their own
enum { LARGEST_KEPT = 8 };   // size of matrices of which two are kept, that take turns

// places of a matrix of which those that are always zero are listed; a place is a byte then
enum { MOST_LISTED = 256 };

PawlStatus pawl_kkt_dense_create(PawlKkt* kkt) {
  int size = kkt->size;
  if (size > PAWL_KKT_DENSE_MAX) {
    return PAWL_ERROR_MEMORY;
  }
  kkt->behind = size * size;
  size_t room = (size_t)kkt->behind + 2 * (size_t)kkt->block_J.count + (size_t)kkt->block_S.count;
  kkt->kept_count = size <= LARGEST_KEPT ? 2 : 1;
  for (int k = 0; k < kkt->kept_count; k++) {
    kkt->kept[k].values = PAWL_NEW(&kkt->arena, double, room);
    kkt->kept[k].pivot = PAWL_NEW(&kkt->arena, int, size);
  }
  kkt->dense_R = PAWL_NEW(&kkt->arena, double, size);
  kkt->dense_C = PAWL_NEW(&kkt->arena, double, size);
  kkt->dense_y = PAWL_NEW(&kkt->arena, double, kkt->m);
  kkt->zeros = PAWL_NEW(&kkt->arena, unsigned char, MOST_LISTED);
  if (kkt->arena.failed) {
    return PAWL_ERROR_MEMORY;
  }
  PAWL_TRY(pawl_kkt_pins_create(kkt));
  PAWL_TRY(pawl_kkt_line_create(kkt));
  pawl_kkt_dense_turn(kkt, 0);
  pawl_kkt_dense_fit(kkt);
  return PAWL_OK;
}

void pawl_kkt_dense_turn(PawlKkt* kkt, int turn) {
  const PawlKktKept* to = &kkt->kept[turn];
  kkt->kept[kkt->turn].plain = kkt->plain;
  kkt->turn = turn;
  kkt->values = to->values;
  kkt->pivot = to->pivot;
  kkt->plain = to->plain;
  pawl_kkt_pins_turn(kkt, to->pinned);
}

static void place_active(PawlKkt* kkt, int size) {
  PawlKktBlock *B = &kkt->block_B, *J = &kkt->block_J;
  int n = kkt->n;
  for (int a = 0; a < kkt->active_count; a++) {
    int i = kkt->active[a];
    for (int e = kkt->row_start[i]; e < kkt->row_start[i + 1]; e++) {
      int k = kkt->row_entry[e];
      B->place[k] = B->row[k] + (n + a) * size;
      J->place[k] = n + a + J->col[k] * size;
    }
  }
}

static void place_inactive(PawlKkt* kkt) {
  PawlKktBlock *B = &kkt->block_B, *J = &kkt->block_J;
  for (int a = 0; a < kkt->inactive_count; a++) {
    int i = kkt->inactive[a];
    for (int e = kkt->row_start[i]; e < kkt->row_start[i + 1]; e++) {
      int k = kkt->row_entry[e];
      B->place[k] = kkt->behind + k;
      J->place[k] = kkt->behind + B->count + k;
    }
  }
}

static void fit_all(PawlKkt* kkt) {
  int n = kkt->n, size = n + kkt->active_count;
  const PawlKktBlock* S = &kkt->block_S;
  for (int k = 0; k < S->count; k++) {
    S->place[k] = S->row[k] + S->col[k] * size;
  }
  place_active(kkt, size);
  for (int k = 0; k < size; k++) {
    int i = k < n ? k : n + kkt->active[k - n];
    kkt->dense_R[k] = kkt->row_scale[i];
    kkt->dense_C[k] = kkt->col_scale[i];
  }
  kkt->dense_size = size;
}

static void mark(const PawlKkt* kkt, const PawlKktBlock* block, bool* written) {
  for (int k = 0; k < block->count; k++) {
    if (block->place[k] < kkt->value_count) {
      written[block->place[k]] = true;
    }
  }
}

static void list_zeros(PawlKkt* kkt) {
  bool written[MOST_LISTED] = {false};
  mark(kkt, &kkt->block_S, written);
  mark(kkt, &kkt->block_B, written);
  mark(kkt, &kkt->block_J, written);
  kkt->zero_count = 0;
  for (int k = 0; k < kkt->value_count; k++) {
    kkt->zeros[kkt->zero_count] = (unsigned char)k;
    kkt->zero_count += !written[k];
  }
}

// A call clears many places faster, and a list pays where the active rows stay for a while.
void pawl_kkt_dense_clear(PawlKkt* kkt) {
  enum { FEW = 6, STEADY = 8 };
  kkt->kept[kkt->turn].clean = kkt->kept[kkt->turn].based = false;
  if (kkt->zero_count < 0 || kkt->zero_count > FEW) {
    memset(kkt->values, 0, (size_t)kkt->value_count * sizeof *kkt->values);
    kkt->zero_count -= kkt->zero_count < 0 && kkt->value_count <= MOST_LISTED;
    if (kkt->zero_count < -STEADY) {
      list_zeros(kkt);
    }
    return;
  }
  for (int k = 0; k < kkt->zero_count; k++) {
    kkt->values[kkt->zeros[k]] = 0.0;
  }
}

void pawl_kkt_dense_fit(PawlKkt* kkt) {
  pawl_kkt_pins_find(kkt);
  place_inactive(kkt);
  if (pawl_kkt_pins_are_on(kkt)) {
    pawl_kkt_pins_fit(kkt);
  } else {
    fit_all(kkt);
  }
  kkt->info.nonzeros = kkt->value_count = kkt->dense_size * kkt->dense_size;
  kkt->zero_count = -1;
  pawl_kkt_line_turn(kkt);
}

bool pawl_kkt_dense_factor_plain(PawlKkt* kkt, double smallest) {
  if (kkt->pin_count > 0 && pawl_kkt_pins_are_on(kkt)) {
    pawl_kkt_pins_invert(kkt);
  }
  kkt->plain = pawl_lu_factor_plain(kkt->dense_size, kkt->values, smallest);
  return kkt->plain;
}

PawlStatus pawl_kkt_dense_factor(PawlKkt* kkt, double smallest) {
  int size = kkt->n + kkt->active_count;
  kkt->info.full++;
  if (pawl_lu_factor(size, kkt->values, kkt->pivot, smallest) != 0) {
    return PAWL_RETRY;
  }
  double top = 0.0;  // the diagonal holds the inverse pivots
  for (int k = 0; k < size; k++) {
    double d = fabs(kkt->values[(size_t)k * (size_t)(size + 1)]);
    top = d > top ? d : top;
  }
  kkt->inverse_pivot = top;
  return PAWL_OK;
}

bool pawl_kkt_is_definite(const PawlKkt* kkt) {
  if (kkt->band) {
    return pawl_kkt_band_is_definite(kkt);
  }
  if (kkt->blocks) {
    return !kkt->rescued && pawl_kkt_blocks_are_definite(kkt);
  }
  size_t next = (size_t)(kkt->n + kkt->active_count + 1);
  bool positive = !kkt->klu && kkt->plain && !pawl_kkt_pins_are_on(kkt);
  for (int k = 0; positive && k < kkt->n; k++) {
    positive = kkt->values[(size_t)k * next] > 0.0;
  }
  return positive;
}

// Right side in, scaled; solution out, a zero without its sign (+ 0.0), which kkt_line.c does not
// know. With `size` a constant the unknowns t stay in
// registers; through arrays, a load that spans two fresh stores would wait for both.
PAWL_LU_INLINE void solve_plain(const PawlKkt* kkt, int size, double* t, double* x, double* y) {
  const double *R = kkt->dense_R, *C = kkt->dense_C;
  int n = kkt->n;
  PAWL_LU_UNROLL
  for (int k = 0; k < size; k++) {
    const double* from = k < n ? x + k : y + (k - n);
    t[k] = *from * R[k];
  }
  pawl_lu_substitute(size, kkt->values, t);
  PAWL_LU_UNROLL
  for (int k = 0; k < size; k++) {
    double* to = k < n ? x + k : y + (k - n);
    *to = t[k] * C[k] + 0.0;
  }
}

static void solve_pivoted(const PawlKkt* kkt, int size, double* t, double* x, double* y) {
  const double *R = kkt->dense_R, *C = kkt->dense_C;
  int n = kkt->n;
  for (int k = 0; k < size; k++) {
    int p = kkt->pivot[k];
    t[k] = (p < n ? x[p] : y[p - n]) * R[p];
  }
  pawl_lu_substitute(size, kkt->values, t);
  for (int k = 0; k < size; k++) {
    *(k < n ? x + k : y + (k - n)) = t[k] * C[k] + 0.0;
  }
}

// y holds the active rows alone.
PAWL_LU_INLINE void solve_active(PawlKkt* kkt, double* x, double* y) {
  double t[LARGEST_UNROLLED];
  if (kkt->pin_count > 0 && pawl_kkt_pins_are_on(kkt)) {
    pawl_kkt_pins_solve(kkt, x, y);
    return;
  }
  int size = kkt->n + kkt->active_count;
  switch (kkt->plain ? size : 0) {
#define SOLVE(size)                  \
  case size:                         \
    solve_plain(kkt, size, t, x, y); \
    return;
    SOLVE(1)
    SOLVE(2)
    SOLVE(3)
    SOLVE(4)
    SOLVE(5)
    SOLVE(6)
    SOLVE(7)
    SOLVE(8)
    SOLVE(9)
    SOLVE(10)
    SOLVE(11)
    SOLVE(12)
    SOLVE(13)
    SOLVE(14)
    SOLVE(15)
    SOLVE(16)
#undef SOLVE
    case 0:
      solve_pivoted(kkt, size, kkt->work, x, y);
      return;
    default:
      solve_plain(kkt, size, kkt->work, x, y);
  }
}

PAWL_APART static void solve_some(PawlKkt* kkt, double* x, double* y) {
  double* y_active = kkt->dense_y;
  for (int a = 0; a < kkt->active_count; a++) {
    y_active[a] = y[kkt->active[a]];
  }
  solve_active(kkt, x, y_active);
  for (int a = 0; a < kkt->active_count; a++) {
    y[kkt->active[a]] = y_active[a];
  }
}

void pawl_kkt_dense_solve(PawlKkt* kkt, double* x, double* y) {
  if (kkt->inactive_count > 0) {
    solve_some(kkt, x, y);
    return;
  }
  solve_active(kkt, x, y);
}
