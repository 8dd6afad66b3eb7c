// SPDX-License-Identifier: Apache-2.0
// The KKT solver's interface: scatters the values into the scaled matrix, and hands it to the
// dense, banded, blockwise or sparse factorisation (docs/theory/kkt.md).
#include "linalg/kkt.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/copy.h"
#include "linalg/kkt_impl.h"

// ---- factorisation -----------------------------------------------------------------------------

static inline uint64_t scatter(const PawlKktBlock* block, const double* from, double* to) {
  return pawl_kkt_scatter(block, 0, block->count, from, to);
}

// Few numbers are compared one by one: a call costs more, and where they were written just before a
// wide load would wait for all of the narrow stores.
enum { FEW = 24 };

static bool is_set(int m, const unsigned char* set, const unsigned char* active) {
  enum { FEW_FLAGS = 8 };
  bool same = m > FEW_FLAGS && memcmp(set, active, (size_t)m) == 0;
  int i = same ? m : 0;
  while (i < m && set[i] == (active[i] != 0)) {  // flags other than 1 are one, too
    i++;
  }
  return i == m;
}

static bool is_same_set(const PawlKkt* kkt, const unsigned char* active) {
  return active ? is_set(kkt->m, kkt->set, active) : kkt->inactive_count == 0;
}

// Without branches, which would follow no pattern.
void pawl_kkt_list_rows(PawlKkt* kkt, const unsigned char* active) {
  int on = 0, off = 0;
  for (int i = 0; i < kkt->m; i++) {
    bool is_on = !active || active[i];
    kkt->set[i] = is_on;
    kkt->active[on] = kkt->inactive[off] = i;  // one of them is overwritten
    on += is_on;
    off += !is_on;
  }
  kkt->active_count = on;
  kkt->inactive_count = off;
}

static void switch_rows(PawlKkt* kkt, const unsigned char* active) {
  kkt->rescue_fits = false;
  if (kkt->klu) {
    pawl_kkt_klu_switch(kkt, active);
  } else if (kkt->band) {
    pawl_kkt_band_switch(kkt, active);
  } else if (kkt->blocks) {
    pawl_kkt_blocks_switch(kkt, active);
  }
  pawl_kkt_list_rows(kkt, active);
  if (!kkt->klu && !kkt->band && !kkt->blocks) {
    pawl_kkt_dense_fit(kkt);
  }
}

PAWL_INLINE double assemble(PawlKkt* kkt, const double* S, const double* B, const double* J,
                            bool pins) {
  if (kkt->pin_count > 0) {
    pawl_kkt_pins_choose(kkt, B, J, pins);
  }
  if (kkt->band) {
    pawl_kkt_band_clear(kkt);
  } else if (!kkt->klu) {
    pawl_kkt_dense_clear(kkt);
  }
  uint64_t top = scatter(&kkt->block_S, S, kkt->values);
  if (kkt->m > 0) {
    uint64_t top_B = scatter(&kkt->block_B, B, kkt->values);
    uint64_t top_J = scatter(&kkt->block_J, J, kkt->values);
    top = top_B > top ? top_B : top;
    top = top_J > top ? top_J : top;
  }
  double largest;
  memcpy(&largest, &top, sizeof largest);
  return largest;
}

double pawl_kkt_assemble(PawlKkt* kkt, const double* S, const double* B, const double* J,
                         const unsigned char* active, bool pins) {
  if (!is_same_set(kkt, active)) {
    switch_rows(kkt, active);
  }
  return assemble(kkt, S, B, J, pins);
}

PAWL_INLINE void solve(PawlKkt* kkt, double* x, double* y) {
  if (kkt->code.solve && kkt->plain) {
    kkt->code.solve(kkt->values, kkt->code.table, x, y);
  } else if (kkt->klu) {
    pawl_kkt_klu_solve(kkt, x, y);
  } else if (kkt->band) {
    pawl_kkt_band_solve(kkt, x, y);
  } else if (kkt->blocks) {
    pawl_kkt_blocks_solve(kkt, x, y);
  } else {
    pawl_kkt_dense_solve(kkt, x, y);
  }
}

