// SPDX-License-Identifier: Apache-2.0
// Walks over a part of the graph: mark what is reached, list it, sort the list. Nodes are numbered
// operands first, so ascending order is an order of evaluation.
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "expr/dag_store.h"

enum { RADIX = 256, RADIX_BITS = 8, INSERTION_LIMIT = 48 };

static int begin_walk(PawlDag* dag) {
  int had = dag->mark_capacity;
  if (PAWL_GROW(dag->mark, dag->mark_capacity, dag->count) != 0) {
    return -1;
  }
  if (dag->mark_capacity > had) {
    memset(dag->mark + had, 0, (size_t)(dag->mark_capacity - had) * sizeof *dag->mark);
  }
  if (dag->now == INT_MAX) {
    memset(dag->mark, 0, (size_t)dag->mark_capacity * sizeof *dag->mark);
    dag->now = 0;
  }
  dag->now++;
  return 0;
}

// Appends a node that the walk has not met yet.
static int meet(PawlDag* dag, PawlNode node, int* count) {
  if (dag->mark[node].stamp == dag->now) {
    return 0;
  }
  if (PAWL_GROW(dag->list, dag->list_capacity, *count + 1) != 0) {
    return -1;
  }
  dag->mark[node].stamp = dag->now;
  dag->list[(*count)++] = node;
  return 0;
}

static void sort_few(PawlNode* list, int count) {
  for (int i = 1; i < count; i++) {
    PawlNode moving = list[i];
    int at = i;
    for (; at > 0 && list[at - 1] > moving; at--) {
      list[at] = list[at - 1];
    }
    list[at] = moving;
  }
}

// Least digit first; digits above those of the largest node are skipped.
static int sort_many(PawlDag* dag, int count) {
  if (PAWL_GROW(dag->spare, dag->spare_capacity, dag->list_capacity) != 0) {
    return -1;
  }
  int largest = 0;
  for (int i = 0; i < count; i++) {
    largest = dag->list[i] > largest ? dag->list[i] : largest;
  }
  for (int shift = 0; shift < 31 && largest >> shift > 0; shift += RADIX_BITS) {
    int start[RADIX + 1] = {0};
    for (int i = 0; i < count; i++) {
      start[((dag->list[i] >> shift) & (RADIX - 1)) + 1]++;
    }
    for (int digit = 0; digit < RADIX; digit++) {
      start[digit + 1] += start[digit];
    }
    for (int i = 0; i < count; i++) {
      dag->spare[start[(dag->list[i] >> shift) & (RADIX - 1)]++] = dag->list[i];
    }
    PawlNode* sorted = dag->spare;
    int capacity = dag->spare_capacity;
    dag->spare = dag->list;
    dag->spare_capacity = dag->list_capacity;
    dag->list = sorted;
    dag->list_capacity = capacity;
  }
  return 0;
}

int pawl_dag_reach(PawlDag* dag, int root_count, const PawlNode* roots, const PawlNode** nodes) {
  int count = 0;
  if (begin_walk(dag) != 0) {
    return -1;
  }
  for (int i = 0; i < root_count; i++) {
    if (!pawl_dag_has(dag, roots[i]) || meet(dag, roots[i], &count) != 0) {
      return -1;
    }
  }
  for (int i = 0; i < count; i++) {
    const PawlDagNode* node = &dag->node[dag->list[i]];
    for (int k = 0; k < 3 && node->arg[k] >= 0; k++) {
      if (meet(dag, node->arg[k], &count) != 0) {
        return -1;
      }
    }
  }
  if (count <= INSERTION_LIMIT) {
    sort_few(dag->list, count);
  } else if (sort_many(dag, count) != 0) {
    return -1;
  }
  *nodes = dag->list;
  return count;
}

int pawl_slice_take(PawlSlice* slice, PawlDag* dag, int root_count, const PawlNode* roots) {
  const PawlNode* reached;
  *slice = (PawlSlice){0};
  int count = pawl_dag_reach(dag, root_count, roots, &reached);
  if (count < 0) {
    return -1;
  }
  slice->node = pawl_alloc((size_t)count, sizeof *slice->node);
  slice->arg = pawl_alloc((size_t)count, sizeof *slice->arg);
  slice->root = pawl_alloc((size_t)root_count, sizeof *slice->root);
  if (!slice->node || !slice->arg || !slice->root) {
    pawl_slice_free(slice);
    return -1;
  }
  slice->count = count;
  for (int i = 0; i < count; i++) {
    dag->mark[reached[i]].position = i;
    slice->node[i] = reached[i];
    const PawlDagNode* node = &dag->node[reached[i]];
    for (int k = 0; k < 3; k++) {
      slice->arg[i][k] = node->arg[k] >= 0 ? dag->mark[node->arg[k]].position : -1;
    }
  }
  for (int k = 0; k < root_count; k++) {
    slice->root[k] = dag->mark[roots[k]].position;
  }
  return 0;
}

void pawl_slice_free(PawlSlice* slice) {
  pawl_free(slice->node);
  pawl_free(slice->arg);
  pawl_free(slice->root);
  *slice = (PawlSlice){0};
}

int pawl_dag_leaves(PawlDag* dag, PawlNode node, PawlLeafVisit visit, void* context) {
  PawlSlice slice;
  if (pawl_slice_take(&slice, dag, 1, &node) != 0) {
    return -1;
  }
  int answer = 0;
  for (int i = 0; i < slice.count && answer == 0; i++) {
    const PawlDagNode* at = &dag->node[slice.node[i]];
    if (pawl_op_is_leaf(at->op) && at->op != PAWL_OP_CONST) {
      answer = visit(context, at->op, at->index);
    }
  }
  pawl_slice_free(&slice);
  return answer;
}
