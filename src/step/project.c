// SPDX-License-Identifier: Apache-2.0
// Labels (E10) to (E12) stand in docs/theory/motion-forms.md.
#include "step/project.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "switch/tolerances.h"

// The first correction is always made, however small: with a dead zone a state would jump across it
// as the length of a step varies, and instants could not be located near a kink. [1] Of the terms
// of a row: more than SETTLED calls for another; the second is settled too, where corrections help
// no more.
static const double SETTLED = 64 * DBL_EPSILON, SETTLED_NEARLY = 1e-11;
// [1] What a correction that helps leaves of the violation at most.
static const double LEFT_MOST = 0.25;
// [1] Of the terms of a row: how far positions at the end of a step may be off. Beyond, an equation
// has jumped, or the step has lost its way. Rates pass through zero, and are never refused.
static const double LARGEST_OFF = 0.1;
// [1] Of the terms of a row: one correction leaves of this nothing but what the next step corrects.
static const double ONCE_IS_ENOUGH = 1e-10;
enum { MOST_CORRECTIONS = 4 };

PawlStatus pawl_projection_create(PawlStepper* s, PawlProjection* p, PawlError* err) {
  *p = (PawlProjection){0};
  if (s->sizes.rows == 0) {
    return PAWL_OK;
  }
  p->r = PAWL_NEW(&s->arena, double, s->sizes.rows);
  p->size = PAWL_NEW(&s->arena, double, s->sizes.rows);
  p->x = PAWL_NEW(&s->arena, double, s->sizes.v);
  if (!p->r || !p->size || !p->x) {
    return pawl_fail_memory(err);
  }
  return pawl_eval_create(s->system, PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT, &p->place,
                          err);
}

void pawl_projection_destroy(PawlProjection* p) {
  pawl_eval_destroy(p->place);
}

void pawl_projection_by_kkt(PawlStepper* s, void* data, double* x, double* r) {
  (void)data;
  pawl_kkt_solve(s->kkt, x, r);
}

// The largest r relative to the terms of its row, over the rows that bind; r becomes the right side
// of the correction. NaN counts as infinite.
static double take_violation(const PawlStepper* s, PawlProjection* p, const PawlPhase* phase) {
  double worst = 0.0;
  for (int i = 0; i < s->sizes.rows; i++) {
    bool binds = pawl_phase_binds(phase, i);
    double off = binds ? fabs(p->r[i]) / fmax(p->size[i], PAWL_SMALLEST_SIZE) : 0.0;
    worst = off <= worst ? worst : isfinite(off) ? off : INFINITY;
    p->r[i] = binds ? -p->r[i] : 0.0;
  }
  return worst;
}

static PawlStatus place(PawlStepper* s, PawlProjection* p, const PawlPhase* phase, double t,
                        const double* q, const double* v, PawlError* err) {
  PawlPoint point = pawl_phase_point(phase, t, q, v, NULL, NULL);
  s->dynamics.info.evaluations++;
  return pawl_eval_run(p->place, &point, err);
}

static double position_off(const PawlStepper* s, PawlProjection* p, const PawlPhase* phase,
                           const double* q) {
  const PawlValues* values = pawl_eval_values(p->place);
  memcpy(p->r, values->g, (size_t)s->sizes.rows * sizeof(double));
  pawl_dynamics_row_sizes(&s->dynamics, values->G, q, p->size);
  return take_violation(s, p, phase);
}

// Rates count as at least this: a part of the largest, or, where all is at rest, of what moves the
// coordinates by a part of themselves in one step.
static double least_rate(const PawlStepper* s, const double* q, const double* v) {
  double of_q = PAWL_SMALLEST_SIZE * pawl_dynamics_largest(s->sizes.q, q) / s->def.step;
  return PAWL_SMALLEST_SIZE * fmax(pawl_dynamics_largest(s->sizes.v, v), of_q) + DBL_MIN;
}

static double velocity_off(const PawlStepper* s, PawlProjection* p, const PawlPhase* phase,
                           const double* q, const double* v) {
  const PawlValues* values = pawl_eval_values(p->place);
  pawl_dynamics_rows(&s->dynamics, values->G, v, values->g_t, p->r);
  pawl_sparse_sizes(&s->G, values->G, v, least_rate(s, q, v), p->size);
  return take_violation(s, p, phase);
}

// How the corrections of one level go on.
typedef struct Course {
  int count;
  double before;  // what was off before the last one
} Course;

// Whether another correction is due, with `off` left. PAWL_RETRY: those of positions lead nowhere.
static PawlStatus go_on(Course* c, bool positions, double off, double t, bool* due,
                        PawlError* err) {
  bool helps = c->count == 0 ? off <= LARGEST_OFF || !positions
                             : (c->count < MOST_CORRECTIONS && off <= LEFT_MOST * c->before);
  *due = off > (c->count == 0 ? 0.0 : SETTLED) && helps;
  if (positions && !helps && off > SETTLED_NEARLY) {
    return pawl_fail(err, PAWL_RETRY,
                     "t = %.10g: positions cannot be brought back onto the constraints, off by "
                     "%.3g of their terms; is the step too large, does an equation jump in time, "
                     "or do constraints become dependent?",
                     t, off);
  }
  c->count += *due;
  c->before = off;
  return PAWL_OK;
}

// r -> the change x.
static void correct(PawlStepper* s, PawlProjection* p, PawlNearbySolve* solve, void* data) {
  memset(p->x, 0, (size_t)s->sizes.v * sizeof(double));
  solve(s, data, p->x, p->r);
}

static PawlStatus apply(PawlStepper* s, PawlProjection* p, const PawlPhase* phase,
                        PawlNearbySolve* solve, void* data, double t, double* q, double* v,
                        bool* moved, PawlError* err) {
  Course positions = {0}, velocities = {0};
  bool any = false, due;
  for (int i = 0; p->place && i < s->sizes.rows; i++) {
    any |= pawl_phase_binds(phase, i);
  }
  due = any;
  while (due) {  // (E10), (E11)
    PAWL_TRY(place(s, p, phase, t, q, v, err));
    double off = position_off(s, p, phase, q);
    PAWL_TRY(go_on(&positions, true, off, t, &due, err));
    if (due) {
      correct(s, p, solve, data);
      pawl_system_retract(s->system, q, p->x, q);
      due = off > ONCE_IS_ENOUGH;
    }
  }
  due = any;
  while (due) {  // (E12)
    double off = velocity_off(s, p, phase, q, v);
    PAWL_TRY(go_on(&velocities, false, off, t, &due, err));
    if (due) {
      correct(s, p, solve, data);
      for (int j = 0; j < s->sizes.v; j++) {
        v[j] += p->x[j];
      }
      due = off > ONCE_IS_ENOUGH;
    }
  }
  if (moved) {
    *moved = positions.count + velocities.count > 0;
  }
  return PAWL_OK;
}

PawlStatus pawl_projection_apply(PawlStepper* s, PawlProjection* p, const PawlPhase* phase,
                                 PawlNearbySolve* solve, void* data, double t, double* q, double* v,
                                 bool* moved, PawlError* err) {
  PawlStatus status = apply(s, p, phase, solve, data, t, q, v, moved, err);
  if (status == PAWL_RETRY) {
    (void)pawl_dynamics_blame_rows(&s->dynamics, phase, t, q, v, err);
  }
  return status;
}
