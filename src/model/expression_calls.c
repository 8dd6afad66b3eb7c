// SPDX-License-Identifier: Apache-2.0
// Calls in an expression that the language itself does not know (expression_impl.h): multipliers,
// functions of the model and tables.
#include "model/expression_impl.h"

// ---- multipliers ----------------------------------------------------------------------------

static bool constant_argument(PawlBuild* build, PawlDag* dag, const PawlAst* ast, int* whole,
                              PawlExprError* error) {
  PawlResolver names = pawl_build_resolver(build);
  PawlNode node;
  double value;
  if (pawl_ast_build(dag, ast, &names, &node, error) != PAWL_OK) {
    return false;
  }
  if (!pawl_dag_is_const(dag, node, &value) || !pawl_to_whole(value, whole)) {
    PAWL_REFUSE(error, ast, "expected a whole number");
    return false;
  }
  return true;
}

// A constraint, lock or contact.
static const PawlFamily* find_constraint(PawlBuild* build, const PawlAst* name,
                                         PawlExprError* error) {
  const PawlFamily* family = pawl_names_find(&build->loader->constraints, name->name);
  family = family ? family : pawl_names_find(&build->loader->contacts, name->name);
  if (!family) {
    PawlNearest nearest = {.wanted = name->name};
    pawl_names_offer(&build->loader->constraints, &nearest);
    pawl_names_offer(&build->loader->contacts, &nearest);
    PAWL_REFUSE(error, name, "'%s' is not a constraint, lock or contact%s",
                pawl_quote(name->name).s, pawl_did_you_mean(nearest.name).s);
  } else if (family->failed) {
    pawl_build_silent(build, error, name);
    return NULL;
  }
  return family;
}

