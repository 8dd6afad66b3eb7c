// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

enum { ALIGNMENT = 64, FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 26 };
enum {
  LARGE = 1 << 19,
  LARGE_BLOCK = 1 << 24
};  // what is large is put into pages, many to a block

typedef struct PawlArenaBlock {
  struct PawlArenaBlock* next;
  size_t pages;  // bytes of pages; 0: from the heap
} PawlArenaBlock;

static size_t round_up(size_t bytes) {
  return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

// The first aligned byte behind a block's header.
static char* payload(PawlArenaBlock* block) {
  uintptr_t start = (uintptr_t)(block + 1);
  return (char*)block +
         (((start + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1)) - (uintptr_t)block);
}

static int add_block(PawlArena* arena, size_t need) {
  size_t size = arena->size ? 2 * arena->size : FIRST_BLOCK;
  if (size > LARGEST_BLOCK) {
    size = LARGEST_BLOCK;
  }
  if (size < need) {
    size = need;
  }
  if (need >= LARGE && size < LARGE_BLOCK) {
    size = LARGE_BLOCK;
  }
  size_t whole = size + 2 * ALIGNMENT, pages = size < LARGE_BLOCK ? 0 : whole;
  PawlArenaBlock* block = pages > 0 ? pawl_alloc_pages(whole) : pawl_alloc(1, whole);
  if (!block) {
    return -1;
  }
  block->pages = pages;
  block->next = arena->blocks;
  arena->blocks = block;
  arena->size = size;
  arena->used = 0;
  return 0;
}

// `bytes` of the newest block from byte `from` on, or of another one.
static char* take(PawlArena* arena, size_t from, size_t bytes) {
  bool full = !arena->blocks || from > arena->size || arena->size - from < bytes;
  arena->failed = arena->failed || (full && add_block(arena, bytes) != 0);
  if (arena->failed) {
    return NULL;
  }
  from = full ? 0 : from;
  arena->used = from + bytes;
  return payload(arena->blocks) + from;  // zeroed: blocks come so and no byte is handed out twice
}

void* pawl_arena_alloc(PawlArena* arena, size_t count, size_t size) {
  bool absurd = size != 0 && count > (size_t)PTRDIFF_MAX / 2 / size;
  arena->failed = arena->failed || absurd;
  return take(arena, round_up(arena->used), absurd ? 0 : round_up(count * size));
}

char* pawl_arena_copy(PawlArena* arena, const char* text, size_t length) {
  char* copy = take(arena, arena->used, length + 1);
  if (copy) {
    memcpy(copy, text, length);
  }
  return copy;
}

void pawl_arena_free(PawlArena* arena) {
  for (PawlArenaBlock* block = arena->blocks; block;) {
    PawlArenaBlock* next = block->next;
    if (block->pages > 0) {
      pawl_free_pages(block, block->pages);
    } else {
      pawl_free(block);
    }
    block = next;
  }
  *arena = (PawlArena){0};
}
