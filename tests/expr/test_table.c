// SPDX-License-Identifier: Apache-2.0
// Tables: the interpolations against what defines them (docs/theory/tables.md), pieces against a
// plain search, derivatives in the graph, and the same bits from every evaluation.
#include <stdlib.h>

#include "expr/tape.h"
#include "expr/tape_native.h"
#include "random_tree.h"

enum { N = 9 };
static const double X[N] = {-1.0, -0.4, 0.1, 0.2, 0.9, 1.5, 2.5, 2.6, 4.0};
static const double Y[N] = {0.5, 1.0, 1.2, 1.1, -0.3, -0.3, 0.7, 0.9, 0.5};
static const double rounding = 1e-13;

static PawlTable* table_of(PawlTableMethod method, PawlTableOutside outside, int count,
                           const double* x, const double* y) {
  PawlTableDef def = {.name = "f", .method = method, .outside = outside};
  PawlTable* table;
  def.count[0] = count;
  def.x = x;
  def.value = y;
  assert_int_equal(pawl_table_create(&def, &table), PAWL_OK);
  return table;
}

static double at(const PawlTable* table, int view, double x) {
  return pawl_table_at(pawl_table_view(table, view), x);
}

// ---- one argument -------------------------------------------------------------------------------

static void test_goes_through_its_points(void** state) {
  (void)state;
  for (int m = PAWL_TABLE_LINEAR; m <= PAWL_TABLE_MONOTONE; m++) {
    for (int o = PAWL_TABLE_HOLD; o <= PAWL_TABLE_PERIODIC; o++) {
      PawlTable* table = table_of((PawlTableMethod)m, (PawlTableOutside)o, N, X, Y);
      for (int i = 0; i < N; i++) {
        CHECK_NEAR(at(table, 0, X[i]), Y[i], rounding);
      }
      assert_true(isnan(at(table, 0, NAN)));
      pawl_table_destroy(table);
    }
  }
}

static void test_linear(void** state) {
  (void)state;
  PawlTable* table = table_of(PAWL_TABLE_LINEAR, PAWL_TABLE_HOLD, N, X, Y);
  CHECK_NEAR(at(table, 0, 0.5), 1.1 - 1.4 * 0.3 / 0.7, rounding);
  CHECK_NEAR(at(table, 1, 0.5), -1.4 / 0.7, rounding);
  CHECK_NEAR(at(table, 2, 0.5), 0.0, 0.0);
  assert_int_equal(pawl_table_derivative(table, 1, 0), -1);
  pawl_table_destroy(table);
}

// Continuous value, first and second derivative at the points (T4), and m = 0 at natural ends.
static void check_smooth(const PawlTable* table, int orders, double shift) {
  double tiny = 1e-9;
  for (int i = 1; i < N - 1; i++) {
    for (int k = 0; k <= orders; k++) {
      double before = at(table, k, X[i] + shift - tiny), after = at(table, k, X[i] + shift + tiny);
      CHECK_NEAR(after, before, 1e-6);  // 2 tiny times the next derivative, at most 400
    }
  }
}

static void test_cubic(void** state) {
  (void)state;
  PawlTable* table = table_of(PAWL_TABLE_CUBIC, PAWL_TABLE_EXTEND, N, X, Y);
  check_smooth(table, 2, 0.0);
  CHECK_NEAR(at(table, 2, X[0]), 0.0, rounding);
  CHECK_NEAR(at(table, 2, X[N - 1]), 0.0, rounding);
  CHECK_NEAR(at(table, 0, 5.0), Y[N - 1] + at(table, 1, X[N - 1]), 1e-12);  // straight on
  CHECK_NEAR(at(table, 1, 5.0), at(table, 1, X[N - 1]), 1e-12);
  pawl_table_destroy(table);
  // Of a straight line it is that line.
  double line[N];
  for (int i = 0; i < N; i++) {
    line[i] = 3.0 - 2.0 * X[i];
  }
  table = table_of(PAWL_TABLE_CUBIC, PAWL_TABLE_EXTEND, N, X, line);
  CHECK_NEAR(at(table, 0, 1.234), 3.0 - 2.0 * 1.234, 1e-12);
  CHECK_NEAR(at(table, 0, -7.0), 17.0, 1e-12);
  pawl_table_destroy(table);
}

