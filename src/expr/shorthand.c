// SPDX-License-Identifier: Apache-2.0
#include "expr/shorthand.h"

#include <string.h>

const PawlShorthand pawl_shorthand_info[PAWL_SHORTHANDS] = {
#define PAWL_SHORTHAND(name, word, operands, nodes, value, samples) {word, operands},
#include "expr/shorthand.def"
};

int pawl_shorthand_find(const char* word) {
  for (int k = 0; k < PAWL_SHORTHANDS; k++) {
    if (strcmp(pawl_shorthand_info[k].word, word) == 0) {
      return k;
    }
  }
  return -1;
}

static PawlNode two(PawlDag* d, PawlOp op, PawlNode a, PawlNode b) {
  return pawl_dag_apply(d, op, a, b, PAWL_NO_NODE);
}

// 3 s^2 - 2 s^3
static PawlNode cubic(PawlDag* d, PawlNode s) {
  PawlNode twice = pawl_dag_mul(d, pawl_dag_const(d, 2.0), s);
  PawlNode rest = pawl_dag_sub(d, pawl_dag_const(d, 3.0), twice);
  return pawl_dag_mul(d, pawl_dag_powi(d, s, 2), rest);
}

// Short names for the graph `d` under construction; all give PAWL_NO_NODE back.
#define NUM(x) pawl_dag_const(d, x)
#define SUB(x, y) pawl_dag_sub(d, x, y)
#define OVER(x, y) pawl_dag_div(d, x, y)
#define MIN(x, y) two(d, PAWL_OP_MIN, x, y)
#define MAX(x, y) two(d, PAWL_OP_MAX, x, y)
#define LE(x, y) two(d, PAWL_OP_LE, x, y)
#define LT(x, y) two(d, PAWL_OP_LT, x, y)
#define BOTH(x, y) two(d, PAWL_OP_AND, x, y)
#define CUBIC(s) cubic(d, s)
#define A args[0]
#define B args[1]
#define C args[2]

PawlNode pawl_shorthand_build(PawlDag* d, int shorthand, const PawlNode* args) {
  switch (shorthand) {
#define PAWL_SHORTHAND(name, word, operands, nodes, value, samples) \
  case PAWL_SHORTHAND_##name:                                       \
    return (nodes);
#include "expr/shorthand.def"
    default:
      return PAWL_NO_NODE;
  }
}
