// SPDX-License-Identifier: Apache-2.0
// What acts along the value of a joint: springs, motors, stops, locks.
#include <string.h>

#include "model/demand.h"
#include "model/joints.h"

static PawlYaml* put_map(PawlMade* made, const PawlJoint* joint, const char* section,
                         const char* part) {
  return pawl_put_map(made, section, joint->key, pawl_part_key(made, &joint->name, part));
}

const char* pawl_joint_gated(PawlMade* made, const PawlJoint* joint, const char* text) {
  return joint->gates ? pawl_say(made, "%s*%s", pawl_factor(made, text),
                                 pawl_part_use(made, &joint->name, "closed"))
                      : text;
}

// A key with what acts while the joint is closed.
static void set_gated(PawlMade* made, const PawlJoint* joint, PawlYaml* map, const char* key,
                      const PawlYaml* node) {
  const char* text = joint->gates ? pawl_part_text(made, node, "an expression") : NULL;
  if (text) {
    pawl_set(made, map, node, key, pawl_joint_gated(made, joint, text));
  } else if (!joint->gates) {
    pawl_set_node(made, map, key, node);
  }
}

static void write_motor(PawlMade* made, const PawlJoint* joint, const char* value,
                        const PawlYaml* motor) {
  PawlYaml* map = put_map(made, joint, "forces", "motor");
  pawl_set(made, map, joint->key, "on", value);
  set_gated(made, joint, map, "value", motor);
}

static void write_drive(PawlMade* made, const PawlJoint* joint, const char* value,
                        const PawlYaml* drive, bool rows) {
  const char* to = pawl_part_text(made, drive, "drive: an expression of t");
  if (!to) {
    return;
  }
  const char* values[PAWL_JOINT_VALUES] = {pawl_factor(made, to), "0", "0"};
  const char* text = rows && joint->motion->drive
                         ? pawl_joint_fill(made, joint, joint->motion->drive, values, values)
                         : pawl_say(made, "%s = %s", value, to);
  if (joint->gates) {
    PawlYaml* map = put_map(made, joint, "constraints", "drive");
    pawl_set(made, map, drive, "equation", text);
    pawl_set_joint_switch(made, joint, map, true);
  } else {
    pawl_put(made, "constraints", drive, pawl_part_key(made, &joint->name, "drive"), text);
  }
}

static bool check_spring(PawlMade* made, const PawlYaml* spring) {
  static const char* const keys[] = {"stiffness", "length", "damping", NULL};
  if (spring && spring->kind != PAWL_YAML_MAP) {
    pawl_report(&made->loader->report, spring, "spring: expected {stiffness: k, length: a}");
    return false;
  }
  return !spring ||
         pawl_yaml_check_keys(&made->loader->report, spring, "the spring of a joint", keys);
}

// factor/2 of^2, while the joint is closed: springs: take parameters only.
static void put_square(PawlMade* made, const PawlJoint* joint, const char* section,
                       const PawlYaml* factor, const char* of) {
  const char* text = factor ? pawl_part_text(made, factor, "an expression") : NULL;
  if (text) {
    pawl_put_each(
        made, section, factor, &joint->name,
        pawl_joint_gated(made, joint, pawl_say(made, "%s/2*%s^2", pawl_factor(made, text), of)));
  }
}

static void write_spring(PawlMade* made, const PawlJoint* joint, const char* value,
                         const PawlYaml* spring, const PawlYaml* damping) {
  const PawlYaml *own = pawl_part_get(spring, "damping"), *length = pawl_part_get(spring, "length");
  if (!check_spring(made, spring)) {
    return;
  }
  if (damping && own) {
    pawl_report(&made->loader->report, damping, "the spring of '%s' has damping: already",
                pawl_quote(joint->key->text).s);
    return;
  }
  if (joint->gates) {
    const char* rest = length ? pawl_part_text(made, length, "an expression") : NULL;
    const char* stretch = pawl_sum(made, value, NULL, NULL, rest ? pawl_factor(made, rest) : NULL);
    put_square(made, joint, "potential", pawl_part_get(spring, "stiffness"),
               pawl_factor(made, stretch));
    put_square(made, joint, "dissipation", damping ? damping : own,
               pawl_part_use(made, &joint->name, "rate"));
    return;
  }
  PawlYaml* map = put_map(made, joint, "springs", "spring");
  pawl_set(made, map, joint->key, "along", value);
  for (const PawlYaml* child = spring ? spring->first : NULL; child; child = child->next) {
    pawl_set_node(made, map, child->key->text, child);
  }
  if (damping) {
    pawl_set_node(made, map, "damping", damping);
  }
}

static void write_stop(PawlMade* made, const PawlJoint* joint, const char* part, const char* gap,
                       const PawlYaml* restitution) {
  PawlYaml* map = put_map(made, joint, "contacts", part);
  pawl_set(made, map, joint->key, "gap", gap);
  pawl_set_node(made, map, "restitution", restitution);
}

