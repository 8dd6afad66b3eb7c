// SPDX-License-Identifier: Apache-2.0
// Machine code for the balance of forces against its definition, summed here in the same order: the
// same bits, with terms that are zero, infinite or not a number, too.
#include "base/code.h"
#include "linalg/balance_line.h"
#include "systems.h"

enum { MOST = 64 };

typedef struct Case {
  TestSystem* s;
  PawlPattern M, G;
  PawlBalanceLine line;
} Case;

static Case make_case(int n, int m, double density) {
  Case c = {.s = system_random(n, m, density, true)};
  c.M = (PawlPattern){n, n, c.s->S_start, c.s->S_index};
  c.G = (PawlPattern){m, n, c.s->G_start, c.s->G_index};
  pawl_balance_line_create(&c.M, &c.G, &c.line);
  return c;
}

static void destroy_case(Case* c) {
  pawl_balance_line_destroy(&c->line);
  free(c->s);
}

static void compare(const Case* c, PawlBalance of, double scale) {
  double r[MOST], sizes[MOST], scaled[MOST];
  pawl_balance_line_judged(&c->line, of, r, sizes);
  pawl_balance_line_scaled(&c->line, of, scale, scaled);
  for (int j = 0; j < c->s->n; j++) {
    double sum = -of.f[j], size = fabs(of.f[j]);
    for (int k = c->G.start[j]; k < c->G.start[j + 1]; k++) {
      double term = of.B[k] * of.lambda[c->G.index[k]];
      sum -= term;
      size += fabs(term);
    }
    for (int k = c->M.start[j]; k < c->M.start[j + 1]; k++) {
      double term = of.M[k] * of.vdot[c->M.index[k]];
      sum += term;
      size += fabs(term);
    }
    double times = sum * scale;
    if (isnan(sum)) {
      assert_true(isnan(r[j]) && isnan(scaled[j]) && isnan(sizes[j]) == isnan(size));
      continue;
    }
    assert_memory_equal(&sum, &r[j], sizeof sum);
    assert_memory_equal(&size, &sizes[j], sizeof size);
    assert_memory_equal(&times, &scaled[j], sizeof times);
  }
}

static void test_same_bits(void** state) {
  (void)state;
  int coded = 0, cases = 0;
  for (int n = 1; n <= 24; n += n < 6 ? 1 : 6) {
    for (int m = 0; m <= n; m += 1 + n / 3) {
      Case c = make_case(n, m, 0.15);
      double f[MOST], lambda[MOST], vdot[MOST];
      cases++;
      coded += c.line.scaled != NULL;
      for (int trial = 0; c.line.scaled && trial < 20; trial++) {
        fill_random(n, f);
        fill_random(m, lambda);
        fill_random(n, vdot);
        f[trial % n] = trial % 4 == 1 ? 0.0 : trial % 7 == 3 ? INFINITY : f[trial % n];
        vdot[trial % n] = trial % 9 == 5 ? NAN : trial % 3 == 0 ? -0.0 : vdot[trial % n];
        compare(&c, (PawlBalance){c.s->B_values, lambda, c.s->S_values, vdot, f}, -1e-3);
      }
      destroy_case(&c);
    }
  }
#ifdef PAWL_HAS_CODE
  assert_true(coded > cases / 2);
#else
  assert_true(coded == 0);
#endif
}

// Beyond what fits there is no code, and nothing to destroy.
static void test_too_large(void** state) {
  (void)state;
  Case c = make_case(40, 20, 0.9);
  assert_true(!c.line.scaled && !c.line.judged);
  destroy_case(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits),
                                     cmocka_unit_test(test_too_large)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