int pawl_kkt_weakest(PawlKkt* kkt, double limit) {
  const double golden = 0.6180339887498949;
  double *t = kkt->trial, top = 0.0;
  int weakest = 0;
  for (int i = 0; i < kkt->size; i++) {
    double phase = golden * i;
    t[i] = (0.5 + phase - floor(phase)) / kkt->row_scale[i];
  }
  solve(kkt, t, t + kkt->n);
  for (int i = 0; i < kkt->size; i++) {
    double size = fabs(t[i] / kkt->col_scale[i]);
    bool unknown = i < kkt->n || kkt->set[i - kkt->n];
    if (unknown && !(size <= top)) {  // also when it is not a number
      top = size;
      weakest = i;
    }
  }
  return top < 1.0 / limit ? -1 : weakest;
}

static PawlStatus factor_with_exchanges(PawlKkt* kkt, double smallest) {
  return kkt->klu    ? pawl_kkt_klu_factor(kkt, smallest)
         : kkt->band ? pawl_kkt_band_factor(kkt, smallest)
                     : pawl_kkt_dense_factor(kkt, smallest);
}

static bool factor_plain(PawlKkt* kkt, double smallest) {
  return kkt->band ? pawl_kkt_band_factor_plain(kkt, smallest)
                   : pawl_kkt_dense_factor_plain(kkt, smallest);
}

// Test 2 of docs/theory/kkt.md, section 3.
static bool is_regular(PawlKkt* kkt, double unit) {
  bool suspicious = kkt->inverse_pivot * (PAWL_KKT_SUSPICIOUS * unit) > 1.0;
  return !suspicious || pawl_kkt_weakest(kkt, PAWL_KKT_SINGULAR) < 0;
}

static PawlStatus factor_scaled(PawlKkt* kkt, double largest) {
  double unit = largest > 1.0 ? largest : 1.0;
  double smallest = PAWL_KKT_SINGULAR * unit;
  PAWL_TRY(factor_with_exchanges(kkt, smallest));
  return is_regular(kkt, unit) ? PAWL_OK : PAWL_RETRY;
}

// By machine code, for the active rows that there are. False: it is left to the others.
PAWL_INLINE bool factor_by_code(PawlKkt* kkt, const double* S, const double* B, const double* J) {
  PawlKktKept* kept = &kkt->kept[kkt->turn];
  kept->based = false;
  if (!kept->clean) {
    memset(kkt->values, 0, (size_t)kkt->value_count * sizeof *kkt->values);
    kept->clean = true;
  }
  kkt->plain = kkt->code.factor(kkt->values, kkt->code.table, S, B, J);
  kkt->info.by_code += kkt->plain;
  return kkt->plain;
}

// With the scaling that there is. A dense matrix or a band mostly needs no row exchanges; the
// attempt destroys it, so where it fails it is assembled again, with every row.
PAWL_INLINE PawlStatus assemble_and_factor(PawlKkt* kkt, const double* S, const double* B,
                                           const double* J, const unsigned char* active) {
  double largest = assemble(kkt, S, B, J, true);
  if (!(largest <= PAWL_KKT_DRIFT)) {
    return PAWL_RETRY;
  }
  if (!kkt->klu) {
    if (factor_plain(kkt, PAWL_KKT_PLAIN * (largest > 1.0 ? largest : 1.0))) {
      return PAWL_OK;
    }
    largest = pawl_kkt_assemble(kkt, S, B, J, active, false);
  }
  return factor_scaled(kkt, largest);
}

void pawl_kkt_forget(PawlKkt* kkt) {
  for (int k = 0; k < kkt->kept_count; k++) {
    kkt->kept[k].on = false;
  }
}

static void turn_to(PawlKkt* kkt, int turn) {
  if (kkt->band) {
    pawl_kkt_band_turn(kkt, turn);
  } else if (kkt->blocks) {
    pawl_kkt_blocks_turn(kkt, turn);
  } else if (!kkt->klu) {
    pawl_kkt_dense_turn(kkt, turn);
  }
}

