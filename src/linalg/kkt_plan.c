// SPDX-License-Identifier: Apache-2.0
// The schedule of a block elimination (kkt_blocks.h): the order with fewer products of two, the
// patterns of the factors in it, nodes of unknowns with the same pattern, and where each product of
// a node goes.
#include <math.h>
#include <string.h>

#include "linalg/kkt_blocks.h"
#include "linalg/kkt_symbolic.h"

// Up to so many places in the rest of a node each product has its place listed.
#define LISTED 12
// So many columns that do not know each other, but have the same rest, are one node: their zeros
// cost less than more nodes.
#define ALIKE 3
// A node joins the next one when zeros are at most this part of what they become, or few.
#define JOINED_ZEROS 0.15

// Masses come first, where all blocks are definite, unless that takes so many times the products.
#define MORE_FOR_MASSES 1.5
// Where entries of S are left out, solutions are refined several times: it must be less by this.
#define LESS_FOR_LOOSE 0.25

typedef struct Plan {
  const PawlKkt* kkt;
  PawlArena* arena;
  int size;
  int *order, *at;        // (size) the unknowns in order, and where each is
  int *start, *row;       // (size + 1), the symmetric pattern of A by columns in that order
  int* node_of;           // (size) of each place
  unsigned char* inside;  // (entries of S) those in the blocks; NULL: all
  unsigned char* second;  // (size) a node may be beside the one before it, by its first place
  PawlFactorPattern pattern;
} Plan;

// Whether entry e of S is in the blocks.
static inline bool counts(const Plan* p, int e) {
  return !p->inside || p->inside[e];
}

// ---- patterns -----------------------------------------------------------------------------------

static void count_both(const Plan* p, const PawlKktBlock* block) {
  for (int e = 0; e < block->count; e++) {
    int in = block != &p->kkt->block_S || counts(p, e);
    p->start[p->at[block->row[e]] + 1] += in;
    p->start[p->at[block->col[e]] + 1] += in;
  }
}

static void list_both(const Plan* p, const PawlKktBlock* block, int* next) {
  for (int e = 0; e < block->count; e++) {
    int i = p->at[block->row[e]], j = p->at[block->col[e]];
    if (block != &p->kkt->block_S || counts(p, e)) {
      p->row[next[i]++] = j;
      p->row[next[j]++] = i;
    }
  }
}

// Both triangles of every entry: S may have one without the other. `next` (size) is scratch.
static void find_columns(const Plan* p, int* next) {
  const PawlKkt* kkt = p->kkt;
  memset(p->start, 0, (size_t)(p->size + 1) * sizeof *p->start);
  count_both(p, &kkt->block_S);
  count_both(p, &kkt->block_J);
  for (int k = 0; k < p->size; k++) {
    p->start[k + 1] += p->start[k];
    next[k] = p->start[k];
  }
  list_both(p, &kkt->block_S, next);
  list_both(p, &kkt->block_J, next);
}

static int column_count(const Plan* p, int k) {
  return p->pattern.L_start[k + 1] - p->pattern.L_start[k];
}

// The first place that column k is eliminated from, or `size`.
static int parent_of(const Plan* p, int k) {
  return column_count(p, k) > 1 ? p->pattern.L_index[p->pattern.L_start[k] + 1] : p->size;
}

static double products(const Plan* p) {
  double sum = 0.0;
  for (int k = 0; k < p->size; k++) {
    double c = column_count(p, k);
    sum += c * c;
  }
  return sum;
}

// The patterns of L for the unknowns in `order`.
static PawlStatus find_patterns(Plan* p, int* scratch) {
  for (int k = 0; k < p->size; k++) {
    p->at[p->order[k]] = k;
  }
  find_columns(p, scratch);
  return pawl_factor_pattern_find_even(&p->pattern, p->size, p->start, p->row, scratch);
}

static bool leaves_out(const PawlKkt* kkt, const unsigned char* inside) {
  bool all = true;
  for (int e = 0; e < kkt->block_S.count; e++) {
    all &= inside[e] != 0;
  }
  return !all;
}

