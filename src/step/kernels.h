// SPDX-License-Identifier: Apache-2.0
// The inner loops of the methods, once: inline code whose sizes are arguments. The library compiles
// a loop for any size, and with PAWL_SIZED again for each small one, a constant then, so
// that nothing is left of the loop. The operations and their order do not depend on it: the bits
// are the same. Arrays do not overlap unless a comment says so.
#pragma once

#include "base/sized.h"

PAWL_INLINE void pawl_kernels_copy(int n, const double* from, double* to) {
  for (int i = 0; n <= PAWL_SIZED_LARGEST && i < n; i++) {
    to[i] = pawl_sized_alone(from[i]);
  }
  for (int i = 0; n > PAWL_SIZED_LARGEST && i < n; i++) {
    to[i] = from[i];
  }
}

// A stage of an explicit method with rate k: it is added to the sum of stages, and the next one
// begins at y + to_next k. `before` is the sum so far and may be `sum`; `next` may be k.     (R2)
PAWL_INLINE void pawl_kernels_stage_one(int i, const double* y, double rate, double weight,
                                        double to_next, const double* before, double* sum,
                                        double* next) {
  sum[i] = before[i] + weight * rate;
  next[i] = y[i] + to_next * rate;
}
PAWL_INLINE void pawl_kernels_stage(int n, const double* y, const double* k, double weight,
                                    double to_next, const double* before, double* sum,
                                    double* next) {
  for (int i = 0; n <= PAWL_SIZED_LARGEST && i < n; i++) {
    double rate = pawl_sized_alone(k[i]);
    pawl_kernels_stage_one(i, y, rate, weight, to_next, before, sum, next);
  }
  for (int i = 0; n > PAWL_SIZED_LARGEST && i < n; i++) {
    pawl_kernels_stage_one(i, y, k[i], weight, to_next, before, sum, next);
  }
}

// The last stage, which nothing follows: the sum is where the step ends.
PAWL_INLINE void pawl_kernels_last_stage(int n, const double* k, double weight, const double* sum,
                                         double* end) {
  for (int i = 0; n <= PAWL_SIZED_LARGEST && i < n; i++) {
    end[i] = sum[i] + weight * pawl_sized_alone(k[i]);
  }
  for (int i = 0; n > PAWL_SIZED_LARGEST && i < n; i++) {
    end[i] = sum[i] + weight * k[i];
  }
}

// The right side of the rows: -gamma where they bind (`active` NULL: all do), else 0.
PAWL_INLINE void pawl_kernels_bias(int rows, const unsigned char* active, const double* gamma,
                                   double* lambda) {
  for (int i = 0; i < rows; i++) {
    lambda[i] = !active || active[i] ? -gamma[i] : 0.0;
  }
}
