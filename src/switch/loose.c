// SPDX-License-Identifier: Apache-2.0
#include "switch/loose.h"

#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/tolerances.h"
#include "system/system.h"

static void push(const PawlDynamics* d, const double* G, int row, double by, double* x) {
  const PawlByRows* rows = &d->slip->rows;
  for (int p = rows->start[row]; p < rows->start[row + 1]; p++) {
    x[rows->column[p]] += by * G[rows->at[p]];
  }
}

// Loads of row d that were spread are determined.
static bool is_spread(const PawlSpread* s, int d) {
  bool yes = false;
  for (int at = 0; at < s->count; at++) {
    yes |= s->any && s->row[at] == d && s->rubs[at];
  }
  return yes;
}

// n = X, G_d = sum X_j G_j of the rows that are held, with the factors of these.
static void relate(const PawlDynamics* d, const PawlValues* values, int row, double* n) {
  memset(d->slip->p, 0, (size_t)d->sizes.v * sizeof(double));
  memset(n, 0, (size_t)d->sizes.rows * sizeof(double));
  push(d, values->G, row, 1.0, d->slip->p);
  pawl_kkt_solve(d->kkt, d->slip->p, n);
  double most = pawl_dynamics_largest(d->sizes.rows, n);
  for (int i = 0; i < d->sizes.rows; i++) {
    n[i] = fabs(n[i]) > PAWL_SHARE_PART * most ? -n[i] : 0.0;
  }
  n[row] = 1.0;
}

// The friction that grows with n, and whether it moves anything; the gap of least lambda among its
// contacts.
static bool moves(const PawlDynamics* d, const PawlState* state, const PawlValues* values,
                  const double* n, const double* lambda, double* none, int* gap) {
  const PawlSlip* s = d->slip;
  PawlPhase phase = pawl_phase_of(state, false);
  double *x = s->p, size = 0.0;
  memset(x, 0, (size_t)d->sizes.v * sizeof(double));
  memset(none, 0, (size_t)d->sizes.rows * sizeof(double));
  *gap = -1;
  for (int k = 0; k < s->count; k++) {
    const PawlSlipContact* c = &s->contact[k];
    double along[PAWL_MOST_SLIPS];
    if (n[c->normal] != 0.0 && pawl_slip_slips(state->modes[c->mode])) {
      pawl_slip_direction(s, &phase, k, along);
      for (int i = 0; i < c->count; i++) {
        push(d, values->G, c->first + i, -pawl_slip_mu(s, k, false) * along[i] * n[c->normal], x);
      }
      *gap = *gap < 0 || lambda[c->normal] < lambda[*gap] ? c->normal : *gap;
    }
  }
  double pushed = pawl_dynamics_largest(d->sizes.v, x);
  for (int j = 0; j < d->sizes.v; j++) {
    double mass = d->diagonal[j] >= 0 ? values->M[d->diagonal[j]] : 0.0;
    size = fmax(size, mass > 0.0 ? fabs(x[j]) / mass : 0.0);
  }
  if (*gap < 0 || pushed == 0.0) {
    return false;
  }
  pawl_kkt_solve(d->kkt, x, none);
  return pawl_dynamics_largest(d->sizes.v, x) > PAWL_MEETS * size;
}

PawlStatus pawl_loose_find(PawlDynamics* d, const PawlState* state, const PawlValues* values,
                           const double* lambda, int* row, PawlError* err) {
  PawlSlip* s = d->slip;
  PawlPhase phase = pawl_phase_of(state, false);
  *row = -1;
  if (!s || s->count == 0 || state->redundant_count == 0 || !pawl_slip_any(s, &phase)) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_slip_look(s, &phase, state->t, state->q, state->v, err));
  PAWL_TRY(pawl_dynamics_factor(d, values, state->active)
               ? pawl_dynamics_singular(d, values->M, values->G, state->active, state->t, err)
               : PAWL_OK);
  for (int i = 0; i < d->sizes.rows && *row < 0; i++) {
    if (state->redundant[i] && !is_spread(&s->spread, i)) {
      int gap;
      relate(d, values, i, s->lambda);
      *row = moves(d, state, values, s->lambda, lambda, s->by, &gap) ? gap : -1;
    }
  }
  return PAWL_OK;
}
