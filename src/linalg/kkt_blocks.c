// SPDX-License-Identifier: Apache-2.0
// Block elimination of the KKT matrix by a schedule that is made once (kkt_plan.c). Rows are not
// exchanged: masses are definite, and so is what is left for the rows of joints. Entries of L and
// pivots are looked at on the way; where they do not suit, the sparse LU takes over (kkt_rescue.c).
#include "linalg/kkt_blocks.h"

#include <math.h>
#include <string.h>

#include "base/copy.h"
#include "base/targets.h"

// [1] Largest entries of L, as in the sparse LU: up to the first a solution is good as it is, up to
// the second after one step of refinement.
static const double REFINED_GROWTH = 32.0;
static const double MOST_GROWTH = 1e4;
// The same for callers who solve for what solutions leave (pawl_kkt_rough).
static const double ROUGH_REFINED_GROWTH = 1e4;
static const double ROUGH_MOST_GROWTH = 1e8;

// [1] What a step of refinement leaves, at most, where entries of S are left out.
static const double SLOWEST_RATE = 0.05;

#define TILE 4         // rows of products that are made at once
#define MOST_SMALL 64  // numbers of a small node, see kkt_shapes.def

// ---- creation -----------------------------------------------------------------------------------

static void place_row(PawlKkt* kkt, int i, bool on) {
  const PawlKktBlocks* b = kkt->blocks;
  for (int e = kkt->row_start[i]; e < kkt->row_start[i + 1]; e++) {
    int k = kkt->row_entry[e];
    kkt->block_B.place[k] = on ? b->home_B[k] : kkt->behind + k;
    kkt->block_J.place[k] = on ? b->home_J[k] : kkt->behind + kkt->block_B.count + k;
  }
}

static PawlStatus take_memory(PawlKkt* kkt, PawlKktBlocks* b) {
  PawlArena* arena = &kkt->arena;
  b->room = PAWL_NEW(arena, double, TILE*(b->most_rest + TILE));
  b->two = PAWL_NEW(arena, double, 2 * (size_t)kkt->size);
  b->right_x = PAWL_NEW(arena, double, kkt->n);
  b->right_y = PAWL_NEW(arena, double, kkt->m);
  b->rest_x = PAWL_NEW(arena, double, kkt->n);
  b->rest_y = PAWL_NEW(arena, double, kkt->m);
  PAWL_TRY(pawl_kkt_stretches_create(&kkt->block_S, arena));
  PAWL_TRY(pawl_kkt_stretches_create(&kkt->block_B, arena));
  PAWL_TRY(pawl_kkt_stretches_create(&kkt->block_J, arena));
  b->place_x = (PawlKktBlock){.count = kkt->n, .place = b->at, .factor = kkt->row_scale};
  b->place_y =
      (PawlKktBlock){.count = kkt->m, .place = b->at + kkt->n, .factor = kkt->row_scale + kkt->n};
  b->take_x = (PawlKktBlock){.count = kkt->n, .place = b->at, .factor = kkt->col_scale};
  b->take_y =
      (PawlKktBlock){.count = kkt->m, .place = b->at + kkt->n, .factor = kkt->col_scale + kkt->n};
  PawlKktBlock* vectors[] = {&b->place_x, &b->place_y, &b->take_x, &b->take_y};
  for (int k = 0; k < 4; k++) {
    PAWL_TRY(pawl_kkt_stretches_create(vectors[k], arena));
  }
  if (b->run_count > 0) {  // it is large
    int most = kkt->block_S.count > kkt->block_J.count ? kkt->block_S.count : kkt->block_J.count;
    kkt->tops = PAWL_NEW(arena, uint64_t, pawl_pool_parts(most, PAWL_KKT_PART));
  }
  return arena->failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}

PawlStatus pawl_kkt_blocks_take_turn(PawlKkt* kkt, int turn) {
  const PawlKktBlocks* b = kkt->blocks;
  PawlKktKept* kept = &kkt->kept[turn];
  size_t count = b->value_count + 2 * (size_t)kkt->block_J.count + (size_t)b->loose_count;
  kept->values = PAWL_NEW(&kkt->arena, double, count);
  kept->pivot = b->masses_first ? NULL : PAWL_NEW(&kkt->arena, int, kkt->size);
  return kkt->arena.failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}

