// SPDX-License-Identifier: Apache-2.0
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include "base/code.h"

#ifndef PAWL_HAS_CODE
void* pawl_code_map(size_t bytes) {
  (void)bytes;
  return NULL;
}
bool pawl_code_seal(void* at, size_t bytes) {
  (void)at;
  (void)bytes;
  return false;
}
void pawl_code_unmap(void* at, size_t bytes) {
  (void)at;
  (void)bytes;
}
#else
#include <sys/mman.h>

void* pawl_code_map(size_t bytes) {
  void* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

bool pawl_code_seal(void* at, size_t bytes) {
  return mprotect(at, bytes, PROT_READ | PROT_EXEC) == 0;
}

void pawl_code_unmap(void* at, size_t bytes) {
  if (at) {
    munmap(at, bytes);
  }
}
#endif

void pawl_code_put(PawlCode* code, int count, const unsigned char* bytes) {
  for (int k = 0; k < count && !code->failed; k++) {
    if (code->size == code->capacity) {
      code->failed = true;
    } else {
      code->at[code->size++] = bytes[k];
    }
  }
}

// Prefix, the fourth bits of two registers where they are set, operation.
static void put_op(PawlCode* code, PawlCodeOp op, int x, int y) {
  enum { EXTEND = 0x40, OF_X = 4, OF_Y = 1 };
  PAWL_CODE_PUT(code, (unsigned char)(op >> 8));
  if (x > 7 || y > 7) {
    PAWL_CODE_PUT(code, (unsigned char)(EXTEND | (x > 7 ? OF_X : 0) | (y > 7 ? OF_Y : 0)));
  }
  PAWL_CODE_PUT(code, 0x0F, (unsigned char)op);
}

void pawl_code_both(PawlCode* code, PawlCodeOp op, int x, int y) {
  put_op(code, op, x, y);
  PAWL_CODE_PUT(code, (unsigned char)(0xC0 | (x & 7) << 3 | (y & 7)));
}

void pawl_code_memory(PawlCode* code, PawlCodeOp op, int x, int base, int index) {
  int offset = index * (int)sizeof(double);
  bool near = offset <= INT8_MAX;
  put_op(code, op, x, base);
  PAWL_CODE_PUT(code, (unsigned char)((near ? 0x40 : 0x80) | (x & 7) << 3 | (base & 7)));
  for (int k = 0; k < (near ? 1 : 4); k++) {
    PAWL_CODE_PUT(code, (unsigned char)(offset >> (8 * k)));
  }
}

// All bits, shifted by so many: to the right, or to the left.
static void put_mask(PawlCode* code, int x, bool left, int by) {
  enum { RIGHT = 0xD0, LEFT = 0xF0 };
  PAWL_CODE_PUT(code, 0x66, (unsigned char)(0x40 | (x > 7 ? 5 : 0)), 0x0F, 0x76,
                (unsigned char)(0xC0 | (x & 7) << 3 | (x & 7)));  // pcmpeqd
  PAWL_CODE_PUT(code, 0x66, (unsigned char)(0x40 | (x > 7 ? 1 : 0)), 0x0F, 0x73,
                (unsigned char)((left ? LEFT : RIGHT) | (x & 7)), (unsigned char)by);
}

void pawl_code_magnitude_mask(PawlCode* code, int x) {
  put_mask(code, x, false, 1);
}

void pawl_code_sign_mask(PawlCode* code, int x) {
  put_mask(code, x, true, 63);
}
