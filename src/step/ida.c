// SPDX-License-Identifier: Apache-2.0
// ida: backward differentiation formulas of SUNDIALS' IDA, orders 1 to 5 with its own steps, on the
// stabilised index-2 equations of Gear, Gupta and Leimkuhler (docs/theory/sundials.md). Positions
// and velocities are held on the constraints.
#include "step/ida.h"

// What it is, built in or not.
#define INFO                                                                        \
  .name = "ida", .order = 5, .holds = "position, velocity", .options = "rtol atol", \
  .smooth = true, .adaptive = true, .sums_only = true

#ifdef PAWL_WITH_SUNDIALS

#include <ida/ida.h>
#include <math.h>
#include <string.h>

#include "step/ida_history.h"
#include "step/works.h"
#include "switch/tolerances.h"

static PawlStatus create_solver(PawlIda* d, PawlError* err) {
  static const double NEWTON = 0.1;  // of the tolerance: what is left of positions off constraints
  d->id = N_VClone(d->sun.y);
  d->solver = IDACreate(d->sun.context);
  if (!d->id || !d->solver) {
    return pawl_fail_memory(err);
  }
  const PawlSizes n = d->sun.stepper->sizes;
  for (int i = 0; i < 2 * n.v + 2 * n.rows; i++) {
    N_VGetArrayPointer(d->id)[i] = i < 2 * n.v ? 1.0 : 0.0;
  }
  bool good = IDASetErrHandlerFn(d->solver, pawl_sundials_hear, &d->sun) == IDA_SUCCESS &&
              IDASetUserData(d->solver, d) == IDA_SUCCESS &&
              IDAInit(d->solver, pawl_ida_residual, 0.0, d->sun.y, d->sun.y_rate) == IDA_SUCCESS &&
              IDAWFtolerances(d->solver, pawl_ida_weigh) == IDA_SUCCESS &&
              IDASetId(d->solver, d->id) == IDA_SUCCESS &&
              IDASetSuppressAlg(d->solver, SUNTRUE) == IDA_SUCCESS &&
              IDASetLinearSolver(d->solver, d->sun.solver, d->sun.jacobian) == IDA_SUCCESS &&
              IDASetNonlinConvCoef(d->solver, NEWTON) == IDA_SUCCESS &&
              IDASetJacFn(d->solver, pawl_ida_jacobian) == IDA_SUCCESS;
  return good && !d->sun.vectors.starved ? PAWL_OK : pawl_fail_memory(err);  // what else
}

static PawlStatus create(PawlStepper* s, PawlError* err) {
  enum {
    RESIDUAL = PAWL_MASS | PAWL_FORCE | PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT,
    TANGENTS = PAWL_MASS | PAWL_STIFFNESS | PAWL_DAMPING | PAWL_GRADIENT | PAWL_VELOCITY_TANGENT
  };
  PawlIda* d = PAWL_NEW(&s->arena, PawlIda, 1);
  if (!d) {
    return pawl_fail_memory(err);
  }
  s->data = d;
  PAWL_TRY(pawl_sundials_create(s, &d->sun, 2 * (s->sizes.v + s->sizes.rows), err));
  d->q = PAWL_NEW(&s->arena, double, s->sizes.v);
  d->v = PAWL_NEW(&s->arena, double, s->sizes.v);
  d->jerk = PAWL_NEW(&s->arena, double, s->sizes.v);
  if (!d->q || !d->v || !d->jerk) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_stepper_eval(s, RESIDUAL, &d->residual, err));
  PAWL_TRY(pawl_stepper_eval(s, TANGENTS, &d->tangents, err));
  return create_solver(d, err);
}

static void destroy(PawlStepper* s) {
  PawlIda* d = s->data;
  if (d->solver) {
    IDAFree(&d->solver);
  }
  if (d->id) {
    N_VDestroy(d->id);
  }
  pawl_eval_destroy(d->residual);
  pawl_eval_destroy(d->tangents);
  pawl_sundials_destroy(&d->sun);
}

