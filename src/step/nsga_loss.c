// SPDX-License-Identifier: Apache-2.0
// What contacts take from the energy in a step of nsga-pvv or nsga-pva, for the log and the account
// (docs/theory/nsga.md, "Energy").
#include <math.h>
#include <string.h>

#include "step/nsga.h"

// Of the contact in row i.
static PawlRubWork friction_of(const PawlStepper* s, const PawlNsga* d, int i) {
  return pawl_rub_work(&d->rub, i - s->sizes.rows + s->contact_count, d->Lambda, d->rate_before,
                       d->rate, d->lead, pawl_eval_values(d->eval)->g_t);
}

// [J] What a contact that is hit adds to the energy: by its impulse, and by what it moves against
// the forces in the positions.                                                       (B15) (N39)
static double work_of_hit(const PawlStepper* s, const PawlNsga* d, int i) {
  double back = -pawl_nsga_rebound(s, d, i);
  bool relaxed = pawl_rub_is_relaxed(&d->rub);
  if (back == 0.0 && !relaxed) {
    return 0.5 * d->Lambda[i] * d->rate_before[i];
  }
  back = relaxed ? d->rate[i] : back;  // what slips opens by its rate then            (F16)
  double free = d->turned[i] + d->ga.h * d->pull[i];
  return 0.5 * d->Lambda[i] * (free + back) - d->nu[i] * d->pull[i];
}

// What contact k takes where it is hit; the work of a contact that moves is -Lambda g_t.  (B15)
// (B20)
static PawlLossOf loss_of(const PawlStepper* s, const PawlNsga* d, int k) {
  int i = d->contacts.row[k];
  PawlRubWork work = d->rub.contacts > 0 ? friction_of(s, d, i) : (PawlRubWork){0};
  bool jams = d->rub.contacts > 0 && d->rub.jams[k];
  if (!pawl_nsga_is_hit(d, i) && !jams) {
    return (PawlLossOf){.rubbed = work.rubbed, .dragged = work.dragged};
  }
  double lost = d->Lambda[i] * d->lead[i] - work_of_hit(s, d, i) - work.rubbed - work.dragged;
  double own = d->loss.known ? pawl_rub_own(s, &d->rub, pawl_eval_values(d->eval), i) : 0.0;
  double met = d->rate_before[i] * d->rate_before[i];
  met += jams ? pawl_rub_jam_rate2(&d->rub, k, d->rate_before) : 0.0;
  return (PawlLossOf){.hit = true, .lost = lost, .weight = own > 0.0 ? met / own : 0.0};
}

// What contacts do to the energy by each velocity, and what moves.                   (N60) (T30)
static void add_velocities(const PawlStepper* s, PawlNsga* d) {
  const PawlValues* values = pawl_eval_values(d->eval);
  const double *f = values->f, *smooth = d->decoupled ? d->smooth_force : f, *v = d->ga.v;
  double *dv = d->du, *M_dv = d->force, *M_W = d->impulse, h = d->ga.h;
  memset(M_dv, 0, (size_t)s->sizes.v * sizeof(double));
  memset(M_W, 0, (size_t)s->sizes.v * sizeof(double));
  for (int j = 0; j < s->sizes.v; j++) {
    dv[j] = v[j] - d->v_n[j];
  }
  pawl_sparse_line_add(&s->dynamics.by_H, values->M, 1.0, dv, M_dv);
  pawl_sparse_line_add(&s->dynamics.by_H, values->M, 1.0, d->W, M_W);
  for (int j = 0; j < pawl_moving(s->sizes); j++) {
    int at = s->dynamics.diagonal[j];
    double end = v[j] + d->W[j], most = fmax(fabs(d->v_n[j]), fabs(end)), sizes = fabs(v[j] + end);
    double work = 0.5 * M_W[j] * (v[j] + end) - M_dv[j] * d->U[j] / h;
    double slack =
        fabs(f[j] - d->force_n[j]) * fabs(d->U[j]) + 0.5 * h * fabs(f[j] - smooth[j]) * sizes;
    double moved = (at >= 0 ? values->M[at] * most * most : 0.0) + h * fabs(f[j]) * most;
    pawl_loss_add_at(&d->loss, &d->gain, j, work, slack, moved);
  }
}

void pawl_nsga_note_losses(PawlStepper* s, PawlNsga* d) {
  s->rubbed = s->dragged = 0.0;
  if (!d->minds) {
    return;
  }
  for (int k = 0; k < d->contacts.count; k++) {
    d->loss.of[k] = loss_of(s, d, k);
  }
  if (d->loss.known) {
    pawl_loss_begin(&d->loss, &d->contacts, &d->rub, &d->gain, d->Lambda);
    add_velocities(s, d);
    pawl_loss_share(&d->loss, &d->contacts, &d->gain);
  }
  for (int k = 0; k < d->contacts.count; k++) {
    s->rubbed += d->loss.of[k].rubbed;
    s->dragged += d->loss.of[k].dragged;
  }
}
