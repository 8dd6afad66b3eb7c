// SPDX-License-Identifier: Apache-2.0
// Names of links and joints as expressions can have them. URDF allows any text, and a link and a
// joint of the same name.
#include <stdio.h>
#include <string.h>

#include "expr/ast.h"
#include "model/urdf_impl.h"

enum { LONGEST = 100 };  // bytes of a name, so that parts have room behind it

static bool is_among(const char* name, const char* const* list) {
  for (; *list; list++) {
    if (strcmp(*list, name) == 0) {
      return true;
    }
  }
  return false;
}

// A moment or product of inertia: inertia_1, inertia_12.
static bool is_moment(const char* name) {
  static const char word[] = "inertia_";
  const char* numbers = name + sizeof word - 1;
  return strncmp(name, word, sizeof word - 1) == 0 &&
         numbers[strspn(numbers, "0123456789")] == '\0';
}

// Words of the language and of YAML, and, for points, what every body has.
static bool is_taken(const char* name, bool point) {
  static const char* const words[] = {"ground", "mechanism", "e",    "deg",  "kinetic", "potential",
                                      "energy", "null",      "Null", "NULL", NULL};
  static const char* const parts[] = {"at",   "centre",  "angle", "R", "omega", "spin",
                                      "mass", "inertia", "x",     "y", "z",     NULL};
  return pawl_expr_reserved(name) || pawl_expr_is_function(name) || is_among(name, words) ||
         (point && (is_among(name, parts) || is_moment(name)));
}

// Letters, digits and _; each run of others becomes one _.
static void clean(const char* name, char out[LONGEST + 1]) {
  static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  int length = 0;
  if (name[0] >= '0' && name[0] <= '9') {
    out[length++] = '_';
  }
  while (*name && length < LONGEST) {
    size_t run = strcspn(name, good);
    out[length++] = run > 0 ? '_' : *name;
    name += run > 0 ? run : 1;
  }
  if (length == 0) {
    out[length++] = '_';
  }
  out[length] = '\0';
}

static const char* claim(PawlUrdf* u, const char* name) {
  const char* copy = pawl_pool_copy(u->pool, name, strlen(name));
  if (!copy || !pawl_names_add(&u->ids, u->pool, copy)) {
    pawl_urdf_no_memory(u);
    return NULL;
  }
  return copy;
}

static bool is_free(PawlUrdf* u, const char* name, bool point) {
  return !is_taken(name, point) && !pawl_names_find(&u->ids, name);
}

const char* pawl_urdf_free_name(PawlUrdf* u, const char* name, const char* suffix, bool point) {
  char base[LONGEST + 1], tried[LONGEST + 40];
  clean(name, base);
  snprintf(tried, sizeof tried, "%s", base);
  if (!is_free(u, tried, point)) {
    snprintf(tried, sizeof tried, "%s%s", base, suffix);
  }
  PawlFamily* first = pawl_names_find(&u->ids, base);
  int number = first && first->part > 1 ? first->part : 1;  // of the last one of this name
  while (!is_free(u, tried, point)) {
    snprintf(tried, sizeof tried, "%s%s_%d", base, suffix, ++number);
  }
  if (first) {
    first->part = number;
  }
  return claim(u, tried);
}

typedef struct Changes {
  PawlText list;
  int count;
} Changes;

static void note_change(PawlUrdf* u, Changes* changes, const PawlXml* xml, const char* name,
                        const char* id) {
  enum { SHOWN = 5 };
  if (!id || strcmp(name, id) == 0) {
    return;
  }
  if (changes->count++ < SHOWN) {
    pawl_text_printf(&changes->list, "%s'%s' is %s", changes->count > 1 ? ", " : "",
                     pawl_quote(name).s, id);
  }
  pawl_remark(&u->remarks->comments, "line %d: %s '%s' is %s", xml->line, xml->name,
              pawl_quote(name).s, id);
}

bool pawl_urdf_name(PawlUrdf* u) {
  Changes changes = {0};
  bool good = true;
  for (int k = 0; k < u->link_count && good; k++) {
    PawlUrdfLink* link = &u->links[k];
    if (u->on_ground && k == u->root) {
      link->id = "ground";
      if (!*link->name) {
        note_change(u, &changes, link->xml, link->name, link->id);
      }
      continue;
    }
    bool point = link->body != k;
    link->id = pawl_urdf_free_name(u, link->name, point ? "_link" : "", point);
    good = link->id != NULL;
    note_change(u, &changes, link->xml, link->name, link->id);
  }
  for (int k = 0; k < u->joint_count && good; k++) {
    PawlUrdfJoint* joint = &u->joints[k];
    if (joint->type != PAWL_URDF_FIXED && joint->type != PAWL_URDF_FLOATING) {
      joint->id = pawl_urdf_free_name(u, joint->name, "_joint", false);
      good = joint->id != NULL;
      note_change(u, &changes, joint->xml, joint->name, joint->id);
    }
  }
  if (changes.count > 0 && !changes.list.failed) {
    pawl_remark(&u->remarks->notes, "%s: names as expressions can have them: %s%s", u->report->file,
                changes.list.s, changes.count > 5 ? ", ..." : "");
  }
  pawl_text_free(&changes.list);
  return good;
}
