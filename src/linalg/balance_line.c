// SPDX-License-Identifier: Apache-2.0
#include "linalg/balance_line.h"

#include <string.h>

#include "base/code.h"

enum { MOST_ENTRIES = 256 };  // of M and G: beyond, code does not stay in the nearest cache

// Arguments; the seventh is on the stack, and goes to a register of no argument.
enum { OF_B = PAWL_CODE_RDI, LAMBDA = PAWL_CODE_RSI, OF_M = PAWL_CODE_RDX, VDOT = PAWL_CODE_RCX };
enum { FORCE = PAWL_CODE_R8, RESULT = PAWL_CODE_R9, SIZES = 0 };
enum { SCALE, SUM, SIZE, TERM, MASK, SIGN };  // registers of numbers

typedef struct Writer {
  PawlCode code;
  bool judged;
} Writer;

static void memory(Writer* w, PawlCodeOp op, int x, int base, int index) {
  pawl_code_memory(&w->code, op, x, base, index);
}

static void both(Writer* w, PawlCodeOp op, int x, int y) {
  pawl_code_both(&w->code, op, x, y);
}

// SUM op= a[i] b[j]
static void write_term(Writer* w, PawlCodeOp op, int a, int i, int b, int j) {
  memory(w, PAWL_CODE_LOAD, TERM, a, i);
  memory(w, PAWL_CODE_MUL, TERM, b, j);
  both(w, op, SUM, TERM);
  if (w->judged) {
    both(w, PAWL_CODE_AND, TERM, MASK);
    both(w, PAWL_CODE_ADD, SIZE, TERM);
  }
}

static void write_coordinate(Writer* w, const PawlPattern* M, const PawlPattern* G, int j) {
  memory(w, PAWL_CODE_LOAD, SUM, FORCE, j);
  if (w->judged) {
    both(w, PAWL_CODE_COPY, SIZE, SUM);
    both(w, PAWL_CODE_AND, SIZE, MASK);
  }
  both(w, PAWL_CODE_XOR, SUM, SIGN);
  for (int k = G->start[j]; k < G->start[j + 1]; k++) {
    write_term(w, PAWL_CODE_SUB, OF_B, k, LAMBDA, G->index[k]);
  }
  for (int k = M->start[j]; k < M->start[j + 1]; k++) {
    write_term(w, PAWL_CODE_ADD, OF_M, k, VDOT, M->index[k]);
  }
  if (w->judged) {
    memory(w, PAWL_CODE_STORE, SIZE, SIZES, j);
  } else {
    both(w, PAWL_CODE_MUL, SUM, SCALE);
  }
  memory(w, PAWL_CODE_STORE, SUM, RESULT, j);
}

static void write_function(Writer* w, const PawlPattern* M, const PawlPattern* G) {
  PAWL_CODE_PUT(&w->code, 0xF3, 0x0F, 0x1E, 0xFA);        // endbr64
  PAWL_CODE_PUT(&w->code, 0x48, 0x8B, 0x44, 0x24, 0x08);  // mov rax, [rsp + 8]
  pawl_code_magnitude_mask(&w->code, MASK);
  pawl_code_sign_mask(&w->code, SIGN);
  for (int j = 0; j < G->cols; j++) {
    write_coordinate(w, M, G, j);
  }
  PAWL_CODE_PUT(&w->code, 0xC3);  // ret
}

static size_t most_bytes(int columns, int entries) {
  enum { OF_ENTRY = 80, OF_COLUMN = 96, OF_BOTH = 128 };  // of both functions
  size_t bytes = (size_t)entries * OF_ENTRY + (size_t)columns * OF_COLUMN + OF_BOTH;
  return (bytes + PAWL_CODE_PAGE - 1) / PAWL_CODE_PAGE * PAWL_CODE_PAGE;
}

// memcpy: a pointer to data becomes one to code.
#define POINT(to, from) memcpy(&(to), &(unsigned char*){from}, sizeof(unsigned char*))

void pawl_balance_line_create(const PawlPattern* M, const PawlPattern* G, PawlBalanceLine* line) {
  int columns = G->cols, entries = M->start[columns] + G->start[columns];
  *line = (PawlBalanceLine){.bytes = most_bytes(columns, entries)};
  line->code =
      entries <= MOST_ENTRIES && columns <= MOST_ENTRIES ? pawl_code_map(line->bytes) : NULL;
  if (!line->code) {
    return;
  }
  Writer w = {.code = {.at = line->code, .capacity = line->bytes}};
  write_function(&w, M, G);
  size_t judged = w.code.size;
  w.judged = true;
  write_function(&w, M, G);
  if (!w.code.failed && pawl_code_seal(line->code, line->bytes)) {
    POINT(line->scaled, w.code.at);
    POINT(line->judged, w.code.at + judged);
  }
}

void pawl_balance_line_destroy(PawlBalanceLine* line) {
  pawl_code_unmap(line->code, line->bytes);
}
