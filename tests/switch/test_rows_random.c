// SPDX-License-Identifier: Apache-2.0
// 10^5 random row problems against a search through all sets of rows.
#include "rows_search.h"

// ---- random problems ----------------------------------------------------------------------------

// Rows that repeat earlier ones or are sums of them; then often consistent, too.
static void random_rows(Random* r, Case* c) {
  for (int i = 0; i < c->m; i++) {
    int kind = whole(r, 0, 5), a = i > 0 ? whole(r, 0, i - 1) : 0,
        d = i > 0 ? whole(r, 0, i - 1) : 0;
    double f = i > 0 && kind < 2 ? (whole(r, 0, 1) ? 1.0 : quarters(r, 2)) : 0.0;
    double g = i > 0 && kind == 1 ? quarters(r, 1) : 0.0;
    for (int j = 0; j < c->n; j++) {
      double own = whole(r, 0, 2) ? quarters(r, 1) : 0.0;
      c->G[i + j * c->m] = f != 0.0 || g != 0.0 ? f * entry(c, a, j) + g * entry(c, d, j) : own;
    }
    bool agrees = (f != 0.0 || g != 0.0) && whole(r, 0, 3) > 0;
    c->b[i] = agrees ? f * c->b[a] + g * c->b[d] : whole(r, 0, 1) ? quarters(r, 2) : 0.0;
    random_bounds(r, c, i);
  }
}

static void random_case(Random* r, Case* c) {
  memset(c, 0, sizeof *c);
  int large = whole(r, 0, 99);
  c->n = whole(r, 1, MOST_N - 1);
  c->m = large < 60 ? whole(r, 1, 4) : large < 95 ? whole(r, 5, 6) : whole(r, 7, 8);
  double A[MOST_N * MOST_N];
  bool coupled = whole(r, 0, 1);
  for (int e = 0; e < c->n * c->n; e++) {
    A[e] = coupled ? quarters(r, 1) : 0.0;
  }
  for (int j = 0; j < c->n; j++) {
    for (int i = 0; i < c->n; i++) {
      c->H[i + j * c->n] = i == j ? 0.25 * whole(r, 1, 8) : 0.0;
      for (int k = 0; k < c->n; k++) {
        c->H[i + j * c->n] += A[i + k * c->n] * A[j + k * c->n];
      }
    }
    c->r[j] = whole(r, 0, 1) ? quarters(r, 2) : 0.0;
  }
  for (int j = 0; j < c->n; j++) {
    for (int i = 0; i < j; i++) {
      c->H[j + i * c->n] = c->H[i + j * c->n];
    }
  }
  random_rows(r, c);
  bool weighed = whole(r, 0, 2) == 0;
  for (int i = 0; i < c->m; i++) {
    c->weight[i] = weighed ? 0.5 * whole(r, 1, 4) : 1.0;
  }
}

// ---- checks -------------------------------------------------------------------------------------

// The rows of `on` alone can hold, with b less `moved` (m, may be NULL).
static bool feasible(const Case* c, const unsigned char* on, const double* moved) {
  Search s;
  unsigned char free_rows[MOST_M] = {0};
  double lambda[MOST_M] = {0}, w[MOST_M];
  prepare(c, on, &s);
  for (int i = 0; moved && i < c->m; i++) {
    s.q[i] -= moved[i];
  }
  return search(&s, 0, free_rows, lambda, w);
}

// The set named cannot hold, any part of it can, and with the violation taken away it can as well.
static void check_conflict(const Case* c, const Answer* a) {
  unsigned char on[MOST_M];
  memcpy(on, a->conflict, sizeof on);
  assert_false(feasible(c, on, NULL));
  for (int i = 0; i < c->m; i++) {
    if (on[i]) {
      on[i] = 0;
      assert_true(feasible(c, on, NULL));
      on[i] = 1;
    }
  }
  assert_true(feasible(c, on, a->violation));
}

