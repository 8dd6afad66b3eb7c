// SPDX-License-Identifier: Apache-2.0
// Inside of the printer: what the text style (print.c) and LaTeX (latex.c) share.
#pragma once

#include "expr/dag.h"

// How tightly an operation binds, loosest first.
typedef enum PawlPrecedence {
  PAWL_LEVEL_LOOSE,
  PAWL_LEVEL_OR,
  PAWL_LEVEL_AND,
  PAWL_LEVEL_NOT,
  PAWL_LEVEL_COMPARE,
  PAWL_LEVEL_SUM,
  PAWL_LEVEL_PRODUCT,
  PAWL_LEVEL_UNARY,
  PAWL_LEVEL_POWER,
  PAWL_LEVEL_ATOM
} PawlPrecedence;

// A literal text, with a whole number before it unless that is 0; or, where `text` is NULL, a node
// in parentheses if it binds less tightly than `least`.
typedef struct PawlPiece {
  const char* text;
  int exponent;
  PawlNode node;
  PawlPrecedence least;
  bool bare;  // leave out the minus sign of the leading number
} PawlPiece;

typedef struct PawlPrinter {
  PawlText* out;
  PawlDag* dag;
  PawlStyle style;
  PawlLeafName name;
  void* context;
  PawlPiece* piece;  // still to write, the last one first
  int count, capacity;
} PawlPrinter;

void pawl_printer_put(PawlPrinter* p, int count, const PawlPiece* pieces);

void pawl_latex_put(PawlPrinter* p, const PawlDagNode* node);  // all but sums, products, leaves
void pawl_latex_number(PawlText* out, double value);
void pawl_print_table(PawlPrinter* p, const PawlDagNode* node);  // in both styles
