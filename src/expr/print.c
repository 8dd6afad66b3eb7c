// SPDX-License-Identifier: Apache-2.0
// The text of a node, for people and for the parser, with as few parentheses as reading needs.
//
// A stack of pieces still to write, no recursion. A shared subexpression is written each time it is
// used, so the text of a small graph can be huge: what is written stops with "..." after
// LONGEST_TEXT bytes or when MOST_PIECES wait.
//
// Text reads back to the same value: sums and products nested on the right keep their parentheses
// there, because (a + b) + c rounds differently from a + (b + c). LaTeX drops them. (A sign read
// before a product may merge with a coefficient inside it, which can move the last bit.)
#include "expr/print.h"

#include "base/alloc.h"

enum { LONGEST_TEXT = 1 << 20, MOST_PIECES = 1 << 20 };

void pawl_printer_put(PawlPrinter* p, int count, const PawlPiece* pieces) {
  if (PAWL_GROW(p->piece, p->capacity, p->count + count) != 0) {
    p->out->failed = true;
    return;
  }
  for (int k = count - 1; k >= 0; k--) {
    p->piece[p->count++] = pieces[k];
  }
}

// ---- what binds how tightly -----------------------------------------------------------------
static PawlPrecedence const_level(PawlPrinter* p, double value) {
  if (value < 0.0) {
    return PAWL_LEVEL_UNARY;
  }
  bool powers_of_ten = p->style == PAWL_STYLE_LATEX && (value >= 1e15 || value < 1e-4);
  return powers_of_ten && value != 0.0 ? PAWL_LEVEL_PRODUCT : PAWL_LEVEL_ATOM;
}

static PawlPrecedence level_of(PawlPrinter* p, PawlNode node) {
  const PawlDagNode* n = pawl_dag_node(p->dag, node);
  bool latex = p->style == PAWL_STYLE_LATEX;
  switch (n->op) {
    case PAWL_OP_CONST:
      return const_level(p, n->value);
    case PAWL_OP_ADD:
    case PAWL_OP_SUB:
      return PAWL_LEVEL_SUM;
    case PAWL_OP_MUL:
      return PAWL_LEVEL_PRODUCT;
    case PAWL_OP_DIV:
      return latex ? PAWL_LEVEL_POWER : PAWL_LEVEL_PRODUCT;
    case PAWL_OP_NEG:
      return PAWL_LEVEL_UNARY;
    case PAWL_OP_POW:
    case PAWL_OP_POWI:
      return PAWL_LEVEL_POWER;
    case PAWL_OP_LT:
    case PAWL_OP_LE:
    case PAWL_OP_EQ:
    case PAWL_OP_NE:
      return PAWL_LEVEL_COMPARE;
    case PAWL_OP_NOT:
      return PAWL_LEVEL_NOT;
    case PAWL_OP_AND:
      return PAWL_LEVEL_AND;
    case PAWL_OP_OR:
      return PAWL_LEVEL_OR;
    case PAWL_OP_IF:
      return latex ? PAWL_LEVEL_LOOSE : PAWL_LEVEL_ATOM;
    case PAWL_OP_PARAM:
    case PAWL_OP_TIME:
    case PAWL_OP_Q:
    case PAWL_OP_V:
    case PAWL_OP_A:
    case PAWL_OP_LAMBDA:
    case PAWL_OP_STATE:
    case PAWL_OP_INPUT:
    case PAWL_OP_QUAT:
    case PAWL_OP_TURN:
    case PAWL_OP_TABLE:
    case PAWL_OP_TABLE2:
#define PAWL_FUNCTION(name, ...) case PAWL_OP_##name:
#include "expr/op.def"
    case PAWL_OP_COUNT:
      break;
  }
  return PAWL_LEVEL_ATOM;
}

// The factors of a product in the order they are written: LaTeX has a number in front.
static void factors(PawlPrinter* p, const PawlDagNode* n, PawlNode* first, PawlNode* second) {
  bool swap = p->style == PAWL_STYLE_LATEX && n->op == PAWL_OP_MUL &&
              pawl_dag_is_const(p->dag, n->arg[1], NULL) &&
              !pawl_dag_is_const(p->dag, n->arg[0], NULL);
  *first = n->arg[swap ? 1 : 0];
  *second = n->arg[swap ? 0 : 1];
}

