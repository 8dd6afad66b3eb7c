// SPDX-License-Identifier: Apache-2.0
// The store of the expression graph. Hash-consing: before a node is made, an equal one is looked
// for. Commutative operations hash without regard to order, so that a*b finds b*a; the operands
// stay as first written.
//
// Large graphs are built in order, term by term, so the places to look in should be in order, too:
// a hash that scatters them costs a miss of the cache for each node. A node is kept in the bucket
// of its largest operand, which was nearly always made or found a moment ago. What has no room
// there, as the users of a popular operand, goes to a table by hash, and so do numbers. Other
// leaves have a table of their own, in the order of their indices. Nothing is ever removed, so a
// bucket with an empty entry holds all that belongs to it.
//
// Invariant: the operands of a node have smaller indices than the node, and no two nodes are equal.
#include "expr/dag.h"

#include <string.h>

#include "base/alloc.h"
#include "expr/dag_store.h"

enum { FIRST_TABLE = 256, LONGEST_TRACE = 2000 };

static bool commutes(PawlOp op) {
  return pawl_op_has(op, PAWL_FACT_COMMUTES);
}

PawlDag* pawl_dag_create(void) {
  PawlDag* dag = pawl_alloc(1, sizeof *dag);
  PawlDagEntry* leaves = pawl_alloc(FIRST_TABLE, sizeof *leaves);
  PawlDagEntry* others = pawl_alloc(FIRST_TABLE, sizeof *others);
  if (!dag || !leaves || !others) {
    pawl_free(dag);
    pawl_free(leaves);
    pawl_free(others);
    return NULL;
  }
  dag->leaves = (PawlDagTable){leaves, FIRST_TABLE, 0};
  dag->others = (PawlDagTable){others, FIRST_TABLE, 0};
  return dag;
}

