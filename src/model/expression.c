// SPDX-License-Identifier: Apache-2.0
// Parsed expressions become nodes of the model's graph, or numbers. Here names get their meaning:
// index, parameter, coordinate, definition, output, multiplier. What an expression contains is
// noted name by name, so that a rate in a potential energy is reported where it stands.
#include "model/expression.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const PawlUse PAWL_USE_VALUE = {"a number", 0, NULL};
const PawlUse PAWL_USE_DEFINITION = {
    "a definition", PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_A | PAWL_MAY_T | PAWL_MAY_SIGNALS, NULL};
const PawlUse PAWL_USE_WATCH = {"a condition",
                                PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_A | PAWL_MAY_T |
                                    PAWL_MAY_LAMBDA | PAWL_MAY_OUTPUT | PAWL_MAY_CONTACT |
                                    PAWL_MAY_SIGNALS,
                                NULL};

enum { MOST_UNKNOWN = 8 };  // names of one expression that are reported

// One expression being built.
typedef struct Build {
  PawlLoader* loader;
  const PawlScope* scope;
  const PawlUse* use;
  bool numbers;          // parameters are taken by value
  bool silent;           // it failed because of something reported before
  unsigned contains;     // PAWL_MAY_... so far
  const PawlYaml* text;  // the scalar that is built
  int unknown_count;     // unknown names, each reported when it is met
  const char* unknown[MOST_UNKNOWN];
  PawlScope inner;                 // the scope with the indices of sums around the present place
  const PawlUserFunction* inside;  // the function whose body is being built; NULL: none
  const PawlMatrix* arguments;     // of its call
  int depth;                       // of functions inside functions
} Build;

// ---- messages -------------------------------------------------------------------------------

#define REFUSE(error, ast, ...) \
  refuse((error), (ast), snprintf((error)->message, sizeof(error)->message, __VA_ARGS__))

static PawlNode refuse(PawlExprError* error, const PawlAst* ast, int length) {
  (void)length;  // a message cut short is still a message
  error->begin = ast->begin;
  error->end = ast->end;
  return PAWL_NO_NODE;
}