// How many times the products of pairs may be taken with masses first.
static double worth(const PawlKkt* kkt, bool loose) {
  return !loose || kkt->mass_only ? MORE_FOR_MASSES : LESS_FOR_LOOSE;
}

// Masses first, if that is worth it beside `by_pairs` products.
static PawlStatus try_masses(Plan* p, PawlKktBlocks* b, int* masses, unsigned char* inside,
                             bool loose, double by_pairs, int* scratch) {
  int* pairs = p->order;
  p->order = masses;
  p->inside = loose ? inside : NULL;
  PAWL_TRY(find_patterns(p, scratch));
  b->masses_first = products(p) <= worth(p->kkt, loose) * by_pairs;
  if (!b->masses_first) {
    p->order = pairs;
    p->inside = NULL;
    return find_patterns(p, scratch);
  }
  return PAWL_OK;
}

static double entries(const Plan* p) {
  return 2.0 * p->pattern.L_start[p->size] - p->size;
}

// A large system whose joints all have been eliminated with one neighbour at most is not ordered by
// pairs: masses first leave no entries there, and cannot be much worse.
static PawlStatus choose_order(Plan* p, PawlKktBlocks* b) {
  int* scratch = PAWL_NEW(p->arena, int, p->size);
  int* masses = PAWL_NEW(p->arena, int, p->size);
  unsigned char* inside = PAWL_NEW(p->arena, unsigned char, p->kkt->block_S.count);
  p->second = PAWL_NEW(p->arena, unsigned char, p->size);
  if (p->arena->failed) {
    return PAWL_ERROR_MEMORY;
  }
  bool possible, peeled;
  PAWL_TRY(pawl_kkt_order_masses(p->kkt, masses, p->second, inside, &possible, &peeled));
  bool loose = leaves_out(p->kkt, inside);
  if (possible && peeled && !loose && p->size > PAWL_KKT_DENSE_MAX) {
    PAWL_TRY(try_masses(p, b, masses, inside, false, INFINITY, scratch));
    b->entries = entries(p);
    return PAWL_OK;
  }
  PAWL_TRY(pawl_kkt_order_pairs(p->kkt, p->order));
  PAWL_TRY(find_patterns(p, scratch));
  b->entries = entries(p);
  return possible && !(loose && p->kkt->tight)
             ? try_masses(p, b, masses, inside, loose, products(p), scratch)
             : PAWL_OK;
}

// ---- nodes --------------------------------------------------------------------------------------

// Whether columns k - 1 and k have the same entries below k: coordinates of one body.
static bool are_alike(const Plan* p, int k) {
  const int *start = p->pattern.L_start, *index = p->pattern.L_index;
  int count = column_count(p, k);
  return column_count(p, k - 1) == count && count > 1 &&
         memcmp(index + start[k - 1] + 1, index + start[k] + 1,
                (size_t)(count - 1) * sizeof *index) == 0;
}

// Whether the node of `first` .. k - 1 takes column k.
static bool joins(const Plan* p, bool masses_first, int first, int k) {
  int pivots = k - first, below = column_count(p, k - 1) - 1, here = column_count(p, k);
  if (masses_first && k == p->kkt->n) {  // masses and rows are different nodes
    return false;
  }
  if (pivots < ALIKE && are_alike(p, k)) {
    return true;
  }
  if (parent_of(p, k - 1) != k || pivots >= PAWL_KKT_PIVOTS) {
    return false;
  }
  double zeros = (double)pivots * (here - below);
  return zeros <= JOINED_ZEROS * (pivots + 1.0) * here;
}

static int count_nodes(const Plan* p, bool masses_first, int* first_of) {
  int count = 0;
  for (int k = 0; k < p->size; k++) {
    if (k == 0 || !joins(p, masses_first, first_of[count - 1], k)) {
      first_of[count++] = k;
    }
    p->node_of[k] = count - 1;
  }
  return count;
}

