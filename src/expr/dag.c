// SPDX-License-Identifier: Apache-2.0
// The store of the expression graph. Hash-consing: before a node is made, an equal one is looked
// for in a table of open addressing. Commutative operations hash without regard to order, so that
// a*b finds b*a; the operands stay as first written.
//
// Invariant: the operands of a node have smaller indices than the node, and no two nodes are equal.
#include "expr/dag.h"

#include <string.h>

#include "base/alloc.h"
#include "expr/dag_store.h"

enum { FIRST_TABLE = 256 };

static bool commutes(PawlOp op) {
  return pawl_op_has(op, PAWL_FACT_COMMUTES);
}

PawlDag* pawl_dag_create(void) {
  PawlDag* dag = pawl_alloc(1, sizeof *dag);
  PawlDagEntry* table = pawl_alloc(FIRST_TABLE, sizeof *table);
  if (!dag || !table) {
    pawl_free(dag);
    pawl_free(table);
    return NULL;
  }
  dag->table = table;
  dag->table_size = FIRST_TABLE;
  return dag;
}

void pawl_dag_destroy(PawlDag* dag) {
  if (dag) {
    pawl_free(dag->node);
    pawl_free(dag->table);
    pawl_free(dag->mark);
    pawl_free(dag->list);
    pawl_free(dag->spare);
    pawl_free(dag);
  }
}

int pawl_dag_count(const PawlDag* dag) {
  return dag->count;
}

const PawlDagNode* pawl_dag_node(const PawlDag* dag, PawlNode node) {
  return &dag->node[node];
}

static uint64_t pair(int high, int low) {
  return (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
}

// Multiplications by large odd numbers, with shifts that bring the high bits down.
static uint32_t hash_node(const PawlDagNode* node) {
  uint64_t bits;
  memcpy(&bits, &node->value, sizeof bits);
  int a = node->arg[0], b = node->arg[1];
  bool swap = a > b && commutes(node->op);
  uint64_t h = bits + pair((int)node->op, node->index) * 0x9E3779B97F4A7C15u;
  h = (h ^ (h >> 29)) + pair(swap ? b : a, swap ? a : b) * 0xD6E8FEB86659FD93u;
  h = (h ^ (h >> 32)) * 0xBF58476D1CE4E5B9u + (uint32_t)node->arg[2];
  h = (h ^ (h >> 30)) * 0x94D049BB133111EBu;
  return (uint32_t)(h >> 32);
}

static bool same_node(const PawlDagNode* x, const PawlDagNode* y) {
  if (x->op != y->op || x->index != y->index || x->arg[2] != y->arg[2] ||
      memcmp(&x->value, &y->value, sizeof x->value) != 0) {
    return false;
  }
  if (x->arg[0] == y->arg[0] && x->arg[1] == y->arg[1]) {
    return true;
  }
  return x->arg[0] == y->arg[1] && x->arg[1] == y->arg[0] && commutes(x->op);
}

static void insert(PawlDagEntry* table, int size, PawlDagEntry entry) {
  uint32_t mask = (uint32_t)size - 1;
  uint32_t at = entry.hash & mask;
  while (table[at].node_plus_1 != 0) {
    at = (at + 1) & mask;
  }
  table[at] = entry;
}

static int make_room(PawlDag* dag) {
  if (dag->count >= PAWL_DAG_MAX_NODES ||
      PAWL_GROW(dag->node, dag->capacity, dag->count + 1) != 0) {
    return -1;
  }
  if (dag->count + 1 <= dag->table_size / 2) {
    return 0;
  }
  int size = 2 * dag->table_size;
  PawlDagEntry* table = pawl_alloc((size_t)size, sizeof *table);
  if (!table) {
    return -1;
  }
  for (int i = 0; i < dag->table_size; i++) {
    if (dag->table[i].node_plus_1 != 0) {
      insert(table, size, dag->table[i]);
    }
  }
  pawl_free(dag->table);
  dag->table = table;
  dag->table_size = size;
  return 0;
}

static PawlNode find_or_add(PawlDag* dag, const PawlDagNode* wanted) {
  uint32_t hash = hash_node(wanted);
  uint32_t mask = (uint32_t)dag->table_size - 1;
  for (uint32_t at = hash & mask; dag->table[at].node_plus_1 != 0; at = (at + 1) & mask) {
    PawlNode node = dag->table[at].node_plus_1 - 1;
    if (dag->table[at].hash == hash && same_node(&dag->node[node], wanted)) {
      return node;
    }
  }
  if (make_room(dag) != 0) {
    return PAWL_NO_NODE;
  }
  PawlNode node = dag->count++;
  dag->node[node] = *wanted;
  insert(dag->table, dag->table_size, (PawlDagEntry){hash, node + 1});
  return node;
}

PawlNode pawl_dag_make(PawlDag* dag, PawlOp op, int index, PawlNode a, PawlNode b, PawlNode c) {
  return find_or_add(dag, &(PawlDagNode){.op = op, .index = index, .arg = {a, b, c}});
}

PawlNode pawl_dag_const(PawlDag* dag, double value) {
  PawlDagNode node = {.op = PAWL_OP_CONST, .arg = {PAWL_NO_NODE, PAWL_NO_NODE, PAWL_NO_NODE}};
  node.value = isnan(value) ? NAN : value + 0.0;  // one NaN, and -0 is 0
  return find_or_add(dag, &node);
}

PawlNode pawl_dag_leaf(PawlDag* dag, PawlOp leaf, int index) {
  if (!pawl_op_is_leaf(leaf) || leaf == PAWL_OP_CONST) {
    return PAWL_NO_NODE;
  }
  int which = leaf == PAWL_OP_TIME ? 0 : index;
  return pawl_dag_make(dag, leaf, which, PAWL_NO_NODE, PAWL_NO_NODE, PAWL_NO_NODE);
}

bool pawl_dag_is_const(const PawlDag* dag, PawlNode node, double* value) {
  if (!pawl_dag_has(dag, node) || dag->node[node].op != PAWL_OP_CONST) {
    return false;
  }
  if (value) {
    *value = dag->node[node].value;
  }
  return true;
}
