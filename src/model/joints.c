// SPDX-License-Identifier: Apache-2.0
// Reading `joints:`.
#include "model/joints.h"

#include <stdio.h>
#include <string.h>

#include "model/demand.h"

const PawlJointType pawl_joint_types[] = {
#include "model/joints.def"
    {0}};

static const char* const other_keys[] = {
    "guess",  "normal",  "reaction", "radius", "function", "at",    "turn",   "axis",  "axis2",
    "start",  "rate",    "cut",      "length", "pitch",    "ratio", "offset", "motor", "drive",
    "spring", "damping", "friction", "stops",  "lock",     "brake", "switch", "turns", "power"};
enum { OTHER_KEYS = sizeof other_keys / sizeof *other_keys, MOST_TYPES = 24 };

// ---- the type ---------------------------------------------------------------------------------

static const PawlJointType* type_of(const char* word) {
  for (const PawlJointType* type = pawl_joint_types; type->word; type++) {
    if (strcmp(type->word, word) == 0) {
      return type;
    }
  }
  return NULL;
}

static void offer_types(char* list, size_t room, PawlNearest* nearest) {
  size_t used = 0;
  for (const PawlJointType* type = pawl_joint_types; type->word; type++) {
    pawl_nearest_offer(nearest, type->word);
    int more = snprintf(list + used, room - used, "%s, ", type->word);
    used += more > 0 ? (size_t)more : 0;
    used = used < room ? used : room - 1;
  }
  pawl_nearest_offer(nearest, PAWL_GEAR_WORD);
  snprintf(list + used, room - used, "%s", PAWL_GEAR_WORD);
}

// The type that other tools call by another word; NULL: none.
static const char* usual_type(const char* word) {
  static const char* const words[][2] = {
      {"hinge", "revolute"},   {"pin", "revolute"},    {"continuous", "revolute"},
      {"slider", "prismatic"}, {"slide", "prismatic"}, {"fixed", "weld"},
      {"rigid", "weld"},       {"ball", "spherical"},  {"cardan", "universal"},
      {"hooke", "universal"},  {"helical", "screw"},   {"rope", "distance"},
      {"rod", "distance"},     {"rack", "gear"},       {"roll", "rolling"}};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    if (strcmp(words[k][0], word) == 0) {
      return words[k][1];
    }
  }
  return NULL;
}

// A joint without a type may be meant to stand over one of the section, of an included robot.
static void report_no_type(PawlMade* made, const PawlYaml* section, const PawlYaml* map) {
  char list[200];
  const char* name = map->key->text;
  PawlNearest type = {.wanted = map->first ? map->first->key->text : ""}, other = {.wanted = name};
  offer_types(list, sizeof list, &type);
  const char* usual = usual_type(type.wanted);
  for (const PawlYaml* joint = section->first; joint; joint = joint->next) {
    if (joint != map) {
      pawl_nearest_offer(&other, joint->key->text);
    }
  }
  pawl_report(&made->loader->report, map->key,
              "the joint '%s' needs a type with two bodies, {revolute: [arm, forearm]}: one of "
              "%s%s",
              pawl_quote(name).s, list,
              pawl_did_you_mean(usual       ? usual
                                : type.name ? type.name
                                            : other.name)
                  .s);
}

// The entry whose key is a type; NULL after reporting that there is none or more than one.
static PawlYaml* find_type(PawlMade* made, const PawlYaml* section, const PawlYaml* map) {
  PawlYaml* found = NULL;
  for (PawlYaml* child = map->first; child; child = child->next) {
    if (!type_of(child->key->text) && strcmp(child->key->text, PAWL_GEAR_WORD) != 0) {
      continue;
    }
    if (found) {
      pawl_report(&made->loader->report, child->key, "the joint '%s' is '%s' already",
                  pawl_quote(map->key->text).s, found->key->text);
      return NULL;
    }
    found = child;
  }
  if (!found) {
    report_no_type(made, section, map);
  }
  return found;
}

static bool check_keys(PawlMade* made, const PawlYaml* map) {
  const char* known[OTHER_KEYS + MOST_TYPES + 2];
  int count = 0;
  for (const PawlJointType* type = pawl_joint_types; type->word && count < MOST_TYPES; type++) {
    known[count++] = type->word;
  }
  known[count++] = PAWL_GEAR_WORD;
  for (int k = 0; k < OTHER_KEYS; k++) {
    known[count++] = other_keys[k];
  }
  known[count] = NULL;
  return pawl_yaml_check_keys(&made->loader->report, map, "a joint", known);
}

// ---- bodies and places ------------------------------------------------------------------------

