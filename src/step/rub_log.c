// SPDX-License-Identifier: Apache-2.0
// What friction has done in a time step, for the log (docs/theory/moreau-jean.md, "Friction").
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "model/model.h"
#include "step/rub.h"
#include "switch/tolerances.h"
#include "system/system.h"

// Closed is what carries a force, or touches, and keeps its gap; at a start, what touches.   (T12)
static inline int mode_of(const PawlContactFriction* of, bool closed, const double* rate,
                          double slow) {
  bool slips = fabs(rate[of->first]) > slow || (of->count > 1 && fabs(rate[of->first + 1]) > slow);
  return !closed ? PAWL_MODE_OPEN : slips ? PAWL_MODE_SLIPS : PAWL_MODE_CLOSED;
}

// Whether the friction of a contact is at the border of its cone, along which it slips; `force`:
// rows, forces or impulses. With a coefficient that changes on the way it is not known.
static bool is_at_border(const PawlContactFriction* of, int row, const double* force) {
  double T = of->count > 1 ? hypot(force[of->first], force[of->first + 1]) : fabs(force[of->first]);
  return of->watch < 0 && force[row] > 0.0 && of->slides > 0.0 &&
         T >= PAWL_RUB_STICKS * of->slides * force[row];
}

static bool turns(const PawlContactFriction* of, const PawlRubEnds* e) {
  return of->count == 1 && e->rate_before[of->first] * e->rate[of->first] < 0.0;
}

PawlStatus pawl_rub_log_hit(PawlStepper* s, const PawlRubEnds* e, int row, bool jams,
                            double energy_lost, PawlError* err) {
  int k = row - (s->sizes.rows - s->contact_count);
  PawlContactHit hit = {.row = row,
                        .from = jams                       ? PAWL_MODE_SLIPS
                                : e->before->t == s->hit_t ? s->hit_in[k]
                                                           : PAWL_MODE_OPEN,
                        .impulse = e->impulse[row],
                        .energy_lost = energy_lost,
                        .t = e->t,
                        .q = e->q,
                        .v = e->v};
  PAWL_TRY(pawl_log_contact(&s->log, e->before, &hit, err));
  pawl_log_rub(&s->log, s->system, e->impulse);
  return PAWL_OK;
}

PawlRubWork pawl_rub_work(const PawlRub* rub, int contact, const double* impulse,
                          const double* rate_before, const double* rate, const double* b_before,
                          const double* b) {
  PawlRubWork work = {0};
  const PawlContactFriction* of = &rub->of[contact];
  for (int i = of->first; i < of->first + of->count; i++) {
    work.rubbed += 0.5 * impulse[i] * (rate_before[i] + rate[i]);
    work.dragged -= 0.5 * impulse[i] * (b_before[i] + b[i]);
  }
  return work;
}

double pawl_rub_own(const PawlStepper* s, const PawlRub* rub, const PawlValues* values, int i) {
  int k = i - rub->first_row;
  double own = 0.0;
  for (int e = rub->first[k]; e < rub->first[k + 1]; e++) {
    int j = rub->column[e], at = s->dynamics.diagonal[j];
    double G = values->G[rub->entry[e]], mass = at >= 0 ? values->M[at] : 0.0;
    own += mass > 0.0 ? G * G / mass : 0.0;
  }
  return own;
}

// |P_T - P(P_T - u/D)| of a contact, P the nearest point of the disc of radius mu P_N; `*size`
// becomes the largest of the terms.                                                         (F35)
static double off_cone(const PawlStepper* s, const PawlRub* rub, const PawlRubEnds* e, int k,
                       double* size) {
  const PawlContactFriction* of = &rub->of[k];
  double y[2] = {0}, own = 0.0, off = 0.0;
  double normal = e->impulse[pawl_rub_row(rub, k)], limit = rub->mu[k] * normal;
  for (int i = 0; i < of->count; i++) {
    own = fmax(own, pawl_rub_own(s, rub, e->values, of->first + i));
  }
  for (int i = 0; i < of->count && own > 0.0; i++) {
    y[i] = e->impulse[of->first + i] - e->rate[of->first + i] / own;
  }
  double length = hypot(y[0], y[1]), part = length > limit ? limit / length : 1.0;
  for (int i = 0; i < of->count; i++) {
    off = hypot(off, e->impulse[of->first + i] - part * y[i]);
  }
  *size = fmax(*size, fmax(normal, length));
  return off;
}

