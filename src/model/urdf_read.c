// SPDX-License-Identifier: Apache-2.0
// The elements of a robot as links and joints with numbers.
#include <stdio.h>
#include <string.h>

#include "model/table_file.h"
#include "model/urdf_impl.h"

// ---- numbers ------------------------------------------------------------------------------------

static bool wrong(PawlUrdf* u, const PawlXml* xml, const char* attribute, const char* text,
                  int count) {
  char expected[24] = "a number";
  if (count > 1) {
    snprintf(expected, sizeof expected, "%d numbers", count);
  }
  pawl_report_at(u->report, xml->line, xml->column, "<%s> %s \"%s\": expected %s%s",
                 pawl_quote(xml->name).s, attribute, pawl_quote(text).s, expected,
                 strstr(text, "${") ? "; is this a xacro file? Run xacro on it first" : "");
  return false;
}

// `count` numbers of an attribute, between blanks; `out` keeps what it has where there is none.
static bool read_numbers(PawlUrdf* u, const PawlXml* xml, const char* attribute, int count,
                         double out[]) {
  static const char blank[] = " \t\r\n";
  const char* text = pawl_xml_get(xml, attribute);
  if (!text) {
    return true;
  }
  const char* s = text + strspn(text, blank);
  for (int k = 0; k < count; k++) {
    size_t length = strcspn(s, blank);
    if (!pawl_read_number(s, length, &out[k])) {
      return wrong(u, xml, attribute, text, count);
    }
    s += length;
    s += strspn(s, blank);
  }
  return *s == '\0' || wrong(u, xml, attribute, text, count);
}

static bool missing(PawlUrdf* u, const PawlXml* xml, const char* what) {
  pawl_report_at(u->report, xml->line, xml->column, "<%s> needs %s", pawl_quote(xml->name).s, what);
  return false;
}

// As read_numbers of one that must be there.
static bool need_number(PawlUrdf* u, const PawlXml* xml, const char* attribute, double* out) {
  return pawl_xml_get(xml, attribute) ? read_numbers(u, xml, attribute, 1, out)
                                      : missing(u, xml, attribute);
}

// <origin> of an element, none: its frame is that of the element around it.
static bool read_origin(PawlUrdf* u, const PawlXml* of, double xyz[3], double rpy[3]) {
  const PawlXml* origin = pawl_xml_child(of, "origin");
  memset(xyz, 0, 3 * sizeof *xyz);
  memset(rpy, 0, 3 * sizeof *rpy);
  return !origin ||
         (read_numbers(u, origin, "xyz", 3, xyz) && read_numbers(u, origin, "rpy", 3, rpy));
}

static bool read_frame(PawlUrdf* u, const PawlXml* of, PawlFrame* frame) {
  double xyz[3], rpy[3];
  if (!read_origin(u, of, xyz, rpy)) {
    return false;
  }
  *frame = pawl_frame_rpy(xyz, rpy);
  return true;
}

// ---- links --------------------------------------------------------------------------------------

static bool read_inertia(PawlUrdf* u, const PawlXml* xml, double I[3][3]) {
  static const struct {
    const char* name;
    int i, j;
  } entries[] = {{"ixx", 0, 0}, {"iyy", 1, 1}, {"izz", 2, 2},
                 {"ixy", 0, 1}, {"ixz", 0, 2}, {"iyz", 1, 2}};
  bool good = true;
  for (int k = 0; k < 6; k++) {
    double* entry = &I[entries[k].i][entries[k].j];
    good &= k < 3 ? need_number(u, xml, entries[k].name, entry)
                  : read_numbers(u, xml, entries[k].name, 1, entry);
    I[entries[k].j][entries[k].i] = *entry;
  }
  return good;
}

