// SPDX-License-Identifier: Apache-2.0
// A consistent start (docs/theory/initial.md): rows that depend on others are found and left out, q
// and v are checked against the constraints or projected onto them, and the acceleration and the
// multipliers that belong to them are computed.
#include "step/initial.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "switch/tolerances.h"

enum { MOST_PROJECTIONS = 100 };
// [1] What a change must leave of itself at most to the next; else the way is shortened.
static const double PROJECTED_LEFT = 0.7;

typedef struct Start {
  PawlDynamics* s;
  PawlState* state;
  const PawlValues* values;
  double* scale;     // rows: size of a violation that matters, see row_scale
  double* residual;  // rows
  double* x;         // v
  double* y;         // rows
  double* moved;     // v: the change of the position by projection so far
  bool projects;     // of contacts those that are active count, which are to have gap 0
  int added;         // the last of these, -1 without
} Start;

// A failure that a smaller step cannot mend.
static PawlStatus final(PawlStatus status, PawlError* err) {
  if (status == PAWL_RETRY && err) {
    err->status = PAWL_ERROR_RUN;
  }
  return status == PAWL_RETRY ? PAWL_ERROR_RUN : status;
}

static PawlStatus evaluate(Start* start, PawlError* err) {
  PawlPhase phase = pawl_phase_of(start->state, start->s->plain);
  return final(pawl_dynamics_evaluate(start->s, &phase, start->state, &start->values, err), err);
}

// How large the terms of each row are when coordinates (or rates) x enter it. A velocity is no
// coordinate where there are rotations: then each counts as 1.
static void row_scale(Start* start, const double* x, bool by_coordinate) {
  if (by_coordinate) {
    pawl_dynamics_row_sizes(start->s, start->values->G, x, start->scale);
  } else {
    pawl_sparse_sizes(&start->s->G, start->values->G, x, pawl_dynamics_least(start->s->sizes.v, x),
                      start->scale);
  }
}

static double violation_of(const Start* start, int i) {
  return fabs(start->residual[i]) / (start->scale[i] > 0.0 ? start->scale[i] : PAWL_SMALLEST_SIZE);
}

// The row with the largest violation relative to its scale, and that ratio.
static double worst(const Start* start, int* row) {
  double largest = 0.0;
  *row = 0;
  for (int i = 0; i < start->s->sizes.rows; i++) {
    double ratio = violation_of(start, i);
    if (ratio > largest) {
      largest = ratio;
      *row = i;
    }
  }
  return largest;
}

static bool is_contact(const Start* start, int row) {
  return pawl_system_row_kind(start->s->system, row) == PAWL_ROW_CONTACT;
}

// Of a contact only a gap below zero counts, and no velocity.
static void only_penetration(Start* start, bool position) {
  for (int i = 0; i < start->s->sizes.rows; i++) {
    bool gap = position && is_contact(start, i), held = gap && start->state->active[i];
    if (pawl_system_row_kind(start->s->system, i) != PAWL_ROW_BILATERAL) {
      bool counts = start->projects ? held : gap && start->residual[i] < 0.0;
      start->residual[i] = counts ? start->residual[i] : 0.0;
    }
  }
}

static double position_violation(Start* start, int* row) {
  int rows = start->s->sizes.rows;
  assert(start->values);
  memcpy(start->residual, start->values->g, (size_t)rows * sizeof(double));
  only_penetration(start, true);
  row_scale(start, start->state->q, true);
  return worst(start, row);
}

// G v + g_t
static double velocity_violation(Start* start, int* row) {
  int rows = start->s->sizes.rows;
  memcpy(start->residual, start->values->g_t, (size_t)rows * sizeof(double));
  pawl_sparse_add(&start->s->G, start->values->G, 1.0, start->state->v, start->residual);
  only_penetration(start, false);
  row_scale(start, start->state->v, false);
  return worst(start, row);
}

