// SPDX-License-Identifier: Apache-2.0
// rk4: the classical Runge-Kutta method (docs/theory/rk4.md) on the equations of motion in one of
// the forms of forms.h. The stage at the end of a step is the first of the next, so the state
// always carries its own v' and lambda. The new state is on its constraints in every form.
#include "base/copy.h"
#include "step/arrive.h"
#include "step/direct.h"
#include "step/forms.h"
#include "system/system.h"

typedef struct Rk4 {
  PawlForms forms;
  double *q, *v;    // of a stage
  double *k, *l;    // q' and v' of a stage
  double *sq, *sv;  // weighted sums of the stages
  double* lambda;   // of a stage
  bool adds_up;     // q' = v
  PawlDirect by;    // of small systems, as this:
  PawlKernelsRk4 small;
  long long still_of;  // the factorisation with which l and lambda are those of all places in
  int* still_modes;    // these modes; 0: none
  int rest;            // steps to come that are not tried as small ones, after one that was not
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
  d->still_modes = PAWL_NEW(&s->arena, int, s->sizes.modes);
  if (!d->q || !d->v || !d->k || !d->l || !d->sq || !d->sv || !d->lambda || !d->still_modes) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_forms_create(s, &d->forms, err));
  pawl_direct_create(s, d->forms.eval, d->q, d->v, &d->by);
  d->small = (PawlKernelsRk4){
      .q = d->q, .v = d->v, .a = d->l, .lambda = d->lambda, .sum_q = d->sq, .sum_v = d->sv};
  return PAWL_OK;
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

PAWL_APART static void pass(int n, const double* y, const double* k, double weight, double to_next,
                            const double* before, double* sum, double* next) {
  pawl_kernels_stage(n, y, k, weight, to_next, before, sum, next);
}

// q' of a stage: its v, where coordinates are numbers.
static const double* rates(const PawlStepper* s, Rk4* d, const double* q, const double* v) {
  if (d->adds_up) {
    return v;
  }
  pawl_system_rates(s->system, q, v, d->k);
  return d->k;
}

static const double c[4] = {0.0, 0.5, 0.5, 1.0};                  // nodes
static const double b[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};  // weights

// The sums of all stages.                                                                   (R2)
static PawlStatus sum_stages(PawlStepper* s, Rk4* d, const PawlState* state, double h,
                             PawlError* err) {
  int nq = s->sizes.q, nv = s->sizes.v;
  const double *q = state->q, *v = state->v, *l = state->a, *sq = q, *sv = v;
  for (int i = 0; i < 4; i++) {  // stage i has k = q', l = v'
    if (i > 0) {
      PAWL_TRY(pawl_forms_accelerate(s, &d->forms, state->t + h * c[i], d->q, d->v, d->l, d->lambda,
                                     err));
    }
    double to_next = i < 3 ? h * c[i + 1] : 0.0;  // nothing follows the last
    pass(nq, state->q, rates(s, d, q, v), h * b[i], to_next, sq, d->sq, d->q);
    pass(nv, state->v, l, h * b[i], to_next, sv, d->sv, d->v);
    q = d->q, v = d->v, l = d->l, sq = d->sq, sv = d->sv;
  }
  return PAWL_OK;
}

// ---- small systems ------------------------------------------------------------------------------
typedef enum Taken { NOTHING, STAGES, ENDED_OFF, WHOLE } Taken;  // how much of a step

static bool run_kernel(const PawlStepper* s, const PawlDirect* by, const PawlKernelsRk4* step) {
  int rows = s->sizes.rows, done;
  if (by->eval->step) {
    return by->eval->step(&by->at, step);
  }
#define RUN(n) done = pawl_kernels_rk4(n, rows, &by->at, pawl_direct_evaluate, step)
  PAWL_SIZED(s->sizes.v, RUN)
#undef RUN
  return done;
}

// Where neither place nor rate changes accelerations, and no input does, those of the step before
// serve again.
static bool is_known(const PawlStepper* s, const Rk4* d, const PawlPhase* phase) {
  bool known = d->still_of > 0 && d->still_of == pawl_kkt_current(s->kkt);
  for (int k = 0; known && k < s->sizes.modes; k++) {
    known = d->still_modes[k] == phase->modes[k];
  }
  return known;
}

