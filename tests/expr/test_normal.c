// SPDX-License-Identifier: Apache-2.0
// The normal form: by hand, on random expressions against the value of what was given, on the
// three-link pendulum against its mass matrix worked out by hand, and the limits.
#include <string.h>

#include "base/alloc.h"
#include "expr/normal.h"
#include "expr/tape.h"
#include "random_tree.h"

// ---- short names ----------------------------------------------------------------------------
static PawlNode num(PawlDag* d, double x) {
  return pawl_dag_const(d, x);
}
static PawlNode q(PawlDag* d, int i) {
  return pawl_dag_leaf(d, PAWL_OP_Q, i);
}
static PawlNode par(PawlDag* d, int i) {
  return pawl_dag_leaf(d, PAWL_OP_PARAM, i);
}
static PawlNode sine(PawlDag* d, PawlNode a) {
  return pawl_dag_unary(d, PAWL_OP_SIN, a);
}
static PawlNode cosine(PawlDag* d, PawlNode a) {
  return pawl_dag_unary(d, PAWL_OP_COS, a);
}
static PawlNode add(PawlDag* d, PawlNode a, PawlNode b) {
  return pawl_dag_add(d, a, b);
}
static PawlNode sub(PawlDag* d, PawlNode a, PawlNode b) {
  return pawl_dag_sub(d, a, b);
}
static PawlNode mul(PawlDag* d, PawlNode a, PawlNode b) {
  return pawl_dag_mul(d, a, b);
}
static PawlNode sqr(PawlDag* d, PawlNode a) {
  return pawl_dag_powi(d, a, 2);
}

static double value_of(PawlDag* d, PawlNode node, const PawlLeafValues* at) {
  double value = NAN;
  assert_true(node >= 0);
  assert_int_equal(pawl_dag_value(d, node, at, &value, NULL), PAWL_OK);
  return value;
}

static void leaf_name(void* context, PawlText* out, PawlStyle style, PawlOp leaf, int index) {
  (void)context;
  (void)style;
  pawl_text_printf(out, "%s%d", leaf == PAWL_OP_PARAM ? "p" : leaf == PAWL_OP_Q ? "q" : "v", index);
}

static void check_text(PawlDag* d, PawlNode node, const char* expected) {
  PawlText text = {0};
  pawl_dag_print(&text, d, node, PAWL_STYLE_TEXT, leaf_name, NULL);
  assert_string_equal(text.s, expected);
  pawl_text_free(&text);
}

static void check_normal(PawlDag* d, PawlNode node, const char* expected) {
  PawlNode normal = pawl_dag_normal(d, node);
  check_text(d, normal, expected);
  assert_int_equal(pawl_dag_normal(d, normal), normal);
}

// ---- by hand --------------------------------------------------------------------------------
static void test_trigonometry(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode x = q(d, 0), y = q(d, 1), z = q(d, 2);
  check_normal(d, add(d, sqr(d, sine(d, x)), sqr(d, cosine(d, x))), "1");
  check_normal(d, mul(d, sine(d, x), cosine(d, x)), "0.5*sin(2*q0)");
  check_normal(d, sqr(d, sine(d, x)), "0.5 - 0.5*cos(2*q0)");
  PawlNode xy = add(d, mul(d, cosine(d, x), cosine(d, y)), mul(d, sine(d, x), sine(d, y)));
  check_normal(d, xy, "cos(q0 - q1)");
  PawlNode sum = add(d, mul(d, sine(d, x), cosine(d, y)), mul(d, cosine(d, x), sine(d, y)));
  check_normal(d, sum, "sin(q0 + q1)");
  check_normal(d, pawl_dag_powi(d, cosine(d, x), 3), "0.75*cos(q0) + 0.25*cos(3*q0)");
  // Parity: the first coefficient is positive.
  check_normal(d, cosine(d, sub(d, y, x)), "cos(q0 - q1)");
  check_normal(d, sine(d, sub(d, y, x)), "-sin(q0 - q1)");
  check_normal(d, sine(d, sub(d, num(d, 1.0), x)), "-sin(-1 + q0)");
  // The same angle written in two ways; an angle of zero.
  check_normal(d, sub(d, sine(d, add(d, x, add(d, y, z))), sine(d, add(d, z, add(d, y, x)))), "0");
  check_normal(d, cosine(d, sub(d, mul(d, x, add(d, y, z)), add(d, mul(d, x, y), mul(d, x, z)))),
               "1");
  // A constant stays in the argument; a product of a parameter and a variable is one.
  check_normal(d, cosine(d, add(d, num(d, 0.5), x)), "cos(0.5 + q0)");
  PawlNode turn = mul(d, par(d, 0), x);
  check_normal(d, mul(d, cosine(d, turn), cosine(d, turn)), "0.5 + 0.5*cos(2*p0*q0)");
  pawl_dag_destroy(d);
}

