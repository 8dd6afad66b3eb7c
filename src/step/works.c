// SPDX-License-Identifier: Apache-2.0
// Equation labels refer to docs/theory/energy.md.
#include "step/works.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "model/model.h"
#include "switch/tolerances.h"
#include "system/system.h"

typedef struct PawlWorks PawlWorks;

// ---- creation -----------------------------------------------------------------------------------
// Hermite's interpolation at the fraction s: by q, v and v' of both ends (quintic), or without v',
// for methods whose accelerations are not those of the motion.                        (B11) (B12)
static void place_inner(PawlInnerPoint* p, double s, double weight, bool quintic) {
  double r = 1.0 - s;
  *p = (PawlInnerPoint){.s = s, .weight = weight};
  if (quintic) {
    p->q1 = s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
    p->v[0] = s * r * r * r * (1.0 + 3.0 * s);
    p->v[1] = -r * s * s * s * (1.0 + 3.0 * r);
    p->a[0] = 0.5 * s * s * r * r * r;
    p->a[1] = 0.5 * r * r * s * s * s;
    p->rq1 = 30.0 * s * s * r * r;
    p->rv[0] = r * r * (1.0 + 2.0 * s - 15.0 * s * s);
    p->rv[1] = s * s * (1.0 + 2.0 * r - 15.0 * r * r);
    p->ra[0] = 0.5 * s * r * r * (2.0 - 5.0 * s);
    p->ra[1] = -0.5 * r * s * s * (2.0 - 5.0 * r);
  } else {
    p->q1 = s * s * (3.0 - 2.0 * s);
    p->v[0] = s * r * r;
    p->v[1] = -r * s * s;
    p->rq1 = 6.0 * s * r;
    p->rv[0] = r * (1.0 - 3.0 * s);
    p->rv[1] = s * (1.0 - 3.0 * r);
  }
}

// Simpson's rule up to order 4, Lobatto's of order 6 beyond, and where works are to be known to
// tolerances.                                                                           (B9) (B10)
static void choose_rule(PawlWorks* w, int order) {
  static const double SIMPSON = 4.0 / 6.0, LOBATTO = 5.0 / 12.0;
  w->inner_count = order > 4 ? 2 : 1;
  w->end_weight = order > 4 ? 1.0 / 12.0 : 1.0 / 6.0;
  for (int k = 0; k < w->inner_count; k++) {
    double s = order > 4 ? 0.5 * (1.0 + (k ? 1.0 : -1.0) / sqrt(5.0)) : 0.5;
    place_inner(&w->inner[k], s, order > 4 ? LOBATTO : SIMPSON, w->exact);
  }
}

static PawlStatus fill(PawlStepper* s, PawlWorks* w, PawlError* err) {
  PawlSizes n = s->sizes;
  double** const of_q[] = {&w->q, &w->inner_q, &w->q_rate[0], &w->q_rate[1]};
  double** const of_v[] = {&w->v, &w->a, &w->inner_v, &w->inner_a, &w->end_a, &w->plain_a};
  double** const of_rows[] = {&w->lambda, &w->inner_lambda, &w->shown, &w->rubbing};
  bool got = true;
  for (size_t k = 0; k < sizeof of_q / sizeof *of_q; k++) {
    got = (*of_q[k] = PAWL_NEW(&s->arena, double, n.q)) && got;
  }
  for (size_t k = 0; k < sizeof of_v / sizeof *of_v; k++) {
    got = (*of_v[k] = PAWL_NEW(&s->arena, double, n.v)) && got;
  }
  for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
    got = (*of_rows[k] = PAWL_NEW(&s->arena, double, n.rows)) && got;
  }
  w->modes = PAWL_NEW(&s->arena, int, n.modes);
  if (!got || !w->modes) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_stepper_eval(s, PAWL_POWERS, &w->eval, err));
  if (w->exact && (w->drives || s->method->info.adaptive)) {
    w->inside = PAWL_NEW(&s->arena, PawlDynamics, 1);
    return w->inside ? pawl_dynamics_create(w->inside, &s->arena, s->system, &s->def, err)
                     : pawl_fail_memory(err);
  }
  return PAWL_OK;
}

