// SPDX-License-Identifier: Apache-2.0
// Row problems with masses up to 10^8 apart, against a search through all sets of rows with numbers
// of more digits: what the solver answers is right, or it refuses (PAWL_RETRY), which is rare.
#include "rows_problem.h"

// Cases for each largest ratio, and how many of 1000 may be refused.
enum { CASES = 25000, MOST_REFUSED_DENSE = 2, MOST_REFUSED = 1 };
static const double RATIOS[] = {1e2, 1e4, 1e6, 1e8};
static const double SAME = 1e-6;  // of the largest motion or force, in the metric of the masses

// Masses on the diagonal and, by turns, coupled: H = S A A^T S + S^2 with S^2 = masses.
static void random_masses(Random* r, Case* c, double ratio, double* mass) {
  double A[MOST_N * MOST_N];
  bool coupled = whole(r, 0, 1);
  for (int j = 0; j < c->n; j++) {
    mass[j] = ldexp(1.0, 2 * (int)(0.5 * log2(ratio) * uniform(r)));
  }
  for (int e = 0; e < c->n * c->n; e++) {
    A[e] = coupled ? quarters(r, 1) : 0.0;
  }
  for (int j = 0; j < c->n; j++) {
    for (int i = 0; i < c->n; i++) {
      double sum = i == j;
      for (int k = 0; k < c->n; k++) {
        sum += A[i + k * c->n] * A[j + k * c->n];
      }
      c->H[i + j * c->n] = sum * sqrt(mass[i]) * sqrt(mass[j]);  // exact: powers of two
    }
  }
}

static void random_case(Random* r, Case* c, double ratio, double* mass) {
  memset(c, 0, sizeof *c);
  c->n = whole(r, 2, 5);
  c->m = whole(r, 1, 5);
  random_masses(r, c, ratio, mass);
  for (int j = 0; j < c->n; j++) {
    c->r[j] = whole(r, 0, 1) ? quarters(r, 2) * (whole(r, 0, 1) ? mass[j] : 1.0) : 0.0;
  }
  for (int i = 0; i < c->m; i++) {
    for (int j = 0; j < c->n; j++) {
      c->G[i + j * c->m] = whole(r, 0, 2) ? quarters(r, 1) : 0.0;
    }
    c->b[i] = whole(r, 0, 1) ? quarters(r, 2) : 0.0;
    random_bounds(r, c, i);
    c->weight[i] = 1.0;
  }
}

// ---- a search with more digits ------------------------------------------------------------------
typedef struct Trial {
  const Case* c;
  const double* mass;
  unsigned char free_rows[MOST_M];
  long double lambda[MOST_M], x[MOST_N], w[MOST_M];
  long double size;  // of motion and forces, in the metric of the masses
} Trial;

enum { MOST = MOST_N + MOST_M };

