// SPDX-License-Identifier: Apache-2.0
// A method, by the first byte, and the text of a model: a few steps, or a message. What takes
// longer than some milliseconds is stopped, so that much is tried.
#include <signal.h>
#include <sys/time.h>

#include "fuzz/fuzz.h"
#include "fuzz/mutate.h"

enum { MOST_COORDINATES = 8, MOST_ROWS = 12, STEPS = 20, MOST_MICROSECONDS = 20000 };

// ---- stopping -----------------------------------------------------------------------------------

static volatile int stop;

static void stop_it(int signal_number) {
  (void)signal_number;
  stop = 1;
}

// In processor time, so that a busy machine does not matter. libFuzzer has the clock of real time.
static void stop_after(int microseconds) {
  const struct itimerval timer = {.it_value = {.tv_usec = microseconds}};
  stop = 0;
  NEED(signal(SIGVTALRM, stop_it) != SIG_ERR);
  NEED(setitimer(ITIMER_VIRTUAL, &timer, NULL) == 0);
}

// ---- running ------------------------------------------------------------------------------------

static void run(const PawlSystem* system, const PawlModel* model, int method) {
  PawlError err = {0};
  PawlSim* sim;
  PawlSimDef def = pawl_sim_def_default();
  int count = 0;
  def.simulate = pawl_model_simulate(model);
  while (pawl_method(count)) {
    count++;
  }
  if (method % (count + 1) < count) {  // or what the model says
    def.simulate.method = pawl_method(method % (count + 1))->name;
  }
  def.simulate.until = STEPS * def.simulate.step;
  def.project = method >= 128;
  def.stop = &stop;
  PawlStatus status = pawl_sim_create(system, &def, &sim, &err);
  NEED((status == PAWL_OK) == (sim != NULL));
  status = status ? status : pawl_sim_run(sim, NULL, NULL, &err);
  NEED(status <= PAWL_OK || status == PAWL_STOPPED);
  NEED(status >= PAWL_OK || err.message[0] != '\0');
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
    stop_after(MOST_MICROSECONDS);
    run(system, model, data[0]);
    stop_after(0);
  }
  pawl_system_destroy(system);
  pawl_model_destroy(model);
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  if (size < 1 || seed % 8 == 0) {
    data[0] = (uint8_t)(seed >> 8);
    return size > 0 ? size : 1;
  }
  return 1 + mutate_model(data + 1, size - 1, most - 1, seed);
}
