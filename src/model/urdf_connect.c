// SPDX-License-Identifier: Apache-2.0
// Links and joints as a tree, from the root on; links that fixed joints hold together become one
// body; starts.
#include <math.h>
#include <string.h>

#include "model/urdf_impl.h"

// ---- the tree -----------------------------------------------------------------------------------

static bool hang_up(PawlUrdf* u) {
  bool good = true;
  for (int k = 0; k < u->joint_count; k++) {
    PawlUrdfJoint* joint = &u->joints[k];
    PawlUrdfLink *child = &u->links[joint->child], *parent = &u->links[joint->parent];
    if (child->joint >= 0) {
      pawl_report_at(u->report, joint->xml->line, joint->xml->column,
                     "joint '%s': the link '%s' hangs on joint '%s' already; URDF has no loops",
                     pawl_quote(joint->name).s, pawl_quote(child->name).s,
                     pawl_quote(u->joints[child->joint].name).s);
      good = false;
      continue;
    }
    child->joint = k;
    *(parent->last >= 0 ? &u->joints[parent->last].next_child : &parent->first_child) = k;
    parent->last = k;
  }
  return good;
}

static bool find_root(PawlUrdf* u) {
  u->root = -1;
  for (int k = 0; k < u->link_count; k++) {
    const PawlUrdfLink* link = &u->links[k];
    if (link->joint >= 0) {
      continue;
    }
    if (u->root >= 0) {
      pawl_report_at(u->report, link->xml->line, link->xml->column,
                     "the link '%s' hangs on no joint, and neither does '%s'; a robot has one root",
                     pawl_quote(link->name).s, pawl_quote(u->links[u->root].name).s);
      return false;
    }
    u->root = k;
  }
  if (u->root < 0) {
    pawl_report_at(u->report, u->xml->line, u->xml->column,
                   "every link hangs on another; a robot has one root that does not");
  }
  return u->root >= 0;
}

// Parents first. A link that is not reached is part of a circle.
static bool find_order(PawlUrdf* u) {
  int count = 1;
  u->order[0] = u->root;
  for (int k = 0; k < count; k++) {
    for (int j = u->links[u->order[k]].first_child; j >= 0; j = u->joints[j].next_child) {
      u->order[count++] = u->joints[j].child;
    }
  }
  if (count < u->link_count) {
    pawl_report_at(u->report, u->xml->line, u->xml->column,
                   "%d links hang on each other in a circle, not on the root '%s'",
                   u->link_count - count, pawl_quote(u->links[u->root].name).s);
  }
  return count == u->link_count;
}

// ---- mimics -------------------------------------------------------------------------------------

// A joint that is not followed, with the reason.
static void drop_mimic(PawlUrdf* u, PawlUrdfJoint* joint, const char* why) {
  pawl_remark(&u->remarks->warnings, "%s:%d: joint '%s' mimics '%s', %s; it moves by itself",
              u->report->file, joint->mimic->line, pawl_quote(joint->name).s,
              pawl_quote(joint->master_name).s, why);
  joint->master = -1;
}

static bool find_masters(PawlUrdf* u) {
  bool good = true;
  for (int k = 0; k < u->joint_count; k++) {
    PawlUrdfJoint* joint = &u->joints[k];
    const PawlFamily* found =
        joint->mimic ? pawl_names_find(&u->joint_names, joint->master_name) : NULL;
    if (joint->mimic && !found) {
      pawl_report_at(u->report, joint->mimic->line, joint->mimic->column,
                     "joint '%s': there is no joint '%s' to mimic", pawl_quote(joint->name).s,
                     pawl_quote(joint->master_name).s);
      good = false;
    } else if (found) {
      joint->master = found->part;
      if (!pawl_urdf_has_value(joint) || !pawl_urdf_has_value(&u->joints[found->part])) {
        drop_mimic(u, joint, "but not both turn or slide");
      }
    }
  }
  return good;
}

// ---- starts -------------------------------------------------------------------------------------

// Zero, as URDF has it; with stops the nearest value between them.
static double own_start(PawlUrdf* u, const PawlUrdfJoint* joint) {
  if (!u->def.limits || !pawl_urdf_has_limits(joint)) {
    return 0.0;
  }
  double start = fmin(fmax(0.0, joint->low), joint->high);
  if (start != 0.0) {
    pawl_remark(&u->remarks->notes, "%s:%d: joint '%s' starts at its limit %g, since 0 is beyond",
                u->report->file, joint->xml->line, pawl_quote(joint->name).s, start);
  }
  return start;
}

