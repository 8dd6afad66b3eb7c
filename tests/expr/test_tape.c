// SPDX-License-Identifier: Apache-2.0
// Tapes against the slow evaluation of the graph: every result must have the same bits, in one
// lane, interpreted and as machine code, and in every lane of a block, whatever the operands (NaN
// counts as one value).
#include <float.h>

#include "base/alloc.h"
#include "expr/random_tree.h"
#include "expr/tape.h"
#include "expr/tape_native.h"

enum { WIDTH = PAWL_TAPE_WIDTH, ROOTS = 12 };

typedef struct Lane {
  double t, param[LEAVES], q[LEAVES], v[LEAVES];
} Lane;

static bool same_bits(double x, double y) {
  return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0;
}

static PawlLeafValues leaves_of(const Lane* lane) {
  return (PawlLeafValues){.t = lane->t, .param = lane->param, .q = lane->q, .v = lane->v};
}

static double input_value(const Lane* lane, PawlTapeInput input) {
  switch (input.leaf) {
    case PAWL_OP_TIME:
      return lane->t;
    case PAWL_OP_PARAM:
      return lane->param[input.index];
    case PAWL_OP_Q:
      return lane->q[input.index];
    default:
      assert_int_equal(input.leaf, PAWL_OP_V);
      return lane->v[input.index];
  }
}

// Mostly ordinary numbers; now and then those at which operations change their mind.
static double random_number(Random* r) {
  static const double edge[] = {0.0, -0.0,    1.0,      -1.0, 2.0,     0.5,   DBL_MAX, -DBL_MAX,
                                NAN, DBL_MIN, INFINITY, 3.0,  -1e-310, 1e300, 40.0,    -INFINITY};
  return random_below(r, 4) == 0 ? edge[random_below(r, 16)] : random_between(r, -3.0, 3.0);
}

static void random_lanes(Random* r, Lane lanes[WIDTH]) {
  for (int l = 0; l < WIDTH; l++) {
    lanes[l].t = random_number(r);
    for (int k = 0; k < LEAVES; k++) {
      lanes[l].param[k] = random_number(r);
      lanes[l].q[k] = random_number(r);
      lanes[l].v[k] = random_number(r);
    }
  }
}

static PawlTape* tape_of(PawlDag* dag, int count, const PawlNode* outputs) {
  PawlTape* tape = NULL;
  PawlError err = {0};
  assert_int_equal(pawl_tape_create(dag, count, outputs, &tape, &err), PAWL_OK);
  assert_non_null(tape);
  assert_int_equal(tape->output_count, count);
  return tape;
}

// A register of a block of lanes is a row of WIDTH numbers.
static void fill_inputs(const PawlTape* tape, const Lane* lanes, int count, int width,
                        double* registers) {
  for (int k = 0; k < tape->input_count; k++) {
    for (int l = 0; l < count; l++) {
      registers[(tape->constant_count + k) * width + l] = input_value(&lanes[l], tape->inputs[k]);
    }
  }
}

static void check_one(const PawlTape* tape, const Lane* lane, const double* expected) {
  double* r = pawl_alloc(pawl_tape_room(tape, 1), sizeof(double));
  assert_non_null(r);
  pawl_tape_prepare(tape, 1, r);
  for (int repeat = 0; repeat < 2; repeat++) {  // a run leaves constants as they were
    fill_inputs(tape, lane, 1, 1, r);
    long long allocations = pawl_alloc_count();
    pawl_tape_run_one(tape, r);
    assert_true(pawl_alloc_count() == allocations);
    for (int k = 0; k < tape->output_count; k++) {
      if (!same_bits(r[tape->outputs[k]], expected[k])) {
        fail_msg("output %d of one lane: %a, expected %a", k, r[tape->outputs[k]], expected[k]);
      }
    }
  }
  pawl_free(r);
}

