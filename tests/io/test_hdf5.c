// SPDX-License-Identifier: Apache-2.0
// Files are read back with the HDF5 library itself.
#include <sys/wait.h>
#include <time.h>

#include "record.h"

#ifndef PAWL_WITH_HDF5

static void test_says_that_it_is_missing(void** state) {
  PawlRecorder* recorder = track_record(3);
  PawlError err = {0};
  assert_false(pawl_has_hdf5());
  assert_int_equal(pawl_write_hdf5(recorder, in_folder(*state, "a.h5"), &err), PAWL_ERROR_USAGE);
  assert_non_null(strstr(err.message, "without HDF5"));
  pawl_recorder_destroy(recorder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_says_that_it_is_missing),
                                     cmocka_unit_test(test_nothing_left_behind)};
  return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}

#else

#include <hdf5.h>

static hid_t open_file(const char* path) {
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  return file;
}

static void check_attribute(hid_t object, const char* name, const char* expected) {
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  assert_true(attribute >= 0);
  hid_t type = H5Aget_type(attribute);
  assert_true(H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0);
  assert_true(H5Tget_cset(type) == H5T_CSET_UTF8);
  char* value = calloc(H5Tget_size(type) + 1, 1);
  assert_true(H5Aread(attribute, type, value) >= 0);
  assert_string_equal(value, expected);
  free(value);
  H5Tclose(type);
  H5Aclose(attribute);
}

// Reads a dataset of doubles; its size must be `count`.
static double* read_numbers(hid_t dataset, hssize_t count) {
  hid_t space = H5Dget_space(dataset);
  assert_int_equal(H5Sget_simple_extent_npoints(space), count);
  double* values = calloc((size_t)count + 1, sizeof *values);
  assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Sclose(space);
  return values;
}

static double* numbers_at(hid_t file, const char* path, hssize_t count) {
  hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
  assert_true(dataset >= 0);
  double* values = read_numbers(dataset, count);
  H5Dclose(dataset);
  return values;
}

static void check_column(hid_t file, const PawlRecorder* recorder, int column, const char* path) {
  const PawlColumn* info = pawl_recorder_column(recorder, column);
  int samples = pawl_recorder_sample_count(recorder);
  hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
  assert_true(dataset >= 0);
  check_attribute(dataset, "name", info->name);
  check_attribute(dataset, "unit", info->unit);
  double* values = read_numbers(dataset, samples);
  for (int i = 0; i < samples; i++) {
    assert_true(values[i] == pawl_recorder_sample(recorder, i)[column]);  // exact
  }
  free(values);
  H5Dclose(dataset);
}

static void check_string(hid_t file, const char* path, int index, const char* expected) {
  hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
  hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
  size_t size = H5Tget_size(type);
  char* values = calloc((size_t)H5Sget_simple_extent_npoints(space), size);
  assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  assert_string_equal(values + (size_t)index * size, expected);
  free(values);
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(dataset);
}

static void test_samples_and_facts(void** state) {
  const char* path = in_folder(*state, "a.h5");
  PawlRecorder* recorder = track_record(40000);  // more than two tiles
  assert_true(pawl_has_hdf5());
  assert_int_equal(pawl_write_hdf5(recorder, path, NULL), PAWL_OK);
  hid_t file = open_file(path);
  check_attribute(file, "model", "kinked-track");
  check_attribute(file, "step", "0.002");
  check_column(file, recorder, 0, "/samples/t");
  check_column(file, recorder, 3, "/samples/x'");
  check_column(file, recorder, 5, "/samples/lambda(track,1)");
  check_column(file, recorder, 7, "/samples/a|b");  // its attribute keeps "a/b"
  hid_t dataset = H5Dopen2(file, "/samples/kinetic", H5P_DEFAULT);
  check_attribute(dataset, "kind", "energy");
  H5Dclose(dataset);
  H5Fclose(file);
  unlink(path);
  pawl_recorder_destroy(recorder);
}

