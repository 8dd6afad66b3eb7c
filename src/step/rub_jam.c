// SPDX-License-Identifier: Apache-2.0
// Impacts without a collision in time steps (docs/theory/moreau-jean.md, "Painlevé"): what slips
// beyond its critical friction may be stopped by an impulse that no force and no approach makes.
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "step/rub_islands.h"
#include "switch/tolerances.h"
#include "system/system.h"

// Entries of row i of a contact or its friction.
static double product(const PawlRub* rub, const double* G, int i, const double* x) {
  double sum = 0.0;
  for (int e = rub->first[i - rub->first_row]; e < rub->first[i - rub->first_row + 1]; e++) {
    sum += G[rub->entry[e]] * x[rub->column[e]];
  }
  return sum;
}

static void push(const PawlRub* rub, const double* G, int i, double by, double* x) {
  for (int e = rub->first[i - rub->first_row]; e < rub->first[i - rub->first_row + 1]; e++) {
    x[rub->column[e]] += by * G[rub->entry[e]];
  }
}

static double length_of(const PawlContactFriction* of, const double* rate) {
  return of->count > 1   ? hypot(rate[of->first], rate[of->first + 1])
         : of->count > 0 ? fabs(rate[of->first])
                         : 0.0;
}

// How fast forces may close the gap of row i.
static double pace_of(const PawlStepper* s, const PawlRub* rub, const PawlRubEnds* e, int i) {
  double pace = 0.0;
  for (int p = rub->first[i - rub->first_row]; p < rub->first[i - rub->first_row + 1]; p++) {
    int j = rub->column[p], at = s->dynamics.diagonal[j];
    double mass = at >= 0 ? e->values->M[at] : 0.0;
    pace += mass > 0.0 ? fabs(e->values->G[rub->entry[p]] * e->values->f[j]) / mass : 0.0;
  }
  return pace;
}

// A contact that was closed and slipped has an impulse far beyond what forces make of one in the
// step, or made before, which has changed its slip.                                          (T35)
static bool is_sudden(const PawlStepper* s, const PawlRub* rub, const PawlRubEnds* e, int k) {
  const PawlContactFriction* of = &rub->of[k];
  int row = pawl_rub_row(rub, k);
  double h = e->t - e->before->t, slip = length_of(of, e->rate_before), change = 0.0;
  bool closed = e->near[row] && fabs(e->rate_before[row]) <= e->slow && e->impulse[row] > 0.0;
  if (!closed || slip <= e->slow) {
    return false;
  }
  double own = pawl_rub_own(s, rub, e->values, row);
  double before = h * fabs(e->before->lambda[row]);
  before += e->lambda != e->before->lambda ? fabs(e->lambda[row]) : 0.0;
  before = rub->begins ? 0.0 : before;  // at a start that may be the one that stops the slip
  double most = h * pace_of(s, rub, e, row) + e->slow + own * before;
  for (int i = of->first; i < of->first + of->count; i++) {
    change = hypot(change, e->rate[i] - e->rate_before[i]);
  }
  return own * e->impulse[row] > PAWL_RUB_SUDDEN * most && change > PAWL_RUB_JAM_CHANGES * slip;
}

// Contacts that what is hit in the step pushes, through others, are no matter of friction.
static bool is_hit_in(const PawlRub* rub, const PawlRubEnds* e, int island) {
  bool hit = false;
  for (int c = rub->island[island]; c >= 0; c = rub->next[c]) {
    int row = pawl_rub_row(rub, c);
    hit |= e->impulse[row] > 0.0 && e->rate_before[row] < -e->slow;
  }
  return hit;
}

