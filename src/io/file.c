// SPDX-License-Identifier: Apache-2.0
#define _XOPEN_SOURCE 700  // realpath
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"

enum { MOST_OF_NAME = 200 };  // bytes of a name that its temporary one repeats

static PawlStatus fail_errno(PawlError* err, const char* path, int number) {
  char reason[256];
  if (strerror_r(number, reason, sizeof reason) != 0) {
    snprintf(reason, sizeof reason, "error %d", number);
  }
  return pawl_fail(err, PAWL_ERROR_FILE, "cannot write '%s': %s", path, reason);
}

static bool starts_with(const char* text, const char* start) {
  return strncmp(text, start, strlen(start)) == 0;
}

// The open descriptor that a path names, -1 when it is a path like any other.
static int standard_stream(const char* path) {
  if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
    return STDOUT_FILENO;
  }
  return strcmp(path, "/dev/stderr") == 0 ? STDERR_FILENO : -1;
}

// Is this a pipe, a device or an open stream, which no file can be renamed to?
static bool is_direct(const char* path) {
  // Descriptors may stand for regular files, which the shell holds open: renaming would lose them.
  if (standard_stream(path) >= 0 || starts_with(path, "/dev/fd/") || starts_with(path, "/proc/")) {
    return true;
  }
  struct stat info;
  return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static PawlStatus open_direct(PawlFile* file, PawlError* err) {
  int stream = standard_stream(file->name);
  if (stream >= 0) {
    fflush(stream == STDOUT_FILENO ? stdout : stderr);  // what was printed before comes first
    file->descriptor = dup(stream);
  } else {
    file->descriptor = open(file->name, O_WRONLY | O_TRUNC | O_CLOEXEC);
  }
  return file->descriptor < 0 ? fail_errno(err, file->name, errno) : PAWL_OK;
}

// The path with symbolic links followed, so that a link stays a link and its target is replaced.
static PawlStatus resolve(PawlFile* file, PawlError* err) {
  char resolved[PATH_MAX];
  const char* target = realpath(file->name, resolved) ? resolved : file->name;
  size_t length = strlen(target);
  file->target = pawl_alloc(length + 1, 1);
  if (!file->target) {
    return pawl_fail_memory(err);
  }
  memcpy(file->target, target, length);
  return PAWL_OK;
}

// Refuses what a rename would replace against the user's will.
static PawlStatus check_target(const PawlFile* file, PawlError* err) {
  struct stat info;
  if (file->target[0] == '\0') {
    return fail_errno(err, file->name, ENOENT);
  }
  if (stat(file->target, &info) != 0) {
    return errno == ENOENT ? PAWL_OK : fail_errno(err, file->name, errno);
  }
  if (S_ISDIR(info.st_mode)) {
    return fail_errno(err, file->name, EISDIR);
  }
  return access(file->target, W_OK) == 0 ? PAWL_OK : fail_errno(err, file->name, errno);
}

// NAME and the suffix, to be freed; NULL when memory is short.
static char* beside(const char* name, const char* suffix) {
  size_t length = strlen(name), more = strlen(suffix);
  char* out = pawl_alloc(length + more + 1, 1);
  if (out) {
    memcpy(out, name, length);
    memcpy(out + length, suffix, more);
  }
  return out;
}

// A fresh file: one of that name that another program still writes to is not touched.
static PawlStatus open_temporary(PawlFile* file, PawlError* err) {
  if (!file->temporary) {
    return pawl_fail_memory(err);
  }
  unlink(file->temporary);
  file->descriptor = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return file->descriptor < 0 ? fail_errno(err, file->name, errno) : PAWL_OK;
}

// NAME.part
static PawlStatus open_part(PawlFile* file, PawlError* err) {
  file->temporary = beside(file->target, file->suffix);
  return open_temporary(file, err);
}

// .NAME.pawl-tmp
static PawlStatus open_hidden(PawlFile* file, PawlError* err) {
  const char* slash = strrchr(file->target, '/');
  int folder = slash ? (int)(slash - file->target) + 1 : 0;
  size_t room = (size_t)folder + MOST_OF_NAME + 2 + strlen(file->suffix);
  file->temporary = pawl_alloc(room, 1);
  if (file->temporary) {
    snprintf(file->temporary, room, "%.*s.%.*s%s", folder, file->target, MOST_OF_NAME,
             file->target + folder, file->suffix);
  }
  return open_temporary(file, err);
}

static void keep_permissions(const PawlFile* file) {
  struct stat info;
  if (stat(file->target, &info) == 0) {
    // Failing to keep them (a file system without permissions) is no reason not to write.
    (void)!fchmod(file->descriptor, info.st_mode & 07777);
  }
}

typedef PawlStatus (*OpenFunction)(PawlFile* file, PawlError* err);

static PawlStatus open_beside(PawlFile* file, OpenFunction open_it, PawlError* err) {
  PAWL_TRY(resolve(file, err));
  PAWL_TRY(check_target(file, err));
  PAWL_TRY(open_it(file, err));
  keep_permissions(file);
  return PAWL_OK;
}

static void release(PawlFile* file) {
  pawl_free(file->target);
  pawl_free(file->temporary);
  *file = (PawlFile){.descriptor = -1};
}

static PawlStatus open_with(PawlFile* file, const char* path, const char* suffix,
                            OpenFunction open_it, PawlError* err) {
  *file = (PawlFile){.name = path, .suffix = suffix, .descriptor = -1};
  PawlStatus status = is_direct(path) ? open_direct(file, err) : open_beside(file, open_it, err);
  if (status != PAWL_OK) {
    release(file);
  }
  return status;
}

PawlStatus pawl_file_open(PawlFile* file, const char* path, PawlError* err) {
  return open_with(file, path, ".pawl-tmp", open_hidden, err);
}

PawlStatus pawl_file_open_part(PawlFile* file, const char* path, PawlError* err) {
  return pawl_file_open_beside(file, path, ".part", err);
}

PawlStatus pawl_file_open_beside(PawlFile* file, const char* path, const char* suffix,
                                 PawlError* err) {
  return open_with(file, path, suffix, open_part, err);
}

PawlStatus pawl_file_write(PawlFile* file, const void* bytes, size_t length, PawlError* err) {
  const char* next = bytes;
  while (length > 0) {
    ssize_t done = write(file->descriptor, next, length);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      return fail_errno(err, file->name, done < 0 ? errno : ENOSPC);
    }
    next += done;
    length -= (size_t)done;
  }
  return PAWL_OK;
}

