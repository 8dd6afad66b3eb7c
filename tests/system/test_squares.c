// SPDX-License-Identifier: Apache-2.0
// Kinetic energies that are sums of squares: what is derived from their forms is what is derived
// from the energy as a whole, for random forms that are rates and that are not; other energies are
// refused; and the programs of arms grow slowly with the number of joints.
#include "expr/random_tree.h"
#include "pawl/model.h"
#include "system/setup.h"
#include "system/squares.h"

enum { COORDINATES = 4, MOST_FORMS = 6, MOST_ENTRIES = 400 };

// ---- random energies ----------------------------------------------------------------------------
// A function of the coordinates and t: a sum of products of sines, cosines and coordinates.
static PawlNode random_function(PawlDag* dag, Random* r) {
  PawlNode sum = pawl_dag_const(dag, random_between(r, -1.0, 1.0));
  for (int k = random_below(r, 3); k >= 0; k--) {
    PawlNode product = pawl_dag_const(dag, random_between(r, -2.0, 2.0));
    for (int f = random_below(r, 3); f >= 0; f--) {
      PawlNode x = random_below(r, 8) == 0
                       ? pawl_dag_leaf(dag, PAWL_OP_TIME, 0)
                       : pawl_dag_leaf(dag, PAWL_OP_Q, random_below(r, COORDINATES));
      int kind = random_below(r, 4);
      x = kind == 0   ? pawl_dag_unary(dag, PAWL_OP_SIN, x)
          : kind == 1 ? pawl_dag_unary(dag, PAWL_OP_COS, x)
          : kind == 2 ? pawl_dag_powi(dag, x, 2)
                      : x;
      product = pawl_dag_mul(dag, product, x);
    }
    sum = pawl_dag_add(dag, sum, product);
  }
  return sum;
}

// The rate of a function, or a form that is in general no rate of anything.
static PawlNode random_form(PawlDag* dag, Random* r) {
  if (random_below(r, 2) == 0) {
    return pawl_dag_add(dag, pawl_dag_total(dag, random_function(dag, r)),
                        pawl_dag_leaf(dag, PAWL_OP_V, 0));
  }
  PawlNode form = random_below(r, 3) == 0 ? random_function(dag, r) : pawl_dag_const(dag, 0.0);
  for (int k = 0; k < 3; k++) {
    PawlNode rate = pawl_dag_leaf(dag, PAWL_OP_V, random_below(r, COORDINATES));
    form = pawl_dag_add(dag, form, pawl_dag_mul(dag, random_function(dag, r), rate));
  }
  return form;
}

// Squares and products of forms, with factors that are numbers and that are functions.
static PawlNode random_energy(PawlDag* dag, Random* r) {
  PawlNode forms[MOST_FORMS], T = pawl_dag_const(dag, 0.0);
  int count = 1 + random_below(r, MOST_FORMS);
  for (int k = 0; k < count; k++) {
    forms[k] = random_form(dag, r);
    int other = random_below(r, k + 1);
    PawlNode term = random_below(r, 4) > 0 ? pawl_dag_powi(dag, forms[k], 2)
                                           : pawl_dag_mul(dag, forms[k], forms[other]);
    PawlNode c = random_below(r, 3) > 0 ? pawl_dag_const(dag, random_between(r, 0.1, 3.0))
                                        : random_function(dag, r);
    T = random_below(r, 3) > 0 ? pawl_dag_add(dag, T, pawl_dag_mul(dag, c, term))
                               : pawl_dag_sub(dag, T, pawl_dag_mul(dag, term, c));
  }
  return T;
}

// ---- both ways ----------------------------------------------------------------------------------
typedef struct Sums {  // M, f, K, C as sums of what was derived
  PawlDag* dag;
  PawlNode node[4][COORDINATES][COORDINATES];
} Sums;

static void clear(Sums* sums, PawlDag* dag) {
  sums->dag = dag;
  for (int q = 0; q < 4; q++) {
    for (int i = 0; i < COORDINATES * COORDINATES; i++) {
      sums->node[q][i / COORDINATES][i % COORDINATES] = pawl_dag_const(dag, 0.0);
    }
  }
}