// What is kept stays, as long as there is room.
static void begin_turn(PawlKkt* kkt) {
  if (kkt->kept_count > 1) {
    turn_to(kkt, kkt->turn + 1 < kkt->kept_count ? kkt->turn + 1 : 0);
  }
  kkt->kept[kkt->turn].on = false;
}

// Entries of idle rows may be of any size, and scale coordinates so that what these have left of S
// counts as nothing. Without them, then.                                                    (K18)
static PawlStatus factor_without_idle(PawlKkt* kkt, const double* S, const double* B,
                                      const double* J, const unsigned char* active) {
  double *of_B = kkt->alone, *of_J = of_B + kkt->block_B.count;
  memset(of_B, 0, (size_t)(kkt->block_B.count + kkt->block_J.count) * sizeof *of_B);
  for (int i = 0; i < kkt->m; i++) {
    for (int e = kkt->row_start[i]; kkt->set[i] && e < kkt->row_start[i + 1]; e++) {
      of_B[kkt->row_entry[e]] = B[kkt->row_entry[e]];
      of_J[kkt->row_entry[e]] = J[kkt->row_entry[e]];
    }
  }
  pawl_kkt_scale(kkt, S, of_B, of_J);
  PawlStatus status = assemble_and_factor(kkt, S, of_B, of_J, active);
  if (status != PAWL_OK) {  // as if this had not been asked
    pawl_kkt_scale(kkt, S, B, J);
  }
  return status;
}

// No scaling yet, or it no longer fits. Only a matrix scaled anew is called singular.
PAWL_APART static PawlStatus scale_and_factor(PawlKkt* kkt, const double* S, const double* B,
                                              const double* J, const unsigned char* active) {
  if (!is_same_set(kkt, active)) {
    switch_rows(kkt, active);
  }
  pawl_kkt_scale(kkt, S, B, J);
  pawl_kkt_line_meet(kkt);
  PawlStatus status = assemble_and_factor(kkt, S, B, J, active);
  return status == PAWL_RETRY && kkt->klu && kkt->inactive_count > 0
             ? factor_without_idle(kkt, S, B, J, active)
             : status;
}

typedef struct Scatter {
  const PawlKktBlock* block;
  const double* from;
  double* to;
  uint64_t* tops;
} Scatter;

static void scatter_part(void* context, PawlPart part) {
  const Scatter* s = context;
  s->tops[part.number] = pawl_kkt_stretches_scatter(s->block, part.first, part.end, s->from, s->to);
}

// Each entry has a place of its own.
static uint64_t scatter_all(const PawlKkt* kkt, PawlKktBlock* block, const double* from) {
  pawl_kkt_stretches_find(block);
  if (!kkt->tops) {
    return pawl_kkt_stretches_scatter(block, 0, block->count, from, kkt->values);
  }
  Scatter s = {block, from, kkt->values, kkt->tops};
  uint64_t top = 0;
  pawl_pool_loop(kkt->pool, block->count, PAWL_KKT_PART, scatter_part, &s);
  for (int k = 0; k < pawl_pool_parts(block->count, PAWL_KKT_PART); k++) {
    top = s.tops[k] > top ? s.tops[k] : top;
  }
  return top;
}

// The rows that are active are in `set`. Returns the largest entry, as pawl_kkt_assemble.
static double assemble_blocks(PawlKkt* kkt, const double* S, const double* B, const double* J) {
  bool even = pawl_kkt_blocks_clear(kkt);
  uint64_t top = scatter_all(kkt, &kkt->block_S, S);
  uint64_t top_B = scatter_all(kkt, &kkt->block_B, B);
  uint64_t top_J = even ? 0 : scatter_all(kkt, &kkt->block_J, J);
  top = top_B > top ? top_B : top;
  top = top_J > top ? top_J : top;
  double largest;
  memcpy(&largest, &top, sizeof largest);
  return largest;
}

