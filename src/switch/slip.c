// SPDX-License-Identifier: Apache-2.0
#include "switch/slip.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "linalg/sparse.h"
#include "model/model.h"
#include "switch/modes.h"
#include "system/system.h"

// ---- creation -----------------------------------------------------------------------------------
static int find_entry(const PawlPattern* G, int row, int column) {
  for (int e = G->start[column]; e < G->start[column + 1]; e++) {
    if (G->index[e] == row) {
      return e;
    }
  }
  return -1;
}

// Where the normal row of each entry of friction is; false: the pattern has no such place.
static bool find_ties(PawlSlip* s) {
  bool all = true;
  for (int e = 0; e < s->G.start[s->G.cols]; e++) {
    s->tie[e] = -1;
  }
  for (int k = 0; k < s->count; k++) {
    const PawlSlipContact* c = &s->contact[k];
    for (int j = 0; j < s->G.cols; j++) {
      for (int e = s->G.start[j]; e < s->G.start[j + 1]; e++) {
        bool own = s->G.index[e] >= c->first && s->G.index[e] < c->first + c->count;
        s->tie[e] = own ? find_entry(&s->G, c->normal, j) : s->tie[e];
        all &= !own || s->tie[e] >= 0;
      }
    }
  }
  return all;
}

static void list_contacts(PawlSlip* s, int first, int end) {
  for (int row = first; row < end; row++) {
    PawlContactFriction of = pawl_system_friction(s->system, row);
    if (of.count > 0) {
      s->contact[s->count++] = (PawlSlipContact){.normal = row,
                                                 .mode = pawl_modes_of_contact(s->system, row),
                                                 .first = of.first,
                                                 .count = of.count,
                                                 .sticks = of.sticks,
                                                 .slides = of.slides,
                                                 .watch = of.watch};
    }
  }
}

PawlStatus pawl_slip_create(PawlArena* arena, const PawlSystem* system, PawlSlip** out,
                            PawlError* err) {
  int first, end = pawl_modes_contacts(system, &first);
  PawlSizes n = pawl_system_sizes(system);
  *out = NULL;
  if (first == end || !system->model || system->model->slip_count == 0) {
    return PAWL_OK;
  }
  PawlSlip* s = PAWL_NEW(arena, PawlSlip, 1);
  if (!s) {
    return pawl_fail_memory(err);
  }
  *s = (PawlSlip){.system = system, .G = pawl_system_pattern_G(system)};
  s->contact = PAWL_NEW(arena, PawlSlipContact, end - first);
  s->tie = PAWL_NEW(arena, int, s->G.start[n.v]);
  s->B = PAWL_NEW(arena, double, s->G.start[n.v]);
  s->mu = PAWL_NEW(arena, double, end - first);
  s->rate = PAWL_NEW(arena, double, n.rows);
  s->nothing = PAWL_NEW(arena, double, (size_t)n.v + (size_t)n.rows);
  if (arena->failed) {
    return pawl_fail_memory(err);
  }
  list_contacts(s, first, end);
  if (!find_ties(s)) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "event-driven takes up to %d contacts with friction; '%s' has %d: take "
                     "nsga-pva or moreau-jean",
                     PAWL_MOST_TIED, pawl_system_name(system), s->count);
  }
  PAWL_TRY(
      pawl_eval_create(system, PAWL_GRADIENT | PAWL_TIME_GRADIENT | PAWL_WATCHES, &s->eval, err));
  *out = s;
  return PAWL_OK;
}

void pawl_slip_destroy(PawlSlip* s) {
  if (s) {
    pawl_eval_destroy(s->eval);
  }
}

// ---- looking ------------------------------------------------------------------------------------
bool pawl_slip_slips(int mode) {
  return mode == PAWL_MODE_SLIPS || mode == PAWL_MODE_SLIPS_LIMIT;
}

bool pawl_slip_any(const PawlSlip* s, const PawlPhase* phase) {
  bool any = false;
  for (int k = 0; k < s->count; k++) {
    any |= pawl_slip_slips(phase->modes[s->contact[k].mode]);
  }
  return any;
}

double pawl_slip_mu(const PawlSlip* s, int k, bool rests) {
  const PawlSlipContact* c = &s->contact[k];
  return c->watch >= 0 ? s->mu[k] : rests ? c->sticks : c->slides;
}

