// SPDX-License-Identifier: Apache-2.0
#include "switch/between.h"

#include <math.h>

#include "base/error.h"
#include "switch/tolerances.h"

PawlStatus pawl_between_create(PawlArena* arena, int most, PawlBetween* b, PawlError* err) {
  *b = (PawlBetween){.most = most, .noise = PAWL_NEW(arena, double, most)};
  for (int k = 0; k < PAWL_BETWEEN_MOST + 2; k++) {
    b->f[k] = PAWL_NEW(arena, double, most);
    b->rate[k] = PAWL_NEW(arena, double, most);
  }
  return arena->failed ? pawl_fail_memory(err) : PAWL_OK;
}

int pawl_between_add(PawlBetween* b, double x) {
  int at = b->places++;
  double *f = b->f[at], *rate = b->rate[at];
  for (; at > 0 && b->x[at - 1] > x; at--) {
    b->x[at] = b->x[at - 1];
    b->f[at] = b->f[at - 1];
    b->rate[at] = b->rate[at - 1];
  }
  b->x[at] = x;
  b->f[at] = f;
  b->rate[at] = rate;
  return at;
}

bool pawl_between_may_turn(double first, double now, double p1) {
  static const double OF_RATE = 0.25;
  double p0 = 2.0 * (now - first) - p1;
  return (p0 < OF_RATE * fabs(p1) && p1 > -OF_RATE * fabs(p0)) || (p1 > now && !isinf(first));
}

// The least value of the cubic with values f0, f1 and slopes p0, p1 at 0 and 1, inside;
// *at is where. INFINITY: it has no minimum inside.                                        (V14)
//   f0 + p0 x + (3 d - 2 p0 - p1) x^2 + (p0 + p1 - 2 d) x^3,   d = f1 - f0
static double least_of_cubic(double f0, double p0, double f1, double p1, double* at) {
  double d = f1 - f0, b = 3.0 * d - 2.0 * p0 - p1, c = p0 + p1 - 2.0 * d;
  double root = b * b - 3.0 * c * p0;  // of the slope p0 + 2 b x + 3 c x^2, where it rises
  if (!(root > 0.0)) {
    return INFINITY;
  }
  *at = b > 0.0 ? -p0 / (b + sqrt(root)) : (sqrt(root) - b) / (3.0 * c);
  double x = *at;
  return x > 0.0 && x < 1.0 ? f0 + x * (p0 + x * (b + x * c)) : INFINITY;
}

// Where the tangents at 0 and 1 meet: the least value of a margin with a corner inside, such as
// that of a band; *at is where. INFINITY: it does not fall and rise again. (V19)
static double least_of_corner(double f0, double p0, double f1, double p1, double* at) {
  double x = p0 < 0.0 && p1 > 0.0 ? (f1 - p1 - f0) / (p0 - p1) : -1.0;
  *at = x;
  return x > 0.0 && x < 1.0 ? f0 + p0 * x : INFINITY;
}

// (V15), (V19)
static bool is_suspect(const PawlBetween* b, int place, int k, double* at) {
  static const double OF_DIP = 0.125;  // what the cubic may be off, of its dip
  double f0 = b->f[place][k], f1 = b->f[place + 1][k], h = b->x[place + 1] - b->x[place];
  if (isinf(f0) || isinf(f1)) {
    return false;
  }
  double p0 = h * b->rate[place][k], p1 = h * b->rate[place + 1][k];
  double least = least_of_cubic(f0, p0, f1, p1, at), dip = fmin(f0, f1) - least;
  if (dip > b->noise[k] && least <= OF_DIP * dip) {
    return true;
  }
  least = least_of_corner(f0, p0, f1, p1, at);
  return least <= 0.0 && fmin(f0, f1) - least > b->noise[k];
}

bool pawl_between_suspect(const PawlBetween* b, double* x, double* low) {
  static const double PARTS = 65536.0;  // of the distance of two places: rounding does not matter
  double at = 0.0, first = INFINITY;
  for (int place = 0; place + 1 < b->places && isinf(first); place++) {
    for (int k = 0; k < b->count; k++) {
      if (is_suspect(b, place, k, &at)) {
        at = fmin(fmax(round(PARTS * at), 1.0), PARTS - 1.0) / PARTS;
        first = fmin(first, b->x[place] + at * (b->x[place + 1] - b->x[place]));
        *low = b->x[place];
      }
    }
  }
  *x = first;
  return !isinf(first) && b->places < PAWL_BETWEEN_MOST + 2;
}
