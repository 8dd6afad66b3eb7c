// SPDX-License-Identifier: Apache-2.0
// Tree to graph. A stack of trees under way and a stack of finished nodes, no recursion: a sum of
// a hundred thousand terms is a tree of that depth.
//
// What a constant condition rules out is not built: the other branch of an `if`, and the right
// side of `and`, `or` that the left side decides. Values are numbers, vectors and matrices
// (matrix.h); what leaves the builder are the nodes of their numbers.
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/ast.h"
#include "expr/lexer.h"
#include "expr/shorthand.h"

typedef struct Frame {
  const PawlAst* tree;
  int next;  // the next argument to build
} Frame;

typedef struct Builder {
  PawlDag* dag;
  const PawlResolver* resolver;
  PawlExprError* error;
  Frame* frame;
  int frame_count, frame_capacity;
  PawlMatrix* value;
  int value_count, value_capacity;
} Builder;

static PawlStatus run(Builder* b, int base);

static PawlStatus push_frame(Builder* b, const PawlAst* tree) {
  if (PAWL_GROW(b->frame, b->frame_capacity, b->frame_count + 1) != 0) {
    return PAWL_ERROR_MEMORY;
  }
  b->frame[b->frame_count++] = (Frame){tree, 0};
  return PAWL_OK;
}

static PawlStatus push_value(Builder* b, const PawlMatrix* value) {
  if (!pawl_matrix_is_complete(value) ||
      PAWL_GROW(b->value, b->value_capacity, b->value_count + 1) != 0) {
    return PAWL_ERROR_MEMORY;
  }
  b->value[b->value_count++] = *value;
  return PAWL_OK;
}

static PawlStatus push_node(Builder* b, PawlNode node) {
  PawlMatrix number = pawl_number(node);
  return push_value(b, &number);
}

static PawlStatus refuse(Builder* b, const PawlAst* tree, const char* why) {
  pawl_expr_fail(b->error, tree->begin, tree->end, "%s", why);
  return PAWL_ERROR_MODEL;
}

static PawlNode compare(PawlDag* dag, PawlCompare kind, PawlNode a, PawlNode b) {
  static const PawlOp op[] = {PAWL_OP_LT, PAWL_OP_LE, PAWL_OP_LT,
                              PAWL_OP_LE, PAWL_OP_EQ, PAWL_OP_NE};
  bool swap = kind == PAWL_CMP_GT || kind == PAWL_CMP_GE;
  return pawl_dag_apply(dag, op[kind], swap ? b : a, swap ? a : b, PAWL_NO_NODE);
}

static PawlNode chain(PawlDag* dag, const PawlAst* tree, const PawlMatrix* args) {
  PawlNode all = compare(dag, tree->compare[0], args[0].at[0], args[1].at[0]);
  for (int k = 1; k < tree->arg_count - 1; k++) {
    PawlNode link = compare(dag, tree->compare[k], args[k].at[0], args[k + 1].at[0]);
    all = pawl_dag_apply(dag, PAWL_OP_AND, all, link, PAWL_NO_NODE);
  }
  return all;
}

// An operation, function or comparison of numbers.
static PawlNode apply(PawlDag* dag, const PawlAst* tree, const PawlMatrix* args) {
  if (tree->kind == PAWL_AST_COMPARE) {
    return chain(dag, tree, args);
  }
  if (tree->kind == PAWL_AST_CALL && tree->shorthand >= 0) {
    PawlNode three[3] = {PAWL_NO_NODE, PAWL_NO_NODE, PAWL_NO_NODE};
    for (int k = 0; k < tree->arg_count; k++) {
      three[k] = args[k].at[0];
    }
    return pawl_shorthand_build(dag, tree->shorthand, three);
  }
  if (tree->op == PAWL_OP_IF) {
    return pawl_dag_apply(dag, PAWL_OP_IF, args[0].at[0], args[1].at[0], args[2].at[0]);
  }
  if (tree->arg_count == 1) {
    return pawl_dag_unary(dag, tree->op, args[0].at[0]);
  }
  PawlNode result = args[0].at[0];  // min and max take any number
  for (int k = 1; k < tree->arg_count; k++) {
    result = pawl_dag_apply(dag, tree->op, result, args[k].at[0], PAWL_NO_NODE);
  }
  return result;
}

