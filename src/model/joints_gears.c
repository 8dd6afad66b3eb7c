// SPDX-License-Identifier: Apache-2.0
// Gears: ratios between the values of two joints.
#include <string.h>

#include "model/demand.h"
#include "model/joints.h"

// ---- reading ------------------------------------------------------------------------------------

static int find_joint(PawlMade* made, const PawlJoints* joints, const PawlYaml* node) {
  bool word = node->kind == PAWL_YAML_SCALAR && !pawl_yaml_is_null(node);
  PawlNearest nearest = {.wanted = word ? node->text : ""};
  for (int k = 0; k < joints->count && word; k++) {
    const char* name = joints->item[k].key->text;
    if (strcmp(name, node->text) == 0 && joints->item[k].is_gear) {
      pawl_report(&made->loader->report, node, "'%s' is a gear, which has no value to be geared",
                  pawl_quote(name).s);
      return -1;
    }
    if (strcmp(name, node->text) == 0) {
      return k;
    }
    if (!joints->item[k].is_gear) {
      pawl_nearest_offer(&nearest, name);
    }
  }
  pawl_report(&made->loader->report, node, "'%s' is not a joint%s",
              word ? pawl_quote(node->text).s : "", pawl_did_you_mean(nearest.name).s);
  return -1;
}

bool pawl_read_gear(PawlMade* made, const PawlJoints* joints, PawlJoint* gear) {
  const PawlYaml* pair = pawl_yaml_get(gear->map, PAWL_GEAR_WORD);
  bool good = pair->kind == PAWL_YAML_LIST && pair->count == 2;
  if (!good) {
    pawl_report(&made->loader->report, pair, "gear: expected two joints, [first, second]");
    return false;
  }
  const PawlYaml* item = pair->first;
  for (int k = 0; k < 2; k++, item = item->next) {
    gear->geared[k] = find_joint(made, joints, item);
    good &= gear->geared[k] >= 0;
    if (gear->geared[k] >= 0 && (pawl_joint_value_count(&joints->item[gear->geared[k]]) == 0 ||
                                 pawl_joint_is_ball(&joints->item[gear->geared[k]]))) {
      pawl_report(&made->loader->report, item, "the joint '%s' has no value to be geared",
                  pawl_quote(item->text).s);
      good = false;
    }
  }
  if (good && gear->geared[0] == gear->geared[1]) {
    pawl_report(&made->loader->report, pair, "a gear needs two joints, '%s' is given twice",
                pawl_quote(pair->first->text).s);
    return false;
  }
  return good;
}

// The value of a joint is `factor` times that of the joint `root`, up to a constant, by gears.
typedef struct Geared {
  int root;
  const char* factor;
} Geared;

// a = ratio b joins two groups; within one it says the same as the gears before, or nothing turns.
static void follow_gear(PawlMade* made, const PawlJoints* joints, const PawlJoint* gear,
                        Geared of[]) {
  Geared a = of[gear->geared[0]], b = of[gear->geared[1]];
  const char* ratio = pawl_say(made, "%s*%s", pawl_factor(made, gear->L), b.factor);
  if (a.root == b.root) {
    pawl_demand(
        made, PAWL_DEMAND_EQUAL, &gear->name, gear->key,
        pawl_say(made, "the gear '%s' closes a circle in which nothing can turn", gear->name.name),
        2, (const char* const[]){a.factor, ratio});
    return;
  }
  for (int k = 0; k < joints->count; k++) {
    if (of[k].root == b.root) {
      of[k] = (Geared){a.root, pawl_say(made, "(%s*%s/(%s))", of[k].factor, a.factor, ratio)};
    }
  }
}

// ---- offsets ------------------------------------------------------------------------------------

bool pawl_read_gear_offset(PawlMade* made, PawlJoint* gear) {
  const PawlYaml* offset = pawl_part_get(gear->map, "offset");
  gear->offset = offset ? pawl_part_text(made, offset, "an expression") : NULL;
  return !offset || gear->offset;
}

// The start of one of the two from that of the other: a = ratio b + offset.
static void start_from(PawlMade* made, PawlJoints* joints, const PawlJoint* gear, int side) {
  const char* other = joints->item[gear->geared[!side]].start[0];
  const char *ratio = pawl_factor(made, gear->L), *offset = pawl_factor(made, gear->offset);
  other = other ? pawl_factor(made, other) : "0";
  joints->item[gear->geared[side]].start[0] =
      side == 0 ? pawl_say(made, "%s*%s + %s", ratio, other, offset)
                : pawl_say(made, "(%s - %s)/%s", other, offset, ratio);
}