static void check_block(const PawlTape* tape, const Lane* lanes, int count,
                        const double (*expected)[ROOTS]) {
  double* r = pawl_alloc(pawl_tape_room(tape, WIDTH), sizeof(double));
  assert_non_null(r);
  pawl_tape_prepare(tape, WIDTH, r);
  fill_inputs(tape, lanes, count, WIDTH, r);
  long long allocations = pawl_alloc_count();
  pawl_tape_run_block(tape, r, count);
  assert_true(pawl_alloc_count() == allocations);
  for (int k = 0; k < tape->output_count; k++) {
    for (int l = 0; l < count; l++) {
      double value = r[tape->outputs[k] * WIDTH + l];
      if (!same_bits(value, expected[l][k])) {
        fail_msg("output %d, lane %d of %d: %a, expected %a", k, l, count, value, expected[l][k]);
      }
    }
  }
  pawl_free(r);
}

// The whole as one function: inputs from their arrays, results to their places, every second of
// them added to what is there.
static void check_whole(PawlDag* dag, int count, const PawlNode* outputs, const Lane* lanes,
                        const double (*expected)[ROOTS]) {
  static const double BEFORE = 0.25;
  double results[ROOTS];
  PawlTape* tape = tape_of(dag, count, outputs);
  PawlTapeTarget targets[ROOTS];
  for (int k = 0; k < count; k++) {
    targets[k] = (PawlTapeTarget){tape->outputs[k], k % 2 == 0, &results[k], 0, k};
  }
  int start[] = {0, count};
  PawlTapeEnds ends = {1, start, targets, NULL};
  double* r = pawl_alloc(pawl_tape_room(tape, 1), sizeof(double));
  assert_non_null(r);
  pawl_tape_prepare(tape, 1, r);
  assert_int_equal(pawl_tape_compile(tape, &ends), 0);
  for (int l = 0; tape->whole && l < WIDTH; l++) {
    const double* from[PAWL_LEAF_TURN + 1] = {[PAWL_LEAF_TIME] = &lanes[l].t,
                                              [PAWL_LEAF_PARAM] = lanes[l].param,
                                              [PAWL_LEAF_Q] = lanes[l].q,
                                              [PAWL_LEAF_V] = lanes[l].v};
    bool finite = true;
    for (int k = 0; k < count; k++) {
      results[k] = BEFORE;
      finite = finite && isfinite(expected[l][k]);
    }
    assert_int_equal(tape->whole(r, from, NULL) == 0.0, finite);
    for (int k = 0; k < count; k++) {
      double sum = k % 2 == 0 ? expected[l][k] : BEFORE + expected[l][k];
      if (!same_bits(results[k], sum)) {
        fail_msg("output %d of the whole: %a, expected %a", k, results[k], sum);
      }
    }
  }
  pawl_free(r);
  pawl_tape_destroy(tape);
}

// Runs `outputs` in every way and compares with pawl_dag_value.
static void check_outputs(PawlDag* dag, int count, const PawlNode* outputs, const Lane* lanes) {
  static double expected[WIDTH][ROOTS];
  assert_true(count <= ROOTS);
  for (int l = 0; l < WIDTH; l++) {
    PawlLeafValues leaves = leaves_of(&lanes[l]);
    for (int k = 0; k < count; k++) {
      assert_int_equal(pawl_dag_value(dag, outputs[k], &leaves, &expected[l][k], NULL), PAWL_OK);
    }
  }
  PawlTape* tape = tape_of(dag, count, outputs);
  for (int l = 0; l < 8; l++) {
    check_one(tape, &lanes[l], expected[l]);
  }
  static const int counts[] = {1, 2, 3, 4, 7, 31, 63, 64};
  for (int k = 0; k < 8; k++) {
    check_block(tape, lanes, counts[k], (const double(*)[ROOTS])expected);
  }
  assert_int_equal(pawl_tape_compile(tape, NULL), 0);
  for (int l = 0; l < WIDTH; l++) {
    check_one(tape, &lanes[l], expected[l]);
  }
  pawl_tape_destroy(tape);
  check_whole(dag, count, outputs, lanes, (const double(*)[ROOTS])expected);
}

