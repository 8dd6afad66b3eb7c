// SPDX-License-Identifier: Apache-2.0
// rk4: the classical Runge-Kutta method (docs/theory/rk4.md) on the equations of motion in one of
// the forms of forms.h. The stage at the end of a step is the first of the next, so the state
// always carries its own v' and lambda. The new state is on its constraints in every form.
#include <string.h>

#include "step/forms.h"

typedef struct Rk4 {
  PawlForms forms;
  double *q, *v;    // of a stage
  double *k, *l;    // q' and v' of a stage
  double *sq, *sv;  // weighted sums of the stages
  double* lambda;   // of a stage
} Rk4;

static PawlStatus create(PawlStepper* s, PawlError* err) {
  Rk4* d = PAWL_NEW(&s->arena, Rk4, 1);
  if (!d) {
    return pawl_fail_memory(err);
  }
  s->data = d;
  d->q = PAWL_NEW(&s->arena, double, s->sizes.q);
  d->v = PAWL_NEW(&s->arena, double, s->sizes.v);
  d->k = PAWL_NEW(&s->arena, double, s->sizes.q);
  d->l = PAWL_NEW(&s->arena, double, s->sizes.v);
  d->sq = PAWL_NEW(&s->arena, double, s->sizes.q);
  d->sv = PAWL_NEW(&s->arena, double, s->sizes.v);
  d->lambda = PAWL_NEW(&s->arena, double, s->sizes.rows);
  if (!d->q || !d->v || !d->k || !d->l || !d->sq || !d->sv || !d->lambda) {
    return pawl_fail_memory(err);
  }
  return pawl_forms_create(s, &d->forms, err);
}

static void destroy(PawlStepper* s) {
  pawl_forms_destroy(&((Rk4*)s->data)->forms);
}

static PawlStatus start(PawlStepper* s, const PawlPhase* phase, PawlState* state, PawlError* err) {
  (void)phase;
  (void)err;
  pawl_forms_start(s, state);
  return PAWL_OK;
}

// A stage with rate k is summed up, and the next one begins at y + to_next k.
static void pass(int n, const double* restrict y, const double* restrict k, double weight,
                 double to_next, double* restrict sum, double* restrict next) {
  for (int i = 0; i < n; i++) {
    sum[i] += weight * k[i];
    next[i] = y[i] + to_next * k[i];
  }
}

static PawlStatus step(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                       PawlError* err) {
  static const double c[5] = {0.0, 0.5, 0.5, 1.0, 0.0};             // nodes; the last is not used
  static const double b[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};  // weights
  Rk4* d = s->data;
  int nq = s->sizes.q, nv = s->sizes.v;
  pawl_forms_load(s, &d->forms, phase, state, h);
  PAWL_TRY(pawl_forms_begin(s, &d->forms, state->t, state->q, state->v, err));
  memcpy(d->sq, state->q, (size_t)nq * sizeof(double));
  memcpy(d->sv, state->v, (size_t)nv * sizeof(double));
  pawl_system_rates(s->system, state->q, state->v, d->k);
  memcpy(d->l, state->a, (size_t)nv * sizeof(double));
  for (int i = 0; i < 4; i++) {  // stage i has k = q', l = v'                               (R2)
    if (i > 0) {
      PAWL_TRY(pawl_forms_accelerate(s, &d->forms, state->t + h * c[i], d->q, d->v, d->l, d->lambda,
                                     err));
      pawl_system_rates(s->system, d->q, d->v, d->k);
    }
    pass(nq, state->q, d->k, h * b[i], h * c[i + 1], d->sq, d->q);
    pass(nv, state->v, d->l, h * b[i], h * c[i + 1], d->sv, d->v);
  }
  pawl_system_tidy(s->system, d->sq);
  PAWL_TRY(pawl_forms_arrive(s, &d->forms, state->t + h, d->sq, d->sv, d->l, d->lambda, err));
  pawl_forms_save(s, &d->forms, state);
  state->t += h;
  memcpy(state->q, d->sq, (size_t)nq * sizeof(double));
  memcpy(state->v, d->sv, (size_t)nv * sizeof(double));
  memcpy(state->a, d->l, (size_t)nv * sizeof(double));
  memcpy(state->lambda, d->lambda, (size_t)s->sizes.rows * sizeof(double));
  return PAWL_OK;
}

const PawlMethod pawl_method_rk4 = {
    .info = {.name = "rk4",
             .about = "explicit Runge-Kutta of order 4; see --form",
             .order = 4,
             .holds = "acceleration; all with form: minimal",
             .options = "form",
             .smooth = true},
    .memory_vectors = 2,
    .memory_rows = 1,
    .exact = true,
    .create = create,
    .destroy = destroy,
    .start = start,
    .step = step,
};
