// SPDX-License-Identifier: Apache-2.0
// Memory that is freed as a whole: what a model, a system or a stepper is made of.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct PawlArena {  // all zero is an empty arena
  struct PawlArenaBlock* blocks;
  size_t used, size;  // bytes in the newest block
  bool failed;        // memory was short once: a row of allocations is judged by one look here
} PawlArena;

// count * size zeroed bytes, aligned to 64; NULL when memory is short, or was short before.
void* pawl_arena_alloc(PawlArena* arena, size_t count, size_t size);
#define PAWL_NEW(arena, type, count) \
  ((type*)pawl_arena_alloc((arena), (size_t)(count), sizeof(type)))

// A copy of the first `length` bytes of `text`, terminated; NULL when memory is short. Texts stand
// close behind each other.
char* pawl_arena_copy(PawlArena* arena, const char* text, size_t length);

void pawl_arena_free(PawlArena* arena);  // leaves an empty arena
