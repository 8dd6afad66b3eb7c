// SPDX-License-Identifier: Apache-2.0
// The KKT solver's interface: checks and copies the patterns, scatters the values into the scaled
// matrix, and hands it to the dense or the sparse factorisation (docs/theory/kkt.md).
#include "linalg/kkt.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/kkt_impl.h"

// ---- creation ----------------------------------------------------------------------------------

static PawlStatus check_pattern(const PawlPattern* p, const char* name, PawlError* err) {
  if (p->rows < 0 || p->cols < 0 || p->start[0] != 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "pattern of %s: bad size or start", name);
  }
  for (int j = 0; j < p->cols; j++) {
    int last = -1;
    for (int k = p->start[j]; k < p->start[j + 1]; k++) {
      if (p->index[k] <= last || p->index[k] >= p->rows) {
        return pawl_fail(err, PAWL_ERROR_USAGE,
                         "pattern of %s, column %d: rows must ascend and stay below %d", name, j,
                         p->rows);
      }
      last = p->index[k];
    }
    if (p->start[j + 1] < p->start[j]) {
      return pawl_fail(err, PAWL_ERROR_USAGE, "pattern of %s: column %d has negative length", name,
                       j);
    }
  }
  return PAWL_OK;
}

static PawlStatus copy_pattern(PawlArena* arena, const PawlPattern* from, PawlPattern* to) {
  int count = from->start[from->cols];
  int* start = PAWL_NEW(arena, int, from->cols + 1);
  int* index = PAWL_NEW(arena, int, count);
  if (!start || !index) {
    return PAWL_ERROR_MEMORY;
  }
  memcpy(start, from->start, (size_t)(from->cols + 1) * sizeof *start);
  if (count > 0) {
    memcpy(index, from->index, (size_t)count * sizeof *index);
  }
  *to = (PawlPattern){from->rows, from->cols, start, index};
  return PAWL_OK;
}

static PawlStatus block_create(PawlArena* arena, PawlKktBlock* block, int count) {
  block->count = count;
  block->row = PAWL_NEW(arena, int, count);
  block->col = PAWL_NEW(arena, int, count);
  block->place = PAWL_NEW(arena, int, count);
  block->factor = PAWL_NEW(arena, double, count);
  return block->row && block->col && block->place && block->factor ? PAWL_OK : PAWL_ERROR_MEMORY;
}

// Where each entry of S, B and J stands in the whole system.
static void fill_blocks(PawlKkt* kkt) {
  int n = kkt->n;
  for (int j = 0; j < n; j++) {
    for (int k = kkt->S.start[j]; k < kkt->S.start[j + 1]; k++) {
      kkt->block_S.row[k] = kkt->S.index[k];
      kkt->block_S.col[k] = j;
    }
    for (int k = kkt->G.start[j]; k < kkt->G.start[j + 1]; k++) {
      kkt->block_J.row[k] = n + kkt->G.index[k];
      kkt->block_J.col[k] = j;
      kkt->block_B.row[k] = j;
      kkt->block_B.col[k] = n + kkt->G.index[k];
    }
  }
}

// The entries of J by rows, for clearing the inactive ones. Needs the places.
static void fill_rows(PawlKkt* kkt) {
  const PawlKktBlock* J = &kkt->block_J;
  int n = kkt->n, m = kkt->m;
  for (int k = 0; k < J->count; k++) {
    kkt->row_start[J->row[k] - n + 1]++;
  }
  for (int i = 0; i < m; i++) {
    kkt->row_start[i + 1] += kkt->row_start[i];
  }
  for (int k = J->count - 1; k >= 0; k--) {  // row_start[i + 1] walks down to the start of row i
    kkt->row_place[--kkt->row_start[J->row[k] - n + 1]] = J->place[k];
  }
  for (int i = 0; i < m; i++) {
    kkt->row_start[i] = kkt->row_start[i + 1];
  }
  kkt->row_start[m] = J->count;
}

static PawlStatus create_factors(PawlKkt* kkt, PawlKktSolver solver) {
  bool choose = solver == PAWL_KKT_AUTO;
  bool dense = solver == PAWL_KKT_DENSE || (choose && kkt->size <= PAWL_KKT_DENSE_SIZE);
  if (!dense) {
    PAWL_TRY(pawl_kkt_klu_create(kkt));
    dense =
        choose && kkt->size <= PAWL_KKT_DENSE_MAX && pawl_kkt_klu_fill(kkt) > PAWL_KKT_DENSE_FILL;
  }
  kkt->info.solver = dense ? PAWL_KKT_DENSE : PAWL_KKT_KLU;
  if (dense) {
    pawl_kkt_klu_destroy(kkt);
    PAWL_TRY(pawl_kkt_dense_create(kkt));
  }
  return PAWL_OK;
}