// Of the contacts with so many slips at least.
static double off_cones(const PawlStepper* s, const PawlRub* rub, const PawlRubEnds* e, int least) {
  double off = 0.0, size = 0.0;
  for (int k = 0; k < rub->contacts; k++) {
    bool pressed = rub->of[k].count >= least && e->impulse[pawl_rub_row(rub, k)] > 0.0;
    off = pressed ? fmax(off, off_cone(s, rub, e, k, &size)) : off;
  }
  return size > 0.0 ? off / size : 0.0;
}

double pawl_rub_aside(const PawlStepper* s, const PawlRub* rub, const PawlRubEnds* e) {
  return off_cones(s, rub, e, 2);
}

// Says once that friction is not met.
static PawlStatus warn_off(PawlStepper* s, double t, double off, PawlError* err) {
  PawlText text = {0};
  pawl_text_printf(&text,
                   "t = %.10g: no impulses within the friction of all contacts were found, and "
                   "those taken are off by %.2g of the largest (a smaller step may help)",
                   t, off);
  PawlStatus status = text.failed ? PAWL_ERROR_MEMORY : pawl_dynamics_warn(&s->dynamics, text.s);
  pawl_text_free(&text);
  return status == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
}

static PawlStatus note_solution(PawlStepper* s, PawlRub* rub, const PawlRubEnds* e,
                                PawlError* err) {
  PawlStepperInfo* info = &s->dynamics.info;
  double off = off_cones(s, rub, e, 1);
  bool is_first = off > PAWL_RUB_OFF && !(info->cones > PAWL_RUB_OFF);
  info->cones = fmax(info->cones, off);
  info->relaxed += pawl_rub_is_relaxed(rub) || (rub->relaxed && off > PAWL_RUB_MET);  // (T33)
  info->swept += rub->swept > rub->swept_before;
  rub->swept_before = rub->swept;
  return is_first ? warn_off(s, e->t, off, err) : PAWL_OK;
}

// A slip that is slower than `slow` is one where friction is at the border of its cone, and the
// rate more than rounding. (T12)
static double slow_at(const PawlStepper* s, const PawlRub* rub, const PawlRubEnds* e, int k,
                      const double* force) {
  const PawlContactFriction* of = &rub->of[k];
  int row = s->sizes.rows - rub->contacts + k;
  if (!is_at_border(of, row, force)) {
    return e->slow;
  }
  double least = PAWL_SLOWEST_AT_BORDER * e->slow, terms = 0.0;
  for (int i = of->first; i < of->first + of->count; i++) {
    for (int p = rub->first[i - rub->first_row]; p < rub->first[i - rub->first_row + 1]; p++) {
      terms += fabs(e->values->G[rub->entry[p]] * e->v[rub->column[p]]);
    }
  }
  return fmin(e->slow, fmax(least, PAWL_SLOWEST_OF_TERMS * terms));
}

