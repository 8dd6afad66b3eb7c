// SPDX-License-Identifier: Apache-2.0
// The small dense KKT system as machine code without a loop (docs/theory/kkt.md, section 6): for a
// set of active rows the places of all entries are known, so that the elimination without row
// exchanges is one known sequence of operations, in which those with an entry that is always zero
// are left out. They are the operations of lu.c on the same scaled entries in the same order, and
// the factors go to the same places, so that the bits are the same and either may solve with them.
// A zero of the solution has no sign, since what is left out could decide on it.
// What is judged is judged more strictly than there: where a judgement fails, lu.c decides.
//
// A set gets its code when it has been used a number of times, as long as there is room.
#include <math.h>
#include <string.h>

#include "base/code.h"
#include "linalg/kkt_impl.h"
#include "linalg/kkt_pins.h"
#include "linalg/lu_small.h"

enum {
  MOST_UNKNOWNS = 10,  // of the matrix: a column is in as many registers
  MOST_PINNED = 12,    // with the coordinates that rows pin (kkt_pins.c), in registers, too
  MOST_ROWS = 32,      // a bit for each
  MOST_ENTRIES = 256,  // of S and G
  SETS = 8,            // of active rows that have code of their own
  OFTEN = 100,         // uses, to factor or to solve, after which a set gets it
};
// Registers behind those of a column.
enum { SUM = MOST_UNKNOWNS, GROWTH, LEAST, MASK, T, P };
// The numbers that code reads: first these, then R, C and the factors of S, B and J.
enum {
  ZERO,
  ONE,
  SMALLEST,
  LARGEST,
  MOST_GROWTH,
  INFINITE,
  LEAST_PIN,
  TRACE,  // of S, 1 at least; and the most that the sum may be where S stays
  MOST_D,
  FIRST_SCALE
};
// The arguments: values and table are the first two.
enum { VALUES = PAWL_CODE_RDI, TABLE = PAWL_CODE_RSI };
enum { OF_S = PAWL_CODE_RDX, OF_B = PAWL_CODE_RCX, OF_J = PAWL_CODE_R8 };
enum { OF_X = PAWL_CODE_RDX, OF_Y = PAWL_CODE_RCX };

typedef struct Set {
  unsigned rows;  // a bit for each that is active
  bool pinned;    // those of one entry are left out
  int uses;       // without code
  bool loose;     // it cannot be judged by what (K14) says
  PawlKktCodeFactor *factor, *factor_rows;
  PawlKktCodeSolve *solve, *solve_rows;
  unsigned char* code;  // memory of all
} Set;

struct PawlKktLine {
  bool off;
  Set sets[SETS];
  int set_count;
  Set* set;      // of the active rows; NULL: there was no room
  size_t bytes;  // of the code of a set
  double* table;
  int R, C, S, B, J;  // where they begin in it
};

typedef struct Source {  // of an entry of the matrix
  int base, index;       // array and place in it, -1: it is always zero before the elimination
  int factor;            // in the table
} Source;

typedef struct Writer {
  PawlCode code;
  const PawlKkt* kkt;
  int size, pins;
  bool rows_only;                             // the factors of S are there
  bool filled[MOST_UNKNOWNS][MOST_UNKNOWNS];  // i, j: not always zero
  Source source[MOST_UNKNOWNS][MOST_UNKNOWNS];
} Writer;

// ---- creation -----------------------------------------------------------------------------------
static size_t most_bytes(const PawlKkt* kkt) {
  enum { OF_ENTRY = 64, OF_PRODUCT = 36, OF_UNKNOWN = 96, OF_BOTH = 256 };
  size_t size = (size_t)(kkt->size < MOST_UNKNOWNS ? kkt->size : MOST_UNKNOWNS);
  size_t given = (size_t)kkt->block_S.count + 2 * (size_t)kkt->block_J.count;
  size_t bytes = (size * size + 2 * given) * OF_ENTRY + size * size * size * OF_PRODUCT / 2 +
                 (size_t)kkt->size * OF_UNKNOWN;
  bytes += kkt->fixed ? bytes : bytes / 2;
  return (bytes + OF_BOTH + PAWL_CODE_PAGE - 1) / PAWL_CODE_PAGE * PAWL_CODE_PAGE;
}

static bool is_small(const PawlKkt* kkt) {
  return kkt->size > 0 && kkt->n <= MOST_PINNED && kkt->m <= MOST_ROWS &&
         kkt->block_S.count + kkt->block_J.count <= MOST_ENTRIES;
}

