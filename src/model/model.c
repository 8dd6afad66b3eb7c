// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

void pawl_model_destroy(PawlModel* model) {
  if (!model) {
    return;
  }
  pawl_free(model->parameters);
  pawl_free(model->coordinates);
  pawl_free(model->rotations);
  pawl_free(model->states);
  pawl_free(model->inputs);
  pawl_free(model->sets);
  pawl_free(model->terms);
  pawl_free(model->recipes);
  pawl_free(model->places);
  pawl_free(model->constraints);
  pawl_free(model->contacts);
  pawl_free(model->events);
  pawl_free(model->impulses);
  pawl_free(model->outputs);
  pawl_free(model->shapes);
  pawl_loader_free(model->unread);
  pawl_dag_destroy(model->dag);
  for (int k = 0; k < model->tables.count; k++) {
    pawl_table_destroy(model->tables.item[k]);
  }
  pawl_free(model->tables.item);
  pawl_arena_free(&model->arena);
  pawl_free(model);
}

const char* pawl_model_name(const PawlModel* model) {
  return model->name;
}

const char* pawl_model_about(const PawlModel* model) {
  return model->about;
}

const char* pawl_model_warnings(const PawlModel* model) {
  return model->warnings;
}

const char* pawl_model_notes(const PawlModel* model) {
  return model->notes;
}

int pawl_model_parameter_count(const PawlModel* model) {
  return model->parameter_count;
}

const char* pawl_model_parameter_name(const PawlModel* model, int parameter) {
  return model->parameters[parameter].name;
}

double pawl_model_parameter_value(const PawlModel* model, int parameter) {
  return model->parameters[parameter].value;
}

static int find_parameter(const PawlModel* model, const char* name) {
  for (int k = 0; k < model->parameter_count; k++) {
    if (strcmp(model->parameters[k].name, name) == 0) {
      return k;
    }
  }
  return -1;
}

static PawlStatus add_input(PawlModel* model, PawlInputDef input, PawlError* err) {
  PawlInputDef* inputs = pawl_alloc((size_t)model->input_count + 1, sizeof *inputs);
  if (!inputs) {
    return pawl_fail_memory(err);
  }
  if (model->input_count > 0) {
    memcpy(inputs, model->inputs, (size_t)model->input_count * sizeof *inputs);
  }
  inputs[model->input_count++] = input;
  pawl_free(model->inputs);
  model->inputs = inputs;
  return PAWL_OK;
}

PawlStatus pawl_model_free_parameter(PawlModel* model, const char* name, PawlError* err) {
  int k = find_parameter(model, name);
  if (k < 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "'%.100s' is not a parameter of '%s'", name,
                     model->name);
  }
  PawlParameter* p = &model->parameters[k];
  if (p->number_line > 0) {
    return pawl_fail(err, PAWL_ERROR_MODEL,
                     "%s:%d: the parameter '%s' cannot change: here only its number counts",
                     model->file, p->number_line, p->name);
  }
  if (p->input == 0) {
    PAWL_TRY(
        add_input(model, (PawlInputDef){p->name, p->unit, p->value, PAWL_INPUT_PARAMETER}, err));
    p->input = model->input_count;
  }
  return PAWL_OK;
}

int pawl_model_coordinate_count(const PawlModel* model) {
  return model->coordinate_count;
}

const char* pawl_model_coordinate_name(const PawlModel* model, int coordinate) {
  return model->coordinates[coordinate].name;
}

int pawl_model_constraint_count(const PawlModel* model) {
  return model->constraint_count;
}

const char* pawl_model_constraint_name(const PawlModel* model, int constraint) {
  return model->constraints[constraint].name;
}

PawlSimulateDef pawl_model_simulate(const PawlModel* model) {
  return model->simulate;
}
