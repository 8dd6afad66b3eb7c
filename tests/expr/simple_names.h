// SPDX-License-Identifier: Apache-2.0
// For tests that parse: x y z are coordinates 0 1 2 (x' rates, x'' accelerations), m k parameters 0
// 1, u[i] is coordinate 10 + i. Printing uses the same names.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "expr/ast.h"

static inline PawlNode simple_leaf(PawlDag* dag, const PawlAst* name, const PawlNode* indices,
                                   PawlExprError* error) {
  static const PawlOp rate[] = {PAWL_OP_Q, PAWL_OP_V, PAWL_OP_A};
  double index;
  if (name->primes <= 2 && strlen(name->name) == 1) {
    char letter = name->name[0];
    if (letter >= 'x' && letter <= 'z' && name->arg_count == 0) {
      return pawl_dag_leaf(dag, rate[name->primes], letter - 'x');
    }
    if ((letter == 'm' || letter == 'k') && name->arg_count == 0 && name->primes == 0) {
      return pawl_dag_leaf(dag, PAWL_OP_PARAM, letter == 'k');
    }
    if (letter == 'u' && name->arg_count == 1 && pawl_dag_is_const(dag, indices[0], &index) &&
        index >= 0.0) {
      return pawl_dag_leaf(dag, rate[name->primes], 10 + (int)index);
    }
  }
  snprintf(error->message, sizeof error->message, "unknown name '%.60s'", name->name);
  return PAWL_NO_NODE;
}

static inline PawlMatrix simple_resolve(void* context, PawlDag* dag, const PawlAst* name,
                                        const PawlNode* indices, PawlExprError* error) {
  (void)context;
  return pawl_number(simple_leaf(dag, name, indices, error));
}

static inline PawlNode simple_multiplier(void* context, PawlDag* dag, const PawlAst* call,
                                         PawlExprError* error) {
  (void)context;
  if (strcmp(call->args[0]->name, "track") != 0) {
    snprintf(error->message, sizeof error->message, "no such constraint");
    error->begin = call->args[0]->begin;
    error->end = call->args[0]->end;
    return PAWL_NO_NODE;
  }
  return pawl_dag_leaf(dag, PAWL_OP_LAMBDA, call->arg_count == 2 ? (int)call->args[1]->value : 0);
}

static const PawlResolver simple_resolver = {.resolve = simple_resolve,
                                             .multiplier = simple_multiplier};

static inline void simple_name(void* context, PawlText* out, PawlStyle style, PawlOp leaf,
                               int index) {
  (void)context;
  (void)style;
  switch ((PawlLeaf)leaf) {
    case PAWL_LEAF_TIME:
      pawl_text_add(out, "t");
      break;
    case PAWL_LEAF_PARAM:
      pawl_text_add(out, index == 0 ? "m" : "k");
      break;
    case PAWL_LEAF_LAMBDA:
      pawl_text_printf(out, "lambda(track, %d)", index);
      break;
    case PAWL_LEAF_CONST:
    case PAWL_LEAF_STATE:
    case PAWL_LEAF_INPUT:
    case PAWL_LEAF_QUAT:
    case PAWL_LEAF_TURN:
      pawl_text_add(out, "?");  // the first is written by the printer, the second is not used here
      break;
    case PAWL_LEAF_Q:
    case PAWL_LEAF_V:
    case PAWL_LEAF_A:
      if (index < 10) {
        pawl_text_printf(out, "%c", 'x' + index);
      } else {
        pawl_text_printf(out, "u[%d]", index - 10);
      }
      pawl_text_add(out, leaf == PAWL_OP_Q ? "" : leaf == PAWL_OP_V ? "'" : "''");
      break;
  }
}

// Parses and builds; PAWL_NO_NODE and `error` filled when the text is wrong.
static inline PawlNode read_text(PawlDag* dag, const char* text, size_t length,
                                 PawlExprError* error) {
  PawlArena arena = {0};
  PawlAst* tree;
  PawlNode node = PAWL_NO_NODE;
  PawlStatus status = pawl_ast_parse(&arena, text, length, &tree, error);
  if (status == PAWL_OK) {
    status = pawl_ast_build(dag, tree, &simple_resolver, &node, error);
  }
  assert_true((status == PAWL_OK) == (node >= 0));
  pawl_arena_free(&arena);
  return node;
}
