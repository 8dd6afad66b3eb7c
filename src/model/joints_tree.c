// SPDX-License-Identifier: Apache-2.0
// The tree of joints that carries the bodies: of all spanning trees one whose joints have the
// fewest values, by joining bodies along the joints in that order (J. B. Kruskal, On the shortest
// spanning subtree of a graph and the traveling salesman problem).
#include <string.h>

#include "model/joints.h"

typedef struct Tree {
  PawlBodies* bodies;
  PawlJoints* joints;
  int* group;  // of each body: a body of its group, the group itself where they are the same
  int* order;
  int ordered;
} Tree;

static int index_of(const Tree* tree, const PawlBodyUse* use) {
  return (int)(use->body - tree->bodies->item);
}

static int group_of(const Tree* tree, int body) {
  while (tree->group[body] != body) {
    body = tree->group[body];
  }
  return body;
}

// Elements of families are known only when parameters are. A joint that is cut carries a body where
// no other does: that has coordinates of its own, and its start from the joint.
static bool can_carry(const PawlJoint* joint, bool cut) {
  if (joint->carries_family) {
    return !cut;
  }
  return !joint->is_gear && joint->cut == cut && !joint->motion->rows_only &&
         pawl_joint_is_closed(joint) && !joint->name.range[0] && !joint->body[0].name.index[0] &&
         !joint->body[1].name.index[0];
}

static int freedom(const PawlJoint* joint) {
  return pawl_joint_is_ball(joint) ? PAWL_JOINT_VALUES : pawl_joint_value_count(joint);
}

static void join(Tree* tree, bool cut) {
  for (int values = 0; values <= PAWL_JOINT_VALUES; values++) {
    for (int k = 0; k < tree->joints->count; k++) {
      PawlJoint* joint = &tree->joints->item[k];
      if (!can_carry(joint, cut) || freedom(joint) != values) {
        continue;
      }
      int a = group_of(tree, index_of(tree, &joint->body[0]));
      int b = group_of(tree, index_of(tree, &joint->body[1]));
      joint->in_tree = a != b;
      tree->group[a > b ? a : b] = a > b ? b : a;
    }
  }
}

static void reach(Tree* tree, int body, int joint, int parent, bool forward) {
  PawlBody* reached = &tree->bodies->item[body];
  reached->joint = joint;
  reached->parent = parent;
  reached->forward = forward;
  reached->depth = parent >= 0 ? tree->bodies->item[parent].depth + 1 : 0;
  reached->is_free = body > 0 && (parent < 0 || tree->joints->item[joint].cut);
  tree->group[body] = -1;
  tree->order[tree->ordered++] = body;
}

// From one body outwards, those nearest to it first.
static void grow(Tree* tree, int root) {
  int next = tree->ordered;
  reach(tree, root, -1, -1, false);
  for (; next < tree->ordered; next++) {
    int at = tree->order[next];
    for (int k = 0; k < tree->joints->count; k++) {
      const PawlJoint* joint = &tree->joints->item[k];
      for (int side = 0; side < 2 && joint->in_tree; side++) {
        int here = index_of(tree, &joint->body[side]), there = index_of(tree, &joint->body[!side]);
        bool backward = joint->carries_family && side == 1;
        if (here == at && tree->group[there] >= 0 && !backward) {
          reach(tree, there, k, at, side == 0);
        }
      }
    }
  }
}

// ---- loops ------------------------------------------------------------------------------------

static int climb(Tree* tree, int body) {
  const PawlBody* b = &tree->bodies->item[body];
  tree->joints->item[b->joint].in_loop = true;
  if (b->chain >= 0) {
    tree->joints->item[b->chain].in_loop = true;
  }
  return b->parent;
}

// The joints on the way from one body of a closing joint to the other are in a loop; where that way
// leads to two free bodies they are not.
static void mark_loop(Tree* tree, const PawlJoint* joint) {
  const PawlBody* bodies = tree->bodies->item;
  int a = index_of(tree, &joint->body[0]), b = index_of(tree, &joint->body[1]);
  while (a != b && (bodies[a].parent >= 0 || bodies[b].parent >= 0)) {
    bool left =
        bodies[b].parent < 0 || (bodies[a].parent >= 0 && bodies[a].depth >= bodies[b].depth);
    a = left ? climb(tree, a) : a;
    b = left ? b : climb(tree, b);
  }
}

bool pawl_joint_tree(PawlMade* made, PawlBodies* bodies, PawlJoints* joints, int order[]) {
  Tree tree = {.bodies = bodies, .joints = joints, .order = order};
  tree.group = pawl_pool_alloc(&made->loader->pool, (size_t)bodies->count * sizeof(int));
  if (!tree.group) {
    return pawl_loader_no_memory(made->loader);
  }
  for (int k = 0; k < bodies->count; k++) {
    tree.group[k] = k;
  }
  join(&tree, false);
  join(&tree, true);
  for (int k = 0; k < bodies->count; k++) {
    tree.group[k] = k;
  }
  for (int k = 0; k < bodies->count; k++) {
    if (tree.group[k] >= 0) {
      grow(&tree, k);
    }
  }
  for (int k = 0; k < joints->count; k++) {
    PawlJoint* joint = &joints->item[k];
    joint->closes =
        !joint->is_gear && !joint->in_tree && !joint->name.range[0] && pawl_joint_is_closed(joint);
    if (joint->closes) {
      mark_loop(&tree, joint);
    }
    for (int side = 0; joint->is_gear && side < 2; side++) {
      joints->item[joint->geared[side]].is_geared = true;
    }
  }
  return true;
}
