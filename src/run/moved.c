// SPDX-License-Identifier: Apache-2.0
// Equation labels refer to docs/theory/energy.md.
#include "run/moved.h"

#include <math.h>

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

void pawl_moved_note(PawlMoved* m, const PawlObservation* seen, bool first) {
  for (int k = 0; k < m->count; k++) {
    double x = k < m->count - 1 ? seen->shares[k] : seen->moved;
    m->low[k] = first ? x : fmin(m->low[k], x);
    m->high[k] = first ? x : fmax(m->high[k], x);
  }
}

// The kinetic energy that coordinates took up and gave, no more than there was; what the motion
// made of the potential energy; and the works.                                            (B18)
double pawl_moved_size(const PawlMoved* m, double kinetic_max, double traffic) {
  int last = m->count - 1;
  double kinetic = 0.0;
  for (int k = 0; k < last; k++) {
    kinetic += m->high[k] - m->low[k];
  }
  return fmin(kinetic, kinetic_max) + m->high[last] - m->low[last] + traffic;
}
