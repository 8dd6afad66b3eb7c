// SPDX-License-Identifier: Apache-2.0
// Singular and badly scaled systems: what is refused, what the diagnosis names, and the solution
// with the smallest multipliers.
#include "base/alloc.h"
#include "linalg/dense.h"
#include "rows.h"
#include "systems.h"

static const PawlKktSolver solvers[] = {PAWL_KKT_DENSE, PAWL_KKT_KLU, PAWL_KKT_BAND,
                                        PAWL_KKT_BLOCKS};
#define SOLVERS 3

static PawlStatus diagnose(const TestSystem* s, const unsigned char* active, int* column,
                           unsigned char* rows) {
  PawlKkt* kkt = system_kkt(s, PAWL_KKT_AUTO);
  PawlStatus status = pawl_kkt_diagnose(kkt, s->S_values, s->J_values, active, column, rows);
  pawl_kkt_destroy(kkt);
  return status;
}

static void check_factor(const TestSystem* s, const unsigned char* active, PawlStatus expected) {
  for (int k = 0; k < SOLVERS; k++) {
    PawlKkt* kkt = system_kkt(s, solvers[k]);
    assert_int_equal(system_factor(kkt, s, active), expected);
    pawl_kkt_destroy(kkt);
  }
}

// Overwrites row `to` of B and J by a combination of the rows before it.
static void make_dependent(TestSystem* s, int to) {
  double factor[SYSTEM_MAX];
  fill_random(to, factor);
  for (int j = 0; j < s->n; j++) {
    double sum = 0.0;
    for (int i = 0; i < to; i++) {
      sum += factor[i] * s->J[i + j * s->m];
    }
    s->J[to + j * s->m] = s->B[to + j * s->m] = sum;
  }
  system_values(s);
}

// ---- scale -------------------------------------------------------------------------------------

// Multiplies the rows and columns of the whole system by independent powers of ten up to 10^+-12.
static void scale_system(TestSystem* s) {
  int n = s->n, m = s->m;
  double r[2 * SYSTEM_MAX], c[2 * SYSTEM_MAX];
  for (int i = 0; i < n + m; i++) {
    r[i] = pow(10.0, rint(12.0 * test_random()));
    c[i] = pow(10.0, rint(12.0 * test_random()));
  }
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      s->S[i + j * n] *= r[i] * c[j];
    }
    for (int i = 0; i < m; i++) {
      s->B[i + j * m] *= r[j] * c[n + i];
      s->J[i + j * m] *= r[n + i] * c[j];
    }
  }
  system_values(s);
}

static void test_scaled_systems_are_accepted(void** state) {
  (void)state;
  for (int round = 0; round < 60; round++) {
    int n = 1 + round % 12, m = (round / 3) % (n + 1);
    TestSystem* s = system_random(n, m, 0.4, false);
    scale_system(s);
    for (int k = 0; k < SOLVERS; k++) {
      double b[SYSTEM_MAX], c[SYSTEM_MAX], x[SYSTEM_MAX], y[SYSTEM_MAX];
      PawlKkt* kkt = system_kkt(s, solvers[k]);
      fill_random(n, b);
      fill_random(m, c);
      memcpy(x, b, sizeof b);
      memcpy(y, c, sizeof c);
      assert_int_equal(system_factor(kkt, s, NULL), PAWL_OK);
      pawl_kkt_solve(kkt, x, y);
      // Row by row relative to its own terms; random right sides weigh rows unevenly.
      CHECK_NEAR(system_residual(s, NULL, b, c, x, y), 0.0, 1e-7);
      pawl_kkt_destroy(kkt);
    }
    free(s);
  }
}

static void test_scaled_singular_systems_are_refused(void** state) {
  (void)state;
  for (int round = 0; round < 60; round++) {
    int n = 3 + round % 10, m = 2 + round % (n - 1);
    TestSystem* s = system_random(n, m, 1.0, true);
    make_dependent(s, m - 1);
    check_factor(s, NULL, PAWL_RETRY);
    scale_system(s);
    check_factor(s, NULL, PAWL_RETRY);
    free(s);
  }
}