// What stands first in the text of a node. `sums` walks through sums as well as products.
static const PawlDagNode* leading(PawlPrinter* p, PawlNode node, bool sums) {
  const PawlDagNode* n = pawl_dag_node(p->dag, node);
  while (n->op == PAWL_OP_MUL || n->op == PAWL_OP_DIV ||
         (sums && (n->op == PAWL_OP_ADD || n->op == PAWL_OP_SUB))) {
    sums = sums && (n->op == PAWL_OP_ADD || n->op == PAWL_OP_SUB);  // inside a product: parentheses
    PawlNode first, second;
    factors(p, n, &first, &second);
    n = pawl_dag_node(p->dag, first);
  }
  return n;
}

static bool is_negative(const PawlDagNode* n) {
  return n->op == PAWL_OP_NEG || (n->op == PAWL_OP_CONST && n->value < 0.0);
}

// The level that the right operand of an operator must have; a sign there needs parentheses.
static PawlPrecedence right_level(PawlPrinter* p, PawlNode node, PawlPrecedence usual) {
  return is_negative(leading(p, node, true)) ? PAWL_LEVEL_ATOM : usual;
}

// ---- one node to pieces ---------------------------------------------------------------------
static void put_sum(PawlPrinter* p, const PawlDagNode* n, bool bare) {
  bool add = n->op == PAWL_OP_ADD;
  PawlNode right = n->arg[1];
  // a + (-2 x) is written a - 2 x, and a - (-2 x) is written a + 2 x.
  const PawlDagNode* lead = leading(p, right, false);
  bool flip = lead->op == PAWL_OP_CONST && lead->value < 0.0;
  PawlPrecedence usual = add && p->style == PAWL_STYLE_LATEX ? PAWL_LEVEL_SUM : PAWL_LEVEL_PRODUCT;
  PawlPrecedence least = flip ? PAWL_LEVEL_PRODUCT : right_level(p, right, usual);
  pawl_printer_put(p, 3,
                   (PawlPiece[]){{.node = n->arg[0], .least = PAWL_LEVEL_SUM, .bare = bare},
                                 {.text = add != flip ? " + " : " - "},
                                 {.node = right, .least = least, .bare = flip}});
}

static bool starts_with_digit(PawlPrinter* p, PawlNode node) {
  const PawlDagNode* n = leading(p, node, false);
  while (n->op == PAWL_OP_POWI || n->op == PAWL_OP_POW) {
    n = pawl_dag_node(p->dag, n->arg[0]);
  }
  return n->op == PAWL_OP_CONST;
}

static void put_product(PawlPrinter* p, const PawlDagNode* n, bool bare) {
  bool latex = p->style == PAWL_STYLE_LATEX;
  PawlNode first, second;
  factors(p, n, &first, &second);
  if (latex && n->op == PAWL_OP_DIV) {
    pawl_printer_put(p, 5,
                     (PawlPiece[]){{.text = "\\frac{"},
                                   {.node = first, .bare = bare},
                                   {.text = "}{"},
                                   {.node = second},
                                   {.text = "}"}});
    return;
  }
  PawlPrecedence usual = latex ? PAWL_LEVEL_PRODUCT : PAWL_LEVEL_POWER;
  PawlPrecedence least = right_level(p, second, usual);
  bool digits = level_of(p, second) >= least && starts_with_digit(p, second);
  const char* times = !latex ? "*" : digits ? " \\cdot " : "\\,";
  pawl_printer_put(p, 3,
                   (PawlPiece[]){{.node = first, .least = PAWL_LEVEL_PRODUCT, .bare = bare},
                                 {.text = n->op == PAWL_OP_DIV ? "/" : times},
                                 {.node = second, .least = least}});
}

