// SPDX-License-Identifier: Apache-2.0
// Expression text to tree, by recursive descent. From the loosest to the tightest:
//
//   or;  and;  not;  comparisons, which chain: l < x < r;  + -;  * /;  unary - +;
//   ^ (to the right: 2^3^2 = 2^9; -x^2 = -(x^2); 2^-1);  names, calls, parentheses
//
// Operators of one level are read in a loop, so a long sum is a deep tree on its left side but
// needs no deep recursion. All recursion passes through enter(), which counts to
// PAWL_EXPR_MAX_DEPTH. After a failure the current token is WRONG, which no rule accepts, so that
// each function returns at its next look.
#include <string.h>

#include "expr/parser.h"
#include "expr/shorthand.h"

static void next(PawlParser* p) {
  if (p->status == PAWL_OK) {
    p->token = pawl_lexer_next(&p->lexer);
    if (p->token.kind == PAWL_TOKEN_WRONG) {
      p->status = PAWL_ERROR_MODEL;
    }
  }
}

void pawl_parser_next(PawlParser* p) {
  p->previous_end = p->token.end;
  next(p);
}

PawlStatus pawl_parser_start(PawlParser* p, PawlArena* arena, const char* text, size_t length,
                             PawlExprError* error) {
  *p = (PawlParser){.arena = arena, .error = error};
  *error = (PawlExprError){0};
  if (length > PAWL_EXPR_MAX_BYTES) {
    pawl_expr_fail(error, 0, 0, "the text has %zu bytes, at most %d are read", length,
                   PAWL_EXPR_MAX_BYTES);
    p->status = PAWL_ERROR_MODEL;
    return p->status;
  }
  p->lexer = (PawlLexer){.text = text, .length = (int)length, .error = error};
  next(p);
  return p->status;
}

void* pawl_parser_stop(PawlParser* p, PawlStatus status) {
  if (p->status == PAWL_OK) {
    p->status = status;
  }
  p->token.kind = PAWL_TOKEN_WRONG;
  return NULL;
}

static const char* usual_hint(const PawlParser* p) {
  if (pawl_parser_at(p, "=")) {
    return "to compare, use ==";
  }
  if (pawl_parser_at(p, "..")) {
    return "a range stands in a key or after 'for'";
  }
  if (pawl_parser_at(p, "'")) {
    return "a prime follows a name";
  }
  return NULL;
}

void* pawl_parser_expected(PawlParser* p, const char* what, const char* hint) {
  if (p->status == PAWL_OK) {
    char shown[PAWL_SHOWN];
    hint = hint ? hint : usual_hint(p);
    pawl_expr_fail(p->error, p->token.begin, p->token.end, "expected %s, found %s%s%s", what,
                   pawl_token_show(&p->lexer, p->token, shown), hint ? "; " : "", hint ? hint : "");
  }
  return pawl_parser_stop(p, PAWL_ERROR_MODEL);
}

bool pawl_parser_at(const PawlParser* p, const char* text) {
  return pawl_token_is(&p->lexer, p->token, text);
}

bool pawl_parser_take(PawlParser* p, const char* text) {
  if (!pawl_parser_at(p, text)) {
    return false;
  }
  pawl_parser_next(p);
  return true;
}

char* pawl_parser_word(PawlParser* p) {
  int length = p->token.end - p->token.begin;
  char* word = pawl_arena_copy(p->arena, p->lexer.text + p->token.begin, (size_t)length);
  return word ? word : pawl_parser_stop(p, PAWL_ERROR_MEMORY);
}

// ---- trees ----------------------------------------------------------------------------------
static PawlAst* new_tree(PawlParser* p, PawlAstKind kind, int begin) {
  PawlAst* tree = PAWL_NEW(p->arena, PawlAst, 1);
  if (!tree) {
    return pawl_parser_stop(p, PAWL_ERROR_MEMORY);
  }
  tree->kind = kind;
  tree->shorthand = tree->matrix = -1;
  tree->begin = begin;
  tree->end = p->previous_end;
  return tree;
}