static PawlStatus build(PawlKkt* kkt, const PawlPattern* S, const PawlPattern* G,
                        PawlKktSolver solver) {
  PawlArena* arena = &kkt->arena;
  PAWL_TRY(copy_pattern(arena, S, &kkt->S));
  PAWL_TRY(copy_pattern(arena, G, &kkt->G));
  PAWL_TRY(block_create(arena, &kkt->block_S, S->start[kkt->n]));
  PAWL_TRY(block_create(arena, &kkt->block_B, G->start[kkt->n]));
  PAWL_TRY(block_create(arena, &kkt->block_J, G->start[kkt->n]));
  kkt->place_D = PAWL_NEW(arena, int, kkt->m);
  kkt->row_start = PAWL_NEW(arena, int, kkt->m + 1);
  kkt->row_place = PAWL_NEW(arena, int, kkt->block_J.count);
  kkt->row_scale = PAWL_NEW(arena, double, kkt->size);
  kkt->col_scale = PAWL_NEW(arena, double, kkt->size);
  kkt->right_scale = PAWL_NEW(arena, double, kkt->size);
  kkt->inactive = PAWL_NEW(arena, int, kkt->m);
  kkt->kept = PAWL_NEW(arena, double, kkt->m);
  kkt->trial = PAWL_NEW(arena, double, kkt->size);
  kkt->work = PAWL_NEW(arena, double, kkt->size);
  if (!kkt->place_D || !kkt->row_start || !kkt->row_place || !kkt->row_scale || !kkt->col_scale ||
      !kkt->right_scale || !kkt->inactive || !kkt->kept || !kkt->trial || !kkt->work) {
    return PAWL_ERROR_MEMORY;
  }
  kkt->pattern_sum = pawl_kkt_pattern_sum(kkt);
  fill_blocks(kkt);
  PAWL_TRY(create_factors(kkt, solver));
  fill_rows(kkt);
  return PAWL_OK;
}

PawlStatus pawl_kkt_create(const PawlPattern* S, const PawlPattern* G, PawlKktSolver solver,
                           PawlKkt** out, PawlError* err) {
  *out = NULL;
  PAWL_TRY(check_pattern(S, "S", err));
  PAWL_TRY(check_pattern(G, "G", err));
  if (S->rows != S->cols || G->cols != S->cols) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "S is %d by %d, G has %d columns", S->rows, S->cols,
                     G->cols);
  }
  if (S->rows > INT32_MAX / 2 - G->rows) {
    return pawl_fail(err, PAWL_ERROR_MEMORY, "a system of %d + %d unknowns is too large", S->rows,
                     G->rows);
  }
  PawlKkt* kkt = pawl_alloc(1, sizeof *kkt);
  if (!kkt) {
    return pawl_fail_memory(err);
  }
  kkt->n = S->rows;
  kkt->m = G->rows;
  kkt->size = kkt->n + kkt->m;
  kkt->info.size = kkt->size;
  if (build(kkt, S, G, solver) != PAWL_OK) {
    pawl_kkt_destroy(kkt);
    return pawl_fail_memory(err);
  }
  *out = kkt;
  return PAWL_OK;
}

void pawl_kkt_destroy(PawlKkt* kkt) {
  if (kkt) {
    pawl_kkt_klu_destroy(kkt);
    pawl_arena_free(&kkt->arena);
    pawl_free(kkt);
  }
}

// ---- factorisation -----------------------------------------------------------------------------

// |v| as an integer: ordered like the doubles, infinity above them, and NaN above infinity.
static inline uint64_t magnitude(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits & ~(UINT64_C(1) << 63);
}

static inline uint64_t scatter(const PawlKktBlock* block, const double* from, double* to) {
  const int count = block->count;
  const int* place = block->place;
  const double* factor = block->factor;
  uint64_t top = 0;
  for (int k = 0; k < count; k++) {
    double v = from[k] * factor[k];
    uint64_t size = magnitude(v);
    to[place[k]] = v;
    top = size > top ? size : top;
  }
  return top;
}