static bool read_inertial(PawlUrdf* u, const PawlXml* xml, PawlUrdfLink* link) {
  const PawlXml *mass = pawl_xml_child(xml, "mass"), *inertia = pawl_xml_child(xml, "inertia");
  PawlMassive part = {0};
  PawlFrame frame;
  if (!mass || !inertia) {
    return missing(u, xml, mass ? "<inertia>" : "<mass>");
  }
  bool good = read_frame(u, xml, &frame);
  good &= need_number(u, mass, "value", &part.mass);
  good &= read_inertia(u, inertia, part.I);
  if (good) {
    link->has_mass = true;
    memcpy(link->own.centre, frame.p, sizeof frame.p);  // also where the mass is zero
    pawl_massive_add(&link->own, &frame, &part);
  }
  return good;
}

// What is drawn; a mesh, and what is not known, is left to urdf_left_out.c.
static const struct {
  const char* word;
  PawlUrdfGeometry geometry;
  struct {
    const char* name;
    int count;
  } sizes[2];
} geometries[] = {{"box", PAWL_URDF_BOX, {{"size", 3}}},
                  {"cylinder", PAWL_URDF_CYLINDER, {{"radius", 1}, {"length", 1}}},
                  {"capsule", PAWL_URDF_CAPSULE, {{"radius", 1}, {"length", 1}}},
                  {"sphere", PAWL_URDF_SPHERE, {{"radius", 1}}}};

static bool read_sizes(PawlUrdf* u, const PawlXml* xml, size_t g, PawlUrdfShape* shape) {
  bool good = true;
  int at = 0;
  for (int k = 0; k < 2 && geometries[g].sizes[k].name; k++) {
    const char* name = geometries[g].sizes[k].name;
    int count = geometries[g].sizes[k].count;
    good &= pawl_xml_get(xml, name) ? read_numbers(u, xml, name, count, &shape->size[at])
                                    : missing(u, xml, name);
    at += count;
  }
  for (int k = 0; k < at && good; k++) {
    if (!(shape->size[k] > 0.0)) {
      pawl_report_at(u->report, xml->line, xml->column, "<%s>: sizes must be > 0", xml->name);
      good = false;
    }
  }
  return good;
}

static bool read_shape(PawlUrdf* u, const PawlXml* around, PawlUrdfLink* link) {
  const PawlXml* geometry = pawl_xml_child(around, "geometry");
  for (size_t g = 0; geometry && g < sizeof geometries / sizeof *geometries; g++) {
    const PawlXml* xml = pawl_xml_child(geometry, geometries[g].word);
    if (!xml) {
      continue;
    }
    PawlUrdfShape* shape = pawl_pool_alloc(u->pool, sizeof *shape);
    if (!shape) {
      return pawl_urdf_no_memory(u);
    }
    shape->xml = xml;
    shape->geometry = geometries[g].geometry;
    shape->collision = strcmp(around->name, "collision") == 0;
    *(link->last_shape ? &link->last_shape->next : &link->shapes) = shape;
    link->last_shape = shape;
    return read_frame(u, around, &shape->frame) && read_sizes(u, xml, g, shape);
  }
  return true;
}

static bool read_link(PawlUrdf* u, const PawlXml* xml, PawlUrdfLink* link) {
  const PawlXml* inertial = pawl_xml_child(xml, "inertial");
  bool good = !inertial || read_inertial(u, inertial, link);
  for (const PawlXml* child = xml->first; child; child = child->next) {
    bool drawn = strcmp(child->name, "visual") == 0 || strcmp(child->name, "collision") == 0;
    good &= !drawn || read_shape(u, child, link);
  }
  return good;
}

// ---- joints -------------------------------------------------------------------------------------

static bool read_type(PawlUrdf* u, PawlUrdfJoint* joint) {
  static const char* const words[] = {"revolute", "continuous", "prismatic",
                                      "fixed",    "floating",   "planar"};
  const char* type = pawl_xml_get(joint->xml, "type");
  PawlNearest nearest = {.wanted = type ? type : ""};
  for (int k = 0; k < PAWL_URDF_TYPES; k++) {
    pawl_nearest_offer(&nearest, words[k]);
    if (type && strcmp(type, words[k]) == 0) {
      joint->type = (PawlUrdfType)k;
      return true;
    }
  }
  if (!type) {
    return missing(u, joint->xml, "a type");
  }
  pawl_report_at(u->report, joint->xml->line, joint->xml->column,
                 "joint '%s': unknown type '%s'; expected revolute, continuous, prismatic, fixed, "
                 "floating or planar%s",
                 pawl_quote(joint->name).s, pawl_quote(type).s, pawl_did_you_mean(nearest.name).s);
  return false;
}

