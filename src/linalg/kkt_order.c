// SPDX-License-Identifier: Apache-2.0
// The order in which the unknowns of the sparse KKT system are eliminated. A multiplier has 0 on
// the diagonal: alone it can only be a pivot after a coordinate of its row. So every multiplier is
// paired with a coordinate of its own, the graph of the pairs is ordered for little fill (AMD), and
// in each pair the coordinate goes first. Then diagonal pivots serve, for every set of active rows,
// and the fill is the one that was foreseen (docs/theory/kkt.md, section 6).
#include <amd.h>

#include "linalg/kkt_impl.h"

#define NONE (-1)
#define TAKEN 0

typedef struct Graph {  // of nodes: pairs, and unknowns without a partner
  int count;
  int *start, *index;  // (count + 1), (entries of A)
  int* node;           // (size) of each unknown
} Graph;

// ---- pairs -------------------------------------------------------------------------------------

// For each row the coordinate that fewest rows use, of those that no row before it has taken.
// `uses` (n) is scratch.
static void choose_partners(const PawlKkt* kkt, int* uses, int* partner) {
  int n = kkt->n;
  for (int j = 0; j < n; j++) {
    uses[j] = kkt->G.start[j + 1] - kkt->G.start[j];
  }
  for (int i = 0; i < kkt->m; i++) {
    int best = NONE;
    for (int e = kkt->row_start[i]; e < kkt->row_start[i + 1]; e++) {
      int j = kkt->block_J.col[kkt->row_entry[e]];
      if (uses[j] != TAKEN && (best == NONE || uses[j] < uses[best])) {
        best = j;
      }
    }
    partner[i] = best;
    if (best != NONE) {
      uses[best] = TAKEN;
    }
  }
}

// ---- the graph ---------------------------------------------------------------------------------

static void number_nodes(const PawlKkt* kkt, const int* partner, Graph* g) {
  int n = kkt->n;
  for (int j = 0; j < n; j++) {
    g->node[j] = j;
  }
  g->count = n;
  for (int i = 0; i < kkt->m; i++) {
    g->node[n + i] = partner[i] == NONE ? g->count++ : partner[i];
  }
}

// The columns of A, a pair's two joined, rows replaced by nodes. AMD does not mind duplicates.
static void join_columns(const PawlKkt* kkt, const int* start, const int* index, Graph* g) {
  for (int k = 0; k < kkt->size; k++) {
    g->start[g->node[k] + 1] += start[k + 1] - start[k];
  }
  for (int a = 0; a < g->count; a++) {
    g->start[a + 1] += g->start[a];
  }
  for (int k = kkt->size - 1; k >= 0; k--) {  // start[a + 1] walks down to the start of a
    for (int p = start[k + 1] - 1; p >= start[k]; p--) {
      g->index[--g->start[g->node[k] + 1]] = g->node[index[p]];
    }
  }
  for (int a = 0; a < g->count; a++) {
    g->start[a] = g->start[a + 1];
  }
  g->start[g->count] = start[kkt->size];
}

// Each node's coordinate, then its multiplier. `partner_of` (nodes) is scratch.
static void expand(const PawlKkt* kkt, const Graph* g, const int* nodes, int* partner_of, int* Q) {
  int n = kkt->n, count = 0;
  for (int a = 0; a < g->count; a++) {
    partner_of[a] = NONE;
  }
  for (int i = 0; i < kkt->m; i++) {
    partner_of[g->node[n + i]] = n + i;
  }
  for (int k = 0; k < g->count; k++) {
    int a = nodes[k];
    if (a < n) {
      Q[count++] = a;
    }
    if (partner_of[a] != NONE) {
      Q[count++] = partner_of[a];
    }
  }
}

static PawlStatus order(const PawlKkt* kkt, const int* start, const int* index, PawlArena* arena,
                        int* Q) {
  int size = kkt->size;
  int* nodes = PAWL_NEW(arena, int, size);
  int* scratch = PAWL_NEW(arena, int, size);
  Graph g = {.start = PAWL_NEW(arena, int, size + 1),
             .index = PAWL_NEW(arena, int, start[size]),
             .node = PAWL_NEW(arena, int, size)};
  if (!nodes || !scratch || !g.start || !g.index || !g.node) {
    return PAWL_ERROR_MEMORY;
  }
  choose_partners(kkt, scratch, nodes);
  number_nodes(kkt, nodes, &g);
  join_columns(kkt, start, index, &g);
  if (amd_order(g.count, g.start, g.index, nodes, NULL, NULL) < AMD_OK) {
    return PAWL_ERROR_MEMORY;
  }
  expand(kkt, &g, nodes, scratch, Q);
  return PAWL_OK;
}

