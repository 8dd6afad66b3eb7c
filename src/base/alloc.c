// SPDX-License-Identifier: Apache-2.0
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS, madvise
#include "base/alloc.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

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

enum { LARGE_PAGE = 1 << 21 };  // bytes, and a multiple of the small ones

// What is large is put into the large pages of the system, where it has them: the whole ones
// within.
static void* advised(void* memory, size_t bytes) {
#if defined(MADV_HUGEPAGE)
  uintptr_t begin = (uintptr_t)memory, end = begin + bytes;
  begin = (begin + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
  end = end / LARGE_PAGE * LARGE_PAGE;
  if (memory && bytes > LARGE_PAGE && begin < end) {
    (void)madvise((char*)memory + (begin - (uintptr_t)memory), end - begin, MADV_HUGEPAGE);
  }
#else
  (void)bytes;
#endif
  return memory;
}

void* pawl_alloc(size_t count, size_t size) {
  if (refuse(count, size)) {
    return NULL;
  }
  return advised(calloc(count ? count : 1, size ? size : 1), count * size);
}

void* pawl_realloc(void* old, size_t count, size_t size) {
  if (refuse(count, size)) {
    return NULL;
  }
  size_t bytes = count * size;
  return advised(realloc(old, bytes ? bytes : 1), bytes);
}

void pawl_free(void* memory) {
  free(memory);
}

#if defined(MADV_HUGEPAGE)
// What is asked for begins at a large page; the rest of what was mapped is given back.
void* pawl_alloc_pages(size_t bytes) {
  size_t whole = bytes + LARGE_PAGE;
  if (refuse(whole, 1) || whole < bytes) {
    return NULL;
  }
  char* map = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) {
    return NULL;
  }
  size_t before = -(uintptr_t)map % LARGE_PAGE, kept = (bytes + 4095) / 4096 * 4096;
  if (before > 0) {
    munmap(map, before);
  }
  if (before + kept < whole) {
    munmap(map + before + kept, whole - before - kept);
  }
  (void)madvise(map + before, kept, MADV_HUGEPAGE);  // refused: small pages serve as well
  return map + before;
}

void pawl_free_pages(void* memory, size_t bytes) {
  munmap(memory, bytes);
}
#else
void* pawl_alloc_pages(size_t bytes) {
  return pawl_alloc(bytes, 1);
}
void pawl_free_pages(void* memory, size_t bytes) {
  (void)bytes;
  pawl_free(memory);
}
#endif

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
