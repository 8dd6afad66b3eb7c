// SPDX-License-Identifier: Apache-2.0
// A string that grows, and the search for the nearest name.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pawl/base.h"

typedef struct PawlText {  // all zero is an empty text
  char* s;                 // terminated, or NULL while empty
  size_t length, capacity;
  bool failed;  // memory ran out; further appends do nothing
} PawlText;

void pawl_text_add(PawlText* text, const char* s);
void pawl_text_add_bytes(PawlText* text, const char* s, size_t length);
PAWL_PRINTF(2, 3) void pawl_text_printf(PawlText* text, const char* format, ...);
void pawl_text_free(PawlText* text);  // leaves an empty text

// The shortest decimal that reads back as `value` ("0.1", not "0.10000000000000001").
void pawl_text_number(PawlText* text, double value);

// Edit distance of two names (a swap of neighbours counts 1), at most `limit` + 1.
int pawl_edit_distance(const char* a, const char* b, int limit);

// Keeps the best of several candidates: start with {wanted}, offer each known name, read .name,
// NULL when none was near enough to be meant.
typedef struct PawlNearest {
  const char* wanted;
  const char* name;
  int distance;
} PawlNearest;
void pawl_nearest_offer(PawlNearest* nearest, const char* candidate);
