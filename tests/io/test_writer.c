// SPDX-License-Identifier: Apache-2.0
// Writing sample by sample: what is chosen, what is there while the writer works, after a kill and
// after a failure, and that memory does not grow.
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "record.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(SANITIZED)
#define SANITIZED true
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

static PawlWriter* new_writer(PawlFormat format, const char* path, const char* columns) {
  PawlWriter* writer = NULL;
  assert_int_equal(pawl_writer_create(format, path, columns, &writer, NULL), PAWL_OK);
  return writer;
}

static bool there(const char* path) {
  return access(path, F_OK) == 0;
}

static const char* part_of(const char* path) {
  static char part[160];
  snprintf(part, sizeof part, "%s.part", path);
  return part;
}

static void add_all(PawlWriter* writer, const PawlRecorder* recorder) {
  for (int i = 0; i < pawl_recorder_sample_count(recorder); i++) {
    assert_int_equal(pawl_writer_add(writer, recorder, pawl_recorder_sample(recorder, i), NULL),
                     PAWL_OK);
  }
}

// A list that names a correction asks for these columns; names that only look like it do not.
static void test_lists_with_corrections(void** unused) {
  (void)unused;
  static const char* const with[] = {"t, nu(pin)", "Lambda", " x,lambda.smooth(pin, 2) "};
  static const char* const without[] = {"t, lambda(pin)", "nut", "nu'", "", "lambda.smoother"};
  for (size_t k = 0; k < sizeof with / sizeof *with; k++) {
    assert_true(pawl_columns_corrections(with[k]));
  }
  for (size_t k = 0; k < sizeof without / sizeof *without; k++) {
    assert_false(pawl_columns_corrections(without[k]));
  }
  assert_false(pawl_columns_corrections(NULL));
}

// The old file is there until the end, and the new one is what is written at once.
static void test_same_as_whole(void** state) {
  char path[128], other[128];
  strcpy(path, in_folder(*state, "a.csv"));
  strcpy(other, in_folder(*state, "b.csv"));
  PawlRecorder* recorder = track_record(3000);
  put_file(path, "old");
  PawlWriter* writer = new_writer(PAWL_FORMAT_CSV, path, NULL);
  assert_false(there(part_of(path)));
  add_all(writer, recorder);
  assert_true(there(part_of(path)));
  char* content = slurp(path, NULL);
  assert_string_equal(content, "old");
  free(content);
  assert_int_equal(pawl_writer_finish(writer, recorder, NULL), PAWL_OK);
  pawl_writer_destroy(writer);
  assert_false(there(part_of(path)));
  assert_int_equal(pawl_write_csv(recorder, other, NULL), PAWL_OK);
  content = slurp(path, NULL);
  char* expected = slurp(other, NULL);
  assert_string_equal(content, expected);
  free(content);
  free(expected);
  unlink(path);
  unlink(other);
  pawl_recorder_destroy(recorder);
}

static void test_without_a_sample_or_an_end(void** state) {
  const char* path = in_folder(*state, "a.csv");
  PawlRecorder* recorder = track_record(3);
  PawlWriter* writer = new_writer(PAWL_FORMAT_CSV, path, NULL);
  assert_int_equal(pawl_writer_finish(writer, recorder, NULL), PAWL_OK);
  pawl_writer_destroy(writer);
  assert_false(there(path));
  writer = new_writer(PAWL_FORMAT_CSV, path, NULL);
  add_all(writer, recorder);
  pawl_writer_destroy(writer);
  assert_false(there(path) || there(part_of(path)));
  pawl_writer_destroy(NULL);
  pawl_recorder_destroy(recorder);
}

