// SPDX-License-Identifier: Apache-2.0
// Scalars of the text tree parsed as expressions and keys, each once: the body of a family is
// parsed for its first index and built for all.
#include <stdio.h>
#include <string.h>

#include "model/expression.h"

// ---- names that decide the structure --------------------------------------------------------

static const PawlFamily* known_parameter(const PawlLoader* loader, const PawlAst* ast) {
  if (ast->kind != PAWL_AST_NAME || ast->primes > 0 || ast->arg_count > 0) {
    return NULL;
  }
  const PawlFamily* family = pawl_names_find(&loader->names, ast->name);
  bool good = family && family->kind == PAWL_NAME_PARAMETER && family->dimension == 0 &&
              !family->failed && family->cells && family->cells[0] >= 0;
  return good ? family : NULL;
}

static bool is_index(const PawlScope* scope, const char* name) {
  for (int k = 0; k < scope->count; k++) {
    if (strcmp(scope->name[k], name) == 0) {
      return true;
    }
  }
  return false;
}

static bool is_free(const PawlLoader* loader, const PawlAst* ast) {
  double value;
  return pawl_constant_free(ast, &value) && !pawl_names_find(&loader->names, ast->name);
}

// Trees lean to the left (a sum of many terms), so the first operand is followed by the loop and
// only the others by recursion, which the parser's limit on nesting bounds.
static bool only_structure(const PawlLoader* loader, const PawlScope* scope, const PawlAst* ast) {
  for (;;) {
    if (pawl_ast_is_declared_call(ast) || ast->kind == PAWL_AST_REPEAT ||
        (ast->kind == PAWL_AST_NAME && !known_parameter(loader, ast) && !is_free(loader, ast) &&
         !(ast->arg_count == 0 && ast->primes == 0 && is_index(scope, ast->name)))) {
      return false;
    }
    for (int k = 1; k < ast->arg_count; k++) {
      if (!only_structure(loader, scope, ast->args[k])) {
        return false;
      }
    }
    if (ast->arg_count == 0) {
      return true;
    }
    ast = ast->args[0];
  }
}

static void parameters_to_numbers(const PawlLoader* loader, PawlAst* ast) {
  for (;;) {
    const PawlFamily* family = known_parameter(loader, ast);
    if (family) {
      ast->kind = PAWL_AST_NUMBER;
      ast->value = loader->model->parameters[family->cells[0]].value;
    }
    for (int k = 1; k < ast->arg_count; k++) {
      parameters_to_numbers(loader, ast->args[k]);
    }
    if (ast->arg_count == 0) {
      return;
    }
    ast = ast->args[0];
  }
}

// The bounds of sum(i=1..N, ...) become numbers; its body knows the index.
static void fold_repeat(const PawlLoader* loader, const PawlScope* scope, PawlAst* ast) {
  PawlScope inner = *scope;
  int ranges = (ast->arg_count - 1) / 2;
  for (int k = 0; k < ranges; k++) {
    parameters_to_numbers(loader, ast->args[2 * k]);
    parameters_to_numbers(loader, ast->args[2 * k + 1]);
    if (inner.count < PAWL_SCOPE_MAX) {  // more of them are refused when they are built
      inner.name[inner.count++] = ast->vars[k];
    }
  }
  pawl_fold_structure(loader, &inner, ast->args[ast->arg_count - 1]);
}

// Parameters inside an index (x[N - 1]), in the row of a multiplier, or in a condition that only
// parameters and indices decide (if(i < N, ...)) shape the model. They become numbers, so that the
// index is known and only the right branch is built.
void pawl_fold_structure(const PawlLoader* loader, const PawlScope* scope, PawlAst* ast) {
  for (;;) {
    bool is_if = ast->kind == PAWL_AST_CALL && ast->op == PAWL_OP_IF && ast->arg_count > 0;
    bool is_lambda = ast->kind == PAWL_AST_CALL && ast->name && strcmp(ast->name, "lambda") == 0;
    if (ast->kind == PAWL_AST_REPEAT) {
      fold_repeat(loader, scope, ast);
      return;
    }
    if (is_if && only_structure(loader, scope, ast->args[0])) {
      parameters_to_numbers(loader, ast->args[0]);
    }
    for (int k = 0; k < ast->arg_count; k++) {
      if (ast->kind == PAWL_AST_NAME || (is_lambda && k > 0)) {
        parameters_to_numbers(loader, ast->args[k]);
      }
    }
    for (int k = 1; k < ast->arg_count; k++) {
      pawl_fold_structure(loader, scope, ast->args[k]);
    }
    if (ast->arg_count == 0) {
      return;
    }
    ast = ast->args[0];
  }
}

