// SPDX-License-Identifier: Apache-2.0
// Saved states and runs: the bytes as they are, and a good save with bytes changed and its checksum
// made right again, so that what lies behind the checksum is read, too. Nothing is stepped from
// there: who can make a right checksum can make any state.
#include "base/bytes.h"
#include "fuzz/fuzz.h"

static const char text[] =
    "model: both\n"
    "coordinates: {x: {start: 1}, y: {start: 0, rate: 1}, z: {start: 0.3}}\n"
    "mass: {x: 1, y: 1, z: 2}\n"
    "potential: 9.81*x + 15*(y - z)^2 + 5*z^2\n"
    "constraints: {rod: x + y = 1 + t}\n"
    "locks: {hold: {lock: z, when: z', direction: down, for: 0.05}}\n"
    "contacts: {floor: {gap: x, restitution: 0.5}}\n"
    "simulate: {method: nsga-pva, until: 0.1, step: 0.01}\n";

static PawlModel* model;
static PawlSystem* system_;
static PawlSim* sim;
static PawlSimDef def;
static PawlStepper* stepper;
static PawlState* state;
static void* saved;
static size_t saved_size;

static void set_up(void) {
  PawlError err = {0};
  def = pawl_sim_def_default();
  NEED(pawl_model_parse(text, sizeof text - 1, "m.yaml", 0, NULL, &model, &err) == PAWL_OK);
  NEED(pawl_system_create(model, &system_, &err) == PAWL_OK);
  def.simulate = pawl_model_simulate(model);
  NEED(pawl_sim_create(system_, &def, &sim, &err) == PAWL_OK);
  NEED(pawl_sim_step(sim, 5, &err) == PAWL_OK);
  NEED(pawl_sim_save(sim, &saved, &saved_size, &err) == PAWL_OK);
  NEED(pawl_stepper_create(system_, &def.simulate, &stepper, &err) == PAWL_OK);
  NEED(pawl_state_create(stepper, &state, &err) == PAWL_OK);
}

static void load_run(const void* bytes, size_t size) {
  PawlError err = {0};
  PawlSim* loaded;
  PawlStatus status = pawl_sim_load(system_, &def, bytes, size, &loaded, &err);
  NEED((status == PAWL_OK) == (loaded != NULL));
  NEED(status == PAWL_OK || (status == PAWL_ERROR_USAGE && err.message[0] != '\0'));
  pawl_sim_destroy(loaded);
}

static void load_state(const void* bytes, size_t size) {
  PawlError err = {0};
  PawlStatus status = pawl_state_load(stepper, state, bytes, size, &err);
  NEED(status == PAWL_OK || (status == PAWL_ERROR_USAGE && err.message[0] != '\0'));
}

// Each three bytes of the input: where (two) and what (one). Then the sum, which is the last field
// of the head.
static void load_changed(const uint8_t* data, size_t size) {
  enum { SUM_AT = 24, HEAD = 32 };
  unsigned char* bytes = malloc(saved_size);
  NEED(bytes);
  memcpy(bytes, saved, saved_size);
  for (size_t k = 0; k + 2 < size; k += 3) {
    size_t at = HEAD + ((size_t)data[k] << 8 | data[k + 1]) % (saved_size - HEAD);
    bytes[at] ^= data[k + 2];
  }
  uint64_t sum = pawl_hash(PAWL_HASH_START, bytes + HEAD, saved_size - HEAD);
  memcpy(bytes + SUM_AT, &sum, sizeof sum);
  load_run(bytes, saved_size);
  free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (!sim) {
    set_up();
  }
  load_run(data, size);
  load_state(data, size);
  load_changed(data, size);
  return 0;
}
