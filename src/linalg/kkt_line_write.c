// SPDX-License-Identifier: Apache-2.0
// The code of kkt_line.c: one schedule of operations, which becomes machine code or C. An operation
// works on numbered registers and on numbers in memory, as the processor has them; in C a register
// is a variable.
#include <stdio.h>

#include "linalg/kkt_line.h"
#include "linalg/kkt_pins.h"

enum { MOST_UNKNOWNS = PAWL_KKT_LINE_UNKNOWNS };
// Registers behind those of a column.
enum { SUM = MOST_UNKNOWNS, GROWTH, LEAST, MASK, T, P, REGISTERS };
// The arguments: values and table are the first two.
enum { VALUES = PAWL_CODE_RDI, TABLE = PAWL_CODE_RSI };
enum { OF_S = PAWL_CODE_RDX, OF_B = PAWL_CODE_RCX, OF_J = PAWL_CODE_R8 };
enum { OF_X = PAWL_CODE_RDX, OF_Y = PAWL_CODE_RCX };

typedef struct Source {  // of an entry of the matrix
  int base, index;       // array and place in it, -1: it is always zero before the elimination
  int factor;            // in the table
} Source;

enum { MOST_LEAVES = 3 };  // a function returns 0 at so many places before its end

typedef struct Writer {
  PawlCode code;
  PawlText* text;  // C in the place of code; NULL: code
  size_t leaves[MOST_LEAVES];
  int leave_count;
  bool solves;  // the function at hand
  const PawlKkt* kkt;
  int size, pins;
  bool rows_only;                             // the factors of S are there
  bool filled[MOST_UNKNOWNS][MOST_UNKNOWNS];  // i, j: not always zero
  Source source[MOST_UNKNOWNS][MOST_UNKNOWNS];
} Writer;

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
static const char* array_name(const Writer* w, int base) {
  return base == VALUES  ? "values"
         : base == TABLE ? "table"
         : base == OF_J  ? "J"
         : base == OF_X  ? (w->solves ? "x" : "S")
                         : (w->solves ? "y" : "B");
}

// x op= what `right` prints
static void print_op(Writer* w, PawlCodeOp op, int x, const char* right) {
  switch ((int)op) {
    case PAWL_CODE_LOAD:
    case PAWL_CODE_COPY:
      pawl_text_printf(w->text, "  r%d = %s;\n", x, right);
      break;
    case PAWL_CODE_MIN:  // the second when one of them is not a number
      pawl_text_printf(w->text, "  r%d = r%d < %s ? r%d : %s;\n", x, x, right, x, right);
      break;
    case PAWL_CODE_MAX:
      pawl_text_printf(w->text, "  r%d = r%d > %s ? r%d : %s;\n", x, x, right, x, right);
      break;
    default:
      pawl_text_printf(w->text, "  r%d %s= %s;\n", x,
                       op == PAWL_CODE_ADD   ? "+"
                       : op == PAWL_CODE_SUB ? "-"
                       : op == PAWL_CODE_MUL ? "*"
                                             : "/",
                       right);
  }
}

// What others, or the factorisation, may have stored just before: it is loaded alone. In larger
// matrices vectors of factors save more than they wait.
static bool is_fresh(const Writer* w, int base, int index) {
  enum { FEW = 5 };
  return base == VALUES ? w->size <= FEW || index >= w->size * w->size : base != TABLE;
}

static void memory(Writer* w, PawlCodeOp op, int x, int base, int index) {
  char right[48];
  if (!w->text) {
    pawl_code_memory(&w->code, op, x, base, index);
    return;
  }
  bool alone = op != PAWL_CODE_STORE && is_fresh(w, base, index);
  snprintf(right, sizeof right, alone ? "pawl_sized_alone(%s[%d])" : "%s[%d]", array_name(w, base),
           index);
  if (op == PAWL_CODE_STORE) {
    pawl_text_printf(w->text, "  %s = r%d;\n", right, x);
  } else {
    print_op(w, op, x, right);
  }
}

static void both(Writer* w, PawlCodeOp op, int x, int y) {
  char right[16];
  if (!w->text) {
    pawl_code_both(&w->code, op, x, y);
    return;
  }
  snprintf(right, sizeof right, "r%d", y);
  print_op(w, op, x, right);
}

static void load(Writer* w, int x, int base, int index) {
  memory(w, PAWL_CODE_LOAD, x, base, index);
}

static void store(Writer* w, int x, int base, int index) {
  memory(w, PAWL_CODE_STORE, x, base, index);
}

static void scale(Writer* w, int x, int index) {
  memory(w, PAWL_CODE_MUL, x, TABLE, index);
}

static void clear(Writer* w, int x) {
  if (w->text) {
    pawl_text_printf(w->text, "  r%d = 0.0;\n", x);
  } else {
    pawl_code_both(&w->code, PAWL_CODE_XOR, x, x);
  }
}