static void write_stops(PawlMade* made, const PawlJoint* joint, const char* value,
                        const PawlYaml* stops) {
  static const char* const keys[] = {"low", "high", "restitution", NULL};
  const PawlYaml *low = pawl_part_get(stops, "low"), *high = pawl_part_get(stops, "high"),
                 *restitution = pawl_part_get(stops, "restitution");
  if (stops->kind != PAWL_YAML_MAP || (!low && !high)) {
    pawl_report(&made->loader->report, stops, "stops: expected {low: a, high: b, restitution: e}");
    return;
  }
  pawl_yaml_check_keys(&made->loader->report, stops, "the stops of a joint", keys);
  if (joint->gates) {
    pawl_report(&made->loader->report, stops->key,
                "stops: '%s' opens by switch:, and contacts have no switch; write contacts: "
                "between shapes",
                pawl_quote(joint->key->text).s);
    return;
  }
  const char* a = low ? pawl_part_text(made, low, "an expression") : NULL;
  const char* b = high ? pawl_part_text(made, high, "an expression") : NULL;
  if (a && b) {
    pawl_demand_one(made, PAWL_DEMAND_NOT_NEGATIVE, &joint->name, stops,
                    pawl_say(made, "the stops of '%s': high is below low", joint->name.name),
                    pawl_say(made, "%s - %s", pawl_factor(made, b), pawl_factor(made, a)));
  }
  if (a) {
    write_stop(made, joint, "low", pawl_say(made, "%s - %s", value, pawl_factor(made, a)),
               restitution);
  }
  if (b) {
    write_stop(made, joint, "high", pawl_say(made, "%s - %s", pawl_factor(made, b), value),
               restitution);
  }
}

static bool is_force(const char* key) {
  return strcmp(key, "capacity") == 0 || strcmp(key, "friction") == 0;
}

static void write_lock(PawlMade* made, const PawlJoint* joint, const char* part, const char* value,
                       const PawlYaml* keys) {
  if (keys->kind != PAWL_YAML_MAP) {
    pawl_report(&made->loader->report, keys, "%s: expected {at: ..., when: ..., release: ...}",
                part);
    return;
  }
  if (strcmp(part, "brake") == 0 && !pawl_part_get(keys, "capacity")) {
    pawl_report(&made->loader->report, keys,
                "the brake of '%s' needs capacity: (lock: holds without one)",
                pawl_quote(joint->key->text).s);
    return;
  }
  PawlYaml* map = put_map(made, joint, "locks", part);
  pawl_set(made, map, joint->key, "lock", value);
  for (const PawlYaml* child = keys->first; child; child = child->next) {
    if (strcmp(child->key->text, "lock") == 0 || strcmp(child->key->text, "rate") == 0) {
      pawl_report(&made->loader->report, child->key, "a lock of a joint holds its value, '%s'",
                  pawl_quote(value).s);
    } else if (is_force(child->key->text)) {
      set_gated(made, joint, map, child->key->text, child);
    } else {
      pawl_set_node(made, map, child->key->text, child);
    }
  }
  if (joint->gates && !pawl_part_get(keys, "capacity")) {
    pawl_set(made, map, keys, "part_of", pawl_part_use(made, &joint->name, ""));
  }
}

// ---- friction ---------------------------------------------------------------------------------

bool pawl_joint_rubs(const PawlJoint* joint) {
  const PawlYaml* friction = pawl_part_get(joint->map, "friction");
  return friction && friction->kind == PAWL_YAML_MAP;
}

// A number of friction that is not negative; NULL after reporting.
static const char* friction_part(PawlMade* made, const PawlJoint* joint, const PawlYaml* friction,
                                 const char* key) {
  const PawlYaml* given = pawl_part_get(friction, key);
  const char* text = given ? pawl_part_text(made, given, "an expression") : NULL;
  pawl_demand_one(made, PAWL_DEMAND_NOT_NEGATIVE, &joint->name, given ? given : friction,
                  pawl_say(made, "%s of the friction of '%s' is negative", key, joint->name.name),
                  text);
  return text;
}

// mu times the load, at the radius of the pin where it turns.
static const char* friction_force(PawlMade* made, const PawlJoint* joint, const char* mu,
                                  const char* lever) {
  const char* load = pawl_joint_fill(made, joint, joint->motion->load, NULL, NULL);
  const char* arm = lever ? pawl_say(made, "%s*", pawl_factor(made, lever)) : "";
  return pawl_say(made, "%s*%s%s", pawl_factor(made, mu), arm, load);
}

// What its rows carry is known where it is cut; a force or, at some radius, a torque of them is.
static void refuse_mu(PawlMade* made, const PawlJoint* joint, const PawlYaml* friction) {
  const char* presses = joint->motion->presses;
  const char* hint =
      presses ? pawl_say(made,
                         "; write cut: true, and as friction: a force or torque, such as "
                         "\"0.2*%s\"",
                         pawl_joint_fill(made, joint, presses, NULL, NULL))
              : "";
  pawl_report(&made->loader->report, friction,
              "friction by mu is not known of the type '%s', of revolute and prismatic joints "
              "alone%s",
              joint->type->word, hint);
}

