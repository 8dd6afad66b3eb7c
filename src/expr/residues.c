// SPDX-License-Identifier: Apache-2.0
#include "expr/residues.h"

#include <math.h>

#include "base/alloc.h"

static const uint64_t P = 2147483647;  // 2^31 - 1: products of two residues fit into 64 bits

static uint64_t add(uint64_t a, uint64_t b) {
  return (a + b) % P;
}

static uint64_t negative(uint64_t a) {
  return (P - a) % P;
}

static uint64_t multiply(uint64_t a, uint64_t b) {
  return a * b % P;
}

static uint64_t power(uint64_t a, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent > 0; exponent /= 2) {
    result = exponent % 2 == 1 ? multiply(result, a) : result;
    a = multiply(a, a);
  }
  return result;
}

// 1/a by Fermat's little theorem; a is not zero.
static uint64_t inverse(uint64_t a) {
  return power(a, P - 2);
}

// A double is a whole number times a power of two, so it has a residue, and no rounding.
static uint64_t of_number(double x) {
  enum { DIGITS = 53 };
  int exponent;
  double mantissa = frexp(fabs(x), &exponent);
  uint64_t whole = (uint64_t)ldexp(mantissa, DIGITS) % P;
  exponent -= DIGITS;
  uint64_t two = exponent < 0 ? inverse(2) : 2;
  uint64_t r = multiply(whole, power(two, (uint64_t)(exponent < 0 ? -exponent : exponent)));
  return x < 0.0 ? negative(r) : r;
}

// A residue that looks random: of a leaf or an argument, another at each place (splitmix64).
static uint64_t random_residue(uint64_t kind, uint64_t index, int place) {
  uint64_t x = (kind << 56) + (index << 16) + (uint64_t)place;
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return (x ^ (x >> 31)) % P;
}

// Sine and cosine of an argument: 2 u/(1 + u^2) and (1 - u^2)/(1 + u^2). -1 is no square modulo P.
static uint64_t on_circle(PawlOp op, PawlNode argument, int place) {
  uint64_t u = random_residue(PAWL_OP_SIN, (uint64_t)argument, place), square = multiply(u, u);
  uint64_t top = op == PAWL_OP_SIN ? add(u, u) : add(1, negative(square));
  return multiply(top, inverse(add(1, square)));
}

static uint64_t of_node(const PawlDagNode* node, const uint64_t* r, int place, bool* known) {
  int operands = pawl_op_operands(node->op);
  uint64_t a = operands > 0 ? r[node->arg[0]] : 0, b = operands > 1 ? r[node->arg[1]] : 0;
  switch (node->op) {
    case PAWL_OP_CONST:
      *known = *known && isfinite(node->value);
      return *known ? of_number(node->value) : 0;
    case PAWL_OP_TIME:
    case PAWL_OP_Q:
    case PAWL_OP_QUAT:  // of any length: (O1) and (O2) ask for none
    case PAWL_OP_V:
      return random_residue(node->op, (uint64_t)node->index, place);
    case PAWL_OP_NEG:
      return negative(a);
    case PAWL_OP_ADD:
      return add(a, b);
    case PAWL_OP_SUB:
      return add(a, negative(b));
    case PAWL_OP_MUL:
      return multiply(a, b);
    case PAWL_OP_DIV:
      *known = *known && b != 0;
      return multiply(a, inverse(b));
    case PAWL_OP_POWI:
      *known = *known && (node->index >= 0 || a != 0);
      return node->index < 0 ? power(inverse(a), (uint64_t) - (int64_t)node->index)
                             : power(a, (uint64_t)node->index);
    case PAWL_OP_SIN:
    case PAWL_OP_COS:
      return on_circle(node->op, node->arg[0], place);
    default:
      *known = false;
      return 0;
  }
}

int pawl_residues(PawlDag* dag, int count, const PawlNode* nodes, int place, uint64_t* values,
                  bool* known) {
  const PawlNode* needed;
  int reached = pawl_dag_reach(dag, count, nodes, &needed);
  uint64_t* r = reached < 0 ? NULL : pawl_alloc((size_t)pawl_dag_count(dag), sizeof *r);
  if (!r) {
    return -1;
  }
  *known = true;
  for (int k = 0; k < reached; k++) {
    r[needed[k]] = of_node(pawl_dag_node(dag, needed[k]), r, place, known);
  }
  for (int k = 0; k < count; k++) {
    values[k] = r[nodes[k]];
  }
  pawl_free(r);
  return 0;
}
