// SPDX-License-Identifier: Apache-2.0
// Decimals of doubles: they read back to the same bits, none shorter does, and none as short is
// nearer. Compared with the C library, which is slow but sure.
#include <float.h>

#include "io/decimal.h"
#include "record.h"

static PawlDecimals powers;

static const char* print(double value) {
  static char text[PAWL_DECIMAL_LENGTH + 1];
  int length = pawl_decimal_print(&powers, value, text);
  assert_true(length > 0 && length <= 24);
  text[length] = '\0';
  return text;
}

static double from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t to_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static void check_reads_back(double value) {
  const char* text = print(value);
  if (to_bits(strtod(text, NULL)) != to_bits(value)) {
    fail_msg("%a was written as %s", value, text);
  }
}

// The significant digits of a number without the zeros at its end.
static int digit_count(const char* text) {
  int count = 0, zeros = 0;
  for (; *text && *text != 'e'; text++) {
    if (*text >= '0' && *text <= '9' && (count > 0 || *text != '0')) {
      count++;
      zeros = *text == '0' ? zeros + 1 : 0;
    }
  }
  return count - zeros;
}

// %.*e with as many digits is the nearest of that length; with one less it does not read back.
static void check_shortest(double value) {
  char text[PAWL_DECIMAL_LENGTH + 1], other[40];
  strcpy(text, print(value));
  int digits = digit_count(text);
  snprintf(other, sizeof other, "%.*e", digits - 1, value);
  if (strtod(other, NULL) == value && strtod(text, NULL) != strtod(other, NULL)) {
    fail_msg("%a was written as %s, nearer is %s", value, text, other);
  }
  if (digits > 1) {
    snprintf(other, sizeof other, "%.*e", digits - 2, value);
    if (strtod(other, NULL) == value) {
      fail_msg("%a was written as %s, shorter is %s", value, text, other);
    }
  }
}

static uint64_t next_random(uint64_t* seed) {  // splitmix64
  uint64_t z = *seed += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static void test_a_million_random_bit_patterns(void** state) {
  (void)state;
  uint64_t seed = 7;
  for (int i = 0; i < 1000000; i++) {
    double value = from_bits(next_random(&seed));
    if (isfinite(value)) {
      check_reads_back(value);
      if (i % 8 == 0) {
        check_shortest(value);
      }
    }
  }
}

// Numbers of the sizes that runs have, and short decimals, where shortness matters.
static void test_numbers_of_runs(void** state) {
  (void)state;
  uint64_t seed = 11;
  for (int i = 0; i < 200000; i++) {
    double unit = (double)(next_random(&seed) >> 11) * 0x1p-53;
    check_reads_back(ldexp(unit - 0.5, (int)(next_random(&seed) % 40) - 20));
    check_shortest(100.0 * unit);
    check_shortest((double)(next_random(&seed) % 1000000) * 1e-3);
  }
}

// Whole numbers, and quotients of powers of two: their intervals end, and ties lie, at decimals.
static void test_ends_and_ties(void** state) {
  (void)state;
  uint64_t seed = 13;
  for (int i = 0; i < 200000; i++) {
    uint64_t whole = next_random(&seed) >> (next_random(&seed) % 64);
    check_reads_back((double)whole);
    check_shortest((double)whole);
    check_shortest(ldexp((double)(whole % 100000 + 1), -(int)(next_random(&seed) % 30)));
  }
}

// The smallest doubles have one to four digits, and none is a zero at the end.
static void test_smallest(void** state) {
  (void)state;
  for (uint64_t bits = 1; bits < 3000; bits++) {
    check_shortest(from_bits(bits));
    const char* text = print(from_bits(bits));
    const char* e = strchr(text, 'e');
    assert_true(e && (e == text + 1 || e[-1] != '0'));
  }
}

// Every power of two and its neighbours: there the interval is not symmetric.
static void test_powers_of_two(void** state) {
  (void)state;
  for (int e = -1074; e <= 1023; e++) {
    double x = ldexp(1.0, e);
    const double values[] = {x, nextafter(x, 0.0), nextafter(x, INFINITY), 3.0 * x};
    for (int i = 0; i < 4; i++) {
      if (isfinite(values[i]) && values[i] > 0.0) {
        check_reads_back(values[i]);
        check_reads_back(-values[i]);
        check_shortest(values[i]);
      }
    }
  }
}

static void test_powers_of_ten(void** state) {
  (void)state;
  for (int e = -323; e <= 308; e++) {
    char text[16];
    snprintf(text, sizeof text, "1e%d", e);
    double x = strtod(text, NULL);
    assert_true(digit_count(print(x)) == 1);
    check_reads_back(x);
    check_reads_back(nextafter(x, 0.0));
    check_reads_back(nextafter(x, INFINITY));
  }
}

static void test_form(void** state) {
  (void)state;
  const struct {
    double value;
    const char* text;
  } cases[] = {{0.0, "0"},
               {-0.0, "-0"},
               {1.0, "1"},
               {-10.0, "-10"},
               {0.1, "0.1"},
               {123456.789, "123456.789"},
               {0.0001, "0.0001"},
               {0.00012345, "0.00012345"},
               {0.00001, "1e-05"},
               {1.5e-7, "1.5e-07"},
               {1e14, "100000000000000"},
               {1e15, "1e+15"},
               {1234567890123456.0, "1234567890123456"},
               {12345678901234568.0, "12345678901234568"},
               {1e22, "1e+22"},
               {9007199254740993.0, "9007199254740992"},
               {2.0 / 3.0, "0.6666666666666666"},
               {DBL_MAX, "1.7976931348623157e+308"},
               {DBL_MIN, "2.2250738585072014e-308"},
               {5e-324, "5e-324"},
               {NAN, "nan"},
               {-NAN, "nan"},
               {INFINITY, "inf"},
               {-INFINITY, "-inf"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_string_equal(print(cases[i].value), cases[i].text);
  }
}

// A line of a file: commas between, nothing where there is no number.
static void test_row(void** state) {
  (void)state;
  const double values[] = {NAN, 0.25, -0.0, 0.0, -NAN, 0.3, 1e-7, INFINITY};
  char line[8 * (PAWL_DECIMAL_LENGTH + 1) + 1];
  line[pawl_decimal_row(&powers, 8, values, line)] = '\0';
  assert_string_equal(line, ",0.25,-0,0,,0.3,1e-07,inf\n");
  assert_int_equal(pawl_decimal_row(&powers, 1, values, line), 1);
  assert_int_equal(pawl_decimal_row(&powers, 0, values, line), 1);
  assert_true(line[0] == '\n');
}

int main(void) {
  pawl_decimals_fill(&powers);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_form),
      cmocka_unit_test(test_row),
      cmocka_unit_test(test_ends_and_ties),
      cmocka_unit_test(test_smallest),
      cmocka_unit_test(test_powers_of_two),
      cmocka_unit_test(test_powers_of_ten),
      cmocka_unit_test(test_numbers_of_runs),
      cmocka_unit_test(test_a_million_random_bit_patterns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
