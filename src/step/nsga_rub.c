// SPDX-License-Identifier: Apache-2.0
// Corrections of U and W in which contacts with friction are chosen (docs/theory/nsga.md,
// "Friction").
#include <string.h>

#include "step/nsga.h"

// Directions of the rows of contacts and friction over the step: the mean of those of both ends
// where a contact is closed at the beginning and nothing hits, those of the end else, and of two
// slips, whose axes may turn about the normal.                                             (N31)
const double* pawl_nsga_mean_directions(const PawlStepper* s, PawlNsga* d) {
  const double *before = d->contacts.G, *after = pawl_eval_values(d->eval)->G;
  for (int e = 0; e < s->G.start[s->sizes.v]; e++) {
    d->mean[e] = d->closed[s->G.index[e]] ? 0.5 * (before[e] + after[e]) : d->B[e];
  }
  return d->mean;
}

static bool any_near(const PawlNsga* d) {
  bool near = false;
  for (int k = 0; k < d->contacts.count; k++) {
    near |= d->near[d->contacts.row[k]];
  }
  return near;
}

// No contact touches: rows alone are corrected, over those in `trial`.                      (N81)
static PawlStatus correct_rows(PawlStepper* s, PawlNsga* d, double t, const double* force,
                               PawlError* err) {
  if (!force) {
    memset(d->force, 0, (size_t)s->sizes.v * sizeof(double));
    force = d->force;
  }
  d->rub.relaxed = d->rub.near = false;
  memset(d->drag, 0, (size_t)s->sizes.rows * sizeof(double));
  memcpy(d->B_set, d->trial, (size_t)s->sizes.rows);
  const double* M = pawl_eval_values(d->eval)->M;
  return pawl_nsga_correct(s, d, t, M, force, d->B_set, d->W, d->Lambda, d->rate, err);
}

// M (W + dW) = B^T Lambda + force with the contacts that touch and their friction.    (N17) (N29)
PawlStatus pawl_nsga_rub(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                         const double* force, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  PawlContacts* c = &d->contacts;
  int n = s->sizes.v, m = s->sizes.rows;
  for (int i = 0; i < m; i++) {
    d->trial[i] = pawl_phase_binds(phase, i);
  }
  if (!any_near(d)) {
    return correct_rows(s, d, t, force, err);
  }
  pawl_nsga_add_rebounds(s, d, 1.0);
  for (int j = 0; j < n; j++) {
    d->du[j] = force ? force[j] : 0.0;
  }
  pawl_sparse_line_add(&s->dynamics.by_H, values->M, -1.0, d->W, d->du);
  pawl_sparse_sizes(&s->G, values->G, d->v, c->least_v, c->size);
  PawlRubStep step = {.t = t,
                      .S = values->M,
                      .B = pawl_nsga_mean_directions(s, d),
                      .J = values->G,
                      .bilateral = d->trial,
                      .near = d->near,
                      .w0 = d->rate,
                      .size = c->size,
                      .tolerance = s->def.tolerance,
                      .guess = d->Lambda,
                      .shares = true};
  PAWL_TRY(pawl_rub_solve(s, &d->rub, &step, d->du, d->dnu, d->B_set, err));
  if (d->rub.relaxed) {  // what slips opens by its rate: no row is asked to be met (F16)
    memset(d->B_set + d->rub.first_row, 0, (size_t)d->rub.rows);
  }
  d->corrected = true;
  d->ga.still = d->ga.placed = false;
  for (int j = 0; j < n; j++) {
    d->W[j] += d->du[j];
  }
  memcpy(d->Lambda, d->dnu, (size_t)m * sizeof(double));
  for (int i = d->rub.first_row; i < m - s->contact_count; i++) {
    d->drag[i] = d->Lambda[i];
  }
  return PAWL_OK;
}

bool pawl_nsga_rubs_aside(const PawlStepper* s, const PawlNsga* d, double* off) {
  if (d->rub.relaxed || d->rub.swept > d->rub.swept_before) {
    return false;
  }
  PawlRubEnds ends = {.impulse = d->Lambda, .rate = d->rate, .values = pawl_eval_values(d->eval)};
  double before = *off;
  *off = pawl_rub_aside(s, &d->rub, &ends);
  return *off > s->def.tolerance && *off < 0.5 * before;
}

// Which contacts touch at an iterate; `*changed`: one that does not push would have to.
void pawl_nsga_touch(PawlStepper* s, PawlNsga* d, const double* of_q, bool* changed) {
  const PawlValues* values = pawl_eval_values(d->eval);
  PawlContacts* c = &d->contacts;
  pawl_sparse_sizes(&s->G, values->G, of_q, c->least_q, c->size);
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    *changed |= !d->A[i] && values->g[i] < -s->def.tolerance * c->size[i];
    d->touching[i] = d->A[i] || pawl_contacts_touches(c, s->def.tolerance, i, values->g[i]);
    d->near[i] |= d->touching[i];  // and not back: friction may move it away, and back again
  }
}

// Gaps are measured by their own terms: rates may have been looked at since pawl_nsga_touch. With
// the smooth motion beside them they are solved for to rounding, as what is left stays in it.
static void measure_gaps(const PawlStepper* s, PawlNsga* d) {
  PawlContacts* c = &d->contacts;
  const double* q = d->decoupled ? d->q : d->ga.q;
  bool same = s->sizes.q == s->sizes.v;
  pawl_sparse_sizes(&s->G, pawl_eval_values(d->eval)->G, same ? q : NULL, c->least_q, c->size);
  for (int k = 0; !d->decoupled && k < c->count; k++) {
    c->size[c->row[k]] *= PAWL_ROUNDED / PAWL_ROWS_ROUNDING;
  }
}

// 0 <= nu _|_ gap >= 0 with the correction, as if friction were not there.               (N30)
PawlStatus pawl_nsga_press(PawlStepper* s, PawlNsga* d, double t, const double* M,
                           const double* force, const double* gap, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  PawlContacts* c = &d->contacts;
  int n = s->sizes.v, m = s->sizes.rows;
  if (!any_near(d)) {
    return pawl_nsga_correct(s, d, t, M, force, d->A, d->U, d->nu, gap, err);
  }
  memset(d->trial, 0, (size_t)m);
  memcpy(d->trial, d->A, (size_t)d->rub.first_row);
  pawl_nsga_guess_press(d);
  measure_gaps(s, d);
  memcpy(d->du, force, (size_t)n * sizeof(double));
  pawl_sparse_line_add(&s->dynamics.by_H, M, -1.0, d->U, d->du);
  PawlRubStep step = {.t = t,
                      .S = M,
                      .B = d->B,
                      .J = values->G,
                      .bilateral = d->trial,
                      .near = d->near,
                      .w0 = gap,
                      .size = c->size,
                      .tolerance = s->def.tolerance,
                      .guess = d->nu,
                      .bare = true};
  PAWL_TRY(pawl_rub_solve(s, &d->rub, &step, d->du, d->dnu, d->A, err));
  d->corrected = true;
  for (int j = 0; j < n; j++) {
    d->U[j] += d->du[j];
  }
  memcpy(d->nu, d->dnu, (size_t)m * sizeof(double));
  return PAWL_OK;
}
