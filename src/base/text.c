// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool make_room(PawlText* text, size_t more) {
  if (text->failed) {
    return false;
  }
  size_t need = text->length + more + 1;
  if (need <= text->capacity) {
    return true;
  }
  size_t capacity = text->capacity < 64 ? 64 : text->capacity;
  while (capacity < need) {
    capacity *= 2;
  }
  char* grown = pawl_realloc(text->s, capacity, 1);
  if (!grown) {
    text->failed = true;
    return false;
  }
  text->s = grown;
  text->capacity = capacity;
  return true;
}

void pawl_text_add_bytes(PawlText* text, const char* s, size_t length) {
  if (make_room(text, length)) {
    memcpy(text->s + text->length, s, length);
    text->length += length;
    text->s[text->length] = '\0';
  }
}

void pawl_text_add(PawlText* text, const char* s) {
  pawl_text_add_bytes(text, s, strlen(s));
}

void pawl_text_printf(PawlText* text, const char* format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  if (length < 0) {
    text->failed = true;
  } else if (make_room(text, (size_t)length)) {
    vsnprintf(text->s + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
  va_end(arguments);
}

void pawl_text_free(PawlText* text) {
  pawl_free(text->s);
  *text = (PawlText){0};
}

void pawl_text_number(PawlText* text, double value) {
  char buffer[32];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    if (strtod(buffer, NULL) == value) {
      break;
    }
  }
  for (char* c = buffer; *c; c++) {  // the host program may have set a locale with a decimal comma
    *c = *c == ',' ? '.' : *c;
  }
  pawl_text_add(text, buffer);
}

enum { LONGEST_NAME = 64 };  // longer names are never near

int pawl_edit_distance(const char* a, const char* b, int limit) {
  size_t la = strlen(a), lb = strlen(b);
  size_t gap = la > lb ? la - lb : lb - la;
  if (la > LONGEST_NAME || lb > LONGEST_NAME || gap > (size_t)limit) {
    return limit + 1;
  }
  // Rows i-2, i-1 and i of the table of distances between prefixes.
  int table[3][LONGEST_NAME + 1];
  int *before = table[0], *last = table[1], *row = table[2];
  for (size_t j = 0; j <= lb; j++) {
    last[j] = (int)j;
  }
  for (size_t i = 1; i <= la; i++) {
    row[0] = (int)i;
    for (size_t j = 1; j <= lb; j++) {
      int best = last[j - 1] + (a[i - 1] != b[j - 1]);
      best = last[j] + 1 < best ? last[j] + 1 : best;
      best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        best = before[j - 2] + 1 < best ? before[j - 2] + 1 : best;
      }
      row[j] = best;
    }
    int* free_row = before;
    before = last;
    last = row;
    row = free_row;
  }
  return last[lb] <= limit ? last[lb] : limit + 1;
}

void pawl_nearest_offer(PawlNearest* nearest, const char* candidate) {
  int length = (int)strlen(nearest->wanted);
  int limit = length < 3 ? 1 : length < 6 ? 2 : 3;
  if (nearest->name) {
    limit = nearest->distance - 1;
  }
  int distance = pawl_edit_distance(nearest->wanted, candidate, limit);
  if (distance <= limit && distance < (int)strlen(candidate) + (length > 1)) {
    nearest->name = candidate;
    nearest->distance = distance;
  }
}
