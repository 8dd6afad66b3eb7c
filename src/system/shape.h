// SPDX-License-Identifier: Apache-2.0
// The shape of an item: its expressions written as a list of tokens in which coordinates, rows and
// numbers are replaced by slots in order of first occurrence. Two items with equal tokens are lanes
// of one group.
#pragma once

#include "system/system.h"

// What the slots stand for in one item.
typedef struct PawlBinding {
  int coordinate_count, row_count, number_count;
  int coordinate_capacity, row_capacity, number_capacity;
  int *coordinates, *rows;
  double* numbers;
  bool turns;  // a discrete variable of a kink occurs
} PawlBinding;

typedef struct PawlShaper PawlShaper;

// For items in `dag`, which must not change while the shaper is in use, over a system with the
// given numbers of coordinates and rows, of which those from `turning` to `turning_end` are angular
// velocities, three for a rotation. NULL when memory is short.
PawlShaper* pawl_shaper_create(const PawlDag* dag, int coordinates, int rows, int turning,
                               int turning_end);
void pawl_shaper_destroy(PawlShaper* shaper);

bool pawl_item_acts(const PawlItem* item);  // its target is a coordinate

// Encodes an item: `*tokens` and `*binding` belong to the shaper and hold until the next call.
// Returns the number of tokens, -1 when memory is short. A force's target is coordinate slot 0, or
// 1 or 2 where it acts along the second or third velocity of a rotation; a constraint's rows are
// row slots 0, 1, .... Equal numbers share a slot, or with `apart` every use has one of its own:
// items whose numbers happen to be equal here and opposite there have one shape then.
int pawl_shape_encode(PawlShaper* shaper, const PawlItem* item, bool apart, const int** tokens,
                      const PawlBinding** binding);

// The nodes that stand for the slots when a shape is built again.
typedef struct PawlSlotNodes {
  const int *coordinates,
      *rows;                // slot -> index of Q, V, A (QUAT) and of LAMBDA; NULL: the slot itself
  const PawlNode* numbers;  // slot -> node
} PawlSlotNodes;

// Builds the expressions of a shape in `dag`; `roots` has room for the item's expressions.
// `scratch` has room for `token_count` nodes. Returns the number of expressions, -1 without memory.
int pawl_shape_build(PawlDag* dag, int token_count, const int* tokens, const PawlSlotNodes* slots,
                     PawlNode* scratch, PawlNode* roots);