// x = |x|
static void drop_sign(Writer* w, int x) {
  if (w->text) {
    pawl_text_printf(w->text, "  r%d = fabs(r%d);\n", x, x);
  } else {
    pawl_code_both(&w->code, PAWL_CODE_AND, x, MASK);
  }
}

static int place(const Writer* w, int i, int j) {
  return i + j * w->size;
}

// T = |x|
static void take_size(Writer* w, int x) {
  both(w, PAWL_CODE_COPY, T, x);
  drop_sign(w, T);
}

// x -= values[at] by
static void subtract_product(Writer* w, int x, int at, int by) {
  load(w, P, VALUES, at);
  both(w, PAWL_CODE_MUL, P, by);
  both(w, PAWL_CODE_SUB, x, P);
}

static void begin(Writer* w, int number) {
  static const char* const arguments[] = {
      "static int f%d(double* restrict values, const double* restrict table,\n"
      "               const double* restrict S, const double* restrict B,\n"
      "               const double* restrict J) {\n",
      "static void f%d(const double* restrict values, const double* restrict table,\n"
      "                double* restrict x, double* restrict y) {\n"};
  w->leave_count = 0;
  if (!w->text) {
    PAWL_CODE_PUT(&w->code, 0xF3, 0x0F, 0x1E, 0xFA);  // endbr64
    return;
  }
  pawl_text_printf(w->text, arguments[w->solves], number);
  for (int k = 0; k < REGISTERS; k++) {
    pawl_text_printf(w->text, "%s%d%s", k == 0 ? "  double r" : ", r", k,
                     k + 1 < REGISTERS ? "" : ";\n");
  }
}

static void finish(Writer* w) {
  if (w->text) {
    pawl_text_add(w->text, "}\n");
  } else {
    PAWL_CODE_PUT(&w->code, 0xC3);  // ret
  }
}

typedef enum Relation { ABOVE, AT_LEAST } Relation;

static void print_leave(Writer* w, int x, Relation relation, int y) {
  pawl_text_printf(w->text, "  if (!(r%d %s r%d)) {\n    return 0;\n  }\n", x,
                   relation == ABOVE ? ">" : ">=", y);
}

// The function returns 0 unless x is at least y; also where one is not a number.
static void leave_early_unless(Writer* w, int x, int y) {
  if (w->text) {
    print_leave(w, x, AT_LEAST, y);
    return;
  }
  PAWL_CODE_PUT(&w->code, 0x31, 0xC0);  // xor eax, eax
  both(w, PAWL_CODE_COMPARE, x, y);
  PAWL_CODE_PUT(&w->code, 0x73, 1);  // jae, over the next
  finish(w);
}

// The same near the end, with 0 in its place already.
static void leave_unless(Writer* w, int x, Relation relation, int y) {
  enum { IF_NOT_ABOVE = 0x76, IF_BELOW = 0x72 };
  if (w->text) {
    print_leave(w, x, relation, y);
    return;
  }
  both(w, PAWL_CODE_COMPARE, x, y);
  PAWL_CODE_PUT(&w->code, relation == ABOVE ? IF_NOT_ABOVE : IF_BELOW, 0);
  w->leaves[w->leave_count++] = w->code.size - 1;
}

static void return_one(Writer* w) {
  if (w->text) {
    pawl_text_add(w->text, "  return 1;\n");
  } else {
    PAWL_CODE_PUT(&w->code, 0xB8, 1, 0, 0, 0);  // mov eax, 1
  }
  for (int k = 0; k < w->leave_count && !w->code.failed; k++) {
    w->code.at[w->leaves[k]] = (unsigned char)(w->code.size - w->leaves[k] - 1);
  }
  finish(w);
}

// ---- factorisation ------------------------------------------------------------------------------
static void load_entry(Writer* w, int i, int j) {
  Source s = w->source[i][j];
  if (s.index < 0) {
    clear(w, i);
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
  load(w, 0, TABLE, PAWL_KKT_LINE_ONE);
  both(w, PAWL_CODE_DIV, 0, T);
  store(w, 0, VALUES, at);
  drop_sign(w, T);
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
      drop_sign(w, T);
      both(w, PAWL_CODE_ADD, SUM, T);
    }
  }
}

// 0 when an entry that pins, the least of which is P, is below LEAST_PIN, or not a number.
static void judge_pins(Writer* w) {
  if (w->text) {  // else a compiler adds behind the return, and keeps all addends until then
    pawl_text_printf(w->text, "  r%d = pawl_sized_alone(r%d);\n", SUM, SUM);
  }
  load(w, T, TABLE, PAWL_KKT_LINE_LEAST_PIN);
  leave_early_unless(w, P, T);
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
  load(w, P, TABLE, PAWL_KKT_LINE_ONE);
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
      memory(w, PAWL_CODE_MUL, i, VALUES, place(w, j, j));
      store(w, i, VALUES, place(w, i, j));
    }
  }
}

