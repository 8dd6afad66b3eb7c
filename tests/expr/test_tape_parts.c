// SPDX-License-Identifier: Apache-2.0
// Tapes whose outputs are behind gates: whatever is open, in whatever order the gates come, the
// parts of the open gates give the bits of the slow evaluation, interpreted and as machine code,
// and nothing else runs.
#include "base/alloc.h"
#include "expr/random_tree.h"
#include "expr/tape.h"
#include "expr/tape_native.h"

enum { ROOTS = 12, GATES = 12 };

typedef struct Point {
  double t, param[LEAVES], q[LEAVES], v[LEAVES];
} Point;

static Point random_point(Random* r) {
  Point p = {.t = random_between(r, 0.0, 3.0)};
  for (int k = 0; k < LEAVES; k++) {
    p.param[k] = random_between(r, -3.0, 3.0);
    p.q[k] = random_between(r, -3.0, 3.0);
    p.v[k] = random_between(r, -3.0, 3.0);
  }
  return p;
}

static double input_value(const Point* p, PawlTapeInput input) {
  return input.leaf == PAWL_OP_TIME    ? p->t
         : input.leaf == PAWL_OP_PARAM ? p->param[input.index]
         : input.leaf == PAWL_OP_Q     ? p->q[input.index]
                                       : p->v[input.index];
}

static bool same_bits(double x, double y) {
  return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0;
}

// Registers as a run finds them: temporaries hold what must never be read.
static double* fresh_registers(const PawlTape* tape, const Point* p) {
  size_t room = pawl_tape_room(tape, 1);
  double* r = pawl_alloc(room, sizeof(double));
  assert_non_null(r);
  for (size_t k = 0; k < room; k++) {
    r[k] = 1e77;
  }
  pawl_tape_prepare(tape, 1, r);
  for (int k = 0; k < tape->input_count; k++) {
    r[tape->constant_count + k] = input_value(p, tape->inputs[k]);
  }
  return r;
}

// Part 0, then the parts of `open` in its order, each once. Returns the instructions that ran.
static int run_open(const PawlTape* tape, int count, const int* open, double* r) {
  bool* done = pawl_alloc((size_t)tape->part_count, sizeof(bool));
  int instructions = tape->parts[0].count;
  assert_non_null(done);
  pawl_tape_run_part(tape, tape->parts[0], r);
  for (int k = 0; k < count; k++) {
    for (int i = tape->gate_start[open[k]]; i < tape->gate_start[open[k] + 1]; i++) {
      int part = tape->gate_parts[i];
      if (!done[part]) {
        pawl_tape_run_part(tape, tape->parts[part], r);
        instructions += tape->parts[part].count;
      }
      done[part] = true;
    }
  }
  pawl_free(done);
  return instructions;
}

typedef struct Case {
  PawlDag* dag;
  PawlNode outputs[ROOTS];
  int gates[ROOTS];
  int gate_count;
} Case;

static void check_open(const Case* c, const PawlTape* tape, const Point* p, int count,
                       const int* open) {
  PawlLeafValues leaves = {.t = p->t, .param = p->param, .q = p->q, .v = p->v};
  double* r = fresh_registers(tape, p);
  run_open(tape, count, open, r);
  for (int k = 0; k < ROOTS; k++) {
    bool wanted = c->gates[k] < 0;
    for (int i = 0; i < count; i++) {
      wanted |= c->gates[k] == open[i];
    }
    double expected;
    assert_int_equal(pawl_dag_value(c->dag, c->outputs[k], &leaves, &expected, NULL), PAWL_OK);
    if (wanted && !same_bits(r[tape->outputs[k]], expected)) {
      fail_msg("output %d: %a, expected %a", k, r[tape->outputs[k]], expected);
    }
  }
  pawl_free(r);
}

static Case random_case(Random* r) {
  Case c = {.dag = pawl_dag_create(), .gate_count = 1 + random_below(r, GATES)};
  assert_non_null(c.dag);
  for (int k = 0; k < ROOTS; k++) {
    Tree tree;
    tree_random(&tree, r, 5, false);
    PawlNode node = tree_build(&tree, c.dag);
    // Half of the outputs share much with the one before: a derivative, a sum.
    PawlNode before = k > 0 ? c.outputs[k - 1] : node;
    c.outputs[k] = random_below(r, 2)   ? node
                   : random_below(r, 2) ? pawl_dag_add(c.dag, node, before)
                                        : pawl_dag_partial(c.dag, before, PAWL_OP_Q, 0);
    assert_true(c.outputs[k] != PAWL_NO_NODE);
    c.gates[k] = random_below(r, c.gate_count + 1) - 1;
  }
  return c;
}

