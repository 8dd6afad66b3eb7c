// SPDX-License-Identifier: Apache-2.0
// What evaluation costs, and the choice between expressions as derived and their normal forms.
#include "base/alloc.h"
#include "expr/dag_store.h"
#include "expr/normal.h"

// Of the sine or cosine of an angle whose other one is there, in additions.
enum { COST_SECOND_OF_PAIR = 5 };

// The refinement one root at a time looks at no more nodes than this in all.
#define MOST_NODES_READ 20000000LL

static int power_cost(int exponent) {
  int cost = exponent < 0 ? pawl_op_info[PAWL_OP_DIV].cost : 0;
  long long rest = exponent < 0 ? -(long long)exponent : exponent;
  for (; rest > 1; rest >>= 1) {
    cost += 1 + (int)(rest & 1);
  }
  return cost;
}

static int node_cost(const PawlDagNode* node) {
  return node->op == PAWL_OP_POWI ? power_cost(node->index) : pawl_op_info[node->op].cost;
}

// The cost and the number of nodes reached; -1: no memory.
static long long cost_and_size(PawlDag* dag, int count, const PawlNode* roots, int* size) {
  const PawlNode* reached;
  *size = pawl_dag_reach(dag, count, roots, &reached);
  // For each node, whether a sine or cosine of it has been met.
  bool* paired = *size < 0 ? NULL : pawl_alloc((size_t)*size, sizeof *paired);
  if (!paired) {
    return -1;
  }
  long long cost = 0;
  for (int i = 0; i < *size; i++) {
    const PawlDagNode* node = &dag->node[reached[i]];
    dag->mark[reached[i]].position = i;
    if (node->op == PAWL_OP_SIN || node->op == PAWL_OP_COS) {
      bool* met = &paired[dag->mark[node->arg[0]].position];
      cost += *met ? COST_SECOND_OF_PAIR : node_cost(node);
      *met = true;
    } else {
      cost += node_cost(node);
    }
  }
  pawl_free(paired);
  return cost;
}

long long pawl_dag_cost(PawlDag* dag, int count, const PawlNode* roots) {
  int size;
  return cost_and_size(dag, count, roots, &size);
}

// ---- the choice -----------------------------------------------------------------------------
typedef struct Choice {
  PawlDag* dag;
  int count;
  const PawlNode* given;
  const PawlNode* normal;
  PawlNode* best;
  PawlNode* trial;
  long long cost;  // of best
} Choice;

// Keeps the trial if it is cheaper.
static int weigh(Choice* c) {
  long long cost = pawl_dag_cost(c->dag, c->count, c->trial);
  if (cost < 0) {
    return -1;
  }
  for (int i = 0; i < c->count && cost < c->cost; i++) {
    c->best[i] = c->trial[i];
  }
  c->cost = cost < c->cost ? cost : c->cost;
  return 0;
}

// Those normal forms that gain on their own.
static int try_each_alone(Choice* c) {
  for (int i = 0; i < c->count; i++) {
    long long given = pawl_dag_cost(c->dag, 1, &c->given[i]);
    long long normal = pawl_dag_cost(c->dag, 1, &c->normal[i]);
    if (given < 0 || normal < 0) {
      return -1;
    }
    c->trial[i] = normal < given ? c->normal[i] : c->given[i];
  }
  return weigh(c);
}

// From the best so far, one root to its other form for as long as that helps.
static int refine(Choice* c) {
  long long read = 0;
  bool better = true;
  while (better) {
    better = false;
    for (int i = 0; i < c->count; i++) {
      int size;
      PawlNode kept = c->best[i];
      if (c->given[i] == c->normal[i]) {
        continue;
      }
      c->best[i] = kept == c->given[i] ? c->normal[i] : c->given[i];
      long long cost = cost_and_size(c->dag, c->count, c->best, &size);
      if (cost < 0) {
        return -1;
      }
      if (cost < c->cost) {
        c->cost = cost;
        better = true;
      } else {
        c->best[i] = kept;
      }
      read += size;
      if (read > MOST_NODES_READ) {
        return 0;
      }
    }
  }
  return 0;
}

static int decide(Choice* c) {
  c->cost = pawl_dag_cost(c->dag, c->count, c->given);
  if (c->cost < 0) {
    return -1;
  }
  for (int i = 0; i < c->count; i++) {
    c->best[i] = c->given[i];
    c->trial[i] = c->normal[i];
  }
  return weigh(c) != 0 || try_each_alone(c) != 0 || refine(c) != 0 ? -1 : 0;
}

PawlStatus pawl_dag_normalize_if_cheaper(PawlDag* dag, int count, PawlNode* roots) {
  PawlNode* memory = pawl_alloc((size_t)count, 3 * sizeof *memory);
  if (!memory) {
    return PAWL_ERROR_MEMORY;
  }
  PawlNode *normal = memory, *best = memory + count, *trial = memory + 2 * (size_t)count;
  Choice choice = {dag, count, roots, normal, best, trial, 0};
  PawlStatus status = pawl_dag_normal_all(dag, count, roots, normal);
  if (status == PAWL_OK && decide(&choice) != 0) {
    status = PAWL_ERROR_MEMORY;
  }
  for (int i = 0; i < count && status == PAWL_OK; i++) {
    roots[i] = best[i];
  }
  pawl_free(memory);
  return status;
}