// One object meets units that change under it: tonnes and millimetres instead of kg and m.
static void test_units_may_change(void** state) {
  (void)state;
  TestSystem* s = system_random(8, 3, 0.5, true);
  for (int k = 0; k < SOLVERS; k++) {
    PawlKkt* kkt = system_kkt(s, solvers[k]);
    for (int round = 0; round < 6; round++) {
      double b[SYSTEM_MAX], c[SYSTEM_MAX], x[SYSTEM_MAX], y[SYSTEM_MAX];
      for (int i = 0; i < 8 * 8; i++) {
        s->S[i] *= round % 2 ? 1e9 : 1e-9;
      }
      for (int i = 0; i < 3 * 8; i++) {
        s->J[i] = s->B[i] *= round % 3 ? 1e6 : 1e-12;
      }
      system_values(s);
      fill_random(8, b);
      fill_random(3, c);
      memcpy(x, b, sizeof b);
      memcpy(y, c, sizeof c);
      assert_int_equal(system_factor(kkt, s, NULL), PAWL_OK);
      pawl_kkt_solve(kkt, x, y);
      CHECK_NEAR(system_residual(s, NULL, b, c, x, y), 0.0, 1e-9);
    }
    pawl_kkt_destroy(kkt);
  }
  free(s);
}

typedef struct Units {
  double inertia;  // mass length^2, or by time^2 where S is a tangent
  double coordinate[SYSTEM_MAX], row[SYSTEM_MAX];  // lengths or angles, in turn
} Units;

static Units make_units(double mass, double length) {
  Units u = {.inertia = mass * length * length};
  for (int k = 0; k < SYSTEM_MAX; k++) {
    u.coordinate[k] = k % 2 ? 1.0 : length;
    u.row[k] = k % 3 ? 1.0 : length;
  }
  return u;
}

// The numbers of `from` in other units.
static void change_units(const TestSystem* from, const Units* u, TestSystem* to) {
  int n = from->n, m = from->m;
  memcpy(to, from, sizeof *to);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      to->S[i + j * n] *= u->inertia / (u->coordinate[i] * u->coordinate[j]);
    }
    for (int i = 0; i < m; i++) {
      to->J[i + j * m] *= u->row[i] / u->coordinate[j];
      to->B[i + j * m] = to->J[i + j * m];
    }
  }
  system_values(to);
}

// Solves in the units given: b, c and the solution x, y are in the old ones.
static void solve_in_units(PawlKkt* kkt, const TestSystem* s, const Units* u, const double* b,
                           const double* c, double* x, double* y) {
  for (int j = 0; j < s->n; j++) {
    x[j] = b[j] * u->inertia / u->coordinate[j];
  }
  for (int i = 0; i < s->m; i++) {
    y[i] = c[i] * u->row[i];
  }
  assert_int_equal(system_factor(kkt, s, NULL), PAWL_OK);
  pawl_kkt_solve(kkt, x, y);
  for (int j = 0; j < s->n; j++) {
    x[j] /= u->coordinate[j];
  }
  for (int i = 0; i < s->m; i++) {
    y[i] *= u->row[i] / u->inertia;
  }
}

// The last row becomes the first one turned by `angle` (radians, about).
static void turn_last_row(TestSystem* s, double angle) {
  for (int j = 0; j < s->n; j++) {
    s->J[s->m - 1 + j * s->m] = s->J[j * s->m] + angle * test_random();
    s->B[s->m - 1 + j * s->m] = s->J[s->m - 1 + j * s->m];
  }
  system_values(s);
}

static void check_all_near(int count, const double* z, const double* expected) {
  double size = 1.0;
  for (int k = 0; k < count; k++) {
    size = fmax(size, fabs(expected[k]));
  }
  for (int k = 0; k < count; k++) {
    CHECK_NEAR(z[k], expected[k], 1e-9 * size);
  }
}

// One object meets all units; its solutions are compared with that in the first.
static void check_in_all_units(const TestSystem* s, PawlKktSolver solver, PawlStatus expected) {
  const double units[] = {1.0, 1e-4, 1e4};
  TestSystem* in_units = malloc(sizeof *in_units);
  PawlKkt* kkt = system_kkt(s, solver);
  double b[SYSTEM_MAX], c[SYSTEM_MAX], z[2][2 * SYSTEM_MAX];
  fill_random(s->n, b);
  fill_random(s->m, c);
  for (int k = 0; k < 9; k++) {
    Units u = make_units(units[k % 3], units[k / 3]);
    change_units(s, &u, in_units);
    check_factor(in_units, NULL, expected);
    if (expected == PAWL_OK) {
      double* at = z[k > 0];
      solve_in_units(kkt, in_units, &u, b, c, at, at + s->n);
      check_all_near(s->n + s->m, at, z[0]);
    }
  }
  pawl_kkt_destroy(kkt);
  free(in_units);
}