void pawl_kkt_blocks_turn(PawlKkt* kkt, int turn) {
  PawlKktBlocks* b = kkt->blocks;
  PawlKktKept *from = &kkt->kept[kkt->turn], *to = &kkt->kept[turn];
  from->even = b->even;
  from->refine = b->refine;
  from->refines_loose = b->refines_loose;
  from->rescued = kkt->rescued;
  kkt->turn = turn;
  kkt->values = to->values;
  b->exchange = to->pivot;
  b->even = to->even;
  b->refine = to->refine;
  b->refines_loose = to->refines_loose;
  kkt->rescued = to->rescued;
}

void pawl_kkt_blocks_rescaled(PawlKkt* kkt) {
  PawlKktBlocks* b = kkt->blocks;
  pawl_kkt_stretches_forget(&b->place_x);
  pawl_kkt_stretches_forget(&b->place_y);
  pawl_kkt_stretches_forget(&b->take_x);
  pawl_kkt_stretches_forget(&b->take_y);
}

void pawl_kkt_share(PawlKkt* kkt, PawlPool* pool) {
  if (kkt->blocks && kkt->tops) {
    kkt->pool = kkt->blocks->pool = pool;
  }
}

PawlStatus pawl_kkt_blocks_create(PawlKkt* kkt) {
  PawlKktBlocks* b = PAWL_NEW(&kkt->arena, PawlKktBlocks, 1);
  if (!b) {
    return PAWL_ERROR_MEMORY;
  }
  PAWL_TRY(pawl_kkt_plan(kkt, &kkt->arena, b));
  PAWL_TRY(take_memory(kkt, b));
  kkt->blocks = b;
  b->refined_growth = REFINED_GROWTH;
  b->most_growth = MOST_GROWTH;
  PAWL_TRY(pawl_kkt_blocks_take_turn(kkt, 0));
  pawl_kkt_blocks_turn(kkt, 0);
  kkt->behind = kkt->value_count = (int)b->value_count;
  kkt->info.nonzeros = (int)fmin(b->entries, INT32_MAX);
  return pawl_kkt_script_create(kkt);
}

void pawl_kkt_rough(PawlKkt* kkt) {
  if (kkt->blocks) {
    kkt->blocks->refined_growth = ROUGH_REFINED_GROWTH;
    kkt->blocks->most_growth = ROUGH_MOST_GROWTH;
  }
}

bool pawl_kkt_blocks_are_loose(const PawlKkt* kkt) {
  return kkt->blocks->loose_count > 0;
}

double pawl_kkt_blocks_fill(const PawlKkt* kkt) {
  double size = kkt->size;
  return size > 0.0 ? kkt->blocks->entries / (size * size) : 0.0;
}

// Where every row is active still. Of most large systems they are never asked for.
static void note_homes(PawlKkt* kkt) {
  PawlKktBlocks* b = kkt->blocks;
  size_t bytes = (size_t)kkt->block_B.count * sizeof(int);
  if (!b->has_homes && bytes > 0) {
    memcpy(b->home_B, kkt->block_B.place, bytes);
    memcpy(b->home_J, kkt->block_J.place, bytes);
  }
  b->has_homes = true;
}

void pawl_kkt_blocks_switch(PawlKkt* kkt, const unsigned char* active) {
  note_homes(kkt);
  pawl_kkt_stretches_forget(&kkt->block_B);
  pawl_kkt_stretches_forget(&kkt->block_J);
  for (int i = 0; i < kkt->m; i++) {
    bool on = !active || active[i];
    if (on != (kkt->set[i] != 0)) {
      place_row(kkt, i, on);
    }
  }
}

// ---- symmetry -----------------------------------------------------------------------------------