static void test_events(void** state) {
  const char* path = in_folder(*state, "a.h5");
  PawlRecorder* recorder = track_record(3);
  const double numbers[] = {7.0, 8.0, 9.0};
  PawlEvent event = {4.0, "brake \u03b1", "", "locked for good", -1.0, 3, numbers, 0, NULL, NULL};
  assert_int_equal(pawl_recorder_add_event(recorder, &event, NULL), PAWL_OK);
  assert_int_equal(pawl_write_hdf5(recorder, path, NULL), PAWL_OK);
  hid_t file = open_file(path);
  double* t = numbers_at(file, "/events/t", 2);
  double* lost = numbers_at(file, "/events/energy_lost", 2);
  double* impulse = numbers_at(file, "/events/impulse", 6);
  double* after = numbers_at(file, "/events/v_after", 4);
  assert_true(t[0] == 3.0 && t[1] == 4.0 && lost[0] == 0.25 && lost[1] == -1.0);
  assert_true(impulse[0] == 0.25 && isnan(impulse[1]) && isnan(impulse[2]) && impulse[5] == 9.0);
  assert_true(after[0] == 0.5 && isnan(after[2]) && isnan(after[3]));
  check_string(file, "/events/constraint", 0, "track");
  check_string(file, "/events/constraint", 1, "brake \u03b1");
  check_string(file, "/events/from", 1, "");
  check_string(file, "/events/to", 1, "locked for good");
  free(after);
  free(impulse);
  free(lost);
  free(t);
  H5Fclose(file);
  unlink(path);
  pawl_recorder_destroy(recorder);
}

// Names that HDF5 would misread or that meet after the change of '/', and more than a tile of them.
static void test_awkward_names(void** state) {
  const char* path = in_folder(*state, "a.h5");
  enum { COUNT = 70 };
  PawlColumn columns[COUNT] = {
      {"a/b", "", PAWL_COLUMN_OUTPUT}, {"a|b", "", PAWL_COLUMN_OUTPUT},
      {".", "", PAWL_COLUMN_OUTPUT},   {"", "", PAWL_COLUMN_OUTPUT},
      {"a/b", "", PAWL_COLUMN_OUTPUT}, {"\u03c6 [1]", "", PAWL_COLUMN_RATE}};
  char names[COUNT][16];
  for (int i = 6; i < COUNT; i++) {
    snprintf(names[i], sizeof names[i], "u[%d]", i);
    columns[i] = (PawlColumn){names[i], "m", PAWL_COLUMN_COORDINATE};
  }
  PawlRecorder* recorder = new_record(COUNT, columns);
  double values[COUNT];
  for (int i = 0; i < COUNT; i++) {
    values[i] = i;
  }
  add_sample(recorder, values);
  assert_int_equal(pawl_write_hdf5(recorder, path, NULL), PAWL_OK);
  hid_t file = open_file(path);
  check_column(file, recorder, 0, "/samples/a|b");
  check_column(file, recorder, 1, "/samples/a|b~2");
  check_column(file, recorder, 2, "/samples/_");
  check_column(file, recorder, 3, "/samples/_~2");
  check_column(file, recorder, 4, "/samples/a|b~3");
  check_column(file, recorder, 5, "/samples/\u03c6 [1]");
  check_column(file, recorder, 69, "/samples/u[69]");
  H5Fclose(file);
  unlink(path);
  pawl_recorder_destroy(recorder);
}

static void test_empty_and_long(void** state) {
  const char* path = in_folder(*state, "a.h5");
  const PawlColumn column = {"t", "s", PAWL_COLUMN_TIME};
  PawlRecorder* recorder = new_record(1, &column);
  char* text = calloc(100001, 1);  // beyond the 64 kB of an attribute in the first format
  memset(text, 'm', 100000);
  assert_int_equal(pawl_recorder_add_fact(recorder, "text", text, NULL), PAWL_OK);
  assert_int_equal(pawl_recorder_add_fact(recorder, "none", "", NULL), PAWL_OK);
  assert_int_equal(pawl_write_hdf5(recorder, path, NULL), PAWL_OK);
  hid_t file = open_file(path);
  check_attribute(file, "text", text);
  check_attribute(file, "none", "");
  check_column(file, recorder, 0, "/samples/t");
  free(numbers_at(file, "/events/v_before", 0));
  H5Fclose(file);
  free(text);
  unlink(path);
  pawl_recorder_destroy(recorder);
}

