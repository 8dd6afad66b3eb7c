// SPDX-License-Identifier: Apache-2.0
// The one way to the heap. Every allocation of the library goes through these functions, so that a
// test can count them (a step allocates nothing) and make the n-th one fail.
#pragma once

#include <stddef.h>

// count * size zeroed bytes; NULL when memory is short or the product overflows. A count of 0 gives
// a valid pointer.
void* pawl_alloc(size_t count, size_t size);

// Resizes; the new part is not zeroed. On failure returns NULL and leaves `old` as it was.
void* pawl_realloc(void* old, size_t count, size_t size);

void pawl_free(void* memory);  // NULL is allowed

// Zeroed bytes for what is large, in the large pages of the system where it has them: loops over
// them need not find a small page every few hundred numbers. Pages that nobody uses take no memory.
void* pawl_alloc_pages(size_t bytes);
void pawl_free_pages(void* memory, size_t bytes);

// Makes room for `need` elements in a growable array: doubles `*capacity` until it fits. Returns 0
// on success; on failure -1 with nothing changed. Use through PAWL_GROW.
int pawl_grow(void** array, int* capacity, int need, size_t size);
#define PAWL_GROW(array, capacity, need) \
  pawl_grow((void**)&(array), &(capacity), (need), sizeof *(array))

// For tests, per thread: allocations since the thread began, and the n-th from now (1 = the next)
// failing along with all after it, or alone; 0 turns failing off.
long long pawl_alloc_count(void);
void pawl_alloc_fail_at(long long n);
void pawl_alloc_fail_once(long long n);

// For tests, per thread: called at each allocation, from inside it, until NULL is set.
void pawl_alloc_watch(void (*function)(void));