// A contact has one row, behind those of all constraints and of all friction; rows 2 and 3 are its
// friction.
static PawlNode contact_multiplier(PawlBuild* build, PawlDag* dag, const PawlAst* call, int contact,
                                   PawlExprError* error) {
  const PawlModel* model = build->loader->model;
  int row = 1;
  if (!(build->use->may & PAWL_MAY_CONTACT)) {
    return PAWL_REFUSE(error, call,
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
               ? PAWL_REFUSE(error, call, "row %d does not exist; the contact '%s' has one row",
                             row, pawl_quote(of->name).s)
               : PAWL_REFUSE(error, call,
                             "row %d does not exist; the rows of the contact '%s' are 1..%d", row,
                             pawl_quote(of->name).s, 1 + of->slip_count);
  }
  return pawl_dag_leaf(dag, PAWL_OP_LAMBDA,
                       row > 1 ? model->row_count + of->first_slip + row - 2
                               : model->row_count + model->slip_count + contact);
}

// lambda(name) or lambda(name, row).
PawlNode pawl_build_multiplier(void* context, PawlDag* dag, const PawlAst* call,
                               PawlExprError* error) {
  PawlBuild* build = context;
  pawl_again_refuse(build);
  if (!pawl_build_admit(build, call, PAWL_MAY_LAMBDA, error)) {
    return PAWL_NO_NODE;
  }
  const PawlAst* name = call->arg_count > 0 ? call->args[0] : NULL;
  if (!name || call->arg_count > 2 || name->kind != PAWL_AST_NAME || name->primes > 0 ||
      name->arg_count > PAWL_MAX_INDICES) {
    return PAWL_REFUSE(error, call, "expected lambda(constraint) or lambda(constraint, row)");
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
    return pawl_build_refuse(error, name, 0);
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
    return PAWL_REFUSE(error, call, "the constraint '%s' has %d rows; write lambda(%s, row)",
                       pawl_quote(constraint->name).s, constraint->row_count,
                       pawl_quote(constraint->name).s);
  }
  if (row < 1 || row > constraint->row_count) {
    return PAWL_REFUSE(error, call, "row %d does not exist; the rows of '%s' are 1..%d", row,
                       pawl_quote(constraint->name).s, constraint->row_count);
  }
  return pawl_dag_leaf(dag, PAWL_OP_LAMBDA, constraint->first_row + row - 1);
}

// ---- functions of the model -----------------------------------------------------------------

enum { MOST_FUNCTIONS_DEEP = 32, WEIGHT_OF_CALL = 40 };  // the latter in rounds of a plain range

static PawlMatrix unknown_call(PawlBuild* build, const PawlAst* call, PawlExprError* error) {
  const PawlFamily* family = pawl_names_find(&build->loader->names, call->name);
  if (family) {
    return pawl_number(PAWL_REFUSE(
        error, call, "'%s' is %s, not a function; write %s*(...) for a product",
        pawl_quote(call->name).s, pawl_name_kind_text(family->kind), pawl_quote(call->name).s));
  }
  PawlNearest nearest = {.wanted = call->name};
  pawl_names_offer(&build->loader->functions, &nearest);
  pawl_function_unknown(error, call, &nearest);
  return pawl_number(PAWL_NO_NODE);
}

// A mistake in the body is told at the call, with the place of the function.
static PawlMatrix refuse_body(PawlBuild* build, const PawlUserFunction* function,
                              const PawlAst* call, const PawlExprError* inner,
                              PawlExprError* error) {
  if (build->silent || inner->message[0] == '\0') {
    return pawl_number(pawl_build_silent(build, error, call));
  }
  return pawl_number(PAWL_REFUSE(error, call, "in the function '%s' (line %d): %.160s",
                                 pawl_quote(function->head->name).s, function->key->line,
                                 inner->message));
}

static PawlMatrix build_body(PawlBuild* build, PawlDag* dag, PawlUserFunction* function,
                             const PawlAst* call, const PawlMatrix* args, PawlExprError* error) {
  PawlBuild body = {.loader = build->loader,
                    .scope = &PAWL_SCOPE_EMPTY,
                    .use = build->use,
                    .numbers = build->numbers,
                    .text = build->text,
                    .inside = function,
                    .arguments = args,
                    .depth = build->depth + 1};
  PawlResolver names = pawl_build_resolver(&body);
  PawlExprError inner = {0};
  PawlMatrix value = pawl_number(PAWL_NO_NODE);
  if (function->time && !pawl_build_admit(&body, function->time, PAWL_MAY_T, &inner)) {
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
static PawlNode look_up(PawlBuild* build, PawlDag* dag, const PawlAst* call, int number,
                        const PawlMatrix* args, PawlExprError* error) {
  const PawlTable* table = build->loader->model->tables.item[number];
  int arguments = pawl_table_arguments(table), view = PAWL_TABLE_VALUE;
  if (call->arg_count != arguments) {
    return PAWL_REFUSE(error, call, "the table '%s' takes %d argument%s, %d given",
                       pawl_quote(call->name).s, arguments, arguments == 1 ? "" : "s",
                       call->arg_count);
  }
  if (call->primes > (arguments == 1 ? PAWL_TABLE_MOST_ORDER : 0)) {
    return PAWL_REFUSE(
        error, call, "the table '%s' takes %s", pawl_quote(call->name).s,
        arguments == 1 ? "at most 3 primes" : "no prime, since it has two arguments");
  }
  for (int k = 0; k < arguments; k++) {
    if (!pawl_is_number(&args[k]) && !pawl_is_shapeless(&args[k])) {
      return PAWL_REFUSE(error, call, "the table '%s' takes numbers, found %s",
                         pawl_quote(call->name).s, pawl_matrix_shape(&args[k]));
    }
  }
  for (int k = 0; k < call->primes && view >= 0; k++) {
    view = pawl_table_derivative(table, view, 0);
  }
  return pawl_dag_table(dag, number, view, args[0].at[0],
                        arguments == 2 ? args[1].at[0] : PAWL_NO_NODE);
}

// Arguments are nodes already, so a function is built as often as it is called.
PawlMatrix pawl_build_call(void* context, PawlDag* dag, const PawlAst* call, const PawlMatrix* args,
                           PawlExprError* error) {
  PawlBuild* build = context;
  PawlLoader* loader = build->loader;
  const PawlFamily* family = pawl_names_find(&loader->functions, call->name);
  if (!family) {
    return unknown_call(build, call, error);
  }
  if (family->failed) {
    return pawl_number(pawl_build_silent(build, error, call));
  }
  if (family->kind == PAWL_NAME_TABLE) {
    return pawl_number(look_up(build, dag, call, family->cells[0], args, error));
  }
  PawlUserFunction* function = &loader->user_functions[family->cells[0]];
  if (call->primes > 0 || call->arg_count != function->head->arg_count) {
    return pawl_number(
        call->primes > 0
            ? PAWL_REFUSE(error, call, "'%s' is a function and takes no prime; define one for it",
                          pawl_quote(call->name).s)
            : PAWL_REFUSE(error, call, "%s takes %d argument%s, %d given", pawl_quote(call->name).s,
                          function->head->arg_count, function->head->arg_count == 1 ? "" : "s",
                          call->arg_count));
  }
  if (function->open || build->depth == MOST_FUNCTIONS_DEEP) {
    return pawl_number(PAWL_REFUSE(error, call, "the function '%s' %s", pawl_quote(call->name).s,
                                   function->open ? "uses itself" : "is inside too many others"));
  }
  if (!pawl_loader_spend(loader, build->text, WEIGHT_OF_CALL + function->value->length)) {
    return pawl_number(pawl_build_silent(build, error, call));
  }
  if (!build->numbers && !function->folded) {
    pawl_fold_structure(loader, &PAWL_SCOPE_EMPTY, function->body);
    function->folded = true;
  }
  return build_body(build, dag, function, call, args, error);
}
