// SPDX-License-Identifier: Apache-2.0
// Tapes as machine code. An interpreter spends most of its time on finding out what comes next; a
// tape is straight, so each instruction can be written as the few instructions of the processor
// that do it, one after the other. They are the ones that the interpreter executes, in the same
// order, so the bits are the same. What is not plain arithmetic calls a function for
// its operation.
//
// Values stay in registers of the processor from where they are computed to where they are read
// last. Where these are too few the one that is read latest goes to its place in memory, and so do
// all before a call; what other functions read goes there at once.
//
// For x86-64 with the calling convention of System V. Elsewhere, and where no memory may be
// executed, tapes are interpreted.
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include "expr/tape_native.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "expr/elementary.h"
#include "expr/tape_uses.h"

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(PAWL_NO_NATIVE)
#define HAS_NATIVE 1
#endif
// Tools that instrument every call want to see one they know.
#if defined(__SANITIZE_ADDRESS__)
#undef HAS_NATIVE
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef HAS_NATIVE
#endif
#endif

#ifndef HAS_NATIVE
int pawl_tape_compile(PawlTape* tape, const PawlTapeEnds* ends) {
  (void)tape;
  (void)ends;
  return 0;
}
void pawl_tape_discard(PawlTape* tape) {
  (void)tape;
}
#else
#include <sys/mman.h>

// xmm0 to xmm3 are for operands, calls and sums, xmm15 for the sign bit; the others keep values.
enum { FIRST_KEPT = 4, END_KEPT = 15, SIGN = 15 };
enum { EMPTY = -1, TAKEN = -2 };  // instead of a register of the tape; the second for a while

typedef struct Kept {  // what an xmm holds
  int reg;             // of the tape, or one of the above
  int next;            // the instruction that reads it next
  bool fresh;          // it is not in memory
} Kept;

typedef struct Writer {
  const PawlTape* tape;
  unsigned char* code;
  size_t size, capacity;
  Kept kept[END_KEPT];
  unsigned char* where;  // register of the tape -> the xmm that holds it, 0: none does
  PawlTapeUses* uses;    // of the function being written
  bool sign;             // xmm15 holds the sign bit
  bool fours;            // there is room on the stack for four sines and four cosines
  bool failed;
} Writer;

// ---- bytes --------------------------------------------------------------------------------------
static void put(Writer* w, int count, const unsigned char* bytes) {
  for (int k = 0; k < count && !w->failed; k++) {
    if (w->size == w->capacity) {
      w->failed = true;
    } else {
      w->code[w->size++] = bytes[k];
    }
  }
}

#define PUT(...) \
  put(w, (int)sizeof((const unsigned char[]){__VA_ARGS__}), (const unsigned char[]){__VA_ARGS__})

static void put_number(Writer* w, uint64_t value, int bytes) {
  for (int k = 0; k < bytes; k++) {
    PUT((unsigned char)(value >> (8 * k)));
  }
}

// ---- instructions of the processor --------------------------------------------------------------
// The second byte of scalar double operations: F2 0F op.
enum { LOAD = 0x10, STORE = 0x11, SQRT = 0x51, ADD = 0x58, MUL = 0x59, SUB = 0x5C, DIV = 0x5E };
enum { COPY = 0x28, COMPARE = 0x2E, XOR = 0x57 };  // 66 0F op
enum { SCALAR = 0xF2, PACKED = 0x66 };
// rbx holds the address of the registers of the tape.
enum { RAX = 0, RBX = 3, RSP = 4, RSI = 6 };
enum { ROOM_OF_FOUR = 8 * sizeof(double) };
enum { LOW = 7, EXTEND = 0x40, OF_X = 4, OF_Y = 1 };  // the fourth bit of a register is apart
enum { BYTE_OFFSET = 0x40, WORD_OFFSET = 0x80, BOTH_REGISTERS = 0xC0, REG_SHIFT = 3 };

// The place `offset` bytes from where a register of the processor points to.
static void put_offset(Writer* w, int x, int base, int64_t offset) {
  bool near = offset >= INT8_MIN && offset <= INT8_MAX;
  PUT((unsigned char)((near ? BYTE_OFFSET : WORD_OFFSET) | (x & LOW) << REG_SHIFT | base));
  if (base == RSP) {
    PUT(0x24);  // no index
  }
  put_number(w, (uint64_t)offset, near ? 1 : 4);
}