// A periodic spline of sin is of order 4: halving the steps divides the error by 16.
static void test_periodic_cubic(void** state) {
  (void)state;
  double error[2];
  for (int k = 0; k < 2; k++) {
    enum { MOST = 65 };
    double x[MOST], y[MOST], pi = acos(-1.0);
    int count = k == 0 ? 33 : 65;
    for (int i = 0; i < count; i++) {
      x[i] = 2.0 * pi * i / (count - 1);
      y[i] = sin(x[i]);
    }
    y[count - 1] = y[0];
    PawlTable* table = table_of(PAWL_TABLE_CUBIC, PAWL_TABLE_PERIODIC, count, x, y);
    error[k] = 0.0;
    for (int i = -500; i < 500; i++) {
      error[k] = fmax(error[k], fabs(at(table, 0, 0.05 * i) - sin(0.05 * i)));
    }
    CHECK_NEAR(at(table, 2, 1e-7), at(table, 2, 2.0 * pi - 1e-7), 1e-6);
    CHECK_NEAR(at(table, 1, 0.0), 1.0, 1e-4);
    pawl_table_destroy(table);
  }
  assert_true(error[0] < 1e-5 && error[0] / error[1] > 14.0 && error[0] / error[1] < 18.0);
}

// Each piece stays between its ends and runs one way.
static void test_monotone(void** state) {
  (void)state;
  for (int o = PAWL_TABLE_HOLD; o <= PAWL_TABLE_PERIODIC; o++) {
    PawlTable* table = table_of(PAWL_TABLE_MONOTONE, (PawlTableOutside)o, N, X, Y);
    check_smooth(table, 1, 0.0);
    for (int i = 0; i < N - 1; i++) {
      double way = Y[i + 1] - Y[i], before = Y[i];
      for (int k = 1; k <= 200; k++) {
        double f = at(table, 0, X[i] + (X[i + 1] - X[i]) * k / 200.0);
        assert_true(way == 0.0 ? fabs(f - Y[i]) < rounding : (f - before) * way >= -rounding);
        before = f;
      }
    }
    pawl_table_destroy(table);
  }
}

static void test_outside(void** state) {
  (void)state;
  PawlTable* hold = table_of(PAWL_TABLE_LINEAR, PAWL_TABLE_HOLD, N, X, Y);
  PawlTable* extend = table_of(PAWL_TABLE_LINEAR, PAWL_TABLE_EXTEND, N, X, Y);
  PawlTable* error = table_of(PAWL_TABLE_LINEAR, PAWL_TABLE_ERROR, N, X, Y);
  PawlTable* turn = table_of(PAWL_TABLE_LINEAR, PAWL_TABLE_PERIODIC, N, X, Y);
  CHECK_NEAR(at(hold, 0, -9.0), 0.5, 0.0);
  CHECK_NEAR(at(hold, 1, 9.0), 0.0, 0.0);
  CHECK_NEAR(at(extend, 0, -2.0), 0.5 - 0.5 / 0.6, rounding);
  CHECK_NEAR(at(extend, 0, 5.0), 0.5 - 0.4 / 1.4, rounding);
  assert_true(isnan(at(error, 0, 4.0001)) && isnan(at(error, 0, -1.0001)));
  CHECK_NEAR(at(error, 0, 4.0), 0.5, rounding);
  for (int i = -3; i < 4; i++) {
    CHECK_NEAR(at(turn, 0, 0.5 + 5.0 * i), at(turn, 0, 0.5), 1e-12);
  }
  pawl_table_destroy(hold);
  pawl_table_destroy(extend);
  pawl_table_destroy(error);
  pawl_table_destroy(turn);
}

