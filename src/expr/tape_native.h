// SPDX-License-Identifier: Apache-2.0
// Machine code for the single lane of a tape, where there is any.
#pragma once

#include "expr/tape.h"

// Gives the parts of a tape code of their own, which gives the same bits as the interpreter. Where
// that cannot be done (another processor, memory that may not be executed, a tape that is short)
// the tape stays as it is. 0, or -1 when memory is short.
int pawl_tape_compile(PawlTape* tape);
void pawl_tape_discard(PawlTape* tape);  // the code; pawl_tape_destroy does so, too

// One instruction, interpreted.
void pawl_tape_run_instruction(const PawlInstruction* instruction, double* registers);