// Prefix, the fourth bits of xmm[x] and xmm[y] where they are set, operation.
static void put_op(Writer* w, int prefix, int op, int x, int y) {
  PUT((unsigned char)prefix);
  if (x > LOW || y > LOW) {
    PUT((unsigned char)(EXTEND | (x > LOW ? OF_X : 0) | (y > LOW ? OF_Y : 0)));
  }
  PUT(0x0F, (unsigned char)op);
}

// xmm[x] = xmm[x] op the place; LOAD: xmm[x] = the place; STORE: the place = xmm[x].
static void memory_at(Writer* w, int op, int x, int base, int64_t offset) {
  put_op(w, SCALAR, op, x, 0);
  put_offset(w, x, base, offset);
}

// The same with r[reg].
static void memory(Writer* w, int op, int x, int reg) {
  memory_at(w, op, x, RBX, (int64_t)reg * (int64_t)sizeof(double));
}

static void put_both(Writer* w, int prefix, int op, int x, int y) {
  put_op(w, prefix, op, x, y);
  PUT((unsigned char)(BOTH_REGISTERS | (x & LOW) << REG_SHIFT | (y & LOW)));
}

// xmm[x] = xmm[x] op xmm[y]
static void both(Writer* w, int op, int x, int y) {
  put_both(w, SCALAR, op, x, y);
}

static void copy(Writer* w, int x, int y) {
  put_both(w, PACKED, COPY, x, y);
}

// ---- values in registers of the processor -------------------------------------------------------
static void forget(Writer* w, int x) {
  if (w->kept[x].reg >= 0) {
    w->where[w->kept[x].reg] = 0;
  }
  w->kept[x] = (Kept){.reg = EMPTY};
}

// An xmm for a result: one that is free, or else that which is read latest, and not at `at`.
static int room(Writer* w, int at) {
  int latest = FIRST_KEPT;
  for (int x = FIRST_KEPT; x < END_KEPT; x++) {
    if (w->kept[x].reg == EMPTY) {
      latest = x;
      break;
    }
    latest = w->kept[x].next > w->kept[latest].next ? x : latest;
  }
  if (w->kept[latest].reg >= 0 && w->kept[latest].fresh) {
    memory(w, STORE, latest, w->kept[latest].reg);
  }
  forget(w, latest);
  w->kept[latest] = (Kept){.reg = TAKEN, .next = at};
  return latest;
}

// The xmm of an operand that is not read again, for the result; 0: it is not in one, or is read.
static int take(Writer* w, int at, int reg, int next) {
  int x = w->where[reg];
  if (x == 0 || next != PAWL_TAPE_NEVER) {
    return 0;
  }
  forget(w, x);
  w->kept[x] = (Kept){.reg = TAKEN, .next = at};
  return x;
}

static void fetch(Writer* w, int x, int reg) {
  if (w->where[reg]) {
    copy(w, x, w->where[reg]);
  } else {
    memory(w, LOAD, x, reg);
  }
}

static void apply(Writer* w, int op, int x, int reg) {
  if (w->where[reg]) {
    both(w, op, x, w->where[reg]);
  } else {
    memory(w, op, x, reg);
  }
}

// An operand has been read; the next time is `next`.
static void pass(Writer* w, int reg, int next) {
  int x = w->where[reg];
  if (x && next == PAWL_TAPE_NEVER) {
    forget(w, x);
  } else if (x) {
    w->kept[x].next = next;
  }
}

// xmm[x] is r[reg] from now on.
static void keep(Writer* w, int x, int reg, int first, bool lasts) {
  if (w->where[reg]) {
    forget(w, w->where[reg]);
  }
  if (lasts) {
    memory(w, STORE, x, reg);
  }
  w->kept[x] = (Kept){reg, first, !lasts};
  w->where[reg] = (unsigned char)x;
  if (first == PAWL_TAPE_NEVER) {
    forget(w, x);
  }
}

// Before a call, which keeps none of them.
static void put_away(Writer* w) {
  for (int x = FIRST_KEPT; x < END_KEPT; x++) {
    if (w->kept[x].reg >= 0 && w->kept[x].fresh) {
      memory(w, STORE, x, w->kept[x].reg);
    }
    forget(w, x);
  }
  w->sign = false;
}

