// SPDX-License-Identifier: Apache-2.0
// Energy that corrections of contacts bring into a step, and how they are kept from it
// (docs/theory/nsga.md, "Energy").
#include <math.h>
#include <string.h>

#include "step/nsga.h"

// [1] Of h dv: with it positions move by the velocities of the end. Where contacts have forces in
// the smooth motion there is none: these change with the positions.
static const double MOST_SHIFT = 0.5;
enum { SEVERAL = 2 };  // contacts that are thrown back: of one (N38) says what it adds

// What U and W do to the energy, by coordinates: with v~ the smooth motion and dv~ its change,
//   M W (v~ + v)/2 - M dv~ U/h                                                            (N60)
// but for forces that are others at the end than at the beginning, or than at the smooth motion.
static void add_corrections(PawlStepper* s, PawlNsga* d) {
  const double *M = pawl_eval_values(d->eval)->M, *smooth = d->ga.v;
  const double *f = pawl_eval_values(d->eval)->f, *f_smooth = d->decoupled ? d->smooth_force : f;
  double *dv = d->du, *M_dv = d->force, *M_W = d->impulse, h = d->ga.h;
  int n = pawl_moving(s->sizes);
  memset(M_dv, 0, (size_t)s->sizes.v * sizeof(double));
  memset(M_W, 0, (size_t)s->sizes.v * sizeof(double));
  for (int j = 0; j < s->sizes.v; j++) {
    dv[j] = smooth[j] - d->v_n[j];
  }
  pawl_sparse_line_add(&s->dynamics.by_H, M, 1.0, dv, M_dv);
  pawl_sparse_line_add(&s->dynamics.by_H, M, 1.0, d->W, M_W);
  for (int j = 0; j < n; j++) {
    double v = smooth[j] + d->W[j], jump = 0.5 * M_W[j] * (smooth[j] + v);
    double lift = M_dv[j] * d->U[j] / h;
    double sizes = fabs(smooth[j]) + fabs(v), other = fabs(f[j] - f_smooth[j]);
    PawlGainPart part = {
        .work = jump - lift,
        .size = fabs(M_W[j]) * (sizes + fabs(dv[j])) + fabs(lift),
        .slack = fabs(f[j] - d->force_n[j]) * fabs(d->U[j]) + 0.5 * h * other * sizes};
    pawl_gain_add_at(&d->gain, j, part, M_dv[j] * (v - d->v_n[j]));
  }
}

// The impulse of the smooth force of row i over the step.                                  (N12)
static double smooth_impulse(const PawlNsga* d, const PawlState* state, const double* eta_n,
                             int i) {
  const PawlGa* g = &d->ga;
  double lambda = (1 - g->alpha_f) * g->lambda[i] + g->alpha_f * state->lambda[i];
  double eta = (lambda - g->alpha_m * eta_n[i]) / (1 - g->alpha_m);
  return g->h * ((1 - g->gamma) * eta_n[i] + g->gamma * eta);
}

// Of contact k: what its smooth force does along its gap, and the work of what moves by itself,
// which is no gain.                                                          (N60) (B15) (B20)
static PawlGainPart part_of(const PawlStepper* s, const PawlNsga* d, int k, double smooth) {
  const PawlValues* values = pawl_eval_values(d->eval);
  int i = d->contacts.row[k], slips = d->rub.contacts > 0 ? d->rub.of[k].count : 0;
  double back = -pawl_nsga_rebound(s, d, i), free = d->acceleration[i];
  double opened = smooth * (values->g[i] - d->contacts.gap[i]) / d->ga.h;
  PawlGainPart part = {.work = opened, .size = fabs(opened), .pushes = 1};
  for (int n = -1; n < slips; n++) {
    int row = n < 0 ? i : d->rub.of[k].first + n;
    double led = 0.5 * d->Lambda[row] * (d->lead[row] + values->g_t[row]);
    part.work += led;
    part.size += fabs(led);
  }
  if (back > 0.0 && free < back) {
    part.back = d->Lambda[i] * back * back / (back - free);
    part.thrown = 1;
  }
  return part;
}

bool pawl_nsga_restrain(PawlStepper* s, PawlNsga* d, const PawlState* state) {
  const PawlContacts* c = &d->contacts;
  const PawlValues* values = pawl_eval_values(d->eval);
  const double* eta_n = pawl_nsga_eta_of(s, (PawlState*)state);
  bool any = false, smooth = !d->decoupled && s->strategy == 3;
  if (!d->minds) {
    return false;
  }
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    bool pressed = state->lambda[i] > 0.0, presses = d->ga.lambda[i] > 0.0;
    any |= smooth ? pressed != presses || pawl_nsga_is_hit(d, i) : d->Lambda[i] > 0.0;
  }
  if (!any) {
    return false;
  }
  pawl_dynamics_rows(&s->dynamics, values->G, d->ga.v, values->g_t, d->acceleration);
  pawl_gain_begin(&d->gain);
  for (int k = 0; k < c->count; k++) {
    double of_lambda = smooth ? smooth_impulse(d, state, eta_n, c->row[k]) : 0.0;
    if (d->Lambda[c->row[k]] > 0.0 || of_lambda > 0.0) {
      pawl_gain_add(c, &d->rub, &d->gain, k, part_of(s, d, k, of_lambda));
    }
  }
  add_corrections(s, d);
  if (pawl_gain_search(c, &d->gain, smooth ? 0.0 : MOST_SHIFT, smooth ? SEVERAL : 1)) {
    return true;
  }
  bool turns = d->decoupled && d->rub.contacts == 0 && !d->averaged && pawl_gain_is_left(&d->gain);
  d->averaged |= turns;  // the directions of closed contacts                             (N31)
  return turns;
}

// force += shift h M (v - v_n): positions of islands that would gain move on with it.     (N61)
void pawl_nsga_add_shift(const PawlStepper* s, PawlNsga* d, double* force) {
  for (int j = 0; j < s->sizes.v; j++) {
    double more = j < pawl_moving(s->sizes) ? d->gain.shift[d->gain.body[j]] : 0.0;
    d->impulse[j] = more == 0.0 ? 0.0 : more * d->ga.h * (d->ga.v[j] + d->W[j] - d->v_n[j]);
  }
  pawl_sparse_line_add(&s->dynamics.by_H, pawl_eval_values(d->eval)->M, 1.0, d->impulse, force);
}
