// SPDX-License-Identifier: Apache-2.0
// The level of a node is the largest number of sines and cosines on a way down from it, itself not
// counted. Within a part, what sines of level 0 need comes first, then these, then what those of
// level 1 need besides, and so on; all else follows. An operand of what a sine needs is needed,
// too, and its level is not higher, below a sine lower: so operands stay before their users.
#include "expr/tape_order.h"

#include <limits.h>
#include <stdlib.h>

#include "base/alloc.h"

typedef struct Place {
  int part, rank, node;  // rank: 2 level, 2 level + 1 of a sine, LATE
} Place;
enum { LATE = INT_MAX };

static bool is_sine(PawlOp op) {
  return op == PAWL_OP_SIN || op == PAWL_OP_COS;
}

static const PawlDagNode* node_of(const PawlTapeGraph* graph, int i) {
  return pawl_dag_node(graph->dag, graph->nodes[i]);
}

// Odd: a sine.
static void find_ranks(const PawlTapeGraph* graph, int* rank) {
  for (int i = 0; i < graph->count; i++) {
    const PawlDagNode* node = node_of(graph, i);
    for (int k = 0; k < pawl_op_operands(node->op); k++) {
      int below = rank[graph->local[node->arg[k]]];
      int least = below % 2 == 1 ? below + 1 : below;
      rank[i] = least > rank[i] ? least : rank[i];
    }
    rank[i] += is_sine(node->op);
  }
}

static void find_needed(const PawlTapeGraph* graph, const int* rank, bool* needed) {
  for (int i = graph->count - 1; i >= 0; i--) {
    const PawlDagNode* node = node_of(graph, i);
    needed[i] |= rank[i] % 2 == 1;
    for (int k = 0; needed[i] && k < pawl_op_operands(node->op); k++) {
      needed[graph->local[node->arg[k]]] = true;
    }
  }
}

static int compare(const void* a, const void* b) {
  const Place *x = a, *y = b;
  return x->part != y->part   ? x->part - y->part
         : x->rank != y->rank ? (x->rank < y->rank ? -1 : 1)
                              : x->node - y->node;
}

static int count_sines(const PawlTape* tape, const PawlTapeGraph* graph, const int* order) {
  int count = 0;
  for (int k = 0; k < tape->instruction_count; k++) {
    count += is_sine(node_of(graph, order[k])->op);
  }
  return count;
}

int pawl_tape_gather_sines(const PawlTape* tape, const PawlTapeGraph* graph, int* order,
                           const int* part) {
  if (count_sines(tape, graph, order) < 2) {
    return 0;
  }
  size_t count = (size_t)tape->instruction_count;
  int* rank = pawl_alloc((size_t)graph->count, sizeof *rank);
  bool* needed = pawl_alloc((size_t)graph->count, sizeof *needed);
  Place* places = pawl_alloc(count, sizeof *places);
  int failed = rank && needed && places ? 0 : -1;
  if (!failed) {
    find_ranks(graph, rank);
    find_needed(graph, rank, needed);
    for (size_t k = 0; k < count; k++) {
      int i = order[k];
      places[k] = (Place){part[i], needed[i] ? rank[i] : LATE, i};
    }
    qsort(places, count, sizeof *places, compare);
    for (size_t k = 0; k < count; k++) {
      order[k] = places[k].node;
    }
  }
  pawl_free(rank);
  pawl_free(needed);
  pawl_free(places);
  return failed;
}
