// SPDX-License-Identifier: Apache-2.0
// The coefficients of friction of a step in time (docs/theory/moreau-jean.md, "Friction").
#include <math.h>

#include "base/error.h"
#include "step/rub.h"
#include "switch/tolerances.h"

// While a contact is open its coefficient may be anything.
static double usable(double mu) {
  return mu >= 0.0 && isfinite(mu) ? mu : 0.0;
}

PawlStatus pawl_rub_begin(PawlRub* rub, const PawlPhase* phase, const PawlState* state,
                          const double* rate, const double* size, PawlError* err) {
  PawlPoint at = pawl_phase_point(phase, state->t, state->q, state->v, state->a, state->lambda);
  PAWL_TRY(rub->watch ? pawl_eval_run(rub->watch, &at, err) : PAWL_OK);
  rub->stops = rub->relaxed = rub->near = rub->asked = false;
  rub->relaxed_often = 0;
  for (int k = 0; k < rub->contacts; k++) {
    const PawlContactFriction* of = &rub->of[k];
    int row = pawl_rub_row(rub, k);
    bool slips = false, hits = rate[row] < -PAWL_CONTACT_CLOSED * size[row];
    for (int i = 0; i < of->count; i++) {
      rub->slip_n[2 * k + i] = rate[of->first + i];
      slips |= fabs(rate[of->first + i]) > PAWL_CONTACT_CLOSED * size[of->first + i];
    }
    rub->known[k] = false;
    rub->rests[k] = !slips;
    rub->hits[k] = hits;
    rub->mu[k] = of->watch >= 0 ? usable(pawl_eval_values(rub->watch)->watch[of->watch])
                 : slips        ? of->slides
                                : of->sticks;
    bool stops = slips && !hits && of->watch < 0 && of->sticks > of->slides;
    rub->stop[k] = stops ? PAWL_RUB_ON : PAWL_RUB_PASSED;
    rub->stops |= stops;
  }
  return PAWL_OK;
}

PawlStatus pawl_rub_check(const PawlStepper* s, const PawlRub* rub, const PawlState* state,
                          const double* push, PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, s->dynamics.plain);
  PawlPoint at = pawl_phase_point(&phase, state->t, state->q, state->v, state->a, state->lambda);
  for (int k = 0; k < rub->contacts; k++) {
    int row = pawl_rub_row(rub, k), watch = rub->of[k].watch;
    if (watch >= 0 && push[row] > 0.0) {
      double mu = pawl_eval_values(rub->watch)->watch[watch];
      PAWL_TRY(pawl_system_check_friction(s->system, row, mu, &at, err));
    }
  }
  return PAWL_OK;
}

bool pawl_rub_stop(PawlRub* rub, const double* y, const unsigned char* closed) {
  bool changed = false;
  for (int k = 0; k < rub->contacts; k++) {
    const PawlContactFriction* of = &rub->of[k];
    if (rub->stop[k] == PAWL_RUB_PASSED || !closed[pawl_rub_row(rub, k)] || closed[of->first]) {
      continue;
    }
    double along = 0.0;  // of what friction pushes: the way it slipped at the beginning
    for (int i = 0; i < of->count; i++) {
      along += y[of->first + i] * rub->slip_n[2 * k + i];
    }
    if (rub->stop[k] == PAWL_RUB_HELD || along > 0.0) {
      rub->stop[k]++;
      rub->mu[k] = rub->stop[k] == PAWL_RUB_HELD ? of->sticks : of->slides;
      changed = true;
    }
  }
  return changed;
}
