// SPDX-License-Identifier: Apache-2.0
#include "switch/turning.h"

#include <math.h>
#include <string.h>

#include "linalg/kkt.h"
#include "switch/tolerances.h"

PawlStatus pawl_turning_create(PawlArena* arena, PawlSizes sizes, const PawlSlip* slip,
                               PawlTurning* out, PawlError* err) {
  *out = (PawlTurning){.fastest = PAWL_NEW(arena, double, slip->count),
                       .x = PAWL_NEW(arena, double, (size_t)sizes.v + (size_t)sizes.rows)};
  return out->fastest && out->x ? PAWL_OK : pawl_fail_memory(err);
}

// ---- accuracy -----------------------------------------------------------------------------------
static bool turns(const PawlSlip* slip, const PawlPhase* phase, int k) {
  return slip->contact[k].count > 1 && pawl_slip_slips(phase->modes[slip->contact[k].mode]);
}

// The speed of a slip, and of its change along it and across [m/s^2].
typedef struct Course {
  double speed, along, across;
} Course;

static Course course_of(const PawlSlip* s, const PawlPhase* phase, int k, const double* a) {
  const PawlSlipContact* c = &s->contact[k];
  const double* G = pawl_eval_values(s->eval)->G;
  double u[2], rate[2] = {0.0, 0.0}, speed = fabs(pawl_slip_rate(s, phase, k, u));
  for (int i = 0; i < 2; i++) {
    for (int p = s->rows.start[c->first + i]; p < s->rows.start[c->first + i + 1]; p++) {
      rate[i] += G[s->rows.at[p]] * a[s->rows.column[p]];
    }
  }
  double along = u[0] * rate[0] + u[1] * rate[1], across = u[0] * rate[1] - u[1] * rate[0];
  return (Course){speed, along / speed, across / speed};
}

// h (left/T)^(p/(p+1)) / sine^(1/(p+1)), at most a part of the time that is left: what a step is
// off weighs less the less of that there is, and the less the slip turns.                    (F29)
static double accurate(const PawlTurning* turning, Course c, double fastest, double h) {
  double rate = hypot(c.along, c.across), left = c.speed / rate;
  double sine = fmax(fabs(c.across) / rate, PAWL_SLIP_STRAIGHT);
  double T = fmax(PAWL_SLIP_NEAR * fastest / rate, h / PAWL_SLIP_TURN), p = turning->order;
  double step = h * pow(pow(left / T, p) / sine, 1.0 / (p + 1.0));
  return rate > 0.0 ? fmin(step, PAWL_SLIP_TURN_MOST * left) : INFINITY;
}

// ---- stability ----------------------------------------------------------------------------------
// sum_j |p_j^T x| weight_j over all contacts that turn.
static double coupled(PawlSlip* slip, const PawlPhase* phase, const double* x) {
  double sum = 0.0;
  for (int k = 0; k < slip->count; k++) {
    const int* columns;
    const double* p;
    double weight = 0.0, product = 0.0;
    int count = pawl_slip_turning(slip, phase, k, &columns, &p, &weight);
    for (int e = 0; e < count; e++) {
      product += p[e] * x[columns[e]];
    }
    sum += fabs(weight * product);
  }
  return sum;
}

// How fast directions are drawn to where friction leads them [1/s]: no more than the largest sum
// over a row of P^T H^-1 P W, with p the columns of P and W of (F30), rows in force held.
static PawlStatus stiffness(PawlTurning* turning, PawlSlip* slip, PawlDynamics* d,
                            const PawlState* state, double* fastest, PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, false);
  const PawlValues* values;
  PAWL_TRY(pawl_dynamics_evaluate(d, &phase, state, &values, err));
  *fastest = 0.0;
  PawlStatus status = pawl_dynamics_factor(d, values, phase.active);
  if (status != PAWL_OK) {
    return status == PAWL_RETRY ? PAWL_OK : pawl_fail_memory(err);  // the step will say so
  }
  for (int k = 0; k < slip->count; k++) {
    const int* columns;
    const double* p;
    double weight = 0.0, *y = turning->x + d->sizes.v;
    int count = pawl_slip_turning(slip, &phase, k, &columns, &p, &weight);
    if (count > 0) {
      memset(turning->x, 0, ((size_t)d->sizes.v + (size_t)d->sizes.rows) * sizeof(double));
      for (int e = 0; e < count; e++) {
        turning->x[columns[e]] = p[e];
      }
      pawl_kkt_solve(d->kkt, turning->x, y);
      *fastest = fmax(*fastest, coupled(slip, &phase, turning->x));
    }
  }
  return PAWL_OK;
}

// A method with steps of its own knows a slip to its tolerances: one that is slow beside the terms
// of its rate, or beside what such a method lets pass of any rate, needs short ones, or its
// direction is lost. (F32)
static bool is_slow(const PawlSlip* slip, const PawlPhase* phase, double passes) {
  double u[2];
  bool any = false;
  for (int k = 0; k < slip->count; k++) {
    double least = PAWL_SLIP_KNOWN * fmax(slip->least[k], passes);
    any |= turns(slip, phase, k) &&
           (pawl_slip_begins(slip, phase, k) || fabs(pawl_slip_rate(slip, phase, k, u)) < least);
  }
  return any;
}

// How long a step may be in which directions are unknowns: a part of the time until the first slip
// that becomes slower would rest. 0: there are too many.                                    (F80)
static double reach_of(const PawlTurning* turning, const PawlSlip* slip, const PawlState* state,
                       double h) {
  PawlPhase phase = pawl_phase_of(state, false);
  int count = 0;
  for (int k = 0; k < slip->count; k++) {
    if (turns(slip, &phase, k)) {
      Course c = course_of(slip, &phase, k, state->a);
      bool slower = !pawl_slip_begins(slip, &phase, k) && c.along < 0.0;
      h = slower ? fmin(h, PAWL_SLIP_TURN_MOST * c.speed / hypot(c.along, c.across)) : h;
      count++;
    }
  }
  return count <= turning->most && turning->part >= PAWL_SLIP_SLOW_PART ? turning->part * h : 0.0;
}

PawlStatus pawl_turning_longest(PawlTurning* turning, PawlSlip* slip, PawlDynamics* d,
                                const PawlState* state, double* longest, PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, false);
  bool short_ones = !turning->own || is_slow(slip, &phase, d->def->atol);
  double fastest = 0.0, reach = reach_of(turning, slip, state, d->def->step);
  *longest = INFINITY;
  if (pawl_slip_turns(slip, &phase, state->lambda)) {
    PAWL_TRY(stiffness(turning, slip, d, state, &fastest, err));
  }
  turning->slow = fastest * reach > PAWL_SLIP_SLOW;
  if (turning->slow) {
    *longest = turning->reach = reach;
    return PAWL_OK;
  }
  for (int k = 0; k < slip->count && !turning->own; k++) {
    if (turns(slip, &phase, k) && pawl_slip_speed(slip, &phase, k) != 0.0) {
      Course course = course_of(slip, &phase, k, state->a);
      *longest = fmin(*longest, accurate(turning, course, turning->fastest[k], d->def->step));
    }
  }
  *longest = short_ones ? fmin(*longest, PAWL_SLIP_STABLE / fastest) : *longest;
  return PAWL_OK;
}