static bool find_body(PawlMade* made, const PawlBodies* bodies, const PawlYaml* node,
                      PawlBodyUse* use) {
  bool word = node->kind == PAWL_YAML_SCALAR && !pawl_yaml_is_null(node);
  size_t length = word ? strcspn(node->text, "[") : 0;
  use->body = word ? pawl_find_body(bodies, node->text, length) : NULL;
  if (use->body) {
    bool index = node->text[length] != '\0', family = use->body->name.range[0] != '\0';
    if (index != family) {
      pawl_report(&made->loader->report, node, "the body '%s' %s", pawl_quote(node->text).s,
                  index ? "has no indices" : "is a family: which element?");
      return false;
    }
    use->name = (PawlPartName){use->body->name.name, node->text + length, node->text + length};
    return true;
  }
  PawlNearest nearest = {.wanted = word ? node->text : ""};
  for (int k = 0; k < bodies->count; k++) {
    pawl_nearest_offer(&nearest, bodies->item[k].name.name);
  }
  pawl_report(&made->loader->report, node, "'%s' is not a body%s",
              word ? pawl_quote(node->text).s : "", pawl_did_you_mean(nearest.name).s);
  return false;
}

static bool read_pair(PawlMade* made, const PawlBodies* bodies, const PawlYaml* pair,
                      PawlJoint* joint) {
  if (pair->kind != PAWL_YAML_LIST || pair->count != 2) {
    pawl_report(&made->loader->report, pair, "%s: expected two bodies, [first, second]",
                pair->key->text);
    return false;
  }
  bool good = find_body(made, bodies, pair->first, &joint->body[0]);
  good &= find_body(made, bodies, pair->first->next, &joint->body[1]);
  if (good && joint->body[0].body == joint->body[1].body &&
      strcmp(joint->body[0].name.index, joint->body[1].name.index) == 0) {
    pawl_report(&made->loader->report, pair, "a joint needs two bodies, '%s' is given twice",
                pawl_quote(pair->first->text).s);
    return false;
  }
  return good;
}

// "arm.tip", a point of the body; its place in the frame of the body. False: it is none.
static bool named_point(const PawlBodyUse* use, const char* text, const PawlYaml** place) {
  const char *name = use->body->name.name, *index = use->name.index;
  size_t length = strlen(name), more = strlen(index);
  if (strncmp(text, name, length) != 0 || strncmp(text + length, index, more) != 0 ||
      text[length + more] != '.') {
    return false;
  }
  const char* point = text + length + more + 1;
  *place = use->body->points ? pawl_yaml_get(use->body->points, point) : NULL;
  return *place || strcmp(point, "at") == 0;
}

static bool looks_like_point(const PawlYaml* node) {
  const char* text = node->kind == PAWL_YAML_SCALAR ? node->text : "";
  return text[strspn(text, "0123456789.eE+-")] != '\0' && strchr(text, '.') &&
         !strpbrk(text, " */(,");
}

#define OTHER_SIDE                                                                              \
  ", but of the other body; at: has the place on the first body, or a list of both, first and " \
  "second"

static bool read_place(PawlMade* made, const PawlYaml* node, PawlJoint* joint, int side) {
  const PawlBodyUse* use = &joint->body[side];
  const char** out = &joint->at[side];
  const PawlYaml* place = NULL;
  bool word = node->kind == PAWL_YAML_SCALAR;
  if (word && named_point(use, node->text, &place)) {
    *out = place ? pawl_part_vector(made, place, "a point") : NULL;
    joint->named[side] = node->text;
    return !place || *out;
  }
  if (word && looks_like_point(node)) {
    PawlNearest nearest = {.wanted = node->text};
    for (const PawlYaml* p = use->body->points ? use->body->points->first : NULL; p; p = p->next) {
      const char* part = pawl_body_part(made, use, p->key->text);
      pawl_nearest_offer(&nearest, part);
    }
    bool other = named_point(&joint->body[!side], node->text, &place);
    pawl_report(&made->loader->report, node, "'%s' is not a point of '%s'%s%s",
                pawl_quote(node->text).s, pawl_quote(use->body->name.name).s,
                pawl_did_you_mean(nearest.name).s, other ? OTHER_SIDE : "");
    return false;
  }
  *out = pawl_part_vector(made, node, "at");
  return *out != NULL;
}

// One place, that of the first body, or a list of two.
static bool read_at(PawlMade* made, PawlJoint* joint) {
  const PawlYaml* at = pawl_part_get(joint->map, "at");
  if (!at) {
    return true;
  }
  const PawlYaml* first = at->kind == PAWL_YAML_LIST ? at->first : NULL;
  bool two = first && at->count == 2 &&
             (first->kind == PAWL_YAML_LIST || first->next->kind == PAWL_YAML_LIST ||
              looks_like_point(first) || looks_like_point(first->next));
  if (!two) {
    return read_place(made, at, joint, 0);
  }
  bool good = read_place(made, first, joint, 0);
  return read_place(made, first->next, joint, 1) && good;
}

