// SPDX-License-Identifier: Apache-2.0
// What the dense solve of the KKT system shares with lu.c: the substitution as an inline body, to
// be compiled for each small size with the unknowns in registers.
#pragma once

#include <stddef.h>

#include "linalg/dense.h"

#define PAWL_LU_INLINE static inline __attribute__((always_inline))
// Unrolls a loop whose length is a constant after inlining. Without it the compiler vectorises
// short loops, and each load of two numbers waits for the two stores before it.
#if defined(__GNUC__) && !defined(__clang__)
#define PAWL_LU_UNROLL _Pragma("GCC unroll 16")
#else
#define PAWL_LU_UNROLL
#endif

// [1] The largest entry of L without row exchanges: as with a choice of pivots that is content with
// 1/64 of the column.
#define PAWL_LU_MOST_GROWTH 64.0

// x <- U^-1 L^-1 x
PAWL_LU_INLINE void pawl_lu_substitute(int n, const double* LU, double* x) {
  PAWL_LU_UNROLL
  for (int k = 0; k < n; k++) {
    const double* l = LU + (size_t)k * (size_t)n;
    PAWL_LU_UNROLL
    for (int i = k + 1; i < n; i++) {
      x[i] -= x[k] * l[i];
    }
  }
  PAWL_LU_UNROLL
  for (int k = n - 1; k >= 0; k--) {
    const double* u = LU + (size_t)k * (size_t)n;
    x[k] *= u[k];
    PAWL_LU_UNROLL
    for (int i = 0; i < k; i++) {
      x[i] -= x[k] * u[i];
    }
  }
}
