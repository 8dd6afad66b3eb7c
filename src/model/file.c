// SPDX-License-Identifier: Apache-2.0
#include "model/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/error.h"
#include "pawl/model.h"

static PawlStatus check_size(size_t length, size_t most, const char* name, PawlError* err) {
  if (length > most) {
    return pawl_fail(err, PAWL_ERROR_MODEL, "%s: the file has %zu bytes; a %s has at most %zu",
                     name, length, most == PAWL_MODEL_MAX_BYTES ? "model" : "table", most);
  }
  return PAWL_OK;
}

PawlStatus pawl_check_size(size_t length, const char* name, PawlError* err) {
  return check_size(length, PAWL_MODEL_MAX_BYTES, name, err);
}

static PawlStatus file_error(const char* path, const char* why, PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_FILE, "%s: %s", path, why);
}

// A pipe is read to its end, as standard input is; a device may have none.
static PawlStatus check_kind(const char* path, const struct stat* info, PawlError* err) {
  if (S_ISREG(info->st_mode) || S_ISFIFO(info->st_mode)) {
    return PAWL_OK;
  }
  bool directory = S_ISDIR(info->st_mode);
  return file_error(path, directory ? "is a directory, expected a model file" : "is not a file",
                    err);
}

static PawlStatus read_open(const char* path, size_t most, FILE* file, char** text, size_t* length,
                            PawlError* err) {
  struct stat info;
  if (fstat(fileno(file), &info) != 0) {
    return file_error(path, strerror(errno), err);
  }
  PAWL_TRY(check_kind(path, &info, err));
  bool pipe = S_ISFIFO(info.st_mode);  // has no size: one byte too many is refused below
  *length = pipe ? most + 1 : (size_t)info.st_size;
  PAWL_TRY(pipe ? PAWL_OK : check_size(*length, most, path, err));
  *text = pawl_alloc(*length + 1, 1);
  if (!*text) {
    return pawl_fail_memory(err);
  }
  *length = fread(*text, 1, *length, file);
  PAWL_TRY(check_size(*length, most, path, err));
  return ferror(file) ? file_error(path, "cannot be read", err) : PAWL_OK;
}

PawlStatus pawl_read_file(const char* path, char** text, size_t* length, PawlError* err) {
  return pawl_read_file_up_to(path, PAWL_MODEL_MAX_BYTES, text, length, err);
}

PawlStatus pawl_read_file_up_to(const char* path, size_t most, char** text, size_t* length,
                                PawlError* err) {
  *text = NULL;
  struct stat info;
  if (stat(path, &info) != 0) {
    return file_error(path, strerror(errno), err);
  }
  PAWL_TRY(check_kind(path, &info, err));
  FILE* file = fopen(path, "rb");
  if (!file) {
    return file_error(path, strerror(errno), err);
  }
  PawlStatus status = read_open(path, most, file, text, length, err);
  fclose(file);
  return status;
}