static void put_binary(PawlPrinter* p, const PawlDagNode* n, const char* mark, PawlPrecedence left,
                       PawlPrecedence right) {
  pawl_printer_put(
      p, 3,
      (PawlPiece[]){
          {.node = n->arg[0], .least = left}, {.text = mark}, {.node = n->arg[1], .least = right}});
}

static void put_call(PawlPrinter* p, const PawlDagNode* n) {
  PawlPiece pieces[8] = {{.text = pawl_op_text(n->op)}, {.text = "("}};
  int count = 2;
  for (int k = 0; k < pawl_op_operands(n->op); k++) {
    if (k > 0) {
      pieces[count++] = (PawlPiece){.text = ", "};
    }
    pieces[count++] = (PawlPiece){.node = n->arg[k]};
  }
  pieces[count++] = (PawlPiece){.text = ")"};
  pawl_printer_put(p, count, pieces);
}

void pawl_print_table(PawlPrinter* p, const PawlDagNode* n) {
  static const char* const primes[] = {"", "'", "''", "'''"};
  static const char* const parts[] = {".knot", ".level", ".slope"};
  const PawlTable* table = pawl_dag_table_of(p->dag, n);
  int view = n->index % PAWL_TABLE_VIEWS;
  bool two = n->op == PAWL_OP_TABLE2;
  bool latex = p->style == PAWL_STYLE_LATEX;
  PawlPiece pieces[9] = {{.text = latex ? "\\operatorname{" : ""},
                         {.text = pawl_table_name(table)},
                         {.text = latex ? "}" : ""},
                         {.text = two                           ? ""
                                  : view >= PAWL_TABLE_KNOT     ? parts[view - PAWL_TABLE_KNOT]
                                  : view >= PAWL_TABLE_POSITION ? ".position"
                                                                : primes[view]},
                         {.text = latex ? "\\left(" : "("},
                         {.node = n->arg[0]}};
  int count = 6;
  if (two) {
    static const char* const by[] = {"", "_y", "_yy", "_yyy", "_x", "_xy", "_xyy", "_xyyy"};
    pieces[3].text = view < 8 ? by[view] : "_...";
    pieces[count++] = (PawlPiece){.text = ", "};
    pieces[count++] = (PawlPiece){.node = n->arg[1]};
  }
  pieces[count++] = (PawlPiece){.text = latex ? "\\right)" : ")"};
  pawl_printer_put(p, count, pieces);
}

static void put_text_power(PawlPrinter* p, const PawlDagNode* n) {
  if (n->op == PAWL_OP_POW) {
    put_binary(p, n, "^", PAWL_LEVEL_ATOM, PAWL_LEVEL_POWER);
    return;
  }
  pawl_printer_put(p, 3,
                   (PawlPiece[]){{.node = n->arg[0], .least = PAWL_LEVEL_ATOM},
                                 {.text = n->index < 0 ? "^(" : "^"},
                                 {.exponent = n->index, .text = n->index < 0 ? ")" : ""}});
}

static void put_leaf(PawlPrinter* p, const PawlDagNode* n, bool bare) {
  if (n->op != PAWL_OP_CONST) {
    p->name(p->context, p->out, p->style, n->op, n->index);
  } else if (!isfinite(n->value)) {
    pawl_text_add(p->out, isnan(n->value) ? "(0/0)" : n->value > 0.0 ? "(1/0)" : "(-1/0)");
  } else if (p->style == PAWL_STYLE_LATEX) {
    pawl_latex_number(p->out, bare ? -n->value : n->value);
  } else {
    pawl_text_number(p->out, bare ? -n->value : n->value);
  }
}

