// SPDX-License-Identifier: Apache-2.0
// What masses and rows connect: velocities as a forest, one tree for all that feel each other.
#pragma once

#include "pawl/pattern.h"
#include "switch/slip.h"

typedef struct PawlTrees {
  int n;
  int* root;  // n
} PawlTrees;

void pawl_trees_create(PawlArena* arena, int n, PawlTrees* trees);
// Velocities that masses connect: M by the pattern H, which may have places that are zero.
void pawl_trees_begin(PawlTrees* trees, const PawlPattern* H, const double* M);
// And those that a row does.
void pawl_trees_row(PawlTrees* trees, const PawlByRows* rows, int i);
// And a gap with its friction: in a tied system its row reaches as far.
void pawl_trees_contact(PawlTrees* trees, const PawlByRows* rows, const PawlSlipContact* contact);
// And the row of a joint whose friction hangs on multipliers, with the rows of these.
void pawl_trees_joint(PawlTrees* trees, const PawlSlip* slip, int joint);
int pawl_trees_root(PawlTrees* trees, int j);                            // the least of its tree
int pawl_trees_of_row(PawlTrees* trees, const PawlByRows* rows, int i);  // -1: it has no entries
