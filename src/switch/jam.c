// SPDX-License-Identifier: Apache-2.0
#include "switch/jam.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "linalg/kkt.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

// Contacts of one tree, beyond which their yields are found at once.
enum { MOST_SOLVED = 12 };

// Several contacts, rows that are none, or masses that are not diagonal.
static bool are_tied(const PawlDynamics* d, const PawlSlip* slip) {
  int first, end = pawl_modes_contacts(d->system, &first);
  bool tied = end - first > 1 || slip->contact[0].first > 0;
  for (int c = 0; c < d->sizes.v; c++) {
    for (int k = d->H.start[c]; k < d->H.start[c + 1]; k++) {
      tied |= d->H.index[k] != c;
    }
  }
  return tied;
}

PawlStatus pawl_jam_create(PawlDynamics* d, const PawlSlip* slip, PawlJam* out, PawlError* err) {
  size_t room = (size_t)d->sizes.v + (size_t)d->sizes.rows;
  *out = (PawlJam){.dynamics = d,
                   .looked = NAN,
                   .ties = are_tied(d, slip),
                   .part = PAWL_NEW(d->arena, double, slip->count),
                   .ahead = PAWL_NEW(d->arena, double, slip->count),
                   .yield = PAWL_NEW(d->arena, double, slip->count),
                   .of_row = PAWL_NEW(d->arena, double, d->sizes.rows),
                   .pressed = PAWL_NEW(d->arena, unsigned char, slip->count),
                   .signs = PAWL_NEW(d->arena, signed char, slip->count),
                   .x = PAWL_NEW(d->arena, double, room),
                   .head = PAWL_NEW(d->arena, int, d->sizes.v),
                   .next = PAWL_NEW(d->arena, int, slip->count),
                   .q = PAWL_NEW(d->arena, double, d->sizes.q),
                   .move = PAWL_NEW(d->arena, double, d->sizes.v)};
  pawl_trees_create(d->arena, d->sizes.v, &out->trees);
  PAWL_TRY(pawl_yields_create(d, &slip->rows, &out->yields, err));
  return d->arena->failed ? pawl_fail_memory(err) : PAWL_OK;
}

void pawl_jam_free(PawlJam* j) {
  pawl_yields_free(&j->yields);
}

// Whether friction of a contact acts on what its normal force does.
static bool couples(const PawlSlip* s, int k) {
  const PawlSlipContact* c = &s->contact[k];
  const double* G = pawl_eval_values(s->eval)->G;
  bool any = false;
  for (int i = c->first; i < c->first + c->count; i++) {
    for (int p = s->rows.start[i]; p < s->rows.start[i + 1]; p++) {
      int at = pawl_by_rows_find(&s->rows, c->normal, s->rows.column[p]);
      any |= at >= 0 && G[at] != 0.0 && G[s->rows.at[p]] != 0.0;
    }
  }
  return any;
}

// sum_j G_j^2/M_jj of a row.
static double compliance_of(const PawlDynamics* d, const PawlSlip* s, const PawlValues* values,
                            int row) {
  double sum = 0.0;
  for (int p = s->rows.start[row]; p < s->rows.start[row + 1]; p++) {
    int place = d->diagonal[s->rows.column[p]];
    double mass = place >= 0 ? values->M[place] : 0.0, G = values->G[s->rows.at[p]];
    sum += mass > 0.0 ? G * G / mass : 0.0;
  }
  return sum;
}

// A column of (G M^-1 B^T)^-1, with the factors that there are.
static const double* column_of(PawlJam* j, int row) {
  const PawlDynamics* d = j->dynamics;
  double* y = j->x + d->sizes.v;
  memset(j->x, 0, ((size_t)d->sizes.v + (size_t)d->sizes.rows) * sizeof(double));
  y[row] = 1.0;
  pawl_kkt_solve(d->kkt, j->x, y);
  return y;
}

// How much row `row` yields to its force, all others held.
static double yield_of(PawlJam* j, int row) {
  return 1.0 / column_of(j, row)[row];
}

