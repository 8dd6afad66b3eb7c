// SPDX-License-Identifier: Apache-2.0
// Equation labels refer to docs/theory/friction.md, section 9.
#include "step/loop_slow.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "expr/elementary.h"
#include "linalg/dense.h"
#include "step/works.h"
#include "switch/tolerances.h"
#include "system/system.h"

enum { STAGES = PAWL_SLOW_STAGES, MOST_SWEEPS = 30, MOST_FAILURES = 3, MOST_REFUSALS = 20 };

// Radau's collocation of three stages, order 5.                                             (F80)
#define ROOT6 2.449489742783178098197284074705891391
static const double C[STAGES] = {(4 - ROOT6) / 10, (4 + ROOT6) / 10, 1};
static const double A[STAGES][STAGES] = {
    {(88 - 7 * ROOT6) / 360, (296 - 169 * ROOT6) / 1800, (-2 + 3 * ROOT6) / 225},
    {(296 + 169 * ROOT6) / 1800, (88 + 7 * ROOT6) / 360, (-2 - 3 * ROOT6) / 225},
    {(16 - ROOT6) / 36, (16 + ROOT6) / 36, 1.0 / 9}};
// The parabola through the stages, at the beginning; and what a step is off by, of its distance
// from what is there.                                                                       (F83)
static const double AT_BEGIN[STAGES] = {(2 + 3 * ROOT6) / 6, (2 - 3 * ROOT6) / 6, 1.0 / 3};
static const double OFF = 0.27;
static const double SAFETY = 0.9, SHRINK_MOST = 0.2, GROW_MOST = 5.0;  // as dopri

// ---- creation -----------------------------------------------------------------------------------
static bool allocate(PawlStepper* s, PawlSlow* w, int contacts) {
  PawlArena* arena = &s->arena;
  size_t n = (size_t)w->most, unknowns = STAGES * n, v = (size_t)s->sizes.v;
  for (int j = 0; j < STAGES; j++) {
    w->d[j] = PAWL_NEW(arena, double, 2 * (size_t)contacts);
    w->slip[j] = PAWL_NEW(arena, double, 2 * n);
    w->q[j] = PAWL_NEW(arena, double, s->sizes.q);
    w->rate[j] = PAWL_NEW(arena, double, s->sizes.q);
    w->v[j] = PAWL_NEW(arena, double, v);
    w->a[j] = PAWL_NEW(arena, double, v);
    w->off[j] = PAWL_NEW(arena, double, v);
  }
  w->contact = PAWL_NEW(arena, int, n);
  w->move = PAWL_NEW(arena, double, s->sizes.q);
  w->push = PAWL_NEW(arena, double, n* v);
  w->weight = PAWL_NEW(arena, double, n);
  w->rubs = PAWL_NEW(arena, double, v);
  w->by = PAWL_NEW(arena, double, 2 * n * n);
  w->A = PAWL_NEW(arena, double, unknowns* unknowns);
  w->b = PAWL_NEW(arena, double, unknowns);
  w->x = PAWL_NEW(arena, double, unknowns);
  w->pivot = PAWL_NEW(arena, int, unknowns);
  w->lambda = PAWL_NEW(arena, double, s->sizes.rows);
  w->y = PAWL_NEW(arena, double, s->sizes.rows);
  return !arena->failed;
}

PawlStatus pawl_slow_create(PawlStepper* s, PawlSlow** out, PawlError* err) {
  const PawlSlip* slip = s->dynamics.slip;
  int turning = 0;
  *out = NULL;
  for (int k = 0; slip && k < slip->count; k++) {
    turning += slip->contact[k].count > 1;
  }
  if (turning == 0) {
    return PAWL_OK;
  }
  PawlSlow* w = *out = PAWL_NEW(&s->arena, PawlSlow, 1);
  if (!w) {
    return pawl_fail_memory(err);
  }
  w->most = turning < PAWL_SLIP_SLOW_MOST ? turning : PAWL_SLIP_SLOW_MOST;
  return allocate(s, w, slip->count) ? PAWL_OK : pawl_fail_memory(err);
}

