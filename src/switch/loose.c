// SPDX-License-Identifier: Apache-2.0
#include "switch/loose.h"

#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/modes.h"
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

// n of sum n_j G_j = 0 with n = 1 of that row and the rows that are held, with the factors of
// these.
static void relate(const PawlDynamics* d, const PawlValues* values, int row, double* n) {
  memset(d->slip->p, 0, (size_t)d->sizes.v * sizeof(double));
  memset(n, 0, (size_t)d->sizes.rows * sizeof(double));
  push(d, values->G, row, 1.0, d->slip->p);
  pawl_kkt_solve(d->kkt, d->slip->p, n);
  double most = pawl_dynamics_largest(d->sizes.rows, n);
  for (int i = 0; i < d->sizes.rows; i++) {
    n[i] = fabs(n[i]) > PAWL_SHARE_PART * most ? n[i] : 0.0;
  }
  n[row] = 1.0;
}

// The friction that grows with n, to x; the gap of least lambda among its contacts. False: nothing
// is pushed.
static bool rub(const PawlDynamics* d, const PawlState* state, const PawlValues* values,
                const double* n, const double* lambda, double* x, int* gap) {
  const PawlSlip* s = d->slip;
  PawlPhase phase = pawl_phase_of(state, false);
  memset(x, 0, (size_t)d->sizes.v * sizeof(double));
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
  return *gap >= 0 && pawl_dynamics_largest(d->sizes.v, x) > 0.0;
}

// What that friction moves, to x, and the multipliers that it changes, friction of contacts that
// slip with them. *moves: anything.                                                         (F42)
static PawlStatus respond(PawlDynamics* d, const PawlState* state, const PawlValues* values,
                          double* x, double* y, bool* moves, PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, false);
  const double* B;
  double size = 0.0;
  for (int j = 0; j < d->sizes.v; j++) {
    double mass = d->diagonal[j] >= 0 ? values->M[d->diagonal[j]] : 0.0;
    size = fmax(size, mass > 0.0 ? fabs(x[j]) / mass : 0.0);
  }
  PAWL_TRY(pawl_slip_directions(d->slip, &phase, values->G, state->t, state->q, state->v,
                                state->lambda, &B, err));
  PAWL_TRY(pawl_kkt_factor(d->kkt, values->M, B, values->G, state->active)
               ? pawl_dynamics_singular(d, values->M, values->G, state->active, state->t, err)
               : PAWL_OK);
  memset(y, 0, (size_t)d->sizes.rows * sizeof(double));
  pawl_kkt_solve(d->kkt, x, y);
  *moves = pawl_dynamics_largest(d->sizes.v, x) > PAWL_MEETS * size;
  return PAWL_OK;
}

// ---- how far loads may change -------------------------------------------------------------------
// The least alpha > 0 at which a contact that sticks comes to its cone, as its forces change by nu.
static double border_of(const PawlSlip* s, int k, const double* lambda, const double* nu,
                        double side) {
  const PawlSlipContact* c = &s->contact[k];
  double mu = pawl_slip_mu(s, k, true), N = mu * lambda[c->normal],
         rate = side * mu * nu[c->normal];
  double a = rate * rate, b = N * rate, left = N * N;  // a alpha^2 + 2 b alpha + left
  for (int i = c->first; i < c->first + c->count; i++) {
    a -= nu[i] * nu[i];
    b -= side * lambda[i] * nu[i];
    left -= lambda[i] * lambda[i];
  }
  left = fmax(left, 0.0);
  double root = b * b - a * left;
  if (left == 0.0 && b <= 0.0 && a < 0.0) {
    return 0.0;
  }
  if (root < 0.0 || (a >= 0.0 && b >= 0.0)) {
    return INFINITY;
  }
  return left / (sqrt(root) - b);
}

typedef struct Way {
  double length;  // alpha up to the first border
  int row;        // the gap that comes to it, where what ends there takes part in n; -1: another
  bool slips;     // the border is that of its cone
} Way;

// Whether friction of a contact that sticks takes part in n, and stays as it is when it slips.
static bool may_slip(const PawlSlip* s, int k, const double* n, const double* lambda) {
  const PawlSlipContact* c = &s->contact[k];
  bool any = false;
  for (int i = c->first; i < c->first + c->count; i++) {
    any |= n[i] != 0.0;
  }
  return any && lambda[c->normal] > 0.0 && pawl_slip_mu(s, k, true) == pawl_slip_mu(s, k, false);
}