// Points that crowd: the piece that is found against a plain search, and (T3), (T8).
static void test_pieces(void** state) {
  (void)state;
  enum { MANY = 4000 };
  static double x[MANY], y[MANY];
  Random r = {5};
  x[0] = -3.0;
  for (int i = 1; i < MANY; i++) {
    x[i] = x[i - 1] + (i % 7 == 0 ? 1.0 : 1e-9) * (0.1 + random_between(&r, 0.0, 1.0));
  }
  for (int i = 0; i < MANY; i++) {
    y[i] = random_between(&r, -1.0, 1.0);
  }
  y[MANY - 1] = y[0];
  for (int o = PAWL_TABLE_HOLD; o <= PAWL_TABLE_PERIODIC; o++) {
    PawlTable* table = table_of(PAWL_TABLE_LINEAR, (PawlTableOutside)o, MANY, x, y);
    int piece = 0;
    for (int k = 0; k < 5 * MANY; k++) {
      double at_x = k % 5 == 0 ? x[k / 5] : x[0] + (x[MANY - 1] - x[0]) * k / (5.0 * MANY);
      piece = 0;
      while (piece < MANY - 2 && x[piece + 1] <= at_x) {
        piece++;
      }
      double n = floor(at(table, PAWL_TABLE_POSITION, at_x));
      bool end = at_x == x[MANY - 1];  // belongs to what follows
      assert_true(n == piece || (end && n >= piece));
      double level = at(table, PAWL_TABLE_LEVEL, n), knot = at(table, PAWL_TABLE_KNOT, n);
      double held = level + at(table, PAWL_TABLE_SLOPE, n) * (at_x - knot);
      CHECK_NEAR(held, at(table, 0, at_x), end ? 1e-9 : 0.0);
    }
    pawl_table_destroy(table);
  }
}

// Beyond the ends a position grows all the way and stays in its unit.
static void test_positions_outside(void** state) {
  (void)state;
  for (int o = PAWL_TABLE_HOLD; o <= PAWL_TABLE_ERROR; o++) {
    PawlTable* table = table_of(PAWL_TABLE_LINEAR, (PawlTableOutside)o, N, X, Y);
    double before = -INFINITY;
    for (double x = -1e4; x < 1e4; x += 0.0137) {
      double z = at(table, PAWL_TABLE_POSITION, x), slope = at(table, PAWL_TABLE_POSITION + 1, x);
      double h = 1e-6, up = at(table, PAWL_TABLE_POSITION, x + h);
      assert_true(z >= before && slope >= 0.0);
      if (floor(up) == floor(z) && fabs(x) < 100.0) {
        CHECK_NEAR((up - z) / h, slope, 1e-3 * (1.0 + slope));
      }
      before = z;
    }
    assert_true(o == PAWL_TABLE_HOLD ? before > N - 1 && before < N
                                     : before > N - 2 && before < N - 1);
    pawl_table_destroy(table);
  }
}

// ---- two arguments ------------------------------------------------------------------------------

enum { NX = 6, NY = 5 };

static PawlTable* grid(PawlTableMethod method, PawlTableOutside outside,
                       double (*f)(double, double)) {
  static const double x[NX] = {0.0, 0.5, 1.0, 2.0, 2.5, 4.0}, y[NY] = {-1.0, 0.0, 0.3, 1.0, 2.0};
  double value[NX * NY];
  PawlTableDef def = {.name = "g", .method = method, .outside = outside, .count = {NX, NY}};
  PawlTable* table;
  for (int k = 0; k < NX * NY; k++) {
    value[k] = f(x[k / NY], y[k % NY]);
  }
  def.x = x;
  def.y = y;
  def.value = value;
  assert_int_equal(pawl_table_create(&def, &table), PAWL_OK);
  return table;
}

static double bilinear(double x, double y) {
  return 2.0 - x + 3.0 * y + 0.5 * x * y;
}

static double wavy(double x, double y) {
  return sin(x) * cos(2.0 * y);
}

static double at_two(const PawlTable* table, int kx, int ky, double x, double y) {
  return pawl_table_at_two(pawl_table_view(table, 4 * kx + ky), x, y);
}

