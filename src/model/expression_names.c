// SPDX-License-Identifier: Apache-2.0
// What the names of an expression stand for (expression_impl.h): index, parameter, coordinate,
// rotation, definition, output.
#include <math.h>

#include "model/expression_impl.h"

// ---- indices --------------------------------------------------------------------------------

// Indices in brackets, which are constants by now unless they depend on more than they may.
static bool read_indices(const PawlBuild* build, PawlDag* dag, const PawlAst* name,
                         const PawlNode* indices, int index[], PawlExprError* error) {
  if (!indices) {
    memcpy(index, build->index, sizeof build->index);
    return true;
  }
  if (name->arg_count > PAWL_MAX_INDICES) {
    PAWL_REFUSE(error, name, "more than %d indices", PAWL_MAX_INDICES);
    return false;
  }
  for (int k = 0; k < name->arg_count; k++) {
    double value;
    if (!pawl_dag_is_const(dag, indices[k], &value)) {
      PAWL_REFUSE(error, name->args[k], "an index may use parameters and indices only");
      return false;
    }
    if (!pawl_to_whole(value, &index[k])) {
      PAWL_REFUSE(error, name->args[k], "the index is %g, expected a whole number", value);
      return false;
    }
  }
  return true;
}

// ---- meanings -------------------------------------------------------------------------------

static PawlNode parameter(PawlBuild* build, PawlDag* dag, const PawlAst* ast,
                          const PawlFamily* family, const PawlNode* indices, PawlExprError* error) {
  bool plain = family->dimension == 0;
  if (ast->primes > 0 || (plain && ast->arg_count > 0)) {
    return PAWL_REFUSE(error, ast, "'%s' is a parameter and has no %s", pawl_quote(ast->name).s,
                       ast->primes > 0 ? "time derivative" : "indices");
  }
  int index[PAWL_MAX_INDICES] = {0};
  if (!read_indices(build, dag, ast, indices, index, error)) {
    return PAWL_NO_NODE;
  }
  bool open = family == build->loader->parameter_open;
  if (!family->cells && !open) {
    return PAWL_REFUSE(
        error, ast,
        "the parameter '%s' comes later (line %d); a parameter may use earlier ones only",
        pawl_quote(ast->name).s, family->where->line);
  }
  const int* cell = ast->arg_count == family->dimension ? pawl_family_cell(family, index) : NULL;
  if (!cell) {
    pawl_family_missing(family, ast->arg_count, index, error->message, sizeof error->message);
    return pawl_build_refuse(error, ast, 0);
  }
  int number = *cell;
  if (number < 0) {
    return open ? PAWL_REFUSE(error, ast, "the parameter '%s' uses itself%s",
                              pawl_quote(ast->name).s,
                              plain ? "" : ", or an element that comes later")
                : PAWL_REFUSE(error, ast, "there is no such element of '%s'",
                              pawl_quote(ast->name).s);
  }
  PawlParameter* parameter = &build->loader->model->parameters[number];
  if (build->numbers && parameter->number_line == 0 && !build->loader->judging) {
    parameter->number_line = build->text->line;
  }
  if (build->numbers) {
    return pawl_dag_const(dag, parameter->value);
  }
  pawl_again_look(build, ast, family, number);
  PawlNode leaf = pawl_dag_leaf(dag, PAWL_OP_PARAM, number);
  pawl_again_looked(build);
  return leaf;
}

static PawlNode coordinate(PawlBuild* build, PawlDag* dag, const PawlAst* ast, int number,
                           PawlExprError* error) {
  static const struct {
    PawlOp leaf;
    unsigned kind;
  } level[] = {{PAWL_OP_Q, PAWL_MAY_Q}, {PAWL_OP_V, PAWL_MAY_V}, {PAWL_OP_A, PAWL_MAY_A}};
  if (!pawl_build_admit(build, ast, level[ast->primes].kind, error)) {
    return PAWL_NO_NODE;
  }
  return pawl_dag_leaf(dag, level[ast->primes].leaf, number);
}