// Up to where a load is zero.
static Way go_to_zero(const PawlDynamics* d, const PawlState* state, const double* n,
                      const double* nu, const double* lambda, double side) {
  PawlPhase phase = pawl_phase_of(state, false);
  Way way = {INFINITY, -1, false};
  double least = PAWL_SHARE_PART * pawl_dynamics_largest(d->sizes.rows, nu);
  int first, end = pawl_modes_contacts(d->system, &first);
  for (int i = first; i < end; i++) {
    double rate = side * nu[i];
    bool falls = pawl_phase_binds(&phase, i) && rate < -least;
    double zero = falls ? fmax(lambda[i], 0.0) / -rate : INFINITY;
    if (zero < way.length) {
      way = (Way){zero, n[i] != 0.0 ? i : -1, false};
    }
  }
  return way;
}

static Way go(const PawlDynamics* d, const PawlState* state, const double* n, const double* nu,
              const double* lambda, double side) {
  const PawlSlip* s = d->slip;
  PawlPhase phase = pawl_phase_of(state, false);
  Way way = go_to_zero(d, state, n, nu, lambda, side);
  for (int k = 0; k < s->count; k++) {
    const PawlSlipContact* c = &s->contact[k];
    bool sticks = pawl_phase_binds(&phase, c->normal) && !pawl_slip_slips(state->modes[c->mode]);
    double border = sticks ? border_of(s, k, lambda, nu, side) : INFINITY;
    if (border < way.length) {
      way = (Way){border, may_slip(s, k, n, lambda) ? c->normal : -1, true};
    }
  }
  return way;
}

// Loads change along nu until one of those in n is zero, or its cone is reached, where that comes
// before all else: there they are determined when it carries nothing, or slips, and all that was
// decided stays as it is.                                                                   (F48)
static void walk(const PawlDynamics* d, const PawlState* state, const double* n, const double* nu,
                 double* lambda, PawlLoose* out) {
  Way up = go(d, state, n, nu, lambda, 1.0), down = go(d, state, n, nu, lambda, -1.0);
  bool rises = up.row >= 0 && (down.row < 0 || up.length <= down.length);
  Way way = rises ? up : down;
  if (way.row < 0) {
    return;
  }
  for (int i = 0; i < d->sizes.rows; i++) {
    lambda[i] += (rises ? way.length : -way.length) * nu[i];
  }
  lambda[way.row] = way.slips ? lambda[way.row] : 0.0;
  *out = (PawlLoose){.row = way.row, .reached = true, .slips = way.slips};
}

PawlStatus pawl_loose_find(PawlDynamics* d, const PawlState* state, const PawlValues* values,
                           double* lambda, PawlLoose* out, PawlError* err) {
  PawlSlip* s = d->slip;
  PawlPhase phase = pawl_phase_of(state, false);
  *out = (PawlLoose){.row = -1};
  if (!s || s->count == 0 || state->redundant_count == 0 || !pawl_slip_any(s, &phase)) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_slip_look(s, &phase, state->t, state->q, state->v, err));
  for (int i = 0; i < d->sizes.rows && out->row < 0; i++) {
    double *n = s->lambda, *y = s->by;
    bool moves = false;
    int gap;
    bool idle = pawl_dynamics_leaves_to_contacts(d, state, i);  // (F34)
    if (!state->redundant[i] || idle || is_spread(&s->spread, i)) {
      continue;
    }
    PAWL_TRY(pawl_dynamics_factor(d, values, state->active)
                 ? pawl_dynamics_singular(d, values->M, values->G, state->active, state->t, err)
                 : PAWL_OK);
    relate(d, values, i, n);
    if (rub(d, state, values, n, lambda, s->p, &gap)) {
      PAWL_TRY(respond(d, state, values, s->p, y, &moves, err));
    }
    if (moves) {
      for (int j = 0; j < d->sizes.rows; j++) {
        y[j] += n[j];
      }
      out->row = gap;
      walk(d, state, n, y, lambda, out);
    }
  }
  return PAWL_OK;
}