static herr_t users_handler(hid_t stack, void* data) {
  (void)stack;
  ++*(int*)data;
  return 0;
}

// A failure says why, and the user's own error handler is neither called nor lost.
static void test_failures(void** state) {
  Folder* folder = *state;
  PawlRecorder* recorder = track_record(5000);
  PawlError err = {0};
  int calls = 0;
  H5Eset_auto2(H5E_DEFAULT, users_handler, &calls);
  const char* path = in_folder(folder, "missing/a.h5");
  assert_int_equal(pawl_write_hdf5(recorder, path, &err), PAWL_ERROR_FILE);
  assert_non_null(strstr(err.message, path));
  assert_int_equal(pawl_write_hdf5(recorder, "/dev/null", &err), PAWL_OK);
  check_full_disk(folder, recorder, pawl_write_hdf5);
  assert_int_equal(calls, 0);
  H5E_auto2_t handler = NULL;
  void* data = NULL;
  H5Eget_auto2(H5E_DEFAULT, &handler, &data);
  assert_true(handler == users_handler && data == &calls);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  pawl_recorder_destroy(recorder);
}

static void test_allocation_failures(void** state) {
  check_allocation_failures(*state, pawl_write_hdf5);
}

// A child writes, waits until a flush is due, writes once more and is killed: what it wrote until
// the flush can be read, though nobody closed the file.
static void test_killed(void** state) {
  const char* path = in_folder(*state, "a.h5");
  char part[160];
  int ready[2];
  snprintf(part, sizeof part, "%s.part", path);
  assert_int_equal(pipe(ready), 0);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    PawlRecorder* recorder = track_record(10000);
    PawlWriter* writer = NULL;
    PawlStatus status = pawl_writer_create(PAWL_FORMAT_HDF5, path, NULL, &writer, NULL);
    for (int i = 0; i < 10000 && status == PAWL_OK; i++) {
      if (i == 9000) {
        nanosleep(&(struct timespec){1, 100000000}, NULL);
      }
      status = pawl_writer_add(writer, recorder, pawl_recorder_sample(recorder, i), NULL);
    }
    (void)!write(ready[1], status == PAWL_OK ? "x" : "-", 1);
    pause();
  }
  char byte = 0;
  assert_int_equal(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  close(ready[0]);
  close(ready[1]);
  assert_true(byte == 'x');
  hid_t file = open_file(part);
  check_attribute(file, "model", "kinked-track");
  double* t = numbers_at(file, "/samples/t", 9001);
  for (int i = 0; i < 9001; i++) {
    assert_true(t[i] == 0.1 * i);
  }
  free(t);
  H5Fclose(file);
  unlink(part);
}

// Numbers of the run, its options and parameters, are doubles where they are numbers.
static void test_options_and_parameters(void** state) {
  const char* path = in_folder(*state, "a.h5");
  PawlRecorder* recorder = track_record(3);
  assert_int_equal(pawl_recorder_add_fact(recorder, "options/form", "index-1", NULL), PAWL_OK);
  assert_int_equal(pawl_recorder_add_number(recorder, "options/rho", 0.9, NULL), PAWL_OK);
  assert_int_equal(pawl_recorder_add_number(recorder, "parameters/m", 1.0 / 3.0, NULL), PAWL_OK);
  assert_int_equal(pawl_write_hdf5(recorder, path, NULL), PAWL_OK);
  hid_t file = open_file(path);
  hid_t options = H5Gopen2(file, "/options", H5P_DEFAULT);
  check_attribute(options, "form", "index-1");
  H5Gclose(options);
  double value = 0.0;
  hid_t attribute = H5Aopen_by_name(file, "/parameters", "m", H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) >= 0);
  assert_true(value == 1.0 / 3.0);
  H5Aclose(attribute);
  H5Fclose(file);
  unlink(path);
  pawl_recorder_destroy(recorder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_samples_and_facts),
      cmocka_unit_test(test_killed),
      cmocka_unit_test(test_options_and_parameters),
      cmocka_unit_test(test_events),
      cmocka_unit_test(test_awkward_names),
      cmocka_unit_test(test_empty_and_long),
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_allocation_failures),
      cmocka_unit_test(test_nothing_left_behind),
  };
  return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}

#endif
