// SPDX-License-Identifier: Apache-2.0
// ga-p, ga-v, ga-a: the generalized-alpha method with the constraints at position, velocity or
// acceleration level (index 3, 2, 1; docs/theory/ga-p.md, docs/theory/generalized-alpha.md), and
// two variants of ga-v for constraints that switch: with the force directions between the gradients
// before and after, and the same with fully implicit coefficients.
#include "step/ga.h"
#include "step/ga_loops.h"

static PawlStatus create_level(PawlStepper* s, PawlLevel level, PawlError* err) {
  PawlGa* ga = PAWL_NEW(&s->arena, PawlGa, 1);
  s->data = ga;
  if (!ga) {
    return pawl_fail_memory(err);
  }
  ga->sizes_late = s->sizes.rows == 0;  // no row is measured by them
  ga->baumgarte = level == PAWL_LEVEL_ACCELERATION ? s->def.baumgarte : 0.0;
  ga->baumgarte_position = ga->baumgarte > 0.0 && s->def.baumgarte_position > 0.0
                               ? s->def.baumgarte_position
                               : ga->baumgarte;
  unsigned more = ga->baumgarte > 0.0 ? PAWL_POSITION | PAWL_TIME_GRADIENT : 0u;
  PAWL_TRY(pawl_ga_create(s, level, more, ga, err));
  ga->slim = level == PAWL_LEVEL_POSITION && ga->lumped && s->sizes.rows > 0 &&
             s->sizes.v >= PAWL_GA_LARGE && pawl_ga_adds_up(s) && !s->dynamics.linear;
  return pawl_ga_join_first(s, ga, more, err);
}

static PawlStatus create_p(PawlStepper* s, PawlError* err) {
  return create_level(s, PAWL_LEVEL_POSITION, err);
}

static PawlStatus create_v(PawlStepper* s, PawlError* err) {
  return create_level(s, PAWL_LEVEL_VELOCITY, err);
}

static PawlStatus create_v_between(PawlStepper* s, PawlError* err) {
  PAWL_TRY(create_v(s, err));
  ((PawlGa*)s->data)->between = true;
  return PAWL_OK;
}

static PawlStatus create_v_implicit(PawlStepper* s, PawlError* err) {
  PAWL_TRY(create_v_between(s, err));
  pawl_ga_implicit(s->data);
  return PAWL_OK;
}

static PawlStatus create_a(PawlStepper* s, PawlError* err) {
  return create_level(s, PAWL_LEVEL_ACCELERATION, err);
}

static void destroy(PawlStepper* s) {
  pawl_ga_destroy(s->data);
}

static PawlStatus start(PawlStepper* s, const PawlPhase* phase, PawlState* state, PawlError* err) {
  (void)phase;
  (void)err;
  pawl_ga_start(s, state);
  return PAWL_OK;
}

static PawlStatus step(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                       PawlError* err) {
  PAWL_TRY(pawl_ga_predict(s, s->data, phase, state, h, err));
  PAWL_TRY(pawl_ga_iterate(s, s->data, phase, state, err));
  pawl_ga_accept(s, s->data, state, false);
  return PAWL_OK;
}

#define GA_METHOD(symbol, make, ...)                                                 \
  const PawlMethod symbol = {.info = {.regions = true, .smooth = true, __VA_ARGS__}, \
                             .memory_vectors = 2,                                    \
                             .memory_rows = 1,                                       \
                             .memory_numbers = 1,                                    \
                             .bends = true,                                          \
                             .create = make,                                         \
                             .destroy = destroy,                                     \
                             .start = start,                                         \
                             .step = step,                                           \
                             .turns = true,                                          \
                             .forget = pawl_ga_forget}
#define NEWTON "tolerance iterations newton"
#define OPTIONS "rho coefficients start_acceleration " NEWTON

GA_METHOD(pawl_method_ga_p, create_p, .name = "ga-p", .apart = true, .order = 2,
          .holds = "position",
          .about = "generalized-alpha, constraints at position level (index 3)", .options = OPTIONS,
          .laws = PAWL_LAWS_POST);
GA_METHOD(pawl_method_ga_v, create_v, .name = "ga-v", .apart = true, .order = 2,
          .holds = "velocity",
          .about = "generalized-alpha, constraints at velocity level (index 2)", .options = OPTIONS,
          .laws = PAWL_LAWS_POST);
GA_METHOD(pawl_method_ga_v_mid, create_v_between, .name = "ga-v-between", .apart = true, .order = 2,
          .holds = "velocity", .options = OPTIONS, .laws = PAWL_LAWS_DIRECTIONS,
          .about = "ga-v with the force directions of the impact law in a step with a switch");
GA_METHOD(pawl_method_ga_v_implicit, create_v_implicit, .name = "ga-v-implicit", .apart = true,
          .order = 1, .holds = "velocity", .options = NEWTON, .laws = PAWL_LAWS_ALL,
          .about = "ga-v-between with fully implicit coefficients (order 1)");
GA_METHOD(pawl_method_ga_a, create_a, .name = "ga-a", .order = 2, .holds = "acceleration",
          .about = "generalized-alpha, constraints at acceleration level (index 1)",
          .options = OPTIONS " baumgarte baumgarte_position", .laws = PAWL_LAWS_NO_JUMP);
