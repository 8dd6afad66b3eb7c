// SPDX-License-Identifier: Apache-2.0
// What a joint carries, and the power of what acts along its value: force times rate. The rows of a
// joint make none, what pushes one body pulls the other.
#include <string.h>

#include "model/joints.h"

// ---- what acts along the value ----------------------------------------------------------------

// The value that things act along; NULL: it has none.
static const char* acted(PawlMade* made, const PawlJoint* joint) {
  const char* name = joint->motion->values[0];
  return name ? pawl_part_use(made, &joint->name, name) : NULL;
}

// What a row gives pushes towards where its left side grows.
static const char* row_force(PawlMade* made, const PawlJoint* joint, const char* key) {
  return pawl_say(made, "lambda(%s)", pawl_part_use(made, &joint->name, key));
}

// -k (value - length), and -c times the rate where the spring has the damping.
static const char* spring_force(PawlMade* made, const PawlJoint* joint, const char* value,
                                const PawlYaml* spring) {
  const PawlYaml *k = pawl_part_get(spring, "stiffness"), *length = pawl_part_get(spring, "length"),
                 *c = pawl_part_get(spring, "damping");
  const char *pull = NULL, *rub = NULL;
  if (k) {
    const char* a = length ? pawl_part_text(made, length, "an expression") : NULL;
    const char* stiff = pawl_part_text(made, k, "an expression");
    const char* stretch = pawl_sum(made, value, NULL, NULL, a ? pawl_factor(made, a) : NULL);
    pull = stiff ? pawl_say(made, "(-%s)*%s", pawl_factor(made, stiff), pawl_factor(made, stretch))
                 : NULL;
  }
  if (c) {
    const char* damps = pawl_part_text(made, c, "an expression");
    rub = damps ? pawl_say(made, "%s*%s", pawl_factor(made, damps),
                           pawl_part_use(made, &joint->name, "rate"))
                : NULL;
  }
  return pawl_sum(made, pull, NULL, NULL, rub);
}

// The force or torque along the value by what a key says; NULL: none.
static const char* force_of(PawlMade* made, const PawlJoint* joint, const char* value,
                            const char* key) {
  const PawlYaml* act = pawl_part_get(joint->map, key);
  if (!act) {
    return NULL;
  }
  if (strcmp(key, "spring") == 0) {
    const char* force = act->kind == PAWL_YAML_MAP ? spring_force(made, joint, value, act) : NULL;
    return force ? pawl_joint_gated(made, joint, force) : NULL;
  }
  if (strcmp(key, "motor") != 0 && strcmp(key, "damping") != 0) {
    return row_force(made, joint, key);
  }
  const char* text = pawl_part_text(made, act, "an expression");
  text = text ? pawl_joint_gated(made, joint, text) : NULL;
  if (!text || strcmp(key, "motor") == 0) {
    return text;
  }
  return pawl_say(made, "(-%s)*%s", pawl_factor(made, text),
                  pawl_part_use(made, &joint->name, "rate"));
}

static const char* sum_of(PawlMade* made, const PawlJoint* joint, const char* const keys[],
                          int count) {
  const char *value = acted(made, joint), *sum = NULL;
  for (int k = 0; value && k < count; k++) {
    const char* force = force_of(made, joint, value, keys[k]);
    sum = force ? pawl_sum(made, sum, pawl_factor(made, force), NULL, NULL) : sum;
  }
  return sum;
}

// ---- rows -------------------------------------------------------------------------------------

static void add_along(PawlMade* made, const PawlJoint* joint, const char* along, const char* force,
                      const char** text) {
  if (along && force) {
    const char* axis = pawl_joint_fill(made, joint, along, NULL, NULL);
    *text =
        pawl_sum(made, *text, pawl_say(made, "%s%s", axis, pawl_factor(made, force)), NULL, NULL);
  }
}

static void put_reaction(PawlMade* made, const PawlJoint* joint, const char* part,
                         const char* text) {
  if (text) {
    pawl_put(made, "outputs", joint->key, pawl_part_key(made, &joint->name, part), text);
  }
}

// Rows of a joint that switches are along F already.
void pawl_write_joint_reaction(PawlMade* made, const PawlJoint* joint) {
  static const char* const holds[] = {"drive", "friction", "lock", "brake"};
  static const char* const pushes[] = {"motor", "spring", "damping"};
  const PawlJointMotion* m = joint->motion;
  if (!m->force) {
    pawl_report(&made->loader->report, pawl_yaml_get(joint->map, "reaction"),
                "reaction: is not known of the type '%s'; lambda(%s, k) are the forces of its rows",
                joint->type->word, pawl_quote(joint->key->text).s);
    return;
  }
  const char *held = sum_of(made, joint, holds, 4),
             *pushed = m->push_force ? sum_of(made, joint, pushes, 3) : NULL;
  bool along = joint->switching && strncmp(m->force, "$T*[", 4) == 0;
  const char* force = pawl_joint_fill(made, joint, along ? m->force + 3 : m->force, NULL, NULL);
  const char* torque = m->torque ? pawl_joint_fill(made, joint, m->torque, NULL, NULL) : NULL;
  add_along(made, joint, m->hold_force, held, &force);
  add_along(made, joint, m->hold_torque, held, &torque);
  add_along(made, joint, m->push_force, pushed, &force);
  add_along(made, joint, m->push_torque, pushed, &torque);
  put_reaction(made, joint, "force", force);
  put_reaction(made, joint, "torque", torque);
}

// ---- power ------------------------------------------------------------------------------------

static void put_power(PawlMade* made, const PawlJoint* joint, const char* part, const char* force) {
  PawlYaml* map =
      pawl_put_map(made, "outputs", joint->key, pawl_part_key(made, &joint->name, part));
  pawl_set(
      made, map, joint->key, "value",
      pawl_say(made, "%s*%s", pawl_factor(made, force), pawl_part_use(made, &joint->name, "rate")));
  pawl_set(made, map, joint->key, "unit", "W");
}

void pawl_write_joint_power(PawlMade* made, const PawlJoint* joint) {
  static const char* const keys[] = {"motor",    "drive", "spring", "damping",
                                     "friction", "lock",  "brake"};
  const char* sum = NULL;
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    const char* force = force_of(made, joint, acted(made, joint), keys[k]);
    if (force) {
      put_power(made, joint, pawl_say(made, "%s.power", keys[k]), force);
      sum = pawl_sum(made, sum, pawl_factor(made, force), NULL, NULL);
    }
  }
  put_power(made, joint, "power", sum ? sum : "0");
}
