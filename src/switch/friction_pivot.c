// SPDX-License-Identifier: Apache-2.0
// Planar blocks: all rows in the wrong place change it at once (docs/theory/friction.md, section
// 3).
#include <string.h>

#include "switch/friction_impl.h"

// A contact with w = 0: what changes elsewhere will probably press on it.
static bool touches(const PawlFrictionWork* k, int i) {
  bool out = k->owner[i] < 0 && !pawl_friction_fixed(k, i) && k->place[i] == PAWL_ROW_LOW;
  return out && k->lo[i] == 0.0 && fabs(pawl_friction_w(k, i)) <= pawl_friction_slack(k, i);
}

// A block that opens or closes begins with sticking.
static void change_rows(PawlFrictionWork* k, bool first) {
  for (int i = 0; i < k->m; i++) {
    bool closes = first && touches(k, i);
    k->next[i] = (unsigned char)(closes ? PAWL_ROW_FREE : pawl_friction_belongs(k, i));
  }
  for (int b = 0; b < k->blocks; b++) {
    int n = k->block[b].normal;
    bool opens_or_closes = k->next[n] != k->place[n];
    for (int j = 0; opens_or_closes && j < 1 + pawl_friction_spatial(&k->block[b]); j++) {
      k->next[k->block[b].tangent[j]] = PAWL_ROW_FREE;
    }
    bool joint = k->lo[n] < 0.0 && pawl_friction_turned(k, b);
    k->sign[b] = (signed char)(joint ? -k->sign[b] : k->sign[b]);
  }
  memcpy(k->place, k->next, (size_t)k->m);
}

// ---- Newton's method with a line search ---------------------------------------------------------

static const double RHO = 0.5;  // of w: D_ii is between 1 and 4

static double nearest(double x, double lo, double hi) {
  return fmin(fmax(x, lo), hi);
}

// |F| at lambda and w, w that of the softened rows: sides as in (F11).
static double natural(const PawlFrictionWork* k, const double* lambda, const double* w) {
  double sum = 0.0;
  for (int i = 0; i < k->m; i++) {
    int b = k->owner[i];
    double limit = b >= 0 ? k->mu[b] * fabs(lambda[k->block[b].normal]) : 0.0;
    double lo = b >= 0 ? -limit : k->lo[i], hi = b >= 0 ? limit : k->hi[i];
    bool tied = b >= 0 && k->block[b].sliding;
    double left = tied ? lambda[i] - k->tie[i] * lambda[k->block[b].normal]
                       : lambda[i] - nearest(lambda[i] - RHO * w[i], lo, hi);
    sum += left * left;
  }
  return sqrt(sum);
}

// The place on whose side lambda - rho w lies.
static void take_sides(PawlFrictionWork* k, const double* lambda, const double* w) {
  for (int i = 0; i < k->m; i++) {
    int b = k->owner[i];
    double y = lambda[i] - RHO * w[i];
    double limit = b >= 0 ? k->mu[b] * fabs(lambda[k->block[b].normal]) : 0.0;
    double lo = b >= 0 ? -limit : k->lo[i], hi = b >= 0 ? limit : k->hi[i];
    bool may = b >= 0 ? !k->block[b].sliding : !pawl_friction_fixed(k, i);
    k->place[i] = !may     ? k->place[i]
                  : y < lo ? PAWL_ROW_LOW
                  : y > hi ? PAWL_ROW_HIGH
                           : PAWL_ROW_FREE;
  }
  for (int b = 0; b < k->blocks; b++) {
    int n = k->block[b].normal, t = k->block[b].tangent[0];
    bool open = k->place[n] == PAWL_ROW_LOW && k->lo[n] == 0.0;
    bool joint = k->lo[n] < 0.0 && !pawl_friction_fixed(k, n) && !k->block[b].pulls;
    k->place[t] = open && !k->block[b].sliding ? PAWL_ROW_FREE : k->place[t];
    k->sign[b] = (signed char)(!joint ? k->sign[b] : lambda[n] < 0.0 ? -1 : 1);
  }
}