static PawlStatus cannot_project(const Start* start, int row, PawlError* err) {
  int number;
  const char* name = pawl_system_row_name(start->s->system, row, &number);
  char which[32] = "";
  if (!is_contact(start, row)) {
    snprintf(which, sizeof which, " (row %d)", number + 1);
  }
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "the start cannot be projected onto the constraints: %s '%s'%s is still off by "
                   "%.6g; do the constraints contradict each other?",
                   is_contact(start, row) ? "contact" : "constraint", name, which,
                   start->residual[row]);
}

// The change x with G x = -residual that, added to the change so far, is least in the metric of M,
// or goes the part `way` towards that along the rows: (C3)
//   [ M  -G^T ] [ x ]   [ -way M moved ]
//   [ G    0  ] [ y ] = [ -residual    ]
static PawlStatus least_change(Start* start, double way, PawlError* err) {
  PawlDynamics* s = start->s;
  const unsigned char* active = start->state->active;
  memset(start->x, 0, (size_t)s->sizes.v * sizeof(double));
  pawl_sparse_add(&s->H, start->values->M, -way, start->moved, start->x);
  for (int i = 0; i < s->sizes.rows; i++) {
    start->y[i] = active[i] ? -start->residual[i] : 0.0;
  }
  PawlStatus status =
      pawl_kkt_factor(s->kkt, start->values->M, start->values->G, start->values->G, active);
  if (status == PAWL_RETRY && start->added >= 0) {
    return cannot_project(start, start->added, err);
  }
  if (status == PAWL_RETRY) {
    return final(
        pawl_dynamics_singular(s, start->values->M, start->values->G, active, start->state->t, err),
        err);
  }
  if (status == PAWL_OK) {
    pawl_kkt_solve(s->kkt, start->x, start->y);
  }
  return status;
}

static PawlStatus off_by(const Start* start, int row, const char* what, const char* unit_of,
                         PawlError* err) {
  int number;
  const char* name = pawl_system_row_name(start->s->system, row, &number);
  if (is_contact(start, row)) {
    return pawl_fail(err, PAWL_ERROR_RUN,
                     "the start is inside contact '%s': its gap is %.6g; correct the start values, "
                     "or move them out of it with --project",
                     name, start->residual[row]);
  }
  if (start->state->redundant_count > 0) {
    return pawl_fail(
        err, PAWL_ERROR_RUN,
        "constraint '%s' (row %d) depends on the others or others on it, and its %s is "
        "off by %.6g%s: the constraints contradict each other, or the start satisfies "
        "none of them",
        name, number + 1, what, start->residual[row], unit_of);
  }
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "the start does not satisfy constraint '%s' (row %d): its %s is off by %.6g%s; "
                   "correct the start values, or project them onto the constraints with --project",
                   name, number + 1, what, start->residual[row], unit_of);
}

// The size of the last change relative to all changes so far.
static double last_part(const Start* start) {
  double last = 0.0, all = 0.0;
  for (int j = 0; j < start->s->sizes.v; j++) {
    last = fmax(last, fabs(start->x[j]));
    all = fmax(all, fabs(start->moved[j]));
  }
  return all > 0.0 ? last / all : 0.0;
}

// Onto the rows in force; `moves`: these are others than before.
static PawlStatus settle_position(Start* start, bool moves, PawlError* err) {
  int row = 0;
  double before = INFINITY, way = 1.0, part = INFINITY;
  for (int k = 0; k < MOST_PROJECTIONS; k++) {
    PAWL_TRY(evaluate(start, err));
    double violation = position_violation(start, &row), last = part;
    bool rounding = violation <= PAWL_START_MET && violation >= 0.5 * before;  // no less to be had
    part = k == 0 ? INFINITY : last_part(start) / way;
    if ((violation <= PAWL_START_PROJECTED || rounding) &&
        (k == 0 ? !moves : part <= PAWL_LAST_PROJECTION || k + 1 == MOST_PROJECTIONS)) {
      return PAWL_OK;
    }
    way *= k > 1 && part > PROJECTED_LEFT * last ? 0.5 : 1.0;
    before = violation;
    PAWL_TRY(least_change(start, way, err));
    pawl_system_retract(start->s->system, start->state->q, start->x, start->state->q);
    for (int j = 0; j < start->s->sizes.v; j++) {
      start->moved[j] += start->x[j];
    }
  }
  return cannot_project(start, row, err);
}