static void test_polynomials(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode x = q(d, 0), y = q(d, 1), m = par(d, 0), L = par(d, 1);
  check_normal(d, mul(d, add(d, x, y), sub(d, x, y)), "q0^2 - q1^2");
  check_normal(d, sub(d, sqr(d, add(d, x, y)), sqr(d, sub(d, x, y))), "4*q0*q1");
  check_normal(d, add(d, mul(d, x, y), mul(d, sqr(d, x), m)), "q0*(q1 + p0*q0)");
  check_normal(d, add(d, add(d, y, num(d, 3.0)), x), "3 + q0 + q1");
  // Division by numbers and products multiplies; 5/3 is rounded once.
  check_normal(d, pawl_dag_div(d, add(d, L, x), mul(d, num(d, 2.0), m)), "0.5*(p1 + q0)/p0");
  PawlNode five_thirds =
      pawl_dag_div(d, sub(d, mul(d, num(d, 6.0), x), x), sub(d, num(d, 4.0), num(d, 1.0)));
  double one = 1.0;
  CHECK_NEAR(value_of(d, pawl_dag_normal(d, five_thirds), &(PawlLeafValues){.q = &one}), 5.0 / 3.0,
             0.0);
  // Other operations stay, over normal operands.
  PawlNode unit = add(d, sqr(d, sine(d, x)), sqr(d, cosine(d, x)));
  check_normal(d, pawl_dag_unary(d, PAWL_OP_EXP, mul(d, unit, y)), "exp(q1)");
  check_normal(d, pawl_dag_div(d, y, add(d, unit, sqr(d, x))), "q1/(1 + q0^2)");
  check_normal(d, pawl_dag_apply(d, PAWL_OP_POW, x, add(d, unit, num(d, 1.0)), PAWL_NO_NODE),
               "q0^2");
  // 0.1 + 0.2 - 0.3 is not 0 in binary numbers, but a cancellation.
  PawlNode tenths = add(d, mul(d, num(d, 0.1), add(d, x, y)), mul(d, num(d, 0.2), sub(d, x, y)));
  check_normal(d, sub(d, tenths, mul(d, num(d, 0.3), x)), "-0.1*q1");
  pawl_dag_destroy(d);
}