static void check_chosen(Folder* folder, const char* columns, const char* expected) {
  const char* path = in_folder(folder, "a.csv");
  const PawlColumn names[] = {{"t", "s", PAWL_COLUMN_TIME},
                              {"u[0]", "m", PAWL_COLUMN_COORDINATE},
                              {"u[1]", "m", PAWL_COLUMN_COORDINATE},
                              {"u[0]'", "m/s", PAWL_COLUMN_RATE},
                              {"u[1]'", "m/s", PAWL_COLUMN_RATE},
                              {"lambda(pin,1)", "", PAWL_COLUMN_MULTIPLIER},
                              {"lambda(pin,2)", "", PAWL_COLUMN_MULTIPLIER}};
  PawlRecorder* recorder = new_record(7, names);
  const double sample[] = {0, 1, 2, 3, 4, 5, 6};
  PawlWriter* writer = new_writer(PAWL_FORMAT_CSV, path, columns);
  PawlError err = {0};
  if (pawl_writer_add(writer, recorder, sample, &err) == PAWL_OK) {
    assert_int_equal(pawl_writer_finish(writer, recorder, NULL), PAWL_OK);
    char* content = slurp(path, NULL);
    assert_string_equal(content, expected);
    free(content);
    unlink(path);
  } else {
    assert_int_equal(err.status, PAWL_ERROR_USAGE);
    assert_string_equal(err.message, expected);
    assert_false(there(path) || there(part_of(path)));
  }
  pawl_writer_destroy(writer);
  pawl_recorder_destroy(recorder);
}

static void test_chosen_columns(void** state) {
  check_chosen(*state, "u[1]', t", "u[1]',t\n4,0\n");
  check_chosen(*state, " t , lambda( pin, 2 )", "t,\"lambda(pin,2)\"\n0,6\n");
  check_chosen(*state, "t,lambda(pin)", "t,\"lambda(pin,1)\",\"lambda(pin,2)\"\n0,5,6\n");
  check_chosen(*state, "u,u'", "u[0],u[1],u[0]',u[1]'\n1,2,3,4\n");
  check_chosen(*state, "t, lambda(pit)",
               "columns: 'lambda(pit)' is not a column of this run; did you mean 'lambda(pin,1)'?");
  check_chosen(*state, "t,,u", "columns: '' is not a column of this run");
}

// A child writes, waits until a flush is due, writes once more and is killed.
static void test_killed(void** state) {
  const char* path = in_folder(*state, "a.csv");
  int ready[2];
  assert_int_equal(pipe(ready), 0);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    PawlRecorder* recorder = track_record(100);
    PawlWriter* writer = new_writer(PAWL_FORMAT_CSV, path, NULL);
    add_all(writer, recorder);
    nanosleep(&(struct timespec){1, 100000000}, NULL);
    add_all(writer, recorder);
    (void)!write(ready[1], "x", 1);
    pause();
  }
  char byte;
  assert_int_equal(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  close(ready[0]);
  close(ready[1]);
  assert_false(there(path));
  char* content = slurp(part_of(path), NULL);
  int lines = 0;
  for (const char* c = content; *c; c++) {
    lines += *c == '\n';
  }
  assert_int_equal(lines, 1 + 101);  // the header, and all up to the sample that was due
  assert_true(content[strlen(content) - 1] == '\n');
  free(content);
  // A later writer does not mind what the killed one left.
  PawlRecorder* recorder = track_record(2);
  PawlWriter* writer = new_writer(PAWL_FORMAT_CSV, path, NULL);
  add_all(writer, recorder);
  assert_int_equal(pawl_writer_finish(writer, recorder, NULL), PAWL_OK);
  pawl_writer_destroy(writer);
  pawl_recorder_destroy(recorder);
  assert_false(there(part_of(path)));
  unlink(path);
}

// A disk that fills up in the middle: what was written stays, and the end says so.
static void test_full_disk_keeps_the_part(void** state) {
  const char* path = in_folder(*state, "a.csv");
  PawlRecorder* recorder = track_record(1000);
  struct rlimit before, limited;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  limited = before;
  limited.rlim_cur = 100000;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limited), 0);
  PawlWriter* writer = new_writer(PAWL_FORMAT_CSV, path, NULL);
  PawlError err = {0};
  PawlStatus status = PAWL_OK;
  for (int i = 0; status == PAWL_OK && i < 10000; i++) {
    status = pawl_writer_add(writer, recorder, pawl_recorder_sample(recorder, i % 1000), &err);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  assert_int_equal(status, PAWL_ERROR_FILE);
  assert_non_null(strstr(err.message, "File too large"));
  assert_int_equal(pawl_writer_finish(writer, recorder, &err), PAWL_ERROR_FILE);
  assert_non_null(strstr(err.message, part_of(path)));
  pawl_writer_destroy(writer);
  assert_false(there(path));
  struct stat info;
  assert_int_equal(stat(part_of(path), &info), 0);
  assert_true(info.st_size > 50000);
  unlink(part_of(path));
  pawl_recorder_destroy(recorder);
}

