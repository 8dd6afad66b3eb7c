// SPDX-License-Identifier: Apache-2.0
// Expression text to tokens.
#pragma once

#include "expr/ast.h"

typedef enum PawlTokenKind {
  PAWL_TOKEN_END,
  PAWL_TOKEN_NUMBER,
  PAWL_TOKEN_NAME,   // the words and, or, not, for included
  PAWL_TOKEN_MARK,   // an operator or a bracket, one or two characters
  PAWL_TOKEN_WRONG,  // the lexer's error is filled
} PawlTokenKind;

typedef struct PawlToken {
  PawlTokenKind kind;
  int begin, end;  // byte range
  double value;    // NUMBER
} PawlToken;

typedef struct PawlLexer {
  const char* text;
  int length, at;
  PawlExprError* error;
} PawlLexer;

PawlToken pawl_lexer_next(PawlLexer* lexer);

// True when the token's text is `mark` (for MARK) or the word (for NAME).
bool pawl_token_is(const PawlLexer* lexer, PawlToken token, const char* text);

// The token as a message shows it: 'x1', or "the end". `buffer` has PAWL_SHOWN bytes.
#define PAWL_SHOWN 48
const char* pawl_token_show(const PawlLexer* lexer, PawlToken token, char* buffer);

// Fills an error; `begin` and `end` are byte positions in the text.
PAWL_PRINTF(4, 5)
void pawl_expr_fail(PawlExprError* error, int begin, int end, const char* format, ...);
