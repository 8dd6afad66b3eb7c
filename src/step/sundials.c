// SPDX-License-Identifier: Apache-2.0
// See sundials.h. SUNDIALS prints what goes wrong unless told otherwise; here every solver gets
// pawl_sundials_hear before its first use.
#include "step/sundials.h"

#ifdef PAWL_WITH_SUNDIALS

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "base/alloc.h"
#include "step/loop.h"
#include "switch/tolerances.h"
#include "system/system.h"

// SUNDIALS does not survive that memory runs out while it makes its objects. So what it will ask
// for at most is taken, and given back to it.
static PawlStatus probe(int unknowns, PawlError* err) {
  enum { MOST_VECTORS = 64, MATRICES = 2, OTHER_BYTES = 1 << 18 };
  size_t n = (size_t)unknowns;
  void* memory = pawl_alloc(n * (MOST_VECTORS + MATRICES * n) * sizeof(double) + OTHER_BYTES, 1);
  pawl_free(memory);
  return memory ? PAWL_OK : pawl_fail_memory(err);
}

static PawlStatus create_objects(PawlSundials* sun, int unknowns, PawlError* err) {
  PAWL_TRY(probe(unknowns, err));
  if (SUNContext_Create(NULL, &sun->context) != 0) {
    sun->context = NULL;
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_vectors_create(&sun->vectors, unknowns, sun->context, err));
  sun->y = pawl_vectors_new(&sun->vectors);
  sun->y_rate = pawl_vectors_new(&sun->vectors);
  sun->jacobian = SUNDenseMatrix(unknowns, unknowns, sun->context);
  if (!sun->y || !sun->y_rate || !sun->jacobian) {
    return pawl_fail_memory(err);
  }
  sun->solver = SUNLinSol_Dense(sun->y, sun->jacobian, sun->context);
  return sun->solver ? PAWL_OK : pawl_fail_memory(err);
}

PawlStatus pawl_sundials_create(PawlStepper* s, PawlSundials* sun, int unknowns, PawlError* err) {
  sun->stepper = s;
  sun->source = (PawlMargins){pawl_loop_count, pawl_loop_most, pawl_loop_margins};
  if (unknowns > PAWL_SUNDIALS_MOST) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "method %s solves full linear systems, of %d unknowns for '%s'; it takes at "
                     "most %d; try ga-p",
                     s->method->info.name, unknowns, pawl_system_name(s->system),
                     PAWL_SUNDIALS_MOST);
  }
  sun->a = PAWL_NEW(&s->arena, double, s->sizes.v);
  sun->lambda = PAWL_NEW(&s->arena, double, s->sizes.rows);
  if (!sun->a || !sun->lambda) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(create_objects(sun, unknowns, err));
  return pawl_stepper_eval(s, PAWL_MASS | PAWL_FORCE | PAWL_GRADIENT | PAWL_BIAS, &sun->eval, err);
}

void pawl_sundials_destroy(PawlSundials* sun) {
  pawl_eval_destroy(sun->eval);
  pawl_projection_destroy(&sun->onto);
  if (sun->solver) {
    SUNLinSolFree(sun->solver);
  }
  if (sun->jacobian) {
    SUNMatDestroy(sun->jacobian);
  }
  if (sun->y) {
    N_VDestroy(sun->y);
  }
  if (sun->y_rate) {
    N_VDestroy(sun->y_rate);
  }
  pawl_vectors_destroy(&sun->vectors);
  if (sun->context) {
    SUNContext_Free(&sun->context);
  }
}

void pawl_sundials_hear(int code, const char* module, const char* function, char* text,
                        void* data) {
  PawlSundials* sun = data;
  (void)code;
  (void)module;
  (void)function;
  snprintf(sun->reason, sizeof sun->reason, "%s", text);
}

static PawlStatus make_room(PawlSundials* sun, PawlError* err) {
  PawlArena* arena = &sun->stepper->arena;
  int most = sun->source.most(sun->stepper);
  if (most <= sun->room) {
    return PAWL_OK;
  }
  sun->margins = PAWL_NEW(arena, double, most);
  sun->directions = PAWL_NEW(arena, int, most);
  sun->positive = PAWL_NEW(arena, unsigned char, most);
  if (!sun->margins || !sun->directions || !sun->positive) {
    return pawl_fail_memory(err);
  }
  for (int i = 0; i < most; i++) {
    sun->directions[i] = -1;
  }
  sun->room = most;
  return PAWL_OK;
}