// Rows in the state FOLLOWS are those of the free ones that add nothing to the rank.
static void check_following(const Case* c, const Answer* a) {
  Search s;
  unsigned char free_rows[MOST_M] = {0};
  double lambda[MOST_M] = {0}, w[MOST_M];
  int count = 0;
  prepare(c, NULL, &s);
  for (int i = 0; i < c->m; i++) {
    bool follows = a->state[i] == PAWL_ROW_FOLLOWS;
    count += follows;
    if (!follows && a->state[i] != PAWL_ROW_FREE) {
      continue;
    }
    free_rows[i] = 1;
    assert_true(solve_set(&s, free_rows, lambda, w) == !follows);
    free_rows[i] = !follows;
  }
  assert_int_equal(count, a->info.following);
}

static void scale_case(const Case* c, double length, double mass, double time, Case* out) {
  double rate = length / (time * time), force = mass * rate;
  *out = *c;
  for (int j = 0; j < c->n; j++) {
    double arm_j = j % 2 ? length : 1.0;  // angles and lengths in turn
    for (int i = 0; i < c->n; i++) {
      out->H[i + j * c->n] *= mass * arm_j * (i % 2 ? length : 1.0);
    }
    for (int i = 0; i < c->m; i++) {
      out->G[i + j * c->m] *= arm_j;
    }
    out->r[j] *= force * arm_j;
  }
  for (int i = 0; i < c->m; i++) {
    out->b[i] *= rate;
    out->lo[i] *= force;
    out->hi[i] *= force;
  }
}

static void check_units(const Case* c, const Answer* a, Random* r) {
  static const double SCALES[] = {1e-4, 1.0, 1e4};
  Case scaled;
  Answer b = {0};
  scale_case(c, SCALES[whole(r, 0, 2)], SCALES[whole(r, 0, 2)], SCALES[whole(r, 0, 2)], &scaled);
  assert_int_equal(solve_case(&scaled, PAWL_ROWS_DENSE, &b), PAWL_OK);
  assert_true(a->exists == b.exists);
  if (a->exists) {
    assert_memory_equal(a->state, b.state, (size_t)c->m);
  }
}

// A start from the solution, and from states without sense.
static void check_warm(const Case* c, const Answer* a, Random* r) {
  Answer b = *a;
  assert_int_equal(solve_case(c, PAWL_ROWS_DENSE, &b), PAWL_OK);
  assert_true(a->exists == b.exists);
  if (a->exists) {
    assert_memory_equal(a->state, b.state, (size_t)c->m);
    check_same(c, &b, a, 1e-11);
  }
  for (int i = 0; i < c->m; i++) {
    b.state[i] = (unsigned char)whole(r, 0, 4);
  }
  assert_int_equal(solve_case(c, PAWL_ROWS_DENSE, &b), PAWL_OK);
  assert_true(a->exists == b.exists);
  if (a->exists) {
    assert_memory_equal(a->state, b.state, (size_t)c->m);
    check_same(c, &b, a, 1e-11);
  }
}

static void check_sparse(const Case* c, const Answer* a) {
  Answer b = {0};
  assert_int_equal(solve_case(c, PAWL_ROWS_SPARSE, &b), PAWL_OK);
  check_conditions(c, &b);
  assert_true(a->exists == b.exists);
  if (a->exists) {
    assert_memory_equal(a->state, b.state, (size_t)c->m);
    check_same(c, &b, a, 1e-10);
  } else {
    check_conflict(c, &b);
  }
}

static void check_case(const Case* c, Random* r) {
  Answer a = {0}, b;
  assert_int_equal(solve_case(c, PAWL_ROWS_DENSE, &a), PAWL_OK);
  assert_true(a.info.shared);
  check_conditions(c, &a);
  search_all(c, &b, true);
  if (a.exists != b.exists) {
    print_error("exists %d, by search %d\n", a.exists, b.exists);
  }
  assert_true(a.exists == b.exists);
  if (a.exists) {
    check_same(c, &a, &b, 1e-8);
    check_following(c, &a);
  } else {
    check_conflict(c, &a);
  }
  check_units(c, &a, r);
  check_warm(c, &a, r);
  if (whole(r, 0, 3) == 0) {
    check_sparse(c, &a);
  }
}

static void test_random(void** state) {
  (void)state;
  enum { CASES = 100000 };
  for (int k = 0; k < CASES; k++) {
    Random r = {(unsigned long long)k * 7919 + 17};
    Case c;
    (void)uniform(&r);
    random_case(&r, &c);
    check_case(&c, &r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