// A y = e by complete pivoting; false when A is singular to the part 10^-15.
static bool solve_long(int n, long double A[MOST][MOST], long double* e, long double* y) {
  int column[MOST];
  long double top = 0;
  for (int j = 0; j < n; j++) {
    column[j] = j;
  }
  for (int k = 0; k < n; k++) {
    int row = k, col = k;
    for (int i = k; i < n; i++) {
      for (int j = k; j < n; j++) {
        if (fabsl(A[i][j]) > fabsl(A[row][col])) {
          row = i;
          col = j;
        }
      }
    }
    top = k == 0 ? fabsl(A[row][col]) : top;
    if (!(fabsl(A[row][col]) > 1e-15L * top)) {
      return false;
    }
    for (int j = 0; j < n; j++) {
      long double t = A[row][j];
      A[row][j] = A[k][j];
      A[k][j] = t;
    }
    for (int i = 0; i < n; i++) {
      long double t = A[i][col];
      A[i][col] = A[i][k];
      A[i][k] = t;
    }
    long double t = e[row];
    e[row] = e[k];
    e[k] = t;
    int place = column[col];
    column[col] = column[k];
    column[k] = place;
    for (int i = k + 1; i < n; i++) {
      long double f = A[i][k] / A[k][k];
      for (int j = k; j < n; j++) {
        A[i][j] -= f * A[k][j];
      }
      e[i] -= f * e[k];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    long double sum = e[i];
    for (int j = i + 1; j < n; j++) {
      sum -= A[i][j] * y[column[j]];
    }
    y[column[i]] = sum / A[i][i];
  }
  return true;
}

// The length of a row in the metric of the masses, the root of its own compliance.
static long double length_of(const Trial* t, int i) {
  long double sum = 0;
  for (int j = 0; j < t->c->n; j++) {
    sum += (long double)entry(t->c, i, j) * entry(t->c, i, j) / t->mass[j];
  }
  return sqrtl(sum);
}

// [H -G^T; G 0] over the free rows, in the units of masses and rows: x S, lambda length.
static bool solve_set(Trial* t) {
  const Case* c = t->c;
  long double A[MOST][MOST] = {{0}}, e[MOST], y[MOST];
  int list[MOST_M], f = 0, n = c->n;
  for (int i = 0; i < c->m; i++) {
    list[f] = i;
    f += t->free_rows[i];
  }
  for (int j = 0; j < n; j++) {
    long double S = sqrtl(t->mass[j]);
    e[j] = c->r[j] / S;
    for (int i = 0; i < c->m; i++) {
      e[j] += t->free_rows[i] ? 0 : entry(c, i, j) * t->lambda[i] / S;
    }
    for (int i = 0; i < n; i++) {
      A[i][j] = c->H[i + j * n] / S / sqrtl(t->mass[i]);
    }
  }
  for (int k = 0; k < f; k++) {
    long double length = length_of(t, list[k]);
    if (length == 0) {
      return false;
    }
    e[n + k] = -c->b[list[k]] / length;
    for (int j = 0; j < n; j++) {
      A[n + k][j] = entry(c, list[k], j) / length / sqrtl(t->mass[j]);
      A[j][n + k] = -A[n + k][j];
    }
  }
  t->size = 0;
  for (int j = 0; j < n; j++) {
    t->size = fmaxl(t->size, fabsl(e[j]));
  }
  if (!solve_long(n + f, A, e, y)) {
    return false;
  }
  for (int j = 0; j < n; j++) {
    t->x[j] = y[j] / sqrtl(t->mass[j]);
    t->size = fmaxl(t->size, fabsl(y[j]));
  }
  for (int k = 0; k < f; k++) {
    t->lambda[list[k]] = y[n + k] / length_of(t, list[k]);
    t->size = fmaxl(t->size, fabsl(y[n + k]));
  }
  return true;
}

static bool fits(Trial* t) {
  const Case* c = t->c;
  for (int i = 0; i < c->m; i++) {
    long double length = length_of(t, i), w = c->b[i], terms = fabsl(w);
    for (int j = 0; j < c->n; j++) {
      w += entry(c, i, j) * t->x[j];
      terms += fabsl(entry(c, i, j) * t->x[j]);
    }
    long double slack_w = 1e-12L * (terms + length * t->size);
    long double slack = length > 0 ? 1e-12L * t->size / length : 0;
    t->w[i] = w;
    bool low = t->lambda[i] <= c->lo[i] + slack, high = t->lambda[i] >= c->hi[i] - slack;
    if (c->lo[i] != c->hi[i] &&
        (t->lambda[i] < c->lo[i] - slack || t->lambda[i] > c->hi[i] + slack ||
         (!low && w > slack_w) || (!high && w < -slack_w))) {
      return false;
    }
  }
  return true;
}

// All sets from row i on.
static bool search(Trial* t, int i) {
  const Case* c = t->c;
  if (i == c->m) {
    long double kept[MOST_M];
    memcpy(kept, t->lambda, sizeof kept);
    bool found = solve_set(t) && fits(t);
    if (!found) {
      memcpy(t->lambda, kept, sizeof kept);
    }
    return found;
  }
  double lo = c->lo[i], hi = c->hi[i];
  double tried[] = {lo, hi > lo ? hi : INFINITY, isinf(lo) && isinf(hi) ? 0.0 : INFINITY};
  t->free_rows[i] = lo < hi;
  if (lo < hi && search(t, i + 1)) {
    return true;
  }
  t->free_rows[i] = 0;
  for (int k = 0; k < 3; k++) {
    t->lambda[i] = tried[k];
    if (isfinite(tried[k]) && search(t, i + 1)) {
      return true;
    }
  }
  return false;
}

// ---- checks -------------------------------------------------------------------------------------
static double distance(const Trial* t, const Answer* a) {
  long double most = 0;
  for (int j = 0; j < t->c->n; j++) {
    most = fmaxl(most, fabsl(a->x[j] - t->x[j]) * sqrtl(t->mass[j]));
  }
  return (double)(most / t->size);
}

// 1 when it was refused.
static int check_case(const Case* c, const double* mass, PawlRowsForm form, int number) {
  Answer a = {0};
  Trial t = {.c = c, .mass = mass};
  if (solve_case(c, form, &a) == PAWL_RETRY) {
    return 1;
  }
  bool exists = search(&t, 0);
  if (exists != a.exists || (exists && t.size > 0 && !(distance(&t, &a) <= SAME))) {
    print_error("case %d: there is%s an answer, found%s, distance %.3g\n", number,
                exists ? "" : " not", a.exists ? "" : " not",
                exists && a.exists ? distance(&t, &a) : NAN);
    fail();
  }
  return 0;
}

static int check_number(int k, double ratio, PawlRowsForm form) {
  Random r = {(unsigned long long)k * 7919 + 29};
  Case c;
  double mass[MOST_N];
  (void)uniform(&r);
  random_case(&r, &c, ratio, mass);
  return check_case(&c, mass, form, k);
}

static void check_ratio(double ratio, PawlRowsForm form, int most_refused) {
  int refused = 0;
  for (int k = 0; k < CASES; k++) {
    refused += check_number(k, ratio, form);
  }
  print_message("ratio %g: %d of %d refused\n", ratio, refused, CASES);
  assert_true(refused <= most_refused * CASES / 1000);
}

// Rows that hold all at rest, one of them by rounding only: no contradiction.
static void test_agree_by_rounding(void** state) {
  (void)state;
  static const int numbers[] = {32455,  65649,  113164, 154982, 202482,
                                214340, 303930, 314445, 316836};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
    (void)check_number(numbers[k], 1e8, PAWL_ROWS_DENSE);
    (void)check_number(numbers[k], 1e8, PAWL_ROWS_SPARSE);
    assert_int_equal(check_number(numbers[k], 1e8, PAWL_ROWS_AUTO), 0);
  }
}

static void test_dense(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof RATIOS / sizeof *RATIOS; k++) {
    check_ratio(RATIOS[k], PAWL_ROWS_DENSE, MOST_REFUSED_DENSE);
  }
}

static void test_auto(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof RATIOS / sizeof *RATIOS; k++) {
    check_ratio(RATIOS[k], PAWL_ROWS_AUTO, MOST_REFUSED);
  }
}

static void test_sparse(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof RATIOS / sizeof *RATIOS; k++) {
    check_ratio(RATIOS[k], PAWL_ROWS_SPARSE, MOST_REFUSED);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_agree_by_rounding),
                                     cmocka_unit_test(test_dense), cmocka_unit_test(test_auto),
                                     cmocka_unit_test(test_sparse)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
