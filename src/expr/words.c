// SPDX-License-Identifier: Apache-2.0
// The words of the language: functions, constants and what is reserved.
#include <string.h>

#include "expr/parser.h"
#include "expr/shorthand.h"

static bool is_function(PawlOp op) {
  return pawl_op_info[op].is_function || op == PAWL_OP_IF;
}

bool pawl_function_find(const char* word, PawlOp* op) {
  for (int k = 0; k < PAWL_OP_COUNT; k++) {
    if (is_function((PawlOp)k) && strcmp(pawl_op_text((PawlOp)k), word) == 0) {
      *op = (PawlOp)k;
      return true;
    }
  }
  *op = PAWL_OP_LAMBDA;
  return strcmp(word, "lambda") == 0;
}

bool pawl_constant_find(const char* word, double* value) {
  if (strcmp(word, "pi") == 0) {
    *value = 3.14159265358979323846;
    return true;
  }
  return false;
}

// Euler's number and the degree are names like others until they are built, so that a model may
// take them.
bool pawl_constant_free(const PawlAst* name, double* value) {
  bool is_e = strcmp(name->name, "e") == 0, is_deg = strcmp(name->name, "deg") == 0;
  *value = is_e ? 2.71828182845904523536 : 3.14159265358979323846 / 180.0;
  return (is_e || is_deg) && name->primes == 0 && name->arg_count == 0;
}

bool pawl_repeat_find(const char* word, PawlOp* op) {
  static const struct {
    const char* word;
    PawlOp op;
  } known[] = {
      {"sum", PAWL_OP_ADD}, {"prod", PAWL_OP_MUL}, {"min", PAWL_OP_MIN}, {"max", PAWL_OP_MAX}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    if (strcmp(known[k].word, word) == 0) {
      *op = known[k].op;
      return true;
    }
  }
  return false;
}

bool pawl_expr_reserved(const char* word) {
  static const char* const others[] = {"pi", "t", "and", "or", "not", "for"};
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
    if (strcmp(others[k], word) == 0) {
      return true;
    }
  }
  PawlOp op;
  return pawl_function_find(word, &op);
}

bool pawl_expr_is_function(const char* word) {
  PawlOp op;
  return pawl_function_find(word, &op) || pawl_repeat_find(word, &op) ||
         pawl_shorthand_find(word) >= 0 || pawl_matrix_function_find(word) >= 0;
}

// The name here of a function that other languages call differently.
static const char* translation(const char* word) {
  static const char* const known[][2] = {
      {"ln", "log(x)"},
      {"arcsin", "asin(x)"},
      {"arccos", "acos(x)"},
      {"arctan", "atan(x)"},
      {"arctan2", "atan2(y, x)"},
      {"fabs", "abs(x)"},
      {"sgn", "sign(x)"},
      {"mod", "wrap(x, p)"},
      {"fmod", "wrap(x, p)"},
      {"pow", "x^n"},
      {"power", "x^n"},
      {"square", "x^2"},
      {"piecewise", "if(c, a, b)"},
      {"where", "if(c, a, b)"},
      {"ceil", "-floor(-x)"},
      {"heaviside", "step(x)"},
      {"radians", "x*deg"},
      {"rad", "x*deg"},
      {"product", "prod(i=1..N, ...)"},
  };
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    if (strcmp(known[k][0], word) == 0) {
      return known[k][1];
    }
  }
  return NULL;
}

// The words of a call end before its parenthesis.
void pawl_function_unknown(PawlExprError* error, const PawlAst* call, PawlNearest* nearest) {
  const char* word = call->name;
  int begin = call->begin, end = call->begin + (int)strlen(word);
  PawlOp repeat;
  const char* usual = translation(word);
  if (pawl_repeat_find(word, &repeat)) {
    pawl_expr_fail(error, begin, end, "%s takes a range: %s(i=1..N, ...)", word, word);
    return;
  }
  if (usual) {
    pawl_expr_fail(error, begin, end, "unknown function '%.40s', use %s", word, usual);
    return;
  }
  nearest->wanted = word;
  for (int k = 0; k < PAWL_OP_COUNT; k++) {
    if (is_function((PawlOp)k)) {
      pawl_nearest_offer(nearest, pawl_op_text((PawlOp)k));
    }
  }
  for (int k = 0; k < PAWL_SHORTHANDS; k++) {
    pawl_nearest_offer(nearest, pawl_shorthand_info[k].word);
  }
  for (int k = 0; k < PAWL_MATRIX_FUNCTIONS; k++) {
    pawl_nearest_offer(nearest, pawl_matrix_function_info[k].word);
  }
  pawl_nearest_offer(nearest, "lambda");
  // A single letter before a parenthesis is a forgotten '*', not a misspelt function.
  if (nearest->name && strlen(word) > 1) {
    pawl_expr_fail(error, begin, end, "unknown function '%.40s', did you mean %s?", word,
                   nearest->name);
  } else {
    pawl_expr_fail(error, begin, end, "unknown function '%.40s'; a product is written %.40s*(...)",
                   word, word);
  }
}

static bool matrix_accepts(PawlExprError* error, const PawlAst* call) {
  const PawlMatrixFunctionInfo* info = &pawl_matrix_function_info[call->matrix];
  bool fits = call->arg_count >= info->least && call->arg_count <= info->most;
  if (!fits) {
    pawl_expr_fail(error, call->begin, call->end, "%s takes %d%s argument%s, %d given", call->name,
                   info->least, info->most > info->least ? " or 2" : "", info->most == 1 ? "" : "s",
                   call->arg_count);
  }
  return fits;
}

bool pawl_ast_is_declared_call(const PawlAst* ast) {
  return ast->kind == PAWL_AST_CALL && ast->op == PAWL_OP_COUNT && ast->shorthand < 0 &&
         ast->matrix < 0;
}

bool pawl_function_accepts(PawlExprError* error, const PawlAst* call) {
  if (call->matrix >= 0) {
    return matrix_accepts(error, call);
  }
  bool open = call->op != PAWL_OP_COUNT && pawl_op_has(call->op, PAWL_FACT_FOLDS);
  bool multiplier = call->op == PAWL_OP_LAMBDA;
  bool short_for = call->shorthand >= 0;
  int least = multiplier  ? 1
              : short_for ? pawl_shorthand_info[call->shorthand].operands
                          : pawl_op_operands(call->op);
  int given = call->arg_count;
  if (given < least || (given > least && !open && !(multiplier && given == 2))) {
    pawl_expr_fail(error, call->begin, call->end, "%s takes %d%s argument%s, %d given", call->name,
                   least,
                   open         ? " or more"
                   : multiplier ? " or 2"
                                : "",
                   least == 1 && !multiplier ? "" : "s", given);
    return false;
  }
  if (multiplier && (call->args[0]->kind != PAWL_AST_NAME || call->args[0]->primes > 0)) {
    pawl_expr_fail(error, call->args[0]->begin, call->args[0]->end,
                   "lambda takes the name of a constraint, contact or lock");
    return false;
  }
  return true;
}