// ---- one step -----------------------------------------------------------------------------------
typedef struct Step {  // from (t, q, v), where accelerations are a
  PawlStepper* s;
  PawlState* state;
  PawlSlow* w;
  double h;
  PawlError* err;
} Step;

// v' and lambda at a place, with friction along given directions.
static PawlStatus accelerate(const Step* of, double t, double* q, double* v, const double* d,
                             double* a) {
  PawlDynamics* dynamics = &of->s->dynamics;
  PawlPhase phase = pawl_phase_of(of->state, false);
  PawlState at = {.t = t, .q = q, .v = v};
  const PawlValues* values;
  dynamics->slip->given = d;
  PawlStatus status = pawl_dynamics_evaluate(dynamics, &phase, &at, &values, of->err);
  status = status != PAWL_OK ? status
                             : pawl_dynamics_accelerate(dynamics, &phase, values, t, q, v, a,
                                                        of->w->lambda, of->err);
  dynamics->slip->given = NULL;
  return status;
}

// The two rates of a slip that velocities x make, by the gradients of the last look.
static void rates_of(const PawlSlip* slip, int contact, const double* x, double* rate) {
  const PawlSlipContact* c = &slip->contact[contact];
  const double* G = pawl_eval_values(slip->eval)->G;
  for (int e = 0; e < 2; e++) {
    rate[e] = 0.0;
    for (int p = slip->rows.start[c->first + e]; p < slip->rows.start[c->first + e + 1]; p++) {
      rate[e] += G[slip->rows.at[p]] * x[slip->rows.column[p]];
    }
  }
}

// Which contacts turn, their directions at the beginning, and how accelerations change with them:
// -weight push, rates of slips by -weight by.                                               (F82)
static PawlStatus look(const Step* of) {
  PawlSlow* w = of->w;
  PawlStepper* s = of->s;
  PawlSlip* slip = s->dynamics.slip;
  PawlPhase phase = pawl_phase_of(of->state, false);
  w->count = 0;
  PAWL_TRY(pawl_slip_look(slip, &phase, of->state->t, of->state->q, of->state->v, of->err));
  for (int k = 0; k < slip->count; k++) {
    bool turns = slip->contact[k].count > 1 && pawl_slip_slips(phase.modes[slip->contact[k].mode]);
    w->d[0][2 * k] = w->d[0][2 * k + 1] = 0.0;
    if (turns && w->count == w->most) {
      return PAWL_RETRY;
    }
    if (turns) {
      pawl_slip_direction(slip, &phase, k, &w->d[0][2 * k]);
      w->contact[w->count++] = k;
    }
  }
  PAWL_TRY(accelerate(of, of->state->t, of->state->q, of->state->v, w->d[0], w->a[0]));
  if (!pawl_slip_turns(slip, &phase, w->lambda)) {
    return PAWL_RETRY;
  }
  for (int k = 0; k < w->count; k++) {
    const int* columns;
    const double* p;
    double u[2], weight, *x = w->push + (size_t)k * (size_t)s->sizes.v;
    int entries = pawl_slip_turning(slip, &phase, w->contact[k], &columns, &p, &weight);
    memset(x, 0, (size_t)s->sizes.v * sizeof(double));
    memset(w->y, 0, (size_t)s->sizes.rows * sizeof(double));
    for (int e = 0; e < entries; e++) {
      x[columns[e]] = p[e];
    }
    pawl_kkt_solve(s->kkt, x, w->y);
    w->weight[k] = weight * fabs(pawl_slip_rate(slip, &phase, w->contact[k], u));
  }
  for (int j = 0; j < s->sizes.v; j++) {
    w->rubs[j] = 0.0;
    for (int k = 0; k < w->count; k++) {
      w->rubs[j] += w->weight[k] * fabs(w->push[(size_t)k * (size_t)s->sizes.v + (size_t)j]);
    }
  }
  for (int k = 0; k < w->count * w->count; k++) {
    rates_of(slip, w->contact[k / w->count], w->push + (size_t)(k % w->count) * (size_t)s->sizes.v,
             w->by + 2 * k);
  }
  return PAWL_OK;
}