PawlStatus pawl_kkt_line_create(PawlKkt* kkt) {
  PawlKktLine* l = PAWL_NEW(&kkt->arena, PawlKktLine, 1);
  if (!l) {
    return PAWL_ERROR_MEMORY;
  }
  l->R = FIRST_SCALE;
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
  const double first[FIRST_SCALE] = {[ONE] = 1.0,
                                     [SMALLEST] = PAWL_KKT_PLAIN,
                                     [LARGEST] = PAWL_KKT_DRIFT,
                                     [MOST_GROWTH] = PAWL_LU_MOST_GROWTH,
                                     [INFINITE] = INFINITY,
                                     [LEAST_PIN] = PAWL_KKT_LEAST_PIN};
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
  if (l->set_count == SETS) {
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
  bool fits = kkt->dense_size <= MOST_UNKNOWNS &&
              kkt->dense_size + (pinned ? kkt->pin_count : 0) <= MOST_PINNED;
  for (int a = 0; a < kkt->active_count && !l->off; a++) {
    rows |= 1u << kkt->active[a];
  }
  l->set = l->off || !fits ? NULL : find_set(l, rows, pinned);
  use(kkt, l->set);
}

// ---- what is always zero ------------------------------------------------------------------------
static void find_sources(Writer* w, const PawlKktBlock* block, int base, int factor) {
  for (int k = 0; k < block->count; k++) {
    int place = block->place[k];
    if (place < w->kkt->value_count) {
      w->source[place % w->size][place / w->size] = (Source){base, k, factor + k};
      w->filled[place % w->size][place / w->size] = true;
    }
  }
}

static void find_entries(Writer* w) {
  const PawlKkt* kkt = w->kkt;
  const PawlKktLine* l = kkt->line;
  for (int i = 0; i < w->size; i++) {
    for (int j = 0; j < w->size; j++) {
      w->source[i][j].index = -1;
    }
  }
  find_sources(w, &kkt->block_S, OF_S, l->S);
  find_sources(w, &kkt->block_B, OF_B, l->B);
  find_sources(w, &kkt->block_J, OF_J, l->J);
  for (int k = 0; k < w->size; k++) {
    for (int j = k + 1; j < w->size; j++) {
      for (int i = k + 1; i < w->size; i++) {
        w->filled[i][j] |= w->filled[i][k] && w->filled[k][j];
      }
    }
    w->filled[k][k] = true;  // a zero there is found when it is divided by
  }
}

// ---- instructions -------------------------------------------------------------------------------
static void load(Writer* w, int x, int base, int index) {
  pawl_code_memory(&w->code, PAWL_CODE_LOAD, x, base, index);
}

static void store(Writer* w, int x, int base, int index) {
  pawl_code_memory(&w->code, PAWL_CODE_STORE, x, base, index);
}

static void scale(Writer* w, int x, int index) {
  pawl_code_memory(&w->code, PAWL_CODE_MUL, x, TABLE, index);
}

static void both(Writer* w, PawlCodeOp op, int x, int y) {
  pawl_code_both(&w->code, op, x, y);
}

static int place(const Writer* w, int i, int j) {
  return i + j * w->size;
}

// T = |x|
static void take_size(Writer* w, int x) {
  both(w, PAWL_CODE_COPY, T, x);
  both(w, PAWL_CODE_AND, T, MASK);
}

// x -= values[at] by
static void subtract_product(Writer* w, int x, int at, int by) {
  load(w, P, VALUES, at);
  both(w, PAWL_CODE_MUL, P, by);
  both(w, PAWL_CODE_SUB, x, P);
}

static void finish(Writer* w) {
  PAWL_CODE_PUT(&w->code, 0xC3);  // ret
}

static void begin(Writer* w) {
  PAWL_CODE_PUT(&w->code, 0xF3, 0x0F, 0x1E, 0xFA);  // endbr64
}

// ---- factorisation ------------------------------------------------------------------------------
static void load_entry(Writer* w, int i, int j) {
  Source s = w->source[i][j];
  if (s.index < 0) {
    both(w, PAWL_CODE_XOR, i, i);
    return;
  }
  load(w, i, s.base, s.index);
  scale(w, i, s.factor);
  if (!w->rows_only) {
    take_size(w, i);
    both(w, PAWL_CODE_ADD, SUM, T);
  }
}

static bool pins(const Writer* w, int entry) {
  bool found = false;
  for (int k = 0; k < w->pins; k++) {
    found |= w->kkt->pins->pins[k].entry == entry;
  }
  return found;
}

// T, an entry that pins: its inverse is kept, and the smallest of them in P. Register 0 is not in
// use yet.
static void invert(Writer* w, int at) {
  load(w, 0, TABLE, ONE);
  both(w, PAWL_CODE_DIV, 0, T);
  store(w, 0, VALUES, at);
  both(w, PAWL_CODE_AND, T, MASK);
  both(w, PAWL_CODE_MIN, P, T);
  both(w, PAWL_CODE_ADD, SUM, T);
}

// Entries of rows that are not active, and of what is pinned, are kept behind the matrix.
static void write_behind(Writer* w, const PawlKktBlock* block, int base, int factor) {
  for (int k = 0; k < block->count; k++) {
    if (block->place[k] >= w->kkt->value_count) {
      load(w, T, base, k);
      scale(w, T, factor + k);
      if (base != OF_S && pins(w, k)) {
        invert(w, block->place[k]);
        continue;
      }
      store(w, T, VALUES, block->place[k]);
      both(w, PAWL_CODE_AND, T, MASK);
      both(w, PAWL_CODE_ADD, SUM, T);
    }
  }
}

// 0 when an entry that pins, the least of which is P, is below LEAST_PIN, or not a number.
static void judge_pins(Writer* w) {
  PAWL_CODE_PUT(&w->code, 0x31, 0xC0);  // xor eax, eax
  load(w, T, TABLE, LEAST_PIN);
  both(w, PAWL_CODE_COMPARE, P, T);
  PAWL_CODE_PUT(&w->code, 0x73, 1);  // jae, over the next
  finish(w);
}

// Unknowns of the matrix that are coordinates; these come first.
static int coordinates(const Writer* w) {
  return w->kkt->n - w->pins;
}

// U above the diagonal: each entry when no earlier column changes it any more.
static void eliminate(Writer* w, int j) {
  for (int k = 0; k < j; k++) {
    if (w->rows_only && k == coordinates(w)) {
      both(w, PAWL_CODE_ADD, SUM, j);  // J_a S^-1 J_a^T
    }
    if (w->filled[k][j]) {
      store(w, k, VALUES, place(w, k, j));
      for (int i = k + 1; i < w->size; i++) {
        if (w->filled[i][k]) {
          subtract_product(w, i, place(w, i, k), k);
        }
      }
    }
  }
  if (w->rows_only && j == coordinates(w)) {
    both(w, PAWL_CODE_ADD, SUM, j);
  }
}

// The inverse pivot, and L below it.
static void divide(Writer* w, int j) {
  take_size(w, j);
  both(w, PAWL_CODE_MIN, T, LEAST);  // in this order a NaN leaves the least as it was
  both(w, PAWL_CODE_COPY, LEAST, T);
  load(w, P, TABLE, ONE);
  both(w, PAWL_CODE_DIV, P, j);
  store(w, P, VALUES, place(w, j, j));
  for (int i = j + 1; i < w->size; i++) {
    if (w->filled[i][j]) {
      both(w, PAWL_CODE_MUL, i, P);
      store(w, i, VALUES, place(w, i, j));
      take_size(w, i);
      both(w, PAWL_CODE_MAX, GROWTH, T);
    }
  }
}

static void write_column(Writer* w, int j) {
  for (int i = 0; i < w->size; i++) {
    if (w->filled[i][j]) {
      load_entry(w, i, j);
    }
  }
  eliminate(w, j);
  divide(w, j);
}

// A column of S, whose factors are there: L of the rows below.
static void write_rows_of_column(Writer* w, int j) {
  for (int i = coordinates(w); i < w->size; i++) {
    if (w->filled[i][j]) {
      load_entry(w, i, j);
    }
  }
  for (int k = 0; k < j; k++) {
    if (w->filled[k][j]) {
      load(w, T, VALUES, place(w, k, j));
      for (int i = coordinates(w); i < w->size; i++) {
        if (w->filled[i][k]) {
          subtract_product(w, i, place(w, i, k), T);
        }
      }
    }
  }
  for (int i = coordinates(w); i < w->size; i++) {
    if (w->filled[i][j]) {
      pawl_code_memory(&w->code, PAWL_CODE_MUL, i, VALUES, place(w, j, j));
      store(w, i, VALUES, place(w, i, j));
    }
  }
}

// To the end of the function when the flags say so; where the distance is to be written.
static size_t leave(Writer* w, unsigned char condition) {
  PAWL_CODE_PUT(&w->code, condition, 0);
  return w->code.size - 1;
}

// T = the most that an entry may be: with all entries looked at max(sum, 1), else by (K14).
static void bound_entries(Writer* w) {
  if (!w->rows_only) {
    load(w, T, TABLE, ONE);
    both(w, PAWL_CODE_MAX, T, SUM);
    return;
  }
  both(w, PAWL_CODE_COPY, T, SUM);
  pawl_code_memory(&w->code, PAWL_CODE_ADD, T, TABLE, ONE);
  scale(w, T, TRACE);
  pawl_code_memory(&w->code, PAWL_CODE_ADD, T, TABLE, ONE);
}

// 1 when the least pivot is above SMALLEST times what entries are at most, their sum, or that of
// the diagonal of J S^-1 J^T and of what is behind the matrix, not too large, and L no larger than
// MOST_GROWTH; else 0. NaN is in the sum.
static void judge(Writer* w) {
  enum { IF_NOT_ABOVE = 0x76, IF_BELOW = 0x72 };
  size_t out[3];
  bound_entries(w);
  scale(w, T, SMALLEST);
  PAWL_CODE_PUT(&w->code, 0x31, 0xC0);  // xor eax, eax
  both(w, PAWL_CODE_COMPARE, LEAST, T);
  out[0] = leave(w, IF_NOT_ABOVE);
  load(w, T, TABLE, w->rows_only ? MOST_D : LARGEST);
  both(w, PAWL_CODE_COMPARE, T, SUM);
  out[1] = leave(w, IF_BELOW);
  load(w, T, TABLE, MOST_GROWTH);
  both(w, PAWL_CODE_COMPARE, T, GROWTH);
  out[2] = leave(w, IF_BELOW);
  PAWL_CODE_PUT(&w->code, 0xB8, 1, 0, 0, 0);  // mov eax, 1
  for (int k = 0; k < 3 && !w->code.failed; k++) {
    w->code.at[out[k]] = (unsigned char)(w->code.size - out[k] - 1);
  }
  finish(w);
}

// With `rows_only` the factors of S are those of the last call, and so is S behind the matrix.
static void write_factor(Writer* w) {
  const PawlKkt* kkt = w->kkt;
  begin(w);
  both(w, PAWL_CODE_XOR, SUM, SUM);
  both(w, PAWL_CODE_XOR, GROWTH, GROWTH);
  load(w, LEAST, TABLE, INFINITE);
  pawl_code_magnitude_mask(&w->code, MASK);
  if (w->pins > 0) {
    load(w, P, TABLE, INFINITE);
  }
  if (!w->rows_only) {
    write_behind(w, &kkt->block_S, OF_S, kkt->line->S);
  }
  write_behind(w, &kkt->block_B, OF_B, kkt->line->B);
  write_behind(w, &kkt->block_J, OF_J, kkt->line->J);
  if (w->pins > 0) {
    judge_pins(w);
  }
  for (int j = 0; j < w->size; j++) {
    if (w->rows_only && j < coordinates(w)) {
      write_rows_of_column(w, j);
    } else {
      write_column(w, j);
    }
  }
  judge(w);
}

// ---- solution -----------------------------------------------------------------------------------
// Unknowns are the coordinates, then the active rows: which one stands at a place of the matrix,
// where it is in x or y, and in the whole system.
static int unknown_at(const Writer* w, int k) {
  return w->pins > 0 ? w->kkt->pins->unknown[k] : k;
}

static int base_of(const Writer* w, int unknown) {
  return unknown < w->kkt->n ? OF_X : OF_Y;
}

static int index_of(const Writer* w, int unknown) {
  return unknown < w->kkt->n ? unknown : w->kkt->active[unknown - w->kkt->n];
}

static int in_all(const Writer* w, int unknown) {
  return index_of(w, unknown) + (unknown < w->kkt->n ? 0 : w->kkt->n);
}

// x = the right side of an unknown, scaled; and its solution from x.
static void take_side(Writer* w, int x, int unknown) {
  if (w->rows_only && unknown < w->kkt->n) {
    both(w, PAWL_CODE_XOR, x, x);
    return;
  }
  load(w, x, base_of(w, unknown), index_of(w, unknown));
  scale(w, x, w->kkt->line->R + in_all(w, unknown));
}

static void give_solution(Writer* w, int x, int unknown) {
  scale(w, x, w->kkt->line->C + in_all(w, unknown));
  pawl_code_memory(&w->code, PAWL_CODE_ADD, x, TABLE, ZERO);
  store(w, x, base_of(w, unknown), index_of(w, unknown));
}

static void substitute(Writer* w) {
  bool zero = w->rows_only && w->pins == 0;  // of coordinates, as long as nothing is added
  for (int k = zero ? coordinates(w) : 0; k < w->size; k++) {
    for (int i = k + 1; i < w->size; i++) {
      if (w->filled[i][k]) {
        subtract_product(w, i, place(w, i, k), k);
      }
    }
  }
  for (int k = w->size - 1; k >= 0; k--) {
    pawl_code_memory(&w->code, PAWL_CODE_MUL, k, VALUES, place(w, k, k));
    for (int i = 0; i < k; i++) {
      if (w->filled[i][k]) {
        subtract_product(w, i, place(w, i, k), k);
      }
    }
  }
}

// The coordinate that a row pins: x_j = c_a / J_aj, in a register behind those of the matrix, and
// its terms in the other equations.
static void write_pin(Writer* w, int k) {
  const PawlKkt* kkt = w->kkt;
  const PawlKktPin* pin = &kkt->pins->pins[k];
  int z = w->size + k;
  take_side(w, z, kkt->n + pin->a);
  pawl_code_memory(&w->code, PAWL_CODE_MUL, z, VALUES, kkt->block_J.place[pin->entry]);
  for (int e = pin->column; e < pin->row; e++) {
    subtract_product(w, kkt->pins->terms[e].unknown, kkt->pins->terms[e].value, z);
  }
}

// The multiplier of that row, from equation j. No other row that pins has a term there.
static void write_pin_force(Writer* w, int k) {
  const PawlKkt* kkt = w->kkt;
  const PawlKktPins* p = kkt->pins;
  const PawlKktPin* pin = &p->pins[k];
  take_side(w, T, pin->j);
  for (int e = pin->row; e < pin[1].column; e++) {
    int unknown = p->terms[e].unknown, of = p->of[unknown];
    w->code.failed |= of >= 0 && unknown >= kkt->n;
    subtract_product(w, T, p->terms[e].value, of < 0 ? p->at[unknown] : w->size + of);
  }
  pawl_code_memory(&w->code, PAWL_CODE_MUL, T, VALUES, kkt->block_B.place[pin->entry]);
  give_solution(w, T, kkt->n + pin->a);
}

static void write_solve(Writer* w) {
  begin(w);
  for (int k = 0; k < w->size; k++) {
    take_side(w, k, unknown_at(w, k));
  }
  for (int k = 0; k < w->pins; k++) {
    write_pin(w, k);
  }
  substitute(w);
  for (int k = w->pins - 1; k >= 0; k--) {
    write_pin_force(w, k);
  }
  for (int k = 0; k < w->size; k++) {
    give_solution(w, k, unknown_at(w, k));
  }
  for (int k = 0; k < w->pins; k++) {
    give_solution(w, w->size + k, w->kkt->pins->pins[k].j);
  }
  finish(w);
}

// ---- a set --------------------------------------------------------------------------------------
// memcpy: a pointer to data becomes one to code.
#define POINT(to, from) memcpy(&(to), &(unsigned char*){from}, sizeof(unsigned char*))

// Without memory, or such as may not be executed, there is no code from now on.
static void write_set(PawlKkt* kkt) {
  PawlKktLine* l = kkt->line;
  l->bytes = l->bytes > 0 ? l->bytes : most_bytes(kkt);
  unsigned char* at = l->set->code = pawl_code_map(l->bytes);
  Writer w = {.code = {.at = at, .capacity = at ? l->bytes : 0}, .kkt = kkt};
  w.size = kkt->dense_size;
  w.pins = l->set->pinned ? kkt->pin_count : 0;
  if (w.pins > 0) {
    pawl_kkt_pins_list(kkt);
  }
  find_entries(&w);
  write_factor(&w);
  size_t solve = w.code.size;
  write_solve(&w);
  w.rows_only = true;
  size_t solve_rows = w.code.size;
  write_solve(&w);
  size_t factor_rows = w.code.size;
  if (kkt->fixed) {
    write_factor(&w);
  }
  if (w.code.failed || !pawl_code_seal(at, l->bytes)) {
    pawl_kkt_line_stop(kkt);
    return;
  }
  POINT(l->set->factor, at);
  POINT(l->set->solve, at + solve);
  POINT(l->set->solve_rows, at + solve_rows);
  if (kkt->fixed) {
    POINT(l->set->factor_rows, at + factor_rows);
  }
  use(kkt, l->set);
}

bool pawl_kkt_line_write(PawlKkt* kkt) {
  Set* set = kkt->line->set;
  if (set && ++set->uses > OFTEN) {
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
  table[TRACE] = fmax(trace(kkt, n, &inverse), 1.0);
  table[MOST_D] = fmin(PAWL_LU_MOST_GROWTH * PAWL_LU_MOST_GROWTH / inverse,
                       PAWL_KKT_DRIFT * fmin(PAWL_KKT_DRIFT / table[TRACE], 1.0));
  l->set->loose = !is_even(kkt) || !isfinite(inverse);
  kkt->kept[kkt->turn].based = !l->set->loose;
}
