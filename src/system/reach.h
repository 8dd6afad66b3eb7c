// SPDX-License-Identifier: Apache-2.0
// How far a state may move before a region can be left (docs/theory/events.md, V40 to V42): a bound
// that is computed where a state is, and serves until the state has moved that far.
#pragma once

#include "system/system.h"

enum { PAWL_REACH_PLACES = 8, PAWL_REACH_NODES = 64 };  // at most: surfaces that are worth it

typedef enum PawlReachKind {
  PAWL_REACH_INSIDE,  // its value alone is needed
  PAWL_REACH_ATOM,    // its value changes by no more than its slopes times the motion
  PAWL_REACH_TREE     // its sign follows from those of its operands
} PawlReachKind;

typedef struct PawlReachNode {
  PawlOp op;
  PawlReachKind kind;
  int index;  // of a coordinate; POWI is not here
  int arg[2];
  double number;  // CONST
  double slope;   // of an atom: the largest by a coordinate, by time where there is none
} PawlReachNode;

typedef struct PawlReach {
  int count;                        // of the coordinates in surfaces
  int place[PAWL_REACH_PLACES];     // in q
  double slope[PAWL_REACH_PLACES];  // the largest of an atom, in parts of its `slope`
  double of_time;                   // the same by time
  int* root;                        // of each guard
  int node_count;
  PawlReachNode nodes[PAWL_REACH_NODES];
} PawlReach;

// Makes system->reach from the switching functions of the guards, nodes of `dag`; NULL where they
// are none of the kind, or there are turns.
PAWL_CHECKED PawlStatus pawl_reach_create(PawlSystem* system, PawlDag* dag, const PawlNode* z,
                                          PawlError* err);

// The room at a place: while sum_j slope_j |dq_j| + of_time |dt| is less, the switching functions
// of the guards of these modes stay positive. 0: one of them is not. `rounding`: of their terms.
//                                                                                     (V40) (V41)
double pawl_reach_room(const PawlSystem* system, const int* modes, double t, const double* q,
                       double rounding);
