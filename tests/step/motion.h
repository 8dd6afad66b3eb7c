// SPDX-License-Identifier: Apache-2.0
// A model from text or file up to a state that is ready to step, for the tests of steppers and
// runs; and the observed order of a method under halving of the step.
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "pawl/pawl.h"

enum { MOTION_MOST = 64 };  // coordinates of the models whose errors are measured

typedef struct Motion {
  PawlModel* model;
  PawlSystem* system;
  PawlSimulateDef def;
  PawlStepper* stepper;
  PawlState* state;
  PawlSizes n;
  PawlError err;
} Motion;

static inline void need(PawlStatus status, const PawlError* err, const char* file, int line) {
  if (status != PAWL_OK) {
    print_error("status %d: %s\n", (int)status, err->message);
    _fail(file, line);
  }
}
// The call must succeed; its message is shown when it does not.
#define NEED(call, err) need((call), (err), __FILE__, __LINE__)

static inline void motion_derive(Motion* m) {
  NEED(pawl_system_create(m->model, &m->system, &m->err), &m->err);
  m->n = pawl_system_sizes(m->system);
  m->def = pawl_model_simulate(m->model);
}

static inline Motion motion_text(const char* text) {
  Motion m = {0};
  NEED(pawl_model_parse(text, strlen(text), "test", 0, NULL, &m.model, &m.err), &m.err);
  motion_derive(&m);
  return m;
}

// models/<name>.yaml with one parameter set from outside, or NULL.
static inline Motion motion_file(const char* name, const char* override) {
  Motion m = {0};
  char path[512];
  const char* overrides[1] = {override};
  snprintf(path, sizeof path, "%s/%s.yaml", PAWL_MODELS, name);
  NEED(pawl_model_load(path, override ? 1 : 0, overrides, &m.model, &m.err), &m.err);
  motion_derive(&m);
  return m;
}

static inline void motion_stepper(Motion* m, const char* method) {
  pawl_state_destroy(m->state);
  pawl_stepper_destroy(m->stepper);
  m->def.method = method;
  NEED(pawl_stepper_create(m->system, &m->def, &m->stepper, &m->err), &m->err);
  NEED(pawl_state_create(m->stepper, &m->state, &m->err), &m->err);
}

// Whether this method can simulate the model.
static inline bool motion_can(Motion* m, const char* method) {
  PawlStepper* stepper;
  m->def.method = method;
  PawlStatus status = pawl_stepper_create(m->system, &m->def, &stepper, &m->err);
  pawl_stepper_destroy(stepper);
  return status == PAWL_OK;
}

// A new stepper of this method and a state at the model's start, ready for the first step.
static inline void motion_start(Motion* m, const char* method) {
  motion_stepper(m, method);
  NEED(pawl_stepper_start(m->stepper, m->state, false, &m->err), &m->err);
}

static inline void motion_step(Motion* m, double h) {
  NEED(pawl_stepper_step(m->stepper, m->state, h, &m->err), &m->err);
}

static inline void motion_end(Motion* m) {
  pawl_state_destroy(m->state);
  pawl_stepper_destroy(m->stepper);
  pawl_system_destroy(m->system);
  pawl_model_destroy(m->model);
}

static inline double largest_of(int n, const double* x) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

// Runs to `until` in `steps` equal steps; `*position` (may be NULL) is the largest |g| of the way.
static inline void motion_run(Motion* m, const char* method, double until, int steps,
                              double* position) {
  PawlEval* eval = NULL;
  motion_start(m, method);
  NEED(pawl_eval_create(m->system, PAWL_POSITION, &eval, &m->err), &m->err);
  double h = until / steps, most = 0.0;
  for (int k = 0; k < steps; k++) {
    motion_step(m, h);
    PawlPoint point = {m->state->t,      m->state->q,     m->state->v,   m->state->a,
                       m->state->lambda, m->state->modes, m->state->held};
    NEED(pawl_eval_run(eval, &point, &m->err), &m->err);
    most = fmax(most, largest_of(m->n.rows, pawl_eval_values(eval)->g));
  }
  pawl_eval_destroy(eval);
  if (position) {
    *position = most;
  }
}

// What a motion ought to be at some times; q and v of each as one list.
typedef struct Reference {
  double t;
  double q[4], v[4];
} Reference;

typedef struct Errors {
  double q, v;
} Errors;

static inline Errors error_at(const Motion* m, const Reference* r) {
  Errors e = {0};
  for (int i = 0; i < m->n.q; i++) {
    e.q = fmax(e.q, fabs(m->state->q[i] - r->q[i]));
    e.v = fmax(e.v, fabs(m->state->v[i] - r->v[i]));
  }
  return e;
}

