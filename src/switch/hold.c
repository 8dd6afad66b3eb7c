// SPDX-License-Identifier: Apache-2.0
#include "switch/hold.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/tolerances.h"
#include "system/system.h"

// A row without any terms has nothing to be measured by.
static double size_of(double terms) {
  return terms > 0.0 ? terms : PAWL_SMALLEST_SIZE;
}

void pawl_hold_take(const PawlDynamics* d, PawlState* state, int c, double* g, const double* size,
                    const double* watch, bool* refused) {
  const PawlConstraint* k = &d->system->constraints[c];
  assert(k->triggered && state->modes[c] == PAWL_MODE_HELD);
  int at = d->system->watches[c].to;
  double to = at >= 0 ? watch[at] : 0.0;
  *refused = false;
  for (int r = k->first_row; r < k->first_row + k->row_count; r++) {
    bool keeps = k->on_engage == PAWL_ENGAGE_KEEP;
    state->held[r] = keeps ? g[r] : to;
    *refused |=
        k->on_engage == PAWL_ENGAGE_REFUSE && fabs(g[r] - to) > PAWL_MEETS * size_of(size[r]);
    g[r] = keeps ? 0.0 : g[r] - to;
  }
}

void pawl_hold_set(const PawlDynamics* d, PawlState* state, int c, const double* values) {
  const PawlConstraint* k = &d->system->constraints[c];
  for (int s = k->first_set; s < k->first_set + k->set_count; s++) {
    int input = d->system->model->sets[s].input;
    pawl_phase_inputs(state, d->system)[input] =
        values ? values[s] : d->system->start_inputs[input];
  }
}

void pawl_hold_follow(const PawlDynamics* d, PawlState* state, const double* watch) {
  const PawlModel* model = d->system->model;
  for (int s = 0; model && model->follow_count > 0 && s < model->set_count; s++) {
    if (model->sets[s].follows) {
      pawl_phase_inputs(state, d->system)[model->sets[s].input] = watch[d->system->first_set + s];
    }
  }
}

void pawl_hold_drop(const PawlDynamics* d, PawlState* state, int c) {
  const PawlConstraint* k = &d->system->constraints[c];
  assert(c >= 0 && c < d->system->constraint_count && k->triggered);
  memset(state->held + k->first_row, 0, (size_t)k->row_count * sizeof(double));
}

double pawl_hold_worst(const PawlDynamics* d, const PawlState* state, const PawlValues* values,
                       const unsigned char* set, double slack, const double* rate, double* size,
                       int* row) {
  double worst = 0.0;
  assert(slack >= 0.0 && (set || d->sizes.rows == 0));
  pawl_dynamics_row_sizes(d, values->G, state->q, size);
  for (int i = 0; i < d->sizes.rows; i++) {
    double off = fabs(values->g[i]) - (rate ? slack * fabs(rate[i]) : 0.0);
    if (set[i] && off > worst * size_of(size[i])) {
      worst = off / size_of(size[i]);
      *row = i;
    }
  }
  return worst;
}

// [M -G^T; G 0] [dq; mu] = [0; -g] over the set.                                            (V4)
static PawlStatus move(PawlWatching* w, PawlState* state, const unsigned char* set,
                       const PawlValues* values, PawlError* err) {
  PawlDynamics* d = w->dynamics;
  PawlRowProblem* p = &w->rows;
  PawlRowsResult result;
  memset(p->r, 0, (size_t)d->sizes.v * sizeof(double));
  for (int i = 0; i < d->sizes.rows; i++) {
    PawlRowOf kind = set[i] ? PAWL_ROW_OF_EQUATION : PAWL_ROW_OF_LET_GO;
    pawl_row_bounds(kind, INFINITY, &p->lo[i], &p->hi[i]);
    p->weight[i] = 1.0;
    p->b[i] = set[i] ? values->g[i] : 0.0;
  }
  PawlStatus status = pawl_watch_solve(w, values, &result, err);
  if (status == PAWL_RETRY) {
    return pawl_dynamics_singular(d, values->M, values->G, set, state->t, err);
  }
  PAWL_TRY(status);
  pawl_system_retract(d->system, state->q, p->x, state->q);
  return PAWL_OK;
}

PawlStatus pawl_hold_snap(PawlWatching* w, PawlState* state, const unsigned char* set,
                          const PawlValues** values, double* size, PawlError* err) {
  enum { MOST_ROUNDS = 30 };
  PawlDynamics* d = w->dynamics;
  PawlPhase phase = pawl_phase_of(state, false);
  int row = 0, number;
  double before = INFINITY;
  PAWL_TRY(pawl_watch_make_problem(w, err));
  for (int k = 0; k < MOST_ROUNDS; k++) {
    double off = pawl_hold_worst(d, state, *values, set, 0.0, NULL, size, &row);
    if (off <= PAWL_SNAPPED || (off <= PAWL_SNAPPED_NEARLY && off >= 0.5 * before)) {
      return PAWL_OK;
    }
    before = off;
    PAWL_TRY(move(w, state, set, *values, err));
    PAWL_TRY(pawl_dynamics_evaluate(d, &phase, state, values, err));
  }
  const char* name = pawl_system_row_name(d->system, row, &number);
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: constraint '%s' cannot be met by a snap: it is still off by %.3g",
                   state->t, name, (*values)->g[row]);
}
