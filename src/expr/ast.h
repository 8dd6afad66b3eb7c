// SPDX-License-Identifier: Apache-2.0
// Expression text to tree to graph. The tree keeps names unresolved, so that the body of a family
// is parsed once and built for each index.
#pragma once

#include "base/arena.h"
#include "expr/dag.h"
#include "expr/matrix.h"

#define PAWL_EXPR_MAX_DEPTH 200      // nesting of parentheses, calls and operators in one text
#define PAWL_EXPR_MAX_BYTES 1048576  // length of one text

typedef enum PawlAstKind {
  PAWL_AST_NUMBER,   // value
  PAWL_AST_NAME,     // name, primes, args = indices in brackets: u[i+1]''; a path may have dots:
                     // link[i].tip.x has the name link.tip.x
  PAWL_AST_CALL,     // function, args; primes of one that the model declares: road'(x)
  PAWL_AST_REPEAT,   // sum(i=low..high, body): op, vars, args = low, high of each var, then body
  PAWL_AST_OPERATE,  // function = operation, args (1 or 2): + - * / ^ and or not, unary minus = NEG
  PAWL_AST_VECTOR,   // [a, b], args
  PAWL_AST_PART,     // a.x: args[0], component
  PAWL_AST_COMPARE,  // chain: args[0] compare[0] args[1] compare[1] args[2] ..., e.g. l < x < r
} PawlAstKind;

typedef enum PawlCompare {
  PAWL_CMP_LT,
  PAWL_CMP_LE,
  PAWL_CMP_GT,
  PAWL_CMP_GE,
  PAWL_CMP_EQ,
  PAWL_CMP_NE
} PawlCompare;

typedef struct PawlAst {
  PawlAstKind kind;
  int begin, end;     // byte range in the text
  double value;       // NUMBER
  const char* name;   // NAME, and the word written for CALL and REPEAT
  int primes;         // NAME, CALL: number of '
  const char* stem;   // NAME: a path that ends with .x, .y or .z without it; NULL for others
  int component;      // PART, NAME with a stem: 0 1 2 of x y z
  PawlOp op;          // CALL, OPERATE, REPEAT; CALL: PAWL_OP_COUNT for a word that is no operation
  int shorthand;      // CALL: which PawlShorthand, -1 for others
  int matrix;         // CALL: which PawlMatrixFunction, -1 for others
  const char** vars;  // REPEAT: (arg_count - 1) / 2 index variables
  PawlCompare* compare;  // COMPARE: arg_count - 1 entries
  int arg_count;
  struct PawlAst** args;
} PawlAst;

// Where and why a text is wrong.
typedef struct PawlExprError {
  int begin, end;  // byte range of the offending part
  char message[256];
} PawlExprError;

// Parses a whole text as one expression. The tree lives in `arena`. Status: PAWL_ERROR_MODEL with
// `error` filled, or PAWL_ERROR_MEMORY.
PAWL_CHECKED PawlStatus pawl_ast_parse(PawlArena* arena, const char* text, size_t length,
                                       PawlAst** out, PawlExprError* error);

// Parses `left = right`; without '=' the right side is NULL. (`==` is a comparison, not this.)
PAWL_CHECKED PawlStatus pawl_ast_parse_equation(PawlArena* arena, const char* text, size_t length,
                                                PawlAst** left, PawlAst** right,
                                                PawlExprError* error);

// Parses a name with optional bracket list, the form of a key: `u`, `u[3]`, `u[i=0..N]`,
// `a[i=0..N, 2*j]`. Each bracket entry is either an index expression (low only, var NULL) or a
// range.
#define PAWL_MAX_INDICES 3
typedef struct PawlAstRange {
  const char* var;  // NULL: a plain index in `low`
  int begin, end;   // of the whole entry
  PawlAst *low, *high;
} PawlAstRange;
typedef struct PawlAstKey {
  const char* name;
  int count;
  PawlAstRange range[PAWL_MAX_INDICES];
} PawlAstKey;
PAWL_CHECKED PawlStatus pawl_ast_parse_key(PawlArena* arena, const char* text, size_t length,
                                           PawlAstKey* out, PawlExprError* error);