// ---- functions ----------------------------------------------------------------------------------
static void start_function(Writer* w) {
  PUT(0xF3, 0x0F, 0x1E, 0xFA);  // endbr64
  PUT(0x53);                    // push rbx
  PUT(0x48, 0x89, 0xFB);        // mov rbx, rdi
  if (w->fours) {
    PUT(0x48, 0x83, 0xEC, ROOM_OF_FOUR);  // sub rsp, the room
  }
  w->sign = false;
}

static void end_function(Writer* w) {
  if (w->fours) {
    PUT(0x48, 0x83, 0xC4, ROOM_OF_FOUR);  // add rsp, the room
  }
  PUT(0x5B, 0xC3);  // pop rbx; ret
  for (int x = FIRST_KEPT; x < END_KEPT; x++) {
    forget(w, x);
  }
}

// ---- instructions of the tape -------------------------------------------------------------------
static bool is_inline(PawlTapeOp op) {
  return op == PAWL_TAPE_ADD || op == PAWL_TAPE_SUB || op == PAWL_TAPE_MUL ||
         op == PAWL_TAPE_MULADD || op == PAWL_TAPE_MULSUB || op == PAWL_TAPE_SUBMUL ||
         op == PAWL_TAPE_SQUARE || op == PAWL_TAPE_NEG || op == PAWL_TAPE_DIV ||
         op == PAWL_TAPE_SQRT;
}

// The xmm with a copy of operand k of an instruction, in its own where that is read no more, also
// not by the instruction itself as one of `others`.
static int take_copy(Writer* w, int at, int k, int other, int another) {
  const PawlInstruction* i = &w->tape->code[at];
  int reg = k == 0 ? i->a : k == 1 ? i->b : i->c;
  int x = reg == other || reg == another ? 0 : take(w, at, reg, w->uses[at].next[k]);
  if (!x) {
    x = room(w, at);
    fetch(w, x, reg);
  }
  return x;
}

// a op b in an xmm; c (-1: none) is still to be read.
static int two(Writer* w, int at, int op, int c) {
  const PawlInstruction* i = &w->tape->code[at];
  const int* next = w->uses[at].next;
  bool turned = op != SUB && i->a != i->b && i->b != c && w->where[i->b] &&
                next[1] == PAWL_TAPE_NEVER &&
                !(w->where[i->a] && next[0] == PAWL_TAPE_NEVER && i->a != c);
  int x = turned ? take_copy(w, at, 1, i->a, c) : take_copy(w, at, 0, i->b, c);
  apply(w, op, x, turned ? i->a : i->b);
  return x;
}

// a b + c, a b - c, c - a b
static int three(Writer* w, int at) {
  const PawlInstruction* i = &w->tape->code[at];
  int product = two(w, at, MUL, i->c);
  if (i->op != PAWL_TAPE_SUBMUL) {
    apply(w, i->op == PAWL_TAPE_MULSUB ? SUB : ADD, product, i->c);
    return product;
  }
  int x = take_copy(w, at, 2, -1, -1);
  both(w, SUB, x, product);
  forget(w, product);
  return x;
}

// The sign bit changes.
static int negative(Writer* w, int at) {
  if (!w->sign) {
    PUT(0x66, 0x45, 0x0F, 0x76, 0xFF);        // pcmpeqd xmm15, xmm15
    PUT(0x66, 0x41, 0x0F, 0x73, 0xF7, 0x3F);  // psllq xmm15, 63
    w->sign = true;
  }
  int x = take_copy(w, at, 0, -1, -1);
  put_both(w, PACKED, XOR, x, SIGN);
  return x;
}

// a / b; NaN where b is 0.
static int quotient(Writer* w, int at) {
  const PawlInstruction* i = &w->tape->code[at];
  int x = take_copy(w, at, 0, i->b, -1);
  fetch(w, 1, i->b);
  both(w, DIV, x, 1);
  put_both(w, PACKED, XOR, 0, 0);
  put_both(w, PACKED, COMPARE, 1, 0);
  PUT(0x75, 17, 0x7A, 15);                        // jne, jp: over the next two
  PUT(0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F);  // mov rax, NaN
  PUT(0x66, (unsigned char)(0x48 | (x > LOW ? OF_X : 0)), 0x0F, 0x6E,
      (unsigned char)(BOTH_REGISTERS | (x & LOW) << REG_SHIFT));  // movq xmm[x], rax
  return x;
}