// What friction of contacts does is known to the method.                                    (B20)
static unsigned powers_of_friction(const PawlStepper* s) {
  const PawlModel* model = s->system->model;
  unsigned powers = s->system->tie_count > 0 ? 1u << PAWL_POWER_FRICTION : 0u;
  for (int k = 0; model && k < model->contact_count; k++) {
    powers |= model->contacts[k].slip_count > 0 ? 1u << PAWL_POWER_FRICTION : 0u;
    powers |= model->contacts[k].drags ? 1u << PAWL_POWER_DRIVES : 0u;
  }
  return powers;
}

PawlStatus pawl_works_create(PawlStepper* s, PawlWorks** out, PawlError* err) {
  PawlWorks* w = *out = PAWL_NEW(&s->arena, PawlWorks, 1);
  if (!w) {
    return pawl_fail_memory(err);
  }
  w->powers = pawl_system_powers(s->system);
  w->slip = s->dynamics.slip;
  w->drives = (w->powers & 1u << PAWL_POWER_DRIVES) || w->slip;
  w->exact = s->method->exact;
  enum { TO_TOLERANCES = 5 };
  choose_rule(w, s->method->info.adaptive ? TO_TOLERANCES : s->method->info.order);
  PAWL_TRY(pawl_leaps_create(s, &w->leaps, err));
  w->powers |= powers_of_friction(s);
  return w->powers ? fill(s, w, err) : PAWL_OK;
}

void pawl_works_destroy(PawlWorks* w) {
  if (w) {
    pawl_eval_destroy(w->eval);
    pawl_leaps_destroy(&w->leaps);
    if (w->inside) {
      pawl_dynamics_destroy(w->inside);
    }
  }
}

// ---- one piece ----------------------------------------------------------------------------------
typedef struct Place {
  double t;
  const double *q, *v, *a, *lambda;
} Place;

// Friction of contacts whose instants are located: lambda_T u_T, and what drags it along.    (B21)
static PawlStatus add_friction(PawlWorks* w, const PawlPhase* phase, Place at, double* power,
                               PawlError* err) {
  PawlSlip* slip = w->slip;
  PAWL_TRY(pawl_slip_look(slip, phase, at.t, at.q, at.v, err));
  const double* g_t = pawl_eval_values(slip->eval)->g_t;
  memcpy(w->rubbing, at.lambda, (size_t)slip->G.rows * sizeof(double));
  pawl_slip_forces(slip, phase, w->rubbing);
  for (int k = 0; k < slip->count; k++) {
    const PawlSlipContact* c = &slip->contact[k];
    for (int i = c->first; i < c->first + c->count && phase->modes[c->mode] != PAWL_MODE_OPEN;
         i++) {
      power[PAWL_POWER_FRICTION] += w->rubbing[i] * slip->rate[i];
      power[PAWL_POWER_DRIVES] -= w->rubbing[i] * g_t[i];
    }
  }
  if (!pawl_slip_ties(slip, phase)) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_slip_look_at_joints(slip, phase, at.t, at.q, at.v, at.lambda, err));
  for (int k = 0; k < slip->joint_count; k++) {
    int row = slip->joint[k].row;
    power[PAWL_POWER_FRICTION] +=
        pawl_slip_joint_force(slip, phase, k) * (slip->rate[row] - g_t[row]);
  }
  return PAWL_OK;
}

static PawlStatus powers_at(PawlWorks* w, const PawlPhase* phase, Place at, double* power,
                            PawlError* err) {
  PawlPoint point = pawl_phase_point(phase, at.t, at.q, at.v, at.a, at.lambda);
  PAWL_TRY(pawl_eval_run(w->eval, &point, err));
  memcpy(power, pawl_eval_values(w->eval)->power, PAWL_POWER_COUNT * sizeof(double));
  return w->slip ? add_friction(w, phase, at, power, err) : PAWL_OK;
}