PawlStatus pawl_sundials_begin(PawlSundials* sun, const PawlPhase* phase, const PawlState* state,
                               bool watch, PawlError* err) {
  sun->phase = *phase;
  sun->state = state;
  sun->failed = sun->troubled = false;
  sun->reason[0] = '\0';
  sun->watched = 0;
  if (watch) {
    PAWL_TRY(make_room(sun, err));
    sun->watched = sun->source.count(sun->stepper);
  }
  if (sun->room > 0) {
    memset(sun->positive, 0, (size_t)sun->room);
  }
  return PAWL_OK;
}

int pawl_sundials_answer(PawlSundials* sun, PawlStatus status) {
  status = sun->vectors.starved ? pawl_fail_memory(&sun->inner) : status;
  sun->failed = status != PAWL_OK;
  sun->troubled |= sun->failed;
  sun->inner.status = status;
  return status == PAWL_OK ? 0 : status == PAWL_RETRY ? 1 : -1;
}

PawlPoint pawl_sundials_point(const PawlSundials* sun, double t, const double* q, const double* v,
                              const double* a, const double* lambda) {
  return pawl_phase_point(&sun->phase, t, q, v, a, lambda);
}

PawlStatus pawl_sundials_accelerate(PawlSundials* sun, double t, const double* q, const double* v,
                                    double* a, double* lambda, PawlError* err) {
  PawlPoint point = pawl_sundials_point(sun, t, q, v, NULL, NULL);
  sun->stepper->dynamics.info.evaluations++;
  PAWL_TRY(pawl_method_run(sun->stepper, &sun->phase, sun->eval, &point, err));
  return pawl_dynamics_accelerate(&sun->stepper->dynamics, &sun->phase, pawl_eval_values(sun->eval),
                                  t, q, v, a, lambda, err);
}

static PawlStatus look(PawlSundials* sun, double t, const double* q, const double* v,
                       PawlError* err) {
  PAWL_TRY(sun->source.margins(sun->stepper, t, q, v, sun->margins, err));
  for (int i = 0; i < sun->watched; i++) {
    sun->positive[i] |= sun->margins[i] > 0.0;
  }
  return PAWL_OK;
}

// SUNDIALS takes a zero at the start for a root that is to be left before it counts, and remembers
// that beyond a new beginning. So it never sees one: at the start zero is past, later it is not
// yet.
int pawl_sundials_margins(PawlSundials* sun, double t, const double* q, const double* v,
                          double* out) {
  if (sun->watched > 0) {
    int answer = pawl_sundials_answer(sun, look(sun, t, q, v, &sun->inner));
    if (answer != 0) {
      return answer;
    }
  }
  double zero = t > sun->state->t ? PAWL_NO_WEIGHT : -PAWL_NO_WEIGHT;
  for (int i = 0; i < sun->room; i++) {
    double margin = i < sun->watched ? sun->margins[i] : 1.0;
    out[i] = fabs(margin) < PAWL_NO_WEIGHT ? zero : margin;
  }
  return 0;
}

bool pawl_sundials_tiny(double t, double h) {
  return h <= PAWL_SUNDIALS_TINY * fabs(t);
}

// q + h v + h^2/2 v' and v + h v': with such an h what is left out is far below rounding.   (U7)
PawlStatus pawl_sundials_hop(PawlSundials* sun, PawlState* state, double h, bool* stopped,
                             PawlError* err) {
  const PawlSizes n = sun->stepper->sizes;
  double *q = N_VGetArrayPointer(sun->y), *v = q + n.q;
  if (sun->watched > 0) {
    PAWL_TRY(look(sun, state->t, state->q, state->v, err));
  }
  for (int i = 0; i < n.v; i++) {
    v[i] = h * (state->v[i] + 0.5 * h * state->a[i]);
  }
  pawl_system_retract(sun->stepper->system, state->q, v, q);
  for (int i = 0; i < n.v; i++) {
    v[i] = state->v[i] + h * state->a[i];
  }
  return pawl_sundials_finish(sun, state, state->t + h, q, v, stopped, err);
}

// v' and lambda at the end of a step, which is put on the constraints first. A root stays where
// SUNDIALS has found it: moved by an error of the method, its margin might be positive again.
static PawlStatus arrive(PawlSundials* sun, double t, double* q, double* v, bool root,
                         PawlError* err) {
  bool moved = false;
  PAWL_TRY(pawl_sundials_accelerate(sun, t, q, v, sun->a, sun->lambda, err));
  if (!root) {
    PAWL_TRY(pawl_projection_apply(sun->stepper, &sun->onto, &sun->phase, pawl_projection_by_kkt,
                                   NULL, t, q, v, &moved, err));
  }
  return moved ? pawl_sundials_accelerate(sun, t, q, v, sun->a, sun->lambda, err) : PAWL_OK;
}