static int unknowns_of(const PawlStepper* s) {
  return 2 * (s->sizes.v + s->sizes.rows);
}

// A state's memory: 1 when the rest is a history, and the history.
static void forget(PawlStepper* s, PawlState* state) {
  (void)s;
  memset(state->memory, 0, (size_t)state->memory_count * sizeof(double));
}

static PawlStatus start(PawlStepper* s, const PawlPhase* phase, PawlState* state, PawlError* err) {
  (void)phase;
  (void)err;
  forget(s, state);
  return PAWL_OK;
}

static PawlSundialsFlaw flaw_of(int flag) {
  switch (flag) {
    case IDA_TOO_MUCH_WORK:
      return PAWL_FLAW_WORK;
    case IDA_TOO_MUCH_ACC:
      return PAWL_FLAW_ACCURACY;
    case IDA_MEM_FAIL:
      return PAWL_FLAW_MEMORY;
    case IDA_ERR_FAIL:
      return PAWL_FLAW_ERROR;
    case IDA_CONV_FAIL:
    case IDA_LSETUP_FAIL:
      return PAWL_FLAW_NEWTON;
    default:
      return PAWL_FLAW_OTHER;
  }
}

// The first step, of order 1, leaves out h^2/2 y''. The derivative of v' is taken from a second
// point a little later; where there is none, SUNDIALS guesses.                              (U8)
static double first_step(PawlIda* d, const PawlState* state, double h) {
  static const double PART = 0.1;  // of the step whose error is the tolerance
  const PawlStepper* s = d->sun.stepper;
  int n = s->sizes.v;
  double later = PAWL_AHEAD_OF_START * h, sum = 0.0;
  for (int i = 0; i < n; i++) {
    d->q[i] = state->q[i] + later * state->v[i];
    d->v[i] = state->v[i] + later * state->a[i];
  }
  if (pawl_sundials_accelerate(&d->sun, state->t + later, d->q, d->v, d->jerk, d->sun.lambda,
                               NULL) != PAWL_OK) {
    return 0.0;
  }
  for (int i = 0; i < n; i++) {
    double q_scale = s->def.rtol * fabs(state->q[i]) + s->def.atol,
           v_scale = s->def.rtol * fabs(state->v[i]) + s->def.atol;
    bool moves = i < pawl_moving(s->sizes);
    double by_q = moves ? state->a[i] / q_scale : 0.0,
           by_v = (d->jerk[i] - state->a[i]) / (later * v_scale);
    sum += by_q * by_q + by_v * by_v;
  }
  double size = sqrt(sum / (2 * n));
  double first = size > 0.0 ? PART * sqrt(2.0 / size) : h;
  return isfinite(first) && first > 0.0 ? fmin(first, h) : 0.0;
}

// x becomes the move of least size, measured by M, that changes the rows in force by -r. r is lost.
static void move_by(PawlIda* d, double* r, double* x) {
  const PawlStepper* s = d->sun.stepper;
  memset(x, 0, (size_t)s->sizes.v * sizeof(double));
  for (int i = 0; i < s->sizes.rows; i++) {
    r[i] = pawl_phase_binds(&d->sun.phase, i) ? -r[i] : 0.0;
  }
  pawl_kkt_solve(s->kkt, x, r);
}