// What is accepted and refused, and the motion, are the same in all units.
static void test_units_do_not_matter(void** state) {
  (void)state;
  const double angles[] = {1.0, 1e-2, 1e-9, 0.0};
  for (int round = 0; round < 4 * 10; round++) {
    double angle = angles[round % 4];
    TestSystem* s = system_random(5 + round % 9, 2 + round % 4, 1.0, true);
    turn_last_row(s, angle);
    for (int k = 0; k < SOLVERS; k++) {
      check_in_all_units(s, solvers[k], angle > 1e-6 ? PAWL_OK : PAWL_RETRY);
    }
    free(s);
  }
}

// ---- limits ------------------------------------------------------------------------------------

static PawlKkt* full_two_by_two(PawlKktSolver solver) {
  const int start[] = {0, 2, 4}, index[] = {0, 1, 0, 1}, empty[] = {0, 0, 0};
  const PawlPattern S = {2, 2, start, index}, G = {0, 2, empty, NULL};
  PawlKkt* kkt;
  assert_int_equal(pawl_kkt_create(&S, &G, solver, &kkt, NULL), PAWL_OK);
  return kkt;
}

// The pivot of [1 1; 1 1 + d] is d, and singular means 2.5e-13, near 2^-42.
static void test_smallest_pivot(void** state) {
  (void)state;
  for (int k = 0; k < SOLVERS; k++) {
    PawlKkt* kkt = full_two_by_two(solvers[k]);
    const double regular[] = {1.0, 1.0, 1.0, 1.0 + 0x1p-40};
    const double singular[] = {1.0, 1.0, 1.0, 1.0 + 0x1p-44};
    assert_int_equal(pawl_kkt_factor(kkt, regular, NULL, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_kkt_factor(kkt, singular, NULL, NULL, NULL), PAWL_RETRY);
    pawl_kkt_destroy(kkt);
  }
}

// Whether the scaling made for 1 is another one after S has been factored.
static bool is_scaled_anew(const double* S) {
  const double ones[] = {1.0, 0.0, 0.0, 1.0};
  PawlKkt* kkt = full_two_by_two(PAWL_KKT_DENSE);
  size_t count = pawl_kkt_memory_bytes(kkt);
  unsigned char *before = malloc(count), *after = malloc(count);
  assert_int_equal(pawl_kkt_factor(kkt, ones, NULL, NULL, NULL), PAWL_OK);
  pawl_kkt_save(kkt, before);
  assert_int_equal(pawl_kkt_factor(kkt, S, NULL, NULL, NULL), PAWL_OK);
  pawl_kkt_save(kkt, after);
  bool differ = memcmp(before, after, count) != 0;
  free(before);
  free(after);
  pawl_kkt_destroy(kkt);
  return differ;
}

static void test_when_the_scaling_is_renewed(void** state) {
  (void)state;
  const double grown[] = {0x1p9, 0.0, 0.0, 0x1p9}, beyond[] = {0x1p11, 0.0, 0.0, 0x1p11};
  assert_false(is_scaled_anew(grown));
  assert_true(is_scaled_anew(beyond));
  // A pivot is small against the largest entry, not against 1.
  const double small[] = {1.0, 0.0, 0.0, 0x1p-36}, smaller[] = {0x1p9, 0.0, 0.0, 0x1p-36};
  assert_false(is_scaled_anew(small));
  assert_true(is_scaled_anew(smaller));
}

// As many rows as coordinates need no mass.
static void test_no_inertia_at_all(void** state) {
  (void)state;
  for (int k = 0; k < SOLVERS; k++) {
    TestSystem* s = system_random(4, 4, 1.0, true);
    memset(s->S, 0, sizeof s->S);
    system_values(s);
    PawlKkt* kkt = system_kkt(s, solvers[k]);
    double b[4], c[4], x[4], y[4];
    fill_random(4, b);
    fill_random(4, c);
    memcpy(x, b, sizeof b);
    memcpy(y, c, sizeof c);
    assert_int_equal(system_factor(kkt, s, NULL), PAWL_OK);
    pawl_kkt_solve(kkt, x, y);
    CHECK_NEAR(system_residual(s, NULL, b, c, x, y), 0.0, 1e-12);
    pawl_kkt_destroy(kkt);
    free(s);
  }
}

// Numbers near the ends of the range: the scaling stays within what is remembered.
static void test_extreme_numbers_can_be_remembered(void** state) {
  (void)state;
  for (int k = 0; k < SOLVERS; k++) {
    TestSystem* s = system_random(4, 2, 1.0, true);
    for (int i = 0; i < 16; i++) {
      s->S[i] *= 1e300;
      s->J[i % 8] = s->B[i % 8] = 1e-300 * test_random();
    }
    system_values(s);
    PawlKkt* kkt = system_kkt(s, solvers[k]);
    PawlStatus status = system_factor(kkt, s, NULL);
    assert_true(status == PAWL_OK || status == PAWL_RETRY);
    void* bytes = malloc(pawl_kkt_memory_bytes(kkt));
    pawl_kkt_save(kkt, bytes);
    assert_int_equal(pawl_kkt_load(kkt, bytes), PAWL_OK);
    free(bytes);
    pawl_kkt_destroy(kkt);
    free(s);
  }
}

static void test_not_finite_is_refused(void** state) {
  (void)state;
  const double bad[] = {NAN, INFINITY};
  for (int k = 0; k < 2; k++) {
    TestSystem* s = system_random(6, 2, 0.5, true);
    s->S_values[3] = bad[k];
    check_factor(s, NULL, PAWL_RETRY);
    int column;
    unsigned char rows[2];
    assert_int_equal(diagnose(s, NULL, &column, rows), PAWL_RETRY);
    system_values(s);
    s->J_values[1] = bad[k];
    check_factor(s, NULL, PAWL_RETRY);
    system_values(s);
    s->B_values[1] = bad[k];
    check_factor(s, NULL, PAWL_RETRY);
    free(s);
  }
}

// ---- diagnosis ---------------------------------------------------------------------------------

static void test_nothing_wrong(void** state) {
  (void)state;
  TestSystem* s = system_random(10, 4, 0.3, true);
  int column = 7;
  unsigned char rows[4] = {9, 9, 9, 9};
  assert_int_equal(diagnose(s, NULL, &column, rows), PAWL_OK);
  assert_int_equal(column, -1);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(rows[i], 0);
  }
  free(s);
}

