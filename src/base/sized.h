// SPDX-License-Identifier: Apache-2.0
// Code whose size is an argument, compiled for any size and again for each small one.
#pragma once

#include "base/error.h"

// Calls CALL(n) with a constant for n in the place of a small `size`, else with `size` itself.
enum { PAWL_SIZED_LARGEST = 8 };
#define PAWL_SIZED(size, CALL) \
  switch (size) {              \
    case 1:                    \
      CALL(1);                 \
      break;                   \
    case 2:                    \
      CALL(2);                 \
      break;                   \
    case 3:                    \
      CALL(3);                 \
      break;                   \
    case 4:                    \
      CALL(4);                 \
      break;                   \
    case 5:                    \
      CALL(5);                 \
      break;                   \
    case 6:                    \
      CALL(6);                 \
      break;                   \
    case 7:                    \
      CALL(7);                 \
      break;                   \
    case 8:                    \
      CALL(8);                 \
      break;                   \
    default:                   \
      CALL(size);              \
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