// An inactive row is 1 on the diagonal; its right side is scaled so that y_i = c_i.
static void clear_inactive(PawlKkt* kkt, const unsigned char* active) {
  for (int k = 0; k < kkt->inactive_count; k++) {
    int i = kkt->inactive[k];
    kkt->right_scale[kkt->n + i] = kkt->row_scale[kkt->n + i];
    kkt->values[kkt->place_D[i]] = 0.0;
  }
  kkt->inactive_count = 0;
  for (int i = 0; active && i < kkt->m; i++) {
    if (active[i]) {
      continue;
    }
    for (int k = kkt->row_start[i]; k < kkt->row_start[i + 1]; k++) {
      kkt->values[kkt->row_place[k]] = 0.0;
    }
    kkt->values[kkt->place_D[i]] = 1.0;
    kkt->right_scale[kkt->n + i] = 1.0 / kkt->col_scale[kkt->n + i];
    kkt->inactive[kkt->inactive_count++] = i;
  }
}

double pawl_kkt_assemble(PawlKkt* kkt, const double* S, const double* B, const double* J,
                         const unsigned char* active) {
  if (!kkt->klu) {
    memset(kkt->values, 0, (size_t)kkt->value_count * sizeof *kkt->values);
  }
  uint64_t top = scatter(&kkt->block_S, S, kkt->values);
  if (kkt->m > 0) {
    uint64_t top_B = scatter(&kkt->block_B, B, kkt->values);
    uint64_t top_J = scatter(&kkt->block_J, J, kkt->values);
    top = top_B > top ? top_B : top;
    top = top_J > top ? top_J : top;
    clear_inactive(kkt, active);
  }
  double largest;
  memcpy(&largest, &top, sizeof largest);
  return largest;
}

static void solve(PawlKkt* kkt, double* x, double* y) {
  if (kkt->klu) {
    pawl_kkt_klu_solve(kkt, x, y);
  } else {
    pawl_kkt_dense_solve(kkt, x, y);
  }
}

int pawl_kkt_weakest(PawlKkt* kkt) {
  const double golden = 0.6180339887498949;
  double *t = kkt->trial, top = 0.0;
  int weakest = 0;
  for (int i = 0; i < kkt->size; i++) {
    double phase = golden * i;
    t[i] = (0.5 + phase - floor(phase)) / kkt->right_scale[i];
  }
  solve(kkt, t, t + kkt->n);
  for (int i = 0; i < kkt->size; i++) {
    double size = fabs(t[i] / kkt->col_scale[i]);
    if (!(size <= top)) {  // also when it is not a number
      top = size;
      weakest = i;
    }
  }
  return top < 1.0 / PAWL_KKT_SINGULAR ? -1 : weakest;
}

static PawlStatus factor_scaled(PawlKkt* kkt, double largest) {
  double unit = largest > 1.0 ? largest : 1.0;
  double smallest = PAWL_KKT_SINGULAR * unit;
  PAWL_TRY(kkt->klu ? pawl_kkt_klu_factor(kkt, smallest) : pawl_kkt_dense_factor(kkt, smallest));
  bool suspicious = kkt->inverse_pivot * (PAWL_KKT_SUSPICIOUS * unit) > 1.0;
  return suspicious && pawl_kkt_weakest(kkt) >= 0 ? PAWL_RETRY : PAWL_OK;
}

PawlStatus pawl_kkt_factor(PawlKkt* kkt, const double* S, const double* B, const double* J,
                           const unsigned char* active) {
  kkt->info.factorizations++;
  if (kkt->scaled) {
    double largest = pawl_kkt_assemble(kkt, S, B, J, active);
    if (largest <= PAWL_KKT_DRIFT) {
      PawlStatus status = factor_scaled(kkt, largest);
      if (status != PAWL_RETRY) {
        return status;
      }
    }
  }
  // No scaling yet, or it no longer fits. Only a matrix scaled anew is called singular.
  pawl_kkt_scale(kkt, S, B, J);
  double largest = pawl_kkt_assemble(kkt, S, B, J, active);
  return largest <= PAWL_KKT_DRIFT ? factor_scaled(kkt, largest) : PAWL_RETRY;
}

void pawl_kkt_solve(PawlKkt* kkt, double* x, double* y) {
  kkt->info.solves++;
  for (int k = 0; k < kkt->inactive_count; k++) {
    kkt->kept[k] = y[kkt->inactive[k]];
  }
  solve(kkt, x, y);
  for (int k = 0; k < kkt->inactive_count; k++) {  // y_i = c_i exactly, not to rounding
    y[kkt->inactive[k]] = kkt->kept[k];
  }
}

PawlKktInfo pawl_kkt_info(const PawlKkt* kkt) {
  return kkt->info;
}
