// SPDX-License-Identifier: Apache-2.0
// The small dense KKT system as machine code without a loop (docs/theory/kkt.md, section 6): for a
// set of active rows the places of all entries are known, so that the elimination without row
// exchanges is one known sequence of operations, in which those with an entry that is always zero
// are left out. They are the operations of lu.c on the same scaled entries in the same order, and
// the factors go to the same places, so that the bits are the same and either may solve with them.
// A zero of the solution has no sign, since what is left out could decide on it.
// What is judged is judged more strictly than there: where a judgement fails, lu.c decides.
//
// A set gets its code when it has been used a number of times, as long as there is room. A module
// of compiled C (kkt_source.h) has the same as C, written by the same schedule (kkt_line_write.c).
#include "linalg/kkt_line.h"

#include <math.h>
#include <string.h>

#include "linalg/kkt_pins.h"
#include "linalg/lu_small.h"

enum {
  MOST_ROWS = 32,      // a bit for each
  MOST_ENTRIES = 256,  // of S and G
  OFTEN = 100,         // uses, to factor or to solve, after which a set gets machine code
};

typedef PawlKktLineSet Set;

// ---- creation -----------------------------------------------------------------------------------
static size_t most_bytes(const PawlKkt* kkt) {
  enum { OF_ENTRY = 64, OF_PRODUCT = 36, OF_UNKNOWN = 96, OF_BOTH = 256 };
  size_t size = (size_t)(kkt->size < PAWL_KKT_LINE_UNKNOWNS ? kkt->size : PAWL_KKT_LINE_UNKNOWNS);
  size_t given = (size_t)kkt->block_S.count + 2 * (size_t)kkt->block_J.count;
  size_t bytes = (size * size + 2 * given) * OF_ENTRY + size * size * size * OF_PRODUCT / 2 +
                 (size_t)kkt->size * OF_UNKNOWN;
  bytes += kkt->fixed ? bytes : bytes / 2;
  return (bytes + OF_BOTH + PAWL_CODE_PAGE - 1) / PAWL_CODE_PAGE * PAWL_CODE_PAGE;
}

static bool is_small(const PawlKkt* kkt) {
  return kkt->size > 0 && kkt->n <= PAWL_KKT_LINE_PINNED && kkt->m <= MOST_ROWS &&
         kkt->block_S.count + kkt->block_J.count <= MOST_ENTRIES;
}

PawlStatus pawl_kkt_line_create(PawlKkt* kkt) {
  PawlKktLine* l = PAWL_NEW(&kkt->arena, PawlKktLine, 1);
  if (!l) {
    return PAWL_ERROR_MEMORY;
  }
  l->R = PAWL_KKT_LINE_FIRST;
  l->C = l->R + kkt->size;
  l->S = l->C + kkt->size;
  l->B = l->S + kkt->block_S.count;
  l->J = l->B + kkt->block_B.count;
  l->table = PAWL_NEW(&kkt->arena, double, l->J + kkt->block_J.count);
  l->off = !is_small(kkt);
  if (!l->table) {
    return PAWL_ERROR_MEMORY;
  }
  kkt->line = l;
  const double first[PAWL_KKT_LINE_FIRST] = {[PAWL_KKT_LINE_ONE] = 1.0,
                                             [PAWL_KKT_LINE_SMALLEST] = PAWL_KKT_PLAIN,
                                             [PAWL_KKT_LINE_LARGEST] = PAWL_KKT_DRIFT,
                                             [PAWL_KKT_LINE_MOST_GROWTH] = PAWL_LU_MOST_GROWTH,
                                             [PAWL_KKT_LINE_INFINITE] = INFINITY,
                                             [PAWL_KKT_LINE_LEAST_PIN] = PAWL_KKT_LEAST_PIN};
  memcpy(l->table, first, sizeof first);
  return PAWL_OK;
}

void pawl_kkt_line_destroy(PawlKkt* kkt) {
  for (int k = 0; kkt->line && k < kkt->line->set_count; k++) {
    pawl_code_unmap(kkt->line->sets[k].code, kkt->line->bytes);
  }
}

static void keep(double* to, int count, const double* from) {
  if (count > 0) {
    memcpy(to, from, (size_t)count * sizeof *to);
  }
}

