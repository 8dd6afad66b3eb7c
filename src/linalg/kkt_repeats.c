// SPDX-License-Identifier: Apache-2.0
// Stretches of nodes side by side whose lists repeat (docs/theory/kkt.md, section 8, *Without
// lists*): where the products of a pair and its rest go is what it is for the pair a period before
// it, moved on by a step. Elimination and solution read the lists of one period then, and not those
// of the whole stretch, which are as long as the factors.
#include "linalg/kkt_blocks.h"

enum {
  MOST_PERIOD = 4,  // pairs
  LEAST = 32        // nodes of a stretch
};

// Whether the lists of the pair at s are those of the pair at `before`, moved on. With symmetry
// products below the diagonal go nowhere.
static bool goes_on(const PawlKktBlocks* b, int s, int before, PawlKktRepeat by) {
  const PawlKktNode *node = &b->nodes[s], *other = &b->nodes[before];
  const int *rest = b->rest + node->rest, *plan = b->plan + node->plan;
  const int *other_rest = b->rest + other->rest, *other_plan = b->plan + other->plan;
  bool same = b->kinds[s] == b->kinds[before] && b->kinds[s] % 2 == 1;  // level
  for (int i = 0; same && i < node->r; i++) {
    same = rest[i] - other_rest[i] == by.vector;
    for (int c = i; same && c < node->r; c++) {
      same = plan[i * node->r + c] - other_plan[i * node->r + c] == by.values;
    }
  }
  return same;
}

static PawlKktRepeat with_period(const PawlKktBlocks* b, int s, int period) {
  const PawlKktNode *node = &b->nodes[s], *next = node + PAWL_KKT_WIDE * period;
  return (PawlKktRepeat){.first = s,
                         .period = period,
                         .rest = next->rest - node->rest,
                         .plan = next->plan - node->plan,
                         .vector = b->rest[next->rest] - b->rest[node->rest],
                         .values = b->plan[next->plan] - b->plan[node->plan]};
}

// The stretch that begins with node s; without a period: none does.
static PawlKktRepeat repeat_at(const PawlKktBlocks* b, int s) {
  bool is_pair = b->kinds[s] != PAWL_KKT_ALONE;
  for (int period = 1; is_pair && period <= MOST_PERIOD; period++) {
    int k = s + PAWL_KKT_WIDE * period;
    if (k + 1 >= b->count || b->nodes[s].r == 0 || b->nodes[k].r == 0) {
      break;
    }
    PawlKktRepeat by = with_period(b, s, period);
    while (k < b->count && goes_on(b, k, k - PAWL_KKT_WIDE * period, by)) {
      k += PAWL_KKT_WIDE;
    }
    if (k - s >= LEAST) {
      by.end = k;
      return by;
    }
  }
  return (PawlKktRepeat){.first = s, .end = s + (is_pair ? PAWL_KKT_WIDE : 1)};
}

// Returns how many there are, of which those without a period are joined; they are written where
// `to` is not NULL.
static int list(const PawlKktBlocks* b, PawlKktRepeat* to) {
  int count = 0;
  bool joins = false;
  for (int s = 0; s < b->count;) {
    PawlKktRepeat next = repeat_at(b, s);
    s = next.end;
    joins = joins && next.period == 0;
    if (to && joins) {
      next.first = to[count - 1].first;
    }
    count += !joins;
    if (to) {
      to[count - 1] = next;
    }
    joins = next.period == 0;
  }
  return count;
}

PawlStatus pawl_kkt_repeats_find(PawlKktBlocks* b, PawlArena* arena) {
  b->repeat_count = list(b, NULL);
  b->repeats = PAWL_NEW(arena, PawlKktRepeat, b->repeat_count);
  if (!b->repeats) {
    return PAWL_ERROR_MEMORY;
  }
  list(b, b->repeats);
  return PAWL_OK;
}

const PawlKktRepeat* pawl_kkt_repeats_at(const PawlKktBlocks* b, int s) {
  int low = 0, high = b->repeat_count - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (b->repeats[middle].end <= s) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return b->repeats + low;
}