// Lists grow by doubling inside the arena: at most twice the memory, nothing to free.
static bool push(PawlParser* p, PawlAst* tree, PawlAst* arg) {
  int count = tree->arg_count;
  if (!arg || p->status != PAWL_OK) {
    return false;
  }
  if (count == 0 || (count >= 4 && (count & (count - 1)) == 0)) {
    PawlAst** grown = PAWL_NEW(p->arena, PawlAst*, count ? 2 * count : 4);
    if (!grown) {
      pawl_parser_stop(p, PAWL_ERROR_MEMORY);
      return false;
    }
    if (count > 0) {
      memcpy(grown, tree->args, (size_t)count * sizeof *grown);
    }
    tree->args = grown;
  }
  tree->args[tree->arg_count++] = arg;
  tree->end = arg->end > tree->end ? arg->end : tree->end;
  return true;
}

static PawlAst* operate(PawlParser* p, PawlOp op, int begin, PawlAst* a, PawlAst* b) {
  PawlAst* tree = a ? new_tree(p, PAWL_AST_OPERATE, begin) : NULL;
  if (!tree || !push(p, tree, a) || (pawl_op_operands(op) == 2 && !push(p, tree, b))) {
    return NULL;
  }
  tree->op = op;
  return tree;
}

static bool enter(PawlParser* p) {
  if (p->depth >= PAWL_EXPR_MAX_DEPTH) {
    if (p->status == PAWL_OK) {
      pawl_expr_fail(p->error, p->token.begin, p->token.end, "nested more than %d levels deep",
                     PAWL_EXPR_MAX_DEPTH);
    }
    pawl_parser_stop(p, PAWL_ERROR_MODEL);
    return false;
  }
  p->depth++;
  return true;
}

PawlAst* pawl_parser_expression(PawlParser* p) {
  if (!enter(p)) {
    return NULL;
  }
  PawlAst* tree = pawl_parser_or(p);
  p->depth--;
  return tree;
}

// ---- operands -------------------------------------------------------------------------------
static PawlAst* number(PawlParser* p, double value) {
  int begin = p->token.begin;
  pawl_parser_next(p);
  PawlAst* tree = new_tree(p, PAWL_AST_NUMBER, begin);
  if (tree) {
    tree->value = value;
  }
  if (tree && pawl_parser_at(p, "'")) {
    return pawl_parser_expected(p, "an operator", NULL);
  }
  return tree;
}

// The list after an opening mark, up to and with the closing one.
static bool arguments(PawlParser* p, PawlAst* tree, const char* close) {
  if (pawl_parser_take(p, close)) {
    tree->end = p->previous_end;
    return true;
  }
  do {
    if (!push(p, tree, pawl_parser_expression(p))) {
      return false;
    }
  } while (pawl_parser_take(p, ","));
  if (!pawl_parser_take(p, close)) {
    pawl_parser_expected(p, close[0] == ')' ? "an operator, ',' or ')'" : "an operator, ',' or ']'",
                         NULL);
    return false;
  }
  tree->end = p->previous_end;
  return true;
}

// Behind indices: link[3].tip, a path with the name link.tip. The parser is at the dot.
static bool extend_path(PawlParser* p, PawlAst* tree) {
  pawl_parser_next(p);
  if (p->token.kind != PAWL_TOKEN_NAME) {
    pawl_parser_expected(p, "a name after '.'", NULL);
    return false;
  }
  size_t before = strlen(tree->name), more = (size_t)(p->token.end - p->token.begin);
  char* path = PAWL_NEW(p->arena, char, before + more + 2);
  if (!path) {
    pawl_parser_stop(p, PAWL_ERROR_MEMORY);
    return false;
  }
  memcpy(path, tree->name, before);
  path[before] = '.';
  memcpy(path + before + 1, p->lexer.text + p->token.begin, more);
  tree->name = path;
  pawl_parser_next(p);
  return true;
}

// What a path that ends with .x, .y or .z is the component of.
static bool find_stem(PawlParser* p, PawlAst* tree) {
  const char* dot = strrchr(tree->name, '.');
  tree->component = dot ? pawl_matrix_component(dot + 1) : -1;
  if (tree->component < 0) {
    return true;
  }
  tree->stem = pawl_arena_copy(p->arena, tree->name, (size_t)(dot - tree->name));
  if (!tree->stem) {
    pawl_parser_stop(p, PAWL_ERROR_MEMORY);
  }
  return tree->stem != NULL;
}