PawlStatus pawl_kkt_order(const PawlKkt* kkt, const int* start, const int* index, int* Q) {
  PawlArena arena = {0};
  PawlStatus status = order(kkt, start, index, &arena, Q);
  pawl_arena_free(&arena);
  return status;
}

// ---- bands --------------------------------------------------------------------------------------

typedef struct Search {  // by breadth
  const Graph* g;
  int* list;            // (nodes) in the order of the search
  unsigned char* seen;  // (nodes)
} Search;

static void count_entries(const PawlKktBlock* block, Graph* g) {
  for (int e = 0; e < block->count; e++) {
    g->start[g->node[block->col[e]] + 1]++;
  }
}

static void list_entries(const PawlKktBlock* block, Graph* g, int* next) {
  for (int e = 0; e < block->count; e++) {
    g->index[next[g->node[block->col[e]]]++] = g->node[block->row[e]];
  }
}

// The same graph straight from the blocks. `next` (nodes) is scratch.
static void join_blocks(const PawlKkt* kkt, Graph* g, int* next) {
  const PawlKktBlock* blocks[] = {&kkt->block_S, &kkt->block_B, &kkt->block_J};
  for (int b = 0; b < 3; b++) {
    count_entries(blocks[b], g);
  }
  for (int a = 0; a < g->count; a++) {
    next[a] = g->start[a];
    g->start[a + 1] += g->start[a];
  }
  for (int b = 0; b < 3; b++) {
    list_entries(blocks[b], g, next);
  }
}

static int degree(const Graph* g, int a) {
  return g->start[a + 1] - g->start[a];
}

// Appends the neighbours of `a` that were not seen yet, those with few neighbours first.
static int append_neighbours(const Search* s, int a, int count) {
  const Graph* g = s->g;
  int first = count;
  for (int e = g->start[a]; e < g->start[a + 1]; e++) {
    int b = g->index[e], k = count;
    if (s->seen[b]) {
      continue;
    }
    s->seen[b] = 1;
    for (; k > first && degree(g, s->list[k - 1]) > degree(g, b); k--) {
      s->list[k] = s->list[k - 1];
    }
    s->list[k] = b;
    count++;
  }
  return count;
}

// All that can be reached from `root`, from list[count] on; returns where it ends.
static int search(const Search* s, int root, int count) {
  int from = count;
  s->list[count++] = root;
  s->seen[root] = 1;
  for (; from < count; from++) {
    count = append_neighbours(s, s->list[from], count);
  }
  return count;
}

// Cuthill and McKee: each connected part from a node at its rim, found by two searches.
static void order_by_breadth(const Search* s) {
  for (int root = 0, count = 0; root < s->g->count; root++) {
    int start = root;
    for (int trial = 0; !s->seen[root] && trial < 2; trial++) {
      int end = search(s, start, count);
      start = s->list[end - 1];
      for (int k = count; k < end; k++) {
        s->seen[s->list[k]] = 0;
      }
    }
    count = s->seen[root] ? count : search(s, start, count);
  }
}

static PawlStatus order_band(const PawlKkt* kkt, PawlArena* arena, bool by_breadth, int* Q) {
  int size = kkt->size, entries = kkt->block_S.count + 2 * kkt->block_J.count;
  int* nodes = PAWL_NEW(arena, int, size);
  int* scratch = PAWL_NEW(arena, int, size);
  Graph g = {.start = PAWL_NEW(arena, int, size + 1),
             .index = PAWL_NEW(arena, int, entries),
             .node = PAWL_NEW(arena, int, size)};
  Search s = {&g, nodes, PAWL_NEW(arena, unsigned char, size)};
  if (arena->failed) {
    return PAWL_ERROR_MEMORY;
  }
  choose_partners(kkt, scratch, nodes);
  number_nodes(kkt, nodes, &g);
  join_blocks(kkt, &g, scratch);
  for (int a = 0; a < g.count; a++) {
    nodes[a] = a;
  }
  if (by_breadth) {
    order_by_breadth(&s);
  }
  expand(kkt, &g, nodes, scratch, Q);
  return PAWL_OK;
}

PawlStatus pawl_kkt_order_band(const PawlKkt* kkt, bool by_breadth, int* Q) {
  PawlArena arena = {0};
  PawlStatus status = order_band(kkt, &arena, by_breadth, Q);
  pawl_arena_free(&arena);
  return status;
}