// Sizes and places of all nodes; false when they are too many for an int.
static bool place_nodes(const Plan* p, const int* first_of, PawlKktBlocks* b) {
  size_t values = 0, rows = 0, rest = 0;
  for (int s = 0; s < b->count; s++) {
    PawlKktNode* node = &b->nodes[s];
    int end = s + 1 < b->count ? first_of[s + 1] : p->size;
    node->first = node->spot = first_of[s];
    node->p = (unsigned char)(end - node->first);
    node->r = column_count(p, end - 1) - 1;
    node->step = 1;
    node->U = (int)values;
    node->L = (int)rows;
    values += (size_t)node->p * (size_t)(node->p + node->r);
    rows += (size_t)node->p * (size_t)node->r;
    node->rest = (int)rest;
    rest += (size_t)node->r;
    b->most_rest = node->r > b->most_rest ? node->r : b->most_rest;
    if (values + rows + 2 * (size_t)p->kkt->block_J.count + (size_t)p->kkt->block_S.count >
            INT32_MAX ||
        rest > INT32_MAX) {
      return false;
    }
  }
  for (int s = 0; s < b->count; s++) {
    b->nodes[s].L += (int)values;
  }
  b->U_count = values;
  b->value_count = values + rows;
  return true;
}

static void copy_rests(const Plan* p, PawlKktBlocks* b) {
  for (int s = 0; s < b->count; s++) {
    const PawlKktNode* node = &b->nodes[s];
    const int* from = p->pattern.L_index + p->pattern.L_start[node->first + node->p - 1] + 1;
    if (node->r > 0) {
      memcpy(b->rest + node->rest, from, (size_t)node->r * sizeof *from);
    }
  }
}

// ---- side by side -------------------------------------------------------------------------------

static bool is_compiled(int p, int r) {
  switch (r <= LISTED ? PAWL_KKT_SHAPE(p, r) : -1) {
#define SHAPE(p, r) case PAWL_KKT_SHAPE(p, r):
#include "linalg/kkt_shapes.def"
#undef SHAPE
    return true;
    default:
      return false;
  }
}

// Whether what is left of every mass is rows alone, so that signs are those of (K11). A mass whose
// coordinates do not all know each other may be several nodes.
static bool are_whole(const Plan* p, const PawlKktBlocks* b) {
  bool whole = true;
  for (int s = 0; s < b->count; s++) {
    const PawlKktNode* node = &b->nodes[s];
    whole &= node->first >= p->kkt->n || node->r == 0 || b->rest[node->rest] >= p->kkt->n;
  }
  return whole;
}

// None of what was put beside each other is in the rest of the other.
static void find_together(const Plan* p, PawlKktBlocks* b) {
  bool can = b->masses_first && are_whole(p, b);
  for (int s = 0; can && s + 1 < b->count; s++) {
    PawlKktNode *node = &b->nodes[s], *next = node + 1;
    if (p->second[next->first] && next->p == node->p && next->r == node->r &&
        is_compiled(node->p, node->r)) {
      node->step = next->step = PAWL_KKT_WIDE;
      next->U = node->U + 1;
      next->L = node->L + 1;
      next->spot = node->spot + 1;
      s++;
    }
  }
}

static int spot_of(const Plan* p, const PawlKktBlocks* b, int place) {
  const PawlKktNode* node = &b->nodes[p->node_of[place]];
  return node->spot + node->step * (place - node->first);
}

// Places in the order become those in a vector.
static void go_to_spots(const Plan* p, PawlKktBlocks* b) {
  const PawlKktNode* last = &b->nodes[b->count - 1];
  for (int k = 0; k < p->size; k++) {
    b->at[k] = spot_of(p, b, p->at[k]);
  }
  for (int e = 0; e < last->rest + last->r; e++) {
    b->rest[e] = spot_of(p, b, b->rest[e]);
  }
}

// ---- places -------------------------------------------------------------------------------------

