// SPDX-License-Identifier: Apache-2.0
// Labels (E10) to (E15) stand in docs/theory/motion-forms.md.
#include "step/project.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/copy.h"
#include "switch/tolerances.h"
#include "system/system.h"

// [1] What a correction that helps leaves of the violation at most.
static const double LEFT_MOST = 0.25;
// [1] Of the terms of a row: how far positions at the end of a step may be off. Beyond, an equation
// has jumped, or the step has lost its way. Rates pass through zero, and are never refused.
static const double LARGEST_OFF = 0.1;
enum { MOST_CORRECTIONS = 4 };

static int* find_diagonal(PawlStepper* s) {
  int* place = PAWL_NEW(&s->arena, int, s->sizes.v);
  for (int j = 0; place && j < s->sizes.v; j++) {
    place[j] = -1;
    for (int k = s->H.start[j]; k < s->H.start[j + 1]; k++) {
      place[j] = s->H.index[k] == j && j < pawl_moving(s->sizes) ? k : place[j];
    }
  }
  return place;
}

PawlStatus pawl_projection_create(PawlStepper* s, unsigned also, PawlProjection* p,
                                  PawlError* err) {
  *p = (PawlProjection){0};
  if (s->sizes.rows == 0) {
    return PAWL_OK;
  }
  p->r = PAWL_NEW(&s->arena, double, s->sizes.rows);
  p->size = PAWL_NEW(&s->arena, double, s->sizes.rows);
  p->r_v = PAWL_NEW(&s->arena, double, s->sizes.rows);
  p->x = PAWL_NEW(&s->arena, double, s->sizes.v);
  p->x_v = PAWL_NEW(&s->arena, double, s->sizes.v);
  p->diagonal = find_diagonal(s);
  if (s->arena.failed) {
    return pawl_fail_memory(err);
  }
  unsigned mask = PAWL_MASS | PAWL_FORCE | PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT;
  return pawl_stepper_eval(s, mask | also, &p->place, err);
}

void pawl_projection_destroy(PawlProjection* p) {
  pawl_eval_destroy(p->place);
}

void pawl_projection_by_kkt(PawlStepper* s, void* data, double* x, double* r) {
  (void)data;
  pawl_kkt_solve(s->kkt, x, r);
}

// r becomes the right side of the correction. False: nothing is off.
static bool take_right_side(const PawlStepper* s, PawlProjection* p, const PawlPhase* phase) {
  bool off = false;
  for (int i = 0; i < s->sizes.rows; i++) {
    p->r[i] = pawl_phase_binds(phase, i) ? -p->r[i] : 0.0;
    off |= p->r[i] != 0.0;
  }
  return off;
}

// The largest r relative to the terms of its row, over the rows that bind; r becomes the right side
// of the correction. NaN counts as infinite.
static double take_violation(const PawlStepper* s, PawlProjection* p, const PawlPhase* phase) {
  double worst = 0.0;
  (void)take_right_side(s, p, phase);
  for (int i = 0; i < s->sizes.rows; i++) {
    double off = p->r[i] == 0.0 ? 0.0 : fabs(p->r[i]) / p->size[i];
    worst = off <= worst ? worst : isfinite(off) ? off : INFINITY;
  }
  return worst;
}

static PawlStatus place(PawlStepper* s, PawlProjection* p, const PawlPhase* phase, double t,
                        const double* q, const double* v, PawlError* err) {
  PawlPoint point = pawl_phase_point(phase, t, q, v, NULL, NULL);
  if (p->placed) {
    p->placed = false;
    return PAWL_OK;
  }
  s->dynamics.info.evaluations++;
  return pawl_eval_run(p->place, &point, err);
}

static void take_positions(const PawlStepper* s, PawlProjection* p) {
  memcpy(p->r, pawl_eval_values(p->place)->g, (size_t)s->sizes.rows * sizeof(double));
}

static void take_velocities(const PawlStepper* s, PawlProjection* p, const double* v) {
  const PawlValues* values = pawl_eval_values(p->place);
  pawl_dynamics_rows(&s->dynamics, values->G, v, values->g_t, p->r);
}

