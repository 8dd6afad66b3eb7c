// SPDX-License-Identifier: Apache-2.0
// Tree to graph. A stack of trees under way and a stack of finished nodes, no recursion: a sum of
// a hundred thousand terms is a tree of that depth.
//
// What a constant condition rules out is not built: the other branch of an `if`, and the right
// side of `and`, `or` that the left side decides.
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
  PawlNode* node;
  int node_count, node_capacity;
} Builder;

static PawlStatus run(Builder* b, int base);

static PawlStatus push_frame(Builder* b, const PawlAst* tree) {
  if (PAWL_GROW(b->frame, b->frame_capacity, b->frame_count + 1) != 0) {
    return PAWL_ERROR_MEMORY;
  }
  b->frame[b->frame_count++] = (Frame){tree, 0};
  return PAWL_OK;
}

static PawlStatus push_node(Builder* b, PawlNode node) {
  if (node < 0 || PAWL_GROW(b->node, b->node_capacity, b->node_count + 1) != 0) {
    return PAWL_ERROR_MEMORY;
  }
  b->node[b->node_count++] = node;
  return PAWL_OK;
}

static PawlNode compare(PawlDag* dag, PawlCompare kind, PawlNode a, PawlNode b) {
  static const PawlOp op[] = {PAWL_OP_LT, PAWL_OP_LE, PAWL_OP_LT,
                              PAWL_OP_LE, PAWL_OP_EQ, PAWL_OP_NE};
  bool swap = kind == PAWL_CMP_GT || kind == PAWL_CMP_GE;
  return pawl_dag_apply(dag, op[kind], swap ? b : a, swap ? a : b, PAWL_NO_NODE);
}

static PawlNode chain(PawlDag* dag, const PawlAst* tree, const PawlNode* args) {
  PawlNode all = compare(dag, tree->compare[0], args[0], args[1]);
  for (int k = 1; k < tree->arg_count - 1; k++) {
    PawlNode link = compare(dag, tree->compare[k], args[k], args[k + 1]);
    all = pawl_dag_apply(dag, PAWL_OP_AND, all, link, PAWL_NO_NODE);
  }
  return all;
}

static PawlNode apply(PawlDag* dag, const PawlAst* tree, const PawlNode* args) {
  if (tree->kind == PAWL_AST_CALL && tree->shorthand >= 0) {
    return pawl_shorthand_build(dag, tree->shorthand, args);
  }
  if (tree->op == PAWL_OP_IF) {
    return pawl_dag_apply(dag, PAWL_OP_IF, args[0], args[1], args[2]);
  }
  if (tree->arg_count == 1) {
    return pawl_dag_unary(dag, tree->op, args[0]);
  }
  PawlNode result = args[0];  // min and max take any number
  for (int k = 1; k < tree->arg_count; k++) {
    result = pawl_dag_apply(dag, tree->op, result, args[k], PAWL_NO_NODE);
  }
  return result;
}

// A name or a multiplier: what the caller of pawl_ast_build knows.
static PawlStatus ask(Builder* b, const PawlAst* tree, const PawlNode* args, PawlNode* out) {
  double value;
  *b->error = (PawlExprError){.begin = tree->begin, .end = tree->end};
  if (tree->kind == PAWL_AST_NAME && strcmp(tree->name, "t") == 0) {
    *out = pawl_dag_leaf(b->dag, PAWL_OP_TIME, 0);
  } else if (tree->kind == PAWL_AST_NAME && pawl_constant_free(tree, &value) &&
             !(b->resolver->knows && b->resolver->knows(b->resolver->context, tree->name))) {
    *out = pawl_dag_const(b->dag, value);
  } else if (tree->kind == PAWL_AST_NAME) {
    *out = b->resolver->resolve(b->resolver->context, b->dag, tree, args, b->error);
  } else if (b->resolver->multiplier) {
    *out = b->resolver->multiplier(b->resolver->context, b->dag, tree, b->error);
  } else {
    pawl_expr_fail(b->error, tree->begin, tree->end, "lambda(...) cannot be used here");
    *out = PAWL_NO_NODE;
  }
  if (*out >= 0) {
    return PAWL_OK;
  }
  return b->error->message[0] ? PAWL_ERROR_MODEL : PAWL_ERROR_MEMORY;
}

// A call of a function that the model declares.
static PawlStatus ask_call(Builder* b, const PawlAst* tree, const PawlNode* args, PawlNode* out) {
  *b->error = (PawlExprError){.begin = tree->begin, .end = tree->end};
  *out = PAWL_NO_NODE;
  if (b->resolver->call) {
    *out = b->resolver->call(b->resolver->context, b->dag, tree, args, b->error);
  } else {
    PawlNearest nearest = {0};
    pawl_function_unknown(b->error, tree, &nearest);
  }
  if (*out >= 0) {
    return PAWL_OK;
  }
  return b->error->message[0] ? PAWL_ERROR_MODEL : PAWL_ERROR_MEMORY;
}

enum { LONGEST_RANGE = 10000000 };

