// SPDX-License-Identifier: Apache-2.0
// Equation labels refer to docs/theory/energy.md.
#include "run/moved.h"

#include <math.h>
#include <stdint.h>

#include "base/alloc.h"

PawlStatus pawl_moved_create(PawlMoved* m, int v, PawlError* err) {
  m->count = v + 2;
  m->low = pawl_alloc((size_t)m->count, sizeof(double));
  m->high = pawl_alloc((size_t)m->count, sizeof(double));
  return m->low && m->high ? PAWL_OK : pawl_fail_memory(err);
}

void pawl_moved_destroy(PawlMoved* m) {
  pawl_free(m->low);
  pawl_free(m->high);
}

static void widen(PawlMoved* m, int k, double x, bool first) {
  m->low[k] = first ? x : fmin(m->low[k], x);
  m->high[k] = first ? x : fmax(m->high[k], x);
}

void pawl_moved_note(PawlMoved* m, const PawlObservation* seen, bool first) {
  widen(m, m->count - 1, seen->moved, first);
}

void pawl_moved_note_shares(PawlMoved* m, const double* shares, bool first) {
  for (int k = 0; k < m->count - 1; k++) {
    widen(m, k, shares[k], first);
  }
}

// The multiples of the golden section, but for whole numbers, fill the unit interval evenly.
bool pawl_moved_looks(long long index) {
  enum { ALL_OF_THESE = 256, ONE_IN = 16 };
  static const uint64_t GOLDEN = UINT64_C(0x9e3779b97f4a7c15);  // of 2^64
  return index < ALL_OF_THESE || (uint64_t)index * GOLDEN < UINT64_MAX / ONE_IN;
}

// The kinetic energy that coordinates took up and gave, no more than there was; what the motion
// made of the potential energy; and the works.                                            (B18)
double pawl_moved_size(const PawlMoved* m, double kinetic_max, double net) {
  int last = m->count - 1;
  double kinetic = 0.0;
  for (int k = 0; k < last; k++) {
    kinetic += m->high[k] - m->low[k];
  }
  return fmin(kinetic, kinetic_max) + m->high[last] - m->low[last] + net;
}
