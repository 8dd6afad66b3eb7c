// SPDX-License-Identifier: Apache-2.0
// Friction with two tangential rows (docs/theory/friction.md, section 7).
#include "friction_problem.h"

static const double EXACT = 1e-10;  // (F8) of every solution

// ---- closed forms -------------------------------------------------------------------------------

// A sphere of mass 2 and radius 1/2 on the plane z = 0: coordinates x, y, z and angles about x and
// y. The point of contact moves with v_x - R omega_y and v_y + R omega_x.
static Case sphere(double mu, const double* push) {
  double mass = 2.0, R = 0.5, J = 0.4 * mass * R * R;
  Case c = {.n = 5, .m = 3, .blocks = 1, .hi = {INFINITY}};
  for (int j = 0; j < 5; j++) {
    c.H[j + 5 * j] = j < 3 ? mass : J;
    c.r[j] = push[j];
  }
  c.G[0 + 2 * 3] = 1.0;
  c.G[1 + 0 * 3] = c.G[2 + 1 * 3] = 1.0;
  c.G[1 + 4 * 3] = -R;
  c.G[2 + 3 * 3] = R;
  c.block[0] = (PawlFrictionBlock){.normal = 0, .tangent = {1, 2}, .mu = mu};
  return c;
}

// Pushed by (3, 4): rolling asks for 2/7 of that. It grips for mu N >= 10/7.
static void test_sphere_rolls(void** state) {
  (void)state;
  Answer a;
  Case c = sphere(0.15, (double[]){3.0, 4.0, -10.0, 0.0, 0.0});
  solve_case(&c, false, &a);
  assert_int_equal(a.info.verdict, PAWL_FRICTION_SOLVED);
  assert_int_equal(a.block_state[0], PAWL_FRICTION_STICK);
  CHECK_NEAR(a.lambda[0], 10.0, 1e-13);
  CHECK_NEAR(a.lambda[1], -6.0 / 7.0, 1e-13);
  CHECK_NEAR(a.lambda[2], -8.0 / 7.0, 1e-13);
}

static void test_sphere_slides(void** state) {
  (void)state;
  Answer a;
  Case c = sphere(0.1, (double[]){3.0, 4.0, -10.0, 0.0, 0.0});
  solve_case(&c, false, &a);
  assert_int_equal(a.info.verdict, PAWL_FRICTION_SOLVED);
  assert_int_equal(a.block_state[0], PAWL_FRICTION_SLIP);
  CHECK_NEAR(a.lambda[1], -0.6, 1e-13);  // mu N against (3, 4)/5
  CHECK_NEAR(a.lambda[2], -0.8, 1e-13);
  CHECK_NEAR(a.slip[0], 0.6, 1e-13);
  CHECK_NEAR(a.slip[1], 0.8, 1e-13);
  CHECK_NEAR(a.x[0], (3.0 - 0.6) / 2.0, 1e-13);
}

static void test_sphere_flies(void** state) {
  (void)state;
  Answer a;
  Case c = sphere(0.1, (double[]){3.0, 4.0, 1.0, 0.0, 0.0});
  solve_case(&c, false, &a);
  assert_int_equal(a.block_state[0], PAWL_FRICTION_OPEN);
  assert_true(a.lambda[0] == 0.0 && a.lambda[1] == 0.0 && a.lambda[2] == 0.0);
}

// ---- random problems ----------------------------------------------------------------------------