static void test_grid(void** state) {
  (void)state;
  for (int m = PAWL_TABLE_LINEAR; m <= PAWL_TABLE_CUBIC; m++) {
    PawlTable* table = grid((PawlTableMethod)m, PAWL_TABLE_EXTEND, bilinear);
    for (double x = -1.0; x < 5.0; x += 0.37) {
      for (double y = -2.0; y < 3.0; y += 0.41) {
        CHECK_NEAR(at_two(table, 0, 0, x, y), bilinear(x, y), 1e-12);
        CHECK_NEAR(at_two(table, 1, 0, x, y), -1.0 + 0.5 * y, 1e-12);
        CHECK_NEAR(at_two(table, 0, 1, x, y), 3.0 + 0.5 * x, 1e-12);
        CHECK_NEAR(at_two(table, 1, 1, x, y), 0.5, 1e-12);
      }
    }
    pawl_table_destroy(table);
  }
  // A spline of products is the product of splines.                                        (T7)
  static const double x[NX] = {0.0, 0.5, 1.0, 2.0, 2.5, 4.0}, y[NY] = {-1.0, 0.0, 0.3, 1.0, 2.0};
  double fx[NX], fy[NY];
  for (int i = 0; i < NX; i++) {
    fx[i] = sin(x[i]);
  }
  for (int j = 0; j < NY; j++) {
    fy[j] = cos(2.0 * y[j]);
  }
  PawlTable* both = grid(PAWL_TABLE_CUBIC, PAWL_TABLE_HOLD, wavy);
  PawlTable* of_x = table_of(PAWL_TABLE_CUBIC, PAWL_TABLE_HOLD, NX, x, fx);
  PawlTable* of_y = table_of(PAWL_TABLE_CUBIC, PAWL_TABLE_HOLD, NY, y, fy);
  for (double u = -1.0; u < 5.0; u += 0.23) {
    for (double v = -2.0; v < 3.0; v += 0.31) {
      for (int k = 0; k < 9; k++) {
        CHECK_NEAR(at_two(both, k / 3, k % 3, u, v), at(of_x, k / 3, u) * at(of_y, k % 3, v),
                   1e-12);
      }
    }
  }
  pawl_table_destroy(both);
  pawl_table_destroy(of_x);
  pawl_table_destroy(of_y);
  PawlTable* ends = grid(PAWL_TABLE_LINEAR, PAWL_TABLE_ERROR, bilinear);
  assert_true(isnan(at_two(ends, 0, 0, 4.1, 0.0)) && isnan(at_two(ends, 0, 0, 1.0, -1.1)));
  pawl_table_destroy(ends);
}

// ---- in the graph -------------------------------------------------------------------------------

static double value_of(PawlDag* dag, PawlNode node, double x, double y) {
  double q[2] = {x, y}, value;
  PawlLeafValues leaves = {.q = q};
  assert_int_equal(pawl_dag_value(dag, node, &leaves, &value, NULL), PAWL_OK);
  return value;
}

static void test_derivatives_of_nodes(void** state) {
  (void)state;
  PawlTable* item[2] = {table_of(PAWL_TABLE_CUBIC, PAWL_TABLE_EXTEND, N, X, Y),
                        grid(PAWL_TABLE_CUBIC, PAWL_TABLE_HOLD, wavy)};
  PawlTables tables = {2, 2, item};
  PawlDag* dag = pawl_dag_create();
  pawl_dag_set_tables(dag, &tables);
  PawlNode x = pawl_dag_leaf(dag, PAWL_OP_Q, 0), y = pawl_dag_leaf(dag, PAWL_OP_Q, 1);
  PawlNode f = pawl_dag_table(dag, 0, 0, pawl_dag_mul(dag, x, y), PAWL_NO_NODE);
  PawlNode g = pawl_dag_table(dag, 1, 0, pawl_dag_mul(dag, x, x), y);
  PawlNode f_xy = pawl_dag_partial(dag, pawl_dag_partial(dag, f, PAWL_OP_Q, 0), PAWL_OP_Q, 1);
  PawlNode g_xy = pawl_dag_partial(dag, pawl_dag_partial(dag, g, PAWL_OP_Q, 0), PAWL_OP_Q, 1);
  double u = 1.1, v = 0.7;
  CHECK_NEAR(value_of(dag, f_xy, u, v), at(item[0], 1, u * v) + u * v * at(item[0], 2, u * v),
             1e-12);
  CHECK_NEAR(value_of(dag, g_xy, u, v), 2.0 * u * at_two(item[1], 1, 1, u * u, v), 1e-12);
  // Beyond the third there is nothing left, and constants are looked up at once.
  PawlNode d = f;
  for (int k = 0; k < 4; k++) {
    d = pawl_dag_partial(dag, d, PAWL_OP_Q, 0);
  }
  assert_int_equal(d, pawl_dag_const(dag, 0.0));
  double folded;
  assert_true(pawl_dag_is_const(
      dag, pawl_dag_table(dag, 0, 0, pawl_dag_const(dag, 0.1), PAWL_NO_NODE), &folded));
  CHECK_NEAR(folded, 1.2, rounding);
  pawl_dag_destroy(dag);
  pawl_table_destroy(item[0]);
  pawl_table_destroy(item[1]);
}

