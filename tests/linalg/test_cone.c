// SPDX-License-Identifier: Apache-2.0
// The cone of interior point methods: its product, its scaling, and how far a step stays inside.
#include <math.h>

#include "check.h"
#include "linalg/cone.h"
#include "systems.h"

// Random points inside of the cone.
static void inside(int dim, double* a) {
  for (int i = 1; i < dim; i++) {
    a[i] = test_random();
  }
  a[0] = pawl_cone_tangent(dim, a) + 0.01 + fabs(test_random());
}

static void test_division_undoes_the_product(void** state) {
  (void)state;
  for (int k = 0; k < 300; k++) {
    int dim = 1 + k % PAWL_CONE_MOST;
    double a[PAWL_CONE_MOST], b[PAWL_CONE_MOST], c[PAWL_CONE_MOST];
    inside(dim, a);
    inside(dim, b);
    pawl_cone_product(dim, a, b, c);
    pawl_cone_divide(dim, a, c);
    for (int i = 0; i < dim; i++) {
      CHECK_NEAR(c[i], b[i], 1e-11);
    }
  }
}

// W z = W^-1 s, W^-1 W = 1 and W W = the matrix of pawl_cone_square.
static void test_scaling(void** state) {
  (void)state;
  for (int k = 0; k < 300; k++) {
    int dim = 1 + k % PAWL_CONE_MOST;
    double z[PAWL_CONE_MOST], s[PAWL_CONE_MOST], a[PAWL_CONE_MOST], b[PAWL_CONE_MOST];
    inside(dim, z);
    inside(dim, s);
    PawlConeScaling W = pawl_cone_scaling(dim, z, s);
    pawl_cone_scale(&W, false, z, a);
    pawl_cone_scale(&W, true, s, b);
    for (int i = 0; i < dim; i++) {
      CHECK_NEAR(a[i], b[i], 1e-12 * (1 + fabs(a[0])));
    }
    pawl_cone_scale(&W, true, a, b);
    for (int i = 0; i < dim; i++) {
      CHECK_NEAR(b[i], z[i], 1e-11);
    }
    pawl_cone_scale(&W, false, a, b);  // W^2 z = s
    for (int i = 0; i < dim; i++) {
      double sum = 0.0;
      for (int j = 0; j < dim; j++) {
        sum += pawl_cone_square(&W, i, j) * z[j];
      }
      CHECK_NEAR(sum, s[i], 1e-11);
      CHECK_NEAR(b[i], s[i], 1e-11);
    }
  }
}

// Its defining equation, and that a pair with z o s = nu e is left where it is.
static void test_right_side(void** state) {
  (void)state;
  for (int k = 0; k < 300; k++) {
    int dim = 1 + k % PAWL_CONE_MOST;
    double z[PAWL_CONE_MOST], s[PAWL_CONE_MOST], dz[PAWL_CONE_MOST], ds[PAWL_CONE_MOST];
    double rhs[PAWL_CONE_MOST], a[PAWL_CONE_MOST], b[PAWL_CONE_MOST], c[PAWL_CONE_MOST];
    double nu = fabs(test_random()), none[PAWL_CONE_MOST] = {0.0};
    inside(dim, z);
    inside(dim, s);
    inside(dim, dz);
    inside(dim, ds);
    PawlConeScaling W = pawl_cone_scaling(dim, z, s);
    pawl_cone_center(&W, z, dz, ds, nu, rhs);
    pawl_cone_scale(&W, true, rhs, b);  // x
    pawl_cone_scale(&W, false, z, a);
    pawl_cone_product(dim, a, b, c);
    double left[PAWL_CONE_MOST];
    pawl_cone_product(dim, a, a, left);
    pawl_cone_scale(&W, false, dz, a);
    pawl_cone_scale(&W, true, ds, b);
    pawl_cone_product(dim, a, b, rhs);
    for (int i = 0; i < dim; i++) {
      double size = 1 + fabs(left[0]) + fabs(rhs[0]);
      CHECK_NEAR(c[i], (i == 0 ? nu : 0.0) - left[i] - rhs[i], 1e-10 * size);
    }
    double along = nu / ((z[0] - pawl_cone_tangent(dim, z)) * (z[0] + pawl_cone_tangent(dim, z)));
    for (int i = 0; i < dim; i++) {
      s[i] = i == 0 ? along * z[0] : -along * z[i];  // nu z^-1
    }
    W = pawl_cone_scaling(dim, z, s);
    pawl_cone_center(&W, z, none, none, nu, rhs);
    for (int i = 0; i < dim; i++) {
      CHECK_NEAR(rhs[i], 0.0, 1e-10 * (1 + along));
    }
  }
}

static void test_reach_ends_at_the_border(void** state) {
  (void)state;
  for (int k = 0; k < 300; k++) {
    int dim = 1 + k % PAWL_CONE_MOST;
    double a[PAWL_CONE_MOST], d[PAWL_CONE_MOST], at[PAWL_CONE_MOST];
    inside(dim, a);
    for (int i = 0; i < dim; i++) {
      d[i] = test_random();
    }
    double t = pawl_cone_reach(dim, a, d), far = isinf(t) ? 1e6 : t;
    for (int i = 0; i < dim; i++) {
      at[i] = a[i] + far * d[i];
    }
    double left = at[0] - pawl_cone_tangent(dim, at);
    assert_true(isinf(t) ? left > 0.0 : fabs(left) <= 1e-10 * (1 + fabs(at[0])));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_division_undoes_the_product),
      cmocka_unit_test(test_scaling),
      cmocka_unit_test(test_right_side),
      cmocka_unit_test(test_reach_ends_at_the_border),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