// With the scaling that there is; PAWL_RETRY when it does not fit, or the blocks do not suit.
static PawlStatus try_blocks(PawlKkt* kkt, const double* S, const double* B, const double* J) {
  if (pawl_kkt_blocks_by_script(kkt, S, B, J)) {
    return PAWL_OK;
  }
  double largest = assemble_blocks(kkt, S, B, J);
  double unit = largest > 1.0 ? largest : 1.0;
  if (!(largest <= PAWL_KKT_DRIFT) || !pawl_kkt_blocks_can_refine(kkt, S) ||
      !pawl_kkt_blocks_factor(kkt, PAWL_KKT_SINGULAR * unit)) {
    return PAWL_RETRY;
  }
  pawl_kkt_blocks_note(kkt, S, B, J);
  return is_regular(kkt, unit) ? PAWL_OK : PAWL_RETRY;
}

// There is one factorisation by KLU: what it was before is lost.
static void lose_rescued(PawlKkt* kkt) {
  for (int k = 0; k < kkt->kept_count; k++) {
    kkt->kept[k].on = kkt->kept[k].on && !(k != kkt->turn && kkt->kept[k].rescued);
  }
}

static bool blocks_are_due(const PawlKkt* kkt) {
  return kkt->patience == 0 && kkt->inactive_count <= PAWL_KKT_IDLE * kkt->m;
}

// Blocks have places for every row: a set with most of them idle is left to KLU, which leaves them
// out. What blocks do not suit goes there, too, and only there is a matrix called singular.
PAWL_APART static PawlStatus factor_blocks(PawlKkt* kkt, const double* S, const double* B,
                                           const double* J, const unsigned char* active) {
  kkt->rescued = false;
  if (!is_same_set(kkt, active)) {
    switch_rows(kkt, active);
  }
  if (blocks_are_due(kkt)) {
    if (kkt->scaled && try_blocks(kkt, S, B, J) == PAWL_OK) {
      return PAWL_OK;
    }
    pawl_kkt_scale(kkt, S, B, J);
    pawl_kkt_blocks_scaled(kkt, B, J);
    if (try_blocks(kkt, S, B, J) == PAWL_OK) {
      return PAWL_OK;
    }
    kkt->patience = PAWL_KKT_PATIENCE;
  }
  lose_rescued(kkt);
  return pawl_kkt_rescue(kkt, S, B, J, active);
}

PawlStatus pawl_kkt_factor_again(PawlKkt* kkt, const double* S, const double* B, const double* J,
                                 const unsigned char* active) {
  kkt->kept[kkt->turn].number = ++kkt->info.factorizations;
  double largest = assemble(kkt, S, B, J, true);
  PawlStatus status = largest <= PAWL_KKT_DRIFT ? factor_scaled(kkt, largest) : PAWL_RETRY;
  return status == PAWL_RETRY ? scale_and_factor(kkt, S, B, J, active) : status;
}

PAWL_APART static PawlStatus factor_any(PawlKkt* kkt, const double* S, const double* B,
                                        const double* J, const unsigned char* active) {
  if (kkt->blocks) {
    return factor_blocks(kkt, S, B, J, active);
  }
  if (kkt->scaled) {
    if (!is_same_set(kkt, active)) {
      switch_rows(kkt, active);
    }
    if (kkt->pin_count > 0) {
      pawl_kkt_pins_choose(kkt, B, J, true);
    }
    if ((kkt->code.factor || (kkt->line && pawl_kkt_line_write(kkt))) &&
        factor_by_code(kkt, S, B, J)) {
      return PAWL_OK;
    }
    PawlStatus status = assemble_and_factor(kkt, S, B, J, active);
    if (status != PAWL_RETRY) {
      return status;
    }
  }
  return scale_and_factor(kkt, S, B, J, active);
}

// Code that leaves out rows of one entry sees for itself whether these are large enough.
PAWL_INLINE bool pins_fit(const PawlKkt* kkt) {
  return kkt->pin_count == 0 || pawl_kkt_pins_are_on(kkt);
}