// Random sets of rows, several dependent, zero and equal ones among them, some inactive: the flags
// are those of orthogonalising the active rows in order.
static void test_dependent_rows_are_named(void** state) {
  (void)state;
  for (int round = 0; round < 2000; round++) {
    int n = 6 + round % 20, m = 4 + round % 7, column;
    TestSystem* s = system_random(n, m, 1.0, true);
    unsigned char active[SYSTEM_MAX], rows[SYSTEM_MAX], expected[SYSTEM_MAX];
    for (int i = 1; i < m; i++) {
      if (test_random() > 0.4) {
        make_dependent(s, i);
      }
      active[i] = test_random() > -0.7;
    }
    active[0] = 1;
    for (int j = 0; j < n && round % 3 == 0; j++) {
      s->J[m - 1 + j * m] = s->B[m - 1 + j * m] = 0.0;          // a row of zeros
      s->J[m - 2 + j * m] = s->B[m - 2 + j * m] = s->J[j * m];  // equal to the first
    }
    system_values(s);
    double J[SYSTEM_MAX * SYSTEM_MAX];
    for (int k = 0; k < m * n; k++) {
      J[k] = active[k % m] ? s->J[k] : 0.0;
    }
    (void)flag_rows(m, n, J, expected);
    assert_int_equal(diagnose(s, active, &column, rows), PAWL_OK);
    assert_int_equal(column, -1);
    bool any = false;
    for (int i = 0; i < m; i++) {
      bool dependent = active[i] && expected[i];
      assert_int_equal(rows[i], dependent);
      any = any || dependent;
    }
    check_factor(s, active, any ? PAWL_RETRY : PAWL_OK);
    free(s);
  }
}

// Rows that count as later than all others: those of a system in which they come last.
static void test_rows_may_come_last(void** state) {
  (void)state;
  for (int round = 0; round < 500; round++) {
    int n = 6 + round % 20, m = 4 + round % 7, column, order[SYSTEM_MAX], count = 0;
    TestSystem* s = system_random(n, m, 1.0, true);
    unsigned char last[SYSTEM_MAX], rows[SYSTEM_MAX], expected[SYSTEM_MAX];
    for (int i = 0; i < m; i++) {
      if (i > 0 && test_random() > 0.2) {
        make_dependent(s, i);
      }
      last[i] = test_random() > 0.0;
    }
    for (int i = 0; i < 2 * m; i++) {
      if (last[i % m] == (i >= m)) {
        order[count++] = i % m;
      }
    }
    double J[SYSTEM_MAX * SYSTEM_MAX];
    for (int k = 0; k < m * n; k++) {
      J[k] = s->J[order[k % m] + (k / m) * m];
    }
    (void)flag_rows(m, n, J, expected);
    PawlKkt* kkt = system_kkt(s, PAWL_KKT_AUTO);
    assert_int_equal(
        pawl_kkt_diagnose_last(kkt, s->S_values, s->J_values, NULL, last, &column, rows), PAWL_OK);
    assert_int_equal(column, -1);
    for (int i = 0; i < m; i++) {
      assert_int_equal(rows[order[i]], expected[i]);
    }
    pawl_kkt_destroy(kkt);
    free(s);
  }
}