// The sign of det G M^-1 B^T over the contacts that slip and that contact `k` acts on, or that of
// its own yield where these are many.                                                       (F44)
static int sign_of(PawlJam* j, const PawlSlip* slip, const double* part, int k) {
  enum { MOST = 16 };
  int list[MOST] = {k}, pivot[MOST], count = 1;
  double C[MOST * MOST];
  for (int a = 0; a < count; a++) {
    const double* y = column_of(j, slip->contact[list[a]].normal);
    for (int l = 0; l < slip->count; l++) {
      bool known = isinf(part[l]) || y[slip->contact[l].normal] == 0.0;
      for (int b = 0; b < count && !known; b++) {
        known = list[b] == l;
      }
      if (!known && count == MOST) {
        return part[k] < 0.0 ? -1 : 1;
      }
      if (!known) {
        list[count++] = l;
      }
    }
    for (int b = 0; b < MOST; b++) {
      C[b + MOST * a] = b < count ? y[slip->contact[list[b]].normal] : 0.0;
    }
  }
  for (int a = 0; a < count; a++) {
    memmove(C + (size_t)count * (size_t)a, C + MOST * (size_t)a, (size_t)count * sizeof(double));
  }
  return pawl_lu_factor(count, C, pivot, 0.0) == 0 ? pawl_lu_sign(count, C, pivot) : 1;
}

// How fast the gap of a contact that may jam would close freely, lambda_N times what it yields, in
// parts of what forces do to it.
static void find_pressed(PawlJam* j, const PawlSlip* slip, const PawlPhase* phase,
                         const PawlValues* values, const double* part) {
  const PawlDynamics* d = j->dynamics;
  const unsigned char* active = phase->active;
  double* y = j->x + d->sizes.v;
  bool ties = pawl_slip_ties(d->slip, phase);
  for (int i = 0; i < d->sizes.v; i++) {
    j->x[i] = values->f[i] + (ties ? d->slip->push[i] : 0.0);
  }
  for (int i = 0; i < d->sizes.rows; i++) {
    y[i] = !active || active[i] ? -values->gamma[i] : 0.0;
  }
  pawl_kkt_solve(d->kkt, j->x, y);
  for (int k = 0; k < slip->count; k++) {
    int row = slip->contact[k].normal;
    if (part[k] < PAWL_JAM_NEAR) {
      double size = fabs(values->gamma[row]);
      for (int p = slip->rows.start[row]; p < slip->rows.start[row + 1]; p++) {
        int c = slip->rows.column[p], place = d->diagonal[c];
        double mass = place >= 0 ? values->M[place] : 0.0;
        size += mass > 0.0 ? fabs(values->G[slip->rows.at[p]] * values->f[c]) / mass : 0.0;
      }
      double closing = fabs(y[row] * j->yield[k]);
      j->pressed[k] = closing > PAWL_JAM_PRESSED * size;
    }
  }
}

// What rows in force connect, those that follow from others with them: the loads of these are
// spread over the others.
static void find_trees(PawlJam* j, const PawlSlip* slip, const PawlState* state,
                       const PawlPhase* phase, const PawlValues* values) {
  const PawlDynamics* d = j->dynamics;
  const unsigned char* redundant = state->redundant_count > 0 ? state->redundant : NULL;
  pawl_trees_begin(&j->trees, &d->H, values->M);
  for (int i = 0; i < d->sizes.rows; i++) {
    if (pawl_phase_binds(phase, i) || (redundant && redundant[i])) {
      pawl_trees_row(&j->trees, &slip->rows, i);
    }
  }
  for (int k = 0; k < slip->count; k++) {
    int row = slip->contact[k].normal;
    if (pawl_phase_binds(phase, row) || (redundant && redundant[row])) {
      pawl_trees_contact(&j->trees, &slip->rows, &slip->contact[k]);
    }
  }
  for (int k = 0; k < slip->joint_count; k++) {  // of a joint as far as its multipliers reach
    pawl_trees_joint(&j->trees, slip, k);
  }
}

static bool is_any_small(const PawlSlip* slip, const double* part) {
  bool any = false;
  for (int k = 0; k < slip->count; k++) {
    any |= part[k] < PAWL_JAM_NEAR;
  }
  return any;
}

// The contacts that are not INFINITY in `part`, by their trees; the most of one.
static int list_by_trees(PawlJam* j, const PawlSlip* slip, const double* part) {
  int most = 0, *count = (int*)j->x;
  memset(count, 0, (size_t)j->dynamics->sizes.v * sizeof(int));
  memset(j->head, -1, (size_t)j->dynamics->sizes.v * sizeof(int));
  for (int k = slip->count - 1; k >= 0; k--) {
    int tree =
        isinf(part[k]) ? -1 : pawl_trees_of_row(&j->trees, &slip->rows, slip->contact[k].normal);
    if (tree >= 0) {
      j->next[k] = j->head[tree];
      j->head[tree] = k;
      most = ++count[tree] > most ? count[tree] : most;
    }
  }
  return most;
}

