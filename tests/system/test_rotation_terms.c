// SPDX-License-Identifier: Apache-2.0
// Rotations (docs/theory/rotations.md): T and retract, the equations of a body on a cart against
// Newton and Euler, and every derivative against differences along the group.
#include <math.h>

#include "setup.h"
#include "system/rotation.h"

typedef struct Spot {  // arrays long enough for the models here
  double t, q[64], v[64], a[64], lambda[64];
} Spot;

static double random_number(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / (1 << 24) * 2 - 1;
}

static Spot random_spot(const Setup* s, unsigned seed) {
  Spot p = {.t = 0.3};
  for (int k = 0; k < s->n.q; k++) {
    p.q[k] = random_number(&seed);
  }
  pawl_system_tidy(s->system, p.q);
  for (int k = 0; k < s->n.v; k++) {
    p.v[k] = random_number(&seed);
    p.a[k] = random_number(&seed);
  }
  for (int k = 0; k < s->n.rows; k++) {
    p.lambda[k] = random_number(&seed);
  }
  return p;
}

static const PawlValues* look(const Setup* s, const Spot* p) {
  PawlPoint point = {p->t, p->q, p->v, p->a, p->lambda, NULL, NULL};
  PawlError err = {0};
  if (pawl_eval_run(s->eval, &point, &err) != PAWL_OK) {
    print_error("%s\n", err.message);
    fail();
  }
  return pawl_eval_values(s->eval);
}

// y = A x of a matrix of pattern p.
static void multiply(PawlPattern p, const double* A, const double* x, double* y) {
  memset(y, 0, (size_t)p.rows * sizeof(double));
  for (int j = 0; j < p.cols; j++) {
    for (int k = p.start[j]; k < p.start[j + 1]; k++) {
      y[p.index[k]] += A[k] * x[j];
    }
  }
}

static void transposed(PawlPattern p, const double* A, const double* x, double* y) {
  for (int j = 0; j < p.cols; j++) {
    y[j] = 0.0;
    for (int k = p.start[j]; k < p.start[j + 1]; k++) {
      y[j] += A[k] * x[p.index[k]];
    }
  }
}

// ---- T and retract ------------------------------------------------------------------------------
static void test_retract_is_the_flow_of_the_rates(void** state) {
  (void)state;
  const double p[4] = {0.5, -0.5, 0.5, 0.5}, omega[3] = {0.3, -1.2, 2.0};
  double q[4], rate[4], half[3], twice[4];
  const double eps = 1e-6;
  for (int sign = -1; sign <= 1; sign += 2) {
    const double turn[3] = {sign * eps * omega[0], sign * eps * omega[1], sign * eps * omega[2]};
    pawl_rotation_move(p, turn, q);
    pawl_rotation_rate(p, omega, rate);
    for (int k = 0; k < 4; k++) {
      CHECK_NEAR((q[k] - p[k]) / (sign * eps), rate[k], 2 * eps);  // (O2) is the rate of (O3)
    }
  }
  // Two halves of a turn about one axis are the whole, and 2 pi leads back to -p.
  for (int k = 0; k < 3; k++) {
    half[k] = omega[k] / 2;
  }
  pawl_rotation_move(p, half, twice);
  pawl_rotation_move(twice, half, twice);
  pawl_rotation_move(p, omega, q);
  double whole[3] = {2 * 3.14159265358979323846, 0, 0}, back[4];
  pawl_rotation_move(p, whole, back);
  for (int k = 0; k < 4; k++) {
    CHECK_NEAR(twice[k], q[k], 4e-16);
    CHECK_NEAR(back[k], -p[k], 4e-16);
  }
}

