// SPDX-License-Identifier: Apache-2.0
// Which gates need a node: those of the outputs above it. Nodes with the same set of gates make a
// part.
//
// An operand is needed by all that need its user, so its set contains that of the user: with larger
// sets first, and within a part ascending nodes, operands are computed before they are read. Sets
// of more than MOST_GATES gates count as one, MANY, so that sets stay small whatever the number of
// gates; its part runs when an open gate needs anything of it.
#include "expr/tape_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { MOST_GATES = 8, MANY, ALWAYS };  // in ascending order

typedef struct GateSet {
  int count;              // or MANY, or ALWAYS: needed whatever is open
  int gates[MOST_GATES];  // ascending
} GateSet;

typedef struct Sorted {
  GateSet set;
  int node;
} Sorted;

static void add_gate(GateSet* set, int gate) {
  int at = 0;
  if (set->count > MOST_GATES) {
    return;
  }
  while (at < set->count && set->gates[at] < gate) {
    at++;
  }
  if (at < set->count && set->gates[at] == gate) {
    return;
  }
  if (set->count == MOST_GATES) {
    set->count = MANY;
    return;
  }
  for (int k = set->count++; k > at; k--) {
    set->gates[k] = set->gates[k - 1];
  }
  set->gates[at] = gate;
}

static void unite(GateSet* set, const GateSet* other) {
  if (other->count > MOST_GATES && other->count > set->count) {
    set->count = other->count;
  }
  for (int k = 0; other->count <= MOST_GATES && k < other->count; k++) {
    add_gate(set, other->gates[k]);
  }
}

// Sets of all nodes; operands come before users, so one pass down is enough.
static void find_sets(const PawlTapeGraph* graph, const PawlTapeOutputs* outputs, GateSet* sets) {
  for (int k = 0; k < outputs->count; k++) {
    GateSet* set = &sets[graph->local[outputs->nodes[k]]];
    if (outputs->gates[k] < 0) {
      set->count = ALWAYS;
    } else {
      add_gate(set, outputs->gates[k]);
    }
  }
  for (int i = graph->count - 1; i >= 0; i--) {
    const PawlDagNode* node = pawl_dag_node(graph->dag, graph->nodes[i]);
    for (int k = 0; k < pawl_op_operands(node->op); k++) {
      unite(&sets[graph->local[node->arg[k]]], &sets[i]);
    }
  }
  for (int i = 0; i < graph->count; i++) {
    if (graph->partner[i] > i) {  // computed by one instruction; its argument is needed by both
      unite(&sets[i], &sets[graph->partner[i]]);
      sets[graph->partner[i]] = sets[i];
    }
  }
}

// Whether it takes the part of MANY to have node i.
static bool is_of_many(const PawlTapeGraph* graph, const GateSet* sets, int i) {
  return sets[i].count == MANY && !pawl_op_is_leaf(pawl_dag_node(graph->dag, graph->nodes[i])->op);
}

// Flags the gates that need a node of MANY: those of its users, and those of outputs.
static void flag_gates(const PawlTapeGraph* graph, const PawlTapeOutputs* outputs,
                       const GateSet* sets, bool* flags) {
  for (int k = 0; k < outputs->count; k++) {
    if (is_of_many(graph, sets, graph->local[outputs->nodes[k]])) {
      flags[outputs->gates[k]] = true;
    }
  }
  for (int i = 0; i < graph->count; i++) {
    const PawlDagNode* node = pawl_dag_node(graph->dag, graph->nodes[i]);
    bool reads = false;
    for (int k = 0; k < pawl_op_operands(node->op); k++) {
      reads |= is_of_many(graph, sets, graph->local[node->arg[k]]);
    }
    for (int k = 0; reads && sets[i].count <= MOST_GATES && k < sets[i].count; k++) {
      flags[sets[i].gates[k]] = true;
    }
  }
}

static int compare_sets(const GateSet* x, const GateSet* y) {
  if (x->count != y->count) {
    return x->count > y->count ? -1 : 1;
  }
  for (int k = 0; x->count <= MOST_GATES && k < x->count; k++) {
    if (x->gates[k] != y->gates[k]) {
      return x->gates[k] < y->gates[k] ? -1 : 1;
    }
  }
  return 0;
}

static int compare_sorted(const void* a, const void* b) {
  const Sorted *x = a, *y = b;
  int by_set = compare_sets(&x->set, &y->set);
  return by_set ? by_set : x->node - y->node;
}