PawlStatus pawl_file_reserve(PawlFile* file, unsigned long long length, PawlError* err) {
  int number = file->temporary ? posix_fallocate(file->descriptor, 0, (off_t)length) : 0;
  // A file system that cannot reserve is no reason not to write.
  bool unable = number == EINVAL || number == EOPNOTSUPP || number == EINTR;
  return number == 0 || unable ? PAWL_OK : fail_errno(err, file->name, number);
}

PawlStatus pawl_file_sync(PawlFile* file, PawlError* err) {
  // Some devices and pipes cannot, and need not.
  return fsync(file->descriptor) == 0 || errno == EINVAL || errno == EROFS
             ? PAWL_OK
             : fail_errno(err, file->name, errno);
}

// ---- going on with a file -----------------------------------------------------------------------
static bool read_at(int descriptor, uint64_t offset, void* bytes, size_t length) {
  char* next = bytes;
  while (length > 0) {
    ssize_t done = pread(descriptor, next, length, (off_t)offset);
    if (done <= 0 && !(done < 0 && errno == EINTR)) {
      return false;
    }
    size_t got = done > 0 ? (size_t)done : 0;
    next += got;
    offset += got;
    length -= got;
  }
  return true;
}

// Goes on with the sum over the bytes of a file up to `length`.
static bool sum_up(PawlFile* file, uint64_t length) {
  char block[1 << 14];
  while (file->summed < length) {
    uint64_t left = length - file->summed;
    size_t count = left < sizeof block ? (size_t)left : sizeof block;
    if (!read_at(file->descriptor, file->summed, block, count)) {
      return false;
    }
    file->sum = pawl_hash(file->summed ? file->sum : PAWL_HASH_START, block, count);
    file->summed += count;
  }
  return true;
}

PawlStatus pawl_file_mark(PawlFile* file, PawlFileMark* mark, PawlError* err) {
  off_t length = file->temporary ? lseek(file->descriptor, 0, SEEK_CUR) : -1;
  if (length < 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "'%s' is no file that can be cut back, as a restart does", file->name);
  }
  PAWL_TRY(pawl_file_sync(file, err));
  mark->length = (uint64_t)length;
  bool known = sum_up(file, mark->length);
  mark->sum = file->sum;
  return known ? PAWL_OK : fail_errno(err, file->temporary, errno);
}

// Does this file begin with what the mark was set behind? The message says why not.
static PawlStatus fits(int descriptor, const char* name, const PawlFileMark* mark, PawlError* err) {
  struct stat info;
  PawlFile file = {.descriptor = descriptor};
  if (descriptor < 0 || fstat(descriptor, &info) != 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "cannot go on with '%s': it cannot be opened", name);
  }
  if ((uint64_t)info.st_size < mark->length) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "cannot go on with '%s': it has %lld bytes, and had %llu before", name,
                     (long long)info.st_size, (unsigned long long)mark->length);
  }
  if (!sum_up(&file, mark->length) || file.sum != mark->sum) {
    return pawl_fail(
        err, PAWL_ERROR_USAGE,
        "cannot go on with '%s': it is not the file that the run wrote, or was changed", name);
  }
  return PAWL_OK;
}

static PawlStatus copy_bytes(PawlFile* file, int from, uint64_t length, PawlError* err) {
  char block[1 << 14];
  PawlStatus status = PAWL_OK;
  for (uint64_t at = 0; status == PAWL_OK && at < length;) {
    size_t count = length - at < sizeof block ? (size_t)(length - at) : sizeof block;
    status = read_at(from, at, block, count) ? pawl_file_write(file, block, count, err)
                                             : fail_errno(err, file->name, EIO);
    at += count;
  }
  return status;
}