// All but sums, products and leaves, which both styles share.
static void put_text(PawlPrinter* p, const PawlDagNode* n) {
  switch (n->op) {
    case PAWL_OP_POW:
    case PAWL_OP_POWI:
      put_text_power(p, n);
      return;
    case PAWL_OP_TABLE:
    case PAWL_OP_TABLE2:
      pawl_print_table(p, n);
      return;
    case PAWL_OP_NOT:
      pawl_printer_put(
          p, 2, (PawlPiece[]){{.text = "not "}, {.node = n->arg[0], .least = PAWL_LEVEL_NOT}});
      return;
    case PAWL_OP_AND:
      put_binary(p, n, " and ", PAWL_LEVEL_AND, PAWL_LEVEL_NOT);
      return;
    case PAWL_OP_OR:
      put_binary(p, n, " or ", PAWL_LEVEL_OR, PAWL_LEVEL_AND);
      return;
    case PAWL_OP_LT:
      put_binary(p, n, " < ", PAWL_LEVEL_SUM, PAWL_LEVEL_SUM);
      return;
    case PAWL_OP_LE:
      put_binary(p, n, " <= ", PAWL_LEVEL_SUM, PAWL_LEVEL_SUM);
      return;
    case PAWL_OP_EQ:
      put_binary(p, n, " == ", PAWL_LEVEL_SUM, PAWL_LEVEL_SUM);
      return;
    case PAWL_OP_NE:
      put_binary(p, n, " != ", PAWL_LEVEL_SUM, PAWL_LEVEL_SUM);
      return;
    case PAWL_OP_IF:
#define PAWL_FUNCTION(name, ...) case PAWL_OP_##name:
#include "expr/op.def"
      put_call(p, n);
      return;
    case PAWL_OP_NEG:
    case PAWL_OP_ADD:
    case PAWL_OP_SUB:
    case PAWL_OP_MUL:
    case PAWL_OP_DIV:
#define PAWL_LEAF(name, ...) case PAWL_OP_##name:
#include "expr/op.def"
    case PAWL_OP_COUNT:
      return;  // put_node has them
  }
}

static void put_node(PawlPrinter* p, PawlNode node, bool bare) {
  const PawlDagNode* n = pawl_dag_node(p->dag, node);
  if (pawl_op_is_leaf(n->op)) {
    put_leaf(p, n, bare);
  } else if (n->op == PAWL_OP_ADD || n->op == PAWL_OP_SUB) {
    put_sum(p, n, bare);
  } else if (n->op == PAWL_OP_MUL || n->op == PAWL_OP_DIV) {
    put_product(p, n, bare);
  } else if (n->op == PAWL_OP_NEG) {  // -a*b reads as (-a)*b, which is the same number
    PawlPrecedence least = right_level(p, n->arg[0], PAWL_LEVEL_PRODUCT);
    pawl_printer_put(p, 2, (PawlPiece[]){{.text = "-"}, {.node = n->arg[0], .least = least}});
  } else if (p->style == PAWL_STYLE_LATEX) {
    pawl_latex_put(p, n);
  } else {
    put_text(p, n);
  }
}

static void write_piece(PawlPrinter* p, PawlPiece piece) {
  if (piece.text) {
    if (piece.exponent != 0) {
      pawl_text_printf(p->out, "%d", piece.exponent);
    }
    pawl_text_add(p->out, piece.text);
    return;
  }
  if (level_of(p, piece.node) >= piece.least || piece.bare) {
    put_node(p, piece.node, piece.bare);
    return;
  }
  bool latex = p->style == PAWL_STYLE_LATEX;
  pawl_printer_put(p, 3,
                   (PawlPiece[]){{.text = latex ? "\\left(" : "("},
                                 {.node = piece.node},
                                 {.text = latex ? "\\right)" : ")"}});
}

void pawl_dag_print(PawlText* out, PawlDag* dag, PawlNode node, PawlStyle style, PawlLeafName name,
                    void* context) {
  PawlPrinter p = {.out = out, .dag = dag, .style = style, .name = name, .context = context};
  if (node < 0 || node >= pawl_dag_count(dag)) {
    out->failed = true;  // the node was lost to a lack of memory
    return;
  }
  size_t limit = out->length + LONGEST_TEXT;
  pawl_printer_put(&p, 1, &(PawlPiece){.node = node});
  while (p.count > 0 && !out->failed) {
    if (out->length > limit || p.count > MOST_PIECES) {
      pawl_text_add(out, "...");
      break;
    }
    write_piece(&p, p.piece[--p.count]);
  }
  pawl_free(p.piece);
}