static bool are_numbers(int count, const PawlMatrix* args) {
  for (int k = 0; k < count; k++) {
    if (!pawl_is_number(&args[k])) {
      return false;
    }
  }
  return true;
}

// norm(a)^2 without the root, whose derivative does not exist at a = 0; PAWL_NO_NODE for others.
static PawlNode square_of_norm(const PawlDag* dag, const PawlAst* tree, const PawlMatrix* args) {
  double exponent;
  if (tree->kind != PAWL_AST_OPERATE || tree->op != PAWL_OP_POW ||
      tree->args[0]->kind != PAWL_AST_CALL || tree->args[0]->matrix != PAWL_MATRIX_NORM ||
      !pawl_dag_is_const(dag, args[1].at[0], &exponent) || exponent != 2.0) {
    return PAWL_NO_NODE;
  }
  const PawlDagNode* root = pawl_dag_node(dag, args[0].at[0]);
  return root->op == PAWL_OP_SQRT ? root->arg[0] : PAWL_NO_NODE;
}

// What takes vectors: literals, components, functions, operators.
static PawlStatus apply_shaped(Builder* b, const PawlAst* tree, const PawlMatrix* args,
                               PawlMatrix* out) {
  char why[PAWL_MATRIX_WHY] = "";
  bool good;
  if (tree->kind == PAWL_AST_VECTOR) {
    good = pawl_matrix_literal(tree->arg_count, args, out, why);
  } else if (tree->kind == PAWL_AST_PART) {
    good = pawl_matrix_part(&args[0], tree->component, out, why);
  } else if (tree->kind == PAWL_AST_CALL && tree->matrix >= 0) {
    good =
        pawl_matrix_call(b->dag, (PawlMatrixFunction)tree->matrix, tree->arg_count, args, out, why);
  } else {
    PawlOp op = tree->kind == PAWL_AST_COMPARE ? PAWL_OP_LT : tree->op;
    const char* word = tree->kind == PAWL_AST_COMPARE ? "a comparison"
                       : tree->kind == PAWL_AST_CALL  ? tree->name
                                                      : pawl_op_text(tree->op);
    good = pawl_matrix_operate(b->dag, op, word, tree->arg_count, args, out, why);
  }
  return good ? PAWL_OK : refuse(b, tree, why);
}

// A name or a multiplier: what the caller of pawl_ast_build knows. `args` NULL: with indices that
// it knows, too.
static PawlStatus ask(Builder* b, const PawlAst* tree, const PawlMatrix* args, PawlMatrix* out) {
  double value;
  PawlNode indices[PAWL_MAX_INDICES];
  for (int k = 0; args && tree->kind == PAWL_AST_NAME && k < tree->arg_count; k++) {
    indices[k] = args[k].at[0];
    if (!pawl_is_number(&args[k]) && !pawl_is_shapeless(&args[k])) {
      return refuse(b, tree->args[k], "an index is a number");
    }
  }
  *b->error = (PawlExprError){.begin = tree->begin, .end = tree->end};
  *out = pawl_number(PAWL_NO_NODE);
  if (tree->kind == PAWL_AST_NAME && strcmp(tree->name, "t") == 0) {
    *out = pawl_number(pawl_dag_leaf(b->dag, PAWL_OP_TIME, 0));
  } else if (tree->kind == PAWL_AST_NAME && pawl_constant_free(tree, &value) &&
             !(b->resolver->knows && b->resolver->knows(b->resolver->context, tree->name))) {
    *out = pawl_number(pawl_dag_const(b->dag, value));
  } else if (tree->kind == PAWL_AST_NAME) {
    *out =
        b->resolver->resolve(b->resolver->context, b->dag, tree, args ? indices : NULL, b->error);
  } else if (b->resolver->multiplier) {
    *out = pawl_number(b->resolver->multiplier(b->resolver->context, b->dag, tree, b->error));
  } else {
    pawl_expr_fail(b->error, tree->begin, tree->end, "lambda(...) cannot be used here");
  }
  if (pawl_matrix_is_complete(out)) {
    return PAWL_OK;
  }
  return b->error->message[0] ? PAWL_ERROR_MODEL : PAWL_ERROR_MEMORY;
}

