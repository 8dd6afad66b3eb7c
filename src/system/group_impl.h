// SPDX-License-Identifier: Apache-2.0
// What the files that sort the terms of a model into groups share.
#pragma once

#include <stdint.h>

#include "system/shape.h"

typedef struct PawlItemShape {
  uint64_t hash;
  int token_count, first_token;  // in PawlSorter.tokens
  int like_count, last_like;     // those of this shape, chained through PawlLike.previous
} PawlItemShape;

// Below this a shape is not worth a group of its own: loops over so few lanes cost more than
// machine code of each of them.
enum { PAWL_FEWEST_LANES = 16 };
// Of a shape with so many tokens fewer will do: all derivatives of each would be derived, and their
// code would not fit into a cache.
enum { PAWL_LONG_SHAPE = 400, PAWL_FEWEST_LONG = 4 };

typedef struct PawlPlaced {  // an item with expressions of its own, and its shape
  PawlItem item;
  int term, constraint;  // that it belongs to where members are like it; -1: none
  int sources;           // where they are: where its coordinates come from, in `sources`
  int shape;
  int coordinate_count, row_count, number_count;
  int coordinates, rows, numbers;  // offsets in the PawlSorter's lists
  bool turns;
} PawlPlaced;

// What becomes a lane: an item, or a member that is like it and has the coordinates of another term
// or constraint. There is one for each member of a family, so they are small.
typedef struct PawlLike {
  int item;
  int member;    // the term, or -1 minus the constraint; PAWL_NO_MEMBER: the item itself
  int previous;  // of the same shape; -1: none
} PawlLike;
#define PAWL_NO_MEMBER INT32_MIN

typedef struct PawlSorter {
  PawlSystem* system;
  PawlDag* dag;       // the model's expressions with parameters as numbers
  PawlNode* folded;   // node of the model -> node of dag
  PawlNode* eased;    // the same for forces and energies, with kinks as they are at the point
  PawlNode* unwound;  // the same for constraints, with each kink as the branch of its turn
  // Members of families (group_members.c): what each is like, itself for the first one; -1: none.
  int *term_like, *constraint_like;
  int *term_items, *constraint_items;  // the first item of each, and the number of items
  int like_count, like_capacity;
  PawlLike* likes;        // in the order of terms and constraints
  unsigned char* turned;  // nodes of the model in which a kink has a turn; NULL: none
  int source_count, source_capacity;
  int* sources;
  PawlShaper* shaper;
  int shape_count, shape_capacity, item_count, item_capacity, token_count, token_capacity;
  PawlItemShape* shapes;
  PawlPlaced* items;
  int* tokens;
  int table_size;  // power of two
  int* table;      // hash -> shape + 1
  int coordinate_count, coordinate_capacity, row_count, row_capacity, number_count, number_capacity;
  int *coordinates, *rows;
  double* numbers;
} PawlSorter;

typedef struct PawlFilling {
  PawlGroup* group;
  int gate;
  const PawlModel* model;
} PawlFilling;

// Room to build a shape and to list coordinates; grows with the largest shape.
typedef struct PawlGroupScratch {
  int node_capacity, root_capacity, number_capacity, slot_capacity;
  PawlNode *nodes, *roots, *numbers;
  int* slots;
} PawlGroupScratch;

// The graph of the model with parameters as numbers, and its nodes in it.
PAWL_CHECKED PawlStatus pawl_group_fold(PawlSorter* s, PawlError* err);
void pawl_group_free_folded(PawlSorter* s);
// Which terms and constraints are members of a family.
PAWL_CHECKED PawlStatus pawl_group_find_members(PawlSorter* s, PawlError* err);
// It has the items of another.
static inline bool pawl_group_is_copy(const int* like, int k) {
  return like[k] >= 0 && like[k] != k;
}
// Marks the nodes of the model of which more than the form is needed.
void pawl_group_find_needed(const PawlSorter* s, unsigned char* needed);
// The items of a term or of a constraint (the other is -1) that is like another: 0, or -1 when
// memory is short, as the next two.
int pawl_group_copy_items(PawlSorter* s, int term, int constraint);
// Notes where the slots of an item that others are like come from.
int pawl_group_list_sources(PawlSorter* s, int item, int term, int constraint);
// The coordinates and rows of a lane in their slots: 0 .. of `coordinates` and `rows`, `lanes`
// apart.
void pawl_group_bind(const PawlSorter* s, const PawlLike* like, int lanes, int* coordinates,
                     int* rows);
// And what it acts on.
int pawl_group_target(const PawlSorter* s, const PawlLike* like);
// The item whose form a shape has.
static inline const PawlPlaced* pawl_group_item_of(const PawlSorter* s,
                                                   const PawlItemShape* shape) {
  return &s->items[s->likes[shape->last_like].item];
}
// All items of the model.
PAWL_CHECKED PawlStatus pawl_group_collect(PawlSorter* s, PawlError* err);
// The numbers that are added up in rows.                                                    (A18)
PAWL_CHECKED PawlStatus pawl_group_add_constants(PawlSorter* s, PawlError* err);
// The shape of each.
PAWL_CHECKED PawlStatus pawl_group_shape(PawlSorter* s, PawlError* err);
// Worth a group of its own.
bool pawl_group_is_frequent(const PawlItemShape* shape, const PawlSorter* s);
bool pawl_group_is_single(const PawlSorter* s, int item);
// 0, or -1 when memory is short, as all below.
int pawl_group_build_lanes(PawlSorter* s, PawlGroup* group, const PawlItemShape* shape,
                           PawlGroupScratch* scratch);
// The last group, of all items that are single.
int pawl_group_build_single(PawlSorter* s, PawlGroup* group, PawlGroupScratch* scratch);
// A sink of pawl_derive_item; `context` is a PawlFilling.
int pawl_group_add_entry(void* context, PawlQuantity quantity, int i, int j, PawlNode node);
int pawl_group_derive(PawlFilling* filling, const PawlItem* item, int count, const int* slots);
int pawl_group_scratch_make(PawlGroupScratch* scratch, const PawlItemShape* shape,
                            const PawlPlaced* placed);
void pawl_group_scratch_free(PawlGroupScratch* scratch);