PawlStatus pawl_rub_log(PawlStepper* s, PawlRub* rub, const PawlRubEnds* e, PawlError* err) {
  bool begins = rub->begins, first_step = begins && e->before->step == 0;
  int first = s->sizes.rows - rub->contacts;
  rub->begins = false;
  if (rub->contacts > 0) {
    PAWL_TRY(note_solution(s, rub, e, err));
  }
  for (int k = 0; k < rub->contacts; k++) {
    const PawlContactFriction* of = &rub->of[k];
    int i = first + k;
    bool touches = e->near[i] && fabs(e->rate_before[i]) <= e->slow;
    bool pressed = e->lambda[i] > 0.0 || touches || (begins && e->near[i]);
    bool presses = e->impulse[i] > 0.0 || (touches && fabs(e->rate[i]) <= e->slow);
    if (of->count == 0 || !(pressed || presses) || e->rate_before[i] < -e->slow || rub->jams[k]) {
      continue;  // apart, or hit
    }
    int from = mode_of(of, pressed && e->rate_before[i] <= e->slow, e->rate_before,
                       slow_at(s, rub, e, k, e->lambda));
    int to = mode_of(of, presses && fabs(e->rate[i]) <= e->slow, e->rate,
                     slow_at(s, rub, e, k, e->impulse));
    if (first_step && from == PAWL_MODE_CLOSED) {
      continue;  // what a start at rest comes to is no event
    }
    if (from != to || (from == PAWL_MODE_SLIPS && turns(of, e))) {
      PawlContactSeen seen = {i, from, to, e->t, e->q, e->v};
      PAWL_TRY(pawl_log_seen(&s->log, e->before, &seen, err));
    }
  }
  return PAWL_OK;
}

// ---- between steps ------------------------------------------------------------------------------
// As contacts that are closed inside of steps measure it, but for walls that move.
static double slow_of(const PawlStepper* s, const PawlState* state, const PawlValues* values) {
  double h = s->def.step, v = pawl_dynamics_largest(pawl_moving(s->sizes), state->v);
  double q = pawl_dynamics_largest(s->sizes.q, state->q);
  return h * pawl_dynamics_fall(&s->dynamics, values) + PAWL_SLOWEST_PART * v +
         PAWL_SLOWEST_MOVE * q / h;
}

static bool rubs(const PawlStepper* s) {
  return s->contact_count > 0 && s->system->model && s->system->model->slip_count > 0;
}

PawlStatus pawl_rub_look(PawlStepper* s, const PawlState* state, int* modes, PawlError* err) {
  const PawlValues* values;
  double* rate = s->dynamics.room;
  PawlPhase phase = pawl_phase_of(state, s->dynamics.plain);
  if (!rubs(s)) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, &phase, state, &values, err));
  pawl_dynamics_rows(&s->dynamics, values->G, state->v, values->g_t, rate);
  double slow = slow_of(s, state, values), least = PAWL_SLOWEST_LOGGED * slow;
  for (int k = 0; k < s->contact_count; k++) {
    int i = s->sizes.rows - s->contact_count + k;
    PawlContactFriction of = pawl_system_friction(s->system, i);
    bool touches = of.count > 0 && values->g[i] <= s->def.step * slow;
    int mode = mode_of(&of, touches && fabs(rate[i]) <= least, rate, least);
    bool back = mode == PAWL_MODE_SLIPS && of.count == 1 && rate[of.first] < 0.0;
    modes[k] = touches && rate[i] < -least ? PAWL_RUB_HITS : back ? -mode : mode;
  }
  return PAWL_OK;
}

PawlStatus pawl_rub_changed(PawlStepper* s, const PawlState* before, const PawlState* state,
                            const int* from, int* to, PawlError* err) {
  if (!rubs(s)) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_rub_look(s, state, to, err));
  s->hit_t = state->t;
  for (int k = 0; k < s->contact_count; k++) {
    bool closed = from[k] != PAWL_MODE_OPEN && from[k] != PAWL_RUB_HITS;
    s->hit_in[k] = closed && to[k] == PAWL_RUB_HITS ? abs(from[k]) : PAWL_MODE_OPEN;
    if (closed && from[k] != to[k] && to[k] != PAWL_RUB_HITS) {
      PawlContactSeen seen = {.row = s->sizes.rows - s->contact_count + k,
                              .from = abs(from[k]),
                              .to = abs(to[k]),
                              .t = state->t,
                              .q = state->q,
                              .v = state->v};
      PAWL_TRY(pawl_log_seen(&s->log, before, &seen, err));
    }
  }
  return PAWL_OK;
}
