// SPDX-License-Identifier: Apache-2.0
// Long loops on several threads. A loop over `count` things is cut into parts of a fixed length,
// whatever the number of threads, and a part is worked on by one thread. What a part writes may not
// be read or written by another; sums are kept by part and added up in the order of the parts. Then
// every number of threads, one included, gives the same bits.
//
// Threads that have nothing to do sleep, but not at once: the next loop is mostly there sooner than
// they could be woken. A loop allocates nothing. A pool belongs to one owner: two
// threads may not run loops on it at the same time, but each may have a pool of its own.
#pragma once

#include "base/error.h"

typedef struct PawlPool PawlPool;  // NULL stands for the calling thread alone

typedef struct PawlPart {
  int first, end;  // first .. end - 1
  int number;      // of the part, from 0 on
  int thread;      // 0 .. pawl_pool_threads - 1, 0 the caller: for scratch memory
} PawlPart;

typedef void PawlPartWork(void* context, PawlPart part);

// For this many threads, the calling one among them. 1: *out is NULL.
PAWL_CHECKED PawlStatus pawl_pool_create(int threads, PawlPool** out, PawlError* err);
void pawl_pool_destroy(PawlPool* pool);  // NULL is allowed
int pawl_pool_threads(const PawlPool* pool);
int pawl_pool_processors(void);  // that are there, 1 or more

// Works on all parts, each `length` long but the last, and returns when all are done.
void pawl_pool_loop(PawlPool* pool, int count, int length, PawlPartWork* work, void* context);

static inline int pawl_pool_parts(int count, int length) {
  return count / length + (count % length > 0);
}
