// SPDX-License-Identifier: Apache-2.0
// The numbers of trees that need no graph: indices, conditions of families, starts. Every operation
// is computed as the graph folds it, one node at a time, so that both give the same bits; what the
// graph would leave unfolded (1/0), and what is rare (vectors, sums over ranges, shorthands), is
// left to it.
#include <math.h>
#include <string.h>

#include "expr/ast.h"

enum { DEEPEST = 64 };  // of trees that are looked at here

typedef struct Reader {
  PawlNumberOf of;
  void* context;
} Reader;

static bool read(const Reader* r, const PawlAst* ast, int depth, double* value);

static bool fold(PawlOp op, double a, double b, double* value) {
  *value = pawl_op_value(op, 0, a, b, 0.0) + 0.0;  // -0 is 0, as in the graph
  return isfinite(*value);
}

static bool read_chain(const Reader* r, const PawlAst* ast, int depth, double* value) {
  static const PawlOp op[] = {PAWL_OP_LT, PAWL_OP_LE, PAWL_OP_LT,
                              PAWL_OP_LE, PAWL_OP_EQ, PAWL_OP_NE};
  double left, right, link;
  bool all = true;
  if (!read(r, ast->args[0], depth, &left)) {
    return false;
  }
  for (int k = 1; k < ast->arg_count; k++, left = right) {
    PawlCompare kind = ast->compare[k - 1];
    bool swap = kind == PAWL_CMP_GT || kind == PAWL_CMP_GE;
    if (!read(r, ast->args[k], depth, &right) ||
        !fold(op[kind], swap ? right : left, swap ? left : right, &link)) {
      return false;
    }
    all = all && link != 0.0;
  }
  *value = all;
  return true;
}

// The branch that is taken, and the right side of `and` and `or` where the left one does not
// decide.
static bool read_if(const Reader* r, const PawlAst* ast, int depth, double* value) {
  double condition;
  return read(r, ast->args[0], depth, &condition) &&
         read(r, ast->args[condition != 0.0 ? 1 : 2], depth, value);
}

static bool read_logic(const Reader* r, const PawlAst* ast, int depth, double* value) {
  double left, right;
  if (!read(r, ast->args[0], depth, &left)) {
    return false;
  }
  *value = left != 0.0;
  if ((left != 0.0) == (ast->op == PAWL_OP_OR)) {
    return true;
  }
  return read(r, ast->args[1], depth, &right) && fold(ast->op, left, right, value);
}

static bool read_operation(const Reader* r, const PawlAst* ast, int depth, double* value) {
  double next;
  if (ast->arg_count < 1 || !read(r, ast->args[0], depth, value)) {
    return false;
  }
  if (ast->arg_count == 1) {
    return pawl_op_operands(ast->op) == 1 && fold(ast->op, *value, 0.0, value);
  }
  for (int k = 1; k < ast->arg_count; k++) {
    if (!read(r, ast->args[k], depth, &next) || !fold(ast->op, *value, next, value)) {
      return false;
    }
  }
  return true;
}

static bool is_plain_call(const PawlAst* ast) {
  return ast->shorthand < 0 && ast->matrix < 0 && ast->primes == 0 && ast->op < PAWL_OP_COUNT &&
         !pawl_op_is_leaf(ast->op);
}

static bool read(const Reader* r, const PawlAst* ast, int depth, double* value) {
  if (depth == DEEPEST) {
    return false;
  }
  depth++;
  switch (ast->kind) {
    case PAWL_AST_NUMBER:
      *value = ast->value + 0.0;
      return isfinite(*value);
    case PAWL_AST_NAME:
      return r->of(r->context, ast, value);
    case PAWL_AST_COMPARE:
      return read_chain(r, ast, depth, value);
    case PAWL_AST_CALL:
      if (!is_plain_call(ast)) {
        return false;
      }
      return ast->op == PAWL_OP_IF ? read_if(r, ast, depth, value)
                                   : read_operation(r, ast, depth, value);
    case PAWL_AST_OPERATE:
      return ast->op == PAWL_OP_AND || ast->op == PAWL_OP_OR ? read_logic(r, ast, depth, value)
                                                             : read_operation(r, ast, depth, value);
    case PAWL_AST_REPEAT:
    case PAWL_AST_VECTOR:
    case PAWL_AST_PART:
      break;
  }
  return false;
}

bool pawl_ast_number(const PawlAst* ast, PawlNumberOf of, void* context, double* value) {
  return read(&(Reader){of, context}, ast, 0, value);
}