void pawl_kkt_line_scale(PawlKkt* kkt) {
  PawlKktLine* l = kkt->line;
  keep(l->table + l->R, kkt->size, kkt->row_scale);
  keep(l->table + l->C, kkt->size, kkt->col_scale);
  keep(l->table + l->S, kkt->block_S.count, kkt->block_S.factor);
  keep(l->table + l->B, kkt->block_B.count, kkt->block_B.factor);
  keep(l->table + l->J, kkt->block_J.count, kkt->block_J.factor);
}

void pawl_kkt_line_stop(PawlKkt* kkt) {
  if (kkt->line) {
    kkt->line->off = true;
    pawl_kkt_line_turn(kkt);
  }
  pawl_kkt_script_stop(kkt);
}

// ---- the set in use -----------------------------------------------------------------------------
static void use(PawlKkt* kkt, const Set* set) {
  kkt->code.factor = set ? set->factor : NULL;
  kkt->code.factor_rows = set ? set->factor_rows : NULL;
  kkt->code.solve = set ? set->solve : NULL;
  kkt->code.solve_rows = set ? set->solve_rows : NULL;
  kkt->code.table = kkt->line->table;
}

static Set* find_set(PawlKktLine* l, unsigned rows, bool pinned) {
  for (int k = 0; k < l->set_count; k++) {
    if (l->sets[k].rows == rows && l->sets[k].pinned == pinned) {
      return &l->sets[k];
    }
  }
  if (l->set_count == PAWL_KKT_SETS) {
    return NULL;
  }
  l->sets[l->set_count] = (Set){.rows = rows, .pinned = pinned};
  return &l->sets[l->set_count++];
}

void pawl_kkt_line_turn(PawlKkt* kkt) {
  PawlKktLine* l = kkt->line;
  unsigned rows = 0;
  for (int k = 0; k < kkt->kept_count; k++) {
    kkt->kept[k].clean = kkt->kept[k].based = false;  // places of zeros may be others
  }
  bool pinned = kkt->pin_count > 0 && pawl_kkt_pins_are_on(kkt);
  bool fits = kkt->dense_size <= PAWL_KKT_LINE_UNKNOWNS &&
              kkt->dense_size + (pinned ? kkt->pin_count : 0) <= PAWL_KKT_LINE_PINNED;
  for (int a = 0; a < kkt->active_count && !l->off; a++) {
    rows |= 1u << kkt->active[a];
  }
  l->set = l->off || !fits ? NULL : find_set(l, rows, pinned);
  use(kkt, l->set);
}
// ---- a set --------------------------------------------------------------------------------------
// memcpy: a pointer to data becomes one to code.
#define POINT(to, from) memcpy(&(to), &(unsigned char*){from}, sizeof(unsigned char*))

// Without memory, or such as may not be executed, there is no machine code from now on.
static void write_set(PawlKkt* kkt) {
  PawlKktLine* l = kkt->line;
  l->bytes = l->bytes > 0 ? l->bytes : most_bytes(kkt);
  unsigned char* at = l->set->code = pawl_code_map(l->bytes);
  PawlCode code = {.at = at, .capacity = at ? l->bytes : 0};
  size_t begins[PAWL_KKT_FUNCTIONS];
  pawl_kkt_line_write_code(kkt, l->set->pinned, &code, begins);
  if (code.failed || !pawl_code_seal(at, l->bytes)) {
    l->foreign = true;
    return;
  }
  POINT(l->set->factor, at + begins[PAWL_KKT_LINE_FACTOR]);
  POINT(l->set->solve, at + begins[PAWL_KKT_LINE_SOLVE]);
  POINT(l->set->solve_rows, at + begins[PAWL_KKT_LINE_SOLVE_ROWS]);
  if (kkt->fixed) {
    POINT(l->set->factor_rows, at + begins[PAWL_KKT_LINE_FACTOR_ROWS]);
  }
  use(kkt, l->set);
}

void pawl_kkt_line_meet(PawlKkt* kkt) {
  PawlKktLine* l = kkt->line;
  if (l && l->set) {
    atomic_fetch_or_explicit(&l->met, 1u << (l->set - l->sets), memory_order_release);
  }
}