static int add_to(void* context, PawlQuantity quantity, int i, int j, PawlNode node) {
  Sums* sums = context;
  if (quantity <= PAWL_Q_C) {
    sums->node[quantity][i][j] = pawl_dag_add(sums->dag, sums->node[quantity][i][j], node);
  }
  return 0;
}

static double value_of(PawlDag* dag, PawlNode node, const PawlLeafValues* at) {
  double value;
  assert_int_equal(pawl_dag_value(dag, node, at, &value, NULL), PAWL_OK);
  return value;
}

static void compare(Sums* whole, Sums* squares, Random* r) {
  double q[COORDINATES], v[COORDINATES], a[COORDINATES];
  for (int k = 0; k < COORDINATES; k++) {
    q[k] = random_between(r, -1.5, 1.5);
    v[k] = random_between(r, -1.5, 1.5);
    a[k] = random_between(r, -1.5, 1.5);
  }
  PawlLeafValues at = {.t = random_between(r, 0.0, 2.0), .q = q, .v = v, .a = a};
  for (int quantity = 0; quantity < 4; quantity++) {
    double largest = 1.0, values[COORDINATES * COORDINATES];
    for (int i = 0; i < COORDINATES * COORDINATES; i++) {
      PawlNode node = whole->node[quantity][i / COORDINATES][i % COORDINATES];
      values[i] = value_of(whole->dag, node, &at);
      largest = fmax(largest, fabs(values[i]));
    }
    for (int i = 0; i < COORDINATES * COORDINATES; i++) {
      PawlNode node = squares->node[quantity][i / COORDINATES][i % COORDINATES];
      CHECK_NEAR(value_of(squares->dag, node, &at), values[i], 1e-11 * largest);
    }
  }
}

static void test_forms_give_what_the_whole_gives(void** state) {
  (void)state;
  enum { ENERGIES = 300 };
  static const int slots[COORDINATES] = {0, 1, 2, 3};
  for (int k = 0; k < ENERGIES; k++) {
    Random r = {(uint64_t)k * 104729 + 17};
    PawlDag* dag = pawl_dag_create();
    PawlNode T = random_energy(dag, &r);
    PawlSquares squares = {0};
    Sums whole, forms;
    clear(&whole, dag);
    clear(&forms, dag);
    PawlItem item = {PAWL_ITEM_KINETIC, 0, 1, &T, -1};
    assert_int_equal(pawl_derive_item(dag, &item, NULL, COORDINATES, slots, add_to, &whole),
                     PAWL_OK);
    assert_int_equal(pawl_squares_take(&squares, dag, T), 1);
    assert_int_equal(pawl_squares_derive(&squares, dag, NULL, COORDINATES, slots, add_to, &forms),
                     PAWL_OK);
    compare(&whole, &forms, &r);
    pawl_squares_free(&squares);
    pawl_dag_destroy(dag);
  }
}

// The other way of a multiple derivative: backward, against forward.
static void keep(void* context, PawlOp leaf, int index, PawlNode derivative) {
  if (leaf == PAWL_OP_Q) {
    ((PawlNode*)context)[index] = derivative;
  }
}

static void test_backward_is_forward(void** state) {
  (void)state;
  for (int k = 0; k < 100; k++) {
    Random r = {(uint64_t)k * 15485863 + 3};
    PawlDag* dag = pawl_dag_create();
    PawlNode nodes[2] = {random_energy(dag, &r), random_energy(dag, &r)}, back[COORDINATES];
    for (int i = 0; i < COORDINATES; i++) {
      back[i] = pawl_dag_const(dag, 0.0);
    }
    assert_int_equal(pawl_dag_adjoints(dag, 2, nodes, keep, back), PAWL_OK);
    double q[COORDINATES] = {0.3, -0.7, 1.1, 0.2}, v[COORDINATES] = {1.0, 0.4, -0.6, 0.9};
    PawlLeafValues at = {.t = 0.5, .q = q, .v = v};
    PawlNode sum = pawl_dag_add(dag, nodes[0], nodes[1]);
    for (int i = 0; i < COORDINATES; i++) {
      double forward = value_of(dag, pawl_dag_partial(dag, sum, PAWL_OP_Q, i), &at);
      CHECK_NEAR(value_of(dag, back[i], &at), forward, 1e-12 * (1.0 + fabs(forward)));
    }
    pawl_dag_destroy(dag);
  }
}

