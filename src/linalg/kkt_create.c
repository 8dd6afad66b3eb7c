// SPDX-License-Identifier: Apache-2.0
// Makes a KKT solver: checks and copies the patterns, and chooses the factorisation by their shape.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/kkt_impl.h"

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

static PawlStatus copy_mass(PawlKkt* kkt, const PawlPattern* S, const unsigned char* mass) {
  int count = S->start[S->cols];
  kkt->mass = mass ? PAWL_NEW(&kkt->arena, unsigned char, count) : NULL;
  if (kkt->mass && count > 0) {
    memcpy(kkt->mass, mass, (size_t)count);
  }
  return mass && !kkt->mass ? PAWL_ERROR_MEMORY : PAWL_OK;
}

// `turned`: the block whose rows and columns it has as columns and rows; NULL: none.
static PawlStatus block_create(PawlArena* arena, PawlKktBlock* block, int count,
                               const PawlKktBlock* turned) {
  block->count = count;
  block->row = turned ? turned->col : PAWL_NEW(arena, int, count);
  block->col = turned ? turned->row : PAWL_NEW(arena, int, count);
  block->place = PAWL_NEW(arena, int, count);
  block->factor = PAWL_NEW(arena, double, count);
  return block->row && block->col && block->place && block->factor ? PAWL_OK : PAWL_ERROR_MEMORY;
}

// Where each entry of S and J, and with it of B, stands in the whole system.
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
    }
  }
}

// The entries of G by rows.
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
    kkt->row_entry[--kkt->row_start[J->row[k] - n + 1]] = k;
  }
  for (int i = 0; i < m; i++) {
    kkt->row_start[i] = kkt->row_start[i + 1];
  }
  kkt->row_start[m] = J->count;
}

// Leaves kkt->band NULL where a band does not pay.
static PawlStatus create_band(PawlKkt* kkt, bool forced) {
  PawlArena arena = {0};
  int* order = NULL;
  double entries, size = kkt->size;
  double of_A = kkt->block_S.count + 2.0 * kkt->block_J.count + kkt->m;
  double most = fmin(PAWL_KKT_BAND_FILL * of_A, PAWL_KKT_DENSE_FILL * size * size);
  PawlStatus status = pawl_kkt_band_choose(kkt, &arena, &order, &entries);
  if (status == PAWL_OK && (forced || entries <= most)) {
    status = pawl_kkt_band_create(kkt, order);
    kkt->info.solver = PAWL_KKT_BAND;
  }
  pawl_arena_free(&arena);
  return status;
}

static PawlStatus create_factors(PawlKkt* kkt, PawlKktSolver solver) {
  bool choose = solver == PAWL_KKT_AUTO;
  if (solver == PAWL_KKT_BAND || (choose && kkt->size > PAWL_KKT_DENSE_SIZE)) {
    PAWL_TRY(create_band(kkt, !choose));
    if (kkt->band) {
      return PAWL_OK;
    }
  }
  if (solver == PAWL_KKT_BLOCKS || (choose && kkt->size > PAWL_KKT_DENSE_SIZE)) {
    PAWL_TRY(pawl_kkt_blocks_create(kkt));
    if (!choose || kkt->size > PAWL_KKT_DENSE_MAX ||
        pawl_kkt_blocks_fill(kkt) <= PAWL_KKT_DENSE_FILL) {
      kkt->info.solver = PAWL_KKT_BLOCKS;
      return PAWL_OK;
    }
    kkt->blocks = NULL;
  }
  kkt->info.solver = solver == PAWL_KKT_KLU ? PAWL_KKT_KLU : PAWL_KKT_DENSE;
  return solver == PAWL_KKT_KLU ? pawl_kkt_klu_create(kkt) : pawl_kkt_dense_create(kkt);
}

PawlStatus pawl_kkt_take_turn(PawlKkt* kkt, int turn) {
  PawlArena* arena = &kkt->arena;
  PawlKktKept* kept = &kkt->kept[turn];
  kept->S = PAWL_NEW(arena, double, kkt->block_S.count);
  kept->B = PAWL_NEW(arena, double, kkt->block_B.count);
  kept->J = PAWL_NEW(arena, double, kkt->block_J.count);
  kept->set = PAWL_NEW(arena, unsigned char, kkt->m);
  return arena->failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}

static PawlStatus create_kept(PawlKkt* kkt) {
  kkt->kept_count = kkt->band ? PAWL_KKT_KEPT : kkt->klu || kkt->blocks ? 1 : kkt->kept_count;
  for (int k = 0; k < kkt->kept_count; k++) {
    PAWL_TRY(pawl_kkt_take_turn(kkt, k));
  }
  return PAWL_OK;
}

