// SPDX-License-Identifier: Apache-2.0
// Stretches of entries of a large matrix whose places move on by the same step after every so many
// entries, as those of a family of bodies do, with the same factors: they are placed without a look
// at the lists of both, which are as long as the numbers themselves.
#include "linalg/kkt_impl.h"

enum {
  LEAST_ENTRIES = 512,  // of a block, and
  LEAST = 64,           // of a stretch
  MOST_PERIOD = 4,
  MOST_OF_PART = 4,  // stretches, on average
  CALM = 4  // times that entries have been placed as they are, before stretches are searched
};

static bool goes_on(const PawlKktBlock* block, int k, int period, int step) {
  return block->place[k] - block->place[k - period] == step &&
         block->factor[k] == block->factor[k - period];
}

// The stretch that begins at entry `first`, not beyond `end`; without a period: none does.
static PawlKktStretch stretch_at(const PawlKktBlock* block, int first, int end) {
  for (int period = 1; period <= MOST_PERIOD && first + 2 * period <= end; period++) {
    int step = block->place[first + period] - block->place[first], k = first + period;
    while (k < end && goes_on(block, k, period, step)) {
      k++;
    }
    k -= (k - first) % period;
    if (k - first >= LEAST) {
      return (PawlKktStretch){k, period, step};
    }
  }
  return (PawlKktStretch){first + 1, 0, 0};
}

// Stretches do not go beyond the part of a thread. None are left where most entries are in none.
static void find(PawlKktBlock* block) {
  int count = 0, inside = 0;
  for (int k = 0; k < block->count && count < block->stretch_most;) {
    int end = (k / PAWL_KKT_PART + 1) * PAWL_KKT_PART;
    PawlKktStretch next = stretch_at(block, k, end < block->count ? end : block->count);
    PawlKktStretch* last = count > 0 ? &block->stretches[count - 1] : NULL;
    inside += next.period > 0 ? next.end - k : 0;
    if (last && last->period == 0 && next.period == 0) {
      last->end = next.end;
    } else {
      block->stretches[count++] = next;
    }
    k = next.end;
  }
  bool all = count > 0 && block->stretches[count - 1].end == block->count;
  block->stretch_count = all && inside >= block->count / 2 ? count : 0;
}

PawlStatus pawl_kkt_stretches_create(PawlKktBlock* block, PawlArena* arena) {
  if (block->count >= LEAST_ENTRIES) {
    block->stretch_most = MOST_OF_PART * (4 + pawl_pool_parts(block->count, PAWL_KKT_PART));
    block->stretches = PAWL_NEW(arena, PawlKktStretch, block->stretch_most);
  }
  return arena->failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}

void pawl_kkt_stretches_forget(PawlKktBlock* block) {
  block->stretch_count = block->calm = 0;
}

void pawl_kkt_stretches_find(PawlKktBlock* block) {
  if (block->stretches && block->calm <= CALM && block->calm++ == CALM) {
    find(block);
  }
}

// Entries first .. end - 1, the first of which has the place to[place[0]]; the largest, where it is
// asked for.
PAWL_INLINE uint64_t place_stretch(int period, int step, int first, int end, bool largest,
                                   const int* place, const double* factor,
                                   const double* restrict from, double* restrict to) {
  uint64_t top = 0;
  ptrdiff_t moved = 0;
  for (int k = first; k < end; k += period, moved += step) {
    for (int e = 0; e < period; e++) {
      double v = from[k + e] * factor[e];
      uint64_t size = largest ? pawl_kkt_magnitude(v) : 0;
      to[place[e] + moved] = v;
      top = size > top ? size : top;
    }
  }
  return top;
}

PAWL_INLINE uint64_t place_one(const PawlKktBlock* block, PawlKktStretch s, int first, bool largest,
                               const double* from, double* to) {
  int place[MOST_PERIOD] = {0};
  double factor[MOST_PERIOD] = {0.0};
  for (int e = 0; e < s.period; e++) {
    place[e] = block->place[first + e];
    factor[e] = block->factor[first + e];
  }
  switch (s.period) {
#define PERIOD(n) \
  case n:         \
    return place_stretch(n, s.step, first, s.end, largest, place, factor, from, to);
    PERIOD(1)
    PERIOD(2)
    PERIOD(3)
    PERIOD(4)
#undef PERIOD
    default:
      return pawl_kkt_scatter(block, first, s.end, from, to);
  }
}

// The stretch that entry `first` is in.
static int stretch_of(const PawlKktBlock* block, int first) {
  int low = 0, high = block->stretch_count - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (block->stretches[middle].end <= first) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

PAWL_INLINE uint64_t place_all(const PawlKktBlock* block, int first, int end, bool largest,
                               const double* from, double* to) {
  uint64_t top = 0;
  for (int k = stretch_of(block, first); first < end; k++) {
    PawlKktStretch s = block->stretches[k];
    s.end = s.end < end ? s.end : end;  // of those without a period: others end with the part
    uint64_t most = place_one(block, s, first, largest, from, to);
    top = most > top ? most : top;
    first = s.end;
  }
  return top;
}

uint64_t pawl_kkt_stretches_scatter(const PawlKktBlock* block, int first, int end,
                                    const double* from, double* to) {
  return block->stretch_count > 0 ? place_all(block, first, end, true, from, to)
                                  : pawl_kkt_scatter(block, first, end, from, to);
}

void pawl_kkt_stretches_place(const PawlKktBlock* block, int first, int end, const double* from,
                              double* to) {
  for (int k = first; block->stretch_count == 0 && k < end; k++) {
    to[block->place[k]] = from[k] * block->factor[k];
  }
  if (block->stretch_count > 0) {
    (void)place_all(block, first, end, false, from, to);
  }
}

// ---- the other way ------------------------------------------------------------------------------
PAWL_INLINE void take_stretch(int period, int step, int first, int end, const int* place,
                              const double* factor, const double* restrict from,
                              double* restrict to) {
  ptrdiff_t moved = 0;
  for (int k = first; k < end; k += period, moved += step) {
    for (int e = 0; e < period; e++) {
      to[k + e] = from[place[e] + moved] * factor[e];
    }
  }
}

static void take_one(const PawlKktBlock* block, PawlKktStretch s, int first, const double* from,
                     double* to) {
  const int* place = block->place + first;
  const double* factor = block->factor + first;
  switch (s.period) {
#define PERIOD(n)                                            \
  case n: {                                                  \
    int at[n];                                               \
    double by[n];                                            \
    memcpy(at, place, sizeof at);                            \
    memcpy(by, factor, sizeof by);                           \
    take_stretch(n, s.step, first, s.end, at, by, from, to); \
    return;                                                  \
  }
    PERIOD(1)
    PERIOD(2)
    PERIOD(3)
    PERIOD(4)
#undef PERIOD
    default:
      for (int k = 0; k < s.end - first; k++) {
        to[first + k] = from[place[k]] * factor[k];
      }
  }
}

void pawl_kkt_stretches_gather(const PawlKktBlock* block, int first, int end, const double* from,
                               double* to) {
  if (block->stretch_count == 0) {
    take_one(block, (PawlKktStretch){end, 0, 0}, first, from, to);
    return;
  }
  for (int k = stretch_of(block, first); first < end; k++) {
    PawlKktStretch s = block->stretches[k];
    s.end = s.end < end ? s.end : end;
    take_one(block, s, first, from, to);
    first = s.end;
  }
}