static void test_others_are_refused(void** state) {
  (void)state;
  PawlDag* dag = pawl_dag_create();
  PawlNode v = pawl_dag_leaf(dag, PAWL_OP_V, 0), q = pawl_dag_leaf(dag, PAWL_OP_Q, 0);
  PawlNode square = pawl_dag_powi(dag, v, 2);
  const PawlNode others[] = {
      v,                                                               // linear
      pawl_dag_add(dag, square, v),                                    // not homogeneous
      pawl_dag_powi(dag, v, 4),                                        // of a higher degree
      pawl_dag_div(dag, square, pawl_dag_add(dag, square, q)),         // no polynomial
      pawl_dag_unary(dag, PAWL_OP_COS, v),                             // the same
      pawl_dag_mul(dag, square, pawl_dag_unary(dag, PAWL_OP_ABS, q)),  // with a corner
  };
  PawlSquares squares = {0};
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
    assert_int_equal(pawl_squares_take(&squares, dag, others[k]), 0);
    assert_int_equal(squares.count, 0);
  }
  assert_int_equal(pawl_squares_take(&squares, dag, pawl_dag_div(dag, square, q)), 1);
  pawl_squares_free(&squares);
  pawl_dag_destroy(dag);
}

// ---- arms ---------------------------------------------------------------------------------------
// An arm whose joints turn about z and y in turn, one link of length 0.5 after the other.
static PawlText arm(int n) {
  PawlText t = {0};
  pawl_text_printf(&t, "model: arm\ncoordinates:\n  q[k=1..%d]: {start: 0.3, rate: 0.5}\n", n);
  pawl_text_printf(&t,
                   "define:\n"
                   "  X[0, i=1..3]: if(i == 1, 1, 0)\n"
                   "  Y[0, i=1..3]: if(i == 2, 1, 0)\n"
                   "  Z[0, i=1..3]: if(i == 3, 1, 0)\n"
                   "  O[0, i=1..3]: 0\n");
  for (int k = 1; k <= n; k++) {
    const char* other = k % 2 ? "Y" : "Z";
    pawl_text_printf(&t, "  X[%d, i=1..3]: cos(q[%d])*X[%d,i] %s sin(q[%d])*%s[%d,i]\n", k, k,
                     k - 1, k % 2 ? "+" : "-", k, other, k - 1);
    pawl_text_printf(&t, "  %s[%d, i=1..3]: cos(q[%d])*%s[%d,i] %s sin(q[%d])*X[%d,i]\n", other, k,
                     k, other, k - 1, k % 2 ? "-" : "+", k, k - 1);
    pawl_text_printf(&t, "  %s[%d, i=1..3]: %s[%d,i]\n", k % 2 ? "Z" : "Y", k, k % 2 ? "Z" : "Y",
                     k - 1);
    pawl_text_printf(&t, "  O[%d, i=1..3]: O[%d,i] + 0.5*Z[%d,i]\n", k, k - 1, k);
  }
  pawl_text_printf(&t, "  wx[0]: 0\n  wy[0]: 0\n  wz[0]: 0\n");
  for (int k = 1; k <= n; k++) {
    const char *axis = k % 2 ? "wz" : "wy", *other = k % 2 ? "wy" : "wz";
    pawl_text_printf(&t, "  wx[%d]: cos(q[%d])*wx[%d] %s sin(q[%d])*%s[%d]\n", k, k, k - 1,
                     k % 2 ? "+" : "-", k, other, k - 1);
    pawl_text_printf(&t, "  %s[%d]: cos(q[%d])*%s[%d] %s sin(q[%d])*wx[%d]\n", other, k, k, other,
                     k - 1, k % 2 ? "-" : "+", k, k - 1);
    pawl_text_printf(&t, "  %s[%d]: %s[%d] + q[%d]'\n", axis, k, axis, k - 1, k);
  }
  pawl_text_printf(&t,
                   "kinetic:\n  for k=1..%d:\n"
                   "    - (1 + 0.1*k)*(O[k,1]'^2 + O[k,2]'^2 + O[k,3]'^2)\n"
                   "    - 0.02*wx[k]^2 + 0.03*wy[k]^2 + 0.01*wz[k]^2\n"
                   "potential:\n  for k=1..%d: 9.81*k*O[k,3]\n",
                   n, n);
  return t;
}

