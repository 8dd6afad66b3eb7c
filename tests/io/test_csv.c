// SPDX-License-Identifier: Apache-2.0
#include <float.h>

#include "record.h"

static uint64_t bits(double value) {
  uint64_t result;
  memcpy(&result, &value, sizeof result);
  return result;
}

// Numbers of every size, from a fixed sequence; all bit patterns that are finite.
static double any_number(uint64_t* seed) {
  double value;
  do {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    memcpy(&value, seed, sizeof value);
  } while (!isfinite(value));
  return value;
}

static void test_numbers_read_back(void** state) {
  const char* path = in_folder(*state, "a.csv");
  const double special[] = {0.0,     -0.0,   0.1,  1.0 / 3.0, DBL_MAX,
                            DBL_MIN, 5e-324, 1e22, -123456.0, 2.0 / 3.0 * 1e-5};
  enum { ROWS = 3000, SPECIAL = sizeof special / sizeof *special };
  const PawlColumn columns[] = {{"t", "s", PAWL_COLUMN_TIME}, {"x", "m", PAWL_COLUMN_COORDINATE}};
  PawlRecorder* recorder = new_record(2, columns);
  uint64_t seed = 1;
  for (int i = 0; i < ROWS; i++) {
    double values[] = {i < SPECIAL ? special[i] : 0.001 * i, any_number(&seed)};
    add_sample(recorder, values);
  }
  assert_int_equal(pawl_write_csv(recorder, path, NULL), PAWL_OK);
  char* content = slurp(path, NULL);
  char* next = strchr(content, '\n');
  for (int i = 0; i < ROWS; i++) {
    const double* sample = pawl_recorder_sample(recorder, i);
    assert_true(*next++ == '\n');
    assert_true(bits(strtod(next, &next)) == bits(sample[0]));  // bit for bit, the sign of 0 too
    assert_true(*next++ == ',');
    assert_true(bits(strtod(next, &next)) == bits(sample[1]));
  }
  assert_string_equal(next, "\n");
  free(content);
  unlink(path);
  pawl_recorder_destroy(recorder);
}

static void check_file(const PawlRecorder* recorder, const char* path, const char* expected) {
  assert_int_equal(pawl_write_csv(recorder, path, NULL), PAWL_OK);
  char* content = slurp(path, NULL);
  assert_string_equal(content, expected);
  free(content);
  unlink(path);
}

static void test_short_and_special_numbers(void** state) {
  const PawlColumn columns[] = {{"a", "", PAWL_COLUMN_OUTPUT}, {"b", "", PAWL_COLUMN_OUTPUT}};
  PawlRecorder* recorder = new_record(2, columns);
  add_sample(recorder, (double[]){0.1, 2.0});
  add_sample(recorder, (double[]){NAN, INFINITY});
  add_sample(recorder, (double[]){-NAN, -INFINITY});
  check_file(recorder, in_folder(*state, "a.csv"), "a,b\n0.1,2\n,inf\n,-inf\n");
  pawl_recorder_destroy(recorder);
}

static void test_header_is_quoted(void** state) {
  const PawlColumn columns[] = {{"x'", "", PAWL_COLUMN_RATE},
                                {"lambda(track,2)", "", PAWL_COLUMN_MULTIPLIER},
                                {"say \"a\"", "", PAWL_COLUMN_OUTPUT},
                                {"two\nlines", "", PAWL_COLUMN_OUTPUT},
                                {"u[3]", "", PAWL_COLUMN_COORDINATE}};
  PawlRecorder* recorder = new_record(5, columns);
  check_file(recorder, in_folder(*state, "a.csv"),
             "x',\"lambda(track,2)\",\"say \"\"a\"\"\",\"two\nlines\",u[3]\n");
  pawl_recorder_destroy(recorder);
}

static void test_nothing_recorded(void** state) {
  PawlRecorder* recorder = new_record(0, NULL);
  check_file(recorder, in_folder(*state, "a.csv"), "\n");
  pawl_recorder_destroy(recorder);
}

static void test_failure_keeps_the_old_file(void** state) {
  Folder* folder = *state;
  PawlRecorder* recorder = track_record(100);
  PawlError err = {0};
  put_file(in_folder(folder, "plain"), "old");
  assert_int_equal(pawl_write_csv(recorder, in_folder(folder, "plain/a.csv"), &err),
                   PAWL_ERROR_FILE);
  assert_non_null(strstr(err.message, "plain/a.csv"));
  char* content = slurp(in_folder(folder, "plain"), NULL);
  assert_string_equal(content, "old");
  free(content);
  unlink(in_folder(folder, "plain"));
  if (access("/dev/full", W_OK) == 0) {
    assert_int_equal(pawl_write_csv(recorder, "/dev/full", &err), PAWL_ERROR_FILE);
    assert_non_null(strstr(err.message, "No space left"));
  }
  check_full_disk(folder, recorder, pawl_write_csv);
  pawl_recorder_destroy(recorder);
}

static void test_allocation_failures(void** state) {
  check_allocation_failures(*state, pawl_write_csv);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers_read_back),
      cmocka_unit_test(test_short_and_special_numbers),
      cmocka_unit_test(test_header_is_quoted),
      cmocka_unit_test(test_nothing_recorded),
      cmocka_unit_test(test_failure_keeps_the_old_file),
      cmocka_unit_test(test_allocation_failures),
      cmocka_unit_test(test_nothing_left_behind),
  };
  return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