// Parses the head of a loop, `for i=0..N-1` or `for i=0..N, j=0..M`; name is NULL. *is_for is false
// (and nothing else is set) when the text does not begin with the word `for`.
PAWL_CHECKED PawlStatus pawl_ast_parse_for(PawlArena* arena, const char* text, size_t length,
                                           bool* is_for, PawlAstKey* out, PawlExprError* error);

// Builds the graph of a tree. `resolve` is asked for each NAME, with its indices already built
// (they are nodes; an index must fold to a whole number for most uses, which the resolver checks);
// it applies the primes itself, and the component of a path whose stem is meant. It gives
// PAWL_NO_NODE after filling the message of `error`, whose range is already that of the name; with
// no message, memory was short. `t` is not asked. Calls of
// lambda(name) and lambda(name, k) are handed to `multiplier` (NULL: refused). The branch of an
// `if` whose condition folds to a constant is the only one built, so that if(i > 0, x[i-1], 0) is
// good at i = 0; likewise the right side of `and` and `or` when the left side decides.
typedef struct PawlResolver {
  void* context;
  PawlMatrix (*resolve)(void* context, PawlDag* dag, const PawlAst* name, const PawlNode* indices,
                        PawlExprError* error);
  PawlNode (*multiplier)(void* context, PawlDag* dag, const PawlAst* call, PawlExprError* error);
  // Is the name taken? Asked for `e` and `deg`, which are numbers where they are not; NULL: never.
  bool (*knows)(void* context, const char* name);
  // A call of a function that the language does not have, with its arguments. NULL: refused.
  PawlMatrix (*call)(void* context, PawlDag* dag, const PawlAst* call, const PawlMatrix* args,
                     PawlExprError* error);
  // The index variables of sum(i=1..N, ...): a new one, its next value, and that it is gone. Both
  // that may fail do so with a message. NULL: refused.
  bool (*enter)(void* context, const PawlAst* repeat, const char* var, PawlExprError* error);
  bool (*round)(void* context, const PawlAst* repeat, int value, PawlExprError* error);
  void (*leave)(void* context);
  // What the caller knows without the graph, which then stays free of the numbers on the way: the
  // indices of a name (true: `resolve` gets NULL for them), and whether a condition holds (1, 0, or
  // -1: not known). NULL: nothing.
  bool (*indices)(void* context, const PawlAst* name);
  int (*decide)(void* context, const PawlAst* condition);
} PawlResolver;
PAWL_CHECKED PawlStatus pawl_ast_build_matrix(PawlDag* dag, const PawlAst* ast,
                                              const PawlResolver* resolver, PawlMatrix* out,
                                              PawlExprError* error);
// The same for an expression that must be a number.
PAWL_CHECKED PawlStatus pawl_ast_build(PawlDag* dag, const PawlAst* ast,
                                       const PawlResolver* resolver, PawlNode* out,
                                       PawlExprError* error);
// The number of a tree without a graph, with the bits that the graph would fold it to; `of` knows
// those of names. False where there is none, or where only the graph can tell.
typedef bool (*PawlNumberOf)(void* context, const PawlAst* name, double* value);
bool pawl_ast_number(const PawlAst* ast, PawlNumberOf of, void* context, double* value);
// True for a call of a function that the language does not have.
bool pawl_ast_is_declared_call(const PawlAst* ast);

// True for the words that a user may not take as a name: functions, the constant pi, t, and or not
// for lambda. The words of shorthand.def and sum, prod are none of them: a call has a parenthesis.
bool pawl_expr_reserved(const char* word);
// True for the word of any function, reserved or not.
bool pawl_expr_is_function(const char* word);
// A name that is a constant where nobody has taken it: e, deg.
bool pawl_constant_free(const PawlAst* name, double* value);
// Fills the error for a call of an unknown function; `nearest` may hold names offered before.
void pawl_function_unknown(PawlExprError* error, const PawlAst* call, PawlNearest* nearest);