// mu over the critical one of contact k, by itself, as it slips, with rigid rows held: with
// y = G_N M^-1 B_N^T and D = G_N M^-1 G_N^T it is 1 - y/D.                                   (F24)
static double beyond(PawlStepper* s, PawlRub* rub, const PawlRubEnds* e, const double* G, int k,
                     double* lambda) {
  const PawlContactFriction* of = &rub->of[k];
  int row = pawl_rub_row(rub, k);
  double yields[2], slip = length_of(of, e->rate_before);
  for (int rubs = 0; rubs < 2; rubs++) {
    memset(rub->x, 0, (size_t)s->sizes.v * sizeof(double));
    memset(lambda, 0, (size_t)s->sizes.rows * sizeof(double));
    push(rub, G, row, 1.0, rub->x);
    for (int i = of->first; rubs && i < of->first + of->count; i++) {
      push(rub, G, i, -rub->mu[k] * e->rate_before[i] / slip, rub->x);
    }
    pawl_kkt_solve(s->kkt, rub->x, lambda);
    yields[rubs] = product(rub, G, row, rub->x);
  }
  return yields[0] > 0.0 ? 1.0 - yields[1] / yields[0] : 0.0;
}

static PawlStatus tell(PawlStepper* s, PawlRub* rub, double t, int k, double times,
                       PawlError* err) {
  bool refuse = strcmp(s->def.painleve, "refuse") == 0;
  PawlText text = {0};
  int number;
  if (rub->jam_told && !refuse) {
    return PAWL_OK;
  }
  rub->jam_told = true;
  pawl_text_printf(&text,
                   "t = %.10g: no forces hold contact '%s', which slips with %.6g times its "
                   "critical friction (Painleve)%s",
                   t, pawl_system_row_name(s->system, pawl_rub_row(rub, k), &number), times,
                   refuse ? ""
                          : ": it is stopped by an impact without a collision (later ones are "
                            "not named)");
  PawlStatus status = text.failed ? pawl_fail_memory(err)
                      : refuse    ? pawl_fail(err, PAWL_ERROR_RUN, "%s", text.s)
                                  : pawl_dynamics_warn(&s->dynamics, text.s);
  pawl_text_free(&text);
  return status == PAWL_ERROR_MEMORY ? pawl_fail_memory(err) : status;
}

static PawlStatus judge(PawlStepper* s, PawlRub* rub, const PawlRubEnds* e, PawlError* err) {
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(e->before, false);
  double* lambda = rub->hold;  // room until the next step
  for (int i = rub->first_row; i < s->sizes.rows; i++) {
    rub->closed[i] = e->near[i] || e->impulse[i] > 0.0;
  }
  (void)pawl_rub_islands_find(rub, rub->closed);
  rub->of_factor = 0;
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, &phase, e->before, &values, err));
  PawlStatus status = pawl_dynamics_factor(&s->dynamics, values, phase.active);
  for (int at = 0; status == PAWL_OK && at < rub->islands; at++) {
    bool hit = is_hit_in(rub, e, at);
    for (int k = rub->island[at]; k >= 0; k = rub->next[k]) {
      double times = !hit && rub->jams[k] ? beyond(s, rub, e, values->G, k, lambda) : 0.0;
      rub->jams[k] = times > 1.0;
      PAWL_TRY(rub->jams[k] ? tell(s, rub, e->before->t, k, times, err) : PAWL_OK);
    }
  }
  if (status != PAWL_OK) {
    memset(rub->jams, 0, (size_t)rub->contacts);
  }
  return status == PAWL_ERROR_MEMORY ? pawl_fail_memory(err) : PAWL_OK;
}

double pawl_rub_jam_rate2(const PawlRub* rub, int contact, const double* rate_before) {
  double slip = length_of(&rub->of[contact], rate_before);
  return slip * slip;
}

PawlStatus pawl_rub_find_jams(PawlStepper* s, PawlRub* rub, const PawlRubEnds* e, PawlError* err) {
  bool any = false;
  for (int k = 0; k < rub->contacts; k++) {
    rub->jams[k] = is_sudden(s, rub, e, k);
    any |= rub->jams[k];
  }
  return any ? judge(s, rub, e, err) : PAWL_OK;
}