// How far to go from the point (lambda, w) to the solution of the set: the longest of 1, 1/2, ...
// that lets |F| fall below the largest of the last ones, else the one with the least |F|. `*size`
// is |F| there; the point is taken there.
static double go(PawlFrictionWork* k, double* lambda, double* w, double* size) {
  enum { HALVINGS = 10 };
  static const double ENOUGH = 0.999;
  double allowed = ENOUGH * *size, best = INFINITY, best_part = 0.0, part = 1.0;
  for (int halving = 0; halving < HALVINGS; halving++, part *= 0.5) {
    for (int i = 0; i < k->m; i++) {
      k->trial[i] = lambda[i] + part * (k->lambda[i] - lambda[i]);
      k->trial_w[i] = w[i] + part * (pawl_friction_w(k, i) - w[i]);
    }
    double now = natural(k, k->trial, k->trial_w);
    if (now < best) {
      best = now;
      best_part = part;
    }
    if (now <= allowed) {
      break;
    }
  }
  for (int i = 0; i < k->m; i++) {
    lambda[i] += best_part * (k->lambda[i] - lambda[i]);
    w[i] += best_part * (pawl_friction_w(k, i) - w[i]);
  }
  *size = best;
  return best_part;
}

// From lambda and w as they are.                                                           (F15)
PawlStatus pawl_friction_descend(PawlFrictionWork* k, PawlFrictionResult* result, bool* done) {
  enum { MOST = 60, MEMORY = 3 };
  double last[MEMORY];
  *done = false;
  for (int i = 0; i < k->m; i++) {
    k->point[i] = k->lambda[i];
    k->point_w[i] = pawl_friction_w(k, i);
  }
  for (int i = 0; i < MEMORY; i++) {
    last[i] = natural(k, k->point, k->point_w);
  }
  for (int count = 0; count < MOST && !*done; count++) {
    take_sides(k, k->point, k->point_w);
    pawl_friction_arrange(k);
    PAWL_TRY(pawl_friction_solve_set(k));
    result->rounds++;
    double size = fmax(last[0], fmax(last[1], last[2]));
    *done = pawl_friction_count_wrong(k) == 0;
    (void)go(k, k->point, k->point_w, &size);
    last[count % MEMORY] = size;
  }
  return PAWL_OK;
}

// ---- all at once, and hardening -----------------------------------------------------------------

PawlStatus pawl_friction_pivots(PawlFrictionWork* k, PawlFrictionResult* result, bool* done) {
  enum { PATIENCE = 6 };
  int fewest = k->m + k->blocks + 1, patience = PATIENCE;
  *done = false;
  for (bool first = true; patience >= 0; first = false) {
    pawl_friction_arrange(k);
    PAWL_TRY(pawl_friction_solve_set(k));
    result->rounds++;
    int count = pawl_friction_count_wrong(k);
    patience = count < fewest ? PATIENCE : patience - 1;
    fewest = count < fewest ? count : fewest;
    *done = count == 0;
    if (*done) {
      return PAWL_OK;
    }
    change_rows(k, first);
  }
  return PAWL_OK;
}

PawlStatus pawl_friction_blocks(PawlFrictionWork* k, PawlFrictionResult* result, bool* done) {
  PAWL_TRY(pawl_friction_pivots(k, result, done));
  return *done ? PAWL_OK : pawl_friction_descend(k, result, done);
}

static double largest_change(const PawlFrictionWork* k, double* force) {
  double change = 0.0;
  *force = 0.0;
  for (int i = 0; i < k->m; i++) {
    change = fmax(change, fabs(k->lambda[i] - k->before[i]));
    *force = fmax(*force, fabs(k->lambda[i]));
  }
  return change;
}

// Solves again and again with the forces of the round before, until rows give way no more, and the
// forces have settled as far as rounding lets them. *done with rows that give way: that takes too
// long.                                                                                     (F6)
PawlStatus pawl_friction_harden(PawlFrictionWork* k, PawlFrictionResult* result, bool* done) {
  enum { MOST = 40 };
  static const double SHRINKS = 0.3;
  double last = INFINITY;
  PAWL_TRY(pawl_friction_blocks(k, result, done));
  for (int round = 0; *done && round < MOST; round++) {
    double force, change = largest_change(k, &force);
    bool shrinks = change < SHRINKS * last;
    bool settled = change <= PAWL_FRICTION_SETTLED * force || !shrinks;
    if (settled && !pawl_friction_gives_way(k)) {
      return PAWL_OK;
    }
    last = change;
    memcpy(k->before, k->lambda, (size_t)k->m * sizeof(double));
    PAWL_TRY(pawl_friction_blocks(k, result, done));
  }
  return PAWL_OK;
}

// All rows hold, and all blocks stick.
void pawl_friction_hold_all(PawlFrictionWork* k) {
  memset(k->before, 0, (size_t)k->m * sizeof(double));
  for (int i = 0; i < k->m; i++) {
    k->place[i] = pawl_friction_fixed(k, i) ? PAWL_ROW_LOW : PAWL_ROW_FREE;
  }
}
