// SPDX-License-Identifier: Apache-2.0
// Machine code of kkt_script.c: the schedule of kkt_plan.c with all sizes and places written out,
// entries taken from where they are given, and operations with numbers that are always zero left
// out. They are those of kkt_blocks.c and kkt_wide.c in the same order. Two nodes side by side are
// two lanes of each operation.
#include <string.h>

#include "linalg/kkt_script.h"

enum { MOST_PIVOTS = PAWL_KKT_SCRIPT_PIVOTS, MOST_OF_L = 7 };  // numbers that are in registers
// Those behind MOST_OF_L; the last four are behind MOST_PIVOTS, too.
enum { MASK = MOST_OF_L, GROWTH, LEAST, MOST, SUM, T, P, X, F };

// Arguments of the code: values and table are the first two.
enum { VALUES = PAWL_CODE_RDI, TABLE = PAWL_CODE_RSI };
enum { OF_S = PAWL_CODE_RDX, OF_B = PAWL_CODE_RCX, OF_J = PAWL_CODE_R8 };
enum { OF_X = PAWL_CODE_RDX, OF_Y = PAWL_CODE_RCX, OF_W = PAWL_CODE_R8 };

typedef enum State {
  EMPTY,  // always zero
  GIVEN,  // what was given, not yet placed
  STORED  // in its place
} State;

typedef PawlKktScriptSource Source;
typedef PawlKktScriptField Field;

typedef struct Writer {
  PawlCode code;
  const PawlKkt* kkt;
  const PawlKktBlocks* b;
  PawlKktScript* script;
  bool even, wide;
  Field values, w;
} Writer;

// The place of one factor, or of two side by side, of which the first is even.
static int factor_place(Writer* w, const double* a, const double* b) {
  PawlKktScript* s = w->script;
  if (s->count + 3 > s->capacity) {
    w->code.failed = true;
    return 0;
  }
  if (b && s->count % 2 != 0) {
    s->from[s->count++] = a;  // nobody reads it
  }
  s->from[s->count++] = a;
  if (b) {
    s->from[s->count++] = b;
  }
  return s->count - (b ? 2 : 1);
}

// ---- instructions -------------------------------------------------------------------------------
static PawlCodeOp wide_op(const Writer* w, PawlCodeOp op) {
  enum { ONE_DOUBLE = 0xF200, TWO_DOUBLES = 0x6600 };
  return w->wide ? (PawlCodeOp)(op - ONE_DOUBLE + TWO_DOUBLES) : op;
}

static void both(Writer* w, PawlCodeOp op, int x, int y) {
  bool bits = op == PAWL_CODE_AND || op == PAWL_CODE_XOR || op == PAWL_CODE_COPY;
  pawl_code_both(&w->code, bits ? op : wide_op(w, op), x, y);
}

static void one(Writer* w, PawlCodeOp op, int x, int base, int index) {
  pawl_code_memory(&w->code, op, x, base, index);
}

// Of both lanes, next to each other in memory. Operations read from even places alone.
static void memory(Writer* w, PawlCodeOp op, int x, int base, int index) {
  bool moves = op == PAWL_CODE_LOAD || op == PAWL_CODE_STORE;
  if (w->wide && !moves && index % 2 != 0) {
    one(w, wide_op(w, PAWL_CODE_LOAD), P, base, index);
    both(w, op, x, P);
  } else {
    one(w, wide_op(w, op), x, base, index);
  }
}

static void constant(Writer* w, PawlCodeOp op, int x, int number) {
  memory(w, op, x, TABLE, 2 * number);
}

// An entry that was given, without symmetry: the largest is looked at. x is not P.
static void judge_entry(Writer* w, const Field* f, int x) {
  if (!w->even && f == &w->values) {
    both(w, PAWL_CODE_COPY, P, x);
    both(w, PAWL_CODE_AND, P, MASK);
    both(w, PAWL_CODE_MAX, MOST, P);
    both(w, PAWL_CODE_ADD, SUM, P);
  }
}

// x is not P.
static void load_one(Writer* w, const Field* f, int x, int place) {
  Source s = f->source[place];
  bool wide = w->wide;
  switch ((State)f->state[place]) {
    case EMPTY:
      pawl_code_both(&w->code, PAWL_CODE_XOR, x, x);
      break;
    case GIVEN:
      one(w, PAWL_CODE_LOAD, x, s.base, s.index);
      one(w, PAWL_CODE_MUL, x, TABLE, factor_place(w, s.factor, NULL));
      w->wide = false;
      judge_entry(w, f, x);
      w->wide = wide;
      break;
    case STORED:
      one(w, PAWL_CODE_LOAD, x, f->base, place);
      break;
  }
}