// Velocities from `first` on and their rates at an inner point: Hermite's cubic of both at the
// ends.                                                                                      (Z3)
static void interpolate_rates(const PawlStepper* s, int first, double at, Place end) {
  PawlWorks* w = s->works;
  double h = end.t - w->t, of_v = at * at * (3 - 2 * at), of_rate = 6 * at * (1 - at) / h;
  for (int i = first; i < s->sizes.v; i++) {
    double v0 = w->v[i], v1 = end.v[i], a0 = w->a[i], a1 = end.a[i];
    w->inner_v[i] = v0 + of_v * (v1 - v0) + h * at * (1 - at) * ((1 - at) * a0 - at * a1);
    w->inner_a[i] = of_rate * (v1 - v0) + (1 - at) * (1 - 3 * at) * a0 + at * (3 * at - 2) * a1;
  }
}

// Quaternions there: Hermite's cubic of them and their rates q' = T(q) v at the ends.        (O2)
static void interpolate_rotations(const PawlStepper* s, int first, double at, Place end) {
  PawlWorks* w = s->works;
  double h = end.t - w->t, of_q = at * at * (3 - 2 * at);
  pawl_system_rates(s->system, w->q, w->v, w->q_rate[0]);
  pawl_system_rates(s->system, end.q, end.v, w->q_rate[1]);
  for (int i = first; i < s->sizes.q; i++) {
    double bend = (1 - at) * w->q_rate[0][i] - at * w->q_rate[1][i];
    w->inner_q[i] = w->q[i] + of_q * (end.q[i] - w->q[i]) + h * at * (1 - at) * bend;
  }
  pawl_system_tidy(s->system, w->inner_q);
}

// The motion at an inner point, from both ends.                                        (B11) (B12)
static Place interpolate(const PawlStepper* s, const PawlInnerPoint* p, Place end) {
  PawlWorks* w = s->works;
  double h = end.t - w->t;
  int plain = pawl_moving(s->sizes) - 3 * s->system->rotations;
  bool brief = w->exact && fabs(h) < PAWL_WORKS_BRIEF * s->def.step;  // dq/h has no digits left
  interpolate_rates(s, brief ? 0 : plain, p->s, end);
  for (int i = 0; i < plain; i++) {
    double dq = end.q[i] - w->q[i];
    double rate = p->rq1 * dq / h + p->rv[0] * w->v[i] + p->rv[1] * end.v[i];
    w->inner_q[i] = w->q[i] + p->q1 * dq + h * (p->v[0] * w->v[i] + p->v[1] * end.v[i]);
    if (w->exact) {
      w->inner_q[i] += h * h * (p->a[0] * w->a[i] + p->a[1] * end.a[i]);
      rate += h * (p->ra[0] * w->a[i] + p->ra[1] * end.a[i]);
    }
    w->inner_v[i] = brief ? w->inner_v[i] : rate;
  }
  if (s->system->rotations > 0) {
    interpolate_rotations(s, plain, p->s, end);
  }
  return (Place){w->t + p->s * h, w->inner_q, w->inner_v, w->inner_a, w->inner_lambda};
}

// Accelerations and multipliers of the equations at (t, q, v).
static PawlStatus accelerate(PawlWorks* w, const PawlPhase* phase, Place at, double* a,
                             double* lambda, PawlError* err) {
  const PawlValues* values;
  PawlState state = {.t = at.t, .q = (double*)at.q, .v = (double*)at.v};
  PAWL_TRY(pawl_dynamics_evaluate(w->inside, phase, &state, &values, err));
  return pawl_dynamics_accelerate(w->inside, phase, values, at.t, at.q, at.v, a, lambda, err);
}