PawlStatus pawl_kkt_factor(PawlKkt* kkt, const double* S, const double* B, const double* J,
                           const unsigned char* active) {
  kkt->info.factorizations++;
  if (kkt->kept[kkt->turn].on) {
    begin_turn(kkt);
  }
  PawlKktKept* kept = &kkt->kept[kkt->turn];
  kept->number = kkt->info.factorizations;
  kept->based = false;
  if (kkt->code.factor && kept->clean && pins_fit(kkt) && kkt->scaled &&
      is_same_set(kkt, active)) {  // most often; else, and where it fails, by the longer way
    kkt->plain = kkt->code.factor(kkt->values, kkt->code.table, S, B, J);
    if (kkt->plain) {
      kkt->info.by_code++;
      return PAWL_OK;
    }
  }
  return factor_any(kkt, S, B, J, active);
}

static bool is_same_number(const double* a, const double* b) {
  uint64_t x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return x == y;
}

// The same bits.
static bool is_same(int count, const double* a, const double* b) {
  if (count > FEW) {
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
  }
  int k = 0;
  while (k < count && is_same_number(a + k, b + k)) {
    k++;
  }
  return k == count;
}

static void keep(int count, double* to, const double* from) {
  if (count > 0) {
    memcpy(to, from, (size_t)count * sizeof *to);
  }
}

void pawl_kkt_settle(PawlKkt* kkt, const double* S) {
  bool again = kkt->settled[0].S == S;
  kkt->settled[1] = again ? kkt->settled[1] : kkt->settled[0];
  kkt->settled[0] = (PawlKktSettled){S, ++kkt->settled_count};
}

static long long settled(const PawlKkt* kkt, const double* S) {
  const PawlKktSettled* all = kkt->settled;
  return all[0].S == S ? all[0].number : all[1].S == S ? all[1].number : 0;
}

static bool is_same_S(const PawlKkt* kkt, const PawlKktKept* kept, const double* S) {
  return (kept->settled > 0 && kept->settled == settled(kkt, S)) ||
         is_same(kkt->block_S.count, kept->S, S);
}

static bool is_kept(const PawlKkt* kkt, const PawlKktKept* kept, const double* S, const double* B,
                    const double* J) {
  return kept->on && !kept->named && is_same(kkt->block_J.count, kept->J, J) &&
         is_same_S(kkt, kept, S) &&
         ((B == J && kept->once) || is_same(kkt->block_B.count, kept->B, B));
}

void pawl_kkt_keep_one(PawlKkt* kkt) {
  kkt->kept_count = kkt->band ? kkt->kept_count : 1;
}

PawlStatus pawl_kkt_keep_two(PawlKkt* kkt) {
  if (kkt->kept_count > 1 || kkt->klu) {
    return PAWL_OK;
  }
  if (kkt->blocks) {
    PAWL_TRY(pawl_kkt_blocks_take_turn(kkt, 1));
    PAWL_TRY(pawl_kkt_take_turn(kkt, 1));
  }
  kkt->kept_count = kkt->kept[1].values ? 2 : 1;
  return PAWL_OK;
}

// One of the others, of these rows.
static bool use_kept(PawlKkt* kkt, int k, const unsigned char* active) {
  if (!is_same_set(kkt, active)) {
    switch_rows(kkt, active);  // may find another layout, and forget all
  }
  turn_to(kkt, k);
  return kkt->kept[k].on;
}

// What was compared once is known by its number from then on: a band may be long.
static void note_settled(PawlKkt* kkt, int k, const double* S) {
  if (kkt->band) {
    kkt->kept[k].settled = settled(kkt, S);
  }
}

// A factorisation by KLU that serves again counts as one made now, as a solver that has loaded
// these numbers makes it: blocks have their turn at the same time.
static bool serves(PawlKkt* kkt) {
  bool due = kkt->rescued && blocks_are_due(kkt);
  kkt->patience -= kkt->rescued && kkt->patience > 0;
  return !due;
}

bool pawl_kkt_holds(PawlKkt* kkt, const double* S, const double* B, const double* J,
                    const unsigned char* active) {
  if (is_same_set(kkt, active) && is_kept(kkt, &kkt->kept[kkt->turn], S, B, J)) {
    note_settled(kkt, kkt->turn, S);
    return serves(kkt);
  }
  for (int k = 0; k < kkt->kept_count && active; k++) {
    const PawlKktKept* kept = &kkt->kept[k];
    if (k != kkt->turn && is_set(kkt->m, kept->set, active) && is_kept(kkt, kept, S, B, J)) {
      note_settled(kkt, k, S);
      return use_kept(kkt, k, active) && serves(kkt);
    }
  }
  return false;
}

