// SPDX-License-Identifier: Apache-2.0
// Put before every file of the command line in test_failing, so that its allocations can fail like
// those of the library.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static inline char* failing_strdup(const char* text) {
  size_t size = strlen(text) + 1;
  char* copy = pawl_alloc(size, 1);
  return copy ? memcpy(copy, text, size) : NULL;
}

#define malloc(size) pawl_alloc((size), 1)
#define calloc(count, size) pawl_alloc((count), (size))
#define realloc(old, size) pawl_realloc((old), (size), 1)
#define free(memory) pawl_free(memory)
#define strdup(text) failing_strdup(text)
#define main pawl_main
int pawl_main(int argc, char** argv);
