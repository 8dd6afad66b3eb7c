// SPDX-License-Identifier: Apache-2.0
// Planar problems of more blocks than all sets can be tried for, each made from a solution: it is
// found, or another, and none that is unstable. The signs of (F43) are found by elimination here.
#include "friction_problem.h"

enum { BODIES = 6, BLOCKS = 12 };  // bodies in a plane, each with three velocities

static double real(Random* r, double low, double high) {
  return low + (high - low) * uniform(r);
}

// ---- problems -----------------------------------------------------------------------------------

// A block between two bodies: its normal has any direction, its arms any length.
static void random_contact(Random* r, Case* c, int k) {
  int bodies[2] = {whole(r, 0, BODIES - 1), whole(r, -1, BODIES - 1)};  // -1: the ground
  double angle = real(r, 0.0, 6.28), n[2] = {cos(angle), sin(angle)};
  for (int side = 0; side < 2; side++) {
    int b = bodies[side];
    if (b < 0 || (side == 1 && b == bodies[0])) {
      continue;
    }
    double sign = side ? -1.0 : 1.0, arm[2] = {real(r, -1.0, 1.0), real(r, -1.0, 1.0)};
    double rows[2][3] = {{n[0], n[1], arm[0] * n[1] - arm[1] * n[0]},
                         {-n[1], n[0], arm[0] * n[0] + arm[1] * n[1]}};
    for (int i = 0; i < 2; i++) {
      for (int j = 0; j < 3; j++) {
        c->G[2 * k + i + (3 * b + j) * c->m] += sign * rows[i][j];
      }
    }
  }
  c->block[k] =
      (PawlFrictionBlock){.normal = 2 * k, .tangent = {2 * k + 1, -1}, .mu = real(r, 0.1, 1.5)};
  c->block[k].sliding = whole(r, 0, 2) == 0;
  c->block[k].direction[0] = whole(r, 0, 1) ? 1.0 : -1.0;
  c->hi[2 * k] = INFINITY;
}

// Forces and rates of a block in a place that the laws allow.
static void plant_block(Random* r, const Case* c, int k, double* lambda, double* w) {
  const PawlFrictionBlock* b = &c->block[k];
  double N = real(r, 0.5, 2.0), d = whole(r, 0, 1) ? 1.0 : -1.0, part = real(r, -0.9, 0.9);
  int kind = whole(r, 0, 3);  // open, else sticks, or slips
  lambda[0] = kind == 0 ? 0.0 : N;
  w[0] = kind == 0 ? N : 0.0;
  if (b->sliding) {
    lambda[1] = -b->mu * lambda[0] * b->direction[0];
    w[1] = real(r, -1.0, 1.0);
  } else if (kind == 0) {
    lambda[1] = 0.0;
    w[1] = real(r, -1.0, 1.0);
  } else {
    lambda[1] = kind == 1 ? -b->mu * N * d : b->mu * N * part;
    w[1] = kind == 1 ? N * d : 0.0;
  }
}

// The sign of the determinant of (F4) for the rows that hold: by elimination with row exchanges.
static double sign_of(const Case* c, const double* D, const double* lambda, const double* w) {
  double A[MOST_M][MOST_M], sign = 1.0;
  int rows[MOST_M], n = 0, m = c->m;
  for (int k = 0; k < c->blocks; k++) {
    bool open = lambda[2 * k] == 0.0;
    bool sticks = !open && !c->block[k].sliding && fabs(w[2 * k + 1]) < 1e-9;
    rows[n] = 2 * k;
    n += !open;
    rows[n] = 2 * k + 1;
    n += sticks;
  }
  for (int a = 0; a < n; a++) {
    for (int b = 0; b < n; b++) {
      int i = rows[a], j = rows[b], t = j + 1;
      A[a][b] = D[i + j * m];
      if (j % 2 == 0 && !(b + 1 < n && rows[b + 1] == t)) {
        A[a][b] += D[i + t * m] * lambda[t] / lambda[j];
      }
    }
  }
  for (int a = 0; a < n; a++) {
    int best = a;
    for (int i = a + 1; i < n; i++) {
      best = fabs(A[i][a]) > fabs(A[best][a]) ? i : best;
    }
    for (int j = 0; j < n; j++) {
      double held = A[a][j];
      A[a][j] = A[best][j];
      A[best][j] = held;
    }
    sign *= (best == a ? 1.0 : -1.0) * (A[a][a] < 0.0 ? -1.0 : 1.0);
    if (fabs(A[a][a]) < 1e-6) {
      return 0.0;  // rows that depend on each other
    }
    for (int i = a + 1; i < n; i++) {
      double by = A[i][a] / A[a][a];
      for (int j = a; j < n; j++) {
        A[i][j] -= by * A[a][j];
      }
    }
  }
  return sign;
}