static long long operations(int n, unsigned mask) {
  PawlText text = arm(n);
  Setup s = setup_text(text.s);
  PawlEval* eval;
  assert_int_equal(pawl_eval_create(s.system, mask, &eval, NULL), PAWL_OK);
  long long count = pawl_eval_operations(eval);
  pawl_eval_destroy(eval);
  setup_free(&s);
  pawl_text_free(&text);
  return count;
}

static void test_arms_grow_slowly(void** state) {
  (void)state;
  static const int joints[] = {6, 8, 16};
  for (int k = 0; k < 3; k++) {
    long long n = joints[k], motion = operations((int)n, PAWL_MASS | PAWL_FORCE),
              force = operations((int)n, PAWL_FORCE),
              tangents = operations((int)n, PAWL_STIFFNESS | PAWL_DAMPING);
    print_message("%2lld joints: %lld operations for M and f, %lld for f, %lld for K and C\n", n,
                  motion, force, tangents);
    assert_true(motion < 2 * n * n * n + 25 * n * n);
    assert_true(force < 20 * n * n);
    assert_true(tangents < 21 * n * n * n);
  }
}

// A form that is a rate but for a part which is small where coordinates are of size one: the place
// is at 300. Accelerations by differences of the Lagrangian with 70 digits.
static void test_nearly_a_rate(void** unused) {
  (void)unused;
  static const char text[] =
      "model: nearly\n"
      "coordinates: {a: {start: 0.3, rate: 1}, b: {start: 0.4, rate: 0.7}, c: {start: 300, rate: "
      "5},\n"
      "              d: {start: 0.2, rate: -1}}\n"
      "define:\n"
      "  x1: cos(a)\n  y1: sin(a)\n  x2: x1 + cos(a + b)\n  y2: y1 + sin(a + b)\n"
      "  x3: x2 + cos(a + b + d)\n  y3: y2 + sin(a + b + d)\n"
      "kinetic: [\"1/2*(x1'^2 + y1'^2)\", \"1/2*(x2'^2 + y2'^2)\", \"1/2*(x3' + "
      "(c/200)^6*d')^2\",\n"
      "          \"1/2*y3'^2\", \"1/2*c'^2 + 5*d'^2\"]\n";
  static const double right[] = {0.436428163, 0.517060709, 3.03665955, 0.654031381};
  Setup s = setup_text(text);
  double q[4], v[4];
  pawl_system_start(s.system, q, v);
  const PawlValues* x = run_at(s.eval, &(Place){0.0, q, v, (double[4]){0}, (double[1]){0}, NULL});
  PawlPattern H = pawl_system_pattern_H(s.system);
  double left[4] = {x->f[0], x->f[1], x->f[2], x->f[3]};  // f - M a
  for (int col = 0; col < 4; col++) {
    for (int e = H.start[col]; e < H.start[col + 1]; e++) {
      left[H.index[e]] -= x->M[e] * right[col];
    }
  }
  for (int i = 0; i < 4; i++) {
    CHECK_NEAR(left[i], 0.0, 1e-6);
  }
  setup_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_forms_give_what_the_whole_gives),
      cmocka_unit_test(test_backward_is_forward),
      cmocka_unit_test(test_others_are_refused),
      cmocka_unit_test(test_nearly_a_rate),
      cmocka_unit_test(test_arms_grow_slowly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