void pawl_kkt_name(PawlKkt* kkt) {
  PawlKktKept* kept = &kkt->kept[kkt->turn];
  if (kkt->m > 0 && kkt->kept_count > 1) {
    memcpy(kept->set, kkt->set, (size_t)kkt->m);
  }
  kept->on = kept->named = true;
}

bool pawl_kkt_is_still(PawlKkt* kkt, long long number, const unsigned char* active) {
  const PawlKktKept* kept = &kkt->kept[kkt->turn];
  if (kept->number == number) {
    return kept->on && is_same_set(kkt, active);
  }
  for (int k = 0; k < kkt->kept_count && active; k++) {
    kept = &kkt->kept[k];
    if (kept->on && kept->number == number && is_set(kkt->m, kept->set, active)) {
      return use_kept(kkt, k, active);
    }
  }
  return false;
}

PawlStatus pawl_kkt_factor_and_keep(PawlKkt* kkt, const double* S, const double* B, const double* J,
                                    const unsigned char* active) {
  int G_count = kkt->block_J.count;
  PAWL_TRY(pawl_kkt_factor(kkt, S, B, J, active));
  PawlKktKept* kept = &kkt->kept[kkt->turn];
  keep(kkt->block_S.count, kept->S, S);
  keep(G_count, kept->B, B);
  keep(G_count, kept->J, J);
  if (kkt->m > 0 && kkt->kept_count > 1) {
    memcpy(kept->set, kkt->set, (size_t)kkt->m);
  }
  kept->on = true;
  kept->named = false;
  kept->once = B == J;
  kept->settled = settled(kkt, S);
  return PAWL_OK;
}

// x <- x + B^T y over the inactive rows, whose y is given.
PAWL_APART static void add_given(const PawlKkt* kkt, double* x, const double* y) {
  const PawlKktBlock* B = &kkt->block_B;
  for (int a = 0; a < kkt->inactive_count; a++) {
    int i = kkt->inactive[a];
    for (int e = kkt->row_start[i]; y[i] != 0.0 && e < kkt->row_start[i + 1]; e++) {
      int k = kkt->row_entry[e];
      x[B->row[k]] += kkt->values[B->place[k]] / B->factor[k] * y[i];  // exact: a power of two
    }
  }
}

void pawl_kkt_solve(PawlKkt* kkt, double* x, double* y) {
  kkt->info.solves++;
  if (kkt->rescued) {
    pawl_kkt_solve(kkt->rescue, x, y);
    return;
  }
  if (kkt->line && !kkt->code.solve) {  // factors that stay are solved with often
    (void)pawl_kkt_line_write(kkt);
  }
  if (kkt->inactive_count > 0) {
    add_given(kkt, x, y);
  }
  solve(kkt, x, y);
}

PawlStatus pawl_kkt_factor_and_solve(PawlKkt* kkt, const double* S, const double* B,
                                     const double* J, const unsigned char* active, double* x,
                                     double* y) {
  if (kkt->blocks) {
    pawl_kkt_blocks_expect(kkt, x, y);
  }
  PawlStatus status = pawl_kkt_factor(kkt, S, B, J, active);
  if (status == PAWL_OK) {
    pawl_kkt_solve(kkt, x, y);
  }
  if (kkt->blocks) {
    pawl_kkt_blocks_expect(kkt, NULL, NULL);
  }
  return status;
}

void pawl_kkt_solve_two(PawlKkt* kkt, double* const x[2], double* const y[2]) {
  if (kkt->klu && kkt->inactive_count == 0) {
    kkt->info.solves += 2;
    pawl_kkt_klu_solve_two(kkt, x, y);
    return;
  }
  if (kkt->rescued) {
    kkt->info.solves += 2;
    pawl_kkt_solve_two(kkt->rescue, x, y);
    return;
  }
  if (kkt->blocks && kkt->inactive_count == 0) {
    kkt->info.solves += 2;
    pawl_kkt_blocks_solve_two(kkt, x, y);
    return;
  }
  pawl_kkt_solve(kkt, x[0], y[0]);
  pawl_kkt_solve(kkt, x[1], y[1]);
}

