// SPDX-License-Identifier: Apache-2.0
// Sine, cosine and exponential function: the same bits one by one, together and over lanes; the
// stated error against long double; what is exact; what is beyond.
#include <float.h>
#include <string.h>

#include "check.h"
#include "expr/elementary.h"
#include "expr/random_tree.h"

enum { WIDTH = 64 };

static bool same_bits(double x, double y) {
  return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0;
}

// With all its bits: random_between has 31.
static double random_within(Random* r, double size) {
  return random_between(r, -size, size) + 0x1p-30 * random_between(r, -size, size);
}

// Of any size: 2^-1074 to 2^1024.
static double of_any_size(Random* r) {
  return ldexp(random_within(r, 1.0), random_below(r, 2100) - 1074);
}

static double random_argument(Random* r) {
  static const double edge[] = {
      0.0, -0.0, PAWL_SINE_LIMIT, -PAWL_SINE_LIMIT, PAWL_EXPONENT_LIMIT, -745,
      710, NAN,  INFINITY,        -INFINITY};
  switch (random_below(r, 64)) {
    case 0:
      return edge[random_below(r, sizeof edge / sizeof *edge)];
    case 1:
      return of_any_size(r);
    case 2:
      return random_within(r, 1.1 * PAWL_SINE_LIMIT);
    case 3:
      return random_within(r, 1.1 * PAWL_EXPONENT_LIMIT);
    default:
      return random_within(r, 10.0);
  }
}

// ---- lanes --------------------------------------------------------------------------------------
typedef struct Lanes {
  double sine[WIDTH], cosine[WIDTH], both_sine[WIDTH], both_cosine[WIDTH], exponential[WIDTH];
} Lanes;

static void check_lane(double x, const Lanes* y, int l, int count) {
  PawlSineCosine both = pawl_sincos(x);
  double s = pawl_sin(x), c = pawl_cos(x), e = pawl_exp(x);
  if (!same_bits(both.sine, s) || !same_bits(both.cosine, c) || !same_bits(y->sine[l], s) ||
      !same_bits(y->cosine[l], c) || !same_bits(y->both_sine[l], s) ||
      !same_bits(y->both_cosine[l], c) || !same_bits(y->exponential[l], e)) {
    fail_msg("%a in lane %d of %d: other bits than alone", x, l, count);
  }
}

static void test_lanes(void** state) {
  (void)state;
  static const int counts[] = {1, 2, 3, 8, WIDTH};
  enum { COUNTS = sizeof counts / sizeof *counts, ARGUMENTS = 10000000 };
  Random r = {16};
  double x[WIDTH];
  Lanes y;
  for (int done = 0, k = 0; done < ARGUMENTS; k++) {
    int count = counts[k % COUNTS];
    done += count;
    for (int l = 0; l < count; l++) {
      x[l] = k % 7 ? random_within(&r, 10.0) : random_argument(&r);
    }
    pawl_sin_lanes(count, x, y.sine);
    pawl_cos_lanes(count, x, y.cosine);
    pawl_sincos_lanes(count, x, y.both_sine, y.both_cosine);
    pawl_exp_lanes(count, x, y.exponential);
    for (int l = 0; l < count; l++) {
      check_lane(x[l], &y, l, count);
    }
  }
}

// Four at once, as machine code of tapes takes them.
static void test_four(void** state) {
  (void)state;
  Random r = {61};
  for (int k = 0; k < 300000; k++) {
    double x[4], y[8];
    for (int l = 0; l < 4; l++) {
      x[l] = k % 3 ? random_within(&r, 10.0) : random_argument(&r);
    }
    pawl_sincos_four(x[0], x[1], x[2], x[3], y);
    for (int l = 0; l < 4; l++) {
      assert_true(same_bits(y[l], pawl_sin(x[l])) && same_bits(y[l + 4], pawl_cos(x[l])));
    }
  }
}

// ---- error --------------------------------------------------------------------------------------
#if LDBL_MANT_DIG > DBL_MANT_DIG + 8
static double error_in_ulps(double y, long double exact) {
  int exponent;
  frexpl(exact, &exponent);
  return (double)(fabsl(y - exact) / ldexpl(1.0L, exponent - DBL_MANT_DIG));
}

static void check_error(const char* function, double x, double y, long double exact,
                        double* worst) {
  double error = exact == y ? 0.0 : error_in_ulps(y, exact);
  *worst = error > *worst ? error : *worst;
  if (!(error <= PAWL_ELEMENTARY_ULPS)) {
    fail_msg("%s(%a): wrong by %.4f units of the last place", function, x, error);
  }
}

static void check_turn(double x, double* worst) {
  check_error("sin", x, pawl_sin(x), sinl(x), &worst[0]);
  check_error("cos", x, pawl_cos(x), cosl(x), &worst[1]);
}

static void test_error(void** state) {
  (void)state;
  enum { ARGUMENTS = 1000000 };
  double worst[3] = {0};
  Random r = {8};
  for (int k = 0; k < ARGUMENTS; k++) {
    double size = k % 3 ? 10.0 : PAWL_SINE_LIMIT;
    check_turn(random_within(&r, size), worst);
    size = k % 3 ? 10.0 : PAWL_EXPONENT_LIMIT;
    double x = random_within(&r, size);
    check_error("exp", x, pawl_exp(x), expl(x), &worst[2]);
  }
  print_message("largest errors: sin %.3f, cos %.3f, exp %.3f\n", worst[0], worst[1], worst[2]);
  assert_true(worst[0] > 0.5 && worst[1] > 0.5 && worst[2] > 0.5);  // the yardstick is finer
}

