// SPDX-License-Identifier: Apache-2.0
// Angles that count turns, where rotations have no more than an angle between -pi and pi. A number
// `way` follows the angle from step to step, and what is left to it is small and has no jump. With
// s and c the sine and cosine of the angle, as the rotations have them, times any number:
//   angle = way + atan2(s cos(way) - c sin(way), c cos(way) + s sin(way))                      (J5)
// which does not depend on `way` but by whole turns.
#include <ctype.h>
#include <string.h>

#include "model/joints.h"

static bool in_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char* text, const char* word) {
  size_t length = strlen(word);
  for (const char* at = text; (at = strstr(at, word)); at++) {
    if ((at == text || (!in_word(at[-1]) && at[-1] != '.')) && !in_word(at[length])) {
      return true;
    }
  }
  return false;
}

// Whether some text of the model names this. Depth: that of the tree, PAWL_MODEL_MAX_NESTING.
static bool is_named(const PawlYaml* node, const char* name) {
  bool named = node->kind == PAWL_YAML_SCALAR && has_word(node->text, name);
  for (const PawlYaml* child = node->kind == PAWL_YAML_SCALAR ? NULL : node->first; child && !named;
       child = child->next) {
    named = is_named(child, name);
  }
  return named;
}

void pawl_find_turns(PawlMade* made, PawlJoint* joint, const PawlYaml* root) {
  const PawlYaml* turns = pawl_part_get(joint->map, "turns");
  bool asked = pawl_part_is_true(made, joint->map, "turns"), family = joint->name.range[0],
       any = false;
  const PawlYaml* spring = pawl_part_get(joint->map, "spring");
  bool acts = pawl_part_get(spring, "stiffness") || pawl_part_get(joint->map, "stops");
  for (int k = 0; k < PAWL_JOINT_VALUES && joint->motion->values[k]; k++) {
    const char* value = pawl_part_use(made, &joint->name, joint->motion->values[k]);
    bool found = made->dimension == 3 && !joint->is_coordinate && joint->motion->sine[k];
    any |= strncmp(joint->motion->values[k], "angle", 5) == 0;
    joint->counts[k] = found && (asked || (!family && ((k == 0 && acts) || is_named(root, value))));
  }
  if (turns && !any) {
    pawl_report(&made->loader->report, turns->key, "turns: a joint of the type '%s' has no angle",
                joint->type->word);
  }
}

const char* pawl_joint_turned(PawlMade* made, const PawlJoint* joint, int k) {
  const char* name = k == 0 ? "way" : pawl_say(made, "way%d", k + 1);
  const char* way = pawl_part_use(made, &joint->name, name);
  PawlYaml* map = pawl_put_map(made, "states", joint->key, pawl_part_key(made, &joint->name, name));
  pawl_set(made, map, joint->key, "start", joint->start[k]);
  pawl_set(made, map, joint->key, "follows",
           pawl_part_use(made, &joint->name, joint->motion->values[k]));
  pawl_set(made, map, joint->key, "unit", "rad");
  const char* s = pawl_joint_fill(made, joint, joint->motion->sine[k], NULL, NULL);
  const char* c = pawl_joint_fill(made, joint, joint->motion->cosine[k], NULL, NULL);
  return pawl_say(made, "%s + atan2(%s*cos(%s) - %s*sin(%s), %s*cos(%s) + %s*sin(%s))", way, s, way,
                  c, way, c, way, s, way);
}