static void test_random_graphs(void** state) {
  (void)state;
  Random r = {20240611};
  Lane lanes[WIDTH];
  for (int trial = 0; trial < 2000; trial++) {
    PawlDag* dag = pawl_dag_create();
    assert_non_null(dag);
    PawlNode outputs[ROOTS];
    int count = 1 + random_below(&r, ROOTS);
    for (int k = 0; k < count; k++) {
      Tree tree;
      tree_random(&tree, &r, 2 + random_below(&r, 5), false);
      bool again = k > 0 && random_below(&r, 6) == 0;  // an output twice
      outputs[k] = again ? outputs[random_below(&r, k)] : tree_build(&tree, dag);
      assert_true(outputs[k] >= 0);
    }
    random_lanes(&r, lanes);
    check_outputs(dag, count, outputs, lanes);
    pawl_dag_destroy(dag);
  }
}

// Sums, products, quotients, roots and signs, in which most results are read by the next
// instruction, some also later; in every second trial by any, so that more are kept than there are
// registers.
static void test_arithmetic(void** state) {
  (void)state;
  enum { NODES = 60, NEAR = 6 };
  static const PawlOp ops[] = {PAWL_OP_ADD, PAWL_OP_SUB, PAWL_OP_MUL,  PAWL_OP_MUL,
                               PAWL_OP_NEG, PAWL_OP_DIV, PAWL_OP_SQRT, PAWL_OP_ADD};
  Random r = {99};
  Lane lanes[WIDTH];
  for (int trial = 0; trial < 2000; trial++) {
    PawlDag* dag = pawl_dag_create();
    PawlNode nodes[NODES], outputs[ROOTS];
    for (int k = 0; k < NODES; k++) {
      int back = k < NEAR || trial % 2 == 1 ? k : NEAR;
      PawlNode a = k < 4 ? -1 : nodes[k - 1 - random_below(&r, back)],
               b = k < 4 ? -1 : nodes[k - 1 - random_below(&r, back)];
      nodes[k] = k < 4 ? pawl_dag_leaf(dag, k < 2 ? PAWL_OP_Q : PAWL_OP_V, k % 2)
                 : random_below(&r, 8) == 0
                     ? pawl_dag_powi(dag, a, 2)
                     : pawl_dag_apply(dag, ops[random_below(&r, 8)], a, b, PAWL_NO_NODE);
    }
    for (int k = 0; k < ROOTS; k++) {
      outputs[k] = nodes[NODES - 1 - (k == 0 ? 0 : random_below(&r, NODES))];
    }
    random_lanes(&r, lanes);
    check_outputs(dag, ROOTS, outputs, lanes);
    pawl_dag_destroy(dag);
  }
}

// Every operation alone, on all pairs of edge values and as an operand of the fused forms.
static void test_each_operation(void** state) {
  (void)state;
  Random r = {7};
  Lane lanes[WIDTH];
  for (int op = PAWL_OP_NEG; op < PAWL_OP_COUNT; op++) {
    if (op == PAWL_OP_TABLE || op == PAWL_OP_TABLE2) {
      continue;  // test_table.c has tables
    }
    PawlDag* dag = pawl_dag_create();
    PawlNode x = pawl_dag_leaf(dag, PAWL_OP_Q, 0), y = pawl_dag_leaf(dag, PAWL_OP_Q, 1);
    PawlNode z = pawl_dag_leaf(dag, PAWL_OP_V, 0);
    PawlNode f =
        op == PAWL_OP_POWI ? pawl_dag_powi(dag, x, -3) : pawl_dag_apply(dag, (PawlOp)op, x, y, z);
    PawlNode product = pawl_dag_mul(dag, f, y);
    PawlNode outputs[] = {f, pawl_dag_add(dag, z, product)};
    for (int repeat = 0; repeat < 20; repeat++) {
      random_lanes(&r, lanes);
      check_outputs(dag, 2, outputs, lanes);
    }
    pawl_dag_destroy(dag);
  }
}

