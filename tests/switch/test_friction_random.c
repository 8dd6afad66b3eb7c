// SPDX-License-Identifier: Apache-2.0
// Random planar frictional problems against a search through all sets of rows.
#include "friction_search.h"

// ---- problems -----------------------------------------------------------------------------------

static void random_mass(Random* r, Case* c) {
  double L[MOST_N * MOST_N] = {0};
  int n = c->n, spread = whole(r, 0, 2);  // masses differ by 1, 100, 10^4
  for (int j = 0; j < n; j++) {
    double scale = pow(10.0, spread * whole(r, 0, 1));
    L[j + j * n] = scale;
    for (int i = j + 1; i < n; i++) {
      L[i + j * n] = whole(r, 0, 2) == 0 ? 0.5 * scale * quarters(r, 1) : 0.0;
    }
  }
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < n; k++) {
        c->H[i + j * n] += L[i + k * n] * L[j + k * n];
      }
    }
  }
}

// A gradient of its own, or the sum of two others.
static void random_row(Random* r, Case* c, int i) {
  int a = whole(r, 0, i), b = whole(r, 0, i);
  bool copy = i > 1 && a < i && b < i && whole(r, 0, 3) == 0;
  for (int j = 0; j < c->n; j++) {
    c->G[i + j * c->m] =
        copy ? entry(c, a, j) + (a != b) * entry(c, b, j) : (whole(r, 0, 2) > 0) * quarters(r, 2);
  }
  bool none = true;
  for (int j = 0; j < c->n; j++) {
    none = none && entry(c, i, j) == 0.0;
  }
  c->G[i + whole(r, 0, c->n - 1) * c->m] += none ? 1.0 : 0.0;
  c->b[i] = copy && whole(r, 0, 3) > 0 ? c->b[a] + (a != b) * c->b[b] : quarters(r, 2);
}

// Bodies on a line: each contact has the rows (0, 1, x) and (1, 0, 0) of a rigid body.
static void rigid_rows(Random* r, Case* c) {
  c->n = 3;
  for (int b = 0; b < c->blocks; b++) {
    double x = quarters(r, 2), y = whole(r, 0, 3) == 0 ? 1.0 : 0.0;
    double G_n[] = {0.0, 1.0, x}, G_t[] = {1.0, 0.0, y};
    for (int j = 0; j < 3; j++) {
      c->G[2 * b + j * c->m] = y > 0.0 ? -G_n[j] : G_n[j];
      c->G[2 * b + 1 + j * c->m] = G_t[j];
    }
    c->b[2 * b] = c->b[2 * b + 1] = 0.0;
  }
}

static void random_bounds(Random* r, Case* c, int i, bool few) {
  int kind = whole(r, 0, few ? 2 : 6);
  double force = quarters(r, 2), capacity = 0.25 * whole(r, 1, 12);
  c->lo[i] = kind < 2 ? -INFINITY : kind < 3 ? force : kind < 5 ? 0.0 : -capacity;
  c->hi[i] = kind < 2 ? INFINITY : kind < 3 ? force : kind < 5 ? INFINITY : capacity;
}

static void random_block(Random* r, Case* c, int b, bool rigid) {
  int kind = whole(r, 0, 9), n = 2 * b;
  double mu = whole(r, 0, 5) == 0 ? 0.0 : 0.25 * whole(r, 1, 12);
  bool joint = kind == 0 && !rigid, sliding = kind == 1 || kind == 2;
  c->block[b] = (PawlFrictionBlock){.normal = n, .tangent = {n + 1, -1}, .mu = mu};
  c->block[b].sliding = sliding;
  c->block[b].direction[0] = whole(r, 0, 1) ? 1.0 : -1.0;
  c->lo[n] = joint ? -INFINITY : 0.0;
  c->hi[n] = INFINITY;
  c->lo[n + 1] = c->hi[n + 1] = NAN;  // not read
}

static Case random_case(Random* r) {
  Case c = {.blocks = whole(r, 1, 4)};
  int plain = whole(r, 0, 2);
  bool rigid = whole(r, 0, 3) == 0;
  c.n = whole(r, 2, 6);
  c.m = 2 * c.blocks + plain;
  c.n = rigid ? 3 : c.n;
  random_mass(r, &c);
  for (int i = 0; i < c.m; i++) {
    random_row(r, &c, i);
  }
  if (rigid) {
    rigid_rows(r, &c);
  }
  for (int b = 0; b < c.blocks; b++) {
    random_block(r, &c, b, rigid);
  }
  for (int i = 2 * c.blocks; i < c.m; i++) {
    random_bounds(r, &c, i, c.blocks > 2);
  }
  for (int j = 0; j < c.n; j++) {
    c.r[j] = quarters(r, 4);
  }
  return c;
}

