// SPDX-License-Identifier: Apache-2.0
#include "switch/share.h"

#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/grip.h"
#include "switch/pace.h"
#include "switch/recall.h"
#include "switch/share_islands.h"
#include "switch/tolerances.h"
#include "system/system.h"

enum { FEW_ROWS = 48 };  // the compliance of all of them is made at once

// Of the multipliers that make the force G^T lambda: with r = -G^T lambda and b = 0 the solution of
// the row problem is x = 0, w = 0, and its multipliers are the least ones within their bounds.
static void ask(PawlWatching* w, const PawlState* state, const PawlValues* values,
                const double* lambda) {
  const PawlDynamics* d = w->dynamics;
  PawlRowProblem* p = &w->rows;
  double* none = p->b;
  memset(none, 0, (size_t)d->sizes.rows * sizeof(double));
  if (w->grip) {  // what nothing presses together has nothing to share
    pawl_pace_forces(d, state, NULL, values, (PawlPace){.of_a = PAWL_LOOSE}, none);
  }
  for (int i = 0; i < d->sizes.rows; i++) {  // contacts keep theirs
    p->lambda[i] = state->in_force[i] && fabs(lambda[i]) > none[i] ? lambda[i] : 0.0;
  }
  memset(p->b, 0, (size_t)d->sizes.rows * sizeof(double));
  memset(p->r, 0, (size_t)d->sizes.v * sizeof(double));
  pawl_sparse_add_transposed(&d->G, values->G, -1.0, p->lambda, p->r);
}

// r -= G_i^T lambda of one row.
static void push_back(const PawlDynamics* d, const PawlValues* values, int row, double lambda,
                      double* r) {
  const PawlByRows* rows = &d->slip->rows;
  for (int p = rows->start[row]; p < rows->start[row + 1]; p++) {
    r[rows->column[p]] -= values->G[rows->at[p]] * lambda;
  }
}

static bool is_bounded(const PawlWatching* w, const PawlState* state, int row) {
  return state->in_force[row] == PAWL_ROW_OF_CONTACT ||
         (w->grip && state->in_force[row] == PAWL_ROW_OF_FRICTION);
}

// True when no joint gives way under the force, and no contact would have to pull.
static bool bears(const PawlWatching* w, const PawlState* state) {
  bool yes = true;
  for (int i = 0; i < w->dynamics->sizes.rows; i++) {
    yes &= !is_bounded(w, state, i) || w->rows.w[i] == 0.0;
  }
  for (int k = 0; k < w->joint_count; k++) {
    int row = w->dynamics->system->constraints[w->joints[k]].first_row;
    yes &= w->rows.hi[row] == 0.0 || w->rows.w[row] == 0.0;
  }
  return yes;
}

static bool gives_way(const PawlWatching* w, const PawlState* state, int row) {
  return is_bounded(w, state, row) && w->rows.w[row] != 0.0;
}

// Rows of what hangs together and bears all that it is to, by the last solution with friction: what
// is about to open elsewhere does not change their shares.
static void find_bearing(const PawlWatching* w, const PawlState* state, PawlRecallAnswer* answer) {
  PawlGrip* g = w->grip;
  unsigned char* fails = g->recall->fails;
  memset(fails, 0, (size_t)w->dynamics->sizes.v);
  for (int i = 0; i < w->dynamics->sizes.rows; i++) {
    int tree = pawl_trees_of_row(&g->trees, &g->slip->rows, i);
    if (tree >= 0) {
      fails[tree] |= gives_way(w, state, i);
    }
  }
  for (int k = 0; k < g->islands; k++) {
    const PawlGripIsland* island = &g->island[k];
    for (int i = island->first; !island->solved && i < island->first + island->count; i++) {
      int tree = pawl_trees_of_row(&g->trees, &g->slip->rows, g->row[i]);
      fails[tree >= 0 ? tree : 0] |= tree >= 0;
    }
  }
  for (int k = 0; k < w->joint_count; k++) {
    int row = w->dynamics->system->constraints[w->joints[k]].first_row;
    int tree = pawl_trees_of_row(&g->trees, &g->slip->rows, row);
    if (tree >= 0) {
      fails[tree] |= w->rows.hi[row] != 0.0 && w->rows.w[row] != 0.0;
    }
  }
  for (int i = 0; i < w->dynamics->sizes.rows; i++) {
    int tree = pawl_trees_of_row(&g->trees, &g->slip->rows, i);
    answer->bears[i] = tree >= 0 && !fails[tree];
  }
}