// More rows than coordinates.
static void test_too_many_rows(void** state) {
  (void)state;
  TestSystem* s = system_random(3, 6, 1.0, true);
  int column;
  unsigned char rows[6];
  check_factor(s, NULL, PAWL_RETRY);
  assert_int_equal(diagnose(s, NULL, &column, rows), PAWL_OK);
  for (int i = 0; i < 6; i++) {
    assert_int_equal(rows[i], i >= 3);
  }
  free(s);
}

static void clear_coordinate(TestSystem* s, int j) {
  for (int i = 0; i < s->n; i++) {
    s->S[i + j * s->n] = s->S[j + i * s->n] = 0.0;
  }
  system_values(s);
}

// Coordinate 4 has no mass: named while nothing holds it, accepted when a row determines it.
static void test_massless_coordinate(void** state) {
  (void)state;
  for (int pattern = 0; pattern < 2; pattern++) {  // with and without S_44 in the pattern
    TestSystem* s = system_random(7, 2, 0.3, true);
    int column;
    unsigned char rows[2];
    clear_coordinate(s, 4);
    s->has_S[4 + 4 * 7] = pattern == 0;
    for (int i = 0; i < 2; i++) {
      s->J[i + 4 * 2] = s->B[i + 4 * 2] = 0.0;
      s->has_G[i + 4 * 2] = 1;
    }
    system_patterns(s);
    check_factor(s, NULL, PAWL_RETRY);
    assert_int_equal(diagnose(s, NULL, &column, rows), PAWL_OK);
    assert_int_equal(column, 4);
    assert_true(!rows[0] && !rows[1]);
    s->J[1 + 4 * 2] = s->B[1 + 4 * 2] = 0.5;
    system_values(s);
    check_factor(s, NULL, PAWL_OK);
    assert_int_equal(diagnose(s, NULL, &column, rows), PAWL_OK);
    assert_int_equal(column, -1);
    free(s);
  }
}

// Masses forgotten throughout: the lowest coordinate is named.
static void test_many_massless_coordinates(void** state) {
  (void)state;
  TestSystem* s = system_random(60, 2, 0.0, true);
  int column;
  unsigned char rows[2];
  for (int j = 0; j < 60; j++) {  // zeros in the pattern: coordinate 5 is eliminated late
    s->has_S[5 + 60 * j] = s->has_S[j + 60 * 5] = 1;
  }
  for (int j = 5; j < 55; j++) {
    clear_coordinate(s, j);
  }
  system_patterns(s);
  assert_int_equal(diagnose(s, NULL, &column, rows), PAWL_OK);
  assert_int_equal(column, 5);
  assert_true(!rows[0] && !rows[1]);
  free(s);
}

// A coordinate without mass and a doubled row at once; also a mass matrix of rank n - 1 without a
// zero in it.
static void test_several_defects(void** state) {
  (void)state;
  TestSystem* s = system_random(9, 5, 1.0, true);
  int column;
  unsigned char rows[5];
  double u[9];
  fill_random(9, u);
  clear_coordinate(s, 2);
  for (int i = 0; i < 5; i++) {
    s->J[i + 2 * 5] = s->B[i + 2 * 5] = 0.0;
  }
  make_dependent(s, 3);
  assert_int_equal(diagnose(s, NULL, &column, rows), PAWL_OK);
  assert_int_equal(column, 2);
  const unsigned char expected[] = {0, 0, 0, 1, 0};
  assert_memory_equal(rows, expected, 5);
  free(s);

  const int start[] = {0, 2, 4}, index[] = {0, 1, 0, 1}, empty[] = {0, 0, 0};
  const PawlPattern S = {2, 2, start, index}, G = {0, 2, empty, NULL};
  const double M[] = {1.0, -2.0, -2.0, 4.0};  // only x - 2 y has inertia
  PawlKkt* kkt;
  assert_int_equal(pawl_kkt_create(&S, &G, PAWL_KKT_AUTO, &kkt, NULL), PAWL_OK);
  assert_int_equal(pawl_kkt_factor(kkt, M, NULL, NULL, NULL), PAWL_RETRY);
  assert_int_equal(pawl_kkt_diagnose(kkt, M, NULL, NULL, &column, rows), PAWL_OK);
  assert_true(column == 0 || column == 1);
  pawl_kkt_destroy(kkt);
}

// ---- minimum norm ------------------------------------------------------------------------------