static PawlAst* name(PawlParser* p, char* word, int begin) {
  PawlAst* tree = new_tree(p, PAWL_AST_NAME, begin);
  if (!tree) {
    return NULL;
  }
  tree->name = word;
  PawlToken bracket = p->token;
  if (pawl_parser_take(p, "[")) {
    if (!arguments(p, tree, "]")) {
      return NULL;
    }
    if (tree->arg_count == 0 || tree->arg_count > PAWL_MAX_INDICES) {
      pawl_expr_fail(p->error, bracket.begin, tree->end, "%s takes 1 to %d indices, %d given", word,
                     PAWL_MAX_INDICES, tree->arg_count);
      return pawl_parser_stop(p, PAWL_ERROR_MODEL);
    }
    if (pawl_parser_at(p, ".") && !extend_path(p, tree)) {
      return NULL;
    }
  }
  if (!find_stem(p, tree)) {
    return NULL;
  }
  while (pawl_parser_take(p, "'")) {
    tree->primes++;
  }
  tree->end = p->previous_end;
  bool is_time = strcmp(word, "t") == 0;
  if (is_time && (tree->primes > 0 || tree->arg_count > 0)) {
    pawl_expr_fail(p->error, begin, tree->end, "t is the time and takes no index and no prime");
    return pawl_parser_stop(p, PAWL_ERROR_MODEL);
  }
  return tree;
}

// What stands in the parentheses of sum(i=1..N, j=1..i, body), with the parser at `i`.
static bool repeated(PawlParser* p, PawlAst* tree) {
  int count = 0;
  tree->vars = PAWL_NEW(p->arena, const char*, PAWL_MAX_INDICES);
  if (!tree->vars) {
    pawl_parser_stop(p, PAWL_ERROR_MEMORY);
    return false;
  }
  while (pawl_parser_range_ahead(p)) {
    PawlAstRange range = {0};
    if (count == PAWL_MAX_INDICES) {
      pawl_parser_expected(p, "an expression", "at most 3 ranges are read");
      return false;
    }
    pawl_parser_range(p, &range);
    if (!push(p, tree, range.low) || !push(p, tree, range.high)) {
      return false;
    }
    tree->vars[count++] = range.var;
    if (!pawl_parser_take(p, ",")) {
      pawl_parser_expected(p, "an operator or ',' and an expression", NULL);
      return false;
    }
  }
  if (!push(p, tree, pawl_parser_expression(p))) {
    return false;
  }
  if (!pawl_parser_take(p, ")")) {
    pawl_parser_expected(p, "an operator or ')'", NULL);
    return false;
  }
  tree->end = p->previous_end;
  return true;
}

static PawlAst* repeat(PawlParser* p, PawlAst* tree, char* word, PawlOp op) {
  tree->kind = PAWL_AST_REPEAT;
  tree->name = word;
  tree->op = op;
  if (!enter(p)) {
    return NULL;
  }
  bool complete = repeated(p, tree);
  p->depth--;
  return complete ? tree : NULL;
}

static PawlAst* call(PawlParser* p, char* word, PawlToken at, int primes) {
  PawlOp op = PAWL_OP_COUNT, of_range;
  int shorthand = pawl_shorthand_find(word), matrix = pawl_matrix_function_find(word);
  bool defined = shorthand >= 0 || matrix >= 0;
  bool known = (!defined && pawl_function_find(word, &op)) || defined;
  PawlAst* tree = new_tree(p, PAWL_AST_CALL, at.begin);
  if (!tree) {
    return NULL;
  }
  tree->op = known && !defined ? op : PAWL_OP_COUNT;
  tree->shorthand = shorthand;
  tree->matrix = matrix;
  tree->primes = primes;
  if (known && primes > 0) {
    return pawl_parser_expected(p, "an operator", "a prime follows the name of a table");
  }
  if (pawl_repeat_find(word, &of_range)) {
    PawlParser ahead = *p;
    pawl_parser_next(&ahead);
    if (pawl_parser_range_ahead(&ahead)) {
      pawl_parser_next(p);
      return repeat(p, tree, word, of_range);
    }
  }
  bool was_naming = p->naming;
  p->naming = strcmp(word, "lambda") == 0;  // a constraint may be called floor
  bool complete = pawl_parser_take(p, "(") && arguments(p, tree, ")");
  p->naming = was_naming;
  if (!complete) {
    return NULL;
  }
  tree->name = word;
  if (known && !pawl_function_accepts(p->error, tree)) {
    return pawl_parser_stop(p, PAWL_ERROR_MODEL);
  }
  return tree;
}