// Of both lanes, from a and b. x is not P, nor F where numbers are given.
static void load_both(Writer* w, const Field* f, int x, int a, int b) {
  State of_a = f->state[a], of_b = f->state[b];
  if (of_a == STORED && of_b == STORED && b == a + 1) {
    memory(w, PAWL_CODE_LOAD, x, f->base, a);
  } else if (of_a == GIVEN && of_b == GIVEN) {
    Source s = f->source[a], t = f->source[b];
    one(w, PAWL_CODE_LOAD, x, s.base, s.index);
    one(w, PAWL_CODE_LOAD_HIGH, x, t.base, t.index);
    memory(w, PAWL_CODE_MUL, x, TABLE, factor_place(w, s.factor, t.factor));
    judge_entry(w, f, x);
  } else {
    int second = of_b == GIVEN && f == &w->values ? F : P;  // what is judged is not P
    load_one(w, f, x, a);
    load_one(w, f, second, b);
    pawl_code_both(&w->code, PAWL_CODE_LOW_TO_HIGH, x, second);
  }
}

static void load(Writer* w, const Field* f, int x, int place) {
  if (w->wide) {
    load_both(w, f, x, place, place + 1);
  } else {
    load_one(w, f, x, place);
  }
}

static void store(Writer* w, Field* f, int x, int place) {
  memory(w, PAWL_CODE_STORE, x, f->base, place);
  f->state[place] = STORED;
  f->state[place + (w->wide ? 1 : 0)] = STORED;
}

static bool is_live(const Writer* w, const Field* f, int place) {
  return f->state[place] != EMPTY || (w->wide && f->state[place + 1] != EMPTY);
}

// field[a] op= x, of one lane.
static void change_one(Writer* w, Field* f, PawlCodeOp op, int a, int x) {
  load_one(w, f, T, a);
  pawl_code_both(&w->code, op, T, x);
  one(w, PAWL_CODE_STORE, T, f->base, a);
  f->state[a] = STORED;
}

// The same of all lanes; x is lost. b: the place of the second lane.
static void change(Writer* w, Field* f, PawlCodeOp op, int a, int b, int x) {
  if (w->wide && b == a + 1) {
    load_both(w, f, T, a, b);
    both(w, op, T, x);
    store(w, f, T, a);
  } else {
    change_one(w, f, op, a, x);
    if (w->wide) {
      pawl_code_both(&w->code, PAWL_CODE_HIGH_TO_LOW, x, x);
      change_one(w, f, op, b, x);
    }
  }
}

// x = y times memory
static void product(Writer* w, int x, int y, int base, int index) {
  both(w, PAWL_CODE_COPY, x, y);
  memory(w, PAWL_CODE_MUL, x, base, index);
}

static void begin(Writer* w) {
  PAWL_CODE_PUT(&w->code, 0xF3, 0x0F, 0x1E, 0xFA);  // endbr64
}

static void finish(Writer* w) {
  PAWL_CODE_PUT(&w->code, 0xC3);  // ret
}

// ---- the numbers of a node ----------------------------------------------------------------------
static int in_U(const PawlKktNode* node, int k, int c) {
  return node->U + node->step * (k * (node->p + node->r) + c);
}

static int in_L(const PawlKktNode* node, int k, int i) {
  return node->L + node->step * (k * node->r + i);
}

static bool U_lives(const Writer* w, const PawlKktNode* node, int k, int c) {
  return is_live(w, &w->values, in_U(node, k, c));
}

static bool L_lives(const Writer* w, const PawlKktNode* node, int k, int i) {
  return w->even ? U_lives(w, node, k, node->p + i) : is_live(w, &w->values, in_L(node, k, i));
}

// ---- judgement ----------------------------------------------------------------------------------
// T = |x|
static void take_size(Writer* w, int x) {
  both(w, PAWL_CODE_COPY, T, x);
  both(w, PAWL_CODE_AND, T, MASK);
}

static void judge_growth(Writer* w, int x) {
  if (!w->even) {
    take_size(w, x);
    both(w, PAWL_CODE_MAX, GROWTH, T);
  }
}