bool pawl_is_value(PawlLoader* loader, PawlYaml* text, const PawlScope* scope) {
  const PawlAst* ast = pawl_parse(loader, text, scope);
  if (!ast) {
    return false;
  }
  PawlParsed* parsed = text->parsed;  // the same for every index
  if (!parsed->judged) {
    parsed->is_value = !pawl_find_time(ast) && only_structure(loader, scope, ast);
    parsed->judged = true;
  }
  return parsed->is_value;
}

const PawlAst* pawl_find_time(const PawlAst* ast) {
  for (;;) {
    if (ast->kind == PAWL_AST_NAME && strcmp(ast->name, "t") == 0) {
      return ast;
    }
    for (int k = 1; k < ast->arg_count; k++) {
      const PawlAst* found = pawl_find_time(ast->args[k]);
      if (found) {
        return found;
      }
    }
    if (ast->arg_count == 0) {
      return NULL;
    }
    ast = ast->args[0];
  }
}

// ---- parsing --------------------------------------------------------------------------------

// The record of a scalar, new on first use; NULL when memory is short.
static PawlParsed* record(PawlLoader* loader, PawlYaml* text, bool* is_new) {
  *is_new = !text->parsed;
  if (!text->parsed) {
    text->parsed = pawl_pool_alloc(&loader->pool, sizeof *text->parsed);
    if (!text->parsed) {
      pawl_loader_no_memory(loader);
    }
  }
  return text->parsed;
}

// Brackets that do not match in a text without quotes: YAML may have cut it at a comma or bracket.
static bool looks_cut(const PawlYaml* text) {
  int round = 0, square = 0;
  for (const char* c = text->text; *c; c++) {
    round += (*c == '(') - (*c == ')');
    square += (*c == '[') - (*c == ']');
  }
  return text->plain && !text->origin && (round != 0 || square != 0);
}

// The cut-off head of an expression, "max(x" of "max(x, 2)".
static bool is_head(const PawlYaml* text) {
  int open = 0;
  for (const char* c = text->text; *c; c++) {
    open += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
  }
  return looks_cut(text) && open > 0;
}

static bool check_status(PawlLoader* loader, const PawlYaml* text, PawlStatus status,
                         const PawlExprError* error) {
  if (status == PAWL_ERROR_MEMORY) {
    return pawl_loader_no_memory(loader);
  }
  if (status != PAWL_OK && error->end >= text->length && is_head(text)) {
    pawl_report_part(&loader->report, text, error->begin,
                     "in '%s': the expression is cut off; inside { } or [ ] YAML ends it at the "
                     "next ',': put all of it in quotes, \"%s, ...\"",
                     pawl_quote(text->text).s, pawl_quote(text->text).s);
    return false;
  }
  if (status != PAWL_OK) {
    pawl_report_part(&loader->report, text, error->begin, "in '%s': %s%s", pawl_quote(text->text).s,
                     error->message, looks_cut(text) ? PAWL_YAML_FLOW_HINT : "");
    return false;
  }
  return true;
}

static bool is_number_word(const char* text) {
  static const char* const words[] = {".nan", ".NaN", ".NAN", ".inf",  ".Inf",    ".INF",
                                      "nan",  "NaN",  "NAN",  "-.inf", "-.Inf",   "-.INF",
                                      "inf",  "Inf",  "-inf", "+.inf", "infinity"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    if (strcmp(text, words[k]) == 0) {
      return true;
    }
  }
  return false;
}

static bool check_scalar(PawlLoader* loader, const PawlYaml* text) {
  if (text->kind != PAWL_YAML_SCALAR) {
    pawl_report(&loader->report, text, "expected an expression, found a %s",
                text->kind == PAWL_YAML_LIST ? "list" : "map");
    return false;
  }
  if (pawl_yaml_is_null(text)) {
    pawl_report(&loader->report, text, "expected an expression, found nothing");
    return false;
  }
  if (is_number_word(text->text)) {
    pawl_report(&loader->report, text, "'%s' is not a finite number", text->text);
    return false;
  }
  return true;
}

PawlParsed* pawl_parse_plain(PawlLoader* loader, PawlYaml* text) {
  bool is_new;
  PawlParsed* parsed = record(loader, text, &is_new);
  if (!parsed || !check_scalar(loader, text)) {
    return NULL;
  }
  PawlExprError error = {0};
  PawlStatus status =
      pawl_ast_parse(&loader->arena, text->text, (size_t)text->length, &parsed->left, &error);
  return check_status(loader, text, status, &error) ? parsed : NULL;
}

