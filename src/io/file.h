// SPDX-License-Identifier: Apache-2.0
// A file that appears whole or not at all. It is written under a temporary name in the directory of
// its target and renamed when complete; what stood there before stays until then. Pipes, devices,
// "-" and /dev/stdout cannot be renamed to and are written directly. What grows over a long time is
// written as NAME.part, which is there to be read should the program be killed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct PawlFile {
  const char* name;    // as the user wrote it, for messages; borrowed
  char* target;        // the file to replace, symbolic links followed; NULL when written directly
  char* temporary;     // beside the target; NULL when written directly
  const char* suffix;  // of the temporary name
  int descriptor;
  uint64_t summed, sum;  // bytes that a mark has summed up, and their hash
} PawlFile;

// On failure there is nothing to close. `path` must outlive the file. The temporary name, .NAME and
// ".pawl-tmp", belongs to the target: one that a killed program left is replaced. A target that is
// there keeps its permissions; one that may not be written is refused.
PAWL_CHECKED PawlStatus pawl_file_open(PawlFile* file, const char* path, PawlError* err);

// The same with the temporary name NAME.part; one that a killed program left is replaced.
PAWL_CHECKED PawlStatus pawl_file_open_part(PawlFile* file, const char* path, PawlError* err);

// The same with the temporary name NAME + `suffix`.
PAWL_CHECKED PawlStatus pawl_file_open_beside(PawlFile* file, const char* path, const char* suffix,
                                              PawlError* err);

// How far a file was written, to go on from there later.
typedef struct PawlFileMark {
  uint64_t length;  // bytes
  uint64_t sum;     // hash of all bytes before that, to know the file again
} PawlFileMark;
// What was written so far, brought to the disk first. Reads what came since the last mark.
// PAWL_ERROR_USAGE for what is written directly.
PAWL_CHECKED PawlStatus pawl_file_mark(PawlFile* file, PawlFileMark* mark, PawlError* err);
// Opens NAME + `suffix` again and cuts it back to the mark. Where that is gone, or is not the file
// of the mark, NAME itself is copied up to the mark (the file was complete, and took its name).
PAWL_CHECKED PawlStatus pawl_file_open_again(PawlFile* file, const char* path, const char* suffix,
                                             const PawlFileMark* mark, PawlError* err);
// Reads bytes that were written, from `offset` on.
PAWL_CHECKED PawlStatus pawl_file_read(PawlFile* file, uint64_t offset, void* bytes, size_t length,
                                       PawlError* err);
// Removes NAME + `suffix`, if it is there.
void pawl_file_remove(const char* path, const char* suffix);

// A whole file that others wrote, in memory to be freed. PAWL_ERROR_USAGE: it cannot be read.
PAWL_CHECKED PawlStatus pawl_file_load(const char* path, void** bytes, size_t* length,
                                       PawlError* err);

PAWL_CHECKED PawlStatus pawl_file_write(PawlFile* file, const void* bytes, size_t length,
                                        PawlError* err);

// Makes sure that `length` bytes have a place on the disk, for writers that cannot bear to fail.
// Nothing for what is written directly.
PAWL_CHECKED PawlStatus pawl_file_reserve(PawlFile* file, unsigned long long length,
                                          PawlError* err);

// Brings what was written to the disk, so that it outlives a power failure.
PAWL_CHECKED PawlStatus pawl_file_sync(PawlFile* file, PawlError* err);

// Ends the file and leaves what was written under its temporary name.
void pawl_file_leave(PawlFile* file);

// Ends the file: with `so_far` PAWL_OK it takes its final name, else it is removed and `so_far` is
// returned with `err` untouched.
PAWL_CHECKED PawlStatus pawl_file_close(PawlFile* file, PawlStatus so_far, PawlError* err);
