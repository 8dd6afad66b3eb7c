// SPDX-License-Identifier: Apache-2.0
// Rows of rate equations (docs/theory/rate.md) against differences of w, which is written here
// once more by hand.
#include <math.h>

#include "setup.h"

typedef double (*Rate)(int row, const double* q, const double* v, double t);

typedef struct Case {
  const char* text;
  Rate w;
} Case;

// ---- two models ---------------------------------------------------------------------------------
static const char pair[] =
    "model: pair\ncoordinates: {x: 1, y: 2, phi: }\nmass: {x: 1, y: 1, phi: 1}\n"
    "constraints:\n  c: {rate: [\"x'*sin(phi) = y'*cos(phi) - 0.3*x*t\",\n"
    "             \"phi'*x*y + exp(y/3)*x'*t + cos(t)\"]}\n";

static double w_pair(int row, const double* q, const double* v, double t) {
  return row == 0 ? v[0] * sin(q[2]) - v[1] * cos(q[2]) + 0.3 * q[0] * t
                  : v[2] * q[0] * q[1] + exp(q[1] / 3) * v[0] * t + cos(t);
}

// Rows of one shape: lanes of one group.
static const char family[] =
    "model: family\ncoordinates: {\"u[i=0..17]\": 0.1*i}\nmass: {\"u[i=0..17]\": 1}\n"
    "constraints:\n  c[i=1..17]: {rate: \"u[i]'*cos(u[i-1]) = u[i-1]'*u[i]^2 + 0.1*i*t\"}\n";

static double w_family(int row, const double* q, const double* v, double t) {
  int i = row + 1;
  return v[i] * cos(q[i - 1]) - v[i - 1] * q[i] * q[i] - 0.1 * i * t;
}

// ---- what must hold -----------------------------------------------------------------------------
static const double H = 1e-6;     // of the differences
static const double NEAR = 1e-8;  // their error, H^2 and rounding / H, for numbers of size 1

enum { MOST = 20 };

typedef struct Rows {  // of one evaluation, dense by rows
  double G[MOST * MOST], rate[MOST * MOST], acceleration[MOST * MOST], turn[MOST * MOST];
  double level[MOST], force[MOST];  // G a + gamma, G^T lambda
  double g[MOST], g_t[MOST];
} Rows;

static Rows look(Setup* s, const Place* p) {
  Rows r = {0};
  const PawlValues* x = run_at(s->eval, p);
  PawlPattern G = pawl_system_pattern_G(s->system);
  assert_non_null(x->G_turn);
  to_dense(G, x->G, r.G);
  to_dense(G, x->G_rate, r.rate);
  to_dense(G, x->G_acceleration, r.acceleration);
  to_dense(G, x->G_turn, r.turn);
  for (int i = 0; i < s->n.rows; i++) {
    r.g[i] = x->g[i];
    r.g_t[i] = x->g_t[i];
    r.level[i] = x->gamma[i];
    for (int j = 0; j < s->n.v; j++) {
      r.level[i] += r.G[i * s->n.v + j] * p->a[j];
      r.force[j] += r.G[i * s->n.v + j] * p->lambda[i];
    }
  }
  return r;
}

// (W1), (W2): G v + g_t is w, and neither depends on v; there is no position level.
static void check_rate(Setup* s, const Case* c, const Place* p, const Rows* r) {
  for (int i = 0; i < s->n.rows; i++) {
    double sum = r->g_t[i], still[MOST] = {0};
    for (int j = 0; j < s->n.v; j++) {
      sum += r->G[i * s->n.v + j] * p->v[j];
    }
    CHECK_NEAR(sum, c->w(i, p->q, p->v, p->t), 1e-14);
    CHECK_NEAR(r->g_t[i], c->w(i, p->q, still, p->t), 1e-14);
    assert_true(r->g[i] == 0.0);
    assert_true(pawl_system_row_is_rate(s->system, i, p->modes));
  }
}

// (W3): along the motion q + h v + h^2/2 a, v + h a, t + h.
static void check_acceleration(Setup* s, const Case* c, const Place* p, const Rows* r) {
  for (int i = 0; i < s->n.rows; i++) {
    double w[2];
    for (int side = 0; side < 2; side++) {
      double h = side ? H : -H, q[MOST], v[MOST];
      for (int j = 0; j < s->n.v; j++) {
        q[j] = p->q[j] + h * p->v[j] + 0.5 * h * h * p->a[j];
        v[j] = p->v[j] + h * p->a[j];
      }
      w[side] = c->w(i, q, v, p->t + h);
    }
    CHECK_NEAR(r->level[i], (w[1] - w[0]) / (2 * H), NEAR);
  }
}