// A state that has a rate is a velocity (Z1); z' is its acceleration. One without is held.
static PawlNode state(PawlBuild* build, PawlDag* dag, const PawlAst* ast, const PawlStateDef* state,
                      PawlExprError* error) {
  bool moves = state->coordinate >= 0;
  if (ast->primes > (moves ? 1 : 0)) {
    return PAWL_REFUSE(
        error, ast, "'%s' is a state %s", pawl_quote(ast->name).s,
        moves ? "and has one time derivative only" : "without rate and has no time derivative");
  }
  if (!moves && build->loader->model->inputs[state->input].kind == PAWL_INPUT_FOLLOWS &&
      !build->numbers) {
    return pawl_dag_leaf(dag, PAWL_OP_INPUT, state->input);  // a number wherever it stands
  }
  bool kept = !moves && (build->use->may & PAWL_MAY_KEPT);
  unsigned kind = ast->primes > 0 ? PAWL_MAY_A : kept ? PAWL_MAY_KEPT : PAWL_MAY_STATE;
  build->loader->keeps |= kept;
  if (!pawl_build_admit(build, ast, kind, error)) {
    return PAWL_NO_NODE;
  }
  return moves ? pawl_dag_leaf(dag, ast->primes > 0 ? PAWL_OP_A : PAWL_OP_STATE, state->coordinate)
               : pawl_dag_leaf(dag, PAWL_OP_INPUT, state->input);
}

