// SPDX-License-Identifier: Apache-2.0
// A group with one lane for each item of a shape, derived once.
#include "system/group_impl.h"

// Fills the slots of all lanes; they are chained from the last to the first.
static int fill_lanes(PawlSorter* s, PawlGroup* group, const PawlItemShape* shape) {
  PawlArena* arena = &s->system->arena;
  const PawlPlaced* first = pawl_group_item_of(s, shape);
  int lanes = shape->like_count;
  group->lanes = lanes;
  group->coordinate_count = first->coordinate_count;
  group->row_count = first->row_count;
  group->number_count = first->number_count;
  group->coordinates = PAWL_NEW(arena, int, group->coordinate_count* lanes);
  group->rows = PAWL_NEW(arena, int, group->row_count* lanes);
  group->numbers = PAWL_NEW(arena, double, (size_t)group->number_count*(size_t)lanes);
  group->outputs = PAWL_NEW(arena, int, lanes);
  if (!group->coordinates || !group->rows || !group->numbers || !group->outputs) {
    return -1;
  }
  bool gated = false;
  for (int k = shape->last_like; k >= 0; k = s->likes[k].previous) {
    gated |= s->items[s->likes[k].item].item.gate >= 0;
  }
  if (gated && !(group->gates = PAWL_NEW(arena, int, lanes))) {
    return -1;
  }
  int lane = lanes - 1;
  for (int k = shape->last_like; k >= 0; k = s->likes[k].previous, lane--) {
    const PawlPlaced* placed = &s->items[s->likes[k].item];
    pawl_group_bind(s, &s->likes[k], lanes, group->coordinates + lane, group->rows + lane);
    for (int n = 0; n < group->number_count; n++) {
      group->numbers[n * lanes + lane] = s->numbers[placed->numbers + n];
    }
    group->outputs[lane] = pawl_group_target(s, &s->likes[k]);
    if (group->gates) {
      group->gates[lane] = placed->item.gate;
    }
  }
  return 0;
}

// A number that is the same in every lane is a constant of the graph, others are PARAM leaves.
static int number_nodes(PawlGroup* group, PawlNode* nodes) {
  for (int n = 0; n < group->number_count; n++) {
    const double* of_lane = group->numbers + (size_t)n * (size_t)group->lanes;
    bool same = true;
    for (int l = 1; l < group->lanes && same; l++) {
      same = of_lane[l] == of_lane[0];
    }
    nodes[n] =
        same ? pawl_dag_const(group->dag, of_lane[0]) : pawl_dag_leaf(group->dag, PAWL_OP_PARAM, n);
    if (nodes[n] == PAWL_NO_NODE) {
      return -1;
    }
  }
  return 0;
}

int pawl_group_build_lanes(PawlSorter* s, PawlGroup* group, const PawlItemShape* shape,
                           PawlGroupScratch* scratch) {
  const PawlPlaced* placed = pawl_group_item_of(s, shape);
  group->dag = pawl_dag_create();
  if (!group->dag || pawl_group_scratch_make(scratch, shape, placed) != 0 ||
      fill_lanes(s, group, shape) != 0 || number_nodes(group, scratch->numbers) != 0) {
    return -1;
  }
  pawl_dag_share_tables(group->dag, s->dag);
  PawlSlotNodes slots = {NULL, NULL, scratch->numbers};
  if (pawl_shape_build(group->dag, shape->token_count, s->tokens + shape->first_token, &slots,
                       scratch->nodes, scratch->roots) < 0) {
    return -1;
  }
  for (int c = 0; c < placed->coordinate_count; c++) {
    scratch->slots[c] = c;
  }
  int target =
      pawl_item_acts(&placed->item) ? placed->item.target - s->coordinates[placed->coordinates] : 0;
  PawlItem item = {placed->item.kind, target, placed->item.count, scratch->roots, -1};
  PawlFilling filling = {group, -1, s->system->model};  // lanes have gates of their own
  return pawl_group_derive(&filling, &item, placed->coordinate_count, scratch->slots);
}
