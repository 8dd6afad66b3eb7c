// SPDX-License-Identifier: Apache-2.0
// rk4: the classical Runge-Kutta method (docs/theory/rk4.md) on the equations of motion in one of
// the forms of forms.h. The stage at the end of a step is the first of the next, so the state
// always carries its own v' and lambda. The new state is on its constraints in every form.
#include "base/copy.h"
#include "step/forms.h"
#include "system/system.h"

typedef struct Rk4 {
  PawlForms forms;
  double *q, *v;    // of a stage
  double *k, *l;    // q' and v' of a stage
  double *sq, *sv;  // weighted sums of the stages
  double* lambda;   // of a stage
  bool adds_up;     // q' = v
} Rk4;

static PawlStatus create(PawlStepper* s, PawlError* err) {
  Rk4* d = PAWL_NEW(&s->arena, Rk4, 1);
  if (!d) {
    return pawl_fail_memory(err);
  }
  s->data = d;
  d->adds_up = s->sizes.states == 0 && pawl_system_adds_up(s->system);
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

// A stage with rate k is summed up, and the next one begins at y + to_next k. `before` is the sum
// so far; `next` may be k.
PAWL_INLINE void pass_one(int i, const double* y, const double* k, double weight, double to_next,
                          const double* before, double* sum, double* next) {
  double rate = k[i];
  sum[i] = before[i] + weight * rate;
  next[i] = y[i] + to_next * rate;
}

PAWL_INLINE void pass(int n, const double* y, const double* k, double weight, double to_next,
                      const double* before, double* sum, double* next) {
  switch (n) {
#define PASS(i)                                                \
  case i:                                                      \
    pass_one(i - 1, y, k, weight, to_next, before, sum, next); \
    PAWL_COPY_ON;
    PAWL_COPY_ROW(PASS)
#undef PASS
    case 0:
      return;
    default:
      for (int i = 0; i < n; i++) {
        pass_one(i, y, k, weight, to_next, before, sum, next);
      }
  }
}

// q' of a stage: its v, where coordinates are numbers.
static const double* rates(const PawlStepper* s, Rk4* d, const double* q, const double* v) {
  if (d->adds_up) {
    return v;
  }
  pawl_system_rates(s->system, q, v, d->k);
  return d->k;
}

static PawlStatus step(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                       PawlError* err) {
  static const double c[5] = {0.0, 0.5, 0.5, 1.0, 0.0};             // nodes; the last is not used
  static const double b[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};  // weights
  Rk4* d = s->data;
  int nq = s->sizes.q, nv = s->sizes.v;
  const double *q = state->q, *v = state->v, *l = state->a, *sq = q, *sv = v;
  pawl_forms_load(s, &d->forms, phase, state, h);
  PAWL_TRY(pawl_forms_begin(s, &d->forms, state->t, state->q, state->v, err));
  for (int i = 0; i < 4; i++) {  // stage i has k = q', l = v'                               (R2)
    if (i > 0) {
      PAWL_TRY(pawl_forms_accelerate(s, &d->forms, state->t + h * c[i], d->q, d->v, d->l, d->lambda,
                                     err));
    }
    pass(nq, state->q, rates(s, d, q, v), h * b[i], h * c[i + 1], sq, d->sq, d->q);
    pass(nv, state->v, l, h * b[i], h * c[i + 1], sv, d->sv, d->v);
    q = d->q, v = d->v, l = d->l, sq = d->sq, sv = d->sv;
  }
  pawl_system_tidy(s->system, d->sq);
  PAWL_TRY(pawl_forms_arrive(s, &d->forms, state->t + h, d->sq, d->sv, d->l, d->lambda, err));
  pawl_forms_save(s, &d->forms, state);
  state->t += h;
  pawl_copy(nq, d->sq, state->q);
  pawl_copy(nv, d->sv, state->v);
  pawl_copy(nv, d->l, state->a);
  pawl_copy(s->sizes.rows, d->lambda, state->lambda);
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