// The link that <parent> or <child> names.
static bool read_end(PawlUrdf* u, const PawlUrdfJoint* joint, const char* which, int* out) {
  const PawlXml* end = pawl_xml_child(joint->xml, which);
  const char* name = end ? pawl_xml_get(end, "link") : NULL;
  if (!name) {
    return missing(u, joint->xml, which[0] == 'p' ? "<parent link>" : "<child link>");
  }
  const PawlFamily* found = pawl_names_find(&u->link_names, name);
  if (!found) {
    PawlNearest nearest = {.wanted = name};
    if (!pawl_report_is_full(u->report)) {
      pawl_names_offer(&u->link_names, &nearest);
    }
    pawl_report_at(u->report, end->line, end->column, "joint '%s': there is no link '%s'%s",
                   pawl_quote(joint->name).s, pawl_quote(name).s,
                   pawl_did_you_mean(nearest.name).s);
    return false;
  }
  *out = found->part;
  return true;
}

static bool read_axis(PawlUrdf* u, PawlUrdfJoint* joint) {
  const PawlXml* axis = pawl_xml_child(joint->xml, "axis");
  const double fallback[3] = {1, 0, 0};
  memcpy(joint->axis, fallback, sizeof fallback);
  if (!axis || !read_numbers(u, axis, "xyz", 3, joint->axis)) {
    return !axis;
  }
  if (joint->axis[0] == 0 && joint->axis[1] == 0 && joint->axis[2] == 0) {
    pawl_report_at(u->report, axis->line, axis->column, "joint '%s': the axis has no direction",
                   pawl_quote(joint->name).s);
    return false;
  }
  return true;
}

static bool read_acting(PawlUrdf* u, PawlUrdfJoint* joint) {
  const PawlXml *dynamics = pawl_xml_child(joint->xml, "dynamics"),
                *limit = pawl_xml_child(joint->xml, "limit");
  joint->limit = limit;
  bool good = !limit || (read_numbers(u, limit, "lower", 1, &joint->low) &&
                         read_numbers(u, limit, "upper", 1, &joint->high));
  good &= !dynamics || (read_numbers(u, dynamics, "damping", 1, &joint->damping) &&
                        read_numbers(u, dynamics, "friction", 1, &joint->friction));
  if (good && (joint->damping < 0.0 || joint->friction < 0.0)) {
    pawl_report_at(u->report, dynamics->line, dynamics->column,
                   "joint '%s': damping and friction must be >= 0", pawl_quote(joint->name).s);
    good = false;
  }
  return good;
}

// One that follows by nothing is fixed, and the gear that it would be has no ratio.
static bool read_multiplier(PawlUrdf* u, PawlUrdfJoint* joint) {
  if (!read_numbers(u, joint->mimic, "multiplier", 1, &joint->multiplier)) {
    return false;
  }
  if (joint->multiplier == 0.0) {
    pawl_report_at(u->report, joint->mimic->line, joint->mimic->column,
                   "joint '%s' mimics another with the multiplier 0, so it never moves: make it "
                   "fixed",
                   pawl_quote(joint->name).s);
    return false;
  }
  return true;
}

static bool read_mimic(PawlUrdf* u, PawlUrdfJoint* joint) {
  joint->mimic = pawl_xml_child(joint->xml, "mimic");
  joint->master = -1;
  joint->multiplier = 1.0;
  if (!joint->mimic) {
    return true;
  }
  joint->master_name = pawl_xml_get(joint->mimic, "joint");
  return (joint->master_name || missing(u, joint->mimic, "a joint")) && read_multiplier(u, joint) &&
         read_numbers(u, joint->mimic, "offset", 1, &joint->offset);
}

