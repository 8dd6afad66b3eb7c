// SPDX-License-Identifier: Apache-2.0
// Steps of one model by all methods or some, and nothing around them, for counting instructions:
//
//   cmake --build build --target steps
//   build/bench/steps models/pendulum.yaml 400 [METHOD...]
//
// prints a line for each method that has begun: its name and the steps taken, 0 when one failed.
// With PAWL_NATIVE=on in the environment steps are compiled before they are taken.
// Everything counted is below take_counted_steps(); scripts/compare-steps runs it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pawl/pawl.h"

__attribute__((noinline)) PawlStatus take_counted_steps(PawlStepper* stepper, PawlState* state,
                                                        double h, long long count, PawlError* err);

PawlStatus take_counted_steps(PawlStepper* stepper, PawlState* state, double h, long long count,
                              PawlError* err) {
  PawlStatus status = PAWL_OK;
  for (long long k = 0; status == PAWL_OK && k < count; k++) {
    status = pawl_stepper_step(stepper, state, h, err);
  }
  return status;
}

static void run(const PawlSystem* system, PawlSimulateDef def, long long most) {
  PawlStepper* stepper = NULL;
  PawlState* state = NULL;
  PawlError err = {0};
  const char* native = getenv("PAWL_NATIVE");
  long long whole = (long long)ceil(def.until / def.step), count = whole < most ? whole : most;
  PawlStatus status = pawl_stepper_create(system, &def, &stepper, &err);
  status = status ? status : pawl_state_create(stepper, &state, &err);
  if (status == PAWL_OK) {
    pawl_system_start(system, state->q, state->v);
    state->t = 0.0;
    status = pawl_stepper_start(stepper, state, false, &err);
  }
  if (status == PAWL_OK && native && strcmp(native, "on") == 0) {
    status = pawl_system_compile(system, true, &err);
  }
  if (status == PAWL_OK) {
    status = take_counted_steps(stepper, state, def.step, count, &err);
    printf("%s %lld\n", def.method, status == PAWL_OK ? count : 0);
  }
  pawl_state_destroy(state);
  pawl_stepper_destroy(stepper);
}

static bool is_named(int count, char** names, const char* name) {
  bool named = count == 0;
  for (int k = 0; k < count; k++) {
    named |= strcmp(names[k], name) == 0;
  }
  return named;
}

int main(int argc, char** argv) {
  PawlError err = {0};
  PawlModel* model = NULL;
  PawlSystem* system = NULL;
  if (argc < 3) {
    fprintf(stderr, "usage: steps MODEL STEPS [METHOD...]\n");
    return 2;
  }
  PawlStatus status = pawl_model_load(argv[1], 0, NULL, &model, &err);
  status = status ? status : pawl_system_create(model, &system, &err);
  if (status != PAWL_OK) {
    fprintf(stderr, "%s\n", err.message);
    return 1;
  }
  for (int k = 0; pawl_method(k); k++) {
    PawlSimulateDef def = pawl_model_simulate(model);
    def.method = pawl_method(k)->name;
    if (is_named(argc - 3, argv + 3, def.method)) {
      run(system, def, atoll(argv[2]));
    }
  }
  pawl_system_destroy(system);
  pawl_model_destroy(model);
  return 0;
}
