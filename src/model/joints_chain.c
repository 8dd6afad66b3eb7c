// SPDX-License-Identifier: Apache-2.0
// Families of bodies that joints carry one by one, so that values of joints can be coordinates:
//   hang[i=1..N]: {revolute: [bar, bob[i]]}           all of bob[i=1..N] at once, or
//   first: {revolute: [ground, link[1]]}
//   next[i=2..N]: {revolute: [link[i-1], link[i]]}    a chain of link[i=1..N].
// Ranges are compared as texts: parameters have no values yet. A family with a joint that is a
// constraint (cut, reaction, switch, friction by mu) moves by itself, and so all its joints are.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/joints.h"

enum { ROOM = 64 };

typedef struct Range {
  char index[ROOM], low[ROOM], high[ROOM];
} Range;

// The text from `begin` to `end` without spaces; false when it is too long.
static bool take(const char* begin, const char* end, char out[ROOM]) {
  size_t used = 0;
  for (const char* c = begin; c < end; c++) {
    if (*c != ' ' && used + 1 < ROOM) {
      out[used++] = *c;
    } else if (*c != ' ') {
      return false;
    }
  }
  out[used] = '\0';
  return used > 0;
}

// "[i=1..N]"; false for anything else.
static bool read_range(const char* text, Range* out) {
  const char *equal = strchr(text, '='), *dots = equal ? strstr(equal, "..") : NULL;
  size_t length = strlen(text);
  return text[0] == '[' && dots && !strchr(text, ',') && text[length - 1] == ']' &&
         take(text + 1, equal, out->index) && take(equal + 1, dots, out->low) &&
         take(dots + 2, text + length - 1, out->high);
}

static bool index_is(const char* index, const char* wanted) {
  char text[ROOM];
  size_t length = strlen(index);
  return length > 2 && take(index + 1, index + length - 1, text) && strcmp(text, wanted) == 0;
}

static bool may_carry(const PawlJoint* joint) {
  return !joint->is_gear && !joint->cut;
}

// All of the family at once.
static bool carries_all(const PawlJoint* joint, const PawlBody* body, const Range* of) {
  Range range;
  return may_carry(joint) && joint->body[1].body == body && joint->body[0].body != body &&
         read_range(joint->name.range, &range) && strcmp(range.low, of->low) == 0 &&
         strcmp(range.high, of->high) == 0 && index_is(joint->body[1].name.index, range.index);
}

static bool carries_first(const PawlJoint* joint, const PawlBody* body, const Range* of) {
  return may_carry(joint) && !joint->name.range[0] && joint->body[1].body == body &&
         !joint->body[0].name.index[0] && index_is(joint->body[1].name.index, of->low);
}

// Two whole numbers, the second of which follows the first.
static bool is_next(const char* first, const char* second) {
  char *end, *other;
  long a = strtol(first, &end, 10), b = strtol(second, &other, 10);
  return !*end && !*other && b == a + 1;
}

// link[i-1] carries link[i], from the second one on.
static bool carries_next(const PawlJoint* joint, const PawlBody* body, const Range* of) {
  Range range;
  if (!may_carry(joint) || joint->body[0].body != body || joint->body[1].body != body ||
      !read_range(joint->name.range, &range) || strcmp(range.high, of->high) != 0 ||
      !is_next(of->low, range.low)) {
    return false;
  }
  char before[ROOM + 2];
  snprintf(before, sizeof before, "%s-1", range.index);
  return index_is(joint->body[0].name.index, before) &&
         index_is(joint->body[1].name.index, range.index);
}

typedef bool (*Pattern)(const PawlJoint* joint, const PawlBody* body, const Range* of);

static int find(const PawlJoints* joints, Pattern fits, const PawlBody* body, const Range* of) {
  for (int k = 0; k < joints->count; k++) {
    if (fits(&joints->item[k], body, of)) {
      return k;
    }
  }
  return -1;
}

// A joint that would carry some of the family; NULL without: it moves freely.
static const PawlJoint* hangs_on(const PawlJoints* joints, const PawlBody* body) {
  for (int k = 0; k < joints->count; k++) {
    const PawlJoint* joint = &joints->item[k];
    if (may_carry(joint) && joint->body[1].body == body) {
      return joint;
    }
  }
  return NULL;
}

// Some joint of the family is a constraint.
static bool has_rows(const PawlJoints* joints, const PawlBody* body) {
  bool has = false;
  for (int k = 0; k < joints->count; k++) {
    const PawlJoint* joint = &joints->item[k];
    has = has || (!joint->is_gear && joint->cut && !joint->motion->rows_only &&
                  joint->body[1].body == body);
  }
  return has;
}

// Then all of them are, and its bodies move by themselves.
static bool set_free(PawlMade* made, PawlJoints* joints, const PawlBody* body) {
  bool good = true;
  for (int k = 0; k < joints->count; k++) {
    PawlJoint* joint = &joints->item[k];
    if (!joint->is_gear && joint->body[1].body == body) {
      joint->cut = true;
      good &= !pawl_refuse_joint_start(made, joint);
    }
  }
  return good;
}

static bool find_chain(PawlMade* made, PawlJoints* joints, PawlBody* body) {
  Range of;
  bool range = read_range(body->name.range, &of);
  int all = range ? find(joints, carries_all, body, &of) : -1;
  int first = range ? find(joints, carries_first, body, &of) : -1;
  int next = range ? find(joints, carries_next, body, &of) : -1;
  const PawlJoint* some = hangs_on(joints, body);
  if (all >= 0) {
    joints->item[all].carries_family = true;
  } else if (first >= 0 && next >= 0) {
    joints->item[first].carries_family = true;
    joints->item[next].in_tree = true;
    body->chain = next;
  } else if (has_rows(joints, body)) {
    return set_free(made, joints, body);
  } else if (some) {
    pawl_report(&made->loader->report, some->key,
                "coordinates: joint needs joints that carry all of '%s' at once, or one for the "
                "first and one for [i-1] and [i] of all others",
                pawl_quote(body->key->text).s);
    return false;
  }
  return true;
}

bool pawl_find_chains(PawlMade* made, PawlBodies* bodies, PawlJoints* joints) {
  bool good = true;
  for (int k = 1; k < bodies->count; k++) {
    good &= !bodies->item[k].name.range[0] || find_chain(made, joints, &bodies->item[k]);
  }
  return good;
}