// Where place k stands in a node: 0 .. p - 1 its pivots, p .. its rest.
static int place_in(const PawlKktBlocks* b, const PawlKktNode* node, int k) {
  int low = 0, high = node->r - 1;
  const int* rest = b->rest + node->rest;
  if (k < node->first + node->p) {
    return k - node->first;
  }
  while (low < high) {
    int middle = (low + high) / 2;
    if (rest[middle] < k) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return node->p + low;
}

// Where the entry in row i, column j of the ordered matrix stands in the values.
static int place_of(const PawlKktBlocks* b, const int* node_of, int i, int j) {
  const PawlKktNode* node = &b->nodes[node_of[i < j ? i : j]];
  int row = place_in(b, node, i), col = place_in(b, node, j);
  return row < node->p ? node->U + node->step * (row * (node->p + node->r) + col)
                       : node->L + node->step * (col * node->r + row - node->p);
}

// Every row is active.
static void place_block(const Plan* p, const PawlKktBlocks* b, const PawlKktBlock* block) {
  for (int e = 0; e < block->count; e++) {
    block->place[e] = place_of(b, p->node_of, p->at[block->row[e]], p->at[block->col[e]]);
  }
}

// Entries that do not count stand behind those of inactive rows.
static void place_S(const Plan* p, const PawlKktBlocks* b) {
  const PawlKkt* kkt = p->kkt;
  int behind = (int)b->value_count + 2 * kkt->block_J.count;
  for (int e = 0; e < kkt->block_S.count; e++) {
    int i = p->at[kkt->block_S.row[e]], j = p->at[kkt->block_S.col[e]];
    kkt->block_S.place[e] = counts(p, e) ? place_of(b, p->node_of, i, j) : behind++;
  }
}

// ---- the plan of a node -------------------------------------------------------------------------

// Numbers that the plan of a node has; they are written when `to` is not NULL.
static size_t list_products(const Plan* p, const PawlKktBlocks* b, const PawlKktNode* node,
                            int* to) {
  const int* rest = b->rest + node->rest;
  for (int i = 0; to && i < node->r; i++) {
    for (int j = 0; j < node->r; j++) {
      *to++ = place_of(b, p->node_of, rest[i], rest[j]);
    }
  }
  return (size_t)node->r * (size_t)node->r;
}

static bool is_straight(const PawlKktNode* node, const int* place) {
  bool straight = true;
  for (int i = 0; i < node->r; i++) {
    for (int c = i + 1; c < node->r; c++) {
      straight &= place[i * node->r + c] == place[i * node->r + c - 1] + 1;
    }
  }
  return straight;
}

// Whether the places of the products of both nodes, and of their rests, are side by side.
static bool are_level(const PawlKktBlocks* b, const PawlKktNode* node) {
  const int *place = b->plan + node[0].plan, *beside = b->plan + node[1].plan;
  const int *rest = b->rest + node[0].rest, *rest_beside = b->rest + node[1].rest;
  bool level = true;
  for (int k = 0; k < node->r * node->r; k++) {
    level &= beside[k] == place[k] + 1;
  }
  for (int i = 0; i < node->r; i++) {
    level &= rest_beside[i] == rest[i] + 1;
  }
  return level;
}

static PawlStatus find_kinds(PawlKktBlocks* b, PawlArena* arena) {
  unsigned short* kinds = PAWL_NEW(arena, unsigned short, (size_t)b->count + 2);
  if (!kinds) {
    return PAWL_ERROR_MEMORY;
  }
  b->kinds = kinds + 1;
  for (int s = -1; s <= b->count; s++) {
    b->kinds[s] = PAWL_KKT_ALONE;
  }
  for (int s = 0; s < b->count; s += b->nodes[s].step) {
    const PawlKktNode* node = &b->nodes[s];
    if (node->step > 1) {
      bool level = are_level(b, node);
      b->kinds[s] = b->kinds[s + 1] = (unsigned short)PAWL_KKT_KIND(node->p, node->r, level);
    }
  }
  return PAWL_OK;
}

static int piece_end(const Plan* p, const int* rest, int r, int from) {
  int end = from + 1;
  while (end < r && p->node_of[rest[end]] == p->node_of[rest[from]]) {
    end++;
  }
  return end;
}

static size_t list_pieces(const Plan* p, const PawlKktBlocks* b, PawlKktNode* node, int* to) {
  const int* rest = b->rest + node->rest;
  size_t count = 0;
  node->pieces = 0;
  for (int from = 0, end; from < node->r; from = end) {
    end = piece_end(p, rest, node->r, from);
    int owner = p->node_of[rest[from]];
    node->pieces++;
    count += PAWL_KKT_PIECE + (size_t)(node->r - from);
    if (to) {
      *to++ = owner;
      *to++ = from;
      *to++ = end;
      for (int j = from; j < node->r; j++) {
        *to++ = b->nodes[owner].step * place_in(b, &b->nodes[owner], rest[j]);
      }
    }
  }
  return count;
}

static size_t plan_node(const Plan* p, const PawlKktBlocks* b, PawlKktNode* node, int* to) {
  bool listed = node->r <= LISTED;
  node->shape = (short)(listed && b->masses_first ? PAWL_KKT_SHAPE(node->p, node->r) : -1);
  return listed ? list_products(p, b, node, to) : list_pieces(p, b, node, to);
}

static PawlStatus plan_nodes(const Plan* p, PawlKktBlocks* b, PawlArena* arena) {
  size_t count = 0;
  for (int s = 0; s < b->count; s++) {
    count += plan_node(p, b, &b->nodes[s], NULL);
  }
  b->plan = count <= INT32_MAX ? PAWL_NEW(arena, int, count) : NULL;
  if (!b->plan) {
    return PAWL_ERROR_MEMORY;
  }
  count = 0;
  for (int s = 0; s < b->count; s++) {
    b->nodes[s].plan = (int)count;
    count += plan_node(p, b, &b->nodes[s], b->plan + count);
    b->nodes[s].straight =
        b->nodes[s].pieces == 0 && is_straight(&b->nodes[s], b->plan + b->nodes[s].plan);
  }
  return PAWL_OK;
}

// ---- symmetry -----------------------------------------------------------------------------------

// Where the entry in row i, column j of S is, or -1.
static int find_S(const PawlPattern* S, int i, int j) {
  int low = S->start[j], high = S->start[j + 1];
  while (low < high) {
    int middle = (low + high) / 2;
    if (S->index[middle] < i) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < S->start[j + 1] && S->index[low] == i ? low : -1;
}

// Each entry of S above the diagonal with the one below. Counts them where `to` is NULL; below 0
// when one has no other.
static int list_mirror(const PawlKkt* kkt, const unsigned char* inside, int* to) {
  int count = 0;
  for (int e = 0; e < kkt->block_S.count; e++) {
    int i = kkt->block_S.row[e], j = kkt->block_S.col[e], other = find_S(&kkt->S, j, i);
    if (i == j || (inside && !inside[e])) {
      continue;
    }
    if (other < 0) {
      return -1;
    }
    if (i < j) {
      if (to) {
        to[2 * count] = e;
        to[2 * count + 1] = other;
      }
      count++;
    }
  }
  return count;
}

// The entries that are left out. `row` (n) is scratch, zero.
static void list_loose(const Plan* p, PawlKktBlocks* b, int* row) {
  const PawlKkt* kkt = p->kkt;
  int* to = b->loose;
  for (int e = 0; e < kkt->block_S.count; e++) {
    if (!counts(p, e)) {
      int i = kkt->block_S.row[e], j = kkt->block_S.col[e];
      *to++ = e;
      *to++ = find_S(&kkt->S, i, i);
      *to++ = find_S(&kkt->S, j, j);
      row[i]++;
      b->loose_most = row[i] > b->loose_most ? row[i] : b->loose_most;
    }
  }
}

static PawlStatus take_loose(const Plan* p, PawlArena* arena, PawlKktBlocks* b) {
  int* row = PAWL_NEW(p->arena, int, p->kkt->n);
  for (int e = 0; e < p->kkt->block_S.count; e++) {
    b->loose_count += !counts(p, e);
  }
  b->loose = PAWL_NEW(arena, int, 3 * (size_t)b->loose_count);
  if (!row || !b->loose) {
    return PAWL_ERROR_MEMORY;
  }
  list_loose(p, b, row);
  return PAWL_OK;
}

// ---- places that need no zeros
// -------------------------------------------------------------------

static int count_before(const PawlKktBlock* block, int end) {
  int count = 0;
  for (int e = 0; e < block->count; e++) {
    count += block->place[e] < end;
  }
  return count;
}

// Each entry has a place of its own: as many entries as places leave none without.
static int find_full(const PawlKkt* kkt, const PawlKktBlocks* b) {
  int s = 0;
  while (s < b->count && b->nodes[s].first < kkt->n) {
    s++;
  }
  int end = s < b->count ? b->nodes[s].U : (int)b->U_count;
  bool all =
      b->masses_first && count_before(&kkt->block_S, end) + count_before(&kkt->block_B, end) == end;
  return all ? end : 0;
}

// ---- all ----------------------------------------------------------------------------------------

static PawlStatus take_room(Plan* p) {
  int entries = 2 * (p->kkt->block_S.count + p->kkt->block_J.count);
  p->order = PAWL_NEW(p->arena, int, p->size);
  p->start = PAWL_NEW(p->arena, int, p->size + 1);
  p->row = PAWL_NEW(p->arena, int, entries);
  p->node_of = PAWL_NEW(p->arena, int, p->size);
  PAWL_TRY(pawl_factor_pattern_create(&p->pattern, p->arena, p->size));
  return p->arena->failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}

static PawlStatus make_plan(Plan* p, PawlArena* arena, PawlKktBlocks* b) {
  PAWL_TRY(take_room(p));
  p->at = PAWL_NEW(p->arena, int, p->size);
  b->at = PAWL_NEW(arena, int, p->size);
  int* first_of = PAWL_NEW(p->arena, int, p->size);
  if (!p->at || !b->at || !first_of) {
    return PAWL_ERROR_MEMORY;
  }
  PAWL_TRY(choose_order(p, b));
  b->count = count_nodes(p, b->masses_first, first_of);
  b->nodes = PAWL_NEW(arena, PawlKktNode, b->count);
  if (!b->nodes || !place_nodes(p, first_of, b)) {
    return PAWL_ERROR_MEMORY;
  }
  const PawlKktNode* last = &b->nodes[b->count - 1];
  b->rest = PAWL_NEW(arena, int, last->rest + last->r);
  b->home_B = PAWL_NEW(arena, int, p->kkt->block_B.count);
  b->home_J = PAWL_NEW(arena, int, p->kkt->block_J.count);
  b->diagonal = PAWL_NEW(arena, int, p->size);
  if (arena->failed) {
    return PAWL_ERROR_MEMORY;
  }
  copy_rests(p, b);
  find_together(p, b);
  place_S(p, b);
  place_block(p, b, &p->kkt->block_B);
  place_block(p, b, &p->kkt->block_J);
  for (int k = 0; k < p->size; k++) {
    b->diagonal[k] = place_of(b, p->node_of, p->at[k], p->at[k]);
  }
  b->full = find_full(p->kkt, b);
  PAWL_TRY(take_loose(p, arena, b));
  b->mirror_count = are_whole(p, b) ? list_mirror(p->kkt, p->inside, NULL) : -1;
  b->mirror = PAWL_NEW(arena, int, b->mirror_count > 0 ? 2 * b->mirror_count : 0);
  if (b->mirror_count > 0 && b->mirror) {
    list_mirror(p->kkt, p->inside, b->mirror);
  }
  PAWL_TRY(plan_nodes(p, b, arena));
  go_to_spots(p, b);
  b->coordinates = p->kkt->n;
  PAWL_TRY(find_kinds(b, arena));
  PAWL_TRY(pawl_kkt_repeats_find(b, arena));
  return pawl_kkt_runs_find(b, arena, p->size);
}

PawlStatus pawl_kkt_plan(const PawlKkt* kkt, PawlArena* arena, PawlKktBlocks* blocks) {
  PawlArena scratch = {0};
  Plan plan = {.kkt = kkt, .arena = &scratch, .size = kkt->size};
  PawlStatus status = make_plan(&plan, arena, blocks);
  pawl_factor_pattern_free(&plan.pattern);
  pawl_arena_free(&scratch);
  return status;
}
