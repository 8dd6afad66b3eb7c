// SPDX-License-Identifier: Apache-2.0
// The first program that a user of the library writes: a model from text, and its size.
#include <pawl/pawl.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  const char* text =
      "model: bead\n"
      "coordinates: {x: {start: 1}, y: {start: 0}}\n"
      "mass: {x: 0.5, y: 0.5}\n"
      "constraints: {hoop: 'x^2 + y^2 = 1'}\n";
  PawlModel* model = NULL;
  PawlSystem* system = NULL;
  PawlError err;
  if (pawl_model_parse(text, strlen(text), "bead", 0, NULL, &model, &err) != PAWL_OK ||
      pawl_system_create(model, &system, &err) != PAWL_OK) {
    fprintf(stderr, "%s\n", err.message);
    pawl_model_destroy(model);
    return 1;
  }
  PawlSizes sizes = pawl_system_sizes(system);
  printf("pawl %s: %d coordinates, %d rows\n", pawl_version(), sizes.q, sizes.rows);
  pawl_system_destroy(system);
  pawl_model_destroy(model);
  return 0;
}
