// SPDX-License-Identifier: Apache-2.0
// The order of the code within the parts of a tape, for tape.c.
#pragma once

#include "expr/tape_parts.h"

// Sorts `order`, as pawl_tape_divide left it, within each part so that sines and cosines that do
// not wait for each other follow each other: machine code computes four at once. Returns 0, or -1
// when memory is short.
int pawl_tape_gather_sines(const PawlTape* tape, const PawlTapeGraph* graph, int* order,
                           const int* part);
