// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <string.h>

#include "base/alloc.h"

void* pawl_bytes_room(PawlBytes* b, size_t count) {
  enum { FIRST_CAPACITY = 1024 };
  if (b->failed || count > (size_t)PTRDIFF_MAX - b->length) {
    b->failed = true;
    return NULL;
  }
  size_t need = b->length + count;
  if (need > b->capacity) {
    size_t wanted = need < FIRST_CAPACITY ? FIRST_CAPACITY : need + need / 2;
    unsigned char* grown = pawl_realloc(b->data, wanted, 1);
    if (!grown) {
      b->failed = true;
      return NULL;
    }
    b->data = grown;
    b->capacity = wanted;
  }
  void* room = b->data + b->length;
  b->length = need;
  return room;
}

void pawl_bytes_add(PawlBytes* b, const void* from, size_t count) {
  void* room = count > 0 ? pawl_bytes_room(b, count) : NULL;
  if (room) {
    memcpy(room, from, count);
  }
}

void pawl_bytes_number(PawlBytes* b, double value) {
  pawl_bytes_add(b, &value, sizeof value);
}

void pawl_bytes_whole(PawlBytes* b, long long value) {
  int64_t whole = value;
  pawl_bytes_add(b, &whole, sizeof whole);
}

void pawl_bytes_text(PawlBytes* b, const char* text) {
  pawl_bytes_add(b, text, strlen(text) + 1);
}

void pawl_bytes_free(PawlBytes* b) {
  pawl_free(b->data);
  *b = (PawlBytes){0};
}

const void* pawl_reader_skip(PawlReader* r, size_t count) {
  if (r->failed || count > r->left) {
    r->failed = true;
    return NULL;
  }
  const void* here = r->at;
  r->at += count;
  r->left -= count;
  return here;
}

void pawl_reader_take(PawlReader* r, void* to, size_t count) {
  const void* from = pawl_reader_skip(r, count);
  if (count > 0 && from) {
    memcpy(to, from, count);
  } else if (count > 0) {
    memset(to, 0, count);
  }
}

double pawl_reader_number(PawlReader* r) {
  double value;
  pawl_reader_take(r, &value, sizeof value);
  return value;
}

long long pawl_reader_whole(PawlReader* r) {
  int64_t whole;
  pawl_reader_take(r, &whole, sizeof whole);
  return whole;
}

int pawl_reader_count(PawlReader* r, int most) {
  long long whole = pawl_reader_whole(r);
  if (whole < 0 || whole > most) {
    r->failed = true;
    return 0;
  }
  return (int)whole;
}

const char* pawl_reader_text(PawlReader* r) {
  const unsigned char* end = r->failed ? NULL : memchr(r->at, 0, r->left);
  if (!end) {
    r->failed = true;
    return "";
  }
  return pawl_reader_skip(r, (size_t)(end - r->at) + 1);
}

uint64_t pawl_hash(uint64_t start, const void* bytes, size_t count) {
  const unsigned char* b = bytes;
  for (size_t k = 0; k < count; k++) {
    start = (start ^ b[k]) * UINT64_C(1099511628211);
  }
  return start;
}