// Of the pivot x: with symmetry the least, else the least of sizes.
static void judge_pivot(Writer* w, int x) {
  if (w->even) {
    both(w, PAWL_CODE_ADD, SUM, x);
    both(w, PAWL_CODE_COPY, T, x);
  } else {
    take_size(w, x);
  }
  both(w, PAWL_CODE_MIN, T, LEAST);  // in this order a NaN leaves the least as it was
  pawl_code_both(&w->code, w->wide ? PAWL_CODE_COPY : PAWL_CODE_LOAD, LEAST, T);  // of its lane
}

// With symmetry: the diagonal of S, and that of J S^-1 J^T when all masses are eliminated.   (K15)
static void judge_diagonal(Writer* w, int x) {
  if (w->even) {
    both(w, PAWL_CODE_MAX, MOST, x);
    both(w, PAWL_CODE_ADD, SUM, x);
  }
}

static void judge_rows(Writer* w) {
  const PawlKktBlocks* b = w->b;
  for (int s = 0; s < b->count; s += b->nodes[s].step) {
    const PawlKktNode* node = &b->nodes[s];
    w->wide = node->step > 1;
    for (int k = 0; node->first >= w->kkt->n && k < node->p; k++) {
      int place = in_U(node, k, k);
      w->code.failed |= w->values.state[place] != STORED;  // nothing moves in a row
      load(w, &w->values, X, place);
      judge_diagonal(w, X);
    }
  }
}

// One lane takes what both have.
static void join_lanes(Writer* w, PawlCodeOp op, int x) {
  pawl_code_both(&w->code, PAWL_CODE_COPY, T, x);
  pawl_code_both(&w->code, PAWL_CODE_HIGH_TO_LOW, T, T);
  pawl_code_both(&w->code, op, x, T);
}

// To the end when the flags say so; returns where the distance is to be written.
static size_t leave(Writer* w, unsigned char condition) {
  PAWL_CODE_PUT(&w->code, condition, 0);
  return w->code.size - 1;
}

static void judge(Writer* w) {
  enum { IF_NOT_ABOVE = 0x76, IF_BELOW = 0x72 };
  size_t out[4];
  w->wide = false;
  join_lanes(w, PAWL_CODE_MIN, LEAST);
  join_lanes(w, PAWL_CODE_MAX, MOST);
  join_lanes(w, PAWL_CODE_ADD, SUM);
  join_lanes(w, PAWL_CODE_MAX, GROWTH);
  PAWL_CODE_PUT(&w->code, 0x31, 0xC0);  // xor eax, eax
  constant(w, PAWL_CODE_LOAD, T, PAWL_KKT_SCRIPT_FINITE);
  both(w, PAWL_CODE_COMPARE, T, SUM);  // also below what is not a number
  out[0] = leave(w, IF_BELOW);
  constant(w, PAWL_CODE_LOAD, T, PAWL_KKT_SCRIPT_LARGEST);
  both(w, PAWL_CODE_COMPARE, T, MOST);
  out[1] = leave(w, IF_BELOW);
  constant(w, PAWL_CODE_LOAD, T, PAWL_KKT_SCRIPT_GROWTH);
  if (w->even) {
    constant(w, PAWL_CODE_MUL, T, PAWL_KKT_SCRIPT_GROWTH);
    both(w, PAWL_CODE_MUL, T, LEAST);
    both(w, PAWL_CODE_COPY, GROWTH, MOST);
  }
  both(w, PAWL_CODE_COMPARE, T, GROWTH);
  out[2] = leave(w, IF_BELOW);
  constant(w, PAWL_CODE_LOAD, T, PAWL_KKT_SCRIPT_ONE);
  both(w, PAWL_CODE_MAX, T, MOST);
  constant(w, PAWL_CODE_MUL, T, PAWL_KKT_SCRIPT_SMALLEST);
  both(w, PAWL_CODE_COMPARE, LEAST, T);
  out[3] = leave(w, IF_NOT_ABOVE);
  PAWL_CODE_PUT(&w->code, 0xB8, 1, 0, 0, 0);  // mov eax, 1
  for (int k = 0; k < 4 && !w->code.failed; k++) {
    w->code.at[out[k]] = (unsigned char)(w->code.size - out[k] - 1);
  }
  finish(w);
}

