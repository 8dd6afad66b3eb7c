// SPDX-License-Identifier: Apache-2.0
// Sorting the terms of a model into groups. The parameters become numbers, sums fall apart into
// their addends, each addend gets a shape; a shape met often becomes a group with one lane for each
// instance, derived once; all other terms go together into one group with a single lane, where they
// share subexpressions and their contributions are summed symbolically.
#include "base/alloc.h"
#include "base/error.h"
#include "system/group_impl.h"

static bool is_constraint(PawlItemKind kind) {
  return kind == PAWL_ITEM_CONSTRAINT || kind == PAWL_ITEM_RATE || kind == PAWL_ITEM_SLIP ||
         kind == PAWL_ITEM_FRICTION;
}

// Worth a group of its own. Switching functions, and constraints that count periods, stay single:
// they are few.
bool pawl_group_is_frequent(const PawlItemShape* shape, const PawlSorter* s) {
  const PawlPlaced* placed = pawl_group_item_of(s, shape);
  PawlItemKind kind = placed->item.kind;
  int fewest = shape->token_count < PAWL_LONG_SHAPE ? PAWL_FEWEST_LANES : PAWL_FEWEST_LONG;
  return shape->like_count >= fewest && kind != PAWL_ITEM_GUARD && kind != PAWL_ITEM_KINK &&
         kind != PAWL_ITEM_WATCH && kind != PAWL_ITEM_CONDITION &&
         !(placed->turns && is_constraint(kind));
}

bool pawl_group_is_single(const PawlSorter* s, int item) {
  return !pawl_group_is_frequent(&s->shapes[s->items[item].shape], s);
}

static PawlStatus build_groups(PawlSorter* s, PawlError* err) {
  PawlSystem* system = s->system;
  int often = 0;
  for (int k = 0; k < s->shape_count; k++) {
    often += pawl_group_is_frequent(&s->shapes[k], s);
  }
  system->groups = PAWL_NEW(&system->arena, PawlGroup, often + 1);
  if (!system->groups) {
    return pawl_fail_memory(err);
  }
  PawlGroupScratch scratch = {0};
  int failed = 0;
  for (int k = 0; !failed && k < s->shape_count; k++) {
    if (pawl_group_is_frequent(&s->shapes[k], s)) {
      failed = pawl_group_build_lanes(s, &system->groups[system->group_count++], &s->shapes[k],
                                      &scratch);
    }
  }
  if (!failed) {
    failed = pawl_group_build_single(s, &system->groups[system->group_count++], &scratch);
  }
  pawl_group_scratch_free(&scratch);
  return failed ? pawl_fail_memory(err) : PAWL_OK;
}

PawlStatus pawl_system_group(PawlSystem* system, PawlError* err) {
  PawlSorter s = {.system = system};
  PawlStatus status = pawl_group_find_members(&s, err);
  if (status == PAWL_OK) {
    status = pawl_group_fold(&s, err);
  }
  if (status == PAWL_OK) {
    status = pawl_group_collect(&s, err);
  }
  if (status == PAWL_OK) {
    status = pawl_group_add_constants(&s, err);
  }
  if (status == PAWL_OK) {
    status = pawl_group_shape(&s, err);
  }
  if (status == PAWL_OK) {
    status = build_groups(&s, err);
  }
  pawl_dag_destroy(s.dag);
  pawl_shaper_destroy(s.shaper);
  pawl_group_free_folded(&s);
  pawl_free(s.term_like);
  pawl_free(s.constraint_like);
  pawl_free(s.term_items);
  pawl_free(s.constraint_items);
  pawl_free(s.turned);
  pawl_free(s.sources);
  pawl_free(s.shapes);
  pawl_free(s.items);
  pawl_free(s.likes);
  pawl_free(s.tokens);
  pawl_free(s.table);
  pawl_free(s.coordinates);
  pawl_free(s.rows);
  pawl_free(s.numbers);
  return status;
}