// Interpreted, in lanes and as machine code: the bits of pawl_dag_value.
static void test_tapes(void** state) {
  (void)state;
  PawlTable* item[2] = {table_of(PAWL_TABLE_MONOTONE, PAWL_TABLE_PERIODIC, N, X, Y),
                        grid(PAWL_TABLE_CUBIC, PAWL_TABLE_EXTEND, wavy)};
  PawlTables tables = {2, 2, item};
  PawlDag* dag = pawl_dag_create();
  pawl_dag_set_tables(dag, &tables);
  PawlNode x = pawl_dag_leaf(dag, PAWL_OP_Q, 0), y = pawl_dag_leaf(dag, PAWL_OP_Q, 1);
  PawlNode sum = pawl_dag_add(dag, pawl_dag_table(dag, 0, 1, x, PAWL_NO_NODE),
                              pawl_dag_mul(dag, y, pawl_dag_table(dag, 1, 0, x, y)));
  PawlTape* tape;
  PawlError err = {0};
  assert_int_equal(pawl_tape_create(dag, 1, &sum, &tape, &err), PAWL_OK);
  double* one = calloc(pawl_tape_room(tape, 1), sizeof(double));
  double* many = calloc(pawl_tape_room(tape, PAWL_TAPE_WIDTH), sizeof(double));
  for (int native = 0; native < 2; native++) {
    pawl_tape_prepare(tape, 1, one);
    pawl_tape_prepare(tape, PAWL_TAPE_WIDTH, many);
    for (int l = 0; l < 20; l++) {
      double q[2] = {-3.0 + 0.7 * l, 0.11 * l};
      for (int k = 0; k < 2; k++) {
        double value = q[tape->inputs[k].index];
        one[tape->constant_count + k] = value;
        many[(tape->constant_count + k) * PAWL_TAPE_WIDTH + l] = value;
      }
      pawl_tape_run_one(tape, one);
      pawl_tape_run_block(tape, many, l + 1);
      double expected = value_of(dag, sum, q[0], q[1]);
      assert_true(one[tape->outputs[0]] == expected);
      assert_true(many[tape->outputs[0] * PAWL_TAPE_WIDTH + l] == expected);
    }
    assert_int_equal(pawl_tape_compile(tape, NULL), 0);
  }
  free(one);
  free(many);
  pawl_tape_destroy(tape);
  pawl_dag_destroy(dag);
  pawl_table_destroy(item[0]);
  pawl_table_destroy(item[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_goes_through_its_points),
      cmocka_unit_test(test_linear),
      cmocka_unit_test(test_cubic),
      cmocka_unit_test(test_periodic_cubic),
      cmocka_unit_test(test_monotone),
      cmocka_unit_test(test_outside),
      cmocka_unit_test(test_pieces),
      cmocka_unit_test(test_positions_outside),
      cmocka_unit_test(test_grid),
      cmocka_unit_test(test_derivatives_of_nodes),
      cmocka_unit_test(test_tapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