// ---- factorisation ------------------------------------------------------------------------------
// Numbers of the node that are given go to their places.
static void place_given(Writer* w, int place, bool diagonal) {
  Field* f = &w->values;
  if (is_live(w, f, place) &&
      (f->state[place] != STORED || (w->wide && f->state[place + 1] != STORED))) {
    load(w, f, X, place);
    if (diagonal) {
      judge_diagonal(w, X);
    }
    store(w, f, X, place);
  }
}

static void place_node(Writer* w, const PawlKktNode* node) {
  for (int k = 0; k < node->p; k++) {
    for (int c = w->even ? k : 0; c < node->p + node->r; c++) {
      place_given(w, in_U(node, k, c), c == k);
    }
    for (int i = 0; !w->even && i < node->r; i++) {
      place_given(w, in_L(node, k, i), false);
    }
  }
}

// place -= F memory[of]
static void subtract_scaled(Writer* w, int place, int of) {
  product(w, X, F, VALUES, of);
  load(w, &w->values, T, place);
  both(w, PAWL_CODE_SUB, T, X);
  store(w, &w->values, T, place);
}

// Row i gets the part of row k, whose inverse pivot is in register 0.
static void eliminate_row(Writer* w, const PawlKktNode* node, int k, int i) {
  int p = node->p, r = node->r;
  if (w->even ? U_lives(w, node, k, i) : U_lives(w, node, i, k)) {
    int at = w->even ? in_U(node, k, i) : in_U(node, i, k);
    product(w, F, 0, VALUES, at);
    if (!w->even) {
      store(w, &w->values, F, at);
      judge_growth(w, F);
    }
    for (int c = w->even ? i : k + 1; c < p + r; c++) {
      if (U_lives(w, node, k, c)) {
        subtract_scaled(w, in_U(node, i, c), in_U(node, k, c));
      }
    }
  }
  if (!w->even && U_lives(w, node, k, i)) {
    memory(w, PAWL_CODE_LOAD, F, VALUES, in_U(node, k, i));
    for (int c = 0; c < r; c++) {
      if (L_lives(w, node, k, c)) {
        subtract_scaled(w, in_L(node, i, c), in_L(node, k, c));
      }
    }
  }
}

static void write_pivot(Writer* w, const PawlKktNode* node, int k) {
  int place = in_U(node, k, k);
  w->code.failed |= !is_live(w, &w->values, place);
  load(w, &w->values, X, place);
  judge_pivot(w, X);
  constant(w, PAWL_CODE_LOAD, 0, PAWL_KKT_SCRIPT_ONE);
  both(w, PAWL_CODE_DIV, 0, X);
  store(w, &w->values, 0, place);
  for (int i = 0; !w->even && i < node->r; i++) {
    if (L_lives(w, node, k, i)) {
      product(w, X, 0, VALUES, in_L(node, k, i));
      store(w, &w->values, X, in_L(node, k, i));
      judge_growth(w, X);
    }
  }
  for (int i = k + 1; i < node->p; i++) {
    eliminate_row(w, node, k, i);
  }
}

// x: number i of row k of the rest of L.                                                    (K11)
static void load_L(Writer* w, const PawlKktNode* node, int k, int i, int x) {
  if (!w->even) {
    memory(w, PAWL_CODE_LOAD, x, VALUES, in_L(node, k, i));
    return;
  }
  memory(w, PAWL_CODE_LOAD, x, VALUES, in_U(node, k, k));
  if (pawl_kkt_sign(w->b, node) < 0.0) {
    constant(w, PAWL_CODE_MUL, x, PAWL_KKT_SCRIPT_MINUS);
  }
  memory(w, PAWL_CODE_MUL, x, VALUES, in_U(node, k, node->p + i));
}

// X: number i, c of L U. Of few pivots column i of L is in registers. False: it is always zero.
static bool write_product(Writer* w, const PawlKktNode* node, int i, int c) {
  bool any = false;
  for (int k = 0; k < node->p; k++) {
    if (L_lives(w, node, k, i) && U_lives(w, node, k, node->p + c)) {
      int x = any ? F : X;
      if (node->p <= MOST_OF_L) {
        both(w, PAWL_CODE_COPY, x, k);
      } else {
        load_L(w, node, k, i, x);
      }
      memory(w, PAWL_CODE_MUL, x, VALUES, in_U(node, k, node->p + c));
      if (any) {
        both(w, PAWL_CODE_ADD, X, F);
      }
      any = true;
    }
  }
  return any;
}