static void test_random_graphs(void** state) {
  (void)state;
  Random r = {77};
  for (int trial = 0; trial < 2000; trial++) {
    Case c = random_case(&r);
    PawlTape* tape;
    assert_int_equal(
        pawl_tape_create_gated(c.dag, ROOTS, c.outputs, c.gate_count, c.gates, &tape, NULL),
        PAWL_OK);
    for (int repeat = 0; repeat < 6; repeat++) {
      assert_int_equal(repeat == 3 ? pawl_tape_compile(tape, NULL) : 0,
                       0);  // from now on machine code
      Point p = random_point(&r);
      int open[GATES], count = 0;
      for (int g = 0; g < c.gate_count; g++) {  // a random set, each gate put at a random place
        if (random_below(&r, 2)) {
          int at = random_below(&r, ++count);
          open[count - 1] = open[at];
          open[at] = g;
        }
      }
      check_open(&c, tape, &p, count, open);
    }
    int all[GATES];
    for (int g = 0; g < c.gate_count; g++) {
      all[g] = g;
    }
    Point p = random_point(&r);
    double* registers = fresh_registers(tape, &p);
    assert_int_equal(run_open(tape, c.gate_count, all, registers), tape->instruction_count);
    pawl_free(registers);
    pawl_tape_destroy(tape);
    pawl_dag_destroy(c.dag);
  }
}

// y[g] = (x + g)^2 * (v + g): each gate has its own three operations, of which x + 1 and its square
// are shared by two outputs; sin(x) is always needed, cos(x) by gate 2, and both come together.
static void test_costs_by_hand(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(d, PAWL_OP_Q, 0), v = pawl_dag_leaf(d, PAWL_OP_V, 0);
  PawlNode outputs[5];
  static const int gates[] = {0, 1, 1, 2, -1};
  for (int g = 0; g < 2; g++) {
    PawlNode number = pawl_dag_const(d, g + 2.0);
    PawlNode square = pawl_dag_powi(d, pawl_dag_add(d, x, number), 2);
    outputs[g] = pawl_dag_mul(d, square, pawl_dag_add(d, v, number));
    outputs[2] = pawl_dag_mul(d, square, v);  // of the last
  }
  outputs[3] = pawl_dag_mul(d, pawl_dag_unary(d, PAWL_OP_COS, x), v);
  outputs[4] = pawl_dag_unary(d, PAWL_OP_SIN, x);
  PawlTape* tape;
  assert_int_equal(pawl_tape_create_gated(d, 5, outputs, 3, gates, &tape, NULL), PAWL_OK);
  Point p = {.q = {0.3}, .v = {0.7}};
  double* r = fresh_registers(tape, &p);
  static const int two[] = {2, 1};
  assert_int_equal(run_open(tape, 0, NULL, r), 1);       // sin and cos of x
  assert_int_equal(run_open(tape, 1, &gates[0], r), 5);  // and 4 of gate 0
  assert_int_equal(run_open(tape, 1, &gates[1], r), 6);
  assert_int_equal(run_open(tape, 1, &gates[3], r), 2);
  assert_int_equal(run_open(tape, 2, two, r), 7);
  assert_int_equal(tape->instruction_count, 11);
  pawl_free(r);
  pawl_tape_destroy(tape);
  pawl_dag_destroy(d);
}

// What very many gates share has a part of its own, for those that need it; the parts of a gate
// stay few.
static void test_many_gates(void** state) {
  (void)state;
  enum { MANY = 3000 };
  PawlDag* d = pawl_dag_create();
  PawlNode x = pawl_dag_leaf(d, PAWL_OP_Q, 0);
  PawlNode shared = pawl_dag_unary(d, PAWL_OP_EXP, pawl_dag_powi(d, x, 3));
  static PawlNode outputs[MANY];
  static int gates[MANY];
  for (int g = 0; g < MANY; g++) {
    PawlNode number = pawl_dag_const(d, g + 2.0);
    outputs[g] = g == 7   ? shared
                 : g == 9 ? pawl_dag_div(d, number, x)
                          : pawl_dag_mul(d, shared, number);
    gates[g] = g;
  }
  PawlTape* tape;
  assert_int_equal(pawl_tape_create_gated(d, MANY, outputs, MANY, gates, &tape, NULL), PAWL_OK);
  assert_int_equal(tape->parts[0].count, 0);
  assert_int_equal(tape->parts[1].count, 2);
  assert_int_equal(tape->instruction_count, MANY + 1);
  for (int g = 0; g < MANY; g++) {
    assert_int_equal(tape->gate_start[g + 1] - tape->gate_start[g], g == 7 || g == 9 ? 1 : 2);
    assert_int_equal(tape->gate_parts[tape->gate_start[g]] == 1, g != 9);
  }
  pawl_tape_destroy(tape);
  pawl_dag_destroy(d);
}

static void test_memory_failures(void** state) {
  (void)state;
  Random r = {3};
  Case c = random_case(&r);
  bool created = false;
  for (long long n = 1; !created; n++) {
    assert_true(n < 1000);
    PawlTape* tape = NULL;
    PawlError err = {0};
    pawl_alloc_fail_at(n);
    PawlStatus status =
        pawl_tape_create_gated(c.dag, ROOTS, c.outputs, c.gate_count, c.gates, &tape, &err);
    pawl_alloc_fail_at(0);
    created = status == PAWL_OK;
    assert_true(created || (status == PAWL_ERROR_MEMORY && err.status == status && !tape));
    pawl_tape_destroy(tape);
  }
  pawl_dag_destroy(c.dag);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_graphs),
      cmocka_unit_test(test_costs_by_hand),
      cmocka_unit_test(test_many_gates),
      cmocka_unit_test(test_memory_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