// A problem with a solution.
static void random_case(Random* r, Case* c) {
  static Compliance p;
  double lambda[MOST_M], w[MOST_M];
  *c = (Case){.n = 3 * BODIES, .blocks = whole(r, 7, BLOCKS)};
  c->m = 2 * c->blocks;
  for (int j = 0; j < c->n; j++) {
    c->H[j + j * c->n] = j % 3 < 2 ? 1.0 : 0.3;
  }
  for (int k = 0; k < c->blocks; k++) {
    random_contact(r, c, k);
    plant_block(r, c, k, lambda + 2 * k, w + 2 * k);
  }
  make_compliance(c, &p);
  for (int i = 0; i < c->m; i++) {
    c->b[i] = w[i] - p.q[i];
    for (int j = 0; j < c->m; j++) {
      c->b[i] -= p.D[i + j * c->m] * lambda[j];
    }
  }
}

// ---- tests --------------------------------------------------------------------------------------

// Without other covering vectors 29 were not found, and 153 of those found were not stable.
static void test_known_solutions(void** unused) {
  (void)unused;
  enum { COUNT = 2000 };
  static Compliance p;
  static Case c;
  Random r = {41};
  int found = 0, stable = 0, unstable = 0;
  for (int k = 0; k < COUNT; k++) {
    Answer a;
    random_case(&r, &c);
    solve_case(&c, false, &a);
    make_compliance(&c, &p);
    if (a.info.verdict == PAWL_FRICTION_SOLVED || a.info.verdict == PAWL_FRICTION_SEVERAL) {
      double sign = sign_of(&c, p.D, a.lambda, a.w);
      assert_true(off(&c, &p, a.lambda) <= 1e-9);
      found++;
      stable += sign > 0.0;
      unstable += sign < 0.0;
    }
  }
  print_message("found %d of %d: stable %d, unstable %d\n", found, (int)COUNT, stable, unstable);
  assert_true(found >= COUNT - 2);
  assert_int_equal(unstable, 0);
  assert_true(stable > COUNT / 2);  // others have rows that depend on each other
}

// Blocks by themselves, one of which slides beyond its critical friction and is pressed: there are
// no forces, which sets tried by halves know at once, where all of them are too many. (F71)
static void test_none_by_halves(void** unused) {
  (void)unused;
  static Case c;
  for (int halves = 0; halves < 2; halves++) {
    Answer a;
    c = (Case){.n = 2 * BLOCKS, .m = 2 * BLOCKS, .blocks = BLOCKS, .halves = halves};
    for (int k = 0; k < BLOCKS; k++) {
      int N = 2 * k, T = N + 1;
      c.H[N + N * c.n] = c.H[T + T * c.n] = 1.0;
      c.G[N + N * c.m] = c.G[T + T * c.m] = 1.0;
      c.G[N + T * c.m] = k == 0 ? 1.0 : 0.0;  // D_NN = 2, D_NT = 1: critical is 2
      c.block[k] = (PawlFrictionBlock){.normal = N, .tangent = {T, -1}, .mu = k == 0 ? 3.0 : 0.5};
      c.block[k].sliding = k == 0;
      c.block[k].direction[0] = 1.0;
      c.hi[N] = INFINITY;
      c.b[N] = -1.0;
      c.b[T] = k % 2 ? 2.0 : 0.1;
    }
    solve_case(&c, false, &a);
    assert_int_equal(a.info.verdict, halves ? PAWL_FRICTION_NONE : PAWL_FRICTION_NOT_CONVERGED);
    assert_true(a.info.tried < 10);
  }
}

// What sets tried by halves find obeys the laws; with the others nothing is missed.        (F71)
static void test_halves_find_the_rest(void** unused) {
  (void)unused;
  enum { COUNT = 2000 };
  static Compliance p;
  static Case c;
  Random r = {41};
  int found = 0, tried = 0;
  for (int k = 0; k < COUNT; k++) {
    Answer a;
    random_case(&r, &c);
    c.halves = true;
    solve_case(&c, false, &a);
    make_compliance(&c, &p);
    bool solved = a.info.verdict == PAWL_FRICTION_SOLVED || a.info.verdict == PAWL_FRICTION_SEVERAL;
    assert_true(!solved || off(&c, &p, a.lambda) <= 1e-9);
    found += solved;
    tried += a.info.tried > 0;
  }
  print_message("found %d of %d, %d by halves\n", found, (int)COUNT, tried);
  assert_int_equal(found, COUNT);
  assert_true(tried > 0);
}

// Rates of bodies at rest that were halved down to the last bit of all numbers are none.
static void test_rates_without_digits(void** unused) {
  (void)unused;
  static Case c;
  Answer a;
  Random r = {7};
  random_case(&r, &c);
  for (int k = 0; k < c.blocks; k++) {
    c.block[k].sliding = false;
  }
  for (int i = 0; i < c.m; i++) {
    c.b[i] = (i % 3 - 1) * 4.9406564584124654e-324;
  }
  memset(c.r, 0, sizeof c.r);
  solve_case(&c, false, &a);
  assert_int_equal(a.info.verdict, PAWL_FRICTION_SOLVED);
  for (int i = 0; i < c.m; i++) {
    assert_true(a.lambda[i] == 0.0 && a.w[i] == 0.0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_solutions),
      cmocka_unit_test(test_none_by_halves),
      cmocka_unit_test(test_halves_find_the_rest),
      cmocka_unit_test(test_rates_without_digits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