static PawlStatus build(PawlKkt* kkt, const PawlPattern* S, const PawlPattern* G,
                        PawlKktSolver solver) {
  PawlArena* arena = &kkt->arena;
  PAWL_TRY(copy_pattern(arena, S, &kkt->S));
  PAWL_TRY(copy_pattern(arena, G, &kkt->G));
  PAWL_TRY(block_create(arena, &kkt->block_S, S->start[kkt->n], NULL));
  PAWL_TRY(block_create(arena, &kkt->block_J, G->start[kkt->n], NULL));
  PAWL_TRY(block_create(arena, &kkt->block_B, G->start[kkt->n], &kkt->block_J));
  kkt->place_D = PAWL_NEW(arena, int, kkt->m);
  kkt->row_start = PAWL_NEW(arena, int, kkt->m + 1);
  kkt->row_entry = PAWL_NEW(arena, int, kkt->block_J.count);
  kkt->row_scale = PAWL_NEW(arena, double, kkt->size);
  kkt->col_scale = PAWL_NEW(arena, double, kkt->size);
  kkt->set = PAWL_NEW(arena, unsigned char, kkt->m);
  kkt->active = PAWL_NEW(arena, int, kkt->m);
  kkt->inactive = PAWL_NEW(arena, int, kkt->m);
  kkt->trial = PAWL_NEW(arena, double, kkt->size);
  kkt->work = PAWL_NEW(arena, double, kkt->size);
  if (!kkt->place_D || !kkt->row_start || !kkt->row_entry || !kkt->row_scale || !kkt->col_scale ||
      !kkt->set || !kkt->active || !kkt->inactive || !kkt->trial || !kkt->work) {
    return PAWL_ERROR_MEMORY;
  }
  kkt->pattern_sum = pawl_kkt_pattern_sum(kkt);
  fill_blocks(kkt);
  fill_rows(kkt);
  pawl_kkt_list_rows(kkt, NULL);
  PAWL_TRY(create_factors(kkt, solver));
  return create_kept(kkt);
}

// What is known of S beside its mass: the rest stays 0, may be left out of the blocks, must not be.
typedef enum Mass { MASS_ONLY, MASS_LOOSE, MASS_TIGHT } Mass;

// `mass` as of pawl_kkt_create_for, or NULL.
static PawlStatus create(const PawlPattern* S, const PawlPattern* G, PawlKktSolver solver,
                         const unsigned char* mass, Mass kind, PawlKkt** out, PawlError* err) {
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
  kkt->mass_only = mass && kind == MASS_ONLY;
  kkt->tight = kind == MASS_TIGHT;
  if (copy_mass(kkt, S, mass) != PAWL_OK || build(kkt, S, G, solver) != PAWL_OK) {
    pawl_kkt_destroy(kkt);
    return pawl_fail_memory(err);
  }
  *out = kkt;
  return PAWL_OK;
}

PawlStatus pawl_kkt_create(const PawlPattern* S, const PawlPattern* G, PawlKktSolver solver,
                           PawlKkt** out, PawlError* err) {
  return create(S, G, solver, NULL, MASS_LOOSE, out, err);
}

PawlStatus pawl_kkt_create_for(const PawlPattern* S, const unsigned char* mass, bool mass_only,
                               const PawlPattern* G, PawlKkt** out, PawlError* err) {
  return create(S, G, PAWL_KKT_AUTO, mass, mass_only ? MASS_ONLY : MASS_LOOSE, out, err);
}

PawlStatus pawl_kkt_create_tight(const PawlKkt* like, PawlKkt** out) {
  return create(&like->S, &like->G, PAWL_KKT_BLOCKS, like->mass, MASS_TIGHT, out, NULL);
}

PawlStatus pawl_kkt_create_like(const PawlKkt* like, PawlKkt** out) {
  Mass kind = like->mass_only ? MASS_ONLY : like->tight ? MASS_TIGHT : MASS_LOOSE;
  PAWL_TRY(create(&like->S, &like->G, like->info.solver, like->mass, kind, out, NULL));
  (*out)->fixed = like->fixed;
  return PAWL_OK;
}

void pawl_kkt_destroy(PawlKkt* kkt) {
  if (kkt) {
    pawl_kkt_destroy(kkt->rescue);
    pawl_kkt_klu_destroy(kkt);
    pawl_kkt_line_destroy(kkt);
    pawl_kkt_script_destroy(kkt);
    pawl_arena_free(&kkt->arena);
    pawl_free(kkt);
  }
}
