// SPDX-License-Identifier: Apache-2.0
// Inside of the expression graph, for the files of this folder that build and walk it.
#pragma once

#include <stdint.h>

#include "expr/dag.h"

typedef struct PawlDagEntry {
  uint32_t hash;
  int node_plus_1;  // 0: empty
} PawlDagEntry;

typedef struct PawlDagTable {
  PawlDagEntry* entries;  // open addressing, at most half full
  int size;               // a power of 2
  int count;
} PawlDagTable;

// The users of PAWL_BUCKET_NODES neighbours: nodes whose largest operand is one of these.
enum { PAWL_BUCKET_NODES = 4, PAWL_BUCKET_ROOM = 8 };
typedef struct PawlDagBucket {
  PawlDagEntry entries[PAWL_BUCKET_ROOM];  // a line of the cache; empty ones last
} PawlDagBucket;

typedef struct PawlDagMark {
  int stamp;     // equals PawlDag.now when the walk under way has met the node
  int position;  // in the list of that walk
} PawlDagMark;

struct PawlDag {
  PawlDagNode* node;
  int count, capacity;
  // Where nodes are found again, see dag.c.
  PawlDagBucket* buckets;
  int bucket_capacity;
  PawlDagTable leaves, others;
  const PawlTables* tables;  // of the model; NULL without
  PawlTrace* trace;          // what is being noted; NULL: nothing

  // Scratch of walks. Stamps make a walk cost what it reaches, not the size of the graph.
  PawlDagMark* mark;
  int mark_capacity, now;
  PawlNode *list, *spare;
  int list_capacity, spare_capacity;
};

// The node with exactly these fields, found or made, not simplified.
PawlNode pawl_dag_make(PawlDag* dag, PawlOp op, int index, PawlNode a, PawlNode b, PawlNode c);

static inline bool pawl_dag_has(const PawlDag* dag, PawlNode node) {
  return node >= 0 && node < dag->count;
}

// What some nodes need, apart from the graph: ascending nodes, and for each operand its position
// in that list. The graph may grow and be walked while a slice is in use.
typedef struct PawlSlice {
  int count;  // of one wanted node, it is the last
  PawlNode* node;
  int (*arg)[3];
  int* root;  // positions of the wanted nodes
} PawlSlice;
// 0, or -1: no memory.
int pawl_slice_take(PawlSlice* slice, PawlDag* dag, int root_count, const PawlNode* roots);
void pawl_slice_free(PawlSlice* slice);