// NAME.part anew from NAME.
static PawlStatus open_copy(PawlFile* file, const PawlFileMark* mark, PawlError* err) {
  int from = open(file->target, O_RDONLY | O_CLOEXEC);
  PawlStatus status = fits(from, file->target, mark, err);
  if (status == PAWL_OK) {
    pawl_free(file->temporary);
    status = open_part(file, err);
    status = status ? status : copy_bytes(file, from, mark->length, err);
  }
  if (from >= 0) {
    close(from);
  }
  return status;
}

static PawlStatus open_again(PawlFile* file, const PawlFileMark* mark, PawlError* err) {
  PAWL_TRY(resolve(file, err));
  PAWL_TRY(check_target(file, err));
  file->temporary = beside(file->target, file->suffix);
  if (!file->temporary) {
    return pawl_fail_memory(err);
  }
  file->descriptor = open(file->temporary, O_RDWR | O_CLOEXEC);
  PawlStatus status = fits(file->descriptor, file->temporary, mark, err);
  if (status == PAWL_ERROR_USAGE) {
    bool there = file->descriptor >= 0;
    if (there) {
      close(file->descriptor);
    }
    file->descriptor = -1;
    PawlError reason = {0};
    PawlStatus copied = open_copy(file, mark, &reason);
    if (copied == PAWL_OK || (copied == PAWL_ERROR_USAGE && there)) {
      return copied ? status : PAWL_OK;
    }
    return pawl_fail(err, copied, "%s", reason.message);
  }
  if (ftruncate(file->descriptor, (off_t)mark->length) != 0 ||
      lseek(file->descriptor, 0, SEEK_END) < 0) {
    return fail_errno(err, file->temporary, errno);
  }
  return PAWL_OK;
}

PawlStatus pawl_file_open_again(PawlFile* file, const char* path, const char* suffix,
                                const PawlFileMark* mark, PawlError* err) {
  *file = (PawlFile){.name = path, .suffix = suffix, .descriptor = -1};
  if (is_direct(path)) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "cannot go on with '%s': it is no file", path);
  }
  PawlStatus status = open_again(file, mark, err);
  file->summed = mark->length;
  file->sum = mark->sum;
  if (status != PAWL_OK) {
    if (file->descriptor >= 0) {
      close(file->descriptor);
    }
    release(file);
  }
  return status;
}

PawlStatus pawl_file_read(PawlFile* file, uint64_t offset, void* bytes, size_t length,
                          PawlError* err) {
  return read_at(file->descriptor, offset, bytes, length)
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_FILE, "cannot read '%s'", file->temporary);
}

void pawl_file_remove(const char* path, const char* suffix) {
  char resolved[PATH_MAX];
  char* name = beside(realpath(path, resolved) ? resolved : path, suffix);
  if (name) {
    unlink(name);
  }
  pawl_free(name);
}

static PawlStatus read_whole(int descriptor, void** bytes, size_t* length, PawlError* err,
                             const char* path) {
  struct stat info;
  if (descriptor < 0 || fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "%s: %s", path,
                     descriptor < 0 ? strerror(errno) : "is not a file");
  }
  *length = (size_t)info.st_size;
  *bytes = pawl_alloc(*length, 1);
  if (!*bytes) {
    return pawl_fail_memory(err);
  }
  return read_at(descriptor, 0, *bytes, *length)
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_USAGE, "%s: cannot be read", path);
}

PawlStatus pawl_file_load(const char* path, void** bytes, size_t* length, PawlError* err) {
  *bytes = NULL;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe is refused, not awaited
  PawlStatus status = read_whole(descriptor, bytes, length, err, path);
  if (descriptor >= 0) {
    close(descriptor);
  }
  if (status != PAWL_OK) {
    pawl_free(*bytes);
    *bytes = NULL;
  }
  return status;
}

// ---- the end ------------------------------------------------------------------------------------
void pawl_file_leave(PawlFile* file) {
  close(file->descriptor);
  release(file);
}

// Is the temporary file still the one that we wrote?
static bool is_ours(const PawlFile* file) {
  struct stat ours, there;
  return fstat(file->descriptor, &ours) == 0 && stat(file->temporary, &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

static PawlStatus take_name(const PawlFile* file, PawlError* err) {
  if (rename(file->temporary, file->target) != 0) {
    return fail_errno(err, file->name, errno);
  }
  return PAWL_OK;
}

PawlStatus pawl_file_close(PawlFile* file, PawlStatus so_far, PawlError* err) {
  PawlStatus status = so_far;
  bool ours = !file->temporary || is_ours(file);
  if (!ours && status == PAWL_OK) {
    status =
        pawl_fail(err, PAWL_ERROR_FILE, "cannot write '%s': another program took its place in '%s'",
                  file->name, file->temporary);
  }
  if (close(file->descriptor) != 0 && status == PAWL_OK) {
    status = fail_errno(err, file->name, errno);  // the disk may tell only now that it is full
  }
  if (file->temporary) {
    status = status == PAWL_OK ? take_name(file, err) : status;
    if (status != PAWL_OK && ours) {
      unlink(file->temporary);
    }
  }
  release(file);
  return status;
}
