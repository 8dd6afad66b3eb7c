// SPDX-License-Identifier: Apache-2.0
#include "switch/trees.h"

#include "system/system.h"

void pawl_trees_create(PawlArena* arena, int n, PawlTrees* t) {
  *t = (PawlTrees){n, PAWL_NEW(arena, int, n)};
}

int pawl_trees_root(PawlTrees* t, int j) {
  while (t->root[j] != j) {
    j = t->root[j] = t->root[t->root[j]];
  }
  return j;
}

// The least velocity of a tree is its root.
static void connect(PawlTrees* t, int i, int j) {
  i = pawl_trees_root(t, i);
  j = pawl_trees_root(t, j);
  if (i != j) {
    t->root[i > j ? i : j] = i > j ? j : i;
  }
}

void pawl_trees_begin(PawlTrees* t, const PawlPattern* H, const double* M) {
  for (int j = 0; j < t->n; j++) {
    t->root[j] = j;
  }
  for (int j = 0; j < t->n; j++) {
    for (int e = H->start[j]; e < H->start[j + 1]; e++) {
      if (M[e] != 0.0) {
        connect(t, H->index[e], j);
      }
    }
  }
}

void pawl_trees_row(PawlTrees* t, const PawlByRows* rows, int i) {
  for (int p = rows->start[i]; p < rows->start[i + 1]; p++) {
    connect(t, rows->column[p], rows->column[rows->start[i]]);
  }
}

void pawl_trees_contact(PawlTrees* t, const PawlByRows* rows, const PawlSlipContact* c) {
  int gap = rows->start[c->normal];
  for (int p = rows->start[c->first];
       gap < rows->start[c->normal + 1] && p < rows->start[c->first + c->count]; p++) {
    connect(t, rows->column[p], rows->column[gap]);
  }
}

void pawl_trees_joint(PawlTrees* t, const PawlSlip* slip, int joint) {
  const PawlSlipJoint* j = &slip->joint[joint];
  const PawlByRows* rows = &slip->rows;
  int first = rows->start[j->row];
  pawl_trees_row(t, rows, j->row);
  for (int k = j->first; first < rows->start[j->row + 1] && k < j->first + j->count; k++) {
    int tied = slip->system->ties[k].row, column = rows->start[tied];
    if (column < rows->start[tied + 1]) {
      connect(t, rows->column[column], rows->column[first]);
    }
  }
}

int pawl_trees_of_row(PawlTrees* t, const PawlByRows* rows, int i) {
  int first = rows->start[i];
  return first == rows->start[i + 1] ? -1 : pawl_trees_root(t, rows->column[first]);
}
