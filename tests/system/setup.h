// SPDX-License-Identifier: Apache-2.0
// What the tests of the system share: a model from text or file, its system, evaluations of all
// quantities as dense matrices, and points to evaluate at.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "expr/random_tree.h"
#include "model/model.h"
#include "pawl/system.h"
#include "system/system.h"

typedef struct Setup {
  PawlModel* model;
  PawlSystem* system;
  PawlEval* eval;  // PAWL_EVERYTHING
  PawlSizes n;
} Setup;

static inline PawlModel* model_of(const char* text) {
  PawlModel* model = NULL;
  PawlError err = {0};
  if (pawl_model_parse(text, strlen(text), "test.yaml", 0, NULL, &model, &err) != PAWL_OK) {
    print_error("%s\n%s\n", err.message, text);
    fail();
  }
  return model;
}

// Takes over the model.
static inline Setup setup_model(PawlModel* model) {
  Setup s = {.model = model};
  PawlError err = {0};
  if (pawl_system_create(model, &s.system, &err) != PAWL_OK ||
      pawl_eval_create(s.system, PAWL_EVERYTHING, &s.eval, &err) != PAWL_OK) {
    print_error("%s\n", err.message);
    fail();
  }
  s.n = pawl_system_sizes(s.system);
  return s;
}

static inline Setup setup_text(const char* text) {
  return setup_model(model_of(text));
}

static inline void setup_free(Setup* s) {
  pawl_eval_destroy(s->eval);
  pawl_system_destroy(s->system);
  pawl_model_destroy(s->model);
  *s = (Setup){0};
}

// Numbers for every leaf; arrays of the test's own, so that a test can move one of them.
typedef struct Place {
  double t;
  double *q, *v, *a, *lambda;
  int* modes;  // NULL: the first of each constraint
} Place;

static inline double* numbers(int count) {
  double* x = calloc((size_t)count + 1, sizeof(double));
  assert_non_null(x);
  return x;
}

// A mode of each constraint by lot, and the turn of each kink at the place.
static inline void random_modes(const PawlSystem* system, Place* p, Random* r) {
  const PawlModel* model = system->model;
  p->modes = calloc((size_t)system->sizes.modes + 1, sizeof(int));
  assert_non_null(p->modes);
  for (int c = 0; c < system->constraint_count; c++) {
    int count = model->constraints[c].mode_count;
    p->modes[c] = count > 1 ? random_below(r, count) : 0;
  }
  PawlEval* eval;
  assert_int_equal(pawl_eval_create(system, PAWL_SWITCHING, &eval, NULL), PAWL_OK);
  PawlPoint point = {p->t, p->q, p->v, p->a, p->lambda, p->modes, NULL};
  for (int k = 0; k < system->turn_count; k++) {
    assert_int_equal(pawl_eval_run(eval, &point, NULL), PAWL_OK);
    double z = pawl_eval_values(eval)->z[system->guard_count + k];
    p->modes[system->constraint_count + k] = system->turns[k].counts ? (int)floor(z)
                                             : z > 0.0               ? 1
                                                                     : -1;
  }
  pawl_eval_destroy(eval);
}

// Around the start of the model: q within 0.4, rates, accelerations, multipliers within 1.
static inline Place random_place(const PawlSystem* system, Random* r) {
  PawlSizes n = pawl_system_sizes(system);
  Place p = {
      random_between(r, 0.1, 1.5), numbers(n.q), numbers(n.v), numbers(n.v), numbers(n.rows), NULL};
  pawl_system_start(system, p.q, p.v);
  for (int k = 0; k < n.q; k++) {
    p.q[k] += random_between(r, -0.4, 0.4);
  }
  for (int k = 0; k < n.v; k++) {
    p.v[k] = random_between(r, -1.0, 1.0);
    p.a[k] = random_between(r, -1.0, 1.0);
  }
  for (int k = 0; k < n.rows; k++) {
    p.lambda[k] = random_between(r, -1.0, 1.0);
  }
  if (system->model) {
    random_modes(system, &p, r);
  }
  return p;
}

static inline void place_free(Place* p) {
  free(p->q);
  free(p->v);
  free(p->a);
  free(p->lambda);
  free(p->modes);
}

static inline PawlPoint point_of(const Place* p) {
  return (PawlPoint){p->t, p->q, p->v, p->a, p->lambda, p->modes, NULL};
}

static inline const PawlValues* run_at(PawlEval* eval, const Place* p) {
  PawlPoint point = point_of(p);
  PawlError err = {0};
  if (pawl_eval_run(eval, &point, &err) != PAWL_OK) {
    print_error("%s\n", err.message);
    fail();
  }
  return pawl_eval_values(eval);
}

// Dense by rows, 0 outside the pattern; rows-by-cols numbers.
static inline void to_dense(PawlPattern p, const double* values, double* dense) {
  memset(dense, 0, (size_t)(p.rows * p.cols) * sizeof(double));
  for (int col = 0; col < p.cols; col++) {
    for (int k = p.start[col]; k < p.start[col + 1]; k++) {
      dense[p.index[k] * p.cols + col] = values[k];
    }
  }
}