// Takes what bears and was not taken before.
static void keep_bearing(PawlRecall* recall, const PawlRecallAnswer* answer, int rows) {
  for (int i = 0; i < rows; i++) {
    if (answer->bears[i] && !recall->kept[i]) {
      recall->kept[i] = 1;
      recall->lambda[i] = answer->lambda[i];
    }
  }
}

// True when contacts give way by no more than roundings.
static bool nearly_bears(const PawlWatching* w, const PawlState* state) {
  const PawlGrip* g = w->grip;
  bool yes = w->joint_count == 0;
  for (int i = 0; i < w->dynamics->sizes.rows; i++) {
    double none = g->place[i] < 0 ? 0.0 : PAWL_FRICTION_MOVES * g->size[g->place[i]];
    yes &= !is_bounded(w, state, i) || fabs(w->rows.w[i]) <= none;
  }
  return yes;
}

static void let_pull(PawlWatching* w, const PawlState* state) {
  for (int i = 0; i < w->dynamics->sizes.rows; i++) {
    w->rows.lo[i] = state->in_force[i] == PAWL_ROW_OF_CONTACT ? -INFINITY : w->rows.lo[i];
  }
}

// The multipliers as they are lie within the cones, or beyond by what is about to open a contact,
// for which no share within them is found any more.
static bool is_near_cones(const PawlWatching* w, const PawlState* state, const double* lambda) {
  const PawlGrip* grip = w->grip;
  double none = PAWL_SHARE_KEPT * pawl_dynamics_largest(w->dynamics->sizes.rows, lambda);
  bool yes = true;
  for (int k = 0; k < grip->slip->count; k++) {
    const PawlSlipContact* c = &grip->slip->contact[k];
    double T = 0.0;
    for (int i = c->first; i < c->first + c->count; i++) {
      T = hypot(T, state->in_force[i] ? lambda[i] : 0.0);
    }
    bool open = state->in_force[c->normal] == PAWL_ROW_OF_LET_GO;
    yes &= open || (lambda[c->normal] >= -none && T <= grip->mu[k] * lambda[c->normal] + none);
  }
  return yes;
}

// With friction: forces within the cones, where there are such; those of contacts that slip hang on
// the normal ones. *found: the answer, with lambda of w->rows.
static PawlStatus share_friction(PawlWatching* w, const PawlState* state, const PawlValues* values,
                                 double beyond, const PawlRecallAnswer** found, PawlError* err) {
  const PawlDynamics* d = w->dynamics;
  PawlPhase phase = pawl_phase_of(state, false);
  PAWL_TRY(pawl_grip_share(w->grip, state, beyond, err));
  pawl_slip_forces(d->slip, &phase, w->rows.lambda);
  for (int i = d->slip->contact[0].first; i < d->sizes.rows; i++) {
    if (pawl_system_row_kind(d->system, i) == PAWL_ROW_FRICTION && !state->in_force[i]) {
      push_back(d, values, i, w->rows.lambda[i], w->rows.r);
    }
  }
  PawlRecallAnswer* answer = pawl_recall_ask(w->grip->recall, w->grip, values);
  size_t bytes = (size_t)d->sizes.rows * sizeof(double);
  *found = answer;
  if (answer->known) {
    memcpy(w->rows.lambda, answer->lambda, bytes);
    return PAWL_OK;
  }
  PawlStatus status = pawl_recall_solve(w->grip->recall, w->grip, values, err);
  answer->known = status == PAWL_OK;
  answer->done = answer->known && bears(w, state);
  answer->near = answer->known && nearly_bears(w, state);
  memset(answer->bears, 0, (size_t)d->sizes.rows);
  if (answer->known) {
    find_bearing(w, state, answer);
  }
  memcpy(answer->lambda, w->rows.lambda, bytes);
  return status == PAWL_RETRY ? PAWL_OK : status;
}