static PawlNode keep_silent(Build* build, PawlExprError* error, const PawlAst* ast) {
  build->silent = true;
  return REFUSE(error, ast, "reported before");
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

static bool is_state(const Build* build, const PawlAst* ast) {
  const PawlFamily* family =
      ast->kind == PAWL_AST_NAME ? pawl_names_find(&build->loader->names, ast->name) : NULL;
  return family && family->kind == PAWL_NAME_STATE;
}

// Notes that the expression contains `kinds`; false with a message when it may not.
static bool admit(Build* build, const PawlAst* ast, unsigned kinds, PawlExprError* error) {
  unsigned refused = kinds & ~build->use->may;
  if (refused == 0) {
    build->contains |= kinds;
    return true;
  }
  static const char* const primes[] = {"", "'", "''"};
  const char* remark = build->use->remark;
  REFUSE(error, ast, "'%s%s' contains %s, but %s may use %s only%s%s", pawl_quote(ast->name).s,
         ast->kind == PAWL_AST_NAME ? primes[ast->primes] : "()",
         leaf_text(refused, is_state(build, ast)), build->use->what,
         allowed_text(build->use->may).text, remark ? "; " : "", remark ? remark : "");
  return false;
}

// Notes the name; false when it was noted before or there are too many.
static bool note_unknown(Build* build, const char* name) {
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
static PawlMatrix unknown_name(Build* build, PawlDag* dag, const PawlAst* ast,
                               PawlExprError* error) {
  PawlLoader* loader = build->loader;
  if (loader->names_incomplete) {
    return pawl_number(keep_silent(build, error, ast));
  }
  if (build->inside) {  // its text is another one
    PawlNearest near = {.wanted = ast->name};
    for (int k = 0; k < build->inside->head->arg_count; k++) {
      pawl_nearest_offer(&near, build->inside->head->args[k]->name);
    }
    pawl_names_offer(&loader->names, &near);
    return pawl_number(REFUSE(error, ast, "unknown name '%s'%s", pawl_quote(ast->name).s,
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

// ---- indices --------------------------------------------------------------------------------

// Indices in brackets, which are constants by now unless they depend on more than they may.
static bool read_indices(PawlDag* dag, const PawlAst* name, const PawlNode* indices, int index[],
                         PawlExprError* error) {
  if (name->arg_count > PAWL_MAX_INDICES) {
    REFUSE(error, name, "more than %d indices", PAWL_MAX_INDICES);
    return false;
  }
  for (int k = 0; k < name->arg_count; k++) {
    double value;
    if (!pawl_dag_is_const(dag, indices[k], &value)) {
      REFUSE(error, name->args[k], "an index may use parameters and indices only");
      return false;
    }
    if (!pawl_to_whole(value, &index[k])) {
      REFUSE(error, name->args[k], "the index is %g, expected a whole number", value);
      return false;
    }
  }
  return true;
}

// ---- meanings -------------------------------------------------------------------------------

static PawlNode parameter(Build* build, PawlDag* dag, const PawlAst* ast, const PawlFamily* family,
                          const PawlNode* indices, PawlExprError* error) {
  bool plain = family->dimension == 0;
  if (ast->primes > 0 || (plain && ast->arg_count > 0)) {
    return REFUSE(error, ast, "'%s' is a parameter and has no %s", pawl_quote(ast->name).s,
                  ast->primes > 0 ? "time derivative" : "indices");
  }
  int index[PAWL_MAX_INDICES] = {0};
  if (!read_indices(dag, ast, indices, index, error)) {
    return PAWL_NO_NODE;
  }
  bool open = family == build->loader->parameter_open;
  if (!family->cells && !open) {
    return REFUSE(error, ast,
                  "the parameter '%s' comes later (line %d); a parameter may use earlier ones only",
                  pawl_quote(ast->name).s, family->where->line);
  }
  const int* cell = ast->arg_count == family->dimension ? pawl_family_cell(family, index) : NULL;
  if (!cell) {
    pawl_family_missing(family, ast->arg_count, index, error->message, sizeof error->message);
    return refuse(error, ast, 0);
  }
  int number = *cell;
  if (number < 0) {
    return open ? REFUSE(error, ast, "the parameter '%s' uses itself%s", pawl_quote(ast->name).s,
                         plain ? "" : ", or an element that comes later")
                : REFUSE(error, ast, "there is no such element of '%s'", pawl_quote(ast->name).s);
  }
  PawlParameter* parameter = &build->loader->model->parameters[number];
  if (build->numbers && parameter->number_line == 0 && !build->loader->judging) {
    parameter->number_line = build->text->line;
  }
  return build->numbers ? pawl_dag_const(dag, parameter->value)
                        : pawl_dag_leaf(dag, PAWL_OP_PARAM, number);
}

static PawlNode coordinate(Build* build, PawlDag* dag, const PawlAst* ast, int number,
                           PawlExprError* error) {
  static const struct {
    PawlOp leaf;
    unsigned kind;
  } level[] = {{PAWL_OP_Q, PAWL_MAY_Q}, {PAWL_OP_V, PAWL_MAY_V}, {PAWL_OP_A, PAWL_MAY_A}};
  if (!admit(build, ast, level[ast->primes].kind, error)) {
    return PAWL_NO_NODE;
  }
  return pawl_dag_leaf(dag, level[ast->primes].leaf, number);
}

// A state that has a rate is a velocity (Z1); z' is its acceleration. One without is held.
static PawlNode state(Build* build, PawlDag* dag, const PawlAst* ast, const PawlStateDef* state,
                      PawlExprError* error) {
  bool moves = state->coordinate >= 0;
  if (ast->primes > (moves ? 1 : 0)) {
    return REFUSE(
        error, ast, "'%s' is a state %s", pawl_quote(ast->name).s,
        moves ? "and has one time derivative only" : "without rate and has no time derivative");
  }
  unsigned kind = ast->primes > 0 ? PAWL_MAY_A : PAWL_MAY_STATE;
  if (!admit(build, ast, kind, error)) {
    return PAWL_NO_NODE;
  }
  return moves ? pawl_dag_leaf(dag, ast->primes > 0 ? PAWL_OP_A : PAWL_OP_STATE, state->coordinate)
               : pawl_dag_leaf(dag, PAWL_OP_INPUT, state->input);
}

static PawlNode input(Build* build, PawlDag* dag, const PawlAst* ast, int number,
                      PawlExprError* error) {
  if (ast->primes > 0) {
    return REFUSE(error, ast, "'%s' is an input and has no time derivative",
                  pawl_quote(ast->name).s);
  }
  return admit(build, ast, PAWL_MAY_INPUT, error) ? pawl_dag_leaf(dag, PAWL_OP_INPUT, number)
                                                  : PAWL_NO_NODE;
}

// What the time derivative of an expression contains.
static unsigned derivative_contains(unsigned contains) {
  return contains | (contains & PAWL_MAY_Q ? PAWL_MAY_V : 0) |
         (contains & (PAWL_MAY_V | PAWL_MAY_STATE) ? PAWL_MAY_A : 0);
}

// The time derivative of each number, kept with the definition; NULL when memory is short.
static const PawlMatrix* derive(PawlLoader* loader, PawlDag* dag, const PawlMatrix* of,
                                PawlMatrix** kept) {
  if (!*kept) {
    PawlMatrix* made = pawl_pool_alloc(&loader->pool, sizeof *made);
    if (!made) {
      pawl_loader_no_memory(loader);
      return NULL;
    }
    *made = *of;
    for (int k = 0; k < pawl_matrix_count(of); k++) {
      made->at[k] = pawl_dag_total(dag, of->at[k]);
    }
    *kept = made;
  }
  return *kept;
}

static PawlMatrix definition(Build* build, PawlDag* dag, const PawlAst* ast, int number,
                             PawlExprError* error) {
  PawlLoader* loader = build->loader;
  bool ready;
  if (!pawl_definition_ready(loader, number, &ready, error)) {
    return pawl_number(refuse(error, ast, 0));
  }
  PawlDefinition* def = &loader->definitions[number];
  if (def->state == PAWL_DEFINITION_FAILED) {
    return pawl_number(keep_silent(build, error, ast));
  }
  if (!ready) {  // stands in; the result is thrown away
    return pawl_shapeless(pawl_dag_leaf(dag, PAWL_OP_TIME, 0));
  }
  unsigned contains = def->contains;
  const PawlMatrix* what = &def->what;
  for (int k = 0; what && k < ast->primes; k++) {
    if (contains & PAWL_MAY_A) {
      return pawl_number(REFUSE(error, ast,
                                "'%s' contains accelerations, which have no time derivative here",
                                pawl_quote(ast->name).s));
    }
    what = derive(loader, dag, what, &def->derivative[k]);
    contains = derivative_contains(contains);
  }
  return what && admit(build, ast, contains, error) ? *what : pawl_number(PAWL_NO_NODE);
}

static PawlMatrix output(Build* build, const PawlAst* ast, int number, PawlExprError* error) {
  const PawlOutput* first = &build->loader->model->outputs[number];
  if (ast->primes > 0) {
    return pawl_number(
        REFUSE(error, ast, "the output '%s' has no time derivative here", pawl_quote(ast->name).s));
  }
  bool of_contact = first->of_contact;
  if (of_contact && !(build->use->may & PAWL_MAY_CONTACT)) {
    return pawl_number(REFUSE(
        error, ast, "the output '%s' is made of the force of a contact, which %s does not know",
        pawl_quote(ast->name).s, build->use->what));
  }
  build->contains |= PAWL_MAY_OUTPUT | (of_contact ? PAWL_MAY_CONTACT : 0u);
  PawlMatrix what = {first->components, 1, {first->node}};
  for (int k = 1; k < first->components; k++) {
    what.at[k] = first[k].node;
  }
  return what;
}

// R turns vectors of the body into space: the rows of (O1).
static PawlMatrix rotation_matrix(PawlDag* dag, const PawlNode p[4]) {
  PawlMatrix R = {3, 3, {0}};
  PawlNode two = pawl_dag_const(dag, 2.0), square[4];
  for (int k = 0; k < 4; k++) {
    square[k] = pawl_dag_powi(dag, p[k], 2);
  }
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    PawlNode own = pawl_dag_add(dag, square[0], square[i + 1]);
    PawlNode others = pawl_dag_add(dag, square[j + 1], square[k + 1]);
    PawlNode across = pawl_dag_mul(dag, p[i + 1], p[j + 1]);
    PawlNode twist = pawl_dag_mul(dag, p[0], p[k + 1]);
    R.at[4 * i] = pawl_dag_sub(dag, own, others);
    R.at[3 * i + j] = pawl_dag_mul(dag, two, pawl_dag_sub(dag, across, twist));
    R.at[3 * j + i] = pawl_dag_mul(dag, two, pawl_dag_add(dag, across, twist));
  }
  return R;
}

// R, R.omega or R.q0 at rest; what its time derivatives contain begins with `*contains`.
static PawlMatrix part_of_rotation(PawlDag* dag, int part, int first, unsigned* contains) {
  PawlNode p[4];
  *contains = part == PAWL_ROTATION_OMEGA ? PAWL_MAY_V : PAWL_MAY_Q;
  if (part == PAWL_ROTATION_OMEGA) {
    return (PawlMatrix){
        3,
        1,
        {pawl_dag_leaf(dag, PAWL_OP_V, first), pawl_dag_leaf(dag, PAWL_OP_V, first + 1),
         pawl_dag_leaf(dag, PAWL_OP_V, first + 2)}};
  }
  for (int k = 0; k < 4; k++) {
    p[k] = pawl_dag_leaf(dag, PAWL_OP_QUAT, 4 * first + k);
  }
  return part == PAWL_ROTATION_MATRIX ? rotation_matrix(dag, p)
                                      : pawl_number(p[part - PAWL_ROTATION_QUATERNION]);
}

static PawlMatrix rotation(Build* build, PawlDag* dag, const PawlAst* ast, int part, int number,
                           PawlExprError* error) {
  unsigned contains;
  int first = build->loader->model->turning + 3 * number;
  PawlMatrix value = part_of_rotation(dag, part, first, &contains);
  for (int k = 0; k < ast->primes; k++) {
    if (contains & PAWL_MAY_A) {
      return pawl_number(
          REFUSE(error, ast, "'%s' has no time derivative of this order", pawl_quote(ast->name).s));
    }
    for (int i = 0; i < pawl_matrix_count(&value); i++) {
      value.at[i] = pawl_dag_total(dag, value.at[i]);
    }
    contains = derivative_contains(contains);
  }
  return admit(build, ast, contains, error) ? value : pawl_number(PAWL_NO_NODE);
}

// ---- resolving ------------------------------------------------------------------------------

static const PawlFamily* find_family(const Build* build, const char* name) {
  const PawlLoader* loader = build->loader;
  const PawlFamily* family = pawl_names_find(&loader->names, name);
  if (!family && (build->use->may & PAWL_MAY_OUTPUT)) {
    family = pawl_names_find(&loader->outputs, name);
  }
  return family;
}

// A list of 2 or 3 parameters, g: [0, -9.81], has the names g_1, g_2 and is a vector by its own.
static bool parameter_list(Build* build, PawlDag* dag, const PawlAst* ast, PawlMatrix* out,
                           PawlExprError* error) {
  char name[PAWL_MODEL_MAX_NAME + 4];
  PawlMatrix list = {0, 1, {0}};
  const PawlFamily* family = NULL;
  for (int k = 0; k < 4; k++) {
    snprintf(name, sizeof name, "%.*s_%d", PAWL_MODEL_MAX_NAME, ast->name, k + 1);
    family = pawl_names_find(&build->loader->names, name);
    if (!family || family->kind != PAWL_NAME_PARAMETER) {
      break;
    }
    PawlAst one = *ast;
    one.name = name;
    list.at[list.rows++] = parameter(build, dag, &one, family, NULL, error);
  }
  *out = list;
  return list.rows == 2 || list.rows == 3;
}

// The number of the element that a name with indices stands for; -1 with a message.
static int find_element(PawlDag* dag, const PawlAst* ast, const PawlFamily* family,
                        const PawlNode* indices, PawlExprError* error) {
  int index[PAWL_MAX_INDICES];
  if (!read_indices(dag, ast, indices, index, error)) {
    return -1;
  }
  int element = pawl_family_element(family, ast->arg_count, index);
  if (element < 0) {
    pawl_family_missing(family, ast->arg_count, index, error->message, sizeof error->message);
    refuse(error, ast, 0);
    return -1;
  }
  if (ast->primes > 2) {
    REFUSE(error, ast, "more than two time derivatives");
    return -1;
  }
  return element;
}

static PawlMatrix resolve_family(Build* build, PawlDag* dag, const PawlAst* ast,
                                 const PawlNode* indices, PawlExprError* error) {
  const PawlFamily* family = find_family(build, ast->name);
  PawlMatrix list;
  if (!family) {
    bool plain = ast->primes == 0 && ast->arg_count == 0;
    return plain && parameter_list(build, dag, ast, &list, error)
               ? list
               : unknown_name(build, dag, ast, error);
  }
  if (family->failed) {
    return pawl_number(keep_silent(build, error, ast));
  }
  if (family->kind == PAWL_NAME_PARAMETER) {
    return pawl_number(parameter(build, dag, ast, family, indices, error));
  }
  if (build->use->may == 0) {  // coordinates and definitions may not be complete yet
    const char* remark = build->use->remark;
    return pawl_number(REFUSE(error, ast, "'%s' is %s, but %s may use parameters only%s%s",
                              pawl_quote(ast->name).s, pawl_name_kind_text(family->kind),
                              build->use->what, remark ? "; " : "", remark ? remark : ""));
  }
  int element = find_element(dag, ast, family, indices, error);
  if (element < 0) {
    return pawl_number(PAWL_NO_NODE);
  }
  if (family->kind == PAWL_NAME_DEFINITION) {
    return definition(build, dag, ast, element, error);
  }
  if (family->kind == PAWL_NAME_OUTPUT) {
    return output(build, ast, element, error);
  }
  if (family->kind == PAWL_NAME_ROTATION) {
    return rotation(build, dag, ast, family->part, element, error);
  }
  return pawl_number(family->kind == PAWL_NAME_COORDINATE
                         ? coordinate(build, dag, ast, element, error)
                     : family->kind == PAWL_NAME_INPUT
                         ? input(build, dag, ast, element, error)
                         : state(build, dag, ast, &build->loader->model->states[element], error));
}

// Of the function whose body is being built; -1 for other names.
static int argument_of(const Build* build, const char* name) {
  for (int k = 0; build->inside && k < build->inside->head->arg_count; k++) {
    if (strcmp(build->inside->head->args[k]->name, name) == 0) {
      return k;
    }
  }
  return -1;
}

static PawlMatrix resolve_name(Build* build, PawlDag* dag, const PawlAst* ast,
                               const PawlNode* indices, PawlExprError* error) {
  const PawlScope* scope = build->scope;
  int argument = argument_of(build, ast->name);
  if (argument >= 0) {
    return ast->primes == 0 && ast->arg_count == 0
               ? build->arguments[argument]
               : pawl_number(REFUSE(error, ast, "'%s' is an argument and has no %s",
                                    pawl_quote(ast->name).s,
                                    ast->primes > 0 ? "time derivative" : "indices"));
  }
  for (int k = 0; k < scope->count; k++) {
    if (strcmp(scope->name[k], ast->name) == 0) {
      if (ast->primes > 0 || ast->arg_count > 0) {
        return pawl_number(REFUSE(error, ast, "'%s' is an index here and has no %s",
                                  pawl_quote(ast->name).s,
                                  ast->primes > 0 ? "time derivative" : "indices"));
      }
      return pawl_number(pawl_dag_const(dag, scope->value[k]));
    }
  }
  return resolve_family(build, dag, ast, indices, error);
}

static bool knows(void* context, const char* name);

// A name, or the component of one: tip.x is the x of tip unless there is a tip.x.
static PawlMatrix resolve(void* context, PawlDag* dag, const PawlAst* ast, const PawlNode* indices,
                          PawlExprError* error) {
  if (!ast->stem || knows(context, ast->name)) {
    return resolve_name(context, dag, ast, indices, error);
  }
  PawlAst stem = *ast;
  char why[PAWL_MATRIX_WHY];
  stem.name = ast->stem;
  PawlMatrix of = resolve_name(context, dag, &stem, indices, error), part;
  if (!pawl_matrix_is_complete(&of) || pawl_matrix_part(&of, ast->component, &part, why)) {
    return pawl_matrix_is_complete(&of) ? part : of;
  }
  return pawl_number(REFUSE(error, ast, "'%s' is %s and has no .%c", pawl_quote(ast->stem).s,
                            pawl_matrix_shape(&of), 'x' + ast->component));
}

// ---- multipliers ----------------------------------------------------------------------------

static PawlNode multiplier(void* context, PawlDag* dag, const PawlAst* call, PawlExprError* error);
static PawlMatrix declared_call(void* context, PawlDag* dag, const PawlAst* call,
                                const PawlMatrix* args, PawlExprError* error);

static bool knows(void* context, const char* name) {
  const Build* build = context;
  if (argument_of(build, name) >= 0) {
    return true;
  }
  for (int k = 0; k < build->scope->count; k++) {
    if (strcmp(build->scope->name[k], name) == 0) {
      return true;
    }
  }
  return find_family(build, name) != NULL;
}

// The index of a sum is one of the scope from here on.
static bool enter_index(void* context, const PawlAst* repeat, const char* var,
                        PawlExprError* error) {
  Build* build = context;
  const PawlFamily* family = pawl_names_find(&build->loader->names, var);
  const char* wrong = argument_of(build, var) >= 0            ? "has the name of an argument"
                      : family                                ? "has the name of something else"
                      : build->scope->count == PAWL_SCOPE_MAX ? "is one index too many"
                                                              : NULL;
  for (int k = 0; k < build->scope->count && !wrong; k++) {
    wrong = strcmp(build->scope->name[k], var) == 0 ? "is already in use here" : NULL;
  }
  if (wrong) {
    REFUSE(error, repeat, "the index '%s' %s; choose another", pawl_quote(var).s, wrong);
    return false;
  }
  if (build->scope != &build->inner) {
    build->inner = *build->scope;
    build->scope = &build->inner;
  }
  build->inner.name[build->inner.count++] = var;
  return true;
}

static bool set_index(void* context, const PawlAst* repeat, int value, PawlExprError* error) {
  Build* build = context;
  build->inner.value[build->inner.count - 1] = value;
  if (pawl_loader_spend(build->loader, build->text, 1 + repeat->end - repeat->begin)) {
    return true;
  }
  keep_silent(build, error, repeat);
  return false;
}

static void leave_index(void* context) {
  ((Build*)context)->inner.count--;
}

static PawlResolver resolver(Build* build) {
  return (PawlResolver){build,         resolve,     multiplier, knows,
                        declared_call, enter_index, set_index,  leave_index};
}

static bool constant_argument(Build* build, PawlDag* dag, const PawlAst* ast, int* whole,
                              PawlExprError* error) {
  PawlResolver names = resolver(build);
  PawlNode node;
  double value;
  if (pawl_ast_build(dag, ast, &names, &node, error) != PAWL_OK) {
    return false;
  }
  if (!pawl_dag_is_const(dag, node, &value) || !pawl_to_whole(value, whole)) {
    REFUSE(error, ast, "expected a whole number");
    return false;
  }
  return true;
}

// A constraint, lock or contact.
static const PawlFamily* find_constraint(Build* build, const PawlAst* name, PawlExprError* error) {
  const PawlFamily* family = pawl_names_find(&build->loader->constraints, name->name);
  family = family ? family : pawl_names_find(&build->loader->contacts, name->name);
  if (!family) {
    PawlNearest nearest = {.wanted = name->name};
    pawl_names_offer(&build->loader->constraints, &nearest);
    pawl_names_offer(&build->loader->contacts, &nearest);
    REFUSE(error, name, "'%s' is not a constraint, lock or contact%s", pawl_quote(name->name).s,
           pawl_did_you_mean(nearest.name).s);
  } else if (family->failed) {
    keep_silent(build, error, name);
    return NULL;
  }
  return family;
}

// A contact has one row, behind those of all constraints and of all friction; rows 2 and 3 are its
// friction.
static PawlNode contact_multiplier(Build* build, PawlDag* dag, const PawlAst* call, int contact,
                                   PawlExprError* error) {
  const PawlModel* model = build->loader->model;
  int row = 1;
  if (!(build->use->may & PAWL_MAY_CONTACT)) {
    return REFUSE(error, call,
                  "'%s' is a contact: outputs and conditions know its force, but %s does not",
                  pawl_quote(model->contacts[contact].name).s, build->use->what);
  }
  build->contains |= PAWL_MAY_CONTACT;
  if (call->arg_count == 2 && !constant_argument(build, dag, call->args[1], &row, error)) {
    return PAWL_NO_NODE;
  }
  const PawlContact* of = &model->contacts[contact];
  if (row < 1 || row > 1 + of->slip_count) {
    return of->slip_count == 0
               ? REFUSE(error, call, "row %d does not exist; the contact '%s' has one row", row,
                        pawl_quote(of->name).s)
               : REFUSE(error, call,
                        "row %d does not exist; the rows of the contact '%s' are 1..%d", row,
                        pawl_quote(of->name).s, 1 + of->slip_count);
  }
  return pawl_dag_leaf(dag, PAWL_OP_LAMBDA,
                       row > 1 ? model->row_count + of->first_slip + row - 2
                               : model->row_count + model->slip_count + contact);
}

// lambda(name) or lambda(name, row).
static PawlNode multiplier(void* context, PawlDag* dag, const PawlAst* call, PawlExprError* error) {
  Build* build = context;
  if (!admit(build, call, PAWL_MAY_LAMBDA, error)) {
    return PAWL_NO_NODE;
  }
  const PawlAst* name = call->arg_count > 0 ? call->args[0] : NULL;
  if (!name || call->arg_count > 2 || name->kind != PAWL_AST_NAME || name->primes > 0 ||
      name->arg_count > PAWL_MAX_INDICES) {
    return REFUSE(error, call, "expected lambda(constraint) or lambda(constraint, row)");
  }
  const PawlFamily* family = find_constraint(build, name, error);
  if (!family) {
    return PAWL_NO_NODE;
  }
  int index[PAWL_MAX_INDICES];
  for (int k = 0; k < name->arg_count; k++) {
    if (!constant_argument(build, dag, name->args[k], &index[k], error)) {
      return PAWL_NO_NODE;
    }
  }
  int element = pawl_family_element(family, name->arg_count, index);
  if (element < 0) {
    pawl_family_missing(family, name->arg_count, index, error->message, sizeof error->message);
    return refuse(error, name, 0);
  }
  const PawlModel* model = build->loader->model;
  if (family->kind == PAWL_NAME_CONTACT) {
    return contact_multiplier(build, dag, call, element, error);
  }
  const PawlConstraint* constraint = &model->constraints[element];
  int row = 1;
  if (call->arg_count == 2 && !constant_argument(build, dag, call->args[1], &row, error)) {
    return PAWL_NO_NODE;
  }
  if (call->arg_count == 1 && constraint->row_count != 1) {
    return REFUSE(error, call, "the constraint '%s' has %d rows; write lambda(%s, row)",
                  pawl_quote(constraint->name).s, constraint->row_count,
                  pawl_quote(constraint->name).s);
  }
  if (row < 1 || row > constraint->row_count) {
    return REFUSE(error, call, "row %d does not exist; the rows of '%s' are 1..%d", row,
                  pawl_quote(constraint->name).s, constraint->row_count);
  }
  return pawl_dag_leaf(dag, PAWL_OP_LAMBDA, constraint->first_row + row - 1);
}

// ---- functions of the model -----------------------------------------------------------------

enum { MOST_FUNCTIONS_DEEP = 32, WEIGHT_OF_CALL = 40 };  // the latter in rounds of a plain range

static PawlMatrix unknown_call(Build* build, const PawlAst* call, PawlExprError* error) {
  const PawlFamily* family = pawl_names_find(&build->loader->names, call->name);
  if (family) {
    return pawl_number(REFUSE(
        error, call, "'%s' is %s, not a function; write %s*(...) for a product",
        pawl_quote(call->name).s, pawl_name_kind_text(family->kind), pawl_quote(call->name).s));
  }
  PawlNearest nearest = {.wanted = call->name};
  pawl_names_offer(&build->loader->functions, &nearest);
  pawl_function_unknown(error, call, &nearest);
  return pawl_number(PAWL_NO_NODE);
}

// A mistake in the body is told at the call, with the place of the function.
static PawlMatrix refuse_body(Build* build, const PawlUserFunction* function, const PawlAst* call,
                              const PawlExprError* inner, PawlExprError* error) {
  if (build->silent || inner->message[0] == '\0') {
    return pawl_number(keep_silent(build, error, call));
  }
  return pawl_number(REFUSE(error, call, "in the function '%s' (line %d): %.160s",
                            pawl_quote(function->head->name).s, function->key->line,
                            inner->message));
}

static PawlMatrix build_body(Build* build, PawlDag* dag, PawlUserFunction* function,
                             const PawlAst* call, const PawlMatrix* args, PawlExprError* error) {
  Build body = {.loader = build->loader,
                .scope = &PAWL_SCOPE_EMPTY,
                .use = build->use,
                .numbers = build->numbers,
                .text = build->text,
                .inside = function,
                .arguments = args,
                .depth = build->depth + 1};
  PawlResolver names = resolver(&body);
  PawlExprError inner = {0};
  PawlMatrix value = pawl_number(PAWL_NO_NODE);
  if (function->time && !admit(&body, function->time, PAWL_MAY_T, &inner)) {
    return refuse_body(build, function, call, &inner, error);
  }
  function->open = true;
  PawlStatus status = pawl_ast_build_matrix(dag, function->body, &names, &value, &inner);
  function->open = false;
  build->contains |= body.contains;
  build->silent |= body.silent;
  if (status == PAWL_ERROR_MEMORY) {
    error->message[0] = '\0';
    return pawl_number(PAWL_NO_NODE);
  }
  return status == PAWL_OK ? value : refuse_body(build, function, call, &inner, error);
}

// road(x), its derivatives road'(x), and map(x, y).
static PawlNode look_up(Build* build, PawlDag* dag, const PawlAst* call, int number,
                        const PawlMatrix* args, PawlExprError* error) {
  const PawlTable* table = build->loader->model->tables.item[number];
  int arguments = pawl_table_arguments(table), view = PAWL_TABLE_VALUE;
  if (call->arg_count != arguments) {
    return REFUSE(error, call, "the table '%s' takes %d argument%s, %d given",
                  pawl_quote(call->name).s, arguments, arguments == 1 ? "" : "s", call->arg_count);
  }
  if (call->primes > (arguments == 1 ? PAWL_TABLE_MOST_ORDER : 0)) {
    return REFUSE(error, call, "the table '%s' takes %s", pawl_quote(call->name).s,
                  arguments == 1 ? "at most 3 primes" : "no prime, since it has two arguments");
  }
  for (int k = 0; k < arguments; k++) {
    if (!pawl_is_number(&args[k]) && !pawl_is_shapeless(&args[k])) {
      return REFUSE(error, call, "the table '%s' takes numbers, found %s", pawl_quote(call->name).s,
                    pawl_matrix_shape(&args[k]));
    }
  }
  for (int k = 0; k < call->primes && view >= 0; k++) {
    view = pawl_table_derivative(table, view, 0);
  }
  return pawl_dag_table(dag, number, view, args[0].at[0],
                        arguments == 2 ? args[1].at[0] : PAWL_NO_NODE);
}

// Arguments are nodes already, so a function is built as often as it is called.
static PawlMatrix declared_call(void* context, PawlDag* dag, const PawlAst* call,
                                const PawlMatrix* args, PawlExprError* error) {
  Build* build = context;
  PawlLoader* loader = build->loader;
  const PawlFamily* family = pawl_names_find(&loader->functions, call->name);
  if (!family) {
    return unknown_call(build, call, error);
  }
  if (family->failed) {
    return pawl_number(keep_silent(build, error, call));
  }
  if (family->kind == PAWL_NAME_TABLE) {
    return pawl_number(look_up(build, dag, call, family->cells[0], args, error));
  }
  PawlUserFunction* function = &loader->user_functions[family->cells[0]];
  if (call->primes > 0 || call->arg_count != function->head->arg_count) {
    return pawl_number(call->primes > 0
                           ? REFUSE(error, call,
                                    "'%s' is a function and takes no prime; define one for it",
                                    pawl_quote(call->name).s)
                           : REFUSE(error, call, "%s takes %d argument%s, %d given",
                                    pawl_quote(call->name).s, function->head->arg_count,
                                    function->head->arg_count == 1 ? "" : "s", call->arg_count));
  }
  if (function->open || build->depth == MOST_FUNCTIONS_DEEP) {
    return pawl_number(REFUSE(error, call, "the function '%s' %s", pawl_quote(call->name).s,
                              function->open ? "uses itself" : "is inside too many others"));
  }
  if (!pawl_loader_spend(loader, build->text, WEIGHT_OF_CALL + function->value->length)) {
    return pawl_number(keep_silent(build, error, call));
  }
  if (!build->numbers && !function->folded) {
    pawl_fold_structure(loader, &PAWL_SCOPE_EMPTY, function->body);
    function->folded = true;
  }
  return build_body(build, dag, function, call, args, error);
}

// ---- building -------------------------------------------------------------------------------

static bool build_ast(Build* build, PawlDag* dag, const PawlYaml* text, const PawlAst* ast,
                      PawlMatrix* out) {
  PawlLoader* loader = build->loader;
  PawlExprError error = {0};
  PawlResolver names = resolver(build);
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
static bool admit_time(Build* build, const PawlYaml* text, const PawlAst* time) {
  PawlExprError error = {0};
  if (!time || admit(build, time, PAWL_MAY_T, &error)) {
    return true;
  }
  pawl_report_part(&build->loader->report, text, time->begin, "in '%s': %s",
                   pawl_quote(text->text).s, error.message);
  return false;
}

// left - right, of one shape.
static bool subtract(Build* build, PawlDag* dag, const PawlYaml* text, const PawlMatrix* right,
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

static bool build_record(Build* build, PawlDag* dag, PawlYaml* text, bool equation,
                         PawlMatrix* out) {
  enum { USUAL_LENGTH = 256 };  // a longer text counts as work, byte by byte
  int excess = text->length > USUAL_LENGTH ? text->length - USUAL_LENGTH : 0;
  PawlParsed* parsed = pawl_parse_record(build->loader, text, build->scope, equation);
  if (!parsed || !pawl_loader_spend(build->loader, text, excess)) {
    return false;
  }
  PawlMatrix right;
  bool good =
      admit_time(build, text, parsed->time) && build_ast(build, dag, text, parsed->left, out);
  if (parsed->right && (good || build->unknown_count > 0)) {
    good &= build_ast(build, dag, text, parsed->right, &right);
  }
  good = good && (!parsed->right || subtract(build, dag, text, &right, out));
  parsed->failed = !good;
  return good;
}

// The same for what must be a number.
static bool build_number(Build* build, PawlDag* dag, PawlYaml* text, PawlNode* node) {
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
  Build build = {.loader = loader, .scope = scope, .use = use};
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
  Build build = {
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
    PawlMatrix* entry = &entries[count++];
    good &= child->kind == PAWL_YAML_LIST ? shaped_list(how, child, entry, contains)
                                          : shaped(how, child, entry, contains);
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
  Build build = {
      .loader = loader, .scope = scope, .use = use, .inside = &function, .arguments = &given};
  return build_number(&build, loader->model->dag, text, node);
}

bool pawl_equation(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, const PawlUse* use,
                   PawlMatrix* out) {
  Build build = {.loader = loader, .scope = scope, .use = use};
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
  Build build = {.loader = loader, .scope = scope, .use = &PAWL_USE_VALUE, .numbers = true};
  PawlNode node;
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
  Build build = {.loader = loader, .scope = scope, .use = &PAWL_USE_VALUE, .numbers = true};
  PawlMatrix number;
  double value;
  if (!admit_time(&build, text, pawl_find_time(ast)) ||
      !build_ast(&build, loader->values, text, ast, &number) ||
      !node_value(loader, number.at[0], &value)) {
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
