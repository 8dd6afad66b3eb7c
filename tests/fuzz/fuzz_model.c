// SPDX-License-Identifier: Apache-2.0
// Any bytes as the text of a model: a model, or a message.
#include "fuzz/fuzz.h"
#include "fuzz/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  PawlError err = {0};
  PawlModel* model;
  if (asks_for_much(data, size)) {
    return -1;
  }
  PawlStatus status = pawl_model_parse((const char*)data, size, "m.yaml", 0, NULL, &model, &err);
  NEED((status == PAWL_OK) == (model != NULL));
  NEED(status == PAWL_OK || (status == PAWL_ERROR_MODEL && err.message[0] != '\0'));
  pawl_model_destroy(model);
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return seed % 2 ? LLVMFuzzerMutate(data, size, most) : mutate_model(data, size, most, seed / 2);
}
