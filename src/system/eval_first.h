// SPDX-License-Identifier: Apache-2.0
// Large arrays of an evaluation without a reset. Results are added to what is constant of a place:
// the first that a run has for it is stored as the sum of both, and only those after it are added.
// Then arrays are neither copied nor read before. Every place gets the same addends in the same
// order.
#pragma once

#include "system/program.h"

typedef struct PawlSpot {  // a place that is reset by itself, since its first result may not be one
  double* at;
  double base;
} PawlSpot;

// Looks at the programs of an evaluation, in the order in which they run, for what they write to
// `array` of a quantity (`size` numbers, `base` their constant parts), and lets outputs assign. The
// places that are left are listed in `spots` (*count of them). *done is false, and nothing changed,
// where these are too many: all are to be reset.
PAWL_CHECKED PawlStatus pawl_eval_first(PawlProgram* programs, int program_count, PawlQuantity q,
                                        double* array, const double* base, int size,
                                        PawlArena* arena, PawlSpot** spots, int* count, bool* done,
                                        PawlError* err);