static PawlNode input(PawlBuild* build, PawlDag* dag, const PawlAst* ast, int number,
                      PawlExprError* error) {
  if (ast->primes > 0) {
    return PAWL_REFUSE(error, ast, "'%s' is an input and has no time derivative",
                       pawl_quote(ast->name).s);
  }
  return pawl_build_admit(build, ast, PAWL_MAY_INPUT, error)
             ? pawl_dag_leaf(dag, PAWL_OP_INPUT, number)
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

static PawlMatrix definition(PawlBuild* build, PawlDag* dag, const PawlAst* ast, int number,
                             PawlExprError* error) {
  PawlLoader* loader = build->loader;
  bool ready;
  if (!pawl_definition_ready(loader, number, &ready, error)) {
    return pawl_number(pawl_build_refuse(error, ast, 0));
  }
  PawlDefinition* def = &loader->definitions[number];
  if (def->state == PAWL_DEFINITION_FAILED) {
    return pawl_number(pawl_build_silent(build, error, ast));
  }
  if (!ready) {  // stands in; the result is thrown away
    return pawl_shapeless(pawl_dag_leaf(dag, PAWL_OP_TIME, 0));
  }
  unsigned contains = def->contains;
  const PawlMatrix* what = &def->what;
  for (int k = 0; what && k < ast->primes; k++) {
    if (contains & PAWL_MAY_A) {
      return pawl_number(
          PAWL_REFUSE(error, ast, "'%s' contains accelerations, which have no time derivative here",
                      pawl_quote(ast->name).s));
    }
    what = derive(loader, dag, what, &def->derivative[k]);
    contains = derivative_contains(contains);
  }
  return what && pawl_build_admit(build, ast, contains, error) ? *what : pawl_number(PAWL_NO_NODE);
}

static PawlMatrix output(PawlBuild* build, const PawlAst* ast, int number, PawlExprError* error) {
  const PawlOutput* first = &build->loader->model->outputs[number];
  if (ast->primes > 0) {
    return pawl_number(PAWL_REFUSE(error, ast, "the output '%s' has no time derivative here",
                                   pawl_quote(ast->name).s));
  }
  bool of_contact = first->of_contact;
  if (of_contact && !(build->use->may & PAWL_MAY_CONTACT)) {
    return pawl_number(PAWL_REFUSE(
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
static PawlMatrix part_of_rotation(PawlDag* dag, int part, int first) {
  PawlNode p[4];
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

// Derivatives of rotations that were asked for last; each is asked for many times in a row. The
// steps of a member that is noted must all be taken.
static PawlTurned* find_turned(PawlLoader* loader, const PawlDag* dag, int number, int primes) {
  enum { KEPT = sizeof loader->turned / sizeof *loader->turned };
  if (loader->notes || dag != loader->model->dag || primes == 0) {
    return NULL;
  }
  for (int k = 0; k < KEPT; k++) {
    PawlTurned* turned = &loader->turned[k];
    if (turned->number == number && turned->primes == primes) {
      return turned;
    }
  }
  PawlTurned* oldest = &loader->turned[loader->next_turned++ % KEPT];
  *oldest = (PawlTurned){.number = number, .primes = primes};
  return oldest;
}

static PawlMatrix derive_rotation(PawlLoader* loader, PawlDag* dag, int part, int number,
                                  int primes) {
  PawlTurned* turned =
      part == PAWL_ROTATION_MATRIX ? find_turned(loader, dag, number, primes) : NULL;
  if (turned && turned->R.rows > 0) {
    return turned->R;
  }
  PawlMatrix value = part_of_rotation(dag, part, loader->model->turning + 3 * number);
  for (int k = 0; k < primes; k++) {
    for (int i = 0; i < pawl_matrix_count(&value); i++) {
      value.at[i] = pawl_dag_total(dag, value.at[i]);
    }
  }
  if (turned && pawl_matrix_is_complete(&value)) {
    turned->R = value;
  }
  return value;
}

static PawlMatrix rotation(PawlBuild* build, PawlDag* dag, const PawlAst* ast, int part, int number,
                           PawlExprError* error) {
  unsigned contains = part == PAWL_ROTATION_OMEGA ? PAWL_MAY_V : PAWL_MAY_Q;
  for (int k = 0; k < ast->primes; k++) {
    if (contains & PAWL_MAY_A) {
      return pawl_number(PAWL_REFUSE(error, ast, "'%s' has no time derivative of this order",
                                     pawl_quote(ast->name).s));
    }
    contains = derivative_contains(contains);
  }
  PawlMatrix value = derive_rotation(build->loader, dag, part, number, ast->primes);
  return pawl_build_admit(build, ast, contains, error) ? value : pawl_number(PAWL_NO_NODE);
}

// ---- resolving ------------------------------------------------------------------------------

static const PawlFamily* find_family(const PawlBuild* build, const char* name) {
  const PawlLoader* loader = build->loader;
  const PawlFamily* family = pawl_names_find(&loader->names, name);
  if (!family && (build->use->may & PAWL_MAY_OUTPUT)) {
    family = pawl_names_find(&loader->outputs, name);
  }
  return family;
}

// A list of 2 or 3 parameters, g: [0, -9.81], has the names g_1, g_2 and is a vector by its own.
static bool parameter_list(PawlBuild* build, PawlDag* dag, const PawlAst* ast, PawlMatrix* out,
                           PawlExprError* error) {
  char name[PAWL_MODEL_MAX_NAME + 16];
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
    list.at[list.rows++] = family->failed ? pawl_build_silent(build, error, ast)
                                          : parameter(build, dag, &one, family, NULL, error);
  }
  *out = list;
  return list.rows == 2 || list.rows == 3;
}

// The number of the element that a name with indices stands for; -1 with a message.
static int find_element(const PawlBuild* build, PawlDag* dag, const PawlAst* ast,
                        const PawlFamily* family, const PawlNode* indices, PawlExprError* error) {
  int index[PAWL_MAX_INDICES];
  if (!read_indices(build, dag, ast, indices, index, error)) {
    return -1;
  }
  int element = pawl_family_element(family, ast->arg_count, index);
  if (element < 0) {
    pawl_family_missing(family, ast->arg_count, index, error->message, sizeof error->message);
    pawl_build_refuse(error, ast, 0);
    return -1;
  }
  if (ast->primes > 2) {
    PAWL_REFUSE(error, ast, "more than two time derivatives");
    return -1;
  }
  return element;
}

static PawlMatrix coordinates(PawlBuild* build, PawlDag* dag, const PawlAst* ast,
                              const PawlFamily* family, int element, PawlExprError* error) {
  bool rotates = family->kind == PAWL_NAME_ROTATION;
  pawl_again_look(build, ast, family, element);
  PawlMatrix what = rotates ? rotation(build, dag, ast, family->part, element, error)
                            : pawl_number(coordinate(build, dag, ast, element, error));
  pawl_again_looked(build);
  return what;
}

static PawlMatrix resolve_family(PawlBuild* build, PawlDag* dag, const PawlAst* ast,
                                 const PawlNode* indices, PawlExprError* error) {
  const PawlFamily* family = find_family(build, ast->name);
  PawlMatrix list;
  if (!family) {
    bool plain = ast->primes == 0 && ast->arg_count == 0;
    return plain && parameter_list(build, dag, ast, &list, error)
               ? list
               : pawl_build_unknown(build, dag, ast, error);
  }
  if (family->failed) {
    return pawl_number(pawl_build_silent(build, error, ast));
  }
  if (family->kind == PAWL_NAME_PARAMETER) {
    return pawl_number(parameter(build, dag, ast, family, indices, error));
  }
  if (build->use->may == 0) {  // coordinates and definitions may not be complete yet
    const char* remark = build->use->remark;
    return pawl_number(PAWL_REFUSE(error, ast, "'%s' is %s, but %s may use parameters only%s%s",
                                   pawl_quote(ast->name).s, pawl_name_kind_text(family->kind),
                                   build->use->what, remark ? "; " : "", remark ? remark : ""));
  }
  int element = find_element(build, dag, ast, family, indices, error);
  if (element < 0) {
    return pawl_number(PAWL_NO_NODE);
  }
  if (family->kind == PAWL_NAME_COORDINATE || family->kind == PAWL_NAME_ROTATION) {
    return coordinates(build, dag, ast, family, element, error);
  }
  pawl_again_refuse(build);  // these lead to more than one leaf, or to others than their number
  if (family->kind == PAWL_NAME_DEFINITION) {
    return definition(build, dag, ast, element, error);
  }
  if (family->kind == PAWL_NAME_OUTPUT) {
    return output(build, ast, element, error);
  }
  return pawl_number(family->kind == PAWL_NAME_INPUT
                         ? input(build, dag, ast, element, error)
                         : state(build, dag, ast, &build->loader->model->states[element], error));
}

// Of the function whose body is being built; -1 for other names.
static int argument_of(const PawlBuild* build, const char* name) {
  for (int k = 0; build->inside && k < build->inside->head->arg_count; k++) {
    if (strcmp(build->inside->head->args[k]->name, name) == 0) {
      return k;
    }
  }
  return -1;
}

static PawlMatrix resolve_name(PawlBuild* build, PawlDag* dag, const PawlAst* ast,
                               const PawlNode* indices, PawlExprError* error) {
  const PawlScope* scope = build->scope;
  int argument = argument_of(build, ast->name);
  if (argument >= 0) {
    return ast->primes == 0 && ast->arg_count == 0
               ? build->arguments[argument]
               : pawl_number(PAWL_REFUSE(error, ast, "'%s' is an argument and has no %s",
                                         pawl_quote(ast->name).s,
                                         ast->primes > 0 ? "time derivative" : "indices"));
  }
  for (int k = 0; k < scope->count; k++) {
    if (strcmp(scope->name[k], ast->name) == 0) {
      if (ast->primes > 0 || ast->arg_count > 0) {
        return pawl_number(PAWL_REFUSE(error, ast, "'%s' is an index here and has no %s",
                                       pawl_quote(ast->name).s,
                                       ast->primes > 0 ? "time derivative" : "indices"));
      }
      pawl_again_refuse(build);
      return pawl_number(pawl_dag_const(dag, scope->value[k]));
    }
  }
  return resolve_family(build, dag, ast, indices, error);
}

static bool knows(void* context, const char* name) {
  const PawlBuild* build = context;
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
  return pawl_number(PAWL_REFUSE(error, ast, "'%s' is %s and has no .%c", pawl_quote(ast->stem).s,
                                 pawl_matrix_shape(&of), 'x' + ast->component));
}

// ---- indices of sums ------------------------------------------------------------------------

// The index of a sum is one of the scope from here on.
static bool enter_index(void* context, const PawlAst* repeat, const char* var,
                        PawlExprError* error) {
  PawlBuild* build = context;
  pawl_again_refuse(build);
  const PawlFamily* family = pawl_names_find(&build->loader->names, var);
  const char* wrong = argument_of(build, var) >= 0            ? "has the name of an argument"
                      : family                                ? "has the name of something else"
                      : build->scope->count == PAWL_SCOPE_MAX ? "is one index too many"
                                                              : NULL;
  for (int k = 0; k < build->scope->count && !wrong; k++) {
    wrong = strcmp(build->scope->name[k], var) == 0 ? "is already in use here" : NULL;
  }
  if (wrong) {
    PAWL_REFUSE(error, repeat, "the index '%s' %s; choose another", pawl_quote(var).s, wrong);
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
  PawlBuild* build = context;
  build->inner.value[build->inner.count - 1] = value;
  if (pawl_loader_spend(build->loader, build->text, 1 + repeat->end - repeat->begin)) {
    return true;
  }
  pawl_build_silent(build, error, repeat);
  return false;
}

static void leave_index(void* context) {
  ((PawlBuild*)context)->inner.count--;
}

// ---- numbers without the graph --------------------------------------------------------------

// A parameter of which nothing is wrong.
static bool parameter_number(const PawlBuild* build, const PawlAst* ast, double* value) {
  const PawlFamily* family = pawl_names_find(&build->loader->names, ast->name);
  if (!family || family->kind != PAWL_NAME_PARAMETER || family->failed || !family->cells ||
      family->dimension > 0 || family->cells[0] < 0) {
    return false;
  }
  PawlParameter* parameter = &build->loader->model->parameters[family->cells[0]];
  if (parameter->number_line == 0 && !build->loader->judging) {
    parameter->number_line = build->text->line;
  }
  *value = parameter->value + 0.0;
  return isfinite(*value);
}

static bool number_of(void* context, const PawlAst* ast, double* value) {
  const PawlBuild* build = context;
  if (ast->primes > 0 || ast->arg_count > 0 || build->inside) {
    return false;
  }
  for (int k = 0; k < build->scope->count; k++) {
    if (strcmp(build->scope->name[k], ast->name) == 0) {
      *value = build->scope->value[k];
      return true;
    }
  }
  return build->numbers && parameter_number(build, ast, value);
}

bool pawl_build_number(PawlBuild* build, const PawlAst* ast, double* value) {
  return pawl_ast_number(ast, number_of, build, value);
}

static bool known_indices(void* context, const PawlAst* name) {
  PawlBuild* build = context;
  double value;
  for (int k = 0; k < name->arg_count; k++) {
    if (k == PAWL_MAX_INDICES || !pawl_build_number(build, name->args[k], &value) ||
        !pawl_to_whole(value, &build->index[k])) {
      return false;
    }
  }
  return true;
}

static int decide(void* context, const PawlAst* condition) {
  PawlBuild* build = context;
  double value;
  if (!pawl_build_number(build, condition, &value)) {
    return -1;
  }
  pawl_again_decided(build, condition, value != 0.0);
  return value != 0.0;
}

PawlResolver pawl_build_resolver(PawlBuild* build) {
  return (PawlResolver){
      build,       resolve,   pawl_build_multiplier, knows,         pawl_build_call,
      enter_index, set_index, leave_index,           known_indices, decide};
}
