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
// Column n + i of A names the coordinates of row i. `uses` (n) is scratch.
static void choose_partners(const PawlKkt* kkt, const int* start, const int* index, int* uses,
                            int* partner) {
  int n = kkt->n;
  for (int j = 0; j < n; j++) {
    uses[j] = kkt->G.start[j + 1] - kkt->G.start[j];
  }
  for (int i = 0; i < kkt->m; i++) {
    int best = NONE;
    for (int p = start[n + i]; p < start[n + i + 1] - 1; p++) {  // the last entry is D
      int j = index[p];
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
  choose_partners(kkt, start, index, scratch, nodes);
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