// A call of a function that the model declares.
static PawlStatus ask_call(Builder* b, const PawlAst* tree, const PawlMatrix* args,
                           PawlMatrix* out) {
  *b->error = (PawlExprError){.begin = tree->begin, .end = tree->end};
  *out = pawl_number(PAWL_NO_NODE);
  if (b->resolver->call) {
    *out = b->resolver->call(b->resolver->context, b->dag, tree, args, b->error);
  } else {
    PawlNearest nearest = {0};
    pawl_function_unknown(b->error, tree, &nearest);
  }
  if (pawl_matrix_is_complete(out)) {
    return PAWL_OK;
  }
  return b->error->message[0] ? PAWL_ERROR_MODEL : PAWL_ERROR_MEMORY;
}

enum { LONGEST_RANGE = 10000000 };

// ---- sums over a range --------------------------------------------------------------------------
// Builds a tree at once, on the stacks of the builder. Depth: that of the text,
// PAWL_EXPR_MAX_DEPTH.
static PawlStatus build_now(Builder* b, const PawlAst* tree, PawlMatrix* out) {
  int base = b->frame_count;
  PawlStatus status = push_frame(b, tree);
  status = status == PAWL_OK ? run(b, base) : status;
  *out = status == PAWL_OK ? b->value[--b->value_count] : pawl_number(PAWL_NO_NODE);
  return status;
}

static PawlStatus bound_of(Builder* b, const PawlAst* tree, int* bound) {
  static const double LARGEST = 1e9;
  PawlMatrix number;
  double value;
  PAWL_TRY(build_now(b, tree, &number));
  if (!pawl_is_number(&number) || !pawl_dag_is_const(b->dag, number.at[0], &value)) {
    pawl_expr_fail(b->error, tree->begin, tree->end,
                   "a bound of a range may use parameters and indices only");
    return PAWL_ERROR_MODEL;
  }
  if (!(fabs(value) <= LARGEST) || value != floor(value)) {
    pawl_expr_fail(b->error, tree->begin, tree->end,
                   "a bound of a range is %g, expected a whole number", value);
    return PAWL_ERROR_MODEL;
  }
  *bound = (int)value;
  return PAWL_OK;
}

static PawlStatus told(const Builder* b) {
  return b->error->message[0] ? PAWL_ERROR_MODEL : PAWL_ERROR_MEMORY;
}

static PawlStatus add_round(Builder* b, const PawlAst* tree, const PawlMatrix* term,
                            PawlMatrix* sum) {
  PawlMatrix pair[2] = {*sum, *term};
  char why[PAWL_MATRIX_WHY];
  if (sum->at[0] == PAWL_NO_NODE) {
    *sum = *term;
  } else if (are_numbers(2, pair)) {
    sum->at[0] = pawl_dag_apply(b->dag, tree->op, sum->at[0], term->at[0], PAWL_NO_NODE);
  } else if (!pawl_matrix_operate(b->dag, tree->op, tree->name, 2, pair, sum, why)) {
    return refuse(b, tree, why);
  }
  return pawl_matrix_is_complete(sum) ? PAWL_OK : PAWL_ERROR_MEMORY;
}

