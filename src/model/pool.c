// SPDX-License-Identifier: Apache-2.0
#include "model/pool.h"

#include <string.h>

enum { ALIGNMENT = 8, CHUNK = 16384 };

void* pawl_pool_alloc(PawlPool* pool, size_t bytes) {
  size_t rounded = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  if (rounded > CHUNK / 4) {  // a large piece would waste the rest of the chunk
    return pawl_arena_alloc(pool->arena, rounded, 1);
  }
  if (rounded > pool->left) {
    char* chunk = pawl_arena_alloc(pool->arena, CHUNK, 1);
    if (!chunk) {
      return NULL;
    }
    pool->next = chunk;
    pool->left = CHUNK;
  }
  char* memory = pool->next;
  pool->next += rounded;
  pool->left -= rounded;
  return memory;
}

char* pawl_pool_copy(PawlPool* pool, const char* text, size_t length) {
  char* copy = pawl_pool_alloc(pool, length + 1);
  if (copy && length > 0) {  // a list of YAML has no text
    memcpy(copy, text, length);
  }
  return copy;
}