// The motion as if nothing changed.
static void guess(const Step* of) {
  PawlSlow* w = of->w;
  const PawlState* state = of->state;
  PawlStepper* s = of->s;
  for (int i = 0; i < STAGES; i++) {
    double h = C[i] * of->h;
    for (int j = 0; j < s->sizes.v; j++) {
      w->v[i][j] = state->v[j] + h * state->a[j];
    }
    pawl_system_rates(s->system, state->q, state->v, w->rate[i]);
    for (int j = 0; j < s->sizes.q; j++) {
      w->q[i][j] = state->q[j] + h * w->rate[i][j];
    }
    if (i > 0) {
      memcpy(w->d[i], w->d[0], 2 * (size_t)s->dynamics.slip->count * sizeof(double));
    }
  }
}

// v' of all stages, and the rates of slips there.
static PawlStatus evaluate(const Step* of) {
  PawlSlow* w = of->w;
  PawlSlip* slip = of->s->dynamics.slip;
  for (int i = 0; i < STAGES; i++) {
    PAWL_TRY(accelerate(of, of->state->t + C[i] * of->h, w->q[i], w->v[i], w->d[i], w->a[i]));
    for (int k = 0; k < w->count; k++) {
      const PawlSlipContact* c = &slip->contact[w->contact[k]];
      memcpy(w->slip[i] + 2 * k, slip->rate + c->first, 2 * sizeof(double));
    }
  }
  return PAWL_OK;
}

// How far stages are from v + h sum a_ij v'_j, and the equations of the directions.         (F81)
static void set_up(const Step* of) {
  PawlSlow* w = of->w;
  const PawlSlip* slip = of->s->dynamics.slip;
  int n = STAGES * w->count;
  for (int i = 0; i < STAGES; i++) {
    for (int j = 0; j < of->s->sizes.v; j++) {
      double sum = A[i][0] * w->a[0][j] + A[i][1] * w->a[1][j] + A[i][2] * w->a[2][j];
      w->off[i][j] = of->state->v[j] + of->h * sum - w->v[i][j];
    }
    for (int k = 0; k < w->count; k++) {
      const double* d = &w->d[i][2 * w->contact[k]];
      double u[2], N[2] = {-d[1], d[0]};
      rates_of(slip, w->contact[k], w->off[i], u);
      u[0] += w->slip[i][2 * k];
      u[1] += w->slip[i][2 * k + 1];
      int row = i * w->count + k;
      w->b[row] = N[0] * u[0] + N[1] * u[1];
      for (int col = 0; col < n; col++) {
        int j = col / w->count, l = col % w->count;
        const double* by = w->by + 2 * (k * w->count + l);
        w->A[row + n * col] = of->h * A[i][j] * w->weight[l] * (N[0] * by[0] + N[1] * by[1]) +
                              (col == row ? fabs(d[0] * u[0] + d[1] * u[1]) : 0.0);
      }
    }
  }
}

static void turn(double* d, double angle) {
  double c = pawl_cos(angle), s = pawl_sin(angle), x = d[0];
  d[0] = c * x - s * d[1];
  d[1] = s * x + c * d[1];
}

// What rounding leaves of a direction: that of the terms of its slip, over the slip.
static double noise_of(const Step* of, int stage, int k) {
  const PawlSlow* w = of->w;
  double terms = of->s->dynamics.slip->least[w->contact[k]] / PAWL_SLIP_BEGINS;
  const double *d = &w->d[stage][2 * w->contact[k]], *u = w->slip[stage] + 2 * k;
  double speed = fabs(d[0] * u[0] + d[1] * u[1]);
  double noise = PAWL_SLIP_SLOW_NOISE * DBL_EPSILON * terms;
  return noise < PAWL_SLIP_SLOW_NOISY * speed ? noise / speed : 0.0;
}

