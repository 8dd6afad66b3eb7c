// SPDX-License-Identifier: Apache-2.0
// Contacts in space whose slips are not equally heavy: one by itself, and several
// (docs/theory/friction.md, section 7).
#include "friction_problem.h"
#include "switch/friction_local.h"

static const double EXACT = 1e-11;   // (F1), (F2), of the largest term
static const double SOLVED = 1e-10;  // (F8)

// ---- the laws, recomputed -----------------------------------------------------------------------

// The largest of: a force beyond its cone, a rate into the ground, a rate of what is pushed, and a
// slip that is not against its force, each of the terms of its row.                   (F1), (F2)
static double broken(const PawlFrictionLocal* l) {
  double w[3] = {0.0}, terms[3] = {0.0}, worst = 0.0;
  const double* y = l->lambda;
  for (int i = 0; i < l->count; i++) {
    w[i] = l->q[i];
    terms[i] = fabs(l->q[i]);
    for (int j = 0; j < l->count; j++) {
      w[i] += l->D[i][j] * y[j];
      terms[i] += fabs(l->D[i][j] * y[j]);
    }
  }
  double force = hypot(y[1], y[2]), slip = hypot(w[1], w[2]), most = hypot(terms[1], terms[2]);
  worst = fmax(worst, y[0] < 0.0 ? INFINITY : 0.0);
  worst = fmax(worst, y[0] > 0.0 ? fabs(w[0]) / terms[0] : w[0] < 0.0 ? INFINITY : 0.0);
  worst = fmax(worst, force > 0.0 ? (force - l->mu * y[0]) / force : 0.0);
  if (y[0] > 0.0 && slip > EXACT * most) {  // it slips: at the border, and against its force
    worst = fmax(worst, fabs(force - l->mu * y[0]) / (l->mu * y[0]));
    worst =
        fmax(worst, hypot(w[1] * force + y[1] * slip, w[2] * force + y[2] * slip) / (most * force));
  }
  return worst;
}

// ---- one contact --------------------------------------------------------------------------------

// Slips of very different masses, turned; `across` of 1: rows that nearly depend on each other.
static PawlFrictionLocal random_contact(Random* r, double across) {
  PawlFrictionLocal l = {.count = 3, .mu = 0.05 * whole(r, 1, 40)};
  double A[3][3], turn = 6.28 * uniform(r), root[3];
  for (int i = 0; i < 3; i++) {
    root[i] = pow(10.0, 2.0 * uniform(r));
    l.q[i] = quarters(r, 4) * (i ? root[i] : 1.0);
    for (int j = 0; j < 3; j++) {
      A[i][j] = root[i] * ((i == j) + across * (uniform(r) - 0.5));
    }
  }
  double c = cos(turn), s = sin(turn);
  for (int j = 0; j < 3; j++) {
    double one = A[1][j], two = A[2][j];
    A[1][j] = c * one - s * two;
    A[2][j] = s * one + c * two;
  }
  l.q[0] = -fabs(l.q[0]) - 0.25;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      l.D[i][j] = A[i][0] * A[j][0] + A[i][1] * A[j][1] + A[i][2] * A[j][2];
    }
  }
  return l;
}

static void test_one(void** state) {
  (void)state;
  enum { COUNT = 100000 };
  Random r = {3};
  int slips = 0, sticks = 0;
  double worst = 0.0;
  for (int k = 0; k < COUNT; k++) {
    PawlFrictionLocal l = random_contact(&r, k % 3 * 0.5);
    assert_true(pawl_friction_local_solve(&l));
    bool slides = hypot(l.lambda[1], l.lambda[2]) > (1.0 - 1e-9) * l.mu * l.lambda[0];
    slips += slides;
    sticks += !slides;
    worst = fmax(worst, broken(&l));
  }
  print_message("stick %d, slip %d; off %.2g\n", sticks, slips, worst);
  assert_true(slips > COUNT / 10 && sticks > COUNT / 50);
  assert_true(worst <= EXACT);
}

// A point of 1, 1 and 1/4 that lands: u = |u+| is the root of |u_i/(1 + mu N/(u m_i))| = u.
static void test_landing_point(void** state) {
  (void)state;
  PawlFrictionLocal l = {.count = 3,
                         .D = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 4.0}},
                         .q = {-0.99, -0.977, 0.472},
                         .mu = 0.6};
  assert_true(pawl_friction_local_solve(&l));
  double x = l.q[1] + l.lambda[1], z = l.q[2] + 4.0 * l.lambda[2], u = hypot(x, z);
  CHECK_NEAR(l.lambda[0], 0.99, 1e-15);
  CHECK_NEAR(x, -0.977 / (1.0 + 0.594 / u), 1e-14);
  CHECK_NEAR(z, 0.472 / (1.0 + 4.0 * 0.594 / u), 1e-14);
  CHECK_NEAR(x, -0.3917, 1e-3);
  CHECK_NEAR(z, 0.0676, 1e-3);
}