static bool is_same(int count, const double* a, const double* b) {
  return a == b || count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

void pawl_kkt_blocks_scaled(PawlKkt* kkt, const double* B, const double* J) {
  if (kkt->blocks->masses_first && is_same(kkt->block_J.count, B, J)) {
    memcpy(kkt->col_scale, kkt->row_scale, (size_t)kkt->size * sizeof *kkt->col_scale);
    pawl_kkt_use_scale(kkt);
  }
}

// Whether [S B^T; J 0], scaled, is symmetric to the bit.
static bool is_even(const PawlKkt* kkt, const double* S, const double* B, const double* J) {
  const PawlKktBlocks* b = kkt->blocks;
  bool even = b->masses_first && is_same(kkt->block_J.count, B, J) && kkt->even_scale;
  for (int k = 0; even && k < b->mirror_count; k++) {
    even = S[b->mirror[2 * k]] == S[b->mirror[2 * k + 1]];
  }
  return even && b->mirror_count >= 0;
}

static void clear_part(void* values, PawlPart part) {
  memset((double*)values + part.first, 0, (size_t)(part.end - part.first) * sizeof(double));
}

bool pawl_kkt_blocks_by_script(PawlKkt* kkt, const double* S, const double* B, const double* J) {
  PawlKktBlocks* b = kkt->blocks;
  b->even = is_even(kkt, S, B, J);
  b->is_down = false;
  return b->script && pawl_kkt_script_factor(kkt, S, B, J);
}

bool pawl_kkt_blocks_clear(PawlKkt* kkt) {
  PawlKktBlocks* b = kkt->blocks;
  kkt->kept[kkt->turn].clean = false;
  int first = b->even && kkt->inactive_count == 0 ? b->full : 0;
  int end = (int)(b->even ? b->U_count : b->value_count);
  pawl_pool_loop(kkt->pool, end - first, PAWL_KKT_PART, clear_part, kkt->values + first);
  for (int a = 0; a < kkt->inactive_count; a++) {
    kkt->values[b->diagonal[kkt->n + kkt->inactive[a]]] = 1.0;
  }
  return b->even;
}

// A step of refinement leaves at most the largest sum of |S_ij| / sqrt(S_ii S_jj) over a row, where
// forces act along rows (B = J); along others it may leave anything. (K12)
bool pawl_kkt_blocks_can_refine(PawlKkt* kkt, const double* S) {
  PawlKktBlocks* b = kkt->blocks;
  double worst = 0.0;
  for (int k = 0; k < b->loose_count; k++) {
    const int* entry = b->loose + 3 * k;
    double s = S[entry[0]];
    if (s != 0.0) {  // also when it is not a number
      bool known = entry[1] >= 0 && entry[2] >= 0;
      double square = known ? s * s / fabs(S[entry[1]] * S[entry[2]]) : INFINITY;
      worst = square <= worst ? worst : square;
    }
  }
  b->refines_loose = worst != 0.0;
  return worst == 0.0 || (b->even && sqrt(worst) * b->loose_most <= SLOWEST_RATE);
}

// ---- the pivots of a node -----------------------------------------------------------------------

typedef PawlKktJudged Judged;

// Brings the largest entry of column k among the pivots' rows to the diagonal where the one there
// is much smaller; returns the row it came from.
static int exchange_rows(int p, int width, int k, double* U) {
  int best = k;
  for (int i = k + 1; i < p; i++) {
    best = fabs(U[i * width + k]) > fabs(U[best * width + k]) ? i : best;
  }
  if (!(fabs(U[best * width + k]) > REFINED_GROWTH * fabs(U[k * width + k]))) {
    return k;
  }
  for (int c = 0; c < width; c++) {
    double t = U[k * width + c];
    U[k * width + c] = U[best * width + c];
    U[best * width + c] = t;
  }
  return best;
}

// L and U in the place of A.                                                              (K10)
// Rows of the p may be exchanged (`exchange`, else NULL): those are the rows that took the place of
// each.
PAWL_INLINE Judged factor_pivots(int p, int r, double* restrict U, double* restrict L,
                                 int* exchange, Judged j) {
  const int width = p + r;
  for (int k = 0; k < p; k++) {
    if (exchange) {
      exchange[k] = exchange_rows(p, width, k, U);
    }
    double *u = U + k * width, *l = L + k * r, size = fabs(u[k]), d = 1.0 / u[k];
    j.least = size < j.least ? size : j.least;
    u[k] = d;
    for (int i = 0; i < r; i++) {
      l[i] *= d;
      j.top = pawl_kkt_larger(j.top, l[i]);
    }
    for (int i = k + 1; i < p; i++) {
      double *row = U + i * width, factor = row[k] * d, across = u[i];
      row[k] = factor;
      j.top = pawl_kkt_larger(j.top, factor);
      for (int c = k + 1; c < width; c++) {
        row[c] -= factor * u[c];
      }
      for (int c = 0; c < r; c++) {
        L[i * r + c] -= across * l[c];
      }
    }
  }
  return j;
}

// The same with symmetry: U alone, of which L follows.                                     (K11)
PAWL_INLINE Judged factor_even_pivots(int p, int r, double* U, Judged j) {
  const int width = p + r;
  for (int k = 0; k < p; k++) {
    double *u = U + k * width, size = fabs(u[k]), d = 1.0 / u[k], top = 0.0;
    j.least = size < j.least ? size : j.least;
    u[k] = d;
    for (int c = k + 1; c < width; c++) {
      top = pawl_kkt_larger(top, u[c]);
    }
    j.top = pawl_kkt_larger(j.top, top * d);
    for (int i = k + 1; i < p; i++) {
      double *row = U + i * width, factor = u[i] * d;
      for (int c = i; c < width; c++) {
        row[c] -= factor * u[c];
      }
    }
  }
  return j;
}

// ---- what a node takes from later ones ----------------------------------------------------------

// To the places listed; with symmetry to those on and above the diagonal.
PAWL_INLINE void take_listed(int p, int r, bool even, const double* U, const double* L,
                             const int* place, double* values) {
  for (int i = 0; i < r; i++) {
    for (int c = even ? i : 0; c < r; c++) {
      double sum = L[i] * U[p + c];
      for (int k = 1; k < p; k++) {
        sum += L[k * r + i] * U[k * (p + r) + p + c];
      }
      values[place[i * r + c]] -= sum;
    }
  }
}

// The same with symmetry, where places of a row are side by side.
PAWL_INLINE void take_straight(int p, int r, const double* U, const double* L, const int* place,
                               double* values) {
  for (int i = 0; i < r; i++) {
    double* to = values + place[i * r + i] - i;
    for (int c = i; c < r; c++) {
      double sum = L[i] * U[p + c];
      for (int k = 1; k < p; k++) {
        sum += L[k * r + i] * U[k * (p + r) + p + c];
      }
      to[c] -= sum;
    }
  }
}

// L^T from U, of a node of masses (sign -1) or of rows (1).                                (K11)
PAWL_INLINE void mirror_rest(int p, int r, double sign, const double* U, double* L) {
  for (int k = 0; k < p; k++) {
    double factor = sign * U[k * (p + r) + k];
    for (int i = 0; i < r; i++) {
      L[k * r + i] = factor * U[k * (p + r) + p + i];
    }
  }
}

// to (TILE rows of `count`) <- sum over k < p of a_k b_k^T, with TILE numbers a_k and `count` b_k.
PAWL_MANY_TARGETS static void multiply(int p, int count, const double* a, int a_next,
                                       const double* b, int b_next, double* restrict to) {
  enum { WIDE = 8 };
  for (int c = 0; c < count; c += WIDE) {
    double sum[TILE][WIDE] = {{0.0}};
    if (count - c >= WIDE) {
      for (int k = 0; k < p; k++) {
        for (int i = 0; i < TILE; i++) {
          for (int w = 0; w < WIDE; w++) {
            sum[i][w] += a[k * a_next + i] * b[k * b_next + c + w];
          }
        }
      }
      for (int i = 0; i < TILE; i++) {
        for (int w = 0; w < WIDE; w++) {
          to[i * count + c + w] = sum[i][w];
        }
      }
    } else {
      int end = count - c;
      for (int k = 0; k < p; k++) {
        for (int i = 0; i < TILE; i++) {
          for (int w = 0; w < end; w++) {
            sum[i][w] += a[k * a_next + i] * b[k * b_next + c + w];
          }
        }
      }
      for (int i = 0; i < TILE; i++) {
        for (int w = 0; w < end; w++) {
          to[i * count + c + w] = sum[i][w];
        }
      }
    }
  }
}

// The same for fewer rows.
static void multiply_few(int p, int rows, int count, const double* a, int a_next, const double* b,
                         int b_next, double* restrict to) {
  for (int i = 0; i < rows; i++) {
    for (int c = 0; c < count; c++) {
      to[i * count + c] = 0.0;
    }
    for (int k = 0; k < p; k++) {
      double factor = a[k * a_next + i];
      for (int c = 0; c < count; c++) {
        to[i * count + c] += factor * b[k * b_next + c];
      }
    }
  }
}

static void products(int p, int rows, int count, const double* a, int a_next, const double* b,
                     int b_next, double* to) {
  if (rows == TILE) {
    multiply(p, count, a, a_next, b, b_next, to);
  } else {
    multiply_few(p, rows, count, a, a_next, b, b_next, to);
  }
}

static void subtract(double* to, const int* place, int count, const double* from) {
  for (int c = 0; c < count; c++) {
    to[place[c]] -= from[c];
  }
}

// From the rows from .. end - 1 of the rest, which are pivots of `owner`; places are of from and
// on.
static void take_piece(const PawlKktBlocks* b, const PawlKktNode* node, const int* piece,
                       double* values) {
  const PawlKktNode* owner = &b->nodes[piece[0]];
  int p = node->p, r = node->r, from = piece[1], end = piece[2], width = owner->p + owner->r;
  const int* place = piece + PAWL_KKT_PIECE;
  const double *U = values + node->U + p, *L = values + node->L;
  double* room = b->room;
  for (int i = from; i < end; i += TILE) {
    int rows = end - i < TILE ? end - i : TILE, count = r - from;
    products(p, rows, count, L + i, r, U + from, p + r, room);
    for (int t = 0; t < rows; t++) {
      subtract(values + owner->U + place[i + t - from] * width, place, count, room + t * count);
    }
    count = b->even ? 0 : r - end;
    products(p, rows, count, U + i, p + r, L + end, r, room);
    for (int t = 0; t < rows; t++) {
      int L_first = owner->L + place[i + t - from] * owner->r - owner->step * owner->p;
      subtract(values + L_first, place + end - from, count, room + t * count);
    }
  }
}

static void take_pieces(const PawlKktBlocks* b, const PawlKktNode* node, double* values) {
  const int* piece = b->plan + node->plan;
  for (int k = 0; k < node->pieces; k++) {
    take_piece(b, node, piece, values);
    piece += PAWL_KKT_PIECE + node->r - piece[1];
  }
}

// ---- factorisation ------------------------------------------------------------------------------

// A node of few numbers: they are copied, so that a compiler which knows p and r keeps them in
// registers while others are written.
PAWL_INLINE Judged factor_small(const PawlKktBlocks* b, const PawlKktNode* node, int p, int r,
                                bool even, double* restrict values, Judged j) {
  double *U = values + node->U, *L = values + node->L, u[MOST_SMALL], l[MOST_SMALL];
  for (int k = 0; k < p * (p + r); k++) {
    u[k] = U[k];
  }
  for (int k = 0; k < p * r && !even; k++) {
    l[k] = L[k];
  }
  if (even) {
    j = factor_even_pivots(p, r, u, j);
    mirror_rest(p, r, pawl_kkt_sign(b, node), u, l);
  } else {
    j = factor_pivots(p, r, u, l, NULL, j);
  }
  if (even && node->straight) {
    take_straight(p, r, u, l, b->plan + node->plan, values);
  } else {
    take_listed(p, r, even, u, l, b->plan + node->plan, values);
  }
  for (int k = 0; k < p * (p + r); k++) {
    U[k] = u[k];
  }
  for (int k = 0; k < p * r && !even; k++) {
    L[k] = l[k];
  }
  return j;
}

PAWL_APART static Judged factor_large(const PawlKktBlocks* b, const PawlKktNode* node,
                                      double* values, Judged j) {
  double *U = values + node->U, *L = values + node->L;
  if (b->even) {
    j = factor_even_pivots(node->p, node->r, U, j);
    mirror_rest(node->p, node->r, pawl_kkt_sign(b, node), U, L);
  } else {
    int* exchange = b->exchange ? b->exchange + node->first : NULL;
    j = factor_pivots(node->p, node->r, U, L, exchange, j);
  }
  if (node->pieces > 0) {
    take_pieces(b, node, values);
  } else {
    take_listed(node->p, node->r, b->even, U, L, b->plan + node->plan, values);
  }
  return j;
}

PAWL_INLINE Judged factor_node(const PawlKktBlocks* b, const PawlKktNode* node, bool even,
                               double* values, Judged j) {
  switch (node->shape) {
#define SHAPE(p, r)          \
  case PAWL_KKT_SHAPE(p, r): \
    return factor_small(b, node, p, r, even, values, j);
#include "linalg/kkt_shapes.def"
#undef SHAPE
    default:
      return factor_large(b, node, values, j);
  }
}

// `w`: a right side that goes down on the way, with symmetry; NULL: none.
PAWL_INLINE Judged factor_nodes(const PawlKktBlocks* b, int first, int last, bool even,
                                double* values, double* w, Judged j) {
  const PawlKktNode *node = b->nodes + first, *end = b->nodes + last;
  while (node < end && j.top <= b->most_growth) {
    if (node->step > 1) {
      node = pawl_kkt_wide_factor(b, node, end, values, w, &j);
      continue;
    }
    const PawlKktNode* alone = node;
    while (node < end && node->step == 1 && j.top <= b->most_growth) {
      j = factor_node(b, node++, even, values, j);
    }
    if (w) {
      pawl_kkt_blocks_down(b, alone, node, values, w);
    }
  }
  return j;
}

PAWL_INLINE Judged factor_all(const PawlKktBlocks* b, bool even, double* values, double* w) {
  Judged j = {0.0, INFINITY};
  if (b->run_count > 0) {
    j = factor_nodes(b, 0, b->run_first, even, values, w, j);
    pawl_kkt_runs_factor(b, values, w, &j);
  }
  return factor_nodes(b, b->run_end, b->count, even, values, w, j);
}

PAWL_APART static Judged factor_even_nodes(const PawlKktBlocks* b, double* values, double* w) {
  return factor_all(b, true, values, w);
}

PAWL_APART static Judged factor_uneven_nodes(const PawlKktBlocks* b, double* values) {
  return factor_all(b, false, values, NULL);
}

void pawl_kkt_blocks_expect(PawlKkt* kkt, const double* x, const double* y) {
  PawlKktBlocks* b = kkt->blocks;
  b->next_x = x;
  b->next_y = y;
  b->is_down = false;
}

// With symmetry the right side that comes next goes down on the way: factors that have just been
// made are not read again for it.
bool pawl_kkt_blocks_factor(PawlKkt* kkt, double smallest) {
  PawlKktBlocks* b = kkt->blocks;
  b->is_down = b->even && b->next_x && kkt->inactive_count == 0;
  if (b->is_down) {
    pawl_kkt_blocks_place(kkt, b->next_x, b->next_y);
  }
  unsigned mode = pawl_kkt_blocks_flush(kkt);
  Judged j = b->even ? factor_even_nodes(b, kkt->values, b->is_down ? kkt->work : NULL)
                     : factor_uneven_nodes(b, kkt->values);
  pawl_kkt_blocks_flushed(kkt, mode);
  b->refine = j.top > b->refined_growth || b->refines_loose;
  kkt->inverse_pivot = 1.0 / j.least;
  return j.top <= b->most_growth && j.least > smallest && j.least < (double)INFINITY;
}

void pawl_kkt_blocks_note(PawlKkt* kkt, const double* S, const double* B, const double* J) {
  const PawlKktBlocks* b = kkt->blocks;
  PawlKktKept* kept = &kkt->kept[kkt->turn];
  if (b->refine) {
    pawl_copy(kkt->block_S.count, S, kept->S);
    pawl_copy(kkt->block_B.count, B, kept->B);
    pawl_copy(kkt->block_J.count, J, kept->J);
  }
}

bool pawl_kkt_blocks_are_definite(const PawlKkt* kkt) {
  const PawlKktBlocks* b = kkt->blocks;
  bool positive = b->masses_first && !b->refines_loose;
  for (int j = 0; positive && j < kkt->n; j++) {
    positive = kkt->values[b->diagonal[j]] > 0.0;
  }
  return positive;
}
