// SPDX-License-Identifier: Apache-2.0
// Reading model texts in tests: what must load, what must fail and with which words.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "model/model.h"

// Loads a text that must be good. The caller destroys the model.
static inline PawlModel* read_model(const char* text) {
  PawlModel* model;
  PawlError err = {0};
  PawlStatus status = pawl_model_parse(text, strlen(text), "m.yaml", 0, NULL, &model, &err);
  if (status != PAWL_OK) {
    print_error("expected a model, got:\n%s\nfor:\n%s\n", err.message, text);
  }
  assert_int_equal(status, PAWL_OK);
  assert_non_null(model);
  return model;
}

// A text that must be refused with a message that contains every one of `parts` (ended by NULL).
static inline void check_refused_with(const char* text, int override_count,
                                      const char* const* overrides, const char* const* parts) {
  PawlModel* model;
  PawlError err = {0};
  PawlStatus status =
      pawl_model_parse(text, strlen(text), "m.yaml", override_count, overrides, &model, &err);
  bool good = status == PAWL_ERROR_MODEL && !model && err.status == status;
  for (; good && *parts; parts++) {
    good = strstr(err.message, *parts) != NULL;
    if (!good) {
      print_error("'%s' is not in the message\n", *parts);
    }
  }
  if (!good) {
    print_error("status %d, message:\n%s\nfor:\n%s\n", (int)status, err.message, text);
    pawl_model_destroy(model);
  }
  assert_true(good);
}
#define REFUSED(text, ...) \
  check_refused_with((text), 0, NULL, (const char* const[]){__VA_ARGS__, NULL})

static inline int line_count(const char* message) {
  int lines = *message != '\0';
  for (; *message; message++) {
    lines += *message == '\n';
  }
  return lines;
}

// The value of a node where coordinate k is 1 + k/10, its rate 2 + k/10, its acceleration
// 3 + k/10, multiplier k is 4 + k/10, and t is 5.
static inline double node_value(PawlModel* model, PawlNode node) {
  enum { MOST = 64 };
  double param[MOST], q[MOST], v[MOST], a[MOST], lambda[MOST], value;
  assert_true(model->parameter_count <= MOST && model->coordinate_count <= MOST);
  for (int k = 0; k < MOST; k++) {
    param[k] = k < model->parameter_count ? model->parameters[k].value : NAN;
    q[k] = 1 + k / 10.0;
    v[k] = 2 + k / 10.0;
    a[k] = 3 + k / 10.0;
    lambda[k] = 4 + k / 10.0;
  }
  PawlLeafValues leaves = {.t = 5, .param = param, .q = q, .v = v, .a = a, .lambda = lambda};
  assert_int_equal(pawl_dag_value(model->dag, node, &leaves, &value, NULL), PAWL_OK);
  return value;
}