// (W4) to (W6): derivatives by q_j and v_j of w, of G a + gamma and of G^T lambda.
static void check_tangents(Setup* s, const Case* c, Place* p, const Rows* r) {
  int n = s->n.v, m = s->n.rows;
  double K[MOST * MOST];
  to_dense(pawl_system_pattern_H(s->system), pawl_eval_values(s->eval)->K, K);
  for (int j = 0; j < n; j++) {
    double q = p->q[j], v = p->v[j], w[2][MOST];
    Rows by_q[2], by_v[2];
    for (int side = 0; side < 2; side++) {
      p->q[j] = q + (side ? H : -H);
      by_q[side] = look(s, p);
      for (int i = 0; i < m; i++) {
        w[side][i] = c->w(i, p->q, p->v, p->t);
      }
      p->q[j] = q;
      p->v[j] = v + (side ? H : -H);
      by_v[side] = look(s, p);
      p->v[j] = v;
    }
    for (int i = 0; i < m; i++) {
      int k = i * n + j;
      CHECK_NEAR(r->rate[k], (w[1][i] - w[0][i]) / (2 * H), NEAR);
      CHECK_NEAR(r->acceleration[k], (by_q[1].level[i] - by_q[0].level[i]) / (2 * H), NEAR);
      CHECK_NEAR(2 * r->rate[k] + r->turn[k], (by_v[1].level[i] - by_v[0].level[i]) / (2 * H),
                 NEAR);
      CHECK_NEAR(by_v[0].G[k], r->G[k], 0.0);
    }
    for (int i = 0; i < n; i++) {
      CHECK_NEAR(K[i * n + j], -(by_q[1].force[i] - by_q[0].force[i]) / (2 * H), NEAR);
    }
  }
}

// (W8): the power of the rows is -lambda . b.
static void check_power(Setup* s, const Place* p, const Rows* r) {
  PawlEval* eval;
  double power = 0.0;
  assert_int_equal(pawl_eval_create(s->system, PAWL_POWERS, &eval, NULL), PAWL_OK);
  for (int i = 0; i < s->n.rows; i++) {
    power -= p->lambda[i] * r->g_t[i];
  }
  CHECK_NEAR(run_at(eval, p)->power[PAWL_POWER_DRIVES], power, 1e-14);
  pawl_eval_destroy(eval);
}

static void check(const Case* c) {
  Setup s = setup_text(c->text);
  Random random = {5};
  for (int k = 0; k < 20; k++) {
    Place p = random_place(s.system, &random);
    Rows r = look(&s, &p);
    check_rate(&s, c, &p, &r);
    check_acceleration(&s, c, &p, &r);
    check_tangents(&s, c, &p, &r);
    check_power(&s, &p, &r);
    place_free(&p);
  }
  setup_free(&s);
}

static void test_two_rows(void** state) {
  (void)state;
  check(&(Case){pair, w_pair});
}

static void test_lanes(void** state) {
  (void)state;
  Setup s = setup_text(family);
  assert_true(pawl_system_info(s.system).largest_lanes >= 16);
  setup_free(&s);
  check(&(Case){family, w_family});
}

// A position row has no turn, and a model without rate equations has no array of it.
static void test_beside_position_rows(void** state) {
  (void)state;
  Setup s = setup_text(
      "model: both\ncoordinates: {x: 1, y: 2}\nmass: {x: 1, y: 1}\n"
      "constraints: {p: x*y^2*t = 1, r: {rate: \"x*y' = 2*y\"}}\n");
  Random random = {5};
  Place p = random_place(s.system, &random);
  Rows r = look(&s, &p);
  CHECK_NEAR(r.g[0], p.q[0] * p.q[1] * p.q[1] * p.t - 1, 1e-14);
  CHECK_NEAR(r.turn[0], 0.0, 0.0);
  CHECK_NEAR(r.turn[1], 0.0, 0.0);
  CHECK_NEAR(r.turn[2], -p.v[1], 1e-14);       // (dA_x/dy - dA_y/dx) y'
  CHECK_NEAR(r.turn[3], p.v[0] + 2.0, 1e-14);  // and - db/dy
  place_free(&p);
  setup_free(&s);
  s = setup_text("model: one\ncoordinates: {x: 1}\nmass: {x: 1}\nconstraints: {p: x = 1}\n");
  p = random_place(s.system, &random);
  assert_null(run_at(s.eval, &p)->G_turn);
  place_free(&p);
  setup_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_rows),
      cmocka_unit_test(test_lanes),
      cmocka_unit_test(test_beside_position_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
