// SPDX-License-Identifier: Apache-2.0
// What IDA has no function for. Its history as numbers in a state, the differences and coefficients
// of its formula: so a state carries all that its future depends on, and can be copied and
// restored. And steps of equal size up to a given time.
#pragma once

#include <stdbool.h>

enum {
  PAWL_IDA_DIFFERENCES = 6,  // vectors of unknowns
  PAWL_IDA_NUMBERS = 40,     // and these numbers before them
};

// Writes PAWL_IDA_NUMBERS + PAWL_IDA_DIFFERENCES * unknowns numbers; IDA must stand at time t.
// False, and nothing written, when it does not.
bool pawl_ida_history_save(void* solver, int unknowns, double t, double* memory);
// Puts IDA back to where it was, at time t. The next step begins with a new Jacobian. IDA must have
// been used before. Returns what a failing root function returned, else 0.
int pawl_ida_history_load(void* solver, int unknowns, const double* memory, double t);
// The time and the unknowns of what was saved.
double pawl_ida_history_time(const double* memory);
const double* pawl_ida_history_unknowns(const double* memory);

// Called between steps: cuts what is left until `end` into equal steps, none longer than the one
// that IDA would take next. True at the end.
bool pawl_ida_pace(void* solver, double end);
