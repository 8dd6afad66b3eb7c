// SPDX-License-Identifier: Apache-2.0
// ark: a diagonally implicit Runge-Kutta method of order 4 of SUNDIALS' ARKODE that chooses its own
// steps, on the index-1 equations (docs/theory/sundials.md). Between two calls a state carries the
// mean step of the last one.
#include "step/sundials.h"

// What it is, built in or not.
#define INFO                                                                                  \
  .name = "ark", .order = 4, .holds = "acceleration", .options = "rtol atol", .smooth = true, \
  .adaptive = true

#ifdef PAWL_WITH_SUNDIALS

#include <arkode/arkode_arkstep.h>
#include <string.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "step/works.h"

typedef struct Ark {
  PawlSundials sun;
  void* solver;
  PawlEval* tangents;  // K, C and those of the constraints; NULL: difference quotients
  int roots;           // root functions that the solver was told of
  double* x;           // one column
  double* y;
} Ark;

// y' = (T v, v') with v' from the index-1 equations.                                        (U1)
static int right_side(realtype t, N_Vector y, N_Vector rate, void* data) {
  Ark* d = data;
  PawlStepper* s = d->sun.stepper;
  const double *q = N_VGetArrayPointer(y), *v = q + s->sizes.q;
  double* out = N_VGetArrayPointer(rate);
  pawl_system_rates(s->system, q, v, out);
  return pawl_sundials_answer(&d->sun, pawl_sundials_accelerate(&d->sun, t, q, v, out + s->sizes.q,
                                                                d->sun.lambda, &d->sun.inner));
}

// Column j of a matrix in the order of a pattern, times `scale`, into `out`.
static void column(const PawlPattern* A, const double* values, int j, double scale, double* out) {
  memset(out, 0, (size_t)A->rows * sizeof(double));
  for (int k = A->start[j]; k < A->start[j + 1]; k++) {
    out[A->index[k]] = scale * values[k];
  }
}

// One column of dv'/dq or dv'/dv: the index-1 equations differentiated.                     (U2)
static void solve_column(Ark* d, const double* A, const double* B, int j, double scale,
                         const double* turn, double* out) {
  PawlStepper* s = d->sun.stepper;
  column(&s->H, A, j, -1.0, d->x);
  column(&s->G, B, j, -scale, d->y);
  for (int k = s->G.start[j]; turn && k < s->G.start[j + 1]; k++) {
    d->y[s->G.index[k]] -= turn[k];  // (W5)
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    d->y[i] = pawl_phase_binds(&d->sun.phase, i) ? d->y[i] : 0.0;
  }
  pawl_kkt_solve(s->kkt, d->x, d->y);
  memcpy(out, d->x, (size_t)s->sizes.v * sizeof(double));
}

static PawlStatus differentiate(Ark* d, double t, const double* q, const double* v, SUNMatrix J,
                                PawlError* err) {
  PawlStepper* s = d->sun.stepper;
  int n = s->sizes.v;
  PAWL_TRY(pawl_sundials_accelerate(&d->sun, t, q, v, d->sun.a, d->sun.lambda, err));
  PawlPoint point = pawl_sundials_point(&d->sun, t, q, v, d->sun.a, d->sun.lambda);
  s->dynamics.info.evaluations++;
  PAWL_TRY(pawl_eval_run(d->tangents, &point, err));
  const PawlValues* values = pawl_eval_values(d->tangents);
  for (int j = 0; j < n; j++) {
    double *by_q = SUNDenseMatrix_Column(J, j), *by_v = SUNDenseMatrix_Column(J, n + j);
    memset(by_q, 0, (size_t)n * sizeof(double));
    memset(by_v, 0, (size_t)n * sizeof(double));
    by_v[j] = j < n - s->sizes.states ? 1.0 : 0.0;
    solve_column(d, values->K, values->G_acceleration, j, 1.0, NULL, by_q + n);
    solve_column(d, values->C, values->G_rate, j, 2.0, values->G_turn, by_v + n);
  }
  return PAWL_OK;
}

static int jacobian(realtype t, N_Vector y, N_Vector rate, SUNMatrix J, void* data,
                    N_Vector unused1, N_Vector unused2, N_Vector unused3) {
  (void)rate;
  (void)unused1;
  (void)unused2;
  (void)unused3;
  Ark* d = data;
  const double *q = N_VGetArrayPointer(y), *v = q + d->sun.stepper->sizes.q;
  return pawl_sundials_answer(&d->sun, differentiate(d, t, q, v, J, &d->sun.inner));
}