// ---- values -----------------------------------------------------------------------------------

// `start` or `rate`: one expression, or a list with one for each value.
static bool read_values(PawlMade* made, const PawlJoint* joint, const char* key,
                        const char* out[]) {
  const PawlYaml* given = pawl_part_get(joint->map, key);
  int count = pawl_joint_value_count(joint);
  if (!given) {
    return true;
  }
  if (pawl_joint_is_ball(joint)) {
    out[0] = strcmp(key, "rate") == 0 ? pawl_part_vector(made, given, key)
                                      : pawl_part_rotation(made, given, key);
    return out[0] != NULL;
  }
  bool list = given->kind == PAWL_YAML_LIST;
  if (count == 0 || (count > 1) != list || (list && given->count != count)) {
    pawl_report(&made->loader->report, given, "%s: the joint '%s' has %d value%s%s", key,
                pawl_quote(joint->key->text).s, count, count == 1 ? "" : "s",
                count > 1 ? ", which are a list" : "");
    return false;
  }
  const PawlYaml* item = list ? given->first : given;
  bool good = true;
  for (int k = 0; k < count; k++, item = item->next) {
    out[k] = pawl_part_text(made, item, "an expression");
    good &= out[k] != NULL;
  }
  return good;
}

static bool read_turn(PawlMade* made, PawlJoint* joint) {
  const PawlYaml* turn = pawl_part_get(joint->map, "turn");
  if (!turn) {
    return true;
  }
  if (made->dimension == 2 && turn->kind != PAWL_YAML_SCALAR) {
    pawl_report(&made->loader->report, turn,
                "turn: expected an angle, since places have two numbers");
    return false;
  }
  joint->turn = made->dimension == 2 ? pawl_part_text(made, turn, "an angle")
                                     : pawl_part_rotation(made, turn, "turn");
  if (made->dimension == 3 && turn->kind == PAWL_YAML_SCALAR) {
    pawl_demand_rotation(made, &joint->name, turn, joint->turn);
  }
  return joint->turn != NULL;
}

static bool read_extra(PawlMade* made, PawlJoint* joint) {
  const char* key = joint->is_gear ? "ratio" : joint->type->extra;
  const PawlYaml* extra = key ? pawl_part_get(joint->map, key) : NULL;
  static const char* const all[] = {"length", "pitch", "ratio", "radius", "function", "offset"};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    const PawlYaml* given = pawl_part_get(joint->map, all[k]);
    bool offset = joint->is_gear && strcmp(all[k], "offset") == 0;
    if (given && given != extra && !offset) {
      pawl_report(&made->loader->report, given->key, "the joint '%s' has no %s",
                  pawl_quote(joint->key->text).s, all[k]);
      return false;
    }
  }
  if (key && !extra) {
    pawl_report(&made->loader->report, joint->key,
                "the joint '%s' needs %s:", pawl_quote(joint->key->text).s, key);
    return false;
  }
  joint->L = extra ? pawl_part_text(made, extra, "an expression") : NULL;
  if (joint->L && strcmp(key, "function") != 0) {
    bool size = strcmp(key, "length") == 0 || strcmp(key, "radius") == 0;
    pawl_demand_one(made, size ? PAWL_DEMAND_POSITIVE : PAWL_DEMAND_NOT_ZERO, &joint->name, extra,
                    pawl_say(made, "the %s of '%s' is %s", key, joint->name.name,
                             size ? "not positive" : "zero"),
                    joint->L);
  }
  return !extra || joint->L;
}

// `guess: true`, start or rate: what is given of these is found all the same. False for a value.
static bool read_guess_word(const PawlYaml* guess, bool given[2]) {
  const char* text = guess->kind == PAWL_YAML_SCALAR ? guess->text : "";
  bool both = strcmp(text, "true") == 0;
  bool start = strcmp(text, "start") == 0, rate = strcmp(text, "rate") == 0;
  given[0] = given[0] && !both && !start;
  given[1] = given[1] && !both && !rate;
  return both || start || rate || strcmp(text, "false") == 0;
}

bool pawl_refuse_joint_start(PawlMade* made, const PawlJoint* joint) {
  static const char* const keys[] = {"start", "rate", "guess"};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    const PawlYaml* given = pawl_part_get(joint->map, keys[k]);
    if (given) {
      pawl_report(&made->loader->report, given->key,
                  "%s: bodies of a family have no value of a joint to start from; give the bodies "
                  "start: and rate:",
                  keys[k]);
      return true;
    }
  }
  return false;
}

