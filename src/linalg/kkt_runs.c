// SPDX-License-Identifier: Apache-2.0
// Masses of large systems on several threads (docs/theory/kkt.md, section 8). Pairs of masses that
// are side by side are cut into runs of a fixed length. A pair that acts on something that a pair
// of an earlier run acts on waits until all runs are done. So no two runs write to the same number,
// and every number gets its terms in the same order on any number of threads.

#include "base/alloc.h"
#include "linalg/kkt_blocks.h"

enum {
  LENGTH = 2048,       // nodes of a run
  LEAST = 8 * LENGTH,  // nodes of all: fewer take less time than threads to wake up
  LATE_FRACTION = 32   // one in so many pairs may wait
};

typedef struct Cut {
  int runs, late;
} Cut;

// ---- making -------------------------------------------------------------------------------------
// The longest stretch of masses that are side by side: those at the ends of a chain are alone.
static void find_pairs(PawlKktBlocks* b) {
  int s = 0;
  while (s < b->count && b->nodes[s].spot < b->coordinates) {
    int first = s;
    while (b->kinds[s] != PAWL_KKT_ALONE && b->nodes[s].spot < b->coordinates) {
      s += PAWL_KKT_WIDE;
    }
    if (s - first > b->run_end - b->run_first) {
      b->run_first = first;
      b->run_end = s;
    }
    s += s == first;
  }
}

// Whether a pair acts on nothing that another run does; then that is its own run's.
static bool is_free(const PawlKktBlocks* b, int pair, int run, int* owner) {
  bool is_owned = false;
  for (int s = pair; s < pair + PAWL_KKT_WIDE; s++) {
    const int* rest = b->rest + b->nodes[s].rest;
    for (int i = 0; i < b->nodes[s].r; i++) {
      is_owned |= owner[rest[i]] >= 0 && owner[rest[i]] != run;
    }
  }
  for (int s = pair; !is_owned && s < pair + PAWL_KKT_WIDE; s++) {
    const int* rest = b->rest + b->nodes[s].rest;
    for (int i = 0; i < b->nodes[s].r; i++) {
      owner[rest[i]] = run;
    }
  }
  return !is_owned;
}

static void close_run(PawlKktRun* runs, int* count, int* first, int end) {
  if (*first >= 0) {
    if (runs) {
      runs[*count] = (PawlKktRun){*first, end};
    }
    (*count)++;
  }
  *first = -1;
}

// Counts them where `runs` and `late` are NULL.
static Cut cut(const PawlKktBlocks* b, int size, int* owner, PawlKktRun* runs, int* late) {
  Cut found = {0, 0};
  int first = -1;
  for (int k = 0; k < size; k++) {
    owner[k] = -1;
  }
  for (int s = b->run_first; s < b->run_end; s += PAWL_KKT_WIDE) {
    if (first >= 0 && s - first >= LENGTH) {
      close_run(runs, &found.runs, &first, s);
    }
    if (is_free(b, s, found.runs, owner)) {
      first = first < 0 ? s : first;
      continue;
    }
    close_run(runs, &found.runs, &first, s);
    if (late) {
      late[found.late] = s;
    }
    found.late++;
  }
  close_run(runs, &found.runs, &first, b->run_end);
  return found;
}

PawlStatus pawl_kkt_runs_find(PawlKktBlocks* b, PawlArena* arena, int size) {
  find_pairs(b);
  int nodes = b->run_end - b->run_first;
  if (nodes < LEAST) {
    b->run_first = b->run_end = 0;
    return PAWL_OK;
  }
  int* owner = pawl_alloc((size_t)size, sizeof *owner);
  if (!owner) {
    return PAWL_ERROR_MEMORY;
  }
  Cut found = cut(b, size, owner, NULL, NULL);
  if (found.late > nodes / PAWL_KKT_WIDE / LATE_FRACTION) {
    b->run_first = b->run_end = 0;
  } else {
    b->run_count = found.runs;
    b->late_count = found.late;
    b->runs = PAWL_NEW(arena, PawlKktRun, found.runs);
    b->judged = PAWL_NEW(arena, PawlKktJudged, found.runs);
    b->late = PAWL_NEW(arena, int, found.late);
    if (!arena->failed) {
      cut(b, size, owner, b->runs, b->late);
    }
  }
  pawl_free(owner);
  return arena->failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}

// ---- numbers ------------------------------------------------------------------------------------
typedef struct Sweep {
  const PawlKktBlocks* b;
  double* factored;      // that are to be factored,
  const double* values;  // or have been
  double* w;
} Sweep;

static void factor_run(void* context, PawlPart part) {
  const Sweep* s = context;
  const PawlKktBlocks* b = s->b;
  PawlKktRun run = b->runs[part.number];
  b->judged[part.number] = (PawlKktJudged){0.0, INFINITY};
  unsigned mode = pawl_flush_begin();  // of this thread
  pawl_kkt_wide_factor(b, b->nodes + run.first, b->nodes + run.end, s->factored, s->w,
                       &b->judged[part.number]);
  pawl_flush_end(mode);
}

void pawl_kkt_runs_factor(const PawlKktBlocks* b, double* values, double* w,
                          PawlKktJudged* judged) {
  Sweep s = {b, values, NULL, w};
  pawl_pool_loop(b->pool, b->run_count, 1, factor_run, &s);
  for (int k = 0; k < b->late_count; k++) {
    const PawlKktNode* node = b->nodes + b->late[k];
    pawl_kkt_wide_factor(b, node, node + PAWL_KKT_WIDE, values, w, judged);
  }
  for (int k = 0; k < b->run_count; k++) {
    PawlKktJudged run = b->judged[k];
    judged->top = run.top > judged->top ? run.top : judged->top;
    judged->least = run.least < judged->least ? run.least : judged->least;
  }
}

static void down_run(void* context, PawlPart part) {
  const Sweep* s = context;
  PawlKktRun run = s->b->runs[part.number];
  unsigned mode = pawl_flush_begin();
  pawl_kkt_wide_down(s->b, s->b->nodes + run.first, s->b->nodes + run.end, s->values, s->w);
  pawl_flush_end(mode);
}

void pawl_kkt_runs_down(const PawlKktBlocks* b, const double* values, double* w) {
  Sweep s = {b, NULL, values, w};
  pawl_pool_loop(b->pool, b->run_count, 1, down_run, &s);
  for (int k = 0; k < b->late_count; k++) {
    const PawlKktNode* node = b->nodes + b->late[k];
    pawl_kkt_wide_down(b, node, node + PAWL_KKT_WIDE, values, w);
  }
}

static void up_run(void* context, PawlPart part) {
  const Sweep* s = context;
  PawlKktRun run = s->b->runs[part.number];
  unsigned mode = pawl_flush_begin();
  pawl_kkt_wide_up(s->b, s->b->nodes + run.end - 1, s->b->nodes + run.first, s->values, s->w);
  pawl_flush_end(mode);
}

// Each mass by what is known of its rows: none waits for another.
void pawl_kkt_runs_up(const PawlKktBlocks* b, const double* values, double* w) {
  Sweep s = {b, NULL, values, w};
  pawl_pool_loop(b->pool, b->run_count, 1, up_run, &s);
  for (int k = 0; k < b->late_count; k++) {
    const PawlKktNode* node = b->nodes + b->late[k];
    pawl_kkt_wide_up(b, node + PAWL_KKT_WIDE - 1, node, values, w);
  }
}