// How much those that are listed yield, each with all other rows held: one of each tree at once.
static void find_yields(PawlJam* j, const PawlSlip* slip) {
  const PawlDynamics* d = j->dynamics;
  double* y = j->x + d->sizes.v;
  bool left = true;
  while (left) {
    left = false;
    memset(j->x, 0, ((size_t)d->sizes.v + (size_t)d->sizes.rows) * sizeof(double));
    for (int tree = 0; tree < d->sizes.v; tree++) {
      if (j->head[tree] >= 0) {
        y[slip->contact[j->head[tree]].normal] = 1.0;
        left = true;
      }
    }
    if (left) {
      pawl_kkt_solve(d->kkt, j->x, y);
    }
    for (int tree = 0; tree < d->sizes.v; tree++) {
      int k = j->head[tree];
      if (k >= 0) {
        j->yield[k] = 1.0 / y[slip->contact[k].normal];
        j->head[tree] = j->next[k];
      }
    }
  }
}

// Parts that are small are such of what the contact yields to a force without friction: other rows
// may hold nearly all of it.
static PawlStatus weigh_small(PawlJam* j, const PawlSlip* slip, const PawlPhase* phase,
                              const PawlValues* values, double* part, PawlError* err) {
  bool any = is_any_small(slip, part);
  PawlStatus status = any ? pawl_dynamics_factor(j->dynamics, values, phase->active) : PAWL_OK;
  for (int k = 0; any && status == PAWL_OK && k < slip->count; k++) {
    int row = slip->contact[k].normal;
    if (part[k] < PAWL_JAM_NEAR) {
      part[k] *= compliance_of(j->dynamics, slip, values, row) / yield_of(j, row);
    }
  }
  return status == PAWL_RETRY || status == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
}

// The parts of what is listed, by its yields.
static void weigh(PawlJam* j, const PawlSlip* slip, const PawlValues* values, double* part) {
  for (int k = 0; k < slip->count; k++) {
    int row = slip->contact[k].normal;
    part[k] =
        isinf(part[k]) ? INFINITY : j->yield[k] / compliance_of(j->dynamics, slip, values, row);
  }
}

// The same of many contacts of one tree, without a solution for each. Small parts are weighed at
// once: in a heap most are small that are not so in parts of what they do without friction.
//                                                                                           (F47)
static PawlStatus find_many(PawlJam* j, const PawlSlip* slip, const PawlPhase* phase,
                            const PawlValues* values, const double* B, double* part) {
  PAWL_TRY(pawl_yields_find(&j->yields, values, B, phase->active, j->of_row));
  for (int k = 0; k < slip->count; k++) {
    j->yield[k] = j->of_row[slip->contact[k].normal];
  }
  weigh(j, slip, values, part);
  if (is_any_small(slip, part)) {
    PAWL_TRY(pawl_yields_find(&j->yields, values, values->G, phase->active, j->of_row));
  }
  for (int k = 0; k < slip->count; k++) {
    if (part[k] < PAWL_JAM_NEAR) {
      part[k] = j->yield[k] / j->of_row[slip->contact[k].normal];
    }
  }
  return PAWL_OK;
}

// Parts that are small have the sign of all that slips together.                            (F44)
static void take_signs(PawlJam* j, const PawlSlip* slip, double* part) {
  for (int k = 0; k < slip->count; k++) {
    if (part[k] < PAWL_JAM_NEAR) {
      j->signs[k] = (signed char)sign_of(j, slip, part, k);
    }
  }
  for (int k = 0; k < slip->count; k++) {
    part[k] = part[k] < PAWL_JAM_NEAR ? j->signs[k] * fabs(part[k]) : part[k];
  }
}