// Moves d->q and d->v onto the constraints, as far as they are off: after a switch by errors of
// what was before. IDA would do it in its first step, where no step is small enough for such a
// change.
static PawlStatus project(PawlIda* d, double t) {
  enum { MOST = 3 };  // from errors of a tolerance to rounding
  PawlStepper* s = d->sun.stepper;
  PawlPoint point = pawl_sundials_point(&d->sun, t, d->q, d->v, NULL, NULL);
  for (int k = 0; k < MOST && s->sizes.rows > 0; k++) {
    s->dynamics.info.evaluations++;
    PAWL_TRY(pawl_eval_run(d->residual, &point, NULL));
    const PawlValues* values = pawl_eval_values(d->residual);
    s->dynamics.info.factorizations++;
    PAWL_TRY(pawl_kkt_factor(s->kkt, values->M, values->G, values->G, d->sun.phase.active));
    double* r = d->sun.lambda;
    memcpy(r, values->g_t, (size_t)s->sizes.rows * sizeof(double));
    pawl_sparse_add(&s->G, values->G, 1.0, d->v, r);
    move_by(d, r, d->jerk);
    for (int i = 0; i < s->sizes.v; i++) {
      d->v[i] += d->jerk[i];
    }
    memcpy(r, values->g, (size_t)s->sizes.rows * sizeof(double));
    move_by(d, r, d->jerk);
    for (int i = 0; i < s->sizes.v; i++) {
      d->q[i] += d->jerk[i];
    }
  }
  return pawl_sundials_accelerate(&d->sun, t, d->q, d->v, d->sun.a, d->sun.lambda, NULL);
}

// Begins at `state` without a history; mu = 0.
static int begin(PawlStepper* s, PawlIda* d, const PawlState* state, double h) {
  PawlIdaParts y = pawl_ida_parts(s, d->sun.y), rate = pawl_ida_parts(s, d->sun.y_rate);
  size_t n = (size_t)s->sizes.v * sizeof(double), m = (size_t)s->sizes.rows * sizeof(double);
  double first = first_step(d, state, h);
  memcpy(d->q, state->q, n);
  memcpy(d->v, state->v, n);
  bool moved = project(d, state->t) == PAWL_OK;
  N_VConst(0.0, d->sun.y);
  N_VConst(0.0, d->sun.y_rate);
  memcpy(y.q, moved ? d->q : state->q, n);
  memcpy(y.v, moved ? d->v : state->v, n);
  memcpy(y.lambda, moved ? d->sun.lambda : state->lambda, m);
  pawl_system_rates(d->sun.stepper->system, y.q, y.v, rate.q);
  memcpy(rate.v, moved ? d->sun.a : state->a, n);
  int flag = IDAReInit(d->solver, state->t, d->sun.y, d->sun.y_rate);
  return flag == IDA_SUCCESS ? IDASetInitStep(d->solver, first) : flag;
}

// True when the state carries a history, and nobody has moved q, v or more than rounding of t.
static bool has_history(const PawlStepper* s, const PawlState* state) {
  const double *memory = state->memory + 1, *x = pawl_ida_history_unknowns(memory);
  if (state->memory[0] != 1.0 ||
      !(fabs(pawl_ida_history_time(memory) - state->t) <= PAWL_SMALLEST_STEP * fabs(state->t))) {
    return false;
  }
  for (int i = 0; i < s->sizes.v; i++) {
    if (x[i] != state->q[i] || x[s->sizes.v + i] != state->v[i]) {
      return false;
    }
  }
  return true;
}

static int tell_roots(PawlIda* d) {
  int flag = IDARootInit(d->solver, d->sun.room, pawl_ida_roots);
  flag = flag == IDA_SUCCESS ? IDASetRootDirection(d->solver, d->sun.directions) : flag;
  flag = flag == IDA_SUCCESS ? IDASetNoInactiveRootWarn(d->solver) : flag;
  d->roots = flag == IDA_SUCCESS ? d->sun.room : d->roots;
  return flag;
}

// A solver that has never taken a step sets up its parts in the first; this one is thrown away.
static int use(PawlStepper* s, PawlIda* d, const PawlState* state, double h) {
  double t;
  int watched = d->sun.watched;
  d->sun.watched = 0;
  int flag = begin(s, d, state, h);
  if (flag == IDA_SUCCESS) {
    flag = IDASolve(d->solver, state->t + h, &t, d->sun.y, d->sun.y_rate, IDA_ONE_STEP);
  }
  d->sun.watched = watched;
  d->used = flag >= 0;
  return d->used ? IDA_SUCCESS : flag;
}

