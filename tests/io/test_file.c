// SPDX-License-Identifier: Apache-2.0
// A file appears whole or not at all. Tests may run as root, for whom permissions do not count, so
// "cannot write" is made with paths below a regular file and with /dev/full.
#include <fcntl.h>
#include <sys/stat.h>

#include "io/file.h"
#include "record.h"

static PawlStatus write_words(const char* path, const char* words, PawlStatus so_far,
                              PawlError* err) {
  PawlFile file;
  PAWL_TRY(pawl_file_open(&file, path, err));
  PawlStatus status = pawl_file_write(&file, words, strlen(words), err);
  return pawl_file_close(&file, status == PAWL_OK ? so_far : status, err);
}

static void check_content(const char* path, const char* expected) {
  char* content = slurp(path, NULL);
  assert_string_equal(content, expected);
  free(content);
}

static void test_replaces_and_keeps_permissions(void** state) {
  const char* path = in_folder(*state, "a");
  struct stat info;
  assert_int_equal(write_words(path, "one", PAWL_OK, NULL), PAWL_OK);
  check_content(path, "one");
  assert_int_equal(chmod(path, 0640), 0);
  assert_int_equal(write_words(path, "two", PAWL_OK, NULL), PAWL_OK);
  check_content(path, "two");
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0640);
  unlink(path);
}

// The old file stays until the new one is complete, and when it fails.
static void test_old_file_survives_failure(void** state) {
  const char* path = in_folder(*state, "a");
  PawlError err = {0};
  put_file(path, "old");
  PawlFile file;
  assert_int_equal(pawl_file_open(&file, path, NULL), PAWL_OK);
  assert_int_equal(pawl_file_write(&file, "new", 3, NULL), PAWL_OK);
  check_content(path, "old");
  assert_int_equal(pawl_file_close(&file, PAWL_ERROR_RUN, &err), PAWL_ERROR_RUN);
  assert_string_equal(err.message, "");
  check_content(path, "old");
  unlink(path);
}

static void test_follows_links(void** state) {
  Folder* folder = *state;
  char target[128], link[128];
  strcpy(target, in_folder(folder, "target"));
  strcpy(link, in_folder(folder, "link"));
  put_file(target, "old");
  assert_int_equal(symlink(target, link), 0);
  assert_int_equal(write_words(link, "new", PAWL_OK, NULL), PAWL_OK);
  struct stat info;
  assert_int_equal(lstat(link, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  check_content(target, "new");
  unlink(link);
  unlink(target);
}

static void test_failures_name_the_path(void** state) {
  Folder* folder = *state;
  PawlError err = {0};
  const char* path = in_folder(folder, "missing/a.csv");
  assert_int_equal(write_words(path, "x", PAWL_OK, &err), PAWL_ERROR_FILE);
  assert_non_null(strstr(err.message, path));
  assert_non_null(strstr(err.message, "No such file or directory"));
  put_file(in_folder(folder, "plain"), "plain");
  assert_int_equal(write_words(in_folder(folder, "plain/a.csv"), "x", PAWL_OK, &err),
                   PAWL_ERROR_FILE);
  assert_non_null(strstr(err.message, "Not a directory"));
  unlink(in_folder(folder, "plain"));
  assert_int_equal(write_words(folder->path, "x", PAWL_OK, &err), PAWL_ERROR_FILE);
  assert_non_null(strstr(err.message, "Is a directory"));
  assert_int_equal(write_words("", "x", PAWL_OK, &err), PAWL_ERROR_FILE);
}

static void test_full_disk(void** state) {
  (void)state;
  PawlError err = {0};
  if (access("/dev/full", W_OK) != 0) {
    skip();
  }
  assert_int_equal(write_words("/dev/full", "x", PAWL_OK, &err), PAWL_ERROR_FILE);
  assert_string_equal(err.message, "cannot write '/dev/full': No space left on device");
  struct stat info;
  assert_int_equal(stat("/dev/full", &info), 0);
  assert_true(S_ISCHR(info.st_mode));  // still a device
}

static void test_fifo(void** state) {
  const char* path = in_folder(*state, "fifo");
  assert_int_equal(mkfifo(path, 0600), 0);
  int reader = open(path, O_RDONLY | O_NONBLOCK);
  assert_true(reader >= 0);
  assert_int_equal(write_words(path, "through", PAWL_OK, NULL), PAWL_OK);
  char got[16] = "";
  assert_int_equal(read(reader, got, sizeof got), 7);
  assert_string_equal(got, "through");
  close(reader);
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  assert_true(S_ISFIFO(info.st_mode));
  unlink(path);
}

// "-" and /dev/stdout append to wherever standard output points, here a file held open.
static void test_standard_output(void** state) {
  const char* path = in_folder(*state, "out");
  fflush(stdout);
  int saved = dup(STDOUT_FILENO);
  int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  assert_true(saved >= 0 && to >= 0 && dup2(to, STDOUT_FILENO) >= 0);
  printf("first ");
  PawlStatus a = write_words("-", "second ", PAWL_OK, NULL);
  PawlStatus b = write_words("/dev/stdout", "third", PAWL_OK, NULL);
  fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  close(to);
  assert_int_equal(a, PAWL_OK);
  assert_int_equal(b, PAWL_OK);
  check_content(path, "first second third");
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_replaces_and_keeps_permissions),
      cmocka_unit_test(test_old_file_survives_failure),
      cmocka_unit_test(test_follows_links),
      cmocka_unit_test(test_failures_name_the_path),
      cmocka_unit_test(test_full_disk),
      cmocka_unit_test(test_fifo),
      cmocka_unit_test(test_standard_output),
      cmocka_unit_test(test_nothing_left_behind),
  };
  return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
