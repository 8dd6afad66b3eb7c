// SPDX-License-Identifier: Apache-2.0
// Records to write in the tests of this folder, and a directory to write them in.
#pragma once

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "check.h"
#include "pawl/report.h"
#include "run/recorder.h"

static inline PawlRecorder* new_record(int column_count, const PawlColumn* columns) {
  PawlRecorder* recorder = NULL;
  assert_int_equal(pawl_recorder_create(column_count, columns, 1u << 30, &recorder, NULL), PAWL_OK);
  return recorder;
}

static inline void add_sample(PawlRecorder* recorder, const double* values) {
  double* sample = NULL;
  assert_int_equal(pawl_recorder_add(recorder, &sample, NULL), PAWL_OK);
  memcpy(sample, values, (size_t)pawl_recorder_column_count(recorder) * sizeof *values);
}

static inline void add_switch(PawlRecorder* recorder, double t, const char* constraint,
                              const char* from, const char* to) {
  PawlEvent event = {.t = t, .constraint = constraint, .from = from, .to = to};
  assert_int_equal(pawl_recorder_add_event(recorder, &event, NULL), PAWL_OK);
}

// A small run: a point on a kinked track, with one event and three facts.
static inline PawlRecorder* track_record(int samples) {
  const PawlColumn columns[] = {
      {"t", "s", PAWL_COLUMN_TIME},         {"x", "m", PAWL_COLUMN_COORDINATE},
      {"y", "m", PAWL_COLUMN_COORDINATE},   {"x'", "m/s", PAWL_COLUMN_RATE},
      {"y'", "m/s", PAWL_COLUMN_RATE},      {"lambda(track,1)", "N", PAWL_COLUMN_MULTIPLIER},
      {"kinetic", "J", PAWL_COLUMN_ENERGY}, {"a/b", "", PAWL_COLUMN_OUTPUT}};
  PawlRecorder* recorder = new_record(8, columns);
  for (int i = 0; i < samples; i++) {
    double t = 0.1 * i, on_ramp = t > 3.0 ? 1.0 : 0.0, v = on_ramp > 0.0 ? 0.5 : 1.0;
    double values[] = {t,
                       t - 0.5 * on_ramp * (t - 3.0),
                       0.5 * on_ramp * (t - 3.0),
                       v,
                       0.5 * on_ramp,
                       sin(t),
                       0.5 * v * v,
                       t / 3.0};
    add_sample(recorder, values);
  }
  const double impulse[] = {0.25}, before[] = {1.0, 0.0}, after[] = {0.5, 0.5};
  PawlEvent event = {3.0, "track", "flat", "ramp", 0.25, 1, impulse, 2, before, after};
  assert_int_equal(pawl_recorder_add_event(recorder, &event, NULL), PAWL_OK);
  assert_int_equal(pawl_recorder_add_fact(recorder, "model", "kinked-track", NULL), PAWL_OK);
  assert_int_equal(pawl_recorder_add_fact(recorder, "method", "nsga-pvv", NULL), PAWL_OK);
  assert_int_equal(pawl_recorder_add_fact(recorder, "step", "0.002", NULL), PAWL_OK);
  return recorder;
}

// A directory for one test program; files are named in it by in_folder.
typedef struct Folder {
  char path[64];
  char file[128];
} Folder;

static inline int folder_setup(void** state) {
  Folder* folder = calloc(1, sizeof *folder);
  strcpy(folder->path, "/tmp/pawl-test-XXXXXX");
  *state = folder;
  return mkdtemp(folder->path) ? 0 : -1;
}

// To be the last test: neither a test nor a writer left a file behind. cmocka does not count a
// teardown that fails.
static inline void test_nothing_left_behind(void** state) {
  Folder* folder = *state;
  assert_int_equal(rmdir(folder->path), 0);
}

static inline int folder_teardown(void** state) {
  free(*state);
  return 0;
}

static inline const char* in_folder(Folder* folder, const char* name) {
  snprintf(folder->file, sizeof folder->file, "%s/%s", folder->path, name);
  return folder->file;
}

// The whole file, terminated; to be freed.
static inline char* slurp(const char* path, size_t* length) {
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  char* bytes = NULL;
  size_t used = 0, got = 0;
  do {
    bytes = realloc(bytes, used + 65537);
    got = fread(bytes + used, 1, 65536, file);
    used += got;
  } while (got > 0);
  fclose(file);
  bytes[used] = '\0';
  if (length) {
    *length = used;
  }
  return bytes;
}

static inline void put_file(const char* path, const char* content) {
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(content, file);
  fclose(file);
}

typedef PawlStatus (*WriteFunction)(const PawlRecorder*, const char*, PawlError*);

// A file system that is full: writing past a limit on the size of files fails. `recorder` must need
// more than 1 kB.
static inline void check_full_disk(Folder* folder, const PawlRecorder* recorder,
                                   WriteFunction write_it) {
  const char* path = in_folder(folder, "old");
  put_file(path, "old");
  struct rlimit before, limited;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  limited = before;
  limited.rlim_cur = 1024;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limited), 0);
  PawlError err = {0};
  PawlStatus status = write_it(recorder, path, &err);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  assert_int_equal(status, PAWL_ERROR_FILE);
  assert_non_null(strstr(err.message, path));
  assert_non_null(strstr(err.message, "File too large"));
  char* content = slurp(path, NULL);
  assert_string_equal(content, "old");
  free(content);
  unlink(path);
}

// What holds for every writer: when the n-th allocation fails, for every n, the old file is there
// still, nothing lies beside it, and the status says why.
static inline void check_allocation_failures(Folder* folder, WriteFunction write_it) {
  PawlRecorder* recorder = track_record(50);
  const char* path = in_folder(folder, "old");
  put_file(path, "old");
  PawlStatus status = PAWL_ERROR_MEMORY;
  int n = 0;
  while (status != PAWL_OK) {
    PawlError err = {0};
    pawl_alloc_fail_at(++n);
    status = write_it(recorder, path, &err);
    pawl_alloc_fail_at(0);
    if (status != PAWL_OK) {
      assert_int_equal(status, PAWL_ERROR_MEMORY);
      assert_string_equal(err.message, "out of memory");
      char* content = slurp(path, NULL);
      assert_string_equal(content, "old");
      free(content);
    }
    assert_true(n < 1000);
  }
  assert_true(n > 1);
  unlink(path);
  pawl_recorder_destroy(recorder);
}