// A body with contacts, as its rows are: n = (0, 0, 1), t along x and y, each with the moments of
// its place; or rows without such an order.
static Case random_case(Random* r) {
  Case c = {.n = 6, .blocks = whole(r, 1, 4)};
  bool rigid = whole(r, 0, 1);
  int plain = whole(r, 0, 2);
  c.m = 3 * c.blocks + plain;
  for (int j = 0; j < c.n; j++) {
    c.H[j + c.n * j] = pow(10.0, whole(r, 0, 2) - 1);
    c.r[j] = quarters(r, 4);
  }
  c.r[2] -= 4.0;
  for (int i = 0; i < c.m; i++) {
    for (int j = 0; j < c.n; j++) {
      c.G[i + j * c.m] = quarters(r, 2);
    }
    c.b[i] = rigid ? 0.0 : quarters(r, 1);
    c.lo[i] = i % 2 ? -1.0 : -INFINITY;
    c.hi[i] = i % 2 ? 1.0 : INFINITY;
  }
  for (int b = 0; b < c.blocks; b++) {
    double p[3] = {quarters(r, 2), quarters(r, 2), -1.0};
    for (int e = 0; e < 3 && rigid; e++) {  // direction e, moment p x e
      int i = 3 * b + (e + 1) % 3;
      for (int j = 0; j < 3; j++) {
        c.G[i + j * c.m] = j == e;
      }
      c.G[i + 3 * c.m] = e == 2 ? p[1] : e == 1 ? -p[2] : 0.0;
      c.G[i + 4 * c.m] = e == 0 ? p[2] : e == 2 ? -p[0] : 0.0;
      c.G[i + 5 * c.m] = e == 1 ? p[0] : e == 0 ? -p[1] : 0.0;
    }
    c.lo[3 * b] = 0.0;
    c.hi[3 * b] = INFINITY;
    double mu = 0.125 * whole(r, 0, 8);
    c.block[b] = (PawlFrictionBlock){.normal = 3 * b, .tangent = {3 * b + 1, 3 * b + 2}, .mu = mu};
  }
  return c;
}

static void test_random_problems(void** state) {
  (void)state;
  enum { COUNT = 5000 };
  static Compliance p;
  Random r = {14};
  int slips = 0, sticks = 0, opens = 0, sweeps = 0, unsolved = 0, rounds = 0;
  double worst = 0.0;
  for (int k = 0; k < COUNT; k++) {
    Case c = random_case(&r);
    Answer a;
    solve_case(&c, false, &a);
    make_compliance(&c, &p);
    bool solved = a.info.verdict == PAWL_FRICTION_SOLVED;
    unsolved += !solved;
    worst = solved ? fmax(worst, off(&c, &p, a.lambda)) : worst;
    for (int b = 0; b < c.blocks; b++) {
      slips += a.block_state[b] == PAWL_FRICTION_SLIP;
      sticks += a.block_state[b] == PAWL_FRICTION_STICK;
      opens += a.block_state[b] == PAWL_FRICTION_OPEN;
    }
    sweeps += a.info.sweeps > 0;
    rounds += a.info.rounds;
  }
  print_message("open %d, stick %d, slip %d; steps %.2f, with sweeps %d, unsolved %d; off %.2g\n",
                opens, sticks, slips, (double)rounds / COUNT, sweeps, unsolved, worst);
  assert_true(opens > 500 && sticks > 500 && slips > 500);
  assert_true(worst <= EXACT);
  assert_true(unsolved <= COUNT / 100);
}

// A box of mass 3 lands nearly flat on four corners that lie 2 a[0] by 2 a[1] apart, a[2] below its
// centre, by Newton's law: rates after are -e times those before, so that w = G x + e G v-. Most of
// them stop by friction that is not determined, some near the borders of all cones.
static Case flat_box(Random* r, double e, double mu) {
  Case c = {.n = 6, .m = 12, .blocks = 4};
  double a[3] = {0.1, 0.15, 0.05}, v[6], ignored = 0.0;
  for (int j = 0; j < 6; j++) {
    double other = a[(j + 1) % 3] * a[(j + 1) % 3] + a[(j + 2) % 3] * a[(j + 2) % 3];
    c.H[j + 6 * j] = j < 3 ? 3.0 : other;  // m/12 of the squares of whole edges
    v[j] = (j < 2 ? 3e-4 : j < 5 ? 1e-2 : 1e-3) * (2.0 * uniform(r) - 1.0);
    v[j] = j == 2 ? -fabs(v[j]) : v[j];
    c.r[j] = c.H[j + 6 * j] * v[j];
  }
  for (int i = 0; i < 12; i++) {
    int b = i / 3, d = (i % 3 + 2) % 3;  // along z, x and y
    double p[3] = {b % 2 ? a[0] : -a[0], b / 2 ? a[1] : -a[1], -a[2]};
    c.G[i + d * 12] = 1.0;
    c.G[i + (3 + (d + 1) % 3) * 12] = p[(d + 2) % 3];
    c.G[i + (3 + (d + 2) % 3) * 12] = -p[(d + 1) % 3];
    c.lo[i] = i % 3 ? -INFINITY : 0.0;
    c.hi[i] = INFINITY;
    c.b[i] = i % 3 ? 0.0 : e * fmin(row_times(&c, i, v, &ignored), 0.0);
  }
  for (int b = 0; b < 4; b++) {
    c.block[b] = (PawlFrictionBlock){.normal = 3 * b, .tangent = {3 * b + 1, 3 * b + 2}, .mu = mu};
  }
  return c;
}

