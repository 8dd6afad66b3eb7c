// SPDX-License-Identifier: Apache-2.0
// The KKT system as one dense matrix, for small systems.
#include <math.h>

#include "linalg/kkt_impl.h"
#include "linalg/lu_small.h"

#define LARGEST_UNROLLED 16  // sizes with a solve of their own

static void place_block(PawlKktBlock* block, int size) {
  for (int k = 0; k < block->count; k++) {
    block->place[k] = block->row[k] + block->col[k] * size;
  }
}

PawlStatus pawl_kkt_dense_create(PawlKkt* kkt) {
  int size = kkt->size;
  if (size > PAWL_KKT_DENSE_MAX) {
    return PAWL_ERROR_MEMORY;
  }
  kkt->value_count = size * size;
  kkt->values = PAWL_NEW(&kkt->arena, double, kkt->value_count);
  kkt->pivot = PAWL_NEW(&kkt->arena, int, size);
  if (!kkt->values || !kkt->pivot) {
    return PAWL_ERROR_MEMORY;
  }
  place_block(&kkt->block_S, size);
  place_block(&kkt->block_B, size);
  place_block(&kkt->block_J, size);
  for (int i = 0; i < kkt->m; i++) {
    kkt->place_D[i] = (kkt->n + i) * (size + 1);
  }
  kkt->info.nonzeros = kkt->value_count;
  return PAWL_OK;
}

PawlStatus pawl_kkt_dense_factor(PawlKkt* kkt, double smallest) {
  kkt->info.full++;
  if (pawl_lu_factor(kkt->size, kkt->values, kkt->pivot, smallest) != 0) {
    return PAWL_RETRY;
  }
  double top = 0.0;  // the diagonal holds the inverse pivots
  for (int k = 0; k < kkt->size; k++) {
    double d = fabs(kkt->values[(size_t)k * (size_t)(kkt->size + 1)]);
    top = d > top ? d : top;
  }
  kkt->inverse_pivot = top;
  return PAWL_OK;
}

// Right side in, permuted and scaled; solution out. With `size` a constant the unknowns t stay in
// registers; through arrays, a load that spans two fresh stores would wait for both.
PAWL_LU_INLINE void solve(const PawlKkt* kkt, int size, double* t, double* x, double* y) {
  const double *right_scale = kkt->right_scale, *col_scale = kkt->col_scale;
  int n = kkt->n;
  for (int k = 0; k < size; k++) {
    int p = kkt->pivot[k];
    const double* from = p < n ? x + p : y + (p - n);
    t[k] = *from * right_scale[p];
  }
  pawl_lu_substitute(size, kkt->values, t);
  for (int k = 0; k < size; k++) {
    double* to = k < n ? x + k : y + (k - n);
    *to = t[k] * col_scale[k];
  }
}

void pawl_kkt_dense_solve(PawlKkt* kkt, double* x, double* y) {
  double t[LARGEST_UNROLLED];
  switch (kkt->size) {
#define SOLVE(size)            \
  case size:                   \
    solve(kkt, size, t, x, y); \
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
    default:
      solve(kkt, kkt->size, kkt->work, x, y);
  }
}
