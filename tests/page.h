// SPDX-License-Identifier: Apache-2.0
// A page of the manual, for tests that hold it against the code.
#pragma once

#include <stdlib.h>

#include "check.h"

// The whole of docs/`name`, ended by a zero; for free().
static inline char* read_page(const char* name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", PAWL_DOCS, name);
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  long length = ftell(file);
  assert_true(length > 0);
  rewind(file);
  char* text = malloc((size_t)length + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, (size_t)length, file), (size_t)length);
  text[length] = '\0';
  fclose(file);
  return text;
}
