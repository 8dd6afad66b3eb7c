// SPDX-License-Identifier: Apache-2.0
// Masses that no body has, and what of a robot is not read.
#include <stdio.h>
#include <string.h>

#include "model/inertia.h"
#include "model/urdf_impl.h"

// ---- masses -------------------------------------------------------------------------------------

// What is wrong with a body that moves; "" when nothing is.
static const char* fault_of(const PawlMassive* body, const double moments[3]) {
  if (body->mass <= 0.0) {
    return "the mass is not positive";
  }
  if (pawl_moments_negative(moments)) {
    return "a principal moment of inertia is negative";
  }
  if (moments[2] - moments[0] - moments[1] > PAWL_INERTIA_TRIANGLE * moments[2]) {
    return "the largest moment of inertia exceeds the sum of the two others";
  }
  return "";
}

static void warn_of(PawlUrdf* u, const PawlUrdfLink* link, const char* fault,
                    const double moments[3]) {
  const PawlUrdfJoint* joint = link->joint >= 0 ? &u->joints[link->joint] : NULL;
  pawl_remark(&u->remarks->warnings,
              "%s:%d: link '%s', moved by %s%s%s: %s; no body has mass %g kg and principal "
              "moments %g, %g, %g kg m^2",
              u->report->file, link->xml->line, pawl_quote(link->name).s,
              joint ? "joint '" : "nothing but forces", joint ? pawl_quote(joint->name).s : "",
              joint ? "'" : "", fault, link->whole.mass, moments[0], moments[1], moments[2]);
}

void pawl_urdf_judge(PawlUrdf* u) {
  for (int k = 0; k < u->link_count; k++) {
    const PawlUrdfLink* link = &u->links[k];
    if (link->body != k || (k == u->root && !(u->def.floating && !u->on_ground))) {
      continue;
    }
    double moments[3];
    pawl_massive_moments(&link->whole, moments);
    const char* fault = fault_of(&link->whole, moments);
    if (fault[0]) {
      warn_of(u, link, fault, moments);
    }
  }
}

// ---- what is left out ---------------------------------------------------------------------------

enum { MOST_KINDS = 32, LINES_SHOWN = 5 };

typedef struct Kind {
  const char* name;  // of an element, or a sentence
  int count, lines[LINES_SHOWN];
} Kind;

typedef struct Kinds {
  int count;
  Kind kind[MOST_KINDS];  // what comes behind the last is counted there
} Kinds;

static void add(Kinds* kinds, const char* name, int line) {
  int k = 0;
  while (k < kinds->count && strcmp(kinds->kind[k].name, name) != 0) {
    k++;
  }
  if (k == MOST_KINDS) {
    k--;
  }
  Kind* kind = &kinds->kind[k];
  if (k == kinds->count) {
    *kind = (Kind){.name = name};
    kinds->count++;
  }
  if (kind->count < LINES_SHOWN) {
    kind->lines[kind->count] = line;
  }
  kind->count++;
}

static bool is_among(const char* name, const char* const* list) {
  for (; *list; list++) {
    if (strcmp(*list, name) == 0) {
      return true;
    }
  }
  return false;
}

static void add_others(Kinds* kinds, const PawlXml* xml, const char* const* known) {
  for (const PawlXml* child = xml->first; child; child = child->next) {
    if (!is_among(child->name, known)) {
      add(kinds, child->name, child->line);
    }
  }
}

static void look_at_shape(PawlUrdf* u, Kinds* kinds, const PawlUrdfLink* link,
                          const PawlXml* around) {
  static const char* const known[] = {"box", "cylinder", "sphere", "capsule", NULL};
  const PawlXml* geometry = pawl_xml_child(around, "geometry");
  for (const PawlXml* x = geometry ? geometry->first : NULL; x; x = x->next) {
    const char* file = strcmp(x->name, "mesh") == 0 ? pawl_xml_get(x, "filename") : NULL;
    if (!is_among(x->name, known)) {
      add(kinds, x->name, x->line);
    }
    if (file) {
      pawl_remark(&u->remarks->comments, "line %d: %s of link '%s' is the mesh %.200s", x->line,
                  around->name, pawl_quote(link->name).s, file);
    }
  }
}

static void look_at_link(PawlUrdf* u, Kinds* kinds, const PawlUrdfLink* link) {
  static const char* const known[] = {"inertial", "visual", "collision", NULL};
  add_others(kinds, link->xml, known);
  for (const PawlXml* x = link->xml->first; x; x = x->next) {
    if (strcmp(x->name, "visual") == 0 || strcmp(x->name, "collision") == 0) {
      look_at_shape(u, kinds, link, x);
    }
  }
}

static void look_at_joint(PawlUrdf* u, Kinds* kinds, const PawlUrdfJoint* joint) {
  static const char* const known[] = {"origin", "parent", "child",    "axis",
                                      "limit",  "mimic",  "dynamics", NULL};
  add_others(kinds, joint->xml, known);
  bool acts = joint->damping > 0.0 || joint->friction > 0.0;
  if (acts && joint->type != PAWL_URDF_FIXED && !pawl_urdf_has_value(joint)) {
    pawl_remark(&u->remarks->warnings, "%s:%d: damping and friction of joint '%s' are left out",
                u->report->file, joint->xml->line, pawl_quote(joint->name).s);
  }
  if (joint->limit && joint->low > joint->high) {
    pawl_remark(&u->remarks->warnings, "%s:%d: joint '%s': the limits %g to %g are none",
                u->report->file, joint->limit->line, pawl_quote(joint->name).s, joint->low,
                joint->high);
  }
  if (joint->limit &&
      (pawl_xml_get(joint->limit, "effort") || pawl_xml_get(joint->limit, "velocity"))) {
    add(kinds, "limits of effort and velocity", joint->limit->line);
  }
  if (pawl_urdf_has_limits(joint) && !u->def.limits) {
    add(kinds, "limits of travel (--limits makes stops of them)", joint->limit->line);
  }
}

static void say_kind(PawlUrdf* u, const Kind* kind) {
  char lines[LINES_SHOWN * 12 + 8] = "";
  size_t used = 0;
  for (int k = 0; k < kind->count && k < LINES_SHOWN; k++) {
    used += (size_t)snprintf(lines + used, sizeof lines - used, "%s%d", k > 0 ? ", " : "",
                             kind->lines[k]);
  }
  const char *more = kind->count > LINES_SHOWN ? ", ..." : "", *s = kind->count > 1 ? "s" : "";
  if (strchr(kind->name, ' ')) {
    pawl_remark(&u->remarks->notes, "%s: left out of %d joint%s: %s (line%s %s%s)", u->report->file,
                kind->count, s, kind->name, s, lines, more);
  } else {
    pawl_remark(&u->remarks->notes, "%s: left out: %d <%s> (line%s %s%s)", u->report->file,
                kind->count, pawl_quote(kind->name).s, s, lines, more);
  }
}

void pawl_urdf_left_out(PawlUrdf* u) {
  static const char* const known[] = {"link", "joint", "material", NULL};
  Kinds kinds = {0};
  add_others(&kinds, u->xml, known);
  for (int k = 0; k < u->link_count; k++) {
    look_at_link(u, &kinds, &u->links[k]);
  }
  for (int k = 0; k < u->joint_count; k++) {
    look_at_joint(u, &kinds, &u->joints[k]);
  }
  for (int k = 0; k < kinds.count; k++) {
    say_kind(u, &kinds.kind[k]);
  }
}
