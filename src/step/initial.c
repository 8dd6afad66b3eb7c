// SPDX-License-Identifier: Apache-2.0
// A consistent start (docs/theory/initial.md): rows that depend on others are found and left out, q
// and v are checked against the constraints or projected onto them, and the acceleration and the
// multipliers that belong to them are computed.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "step/events.h"

static const double START_TOLERANCE = 1e-9;     // of the size of the terms of a row, see row_scale
static const double PROJECT_TOLERANCE = 1e-13;  // the same, for the end of the projection
static const double LAST_PROJECTION = 1e-8;     // and its last change relative to the whole
static const double WATCH_TOLERANCE = 1e-6;     // the same, for rows left out as redundant
static const double SMALLEST_SIZE = 1e-3;       // coordinates and rates are taken as at least this
enum { MOST_PROJECTIONS = 50 };

typedef struct Start {
  PawlStepper* s;
  PawlState* state;
  const PawlValues* values;
  double* scale;     // rows: size of a violation that matters, see row_scale
  double* residual;  // rows
  double* x;         // v
  double* y;         // rows
  double* moved;     // v: the change of the position by projection so far
} Start;

// A failure that a smaller step cannot mend.
static PawlStatus final(PawlStatus status, PawlError* err) {
  if (status == PAWL_RETRY && err) {
    err->status = PAWL_ERROR_RUN;
  }
  return status == PAWL_RETRY ? PAWL_ERROR_RUN : status;
}

static PawlStatus evaluate(Start* start, PawlError* err) {
  PawlState* st = start->state;
  PawlPoint point = {st->t, st->q, st->v, st->a, st->lambda, start->s->modes, start->s->held};
  start->s->info.evaluations++;
  return final(pawl_eval_run(start->s->eval_start, &point, err), err);
}

// How large the terms of each row are when coordinates (or rates) x enter it. A velocity is no
// coordinate where there are rotations: then each counts as 1.
static void row_scale(Start* start, const double* x, bool by_coordinate) {
  bool same = start->s->sizes.q == start->s->sizes.v;
  pawl_sparse_sizes(&start->s->G, start->values->G, by_coordinate && !same ? NULL : x,
                    SMALLEST_SIZE, start->scale);
}