static int root(Writer* w, int at) {
  int x = take_copy(w, at, 0, -1, -1);
  both(w, SQRT, x, x);
  return x;
}

static int square(Writer* w, int at) {
  int x = take_copy(w, at, 0, -1, -1);
  both(w, MUL, x, x);
  return x;
}

static void write_inline(Writer* w, int at) {
  const PawlInstruction* i = &w->tape->code[at];
  const PawlTapeUses* uses = &w->uses[at];
  const int operands[3] = {i->a, i->b, i->c};
  int x = i->op == PAWL_TAPE_ADD      ? two(w, at, ADD, -1)
          : i->op == PAWL_TAPE_SUB    ? two(w, at, SUB, -1)
          : i->op == PAWL_TAPE_MUL    ? two(w, at, MUL, -1)
          : i->op == PAWL_TAPE_SQUARE ? square(w, at)
          : i->op == PAWL_TAPE_NEG    ? negative(w, at)
          : i->op == PAWL_TAPE_DIV    ? quotient(w, at)
          : i->op == PAWL_TAPE_SQRT   ? root(w, at)
                                      : three(w, at);
  for (int k = 0; k < pawl_tape_operands(i); k++) {
    pass(w, operands[k], uses->next[k]);
  }
  keep(w, x, i->dst, uses->first[0], uses->lasts[0]);
}

static void call(Writer* w, void (*callee)(void)) {
  uint64_t address;
  memcpy(&address, &callee, sizeof address);
  PUT(0x48, 0xB8);  // mov rax, the address
  put_number(w, address, 8);
  PUT(0xFF, 0xD0);  // call rax
}
#define CALL(callee) call(w, (void (*)(void))(callee))

// callee(i, registers)
static void write_call(Writer* w, const PawlInstruction* i) {
  uint64_t argument;
  memcpy(&argument, &i, sizeof argument);
  PUT(0x48, 0xBF);  // mov rdi, i
  put_number(w, argument, 8);
  PUT(0x48, 0x89, 0xDE);  // mov rsi, rbx
  CALL(pawl_tape_runner(i->op));
}

// ---- sine, cosine, exp --------------------------------------------------------------------------
// Results come in xmm0 and xmm1.
static void write_elementary(Writer* w, int at) {
  const PawlInstruction* i = &w->tape->code[at];
  const PawlTapeUses* uses = &w->uses[at];
  fetch(w, 0, i->a);
  put_away(w);
  if (i->op == PAWL_TAPE_SINCOS) {
    CALL(pawl_sincos);
    int x = room(w, at);
    copy(w, x, 1);
    keep(w, x, i->b, uses->first[1], uses->lasts[1]);
  } else {
    CALL(i->op == PAWL_TAPE_SIN ? pawl_sin : i->op == PAWL_TAPE_COS ? pawl_cos : pawl_exp);
  }
  int x = room(w, at);
  copy(w, x, 0);
  keep(w, x, i->dst, uses->first[0], uses->lasts[0]);
}

// r[reg] = result k of four
static void take_result(Writer* w, int at, int k, int reg, int first, bool lasts) {
  int x = room(w, at);
  memory_at(w, LOAD, x, RSP, k * (int)sizeof(double));
  keep(w, x, reg, first, lasts);
}

// 2 to 4 instructions at once; the last argument fills up.
static void write_sines(Writer* w, int at, int count) {
  const PawlInstruction* i = &w->tape->code[at];
  for (int k = 0; k < 4; k++) {
    fetch(w, k, i[k < count ? k : count - 1].a);
  }
  put_away(w);
  PUT(0x48, 0x89, 0xE7);  // mov rdi, rsp
  CALL(pawl_sincos_four);
  for (int k = 0; k < count; k++) {
    const PawlTapeUses* uses = &w->uses[at + k];
    take_result(w, at, i[k].op == PAWL_TAPE_COS ? 4 + k : k, i[k].dst, uses->first[0],
                uses->lasts[0]);
    if (i[k].op == PAWL_TAPE_SINCOS) {
      take_result(w, at, 4 + k, i[k].b, uses->first[1], uses->lasts[1]);
    }
  }
}

