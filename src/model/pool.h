// SPDX-License-Identifier: Apache-2.0
// Many small things in one arena without the arena's alignment to 64 bytes: names, nodes of the
// text tree. Freed with the arena.
#pragma once

#include "base/arena.h"

typedef struct PawlPool {
  PawlArena* arena;
  char* next;
  size_t left;
} PawlPool;

// Zeroed bytes, aligned for any object that holds pointers and doubles; NULL when memory is short.
void* pawl_pool_alloc(PawlPool* pool, size_t bytes);

// A terminated copy of `length` bytes; NULL when memory is short.
char* pawl_pool_copy(PawlPool* pool, const char* text, size_t length);
