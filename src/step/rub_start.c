// SPDX-License-Identifier: Apache-2.0
#include "step/rub_start.h"

#include <math.h>
#include <string.h>

#include "switch/tolerances.h"

// The rate of a contact that slips goes on whatever the accelerations are: it is added to them as
// that of a step too short to change it.                                                     (T28)
static void add_slip(PawlRub* rub, int k, double fast, double* w0, double* size) {
  const PawlContactFriction* of = &rub->of[k];
  double* slip = rub->slip_n + 2 * k;
  double rate = of->count > 1 ? hypot(slip[0], slip[1]) : of->count > 0 ? fabs(slip[0]) : 0.0;
  if (rub->rests[k] || rate == 0.0) {
    return;
  }
  rub->found[k].place = PAWL_RUB_SLIP;
  rub->found[k].turns = 0.0;
  rub->known[k] = true;
  for (int i = 0; i < of->count; i++) {
    rub->found[k].direction[i] = slip[i] / rate;
    slip[i] *= fast / rate;
    w0[of->first + i] += slip[i];
    size[of->first + i] += fast;
  }
}

PawlStatus pawl_rub_start(PawlStepper* s, PawlRub* rub, PawlContacts* c, const PawlPhase* phase,
                          const PawlState* state, double* x, double* y, bool* found,
                          PawlError* err) {
  size_t rows = (size_t)s->sizes.rows;
  double *w0 = c->opening, *guess = c->push;
  const PawlValues* values;
  *found = false;
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, phase, state, &values, err));
  memset(rub->closed, 0, rows);
  if (pawl_contacts_resting(s, c, state, values, rub->closed) == 0) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_rub_begin(rub, phase, state, c->opening, c->size, err));
  for (int i = 0; i < s->sizes.rows; i++) {
    rub->holds[i] = pawl_phase_binds(phase, i);
    guess[i] = 0.0;
  }
  memcpy(w0, values->gamma, rows * sizeof(double));
  pawl_sparse_sizes(&s->G, values->G, state->a, c->least_a, c->size);
  double most = c->least_a;
  for (int i = rub->first_row; i < s->sizes.rows; i++) {
    most = fmax(most, c->size[i]);
  }
  for (int k = 0; k < rub->contacts; k++) {
    add_slip(rub, k, PAWL_RUB_GOES_ON * most, w0, c->size);
  }
  memcpy(x, values->f, (size_t)s->sizes.v * sizeof(double));
  PawlRubStep step = {.t = state->t,
                      .S = values->M,
                      .B = values->G,
                      .J = values->G,
                      .bilateral = rub->holds,
                      .near = rub->closed,
                      .w0 = w0,
                      .size = c->size,
                      .tolerance = PAWL_CONTACT_CLOSED,
                      .guess = guess};
  PawlStatus status = pawl_rub_solve(s, rub, &step, x, y, rub->pushes, err);
  *found = status == PAWL_OK;
  if (*found) {
    return pawl_rub_check(s, rub, state, y, err);
  }
  return status == PAWL_RETRY ? PAWL_OK : status;
}