// Whether any part has two sines or cosines to be computed at once.
static bool has_sines_at_once(const PawlTape* tape) {
  bool found = false;
  for (int p = 0; p < tape->part_count; p++) {
    int end = tape->parts[p].first + tape->parts[p].count;
    for (int at = tape->parts[p].first; at < end; at++) {
      found |= pawl_tape_sines_at_once(tape, at, end) > 1;
    }
  }
  return found;
}

// ---- one instruction ----------------------------------------------------------------------------
static void write_instruction(Writer* w, int at) {
  const PawlInstruction* i = &w->tape->code[at];
  if (pawl_tape_is_sine(i->op) || i->op == PAWL_TAPE_EXP) {
    write_elementary(w, at);
  } else if (is_inline(i->op)) {
    write_inline(w, at);
  } else {
    put_away(w);
    write_call(w, i);
  }
}

// ---- inputs and results -------------------------------------------------------------------------
// rsi points to the arrays by leaf, rax to the array of the leaf. What part 0 does not read goes to
// memory where others do.
static void write_load(Writer* w, const PawlTapeReaders* readers) {
  const PawlTape* tape = w->tape;
  int leaf = -1;
  for (int k = 0; k < tape->input_count; k++) {
    PawlTapeInput input = tape->inputs[k];
    int reg = tape->constant_count + k;
    if (input.leaf == PAWL_OP_TURN ||
        (readers->next[reg] == PAWL_TAPE_NEVER && !pawl_tape_lasts(readers, reg))) {
      continue;
    }
    if ((int)input.leaf != leaf) {
      leaf = (int)input.leaf;
      PUT(0x48, 0x8B);  // mov rax, [rsi + 8 leaf]
      put_offset(w, RAX, RSI, (int64_t)leaf * (int64_t)sizeof(double*));
    }
    int x = room(w, -1);
    memory_at(w, LOAD, x, RAX, (int64_t)input.index * (int64_t)sizeof(double));
    keep(w, x, reg, readers->next[reg], pawl_tape_lasts(readers, reg));
  }
}

// rax holds `base`; places further away than an offset reaches get a base of their own.
static int64_t reach_place(Writer* w, const PawlTapeTarget* target, const double** base) {
  intptr_t at = (intptr_t)target->place, from = (intptr_t)*base;
  if (!*base || at - from < INT32_MIN || at - from > INT32_MAX) {
    PUT(0x48, 0xB8);  // mov rax, the place
    put_number(w, (uint64_t)at, 8);
    *base = target->place;
    return 0;
  }
  return at - from;
}

// xmm2 sums value - value.
static void write_add(Writer* w, int count, const PawlTapeTarget* targets) {
  const double* base = NULL;
  put_both(w, PACKED, XOR, 2, 2);
  for (int k = 0; k < count; k++) {
    fetch(w, 0, targets[k].reg);
    copy(w, 1, 0);
    both(w, SUB, 1, 1);
    both(w, ADD, 2, 1);
    int64_t offset = reach_place(w, &targets[k], &base);
    if (!targets[k].assigns) {
      memory_at(w, ADD, 0, RAX, offset);
    }
    memory_at(w, STORE, 0, RAX, offset);
  }
  copy(w, 0, 2);
}

static void write_body(Writer* w, PawlTapePart part) {
  int end = part.first + part.count;
  for (int at = part.first; at < end; at++) {
    int sines = pawl_tape_sines_at_once(w->tape, at, end);
    if (sines > 1) {
      write_sines(w, at, sines);
      at += sines - 1;
    } else {
      write_instruction(w, at);
    }
  }
}

// double whole(rdi: registers, rsi: arrays by leaf), double add(rdi: registers)
static void write_ends(Writer* w, PawlTapeReaders* readers, size_t* start) {
  const PawlTapeEnds* ends = readers->ends;
  for (int k = 0; k < ends->count; k++) {
    int part = k > 0 ? w->tape->own_part[k - 1] : 0;
    start[k] = w->size;
    start_function(w);
    pawl_tape_uses(readers, part, k, w->uses);
    if (k == 0) {
      write_load(w, readers);
    }
    if (part >= 0) {
      write_body(w, w->tape->parts[part]);
    }
    write_add(w, ends->start[k + 1] - ends->start[k], ends->targets + ends->start[k]);
    end_function(w);
  }
}

