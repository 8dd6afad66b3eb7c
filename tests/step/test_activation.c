// SPDX-License-Identifier: Apache-2.0
// The activation rule that O. Bruels, V. Acary and A. Cardona print, (55) to (57) of "On the
// constraints formulation in the nonsmooth generalized-alpha method", beside that of nsga-pva: a
// mass rests on a floor, and in the middle of a step another force begins to act. The step is
// solved here for every chain of sets A, B, C, and the rule asked which of them it accepts.
#include "step/motion.h"

static const double MASS = 2.0, LOAD = -1.0, STEP = 1e-3;
enum { RESTING = 20 };  // steps before the other force

typedef struct Mass {
  double q, v, vdot, a, lambda, eta;
} Mass;

typedef struct Scheme {
  double alpha_m, alpha_f, beta, gamma;
} Scheme;

static Scheme scheme_of(double rho) {
  double am = (2 * rho - 1) / (rho + 1), af = rho / (rho + 1), gamma = 0.5 + af - am;
  return (Scheme){am, af, 0.25 * (gamma + 0.5) * (gamma + 0.5), gamma};
}

static double next(const Scheme* s, double x, double x_n, double mean_n) {
  return ((1 - s->alpha_f) * x + s->alpha_f * x_n - s->alpha_m * mean_n) / (1 - s->alpha_m);
}

// The step with A alone, A and B, or all three in force (`level` 1 to 3); the level at which the
// rule puts the contact by what comes out.
static int rule(const Scheme* s, Mass n, double f, double r, int level, Mass* out) {
  double h = STEP;
  out->lambda = level == 3 ? -f : 0.0;
  out->vdot = (f + out->lambda) / MASS;
  out->a = next(s, out->vdot, n.vdot, n.a);
  out->eta = next(s, out->lambda, n.lambda, n.eta);
  out->q = n.q + h * n.v + h * h * ((0.5 - s->beta) * n.a + s->beta * out->a);
  out->v = n.v + h * ((1 - s->gamma) * n.a + s->gamma * out->a);
  double nu = level >= 1 ? -MASS * out->q : 0.0, Lambda = level >= 2 ? -MASS * out->v : 0.0;
  out->q += nu / MASS;
  out->v += Lambda / MASS;
  nu += h * h * ((0.5 - s->beta) * n.eta + s->beta * out->eta);
  Lambda += h * ((1 - s->gamma) * n.eta + s->gamma * out->eta);
  bool A = nu - r * out->q >= 0.0, B = A && Lambda - r * out->v >= 0.0;  // (55), (56)
  bool C = B && out->lambda - r * out->vdot >= 0.0;                      // (57)
  return A + B + C;
}

// How many levels the rule accepts, and the last of them.
static int answers(const Scheme* s, double f, double r, Mass* out) {
  Mass rest = {0, 0, 0, 0, -LOAD, -LOAD}, tried;
  int count = 0;
  for (int level = 0; level <= 3; level++) {
    if (rule(s, rest, f, r, level, &tried) == level) {
      *out = tried;
      count++;
    }
  }
  return count;
}

static Motion released(double f, double rho) {
  char text[500];
  snprintf(text, sizeof text,
           "model: released\nparameters: {f: %.17g, load: %.17g}\ncoordinates: {y: {}}\n"
           "mass: {y: %g}\nforces: {y: load + (f - load)*(1 + tanh(1e7*(t - %.17g)))/2}\n"
           "contacts: {floor: {gap: y, restitution: 0}}\n",
           f, LOAD, MASS, (RESTING + 0.5) * STEP);
  Motion m = motion_text(text);
  m.def.rho = rho;
  m.def.step = STEP;
  motion_start(&m, "nsga-pva");
  for (int k = 0; k < RESTING; k++) {
    motion_step(&m, STEP);
  }
  CHECK_NEAR(m.state->q[0], 0.0, 1e-15);
  CHECK_NEAR(m.state->lambda[0], -LOAD, 1e-12);
  motion_step(&m, STEP);
  return m;
}

// With r the effective mass there is one answer. With a smaller r there are forces with none, where
// Algorithm 1 goes on for ever; with a larger one forces with several.
static void test_answers(void** state) {
  (void)state;
  static const double rhos[] = {0.6, 0.8, 1.0};
  for (int n = 0; n < 3; n++) {
    Scheme s = scheme_of(rhos[n]);
    int none = 0, several = 0;
    Mass out = {0};
    for (int k = 0; k < 4000; k++) {
      double f = -1.9995 + 1e-3 * k;
      int with_larger = answers(&s, f, 4 * MASS, &out);
      assert_int_equal(answers(&s, f, MASS, &out), 1);
      none += answers(&s, f, 0.25 * MASS, &out) == 0;
      several += with_larger > 1;
      assert_true(with_larger >= 1);
    }
    assert_true(none >= 1000);
    assert_true(several > 500);
  }
}

// nsga-pva does the same, but where the force pulls by less than the floor pressed before: the rule
// holds the contact closed for a step more, since what it sums up is not yet below 0. The gap that
// it leaves out is at most what the past has left over the mass.
static void test_against_nsga_pva(void** state) {
  (void)state;
  int same = 0, held = 0;
  for (int n = 0; n < 2; n++) {
    double rho = n == 0 ? 0.8 : 1.0;
    Scheme s = scheme_of(rho);
    double past = next(&s, 0.0, -LOAD, -LOAD), h = STEP;
    double most = h * h * ((0.5 - s.beta) * -LOAD + s.beta * past) / MASS;
    for (double f = -1.95; f < 2.0; f += 0.1) {
      Mass out = {0};
      assert_int_equal(answers(&s, f, MASS, &out), 1);
      Motion m = released(f, rho);
      double gap = m.state->q[0];
      if (fabs(gap - out.q) <= 1e-15) {
        CHECK_NEAR(m.state->v[0], out.v, 1e-13);
        CHECK_NEAR(m.state->lambda[0], out.lambda, 1e-12);
        same++;
      } else {
        assert_true(f > 0.0 && out.q == 0.0 && gap > 0.0 && gap <= most);
        held++;
      }
      motion_end(&m);
    }
  }
  assert_true(same > 40 && held > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_answers),
      cmocka_unit_test(test_against_nsga_pva),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
