// SPDX-License-Identifier: Apache-2.0
// Dividing the code of a tape into parts by the gates that need it, for tape.c.
#pragma once

#include "expr/tape.h"

typedef struct PawlTapeGraph {  // the nodes of a tape
  const PawlDag* dag;
  int count;
  const PawlNode* nodes;  // ascending
  const int* local;       // node of the graph -> index in nodes
  const int* partner;     // of a sine or cosine that is computed with it, -1 without
} PawlTapeGraph;

typedef struct PawlTapeOutputs {
  int count;
  const PawlNode* nodes;
  int gate_count;    // 0: all is one part
  const int* gates;  // of each output, -1 without
} PawlTapeOutputs;

// `order` holds the instruction_count indices of nodes with an instruction, ascending. Sorts them
// by parts, ascending in each, writes the part of each node (of a pair: of its first) to `part`,
// which is all 0 before, and fills the parts and gates of the tape. Returns 0, or -1 when memory is
// short.
int pawl_tape_divide(PawlTape* tape, const PawlTapeGraph* graph, const PawlTapeOutputs* outputs,
                     int* order, int* part);