// Nothing that has no value gets one: x/x, x^2/x, 1/(1/x), 1/sin(x) at 0.
static void test_faults_stay(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode x = q(d, 0), y = q(d, 1), one = num(d, 1.0);
  PawlNode inverse = pawl_dag_div(d, one, x);
  PawlNode doubtful[] = {
      pawl_dag_div(d, x, x),
      pawl_dag_div(d, mul(d, add(d, x, y), x), x),
      pawl_dag_div(d, one, inverse),
      pawl_dag_div(d, y, sine(d, x)),
      mul(d, sqr(d, cosine(d, inverse)), y),
      add(d, sqr(d, cosine(d, inverse)), sqr(d, sine(d, inverse))),
      pawl_dag_div(d, y, sub(d, mul(d, x, add(d, one, y)), add(d, x, mul(d, x, y)))),
      pawl_dag_powi(d, add(d, mul(d, x, y), x), -2),
      pawl_dag_div(d, num(d, 0.0), num(d, 0.0)),
      mul(d, pawl_dag_powi(d, x, -3), pawl_dag_powi(d, x, 3)),
  };
  double zero[] = {0.0, 0.7}, other[] = {0.3, 0.7};
  for (int i = 0; i < (int)(sizeof doubtful / sizeof doubtful[0]); i++) {
    PawlNode normal = pawl_dag_normal(d, doubtful[i]);
    assert_true(isnan(value_of(d, normal, &(PawlLeafValues){.q = zero})));
    double given = value_of(d, doubtful[i], &(PawlLeafValues){.q = other});
    double value = value_of(d, normal, &(PawlLeafValues){.q = other});
    assert_true(isnan(given) ? isnan(value) : fabs(value - given) <= 1e-14 * (1.0 + fabs(given)));
    assert_int_equal(pawl_dag_normal(d, normal), normal);
  }
  pawl_dag_destroy(d);
}

// ---- random expressions ---------------------------------------------------------------------
// A bound on what rounding may do, relative to the unit of rounding: the value with every sum taken
// as a sum of magnitudes, and for functions the slope times that of the argument.
static double majorant(PawlDag* d, PawlNode root, const PawlLeafValues* at) {
  static double value[60000], size[60000];
  const PawlNode* reached;
  int count = pawl_dag_reach(d, 1, &root, &reached);
  assert_in_range(pawl_dag_count(d), 1, 60000);
  for (int i = 0; i < count; i++) {
    const PawlDagNode* n = pawl_dag_node(d, reached[i]);
    PawlNode node = reached[i];
    if (pawl_op_is_leaf(n->op)) {
      value[node] = leaf_number(n, at);
      size[node] = fabs(value[node]);
      continue;
    }
    double x[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < 3 && n->arg[k] >= 0; k++) {
      x[k] = value[n->arg[k]];
    }
    value[node] = pawl_op_value(n->op, n->index, x[0], x[1], x[2]);
    size[node] = fabs(value[node]);
    for (int k = 0; k < 3 && n->arg[k] >= 0; k++) {
      double y[3] = {x[0], x[1], x[2]}, step = 1e-6 * (1.0 + fabs(x[k]));
      y[k] += step;
      double slope = (pawl_op_value(n->op, n->index, y[0], y[1], y[2]) - value[node]) / step;
      size[node] += fabs(slope) * size[n->arg[k]];
    }
  }
  return size[root];
}

// Sums, products, powers, sines, cosines and divisions by numbers and parameters.
static PawlNode random_mechanics(PawlDag* d, Random* r, int depth) {
  if (depth == 0) {
    static const PawlOp leaf[] = {PAWL_OP_Q, PAWL_OP_Q, PAWL_OP_V, PAWL_OP_PARAM, PAWL_OP_TIME};
    int which = random_below(r, 7);
    return which < 5 ? pawl_dag_leaf(d, leaf[which], random_below(r, LEAVES))
                     : num(d, 0.25 * (random_below(r, 17) - 8));
  }
  PawlNode a = random_mechanics(d, r, depth - 1);
  switch (random_below(r, 9)) {
    case 0:
    case 1:
      return add(d, a, random_mechanics(d, r, depth - 1));
    case 2:
      return sub(d, a, random_mechanics(d, r, depth - 1));
    case 3:
    case 4:
      return mul(d, a, random_mechanics(d, r, depth - 1));
    case 5:
      return sine(d, a);
    case 6:
      return cosine(d, a);
    case 7:
      return pawl_dag_powi(d, a, 2 + random_below(r, 2));
    default:
      return pawl_dag_div(d, a, random_below(r, 2) ? num(d, 3.0) : par(d, random_below(r, LEAVES)));
  }
}

typedef struct Point {
  double q[LEAVES], v[LEAVES], param[LEAVES];
  PawlLeafValues leaves;
} Point;

