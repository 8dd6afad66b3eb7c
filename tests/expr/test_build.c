// SPDX-License-Identifier: Apache-2.0
// Tree to graph: what the resolver is asked, and what a constant condition keeps from being built.
#include "base/alloc.h"
#include "simple_names.h"

// Counts questions; `i` is the constant in the context, u[k] exists for k >= 0 only.
typedef struct Family {
  int i;
  int asked;
} Family;

static PawlMatrix family_resolve(void* context, PawlDag* dag, const PawlAst* name,
                                 const PawlNode* indices, PawlExprError* error) {
  Family* family = context;
  family->asked++;
  if (strcmp(name->name, "i") == 0) {
    return pawl_number(pawl_dag_const(dag, family->i));
  }
  return simple_resolve(NULL, dag, name, indices, error);
}

static PawlStatus build(PawlDag* dag, const char* text, Family* family, PawlNode* node,
                        PawlExprError* error) {
  PawlArena arena = {0};
  PawlAst* tree;
  PawlResolver resolver = {.context = family, .resolve = family_resolve};
  assert_int_equal(pawl_ast_parse(&arena, text, strlen(text), &tree, error), PAWL_OK);
  PawlStatus status = pawl_ast_build(dag, tree, &resolver, node, error);
  pawl_arena_free(&arena);
  return status;
}

static void test_a_family_at_its_edge(void** state) {
  (void)state;
  static const char* const texts[] = {
      "if(i > 0, u[i-1], 0)",
      "if(i > 0 and u[i-1] > 0, u[i-1], 0)",
      "if(i == 0 or u[i-1] > 0, 0, u[i-1])",
      "if(not (0 < i <= 9), 0, u[i-1])",
  };
  PawlDag* dag = pawl_dag_create();
  PawlNode zero = pawl_dag_const(dag, 0.0), node;
  PawlExprError error;
  for (int k = 0; k < 4; k++) {
    Family first = {.i = 0}, second = {.i = 1};
    assert_int_equal(build(dag, texts[k], &first, &node, &error), PAWL_OK);
    assert_int_equal(node, zero);
    assert_int_equal(build(dag, texts[k], &second, &node, &error), PAWL_OK);
    assert_int_not_equal(node, zero);
  }
  Family first = {.i = 0};
  assert_int_equal(build(dag, "u[i-1]*0", &first, &node, &error), PAWL_ERROR_MODEL);
  assert_string_equal(error.message, "unknown name 'u'");
  assert_true(error.begin == 0 && error.end == 6);
  assert_int_equal(node, PAWL_NO_NODE);
  pawl_dag_destroy(dag);
}

static void test_members_of_a_family_have_one_shape(void** state) {
  (void)state;
  PawlDag* dag = pawl_dag_create();
  PawlExprError error;
  PawlNode node[2];
  for (int k = 0; k < 2; k++) {
    Family family = {.i = 3 - 2 * k};
    assert_int_equal(build(dag, "m/2*(u[i+1] - u[i] - k)^2", &family, &node[k], &error), PAWL_OK);
  }
  for (int depth = 0; depth < 4; depth++) {
    const PawlDagNode *a = pawl_dag_node(dag, node[0]), *b = pawl_dag_node(dag, node[1]);
    assert_true(a->op == b->op && a->index == b->index);
    int side = depth == 0 ? 1 : 0;  // into the square, then down the left
    node[0] = a->arg[side];
    node[1] = b->arg[side];
  }
  pawl_dag_destroy(dag);
}

static void test_time_is_not_asked(void** state) {
  (void)state;
  PawlDag* dag = pawl_dag_create();
  PawlExprError error;
  Family family = {0};
  PawlNode node;
  assert_int_equal(build(dag, "t + pi*e", &family, &node, &error), PAWL_OK);
  assert_int_equal(family.asked, 0);
  assert_int_equal(error.message[0], 0);
  pawl_dag_destroy(dag);
}

static void test_comparisons(void** state) {
  (void)state;
  PawlDag* dag = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(dag, PAWL_OP_Q, 0), y = pawl_dag_leaf(dag, PAWL_OP_Q, 1);
  PawlNode z = pawl_dag_leaf(dag, PAWL_OP_Q, 2), node;
  PawlExprError error;
  Family family = {0};
  PawlNode less = pawl_dag_apply(dag, PAWL_OP_LT, x, y, PAWL_NO_NODE);
  assert_int_equal(build(dag, "x < y", &family, &node, &error), PAWL_OK);
  assert_int_equal(node, less);
  assert_int_equal(build(dag, "y > x", &family, &node, &error), PAWL_OK);
  assert_int_equal(node, less);
  PawlNode most = pawl_dag_apply(dag, PAWL_OP_LE, y, z, PAWL_NO_NODE);
  assert_int_equal(build(dag, "x < y <= z", &family, &node, &error), PAWL_OK);
  assert_int_equal(node, pawl_dag_apply(dag, PAWL_OP_AND, less, most, PAWL_NO_NODE));
  pawl_dag_destroy(dag);
}

static void test_multipliers(void** state) {
  (void)state;
  PawlDag* dag = pawl_dag_create();
  PawlExprError error;
  const char* text = "1 + lambda(track, 2)";
  PawlNode two = pawl_dag_leaf(dag, PAWL_OP_LAMBDA, 2), one = pawl_dag_const(dag, 1.0);
  assert_int_equal(read_text(dag, text, strlen(text), &error), pawl_dag_add(dag, one, two));
  Family family = {0};
  PawlNode node;
  assert_int_equal(build(dag, text, &family, &node, &error), PAWL_ERROR_MODEL);
  assert_string_equal(error.message, "lambda(...) cannot be used here");
  assert_true(error.begin == 4 && error.end == 20);
  pawl_dag_destroy(dag);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_family_at_its_edge),
      cmocka_unit_test(test_members_of_a_family_have_one_shape),
      cmocka_unit_test(test_time_is_not_asked),
      cmocka_unit_test(test_comparisons),
      cmocka_unit_test(test_multipliers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
