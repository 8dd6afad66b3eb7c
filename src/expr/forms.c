// SPDX-License-Identifier: Apache-2.0
// The forms around an expression: a whole text, an equation, a key with indices, a loop head.
#include <string.h>

#include "expr/parser.h"

// The whole text must be used up.
static void finish(PawlParser* p) {
  if (p->status != PAWL_OK || p->token.kind == PAWL_TOKEN_END) {
    return;
  }
  pawl_parser_expected(p, "an operator", pawl_parser_at(p, ")") ? "there is no '(' to it" : NULL);
}

static PawlAst* whole(PawlParser* p) {
  if (p->status == PAWL_OK && p->token.kind == PAWL_TOKEN_END) {
    return pawl_parser_expected(p, "an expression", NULL);
  }
  return pawl_parser_or(p);
}

PawlStatus pawl_ast_parse(PawlArena* arena, const char* text, size_t length, PawlAst** out,
                          PawlExprError* error) {
  PawlParser p;
  *out = NULL;
  if (pawl_parser_start(&p, arena, text, length, error) == PAWL_OK) {
    PawlAst* tree = whole(&p);
    finish(&p);
    *out = p.status == PAWL_OK ? tree : NULL;
  }
  return p.status;
}

PawlStatus pawl_ast_parse_equation(PawlArena* arena, const char* text, size_t length,
                                   PawlAst** left, PawlAst** right, PawlExprError* error) {
  PawlParser p;
  *left = *right = NULL;
  if (pawl_parser_start(&p, arena, text, length, error) != PAWL_OK) {
    return p.status;
  }
  PawlAst* sides[2] = {whole(&p), NULL};
  if (pawl_parser_take(&p, "=")) {
    sides[1] = pawl_parser_or(&p);
    if (pawl_parser_at(&p, "=")) {
      pawl_parser_expected(&p, "an operator", "an equation has one '='");
    }
  }
  finish(&p);
  if (p.status == PAWL_OK) {
    *left = sides[0];
    *right = sides[1];
  }
  return p.status;
}

void pawl_parser_range(PawlParser* p, PawlAstRange* out) {
  if (p->token.kind != PAWL_TOKEN_NAME) {
    pawl_parser_expected(p, "an index such as i=0..N", NULL);
    return;
  }
  char* var = pawl_parser_word(p);
  if (var && (pawl_expr_reserved(var) || strchr(var, '.'))) {
    pawl_expr_fail(p->error, p->token.begin, p->token.end, "'%.40s' %s and cannot name an index",
                   var, strchr(var, '.') ? "has a dot" : "is reserved");
    pawl_parser_stop(p, PAWL_ERROR_MODEL);
    return;
  }
  pawl_parser_next(p);
  if (!pawl_parser_take(p, "=")) {
    pawl_parser_expected(p, "'=' and a range such as 0..N", NULL);
    return;
  }
  out->var = var;
  out->low = pawl_parser_expression(p);
  if (out->low && !pawl_parser_take(p, "..")) {
    pawl_parser_expected(p, "'..' and the last index", NULL);
    return;
  }
  out->high = out->low ? pawl_parser_expression(p) : NULL;
}

// A name followed by a single '='.
bool pawl_parser_range_ahead(const PawlParser* p) {
  PawlLexer ahead = p->lexer;
  PawlExprError unused;
  ahead.error = &unused;
  return p->token.kind == PAWL_TOKEN_NAME && pawl_token_is(&ahead, pawl_lexer_next(&ahead), "=");
}

static void entries(PawlParser* p, PawlAstKey* out, bool only_ranges) {
  do {
    if (out->count == PAWL_MAX_INDICES) {
      pawl_expr_fail(p->error, p->token.begin, p->token.end, "at most %d indices are read",
                     PAWL_MAX_INDICES);
      pawl_parser_stop(p, PAWL_ERROR_MODEL);
      return;
    }
    PawlAstRange* entry = &out->range[out->count++];
    entry->begin = p->token.begin;
    if (only_ranges || pawl_parser_range_ahead(p)) {
      pawl_parser_range(p, entry);
    } else {
      entry->low = pawl_parser_expression(p);
      if (pawl_parser_at(p, "..")) {
        pawl_parser_expected(p, "an operator", "a range has a name: i=0..N");
      }
    }
    entry->end = p->previous_end;
    for (int k = 0; entry->var && k < out->count - 1 && p->status == PAWL_OK; k++) {
      if (out->range[k].var && strcmp(out->range[k].var, entry->var) == 0) {
        pawl_expr_fail(p->error, entry->begin, entry->end, "index '%.40s' appears twice",
                       entry->var);
        pawl_parser_stop(p, PAWL_ERROR_MODEL);
      }
    }
  } while (pawl_parser_take(p, ","));
}

static PawlStatus close_key(PawlParser* p, PawlAstKey* out, const char* what) {
  if (p->status == PAWL_OK && p->token.kind != PAWL_TOKEN_END) {
    pawl_parser_expected(p, what, NULL);
  }
  if (p->status != PAWL_OK) {
    *out = (PawlAstKey){0};
  }
  return p->status;
}

// tip.x is the x of tip; arm.tip.x may be a name, since arm is none by itself.
static bool is_component(const char* name) {
  const char* dot = strchr(name, '.');
  return dot && !strchr(dot + 1, '.') && pawl_matrix_component(dot + 1) >= 0;
}

PawlStatus pawl_ast_parse_key(PawlArena* arena, const char* text, size_t length, PawlAstKey* out,
                              PawlExprError* error) {
  PawlParser p;
  *out = (PawlAstKey){0};
  if (pawl_parser_start(&p, arena, text, length, error) != PAWL_OK) {
    return p.status;
  }
  if (p.token.kind != PAWL_TOKEN_NAME) {
    pawl_parser_expected(&p, "a name", NULL);
    return p.status;
  }
  out->name = pawl_parser_word(&p);
  if (out->name && is_component(out->name)) {
    pawl_expr_fail(error, p.token.begin, p.token.end,
                   "the name '%.60s' has a dot, which stands before the parts of a vector",
                   out->name);
    pawl_parser_stop(&p, PAWL_ERROR_MODEL);
    *out = (PawlAstKey){0};
    return p.status;
  }
  pawl_parser_next(&p);
  if (pawl_parser_take(&p, "[")) {
    entries(&p, out, false);
    if (p.status == PAWL_OK && !pawl_parser_take(&p, "]")) {
      pawl_parser_expected(&p, "an operator, ',' or ']'", NULL);
    }
    return close_key(&p, out, "nothing after ']'");
  }
  return close_key(&p, out, "'[' or nothing after a name");
}

PawlStatus pawl_ast_parse_for(PawlArena* arena, const char* text, size_t length, bool* is_for,
                              PawlAstKey* out, PawlExprError* error) {
  PawlParser p;
  PawlExprError ignored;
  *is_for = false;
  // A text that starts with a wrong character is not a loop; whoever reads it next reports it.
  if (pawl_parser_start(&p, arena, text, length, &ignored) != PAWL_OK ||
      !pawl_parser_at(&p, "for")) {
    return PAWL_OK;
  }
  *is_for = true;
  *out = (PawlAstKey){0};
  *error = (PawlExprError){0};
  p.error = p.lexer.error = error;
  pawl_parser_next(&p);
  entries(&p, out, true);
  return close_key(&p, out, "an operator, ',' or nothing after the range");
}