// Multipliers there: of the equations at (t, q, v), or between those of the ends.
static PawlStatus react(PawlStepper* s, const PawlPhase* phase, const PawlInnerPoint* p, Place at,
                        const double* end) {
  PawlWorks* w = s->works;
  if (w->inside) {
    return accelerate(w, phase, at, w->inner_a, w->inner_lambda, NULL);
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    w->inner_lambda[i] = w->lambda[i] + p->s * (end[i] - w->lambda[i]);
  }
  return PAWL_OK;
}

// Powers at the inner points; false when one has none.
static bool look_inside(PawlStepper* s, const PawlPhase* phase, Place end,
                        double power[][PAWL_POWER_COUNT]) {
  PawlWorks* w = s->works;
  for (int k = 0; k < w->inner_count; k++) {
    Place at = interpolate(s, &w->inner[k], end);
    if ((w->drives && react(s, phase, &w->inner[k], at, end.lambda) != PAWL_OK) ||
        powers_at(w, phase, at, power[k], NULL) != PAWL_OK) {
      return false;
    }
  }
  return true;
}

// The integral of one power over h, and an estimate of its error from the trapezium.         (B13)
static double integrate(const PawlWorks* w, double h, int power, const double* end,
                        double inside[][PAWL_POWER_COUNT], double* error) {
  double first = w->power[power], last = end[power], largest = fmax(fabs(first), fabs(last));
  double sum = w->end_weight * (first + last);
  for (int k = 0; k < w->inner_count; k++) {
    sum += w->inner[k].weight * inside[k][power];
    largest = fmax(largest, fabs(inside[k][power]));
  }
  double off = fabs(sum - 0.5 * (first + last));
  double part = largest > 0.0 ? fmin(1.0, off / largest) : 0.0;
  *error += fabs(h) * off * (w->inner_count == 2 ? part * part : part);
  return h * sum;
}

static void add_works(PawlStepper* s, Place at, const double* end, bool known,
                      double inside[][PAWL_POWER_COUNT]) {
  PawlWorks* w = s->works;
  double h = at.t - w->t;
  static const PawlWork work_of[] = {[PAWL_POWER_FORCES] = PAWL_WORK_FORCES,
                                     [PAWL_POWER_DISSIPATION] = PAWL_WORK_DISSIPATION,
                                     [PAWL_POWER_FRICTION] = PAWL_WORK_FRICTION,
                                     [PAWL_POWER_DRIVES] = PAWL_WORK_DRIVES,
                                     [PAWL_POWER_TIME] = PAWL_WORK_TIME};
  double *sum = w->sum, net = 0.0;
  for (int k = 0; k < PAWL_POWER_SHIFT; k++) {
    if (!(w->powers & 1u << k)) {
      continue;
    }
    double trapezium = 0.5 * h * (w->power[k] + end[k]);
    double work = known ? integrate(w, h, k, end, inside, &sum[PAWL_WORK_ERROR]) : trapezium;
    sum[PAWL_WORK_ERROR] += known ? 0.0 : fabs(trapezium);
    sum[work_of[k]] += work;
    sum[PAWL_WORK_TRAFFIC] += k == PAWL_POWER_TIME ? 0.0 : fabs(work);
    net += k == PAWL_POWER_TIME ? 0.0 : work;
  }
  sum[PAWL_WORK_NET] += fabs(net);
  sum[PAWL_WORK_TIME] += end[PAWL_POWER_SHIFT] - w->power[PAWL_POWER_SHIFT];  // (B8)
}

static void keep(const PawlStepper* s, const PawlPhase* phase, Place at, const double* power) {
  PawlWorks* w = s->works;
  w->t = at.t;
  memcpy(w->q, at.q, (size_t)s->sizes.q * sizeof(double));
  memcpy(w->v, at.v, (size_t)s->sizes.v * sizeof(double));
  memcpy(w->a, at.a, (size_t)s->sizes.v * sizeof(double));
  if (w->drives) {
    memcpy(w->lambda, at.lambda, (size_t)s->sizes.rows * sizeof(double));
  }
  memcpy(w->modes, phase->modes, (size_t)s->sizes.modes * sizeof(int));
  memcpy(w->power, power, PAWL_POWER_COUNT * sizeof(double));
  w->known = true;
}

