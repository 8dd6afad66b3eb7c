// SPDX-License-Identifier: Apache-2.0
// What every test includes: cmocka, and a comparison of doubles that shows what it compared.
#pragma once

// cmocka.h needs the others before it.
// clang-format off
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
// clang-format on

static inline void check_near(double value, double expected, double tolerance, const char* what,
                              const char* file, int line) {
  double difference = fabs(value - expected);
  if (!(difference <= tolerance)) {  // false for NaN too
    print_error("%s = %.17g, expected %.17g, difference %.3g > %.3g\n", what, value, expected,
                difference, tolerance);
    _fail(file, line);
  }
}

// |value - expected| <= tolerance, and neither is NaN.
#define CHECK_NEAR(value, expected, tolerance) \
  check_near((value), (expected), (tolerance), #value, __FILE__, __LINE__)