// ---- again and again ----------------------------------------------------------------------------
bool pawl_kkt_direct_solves(PawlKkt* kkt, PawlKktDirect* out) {
  if (kkt->line && !kkt->code.solve) {
    (void)pawl_kkt_line_write(kkt);
  }
  *out = (PawlKktDirect){.solve = kkt->code.solve,
                         .solve_rows = kkt->code.solve_rows,
                         .values = kkt->values,
                         .table = kkt->code.table};
  return kkt->code.solve && kkt->plain && !kkt->rescued;
}

bool pawl_kkt_direct(PawlKkt* kkt, const unsigned char* active, PawlKktDirect* out) {
  const PawlKktKept* kept = &kkt->kept[kkt->turn];
  if (!kkt->code.factor || !kkt->code.solve || kept->on || !kept->clean || !kkt->scaled ||
      !pins_fit(kkt) || !is_same_set(kkt, active)) {
    return false;
  }
  *out = (PawlKktDirect){.factor = kept->based ? kkt->code.factor_rows : kkt->code.factor,
                         .solve = kkt->code.solve,
                         .solve_rows = kkt->code.solve_rows,
                         .values = kkt->values,
                         .table = kkt->code.table};
  return true;
}

void pawl_kkt_direct_count(PawlKkt* kkt, int factorizations, int solves) {
  kkt->info.solves += solves;
  if (factorizations > 0) {
    kkt->info.factorizations += factorizations;
    kkt->info.by_code += factorizations;
    kkt->kept[kkt->turn].number = kkt->info.factorizations;
    kkt->plain = true;
    if (kkt->fixed && !kkt->kept[kkt->turn].based) {
      pawl_kkt_line_base(kkt);
    }
  }
}

bool pawl_kkt_direct_two(PawlKkt* kkt, const unsigned char* active, PawlKktDirect out[2]) {
  const PawlKktKept* kept = kkt->kept;
  if (!kkt->code.factor || !kkt->code.solve || kkt->kept_count != 2 || !kept[0].clean ||
      !kept[1].clean || !kkt->scaled || kkt->pin_count > 0 || !is_same_set(kkt, active)) {
    return false;
  }
  int first = kept[kkt->turn].on ? 1 - kkt->turn : kkt->turn;
  for (int k = 0; k < 2; k++) {
    out[k] = (PawlKktDirect){.factor = kkt->code.factor,
                             .solve = kkt->code.solve,
                             .values = kept[k == 0 ? first : 1 - first].values,
                             .table = kkt->code.table};
  }
  return true;
}

// As pawl_kkt_dense_turn and pawl_kkt_name one after the other: there are no pins.
void pawl_kkt_direct_two_count(PawlKkt* kkt, const PawlKktDirect two[2], int factorizations,
                               int solves) {
  kkt->info.solves += solves;
  kkt->info.by_code += factorizations;
  for (int k = 0; k < factorizations; k++) {
    int turn = two[k].values == kkt->kept[0].values ? 0 : 1;
    PawlKktKept* kept = &kkt->kept[turn];
    kkt->kept[kkt->turn].plain = kkt->plain;
    kkt->turn = turn;
    kkt->values = kept->values;
    kkt->pivot = kept->pivot;
    kkt->plain = kept->on = kept->named = true;
    kept->based = false;
    kept->number = ++kkt->info.factorizations;
    unsigned char* set = kept->set;
    for (int i = 0; i < kkt->m; i++) {
      PAWL_COPY_ONE_BY_ONE(set);
      set[i] = kkt->set[i];
    }
  }
}

void pawl_kkt_fix(PawlKkt* kkt) {
  kkt->fixed = true;
}

PawlKktInfo pawl_kkt_info(const PawlKkt* kkt) {
  PawlKktInfo info = kkt->info;
  info.current = kkt->kept[kkt->turn].number;
  return info;
}

long long pawl_kkt_current(const PawlKkt* kkt) {
  return kkt->kept[kkt->turn].number;
}
