// SPDX-License-Identifier: Apache-2.0
// Filling a PawlError, and passing failures up.
#pragma once

#include "pawl/base.h"

// Replaces the message; `err` may be NULL. Returns `status`, to be written `return pawl_fail(...)`.
PAWL_PRINTF(3, 4) PawlStatus pawl_fail(PawlError* err, PawlStatus status, const char* format, ...);

// Appends a line, for a caller that reports several mistakes. Returns `status`. When the message is
// full the last line becomes "...".
PAWL_PRINTF(3, 4)
PawlStatus pawl_fail_more(PawlError* err, PawlStatus status, const char* format, ...);

PawlStatus pawl_fail_memory(PawlError* err);  // "out of memory"

#define PAWL_TRY(call)               \
  do {                               \
    PawlStatus try_status_ = (call); \
    if (try_status_ != PAWL_OK) {    \
      return try_status_;            \
    }                                \
  } while (0)

// A function of its own, however often it is called from one place alone: inlined, a long way that
// is rarely taken costs the short one its registers.
#if defined(__GNUC__)
#define PAWL_APART __attribute__((noinline))
#define PAWL_INLINE static inline __attribute__((always_inline))  // for the shortest steps
#else
#define PAWL_APART
#define PAWL_INLINE static inline
#endif
