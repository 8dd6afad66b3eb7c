// SPDX-License-Identifier: Apache-2.0
// Parsed expressions become nodes of the model's graph, or numbers. Names get their meaning in
// expression_names.c and expression_calls.c. What an expression contains is noted name by name, so
// that a rate in a potential energy is reported where it stands.
#include "model/expression.h"

#include <math.h>

#include "model/expression_impl.h"

const PawlUse PAWL_USE_VALUE = {"a number", 0, NULL};
const PawlUse PAWL_USE_DEFINITION = {
    "a definition", PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_A | PAWL_MAY_T | PAWL_MAY_SIGNALS, NULL};
const PawlUse PAWL_USE_WATCH = {"a condition",
                                PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_A | PAWL_MAY_T |
                                    PAWL_MAY_LAMBDA | PAWL_MAY_OUTPUT | PAWL_MAY_CONTACT |
                                    PAWL_MAY_SIGNALS,
                                NULL};

// ---- building -------------------------------------------------------------------------------

static bool build_ast(PawlBuild* build, PawlDag* dag, const PawlYaml* text, const PawlAst* ast,
                      PawlMatrix* out) {
  PawlLoader* loader = build->loader;
  PawlExprError error = {0};
  PawlResolver names = pawl_build_resolver(build);
  build->text = text;
  PawlStatus status = pawl_ast_build_matrix(dag, ast, &names, out, &error);
  if (status == PAWL_ERROR_MEMORY) {
    return pawl_loader_no_memory(loader);
  }
  if (status == PAWL_OK || build->unknown_count > 0) {  // what else is wrong may follow from these
    return build->unknown_count == 0;
  }
  if (!build->silent) {
    pawl_report_part(&loader->report, text, error.begin, "in '%s': %s", pawl_quote(text->text).s,
                     error.message);
  }
  return false;
}

// The graph knows t by itself; whether it may be used here is for us to say.
static bool admit_time(PawlBuild* build, const PawlYaml* text, const PawlAst* time) {
  PawlExprError error = {0};
  if (!time || pawl_build_admit(build, time, PAWL_MAY_T, &error)) {
    return true;
  }
  pawl_report_part(&build->loader->report, text, time->begin, "in '%s': %s",
                   pawl_quote(text->text).s, error.message);
  return false;
}

// left - right, of one shape.
static bool subtract(PawlBuild* build, PawlDag* dag, const PawlYaml* text, const PawlMatrix* right,
                     PawlMatrix* left) {
  if (pawl_is_number(left) && pawl_is_number(right)) {
    left->at[0] = pawl_dag_sub(dag, left->at[0], right->at[0]);
  } else if (!pawl_is_shapeless(left) && !pawl_is_shapeless(right) &&
             !pawl_matrix_same_shape(left, right)) {
    pawl_report(&build->loader->report, text, "in '%s': the left side is %s and the right side %s",
                pawl_quote(text->text).s, pawl_matrix_shape(left), pawl_matrix_shape(right));
    return false;
  } else {
    const PawlMatrix sides[2] = {*left, *right};
    char why[PAWL_MATRIX_WHY];
    (void)pawl_matrix_operate(dag, PAWL_OP_SUB, "=", 2, sides, left, why);
  }
  return pawl_matrix_is_complete(left) || pawl_loader_no_memory(build->loader);
}

// left, or left - right.
static bool build_sides(PawlBuild* build, PawlDag* dag, const PawlYaml* text,
                        const PawlParsed* parsed, PawlMatrix* out) {
  PawlMatrix right;
  bool good =
      admit_time(build, text, parsed->time) && build_ast(build, dag, text, parsed->left, out);
  if (parsed->right && (good || build->unknown_count > 0)) {
    good &= build_ast(build, dag, text, parsed->right, &right);
  }
  return good && (!parsed->right || subtract(build, dag, text, &right, out));
}

enum { USUAL_LENGTH = 256 };  // a longer text counts as work, byte by byte