// Makes IDA ready at `state`: with its history, or from order 1.
static int prepare(PawlStepper* s, PawlIda* d, const PawlState* state, double h) {
  int flag = d->sun.room != d->roots ? tell_roots(d) : IDA_SUCCESS;
  if (flag == IDA_SUCCESS && !has_history(s, state)) {
    return begin(s, d, state, h);
  }
  flag = flag == IDA_SUCCESS && !d->used ? use(s, d, state, h) : flag;
  if (flag != IDA_SUCCESS) {
    return flag;
  }
  int answer = pawl_ida_history_load(d->solver, unknowns_of(s), state->memory + 1, state->t);
  (void)pawl_ida_pace(d->solver, state->t + h);
  return answer == 0 ? IDA_SUCCESS : IDA_RTFUNC_FAIL;
}

// Steps until `end`, or until a margin is zero at *t (IDA_ROOT_RETURN).
static int solve(PawlIda* d, double* t, double end) {
  for (int k = 0; k < PAWL_SUNDIALS_MOST_STEPS; k++) {
    int flag = IDASolve(d->solver, end, t, d->sun.y, d->sun.y_rate, IDA_ONE_STEP);
    d->used |= flag >= 0;
    if (flag != IDA_SUCCESS) {
      return flag;
    }
    if (pawl_ida_pace(d->solver, end)) {
      return IDAGetDky(d->solver, end, 0, d->sun.y);  // as the history has it, to the last bit
    }
    PawlStepper* s = d->sun.stepper;
    PawlIdaParts y = pawl_ida_parts(s, d->sun.y);
    if (s->works &&
        pawl_sundials_answer(&d->sun, pawl_works_piece(s, &d->sun.phase, *t, y.q, y.v, NULL, NULL,
                                                       &d->sun.inner)) != 0) {
      return IDA_RES_FAIL;
    }
  }
  return IDA_TOO_MUCH_WORK;
}

static PawlStatus go(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                     bool* stopped, PawlError* err) {
  PawlIda* d = s->data;
  double t = state->t, end = state->t + h;
  long iterations = 0;
  PAWL_TRY(pawl_sundials_begin(&d->sun, phase, state, stopped != NULL, err));
  if (pawl_sundials_tiny(state->t, h)) {
    return pawl_sundials_hop(&d->sun, state, h, stopped, err);
  }
  int flag = prepare(s, d, state, h);
  flag = flag == IDA_SUCCESS ? solve(d, &t, end) : flag;
  (void)IDAGetNumNonlinSolvIters(d->solver, &iterations);
  s->dynamics.info.newton_iterations += iterations;
  if (flag < 0) {
    return pawl_sundials_fail(&d->sun, "IDA", flaw_of(flag), t, err);
  }
  bool root = flag == IDA_ROOT_RETURN;
  PawlIdaParts y = pawl_ida_parts(s, d->sun.y);
  if (stopped) {
    *stopped = root;
  }
  PAWL_TRY(pawl_sundials_finish(&d->sun, state, root ? t : end, y.q, y.v, stopped, err));
  forget(s, state);
  if (pawl_ida_history_save(d->solver, unknowns_of(s), state->t, state->memory + 1)) {
    state->memory[0] = 1.0;
  }
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

#define ABOUT                                                                                    \
  "backward differentiation of orders 1 to 5 with its own steps; positions and velocities hold " \
  "(SUNDIALS)"

const PawlMethod pawl_method_ida = {
    .info = {INFO, .about = ABOUT},
    .memory_vectors = 2 * PAWL_IDA_DIFFERENCES,
    .memory_rows = 2 * PAWL_IDA_DIFFERENCES,
    .memory_numbers = 1 + PAWL_IDA_NUMBERS,
    .create = create,
    .destroy = destroy,
    .start = start,
    .forget = forget,
    .step = step,
    .exact = true,
    .low = true,
    .advance = advance,
};

#else

const PawlMethod pawl_method_ida = {
    .info = {INFO, .about = "backward differentiation formulas; not built in, needs SUNDIALS",
             .absent = true},
    .create = pawl_sundials_absent,
};

#endif