// Loads of contacts that slip are shared by (F28), here as in the motion; lambda of these rows is
// kept in slip->lambda. *all: nothing else is left out.
static PawlStatus spread(PawlDynamics* d, const PawlState* state, double* lambda, bool* all,
                         PawlError* err) {
  PawlSlip* slip = d->slip;
  PawlPhase phase = pawl_phase_of(state, false);
  *all = false;
  if (!slip || !pawl_slip_any(slip, &phase)) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_slip_look(slip, &phase, state->t, state->q, state->v, err));
  if (slip->spreads) {
    pawl_spread_loads(&slip->spread, lambda);
    memcpy(slip->lambda, lambda, (size_t)d->sizes.rows * sizeof(double));
    *all = pawl_spread_flag(&slip->spread) == state->redundant_count;
  }
  return PAWL_OK;
}

// The loads of spread() again.
static void keep_spread(const PawlDynamics* d, double* lambda) {
  const PawlSlip* slip = d->slip;
  for (int i = 0; slip && slip->spreads && i < d->sizes.rows; i++) {
    lambda[i] = slip->spread.group[i] ? slip->lambda[i] : lambda[i];
  }
}

// What bears has its own share, whatever was found for the rest.
static void give_kept(const PawlWatching* w, const PawlState* state, double* lambda) {
  for (int i = 0; w->grip && i < w->dynamics->sizes.rows; i++) {
    bool kept = w->grip->recall->kept[i] && state->in_force[i];
    lambda[i] = kept ? w->grip->recall->lambda[i] : lambda[i];
  }
}

// All that is left out are joints that carry nothing.                                        (F34)
static bool leaves_to_contacts(const PawlDynamics* d, const PawlState* state) {
  bool all = true;
  for (int i = 0; all && i < d->sizes.rows; i++) {
    all = !state->redundant[i] || pawl_dynamics_leaves_to_contacts(d, state, i);
  }
  return all;
}

PawlStatus pawl_share_multipliers(PawlWatching* w, const PawlState* state, bool shown,
                                  double* lambda, PawlError* err) {
  PawlDynamics* d = w->dynamics;
  const PawlValues* values;
  const double* watch = NULL;
  PawlPhase phase = pawl_phase_of(state, false);
  PawlRowsResult result;
  if (state->redundant_count == 0) {
    return PAWL_OK;
  }
  bool all;
  PAWL_TRY(spread(d, state, lambda, &all, err));
  if (all || leaves_to_contacts(d, state)) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_dynamics_evaluate(d, &phase, state, &values, err));
  if (!w->grip && w->joint_count == 0 && d->sizes.rows > FEW_ROWS) {
    bool found;
    PAWL_TRY(pawl_share_islands(w, state, values, lambda, &found, err));
    keep_spread(d, lambda);
    if (found) {
      return PAWL_OK;
    }
  }
  PAWL_TRY(pawl_watch_make_problem(w, err));
  if (w->joint_count > 0) {
    PAWL_TRY(pawl_watch_look_aside(w, state, lambda, &watch, err));
  }
  bool done = false;
  ask(w, state, values, lambda);
  pawl_watch_bounds(w, &phase, watch, PAWL_BEARS, true);
  if (w->grip) {
    memset(w->grip->recall->kept, 0, (size_t)d->sizes.rows);
  }
  for (int k = 0; w->grip && !done && k <= shown; k++) {
    const PawlRecallAnswer* answer;
    ask(w, state, values, lambda);
    PAWL_TRY(share_friction(w, state, values, k * PAWL_SHARE_SHOWN, &answer, err));
    keep_bearing(w->grip->recall, answer, d->sizes.rows);
    done = answer->done || (shown && answer->near);
  }
  if (w->grip && !done && w->joint_count == 0 && is_near_cones(w, state, lambda)) {
    give_kept(w, state, lambda);
    return PAWL_OK;
  }
  if (w->grip && !done) {
    ask(w, state, values, lambda);
  }
  PawlStatus status = done ? PAWL_OK : pawl_watch_solve(w, values, &result, err);
  if (status == PAWL_OK && !done &&
      !bears(w, state)) {  // beyond all capacities: shared without bounds
    pawl_watch_bounds(w, &phase, watch, PAWL_BEARS, false);
    let_pull(w, state);
    status = pawl_watch_solve(w, values, &result, err);
  }
  for (int i = 0; status == PAWL_OK && i < d->sizes.rows; i++) {
    lambda[i] = state->in_force[i] ? w->rows.lambda[i] : lambda[i];
  }
  give_kept(w, state, lambda);
  keep_spread(d, lambda);
  return status == PAWL_RETRY ? PAWL_OK : status;  // a motion without mass: any share is as good
}