// The ranges from `level` on, and inside them the body; *sum grows by each round.
static PawlStatus repeat_from(Builder* b, const PawlAst* tree, int level, PawlMatrix* sum) {
  const PawlResolver* names = b->resolver;
  if (2 * level == tree->arg_count - 1) {
    PawlMatrix term;
    PAWL_TRY(build_now(b, tree->args[2 * level], &term));
    return add_round(b, tree, &term, sum);
  }
  int low, high;
  PAWL_TRY(bound_of(b, tree->args[2 * level], &low));
  PAWL_TRY(bound_of(b, tree->args[2 * level + 1], &high));
  if ((long long)high - low >= LONGEST_RANGE) {
    pawl_expr_fail(b->error, tree->begin, tree->end, "the range %d..%d has more than %d indices",
                   low, high, LONGEST_RANGE);
    return PAWL_ERROR_MODEL;
  }
  if (!names->enter(names->context, tree, tree->vars[level], b->error)) {
    return told(b);
  }
  PawlStatus status = PAWL_OK;
  for (int i = low; status == PAWL_OK && i <= high; i++) {
    status = names->round(names->context, tree, i, b->error) ? repeat_from(b, tree, level + 1, sum)
                                                             : told(b);
  }
  names->leave(names->context);
  return status;
}

static PawlStatus repeat(Builder* b, const PawlAst* tree) {
  PawlMatrix sum = pawl_number(PAWL_NO_NODE);
  *b->error = (PawlExprError){.begin = tree->begin, .end = tree->end};
  b->frame_count--;
  if (!b->resolver->enter) {
    pawl_expr_fail(b->error, tree->begin, tree->end, "%s over a range cannot be used here",
                   tree->name);
    return PAWL_ERROR_MODEL;
  }
  PAWL_TRY(repeat_from(b, tree, 0, &sum));
  bool sums = tree->op == PAWL_OP_ADD || tree->op == PAWL_OP_MUL;
  bool empty = sum.at[0] == PAWL_NO_NODE;
  if (empty && !sums) {
    pawl_expr_fail(b->error, tree->begin, tree->end, "%s over an empty range has no value",
                   tree->name);
    return PAWL_ERROR_MODEL;
  }
  return empty ? push_node(b, pawl_dag_const(b->dag, tree->op == PAWL_OP_MUL))
               : push_value(b, &sum);
}

static bool is_multiplier(const PawlAst* tree) {
  return tree->kind == PAWL_AST_CALL && tree->op == PAWL_OP_LAMBDA;
}

// All arguments of the tree on top are built: replace them by its own node.
static PawlStatus complete(Builder* b, const PawlAst* tree) {
  int args = is_multiplier(tree) ? 0 : tree->arg_count;
  PawlMatrix result = pawl_number(PAWL_NO_NODE);
  const PawlMatrix* arg = args > 0 ? b->value + b->value_count - args : &result;
  PawlStatus status = PAWL_OK;
  bool shaped = tree->kind == PAWL_AST_VECTOR || tree->kind == PAWL_AST_PART ||
                (tree->kind == PAWL_AST_CALL && tree->matrix >= 0);
  if (tree->kind == PAWL_AST_NUMBER) {
    result.at[0] = pawl_dag_const(b->dag, tree->value);
  } else if (tree->kind == PAWL_AST_NAME || is_multiplier(tree)) {
    status = ask(b, tree, arg, &result);
  } else if (pawl_ast_is_declared_call(tree)) {
    status = ask_call(b, tree, arg, &result);
  } else if (shaped || !are_numbers(args, arg)) {
    status = apply_shaped(b, tree, arg, &result);
  } else {
    PawlNode square = square_of_norm(b->dag, tree, arg);
    result.at[0] = square != PAWL_NO_NODE ? square : apply(b->dag, tree, arg);
  }
  b->value_count -= args;
  b->frame_count--;
  return status == PAWL_OK ? push_value(b, &result) : status;
}