// Parts from the sorted nodes; part 0 is there even when nothing is needed always.
static int make_parts(PawlTape* tape, const Sorted* sorted, int* order, int* part) {
  int count = tape->instruction_count;
  tape->parts = pawl_alloc((size_t)count + 1, sizeof(PawlTapePart));
  if (!tape->parts) {
    return -1;
  }
  tape->part_count = 1;
  for (int k = 0; k < count; k++) {
    bool begins = k == 0 ? sorted[0].set.count != ALWAYS
                         : compare_sets(&sorted[k - 1].set, &sorted[k].set) != 0;
    if (begins) {
      tape->parts[tape->part_count++].first = k;
    }
    tape->parts[tape->part_count - 1].count++;
    order[k] = sorted[k].node;
    part[order[k]] = tape->part_count - 1;
  }
  return 0;
}

// The part of MANY is the first after part 0; 0 when it has no code.
static int part_of_many(const PawlTape* tape, const Sorted* sorted) {
  return tape->part_count > 1 && sorted[tape->parts[1].first].set.count == MANY ? 1 : 0;
}

// start[g + 2] receives the number of parts of gate g.
static void count_parts(const PawlTape* tape, const Sorted* sorted, const bool* flags, int* start) {
  int many = part_of_many(tape, sorted);
  for (int g = 0; many && g < tape->gate_count; g++) {
    start[g + 2] = flags[g];
  }
  for (int p = 1 + many; p < tape->part_count; p++) {
    const GateSet* set = &sorted[tape->parts[p].first].set;
    for (int k = 0; k < set->count; k++) {
      start[set->gates[k] + 2]++;
    }
  }
}

// The parts of each gate, ascending, that is with larger sets first; start[g + 1] moves from the
// begin of gate g to its end.
static void put_parts(const PawlTape* tape, const Sorted* sorted, const bool* flags, int* start) {
  int many = part_of_many(tape, sorted);
  for (int g = 0; many && g < tape->gate_count; g++) {
    if (flags[g]) {
      tape->gate_parts[start[g + 1]++] = many;
    }
  }
  for (int p = 1 + many; p < tape->part_count; p++) {
    const GateSet* set = &sorted[tape->parts[p].first].set;
    for (int k = 0; k < set->count; k++) {
      tape->gate_parts[start[set->gates[k] + 1]++] = p;
    }
    if (set->count == 1) {
      tape->own_part[set->gates[0]] = p;
    }
  }
}

static int list_parts(PawlTape* tape, const Sorted* sorted, const bool* flags) {
  int* start = tape->gate_start = pawl_alloc((size_t)tape->gate_count + 2, sizeof(int));
  tape->own_part = pawl_alloc((size_t)tape->gate_count, sizeof(int));
  if (!start || !tape->own_part) {
    return -1;
  }
  for (int g = 0; g < tape->gate_count; g++) {
    tape->own_part[g] = -1;
  }
  count_parts(tape, sorted, flags, start);
  for (int g = 0; g < tape->gate_count; g++) {
    start[g + 2] += start[g + 1];
  }
  tape->gate_parts = pawl_alloc((size_t)start[tape->gate_count + 1], sizeof(int));
  if (!tape->gate_parts) {
    return -1;
  }
  put_parts(tape, sorted, flags, start);
  return 0;
}

static int make_one_part(PawlTape* tape) {
  tape->parts = pawl_alloc(1, sizeof(PawlTapePart));
  if (!tape->parts) {
    return -1;
  }
  tape->part_count = 1;
  tape->parts[0].count = tape->instruction_count;
  return 0;
}

int pawl_tape_divide(PawlTape* tape, const PawlTapeGraph* graph, const PawlTapeOutputs* outputs,
                     int* order, int* part) {
  tape->gate_count = outputs->gate_count;
  if (outputs->gate_count == 0) {
    return make_one_part(tape);
  }
  int count = tape->instruction_count;
  GateSet* sets = pawl_alloc((size_t)graph->count, sizeof(GateSet));
  Sorted* sorted = pawl_alloc((size_t)count, sizeof(Sorted));
  bool* flags = pawl_alloc((size_t)outputs->gate_count, sizeof(bool));
  int failed = sets && sorted && flags ? 0 : -1;
  if (!failed) {
    find_sets(graph, outputs, sets);
    flag_gates(graph, outputs, sets, flags);
    for (int k = 0; k < count; k++) {
      sorted[k] = (Sorted){sets[order[k]], order[k]};
    }
    qsort(sorted, (size_t)count, sizeof(Sorted), compare_sorted);
    failed = make_parts(tape, sorted, order, part);
  }
  if (!failed) {
    failed = list_parts(tape, sorted, flags);
  }
  pawl_free(sets);
  pawl_free(sorted);
  pawl_free(flags);
  return failed;
}