static void random_point(Point* p, Random* r) {
  for (int i = 0; i < LEAVES; i++) {
    p->q[i] = random_between(r, -2.0, 2.0);
    p->v[i] = random_between(r, -1.5, 1.5);
    p->param[i] = random_between(r, 0.5, 2.0);
  }
  p->leaves =
      (PawlLeafValues){.t = random_between(r, 0.0, 2.0), .param = p->param, .q = p->q, .v = p->v};
}

// 1e-12 relative to the sums of magnitudes. Given and normal form are rounded differently, a few
// hundred operations each.
static void test_random_mechanics(void** state) {
  (void)state;
  Random r = {7};
  int changed = 0, compared = 0;
  for (int trial = 0; trial < 6000; trial++) {
    PawlDag* d = pawl_dag_create();
    PawlNode given = random_mechanics(d, &r, 2 + trial % 4);
    PawlNode normal = pawl_dag_normal(d, given);
    assert_true(normal >= 0);
    changed += normal != given;
    for (int k = 0; k < 3; k++) {
      Point p;
      random_point(&p, &r);
      double size = majorant(d, given, &p.leaves) + majorant(d, normal, &p.leaves);
      if (isfinite(size) && size < 1e8) {
        CHECK_NEAR(value_of(d, normal, &p.leaves), value_of(d, given, &p.leaves), 1e-12 * size);
        compared++;
      }
    }
    assert_int_equal(pawl_dag_normal(d, normal), normal);
    pawl_dag_destroy(d);
  }
  assert_true(changed > 3000 && compared > 16000);
}

// Every operation there is. A value never gets lost; next to jumps the comparison is left out.
static void test_random_operations(void** state) {
  (void)state;
  Random r = {11};
  int compared = 0;
  for (int trial = 0; trial < 6000; trial++) {
    PawlDag* d = pawl_dag_create();
    Tree tree;
    tree_random(&tree, &r, 2 + trial % 4, false);
    PawlNode given = tree_build(&tree, d), normal = pawl_dag_normal(d, given);
    Point p;
    random_point(&p, &r);
    Naive naive = tree_value(&tree, &p.leaves);
    double size = majorant(d, given, &p.leaves) + majorant(d, normal, &p.leaves);
    if (isfinite(naive.value) && naive.steady && isfinite(size) && size < 1e4) {
      CHECK_NEAR(value_of(d, normal, &p.leaves), value_of(d, given, &p.leaves), 1e-12 * size);
      compared++;
    }
    assert_int_equal(pawl_dag_normal(d, normal), normal);
    pawl_dag_destroy(d);
  }
  assert_true(compared > 2000);
}

// ---- the three-link pendulum ----------------------------------------------------------------
enum { LINK = 3, ENTRIES = LINK * (LINK + 1) / 2 + LINK };

typedef struct Links {
  PawlNode entry[ENTRIES];  // M_11, M_21, M_22, ..., then f_1, f_2, f_3
} Links;

static PawlNode tangent(void* context, PawlDag* d, PawlOp leaf, int index) {
  (void)context;
  return leaf == PAWL_OP_Q ? pawl_dag_leaf(d, PAWL_OP_V, index) : num(d, 0.0);
}

static PawlNode half(PawlDag* d, PawlNode a) {
  return pawl_dag_div(d, a, num(d, 2.0));
}

// T and V from the points, as in models/planar-3r.yaml.
static void energies(PawlDag* d, PawlNode L, PawlNode m, PawlNode J, PawlNode g, PawlNode* T,
                     PawlNode* V) {
  PawlNode x = num(d, 0.0), y = x, angle = x;
  *T = *V = x;
  for (int i = 0; i < LINK; i++) {
    angle = add(d, angle, q(d, i));
    PawlNode next_x = add(d, x, mul(d, L, cosine(d, angle)));
    PawlNode next_y = add(d, y, mul(d, L, sine(d, angle)));
    PawlNode cx = half(d, add(d, x, next_x)), cy = half(d, add(d, y, next_y));
    PawlNode speed = add(d, sqr(d, pawl_dag_total(d, cx)), sqr(d, pawl_dag_total(d, cy)));
    *T = add(d, *T, mul(d, half(d, m), speed));
    *T = add(d, *T, mul(d, half(d, J), sqr(d, pawl_dag_total(d, angle))));
    *V = add(d, *V, mul(d, mul(d, m, g), cy));
    x = next_x;
    y = next_y;
  }
}