// ---- the comparison -----------------------------------------------------------------------------

typedef struct Counts {
  int counted, missed;  // with several: told by counting them; not
  int solved, several, none, refused;
  int exchanges, tried;
} Counts;

static void fail_with(int number, const char* what, const Answer* a, const Found* found) {
  print_error("problem %d: %s; verdict %d, residual %g, %d found by the search\n", number, what,
              (int)a->info.verdict, a->info.residual, found->count);
}

static double distance(const Case* c, const Compliance* p, const Answer* a, const double* w) {
  double apart = 0.0;
  for (int i = 0; i < c->m; i++) {
    double root = sqrt(p->D[i + i * c->m]);
    apart = fmax(apart, root > 0.0 ? fabs(a->w[i] / root - w[i]) : 0.0);
  }
  return apart;
}

// Whether all forces between this and another solution are solutions: then w is one of many.
static bool is_in_family(const Case* c, const Compliance* p, const Found* found, const double* a) {
  bool is = false;
  for (int k = 0; k < found->forces && !is; k++) {
    double between[MOST_M];
    for (int i = 0; i < c->m; i++) {
      between[i] = 0.5 * (a[i] + found->lambda[k][i]);
    }
    is = off(c, p, between) <= NEAR;
  }
  return is;
}

// Whether there are several, which leaves the answer as it is.                              (F45)
static bool counts_as(const Case* c, const Answer* a, const Found* found, Counts* counts) {
  Case again = *c;
  Answer b;
  again.counts = true;
  solve_case(&again, false, &b);
  bool several = b.info.solutions > 1;
  counts->counted += several && found->count > 1;
  counts->missed += !several && found->count > 1;
  return memcmp(a->lambda, b.lambda, sizeof b.lambda) == 0 && (!several || found->count > 1);
}

static bool compare(int number, const Case* c, Counts* counts) {
  static Found found;
  static Compliance p;
  Answer a;
  make_compliance(c, &p);
  search_all(c, &found);
  solve_case(c, false, &a);
  bool solved = a.info.verdict == PAWL_FRICTION_SOLVED || a.info.verdict == PAWL_FRICTION_SEVERAL;
  counts->exchanges += a.info.exchanges > 0;
  counts->tried += a.info.tried > 0;
  if (solved && off(c, &p, a.lambda) > 1e-9) {
    fail_with(number, "conditions do not hold", &a, &found);
    print_error("off %g\n", off(c, &p, a.lambda));
    return false;
  }
  if (!solved && found.huge > 0) {
    counts->refused++;
    return true;
  }
  if (solved != (found.count > 0)) {
    fail_with(number, "not the same existence", &a, &found);
    return false;
  }
  double size = 1.0 + largest(c->m, found.w[0]);
  bool same = found.count != 1 || distance(c, &p, &a, found.w[0]) <= 1e-6 * size;
  bool family = !same && is_in_family(c, &p, &found, a.lambda);
  if (!same && !family) {
    fail_with(number, "another solution", &a, &found);
    return false;
  }
  if (solved && found.huge == 0 && !family && !counts_as(c, &a, &found, counts)) {
    fail_with(number, "counted otherwise", &a, &found);
    return false;
  }
  counts->solved += found.count == 1 && !family;
  counts->several += found.count > 1 || family;
  counts->none += found.count == 0;
  return true;
}

static void test_random_problems(void** state) {
  (void)state;
  enum { COUNT = 10000 };
  Random r = {14};
  Counts counts = {0};
  int bad = 0;
  for (int k = 0; k < COUNT; k++) {
    Case c = random_case(&r);
    bad += !compare(k, &c, &counts);
  }
  print_message("one solution %d, several %d, none %d, refused %d; Lemke %d, all sets %d; bad %d\n",
                counts.solved, counts.several, counts.none, counts.refused, counts.exchanges,
                counts.tried, bad);
  print_message("several and told %d, not %d\n", counts.counted, counts.missed);
  assert_int_equal(bad, 0);
  assert_true(counts.refused <= 5 && counts.several > 500 && counts.none > 500);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_problems),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