// With the factors for B. *weighed: also against what friction leaves.
static PawlStatus find_regular(PawlJam* j, const PawlSlip* slip, const PawlState* state,
                               const PawlPhase* phase, const PawlValues* values, const double* B,
                               double* part, bool* weighed) {
  PawlStatus status = PAWL_RETRY;
  find_trees(j, slip, state, phase, values);
  if (list_by_trees(j, slip, part) > MOST_SOLVED) {
    status = find_many(j, slip, phase, values, B, part);
  }
  *weighed = status == PAWL_OK;
  if (status == PAWL_RETRY) {
    find_yields(j, slip);
    weigh(j, slip, values, part);
    status = PAWL_OK;
  }
  if (status == PAWL_OK) {
    take_signs(j, slip, part);
  }
  return status;
}

// The parts of those that are not INFINITY in `part`.
static PawlStatus find_parts(PawlJam* j, const PawlSlip* slip, const PawlState* state, double* part,
                             PawlError* err) {
  PawlDynamics* d = j->dynamics;
  PawlPhase phase = pawl_phase_of(state, d->plain);
  const PawlValues* values;
  const double* B;
  bool weighed = false;
  PAWL_TRY(pawl_dynamics_evaluate(d, &phase, state, &values, err));
  PAWL_TRY(pawl_slip_directions(d->slip, &phase, values->G, state->t, state->q, state->v,
                                state->lambda, &B, err));
  PawlStatus status = pawl_kkt_holds(d->kkt, values->M, B, values->G, phase.active)
                          ? PAWL_OK
                          : pawl_kkt_factor_and_keep(d->kkt, values->M, B, values->G, phase.active);
  if (status == PAWL_RETRY) {
    for (int k = 0; k < slip->count; k++) {
      part[k] = isinf(part[k]) ? INFINITY : 0.0;
    }
    return weigh_small(j, slip, &phase, values, part, err);
  }
  status = status ? status : find_regular(j, slip, state, &phase, values, B, part, &weighed);
  if (status == PAWL_OK && part == j->part && is_any_small(slip, part)) {
    find_pressed(j, slip, &phase, values, part);
  }
  if (status == PAWL_OK && weighed) {
    return PAWL_OK;
  }
  return status == PAWL_OK ? weigh_small(j, slip, &phase, values, part, err)
                           : pawl_fail_memory(err);
}

PawlStatus pawl_jam_look(PawlJam* j, const PawlSlip* slip, const PawlState* state, PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, j->dynamics->plain);
  bool any = false;
  for (int k = 0; k < slip->count; k++) {
    const PawlSlipContact* c = &slip->contact[k];
    bool slips = pawl_slip_slips(state->modes[c->mode]) && pawl_phase_binds(&phase, c->normal) &&
                 (!phase.active || phase.active[c->normal]);
    bool may = slips && slip->mu[k] > 0.0 && (j->ties || couples(slip, k));
    j->part[k] = may ? 0.0 : INFINITY;
    any |= may;
  }
  j->near = j->dynamics->jams = false;
  j->looked = state->t;
  if (!any) {
    return PAWL_OK;
  }
  PAWL_TRY(find_parts(j, slip, state, j->part, err));
  j->dynamics->jams = j->near = is_any_small(slip, j->part);
  return PAWL_OK;
}

// A part of the time until the critical friction is reached, as coordinates move now.
PawlStatus pawl_jam_longest(PawlJam* j, const PawlSlip* slip, const PawlState* state,
                            double* longest, PawlError* err) {
  PawlDynamics* d = j->dynamics;
  PawlState later = *state;
  double ahead = PAWL_AHEAD * d->def->step;
  *longest = INFINITY;
  if (!j->near) {
    return PAWL_OK;
  }
  for (int i = 0; i < d->sizes.v; i++) {
    j->move[i] = ahead * state->v[i];
  }
  later.q = j->q;
  later.t += ahead;
  memcpy(j->q, state->q, (size_t)d->sizes.q * sizeof(double));
  pawl_system_retract(d->system, j->q, j->move, j->q);
  memcpy(j->ahead, j->part, (size_t)slip->count * sizeof(double));
  PAWL_TRY(find_parts(j, slip, &later, j->ahead, err));
  for (int k = 0; k < slip->count; k++) {
    double rate = isinf(j->part[k]) ? 0.0 : (j->part[k] - j->ahead[k]) / ahead;
    bool nears = j->part[k] > 0.0 && j->part[k] < PAWL_JAM_NEAR && rate > 0.0;
    *longest = nears ? fmin(*longest, PAWL_JAM_STEP * j->part[k] / rate) : *longest;
  }
  return PAWL_OK;
}