// Starts that are not given follow from those that are, over any number of gears; of gears between
// none that is given the second joint is as it says.
static bool follow_offsets(PawlMade* made, PawlJoints* joints) {
  size_t count = (size_t)joints->count + 1;
  bool* known = pawl_pool_alloc(&made->loader->pool, count * sizeof *known);
  if (!known) {
    return pawl_loader_no_memory(made->loader);
  }
  for (int k = 0; k < joints->count; k++) {
    known[k] = joints->item[k].given[0];
  }
  for (bool more = true; more;) {
    const PawlJoint* none = NULL;
    more = false;
    for (int k = 0; k < joints->count; k++) {
      const PawlJoint* gear = &joints->item[k];
      int a = gear->geared[0], b = gear->geared[1];
      if (!gear->is_gear || !gear->offset || (known[a] && known[b])) {
        continue;
      }
      if (!known[a] && !known[b]) {
        none = none ? none : gear;
        continue;
      }
      start_from(made, joints, gear, known[a] ? 1 : 0);
      known[a] = known[b] = more = true;
    }
    if (!more && none) {
      known[none->geared[1]] = more = true;
    }
  }
  for (int k = 0; k < joints->count; k++) {
    const PawlJoint* gear = &joints->item[k];
    if (gear->is_gear && gear->offset) {
      const char *a = joints->item[gear->geared[0]].start[0],
                 *b = joints->item[gear->geared[1]].start[0];
      const char* fits = pawl_say(made, "%s*%s + %s", pawl_factor(made, gear->L),
                                  b ? pawl_factor(made, b) : "0", pawl_factor(made, gear->offset));
      pawl_demand(made, PAWL_DEMAND_EQUAL, &gear->name, gear->key,
                  pawl_say(made, "the starts of '%s' and '%s' do not fit the gear '%s'",
                           joints->item[gear->geared[0]].name.name,
                           joints->item[gear->geared[1]].name.name, gear->name.name),
                  3, (const char* const[]){a ? a : "0", fits, "1"});
    }
  }
  return true;
}

// ---- all of them ------------------------------------------------------------------------------

bool pawl_follow_gears(PawlMade* made, PawlJoints* joints) {
  Geared* of = pawl_pool_alloc(&made->loader->pool, ((size_t)joints->count + 1) * sizeof *of);
  if (!of) {
    return pawl_loader_no_memory(made->loader);
  }
  for (int k = 0; k < joints->count; k++) {
    of[k] = (Geared){k, "1"};
  }
  for (int k = 0; k < joints->count; k++) {
    if (joints->item[k].is_gear) {
      follow_gear(made, joints, &joints->item[k], of);
    }
  }
  return follow_offsets(made, joints);
}

// What the gear holds is a - ratio b as it is at the start, or the offset. An angle found from
// rotations jumps by a turn, its rate does not. A gear opens and catches with its joint.
void pawl_write_gear(PawlMade* made, const PawlJoint* gear, const PawlJoints* joints) {
  const PawlJoint *a = &joints->item[gear->geared[0]], *b = &joints->item[gear->geared[1]];
  bool jumps = made->dimension == 3 && (!a->is_coordinate || !b->is_coordinate);
  const char* key = pawl_part_key(made, &gear->name, "");
  const char* parts[2] = {jumps ? "rate" : a->motion->values[0],
                          jumps ? "rate" : b->motion->values[0]};
  const char* first = pawl_part_use(made, &a->name, parts[0]);
  const char* second =
      pawl_say(made, "%s*%s", pawl_factor(made, gear->L), pawl_part_use(made, &b->name, parts[1]));
  bool lock = !jumps && !gear->offset;
  PawlYaml* map = pawl_put_map(made, lock ? "locks" : "constraints", gear->key, key);
  if (lock) {
    pawl_set(made, map, gear->key, "lock", pawl_say(made, "%s - %s", first, second));
  } else {
    const char* more = jumps ? NULL : pawl_factor(made, gear->offset);
    pawl_set(made, map, gear->key, jumps ? "rate" : "equation",
             pawl_say(made, "%s = %s", first, pawl_sum(made, second, more, NULL, NULL)));
  }
  const PawlJoint* opens = a->switching ? a : b->switching ? b : NULL;
  if (a->switching && b->switching) {
    pawl_report(&made->loader->report, gear->key,
                "both joints of the gear '%s' open by switch:, and it can go with one only",
                pawl_quote(gear->key->text).s);
  } else if (opens) {
    pawl_set_joint_switch(made, opens, map, false);
    pawl_set(made, map, gear->key, "on", jumps ? NULL : "keep");
  } else if (lock) {
    pawl_set(made, map, gear->key, "engaged", "true");
  }
}
