// SPDX-License-Identifier: Apache-2.0
// The options of a simulation. simulate.def is expanded once, into a table; everything else reads
// the table.
#include "model/simulate.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "expr/ast.h"

static const PawlSimulateOption table[] = {
#define PAWL_WORD(name, def, sentence) \
  {{#name, def, "", sentence, 0, 0}, PAWL_OPTION_WORD, offsetof(PawlSimulateDef, name)},
#define PAWL_REAL(name, def, low, high, unit, sentence) \
  {{#name, #def, unit, sentence, low, high}, PAWL_OPTION_REAL, offsetof(PawlSimulateDef, name)},
#define PAWL_POSITIVE(name, def, low, high, unit, sentence) \
  {{#name, #def, unit, sentence, low, high}, PAWL_OPTION_POSITIVE, offsetof(PawlSimulateDef, name)},
#define PAWL_WHOLE(name, def, low, high, unit, sentence) \
  {{#name, #def, unit, sentence, low, high}, PAWL_OPTION_WHOLE, offsetof(PawlSimulateDef, name)},
#include "pawl/simulate.def"
#undef PAWL_WORD
#undef PAWL_REAL
#undef PAWL_POSITIVE
#undef PAWL_WHOLE
};
enum { OPTION_COUNT = sizeof table / sizeof *table };

PawlSimulateDef pawl_simulate_def_default(void) {
  return (PawlSimulateDef){
#define PAWL_WORD(name, def, sentence) .name = def,
#define PAWL_REAL(name, def, low, high, unit, sentence) .name = def,
#define PAWL_POSITIVE(name, def, low, high, unit, sentence) .name = def,
#define PAWL_WHOLE(name, def, low, high, unit, sentence) .name = def,
#include "pawl/simulate.def"
#undef PAWL_WORD
#undef PAWL_REAL
#undef PAWL_POSITIVE
#undef PAWL_WHOLE
  };
}

bool pawl_simulate_option(int index, PawlOptionInfo* info) {
  if (index < 0 || index >= OPTION_COUNT) {
    return false;
  }
  *info = table[index].info;
  return true;
}

const PawlSimulateOption* pawl_simulate_find(const char* name, const char** nearest) {
  PawlNearest near = {.wanted = name};
  for (int k = 0; k < OPTION_COUNT; k++) {
    if (strcmp(table[k].info.name, name) == 0) {
      return &table[k];
    }
    pawl_nearest_offer(&near, table[k].info.name);
  }
  *nearest = near.name;
  return NULL;
}

// ---- ranges ---------------------------------------------------------------------------------

static bool in_range(const PawlSimulateOption* option, double value) {
  bool good = value >= option->info.low && value <= option->info.high;  // false for NaN too
  good &= option->kind != PAWL_OPTION_POSITIVE || value > 0.0;
  return good && (option->kind != PAWL_OPTION_WHOLE || value == floor(value));
}

static void range_text(const PawlSimulateOption* option, char* text, size_t size) {
  const double unbounded = 1e300;  // the upper end that simulate.def gives where there is none
  const char* whole = option->kind == PAWL_OPTION_WHOLE ? "a whole number " : "";
  bool open = option->kind == PAWL_OPTION_POSITIVE;
  if (option->info.high >= unbounded) {
    snprintf(text, size, "must be finite and %s %g", open ? ">" : ">=", option->info.low);
  } else {
    snprintf(text, size, "must be %sin %c%g, %g]", whole, open ? '(' : '[', option->info.low,
             option->info.high);
  }
}

bool pawl_simulate_set_number(PawlSimulateDef* def, const PawlSimulateOption* option, double value,
                              char* why, size_t size) {
  if (!in_range(option, value)) {
    char range[96];
    range_text(option, range, sizeof range);
    snprintf(why, size, "%s = %g, %s", option->info.name, value, range);
    return false;
  }
  void* field = (char*)def + option->offset;
  if (option->kind == PAWL_OPTION_WHOLE) {
    *(int*)field = (int)value;
  } else {
    *(double*)field = value;
  }
  return true;
}

// ---- from text ------------------------------------------------------------------------------

static PawlMatrix no_names(void* context, PawlDag* dag, const PawlAst* name,
                           const PawlNode* indices, PawlExprError* error) {
  (void)context, (void)dag, (void)indices;
  error->begin = name->begin;
  error->end = name->end;
  snprintf(error->message, sizeof error->message, "expected a number");
  return pawl_number(PAWL_NO_NODE);
}

// The value of an expression without names, such as 1e-3 or 1/50.
static PawlStatus evaluate(PawlArena* arena, PawlDag* dag, const char* text, double* value) {
  const PawlResolver resolver = {.resolve = no_names};
  const PawlLeafValues none = {0};
  PawlExprError error = {0};
  PawlAst* ast;
  PawlNode node;
  PAWL_TRY(pawl_ast_parse(arena, text, strlen(text), &ast, &error));
  PAWL_TRY(pawl_ast_build(dag, ast, &resolver, &node, &error));
  return pawl_dag_value(dag, node, &none, value, NULL);
}

static PawlStatus number_from_text(const char* text, double* value) {
  PawlArena arena = {0};
  PawlDag* dag = pawl_dag_create();
  PawlStatus status = dag ? evaluate(&arena, dag, text, value) : PAWL_ERROR_MEMORY;
  pawl_dag_destroy(dag);
  pawl_arena_free(&arena);
  return status;
}

PawlStatus pawl_simulate_def_set(PawlSimulateDef* def, const char* option, const char* value,
                                 PawlError* err) {
  const char* nearest;
  const PawlSimulateOption* found = pawl_simulate_find(option, &nearest);
  if (!found) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "unknown option '%.40s'%s%s%s", option,
                     nearest ? "; did you mean '" : "", nearest ? nearest : "",
                     nearest ? "'?" : "");
  }
  if (found->kind == PAWL_OPTION_WORD) {
    if (*value == '\0') {
      return pawl_fail(err, PAWL_ERROR_USAGE, "%s is empty", option);
    }
    *(const char**)((char*)def + found->offset) = value;
    return PAWL_OK;
  }
  double number;
  PawlStatus status = number_from_text(value, &number);
  if (status == PAWL_ERROR_MEMORY) {
    return pawl_fail_memory(err);
  }
  char why[192];
  if (status != PAWL_OK) {
    range_text(found, why, sizeof why);
    return pawl_fail(err, PAWL_ERROR_USAGE, "%s = '%.40s' is not a number; it %s", option, value,
                     why);
  }
  if (!pawl_simulate_set_number(def, found, number, why, sizeof why)) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "%s", why);
  }
  return PAWL_OK;
}

PawlStatus pawl_simulate_def_check(const PawlSimulateDef* def, PawlError* err) {
  PawlSimulateDef copy = *def;
  for (int k = 0; k < OPTION_COUNT; k++) {
    const PawlSimulateOption* option = &table[k];
    const void* field = (const char*)def + option->offset;
    if (option->kind == PAWL_OPTION_WORD) {
      const char* word = *(const char* const*)field;
      if (!word || *word == '\0') {
        return pawl_fail(err, PAWL_ERROR_USAGE, "%s is empty", option->info.name);
      }
      continue;
    }
    double value = option->kind == PAWL_OPTION_WHOLE ? *(const int*)field : *(const double*)field;
    char why[192];
    if (!pawl_simulate_set_number(&copy, option, value, why, sizeof why)) {
      return pawl_fail(err, PAWL_ERROR_USAGE, "%s", why);
    }
  }
  return PAWL_OK;
}
