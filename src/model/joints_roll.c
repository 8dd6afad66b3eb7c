// SPDX-License-Identifier: Apache-2.0
// Rolling without slip: what joints hold besides their rows.
#include <string.h>

#include "model/joints.h"

void pawl_set_joint_switch(PawlMade* made, const PawlJoint* joint, PawlYaml* map, bool with_on) {
  for (const PawlYaml* child = joint->switching ? joint->switching->first : NULL; child;
       child = child->next) {
    if (with_on || strcmp(child->key->text, "on") != 0) {
      pawl_set_node(made, map, child->key->text, child);
    }
  }
}

static const char* slip_key(PawlMade* made, const PawlJoint* joint) {
  return pawl_part_key(made, &joint->name, "slip");
}

// A value that stays as it is at the start.
static void write_kept(PawlMade* made, const PawlJoint* joint) {
  PawlYaml* map = pawl_put_map(made, "locks", joint->key, slip_key(made, joint));
  pawl_set(made, map, joint->key, "lock",
           pawl_joint_fill(made, joint, joint->motion->kept, NULL, NULL));
  if (joint->switching) {
    pawl_set_joint_switch(made, joint, map, false);
  } else {
    pawl_set(made, map, joint->key, "engaged", "true");
  }
}

// Velocity of the material of a body at a place; NULL of the ground.
static const char* velocity_at(PawlMade* made, const PawlBodyUse* use, const char* place) {
  const char* b = pawl_body_part(made, use, "");
  return use->body->is_ground
             ? NULL
             : pawl_say(made, "%s.at' + cross(%s.omega, %s - %s.at)", b, b, place, b);
}

// The second body does not slip on the first where they touch.
static void write_rolling(PawlMade* made, const PawlJoint* joint) {
  static const char* const along[] = {"$F*$U", "$F*$W"};
  const char* place = pawl_part_use(made, &joint->name, "contact");
  pawl_put(made, "define", joint->key, pawl_part_key(made, &joint->name, "contact"),
           pawl_joint_fill(made, joint, joint->motion->contact, NULL, NULL));
  const char* first = velocity_at(made, &joint->body[0], place);
  const char* second = velocity_at(made, &joint->body[1], place);
  const char* slip = pawl_sum(made, second, NULL, NULL, first ? pawl_factor(made, first) : NULL);
  PawlYaml* map = pawl_put_map(made, "constraints", joint->key, slip_key(made, joint));
  PawlYaml* list = pawl_set_list(made, map, joint->key, "rate");
  for (int k = 0; k < 2; k++) {
    const char* direction = pawl_joint_fill(made, joint, along[k], NULL, NULL);
    pawl_add_item(made, list, joint->key, pawl_say(made, "dot(%s, %s) = 0", direction, slip));
  }
  pawl_set_joint_switch(made, joint, map, false);
}

void pawl_write_joint_slip(PawlMade* made, const PawlJoint* joint) {
  if (joint->motion->kept) {
    write_kept(made, joint);
  }
  if (joint->motion->contact) {
    write_rolling(made, joint);
  }
}
