// SPDX-License-Identifier: Apache-2.0
// Copies and zeros of vectors in the shortest steps: few numbers go one by one, for which a call
// would take longer, and a wide load would wait for the narrow stores just before it.
#pragma once

#include <string.h>

#include "base/error.h"

enum { PAWL_COPY_FEW = 8 };

// Keeps a compiler from making a call, or wide loads, out of a loop.
#if defined(__GNUC__)
#define PAWL_COPY_ONE_BY_ONE(at) __asm__("" : "+r"(at))
#define PAWL_COPY_ON __attribute__((fallthrough))
#else
#define PAWL_COPY_ONE_BY_ONE(at) (void)(at)
#define PAWL_COPY_ON (void)0
#endif

// Into the middle of a row of moves, from the last number down to the first.
#define PAWL_COPY_ROW(MOVE) MOVE(8) MOVE(7) MOVE(6) MOVE(5) MOVE(4) MOVE(3) MOVE(2) MOVE(1)

PAWL_INLINE void pawl_copy(int n, const double* from, double* to) {
  switch (n) {
#define PAWL_COPY_MOVE(k)    \
  case k:                    \
    to[k - 1] = from[k - 1]; \
    PAWL_COPY_ON;
    PAWL_COPY_ROW(PAWL_COPY_MOVE)
#undef PAWL_COPY_MOVE
    case 0:
      return;
    default:
      memcpy(to, from, (size_t)n * sizeof *to);
  }
}

PAWL_INLINE void pawl_copy_zeros(int n, double* to) {
  switch (n) {
#define PAWL_COPY_MOVE(k) \
  case k:                 \
    to[k - 1] = 0.0;      \
    PAWL_COPY_ON;
    PAWL_COPY_ROW(PAWL_COPY_MOVE)
#undef PAWL_COPY_MOVE
    case 0:
      return;
    default:
      memset(to, 0, (size_t)n * sizeof *to);
  }
}