// The largest errors at the times of the references, which must be multiples of h.
static inline Errors errors_of(Motion* m, const char* method, double h, int count,
                               const Reference* references) {
  Errors most = {0};
  motion_start(m, method);
  long taken = 0;
  for (int k = 0; k < count; k++) {
    long steps = lround(references[k].t / h);
    for (; taken < steps; taken++) {
      motion_step(m, h);
    }
    Errors e = error_at(m, &references[k]);
    most = (Errors){fmax(most.q, e.q), fmax(most.v, e.v)};
  }
  return most;
}

// The observed order of q and of v, twice under halving from h: all four within `margin` of it.
static inline void check_order(Motion* m, const char* method, double order, double margin, double h,
                               int count, const Reference* references) {
  Errors coarse = errors_of(m, method, h, count, references);
  for (int halving = 0; halving < 2; halving++) {
    h *= 0.5;
    Errors fine = errors_of(m, method, h, count, references);
    CHECK_NEAR(log2(coarse.q / fine.q), order, margin);
    CHECK_NEAR(log2(coarse.v / fine.v), order, margin);
    coarse = fine;
  }
}

// ---- references ---------------------------------------------------------------------------------
// Kovanda and Hozman, Equations of motion of mechanical systems with switchable constraints, data
// (46): the masses free, starting from (47), closed form (48).
static inline Reference two_mass_free(double t) {
  double w = sqrt(5.0);
  return (Reference){t, {0.5 * cos(t), sin(w * t) / w}, {-0.5 * sin(t), cos(w * t)}};
}

// The same coupled, starting from (49), closed form (50).
static inline Reference two_mass_coupled(double t) {
  double w = sqrt(15.0 / 11.0), s = cos(w * t) / 3, rate = -w * sin(w * t) / 3;
  return (Reference){t, {s + 1.0 / 6, s - 1.0 / 3}, {rate, rate}};
}

// The pendulum of Bruels, Acary and Cardona, section 5, gravity along -y. By Jacobi's elliptic
// functions and by DOP853 (rtol 1e-13), which agree to about 1e-12.
static const Reference PENDULUM[] = {
    {0.1,
     {0.07633301315540056, 0.9970823792960225, 1.4943889899664184},
     {-9.509580791861913, 0.7280190391089338, 9.537407328947115}},
    {0.5,
     {0.8410940849696628, -0.54088884276628, 5.711691786695225},
     {5.8985472504146905, 9.172371123176653, 10.905285493129451}},
    {1.0,
     {-0.16990600794372768, -0.9854602723928682, 10.824839998058165},
     {11.105939152503552, -1.9148065515476795, 11.269798959562733}}};

// The planar 3R pendulum of Mueller, section 6, before its first joint locks; q1 from the
// horizontal, and from the downward vertical. By DOP853 with rtol 1e-13, good to 6e-11 and 2e-12.
static const Reference THREE_R_HORIZONTAL[] = {
    {0.4,
     {-0.3357244649274471, 1.482081427178322, 0.4102195723490185},
     {-3.8543421478866056, 2.3310305263185707, 1.7079183544972791}},
    {0.8,
     {-1.3076236786680582, 0.0913259905488054, 1.4152395171466818},
     {1.271742747049326, -7.874079405994608, -8.93362145003137}}};
static const Reference THREE_R_HANGING[] = {
    {0.4,
     {0.47802968620668485, 0.11342749218198935, 0.3799460787219405},
     {-0.42617590134937144, -0.9031038471040611, -2.675868383194091}},
    {0.8,
     {0.0826744326886986, -0.20336357675783023, -0.26909589195040745},
     {-1.9122426918527147, -0.3080797948505646, 1.6337513513663213}}};

// ---- bits of a state ----------------------------------------------------------------------------
// All that a state holds, as one list of numbers.
static inline int state_numbers(const Motion* m, double* out) {
  const PawlState* s = m->state;
  const struct {
    const double* x;
    int count;
  } parts[] = {{&s->t, 1},     {s->q, m->n.q},         {s->v, m->n.v},
               {s->a, m->n.v}, {s->lambda, m->n.rows}, {s->memory, s->memory_count}};
  int total = 0;
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    if (parts[k].count > 0) {
      memcpy(out + total, parts[k].x, (size_t)parts[k].count * sizeof(double));
    }
    total += parts[k].count;
  }
  out[total] = (double)s->step;
  return total + 1;
}
