// SPDX-License-Identifier: Apache-2.0
// The compliance of contacts at an instant (docs/theory/friction.md, section 9). A body is what
// masses and eliminated rows connect. Bodies do not feel each other, so that
//
//   D_ij = sum over the bodies b of both rows:  G_ib x_jb,     x_jb = M^-1 G_jb^T,            (F46)
//
// and one solution serves a row of every body at once: as many are needed as rows act on the one
// body that most act on, however many bodies there are.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "switch/grip_impl.h"

// Rows of an island, beyond which it is sparse.
enum { MOST_DENSE = 160 };

// ---- creation -----------------------------------------------------------------------------------
static PawlStatus make_room(PawlGripCompliance* c, size_t numbers, PawlError* err) {
  if (numbers <= c->room) {
    return PAWL_OK;
  }
  pawl_free(c->D);
  c->D = pawl_alloc(numbers, sizeof(double));
  c->room = c->D ? numbers : 0;
  return c->D ? PAWL_OK : pawl_fail_memory(err);
}

PawlStatus pawl_grip_compliance_create(PawlGrip* g, int rows, PawlError* err) {
  PawlGripCompliance* c = &g->compliance;
  PawlArena* arena = g->dynamics->arena;
  size_t m = (size_t)g->dynamics->sizes.rows, n = (size_t)g->dynamics->sizes.v;
  size_t entries = (size_t)g->slip->rows.start[m];
  int** of_rows[] = {&c->unit, &c->member, &c->seen, &c->list, &c->island};
  for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
    *of_rows[k] = PAWL_NEW(arena, int, m);
  }
  c->of_row = PAWL_NEW(arena, int, m + 1);
  c->start = PAWL_NEW(arena, int, 2 * m);
  c->piece = PAWL_NEW(arena, PawlGripPiece, entries);
  c->entry = PAWL_NEW(arena, int, entries);
  c->head = PAWL_NEW(arena, int, n);
  c->last = PAWL_NEW(arena, int, n);
  c->body = PAWL_NEW(arena, int, n);
  PAWL_TRY(arena->failed ? pawl_fail_memory(err) : PAWL_OK);
  return make_room(c, (size_t)rows * (size_t)rows, err);
}

void pawl_grip_compliance_free(PawlGrip* g) {
  pawl_free(g->compliance.D);
  pawl_free(g->compliance.index);
}

// ---- pieces -------------------------------------------------------------------------------------
static void add_piece(PawlGrip* g, int k, int body, int first) {
  PawlGripCompliance* c = &g->compliance;
  int number = c->of_row[k + 1]++;
  c->piece[number] = (PawlGripPiece){.row = k, .body = body, .first = first, .next = -1};
  if (c->head[body] < 0) {
    c->body[c->bodies++] = body;
    c->head[body] = number;
  } else {
    c->piece[c->last[body]].next = number;
  }
  c->last[body] = number;
}

// The entries of row k by bodies, each in the order of the first entry of its body.
static void cut_row(PawlGrip* g, int k) {
  PawlGripCompliance* c = &g->compliance;
  const PawlByRows* rows = &g->slip->rows;
  int i = g->row[k], count = 0,
      first = c->of_row[k] > 0 ? c->piece[c->of_row[k] - 1].first + c->piece[c->of_row[k] - 1].count
                               : 0;
  c->of_row[k + 1] = c->of_row[k];
  for (int p = rows->start[i]; p < rows->start[i + 1]; p++) {
    int body = g->body[rows->column[p]];
    if (c->head[body] < 0 || c->piece[c->last[body]].row != k) {
      add_piece(g, k, body, 0);
    }
    c->piece[c->last[body]].count++;
  }
  for (int a = c->of_row[k]; a < c->of_row[k + 1]; a++) {
    c->piece[a].first = first + count;
    count += c->piece[a].count;
    c->piece[a].count = 0;
  }
  for (int p = rows->start[i]; p < rows->start[i + 1]; p++) {
    PawlGripPiece* piece = &c->piece[c->last[g->body[rows->column[p]]]];
    c->entry[piece->first + piece->count++] = p;
  }
}

static void cut_rows(PawlGrip* g) {
  PawlGripCompliance* c = &g->compliance;
  c->bodies = 0;
  c->of_row[0] = 0;
  memset(c->head, -1, (size_t)g->dynamics->sizes.v * sizeof(int));
  for (int k = 0; k < g->count; k++) {
    cut_row(g, k);
  }
}

