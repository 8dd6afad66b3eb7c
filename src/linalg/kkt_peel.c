// SPDX-License-Identifier: Apache-2.0
// The order in which rows are eliminated after the masses (docs/theory/kkt.md, section 8). Rows
// that are coupled to each other and to the same others are a joint. A joint with one neighbour at
// most leaves no entries, so that these go first, round by round: a chain from both of its ends.
// Two of a round that have as many rows are beside each other. AMD orders the rest.
#include <amd.h>

#include "linalg/kkt_impl.h"

#define NONE (-1)

typedef struct Peel {
  int m;
  const int *start, *index;  // the graph of the rows, with duplicates
  int* joint;                // (m) the first row of the joint of a row
  int* end;                  // (m) of a joint: the row behind its last one
  int* degree;               // (m) of a joint: its neighbours; NONE: it is in `rows`
  int looks, *seen;          // (m + 1) the last look at which a row, or a joint, was seen
  int *rows, *beside;        // (m) in order; of a row: the one beside it, or NONE
  unsigned char* follows;    // (m) the row begins a joint that is beside the one before
  int* place;                // (m) in a graph of the rest
  int count;                 // rows so far
} Peel;

// Counts the rows coupled to row i, itself among them, and marks them as seen in a new look.
static int look_at(Peel* p, int i) {
  int count = 0, look = ++p->looks;
  for (int k = p->start[i]; k < p->start[i + 1]; k++) {
    count += p->seen[p->index[k]] != look;
    p->seen[p->index[k]] = look;
  }
  return count;
}

// Whether row k is coupled to the rows of the last look, `count` of them.
static bool is_coupled_alike(Peel* p, int count, int k) {
  bool alike = true;
  for (int e = p->start[k]; alike && e < p->start[k + 1]; e++) {
    alike = p->seen[p->index[e]] == p->looks;
  }
  return alike && look_at(p, k) == count;
}

// The joints that are coupled to joint a and not yet in order: counts them, and returns one.
static int neighbours(Peel* p, int a, int* count) {
  int last = NONE, look = ++p->looks;
  *count = 0;
  p->seen[a] = look;
  for (int k = p->start[a]; k < p->start[a + 1]; k++) {
    int b = p->joint[p->index[k]];
    if (p->seen[b] != look && p->degree[b] != NONE) {
      p->seen[b] = look;
      last = b;
      ++*count;
    }
  }
  return last;
}

static void find_joints(Peel* p) {
  for (int i = 0, end; i < p->m; i = end) {
    int count = look_at(p, i);
    for (end = i + 1; end < p->m && is_coupled_alike(p, count, end); end++) {
    }
    p->end[i] = end;
    for (int k = i; k < end; k++) {
      p->joint[k] = i;
    }
  }
  for (int i = 0; i < p->m; i = p->end[i]) {
    neighbours(p, i, &p->degree[i]);
  }
}

// Of a round of joints, none of which is coupled to another but perhaps the last two of all.
static void put_beside(Peel* p, int count, const int* joints) {
  for (int k = 0; k + 1 < count; k++) {
    int a = joints[k], b = joints[k + 1], size = p->end[a] - a, others;
    if (p->end[b] - b == size && neighbours(p, a, &others) != b) {
      for (int i = 0; i < size; i++) {
        p->beside[a + i] = b + i;
        p->beside[b + i] = a + i;
      }
      p->follows[b] = 1;
      k++;
    }
  }
}

// Returns the joint that it was coupled to, if there is one left.
static int take_joint(Peel* p, int a) {
  int count;
  int next = neighbours(p, a, &count);
  for (int i = a; i < p->end[a]; i++) {
    p->rows[p->count++] = i;
  }
  p->degree[a] = NONE;
  return next;
}

static void peel(Peel* p) {
  int* queue = p->place;
  int from = 0, to = 0;
  for (int i = 0; i < p->m; i = p->end[i]) {
    if (p->degree[i] <= 1) {
      queue[to++] = i;
    }
  }
  while (from < to) {
    int end = to;
    put_beside(p, end - from, queue + from);
    for (; from < end; from++) {
      int next = take_joint(p, queue[from]);
      if (next != NONE && p->degree[next]-- == 2) {
        queue[to++] = next;
      }
    }
  }
}

// The rest by AMD, on the graph of the rows that are not yet in order.
static PawlStatus order_rest(Peel* p, int* start, int* index, int* order) {
  int rest = 0, count = 0, from = 0;
  for (int i = 0; i < p->m; i++) {
    bool out = p->degree[p->joint[i]] == NONE;
    p->place[i] = out ? NONE : rest;
    p->seen[rest] = i;  // now the rows of the rest
    rest += !out;
  }
  for (int i = 0; i < p->m; i++) {
    int end = start[i + 1];
    for (int k = from; p->place[i] != NONE && k < end; k++) {
      index[count] = p->place[index[k]];
      count += index[count] != NONE;
    }
    from = end;
    if (p->place[i] != NONE) {
      start[p->place[i] + 1] = count;
    }
  }
  if (rest > 0 && amd_order(rest, start, index, order, NULL, NULL) < AMD_OK) {
    return PAWL_ERROR_MEMORY;
  }
  for (int k = 0; k < rest; k++) {
    p->rows[p->count++] = p->seen[order[k]];
  }
  return PAWL_OK;
}

PawlStatus pawl_kkt_order_rows(int m, PawlArena* arena, int* start, int* index, int* rows,
                               int* beside, unsigned char* follows, bool* peeled) {
  Peel p = {.m = m,
            .start = start,
            .index = index,
            .joint = PAWL_NEW(arena, int, m),
            .end = PAWL_NEW(arena, int, m),
            .degree = PAWL_NEW(arena, int, m),
            .seen = PAWL_NEW(arena, int, m + 1),
            .rows = rows,
            .beside = beside,
            .follows = follows,
            .place = PAWL_NEW(arena, int, m)};
  int* order = PAWL_NEW(arena, int, m);
  if (arena->failed) {
    return PAWL_ERROR_MEMORY;
  }
  for (int i = 0; i < m; i++) {
    beside[i] = NONE;
    follows[i] = 0;
  }
  find_joints(&p);
  peel(&p);
  *peeled = p.count == m;
  return order_rest(&p, start, index, order);
}