static void note_known(const PawlStepper* s, Rk4* d, const PawlPhase* phase) {
  d->still_of = s->sizes.inputs == 0 ? pawl_kkt_current(s->kkt) : 0;
  for (int k = 0; d->still_of > 0 && k < s->sizes.modes; k++) {
    d->still_modes[k] = phase->modes[k];
  }
}

PAWL_APART static void sum_still(int size, const PawlKernelsRk4* step) {
#define RUN(n) pawl_kernels_rk4_still(n, step)
  PAWL_SIZED_FEW(size, RUN)
#undef RUN
}

// The end of a step whose rows bind, from the sums of its stages.
static Taken arrive_small(PawlStepper* s, Rk4* d, const PawlPhase* phase,
                          const PawlKernelsPoint* at, PawlState* state, double h) {
  double end = state->t + h;
  PawlArrived arrived =
      pawl_arrive(s, &d->forms, phase, at, state, h, d->sq, d->sv, d->l, d->lambda);
  pawl_dynamics_direct_count(&s->dynamics, &at->kkt, arrived == PAWL_ARRIVED_NOT ? 3 : 4, end);
  if (arrived == PAWL_ARRIVED_NOT) {
    return STAGES;
  }
  pawl_kkt_direct_count(s->kkt, 0, 2);
  s->dynamics.mass.M = pawl_eval_values(d->forms.onto.place)->M;
  return arrived == PAWL_ARRIVED ? WHOLE : ENDED_OFF;
}

// Coordinates that are numbers, equations and linear system by machine code.
static Taken take_small(PawlStepper* s, Rk4* d, const PawlPhase* phase, PawlState* state,
                        double h) {
  enum { REST = 64 };
  PawlKernelsRk4* step = &d->small;
  if (d->rest > 0) {
    d->rest--;
    return NOTHING;
  }
  if (!d->adds_up || d->forms.kind != PAWL_FORM_INDEX_1 ||
      !pawl_direct_begin(s, phase, d->forms.eval, &d->by)) {
    return NOTHING;
  }
  bool held = pawl_projection_any(s, &d->forms.onto, phase);
  step->t = state->t;
  step->h = h;
  step->q_n = state->q;
  step->v_n = state->v;
  step->a_n = state->a;
  step->lambda_n = state->lambda;
  step->held = held;
  bool known = held && d->by.at.still && is_known(s, d, phase);
  if (known) {
    sum_still(s->sizes.v, step);
  } else if (!run_kernel(s, &d->by, step)) {
    d->rest = REST;
    return NOTHING;
  }
  if (held) {
    if (d->by.at.still && !known) {
      note_known(s, d, phase);
    }
    return arrive_small(s, d, phase, &d->by.at, state, h);
  }
  pawl_dynamics_direct_count(&s->dynamics, &d->by.at.kkt, 4, state->t + h);
  state->t += h;
  return WHOLE;
}

static PawlStatus step(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                       PawlError* err) {
  Rk4* d = s->data;
  Taken taken = take_small(s, d, phase, state, h);
  if (taken == WHOLE) {
    return PAWL_OK;
  }
  d->still_of = 0;
  pawl_forms_load(s, &d->forms, phase, state, h);
  if (taken == NOTHING) {
    PAWL_TRY(pawl_forms_begin(s, &d->forms, state->t, state->q, state->v, err));
    PAWL_TRY(sum_stages(s, d, state, h, err));
  }
  pawl_system_tidy(s->system, d->sq);
  PawlStatus (*arrive)(PawlStepper*, PawlForms*, double, double*, double*, double*, double*,
                       PawlError*) = taken == ENDED_OFF ? pawl_forms_arrive_off : pawl_forms_arrive;
  PAWL_TRY(arrive(s, &d->forms, state->t + h, d->sq, d->sv, d->l, d->lambda, err));
  pawl_forms_save(s, &d->forms, state);
  state->t += h;
  pawl_copy(s->sizes.q, d->sq, state->q);
  pawl_copy(s->sizes.v, d->sv, state->v);
  pawl_copy(s->sizes.v, d->l, state->a);
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