// Coordinates count as at least a part of the largest, or of what a step moves, by rates or by the
// forces that the rows bear: one that is held at zero is rounding of these. Where all of that is
// nothing, what came to rest at zero is off by the rounding of what it was.
static double least_place(const PawlStepper* s, const PawlProjection* p, const double* q,
                          const double* v) {
  double h = s->def.step, fall = pawl_dynamics_fall(&s->dynamics, pawl_eval_values(p->place));
  double move = h * (pawl_dynamics_largest(pawl_moving(s->sizes), v) + h * fall);
  double most = fmax(pawl_dynamics_largest(s->sizes.q, q), move);
  return most > PAWL_NOTHING ? PAWL_SMALLEST_PART * most : PAWL_SMALLEST_SIZE;
}

static double position_off(const PawlStepper* s, PawlProjection* p, const PawlPhase* phase,
                           const double* q, const double* v) {
  const double *G = pawl_eval_values(p->place)->G, *of_q = s->sizes.q == s->sizes.v ? q : NULL;
  take_positions(s, p);
  pawl_sparse_sizes(&s->G, G, of_q, least_place(s, p, q, v), p->size);
  return take_violation(s, p, phase);
}

// Rates count as at least this: a part of the largest, or, where all is at rest, of what moves the
// coordinates by a part of themselves in one step.
static double least_rate(const PawlStepper* s, const double* q, const double* v) {
  double of_q = PAWL_SMALLEST_PART * pawl_dynamics_largest(s->sizes.q, q) / s->def.step;
  return PAWL_SMALLEST_PART * fmax(pawl_dynamics_largest(pawl_moving(s->sizes), v), of_q) + DBL_MIN;
}

static double velocity_off(const PawlStepper* s, PawlProjection* p, const PawlPhase* phase,
                           const double* q, const double* v) {
  take_velocities(s, p, v);
  pawl_sparse_sizes(&s->G, pawl_eval_values(p->place)->G, v, least_rate(s, q, v), p->size);
  return take_violation(s, p, phase);
}

// How the corrections of one level go on.
typedef struct Course {
  int count;
  double before;  // what was off before the last one
} Course;

// Whether what is off in each row is rounding of numbers that cancel in it: a gap x + a cos(p) - a
// is known to the rounding of a, however small x and p are.                                 (E15)
static PawlStatus look_for_rounding(const PawlStepper* s, PawlProjection* p, const PawlPhase* phase,
                                    double t, const double* q, const double* v, bool* rounded,
                                    PawlError* err) {
  PawlPoint point = pawl_phase_point(phase, t, q, v, NULL, NULL);
  PAWL_TRY(pawl_system_row_terms(s->system, &point, p->r_v, err));
  *rounded = true;
  for (int i = 0; i < s->sizes.rows; i++) {
    *rounded &= fabs(p->r[i]) <= PAWL_SETTLED_NEARLY * p->size[i] ||
                fabs(p->r[i]) <= PAWL_PROJECTED * p->r_v[i];
  }
  return PAWL_OK;
}

// Whether another correction is due, with `off` left. `*lost`: those of positions lead nowhere.
static void go_on(Course* c, bool positions, double off, bool* due, bool* lost) {
  bool helps = c->count == 0 ? off <= LARGEST_OFF || !positions
                             : (c->count < MOST_CORRECTIONS && off <= LEFT_MOST * c->before);
  *due = off > (c->count == 0 ? 0.0 : PAWL_PROJECTED) && helps;
  *lost = positions && !helps && off > PAWL_SETTLED_NEARLY;
  c->count += *due;
  c->before = off;
}

static PawlStatus fail_lost(double t, double off, PawlError* err) {
  return pawl_fail(err, PAWL_RETRY,
                   "t = %.10g: positions cannot be brought back onto the constraints, off by "
                   "%.3g of their terms; is the step too large, does an equation jump in time, "
                   "or do constraints become dependent?",
                   t, off);
}

