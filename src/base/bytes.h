// SPDX-License-Identifier: Apache-2.0
// Plain bytes for files: a buffer that grows, a reader that never leaves its bytes, and a hash.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct PawlBytes {  // all zero is an empty buffer
  unsigned char* data;
  size_t length, capacity;
  bool failed;  // memory ran out; further appends do nothing
} PawlBytes;

void pawl_bytes_add(PawlBytes* bytes, const void* from, size_t count);
void pawl_bytes_number(PawlBytes* bytes, double value);
void pawl_bytes_whole(PawlBytes* bytes, long long value);
void pawl_bytes_text(PawlBytes* bytes, const char* text);  // with its final zero
// Room for `count` bytes at the end, to be filled by the caller; NULL when memory ran out.
void* pawl_bytes_room(PawlBytes* bytes, size_t count);
void pawl_bytes_free(PawlBytes* bytes);  // leaves an empty buffer

typedef struct PawlReader {
  const unsigned char* at;
  size_t left;
  bool failed;  // more was asked for than there is; all that is read from then on is zero
} PawlReader;

// The next `count` bytes where they are, not aligned; NULL when there are fewer.
const void* pawl_reader_skip(PawlReader* reader, size_t count);
void pawl_reader_take(PawlReader* reader, void* to, size_t count);
double pawl_reader_number(PawlReader* reader);
long long pawl_reader_whole(PawlReader* reader);
// A whole number from 0 to `most`; anything else is a failure.
int pawl_reader_count(PawlReader* reader, int most);
const char* pawl_reader_text(PawlReader* reader);  // "" on failure

// Fowler, Noll and Vo's hash of 64 bits, begun with PAWL_HASH_START and continued with its result.
#define PAWL_HASH_START UINT64_C(14695981039346656037)
uint64_t pawl_hash(uint64_t start, const void* bytes, size_t count);