// Two equal rows share the load evenly; the same weight on two supports.
static void test_equal_rows_share(void** state) {
  (void)state;
  const int S_start[] = {0, 1}, S_index[] = {0}, G_start[] = {0, 2}, G_index[] = {0, 1};
  const PawlPattern S = {1, 1, S_start, S_index}, G = {2, 1, G_start, G_index};
  const double M[] = {3.0}, J[] = {1.0, 1.0};
  PawlKkt* kkt;
  assert_int_equal(pawl_kkt_create(&S, &G, PAWL_KKT_AUTO, &kkt, NULL), PAWL_OK);
  double x[] = {-30.0}, y[] = {0.0, 1.0}, residual;  // x = 0 and x = 1 at once: x = 1/2
  assert_int_equal(pawl_kkt_min_norm(kkt, M, J, NULL, x, y, &residual), PAWL_OK);
  CHECK_NEAR(x[0], 0.5, 1e-15);
  CHECK_NEAR(y[0], 15.75, 1e-13);
  CHECK_NEAR(y[1], 15.75, 1e-13);
  CHECK_NEAR(residual, 0.5, 1e-15);
  pawl_kkt_destroy(kkt);
}

// Two equal rows beside one whose force goes along another direction than its gradient: the mass is
// held at rest by all three, and the equal ones share what that force asks of them.
static void test_forces_along_others(void** state) {
  (void)state;
  const int S_start[] = {0, 1, 2}, S_index[] = {0, 1}, G_start[] = {0, 3, 6},
            G_index[] = {0, 1, 2, 0, 1, 2};
  const PawlPattern S = {2, 2, S_start, S_index}, G = {3, 2, G_start, G_index};
  const double M[] = {1.0, 2.0}, J[] = {1.0, 1.0, 0.0, 0.0, 0.0, 1.0},
               B[] = {1.0, 1.0, 0.5, 0.0, 0.0, 1.0};
  PawlKkt* kkt;
  assert_int_equal(pawl_kkt_create(&S, &G, PAWL_KKT_AUTO, &kkt, NULL), PAWL_OK);
  assert_int_equal(pawl_kkt_factor(kkt, M, B, J, NULL), PAWL_RETRY);
  double x[] = {-3.0, -4.0}, y[] = {0.0, 0.0, 0.0};
  assert_int_equal(pawl_kkt_min_norm_along(kkt, M, B, J, NULL, x, y), PAWL_OK);
  CHECK_NEAR(x[0], 0.0, 1e-15);
  CHECK_NEAR(x[1], 0.0, 1e-15);
  CHECK_NEAR(y[2], 4.0, 1e-13);
  CHECK_NEAR(y[0], 0.5, 1e-13);  // (3 - 0.5 y[2])/2
  CHECK_NEAR(y[1], 0.5, 1e-13);
  pawl_kkt_destroy(kkt);
}

// The defining conditions: S x - J^T y = b; J^T (J x - c) = 0 over the active rows; y_active
// orthogonal to {w : J^T w = 0}; y_i = c_i in inactive rows.
static void check_min_norm(const TestSystem* s, const unsigned char* active, const double* b,
                           const double* c, const double* x, const double* y, double relative) {
  int n = s->n, m = s->m, dimension;
  double tolerance = relative;
  for (int i = 0; i < m; i++) {
    tolerance = fmax(tolerance, relative * fabs(y[i]));
  }
  double Jt[SYSTEM_MAX * SYSTEM_MAX], N[SYSTEM_MAX * SYSTEM_MAX], left[SYSTEM_MAX];
  for (int i = 0; i < m; i++) {
    left[i] = -c[i];
    for (int j = 0; j < n; j++) {
      Jt[j + i * n] = active[i] ? s->J[i + j * m] : 0.0;
      left[i] += s->J[i + j * m] * x[j];
    }
    left[i] = active[i] ? left[i] : 0.0;
    assert_true(active[i] || y[i] == c[i]);
  }
  for (int j = 0; j < n; j++) {
    double force = -b[j], gradient = 0.0;
    for (int i = 0; i < n; i++) {
      force += s->S[j + i * n] * x[i];
    }
    for (int i = 0; i < m; i++) {
      force -= s->J[i + j * m] * y[i];
      gradient += s->J[i + j * m] * left[i];
    }
    CHECK_NEAR(force, 0.0, tolerance);
    CHECK_NEAR(gradient, 0.0, tolerance);
  }
  assert_int_equal(pawl_dense_null_space(n, m, Jt, 1e-10, N, &dimension), PAWL_OK);
  for (int k = 0; k < dimension; k++) {
    double sum = 0.0;
    for (int i = 0; i < m; i++) {
      sum += active[i] ? N[i + k * m] * y[i] : 0.0;
    }
    CHECK_NEAR(sum, 0.0, tolerance);
  }
}