bool pawl_kkt_line_write(PawlKkt* kkt) {
  PawlKktLine* l = kkt->line;
  Set* set = l->set;
  if (set && set->uses == 0) {
    pawl_kkt_line_meet(kkt);
  }
  if (set && !l->foreign && ++set->uses > OFTEN) {
    write_set(kkt);
  }
  return kkt->code.factor != NULL;
}

// ---- S that stays -------------------------------------------------------------------------------
static bool is_even(const PawlKkt* kkt) {
  bool even = true;
  for (int k = 0; k < kkt->block_J.count; k++) {
    even = even && kkt->block_B.factor[k] == -kkt->block_J.factor[k];
  }
  return even;
}

// The trace of S from its factors, and the largest inverse pivot; infinite when one is not
// positive.
static double trace(const PawlKkt* kkt, int n, double* inverse) {
  int size = kkt->dense_size;
  double sum = 0.0;
  for (int j = 0; j < n; j++) {
    double d = kkt->values[j + j * size];
    *inverse = !(d > 0.0) ? INFINITY : fmax(d, *inverse);
    sum += 1.0 / d;
    for (int k = 0; k < j; k++) {
      sum += kkt->values[j + k * size] * kkt->values[k + j * size];
    }
  }
  return sum;
}

void pawl_kkt_line_base(PawlKkt* kkt) {
  PawlKktLine* l = kkt->line;
  if (!kkt->code.factor_rows || l->set->loose) {
    return;
  }
  double inverse = 0.0, *table = l->table;
  int n = kkt->n - (l->set->pinned ? kkt->pin_count : 0);
  table[PAWL_KKT_LINE_TRACE] = fmax(trace(kkt, n, &inverse), 1.0);
  table[PAWL_KKT_LINE_MOST_D] =
      fmin(PAWL_LU_MOST_GROWTH * PAWL_LU_MOST_GROWTH / inverse,
           PAWL_KKT_DRIFT * fmin(PAWL_KKT_DRIFT / table[PAWL_KKT_LINE_TRACE], 1.0));
  l->set->loose = !is_even(kkt) || !isfinite(inverse);
  kkt->kept[kkt->turn].based = !l->set->loose;
}

// ---- as C ---------------------------------------------------------------------------------------
unsigned pawl_kkt_source_sets(const PawlKkt* kkt) {
  return kkt->line ? atomic_load_explicit(&kkt->line->met, memory_order_acquire) : 0;
}

// By a solver of its own, since places of entries are those of the rows in use.
int pawl_kkt_source(const PawlKkt* kkt, int set, PawlText* out, int first) {
  const Set* of = &kkt->line->sets[set];
  unsigned char active[MOST_ROWS];
  PawlKkt* like;
  if (pawl_kkt_create_like(kkt, &like) != PAWL_OK) {
    return -1;
  }
  for (int i = 0; i < kkt->m; i++) {
    active[i] = of->rows >> i & 1;
  }
  pawl_kkt_list_rows(like, active);
  like->pins->on = of->pinned;
  pawl_kkt_dense_fit(like);
  bool good = pawl_kkt_line_write_source(like, of->pinned, out, first);
  pawl_kkt_destroy(like);
  return out->failed ? -1 : good ? 0 : 1;
}

void pawl_kkt_source_names(const PawlKkt* kkt, PawlText* out, int first) {
  for (int k = 0; k < PAWL_KKT_FUNCTIONS; k++) {
    if (k == PAWL_KKT_LINE_FACTOR_ROWS && !kkt->fixed) {
      pawl_text_add(out, "  0,\n");
    } else {
      pawl_text_printf(out, "  (F)f%d,\n", first + k);
    }
  }
}

void pawl_kkt_source_adopt(PawlKkt* kkt, int set, void (*const* functions)(void)) {
  PawlKktLine* l = kkt->line;
  Set* to = &l->sets[set];
  to->factor = (PawlKktCodeFactor*)functions[PAWL_KKT_LINE_FACTOR];
  to->factor_rows = (PawlKktCodeFactor*)functions[PAWL_KKT_LINE_FACTOR_ROWS];
  to->solve = (PawlKktCodeSolve*)functions[PAWL_KKT_LINE_SOLVE];
  to->solve_rows = (PawlKktCodeSolve*)functions[PAWL_KKT_LINE_SOLVE_ROWS];
  if (l->set == to && !l->off) {
    use(kkt, to);
  }
}