// M_ij = d2T/dv_i dv_j, f_i = dT/dq_i - (dT/dv_i)' at v' = 0 - dV/dq_i.
static Links derive_links(PawlDag* d, PawlNode L, PawlNode m, PawlNode J, PawlNode g) {
  Links links;
  PawlNode T, V;
  int count = 0;
  energies(d, L, m, J, g, &T, &V);
  for (int i = 0; i < LINK; i++) {
    for (int j = 0; j <= i; j++) {
      PawlNode p = pawl_dag_partial(d, T, PAWL_OP_V, i);
      links.entry[count++] = pawl_dag_partial(d, p, PAWL_OP_V, j);
    }
  }
  for (int i = 0; i < LINK; i++) {
    PawlNode p = pawl_dag_partial(d, T, PAWL_OP_V, i);
    PawlNode f =
        sub(d, pawl_dag_partial(d, T, PAWL_OP_Q, i), pawl_dag_tangent(d, p, tangent, NULL));
    links.entry[count++] = sub(d, f, pawl_dag_partial(d, V, PAWL_OP_Q, i));
  }
  return links;
}

static Links links_with_numbers(PawlDag* d) {
  return derive_links(d, num(d, 1.0), num(d, 108.0), num(d, 9.36), num(d, 9.81));
}

static const char* const mass_text[] = {
    "3*p2 + p0^2*p1*(3.75 + 3*cos(q1) + cos(q2) + cos(q1 + q2))",
    "2*p2 + p0^2*p1*(1.5 + 1.5*cos(q1) + cos(q2) + 0.5*cos(q1 + q2))",
    "2*p2 + p0^2*p1*(1.5 + cos(q2))",
    "p2 + p0^2*p1*(0.25 + 0.5*(cos(q2) + cos(q1 + q2)))",
    "p2 + p0^2*p1*(0.25 + 0.5*cos(q2))",
    "p2 + 0.25*p0^2*p1",
};

// With symbols the forms are those found by hand from |e1 + e2 + e3/2|^2 and so on.
static void test_mass_matrix_with_symbols(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  Links links = derive_links(d, par(d, 0), par(d, 1), par(d, 2), par(d, 3));
  for (int i = 0; i < ENTRIES - LINK; i++) {
    check_normal(d, links.entry[i], mass_text[i]);
  }
  pawl_dag_destroy(d);
}

// Only these cosines are left, each with its coefficient: m = 108, L = 1, J = 9.36.
static void test_mass_matrix_with_numbers(void** state) {
  (void)state;
  static const double by_hand[][4] = {
      {3 * 9.36 + 3.75 * 108, 324, 108, 108},
      {2 * 9.36 + 1.5 * 108, 162, 108, 54},
      {2 * 9.36 + 1.5 * 108, 0, 108, 0},
      {9.36 + 27, 0, 54, 54},
      {9.36 + 27, 0, 54, 0},
      {9.36 + 27, 0, 0, 0},
  };
  PawlDag* d = pawl_dag_create();
  Links links = links_with_numbers(d);
  PawlNode cosines[3] = {cosine(d, q(d, 1)), cosine(d, q(d, 2)),
                         cosine(d, add(d, q(d, 1), q(d, 2)))};
  Random r = {3};
  for (int i = 0; i < ENTRIES - LINK; i++) {
    const PawlNode* reached;
    PawlNode normal = pawl_dag_normal(d, links.entry[i]);
    int count = pawl_dag_reach(d, 1, &normal, &reached);
    for (int k = 0; k < count; k++) {
      PawlOp op = pawl_dag_node(d, reached[k])->op;
      assert_true(op != PAWL_OP_SIN && op != PAWL_OP_POWI);
      assert_true(op != PAWL_OP_COS || reached[k] == cosines[0] || reached[k] == cosines[1] ||
                  reached[k] == cosines[2]);
    }
    for (int k = 0; k < 10; k++) {
      double at[3] = {random_between(&r, -3, 3), random_between(&r, -3, 3),
                      random_between(&r, -3, 3)};
      double expected = by_hand[i][0] + by_hand[i][1] * cos(at[1]) + by_hand[i][2] * cos(at[2]) +
                        by_hand[i][3] * cos(at[1] + at[2]);
      PawlLeafValues leaves = {.q = at};
      CHECK_NEAR(value_of(d, normal, &leaves), expected, 1e-12);  // a few ulps of 1000
      CHECK_NEAR(value_of(d, links.entry[i], &leaves), expected, 1e-11);
    }
  }
  pawl_dag_destroy(d);
}

