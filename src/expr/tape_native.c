// SPDX-License-Identifier: Apache-2.0
// Tapes as machine code. An interpreter spends most of its time on finding out what comes next; a
// tape is straight, so each instruction can be written as the few instructions of the processor
// that do it, one after the other. They are the ones that the interpreter executes, in the same
// order, so the bits are the same. What is not plain arithmetic calls a function for
// its operation.
//
// For x86-64 with the calling convention of System V. Elsewhere, and where no memory may be
// executed, tapes are interpreted.
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include "expr/tape_native.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "expr/elementary.h"

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

typedef struct Writer {
  const PawlTape* tape;
  unsigned char* code;
  size_t size, capacity;
  int held;               // tape register whose value is in xmm0, -1 without
  unsigned char* stores;  // instruction -> its result is read from memory
  bool fours;             // there is room on the stack for four sines and four cosines
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
enum { LOAD = 0x10, STORE = 0x11, ADD = 0x58, MUL = 0x59, SUB = 0x5C };
// rbx holds the address of the registers of the tape.
enum { RAX = 0, RBX = 3, RSI = 6 };
enum { ROOM_OF_FOUR = 8 * sizeof(double) };
enum { BYTE_OFFSET = 0x40, WORD_OFFSET = 0x80, BOTH_REGISTERS = 0xC0, REG_SHIFT = 3 };

// The place `offset` bytes from where a register of the processor points to.
static void put_offset(Writer* w, int x, int base, int64_t offset) {
  bool near = offset >= INT8_MIN && offset <= INT8_MAX;
  PUT((unsigned char)((near ? BYTE_OFFSET : WORD_OFFSET) | x << REG_SHIFT | base));
  put_number(w, (uint64_t)offset, near ? 1 : 4);
}

static void put_place(Writer* w, int x, int reg) {
  put_offset(w, x, RBX, (int64_t)reg * (int64_t)sizeof(double));
}

// xmm[x] = xmm[x] op the place; LOAD: xmm[x] = the place; STORE: the place = xmm[x].
static void memory_at(Writer* w, int op, int x, int base, int64_t offset) {
  PUT(0xF2, 0x0F, (unsigned char)op);
  put_offset(w, x, base, offset);
}

// The same with r[reg].
static void memory(Writer* w, int op, int x, int reg) {
  memory_at(w, op, x, RBX, (int64_t)reg * (int64_t)sizeof(double));
}

// xmm[x] = xmm[x] op xmm[y]
static void both(Writer* w, int op, int x, int y) {
  PUT(0xF2, 0x0F, (unsigned char)op, (unsigned char)(BOTH_REGISTERS | x << REG_SHIFT | y));
}

static void move_1_to_0(Writer* w) {
  PUT(0x66, 0x0F, 0x28, 0xC1);  // movapd xmm0, xmm1
}

static void start_function(Writer* w) {
  PUT(0xF3, 0x0F, 0x1E, 0xFA);  // endbr64
  PUT(0x53);                    // push rbx
  PUT(0x48, 0x89, 0xFB);        // mov rbx, rdi
  if (w->fours) {
    PUT(0x48, 0x83, 0xEC, ROOM_OF_FOUR);  // sub rsp, the room
  }
  w->held = -1;
}

static void end_function(Writer* w) {
  if (w->fours) {
    PUT(0x48, 0x83, 0xC4, ROOM_OF_FOUR);  // add rsp, the room
  }
  PUT(0x5B, 0xC3);  // pop rbx; ret
}

// ---- instructions of the tape -------------------------------------------------------------------
static bool is_inline(PawlTapeOp op) {
  return op == PAWL_TAPE_ADD || op == PAWL_TAPE_SUB || op == PAWL_TAPE_MUL ||
         op == PAWL_TAPE_MULADD || op == PAWL_TAPE_MULSUB || op == PAWL_TAPE_SUBMUL ||
         op == PAWL_TAPE_SQUARE;
}

static bool has_c(PawlTapeOp op) {
  return op == PAWL_TAPE_MULADD || op == PAWL_TAPE_MULSUB || op == PAWL_TAPE_SUBMUL;
}

static bool has_b(PawlTapeOp op) {
  return op != PAWL_TAPE_SQUARE;
}

// Whether an operation written here takes an operand from xmm0: it must be that operand once.
static bool takes_held(const PawlInstruction* i, int held) {
  int times = (i->a == held) + (has_b(i->op) && i->b == held) + (has_c(i->op) && i->c == held);
  return held >= 0 && is_inline(i->op) && times == 1;
}

// xmm0 = a op b, `held` one of them or -1.
static void two(Writer* w, int op, int a, int b, int held) {
  if (held == b && op == SUB) {
    memory(w, LOAD, 1, a);
    both(w, SUB, 1, 0);
    move_1_to_0(w);
    return;
  }
  if (held != a && held != b) {
    memory(w, LOAD, 0, a);
  }
  memory(w, op, 0, held == b ? a : b);
}

// xmm1 = a b
static void product_in_1(Writer* w, int a, int b) {
  memory(w, LOAD, 1, a);
  memory(w, MUL, 1, b);
}

// xmm0 = a b + c, a b - c, c - a b
static void three(Writer* w, const PawlInstruction* i, int held) {
  bool minus_product = i->op == PAWL_TAPE_SUBMUL, minus_c = i->op == PAWL_TAPE_MULSUB;
  if (minus_product || held == i->c) {
    bool product_held = held == i->a || held == i->b;
    if (product_held) {  // c - a b
      two(w, MUL, i->a, i->b, held);
      memory(w, LOAD, 1, i->c);
      both(w, SUB, 1, 0);
      move_1_to_0(w);
      return;
    }
    product_in_1(w, i->a, i->b);
    if (held != i->c) {
      memory(w, LOAD, 0, i->c);
    }
    both(w, minus_c ? SUB : minus_product ? SUB : ADD, minus_c ? 1 : 0, minus_c ? 0 : 1);
    if (minus_c) {
      move_1_to_0(w);
    }
    return;
  }
  two(w, MUL, i->a, i->b, held);
  memory(w, minus_c ? SUB : ADD, 0, i->c);
}

static void write_inline(Writer* w, const PawlInstruction* i) {
  int held = takes_held(i, w->held) ? w->held : -1;
  switch (i->op) {
    case PAWL_TAPE_ADD:
      two(w, ADD, i->a, i->b, held);
      break;
    case PAWL_TAPE_SUB:
      two(w, SUB, i->a, i->b, held);
      break;
    case PAWL_TAPE_MUL:
      two(w, MUL, i->a, i->b, held);
      break;
    case PAWL_TAPE_SQUARE:
      if (held != i->a) {
        memory(w, LOAD, 0, i->a);
      }
      both(w, MUL, 0, 0);
      break;
    default:
      three(w, i, held);
      break;
  }
}

// r[dst] = -r[a]: the sign bit changes.
static void write_negative(Writer* w, const PawlInstruction* i) {
  PUT(0x48, 0x8B);  // mov rax, r[a]
  put_place(w, 0, i->a);
  PUT(0x48, 0x0F, 0xBA, 0xF8, 0x3F);  // btc rax, 63
  PUT(0x48, 0x89);                    // mov r[dst], rax
  put_place(w, 0, i->dst);
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
// The argument is in memory, and may be held as well; results come in xmm0 and xmm1.
static void write_elementary(Writer* w, const PawlInstruction* i) {
  if (w->held != i->a) {
    memory(w, LOAD, 0, i->a);
  }
  if (i->op == PAWL_TAPE_SINCOS) {
    CALL(pawl_sincos);
    memory(w, STORE, 1, i->b);
  } else {
    CALL(i->op == PAWL_TAPE_SIN ? pawl_sin : i->op == PAWL_TAPE_COS ? pawl_cos : pawl_exp);
  }
  memory(w, STORE, 0, i->dst);
  w->held = i->dst;
}

// r[reg] = result k of four
static void take_result(Writer* w, int k, int reg) {
  PUT(0xF2, 0x0F, LOAD, 0x44, 0x24, (unsigned char)(k * (int)sizeof(double)));  // from [rsp + 8 k]
  memory(w, STORE, 0, reg);
}

// 2 to 4 instructions at once; the last argument fills up.
static void write_sines(Writer* w, const PawlInstruction* i, int count) {
  for (int k = 0; k < 4; k++) {
    memory(w, LOAD, k, i[k < count ? k : count - 1].a);
  }
  PUT(0x48, 0x89, 0xE7);  // mov rdi, rsp
  CALL(pawl_sincos_four);
  for (int k = 0; k < count; k++) {
    take_result(w, i[k].op == PAWL_TAPE_COS ? 4 + k : k, i[k].dst);
    if (i[k].op == PAWL_TAPE_SINCOS) {
      take_result(w, 4 + k, i[k].b);
    }
  }
  w->held = -1;
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
    write_elementary(w, i);
    return;
  }
  if (!is_inline(i->op)) {
    if (i->op == PAWL_TAPE_NEG) {
      write_negative(w, i);
    } else {
      write_call(w, i);
    }
    w->held = -1;
    return;
  }
  write_inline(w, i);
  if (w->stores[at]) {
    memory(w, STORE, 0, i->dst);
  }
  w->held = i->dst;
}

// ---- what need not be stored --------------------------------------------------------------------
// A result that only the next instruction reads, from xmm0, is not stored. `live` (registers): read
// later on; backward through a part, at whose end all that may be read elsewhere is live.
static void mark_read(const PawlInstruction* i, int held, unsigned char* live) {
  bool takes = takes_held(i, held);
  const int operands[3] = {i->a, i->op == PAWL_TAPE_POWI ? i->a : i->b, i->c};
  for (int k = 0; k < 3; k++) {
    bool from_memory = !takes || operands[k] != held;
    live[operands[k]] = from_memory ? 1 : live[operands[k]];
  }
}

static void find_stores(Writer* w, PawlTapePart part, unsigned char* live) {
  for (int at = part.first + part.count - 1; at >= part.first; at--) {
    const PawlInstruction* i = &w->tape->code[at];
    const PawlInstruction* before = at > part.first ? i - 1 : NULL;
    w->stores[at] = live[i->dst];
    live[i->dst] = 0;
    if (i->op == PAWL_TAPE_SINCOS) {
      live[i->b] = 0;
    }
    mark_read(i, before && is_inline(before->op) ? before->dst : -1, live);
  }
}

static void mark_ends(const PawlTape* tape, unsigned char* live) {
  memset(live, tape->part_count > 1, (size_t)tape->register_count + 1);
  for (int k = 0; k < tape->output_count; k++) {
    live[tape->outputs[k]] = 1;
  }
}

// Back to what mark_ends has made of it, for the next of several parts.
static void unmark(const PawlTape* tape, PawlTapePart part, unsigned char* live) {
  for (int at = part.first; at < part.first + part.count; at++) {
    live[tape->code[at].dst] = 1;
    if (tape->code[at].op == PAWL_TAPE_SINCOS) {
      live[tape->code[at].b] = 1;
    }
  }
}

// ---- inputs and results -------------------------------------------------------------------------
// rsi points to the arrays by leaf, rax to the array of the leaf.
static void write_load(Writer* w) {
  const PawlTape* tape = w->tape;
  int leaf = -1;
  for (int k = 0; k < tape->input_count; k++) {
    PawlTapeInput input = tape->inputs[k];
    if (input.leaf == PAWL_OP_TURN) {
      continue;
    }
    if ((int)input.leaf != leaf) {
      leaf = (int)input.leaf;
      PUT(0x48, 0x8B);  // mov rax, [rsi + 8 leaf]
      put_offset(w, RAX, RSI, (int64_t)leaf * (int64_t)sizeof(double*));
    }
    memory_at(w, LOAD, 0, RAX, (int64_t)input.index * (int64_t)sizeof(double));
    memory(w, STORE, 0, tape->constant_count + k);
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
  PUT(0x66, 0x0F, 0x57, 0xD2);  // xorpd xmm2, xmm2
  for (int k = 0; k < count; k++) {
    memory(w, LOAD, 0, targets[k].reg);
    PUT(0x66, 0x0F, 0x28, 0xC8);  // movapd xmm1, xmm0
    both(w, SUB, 1, 1);
    both(w, ADD, 2, 1);
    int64_t offset = reach_place(w, &targets[k], &base);
    if (!targets[k].assigns) {
      memory_at(w, ADD, 0, RAX, offset);
    }
    memory_at(w, STORE, 0, RAX, offset);
  }
  PUT(0x66, 0x0F, 0x28, 0xC2);  // movapd xmm0, xmm2
}

static void write_body(Writer* w, PawlTapePart part) {
  int end = part.first + part.count;
  for (int at = part.first; at < end; at++) {
    int sines = pawl_tape_sines_at_once(w->tape, at, end);
    if (sines > 1) {
      write_sines(w, &w->tape->code[at], sines);
      at += sines - 1;
    } else {
      write_instruction(w, at);
    }
  }
}

// double whole(rdi: registers, rsi: arrays by leaf), double add(rdi: registers)
static void write_ends(Writer* w, const PawlTapeEnds* ends, size_t* start) {
  for (int k = 0; k < ends->count; k++) {
    int part = k > 0 ? w->tape->own_part[k - 1] : 0;
    start[k] = w->size;
    start_function(w);
    if (k == 0) {
      write_load(w);
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
  enum { OF_ONE = 56, OF_FUNCTION = 32, PAGE = 4096 };  // no instruction takes more
  int functions = tape->part_count + ends->count;
  int ones = 2 * tape->instruction_count + tape->input_count + ends->start[ends->count];
  size_t bytes = (size_t)ones * OF_ONE + (size_t)functions * OF_FUNCTION;
  return (bytes + PAGE - 1) / PAGE * PAGE;
}

// The offset of each part's function.
static void write_parts(Writer* w, unsigned char* live, size_t* start) {
  mark_ends(w->tape, live);
  for (int p = 0; p < w->tape->part_count; p++) {
    PawlTapePart part = w->tape->parts[p];
    find_stores(w, part, live);
    unmark(w->tape, part, live);
    start[p] = w->size;
    start_function(w);
    write_body(w, part);
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
  size_t* start = pawl_alloc((size_t)(tape->part_count + ends->count), sizeof *start);
  unsigned char* live = pawl_alloc((size_t)tape->register_count + 1, 1);
  w.stores = pawl_alloc((size_t)tape->instruction_count, 1);
  int failed = start && live && w.stores ? 0 : -1;
  if (!failed) {
    write_parts(&w, live, start);
    write_ends(&w, ends, start + tape->part_count);
  }
  bool good = !failed && !w.failed && mprotect(memory_of_code, bytes, PROT_READ | PROT_EXEC) == 0;
  if (good) {
    point_to_code(tape, ends, w.code, start);
  }
  tape->native = good ? memory_of_code : NULL;
  tape->native_bytes = bytes;
  pawl_free(start);
  pawl_free(live);
  pawl_free(w.stores);
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