static int roots(realtype t, N_Vector y, realtype* out, void* data) {
  Ark* d = data;
  const double *q = N_VGetArrayPointer(y), *v = q + d->sun.stepper->sizes.q;
  return pawl_sundials_margins(&d->sun, t, q, v, out);
}

static PawlStatus create_solver(PawlStepper* s, Ark* d, PawlError* err) {
  d->solver = ARKStepCreate(NULL, right_side, 0.0, d->sun.y, d->sun.context);
  if (!d->solver) {
    return pawl_fail_memory(err);
  }
  bool good =
      ARKStepSetErrHandlerFn(d->solver, pawl_sundials_hear, &d->sun) == ARK_SUCCESS &&
      ARKStepSetUserData(d->solver, d) == ARK_SUCCESS &&
      ARKStepSetTableNum(d->solver, ARKODE_ESDIRK436L2SA_6_3_4, ARKODE_ERK_NONE) == ARK_SUCCESS &&
      ARKStepSStolerances(d->solver, s->def.rtol, s->def.atol) == ARK_SUCCESS &&
      ARKStepSetLSetupFrequency(d->solver, 1) == ARK_SUCCESS &&
      ARKStepSetMaxNumSteps(d->solver, PAWL_SUNDIALS_MOST_STEPS) == ARK_SUCCESS &&
      ARKStepSetLinearSolver(d->solver, d->sun.solver, d->sun.jacobian) == ARK_SUCCESS &&
      (!d->tangents || ARKStepSetJacFn(d->solver, jacobian) == ARK_SUCCESS);
  return good && !d->sun.vectors.starved ? PAWL_OK : pawl_fail_memory(err);  // what else
}

static PawlStatus create(PawlStepper* s, PawlError* err) {
  Ark* d = PAWL_NEW(&s->arena, Ark, 1);
  if (!d) {
    return pawl_fail_memory(err);
  }
  s->data = d;
  PAWL_TRY(pawl_sundials_create(s, &d->sun, s->sizes.q + s->sizes.v, err));
  PAWL_TRY(pawl_projection_create(s, 0, &d->sun.onto, err));
  d->x = PAWL_NEW(&s->arena, double, s->sizes.v);
  d->y = PAWL_NEW(&s->arena, double, s->sizes.rows);
  if (!d->x || !d->y) {
    return pawl_fail_memory(err);
  }
  if (pawl_sundials_plain_rates(s)) {
    PAWL_TRY(pawl_stepper_eval(
        s, PAWL_STIFFNESS | PAWL_DAMPING | PAWL_VELOCITY_TANGENT | PAWL_ACCELERATION_TANGENT,
        &d->tangents, err));
  }
  return create_solver(s, d, err);
}

static void destroy(PawlStepper* s) {
  Ark* d = s->data;
  if (d->solver) {
    ARKStepFree(&d->solver);
  }
  pawl_eval_destroy(d->tangents);
  pawl_sundials_destroy(&d->sun);
}

static PawlStatus start(PawlStepper* s, const PawlPhase* phase, PawlState* state, PawlError* err) {
  (void)s;
  (void)phase;
  (void)err;
  state->memory[0] = 0.0;  // no step yet: SUNDIALS estimates one
  return PAWL_OK;
}

static PawlSundialsFlaw flaw_of(int flag) {
  switch (flag) {
    case ARK_TOO_MUCH_WORK:
      return PAWL_FLAW_WORK;
    case ARK_TOO_MUCH_ACC:
      return PAWL_FLAW_ACCURACY;
    case ARK_MEM_FAIL:
      return PAWL_FLAW_MEMORY;
    case ARK_ERR_FAILURE:
      return PAWL_FLAW_ERROR;
    case ARK_CONV_FAILURE:
    case ARK_LSETUP_FAIL:
      return PAWL_FLAW_NEWTON;
    default:
      return PAWL_FLAW_OTHER;
  }
}

