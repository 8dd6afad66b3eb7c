// SPDX-License-Identifier: Apache-2.0
// Starts and rates of joints that are given, and are none of coordinates: of a joint that closes a
// loop, or of bodies that have coordinates of their own and hang on what is found at the start.
// They are rows that hold where it is found, and never again. At t = 0
//   value = start + rate t                                                                     (J2)
// says both.
#include <string.h>

#include "model/joints.h"

static const char* goal_of(PawlMade* made, const PawlJoint* joint, int k) {
  const char* start = joint->start[k] ? pawl_factor(made, joint->start[k]) : "0";
  return joint->rate[k] ? pawl_say(made, "(%s + %s*t)", start, pawl_factor(made, joint->rate[k]))
                        : start;
}

// G = F start (1 + rate x t), of a rotation, by (J3).
static void add_rotation_rows(PawlMade* made, const PawlJoint* joint, PawlYaml* list) {
  static const char* const axes[] = {"[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"};
  const char *turned[3], *trace = "0.9";
  for (int k = 0; k < 3; k++) {
    const char* axis = axes[k];
    if (joint->rate[0]) {
      axis = pawl_say(made, "(%s + cross(%s, %s)*t)", axis, joint->rate[0], axis);
    }
    turned[k] = joint->start[0]
                    ? pawl_say(made, "(%s*%s)", pawl_factor(made, joint->start[0]), axis)
                    : axis;
    trace = pawl_say(made, "%s + dot($F*%s, $G*%s)", trace, turned[k], axes[k]);
  }
  for (int k = 0; k < 3; k++) {
    int l = (k + 1) % 3;
    const char* text = pawl_say(made, "1.95*atan2(dot($F*%s, $G*%s) - dot($F*%s, $G*%s), %s) = 0",
                                turned[k], axes[l], turned[l], axes[k], trace);
    pawl_add_item(made, list, joint->key, pawl_joint_fill(made, joint, text, NULL, NULL));
  }
}

// G^T (omega2 - omega1) = rate, of a rotation that is found.
static void add_spin_rows(PawlMade* made, const PawlJoint* joint, PawlYaml* list) {
  static const char* const axes[] = {"$G*[1, 0, 0]", "$G*[0, 1, 0]", "$G*[0, 0, 1]"};
  const char* omega[2];
  for (int side = 0; side < 2; side++) {
    const PawlBodyUse* use = &joint->body[side];
    omega[side] = use->body->is_ground ? NULL : pawl_body_part(made, use, "omega");
  }
  const char* spin = pawl_sum(made, omega[1], NULL, NULL, omega[0]);
  for (int k = 0; k < 3; k++) {
    const char* axis = pawl_joint_fill(made, joint, axes[k], NULL, NULL);
    pawl_add_item(made, list, joint->key,
                  pawl_say(made, "dot(%s, %s) = %s", axis, pawl_factor(made, spin),
                           pawl_component(made, joint->rate[0], k)));
  }
}

// An angle that is found from rotations jumps by a turn: less than half of one is left to go.
static void add_value_row(PawlMade* made, const PawlJoint* joint, int k, bool start,
                          PawlYaml* list) {
  const PawlJointMotion* m = joint->motion;
  const char *goal = goal_of(made, joint, k), *goals[PAWL_JOINT_VALUES] = {goal, goal, goal};
  const char* found = pawl_joint_fill(made, joint, m->found[k], goals, goals);
  bool jumps = start && strncmp(m->found[k], "atan2", 5) == 0;
  const char* off = pawl_say(made, "%s - %s", found, goal);
  pawl_add_item(made, list, joint->key,
                jumps ? pawl_say(made, "atan2(sin(%s), cos(%s)) = 0", off, off)
                      : pawl_say(made, "%s = %s", found, goal));
}

void pawl_write_joint_kept(PawlMade* made, const PawlJoint* joint, bool start, bool rate) {
  const PawlJointMotion* m = joint->motion;
  if (!m->values[0] || joint->name.range[0] || (!start && !rate)) {
    return;
  }
  PawlYaml* map =
      pawl_put_map(made, "constraints", joint->key, pawl_part_key(made, &joint->name, "kept"));
  bool ball = pawl_joint_is_ball(joint), spins = ball && !start;
  PawlYaml* list = pawl_set_list(made, map, joint->key, spins ? "rate" : "equation");
  if (spins) {
    add_spin_rows(made, joint, list);
  } else if (ball) {
    add_rotation_rows(made, joint, list);
  }
  for (int k = 0; k < PAWL_JOINT_VALUES && m->values[k] && !ball; k++) {
    add_value_row(made, joint, k, start, list);
  }
  pawl_set(made, map, joint->key, "assemble", start ? (rate ? "true" : "start") : "rate");
}
