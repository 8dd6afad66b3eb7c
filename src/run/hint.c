// SPDX-License-Identifier: Apache-2.0
#include "run/hint.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "switch/tolerances.h"
#include "system/system.h"

// The state a time h later, by its rates and accelerations: q, v, and room for a move of q.
static void shift(const PawlSystem* system, const PawlState* state, double h, double* q, double* v,
                  double* move) {
  int n = pawl_system_sizes(system).v;
  for (int j = 0; j < n; j++) {
    move[j] = h * (state->v[j] + 0.5 * h * state->a[j]);
    v[j] = state->v[j] + h * state->a[j];
  }
  pawl_system_retract(system, state->q, move, q);
}

// The first kink that is not held on a side and has its border nearer than what it moves by from
// one place to the other; -1: none. A count has a border at each whole number.
static int first_reached(const PawlSystem* system, const PawlState* state, const double* from,
                         const double* to) {
  for (int k = system->turn_count; k < system->turn_count + system->kink_count; k++) {
    double z = from[system->guard_count + k], moved = to[system->guard_count + k] - z;
    double away = system->turns[k].counts ? z - nearbyint(z) : z;
    if (state->modes[system->constraint_count + k] == 0 && fabs(away) <= fabs(moved)) {
      return k;
    }
  }
  return -1;
}

static PawlStatus find(const PawlSystem* system, PawlEval* eval, const PawlState* state, double h,
                       double* room, int* kink, PawlError* err) {
  PawlSizes n = pawl_system_sizes(system);
  int count = pawl_system_surface_count(system);
  double *q = room, *v = q + n.q, *move = v + n.v, *from = move + n.v;
  PawlPhase phase = pawl_phase_of(state, false);
  PawlPoint point = pawl_phase_point(&phase, state->t, state->q, state->v, state->a, state->lambda);
  PAWL_TRY(pawl_eval_run(eval, &point, err));
  memcpy(from, pawl_eval_values(eval)->z, (size_t)count * sizeof(double));
  shift(system, state, h, q, v, move);
  point.q = q;
  point.v = v;
  PAWL_TRY(pawl_eval_run(eval, &point, err));
  *kink = first_reached(system, state, from, pawl_eval_values(eval)->z);
  return PAWL_OK;
}

static PawlStatus search(const PawlSystem* system, const PawlState* state, double h, int* kink,
                         PawlError* err) {
  PawlSizes n = pawl_system_sizes(system);
  PawlEval* eval;
  size_t count = (size_t)(n.q + 2 * n.v + pawl_system_surface_count(system));
  PAWL_TRY(pawl_eval_create(system, PAWL_SURFACES, &eval, err));
  double* room = pawl_alloc(count, sizeof *room);
  PawlStatus status = room ? find(system, eval, state, h, room, kink, err) : pawl_fail_memory(err);
  pawl_free(room);
  pawl_eval_destroy(eval);
  return status;
}

PawlStatus pawl_hint_at_kink(const PawlSystem* system, const char* method, const PawlState* state,
                             double h, PawlStatus status, PawlError* err) {
  PawlError inner = {0};
  PawlText text = {0};
  int kink = -1;
  if (!err || system->kink_count == 0) {
    return status;
  }
  PawlStatus found = search(system, state, h, &kink, &inner);
  if (found == PAWL_ERROR_MEMORY) {
    return pawl_fail_memory(err);
  }
  if (found != PAWL_OK || kink < 0) {
    return status;
  }
  pawl_model_print(&text, system->model, system->turns[kink].node);
  inner = *err;
  if (!text.failed) {
    (void)pawl_fail(err, status,
                    "%s; %s turns here, and %s does not locate it: dopri, ark and "
                    "event-driven do. Friction that sticks is exact as a lock with a capacity",
                    inner.message, text.s, method);
  }
  bool failed = text.failed;
  pawl_text_free(&text);
  return failed ? pawl_fail_memory(err) : status;
}

// ---- growth -------------------------------------------------------------------------------------
// What grows by this many times itself in a step, and is this many times the mean rate since the
// start, ends before the step does.
static const double FOLD_IN_STEP = 30.0, FOLD_OF_MEAN = 30.0;

// The rate that grows most of those that grow without end; -1: none.
static int find_growing(const PawlSystem* system, const PawlState* state, double h,
                        const double* q_start, const double* v_start) {
  PawlSizes n = pawl_system_sizes(system);
  int most = -1;
  double fold = FOLD_IN_STEP, largest = 0.0;
  for (int i = 0; i < n.v; i++) {
    largest = fmax(largest, fabs(state->v[i]));
  }
  for (int i = 0; i < n.v && state->t > 0.0; i++) {
    double v = fabs(state->v[i]), a = state->v[i] > 0.0 ? state->a[i] : -state->a[i];
    double way = n.q == n.v ? fabs(state->q[i] - q_start[i]) / state->t : 0.0;
    bool fast = v > FOLD_OF_MEAN * fmax(way, fabs(v_start[i])) && v > PAWL_REST * largest;
    if (fast && !(h * a < fold * v)) {  // not finite: more than any
      fold = h * a / v;
      most = i;
    }
  }
  return most;
}

PawlStatus pawl_hint_at_growth(const PawlSystem* system, const PawlState* state, double h,
                               PawlStatus status, PawlError* err) {
  PawlSizes n = pawl_system_sizes(system);
  if (!err) {
    return status;
  }
  double* start = pawl_alloc((size_t)n.q + (size_t)n.v, sizeof(double));
  if (!start) {
    return pawl_fail_memory(err);
  }
  pawl_system_start(system, start, start + n.q);
  int i = find_growing(system, state, h, start, start + n.q);
  pawl_free(start);
  if (i >= 0 && n.q == n.v) {
    PawlError inner = *err;
    const char* name = pawl_system_coordinate_name(system, i);
    (void)pawl_fail(
        err, status,
        "%s; the rate of '%s' grows beyond all bounds: %s = %.4g, %s' = %.4g at t = %.10g",
        inner.message, name, name, state->q[i], name, state->v[i], state->t);
  }
  return status;
}
