// SPDX-License-Identifier: Apache-2.0
// What is wrong with an expression, in words (expression_impl.h).
#include "model/expression_impl.h"

PawlNode pawl_build_refuse(PawlExprError* error, const PawlAst* ast, int length) {
  (void)length;  // a message cut short is still a message
  error->begin = ast->begin;
  error->end = ast->end;
  return PAWL_NO_NODE;
}

PawlNode pawl_build_silent(PawlBuild* build, PawlExprError* error, const PawlAst* ast) {
  build->silent = true;
  return PAWL_REFUSE(error, ast, "reported before");
}

static const char* leaf_text(unsigned kinds, bool of_state) {
  return kinds & PAWL_MAY_LAMBDA          ? "multipliers"
         : kinds & PAWL_MAY_A && of_state ? "the rate of a state"
         : kinds & PAWL_MAY_A             ? "accelerations"
         : kinds & PAWL_MAY_V             ? "rates"
         : kinds & PAWL_MAY_STATE         ? "states"
         : kinds & PAWL_MAY_INPUT         ? "inputs"
         : kinds & PAWL_MAY_Q             ? "coordinates"
                                          : "time";
}

typedef struct Allowed {
  char text[120];
} Allowed;

// "parameters, coordinates and t"
static Allowed allowed_text(unsigned may) {
  static const struct {
    unsigned kind;
    const char* text;
  } kinds[] = {{PAWL_MAY_Q, "coordinates"},
               {PAWL_MAY_V, "rates"},
               {PAWL_MAY_A, "accelerations"},
               {PAWL_MAY_LAMBDA, "multipliers"},
               {PAWL_MAY_STATE, "states"},
               {PAWL_MAY_INPUT, "inputs"},
               {PAWL_MAY_T, "t"}};
  Allowed out = {"parameters"};
  unsigned left = may & (PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_A | PAWL_MAY_LAMBDA | PAWL_MAY_SIGNALS |
                         PAWL_MAY_T);
  if (left == (PAWL_MAY_Q | PAWL_MAY_V)) {
    return (Allowed){"parameters and the starts of others"};
  }
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    size_t used = strlen(out.text);
    if (left & kinds[k].kind) {
      left &= ~kinds[k].kind;
      snprintf(out.text + used, sizeof out.text - used, "%s%s", left == 0 ? " and " : ", ",
               kinds[k].text);
    }
  }
  return out;
}

static bool is_state(const PawlBuild* build, const PawlAst* ast) {
  const PawlFamily* family =
      ast->kind == PAWL_AST_NAME ? pawl_names_find(&build->loader->names, ast->name) : NULL;
  return family && family->kind == PAWL_NAME_STATE;
}

// Notes that the expression contains `kinds`; false with a message when it may not.
bool pawl_build_admit(PawlBuild* build, const PawlAst* ast, unsigned kinds, PawlExprError* error) {
  unsigned refused = kinds & ~build->use->may;
  if (refused == 0) {
    build->contains |= kinds;
    return true;
  }
  static const char* const primes[] = {"", "'", "''"};
  const char* remark = build->use->remark;
  PAWL_REFUSE(error, ast, "'%s%s' contains %s, but %s may use %s only%s%s", pawl_quote(ast->name).s,
              ast->kind == PAWL_AST_NAME ? primes[ast->primes] : "()",
              leaf_text(refused, is_state(build, ast)), build->use->what,
              allowed_text(build->use->may).text, remark ? "; " : "", remark ? remark : "");
  return false;
}

// Notes the name; false when it was noted before or there are too many.
static bool note_unknown(PawlBuild* build, const char* name) {
  for (int k = 0; k < build->unknown_count; k++) {
    if (strcmp(build->unknown[k], name) == 0) {
      return false;
    }
  }
  if (build->unknown_count == MOST_UNKNOWN) {
    return false;
  }
  build->unknown[build->unknown_count++] = name;
  return true;
}

// Reports the name and goes on with time in its place, so that all unknown names are found.
PawlMatrix pawl_build_unknown(PawlBuild* build, PawlDag* dag, const PawlAst* ast,
                              PawlExprError* error) {
  PawlLoader* loader = build->loader;
  if (loader->names_incomplete) {
    return pawl_number(pawl_build_silent(build, error, ast));
  }
  if (build->inside) {  // its text is another one
    PawlNearest near = {.wanted = ast->name};
    for (int k = 0; k < build->inside->head->arg_count; k++) {
      pawl_nearest_offer(&near, build->inside->head->args[k]->name);
    }
    pawl_names_offer(&loader->names, &near);
    return pawl_number(PAWL_REFUSE(error, ast, "unknown name '%s'%s", pawl_quote(ast->name).s,
                                   pawl_did_you_mean(near.name).s));
  }
  if (!note_unknown(build, ast->name)) {
    return pawl_shapeless(pawl_dag_leaf(dag, PAWL_OP_TIME, 0));
  }
  const PawlFamily* function = pawl_names_find(&loader->functions, ast->name);
  if (function) {
    pawl_report_part(&loader->report, build->text, ast->begin,
                     "in '%s': '%s' is %s and needs its arguments, %s(x)",
                     pawl_quote(build->text->text).s, pawl_quote(ast->name).s,
                     pawl_name_kind_text(function->kind), pawl_quote(ast->name).s);
    return pawl_shapeless(pawl_dag_leaf(dag, PAWL_OP_TIME, 0));
  }
  PawlNearest nearest = {.wanted = ast->name};
  for (int k = 0; k < build->scope->count; k++) {
    pawl_nearest_offer(&nearest, build->scope->name[k]);
  }
  if (!pawl_report_is_full(&loader->report)) {
    pawl_names_offer(&loader->names, &nearest);
    if (build->use->may & PAWL_MAY_OUTPUT) {
      pawl_names_offer(&loader->outputs, &nearest);
    }
  }
  pawl_report_part(&loader->report, build->text, ast->begin, "in '%s': unknown name '%s'%s",
                   pawl_quote(build->text->text).s, pawl_quote(ast->name).s,
                   pawl_did_you_mean(nearest.name).s);
  return pawl_shapeless(pawl_dag_leaf(dag, PAWL_OP_TIME, 0));
}