// ---- the whole ----------------------------------------------------------------------------------
static size_t most_bytes(const PawlTape* tape, const PawlTapeEnds* ends) {
  enum { OF_ONE = 96, OF_FUNCTION = 32, PAGE = 4096 };  // no instruction takes more
  int functions = tape->part_count + ends->count;
  int ones = 2 * tape->instruction_count + tape->input_count + ends->start[ends->count];
  size_t bytes = (size_t)ones * OF_ONE + (size_t)functions * OF_FUNCTION;
  return (bytes + PAGE - 1) / PAGE * PAGE;
}

// The offset of each part's function.
static void write_parts(Writer* w, PawlTapeReaders* readers, size_t* start) {
  for (int p = 0; p < w->tape->part_count; p++) {
    pawl_tape_uses(readers, p, -1, w->uses);
    start[p] = w->size;
    start_function(w);
    write_body(w, w->tape->parts[p]);
    end_function(w);
  }
}

// memcpy: a pointer to data becomes one to code.
#define POINT(to, from) memcpy(&(to), &(unsigned char*){from}, sizeof(unsigned char*))

static void point_to_code(PawlTape* tape, const PawlTapeEnds* ends, unsigned char* code,
                          const size_t* start) {
  for (int p = 0; p < tape->part_count; p++) {
    POINT(tape->parts[p].code, code + start[p]);
  }
  if (ends->count > 0) {
    POINT(tape->whole, code + start[tape->part_count]);
  }
  for (int k = 1; k < ends->count; k++) {
    POINT(ends->adds[k - 1], code + start[tape->part_count + k]);
  }
}

static int write_tape(PawlTape* tape, const PawlTapeEnds* ends, void* memory_of_code,
                      size_t bytes) {
  Writer w = {
      .tape = tape, .code = memory_of_code, .capacity = bytes, .fours = has_sines_at_once(tape)};
  PawlTapeReaders readers;
  size_t* start = pawl_alloc((size_t)(tape->part_count + ends->count), sizeof *start);
  w.where = pawl_alloc((size_t)tape->register_count + 1, 1);
  w.uses = pawl_alloc((size_t)tape->instruction_count, sizeof *w.uses);
  for (int x = FIRST_KEPT; x < END_KEPT; x++) {
    w.kept[x].reg = EMPTY;
  }
  int failed = pawl_tape_readers_create(&readers, tape, ends);
  failed = start && w.where && w.uses ? failed : -1;
  if (!failed) {
    write_parts(&w, &readers, start);
    write_ends(&w, &readers, start + tape->part_count);
  }
  bool good = !failed && !w.failed && mprotect(memory_of_code, bytes, PROT_READ | PROT_EXEC) == 0;
  if (good) {
    point_to_code(tape, ends, w.code, start);
  }
  tape->native = good ? memory_of_code : NULL;
  tape->native_bytes = bytes;
  pawl_free(start);
  pawl_free(w.where);
  pawl_free(w.uses);
  pawl_tape_readers_free(&readers);
  return failed;
}

// Whether the offsets of all registers and inputs fit into 32 bits.
static bool is_far(const PawlTape* tape) {
  int64_t most = tape->register_count;
  for (int k = 0; k < tape->input_count; k++) {
    most = tape->inputs[k].index > most ? tape->inputs[k].index : most;
  }
  return most * (int64_t)sizeof(double) > INT32_MAX;
}

int pawl_tape_compile(PawlTape* tape, const PawlTapeEnds* ends) {
  static const int none = 0;
  PawlTapeEnds nothing = {0, &none, NULL, NULL};
  ends = ends ? ends : &nothing;
  size_t bytes = most_bytes(tape, ends);
  if (tape->native || is_far(tape)) {
    return 0;
  }
  void* code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) {
    return 0;
  }
  int failed = write_tape(tape, ends, code, bytes);
  if (!tape->native) {
    munmap(code, bytes);
  }
  return failed;
}

void pawl_tape_discard(PawlTape* tape) {
  if (tape->native) {
    munmap(tape->native, tape->native_bytes);
    tape->native = NULL;
  }
}
#endif
