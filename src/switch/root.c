// SPDX-License-Identifier: Apache-2.0
#include "switch/root.h"

#include <math.h>

#include "base/error.h"

PawlStatus pawl_root_create(PawlArena* arena, int most, PawlRoot* r, PawlError* err) {
  for (int k = 0; k < PAWL_ROOT_PLACES; k++) {
    r->f[k] = PAWL_NEW(arena, double, most);
  }
  return arena->failed ? pawl_fail_memory(err) : PAWL_OK;
}

void pawl_root_begin(PawlRoot* r, int count) {
  r->count = count;
  r->looks = 0;
  r->newest[0] = r->newest[1] = r->newest[2] = r->low = r->high = -1;
}

static int free_place(const PawlRoot* r) {
  int at = 0;
  while (at == r->low || at == r->high || at == r->newest[1] || at == r->newest[2]) {
    at++;
  }
  return at;
}

// The beginning comes before the end, whichever is looked at first.
double* pawl_root_add(PawlRoot* r, double x, bool beyond) {
  int at = free_place(r);
  bool first = r->low < 0 && r->high >= 0;
  r->newest[0] = r->newest[1];
  r->newest[1] = first ? at : r->newest[2];
  r->newest[2] = first ? r->high : at;
  r->x[at] = x;
  *(beyond ? &r->high : &r->low) = at;
  return r->f[at];
}

// The margin that is the least at the far end.
static int leader(const PawlRoot* r) {
  const double* f = r->f[r->high];
  int least = 0;
  for (int k = 1; k < r->count; k++) {
    least = f[k] < f[least] ? k : least;
  }
  return least;
}

// Where the parabola x(f) through the last three looks has f = 0; NaN without three.
static double inverse_parabola(const PawlRoot* r, int k) {
  double x[3], f[3];
  for (int i = 0; i < 3; i++) {
    if (r->newest[i] < 0) {
      return NAN;
    }
    x[i] = r->x[r->newest[i]];
    f[i] = r->f[r->newest[i]][k];
  }
  return x[0] * f[1] * f[2] / ((f[0] - f[1]) * (f[0] - f[2])) +
         x[1] * f[0] * f[2] / ((f[1] - f[0]) * (f[1] - f[2])) +
         x[2] * f[0] * f[1] / ((f[2] - f[0]) * (f[2] - f[1]));
}

double pawl_root_next(PawlRoot* r, double tolerance) {
  int k = leader(r), tries = r->looks++;
  double low = r->x[r->low], high = r->x[r->high], f_low = r->f[r->low][k],
         f_high = r->f[r->high][k];
  double x = inverse_parabola(r, k), middle = 0.5 * (low + high);
  if (!(x > low && x < high)) {
    x = (low * f_high - high * f_low) / (f_high - f_low);
  }
  if (tries % 6 == 5 || !(x > low && x < high)) {
    return middle;
  }
  double beyond =
      x < middle ? fmin(x + 0.4 * tolerance, middle) : fmax(x - 0.4 * tolerance, middle);
  return fmin(fmax(beyond, low + 0.25 * tolerance), high - 0.25 * tolerance);
}