// Up along the mimics to one that has its value by itself, and back down to `k`.
static bool find_start(PawlUrdf* u, int k) {
  enum { NEW, OPEN, DONE };
  int follower = -1;
  PawlUrdfJoint* joint = &u->joints[k];
  while (joint->visited == NEW && joint->master >= 0) {
    joint->visited = OPEN;
    joint->follower = follower;
    follower = k;
    k = joint->master;
    joint = &u->joints[k];
  }
  if (joint->visited == OPEN) {
    pawl_report_at(u->report, joint->mimic->line, joint->mimic->column,
                   "joint '%s' mimics itself, over others perhaps", pawl_quote(joint->name).s);
    return false;
  }
  joint->start = joint->visited == NEW ? own_start(u, joint) : joint->start;
  joint->visited = DONE;
  for (; follower >= 0; follower = joint->follower) {
    double start = joint->start;
    joint = &u->joints[follower];
    joint->start = joint->multiplier * start + joint->offset;
    joint->visited = DONE;
  }
  return true;
}

static bool find_starts(PawlUrdf* u) {
  bool good = true;
  for (int k = 0; k < u->joint_count && good; k++) {
    good = find_start(u, k);
  }
  return good;
}

// ---- bodies -------------------------------------------------------------------------------------

static PawlFrame moved_by(const PawlUrdfJoint* joint) {
  switch (joint->type) {
    case PAWL_URDF_REVOLUTE:
    case PAWL_URDF_CONTINUOUS:
      return pawl_frame_turned(joint->axis, joint->start);
    case PAWL_URDF_PRISMATIC:
      return pawl_frame_moved(joint->axis, joint->start);
    case PAWL_URDF_FIXED:
    case PAWL_URDF_FLOATING:
    case PAWL_URDF_PLANAR:
    case PAWL_URDF_TYPES:
      break;
  }
  return pawl_frame_one;
}

static void place(PawlUrdf* u, int k) {
  PawlUrdfLink* link = &u->links[k];
  const PawlUrdfJoint* joint = link->joint >= 0 ? &u->joints[link->joint] : NULL;
  link->body = k;
  link->in_body = link->start = pawl_frame_one;
  if (!joint) {
    return;
  }
  const PawlUrdfLink* parent = &u->links[joint->parent];
  PawlFrame at = pawl_frame_times(&parent->in_body, &joint->frame);
  if (joint->type == PAWL_URDF_FIXED) {
    link->body = parent->body;
    link->in_body = at;
    return;
  }
  PawlFrame by = moved_by(joint), there = pawl_frame_times(&u->links[parent->body].start, &at);
  link->start = pawl_frame_times(&there, &by);
}

static void merge(PawlUrdf* u) {
  for (int i = 0; i < u->link_count; i++) {
    PawlUrdfLink* link = &u->links[u->order[i]];
    place(u, u->order[i]);
    PawlUrdfLink* body = &u->links[link->body];
    if (!link->has_mass) {
      continue;
    }
    if (!body->whole_has_mass && body == link) {
      body->whole = link->own;  // as it is, to the last bit
    } else {
      pawl_massive_add(&body->whole, &link->in_body, &link->own);
    }
    body->whole_has_mass = true;
  }
}

// Is the root the ground, a body welded to it, or free? A root without mass that a floating joint
// leaves is a name for the ground.
static bool find_base(PawlUrdf* u) {
  const PawlUrdfLink* root = &u->links[u->root];
  bool floats = false;
  for (int k = 0; k < u->joint_count; k++) {
    const PawlUrdfJoint* joint = &u->joints[k];
    floats |= joint->type == PAWL_URDF_FLOATING && u->links[joint->parent].body == u->root;
  }
  u->on_ground = !root->whole_has_mass;
  if (u->on_ground && u->def.floating && !floats) {
    pawl_report_at(u->report, root->xml->line, root->xml->column,
                   "the base cannot float: the link '%s' has no mass", pawl_quote(root->name).s);
    return false;
  }
  return true;
}

bool pawl_urdf_connect(PawlUrdf* u) {
  if (!hang_up(u) || !find_root(u) || !find_order(u) || !find_masters(u) || !find_starts(u)) {
    return false;
  }
  merge(u);
  return find_base(u);
}