// ---- a body on a cart ---------------------------------------------------------------------------
// The energy is written by the velocity of three points, so that J, omega x J omega and all that
// couples come out of the derivation alone.
static void test_body_on_a_cart(void** state) {
  (void)state;
  Setup s = setup_text(
      "model: m\ncoordinates: {x: , R: {kind: rotation}}\n"
      "define:\n"
      "  a: \"[x, 0, 0] + R*[0.5, 0.2, -0.3]\"\n"
      "  b: \"[x, 0, 0] + R*[-0.1, 0.7, 0.4]\"\n"
      "  c: \"[x, 0, 0] + R*[0.3, -0.6, 0.9]\"\n"
      "kinetic: (2*dot(a', a') + 3*norm(b')^2 + dot(c', c'))/2\n");
  static const double r[3][3] = {{0.5, 0.2, -0.3}, {-0.1, 0.7, 0.4}, {0.3, -0.6, 0.9}};
  static const double mass[3] = {2, 3, 1};
  assert_int_equal(s.n.q, 5);
  assert_int_equal(s.n.v, 4);
  Spot p = random_spot(&s, 7);
  const PawlValues* v = look(&s, &p);
  PawlPattern H = pawl_system_pattern_H(s.system);
  double Ma[4], force[4] = {0}, inertia[4] = {0};
  multiply(H, v->M, p.a, Ma);
  const double *w = p.v + 1, *z = p.a + 1, *e = p.q + 1;
  const double row[3] = {e[0] * e[0] + e[1] * e[1] - e[2] * e[2] - e[3] * e[3],
                         2 * (e[1] * e[2] - e[0] * e[3]), 2 * (e[1] * e[3] + e[0] * e[2])};
  for (int k = 0; k < 3; k++) {  // Newton and Euler, each point by itself, in the axes of the body
    double wr[3], wwr[3], zr[3];
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, l = (i + 2) % 3;
      wr[i] = w[j] * r[k][l] - w[l] * r[k][j];
      zr[i] = z[j] * r[k][l] - z[l] * r[k][j];
    }
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, l = (i + 2) % 3;
      wwr[i] = w[j] * wr[l] - w[l] * wr[j];
    }
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, l = (i + 2) % 3;
      double free_j = zr[j] + row[j] * p.a[0], free_l = zr[l] + row[l] * p.a[0];
      inertia[0] += mass[k] * row[i] * zr[i];
      force[0] -= mass[k] * row[i] * wwr[i];
      inertia[1 + i] += mass[k] * (r[k][j] * free_l - r[k][l] * free_j);
      force[1 + i] -= mass[k] * (r[k][j] * wwr[l] - r[k][l] * wwr[j]);
    }
    inertia[0] += mass[k] * p.a[0];
  }
  for (int i = 0; i < 4; i++) {
    CHECK_NEAR(Ma[i], inertia[i], 1e-14);
    CHECK_NEAR(v->f[i], force[i], 1e-14);
  }
  setup_free(&s);
}

// ---- differences --------------------------------------------------------------------------------
// Bodies R[i] at places x[i], y[i], z[i] in a field, joined to each other; N = 2 is one lane, N = 7
// is lanes.
static Setup chain_of(int bodies) {
  char text[2048];
  snprintf(
      text, sizeof text,
      "model: m\nparameters: {N: %d}\n"
      "coordinates:\n"
      "  x[i=1..N]: 0\n  y[i=1..N]: 0\n  z[i=1..N]: 0\n"
      "  R[i=1..N]: {kind: rotation}\n"
      "define:\n"
      "  c[i=1..N]: \"[x[i], y[i], z[i]]\"\n"
      "  w[i=1..N]: \"R[i].omega\"\n"
      "  head[i=1..N]: \"c[i] + R[i]*[0.1, 0.2, 0.7]\"\n"
      "  tail[i=1..N]: \"c[i] - R[i]*[0.2, -0.1, 0.5]\"\n"
      "kinetic:\n"
      "  for i=1..N:\n"
      "    - dot(c[i]', c[i]') + (1 + x[i]^2)*w[i].x^2 + 2*w[i].y^2 + 3*w[i].z^2 + w[i].x*w[i].z\n"
      "    - dot(head[i]', head[i]')\n"
      "potential:\n"
      "  for i=1..N: 9.81*head[i].z + norm(tail[i] - [1, 2, 3])^2*sin(t) + R[i].q0*x[i]\n"
      "dissipation:\n"
      "  for i=1..N: norm(R[i]*w[i] - [0, 1, 0])^2/4\n"
      "forces:\n"
      "  R[i=1..N]: \"[sin(t)*w[i].y, x[i]*R[i].q1, w[i].x*w[i].y]\"\n"
      "  push[i=1..N]: {on: \"head[i]\", value: \"[1, w[i].z, y[i]]\"}\n"
      "constraints:\n"
      "  joint[i=2..N]: tail[i] = (1 + t)*head[i-1]\n"
      "  roll: {rate: \"R[1].omega.x + x[1]*y[2]' = dot(R[2]*R[2].omega, [1, t, x[2]])\"}\n",
      bodies);
  return setup_text(text);
}

enum { MOST = 64 };
typedef void (*Measure)(const Setup* s, const Spot* p, double* out);

static void residual(const Setup* s, const Spot* p, double* r) {
  const PawlValues* v = look(s, p);
  double force[MOST];
  multiply(pawl_system_pattern_H(s->system), v->M, p->a, r);
  transposed(pawl_system_pattern_G(s->system), v->G, p->lambda, force);
  for (int j = 0; j < s->n.v; j++) {
    r[j] -= v->f[j] + force[j];
  }
}