// ---- patterns -----------------------------------------------------------------------------------
// A contact with its friction is a unit, and any other row.
static void find_units(PawlGrip* g) {
  PawlGripCompliance* c = &g->compliance;
  c->stamp = 0;
  memset(c->seen, 0, (size_t)g->count * sizeof(int));
  for (int k = 0; k < g->count; k++) {
    c->unit[k] = k;
    c->member[k] = -1;
  }
  for (int at = 0; at < g->islands; at++) {
    const PawlGripIsland* island = &g->island[at];
    for (int b = island->first_block; b < island->first_block + island->blocks; b++) {
      const PawlFrictionBlock* block = &g->block[b];
      int normal = island->first + block->normal;
      for (int i = 0; i < 2 && block->tangent[i] >= 0; i++) {
        int tangent = island->first + block->tangent[i];
        c->unit[tangent] = normal;
        c->member[tangent] = c->member[normal];
        c->member[normal] = tangent;
      }
    }
  }
}

static void list_unit(PawlGripCompliance* c, int unit, int* count) {
  if (c->seen[unit] == c->stamp) {
    return;
  }
  c->seen[unit] = c->stamp;
  for (int i = unit; i >= 0; i = c->member[i]) {
    c->list[(*count)++] = i;
  }
}

// The rows of all units that act on bodies that the unit of row k acts on; how many.
static int find_neighbours(PawlGripCompliance* c, int k) {
  int count = 0;
  c->stamp++;
  list_unit(c, c->unit[k], &count);
  for (int i = c->unit[k]; i >= 0; i = c->member[i]) {
    for (int a = c->of_row[i]; a < c->of_row[i + 1]; a++) {
      for (int other = c->head[c->piece[a].body]; other >= 0; other = c->piece[other].next) {
        list_unit(c, c->unit[c->piece[other].row], &count);
      }
    }
  }
  return count;
}

// Columns in turn are the next entry of each of their neighbours, since neighbours are mutual.
static void write_pattern(PawlGripCompliance* c, const PawlGripIsland* island) {
  int *start = c->start + island->columns, *index = c->index + island->pattern, m = island->count;
  for (int j = m; j > 0; j--) {  // where column j goes on
    start[j] = start[j - 1];
  }
  for (int j = 0; j < m; j++) {
    int count = find_neighbours(c, island->first + j);
    for (int n = 0; n < count; n++) {
      index[start[c->list[n] - island->first + 1]++] = j;
    }
  }
}

// Numbers of entries; false: too many to be counted.
static bool measure(PawlGrip* g, size_t* numbers, int* columns, int* pattern) {
  PawlGripCompliance* c = &g->compliance;
  *numbers = 0;
  *columns = *pattern = 0;
  for (int at = 0; at < g->islands; at++) {
    PawlGripIsland* island = &g->island[at];
    size_t entries = (size_t)island->count * (size_t)island->count;
    island->sparse = island->count > MOST_DENSE;
    island->D = *numbers;
    island->columns = *columns;
    island->pattern = *pattern;
    if (island->sparse) {
      int *start = c->start + *columns, total = 0;
      start[0] = 0;
      for (int j = 0; j < island->count; j++) {
        int count = find_neighbours(c, island->first + j);
        if (count > INT_MAX - *pattern - total) {
          return false;
        }
        total += count;
        start[j + 1] = total;
      }
      entries = (size_t)total;
      *columns += island->count + 1;
      *pattern += total;
    }
    *numbers += entries;
  }
  return true;
}

// ---- numbers ------------------------------------------------------------------------------------
static void push(const PawlGrip* g, const double* G, const PawlGripPiece* piece) {
  const PawlByRows* rows = &g->slip->rows;
  const int* entry = g->compliance.entry + piece->first;
  for (int e = 0; e < piece->count; e++) {
    g->x[rows->column[entry[e]]] += G[rows->at[entry[e]]];
  }
}

static double product(const PawlGrip* g, const double* G, const PawlGripPiece* piece) {
  const PawlByRows* rows = &g->slip->rows;
  const int* entry = g->compliance.entry + piece->first;
  double sum = 0.0;
  for (int e = 0; e < piece->count; e++) {
    sum += G[rows->at[entry[e]]] * g->x[rows->column[entry[e]]];
  }
  return sum;
}