// The largest change of directions, and of velocities, of what they are or friction makes of them;
// and what rounding may leave of it.
static double take(const Step* of, double* rounded) {
  PawlSlow* w = of->w;
  PawlStepper* s = of->s;
  double largest = 0.0;
  *rounded = PAWL_SLIP_SLOW_ROUNDED;
  for (int row = 0; row < STAGES * w->count; row++) {
    double angle = fmin(fmax(w->x[row], -PAWL_SLIP_SLOW_TURN), PAWL_SLIP_SLOW_TURN);
    int j = row / w->count, k = row % w->count;
    largest = fmax(largest, fabs(angle));
    *rounded = fmax(*rounded, noise_of(of, j, k));
    turn(&w->d[j][2 * w->contact[k]], angle);
    const double* push = w->push + (size_t)k * (size_t)s->sizes.v;
    for (int i = 0; i < STAGES; i++) {
      double by = -of->h * A[i][j] * w->weight[k] * angle;
      for (int m = 0; m < s->sizes.v; m++) {
        w->off[i][m] += by * push[m];
      }
    }
  }
  for (int m = 0; m < s->sizes.v; m++) {
    double size = of->h * w->rubs[m], change = 0.0;
    for (int i = 0; i < STAGES; i++) {
      change = fmax(change, fabs(w->off[i][m]));
      w->v[i][m] += w->off[i][m];
      size = fmax(size, fmax(fabs(w->v[i][m]), of->h * fabs(w->a[i][m])));
    }
    largest = change > 0.0 ? fmax(largest, change / size) : largest;
  }
  return largest;
}

// q of the stages, by their rates.
static void place(const Step* of) {
  PawlSlow* w = of->w;
  PawlStepper* s = of->s;
  for (int i = 0; i < STAGES; i++) {
    pawl_system_rates(s->system, w->q[i], w->v[i], w->rate[i]);
  }
  for (int i = 0; i < STAGES; i++) {
    for (int j = 0; j < s->sizes.q; j++) {
      double sum = A[i][0] * w->rate[0][j] + A[i][1] * w->rate[1][j] + A[i][2] * w->rate[2][j];
      w->q[i][j] = of->state->q[j] + of->h * sum;
    }
    pawl_system_tidy(s->system, w->q[i]);
  }
}

// All slip along their directions, not against them.
static bool goes_forward(const Step* of) {
  PawlSlow* w = of->w;
  bool forward = true;
  for (int row = 0; row < STAGES * w->count; row++) {
    int i = row / w->count, k = row % w->count;
    const double *d = &w->d[i][2 * w->contact[k]], *u = w->slip[i] + 2 * k;
    forward = forward && d[0] * u[0] + d[1] * u[1] > 0.0;
  }
  return forward;
}

// What a number is off by at the end of a step that changes it by `size` or less: on a time T it is
// size (h/T)^5, where the quadrature of order 3 is off by size (h/T)^3.                     (F83)
static double off_by(double third, double size) {
  double part = size > 0.0 ? third / size : 1.0;
  return part < 1.0 ? third * cbrt(part * part) : third;
}

// Of what the tolerances allow, (D2).
static double error_of(const Step* of) {
  const PawlSlow* w = of->w;
  const PawlStepper* s = of->s;
  double sum = 0.0;
  pawl_system_rates(s->system, of->state->q, of->state->v, w->move);
  for (int m = 0; m < s->sizes.q + s->sizes.v; m++) {
    bool rate = m >= s->sizes.q;
    int j = rate ? m - s->sizes.q : m;
    double* const* k = rate ? w->a : w->rate;
    double first = rate ? of->state->a[j] : w->move[j];
    double y = rate ? of->state->v[j] : of->state->q[j], z = rate ? w->v[2][j] : w->q[2][j];
    double off = first, size = fabs(first);
    for (int i = 0; i < STAGES; i++) {
      off -= AT_BEGIN[i] * k[i][j];
      size = fmax(size, fabs(k[i][j]));
    }
    off = off_by(OFF * of->h * fabs(off), of->h * size) /
          (s->def.atol + s->def.rtol * fmax(fabs(y), fabs(z)));
    sum += off * off;
  }
  return sqrt(sum / (s->sizes.q + s->sizes.v));
}

