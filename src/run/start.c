// SPDX-License-Identifier: Apache-2.0
#include "run/start.h"

PawlStatus pawl_started_create(const PawlSystem* system, PawlStarted* start, PawlError* err) {
  PawlSimulateDef def = pawl_simulate_def_default();
  *start = (PawlStarted){NULL, NULL};
  def.method = "nsga-pva";  // begins every model, but for friction that hangs on multipliers
  PawlStatus status = pawl_stepper_create(system, &def, &start->stepper, err);
  if (status != PAWL_OK && status != PAWL_ERROR_MEMORY) {
    def.method = "event-driven";
    status = pawl_stepper_create(system, &def, &start->stepper, err);
  }
  PAWL_TRY(status);
  PAWL_TRY(pawl_state_create(start->stepper, &start->state, err));
  return pawl_stepper_start(start->stepper, start->state, true, err);
}

void pawl_started_destroy(PawlStarted* start) {
  pawl_state_destroy(start->state);
  pawl_stepper_destroy(start->stepper);
}