static const PawlGripIsland* island_of(const PawlGrip* g, int k) {
  return &g->island[g->compliance.island[k]];
}

// What row `k` is moved by on a body, to all rows that act on it: both ascend.
static void add_column(PawlGrip* g, const double* G, int body, int k) {
  const PawlGripCompliance* c = &g->compliance;
  const PawlGripIsland* island = island_of(g, k);
  int j = k - island->first;
  const int* index = NULL;
  double* column = c->D + island->D + (size_t)j * (size_t)island->count;
  if (island->sparse) {
    int begin = c->start[island->columns + j];
    index = c->index + island->pattern + begin;
    column = c->D + island->D + begin;
  }
  for (int a = c->head[body]; a >= 0; a = c->piece[a].next) {
    int i = c->piece[a].row - island->first, e = i;
    if (index) {
      while (*index < i) {
        index++;
        column++;
      }
      e = 0;
    }
    column[e] += product(g, G, &c->piece[a]);
  }
}

// How easily a row would move if nothing held it.
static double own_compliance(const PawlGrip* g, const PawlValues* values, int i) {
  const PawlDynamics* d = g->dynamics;
  const PawlByRows* rows = &g->slip->rows;
  double own = 0.0;
  for (int p = rows->start[i]; p < rows->start[i + 1]; p++) {
    int j = rows->column[p], e = rows->at[p];
    double mass = d->diagonal[j] >= 0 ? values->M[d->diagonal[j]] : 0.0;
    own += mass > 0.0 ? values->G[e] * values->G[e] / mass : 0.0;
  }
  return own;
}

// The next row of each body in turn: `last` is that of the body.                           (F46)
static void push_bodies(PawlGrip* g, const PawlValues* values) {
  PawlGripCompliance* c = &g->compliance;
  PawlDynamics* d = g->dynamics;
  memcpy(c->last, c->head, (size_t)d->sizes.v * sizeof(int));
  for (int left = c->bodies; left > 0;) {
    memset(g->x, 0, (size_t)d->sizes.v * sizeof(double));
    memset(g->y, 0, (size_t)d->sizes.rows * sizeof(double));
    for (int b = 0; b < left; b++) {
      push(g, values->G, &c->piece[c->last[c->body[b]]]);
    }
    pawl_kkt_solve(d->kkt, g->x, g->y);
    int still = 0;
    for (int b = 0; b < left; b++) {
      int body = c->body[b];
      add_column(g, values->G, body, c->piece[c->last[body]].row);
      c->last[body] = c->piece[c->last[body]].next;
      if (c->last[body] >= 0) {
        c->body[still++] = body;
      }
    }
    left = still;
  }
}

PawlStatus pawl_grip_compliance_find(PawlGrip* g, const PawlValues* values, PawlError* err) {
  PawlGripCompliance* c = &g->compliance;
  size_t numbers;
  int columns, pattern;
  cut_rows(g);
  find_units(g);
  if (!measure(g, &numbers, &columns, &pattern) ||
      PAWL_GROW(c->index, c->index_room, pattern) != 0) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(make_room(c, numbers, err));
  memset(c->D, 0, numbers * sizeof(double));
  for (int at = 0; at < g->islands; at++) {
    if (g->island[at].sparse) {
      write_pattern(c, &g->island[at]);
    }
    for (int k = 0; k < g->island[at].count; k++) {
      c->island[g->island[at].first + k] = at;
    }
  }
  push_bodies(g, values);
  return PAWL_OK;
}

PawlStatus pawl_grip_compliance_give(PawlGrip* g, const PawlValues* values,
                                     const PawlGripIsland* island) {
  const PawlGripCompliance* c = &g->compliance;
  int m = island->count;
  double* own = g->own + island->first;
  for (int i = 0; i < m; i++) {
    own[i] = own_compliance(g, values, g->row[island->first + i]);
  }
  if (!island->sparse) {
    return pawl_friction_set(g->solver, m, c->D + island->D, own);
  }
  PawlPattern pattern = {m, m, c->start + island->columns, c->index + island->pattern};
  return pawl_friction_set_sparse(g->solver, &pattern, c->D + island->D, own);
}