static int count_op(const PawlTape* tape, PawlTapeOp op) {
  int count = 0;
  for (int k = 0; k < tape->instruction_count; k++) {
    count += tape->code[k].op == op;
  }
  return count;
}

// One product inside a sum is fused, in all three forms, and rounded as the two operations.
static void test_fused_products(void** state) {
  (void)state;
  Random r = {3};
  Lane lanes[WIDTH];
  PawlDag* dag = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(dag, PAWL_OP_Q, 0), y = pawl_dag_leaf(dag, PAWL_OP_Q, 1);
  PawlNode v = pawl_dag_leaf(dag, PAWL_OP_V, 0), w = pawl_dag_leaf(dag, PAWL_OP_V, 1);
  PawlNode p = pawl_dag_leaf(dag, PAWL_OP_PARAM, 0);
  PawlNode xy = pawl_dag_mul(dag, x, y), vw = pawl_dag_mul(dag, v, w);
  PawlNode shared = pawl_dag_mul(dag, x, w);
  PawlNode outputs[] = {
      pawl_dag_add(dag, xy, v),                       // a*b + c
      pawl_dag_sub(dag, vw, p),                       // a*b - c
      pawl_dag_sub(dag, x, pawl_dag_mul(dag, y, p)),  // c - a*b
      pawl_dag_add(dag, shared, v),
      pawl_dag_sub(dag, y, shared),                                         // used twice: not fused
      pawl_dag_add(dag, pawl_dag_mul(dag, x, v), pawl_dag_mul(dag, y, w)),  // one of two
      pawl_dag_powi(dag, p, 2),
  };
  PawlTape* tape = tape_of(dag, 7, outputs);
  assert_int_equal(count_op(tape, PAWL_TAPE_MULADD), 2);
  assert_int_equal(count_op(tape, PAWL_TAPE_MULSUB), 1);
  assert_int_equal(count_op(tape, PAWL_TAPE_SUBMUL), 1);
  assert_int_equal(count_op(tape, PAWL_TAPE_SQUARE), 1);
  assert_int_equal(count_op(tape, PAWL_TAPE_MUL), 2);
  pawl_tape_destroy(tape);
  for (int repeat = 0; repeat < 50; repeat++) {
    random_lanes(&r, lanes);
    check_outputs(dag, 7, outputs, lanes);
  }
  // A product that is an output itself must survive.
  PawlNode with_product[] = {xy, pawl_dag_add(dag, xy, v)};
  check_outputs(dag, 2, with_product, lanes);
  pawl_dag_destroy(dag);
}

// sin and cos of one argument are computed together, in whichever order they were built.
static void test_sine_pairs(void** state) {
  (void)state;
  Random r = {11};
  Lane lanes[WIDTH];
  PawlDag* dag = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(dag, PAWL_OP_Q, 0), y = pawl_dag_leaf(dag, PAWL_OP_Q, 1);
  PawlNode s = pawl_dag_unary(dag, PAWL_OP_SIN, x), c = pawl_dag_unary(dag, PAWL_OP_COS, x);
  PawlNode c2 = pawl_dag_unary(dag, PAWL_OP_COS, y), s2 = pawl_dag_unary(dag, PAWL_OP_SIN, y);
  PawlNode alone = pawl_dag_unary(dag, PAWL_OP_SIN, pawl_dag_add(dag, x, y));
  PawlNode outputs[] = {pawl_dag_mul(dag, s, c2), pawl_dag_add(dag, c, s2), alone, s2};
  PawlTape* tape = tape_of(dag, 4, outputs);
  assert_int_equal(count_op(tape, PAWL_TAPE_SINCOS), 2);
  assert_int_equal(count_op(tape, PAWL_TAPE_SIN), 1);
  assert_int_equal(count_op(tape, PAWL_TAPE_COS), 0);
  pawl_tape_destroy(tape);
  for (int repeat = 0; repeat < 200; repeat++) {
    random_lanes(&r, lanes);
    for (int l = 0; l < WIDTH; l += 2) {  // also where the argument is reduced by many turns
      lanes[l].q[0] *= pow(10.0, random_between(&r, -8.0, 12.0));
    }
    check_outputs(dag, 4, outputs, lanes);
  }
  pawl_dag_destroy(dag);
}

