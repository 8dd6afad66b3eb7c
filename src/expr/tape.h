// SPDX-License-Identifier: Apache-2.0
// A tape: the graph of a set of outputs flattened into a straight program over registers.
//
// Registers stand in this order: constants, inputs, temporaries. A register is one number, or a row
// of PAWL_TAPE_WIDTH lanes when the same program serves many instances of a term at once: the
// interpreter then runs each operation over a block of lanes, so that decoding is paid once per
// block and the inner loops vectorise. The program is plain data, so that it can also be printed as
// C.
//
// Outputs may stand behind gates, of which only a few are open at a time. The program then falls
// into parts: part 0 is what is always needed, another what one gate alone needs, or what a few
// gates share. Whoever runs it chooses the parts of the open gates; what is behind closed ones
// costs nothing.
#pragma once

#include <string.h>

#include "expr/dag.h"

#define PAWL_TAPE_WIDTH 64  // lanes in a block

// Operations of a tape: those of the graph, and fusions of two of them that save a decoding and are
// rounded exactly as the two.
typedef enum PawlTapeOp {
#define PAWL_OPERATION(name, ...) PAWL_TAPE_##name = PAWL_OP_##name,
#define PAWL_FUNCTION(name, ...) PAWL_TAPE_##name = PAWL_OP_##name,
#include "expr/op.def"
  PAWL_TAPE_MULADD,  // a*b + c
  PAWL_TAPE_MULSUB,  // a*b - c
  PAWL_TAPE_SUBMUL,  // c - a*b
  PAWL_TAPE_SQUARE,  // a*a
  PAWL_TAPE_SINCOS,  // dst = sin(a), b = second destination: cos(a)
} PawlTapeOp;

typedef struct PawlInstruction {
  PawlTapeOp op;
  int dst;      // register
  int a, b, c;  // registers; POWI: b is the exponent; tables: c holds the address of the view
} PawlInstruction;

typedef struct PawlTapeInput {
  PawlOp leaf;  // any leaf but CONST
  int index;
} PawlTapeInput;

typedef struct PawlTapePart {  // a stretch of the code
  int first, count;
  void (*code)(double* registers);  // the same as machine code; NULL: it is interpreted
} PawlTapePart;

// Machine code (tape_native.h). Whole: inputs other than turns from the arrays of their leaves,
// part 0, the results without a gate to their places. Add: those of a gate, after the part that it
// alone needs. 0 when all are finite, else NaN.
// `to`: the arrays that targets name.
typedef double PawlTapeWhole(double* registers, const double* const* from, double* const* to);
typedef double PawlTapeAdd(double* registers, double* const* to);
typedef void PawlTapeBlock(double* registers, int lanes);

typedef struct PawlTape {
  int constant_count, input_count, register_count, instruction_count, output_count;
  double* constants;
  PawlTapeInput* inputs;     // register constant_count + i holds input i
  int first_turn, end_turn;  // all turns among them are from first to before end
  PawlInstruction* code;
  int* outputs;  // register of each output; several outputs may share one
  int part_count;
  PawlTapePart* parts;  // at least part 0
  int gate_count;
  int*
      gate_start;  // gate g needs part 0 and gate_parts[gate_start[g] .. gate_start[g + 1] - 1], to
  int* gate_parts;  // be run in this order; a part that another open gate needs too runs once
  int* own_part;    // the part that gate g alone needs, run last; -1 without
  void* native;     // memory of the machine code, NULL without
  size_t native_bytes;
  PawlTapeWhole* whole;  // NULL without
  PawlTapeBlock* block;  // compiled C for blocks of lanes; NULL: they are interpreted
} PawlTape;

// Flattens `outputs` (nodes of `dag`). Common subexpressions are computed once.
PAWL_CHECKED PawlStatus pawl_tape_create(PawlDag* dag, int output_count, const PawlNode* outputs,
                                         PawlTape** out, PawlError* err);
// The same with outputs behind gates: gates[k] (0 .. gate_count - 1; -1: none) is that of output k.
// A gate counts as a name only: any number of them may be open in a run.
PAWL_CHECKED PawlStatus pawl_tape_create_gated(PawlDag* dag, int output_count,
                                               const PawlNode* outputs, int gate_count,
                                               const int* gates, PawlTape** out, PawlError* err);
void pawl_tape_destroy(PawlTape* tape);  // NULL is allowed

// Number of doubles the registers need for blocks of `width` lanes (1 or PAWL_TAPE_WIDTH).
size_t pawl_tape_room(const PawlTape* tape, int width);
// Writes the constants into fresh registers. Once, before the first run.
void pawl_tape_prepare(const PawlTape* tape, int width, double* registers);
// The view of a table whose address is in a register.
static inline const PawlTableView* pawl_tape_view(double held) {
  const PawlTableView* view;
  memcpy(&view, &held, sizeof view);
  return view;
}

// One lane, registers one number each; the caller has set the inputs. All parts, or one, or several
// that follow each other.
void pawl_tape_run_one(const PawlTape* tape, double* registers);
void pawl_tape_run_part(const PawlTape* tape, PawlTapePart part, double* registers);
// All parts for `lanes` (1..PAWL_TAPE_WIDTH) lanes, register r in registers[r * PAWL_TAPE_WIDTH
// ...]. Gives the same bits in every lane as pawl_tape_run_one.
void pawl_tape_run_block(const PawlTape* tape, double* registers, int lanes);