// Newton's method on directions and, as if they changed nothing, velocities.
static PawlStatus solve(const Step* of) {
  PawlSlow* w = of->w;
  int n = STAGES * w->count;
  double last = INFINITY;
  guess(of);
  for (int k = 0; k < MOST_SWEEPS; k++) {
    PAWL_TRY(evaluate(of));
    set_up(of);
    if (pawl_lu_factor(n, w->A, w->pivot, 0.0) != 0) {
      return PAWL_RETRY;
    }
    pawl_lu_solve(n, w->A, w->pivot, w->b, w->x);
    double rounded, change = take(of, &rounded);
    place(of);
    if (change <= PAWL_SLIP_SLOW_ENDS || (change <= rounded && change >= 0.5 * last)) {
      PAWL_TRY(evaluate(of));
      return goes_forward(of) ? PAWL_OK : PAWL_RETRY;
    }
    if (!(change < 1e3) || (k > 4 && change > last)) {
      return PAWL_RETRY;
    }
    last = change;
  }
  return PAWL_RETRY;
}

static void accept(const Step* of) {
  PawlSlow* w = of->w;
  PawlState* state = of->state;
  PawlStepper* s = of->s;
  const PawlSlip* slip = s->dynamics.slip;
  state->t += of->h;
  memcpy(state->q, w->q[2], (size_t)s->sizes.q * sizeof(double));
  memcpy(state->v, w->v[2], (size_t)s->sizes.v * sizeof(double));
  memcpy(state->a, w->a[2], (size_t)s->sizes.v * sizeof(double));
  memcpy(state->lambda, w->lambda, (size_t)s->sizes.rows * sizeof(double));
  for (int k = 0; k < w->count; k++) {
    const PawlSlipContact* c = &slip->contact[w->contact[k]];
    memcpy(state->held + c->first, &w->d[2][2 * w->contact[k]], 2 * sizeof(double));
  }
}

// How long the next step may be so that works are known: what these are known to falls with the
// part by which the power of a slip changes in a step, and slips begin from nothing and come to it.
static double clear_of_works(const Step* of, double h) {
  PawlSlow* w = of->w;
  const PawlSlip* slip = of->s->dynamics.slip;
  double longest = PAWL_SLIP_SLOW_WORKS * h;
  for (int k = 0; k < w->count; k++) {
    double change[2];
    const double* u = slip->rate + slip->contact[w->contact[k]].first;
    rates_of(slip, w->contact[k], of->state->a, change);
    double grows_in = hypot(u[0], u[1]) / hypot(change[0], change[1]);
    longest = fmin(longest, PAWL_SLIP_SLOW_WORKS * grows_in);
  }
  return fmax(longest, PAWL_SLIP_SLOW_WORKS_FIRST * h);
}

PawlStatus pawl_slow_step(PawlStepper* s, PawlSlow* w, PawlState* state, double h, double whole,
                          PawlError* err) {
  double end = state->t + h, next = h;
  int failures = 0, refusals = 0;
  PawlPhase phase = pawl_phase_of(state, false);
  while (failures < MOST_FAILURES && refusals < MOST_REFUSALS) {
    double left = end - state->t;
    Step of = {s, state, w, left, err};
    PawlStatus status = look(&of);
    of.h = status == PAWL_OK ? fmin(fmin(next, clear_of_works(&of, whole)), left) : left;
    bool last = of.h >= left * (1.0 - PAWL_SAME_STEP);
    of.h = last ? left : of.h;
    status = status == PAWL_OK ? solve(&of) : status;
    if (status == PAWL_RETRY) {
      next = of.h * PAWL_SLIP_SLOW_SHORTER;
      failures++;
      continue;
    }
    PAWL_TRY(status);
    double error = error_of(&of);
    double factor = SAFETY * pow(fmax(error, PAWL_LEAST_ERROR), -1.0 / 6);
    if (!(error <= 1.0)) {
      next = of.h * fmax(SHRINK_MOST, isfinite(error) ? factor : 0.0);
      refusals++;
      continue;
    }
    accept(&of);
    next = of.h * fmin(GROW_MOST, factor);
    failures = refusals = 0;
    if (last) {
      state->t = end;
      return s->method->start(s, &phase, state, err);
    }
    PAWL_TRY(s->works ? pawl_works_piece(s, &phase, state->t, state->q, state->v, state->a,
                                         state->lambda, err)
                      : PAWL_OK);
  }
  return pawl_fail(err, PAWL_RETRY, "t = %.10g: no directions of slips are found", state->t);
}