static bool read_joint(PawlUrdf* u, PawlUrdfJoint* joint) {
  joint->parent = joint->child = joint->next_child = -1;
  bool good = read_type(u, joint);
  good &= read_end(u, joint, "parent", &joint->parent);
  good &= read_end(u, joint, "child", &joint->child);
  good &= read_origin(u, joint->xml, joint->xyz, joint->rpy);
  good &= read_axis(u, joint);
  good &= read_acting(u, joint);
  good &= read_mimic(u, joint);
  joint->frame = pawl_frame_rpy(joint->xyz, joint->rpy);
  return good;
}

// ---- all of them --------------------------------------------------------------------------------

static int count_of(const PawlXml* xml, const char* name) {
  int count = 0;
  for (const PawlXml* x = pawl_xml_child(xml, name); x; x = pawl_xml_again(x)) {
    count++;
  }
  return count;
}

// Notes the name of a link or joint as number `index`; NULL after reporting.
static const char* claim(PawlUrdf* u, const PawlXml* xml, PawlNames* names, int index) {
  const char* name = pawl_xml_get(xml, "name");
  if (!name) {
    missing(u, xml, "a name");
    return NULL;
  }
  if (pawl_names_find(names, name)) {
    pawl_report_at(u->report, xml->line, xml->column, "a second %s '%s'", xml->name,
                   pawl_quote(name).s);
    return NULL;
  }
  PawlFamily* family = pawl_names_add(names, u->pool, name);
  if (!family) {
    pawl_urdf_no_memory(u);
    return NULL;
  }
  family->part = index;
  return name;
}

static bool read_links(PawlUrdf* u) {
  bool good = true;
  for (const PawlXml* x = pawl_xml_child(u->xml, "link"); x; x = pawl_xml_again(x)) {
    PawlUrdfLink* link = &u->links[u->link_count];
    *link = (PawlUrdfLink){.xml = x, .joint = -1, .first_child = -1, .last = -1};
    link->name = claim(u, x, &u->link_names, u->link_count++);
    good &= link->name && read_link(u, x, link);
  }
  return good;
}

static bool read_joints(PawlUrdf* u) {
  bool good = true;
  for (const PawlXml* x = pawl_xml_child(u->xml, "joint"); x; x = pawl_xml_again(x)) {
    PawlUrdfJoint* joint = &u->joints[u->joint_count];
    *joint = (PawlUrdfJoint){.xml = x};
    joint->name = claim(u, x, &u->joint_names, u->joint_count++);
    good &= joint->name && read_joint(u, joint);
  }
  return good;
}

static bool is_robot(PawlUrdf* u) {
  const PawlXml* xml = u->xml;
  if (strcmp(xml->name, "robot") != 0) {
    pawl_report_at(u->report, xml->line, xml->column,
                   "<%s>: expected <robot>, the outermost element of URDF",
                   pawl_quote(xml->name).s);
    return false;
  }
  for (const PawlXml* child = xml->first; child; child = child->next) {
    if (strncmp(child->name, "xacro:", strlen("xacro:")) == 0) {
      pawl_report_at(u->report, child->line, child->column,
                     "this is a xacro file; make URDF of it first: xacro FILE > robot.urdf");
      return false;
    }
  }
  return true;
}

bool pawl_urdf_read(PawlUrdf* u) {
  if (!is_robot(u)) {
    return false;
  }
  size_t links = (size_t)count_of(u->xml, "link"), joints = (size_t)count_of(u->xml, "joint");
  if (links == 0) {
    return missing(u, u->xml, "a <link>");
  }
  u->links = pawl_pool_alloc(u->pool, links * sizeof *u->links);
  u->joints = pawl_pool_alloc(u->pool, (joints + 1) * sizeof *u->joints);
  u->order = pawl_pool_alloc(u->pool, links * sizeof *u->order);
  if (!u->links || !u->joints || !u->order) {
    return pawl_urdf_no_memory(u);
  }
  bool good = read_links(u);
  return read_joints(u) && good;
}
