// SPDX-License-Identifier: Apache-2.0
// The LaTeX of powers, functions, comparisons and cases; sums and products are in print.c.
#include <stdlib.h>
#include <string.h>

#include "expr/print.h"

// f(a, b), or f^n(a, b) for n > 0.
static void put_function(PawlPrinter* p, const PawlDagNode* n, int exponent) {
  PawlOpLatex latex = pawl_op_info[n->op].latex;
  PawlPiece pieces[8] = {{.text = latex.name ? latex.name : ""}};
  int count = 1;
  if (exponent > 0) {
    pieces[count++] = (PawlPiece){.text = "^{"};
    pieces[count++] = (PawlPiece){.exponent = exponent, .text = "}"};
  }
  pieces[count++] = (PawlPiece){.text = latex.open};
  pieces[count++] = (PawlPiece){.node = n->arg[0]};
  if (pawl_op_operands(n->op) == 2) {
    pieces[count++] = (PawlPiece){.text = ", "};
    pieces[count++] = (PawlPiece){.node = n->arg[1]};
  }
  pieces[count++] = (PawlPiece){.text = latex.close};
  pawl_printer_put(p, count, pieces);
}

static void put_power(PawlPrinter* p, const PawlDagNode* n) {
  const PawlDagNode* base = pawl_dag_node(p->dag, n->arg[0]);
  if (n->op == PAWL_OP_POWI && n->index > 0 && pawl_op_info[base->op].latex.name &&
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

static void put_between(PawlPrinter* p, const PawlDagNode* n, PawlPrecedence least,
                        const char* mark) {
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
    case PAWL_OP_TABLE:
    case PAWL_OP_TABLE2:
      pawl_print_table(p, n);
      break;
#define PAWL_FUNCTION(name, ...) case PAWL_OP_##name:
#include "expr/op.def"
      put_function(p, n, 0);
      break;
    case PAWL_OP_NEG:
    case PAWL_OP_ADD:
    case PAWL_OP_SUB:
    case PAWL_OP_MUL:
    case PAWL_OP_DIV:
#define PAWL_LEAF(name, ...) case PAWL_OP_##name:
#include "expr/op.def"
    case PAWL_OP_COUNT:
      break;  // print.c writes them
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