// Forgets everything and begins at `state`.
static int begin(PawlStepper* s, Ark* d, const PawlState* state, double end) {
  double *q = N_VGetArrayPointer(d->sun.y), *v = q + s->sizes.q;
  memcpy(q, state->q, (size_t)s->sizes.q * sizeof(double));
  memcpy(v, state->v, (size_t)s->sizes.v * sizeof(double));
  int flag = ARKStepReInit(d->solver, NULL, right_side, state->t, d->sun.y);
  if (flag == ARK_SUCCESS && d->sun.room != d->roots) {
    flag = ARKStepRootInit(d->solver, d->sun.room, roots);
    flag = flag == ARK_SUCCESS ? ARKStepSetRootDirection(d->solver, d->sun.directions) : flag;
    flag = flag == ARK_SUCCESS ? ARKStepSetNoInactiveRootWarn(d->solver) : flag;
    d->roots = d->sun.room;
  }
  flag = flag == ARK_SUCCESS ? ARKStepSetInitStep(d->solver, state->memory[0]) : flag;
  return flag == ARK_SUCCESS ? ARKStepSetStopTime(d->solver, end) : flag;
}

// Steps until `end`, or until a margin is zero at *t.
static int evolve(Ark* d, double* t, double end) {
  PawlStepper* s = d->sun.stepper;
  if (!s->works) {
    return ARKStepEvolve(d->solver, end, d->sun.y, t, ARK_NORMAL);
  }
  for (int k = 0; k < PAWL_SUNDIALS_MOST_STEPS; k++) {
    int flag = ARKStepEvolve(d->solver, end, d->sun.y, t, ARK_ONE_STEP);
    if (flag != ARK_SUCCESS) {
      return flag;
    }
    double *q = N_VGetArrayPointer(d->sun.y), *v = q + s->sizes.q;
    if (pawl_sundials_answer(&d->sun, pawl_works_piece(s, &d->sun.phase, *t, q, v, NULL, NULL,
                                                       &d->sun.inner)) != 0) {
      return ARK_RHSFUNC_FAIL;
    }
  }
  return ARK_TOO_MUCH_WORK;
}

static PawlStatus go(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                     bool* stopped, PawlError* err) {
  Ark* d = s->data;
  double t, end = state->t + h, begun = state->t;
  long steps = 0, iterations = 0;
  PAWL_TRY(pawl_sundials_begin(&d->sun, phase, state, stopped != NULL, err));
  if (pawl_sundials_tiny(state->t, h)) {
    return pawl_sundials_hop(&d->sun, state, h, stopped, err);
  }
  int flag = begin(s, d, state, end);
  t = state->t;
  flag = flag == ARK_SUCCESS ? evolve(d, &t, end) : flag;
  (void)ARKStepGetNumNonlinSolvIters(d->solver, &iterations);
  (void)ARKStepGetNumSteps(d->solver, &steps);
  s->dynamics.info.newton_iterations += iterations;
  if (flag < 0) {
    return pawl_sundials_fail(&d->sun, "ARKODE", flaw_of(flag), t, err);
  }
  bool root = flag == ARK_ROOT_RETURN;
  double *q = N_VGetArrayPointer(d->sun.y), *v = q + s->sizes.q;
  if (stopped) {
    *stopped = root;
  }
  pawl_system_tidy(s->system, q);
  PAWL_TRY(pawl_sundials_finish(&d->sun, state, root ? t : end, q, v, stopped, err));
  state->memory[0] = steps > 0 ? (state->t - begun) / (double)steps : 0.0;
  return PAWL_OK;
}

static PawlStatus step(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                       PawlError* err) {
  return go(s, phase, state, h, NULL, err);
}

static PawlStatus advance(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                          bool* stopped, PawlError* err) {
  *stopped = false;
  return go(s, phase, state, h, stopped, err);
}

#define ABOUT \
  "implicit Runge-Kutta of order 4 with its own steps, on the index-1 equations (SUNDIALS)"

const PawlMethod pawl_method_ark = {
    .info = {INFO, .about = ABOUT},
    .memory_numbers = 1,
    .create = create,
    .destroy = destroy,
    .start = start,
    .step = step,
    .exact = true,
    .advance = advance,
};

#else

const PawlMethod pawl_method_ark = {
    .info = {INFO, .about = "implicit Runge-Kutta of order 4; not built in, needs SUNDIALS",
             .absent = true},
    .create = pawl_sundials_absent,
};

#endif
