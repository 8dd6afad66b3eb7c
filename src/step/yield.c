// SPDX-License-Identifier: Apache-2.0
#include "step/yield.h"

#include <math.h>
#include <string.h>

#include "model/model.h"
#include "system/system.h"

// Values at the end of the step with the positions of its beginning.
static PawlStatus look_ahead(PawlStepper* s, PawlState* state, double h, const PawlValues** values,
                             const double** watch, PawlError* err) {
  double t = state->t;
  PawlPhase phase = pawl_phase_of(state, false);
  state->t = t + h;
  PawlStatus status = pawl_dynamics_evaluate(&s->dynamics, &phase, state, values, err);
  status = status ? status
                  : pawl_watch_look(&s->watching, &phase, state, state->v, state->a, state->lambda,
                                    watch, err);
  state->t = t;
  return status;
}

// M (v+ - v) = h f + G^T P, w = G v+ + g/h: the mean rates over the step; |P| <= h R for joints, P
// >= 0 for contacts.                                                                        (V22)
static void ask(PawlStepper* s, const PawlState* state, double h, const PawlValues* values,
                const double* watch) {
  PawlRowProblem* p = &s->watching.rows;
  PawlPhase phase = pawl_phase_of(state, false);
  pawl_watch_bounds(&s->watching, &phase, watch, 0.0, true);
  for (int j = 0; j < s->sizes.v; j++) {
    p->r[j] = h * values->f[j];
  }
  pawl_sparse_add(&s->H, values->M, 1.0, state->v, p->r);
  for (int i = 0; i < s->sizes.rows; i++) {
    if (pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT) {
      pawl_row_bounds(PAWL_ROW_OF_CONTACT, INFINITY, &p->lo[i], &p->hi[i]);
    }
    p->lo[i] *= h;
    p->hi[i] *= h;
    p->b[i] = values->g[i] / h;
  }
}

static bool presses(const PawlStepper* s) {
  bool any = false;
  for (int i = 0; i < s->sizes.rows; i++) {
    any |=
        pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT && s->watching.rows.lambda[i] > 0.0;
  }
  return any;
}

PawlStatus pawl_yield_find(PawlStepper* s, PawlState* state, double h, int* next, bool* any,
                           PawlError* err) {
  PawlWatching* w = &s->watching;
  const PawlValues* values;
  const double* watch;
  PawlRowsResult result;
  *any = false;
  memcpy(next, state->modes, pawl_phase_mode_bytes(state));
  if (w->joint_count == 0 || s->contact_count == 0) {
    return PAWL_OK;
  }
  PAWL_TRY(look_ahead(s, state, h, &values, &watch, err));
  ask(s, state, h, values, watch);
  PawlStatus status = pawl_watch_solve(w, values, &result, err);
  if (status != PAWL_OK || !presses(s)) {
    return status == PAWL_RETRY ? PAWL_OK : status;  // a motion without mass
  }
  for (int k = 0; k < w->joint_count; k++) {
    int c = w->joints[k];
    double rate = w->rows.w[s->system->constraints[c].first_row];
    if (state->modes[c] == PAWL_MODE_HELD && rate != 0.0) {
      next[c] = rate > 0.0 ? PAWL_MODE_UP : PAWL_MODE_DOWN;
      *any = true;
    }
  }
  return PAWL_OK;
}
