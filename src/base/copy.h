// SPDX-License-Identifier: Apache-2.0
// Copies and zeros of vectors in the shortest steps: few numbers go one by one, for which a call
// would take longer, and a wide load would wait for the narrow stores just before it.
#pragma once

#include <string.h>

#include "base/error.h"

enum { PAWL_COPY_FEW = 8 };

// Keeps a compiler from making a call out of a loop.
#if defined(__GNUC__)
#define PAWL_COPY_ONE_BY_ONE(at) __asm__("" : "+r"(at))
#else
#define PAWL_COPY_ONE_BY_ONE(at) (void)(at)
#endif

PAWL_INLINE void pawl_copy(int n, const double* from, double* to) {
  if (n > PAWL_COPY_FEW) {
    memcpy(to, from, (size_t)n * sizeof *to);
    return;
  }
  for (const double* end = from + n; from != end; from++, to++) {
    PAWL_COPY_ONE_BY_ONE(to);
    *to = *from;
  }
}

PAWL_INLINE void pawl_copy_zeros(int n, double* to) {
  if (n > PAWL_COPY_FEW) {
    memset(to, 0, (size_t)n * sizeof *to);
    return;
  }
  for (const double* end = to + n; to != end; to++) {
    PAWL_COPY_ONE_BY_ONE(to);
    *to = 0.0;
  }
}