static bool is_kept(const PawlStepper* s, const PawlPhase* phase, Place at) {
  const PawlWorks* w = s->works;
  size_t q = (size_t)s->sizes.q * sizeof(double), v = (size_t)s->sizes.v * sizeof(double);
  return w->known && w->t == at.t && memcmp(w->q, at.q, q) == 0 && memcmp(w->v, at.v, v) == 0 &&
         memcmp(w->a, at.a, v) == 0 &&
         (!w->drives ||
          memcmp(w->lambda, at.lambda, (size_t)s->sizes.rows * sizeof(double)) == 0) &&
         memcmp(w->modes, phase->modes, (size_t)s->sizes.modes * sizeof(int)) == 0;
}

// Some slip in space is slower than a method knows rates to, as where it comes to rest: what its
// direction is there, and so the force and v', is what errors have left.
static bool is_lost(const PawlStepper* s, const PawlPhase* phase) {
  const PawlSlip* slip = s->works->slip;
  double u[PAWL_MOST_SLIPS];
  bool lost = false;
  for (int k = 0; slip && s->method->info.adaptive && k < slip->count; k++) {
    const PawlSlipContact* c = &slip->contact[k];
    lost |= c->count > 1 && pawl_slip_slips(phase->modes[c->mode]) &&
            fabs(pawl_slip_rate(slip, phase, k, u)) < PAWL_SLIP_KNOWN * s->def.atol;
  }
  return lost;
}

// The end of a piece with v' of the parabola through v and v' of the beginning and its v.    (B26)
static Place without_acceleration(const PawlStepper* s, Place end) {
  PawlWorks* w = s->works;
  double h = end.t - w->t;
  for (int i = 0; i < s->sizes.v; i++) {
    w->plain_a[i] = 2.0 * (end.v[i] - w->v[i]) / h - w->a[i];
  }
  end.a = w->plain_a;
  return end;
}

static PawlStatus piece(PawlStepper* s, const PawlPhase* phase, Place at, PawlError* err) {
  PawlWorks* w = s->works;
  double inside[PAWL_WORKS_MOST_INNER][PAWL_POWER_COUNT], power[PAWL_POWER_COUNT];
  PAWL_TRY(powers_at(w, phase, at, power, err));
  double h = at.t - w->t;
  if (w->jolted && w->drives) {  // no force at the beginning: that of the end in its place
    memcpy(w->lambda, at.lambda, (size_t)s->sizes.rows * sizeof(double));
    w->power[PAWL_POWER_DRIVES] = power[PAWL_POWER_DRIVES];
  }
  w->jolted = false;
  if (h != 0.0) {  // a root may lie before the end of a step of the method's own
    Place end = is_lost(s, phase) ? without_acceleration(s, at) : at;
    add_works(s, at, power, look_inside(s, phase, end, inside), inside);
  }
  keep(s, phase, at, power);
  return PAWL_OK;
}

// ---- a step -------------------------------------------------------------------------------------
// A state as a place, with the multipliers that are those of the motion.
static Place place_of(PawlStepper* s, const PawlState* state) {
  PawlWorks* w = s->works;
  const double* lambda = state->lambda;
  if (w->drives && s->method->multipliers) {
    s->method->multipliers(s, (PawlState*)state, w->shown);
    lambda = w->shown;
  }
  return (Place){state->t, state->q, state->v, state->a, lambda};
}

// An end with impacts: their impulses are in the log with all that they did to the energy, so the
// multipliers there are without them. `hit` receives whether there were any.               (B15)
static Place without_impacts(PawlStepper* s, Place at, bool* hit) {
  PawlWorks* w = s->works;
  double h = at.t - w->t;
  *hit = false;
  for (int k = 0; w->drives && k < s->log.count; k++) {
    const PawlInstant* i = s->log.instants[k];
    if (i->contact < 0 || i->seen || i->contact >= s->sizes.rows || !(i->t > w->t) || !(h > 0.0)) {
      continue;
    }
    if (at.lambda != w->shown) {
      memcpy(w->shown, at.lambda, (size_t)s->sizes.rows * sizeof(double));
      at.lambda = w->shown;
    }
    w->shown[i->contact] -= i->impulse[i->contact] / h;
    *hit = true;
  }
  return at;
}