static void test_minimum_norm(void** state) {
  (void)state;
  for (int round = 0; round < 500; round++) {
    int n = 5 + round % 15, m = 3 + round % 9;
    TestSystem* s = system_random(n, m, 1.0, true);
    double b[SYSTEM_MAX], c[SYSTEM_MAX], x[SYSTEM_MAX], y[SYSTEM_MAX], residual;
    unsigned char active[SYSTEM_MAX];
    for (int i = 0; i < m; i++) {
      if (i > 0 && test_random() > 0.2) {
        make_dependent(s, i);
      }
      active[i] = i == 0 || test_random() > -0.8;
    }
    fill_random(n, b);
    fill_random(m, c);
    memcpy(x, b, sizeof b);
    memcpy(y, c, sizeof c);
    PawlKkt* kkt = system_kkt(s, solvers[round % SOLVERS]);
    assert_int_equal(pawl_kkt_min_norm(kkt, s->S_values, s->J_values, active, x, y, &residual),
                     PAWL_OK);
    // Relative to the multipliers, which are large where the rows are nearly dependent.
    check_min_norm(s, active, b, c, x, y, 1e-10);
    pawl_kkt_destroy(kkt);
    free(s);
  }
}

// A regular system: the same answer as factor and solve.
static void test_minimum_norm_of_a_regular_system(void** state) {
  (void)state;
  TestSystem* s = system_random(12, 5, 0.4, true);
  double x[2][SYSTEM_MAX], y[2][SYSTEM_MAX], residual;
  fill_random(12, x[0]);
  fill_random(5, y[0]);
  memcpy(x[1], x[0], sizeof x[0]);
  memcpy(y[1], y[0], sizeof y[0]);
  PawlKkt* kkt = system_kkt(s, PAWL_KKT_AUTO);
  assert_int_equal(system_factor(kkt, s, NULL), PAWL_OK);
  assert_int_equal(pawl_kkt_min_norm(kkt, s->S_values, s->J_values, NULL, x[1], y[1], &residual),
                   PAWL_OK);
  pawl_kkt_solve(kkt, x[0], y[0]);  // the factorisation has survived
  CHECK_NEAR(residual, 0.0, 1e-13);
  for (int j = 0; j < 12; j++) {
    CHECK_NEAR(x[1][j], x[0][j], 1e-13);
  }
  for (int i = 0; i < 5; i++) {
    CHECK_NEAR(y[1][i], y[0][i], 1e-12);
  }
  clear_coordinate(s, 3);
  for (int i = 0; i < 5; i++) {
    s->J[i + 3 * 5] = 0.0;
  }
  system_values(s);
  assert_int_equal(pawl_kkt_min_norm(kkt, s->S_values, s->J_values, NULL, x[1], y[1], NULL),
                   PAWL_RETRY);
  pawl_kkt_destroy(kkt);
  free(s);
}

// ---- large systems -----------------------------------------------------------------------------

