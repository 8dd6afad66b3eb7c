// SPDX-License-Identifier: Apache-2.0
// When the values of a tape are read again, for code that keeps them in registers of the processor
// (tape_native.c).
#pragma once

#include "expr/tape_native.h"

enum { PAWL_TAPE_NEVER = 0x7FFFFFFF };  // no use

// Of one instruction, by the number of the instruction that reads next in the same function; the
// results at its end count as read by the one behind the last.
typedef struct PawlTapeUses {
  int next[3];    // a, b, c: their next use after this one
  int first[2];   // the results, dst and the second of SINCOS: their first use
  bool lasts[2];  // and whether they are read elsewhere, from memory
} PawlTapeUses;

// How many operands an instruction reads: a, b, c. The view of a table is a constant and not
// counted.
int pawl_tape_operands(const PawlInstruction* i);

typedef struct PawlTapeReaders {
  const PawlTape* tape;
  const PawlTapeEnds* ends;
  int* of;       // register -> the part that reads it; -1: none, -2: several, or one without a part
  bool* output;  // register -> it is an output of the tape
  int part, end;  // of the last pawl_tape_uses
  int* next;      // register -> the first use of what that function finds in it
  bool* written;  // register -> the function writes to it
} PawlTapeReaders;
// 0, or -1 when memory is short.
int pawl_tape_readers_create(PawlTapeReaders* readers, const PawlTape* tape,
                             const PawlTapeEnds* ends);
void pawl_tape_readers_free(PawlTapeReaders* readers);

// The uses of the instructions of a part (`uses` by instruction of the tape) in the function of
// stretch `end` of the results, or of the part alone (-1).
void pawl_tape_uses(PawlTapeReaders* readers, int part, int end, PawlTapeUses* uses);
// Whether others read what that function leaves in a register.
bool pawl_tape_lasts(const PawlTapeReaders* readers, int reg);
