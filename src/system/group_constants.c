// SPDX-License-Identifier: Apache-2.0
// The numbers that are added up in the rows of constraints: what rounding of a row is a part of
// however small its coordinates are.                                                        (A18)
#include <math.h>

#include "base/alloc.h"
#include "base/error.h"
#include "system/group_impl.h"

typedef struct Addend {
  PawlNode node;
  double factor;
} Addend;

typedef struct Addends {
  int count, capacity;
  Addend* at;
} Addends;

static int push(Addends* stack, PawlNode node, double factor) {
  if (PAWL_GROW(stack->at, stack->capacity, stack->count + 1) != 0) {
    return -1;
  }
  stack->at[stack->count++] = (Addend){node, factor};
  return 0;
}

// What an addend is a sum of, or a multiple of.
static int take_apart(const PawlDag* dag, Addends* stack, const PawlDagNode* n, double factor) {
  double by;
  switch (n->op) {
    case PAWL_OP_ADD:
    case PAWL_OP_SUB:
      return push(stack, n->arg[1], factor) != 0 ? -1 : push(stack, n->arg[0], factor);
    case PAWL_OP_NEG:
      return push(stack, n->arg[0], factor);
    case PAWL_OP_MUL:
      for (int k = 0; k < 2; k++) {
        if (pawl_dag_is_const(dag, n->arg[k], &by)) {
          return push(stack, n->arg[1 - k], factor * fabs(by));
        }
      }
      return 0;
    case PAWL_OP_DIV:
      return pawl_dag_is_const(dag, n->arg[1], &by) ? push(stack, n->arg[0], factor / fabs(by)) : 0;
    default:
      return 0;
  }
}

// `*size`: of all numbers that are added up in the node, whatever is left of them.
static int add_up(const PawlDag* dag, Addends* stack, PawlNode node, double* size) {
  double value;
  *size = 0.0;
  int failed = push(stack, node, 1.0);
  while (!failed && stack->count > 0) {
    Addend top = stack->at[--stack->count];
    PawlDagNode n = *pawl_dag_node(dag, top.node);
    if (pawl_dag_is_const(dag, top.node, &value)) {
      *size += top.factor * fabs(value);
    } else {
      failed = take_apart(dag, stack, &n, top.factor);
    }
  }
  return failed;
}

static bool has_rows(const PawlItem* item) {
  return item->kind == PAWL_ITEM_CONSTRAINT;
}

// Of the rows of each item in turn; `*any`: there are some.
static int size_items(const PawlSorter* s, Addends* stack, double* sizes, bool* any) {
  int failed = 0;
  for (int k = 0; !failed && k < s->item_count; k++) {
    const PawlItem* item = &s->items[k].item;
    for (int i = 0; !failed && has_rows(item) && i < item->count; i++, sizes++) {
      failed = add_up(s->dag, stack, item->nodes[i], sizes);
      *sizes = isfinite(*sizes) ? *sizes : 0.0;
      *any |= *sizes > 0.0;
    }
  }
  return failed;
}

// Those of the rows of all items and of their members; of all modes of a row the largest.
static void note(PawlSorter* s, const double* sizes, int* first) {
  double* of_row = s->system->row_constants;
  int count = 0;
  for (int k = 0; k < s->item_count; k++) {
    first[k] = count;
    count += has_rows(&s->items[k].item) ? s->items[k].item.count : 0;
  }
  for (int k = 0; k < s->like_count; k++) {
    const PawlItem* item = &s->items[s->likes[k].item].item;
    for (int i = 0; has_rows(item) && i < item->count; i++) {
      int row = pawl_group_target(s, &s->likes[k]) + i;
      of_row[row] = fmax(of_row[row], sizes[first[s->likes[k].item] + i]);
    }
  }
}

PawlStatus pawl_group_add_constants(PawlSorter* s, PawlError* err) {
  PawlSystem* system = s->system;
  Addends stack = {0};
  size_t count = 0;
  bool any = false;
  for (int k = 0; k < s->item_count; k++) {
    count += has_rows(&s->items[k].item) ? (size_t)s->items[k].item.count : 0;
  }
  double* sizes = pawl_alloc(count, sizeof *sizes);
  int* first = pawl_alloc((size_t)s->item_count, sizeof *first);
  bool failed = !sizes || !first || size_items(s, &stack, sizes, &any) != 0;
  if (!failed && any) {
    system->row_constants = PAWL_NEW(&system->arena, double, system->sizes.rows);
    failed = !system->row_constants;
  }
  if (!failed && any) {
    note(s, sizes, first);
  }
  pawl_free(stack.at);
  pawl_free(sizes);
  pawl_free(first);
  return failed ? pawl_fail_memory(err) : PAWL_OK;
}