// A string of N unit masses, neighbours held together by x_j - x_{j+1} = 0 (rows 0 .. N-2), and
// `extra` rows x_j - x_{j+2} = 0 which repeat two of them.
static void test_long_string(void** state) {
  (void)state;
  const int N = 20000, extra = 40, m = N - 1 + extra, stride = 400;
  int* S_start = calloc((size_t)N + 1, sizeof(int));
  int* S_index = calloc((size_t)N, sizeof(int));
  int* G_start = calloc((size_t)N + 1, sizeof(int));
  int* G_index = calloc(2 * (size_t)m, sizeof(int));
  double* S = calloc((size_t)N, sizeof(double));
  double* J = calloc(2 * (size_t)m, sizeof(double));
  int count = 0;
  for (int j = 0; j < N; j++) {
    S_index[j] = j;
    S[j] = 1.0;
    if (j > 0) {
      G_index[count] = j - 1;
      J[count++] = -1.0;
    }
    if (j < N - 1) {
      G_index[count] = j;
      J[count++] = 1.0;
    }
    if (j % stride == 0 && j / stride < extra) {
      G_index[count] = N - 1 + j / stride;
      J[count++] = 1.0;
    }
    if (j % stride == 2 && j / stride < extra) {
      G_index[count] = N - 1 + j / stride;
      J[count++] = -1.0;
    }
    S_start[j + 1] = j + 1;
    G_start[j + 1] = count;
  }
  const PawlPattern PS = {N, N, S_start, S_index}, PG = {m, N, G_start, G_index};
  PawlKkt* kkt;
  assert_int_equal(pawl_kkt_create(&PS, &PG, PAWL_KKT_AUTO, &kkt, NULL), PAWL_OK);
  assert_int_equal(pawl_kkt_factor(kkt, S, J, J, NULL), PAWL_RETRY);
  int column;
  unsigned char* rows = calloc((size_t)m, 1);
  assert_int_equal(pawl_kkt_diagnose(kkt, S, J, NULL, &column, rows), PAWL_OK);
  assert_int_equal(column, -1);
  for (int i = 0; i < m; i++) {
    assert_int_equal(rows[i], i >= N - 1);  // the repeating rows come last
  }
  // A force on the first mass moves all; a repeating row takes its share of the two it repeats:
  // y_a + w, y_b + w with |y_a|^2 + |y_b|^2 + w^2 smallest, so w = (mu_a + mu_b) / 3.
  double* x = calloc((size_t)N, sizeof(double));
  double* y = calloc((size_t)m, sizeof(double));
  double residual;
  x[0] = 1.0;
  assert_int_equal(pawl_kkt_min_norm(kkt, S, J, NULL, x, y, &residual), PAWL_OK);
  CHECK_NEAR(residual, 0.0, 1e-12);
  CHECK_NEAR(x[0], 1.0 / N, 1e-12);
  CHECK_NEAR(x[N - 1], 1.0 / N, 1e-12);
  double mu_0 = 1.0 / N - 1.0, mu_1 = 2.0 / N - 1.0;  // J^T mu = S x - b, mass by mass
  double w = (mu_0 + mu_1) / 3.0;
  CHECK_NEAR(y[N - 1], w, 1e-10);
  CHECK_NEAR(y[0], mu_0 - w, 1e-10);
  CHECK_NEAR(y[1], mu_1 - w, 1e-10);
  CHECK_NEAR(y[2], 3.0 / N - 1.0, 1e-10);
  pawl_kkt_destroy(kkt);
  free(S_start);
  free(S_index);
  free(G_start);
  free(G_index);
  free(S);
  free(J);
  free(x);
  free(y);
  free(rows);
}

static void test_allocation_failures(void** state) {
  (void)state;
  TestSystem* s = system_random(8, 4, 1.0, true);
  make_dependent(s, 2);
  PawlKkt* kkt = system_kkt(s, PAWL_KKT_AUTO);
  for (int what = 0; what < 2; what++) {
    PawlStatus status = PAWL_ERROR_MEMORY;
    for (int fail = 1; status != PAWL_OK; fail++) {
      assert_true(fail < 1000 && status == PAWL_ERROR_MEMORY);
      double x[8] = {1.0}, y[4] = {0.0};
      int column;
      unsigned char rows[4];
      pawl_alloc_fail_at(fail);
      status = what ? pawl_kkt_min_norm(kkt, s->S_values, s->J_values, NULL, x, y, NULL)
                    : pawl_kkt_diagnose(kkt, s->S_values, s->J_values, NULL, &column, rows);
      pawl_alloc_fail_at(0);
      assert_true(status == PAWL_OK || (x[0] == 1.0 && y[0] == 0.0));  // untouched on failure
    }
  }
  pawl_kkt_destroy(kkt);
  free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scaled_systems_are_accepted),
      cmocka_unit_test(test_scaled_singular_systems_are_refused),
      cmocka_unit_test(test_units_may_change),
      cmocka_unit_test(test_units_do_not_matter),
      cmocka_unit_test(test_smallest_pivot),
      cmocka_unit_test(test_when_the_scaling_is_renewed),
      cmocka_unit_test(test_no_inertia_at_all),
      cmocka_unit_test(test_extreme_numbers_can_be_remembered),
      cmocka_unit_test(test_not_finite_is_refused),
      cmocka_unit_test(test_nothing_wrong),
      cmocka_unit_test(test_dependent_rows_are_named),
      cmocka_unit_test(test_rows_may_come_last),
      cmocka_unit_test(test_too_many_rows),
      cmocka_unit_test(test_massless_coordinate),
      cmocka_unit_test(test_many_massless_coordinates),
      cmocka_unit_test(test_several_defects),
      cmocka_unit_test(test_equal_rows_share),
      cmocka_unit_test(test_forces_along_others),
      cmocka_unit_test(test_minimum_norm),
      cmocka_unit_test(test_minimum_norm_of_a_regular_system),
      cmocka_unit_test(test_long_string),
      cmocka_unit_test(test_allocation_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