bool pawl_joint_is_closed(const PawlJoint* joint) {
  const PawlYaml* s = joint->switching;
  const PawlYaml* engaged = pawl_part_get(s, "engaged");
  bool word = engaged && engaged->kind == PAWL_YAML_SCALAR;
  return !s || (word && strcmp(engaged->text, "true") == 0) ||
         (!engaged && !pawl_part_get(s, "at") && !pawl_part_get(s, "when"));
}

static bool read_motion(PawlMade* made, PawlJoint* joint) {
  bool plane = made->dimension == 2;
  bool family =
      joint->name.range[0] || joint->body[0].name.index[0] || joint->body[1].name.index[0];
  if (family && !made->by_joints && pawl_refuse_joint_start(made, joint)) {
    return false;
  }
  bool wheel = joint->type->wheel.exists && pawl_part_get(joint->map, "axis");
  joint->motion = plane ? &joint->type->plane : wheel ? &joint->type->wheel : &joint->type->space;
  if (!joint->motion->exists) {
    pawl_report(&made->loader->report, joint->key, "a joint of the type '%s' exists in space only",
                joint->type->word);
    return false;
  }
  joint->given[0] = pawl_part_get(joint->map, "start") != NULL;
  joint->given[1] = pawl_part_get(joint->map, "rate") != NULL;
  bool good = read_turn(made, joint) && pawl_joint_axes(made, joint);
  const PawlYaml* guess = pawl_part_get(joint->map, "guess");
  bool word = guess && read_guess_word(guess, joint->given);
  if (guess && !word && joint->given[0]) {
    pawl_report(
        &made->loader->report, guess->key,
        "the joint '%s' has start: already, which is kept; guess: is found, and guess: true "
        "makes a guess of start:",
        pawl_quote(joint->key->text).s);
    return false;
  }
  good &= read_values(made, joint, guess && !word ? "guess" : "start", joint->start);
  good &= read_values(made, joint, "rate", joint->rate);
  joint->switching = pawl_part_get(joint->map, "switch");
  joint->driven = pawl_part_get(joint->map, "drive") && pawl_joint_is_closed(joint);
  joint->records = pawl_part_is_true(made, joint->map, "reaction");
  joint->cut = joint->records || pawl_part_is_true(made, joint->map, "cut") || joint->switching ||
               joint->motion->rows_only || pawl_joint_rubs(joint);
  return good;
}

// ---- all of them ------------------------------------------------------------------------------

// What does not depend on the dimension, which places decide on.
static bool read_joint(PawlMade* made, const PawlYaml* section, PawlYaml* map,
                       const PawlBodies* bodies, PawlJoint* joint) {
  *joint = (PawlJoint){.key = map->key, .map = map};
  if (!pawl_part_name(made, map->key, &joint->name)) {
    return false;
  }
  if (pawl_find_body(bodies, joint->name.name, strlen(joint->name.name))) {
    pawl_report(&made->loader->report, map->key, "'%s' is a body already",
                pawl_quote(joint->name.name).s);
    return false;
  }
  if (map->kind != PAWL_YAML_MAP) {
    pawl_report(&made->loader->report, map, "'%s': expected {revolute: [first, second], ...}",
                pawl_quote(map->key->text).s);
    return false;
  }
  PawlYaml* pair = find_type(made, section, map);
  if (!pair || !check_keys(made, map)) {
    return false;
  }
  joint->type = type_of(pair->key->text);
  joint->is_gear = !joint->type;
  if (joint->is_gear) {
    return read_extra(made, joint) && pawl_read_gear_offset(made, joint);
  }
  return read_pair(made, bodies, pair, joint) && read_at(made, joint) && read_extra(made, joint);
}

bool pawl_read_joints(PawlMade* made, PawlYaml* section, const PawlBodies* bodies,
                      PawlJoints* joints) {
  bool good = true, map = pawl_expect_map(made->loader, section, "joints");
  *joints = (PawlJoints){0};
  if (!map) {
    return true;
  }
  joints->item = pawl_pool_alloc(&made->loader->pool, (size_t)section->count * sizeof(PawlJoint));
  if (!joints->item) {
    return pawl_loader_no_memory(made->loader);
  }
  for (PawlYaml* child = section->first; child; child = child->next) {
    bool read = read_joint(made, section, child, bodies, &joints->item[joints->count]);
    joints->count += read;
    good &= read;
  }
  made->dimension = made->dimension ? made->dimension : 2;
  for (int k = 0; k < joints->count; k++) {
    PawlJoint* joint = &joints->item[k];
    good &= joint->is_gear || read_motion(made, joint);
  }
  for (int k = 0; k < joints->count && good; k++) {
    good &= !joints->item[k].is_gear || pawl_read_gear(made, joints, &joints->item[k]);
  }
  return good && pawl_follow_gears(made, joints);
}
