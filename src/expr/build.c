// SPDX-License-Identifier: Apache-2.0
// Tree to graph. A stack of trees under way and a stack of finished nodes, no recursion: a sum of
// a hundred thousand terms is a tree of that depth.
//
// What a constant condition rules out is not built: the other branch of an `if`, and the right
// side of `and`, `or` that the left side decides.
#include <string.h>

#include "base/alloc.h"
#include "expr/ast.h"
#include "expr/lexer.h"

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
  if (top->next < tree->arg_count && !is_multiplier(tree)) {
    return push_frame(b, tree->args[top->next++]);
  }
  return complete(b, tree);
}

PawlStatus pawl_ast_build(PawlDag* dag, const PawlAst* ast, const PawlResolver* resolver,
                          PawlNode* out, PawlExprError* error) {
  Builder b = {.dag = dag, .resolver = resolver, .error = error};
  *out = PAWL_NO_NODE;
  *error = (PawlExprError){0};
  PawlStatus status = push_frame(&b, ast);
  while (status == PAWL_OK && b.frame_count > 0) {
    status = advance(&b);
  }
  if (status == PAWL_OK) {
    *out = b.node[0];
    *error = (PawlExprError){0};
  }
  pawl_free(b.frame);
  pawl_free(b.node);
  return status;
}
