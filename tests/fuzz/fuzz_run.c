// SPDX-License-Identifier: Apache-2.0
// A method, by the first byte, and the text of a model: a few steps, or a message.
#include <math.h>

#include "fuzz/fuzz.h"

enum { MOST_COORDINATES = 24, MOST_ROWS = 24, STEPS = 5 };

static void run(const PawlSystem* system, const PawlModel* model, int method) {
  PawlError err = {0};
  PawlSim* sim;
  PawlSimDef def = pawl_sim_def_default();
  int count = 0;
  def.simulate = pawl_model_simulate(model);
  while (pawl_method(count)) {
    count++;
  }
  def.simulate.method = pawl_method(method % count)->name;
  def.simulate.until = STEPS * def.simulate.step;
  def.project = method >= 128;
  PawlStatus status = pawl_sim_create(system, &def, &sim, &err);
  NEED((status == PAWL_OK) == (sim != NULL));
  status = status ? status : pawl_sim_run(sim, NULL, NULL, &err);
  NEED(status <= PAWL_OK && (status == PAWL_OK || err.message[0] != '\0'));
  pawl_sim_destroy(sim);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  PawlError err = {0};
  PawlModel* model = NULL;
  PawlSystem* system = NULL;
  if (size < 1 || asks_for_much(data + 1, size - 1) ||
      pawl_model_parse((const char*)data + 1, size - 1, "m.yaml", 0, NULL, &model, &err) !=
          PAWL_OK) {
    return 0;
  }
  if (pawl_model_coordinate_count(model) <= MOST_COORDINATES &&
      pawl_model_constraint_count(model) <= MOST_ROWS &&
      pawl_system_create(model, &system, &err) == PAWL_OK &&
      pawl_system_sizes(system).rows <= MOST_ROWS) {
    run(system, model, data[0]);
  }
  pawl_system_destroy(system);
  pawl_model_destroy(model);
  return 0;
}
