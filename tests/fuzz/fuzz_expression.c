// SPDX-License-Identifier: Apache-2.0
// Any bytes as an expression, an equation, a key and the head of a loop; what is an expression is
// also built, simplified and differentiated.
#include "expr/ast.h"
#include "expr/dag.h"
#include "fuzz/fuzz.h"

static PawlMatrix any_name(void* context, PawlDag* dag, const PawlAst* name,
                           const PawlNode* indices, PawlExprError* error) {
  (void)context, (void)indices, (void)error;
  int letter = (unsigned char)name->name[0];  // of a name in any script
  PawlNode node = pawl_dag_leaf(dag, name->primes ? PAWL_OP_V : PAWL_OP_Q, letter % 3);
  int shape = letter % 4;  // numbers, vectors of 2 and 3, matrices
  PawlMatrix all = {1, 1, {node, node, node, node, node, node, node, node, node}};
  all.rows = shape == 3 ? 2 : shape + 1;
  all.cols = shape == 3 ? 2 : 1;
  return all;
}

static void check(PawlStatus status, const PawlExprError* error, size_t size) {
  NEED(status == PAWL_OK || status == PAWL_ERROR_MODEL);
  NEED(status == PAWL_OK || (error->message[0] != '\0' && 0 <= error->begin &&
                             error->begin <= error->end && (size_t)error->end <= size));
}

static void build(const PawlAst* ast) {
  PawlDag* dag = pawl_dag_create();
  PawlExprError error = {0};
  PawlResolver resolver = {.resolve = any_name};
  PawlNode node;
  if (dag && pawl_ast_build(dag, ast, &resolver, &node, &error) == PAWL_OK) {
    NEED(node != PAWL_NO_NODE);
    (void)pawl_dag_partial(dag, node, PAWL_OP_Q, 0);
    (void)pawl_dag_total(dag, node);
  }
  pawl_dag_destroy(dag);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  PawlArena arena = {0};
  PawlAst *left = NULL, *right = NULL;
  PawlAstKey key;
  PawlExprError error = {0};
  const char* text = (const char*)data;
  bool is_for = false;
  PawlStatus status = pawl_ast_parse(&arena, text, size, &left, &error);
  check(status, &error, size);
  if (status == PAWL_OK) {
    build(left);
  }
  check(pawl_ast_parse_equation(&arena, text, size, &left, &right, &error), &error, size);
  check(pawl_ast_parse_key(&arena, text, size, &key, &error), &error, size);
  check(pawl_ast_parse_for(&arena, text, size, &is_for, &key, &error), &error, size);
  pawl_arena_free(&arena);
  return 0;
}
