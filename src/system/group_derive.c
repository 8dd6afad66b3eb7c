// SPDX-License-Identifier: Apache-2.0
// Deriving an item into a group, and the room that building its shape takes.
#include "base/alloc.h"
#include "system/group_impl.h"

int pawl_group_add_entry(void* context, PawlQuantity quantity, int i, int j, PawlNode node) {
  PawlGroup* group = ((PawlFilling*)context)->group;
  int gate = ((PawlFilling*)context)->gate;
  if (PAWL_GROW(group->entries, group->entry_capacity, group->entry_count + 1) != 0) {
    return -1;
  }
  group->entries[group->entry_count++] = (PawlEntry){quantity, node, i, j, gate, false, NULL};
  return 0;
}

int pawl_group_derive(PawlFilling* filling, const PawlItem* item, int count, const int* slots) {
  PawlDag* dag = filling->group->dag;
  const PawlGroup* group = filling->group;
  PawlSpins spins = {filling->model, group->coordinates, group->lanes};
  return pawl_derive_item(dag, item, &spins, count, slots, pawl_group_add_entry, filling) !=
                     PAWL_OK ||
                 pawl_derive_powers(dag, item, count, slots, pawl_group_add_entry, filling) !=
                     PAWL_OK
             ? -1
             : 0;
}

int pawl_group_scratch_make(PawlGroupScratch* scratch, const PawlItemShape* shape,
                            const PawlPlaced* placed) {
  return PAWL_GROW(scratch->nodes, scratch->node_capacity, shape->token_count) != 0 ||
                 PAWL_GROW(scratch->roots, scratch->root_capacity, placed->item.count) != 0 ||
                 PAWL_GROW(scratch->numbers, scratch->number_capacity, placed->number_count) != 0 ||
                 PAWL_GROW(scratch->slots, scratch->slot_capacity, placed->coordinate_count) != 0
             ? -1
             : 0;
}

void pawl_group_scratch_free(PawlGroupScratch* scratch) {
  pawl_free(scratch->nodes);
  pawl_free(scratch->roots);
  pawl_free(scratch->numbers);
  pawl_free(scratch->slots);
}
