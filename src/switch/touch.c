// SPDX-License-Identifier: Apache-2.0
#include "switch/touch.h"

#include <math.h>
#include <string.h>

#include "switch/tolerances.h"
#include "system/system.h"

// [1] Of a gap that a method leaves open or lets overlap: what a condition may differ from a
// multiple of it, since the two need not be proportional away from their zero.
static const double OF_GAP = 0.01;

void pawl_touch_drop(PawlTouch* t) {
  for (int k = 0; k < t->pinned->dynamics->system->watch_count; k++) {
    t->carrier[k] = (PawlCarrier){-1, 0};
  }
}

PawlStatus pawl_touch_create(PawlPinned* pinned, PawlTouch* t, PawlError* err) {
  PawlDynamics* d = pinned->dynamics;
  size_t rows = (size_t)d->sizes.rows, places = (size_t)d->system->watch_count;
  *t = (PawlTouch){.pinned = pinned,
                   .end = d->sizes.rows,
                   .closed = PAWL_NEW(d->arena, unsigned char, rows),
                   .hit = PAWL_NEW(d->arena, unsigned char, rows),
                   .pressed = PAWL_NEW(d->arena, unsigned char, rows),
                   .lambda = PAWL_NEW(d->arena, double, rows),
                   .size = PAWL_NEW(d->arena, double, rows),
                   .carrier = PAWL_NEW(d->arena, PawlCarrier, places)};
  for (int k = 0; k < 2; k++) {
    t->slope[k] = PAWL_NEW(d->arena, double, places);
    t->gap_slope[k] = PAWL_NEW(d->arena, double, rows);
  }
  if (d->arena->failed) {
    return pawl_fail_memory(err);
  }
  while (t->first < t->end && pawl_system_row_kind(d->system, t->first) != PAWL_ROW_CONTACT) {
    t->first++;
  }
  t->rubs = t->first;
  while (t->rubs > 0 && pawl_system_row_kind(d->system, t->rubs - 1) == PAWL_ROW_FRICTION) {
    t->rubs--;
  }
  pawl_touch_drop(t);
  return PAWL_OK;
}

static bool closes_now(const PawlTouch* t, bool all) {
  bool closes = false;
  for (int i = t->first; i < t->end; i++) {
    closes |= t->closed[i] && (all || !t->pressed[i] || t->hit[i]);
  }
  return closes;
}

// f = c g near this state: along both motions f changes by c times what the gap does, and so far
// from zero are both.                                                                        (V18)
static bool carries(const PawlTouch* t, int i, int k, double f, double gap, double* c) {
  const double *x = t->slope[0], *y = t->slope[1];
  double X = t->gap_slope[0][i], Y = t->gap_slope[1][i];
  double across = fabs(x[k] * Y - y[k] * X), size = fabs(x[k] * Y) + fabs(y[k] * X);
  *c = fabs(X) > fabs(Y) ? x[k] / X : y[k] / Y;
  return size > 0.0 && across <= PAWL_PINNED_ALONG * size &&
         fabs(f - *c * gap) <= fabs(*c) * (OF_GAP * fabs(gap) + PAWL_PINNED_ZERO * t->size[i]);
}

static void look_for(PawlTouch* t, int k, double f, const double* gaps) {
  for (int i = t->first; i < t->end && t->carrier[k].row < 0; i++) {
    double c;
    if (t->closed[i] && carries(t, i, k, f, gaps[i], &c)) {
      t->carrier[k] = (PawlCarrier){i, c > 0.0 ? 1 : -1};
    }
  }
}

PawlStatus pawl_touch_find(PawlTouch* t, const PawlState* state, const double* watch, bool all,
                           PawlError* err) {
  PawlDynamics* d = t->pinned->dynamics;
  const PawlValues* values;
  t->fresh = false;
  pawl_touch_drop(t);
  if (!closes_now(t, all)) {
    return PAWL_OK;
  }
  PawlPhase phase = pawl_phase_of(state, d->plain);
  PAWL_TRY(pawl_dynamics_evaluate(d, &phase, state, &values, err));
  pawl_dynamics_row_sizes(d, values->G, state->q, t->size);
  for (int k = 0; k < 2; k++) {
    const double* motion;
    PAWL_TRY(pawl_pinned_slopes(t->pinned, state, values, k, t->slope[k], &motion, err));
    pawl_dynamics_rows(d, values->G, motion, NULL, t->gap_slope[k]);
  }
  for (int k = 0; k < d->system->watch_count; k++) {
    look_for(t, k, watch[k], values->g);
  }
  return PAWL_OK;
}
