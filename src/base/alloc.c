// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

// Counters for tests only; no result depends on them.
static _Thread_local long long allocations;
static _Thread_local long long fail_at;  // 0: never
static _Thread_local int fail_alone;     // not those after it
static _Thread_local void (*watch)(void);

static int refuse(size_t count, size_t size) {
  allocations++;
  if (watch) {
    watch();
  }
  if (fail_at > 0 && (fail_alone ? allocations == fail_at : allocations >= fail_at)) {
    return 1;
  }
  return size != 0 && count > (size_t)PTRDIFF_MAX / size;
}

void* pawl_alloc(size_t count, size_t size) {
  if (refuse(count, size)) {
    return NULL;
  }
  return calloc(count ? count : 1, size ? size : 1);
}

void* pawl_realloc(void* old, size_t count, size_t size) {
  if (refuse(count, size)) {
    return NULL;
  }
  size_t bytes = count * size;
  return realloc(old, bytes ? bytes : 1);
}

void pawl_free(void* memory) {
  free(memory);
}

int pawl_grow(void** array, int* capacity, int need, size_t size) {
  if (need <= *capacity) {
    return 0;
  }
  int wanted = *capacity < 8 ? 8 : *capacity;
  while (wanted < need) {
    wanted = wanted > INT_MAX / 2 ? INT_MAX : 2 * wanted;
  }
  void* grown = pawl_realloc(*array, (size_t)wanted, size);
  if (!grown) {
    return -1;
  }
  *array = grown;
  *capacity = wanted;
  return 0;
}

long long pawl_alloc_count(void) {
  return allocations;
}

void pawl_alloc_fail_at(long long n) {
  fail_at = n > 0 ? allocations + n : 0;
  fail_alone = 0;
}

void pawl_alloc_fail_once(long long n) {
  pawl_alloc_fail_at(n);
  fail_alone = 1;
}

void pawl_alloc_watch(void (*function)(void)) {
  watch = function;
}
