// SPDX-License-Identifier: Apache-2.0
// A chain of 100 links in absolute coordinates (models/chain) falls while 30 of its joints lock and
// let go at random times: momentum balance at every jump, no drift, and the work of a step.
#include "step/balance.h"

enum { LINKS = 100, LOCKS = 30 };

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1  // gcc says so by itself
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
static const double UNTIL = SANITIZED ? 0.5 : 10;
static const double STEP = 2.5e-3;

static unsigned next_random(unsigned* seed) {
  return *seed = *seed * 1664525u + 1013904223u;
}
static double uniform(unsigned* seed) {
  return (double)(next_random(seed) >> 8) / (1u << 24);
}

// The text of models/chain with brakes in its joints.
static Motion make_chain(int locks) {
  static const char head[] =
      "model: braked-chain\nparameters: {N: 100, L: 1, m: 1, J: m*L^2/12, g: 9.81}\n"
      "coordinates:\n  x[i=1..N]: {start: (i - 1/2)*L}\n  y[i=1..N]:\n  th[i=1..N]:\n"
      "kinetic:\n  for i=1..N: m/2*(x[i]'^2 + y[i]'^2) + J/2*th[i]'^2\n"
      "potential:\n  for i=1..N: m*g*y[i]\n"
      "constraints:\n"
      "  joint[1]:\n    - x[1] = L/2*cos(th[1])\n    - y[1] = L/2*sin(th[1])\n"
      "  joint[i=2..N]:\n"
      "    - x[i] - L/2*cos(th[i]) = x[i-1] + L/2*cos(th[i-1])\n"
      "    - y[i] - L/2*sin(th[i]) = y[i-1] + L/2*sin(th[i-1])\n";
  static char text[16384];
  unsigned seed = 7;
  size_t used = (size_t)snprintf(text, sizeof text, "%s%s", head, locks > 0 ? "locks:\n" : "");
  for (int k = 0; k < locks; k++) {
    int joint = 2 + (k * 37) % (LINKS - 1);  // each another one
    double at = 0.9 * UNTIL * uniform(&seed), length = UNTIL * (0.01 + 0.09 * uniform(&seed));
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "  b%d: {lock: \"th[%d] - th[%d]\", at: %.6f, release: {at: %.6f}}\n",
                             k, joint, joint - 1, at, at + length);
    assert_true(used < sizeof text);
  }
  return motion_text(text);
}

// The largest |g| and |G v + g_t| at a state.
static void residuals(const Motion* m, PawlEval* eval, double* position, double* velocity) {
  PawlError err = {0};
  const PawlState* s = m->state;
  PawlPattern G = pawl_system_pattern_G(m->system);
  double* rate = calloc((size_t)m->n.rows, sizeof(double));
  PawlPoint point = {s->t, s->q, s->v, NULL, NULL, s->modes, s->held};
  assert_non_null(rate);
  NEED(pawl_eval_run(eval, &point, &err), &err);
  const PawlValues* x = pawl_eval_values(eval);
  for (int j = 0; j < G.cols; j++) {
    for (int k = G.start[j]; k < G.start[j + 1]; k++) {
      rate[G.index[k]] += x->G[k] * s->v[j];
    }
  }
  *position = largest_of(m->n.rows, x->g);
  *velocity = largest_of(m->n.rows, rate) / (1 + largest_of(m->n.v, s->v));
  free(rate);
}

static void test_jumps(void** unused) {
  (void)unused;
  Motion m = make_chain(LOCKS);
  Balance b = balance_create(&m);
  PawlEval* eval;
  NEED(pawl_eval_create(m.system, PAWL_POSITION | PAWL_GRADIENT, &eval, &m.err), &m.err);
  motion_start(&m, "nsga-pva");
  while (m.state->t < UNTIL - STEP / 2) {
    double position, velocity;
    balance_step(&b, &m, STEP, 1e-10);
    residuals(&m, eval, &position, &velocity);
    CHECK_NEAR(position, 0, 1e-8);
    CHECK_NEAR(velocity, 0, 1e-8);
  }
  print_message("%d instants, momentum balance to %.1e\n", b.jumps, b.worst);
  assert_int_equal(b.jumps, 2 * LOCKS);  // no two at the same time
  assert_string_equal(pawl_stepper_warning(m.stepper), "");
  pawl_eval_destroy(eval);
  balance_destroy(&b);
  motion_end(&m);
}

static PawlStepperInfo work_of(int locks) {
  Motion m = make_chain(locks);
  long long steps = llround(UNTIL / STEP / 4);
  motion_start(&m, "nsga-pva");
  for (long long k = 0; k < steps; k++) {
    motion_step(&m, STEP);
  }
  PawlStepperInfo info = pawl_stepper_info(m.stepper);
  motion_end(&m);
  return info;
}

// Thirty locks, each engaged for a twentieth of the time, add a quarter of the work at most.
static void test_work(void** unused) {
  (void)unused;
  if (SANITIZED) {  // so short a run has as many instants as steps
    skip();
  }
  PawlStepperInfo with = work_of(LOCKS), without = work_of(0);
  double evaluations = (double)with.evaluations / (double)without.evaluations;
  double factorizations = (double)with.factorizations / (double)without.factorizations;
  double iterations = (double)with.newton_iterations / (double)without.newton_iterations;
  print_message(
      "with locks: %.3f times the evaluations, %.3f the factorizations, %.3f the iterations\n",
      evaluations, factorizations, iterations);
  assert_true(evaluations < 1.25 && factorizations < 1.25);  // an iteration has one of the first
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_jumps), cmocka_unit_test(test_work)};
  return cmocka_run_group_tests_name("lock chain", tests, NULL, NULL);
}