static int instructions(PawlDag* d, int count, const PawlNode* roots) {
  PawlTape* tape;
  PawlError err;
  assert_int_equal(pawl_tape_create(d, count, roots, &tape, &err), PAWL_OK);
  int result = tape->instruction_count;
  pawl_tape_destroy(tape);
  return result;
}

// M and f together: less than 0.7 of the cost, less than 0.4 of the instructions; M less than half.
static void test_pendulum_gets_cheaper(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  Links given = links_with_numbers(d), cheap = given;
  assert_int_equal(pawl_dag_normalize_if_cheaper(d, ENTRIES, cheap.entry), PAWL_OK);
  long long before = pawl_dag_cost(d, ENTRIES, given.entry);
  long long after = pawl_dag_cost(d, ENTRIES, cheap.entry);
  int code_before = instructions(d, ENTRIES, given.entry);
  int code_after = instructions(d, ENTRIES, cheap.entry);
  print_message("M, f: cost %lld -> %lld, instructions %d -> %d\n", before, after, code_before,
                code_after);
  assert_true(10 * after < 7 * before);
  assert_true(10 * code_after < 4 * code_before);
  // f_1 by the cheaper of two ways to take factors out; the other one costs 152.
  assert_int_equal(pawl_dag_cost(d, 1, &cheap.entry[ENTRIES - LINK]), 150);
  assert_true(2 * pawl_dag_cost(d, ENTRIES - LINK, cheap.entry) <
              pawl_dag_cost(d, ENTRIES - LINK, given.entry));
  Random r = {5};
  for (int k = 0; k < 20; k++) {
    double at[3], rate[3];
    for (int i = 0; i < 3; i++) {
      at[i] = random_between(&r, -3.0, 3.0);
      rate[i] = random_between(&r, -3.0, 3.0);
    }
    PawlLeafValues leaves = {.q = at, .v = rate};
    for (int i = 0; i < ENTRIES; i++) {  // magnitudes up to 1e4
      CHECK_NEAR(value_of(d, cheap.entry[i], &leaves), value_of(d, given.entry[i], &leaves), 1e-10);
    }
  }
  pawl_dag_destroy(d);
}

// ---- order, limits, cost --------------------------------------------------------------------
// The text does not depend on what was built before, nor on the order of operands.
static void test_order(void** state) {
  (void)state;
  PawlDag *d = pawl_dag_create(), *e = pawl_dag_create();
  for (int i = 9; i >= 0; i--) {
    sine(e, add(e, q(e, i), par(e, i)));
    pawl_dag_leaf(e, PAWL_OP_V, i);
  }
  Links first = derive_links(d, par(d, 0), par(d, 1), par(d, 2), par(d, 3));
  Links again = derive_links(e, par(e, 0), par(e, 1), par(e, 2), par(e, 3));
  for (int i = 0; i < ENTRIES; i++) {
    PawlText text = {0};
    pawl_dag_print(&text, d, pawl_dag_normal(d, first.entry[i]), PAWL_STYLE_TEXT, leaf_name, NULL);
    check_text(e, pawl_dag_normal(e, again.entry[i]), text.s);
    pawl_text_free(&text);
  }
  pawl_dag_destroy(d);
  pawl_dag_destroy(e);
}