// With the first argument built: true when it is a constant that settles the tree on top. The
// frame then stands for what is left to build, or is done.
static bool settle(Builder* b, PawlStatus* status) {
  Frame* top = &b->frame[b->frame_count - 1];
  const PawlAst* tree = top->tree;
  bool logic = tree->op == PAWL_OP_AND || tree->op == PAWL_OP_OR;
  bool candidate = tree->kind == PAWL_AST_OPERATE ? logic : tree->kind == PAWL_AST_CALL;
  double value;
  if (!candidate || top->next != 1 || (!logic && tree->op != PAWL_OP_IF) ||
      !pawl_is_number(&b->value[b->value_count - 1]) ||
      !pawl_dag_is_const(b->dag, b->value[b->value_count - 1].at[0], &value) || isnan(value)) {
    return false;
  }
  bool yes = value != 0.0;
  if (tree->op == PAWL_OP_IF) {
    b->value_count--;
    *top = (Frame){tree->args[yes ? 1 : 2], 0};
    return true;
  }
  if (yes != (tree->op == PAWL_OP_OR)) {
    return false;
  }
  b->value_count--;
  b->frame_count--;
  *status = push_node(b, pawl_dag_const(b->dag, yes));
  return true;
}

// A name whose indices the caller knows.
static PawlStatus take_name(Builder* b, const PawlAst* tree) {
  PawlMatrix result;
  PAWL_TRY(ask(b, tree, NULL, &result));
  b->frame_count--;
  return push_value(b, &result);
}

// With nothing of it built: what the caller knows of the tree on top. True when that is settled.
static bool settle_early(Builder* b, PawlStatus* status) {
  const PawlResolver* names = b->resolver;
  Frame* top = &b->frame[b->frame_count - 1];
  const PawlAst* tree = top->tree;
  if (top->next != 0 || tree->arg_count == 0) {
    return false;
  }
  if (tree->kind == PAWL_AST_NAME && names->indices && names->indices(names->context, tree)) {
    *status = take_name(b, tree);
    return true;
  }
  if (tree->kind != PAWL_AST_CALL || tree->op != PAWL_OP_IF || !names->decide) {
    return false;
  }
  int holds = names->decide(names->context, tree->args[0]);
  if (holds >= 0) {
    *top = (Frame){tree->args[holds ? 1 : 2], 0};
  }
  return holds >= 0;
}

static PawlStatus advance(Builder* b) {
  PawlStatus status = PAWL_OK;
  if (settle_early(b, &status) || settle(b, &status)) {
    return status;
  }
  Frame* top = &b->frame[b->frame_count - 1];
  const PawlAst* tree = top->tree;
  if (tree->kind == PAWL_AST_REPEAT) {
    return repeat(b, tree);
  }
  if (top->next < tree->arg_count && !is_multiplier(tree)) {
    return push_frame(b, tree->args[top->next++]);
  }
  return complete(b, tree);
}

static PawlStatus run(Builder* b, int base) {
  PawlStatus status = PAWL_OK;
  while (status == PAWL_OK && b->frame_count > base) {
    status = advance(b);
  }
  return status;
}

PawlStatus pawl_ast_build_matrix(PawlDag* dag, const PawlAst* ast, const PawlResolver* resolver,
                                 PawlMatrix* out, PawlExprError* error) {
  Builder b = {.dag = dag, .resolver = resolver, .error = error};
  *out = pawl_number(PAWL_NO_NODE);
  *error = (PawlExprError){0};
  PawlStatus status = push_frame(&b, ast);
  status = status == PAWL_OK ? run(&b, 0) : status;
  if (status == PAWL_OK) {
    *out = b.value[0];
    *error = (PawlExprError){0};
  }
  pawl_free(b.frame);
  pawl_free(b.value);
  return status;
}

PawlStatus pawl_ast_build(PawlDag* dag, const PawlAst* ast, const PawlResolver* resolver,
                          PawlNode* out, PawlExprError* error) {
  PawlMatrix value;
  *out = PAWL_NO_NODE;
  PAWL_TRY(pawl_ast_build_matrix(dag, ast, resolver, &value, error));
  if (!pawl_is_number(&value) && !pawl_is_shapeless(&value)) {
    pawl_expr_fail(error, ast->begin, ast->end, "expected a number, found %s",
                   pawl_matrix_shape(&value));
    return PAWL_ERROR_MODEL;
  }
  *out = value.at[0];
  return PAWL_OK;
}
