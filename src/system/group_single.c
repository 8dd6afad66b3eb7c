// SPDX-License-Identifier: Apache-2.0
// The group of all that is met seldom: one lane, shared subexpressions, contributions summed
// symbolically; multiplied out, or from the forms of its kinetic energies, whichever is cheaper.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "expr/normal.h"
#include "model/model.h"
#include "system/group_impl.h"
#include "system/squares.h"

// Kinetic energies that cost less than the first are short when multiplied out, and those that cost
// more than the second are long; between them both ways are tried (docs/theory/squares.md). Passes
// over all forms, one for each coordinate, are for models that are not large.
enum { LEAST_ENERGY = 60, MOST_ENERGY = 250, MOST_COORDINATES = 64 };

static int compare_ints(const void* a, const void* b) {
  int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

// A list that is empty has no memory.
static const int* part(const int* list, int first) {
  return list ? list + first : NULL;
}

// Builds the item in the graph of the group: its expressions in scratch->roots, the coordinates
// that occur in scratch->slots, ascending.
static int rebuild(PawlSorter* s, PawlGroup* group, const PawlPlaced* placed,
                   PawlGroupScratch* scratch) {
  const PawlItemShape* shape = &s->shapes[placed->shape];
  if (pawl_group_scratch_make(scratch, shape, placed) != 0) {
    return -1;
  }
  for (int n = 0; n < placed->number_count; n++) {
    scratch->numbers[n] = pawl_dag_const(group->dag, s->numbers[placed->numbers + n]);
    if (scratch->numbers[n] == PAWL_NO_NODE) {
      return -1;
    }
  }
  const int* coordinates = part(s->coordinates, placed->coordinates);
  PawlSlotNodes slots = {coordinates, part(s->rows, placed->rows), scratch->numbers};
  if (pawl_shape_build(group->dag, shape->token_count, s->tokens + shape->first_token, &slots,
                       scratch->nodes, scratch->roots) < 0) {
    return -1;
  }
  if (placed->coordinate_count > 0) {
    memcpy(scratch->slots, coordinates, (size_t)placed->coordinate_count * sizeof(int));
    qsort(scratch->slots, (size_t)placed->coordinate_count, sizeof(int), compare_ints);
  }
  return 0;
}

// `squares`, if not NULL, takes in what it can; this is then derived later, all of it together.
static int build_single(PawlSorter* s, PawlGroup* group, const PawlPlaced* placed,
                        PawlGroupScratch* scratch, PawlSquares* squares) {
  if (rebuild(s, group, placed, scratch) != 0) {
    return -1;
  }
  int count = placed->coordinate_count;
  PawlItem item = {placed->item.kind, placed->item.target, placed->item.count, scratch->roots,
                   placed->item.gate};
  PawlFilling filling = {group, placed->item.gate, s->system->model};
  int taken = squares && item.kind == PAWL_ITEM_KINETIC
                  ? pawl_squares_take(squares, group->dag, item.nodes[0])
                  : 0;
  if (taken <= 0) {
    return taken < 0 ? -1 : pawl_group_derive(&filling, &item, count, scratch->slots);
  }
  return pawl_group_add_entry(&filling, PAWL_Q_ENERGY, 0, 0, item.nodes[0]) != 0 ||
                 pawl_derive_powers(group->dag, &item, count, scratch->slots, pawl_group_add_entry,
                                    &filling) != PAWL_OK
             ? -1
             : 0;
}

static int* identity(PawlArena* arena, int count) {
  int* map = PAWL_NEW(arena, int, count);
  for (int k = 0; map && k < count; k++) {
    map[k] = k;
  }
  return map;
}

// Entries with the same place are summed: one expression for each place.
typedef struct Ordered {
  PawlEntry entry;
  int order;
} Ordered;

static int compare_entries(const void* a, const void* b) {
  const Ordered *x = a, *y = b;
  if (x->entry.quantity != y->entry.quantity) {
    return x->entry.quantity < y->entry.quantity ? -1 : 1;
  }
  if (x->entry.i != y->entry.i) {
    return x->entry.i < y->entry.i ? -1 : 1;
  }
  if (x->entry.j != y->entry.j) {
    return x->entry.j < y->entry.j ? -1 : 1;
  }
  if (x->entry.gate != y->entry.gate) {
    return x->entry.gate < y->entry.gate ? -1 : 1;
  }
  return x->order - y->order;
}

static int sum_entries(PawlGroup* group) {
  Ordered* sorted = pawl_alloc((size_t)group->entry_count, sizeof(Ordered));
  if (!sorted) {
    return -1;
  }
  for (int k = 0; k < group->entry_count; k++) {
    sorted[k] = (Ordered){group->entries[k], k};
  }
  qsort(sorted, (size_t)group->entry_count, sizeof(Ordered), compare_entries);
  int count = 0, failed = 0;
  for (int k = 0; k < group->entry_count; k++) {
    PawlEntry entry = sorted[k].entry;
    PawlEntry* last = count > 0 ? &group->entries[count - 1] : NULL;
    if (last && last->quantity == entry.quantity && last->i == entry.i && last->j == entry.j &&
        last->gate == entry.gate) {
      last->node = pawl_dag_add(group->dag, last->node, entry.node);
      failed |= last->node == PAWL_NO_NODE;
    } else {
      group->entries[count++] = entry;
    }
  }
  group->entry_count = count;
  pawl_free(sorted);
  return failed ? -1 : 0;
}

static bool has_sine(PawlDag* dag, PawlNode node) {
  const PawlNode* reached;
  int count = pawl_dag_reach(dag, 1, &node, &reached);
  for (int k = 0; k < count; k++) {
    PawlOp op = pawl_dag_node(dag, reached[k])->op;
    if (op == PAWL_OP_SIN || op == PAWL_OP_COS) {
      return true;
    }
  }
  return false;
}

// Products of sines and cosines as sums, where that is cheaper: mass matrices of linkages shrink to
// a fraction. Entries of two quantities that are evaluated together are judged together; entries
// without sines are left as derived, since multiplying out could cost digits.
static int shorten(PawlGroup* group, PawlQuantity one, PawlQuantity other) {
  enum { MOST_ENTRIES = 1000 };
  PawlNode roots[MOST_ENTRIES];
  int at[MOST_ENTRIES], count = 0;
  for (int k = 0; k < group->entry_count; k++) {
    const PawlEntry* e = &group->entries[k];
    if ((e->quantity == one || e->quantity == other) && has_sine(group->dag, e->node)) {
      if (count == MOST_ENTRIES) {
        return 0;
      }
      roots[count] = e->node;
      at[count++] = k;
    }
  }
  if (count == 0) {
    return 0;
  }
  if (pawl_dag_normalize_if_cheaper(group->dag, count, roots) != PAWL_OK) {
    return -1;
  }
  for (int k = 0; k < count; k++) {
    group->entries[at[k]].node = roots[k];
  }
  return 0;
}

static int start_single_group(PawlSorter* s, PawlGroup* group) {
  PawlArena* arena = &s->system->arena;
  PawlSizes sizes = s->system->sizes;
  group->dag = pawl_dag_create();
  group->lanes = 1;
  group->coordinate_count = sizes.v;
  group->row_count = sizes.rows;
  group->coordinates = identity(arena, sizes.v);
  group->rows = identity(arena, sizes.rows);
  group->outputs = identity(arena, sizes.outputs);
  if (!group->dag || !group->coordinates || !group->rows || !group->outputs) {
    return -1;
  }
  pawl_dag_share_tables(group->dag, s->dag);
  return 0;
}

static int build_single_group(PawlSorter* s, PawlGroup* group, PawlGroupScratch* scratch) {
  int failed = start_single_group(s, group);
  for (int k = 0; !failed && k < s->item_count; k++) {
    failed = pawl_group_is_single(s, k) ? build_single(s, group, &s->items[k], scratch, NULL) : 0;
  }
  return failed || sum_entries(group) != 0 || shorten(group, PAWL_Q_M, PAWL_Q_F) != 0 ||
                 shorten(group, PAWL_Q_K, PAWL_Q_C) != 0
             ? -1
             : 0;
}

// ---- the same from forms ------------------------------------------------------------------------
// Where kinetic energies are sums of squares they are derived from their forms and not multiplied
// out. `*taken`: there are some.
static int build_square_group(PawlSorter* s, PawlGroup* group, PawlGroupScratch* scratch,
                              bool* taken) {
  PawlSquares squares = {0};
  int failed = start_single_group(s, group);
  for (int k = 0; !failed && k < s->item_count; k++) {
    failed =
        pawl_group_is_single(s, k) ? build_single(s, group, &s->items[k], scratch, &squares) : 0;
  }
  *taken = squares.count > 0;
  if (!failed && *taken) {
    PawlFilling filling = {group, -1, s->system->model};
    PawlSpins spins = {s->system->model, group->coordinates, group->lanes};
    failed = pawl_squares_derive(&squares, group->dag, &spins, group->coordinate_count,
                                 group->coordinates, pawl_group_add_entry, &filling) != PAWL_OK;
  }
  pawl_squares_free(&squares);
  return failed || sum_entries(group) != 0 ? -1 : 0;
}

static void free_group(PawlGroup* group) {
  pawl_dag_destroy(group->dag);
  pawl_free(group->entries);
  *group = (PawlGroup){0};
}

// What M and f cost; -1: no memory.
static long long cost_of_motion(PawlGroup* group) {
  PawlNode* roots = pawl_alloc((size_t)group->entry_count, sizeof *roots);
  int count = 0;
  for (int k = 0; roots && k < group->entry_count; k++) {
    PawlQuantity quantity = group->entries[k].quantity;
    if (quantity == PAWL_Q_M || quantity == PAWL_Q_F) {
      roots[count++] = group->entries[k].node;
    }
  }
  long long cost = roots ? pawl_dag_cost(group->dag, count, roots) : -1;
  pawl_free(roots);
  return cost;
}

// What the single kinetic energies cost, as they are written; -1: no memory.
static long long cost_of_energy(PawlSorter* s) {
  PawlNode* roots = pawl_alloc((size_t)s->item_count, sizeof *roots);
  int count = 0;
  for (int k = 0; roots && k < s->item_count; k++) {
    if (s->items[k].item.kind == PAWL_ITEM_KINETIC && pawl_group_is_single(s, k)) {
      roots[count++] = s->items[k].item.nodes[0];
    }
  }
  long long cost = roots ? pawl_dag_cost(s->dag, count, roots) : -1;
  pawl_free(roots);
  return cost;
}

// From forms, and unless T is too long for it also multiplied out; the cheaper one is kept.
static int build_cheaper_group(PawlSorter* s, PawlGroup* group, long long T,
                               PawlGroupScratch* scratch) {
  PawlGroup other = {0};
  bool taken = false;
  int failed = build_square_group(s, &other, scratch, &taken);
  long long cost = failed ? -1 : cost_of_motion(&other);
  bool both = !taken || T <= MOST_ENERGY;
  failed = failed || cost < 0 ? -1 : both ? build_single_group(s, group, scratch) : 0;
  if (!failed && (!both || (taken && cost < cost_of_motion(group)))) {
    free_group(group);
    *group = other;
  } else {
    free_group(&other);
  }
  return failed;
}

int pawl_group_build_single(PawlSorter* s, PawlGroup* group, PawlGroupScratch* scratch) {
  long long T = cost_of_energy(s);
  bool plain = T < LEAST_ENERGY || s->system->sizes.v > MOST_COORDINATES;
  return T < 0   ? -1
         : plain ? build_single_group(s, group, scratch)
                 : build_cheaper_group(s, group, T, scratch);
}
