// SPDX-License-Identifier: Apache-2.0
// Random numbers of the tests of rows: the same everywhere, from a state that a test begins with.
#pragma once

typedef struct Random {
  unsigned long long state;
} Random;

static inline double uniform(Random* r) {  // 0 .. 1
  r->state = r->state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(r->state >> 11) * 0x1p-53;
}

static inline int whole(Random* r, int low, int high) {
  return low + (int)(uniform(r) * (high - low + 1));
}

static inline double quarters(Random* r, int most) {  // so that ties are ties
  return 0.25 * whole(r, -4 * most, 4 * most);
}
