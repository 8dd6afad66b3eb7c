// SPDX-License-Identifier: Apache-2.0
// Machine code for the single lane of a tape, where there is any.
#pragma once

#include "expr/tape.h"

// What becomes of a register at the end.
typedef struct PawlTapeTarget {
  int reg;
  bool assigns;  // else the value is added
  double* place;
  int array, index;  // the same place among the arrays that compiled C is given
} PawlTapeTarget;
// Stretches of targets: those without a gate, then those of each gate.
typedef struct PawlTapeEnds {
  int count;
  const int* start;  // stretch k has targets start[k] .. start[k + 1] - 1
  const PawlTapeTarget* targets;
  PawlTapeAdd** adds;  // the code of each gate; NULL without
} PawlTapeEnds;

// Gives the parts of a tape, and with `ends` (NULL: none) the whole of it, code of their own, which
// gives the same bits as the interpreter. Where that cannot be done (another processor,
// memory that may not be executed) the tape stays as it is. 0, or -1 when memory is short.
int pawl_tape_compile(PawlTape* tape, const PawlTapeEnds* ends);
void pawl_tape_discard(PawlTape* tape);  // the code; pawl_tape_destroy does so, too

// What does one instruction with this operation, for code to call.
typedef void PawlTapeRun(const PawlInstruction* instruction, double* registers);
PawlTapeRun* pawl_tape_runner(PawlTapeOp op);
void pawl_tape_sincos(double x, double* s, double* c);
// How many instructions from `at` on, at most four and before `end`, are sines and cosines of what
// is known there, so that they can be computed at once.
int pawl_tape_sines_at_once(const PawlTape* tape, int at, int end);
static inline bool pawl_tape_is_sine(PawlTapeOp op) {
  return op == PAWL_TAPE_SIN || op == PAWL_TAPE_COS || op == PAWL_TAPE_SINCOS;
}