static bool build_record(PawlBuild* build, PawlDag* dag, PawlYaml* text, bool equation,
                         PawlMatrix* out) {
  int excess = text->length > USUAL_LENGTH ? text->length - USUAL_LENGTH : 0;
  PawlParsed* parsed = pawl_parse_record(build->loader, text, build->scope, equation);
  if (!parsed || !pawl_loader_spend(build->loader, text, excess)) {
    return false;
  }
  build->loader->built = NULL;
  bool member = build->scope->count > 0 && !build->numbers && !build->inside;
  int done = member ? pawl_again(build, dag, text, parsed, out) : 0;
  if (done != 0) {
    return done > 0;
  }
  if (member) {
    pawl_again_begin(build, dag, parsed);
  }
  bool good = build_sides(build, dag, text, parsed, out);
  pawl_again_end(build, dag, parsed, out, good);
  parsed->failed = !good;
  return good;
}

// The same for what must be a number.
static bool build_number(PawlBuild* build, PawlDag* dag, PawlYaml* text, PawlNode* node) {
  PawlMatrix value;
  if (!build_record(build, dag, text, false, &value)) {
    return false;
  }
  if (!pawl_is_number(&value) && !pawl_is_shapeless(&value)) {
    pawl_report(&build->loader->report, text, "in '%s': expected a number, found %s",
                pawl_quote(text->text).s, pawl_matrix_shape(&value));
    text->parsed->failed = true;
    return false;
  }
  *node = value.at[0];
  return true;
}

bool pawl_expression_contains(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                              const PawlUse* use, PawlNode* node, unsigned* contains) {
  PawlBuild build = {.loader = loader, .scope = scope, .use = use};
  bool good = build_number(&build, loader->model->dag, text, node);
  *contains = build.contains;
  return good;
}

typedef struct Shaping {
  PawlLoader* loader;
  const PawlScope* scope;
  const PawlUse* use;
  PawlDag* dag;
  bool numbers;
} Shaping;

static bool shaped(const Shaping* how, PawlYaml* text, PawlMatrix* out, unsigned* contains) {
  PawlBuild build = {
      .loader = how->loader, .scope = how->scope, .use = how->use, .numbers = how->numbers};
  bool good = build_record(&build, how->dag, text, false, out);
  *contains |= build.contains;
  return good;
}

// Depth: that of the tree, PAWL_MODEL_MAX_NESTING.
static bool shaped_list(const Shaping* how, PawlYaml* list, PawlMatrix* out, unsigned* contains) {
  PawlReport* report = &how->loader->report;
  PawlMatrix entries[3];
  char why[PAWL_MATRIX_WHY];
  bool good = true;
  int count = 0;
  if (list->count > 3) {
    pawl_report(report, list, "a vector has 2 or 3 numbers, %d given%s", list->count,
                PAWL_YAML_FLOW_HINT);
    return false;
  }
  for (PawlYaml* child = list->first; child; child = child->next) {
    PawlMatrix* entry = &entries[count];
    good &= child->kind == PAWL_YAML_LIST ? shaped_list(how, child, entry, contains)
                                          : shaped(how, child, entry, contains);
    count++;
  }
  if (good && !pawl_matrix_literal(count, entries, out, why)) {
    pawl_report(report, list, "%s%s", why, PAWL_YAML_FLOW_HINT);
    return false;
  }
  return good;
}

bool pawl_shaped(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, const PawlUse* use,
                 PawlMatrix* out, unsigned* contains) {
  Shaping how = {loader, scope, use, loader->model->dag, false};
  *contains = 0;
  return text->kind == PAWL_YAML_LIST ? shaped_list(&how, text, out, contains)
                                      : shaped(&how, text, out, contains);
}

bool pawl_vector(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, const PawlUse* use,
                 PawlMatrix* out) {
  unsigned contains;
  if (!pawl_shaped(loader, text, scope, use, out, &contains)) {
    return false;
  }
  if (!pawl_is_vector(out)) {
    pawl_report(&loader->report, text, "expected a vector [x, y] or [x, y, z], found %s",
                pawl_matrix_shape(out));
    return false;
  }
  return true;
}

bool pawl_expression(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, const PawlUse* use,
                     PawlNode* node) {
  unsigned contains;
  return pawl_expression_contains(loader, text, scope, use, node, &contains);
}

