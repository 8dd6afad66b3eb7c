// SPDX-License-Identifier: Apache-2.0
// The members of a family differ in their leaves alone. What building one of them asked of the
// graph, node by node, is noted (a trace), and becomes a recipe by which the others are built
// without reading, looking up and simplifying anew.
//
// This gives the nodes that building would give, since the rules of simplify.c look at operations,
// at numbers and at whether two nodes are the same, never at which leaf it is: as long as leaves
// that were the same stay the same, and different ones different, which the caller sees to, every
// rule decides as it did. The one thing that history changes is the order of operands of a node
// that was there before (a*b finds b*a); where that is not as it was, the recipe does not fit.
#pragma once

#include "base/arena.h"
#include "expr/dag.h"

typedef struct PawlRecipe PawlRecipe;
// NULL where the trace does not explain all nodes (some came from elsewhere), or memory is short.
PawlRecipe* pawl_recipe_make(PawlArena* arena, const PawlDag* dag, const PawlTrace* trace,
                             int root_count, const PawlNode* roots);
// Builds the roots of another member; `moved` has for each place by how much its coordinate differs
// from that of the member that was traced. 1: built; 0: the recipe does not fit, as operands stand
// in another order (with `exact`; else that is taken as it is); -1: no memory.
int pawl_recipe_follow(PawlRecipe* recipe, PawlDag* dag, const int* moved, bool exact,
                       PawlNode* roots);
// Nothing in it has kinks, jumps or poles.
bool pawl_recipe_is_smooth(const PawlRecipe* recipe, const PawlDag* dag);