// T = the most that an entry may be: with all entries looked at max(sum, 1), else by (K14).
static void bound_entries(Writer* w) {
  if (!w->rows_only) {
    load(w, T, TABLE, PAWL_KKT_LINE_ONE);
    both(w, PAWL_CODE_MAX, T, SUM);
    return;
  }
  both(w, PAWL_CODE_COPY, T, SUM);
  memory(w, PAWL_CODE_ADD, T, TABLE, PAWL_KKT_LINE_ONE);
  scale(w, T, PAWL_KKT_LINE_TRACE);
  memory(w, PAWL_CODE_ADD, T, TABLE, PAWL_KKT_LINE_ONE);
}

// 1 when the least pivot is above SMALLEST times what entries are at most, their sum, or that of
// the diagonal of J S^-1 J^T and of what is behind the matrix, not too large, and L no larger than
// MOST_GROWTH; else 0. NaN is in the sum.
static void judge(Writer* w) {
  bound_entries(w);
  scale(w, T, PAWL_KKT_LINE_SMALLEST);
  if (!w->text) {
    PAWL_CODE_PUT(&w->code, 0x31, 0xC0);  // xor eax, eax
  }
  leave_unless(w, LEAST, ABOVE, T);
  load(w, T, TABLE, w->rows_only ? PAWL_KKT_LINE_MOST_D : PAWL_KKT_LINE_LARGEST);
  leave_unless(w, T, AT_LEAST, SUM);
  load(w, T, TABLE, PAWL_KKT_LINE_MOST_GROWTH);
  leave_unless(w, T, AT_LEAST, GROWTH);
  return_one(w);
}

// With `rows_only` the factors of S are those of the last call, and so is S behind the matrix.
static void write_factor(Writer* w, int number) {
  const PawlKkt* kkt = w->kkt;
  w->solves = false;
  begin(w, number);
  clear(w, SUM);
  clear(w, GROWTH);
  load(w, LEAST, TABLE, PAWL_KKT_LINE_INFINITE);
  if (!w->text) {
    pawl_code_magnitude_mask(&w->code, MASK);
  }
  if (w->pins > 0) {
    load(w, P, TABLE, PAWL_KKT_LINE_INFINITE);
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
    clear(w, x);
    return;
  }
  load(w, x, base_of(w, unknown), index_of(w, unknown));
  scale(w, x, w->kkt->line->R + in_all(w, unknown));
}

static void give_solution(Writer* w, int x, int unknown) {
  scale(w, x, w->kkt->line->C + in_all(w, unknown));
  memory(w, PAWL_CODE_ADD, x, TABLE, PAWL_KKT_LINE_ZERO);
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
    memory(w, PAWL_CODE_MUL, k, VALUES, place(w, k, k));
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
  memory(w, PAWL_CODE_MUL, z, VALUES, kkt->block_J.place[pin->entry]);
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
  memory(w, PAWL_CODE_MUL, T, VALUES, kkt->block_B.place[pin->entry]);
  give_solution(w, T, kkt->n + pin->a);
}

static void write_solve(Writer* w, int number) {
  w->solves = true;
  begin(w, number);
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
// ---- all ----------------------------------------------------------------------------------------
static Writer begin_writer(PawlKkt* kkt, bool pinned) {
  Writer w = {.kkt = kkt, .size = kkt->dense_size, .pins = pinned ? kkt->pin_count : 0};
  if (w.pins > 0) {
    pawl_kkt_pins_list(kkt);
  }
  find_entries(&w);
  return w;
}

static void write_all(Writer* w, int first, size_t begins[PAWL_KKT_FUNCTIONS]) {
  for (int k = 0; k < PAWL_KKT_FUNCTIONS; k++) {
    begins[k] = w->code.size;
    w->rows_only = k == PAWL_KKT_LINE_FACTOR_ROWS || k == PAWL_KKT_LINE_SOLVE_ROWS;
    if (k == PAWL_KKT_LINE_SOLVE || k == PAWL_KKT_LINE_SOLVE_ROWS) {
      write_solve(w, first + k);
    } else if (k == PAWL_KKT_LINE_FACTOR || w->kkt->fixed) {
      write_factor(w, first + k);
    }
  }
}

void pawl_kkt_line_write_code(PawlKkt* kkt, bool pinned, PawlCode* code,
                              size_t begins[PAWL_KKT_FUNCTIONS]) {
  Writer w = begin_writer(kkt, pinned);
  w.code = *code;
  write_all(&w, 0, begins);
  *code = w.code;
}

bool pawl_kkt_line_write_source(PawlKkt* kkt, bool pinned, PawlText* out, int first) {
  size_t begins[PAWL_KKT_FUNCTIONS];
  Writer w = begin_writer(kkt, pinned);
  w.text = out;
  write_all(&w, first, begins);
  return !w.code.failed;
}