bool pawl_expression_with(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                          const PawlUse* use, const char* name, PawlNode value, PawlNode* node) {
  PawlAst argument = {.kind = PAWL_AST_NAME, .name = name}, *arguments[] = {&argument};
  PawlAst head = {.args = arguments, .arg_count = 1};
  PawlUserFunction function = {.head = &head};
  PawlMatrix given = pawl_number(value);
  PawlBuild build = {
      .loader = loader, .scope = scope, .use = use, .inside = &function, .arguments = &given};
  return build_number(&build, loader->model->dag, text, node);
}

bool pawl_equation(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, const PawlUse* use,
                   PawlMatrix* out) {
  PawlBuild build = {.loader = loader, .scope = scope, .use = use};
  if (!build_record(&build, loader->model->dag, text, true, out)) {
    return false;
  }
  if (out->cols > 1) {
    pawl_report(&loader->report, text, "in '%s': an equation of matrices; write one of vectors",
                pawl_quote(text->text).s);
    text->parsed->failed = true;
  }
  return out->cols == 1;
}

static bool node_value(PawlLoader* loader, PawlNode node, double* value) {
  if (pawl_dag_is_const(loader->values, node, value)) {
    return true;
  }
  // Not folded because it has no value, such as 1/0.
  PawlLeafValues none = {0};
  if (pawl_dag_value(loader->values, node, &none, value, NULL) != PAWL_OK) {
    return pawl_loader_no_memory(loader);
  }
  return true;
}

bool pawl_value(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, double* value) {
  PawlBuild build = {.loader = loader, .scope = scope, .use = &PAWL_USE_VALUE, .numbers = true};
  PawlNode node;
  const PawlParsed* parsed = pawl_parse_record(loader, text, scope, false);
  if (!parsed) {
    return false;
  }
  build.text = text;
  if (text->length <= USUAL_LENGTH && pawl_build_number(&build, parsed->left, value)) {
    return true;
  }
  if (!build_number(&build, loader->values, text, &node) || !node_value(loader, node, value)) {
    return false;
  }
  if (!isfinite(*value)) {
    pawl_report(&loader->report, text, "'%s' is not a finite number", pawl_quote(text->text).s);
    text->parsed->failed = true;
    return false;
  }
  return true;
}

bool pawl_values(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, PawlMatrix* shape,
                 double out[9]) {
  unsigned contains = 0;
  Shaping how = {loader, scope, &PAWL_USE_VALUE, loader->values, true};
  bool good = text->kind == PAWL_YAML_LIST ? shaped_list(&how, text, shape, &contains)
                                           : shaped(&how, text, shape, &contains);
  for (int k = 0; good && k < pawl_matrix_count(shape); k++) {
    good = node_value(loader, shape->at[k], &out[k]);
    if (good && !isfinite(out[k])) {
      pawl_report(&loader->report, text, "not all of these are finite numbers");
      return false;
    }
  }
  return good;
}

bool pawl_whole(PawlLoader* loader, const PawlYaml* text, const PawlAst* ast,
                const PawlScope* scope, int* whole) {
  PawlBuild build = {.loader = loader, .scope = scope, .use = &PAWL_USE_VALUE, .numbers = true};
  PawlMatrix number;
  double value;
  build.text = text;
  bool known = pawl_build_number(&build, ast, &value);
  if (!known && (!admit_time(&build, text, pawl_find_time(ast)) ||
                 !build_ast(&build, loader->values, text, ast, &number) ||
                 !node_value(loader, number.at[0], &value))) {
    return false;
  }
  if (!pawl_to_whole(value, whole)) {
    pawl_report_part(&loader->report, text, ast->begin,
                     "in '%s': '%s' is %g, expected a whole number", pawl_quote(text->text).s,
                     pawl_quote_part(text->text, ast->begin, ast->end).s, value);
    return false;
  }
  return true;
}

bool pawl_judge(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, double* value) {
  loader->judging = true;
  bool good = pawl_value(loader, text, scope, value);
  loader->judging = false;
  return good;
}