static PawlAst* parenthesis(PawlParser* p) {
  int begin = p->token.begin;
  pawl_parser_next(p);
  PawlAst* tree = pawl_parser_expression(p);
  if (!tree) {
    return NULL;
  }
  if (!pawl_parser_take(p, ")")) {
    return pawl_parser_expected(p, "an operator or ')'", NULL);
  }
  if (pawl_parser_at(p, "'")) {
    return pawl_parser_expected(p, "an operator", "a prime follows a name: define one for this");
  }
  tree->begin = begin;
  tree->end = p->previous_end;
  return tree;
}

// How many primes stand before a parenthesis: the 1 of road'(x); 0 where none follows them.
static int primes_of_call(const PawlParser* p) {
  if (!pawl_parser_at(p, "'")) {
    return 0;
  }
  PawlParser ahead = *p;
  PawlExprError unused;
  int primes = 0;
  ahead.error = ahead.lexer.error = &unused;
  while (pawl_parser_take(&ahead, "'")) {
    primes++;
  }
  return pawl_parser_at(&ahead, "(") ? primes : 0;
}

static PawlAst* word_operand(PawlParser* p) {
  PawlToken at = p->token;
  if (pawl_parser_at(p, "not")) {
    return pawl_parser_expected(p, "a number, a name or '('", "write (not ...)");
  }
  if (pawl_parser_at(p, "and") || pawl_parser_at(p, "or") || pawl_parser_at(p, "for")) {
    return pawl_parser_expected(p, "a number, a name or '('", NULL);
  }
  char* word = pawl_parser_word(p);
  if (!word) {
    return NULL;
  }
  double value;
  if (pawl_constant_find(word, &value)) {
    return number(p, value);
  }
  pawl_parser_next(p);
  int primes = primes_of_call(p);
  if (primes > 0 || pawl_parser_at(p, "(")) {
    for (int k = 0; k < primes; k++) {
      pawl_parser_next(p);
    }
    return call(p, word, at, primes);
  }
  PawlOp op;
  if (!p->naming && pawl_function_find(word, &op)) {
    pawl_expr_fail(p->error, at.begin, at.end, "%s is a function, write %s(...)", word, word);
    return pawl_parser_stop(p, PAWL_ERROR_MODEL);
  }
  return name(p, word, at.begin);
}

// [a, b], with the parser at the bracket.
static PawlAst* vector(PawlParser* p) {
  PawlAst* tree = new_tree(p, PAWL_AST_VECTOR, p->token.begin);
  if (!tree || !pawl_parser_take(p, "[") || !arguments(p, tree, "]")) {
    return NULL;
  }
  if (tree->arg_count < 2 || tree->arg_count > 3) {
    pawl_expr_fail(p->error, tree->begin, tree->end, "a vector has 2 or 3 numbers, %d given",
                   tree->arg_count);
    return pawl_parser_stop(p, PAWL_ERROR_MODEL);
  }
  return tree;
}

// .x .y .z behind anything but a path.
static PawlAst* part(PawlParser* p, PawlAst* of) {
  pawl_parser_next(p);
  char* word = p->token.kind == PAWL_TOKEN_NAME ? pawl_parser_word(p) : NULL;
  int component = word ? pawl_matrix_component(word) : -1;
  if (component < 0) {
    return pawl_parser_expected(p, "x, y or z after '.'", NULL);
  }
  pawl_parser_next(p);
  PawlAst* tree = new_tree(p, PAWL_AST_PART, of->begin);
  if (!tree || !push(p, tree, of)) {
    return NULL;
  }
  tree->component = component;
  return tree;
}

static PawlAst* operand(PawlParser* p) {
  if (p->token.kind == PAWL_TOKEN_NUMBER) {
    return number(p, p->token.value);
  }
  if (p->token.kind == PAWL_TOKEN_NAME) {
    return word_operand(p);
  }
  if (pawl_parser_at(p, "(")) {
    return parenthesis(p);
  }
  if (pawl_parser_at(p, "[")) {
    return vector(p);
  }
  return pawl_parser_expected(p, "a number, a name or '('", NULL);
}

// ---- operators ------------------------------------------------------------------------------
static PawlAst* unary(PawlParser* p);