// ---- sums over a range --------------------------------------------------------------------------
// Builds a tree at once, on the stacks of the builder. Depth: that of the text,
// PAWL_EXPR_MAX_DEPTH.
static PawlStatus build_now(Builder* b, const PawlAst* tree, PawlNode* out) {
  int base = b->frame_count;
  PawlStatus status = push_frame(b, tree);
  status = status == PAWL_OK ? run(b, base) : status;
  *out = status == PAWL_OK ? b->node[--b->node_count] : PAWL_NO_NODE;
  return status;
}

static PawlStatus bound_of(Builder* b, const PawlAst* tree, int* bound) {
  static const double LARGEST = 1e9;
  PawlNode node;
  double value;
  PAWL_TRY(build_now(b, tree, &node));
  if (!pawl_dag_is_const(b->dag, node, &value)) {
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

// The ranges from `level` on, and inside them the body; *sum grows by each round.
static PawlStatus repeat_from(Builder* b, const PawlAst* tree, int level, PawlNode* sum) {
  const PawlResolver* names = b->resolver;
  if (2 * level == tree->arg_count - 1) {
    PawlNode term;
    PAWL_TRY(build_now(b, tree->args[2 * level], &term));
    *sum = *sum == PAWL_NO_NODE ? term : pawl_dag_apply(b->dag, tree->op, *sum, term, PAWL_NO_NODE);
    return *sum == PAWL_NO_NODE ? PAWL_ERROR_MEMORY : PAWL_OK;
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
  PawlNode sum = PAWL_NO_NODE;
  *b->error = (PawlExprError){.begin = tree->begin, .end = tree->end};
  b->frame_count--;
  if (!b->resolver->enter) {
    pawl_expr_fail(b->error, tree->begin, tree->end, "%s over a range cannot be used here",
                   tree->name);
    return PAWL_ERROR_MODEL;
  }
  PAWL_TRY(repeat_from(b, tree, 0, &sum));
  bool sums = tree->op == PAWL_OP_ADD || tree->op == PAWL_OP_MUL;
  if (sum == PAWL_NO_NODE && !sums) {
    pawl_expr_fail(b->error, tree->begin, tree->end, "%s over an empty range has no value",
                   tree->name);
    return PAWL_ERROR_MODEL;
  }
  sum = sum == PAWL_NO_NODE ? pawl_dag_const(b->dag, tree->op == PAWL_OP_MUL) : sum;
  return push_node(b, sum);
}

static bool is_multiplier(const PawlAst* tree) {
  return tree->kind == PAWL_AST_CALL && tree->op == PAWL_OP_LAMBDA;
}

// All arguments of the tree on top are built: replace them by its own node.
static PawlStatus complete(Builder* b, const PawlAst* tree) {
  int args = is_multiplier(tree) ? 0 : tree->arg_count;
  PawlNode none = PAWL_NO_NODE;
  const PawlNode* arg = args > 0 ? b->node + b->node_count - args : &none;
  PawlNode result = PAWL_NO_NODE;
  PawlStatus status = PAWL_OK;
  if (tree->kind == PAWL_AST_NUMBER) {
    result = pawl_dag_const(b->dag, tree->value);
  } else if (tree->kind == PAWL_AST_NAME || is_multiplier(tree)) {
    status = ask(b, tree, arg, &result);
  } else if (tree->kind == PAWL_AST_CALL && tree->op == PAWL_OP_COUNT && tree->shorthand < 0) {
    status = ask_call(b, tree, arg, &result);
  } else if (tree->kind == PAWL_AST_COMPARE) {
    result = chain(b->dag, tree, arg);
  } else {
    result = apply(b->dag, tree, arg);
  }
  b->node_count -= args;
  b->frame_count--;
  return status == PAWL_OK ? push_node(b, result) : status;
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
      !pawl_dag_is_const(b->dag, b->node[b->node_count - 1], &value) || isnan(value)) {
    return false;
  }
  bool yes = value != 0.0;
  if (tree->op == PAWL_OP_IF) {
    b->node_count--;
    *top = (Frame){tree->args[yes ? 1 : 2], 0};
    return true;
  }
  if (yes != (tree->op == PAWL_OP_OR)) {
    return false;
  }
  b->node_count--;
  b->frame_count--;
  *status = push_node(b, pawl_dag_const(b->dag, yes));
  return true;
}

static PawlStatus advance(Builder* b) {
  PawlStatus status = PAWL_OK;
  if (settle(b, &status)) {
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

PawlStatus pawl_ast_build(PawlDag* dag, const PawlAst* ast, const PawlResolver* resolver,
                          PawlNode* out, PawlExprError* error) {
  Builder b = {.dag = dag, .resolver = resolver, .error = error};
  *out = PAWL_NO_NODE;
  *error = (PawlExprError){0};
  PawlStatus status = push_frame(&b, ast);
  status = status == PAWL_OK ? run(&b, 0) : status;
  if (status == PAWL_OK) {
    *out = b.node[0];
    *error = (PawlExprError){0};
  }
  pawl_free(b.frame);
  pawl_free(b.node);
  return status;
}