static void test_limits(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode terms = num(d, 1.0), degree = num(d, 1.0), angles = num(d, 1.0);
  for (int i = 0; i < 12; i++) {
    terms = mul(d, terms, add(d, add(d, q(d, i), par(d, i)), num(d, 1.0)));  // 3^12 terms
    angles = mul(d, angles, cosine(d, q(d, i)));                             // 2^11 cosines
  }
  for (int i = 0; i < 5; i++) {
    degree = mul(d, degree, pawl_dag_powi(d, q(d, i), 7));
  }
  degree = mul(d, mul(d, degree, add(d, q(d, 0), q(d, 1))), sub(d, q(d, 0), q(d, 1)));
  PawlNode huge = mul(d, mul(d, num(d, 1e200), add(d, q(d, 0), num(d, 1.0))),
                      mul(d, num(d, 1e-200), add(d, q(d, 1), num(d, 1e300))));
  huge = mul(d, huge, add(d, q(d, 2), num(d, 1e200)));
  PawlNode tiny = mul(d, mul(d, num(d, 1e-200), add(d, q(d, 0), num(d, 1.0))),
                      mul(d, num(d, 1e-200), add(d, q(d, 1), num(d, 1.0))));
  PawlNode inside = pawl_dag_unary(d, PAWL_OP_EXP, terms);
  PawlNode too_much[] = {terms, degree, angles, huge, tiny, inside};
  for (int i = 0; i < 6; i++) {
    assert_int_equal(pawl_dag_normal(d, too_much[i]), too_much[i]);
  }
  // Together with others only the large one stays.
  PawlNode both[2] = {terms, add(d, mul(d, q(d, 0), q(d, 1)), mul(d, q(d, 2), q(d, 0)))}, out[2];
  assert_int_equal(pawl_dag_normal_all(d, 2, both, out), PAWL_OK);
  assert_int_equal(out[0], terms);
  check_text(d, out[1], "q0*(q1 + q2)");
  // A high power of a sum is no sum; one of a product is a product.
  check_normal(d, pawl_dag_powi(d, add(d, q(d, 0), q(d, 1)), 20), "(q0 + q1)^20");
  check_normal(d, pawl_dag_powi(d, mul(d, q(d, 0), q(d, 1)), 12), "q0^12*q1^12");
  assert_int_equal(pawl_dag_normal(d, PAWL_NO_NODE), PAWL_NO_NODE);
  pawl_dag_destroy(d);
}

static void test_cost(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode x = q(d, 0), y = q(d, 1), s = sine(d, x), c = cosine(d, x);
  const struct {
    PawlNode node;
    long long cost;
  } cases[] = {
      {x, 0},
      {add(d, x, y), 1},
      {pawl_dag_neg(d, x), 1},
      {sqr(d, x), 1},
      {pawl_dag_powi(d, x, 7), 4},
      {pawl_dag_powi(d, x, -2), 5},
      {pawl_dag_div(d, x, y), 4},
      {pawl_dag_unary(d, PAWL_OP_SQRT, x), 6},
      {pawl_dag_unary(d, PAWL_OP_EXP, x), 20},
      {s, 20},
      {mul(d, s, c), 26},
      {mul(d, s, cosine(d, y)), 41},
      {mul(d, add(d, x, y), sqr(d, add(d, x, y))), 3},  // the sum once
  };
  for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
    assert_int_equal(pawl_dag_cost(d, 1, &cases[i].node), cases[i].cost);
  }
  PawlNode pair[2] = {s, c};
  assert_int_equal(pawl_dag_cost(d, 2, pair), 25);
  assert_int_equal(pawl_dag_cost(d, 0, pair), 0);
  pawl_dag_destroy(d);
}

