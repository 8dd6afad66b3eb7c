// SPDX-License-Identifier: Apache-2.0
// Machine code written at run time: memory that may be executed, and instructions on doubles for
// x86-64. PAWL_HAS_CODE says whether there is any; without, no memory is given.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(PAWL_NO_NATIVE)
#define PAWL_HAS_CODE 1
#endif
// Tools that instrument every call want to see one they know.
#if defined(__SANITIZE_ADDRESS__)
#undef PAWL_HAS_CODE
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef PAWL_HAS_CODE
#endif
#endif

enum { PAWL_CODE_PAGE = 4096 };  // what is sealed are whole pages

// Memory of whole pages to write to; NULL where there is none.
void* pawl_code_map(size_t bytes);
// What is written there may be executed from now on, and not written to. False: it may not.
bool pawl_code_seal(void* at, size_t bytes);
void pawl_code_unmap(void* at, size_t bytes);

// Where code is written. `failed` is set when it is full, and nothing more is written.
typedef struct PawlCode {
  unsigned char* at;
  size_t size, capacity;
  bool failed;
} PawlCode;

// Arguments of a function in their order (System V).
enum { PAWL_CODE_RDI = 7, PAWL_CODE_RSI = 6, PAWL_CODE_RDX = 2, PAWL_CODE_RCX = 1 };
enum { PAWL_CODE_R8 = 8, PAWL_CODE_R9 = 9 };

// Operations on one double, but for those that say two or bits: prefix and operation.
typedef enum PawlCodeOp {
  PAWL_CODE_LOAD = 0xF210,
  PAWL_CODE_STORE = 0xF211,
  PAWL_CODE_ADD = 0xF258,
  PAWL_CODE_MUL = 0xF259,
  PAWL_CODE_SUB = 0xF25C,
  PAWL_CODE_MIN = 0xF25D,  // the second when one of them is not a number
  PAWL_CODE_DIV = 0xF25E,
  PAWL_CODE_MAX = 0xF25F,          // as MIN
  PAWL_CODE_LOW_TO_HIGH = 0x6614,  // the second of two becomes the first of the other,
  PAWL_CODE_HIGH_TO_LOW = 0x6615,  // the first of two its second, and the second that of the other
  PAWL_CODE_LOAD_HIGH = 0x6616,    // the second of two
  PAWL_CODE_STORE_HIGH = 0x6617,
  PAWL_CODE_COPY = 0x6628,     // two
  PAWL_CODE_COMPARE = 0x662F,  // flags as of integers without sign; all set for NaN
  PAWL_CODE_AND = 0x6654,      // bits
  PAWL_CODE_XOR = 0x6657,      // bits
} PawlCodeOp;

void pawl_code_put(PawlCode* code, int count, const unsigned char* bytes);
#define PAWL_CODE_PUT(code, ...)                                         \
  pawl_code_put(code, (int)sizeof((const unsigned char[]){__VA_ARGS__}), \
                (const unsigned char[]){__VA_ARGS__})
// xmm[x] = xmm[x] op xmm[y]
void pawl_code_both(PawlCode* code, PawlCodeOp op, int x, int y);
// xmm[x] = xmm[x] op base[index], LOAD: = base[index]; STORE: base[index] = xmm[x]
void pawl_code_memory(PawlCode* code, PawlCodeOp op, int x, int base, int index);
// xmm[x] = all bits but the sign
void pawl_code_magnitude_mask(PawlCode* code, int x);
// xmm[x] = the bit of the sign
void pawl_code_sign_mask(PawlCode* code, int x);