// In a plane; without friction; apart; slips that are one and the same; one that nothing moves.
static void test_special(void** state) {
  (void)state;
  PawlFrictionLocal plane = {
      .count = 2, .D = {{1.0, 0.5, 0.0}, {0.5, 2.0, 0.0}}, .q = {-1.0, 3.0}, .mu = 0.5};
  assert_true(pawl_friction_local_solve(&plane));
  CHECK_NEAR(plane.lambda[0], 1.0 / (1.0 - 0.25), 1e-15);
  CHECK_NEAR(plane.lambda[1], -0.5 * plane.lambda[0], 1e-15);
  PawlFrictionLocal smooth = plane;
  smooth.mu = 0.0;
  assert_true(pawl_friction_local_solve(&smooth));
  assert_true(smooth.lambda[0] == 1.0 && smooth.lambda[1] == 0.0);
  PawlFrictionLocal apart = plane;
  apart.q[0] = 0.0;
  assert_true(pawl_friction_local_solve(&apart) && apart.lambda[0] == 0.0);
  PawlFrictionLocal same = {.count = 3,
                            .D = {{1.0, 0.0, 0.0}, {0.0, 1.0, 1.0}, {0.0, 1.0, 1.0}},
                            .q = {-1.0, 0.25, 0.25},
                            .mu = 0.5};
  assert_true(pawl_friction_local_solve(&same));
  CHECK_NEAR(same.lambda[1], -0.125, 1e-9);
  CHECK_NEAR(same.lambda[2], -0.125, 1e-9);
  same.q[1] = same.q[2] = 2.0;
  assert_true(pawl_friction_local_solve(&same));
  CHECK_NEAR(same.lambda[1], -0.5 * sqrt(0.5), 1e-12);
  PawlFrictionLocal stiff = {
      .count = 3, .D = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}, .q = {-1.0, 2.0, 0.0}, .mu = 0.5};
  assert_true(pawl_friction_local_solve(&stiff));
  assert_true(stiff.lambda[1] == -0.5 && stiff.lambda[2] == 0.0);
}

// ---- by the solver of all -----------------------------------------------------------------------

// Points with three masses each, contacts with the ground or between two of them, each in a
// direction of its own.
static Case random_points(Random* r, int contacts) {
  Case c = {.n = 3 * whole(r, 1, 4), .m = 3 * contacts, .blocks = contacts};
  for (int j = 0; j < c.n; j++) {
    c.H[j + c.n * j] = pow(10.0, -4.0 * uniform(r));
    c.r[j] = quarters(r, 4) * sqrt(c.H[j + c.n * j]);
  }
  for (int b = 0; b < contacts; b++) {
    int one = whole(r, 0, c.n / 3 - 1), other = whole(r, 0, c.n / 3 - 1), turn = whole(r, 0, 2);
    for (int i = 0; i < 3; i++) {
      int row = 3 * b + i, e = (i + turn) % 3;
      c.G[row + (3 * one + e) * c.m] = 1.0;
      if (other != one) {
        c.G[row + (3 * other + e) * c.m] = -1.0;
      }
      c.lo[row] = i ? -INFINITY : 0.0;
      c.hi[row] = INFINITY;
    }
    double mu = 0.125 * whole(r, 1, 8);
    c.block[b] = (PawlFrictionBlock){.normal = 3 * b, .tangent = {3 * b + 1, 3 * b + 2}, .mu = mu};
  }
  return c;
}

static void solve_points(int contacts, int count, int allowed) {
  static Compliance p;
  Random r = {11};
  int unsolved = 0, slips = 0, rounds = 0, sweeps = 0;
  double worst = 0.0;
  for (int k = 0; k < count; k++) {
    Case c = random_points(&r, contacts);
    Answer a;
    solve_case(&c, false, &a);
    make_compliance(&c, &p);
    bool solved = a.info.verdict == PAWL_FRICTION_SOLVED;
    unsolved += !solved;
    worst = solved ? fmax(worst, off(&c, &p, a.lambda)) : worst;
    for (int b = 0; b < contacts; b++) {
      slips += a.block_state[b] == PAWL_FRICTION_SLIP;
    }
    rounds += a.info.rounds;
    sweeps += a.info.sweeps > 0;
  }
  print_message("%d contacts: unsolved %d of %d, slip %d, steps %.2f, with sweeps %d; off %.2g\n",
                contacts, unsolved, count, slips, (double)rounds / count, sweeps, worst);
  assert_true(slips > count / 20);
  assert_true(worst <= SOLVED);
  assert_true(unsolved <= allowed);
}

static void test_points(void** state) {
  (void)state;
  solve_points(1, 5000, 0);
  solve_points(2, 3000, 0);
  solve_points(4, 2000, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one),
      cmocka_unit_test(test_landing_point),
      cmocka_unit_test(test_special),
      cmocka_unit_test(test_points),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