// A power of a sum is cheaper as it is; what stands next to it is replaced. sin x cos x + y gains
// only together with sin x cos x + z: one alone still needs sin x and cos x.
static void test_choice(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode x = q(d, 0), y = q(d, 1), z = q(d, 2), product = mul(d, sine(d, x), cosine(d, x));
  PawlNode power = pawl_dag_powi(d, add(d, x, add(d, y, z)), 6);
  PawlNode roots[4] = {power, add(d, product, y), add(d, product, z), x};
  assert_true(pawl_dag_normal(d, power) != power);
  assert_int_equal(pawl_dag_normalize_if_cheaper(d, 4, roots), PAWL_OK);
  assert_int_equal(roots[0], power);
  check_text(d, roots[1], "0.5*sin(2*q0) + q1");
  check_text(d, roots[2], "0.5*sin(2*q0) + q2");
  assert_int_equal(roots[3], x);
  pawl_dag_destroy(d);
}

// With sin x and cos x needed anyway, sin 2x for their product, which gains on its own, would be a
// third function; y (sin^2 x + cos^2 x) still gains.
static void test_choice_sees_the_whole_set(void** state) {
  (void)state;
  PawlDag* d = pawl_dag_create();
  PawlNode x = q(d, 0), y = q(d, 1), s = sine(d, x), c = cosine(d, x), product = mul(d, s, c);
  PawlNode roots[3] = {add(d, s, c), product, mul(d, y, add(d, sqr(d, s), sqr(d, c)))};
  assert_int_equal(pawl_dag_normalize_if_cheaper(d, 2, roots), PAWL_OK);
  assert_int_equal(roots[1], product);
  assert_int_equal(pawl_dag_normalize_if_cheaper(d, 3, roots), PAWL_OK);
  assert_int_equal(roots[1], product);
  assert_int_equal(roots[2], y);
  PawlNode alone = product;
  assert_int_equal(pawl_dag_normalize_if_cheaper(d, 1, &alone), PAWL_OK);
  check_text(d, alone, "0.5*sin(2*q0)");
  pawl_dag_destroy(d);
}

// ---- memory ---------------------------------------------------------------------------------
// Every allocation fails once: the roots stay as they were and nothing leaks (the sanitizer looks).
static void test_memory(void** state) {
  (void)state;
  bool succeeded = false;
  int failures = 0;
  for (long long n = 1; !succeeded; n++) {
    PawlDag* d = pawl_dag_create();
    PawlNode x = q(d, 0), y = q(d, 1), m = par(d, 0);
    PawlNode speed = add(d, mul(d, m, sine(d, x)), mul(d, y, cosine(d, add(d, x, y))));
    PawlNode roots[2] = {sqr(d, speed), pawl_dag_div(d, sqr(d, sine(d, x)), add(d, m, speed))};
    PawlNode kept[2] = {roots[0], roots[1]};
    pawl_alloc_fail_at(n);
    PawlStatus status = pawl_dag_normalize_if_cheaper(d, 2, roots);
    PawlNode one = status == PAWL_OK ? pawl_dag_normal(d, kept[0]) : PAWL_NO_NODE;
    long long cost = one >= 0 ? pawl_dag_cost(d, 2, roots) : -1;
    pawl_alloc_fail_at(0);
    succeeded = status == PAWL_OK && one >= 0 && cost >= 0;
    failures += !succeeded;
    if (status != PAWL_OK) {
      assert_int_equal(status, PAWL_ERROR_MEMORY);
      assert_memory_equal(roots, kept, sizeof kept);
    }
    pawl_dag_destroy(d);
  }
  assert_true(failures > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_trigonometry),
      cmocka_unit_test(test_polynomials),
      cmocka_unit_test(test_faults_stay),
      cmocka_unit_test(test_random_mechanics),
      cmocka_unit_test(test_random_operations),
      cmocka_unit_test(test_mass_matrix_with_symbols),
      cmocka_unit_test(test_mass_matrix_with_numbers),
      cmocka_unit_test(test_pendulum_gets_cheaper),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_cost),
      cmocka_unit_test(test_choice),
      cmocka_unit_test(test_choice_sees_the_whole_set),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