static void test_flat_boxes(void** state) {
  (void)state;
  enum { COUNT = 1000 };
  static Compliance p;
  Random r = {5};
  int unsolved = 0;
  double worst = 0.0;
  for (int k = 0; k < COUNT; k++) {
    Case c = flat_box(&r, 0.3, 0.2 + 0.2 * (k % 4));
    Answer a;
    solve_case(&c, false, &a);
    make_compliance(&c, &p);
    unsolved += a.info.verdict != PAWL_FRICTION_SOLVED;
    worst = fmax(worst, off(&c, &p, a.lambda));
  }
  print_message("unsolved %d; off %.2g\n", unsolved, worst);
  assert_int_equal(unsolved, 0);
  assert_true(worst <= EXACT);
}

// ---- isotropy -----------------------------------------------------------------------------------

// Tangential rows of each block turned by an angle: the same x, and forces turned by it.
static void test_turned_rows(void** state) {
  (void)state;
  Random r = {5};
  for (int k = 0; k < 200; k++) {
    Case c = random_case(&r), turned = c;
    Answer a, b;
    double angle = 6.28 * uniform(&r), cosine = cos(angle), sine = sin(angle);
    for (int i = 0; i < c.blocks; i++) {
      int t = 3 * i + 1;
      for (int j = 0; j < c.n; j++) {
        turned.G[t + j * c.m] = cosine * entry(&c, t, j) + sine * entry(&c, t + 1, j);
        turned.G[t + 1 + j * c.m] = cosine * entry(&c, t + 1, j) - sine * entry(&c, t, j);
      }
      turned.b[t] = cosine * c.b[t] + sine * c.b[t + 1];
      turned.b[t + 1] = cosine * c.b[t + 1] - sine * c.b[t];
    }
    solve_case(&c, false, &a);
    solve_case(&turned, false, &b);
    if (a.info.verdict != PAWL_FRICTION_SOLVED || b.info.verdict != PAWL_FRICTION_SOLVED) {
      continue;
    }
    for (int j = 0; j < c.n; j++) {
      CHECK_NEAR(b.x[j], a.x[j], 1e-7 * (1.0 + largest(c.n, a.x)));
    }
  }
}

// The last solution is found again in one step.
static void test_warm_start(void** state) {
  (void)state;
  Answer a;
  PawlFriction* f;
  Case c = sphere(0.1, (double[]){3.0, 4.0, -10.0, 0.0, 0.0});
  assert_int_equal(pawl_friction_create(c.m, 1, &f, NULL), PAWL_OK);
  memset(&a, 0, sizeof a);
  solve_by(f, &c, false, &a);
  int cold = a.info.rounds;
  solve_by(f, &c, false, &a);
  assert_true(a.info.rounds < cold && a.info.rounds <= 2);
  CHECK_NEAR(a.lambda[1], -0.6, 1e-13);
  pawl_friction_destroy(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sphere_rolls), cmocka_unit_test(test_sphere_slides),
      cmocka_unit_test(test_sphere_flies), cmocka_unit_test(test_random_problems),
      cmocka_unit_test(test_turned_rows),  cmocka_unit_test(test_warm_start),
      cmocka_unit_test(test_flat_boxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
