// SPDX-License-Identifier: Apache-2.0
// `tables:` files and points, and what is said about wrong ones.
#include <stdio.h>
#include <stdlib.h>

#include "model/table_file.h"
#include "reading.h"

#define FILE_NAME "test_tables.csv"

static void write_file(const char* text) {
  FILE* file = fopen(FILE_NAME, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
  fclose(file);
}

static PawlModel* read_with(const char* options, const char* potential) {
  char text[800];
  snprintf(text, sizeof text,
           "model: m\nparameters: {a: 2}\ncoordinates: {x: , y: }\ntables:\n  f: {%s}\n"
           "potential: %s\n",
           options, potential);
  return read_model(text);
}

// x = 1, y = 1.1, see reading.h.
static void check(const char* options, const char* potential, double value) {
  PawlModel* model = read_with(options, potential);
  CHECK_NEAR(node_value(model, model->terms[0].node), value, 1e-13);
  pawl_model_destroy(model);
}

static void test_points(void** state) {
  (void)state;
  check("points: [[0, 1], [a, 3]]", "f(y)", 2.1);
  check("points: [[0, 1], [a, 3]]", "f'(y)", 1.0);
  check("points: [[0, 1], [a, 3]]", "f''(y)", 0.0);
  check("points: [[0, 1], [1, 3], [4, 0]], method: cubic, outside: extend", "f(0*x)", 1.0);
  check("points: [[0, 1], [1, 3], [4, 0]], outside: hold", "f(9*x)", 0.0);
  check("points: [[0, 1], [2, 3], [4, 1]], outside: periodic", "f(5*x)", 2.0);
  check("points: [[0, 0, 1], [0, 2, 5], [2, 0, 3], [2, 2, 7]]", "f(x, y)", 1 + 1 + 2 * 1.1);
}

static void test_files(void** state) {
  (void)state;
#define AS "file: " FILE_NAME
  write_file("s [m],z\n0,1\n# a remark\n\n2,3\r\n");
  check(AS ", x: s, y: z", "f(y)", 2.1);
  check(AS ", x: 1, y: 2", "f(y)", 2.1);
  check(AS, "f(y)", 2.1);
  write_file("a;b;\"c d\"\n7;1e0;-0.0\n8;3.0E+0;2\n");
  check(AS ", x: b, y: c d", "f(y)", 0.1);
  write_file("\xEF\xBB\xBF  0   1 \n\t2\t 3");
  check(AS, "f(y)", 2.1);
  write_file("x\ty\tz\n0\t0\t1\n0\t2\t5\n2\t2\t7\n2\t0\t3\n");
  check(AS ", x: x, y: y, z: z", "f(x, y)", 1 + 1 + 2 * 1.1);
  remove(FILE_NAME);
}

#define WRONG(options, ...)                                                               \
  REFUSED("model: m\ncoordinates: {x: }\ntables:\n  f: {" options "}\npotential: f(x)\n", \
          __VA_ARGS__)

static void test_wrong_files(void** state) {
  (void)state;
  write_file("s,z\n0,1\n1,2\n1,3\n");
  WRONG(AS ", x: s, y: z", "m.yaml:4:13: test_tables.csv, line 4: x = 1 after 1", "ascending");
  WRONG(AS ", x: s, y: h", "test_tables.csv:1: there is no column 'h'; there are s, z");
  WRONG(AS ", x: 3", "there is no column '3'");
  write_file("0,1\n1,2,3\n");
  WRONG(AS, "test_tables.csv:2: the row has 3 fields, those before 2");
  WRONG(AS ", x: s", "there is no column 's'; the first row has no names, so columns are 1 to 2");
  write_file("s,z\n0,1\n1,nan\n");
  WRONG(AS, "test_tables.csv:3: 'nan' in column '2' is not a finite number");
  write_file("s,z\n0,1\n1,\n");
  WRONG(AS, "test_tables.csv:3: '' in column '2' is not a finite number");
  write_file("s,z\n0,1\n1,1e999\n");
  WRONG(AS, "test_tables.csv:3: '1e999' in column '2' is not a finite number");
  write_file("s,z\n0,1\n");
  WRONG(AS, "1 point; a table needs at least 2");
  write_file("# nothing\n");
  WRONG(AS, "test_tables.csv: there are no rows in it");
  write_file("0,1\n1,2\n");
  WRONG(AS ", outside: periodic", "must end with the value that it begins with: 1 and 2");
  WRONG("file: none.csv", "m.yaml:4:13: none.csv: No such file or directory");
  remove(FILE_NAME);
}

static void test_wrong_tables(void** state) {
  (void)state;
#define LINE "points: [[0, 1], [2, 3]]"
  WRONG(LINE ", methode: linear", "unknown key 'methode' in a table", "did you mean 'method'?");
  WRONG(LINE ", method: cubik", "method 'cubik': expected linear, cubic, monotone");
  WRONG(LINE ", outside: clip", "outside 'clip': expected hold, extend, error, periodic");
  WRONG("method: linear", "a table needs file: or points:");
  WRONG(LINE ", file: a.csv", "not both");
  WRONG("points: [[0, 1], [2]]", "expected a point, [x, y]");
  WRONG("points: [0, 1]", "expected a list of points");
  WRONG("points: [[0, 1], [0, 3]]", "line 4: x = 0 after 0");
  WRONG("points: [[0, 0, 1], [0, 2, 5], [2, 0, 3]]", "no grid: there is none at 2, 2");
  WRONG("points: [[0, 0, 1], [0, 2, 5], [2, 0, 3], [2, 2, 3]], method: monotone",
        "method: monotone is for tables of one argument");
#define HEAD "model: m\ncoordinates: {x: }\n"
  REFUSED(HEAD "tables: {sin: {" LINE "}}\n", "'sin' is a function of the language");
  REFUSED(HEAD "tables: {f: {" LINE "}}\nfunctions: {f(x): x}\n", "'f' is already a function");
  REFUSED(HEAD "tables: {f: {" LINE "}}\npotential: f(x, x)\n",
          "the table 'f' takes 1 argument, 2 given");
  REFUSED(HEAD "tables: {f: {" LINE "}}\npotential: f''''(x)\n", "at most 3 primes");
  REFUSED(HEAD "tables: {road: {" LINE "}}\npotential: raod(x)\n", "did you mean road?");
}

// Numbers as the C library reads them.
static void test_numbers(void** state) {
  (void)state;
  uint64_t seed = 1;
  for (int k = 0; k < 20000; k++) {
    char text[64];
    uint64_t bits = 0;
    double value, expected;
    for (int i = 0; i < 3; i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      bits = bits << 22 ^ seed >> 33;
    }
    snprintf(text, sizeof text, k % 3 == 0 ? "%.*g" : "%.*f", (int)(bits % 19),
             (double)(int64_t)bits * (k % 2 == 0 ? 1e-19 : 1e-12));
    expected = strtod(text, NULL);
    assert_true(pawl_read_number(text, strlen(text), &value));
    assert_true(value == expected);
  }
  static const char* const wrong[] = {"",   "-",   ".",    "1.2.3", "e5",
                                      "1e", "1e+", "0x10", "inf",   "1 2"};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    double value;
    assert_false(pawl_read_number(wrong[k], strlen(wrong[k]), &value));
  }
}

// A part with a table: the name gets the prefix, columns do not.
static void test_table_of_an_element(void** state) {
  (void)state;
  PawlModel* model = read_model(
      "model: m\nelements:\n  spring:\n    parameters: {k: 2}\n    coordinates: {x: }\n"
      "    tables: {law: {points: [[0, 0], [k, 4*k]]}}\n    potential: law(x)\n"
      "use: {left: {element: spring, k: 3}}\n");
  assert_string_equal(pawl_table_name(model->tables.item[0]), "left_law");
  CHECK_NEAR(node_value(model, model->terms[0].node), 4.0, 1e-15);
  pawl_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_points),      cmocka_unit_test(test_files),
      cmocka_unit_test(test_wrong_files), cmocka_unit_test(test_wrong_tables),
      cmocka_unit_test(test_numbers),     cmocka_unit_test(test_table_of_an_element),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
