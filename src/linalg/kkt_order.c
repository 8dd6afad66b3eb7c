// SPDX-License-Identifier: Apache-2.0
// The order in which the unknowns of the sparse KKT system are eliminated. A multiplier has 0 on
// the diagonal: alone it can only be a pivot after a coordinate of its row. So every multiplier is
// paired with a coordinate of its own, the graph of the pairs is ordered for little fill (AMD), and
// in each pair the coordinate goes first. Then diagonal pivots serve, for every set of active rows,
// and the fill is the one that was foreseen (docs/theory/kkt.md, section 6).
#include <amd.h>
#include <string.h>

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
  Graph g = {.node = PAWL_NEW(arena, int, size)};
  if (by_breadth) {
    g.start = PAWL_NEW(arena, int, size + 1);
    g.index = PAWL_NEW(arena, int, entries);
  }
  Search s = {&g, nodes, by_breadth ? PAWL_NEW(arena, unsigned char, size) : NULL};
  if (arena->failed) {
    return PAWL_ERROR_MEMORY;
  }
  choose_partners(kkt, scratch, nodes);
  number_nodes(kkt, nodes, &g);
  if (by_breadth) {
    join_blocks(kkt, &g, scratch);
    order_by_breadth(&s);
  } else {
    for (int a = 0; a < g.count; a++) {
      nodes[a] = a;
    }
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

// ---- masses -------------------------------------------------------------------------------------
// Coordinates that the mass matrix couples, or that are in the same rows, are one mass. Blocks are
// ordered by masses.

#define LARGEST_MASS 12  // coordinates; where there are more, each coordinate stands for itself
#define SHARED_ROWS 8    // entries of the graph of the rows, by those of A: more are too many

typedef struct Masses {
  int count;
  int* of;                    // (n) the mass of a coordinate
  int *start, *list;          // (count + 1), (n) its coordinates
  int *row_start, *row_list;  // (count + 1), (entries of G) the rows that it is in, each once
  int *in_start, *in_list;    // (m + 1), (entries of G) the masses that a row has
} Masses;

static int root_of(int* of, int j) {
  while (of[j] != j) {
    of[j] = of[of[j]];
    j = of[j];
  }
  return j;
}

static void join(int* of, int i, int j) {
  int a = root_of(of, i), b = root_of(of, j);
  of[a > b ? a : b] = a < b ? a : b;
}

static bool is_same_column(const PawlPattern* G, int i, int j) {
  int count = G->start[i + 1] - G->start[i];
  return G->start[j + 1] - G->start[j] == count &&
         memcmp(G->index + G->start[i], G->index + G->start[j], (size_t)count * sizeof *G->index) ==
             0;
}

// Joins each coordinate with the last one that had the same first row, if all are the same. `last`
// (m) is scratch.
static void join_same_rows(const PawlKkt* kkt, Masses* s, int* last) {
  for (int i = 0; i < kkt->m; i++) {
    last[i] = NONE;
  }
  for (int j = 0; j < kkt->n; j++) {
    if (kkt->G.start[j + 1] > kkt->G.start[j]) {
      int* before = &last[kkt->G.index[kkt->G.start[j]]];
      if (*before != NONE && is_same_column(&kkt->G, *before, j)) {
        join(s->of, *before, j);
      }
      *before = j;
    }
  }
}

// `of`: the lowest coordinate of each set. Of S those entries that are of the mass, where they are
// known.
static void join_coordinates(const PawlKkt* kkt, Masses* s) {
  for (int j = 0; j < kkt->n; j++) {
    s->of[j] = j;
  }
  for (int e = 0; e < kkt->block_S.count; e++) {
    if (!kkt->mass || kkt->mass[e]) {
      join(s->of, kkt->block_S.row[e], kkt->block_S.col[e]);
    }
  }
}

// Numbers the sets by their lowest coordinate, and lists them; returns the size of the largest.
// `next` (n) is scratch.
static int list_masses(const PawlKkt* kkt, Masses* s, int* next) {
  int largest = 0, n = kkt->n;
  memset(s->start, 0, (size_t)(n + 1) * sizeof *s->start);
  s->count = 0;
  for (int j = 0; j < n; j++) {
    int root = root_of(s->of, j);
    next[j] = root == j ? s->count++ : next[root];
  }
  for (int j = 0; j < n; j++) {
    s->of[j] = next[j];
    s->start[s->of[j] + 1]++;
  }
  for (int a = 0; a < s->count; a++) {
    largest = s->start[a + 1] > largest ? s->start[a + 1] : largest;
    s->start[a + 1] += s->start[a];
    next[a] = s->start[a];
  }
  for (int j = 0; j < n; j++) {
    s->list[next[s->of[j]]++] = j;
  }
  return largest;
}

// The rows of each mass. `seen` (m) is scratch.
static void list_rows_of(const PawlKkt* kkt, const Masses* s, int* seen) {
  int count = 0;
  for (int i = 0; i < kkt->m; i++) {
    seen[i] = NONE;
  }
  for (int a = 0; a < s->count; a++) {
    for (int c = s->start[a]; c < s->start[a + 1]; c++) {
      int j = s->list[c];
      for (int k = kkt->G.start[j]; k < kkt->G.start[j + 1]; k++) {
        int i = kkt->G.index[k];
        if (seen[i] != a) {
          seen[i] = a;
          s->row_list[count++] = i;
          s->in_start[i + 1]++;
        }
      }
    }
    s->row_start[a + 1] = count;
  }
}

// And the masses of each row. `next` (m) is scratch.
static void list_masses_of(const PawlKkt* kkt, const Masses* s, int* next) {
  for (int i = 0; i < kkt->m; i++) {
    s->in_start[i + 1] += s->in_start[i];
    next[i] = s->in_start[i];
  }
  for (int a = 0; a < s->count; a++) {
    for (int e = s->row_start[a]; e < s->row_start[a + 1]; e++) {
      s->in_list[next[s->row_list[e]]++] = a;
    }
  }
}

// `small`: no mass is larger than the largest; else each coordinate is one.
static PawlStatus find_masses(const PawlKkt* kkt, PawlArena* arena, Masses* s, bool* small) {
  int n = kkt->n, m = kkt->m, entries = kkt->block_J.count;
  int* scratch = PAWL_NEW(arena, int, kkt->size);
  *s = (Masses){.of = PAWL_NEW(arena, int, n),
                .start = PAWL_NEW(arena, int, n + 1),
                .list = PAWL_NEW(arena, int, n),
                .row_start = PAWL_NEW(arena, int, n + 1),
                .row_list = PAWL_NEW(arena, int, entries),
                .in_start = PAWL_NEW(arena, int, m + 1),
                .in_list = PAWL_NEW(arena, int, entries)};
  if (arena->failed) {
    return PAWL_ERROR_MEMORY;
  }
  join_coordinates(kkt, s);
  join_same_rows(kkt, s, scratch);
  *small = list_masses(kkt, s, scratch) <= LARGEST_MASS;
  if (!*small) {
    for (int j = 0; j < n; j++) {
      s->of[j] = j;
    }
    list_masses(kkt, s, scratch);
  }
  list_rows_of(kkt, s, scratch);
  list_masses_of(kkt, s, scratch);
  return PAWL_OK;
}

static int append_mass(const Masses* s, int a, int* Q, int count) {
  for (int c = s->start[a]; c < s->start[a + 1]; c++) {
    Q[count++] = s->list[c];
  }
  return count;
}

// ---- masses and rows of their own ---------------------------------------------------------------

// Whether rows i and k are in the same masses: those of a joint mostly are.
static bool share_masses(const Masses* s, int i, int k) {
  const int *a = s->in_list + s->in_start[i], *b = s->in_list + s->in_start[k];
  int count = s->in_start[i + 1] - s->in_start[i];
  return s->in_start[k + 1] - s->in_start[k] == count &&
         (count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0);
}

// Of the masses of row i with room for so many rows the one that fewest rows use for each of its
// coordinates, or NONE.
static int choose_mass(const Masses* s, const int* room, int i, int rows) {
  int best = NONE;
  double least = 0.0;
  for (int e = s->in_start[i]; e < s->in_start[i + 1]; e++) {
    int a = s->in_list[e];
    double uses = s->row_start[a + 1] - s->row_start[a];
    uses /= s->start[a + 1] - s->start[a];
    if (room[a] >= rows && (best == NONE || uses < least)) {
      best = a;
      least = uses;
    }
  }
  return best;
}

// For each row a mass, one for all rows of a joint where there is room: rows of two joints may be
// the same for a mass, those of one are not. `room` (masses) is scratch. Returns the number of
// nodes: masses, and rows without one.
static int choose_masses(const PawlKkt* kkt, const Masses* s, int* room, int* node) {
  int count = s->count;
  for (int a = 0; a < s->count; a++) {
    room[a] = s->start[a + 1] - s->start[a];
  }
  for (int i = 0, end; i < kkt->m; i = end) {
    for (end = i + 1; end < kkt->m && share_masses(s, i, end); end++) {
    }
    int together = choose_mass(s, room, i, end - i);
    for (int k = i; k < end; k++) {
      int best = together == NONE ? choose_mass(s, room, k, 1) : together;
      node[kkt->n + k] = best == NONE ? count++ : best;
      if (best != NONE) {
        room[best]--;
      }
    }
  }
  return count;
}

// Masses and, after each, its rows, in the order of the nodes. `next` (nodes + 1), `list` (m) are
// scratch.
static void expand_masses(const PawlKkt* kkt, const Masses* s, const Graph* g, const int* nodes,
                          int* next, int* list, int* Q) {
  int count = 0, n = kkt->n, m = kkt->m;
  memset(next, 0, (size_t)(g->count + 1) * sizeof *next);
  for (int i = 0; i < m; i++) {
    next[g->node[n + i] + 1]++;
  }
  for (int a = 0; a < g->count; a++) {
    next[a + 1] += next[a];
  }
  for (int i = m - 1; i >= 0; i--) {  // next[a + 1] walks down to the start of a
    list[--next[g->node[n + i] + 1]] = n + i;
  }
  for (int k = 0; k < g->count; k++) {
    int a = nodes[k], end = a + 2 <= g->count ? next[a + 2] : m;
    count = a < s->count ? append_mass(s, a, Q, count) : count;
    for (int e = next[a + 1]; e < end; e++) {
      Q[count++] = list[e];
    }
  }
}

static PawlStatus order_pairs(const PawlKkt* kkt, PawlArena* arena, int* Q) {
  int size = kkt->size, entries = kkt->block_S.count + 2 * kkt->block_J.count;
  bool small;
  Masses s;
  int* nodes = PAWL_NEW(arena, int, size);
  int* scratch = PAWL_NEW(arena, int, size + 2);
  int* list = PAWL_NEW(arena, int, kkt->m);
  Graph g = {.start = PAWL_NEW(arena, int, size + 1),
             .index = PAWL_NEW(arena, int, entries),
             .node = PAWL_NEW(arena, int, size)};
  PAWL_TRY(find_masses(kkt, arena, &s, &small));
  memcpy(g.node, s.of, (size_t)kkt->n * sizeof *s.of);
  g.count = choose_masses(kkt, &s, scratch, g.node);
  join_blocks(kkt, &g, scratch);
  if (amd_order(g.count, g.start, g.index, nodes, NULL, NULL) < AMD_OK) {
    return PAWL_ERROR_MEMORY;
  }
  expand_masses(kkt, &s, &g, nodes, scratch, list, Q);
  return PAWL_OK;
}

PawlStatus pawl_kkt_order_pairs(const PawlKkt* kkt, int* Q) {
  PawlArena arena = {0};
  PawlStatus status = order_pairs(kkt, &arena, Q);
  pawl_arena_free(&arena);
  return status;
}

// ---- masses first -------------------------------------------------------------------------------

// The pattern of J S^-1 J^T by columns, with duplicates; returns the number of entries, and fills
// nothing but `start` when `index` is NULL.
static double couple_rows(const PawlKkt* kkt, const Masses* s, int* start, int* index) {
  double count = 0.0;
  for (int i = 0; i < kkt->m; i++) {
    for (int e = s->in_start[i]; e < s->in_start[i + 1]; e++) {
      int a = s->in_list[e];
      for (int k = s->row_start[a]; index && k < s->row_start[a + 1]; k++) {
        index[(int)count + k - s->row_start[a]] = s->row_list[k];
      }
      count += s->row_start[a + 1] - s->row_start[a];
    }
    start[i + 1] = count < INT32_MAX ? (int)count : INT32_MAX;
  }
  return count;
}

// Whether mass b has row i.
static bool has_row(const Masses* s, int b, int i) {
  bool has = false;
  for (int e = s->in_start[i]; e < s->in_start[i + 1]; e++) {
    has |= s->in_list[e] == b;
  }
  return has;
}

// Whether mass b has the rows beside those of a.
static bool is_beside(const Masses* s, const int* beside, int a, int b) {
  bool is = s->start[b + 1] - s->start[b] == s->start[a + 1] - s->start[a] &&
            s->row_start[b + 1] - s->row_start[b] == s->row_start[a + 1] - s->row_start[a];
  for (int e = s->row_start[a]; is && e < s->row_start[a + 1]; e++) {
    is = beside[s->row_list[e]] != NONE && has_row(s, b, beside[s->row_list[e]]);
  }
  return is;
}

// The mass that goes beside mass a, whose rows are beside its own, or NONE.
static int find_beside(const Masses* s, const int* beside, const unsigned char* placed, int a) {
  int row = s->row_start[a + 1] > s->row_start[a] ? beside[s->row_list[s->row_start[a]]] : NONE;
  for (int e = row == NONE ? 0 : s->in_start[row]; row != NONE && e < s->in_start[row + 1]; e++) {
    int b = s->in_list[e];
    if (!placed[b] && is_beside(s, beside, a, b)) {
      return b;
    }
  }
  return NONE;
}

// Mass a and the one beside it, if there is one. `placed` (masses) is zero before.
static int place_mass(const Masses* s, const int* beside, unsigned char* placed, int a, int* Q,
                      unsigned char* second, int count) {
  if (placed[a]) {
    return count;
  }
  placed[a] = 1;
  count = append_mass(s, a, Q, count);
  int other = find_beside(s, beside, placed, a);
  if (other != NONE) {
    placed[other] = second[count] = 1;
    count = append_mass(s, other, Q, count);
  }
  return count;
}

// The masses in the order of their first rows, then the rows. `placed` (masses) is zero before.
static void place_masses_first(const PawlKkt* kkt, const Masses* s, const int* rows,
                               const int* beside, const unsigned char* follows,
                               unsigned char* placed, int* Q, unsigned char* second) {
  int count = 0, m = kkt->m;
  for (int k = 0; k < m; k++) {
    for (int e = s->in_start[rows[k]]; e < s->in_start[rows[k] + 1]; e++) {
      count = place_mass(s, beside, placed, s->in_list[e], Q, second, count);
    }
  }
  for (int a = 0; a < s->count; a++) {
    count = place_mass(s, beside, placed, a, Q, second, count);
  }
  for (int k = 0; k < m; k++) {
    second[count] = follows[rows[k]];
    Q[count++] = kkt->n + rows[k];
  }
}

static void flag_inside(const PawlKkt* kkt, const Masses* s, unsigned char* inside) {
  for (int e = 0; e < kkt->block_S.count; e++) {
    inside[e] = s->of[kkt->block_S.row[e]] == s->of[kkt->block_S.col[e]];
  }
}

static PawlStatus order_masses(const PawlKkt* kkt, PawlArena* arena, int* Q, unsigned char* second,
                               unsigned char* inside, bool* possible, bool* peeled) {
  int m = kkt->m;
  Masses s;
  double of_A = kkt->block_S.count + 2.0 * kkt->block_J.count;
  int* rows = PAWL_NEW(arena, int, m);
  int* start = PAWL_NEW(arena, int, m + 1);
  int* beside = PAWL_NEW(arena, int, m);
  unsigned char* follows = PAWL_NEW(arena, unsigned char, m);
  unsigned char* placed = PAWL_NEW(arena, unsigned char, kkt->n);
  PAWL_TRY(find_masses(kkt, arena, &s, possible));
  flag_inside(kkt, &s, inside);
  double count = couple_rows(kkt, &s, start, NULL);
  if (!*possible || count > SHARED_ROWS * of_A || count > INT32_MAX) {
    *possible = false;
    return PAWL_OK;
  }
  int* index = PAWL_NEW(arena, int, count);
  if (arena->failed) {
    return PAWL_ERROR_MEMORY;
  }
  couple_rows(kkt, &s, start, index);
  PAWL_TRY(pawl_kkt_order_rows(m, arena, start, index, rows, beside, follows, peeled));
  place_masses_first(kkt, &s, rows, beside, follows, placed, Q, second);
  return PAWL_OK;
}

PawlStatus pawl_kkt_order_masses(const PawlKkt* kkt, int* Q, unsigned char* second,
                                 unsigned char* inside, bool* possible, bool* peeled) {
  PawlArena arena = {0};
  *peeled = false;
  PawlStatus status = order_masses(kkt, &arena, Q, second, inside, possible, peeled);
  pawl_arena_free(&arena);
  return status;
}
