// SPDX-License-Identifier: Apache-2.0
// The interpreter of tapes: one loop over instructions for a single lane, and one in which each
// operation runs over a block of lanes. Both take their formulas from tape_ops.def.
#include <math.h>

#include "base/targets.h"
#include "expr/elementary.h"
#include "expr/tape.h"
#include "expr/tape_native.h"

void pawl_tape_sincos(double x, double* s, double* c) {
  PawlSineCosine y = pawl_sincos(x);
  *s = y.sine;
  *c = y.cosine;
}

// A copy for each of its two callers: the smallest tapes feel a call.
#if defined(__GNUC__)
#define INLINED __attribute__((always_inline)) inline
#else
#define INLINED inline
#endif

static INLINED void run_code(const PawlInstruction* first, int count, double* r) {
  const PawlInstruction* end = first + count;
  for (const PawlInstruction* i = first; i < end; i++) {
    switch (i->op) {
#define A r[i->a]
#define B r[i->b]
#define C r[i->c]
#define TAPE_OP(operation, expression) \
  case operation:                      \
    r[i->dst] = (expression);          \
    break;
#include "expr/tape_ops.def"
#undef TAPE_OP
#undef A
#undef B
#undef C
      case PAWL_TAPE_POWI:
        r[i->dst] = pawl_powi(r[i->a], i->b);
        break;
      case PAWL_TAPE_SINCOS:
        pawl_tape_sincos(r[i->a], &r[i->dst], &r[i->b]);
        break;
    }
  }
}

void pawl_tape_run_one(const PawlTape* tape, double* registers) {
  if (tape->native) {
    for (int k = 0; k < tape->part_count; k++) {
      tape->parts[k].code(registers);
    }
    return;
  }
  run_code(tape->code, tape->instruction_count, registers);
}

void pawl_tape_run_part(const PawlTape* tape, PawlTapePart part, double* registers) {
  if (part.code) {
    part.code(registers);
    return;
  }
  run_code(tape->code + part.first, part.count, registers);
}

// ---- one instruction ----------------------------------------------------------------------------
#define A r[i->a]
#define B r[i->b]
#define C r[i->c]
#define TAPE_OP(operation, expression)                               \
  static void run_##operation(const PawlInstruction* i, double* r) { \
    r[i->dst] = (expression);                                        \
  }
#include "expr/tape_ops.def"
#undef TAPE_OP
#undef A
#undef B
#undef C

static void run_powi(const PawlInstruction* i, double* r) {
  r[i->dst] = pawl_powi(r[i->a], i->b);
}

static void run_sincos(const PawlInstruction* i, double* r) {
  pawl_tape_sincos(r[i->a], &r[i->dst], &r[i->b]);
}

PawlTapeRun* pawl_tape_runner(PawlTapeOp op) {
  switch (op) {
#define TAPE_OP(operation, expression) \
  case operation:                      \
    return run_##operation;
#include "expr/tape_ops.def"
#undef TAPE_OP
    case PAWL_TAPE_POWI:
      return run_powi;
    case PAWL_TAPE_SINCOS:
      break;
  }
  return run_sincos;
}

// ---- sines that do not wait for each other ------------------------------------------------------
static bool writes(const PawlInstruction* i, int reg) {
  return i->dst == reg || (i->op == PAWL_TAPE_SINCOS && i->b == reg);
}

int pawl_tape_sines_at_once(const PawlTape* tape, int at, int end) {
  int count = 0;
  for (; count < 4 && at + count < end && pawl_tape_is_sine(tape->code[at + count].op); count++) {
    for (int k = 0; k < count; k++) {
      if (writes(&tape->code[at + k], tape->code[at + count].a)) {
        return count;
      }
    }
  }
  return count;
}

// ---- many lanes ---------------------------------------------------------------------------------
// The functions that have loops of their own.
static bool has_loop(PawlTapeOp op) {
  return pawl_tape_is_sine(op) || op == PAWL_TAPE_EXP;
}

static void run_elementary(const PawlInstruction* i, double* registers, int lanes) {
  double* d = registers + (size_t)i->dst * PAWL_TAPE_WIDTH;
  const double* a = registers + (size_t)i->a * PAWL_TAPE_WIDTH;
  switch (i->op) {
    case PAWL_TAPE_SIN:
      pawl_sin_lanes(lanes, a, d);
      break;
    case PAWL_TAPE_COS:
      pawl_cos_lanes(lanes, a, d);
      break;
    case PAWL_TAPE_SINCOS:
      pawl_sincos_lanes(lanes, a, d, registers + (size_t)i->b * PAWL_TAPE_WIDTH);
      break;
    default:
      pawl_exp_lanes(lanes, a, d);
      break;
  }
}

PAWL_MANY_TARGETS
static void run_block(const PawlTape* tape, double* registers, int lanes) {
  const PawlInstruction* end = tape->code + tape->instruction_count;
  for (const PawlInstruction* i = tape->code; i < end; i++) {
    // The destination is never an operand (pawl_tape_create sees to it).
    double* restrict d = registers + (size_t)i->dst * PAWL_TAPE_WIDTH;
    const double* restrict a = registers + (size_t)i->a * PAWL_TAPE_WIDTH;
    const double* restrict b =
        registers + (size_t)(i->op == PAWL_TAPE_POWI ? 0 : i->b) * PAWL_TAPE_WIDTH;
    const double* restrict c = registers + (size_t)i->c * PAWL_TAPE_WIDTH;
    switch (i->op) {
#define A a[l]
#define B b[l]
#define C c[l]
#define TAPE_OP(operation, expression)     \
  case operation:                          \
    if (has_loop(operation)) {             \
      run_elementary(i, registers, lanes); \
      break;                               \
    }                                      \
    for (int l = 0; l < lanes; l++) {      \
      d[l] = (expression);                 \
    }                                      \
    break;
#include "expr/tape_ops.def"
#undef TAPE_OP
#undef A
#undef B
#undef C
      case PAWL_TAPE_POWI:
        for (int l = 0; l < lanes; l++) {
          d[l] = pawl_powi(a[l], i->b);
        }
        break;
      case PAWL_TAPE_SINCOS:
        run_elementary(i, registers, lanes);
        break;
    }
  }
}

void pawl_tape_run_block(const PawlTape* tape, double* registers, int lanes) {
  if (tape->block) {
    tape->block(registers, lanes);
  } else {
    run_block(tape, registers, lanes);
  }
}