static bool is_sine(PawlTapeOp op) {
  return op == PAWL_TAPE_SIN || op == PAWL_TAPE_COS || op == PAWL_TAPE_SINCOS;
}

// Stretches of sines and cosines that follow each other.
static int count_stretches(const PawlTape* tape) {
  int count = 0;
  for (int k = 0; k < tape->instruction_count; k++) {
    count += is_sine(tape->code[k].op) && (k == 0 || !is_sine(tape->code[k - 1].op));
  }
  return count;
}

// The angles of a chain, each the one before and one more, with products between: all sines of
// these in one stretch, and those of sines in the next.
static void test_sines_are_gathered(void** state) {
  (void)state;
  enum { LINKS = 7 };
  Random r = {21};
  Lane lanes[WIDTH];
  PawlDag* dag = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(dag, PAWL_OP_Q, 0), y = pawl_dag_leaf(dag, PAWL_OP_Q, 1), angle = x;
  PawlNode outputs[LINKS + 1], tip = pawl_dag_leaf(dag, PAWL_OP_V, 0);
  for (int k = 0; k < LINKS; k++) {
    PawlNode c = pawl_dag_unary(dag, PAWL_OP_COS, angle);
    PawlNode s = k % 2 ? pawl_dag_unary(dag, PAWL_OP_SIN, angle) : pawl_dag_mul(dag, c, x);
    tip = pawl_dag_add(dag, pawl_dag_mul(dag, tip, c), s);
    outputs[k] = tip;
    angle = pawl_dag_add(dag, angle, y);
  }
  outputs[LINKS] = pawl_dag_unary(dag, PAWL_OP_SIN, tip);
  PawlTape* tape = tape_of(dag, LINKS + 1, outputs);
  assert_int_equal(count_stretches(tape), 2);
  pawl_tape_destroy(tape);
  for (int repeat = 0; repeat < 50; repeat++) {
    random_lanes(&r, lanes);
    check_outputs(dag, LINKS + 1, outputs, lanes);
  }
  pawl_dag_destroy(dag);
}

// Sines of sums and of sines, some waiting for others and some not.
static void test_random_sines(void** state) {
  (void)state;
  enum { NODES = 40 };
  static const PawlOp ops[] = {PAWL_OP_ADD, PAWL_OP_MUL, PAWL_OP_SIN, PAWL_OP_COS,
                               PAWL_OP_EXP, PAWL_OP_SIN, PAWL_OP_COS};
  Random r = {5};
  Lane lanes[WIDTH];
  for (int trial = 0; trial < 500; trial++) {
    PawlDag* dag = pawl_dag_create();
    PawlNode nodes[NODES], outputs[ROOTS];
    for (int k = 0; k < NODES; k++) {
      PawlNode a = k < 4 ? -1 : nodes[random_below(&r, k)],
               b = k < 4 ? -1 : nodes[random_below(&r, k)];
      nodes[k] = k < 4 ? pawl_dag_leaf(dag, k < 2 ? PAWL_OP_Q : PAWL_OP_V, k % 2)
                       : pawl_dag_apply(dag, ops[random_below(&r, 7)], a, b, PAWL_NO_NODE);
    }
    for (int k = 0; k < ROOTS; k++) {
      outputs[k] = nodes[NODES - 1 - (k == 0 ? 0 : random_below(&r, NODES))];
    }
    random_lanes(&r, lanes);
    check_outputs(dag, ROOTS, outputs, lanes);
    pawl_dag_destroy(dag);
  }
}

