// SPDX-License-Identifier: Apache-2.0
// Code whose size is an argument, compiled for any size and again for each small one.
#pragma once

#include "base/error.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PAWL_SIZED_ONE
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define PAWL_SIZED_ONE
#endif

// PAWL_SIZED calls CALL(n) with a constant for n in the place of a small `size`, else with `size`
// itself; PAWL_SIZED_FEW does so for fewer sizes, for kernels of a whole step, which are long.
// Under sanitizers, which look at the code and take long to compile it, one constant stands for
// all.
enum { PAWL_SIZED_LARGEST = 8 };
#define PAWL_SIZED_CASE(n, CALL) \
  case n:                        \
    CALL(n);                     \
    break;
#ifdef PAWL_SIZED_ONE
#define PAWL_SIZED_CASES_FEW(CALL) PAWL_SIZED_CASE(3, CALL)
#define PAWL_SIZED_CASES_MORE(CALL)
#else
#define PAWL_SIZED_CASES_FEW(CALL) \
  PAWL_SIZED_CASE(1, CALL)         \
  PAWL_SIZED_CASE(2, CALL)         \
  PAWL_SIZED_CASE(3, CALL)         \
  PAWL_SIZED_CASE(4, CALL)
#define PAWL_SIZED_CASES_MORE(CALL) \
  PAWL_SIZED_CASE(5, CALL)          \
  PAWL_SIZED_CASE(6, CALL)          \
  PAWL_SIZED_CASE(7, CALL)          \
  PAWL_SIZED_CASE(8, CALL)
#endif
#define PAWL_SIZED(size, CALL)  \
  switch (size) {               \
    PAWL_SIZED_CASES_FEW(CALL)  \
    PAWL_SIZED_CASES_MORE(CALL) \
    default:                    \
      CALL(size);               \
  }
#define PAWL_SIZED_FEW(size, CALL) \
  switch (size) {                  \
    PAWL_SIZED_CASES_FEW(CALL)     \
    default:                       \
      CALL(size);                  \
  }

// Few numbers are loaded one by one: a compiler is kept from putting one into a vector with its
// neighbours, since it would be waited for where it was stored alone just before.
#if defined(__GNUC__) && defined(__x86_64__)
PAWL_INLINE double pawl_sized_alone(double x) {
  __asm__("" : "+x"(x));
  return x;
}
#else
PAWL_INLINE double pawl_sized_alone(double x) {
  return x;
}
#endif