static double violation_of(const Start* start, int i) {
  return fabs(start->residual[i]) / (start->scale[i] > 0.0 ? start->scale[i] : SMALLEST_SIZE);
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

// Of a contact only a gap below zero counts, and no velocity.
static void only_penetration(Start* start, bool position) {
  for (int i = 0; i < start->s->sizes.rows; i++) {
    if (pawl_system_row_kind(start->s->system, i) == PAWL_ROW_CONTACT) {
      start->residual[i] = position ? fmin(start->residual[i], 0.0) : 0.0;
    }
  }
}

static double position_violation(Start* start, int* row) {
  int rows = start->s->sizes.rows;
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

// The change x with G x = -residual that, added to the change so far, is least in the metric of M:
// (C3)
//   [ M  -G^T ] [ x ]   [ -M moved   ]
//   [ G    0  ] [ y ] = [ -residual ]
static PawlStatus least_change(Start* start, PawlError* err) {
  PawlStepper* s = start->s;
  memset(start->x, 0, (size_t)s->sizes.v * sizeof(double));
  pawl_sparse_add(&s->H, start->values->M, -1.0, start->moved, start->x);
  for (int i = 0; i < s->sizes.rows; i++) {
    start->y[i] = s->active && !s->active[i] ? 0.0 : -start->residual[i];
  }
  PawlStatus status =
      pawl_kkt_factor(s->kkt, start->values->M, start->values->G, start->values->G, s->active);
  if (status == PAWL_RETRY) {
    return final(pawl_step_singular(s, start->values->M, start->values->G, start->state->t, err),
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
  if (start->s->redundant) {
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

static PawlStatus project_position(Start* start, PawlError* err) {
  int row = 0;
  double before = INFINITY;
  for (int k = 0; k < MOST_PROJECTIONS; k++) {
    PAWL_TRY(evaluate(start, err));
    double violation = position_violation(start, &row);
    bool rounding = violation <= START_TOLERANCE && violation >= 0.5 * before;  // no less to be had
    if ((violation <= PROJECT_TOLERANCE || rounding) &&
        (k == 0 || last_part(start) <= LAST_PROJECTION)) {
      return PAWL_OK;
    }
    before = violation;
    PAWL_TRY(least_change(start, err));
    pawl_system_retract(start->s->system, start->state->q, start->x, start->state->q);
    for (int j = 0; j < start->s->sizes.v; j++) {
      start->moved[j] += start->x[j];
    }
  }
  int number;
  const char* name = pawl_system_row_name(start->s->system, row, &number);
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "the start cannot be projected onto the constraints: after %d iterations "
                   "constraint '%s' (row %d) is still off by %.6g; do the constraints contradict "
                   "each other?",
                   (int)MOST_PROJECTIONS, name, number + 1, start->residual[row]);
}

static PawlStatus project_velocity(Start* start, PawlError* err) {
  int row;
  (void)velocity_violation(start, &row);
  memset(start->moved, 0, (size_t)start->s->sizes.v * sizeof(double));
  PAWL_TRY(least_change(start, err));
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
  if (position_violation(start, &row) > START_TOLERANCE) {
    return off_by(start, row, "position", "", err);
  }
  if (velocity_violation(start, &row) > START_TOLERANCE) {
    return off_by(start, row, "velocity", " per second", err);
  }
  return PAWL_OK;
}

// ---- redundant rows -----------------------------------------------------------------------------
static PawlStatus warn_redundant(PawlStepper* s, const unsigned char* rows, int* count,
                                 PawlError* err) {
  PawlText text = {0};
  pawl_text_add(&text, "redundant constraints: ");
  *count = pawl_step_list_rows(s, rows, &text);
  pawl_text_printf(&text,
                   " follow%s from the others; the motion does not depend on them, multipliers are "
                   "those of minimum norm",
                   *count == 1 ? "s" : "");
  s->warning = text.failed ? NULL : pawl_arena_copy(&s->arena, text.s, text.length);
  pawl_text_free(&text);
  return s->warning ? PAWL_OK : pawl_fail_memory(err);
}

// Marks the rows that depend on others as not active, or fails when mass is missing.
static PawlStatus leave_out_redundant(Start* start, PawlError* err) {
  PawlStepper* s = start->s;
  PawlStatus status =
      pawl_kkt_factor(s->kkt, start->values->M, start->values->G, start->values->G, s->active);
  if (status != PAWL_RETRY) {
    return status == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
  }
  int column, count = 0;
  unsigned char* rows = PAWL_NEW(&s->arena, unsigned char, s->sizes.rows);
  status =
      rows ? pawl_kkt_diagnose(s->kkt, start->values->M, start->values->G, s->active, &column, rows)
           : PAWL_ERROR_MEMORY;
  if (status != PAWL_OK) {
    return status == PAWL_RETRY
               ? pawl_fail(err, PAWL_ERROR_RUN, "numbers overflow in the mass matrix at the start")
               : pawl_fail_memory(err);
  }
  if (column < 0) {
    PAWL_TRY(warn_redundant(s, rows, &count, err));
  }
  if (count == 0) {
    return final(pawl_step_singular(s, start->values->M, start->values->G, start->state->t, err),
                 err);
  }
  s->redundant = rows;
  if (!s->active) {
    s->active = PAWL_NEW(&s->arena, unsigned char, s->sizes.rows);
    if (!s->active) {
      return pawl_fail_memory(err);
    }
    memset(s->active, 1, (size_t)s->sizes.rows);
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    s->active[i] = s->active[i] && !rows[i];
  }
  s->info.redundant_rows = count;
  return PAWL_OK;
}

// G a + gamma of the rows left out: only accelerations can contradict here.
static PawlStatus check_accelerations(Start* start, PawlError* err) {
  PawlStepper* s = start->s;
  if (!s->redundant) {
    return PAWL_OK;
  }
  memcpy(start->residual, start->values->gamma, (size_t)s->sizes.rows * sizeof(double));
  pawl_sparse_add(&s->G, start->values->G, 1.0, start->state->a, start->residual);
  only_penetration(start, false);
  row_scale(start, start->state->a, false);
  int row;
  return worst(start, &row) > WATCH_TOLERANCE
             ? off_by(start, row, "acceleration", " per second squared", err)
             : PAWL_OK;
}

static PawlStatus check_masses(const Start* start, PawlError* err) {
  const PawlStepper* s = start->s;
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

// Which joints with a capacity slide from the start, and the sides of all conditions.
static PawlStatus begin_watching(Start* start, PawlError* err) {
  PawlStepper* s = start->s;
  if (s->switcher->capacity_count > 0) {
    PAWL_TRY(pawl_jump_settle(s, start->state, err));
    memcpy(start->state->modes, s->modes, pawl_mode_bytes(s));
  }
  return pawl_triggers_note(s, start->state, false, false, err);
}

static PawlStatus initial(Start* start, bool project, PawlError* err) {
  start->s->info.redundant_rows = 0;
  start->s->redundant = NULL;
  PAWL_TRY(final(pawl_switcher_start(start->s, start->state, err), err));
  PAWL_TRY(evaluate(start, err));
  PAWL_TRY(check_masses(start, err));
  PAWL_TRY(leave_out_redundant(start, err));
  PAWL_TRY(meet_constraints(start, project, err));
  PAWL_TRY(final(pawl_step_accelerate(start->s, start->values, start->state->t, start->state->a,
                                      start->state->lambda, err),
                 err));
  PAWL_TRY(check_accelerations(start, err));
  return start->s->triggers ? final(begin_watching(start, err), err) : PAWL_OK;
}

// A row left out is off when its violation is far beyond what the method allows the others.
static PawlStatus watch(Start* start, PawlError* err) {
  static const double BEYOND_OTHERS = 100.0;
  int row;
  PAWL_TRY(evaluate(start, err));
  (void)position_violation(start, &row);
  double out = 0.0, in = 0.0;
  for (int i = 0; i < start->s->sizes.rows; i++) {
    double ratio = violation_of(start, i);
    if (!start->s->redundant[i]) {
      in = fmax(in, ratio);
    } else if (ratio > out) {
      out = ratio;
      row = i;
    }
  }
  if (out <= WATCH_TOLERANCE || out <= BEYOND_OTHERS * in) {
    return PAWL_OK;
  }
  int number;
  const char* name = pawl_system_row_name(start->s->system, row, &number);
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: constraint '%s' (row %d) followed from the others at the start but "
                   "does not any more: it is off by %.3g",
                   start->state->t, name, number + 1, start->residual[row]);
}

// Both entries need the same workspace.
static PawlStatus with_workspace(PawlStepper* s, PawlState* state, bool watching, bool project,
                                 PawlError* err) {
  size_t rows = (size_t)s->sizes.rows, v = (size_t)s->sizes.v;
  if (!s->start_room) {
    s->start_room = PAWL_NEW(&s->arena, double, 3 * rows + 2 * v);
  }
  double* room = s->start_room;
  if (!room) {
    return pawl_fail_memory(err);
  }
  memset(room, 0, (3 * rows + 2 * v) * sizeof(double));
  Start start = {.s = s,
                 .state = state,
                 .values = pawl_eval_values(s->eval_start),
                 .scale = room,
                 .residual = room + rows,
                 .y = room + 2 * rows,
                 .x = room + 3 * rows,
                 .moved = room + 3 * rows + v};
  return watching ? watch(&start, err) : initial(&start, project, err);
}

PawlStatus pawl_step_initial(PawlStepper* s, PawlState* state, bool project, PawlError* err) {
  return with_workspace(s, state, false, project, err);
}

PawlStatus pawl_step_watch_redundant(PawlStepper* s, const PawlState* state, PawlError* err) {
  PawlState copy = *state;  // its arrays are read only
  return with_workspace(s, &copy, true, false, err);
}