static void test_leaves_constants_and_nothing(void** state) {
  (void)state;
  Random r = {5};
  Lane lanes[WIDTH];
  random_lanes(&r, lanes);
  PawlDag* dag = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(dag, PAWL_OP_Q, 1), t = pawl_dag_leaf(dag, PAWL_OP_TIME, 0);
  PawlNode two = pawl_dag_const(dag, 2.0), sum = pawl_dag_add(dag, x, two);
  PawlNode outputs[] = {x, two, t, sum, x, two, sum, pawl_dag_const(dag, -0.0)};
  check_outputs(dag, 8, outputs, lanes);
  check_outputs(dag, 1, &two, lanes);
  check_outputs(dag, 1, &t, lanes);
  check_outputs(dag, 0, NULL, lanes);
  PawlTape* tape = tape_of(dag, 8, outputs);
  assert_int_equal(tape->instruction_count, 1);
  assert_int_equal(tape->outputs[0], tape->outputs[4]);  // the same expression, the same register
  pawl_tape_destroy(tape);
  pawl_dag_destroy(dag);
  pawl_tape_destroy(NULL);
}

// y <- sin(y x + v), many times over: registers are used again.
static void test_registers_are_reused(void** state) {
  (void)state;
  enum { LENGTH = 2000 };
  Random r = {9};
  Lane lanes[WIDTH];
  random_lanes(&r, lanes);
  PawlDag* dag = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(dag, PAWL_OP_Q, 0), v = pawl_dag_leaf(dag, PAWL_OP_V, 0), y = v;
  for (int k = 0; k < LENGTH; k++) {
    y = pawl_dag_unary(dag, PAWL_OP_SIN, pawl_dag_add(dag, pawl_dag_mul(dag, y, x), v));
  }
  PawlTape* tape = tape_of(dag, 1, &y);
  assert_int_equal(tape->instruction_count, 2 * LENGTH);
  assert_true(tape->register_count <= tape->constant_count + tape->input_count + 3);
  for (int k = 0; k < tape->instruction_count; k++) {
    const PawlInstruction* i = &tape->code[k];
    assert_true(i->dst != i->a &&
                (i->op != PAWL_TAPE_MULADD || (i->dst != i->b && i->dst != i->c)));
  }
  pawl_tape_destroy(tape);
  check_outputs(dag, 1, &y, lanes);
  pawl_dag_destroy(dag);
}

static void test_memory_failures(void** state) {
  (void)state;
  Random r = {13};
  bool created = false;
  for (long long n = 1; !created; n++) {
    assert_true(n < 1000);
    PawlDag* dag = pawl_dag_create();
    Tree tree;
    tree_random(&tree, &r, 6, false);
    PawlNode outputs[] = {tree_build(&tree, dag), pawl_dag_leaf(dag, PAWL_OP_Q, 0)};
    PawlTape* tape = (PawlTape*)&tree;  // must be cleared
    PawlError err = {0};
    pawl_alloc_fail_at(n);
    PawlStatus status = pawl_tape_create(dag, 2, outputs, &tape, &err);
    pawl_alloc_fail_at(0);
    created = status == PAWL_OK;
    if (!created) {
      assert_int_equal(status, PAWL_ERROR_MEMORY);
      assert_int_equal(err.status, PAWL_ERROR_MEMORY);
      assert_null(tape);
    }
    pawl_tape_destroy(tape);
    pawl_dag_destroy(dag);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_graphs),
      cmocka_unit_test(test_arithmetic),
      cmocka_unit_test(test_each_operation),
      cmocka_unit_test(test_fused_products),
      cmocka_unit_test(test_sine_pairs),
      cmocka_unit_test(test_sines_are_gathered),
      cmocka_unit_test(test_random_sines),
      cmocka_unit_test(test_leaves_constants_and_nothing),
      cmocka_unit_test(test_registers_are_reused),
      cmocka_unit_test(test_memory_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