PawlStatus pawl_sundials_finish(PawlSundials* sun, PawlState* state, double t, double* q, double* v,
                                bool* stopped, PawlError* err) {
  const PawlSizes n = sun->stepper->sizes;
  if (sun->vectors.starved) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(arrive(sun, t, q, v, stopped && *stopped, err));
  if (stopped && !*stopped && sun->watched > 0) {
    PAWL_TRY(look(sun, t, q, v, err));
    for (int i = 0; i < sun->watched; i++) {
      *stopped |= sun->positive[i] && !(sun->margins[i] > 0.0);
    }
  }
  state->t = t;
  memcpy(state->q, q, (size_t)n.q * sizeof(double));
  memcpy(state->v, v, (size_t)n.v * sizeof(double));
  memcpy(state->a, sun->a, (size_t)n.v * sizeof(double));
  memcpy(state->lambda, sun->lambda, (size_t)n.rows * sizeof(double));
  return PAWL_OK;
}

// Why a solver that tried hard gave up; in words of the problem, not of the solver.
static const char* words_of(PawlSundialsFlaw flaw) {
  switch (flaw) {
    case PAWL_FLAW_WORK:
      return "its steps become too many; the motion is too fast for the tolerances, or ends here";
    case PAWL_FLAW_ERROR:
      return "the error test fails however small the step; the motion is not smooth here, or the "
             "tolerances are too small";
    default:
      return "Newton's method does not converge however small the step; are the constraints "
             "dependent here, or the tolerances too small?";
  }
}

// Steps of these methods shrink as they come near what is singular; others leap over it.
static PawlStatus advise(PawlError* err) {
  PawlError told = err ? *err : (PawlError){0};
  bool leaps = strstr(told.message, "position is singular");  // and no mass is lost
  return leaps ? pawl_fail(err, PAWL_RETRY, "%s; method: dopri may pass it", told.message)
               : PAWL_RETRY;
}

PawlStatus pawl_sundials_fail(PawlSundials* sun, const char* solver, PawlSundialsFlaw flaw,
                              double t, PawlError* err) {
  const PawlSimulateDef* def = &sun->stepper->def;
  if (sun->vectors.starved || flaw == PAWL_FLAW_MEMORY) {
    return pawl_fail_memory(err);
  }
  if (sun->failed && sun->inner.status == PAWL_STOPPED) {
    return PAWL_STOPPED;
  }
  if (sun->failed && sun->inner.status < 0) {
    return pawl_fail(err, sun->inner.status, "%s", sun->inner.message);
  }
  if (flaw != PAWL_FLAW_ACCURACY &&
      pawl_dynamics_blame(&sun->stepper->dynamics, &sun->phase, sun->state->t, sun->state->q,
                          sun->state->v, err)) {
    return advise(err);
  }
  if (sun->failed) {
    return pawl_fail(err, PAWL_RETRY, "t = %.10g: %s cannot go on: %s", t, solver,
                     sun->inner.message);
  }
  if (flaw == PAWL_FLAW_ACCURACY) {
    return pawl_fail(err, PAWL_ERROR_RUN,
                     "t = %.10g: %s cannot hold rtol = %g, atol = %g: that is less than the "
                     "rounding of the numbers; ask for less accuracy",
                     t, solver, def->rtol, def->atol);
  }
  if (flaw == PAWL_FLAW_OTHER) {
    return pawl_fail(err, PAWL_ERROR_RUN, "t = %.10g: %s failed: %s", t, solver,
                     sun->reason[0] ? sun->reason : "it cannot take the next step");
  }
  return pawl_fail(err, PAWL_RETRY,
                   "t = %.10g: %s gave up on its way from t = %.10g (rtol = %g, atol = %g, at most "
                   "%d steps): %s%s%s",
                   t, solver, sun->state->t, def->rtol, def->atol, PAWL_SUNDIALS_MOST_STEPS,
                   words_of(flaw), sun->troubled ? "; meanwhile " : "",
                   sun->troubled ? sun->inner.message : "");
}

bool pawl_sundials_plain_rates(const PawlStepper* s) {
  return s->sizes.q == s->sizes.v && pawl_system_adds_up(s->system);
}

#else

PawlStatus pawl_sundials_absent(PawlStepper* s, PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_USAGE,
                   "method %s is not built in: this pawl was built without SUNDIALS; try ga-p, or "
                   "build with -DPAWL_SUNDIALS=ON",
                   s->method->info.name);
}

#endif