// Two writers of one file: the first learns that its place was taken, the second is whole.
static void test_place_taken(void** state) {
  const char* path = in_folder(*state, "a.csv");
  PawlRecorder* recorder = track_record(2);
  PawlWriter* first = new_writer(PAWL_FORMAT_CSV, path, "t");
  PawlWriter* second = new_writer(PAWL_FORMAT_CSV, path, "x");
  add_all(first, recorder);
  add_all(second, recorder);
  PawlError err = {0};
  assert_int_equal(pawl_writer_finish(first, recorder, &err), PAWL_ERROR_FILE);
  assert_non_null(strstr(err.message, "took its place"));
  assert_int_equal(pawl_writer_finish(second, recorder, NULL), PAWL_OK);
  char* content = slurp(path, NULL);
  assert_string_equal(content, "x\n0\n0.1\n");
  free(content);
  pawl_writer_destroy(first);
  pawl_writer_destroy(second);
  unlink(path);
  pawl_recorder_destroy(recorder);
}

// A million samples cost no memory beyond that of the first.
static void check_memory(Folder* folder, PawlFormat format, const char* name) {
  const char* path = in_folder(folder, name);
  PawlRecorder* recorder = track_record(1);
  const double* sample = pawl_recorder_sample(recorder, 0);
  PawlWriter* writer = new_writer(format, path, NULL);
  struct rusage usage[2];
  long long allocations = 0;
  for (int i = 0; i < 1000000; i++) {
    assert_int_equal(pawl_writer_add(writer, recorder, sample, NULL), PAWL_OK);
    if (i == 100000) {
      allocations = pawl_alloc_count();
      getrusage(RUSAGE_SELF, &usage[0]);
    }
  }
  getrusage(RUSAGE_SELF, &usage[1]);
  if (format != PAWL_FORMAT_HDF5) {  // which asks for room before each flush, and gives it back
    assert_int_equal(pawl_alloc_count(), allocations);
  }
  // [kB]; the samples are 62 MB. A sanitizer keeps what was freed.
  assert_true(SANITIZED || usage[1].ru_maxrss - usage[0].ru_maxrss < 5000);
  assert_int_equal(pawl_writer_finish(writer, recorder, NULL), PAWL_OK);
  pawl_writer_destroy(writer);
  unlink(path);
  pawl_recorder_destroy(recorder);
}

static void test_memory_is_bounded(void** state) {
  check_memory(*state, PAWL_FORMAT_CSV, "a.csv");
  if (pawl_has_hdf5()) {
    check_memory(*state, PAWL_FORMAT_HDF5, "a.h5");
  }
}

// The one table of formats.
static void test_formats(void** state) {
  (void)state;
  assert_string_equal(pawl_format_name(PAWL_FORMAT_HDF5), "HDF5");
  assert_string_equal(pawl_format_name(PAWL_FORMAT_REPORT), "report");
  assert_null(pawl_format_name(3));
  assert_null(pawl_format_ending(PAWL_FORMAT_CSV, 1));
  assert_int_equal(pawl_format_of("a.csv"), PAWL_FORMAT_CSV);
  assert_int_equal(pawl_format_of("a.hdf5"), PAWL_FORMAT_HDF5);
  assert_int_equal(pawl_format_of(".csv"), -1);
  assert_int_equal(pawl_format_of("a.svg"), -1);
  assert_int_equal(pawl_format_exists(PAWL_FORMAT_HDF5), pawl_has_hdf5());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lists_with_corrections),
      cmocka_unit_test(test_formats),
      cmocka_unit_test(test_same_as_whole),
      cmocka_unit_test(test_without_a_sample_or_an_end),
      cmocka_unit_test(test_chosen_columns),
      cmocka_unit_test(test_killed),
      cmocka_unit_test(test_full_disk_keeps_the_part),
      cmocka_unit_test(test_place_taken),
      cmocka_unit_test(test_memory_is_bounded),
      cmocka_unit_test(test_nothing_left_behind),
  };
  return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
