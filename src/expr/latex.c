// SPDX-License-Identifier: Apache-2.0
// The LaTeX of powers, functions, comparisons and cases; sums and products are in print.c.
#include <stdlib.h>
#include <string.h>

#include "expr/print.h"

static const char* function_name(PawlOp op) {
  switch (op) {
    case PAWL_OP_EXP:
      return "\\exp";
    case PAWL_OP_LOG:
      return "\\log";
    case PAWL_OP_SIN:
      return "\\sin";
    case PAWL_OP_COS:
      return "\\cos";
    case PAWL_OP_TAN:
      return "\\tan";
    case PAWL_OP_ASIN:
      return "\\arcsin";
    case PAWL_OP_ACOS:
      return "\\arccos";
    case PAWL_OP_ATAN:
      return "\\arctan";
    case PAWL_OP_ATAN2:
      return "\\operatorname{atan2}";
    case PAWL_OP_SINH:
      return "\\sinh";
    case PAWL_OP_COSH:
      return "\\cosh";
    case PAWL_OP_TANH:
      return "\\tanh";
    case PAWL_OP_SIGN:
      return "\\operatorname{sign}";
    case PAWL_OP_MIN:
      return "\\min";
    case PAWL_OP_MAX:
      return "\\max";
    case PAWL_OP_WRAP:
      return "\\operatorname{wrap}";
    default:
      return NULL;
  }
}

// f(a, b), or f^n(a, b) for n > 0.
static void put_function(PawlPrinter* p, const PawlDagNode* n, int exponent) {
  PawlPiece pieces[8] = {{.text = function_name(n->op)}};
  int count = 1;
  if (exponent > 0) {
    pieces[count++] = (PawlPiece){.text = "^{"};
    pieces[count++] = (PawlPiece){.exponent = exponent, .text = "}"};
  }
  pieces[count++] = (PawlPiece){.text = "\\left("};
  pieces[count++] = (PawlPiece){.node = n->arg[0]};
  if (pawl_op_operands(n->op) == 2) {
    pieces[count++] = (PawlPiece){.text = ", "};
    pieces[count++] = (PawlPiece){.node = n->arg[1]};
  }
  pieces[count++] = (PawlPiece){.text = "\\right)"};
  pawl_printer_put(p, count, pieces);
}

static void put_around(PawlPrinter* p, const char* open, PawlNode node, const char* close) {
  pawl_printer_put(p, 3, (PawlPiece[]){{.text = open}, {.node = node}, {.text = close}});
}

static void put_power(PawlPrinter* p, const PawlDagNode* n) {
  const PawlDagNode* base = pawl_dag_node(p->dag, n->arg[0]);
  if (n->op == PAWL_OP_POWI && n->index > 0 && function_name(base->op) &&
      pawl_op_operands(base->op) == 1) {
    put_function(p, base, n->index);
    return;
  }
  PawlPiece exponent = n->op == PAWL_OP_POW ? (PawlPiece){.node = n->arg[1]}
                                            : (PawlPiece){.exponent = n->index, .text = ""};
  pawl_printer_put(
      p, 4,
      (PawlPiece[]){
          {.node = n->arg[0], .least = PAWL_LEVEL_ATOM}, {.text = "^{"}, exponent, {.text = "}"}});
}

static void put_between(PawlPrinter* p, const PawlDagNode* n, PawlLevel least, const char* mark) {
  pawl_printer_put(p, 3,
                   (PawlPiece[]){{.node = n->arg[0], .least = least},
                                 {.text = mark},
                                 {.node = n->arg[1], .least = least}});
}

static void put_cases(PawlPrinter* p, const PawlDagNode* n) {
  pawl_printer_put(p, 7,
                   (PawlPiece[]){{.text = "\\begin{cases} "},
                                 {.node = n->arg[1]},
                                 {.text = " & \\text{if } "},
                                 {.node = n->arg[0]},
                                 {.text = " \\\\ "},
                                 {.node = n->arg[2]},
                                 {.text = " & \\text{otherwise} \\end{cases}"}});
}

void pawl_latex_put(PawlPrinter* p, const PawlDagNode* n) {
  switch (n->op) {
    case PAWL_OP_POW:
    case PAWL_OP_POWI:
      put_power(p, n);
      break;
    case PAWL_OP_SQRT:
      put_around(p, "\\sqrt{", n->arg[0], "}");
      break;
    case PAWL_OP_ABS:
      put_around(p, "\\left|", n->arg[0], "\\right|");
      break;
    case PAWL_OP_FLOOR:
      put_around(p, "\\left\\lfloor ", n->arg[0], "\\right\\rfloor");
      break;
    case PAWL_OP_LT:
      put_between(p, n, PAWL_LEVEL_SUM, " < ");
      break;
    case PAWL_OP_LE:
      put_between(p, n, PAWL_LEVEL_SUM, " \\le ");
      break;
    case PAWL_OP_EQ:
      put_between(p, n, PAWL_LEVEL_SUM, " = ");
      break;
    case PAWL_OP_NE:
      put_between(p, n, PAWL_LEVEL_SUM, " \\ne ");
      break;
    case PAWL_OP_AND:
      put_between(p, n, PAWL_LEVEL_AND, " \\land ");
      break;
    case PAWL_OP_OR:
      put_between(p, n, PAWL_LEVEL_OR, " \\lor ");
      break;
    case PAWL_OP_NOT:
      pawl_printer_put(
          p, 2, (PawlPiece[]){{.text = "\\lnot "}, {.node = n->arg[0], .least = PAWL_LEVEL_ATOM}});
      break;
    case PAWL_OP_IF:
      put_cases(p, n);
      break;
    default:
      put_function(p, n, 0);
      break;
  }
}

// 1.5e-07 is written 1.5 \cdot 10^{-7}.
void pawl_latex_number(PawlText* out, double value) {
  PawlText digits = {0};
  pawl_text_number(&digits, value);
  char* mark = digits.s ? strchr(digits.s, 'e') : NULL;
  if (digits.failed || !mark) {
    out->failed = out->failed || digits.failed;
    pawl_text_add(out, digits.s ? digits.s : "");
  } else {
    *mark = '\0';
    bool one = strcmp(digits.s, "1") == 0 || strcmp(digits.s, "-1") == 0;
    int exponent = (int)strtol(mark + 1, NULL, 10);
    pawl_text_printf(out, one ? "%.*s10^{%d}" : "%.*s \\cdot 10^{%d}",
                     one ? (int)strlen(digits.s) - 1 : (int)strlen(digits.s), digits.s, exponent);
  }
  pawl_text_free(&digits);
}