// Nearly all digits cancel at the numbers next to multiples of pi/2, and the kernels end between
// them, at odd multiples of pi/4.
static void test_multiples_of_pi(void** state) {
  (void)state;
  double worst[2] = {0};
  for (int k = 1; k * (acos(-1.0) / 4) < PAWL_SINE_LIMIT; k++) {
    double x = (double)(k * (acosl(-1.0L) / 4));
    check_turn(nextafter(x, 0.0), worst);
    check_turn(x, worst);
    check_turn(nextafter(x, INFINITY), worst);
  }
}

static void test_ends_of_the_exponential(void** state) {
  (void)state;
  double worst = 0.0;
  for (int n = -1021; n <= 1021; n++) {
    double x = (double)((n + 0.5L) * logl(2.0L));
    if (fabs(x) <= PAWL_EXPONENT_LIMIT) {
      check_error("exp", x, pawl_exp(x), expl(x), &worst);
    }
  }
}
#else
static void check_near_libm(double x) {
  CHECK_NEAR(pawl_sin(x), sin(x), 2 * DBL_EPSILON);
  CHECK_NEAR(pawl_cos(x), cos(x), 2 * DBL_EPSILON);
}

static void test_error(void** state) {
  (void)state;
  Random r = {8};
  for (int k = 0; k < 1000000; k++) {
    check_near_libm(random_between(&r, -PAWL_SINE_LIMIT, PAWL_SINE_LIMIT));
    double x = random_between(&r, -PAWL_EXPONENT_LIMIT, PAWL_EXPONENT_LIMIT);
    CHECK_NEAR(pawl_exp(x) / exp(x), 1.0, 2 * DBL_EPSILON);
  }
}

static void test_multiples_of_pi(void** state) {
  (void)state;
  for (int k = 1; k * (acos(-1.0) / 4) < PAWL_SINE_LIMIT; k++) {
    check_near_libm(k * (acos(-1.0) / 4));
  }
}

static void test_ends_of_the_exponential(void** state) {
  (void)state;
}
#endif

// ---- exact --------------------------------------------------------------------------------------
static void test_symmetry(void** state) {
  (void)state;
  Random r = {4};
  for (int k = 0; k < 100000; k++) {
    double x = random_argument(&r);
    assert_true(same_bits(pawl_sin(-x), -pawl_sin(x)));
    assert_true(same_bits(pawl_cos(-x), pawl_cos(x)));
  }
}

static void test_small_arguments(void** state) {
  (void)state;
  assert_true(same_bits(pawl_sin(0.0), 0.0));
  assert_true(same_bits(pawl_sin(-0.0), -0.0));
  assert_true(pawl_cos(0.0) == 1.0 && pawl_exp(0.0) == 1.0 && pawl_exp(-0.0) == 1.0);
  for (double x = 0x1p-27; x > 0.0; x *= 0.5) {
    assert_true(same_bits(pawl_sin(x), x));
    assert_true(pawl_cos(x) == 1.0);
    assert_true(x > 0x1p-54 || pawl_exp(x) == 1.0);
  }
}

// Beyond the limits the library of the machine answers.
static void test_beyond(void** state) {
  (void)state;
  static const double far[] = {100000.5, -1e6, 1e22, DBL_MAX};
  for (int k = 0; k < 4; k++) {
    assert_true(pawl_sin(far[k]) == sin(far[k]) && pawl_cos(far[k]) == cos(far[k]));
  }
  assert_true(isnan(pawl_sin(INFINITY)) && isnan(pawl_cos(-INFINITY)));
  assert_true(isnan(pawl_sin(NAN)) && isnan(pawl_cos(NAN)) && isnan(pawl_exp(NAN)));
  assert_true(pawl_exp(INFINITY) == INFINITY && same_bits(pawl_exp(-INFINITY), 0.0));
  assert_true(pawl_exp(709.0) == exp(709.0) && pawl_exp(-745.0) == exp(-745.0));
  assert_true(pawl_exp(710.0) == INFINITY && pawl_exp(-746.0) == 0.0);
}

// Recorded: a compiler or a machine that rounds otherwise shows here.
static void test_recorded_bits(void** state) {
  (void)state;
  uint64_t sum = 0;
  for (int k = 0; k < 100000; k++) {
    double values[3] = {pawl_sin(k * 0.97), pawl_cos(k * 0.97), pawl_exp(k * 0.007 - 350.0)};
    for (int j = 0; j < 3; j++) {
      uint64_t bits;
      memcpy(&bits, &values[j], sizeof bits);
      sum = (sum ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
    }
  }
  if (sum != UINT64_C(0x77E3AC6904429D6E)) {
    fail_msg("other bits: 0x%016llX", (unsigned long long)sum);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lanes),
      cmocka_unit_test(test_four),
      cmocka_unit_test(test_error),
      cmocka_unit_test(test_multiples_of_pi),
      cmocka_unit_test(test_ends_of_the_exponential),
      cmocka_unit_test(test_symmetry),
      cmocka_unit_test(test_small_arguments),
      cmocka_unit_test(test_beyond),
      cmocka_unit_test(test_recorded_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