static void place_rows(const Setup* s, const Spot* p, double* g) {
  memcpy(g, look(s, p)->g, (size_t)s->n.rows * sizeof(double));
}

static void rate_rows(const Setup* s, const Spot* p, double* w) {
  const PawlValues* v = look(s, p);
  multiply(pawl_system_pattern_G(s->system), v->G, p->v, w);
  for (int i = 0; i < s->n.rows; i++) {
    w[i] += v->g_t[i];
  }
}

static void acceleration_rows(const Setup* s, const Spot* p, double* w) {
  const PawlValues* v = look(s, p);
  multiply(pawl_system_pattern_G(s->system), v->G, p->a, w);
  for (int i = 0; i < s->n.rows; i++) {
    w[i] += v->gamma[i];
  }
}

// (what at p moved by +eps) - (by -eps) over 2 eps, q by retract along dq, v along dv, t by dt.
static void difference(const Setup* s, const Spot* p, Measure what, int count, const double* dq,
                       const double* dv, double dt, double* out) {
  const double eps = 1e-5;
  double side[2][MOST];
  for (int k = 0; k < 2; k++) {
    Spot moved = *p;
    double by = k ? eps : -eps, step[MOST];
    for (int j = 0; j < s->n.v; j++) {
      step[j] = dq ? by * dq[j] : 0.0;
      moved.v[j] += dv ? by * dv[j] : 0.0;
    }
    moved.t += by * dt;
    pawl_system_retract(s->system, p->q, step, moved.q);
    what(s, &moved, side[k]);
  }
  for (int i = 0; i < count; i++) {
    out[i] = (side[1][i] - side[0][i]) / (2 * eps);
  }
}

static const double NEAR = 2e-8;  // eps^2 times third derivatives, and rounding over eps

static void compare(int count, const double* value, const double* expected, const char* what) {
  for (int i = 0; i < count; i++) {
    if (!(fabs(value[i] - expected[i]) <= NEAR * (1 + fabs(expected[i])))) {
      print_error("%s, row %d: %.12g, by differences %.12g\n", what, i, value[i], expected[i]);
      fail();
    }
  }
}

// The column of a tangent times 1.
static void check_matrix(const Setup* s, const Spot* p, Measure what, bool by_v, bool H,
                         const double* A, const double* B, const double* C, const char* name) {
  PawlPattern pattern = H ? pawl_system_pattern_H(s->system) : pawl_system_pattern_G(s->system);
  for (int j = 0; j < s->n.v; j++) {
    double one[MOST] = {0}, column[MOST], slope[MOST], turn[MOST];
    one[j] = 1;
    multiply(pattern, A, one, column);
    for (int k = 0; k < 2; k++) {
      const double* more = k ? C : B;
      if (more) {
        multiply(pattern, more, one, turn);
        for (int i = 0; i < pattern.rows; i++) {
          column[i] += turn[i];
        }
      }
    }
    difference(s, p, what, pattern.rows, by_v ? NULL : one, by_v ? one : NULL, 0, slope);
    compare(pattern.rows, column, slope, name);
  }
}

static double* kept(const double* from, int count) {
  double* copy = malloc((size_t)count * sizeof *copy);
  assert_non_null(copy);
  memcpy(copy, from, (size_t)count * sizeof *copy);
  return copy;
}

static void check_derivatives(int bodies) {
  Setup s = chain_of(bodies);
  Spot p = random_spot(&s, 3);
  const PawlValues* v = look(&s, &p);
  int H = pawl_system_pattern_H(s.system).start[s.n.v];
  int G = pawl_system_pattern_G(s.system).start[s.n.v], rows = s.n.rows, places = rows - 1;
  double *K = kept(v->K, H), *C = kept(v->C, H), *grad = kept(v->G, G), *rate = kept(v->G_rate, G),
         *acc = kept(v->G_acceleration, G), *turn = kept(v->G_turn, G),
         *gamma = kept(v->gamma, rows);
  check_matrix(&s, &p, residual, false, true, K, NULL, NULL, "K");
  check_matrix(&s, &p, residual, true, true, C, NULL, NULL, "C");
  check_matrix(&s, &p, rate_rows, false, false, rate, NULL, NULL, "G_rate");
  check_matrix(&s, &p, rate_rows, true, false, grad, NULL, NULL, "G by v");
  check_matrix(&s, &p, acceleration_rows, false, false, acc, NULL, NULL, "G_acceleration");
  check_matrix(&s, &p, acceleration_rows, true, false, rate, rate, turn, "2 G_rate + G_turn");
  double slope[MOST], motion[MOST];
  multiply(pawl_system_pattern_G(s.system), grad, p.v, motion);
  difference(&s, &p, place_rows, rows, p.v, NULL, 0, slope);
  compare(places, motion, slope, "G v");  // the rate row, which is the last, has no place
  difference(&s, &p, rate_rows, rows, p.v, NULL, 1, slope);
  compare(rows, gamma, slope, "gamma");
  double* all[] = {K, C, grad, rate, acc, turn, gamma};
  for (int k = 0; k < 7; k++) {
    free(all[k]);
  }
  setup_free(&s);
}

