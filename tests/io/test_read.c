// SPDX-License-Identifier: Apache-2.0
// Trajectories read back: what was written is what is there, in windows and with bounded memory.
#include "io/plot.h"
#include "record.h"

static PawlRecorder* read_back(const char* path, double from, double to, int most) {
  PawlRecorder* run = NULL;
  PawlError err = {0};
  PawlStatus status = pawl_run_read(path, from, to, most, &run, &err);
  assert_string_equal(err.message, "");
  assert_int_equal(status, PAWL_OK);
  return run;
}

static void check_columns(const PawlRecorder* a, const PawlRecorder* b, bool units) {
  assert_int_equal(pawl_recorder_column_count(a), pawl_recorder_column_count(b));
  for (int j = 0; j < pawl_recorder_column_count(a); j++) {
    const PawlColumn *x = pawl_recorder_column(a, j), *y = pawl_recorder_column(b, j);
    assert_string_equal(x->name, y->name);
    assert_int_equal(x->kind, y->kind);
    if (units) {
      assert_string_equal(x->unit, y->unit);
    }
  }
}

static void check_samples(const PawlRecorder* a, const PawlRecorder* b, int first) {
  for (int i = 0; i < pawl_recorder_sample_count(b); i++) {
    for (int j = 0; j < pawl_recorder_column_count(a); j++) {
      double x = pawl_recorder_sample(a, first + i)[j], y = pawl_recorder_sample(b, i)[j];
      assert_true(x == y || (isnan(x) && isnan(y)));  // every bit
    }
  }
}

static void test_csv(void** state) {
  PawlRecorder* written = track_record(50);
  const char* path = in_folder(*state, "run.csv");
  assert_int_equal(pawl_write_csv(written, path, NULL), PAWL_OK);
  PawlRecorder* run = read_back(path, -INFINITY, INFINITY, 1000);
  check_columns(written, run, false);
  assert_int_equal(pawl_recorder_sample_count(run), 50);
  check_samples(written, run, 0);
  assert_false(pawl_plot_units_known(run));
  pawl_run_free(run);
  // The sample before the window and the one behind it are there.
  run = read_back(path, 1.05, 2.05, 1000);
  assert_int_equal(pawl_recorder_sample_count(run), 12);
  check_samples(written, run, 10);
  pawl_run_free(run);
  unlink(path);
  pawl_recorder_destroy(written);
}

static void test_hdf5(void** state) {
  if (!pawl_has_hdf5()) {
    skip();
  }
  PawlRecorder* written = track_record(5000);
  assert_int_equal(pawl_recorder_add_number(written, "parameters/m", 0.1, NULL), PAWL_OK);
  const char* path = in_folder(*state, "run.h5");
  assert_int_equal(pawl_write_hdf5(written, path, NULL), PAWL_OK);
  PawlRecorder* run = read_back(path, -INFINITY, INFINITY, 100000);
  check_columns(written, run, true);
  assert_int_equal(pawl_recorder_sample_count(run), 5000);
  check_samples(written, run, 0);
  assert_true(pawl_plot_units_known(run));
  assert_int_equal(pawl_recorder_event_count(run), 1);
  const PawlEvent* event = pawl_recorder_event(run, 0);
  assert_string_equal(event->constraint, "track");
  assert_string_equal(event->from, "flat");
  assert_string_equal(event->to, "ramp");
  assert_true(event->t == 3.0 && event->energy_lost == 0.25);
  int found = 0;
  for (int k = 0; pawl_recorder_fact_name(run, k); k++) {
    double number = 0.0;
    found += strcmp(pawl_recorder_fact_name(run, k), "parameters/m") == 0 &&
             pawl_recorder_fact_number(run, k, &number) && number == 0.1;
    found += strcmp(pawl_recorder_fact_name(run, k), "model") == 0 &&
             strcmp(pawl_recorder_fact_value(run, k), "kinked-track") == 0;
  }
  assert_int_equal(found, 2);
  pawl_run_free(run);
  run = read_back(path, -INFINITY, INFINITY, 1000);
  assert_true(pawl_recorder_sample_count(run) <= 1000);
  pawl_run_free(run);
  unlink(path);
  pawl_recorder_destroy(written);
}

// A file that is still written ends anywhere; an empty cell has no value.
static void test_part(void** state) {
  const char* path = in_folder(*state, "run.csv.part");
  put_file(path, "t,\"lambda(pin,1)\",\"a\"\"b\"\r\n0,,1.5e-3\r\n1,2,3\r\n2,4");
  PawlRecorder* run = read_back(path, -INFINITY, INFINITY, 100);
  assert_int_equal(pawl_recorder_sample_count(run), 2);
  assert_string_equal(pawl_recorder_column(run, 1)->name, "lambda(pin,1)");
  assert_int_equal(pawl_recorder_column(run, 1)->kind, PAWL_COLUMN_MULTIPLIER);
  assert_string_equal(pawl_recorder_column(run, 2)->name, "a\"b");
  assert_true(isnan(pawl_recorder_sample(run, 0)[1]));
  assert_true(pawl_recorder_sample(run, 0)[2] == 1.5e-3);
  pawl_run_free(run);
  unlink(path);
}

static void check_refused(Folder* folder, const char* name, const char* content, const char* says) {
  PawlRecorder* run = NULL;
  PawlError err = {0};
  const char* path = in_folder(folder, name);
  if (content) {
    put_file(path, content);
  }
  assert_true(pawl_run_read(path, -INFINITY, INFINITY, 100, &run, &err) != PAWL_OK);
  assert_null(run);
  if (!strstr(err.message, says)) {
    fail_msg("'%s' says '%s'", name, err.message);
  }
  unlink(path);
}

static void test_refused(void** state) {
  check_refused(*state, "run.txt", "t\n0\n", "must end in .csv or .h5");
  check_refused(*state, "none.csv", NULL, "No such file");
  check_refused(*state, "run.csv", "", "no header line");
  check_refused(*state, "run.csv", "t,x\n0,1\n1\n", "line 3: 1 cells, and 2 columns");
  check_refused(*state, "run.csv", "t,x\n0,1\n1,one\n", "line 3: 'one' is not a number");
  if (pawl_has_hdf5()) {
    check_refused(*state, "run.h5", "not HDF5", "it is not there or not HDF5");
  }
}

static void check_memory(Folder* folder, const char* name,
                         PawlStatus (*write_it)(const PawlRecorder*, const char*, PawlError*)) {
  PawlRecorder* written = track_record(50);
  const char* path = in_folder(folder, name);
  assert_int_equal(write_it(written, path, NULL), PAWL_OK);
  PawlStatus status = PAWL_ERROR_MEMORY;
  for (int n = 1; status != PAWL_OK; n++) {
    PawlRecorder* run = NULL;
    pawl_alloc_fail_at(n);
    status = pawl_run_read(path, 0.5, 3.0, 100, &run, NULL);
    pawl_alloc_fail_at(0);
    assert_true(status == PAWL_OK || (status == PAWL_ERROR_MEMORY && !run));
    assert_true(n < 1000);
    pawl_run_free(run);
  }
  unlink(path);
  pawl_recorder_destroy(written);
}

static void test_allocation_failures(void** state) {
  check_memory(*state, "run.csv", pawl_write_csv);
  if (pawl_has_hdf5()) {
    check_memory(*state, "run.h5", pawl_write_hdf5);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_csv),
      cmocka_unit_test(test_hdf5),
      cmocka_unit_test(test_part),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_allocation_failures),
      cmocka_unit_test(test_nothing_left_behind),
  };
  return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
