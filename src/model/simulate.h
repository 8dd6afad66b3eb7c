// SPDX-License-Identifier: Apache-2.0
// The table of the options of a simulation.
#pragma once

#include "pawl/model.h"

typedef enum PawlOptionKind {
  PAWL_OPTION_WORD,
  PAWL_OPTION_REAL,
  PAWL_OPTION_POSITIVE,
  PAWL_OPTION_WHOLE
} PawlOptionKind;

typedef struct PawlSimulateOption {
  PawlOptionInfo info;
  PawlOptionKind kind;
  size_t offset;  // of the field in PawlSimulateDef
} PawlSimulateOption;

// NULL when there is none; `nearest` is then the most similar name or NULL.
const PawlSimulateOption* pawl_simulate_find(const char* name, const char** nearest);

// Sets the field of an option that is no word. False when the value is out of range, with the
// option, the value and the range in `why`.
bool pawl_simulate_set_number(PawlSimulateDef* def, const PawlSimulateOption* option, double value,
                              char* why, size_t size);
