// SPDX-License-Identifier: Apache-2.0
// The tables op.def and function.def as data. All columns of an entry are spelled here, so that one
// with a part missing does not compile.
#include "expr/op.h"

#include <stddef.h>

enum {
  PLAIN = PAWL_FACT_PLAIN,
  ODD = PAWL_FACT_ODD,
  EVEN = PAWL_FACT_EVEN,
  IDEMPOTENT = PAWL_FACT_IDEMPOTENT,
  COMMUTES = PAWL_FACT_COMMUTES,
  FOLDS = PAWL_FACT_FOLDS,
};

#define CALL(name) \
  { name, "\\left(", "\\right)" }
#define AROUND(open, close) \
  { NULL, open, close }

const PawlOpInfo pawl_op_info[PAWL_OP_COUNT] = {
#define PAWL_LEAF(name, text) {text, 0, PLAIN, PAWL_SMOOTH, 0, {NULL, NULL, NULL}, false},
#define PAWL_OPERATION(name, operands, text, facts, smoothness, cost) \
  {text, operands, facts, PAWL_##smoothness, cost, {NULL, NULL, NULL}, false},
#define PAWL_FUNCTION(name, word, operands, value, tangent, facts, smoothness, cost, latex, \
                      samples, check)                                                       \
  {word, operands, facts, PAWL_##smoothness, cost, latex, true},
#include "expr/op.def"
};
