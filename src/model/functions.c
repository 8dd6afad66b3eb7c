// SPDX-License-Identifier: Apache-2.0
// `functions:` of the user, `spring(x, k): k*x^3`. A call is its text with the arguments in their
// places (expression.c); here the heads and bodies are read.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "model/expression.h"

// ---- heads and bodies ---------------------------------------------------------------------------

static bool is_plain_name(const PawlAst* ast) {
  return ast->kind == PAWL_AST_NAME && ast->primes == 0 && ast->arg_count == 0;
}

// The key as a call of names; NULL after reporting.
static const PawlAst* read_head(PawlLoader* loader, PawlYaml* key) {
  PawlAst* head = NULL;
  PawlExprError error = {0};
  PawlStatus status = pawl_ast_parse(&loader->arena, key->text, (size_t)key->length, &head, &error);
  if (status == PAWL_ERROR_MEMORY) {
    pawl_loader_no_memory(loader);
    return NULL;
  }
  char word[PAWL_MODEL_MAX_NAME + 1];
  size_t length = strcspn(key->text, "( ");
  snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : 0), key->text);
  if (pawl_expr_is_function(word)) {
    pawl_report(&loader->report, key, "'%s' is a function of the language; choose another name",
                pawl_quote(word).s);
    return NULL;
  }
  bool good = status == PAWL_OK && head->kind == PAWL_AST_CALL && head->primes == 0;
  for (int k = 0; good && k < head->arg_count; k++) {
    good = is_plain_name(head->args[k]) && !pawl_expr_reserved(head->args[k]->name);
    for (int j = 0; good && j < k; j++) {
      good = strcmp(head->args[j]->name, head->args[k]->name) != 0;
    }
  }
  if (!good) {
    pawl_report(&loader->report, key,
                "'%s': expected a function with its arguments, name(x, k), each with a name of its "
                "own",
                pawl_quote(key->text).s);
  }
  return good ? head : NULL;
}

PawlFamily* pawl_add_function_name(PawlLoader* loader, PawlYaml* key, const char* name,
                                   PawlNameKind kind) {
  const PawlFamily* other = pawl_names_find(&loader->functions, name);
  if (other) {
    pawl_report(&loader->report, key, "'%s' is already %s (line %d)", pawl_quote(name).s,
                pawl_name_kind_text(other->kind), other->where->line);
    return NULL;
  }
  PawlFamily* family = pawl_names_add(&loader->functions, &loader->pool, name);
  if (!family) {
    pawl_loader_no_memory(loader);
    return NULL;
  }
  family->kind = kind;
  family->where = key;
  family->cell_count = 1;
  family->failed = true;  // until it is complete
  return pawl_family_fix(family, &loader->arena) || pawl_loader_no_memory(loader) ? family : NULL;
}

static void load_function(PawlLoader* loader, PawlYaml* child) {
  const PawlAst* head = read_head(loader, child->key);
  PawlFamily* family =
      head ? pawl_add_function_name(loader, child->key, head->name, PAWL_NAME_FUNCTION) : NULL;
  PawlParsed* parsed = family ? pawl_parse_plain(loader, child) : NULL;
  if (!parsed || !PAWL_ROOM(loader, child, loader->user_functions, loader->user_function_capacity,
                            loader->user_function_count)) {
    return;
  }
  loader->user_functions[loader->user_function_count] =
      (PawlUserFunction){.head = head,
                         .key = child->key,
                         .value = child,
                         .body = parsed->left,
                         .time = pawl_find_time(parsed->left)};
  family->cells[0] = loader->user_function_count++;
  family->failed = false;
}

void pawl_load_functions(PawlLoader* loader, PawlYaml* section) {
  if (pawl_expect_map(loader, section, "functions")) {
    for (PawlYaml* child = section->first; child; child = child->next) {
      load_function(loader, child);
    }
  }
}