static bool check_rubbing(PawlMade* made, const PawlJoint* joint, const PawlYaml* friction) {
  static const char* const turning[] = {"mu", "static", "kinetic", "pin", NULL};
  static const char* const moving[] = {"mu", "static", "kinetic", NULL};
  const char* lever = joint->type->lever;
  bool mu = pawl_part_get(friction, "mu"), rest = pawl_part_get(friction, "static"),
       slides = pawl_part_get(friction, "kinetic"), pin = !lever || pawl_part_get(friction, lever);
  if (!joint->motion->load) {
    refuse_mu(made, joint, friction);
    return false;
  }
  if (!pawl_yaml_check_keys(&made->loader->report, friction, "the friction of a joint",
                            lever ? turning : moving)) {
    return false;
  }
  if (!pin || (mu ? rest || slides : !rest || !slides)) {
    pawl_report(&made->loader->report, friction,
                "friction: expected {mu: m%s} or {static: a, kinetic: b%s}",
                lever ? ", pin: radius" : "", lever ? ", pin: radius" : "");
    return false;
  }
  return true;
}

// The capacity, and what rubs while it moves where that is less.
static void write_rubbing(PawlMade* made, const PawlJoint* joint, PawlYaml* map,
                          const PawlYaml* friction) {
  bool one = pawl_part_get(friction, "mu");
  if (!check_rubbing(made, joint, friction)) {
    return;
  }
  const char* lever =
      joint->type->lever ? friction_part(made, joint, friction, joint->type->lever) : NULL;
  const char* rest = friction_part(made, joint, friction, one ? "mu" : "static");
  const char* slides = one ? NULL : friction_part(made, joint, friction, "kinetic");
  if (rest) {
    pawl_set(made, map, friction, "capacity", friction_force(made, joint, rest, lever));
  }
  if (slides && rest) {
    pawl_demand_one(
        made, PAWL_DEMAND_NOT_NEGATIVE, &joint->name, friction,
        pawl_say(made, "static less kinetic friction of '%s' is negative", joint->name.name),
        pawl_say(made, "%s - %s", pawl_factor(made, rest), pawl_factor(made, slides)));
    pawl_set(made, map, friction, "friction", friction_force(made, joint, slides, lever));
  }
}

static void write_friction(PawlMade* made, const PawlJoint* joint, const char* value,
                           const PawlYaml* friction) {
  PawlYaml* map = put_map(made, joint, "locks", "friction");
  pawl_set(made, map, joint->key, "lock", value);
  pawl_set(made, map, joint->key, "engaged", "true");
  if (pawl_joint_rubs(joint)) {
    write_rubbing(made, joint, map, friction);
  } else {
    set_gated(made, joint, map, "capacity", friction);
  }
}

// The first key of a joint that needs a value; NULL without.
static const PawlYaml* first_act(const PawlJoint* joint) {
  static const char* const keys[] = {"motor",    "drive", "spring", "damping",
                                     "friction", "stops", "lock",   "brake"};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    const PawlYaml* act = pawl_part_get(joint->map, keys[k]);
    if (act) {
      return act;
    }
  }
  return NULL;
}

bool pawl_joint_has_acts(const PawlJoint* joint) {
  return first_act(joint) != NULL;
}

void pawl_write_joint_acts(PawlMade* made, const PawlJoint* joint) {
  const PawlYaml *map = joint->map, *act = first_act(joint);
  const char* name = joint->motion->values[0];
  if (act && (!name || pawl_joint_is_ball(joint))) {
    pawl_report(&made->loader->report, act->key,
                "a joint of the type '%s' has no value for %s:", joint->type->word, act->key->text);
  }
  bool power = pawl_part_is_true(made, map, "power");
  if (!act && power) {
    pawl_report(&made->loader->report, pawl_part_get(map, "power")->key,
                "power: nothing acts along the value of '%s'; a joint by itself makes none",
                pawl_quote(joint->key->text).s);
  }
  if (!act || !name) {
    return;
  }
  const char* value = pawl_part_use(made, &joint->name, name);
  const PawlYaml *motor = pawl_part_get(map, "motor"), *drive = pawl_part_get(map, "drive"),
                 *spring = pawl_part_get(map, "spring"), *damping = pawl_part_get(map, "damping"),
                 *friction = pawl_part_get(map, "friction"), *stops = pawl_part_get(map, "stops"),
                 *lock = pawl_part_get(map, "lock"), *brake = pawl_part_get(map, "brake");
  if (motor) {
    write_motor(made, joint, value, motor);
  }
  if (drive) {
    write_drive(made, joint, value, drive, !joint->is_coordinate);
  }
  if (spring || damping) {
    write_spring(made, joint, value, spring, damping);
  }
  if (friction) {
    write_friction(made, joint, value, friction);
  }
  if (stops) {
    write_stops(made, joint, value, stops);
  }
  if (lock) {
    write_lock(made, joint, "lock", value, lock);
  }
  if (brake) {
    write_lock(made, joint, "brake", value, brake);
  }
  if (power) {
    pawl_write_joint_power(made, joint);
  }
}
