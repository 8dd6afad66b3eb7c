// SPDX-License-Identifier: Apache-2.0
#include "switch/row.h"

#include <assert.h>
#include <math.h>

void pawl_row_bounds(PawlRowOf kind, double C, double* lo, double* hi) {
  assert(C >= 0.0);
  switch (kind) {
#define PAWL_ROW_OF(KIND, low, high, jumps) \
  case PAWL_ROW_OF_##KIND:                  \
    *lo = low;                              \
    *hi = high;                             \
    break;
#include "switch/row.def"
#undef PAWL_ROW_OF
    case PAWL_ROW_OF_COUNT:
      assert(false);
  }
}

bool pawl_row_jumps(PawlRowOf kind) {
  static const bool jumps_of[] = {
#define PAWL_ROW_OF(KIND, lo, hi, jumps) jumps,
#include "switch/row.def"
#undef PAWL_ROW_OF
  };
  assert(kind < PAWL_ROW_OF_COUNT);
  return jumps_of[kind];
}
