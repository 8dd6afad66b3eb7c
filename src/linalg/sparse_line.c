// SPDX-License-Identifier: Apache-2.0
#include "linalg/sparse_line.h"

#include <string.h>

#include "base/code.h"

enum { MOST_ENTRIES = 128 };  // beyond, what a loop costs besides its products counts for little
enum { VALUES = PAWL_CODE_RDI, X = PAWL_CODE_RSI, Y = PAWL_CODE_RDX };
enum { SEVERAL = 16 };                     // columns from which on rows are summed in a register
enum { SCALE, SUM, PRODUCT, ZERO, MASK };  // registers of the processor

static void memory(PawlCode* code, PawlCodeOp op, int x, int base, int index) {
  pawl_code_memory(code, op, x, base, index);
}

// y_i += A_ij (scale x_j), but for columns where that is zero, exactly.
static void write_column(PawlCode* code, const PawlPattern* A, int j) {
  memory(code, PAWL_CODE_LOAD, SUM, X, j);
  pawl_code_both(code, PAWL_CODE_MUL, SUM, SCALE);
  pawl_code_both(code, PAWL_CODE_COMPARE, SUM, ZERO);
  PAWL_CODE_PUT(code, 0x7A, 6);                 // jp: past the next one, where it is not a number
  PAWL_CODE_PUT(code, 0x0F, 0x84, 0, 0, 0, 0);  // je: past the column
  size_t from = code->size;
  for (int k = A->start[j]; k < A->start[j + 1]; k++) {
    memory(code, PAWL_CODE_LOAD, PRODUCT, VALUES, k);
    pawl_code_both(code, PAWL_CODE_MUL, PRODUCT, SUM);
    memory(code, PAWL_CODE_ADD, PRODUCT, Y, A->index[k]);
    memory(code, PAWL_CODE_STORE, PRODUCT, Y, A->index[k]);
  }
  for (int k = 0; k < 4 && !code->failed; k++) {
    code->at[from - 4 + (size_t)k] = (unsigned char)((code->size - from) >> (8 * k));
  }
}

// y_j += scale sum_i A_ij x_i
static void write_transposed(PawlCode* code, const PawlPattern* A, int j) {
  pawl_code_both(code, PAWL_CODE_XOR, SUM, SUM);
  for (int k = A->start[j]; k < A->start[j + 1]; k++) {
    memory(code, PAWL_CODE_LOAD, PRODUCT, VALUES, k);
    memory(code, PAWL_CODE_MUL, PRODUCT, X, A->index[k]);
    pawl_code_both(code, PAWL_CODE_ADD, SUM, PRODUCT);
  }
  pawl_code_both(code, PAWL_CODE_MUL, SUM, SCALE);
  memory(code, PAWL_CODE_ADD, SUM, Y, j);
  memory(code, PAWL_CODE_STORE, SUM, Y, j);
}

// y_i += sum_j A_ij x_j, or |A_ij| x_j, in the order of the columns; those that are zero count.
static void write_row(PawlCode* code, const PawlPattern* A, int i, bool sizes) {
  bool any = false;
  for (int j = 0; j < A->cols; j++) {
    for (int k = A->start[j]; k < A->start[j + 1]; k++) {
      if (A->index[k] != i) {
        continue;
      }
      if (!any) {
        memory(code, PAWL_CODE_LOAD, SUM, Y, i);
      }
      any = true;
      memory(code, PAWL_CODE_LOAD, PRODUCT, VALUES, k);
      if (sizes) {
        pawl_code_both(code, PAWL_CODE_AND, PRODUCT, MASK);
      }
      memory(code, PAWL_CODE_MUL, PRODUCT, X, j);
      pawl_code_both(code, PAWL_CODE_ADD, SUM, PRODUCT);
    }
  }
  if (any) {
    memory(code, PAWL_CODE_STORE, SUM, Y, i);
  }
}

static void write_rows(PawlCode* code, const PawlPattern* A, bool sizes) {
  PAWL_CODE_PUT(code, 0xF3, 0x0F, 0x1E, 0xFA);  // endbr64
  pawl_code_magnitude_mask(code, MASK);
  for (int i = 0; i < A->rows; i++) {
    write_row(code, A, i, sizes);
  }
  PAWL_CODE_PUT(code, 0xC3);  // ret
}

static void write_function(PawlCode* code, const PawlPattern* A,
                           void (*write)(PawlCode*, const PawlPattern*, int)) {
  PAWL_CODE_PUT(code, 0xF3, 0x0F, 0x1E, 0xFA);  // endbr64
  pawl_code_both(code, PAWL_CODE_XOR, ZERO, ZERO);
  for (int j = 0; j < A->cols; j++) {
    if (A->start[j + 1] > A->start[j]) {
      write(code, A, j);
    }
  }
  PAWL_CODE_PUT(code, 0xC3);  // ret
}

static size_t most_bytes(int entries) {
  enum { OF_ENTRY = 256, OF_BOTH = 128 };  // each in a column and a row of its own
  size_t bytes = (size_t)entries * OF_ENTRY + OF_BOTH;
  return (bytes + PAWL_CODE_PAGE - 1) / PAWL_CODE_PAGE * PAWL_CODE_PAGE;
}

// memcpy: a pointer to data becomes one to code.
#define POINT(to, from) memcpy(&(to), &(unsigned char*){from}, sizeof(unsigned char*))

void pawl_sparse_line_create(const PawlPattern* A, PawlSparseLine* line) {
  int entries = A->start[A->cols];
  *line = (PawlSparseLine){.A = *A, .bytes = most_bytes(entries)};
  line->code =
      entries <= MOST_ENTRIES && A->cols <= MOST_ENTRIES ? pawl_code_map(line->bytes) : NULL;
  if (!line->code) {
    return;
  }
  PawlCode code = {.at = line->code, .capacity = line->bytes};
  write_function(&code, A, write_column);
  size_t transposed = code.size;
  write_function(&code, A, write_transposed);
  size_t rows = code.size, sizes = code.size;
  if (A->cols >= SEVERAL) {
    write_rows(&code, A, false);
    sizes = code.size;
    write_rows(&code, A, true);
  }
  if (!code.failed && pawl_code_seal(line->code, line->bytes)) {
    POINT(line->add, code.at);
    POINT(line->add_transposed, code.at + transposed);
    if (A->cols >= SEVERAL) {
      POINT(line->by_rows, code.at + rows);
      POINT(line->sizes, code.at + sizes);
    }
  }
}

void pawl_sparse_line_destroy(PawlSparseLine* line) {
  pawl_code_unmap(line->code, line->bytes);
}