PawlStatus pawl_works_begin(PawlStepper* s, const PawlState* state, PawlError* err) {
  if (pawl_works_idle(s)) {
    return PAWL_OK;
  }
  double power[PAWL_POWER_COUNT], *sum = s->works->sum;
  memset(sum, 0, sizeof s->works->sum);
  PAWL_TRY(pawl_leaps_look(s, &s->works->leaps, state, &sum[PAWL_WORK_TIME], err));
  if (!s->works->powers) {
    return PAWL_OK;
  }
  PawlPhase phase = pawl_phase_of(state, s->dynamics.plain);
  Place at = place_of(s, state);
  if (!is_kept(s, &phase, at)) {
    PAWL_TRY(powers_at(s->works, &phase, at, power, err));
    keep(s, &phase, at, power);
  }
  return PAWL_OK;
}

PawlStatus pawl_works_piece(PawlStepper* s, const PawlPhase* phase, double t, const double* q,
                            const double* v, const double* a, const double* lambda,
                            PawlError* err) {
  PawlWorks* w = s->works;
  if (!w->powers) {
    return PAWL_OK;
  }
  Place at = {t, q, v, a, lambda};
  if (!a) {
    PAWL_TRY(accelerate(w, phase, at, w->end_a, w->shown, err));
    at.a = w->end_a;
    at.lambda = w->shown;
  }
  return piece(s, phase, at, err);
}

// All powers over the last piece; *through where it led through a region.
static PawlStatus end_piece(PawlStepper* s, PawlState* state, bool* through, PawlError* err) {
  PawlWorks* w = s->works;
  bool hit;
  PawlPhase phase = pawl_phase_of(state, s->dynamics.plain);
  *through = memcmp(w->modes, phase.modes, (size_t)s->sizes.modes * sizeof(int)) != 0;
  w->jolted = state->work[PAWL_WORK_JOLTED] != 0.0;
  PAWL_TRY(piece(s, &phase, without_impacts(s, place_of(s, state), &hit), err));
  state->work[PAWL_WORK_JOLTED] = *through || hit;
  return PAWL_OK;
}

PawlStatus pawl_works_end(PawlStepper* s, PawlState* state, PawlError* err) {
  bool through = false;
  if (pawl_works_idle(s)) {
    return PAWL_OK;
  }
  PAWL_TRY(s->works->powers ? end_piece(s, state, &through, err) : PAWL_OK);
  double* sum = s->works->sum;
  sum[PAWL_WORK_FRICTION] += s->rubbed;  // (B20)
  sum[PAWL_WORK_DRIVES] += s->dragged;
  sum[PAWL_WORK_TRAFFIC] += fabs(s->rubbed) + fabs(s->dragged);
  s->rubbed = s->dragged = 0.0;
  for (int k = 0; !through && k < PAWL_WORK_START; k++) {
    state->work[k] += sum[k];
  }
  return PAWL_OK;
}

PawlStatus pawl_works_close(PawlStepper* s, PawlState* state, PawlError* err) {
  double work;
  PAWL_TRY(pawl_leaps_close(s, &s->works->leaps, state, &work, err));
  state->work[PAWL_WORK_TIME] += work;
  return PAWL_OK;
}

void pawl_works_jumps(PawlStepper* s, PawlState* state) {
  for (int k = 0; k < s->log.count; k++) {
    state->work[PAWL_WORK_JUMPS] -= s->log.instants[k]->energy_lost;
    state->work[PAWL_WORK_TRAFFIC] += fabs(s->log.instants[k]->energy_lost);
    state->work[PAWL_WORK_NET] += fabs(s->log.instants[k]->energy_lost);
  }
}