// The contact that is farthest inside; else one that is held at gap 0 and pulls; else -1.
static int next_contact(Start* start) {
  const unsigned char* active = start->state->active;
  double farthest = PAWL_START_PROJECTED, pull = 0.0;
  int inside = -1, pulls = -1;
  for (int i = 0; i < start->s->sizes.rows; i++) {
    if (!is_contact(start, i)) {
      continue;
    }
    start->residual[i] = active[i] ? 0.0 : fmin(start->values->g[i], 0.0);
    if (violation_of(start, i) > farthest) {
      farthest = violation_of(start, i);
      inside = i;
    }
    if (active[i] && start->y[i] < pull) {
      pull = start->y[i];
      pulls = i;
    }
  }
  return inside >= 0 ? inside : pulls;
}

// Contacts join the rows in force one by one, while the start is inside of them, and leave where
// they would pull.                                                                          (C4)
static PawlStatus project_with_contacts(Start* start, PawlError* err) {
  int rows = start->s->sizes.rows, row = -1;
  PAWL_TRY(settle_position(start, false, err));
  for (int k = 0; k < MOST_PROJECTIONS + 2 * rows && (row = next_contact(start)) >= 0; k++) {
    unsigned char* active = &start->state->active[row];
    start->added = *active ? start->added : row;
    *active = !*active;
    PAWL_TRY(settle_position(start, true, err));
  }
  return row < 0 ? PAWL_OK : cannot_project(start, row, err);
}

static PawlStatus project_position(Start* start, PawlError* err) {
  start->projects = true;
  PawlStatus status = project_with_contacts(start, err);
  start->projects = false;
  for (int i = 0; i < start->s->sizes.rows; i++) {
    start->state->active[i] = is_contact(start, i) ? 0 : start->state->active[i];
  }
  return status;
}

static PawlStatus project_velocity(Start* start, PawlError* err) {
  int row;
  (void)velocity_violation(start, &row);
  memset(start->moved, 0, (size_t)start->s->sizes.v * sizeof(double));
  PAWL_TRY(least_change(start, 1.0, err));
  for (int j = 0; j < start->s->sizes.v; j++) {
    start->state->v[j] += start->x[j];
  }
  return PAWL_OK;
}

static PawlStatus meet_constraints(Start* start, bool project, PawlError* err) {
  int row;
  if (project) {
    PAWL_TRY(project_position(start, err));
    PAWL_TRY(project_velocity(start, err));
    PAWL_TRY(evaluate(start, err));
  }
  if (position_violation(start, &row) > PAWL_START_MET) {
    return off_by(start, row, "position", "", err);
  }
  if (velocity_violation(start, &row) > PAWL_START_MET) {
    return off_by(start, row, "velocity", " per second", err);
  }
  return PAWL_OK;
}

// G a + gamma of the rows left out: only accelerations can contradict here.
static PawlStatus check_accelerations(Start* start, PawlError* err) {
  PawlDynamics* s = start->s;
  if (start->state->redundant_count == 0) {
    return PAWL_OK;
  }
  memcpy(start->residual, start->values->gamma, (size_t)s->sizes.rows * sizeof(double));
  pawl_sparse_add(&s->G, start->values->G, 1.0, start->state->a, start->residual);
  only_penetration(start, false);
  // Where all is held at rest accelerations are the rounding of those that forces would make.
  double push = pawl_dynamics_push(s, start->state, start->values);
  pawl_sparse_sizes(&s->G, start->values->G, start->state->a, PAWL_SMALLEST_PART * push,
                    start->scale);
  int row;
  return worst(start, &row) > PAWL_REDUNDANT_OFF
             ? off_by(start, row, "acceleration", " per second squared", err)
             : PAWL_OK;
}

static PawlStatus check_masses(const Start* start, PawlError* err) {
  const PawlDynamics* s = start->s;
  for (int j = 0; j < s->sizes.v; j++) {
    for (int k = s->H.start[j]; k < s->H.start[j + 1]; k++) {
      if (s->H.index[k] == j && start->values->M[k] < 0.0) {
        return pawl_fail(err, PAWL_ERROR_RUN, "the mass of '%s' is negative at the start: %.6g",
                         s->sizes.q == s->sizes.v ? pawl_system_coordinate_name(s->system, j) : "v",
                         start->values->M[k]);
      }
    }
  }
  return PAWL_OK;
}