// What the node takes from later ones.
static void write_products(Writer* w, const PawlKktNode* node) {
  int r = node->r;
  const int *place = w->b->plan + node->plan, *beside = place + r * r;
  for (int i = 0; i < r; i++) {
    for (int k = 0; node->p <= MOST_OF_L && k < node->p; k++) {
      if (L_lives(w, node, k, i)) {
        load_L(w, node, k, i, k);
      }
    }
    for (int c = w->even ? i : 0; c < r; c++) {
      if (write_product(w, node, i, c)) {
        change(w, &w->values, PAWL_CODE_SUB, place[i * r + c], w->wide ? beside[i * r + c] : 0, X);
      }
    }
  }
}

static void write_factor(Writer* w) {
  const PawlKktBlocks* b = w->b;
  bool masses = true;
  begin(w);
  w->wide = true;
  for (int x = GROWTH; x <= SUM; x++) {
    both(w, PAWL_CODE_XOR, x, x);
  }
  constant(w, PAWL_CODE_LOAD, LEAST, PAWL_KKT_SCRIPT_FINITE);
  pawl_code_magnitude_mask(&w->code, MASK);
  for (int s = 0; s < b->count; s += b->nodes[s].step) {
    const PawlKktNode* node = &b->nodes[s];
    if (masses && node->first >= w->kkt->n) {
      masses = false;
      if (w->even) {
        judge_rows(w);
      }
    }
    w->wide = node->step > 1;
    place_node(w, node);
    for (int k = 0; k < node->p; k++) {
      write_pivot(w, node, k);
    }
    write_products(w, node);
  }
  judge(w);
}

// ---- solution -----------------------------------------------------------------------------------
static void write_down(Writer* w, const PawlKktNode* node) {
  int p = node->p, r = node->r;
  const int *rest = w->b->rest + node->rest, *beside = rest + r;
  for (int k = 0; k < p; k++) {
    load(w, &w->w, k, node->spot + node->step * k);
  }
  for (int k = 0; k < p; k++) {
    if (w->even) {
      memory(w, PAWL_CODE_MUL, k, VALUES, in_U(node, k, k));
    }
    for (int i = k + 1; i < p; i++) {
      if (w->even ? U_lives(w, node, k, i) : U_lives(w, node, i, k)) {
        product(w, X, k, VALUES, w->even ? in_U(node, k, i) : in_U(node, i, k));
        both(w, PAWL_CODE_SUB, i, X);
      }
    }
    store(w, &w->w, k, node->spot + node->step * k);
  }
  for (int i = 0; i < r; i++) {
    bool any = false;
    for (int k = 0; k < p; k++) {
      if (L_lives(w, node, k, i)) {
        product(w, any ? F : X, k, VALUES, w->even ? in_U(node, k, p + i) : in_L(node, k, i));
        if (any) {
          both(w, PAWL_CODE_ADD, X, F);
        }
        any = true;
      }
    }
    if (any) {  // minus -1 times the sum is plus the sum
      bool plus = w->even && pawl_kkt_sign(w->b, node) < 0.0;
      change(w, &w->w, plus ? PAWL_CODE_ADD : PAWL_CODE_SUB, rest[i], w->wide ? beside[i] : 0, X);
    }
  }
}

// An unknown of the solution, scaled; a zero has no sign.
static void give(Writer* w, const PawlKktNode* node, int k, int x) {
  const PawlKkt* kkt = w->kkt;
  int at = node->spot + node->step * k, a = w->script->unknown[at],
      b = w->wide ? w->script->unknown[at + 1] : -1;
  memory(w, PAWL_CODE_MUL, x, TABLE,
         factor_place(w, kkt->col_scale + a, w->wide ? kkt->col_scale + b : NULL));
  constant(w, PAWL_CODE_ADD, x, PAWL_KKT_SCRIPT_ZERO);
  one(w, PAWL_CODE_STORE, x, a < kkt->n ? OF_X : OF_Y, a < kkt->n ? a : a - kkt->n);
  if (w->wide) {
    one(w, PAWL_CODE_STORE_HIGH, x, b < kkt->n ? OF_X : OF_Y, b < kkt->n ? b : b - kkt->n);
  }
}

