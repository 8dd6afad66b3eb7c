// SPDX-License-Identifier: Apache-2.0
// Bodies on three feet in a line that slip, of which rigid bodies do not say how they share their
// load (docs/theory/friction.md, section 9, (F28) and (F70)): the motion that is taken is one of
// those that obey the laws, by enumeration, and is told as it is.
#include <stdio.h>

#include "located.h"

typedef struct Feet {
  double rate, force, torque, height, inertia, at[3], mu[3];
} Feet;

static Run run_feet(const Feet* f) {
  char text[1500];
  int n = snprintf(text, sizeof text,
                   "model: feet\ncoordinates: {x: {rate: %.17g}, y: {start: %.17g}, a: }\n"
                   "mass: {x: 1, y: 1, a: %.17g}\npotential: 9.81*y\n"
                   "forces: {x: %.17g, a: %.17g}\ncontacts:\n",
                   f->rate, f->height, f->inertia, f->force, f->torque);
  for (int k = 0; k < 3; k++) {
    double b = f->at[k], H = f->height;
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "  c%d: {gap: \"y + %.17g*sin(a) - %.17g*cos(a)\", friction: %.17g, "
                  "slip: \"x + %.17g*cos(a) + %.17g*sin(a)\"}\n",
                  k, b, H, f->mu[k], b, H);
  }
  return run_text(text);
}

static int count_of(const char* text, const char* what) {
  int count = 0;
  for (const char* at = strstr(text, what); at; at = strstr(at + 1, what)) {
    count++;
  }
  return count;
}

// With the foot k alone, which slips forwards: y'' + b a'' = 0, y'' = N - g,
// J a'' = M + N (b - mu H), x'' = F - mu N.
static void check_alone(const Run* run, const Feet* f, int k, double t) {
  double b = f->at[k], turn = b - f->mu[k] * f->height, J = f->inertia;
  double N = (9.81 - b * f->torque / J) / (1 + b * turn / J);
  double angular = (f->torque + N * turn) / J;
  assert_true(N > 0.0);
  for (int i = 0; i < 3; i++) {
    assert_true((f->at[i] - b) * angular >= 0.0);  // the others part
  }
  const double* v = pawl_sim_state(run->sim)->v;
  CHECK_NEAR(v[0], f->rate + t * (f->force - f->mu[k] * N), 1e-2 * t);
  CHECK_NEAR(v[1], -t * b * angular, 1e-2 * t);
  CHECK_NEAR(v[2], t * angular, 1e-2 * t);
}

// How the feet share their load has c2 pull where it is closed, and press where it is open with c0
// and c1 as they are found: of the motions with one foot open that is left in which c1 alone
// carries.
static void test_one_foot_carries(void** unused) {
  (void)unused;
  Feet f = {.rate = 0.63,
            .force = -12,
            .torque = -1.38,
            .height = 0.724,
            .inertia = 1.92,
            .at = {0.7805, 0.7838, -0.3935},
            .mu = {0.8, 1.5, 0.3}};
  Run run = run_feet(&f);
  double t = 1e-3;
  assert_true(run_with(&run, "dopri", t, 1e-4));
  check_alone(&run, &f, 1, t);
  event_is(&run, 0, 0.0, "c0", "open", 1e-12);
  event_is(&run, 1, 0.0, "c2", "open", 1e-12);
  assert_int_equal(run_events(&run), 2);
  assert_true(count_of(pawl_sim_warning(run.sim), "it lifts off") <= 1);
  run_end(&run);
}

// A foot without force in the problem of an instant that carries its share of the load all the same
// is not told to carry nothing.
static void test_share_is_told(void** unused) {
  (void)unused;
  Feet f = {.rate = 0.955,
            .force = -1.685,
            .torque = 6.118,
            .height = 0.536,
            .inertia = 0.01,
            .at = {0.5635, -0.1446, 0.0693},
            .mu = {0.3, 3, 0}};
  Run run = run_feet(&f);
  assert_true(run_with(&run, "dopri", 1e-4, 1e-4));
  const double* lambda = pawl_sim_multipliers(run.sim);
  const char* warning = pawl_sim_warning(run.sim);
  assert_true(lambda[5] > 0.1);
  CHECK_NEAR(lambda[3] + lambda[4] + lambda[5], 9.81, 1e-9);
  assert_non_null(strstr(warning, "'c2' touches"));
  assert_null(strstr(warning, "'c2' carries nothing"));
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_foot_carries),
      cmocka_unit_test(test_share_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