static PawlStatus initial(Start* start, bool project, PawlError* err) {
  PawlDynamics* d = start->s;
  PAWL_TRY(evaluate(start, err));
  PAWL_TRY(check_masses(start, err));
  pawl_dynamics_begin(d, start->values->M, start->values->G);
  PAWL_TRY(final(pawl_dynamics_reduce(d, start->state, start->values, err), err));
  d->info.redundant_rows = start->state->redundant_count;
  PAWL_TRY(meet_constraints(start, project, err));
  PAWL_TRY(final(pawl_dynamics_react(d, start->state, start->values, err), err));
  return check_accelerations(start, err);
}

typedef struct LeftOut {  // the largest violations of rows that were left out, and of the others
  double out, in, residual;
  int row;  // the first
} LeftOut;

// Looks at the rows of rate equations, or at all others.
static void look_at(const Start* start, bool rates, LeftOut* left) {
  for (int i = 0; i < start->s->sizes.rows; i++) {
    double ratio = violation_of(start, i);
    if (pawl_system_row_is_rate(start->s->system, i, start->state->modes) != rates) {
      continue;
    }
    if (!start->state->redundant[i]) {
      left->in = fmax(left->in, ratio);
    } else if (ratio > left->out) {
      left->out = ratio;
      left->residual = start->residual[i];
      left->row = i;
    }
  }
}

// A row left out is off when its violation is far beyond what the method allows the others.
static PawlStatus watch(Start* start, PawlError* err) {
  static const double BEYOND_OTHERS = 100.0;
  int row;
  LeftOut left = {0};
  PAWL_TRY(evaluate(start, err));
  (void)position_violation(start, &row);
  look_at(start, false, &left);
  if (start->s->system->rates) {
    (void)velocity_violation(start, &row);
    look_at(start, true, &left);
  }
  double out = left.out, in = left.in;
  if (out <= PAWL_REDUNDANT_OFF || out <= BEYOND_OTHERS * fmax(in, start->state->redundant_off)) {
    return PAWL_OK;
  }
  const PawlState* state = start->state;
  PawlPhase phase = pawl_phase_of(state, start->s->plain);
  PawlPoint point = pawl_phase_point(&phase, state->t, state->q, state->v, NULL, NULL);
  PAWL_TRY(pawl_system_row_terms(start->s->system, &point, start->scale, err));
  if (fabs(left.residual) <= PAWL_REDUNDANT_OFF * start->scale[left.row]) {  // (E15)
    return PAWL_OK;
  }
  int number;
  const char* name = pawl_system_row_name(start->s->system, left.row, &number);
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: constraint '%s' (row %d) followed from the others at the start but "
                   "does not any more: it is off by %.3g",
                   start->state->t, name, number + 1, left.residual);
}

// Both entries need the same workspace.
static PawlStatus with_workspace(PawlDynamics* d, PawlState* state, bool watching, bool project,
                                 PawlError* err) {
  size_t rows = (size_t)d->sizes.rows, v = (size_t)d->sizes.v;
  double* room = d->room;
  memset(room, 0, (3 * rows + 2 * v) * sizeof(double));
  Start start = {.s = d,
                 .state = state,
                 .added = -1,
                 .scale = room,
                 .residual = room + rows,
                 .y = room + 2 * rows,
                 .x = room + 3 * rows,
                 .moved = room + 3 * rows + v};
  return watching ? watch(&start, err) : initial(&start, project, err);
}

PawlStatus pawl_initial(PawlDynamics* d, PawlState* state, bool project, PawlError* err) {
  return with_workspace(d, state, false, project, err);
}

PawlStatus pawl_initial_watch_redundant(PawlDynamics* d, const PawlState* state, PawlError* err) {
  PawlState copy = *state;  // its arrays are read only
  return with_workspace(d, &copy, true, false, err);
}