static bool parse_text(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, bool equation,
                       PawlParsed* parsed) {
  if (!check_scalar(loader, text)) {
    return false;
  }
  PawlExprError error = {0};
  PawlStatus status =
      equation
          ? pawl_ast_parse_equation(&loader->arena, text->text, (size_t)text->length, &parsed->left,
                                    &parsed->right, &error)
          : pawl_ast_parse(&loader->arena, text->text, (size_t)text->length, &parsed->left, &error);
  if (!check_status(loader, text, status, &error)) {
    return false;
  }
  pawl_fold_structure(loader, scope, parsed->left);
  parsed->time = pawl_find_time(parsed->left);
  if (parsed->right) {
    pawl_fold_structure(loader, scope, parsed->right);
    parsed->time = parsed->time ? parsed->time : pawl_find_time(parsed->right);
  }
  return true;
}

PawlParsed* pawl_parse_record(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                              bool equation) {
  bool is_new;
  PawlParsed* parsed = record(loader, text, &is_new);
  if (parsed && is_new) {
    parsed->failed = !parse_text(loader, text, scope, equation, parsed);
  }
  return parsed && !parsed->failed ? parsed : NULL;
}

const PawlAst* pawl_parse(PawlLoader* loader, PawlYaml* text, const PawlScope* scope) {
  PawlParsed* parsed = pawl_parse_record(loader, text, scope, false);
  return parsed ? parsed->left : NULL;
}

const PawlAstKey* pawl_key(PawlLoader* loader, PawlYaml* text) {
  if (text->kind != PAWL_YAML_SCALAR) {
    pawl_report(&loader->report, text, "expected a name, found a %s",
                text->kind == PAWL_YAML_LIST ? "list" : "map");
    return NULL;
  }
  bool is_new;
  PawlParsed* parsed = record(loader, text, &is_new);
  if (!parsed) {
    return NULL;
  }
  if (is_new) {
    PawlExprError error = {0};
    PawlStatus status =
        pawl_ast_parse_key(&loader->arena, text->text, (size_t)text->length, &parsed->key, &error);
    parsed->failed = !check_status(loader, text, status, &error);
  }
  return parsed->failed ? NULL : &parsed->key;
}

const PawlAstKey* pawl_loop_key(PawlLoader* loader, PawlYaml* text, bool* is_for) {
  bool is_new;
  PawlParsed* parsed = record(loader, text, &is_new);
  if (!parsed) {
    *is_for = true;  // nothing more to say about this key
    return NULL;
  }
  if (is_new) {
    PawlExprError error = {0};
    PawlStatus status = pawl_ast_parse_for(&loader->arena, text->text, (size_t)text->length,
                                           &parsed->is_for, &parsed->key, &error);
    parsed->failed = !check_status(loader, text, status, &error);
    parsed->is_for |= parsed->failed;
  }
  *is_for = parsed->is_for;
  return parsed->failed || !parsed->is_for ? NULL : &parsed->key;
}

bool pawl_load_text(PawlLoader* loader, PawlYaml* node, const char** text) {
  if (node->kind != PAWL_YAML_SCALAR) {
    pawl_report(&loader->report, node, "expected text, found a %s",
                node->kind == PAWL_YAML_LIST ? "list" : "map");
    return false;
  }
  const char* kept = pawl_loader_source(loader, node).text;
  if (!kept) {
    return false;
  }
  *text = kept;
  return true;
}

int pawl_load_word(PawlLoader* loader, const PawlYaml* node, const char* what,
                   const char* const* words) {
  const char* text = node->kind == PAWL_YAML_SCALAR ? node->text : "";
  for (int k = 0; words[k]; k++) {
    if (strcmp(text, words[k]) == 0) {
      return k;
    }
  }
  PawlNearest nearest = {.wanted = text};
  char list[120] = "";
  size_t used = 0;
  for (int k = 0; words[k]; k++) {
    pawl_nearest_offer(&nearest, words[k]);
    int length = snprintf(list + used, sizeof list - used, "%s%s", k > 0 ? ", " : "", words[k]);
    used += length > 0 && (size_t)length < sizeof list - used ? (size_t)length : 0;
  }
  pawl_report(&loader->report, node, "%s '%s': expected %s%s", what, pawl_quote(text).s, list,
              pawl_did_you_mean(nearest.name).s);
  return -1;
}

bool pawl_flag(PawlLoader* loader, const PawlYaml* text, bool* flag) {
  if (text->kind == PAWL_YAML_SCALAR) {
    *flag = strcmp(text->text, "true") == 0;
    if (*flag || strcmp(text->text, "false") == 0) {
      return true;
    }
  }
  pawl_report(&loader->report, text, "'%s': expected true or false",
              text->kind == PAWL_YAML_SCALAR ? pawl_quote(text->text).s : "...");
  return false;
}
