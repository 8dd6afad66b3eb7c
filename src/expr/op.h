// SPDX-License-Identifier: Apache-2.0
// The operations of the expression graph and what is known of each. op.def and function.def are the
// tables; docs/architecture.md says how to add a function.
#pragma once

#include <stdbool.h>

typedef enum PawlOp {
#define PAWL_LEAF(name, ...) PAWL_OP_##name,
#define PAWL_OPERATION(name, ...) PAWL_OP_##name,
#define PAWL_FUNCTION(name, ...) PAWL_OP_##name,
#include "expr/op.def"
  PAWL_OP_COUNT
} PawlOp;

// The leaves alone, with the numbers of PawlOp: switch ((PawlLeaf)op) then has to name each of
// them.
typedef enum PawlLeaf {
#define PAWL_LEAF(name, ...) PAWL_LEAF_##name = PAWL_OP_##name,
#include "expr/op.def"
} PawlLeaf;

// What simplification, the graph and the parser may rely on; a set of bits.
typedef enum PawlOpFact {
  PAWL_FACT_PLAIN = 0,
  PAWL_FACT_ODD = 1,         // f(-x) = -f(x), to the last bit; one operand
  PAWL_FACT_EVEN = 2,        // f(-x) = f(x); one operand
  PAWL_FACT_IDEMPOTENT = 4,  // f(f(x)) = f(x) for one operand, f(x, x) = x for two
  PAWL_FACT_COMMUTES = 8,    // f(x, y) = f(y, x)
  PAWL_FACT_FOLDS = 16,      // may be written with more operands: f(x, y, z) is f(f(x, y), z)
} PawlOpFact;

typedef enum PawlSmoothness {
  PAWL_SMOOTH,
  PAWL_KINKS,  // continuous; the derivative is that of one side
  PAWL_JUMPS,  // and the derivative does not show it
} PawlSmoothness;

// f(a, b), where `name` can carry an exponent; or, without a name, what stands around the operands.
typedef struct PawlOpLatex {
  const char *name, *open, *close;
} PawlOpLatex;

typedef struct PawlOpInfo {
  const char* text;  // of a function: the word
  int operands;
  unsigned facts;
  PawlSmoothness smoothness;
  int cost;           // rough time in additions; of POWI, that of one multiplication
  PawlOpLatex latex;  // functions only
  bool is_function;
} PawlOpInfo;
extern const PawlOpInfo pawl_op_info[PAWL_OP_COUNT];

// Comparisons, and what joins them: true or false, 1 or 0.
static inline bool pawl_op_is_logical(PawlOp op) {
  return op >= PAWL_OP_LT && op <= PAWL_OP_NOT;
}

static inline int pawl_op_operands(PawlOp op) {
  return pawl_op_info[op].operands;
}
static inline const char* pawl_op_text(PawlOp op) {
  return pawl_op_info[op].text;
}
static inline bool pawl_op_has(PawlOp op, PawlOpFact fact) {
  return (pawl_op_info[op].facts & (unsigned)fact) != 0;
}
static inline bool pawl_op_is_leaf(PawlOp op) {
  return op <= PAWL_OP_TURN;
}
