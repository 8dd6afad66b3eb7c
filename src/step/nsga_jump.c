// SPDX-License-Identifier: Apache-2.0
// An impact changes at once the forces that depend on rates (docs/theory/nsga.md): the memory of
// generalized-alpha goes on with what they are.
#include <math.h>
#include <string.h>

#include "step/nsga.h"

// M w = f(q, v) - f(q, v-) + G^T mu, G w = 0 over the rows of the smooth motion, f(q, v) being that
// of the last evaluation: w in du, mu in dnu. *any: w is not nothing.                 (N25) (N82)
static PawlStatus find_jump(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                            const double* q, const double* v_before, bool* any, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  int n = s->sizes.v;
  double *w = d->du, *mu = d->dnu;
  PawlPoint point = pawl_phase_point(phase, t, q, v_before, d->ga.vdot, d->ga.lambda);
  memcpy(w, values->f, (size_t)n * sizeof(double));
  s->dynamics.info.evaluations++;
  PAWL_TRY(pawl_eval_run(d->eval, &point, err));
  for (int j = 0; j < n; j++) {
    w[j] -= values->f[j];
  }
  memset(mu, 0, (size_t)s->sizes.rows * sizeof(double));
  *any = pawl_dynamics_largest(n, w) != 0.0;  // exactly: no force depends on the rates that jump
  return *any ? pawl_dynamics_solve(&s->dynamics, values, values->M, values->G, values->G, d->S, t,
                                    w, mu, err)
              : PAWL_OK;
}

PawlStatus pawl_nsga_change_forces(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                                   PawlError* err) {
  bool any;
  PAWL_TRY(find_jump(s, d, phase, t, d->q, d->ga.v, &any, err));
  for (int j = 0; any && j < s->sizes.v; j++) {
    d->ga.vdot[j] += d->du[j];
    d->ga.a[j] += d->du[j];
  }
  for (int i = 0; any && i < s->sizes.rows; i++) {
    d->ga.lambda[i] += d->dnu[i];
  }
  return PAWL_OK;
}

PawlStatus pawl_nsga_forget_jump(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                 PawlState* state, PawlError* err) {
  const PawlGa* g = &d->ga;
  double *a = pawl_ga_memory(s, state).a, *eta = pawl_nsga_eta_of(s, state);
  double of_w = (g->alpha_f - g->alpha_m) / (1.0 - g->alpha_m);
  bool any;
  if (d->undamped || of_w == 0.0 || !pawl_nsga_hits(d)) {
    return PAWL_OK;
  }
  for (int j = 0; j < s->sizes.v; j++) {
    d->v[j] = g->v_total[j] - d->W[j];
  }
  PAWL_TRY(find_jump(s, d, phase, state->t, g->q, d->v, &any, err));
  for (int j = 0; any && j < s->sizes.v; j++) {
    a[j] += of_w * d->du[j];
  }
  for (int i = 0; any && i < s->sizes.rows; i++) {
    eta[i] += of_w * d->dnu[i];
  }
  d->fresh = NAN;
  return PAWL_OK;
}
