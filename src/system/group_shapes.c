// SPDX-License-Identifier: Apache-2.0
// Which items have the same shape.
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/model.h"
#include "system/group_impl.h"

static uint64_t hash_tokens(int count, const int* tokens) {
  uint64_t hash = 1469598103934665603u;
  for (int k = 0; k < count; k++) {
    hash = (hash ^ (uint64_t)(uint32_t)tokens[k]) * 1099511628211u;
  }
  return hash ^ (hash >> 29);
}

static int add_shape(PawlSorter* s, uint64_t hash, int count, const int* tokens) {
  if (PAWL_GROW(s->shapes, s->shape_capacity, s->shape_count + 1) != 0 ||
      PAWL_GROW(s->tokens, s->token_capacity, s->token_count + count) != 0) {
    return -1;
  }
  memcpy(s->tokens + s->token_count, tokens, (size_t)count * sizeof(int));
  s->shapes[s->shape_count] = (PawlItemShape){hash, count, s->token_count, 0, -1};
  s->token_count += count;
  return s->shape_count++;
}

// The shape with these tokens, new or known; -1 when memory is short.
static int find_shape(PawlSorter* s, int count, const int* tokens) {
  uint64_t hash = hash_tokens(count, tokens);
  int mask = s->table_size - 1;
  for (int at = (int)(hash & (uint64_t)mask);; at = (at + 1) & mask) {
    if (s->table[at] == 0) {
      int shape = add_shape(s, hash, count, tokens);
      s->table[at] = shape + 1;
      return shape;
    }
    int shape = s->table[at] - 1;
    const PawlItemShape* known = &s->shapes[shape];
    if (known->hash == hash && known->token_count == count &&
        memcmp(s->tokens + known->first_token, tokens, (size_t)count * sizeof(int)) == 0) {
      return shape;
    }
  }
}

static int keep_binding(PawlSorter* s, PawlPlaced* placed, const PawlBinding* b) {
  if (PAWL_GROW(s->coordinates, s->coordinate_capacity,
                s->coordinate_count + b->coordinate_count) != 0 ||
      PAWL_GROW(s->rows, s->row_capacity, s->row_count + b->row_count) != 0 ||
      PAWL_GROW(s->numbers, s->number_capacity, s->number_count + b->number_count) != 0) {
    return -1;
  }
  placed->turns = b->turns;
  placed->coordinates = s->coordinate_count;
  placed->rows = s->row_count;
  placed->numbers = s->number_count;
  placed->coordinate_count = b->coordinate_count;
  placed->row_count = b->row_count;
  placed->number_count = b->number_count;
  for (int k = 0; k < b->coordinate_count; k++) {
    s->coordinates[s->coordinate_count++] = b->coordinates[k];
  }
  for (int k = 0; k < b->row_count; k++) {
    s->rows[s->row_count++] = b->rows[k];
  }
  for (int k = 0; k < b->number_count; k++) {
    s->numbers[s->number_count++] = b->numbers[k];
  }
  return 0;
}

// Switching functions with turns in them are looked at again when these change.
static void note_turned(PawlSystem* system, const PawlPlaced* placed) {
  bool surface = placed->item.kind == PAWL_ITEM_GUARD || placed->item.kind == PAWL_ITEM_KINK;
  if (surface && placed->turns) {
    system->turned = true;
    int turn = placed->item.target - system->guard_count;
    *(turn < 0 ? &system->guards[placed->item.target].turned : &system->turns[turn].turned) = true;
  }
}

static int encode(PawlSorter* s, int item) {
  PawlPlaced* placed = &s->items[item];
  const int* tokens;
  const PawlBinding* binding;
  bool copied = placed->term >= 0 || placed->constraint >= 0;
  int count = pawl_shape_encode(s->shaper, &placed->item, false, &tokens, &binding);
  if (count >= PAWL_LONG_SHAPE && !copied) {
    count = pawl_shape_encode(s->shaper, &placed->item, true, &tokens, &binding);
  }
  placed->shape = count < 0 ? -1 : find_shape(s, count, tokens);
  if (placed->shape < 0 || keep_binding(s, placed, binding) != 0) {
    return -1;
  }
  return copied ? pawl_group_list_sources(s, item, placed->term, placed->constraint) : 0;
}

PawlStatus pawl_group_shape(PawlSorter* s, PawlError* err) {
  PawlSizes sizes = s->system->sizes;
  const PawlModel* model = s->system->model;
  int turning_end = model->turning + 3 * model->rotation_count;
  s->shaper = pawl_shaper_create(s->dag, sizes.v, sizes.rows, model->turning, turning_end);
  for (s->table_size = 16; s->table_size < 2 * s->item_count;) {
    s->table_size *= 2;
  }
  s->table = pawl_alloc((size_t)s->table_size, sizeof(int));
  if (!s->shaper || !s->table) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; k < s->like_count; k++) {
    PawlLike* like = &s->likes[k];
    if (like->member == PAWL_NO_MEMBER) {
      if (encode(s, like->item) != 0) {
        return pawl_fail_memory(err);
      }
      note_turned(s->system, &s->items[like->item]);
    }
    PawlItemShape* shape = &s->shapes[s->items[like->item].shape];
    like->previous = shape->last_like;
    shape->last_like = k;
    shape->like_count++;
  }
  return PAWL_OK;
}