static PawlAst* power(PawlParser* p) {
  PawlAst* base = operand(p);
  while (base && pawl_parser_at(p, ".")) {
    base = part(p, base);
  }
  if (!base || !pawl_parser_take(p, "^") || !enter(p)) {
    return p->status == PAWL_OK ? base : NULL;
  }
  PawlAst* exponent = unary(p);
  p->depth--;
  return exponent ? operate(p, PAWL_OP_POW, base->begin, base, exponent) : NULL;
}

static PawlAst* unary(PawlParser* p) {
  PawlToken sign = p->token;
  bool minus = pawl_parser_at(p, "-");
  if (!minus && !pawl_parser_at(p, "+")) {
    return power(p);
  }
  if (!enter(p)) {
    return NULL;
  }
  pawl_parser_next(p);
  PawlAst* tree = unary(p);
  p->depth--;
  return minus ? operate(p, PAWL_OP_NEG, sign.begin, tree, NULL) : tree;
}

static PawlAst* product(PawlParser* p) {
  PawlAst* tree = unary(p);
  while (tree && (pawl_parser_at(p, "*") || pawl_parser_at(p, "/"))) {
    PawlOp op = pawl_parser_at(p, "*") ? PAWL_OP_MUL : PAWL_OP_DIV;
    pawl_parser_next(p);
    PawlAst* right = unary(p);
    tree = right ? operate(p, op, tree->begin, tree, right) : NULL;
  }
  return tree;
}

static PawlAst* sum(PawlParser* p) {
  PawlAst* tree = product(p);
  while (tree && (pawl_parser_at(p, "+") || pawl_parser_at(p, "-"))) {
    PawlOp op = pawl_parser_at(p, "+") ? PAWL_OP_ADD : PAWL_OP_SUB;
    pawl_parser_next(p);
    PawlAst* right = product(p);
    tree = right ? operate(p, op, tree->begin, tree, right) : NULL;
  }
  return tree;
}

static bool take_compare(PawlParser* p, PawlCompare* compare) {
  static const char* const marks[] = {"<", "<=", ">", ">=", "==", "!="};  // order of PawlCompare
  for (int k = 0; k < 6; k++) {
    if (pawl_parser_take(p, marks[k])) {
      *compare = (PawlCompare)k;
      return true;
    }
  }
  return false;
}

static bool push_compare(PawlParser* p, PawlAst* tree, PawlCompare compare) {
  int count = tree->arg_count - 1;
  if (count == 0 || (count >= 4 && (count & (count - 1)) == 0)) {
    PawlCompare* grown = PAWL_NEW(p->arena, PawlCompare, count ? 2 * count : 4);
    if (!grown) {
      pawl_parser_stop(p, PAWL_ERROR_MEMORY);
      return false;
    }
    if (count > 0) {
      memcpy(grown, tree->compare, (size_t)count * sizeof *grown);
    }
    tree->compare = grown;
  }
  tree->compare[count] = compare;
  return true;
}

static PawlAst* comparison(PawlParser* p) {
  PawlAst* first = sum(p);
  PawlCompare compare;
  if (!first || !take_compare(p, &compare)) {
    return first;
  }
  PawlAst* tree = new_tree(p, PAWL_AST_COMPARE, first->begin);
  if (!tree || !push(p, tree, first)) {
    return NULL;
  }
  do {
    if (!push_compare(p, tree, compare) || !push(p, tree, sum(p))) {
      return NULL;
    }
  } while (take_compare(p, &compare));
  return tree;
}

static PawlAst* negation(PawlParser* p) {
  PawlToken word = p->token;
  if (!pawl_parser_at(p, "not")) {
    return comparison(p);
  }
  if (!enter(p)) {
    return NULL;
  }
  pawl_parser_next(p);
  PawlAst* tree = negation(p);
  p->depth--;
  return operate(p, PAWL_OP_NOT, word.begin, tree, NULL);
}

static PawlAst* conjunction(PawlParser* p) {
  PawlAst* tree = negation(p);
  while (tree && pawl_parser_take(p, "and")) {
    PawlAst* right = negation(p);
    tree = right ? operate(p, PAWL_OP_AND, tree->begin, tree, right) : NULL;
  }
  return tree;
}

PawlAst* pawl_parser_or(PawlParser* p) {
  PawlAst* tree = conjunction(p);
  while (tree && pawl_parser_take(p, "or")) {
    PawlAst* right = conjunction(p);
    tree = right ? operate(p, PAWL_OP_OR, tree->begin, tree, right) : NULL;
  }
  return p->status == PAWL_OK ? tree : NULL;
}
