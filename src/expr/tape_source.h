// SPDX-License-Identifier: Apache-2.0
// Tapes as C for a compiler that is at hand: the same operations in the same order as in the
// interpreter, so the bits are the same, but in registers of the processor, and over lanes as
// vector code. Numbers of the model are not in the text, which other values of the same model
// share.
#pragma once

#include "base/text.h"
#include "expr/tape_native.h"

// What the functions of a module call; the text has the same lines.
typedef struct PawlTapeHost {
  double (*value)(int op, double a, double b);  // of PawlTapeOp, for those that have no line of C
  double (*powi)(double a, int n);
  void (*four)(double a, double b, double c, double d, double* y);  // pawl_sincos_four
  void (*sines)(int op, int n, const double* x, double* y,
                double* cosine);  // SIN to EXP over lanes
  double (*table)(double view, double a, double b, int arguments);
} PawlTapeHost;
extern const PawlTapeHost pawl_tape_host;

// The first lines of a module: operations, PawlTapeHost and the function pawl_begin(host). Behind
// them the texts of sized.h and elementary_core.h are expected, then the next.
void pawl_tape_source_head(PawlText* out);
void pawl_tape_source_elementary(PawlText* out);  // sine, cosine and exp of one lane

// How many functions a tape becomes: of a single lane the whole, one for each part, the results of
// each gate; of many lanes one for a block. They are called f0, f1, ...; those of a tape begin at
// `first`.
int pawl_tape_source_count(const PawlTape* tape, bool single);
// The functions; `ends` is of a single lane. 0, or -1 when memory is short.
int pawl_tape_source(PawlText* out, const PawlTape* tape, const PawlTapeEnds* ends, int first);
int pawl_tape_source_block(PawlText* out, const PawlTape* tape, int first);
// Numbers that begin anew in each run, before results are added to them.
typedef struct PawlTapeReset {
  const double* array;
  int count;
  int to, base;  // which of the arrays that functions are given it is, and which has what the
                 // numbers begin with; base -1: 0
} PawlTapeReset;

// The whole of a run with these gates open (-1: none) as one function f<number>: PawlTapeWhole. The
// same order of operations as that of its parts. 0, or -1 when memory is short.
int pawl_tape_source_phase(PawlText* out, const PawlTape* tape, const PawlTapeEnds* ends,
                           int open_count, const int* open, int reset_count,
                           const PawlTapeReset* resets, int number);
// How many instructions that are.
int pawl_tape_phase_length(const PawlTape* tape, int open_count, const int* open);
// Their names in a list of pointers, 0 for a part that runs with the whole or with its gate.
void pawl_tape_source_names(PawlText* out, const PawlTape* tape, bool single, int first);