static void test_derivatives_of_one_lane(void** state) {
  (void)state;
  check_derivatives(2);
}

static void test_derivatives_of_lanes(void** state) {
  (void)state;
  Setup s = chain_of(7);
  assert_true(pawl_system_info(s.system).largest_lanes >= 6);  // bodies share programs
  setup_free(&s);
  check_derivatives(7);
}

// Bodies that turn on bodies: their energy is long, and derived from its squares.
static void test_derivatives_of_squares(void** state) {
  (void)state;
  Setup s = setup_text(
      "model: m\n"
      "coordinates: {x: , A: {kind: rotation}, B: {kind: rotation}, C: {kind: rotation}}\n"
      "define:\n"
      "  a: \"[x, 0, sin(x)] + A*[0.3, 0.2, 0.5]\"\n"
      "  b: \"a + A*B*[0.1, 0.4, -0.2]\"\n"
      "  c: \"b + A*B*C*[0.2, -0.3, 0.1]\"\n"
      "  u: A.omega\n"
      "  v: transpose(B)*u + B.omega\n"
      "  w: transpose(C)*v + C.omega\n"
      "kinetic:\n"
      "  - norm(a')^2 + 2*norm(b')^2 + 3*norm(c')^2\n"
      "  - u.x^2 + 2*u.y^2 + 3*u.z^2 + 2*v.x^2 + v.y^2 + 4*v.z^2 + 0.3*v.x*v.y\n"
      "  - (2 + sin(x))*w.x^2 + w.y^2 + 3*w.z^2 + 0.2*w.x*w.z\n"
      "potential: 9.81*(a.z + b.z + c.z)\n");
  Spot p = random_spot(&s, 11);
  const PawlValues* v = look(&s, &p);
  int H = pawl_system_pattern_H(s.system).start[s.n.v];
  double *K = kept(v->K, H), *C = kept(v->C, H);
  check_matrix(&s, &p, residual, false, true, K, NULL, NULL, "K");
  check_matrix(&s, &p, residual, true, true, C, NULL, NULL, "C");
  free(K);
  free(C);
  setup_free(&s);
}

// c w.x^2 of a body and c v^2 of a mass look alike, but the equations of the body are three.
static void test_lanes_of_bodies_and_masses(void** state) {
  (void)state;
  Setup s = setup_text(
      "model: m\nparameters: {N: 12}\n"
      "coordinates: {\"x[i=1..N]\": 0, R: {kind: rotation}}\n"
      "kinetic:\n  - {for i=1..N: \"x[i]'^2\"}\n"
      "  - 2*R.omega.x^2 + 3*R.omega.y^2 + 5*R.omega.z^2\n");
  Spot p = random_spot(&s, 5);
  const double* w = p.v + 12;
  const double J[3] = {4, 6, 10};
  const PawlValues* v = look(&s, &p);
  for (int i = 0; i < 3; i++) {  // -(omega x J omega)
    int j = (i + 1) % 3, k = (i + 2) % 3;
    CHECK_NEAR(v->f[12 + i], (J[j] - J[k]) * w[j] * w[k], 1e-14);
  }
  setup_free(&s);
}

// A moment about each axis, of bodies that share a program.
static void test_moments_in_lanes(void** state) {
  (void)state;
  Setup s = setup_text(
      "model: m\nparameters: {N: 12}\n"
      "coordinates: {\"R[i=1..N]\": {kind: rotation}}\n"
      "kinetic: {for i=1..N: \"norm(R[i].omega)^2/2\"}\n"
      "forces: {\"R[i=1..N]\": [i, 20 + i, 40 + i]}\n");
  Spot p = random_spot(&s, 7);
  const PawlValues* v = look(&s, &p);
  for (int k = 0; k < 36; k++) {
    CHECK_NEAR(v->f[k], 20 * (k % 3) + k / 3 + 1, 1e-14);
  }
  setup_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_retract_is_the_flow_of_the_rates),
      cmocka_unit_test(test_body_on_a_cart),
      cmocka_unit_test(test_derivatives_of_one_lane),
      cmocka_unit_test(test_derivatives_of_lanes),
      cmocka_unit_test(test_derivatives_of_squares),
      cmocka_unit_test(test_lanes_of_bodies_and_masses),
      cmocka_unit_test(test_moments_in_lanes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