// Registers 0 .. p - 1: with symmetry what rows of U take from each, else what is left of it.
static void go_up(Writer* w, const PawlKktNode* node, bool* any) {
  int p = node->p, r = node->r;
  const int *rest = w->b->rest + node->rest, *beside = rest + r;
  for (int i = 0; i < r; i++) {
    if (w->wide) {
      load_both(w, &w->w, F, rest[i], beside[i]);
    } else {
      load_one(w, &w->w, F, rest[i]);
    }
    for (int k = 0; k < p; k++) {
      if (U_lives(w, node, k, p + i)) {
        product(w, any[k] ? X : k, F, VALUES, in_U(node, k, p + i));
        if (any[k]) {
          both(w, w->even ? PAWL_CODE_ADD : PAWL_CODE_SUB, k, X);
        }
        any[k] = true;
      }
    }
  }
}

static void write_up(Writer* w, const PawlKktNode* node) {
  int p = node->p;
  bool any[MOST_PIVOTS] = {false};
  for (int k = 0; !w->even && k < p; k++) {
    load(w, &w->w, k, node->spot + node->step * k);
    any[k] = true;
  }
  go_up(w, node, any);
  for (int k = p - 1; k >= 0; k--) {
    int at = node->spot + node->step * k;
    for (int i = k + 1; i < p; i++) {
      if (U_lives(w, node, k, i)) {
        product(w, any[k] ? X : k, i, VALUES, in_U(node, k, i));
        if (any[k]) {
          both(w, w->even ? PAWL_CODE_ADD : PAWL_CODE_SUB, k, X);
        }
        any[k] = true;
      }
    }
    if (!w->even) {
      memory(w, PAWL_CODE_MUL, k, VALUES, in_U(node, k, k));
    } else if (any[k]) {
      memory(w, PAWL_CODE_MUL, k, VALUES, in_U(node, k, k));
      load(w, &w->w, X, at);
      both(w, PAWL_CODE_SUB, X, k);
      both(w, PAWL_CODE_COPY, k, X);
    } else {
      load(w, &w->w, k, at);
    }
    if (node->first >= w->kkt->n || w->b->mirror_count < 0) {  // whole masses are not read again
      store(w, &w->w, k, at);
    }
  }
  for (int k = 0; k < p; k++) {
    give(w, node, k, k);
  }
}

static void write_solve(Writer* w) {
  const PawlKktBlocks* b = w->b;
  begin(w);
  for (int s = 0; s < b->count; s += b->nodes[s].step) {
    w->wide = b->nodes[s].step > 1;
    write_down(w, &b->nodes[s]);
  }
  for (int s = b->count - 1; s >= 0; s--) {
    const PawlKktNode* node = &b->nodes[s];
    w->wide = node->step > 1;
    s -= w->wide ? 1 : 0;
    write_up(w, &b->nodes[s]);
  }
  finish(w);
}

// ---- both ---------------------------------------------------------------------------------------
static void give_entries(Writer* w, const PawlKktBlock* block, const int* place, int base) {
  for (int k = 0; k < block->count; k++) {
    w->values.state[place[k]] = GIVEN;
    w->values.source[place[k]] = (Source){base, k, block->factor + k};
  }
}

// Nothing is stored yet.
static void begin_fields(Writer* w) {
  const PawlKkt* kkt = w->kkt;
  const PawlKktBlocks* b = w->b;
  int n = kkt->n;
  memset(w->values.state, EMPTY, b->value_count);
  give_entries(w, &kkt->block_S, kkt->block_S.place, OF_S);
  give_entries(w, &kkt->block_B, b->has_homes ? b->home_B : kkt->block_B.place, OF_B);
  if (!w->even) {
    give_entries(w, &kkt->block_J, b->has_homes ? b->home_J : kkt->block_J.place, OF_J);
  }
  for (int k = 0; k < kkt->size; k++) {
    int at = b->at[k];
    w->w.state[at] = GIVEN;
    w->w.source[at] = (Source){k < n ? OF_X : OF_Y, k < n ? k : k - n, kkt->row_scale + k};
  }
}

void pawl_kkt_script_write(const PawlKkt* kkt, PawlKktScript* script, bool even, PawlCode* code,
                           size_t* solve) {
  Writer w = {.code = *code,
              .kkt = kkt,
              .b = kkt->blocks,
              .script = script,
              .even = even,
              .values = script->values,
              .w = script->w};
  w.values.base = VALUES;
  w.w.base = OF_W;
  begin_fields(&w);
  write_factor(&w);
  *solve = w.code.size;
  write_solve(&w);
  *code = w.code;
}
