// SPDX-License-Identifier: Apache-2.0
#include "system/scene.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "system/bundle.h"

typedef struct Number {
  PawlNode node;
  int place;
} Number;

struct PawlScene {
  const PawlModel* model;
  int number_count, number_capacity;
  Number* numbers;  // by ascending node, each once
  int channel_count, fixed_count;
  double *fixed, *parameters;
  PawlBundle* bundle;  // of the channels; NULL without any
};

// ---- which numbers there are --------------------------------------------------------------------
static bool note(PawlScene* s, PawlNode node) {
  if (node == PAWL_NO_NODE) {
    return true;
  }
  if (PAWL_GROW(s->numbers, s->number_capacity, s->number_count + 1) != 0) {
    return false;
  }
  s->numbers[s->number_count++] = (Number){node, 0};
  return true;
}

static bool note_shape(PawlScene* s, const PawlShape* shape) {
  bool good = note(s, shape->radius);
  for (int k = 0; k < shape->point_count; k++) {
    for (int i = 0; i < 3; i++) {
      good = good && note(s, shape->points[k][i]);
    }
  }
  return good;
}

static int compare(const void* a, const void* b) {
  const Number *x = a, *y = b;
  return (x->node > y->node) - (x->node < y->node);
}

static void sort(PawlScene* s) {
  int count = 0;
  if (s->number_count > 0) {
    qsort(s->numbers, (size_t)s->number_count, sizeof *s->numbers, compare);
  }
  for (int k = 0; k < s->number_count; k++) {
    if (count == 0 || s->numbers[k].node != s->numbers[count - 1].node) {
      s->numbers[count++] = s->numbers[k];
    }
  }
  s->number_count = count;
}

// ---- fixed ones and channels --------------------------------------------------------------------
static int moves(void* context, PawlOp leaf, int index) {
  (void)context;
  (void)index;
  return leaf != PAWL_OP_PARAM;
}

static PawlStatus place_numbers(PawlScene* s, PawlError* err) {
  PawlLeafValues at = {.param = s->parameters};
  for (int k = 0; k < s->number_count; k++) {
    Number* number = &s->numbers[k];
    int moving = pawl_dag_leaves(s->model->dag, number->node, moves, NULL);
    if (moving < 0) {
      return pawl_fail_memory(err);
    }
    if (moving) {
      number->place = s->channel_count++;
      continue;
    }
    number->place = -1 - s->fixed_count;
    if (pawl_dag_value(s->model->dag, number->node, &at, &s->fixed[s->fixed_count++], NULL) !=
        PAWL_OK) {
      return pawl_fail_memory(err);
    }
  }
  return PAWL_OK;
}

static PawlStatus make_bundle(PawlScene* s, PawlError* err) {
  if (s->channel_count == 0) {
    return PAWL_OK;
  }
  PawlNode* nodes = pawl_alloc((size_t)s->channel_count, sizeof *nodes);
  if (!nodes) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; k < s->number_count; k++) {
    if (s->numbers[k].place >= 0) {
      nodes[s->numbers[k].place] = s->numbers[k].node;
    }
  }
  PawlStatus status = pawl_bundle_create(s->model->dag, s->channel_count, nodes, &s->bundle, err);
  pawl_free(nodes);
  return status;
}

static PawlStatus fill(PawlScene* s, PawlError* err) {
  const PawlModel* model = s->model;
  bool good = true;
  for (int k = 0; good && k < model->shape_count; k++) {
    good = note_shape(s, &model->shapes[k]);
  }
  sort(s);
  s->fixed = pawl_alloc((size_t)s->number_count, sizeof(double));
  s->parameters = pawl_alloc((size_t)model->parameter_count, sizeof(double));
  if (!good || !s->fixed || !s->parameters) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; k < model->parameter_count; k++) {
    s->parameters[k] = model->parameters[k].value;
  }
  PAWL_TRY(place_numbers(s, err));
  return make_bundle(s, err);
}

PawlStatus pawl_scene_create(const PawlModel* model, PawlScene** out, PawlError* err) {
  *out = NULL;
  PAWL_TRY(pawl_model_read_scene(model, err));
  PawlScene* s = pawl_alloc(1, sizeof *s);
  if (!s) {
    return pawl_fail_memory(err);
  }
  s->model = model;
  PawlStatus status = fill(s, err);
  if (status != PAWL_OK) {
    pawl_scene_destroy(s);
    return status;
  }
  *out = s;
  return PAWL_OK;
}

void pawl_scene_destroy(PawlScene* s) {
  if (s) {
    pawl_bundle_destroy(s->bundle);
    pawl_free(s->numbers);
    pawl_free(s->fixed);
    pawl_free(s->parameters);
    pawl_free(s);
  }
}

// ---- reading it ---------------------------------------------------------------------------------
int pawl_scene_channels(const PawlScene* s) {
  return s->channel_count;
}

int pawl_scene_fixed(const PawlScene* s, const double** values) {
  *values = s->fixed;
  return s->fixed_count;
}

int pawl_scene_place(const PawlScene* s, PawlNode node) {
  Number wanted = {node, 0};
  const Number* found =
      bsearch(&wanted, s->numbers, (size_t)s->number_count, sizeof *s->numbers, compare);
  return found->place;
}

void pawl_scene_look(PawlScene* s, const PawlLeafValues* at, double* channels) {
  if (s->bundle) {
    PawlLeafValues own = *at;
    own.param = s->parameters;
    own.turning = s->model->turning;
    (void)pawl_bundle_run(s->bundle, &own, channels);
  }
}