// r -> the change x.
static void correct(PawlStepper* s, PawlProjection* p, PawlNearbySolve* solve, void* data) {
  memset(p->x, 0, (size_t)s->sizes.v * sizeof(double));
  solve(s, data, p->x, p->r);
}

// `solved`: x is the change for this r already.
static void correct_once(PawlStepper* s, PawlProjection* p, PawlNearbySolve* solve, void* data,
                         bool solved) {
  if (!solved) {
    correct(s, p, solve, data);
  }
}

// Whether a change is next to nothing beside what it changes. A row's terms are then off by at most
// that part, too, so that the one correction is enough, and their sizes need not be known.
static bool is_tiny(int n, const double* x, const double* of) {
  double most = 0.0;
  bool tiny = true;
  for (int j = 0; j < n; j++) {
    most = fabs(of[j]) > most ? fabs(of[j]) : most;
  }
  most *= PAWL_SMALLEST_PART;
  for (int j = 0; j < n; j++) {
    double size = fabs(of[j]) > most ? fabs(of[j]) : most;
    tiny &= fabs(x[j]) <= 0.5 * PAWL_ONCE_IS_ENOUGH * size;
  }
  return tiny;
}

static PawlStatus move_positions(PawlStepper* s, PawlProjection* p, const PawlPhase* phase,
                                 PawlNearbySolve* solve, void* data, double t, double* q,
                                 const double* v, bool* moved, PawlError* err) {  // (E10), (E11)
  Course course = {0};
  PAWL_TRY(place(s, p, phase, t, q, v, err));
  take_positions(s, p);
  if (!take_right_side(s, p, phase)) {
    return PAWL_OK;
  }
  *moved = true;
  correct(s, p, solve, data);
  if (s->sizes.q == s->sizes.v && is_tiny(s->sizes.v, p->x, q)) {
    pawl_system_retract(s->system, q, p->x, q);
    return PAWL_OK;
  }
  for (bool due = true, solved = true; due; solved = false) {
    double off = position_off(s, p, phase, q, v);
    bool lost, rounded = false;
    go_on(&course, true, off, &due, &lost);
    if (lost) {
      PAWL_TRY(look_for_rounding(s, p, phase, t, q, v, &rounded, err));
    }
    if (lost && !rounded) {
      return fail_lost(t, off, err);
    }
    if (due) {
      correct_once(s, p, solve, data, solved);
      pawl_system_retract(s->system, q, p->x, q);
      due = off > PAWL_ONCE_IS_ENOUGH;
    }
    if (due) {
      PAWL_TRY(place(s, p, phase, t, q, v, err));
    }
  }
  return PAWL_OK;
}

static void add_to(int n, double* v, const double* x) {
  for (int j = 0; j < n; j++) {
    v[j] += x[j];
  }
}

static void move_velocities(PawlStepper* s, PawlProjection* p, const PawlPhase* phase,
                            PawlNearbySolve* solve, void* data, const double* q, double* v,
                            bool* moved) {  // (E12)
  Course course = {0};
  take_velocities(s, p, v);
  if (!take_right_side(s, p, phase)) {
    return;
  }
  *moved = true;
  correct(s, p, solve, data);
  if (is_tiny(s->sizes.v, p->x, v)) {
    add_to(s->sizes.v, v, p->x);
    return;
  }
  for (bool due = true, solved = true; due; solved = false) {
    double off = velocity_off(s, p, phase, q, v);
    bool lost;
    go_on(&course, false, off, &due, &lost);
    if (due) {
      correct_once(s, p, solve, data, solved);
      add_to(s->sizes.v, v, p->x);
      due = off > PAWL_ONCE_IS_ENOUGH;
    }
  }
}

bool pawl_projection_any(const PawlStepper* s, const PawlProjection* p, const PawlPhase* phase) {
  bool any = p->place && !phase->active;
  for (int i = 0; p->place && !any && i < s->sizes.rows; i++) {
    any = phase->active[i];
  }
  return any && !s->dynamics.jams;  // (F36)
}

