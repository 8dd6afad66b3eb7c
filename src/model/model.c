// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include "base/alloc.h"

void pawl_model_destroy(PawlModel* model) {
  if (!model) {
    return;
  }
  pawl_free(model->parameters);
  pawl_free(model->coordinates);
  pawl_free(model->states);
  pawl_free(model->inputs);
  pawl_free(model->sets);
  pawl_free(model->terms);
  pawl_free(model->constraints);
  pawl_free(model->contacts);
  pawl_free(model->events);
  pawl_free(model->impulses);
  pawl_free(model->outputs);
  pawl_free(model->shapes);
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

int pawl_model_parameter_count(const PawlModel* model) {
  return model->parameter_count;
}

const char* pawl_model_parameter_name(const PawlModel* model, int parameter) {
  return model->parameters[parameter].name;
}

double pawl_model_parameter_value(const PawlModel* model, int parameter) {
  return model->parameters[parameter].value;
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
