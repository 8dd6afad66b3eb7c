// SPDX-License-Identifier: Apache-2.0
// Numbers next to zero that are not normal, below 2.2e-308, cost a processor up to a hundred times
// as much as others. Between these two calls they are taken as 0, where the machine can do so. What
// they are about stands in functions of its own: a compiler may move operations past them.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#include <xmmintrin.h>

// What was before, for the end.
static inline unsigned pawl_flush_begin(void) {
  enum { RESULTS = 0x8000, ARGUMENTS = 0x0040 };
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | RESULTS | ARGUMENTS);
  return before;
}

static inline void pawl_flush_end(unsigned before) {
  _mm_setcsr(before);
}
#else
static inline unsigned pawl_flush_begin(void) {
  return 0;
}

static inline void pawl_flush_end(unsigned before) {
  (void)before;
}
#endif