static PawlStatus apply(PawlStepper* s, PawlProjection* p, const PawlPhase* phase,
                        PawlNearbySolve* solve, void* data, double t, double* q, double* v,
                        bool* moved, PawlError* err) {
  *moved = false;
  if (!pawl_projection_any(s, p, phase)) {
    return PAWL_OK;
  }
  PAWL_TRY(move_positions(s, p, phase, solve, data, t, q, v, moved, err));
  move_velocities(s, p, phase, solve, data, q, v, moved);
  return PAWL_OK;
}

PawlStatus pawl_projection_apply(PawlStepper* s, PawlProjection* p, const PawlPhase* phase,
                                 PawlNearbySolve* solve, void* data, double t, double* q, double* v,
                                 bool* moved, PawlError* err) {
  bool any_moved;
  PawlStatus status = apply(s, p, phase, solve, data, t, q, v, moved ? moved : &any_moved, err);
  if (status == PAWL_RETRY) {
    (void)pawl_dynamics_blame(&s->dynamics, phase, t, q, v, err);
  }
  return status;
}

// ---- at once ------------------------------------------------------------------------------------
// |dq / h|^2 + |dv|^2 <= PAWL_AT_ONCE^2 (|v| + h |v'|)^2, squares weighted by the diagonal of M,
// for the way from the point looked at to the one moved to. (E13)
static bool is_next_to_nothing(const PawlStepper* s, const PawlProjection* p,
                               const PawlProjectionGuess* guess, const double* v, const double* a) {
  const double* M = pawl_eval_values(p->place)->M;
  double h = s->def.step, change_q = 0.0, change_v = 0.0, speed = 0.0;
  for (int j = 0; j < s->sizes.v; j++) {
    double mass = p->diagonal[j] >= 0 ? M[p->diagonal[j]] : 0.0;
    double rate = fabs(v[j]) + h * fabs(a[j]);
    double dq = guess ? p->x[j] - guess->q[j] : p->x[j];
    double dv = guess ? p->x_v[j] - guess->v[j] : p->x_v[j];
    change_q += mass * dq * dq;
    change_v += mass * dv * dv;
    speed += mass * rate * rate;
  }
  return change_q + h * h * change_v <= PAWL_AT_ONCE * PAWL_AT_ONCE * h * h * speed;
}

// (E10) and (E12)
static void solve_both(PawlStepper* s, PawlProjection* p, PawlNearbySolve* solve, void* data) {
  if (solve == pawl_projection_by_kkt) {
    pawl_kkt_solve_two(s->kkt, (double*[]){p->x, p->x_v}, (double*[]){p->r, p->r_v});
    return;
  }
  solve(s, data, p->x, p->r);
  solve(s, data, p->x_v, p->r_v);
}

bool pawl_projection_at_once(PawlStepper* s, PawlProjection* p, const PawlPhase* phase,
                             PawlNearbySolve* solve, void* data, const PawlProjectionGuess* guess,
                             const double* a, double* q, double* v) {
  const PawlValues* values = pawl_eval_values(p->place);
  pawl_dynamics_rows(&s->dynamics, values->G, v, values->g_t, p->r_v);
  pawl_copy(s->sizes.rows, values->g, p->r);
  if (guess) {
    pawl_sparse_line_add(&s->dynamics.by_G, values->G, -1.0, guess->q, p->r);  // (E14)
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    bool binds = pawl_phase_binds(phase, i);
    bool rate = s->system->rates && pawl_system_row_is_rate(s->system, i, phase->modes);
    p->r[i] = binds && !rate ? -p->r[i] : 0.0;
    p->r_v[i] = binds ? -p->r_v[i] : 0.0;
  }
  pawl_copy_zeros(s->sizes.v, p->x);
  pawl_copy_zeros(s->sizes.v, p->x_v);
  solve_both(s, p, solve, data);
  if (!is_next_to_nothing(s, p, guess, v, a)) {
    return false;
  }
  pawl_system_retract(s->system, q, p->x, q);
  add_to(s->sizes.v, v, p->x_v);
  return true;
}