void pawl_dag_destroy(PawlDag* dag) {
  if (dag) {
    pawl_free(dag->node);
    pawl_free(dag->buckets);
    pawl_free(dag->leaves.entries);
    pawl_free(dag->others.entries);
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
static uint32_t scatter_node(const PawlDagNode* node) {
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

static bool is_variable(const PawlDagNode* node) {
  return pawl_op_is_leaf(node->op) && node->op != PAWL_OP_CONST;
}

// Neighbours for leaves of neighbouring index, whatever their kind.
static uint32_t hash_node(const PawlDagNode* node) {
  enum { LEAF_KINDS = 8 };
  return is_variable(node) ? (uint32_t)node->index * LEAF_KINDS + (uint32_t)node->op
                           : scatter_node(node);
}

static PawlNode largest_operand(const PawlDagNode* node) {
  PawlNode top = node->arg[0] > node->arg[1] ? node->arg[0] : node->arg[1];
  return node->arg[2] > top ? node->arg[2] : top;
}

static bool holds(const PawlDag* dag, PawlDagEntry entry, uint32_t hash,
                  const PawlDagNode* wanted) {
  return entry.hash == hash && same_node(&dag->node[entry.node_plus_1 - 1], wanted);
}

// ---- buckets ------------------------------------------------------------------------------------
// The node, or PAWL_NO_NODE with the number of entries in `*used`.
static PawlNode find_in_bucket(const PawlDag* dag, PawlNode top, uint32_t hash,
                               const PawlDagNode* wanted, int* used) {
  const PawlDagEntry* entries = dag->buckets[top / PAWL_BUCKET_NODES].entries;
  int k = 0;
  for (; k < PAWL_BUCKET_ROOM && entries[k].node_plus_1 != 0; k++) {
    if (holds(dag, entries[k], hash, wanted)) {
      return entries[k].node_plus_1 - 1;
    }
  }
  *used = k;
  return PAWL_NO_NODE;
}

// ---- tables -------------------------------------------------------------------------------------
static PawlNode find_in_table(const PawlDag* dag, const PawlDagTable* table, uint32_t hash,
                              const PawlDagNode* wanted) {
  uint32_t mask = (uint32_t)table->size - 1;
  for (uint32_t at = hash & mask; table->entries[at].node_plus_1 != 0; at = (at + 1) & mask) {
    if (holds(dag, table->entries[at], hash, wanted)) {
      return table->entries[at].node_plus_1 - 1;
    }
  }
  return PAWL_NO_NODE;
}

static void insert(PawlDagTable* table, PawlDagEntry entry) {
  uint32_t mask = (uint32_t)table->size - 1;
  uint32_t at = entry.hash & mask;
  while (table->entries[at].node_plus_1 != 0) {
    at = (at + 1) & mask;
  }
  table->entries[at] = entry;
  table->count++;
}

static int grow_table(PawlDagTable* table) {
  if (table->count + 1 <= table->size / 2) {
    return 0;
  }
  PawlDagTable larger = {NULL, 2 * table->size, 0};
  larger.entries = pawl_alloc((size_t)larger.size, sizeof *larger.entries);
  if (!larger.entries) {
    return -1;
  }
  for (int i = 0; i < table->size; i++) {
    if (table->entries[i].node_plus_1 != 0) {
      insert(&larger, table->entries[i]);
    }
  }
  pawl_free(table->entries);
  *table = larger;
  return 0;
}

// ---- nodes --------------------------------------------------------------------------------------
// Adds the node at the end, with an empty bucket for its users. PAWL_NO_NODE without memory.
static PawlNode append(PawlDag* dag, const PawlDagNode* node) {
  if (dag->count >= PAWL_DAG_MAX_NODES ||
      PAWL_GROW(dag->node, dag->capacity, dag->count + 1) != 0 ||
      PAWL_GROW(dag->buckets, dag->bucket_capacity, dag->count / PAWL_BUCKET_NODES + 1) != 0) {
    return PAWL_NO_NODE;
  }
  if (dag->count % PAWL_BUCKET_NODES == 0) {
    dag->buckets[dag->count / PAWL_BUCKET_NODES] = (PawlDagBucket){0};
  }
  dag->node[dag->count] = *node;
  return dag->count++;
}

static PawlNode look_or_add(PawlDag* dag, const PawlDagNode* wanted) {
  uint32_t hash = hash_node(wanted);
  PawlNode top = largest_operand(wanted), node;
  PawlDagTable* table = is_variable(wanted) ? &dag->leaves : &dag->others;
  int used = PAWL_BUCKET_ROOM;
  if (top >= 0 && (node = find_in_bucket(dag, top, hash, wanted, &used)) != PAWL_NO_NODE) {
    return node;
  }
  bool in_table = used == PAWL_BUCKET_ROOM;
  if (in_table && (node = find_in_table(dag, table, hash, wanted)) != PAWL_NO_NODE) {
    return node;
  }
  if ((in_table && grow_table(table) != 0) || (node = append(dag, wanted)) == PAWL_NO_NODE) {
    return PAWL_NO_NODE;
  }
  PawlDagEntry entry = {hash, node + 1};
  if (in_table) {
    insert(table, entry);
  } else {
    dag->buckets[top / PAWL_BUCKET_NODES].entries[used] = entry;
  }
  return node;
}

// ---- noting -------------------------------------------------------------------------------------
void pawl_dag_trace(PawlDag* dag, PawlTrace* trace) {
  dag->trace = trace;
  if (trace) {
    trace->count = 0;
    trace->failed = false;
    trace->place = -1;
  }
}

static void note(PawlTrace* trace, const PawlDagNode* wanted, PawlNode node) {
  if (trace->failed || node == PAWL_NO_NODE || trace->count == LONGEST_TRACE ||
      PAWL_GROW(trace->steps, trace->capacity, trace->count + 1) != 0) {
    trace->failed = true;
    return;
  }
  bool leaf = pawl_op_is_leaf(wanted->op) && wanted->op != PAWL_OP_CONST;
  int place = leaf && wanted->op != PAWL_OP_TIME ? trace->place : -1;
  trace->steps[trace->count++] = (PawlTraceStep){*wanted, node, place};
}

void pawl_trace_free(PawlTrace* trace) {
  pawl_free(trace->steps);
  *trace = (PawlTrace){0};
}

static PawlNode find_or_add(PawlDag* dag, const PawlDagNode* wanted) {
  PawlNode node = look_or_add(dag, wanted);
  if (dag->trace) {
    note(dag->trace, wanted, node);
  }
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

// ---- tables of the model ------------------------------------------------------------------------
void pawl_dag_set_tables(PawlDag* dag, const PawlTables* tables) {
  dag->tables = tables;
}

void pawl_dag_share_tables(PawlDag* dag, const PawlDag* from) {
  dag->tables = from->tables ? from->tables : dag->tables;
}

const PawlTables* pawl_dag_tables(const PawlDag* dag) {
  return dag->tables;
}

const PawlTable* pawl_dag_table_of(const PawlDag* dag, const PawlDagNode* node) {
  return dag->tables->item[node->index / PAWL_TABLE_VIEWS];
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
