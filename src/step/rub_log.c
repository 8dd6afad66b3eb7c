// SPDX-License-Identifier: Apache-2.0
// What friction has done in a time step, for the log (docs/theory/moreau-jean.md, "Friction").
#include <math.h>

#include "model/model.h"
#include "step/rub.h"
#include "switch/tolerances.h"
#include "system/system.h"

// Closed is what carries a force, or touches, and keeps its gap; at a start, what touches.   (T12)
static inline int mode_of(const PawlContactFriction* of, bool closed, const double* rate,
                          double slow) {
  bool slips = fabs(rate[of->first]) > slow || (of->count > 1 && fabs(rate[of->first + 1]) > slow);
  return !closed ? PAWL_MODE_OPEN : slips ? PAWL_MODE_SLIPS : PAWL_MODE_CLOSED;
}

static bool turns(const PawlContactFriction* of, const PawlRubEnds* e) {
  return of->count == 1 && e->rate_before[of->first] * e->rate[of->first] < 0.0;
}

PawlStatus pawl_rub_log(PawlStepper* s, PawlRub* rub, const PawlRubEnds* e, PawlError* err) {
  bool begins = rub->begins, first_step = begins && e->before->step == 0;
  int first = s->sizes.rows - rub->contacts;
  rub->begins = false;
  for (int k = 0; k < rub->contacts; k++) {
    const PawlContactFriction* of = &rub->of[k];
    int i = first + k;
    bool stays = e->near[i] && fabs(e->rate_before[i]) <= e->slow && fabs(e->rate[i]) <= e->slow;
    bool pressed = e->lambda[i] > 0.0 || stays || (begins && e->near[i]);
    bool presses = e->impulse[i] > 0.0 || stays;
    if (of->count == 0 || !(pressed || presses) || e->rate_before[i] < -e->slow) {
      continue;  // apart, or hit
    }
    int from = mode_of(of, pressed && e->rate_before[i] <= e->slow, e->rate_before, e->slow);
    int to = mode_of(of, presses && fabs(e->rate[i]) <= e->slow, e->rate, e->slow);
    if (first_step && from == PAWL_MODE_CLOSED) {
      continue;  // what a start at rest comes to is no event
    }
    if (from != to || (from == PAWL_MODE_SLIPS && turns(of, e))) {
      PawlContactSeen seen = {i, from, to, e->t, e->q, e->v};
      PAWL_TRY(pawl_log_seen(&s->log, e->before, &seen, err));
    }
  }
  return PAWL_OK;
}