static PawlStatus check_mu(const PawlSlip* s, int k, double t, PawlError* err) {
  int number;
  return s->mu[k] >= 0.0 && isfinite(s->mu[k])
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_RUN,
                         "t = %.10g: the friction of contact '%.100s' is %g, must be >= 0", t,
                         pawl_system_row_name(s->system, s->contact[k].normal, &number), s->mu[k]);
}

PawlStatus pawl_slip_look(PawlSlip* s, const PawlPhase* phase, double t, const double* q,
                          const double* v, PawlError* err) {
  PawlSizes n = pawl_system_sizes(s->system);
  PawlPoint point = pawl_phase_point(phase, t, q, v, s->nothing, s->nothing + n.v);
  PAWL_TRY(pawl_eval_run(s->eval, &point, err));
  const PawlValues* values = pawl_eval_values(s->eval);
  memcpy(s->rate, values->g_t, (size_t)n.rows * sizeof(double));
  pawl_sparse_add(&s->G, values->G, 1.0, v, s->rate);
  for (int k = 0; k < s->count; k++) {
    int watch = s->contact[k].watch;
    s->mu[k] = watch >= 0 ? values->watch[watch] : s->contact[k].slides;
    PAWL_TRY(check_mu(s, k, t, err));
  }
  return PAWL_OK;
}

double pawl_slip_speed(const PawlSlip* s, const PawlPhase* phase, int k) {
  const PawlSlipContact* c = &s->contact[k];
  double along = 0.0, speed = 0.0;
  for (int i = c->first; i < c->first + c->count; i++) {
    along += phase->held[i] * s->rate[i];
    speed = hypot(speed, s->rate[i]);
  }
  return along < 0.0 ? -speed : speed;
}

void pawl_slip_direction(const PawlSlip* s, const PawlPhase* phase, int k, double* d) {
  const PawlSlipContact* c = &s->contact[k];
  double speed = c->count > 1 ? pawl_slip_speed(s, phase, k) : 0.0;
  for (int i = 0; i < c->count; i++) {  // in a plane there are but two
    d[i] = speed != 0.0 ? s->rate[c->first + i] / speed : phase->held[c->first + i];
  }
}

// ---- forces -------------------------------------------------------------------------------------
// Whether rates are needed: directions turn, or mu changes.
static bool needs_look(const PawlSlip* s, const PawlPhase* phase) {
  bool yes = false;
  for (int k = 0; k < s->count; k++) {
    const PawlSlipContact* c = &s->contact[k];
    yes |= pawl_slip_slips(phase->modes[c->mode]) && (c->count > 1 || c->watch >= 0);
  }
  return yes;
}

PawlStatus pawl_slip_directions(PawlSlip* s, const PawlPhase* phase, const double* G, double t,
                                const double* q, const double* v, const double** B,
                                PawlError* err) {
  *B = G;
  if (!pawl_slip_any(s, phase)) {
    return PAWL_OK;
  }
  PAWL_TRY(needs_look(s, phase) ? pawl_slip_look(s, phase, t, q, v, err) : PAWL_OK);
  memcpy(s->B, G, (size_t)s->G.start[s->G.cols] * sizeof(double));
  for (int k = 0; k < s->count; k++) {
    const PawlSlipContact* c = &s->contact[k];
    double d[PAWL_MOST_SLIPS], mu = pawl_slip_mu(s, k, false);
    if (!pawl_slip_slips(phase->modes[c->mode])) {
      continue;
    }
    pawl_slip_direction(s, phase, k, d);
    for (int e = 0; e < s->G.start[s->G.cols]; e++) {
      int i = s->G.index[e] - c->first;
      if (i >= 0 && i < c->count) {
        s->B[s->tie[e]] -= mu * d[i] * G[e];  // (F20)
      }
    }
  }
  *B = s->B;
  return PAWL_OK;
}

void pawl_slip_forces(const PawlSlip* s, const PawlPhase* phase, double* lambda) {
  for (int k = 0; k < s->count; k++) {
    const PawlSlipContact* c = &s->contact[k];
    double d[PAWL_MOST_SLIPS], mu = pawl_slip_mu(s, k, false);
    if (pawl_slip_slips(phase->modes[c->mode])) {
      pawl_slip_direction(s, phase, k, d);
      for (int i = 0; i < c->count; i++) {
        lambda[c->first + i] = -mu * lambda[c->normal] * d[i];
      }
    }
  }
}
