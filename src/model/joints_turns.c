// SPDX-License-Identifier: Apache-2.0
// The key `turns`: an angle that counts turns, where rotations have no more than the angle between
// -pi and pi. A state `way` follows the rate; what it is off by, of a method's error, is the angle
// that is left, which is small and has no jump:
//   turned = way + angle between F rotation(axis, way) and G                                   (J2)
#include <string.h>

#include "model/joints.h"

static const char TURNED[] =
    "$1 + atan2(dot($F*rotation($A, $1)*$W, $G*$U), dot($F*rotation($A, $1)*$U, $G*$U))";

bool pawl_joint_counts(const PawlMade* made, const PawlJoint* joint) {
  return joint->turns && made->dimension == 3 && !joint->is_coordinate;
}

static void write_way(PawlMade* made, const PawlJoint* joint) {
  PawlYaml* map =
      pawl_put_map(made, "states", joint->key, pawl_part_key(made, &joint->name, "way"));
  pawl_set(made, map, joint->key, "start", joint->start[0]);
  pawl_set(made, map, joint->key, "rate", pawl_part_use(made, &joint->name, "rate"));
  pawl_set(made, map, joint->key, "unit", "rad");
}

void pawl_write_joint_turns(PawlMade* made, const PawlJoint* joint) {
  const char* name = joint->motion->values[0];
  if (!joint->turns) {
    return;
  }
  if (!name || strcmp(name, "angle") != 0) {
    pawl_report(&made->loader->report, pawl_part_get(joint->map, "turns")->key,
                "turns: a joint of the type '%s' has no angle that is its first value",
                joint->type->word);
    return;
  }
  const char* text = pawl_part_use(made, &joint->name, name);
  if (pawl_joint_counts(made, joint)) {
    const char* values[PAWL_JOINT_VALUES] = {pawl_part_use(made, &joint->name, "way"), "0", "0"};
    write_way(made, joint);
    text = pawl_joint_fill(made, joint, TURNED, values, values);
  }
  pawl_put(made, "define", joint->key, pawl_part_key(made, &joint->name, "turned"), text);
}

// k/2 (turned - length)^2: springs: take no states.
void pawl_write_turned_spring(PawlMade* made, const PawlJoint* joint, const PawlYaml* spring) {
  const PawlYaml *k = pawl_part_get(spring, "stiffness"), *length = pawl_part_get(spring, "length");
  const char* stiff = k ? pawl_part_text(made, k, "an expression") : NULL;
  const char* rest = length ? pawl_part_text(made, length, "an expression") : NULL;
  const char* stretch = pawl_sum(made, pawl_part_use(made, &joint->name, "turned"), NULL, NULL,
                                 rest ? pawl_factor(made, rest) : NULL);
  if (stiff) {
    pawl_put_each(
        made, "potential", k, &joint->name,
        pawl_say(made, "%s/2*%s^2", pawl_factor(made, stiff), pawl_factor(made, stretch)));
  }
}
