// SPDX-License-Identifier: Apache-2.0
// Inside of the parser: shared by the grammar of expressions (parse.c), the forms around it
// (forms.c) and the table of words (words.c).
#pragma once

#include "expr/lexer.h"

typedef struct PawlParser {
  PawlLexer lexer;
  PawlToken token;   // the one looked at
  int previous_end;  // where the last token taken ends
  int depth;
  bool naming;        // inside lambda( ): words are names of constraints
  PawlStatus status;  // the first failure; `token` is then WRONG
  PawlArena* arena;
  PawlExprError* error;
} PawlParser;

PawlStatus pawl_parser_start(PawlParser* p, PawlArena* arena, const char* text, size_t length,
                             PawlExprError* error);
void pawl_parser_next(PawlParser* p);
bool pawl_parser_at(const PawlParser* p, const char* text);
bool pawl_parser_take(PawlParser* p, const char* text);  // moves on when at `text`
char* pawl_parser_word(PawlParser* p);                   // a copy of the token's text
PawlAst* pawl_parser_expression(PawlParser* p);          // one level deeper
PawlAst* pawl_parser_or(PawlParser* p);
// `i=low..high`, with the parser at the name; and whether it is at such a name.
void pawl_parser_range(PawlParser* p, PawlAstRange* out);
bool pawl_parser_range_ahead(const PawlParser* p);

// Both return NULL, to be written `return pawl_parser_expected(...)`.
void* pawl_parser_stop(PawlParser* p, PawlStatus status);
// "expected <what>, found <token>; <hint>". With a NULL hint there may be a usual one.
void* pawl_parser_expected(PawlParser* p, const char* what, const char* hint);

// Words. The operation of lambda is LAMBDA.
bool pawl_function_find(const char* word, PawlOp* op);
bool pawl_repeat_find(const char* word, PawlOp* op);  // of sum, prod, min, max over a range
bool pawl_constant_find(const char* word, double* value);
// Fills the error and returns false when the number of arguments does not fit.
bool pawl_function_accepts(PawlExprError* error, const PawlAst* call);
